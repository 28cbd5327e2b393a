"""The process of one peer: ``python -m benchmarks.serve MODULE PEER CHECKOUT``.

Takes requests from the standard input and answers them on the standard output, as
`benchmarks.worker` describes. It ends with its input.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from timeit import Timer
from typing import Any

from .worker import Prepared, Problem, Service

PAUSE = 0.03
"""Seconds in which spinning threads go to sleep, where the system does not tell whether they did.
GNU's OpenMP spins for 300,000 rounds, which may take more than 10 ms."""

LONG = 0.5
"""Seconds of a call that is not repeated for its threads and caches to be ready."""

PATIENCE = 2.0
"""Seconds after which threads that still run are reported."""

_THREADS = Path("/proc/self/task")


def main(arguments: Sequence[str]) -> int:
    """Serve one peer until the standard input ends."""
    module, name, checkout = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which then ends this
    # Only answers go to the parent; the output of libraries does not.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.path.insert(0, checkout)  # for array_api_nx; `benchmarks` is imported already
    try:
        service: Service = import_module(module).connect(name)
    except ImportError as error:
        _answer(answers, None, str(error))
        return 1
    _answer(answers, {"version": service.version, **_about_array_api_nx()})
    requests = _Requests(service)
    for line in sys.stdin:
        action, *rest = json.loads(line)
        try:
            result = getattr(requests, action)(*rest)
        except Problem as error:
            _answer(answers, None, str(error))
        except Exception as error:  # whatever a peer raises: it cannot
            text = f"{type(error).__name__}: {error}".splitlines()[0]
            _answer(answers, None, text)
        else:
            _answer(answers, result)
    return 0


class _Requests:
    """The requests of the parent, by name."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._prepared: Prepared | None = None
        self._calls = 1

    def prepare(self, seconds: float, *case: Any) -> float:
        self._prepared = None  # the arrays of the case before go first
        self._prepared = self._service.prepare(*case)
        self._calls = calls_in(self._prepared.timer, seconds)
        return self._prepared.first_seconds

    def time(self) -> float:
        assert self._prepared is not None
        timer = self._prepared.timer
        # The first call wakes the threads, and brings the data back into the caches.
        seconds = timer.timeit(1)
        if seconds > LONG:
            return seconds
        return timer.timeit(self._calls) / self._calls

    def note(self) -> str:
        assert self._prepared is not None
        return self._prepared.note

    def memory(self, *case: Any) -> float | None:
        return self._service.extra_memory(*case)


def calls_in(timer: Timer, seconds: float) -> int:
    """How many calls take about `seconds`; one at least."""
    number = 1
    for _ in range(2):
        taken = timer.timeit(number)
        number = max(1, int(seconds * number / max(taken, 1e-7)))
        if taken > LONG:
            break
    return number


def threads_sleep() -> bool:
    """Whether all threads of this process but the one that asks came to sleep in time."""
    if not _THREADS.is_dir():
        time.sleep(PAUSE)
        return True
    end = time.perf_counter() + PATIENCE
    while _any_other_runs():
        if time.perf_counter() > end:
            return False
        time.sleep(0.001)
    return True


def _any_other_runs() -> bool:
    own = str(threading.get_native_id())
    for thread in _THREADS.iterdir():
        try:
            # "NUMBER (NAME) STATE ...", where the name may contain anything.
            state = (thread / "stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):  # it has ended
            continue
        if state == "R" and thread.name != own:
            return True
    return False


def _answer(stream: Any, result: Any, problem: str | None = None) -> None:
    awake = not threads_sleep()
    stream.write(json.dumps({"result": result, "problem": problem, "awake": awake}) + "\n")
    stream.flush()


def _about_array_api_nx() -> dict[str, Any]:
    """Where array_api_nx came from, and its compiled extensions, if this process imported it."""
    package = sys.modules.get("array_api_nx")
    compiled = {
        name.rpartition(".")[2]: Path(str(module.__file__))
        for name, module in sys.modules.items()
        if name.startswith("array_api_nx.")
        and isinstance(getattr(module.__spec__, "loader", None), ExtensionFileLoader)
    }
    built = [file.stat().st_mtime for file in compiled.values()]
    root = Path(str(package.__file__)).parent if package else None
    sources = [x.stat().st_mtime for x in (root / "native").rglob("*.[ch]")] if root else []
    return {
        "checkout": str(root.parent) if root else None,
        "extensions": sorted(compiled),
        # Some source may belong to one extension only, so the newest of them all are compared.
        "outdated": bool(built and sources) and max(sources) > max(built),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
