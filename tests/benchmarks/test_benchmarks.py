"""The benchmarks run, and all that they compare gives the same results. Nothing is timed here."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks import __main__ as command_line
from benchmarks import clients
from benchmarks.__main__ import main
from benchmarks.calls import SHAPES, STATEMENTS, connect
from benchmarks.fused.cases import CASES, inputs
from benchmarks.fused.measure import disagreement, measure, prepare
from benchmarks.fused.peers import NAMES, Peer, load
from benchmarks.fused.programs import PROGRAMS
from benchmarks.fused.report import summary
from benchmarks.timing import in_turns, ratio
from benchmarks.worker import Problem
from tests.support.refusals import refused

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DTYPES = ("float64", "float32")
COMPILERS = ("numba", "jax.jit", "torch.compile", "nx on jax:cpu", "nx on torch:cpu")
FEW = ("softmax of rows",)


def peer_named(name):
    try:
        return load(name)
    except ImportError:
        pytest.skip(f"{name} is not installed, or lacks what it needs")


def check(peer, case, dtype, elements):
    arrays = inputs(case, elements, dtype)
    call = peer.prepare(case, arrays)
    assert call is not None
    expected = case.function(np, *arrays)
    assert disagreement(peer.export(call()), expected) == ""


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("elements", [200, 100_000])  # at once, and deferred
def test_nx_agrees_with_numpy(case, dtype, elements):
    check(peer_named("nx"), case, dtype, elements)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.name)
@pytest.mark.parametrize("elements", [200, 40_000])  # small programs, and others
@pytest.mark.parametrize("name", ["nx", "nx.compile"])
def test_programs_agree_with_numpy(name, case, dtype, elements):
    check(peer_named(name), case, dtype, elements)


# Peers warn of what they like.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("numpy", "nx")])
def test_peers_agree_with_numpy(name):
    peer = peer_named(name)
    for case in CASES:
        # Compilation takes seconds; the benchmark checks the rest whenever it runs.
        if name not in COMPILERS:
            check(peer, case, "float64", 200)
            check(peer, case, "float32", 200)
        elif case.name in FEW:
            check(peer, case, "float32", 200)


def test_names_of_cases_are_those_of_the_peers_own_versions():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    by = pytest.importorskip("benchmarks.fused.by_numexpr", exc_type=ImportError)
    assert set(by.FUNCTIONS) <= set(names)


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (np.ones(3), "shape"),
        (np.ones(2, np.float32), "float32"),
        (np.asarray([1.0, 1.1]), "values"),
        (np.asarray([1.0, np.nan]), "values"),
    ],
)
def test_disagreements_are_found(result, problem):
    assert problem in disagreement(result, np.ones(2))


def test_a_peer_must_agree_with_numpy():
    wrong = Peer("wrong", "1", lambda case, arrays: lambda: arrays[0])
    refused(Problem, "other values than NumPy's", prepare, wrong, CASES[0], "float64", 100)
    unable = Peer("unable", "1", lambda case, arrays: None)
    refused(Problem, r"^$", prepare, unable, CASES[0], "float64", 100)


class Script:
    """A worker that answers what it was told to; exceptions are raised."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def ask(self, action, *arguments):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_turns_and_ratios():
    workers = {
        "numpy": Script(5.0, 2.0, 8.0, 3.0),
        "nx": Script(6.0, 1.0, 2.0, 1.0),
        "unable": Script(Problem("no such thing")),
        "failing": Script(7.0, 1.0, Problem("no more")),
    }
    times, problems = in_turns(workers, ("case",), turns=3, seconds=0.0)
    assert times == {"numpy": (5.0, [2.0, 8.0, 3.0]), "nx": (6.0, [1.0, 2.0, 1.0])}
    assert problems == {"unable": "no such thing", "failing": "no more"}
    assert ratio([2.0, 8.0, 3.0], [1.0, 2.0, 1.0]) == 3


def test_a_slow_case_gets_few_turns():
    workers = {"numpy": Script(1.0, *[2.0] * 9)}
    times, _ = in_turns(workers, ("case",), turns=9, seconds=0.0, patience=0.0)
    assert times["numpy"].per_call == [2.0] * 3


def test_a_peer_that_cannot_or_errs_is_left_out(capsys):
    workers = {
        "numpy": Script(0.5, 2.0, 4.0),
        "nx": Script(0.5, 1.0, 1.0),
        "unable": Script(Problem("")),
        "wrong": Script(Problem("other values than NumPy's")),
    }
    result = measure(CASES[0], "float64", 100, workers, turns=2)
    assert result.speed == {"numpy": 1, "nx": 3}
    assert result.fastest_milliseconds == {"numpy": 2000, "nx": 1000}
    assert result.first_milliseconds == {"numpy": 500, "nx": 500}
    assert capsys.readouterr().err == "# wrong, 2*a + 3*b: other values than NumPy's\n"
    assert set(summary([result])["geometric mean"]) == {"numpy", "nx"}


def test_memory_of_a_call_includes_its_result():
    # In a process of its own, as benchmarks do: this one may have free memory from other tests.
    program = """if True:
        from benchmarks.fused.cases import CASES
        from benchmarks.fused.memory import extra_memory
        from benchmarks.fused.peers import load
        print(extra_memory(load("numpy"), CASES[0], "float64", 10**6))
    """
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    if ended.stdout == "None\n":
        pytest.skip("this system does not tell the peak")
    assert float(ended.stdout) > 10**6 * 8 / 2**20 - 1


def test_the_command_writes_json_and_a_plot(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    fused(tmp_path, "--plot", str(tmp_path / "plot.svg"))
    root = ElementTree.parse(tmp_path / "plot.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_the_command_writes_json(tmp_path, capsys):
    figures = fused(tmp_path)
    assert set(figures["peers"]) == {"numpy", "nx"}
    for key in ("date", "processor", "cores", "python", "numpy", "turns", "processes"):
        assert figures[key]
    assert len(figures["results"]) == len(DTYPES) * len(CASES)
    for result in figures["results"]:
        assert result["elements"] == 300
        for times in ("milliseconds", "fastest_milliseconds", "speed", "first_milliseconds"):
            assert set(result[times]) == {"numpy", "nx"}
            assert all(value > 0 for value in result[times].values())
    assert [entry["dtype"] for entry in figures["summaries"]] == list(DTYPES)
    assert all(case.name in capsys.readouterr().out for case in CASES[:1])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["fused", "--size", "-1"], "argument --sizes: '-1' is no whole number from 100 to 1e+09"),
        (["fused", "--sizes", "0"], "argument --sizes: '0' is no whole number from 100"),
        (["compiled", "--sizes", "1e3,1e30"], "argument --sizes: '1e30' is no whole number"),
        (["scipy", "--sizes", "inf"], "argument --sizes: 'inf' is no whole number"),
        (["fused", "--sizes", "nan"], "argument --sizes: 'nan' is no whole number"),
        (["fused", "--sizes", "1000.5"], "argument --sizes: '1000.5' is no whole number"),
        (["fused", "--sizes", "many"], "argument --sizes: 'many' is no whole number"),
        (["fused", "--sizes", ""], "argument --sizes: '' is no whole number"),
        (["small", "--turns", "0"], "argument --turns: '0' is no whole number from 1 to 1e+06"),
        (["small", "--turns", "-3"], "argument --turns: '-3' is no whole number"),
        (["large", "--turns", "few"], "argument --turns: 'few' is no whole number"),
        (["fused", "--dtypes", "int8"], "'int8' is no dtype; choose from float64, float32"),
        (["fused", "--peers", "nx,matlab"], "'matlab' is no peer; choose from numpy, nx,"),
        (
            ["medium"],
            "'medium' is no group; choose from small, large, fused, compiled, every, scipy, extra, "
            "random, clients, programs",
        ),
        (["fused", "--case", "no such"], "argument --case: no name contains 'no such'; they are"),
        (["small", "--case", "no such"], "they are xp.add(a, b), a + b,"),
        (["fused", "--plot", "speed.txt"], "argument --plot: speed.txt must end in .svg or .png"),
        (["compiled", "--plot", "speed.svg"], "argument --plot: it draws the figures of fused"),
        (["small", "--against", "/no/such"], "/no/such is no checkout of array_api_nx"),
        (["fused", "--against", ".", "--peers", "numba"], "argument --peers: with --against only"),
        (["fused", "--against", ".", "--plot", "x.svg"], "argument --plot: with --against only"),
        (["programs", "--npbench", "/no/such"], "/no/such is no checkout of NPBench"),
        (["programs", "--threads", "0"], "argument --threads: '0' is no whole number from 1"),
        (["programs", "--limit", "soon"], "argument --limit: 'soon' is no whole number"),
        (["small", "--json", "/no/such/folder/file"], "argument --json: /no/such/folder/file"),
        (["small", "--json", "/"], "argument --json: / cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(options, error, capsys):
    with pytest.raises(SystemExit) as ended:
        main(options)
    assert ended.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("python -m benchmarks: error: ")
    assert error in last


def test_a_package_that_is_missing(capsys, monkeypatch):
    monkeypatch.setattr(command_line, "find_spec", lambda name: None)
    for options, error in (
        (["scipy"], "scipy needs scipy; install it, or leave scipy out"),
        (["clients"], "clients needs sklearn; install it, or leave clients out"),
        (["fused", "--plot", "x.svg"], "--plot needs matplotlib; install it"),
    ):
        refused(SystemExit, None, main, options)
        assert error in capsys.readouterr().err


def figures_of(group, folder, *options):
    """What the command writes of a group, at sizes that take no time."""
    file = folder / "figures.json"
    assert main([group, *options, "--turns", "1", "--json", str(file)]) == 0
    figures = json.loads(file.read_text(), parse_constant=lambda name: pytest.fail(name))
    assert set(figures) == {group}
    return figures[group]


def fused(folder, *options):
    return figures_of("fused", folder, "--sizes", "3e2", "--peers", "nx", *options)


def test_scipys_functions(tmp_path):
    pytest.importorskip("scipy")
    figures = figures_of("scipy", tmp_path, "--sizes", "2e3")
    assert len(figures["speed"]) == 2 * 14  # functions, of a row and of a table
    assert figures["geometric_mean"] > 0


def test_calls_of_clients(tmp_path, capsys):
    pytest.importorskip("scipy")
    pytest.importorskip("sklearn")
    figures = figures_of("clients", tmp_path, "--sizes", "2e3", "--case", "score")
    assert set(figures["speed"]) == {name for name in clients.CASE_NAMES if "score" in name}
    assert figures["speed"][figures["worst"]] == min(figures["speed"].values())
    assert f"worst: {figures['worst']}" in capsys.readouterr().out


def test_clients_agree_with_numpy():
    pytest.importorskip("scipy")
    pytest.importorskip("sklearn")
    # In a process of its own: SciPy reads at its import whether it shall take our arrays.
    code = """if True:
        from benchmarks.clients import CASE_NAMES, connect
        for name in CASE_NAMES:
            connect("nx").prepare(name, 1000)
    """
    run = [sys.executable, "-W", "ignore", "-c", code]
    subprocess.run(run, cwd=ROOT, check=True)


@pytest.mark.parametrize(
    ("wanted", "case", "count"),
    [
        ("nan", "nanmean, flat", 26),
        ("median", "median, table", 4),
        ("o", "cov, table", 13),
        ("ab,bc,cd", "einsum ab,bc,cd->ad, x4", 1),
        ("pad", "pad at the edge, table", 2),
    ],
)
def test_functions_that_the_standard_lacks(wanted, case, count, tmp_path):
    figures = figures_of("extra", tmp_path, "--sizes", "2e3", "--case", wanted)
    assert len(figures["speed"]) == count
    assert figures["speed"][case] > 0
    assert figures["geometric_mean"] > 0


def test_random_numbers(tmp_path):
    figures = figures_of("random", tmp_path, "--sizes", "2e3", "--case", "normal")
    assert len(figures["speed"]) == 5
    assert figures["speed"]["x + standard_normal, float32"] > 0


def test_calls(tmp_path, capsys):
    figures = figures_of("small", tmp_path, "--case", "a + b")
    assert set(figures["ratios"]) == {"a + b"}
    assert figures["ratios"]["a + b"]["nx"] > 0
    assert figures["processor"] in capsys.readouterr().out


@pytest.mark.parametrize("name", ["numpy", "nx"])
@pytest.mark.parametrize("statement", STATEMENTS["large"])
def test_calls_on_large_arrays(name, statement, monkeypatch):
    monkeypatch.setitem(SHAPES, "large", (5, 8))
    prepared = connect(name).prepare("large", statement)
    assert prepared.timer.timeit(2) > 0
