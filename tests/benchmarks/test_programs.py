"""Programs written for NumPy run with their import changed, and must give NumPy's results."""

import json
import shutil

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.programs import classes, npbench, own
from benchmarks.programs.command import cases
from benchmarks.programs.measure import FreshArguments, compare, prepare
from benchmarks.programs.sources import load
from benchmarks.worker import ROOT, Problem
from tests.support.refusals import refused

pytestmark = pytest.mark.slow

SOURCES = {
    "jacobi_1d": """
import numpy as np

def step(a, b):
    b[1:-1] = 0.5 * (a[:-2] + a[2:])

def kernel(steps, a, b):
    for _ in range(steps):
        step(a, b)
        step(b, a)
""",
    "gemm": """
import numpy as np
from numpy import sum

def kernel(alpha, a):
    return alpha * (a @ a), sum(a)
""",
    "lu": """
import numpy as np

def kernel(a):
    return a + (1.0 if np.__name__ == "numpy" else 1.5)
""",
    "syrk": """
import numpy as np

def kernel(n):
    return np.no_such_function(n) if np.__name__ != "numpy" else np.zeros(n)
""",
}
INITIALIZE = """
import numpy as np

def initialize(n):
    return np.linspace(0.0, 1.0, n), np.zeros(n)

def square(n):
    return np.eye(n) + 0.5
"""
INFO = {
    "jacobi_1d": {
        "init": {"func_name": "initialize", "input_args": ["n"], "output_args": ["a", "b"]},
        "input_args": ["steps", "a", "b"],
    },
    "gemm": {
        "init": {"func_name": "square", "input_args": ["n"], "output_args": ["a"]},
        "input_args": ["steps", "a"],
    },
    "lu": {
        "init": {"func_name": "square", "input_args": ["n"], "output_args": ["a"]},
        "input_args": ["a"],
    },
    "syrk": {"input_args": ["n"]},
}


@pytest.fixture
def checkout(tmp_path):
    """What a checkout of NPBench has, with four programs: one is wrong, one cannot start."""
    root = tmp_path / "npbench"
    (root / "bench_info").mkdir(parents=True)
    for name, about in INFO.items():
        folder = root / "npbench" / "benchmarks" / "group" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(INITIALIZE)
        (folder / f"{name}_numpy.py").write_text(SOURCES[name])
        parameters = {"S": {"n": 20, "steps": 3}, "M": {"n": 40, "steps": 5}}
        about = {**about, "module_name": name, "relative_path": f"group/{name}"}
        about |= {"func_name": "kernel", "parameters": parameters}
        (root / "bench_info" / f"{name}.json").write_text(json.dumps({"benchmark": about}))
    return root


def test_the_table_of_a_checkout(checkout, tmp_path, capsys):
    sources = {file: file.read_text() for file in checkout.rglob("*.py")}
    figures = run(["--npbench", str(checkout), "--preset", "M", "--threads", "1"], tmp_path)
    assert {file: file.read_text() for file in checkout.rglob("*.py")} == sources
    results = {result["program"]: result for result in figures["results"]}
    assert set(results) == set(INFO)
    for name in ("jacobi_1d", "gemm"):
        assert results[name]["speed"]["nx"] > 0
        assert results[name]["fastest_speed"]["nx"] > 0
        assert results[name]["difference"]["nx"] in ("bits equal", "within 1e-16", "within 2e-16")
    assert results["lu"]["problems"]["nx"].startswith("wrong: differs by 2")
    assert "has no attribute 'no_such_function'" in results["syrk"]["problems"]["nx"]
    assert [results[name]["class"] for name in INFO] == [
        *[classes.WHOLE, classes.BLAS, classes.LOOPS, classes.LOOPS]
    ]
    assert figures["summary"][classes.BLAS]["nx"]["run"] == 1
    assert figures["summary"][classes.LOOPS]["nx"] == {
        **{"geometric_mean": None, "of_fastest_turns": None, "worst": None},
        **{"run": 0, "of": 2},
    }
    assert figures["threads"] == 1
    out = capsys.readouterr().out
    for text in (*classes.CLASSES, "wrong", "cannot", "programs run at less than 0.97"):
        assert text in out


def test_another_checkout_has_a_column(checkout, tmp_path, monkeypatch):
    monkeypatch.setenv("ARRAY_API_NX_EXTENSION", "0")
    leave = shutil.ignore_patterns("*.so", "*.pyd", "*.pyc.*")
    shutil.copytree(ROOT / "array_api_nx", tmp_path / "other" / "array_api_nx", ignore=leave)
    options = ["--npbench", str(checkout), "--only", "gemm", "--against", str(tmp_path / "other")]
    (result,) = run(options, tmp_path)["results"]
    assert set(result["speed"]) == {"nx", "other"}


def test_a_program_that_is_killed_is_a_row(checkout, tmp_path):
    file = checkout / "npbench" / "benchmarks" / "group" / "gemm" / "gemm_numpy.py"
    kill = "    if np.__name__ != 'numpy': import os; os._exit(3)\n    return alpha"
    file.write_text(file.read_text().replace("    return alpha", kill))
    (result,) = run(["--npbench", str(checkout), "--only", "gemm"], tmp_path)["results"]
    assert result["problems"] == {"nx": "the process of nx ended with status 3"}


def test_numba_compiles_the_functions_of_a_program(checkout):
    pytest.importorskip("numba")
    prepared = prepare("numba", "npbench", str(checkout), "jacobi_1d", "S")
    assert prepared.timer.timeit(2) > 0
    assert prepared.note


@pytest.mark.parametrize("dtype", own.DTYPES)
@pytest.mark.parametrize("name", own.NAMES)
def test_our_own_programs_agree_with_numpy(name, dtype):
    assert prepare("nx", "own", name, dtype, 1000).note


def test_our_own_programs_have_a_table(tmp_path):
    options = ["--sizes", "200", "--dtypes", "float32", "--only", "heat"]
    (result,) = run(options, tmp_path)["results"]
    assert result["program"] == "heat_1d, float32, 200"
    assert result["speed"]["nx"] > 0


def test_the_names_of_cases():
    chosen = cases(None, "S", [10, 20], ["float64"], "k")
    assert {case.request[1] for case in chosen} == {name for name in own.NAMES if "k" in name}
    assert {case.kind for case in chosen} <= set(classes.CLASSES)
    counts = [list(classes.OF_NPBENCH.values()).count(kind) for kind in classes.CLASSES]
    assert counts == [22, 12, 20]


def test_every_call_gets_arguments_of_its_own():
    seen = []
    timer = FreshArguments(list, lambda made: seen.append(made) or made.append(1))
    assert timer.timeit(3) > 0
    assert seen == [[1]] * 3


def test_an_import_is_replaced_under_its_name(tmp_path):
    file = tmp_path / "program.py"
    file.write_text("import numpy\nfrom numpy import e\n\ndef f():\n    return numpy.__name__, e\n")
    assert load(file, "f")() == ("numpy", np.e)
    assert load(file, "f", "math")() == ("math", np.e)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ([1.0, 2.0, np.nan], "bits equal"),
        ([1.0, 2.0 + 2e-9, np.nan], "within 1e-09"),
    ],
)
def test_small_differences_are_noted(result, text):
    assert compare([np.asarray(result)], [np.asarray([1.0, 2.0, np.nan])]) == text


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (np.asarray([1.0, 2.1]), "wrong: differs by 5.0e-02"),
        (np.asarray([1.0, np.nan]), "wrong: differs by nan"),
        (np.asarray([1.0, 2.0], np.float32), "wrong: float32 of shape"),
        (np.ones(3), "wrong: float64 of shape"),
    ],
)
def test_other_results_are_errors(result, text):
    refused(Problem, text, compare, [result], [np.asarray([1.0, 2.0])])
    refused(Problem, "1 arrays instead of 2", compare, [result], [result, result])
    refused(Problem, r"differs by 5\.0e-01", compare, [np.asarray([1, 2])], [np.asarray([1, 3])])


def run(options, folder):
    file = folder / "figures.json"
    always = ["programs", "--turns", "1", "--peers", "nx", "--json", str(file)]
    assert main([*always, *options]) == 0
    return json.loads(file.read_text())["programs"]


def test_names_of_a_checkout(checkout):
    assert npbench.is_checkout(checkout)
    assert not npbench.is_checkout(checkout / "npbench")
    assert npbench.names(checkout) == sorted(INFO)
