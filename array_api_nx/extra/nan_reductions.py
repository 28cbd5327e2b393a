"""Parts of the functions of `nans`.

They make one or two passes over a large array, even if other code may write to its memory, and
compute when they are called: NumPy's warnings need the values.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan, prod
from typing import Final

import numpy as np

from ..contract.callers import warn
from ..contract.numpy_dtypes import DTypeLike
from ..core import dtypes as d
from ..core.dtypes import as_dtype
from ..core.shape import normalise_axes, normalise_axis
from ..frontend import statistical
from ..frontend.array import Array
from ..frontend.data_type import astype
from ..frontend.elementwise import imag, isfinite, isnan, real, square
from ..frontend.evaluation import can_look, in_one_pass
from ..frontend.manipulation import reshape
from ..frontend.operands import only_array
from ..frontend.ranges import arange
from ..frontend.searching import argmax, count_nonzero, where
from ..frontend.utility import all as all_true
from ..frontend.utility import any as any_true
from .axes import along_axis

_ALL_NAN: Final = "All-NaN slice encountered"


def without_nan(x: Array, value: float) -> Array:
    """`x` with `value` in place of NaN."""
    return where(isnan(x), value, x) if x._dtype in d.FLOATING else x


def as_floating(x: Array, dtype: DTypeLike | None) -> Array:
    """`x` in the dtype to compute means in."""
    x = only_array(x)
    target = as_dtype(dtype) if dtype is not None else x._dtype
    if target not in d.FLOATING:
        if dtype is not None:
            raise TypeError(
                f"means are floating-point numbers, not {target}; convert the result with astype"
            )
        target = x._device.real
    return astype(x, target, copy=False)


def sum_and_number(
    x: Array, axis: int | tuple[int, ...] | None, keepdims: bool
) -> tuple[Array, Array]:
    """The sums and the numbers of the elements that are not NaN, in one pass."""

    def total_and_absent(x: Array) -> tuple[Array, Array]:
        missing = isnan(x)
        total = statistical.sum(where(missing, 0, x), axis=axis, keepdims=keepdims)
        return total, count_nonzero(missing, axis=axis, keepdims=keepdims)

    total, absent = in_one_pass(total_and_absent, x)
    shape = x.shape
    return total, prod([shape[a] for a in normalise_axes(axis, len(shape))]) - absent


def divided(total: Array, number: Array) -> Array:
    """The quotients, computed in double precision as in NumPy, of the dtype of `total`.

    Where the device has that.
    """
    double = total._device.real
    wide = d.promote(total._dtype, double)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = astype(total, wide, copy=False) / astype(number, double, copy=False)
        return astype(quotient, total._dtype, copy=False)


def variance_of(
    x: Array,
    axis: int | tuple[int, ...] | None,
    dtype: DTypeLike | None,
    ddof: float,
    correction: float | None,
    keepdims: bool,
) -> Array:
    """See `nanvar`."""
    if correction is not None and ddof != 0:
        raise ValueError("ddof and correction are two names of one number; give one of them")
    taken_off = statistical.real_number(ddof if correction is None else correction)
    x = as_floating(x, dtype)
    total, number = sum_and_number(x, axis, True)
    mean = divided(total, number)

    def variance_and_freedom(x: Array) -> tuple[Array, Array]:
        with np.errstate(invalid="ignore"):
            distance = x - mean
        if x._dtype in d.COMPLEX:
            squares = square(real(distance)) + square(imag(distance))
        else:
            squares = square(distance)
        # A square is NaN where the element is, and where the mean is no number but infinite.
        summed = statistical.sum(without_nan(squares, 0), axis=axis, keepdims=keepdims)
        is_infinite = reshape((number > 0) & ~isfinite(mean), summed.shape)
        freedom = reshape(number, summed.shape) - taken_off
        return where((freedom <= 0) | is_infinite, nan, divided(summed, freedom)), freedom

    variance, freedom = in_one_pass(variance_and_freedom, x)
    if can_look(x) and bool(any_true(freedom <= 0)):
        warn("Degrees of freedom <= 0 for slice.")
    return variance


def extreme_of(
    reduction: Callable[..., Array],
    worst: float,
    x: Array,
    axis: int | tuple[int, ...] | None,
    keepdims: bool,
) -> Array:
    """See `nanmax` and `nanmin`; `worst` is what every number is at least as good as."""
    result = _best(reduction, worst, x, axis, keepdims)
    if result._dtype in d.REAL_FLOATING and can_look(result) and bool(any_true(isnan(result))):
        warn(_ALL_NAN)
    return result


def _best(
    reduction: Callable[..., Array],
    worst: float,
    x: Array,
    axis: int | tuple[int, ...] | None,
    keepdims: bool,
) -> Array:
    """`extreme_of` without its warning."""
    x = only_array(x)
    if x._dtype not in d.REAL_FLOATING:
        return reduction(x, axis=axis, keepdims=keepdims)
    found = in_one_pass(lambda x: reduction(without_nan(x, worst), axis=axis, keepdims=keepdims), x)
    # Few arrays hold so large numbers: there is seldom a second pass.
    if can_look(x) and not bool(any_true(found == worst)):
        return found
    none = in_one_pass(lambda x: all_true(isnan(x), axis=axis, keepdims=keepdims), x)
    return where(none, nan, found)


def found_by(
    search: Callable[..., Array],
    reduction: Callable[..., Array],
    worst: float,
    x: Array,
    axis: int | None,
    keepdims: bool,
) -> Array:
    """See `nanargmax` and `nanargmin`, by where the result of `nanmax` or `nanmin` is."""
    x = only_array(x)
    shape = x.shape
    if x._dtype not in d.REAL_FLOATING or 0 in shape:
        return search(x, axis=axis, keepdims=keepdims)
    x, along = along_axis(x, axis)
    along = normalise_axis(along, x.ndim)
    best = _best(reduction, worst, x, along, True)
    if can_look(best) and bool(any_true(isnan(best))):
        raise ValueError(f"{_ALL_NAN}: no element is a number; test isnan(x) first")

    def first_place(x: Array) -> Array:
        if can_look(x) and along < x.ndim - 1 and x._device.backend.worth_deferring(x.size):
            # NumPy would search True down one column after the other; this is one pass over rows.
            size, inner = x.shape[along], x.ndim - along - 1
            rows = reshape(arange(size, device=x.device), (-1, *(1,) * inner))
            return statistical.min(where(x == best, rows, size), axis=along, keepdims=keepdims)
        return argmax(x == best, axis=along, keepdims=keepdims)

    found = in_one_pass(first_place, x)
    return reshape(found, (1,) * len(shape)) if axis is None and keepdims else found
