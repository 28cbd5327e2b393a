"""All the C of the project, and how it is loaded; without it everything works, only slower."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

__all__ = ["load"]


def load(name: str) -> ModuleType | None:
    """The extension `name`; None if it was not built, or ARRAY_API_NX_EXTENSION=0 forbids it."""
    if os.environ.get("ARRAY_API_NX_EXTENSION") == "0":
        return None
    try:
        return import_module(f".{name}", __name__)
    except ImportError:
        return None
