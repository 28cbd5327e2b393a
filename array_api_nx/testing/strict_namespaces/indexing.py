"""The keys that a strict array takes between brackets."""

from __future__ import annotations

import operator
from typing import Any

from ...core import dtypes as d
from ...frontend.array import Array
from .base import StrictBase
from .errors import Section
from .operands import check_devices, described
from .versions import widened_in

SINGLE = Section("Single-axis Indexing")
MULTI = Section("Multi-axis Indexing")
INTEGERS = Section("Integer Array Indexing")
MASKS = Section("Boolean Array Indexing")

_WHOLE = slice(None)


def plain_key(x: StrictBase, key: Any, *, writing: bool = False) -> Any:
    """The key for the array inside, checked.

    IndexError: If the standard leaves the key unspecified.
    RuntimeError: If the namespace is one without boolean indexing.
    """
    array = x._array
    own = type(x)
    if type(key) is own and key._array.dtype is d.bool:
        return _mask(x, key, writing)
    items = key if type(key) is tuple else (key,)
    ndim = array.ndim
    used = 0
    ellipsis = -1
    bounded: list[tuple[int, slice, bool]] = []
    arrays: list[Array] = []
    others = False  # items that do not go with index arrays
    plain: list[Any] = []
    for item in items:
        kind = type(item)
        if kind is int:
            used += 1
        elif kind is slice:
            item = _slice(item)
            if item != _WHOLE:
                bounded.append((used, item, ellipsis >= 0))
            used += 1
            others = True
        elif item is Ellipsis:
            ellipsis = len(plain)
            others = True
        elif item is None:
            others = True
            if writing:
                raise Section("Array object: __setitem__").refuse(
                    IndexError,
                    "assignment with None between the brackets; keys of __setitem__ hold none",
                    "leave it out, and give the value the shape of the selection",
                )
        elif kind is own:
            item = item._array
            if item.dtype is d.bool:
                if len(items) == 1:
                    return _mask(x, key[0], writing)
                raise MASKS.refuse(
                    IndexError,
                    "a mask beside other indices; it must be the sole index",
                    "index twice: first with the mask, then with the rest",
                )
            used += 1
            if item.ndim:
                arrays.append(item)
            else:
                check_devices("an index", (array, item))
                _integral(item)
        else:
            item = _integer(item)
            used += 1
        plain.append(item)
    if used < ndim and ellipsis < 0:
        raise _too_few(items, used, ndim, bool(arrays))
    if arrays:
        _check_arrays(x, arrays, others, writing)
    elif bounded:
        shape = array.shape
        skipped = ndim - used
        for axis, item, after in bounded:
            axis += skipped if after else 0
            if axis < ndim:  # more indices than axes are refused by the array itself
                _check_bounds(item, shape[axis], axis)
    return plain[0] if type(key) is not tuple else tuple(plain)


def _integer(item: Any) -> int:
    if not isinstance(item, bool) and hasattr(type(item), "__index__"):
        try:
            return operator.index(item)
        except TypeError:
            pass
    if isinstance(item, list | tuple) or hasattr(item, "__array__"):
        instead = "convert it: xp.asarray(indices)"
    elif isinstance(item, bool):
        instead = "use 0 or 1, or a mask: xp.asarray(condition)"
    else:
        instead = "use an int, a slice, ..., None or an array of the same namespace"
    raise SINGLE.refuse(
        IndexError,
        f"{described(item)} as an index; an index is an int, a slice, ..., None or an array",
        instead,
    )


def _slice(item: slice) -> slice:
    given = (item.start, item.stop, item.step)
    if all([each is None or type(each) is int for each in given]):
        return item
    return slice(*[each if each is None else _integer(each) for each in given])


def _check_bounds(item: slice, size: int, axis: int) -> None:
    start, stop = item.start, item.stop
    lowest, highest = -size, size
    if stop is not None and item.step is not None and item.step < 0:
        lowest, highest = -size - 1, max(0, size - 1)
    for name, value, low, high in (
        ("start", start, -size, size),
        ("stop", stop, lowest, highest),
    ):
        if value is not None and not low <= value <= high:
            raise Section("Slice Syntax").refuse(
                IndexError,
                f"a slice that {name}s at {value} on axis {axis} of size {size}; what lies outside "
                f"of {low} to {high} is left unspecified",
                f"leave it out, or use min({value}, x.shape[{axis}])",
            )


def _too_few(items: tuple[object, ...], used: int, ndim: int, arrays: bool) -> Exception:
    if arrays:
        instead = "use xp.take(x, indices, axis=0)"
    else:
        instead = "add ..., as in x[0, ...], or xp.reshape(x, (-1,)) first"
    return MULTI.refuse(
        IndexError,
        f"{used} indices for {ndim} axes without ...; each axis must be indexed",
        instead,
    )


def _integral(index: Array) -> None:
    if index.dtype not in d.INTEGRAL:
        raise INTEGERS.refuse(
            IndexError,
            f"an array of {index.dtype} as an index; index arrays hold ints or bools",
            "convert it: xp.astype(indices, xp.int64)",
        )


def _check_arrays(x: StrictBase, indices: list[Array], others: bool, writing: bool) -> None:
    version = type(x)._policy.version
    since = widened_in("indexing", "integer arrays")
    for index in indices:
        _integral(index)
    if version < since:
        raise INTEGERS.refuse(
            IndexError,
            f"an array of ints as an index, which {version} does not have (it came with {since})",
            "use xp.take(x, indices, axis=axis)",
        )
    if writing:
        raise Section("Array object: __setitem__").refuse(
            IndexError,
            "assignment to what an array of ints selects is left unspecified",
            "assign with a mask, as in x[mask] = value, or choose: xp.where(mask, value, x)",
        )
    if others:
        raise INTEGERS.refuse(
            IndexError,
            "arrays of ints beside slices, ... or None are left unspecified",
            "index each axis with ints and arrays, or use xp.take(x, indices, axis=axis)",
        )
    check_devices("an index", (x._array, *indices))


def _mask(x: StrictBase, key: StrictBase, writing: bool) -> Array:
    if not type(x)._policy.boolean_indexing:
        raise MASKS.refuse(
            RuntimeError,
            "a mask as an index, which libraries may leave out (boolean_indexing=False)",
            "choose instead: xp.where(mask, x, other)",
        )
    mask = key._array
    check_devices("an index", (x._array, mask))
    return mask
