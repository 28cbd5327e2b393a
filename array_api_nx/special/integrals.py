"""Error functions, exponential and elliptic integrals: integrals of elementary functions."""

from __future__ import annotations

from ..frontend.array import Array
from .scipy_ufuncs import BINARY, UNARY, compute

__all__ = [
    "ellipk",
    "ellipkm1",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp1",
    "expi",
    "expn",
    "spence",
]


def ellipk(m: Array, /) -> Array:
    """The complete elliptic integral of the first kind.

    ``integral of (1 - m * sin(t)**2)**(-1/2)`` over t from 0 to pi/2; inf at 1, NaN above.

    Parameters
    ----------
    m : Array
        The parameter, at most 1.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `m` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["ellipk"], m)


def ellipkm1(p: Array, /) -> Array:
    """The complete elliptic integral of the first kind around one.

    ``ellipk(1 - p)``, accurate near ``p == 0``.

    Parameters
    ----------
    p : Array
        What the parameter lacks to 1; at least 0.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `p` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["ellipkm1"], p)


def erf(x: Array, /) -> Array:
    """The error function.

    ``2/sqrt(pi) * integral of exp(-t**2)`` over t from 0 to `x`.

    Parameters
    ----------
    x : Array
        Real or complex values.

    Returns
    -------
    Array
        A new array of the same shape, in single precision if `x` is, else in double.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["erf"], x)


def erfc(x: Array, /) -> Array:
    """The complementary error function.

    ``1 - erf(x)``, accurate where that is small.

    Parameters
    ----------
    x : Array
        Real or complex values.

    Returns
    -------
    Array
        A new array of the same shape, in single precision if `x` is, else in double.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["erfc"], x)


def erfcx(x: Array, /) -> Array:
    """The scaled complementary error function.

    ``exp(x**2) * erfc(x)``.

    Parameters
    ----------
    x : Array
        Real or complex values.

    Returns
    -------
    Array
        A new array of the same shape, in single precision if `x` is, else in double.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["erfcx"], x)


def erfinv(y: Array, /) -> Array:
    """The inverse of the error function.

    The `x` with ``erf(x) == y``; -inf and inf at -1 and 1, NaN beyond.

    Parameters
    ----------
    y : Array
        Between -1 and 1.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `y` is, else float64; float32 also for integers
        of at most 16 bits, and bool.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["erfinv"], y)


def exp1(x: Array, /) -> Array:
    """The exponential integral E1.

    ``integral of exp(-x * t) / t`` over t from 1 to inf; inf at zero, NaN for negative real `x`.

    Parameters
    ----------
    x : Array
        Real or complex values.

    Returns
    -------
    Array
        A new array of the same shape, in single precision if `x` is, else in double; float32 also
        for integers of at most 16 bits, and bool.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["exp1"], x)


def expi(x: Array, /) -> Array:
    """The exponential integral Ei.

    ``integral of exp(t) / t`` over t from -inf to `x`, its principal value; -inf at zero.

    Parameters
    ----------
    x : Array
        Real or complex values.

    Returns
    -------
    Array
        A new array of the same shape, in single precision if `x` is, else in double; float32 also
        for integers of at most 16 bits, and bool.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["expi"], x)


def expn(n: Array | float, x: Array | float, /) -> Array:
    """The generalised exponential integral En.

    ``integral of exp(-x * t) / t**n`` over t from 1 to inf.

    Parameters
    ----------
    n : Array or scalar
        Integers, ``>= 0``; of an integer dtype, or floats that are whole.
    x : Array or scalar
        ``>= 0``.

    Returns
    -------
    Array
        A new array of the shape that the operands broadcast to, float32 if all operands are
        arrays of that dtype, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(BINARY["expn"], n, x)


def spence(z: Array, /) -> Array:
    """Spence's function, the dilogarithm of ``1 - z``.

    ``integral of log(t) / (1 - t)`` over t from 1 to `z`; NaN for negative real `z`.

    Parameters
    ----------
    z : Array
        ``>= 0`` if real.

    Returns
    -------
    Array
        A new array of the same shape, in single precision if `z` is, else in double; float32 also
        for integers of at most 16 bits, and bool.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["spence"], z)
