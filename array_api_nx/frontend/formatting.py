"""What arrays look like in print: NumPy's notation, under NumPy's print options."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..config import hints
from ..device import default_device
from ..tracing.recorder import Traced
from .interop import host_copy, reading

if TYPE_CHECKING:
    from .array import Array

__all__ = ["array_format", "array_repr", "array_str"]

_PREFIX = "Array("


def array_repr(x: Array) -> str:
    """The elements with dtype, with the shape where they do not show it, and with the device
    where it is not the default one; large arrays abbreviated."""
    if not x._device.backend.has_elements(x._handle):
        return _without_elements(x)
    if hints.watched:
        reading(x, "print", "python")
    options = np.get_printoptions()
    shape = x.shape
    tail = f", dtype={x.dtype}"
    if x.device != default_device():
        tail += f", device={str(x.device)!r}"
    tail += ")"
    size = prod(shape)
    if (size == 0 and shape != (0,)) or size > options["threshold"]:
        tail = f", shape={shape}" + tail
    host = host_copy(x)
    text = np.array2string(host, separator=", ", prefix=_PREFIX, suffix=")")
    last_line = len(text) - text.rfind("\n") - 1 + (0 if "\n" in text else len(_PREFIX))
    if last_line + len(tail) > options["linewidth"]:
        tail = ",\n" + " " * len(_PREFIX) + tail[2:]
    return _PREFIX + text + tail


def array_str(x: Array) -> str:
    """The elements alone; large arrays abbreviated."""
    if not x._device.backend.has_elements(x._handle):
        return _without_elements(x)
    if hints.watched:
        reading(x, "print", "python")
    return str(host_copy(x))


def _without_elements(x: Array) -> str:
    why = "being traced" if type(x._handle) is Traced else f"device={str(x._device)!r}"
    return f"Array(shape={x.shape}, dtype={x.dtype}, {why})"


def array_format(x: Array, spec: str) -> str:
    """``format(x, spec)``: a 0-d array as its Python scalar, any other without a spec only.

    Raises
    ------
    TypeError
        If there is a spec for an array that has axes.
    """
    if not spec:
        return array_str(x)
    shape = x.shape
    if shape:
        raise TypeError(
            f"the format {spec!r} is for scalars, not for an array of shape {shape}; "
            "format its elements one by one, or leave out the format"
        )
    if hints.watched:
        reading(x, "print", "python")
    return format(host_copy(x).item(), spec)
