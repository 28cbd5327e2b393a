import io
from pathlib import Path

import pytest

from array_api_nx_conformance.namespace import Module
from array_api_nx_conformance.progress import Progress
from array_api_nx_conformance.pytest_run import Result
from array_api_nx_conformance.runner import Options, Run
from array_api_nx_conformance.suite import Checkout

from .samples import Terminal

FAILED = Result("array_api_tests/test_a.py::test_b", "failed", 0.1, "ValueError: v", "")
PASSED = Result("array_api_tests/test_a.py::test_a", "passed", 0.1, "", "")
FAILURE = "FAILED  test_a.py::test_b\n        ValueError: v\n"


@pytest.fixture
def run():
    return Run(Module("m", "", ""), Checkout(Path("/suite"), "", ""), Options())


def fill(run, *results):
    run.collected = [PASSED.id, FAILED.id]
    run.running = ["array_api_tests/test_a.py::test_c"]
    for result in results:
        run.results[result.id] = result


def test_a_file_gets_each_failure_once(run):
    stream = io.StringIO()
    progress = Progress(stream, interval=1e9)
    progress.show(run)
    fill(run, PASSED, FAILED)
    progress.show(run)
    progress.show(run)
    progress.close()
    assert stream.getvalue() == FAILURE


def test_tests_of_a_later_version_are_no_failures(run):
    stream = io.StringIO()
    progress = Progress(stream, interval=0)
    reason = "requires ARRAY_API_TESTS_VERSION >= 2025.12"
    fill(run, PASSED, Result(FAILED.id, "missing", 0.0, reason, ""))
    progress.show(run)
    assert stream.getvalue() == "2/2 (100 %), 0 failures, 0 s; running test_a.py::test_c\n"


def test_a_file_gets_a_line_now_and_then(run):
    stream = io.StringIO()
    progress = Progress(stream, interval=0)
    progress.show(run)
    fill(run, PASSED)
    progress.show(run)
    assert stream.getvalue().splitlines() == [
        "collecting tests, 0 s",
        "1/2 (50 %), 0 failures, 0 s; running test_a.py::test_c",
    ]


def test_a_terminal_has_one_line_that_changes(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "63")
    stream = Terminal()
    progress = Progress(stream)
    fill(run, PASSED)
    progress.show(run)
    fill(run, FAILED)
    progress.show(run)
    progress.close()
    clear = "\r\x1b[K"
    assert stream.getvalue().split(clear) == [
        "",
        # Cut, so that it stays one line.
        "[##########..........] 1/2 (50 %), 0 failures, 0 s; running te",
        FAILURE,
        "[####################] 2/2 (100 %), 1 failures, 0 s; running t",
        "",
    ]
