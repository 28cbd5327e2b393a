"""Distinct elements and membership (unique_counts, unique_inverse, isin) by sorting; bincount.

The functions replace calls of `numpy.unique` and `numpy.isin` that would sort more slowly. Of equal
zeros of either sign, the first one in the array becomes the distinct value; numpy.unique gives any.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...contract.errors import negative_elements
from ...contract.numpy_dtypes import COMPILED, NDArray, zeros_and_ones
from ...core import dtypes as d
from ...core.dtypes import DType
from ...native import native
from .engine import sliced_calls
from .engine.fperrors import located

_astype: Final = np.ndarray.astype

_HALVES_MIN: Final = 2**13
"""Elements of float16 from which to count patterns of bits is faster than to sort."""

_SIGN: Final = 0x8000
_INFINITY: Final = 0x7C00
"""Bits of float16."""


def isin(array: NDArray, members: NDArray, invert: bool) -> NDArray:
    """Whether each element of `array` equals one of `members`, or none of them if `invert`."""
    if not array.size or not _is_slow_in_numpy(array, members):
        return np.isin(array, members, invert=invert)
    ascending = sliced_calls.sorted_rows(members.reshape(-1))
    position = sliced_calls.searchsorted(ascending, array, right=False)
    np.minimum(position, ascending.size - 1, out=position)
    compare = np.not_equal if invert else np.equal
    return np.asarray(compare(ascending[position], array))


def _is_slow_in_numpy(array: NDArray, members: NDArray) -> bool:
    """Whether `numpy.isin` would sort elements and members together, which for 100,000
    of each takes two to five times as long as `isin` here."""
    # With fewer members NumPy compares every element with each of them (the formula is NumPy's).
    if members.size < 10 * array.size**0.145:
        return False
    if array.dtype.kind in "fc":
        return True
    if array.itemsize <= 2:
        return False
    # Unless the table would be larger than this, NumPy looks integers up by their value.
    return int(members.max()) - int(members.min()) > 6 * (array.size + members.size)


def unique(array: NDArray) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """See `Backend.unique`."""
    flat = zeros_and_ones(array).reshape(-1)
    order, starts, inverse = _runs(flat)
    index = order[starts]
    return flat[index], index, inverse.reshape(array.shape), _lengths(starts, flat.size)


def unique_values(array: NDArray) -> NDArray:
    """The sorted distinct values of `array`."""
    counted = _counted(array)
    if counted is not None:
        return counted[0]
    ascending = _ascending(array)
    return _with_first_zero(sliced_calls.compress(ascending, _starts_run(ascending)), array)


def unique_counts(array: NDArray) -> tuple[NDArray, NDArray]:
    """The sorted distinct values of `array`, and how often each occurs."""
    counted = _counted(array)
    if counted is not None:
        return counted
    ascending = _ascending(array)
    starts = _starts_run(ascending).nonzero()[0]
    return _with_first_zero(ascending[starts], array), _lengths(starts, array.size)


def unique_inverse(array: NDArray) -> tuple[NDArray, NDArray]:
    """The sorted distinct values of `array`, and for each element the index of its value."""
    flat = zeros_and_ones(array).reshape(-1)
    found = sliced_calls.count_from_least(_as_ints(flat))
    if found is not None:
        least, counts = found
        inverse = sliced_calls.look_up(_as_ints(flat), least, (counts != 0).cumsum() - 1)
        return _values(counts, least, array.dtype), inverse.reshape(array.shape)
    order, starts, inverse = _runs(flat)
    return flat[order[starts]], inverse.reshape(array.shape)


def _as_ints(flat: NDArray) -> NDArray:
    """Booleans as ints, others as they are."""
    return flat.view(np.uint8) if flat.dtype == d.bool else flat


def _counted(array: NDArray) -> tuple[NDArray, NDArray] | None:
    """`unique_counts` of ints that lie close together and of many float16; None for others."""
    if array.dtype == d.float16 and array.size >= _HALVES_MIN:
        return _counted_halves(array.reshape(-1))
    found = sliced_calls.count_from_least(_as_ints(zeros_and_ones(array).reshape(-1)))
    if found is None:
        return None
    least, counts = found
    return _values(counts, least, array.dtype), counts[counts != 0]


def _counted_halves(flat: NDArray) -> tuple[NDArray, NDArray]:
    """`unique_counts` of float16, by how often each pattern of bits occurs."""
    counts = np.bincount(flat.view(np.uint16), minlength=1 << 16)
    # Negative numbers fall as their bits rise. NaN are beyond the infinities.
    places = np.concatenate([np.arange(_INFINITY, -1, -1) + _SIGN, np.arange(_INFINITY + 1)])
    places = places[counts[places] != 0]
    values, counts = places.astype(np.uint16).view(flat.dtype), counts[places]
    zeros = (values == 0).nonzero()[0]
    if zeros.size == 2:
        counts[zeros[1]] += counts[zeros[0]]
        values, counts = np.delete(values, zeros[0]), np.delete(counts, zeros[0])
        values = _with_first_zero(values, flat)
    nans = flat[np.isnan(flat)] if counts.sum() < flat.size else flat[:0]
    return np.concatenate([values, nans]), np.concatenate([counts, np.ones(nans.size, np.int64)])


def _values(counts: NDArray, least: int, dtype: DType) -> NDArray:
    """The ints from `least` on that were counted."""
    places = counts.nonzero()[0]
    # Ints that do not fit wrap around, as do the sums.
    values: NDArray = places.astype(dtype)
    return values + dtype.type(least) if least else values


def _runs(flat: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """The stable order of elements, where runs of equal ones begin in it, and for each element
    the number of its run.

    Each NaN is a run of its own; they are numbered as they come in the array.
    """
    order = sliced_calls.order_rows(flat)
    inverse = np.empty(flat.shape, np.int64)
    is_known = flat.dtype in COMPILED and flat.dtype.kind != "c"
    if native is not None and is_known and flat.size:
        starts = np.empty(flat.shape, np.int64)
        runs = native.number_runs(np.ascontiguousarray(flat), order, starts, inverse)
        return order, starts[:runs], inverse
    is_first = _starts_run(flat[order])
    inverse[order] = is_first.cumsum(dtype=np.int64) - 1
    return order, is_first.nonzero()[0], inverse


def _ascending(array: NDArray) -> NDArray:
    """All elements in ascending order."""
    elements = zeros_and_ones(array).reshape(-1)
    if array.dtype.kind == "c" or array.itemsize <= 2:
        # NumPy's stable sort of integers of one or two bytes is a radix sort, which takes a tenth
        # of the time of its default. Complex numbers are sorted by comparisons either way; a
        # stable sort keeps the first of several that differ in the signs of zeros only.
        return np.sort(elements, kind="stable")
    return sliced_calls.sorted_rows(elements)


def _lengths(starts: NDArray, size: int) -> NDArray:
    """The lengths of runs that begin at `starts` and together have `size` elements."""
    return np.diff(starts, append=np.int64(size))


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


# ---------------------------------------------------------------------- how often ints occur


def bincount(array: NDArray, weights: NDArray | None, length: int, *, extend: bool) -> NDArray:
    """The number of times that each int occurs in `array`, or the sum of its weights, in the dtype
    of these; `length` of them, or more if the greatest int is no less than that.

    ``numpy.bincount`` adds in float64, which has no room for the sums of large ints and for
    imaginary parts.
    """
    if array.dtype == np.uint64:
        array = array.astype(np.int64)
    try:
        if weights is None:
            return sliced_calls.bincount(array, length, extend=extend)
        if weights.dtype.kind in "iu":
            return _added_exactly(array, weights, length)
        sums = np.bincount(array, weights.real, length)
        if weights.dtype.kind == "c":
            sums = sums + 1j * np.bincount(array, weights.imag, length)
    except ValueError:
        if array.min() >= 0:
            raise
        raise ValueError(negative_elements(int(array.min()))) from None
    return sums if sums.dtype == weights.dtype else located(_astype, sums, weights.dtype)


def _added_exactly(array: NDArray, weights: NDArray, length: int) -> NDArray:
    if array.size:
        if array.min() < 0:
            raise ValueError
        length = max(length, int(array.max()) + 1)
    sums = np.zeros(length, weights.dtype)
    np.add.at(sums, array, weights)
    return sums
