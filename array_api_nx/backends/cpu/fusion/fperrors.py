"""NumPy's floating-point warnings, for computations that run later than they were called.

How floating-point errors are treated is read where an operation is called (`modes`) and applied
where it is computed (`report`).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

__all__ = [
    "DIVIDE",
    "INVALID",
    "OVERFLOW",
    "UNDERFLOW",
    "Modes",
    "Settings",
    "modes",
    "planned",
    "report",
]

# NumPy's bits for the flags that an operation raises.
DIVIDE: Final = 1
OVERFLOW: Final = 2
UNDERFLOW: Final = 4
INVALID: Final = 8

Modes: TypeAlias = int
"""The flags that NumPy warns of, OR-ed; it ignores the others."""

# In the order in which NumPy looks at them, with its names for them in `errstate` and in warnings.
_CATEGORIES: Final = (
    (DIVIDE, "divide", "divide by zero"),
    (OVERFLOW, "over", "overflow"),
    (UNDERFLOW, "under", "underflow"),
    (INVALID, "invalid", "invalid value"),
)

_PACKAGE: Final = str(Path(__file__).parents[3]) + os.sep


def _find_variable() -> ContextVar[Any] | None:
    """The context variable in which NumPy keeps its state, or None if it is not in just one."""
    outside = copy_context()
    with np.errstate(divide="print"):
        inside = copy_context()
    changed = [variable for variable in inside if inside[variable] is not outside.get(variable)]
    return changed[0] if len(changed) == 1 else None


# numpy.geterr builds a dict, which takes six times as long as looking whether the state is the one
# that was seen last. NumPy never changes a state: errstate and seterr make new ones.
_variable: Final = _find_variable()
_last: tuple[Any, Modes | None] = (object(), None)


planned: Final[ContextVar[Modes | None]] = ContextVar("array_api_nx.planned_modes", default=None)
"""What `modes` is to say where operations are planned rather than called; see `Settings`."""


class Settings(NamedTuple):
    """What a program's function says itself of the errors of an operation.

    Attributes
    ----------
    warned, ignored : int
        Flags. Of the others, what is set where the program runs counts.
    """

    warned: Modes
    ignored: Modes

    @staticmethod
    def of(errstate: Iterable[tuple[str, str]]) -> Settings | None:
        """From the arguments of `numpy.errstate`; None unless all are "warn" or "ignore"."""
        warned = ignored = 0
        bits = {name: bit for bit, name, _ in _CATEGORIES}
        for name, mode in errstate:
            if mode == "warn":
                warned |= bits[name]
            elif mode == "ignore":
                ignored |= bits[name]
            else:
                return None
        return Settings(warned, ignored)

    def code(self) -> Modes:
        """A number for `planned`."""
        return self.warned | self.ignored << 4

    @staticmethod
    def asked(code: Modes, here: Modes) -> Modes:
        """Which flags to warn of, where `here` are those by NumPy's settings."""
        return here & ~(code >> 4) | code & 15


def modes() -> Modes | None:
    """How NumPy treats floating-point errors here: which flags it warns of.

    Returns
    -------
    int or None
        None if `numpy.errstate` or `numpy.seterr` ask for anything but to warn or to ignore: then
        the computation cannot be put off.
    """
    global _last
    code = planned.get()
    if code is not None:
        return code
    if _variable is None:
        return _read()
    state = _variable.get(None)
    last = _last
    if state is last[0]:
        return last[1]
    found = _read()
    _last = (state, found)
    return found


def _read() -> Modes | None:
    asked: dict[str, str] = np.geterr()  # type: ignore[assignment]  # a TypedDict of literals
    if any([mode not in ("ignore", "warn") for mode in asked.values()]):
        return None
    return sum([bit for bit, name, _ in _CATEGORIES if asked[name] == "warn"])


def report(raised: Iterable[tuple[str, int, Modes]]) -> None:
    """Warn of what operations met, in NumPy's words.

    Parameters
    ----------
    raised : iterable of (str, int, int)
        Per operation: NumPy's name for it, the flags that it raised, and what `modes` said where
        it was called.

    Warns
    -----
    RuntimeWarning
        Once per operation and kind of error, at the line outside this package that asked for the
        values.
    """
    for name, flags, mask in raised:
        wanted = flags & mask
        if wanted:
            for bit, _, text in _CATEGORIES:
                if wanted & bit:
                    _warn(f"{text} encountered in {name}")


def _warn(message: str) -> None:
    if sys.version_info >= (3, 12):
        warnings.warn(message, RuntimeWarning, skip_file_prefixes=(_PACKAGE,))
    else:
        level = 1
        frame = sys._getframe()
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
            frame = frame.f_back
            level += 1
        warnings.warn(message, RuntimeWarning, stacklevel=level)
