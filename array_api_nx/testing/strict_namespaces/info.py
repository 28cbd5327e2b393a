"""What tells of a strict namespace: ``__array_namespace_info__()``, and ``finfo`` and ``iinfo``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.dtypes import KINDS
from ...device import Device
from ...frontend.data_type import FloatInfo, IntInfo
from ...frontend.inspection import Info
from .array import check_device
from .dtypes import STRICT, StrictDType
from .errors import Section, refuse_attribute

if TYPE_CHECKING:
    from .policy import Policy

SECTION = Section("Inspection")


class StrictInfo:
    """The devices, dtypes, defaults and capabilities of a strict namespace."""

    __slots__ = ("_info", "_policy")

    def __init__(self, policy: Policy, info: Info) -> None:
        self._policy = policy
        self._info = info

    def __getattr__(self, name: str) -> Any:
        raise refuse_attribute("__array_namespace_info__()", name, None, SECTION)

    def capabilities(self) -> dict[str, bool | int | None]:
        """The optional features of the namespace; the number of dimensions came with 2024.12."""
        found = self._info.capabilities()
        found["boolean indexing"] = self._policy.boolean_indexing
        found["data-dependent shapes"] = self._policy.data_dependent_shapes
        if self._policy.version < "2024.12":
            del found["max dimensions"]
        return found

    def default_device(self) -> Device:
        """The device of new arrays."""
        return self._info.default_device()

    def default_dtypes(self, *, device: Device | None = None) -> dict[str, StrictDType]:
        """The dtypes of new arrays, by kind."""
        where = None if device is None else check_device("default_dtypes", device)
        found = self._info.default_dtypes(device=where)
        return {kind: STRICT[dtype] for kind, dtype in found.items()}

    def devices(self) -> tuple[Device, ...] | list[Device]:
        """The devices of this machine: a list before 2025.12."""
        found = self._info.devices()
        return list(found) if self._policy.version < "2025.12" else found

    def dtypes(
        self, *, device: Device | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, StrictDType]:
        """The dtypes of a device by name, all of them or those of a kind."""
        for each in kind if isinstance(kind, tuple) else () if kind is None else (kind,):
            if each not in KINDS:
                raise SECTION.refuse(
                    ValueError, f"dtypes: no kind {each!r}", f"use one of {', '.join(KINDS)}"
                )
        where = None if device is None else check_device("dtypes", device)
        found = self._info.dtypes(device=where, kind=kind)
        return {name: STRICT[dtype] for name, dtype in found.items()}


class Limits:
    """What ``finfo`` and ``iinfo`` return: attributes to be read, and nothing else."""

    __slots__ = ("_limits",)

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, limits: FloatInfo | IntInfo) -> None:
        object.__setattr__(self, "_limits", limits)

    def __getattr__(self, name: str) -> Any:
        limits = object.__getattribute__(self, "_limits")
        if name not in type(limits).__dataclass_fields__:
            owner = "what finfo returns" if isinstance(limits, FloatInfo) else "what iinfo returns"
            raise refuse_attribute(owner, name, None, "Data Type Functions")
        found = getattr(limits, name)
        return STRICT[found] if name == "dtype" else found

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot assign to {name!r}: what dtypes can hold is given")

    def __repr__(self) -> str:
        return repr(object.__getattribute__(self, "_limits"))

    def __reduce__(self) -> tuple[object, tuple[FloatInfo | IntInfo]]:
        return Limits, (object.__getattribute__(self, "_limits"),)
