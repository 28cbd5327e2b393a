"""What `Backend.from_host` takes and `Backend.to_host` gives: arrays of NumPy.

Memory that this package did not allocate may hold its elements at any address, at any distance and
in either byte order. `suitable` makes of it what backends take.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import CANONICAL, DType
from ..native import native

NDArray: TypeAlias = np.ndarray[Any, Any]
DTypeLike: TypeAlias = DType | type | str
"""What users may write for a dtype. `as_dtype` says which strings and types are dtypes."""

WORD: Final = 8
"""The most bytes that loops of NumPy and of the extension want an address to be a multiple of, as
`alignment` of native/basics/sizes.h says."""

_codes_in_c = () if native is None else native.DTYPES.replace("NX_", "").split()
COMPILED: Final = tuple([x for x in d.ALL if x.name.upper() in _codes_in_c])
"""The dtypes that the extension has. It declines others, and NumPy computes them."""

if native is not None:
    _codes = {dtype: code for code, dtype in enumerate(COMPILED)}
    _promotions = bytes([_codes[d.PROMOTION[a, b]] for a in COMPILED for b in COMPILED])
    native.set_dtypes(COMPILED, _promotions)


def has_other_bools(array: NDArray) -> bool:
    """Whether an array has bools that are neither 0 nor 1 in memory."""
    return array.dtype.kind == "b" and bool((array.view(np.uint8) > 1).any())


def zeros_and_ones(array: NDArray) -> NDArray:
    """A bool array with each byte 0 or 1; an array of another dtype as it is.

    Memory of callers and of other libraries may hold any byte, and each but 0 is true. NumPy's
    functions read it so, but for those that compare two elements to sort or to search. In C,
    `truth_of` of native/basics/dtypes.h is the same for one element.
    """
    return np.asarray(np.not_equal(array, False)) if array.dtype.kind == "b" else array


def has_negative_strides(array: Any) -> bool:
    """Whether an array of NumPy or CuPy runs backwards along an axis; False for other arrays."""
    strides = getattr(array, "strides", None)
    if type(strides) is not tuple or min(strides, default=0) >= 0 or 0 in array.shape:
        return False
    return any([step < 0 and n > 1 for n, step in zip(array.shape, strides, strict=True)])


def canonical(array: NDArray) -> NDArray:
    """`array` with the dtype object of `core.dtypes`, in this machine's byte order."""
    dtype = CANONICAL.get(array.dtype)
    return array if dtype is None or dtype is array.dtype else array.view(dtype)


def is_aligned(array: NDArray, word: int = WORD) -> bool:
    """Whether neighbours are whole elements apart, and each element lies at a multiple of its size,
    or of `word` bytes if it is larger than that."""
    flags, dtype = array.flags, array.dtype
    if not flags.aligned:
        return False
    size = dtype.itemsize
    if not flags.c_contiguous and any(
        [step % size for n, step in zip(array.shape, array.strides, strict=True) if n > 1]
    ):
        return False
    if dtype.alignment == size or not array.size:
        return True
    # The flag is NumPy's, which aligns complex numbers as their parts.
    address: int = array.__array_interface__["data"][0]
    return not address % min(size, word)


def suitable(array: NDArray, word: int = WORD) -> NDArray:
    """`array` as `Backend.from_host` takes it, or a copy of it that is so."""
    if not array.dtype.isnative or not is_aligned(array, word):
        array = array.astype(array.dtype.newbyteorder("="))
    return canonical(array)
