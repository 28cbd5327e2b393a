"""Signals that interrupt a test."""

import gc
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

needs_timers = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="the system has no timers"
)


class Alarm(Exception):
    pass


def _sound(*_: Any) -> None:
    raise Alarm


@contextmanager
def alarm(handler: Callable[..., Any] = _sound) -> Iterator[None]:
    """Have a signal come in a twentieth of a second, which by default raises `Alarm`.

    ``with pytest.raises(Alarm), alarm():``, in this order: on a busy machine the signal may come
    before the next statement does. Garbage is not collected meanwhile, because Python drops errors
    of a handler while a collector's callback runs, and Hypothesis installs one.
    """
    before = signal.signal(signal.SIGALRM, handler)
    gc.disable()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        yield
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:  # the signal may come just now
            gc.enable()
            signal.signal(signal.SIGALRM, before)


@contextmanager
def ctrl_c(handler: Callable[..., Any] = signal.default_int_handler) -> Iterator[None]:
    """Have another process send SIGINT in a tenth of a second, also while this one keeps the GIL.

    What is computed meanwhile must take longer.
    """
    before = signal.signal(signal.SIGINT, handler)
    gc.disable()
    sender = subprocess.Popen(["sh", "-c", f"sleep 0.1; kill -INT {os.getpid()}"])
    try:
        yield
    finally:
        sender.wait()
        gc.enable()
        signal.signal(signal.SIGINT, before)
