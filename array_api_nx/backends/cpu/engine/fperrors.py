"""NumPy's floating-point warnings, at the line outside this package that a user can change.

NumPy warns at the line that calls it, which is one of this package. So everything that computes
reports floating-point errors in one of three ways:

- a deferred operation reads NumPy's errstate when it is called (`modes`), and warns when it is
  computed (`report`);
- an operation that the extension has just computed is followed by `apply_errstate`, which does what
  the errstate asks for;
- functions of NumPy are called by `located`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from contextvars import Context
from importlib import import_module
from operator import itemgetter
from typing import Any, Final, TypeAlias

import numpy as np

from ....contract.callers import errstate, warn
from ....native import native

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

# The categories of raised flags, by the flags.
_RAISED: Final = tuple(
    [
        tuple([(category, text) for bit, category, text in _CATEGORIES if flags & bit])
        for flags in range(16)
    ]
)

# What `modes` returns, by the settings of the categories. Other settings have no entry.
_in_order: Final = itemgetter(*[name for _, name, _ in _CATEGORIES])
_MODES: Final = {
    tuple(["warn" if mask & bit else "ignore" for bit, *_ in _CATEGORIES]): mask
    for mask in range(16)
}


settings_variable: Final[Any] = getattr(
    import_module("numpy._core.umath"), "_extobj_contextvar", None
)
"""NumPy's context variable of its errstate, which `modes` reads; None where NumPy has no such
thing."""


def _ignoring() -> object:
    with np.errstate(all="ignore"):
        return None if settings_variable is None else settings_variable.get()


ignoring_settings: Final[object] = _ignoring()
"""What that variable has while all errors are ignored."""


def modes(module: object = "") -> Modes | None:
    """The flags of which NumPy warns under the current errstate.

    To ask NumPy takes about a microsecond. Small operations and programs ask only after there were
    errors.

    module: That of the line outside this package that led here, if it is known.
    Returns: None if an error is to be raised, printed, logged or passed to a function: then the
        computation cannot be deferred.
    """
    return _MODES.get(_in_order(errstate(module)))


def report(raised: Iterable[tuple[str, int, Modes]]) -> None:
    """Warn of the floating-point errors of operations, in NumPy's words.

    raised: Per operation: NumPy's name for it, the flags that it raised, and what `modes` said
        where it was called.
    RuntimeWarning: Once per operation and kind of error, at the line outside this package that
        asked for the values.
    """
    for name, flags, mask in raised:
        wanted = flags & mask
        for _, text in _RAISED[wanted]:
            warn(f"{text} encountered in {name}")


def apply_errstate(name: str, flags: int) -> None:
    """Do what NumPy's errstate asks for, after an operation that raised flags.

    name: NumPy's name for the operation.
    RuntimeWarning: At the line outside this package that called the operation.
    FloatingPointError: Where `numpy.errstate` says "raise".
    """
    _apply(name, flags, errstate())


def _apply(name: str, flags: int, settings: Mapping[str, object]) -> None:
    for category, text in _RAISED[flags]:
        mode = settings[category]
        if mode == "warn":
            warn(f"{text} encountered in {name}")
        elif mode != "ignore":
            _ACTIONS[str(mode)](name, text, flags)


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


# What the other modes of NumPy's errstate do, besides to warn and to ignore.
_ACTIONS: Final = {"raise": _raise, "call": _call, "print": _print, "log": _log}


# ---------------------------------------------------------------------- calls of NumPy
#
# NumPy keeps its errstate in a context variable. `located` calls a function in a context whose
# errstate logs all errors. That changes no result, and the log says which operation met which
# errors. Then `_apply_to_log` does for each operation what the caller's errstate asks for.


class _Log:
    """An object with the method `write`, which NumPy's errstate "log" wants."""

    __slots__ = ("write",)

    def __init__(self, write: Callable[[str], None]) -> None:
        self.write = write


def recording() -> tuple[Context, list[str]]:
    """A context in which NumPy writes floating-point errors to a list, and that list.

    No other variable is set in the context, so that it keeps no object of a caller alive.
    """
    texts: list[str] = []
    context = Context()
    context.run(np.seterr, all="log")
    context.run(np.seterrcall, _Log(texts.append))
    return context, texts


_BITS: Final = {text: bit for bit, _, text in _CATEGORIES}


def operations(texts: Iterable[str]) -> list[tuple[str, int]]:
    """Name and flags of each operation that wrote to the list of `recording`.

    An operation writes one text per flag, in the order of `_CATEGORIES`. Texts of one name in that
    order are taken for one operation, although they may be of two.
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


def _apply_to_log(texts: list[str]) -> None:
    """Do what the errstate of the caller asks for, per operation that wrote a text."""
    settings = errstate()
    if _in_order(settings) != _ALL_IGNORED:
        for name, flags in operations(texts):
            _apply(name, flags, settings)


_ALL_IGNORED: Final = ("ignore",) * len(_CATEGORIES)

# Results of `recording` that no call uses. A call takes one out, so that no other call has it.
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
            _apply_to_log(met)


located: Final[Callable[..., Any]] = (
    _located if native is None else native.ContextCaller(recording, _apply_to_log)
)
"""``located(function, *args, **keywords)``: the result of a function of NumPy, whose floating-point
warnings name the user's line. What NumPy's errstate asks for is done when the function is over. So
where errors are raised, a function that writes to memory in several steps has done all of them.

The function sees no context variables of the caller: neither the settings of this package, nor the
buffer size that `numpy.setbufsize` sets."""
