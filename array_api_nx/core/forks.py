"""Locks and forked children."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import Any, Protocol


class _Lock(AbstractContextManager[Any, Any], Protocol):
    """`threading.Lock` or `threading.RLock`."""

    def acquire(self) -> object: ...

    def release(self) -> None: ...


def hold_at_forks(lock: _Lock) -> None:
    """Hold a module's lock whenever the process forks.

    A forked child has only the thread that forked. If another one held the lock, no thread would
    release it there, and what it protects would stay half changed.

    lock: One that lasts as long as the process, and is held for a moment only: a fork waits
        for it.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )
