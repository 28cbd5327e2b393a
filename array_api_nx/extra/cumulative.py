"""The standard's cumulative functions as NumPy has them: of all elements, if no axis is given."""

from __future__ import annotations

from ..contract.numpy_dtypes import DTypeLike
from ..frontend.array import Array
from ..frontend.statistical import cumulative_prod, cumulative_sum
from .axes import along_axis

__all__ = ["cumprod", "cumsum"]


def cumprod(x: Array, /, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Products of all elements up to each one.

    x: Numeric or bool.
    axis: Without it the elements are taken in row-major order.
    Returns: A copy of the shape of `x`; 1-D without `axis`.

    >>> xp.extra.cumprod(xp.asarray([[1, 2], [3, 4]]))
    Array([ 1,  2,  6, 24], dtype=int64)
    """
    x, axis = along_axis(x, axis)
    return cumulative_prod(x, axis=axis, dtype=dtype)


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
    return cumulative_sum(x, axis=axis, dtype=dtype)
