"""The compiled extension, where there is one."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import Final

__all__ = ["extension"]


def _load() -> ModuleType | None:
    if os.environ.get("ARRAY_API_NX_EXTENSION") == "0":
        return None
    try:
        return import_module("._blocks", __package__)
    except ImportError:
        return None


extension: Final = _load()
"""The module `_blocks`; None if it was not built, or ARRAY_API_NX_EXTENSION=0 forbids it."""

if extension is not None and hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=extension.forget_threads)
