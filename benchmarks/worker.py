"""A process for each peer, so that the threads of no peer take a core from another.

Threads of Numba, PyTorch and JAX spin after their work, some for 10 ms, and the OpenMP runtimes of
two peers in one process may be one and the same. So NumPy alone, array_api_nx, and each other peer
runs in a process of its own, which imports that peer and NumPy. The parent asks one process at a
time, and a process answers only when all its threads sleep (`benchmarks.serve`): whatever is timed
has the machine to itself. How threads wait between the calls of one peer is that peer's affair;
no process gets environment variables that the user did not set.

Requests and answers are lines of JSON. A process that has no request waits in a read.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from timeit import Timer
from types import TracebackType
from typing import Any, NamedTuple, Self

ROOT = Path(__file__).resolve().parents[1]
"""The checkout that this file belongs to."""

BUILD = "python setup.py build_ext --inplace"
"""Compiles the extensions of a checkout; it needs setuptools 77 or later."""

GRACE = 5.0
"""Seconds that a process has to end by itself."""


class Problem(Exception):
    """Says why a peer cannot do a case, or does it wrong; empty if it has no version of it."""


class Prepared(NamedTuple):
    """A case that is ready to be timed."""

    timer: Timer
    first_seconds: float = 0.0
    """The time of the first call, with all compilation and preparation."""
    note: str = ""
    """What a reader of the times should know of the results."""


class Service(NamedTuple):
    """The parts that serve one peer in a process; modules that can be served have a `connect`."""

    version: str
    prepare: Callable[..., Prepared]
    """Takes what names a case. Raises `Problem` for wrong results."""
    extra_memory: Callable[..., float | None] = lambda *case: None
    """MiB that a call of the case needs at its peak; None where that is not known."""


class Worker:
    """The parent's side of one process.

    `module` names the module whose `connect` makes the peer ready. `checkout` is where the process
    imports array_api_nx from. After `limit` seconds with one request, the process is ended.
    `variables` are added to its environment. Raises `Problem` if the peer is not installed.
    """

    def __init__(
        self,
        module: str,
        peer: str,
        checkout: Path = ROOT,
        limit: float | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.peer = peer
        self._limit: float | None = None
        command = [sys.executable, "-m", "benchmarks.serve", module, peer, str(checkout.resolve())]
        environment = {**os.environ, **(variables or {})}
        self._process = Popen(
            command, cwd=ROOT, env=environment, stdin=PIPE, stdout=PIPE, text=True
        )
        self.pid = self._process.pid
        try:
            about = self._answer()
        except BaseException:
            self.close()
            raise
        self.version: str = about["version"]
        self.checkout: str | None = about["checkout"]
        """Where array_api_nx was imported from, if it was."""
        self.extensions: list[str] = about["extensions"]
        """Which of its compiled extensions array_api_nx runs with."""
        self.outdated: bool = about["outdated"]
        """Whether a C source changed after they were built."""
        self._limit = limit

    def ask(self, action: str, *arguments: Any) -> Any:
        """Have the process do something, and wait for the answer.

        ``prepare, seconds, *case`` gives the seconds of the first call. After it ``time`` gives
        seconds per call, measured over as many calls as take about `seconds`, and ``note`` a text.
        ``memory, *case`` gives MiB. Raises `Problem` if the peer cannot, or takes too long.
        """
        self._send(action, *arguments)
        return self._answer()

    def close(self) -> None:
        """End the process: at once if it waits, by force if it goes on computing."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
            with suppress(TimeoutExpired):
                self._process.wait(GRACE)
        finally:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _send(self, *request: Any) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # the process has ended; the missing answer tells it
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        start = time.monotonic()
        limit = threading.Timer(self._limit or 0, self._process.kill)
        if self._limit is not None:
            limit.start()
        line = self._process.stdout.readline()
        limit.cancel()
        if not line:
            status = self._process.wait()
            if self._limit is not None and time.monotonic() - start >= self._limit:
                raise Problem(f"takes more than {self._limit:g} s")
            raise RuntimeError(f"the process of {self.peer} ended with status {status}")
        answer = json.loads(line)
        if answer["awake"]:
            print(f"# {self.peer}: its threads did not come to rest", file=sys.stderr)
        if answer["problem"] is not None:
            raise Problem(answer["problem"])
        return answer["result"]


@contextmanager
def workers(module: str, peers: Sequence[str]) -> Iterator[dict[str, Worker]]:
    """A process for each of `peers` that is installed; ends all of them."""
    with ExitStack() as stack:
        found = {}
        for peer in peers:
            try:
                found[peer] = stack.enter_context(Worker(module, peer))
            except Problem as problem:
                if peer in ("numpy", "nx"):
                    raise
                print(f"# {peer} is not installed: {problem}")
        print("# " + ", ".join([f"{worker.peer} {worker.version}" for worker in found.values()]))
        if "nx" in found and not found["nx"].extensions:
            print(f"# nx runs without its compiled extensions; this brings them: {BUILD}")
        yield found
