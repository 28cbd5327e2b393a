"""Creation functions that make ranges of numbers, and grids of them."""

from __future__ import annotations

from math import ceil, floor, isfinite

from ..contract.numpy_dtypes import DTypeLike
from ..core import dtypes as d
from ..core.dtypes import DType, as_dtype
from ..core.real import real
from ..core.shape import as_count, check_shape
from ..core.symbolic import Dim, Outcome
from ..device import Device, as_device, available, nearest
from ..native import with_advice, with_native
from ..primitives import table as p
from . import interop
from .array import Array, wrap
from .data_type import copy_array
from .dispatch import unary
from .manipulation import broadcast_to, expand_dims
from .operands import as_array, cast, only_array
from .scalars import Element, check_scalar, scalar_value

__all__ = ["arange", "linspace", "meshgrid"]


@with_native
def arange(
    start: int | float,
    /,
    stop: int | float | None = None,
    step: int | float = 1,
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> Array:
    """Evenly spaced numbers from `start` up to, not including, `stop`.

    start, stop, step (int or float): With one number, that is `stop` and `start` is 0.
    dtype: int64 for ints, else float64. Not bool. An integer dtype needs a `start` and a `step`
        without fractions.
    Returns: 1-D, of length ``ceil((stop - start) / step)``, at least 0.
    ValueError: If `step` is 0, a number is not finite, or the dtype would drop fractions.
    OverflowError: If a value is out of range of the dtype.
    """
    if stop is None:
        start, stop = 0, start
    numbers = [
        interop.real_number(x, name)
        for x, name in ((start, "start"), (stop, "stop"), (step, "step"))
    ]
    start, stop, step = numbers
    whole = all([isinstance(x, (int, Dim)) for x in numbers])
    target = as_device(device)
    if dtype is None:
        dtype = target.integral if whole else target.real
    else:
        dtype = available(as_dtype(dtype), target)
    if dtype is d.bool:
        raise TypeError("arange makes numbers, not bool; compare its result, as in arange(n) > k")
    if step == 0:
        raise ValueError("the step of arange must not be 0; use full for equal values")
    if not all([type(x) is not float or isfinite(x) for x in numbers]):
        raise ValueError(f"arange needs finite numbers, not {tuple(numbers)}")
    try:
        length: Outcome = -((start - stop) // step) if whole else ceil((stop - start) / step)
        length = length if length > 0 else 0
    except OverflowError:
        raise ValueError(
            "arange would make more elements than floats can count; give a larger step"
        ) from None
    check_shape((length,))
    if length == 0:
        return wrap(target.backend.empty((0,), dtype), dtype, target)
    if dtype in d.INTEGRAL and not whole:
        start, step = [_whole_number(x, dtype) for x in (start, step)]
        stop = start + length * step
    ends = start, start + (length - 1) * step
    for value in ends:
        scalar_value(value, dtype, *ends)
    if dtype in d.COMPLEX:
        # Each value is converted, and so rounded, on its own.
        values = target.backend.arange(start, stop, step, nearest(d.float64, target))
        return wrap(target.backend.cast(values, dtype), dtype, target)
    return wrap(target.backend.arange(start, stop, step, dtype), dtype, target)


def _whole_number(x: int | float, dtype: DType) -> int:
    """A start or a step of `arange` with an integer dtype."""
    whole = x if isinstance(x, int | Dim) else floor(x)
    if whole != x:
        raise ValueError(
            f"arange would drop the fraction of {x}, as {dtype} has none; leave out dtype=, or "
            f"convert the result with astype to {dtype}"
        )
    return whole


@with_native
def linspace(
    start: int | float | complex,
    stop: int | float | complex,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
    endpoint: bool = True,
) -> Array:
    """A number of evenly spaced values over an interval.

    dtype: A floating-point dtype; float64 or complex128 by default. For an integer dtype the values
        are rounded down.
    endpoint: Whether `stop` is the last value.
    Returns: 1-D.
    OverflowError: If `start` or `stop` is out of range for the dtype.
    ValueError: If `num` is negative.
    """
    ends: list[Element] = []
    for x, name in ((start, "start"), (stop, "stop")):
        value = as_array(x, name)
        if type(value) is Array:
            if value.size != 1:
                raise ValueError(
                    f"{name} must be one number, not an array of shape {value.shape}; index it"
                )
            value = interop.item(value, object)
        ends.append(value)
    count = as_count(num, "num")
    check_shape((count,))
    imaginary = any([isinstance(x, complex) for x in ends])
    target = as_device(device)
    if dtype is None:
        dtype = target.complex if imaginary else target.real
    else:
        dtype = available(as_dtype(dtype), target)
    if imaginary and dtype not in d.COMPLEX:
        raise TypeError(f"complex values do not fit dtype {dtype}; use a complex dtype")
    computed = dtype if dtype in d.FLOATING else d.float64
    for x in ends:
        check_scalar(x, computed)
    # NumPy takes ints beyond int64 for objects.
    ends = [real("float", x) if isinstance(x, int | Dim) else x for x in ends]
    if dtype in d.INTEGRAL:
        for x in ends:
            scalar_value(x // 1, dtype)
    if dtype not in d.FLOATING:
        values = linspace(ends[0], ends[1], count, device=target, endpoint=endpoint)
        return cast(unary(p.FLOOR, values), dtype)
    handle = target.backend.linspace(ends[0], ends[1], count, dtype, endpoint=endpoint)
    return wrap(handle, dtype, target)


@with_advice
def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Array, ...]:
    """Coordinate arrays from coordinate vectors.

    *arrays: 1-D.
    indexing ({"xy", "ij"}): "ij": axis i of the results runs along the i-th array; "xy": the first
        two are exchanged.
    Returns: Copies, one per argument, all of the same shape.
    ValueError: If an array is not one-dimensional, or `indexing` is another word.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', not {indexing!r}")
    arrays = tuple([only_array(x, "an array") for x in arrays])
    for x in arrays:
        if x.ndim > 1:
            raise ValueError(
                f"meshgrid takes 1-dimensional arrays, not shape {x.shape}; "
                "flatten with reshape(x, (-1,))"
            )
    order = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        order[:2] = [1, 0]
    sizes = tuple([arrays[i].size for i in order])
    result = []
    for i, x in enumerate(arrays):
        others = tuple([a for a in range(len(arrays)) if order[a] != i])
        vector = x if x.ndim else expand_dims(x, 0)
        result.append(copy_array(broadcast_to(expand_dims(vector, others), sizes)))
    return tuple(result)
