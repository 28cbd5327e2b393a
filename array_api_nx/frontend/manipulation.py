"""Manipulation functions: what moves, joins and repeats elements without computing.

A result is a view of its argument's memory wherever strides can express it, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, Final, TypeAlias

from ..contract.backend import Handle, Operand
from ..core import shape as core_shape
from ..core.dtypes import INTEGRAL, promote
from ..core.shape import (
    as_counts,
    as_int,
    as_shape,
    check_shape,
    normalise_axes,
    normalise_axis,
    resolve_reshape,
)
from ..native import with_twin
from ..primitives import table as p
from ..tracing.recorder import rely_on_layout
from .array import Array
from .dispatch import binary, reduce
from .operands import adopted, cast, int64_operand, only_array, together

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "transpose",
    "unstack",
]

# Axis arguments repeat: what one became, in a shape or for a number of dimensions, is looked up the
# next time. 1.0 is equal to 1, but no axis: what is found counts if the argument is the very object
# that was noted, as constants in a loop are, or is made of ints. Bounded as the views' tables are:
# emptied when full.
_MAX_MEMOS: Final = 1 << 12
_Memo: TypeAlias = "dict[tuple[object, object], tuple[Any, Any]]"
_permutations: Final[_Memo] = {}
_moves: Final[_Memo] = {}
_insertions: Final[_Memo] = {}
_expansions: Final[_Memo] = {}
_flips: Final[_Memo] = {}
_reshapes: Final[_Memo] = {}
_squeezes: Final[_Memo] = {}


def _is_plain(argument: object) -> bool:
    """Whether an axis argument is None, an int, or a tuple of ints."""
    if type(argument) is tuple:
        return type(sum(argument)) is int
    return argument is None or type(argument) is int


def _remember(memo: _Memo, argument: object, context: object, value: object) -> None:
    """Note what `argument` became in a context, if it can be trusted the next time."""
    if _is_plain(argument):
        _note(memo, argument, context, value)


def _note(memo: _Memo, argument: object, context: object, value: object) -> None:
    if len(memo) >= _MAX_MEMOS:
        memo.clear()
    memo[argument, context] = argument, value


def _named_axes(axes: int | Sequence[int], ndim: int) -> tuple[int, ...]:
    """`axes` counted from the front, where None does not stand for all of them."""
    several: Any = (axes,) if axes is None else axes
    return normalise_axes(several, ndim)


def _view(x: Array, handle: Handle) -> Array:
    """An array of the dtype and device of `x`."""
    array = Array()
    array._handle = handle
    array._dtype = x._dtype
    array._device = x._device
    return array


@with_twin
def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Broadcast arrays against one another.

    Parameters
    ----------
    *arrays : Array
        Any shapes that broadcast; dtypes are left alone.

    Returns
    -------
    tuple of Array
        Read-only views of the common shape.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Standard: manipulation functions.
    """
    arrays = tuple([only_array(x, "an array") for x in arrays])
    shape = core_shape.broadcast_shapes(*[x.shape for x in arrays])
    return tuple([broadcast_to(x, shape) for x in arrays])


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that shapes broadcast to.

    Parameters
    ----------
    *shapes : tuple of int

    Returns
    -------
    tuple of int
        ``()`` for no shapes.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Standard: manipulation functions.
    """
    return core_shape.broadcast_shapes(*[as_shape(shape) for shape in shapes])


@with_twin
def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    """Repeat an array along axes of size 1 and new leading axes.

    Parameters
    ----------
    x : Array
    shape : tuple of int
        What the shape of `x` broadcasts to.

    Returns
    -------
    Array
        A view in which repeated elements share memory; not writeable where any do.

    Raises
    ------
    ValueError
        If `x` does not broadcast to `shape`.

    Standard: manipulation functions.
    """
    if type(x) is not Array:
        x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    old = backend.shape(handle)
    try:
        noted, new = _expansions[shape, old]
        if noted is not shape and not _is_plain(shape):
            raise TypeError
    except (KeyError, TypeError):
        new = as_shape(shape)
        lead = len(new) - len(old)
        if lead < 0 or any([n not in (m, 1) for n, m in zip(old, new[lead:], strict=True)]):
            raise ValueError(
                f"cannot broadcast shape {old} to {new}: sizes must agree or be 1, and new axes "
                "come in front; insert axes with expand_dims first"
            ) from None
        _remember(_expansions, shape, old, new)
    return _view(x, backend.expand(handle, new))


@with_twin
def concat(arrays: tuple[Array, ...] | list[Array], /, *, axis: int | None = 0) -> Array:
    """Join arrays along an axis that they have.

    Parameters
    ----------
    arrays : sequence of Array
        Same shape but for `axis`; dtypes are promoted.
    axis : int or None
        None flattens each array first.

    Returns
    -------
    Array
        A copy.

    Raises
    ------
    ValueError
        If there are no arrays, one is 0-dimensional, or shapes differ elsewhere than on `axis`.

    Standard: manipulation functions.
    """
    handles, first = _joinable(arrays, "concat")
    backend = first._device.backend
    if axis is None:
        handles = [backend.reshape(h, (prod(backend.shape(h)),)) for h in handles]
        axis = 0
    ndim = len(backend.shape(handles[0]))
    if not ndim:
        raise ValueError("concat needs arrays of at least one dimension; use stack for 0-d arrays")
    position = axis if type(axis) is int and 0 <= axis < ndim else normalise_axis(axis, ndim)
    if len(handles) >= _MANY:
        _check_concat([backend.shape(h) for h in handles], position)
    try:
        return _view(first, backend.cat(handles, position))
    except ValueError:
        _check_concat([backend.shape(h) for h in handles], position)
        raise


# Fewer legal arrays than this can be joined without a size that overflows.
_MANY: Final = 16


def _check_concat(shapes: list[tuple[int, ...]], axis: int) -> None:
    """Raise ValueError unless arrays of the `shapes` can be joined along `axis`."""
    others = {(len(shape), shape[:axis], shape[axis + 1 :]) for shape in shapes}
    if len(others) > 1:
        raise ValueError(
            f"concat along axis {axis} needs equal sizes on all other axes, but the shapes are "
            f"{' and '.join(map(str, dict.fromkeys(shapes)))}; use broadcast_to or reshape first"
        )
    total = sum([shape[axis] for shape in shapes])
    check_shape((*shapes[0][:axis], total, *shapes[0][axis + 1 :]))


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


@with_twin
def expand_dims(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Insert axes of size 1.

    Parameters
    ----------
    x : Array
    axis : int or tuple of int
        Where the new axes are in the result.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    IndexError
        If an axis is out of range for the result.
    ValueError
        If an axis is named twice.

    Standard: manipulation functions.
    """
    if type(x) is not Array:
        x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    shape = backend.shape(handle)
    try:
        noted, new = _insertions[axis, shape]
        if noted is not axis and not _is_plain(axis):
            raise TypeError
    except (KeyError, TypeError):
        count = len(axis) if isinstance(axis, Sequence) else 1
        axes = _named_axes(axis, len(shape) + count)
        sizes = iter(shape)
        new = tuple([1 if a in axes else next(sizes) for a in range(len(shape) + count)])
        check_shape(new)
        _remember(_insertions, axis, shape, new)
    return _view(x, backend.try_reshape(handle, new))


@with_twin
def flip(x: Array, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """Reverse the order of elements along axes.

    Parameters
    ----------
    x : Array
    axis : int, tuple of int or None
        None reverses all axes.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    IndexError, ValueError
        If an axis is out of range or named twice.

    Standard: manipulation functions.
    """
    if type(x) is not Array:
        x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    ndim = len(backend.shape(handle))
    try:
        noted, marks = _flips[axis, ndim]
        if noted is not axis and not _is_plain(axis):
            raise TypeError
    except (KeyError, TypeError):
        axes = normalise_axes(axis, ndim)
        marks = tuple([a in axes for a in range(ndim)])
        _remember(_flips, axis, ndim, marks)
    return _view(x, backend.flip(handle, marks))


@with_twin
def moveaxis(
    x: Array,
    source: int | tuple[int, ...],
    destination: int | tuple[int, ...],
    /,
) -> Array:
    """Move axes to new places; the others keep their order.

    Parameters
    ----------
    x : Array
    source, destination : int or tuple of int
        Axes, and where each goes; equally many.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    IndexError, ValueError
        If an axis is out of range or named twice, or the numbers differ.

    Standard: manipulation functions.
    """
    if type(x) is not Array:
        x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    ndim = len(backend.shape(handle))
    try:
        noted, axes = _moves[(source, destination), ndim]
        if (noted[0] is not source or noted[1] is not destination) and not (
            _is_plain(source) and _is_plain(destination)
        ):
            raise TypeError
    except (KeyError, TypeError):
        axes = _moved(source, destination, ndim)
        if _is_plain(source) and _is_plain(destination):
            _note(_moves, (source, destination), ndim, axes)
    return _view(x, backend.permute(handle, axes))


def _moved(
    source: int | Sequence[int], destination: int | Sequence[int], ndim: int
) -> tuple[int, ...]:
    sources, destinations = _named_axes(source, ndim), _named_axes(destination, ndim)
    if len(sources) != len(destinations):
        raise ValueError(
            f"moveaxis needs as many destinations as sources, not {destination} for {source}; "
            "name one destination per source"
        )
    placed = dict(zip(destinations, sources, strict=True))
    rest = iter([axis for axis in range(ndim) if axis not in sources])
    return tuple([placed[axis] if axis in placed else next(rest) for axis in range(ndim)])


@with_twin
def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """Reorder axes.

    Parameters
    ----------
    x : Array
    axes : tuple of int
        Axis i of the result is axis ``axes[i]`` of `x`.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    IndexError, ValueError
        If `axes` is not a permutation of the axes of `x`.

    Standard: manipulation functions.
    """
    if type(x) is not Array:
        x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    ndim = len(backend.shape(handle))
    try:
        noted, permutation = _permutations[axes, ndim]
        if noted is not axes and not _is_plain(axes):
            raise TypeError
    except (KeyError, TypeError):
        permutation = _named_axes(tuple(axes) if isinstance(axes, Iterable) else axes, ndim)
        if len(permutation) != ndim:
            raise ValueError(
                f"axes {axes} do not permute {ndim} dimensions; "
                f"name each of {tuple(range(ndim))} once"
            ) from None
        _remember(_permutations, axes, ndim, permutation)
    return _view(x, backend.permute(handle, permutation))


def transpose(x: Array) -> Array:
    """The attribute ``T``: a view with all axes in reverse order, as in NumPy.

    The standard has it for two axes alone, and strict namespaces refuse others.
    """
    backend = x._device.backend
    handle = x._handle
    axes = tuple(range(len(backend.shape(handle))))
    return _view(x, backend.permute(handle, axes[::-1]))


@with_twin
def repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None) -> Array:
    """Repeat each element.

    Parameters
    ----------
    x : Array
    repeats : int or Array of integers
        How often; an array of size 1, or with one number per element along `axis`.
    axis : int or None
        None repeats the elements of the flattened array.

    Returns
    -------
    Array
        A copy.

    Raises
    ------
    TypeError
        If `repeats` is not an integer.
    ValueError
        If a number is negative, or there is not one per element.

    Standard: manipulation functions.
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
            return _view(x, backend.repeat(x._handle, counts, position))
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
    return _view(x, backend.repeat(x._handle, counts, position))


@with_twin
def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """The same elements, in row-major order, under another shape.

    Parameters
    ----------
    x : Array
    shape : tuple of int
        One size may be -1: it is worked out from the others.
    copy : bool or None
        True always copies, False never does, None copies only if no view can express the result.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        If the number of elements differs, or a copy is needed and `copy` is False.

    Standard: manipulation functions.
    """
    if type(x) is not Array:
        x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    old = backend.shape(handle)
    try:
        noted, new = _reshapes[shape, old]
        if noted is not shape and not _is_plain(shape):
            raise TypeError
    except (KeyError, TypeError):
        several = shape if isinstance(shape, Sequence) else (shape,)
        new = resolve_reshape(old, tuple([as_int(n, "a size") for n in several]))
        _remember(_reshapes, shape, old, new)
    if copy:
        return _view(x, backend.reshape(backend.copy(handle), new))
    view = backend.try_reshape(handle, new)
    if copy is not None:
        rely_on_layout(handle)
        if view is None:
            raise ValueError(
                f"cannot reshape {old} into {new} without a copy: the elements do not lie in "
                "memory in that order; use copy=None"
            )
    return _view(x, backend.reshape(handle, new) if view is None else view)


@with_twin
def roll(
    x: Array,
    /,
    shift: int | tuple[int, ...],
    *,
    axis: int | tuple[int, ...] | None = None,
) -> Array:
    """Shift elements along axes; those that leave at one end come back at the other.

    Parameters
    ----------
    x : Array
    shift : int or tuple of int
        How far, towards higher indices; one number per axis, or one for all.
    axis : int, tuple of int or None
        None shifts the flattened array and restores the shape.

    Returns
    -------
    Array
        A copy.

    Raises
    ------
    IndexError
        If an axis is out of range.
    ValueError
        If there are not as many shifts as axes.

    Standard: manipulation functions.
    """
    x = only_array(x)
    backend = x._device.backend
    shape = x.shape
    if axis is None:
        positions = [0]
    else:
        # An axis may be named twice here: its shifts add up.
        several = axis if isinstance(axis, Sequence) else (axis,)
        positions = [normalise_axis(a, len(shape)) for a in several]
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
        return _view(x, backend.reshape(backend.roll(flat, (sum(shifts),)), shape))
    totals = [0] * len(shape)
    for position, amount in zip(positions, shifts, strict=True):
        totals[position] += amount
    return _view(x, backend.roll(x._handle, tuple(totals)))


@with_twin
def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Remove axes of size 1.

    Parameters
    ----------
    x : Array
    axis : int or tuple of int

    Returns
    -------
    Array
        A view.

    Raises
    ------
    IndexError
        If an axis is out of range.
    ValueError
        If an axis is of another size, or named twice.

    Standard: manipulation functions.
    """
    if type(x) is not Array:
        x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    shape = backend.shape(handle)
    try:
        noted, new = _squeezes[axis, shape]
        if noted is not axis and not _is_plain(axis):
            raise TypeError
    except (KeyError, TypeError):
        axes = _named_axes(axis, len(shape))
        for a in axes:
            if shape[a] != 1:
                raise ValueError(
                    f"cannot squeeze axis {a} of shape {shape}: only axes of size 1 go; "
                    "select an element with an index instead"
                ) from None
        new = tuple([n for a, n in enumerate(shape) if a not in axes])
        _remember(_squeezes, axis, shape, new)
    return _view(x, backend.try_reshape(handle, new))


@with_twin
def stack(arrays: tuple[Array, ...] | list[Array], /, *, axis: int = 0) -> Array:
    """Join arrays along a new axis.

    Parameters
    ----------
    arrays : sequence of Array
        Same shape; dtypes are promoted.
    axis : int
        Where the new axis is in the result.

    Returns
    -------
    Array
        A copy.

    Raises
    ------
    ValueError
        If there are no arrays, or the shapes differ.

    Standard: manipulation functions.
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
    return _view(first, backend.cat(pieces, position))


@with_twin
def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """Repeat a whole array along its axes.

    Parameters
    ----------
    x : Array
    repetitions : tuple of int
        How often along each axis, the last axes first; the shorter of this and the shape is
        filled up with ones in front.

    Returns
    -------
    Array
        A copy.

    Raises
    ------
    ValueError
        If a number is negative.

    Standard: manipulation functions.
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
        return _view(x, backend.empty(merged, x._dtype))
    handle = backend.copy(x._handle)
    for axis, count in enumerate(counts):
        if count > 1:
            # What the earlier axes have become, and what lies within one step of them.
            outer, inner = prod(merged[:axis]), prod(shape[axis:])
            rows = backend.reshape(handle, (outer, 1, inner))
            handle = backend.copy(backend.expand(rows, (outer, count, inner)))
    return _view(x, backend.reshape(handle, merged))


@with_twin
def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Split an array into its slices along an axis, which they lack.

    Parameters
    ----------
    x : Array
        At least one dimension.
    axis : int

    Returns
    -------
    tuple of Array
        Views.

    Raises
    ------
    IndexError
        If the axis is out of range, as any is for a 0-d array.

    Standard: manipulation functions.
    """
    x = only_array(x)
    shape = x.shape
    position = normalise_axis(axis, len(shape))
    backend = x._device.backend
    before = [(0, n, 1) for n in shape[:position]]
    after = [(0, n, 1) for n in shape[position + 1 :]]
    return tuple(
        [_view(x, backend.slice(x._handle, (*before, i, *after))) for i in range(shape[position])]
    )
