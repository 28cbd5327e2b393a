"""Sorting and searching on NumPy arrays; rows of large arrays are sorted on several threads.

The functions have the names and parameters of the contract's methods.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from ...contract.numpy_dtypes import NDArray, zeros_and_ones
from .engine import sliced_calls
from .engine.sliced_calls import by_slices

_INDEX: Final = np.dtype(np.intp)

# Elements of a row from which on calls from Python, one for each row, cost little.
_LONG_ROW: Final = 2**10


def _reversal(array: NDArray) -> np.ufunc:
    """The ufunc that reverses the order of elements but leaves NaN last; it is its own inverse."""
    return np.negative if array.dtype.kind == "f" else np.invert


def _kind(stable: bool) -> Literal["stable"] | None:
    return "stable" if stable else None


def _has_both_zeros(array: NDArray) -> bool:
    """Whether 0.0 and -0.0 both occur in `array`."""
    is_zero = array == 0
    if not is_zero.any():
        return False
    negative = np.signbit(array[is_zero])
    return bool(negative.any()) and not negative.all()


def sort(array: NDArray, axis: int, *, descending: bool, stable: bool) -> NDArray:
    # Equal elements that differ are zeros of either sign. NumPy's default, far faster on large
    # arrays, does not keep their order; with AVX-512 it loses elements of float16 (2.4.6).
    stable = stable and array.dtype.kind == "f" and (array.size < 1000 or _has_both_zeros(array))
    reverse = _reversal(array) if descending else None
    result = array.copy() if reverse is None else reverse(array, order="C")
    result.sort(axis, _kind(stable or array.itemsize == 2))
    return result if reverse is None else reverse(result, result)


def argsort(array: NDArray, axis: int, *, descending: bool, stable: bool) -> NDArray:
    array = zeros_and_ones(array)
    if descending:
        array = _reversal(array)(array)

    def compute(part: NDArray) -> NDArray:
        if not stable or part.shape[axis] < _LONG_ROW:
            return part.argsort(axis, _kind(stable))
        order = sliced_calls.order_rows(np.moveaxis(part, axis, -1))
        return np.ascontiguousarray(np.moveaxis(order, -1, axis))

    return by_slices(compute, array, axis, sliced_calls.ARGSORT_MIN, _INDEX)


def partition(array: NDArray, kth: tuple[int, ...], axis: int) -> NDArray:
    def compute(part: NDArray) -> NDArray:
        rows = np.moveaxis(part, axis, -1).copy()
        sliced_calls.part_rows(rows, kth)
        return np.ascontiguousarray(np.moveaxis(rows, -1, axis))

    array = zeros_and_ones(array)
    return by_slices(compute, array, axis, sliced_calls.PARTITION_MIN, array.dtype)


def argpartition(array: NDArray, kth: tuple[int, ...], axis: int) -> NDArray:
    return by_slices(
        lambda part: part.argpartition(kth, axis),
        zeros_and_ones(array),
        axis,
        sliced_calls.ARGPARTITION_MIN,
        _INDEX,
    )


def searchsorted(array: NDArray, values: NDArray, *, right: bool) -> NDArray:
    return sliced_calls.searchsorted(zeros_and_ones(array), zeros_and_ones(values), right=right)
