"""`parallel_for`: calls of a Python function on several threads; nothing else here starts threads.

The team of threads that computes kernels makes the calls (threads.h). It is the extension's;
without that, the calling thread makes them all.
"""

from __future__ import annotations

from collections.abc import Callable

from ....native import native


def parallel_for(task: Callable[[int], object], count: int, threads: int) -> None:
    """Call ``task(i)`` once for each `i` in ``range(count)``, on several threads.

    Each thread takes the next number when it has finished the one before. Threads that come so late
    that no number is left are not waited for.

    The calling thread makes all calls alone if the team is busy: with a job of another thread, or
    with the very task that calls this function.

    task: Only what it does without the GIL runs in parallel. Other threads call it in a copy of the
        calling thread's context, so that NumPy's errstate is the same in all calls.
    count: At least 0.
    threads: The most threads to use, the calling one among them; at least 1.
    BaseException: The exception of a call, once the calls that had begun have ended; no more are
        made. Of several exceptions, that of the calling thread is raised, or else the first one.
        Ctrl-C ends the calls in this way: Python raises KeyboardInterrupt in the main thread.
    """
    if native is None:
        for number in range(count):
            task(number)
    else:
        native.parallel_for(task, count, threads)
