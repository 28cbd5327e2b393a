"""Runs tests in a subprocess, which may die, and collects one result per test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from .protocol import EVENTS, PLAN, Plan

_POLL_SECONDS = 0.1

Event: TypeAlias = dict[str, Any]  # a line of EVENTS
End = Literal["finished", "interrupted", "out of time", "broken"]


class _OutOfTime(Exception):
    """The run has used up its budget."""


@dataclass(frozen=True)
class Result:
    """What became of one test; see `protocol.OUTCOMES`.

    ``repro``, ``raised_in`` and ``uses`` are what `repro` and `blame` made
    of a failure.
    """

    id: str
    outcome: str
    duration: float
    message: str
    longrepr: str
    repro: str = ""
    raised_in: str = ""
    uses: tuple[str, ...] = ()

    @property
    def is_of_a_later_version(self) -> bool:
        """Whether the suite left the test out, as one of a later version of the standard."""
        return self.outcome == "missing" and "ARRAY_API_TESTS_VERSION" in self.message


@dataclass(kw_only=True)
class PytestRun:
    """A run of tests, complete or not."""

    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    duration: float = 0.0
    end: End = "broken"
    collected: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    log: str = ""  # what pytest itself printed

    @property
    def not_run(self) -> list[str]:
        """The tests that were collected and have no result."""
        return [test for test in self.collected if test not in self.results]


AnyRun = TypeVar("AnyRun", bound=PytestRun)


@dataclass(frozen=True)
class Call:
    """How pytest is to be called: for `plugin`, on the command line, in its variables.

    The arguments are without those that `run_pytest` adds to every call.
    """

    plan: Plan
    arguments: list[str]
    variables: dict[str, str]


def run_pytest(
    run: AnyRun,
    prepare: Callable[[Path], Call],
    adapt: Callable[[Result], Result | None],
    show: Callable[[AnyRun], None],
    *,
    workers: int,
    time_limit: float,
    budget: float = 0.0,
) -> None:
    """Run tests and fill in `run`, until each test has a result.

    An interruption (KeyboardInterrupt) ends the run, and so does the end of the time budget.

    Parameters
    ----------
    run : PytestRun
        Receives the results and how the run ended: "broken" if tests are left without a result,
        or if there are none.
    prepare : callable
        The call, for a folder that pytest may write in; asked again when pytest itself failed.
    adapt : callable
        The result to keep in place of the plugin's; None to keep none.
    show : callable
        Called with `run` after every test and several times a second.
    workers : int
        The number of processes.
    time_limit : float
        Seconds for each test; 0 for no limit.
    budget : float
        Seconds for the whole run; 0 for no limit.
    """
    try:
        while True:
            known = len(run.results)
            status = _run_once(run, prepare, adapt, show, workers, time_limit, budget)
            # 0 and 1: all tests ran, and passed or not; 5: there were none left. Without results
            # 1 is Python's own status: pytest died of an exception.
            if status in (0, 1, 5) and run.results and not run.not_run:
                run.end = "finished"
                return
            stuck = workers == 1 and len(run.results) == known
            if stuck or not run.collected:
                return
            # When several workers die at a time, pytest-xdist itself may fail: it gets the rest
            # once more, with a single worker, where that cannot happen.
            workers = 1
            run.running.clear()
    except KeyboardInterrupt:
        run.end = "interrupted"
    except _OutOfTime:
        run.end = "out of time"


def _run_once(
    run: AnyRun,
    prepare: Callable[[Path], Call],
    adapt: Callable[[Result], Result | None],
    show: Callable[[AnyRun], None],
    workers: int,
    time_limit: float,
    budget: float,
) -> int:
    """Run the tests that have no result yet; pytest's exit status."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        scratch = Path(folder)
        call = prepare(scratch)
        (scratch / PLAN).write_text(json.dumps(asdict(call.plan)))
        with (scratch / "log").open("w+", encoding="utf-8", errors="replace") as log:
            process = subprocess.Popen(
                _command(call, scratch, workers, time_limit),
                cwd=scratch,
                env=call.variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that it can be ended with its workers
            )
            try:
                for event in _events(scratch / EVENTS, process):
                    run.duration = (datetime.now(UTC) - run.started).total_seconds()
                    if event is not None:
                        _record(run, event, adapt)
                    show(run)
                    if budget and run.duration > budget:
                        raise _OutOfTime
                return process.wait()
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                log.seek(0)
                run.log = log.read()


def _command(call: Call, scratch: Path, workers: int, time_limit: float) -> list[str]:
    return [
        sys.executable, "-m", "pytest", *call.arguments,
        # Plugins that are named: others, found by chance, could rerun or excuse failures.
        "-p", "xdist", "-p", "hypothesispytest", "-p", f"{__package__}.plugin",
        "-p", "no:cacheprovider", "-p", "no:faulthandler",
        f"--conformance-dir={scratch}", f"--conformance-time-limit={time_limit}",
        f"--numprocesses={workers}", "--dist=load", "--max-worker-restart=100",
        "--continue-on-collection-errors", "--tb=short", "--quiet", "--no-header",
        "--disable-warnings",
    ]  # fmt: skip


def _events(path: Path, process: subprocess.Popen[bytes]) -> Iterator[Event | None]:
    """The plugin's events as they come, and None whenever there is none for a moment."""
    path.touch()
    with path.open(encoding="utf-8") as stream:
        partial = ""
        while True:
            ended = process.poll() is not None  # asked first, so that nothing is left behind
            while line := stream.readline():
                partial += line
                if partial.endswith("\n"):
                    yield json.loads(partial)
                    partial = ""
            if ended:
                return
            yield None
            time.sleep(_POLL_SECONDS)


def _record(run: PytestRun, event: Event, adapt: Callable[[Result], Result | None]) -> None:
    kind = event.pop("event")
    if kind == "collected":
        run.collected = run.collected or event["ids"]
    elif kind == "started":
        run.running.append(event["id"])
    else:
        result = adapt(Result(**event | {"uses": tuple(event.get("uses", ()))}))
        if result is not None:
            run.results[result.id] = result
        if event["id"] in run.running:
            run.running.remove(event["id"])
