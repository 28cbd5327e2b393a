"""The pytest plugin that hands every test's result to `conformance.runner`.

It is loaded in the controlling process of pytest-xdist and in its workers. Workers limit the time
of a test and note what only they can know; the controller writes one JSON line per event to
``events.jsonl`` in the folder that ``--conformance-dir`` names, and leaves out the tests that
``done.json`` lists there. The events:

- ``{"event": "collected", "ids": [...]}``
- ``{"event": "started", "id": ...}``
- ``{"event": "finished", "id": ..., "outcome": ..., "duration": ..., "message": ...,
  "longrepr": ...}``

The outcome is one of `OUTCOMES`.
"""

from __future__ import annotations

import faulthandler
import json
import signal
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

OUTCOMES = (
    "passed",
    "failed",  # the test itself raised, or took too long
    "error",  # set-up, tear-down or collection raised, or the process died
    "missing",  # skipped, because the module lacks what the test needs
    "skipped",  # skipped by the suite's own code, whatever the module
)
EVENTS = "events.jsonl"
DONE = "done.json"  # the ids of tests that are not to be run again
_NOTE = "conformance"  # the key of what workers note in a report's user properties


class TimeLimitExceeded(BaseException):
    """Raised inside a test that runs too long; no handler of Exception may swallow it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption("--conformance-dir", help="folder that receives the results")
    group.addoption(
        "--conformance-time-limit", type=float, default=0.0, help="seconds per test; 0: no limit"
    )


def pytest_configure(config: pytest.Config) -> None:
    folder = Path(config.getoption("--conformance-dir"))
    limit = config.getoption("--conformance-time-limit")
    worker_input = getattr(config, "workerinput", None)
    if worker_input is None:
        config.pluginmanager.register(Controller(folder, limit))
    else:
        config.pluginmanager.register(Worker(folder, worker_input["workerid"], limit))


def _trace_file(folder: Path, worker: str) -> Path:
    return folder / f"{worker}.trace"


class Worker:
    """Runs in each worker process."""

    def __init__(self, folder: Path, name: str, limit: float) -> None:
        self._limit = limit
        self._done = set(json.loads((folder / DONE).read_text()))
        self._trace = _trace_file(folder, name).open("w")
        faulthandler.enable(self._trace)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid not in self._done]

    def _expire(self, signum: int, frame: object) -> None:
        raise TimeLimitExceeded(_timeout_message(self._limit))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        if not self._limit:
            return (yield)
        # The alarm comes again every second, in case the test swallows the exception. Code that
        # never returns to the interpreter does not notice it: then the process has to die.
        faulthandler.dump_traceback_later(
            self._limit + min(self._limit, 10.0), exit=True, file=self._trace
        )
        signal.signal(signal.SIGALRM, self._expire)
        signal.setitimer(signal.ITIMER_REAL, self._limit, 1.0)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        note: dict[str, Any] = {}
        if report.skipped:
            note["by_suite"] = _suite_skips(item)
        elif report.failed and call.excinfo is not None:
            note["message"] = shortest_message(call.excinfo.value)
        report.user_properties.append((_NOTE, note))
        return report


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
        self, nodeid: str, outcome: str, duration: float, message: str, longrepr: str
    ) -> None:
        self._write(
            "finished",
            id=nodeid,
            outcome=outcome,
            duration=round(duration, 4),
            message=message,
            longrepr=longrepr,
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
            self._finish(report.nodeid, *_verdict(reports, duration))

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
            return outcome, duration, note.get("message", ""), report.longreprtext
        if hasattr(report, "wasxfail"):  # an excuse is no pass
            return "failed", duration, f"expected to fail: {report.wasxfail}", report.longreprtext
        if report.skipped:
            outcome = "skipped" if note.get("by_suite") else "missing"
            return outcome, duration, _skip_reason(report), ""
    return "passed", duration, "", ""


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
