"""Searching functions: where elements are, and which of two to take."""

from __future__ import annotations

from typing import Final, Literal, overload

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import BOUNDS, holds
from ..core.shape import broadcast_shapes
from ..native import with_native
from ..primitives import table as p
from .array import Array, wrap
from .dispatch import arg_reduce, operand_dtypes, reduce, with_sign_of
from .operands import (
    ArrayOrScalar,
    array_operand,
    as_array,
    beside,
    cast,
    int64_operand,
    only_array,
    operands,
    together,
    wrap_indices,
)
from .scalars import check_scalar, is_beyond

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]

_BOOL: Final = d.bool


@with_native
def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Index of the first largest element, or of the first NaN.

    x: Real or bool.
    axis: Axis to search along; by default the array is searched as if flattened.
    Returns: A copy of dtype int64.
    ValueError: If there is nothing to search.
    """
    return arg_reduce(p.ARGMAX, x, axis, keepdims)


@with_native
def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Index of the first smallest element, or of the first NaN.

    x: Real or bool.
    axis: Axis to search along; by default the array is searched as if flattened.
    Returns: A copy of dtype int64.
    ValueError: If there is nothing to search.
    """
    return arg_reduce(p.ARGMIN, x, axis, keepdims)


@with_native
def count_nonzero(
    x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> Array:
    """Number of elements that are not zero.

    x: Any dtype; NaN is not zero.
    Returns: A copy of dtype int64.
    """
    counts = reduce(p.COUNT_NONZERO, x, axis, keepdims)
    return cast(counts, counts._device.integral)


@with_native
def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Indices of the elements that are not zero, in row-major order.

    x: Any dtype, at least one axis.
    Returns: Per axis of `x`, a 1-D copy of dtype int64.
    ValueError: If `x` has no axes.
    """
    x = array_operand(x)
    if x.ndim == 0:
        raise ValueError(
            "nonzero needs at least one axis, and a 0-d array has none; "
            "give it one with reshape(x, (1,))"
        )
    device = x._device
    return tuple([wrap_indices(handle, device) for handle in device.backend.nonzero(x._handle)])


@with_native
def searchsorted(
    x1: Array,
    x2: Array | int | float,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: Array | None = None,
) -> Array:
    """Where to insert values into a sorted array so that it stays sorted.

    x1: Real or bool, 1-D, ascending with NaN last, unless `sorter` says how to sort it.
    x2: The values. The dtypes are promoted, but integers compared exactly, whatever dtypes, or
        sizes of Python ints, come together.
    side: Whether to give the position before elements equal to a value, or after them.
    sorter: Integer indices that sort `x1`, of its shape.
    Returns: A copy of dtype int64 and the shape of `x2`.
    ValueError: If `x1` is not 1-D, `sorter` has another shape, or `side` is neither word.
    TypeError: If a dtype is complex, or that of `sorter` not integral.
    IndexError: If a search meets an index in `sorter` that is out of range.
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right', not {side!r}")
    x1 = only_array(x1, "x1")
    if sorter is not None:
        x1, sorter = together(x1, only_array(sorter, "sorter"))
    (first, second), dtype, device = operands(x1, x2)
    array = only_array(first, "x1")
    compute, _ = operand_dtypes(p.SEARCHSORTED, dtype, device)
    if array.ndim != 1:
        raise ValueError(
            f"searchsorted needs a 1-dimensional x1, not shape {array.shape}; "
            "search row by row, or flatten it with reshape(x1, (-1,))"
        )
    backend = device.backend
    if type(second) is Array and (array._dtype, second._dtype) in d.ROUNDED:
        wanted, beyond = with_sign_of(array, second)
        found = searchsorted(cast(array, wanted._dtype), wanted, side=side, sorter=sorter)
        return where(beyond, 0 if array._dtype is d.uint64 else array.shape[0], found)
    haystack = cast(array, compute)._handle
    if sorter is not None:
        haystack = backend.take(haystack, _sorter_handle(beside(array, sorter), array), 0)
    if type(second) is Array:
        values = cast(second, compute)._handle
    elif is_beyond(second, compute):
        place = array.shape[0] if second > BOUNDS[compute][1] else 0
        return wrap_indices(backend.full((), d.int64, place), device)
    else:
        values = backend.full((), compute, check_scalar(second, compute))
    return wrap_indices(backend.searchsorted(haystack, values, right=side == "right"), device)


def _sorter_handle(sorter: Array, x1: Array) -> object:
    if sorter._dtype not in d.INTEGRAL:
        raise TypeError(
            f"sorter must hold integer indices, not {sorter._dtype}; get them with argsort(x1)"
        )
    if sorter.shape != x1.shape:
        raise ValueError(
            f"sorter of shape {sorter.shape} does not sort an x1 of shape {x1.shape}: it needs one "
            "index per element; get them with argsort(x1)"
        )
    return int64_operand(sorter)._handle


@overload
def where(condition: Array, x1: ArrayOrScalar, x2: ArrayOrScalar, /) -> Array: ...
@overload
def where(condition: Array, /) -> tuple[Array, ...]: ...
@with_native
def where(
    condition: Array, x1: ArrayOrScalar | None = None, x2: ArrayOrScalar | None = None, /
) -> Array | tuple[Array, ...]:
    """Elements of `x1` where a condition holds, of `x2` elsewhere.

    With a condition alone this is ``nonzero(condition)``, as in NumPy: scikit-learn calls it so.

    condition: Bool.
    x1, x2 (Array, bool, int, float or complex): Any shapes that broadcast with each other and with
        `condition`; dtypes are promoted. Two scalars promote as arrays of the default dtypes of
        their kinds.
    Returns (Array): A copy of the shape that all three broadcast to.
    TypeError: If `condition` is not bool.
    ValueError: If the shapes do not broadcast.
    OverflowError: If an int scalar is out of range for the dtype.
    """
    if x1 is None or x2 is None:
        if x1 is not x2:
            raise TypeError("where takes a condition, or a condition and two values")
        return nonzero(condition)
    array, other = (x1, x2) if type(x1) is Array else (x2, x1)
    if type(condition) is Array and condition._dtype is _BOOL and type(array) is Array:
        device = array._device
        dtype = array._dtype
        if type(other) is Array:
            alike = other._dtype is dtype and other._device is device
        else:
            alike = holds(dtype, other)
        if alike and condition._device is device:
            first, second = [x._handle if type(x) is Array else x for x in (x1, x2)]
            try:
                handle = device.backend.where(condition._handle, first, second)
            except ValueError:
                broadcast_shapes(condition.shape, _shape(x1), _shape(x2))
                raise
            return wrap(handle, dtype, device)
    return _where(condition, x1, x2)


def _where(condition: Array, x1: ArrayOrScalar, x2: ArrayOrScalar) -> Array:
    """The rest of `where`: mixed dtypes, two scalars, NumPy scalars, errors."""
    mask = array_operand(condition, "condition")
    if mask._dtype is not _BOOL:
        raise TypeError(
            f"condition must be a bool array, not {mask._dtype}; compare it with something, as in "
            "condition != 0, or convert it with astype(condition, bool)"
        )
    as_array(x1, "x1")
    as_array(x2, "x2")
    # The condition counts for the device; bool promotes to any other dtype.
    given = condition if isinstance(condition, np.generic) else mask
    (mask_, *choices), dtype, device = operands(given, x1, x2)
    handles = [
        cast(x, dtype)._handle if type(x) is Array else check_scalar(x, dtype) for x in choices
    ]
    backend = device.backend
    if type(choices[0]) is not Array and type(choices[1]) is not Array:
        handles[0] = backend.full((), dtype, handles[0])
    try:
        handle = backend.where(only_array(mask_)._handle, *handles)
    except ValueError:
        broadcast_shapes(mask.shape, _shape(choices[0]), _shape(choices[1]))
        raise
    return wrap(handle, dtype, device)


def _shape(x: ArrayOrScalar) -> tuple[int, ...]:
    return x.shape if type(x) is Array else ()
