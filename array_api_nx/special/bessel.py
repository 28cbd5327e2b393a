"""Bessel functions, and other solutions of second-order differential equations."""

from __future__ import annotations

from ..frontend.array import Array
from .scipy_ufuncs import BINARY, TERNARY, UNARY, compute

__all__ = [
    "hyp1f1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "j0",
    "j1",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "lpmv",
    "y0",
    "y1",
    "yn",
]


def hyp1f1(a: Array | float, b: Array | float, x: Array | complex, /) -> Array:
    """Kummer's confluent hypergeometric function.

    The sum over k of ``poch(a, k) / poch(b, k) * x**k / k!``.

    Parameters
    ----------
    a, b : Array or scalar
        Real parameters.
    x : Array or scalar
        Real or complex values.

    Returns
    -------
    Array
        A new array of the shape that the operands broadcast to, float32 or complex64 if all
        arrays have single precision, else float64 or complex128; float32 also for integers of at
        most 16 bits, and bool.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(TERNARY["hyp1f1"], a, b, x)


def i0(x: Array, /) -> Array:
    """The modified Bessel function of the first kind of order 0.

    The sum over k of ``(x**2 / 4)**k / (k!)**2``.

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
    return compute(UNARY["i0"], x)


def i0e(x: Array, /) -> Array:
    """The scaled modified Bessel function of the first kind of order 0.

    ``exp(-abs(x)) * i0(x)``.

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
    return compute(UNARY["i0e"], x)


def i1(x: Array, /) -> Array:
    """The modified Bessel function of the first kind of order 1.

    ``x/2`` times the sum over k of ``(x**2 / 4)**k / (k! * (k + 1)!)``.

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
    return compute(UNARY["i1"], x)


def i1e(x: Array, /) -> Array:
    """The scaled modified Bessel function of the first kind of order 1.

    ``exp(-abs(x)) * i1(x)``.

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
    return compute(UNARY["i1e"], x)


def j0(x: Array, /) -> Array:
    """The Bessel function of the first kind of order 0.

    The sum over k of ``(-x**2 / 4)**k / (k!)**2``.

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
    return compute(UNARY["j0"], x)


def j1(x: Array, /) -> Array:
    """The Bessel function of the first kind of order 1.

    ``x/2`` times the sum over k of ``(-x**2 / 4)**k / (k! * (k + 1)!)``.

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
    return compute(UNARY["j1"], x)


def k0(x: Array, /) -> Array:
    """The modified Bessel function of the second kind of order 0.

    ``integral of cos(x * t) / sqrt(t**2 + 1)`` over t from 0 to inf; inf at zero, NaN below.

    Parameters
    ----------
    x : Array
        Positive.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["k0"], x)


def k0e(x: Array, /) -> Array:
    """The scaled modified Bessel function of the second kind of order 0.

    ``exp(x) * k0(x)``.

    Parameters
    ----------
    x : Array
        Positive.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["k0e"], x)


def k1(x: Array, /) -> Array:
    """The modified Bessel function of the second kind of order 1.

    Minus the derivative of `k0`; inf at zero, NaN below.

    Parameters
    ----------
    x : Array
        Positive.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["k1"], x)


def k1e(x: Array, /) -> Array:
    """The scaled modified Bessel function of the second kind of order 1.

    ``exp(x) * k1(x)``.

    Parameters
    ----------
    x : Array
        Positive.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["k1e"], x)


def lpmv(m: Array | float, v: Array | float, x: Array | float, /) -> Array:
    """The associated Legendre function of the first kind, of integer order and real degree.

    ``(-1)**m * (1 - x**2)**(m/2)`` times the derivative of order `m` of the Legendre function of
    degree `v`.

    Parameters
    ----------
    m : Array or scalar
        The order: integers, of any real dtype; NaN for others.
    v : Array or scalar
        The degree.
    x : Array or scalar
        Between -1 and 1.

    Returns
    -------
    Array
        A new array of the shape that the operands broadcast to, float32 if all arrays are, else
        float64; float32 also for integers of at most 16 bits, and bool.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(TERNARY["lpmv"], m, v, x)


def y0(x: Array, /) -> Array:
    """The Bessel function of the second kind of order 0.

    The second solution of the differential equation of `j0`; -inf at zero, NaN below.

    Parameters
    ----------
    x : Array
        Positive.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["y0"], x)


def y1(x: Array, /) -> Array:
    """The Bessel function of the second kind of order 1.

    The second solution of the differential equation of `j1`; -inf at zero, NaN below.

    Parameters
    ----------
    x : Array
        Positive.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["y1"], x)


def yn(n: Array | float, x: Array | float, /) -> Array:
    """The Bessel function of the second kind of integer order.

    By recurrence on the order from `y0` and `y1`; -inf at zero, NaN below.

    Parameters
    ----------
    n : Array or scalar
        The order: of an integer dtype, or floats that are whole.
    x : Array or scalar
        Positive.

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
    return compute(BINARY["yn"], n, x)
