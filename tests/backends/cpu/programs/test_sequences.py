"""Programs that the extension runs without Python, on one thread and on several."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.backends.cpu.policy import limits
from array_api_nx.backends.cpu.programs import running
from array_api_nx.native import native
from tests.support.programs import assert_same

pytestmark = pytest.mark.skipif(native is None, reason="needs the C extension")

rng = np.random.default_rng(11)


def cheap(x: Array, y: Array) -> Array:
    return 2 * x + 3 * y


def costly(x: Array, y: Array) -> tuple[Array, Array]:
    return xp.sin(x) ** 2 + xp.exp(-y), xp.sqrt(abs(x))


def across(x: Array, y: Array) -> Array:
    return (x + y.T) * 2 - x


def counted(x: Array, y: Array) -> Array:
    return xp.count_nonzero((x > 0.2) & (y < 0.5))


FUNCTIONS = [cheap, costly, across, counted]


def square(n: int, dtype: Any = np.float64) -> Array:
    return xp.asarray(rng.standard_normal((n, n)).astype(dtype), copy=True)


@pytest.fixture
def python_runs(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What Python ran."""
    runs: list[object] = []
    run = running.PlannedRun.__call__

    def counting(self: running.PlannedRun, *handles: Any) -> Any:
        runs.append(self)
        return run(self, *handles)

    monkeypatch.setattr(running.PlannedRun, "__call__", counting)
    return runs


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert_same(found, expected)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_run_without_python_up_to_the_threshold(function, threads, dtype, python_runs):
    compiled = xp.compile(function)
    with xp.config_context(num_threads=threads):
        for n in (7, 200, 316):
            python_runs.clear()
            for _ in range(4):
                x, y = square(n, dtype), square(n, dtype)
                same(compiled(x, y), function(x, y))
            if n * n <= limits.tracked:
                assert len(python_runs) <= 1


def test_what_others_account_for_is_left_to_python(python_runs):
    """Arrays above the threshold of deferral may be read by expressions that wait."""
    n = int(max(limits.tracked, 10) ** 0.5) + 1
    compiled, x, y = xp.compile(cheap), square(n, np.float32), square(n, np.float32)
    for _ in range(3):
        result = compiled(x, y)
        waits = result + 1
        first = float(result[0, 0])
        result[...] = 0
        assert float(waits[0, 0]) == np.float32(first) + np.float32(1)
    assert len(python_runs) == 3


def test_several_python_threads_run_one_program():
    """Kernels on several threads run without the GIL: meanwhile others leave the program's memory
    alone, and may drop the arguments."""
    functions: list[Callable[..., Any]] = [
        xp.compile(lambda x, y: xp.cumulative_sum(costly(x, y)[0], axis=0)),
        xp.compile(costly),
        xp.compile(lambda x, y: xp.max(xp.sort(x * y, axis=1) + xp.sin(y), axis=0) - x),
    ]
    pairs = [(square(150), square(150)) for _ in range(6)]
    expected = [[each.__wrapped__(*pair) for each in functions] for pair in pairs]
    barrier = threading.Barrier(3)

    def work(_: int) -> None:
        barrier.wait()
        with xp.config_context(num_threads=2):
            for _ in range(8):
                for (x, y), wanted in zip(pairs, expected, strict=True):
                    for function, result in zip(functions, wanted, strict=True):
                        same(function(x * 1, y * 1), result)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))


def test_errors_are_warned_of_from_several_threads():
    compiled = xp.compile(lambda x, y: xp.log(x) + y)
    x, y = square(300), square(300)
    with xp.config_context(num_threads=2):
        for _ in range(3):
            with pytest.warns(RuntimeWarning, match="invalid value encountered in log"):
                result = compiled(x, y)
    same(result, xp.log(x) + y)
