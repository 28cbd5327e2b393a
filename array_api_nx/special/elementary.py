"""Powers, logarithms and angles: functions of elementary functions that keep their accuracy."""

from __future__ import annotations

from math import pi

from ..core import dtypes as d
from ..frontend.array import Array
from ..frontend.data_type import finfo
from ..frontend.elementwise import divide, multiply, not_equal, sin
from ..frontend.operands import only_array
from ..frontend.searching import where
from .scipy_ufuncs import BINARY, TERNARY, UNARY, compute

__all__ = [
    "cbrt",
    "cosdg",
    "cosm1",
    "cotdg",
    "exp2",
    "exp10",
    "exprel",
    "radian",
    "sinc",
    "sindg",
    "tandg",
    "xlog1py",
    "xlogy",
]


def cbrt(x: Array, /) -> Array:
    """The cube root.

    ``x**(1/3)`` with the sign of `x`.

    Parameters
    ----------
    x : Array
        Real values.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["cbrt"], x)


def cosdg(x: Array, /) -> Array:
    """The cosine of an angle in degrees.

    ``cos(pi * x / 180)``, exact at multiples of 90.

    Parameters
    ----------
    x : Array
        Degrees.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["cosdg"], x)


def cosm1(x: Array, /) -> Array:
    """The cosine minus one.

    ``cos(x) - 1``, accurate near zero.

    Parameters
    ----------
    x : Array
        Radians.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["cosm1"], x)


def cotdg(x: Array, /) -> Array:
    """The cotangent of an angle in degrees.

    ``1 / tan(pi * x / 180)``; inf at multiples of 180.

    Parameters
    ----------
    x : Array
        Degrees.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["cotdg"], x)


def exp10(x: Array, /) -> Array:
    """Powers of ten.

    ``10**x``.

    Parameters
    ----------
    x : Array
        Real exponents.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["exp10"], x)


def exp2(x: Array, /) -> Array:
    """Powers of two.

    ``2**x``.

    Parameters
    ----------
    x : Array
        Real exponents.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["exp2"], x)


def exprel(x: Array, /) -> Array:
    """The relative error of one as the exponential.

    ``(exp(x) - 1) / x``, accurate near zero, and 1 at zero.

    Parameters
    ----------
    x : Array
        Real values.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["exprel"], x)


def radian(d: Array | float, m: Array | float, s: Array | float, /) -> Array:
    """Angles from degrees, minutes and seconds.

    ``(d + m/60 + s/3600) * pi / 180``.

    Parameters
    ----------
    d, m, s : Array or scalar
        Degrees, minutes and seconds of arc.

    Returns
    -------
    Array
        A new array of the shape that the operands broadcast to, float32 if all arrays are, else
        float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(TERNARY["radian"], d, m, s)


def sinc(x: Array, /) -> Array:
    """The normalised sinc function.

    ``sin(pi * x) / (pi * x)``, and 1 at zero. It needs no SciPy: it is computed from the sine.

    Parameters
    ----------
    x : Array
        Real or complex values.

    Returns
    -------
    Array
        A new array of the same shape, of a floating-point dtype that `x` has, else float64.

    Raises
    ------
    TypeError
        If `x` is no array.
    """
    angle = multiply(pi, only_array(x))
    # So near to zero the quotient is 1, and needs no branch.
    tiny = 1e-20 if angle.dtype in d.COMPLEX else finfo(angle.dtype).eps
    angle = where(not_equal(angle, 0), angle, tiny)
    return divide(sin(angle), angle)


def sindg(x: Array, /) -> Array:
    """The sine of an angle in degrees.

    ``sin(pi * x / 180)``, exact at multiples of 90.

    Parameters
    ----------
    x : Array
        Degrees.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["sindg"], x)


def tandg(x: Array, /) -> Array:
    """The tangent of an angle in degrees.

    ``tan(pi * x / 180)``; inf at odd multiples of 90.

    Parameters
    ----------
    x : Array
        Degrees.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["tandg"], x)


def xlog1py(x: Array | complex, y: Array | complex, /) -> Array:
    """A factor times the logarithm of one plus a number.

    ``x * log1p(y)``, and 0 where `x` is 0 and `y` no NaN.

    Parameters
    ----------
    x : Array or scalar
        Factors.
    y : Array or scalar
        What 1 is added to.

    Returns
    -------
    Array
        A new array of the shape that the operands broadcast to, in single precision if all arrays
        have that, else in double; complex if one is.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(BINARY["xlog1py"], x, y)


def xlogy(x: Array | complex, y: Array | complex, /) -> Array:
    """A factor times a logarithm.

    ``x * log(y)``, and 0 where `x` is 0 and `y` no NaN.

    Parameters
    ----------
    x : Array or scalar
        Factors.
    y : Array or scalar
        What the logarithm is taken of.

    Returns
    -------
    Array
        A new array of the shape that the operands broadcast to, in single precision if all arrays
        have that, else in double; complex if one is.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(BINARY["xlogy"], x, y)
