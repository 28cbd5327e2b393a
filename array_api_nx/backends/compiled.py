"""Loading the package's compiled extensions, without which everything works, only slower."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

__all__ = ["load"]


def load(name: str, package: str | None) -> ModuleType | None:
    """The extension `name` of a package; None if it was not built, or ARRAY_API_NX_EXTENSION=0
    forbids it."""
    if os.environ.get("ARRAY_API_NX_EXTENSION") == "0":
        return None
    try:
        return import_module(f".{name}", package)
    except ImportError:
        return None
