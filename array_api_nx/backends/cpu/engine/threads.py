"""How many threads a computation may use: `count`, from settings, processors and threadpoolctl.

The number changes how long a computation takes, but no bit of its result. The threads themselves
are those of native/engine/threads.h and parallel.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from math import ceil
from pathlib import Path
from threading import Lock, Thread, current_thread
from typing import Any, Final

from ....config import DEFAULTS, current
from ....native import native


@cache
def available() -> int:
    """How many processors this process may use, at least 1.

    The processors that its affinity names, or fewer if a control group (v1 or v2) grants less of
    their time, rounded up. Looked up once, and again in a forked process.
    """
    processors: int | None
    if sys.version_info >= (3, 13):
        processors = os.process_cpu_count()
    elif hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count()
    quotas = granted(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
    return max(1, min([processors or 1, *quotas]))


def granted(membership: Path, root: Path) -> Iterator[int]:
    """The processors, rounded up, that each control group around this process grants it.

    membership: The file that lists the groups, a line for each hierarchy.
    root: Where the hierarchies are mounted.
    """
    try:
        lines = membership.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    files: tuple[str, ...]
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base, files = root, ("cpu.max",)
        elif "cpu" in controllers.split(","):
            base, files = root / controllers, ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        else:
            continue
        # A path with ".." leads out of the mounted hierarchy: it is the host's name for the root.
        names = [] if ".." in path else [name for name in path.split("/") if name]
        for depth in range(len(names) + 1):
            group = base.joinpath(*names[:depth])
            try:
                words = " ".join([(group / file).read_text(encoding="utf-8") for file in files])
            except OSError:
                continue
            quota, period = words.split()
            if quota not in ("max", "-1"):
                yield ceil(int(quota) / int(period))


@cache
def default() -> tuple[int, str]:
    """How many threads to use where no setting says so, and why.

    Looked up once, and again in a forked process.
    """
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first.isdecimal() and int(first) > 0:
        # joblib's process workers get a fair share of the processors this way.
        return int(first), "OMP_NUM_THREADS"
    processes = sys.modules.get("multiprocessing.process")  # never missing in its children
    if processes is not None and processes.current_process().daemon:
        # A pool has as many workers as there are processors.
        return 1, "a worker of a multiprocessing pool"
    return available(), "the processors that this process may use"


class Limits:
    """The limits that threads have set through threadpoolctl.

    A limit holds for the whole process, while the thread that set it lives; of several the lowest
    does. Each thread lifts its own only. With one number for all, a thread that leaves
    ``threadpool_limits`` last would restore what another one had set meanwhile, and the process
    would keep that for ever.

    by_thread: The limit of each thread that has one. Replaced at every change, so that it can be
        read without a lock.
    """

    def __init__(self) -> None:
        self.by_thread: dict[Thread, int] = {}
        self.lock = Lock()

    def lowest(self) -> int | None:
        """The limit in force, or None."""
        by_thread = self.by_thread
        if not by_thread:
            return None
        if by_thread.get(current_thread()) == 1:  # whichever threads live, no limit is lower
            return 1
        return min([n for thread, n in by_thread.items() if thread.is_alive()], default=None)

    def get(self) -> int:
        """The limit of this thread; if it has none, the number that holds without limits."""
        unlimited = DEFAULTS.num_threads or default()[0]
        return self.by_thread.get(current_thread()) or Unlimited(unlimited)

    def set(self, limit: int) -> None:
        """Set the limit of this thread, or lift it if that is what `get` found before."""
        thread = current_thread()
        with self.lock:
            others = {t: n for t, n in self.by_thread.items() if t.is_alive() and t is not thread}
            own = {} if isinstance(limit, Unlimited) else {thread: max(1, limit)}
            self.by_thread = others | own
            _tell_native()


class Unlimited(int):
    """The number of threads where there is no limit.

    threadpoolctl restores what it found by setting the same number again, which must not turn
    the default into a limit.
    """


limits: Final = Limits()


def count() -> int:
    """How many threads a computation that begins now may use at most.

    The number that `config_context` or ARRAY_API_NX_NUM_THREADS give; else that of OMP_NUM_THREADS;
    else `available`. Never more than a limit that was set through threadpoolctl.
    """
    asked = current().num_threads
    if asked is None:
        asked = default()[0]
    limit = limits.lowest()
    return asked if limit is None else min(asked, limit)


def reason() -> str:
    """Why `count` is what it is, in words."""
    asked = current().num_threads
    if asked is None:
        number, why = default()
    elif asked == DEFAULTS.num_threads:
        number, why = asked, "ARRAY_API_NX_NUM_THREADS"
    else:
        number, why = asked, "config_context"
    return why if count() == number else f"threadpoolctl, below {number} for {why}"


@cache
def register_controller() -> None:
    """Make threadpoolctl, where it is installed, limit the threads of computations here.

    threadpoolctl knows a library by its file, which here is the compiled extension; without that
    there is nothing to register. It counts as an implementation of BLAS, since that is what
    scikit-learn limits around parallel regions.
    """
    if native is None:
        return
    try:
        threadpoolctl = import_module("threadpoolctl")
    except ImportError:
        return
    if not hasattr(threadpoolctl, "register"):  # before its version 3.2
        return
    base: Any = threadpoolctl.LibController

    class Controller(base):  # type: ignore[misc]  # it has no type
        user_api = "blas"
        internal_api = "array_api_nx"
        filename_prefixes = ("_native",)
        check_symbols = ("array_api_nx_native",)

        def get_num_threads(self) -> int:
            return limits.get()

        def set_num_threads(self, num_threads: int) -> None:
            limits.set(num_threads)

        def get_version(self) -> None:
            return None

    threadpoolctl.register(Controller)


def _after_fork() -> None:
    """Look again in a child process; another thread of its parent may have held the lock."""
    limits.lock = Lock()
    available.cache_clear()
    default.cache_clear()
    _tell_native()


def _tell_native() -> None:
    """Have C ask again, and keep the answer unless limits are in force, which end with threads."""
    if native is not None:
        native.set_thread_count(count, not limits.by_thread)


_tell_native()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
