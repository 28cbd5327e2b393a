"""Errors for objects that `asarray` does not take: which element it is, where, and what to do.

It is imported when there is such an object, never before.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, Final, TypeAlias

import numpy as np

from ..core.lacking_dtypes import NEAREST, shown
from ..core.shape import MAX_NDIM

Foreign: TypeAlias = Any
"""An object of a user or of another library."""

_TEXT: Final = (
    "arrays hold no text: number what the texts are with np.unique(texts, return_inverse=True)[1]"
)
_ABSENT: Final = 'put a number in its place, such as float("nan")'
_FLOAT: Final = "convert it with float(...)"
_KEEP: Final = "make numbers of it, or keep such objects in a list"


def no_array(x: Foreign) -> TypeError:
    """The error for an object that is no array, number or sequence."""
    mend = _mend(x) or (
        "give numbers, nested lists of numbers, arrays, or an object with the buffer protocol or "
        "DLPack"
    )
    return TypeError(f"asarray cannot convert {_named(x)}; {mend}")


def no_element(values: Sequence[Foreign], array: np.ndarray[Any, Any]) -> TypeError:
    """The error for a nested sequence with something that is no number; NumPy made `array` of it.

    If all are numbers there is one of Python's ints beyond 64 bits beside NumPy's numbers.
    """
    for place, x in _elements(values):
        if not _is_number(x):
            return _wrong(place, x)
    for place, x in _elements(values):
        if type(x) is int and abs(x) >= 2**63:
            return TypeError(
                f"element {place} is an integer beyond 64 bits beside NumPy's numbers; {_FLOAT}"
            )
    return no_dtype(array)


def _wrong(place: str, x: Foreign) -> TypeError:
    return TypeError(
        "a sequence must hold numbers or booleans, not other objects, but element "
        f"{place} is {_shown(x)}; {_mend(x) or _KEEP}"
    )


def no_dtype(array: np.ndarray[Any, Any]) -> TypeError:
    """The error for an ndarray whose dtype the standard lacks."""
    text = f"the standard has no dtype for NumPy's {array.dtype}"
    kind = array.dtype.kind
    if kind == "O":
        for place, x in _elements(array):
            if not _is_number(x):
                return TypeError(f"{text}, and element {place} is {_shown(x)}; {_mend(x) or _KEEP}")
        mend = "convert the array with .astype(float)"
    elif array.dtype.name in NEAREST:
        mend = f'convert the array with .astype("{NEAREST[array.dtype.name]}")'
    elif kind in "USTa":
        numbers = all([_is_float(x) for x in array.flat])
        mend = "convert the array with .astype(float)" if numbers else _TEXT
    elif kind in "Mm":
        mend = 'convert the array with .astype("int64"), which gives counts of its unit'
    elif array.dtype.names:
        first = array.dtype.names[0]
        mend = f"convert the array with [{first!r}], a field at a time"
    else:
        mend = 'convert the array with .view("uint8"), which gives its bytes'
    return TypeError(f"{text}; {mend}")


def ragged(values: Sequence[Foreign]) -> TypeError | ValueError:
    """The error for a nested sequence whose parts on some level differ in length."""
    text = "a nested sequence must not be ragged: all sequences on one level need the same length"
    mend = "pad them, or convert them one by one"
    level: list[tuple[tuple[int, ...], Foreign]] = [((), values)]
    for _ in range(MAX_NDIM):
        level = [((*at, i), part) for at, x in level for i, part in enumerate(x)]
        for at, x in level:
            if _length(x) is None and not _is_number(x):
                return _wrong(_place(at), x)
            if _length(x) != _length(level[0][1]):
                first, x0 = level[0]
                found = f"{_place(first)} {_long(x0)} and {_place(at)} {_long(x)}"
                return ValueError(f"{text}, but {found}; {mend}")
        if not level or _length(level[0][1]) is None:
            break
    return ValueError(f"{text}; {mend}")


def _length(x: Foreign) -> int | None:
    return len(x) if _is_sequence(x) or (hasattr(x, "shape") and x.shape) else None


def _long(x: Foreign) -> str:
    length = _length(x)
    return "is no sequence" if length is None else f"has length {length}"


def _is_sequence(x: Foreign) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, str | bytes)


def _elements(values: Foreign, at: tuple[int, ...] = ()) -> Iterator[tuple[str, Foreign]]:
    """The elements of nested sequences and object arrays with their places, as in ``[1][0]``."""
    for i, x in enumerate(values):
        if _is_sequence(x) or (isinstance(x, np.ndarray) and x.ndim):
            yield from _elements(x, (*at, i))
        else:
            yield _place((*at, i)), x


def _place(at: tuple[int, ...]) -> str:
    return "".join([f"[{i}]" for i in at])


def _is_number(x: Foreign) -> bool:
    if isinstance(x, np.generic):
        return isinstance(x, np.number | np.bool) and x.dtype.name not in NEAREST
    return isinstance(x, int | float | complex) or hasattr(x, "__dlpack__")


def _is_float(x: Foreign) -> bool:
    try:
        float(x)
    except (TypeError, ValueError):
        return False
    return True


def _named(x: Foreign) -> str:
    kind = type(x).__name__
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"


def _shown(x: Foreign) -> str:
    """An object in a message: None, short texts and numbers as they are, others by their types."""
    if x is None or isinstance(x, str | bytes):
        return shown(x)
    return f"{shown(x)}, {_named(x)}" if len(repr(x)) <= 30 else _named(x)


def _mend(x: Foreign) -> str:
    """Advice on an object that is no number; empty if there is none."""
    if x is None or type(x).__name__ in ("NAType", "NaTType"):
        return _ABSENT
    if isinstance(x, str | bytes):
        return _FLOAT if _is_float(x) else _TEXT
    if isinstance(x, np.datetime64 | np.timedelta64):
        return 'convert it with .astype("int64"), which gives a count of its unit'
    if isinstance(x, datetime.datetime):
        return "convert it with .timestamp()"
    if isinstance(x, datetime.date):
        return "convert it with .toordinal()"
    if isinstance(x, datetime.timedelta):
        return "convert it with .total_seconds()"
    if isinstance(x, Mapping) and not hasattr(x, "toarray"):
        return "convert it with list(x.values())"
    for dense in ("toarray", "todense"):
        if hasattr(x, dense):
            return f"make it dense with x.{dense}()"
    if isinstance(x, Set) or (hasattr(x, "__iter__") and not hasattr(x, "shape")):
        return "convert it with list(x)"
    if isinstance(x, np.clongdouble):
        return "convert it with complex(...)"
    if _is_float(x):
        return _FLOAT
    return ""
