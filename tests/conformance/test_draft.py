"""The tests of what the draft has beyond the suite, on namespaces that are right and wrong."""

import pytest

from array_api_nx_conformance import records
from array_api_nx_conformance.__main__ import main
from array_api_nx_conformance.runner import Options, _parts_with_draft, run_suite
from array_api_nx_conformance.suite import Checkout

from .test_runner import MODULE

pytestmark = pytest.mark.slow

# Our own functions with mistakes.
WRONG = """
from array_api_nx import *
from array_api_nx import __array_api_version__, __array_namespace_info__
import array_api_nx as nx

def top_k(x, k, /, *, axis=-1, mode="largest"):
    return tuple(nx.top_k(x, k, axis=axis))

def bincount(x, /, weights=None, *, minlength=0):
    return nx.bincount(x, weights)
"""


def judge(suite, module, folder, *select):
    file = folder / "found.json"
    main(["run", "--module", module, "--standard", "draft", "--checkout", str(suite.path),
          "--max-examples", "20", "--workers", "1", "--json", str(file),
          "--select", *select], suite.pins)  # fmt: skip
    (run,) = records.read(file)
    return run


FILES = [
    f"draft_tests/test_{name}.py"
    for name in ("has_names", "signatures", "array_object", "searching_functions",
                 "statistical_functions")
]  # fmt: skip


def test_our_own_functions_pass(suite, tmp_path):
    run = judge(suite, "array_api_nx", tmp_path, *FILES)
    names = ("top_k", "__dlpack_c_exchange_api__", "bincount")
    tested = {test["function"] for test in run["tests"]}
    assert tested == set(names)
    assert [test["message"] for test in run["tests"] if test["outcome"] == "failed"] == []
    # The capsule is the extension's.
    assert {run["functions"][name]["verdict"] for name in names} <= {"passes", "skipped"}
    assert (
        run["functions"]["top_k"]["verdict"] == run["functions"]["bincount"]["verdict"] == "passes"
    )


def test_mistakes_are_found(suite, tmp_path, monkeypatch):
    (tmp_path / "wrong.py").write_text(WRONG)
    monkeypatch.chdir(tmp_path)
    tests = [f"{FILES[-2]}::test_top_k", f"{FILES[-1]}::test_bincount"]
    # Of known failures Hypothesis shrinks no examples, which would take most of the time.
    (tmp_path / "known.txt").write_text("\n".join(tests))
    run = judge(suite, "wrong", tmp_path, *tests, "--known", "known.txt")
    assert run["functions"]["top_k"]["verdict"] == "fails"
    assert run["functions"]["bincount"]["verdict"] == "deviation"  # it is only proposed
    messages = {test["id"].partition("::")[2]: test["message"] for test in run["tests"]}
    assert "no attribute 'values'" in messages["test_top_k"]
    assert "but should be" in messages["test_bincount"]
    (script,) = [test["repro"] for test in run["tests"] if test["id"].endswith("test_top_k")]
    assert "xp.top_k(x, k, axis=axis, mode=mode)" in script


def test_the_suite_runs_first(suite, namespace):
    checkout = Checkout(suite.path, suite.pins.suite, suite.pins.spec)
    shown = []
    options = Options(namespace, 1, version="draft", select=("test_passes or has_names",))
    run = run_suite(MODULE, checkout, options, lambda run: shown.append(len(run.results)))
    assert run.end == "finished"
    folders = [test.partition("/")[0] for test in run.collected]
    assert list(dict.fromkeys(folders)) == ["array_api_tests", "draft_tests"]
    assert set(run.collected) <= set(run.results)
    assert shown == sorted(shown)
    assert shown[-1] == len(run.results) > 3
    # What selects no test of the suite selects some of the draft's.
    options = Options(namespace, 1, version="draft", select=("has_names",))
    only = run_suite(MODULE, checkout, options, lambda run: None)
    assert only.end == "finished"
    assert {test.partition("/")[0] for test in only.collected} == {"draft_tests"}


def test_selections_of_files():
    names = [
        [part.__name__ for part in _parts_with_draft(select)]
        for select in (
            (), ("fft",), ("test_fft.py",), ("draft_tests/test_has_names.py::test_has_names",),
            ("test_fft.py", "draft_tests/test_has_names.py"),
        )
    ]  # fmt: skip
    both, suite_only, draft_only = ["_call", "_draft_call"], ["_call"], ["_draft_call"]
    assert names == [both, both, suite_only, draft_only, both]
