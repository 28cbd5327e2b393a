"""The dtypes of strict namespaces, with the attributes of the standard and no others.

They compare with ``==`` and hash. They have no name, kind or size to ask for, are not equal to
NumPy's dtypes, and are not taken for one. All strict namespaces have those of the standard.
"""

from __future__ import annotations

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


def _standard(group: list[DType]) -> tuple[DType, ...]:
    return tuple([dtype for dtype in group if dtype in STRICT])


GROUPS: Final[dict[str, tuple[DType, ...]]] = {
    "any": d.STANDARD,
    "bool": (d.bool,),
    "complex": _standard(d.COMPLEX),
    "floating": _standard(d.FLOATING),
    "integer": _standard(d.INTEGRAL),
    "integer_or_bool": _standard(d.BOOL_LIKE),
    "numeric": _standard(d.NUMERIC),
    "real": _standard(d.REAL),
    "real_floating": _standard(d.REAL_FLOATING),
}
"""What functions are defined for, by the words of the table of signatures."""


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


SAME_KIND: Final = {
    name: frozenset([(a, b) for a in group for b in group if in_kind(a, b)])
    for name, group in GROUPS.items()
}
"""The pairs of dtypes of each group that promote."""


def _scalars(dtype: DType) -> frozenset[type]:
    if dtype is d.bool:
        return frozenset({bool})
    if dtype in d.INTEGRAL:
        return frozenset({int})
    return frozenset({int, float} if dtype in d.REAL_FLOATING else {int, float, complex})


SCALARS: Final = {dtype: _scalars(dtype) for dtype in STRICT}
"""The types of Python scalars that may be operands together with an array of each dtype."""
