"""Continuous probability distributions: what is below, what is above, and the inverses."""

from __future__ import annotations

from ..frontend.array import Array
from .scipy_ufuncs import BINARY, TERNARY, UNARY, compute

__all__ = [
    "chdtr",
    "chdtrc",
    "chdtri",
    "fdtr",
    "fdtrc",
    "fdtri",
    "gdtr",
    "gdtrc",
    "log_ndtr",
    "ndtr",
    "ndtri",
    "stdtr",
    "stdtrit",
]


def chdtr(v: Array | float, x: Array | float, /) -> Array:
    """The chi-square distribution function: the probability of at most `x`.

    ``gammainc(v / 2, x / 2)``.

    Parameters
    ----------
    v : Array or scalar
        Degrees of freedom.
    x : Array or scalar
        ``>= 0``.

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
    return compute(BINARY["chdtr"], v, x)


def chdtrc(v: Array | float, x: Array | float, /) -> Array:
    """The probability of more than `x` in the chi-square distribution.

    ``gammaincc(v / 2, x / 2)``.

    Parameters
    ----------
    v : Array or scalar
        Degrees of freedom.
    x : Array or scalar
        ``>= 0``.

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
    return compute(BINARY["chdtrc"], v, x)


def chdtri(v: Array | float, p: Array | float, /) -> Array:
    """The inverse of `chdtrc` as a function of `x`.

    The `x` with ``chdtrc(v, x) == p``.

    Parameters
    ----------
    v : Array or scalar
        Degrees of freedom.
    p : Array or scalar
        Probabilities.

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
    return compute(BINARY["chdtri"], v, p)


def fdtr(dfn: Array | float, dfd: Array | float, x: Array | float, /) -> Array:
    """The F distribution function: the probability of at most `x`.

    ``betainc(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x))``.

    Parameters
    ----------
    dfn, dfd : Array or scalar
        Degrees of freedom of numerator and denominator, positive.
    x : Array or scalar
        ``>= 0``.

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
    return compute(TERNARY["fdtr"], dfn, dfd, x)


def fdtrc(dfn: Array | float, dfd: Array | float, x: Array | float, /) -> Array:
    """The probability of more than `x` in the F distribution.

    ``betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * x))``.

    Parameters
    ----------
    dfn, dfd : Array or scalar
        Degrees of freedom of numerator and denominator, positive.
    x : Array or scalar
        ``>= 0``.

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
    return compute(TERNARY["fdtrc"], dfn, dfd, x)


def fdtri(dfn: Array | float, dfd: Array | float, p: Array | float, /) -> Array:
    """The inverse of `fdtr` as a function of `x`.

    The `x` with ``fdtr(dfn, dfd, x) == p``.

    Parameters
    ----------
    dfn, dfd : Array or scalar
        Degrees of freedom of numerator and denominator, positive.
    p : Array or scalar
        Probabilities.

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
    return compute(TERNARY["fdtri"], dfn, dfd, p)


def gdtr(a: Array | float, b: Array | float, x: Array | float, /) -> Array:
    """The gamma distribution function: the probability of at most `x`.

    ``gammainc(b, a * x)``.

    Parameters
    ----------
    a : Array or scalar
        The rate, which is the inverse of the scale.
    b : Array or scalar
        The shape.
    x : Array or scalar
        ``>= 0``.

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
    return compute(TERNARY["gdtr"], a, b, x)


def gdtrc(a: Array | float, b: Array | float, x: Array | float, /) -> Array:
    """The probability of more than `x` in the gamma distribution.

    ``gammaincc(b, a * x)``.

    Parameters
    ----------
    a : Array or scalar
        The rate, which is the inverse of the scale.
    b : Array or scalar
        The shape.
    x : Array or scalar
        ``>= 0``.

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
    return compute(TERNARY["gdtrc"], a, b, x)


def log_ndtr(x: Array, /) -> Array:
    """The logarithm of the normal distribution function.

    ``log(ndtr(x))``, accurate in both tails.

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
    return compute(UNARY["log_ndtr"], x)


def ndtr(x: Array, /) -> Array:
    """The normal distribution function: the probability of at most `x`.

    ``(1 + erf(x / sqrt(2))) / 2``, accurate in both tails.

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
    return compute(UNARY["ndtr"], x)


def ndtri(y: Array, /) -> Array:
    """The inverse of the normal distribution function.

    The `x` with ``ndtr(x) == y``; -inf and inf at 0 and 1, NaN beyond.

    Parameters
    ----------
    y : Array
        Between 0 and 1.

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
    return compute(UNARY["ndtri"], y)


def stdtr(df: Array | float, t: Array | float, /) -> Array:
    """Student's t distribution function: the probability of at most `t`.

    ``betainc(df / 2, 1 / 2, df / (df + t**2)) / 2`` for negative `t`, 1 minus that for others.

    Parameters
    ----------
    df : Array or scalar
        Degrees of freedom, positive.
    t : Array or scalar
        Real values.

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
    return compute(BINARY["stdtr"], df, t)


def stdtrit(df: Array | float, p: Array | float, /) -> Array:
    """The inverse of `stdtr` as a function of `t`.

    The `t` with ``stdtr(df, t) == p``.

    Parameters
    ----------
    df : Array or scalar
        Degrees of freedom, positive.
    p : Array or scalar
        Probabilities.

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
    return compute(BINARY["stdtrit"], df, p)
