"""Set functions: distinct elements, and membership. No NaN equals another, so each is distinct."""

from __future__ import annotations

from typing import NamedTuple

from ..core import dtypes as d
from ..native import native, with_native
from ..primitives import table as p
from .array import Array, wrap
from .dispatch import answered, binary, unary, with_sign_of
from .operands import ArrayOrScalar, array_operand, cast, operands, wrap_indices
from .utility import any as any_

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: Array
    inverse_indices: Array


if native is not None:
    native.set_distinct(UniqueAll, UniqueCounts, UniqueInverse)


@with_native
def isin(x1: ArrayOrScalar, x2: ArrayOrScalar, /, *, invert: bool = False) -> Array:
    """Which elements of `x1` equal some element of `x2`.

    x1, x2 (Array, bool, int, float or complex): Any dtypes, at least one an array. Compared as
        `equal` does, that is, after promotion, but integers exactly: int64 beside a float is
        compared as float64.
    invert: Whether to say which do not.
    Returns: A copy of dtype bool and the shape of `x1`.
    TypeError: If neither is an array.
    """
    (first, second), dtype, device = operands(x1, x2)
    if type(second) is not Array:
        return binary(p.NOT_EQUAL if invert else p.EQUAL, first, second)
    if type(first) is not Array:
        found = any_(binary(p.EQUAL, first, second))
        return unary(p.LOGICAL_NOT, found) if invert else found
    if (first._dtype, second._dtype) in d.ROUNDED:
        values, beyond = with_sign_of(second, first)
        found = isin(values, cast(second, values._dtype), invert=invert)
        return answered(found, beyond, bool(invert))
    values, members = cast(first, dtype), cast(second, dtype)
    handle = device.backend.isin(values._handle, members._handle, invert=invert)
    return wrap(handle, d.bool, device)


@with_native
def unique_all(x: Array, /) -> UniqueAll:
    """Distinct elements, where they first occur, how they make up `x`, and how often they occur.

    x: Any dtype; taken as if flattened.
    Returns values (Array): 1-D, sorted (complex numbers by real, then imaginary part), of the dtype
        of `x`.
    Returns indices (Array): int64; the first position of each value in the flattened `x`.
    Returns inverse_indices (Array): int64, of the shape of `x`; values[inverse_indices] equals `x`,
        but for NaN.
    Returns counts (Array): int64; how often each value occurs: 1 for each NaN.
    """
    x = array_operand(x)
    device = x._device
    values, indices, inverse, counts = device.backend.unique(x._handle)
    return UniqueAll(
        wrap(values, x._dtype, device),
        wrap_indices(indices, device),
        wrap_indices(inverse, device),
        wrap_indices(counts, device),
    )


@with_native
def unique_counts(x: Array, /) -> UniqueCounts:
    """Distinct elements, and how often each occurs.

    x: Any dtype; taken as if flattened.
    Returns values, counts (Array): As `unique_all` returns them.
    """
    x = array_operand(x)
    device = x._device
    values, counts = device.backend.unique_counts(x._handle)
    return UniqueCounts(wrap(values, x._dtype, device), wrap_indices(counts, device))


@with_native
def unique_inverse(x: Array, /) -> UniqueInverse:
    """Distinct elements, and how they make up `x`.

    x: Any dtype; taken as if flattened.
    Returns values, inverse_indices (Array): As `unique_all` returns them.
    """
    x = array_operand(x)
    device = x._device
    values, inverse = device.backend.unique_inverse(x._handle)
    return UniqueInverse(wrap(values, x._dtype, device), wrap_indices(inverse, device))


@with_native
def unique_values(x: Array, /) -> Array:
    """Distinct elements.

    x: Any dtype; taken as if flattened.
    Returns: A copy: 1-D, sorted, of the dtype of `x`.
    """
    x = array_operand(x)
    return wrap(x._device.backend.unique_values(x._handle), x._dtype, x._device)
