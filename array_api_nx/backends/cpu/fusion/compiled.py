"""The compiled extension, where there is one."""

from __future__ import annotations

import os
from typing import Final

from ...compiled import load

__all__ = ["extension"]

extension: Final = load("_blocks", __package__)
"""The module `_blocks`, or None."""

if extension is not None and hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=extension.forget_threads)
