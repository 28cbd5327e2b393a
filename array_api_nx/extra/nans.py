"""Reductions and scans that leave NaN out."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from ..contract.callers import warn
from ..contract.numpy_dtypes import DTypeLike, NDArray
from ..frontend import statistical
from ..frontend.array import Array
from ..frontend.elementwise import sqrt
from ..frontend.evaluation import can_look, in_one_pass
from ..frontend.searching import argmax, argmin
from ..frontend.utility import any as any_true
from .axes import along_axis
from .nan_reductions import (
    as_floating,
    divided,
    extreme_of,
    found_by,
    sum_and_number,
    variance_of,
    without_nan,
)
from .order_statistics import median_of, quantile_of

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
    return found_by(argmax, statistical.max, -inf, x, axis, keepdims)


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
    return found_by(argmin, statistical.min, inf, x, axis, keepdims)


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
    scan = statistical.cumulative_prod
    return in_one_pass(lambda x: scan(without_nan(x, 1), axis=axis, dtype=dtype), x)


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
    scan = statistical.cumulative_sum
    return in_one_pass(lambda x: scan(without_nan(x, 0), axis=axis, dtype=dtype), x)


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
    return extreme_of(statistical.max, -inf, x, axis, keepdims)


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
    x = as_floating(x, dtype)
    total, number = sum_and_number(x, axis, keepdims)
    mean = divided(total, number)
    if can_look(x) and bool(any_true(number == 0)):
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
    return extreme_of(statistical.min, inf, x, axis, keepdims)


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
        lambda x: statistical.prod(without_nan(x, 1), axis=axis, dtype=dtype, keepdims=keepdims), x
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
    return sqrt(variance_of(x, axis, dtype, ddof, correction, keepdims))


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
        lambda x: statistical.sum(without_nan(x, 0), axis=axis, dtype=dtype, keepdims=keepdims), x
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
    return variance_of(x, axis, dtype, ddof, correction, keepdims)
