"""All the C of the project, and how it is loaded; without it everything works, only slower."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from types import ModuleType
from typing import Final

__all__ = ["MEND", "load"]

MEND: Final = (
    "install a C compiler, then the package anew: pip install --force-reinstall --no-deps "
    "array-api-nx, or pip install -e . in a checkout"
)
"""What brings an extension that was not built."""

_told = False


def load(name: str) -> ModuleType | None:
    """The extension `name`; None if it was not built, or ARRAY_API_NX_EXTENSION=0 forbids it.

    That one was not built is told once, by an ImportWarning, which Python shows to who asks for it
    (``python -W default``). `show_config` tells it at any time.
    """
    global _told
    if os.environ.get("ARRAY_API_NX_EXTENSION") == "0":
        return None
    try:
        return import_module(f".{name}", __name__)
    except ImportError as error:
        if not _told:
            _told = True
            warnings.warn(
                f"array_api_nx runs without its C extension, in general slower ({error}); {MEND}",
                ImportWarning,
                stacklevel=2,
            )
        return None
