"""Data type functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..contract.numpy_dtypes import DTypeLike
from ..core import dtypes as d
from ..core.dtypes import BOUNDS, KINDS, SCALAR_PROMOTION, DType, as_dtype, promote
from ..device import Device, as_device, available
from ..native import with_advice, with_native
from .array import Array, method, wrap
from .interop import refuse_loss
from .operands import adopted, as_array, only_array
from .scalars import scalar_type

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]


@with_native
def astype(
    x: Array, dtype: DTypeLike, /, *, copy: bool = True, device: Device | str | None = None
) -> Array:
    """Convert an array to a dtype.

    dtype: Or a Python type, or NumPy's dtype, scalar type or name, as wherever a dtype is asked
        for.
    copy: False returns `x` itself if nothing changes.
    device: Where the result lives; that of `x` by default.
    Returns: A copy of the shape of `x`, or `x`. Floats are truncated towards zero on their way to
        integers; NaN and infinity give some integer.
    TypeError: If complex numbers would lose their imaginary parts.
    """
    x = only_array(x)
    dtype = as_dtype(dtype)
    if device is not None:
        target = as_device(device)
        if target is not x._device:
            if x._dtype in target.missing:
                # Only what it becomes can be there.
                return astype(x, dtype).to_device(target)
            # Where both see the same memory, moving alone shares it.
            both = target.backend.dlpack_device() == x._device.backend.dlpack_device()
            return astype(x.to_device(target), dtype, copy=copy and both)
    if dtype is x._dtype:
        return copy_array(x) if copy else x
    refuse_loss(x._dtype, dtype)
    target = x._device
    if target.missing:
        available(dtype, target)
    return wrap(target.backend.cast(x._handle, dtype), dtype, target)


@method("view", with_advice)
def view_as(x: Array, dtype: DTypeLike | None) -> Array:
    """`Array.view`: see there."""
    backend = x._device.backend
    if dtype is not None and not np.dtype(dtype).isnative:
        raise TypeError(
            f"bytes are read in the byte order of this machine, not as {dtype!r}; read them with "
            "np.asarray(x).view(dtype), or swap them there with byteswap()"
        )
    new = x._dtype if dtype is None else available(as_dtype(dtype), x._device)
    if new is x._dtype:
        return wrap(x._handle, new, x._device)
    if d.bool in (x._dtype, new):
        raise TypeError("bytes are not read from or as bool; convert with astype")
    shape = backend.shape(x._handle)
    if x._dtype.itemsize != new.itemsize and (
        not shape or shape[-1] * x._dtype.itemsize % new.itemsize
    ):
        raise ValueError(
            f"the last axis of shape {shape} of {x._dtype} is no whole number of {new} elements; "
            "reshape the array first"
        )
    try:
        return wrap(backend.bitcast(x._handle, new), new, x._device)
    except ValueError as error:
        raise ValueError(
            f"reading {x._dtype} as {new} needs elements at multiples of "
            f"{min(new.itemsize, backend.word)} bytes and a contiguous last axis; copy the array "
            "with asarray(x, copy=True) first"
        ) from error


def copy_array(x: Array) -> Array:
    """A row-major copy with memory of its own."""
    return wrap(x._device.backend.copy(x._handle), x._dtype, x._device)


@with_native
def can_cast(from_: DTypeLike | Array, to: DTypeLike, /) -> bool:
    """Whether promotion allows a dtype to become another."""
    return d.can_cast(_dtype_of(from_), as_dtype(to))


def _dtype_of(x: Array | DTypeLike) -> DType:
    x = adopted(x)
    return x._dtype if type(x) is Array else as_dtype(x)


@dataclass(frozen=True, slots=True)
class FloatInfo:
    """Limits of a floating-point dtype: Python numbers, and the dtype of the real parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True, slots=True)
class IntInfo:
    """Limits of an integer dtype: Python numbers."""

    bits: int
    max: int
    min: int
    dtype: DType


def finfo(type: DTypeLike | Array, /) -> FloatInfo:
    """Machine limits of a floating-point dtype.

    type: A complex dtype stands for that of its parts.
    Returns: ``bits``, ``eps``, ``max``, ``min``, ``smallest_normal``, ``dtype``.
    TypeError: If the dtype is not floating-point.
    """
    return _float_info(_dtype_of(type))


@cache
def _float_info(dtype: DType) -> FloatInfo:
    if dtype not in d.FLOATING:
        raise TypeError(f"finfo takes floating-point dtypes, not {dtype}; use iinfo for integers")
    limits = d.limits(dtype)
    return FloatInfo(
        bits=d.bits(dtype),
        eps=float(limits.eps),
        max=float(limits.max),
        min=float(limits.min),
        smallest_normal=float(limits.smallest_normal),
        dtype=d.REAL_OF[dtype],
    )


def iinfo(type: DTypeLike | Array, /) -> IntInfo:
    """Machine limits of an integer dtype.

    Returns: ``bits``, ``max``, ``min``, ``dtype``.
    TypeError: If the dtype is not an integer one.
    """
    dtype = _dtype_of(type)
    if dtype not in d.INTEGRAL:
        raise TypeError(f"iinfo takes integer dtypes, not {dtype}; use finfo for floats")
    low, high = BOUNDS[dtype]
    return IntInfo(d.bits(dtype), high, low, dtype)


@with_native
def isdtype(dtype: DTypeLike, kind: DTypeLike | tuple[DTypeLike, ...]) -> bool:
    """Whether a dtype is of a kind.

    kind (dtype, str or tuple of those): ``"bool"``, ``"signed integer"``, ``"unsigned integer"``,
        ``"integral"``, ``"real floating"``, ``"complex floating"``, ``"numeric"``, a dtype, or
        several.
    TypeError, ValueError: If `dtype` is no dtype, or `kind` no kind.
    """
    dtype = as_dtype(dtype)
    if isinstance(kind, str):
        # A name such as "float" would be taken for a kind by who writes it; as in NumPy, a single
        # dtype is not asked for by name.
        try:
            return dtype in KINDS[kind]
        except KeyError:
            raise ValueError(f"no kind {kind!r} of dtypes; kinds: {', '.join(KINDS)}") from None
    if isinstance(kind, tuple):
        return any([isdtype(dtype, each) for each in kind])
    try:
        return dtype is as_dtype(kind)
    except TypeError:
        raise TypeError(
            f"a kind must be a str, a dtype or a tuple of those, not {kind!r}; "
            f"kinds: {', '.join(KINDS)}"
        ) from None


@with_native
def result_type(*arrays_and_dtypes: Array | DTypeLike | bool | int | float | complex) -> DType:
    """The dtype that arrays, dtypes and scalars promote to.

    *arrays_and_dtypes (Array, dtype or Python scalar): Scalars are weak: they change the kind, but
        never the precision. Scalars alone give default dtypes.
    TypeError: If an argument is none of those.
    ValueError: If there are no arguments.
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type needs at least one array, dtype or scalar")
    dtypes, scalars = [], []
    for x in arrays_and_dtypes:
        scalar = scalar_type(x)
        if type(x) is Array:
            dtypes.append(x._dtype)
        elif scalar is not None:
            scalars.append(scalar)
        elif isinstance(x, np.generic | np.ndarray):
            value = as_array(x)
            assert type(value) is Array
            dtypes.append(value._dtype)
        else:
            dtypes.append(as_dtype(x))
    if dtypes:
        result = promote(*dtypes)
    else:
        result = as_dtype(scalars.pop())
    for scalar in scalars:
        result = SCALAR_PROMOTION[result, scalar]
    return result
