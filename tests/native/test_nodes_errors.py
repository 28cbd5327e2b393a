"""Floating-point errors of pending operations: those that the settings of their line ask for."""

import operator
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import array_api_nx as xp
from tests.native.test_nodes_safety import host, made
from tests.support.implementations import needs_native
from tests.support.tables import for_each

pytestmark = [needs_native, pytest.mark.usefixtures("waits_when_small")]


def messages(function):
    with warnings.catch_warnings(record=True, action="always") as caught:
        function()
    return [str(each.message) for each in caught]


def test_errors_are_reported_once():
    x, y, target = made(50), xp.zeros(50), xp.zeros(50)
    value = x / y
    assert messages(lambda: target.__setitem__(..., value)) == [
        "divide by zero encountered in divide"
    ]
    assert messages(lambda: host(value)) == []
    assert messages(lambda: host(value + 1)) == []


def test_settings_of_errors_are_those_of_the_operation():
    x, y = made(50), xp.zeros(50)

    def read(state):
        with np.errstate(divide=state):  # type: ignore[arg-type]
            value = x / y
        return messages(lambda: host(value))

    for _ in range(3):
        assert read("ignore") == []
        assert read("warn") == ["divide by zero encountered in divide"]


def test_settings_of_errors_in_compiled_functions():
    """Those of the call, whatever other calls there are."""
    function = xp.compile(lambda x, y: (x / y + 1) * 2)
    inner = xp.compile(lambda x, y: (x / y - 1) * 3)
    x, y = made(50), xp.zeros(50)
    for _ in range(3):
        with np.errstate(divide="ignore"):
            assert messages(lambda: host(function(x, y))) == []
            with np.errstate(divide="warn"):
                assert messages(lambda: host(inner(x, y)))
            assert messages(lambda: host(x / y)) == []
        assert messages(lambda: host(function(x, y))) == ["divide by zero encountered in divide"]
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            host(function(x, y))


FUNCTIONS = [
    (operator.truediv, 2), (xp.extra.isclose, 2), (xp.extra.sinc, 1), (xp.extra.softmax, 1),
]  # fmt: skip


@for_each("number", range(len(FUNCTIONS)))
@for_each("state", ["warn", "ignore"])
def test_lines_of_other_modules(state, number):
    """Errors are ignored where SciPy calls and not where others do, and the other way round."""
    x, y = made(50), xp.zeros(50)
    x[3] = y[3] = xp.inf
    modules = [
        {"__name__": f"{name}.part{part}"} for part in range(20) for name in ("mine", "scipy")
    ]
    for each in modules:
        exec("def call(function, *arrays): return function(*arrays)", each)

    def call(which):
        function, count = FUNCTIONS[number]
        return messages(lambda: host(modules[which]["call"](function, *[x, y][:count])))

    with np.errstate(all=state):  # type: ignore[arg-type]
        with xp.config_context(fusion="off"):
            expected = [sorted(set(call(which))) for which in range(2)]
        for which in [*range(40), 1, 0, 0, 1, 1]:
            assert sorted(set(call(which))) == expected[which % 2]


def test_other_threads_while_a_compiled_function_runs():
    """A step of it without the GIL lets them run: with their own settings of errors."""
    function = xp.compile(lambda x, y: xp.sort((x / y + 1) * 2) - 1)
    x, y, small, zeros = made(300_000), xp.zeros(300_000), made(50), xp.zeros(50)
    ended = threading.Event()

    def quiet():
        with np.errstate(all="ignore"):
            for _ in range(15):
                function(x, y)

    def loud():
        raised = []
        with np.errstate(divide="raise"):
            while not ended.is_set():
                try:
                    small / zeros
                except FloatingPointError:
                    raised.append(True)
                else:
                    raised.append(False)
        return raised

    with np.errstate(all="ignore"):
        function(x, y)
    with ThreadPoolExecutor(3) as pool:
        running = pool.submit(loud)
        quiet()
        ended.set()
        found = running.result()
    assert all(found)
    assert len(found) > 10
