"""Manipulation functions that join, repeat and split arrays: most of them copy."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from ..contract.arguments import Handle, Operand
from ..core.dtypes import INTEGRAL, promote
from ..core.shape import as_counts, as_int, check_shape, normalise_axis, repeatable_axes
from ..native import with_native
from ..primitives import table as p
from ..primitives.rules import joined_shape
from .array import Array
from .dispatch import binary, reduce
from .manipulation import as_view, broadcast_to, reshape
from .operands import adopted, cast, int64_operand, only_array, together

__all__ = ["concat", "repeat", "roll", "stack", "tile", "unstack"]


@with_native
def concat(arrays: tuple[Array, ...] | list[Array], /, *, axis: int | None = 0) -> Array:
    """Join arrays along an axis that they have.

    arrays (sequence of Array): Same shape but for `axis`; dtypes are promoted.
    axis: None flattens each array first.
    Returns: A copy.
    ValueError: If there are no arrays, one is 0-dimensional, or shapes differ elsewhere than on
        `axis`.
    """
    handles, first = _joinable(arrays, "concat")
    backend = first._device.backend
    if axis is None:
        handles = [backend.reshape(h, (prod(backend.shape(h)),)) for h in handles]
        axis = 0
    ndim = len(backend.shape(handles[0]))
    if not ndim:
        raise ValueError("concat needs arrays of at least one dimension; use stack for 0-d arrays")
    position = normalise_axis(axis, ndim)
    if len(handles) >= _MANY:
        _check_concat([backend.shape(h) for h in handles], position)
    try:
        return as_view(first, backend.cat(handles, position))
    except ValueError:
        _check_concat([backend.shape(h) for h in handles], position)
        raise


# Fewer legal arrays than this can be joined without a size that overflows.
_MANY: Final = 16


def _check_concat(shapes: list[tuple[int, ...]], axis: int) -> None:
    """Raise ValueError unless arrays of the `shapes` can be joined along `axis`."""
    try:
        shape = joined_shape(shapes, axis)
    except ValueError:
        raise ValueError(
            f"concat along axis {axis} needs equal sizes on all other axes, but the shapes are "
            f"{' and '.join(map(str, dict.fromkeys(shapes)))}; use broadcast_to or reshape first"
        ) from None
    check_shape(shape)


def _joinable(arrays: Sequence[Array], name: str) -> tuple[list[Handle], Array]:
    """Handles of the arrays, on one device and of one dtype, and an Array that has both."""
    if type(arrays) not in (list, tuple) and not isinstance(arrays, Sequence):
        raise TypeError(
            f"{name} takes a list or tuple of arrays, not a single {type(arrays).__name__}; "
            "put the arrays in a list"
        )
    if not arrays:
        raise ValueError(f"{name} needs at least one array; use empty(...) to make one of no size")
    first = arrays[0]
    handles = []
    for x in arrays:
        if type(x) is not Array or x._dtype is not first._dtype or x._device is not first._device:
            break
        handles.append(x._handle)
    else:
        return handles, first
    arrays = together(*[only_array(x, f"each argument of {name}") for x in arrays])
    dtype = promote(*[x._dtype for x in arrays])
    return [cast(x, dtype)._handle for x in arrays], cast(arrays[0], dtype)


@with_native
def repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None) -> Array:
    """Repeat each element.

    repeats (int or Array of integers): How often; an array of size 1, or with one number per
        element along `axis`.
    axis: None repeats the elements of the flattened array.
    Returns: A copy.
    TypeError: If `repeats` is not an integer.
    ValueError: If a number is negative, or there is not one per element.
    """
    x = only_array(x)
    if axis is None:
        x = reshape(x, (-1,))
        axis = 0
    position = normalise_axis(axis, len(x.shape))
    backend = x._device.backend
    shape = x.shape
    length = shape[position]
    counts: Operand
    repeats = adopted(repeats, "repeats")
    if type(repeats) is Array:
        x, repeats = together(x, repeats)
        backend = x._device.backend
        if repeats._dtype not in INTEGRAL:
            raise TypeError(f"repeats must be integers, not {repeats._dtype}; convert with astype")
        if repeats.shape not in ((), (1,), (length,)):
            raise ValueError(
                f"repeats of shape {repeats.shape} do not fit axis {axis} of size {length}; "
                "give one number, or one per element"
            )
        if not backend.has_elements(repeats._handle):
            counts = broadcast_to(int64_operand(repeats), (length,))._handle
            return as_view(x, backend.repeat(x._handle, counts, position))
    if type(repeats) is Array and repeats.shape == (length,):
        if reduce(p.ANY, binary(p.LESS, repeats, 0), None, False):
            raise ValueError("repeats must not be negative, but some are; clip them at 0")
        # Summed up as floats, which do not overflow.
        total = int(reduce(p.SUM, cast(repeats, repeats._device.real), None, False))
        counts = int64_operand(repeats)._handle
    else:
        counts = int(repeats) if type(repeats) is Array else as_int(repeats, "repeats")
        if counts < 0:
            raise ValueError(f"repeats must not be negative, but is {counts}; clip it at 0")
        total = counts * length
    check_shape((*shape[:position], total, *shape[position + 1 :]))
    if total == 0:
        counts = 0  # however often nothing is repeated
    return as_view(x, backend.repeat(x._handle, counts, position))


@with_native
def roll(
    x: Array,
    /,
    shift: int | tuple[int, ...],
    *,
    axis: int | tuple[int, ...] | None = None,
) -> Array:
    """Shift elements along axes; those that leave at one end come back at the other.

    shift: How far, towards higher indices; one number per axis, or one for all.
    axis: None shifts the flattened array and restores the shape.
    Returns: A copy.
    ValueError: If there are not as many shifts as axes.
    """
    x = only_array(x)
    backend = x._device.backend
    shape = x.shape
    # The shifts of an axis that is named twice add up.
    positions = (0,) if axis is None else repeatable_axes(axis, len(shape))
    if isinstance(shift, Sequence):
        shifts = [as_int(s, "a shift") for s in shift]
        if len(positions) == 1:
            positions *= len(shifts)
    else:
        shifts = [as_int(shift, "a shift")] * len(positions)
    if len(shifts) != len(positions):
        raise ValueError(
            f"roll needs one shift per axis, not shift={shift} for axis={axis}; "
            "give as many of each, or one shift for all"
        )
    if axis is None:
        flat = backend.reshape(x._handle, (prod(shape),))
        return as_view(x, backend.reshape(backend.roll(flat, (sum(shifts),)), shape))
    totals = [0] * len(shape)
    for position, amount in zip(positions, shifts, strict=True):
        totals[position] += amount
    return as_view(x, backend.roll(x._handle, tuple(totals)))


@with_native
def stack(arrays: tuple[Array, ...] | list[Array], /, *, axis: int = 0) -> Array:
    """Join arrays along a new axis.

    arrays (sequence of Array): Same shape; dtypes are promoted.
    axis: Where the new axis is in the result.
    Returns: A copy.
    ValueError: If there are no arrays, or the shapes differ.
    """
    handles, first = _joinable(arrays, "stack")
    backend = first._device.backend
    shape = backend.shape(handles[0])
    position = normalise_axis(axis, len(shape) + 1)
    check_shape((*shape[:position], len(handles), *shape[position:]))
    new = (*shape[:position], 1, *shape[position:])
    pieces = []
    for handle in handles:
        if backend.shape(handle) != shape:
            raise ValueError(
                f"stack needs equal shapes, but they are {shape} and {backend.shape(handle)}; "
                "pad or slice the arrays first, or use broadcast_arrays if sizes of 1 differ"
            )
        pieces.append(backend.try_reshape(handle, new))
    return as_view(first, backend.cat(pieces, position))


@with_native
def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """Repeat a whole array along its axes.

    repetitions: How often along each axis, the last axes first; the shorter of this and the shape
        is filled up with ones in front.
    Returns: A copy.
    ValueError: If a number is negative.
    """
    x = only_array(x)
    counts = as_counts(repetitions, "repetitions")
    shape = x.shape
    ndim = max(len(counts), len(shape))
    counts = (1,) * (ndim - len(counts)) + counts
    shape = (1,) * (ndim - len(shape)) + shape
    merged = tuple([count * size for count, size in zip(counts, shape, strict=True)])
    check_shape(merged)
    backend = x._device.backend
    if 0 in merged:
        return as_view(x, backend.empty(merged, x._dtype))
    handle = backend.copy(x._handle)
    for axis, count in enumerate(counts):
        if count > 1:
            # The size of the earlier axes by now, and that of one step along them.
            outer, inner = prod(merged[:axis]), prod(shape[axis:])
            rows = backend.reshape(handle, (outer, 1, inner))
            handle = backend.copy(backend.expand(rows, (outer, count, inner)))
    return as_view(x, backend.reshape(handle, merged))


@with_native
def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Split an array into its slices along an axis, which they lack.

    x: At least one dimension.
    Returns: Views.
    IndexError: If the axis is out of range, as any is for a 0-d array.
    """
    x = only_array(x)
    shape = x.shape
    position = normalise_axis(axis, len(shape))
    backend = x._device.backend
    before = [(0, n, 1) for n in shape[:position]]
    after = [(0, n, 1) for n in shape[position + 1 :]]
    return tuple(
        [as_view(x, backend.slice(x._handle, (*before, i, *after))) for i in range(shape[position])]
    )
