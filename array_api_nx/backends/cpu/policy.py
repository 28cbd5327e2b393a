"""The one question: how is an operation on so many elements carried out?

At once
    Up to `AT_ONCE_MAX` elements: on one thread, as NumPy does it or in less time.
By a kernel
    Above: NumPy's inner loops run over tiles on several threads, into memory of the pool.
Deferred
    Above the setting `fusion_threshold`: the operation becomes a pending expression, and is fused
    with those that read it. Whatever cannot be deferred is computed by a kernel.

Without the extension everything runs at once, on NumPy. (Passes whose tiles were computed by calls
from Python took two to three times as long as NumPy does one by one: 19 expressions over a million
float32.)

No other module of this backend reads thresholds or the settings behind them.
"""

from __future__ import annotations

import sys
from typing import Final, NamedTuple

from numpy import geterr

from ... import config
from .engine import fperrors
from .engine.extension import extension

__all__ = [
    "AT_ONCE",
    "AT_ONCE_MAX",
    "KERNEL",
    "Limits",
    "Way",
    "adds_in_any_order",
    "decide",
    "limits",
]

AT_ONCE_MAX: Final = min(2**14, config.hints.threshold)
"""Elements up to which a second thread, which takes some microseconds to join, makes no operation
faster, and memory from NumPy costs no more than memory of the pool."""

_TOO_LARGE: Final = 2**48
"""So many elements no machine computes: NumPy says so at once."""


class Way(NamedTuple):
    """An answer.

    Attributes
    ----------
    defers : bool
        Whether the operation is to be deferred, if that can be.
    errors : int
        What is deferred warns of these floating-point errors (NumPy's bits).
    reads_shared : bool
        Whether what is deferred may read memory that others can write.
    """

    defers: bool
    errors: int = 0
    reads_shared: bool = False


AT_ONCE: Final = Way(False)
KERNEL: Final = Way(False, errors=-1)


class Limits:
    """What hot paths compare sizes with before they ask.

    Attributes
    ----------
    at_once : int
        An operation on at most so many elements runs at once. -1 while anybody asks to defer small
        arrays, when `decide` looks closer.
    tracked : int
        The threshold of the process. Of larger arrays the backend keeps account of who reads and
        writes them, and operations do not simply run on them: their Tensors have no array.
    """

    __slots__ = ("at_once", "tracked")

    at_once: int
    tracked: int


limits: Final = Limits()


def _update() -> None:
    if extension is None:
        limits.at_once = limits.tracked = sys.maxsize
    else:
        limits.at_once = -1 if config.hints.defer_small else AT_ONCE_MAX
        limits.tracked = config.hints.threshold


_update()
config.watchers.append(_update)

_stack: Final = config.stack

_ways: Final[dict[tuple[object, ...], Way]] = {}
"""By NumPy's error settings and the setting `fusion`: what `decide` says of large arrays."""


def decide(size: int) -> Way:
    """How to carry out an operation.

    Parameters
    ----------
    size : int
        The elements that its operands broadcast to, or those of its result if they are more.
    """
    if size <= limits.at_once:
        return AT_ONCE
    settings = _stack.get()[-1]
    if settings.fusion_threshold < size < _TOO_LARGE and settings.fusion != "off":
        key = (*geterr().values(), settings.fusion)
        way = _ways.get(key)
        if way is None:
            errors = fperrors.modes()
            # Where floating-point errors are to be raised, or handed to a function, nothing waits.
            way = KERNEL if errors is None else Way(True, errors, settings.fusion == "always")
            _ways[key] = way
        if way.defers:
            return way
    return AT_ONCE if size <= AT_ONCE_MAX else KERNEL


def adds_in_any_order() -> bool:
    """Whether floating-point numbers may be added up in another order than NumPy's, which rounds
    in another way."""
    return config.current().fusion != "off"
