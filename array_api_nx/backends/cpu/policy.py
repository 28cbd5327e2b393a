"""`decide`, the one question: how is an operation on a number of elements carried out?

At once
    Up to `AT_ONCE_MAX` elements: on one thread, as NumPy does it or in less time.
By a kernel
    Above: NumPy's inner loops run over tiles on several threads, into memory of the pool.
Deferred
    Above the setting `fusion_threshold`: the operation becomes a pending expression, and is fused
    with those that read it. Whatever cannot be deferred is computed by a kernel.

Without the extension everything runs at once, on NumPy. (Passes whose tiles were computed by calls
from Python took two to three times as long as NumPy does one by one: 19 expressions over a million
floats.)

No other module of this backend reads thresholds or the settings behind them.
"""

from __future__ import annotations

import sys
from typing import Final, NamedTuple

from numpy import geterr

from ... import config
from ...contract.callers import CONSUMERS, INSIDE
from ...core.dtypes import SELF_COMPUTED, DType
from ...native import native
from ...primitives import table as p
from ...primitives.table import Primitive
from .engine import fperrors, loops

__all__ = [
    "AT_ONCE",
    "AT_ONCE_MAX",
    "KERNEL",
    "MOMENTS_AT_ONCE_MAX",
    "ONE_THREAD_MAX",
    "Limits",
    "Way",
    "adds_by_kernel",
    "adds_in_any_order",
    "decide",
    "limits",
    "worth_deferring",
]

ONE_THREAD_MAX: Final = 2**15
"""Elements up to which a second thread, which takes some microseconds to join, makes no operation
faster, but for those below (docs/tuning.md, 20)."""
AT_ONCE_MAX: Final = min(ONE_THREAD_MAX, config.hints.threshold)
"""Elements up to which an operation runs at once: one thread is enough, and none is deferred."""
MOMENTS_AT_ONCE_MAX: Final = AT_ONCE_MAX // 2
"""The same for variances and scans, which take longer for each element (docs/tuning.md, 21)."""

RECORDED_FROM: Final = 2000
"""Elements above which an expression of two operations takes less time than the operations one by
one, and a single operation that is read at once a tenth more (docs/tuning.md, 101)."""

_TOO_LARGE: Final = 2**48
"""No machine has memory for so many elements. NumPy, asked at once, raises the error."""


class Way(NamedTuple):
    """An answer of `decide`.

    Attributes
    ----------
    defers : bool
        Whether the operation is to be deferred, if it can be.
    errors : int
        The floating-point errors (NumPy's bits) of which a deferred operation warns.
    reads_shared : bool
        Whether a deferred operation may read memory that others can write.
    """

    defers: bool
    errors: int = 0
    reads_shared: bool = False


# Told apart by identity.
AT_ONCE: Final = Way(False)
KERNEL: Final = Way(False)


class Limits:
    """The sizes at which operations must ask `decide`, for hot paths to compare with.

    Attributes
    ----------
    at_once : int
        An operation on at most so many elements runs at once. -1 while anybody asks to defer small
        arrays, when `decide` looks closer.
    deferred : int
        The threshold of the process, above which operations may be deferred here.
    recorded : int
        Operations element by element on more elements than this wait in the extension
        (native/nodes.h).
    tracked : int
        The backend keeps account of who reads and who writes larger arrays. Their Tensors have no
        array, so that no hot path takes them for small ones.
    """

    __slots__ = ("at_once", "deferred", "recorded", "tracked")

    at_once: int
    deferred: int
    recorded: int
    tracked: int


limits: Final = Limits()


def _update() -> None:
    if native is None:
        limits.at_once = limits.deferred = limits.recorded = limits.tracked = sys.maxsize
    else:
        waits = not config.hints.defer_small and config.hints.fuses
        limits.at_once = -1 if config.hints.defer_small else AT_ONCE_MAX
        limits.deferred = config.hints.threshold
        limits.recorded = RECORDED_FROM if waits else sys.maxsize
        limits.tracked = min(RECORDED_FROM, limits.deferred)
        # The extension neither shows progress nor reports evaluations.
        observed = config.hints.shows_progress or config.hints.watched
        most = limits.deferred if observed else _TOO_LARGE
        native.set_limits(limits.at_once, limits.deferred, limits.recorded, most, limits.tracked)


_update()
config.watchers.append(_update)

_stack: Final = config.stack

_ways: Final[dict[tuple[object, ...], Way]] = {}
"""The answers for large arrays, by NumPy's error settings, the setting `fusion`, and whether a line
of `CONSUMERS` asks."""


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
        # As `callers.is_consumer`, whose two calls take 5 % of the time of a deferred operation.
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(INSIDE):
            frame = frame.f_back
        consumer = str(frame.f_globals.get("__name__")).partition(".")[0] in CONSUMERS
        key = (*geterr().values(), settings.fusion, consumer)
        way = _ways.get(key)
        if way is None:
            errors = fperrors.modes()
            # Errors that are to be raised, or passed to a function, must come with the call.
            way = KERNEL if errors is None else Way(True, errors, settings.fusion == "always")
            _ways[key] = way
        if way.defers:
            return way
    return AT_ONCE if size <= AT_ONCE_MAX else KERNEL


def _waits(size: int) -> bool:
    """Whether a reduction of so many elements to one number waits in the extension."""
    return decide(size).defers


if native is not None:
    native.set_reductions(
        (p.SUM, p.PROD, p.MAX, p.MIN, p.ANY, p.ALL, p.COUNT_NONZERO, p.MEAN), _waits
    )


def worth_deferring(size: int) -> bool:
    """See `Backend.worth_deferring`."""
    return size > limits.deferred and config.current().fusion != "off"


def adds_by_kernel(op: Primitive, dtype: DType, count: int) -> bool:
    """Whether a kernel adds up many elements for a sum, mean or variance outside expressions, in
    another order than NumPy's.

    Parameters
    ----------
    op : Primitive
    dtype : numpy.dtype
        Of the elements.
    count : int
        How many elements there are for each element of the result.
    """
    least = loops.MIN_MOMENTS if op is p.VAR else 2
    adds = op is p.SUM or op is p.MEAN or op is p.VAR
    return (
        adds
        and dtype.kind == "f"
        and dtype in SELF_COMPUTED
        and count >= least
        and adds_in_any_order()
    )


def adds_in_any_order() -> bool:
    """Whether sums of floating-point numbers may be rounded in another way than NumPy's, because
    they are added up in another order."""
    return config.current().fusion != "off"
