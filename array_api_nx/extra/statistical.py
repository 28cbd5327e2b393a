"""Order statistics, and running sums, products and extremes, along axes."""

from __future__ import annotations

from collections.abc import Sequence

from ..contract.numpy_dtypes import DTypeLike, NDArray
from ..frontend import standard as xp
from ..frontend.array import Array
from ..frontend.dispatch import scan
from ..frontend.operands import only_array
from ..native import with_advice, with_native
from ..primitives import table as p
from .order_statistics import median_of, quantile_of

__all__ = ["cumprod", "cumsum", "cumulative_max", "cumulative_min", "median", "quantile"]


def along_axis(x: Array, axis: int | None) -> tuple[Array, int]:
    """`x` and `axis`; without an axis, the elements in row-major order, which have axis 0 alone."""
    x = only_array(x)
    return (xp.reshape(x, (-1,)), 0) if axis is None else (x, axis)


def cumprod(x: Array, /, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Products of all elements up to each one.

    x: Numeric or bool.
    axis: Without it the elements are taken in row-major order.
    Returns: A copy of the shape of `x`; 1-D without `axis`.

    >>> xp.extra.cumprod(xp.asarray([[1, 2], [3, 4]]))
    Array([ 1,  2,  6, 24], dtype=int64)
    """
    x, axis = along_axis(x, axis)
    return xp.cumulative_prod(x, axis=axis, dtype=dtype)


def cumsum(x: Array, /, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Sums of all elements up to each one.

    x: Numeric or bool.
    axis: Without it the elements are taken in row-major order.
    Returns: A copy of the shape of `x`; 1-D without `axis`.

    >>> xp.extra.cumsum(xp.asarray([[1, 2], [3, 4]]), axis=1)
    Array([[1, 3],
           [3, 7]], dtype=int64)
    """
    x, axis = along_axis(x, axis)
    return xp.cumulative_sum(x, axis=axis, dtype=dtype)


@with_advice
def cumulative_max(x: Array, /, *, axis: int | None = None) -> Array:
    """Largest of all elements up to each one; NaN from the first NaN on.

    NumPy has it as ``maximum.accumulate``.

    x: Real or bool, at least one axis.
    axis: Must be given unless `x` has one axis.
    Returns: A copy of the dtype and the shape of `x`.
    ValueError: If `axis` is missing.
    TypeError: If `x` is complex.

    >>> xp.extra.cumulative_max(xp.asarray([3, 1, 4, 1, 5]))
    Array([3, 3, 4, 4, 5], dtype=int64)
    """
    return scan(p.CUMULATIVE_MAX, only_array(x), axis, None)


@with_advice
def cumulative_min(x: Array, /, *, axis: int | None = None) -> Array:
    """Smallest of all elements up to each one; NaN from the first NaN on.

    NumPy has it as ``minimum.accumulate``.

    x: Real or bool, at least one axis.
    axis: Must be given unless `x` has one axis.
    Returns: A copy of the dtype and the shape of `x`.
    ValueError: If `axis` is missing.
    TypeError: If `x` is complex.

    >>> xp.extra.cumulative_min(xp.asarray([3, 1, 4, 1, 5]))
    Array([3, 1, 1, 1, 1], dtype=int64)
    """
    return scan(p.CUMULATIVE_MIN, only_array(x), axis, None)


@with_native
def median(
    x: Array, /, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False
) -> Array:
    """Middle elements, or the means of the two in the middle; NaN where there is one.

    x: Real or bool.
    Returns: A copy of the dtype of `x`, or float64 for integers and bool. NaN over no elements.
    TypeError: If `x` is complex.
    RuntimeWarning: Over no elements, as in NumPy.

    >>> xp.extra.median(xp.asarray([[4, 1, 3], [8, 5, 9]]), axis=0)
    Array([6., 3., 6.], dtype=float64)
    """
    return median_of(x, axis, keepdims, skips_nan=False)


@with_native
def quantile(
    x: Array,
    /,
    q: float | Array | NDArray | Sequence[float],
    axis: int | tuple[int, ...] | None = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
) -> Array:
    """Values below which given parts of the elements lie; NaN where there is one.

    x: Real.
    q: The parts, from 0 to 1, of any shape. Their values must be known: an array may be on any
        device, but not of a function that is traced.
    method: How to estimate quantiles between elements: one of NumPy's methods, ``"inverted_cdf"``,
        ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``,
        ``"hazen"``, ``"weibull"``, ``"linear"``, ``"median_unbiased"``, ``"normal_unbiased"``,
        ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``.
    Returns: A copy of the shape of `q`, followed by that of `x` without the reduced axes. With a
        method that takes elements (``"inverted_cdf"``, ``"closest_observation"``, ``"lower"``,
        ``"higher"``, ``"nearest"``) it has the dtype of `x`; otherwise the floating-point dtype of
        `x`, float64 for integers, promoted with that of `q` unless `q` is a Python number. NaN over
        no elements. A quantile that falls on an element is that element, even next to an infinity,
        where NumPy gives NaN.
    ValueError: If `q` is not between 0 and 1, or there is no such method.
    TypeError: If `x` is complex, or bool, from which only the methods that take elements choose; or
        if `q` holds no real numbers.
    RuntimeWarning: Over no elements.

    >>> xp.extra.quantile(xp.asarray([1, 2, 3, 4]), [0.25, 0.5])
    Array([1.75, 2.5 ], dtype=float64)
    """
    return quantile_of(x, q, axis, method, keepdims, skips_nan=False)
