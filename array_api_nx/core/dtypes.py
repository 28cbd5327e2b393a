"""Data types: thirteen singletons, what else names them, and the one table that promotes them.

The table follows the standard's promotion rules wherever the standard defines them. Where it
does not (an integer with a floating-point type, ``uint64`` with a signed integer, ``bool`` with a
number) it gives what NumPy gives, because array-consuming libraries rely on that.
"""

from __future__ import annotations

import builtins
import sys
from typing import Final, Never, final

from .frozen import Frozen, set_slot

__all__ = [
    "ALL",
    "BOOL_LIKE",
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
    "dtype_named",
    "float32",
    "float64",
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


@final
class DType(Frozen):
    """One data type of the standard.

    The thirteen instances are attributes of this module and of the public namespace. A dtype equals
    itself and whatever `as_dtype` takes for it: NumPy's dtype and scalar type, a string, a Python
    type. Comparing it with anything else never raises.

    Hashes are those of the objects. So a dtype of this namespace and NumPy's dtype of that name are
    equal, but different keys of a dict or of a cached function. The same holds in NumPy for
    ``np.dtype("f8")``, ``np.float64`` and ``"float64"``.

    Attributes
    ----------
    name : str
        The name in the standard, for example ``"float32"``.
    kind : str
        ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"real floating"`` or
        ``"complex floating"``: the words that ``isdtype`` takes.
    itemsize : int
        Bytes per element.
    min, max : int
        Bounds of the Python ints that the type takes; for floating-point types, of those that
        Python can make a float of.
    with_scalar : dict of type to DType
        What it promotes to with a Python scalar of that type: a row of `SCALAR_PROMOTION`.
    __numpy_dtype__ : object
        NumPy's dtype, which ``np.dtype(...)`` asks for from NumPy 2.4 on.
    dtype : object
        The same for older versions of NumPy. With others there is no such attribute, since clients
        take what has one for an array.
    """

    __slots__ = (
        "__numpy_dtype__",
        "__weakref__",
        "dtype",
        "itemsize",
        "kind",
        "max",
        "min",
        "name",
        "with_scalar",
    )

    name: str
    kind: str
    itemsize: int
    min: int
    max: int
    with_scalar: dict[type, DType]
    __numpy_dtype__: object
    dtype: object

    def __init__(self, name: str, kind: str, itemsize: int) -> None:
        bits = 8 * itemsize
        bounds: tuple[int, int]
        match kind:
            case "bool":
                bounds = 0, 1
            case "unsigned integer":
                bounds = 0, 2**bits - 1
            case "signed integer":
                bounds = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
            case _:
                bounds = -int(sys.float_info.max), int(sys.float_info.max)
        set_slot(self, "name", name)
        set_slot(self, "kind", kind)
        set_slot(self, "itemsize", itemsize)
        set_slot(self, "min", bounds[0])
        set_slot(self, "max", bounds[1])

    def __repr__(self) -> str:
        return f"array_api_nx.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> builtins.bool:
        if type(other) is DType:
            return self is other
        try:
            return SPELLINGS[other] is self
        except (KeyError, TypeError):
            # What is no dtype here may still have an answer of its own, such as an array's.
            return NotImplemented

    __hash__ = object.__hash__

    def __call__(self, *values: object) -> Never:
        # NumPy's scalar types make scalars; users of those try it here.
        given = ", ".join([repr(value) for value in values])
        raise TypeError(
            f"a dtype makes no values; make an array with asarray({given}, dtype=xp.{self.name})"
        )

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return dtype_named, (self.name,)


bool: Final = DType("bool", "bool", 1)
int8: Final = DType("int8", "signed integer", 1)
int16: Final = DType("int16", "signed integer", 2)
int32: Final = DType("int32", "signed integer", 4)
int64: Final = DType("int64", "signed integer", 8)
uint8: Final = DType("uint8", "unsigned integer", 1)
uint16: Final = DType("uint16", "unsigned integer", 2)
uint32: Final = DType("uint32", "unsigned integer", 4)
uint64: Final = DType("uint64", "unsigned integer", 8)
float32: Final = DType("float32", "real floating", 4)
float64: Final = DType("float64", "real floating", 8)
complex64: Final = DType("complex64", "complex floating", 8)
complex128: Final = DType("complex128", "complex floating", 16)

# Groups of dtypes, in the standard's order. BOOL_LIKE is what bitwise functions take.
SIGNED: Final = (int8, int16, int32, int64)
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

_BY_NAME: Final = {dtype.name: dtype for dtype in ALL}


def dtype_named(name: str) -> DType:
    """The dtype with the standard's name `name`; KeyError if there is none."""
    return _BY_NAME[name]


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

for _dtype in ALL:
    _row = {kind: to for (dtype, kind), to in SCALAR_PROMOTION.items() if dtype is _dtype}
    set_slot(_dtype, "with_scalar", _row)

SPELLINGS: Final[dict[object, DType]] = {
    builtins.bool: bool,
    int: int64,
    float: float64,
    complex: complex128,
}
"""What names a dtype beside the dtype itself. `contract.numpy_dtypes` adds NumPy's spellings."""


def as_dtype(obj: object) -> DType:
    """`obj` as a dtype: one of ours, or one that `SPELLINGS` has.

    Raises
    ------
    TypeError
        If it is anything else.
    """
    if type(obj) is DType:
        return obj
    try:
        return SPELLINGS[obj]
    except (KeyError, TypeError):
        name = str(getattr(obj, "name", getattr(obj, "__name__", obj))).rpartition(".")[2]
        advice = f"; use xp.{name}" if name in _BY_NAME else ""
        raise TypeError(
            "a dtype must be one of this namespace's dtypes, a name or type that NumPy has for "
            f"one, or bool, int, float, complex, not {obj!r}{advice}"
        ) from None


_KIND_ORDER: Final = {
    "bool": 0,
    "unsigned integer": 1,
    "signed integer": 2,
    "real floating": 3,
    "complex floating": 4,
}


def can_cast(from_: DType, to: DType) -> builtins.bool:
    """Whether `to` is what `from_` and `to` promote to."""
    return PROMOTION[from_, to] is to


def same_kind(from_: DType, to: DType) -> builtins.bool:
    """Whether a value may be stored as `to` without changing to a lesser kind.

    Narrowing within a kind (float64 into float32) is allowed; float into integer, complex into
    real, signed into unsigned and number into bool are not: they lose data silently.
    """
    return _KIND_ORDER[from_.kind] <= _KIND_ORDER[to.kind]
