"""Runs the suite in a subprocess and collects one result per test."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from .environment import environment
from .known import Entry
from .namespace import Module
from .plugin import EVENTS, PLAN, Plan
from .standard import Standard
from .suite import TESTS, CannotRunError, Checkout

# What has to be importable, and the requirement that provides it.
REQUIREMENTS = {
    "pytest": "pytest>=8",
    "xdist": "pytest-xdist>=3.6",
    "hypothesis": "hypothesis>=6.151",
    "ndindex": "ndindex>=1.8",
    "pytest_jsonreport": "pytest-json-report",
}
_POLL_SECONDS = 0.1

End = Literal["finished", "interrupted", "out of time", "broken"]


class _OutOfTime(Exception):
    """The run has used up its budget."""


@dataclass(frozen=True)
class Options:
    """What to run, and how."""

    module: str = "array_api_nx"
    max_examples: int = 200
    workers: int = 1
    seed: int = 0
    select: tuple[str, ...] = ()
    time_limit: float = 600.0  # seconds per test; 0: none
    budget: float = 0.0  # seconds for the whole run; 0: none
    version: str = ""  # of the standard; empty: the one that the namespace declares
    chapters: tuple[str, ...] = ()  # of the standard; empty: all
    device: str = ""  # empty: the namespace's own default
    known: tuple[Entry, ...] = ()
    skips: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Result:
    """What became of one test; see `conformance.plugin.OUTCOMES`.

    ``repro``, ``raised_in`` and ``uses`` are what `conformance.repro` and `conformance.blame` made
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


@dataclass
class Run:
    """A run of the suite, complete or not."""

    module: Module
    checkout: Checkout
    options: Options
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    duration: float = 0.0
    end: End = "broken"
    standard: Standard = field(default_factory=lambda: Standard("", {}))
    collected: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    log: str = ""  # what pytest itself printed

    @property
    def not_run(self) -> list[str]:
        """The tests that were collected and have no result."""
        return [test for test in self.collected if test not in self.results]


def require() -> None:
    """Check that what the suite needs is installed.

    Raises
    ------
    CannotRunError
        If a package is missing; the message says how to install it.
    """
    missing = [
        requirement
        for name, requirement in REQUIREMENTS.items()
        if importlib.util.find_spec(name) is None
    ]
    if missing:
        install = shlex.join([sys.executable, "-m", "pip", "install", *missing])
        raise CannotRunError(f"packages are missing; install them with\n    {install}")


def run_suite(
    module: Module,
    checkout: Checkout,
    options: Options,
    show: Callable[[Run], None],
    standard: Standard | None = None,
) -> Run:
    """Run the suite; call `show` after every finished test and several times a second.

    An interruption (KeyboardInterrupt) ends the run, and so does the end of the time budget; what
    has run by then is returned.

    Raises
    ------
    CannotRunError
        If `options.select` names a file that the suite does not have.
    """
    run = Run(module, checkout, options)
    run.standard = standard or run.standard
    workers = options.workers
    try:
        while True:
            known = len(run.results)
            status = _run_pytest(run, workers, show)
            # 0 and 1: all tests ran, and passed or not; 5: there were none.
            if status in (0, 1, 5) and not run.not_run:
                run.end = "finished"
                return run
            stuck = workers == 1 and len(run.results) == known
            if stuck or not run.collected:
                return run
            # When several workers die at a time, pytest-xdist itself may fail: it gets the rest
            # once more, with a single worker, where that cannot happen.
            workers = 1
            run.running.clear()
    except KeyboardInterrupt:
        run.end = "interrupted"
        return run
    except _OutOfTime:
        run.end = "out of time"
        return run


def _run_pytest(run: Run, workers: int, show: Callable[[Run], None]) -> int:
    """Run the tests that have no result yet; pytest's exit status."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        scratch = Path(folder)
        (scratch / PLAN).write_text(json.dumps(asdict(_plan(run))))
        command = _command(run.checkout, run.options, workers, scratch)
        with (scratch / "log").open("w+", encoding="utf-8", errors="replace") as log:
            process = subprocess.Popen(
                command,
                cwd=scratch,
                env=environment(scratch, run.module.name, run.options.version),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that it can be ended with its workers
            )
            try:
                for event in _events(scratch / EVENTS, process):
                    run.duration = (datetime.now(UTC) - run.started).total_seconds()
                    if event is not None:
                        _record(run, event)
                    show(run)
                    if run.options.budget and run.duration > run.options.budget:
                        raise _OutOfTime
                return process.wait()
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                log.seek(0)
                run.log = log.read()


def _plan(run: Run) -> Plan:
    options = run.options
    return Plan(
        module=run.module.name,
        done=list(run.results),
        functions=dict(run.standard.functions),
        chapters=list(options.chapters),
        known=[entry.pattern for entry in options.known],
        skips=[entry.pattern for entry in options.skips],
        device=options.device,
    )


def _events(path: Path, process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any] | None]:
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


def _record(run: Run, event: dict[str, Any]) -> None:
    kind = event.pop("event")
    if kind == "collected":
        run.collected = run.collected or event["ids"]
    elif kind == "started":
        run.running.append(event["id"])
    else:
        result = Result(**event | {"uses": tuple(event.get("uses", ()))})
        run.results[result.id] = result
        if result.id in run.running:
            run.running.remove(result.id)


def _command(checkout: Checkout, options: Options, workers: int, scratch: Path) -> list[str]:
    # Handed over, because the suite would otherwise read skips.txt and xfails.txt of its own.
    empty = scratch / "empty.txt"
    empty.touch()
    paths, expression = _selection(checkout.path / TESTS, options.select)
    return [
        sys.executable, "-m", "pytest", *paths, *(["-k", expression] if expression else []),
        f"--rootdir={checkout.path}",
        # Only these plugins: others, found by chance, could rerun or excuse failures.
        "-p", "xdist", "-p", "hypothesispytest", "-p", "metadata", "-p", "pytest_jsonreport",
        "-p", f"{__package__}.plugin", "-p", "no:cacheprovider", "-p", "no:faulthandler",
        f"--conformance-dir={scratch}", f"--conformance-time-limit={options.time_limit}",
        f"--skips-file={empty}", f"--xfails-file={empty}",
        f"--max-examples={options.max_examples}", "--disable-deadline",
        f"--hypothesis-seed={options.seed}",
        f"--numprocesses={workers}", "--dist=load", "--max-worker-restart=100",
        "--continue-on-collection-errors", "--tb=short", "--quiet", "--no-header",
        "--disable-warnings",
    ]  # fmt: skip


def _selection(tests: Path, select: tuple[str, ...]) -> tuple[list[str], str]:
    """Files and test ids as pytest's arguments, the other entries as one ``-k`` expression."""
    paths, expressions = [], []
    for entry in select:
        file, separator, test = entry.partition("::")
        if not file.endswith(".py"):
            expressions.append(f"({entry})")
            continue
        path = tests / file.removeprefix(f"{tests.name}/")
        if not path.is_file():
            known = ", ".join(sorted(each.name for each in tests.glob("test_*.py")))
            raise CannotRunError(f"--select {entry}: the suite has no such file; it has {known}")
        paths.append(f"{path}{separator}{test}")
    return paths or [str(tests)], " or ".join(expressions)
