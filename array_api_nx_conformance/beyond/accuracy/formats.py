"""Floating-point formats, and errors in units in the last place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

INFINITY = math.inf


@dataclass(frozen=True)
class Format:
    """A binary floating-point format.

    Attributes
    ----------
    precision : int
        Bits of the significand, the hidden one included.
    least, most : int
        The exponents of the least and the greatest normal number: ``2**least`` is the least.
    """

    precision: int
    least: int
    most: int

    @property
    def half(self) -> float:
        """The error, in ULPs, at which half of the significand's bits are wrong."""
        return 2.0 ** (self.precision // 2)

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next number."""
        return 2.0 ** (1 - self.precision)


SINGLE, DOUBLE = Format(24, -126, 127), Format(53, -1022, 1023)
# A complex number is as exact as its components.
FORMATS = {"float32": SINGLE, "float64": DOUBLE, "complex64": SINGLE, "complex128": DOUBLE}


def ulp(exact: Fraction, form: Format) -> Fraction:
    """The distance between numbers of a format at the magnitude of `exact`, which is not 0."""
    return Fraction(2) ** (max(_exponent(exact), form.least) - form.precision + 1)


def is_subnormal(exact: Fraction, form: Format) -> bool:
    """Whether a result is so small that the standard does not say what a namespace gives for it."""
    return exact != 0 and abs(exact) < Fraction(2) ** form.least


def error(computed: float, exact: Fraction, form: Format) -> float:
    """How far a result is from the exact value, in ULPs of the exact value.

    Infinity counts as the power of two after the greatest number: that is where rounding goes to
    infinity.
    """
    return INFINITY if math.isnan(computed) else _float(_distance(computed, exact, form))


def is_nearest(computed: float, exact: Fraction, form: Format) -> bool:
    """Whether a result is the exact value, rounded to nearest, ties to even."""
    if math.isnan(computed):
        return False
    found = _distance(computed, exact, form)
    if found != Fraction(1, 2):
        return found < Fraction(1, 2)
    even: bool = (_clamped(computed, form) / ulp(exact, form)) % 2 == 0
    return even


def _distance(computed: float, exact: Fraction, form: Format) -> Fraction:
    value = _clamped(computed, form)
    beyond = Fraction(2) ** (form.most + 1)
    exact = max(-beyond, min(beyond, exact))
    if value == exact:
        return Fraction(0)
    if exact == 0:
        return beyond
    # One binade below infinity's the numbers lie as densely as the greatest ones.
    return abs(value - exact) / ulp(min(abs(exact), beyond * Fraction(3, 4)), form)


def _clamped(number: float, form: Format) -> Fraction:
    if math.isinf(number):
        return Fraction(2) ** (form.most + 1) * (1 if number > 0 else -1)
    return Fraction(number)


def _exponent(number: Fraction) -> int:
    number = abs(number)
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess - 1 if Fraction(2) ** guess > number else guess


def _float(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return INFINITY
