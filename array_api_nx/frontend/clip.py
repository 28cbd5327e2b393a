"""`clip`: elements limited to a range."""

from __future__ import annotations

from ..contract.arguments import Operand
from ..core.dtypes import BOUNDS, INTEGRAL, DType, holds
from ..core.shape import broadcast_shapes
from ..native import with_native
from ..primitives import table as p
from .array import Array, wrap
from .dispatch import operand_dtypes
from .operands import ArrayOrScalar, array_operand, as_array, cast, operands
from .scalars import check_scalar


@with_native
def clip(
    x: Array,
    /,
    min: Array | int | float | None = None,
    max: Array | int | float | None = None,
) -> Array:
    """Each element limited to the range from `min` to `max`.

    Where `min` is greater than `max`, the result is `max`. Where one of the three is NaN, so is
    the result.

    x: A real dtype.
    min, max (Array, scalar or None): Limits that broadcast with `x`; None for no limit. Python ints
        beyond the bounds of an integer dtype stand for the bound.
    Returns: A new array of the shape that all broadcast to. Its dtype is that of `x`, unless a
        limit of a wider dtype or another kind promotes it.
    TypeError: If `x` is no array, a limit is neither array nor scalar, or the dtype is not legal.
    ValueError: If the shapes do not broadcast, or the devices differ.
    """
    if type(x) is Array and x._dtype in p.CLIP.results:
        dtype = x._dtype
        if (
            (min is not None or max is not None)
            and (min is None or holds(dtype, min))
            and (max is None or holds(dtype, max))
        ):
            device = x._device
            return wrap(device.backend.clip(x._handle, min, max), dtype, device)
    return _clip(x, min, max)


def _clip(x: Array, low: Array | int | float | None, high: Array | int | float | None) -> Array:
    """The rest of `clip`: no limits, arrays as limits, mixed dtypes, errors."""
    x = array_operand(x)
    given = []
    for name, limit in (("min", low), ("max", high)):
        if limit is not None:
            as_array(limit, name)
            given.append(limit)
    (value, *limits), dtype, device = operands(x, *given)
    dtype, _ = operand_dtypes(p.CLIP, dtype, device)
    shape = broadcast_shapes(*[each.shape for each in (value, *limits) if type(each) is Array])
    handles = [_limit(limit, dtype) for limit in limits]
    backend = device.backend
    handle = _limit(value, dtype)
    if not handles:
        return wrap(backend.copy(handle), dtype, device)
    if backend.shape(handle) != shape:
        handle = backend.expand(handle, shape)
    minimum = None if low is None else handles.pop(0)
    maximum = None if high is None else handles.pop()
    return wrap(backend.clip(handle, minimum, maximum), dtype, device)


def _limit(limit: ArrayOrScalar, dtype: DType) -> Operand:
    """A backend's operand of `dtype`; an int beyond the bounds of the dtype becomes the bound."""
    if type(limit) is Array:
        return cast(limit, dtype)._handle
    if type(limit) is int and dtype in INTEGRAL:
        return sorted((limit, *BOUNDS[dtype]))[1]
    return check_scalar(limit, dtype)
