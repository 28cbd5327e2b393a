"""NumPy's treatment of floating-point errors, read at the call and applied at the computation."""

from __future__ import annotations

import importlib.util
import os
import types
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from pathlib import Path

import numpy as np
import pytest

import array_api_nx
from array_api_nx.backends.cpu.engine import fperrors
from array_api_nx.backends.cpu.engine.fperrors import modes, report

BITS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
NUMPYS_DEFAULT = 1 | 2 | 8

# Computations of one operation that raise flags, by NumPy's name for it.
TINY, HUGE = np.float64(5e-324), np.float64(1e308)
MISHAPS = {
    "divide": [(1.0, 0.0), (0.0, 0.0), (TINY, 3.0), (HUGE, 1e-9)],
    "multiply": [(HUGE, HUGE), (np.inf, 0.0), (1e-200, 1e-200)],
    "add": [(HUGE, HUGE), (np.inf, -np.inf)],
    "sqrt": [(-1.0,)],
    "exp": [(1e4,), (-1e4,)],
    "log": [(0.0,), (-1.0,)],
}


def caught(call, *arguments):
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        call(*arguments)
    return log


def numpys(name: str) -> tuple[int, list[str]]:
    """The flags that NumPy reports for all mishaps of an operation at once, and its words."""
    columns = [np.asarray(column) for column in zip(*MISHAPS[name], strict=True)]
    flags = []
    with np.errstate(all="call", call=lambda _, flag: flags.append(flag)):
        getattr(np, name)(*columns)
    with np.errstate(all="warn"):
        words = [str(each.message) for each in caught(getattr(np, name), *columns)]
    return max(flags), words


# ---------------------------------------------------------------------- modes


def test_modes_by_default():
    with ThreadPoolExecutor(1) as executor:
        assert executor.submit(modes).result() == NUMPYS_DEFAULT


@pytest.mark.parametrize("mask", range(16))
def test_modes_are_the_categories_to_warn_of(mask):
    asked = {name: "warn" if mask & bit else "ignore" for name, bit in BITS.items()}
    with np.errstate(**asked):
        assert modes() == mask
        assert modes() == mask


@pytest.mark.parametrize("mode", ["raise", "call", "print", "log"])
@pytest.mark.parametrize("name", BITS)
def test_no_modes_where_numpy_does_more_than_warn(name, mode):
    with np.errstate(all="ignore"), np.errstate(**{name: mode}):
        assert modes() is None
        assert modes() is None


def test_modes_follow_every_change():
    def changes() -> list[int | None]:
        found = [modes()]
        with np.errstate(all="warn"):
            found.append(modes())
            np.seterr(divide="ignore")
            found.append(modes())
            with np.errstate(over="raise"):
                found.append(modes())
            found.append(modes())
        return [*found, modes()]

    for _ in range(2):
        with np.errstate(all="ignore"):
            assert changes() == [0, 15, 14, None, 14, 0]


def test_modes_belong_to_the_thread():
    def both() -> tuple[int | None, int | None]:
        before = modes()
        with np.errstate(all="raise"):
            return before, modes()

    outside = modes()
    with ThreadPoolExecutor(1) as executor:
        assert executor.submit(copy_context().run, both).result() == (outside, None)
        with np.errstate(all="ignore"):
            assert executor.submit(copy_context().run, both).result() == (0, None)
        assert modes() == outside


def test_modes_without_the_variable(monkeypatch):
    monkeypatch.setattr(fperrors, "_variable", None)
    with np.errstate(all="warn", under="ignore"):
        assert modes() == NUMPYS_DEFAULT
    with np.errstate(invalid="log"):
        assert modes() is None


def test_numpys_variable_is_found():
    # Were it not, modes() would be right all the same, and slow.
    assert fperrors._variable is not None


# ---------------------------------------------------------------------- report


@pytest.mark.parametrize("name", MISHAPS)
def test_reports_have_numpys_words(name):
    flags, words = numpys(name)
    assert words
    assert [str(each.message) for each in caught(report, [(name, flags, 15)])] == words


@pytest.mark.parametrize("mask", range(16))
def test_only_what_was_asked_for_is_reported(mask):
    names = {1: "divide by zero", 2: "overflow", 4: "underflow", 8: "invalid value"}
    for flags in range(16):
        found = caught(report, [("divide", flags, mask)])
        assert [str(each.message) for each in found] == [
            f"{text} encountered in divide" for bit, text in names.items() if flags & mask & bit
        ]
        assert all(each.category is RuntimeWarning for each in found)


def test_every_operation_reports_for_itself():
    found = caught(report, [("exp", 2, 15), ("sqrt", 8, 7), ("log", 1, 1), ("exp", 2, 2)])
    assert [str(each.message) for each in found] == [
        "overflow encountered in exp",
        "divide by zero encountered in log",
        "overflow encountered in exp",
    ]
    assert caught(report, []) == []


def test_a_filter_can_make_them_exceptions():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="invalid value encountered in sqrt"):
            report([("sqrt", 8, 8)])


def module(path: Path, source: str) -> types.ModuleType:
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_warnings_point_at_the_caller_outside_the_package(tmp_path):
    package = tmp_path / "array_api_nx"
    package.mkdir()
    passing_on = "def call(function, *x):\n    return function(*x)\n"
    inside = module(package / "inside.py", passing_on)
    outside = module(tmp_path / "outside.py", passing_on)
    code = Path(fperrors.__file__).read_text(encoding="utf-8")
    code = code.replace(".parents[3]", ".parents[0]")
    code = code.replace("from .extension import extension", "extension = None")
    inner = module(package / "inner.py", code)
    for calls in (
        [outside.call, inner.report],
        [outside.call, inside.call, inside.call, inner.report],
        # A frame of the package further out does not hide the user's.
        [inside.call, outside.call, inside.call, inner.report],
    ):
        found = caught(*calls, [("log", 1, 1)])
        assert (found[0].filename, found[0].lineno) == (outside.__file__, 2)


# ---------------------------------------------------------------------- located

LOCATED = [fperrors._located, fperrors.located]


@pytest.mark.parametrize("located", LOCATED)
def test_calls_of_numpy_warn_here(located, tmp_path):
    package = tmp_path / "array_api_nx"
    package.mkdir()
    inside = module(package / "inside.py", "def call(function, *x):\n    return function(*x)\n")
    with np.errstate(all="warn"):
        found = caught(located, np.log, np.asarray([0.0, -1.0]))
        words = [str(each.message) for each in found]
        assert words == ["divide by zero encountered in log", "invalid value encountered in log"]
        assert {each.filename for each in found} == {__file__}
        assert [str(each.message) for each in caught(np.log, np.asarray([0.0]))] == words[:1]
        # What is not ours is not hidden.
        found = caught(inside.call, located, np.log, np.asarray([0.0]))
        assert found[0].filename == inside.__file__


@pytest.mark.parametrize("located", LOCATED)
def test_located_passes_everything_on(located):
    def function(*args, **keywords):
        return args, keywords

    assert located(function) == ((), {})
    assert located(function, 1, 2, a=3) == ((1, 2), {"a": 3})
    assert located(function, function=4) == ((), {"function": 4})
    with pytest.raises(TypeError):
        located()
    with np.errstate(all="warn"), pytest.raises(ZeroDivisionError):
        located(lambda: 1 / 0)
    with pytest.raises(FloatingPointError), np.errstate(all="raise"):
        located(np.log, np.asarray(0.0))


@pytest.mark.parametrize("located", LOCATED)
@pytest.mark.parametrize("error", [None, KeyError])
def test_the_state_is_changed_inside_alone(located, error):
    seen = []

    def function():
        seen.append((np.geterr(), modes()))
        located(np.exp, 0.0)
        assert (np.geterr(), modes()) == seen[-1]
        if error:
            raise error

    def run():
        before = np.geterr(), np.geterrcall(), modes()
        try:
            located(function)
        except KeyError:
            assert error
        assert (np.geterr(), np.geterrcall(), modes()) == before

    for settings, inside in (
        ({"all": "warn"}, {"all": "log"}),
        ({"all": "warn", "under": "ignore"}, {"all": "log", "under": "ignore"}),
        ({"all": "ignore"}, {"all": "ignore"}),
        ({"all": "raise", "over": "warn"}, {"all": "raise", "over": "log"}),
        ({"all": "warn", "over": "call", "call": print}, {"all": "warn", "over": "call"}),
    ):
        with np.errstate(**settings):
            run()
            expected = modes()
        with np.errstate(**inside):
            assert seen[-1] == (np.geterr(), expected)
    # Where nothing was set, the default.
    with ThreadPoolExecutor(1) as executor:
        executor.submit(run).result()


def test_located_without_the_variable(monkeypatch):
    monkeypatch.setattr(fperrors, "_variable", None)
    with np.errstate(all="warn"):
        found = caught(fperrors._located, np.log, np.asarray([0.0]))
        assert [each.filename for each in found] == [__file__]
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        fperrors._located(np.log, np.asarray([0.0]))


@pytest.mark.parametrize("located", LOCATED)
def test_few_states_are_remembered(located):
    for number in range(3 * fperrors._MAX_STATES):
        with np.errstate(all="warn" if number % 2 else "ignore"):
            assert located(np.exp, 0.0) == 1.0
    assert len(fperrors._logging) <= fperrors._MAX_STATES + 1


@pytest.mark.skipif(fperrors.extension is None, reason="the extension is not built")
def test_replacing_a_variable():
    variable = ContextVar("variable")
    values = {1: 10, 2: None}
    asked = []

    def find(value):
        asked.append(value)
        return values.setdefault(value, "new")

    replacing = fperrors.extension.Replacing(variable, values, find)
    assert replacing(variable.get) == "new"
    assert asked == [None]
    for value, inside in ((1, 10), (2, 2), (3, "new"), (3, "new")):
        variable.set(value)
        assert replacing(variable.get) == inside
        assert variable.get() == value
    assert asked == [None, 3]
    variable.set([])
    with pytest.raises(TypeError, match="unhashable"):
        replacing(variable.get)
    with pytest.raises(TypeError, match="no function"):
        replacing()
    with pytest.raises(TypeError):
        fperrors.extension.Replacing(1, values, find)
    with pytest.raises(TypeError):
        fperrors.extension.Replacing(variable, [], find)
    failing = fperrors.extension.Replacing(variable, {}, lambda value: 1 // 0)
    variable.set(5)
    with pytest.raises(ZeroDivisionError):
        failing(variable.get)


def test_the_package_is_found():
    assert Path(fperrors._PACKAGE) == Path(array_api_nx.__file__).parent
    assert fperrors._PACKAGE.endswith(os.sep)
