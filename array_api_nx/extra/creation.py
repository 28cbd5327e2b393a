"""Arrays made in other ways than the standard's."""

from __future__ import annotations

from ..contract.numpy_dtypes import DTypeLike
from ..core import dtypes as d
from ..core.dtypes import as_dtype
from ..core.shape import as_int
from ..device import Device
from ..frontend import standard as xp
from ..frontend.array import Array
from ..frontend.indexing import fill_in
from ..frontend.operands import only_array
from ..linalg import diagonal
from ..native import with_advice

__all__ = ["diag", "logspace"]


@with_advice
def diag(x: Array, /, *, k: int = 0) -> Array:
    """A matrix with given diagonal, or the diagonal of a matrix.

    x: One-dimensional: what to put on the diagonal. Two-dimensional: what to take it from.
    k: Which diagonal: above the main one if positive, below it if negative.
    Returns: A copy, square of size ``n + abs(k)`` with zeros elsewhere; or, from a matrix, the same
        as ``linalg.diagonal(x, offset=k)``.
    ValueError: If `x` has neither one nor two dimensions.
    """
    x = only_array(x)
    k = as_int(k, "k")
    if x.ndim == 2:
        return diagonal(x, offset=k)
    if x.ndim != 1:
        raise ValueError(
            f"diag takes one or two dimensions, not shape {x.shape}; use linalg.diagonal for "
            "stacks of matrices"
        )
    size = x.size + abs(k)
    result = xp.zeros((size * size,), dtype=x.dtype, device=x.device)
    # In the flattened matrix the diagonal's elements are a row and one column apart.
    first = k if k >= 0 else -k * size
    fill_in(result, slice(first, first + x.size * (size + 1), size + 1), x)
    return xp.reshape(result, (size, size))


@with_advice
def logspace(
    start: int | float | complex,
    stop: int | float | complex,
    /,
    num: int = 50,
    *,
    base: int | float = 10.0,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
    endpoint: bool = True,
) -> Array:
    """Numbers spaced evenly on a logarithmic scale, from ``base**start`` to ``base**stop``.

    start, stop: The first and the last exponent.
    dtype: A floating-point dtype; float64 or complex128 by default.
    endpoint: Whether ``base**stop`` is the last value.
    Returns: 1-D.
    ValueError: If `num` is negative.
    TypeError: If `dtype` is no floating-point one.
    """
    if dtype is not None and as_dtype(dtype) not in d.FLOATING:
        raise TypeError(
            f"logspace makes floating-point numbers, not {as_dtype(dtype)}; leave out dtype=, and "
            "convert the result with astype"
        )
    exponents = xp.linspace(start, stop, num, dtype=dtype, device=device, endpoint=endpoint)
    return xp.pow(xp.asarray(base, dtype=exponents.dtype, device=exponents.device), exponents)
