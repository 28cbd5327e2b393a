"""Signal handlers that run during a trace, recognised by the frames of the stack.

Python runs a handler within whatever its main thread executes, and does not say so. What a handler
does is no part of the function that it interrupts. The handlers that are installed when a trace
begins are looked up once, and an operation belongs to one of them if a frame between the operation
and the trace executes its code. Handlers written in C have no code and are not recognised.
"""

from __future__ import annotations

import signal
import sys
import threading
from _signal import getsignal  # type: ignore[import-not-found]  # the one of `signal` takes 3 us
from collections.abc import Callable
from functools import partial
from types import CodeType, FrameType
from typing import Any, Final

_SIGNALS: Final = tuple([int(number) for number in signal.valid_signals()])


def watch(trace: CodeType) -> Callable[[], bool] | None:
    """A function that says whether a signal handler runs within the innermost frame of `trace`.

    None if this thread runs no handlers.
    """
    if threading.get_ident() != threading.main_thread().ident:
        return None
    found = {_code(getsignal(number)) for number in _SIGNALS}
    codes = {code for code in found if code is not None}
    return partial(_is_within, codes, trace) if codes else None


def _code(handler: Any) -> CodeType | None:
    """The code of a function, a method, or an object that is called; None for all others."""
    while isinstance(handler, partial):
        handler = handler.func
    if callable(handler) and not hasattr(handler, "__code__"):
        handler = type(handler).__call__
    return getattr(handler, "__code__", None)


def _is_within(codes: set[CodeType], trace: CodeType) -> bool:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not trace:
        if frame.f_code in codes:
            return True
        frame = frame.f_back
    return False
