"""Threads for what runs from Python, kept for the next time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

__all__ = ["call_together"]


def call_together(calls: Sequence[Callable[[], None]]) -> None:
    """Make all calls at a time, the first one in this thread.

    Those that have not begun when the first one is done are not made: they are to share work that
    may be done by any of them. An exception that one raises is raised here, when all have ended.
    """
    futures: list[Future[None]] = [Future() for _ in calls[1:]]
    try:
        executor = _executor(len(futures)) if futures else None
        for future, call in zip(futures, calls[1:], strict=True):
            assert executor is not None
            executor.submit(_make, future, call)
    except RuntimeError:
        # There are no more threads, as at the end of the interpreter. The executor may have noted
        # the call all the same; the future tells whether anybody made it.
        pass
    try:
        calls[0]()
    finally:
        for future in futures:
            if not future.cancel():
                future.result()


def _make(future: Future[None], call: Callable[[], None]) -> None:
    if future.set_running_or_notify_cancel():
        try:
            call()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(None)


_lock = Lock()
_pool: tuple[int, ThreadPoolExecutor] | None = None


def _executor(threads: int) -> ThreadPoolExecutor:
    """A pool of at least that many threads."""
    global _pool
    with _lock:
        if _pool is None or _pool[0] < threads:
            _pool = threads, ThreadPoolExecutor(threads, thread_name_prefix="array_api_nx")
        return _pool[1]


def _forget_executor() -> None:
    """Start afresh in a forked child, where the threads are not and the lock may be held."""
    global _lock, _pool
    _lock = Lock()
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_executor)
