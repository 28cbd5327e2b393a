"""Operands on several devices: which of them follow, where to, and what is an error.

Functions that take several arrays compare their devices by identity. Where these differ, one of
the functions here says on which device they compute, and gives the operands there. Arrays that were
made without ``device=`` are on a device that is not committed (see `Device`): they follow others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NoReturn

from ..config import current as current_settings
from ..config import hints
from ..contract.events import transferred
from ..device import Device, default_device, nearest
from ..tracing.recorder import current as current_recorder
from .annotations import Foreign
from .array import Array

__all__ = [
    "beside",
    "common_device",
    "device_in",
    "device_of_program",
    "is_strict",
    "on_device",
    "together",
]


def common_device(devices: Iterable[Device]) -> Device:
    """The device on which operands from `devices` are computed.

    Where all have one name it is that device, committed if one of them is. Else it is that of the
    committed ones, or the default device if there are none.

    Raises
    ------
    ValueError
        If there are two committed ones of different names; or two names, while the setting
        `placement` is "strict".
    """
    found: Device | None = None
    differs = False
    for device in devices:
        if found is None or found is device:
            found = device
        elif found == device:
            found = found if found.committed else device
        elif (found.committed and device.committed) or is_strict():
            refuse(found, device)
        elif found.committed is device.committed:
            differs = True
        else:
            found = found if found.committed else device
    assert found is not None
    return default_device() if differs and not found.committed else found


def device_of_program(devices: Sequence[Device]) -> Device:
    """Where a traced function is computed whose arguments are on these devices.

    Several committed ones are no error yet, as it may compute on one of them alone.
    """
    for device in devices:
        if device.committed:
            return device
    return devices[0] if len({*devices}) == 1 else default_device()


def is_strict() -> bool:
    """Whether no array follows another one."""
    return current_settings().placement == "strict"


def refuse(first: Device, second: Device) -> NoReturn:
    """Raise the ValueError for two devices."""
    why = ""
    if not (first.committed and second.committed):
        why = ", and placement='strict' lets no array follow another one"
    raise ValueError(
        f"arrays are on different devices, {first} and {second}{why}; "
        "move them with to_device first"
    )


def together(*arrays: Array) -> Sequence[Array]:
    """Arrays on one device, for what reads them all: see `common_device`."""
    device = arrays[0]._device
    for x in arrays:
        if x._device is not device:
            break
    else:
        return arrays
    device = common_device([x._device for x in arrays])
    return [on_device(x, device) for x in arrays]


def beside(x: Array, value: Array) -> Array:
    """`value` on the device of `x`, to which it is to be written, or in which it selects.

    An array that is written stays where it is, committed or not: its views, and whoever lent its
    memory, would not be told of what is written elsewhere.

    Raises
    ------
    ValueError
        If both are committed to different devices; or if these differ, while the setting
        `placement` is "strict".
    """
    if value._device != x._device and (
        (value._device.committed and x._device.committed) or is_strict()
    ):
        refuse(x._device, value._device)
    return on_device(value, x._device)


def on_device(x: Array, device: Device) -> Array:
    """`x` on the device of another operand, in the nearest dtype that there is.

    It shares the memory of `x` where that is there already.
    """
    from . import data_type, interop

    if x._device is device:
        return x
    if x._device == device:
        moved = Array()
        moved._handle, moved._dtype, moved._device = x._handle, x._dtype, device
        return moved
    if current_recorder.get() is not None:
        raise ValueError(
            f"arrays are on different devices, {x._device} and {device}, and none follows while a "
            "function is traced; move them with to_device first"
        )
    x = data_type.astype(x, nearest(x._dtype, device), copy=False)
    if hints.watched:
        transferred("placement", x._device.name, device.name, x.nbytes)
    return interop.moved(x, device)


def device_in(sequence: Sequence[Foreign]) -> Device:
    """Where an array of the elements of a nested sequence is to be: with the arrays among them."""
    level: Iterable[Foreign] = sequence
    while True:
        kinds = {*map(type, level)}
        if Array in kinds:
            return common_device([x._device for x in level if type(x) is Array])
        if not kinds & {list, tuple}:
            return default_device()
        level = [*chain.from_iterable([x for x in level if type(x) in (list, tuple)])]
