"""Data types: one row each, and what follows from the rows.

A row is a name of NumPy's, in the standard's order; NumPy says its kind, its size and its limits.
Groups, promotion, counterparts and DLPack's numbers are derived from the rows here, and nowhere
else: other modules ask for a group, or for a property of a dtype.

NumPy makes further objects for the same data: C's ``long long``, a copy from a pickle, one with
metadata. Here each dtype has one object, that of `ALL`, so that dtypes are compared by identity.
`CANONICAL` gives it for any equal one, and nothing but these objects leaves the package.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Collection, Iterator
from typing import Any, Final, TypeAlias

import numpy as np

from .lacking_dtypes import advice, shown

__all__ = [
    "ALL",
    "BELOW_DOUBLE",
    "BOOL_LIKE",
    "BOUNDS",
    "CANONICAL",
    "COMPLEX",
    "COMPLEX_OF",
    "COMPUTED_IN",
    "DLPACK",
    "DOUBLE",
    "EXTRA",
    "FLOATING",
    "INTEGRAL",
    "KINDS",
    "NARROW",
    "NUMERIC",
    "ORDERED",
    "PROMOTION",
    "REAL",
    "REAL_FLOATING",
    "REAL_OF",
    "ROUNDED",
    "SCALAR_PROMOTION",
    "SELF_COMPUTED",
    "SIGNED",
    "SPELLINGS",
    "STANDARD",
    "UNSIGNED",
    "WIDE",
    "DType",
    "as_dtype",
    "bits",
    "bool",
    "can_cast",
    "complex64",
    "complex128",
    "float16",
    "float32",
    "float64",
    "holds",
    "int8",
    "int16",
    "int32",
    "int64",
    "promote",
    "same_kind",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "widest",
]


DType: TypeAlias = np.dtype[Any]
"""NumPy's type of dtypes, for annotations."""

_rows: Final[dict[DType, builtins.bool]] = {}
"""All dtypes, and whether the standard has them."""


def _row(name: str, *, is_standard: builtins.bool = True) -> DType:
    """A dtype; `is_standard` says whether the standard lists it."""
    dtype = np.dtype(name)
    _rows[dtype] = is_standard
    return dtype


bool: Final = _row("bool")
int8: Final = _row("int8")
int16: Final = _row("int16")
int32: Final = _row("int32")
int64: Final = _row("int64")
uint8: Final = _row("uint8")
uint16: Final = _row("uint16")
uint32: Final = _row("uint32")
uint64: Final = _row("uint64")
float16: Final = _row("float16", is_standard=False)
float32: Final = _row("float32")
float64: Final = _row("float64")
complex64: Final = _row("complex64")
complex128: Final = _row("complex128")


def _of_kinds(letters: str) -> tuple[DType, ...]:
    """The dtypes of NumPy's kinds: bool, int, unsigned int, float, complex."""
    return tuple([dtype for dtype in _rows if dtype.kind in letters])


# Groups of dtypes, in the order of the rows. BOOL_LIKE is what bitwise functions take, EXTRA those
# that the standard lacks, by name.
SIGNED: Final = _of_kinds("i")
UNSIGNED: Final = _of_kinds("u")
INTEGRAL: Final = _of_kinds("iu")
BOOL_LIKE: Final = _of_kinds("biu")
REAL_FLOATING: Final = _of_kinds("f")
COMPLEX: Final = _of_kinds("c")
FLOATING: Final = _of_kinds("fc")
REAL: Final = _of_kinds("iuf")
ORDERED: Final = _of_kinds("biuf")
NUMERIC: Final = _of_kinds("iufc")
ALL: Final = _of_kinds("biufc")
STANDARD: Final = tuple([dtype for dtype in _rows if _rows[dtype]])
EXTRA: Final = {dtype.name: dtype for dtype in _rows if not _rows[dtype]}

KINDS: Final[dict[str, tuple[DType, ...]]] = {
    "bool": (bool,),
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGRAL,
    "real floating": REAL_FLOATING,
    "complex floating": COMPLEX,
    "numeric": NUMERIC,
}

CANONICAL: Final[dict[DType, DType]] = {dtype: dtype for dtype in ALL}
"""The object of this module for every equal one; KeyError for dtypes that are not here."""


def _bounds(dtype: DType) -> tuple[int, int]:
    if dtype is bool:
        return 0, 1
    if dtype in INTEGRAL:
        limits = np.iinfo(dtype)
        return int(limits.min), int(limits.max)
    # Few ints are beyond float32, where they are infinite; many are beyond 16 bits.
    largest = int(np.finfo(dtype).max if dtype.itemsize == 2 else sys.float_info.max)
    return -largest, largest


BOUNDS: Final = {dtype: _bounds(dtype) for dtype in ALL}
"""The least and the largest Python int that a dtype takes; for floating-point types, of those that
Python can make a float of, or of float16 its own."""


def _promoted(one: DType, other: DType) -> DType:
    # NumPy keeps to the standard's rules. Where the standard has none (an integer with a float,
    # uint64 with a signed integer, bool with a number), libraries rely on NumPy's.
    return CANONICAL[np.promote_types(one, other)]


PROMOTION: Final = {(one, other): _promoted(one, other) for one in ALL for other in ALL}
"""Result dtype of every pair of dtypes."""

ROUNDED: Final = frozenset(
    pair for pair, to in PROMOTION.items() if set(pair) <= {*INTEGRAL} and to not in INTEGRAL
)
"""The pairs of integer dtypes that promotion rounds, to float64: uint64 with a signed one."""


COMPLEX_OF: Final = {dtype: PROMOTION[dtype, COMPLEX[0]] for dtype in REAL_FLOATING}
"""The complex dtype with parts of a real one."""

REAL_OF: Final = {
    dtype: dtype if dtype.kind == "f" else CANONICAL[np.dtype(f"f{dtype.itemsize // 2}")]
    for dtype in FLOATING
}
"""The dtype of the real part of a floating-point dtype, which is a real one itself."""


def bits(dtype: DType) -> int:
    """The size of a number, and of a part of a complex one."""
    return 8 * REAL_OF.get(dtype, dtype).itemsize


WIDE: Final = tuple([dtype for dtype in ALL if bits(dtype) == 64])
DOUBLE: Final = tuple([dtype for dtype in WIDE if dtype in FLOATING])
BELOW_DOUBLE: Final = tuple([dtype for dtype in REAL_FLOATING if dtype not in DOUBLE])
"""Groups by precision; `DOUBLE` is real and complex, `BELOW_DOUBLE` real."""


COMPUTED_IN: Final = {
    dtype: PROMOTION[dtype, dtype if bits(dtype) > 16 else float32] for dtype in FLOATING
}
"""The dtype in which means and sums of many elements are accumulated, numbers drawn and spectra
computed: that of the elements, or float32 for those of 16 bits, whose results are rounded once."""
SELF_COMPUTED: Final = tuple([dtype for dtype in FLOATING if COMPUTED_IN[dtype] is dtype])
NARROW: Final = {dtype: to for dtype, to in COMPUTED_IN.items() if to is not dtype}


def widest(dtypes: Collection[DType], missing: Collection[DType] = ()) -> DType:
    """The widest of several dtypes, without those that are missing."""
    return max([dtype for dtype in dtypes if dtype not in missing], key=bits)


_DLPACK_CODES: Final = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
DLPACK: Final = {(_DLPACK_CODES[dtype.kind], 8 * dtype.itemsize): dtype for dtype in ALL}
"""By DLPack's code of the kind, and the number of bits."""


def promote(first: DType, *others: DType) -> DType:
    """The dtype that all given dtypes promote to."""
    for other in others:
        first = PROMOTION[first, other]
    return first


def _scalar_table() -> dict[tuple[DType, type], DType]:
    table: dict[tuple[DType, type], DType] = {}
    for dtype in ALL:
        floating = dtype if dtype in FLOATING else float64
        table[dtype, builtins.bool] = dtype
        table[dtype, int] = int64 if dtype is bool else dtype
        table[dtype, float] = floating
        table[dtype, complex] = PROMOTION[floating, COMPLEX[0]]
    return table


SCALAR_PROMOTION: Final = _scalar_table()
"""Result dtype of an array's dtype with the type of a Python scalar. Scalars are weak: they never
widen a type of their own kind."""


def holds(dtype: DType, scalar: object) -> builtins.bool:
    """Whether a Python scalar beside an array of `dtype` leaves it so, and is within its bounds."""
    kind = type(scalar)
    if SCALAR_PROMOTION.get((dtype, kind)) is not dtype:
        return False
    if kind is not int:
        return True
    low, high = BOUNDS[dtype]
    return low <= scalar <= high  # type: ignore[operator]


def _spellings() -> Iterator[tuple[object, DType]]:
    """What `numpy.dtype` takes for one of `ALL`, in either byte order, and that dtype."""
    types = {each for each in np.sctypeDict.values() if issubclass(each, np.number | np.bool)}
    names = [name for name, each in np.sctypeDict.items() if each in types]
    codes = [*np.typecodes["AllInteger"], *np.typecodes["AllFloat"], "?"]
    codes += [f"{dtype.kind}{dtype.itemsize}" for dtype in ALL]
    signed = [sign + code for code in codes for sign in ("", "<", ">", "=", "|")]
    for spelling in (builtins.bool, int, float, complex, *types, *names, *signed):
        found = CANONICAL.get(np.dtype(spelling).newbyteorder("="))
        if found is not None:
            yield spelling, found
    for dtype in ALL:
        yield dtype, dtype
        yield dtype.newbyteorder("S"), dtype


SPELLINGS: Final = dict(_spellings())
"""The dtype for all that names one."""


def as_dtype(obj: object) -> DType:
    """`obj` as one of the dtypes of `ALL`: what equals it, in either byte order, its name, the type
    of NumPy's or Python's scalars.

    TypeError: If it is anything else.
    """
    try:
        return SPELLINGS[obj]
    except (KeyError, TypeError):
        meant = advice(obj, [dtype.name for dtype in ALL])
        raise TypeError(
            "a dtype must be one of this namespace's dtypes, a name or type that NumPy has for "
            f"one, or bool, int, float, complex, not {shown(obj)}{meant}"
        ) from None


_KIND_ORDER: Final = "buifc"


def can_cast(from_: DType, to: DType) -> builtins.bool:
    """Whether `to` is what `from_` and `to` promote to."""
    return PROMOTION[from_, to] is to


def same_kind(from_: DType, to: DType) -> builtins.bool:
    """Whether a value may be stored as `to` without changing to a lesser kind.

    Narrowing within a kind is allowed; float into integer, complex into
    real, signed into unsigned and number into bool are not: they lose data silently.
    """
    return _KIND_ORDER.index(from_.kind) <= _KIND_ORDER.index(to.kind)
