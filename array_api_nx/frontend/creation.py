"""Creation functions."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

import numpy as np

from ..config import hints
from ..contract.numpy_dtypes import DTypeLike
from ..core import dtypes as d
from ..core.dtypes import CANONICAL, DType, as_dtype
from ..core.shape import MAX_NDIM, as_count, as_int, as_shape, check_shape
from ..device import Device, as_device, available, default_dtype, device_of, nearest
from ..native import with_advice, with_native
from . import dlpack, interop
from .annotations import Foreign, PythonScalar
from .array import Array, wrap
from .data_type import astype, copy_array
from .evaluation import can_look
from .joining import stack
from .manipulation import broadcast_to
from .operands import adopted, arrays_in, as_array, common_device, only_array, scalar_array
from .scalars import scalar_type, scalar_value

__all__ = [
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


@with_native
def asarray(
    obj: Foreign,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
    copy: bool | None = None,
) -> Array:
    """Convert an object to an array.

    obj: An array (ours; NumPy's; an engine's, such as a PyTorch tensor; another library's with
        DLPack), a Python or NumPy scalar, a nested sequence of those, or an object with the buffer
        protocol.
    dtype: That of `obj` by default; for Python scalars bool, int64, float64 or complex128. An
        integer dtype drops fractions. What is an array here, or an engine's, is converted as by
        `astype`.
    device: That of `obj` if it is one of our arrays or an engine's, else the default one.
    Returns: Shares the memory of `obj` if it can and `copy` is not True: then a write to either
        shows in the other. Read-only memory stays read-only.
    TypeError: If `obj` holds anything but numbers and booleans.
    ValueError: If a copy is needed and `copy` is False, a sequence is ragged or nested more than 64
        levels deep, or NaN is to be an integer.
    OverflowError: If a value, infinity among others, is out of range of an integer dtype.
    """
    if dtype is not None:
        dtype = as_dtype(dtype)
    if type(obj) is Array:
        return _converted(obj, dtype, device, copy)
    kind = scalar_type(obj)
    if kind is not None:
        if copy is False:
            raise ValueError("a Python scalar has no memory to share; use copy=None")
        return scalar_array(obj, kind, dtype, as_device(device))
    if type(obj) is not np.ndarray and not isinstance(obj, list | tuple):
        there = device_of(obj)
        if there is not None:
            adopted = interop.adopt(obj, there, copy)
            if hints.watched:
                interop.taking(obj, "asarray", there, adopted.nbytes)
            return _converted(adopted, dtype, device, copy)
    target = as_device(device)
    if isinstance(obj, list | tuple) and (arrays := arrays_in(obj)):
        there = common_device([x._device for x in arrays])
        if copy is not False and not all(map(can_look, arrays)):
            return _converted(_collected(obj, there), dtype, device, None)
        target = target if device is not None else there
    array = interop.as_numpy(obj, dtype, copy)
    if hints.watched:
        interop.taking(obj, "asarray", target, array.nbytes)
    # Of a sequence's elements nobody else has an array.
    lent = not isinstance(obj, list | tuple)
    if not lent and dtype is None and target.missing:
        # The default dtype is that of the device, and not NumPy's.
        found = CANONICAL.get(array.dtype)
        dtype = None if found is None else nearest(found, target)
    return interop.from_numpy(array, dtype, target, copy, lent=lent)


def _collected(obj: Foreign, device: Device, depth: int = 0) -> Array:
    """`asarray` of arrays in nested sequences whose elements NumPy cannot collect, because they are
    out of its reach or the arrays are those of a trace."""
    if not isinstance(obj, list | tuple) or not obj:
        return asarray(obj, device=device)
    if depth == MAX_NDIM:
        raise interop.too_deep()
    parts = [_collected(each, device, depth + 1) for each in obj]
    dtype = nearest(np.result_type(*{x._dtype for x in parts}), device)
    return stack([astype(x, dtype, copy=False) for x in parts])


def _converted(
    x: Array, dtype: DTypeLike | None, device: Device | str | None, copy: bool | None
) -> Array:
    target = x._device if device is None else as_device(device)
    dtype = x._dtype if dtype is None else dtype
    if dtype is x._dtype and target is x._device:
        return copy_array(x) if copy else x
    if copy is False:
        if dtype is x._dtype:
            return interop.to_device_in_place(x, target)
        raise ValueError(
            f"cannot convert an array of {x._dtype} to {dtype} without a copy; use copy=None"
        )
    return astype(x, dtype, copy=bool(copy), device=target)


@with_native
def empty(
    shape: int | tuple[int, ...],
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> Array:
    """An array whose contents are undefined.

    dtype: float64 by default.
    ValueError: If a size is negative or the array would be too large.
    """
    target = as_device(device)
    dtype = target.real if dtype is None else available(as_dtype(dtype), target)
    return wrap(target.backend.empty(as_shape(shape), dtype), dtype, target)


@with_native
def empty_like(
    x: Array, /, *, dtype: DTypeLike | None = None, device: Device | str | None = None
) -> Array:
    """An array of the shape of `x` whose contents are undefined.

    dtype: That of `x` by default.
    device: That of `x` by default.
    """
    x = only_array(x)
    return empty(x.shape, dtype=dtype or x._dtype, device=device or x._device)


@with_native
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> Array:
    """A matrix with ones on a diagonal and zeros elsewhere.

    n_rows, n_cols (int): Square if `n_cols` is None.
    k: Which diagonal: above the main one if positive, below it if negative.
    dtype: float64 by default.
    ValueError: If a size is negative.
    """
    target = as_device(device)
    dtype = target.real if dtype is None else available(as_dtype(dtype), target)
    rows = as_count(n_rows, "n_rows")
    columns = rows if n_cols is None else as_count(n_cols, "n_cols")
    check_shape((rows, columns))
    # A diagonal outside the matrix is as far away as one may need to say.
    k = max(-rows, min(as_int(k, "k"), columns))
    return wrap(target.backend.eye(rows, columns, k, dtype), dtype, target)


@with_native
def from_dlpack(
    x: object, /, *, device: Device | str | None = None, copy: bool | None = None
) -> Array:
    """An array over the memory of another library's array.

    x: Has ``__dlpack__`` and ``__dlpack_device__``.
    device: Where the result lives; where `x` is by default.
    Returns: Shares memory with `x` if it was not copied.
    AttributeError: If `x` has no ``__dlpack__``.
    BufferError: If `x` cannot be exported or has a dtype that the standard lacks.
    ValueError: If a copy is needed and `copy` is False.
    """
    if type(x) is Array:
        # Not the same object: writing to either must show in the other, nothing else is shared.
        result = _converted(x, None, device, copy)
        return wrap(result._handle, result._dtype, result._device)
    return dlpack.from_dlpack(x, device, copy)


@with_native
def full(
    shape: int | tuple[int, ...],
    fill_value: PythonScalar | Array,
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> Array:
    """An array that holds one value everywhere.

    fill_value (scalar or 0-d Array):
    dtype: That of the value by default: bool, int64, float64 or complex128 for Python scalars. An
        integer dtype drops the fraction of the value. An array is converted as by `astype`.
    OverflowError: If the value, infinity among others, is out of range of an integer dtype.
    ValueError: If a size is negative, or NaN is to be an integer.
    """
    sizes = as_shape(shape)
    if dtype is not None and isinstance(fill_value, np.generic):
        fill_value = fill_value.item()
    value = as_array(fill_value, "fill_value")
    if type(value) is Array:
        if value.shape != ():
            raise ValueError(
                f"fill_value must be 0-dimensional, not of shape {value.shape}; "
                "use broadcast_to for larger arrays"
            )
        target = value._device if device is None else as_device(device)
        value = astype(value, value._dtype if dtype is None else as_dtype(dtype), copy=False)
        value = value.to_device(target)
        return copy_array(broadcast_to(value, sizes))
    target = as_device(device)
    if dtype is None:
        kind = scalar_type(value)
        assert kind is not None
        dtype = default_dtype(kind, target)
    else:
        dtype = available(as_dtype(dtype), target)
    return wrap(target.backend.full(sizes, dtype, scalar_value(value, dtype)), dtype, target)


@with_native
def full_like(
    x: Array,
    /,
    fill_value: PythonScalar | Array,
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> Array:
    """An array of the shape of `x` that holds one value everywhere.

    fill_value (scalar or 0-d Array):
    dtype: That of `x` by default, which must then hold the value with its fraction. One that is
        named is taken as in `full`.
    device: That of `x` by default.
    OverflowError, ValueError: As `full`; and ValueError for a value that would lose its fraction to
        the dtype of `x`.
    TypeError: If a floating-point array would become one of integers or bools without a named
        `dtype`.
    """
    x = only_array(x)
    if dtype is None and x._dtype in d.BOOL_LIKE:
        _refuse_fraction(fill_value, x._dtype)
    return full(x.shape, fill_value, dtype=dtype or x._dtype, device=device or x._device)


def _refuse_fraction(value: PythonScalar | Array, dtype: DType) -> None:
    """Raise the error for a value whose fraction a dtype that was not named would drop."""
    value = adopted(value, "fill_value")
    mend = f"name a dtype: dtype=xp.float64 to keep it, dtype=xp.{dtype} to lose it"
    if type(value) is Array and value._dtype in d.FLOATING:
        raise TypeError(f"fill_value is an array of {value._dtype}, and x one of {dtype}; {mend}")
    if isinstance(value, float | np.floating) and isfinite(value) and value % 1:
        raise ValueError(f"fill_value {value} has a fraction, and {dtype} has none; {mend}")


@with_native
def ones(
    shape: int | tuple[int, ...],
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> Array:
    """An array of ones.

    dtype: float64 by default.
    ValueError: If a size is negative or the array would be too large.
    """
    return _constant(shape, dtype, device, 1)


def _constant(
    shape: int | Iterable[int], dtype: DTypeLike | None, device: Device | str | None, value: int
) -> Array:
    target = as_device(device)
    dtype = target.real if dtype is None else available(as_dtype(dtype), target)
    value = value if dtype is not d.bool else bool(value)
    return wrap(target.backend.full(as_shape(shape), dtype, value), dtype, target)


@with_native
def ones_like(
    x: Array, /, *, dtype: DTypeLike | None = None, device: Device | str | None = None
) -> Array:
    """An array of ones of the shape of `x`.

    dtype: That of `x` by default.
    device: That of `x` by default.
    """
    x = only_array(x)
    return _constant(x.shape, dtype or x._dtype, device or x._device, 1)


@with_advice
def tril(x: Array, /, *, k: int = 0) -> Array:
    """The lower triangle of matrices, zeros elsewhere.

    x: Shape (..., M, N).
    k: The last diagonal that is kept.
    Returns: A copy.
    ValueError: If `x` has fewer than two dimensions.
    """
    return _triangle(x, k, "tril", upper=False)


@with_advice
def triu(x: Array, /, *, k: int = 0) -> Array:
    """The upper triangle of matrices, zeros elsewhere.

    x: Shape (..., M, N).
    k: The first diagonal that is kept.
    Returns: A copy.
    ValueError: If `x` has fewer than two dimensions.
    """
    return _triangle(x, k, "triu", upper=True)


def _triangle(x: Array, k: int, name: str, *, upper: bool) -> Array:
    x = only_array(x)
    if x.ndim < 2:
        raise ValueError(f"{name} needs matrices, not shape {x.shape}; add axes with expand_dims")
    rows, columns = x.shape[-2:]
    k = max(-rows - 1, min(as_int(k, "k"), columns + 1))
    return wrap(x._device.backend.triangle(x._handle, k, upper=upper), x._dtype, x._device)


@with_native
def zeros(
    shape: int | tuple[int, ...],
    *,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> Array:
    """An array of zeros.

    dtype: float64 by default.
    ValueError: If a size is negative or the array would be too large.
    """
    return _constant(shape, dtype, device, 0)


@with_native
def zeros_like(
    x: Array, /, *, dtype: DTypeLike | None = None, device: Device | str | None = None
) -> Array:
    """An array of zeros of the shape of `x`.

    dtype: That of `x` by default.
    device: That of `x` by default.
    """
    x = only_array(x)
    return _constant(x.shape, dtype or x._dtype, device or x._device, 0)
