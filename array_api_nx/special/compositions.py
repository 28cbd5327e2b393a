"""Functions of `special` that are composed of others, or have an operand that may be left out."""

from __future__ import annotations

from math import log, nan, pi

from ..frontend.array import Array
from ..frontend.creation import asarray
from ..frontend.data_type import astype
from ..frontend.docstrings import complete_docstrings
from ..frontend.elementwise import add, equal, greater, multiply, pow, subtract
from ..frontend.operands import only_array, operands
from ..frontend.searching import where
from .scipy_ufuncs import BINARY, UNARY, compute


def multigammaln(a: Array, d: int, /) -> Array:
    """The logarithm of the multivariate gamma function.

    ``log(pi) * d * (d - 1) / 4`` plus the sum over j from 0 to ``d - 1`` of
    ``gammaln(a - j / 2)``.

    a: Real values above ``(d - 1) / 2``.
    d: The dimension, positive; a whole float and an array without axes will do.
    Returns: A new array of the same shape, float64; NaN where `a` is too small, for which SciPy
        refuses the whole array.
    TypeError, ValueError, ImportError: As all functions of this package do; ValueError also if `d`
        is no positive integer.
    """
    a = only_array(a)
    count = _dimension(d)
    log_gamma = UNARY["gammaln"]
    total = compute(log_gamma, subtract(a, 0.0))
    for j in range(1, count):
        total = add(total, compute(log_gamma, subtract(a, j / 2)))
    # The sum has the precision of `a`, as SciPy's has; the dtype comes with the constant.
    result = add(astype(total, total._device.real), count * (count - 1) * 0.25 * log(pi))
    return where(greater(a, 0.5 * (count - 1)), result, nan)


def _dimension(d: float) -> int:
    value = float(d)
    if not value.is_integer() or value < 1:
        raise ValueError(f"d is the dimension of a space, and must be a positive int, not {d!r}")
    return int(value)


def polygamma(n: Array | int, x: Array | float, /) -> Array:
    """The polygamma functions, derivatives of the digamma function.

    ``(-1)**(n + 1) * gamma(n + 1) * zeta(n + 1, x)``, and ``psi(x)`` where `n` is 0.

    n (Array or int): The order of the derivative: whole numbers, ``>= 0``.
    x (Array or scalar): Real values; positive where `n` is not 0.
    Returns: A new array of the shape that the operands broadcast to, float64; float32 if `n` and
        `x` are arrays of that dtype.
    TypeError, ValueError, ImportError: As all functions of this package do.
    """
    _, _, device = operands(n, x)
    # As in SciPy scalars have a dtype here, which takes part in promotion.
    n, x = [value if type(value) is Array else asarray(value, device=device) for value in (n, x)]
    after = add(n, 1)
    factor = multiply(pow(-1.0, after), compute(UNARY["gamma"], add(n, 1.0)))
    return where(equal(n, 0), compute(UNARY["psi"], x), multiply(factor, zeta(after, x)))


def zeta(x: Array | complex, /, q: Array | float | None = None) -> Array:
    """The Riemann zeta function, or Hurwitz's.

    The sum over k from 0 of ``1 / (k + q)**x``, with `q` 1 if it is not given, and the continuation
    of that below 1.

    x (Array or scalar): Real or complex values; real ones of at least 1 if `q` is given.
    q (Array or scalar, optional): Real values.
    Returns: A new array of the shape that the operands broadcast to, in single precision if all
        arrays have that, else in double; complex if `x` is.
    TypeError, ValueError, ImportError: As all functions of this package do.
    """
    if q is None:
        return compute(UNARY["zeta"], x)
    return compute(BINARY["zeta"], x, q)


complete_docstrings(globals(), ["multigammaln", "polygamma", "zeta"])
