"""DLPack: the memory of arrays for other libraries, and that of others as arrays."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..config import hints
from ..contract.arguments import Native
from ..contract.handles import HOST
from ..contract.numpy_dtypes import has_negative_strides
from ..core import dtypes as d
from ..device import Device, as_device, default_device, device_of
from ..native import native, with_native
from .annotations import LEFT_OUT, Foreign
from .array import Array, method, wrap
from .interop import adopt, from_numpy, imported, moved, moved_in_place, reading, taking


@method("__dlpack__", with_native)
def to_dlpack(
    x: Array, *, stream: object, max_version: Foreign, dl_device: Foreign, copy: Foreign
) -> Foreign:
    """`Array.__dlpack__`: see there.

    The protocol has no way to say whether a consumer takes negative strides. NumPy does. It always
    passes `dl_device` and `copy`; PyTorch, which does not (2.13 ends the process), leaves out
    those that are None.

    BufferError: If the memory cannot be exported as asked.
    TypeError, ValueError: If an argument is not what the protocol says.
    """
    backend = x._device.backend
    takes_negative_strides = dl_device is None or copy is None or copy is True
    dl_device = None if dl_device is LEFT_OUT else dl_device
    copy = None if copy is LEFT_OUT else copy
    if max_version is not None:
        _check_pair("max_version", max_version, "the version that you know, as in (1, 0)")
        if max_version < (1, 0):
            # Before versions there was one kind of capsule, which is what None asks for.
            max_version = None
    if dl_device is not None:
        _check_pair("dl_device", dl_device, "the kind of device and its number, as in (1, 0)")
    if copy is not None and copy is not True and copy is not False:
        raise TypeError(f"copy= must be True, False or None, not {copy!r}; give one of the three")
    options = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
    to_host = backend.is_on_host or (dl_device is not None and dl_device[0] == HOST)
    if hints.watched:
        reading(x, "dlpack", "host" if to_host else x._device.name)
    if not backend.is_on_host:
        options["stream"] = stream
    elif stream is not None:
        raise BufferError(f"device {x._device} has no streams; leave out stream=")
    elif dl_device is not None and dl_device != (HOST, 0):
        raise BufferError(
            f"an array on device {x._device} is not exported to DLPack device {dl_device}; move it "
            "with to_device first"
        )
    try:
        try:
            if backend.shares_host and backend.read_only_reason(x._handle) is not None:
                # NumPy's capsules say that the memory is read-only; those of other engines do not.
                theirs = backend.to_host(x._handle)
            else:
                theirs = backend.native(x._handle)
            if copy is False and not _in_place(x, theirs):
                raise BufferError(f"device {x._device} cannot export the array without a copy")
            return _capsule(theirs, options, takes_negative_strides)
        except BufferError:
            if copy is False:
                raise
            if not to_host and copy:  # CuPy exports no copies
                copied = backend.native(backend.copy(x._handle))
                return _capsule(copied, {**options, "copy": None}, takes_negative_strides)
            if not backend.is_on_host:
                raise
            # NumPy can do more than some engines, with the same memory or a copy of it.
            return _capsule(backend.to_host(x._handle), options, takes_negative_strides)
    except (BufferError, ValueError) as error:
        raise BufferError(f"{error}; export a copy: asarray(x, device='cpu', copy=True)") from error


def _check_pair(name: str, value: object, meaning: str) -> None:
    """TypeError or ValueError unless `value` is what DLPack has for versions and devices."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(f"{name}= must be a tuple of two ints, not {value!r}; give {meaning}")
    for number in value:
        if not isinstance(number, int) or type(number) is bool:
            raise TypeError(f"{name}= must be a tuple of two ints, not {value!r}; give {meaning}")
        if number < 0:
            raise ValueError(f"{name}= must not be negative, but is {value!r}; give {meaning}")


def _capsule(array: Native, options: dict[str, Foreign], takes_negative_strides: bool) -> Foreign:
    """What `array`, of an engine or NumPy, gives to a consumer; BufferError if nothing."""
    if not takes_negative_strides and has_negative_strides(array):
        raise BufferError(
            "the array has a negative stride, as after x[::-1], which not every consumer takes"
        )
    if type(array) is not np.ndarray or array.dtype in d.NUMPYS:
        return array.__dlpack__(**options)
    if native is None:
        raise BufferError(f"without the extension, there is no capsule of {array.dtype}")
    capsule = array.view(f"u{array.itemsize}").__dlpack__(**options)
    native.relabel(capsule, d.dlpack_code(array.dtype))
    return capsule


def _in_place(x: Array, exported: Native) -> bool:
    """Whether `exported` is in the memory of `x`, or in that which the engine computed it to.

    An engine whose arrays never change, or are computed on demand, has no other memory to export.
    """
    backend = x._device.backend
    if not backend.shares_host:
        return True
    array = backend.to_host(x._handle)
    theirs = exported if type(exported) is np.ndarray else imported(exported, None, None)
    return not array.size or np.may_share_memory(theirs, array)


def from_dlpack(x: Foreign, device: Device | str | None, copy: bool | None) -> Array:
    """Another library's array as ours: see `creation.from_dlpack`."""
    if not hasattr(x, "__dlpack__"):
        raise AttributeError(
            f"from_dlpack takes objects with __dlpack__, not a {type(x).__name__}; use asarray"
        )
    if x.__dlpack_device__()[0] != 1:
        result = _from_accelerator(x, device, copy)
    else:
        result = _from_host_memory(x, device, copy)
    if hints.watched:
        taking(x, "from_dlpack", result._device, result.nbytes)
    return result


def _from_host_memory(x: Foreign, device: Device | str | None, copy: bool | None) -> Array:
    target = default_device() if device is None else as_device(device)
    if device_of(x) == target:
        return _exported(x, target, target, copy)
    place: Literal["cpu"] | None = None if device is None else "cpu"
    try:
        array = imported(x, place, copy)
    except RuntimeError as error:
        dtype = getattr(x, "dtype", type(x))
        raise BufferError(f"there is no dtype for {dtype}; convert the array first") from error
    try:
        kept = False if copy is False else None
        return from_numpy(array, None, target, kept, lent=copy is not True)
    except TypeError as error:
        raise BufferError(str(error)) from None


def _from_accelerator(x: Foreign, device: Device | str | None, copy: bool | None) -> Array:
    """`from_dlpack` for memory that is not the host's: it stays with the engine that made it."""
    there = device_of(x)
    if there is None:
        raise BufferError(
            f"no engine here knows where a {type(x).__name__} on DLPack device "
            f"{x.__dlpack_device__()} lives; move it to the CPU first"
        )
    return _exported(x, there, there if device is None else as_device(device), copy)


def _exported(x: Foreign, there: Device, target: Device, copy: bool | None) -> Array:
    """`from_dlpack` of an engine's own array, which is on `there`."""
    try:
        adopted = adopt(x, there, copy)
    except TypeError as error:
        raise BufferError(str(error)) from None
    if copy is False:
        if target != there:
            return moved_in_place(adopted, target)
        return wrap(adopted._handle, adopted._dtype, target)
    if target != there:
        return moved(adopted, target)
    handle = adopted._handle
    return wrap(target.backend.copy(handle) if copy else handle, adopted._dtype, target)
