"""Two checkouts are compared case by case, if both are complete."""

import json
import shutil

import pytest

from benchmarks import against
from benchmarks.__main__ import GROUPS, main
from benchmarks.worker import ROOT, Problem
from tests.support.programs import needs_extension
from tests.support.refusals import refused

pytestmark = pytest.mark.slow


@pytest.fixture
def other(tmp_path, monkeypatch):
    """Another checkout, without compiled extensions, which nobody asks for either.

    Python's own compiled files are copied, since each process would take a second without them; but
    not those that another process is just writing, under names of their own.
    """
    monkeypatch.setenv("ARRAY_API_NX_EXTENSION", "0")
    monkeypatch.setattr(against, "PAIRS", 1)
    leave = shutil.ignore_patterns("*.so", "*.pyd", "*.pyc.*")
    shutil.copytree(ROOT / "array_api_nx", tmp_path / "other" / "array_api_nx", ignore=leave)
    return tmp_path / "other"


@pytest.mark.parametrize(
    ("group", "options", "cases"),
    [
        ("small", ["--case", "a + b"], ["a + b"]),
        ("fused", ["--sizes", "3e2", "--dtypes", "float32", "--case", "clip"], ["where, clip"]),
        ("compiled", ["--sizes", "3e2", "--case", "ten"], ["ten operations"]),
        ("scipy", ["--sizes", "2e3", "--case", "softmax, flat"], ["softmax, flat"]),
    ],
)
def test_every_group_is_compared(group, options, cases, other, tmp_path, monkeypatch):
    assert group in GROUPS
    if group == "small":  # the others start half as many processes
        monkeypatch.setattr(against, "PAIRS", 2)
    if group == "scipy":
        pytest.importorskip("scipy")
    file = tmp_path / "figures.json"
    command = [group, "--against", str(other), "--turns", "2", "--json", str(file), *options]
    assert main(command) == 0
    figures = json.loads(file.read_text())["against"]
    assert set(figures["revisions"]) == {"this", "other"}
    assert figures["processor"]
    for result in figures["results"]:
        assert result["group"] == group
        assert any(case in result["case"] for case in cases)
        low, high = result["quartiles"]
        assert 0 < low <= result["ratio"] <= high
        assert result["slower"] == (result["ratio"] > 1.03)
    assert len(figures["results"]) == (2 if group == "compiled" else 1)  # dtypes


def test_slower_cases_are_listed(other, monkeypatch, capsys):
    seconds = {ROOT: [1.1, 1.2, 1.0], other: [1.0, 1.0, 1.0]}
    monkeypatch.setattr(against, "_start", lambda group, checkout: Stopped(seconds[checkout]))
    group = against.Group("few", "module", "nx", 0.0, [("quick",), ("slow",), ("bad",)])
    figures = against.run([group], other, 3)
    assert [x.get("slower") for x in figures["results"]] == [False, True, None]
    assert figures["results"][1]["ratio"] == 1.1
    assert figures["results"][1]["fastest_ratio"] == 1.0
    assert figures["results"][2]["problems"] == {"this": "wrong", "other": "wrong"}
    out = capsys.readouterr().out
    assert "1 of 2 cases are slower by more than 3%" in out
    assert out.splitlines()[-1].startswith("  few: slow")


class Stopped:
    """A worker of the case `slow`, which takes the times given; others take a second."""

    def __init__(self, times):
        self.times = times
        self.turns = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def ask(self, action, *arguments):
        if action == "prepare":
            case = arguments[1]
            if case == "bad":
                raise Problem("wrong")
            self.turns = list(self.times) if case == "slow" else [1.0] * 3
            return 0.0
        return self.turns.pop(0)


def test_extensions_that_are_not_compiled_are_told(other, monkeypatch, capsys):
    monkeypatch.delenv("ARRAY_API_NX_EXTENSION")
    with pytest.raises(SystemExit) as ended:
        main(["small", "--against", str(other), "--turns", "1"])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "has no compiled _native; run there: python setup.py build_ext" in error


def test_the_other_checkout_is_the_one_that_is_timed(other):
    group = against.Group("small", "benchmarks.calls", "nx", 0.0, [])
    with against._start(group, other) as worker:
        assert worker.checkout == str(other)
    (other / "array_api_nx" / "__init__.py").unlink()
    (other / "array_api_nx").rename(other / "gone")
    refused(against.Unsuitable, "array_api_nx was imported from", against._start, group, other)


@needs_extension
def test_sources_that_changed_are_told(monkeypatch, tmp_path, capsys):
    leave = shutil.ignore_patterns("*.pyc.*")
    shutil.copytree(ROOT / "array_api_nx", tmp_path / "array_api_nx", ignore=leave)
    source = tmp_path / "array_api_nx" / "native" / "sums.c"
    group = against.Group("small", "benchmarks.calls", "nx", 0.0, [])
    source.touch()
    try:
        against._start(group, tmp_path).close()
    except against.Unsuitable:
        pytest.skip("the extensions are not compiled")
    assert "C sources changed after they were compiled" in capsys.readouterr().out
