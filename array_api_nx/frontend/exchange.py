"""What DLPack's functions in C do with arrays (see native/chapters/exchange.c), in Python."""

from __future__ import annotations

from typing import Final, final

from ..core import dtypes as d
from ..device import default_device
from ..native import native
from .annotations import Foreign
from .array import Array
from .creation import empty
from .dlpack import from_dlpack

_VERSION: Final = (1, 3)


@final
class _Exported:
    """A capsule of another library as an object with ``__dlpack__``."""

    __slots__ = ("_capsule", "_device")

    def __init__(self, capsule: object, device: tuple[int, int]) -> None:
        self._capsule = capsule
        self._device = device

    def __dlpack__(self, **options: Foreign) -> object:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


def _export(x: Array) -> object:
    return x.__dlpack__(max_version=_VERSION)


def _adopt(capsule: object, kind: int, number: int) -> Array:
    return from_dlpack(_Exported(capsule, (kind, number)), None, None)


def _allocate(shape: tuple[int, ...], dtype: tuple[int, int, int], kind: int, number: int) -> Array:
    code, bits, lanes = dtype
    found = d.of_dlpack(code, bits)
    if found is None or lanes != 1:
        raise BufferError(
            f"the standard has no dtype of DLPack's code {code}, {bits} bits and {lanes} lanes"
        )
    device = default_device()
    if device.backend.dlpack_device() != (kind, number):
        raise BufferError(
            f"arrays are made on the default device, {device}, which is not DLPack's device "
            f"{(kind, number)}; set another one with config_context(default_device=...)"
        )
    return empty(shape, dtype=found, device=device)


def offer() -> None:
    """Give the class of arrays its table of functions in C, where it is a type in C."""
    if native is not None:
        native.offer_exchange(_export, _adopt, _allocate)
