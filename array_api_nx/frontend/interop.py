"""Exchange with Python and NumPy: elements as scalars, ndarrays, devices, pickle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Final, Literal

import numpy as np

from ..backends.cpu.engine.fperrors import located
from ..config import hints
from ..contract.callers import warn
from ..contract.events import transferred
from ..contract.numpy_dtypes import (
    NDArray,
    canonical,
    has_other_bools,
    is_aligned,
    suitable,
    zeros_and_ones,
)
from ..core import dtypes as d
from ..core.dtypes import BOUNDS, CANONICAL, DType
from ..core.shape import MAX_NDIM, index_of
from ..device import Device, as_device, available
from ..native import native
from .annotations import Foreign
from .array import Array, method, wrap
from .scalars import Element, check_scalar, scalar_type, scalar_value, whole

# As the methods of arrays do, in less time.
_EXTREMES: Final = (np.minimum.reduce, np.maximum.reduce)


# ---------------------------------------------------------------------- reports


def reading(x: Array, kind: str, target: str, call: str | None = None) -> None:
    """Report that the elements of `x` are about to be read: see `events.transferred`.

    Called only if `hints.watched`: to ask that first takes less time than a call.
    """
    if x._device.backend.has_elements(x._handle):
        transferred(kind, x._device.name, target, x.nbytes, call)


def taking(obj: Foreign, kind: str, target: Device, nbytes: int) -> None:
    """Report that elements of an object of Python's, or of another library, become an array.

    Called only if `hints.watched`.
    """
    owner = type(obj).__module__.partition(".")[0]
    transferred(kind, "python" if owner == "builtins" else owner, target.name, nbytes)


# ---------------------------------------------------------------------- elements


def item(x: Array, kind: type) -> Element:
    """The one element of `x` as a Python scalar.

    TypeError: If there is not exactly one element, or it is complex and `kind` (the conversion that
        asks: bool, int, float, complex, or object for any) is real.
    """
    if hints.watched:
        reading(x, "scalar", "python")
    try:
        value = x._device.backend.item(x._handle)
    except ValueError:
        if prod(x.shape) == 1:
            raise
        raise TypeError(
            f"{kind.__name__}() takes an array with one element, not shape {x.shape}; "
            "reduce it with any, all, sum, max, ... or index it"
        ) from None
    if type(value) is complex and kind in (int, float):
        raise TypeError(
            f"{kind.__name__}() cannot take a complex number; take real(x) or imag(x) first"
        )
    if type(value) is float and kind is int:
        return whole(value)
    return value


def real_number(x: Foreign, name: str) -> int | float:
    """An int or a float, or the one element of an array; TypeError for anything else."""
    kind = scalar_type(x)
    if kind in (bool, int, float):
        number: int | float = x if kind is not bool else int(x)
        return number
    if type(x) is Array and x.size == 1:
        return real_number(item(x, object), name)
    if isinstance(x, np.generic | np.ndarray) and x.size == 1:
        return real_number(x.item(), name)
    shape = f" of shape {x.shape}" if isinstance(x, Array | np.ndarray) else ""
    raise TypeError(
        f"{name} must be an int or a float, not {type(x).__name__}{shape}; "
        "convert it with int() or float()"
    )


@method("__index__")
def as_index(x: Array) -> int:
    """The element of a 0-d integer array as an int; TypeError for any other array."""
    if x._dtype not in d.INTEGRAL or x.shape != ():
        raise TypeError(
            "only 0-dimensional integer arrays can be an index, not shape "
            f"{x.shape} of {x._dtype}; convert with int(x)"
        )
    # A bound of a slice is asked for by x[start:stop], which calls another method.
    if hints.watched:
        reading(x, "scalar", "python", "__index__")
    return index_of(x._device.backend.item(x._handle))


# ---------------------------------------------------------------------- NumPy


def as_numpy(obj: Foreign, dtype: DType | None, copy: bool | None) -> NDArray:
    """Any object that `asarray` takes, except our arrays and Python scalars, as an ndarray."""
    if type(obj) is np.ndarray:
        return obj
    if type(obj) is list or type(obj) is tuple:
        return _from_sequence(obj, dtype, copy)
    if isinstance(obj, np.ma.MaskedArray):
        raise TypeError("a masked array would lose its mask; fill it with .filled(...) first")
    if isinstance(obj, np.generic) and copy is False:
        raise ValueError("a NumPy scalar has no memory to share; use copy=None")
    if isinstance(obj, np.ndarray | np.generic):
        return np.asarray(obj)
    if isinstance(obj, Sequence) and not isinstance(obj, str) and not _has_buffer(obj):
        return _from_sequence(obj, dtype, copy)
    if hasattr(obj, "__dlpack__"):
        return imported(obj, "cpu", copy)
    if hasattr(obj, "__array__") or hasattr(obj, "__array_interface__"):
        try:
            return np.asarray(obj, copy=copy)
        except (RuntimeError, TypeError):
            if not hasattr(obj, "todense"):
                raise
            # A sparse array becomes a dense one only by an explicit call.
    try:
        return np.asarray(memoryview(obj))
    except TypeError:
        from .unconvertible import no_array

        raise no_array(obj) from None


def imported(x: Foreign, device: Literal["cpu"] | None, copy: bool | None) -> NDArray:
    """NumPy's `from_dlpack`; what NumPy 2.1 and 2.2 call read-only without a reason is writable.

    They say so of all imports. A copy has no other owner, and an ndarray has its own flag.
    """
    try:
        array: NDArray = np.from_dlpack(x, device=device, copy=copy)
    except RuntimeError:
        bits: Foreign = _Bits(x)
        array = np.from_dlpack(bits, device=device, copy=copy)
        array = array.view(bits.dtype)
    if array.flags.writeable or np.lib.NumpyVersion(np.__version__) >= "2.2.5":
        return array
    if copy:
        return array.copy()
    return x if type(x) is np.ndarray else array


class _Bits:
    """An object with ``__dlpack__``, whose elements NumPy sees as ints, as it lacks their dtype."""

    dtype: DType

    def __init__(self, x: Foreign) -> None:
        self._x = x

    def __dlpack__(self, **options: Foreign) -> object:
        capsule: Foreign = self._x.__dlpack__(**options)
        code, bits = (-1, 0) if native is None else native.relabel(capsule, d.dlpack_code(d.uint8))
        found = d.of_dlpack(code, bits)
        if found is None:
            raise RuntimeError("there is no dtype of that code")
        self.dtype = found
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self._x.__dlpack_device__()
        return device


def _has_buffer(obj: Foreign) -> bool:
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def _from_sequence(obj: Sequence[Foreign], dtype: DType | None, copy: bool | None) -> NDArray:
    if copy is False:
        raise ValueError("a sequence has no memory to share; use copy=None")
    try:
        array = np.asarray(obj)
    except ValueError as error:
        if _is_too_deep(obj):
            raise too_deep() from error
        from .unconvertible import ragged

        raise ragged(obj) from error
    # NumPy makes objects, uint64 or rounded floats of Python ints beyond int64.
    char = array.dtype.char
    if char == "O" or (
        char in "LQd" and _starts_with_int(obj) and np.max(np.abs(array)) >= 2.0**63
    ):
        array = _with_long_ints(obj, array, dtype)
    if d.known(array.dtype.newbyteorder("=")) is None:
        from .unconvertible import no_element

        raise no_element(obj, array)
    return array


def too_deep() -> ValueError:
    """The error for a sequence with too many levels."""
    return ValueError(
        f"a nested sequence must not be deeper than the {MAX_NDIM} dimensions that an array may "
        "have; give fewer levels, or flatten the innermost"
    )


def _is_too_deep(obj: Foreign) -> bool:
    """Whether the first elements of the first elements go down more than `MAX_NDIM` levels."""
    depth = 0
    while isinstance(obj, Sequence) and not isinstance(obj, str | bytes) and depth <= MAX_NDIM:
        obj, depth = (obj[0] if obj else None), depth + 1
    return depth + getattr(obj, "ndim", 0) > MAX_NDIM


def _starts_with_int(obj: Foreign) -> bool:
    while isinstance(obj, Sequence) and obj:
        obj = obj[0]
    return isinstance(obj, int)


def _elements(obj: Sequence[Foreign]) -> Iterator[Foreign]:
    for x in obj:
        if isinstance(x, Sequence) and not isinstance(x, str | bytes):
            yield from _elements(x)
        else:
            yield x


def _with_long_ints(obj: Sequence[Foreign], array: NDArray, dtype: DType | None) -> NDArray:
    """The sequence that NumPy made `array` from, with its ints as ints: int64 by default."""
    elements = list(_elements(obj))
    kinds = {scalar_type(element) for element in elements}
    if kinds <= {bool, int} and (dtype is None or dtype in d.INTEGRAL):
        extremes = int(min(elements)), int(max(elements))
        for value in extremes:
            scalar_value(value, dtype or d.int64, *extremes)
        return np.asarray(elements, (dtype or d.int64)).reshape(array.shape)
    if array.dtype.kind != "O":
        return array
    if not kinds <= {bool, int, float, complex}:
        return array
    floating = d.complex128 if complex in kinds else d.float64
    for element in elements:
        check_scalar(element, floating)
    return array.astype(floating)


def from_numpy(
    array: NDArray, dtype: DType | None, device: Device, copy: bool | None, *, lent: bool = True
) -> Array:
    """An ndarray as an Array, sharing memory unless `copy` or a conversion prevents it.

    `lent` says whether others still hold the ndarray.

    TypeError: If the dtype has no counterpart in the standard.
    ValueError: If a copy is needed and `copy` is False, or NaN is to be an int.
    OverflowError: If a value is out of range of an integer dtype.
    """
    found = CANONICAL.get(array.dtype)
    if found is None:
        found = d.known(array.dtype)
    if found is None or (dtype is not None and dtype is not found) or not _takes(device, array):
        return _from_other(array, dtype, device, copy)
    if copy is False and not device.backend.shares_host:
        raise ValueError(f"device {device} shares no memory with NumPy; use copy=None")
    if device.missing:
        available(found, device)
    handle = device.backend.from_host(canonical(array), copy=bool(copy), lent=lent)
    return wrap(handle, found, device)


def _takes(device: Device, array: NDArray) -> bool:
    """Whether a device can have elements of one of its dtypes in the memory that they are in."""
    backend = device.backend
    return is_aligned(array, backend.word) and (
        backend.takes_any_bool or not has_other_bools(array)
    )


def _from_other(array: NDArray, dtype: DType | None, device: Device, copy: bool | None) -> Array:
    """The rest of `from_numpy`: conversions, foreign memory, errors."""
    found = d.known(array.dtype.newbyteorder("="))
    if found is None:
        from .unconvertible import no_dtype

        raise no_dtype(array)
    reasons = []
    if not array.dtype.isnative:
        reasons.append("its bytes are in foreign order")
    if not is_aligned(array, device.backend.word):
        reasons.append("its elements are not aligned")
    dtype = dtype or found
    if dtype is not found:
        refuse_loss(found, dtype)
        bounded = dtype in d.INTEGRAL or (dtype in d.NARROW and found in d.INTEGRAL)
        if bounded and array.size and not d.can_cast(found, dtype):
            # Of numbers with NaN among them both extremes are NaN.
            low, high = [whole(extreme(array, None).item()) for extreme in _EXTREMES]
            least, most = BOUNDS[dtype]
            if not least <= low <= high <= most:
                for value in (low, high):
                    scalar_value(value, dtype, low, high)
        reasons.append(f"its dtype is {found}, not {dtype}")
    if not reasons:
        reasons.append(f"it has bools other than 0 and 1, which device {device} does not take")
    if copy is False:
        raise ValueError(f"the array cannot be shared: {' and '.join(reasons)}; use copy=None")
    converted = zeros_and_ones(located(array.astype, (available(dtype, device))))
    handle = device.backend.from_host(converted, copy=False, lent=False)
    return wrap(handle, dtype, device)


def refuse_loss(from_: DType, to: DType) -> None:
    """TypeError if a conversion would drop imaginary parts."""
    if from_ in d.COMPLEX and to not in d.COMPLEX and to is not d.bool:
        raise TypeError(
            f"converting {from_} to {to} would drop imaginary parts; take real(x) or imag(x) first"
        )


def to_numpy(
    x: Array, dtype: DType | None = None, copy: bool | None = None, *, fetched: bool = False
) -> NDArray:
    """`Array.__array__`: see there; `fetched`: copied where the host does not reach the memory.

    TypeError: If the array is not in the host's memory, and not `fetched`.
    ValueError: If `copy` is False and a conversion is asked for, or the device has memory of its
        own.
    """
    if hints.watched:
        reading(x, "numpy", "numpy")
    backend = x._device.backend
    if not backend.is_on_host:
        if fetched:
            return host_copy(x)
        raise TypeError(
            f"an array on {x._device} is not converted to NumPy silently; "
            "move it with x.to_device('cpu') first"
        )
    if copy is False and not backend.shares_host:
        raise ValueError(
            f"device {x._device} shares no memory with NumPy; use copy=None, as in numpy.asarray(x)"
        )
    if copy:
        array = host_copy(x)
        return array if dtype is None or array.dtype == dtype else _converted(array, dtype)
    array = backend.to_host(x._handle)
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"cannot convert {array.dtype} to {dtype} without a copy")
        return _converted(array, dtype)
    return array


def _converted(array: NDArray, dtype: DType) -> NDArray:
    """`array` with another dtype, with NumPy's warnings."""
    if array.dtype.kind == "c" and np.dtype(dtype).kind in "iuf":
        text = "Casting complex values to real discards the imaginary part"
        warn(text, np.exceptions.ComplexWarning)
        array = array.real
    converted: NDArray = located(array.astype, dtype)
    return converted


def host_copy(x: Array) -> NDArray:
    """The elements of `x` as a NumPy array of its own, so that `x` need not be handed out."""
    backend = x._device.backend
    backend.evaluate(x._handle)
    return backend.to_host(backend.copy(x._handle))


def array_interface(x: Array) -> dict[str, object]:
    """`Array.__array_interface__`, with which Pillow makes an image.

    NumPy asks for it before it asks `__array__`, which is faster and knows whether a copy is
    wanted. So only arrays of bytes, as most images are, have it.

    AttributeError: If the dtype is not uint8, or `asarray` of NumPy would not share the memory.
    """
    if x._dtype is not d.uint8 or not x._device.backend.shares_host:
        raise AttributeError("only uint8 arrays have __array_interface__, in the host's memory")
    array = to_numpy(x)
    # The block of memory is an object that keeps it, where an address would not.
    block, offset = array, 0
    if not array.flags.c_contiguous:
        low, high = np.lib.array_utils.byte_bounds(array)
        forwards = array[tuple([slice(None, None, -1 if n < 0 else 1) for n in array.strides])]
        block = np.lib.stride_tricks.as_strided(forwards, (high - low,), (1,))
        offset = array.__array_interface__["data"][0] - low
    return {
        "version": 3,
        "shape": array.shape,
        "typestr": array.dtype.str,
        # They are there also where they could be left out, so that Pillow calls `tobytes`.
        "strides": array.strides,
        "data": memoryview(block),  # type: ignore[arg-type]  # NumPy's stubs lack it on 3.11
        "offset": offset,
    }


# ---------------------------------------------------------------------- devices and pickle


def adopt(x: Foreign, device: Device, copy: bool | None = None) -> Array:
    """An engine's own array, on that device, as ours, in the same memory if that can be shared.

    ValueError: If a copy is needed and `copy` is False.
    """
    backend = device.backend
    handle = backend.from_native(x)
    if copy is False and backend.shares_host and backend.native(handle) is not x:
        raise ValueError(
            f"the memory of this {type(x).__name__} cannot be shared as it is: its elements are "
            "not aligned, or still to be conjugated; use copy=None"
        )
    return wrap(handle, backend.dtype(handle), device)


@method("to_device")
def to_device(x: Array, device: Device | str | None, /, *, stream: object = None) -> Array:
    """`Array.to_device`: see there. Devices that see the same memory share it."""
    target = as_device(device)
    if stream is not None:
        raise ValueError(f"device {target} has no streams; leave out stream=")
    if target is x._device:
        return x
    if target == x._device:
        return wrap(x._handle, x._dtype, target)
    available(x._dtype, target)
    if hints.watched:
        reading(x, "to_device", target.name)
    return moved(x, target)


def moved(x: Array, target: Device) -> Array:
    """`x` on another device, which has its dtype, without a report."""
    source, backend = x._device.backend, target.backend
    handle = x._handle
    if not source.is_on_host and source.dlpack_device()[0] == backend.dlpack_device()[0]:
        # A copy in memory of its own can be written.
        if source.read_only_reason(handle) is not None:
            handle = source.copy(handle)
        try:
            there = backend.from_native(source.native(handle))
        except BufferError:
            there = backend.from_native(source.native(source.copy(handle)))
    else:
        array = source.to_host(handle)
        if _takes(target, array):
            there = backend.from_host(array, copy=not array.flags.writeable)
        else:
            own = zeros_and_ones(suitable(array, backend.word))
            there = backend.from_host(own, copy=False, lent=False)
    return wrap(there, x._dtype, target)


def to_device_in_place(x: Array, target: Device) -> Array:
    """`x` on `target`, in the same memory.

    ValueError: If it takes a copy.
    """
    if target == x._device:
        return to_device(x, target)
    available(x._dtype, target)
    if hints.watched:
        reading(x, "to_device", target.name)
    return moved_in_place(x, target)


def moved_in_place(x: Array, target: Device) -> Array:
    source, backend = x._device.backend, target.backend
    if source.read_only_reason(x._handle) is None:
        if not source.is_on_host and source.dlpack_device() == backend.dlpack_device():
            try:
                return wrap(backend.from_native(source.native(x._handle)), x._dtype, target)
            except BufferError:
                pass
        elif source.shares_host and backend.shares_host:
            array = source.to_host(x._handle)
            if _takes(target, array):
                return wrap(backend.from_host(array, copy=False), x._dtype, target)
    raise ValueError(
        f"cannot move an array from {x._device} to {target} without a copy; use copy=None"
    )


def _restore(array: NDArray, device: Device | str) -> Array:
    target = as_device(device)
    if hints.watched:
        taking(None, "pickle", target, array.nbytes)
    return from_numpy(array, None, target, None, lent=False)


@method("__reduce__")
def reduce(x: Array) -> tuple[object, ...]:
    """`Array.__reduce__`: the elements, packed, and the device."""
    if hints.watched:
        reading(x, "pickle", "python")
    return _restore, (host_copy(x), x._device)
