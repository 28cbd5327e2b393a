"""The dtypes of strict namespaces, with the attributes of the standard and no others.

They compare with ``==`` and hash. They have no name, kind or size to ask for, are not equal to
NumPy's dtypes, and are not taken for one. All strict namespaces have those of the standard.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

from ...core import dtypes as d
from ...core.dtypes import DType
from .errors import refuse_attribute


@final
class StrictDType:
    """A data type.

    Standard: data types.
    """

    __slots__ = ("__weakref__", "_dtype")

    _dtype: DType

    def __repr__(self) -> str:
        return self._dtype.name

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _named, (self._dtype.name,)

    def __getattr__(self, name: str) -> object:
        mends = {
            "itemsize": "xp.finfo(dtype).bits // 8 or xp.iinfo(dtype).bits // 8",
            "kind": 'xp.isdtype(dtype, "real floating")',
            "name": "str(dtype)",
            "type": "the dtype itself",
        }
        raise refuse_attribute("a dtype", name, mends.get(name), "Data Types")


def _make(dtype: DType) -> StrictDType:
    made = object.__new__(StrictDType)
    made._dtype = dtype
    return made


STRICT: Final = {dtype: _make(dtype) for dtype in d.STANDARD}
"""The strict dtype for each of the package's."""

PLAIN: Final = {strict: dtype for dtype, strict in STRICT.items()}


def _named(name: str) -> StrictDType:
    return STRICT[d.as_dtype(name)]


def in_kind(first: DType, second: DType) -> bool:
    """Whether the standard says what two dtypes promote to.

    It does within bool, within integers (but for uint64 with signed ones), and within
    floating-point numbers, real and complex.
    """
    if first is second:
        return True
    if first in d.INTEGRAL and second in d.INTEGRAL:
        return d.PROMOTION[first, second] in d.INTEGRAL
    return first in d.FLOATING and second in d.FLOATING


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """Dtypes that an operation is defined for.

    words: How errors call them.
    dtypes: Those of the standard.
    pairs: The pairs of them that promote.
    """

    words: str
    dtypes: frozenset[DType]
    pairs: frozenset[tuple[DType, DType]]


def _group(words: str, dtypes: Iterable[DType]) -> Group:
    standard = frozenset(dtypes).intersection(STRICT)
    pairs = [(a, b) for a in standard for b in standard if in_kind(a, b)]
    return Group(words, standard, frozenset(pairs))


GROUPS: Final = {
    "any": _group("any", d.ALL),
    "bool": _group("boolean", [d.bool]),
    "complex": _group("complex floating-point", d.COMPLEX),
    "floating": _group("floating-point", d.FLOATING),
    "integer": _group("integer", d.INTEGRAL),
    "integer_or_bool": _group("integer or boolean", d.BOOL_LIKE),
    "numeric": _group("numeric", d.NUMERIC),
    "real": _group("real-valued", d.REAL),
    "real_floating": _group("real-valued floating-point", d.REAL_FLOATING),
}
"""What functions are defined for, by the words of the table of signatures."""


def group_of(word: str) -> Group:
    """The dtypes of ``array[DTYPES]``, a word of the table of signatures."""
    return GROUPS[word.removeprefix("array[").removesuffix("]")]


def _scalars(dtype: DType) -> frozenset[type]:
    if dtype is d.bool:
        return frozenset({bool})
    if dtype in d.INTEGRAL:
        return frozenset({int})
    return frozenset({int, float} if dtype in d.REAL_FLOATING else {int, float, complex})


SCALARS: Final = {dtype: _scalars(dtype) for dtype in STRICT}
"""The types of Python scalars that may be operands together with an array of each dtype."""
