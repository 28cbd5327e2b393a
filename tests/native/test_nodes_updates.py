"""In-place operations on values that wait, and by them (native/expressions/nodes.h)."""

import operator
import tracemalloc
import warnings

import numpy as np
import pytest

import array_api_nx as xp
from tests.native.test_nodes_safety import host, made
from tests.support.implementations import needs_native
from tests.support.sizes import DEFERRED, MIDDLE
from tests.support.tables import for_each

pytestmark = [needs_native, pytest.mark.usefixtures("waits_when_small")]


def test_an_update_while_another_value_reads():
    x, y = made(50), made(50, 2)
    z = x * y
    other = z + 1
    expected = host(x) * host(y)
    z += 5
    np.testing.assert_array_equal(host(other), expected + 1)
    np.testing.assert_array_equal(host(z), expected + 5)


@for_each(
    "part",
    [
        lambda z: z.T,
        lambda z: z[::-1],
        lambda z: z[:, ::-1],
        lambda z: z[1:, :],
        lambda z: z[2],
        lambda z: z.reshape((4, 16)) if type(z) is np.ndarray else xp.reshape(z, (4, 16)),
        lambda z: z[:, :],
    ],
)
def test_an_update_of_a_part(part):
    x, y = made((8, 8)), made((8, 8), 2)
    z, expected = x * y, host(x) * host(y)
    view, mine = part(z), part(expected)
    w = made(view.shape, 3)
    view += w
    mine += host(w)
    np.testing.assert_array_equal(host(z), expected)


def test_an_update_by_a_larger_array():
    x, y = made((1, 50)), made((1, 50), 2)
    z, expected = x * y, host(x) * host(y)
    with pytest.raises(ValueError, match="cannot change the shape"):
        z += made((3, 50))
    np.testing.assert_array_equal(host(z), expected)


@for_each("size", [9, MIDDLE, DEFERRED])
@for_each(
    "update",
    [
        "x -= y * 2 + 1",
        "x -= x * y + 1",
        "x[1:] -= x[:-1] * 2 + 1",
        "x[:-1] -= x[1:] * 2 + 1",
        "x -= y[:1] * 2 + 1",
        "x -= (y * 2)[::-1] + x",
        "x -= abs(y - (y + x))",
        "t = x * y + 1; x -= t; y += t",
        "t = x * y + 1; x = isub(x, t); x *= t",
        "t = x * y + 1; u = t - x; x -= t; y += u",
        "x[2:] -= 0.5 * (y[2:] - y[:-2]); y[:-2] *= x[2:] + x[:-2]",
    ],
)
def test_updates_of_what_is_computed_by_what_waits(size, update):
    results = []
    for asarray in (np.array, xp.asarray):
        x, y = (asarray(host(made(size, seed))) for seed in (1, 2))
        names = {"x": x, "y": y, "isub": operator.isub}
        exec(update, names)
        results.append([host(names["x"]), host(names["y"])])
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_value_that_only_an_update_needs_gets_no_memory():
    x, y = made(2**20), made(2**20, 2)
    x -= y * 2 + 1  # makes scratch memory, and empties what the pool keeps
    tracemalloc.start()
    x -= y * 2 + 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def test_python_code_that_runs_during_an_update_finds_the_value(monkeypatch):
    seen = []
    kept = xp.ones(MIDDLE)
    x = kept + 1.0
    monkeypatch.setattr(warnings, "showwarning", lambda *args, **named: seen.append(float(x[3])))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        waiting = [
            1.0 / xp.zeros(20 * MIDDLE) for _ in range(3)
        ]  # they hold what nothing else shows
        x += kept
    assert seen
    assert set(seen) == {2.0}
    assert float(x[3]) == 3.0
    del waiting


def test_updates_by_the_value_itself():
    x, y = made(50), made(50, 2)
    z, expected = x * y, host(x) * host(y)
    z += z
    z -= z * 0.5
    z[...] = z
    np.testing.assert_array_equal(host(z), expected * 2 - expected)


def test_a_value_that_a_compiled_function_updates_by_and_returns() -> None:
    @xp.compile
    def compute(x: xp.Array, y: xp.Array) -> tuple[xp.Array, xp.Array]:
        value = xp.clip(x, -1, 1)
        chosen = xp.where(value > 0, value, x)
        y += chosen
        return chosen, x - xp.sum(x)

    for size in (10, MIDDLE, DEFERRED):
        numbers = np.arange(size) - 3.0
        for _ in range(3):
            target = xp.zeros(size)
            chosen, centred = compute(xp.asarray(numbers) * 1.0, target)
            expected = np.where(numbers > 0, np.clip(numbers, -1, 1), numbers)
            np.testing.assert_array_equal(host(chosen), expected)
            np.testing.assert_array_equal(host(target), expected)
            np.testing.assert_array_equal(host(centred), numbers - numbers.sum())
