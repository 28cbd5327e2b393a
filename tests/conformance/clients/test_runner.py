import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from array_api_nx_conformance.clients import sklearn_plugin
from array_api_nx_conformance.clients.packages import chosen, find
from array_api_nx_conformance.clients.runner import RENAMED, prepared, run_client
from array_api_nx_conformance.namespace import Module
from array_api_nx_conformance.suite import CannotRunError

from .conftest import NAMESPACE, contents

pytestmark = pytest.mark.slow

STATS = "scipy/stats/tests/test_stats.py"


def run(name, *select, workers=1, interrupt=""):
    def show(run):
        if interrupt and interrupt in run.results:
            raise KeyboardInterrupt

    [client] = find([name])
    targets = chosen([client], select)[name]
    with prepared(NAMESPACE) as module:
        return run_client(client, module, targets, workers=workers, time_limit=30, show=show)


def test_scipys_fixture_gets_the_namespace(installed, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--exitfirst")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before = contents(installed)
    done = run("scipy", workers=2)
    assert contents(installed) == before
    # The tests that use the namespace, and no others.
    assert {test: (each.outcome, each.message) for test, each in done.results.items()} == {
        f"{STATS}::test_name[fake_space]": ("passed", ""),
        f"{STATS}::test_devices[fake_space]": ("passed", ""),
        f"{STATS}::test_skipped[fake_space]": ("skipped", "np_only"),
        f"{STATS}::test_marked[fake_space]": ("expected", "known"),
        f"{STATS}::test_half[fake_space-2]": ("passed", ""),
        f"{STATS}::test_half[fake_space-3]": ("failed", "ValueError: 3 is odd"),
        f"{STATS}::test_half[fake_space-5]": ("failed", "ValueError: 5 is odd"),
        f"{STATS}::test_environment[fake_space]": ("passed", ""),
        f"{STATS}::test_dies[fake_space]": (
            "failed",
            "crash: the process died while it ran this test",
        ),
        "scipy/fft/tests/test_fft.py::test_fft[fake_space]": ("passed", ""),
    }
    assert done.end == "finished"
    assert len(done.collected) == len(done.results)


def test_scikit_learns_lists_name_the_namespace(installed):
    result = run("scikit-learn")
    assert result.end == "finished"
    assert {each.outcome for each in result.results.values()} == {"passed"}
    assert [test.partition("::")[2] for test in result.collected] == [
        "test_namespaces[fake_space]",
        "test_combinations[fake_space-None-None]",
        "test_combinations[fake_space-cpu-float64]",
        "test_combinations[fake_space-cpu-float32]",
        "test_mixed[one0-other0-fake_space to numpy]",
        "test_mixed[one1-other1-numpy to fake_space]",
        "test_mixed[one2-other2-array_api_strict to fake_space]",
        "test_checks[check0]",
    ]


def test_scikit_learns_own_list_for_a_namespace_that_it_knows():
    lists = SimpleNamespace(
        NamespaceAndDevice=lambda xp, device: (xp, device),
        yield_namespaces=lambda numpy=True: ["numpy", "torch"] if numpy else ["torch"],
        yield_namespace_device_dtype_combinations=lambda numpy=True: [
            *([("numpy", None, None)] if numpy else []),
            ("torch", "cpu", "float64"),
        ],
    )
    sklearn_plugin._replace(lists, "numpy")
    assert list(lists.yield_namespaces()) == ["numpy"]
    assert list(lists.yield_namespaces(include_numpy_namespaces=False)) == []
    combinations = lists.yield_namespace_device_dtype_combinations
    assert list(combinations()) == [("numpy", None, None)]
    assert list(combinations(include_numpy_namespaces=False)) == []
    assert list(lists.yield_mixed_namespace_input_permutations()) == [
        (("array_api_strict", "device1"), ("numpy", None), "array_api_strict to numpy")
    ]


def test_an_interruption_keeps_what_has_run(installed):
    test = f"{STATS}::test_name[fake_space]"
    result = run("scipy", "scipy.stats", interrupt=test)
    assert result.end == "interrupted"
    assert result.results[test].outcome == "passed"


def test_pytest_that_does_not_start(installed):
    [client] = find(["scipy"])
    module = Module("no_such_module", "", "")
    result = run_client(
        client, module, [str(client.folder)], workers=1, time_limit=0, show=lambda run: None
    )
    assert (result.end, result.results) == ("broken", {})
    assert "No module named 'no_such_module'" in result.log


def test_a_module_that_does_not_import():
    with (
        pytest.raises(CannotRunError, match="No module named 'no_such_module'"),
        prepared("no_such_module"),
    ):
        pass


def test_array_api_strict_under_another_name(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    code = f"import {RENAMED} as xp; print(xp.ones(1).__array_namespace__().__name__)"
    with prepared(RENAMED) as module:
        said = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
    assert (module.name, said.stdout) == (RENAMED, f"{RENAMED}\n")
    assert module.version
    assert os.environ["PYTHONPATH"] == str(tmp_path)
