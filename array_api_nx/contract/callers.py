"""The line of a user's program that led into this package, for warnings and for records."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

__all__ = ["PACKAGE", "Caller", "caller", "warn"]

PACKAGE: Final = str(Path(__file__).parents[1]) + os.sep
"""What the names of this package's files begin with."""

# Frames of these files are not the user's: besides this package, NumPy's Python functions (which
# may call methods of ours) and contextlib.
_INSIDE: Final = PACKAGE, str(Path(np.__file__).parent) + os.sep, contextlib.__file__


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


class Caller(NamedTuple):
    """Who called this package.

    Attributes
    ----------
    call : str
        The name of the function or method of this package that was called, such as ``__float__``.
    filename : str
    lineno : int
        The line outside this package, and outside NumPy, that led there.
    """

    call: str
    filename: str
    lineno: int


def caller() -> Caller:
    """The line outside this package, and outside NumPy, that led here, and what it called."""
    frame = sys._getframe(1)
    call = frame.f_code.co_name
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        name = frame.f_code.co_name
        if frame.f_code.co_filename.startswith(PACKAGE) and _is_public(name):
            call = name
        frame = frame.f_back
    return Caller(call, frame.f_code.co_filename, frame.f_lineno)


# What wraps a function, or is written inside one, has no name that a user knows. `call` is what
# functions of strict namespaces are written as.
_NAMELESS: Final = frozenset(
    {
        *["<dictcomp>", "<genexpr>", "<lambda>", "<listcomp>", "<setcomp>", "advised", "call"],
        "recording",
    }
)
# Functions that others call by another way than by their names.
_CALLED_FROM_OUTSIDE: Final = frozenset({"_export", "_restore"})


def _is_public(name: str) -> bool:
    if name.startswith("_") and not name.startswith("__"):
        return name in _CALLED_FROM_OUTSIDE
    return name not in _NAMELESS
