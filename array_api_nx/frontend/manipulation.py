"""Manipulation functions: what moves, joins and repeats elements without computing.

A result is a view of its argument's memory wherever strides can express it, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, Final, TypeVar

from ..contract.arguments import Handle
from ..core import shape as core_shape
from ..core.shape import as_int, as_shape, check_shape, normalise_axes, resolve_reshape
from ..native import with_native
from ..tracing.recorder import rely_on_layout
from .array import Array, wrap
from .operands import only_array

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "reshape",
    "squeeze",
]

# Bounded as the views' tables are: emptied when full.
_MAX_MEMOS: Final = 1 << 12
Value = TypeVar("Value")


def _is_plain(argument: object) -> bool:
    """Whether an axis argument is None, an int, or a tuple of ints."""
    if type(argument) is tuple:
        return type(sum(argument)) is int
    return argument is None or type(argument) is int


def _remembered(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function of a shape, or a number of dimensions, and axis arguments, which repeat in loops.

    1.0 is equal to 1, but no axis: a result is used again if the arguments are the very objects
    that were noted, as constants in a loop are, or are made of ints.
    """
    memo: dict[object, tuple[tuple[object, ...], Value]] = {}

    @wraps(function)
    def found(context: object, *given: object) -> Value:
        try:
            noted, value = memo[context, given]
            if all([new is old or _is_plain(new) for new, old in zip(given, noted, strict=True)]):
                return value
        except (KeyError, TypeError):
            pass
        value = function(context, *given)
        if all([_is_plain(each) for each in given]):
            if len(memo) >= _MAX_MEMOS:
                memo.clear()
            memo[context, given] = given, value
        return value

    vars(found)["memo"] = memo
    return found


def _named_axes(axes: int | Sequence[int], ndim: int) -> tuple[int, ...]:
    """`axes` counted from the front, where None does not stand for all of them."""
    several: Any = (axes,) if axes is None else axes
    return normalise_axes(several, ndim)


def as_view(x: Array, handle: Handle) -> Array:
    """An array of the dtype and device of `x`."""
    return wrap(handle, x._dtype, x._device)


@with_native
def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Broadcast arrays against one another.

    *arrays: Any shapes that broadcast; dtypes are left alone.
    Returns: Read-only views of the common shape.
    ValueError: If the shapes do not broadcast.
    """
    arrays = tuple([only_array(x, "an array") for x in arrays])
    shape = core_shape.broadcast_shapes(*[x.shape for x in arrays])
    return tuple([broadcast_to(x, shape) for x in arrays])


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that shapes broadcast to.

    Returns: ``()`` for no shapes.
    ValueError: If the shapes do not broadcast.
    """
    return core_shape.broadcast_shapes(*[as_shape(shape) for shape in shapes])


@with_native
def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    """Repeat an array along axes of size 1 and new leading axes.

    shape: What the shape of `x` broadcasts to.
    Returns: A view in which repeated elements share memory; not writeable where any do.
    ValueError: If `x` does not broadcast to `shape`.
    """
    x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    return as_view(x, backend.expand(handle, _expanded(backend.shape(handle), shape)))


@_remembered
def _expanded(old: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    new = as_shape(shape)
    lead = len(new) - len(old)
    if lead < 0 or any([n not in (m, 1) for n, m in zip(old, new[lead:], strict=True)]):
        raise ValueError(
            f"cannot broadcast shape {old} to {new}: sizes must agree or be 1, and new axes "
            "come in front; insert axes with expand_dims first"
        )
    return new


@with_native
def expand_dims(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Insert axes of size 1.

    axis: Where the new axes are in the result.
    Returns: A view.
    IndexError: If an axis is out of range for the result.
    ValueError: If an axis is named twice.
    """
    x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    return as_view(x, backend.try_reshape(handle, _inserted(backend.shape(handle), axis)))


@_remembered
def _inserted(shape: tuple[int, ...], axis: int | tuple[int, ...]) -> tuple[int, ...]:
    ndim = len(shape) + (len(axis) if isinstance(axis, Sequence) else 1)
    axes = _named_axes(axis, ndim)
    sizes = iter(shape)
    new = tuple([1 if a in axes else next(sizes) for a in range(ndim)])
    check_shape(new)
    return new


@with_native
def flip(x: Array, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """Reverse the order of elements along axes.

    axis: None reverses all axes.
    Returns: A view.
    IndexError, ValueError: If an axis is out of range or named twice.
    """
    x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    return as_view(x, backend.flip(handle, _flipped(len(backend.shape(handle)), axis)))


@_remembered
def _flipped(ndim: int, axis: int | tuple[int, ...] | None) -> tuple[bool, ...]:
    axes = normalise_axes(axis, ndim)
    return tuple([a in axes for a in range(ndim)])


@with_native
def moveaxis(
    x: Array,
    source: int | tuple[int, ...],
    destination: int | tuple[int, ...],
    /,
) -> Array:
    """Move axes to new places; the others keep their order.

    source, destination: Axes, and where each goes; equally many.
    Returns: A view.
    IndexError, ValueError: If an axis is out of range or named twice, or the numbers differ.
    """
    x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    axes = _moved(len(backend.shape(handle)), source, destination)
    return as_view(x, backend.permute(handle, axes))


@_remembered
def _moved(
    ndim: int, source: int | Sequence[int], destination: int | Sequence[int]
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


@with_native
def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """Reorder axes.

    axes: Axis i of the result is axis ``axes[i]`` of `x`.
    Returns: A view.
    IndexError, ValueError: If `axes` is not a permutation of the axes of `x`.
    """
    x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    return as_view(x, backend.permute(handle, _permutation(len(backend.shape(handle)), axes)))


@_remembered
def _permutation(ndim: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    permutation = _named_axes(tuple(axes) if isinstance(axes, Iterable) else axes, ndim)
    if len(permutation) != ndim:
        raise ValueError(
            f"axes {axes} do not permute {ndim} dimensions; name each of {tuple(range(ndim))} once"
        )
    return permutation


def transpose(x: Array) -> Array:
    """The attribute ``T``: a view with all axes in reverse order, as in NumPy.

    The standard has it for two axes alone, and strict namespaces refuse others.
    """
    backend = x._device.backend
    handle = x._handle
    axes = tuple(range(len(backend.shape(handle))))
    return as_view(x, backend.permute(handle, axes[::-1]))


@with_native
def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """The same elements, in row-major order, under another shape.

    shape: One size may be -1: it is worked out from the others.
    copy: True always copies, False never does, None copies only if no view can express the result.
    ValueError: If the number of elements differs, or a copy is needed and `copy` is False.
    """
    x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    old = backend.shape(handle)
    new = _reshaped(old, shape)
    if copy:
        return as_view(x, backend.reshape(backend.copy(handle), new))
    view = backend.try_reshape(handle, new)
    if copy is not None:
        rely_on_layout(handle)
        if view is None:
            raise ValueError(
                f"cannot reshape {old} into {new} without a copy: the elements do not lie in "
                "memory in that order; use copy=None"
            )
    return as_view(x, backend.reshape(handle, new) if view is None else view)


@_remembered
def _reshaped(old: tuple[int, ...], shape: int | Sequence[int]) -> tuple[int, ...]:
    several = shape if isinstance(shape, Sequence) else (shape,)
    return resolve_reshape(old, tuple([as_int(n, "a size") for n in several]))


@with_native
def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """Remove axes of size 1.

    Returns: A view.
    ValueError: If an axis is of another size, or named twice.
    """
    x = only_array(x)
    backend = x._device.backend
    handle = x._handle
    return as_view(x, backend.try_reshape(handle, _squeezed(backend.shape(handle), axis)))


@_remembered
def _squeezed(shape: tuple[int, ...], axis: int | tuple[int, ...]) -> tuple[int, ...]:
    axes = _named_axes(axis, len(shape))
    for a in axes:
        if shape[a] != 1:
            raise ValueError(
                f"cannot squeeze axis {a} of shape {shape}: only axes of size 1 go; "
                "select an element with an index instead"
            )
    return tuple([n for a, n in enumerate(shape) if a not in axes])
