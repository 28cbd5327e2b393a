"""Insight: what this installation is made of and how it is set up."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np

from .. import config
from ..contract.arguments import Info
from ..device import Device, is_loaded, known_devices, named_devices
from .inspection import namespace

Facts: TypeAlias = dict[str, Any]
"""Nested dicts, for users to look into."""


class Configuration(Facts):
    """The dicts that `show_config` returns; a notebook shows tables."""

    def _repr_html_(self) -> str:
        from ..explain.html import card, nested

        return card("array_api_nx", [("", self["versions"]["array_api_nx"])], nested(self))


def show_config(mode: Literal["text", "dict"] = "text") -> Facts | None:
    """Print, or return, what this installation is made of and how it is set up.

    Versions, the platform, the settings in force here (see `config_context`), and for each device
    what its backend tells: on ``cpu`` whether the compiled extension is in use, how many threads
    computations use and why, the sizes of the caches, and the pool of released memory.

    mode: "text" prints; "dict" returns the same as nested dicts of strings, numbers, booleans and
        None.
    Returns (dict or None): None after printing. In a notebook the dicts are shown as tables.
    ValueError: If there is no such mode.

    >>> xp.show_config("dict")["settings"]["fusion"]
    'auto'
    """
    if mode not in ("text", "dict"):
        raise ValueError(f"mode must be 'text' or 'dict', not {mode!r}; 'text' prints")
    package = namespace(None)
    found = Configuration(
        {
            "versions": {
                "array_api_nx": package.__version__,
                "standard": package.__array_api_version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "array-api-compat": _version("array-api-compat"),
            },
            "platform": {
                "system": platform.platform(),
                "machine": platform.machine(),
                "free-threaded": not getattr(sys, "_is_gil_enabled", lambda: True)(),
            },
            "settings": config.current()._asdict(),
            "devices": {
                device.name: _runtime_info(device)
                for device in (*known_devices(), *named_devices())
            },
        }
    )
    if mode == "dict":
        return found
    print("\n".join(_lines(found, "")))
    return None


def _runtime_info(device: Device) -> Info:
    # To ask a backend is to load it, and its engine.
    if device.name == "cpu" or is_loaded(device):
        return device.backend.runtime_info()
    return {"loaded": False}


def _version(distribution: str) -> str | None:
    # Slow to import, and seldom needed.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _lines(facts: Facts, indent: str) -> Iterator[str]:
    """Nested dicts as indented lines."""
    for name, value in facts.items():
        if isinstance(value, dict):
            yield f"{indent}{name}:"
            yield from _lines(value, indent + "  ")
        else:
            yield f"{indent}{name}: {value}"
