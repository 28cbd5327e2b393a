"""Inspection: devices, dtypes and capabilities of the namespace."""

from __future__ import annotations

import sys
from functools import lru_cache
from types import ModuleType
from typing import Final

from ..core.dtypes import KINDS, STANDARD, DType
from ..core.shape import MAX_NDIM
from ..device import Device, as_device, default_device, known_devices
from ..native import native

VERSIONS: Final = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
"""The versions of the standard that may be asked for; each is a part of the last."""

if native is not None:
    native.set_versions(VERSIONS)


def namespace(api_version: str | None) -> ModuleType:
    """The public module; ValueError for a version that it does not conform to."""
    if api_version is not None and api_version not in VERSIONS:
        raise ValueError(
            f"no version {api_version!r} of the standard here; versions: {', '.join(VERSIONS)}"
        )
    return sys.modules[__name__.partition(".")[0]]


class Info:
    """What ``__array_namespace_info__()`` returns.

    Standard: inspection.
    """

    __slots__ = ()

    def capabilities(self) -> dict[str, bool | int | None]:
        """What the namespace can do: boolean indexing, data-dependent shapes, dimensions.

        On the default device, as other devices may do less or more.
        """
        traits = default_device().traits
        return {
            "boolean indexing": traits.boolean_indexing,
            "data-dependent shapes": traits.data_dependent_shapes,
            "max dimensions": MAX_NDIM,
        }

    def default_device(self) -> Device:
        """The device of new arrays."""
        return default_device()

    def default_dtypes(self, *, device: Device | str | None = None) -> dict[str, DType]:
        """The dtypes of new arrays, by kind."""
        target = as_device(device)
        return {
            "real floating": target.real,
            "complex floating": target.complex,
            "integral": target.integral,
            "indexing": target.integral,
        }

    def devices(self) -> tuple[Device, ...]:
        """The devices of this machine, as far as they are known without importing an engine.

        The accelerators of PyTorch, JAX and CuPy are listed once the engine is imported. Devices
        for tests are there for those who name them, and listed if one is the default.
        """
        known, default = known_devices(), default_device()
        return known if default in known else (*known, Device(default.name))

    def dtypes(
        self, *, device: Device | str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """The dtypes of a device by name, all of them or those of a kind; only the standard's.

        ValueError: If there is no such kind or device.
        """
        target = as_device(device)
        missing = target.missing
        there = tuple([x for x in target.backend.available_dtypes() if x not in missing])
        kinds = kind if isinstance(kind, tuple) else (kind,)
        for each in kinds:
            if each is not None and (type(each) is not str or each not in KINDS):
                raise ValueError(f"no kind {each!r} of dtypes; kinds: {', '.join(KINDS)}")
        return _by_name(there, kinds).copy()


@lru_cache(maxsize=64)
def _by_name(there: tuple[DType, ...], kinds: tuple[str | None, ...]) -> dict[str, DType]:
    """Those of the dtypes that are of one of the kinds (None: of any), by name."""
    wanted = {dtype for each in kinds for dtype in (STANDARD if each is None else KINDS[each])}
    return {dtype.name: dtype for dtype in there if dtype in wanted and dtype in STANDARD}


_info: Final = Info()


def __array_namespace_info__() -> Info:
    """What the namespace offers: devices, dtypes, defaults and capabilities.

    Standard: inspection.
    """
    return _info
