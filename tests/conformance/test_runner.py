import pytest

from array_api_nx_conformance.namespace import Module
from array_api_nx_conformance.runner import Options, run_suite
from array_api_nx_conformance.suite import CannotRunError, Checkout

from .conftest import NAMESPACE, git

pytestmark = pytest.mark.slow

MODULE = Module(NAMESPACE, "3.2", "2025.12")


def run(suite, options, shown=None):
    checkout = Checkout(suite.path, suite.pins.suite, suite.pins.spec)
    counts = [] if shown is None else shown
    return run_suite(MODULE, checkout, options, lambda run: counts.append(len(run.results)))


OUTCOMES = {
    "test_good.py::test_passes": ("passed", ""),
    "test_good.py::test_skipped_by_the_suite[1]": ("skipped", "flaky"),
    "test_good.py::test_skipped_by_the_suite[2]": ("skipped", "flaky"),
    "test_lacking.py::test_needs_fft": ("missing", "fft not found in array module"),
    "test_lacking.py::test_needs_complex": ("missing", "no complex dtypes"),
    "test_lacking.py::test_parameter[f]": ("missing", "no f"),
    "test_lacking.py::test_skips_itself": ("missing", "cannot evaluate"),
    "test_lacking.py::test_excused": ("failed", "expected to fail: known"),
    "test_bad_results.py::test_fails": ("failed", "AssertionError: first line"),
    "test_bad_results.py::test_fails_twice": ("failed", "ValueError: one (and 1 more)"),
    "test_bad_results.py::test_errs": ("error", "RuntimeError: no set-up"),
    "test_rough.py::test_crashes": ("error", "crash: the process died while it ran this test"),
    "test_rough.py::test_hangs": ("failed", "timeout: still running after 1 s"),
    "test_rough.py::test_hangs_deaf_to_signals": ("failed", "timeout: still running after 1 s"),
    "test_environment.py::test_environment": ("passed", ""),
    "test_unimportable.py": ("error", "ImportError: no such thing"),
}


# Not a test for each: on several workers, each of them would make the run anew.
def test_all_that_can_happen_to_a_test(suite, namespace, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--exitfirst")
    monkeypatch.setenv("ARRAY_API_TESTS_VERSION", "2021.12")
    monkeypatch.setenv("ARRAY_API_NX_SLOW_TESTS", "green")
    monkeypatch.setenv("CI", "true")
    select = ("not upsets and not draws",)
    done = run(suite, Options(namespace, 1, workers=2, time_limit=1.0, select=select))
    results = {test.removeprefix("array_api_tests/"): each for test, each in done.results.items()}
    assert {test: (each.outcome, each.message) for test, each in results.items()} == OUTCOMES
    for each in results.values():
        assert bool(each.longrepr) == (each.outcome in ("failed", "error"))
    assert done.end == "finished"
    assert done.not_run == []
    assert done.running == []
    assert len(done.collected) == len(OUTCOMES) - 1  # one file could not be collected
    # Where a hang was is known.
    hang = results["test_rough.py::test_hangs_deaf_to_signals"].longrepr
    assert "test_hangs_deaf_to_signals" in hang
    assert "Timeout" in hang
    # The checkout stays as it was.
    assert git(suite.path, "status", "--porcelain", "--ignored") == ""


def drawn(run):
    """What the test drew that draws a number."""
    return run.results["array_api_tests/test_draws.py::test_draws"].message


def test_selections_failures_of_pytest_itself_and_seeds(suite, namespace):
    select = ("test_good.py", "array_api_tests/test_lacking.py::test_needs_fft", "test_draws.py",
              "passes", "fft", "draws")  # fmt: skip
    shown = []
    selected = run(suite, Options(module=namespace, select=select, seed=1), shown)
    assert [test.partition("::")[2] for test in selected.collected] == [
        "test_passes",
        "test_needs_fft",
        "test_draws",
    ]
    assert selected.end == "finished"
    assert sorted(set(shown)) == [0, 1, 2, 3]  # shown as it grows

    # The rest runs when pytest itself fails.
    select = ("test_draws.py", "test_upsets.py")
    upset = run(suite, Options(module=namespace, workers=2, select=select, seed=1))
    assert upset.end == "finished"
    assert [test.partition("::")[2] for test in upset.collected] == [
        "test_draws",
        "test_before",
        "test_upsets_pytest",
        "test_after",
    ]
    assert [each.outcome for each in upset.results.values()].count("passed") == 3
    assert upset.not_run == upset.running == []

    # A seed repeats what tests draw, in any selection of them.
    other = run(suite, Options(module=namespace, seed=2, select=("test_draws.py",)))
    assert drawn(selected) == drawn(upset) != drawn(other)


def test_an_interruption_keeps_what_has_run(suite, namespace):
    def interrupt(run):
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


def test_pytest_that_does_not_start(suite):
    # The fake namespace is not importable here, so the suite's conftest raises.
    result = run(suite, Options(module=NAMESPACE))
    assert result.end == "broken"
    assert (result.collected, result.results) == ([], {})
    assert f"No module named '{NAMESPACE}'" in result.log


def test_pytest_that_dies_of_an_exception(suite, namespace, tmp_path, monkeypatch):
    # Python itself ends with the status of a run in which tests failed.
    folder = tmp_path / "pytest"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "__main__.py").write_text("raise OSError('no pytest today')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = run(suite, Options(module=namespace))
    assert (result.end, result.results) == ("broken", {})
    assert "no pytest today" in result.log


def test_an_unknown_file_is_refused(suite):
    with pytest.raises(CannotRunError, match=r"no such file; it has .*test_good.py"):
        run(suite, Options(select=("test_godo.py",)))
