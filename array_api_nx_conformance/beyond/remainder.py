"""The tests of ``remainder`` that the official suite skips, on exact values.

They are five: the function, ``%`` with an array and with a scalar, ``%=`` with an array and with a
scalar. The suite marks them as flaky, because it compares floats with a tolerance, and a remainder
jumps by the divisor. The standard leaves no tolerance: results are Python's.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ..dtypes import REAL
from .findings import FAILS, PASSES, Finding, tried
from .subject import Subject, Value

CHAPTER = "remainder"
_RULE = (
    "remainder: for floating-point operands, in the remaining cases, the result must match that of"
    " the Python % operator; accuracy: % must return a correctly rounded value"
)


def _assigned(x: Value, y: Value) -> Value:
    x %= y
    return x


_SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.5, -2.5, math.inf, -math.inf, math.nan)
# A label, what is called, and whether the right operand is a Python scalar.
_WAYS: dict[str, tuple[Callable[..., object], bool]] = {
    "remainder(x1, x2)": (lambda xp, x, y: xp.remainder(x, y), False),
    "x1 % x2": (lambda xp, x, y: operator.mod(x, y), False),
    "x1 % scalar": (lambda xp, x, y: operator.mod(x, y), True),
    "x1 %= x2": (lambda xp, x, y: _assigned(x, y), False),
    "x1 %= scalar": (lambda xp, x, y: _assigned(x, y), True),
}
_SCALARS = 12  # of the divisors are tried as Python scalars


def check(subject: Subject, seed: int) -> list[Finding]:
    """Judge all five, for all real dtypes."""
    return [
        _judged(subject, way, dtype, seed)
        for way in _WAYS
        for dtype in REAL
    ]  # fmt: skip


def _judged(subject: Subject, way: str, dtype: str, seed: int) -> Finding:
    call, scalar = _WAYS[way]

    def do() -> Finding:
        first, second = _operands(dtype, seed)
        if scalar:
            results = []
            for divisor in _scalars(second):
                left = subject.array(first, dtype)
                results.append((first, [divisor] * len(first), call(subject.xp, left, divisor)))
        else:
            left, right = subject.array(first, dtype), subject.array(second, dtype)
            results = [(first, second, call(subject.xp, left, right))]
        for dividends, divisors, result in results:
            if subject.dtype_of(result) != dtype:
                return _failed(way, dtype, f"gives {subject.dtype_of(result)}", "")
            found = subject.numpy(result).tolist()
            for x, y, computed in zip(dividends, divisors, found, strict=True):
                exact = python_remainder(x, y, dtype)
                if not same(computed, exact):
                    message = f"{x!r} % {y!r} gives {computed!r}, not {exact!r}"
                    return _failed(way, dtype, message, _repro(way, dtype, x, y))
        return Finding(CHAPTER, "remainder", f"{way}, {dtype}", PASSES, "", _RULE)

    return tried(CHAPTER, "remainder", f"{way}, {dtype}", _RULE, do)


def _failed(way: str, dtype: str, message: str, repro: str) -> Finding:
    return Finding(CHAPTER, "remainder", f"{way}, {dtype}", FAILS, message, _RULE, repro)


def _operands(dtype: str, seed: int) -> tuple[list[float], list[float]]:
    """Dividends and divisors; no integer is divided by 0, which the standard leaves open."""
    generator = np.random.default_rng([seed, 7])
    if dtype.startswith("float"):
        exponents = generator.integers(-60, 60, (2, 300))
        drawn = (generator.uniform(-2, 2, (2, 300)) * 2.0**exponents).astype(dtype)
        first, second = drawn.tolist()
        first += [x for x in _SPECIAL for _ in _SPECIAL]
        second += list(_SPECIAL) * len(_SPECIAL)
        return first, second
    info = np.iinfo(dtype)
    ends = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7]
    ends += [-1, -2, -3, -7] if info.min < 0 else []
    drawn_ints = generator.integers(info.min, info.max, (2, 100), dtype=dtype, endpoint=True)
    first = drawn_ints[0].tolist() + [x for x in ends for _ in ends]
    second = drawn_ints[1].tolist() + ends * len(ends)
    kept = [(x, y) for x, y in zip(first, second, strict=True) if y != 0]
    return [x for x, _ in kept], [y for _, y in kept]


def _scalars(divisors: list[float]) -> list[float]:
    step = max(1, len(divisors) // _SCALARS)
    return divisors[::step]


def python_remainder(x: Value, y: Value, dtype: str) -> Value:
    """Python's ``%``, rounded once to the dtype, and the standard's special cases."""
    if isinstance(x, int):
        return x % y
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    if math.isinf(y):
        return math.copysign(0.0, y) if x == 0 else x if (x < 0) == (y < 0) else y
    exact = Fraction(x) % Fraction(y)
    if exact == 0:
        return math.copysign(0.0, y)
    if dtype == "float64":
        return math.copysign(float(exact), y)
    return _to_single(exact)


def _to_single(exact: Fraction) -> float:
    """The nearest float32. A float64 on the way may round twice: a tie is told by its side."""
    near = np.float32(float(exact))
    around = [near, *(np.nextafter(near, np.float32(s * np.inf)) for s in (-1, 1))]
    candidates = [each for each in around if np.isfinite(each)]  # it is smaller than the divisor
    # Of two numbers that are equally near, the even one has the lower last bit.
    return float(
        min(
            candidates,
            key=lambda c: (abs(Fraction(float(c)) - exact), int(c.view(np.uint32)) & 1),
        )
    )


def same(computed: Value, exact: Value) -> bool:
    """Equal, the sign of zero included."""
    if isinstance(exact, int):
        return bool(computed == exact)
    if math.isnan(exact):
        return bool(computed != computed)
    return bool(computed == exact) and math.copysign(1, computed) == math.copysign(1, exact)


def _repro(way: str, dtype: str, x: float, y: float) -> str:
    left = f"xp.asarray({_literal(x)}, dtype=xp.{dtype})"
    right = _literal(y) if "scalar" in way else f"xp.asarray({_literal(y)}, dtype=xp.{dtype})"
    return f"xp.remainder({left}, {right})" if way.startswith("rem") else f"{left} % {right}"


def _literal(number: float) -> str:
    plain = isinstance(number, int) or math.isfinite(number)
    return repr(number) if plain else f"float({str(number)!r})"
