"""Runs a client's tests in a subprocess and collects one result per test."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from ..environment import environment
from ..namespace import Module, inspect_module
from ..plugin import EVENTS, PLAN, Plan
from ..runner import End, Result, _events
from ..suite import CannotRunError
from .packages import Installed

# array-api-strict under a name that no client knows: what the standard alone gives.
RENAMED, _STRICT = "array_api_unknown", "array_api_strict"
# The standard's functions that make arrays; a module without them is no array namespace.
_CREATION = (
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
    "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
)  # fmt: skip
OUTCOMES = ("passed", "failed", "expected", "skipped")
_EXPECTED = "expected to fail: "  # so begin the messages of tests that the client marks so
# Else every worker would start as many threads as there are cores.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass
class ClientRun:
    """A run of a client's tests on a namespace, complete or not.

    Attributes
    ----------
    client : Installed
        The client.
    module : Module
        The namespace.
    results : dict of str to Result
        The results; their outcomes are `OUTCOMES`.
    log : str
        What pytest itself printed.
    """

    client: Installed
    module: Module
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    duration: float = 0.0
    end: End = "broken"
    collected: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    log: str = ""

    @property
    def not_run(self) -> list[str]:
        """The tests that were collected and have no result."""
        return [test for test in self.collected if test not in self.results]


@contextmanager
def prepared(name: str) -> Iterator[Module]:
    """The namespace of that name, importable in subprocesses for as long as the context lasts.

    Raises
    ------
    CannotRunError
        If it does not import, or is no array namespace.
    """
    if name != RENAMED:
        yield inspect_module(name, [(function, "creation functions") for function in _CREATION])
        return
    original = inspect_module(_STRICT)
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        _copy_renamed(Path(folder))
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, before]))
        try:
            yield replace(original, name=RENAMED)
        finally:
            os.environ.pop("PYTHONPATH")
            if before is not None:
                os.environ["PYTHONPATH"] = before


def _copy_renamed(folder: Path) -> None:
    spec = PathFinder.find_spec(_STRICT)
    if spec is None or spec.origin is None:
        raise CannotRunError(f"{RENAMED} is a copy of {_STRICT}, which is no package on disk here")
    source = Path(spec.origin).parent
    for file in source.rglob("*.py"):
        target = folder / RENAMED / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8")
        target.write_text(re.sub(rf"\b{_STRICT}\b", RENAMED, text), encoding="utf-8")


def run_client(
    client: Installed,
    module: Module,
    targets: list[str],
    *,
    workers: int,
    time_limit: float,
    show: Callable[[ClientRun], None],
) -> ClientRun:
    """Run a client's tests; call `show` after every test and several times a second.

    An interruption (KeyboardInterrupt) ends the run; what has run by then is returned.

    Parameters
    ----------
    client : Installed
        The client.
    module : Module
        The namespace.
    targets : list of str
        Files and tests, as pytest's arguments.
    workers : int
        The number of processes.
    time_limit : float
        Seconds for each test; 0 for no limit.
    show : callable
        Shows how far the run is.
    """
    run = ClientRun(client, module)
    try:
        while True:
            known = len(run.results)
            status = _run_pytest(run, targets, workers, time_limit, show)
            # 0 and 1: all tests ran, and passed or not. (1 is also Python's own, if pytest raises.)
            if status in (0, 1) and run.results and not run.not_run:
                run.end = "finished"
                return run
            stuck = workers == 1 and len(run.results) == known
            if stuck or not run.collected:
                return run
            # When several workers die at a time, pytest-xdist itself may fail: one worker cannot.
            workers = 1
            run.running.clear()
    except KeyboardInterrupt:
        run.end = "interrupted"
        return run


def _run_pytest(
    run: ClientRun,
    targets: list[str],
    workers: int,
    time_limit: float,
    show: Callable[[ClientRun], None],
) -> int:
    """Run the tests that have no result yet; pytest's exit status."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        scratch = Path(folder)
        plan = Plan(module=run.module.name, done=list(run.results))
        (scratch / PLAN).write_text(json.dumps(asdict(plan)))
        with (scratch / "log").open("w+", encoding="utf-8", errors="replace") as log:
            process = subprocess.Popen(
                _command(run.client, targets, workers, time_limit, scratch),
                cwd=scratch,
                env=_ONE_THREAD | environment(scratch, run.module.name) | {"SCIPY_ARRAY_API": "1"},
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
                return process.wait()
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                log.seek(0)
                run.log = log.read()


def _record(run: ClientRun, event: dict[str, Any]) -> None:
    kind = event.pop("event")
    if kind == "collected":
        run.collected = run.collected or event["ids"]
    elif kind == "started":
        run.running.append(event["id"])
    elif event["outcome"] == "missing" and "::" not in event["id"]:
        pass  # no test, but a whole file, which skips itself for lack of some other package
    else:
        outcome, message = event["outcome"], event["message"]
        if message.startswith(_EXPECTED):
            outcome, message = "expected", message.removeprefix(_EXPECTED)
        outcome = {"error": "failed", "missing": "skipped"}.get(outcome, outcome)
        result = Result(event["id"], outcome, event["duration"], message, event["longrepr"])
        run.results[result.id] = result
        if result.id in run.running:
            run.running.remove(result.id)


def _command(
    client: Installed, targets: list[str], workers: int, time_limit: float, scratch: Path
) -> list[str]:
    # An empty configuration, because a file above the installed packages would otherwise be read.
    settings = scratch / "pytest.ini"
    settings.write_text("[pytest]\n")
    return [
        sys.executable, "-m", "pytest", *targets, *client.client.arguments,
        "-c", str(settings), f"--rootdir={client.root}", f"--confcutdir={client.root}",
        # Leaves sys.path alone: else an installed module would go before one on PYTHONPATH.
        "--import-mode=importlib",
        "-p", "xdist", "-p", "hypothesispytest", "-p", "conformance.plugin",
        "-p", "no:cacheprovider", "-p", "no:faulthandler",
        f"--conformance-dir={scratch}", f"--conformance-time-limit={time_limit}",
        "--hypothesis-seed=0",
        f"--numprocesses={workers}", "--dist=load", "--max-worker-restart=100",
        "--continue-on-collection-errors", "--tb=short", "--quiet", "--no-header",
        "--disable-warnings",
    ]  # fmt: skip
