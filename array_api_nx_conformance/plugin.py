"""The pytest plugin that hands every test's result to `pytest_run`.

It is loaded in the controlling process of pytest-xdist and in its workers. Workers limit the time
of a test and note what only they can know; the controller writes one JSON line per event to
``events.jsonl`` in the folder that ``--conformance-dir`` names. What is to be run is in
``plan.json`` there (`Plan`). The events:

- ``{"event": "collected", "ids": [...]}``
- ``{"event": "started", "id": ...}``
- ``{"event": "finished", "id": ..., "outcome": ..., "duration": ..., "message": ...,
  "longrepr": ..., "repro": ..., "raised_in": ..., "uses": [...]}``

The outcome is one of `OUTCOMES`, or `XFAILED`.
"""

from __future__ import annotations

import faulthandler
import json
import pkgutil
import random
import signal
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import hypothesis
import pytest

from . import known
from .blame import blame, first_error
from .corrections import correct
from .environment import device_variable
from .functions import function_of
from .protocol import EVENTS, PLAN, XFAILED, Plan
from .repro import build

_SETTINGS = "_hypothesis_internal_use_settings"
Note: TypeAlias = dict[str, Any]  # JSON, from a worker to the controlling process
_NOTE = "conformance"  # the key of what workers note in a report's user properties


def _read_plan(folder: Path) -> Plan:
    return Plan(**json.loads((folder / PLAN).read_text()))


class TimeLimitExceeded(BaseException):
    """Raised inside a test that runs too long; no handler of Exception may swallow it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption("--conformance-dir", help="folder that receives the results")
    group.addoption(
        "--conformance-time-limit", type=float, default=0.0, help="seconds per test; 0: no limit"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Choose the device before the suite's conftest creates the first arrays."""
    plan = _read_plan(Path(early_config.known_args_namespace.conformance_dir))
    if plan.device and not device_variable(plan.module):
        pkgutil.resolve_name(plan.module).set_default_device(plan.device)


def pytest_configure(config: pytest.Config) -> None:
    folder = Path(config.getoption("--conformance-dir"))
    limit = config.getoption("--conformance-time-limit")
    worker_input = getattr(config, "workerinput", None)
    if worker_input is None:
        config.pluginmanager.register(Controller(folder, limit))
    else:
        seed = config.getoption("--hypothesis-seed")
        worker = Worker(folder, worker_input["workerid"], limit, config.rootpath, seed)
        config.pluginmanager.register(worker)


def _trace_file(folder: Path, worker: str) -> Path:
    return folder / f"{worker}.trace"


class Worker:
    """Runs in each worker process."""

    def __init__(self, folder: Path, name: str, limit: float, root: Path, seed: object) -> None:
        self._limit = limit
        self._seed = seed
        self._plan = _read_plan(folder)
        self._tests = root / self._plan.tests
        self._known: set[str] = set()
        self._origin: Note = {}  # of the failure of the test that runs
        self._trace = _trace_file(folder, name).open("w")
        faulthandler.enable(self._trace)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        helpers = sys.modules.get("array_api_tests.dtype_helpers")
        if helpers is not None:
            correct(helpers)
        items[:] = [item for item in items if self._plan.includes(item.nodeid)]
        self._known = {
            item.nodeid
            for item in items
            if any(known.matches(each, item.nodeid) for each in self._plan.known)
        }

    def _expire(self, signum: int, frame: object) -> None:
        raise TimeLimitExceeded(_timeout_message(self._limit))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        self._origin = {}
        # Some tests draw a single example with Python's own generator: a seed repeats these too,
        # on any worker and in any selection of tests.
        random.seed(f"{self._seed} {item.nodeid}")
        with self._time_limit(), _shrinking(item, item.nodeid not in self._known):
            try:
                return (yield)
            except pytest.skip.Exception:
                raise
            except BaseException as error:
                # While the test's frames are alive: they have the values of the example.
                self._origin = self._find_origin(item.nodeid, error)
                raise

    @contextmanager
    def _time_limit(self) -> Iterator[None]:
        if not self._limit:
            yield
            return
        # The alarm comes again every second, in case the test swallows the exception. Code that
        # never returns to the interpreter does not notice it: then the process has to die.
        faulthandler.dump_traceback_later(
            self._limit + min(self._limit, 10.0), exit=True, file=self._trace
        )
        signal.signal(signal.SIGALRM, self._expire)
        signal.setitimer(signal.ITIMER_REAL, self._limit, 1.0)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()

    def _find_origin(self, test: str, error: BaseException) -> Note:
        if self._limit and isinstance(first_error(error), TimeLimitExceeded):
            signal.setitimer(signal.ITIMER_REAL, self._limit)  # enough, and not every second
        plan = self._plan
        function = function_of(test, plan.functions)
        namespace = pkgutil.resolve_name(plan.module)
        found = blame(error, function, self._tests, namespace)
        try:
            repro = build(error, function, plan.module, namespace, self._tests, plan.device)
        except (Exception, TimeLimitExceeded):
            # Reading the example calls the namespace, which is known to be at fault.
            repro = ""
        return {"repro": repro, "raised_in": found.raised_in, "uses": found.uses}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        note: Note = {}
        if report.skipped:
            note["by_suite"] = _suite_skips(item)
        elif report.failed and call.excinfo is not None:
            note["message"] = shortest_message(call.excinfo.value)
            note["origin"] = self._origin
        report.user_properties.append((_NOTE, note))
        return report


@contextmanager
def _shrinking(item: pytest.Item, wanted: bool) -> Iterator[None]:
    """Let Hypothesis search, but not shrink and explain, unless that is wanted."""
    function = getattr(item, "obj", None)
    function = getattr(function, "__func__", function)
    # The suite itself sets the attribute: settings for one test have no public place.
    settings = getattr(function, _SETTINGS, None)
    if wanted or settings is None:
        yield
        return
    phases = [each for each in settings.phases if each.name not in ("shrink", "explain")]
    setattr(function, _SETTINGS, hypothesis.settings(settings, phases=phases))
    try:
        yield
    finally:
        setattr(function, _SETTINGS, settings)


class Controller:
    """Runs in the controlling process; writes the events."""

    def __init__(self, folder: Path, limit: float) -> None:
        self._folder = folder
        self._limit = limit
        self._stream = (folder / EVENTS).open("a", encoding="utf-8")
        self._collected = False
        self._started: dict[str, float] = {}
        self._reports: dict[str, list[pytest.TestReport]] = {}

    def _write(self, event: str, **values: object) -> None:
        self._stream.write(json.dumps({"event": event, **values}) + "\n")
        self._stream.flush()

    def _finish(
        self,
        nodeid: str,
        outcome: str,
        duration: float,
        message: str,
        longrepr: str,
        **origin: object,
    ) -> None:
        self._write(
            "finished",
            id=nodeid,
            outcome=outcome,
            duration=round(duration, 4),
            message=message,
            longrepr=longrepr,
            **origin,
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        if not self._collected:  # every worker collects the same tests
            self._collected = True
            self._write("collected", ids=list(ids))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            last = report.longreprtext.strip().splitlines()[-1].removeprefix("E").strip()
            self._finish(report.nodeid, "error", 0.0, last, report.longreprtext)
        elif report.skipped:
            self._finish(report.nodeid, "missing", 0.0, _skip_reason(report), "")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._started[nodeid] = time.monotonic()
        self._reports[nodeid] = []
        self._write("started", id=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when not in ("setup", "call", "teardown"):  # made by xdist for a dead worker
            self._report_death(report)
            return
        reports = self._reports[report.nodeid]
        reports.append(report)
        if report.when == "teardown":
            duration = sum(each.duration for each in reports)
            self._finish(report.nodeid, *_verdict(reports, duration), **_origin(reports))

    def _report_death(self, report: pytest.TestReport) -> None:
        worker: Any = getattr(report, "node")  # noqa: B009 (xdist adds it; pytest does not declare it)
        duration = time.monotonic() - self._started[report.nodeid]
        trace = _trace_file(self._folder, worker.gateway.id).read_text(errors="replace")
        if self._limit and duration >= self._limit:
            outcome, message = "failed", _timeout_message(self._limit)
        else:
            outcome, message = "error", "crash: the process died while it ran this test"
        self._finish(report.nodeid, outcome, duration, message, trace or report.longreprtext)


def _verdict(reports: list[pytest.TestReport], duration: float) -> tuple[str, float, str, str]:
    """Outcome, duration, message and long text of a test from the reports of its phases."""
    for report in reports:
        note = dict(report.user_properties).get(_NOTE, {})
        assert isinstance(note, dict)
        if report.failed:
            outcome = "failed" if report.when == "call" else "error"
            # There is no exception if a test passes that was expected to fail.
            message = note.get("message", report.longreprtext)
            return outcome, duration, message, report.longreprtext
        if hasattr(report, "wasxfail"):
            return XFAILED, duration, report.wasxfail, report.longreprtext
        if report.skipped:
            outcome = "skipped" if note.get("by_suite") else "missing"
            return outcome, duration, _skip_reason(report), ""
    return "passed", duration, "", ""


def _origin(reports: list[pytest.TestReport]) -> Note:
    """What the worker found out about the failure of a test."""
    for report in reports:
        note = dict(report.user_properties).get(_NOTE)
        if isinstance(note, dict) and "origin" in note:
            return dict(note["origin"])
    return {}


def _suite_skips(item: pytest.Item) -> bool:
    """Whether the suite's source skips this test unconditionally.

    Only a plain ``skip`` mark on the test function, its class or its module says that. Marks that
    depend on the module under test (``skipif``, marks on a parameter, marks added during
    collection) and calls of ``pytest.skip`` mean that the module lacks something.
    """
    if not isinstance(item, pytest.Function):
        return False
    for owner in (item.function, item.cls, item.module):
        marks = getattr(owner, "pytestmark", [])
        if any(mark.name == "skip" for mark in (marks if isinstance(marks, list) else [marks])):
            return True
    return False


def _skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
    return reason.removeprefix("Skipped: ").strip()


def shortest_message(error: BaseException) -> str:
    """The first line that says what went wrong, with the exception's type."""
    more = 0
    while isinstance(error, BaseExceptionGroup):
        more += len(error.exceptions) - 1
        error = error.exceptions[0]
    lines = [line.strip() for line in str(error).strip().splitlines()]
    # What pytest adds to a plain assertion, "assert False", is the part that says something.
    first = " ".join(lines[:2] if lines[1:] and lines[1].startswith("+") else lines[:1])
    if isinstance(error, TimeLimitExceeded):
        text = first
    else:
        text = ": ".join(filter(None, [type(error).__name__, first]))
    return f"{text} (and {more} more)" if more else text


def _timeout_message(limit: float) -> str:
    return f"timeout: still running after {limit:g} s"
