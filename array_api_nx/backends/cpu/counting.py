"""How often ints occur, and the sums of what goes with them."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...contract.errors import negative_elements
from ...contract.numpy_dtypes import NDArray
from .engine import sliced_calls
from .engine.fperrors import located

_astype: Final = np.ndarray.astype


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
            return sliced_calls.bincount(array, length)
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
