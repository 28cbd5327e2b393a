"""Indexing: keys in brackets, and the functions take and take_along_axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NoReturn

import numpy as np

from ..contract.arguments import Handle, Keys, Operand
from ..core import dtypes as d
from ..core.dtypes import as_dtype, holds
from ..core.indexing import (
    IndexArray,
    Key,
    KnownSelection,
    basic_selection,
    hashable_key,
    mixed_selection,
)
from ..core.layout import Selection
from ..core.shape import MAX_NDIM, broadcast_shapes, normalise_axis
from ..core.symbolic import Dim, Sizes
from ..native import with_native
from ..primitives import table as p
from .annotations import Foreign
from .array import Array, Index, method, wrap
from .creation import asarray
from .dispatch import binary, reduce
from .operands import (
    ArrayOrScalar,
    as_array,
    beside,
    cast,
    check_writable,
    common_device,
    int64_operand,
    moved_scalar,
    on_device,
    only_array,
    together,
)
from .scalars import SCALARS, check_scalar

__all__ = [
    "take",
    "take_along_axis",
]


# What (hashable key, shape) selected the last time; `Array.__getitem__` looks here first. Emptied
# when full.
_MAX_SELECTIONS: Final = 1 << 13
selections: Final[dict[tuple[object, ...], Selection]] = {}


def getitem(x: Array, key: Index) -> Array:
    """``x[key]`` for a key that was not seen before, or cannot be looked up."""
    without_lists = _without_lists(x, key)
    if without_lists is not key:
        return x[without_lists]
    x = _beside_key(x, key)
    device = x._device
    backend = device.backend
    handle = x._handle
    if type(key) is Array:
        keys = _whole_key(x, key)
        if keys is not None:
            return wrap(_get(x, handle, keys), x._dtype, device)
    selection, keys = _select(x, key, hashable_key(key), backend.shape(handle))
    handle = backend.slice(handle, selection)
    if keys is not None:
        handle = _get(x, handle, keys)
    return wrap(handle, x._dtype, device)


def _without_lists(x: Array, key: Key) -> Key:
    """`key` with arrays in place of lists, which C takes; `key` itself if it has none."""
    if type(key) is list:
        return _from_list(x, key)
    if type(key) is tuple and list in [type(item) for item in key]:
        return tuple([_from_list(x, item) if type(item) is list else item for item in key])
    return key


def _from_list(x: Array, items: list[Foreign]) -> Array:
    # An empty list selects nothing; it is not one of floats.
    return asarray(items, dtype=None if items else d.int64, device=x._device)


def _beside_key(x: Array, key: Key) -> Array:
    """`x` on the device on which it is indexed: it may follow the arrays in the key."""
    items = key if type(key) is tuple else (key,)
    devices = [item._device for item in items if type(item) is Array]
    return on_device(x, common_device([x._device, *devices])) if devices else x


def _get(x: Array, handle: Handle, keys: Keys) -> Handle:
    """What index arrays select of `handle`, a view of `x`."""
    try:
        return x._device.backend.index_get(handle, keys)
    except (IndexError, ValueError) as error:  # NumPy's take raises the latter
        _refuse_indices(x, error)


def _set(x: Array, handle: Handle, keys: Keys, value: Operand) -> None:
    """Write where index arrays select of `handle`, a view of `x`."""
    try:
        x._device.backend.index_set(handle, keys, value)
    except IndexError as error:
        _refuse_indices(x, error)
    except ValueError as error:
        raise ValueError(
            f"the value does not fit what the index selects: {error}; give one whose shape "
            "broadcasts to the selection, which for a mask is as long as it has true elements"
        ) from error


def _refuse_indices(x: Array, error: IndexError | ValueError) -> NoReturn:
    raise IndexError(
        f"cannot index an array of shape {x.shape}: {error}; indices must lie from -size to "
        f"size - 1 of their axis, index arrays must broadcast, and at most {MAX_NDIM} dimensions "
        "may come out"
    ) from error


def setitem(x: Array, key: Index, value: ArrayOrScalar) -> None:
    """``x[key] = value``: see `Array.__setitem__`."""
    without_lists = _without_lists(x, key)
    if without_lists is not key:
        x[without_lists] = value
        return
    stored = _stored(x, value)
    check_writable(x)
    _write(x, key, stored)


def fill_in(x: Array, key: Index, value: ArrayOrScalar) -> None:
    """``x[key] = value`` for an array that was made here, and that no user has yet.

    It may be on a device whose arrays never change.
    """
    _write(x, key, _stored(x, value))


def written(name: str, target: Foreign, result: Array) -> Array:
    """`target`, an argument ``out=``, after `result` was written to it; `result` for None.

    ValueError: If it is no array of ours or NumPy's, has another shape, or is read-only.
    TypeError: If its dtype would lose data.
    """
    if target is None:
        return result
    if type(target) not in (Array, np.ndarray) or target.shape != result.shape:
        raise ValueError(
            f"{name} gives shape {result.shape}, which out= must have, and be an array_api_nx or "
            "NumPy array; leave out= out"
        )
    if not d.same_kind(result._dtype, as_dtype(target.dtype)):
        raise TypeError(
            f"{name} would store {result._dtype} values in an array of dtype {target.dtype}, "
            "which loses data; leave out= out"
        )
    if type(target) is Array:
        check_writable(target)
        target[...] = result
    else:
        target[...] = np.asarray(result)
    filled: Array = target
    return filled


def _write(x: Array, key: Index, stored: Operand) -> None:
    backend = x._device.backend
    handle = x._handle
    if type(key) is Array:
        keys = _whole_key(x, key)
        if keys is not None:
            _set(x, handle, keys, stored)
            return
    shape = backend.shape(handle)
    lookup = hashable_key(key)
    keys = None
    try:
        selection = selections[lookup, shape]
    except KeyError:
        selection, keys = _select(x, key, lookup, shape)
    target = backend.slice(handle, selection)
    if keys is not None:
        _set(x, target, keys, stored)
        return
    if type(stored) not in SCALARS:
        stored_shape = backend.shape(stored)
        if stored_shape:  # a 0-dimensional array fits everywhere
            _check_fits(stored_shape, backend.shape(target))
    backend.assign(target, stored)


def _whole_key(x: Array, key: Array) -> Keys | None:
    """The backend's keys for a lone index array without anything to convert; None if there is."""
    if key._device is not x._device:
        return None
    backend = x._device.backend
    taken = backend.shape(key._handle)
    if not taken:
        return None
    shape = backend.shape(x._handle)
    if key._dtype is d.bool:
        return (key._handle,) if taken == shape[: len(taken)] else None
    return (key._handle,) if key._dtype is d.int64 and shape else None


def _select(
    x: Array, key: Key, lookup: object, shape: tuple[int, ...]
) -> tuple[Selection, Keys | None]:
    """What a key selects that was not seen before, or cannot be looked up.

    The basic part, and the index arrays (None if there are none) aligned with what it selects.
    """
    items = key if type(key) is tuple else (key,)
    if lookup is None:
        selection, indices = mixed_selection([_item(x, item) for item in items], shape)
        return selection, None if indices is None else tuple(indices)
    selection = KnownSelection(basic_selection(key, shape))
    if len(selections) >= _MAX_SELECTIONS:
        selections.clear()
    selections[lookup, shape] = selection
    return selection, None


def _stored(x: Array, value: ArrayOrScalar) -> Operand:
    """`value` as a handle or scalar of the dtype of `x`."""
    dtype = x._dtype
    if type(value) is Array:
        if value._dtype is dtype and value._device is x._device:
            return value._handle
    else:
        if holds(dtype, value):
            return value
        known = as_array(value, "the value")
        if type(known) is not Array:
            return check_scalar(known, dtype)
        value = moved_scalar(known, x._device) if isinstance(value, np.generic) else known
    value = beside(x, value)
    if not d.same_kind(value._dtype, dtype):
        raise TypeError(
            f"cannot store {value._dtype} values in an array of dtype {dtype}, which loses data; "
            f"convert them with astype(..., {dtype})"
        )
    return cast(value, dtype)._handle


def _check_fits(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    # As in NumPy, leading axes of size 1 may be superfluous.
    while len(shape) > len(target) and shape[0] == 1:
        shape = shape[1:]
    if shape != target and broadcast_shapes(shape, target) != target:
        raise ValueError(
            f"cannot store an array of shape {shape} in a selection of shape {target}; "
            "select or reshape so that the shapes broadcast"
        )


def _item(x: Array, item: Key) -> Key:
    if isinstance(item, np.integer):
        return int(item)
    if isinstance(item, bool | np.bool_):
        item = wrap(x._device.backend.full((), d.bool, bool(item)), d.bool, x._device)
    elif isinstance(item, list):
        item = _from_list(x, item)
    elif isinstance(item, np.ndarray):
        item = asarray(item, device=x._device)
    if type(item) is not Array:
        return item
    item = beside(x, item)
    if item._dtype is d.bool:
        return IndexArray(item._handle, item.shape)
    if item._dtype not in d.INTEGRAL:
        raise IndexError(
            f"index arrays must be integers or booleans, not {item._dtype}; convert with astype"
        )
    if item.shape == () and item._device.backend.has_elements(item._handle):
        return int(item)
    return IndexArray(_as_int64(item)._handle, None)


def _as_int64(indices: Array) -> Array:
    """Indices as int64; IndexError for a uint64 that would wrap around."""
    if indices._dtype is d.uint64 and not indices._device.backend.has_elements(indices._handle):
        # Too large an index stays too large, and is refused when there are elements.
        return int64_operand(binary(p.MINIMUM, indices, d.BOUNDS[d.int64][1]))
    if indices._dtype is d.uint64 and reduce(
        p.ANY, binary(p.GREATER, indices, d.BOUNDS[d.int64][1]), None, False
    ):
        raise IndexError("an index is out of range: it exceeds the largest int64")
    return int64_operand(indices)


def rows(x: Array) -> range:
    """The indices of the first axis; TypeError if there is none."""
    shape = x.shape
    if not shape:
        raise TypeError("a 0-dimensional array has no length and cannot be iterated; use x[()]")
    return range(shape[0])


@method("__iter__")
def iterate(x: Array) -> Iterator[Array]:
    """The views x[0], x[1], ...; TypeError for a 0-d array at once, not on first use."""
    size: Sizes = x.shape[:1]
    if size and type(size[0]) is Dim:
        # A test for an iterator, such as np.iterable, needs no number of rows.
        return _rows_of_unknown_number(x)
    return map(x.__getitem__, rows(x))


def _rows_of_unknown_number(x: Array) -> Iterator[Array]:
    yield from map(x.__getitem__, rows(x))


@with_native
def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Slices at given positions along an axis.

    indices (Array of integers): One-dimensional; negative ones count from the end.
    axis: May be omitted for one-dimensional `x`.
    Returns: A copy of shape ``x.shape[:axis] + indices.shape + x.shape[axis+1:]``.
    IndexError: If an index or the axis is out of range.
    TypeError: If the indices are not integers.
    ValueError: If `axis` is missing, or `indices` has more than one dimension.
    """
    x = only_array(x)
    x, indices = _integers(x, indices)
    backend = x._device.backend
    ndim = len(backend.shape(x._handle))
    if axis is None:
        if ndim != 1:
            raise ValueError(f"take from an array of shape {x.shape} needs an axis; give axis=...")
        axis = 0
    axis = normalise_axis(axis, ndim)
    if len(indices.shape) > 1:
        raise ValueError(
            f"indices must have one dimension, not shape {indices.shape}; "
            "index with brackets instead: x[indices, ...]"
        )
    try:
        handle = backend.take(x._handle, indices._handle, axis)
    except IndexError as error:
        _out_of_range(x, axis, error)
    return wrap(handle, x._dtype, x._device)


@with_native
def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Per position, the element of `x` with an index of its own along an axis.

    indices (Array of integers): As many dimensions as `x`; broadcasts with it on all axes but
        `axis`. Negative ones count from the end.
    Returns: A copy of the broadcast shape, with the size of `indices` on `axis`.
    IndexError: If an index or the axis is out of range.
    TypeError: If the indices are not integers.
    ValueError: If the dimensions differ in number or do not broadcast.
    """
    x = only_array(x)
    x, indices = _integers(x, indices)
    shape, other = x.shape, indices.shape
    if len(shape) != len(other):
        raise ValueError(
            f"x and indices must have as many dimensions, not shapes {shape} and {other}; "
            "insert axes with expand_dims"
        )
    axis = normalise_axis(axis, len(shape))
    before = broadcast_shapes(shape[:axis], other[:axis])
    after = broadcast_shapes(shape[axis + 1 :], other[axis + 1 :])
    backend = x._device.backend
    data = backend.expand(x._handle, (*before, shape[axis], *after))
    where = backend.expand(indices._handle, (*before, other[axis], *after))
    try:
        handle = backend.gather(data, where, axis)
    except IndexError as error:
        _out_of_range(x, axis, error)
    return wrap(handle, x._dtype, x._device)


def _integers(x: Array, indices: Array) -> tuple[Array, Array]:
    """Both on one device, and `indices` as int64."""
    if type(indices) is not Array:
        indices = only_array(indices, "indices")
    if indices._device is not x._device:
        x, indices = together(x, indices)
    if indices._dtype is d.int64:
        return x, indices
    if indices._dtype not in d.INTEGRAL:
        raise TypeError(f"indices must be integers, not {indices._dtype}; convert with astype")
    return x, _as_int64(indices)


def _out_of_range(x: Array, axis: int, error: IndexError) -> NoReturn:
    size = x.shape[axis]
    raise IndexError(
        f"an index is out of range for axis {axis} of size {size}; "
        f"indices must lie from {-size} to {size - 1}"
    ) from error
