"""Reductions and scans that leave NaN out.

They make one or two passes over a large array, even if other code may write to its memory, and
compute when they are called: NumPy's warnings need the values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nan, prod
from typing import Final

import numpy as np

from ..contract.callers import warn
from ..contract.numpy_dtypes import DTypeLike, NDArray
from ..core import dtypes as d
from ..core.dtypes import as_dtype
from ..core.shape import normalise_axes, normalise_axis
from ..frontend import standard as xp
from ..frontend import statistical
from ..frontend.array import Array
from ..frontend.evaluation import can_look, in_one_pass
from ..frontend.operands import only_array
from .order_statistics import median_of, quantile_of
from .statistical import along_axis

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
]

_ALL_NAN: Final = "All-NaN slice encountered"


def nanargmax(x: Array, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Index of the first largest element that is not NaN.

    x: Real or bool.
    axis: Axis to search along; by default the array is searched as if flattened.
    Returns: A copy of dtype int64.
    ValueError: If there is nothing to search, or nothing but NaN. (In a function that is traced,
        and on devices whose memory is not the host's, the index among NaN alone is 0.)

    >>> xp.extra.nanargmax(xp.asarray([2.0, float("nan"), 4.0]))
    Array(2, dtype=int64)
    """
    return _found_by(xp.argmax, xp.max, -inf, x, axis, keepdims)


def nanargmin(x: Array, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Index of the first smallest element that is not NaN.

    x: Real or bool.
    axis: Axis to search along; by default the array is searched as if flattened.
    Returns: A copy of dtype int64.
    ValueError: If there is nothing to search, or nothing but NaN. (In a function that is traced,
        and on devices whose memory is not the host's, the index among NaN alone is 0.)

    >>> xp.extra.nanargmin(xp.asarray([2.0, float("nan"), 4.0]))
    Array(0, dtype=int64)
    """
    return _found_by(xp.argmin, xp.min, inf, x, axis, keepdims)


def nancumprod(x: Array, /, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Products of all elements up to each one that are not NaN.

    x: Numeric or bool.
    axis: The axis to go along; by default the array is flattened.
    Returns: A copy of dtype `dtype` and the shape of `x`, 1-D without `axis`. 1 before the first
        element that is not NaN.

    >>> xp.extra.nancumprod(xp.asarray([2.0, float("nan"), 4.0]))
    Array([2., 2., 8.], dtype=float64)
    """
    x, axis = along_axis(x, axis)
    scan = xp.cumulative_prod
    return in_one_pass(lambda x: scan(_without_nan(x, 1), axis=axis, dtype=dtype), x)


def nancumsum(x: Array, /, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Sums of all elements up to each one that are not NaN.

    x: Numeric or bool.
    axis: The axis to go along; by default the array is flattened.
    Returns: A copy of dtype `dtype` and the shape of `x`, 1-D without `axis`. 0 before the first
        element that is not NaN.

    >>> xp.extra.nancumsum(xp.asarray([2.0, float("nan"), 4.0]))
    Array([2., 2., 6.], dtype=float64)
    """
    x, axis = along_axis(x, axis)
    scan = xp.cumulative_sum
    return in_one_pass(lambda x: scan(_without_nan(x, 0), axis=axis, dtype=dtype), x)


def nanmax(
    x: Array, /, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False
) -> Array:
    """Largest elements that are not NaN; NaN where there are none.

    x: Real or bool.
    Returns: A copy of the dtype of `x`.
    ValueError: If a reduced axis is empty.
    TypeError: If `x` is complex.
    RuntimeWarning: Where there is nothing but NaN, on devices whose memory the host reads.

    >>> xp.extra.nanmax(xp.asarray([2.0, float("nan"), 4.0]))
    Array(4., dtype=float64)
    """
    return _extreme_of(xp.max, -inf, x, axis, keepdims)


def nanmean(
    x: Array,
    /,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    *,
    keepdims: bool = False,
) -> Array:
    """Arithmetic means of the elements that are not NaN; NaN over none.

    x: Numeric or bool.
    dtype: Floating-point; what to convert elements to first.
    Returns: A copy of dtype `dtype`; without it, of the dtype of `x`, or float64 for integers and
        bool.
    TypeError: If `dtype` is not floating-point, or real for complex `x`.
    RuntimeWarning: Over no elements, on devices whose memory the host reads.

    >>> xp.extra.nanmean(xp.asarray([[2.0, float("nan")], [4.0, 1.0]]), axis=1)
    Array([2. , 2.5], dtype=float64)
    """
    x = _as_floating(x, dtype)
    total, number = _sum_and_number(x, axis, keepdims)
    mean = _divided(total, number)
    if can_look(x) and bool(xp.any(number == 0)):
        warn("Mean of empty slice")
    return mean


def nanmedian(
    x: Array, /, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False
) -> Array:
    """Middle elements, or the means of the two in the middle, of those that are not NaN.

    x: Real or bool.
    Returns: A copy of the dtype of `x`, or float64 for integers and bool. NaN over nothing but NaN.
    TypeError: If `x` is complex.
    RuntimeWarning: Over nothing but NaN, on devices whose memory the host reads.

    >>> xp.extra.nanmedian(xp.asarray([2.0, float("nan"), 4.0]))
    Array(3., dtype=float64)
    """
    return median_of(x, axis, keepdims, skips_nan=True)


def nanmin(
    x: Array, /, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False
) -> Array:
    """Smallest elements that are not NaN; NaN where there are none.

    x: Real or bool.
    Returns: A copy of the dtype of `x`.
    ValueError: If a reduced axis is empty.
    TypeError: If `x` is complex.
    RuntimeWarning: Where there is nothing but NaN, on devices whose memory the host reads.

    >>> xp.extra.nanmin(xp.asarray([2.0, float("nan"), 4.0]))
    Array(2., dtype=float64)
    """
    return _extreme_of(xp.min, inf, x, axis, keepdims)


def nanprod(
    x: Array,
    /,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    *,
    keepdims: bool = False,
) -> Array:
    """Products of the elements that are not NaN; 1 over none.

    x: Numeric or bool.
    Returns: A copy of dtype `dtype`.

    >>> xp.extra.nanprod(xp.asarray([2.0, float("nan"), 4.0]))
    Array(8., dtype=float64)
    """
    return in_one_pass(
        lambda x: xp.prod(_without_nan(x, 1), axis=axis, dtype=dtype, keepdims=keepdims), x
    )


def nanquantile(
    x: Array,
    /,
    q: float | Array | NDArray | Sequence[float],
    axis: int | tuple[int, ...] | None = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """Values below which given parts lie of the elements that are not NaN.

    x: Real.
    q: The parts, from 0 to 1, of any shape.
    method: How to estimate quantiles between elements; see `quantile`, which has all that is said
        of `q`, the methods and the dtypes.
    Returns: A copy of the shape of `q`, followed by that of `x` without the reduced axes. NaN over
        nothing but NaN.
    ValueError: If `q` is not between 0 and 1, or there is no such method.
    TypeError: As for `quantile`.
    RuntimeWarning: Over nothing but NaN, on devices whose memory the host reads.

    >>> xp.extra.nanquantile(xp.asarray([2.0, float("nan"), 4.0]), [0.0, 0.25])
    Array([2. , 2.5], dtype=float64)
    """
    return quantile_of(x, q, axis, method, keepdims, skips_nan=True)


def nanstd(
    x: Array,
    /,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    *,
    ddof: int | float = 0,
    correction: int | float | None = None,
    keepdims: bool = False,
) -> Array:
    """Standard deviations: square roots of `nanvar`, which describes the rest.

    dtype: Floating-point; what to convert elements to first.
    ddof, correction (int or float): As for `nanvar`.
    Returns: A copy of the real dtype of `x`, or of `dtype`; float64 for integers and bool.

    >>> xp.extra.nanstd(xp.asarray([2.0, float("nan"), 4.0]))
    Array(1., dtype=float64)
    """
    return xp.sqrt(_variance_of(x, axis, dtype, ddof, correction, keepdims))


def nansum(
    x: Array,
    /,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    *,
    keepdims: bool = False,
) -> Array:
    """Sums of the elements that are not NaN; 0 over none.

    x: Numeric or bool.
    Returns: A copy of dtype `dtype`.

    >>> xp.extra.nansum(xp.asarray([2.0, float("nan"), 4.0]))
    Array(6., dtype=float64)
    """
    return in_one_pass(
        lambda x: xp.sum(_without_nan(x, 0), axis=axis, dtype=dtype, keepdims=keepdims), x
    )


def nanvar(
    x: Array,
    /,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    *,
    ddof: int | float = 0,
    correction: int | float | None = None,
    keepdims: bool = False,
) -> Array:
    """Variances of the elements that are not NaN.

    x: Numeric or bool.
    dtype: Floating-point; what to convert elements to first.
    ddof, correction (int or float): Degrees of freedom to take off the number of elements in the
        divisor: NumPy's name for it, and the standard's.
    Returns: A copy of the real dtype of `x`, or of `dtype`; float64 for integers and bool. NaN
        where the divisor is not positive.
    ValueError: If both `ddof` and `correction` are given.
    TypeError: If `dtype` is not floating-point, or real for complex `x`; if `ddof` is no real
        number.
    RuntimeWarning: Where the divisor is not positive, on devices whose memory the host reads.

    >>> xp.extra.nanvar(xp.asarray([2.0, float("nan"), 4.0]))
    Array(1., dtype=float64)
    """
    return _variance_of(x, axis, dtype, ddof, correction, keepdims)


# ---------------------------------------------------------------------- parts of these functions


def _without_nan(x: Array, value: float) -> Array:
    """`x` with `value` in place of NaN."""
    return xp.where(xp.isnan(x), value, x) if x._dtype in d.FLOATING else x


def _as_floating(x: Array, dtype: DTypeLike | None) -> Array:
    """`x` in the dtype to compute means in."""
    x = only_array(x)
    target = as_dtype(dtype) if dtype is not None else x._dtype
    if target not in d.FLOATING:
        if dtype is not None:
            raise TypeError(
                f"means are floating-point numbers, not {target}; convert the result with astype"
            )
        target = x._device.real
    return xp.astype(x, target, copy=False)


def _sum_and_number(
    x: Array, axis: int | tuple[int, ...] | None, keepdims: bool
) -> tuple[Array, Array]:
    """The sums and the numbers of the elements that are not NaN, in one pass."""

    def total_and_absent(x: Array) -> tuple[Array, Array]:
        missing = xp.isnan(x)
        total = xp.sum(xp.where(missing, 0, x), axis=axis, keepdims=keepdims)
        return total, xp.count_nonzero(missing, axis=axis, keepdims=keepdims)

    total, absent = in_one_pass(total_and_absent, x)
    shape = x.shape
    return total, prod([shape[a] for a in normalise_axes(axis, len(shape))]) - absent


def _divided(total: Array, number: Array) -> Array:
    """The quotients, computed in double precision as in NumPy, of the dtype of `total`.

    Where the device has that.
    """
    double = total._device.real
    wide = d.promote(total._dtype, double)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = xp.astype(total, wide, copy=False) / xp.astype(number, double, copy=False)
        return xp.astype(quotient, total._dtype, copy=False)


def _variance_of(
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
    x = _as_floating(x, dtype)
    total, number = _sum_and_number(x, axis, True)
    mean = _divided(total, number)

    def variance_and_freedom(x: Array) -> tuple[Array, Array]:
        with np.errstate(invalid="ignore"):
            distance = x - mean
        if x._dtype in d.COMPLEX:
            squares = xp.square(xp.real(distance)) + xp.square(xp.imag(distance))
        else:
            squares = xp.square(distance)
        # A square is NaN where the element is, and where the mean is no number but infinite.
        summed = xp.sum(_without_nan(squares, 0), axis=axis, keepdims=keepdims)
        is_infinite = xp.reshape((number > 0) & ~xp.isfinite(mean), summed.shape)
        freedom = xp.reshape(number, summed.shape) - taken_off
        return xp.where((freedom <= 0) | is_infinite, nan, _divided(summed, freedom)), freedom

    variance, freedom = in_one_pass(variance_and_freedom, x)
    if can_look(x) and bool(xp.any(freedom <= 0)):
        warn("Degrees of freedom <= 0 for slice.")
    return variance


def _extreme_of(
    reduction: Callable[..., Array],
    worst: float,
    x: Array,
    axis: int | tuple[int, ...] | None,
    keepdims: bool,
) -> Array:
    """See `nanmax` and `nanmin`; `worst` is what every number is at least as good as."""
    result = _best(reduction, worst, x, axis, keepdims)
    if result._dtype in d.REAL_FLOATING and can_look(result) and bool(xp.any(xp.isnan(result))):
        warn(_ALL_NAN)
    return result


def _best(
    reduction: Callable[..., Array],
    worst: float,
    x: Array,
    axis: int | tuple[int, ...] | None,
    keepdims: bool,
) -> Array:
    """`_extreme_of` without its warning."""
    x = only_array(x)
    if x._dtype not in d.REAL_FLOATING:
        return reduction(x, axis=axis, keepdims=keepdims)
    found = in_one_pass(
        lambda x: reduction(_without_nan(x, worst), axis=axis, keepdims=keepdims), x
    )
    # Few arrays hold so large numbers: there is seldom a second pass.
    if can_look(x) and not bool(xp.any(found == worst)):
        return found
    none = in_one_pass(lambda x: xp.all(xp.isnan(x), axis=axis, keepdims=keepdims), x)
    return xp.where(none, nan, found)


def _found_by(
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
    if can_look(best) and bool(xp.any(xp.isnan(best))):
        raise ValueError(f"{_ALL_NAN}: no element is a number; test isnan(x) first")

    def first_place(x: Array) -> Array:
        if can_look(x) and along < x.ndim - 1 and x._device.backend.worth_deferring(x.size):
            # NumPy would search True down one column after the other; this is one pass over rows.
            size, inner = x.shape[along], x.ndim - along - 1
            rows = xp.reshape(xp.arange(size, device=x.device), (-1, *(1,) * inner))
            return xp.min(xp.where(x == best, rows, size), axis=along, keepdims=keepdims)
        return xp.argmax(x == best, axis=along, keepdims=keepdims)

    found = in_one_pass(first_place, x)
    return xp.reshape(found, (1,) * len(shape)) if axis is None and keepdims else found
