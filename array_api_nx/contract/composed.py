"""Primitives composed of other primitives, for backends whose engine has none of its own."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial, pi, prod, sqrt
from typing import Final

from ..core import dtypes as d
from ..core.dtypes import DType
from ..primitives import table as p
from ..primitives.table import Primitive
from .arguments import Handle
from .interface import Interface


def reduce(
    backend: Interface, op: Primitive, x: Handle, axes: tuple[int, ...], keepdims: bool
) -> Handle:
    """Mean and count_nonzero with the other reductions."""
    if op is p.COUNT_NONZERO:
        nonzero = backend.cast(backend.cast(x, d.bool), d.int64)
        return backend.reduce(p.SUM, nonzero, axes, keepdims)
    shape = backend.shape(x)
    total = backend.reduce(p.SUM, x, axes, keepdims)
    # A Python 0 as the divisor would raise; NumPy's rules for arrays give NaN.
    count = backend.full((), backend.dtype(x), prod([shape[axis] for axis in axes]))
    return backend.binary(p.DIVIDE, total, count)


def unique(backend: Interface, x: Handle) -> tuple[Handle, Handle, Handle, Handle]:
    """See `Backend.unique`: by sorting, and comparing neighbours."""
    order, first, starts, values = _runs(backend, x)
    shape = backend.shape(x)
    return (
        values,
        # The sort is stable: the first of equal elements is the one that came first.
        backend.take(order, starts, 0),
        _inverse(backend, order, first, shape),
        _lengths(backend, starts, prod(shape)),
    )


def unique_counts(backend: Interface, x: Handle) -> tuple[Handle, Handle]:
    """See `Backend.unique_counts`; numbers that have an order need no indices."""
    size = prod(backend.shape(x))
    if backend.dtype(x) in d.COMPLEX:
        _, _, starts, values = _runs(backend, x)
    else:
        ascending = backend.sort(_flat(backend, x), 0, descending=False, stable=True)
        (starts,) = backend.nonzero(_starts_run(backend, ascending))
        values = backend.take(ascending, starts, 0)
    return values, _lengths(backend, starts, size)


def unique_inverse(backend: Interface, x: Handle) -> tuple[Handle, Handle]:
    """See `Backend.unique_inverse`."""
    order, first, _, values = _runs(backend, x)
    return values, _inverse(backend, order, first, backend.shape(x))


def _runs(backend: Interface, x: Handle) -> tuple[Handle, Handle, Handle, Handle]:
    """The order that sorts the elements; which of the sorted ones begin a run of equal ones, and
    where these are; and the distinct values."""
    flat = _flat(backend, x)
    order = _lexicographic_order(backend, flat, backend.dtype(x))
    ascending = backend.take(flat, order, 0)
    first = _starts_run(backend, ascending)
    (starts,) = backend.nonzero(first)
    return order, first, starts, backend.take(ascending, starts, 0)


def _flat(backend: Interface, x: Handle) -> Handle:
    return backend.reshape(x, (prod(backend.shape(x)),))


def _starts_run(backend: Interface, ascending: Handle) -> Handle:
    """Which elements of a sorted 1-D array differ from the one before them, as the first does."""
    (size,) = backend.shape(ascending)
    if size == 0:
        return backend.empty((0,), d.bool)
    neighbours = [backend.shrink(ascending, (bounds,)) for bounds in ((1, size), (0, size - 1))]
    differ = backend.binary(p.NOT_EQUAL, *neighbours)
    return backend.cat([backend.full((1,), d.bool, True), differ], 0)


def _inverse(backend: Interface, order: Handle, first: Handle, shape: tuple[int, ...]) -> Handle:
    """Per element, the number of the run that it is in, if `order` sorts the elements."""
    number = backend.binary(
        p.SUBTRACT, backend.scan(p.CUMULATIVE_SUM, backend.cast(first, d.int64), 0), 1
    )
    template = backend.empty((prod(shape),), d.int64)
    return backend.reshape(backend.scatter(template, order, number, 0, add=False), shape)


def _lengths(backend: Interface, starts: Handle, size: int) -> Handle:
    """The lengths of the runs that start at `starts`, the last of which ends at `size`."""
    (number,) = backend.shape(starts)
    if number == 0:
        return backend.empty((0,), d.int64)
    ends = backend.cat([starts, backend.full((1,), d.int64, size)], 0)
    return backend.binary(
        p.SUBTRACT, *[backend.shrink(ends, (b,)) for b in ((1, number + 1), (0, number))]
    )


def _lexicographic_order(backend: Interface, x: Handle, dtype: DType) -> Handle:
    """The indices that sort 1-D `x`, complex numbers by their real parts first; stable."""
    if dtype not in d.COMPLEX:
        return backend.argsort(x, 0, descending=False, stable=True)
    parts = [backend.unary(op, x) for op in (p.IMAG, p.REAL)]
    order = backend.argsort(parts[0], 0, descending=False, stable=True)
    by_real = backend.argsort(backend.take(parts[1], order, 0), 0, descending=False, stable=True)
    return backend.take(order, by_real, 0)


def trunc_divide(backend: Interface, x1: Handle, x2: Handle) -> Handle:
    """Integer division that rounds towards zero: the multiple that fmod leaves over."""
    whole = backend.binary(p.SUBTRACT, x1, backend.binary(p.FMOD, x1, x2))
    return backend.binary(p.FLOOR_DIVIDE, whole, x2)


# ---------------------------------------------------------------------- error function

# Near 0: the Taylor series of erf(x) / x - 1 in x^2, highest power first. Adding x times it to x
# rounds less than multiplying by the whole quotient.
_ERF_NEAR: Final = (
    *[2 / sqrt(pi) * (-1) ** n / (factorial(n) * (2 * n + 1)) for n in range(16, 0, -1)],
    1.28379167095512574e-1,  # 2 / sqrt(pi) - 1
)
_ERF_NEAR_UP_TO: Final = 0.75
# Further out 1 - erf(x) = exp(-x^2) * P(x) / Q(x): W. J. Cody, Rational Chebyshev approximations
# for the error function, Math. Comp. 23 (1969).
_ERFC_MIDDLE: Final = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0,
     6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2,
     1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2,
     5.37181101862009858e2, 1.62138957456669019e3, 3.29079923573345963e3,
     4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3),
)  # fmt: skip
# erf rounds to 1 in float64 from here on; the middle approximation holds up to 4.
_ERF_ONE: Final = 5.93
_ERFC_FAR: Final = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242e0, 1.87295284992346047e0,
     5.27905102951428412e-1, 6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip
_RSQRT_PI: Final = 0.5641895835477562869


def _polynomial(backend: Interface, coefficients: Sequence[float], x: Handle) -> Handle:
    value = backend.full((), backend.dtype(x), coefficients[0])
    for coefficient in coefficients[1:]:
        value = backend.binary(p.ADD, backend.binary(p.MULTIPLY, value, x), coefficient)
    return value


def _ratio(backend: Interface, coefficients: Sequence[Sequence[float]], x: Handle) -> Handle:
    return backend.binary(p.DIVIDE, *[_polynomial(backend, each, x) for each in coefficients])


def erf(backend: Interface, x: Handle) -> Handle:
    """The error function of real floating-point `x`, to about one unit in the last place."""
    dtype = backend.dtype(x)
    if dtype in d.BELOW_DOUBLE:
        return backend.cast(erf(backend, backend.cast(x, d.float64)), dtype)
    size = backend.unary(p.ABS, x)
    # Every branch sees arguments from its own range only, so that none overflows.
    near = backend.binary(p.MINIMUM, size, _ERF_NEAR_UP_TO)
    middle = backend.clip(size, _ERF_NEAR_UP_TO, 4.0)
    far = backend.clip(size, 4.0, _ERF_ONE)
    excess = _polynomial(backend, _ERF_NEAR, backend.unary(p.SQUARE, near))
    near = backend.binary(p.ADD, near, backend.binary(p.MULTIPLY, near, excess))
    middle = backend.binary(
        p.SUBTRACT,
        1.0,
        backend.binary(
            p.MULTIPLY, _gaussian(backend, middle), _ratio(backend, _ERFC_MIDDLE, middle)
        ),
    )
    inverse = backend.unary(p.RECIPROCAL, backend.unary(p.SQUARE, far))
    tail = backend.binary(p.MULTIPLY, inverse, _ratio(backend, _ERFC_FAR, inverse))
    tail = backend.binary(p.DIVIDE, backend.binary(p.SUBTRACT, _RSQRT_PI, tail), far)
    far = backend.binary(p.SUBTRACT, 1.0, backend.binary(p.MULTIPLY, _gaussian(backend, far), tail))
    result = backend.where(
        backend.binary(p.LESS, size, _ERF_NEAR_UP_TO),
        near,
        backend.where(backend.binary(p.LESS, size, 4.0), middle, far),
    )
    result = backend.where(backend.binary(p.GREATER_EQUAL, size, _ERF_ONE), 1.0, result)
    result = backend.binary(p.COPYSIGN, result, x)
    return backend.where(backend.unary(p.ISNAN, x), x, result)


def _gaussian(backend: Interface, x: Handle) -> Handle:
    return backend.unary(p.EXP, backend.unary(p.NEGATIVE, backend.unary(p.SQUARE, x)))
