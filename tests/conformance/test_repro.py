"""Scripts from failures, and what the failures rest on, in a suite of a few lines."""

import contextlib
import io
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from array_api_nx_conformance import records, repro, suite
from array_api_nx_conformance.__main__ import main
from array_api_nx_conformance.blame import blame
from array_api_nx_conformance.suite import CannotRunError, Pins
from tests.support import modules
from tests.support.refusals import refused

pytestmark = pytest.mark.slow

SOURCE = """
import operator
import numpy as xp
import numpy as _array_module
from numpy import equal
import {helpers} as helpers

class Stub:
    name = "missing"

def test_sum(x=None):
    x = xp.asarray([1.0, float("nan")])
    kw = dict(axis=0)
    out = xp.sum(x, **kw)
    assert out == 1, f"out={{out}}, but should be 1.0 [sum(axis=0)]"

def test_add(func=operator.iadd):
    x1 = xp.asarray([3], dtype=xp.int64)
    x2 = xp.asarray([4])
    res = xp.asarray(x1, copy=True)
    res = func(res, x2)
    assert res is None

def test_setitem():
    x = xp.zeros((2,))
    res = xp.asarray(x, copy=True)
    key, value = slice(None, 1), 5.0
    res[key] = value
    assert float(res[0]) == 6.0

def test_getitem():
    x = xp.asarray([[1, 2]])
    key = (0, ...)
    out = x[key]
    helpers.compare(out, x)

def test_reshape():
    xp.reshape(xp.zeros((3,)), (2, 2))

def test_exp():
    assert equal(xp.ones((2, 1)), xp.ones((3, 2)))
    xp.exp(1.0)

def test_operator():
    xp.zeros((2,)) + xp.zeros((3,))

def test_no_call():
    raise KeyError("k")

def _test_shared(function):
    x = xp.asarray([True])
    out = function(x)
    out = xp.all(x)
    assert not out

def test_all():
    _test_shared(id)

def test_object():
    out = xp.any(object())
    assert out is None

def test_assignment():
    x = (1, 2)
    x[0] = 5

def test_trace():
    out = xp.ones((1,))
    def expected(x):
        return [_array_module.sum(row) for row in x][0]
    helpers.compare(out, expected(xp.zeros((1, 2))))
"""
HELPERS = """
import numpy as xp

def compare(x, y):
    if not same(x, y):
        raise AssertionError("they differ")

def same(x, y):
    return bool(xp.all(xp.isfinite(x)) and x.shape == y.shape)
"""


@pytest.fixture(scope="module")
def tests(tmp_path_factory):
    return tmp_path_factory.mktemp("array_api_tests")


@pytest.fixture(scope="module")
def module(tests):
    modules.module(tests / "sample_helpers.py", HELPERS)
    return modules.module(tests / "test_sample.py", SOURCE.format(helpers="sample_helpers"))


def caught(test):
    with pytest.raises(Exception) as info:  # noqa: PT011 (any failure of the sample)
        test()
    return info.value


def script(module, tests, test, function, device=""):
    error = caught(getattr(module, test))
    return repro.build(error, function, "numpy", np, tests, device)


def output(text):
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        exec(text, {})
    return stream.getvalue()


def test_a_call_with_keywords(module, tests):
    text = script(module, tests, "test_sum", "sum")
    assert text.splitlines() == [
        "import numpy as xp",
        "",
        'x = xp.asarray([1.0, float("nan")], dtype=xp.float64)',
        "kw = {'axis': 0}",
        'print("got:     ", repr(xp.sum(x, **kw)))',
        "print('expected:', '1.0')",
    ]
    assert output(text) == "got:      np.float64(nan)\nexpected: 1.0\n"


def test_an_in_place_operator_starts_from_the_first_value(module, tests):
    text = script(module, tests, "test_add", "__add__")
    assert "import operator" in text
    assert output(text) == "got:      array([7])\nexpected: res is None\n"


def test_assignment(module, tests):
    text = script(module, tests, "test_setitem", "__setitem__")
    assert "res[key] = value" in text
    assert output(text).startswith("got:      array([5., 0.])\n")


def test_indexing(module, tests):
    text = script(module, tests, "test_getitem", "__getitem__")
    assert output(text) == "got:      array([1, 2])\nthe suite: they differ\n"


def test_a_call_that_raises(module, tests):
    text = script(module, tests, "test_reshape", "reshape")
    assert "'no ValueError'" in text
    refused(ValueError, "cannot reshape", exec, text, {})


def test_a_call_in_a_shared_function(module, tests):
    text = script(module, tests, "test_all", "all")
    assert output(text) == "got:      np.True_\nexpected: not out\n"


def test_a_device(module, tests):
    assert "\nxp.set_default_device('gpu')\n" in script(module, tests, "test_all", "all", "gpu")
    error = caught(module.test_all)
    text = repro.build(error, "all", "array_api_nx", np, tests, "meta")
    chosen = (
        "import os\n\nos.environ['ARRAY_API_NX_DEFAULT_DEVICE'] = 'meta'\n\nimport array_api_nx"
    )
    assert text.startswith(chosen)


@pytest.mark.parametrize(("test", "function"), [("test_no_call", "exp"), ("test_object", "any")])
def test_where_there_is_no_script(module, tests, test, function):
    assert script(module, tests, test, function) == ""


@pytest.mark.parametrize(
    ("test", "function", "raised_in"),
    [
        ("test_reshape", "reshape", "reshape"),
        ("test_exp", "exp", "equal"),  # a name of its own, and not the tested function
        ("test_operator", "zeros", "__add__"),
        ("test_sum", "sum", ""),
        ("test_getitem", "__getitem__", ""),
        ("test_assignment", "asarray", "__setitem__"),
        ("test_no_call", "exp", ""),
    ],
)
def test_what_raised(module, tests, test, function, raised_in):
    assert blame(caught(getattr(module, test)), function, tests, np).raised_in == raised_in


def test_what_was_used(module, tests):
    used = blame(caught(module.test_getitem), "__getitem__", tests, np).uses
    assert set(used) == {"asarray", "all", "isfinite"}  # the helpers' too
    # What it expects is computed by a function inside the test.
    assert "sum" in blame(caught(module.test_trace), "trace", tests, np).uses
    assert "equal" in blame(caught(module.test_exp), "exp", tests, np).uses


def test_missing_names(tests):
    file = tests / "test_names.py"
    file.write_text("import numpy as xp\ndef test_a():\n    xp.nothing(1)\n")
    space = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    assert blame(caught(space["test_a"]), "exp", tests, np).raised_in == "nothing"
    file.write_text("def test_b():\n    raise ValueError('does not have required attribute: f')\n")
    exec(compile(file.read_text(), str(file), "exec"), space)
    assert blame(caught(space["test_b"]), "exp", tests, np).raised_in == "f"


def test_errors_of_nowhere():
    error = caught(lambda: int("x"))
    assert blame(error, "exp", Path("/nowhere"), np).uses == ()
    assert repro.build(error, "exp", "numpy", np, Path("/nowhere")) == ""


def official_suite():
    try:
        return suite.find(None, suite.cache_folder(), Pins()).path
    except CannotRunError:
        pytest.skip("the official suite is not on this machine")


@pytest.mark.parametrize("name", ["numpy", "array_api_strict"])
def test_a_real_failure(name, tmp_path):
    """NumPy's complex expm1 differs from the standard, array-api-strict's too."""
    checkout = official_suite()
    case = "expm1(real(x_i) is +infinity and imag(x_i) is +0) -> +infinity + 0j"
    select = f"test_special_cases.py::test_unary[{case}]"
    status = main(["run", "--module", name, "--checkout", str(checkout), "--select", select,
                   "--workers", "1", "--repro", str(tmp_path / "repro")])  # fmt: skip
    assert status == 1
    (file,) = (tmp_path / "repro").iterdir()
    shutil.copy(file, tmp_path / "alone.py")
    command = [sys.executable, "-I", "alone.py"]  # without the suite, and without this package
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    got, expected = done.stdout.splitlines()
    assert got.startswith("got:")
    assert "inf+nanj" in got
    assert expected == "expected: +infinity + 0j"


def test_a_right_function_whose_test_calls_a_wrong_one(tmp_path, monkeypatch):
    """The suite's test of linalg.trace adds up what it expects by the namespace's sum."""
    pytest.importorskip("array_api_strict")
    (tmp_path / "off_by_one.py").write_text(
        "from array_api_strict import *\n"
        "from array_api_strict import __array_api_version__, sum as right\n"
        "def sum(x, /, *, axis=None, dtype=None, keepdims=False):\n"
        "    out = right(x, axis=axis, dtype=dtype, keepdims=keepdims)\n"
        "    return out + asarray(1, dtype=out.dtype)\n"
    )
    # Of known failures Hypothesis shrinks no examples, which would take most of the time.
    tests = ["test_linalg.py::test_trace", "test_statistical_functions.py::test_sum"]
    (tmp_path / "known.txt").write_text("".join(f"array_api_tests/{test}\n" for test in tests))
    monkeypatch.chdir(tmp_path)  # where no path leads to
    status = main(["run", "--module", "off_by_one", "--checkout", str(official_suite()),
                   "--select", *tests, "--max-examples", "3", "--known", "known.txt",
                   "--workers", "1", "--json", "found.json"])  # fmt: skip
    assert status == 0
    (run,) = records.read(tmp_path / "found.json")
    assert run["functions"]["sum"]["verdict"] == "fails"
    assert run["functions"]["linalg.trace"]["verdict"] == "blocked"
    assert run["functions"]["linalg.trace"]["roots"] == ["sum"]
