"""Elements chosen, or written, along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from ..core import dtypes as d
from ..core.shape import as_int, normalise_axis
from ..frontend import standard as xp
from ..frontend.annotations import PythonScalar
from ..frontend.array import Array, wrap
from ..frontend.dispatch import refuse_dtype
from ..frontend.operands import only_array, own_array, wrap_indices
from ..native import with_advice, with_native
from ..primitives import table as p
from .statistical import along_axis

__all__ = ["argpartition", "partition", "put_along_axis", "top_k"]

# The `k` greatest or smallest elements of a 1-D array are looked for part by part, on several
# threads, if the array has at least `_DIVIDED_MIN` elements. The `k` candidates of each part are
# partitioned again afterwards, which does not pay if `k` is more than one element in `_ONE_IN`.
_DIVIDED_MIN: Final = 2**18
_ONE_IN: Final = 2**8
_PARTS: Final = 8


class TopK(NamedTuple):
    """What `top_k` returns."""

    values: Array
    indices: Array


@with_native
def partition(x: Array, /, kth: int | Sequence[int], axis: int | None = -1) -> Array:
    """The elements of an array, some of them where sorting would put them.

    No element before one of these is greater, and none after it is less. That takes less time than
    to sort the others, too. NaN counts as greater than all numbers.

    x: Real or bool.
    kth: The positions along the axis, in the ascending order, that get the elements which belong
        there. Negative ones count from the end.
    axis: The axis to partition along; None for the elements of `x` as one row.
    Returns: A copy of the dtype and shape of `x`; 1-D if `axis` is None. The order of the elements
        between the positions is unspecified.
    ValueError: If a position is out of range, or `kth` is empty.
    TypeError: If `x` is complex, or a position is no int.

    >>> xp.extra.partition(xp.asarray([7, 1, 5, 3]), 0)[0]
    Array(1, dtype=int64)
    """
    x, positions, along = _partitioned(x, kth, axis)
    if x.dtype not in p.PARTITION.results:
        refuse_dtype(p.PARTITION, x.dtype)
    handle = x._device.backend.partition(x._handle, positions, along)
    return wrap(handle, x.dtype, x._device)


@with_native
def argpartition(x: Array, /, kth: int | Sequence[int], axis: int | None = -1) -> Array:
    """The indices that `partition` an array.

    x: Real or bool.
    kth: The positions along the axis, in the ascending order, that get the indices of the elements
        which belong there. Negative ones count from the end.
    axis: The axis to partition along; None for the elements of `x` as one row.
    Returns: A copy of dtype int64 and the shape of `x`, 1-D if `axis` is None. ``take_along_axis``
        with these indices gives a partitioned array.
    ValueError: If a position is out of range, or `kth` is empty.
    TypeError: If `x` is complex, or a position is no int.

    >>> xp.extra.argpartition(xp.asarray([7, 1, 5, 3]), -1)[-1]
    Array(0, dtype=int64)
    """
    x, positions, along = _partitioned(x, kth, axis)
    if x.dtype not in p.ARGPARTITION.results:
        refuse_dtype(p.ARGPARTITION, x.dtype)
    handle = x._device.backend.argpartition(x._handle, positions, along)
    return wrap_indices(handle, x._device)


@with_advice
def top_k(
    x: Array,
    k: int,
    /,
    *,
    axis: int = -1,
    mode: Literal["largest", "smallest"] = "largest",
    sorted: bool = True,
) -> TopK:
    """The `k` largest or smallest elements along an axis, and where they are.

    NaN comes last in either mode: it is among the results only where there are fewer than `k`
    numbers. Which of equal elements are chosen is unspecified.

    x: Real or bool, at least one axis.
    k: How many; from 0 to the size of the axis.
    axis: The axis to look along.
    sorted: Whether the results begin with the largest, or the smallest, and go on in order;
        otherwise their order is unspecified.
    Returns: A named tuple of copies with the shape of `x`, but for `axis`, which has size `k`:
        `values`, of the dtype of `x`, and `indices` along the axis, of dtype int64.
    ValueError: If `k` is negative or exceeds the size of the axis, or `mode` is another one.
    TypeError: If `x` is complex, or `k` no int.

    >>> values, indices = xp.extra.top_k(xp.asarray([3.0, 9.0, 5.0, 7.0]), 2)
    >>> values
    Array([9., 7.], dtype=float64)
    >>> indices
    Array([1, 3], dtype=int64)
    """
    x = only_array(x)
    if x.dtype not in p.ARGPARTITION.results:
        refuse_dtype(p.ARGPARTITION, x.dtype)
    if mode not in ("largest", "smallest"):
        raise ValueError(f"mode must be 'largest' or 'smallest', not {mode!r}")
    axis = normalise_axis(axis, x.ndim)
    k, size = as_int(k, "k"), x.shape[axis]
    if not 0 <= k <= size:
        raise ValueError(f"k is {k}, but axis {axis} of size {size} has from 0 to {size} elements")
    largest = mode == "largest"
    first = (slice(None),) * axis
    if k == 0 or k == size:
        indices = xp.argsort(x, axis=axis, descending=largest, stable=False)[(*first, slice(k))]
        return TopK(xp.take_along_axis(x, indices, axis=axis), indices)
    backend = x._device.backend
    is_at_hand = backend.shares_host and backend.has_elements(x._handle)
    if largest and x.dtype in d.FLOATING and not (is_at_hand and _has_no_nan(x)):
        # Its ascending order begins with the largest, and ends with NaN as that of `x` does.
        indices = _outermost(xp.negative(x), k, axis, last=False)
    elif is_at_hand and x.ndim == 1 and size >= _DIVIDED_MIN and k <= size // _ONE_IN:
        indices = _outermost_of_many(x, k, last=largest)
    else:
        indices = _outermost(x, k, axis, last=largest)
    values = xp.take_along_axis(x, indices, axis=axis)
    if sorted:
        order = xp.argsort(values, axis=axis, descending=largest, stable=False)
        values = xp.take_along_axis(values, order, axis=axis)
        indices = xp.take_along_axis(indices, order, axis=axis)
    return TopK(values, indices)


def put_along_axis(
    x: Array, /, indices: Array, values: Array | PythonScalar, axis: int | None = -1
) -> None:
    """Write elements where `take_along_axis` with the same indices reads them, in place.

    x: What to write to; any dtype.
    indices: Of integers, negative ones counted from the end, with as many axes as `x`. On every
        axis but `axis` its size is that of `x`, or 1.
    values: What to write; broadcast to the indices' shape, and converted to the dtype of `x` if
        that loses nothing, as in ``x[...] = values``. Of several values for one element the last
        stays.
    axis: The axis that `indices` are positions on; None for positions among all elements of `x`,
        which must be row-major then, and 1-D indices.
    ValueError: If `x` is read-only or does not have the number of axes of `indices`, or if shapes
        do not agree.
    IndexError: If `axis` or an index is out of range.
    TypeError: If `indices` are no integers, or `x` is on a device whose arrays cannot be written
        to.

    >>> x = xp.asarray([[10, 30, 20], [60, 40, 50]])
    >>> xp.extra.put_along_axis(x, xp.argmax(x, axis=1, keepdims=True), 99, axis=1)
    >>> x
    Array([[10, 99, 20],
           [99, 40, 50]], dtype=int64)
    """
    x = own_array(x)
    indices = only_array(indices, "indices")
    if axis is None:
        x, axis = xp.reshape(x, (-1,), copy=False), 0
    axis = normalise_axis(axis, x.ndim)
    if indices.ndim != x.ndim:
        raise ValueError(
            f"indices of shape {indices.shape} need as many axes as the array of shape {x.shape}; "
            "insert some with expand_dims"
        )
    keys: list[Array] = []
    for other, size in enumerate(x.shape):
        if other == axis:
            keys.append(indices)
        else:
            sizes = tuple([size if each == other else 1 for each in range(x.ndim)])
            keys.append(xp.reshape(xp.arange(size, device=x.device), sizes))
    x[tuple(keys)] = values


def _has_no_nan(x: Array) -> bool:
    return x.size == 0 or not xp.isnan(xp.max(x))


def _outermost(x: Array, k: int, axis: int, *, last: bool) -> Array:
    """The indices of the `k` first or last elements in ascending order, in any order."""
    size = x.shape[axis]
    order = argpartition(x, size - k if last else k - 1, axis)
    kept = slice(size - k, size) if last else slice(k)
    return order[(*[slice(None)] * axis, kept)]


def _outermost_of_many(x: Array, k: int, *, last: bool) -> Array:
    """See `_outermost`, for 1-D `x`: those of each part, and of these together.

    The parts are partitioned at the same time.
    """
    length = x.shape[0] // _PARTS
    parts = xp.reshape(x[: _PARTS * length], (_PARTS, length))
    starts = xp.reshape(xp.arange(_PARTS, device=x.device) * length, (_PARTS, 1))
    found = _outermost(parts, k, 1, last=last) + starts
    rest = xp.arange(_PARTS * length, x.shape[0], device=x.device)
    candidates = xp.concat([xp.reshape(found, (-1,)), rest])
    return xp.take(candidates, _outermost(xp.take(x, candidates), k, 0, last=last))


def _partitioned(x: Array, kth: object, axis: int | None) -> tuple[Array, tuple[int, ...], int]:
    """What to partition, and the positions and the axis as the backends take them."""
    x, axis = along_axis(x, axis)
    axis = normalise_axis(axis, x.ndim)
    size = x.shape[axis]
    given = kth if isinstance(kth, Sequence) else (kth,)
    positions = set()
    for value in given:
        position = as_int(value, "kth")
        if not -size <= position < size:
            raise ValueError(
                f"kth {position} is out of range for axis {axis} of size {size}; legal: "
                f"{f'from {-size} to {size - 1}' if size else 'none'}"
            )
        positions.add(position + size if position < 0 else position)
    if not positions:
        raise ValueError("kth names no position; give an int, or several")
    return x, tuple(sorted(positions)), axis
