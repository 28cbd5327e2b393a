"""Functions of real numbers by operations that IEEE 754 rounds exactly: the same bits everywhere.

Their arguments are whatever Python's operators compute with; none of them checks these.
numbers64.h and distributions.c do the same operations in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any, Final, NamedTuple, TypeAlias

from ..core import dtypes as d
from ..core.dtypes import DType

Where: TypeAlias = Callable[[Any, Any, Any], Any]
"""Selects elements, as the standard's function does."""


class _Series(NamedTuple):
    """Coefficients for one dtype, the constant first.

    Quantiles of the normal distribution: M. J. Wichura, Algorithm AS 241, Applied Statistics 37
    (1988), to 7 digits in single precision and to 16 in double. Logarithm: the minimax series in
    ``(x - 1) / (x + 1)`` of FreeBSD's libm.
    """

    middle: tuple[float, ...]
    middle_under: tuple[float, ...]
    near: tuple[float, ...]
    near_under: tuple[float, ...]
    far: tuple[float, ...]
    far_under: tuple[float, ...]
    log: tuple[float, ...]
    root2: float
    splitter: float
    ln2: tuple[float, float]


_FLOAT64: Final = _Series(
    middle=(
        3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3,
        1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
        3.3430575583588128105e4, 2.5090809287301226727e3,
    ),
    middle_under=(
        1.0, 4.2313330701600911252e1, 6.8718700749205790830e2,
        5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4,
        2.8729085735721942674e4, 5.2264952788528545610e3,
    ),
    near=(
        1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
        3.64784832476320460504, 1.27045825245236838258, 2.41780725177450611770e-1,
        2.27238449892691845833e-2, 7.74545014278341407640e-4,
    ),
    near_under=(
        1.0, 2.05319162663775882187, 1.67638483018380384940,
        6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
        5.47593808499534494600e-4, 1.05075007164441684324e-9,
    ),
    far=(
        6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
        2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
        2.71155556874348757815e-5, 2.01033439929228813265e-7,
    ),
    far_under=(
        1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
        1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
        1.42151175831644588870e-7, 2.04426310338993978564e-15,
    ),
    log=(
        0.6666666666666735130, 0.3999999999940941908, 0.2857142874366239149,
        0.2222219843214978396, 0.1818357216161805012, 0.1531383769920937332,
        0.1479819860511658591,
    ),
    root2=1.4142135623730951,
    splitter=2.0**27 + 1,
    ln2=(6.93147180369123816490e-01, 1.90821492927058770002e-10),
)  # fmt: skip
_FLOAT32: Final = _Series(
    middle=(3.3871327179, 50.434271938, 159.29113202, 59.109374720),
    middle_under=(1.0, 17.895169469, 78.757757664, 67.187563600),
    near=(1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103),
    near_under=(1.0, 0.73700164250, 0.12021132975),
    far=(6.6579051150, 3.0812263860, 0.42868294337, 0.017337203997),
    far_under=(1.0, 0.24197894225, 0.012258202635),
    log=(0.66666662693, 0.40000972152, 0.28498786688, 0.24279078841),
    root2=1.41421356,
    splitter=2.0**12 + 1,
    ln2=(0.693359375, -2.12194440e-4),
)
SERIES: Final = {64: _FLOAT64, 32: _FLOAT32}
"""By the bits of a number."""

# The steps by which a number is brought into [1, 2): enough for all normal numbers.
_STEPS: Final = {
    64: (512, 256, 128, 64, 32, 16, 8, 4, 2, 1),
    32: (64, 32, 16, 8, 4, 2, 1),
}


def polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    *rest, result = coefficients
    value: Any = result
    for coefficient in reversed(rest):
        value = value * x + coefficient
    return value


def exact_log(x: Any, dtype: DType, where: Where, *, is_share: bool = False) -> Any:
    """The natural logarithm of positive normal numbers, with the same bits everywhere.

    `x`: floating-point numbers that Python's operators compute with.
    `dtype`: theirs.
    `is_share`: whether all numbers are from 2**-63 to 1, which takes fewer operations.
    """
    series = SERIES[d.bits(dtype)]
    exponent = x * 0.0
    for step in () if is_share else _STEPS[d.bits(dtype)]:
        large = x >= 2.0**step
        x = where(large, x * 2.0**-step, x)
        exponent = where(large, exponent + float(step), exponent)
    for step in _STEPS[d.bits(dtype)]:
        if is_share and step > 32:
            continue
        small = x < 2.0 ** (1 - step)
        x = where(small, x * 2.0**step, x)
        exponent = where(small, exponent - float(step), exponent)
    upper = x > series.root2
    exponent = where(upper, exponent + 1.0, exponent)
    f = where(upper, x * 0.5, x) - 1.0
    high, low = series.ln2
    half, rest = _log_parts(f, series)
    return exponent * high - ((half - (rest + exponent * low)) - f)


def exact_log1p(x: Any, dtype: DType) -> Any:
    """The natural logarithm of ``1 + x``, for x from -0.29 to 0.41; see `exact_log`."""
    half, rest = _log_parts(x, SERIES[d.bits(dtype)])
    return x - (half - rest)


def _log_parts(f: Any, series: _Series) -> tuple[Any, Any]:
    """The logarithm of ``1 + f`` is f, less the first of these, plus the second."""
    s = f / (f + 2.0)
    z = s * s
    tail = z * polynomial(z, series.log)
    half = f * f * 0.5
    return half, s * (half + tail)


def exact_sqrt(x: Any, root: Any, dtype: DType) -> Any:
    """Square roots rounded as IEEE 754 asks for; PyTorch's on x86 are wrong by one unit at times.

    The engine's `root` is corrected by what its square lacks, which is computed exactly, by
    products of numbers of half the digits (T. J. Dekker, Numerische Mathematik 18, 1971).
    """
    shifted = root * SERIES[d.bits(dtype)].splitter
    high = shifted - (shifted - root)
    low = root - high
    lacking = ((x - high * high) - high * low * 2.0) - low * low
    return root + lacking / (root + root)


# The coefficients of the exponential function: enough of them for numbers up to log(2) / 2.
_EXPONENTIAL: Final = tuple([1.0 / factorial(i) for i in range(14)])


def exact_exp(x: Any, floor: Callable[[Any], Any], where: Where) -> Any:
    """The exponential function of float64 of at most 0; 0 below -700."""
    inside = where(x < -700.0, -700.0, x)
    halvings = floor(inside * -1.4426950408889634 + 0.5)
    high, low = _FLOAT64.ln2
    value = polynomial((inside + halvings * high) + halvings * low, _EXPONENTIAL)
    for step in _STEPS[64]:
        some = halvings >= float(step)
        value = where(some, value * 2.0**-step, value)
        halvings = where(some, halvings - float(step), halvings)
    return where(x <= -700.0, 0.0, value)


def stirling(x: Any) -> Any:
    """By how much log(gamma(x)) exceeds ``(x - 1/2) log(x) - x + log(2 pi) / 2``, for x >= 1.

    Stieltjes' continued fraction (Digital Library of Mathematical Functions, 5.10.1): wrong by
    6e-6 at 1, 7e-9 at 2, and no more than rounding from 6 on.
    """
    value = 2.26948897420495996 / x
    for coefficient in (
        1.51747364915328740, 1.01152306812684171, 0.525606469002695418, 0.252380952380952381,
        0.0333333333333333333, 0.0833333333333333333,
    ):  # fmt: skip
        value = coefficient / (x + value)
    return value
