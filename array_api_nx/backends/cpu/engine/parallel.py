"""Python functions called on several threads at a time: the one way to it in the CPU backend.

The team of threads that computes kernels (native/threads.h) makes the calls. It is the extension's;
without that the calling thread makes them all.
"""

from __future__ import annotations

from collections.abc import Callable

from .extension import extension

__all__ = ["parallel_for"]


def parallel_for(task: Callable[[int], object], count: int, threads: int) -> None:
    """Call ``task(i)`` once for each `i` in ``range(count)``, on several threads.

    Threads take the numbers in order, each the next one when it is done with its last. Those that
    come so late that no number is left are not waited for.

    The calling thread makes all calls alone while another thread of the program has the team, be it
    for calls or for a kernel, and in a call of this function by a task.

    Parameters
    ----------
    task : callable
        Gains from threads in what it does without the GIL alone. Other threads than the calling one
        call it in a copy of its context: NumPy's errstate, for one, is the caller's everywhere.
    count : int
        At least 0.
    threads : int
        The most threads to use, the calling one among them; at least 1.

    Raises
    ------
    BaseException
        What a call raised, when all calls that had begun have ended; further ones are not made. Of
        several exceptions that of the calling thread, or else the first one. This is also how
        Ctrl-C ends it: Python raises KeyboardInterrupt in the main thread, in a call or after it.
    """
    if extension is None:
        for number in range(count):
            task(number)
    else:
        extension.parallel_for(task, count, threads)
