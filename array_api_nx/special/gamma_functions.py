"""The gamma and beta functions, their logarithms, derivatives, integrals and inverses; zeta."""

from __future__ import annotations

from math import log, nan, pi

from ..frontend.array import Array
from ..frontend.creation import asarray
from ..frontend.data_type import astype
from ..frontend.elementwise import add, equal, greater, multiply, pow, subtract
from ..frontend.operands import only_array, operands
from ..frontend.searching import where
from .scipy_ufuncs import BINARY, TERNARY, UNARY, compute

__all__ = [
    "betainc",
    "betaincc",
    "betaincinv",
    "betaln",
    "binom",
    "digamma",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammaln",
    "gammasgn",
    "loggamma",
    "multigammaln",
    "poch",
    "polygamma",
    "psi",
    "rgamma",
    "zeta",
    "zetac",
]


def betainc(a: Array | float, b: Array | float, x: Array | float, /) -> Array:
    """The regularised incomplete beta function.

    ``integral of t**(a-1) * (1-t)**(b-1)`` over t from 0 to `x`, divided by that to 1.

    Parameters
    ----------
    a, b : Array or scalar
        Positive parameters.
    x : Array or scalar
        Between 0 and 1.

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
    return compute(TERNARY["betainc"], a, b, x)


def betaincc(a: Array | float, b: Array | float, x: Array | float, /) -> Array:
    """The complement of the regularised incomplete beta function.

    ``1 - betainc(a, b, x)``, accurate where that is small.

    Parameters
    ----------
    a, b : Array or scalar
        Positive parameters.
    x : Array or scalar
        Between 0 and 1.

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
    return compute(TERNARY["betaincc"], a, b, x)


def betaincinv(a: Array | float, b: Array | float, y: Array | float, /) -> Array:
    """The inverse of the regularised incomplete beta function.

    The `x` with ``betainc(a, b, x) == y``.

    Parameters
    ----------
    a, b : Array or scalar
        Positive parameters.
    y : Array or scalar
        Between 0 and 1.

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
    return compute(TERNARY["betaincinv"], a, b, y)


def betaln(a: Array | float, b: Array | float, /) -> Array:
    """The logarithm of the absolute value of the beta function.

    ``log(abs(gamma(a) * gamma(b) / gamma(a + b)))``.

    Parameters
    ----------
    a, b : Array or scalar
        Real values.

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
    return compute(BINARY["betaln"], a, b)


def binom(x: Array | float, y: Array | float, /) -> Array:
    """Binomial coefficients, also of real numbers.

    ``gamma(x + 1) / (gamma(y + 1) * gamma(x - y + 1))``.

    Parameters
    ----------
    x : Array or scalar
        Of how many.
    y : Array or scalar
        How many.

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
    return compute(BINARY["binom"], x, y)


def digamma(x: Array, /) -> Array:
    """The digamma function; another name of `psi`.

    The derivative of ``log(gamma(x))``.

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
    return compute(UNARY["psi"], x)


def gamma(x: Array, /) -> Array:
    """The gamma function.

    ``integral of t**(x-1) * exp(-t)`` over t from 0 to inf, and its continuation; NaN at negative
    integers, inf of the sign of `x` at zeros.

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
    return compute(UNARY["gamma"], x)


def gammainc(a: Array | float, x: Array | float, /) -> Array:
    """The regularised lower incomplete gamma function.

    ``integral of t**(a-1) * exp(-t)`` over t from 0 to `x`, divided by ``gamma(a)``.

    Parameters
    ----------
    a : Array or scalar
        ``>= 0``.
    x : Array or scalar
        ``>= 0``.

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
    return compute(BINARY["gammainc"], a, x)


def gammaincc(a: Array | float, x: Array | float, /) -> Array:
    """The regularised upper incomplete gamma function.

    ``1 - gammainc(a, x)``, accurate where that is small.

    Parameters
    ----------
    a : Array or scalar
        ``>= 0``.
    x : Array or scalar
        ``>= 0``.

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
    return compute(BINARY["gammaincc"], a, x)


def gammainccinv(a: Array | float, y: Array | float, /) -> Array:
    """The inverse of the regularised upper incomplete gamma function.

    The `x` with ``gammaincc(a, x) == y``.

    Parameters
    ----------
    a : Array or scalar
        Positive.
    y : Array or scalar
        Between 0 and 1.

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
    return compute(BINARY["gammainccinv"], a, y)


def gammaincinv(a: Array | float, y: Array | float, /) -> Array:
    """The inverse of the regularised lower incomplete gamma function.

    The `x` with ``gammainc(a, x) == y``.

    Parameters
    ----------
    a : Array or scalar
        Positive.
    y : Array or scalar
        Between 0 and 1.

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
    return compute(BINARY["gammaincinv"], a, y)


def gammaln(x: Array, /) -> Array:
    """The logarithm of the absolute value of the gamma function.

    ``log(abs(gamma(x)))``; inf at zero and negative integers.

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
    return compute(UNARY["gammaln"], x)


def gammasgn(x: Array, /) -> Array:
    """The sign of the gamma function.

    1.0 or -1.0, so that ``gamma(x) == gammasgn(x) * exp(gammaln(x))``; NaN at negative integers.

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
    return compute(UNARY["gammasgn"], x)


def loggamma(x: Array, /) -> Array:
    """The principal branch of the logarithm of the gamma function.

    ``log(gamma(x))``; for real `x` NaN where `x` is negative, and `gammaln` is not.

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
    return compute(UNARY["loggamma"], x)


def multigammaln(a: Array, d: int, /) -> Array:
    """The logarithm of the multivariate gamma function.

    ``log(pi) * d * (d - 1) / 4`` plus the sum over j from 0 to ``d - 1`` of
    ``gammaln(a - j / 2)``.

    Parameters
    ----------
    a : Array
        Real values above ``(d - 1) / 2``.
    d : int
        The dimension, positive; a whole float and an array without axes will do.

    Returns
    -------
    Array
        A new array of the same shape, float64; NaN where `a` is too small, for which SciPy refuses
        the whole array.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do; ValueError also if `d` is no positive integer.
    """
    a = only_array(a)
    count = _dimension(d)
    total = gammaln(subtract(a, 0.0))
    for j in range(1, count):
        total = add(total, gammaln(subtract(a, j / 2)))
    # The sum has the precision of `a`, as SciPy's has; the dtype comes with the constant.
    result = add(astype(total, total._device.real), count * (count - 1) * 0.25 * log(pi))
    return where(greater(a, 0.5 * (count - 1)), result, nan)


def _dimension(d: float) -> int:
    value = float(d)
    if not value.is_integer() or value < 1:
        raise ValueError(f"d is the dimension of a space, and must be a positive int, not {d!r}")
    return int(value)


def poch(z: Array | float, m: Array | float, /) -> Array:
    """The rising factorial, Pochhammer's symbol.

    ``gamma(z + m) / gamma(z)``.

    Parameters
    ----------
    z, m : Array or scalar
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
    return compute(BINARY["poch"], z, m)


def polygamma(n: Array | int, x: Array | float, /) -> Array:
    """The polygamma functions, derivatives of the digamma function.

    ``(-1)**(n + 1) * gamma(n + 1) * zeta(n + 1, x)``, and ``psi(x)`` where `n` is 0.

    Parameters
    ----------
    n : Array or int
        The order of the derivative: whole numbers, ``>= 0``.
    x : Array or scalar
        Real values; positive where `n` is not 0.

    Returns
    -------
    Array
        A new array of the shape that the operands broadcast to, float64; float32 if `n` and `x`
        are arrays of that dtype.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    _, _, device = operands(n, x)
    # As in SciPy scalars have a dtype here, which takes part in promotion.
    n, x = [value if type(value) is Array else asarray(value, device=device) for value in (n, x)]
    after = add(n, 1)
    factor = multiply(pow(-1.0, after), gamma(add(n, 1.0)))
    return where(equal(n, 0), psi(x), multiply(factor, zeta(after, x)))


def psi(x: Array, /) -> Array:
    """The digamma function.

    The derivative of ``log(gamma(x))``; NaN at negative integers, inf of the opposite sign at
    zeros.

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
    return compute(UNARY["psi"], x)


def rgamma(x: Array, /) -> Array:
    """The reciprocal of the gamma function.

    ``1 / gamma(x)``; 0 at zero and negative integers.

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
    return compute(UNARY["rgamma"], x)


def zeta(x: Array | complex, /, q: Array | float | None = None) -> Array:
    """The Riemann zeta function, or Hurwitz's.

    The sum over k from 0 of ``1 / (k + q)**x``, with `q` 1 if it is not given, and the continuation
    of that below 1.

    Parameters
    ----------
    x : Array or scalar
        Real or complex values; real ones of at least 1 if `q` is given.
    q : Array or scalar, optional
        Real values.

    Returns
    -------
    Array
        A new array of the shape that the operands broadcast to, in single precision if all arrays
        have that, else in double; complex if `x` is.

    Raises
    ------
    TypeError, ValueError, ImportError
        As all functions of this package do.
    """
    if q is None:
        return compute(UNARY["zeta"], x)
    return compute(BINARY["zeta"], x, q)


def zetac(x: Array, /) -> Array:
    """The Riemann zeta function minus one.

    ``zeta(x) - 1``, accurate where `x` is large.

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
    return compute(UNARY["zetac"], x)
