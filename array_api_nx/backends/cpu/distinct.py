"""Distinct elements and membership (unique_counts, unique_inverse, isin) by sorting.

The functions replace calls of `numpy.unique` and `numpy.isin` that would sort more slowly. Of equal
zeros of either sign, the first one in the array becomes the distinct value; numpy.unique gives any.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...contract.numpy_dtypes import NDArray, zeros_and_ones

__all__ = ["isin", "unique", "unique_counts", "unique_inverse", "unique_values"]


def isin(array: NDArray, members: NDArray, invert: bool) -> NDArray:
    """Whether each element of `array` equals one of `members`, or none of them if `invert`."""
    if array.size and _is_slow_in_numpy(array, members):
        ascending = np.sort(members, axis=None)
        flat = array.reshape(-1)
        # searchsorted takes a third of the time if the values to look up ascend.
        order = flat.argsort()
        values = flat[order]
        position = ascending.searchsorted(values)
        np.minimum(position, ascending.size - 1, out=position)
        result = np.empty(array.shape, np.bool_)
        compare = np.not_equal if invert else np.equal
        result.reshape(-1)[order] = compare(ascending[position], values)
        return result
    return np.isin(array, members, invert=invert)


def _is_slow_in_numpy(array: NDArray, members: NDArray) -> bool:
    """Whether `numpy.isin` would sort elements and members together, by comparisons of integers or
    complex numbers. For 100,000 of each that takes two to five times as long as `isin` here."""
    # With fewer members NumPy compares every element with each of them (the formula is NumPy's).
    if members.size < 10 * array.size**0.145 or array.dtype.kind == "f":
        return False
    if array.dtype.kind == "c":
        return True
    if array.itemsize <= 2:
        return False
    # Unless the table would be larger than this, NumPy looks integers up by their value.
    return int(members.max()) - int(members.min()) > 6 * (array.size + members.size)


def unique(array: NDArray) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """See `Backend.unique`."""
    values, index, inverse, counts = np.unique(
        zeros_and_ones(array),
        return_index=True,
        return_inverse=True,
        return_counts=True,
        equal_nan=False,
    )
    return values, index, inverse.reshape(array.shape), counts


def unique_values(array: NDArray) -> NDArray:
    """The sorted distinct values of `array`."""
    return np.unique(zeros_and_ones(array), equal_nan=False)


def unique_counts(array: NDArray) -> tuple[NDArray, NDArray]:
    """The sorted distinct values of `array`, and how often each occurs."""
    ascending = array.flatten()
    ascending.sort(kind=_kind(array))
    is_first = _starts_run(ascending)
    starts = is_first.nonzero()[0]
    counts = np.empty(starts.shape, np.int64)
    if starts.size:
        np.subtract(starts[1:], starts[:-1], out=counts[:-1])
        counts[-1] = array.size - starts[-1]
    return _with_first_zero(ascending[starts], array), counts


def unique_inverse(array: NDArray) -> tuple[NDArray, NDArray]:
    """The sorted distinct values of `array`, and for each element the index of its value."""
    flat = array.reshape(-1)
    order = flat.argsort(kind=_kind(array))
    ascending = flat[order]
    if ascending.size and ascending.dtype.kind == "f" and np.isnan(ascending[-1]):
        # Each NaN is a value of its own; they are numbered as they come in the array.
        nans = order[ascending.searchsorted(np.nan) :]
        nans.sort()
        ascending[-nans.size :] = flat[nans]
    is_first = _starts_run(ascending)
    number = is_first.cumsum(dtype=np.int64)
    number -= 1
    inverse = np.empty(array.shape, np.int64)
    inverse.reshape(-1)[order] = number
    return _with_first_zero(ascending[is_first], array), inverse


def _kind(array: NDArray) -> Literal["stable"] | None:
    """How to sort `array`.

    NumPy's stable sort of integers of one or two bytes is a radix sort, which takes a tenth of
    the time of its default. Complex numbers are sorted by comparisons either way; a stable sort
    keeps the first of several that differ in the signs of zeros only.
    """
    return "stable" if array.dtype.kind == "c" or array.itemsize <= 2 else None


def _starts_run(ascending: NDArray) -> NDArray:
    """Which elements differ from the one before them; a NaN differs from every other."""
    result = np.empty(ascending.shape, np.bool_)
    result[:1] = True
    np.not_equal(ascending[1:], ascending[:-1], out=result[1:])
    return result


def _with_first_zero(values: NDArray, array: NDArray) -> NDArray:
    """`values`, in which the zero has the sign of the first zero in `array`."""
    if values.dtype.kind == "f":
        place = values.searchsorted(0)
        if place < values.size and values[place] == 0:
            flat = array.reshape(-1)
            values[place] = flat[(flat == 0).argmax()]
    return values
