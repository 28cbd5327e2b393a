"""Warnings that name a line which users can change."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from pathlib import Path
from typing import Final

import numpy as np

__all__ = ["warn"]

_PACKAGE: Final = str(Path(__file__).parents[1]) + os.sep
# Frames of these files are not the user's: besides this package, NumPy's Python functions (which
# may call methods of ours) and contextlib.
_INSIDE: Final = _PACKAGE, str(Path(np.__file__).parent) + os.sep, contextlib.__file__


def warn(message: str, category: type[Warning] = RuntimeWarning) -> None:
    """Warn at the line outside this package, and outside NumPy, that led here."""
    if sys.version_info >= (3, 12):
        warnings.warn(message, category, skip_file_prefixes=_INSIDE)
    else:
        level = 1
        frame = sys._getframe()
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
            frame = frame.f_back
            level += 1
        warnings.warn(message, category, stacklevel=level)
