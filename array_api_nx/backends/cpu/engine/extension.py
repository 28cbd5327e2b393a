"""The compiled extension `array_api_nx._native`, or None where it is not built or not wanted."""

from __future__ import annotations

import atexit
import os
from typing import Final

from ....native import native

__all__ = ["extension"]

extension: Final = native
"""The module `array_api_nx._native`, or None."""

if extension is not None:
    atexit.register(extension.retire_workers)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=extension.forget_threads)
