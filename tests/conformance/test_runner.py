from __future__ import annotations

from pathlib import Path

import pytest

from conformance.namespace import Module
from conformance.runner import Options, Run, run_suite
from conformance.suite import CannotRunError, Checkout

from .conftest import NAMESPACE, FakeSuite, git

MODULE = Module(NAMESPACE, "3.2", "2025.12")


def run(suite: FakeSuite, options: Options, shown: list[int] | None = None) -> Run:
    checkout = Checkout(suite.path, suite.pins.suite, suite.pins.spec)
    counts = [] if shown is None else shown
    return run_suite(MODULE, checkout, options, lambda run: counts.append(len(run.results)))


@pytest.fixture(scope="module")
def everything(suite: FakeSuite, namespace_folder: Path) -> Run:
    """One run of all that can happen to a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(namespace_folder))
        patch.setenv("PYTEST_ADDOPTS", "--exitfirst")
        patch.setenv("ARRAY_API_TESTS_VERSION", "2021.12")
        patch.setenv("ARRAY_API_NX_COLOUR", "green")
        patch.setenv("CI", "true")
        select = ("not upsets and not draws",)
        return run(suite, Options(NAMESPACE, 1, workers=2, time_limit=1.0, select=select))


@pytest.mark.parametrize(
    ("test", "outcome", "message"),
    [
        ("test_good.py::test_passes", "passed", ""),
        ("test_good.py::test_skipped_by_the_suite[1]", "skipped", "flaky"),
        ("test_good.py::test_skipped_by_the_suite[2]", "skipped", "flaky"),
        ("test_lacking.py::test_needs_fft", "missing", "fft not found in array module"),
        ("test_lacking.py::test_needs_complex", "missing", "no complex dtypes"),
        ("test_lacking.py::test_parameter[f]", "missing", "no f"),
        ("test_lacking.py::test_skips_itself", "missing", "cannot evaluate"),
        ("test_lacking.py::test_excused", "failed", "expected to fail: known"),
        ("test_bad_results.py::test_fails", "failed", "AssertionError: first line"),
        ("test_bad_results.py::test_fails_twice", "failed", "ValueError: one (and 1 more)"),
        ("test_bad_results.py::test_errs", "error", "RuntimeError: no set-up"),
        ("test_rough.py::test_crashes", "error", "crash: the process died while it ran this test"),
        ("test_rough.py::test_hangs", "failed", "timeout: still running after 1 s"),
        ("test_rough.py::test_hangs_deaf_to_signals", "failed", "timeout: still running after 1 s"),
        ("test_environment.py::test_environment", "passed", ""),
        ("test_unimportable.py", "error", "ImportError: no such thing"),
    ],
)
def test_outcomes(everything: Run, test: str, outcome: str, message: str) -> None:
    result = everything.results[f"array_api_tests/{test}"]
    assert (result.outcome, result.message) == (outcome, message)
    assert bool(result.longrepr) == (outcome in ("failed", "error"))


def test_nothing_is_left_out(everything: Run) -> None:
    assert everything.end == "finished"
    assert everything.not_run == []
    assert everything.running == []
    assert len(everything.collected) == 15
    assert len(everything.results) == 16  # one file could not be collected


def test_where_a_hang_was_is_known(everything: Run) -> None:
    test = "array_api_tests/test_rough.py::test_hangs_deaf_to_signals"
    assert "test_hangs_deaf_to_signals" in everything.results[test].longrepr
    assert "Timeout" in everything.results[test].longrepr


def test_the_checkout_stays_as_it_was(everything: Run, suite: FakeSuite) -> None:
    assert git(suite.path, "status", "--porcelain", "--ignored") == ""


def test_selected_files_tests_and_expressions(suite: FakeSuite, namespace: str) -> None:
    select = ("test_good.py", "array_api_tests/test_lacking.py::test_needs_fft", "passes", "fft")
    shown: list[int] = []
    result = run(suite, Options(module=namespace, select=select), shown)
    assert [test.partition("::")[2] for test in result.collected] == [
        "test_passes",
        "test_needs_fft",
    ]
    assert result.end == "finished"
    assert sorted(set(shown)) == [0, 1, 2]  # shown as it grows


def test_the_rest_runs_when_pytest_itself_fails(suite: FakeSuite, namespace: str) -> None:
    result = run(suite, Options(module=namespace, workers=2, select=("test_upsets.py",)))
    assert result.end == "finished"
    assert [test.partition("::")[2] for test in result.collected] == [
        "test_before",
        "test_upsets_pytest",
        "test_after",
    ]
    assert {each.outcome for each in result.results.values()} == {"passed"}
    assert result.not_run == result.running == []


def test_an_interruption_keeps_what_has_run(suite: FakeSuite, namespace: str) -> None:
    def interrupt(run: Run) -> None:
        if run.results and run.running:
            raise KeyboardInterrupt

    checkout = Checkout(suite.path, suite.pins.suite, suite.pins.spec)
    options = Options(
        module=namespace,
        time_limit=0,
        select=("test_good.py::test_passes", "test_rough.py::test_hangs"),
    )
    result = run_suite(MODULE, checkout, options, interrupt)
    assert result.end == "interrupted"
    assert list(result.results) == ["array_api_tests/test_good.py::test_passes"]
    assert result.not_run == result.running == ["array_api_tests/test_rough.py::test_hangs"]


def test_pytest_that_does_not_start(suite: FakeSuite) -> None:
    # The fake namespace is not importable here, so the suite's conftest raises.
    result = run(suite, Options(module=NAMESPACE))
    assert result.end == "broken"
    assert (result.collected, result.results) == ([], {})
    assert f"No module named '{NAMESPACE}'" in result.log


def test_a_seed_repeats_what_tests_draw(suite: FakeSuite, namespace: str) -> None:
    def draw(seed: int) -> str:
        options = Options(module=namespace, seed=seed, select=("test_draws.py",))
        (result,) = run(suite, options).results.values()
        return result.message

    first = draw(1)
    assert draw(1) == first
    assert draw(2) != first


def test_an_unknown_file_is_refused(suite: FakeSuite) -> None:
    with pytest.raises(CannotRunError, match=r"no such file; it has .*test_good.py"):
        run(suite, Options(select=("test_godo.py",)))
