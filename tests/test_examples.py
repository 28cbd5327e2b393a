"""The programs in examples/, each run as a user runs it: SciPy reads its setting at import."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from statistics import geometric_mean

import pytest

from tests.support.processes import python

# Not importorskip: SciPy reads its setting at its first import.
pytestmark = [
    pytest.mark.skipif(find_spec("sklearn") is None, reason="needs the clients extra"),
    pytest.mark.slow,
]

ROOT = Path(__file__).parents[1]
CLIENTS = ROOT / "examples" / "clients.py"
ROW = re.compile(r"  (?P<name>\S.*?) +(?P<result>agrees|FAILS) +(?P<rest>.*)")


def run(*arguments, before=""):
    """Run the program after the statements `before`."""
    program = f"import runpy, sys\n{before}\nsys.argv = {[str(CLIENTS), *arguments]!r}\n"
    program += f"runpy.run_path({str(CLIENTS)!r}, run_name='__main__')"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )


def rows(output):
    """The result and the rest of each row that was printed."""
    matches = [ROW.fullmatch(line) for line in output.splitlines()]
    return {match["name"]: (match["result"], match["rest"]) for match in matches if match}


@pytest.fixture(scope="module")
def full():
    return run("--turns", "1")


def test_every_client_function_agrees_with_numpy(full):
    results = rows(full.stdout)
    assert {name: rest for name, (result, rest) in results.items() if result != "agrees"} == {}
    assert full.returncode == 0
    assert len(results) > 60
    assert f"\n{len(results)} of {len(results)} agree" in full.stdout
    assert full.stderr == ""


def test_what_came_back_is_told(full):
    results = rows(full.stdout)
    origin = {name: rest.split()[2] for name, (_, rest) in results.items()}
    assert origin["PCA full"] == origin["stats.skew"] == origin["signal.sosfilt"] == "nx"
    assert origin["r2_score"] == "number"
    assert origin["special.expm1"] == "nx"
    _, _, leaving = full.stdout.partition("Known to leave the namespace")
    assert {name for name in origin if origin[name] == "NumPy"} <= set(rows(leaving))


BROKEN = """
import numpy, array_api_nx as xp
from array_api_nx import fft
nx_exp, nx_fft = xp.exp, fft.fft
def exp(x, /): return nx_exp(x) * (1 + 1e-8)
def leave(x, /, **keywords): return numpy.asarray(nx_fft(x, **keywords))
def fail(x, /, **keywords): raise RuntimeError("broken on purpose")
xp.exp, fft.fft, fft.rfft = exp, leave, fail
"""


def test_what_is_wrong_fails():
    result = run("--turns", "1", "gmean", "fft.fft", "fft.rfft", "xlogy", before=BROKEN)
    results = rows(result.stdout)
    assert re.fullmatch(r"ValueError: differs by .*, relative 1\.0e-08", results["stats.gmean"][1])
    assert results["fft.fft"] == ("FAILS", "TypeError: NumPy came back")
    assert results["fft.rfft"] == ("FAILS", "RuntimeError: broken on purpose")
    assert results["special.xlogy"][0] == "agrees"
    assert f"\n1 of {len(results)} agree" in result.stdout
    assert result.returncode == 1


@pytest.mark.parametrize("library", ["sklearn", "scipy"])
def test_a_missing_library_is_one_line_with_the_command(library):
    result = run(before=f"sys.modules[{library!r}] = None")
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert library in result.stderr
    assert "pip install scipy scikit-learn" in result.stderr


def test_times_are_against_numpy_both_ways(full):
    times = [[float(x) for x in rest.split()[-2:]] for _, rest in rows(full.stdout).values()]
    assert all(x > 0 for pair in times for x in pair)
    for line, column in zip(full.stdout.splitlines()[-2:], zip(*times, strict=True), strict=True):
        printed = re.fullmatch(r"Time: (\S+) times that of .*, so (.* (?:than|as)) it\.", line)
        assert printed is not None
        ratio = float(printed[1])
        assert ratio == pytest.approx(geometric_mean(column), rel=0.05)
        verdict = "as fast as" if ratio == 1 else "faster than" if ratio < 1 else "slower than"
        assert printed[2] == verdict


def test_a_name_that_no_row_has_is_refused():
    result = run("no such row")
    assert result.returncode == 2
    assert "no row's name contains no such row" in result.stderr


def test_neighbours_and_centres_are_those_of_scikit_learn_and_numpy():
    program = ROOT / "examples" / "neighbours.py"
    lines = python(str(program), "--points", "1e4", "--turns", "1").splitlines()
    told = [line.split("agrees") for line in lines[1:]]
    assert [len(parts) for parts in told] == [2] * 7
    assert sum("array_api_nx" in name for name, _ in told) == 2
