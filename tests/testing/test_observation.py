"""`transfers` and `count_evaluations` on every device, and the setting `host_access` there."""

import copy
import os
import pickle
import re
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from array_api_nx.testing import (
    Evaluation,
    Evaluations,
    HostAccessError,
    HostAccessWarning,
    Transfers,
    count_evaluations,
    transfers,
)
from array_api_nx.tracing.recorder import TraceError
from tests.support.processes import python
from tests.support.refusals import refused
from tests.support.tables import for_each
from tests.support.threads import together

needs_extension = pytest.mark.skipif(native is None, reason="nothing is deferred without it")


def line_after(function):
    """The line after the one that a function begins on."""
    return function.__code__.co_firstlineno + 1


# What reads elements out of the namespace: kind, target, how it is spelled in the record, bytes,
# and how it is done to an array x of three float64.
READS = {
    "float": ("scalar", "python", "float(x)", 8, lambda x: float(x[1])),
    "int": ("scalar", "python", "int(x)", 8, lambda x: int(x[1])),
    "complex": ("scalar", "python", "complex(x)", 8, lambda x: complex(x[1])),
    "bool": ("scalar", "python", "bool(x)", 1, lambda x: bool(xp.all(x > 0))),
    "if": ("scalar", "python", "bool(x)", 1, lambda x: 1 if xp.all(x > 0) else 0),
    "index": (
        *("scalar", "python", "operator.index(x)", 8),
        lambda x: [0, 1, 2][xp.astype(x[1], xp.int64)],
    ),
    "slice": (
        *("scalar", "python", "operator.index(x)", 8),
        lambda x: x[: xp.astype(x[1], xp.int64)],
    ),
    "item": ("scalar", "python", "x.item()", 8, lambda x: x.item(1)),
    "tolist": ("list", "python", "x.tolist()", 24, lambda x: x.tolist()),
    "array": ("numpy", "numpy", "numpy.asarray(x)", 24, lambda x: x.__array__()),
    "array copied": ("numpy", "numpy", "numpy.asarray(x)", 24, lambda x: x.__array__(copy=True)),
    "dlpack": ("dlpack", "host", "from_dlpack(x)", 24, lambda x: np.from_dlpack(x)),
    "contains": ("scalar", "python", "value in x", 1, lambda x: 1.0 in x),
    "pickle": ("pickle", "python", "pickle.dumps(x)", 24, lambda x: pickle.dumps(x)),
    "allclose": ("scalar", "python", "allclose()", 1, lambda x: xp.allclose(x, x)),
    "array_equal": ("scalar", "python", "array_equal()", 1, lambda x: xp.array_equal(x, x)),
    "ufunc": ("numpy", "numpy", "a ufunc of NumPy", 24, lambda x: np.add.accumulate(x, 0)),
}


def numbers(device):
    return xp.asarray([1.0, 2.0, 3.0], device=device)


@for_each("name", READS)
def test_reads_are_recorded(name, device):
    kind, target, call, nbytes, read = READS[name]
    x = numbers(device)
    with transfers() as log:
        read(x)
    read(x)
    (found,) = log
    assert found[:5] == (kind, device, target, nbytes, call)
    assert found.filename == __file__
    assert 0 <= found.lineno - read.__code__.co_firstlineno <= 1


@for_each("name", READS)
def test_reads_are_refused(name, device):
    *_, call, _, read = READS[name]
    x = numbers(device)
    with xp.config_context(host_access="error"), count_evaluations() as count:
        with pytest.raises(HostAccessError) as caught:
            read(x)
        with xp.config_context(host_access="allow"), warnings.catch_warnings():
            warnings.simplefilter("error", HostAccessWarning)
            allowed = read(x)
        count_before = len(count)
        refused(HostAccessError, None, read, x)
        assert len(count) == count_before
    text = str(caught.value)
    assert text.startswith(f"{call} reads ")
    assert f"of an array on device {device} out of the namespace" in text
    assert type(allowed) is type(read(x))


@for_each("name", READS)
def test_reads_are_warned_of(name, device):
    *_, call, _, read = READS[name]
    x = numbers(device)
    expected = read(x)
    with xp.config_context(host_access="warn"), pytest.warns(HostAccessWarning) as warned:
        assert type(read(x)) is type(expected)
    assert [w.filename for w in warned] == [__file__]
    assert str(warned[0].message).startswith(f"{call} reads ")


@pytest.mark.parametrize("access", ["warn", "error"])
def test_what_stays_in_the_namespace_is_free(access, device):
    x = numbers(device)
    nan = xp.asarray([[xp.nan, xp.nan], [1.0, 2.0]], device=device)
    with xp.config_context(host_access=access), warnings.catch_warnings():
        warnings.simplefilter("error", HostAccessWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        y = xp.where(x > 1, x, -x) * 2 + xp.sum(x)
        assert [row.shape for row in x] == [()] * 3
        assert len(x) == 3
        repr(y)
        str(y)
        f"{y[0]:.2f}"
        copy.copy(x)
        copy.deepcopy(x)
        np.exp(x)
        xp.asarray(np.ones(3), device=device)
        x[xp.asarray(1, device=device)]
        x[x > 1]
        xp.unique_values(x)
        # It looks for slices without numbers, to warn of them.
        xp.nanmean(nan, axis=1)
        xp.repeat(x, xp.asarray([1, 2, 0], device=device))
        y += 1
        y[0] = x[0]
        xp.evaluate(y)
    assert x.tolist() == [1.0, 2.0, 3.0]


def test_print_is_recorded_but_no_read(device):
    x = numbers(device)
    with transfers() as log:
        repr(x)
        str(x)
        f"{x[0]:.1f}"
    assert [each[:4] for each in log] == [
        ("print", device, "python", 24),
        ("print", device, "python", 24),
        ("print", device, "python", 8),
    ]
    assert [each.call for each in log] == ["repr(x)", "str(x)", "format(x)"]


def test_what_comes_in_is_recorded(device):
    x = numbers(device)
    pickled = pickle.dumps(x)
    with transfers() as log:
        xp.asarray(np.ones((2, 3), np.float32), device=device)
        xp.asarray([[1, 2], [3, 4]], device=device)
        xp.asarray(range(3), device=device)
        xp.from_dlpack(np.ones(2), device=device)
        pickle.loads(pickled)
        # Scalars are arguments, and arrays stay where they are.
        xp.asarray(1.0, device=device)
        xp.asarray(x)
        xp.ones(3, device=device) + 1.5
    assert [each[:5] for each in log] == [
        ("asarray", "numpy", device, 24, "asarray()"),
        ("asarray", "python", device, 32, "asarray()"),
        ("asarray", "python", device, 24, "asarray()"),
        ("from_dlpack", "numpy", device, 16, "from_dlpack()"),
        ("pickle", "python", device, 24, "pickle.loads(...)"),
    ]
    assert {each.filename for each in log} == {__file__}


@pytest.mark.parametrize("move", ["to_device", "asarray", "astype"])
def test_moves_between_devices(move, device):
    if device == "cpu":
        pytest.skip("the other device is cpu")
    x = numbers("cpu")
    moves = {
        "to_device": lambda x, target: x.to_device(target),
        "asarray": lambda x, target: xp.asarray(x, device=target),
        "astype": lambda x, target: xp.astype(x, xp.float32, device=target),
    }
    with transfers() as log:
        there = moves[move](x, device)
        back = moves[move](there, "cpu")
        assert back.to_device("cpu") is back
    size = 4 if move == "astype" else 8
    assert [(each.kind, each.source, each.target) for each in log] == [
        ("to_device", "cpu", device),
        ("to_device", device, "cpu"),
    ]
    assert log[-1].nbytes in (3 * size, 24)
    with xp.config_context(host_access="error"):
        there = moves[move](x, device)
        with pytest.raises(HostAccessError, match="compute on the device where the array is"):
            moves[move](there, "cpu")


@pytest.mark.parametrize("engine", ["torch", "jax"])
def test_what_engines_do_by_numpy_is_recorded(engine):
    pytest.importorskip(engine)
    special = pytest.importorskip("scipy.special")
    device = f"{engine}:cpu"
    calls = {"torch": lambda x: special.ndtri_exp(-x), "jax": lambda x: xp.acos(x + 1j * xp.nan)}
    x = numbers(device)
    with xp.config_context(host_access="error"), transfers() as log:
        # The engines have no such function, or none with the standard's special cases.
        y = calls[engine](x)
    assert y.device == x.device
    assert {each[:3] for each in log} == {("engine", device, "numpy")}
    assert log.nbytes >= 24
    assert {each.filename for each in log} == {__file__}


def test_other_libraries_arrays_are_recorded():
    torch = pytest.importorskip("torch")
    tensor = torch.ones(3, dtype=torch.float64)
    with xp.config_context(host_access="error"), transfers() as log:
        assert xp.asarray(tensor).device.name == "torch:cpu"
        assert xp.from_dlpack(tensor).device.name == "cpu"
    assert [each[:5] for each in log] == [
        ("asarray", "torch", "torch:cpu", 24, "asarray()"),
        ("from_dlpack", "torch", "cpu", 24, "from_dlpack()"),
    ]
    with xp.config_context(host_access="error"), pytest.raises(HostAccessError):
        torch.from_dlpack(numbers("cpu"))


def test_numpys_functions_convert(device):
    x = numbers(device)
    with transfers() as log:
        np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])
    assert len(log) >= 1
    assert {each.kind for each in log} == {"numpy"}
    assert {each.filename for each in log} == {__file__}
    with xp.config_context(host_access="error"), pytest.raises(HostAccessError):
        np.asarray(x)


def test_the_record_as_a_sequence_and_as_text():
    x = numbers("cpu")
    with transfers() as log:
        assert str(log) == "no transfers"
        assert (len(log), log.nbytes) == (0, 0)
        for i in range(3):
            float(x[i])
        x.tolist()
    line = line_after(test_the_record_as_a_sequence_and_as_text)
    assert isinstance(log, Transfers)
    assert (len(log), log.nbytes) == (4, 48)
    assert log[-1].kind == "list"
    assert [each.kind for each in log[:2]] == ["scalar", "scalar"]
    assert log[0].lineno - line in range(3, 7)
    text = repr(log).splitlines()
    assert text[0] == "4 transfers, 48 bytes"
    assert text[1].split() == ["times", "kind", "from", "to", "bytes", "by", "line"]
    assert text[2].split()[:6] == ["3", "scalar", "cpu", "python", "24", "float(x)"]
    assert text[3].split()[:6] == ["1", "list", "cpu", "python", "24", "x.tolist()"]
    assert text[2].endswith(f"test_observation.py:{log[0].lineno}")
    assert len(text) == 4
    with transfers() as log:
        bool(x[0] > 0)
    assert repr(log).splitlines()[0] == "1 transfer, 1 byte"


def test_records_nest_and_end_with_their_statement():
    x = numbers("cpu")
    with transfers() as outer:
        float(x[0])
        with suppress(ZeroDivisionError), transfers() as inner:
            float(x[1] / (1 // 0 if float(x[1]) else 1))
        float(x[2])
    float(x[0])
    assert (len(outer), len(inner)) == (3, 1)


@pytest.mark.parametrize("all_threads", [False, True])
def test_threads(all_threads):
    x = numbers("cpu")
    with transfers(all_threads=all_threads) as log, xp.config_context(host_access="error"):
        together(lambda: float(x[0]))
    assert len(log) == all_threads


def test_traces_transfer_nothing():
    x = numbers("cpu")
    with xp.config_context(host_access="error"), transfers() as log:
        f = xp.compile(lambda x: xp.sum(x) * 2)
        f(x)
        refused(TraceError, None, xp.compile(lambda x: float(xp.sum(x))), x)
        xp.eval_shape(lambda x: x + 1, xp.ShapeSpec((3,), xp.float64))
    assert len(log) == 0


# ---------------------------------------------------------------------- evaluations


@needs_extension
def test_evaluations_on_the_cpu():
    x = xp.ones(600_000)
    with count_evaluations() as count:
        y = 2 * x + 1
        xp.sum(y)
        assert len(count) == 0
        float(xp.sum(y))
        xp.evaluate(y * 3)
        xp.evaluate(y)  # it was stored with its sum
        z = y - 3
        y[0] = 1.0
        z.tolist()
        z.tolist()
    assert isinstance(count, Evaluations)
    assert [each.device for each in count] == ["cpu"] * 3
    assert [each.call for each in count][:2] == ["float(x)", "evaluate()"]
    assert count[2].call in ("a call", "x[key] = value")  # answered in C, or not
    assert {each.filename for each in count} == {__file__}
    lines = [each.lineno - count[0].lineno for each in count]
    assert lines == [0, 1, 4]
    whys = [each.why for each in count]
    assert whys[0] == "its elements are needed"
    assert whys[1] == "evaluate was called"
    assert whys[2] == "memory that it is to be computed from is written or handed out"


def test_devices_that_compute_by_the_cpu_backend_report_under_their_own_names():
    with count_evaluations() as count:
        y = 2 * xp.ones(300_000, device="test:lazy") + 1
        float(xp.sum(y))
        float(y[0])
        y.tolist()
    found = [(each.device, each.call) for each in count if each.device != "cpu"]
    assert found == [("test:lazy", "float(x)")]


@needs_extension
def test_single_elements_of_what_waits():
    x = xp.ones((10, 10))
    with xp.config_context(fusion_threshold=0), count_evaluations() as count:
        y = 2 * x + 1
        assert float(y[3, 3]) == 3.0
        xp.nonzero(y > 1)
    assert [each.why for each in count] == [
        "its elements are needed",
        "its elements are needed",
    ]
    assert count[1].call in ("a call", "nonzero()")


@needs_extension
def test_long_expressions_are_cut():
    x = xp.ones(10)
    with xp.config_context(fusion_threshold=0), count_evaluations() as count:
        for _ in range(5000):
            x = x + 1
    assert len(count) > 1
    assert {each.why for each in count} == {"an expression became too large to wait any longer"}
    text = repr(count).splitlines()
    assert text[0] == f"{len(count)} evaluations"
    assert text[2].split()[:2] == [str(len(count)), "cpu"]
    assert len(text) == 3


def test_what_runs_at_once_is_no_evaluation():
    with xp.config_context(fusion="off"), count_evaluations() as count:
        float(xp.sum(2 * xp.ones(10) + 1))
    assert len(count) == 0
    assert repr(count) == "no evaluations"


def test_evaluations_on_dask():
    pytest.importorskip("dask")
    x = xp.ones((4, 4), device="dask")
    with count_evaluations() as count:
        y = 2 * x + 1
        assert len(count) == 0
        float(xp.sum(y))
        xp.evaluate(y)
        xp.sum(y[y > 1])
        len(y[y > 1])
        assert y[y > 1].shape == (16,)
        xp.unique_values(x + 1)
    assert {each.device for each in count} == {"dask"}
    calls = [each.call for each in count]
    assert calls[:2] == ["float(x)", "evaluate()"]
    assert set(calls[2:]) == {"len(x)", "x.shape", "unique_values()"}
    assert [each.why for each in count][:2] == ["its value was asked for", "evaluate was called"]
    assert {each.filename for each in count} == {__file__}


@needs_extension
@pytest.mark.parametrize("all_threads", [False, True])
def test_evaluations_of_threads(all_threads):
    with xp.config_context(fusion_threshold=0):
        y = 2 * xp.ones(10) + 1
    with count_evaluations(all_threads=all_threads) as count:
        together(lambda: y.tolist())
    assert len(count) == all_threads
    assert all(isinstance(each, Evaluation) for each in count)


# ---------------------------------------------------------------------- the kit


def test_the_kit_is_found_and_not_imported_before():
    code = (
        "import sys, array_api_nx as xp\n"
        "assert not [n for n in sys.modules if n.startswith('array_api_nx.testing')]\n"
        "assert 'testing' not in dir(xp)\n"
        "with xp.testing.transfers() as log: float(xp.asarray(1.0))\n"
        "assert len(log) == 1, log\n"
        "assert not {'pytest', 'hypothesis'} & set(sys.modules)\n"
        "assert 'testing' not in dir(xp)\n"
    )
    python("-W", "error", "-c", code)


def test_the_examples_of_the_documentation(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
    section = page.partition("## What the code under test did")[2].partition("\n## ")[0]
    examples = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    printed = re.findall(r"```text\n(.*?)```", section, re.DOTALL)
    if native is None:
        # Nothing is deferred.
        examples.pop()
        printed.pop()
    (tmp_path / "model.py").write_text("".join(examples), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "model.py"],
        cwd=tmp_path,
        env={
            **{
                name: value
                for name, value in os.environ.items()
                if "NX_FUSION" not in name and "NX_CHECKED" not in name
            },
            "PYTHONPATH": str(Path(xp.__file__).parents[1]),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "".join(printed)
