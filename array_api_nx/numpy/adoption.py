"""Between arrays of the face and NumPy's: what NumPy's functions take, and what they give.

`by_numpy` is the fallback of everything in the face: NumPy's function on NumPy's arrays over the
same memory. So what it writes shows in the arrays that were given, and what it returns is an array
of the face over the memory that NumPy gave it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy

from ..contract.numpy_dtypes import has_other_bools
from ..core.dtypes import CANONICAL
from ..device import Device, default_device
from ..frontend.array import Array
from ..frontend.interop import from_numpy, to_numpy
from ..native import native
from .arrays import adopt, ndarray, standard

Given: TypeAlias = "dict[int, tuple[numpy.ndarray[Any, Any], Any]]"
"""The arrays that were given, with the array of NumPy for each, by the id of that."""

_numpys_calls = 0


def count_numpys(more: int) -> int:
    """How often NumPy has computed something for the face, `more` added."""
    global _numpys_calls
    _numpys_calls += more
    return _numpys_calls


def _unknown(x: Any) -> Any:
    return None


known_numpys: Callable[[Any], Any] = _unknown if native is None else native.numpys
"""The same as `as_numpys`, by C; None if it does not say."""

if native is not None:
    count_numpys = native.count_numpys  # type: ignore[assignment]


_NO_NUMPY: Final = "__array__ method not producing an array"
_MAX_DEPTH: Final = 64  # of nested lists that NumPy makes arrays of


def as_numpys(x: Any, given: Given | None = None, depth: int = 0) -> Any:
    """`x` with NumPy's arrays in place of ours, in containers too: over the same memory."""
    kind = type(x)
    if (given is None or kind is ndarray) and (found := known_numpys(x)) is not None:
        if given is not None:
            given[id(found)] = found, x
        return found
    if kind is ndarray or kind is Array:
        array = to_numpy(x if kind is Array else standard(x), fetched=True)
        if given is not None:
            given[id(array)] = array, x
        return array
    if x is ndarray:
        return numpy.ndarray
    if (kind is tuple or kind is list) and depth <= _MAX_DEPTH:
        items = [as_numpys(each, given, depth + 1) for each in x]
        same = all([new is old for new, old in zip(items, x, strict=True)])
        return x if same else kind(items)
    if kind is dict:
        return {name: as_numpys(each, given, depth) for name, each in x.items()}
    return x


def adopted(array: numpy.ndarray[Any, Any], device: Device | None = None) -> Any:
    """An array of the face over the memory of one of NumPy's; the same one where ours cannot have
    its elements: of other dtypes, byte orders, or classes."""
    if type(array) is not numpy.ndarray or array.dtype not in CANONICAL:
        return array
    if not array.flags.aligned or array.ndim > 64 or has_other_bools(array):
        return array
    device = device or default_device()
    try:
        return adopt(from_numpy(array, None, device, None))
    except (TypeError, ValueError):
        return array  # the device lacks the dtype


def _converted(x: Any, convert: Callable[[Any], Any]) -> Any:
    """Lists and tuples, named ones too, with their items converted; other objects as they are."""
    kind = type(x)
    if kind is list or kind is tuple:
        items = [convert(each) for each in x]
        same = all([new is old for new, old in zip(items, x, strict=True)])
        return x if same else kind(items)
    is_named = isinstance(x, tuple) and hasattr(kind, "_make")
    return kind._make([convert(each) for each in x]) if is_named else x


def numpys_of(result: Any) -> Any:
    """What a function of the face returned, with NumPy's arrays in place of ours."""
    return as_numpys(result) if type(result) is ndarray else _converted(result, numpys_of)


def as_faces(x: Any, given: Given | None = None, device: Device | None = None) -> Any:
    """What NumPy returned, with arrays of the face in place of NumPy's, in tuples and lists too.

    An array that was given comes back as the one that it was.
    """
    kind = type(x)
    if kind is ndarray:
        return x
    if kind is numpy.ndarray:
        known = None if given is None else given.get(id(x))
        return adopted(x, device) if known is None else known[1]
    if kind is Array:
        return adopt(x)
    return _converted(x, lambda each: as_faces(each, given, device))


def by_numpy(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """What NumPy's function returns for these arguments."""
    count_numpys(1)
    default_device().backend.shares_host  # noqa: B018 - it loads: C answers nothing before
    given: Given = {}
    args = tuple([as_numpys(x, given) for x in args])
    named = {name: as_numpys(x, given) for name, x in named.items()}
    out = named.get("out")
    for x in out if type(out) is tuple else (out,):
        given.setdefault(id(x), (x, x))
    device = next((x._device for _, x in given.values() if type(x) is ndarray), None)
    elsewhere = [
        (array, array.copy(), x)
        for array, x in given.values()
        if type(x) is ndarray and not x._device.backend.shares_host
    ]
    found = called(function, args, named)
    for array, before, x in elsewhere:
        if array.tobytes() != before.tobytes():
            standard(x)[...] = from_numpy(array, None, x._device, None)
    return as_faces(found, given, device)


# These answer False where an object gives no array of NumPy's.
_SILENT: Final = (numpy.array_equal, numpy.array_equiv)


def called(function: Callable[..., Any], args: Sequence[Any], named: dict[str, Any]) -> Any:
    """What a function of NumPy's returns, also where the `__array__` of an object among the
    arguments gives an array of the face."""
    if function not in _SILENT or any([_answers(x) for x in args]):
        try:
            return function(*args, **named)
        except ValueError as error:
            if _NO_NUMPY not in str(error):
                raise
    named = {name: _with_numpys(x) for name, x in named.items()}
    return function(*[_with_numpys(x) for x in args], **named)


def _answers(x: Any) -> bool:
    """Whether an object may compute NumPy's functions itself."""
    return type(x) is not numpy.ndarray and hasattr(x, "__array_function__")


def _with_numpys(x: Any) -> Any:
    """What an object of another class gives as an array, which may be one of the face."""
    kind = type(x)
    if kind is tuple or kind is list:
        return kind([_with_numpys(each) for each in x])
    if hasattr(kind, "__array__") and not isinstance(x, numpy.ndarray | numpy.generic):
        return as_numpys(x.__array__())
    return x


def as_standards(x: Any) -> Any:
    """`x` with arrays of the standard's namespace in place of those of the face, in containers
    too; they share their elements."""
    kind = type(x)
    if kind is ndarray:
        return standard(x)
    if kind is tuple or kind is list:
        return kind([as_standards(each) for each in x])
    if kind is dict:
        return {name: as_standards(each) for name, each in x.items()}
    return x


def scalar(x: Any) -> Any:
    """A result of ours for the face: a NumPy scalar in place of an array without axes."""
    kind = type(x)
    if kind is Array:
        return to_numpy(x, fetched=True)[()] if x.ndim == 0 else adopt(x)
    return _converted(x, scalar)
