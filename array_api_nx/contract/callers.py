"""The line of a user's program that led into this package: for warnings, for records, and for what
NumPy's errstate says there."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

PACKAGE: Final = str(Path(__file__).parents[1]) + os.sep
"""The beginning of the names of this package's files."""

INSIDE: Final = PACKAGE, str(Path(np.__file__).parent) + os.sep, contextlib.__file__
"""Frames of files that begin so are not the user's: those of this package, of NumPy (whose
functions may call methods of ours) and of contextlib."""


def calling_frame(passed: list[FrameType] | None = None) -> FrameType:
    """The frame outside this package, and outside NumPy, that led to the caller of this function.

    `passed` receives the frames inside, from the caller of the caller on.
    """
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(INSIDE):
        if passed is not None:
            passed.append(frame)
        frame = frame.f_back
    return frame


def warn(message: str, category: type[Warning] = RuntimeWarning) -> None:
    """Warn at the line outside this package, and outside NumPy, that led here."""
    inside: list[FrameType] = []
    calling_frame(inside)
    warnings.warn(message, category, stacklevel=len(inside) + 2)


ErrorSettings: TypeAlias = dict[str, Any]
"""What ``np.geterr()`` returns. The values are strings, which its type hides, as it is no plain
dict."""

CONSUMERS: Final = frozenset({"scipy", "sklearn"})
"""Packages whose code takes NumPy's arrays in some places and those of any library in others."""


def is_consumer(module: object = "") -> bool:
    """Whether the line outside this package, and outside NumPy, that led here is one of
    `CONSUMERS`. Its module is looked for if it is not given."""
    found = module or calling_frame().f_globals.get("__name__")
    return str(found).partition(".")[0] in CONSUMERS


def is_called_by(functions: Sequence[tuple[str, str]]) -> bool:
    """Whether one of `functions` called the package: by the ends of their modules' names, and
    their own names."""
    frame = calling_frame()
    module = f".{frame.f_globals.get('__name__', '')}"
    function = frame.f_code.co_qualname
    # A method is known by its class.
    names = (function, function.partition(".")[0])
    return any([module.endswith(f".{end}") and name in names for end, name in functions])


def errstate(module: object = "") -> ErrorSettings:
    """NumPy's errstate, as it holds for the line outside this package that led here.

    Lines of `CONSUMERS` ignore instead of warning. Their code for arrays of any library is written
    for libraries without warnings: it expects infinities and NaN, and uses `numpy.errstate` for
    NumPy's arrays alone.

    module: The module of that line, if it is known.
    """
    settings: ErrorSettings = dict(np.geterr())
    if is_consumer(module):
        return {name: "ignore" if mode == "warn" else mode for name, mode in settings.items()}
    return settings


class Caller(NamedTuple):
    """Who called this package.

    `call`: the name of the function or method of this package that was called, such as
    ``__float__``.
    `lineno`: the line outside this package, and outside NumPy, that led there.
    """

    call: str
    filename: str
    lineno: int


def caller() -> Caller:
    """The line outside this package and NumPy that led here, and the function that it called."""
    inside: list[FrameType] = []
    frame = calling_frame(inside)
    call = sys._getframe(1).f_code.co_name
    for each in inside:
        name = each.f_code.co_name
        if each.f_code.co_filename.startswith(PACKAGE) and _is_public(name):
            call = name
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
