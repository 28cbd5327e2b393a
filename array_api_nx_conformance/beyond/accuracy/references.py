"""Exact values of the standard's element-by-element functions.

Arithmetic is done in fractions, everything else by mpmath at 50 digits, and again at more: where
the two disagree, digits were lost on the way, and the number of digits is doubled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
from mpmath import mp

from .formats import Format
from .points import Domain

Number: TypeAlias = Any  # of mpmath, or a Fraction, or a float
_DIGITS, _MORE, _MOST = 50, 25, 4000
_GUARD = 20  # bits: two values that agree so far beyond the format's precision are both exact

# The standard demands the nearest number; it demands a number of the format, without rounding; it
# leaves the algorithm to the implementation.
NEAREST, SAME, APPROXIMATE = "nearest", "same", "approximate"


@dataclass(frozen=True)
class Reference:
    """A function of the standard.

    Attributes
    ----------
    name : str
        Its name.
    exact : callable
        Its exact value at numbers of mpmath, or at fractions if `rational`.
    domains : tuple of Domain
        One for each argument.
    kind : str
        What the standard demands of results for real numbers.
    rational : bool
        Whether `exact` takes and gives fractions.
    complex : callable or None
        The value at complex numbers of mpmath; None if the standard has none.
    complex_kind : str
        What is demanded there; the standard demands nearest numbers of real functions alone.
    real : bool
        Whether there is a function of real numbers.
    """

    name: str
    exact: Callable[..., Number]
    domains: tuple[Domain, ...] = (Domain(),)
    kind: str = APPROXIMATE
    rational: bool = False
    complex: Callable[..., Number] | None = None
    complex_kind: str = APPROXIMATE
    real: bool = True


_ANY = Domain()
_PI = tuple(math.pi / 2 * k for k in (1, 2, 3, 4, 22, 710, 2.0**20))
_TURNS = Domain(near=_PI, spans=((-100.0, 100.0),))
_UNIT = Domain(-1.0, 1.0, spans=((-1.0, 1.0),))
_POSITIVE = Domain(2.0**-1074, near=(2.0, 4.0, 10.0, 100.0, 1000.0), spans=((0.5, 2.0),))
_EXPONENTS = Domain(
    near=(math.log(2), 88.0, 709.0, -87.0, -708.0), spans=((-87.0, 88.0), (-708.0, 709.0))
)
_HALVES = Domain(near=(1.5, 2.5, -0.5, -2.5, 2.0**22, 2.0**23, 2.0**52), spans=((-10.0, 10.0),))


def references() -> list[Reference]:
    """All functions that compute with floating-point numbers."""
    return [*_arithmetic(), *_selecting(), *_unary(), *_binary()]


def exact_value(
    function: Callable[..., Number], arguments: tuple[Number, ...], form: Format
) -> Number:
    """The value of a function of mpmath's numbers; NaN where it has none.

    Raises
    ------
    ArithmeticError
        If no number of digits is enough.
    """
    digits = _DIGITS + _lost(arguments)
    before = _evaluated(function, arguments, digits)
    while digits <= _MOST:
        digits += _MORE
        after = _evaluated(function, arguments, digits)
        if mpmath.isnan(after) or mpmath.isinf(after):
            return after
        with mp.workdps(digits):
            if abs(after - before) <= abs(after) * mpmath.mpf(2) ** -(form.precision + _GUARD):
                return after
        before = after
        digits *= 2
    raise ArithmeticError(f"no exact value at {arguments}")


def _lost(arguments: tuple[Number, ...]) -> int:
    """Digits that complex functions lose if they add tiny and great numbers on the way to a result.

    mpmath's inverse functions add 1 to the square of a component: whatever is below the digits
    carried is gone, at any number of digits in the same way.
    """
    parts = [part for z in arguments if isinstance(z, mpmath.mpc) for part in (z.real, z.imag)]
    return max((2 * abs(int(mpmath.mag(part))) * 3 // 10 for part in parts if part), default=0)


def _evaluated(
    function: Callable[..., Number], arguments: tuple[Number, ...], digits: int
) -> Number:
    with mp.workdps(digits):
        try:
            return mpmath.mpmathify(function(*arguments))
        except (ValueError, ZeroDivisionError, OverflowError):
            return mpmath.nan


def fraction(number: Number, form: Format) -> Fraction:
    """A real number of mpmath as a fraction; far outside the format any number will do."""
    if isinstance(number, Fraction):
        return number
    if number == 0:
        return Fraction(0)
    sign = 1 if number > 0 else -1
    if mpmath.isinf(number) or mpmath.mag(number) > form.most + 8:
        return sign * Fraction(2) ** (form.most + 8)
    if mpmath.mag(number) < form.least - form.precision - 8:
        return sign * Fraction(2) ** (form.least - form.precision - 8)
    negative, mantissa, exponent, _ = number._mpf_
    value = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -value if negative else value


def _arithmetic() -> list[Reference]:
    two = (_ANY, _ANY)
    nonzero = Domain(near=(3.0, 10.0))
    return [
        Reference("add", lambda x, y: x + y, two, NEAREST, True, lambda x, y: x + y),
        Reference("subtract", lambda x, y: x - y, two, NEAREST, True, lambda x, y: x - y),
        Reference("multiply", lambda x, y: x * y, two, NEAREST, True, lambda x, y: x * y),
        Reference("divide", lambda x, y: x / y, (_ANY, nonzero), NEAREST, True, lambda x, y: x / y),
        Reference("remainder", lambda x, y: x % y, (_ANY, nonzero), NEAREST, True),
        Reference("reciprocal", lambda x: 1 / x, (_ANY,), NEAREST, True, lambda x: 1 / x),
        Reference("square", lambda x: x * x, (_ANY,), APPROXIMATE, True, lambda x: x * x),
        Reference("floor_divide", lambda x, y: x // y, (_ANY, nonzero), APPROXIMATE, True),
        Reference("sqrt", mpmath.sqrt, (_POSITIVE,), NEAREST, False, mpmath.sqrt),
    ]


def _selecting() -> list[Reference]:
    """Functions whose result needs no rounding."""
    two = (_ANY, _ANY)

    def same(name: str, exact: Callable[..., Number], *domains: Domain) -> Reference:
        return Reference(name, exact, domains or (_ANY,), SAME, True)

    def with_complex(name: str, exact: Callable[..., Number]) -> Reference:
        return Reference(name, exact, (_ANY,), SAME, True, exact, SAME)

    return [
        Reference("abs", abs, (_ANY,), SAME, True, abs),
        with_complex("negative", lambda x: -x),
        with_complex("positive", lambda x: +x),
        Reference("nextafter", max, two, SAME, True),
        Reference("sign", _sign, (_ANY,), SAME, True, lambda x: x / abs(x)),
        Reference("conj", abs, (_ANY,), SAME, False, mpmath.conj, SAME, real=False),
        Reference("real", abs, (_ANY,), SAME, False, mpmath.re, SAME, real=False),
        Reference("imag", abs, (_ANY,), SAME, False, mpmath.im, SAME, real=False),
        same("ceil", math.ceil, _HALVES),
        same("floor", math.floor, _HALVES),
        same("trunc", math.trunc, _HALVES),
        Reference("round", round, (_HALVES,), SAME, True, _round_complex, SAME),
        same("maximum", max, *two),
        same("minimum", min, *two),
        same("copysign", lambda x, y: abs(x) if y >= 0 else -abs(x), *two),
        same("signbit", lambda x: x < 0),
        same("equal", lambda x, y: x == y, *two),
        same("not_equal", lambda x, y: x != y, *two),
        same("less", lambda x, y: x < y, *two),
        same("less_equal", lambda x, y: x <= y, *two),
        same("greater", lambda x, y: x > y, *two),
        same("greater_equal", lambda x, y: x >= y, *two),
    ]


def _unary() -> list[Reference]:
    def both(name: str, exact: Callable[..., Number], domain: Domain) -> Reference:
        return Reference(name, exact, (domain,), complex=exact)

    above = Domain(1.0, near=(1.0, 1.5, 2.0), spans=((1.0, 4.0),))
    shifted = Domain(-1.0, near=(-1.0,), spans=((-1.0, 1.0),))
    return [
        both("acos", mpmath.acos, _UNIT),
        both("acosh", mpmath.acosh, above),
        both("asin", mpmath.asin, _UNIT),
        both("asinh", mpmath.asinh, _ANY),
        both("atan", mpmath.atan, _ANY),
        both("atanh", mpmath.atanh, _UNIT),
        both("cos", mpmath.cos, _TURNS),
        both("cosh", mpmath.cosh, _EXPONENTS),
        both("exp", mpmath.exp, _EXPONENTS),
        both("expm1", mpmath.expm1, _EXPONENTS),
        both("log", mpmath.log, _POSITIVE),
        both("log10", lambda x: mpmath.log(x) / mpmath.log(10), _POSITIVE),
        both("log1p", mpmath.log1p, shifted),
        both("log2", lambda x: mpmath.log(x) / mpmath.log(2), _POSITIVE),
        both("sin", mpmath.sin, _TURNS),
        both("sinh", mpmath.sinh, _EXPONENTS),
        both("tan", mpmath.tan, _TURNS),
        both("tanh", mpmath.tanh, Domain(spans=((-20.0, 20.0),))),
    ]


def _binary() -> list[Reference]:
    two = (_ANY, _ANY)
    return [
        Reference("atan2", mpmath.atan2, two),
        Reference("hypot", lambda x, y: mpmath.sqrt(x * x + y * y), two),
        Reference("logaddexp", _logaddexp, (_EXPONENTS, _EXPONENTS)),
        Reference(
            "pow",
            mpmath.power,
            (_POSITIVE, Domain(near=(2.0, 3.0, -2.0), spans=((-30.0, 30.0), (-300.0, 300.0)))),
            complex=mpmath.power,
        ),
    ]


def _sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


def _round_complex(x: Number) -> Number:
    return mpmath.mpc(round(Fraction(float(x.real))), round(Fraction(float(x.imag))))


def _logaddexp(x: Number, y: Number) -> Number:
    return max(x, y) + mpmath.log1p(mpmath.exp(-abs(x - y)))
