"""Data types: NumPy's objects for the thirteen of the standard, and tables of what each means.

NumPy makes further objects for the same data: C's ``long long``, a copy from a pickle, one with
metadata. Here each dtype has one object, that of `ALL`, so that dtypes are compared by identity.
`CANONICAL` gives it for any equal one, and nothing but these objects leaves the package.

The table of promotion follows the standard's rules wherever the standard defines them. Where it
does not (an integer with a floating-point type, ``uint64`` with a signed integer, ``bool`` with a
number) it gives what NumPy gives, because array-consuming libraries rely on that.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import numpy as np

from .lacking_dtypes import advice, shown

__all__ = [
    "ALL",
    "BOOL_LIKE",
    "BOUNDS",
    "CANONICAL",
    "COMPLEX",
    "FLOATING",
    "INTEGRAL",
    "KINDS",
    "NUMERIC",
    "PROMOTION",
    "REAL",
    "REAL_FLOATING",
    "ROUNDED",
    "SCALAR_PROMOTION",
    "SIGNED",
    "SPELLINGS",
    "UNSIGNED",
    "DType",
    "as_dtype",
    "bool",
    "can_cast",
    "complex64",
    "complex128",
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
]


DType: TypeAlias = np.dtype[Any]
"""NumPy's type of dtypes, for annotations."""

bool: Final[DType] = np.dtype("bool")
int8: Final[DType] = np.dtype("int8")
int16: Final[DType] = np.dtype("int16")
int32: Final[DType] = np.dtype("int32")
int64: Final[DType] = np.dtype("int64")
uint8: Final[DType] = np.dtype("uint8")
uint16: Final[DType] = np.dtype("uint16")
uint32: Final[DType] = np.dtype("uint32")
uint64: Final[DType] = np.dtype("uint64")
float32: Final[DType] = np.dtype("float32")
float64: Final[DType] = np.dtype("float64")
complex64: Final[DType] = np.dtype("complex64")
complex128: Final[DType] = np.dtype("complex128")

# Groups of dtypes, in the standard's order. BOOL_LIKE is what bitwise functions take.
SIGNED: Final[tuple[DType, ...]] = (int8, int16, int32, int64)
UNSIGNED: Final = (uint8, uint16, uint32, uint64)
REAL_FLOATING: Final = (float32, float64)
COMPLEX: Final = (complex64, complex128)
INTEGRAL: Final = (*SIGNED, *UNSIGNED)
FLOATING: Final = (*REAL_FLOATING, *COMPLEX)
REAL: Final = (*INTEGRAL, *REAL_FLOATING)
NUMERIC: Final = (*REAL, *COMPLEX)
BOOL_LIKE: Final = (bool, *INTEGRAL)
ALL: Final = (bool, *NUMERIC)

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
    return -int(sys.float_info.max), int(sys.float_info.max)


BOUNDS: Final = {dtype: _bounds(dtype) for dtype in ALL}
"""The least and the largest Python int that a dtype takes; for floating-point types, of those that
Python can make a float of."""


# Upper triangle, rows and columns in the order of ALL. The first row, that of bool, names them all.
_UPPER_TRIANGLE = """
    b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 cc
       i1 i2 i4 i8 i2 i4 i8 f8 f4 f8 c8 cc
          i2 i4 i8 i2 i4 i8 f8 f4 f8 c8 cc
             i4 i8 i4 i4 i8 f8 f8 f8 cc cc
                i8 i8 i8 i8 f8 f8 f8 cc cc
                   u1 u2 u4 u8 f4 f8 c8 cc
                      u2 u4 u8 f4 f8 c8 cc
                         u4 u8 f8 f8 cc cc
                            u8 f8 f8 cc cc
                               f4 f8 c8 cc
                                  f8 cc cc
                                     c8 cc
                                        cc
"""


def _promotion_table() -> dict[tuple[DType, DType], DType]:
    rows = [line.split() for line in _UPPER_TRIANGLE.split("\n")[1:-1]]
    named = dict(zip(rows[0], ALL, strict=True))
    table = {}
    for row, abbreviations in enumerate(rows):
        for column, abbreviation in enumerate(abbreviations, start=row):
            result = named[abbreviation]
            table[ALL[row], ALL[column]] = table[ALL[column], ALL[row]] = result
    return table


PROMOTION: Final = _promotion_table()
"""Result dtype of every pair of dtypes."""

ROUNDED: Final = frozenset(
    pair for pair, to in PROMOTION.items() if set(pair) <= {*INTEGRAL} and to not in INTEGRAL
)
"""The pairs of integer dtypes that promotion rounds, to float64: uint64 with a signed one."""


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
        table[dtype, complex] = PROMOTION[floating, complex64]
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
    """What `numpy.dtype` takes for the thirteen, in either byte order, and the dtype it is."""
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

    Raises
    ------
    TypeError
        If it is anything else.
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

    Narrowing within a kind (float64 into float32) is allowed; float into integer, complex into
    real, signed into unsigned and number into bool are not: they lose data silently.
    """
    return _KIND_ORDER.index(from_.kind) <= _KIND_ORDER.index(to.kind)
