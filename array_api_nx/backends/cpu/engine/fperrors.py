"""NumPy's floating-point warnings, at the line outside this package that a user can change.

NumPy warns at the line that calls it, which is one of this package. There are three ways to another
line. For computations that run later than they were called, how floating-point errors are treated
is read where an operation is called (`modes`) and applied where it is computed (`report`). Where
the extension has just computed an operation, `treat` does what NumPy would do of its own. Calls of
NumPy's functions go through `located`.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextvars import Context
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from .extension import extension

__all__ = [
    "DIVIDE",
    "INVALID",
    "OVERFLOW",
    "UNDERFLOW",
    "ErrorSettings",
    "Modes",
    "located",
    "modes",
    "operations",
    "recording",
    "report",
    "treat",
    "warn",
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

# By the flags that were raised: their categories.
_RAISED: Final = tuple(
    [
        tuple([(category, text) for bit, category, text in _CATEGORIES if flags & bit])
        for flags in range(16)
    ]
)

# From the settings of these categories to what `modes` is, where it is something.
_in_order: Final = itemgetter(*[name for _, name, _ in _CATEGORIES])
_MODES: Final = {
    tuple(["warn" if mask & bit else "ignore" for bit, *_ in _CATEGORIES]): mask
    for mask in range(16)
}

_PACKAGE: Final = str(Path(__file__).parents[3]) + os.sep
# Between a user's line and the one that warns there are also functions of NumPy that are written in
# Python or call methods of ours, and the frames of context managers.
_INSIDE: Final = _PACKAGE, str(Path(np.__file__).parent) + os.sep, contextlib.__file__


class ErrorSettings(NamedTuple):
    """What a program's function says itself of the errors of an operation.

    Attributes
    ----------
    warned, ignored : int
        Flags. Of the others, what is set where the program runs counts.
    """

    warned: Modes
    ignored: Modes

    @staticmethod
    def of(errstate: Iterable[tuple[str, str]]) -> ErrorSettings | None:
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
        return ErrorSettings(warned, ignored)

    def code(self) -> Modes:
        """A number in place of `Modes`, for nodes and passes of programs; see `asked`."""
        return self.warned | self.ignored << 4

    @staticmethod
    def asked(code: Modes, here: Modes) -> Modes:
        """Which flags to warn of, where `here` are those by NumPy's settings."""
        return here & ~(code >> 4) | code & 15


def modes() -> Modes | None:
    """How NumPy treats floating-point errors here: which flags it warns of.

    To ask NumPy takes about a microsecond. Small operations and programs ask only where there were
    errors.

    Returns
    -------
    int or None
        None if `numpy.errstate` or `numpy.seterr` ask for anything but to warn or to ignore: then
        the computation cannot be put off.
    """
    return _MODES.get(_in_order(np.geterr()))


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
        for _, text in _RAISED[wanted]:
            warn(f"{text} encountered in {name}")


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


def treat(name: str, flags: int) -> None:
    """Do of the flags that an operation raised what NumPy would do of its own.

    Parameters
    ----------
    name : str
        NumPy's name for the operation.
    flags : int

    Warns
    -----
    RuntimeWarning
        At the line outside this package that called the operation.

    Raises
    ------
    FloatingPointError
        Where `numpy.errstate` says "raise".
    """
    _treat(name, flags, np.geterr())


def _treat(name: str, flags: int, settings: Mapping[str, object]) -> None:
    for category, text in _RAISED[flags]:
        mode = settings[category]
        if mode == "warn":
            warn(f"{text} encountered in {name}")
        elif mode != "ignore":
            _ACTIONS[mode](name, text, flags)


def _raise(name: str, text: str, flags: int) -> None:
    raise FloatingPointError(f"{text} encountered in {name}")


def _call(name: str, text: str, flags: int) -> None:
    function: Any = np.geterrcall()
    if function is None:
        raise NameError(f"python callback specified for {text} (in  {name}) but no function found.")
    function(text, flags)


def _print(name: str, text: str, flags: int) -> None:
    # Like NumPy, to the process's standard error, whatever `sys.stderr` is.
    with contextlib.suppress(OSError):
        os.write(2, f"Warning: {text} encountered in {name}\n".encode())


def _log(name: str, text: str, flags: int) -> None:
    log: Any = np.geterrcall()
    if log is None:
        raise NameError(
            f"log specified for {text} (in {name}) but no object with write method found."
        )
    log.write(f"Warning: {text} encountered in {name}\n")


# What NumPy does, by the mode of a category of errors, besides to warn and to ignore.
_ACTIONS: Final[Mapping[object, Callable[[str, str, int], None]]] = {
    "raise": _raise,
    "call": _call,
    "print": _print,
    "log": _log,
}


# ---------------------------------------------------------------------- calls of NumPy
#
# NumPy keeps its error settings per context, in the sense of contextvars. A function that is called
# in a context where all errors are to be logged computes as it would anywhere, and what was logged
# tells which operation met which errors. What the settings of the caller ask for is done then.


class _Log:
    """What NumPy may write to, by its errstate "log"."""

    __slots__ = ("write",)

    def __init__(self, write: Callable[[str], None]) -> None:
        self.write = write


def recording() -> tuple[Context, list[str]]:
    """A context in which NumPy writes floating-point errors to a list; for `operations`.

    The context has nothing else in it, so that it keeps nothing of its caller's alive.
    """
    texts: list[str] = []
    context = Context()
    context.run(np.seterr, all="log")
    context.run(np.seterrcall, _Log(texts.append))
    return context, texts


_BITS: Final = {text: bit for bit, _, text in _CATEGORIES}


def operations(texts: Iterable[str]) -> list[tuple[str, int]]:
    """Per operation that wrote to the list of `recording`: its name, and the flags it raised.

    Of two operations of one name that follow each other, if the second one raised only flags of
    categories that come later, the flags are taken for those of one operation.
    """
    found: list[tuple[str, int]] = []
    for text in texts:
        kind, _, name = text.removeprefix("Warning: ").rstrip("\n").partition(" encountered in ")
        bit = _BITS[kind]
        if found and found[-1][0] == name and found[-1][1] < bit:
            found[-1] = name, found[-1][1] | bit
        else:
            found.append((name, bit))
    return found


def _settle(texts: list[str]) -> None:
    """Do what the settings of the caller ask for."""
    settings = np.geterr()
    if _in_order(settings) != _ALL_IGNORED:
        for name, flags in operations(texts):
            _treat(name, flags, settings)


_ALL_IGNORED: Final = ("ignore",) * len(_CATEGORIES)

# What no call has now; one that is popped is in no other call.
_idle: Final[list[tuple[Context, list[str]]]] = []


def _located(function: Callable[..., Any], /, *args: object, **keywords: object) -> Any:
    """`located` without the extension."""
    try:
        pair = _idle.pop()
    except IndexError:
        pair = recording()
    context, texts = pair
    try:
        return context.run(function, *args, **keywords)
    finally:
        met = texts.copy()
        texts.clear()
        _idle.append(pair)
        if met:
            _settle(met)


located: Final[Callable[..., Any]] = (
    _located if extension is None else extension.ContextCaller(recording, _settle)
)
"""``located(function, *args, **keywords)``: the function's result. It is for functions of NumPy:
warnings of floating-point errors name the line outside this package, and what else the settings of
NumPy's errstate ask for is done when the function is over. So a function that writes to memory in
several steps takes all of them.

The function sees no context variables of the caller: neither the settings of this package, nor the
buffer size that `numpy.setbufsize` sets."""
