"""The sub-command ``checks``, from the command line to its files."""

import importlib.util
import json

import pytest

from array_api_nx_conformance.__main__ import main

pytestmark = pytest.mark.slow

NAMESPACE = "faulty_here"
# NumPy, but for the sign of a remainder, a check by `assert`, and a function that ends the process.
TEXT = """
import os
from numpy import *
from numpy import linalg, fft, float64, asarray, reshape as _reshape, remainder as _remainder

__version__ = "3.1"

def remainder(x, y):
    return abs(_remainder(x, y))

def reshape(x, shape, copy=None):
    assert -1 in shape or x.size == prod(asarray(shape)), "sizes differ"
    return zeros(shape) if x.size != abs(prod(asarray(shape))) else _reshape(x, shape, copy=copy)

def hypot(x, y):
    os._exit(7)
"""


@pytest.fixture
def faulty_module(tmp_path, monkeypatch):
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / f"{NAMESPACE}.py").write_text(TEXT)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return NAMESPACE


def read(path):
    values = json.loads(path.read_text())
    assert values["schema"] == 1
    return list(values["runs"])


def test_a_namespace_that_passes(tmp_path, capsys):
    result, page = tmp_path / "r.json", tmp_path / "r.md"
    options = ["--module", "numpy", "--chapter", "remainder", "--chapter", "aliasing"]
    assert main(["checks", *options, "--json", str(result), "--markdown", str(page)]) == 0
    (run,) = read(result)
    assert run["module"]["name"] == "numpy"
    assert list(run["chapters"]) == ["remainder", "aliasing"]
    said = capsys.readouterr()
    assert page.read_text() in said.out
    assert "| numpy" in said.out
    assert "numpy: remainder: 50 passes" in said.err


def test_failures_are_named(faulty_module, tmp_path, capsys):
    result = tmp_path / "r.json"
    options = ["--chapter", "remainder", "--select", "remainder", "--json", str(result)]
    assert main(["checks", "--module", f"numpy,{faulty_module}", *options]) == 1
    runs = read(result)
    assert [run["module"]["name"] for run in runs] == ["numpy", faulty_module]
    failed = [f for f in runs[1]["chapters"]["remainder"]["findings"] if f["outcome"] == "fails"]
    assert {f["check"].partition(",")[0] for f in failed} == {"remainder(x1"}
    out = capsys.readouterr().out
    assert f"## {faulty_module} 3.1" in out
    assert failed[0]["message"] in out
    assert f"`{failed[0]['repro']}`" in out


def test_a_process_that_ends_early_is_a_failure(faulty_module, tmp_path):
    result = tmp_path / "r.json"
    options = ["--chapter", "special", "--chapter", "remainder", "--json", str(result)]
    assert main(["checks", "--module", faulty_module, *options]) == 1
    (run,) = read(result)
    (finding,) = run["chapters"]["special"]["findings"]
    assert "ends early with exit status 7" in finding["message"]
    assert len(run["chapters"]["remainder"]["findings"]) == 50


def test_asserts_that_vanish_are_found(faulty_module, tmp_path):
    text = TEXT.replace("os._exit(7)", "return sqrt(x * x + y * y)")
    (tmp_path / "path" / f"{faulty_module}.py").write_text(text)
    result = tmp_path / "r.json"
    options = ["--chapter", "optimized", "--json", str(result)]
    assert main(["checks", "--module", faulty_module, *options]) == 1
    (run,) = read(result)
    failed = {
        (f["function"], f["check"])
        for f in run["chapters"]["optimized"]["findings"]
        if f["outcome"] == "fails"
    }
    assert failed == {
        ("error: reshape to another size", flag) for flag in ("python -O", "python -OO")
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--module", "no_such_thing"], "does not import"),
        (["--module", ","], "names no namespace"),
        (["--module", "json"], "is no array namespace"),
        (["--module", "numpy", "--device", "moon"], "set_default_device"),
    ],
)
def test_what_cannot_be_run(options, message, capsys):
    assert main(["checks", "--chapter", "remainder", *options]) == 2
    assert message in capsys.readouterr().err


def test_the_accuracy_needs_mpmath(monkeypatch, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "mpmath" else found(name)
    )
    assert main(["checks", "--module", "numpy"]) == 2
    said = capsys.readouterr().err
    assert "pip install mpmath;" in said
    assert "--chapter aliasing" in said


def test_the_table_of_accuracy(tmp_path):
    pytest.importorskip("mpmath")
    page = tmp_path / "r.md"
    options = ["--chapter", "accuracy", "--select", "add", "cosh", "sum", "--points", "10"]
    assert main(["checks", "--module", "numpy", *options, "--markdown", str(page)]) == 0
    text = page.read_text()
    assert "### Accuracy" in text
    for name in ("add", "cosh", "sum"):
        assert f"| {name} " in text
