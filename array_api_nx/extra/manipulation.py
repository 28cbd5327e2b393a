"""Arrays put together from the elements of others, and other orders of axes and elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from .. import linalg
from ..contract.arguments import Handle
from ..contract.backend import Backend
from ..core import dtypes as d
from ..core.shape import as_int, check_shape
from ..frontend import standard as xp
from ..frontend.annotations import PythonScalar
from ..frontend.array import Array, wrap
from ..frontend.evaluation import can_look
from ..frontend.operands import only_array
from ..frontend.scalars import check_scalar
from ..native import with_advice

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "concatenate",
    "diagonal",
    "pad",
    "ravel",
    "transpose",
]

PadMode: TypeAlias = Literal["constant", "edge", "reflect", "symmetric", "wrap"]
_Constants: TypeAlias = (
    "PythonScalar | tuple[PythonScalar, PythonScalar] | Sequence[tuple[PythonScalar, PythonScalar]]"
)
_Run: TypeAlias = tuple[int, int, int]
"""Where a run of neighbours begins, how many it has, and the step: 1, -1, or 0 for one repeated."""


def concatenate(arrays: Sequence[Array], /, axis: int | None = 0) -> Array:
    """NumPy's name for `concat`: join arrays along an axis that they have.

    arrays: Same shape but for `axis`; dtypes are promoted.
    axis: None flattens each array first.
    Returns: A copy.
    ValueError: If there are no arrays, one is 0-dimensional, or shapes differ elsewhere than on
        `axis`.
    """
    return xp.concat(arrays, axis=axis)  # type: ignore[arg-type]  # any sequence will do


def diagonal(x: Array, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Diagonals of the matrices that two axes make up; by default the first two, as in NumPy.

    `linalg.diagonal` takes the last two.

    x: At least two dimensions.
    offset: Which diagonal: above the main one if positive, below if negative. Empty if there is
        none.
    axis1, axis2: The axes of the rows and of the columns.
    Returns: Without these axes, the diagonals along a new last one. A view where `linalg.diagonal`
        gives one.
    ValueError: If `x` has fewer than two dimensions, or the axes are the same.
    IndexError: If an axis is out of range.

    >>> xp.extra.diagonal(xp.reshape(xp.arange(8), (2, 2, 2)))
    Array([[0, 6],
           [1, 7]], dtype=int64)
    """
    x = only_array(x)
    if x.ndim < 2:
        raise ValueError(
            f"diagonal needs at least two dimensions, but the shape is {x.shape}; "
            "insert axes with expand_dims, or make a matrix with diag"
        )
    return linalg.diagonal(xp.moveaxis(x, (axis1, axis2), (-2, -1)), offset=offset)


def ravel(x: Array, /, order: Literal["C", "F"] = "C") -> Array:
    """All elements along one axis.

    order: "C" goes along the last axis first, "F" along the first.
    Returns: 1-D. A view where the elements lie in memory in that order, else a copy.
    ValueError: If `order` is another one.
    """
    x = only_array(x)
    if order not in ("C", "F"):
        raise ValueError(
            f"ravel goes through the elements in order 'C' or 'F', not {order!r}: the order in "
            "memory does not decide what a function returns; permute the axes first"
        )
    return xp.reshape(transpose(x) if order == "F" else x, (-1,))


def transpose(x: Array, /, axes: Sequence[int] | None = None) -> Array:
    """Axes in another order: the reverse one by default.

    axes: Axis i of the result is axis ``axes[i]`` of `x`.
    Returns: A view.
    ValueError: If `axes` does not name every axis once.
    """
    x = only_array(x)
    return xp.permute_dims(x, tuple(range(x.ndim)[::-1]) if axes is None else tuple(axes))


# ---------------------------------------------------------------------- numbers of axes


def atleast_1d(*arrays: Array) -> Array | tuple[Array, ...]:
    """Arrays with at least one axis.

    *arrays: Of any shape.
    Returns: The array itself, or a view of shape ``(1,)`` if it has no axis; a tuple unless there
        is one array.

    >>> xp.extra.atleast_1d(xp.asarray(3.0))
    Array([3.], dtype=float64)
    """
    return _each([x if x.ndim else xp.reshape(x, (1,)) for x in map(only_array, arrays)])


def atleast_2d(*arrays: Array) -> Array | tuple[Array, ...]:
    """Arrays with at least two axes.

    *arrays: Of any shape.
    Returns: The array itself, or a view with axes of size 1 before its own; a tuple unless there is
        one array.

    >>> xp.extra.atleast_2d(xp.asarray([1, 2]))
    Array([[1, 2]], dtype=int64)
    """
    return _each([_with_two_axes(x) for x in map(only_array, arrays)])


def atleast_3d(*arrays: Array) -> Array | tuple[Array, ...]:
    """Arrays with at least three axes.

    *arrays: Of any shape.
    Returns: The array itself, or a view of it: ``(n,)`` becomes ``(1, n, 1)``, and ``(m, n)``
        becomes ``(m, n, 1)``. A tuple unless there is one array.

    >>> xp.extra.atleast_3d(xp.asarray([1, 2])).shape
    (1, 2, 1)
    """
    return _each([_with_three_axes(x) for x in map(only_array, arrays)])


def _with_three_axes(x: Array) -> Array:
    x = _with_two_axes(x)
    return x if x.ndim > 2 else xp.expand_dims(x, axis=2)


def _with_two_axes(x: Array) -> Array:
    return x if x.ndim > 1 else xp.reshape(x, (1, -1))


def _each(arrays: list[Array]) -> Array | tuple[Array, ...]:
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


# ---------------------------------------------------------------------- margins


@with_advice
def pad(
    x: Array,
    /,
    pad_width: int | tuple[int, int] | Sequence[tuple[int, int]],
    mode: PadMode = "constant",
    *,
    constant_values: _Constants = 0,
) -> Array:
    """An array with a margin around it.

    pad_width: Elements before and after: the same on both sides of every axis, the same pair for
        every axis, or a pair per axis.
    mode ({"constant", "edge", "reflect", "symmetric", "wrap"}): What the margin holds: a constant;
        the element at the edge; the elements mirrored there, without ("reflect") or with the one at
        the edge ("symmetric"); or those of the other end.
    constant_values (scalar, (scalar, scalar) or sequence of (scalar, scalar)): For the mode
        "constant": bool, int, float or complex values of the dtype of `x`, for the sides as in
        `pad_width`. Where margins of two axes meet, the later axis decides.
    Returns: A copy of the dtype of `x`.
    ValueError: If a width is negative, there is not a pair per axis, the mode is unknown, or it
        repeats elements of an axis that has none.
    TypeError: If a width is no int, or `constant_values` no values of the dtype.

    >>> xp.extra.pad(xp.asarray([1, 2]), (1, 2), constant_values=9)
    Array([9, 1, 2, 9, 9], dtype=int64)
    >>> xp.extra.pad(xp.asarray([1, 2, 3]), 2, mode="reflect")
    Array([3, 2, 1, 2, 3, 2, 1], dtype=int64)
    """
    x = only_array(x)
    widths = pairs_per_axis(pad_width, len(x.shape), "pad_width")
    check_shape(tuple([n + sum(pair) for n, pair in zip(x.shape, widths, strict=True)]))
    backend = x._device.backend
    if mode == "constant":
        handle = _with_constants(backend, x, widths, constant_values)
    elif mode in ("edge", "reflect", "symmetric", "wrap"):
        handle = _with_elements(backend, x, widths, mode)
    else:
        raise ValueError(
            f"pad has no mode {mode!r}; give 'constant', 'edge', 'reflect', 'symmetric' or 'wrap'"
        )
    return wrap(handle, x.dtype, x._device)


def _with_constants(
    backend: Backend, x: Array, widths: tuple[tuple[int, int], ...], values: object
) -> Handle:
    if isinstance(values, str) or not isinstance(values, Sequence):
        return backend.pad(x._handle, widths, _value_of(x, values))
    pairs = values if values and isinstance(values[0], Sequence) else [values]
    ndim = len(widths)
    if len(pairs) == 1:
        pairs = list(pairs) * ndim
    if len(pairs) != ndim or any([len(pair) != 2 for pair in pairs]):
        raise ValueError(
            f"constant_values is {values!r}, but {ndim} axes have as many pairs of sides; "
            "give one value, one pair (before, after), or a pair per axis"
        )
    checked = [(_value_of(x, before), _value_of(x, after)) for before, after in pairs]
    handle = x._handle
    copied = False
    for axis, ((before, after), (first, last)) in enumerate(zip(widths, checked, strict=True)):
        for width, value in (((before, 0), first), ((0, after), last)):
            if width != (0, 0):
                margin = ((0, 0),) * axis + (width,) + ((0, 0),) * (ndim - axis - 1)
                handle = backend.pad(handle, margin, value)
                copied = True
    return handle if copied else backend.copy(handle)


def _value_of(x: Array, value: object) -> PythonScalar:
    if x.dtype is d.bool and type(value) is int and value == 0:
        return False
    return check_scalar(value, x.dtype)


def _with_elements(
    backend: Backend, x: Array, widths: tuple[tuple[int, int], ...], mode: PadMode
) -> Handle:
    """`x` with margins of its own elements: each axis is joined of runs of neighbours."""
    shape = backend.shape(x._handle)
    for axis, size in enumerate(shape):
        if size == 0 and widths[axis] != (0, 0):
            raise ValueError(
                f"pad in mode {mode!r} repeats elements, but axis {axis} of shape {x.shape} has "
                "none; use mode 'constant'"
            )
    if can_look(x) and backend.worth_deferring(x.size):
        return _written_around(backend, x, widths, mode)
    handle = x._handle
    copied = False
    for axis, (before, after) in enumerate(widths):
        if before == 0 and after == 0:
            continue
        shape = backend.shape(handle)
        parts = [
            _run_of(backend, handle, [(0, n, 1) for n in shape], axis, run)
            for run in _runs(mode, shape[axis], before, after)
        ]
        handle = backend.cat(parts, axis)
        copied = True
    return handle if copied else backend.copy(handle)


def _written_around(
    backend: Backend, x: Array, widths: tuple[tuple[int, int], ...], mode: PadMode
) -> Handle:
    """`_with_elements` for large arrays, whose elements it copies once and not once per axis."""
    shape = backend.shape(x._handle)
    padded = tuple([a + n + b for (a, b), n in zip(widths, shape, strict=True)])
    result = backend.empty(padded, x.dtype)
    # The part that is written already: whole axes that are done, the middle of the others.
    written = [(before, n, 1) for (before, _), n in zip(widths, shape, strict=True)]
    backend.assign(backend.slice(result, tuple(written)), x._handle)
    for axis, (before, after) in enumerate(widths):
        place = 0
        for start, count, step in _runs(mode, shape[axis], before, after):
            if place != before:
                margin = list(written)
                margin[axis] = (place, count, 1)
                source = _run_of(backend, result, written, axis, (before + start, count, step))
                backend.assign(backend.slice(result, tuple(margin)), source)
            place += count
        written[axis] = (0, padded[axis], 1)
    return result


def _run_of(backend: Backend, handle: Handle, part: Sequence[_Run], axis: int, run: _Run) -> Handle:
    """A run of neighbours along an axis, of a part of an array."""
    start, count, step = run
    selection = list(part)
    selection[axis] = (start, count, step) if step else (start, 1, 1)
    found = backend.slice(handle, tuple(selection))
    if step:
        return found
    shape = backend.shape(found)
    return backend.expand(found, (*shape[:axis], count, *shape[axis + 1 :]))


def _runs(mode: PadMode, size: int, before: int, after: int) -> Iterator[_Run]:
    """The runs that a padded axis of `size` elements, at least one, consists of, in order."""
    if mode == "edge" or (mode == "reflect" and size == 1):
        runs = [(0, before, 0), (0, size, 1), (size - 1, after, 0)]
        yield from [run for run in runs if run[1] != 0]
        return
    # From the axis outwards, its copies; every other one is mirrored, unless it is wrapped. The
    # mode "reflect" skips the first element of a copy, which the one before has ended with.
    skip = 1 if mode == "reflect" else 0
    left: list[_Run] = []
    right: list[_Run] = []
    for side, width in ((left, before), (right, after)):
        mirrored = mode != "wrap"
        while width > 0:
            count = min(width, size - skip)
            if side is left:
                start = count - 1 + skip if mirrored else size - skip - count
            else:
                start = size - 1 - skip if mirrored else skip
            side.append((start, count, -1 if mirrored else 1))
            width -= count
            mirrored = mode != "wrap" and not mirrored
    yield from (*left[::-1], (0, size, 1), *right)


def pairs_per_axis(widths: object, ndim: int, name: str) -> tuple[tuple[int, int], ...]:
    """Numbers of elements before and after, per axis."""
    if not isinstance(widths, Sequence):
        both = as_int(widths, name)
        pairs = [(both, both)] * ndim
    elif len(widths) == 2 and not any([isinstance(width, Sequence) for width in widths]):
        pairs = [(as_int(widths[0], name), as_int(widths[1], name))] * ndim
    else:
        if len(widths) == 1 and isinstance(widths[0], Sequence):
            widths = list(widths) * ndim
        if len(widths) != ndim or any([not isinstance(w, Sequence) or len(w) != 2 for w in widths]):
            raise ValueError(
                f"{name} is {widths!r}, but {ndim} axes need as many pairs (before, after); "
                "give one pair for all of them, or one for each"
            )
        pairs = [(as_int(before, name), as_int(after, name)) for before, after in widths]
    if any([width < 0 for pair in pairs for width in pair]):
        raise ValueError(f"{name} is {widths!r}, but widths must not be negative; slice the array")
    return tuple(pairs)
