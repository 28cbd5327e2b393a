"""Special cases that the official suite leaves out.

It reads them out of the standard's sentences, and warns about those that it cannot read: they are
here, with the symmetries that the standard demands of functions of complex numbers.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..dtypes import COMPLEX, REAL_FLOATING
from .findings import FAILS, NOTED, PASSES, Finding, tried
from .subject import Subject, Value

CHAPTER = "special cases"
_INF, _NAN = math.inf, math.nan


@dataclass(frozen=True)
class Case:
    """A sentence of the standard: arguments, and what the result has to be.

    The result is compared as a number, the signs of zeros included.
    """

    function: str
    rule: str
    arguments: Sequence[Sequence[complex]]
    expected: Callable[..., object]


def _cis(size: float) -> Callable[[complex], complex]:
    def exact(z: complex) -> complex:
        return complex(_times(size, math.cos(z.imag)), _times(size, math.sin(z.imag)))

    return exact


def _times(size: float, factor: float) -> float:
    """A product of which only the sign of `factor` is sure."""
    return math.copysign(size, factor)


def _z(real: float, imag: float) -> complex:
    return complex(real, imag)


_SIGNED = [0.0, -0.0, 1.5, -1.5, _INF, -_INF]
_FINITE = [0.5, 2.0, 3.5, -0.5, -2.0, -3.5]  # of each sign of cosine and sine
_PAIRS = [(_z(a, b),) for a in (*_SIGNED, _NAN) for b in (*_SIGNED, _NAN)]
_NAN_BOTH = _z(_NAN, _NAN)
_NEGATIVE_NAN = math.copysign(math.nan, -1)


def cases() -> list[Case]:
    """All cases."""
    return [*_of_real_numbers(), *_of_complex_numbers(), *_exponentials(), *_roots()]


def _of_real_numbers() -> list[Case]:
    sized = [(x, s) for x in _SIGNED for s in (0.0, -0.0, 3.0, -3.0, _INF, -_INF)]
    with_nan = [(x, s) for x in _SIGNED for s in (_NAN, _NEGATIVE_NAN)]
    anything = [(x,) for x in (*_SIGNED, _NAN)]
    return [
        Case("copysign", "the result is |x1_i| or -|x1_i|, by the sign of x2_i", sized,
             math.copysign),
        Case("copysign", "if x2_i is NaN, its sign bit decides", with_nan, math.copysign),
        Case("hypot", "if x1_i is an infinity and x2_i is any value, NaN included, the result is"
             " +infinity", [(s * _INF, x) for s in (1, -1) for x in (*_SIGNED, _NAN)],
             lambda x, y: _INF),
        Case("hypot", "if x2_i is an infinity and x1_i is any value, NaN included, the result is"
             " +infinity", [(x, s * _INF) for s in (1, -1) for x in (*_SIGNED, _NAN)],
             lambda x, y: _INF),
        Case("hypot", "if x1_i is finite or NaN and x2_i is NaN, the result is NaN",
             [(x, _NAN) for x in (0.0, -1.5, _NAN)], lambda x, y: _NAN),
        Case("hypot", "if an operand is a zero, the result is the absolute value of the other",
             [(x, y) for x, y in sized if x == 0 and math.isfinite(y)], math.hypot),
        Case("reciprocal", "as if it is implemented as 1.0 / x", anything,
             lambda x: math.copysign(_INF, x) if x == 0 else 1 / x),
        Case("square", "as if it is implemented as x * x", anything, lambda x: x * x),
        Case("clip", "if x_i, min_i or max_i is NaN, the result is NaN",
             [(_NAN, 0.0, 1.0), (0.5, _NAN, 1.0), (0.5, 0.0, _NAN), (0.5, _NAN, _NAN)],
             lambda x, low, high: _NAN),
    ]  # fmt: skip


def _of_complex_numbers() -> list[Case]:
    zeros = [(_z(a, b), _z(c, d)) for a in (0.0, -0.0) for b in (0.0, -0.0)
             for c in (0.0, -0.0) for d in (0.0, -0.0)]  # fmt: skip
    one_nan = [(_z(_NAN, 1),), (_z(1, _NAN),), (_NAN_BOTH,)]
    return [
        Case("add", "real-valued special cases apply to the components", zeros,
             lambda x, y: complex(x.real + y.real, x.imag + y.imag)),
        Case("abs", "as hypot of the components", _PAIRS, lambda z: math.hypot(z.real, z.imag)),
        Case("isfinite", "if both components are finite, the result is True, else False", _PAIRS,
             cmath.isfinite),
        Case("isinf", "if a component is an infinity, the result is True, else False", _PAIRS,
             cmath.isinf),
        Case("isnan", "if a component is NaN, the result is True, else False", _PAIRS, cmath.isnan),
        Case("sign", "if a or b is NaN, the result is NaN + NaN j", one_nan, lambda z: _NAN_BOTH),
        Case("equal", "if a, b, c or d is NaN, the result is False",
             [(x[0], y[0]) for x in one_nan for y in [*one_nan, (_z(1, 1),)]],
             lambda x, y: False),
        Case("not_equal", "if a, b, c or d is NaN, the result is True",
             [(x[0], y[0]) for x in one_nan for y in [*one_nan, (_z(1, 1),)]],
             lambda x, y: True),
        Case("multiply", "if a, b, c and d are all NaN, the result is NaN + NaN j",
             [(_NAN_BOTH, _NAN_BOTH)], lambda x, y: _NAN_BOTH),
        Case("divide", "if a, b, c and d are all NaN, the result is NaN + NaN j",
             [(_NAN_BOTH, _NAN_BOTH)], lambda x, y: _NAN_BOTH),
    ]  # fmt: skip


def _exponentials() -> list[Case]:
    up = [(_z(_INF, b),) for b in _FINITE]
    down = [(_z(-_INF, b),) for b in _FINITE]

    def less_one(size: float) -> Callable[[complex], complex]:
        return lambda z: _cis(size)(z) - 1

    rule = "if a is {} and b is a nonzero finite number, the result is {} * cis(b){}"
    return [
        Case("exp", rule.format("+infinity", "+infinity", ""), up, _cis(_INF)),
        Case("exp", rule.format("-infinity", "+0", ""), down, _cis(0.0)),
        Case("expm1", rule.format("+infinity", "+infinity", " - 1.0"), up, less_one(_INF)),
        Case("expm1", rule.format("-infinity", "+0", " - 1.0"), down, less_one(0.0)),
        Case("cosh", rule.format("+infinity", "+infinity", ""), up, _cis(_INF)),
        Case("sinh", rule.format("+infinity", "+infinity", ""), up, _cis(_INF)),
        Case("tanh", "if a is NaN and b is a nonzero number, the result is NaN + NaN j",
             [(_z(_NAN, b),) for b in (1.5, -1.5, _INF)], lambda z: _NAN_BOTH),
    ]  # fmt: skip


def _roots() -> list[Case]:
    # Two sentences contradict each other for a NaN and an infinity: that pair is left out.
    return [
        Case("sqrt", "if b is +infinity, the result is +infinity + infinity j",
             [(_z(a, _INF),) for a in _SIGNED], lambda z: _z(_INF, _INF)),
        Case("sqrt", "if a is NaN and b is any value, the result is NaN + NaN j",
             [(_z(_NAN, b),) for b in (0.0, 1.5, -1.5, _NAN)], lambda z: _NAN_BOTH),
        Case("sqrt", "if a is -infinity and b is a positive finite number, the result is"
             " +0 + infinity j", [(_z(-_INF, b),) for b in (0.5, 3.0)], lambda z: _z(0.0, _INF)),
    ]  # fmt: skip


# f(conj(z)) must equal conj(f(z)): each of these says so.
_CONJUGATE = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "exp", "expm1", "log",
    "log10", "log1p", "log2", "sinh", "sqrt", "tanh",
)  # fmt: skip
_ODD = ("asinh", "atanh", "sinh", "tanh")
_ROUNDING = 8  # epsilons by which two approximations of one number may differ


def check(subject: Subject) -> list[Finding]:
    """Judge all cases and symmetries, for all dtypes that they are about."""
    out = []
    for case in cases():
        is_complex = isinstance(case.arguments[0][0], complex)
        for dtype in COMPLEX if is_complex else REAL_FLOATING:
            out.append(_judged(subject, case, dtype))
    for name in _CONJUGATE:
        out += [_symmetric(subject, name, dtype, conjugate=True) for dtype in COMPLEX]
    for name in _ODD:
        out += [_symmetric(subject, name, dtype, conjugate=False) for dtype in COMPLEX]
    return out


def _judged(subject: Subject, case: Case, dtype: str) -> Finding:
    check = f"{case.rule}, {dtype}"

    def do() -> Finding:
        function = subject.function(case.function)
        columns = zip(*case.arguments, strict=True)
        arrays = [subject.array(list(column), dtype) for column in columns]
        found = subject.numpy(function(*arrays)).tolist()
        for arguments, computed in zip(case.arguments, found, strict=True):
            expected = case.expected(*arguments)
            if not _agree(computed, expected):
                given = ", ".join(map(str, arguments))
                message = f"{case.function}({given}) gives {computed}, not {expected}"
                repro = _repro(case.function, arguments, dtype)
                return Finding(CHAPTER, case.function, check, FAILS, message, case.rule, repro)
        return Finding(CHAPTER, case.function, check, PASSES, "", case.rule)

    return tried(CHAPTER, case.function, check, case.rule, do)


def _symmetric(subject: Subject, name: str, dtype: str, *, conjugate: bool) -> Finding:
    if conjugate:
        rule = f"{name}(conj(x)) must equal conj({name}(x))"
    else:
        rule = f"{name}(-x) must equal -{name}(x)"
    check = f"{rule}, {dtype}"
    values = [complex(a, b) for a in (0.25, -0.25, 1.5, -1.5, 7.0) for b in (0.5, 2.0, 30.0)]
    epsilon = 2.0**-23 if dtype == "complex64" else 2.0**-52

    def do() -> Finding:
        function = subject.function(name)
        turned = [z.conjugate() if conjugate else -z for z in values]
        there = subject.numpy(function(subject.array(values, dtype))).tolist()
        back = subject.numpy(function(subject.array(turned, dtype))).tolist()
        outcome, message, repro = PASSES, "", ""
        for z, one, other in zip(values, there, back, strict=True):
            wanted = one.conjugate() if conjugate else -one
            if other == wanted or outcome == FAILS:
                continue
            # Functions are approximations: the last bits of one may differ from the other's.
            rounding = abs(other - wanted) <= _ROUNDING * epsilon * abs(wanted)
            outcome = NOTED if rounding else FAILS
            message = f"at {z}: {other}, not {wanted}" + (", by rounding" if rounding else "")
            repro = _repro(name, (z,), dtype)
        return Finding(CHAPTER, name, check, outcome, message, rule, repro)

    return tried(CHAPTER, name, check, rule, do)


def _agree(computed: Value, expected: Value) -> bool:
    if isinstance(expected, complex):
        computed = complex(computed)
        return _agree(computed.real, expected.real) and _agree(computed.imag, expected.imag)
    if isinstance(expected, bool):
        return bool(computed) == expected
    if math.isnan(expected):
        return math.isnan(computed)
    # Values such as 1/1.5 are rounded to the dtype; signs and infinities are not.
    close = computed == expected or math.isclose(computed, expected, rel_tol=1e-6)
    return close and math.copysign(1, computed) == math.copysign(1, expected)


def _repro(function: str, arguments: Sequence[complex], dtype: str) -> str:
    arrays = [f"xp.asarray({_literal(x)}, dtype=xp.{dtype})" for x in arguments]
    return f"xp.{function}({', '.join(arrays)})"


def _literal(number: Value) -> str:
    if isinstance(number, complex):
        return f"complex({_literal(number.real)}, {_literal(number.imag)})"
    return repr(number) if math.isfinite(number) else f"float({str(number)!r})"
