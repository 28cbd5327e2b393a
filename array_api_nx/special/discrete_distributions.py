"""Discrete probability distributions: what is below, what is above, and the inverses."""

from __future__ import annotations

from ..frontend.array import Array
from .scipy_ufuncs import BINARY, TERNARY, compute

__all__ = [
    "bdtr",
    "bdtrc",
    "bdtri",
    "nbdtr",
    "nbdtrc",
    "nbdtri",
    "pdtr",
    "pdtrc",
    "pdtri",
]


def bdtr(k: Array | float, n: Array | float, p: Array | float, /) -> Array:
    """The binomial distribution function: the probability of at most `k` successes.

    ``betainc(n - floor(k), floor(k) + 1, 1 - p)``.

    Parameters
    ----------
    k : Array or scalar
        Numbers of successes, rounded down.
    n : Array or scalar
        Numbers of trials, of an integer dtype: of floats SciPy warns, and rounds them down.
    p : Array or scalar
        Probabilities of a success.

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
    return compute(TERNARY["bdtr"], k, n, p)


def bdtrc(k: Array | float, n: Array | float, p: Array | float, /) -> Array:
    """The probability of more than `k` successes in the binomial distribution.

    ``betainc(floor(k) + 1, n - floor(k), p)``.

    Parameters
    ----------
    k : Array or scalar
        Numbers of successes, rounded down.
    n : Array or scalar
        Numbers of trials, of an integer dtype: of floats SciPy warns, and rounds them down.
    p : Array or scalar
        Probabilities of a success.

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
    return compute(TERNARY["bdtrc"], k, n, p)


def bdtri(k: Array | float, n: Array | float, y: Array | float, /) -> Array:
    """The inverse of `bdtr` as a function of `p`.

    The `p` with ``bdtr(k, n, p) == y``.

    Parameters
    ----------
    k : Array or scalar
        Numbers of successes, rounded down.
    n : Array or scalar
        Numbers of trials, of an integer dtype: of floats SciPy warns, and rounds them down.
    y : Array or scalar
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
    return compute(TERNARY["bdtri"], k, n, y)


def nbdtr(k: Array | float, n: Array | float, p: Array | float, /) -> Array:
    """The negative binomial distribution function: at most `k` failures before success `n`.

    ``betainc(n, k + 1, p)``.

    Parameters
    ----------
    k, n : Array or scalar
        Numbers of failures and of successes: of an integer dtype, or floats that are whole.
    p : Array or scalar
        Probabilities of a success.

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
    return compute(TERNARY["nbdtr"], k, n, p)


def nbdtrc(k: Array | float, n: Array | float, p: Array | float, /) -> Array:
    """The probability of more than `k` failures before success `n`.

    ``betainc(k + 1, n, 1 - p)``.

    Parameters
    ----------
    k, n : Array or scalar
        Numbers of failures and of successes: of an integer dtype, or floats that are whole.
    p : Array or scalar
        Probabilities of a success.

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
    return compute(TERNARY["nbdtrc"], k, n, p)


def nbdtri(k: Array | float, n: Array | float, y: Array | float, /) -> Array:
    """The inverse of `nbdtr` as a function of `p`.

    The `p` with ``nbdtr(k, n, p) == y``.

    Parameters
    ----------
    k, n : Array or scalar
        Numbers of failures and of successes: of an integer dtype, or floats that are whole.
    y : Array or scalar
        Probabilities.

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
    return compute(TERNARY["nbdtri"], k, n, y)


def pdtr(k: Array | float, m: Array | float, /) -> Array:
    """The Poisson distribution function: the probability of at most `k` events.

    ``gammaincc(floor(k) + 1, m)``.

    Parameters
    ----------
    k : Array or scalar
        Numbers of events, rounded down.
    m : Array or scalar
        The mean, ``>= 0``.

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
    return compute(BINARY["pdtr"], k, m)


def pdtrc(k: Array | float, m: Array | float, /) -> Array:
    """The probability of more than `k` events in the Poisson distribution.

    ``gammainc(floor(k) + 1, m)``.

    Parameters
    ----------
    k : Array or scalar
        Numbers of events, rounded down.
    m : Array or scalar
        The mean, ``>= 0``.

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
    return compute(BINARY["pdtrc"], k, m)


def pdtri(k: Array | float, y: Array | float, /) -> Array:
    """The inverse of `pdtr` as a function of `m`.

    The `m` with ``pdtr(k, m) == y``.

    Parameters
    ----------
    k : Array or scalar
        Numbers of events: of an integer dtype, or floats that are whole.
    y : Array or scalar
        Probabilities.

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
    return compute(BINARY["pdtri"], k, y)
