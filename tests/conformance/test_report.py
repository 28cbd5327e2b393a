from pathlib import Path

import pytest

from array_api_nx_conformance import report
from array_api_nx_conformance.namespace import Module
from array_api_nx_conformance.pytest_run import Result
from array_api_nx_conformance.runner import Options, Run
from array_api_nx_conformance.suite import Checkout


def result(name, outcome, message=""):
    return Result(f"array_api_tests/{name}", outcome, 0.5, message, "")


def make_run(
    *results,
    end="finished",
    not_run=(),
):
    run = Run(
        Module("some.module", "1.0", "2025.12"),
        Checkout(Path("/suite"), "a" * 40, "b" * 40),
        Options(module="some.module", seed=5),
        end=end,
        collected=[each.id for each in results] + [f"array_api_tests/{name}" for name in not_run],
        log="a\n\nlast words\n",
    )
    # Results come in any order.
    run.results = {each.id: each for each in reversed(results)}
    return run


PASS = result("test_fft.py::test_fft", "passed")
SKIP = result("test_array_object.py::test_a", "skipped", "flaky")


@pytest.mark.parametrize(
    ("run", "status"),
    [
        (make_run(PASS), 0),
        (make_run(PASS, SKIP), 0),
        (make_run(PASS, result("test_a.py::test_b", "failed")), 1),
        (make_run(PASS, result("test_a.py::test_b", "error")), 1),
        (make_run(PASS, result("test_a.py::test_b", "missing")), 1),
        (make_run(PASS, end="broken"), 1),
        (make_run(end="broken", not_run=("test_a.py::test_b",)), 1),
        (make_run(end="broken"), 2),
        (make_run(end="finished"), 2),
        (make_run(PASS, end="interrupted"), 130),
        (make_run(end="interrupted"), 130),
    ],
)
def test_exit_status(run, status):
    assert report.exit_status(run) == status


def test_chapters_are_the_files_in_the_suites_order():
    chapters = report.chapters(make_run(PASS, SKIP, result("test_fft.py::test_g", "failed")))
    assert list(chapters) == ["fft", "array object"]
    assert chapters["fft"] == {"passed": 1, "failed": 1, "error": 0, "missing": 0, "skipped": 0}


def test_summary_of_a_clean_run():
    lines = report.summary(make_run(PASS, SKIP)).splitlines()
    assert lines[:2] == [
        "Skipped by the suite itself (1):",
        "  test_array_object.py::test_a: flaky",
    ]
    assert ["fft", "1", "-", "-", "-", "-"] in [line.split() for line in lines]
    assert ["total", "1", "-", "-", "-", "1"] in [line.split() for line in lines]
    assert lines[-1] == (
        "CONFORMS: 1 passed, 0 failed, 0 errors, 0 missing, 1 skipped by the suite;"
        " 200 examples per test; 0 s"
    )


def test_summary_of_what_is_not_the_whole():
    run = make_run(PASS)
    run.options = Options(module="some.module", max_examples=30, select=("test_fft.py",))
    last = report.summary(run).splitlines()[-1]
    assert last.startswith("CONFORMS, PARTLY, PROVISIONALLY: 1 passed, ")
    assert "; 30 examples per test, provisional below 200; " in last
    assert "\n30 examples per test, provisional below 200; seed 0" in report.heading(run)


def test_summary_of_failures():
    failed = result("test_a.py::test_b[x y]", "failed", "ValueError: " + "v" * 300)
    error = result("test_a.py::test_c", "error", "crash")
    missing = result("test_fft.py::test_g", "missing", "fft not found")
    text = report.summary(make_run(PASS, failed, error, missing))
    assert "Failures (2):\nFAILED  test_a.py::test_b[x y]\n        ValueError: vvv" in text
    assert "ERROR   test_a.py::test_c\n        crash" in text
    assert "lacks something (1):\n  test_fft.py::test_g: fft not found" in text
    assert "DOES NOT CONFORM: 1 passed, 1 failed, 1 errors, 1 missing" in text
    assert text.endswith("--seed 5 --max-examples 200 --select 'test_a.py::test_b[x y]'")
    assert max(map(len, text.splitlines())) < 220


@pytest.mark.parametrize(("end", "words"), [("broken", "DOES NOT"), ("interrupted", "INTERR")])
def test_summary_of_a_run_that_did_not_finish(end, words):
    run = make_run(PASS, end=end, not_run=("test_a.py::test_b", "test_a.py::test_c"))
    run.running = ["array_api_tests/test_a.py::test_b"]
    text = report.summary(run)
    assert "1 of 3 tests have a result; test_a.py::test_b was running." in text
    assert text.splitlines()[-1].startswith(words)
    assert ("last words" in text) == (end == "broken")


def test_heading_warns_about_another_suite():
    run = make_run(PASS)
    assert report.heading(run).splitlines()[0].startswith("some.module 1.0")
    assert "NOT THE PINNED" not in report.heading(run)
    run.checkout = Checkout(Path("/suite"), "a" * 40, "b" * 40, ("it is modified",))
    assert "NOT THE PINNED SUITE: it is modified" in report.heading(run)
