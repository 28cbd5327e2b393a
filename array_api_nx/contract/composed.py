"""Primitives composed of other primitives, for backends whose engine has none of its own."""

from __future__ import annotations

from math import prod

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
