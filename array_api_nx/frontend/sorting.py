"""Sorting functions. NaN comes last, whichever the direction."""

from __future__ import annotations

from ..core.shape import normalise_axis
from ..native import with_native
from ..primitives import table as p
from .array import Array, wrap
from .dispatch import refuse_dtype
from .operands import array_operand, wrap_indices

__all__ = ["argsort", "sort"]


@with_native
def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Indices that sort an array.

    x: Real or bool, at least one axis.
    axis: Axis to sort along.
    Returns: A copy of dtype int64 and the shape of `x`.
    TypeError: If `x` is complex.
    """
    x = array_operand(x)
    if x._dtype not in p.ARGSORT.results:
        refuse_dtype(p.ARGSORT, x._dtype)
    device = x._device
    backend = device.backend
    handle = x._handle
    axis = normalise_axis(axis, len(backend.shape(handle)))
    indices = backend.argsort(handle, axis, descending=descending, stable=stable)
    return wrap_indices(indices, device)


@with_native
def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements in order.

    x: Real or bool, at least one axis.
    axis: Axis to sort along.
    Returns: A copy of the dtype and shape of `x`.
    TypeError: If `x` is complex.
    """
    x = array_operand(x)
    dtype = x._dtype
    if dtype not in p.SORT.results:
        refuse_dtype(p.SORT, dtype)
    device = x._device
    backend = device.backend
    handle = x._handle
    axis = normalise_axis(axis, len(backend.shape(handle)))
    return wrap(backend.sort(handle, axis, descending=descending, stable=stable), dtype, device)
