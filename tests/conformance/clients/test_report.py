from pathlib import Path

import pytest

from array_api_nx_conformance.clients import markdown, report
from array_api_nx_conformance.clients.explain import Explanation
from array_api_nx_conformance.clients.packages import CLIENTS, Installed
from array_api_nx_conformance.clients.runner import RENAMED, ClientRun
from array_api_nx_conformance.namespace import Module
from array_api_nx_conformance.pytest_run import Result

pytestmark = pytest.mark.slow

SCIPY = Installed(CLIENTS["scipy"], "9.9", Path("/site"), Path("/site/scipy"))
EXPLANATION = Explanation("three", r"::test_b", "is 3$", "check(x)", "It is\nthree.\n")


def result(test, outcome, message=""):
    longrepr = f"/site/scipy/fft/a.py:7: in f\n    check(x)\nE   {message}\n" if message else ""
    return Result(test, outcome, 0.1, message, longrepr)


def a_run(name="ours", *failing):
    """A run of six tests, in which the two that fail are explained or not."""
    results = [
        result("scipy/fft/tests/test_fft.py::test_a[{}]", "passed"),
        result("scipy/fft/tests/test_fft.py::test_b[{}-1]", "failed", "ValueError: 12 is 3"),
        result("scipy/fft/tests/test_fft.py::test_b[{}-2]", "failed", "ValueError: 13 is 3"),
        result("scipy/_lib/tests/test_a.py::test_c[{}]", "failed", "TypeError: a|b `c`"),
        result("scipy/_lib/tests/test_a.py::test_d[{}]", "skipped", "np_only"),
        result("scipy/_lib/tests/test_a.py::test_e[{}]", "expected", "known"),
    ]
    run = ClientRun(SCIPY, Module(name, "1.0", ""), end="finished")
    for each in results:
        test = each.id.format(name)
        if each.outcome == "failed" and failing and test.rpartition("::")[2] not in failing:
            each = result(test, "passed")
        run.results[test] = Result(test, each.outcome, 0.1, each.message, each.longrepr)
    run.collected = list(run.results)
    return run


@pytest.fixture
def record():
    beside = a_run("theirs", "test_b[theirs-2]")
    return report.record([[a_run()], [beside]], [EXPLANATION])


def test_counts(record):
    client = record["namespaces"][0]["clients"]["scipy"]
    assert client["submodules"] == {
        "scipy._lib": {
            "tests": 3, "passed": 0, "failed": 1, "expected": 1, "skipped": 1, "explained": 0,
        },
        "scipy.fft": {
            "tests": 3, "passed": 1, "failed": 2, "expected": 0, "skipped": 0, "explained": 2,
        },
    }  # fmt: skip
    assert client["totals"]["failed"] == 3


def test_causes_and_explanations(record):
    client = record["namespaces"][0]["clients"]["scipy"]
    assert client["causes"] == [
        {"message": "ValueError: N is N", "tests": 2, "explanation": "three"},
        {"message": "TypeError: a|b `c`", "tests": 1, "explanation": ""},
    ]
    assert record["explanations"] == {"three": {"line": "check(x)", "reason": "It is\nthree.\n"}}


def test_the_failures_of_the_judged_namespace_alone(record):
    judged, beside = (each["clients"]["scipy"] for each in record["namespaces"])
    assert [each["also"] for each in judged["failures"]] == [[], ["theirs"], []]
    assert {each["at"] for each in judged["failures"]} == {"scipy/fft/a.py:7"}
    assert "failures" not in beside
    assert beside["totals"]["failed"] == 1


def test_exit_status():
    only_explained = a_run("ours", "test_b[ours-1]")
    assert report.record([[a_run()]], [EXPLANATION])["exit_status"] == 1
    assert report.record([[only_explained]], [EXPLANATION])["exit_status"] == 0
    assert report.record([[only_explained]], [])["exit_status"] == 1
    only_explained.end = "broken"
    assert report.record([[only_explained]], [EXPLANATION])["exit_status"] == 1
    only_explained.end = "interrupted"
    assert report.record([[only_explained]], [EXPLANATION])["exit_status"] == 130
    beside = [only_explained]
    assert report.record([[a_run()], beside], [EXPLANATION])["exit_status"] == 130


def test_a_failure_beside_is_no_failure():
    good = a_run("ours", "none of them")
    assert report.record([[good], [a_run("theirs")]], [])["exit_status"] == 0


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("at 0x7f3a: 3 != 4.5e-3", "at N: N != N"),
        ("shape (2, -3) of float64 in x1", "shape (N, N) of float64 in x1"),
        ("assert 3.0 == array([[1,\n       2]])", "assert N == array(...)"),
        ("x" * 300, "x" * 157 + "..."),
    ],
)
def test_what_differs_from_test_to_test_is_no_cause(message, expected):
    assert report.normalised(message) == expected


def test_markdown(record):
    text = markdown.render(record)
    rows = [
        [cell.strip(" |") for cell in line.split(" | ")]
        for line in text.splitlines()
        if line.startswith("| ")
    ]
    assert rows[0][-1] == "failed on theirs"
    assert rows[2] == ["scipy._lib", "3", "1", "1", "0", "1", "0", "0 of 3"]
    assert rows[4] == ["all", "6", "1", "1", "1", "3", "2", "1 of 6"]
    assert rows[-2][:3] == ["2", "``ValueError: N is N``", "three"]
    assert rows[-1][:3] == ["1", "``` TypeError: a\\|b `c` ```", "**no**"]
    assert text.endswith("## Explanations\n\n**three**: ``check(x)``\n\nIt is\nthree.\n")


@pytest.mark.parametrize("name", ["theirs", RENAMED])
def test_markdown_says_what_the_renamed_namespace_is(name):
    text = markdown.render(report.record([[a_run()], [a_run(name)]], []))
    assert ("array_api_strict under a name" in text) == (name == RENAMED)


def test_markdown_of_a_run_that_is_not_complete():
    run = a_run()
    run.end = "broken"
    run.collected.append("more")
    text = markdown.render(report.record([[run]], []))
    assert "**Not complete (broken): 1 tests not run.**" in text
    assert "## Explanations" not in text


def test_numpys_tests_have_groups_and_a_share():
    numpys = Installed(CLIENTS["numpy"], "9.9", Path("/site"), Path("/site/numpy"))
    run = ClientRun(numpys, Module("ours", "1.0", ""), end="finished")
    for each in (
        *[result(f"numpy/lib/tests/test_a.py::test_a[{i}]", "passed") for i in range(3)],
        result("numpy/lib/tests/test_a.py::test_b", "expected", "group base: It has none."),
        result("numpy/lib/tests/test_a.py::test_c", "skipped", "group memory: It needs much."),
        result("numpy/lib/tests/test_a.py::test_d", "skipped", "no PyPy"),
    ):
        run.results[each.id] = each
    run.collected = list(run.results)
    numpys_record = report.record([[run]], [])
    assert numpys_record["exit_status"] == 0
    assert numpys_record["namespaces"][0]["clients"]["numpy"]["groups"] == {
        "base": {"tests": 1, "reason": "It has none."},
        "memory": {"tests": 1, "reason": "It needs much."},
    }
    text = markdown.render(numpys_record)
    assert text.startswith("# NumPy's tests on ours\n\nNumPy's own tests")
    assert "**75.0%** of the 4 tests that were run pass." in text
    assert [line.rstrip(" |").split("|")[-1].strip() for line in text.splitlines()][-2:] == [
        "It has none.",
        "It needs much.",
    ]
