"""What `Backend.from_host` takes and `Backend.to_host` gives: NumPy's dtypes, strides, alignment.

Here the dtypes of `core` get to know NumPy's: which of them each stands for, and how NumPy's users
write it. Memory that this package did not allocate may hold its elements at any address, at any
distance and in either byte order. `suitable` makes of it what backends take.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import DType
from ..core.frozen import set_slot
from ..native import native

__all__ = [
    "FROM_NUMPY",
    "TO_NUMPY",
    "WORD",
    "DTypeLike",
    "NDArray",
    "NumPyDType",
    "canonical",
    "has_negative_strides",
    "has_other_bools",
    "is_aligned",
    "suitable",
    "zeros_and_ones",
]

NDArray: TypeAlias = np.ndarray[Any, Any]
NumPyDType: TypeAlias = np.dtype[Any]
DTypeLike: TypeAlias = DType | type | str | NumPyDType
"""What users may write for a dtype. `as_dtype` says which strings and types are dtypes."""

TO_NUMPY: Final[dict[DType, NumPyDType]] = {dtype: np.dtype(dtype.name) for dtype in d.ALL}
FROM_NUMPY: Final[dict[NumPyDType, DType]] = {ours: dtype for dtype, ours in TO_NUMPY.items()}

WORD: Final = 8
"""The most bytes that loops of NumPy and of the extension want an address to be a multiple of, as
`alignment` of native/sizes.h says."""

# Integer types of C that have the same bits as another one, which NumPy prefers.
_CHARACTERS: Final = {
    character: np.dtype(np.dtype(character).name)
    for character in np.typecodes["AllInteger"]
    if np.dtype(np.dtype(character).name).char != character
}


def _spellings() -> Iterator[str | type[np.generic] | NumPyDType]:
    """What `numpy.dtype` takes for its numeric dtypes, in either byte order."""
    types = {each for each in np.sctypeDict.values() if issubclass(each, np.number | np.bool)}
    yield from types
    yield from map(np.dtype, types)
    names = [name for name, each in np.sctypeDict.items() if each in types]
    codes = [*np.typecodes["AllInteger"], *np.typecodes["AllFloat"], "?"]
    codes += [f"{dtype.kind}{dtype.itemsize}" for dtype in FROM_NUMPY]
    yield from names
    yield from [sign + code for code in codes for sign in ("", "<", ">", "=", "|")]


for _spelling in _spellings():
    _found = FROM_NUMPY.get(np.dtype(_spelling))
    if _found is not None:
        d.SPELLINGS[_spelling] = _found

# NumPy 2.4 was the first to ask for `__numpy_dtype__`; those before take the attribute `dtype`.
_protocol = "dtype" if np.lib.NumpyVersion(np.__version__) < "2.4.0" else "__numpy_dtype__"
for _dtype, _theirs in TO_NUMPY.items():
    set_slot(_dtype, _protocol, _theirs)

if native is not None:
    _codes = {dtype: code for code, dtype in enumerate(d.ALL)}
    _promotions = bytes([_codes[d.PROMOTION[a, b]] for a in d.ALL for b in d.ALL])
    native.set_dtypes(d.ALL, tuple(TO_NUMPY.values()), _promotions)


def has_other_bools(array: NDArray) -> bool:
    """Whether an array has bools that are neither 0 nor 1 in memory."""
    return array.dtype.kind == "b" and bool((array.view(np.uint8) > 1).any())


def zeros_and_ones(array: NDArray) -> NDArray:
    """A bool array with each byte 0 or 1; an array of another dtype as it is.

    Memory of callers and of other libraries may hold any byte, and each but 0 is true. NumPy's
    functions read it so, but for those that compare two elements to sort or to search. In C,
    `truth_of` of native/dtypes.h is the same for one element.
    """
    return np.asarray(np.not_equal(array, False)) if array.dtype.kind == "b" else array


def has_negative_strides(array: Any) -> bool:
    """Whether an array of NumPy or CuPy runs backwards along an axis; False for other arrays."""
    strides = getattr(array, "strides", None)
    if type(strides) is not tuple or min(strides, default=0) >= 0 or 0 in array.shape:
        return False
    return any([step < 0 and n > 1 for n, step in zip(array.shape, strides, strict=True)])


def canonical(array: NDArray) -> NDArray:
    """`array` with the dtype object of `TO_NUMPY`: C's long and long long are one dtype here."""
    ours = _CHARACTERS.get(array.dtype.char)
    return array if ours is None else array.view(ours)


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
