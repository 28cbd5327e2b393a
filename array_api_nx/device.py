"""Devices: what a user names to say where arrays live, and how a name leads to a backend."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, final

from .backends.base import Backend

__all__ = ["Device", "as_device", "default_device", "known_devices", "register"]


@final
class Device:
    """A place where arrays live and are computed.

    Parameters
    ----------
    name : str or Device
        The string that names it, such as ``"cpu"``.

    Raises
    ------
    ValueError
        If no such device is known.

    Notes
    -----
    Equal by name, and the same object for the same name. The backend is loaded on first use.

    Attributes
    ----------
    name : str
    backend : Backend
        Executes primitives on this device.
    """

    __slots__ = ("backend", "name")

    name: str
    backend: Backend

    def __new__(cls, name: str | Device, /) -> Device:
        if isinstance(name, Device):
            return name
        try:
            return _devices[name]
        except (KeyError, TypeError):
            known = ", ".join(map(repr, _devices))
            raise ValueError(f"no device {name!r}; known devices: {known}") from None

    def __repr__(self) -> str:
        return f"Device({self.name!r})"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[type[Device], tuple[str]]:
        return Device, (self.name,)


_devices: Final[dict[str, Device]] = {}


class _NotLoaded:
    """Stands where a device's backend will be, and puts it there when it is first used.

    A property would do the same at the cost of a call for every operation.
    """

    def __init__(self, device: Device, load: Callable[[], Backend]) -> None:
        self._device = device
        self._load = load

    def __getattr__(self, name: str) -> Any:
        self._device.backend = self._load()
        return getattr(self._device.backend, name)


def register(name: str, load: Callable[[], Backend]) -> Device:
    """Make a device known.

    Parameters
    ----------
    name : str
        What users call it.
    load : callable
        Makes its backend; called once, on first use.
    """
    if name in _devices:
        raise ValueError(f"device {name!r} is registered already; choose another name")
    device: Device = object.__new__(Device)
    device.name = name
    device.backend = _NotLoaded(device, load)  # type: ignore[assignment]  # until it is used
    _devices[name] = device
    return device


def known_devices() -> tuple[Device, ...]:
    """All devices of this machine, the default one first."""
    return tuple(_devices.values())


def as_device(device: Any) -> Device:
    """`device` as a Device: itself, the one of that name, or the default one for None."""
    if device is None:
        return default_device
    return Device(device)


def _load_cpu() -> Backend:
    from .backends.cpu import CPUBackend
    from .backends.cpu.fusion.threads import register_controller

    register_controller()
    backend = CPUBackend()
    if os.environ.get("ARRAY_API_NX_CHECKED", "0") not in ("", "0"):
        from .backends.checked import CheckedBackend

        return CheckedBackend(backend)
    return backend


default_device: Final = register("cpu", _load_cpu)
"""Where new arrays live unless they are told otherwise."""
