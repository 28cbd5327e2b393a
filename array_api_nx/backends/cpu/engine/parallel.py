"""`parallel_for`: calls of a Python function on several threads; nothing else here starts threads.

With the extension, the team of threads that computes kernels makes the calls (native/threads.h).
Without it, a small team in Python does, by the same rules.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Final

from .extension import extension

__all__ = ["parallel_for"]


def parallel_for(task: Callable[[int], object], count: int, threads: int) -> None:
    """Call ``task(i)`` once for each `i` in ``range(count)``, on several threads.

    Each thread takes the next number when it has finished the one before. Threads that come so late
    that no number is left are not waited for.

    The calling thread makes all calls alone if the team is busy: with a job of another thread, or
    with the very task that calls this function.

    Parameters
    ----------
    task : callable
        Only what it does without the GIL runs in parallel. Other threads call it in a copy of the
        calling thread's context, so that NumPy's errstate is the same in all calls.
    count : int
        At least 0.
    threads : int
        The most threads to use, the calling one among them; at least 1.

    Raises
    ------
    BaseException
        The exception of a call, once the calls that had begun have ended; no more are made. Of
        several exceptions, that of the calling thread is raised, or else the first one. Ctrl-C ends
        the calls in this way: Python raises KeyboardInterrupt in the main thread.
    """
    if extension is None:
        _parallel_for(task, count, threads)
    else:
        extension.parallel_for(task, count, threads)


# ---------------------------------------------------------------------- without the extension


def _parallel_for(task: Callable[[int], object], count: int, threads: int) -> None:
    team = _team
    if count < 2 or threads < 2 or not team.busy.acquire(blocking=False):
        for number in range(count):
            task(number)
        return
    try:
        _Job(task, count).run(team, min(threads, count) - 1)
    finally:
        team.busy.release()


class _Job:
    """The numbers that are still to be taken, and the threads that are taking them."""

    __slots__ = (
        "_closed", "_context", "_empty", "_errors", "_inside", "_lock", "_numbers", "_task"
    )  # fmt: skip

    def __init__(self, task: Callable[[int], object], count: int) -> None:
        self._task: Final = task
        self._context: Final = copy_context()
        self._numbers: Final = deque(range(count))
        self._errors: Final[list[BaseException]] = []  # of helpers
        self._lock: Final = Lock()  # held while one of the next two is read and written
        self._inside = 0  # helpers
        self._closed = False  # whether no more helpers may come in
        self._empty: Final = Lock()  # released by the last helper to leave, if it is closed
        self._empty.acquire()

    def run(self, team: _Team, helpers: int) -> None:
        """Make all calls, on this thread and at most `helpers` threads of a team."""
        try:
            team.call(self, helpers)
            self._make_calls()
        except BaseException:
            self._numbers.clear()
            raise
        finally:
            self._await_helpers()
        if self._errors:
            try:
                raise self._errors[0]
            finally:
                # Its traceback leads to this job: without this there would be a reference cycle.
                self._errors.clear()

    def help(self) -> None:
        """Make calls on a thread of the team."""
        with self._lock:
            if self._closed:
                return
            self._inside += 1
        try:
            self._context.copy().run(self._make_calls)
        except BaseException as error:
            self._numbers.clear()
            self._errors.append(error)
        with self._lock:
            self._inside -= 1
            is_last = self._closed and not self._inside
        if is_last:
            self._empty.release()

    def _make_calls(self) -> None:
        while self._numbers:
            try:
                number = self._numbers.popleft()
            except IndexError:  # Another thread took the last one.
                return
            self._task(number)

    def _await_helpers(self) -> None:
        with self._lock:
            self._closed = True
            if not self._inside:
                return
        try:
            self._empty.acquire()
        except BaseException:  # A signal came.
            self._empty.acquire()
            raise


class _Team:
    """Threads that are started when they are first wanted, and kept.

    They are daemon threads, which the end of the interpreter stops anywhere. A job that they have a
    part in can only be a daemon thread's then.

    Attributes
    ----------
    busy : Lock
        Held by the thread whose job the team does.
    """

    __slots__ = ("_jobs", "_size", "busy")

    def __init__(self) -> None:
        self.busy: Final = Lock()
        self._jobs: Final[SimpleQueue[_Job]] = SimpleQueue()
        self._size = 0

    def call(self, job: _Job, helpers: int) -> None:
        """Have at most `helpers` threads help with a job."""
        try:
            while self._size < helpers:
                Thread(target=_serve, args=(self._jobs,), daemon=True).start()
                self._size += 1
        except RuntimeError:
            pass  # There are no more threads to be had, as at the end of the interpreter.
        for _ in range(min(helpers, self._size)):
            self._jobs.put(job)


def _serve(jobs: SimpleQueue[_Job]) -> None:
    while True:
        job = jobs.get()
        job.help()
        del job  # The arrays of its task are not kept until the next one comes.


_team = _Team()


def _after_fork() -> None:
    """Give a child process a team of its own; the threads of the old one are in its parent."""
    global _team
    _team = _Team()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
