"""Selections of elements or of whole rows by one mask, or of rows by one array of indices.

NumPy goes through such a selection by an iterator, which makes every row of a few elements cost as
much as a hundred of them. Calls that copy rows do the same for row-major arrays (docs/tuning.md,
81).
"""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ...contract.arguments import Native
from ...contract.numpy_dtypes import COMPILED, NDArray
from ...core import dtypes as d
from ...native import native
from .engine import sliced_calls
from .storage import apart
from .ufunc_table import ArrayOrScalar

# Bytes of a row. NumPy takes less than a fifth longer for the selection than for copying such rows.
_LONGEST_ROW: Final = 1024

# Bytes of an element that the processor can write together with others, under a mask.
_LONGEST_WORD: Final = 8


def read(array: NDArray, key: NDArray) -> NDArray | None:
    """What `key` selects: a mask of the first axes, or indices of the first.

    Returns: Memory of its own; None if NumPy's indexing is as quick, or has to report an error.
    IndexError: If an index is out of range.
    """
    if not (array.flags.c_contiguous and key.flags.c_contiguous and key.ndim):
        return None
    if key.dtype == d.bool:
        if key.shape != array.shape[: key.ndim]:
            return None
        if key.ndim == array.ndim:
            return sliced_calls.compress(array.reshape(-1), key.reshape(-1))
        array = array.reshape(key.size, *array.shape[key.ndim :])
        key = key.reshape(-1).nonzero()[0]
    elif key.dtype != d.int64:
        return None
    return array.take(key, 0)


def write(array: NDArray, key: NDArray, value: ArrayOrScalar) -> bool:
    """Write `value` to the rows that `key` selects: a mask of the first axes, or indices of
    the first. Neither shares memory with `array`.

    Returns: Whether it was done; False if NumPy's indexing is as quick, or has to report an error.
    IndexError: If an index is out of range; nothing is written.
    """
    is_mask = key.dtype == d.bool
    if is_mask and key.shape == array.shape:
        return _fill(array, key, value)
    masked = key.ndim if is_mask else 1
    shape = array.shape[masked:]
    width = prod(shape)
    if not (
        array.flags.c_contiguous
        and key.flags.c_contiguous
        and key.size
        and width > 1
        and width * array.itemsize <= _LONGEST_ROW
        and (key.shape == array.shape[:masked] if is_mask else key.dtype == d.int64)
    ):
        return False
    if type(value) is not np.ndarray or value.ndim <= len(shape):
        row = np.empty((1, *shape), array.dtype)
        try:
            row[...] = value
        except ValueError:
            return False
        value = row
    else:
        count = (np.count_nonzero(key),) if is_mask else key.shape
        if value.shape != (*count, *shape):
            return False
    # NumPy takes each row for one element, which has as many bytes as the row.
    rows = np.dtype((np.void, width * array.itemsize))
    target = array.reshape(-1, width).view(rows)[:, 0]
    target[key.reshape(-1)] = np.ascontiguousarray(value).reshape(-1, width).view(rows)[:, 0]
    return True


def _fill(array: NDArray, mask: NDArray, value: ArrayOrScalar) -> bool:
    """`write` for single elements, one value for all of them (docs/tuning.md, 112)."""
    if (
        native is None
        or array.dtype not in COMPILED
        or (type(value) is np.ndarray and value.ndim)
        or array.itemsize > _LONGEST_WORD
        or not (array.flags.c_contiguous and mask.flags.c_contiguous)
    ):
        return False
    cast = np.empty(1, array.dtype)
    cast[0] = value
    native.assign_where(array.reshape(-1), mask.reshape(-1), cast)
    return True


def assign(array: NDArray, where: Native, written: ArrayOrScalar) -> None:
    """``array[where] = written``, as if `where` and `written` had been copied first.

    NumPy counts the true elements of a mask before it writes, and reads the mask, and the values,
    while it writes; before NumPy 2.3 it reads index arrays then, too.
    """
    if type(written) is np.ndarray:
        written = apart(written, array)
    if type(where) is np.ndarray:
        where = apart(where, array)
        if write(array, where, written):
            return
    else:
        where = tuple([apart(key, array) if type(key) is np.ndarray else key for key in where])
    array[where] = written
