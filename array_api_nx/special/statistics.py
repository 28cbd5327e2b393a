"""Entropies, loss functions, and transformations of data."""

from __future__ import annotations

from ..frontend.array import Array
from .scipy_ufuncs import BINARY, UNARY, compute

__all__ = [
    "boxcox",
    "boxcox1p",
    "entr",
    "expit",
    "huber",
    "inv_boxcox",
    "inv_boxcox1p",
    "kl_div",
    "logit",
    "pseudo_huber",
    "rel_entr",
]


def boxcox(x: Array | float, lmbda: Array | float, /) -> Array:
    """The Box-Cox transformation.

    ``(x**lmbda - 1) / lmbda``, and ``log(x)`` where `lmbda` is 0; NaN for negative `x`.

    Parameters
    ----------
    x : Array or scalar
        ``>= 0``.
    lmbda : Array or scalar
        The power.

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
    return compute(BINARY["boxcox"], x, lmbda)


def boxcox1p(x: Array | float, lmbda: Array | float, /) -> Array:
    """The Box-Cox transformation of one plus a number.

    ``((1 + x)**lmbda - 1) / lmbda``, and ``log1p(x)`` where `lmbda` is 0; NaN for `x` below -1.

    Parameters
    ----------
    x : Array or scalar
        ``>= -1``.
    lmbda : Array or scalar
        The power.

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
    return compute(BINARY["boxcox1p"], x, lmbda)


def entr(x: Array, /) -> Array:
    """The summands of the entropy.

    ``-x * log(x)``, 0 at zero, and -inf for negative `x`.

    Parameters
    ----------
    x : Array
        Real values.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64; float32 also for integers
        of at most 16 bits, and bool.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["entr"], x)


def expit(x: Array, /) -> Array:
    """The logistic function.

    ``1 / (1 + exp(-x))``.

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
    return compute(UNARY["expit"], x)


def huber(delta: Array | float, r: Array | float, /) -> Array:
    """Huber's loss function.

    ``r**2 / 2`` where ``abs(r) <= delta``, else ``delta * (abs(r) - delta/2)``; inf for negative
    `delta`.

    Parameters
    ----------
    delta : Array or scalar
        Where the loss becomes linear.
    r : Array or scalar
        Residuals.

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
    return compute(BINARY["huber"], delta, r)


def inv_boxcox(y: Array | float, lmbda: Array | float, /) -> Array:
    """The inverse of the Box-Cox transformation.

    ``(y * lmbda + 1)**(1 / lmbda)``, and ``exp(y)`` where `lmbda` is 0.

    Parameters
    ----------
    y : Array or scalar
        Real values.
    lmbda : Array or scalar
        The power.

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
    return compute(BINARY["inv_boxcox"], y, lmbda)


def inv_boxcox1p(y: Array | float, lmbda: Array | float, /) -> Array:
    """The inverse of `boxcox1p`.

    ``(y * lmbda + 1)**(1 / lmbda) - 1``, and ``expm1(y)`` where `lmbda` is 0.

    Parameters
    ----------
    y : Array or scalar
        Real values.
    lmbda : Array or scalar
        The power.

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
    return compute(BINARY["inv_boxcox1p"], y, lmbda)


def kl_div(x: Array | float, y: Array | float, /) -> Array:
    """The summands of the Kullback-Leibler divergence, convex in both.

    ``x * log(x / y) - x + y`` for positive operands, `y` where `x` is 0 and `y` is not negative,
    else inf.

    Parameters
    ----------
    x, y : Array or scalar
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
    return compute(BINARY["kl_div"], x, y)


def logit(x: Array, /) -> Array:
    """The inverse of the logistic function.

    ``log(x / (1 - x))``; -inf and inf at 0 and 1, NaN beyond.

    Parameters
    ----------
    x : Array
        Between 0 and 1.

    Returns
    -------
    Array
        A new array of the same shape, float32 if `x` is, else float64.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    return compute(UNARY["logit"], x)


def pseudo_huber(delta: Array | float, r: Array | float, /) -> Array:
    """The smooth approximation of Huber's loss function.

    ``delta**2 * (sqrt(1 + (r / delta)**2) - 1)``; inf for negative `delta`.

    Parameters
    ----------
    delta : Array or scalar
        Where the loss becomes linear.
    r : Array or scalar
        Residuals.

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
    return compute(BINARY["pseudo_huber"], delta, r)


def rel_entr(x: Array | float, y: Array | float, /) -> Array:
    """The summands of the relative entropy.

    ``x * log(x / y)`` for positive operands, 0 where `x` is 0 and `y` is not negative, else inf.

    Parameters
    ----------
    x, y : Array or scalar
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
    return compute(BINARY["rel_entr"], x, y)
