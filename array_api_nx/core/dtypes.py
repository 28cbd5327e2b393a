"""Data types: one row each, and what follows from the rows.

A row is a name of NumPy's, in the standard's order; NumPy says its kind, its size and its limits.
Groups, promotion, counterparts and DLPack's numbers are derived from the rows here, and nowhere
else: other modules ask for a group, or for a property of a dtype.

The row of a dtype that another package adds to NumPy names that package and the kind. The dtype
enters the tables, all of which are `derived`, when it is first asked for: see `arrive`.

NumPy makes further objects for the same data: C's ``long long``, a copy from a pickle, one with
metadata. Here each dtype has one object, that of `ALL`, so that dtypes are compared by identity.
`CANONICAL` gives it for any equal one, and nothing but these objects leaves the package.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Collection, Iterator
from importlib import import_module
from threading import RLock
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

import numpy as np

from .derived import derived, renew
from .lacking_dtypes import advice, shown

DType: TypeAlias = np.dtype[Any]
"""NumPy's type of dtypes, for annotations."""


class _Row(NamedTuple):
    """`kind` is a letter of NumPy's; `package` is empty for its own dtypes. `dlpack` is the number
    that DLPack has for the dtype; None where it has one for all dtypes of the kind."""

    kind: str
    is_standard: builtins.bool
    package: str = ""
    dlpack: int | None = None


_rows: Final[dict[str, _Row]] = {}
"""All dtypes by name."""
_there: Final[dict[str, DType]] = {}
"""Those of NumPy's, and those that arrived."""


def _row(name: str, *, is_standard: builtins.bool = True) -> DType:
    """A dtype; `is_standard` says whether the standard lists it."""
    dtype = _there[name] = np.dtype(name)
    _rows[name] = _Row(dtype.kind, is_standard)
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
_rows["bfloat16"] = _Row("f", is_standard=False, package="ml_dtypes", dlpack=4)
float32: Final = _row("float32")
float64: Final = _row("float64")
complex64: Final = _row("complex64")
complex128: Final = _row("complex128")


KIND: Final = derived(lambda: {dtype: _rows[name].kind for name, dtype in _there.items()})
"""The kind of every dtype. NumPy has "V" for those of other packages."""


def _of_kinds(letters: str) -> list[DType]:
    """The dtypes of kinds: bool, int, unsigned int, float, complex."""
    return derived(lambda: [_there[x] for x in _rows if x in _there and _rows[x].kind in letters])


# Groups of dtypes, in the order of the rows. BOOL_LIKE is what bitwise functions take, EXTRA those
# that the standard lacks, by name; NUMPYS those that NumPy has itself, ADDED those of packages.
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
NUMPYS: Final = tuple(_there.values())
ADDED: Final = derived(lambda: [dtype for dtype in ALL if dtype not in NUMPYS])
STANDARD: Final = tuple([dtype for name, dtype in _there.items() if _rows[name].is_standard])
EXTRA: Final = tuple([name for name, row in _rows.items() if not row.is_standard])

KINDS: Final[dict[str, list[DType]]] = {
    "bool": [bool],
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGRAL,
    "real floating": REAL_FLOATING,
    "complex floating": COMPLEX,
    "numeric": NUMERIC,
}

CANONICAL: Final = derived(lambda: {dtype: dtype for dtype in ALL})
"""The object of this module for every equal one; KeyError for dtypes that are not here."""

_arriving: Final = RLock()


def arrive(name: str) -> DType:
    """The dtype of a row, which enters the tables if it is another package's and is not there yet.

    ImportError: If that package is not installed.
    """
    if name not in _there:
        package = _rows[name].package
        try:
            module = import_module(package)
        except ImportError:
            raise ImportError(
                f"{name} is a dtype of {package}, which is not installed; install it with: "
                f"pip install 'array-api-nx[{name}]'"
            ) from None
        with _arriving:
            if name not in _there:
                _there[name] = np.dtype(getattr(module, name))
                renew()
    return _there[name]


def known(dtype: DType) -> DType | None:
    """The object of this module for an equal one, which may arrive; None for other dtypes."""
    found = CANONICAL.get(dtype)
    if found is None and dtype.kind == "V" and dtype.isnative and _is_elsewhere(dtype.type):
        found = arrive(dtype.name)
    return found


def _is_elsewhere(obj: object) -> builtins.bool:
    """Whether `obj` is the name of a dtype of another package, or the type of its scalars."""
    if isinstance(obj, str):
        return obj in _rows and _rows[obj].package != ""
    row = _rows.get(obj.__name__) if isinstance(obj, type) else None
    return row is not None and row.package == obj.__module__.partition(".")[0]


def limits(dtype: DType) -> Any:
    """What `numpy.finfo` says of a floating-point dtype, or the package that it is from."""
    package = _rows[dtype.name].package
    return import_module(package).finfo(dtype) if package else np.finfo(dtype)


def _bounds(dtype: DType) -> tuple[int, int]:
    if dtype is bool:
        return 0, 1
    if dtype in INTEGRAL:
        integers = np.iinfo(dtype)
        return int(integers.min), int(integers.max)
    # Few ints are beyond float32, where they are infinite; many are beyond float16.
    largest = float(limits(dtype).max)
    bound = int(sys.float_info.max if largest > 2.0**64 else largest)
    return -bound, bound


BOUNDS: Final = derived(lambda: {dtype: _bounds(dtype) for dtype in ALL})
"""The least and the largest Python int that a dtype takes; for floating-point types, of those that
Python can make a float of, or of float16 its own."""


def _promoted(one: DType, other: DType) -> DType:
    # NumPy keeps to the standard's rules. Where the standard has none (an integer with a float,
    # uint64 with a signed integer, bool with a number), libraries rely on NumPy's.
    try:
        return CANONICAL[np.promote_types(one, other)]
    except TypeError:
        # Those of another package have no common dtype with integers of 16 bits and more: as NumPy
        # has it for float16, the least that holds both is wanted, from float32 on.
        wide = [float32 if KIND[dtype] == "f" else dtype for dtype in (one, other)]
        return CANONICAL[np.promote_types(*wide)]


class _Promotions(dict[tuple[DType, DType], DType]):
    def __missing__(self, pair: tuple[DType, DType]) -> NoReturn:
        names = " and ".join([str(dtype) for dtype in pair])
        raise TypeError(
            f"{names} have no common dtype of 16 bits; convert both with astype to {float32}, or "
            "one of them to the other's dtype"
        )


def _without_common(one: DType, other: DType) -> builtins.bool:
    """Whether neither dtype holds the other's numbers, as of two float types of one size."""
    return one is not other and KIND[one] == KIND[other] == "f" and one.itemsize == other.itemsize


PROMOTION: Final = derived(
    lambda: _Promotions(
        {
            (one, other): _promoted(one, other)
            for one in ALL
            for other in ALL
            if not _without_common(one, other)
        }
    )
)
"""Result dtype of every pair of dtypes; TypeError for a pair that has none."""

ROUNDED: Final = frozenset(
    pair for pair, to in PROMOTION.items() if set(pair) <= {*INTEGRAL} and to not in INTEGRAL
)
"""The pairs of integer dtypes that promotion rounds, to float64: uint64 with a signed one."""


COMPLEX_OF: Final = derived(
    lambda: {dtype: PROMOTION[dtype, COMPLEX[0]] for dtype in REAL_FLOATING}
)
"""The complex dtype with parts of a real one."""

REAL_OF: Final = derived(
    lambda: {
        dtype: dtype if KIND[dtype] == "f" else CANONICAL[np.dtype(f"f{dtype.itemsize // 2}")]
        for dtype in FLOATING
    }
)
"""The dtype of the real part of a floating-point dtype, which is a real one itself."""


def bits(dtype: DType) -> int:
    """The size of a number, and of a part of a complex one."""
    return 8 * REAL_OF.get(dtype, dtype).itemsize


WIDE: Final = [dtype for dtype in ALL if bits(dtype) == 64]
DOUBLE: Final = [dtype for dtype in WIDE if dtype in FLOATING]
BELOW_DOUBLE: Final = derived(lambda: [dtype for dtype in REAL_FLOATING if dtype not in DOUBLE])
"""Groups by precision; `DOUBLE` is real and complex, `BELOW_DOUBLE` real."""


COMPUTED_IN: Final = derived(
    lambda: {dtype: PROMOTION[dtype, dtype if bits(dtype) > 16 else float32] for dtype in FLOATING}
)
"""The dtype in which means and sums of many elements are accumulated, numbers drawn and spectra
computed: that of the elements, or float32 for those of 16 bits, whose results are rounded once."""
SELF_COMPUTED: Final = [dtype for dtype in FLOATING if COMPUTED_IN[dtype] is dtype]
NARROW: Final = derived(lambda: {x: COMPUTED_IN[x] for x in FLOATING if COMPUTED_IN[x] is not x})


def widest(dtypes: Collection[DType], missing: Collection[DType] = ()) -> DType:
    """The widest of several dtypes, without those that are missing."""
    return max([dtype for dtype in dtypes if dtype not in missing], key=bits)


_DLPACK_CODES: Final = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


def dlpack_code(dtype: DType) -> int:
    """DLPack's code."""
    own = _rows[dtype.name].dlpack
    return _DLPACK_CODES[KIND[dtype]] if own is None else own


_DLPACK: Final = derived(lambda: {(dlpack_code(x), 8 * x.itemsize): x for x in ALL})


def of_dlpack(code: int, bits: int) -> DType | None:
    """The dtype of DLPack's code and number of bits, which may arrive; None if there is none."""
    for name, row in _rows.items():
        if row.dlpack == code:
            arrive(name)
    return _DLPACK.get((code, bits))


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


SCALAR_PROMOTION: Final = derived(_scalar_table)
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
    codes += [f"{dtype.kind}{dtype.itemsize}" for dtype in NUMPYS]
    signed = [sign + code for code in codes for sign in ("", "<", ">", "=", "|")]
    for spelling in (builtins.bool, int, float, complex, *types, *names, *signed):
        found = CANONICAL.get(np.dtype(spelling).newbyteorder("="))
        if found is not None:
            yield spelling, found
    for dtype in NUMPYS:
        yield dtype, dtype
        yield dtype.newbyteorder("S"), dtype
    for dtype in ALL:
        if dtype not in NUMPYS:
            yield from ((spelling, dtype) for spelling in (dtype, dtype.name, dtype.type))


SPELLINGS: Final = derived(lambda: dict(_spellings()))
"""The dtype for all that names one."""


def as_dtype(obj: object) -> DType:
    """`obj` as one of the dtypes of `ALL`: what equals it, in either byte order, its name, the type
    of NumPy's or Python's scalars.

    TypeError: If it is anything else.
    """
    try:
        return SPELLINGS[obj]
    except (KeyError, TypeError):
        named = obj.type if isinstance(obj, np.dtype) else obj
        if _is_elsewhere(named):
            return arrive(str(getattr(named, "__name__", named)))
        meant = advice(obj, [dtype.name for dtype in ALL])
        raise TypeError(
            "a dtype must be one of this namespace's dtypes, a name or type that NumPy has for "
            f"one, or bool, int, float, complex, not {shown(obj)}{meant}"
        ) from None


_KIND_ORDER: Final = "buifc"


def can_cast(from_: DType, to: DType) -> builtins.bool:
    """Whether `to` is what `from_` and `to` promote to."""
    return PROMOTION.get((from_, to)) is to


def same_kind(from_: DType, to: DType) -> builtins.bool:
    """Whether a value may be stored as `to` without changing to a lesser kind.

    Narrowing within a kind is allowed; float into integer, complex into
    real, signed into unsigned and number into bool are not: they lose data silently.
    """
    return _KIND_ORDER.index(KIND[from_]) <= _KIND_ORDER.index(KIND[to])
