"""Statistical functions: sums, products, extremes, means and variances along axes."""

from __future__ import annotations

from typing import Final

from ..contract.numpy_dtypes import DTypeLike
from ..core import dtypes as d
from ..core.derived import derived
from ..core.dtypes import DType, as_dtype
from ..core.shape import normalise_axes, normalise_axis
from ..device import available, nearest
from ..native import with_native
from ..primitives import table as p
from ..primitives.table import Primitive
from .annotations import Foreign
from .array import Array, wrap
from .dispatch import operand_dtypes, reduce, scan, unary
from .operands import array_operand, cast

__all__ = [
    "cumulative_prod",
    "cumulative_sum",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]

# What sums and products accumulate in: integers as wide as they come, so that few overflow.
_ACCUMULATOR: Final = derived(
    lambda: {
        d.bool: d.int64,
        **dict.fromkeys(d.SIGNED, d.widest(d.SIGNED)),
        **dict.fromkeys(d.UNSIGNED, d.widest(d.UNSIGNED)),
        **{dtype: dtype for dtype in d.FLOATING},
    }
)


def _accumulator(x: Array) -> DType:
    """What to sum up in by default: the widest dtype of the kind of `x` that its device has."""
    return nearest(_ACCUMULATOR[x._dtype], x._device)


def _target(op: Primitive, x: Array, dtype: object) -> DType:
    """The dtype that a caller asked `op` to convert `x` to before it computes."""
    target = available(as_dtype(dtype), x._device)
    if target not in op.results:
        raise TypeError(
            f"{op.name} computes in a numeric dtype, not {target}; convert the result with astype"
        )
    if x._dtype in d.COMPLEX and target not in d.COMPLEX:
        raise TypeError(
            f"{op.name} with dtype={target} would drop the imaginary parts of {x._dtype} elements; "
            "take the real parts with real(...) first"
        )
    return target


def _cumulated(
    op: Primitive, x: Array, axis: int | None, dtype: DTypeLike | None, initial: int | None
) -> Array:
    """The running `op`, with a slice of `initial` in front along `axis` if that is not None."""
    x = array_operand(x)
    target = _accumulator(x) if dtype is None else _target(op, x, dtype)
    result = scan(op, x, axis, target)
    if initial is None:
        return result
    backend = x._device.backend
    shape = backend.shape(result._handle)
    position = 0 if axis is None else normalise_axis(axis, len(shape))
    before = backend.full((*shape[:position], 1, *shape[position + 1 :]), target, initial)
    return wrap(backend.cat([before, result._handle], position), target, x._device)


@with_native
def cumulative_prod(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """Products of all elements up to each one.

    x: Numeric or bool, at least one axis.
    axis: Must be given unless `x` has one axis.
    include_initial: Whether to begin with a 1.
    Returns: A copy of dtype `dtype` and the shape of `x`, with `axis` longer by one if
        `include_initial`.
    ValueError: If `axis` is missing.
    """
    return _cumulated(p.CUMULATIVE_PROD, x, axis, dtype, 1 if include_initial else None)


@with_native
def cumulative_sum(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """Sums of all elements up to each one.

    x: Numeric or bool, at least one axis.
    axis: Must be given unless `x` has one axis.
    include_initial: Whether to begin with a 0.
    Returns: A copy of dtype `dtype` and the shape of `x`, with `axis` longer by one if
        `include_initial`.
    ValueError: If `axis` is missing.
    """
    return _cumulated(p.CUMULATIVE_SUM, x, axis, dtype, 0 if include_initial else None)


@with_native
def max(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """Largest elements; NaN where there is one.

    x: Real or bool.
    Returns: A copy of the dtype of `x`.
    ValueError: If a reduced axis is empty.
    """
    return reduce(p.MAX, x, axis, keepdims)


@with_native
def mean(
    x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> Array:
    """Arithmetic means; NaN over no elements.

    x: Numeric or bool.
    Returns: A copy of the dtype of `x`, or float64 for integers and bool.
    """
    return reduce(p.MEAN, x, axis, keepdims)


@with_native
def min(x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """Smallest elements; NaN where there is one.

    x: Real or bool.
    Returns: A copy of the dtype of `x`.
    ValueError: If a reduced axis is empty.
    """
    return reduce(p.MIN, x, axis, keepdims)


@with_native
def prod(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
) -> Array:
    """Products; 1 over no elements.

    x: Numeric or bool.
    Returns: A copy of dtype `dtype`.
    """
    x = array_operand(x)
    target = _accumulator(x) if dtype is None else _target(p.PROD, x, dtype)
    return reduce(p.PROD, x, axis, keepdims, target)


@with_native
def std(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    correction: int | float = 0.0,
    keepdims: bool = False,
) -> Array:
    """Standard deviations: square roots of `var`, which describes the parameters.

    Returns: A copy of the real dtype of `x`, or float64 for integers and bool.
    """
    return unary(p.SQRT, var(x, axis=axis, correction=correction, keepdims=keepdims))


@with_native
def sum(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
) -> Array:
    """Sums; 0 over no elements.

    x: Numeric or bool.
    Returns: A copy of dtype `dtype`.
    """
    x = array_operand(x)
    target = _accumulator(x) if dtype is None else _target(p.SUM, x, dtype)
    return reduce(p.SUM, x, axis, keepdims, target)


@with_native
def var(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    correction: int | float = 0.0,
    keepdims: bool = False,
) -> Array:
    """Variances: mean squared distances from the mean.

    x: Numeric or bool.
    correction: Degrees of freedom to take off the number of elements in the divisor.
    Returns: A copy of the real dtype of `x`, or float64 for integers and bool. NaN where the
        divisor is not positive.
    TypeError: If `correction` is no real number.
    """
    x = array_operand(x)
    if type(correction) is not int and type(correction) is not float:
        correction = real_number(correction)
    compute, result = operand_dtypes(p.VAR, x._dtype, x._device)
    handle = cast(x, compute)._handle
    backend = x._device.backend
    axes = normalise_axes(axis, len(backend.sizes(handle)))
    return wrap(backend.var(handle, axes, keepdims, correction), result, x._device)


def real_number(correction: Foreign) -> float:
    """What to take off the number of elements in a divisor; TypeError if it is no number."""
    try:
        return float(correction)
    except (TypeError, ValueError):
        raise TypeError(
            f"correction must be an int or a float, not {correction!r}; convert it with float()"
        ) from None
