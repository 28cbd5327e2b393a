"""The passes and calls that a compiled function becomes, and the memory that they use."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from tests.support.numpy_versions import ROUNDS_ALIKE
from tests.support.programs import settings
from tests.support.sizes import AT_ONCE, DEFERRED, MANY_TASKS
from tests.support.tables import for_each

from .planning import planned


def ones(*shape: int) -> Array:
    return xp.ones(shape, dtype=xp.float64)


def standardise(x: Array) -> Array:
    return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)


def product(x: Array) -> Array:
    y = (x + 1) @ (x.T * 2)
    return xp.exp(y) + y[0, :]


def updated(x: Array) -> Array:
    y = x + 1
    y[0, :] = 5.0
    return y


def read_before(x: Array) -> Any:
    """The values are pending, and nothing but the end would compute them."""
    y = xp.exp(x)
    before = y[::-1, :] * 2
    y[0, :] = 5.0
    return y, before


def read_later(x: Array) -> Any:
    y = xp.cumulative_sum(x, axis=0)
    z = xp.asarray(y, copy=True)
    z[0, :] = 5.0
    return y, z


def equal_numbers(x: Array) -> Any:
    """To steps 1 and 1.0 are two numbers; in an expression they are one."""
    y, z = x + 1, x + 1.0
    y[0, :] = 5.0
    return y, z


def written(x: Array) -> Array:
    x[1, :] = 7.0
    return x * 1


def filled(x: Array) -> Any:
    return xp.zeros((3, 3)), xp.full(x.shape, 2.5), x + xp.ones(4)


SMALL, LARGE = (6, 4), (DEFERRED // 4 + 1, 4)
# Calls have brackets; small floating-point sums are NumPy's, as outside of programs.
PASSES: list[tuple[Callable[[Array], Any], tuple[int, ...], str, str]] = [
    (lambda x: xp.exp(-(x * 2 + 1)) / x, SMALL, "float64", "multiply add negative exp divide"),
    (standardise, SMALL, "float64", "reduce() | var() | sqrt | subtract divide"),
    (standardise, LARGE, "float64", "var mean | sqrt | subtract divide"),
    (lambda x: xp.max(x + 1, axis=0), SMALL, "float64", "add max"),
    (lambda x: xp.sum(x + 1, axis=0) * 2, SMALL, "int64", "add sum | multiply"),
    (product, SMALL, "float64", "multiply | add | matmul() | exp add"),
    (lambda x: x.T[1:, ::-1] * 2, SMALL, "float64", "multiply"),
    (lambda x: (x + 1).T[1:], SMALL, "float64", "add"),
    (filled, SMALL, "float64", "add | full() | full()"),
    (lambda x: (xp.exp(x), xp.exp(x), xp.exp(x)[1:]), SMALL, "float64", "exp copy | copy()"),
    (updated, SMALL, "float64", "add | update()"),
    (read_before, SMALL, "float64", "exp | multiply | update()"),
    (read_later, SMALL, "float64", "scan() | copy() | update()"),
    (equal_numbers, SMALL, "float64", "add | copy() | update()"),
    (written, SMALL, "float64", "copy() | update() | copy"),
]


@for_each(("function", "shape", "dtype", "expected"), PASSES)
def test_passes(function, shape, dtype, expected):
    run = xp.compile(function).explain(xp.ones(shape, dtype=dtype)).run
    assert run is not None
    words = [
        " ".join([step.operation for step in each.steps]) + ("" if each.tasks else "()")
        for each in run.passes
    ]
    assert " | ".join(words) == expected


def test_equal_numbers_in_two_steps_are_not_updated_together():
    y, z = xp.compile(equal_numbers)(ones(6, 4))
    assert (float(xp.sum(y)), float(xp.sum(z))) == (2 * 20 + 5 * 4, 2 * 24)


def test_fills_do_not_meet_those_outside():
    x = xp.asarray(ones(MANY_TASKS, 3), copy=True)

    def function(x: Array) -> Any:
        return xp.full(x.shape, 2.5), xp.full(x.shape, 2.5) * 3, x + 1

    with settings("default"):
        before, compiled = function(x), xp.compile(function)(x)
        for results in (before, compiled, function(x), xp.compile(function)(x)):
            assert [float(xp.max(each)) for each in results] == [2.5, 7.5, 2.0]
            assert [float(each[0, 0]) for each in results] == [2.5, 7.5, 2.0]


def chain(x: Array) -> Array:
    return x * 2 + 1
    # The backend keeps account of the readers of larger arrays.
    assert not planned(chain, ones(DEFERRED)).keeps_memory
    assert not planned(lambda x: [x * 2 + 1] * 2, ones(MANY_TASKS)).keeps_memory


def test_slots_of_a_long_chain_take_turns():
    def function(x: Array) -> Array:
        for _ in range(6):
            x = xp.exp(x) @ xp.eye(4)
        return x * 2

    plan = planned(function, ones(MANY_TASKS, 4))
    sizes = [plan.slots[slot].size * 8 for slot, _ in plan.places]
    assert len(sizes) >= 6
    assert plan.arena < sum(sizes) / 2


@pytest.mark.skipif(not ROUNDS_ALIKE, reason="NumPy before 2.3 rounds variances otherwise")
@pytest.mark.parametrize("size", [AT_ONCE // 3, AT_ONCE // 2 + 1, MANY_TASKS])
@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
def test_sums_round_as_outside(size, dtype):
    x = xp.asarray(np.random.default_rng(5).random(size), dtype=dtype, copy=True)

    def function(x: Array) -> Any:
        return xp.sum(x), xp.mean(x), xp.var(x)

    assert list(map(float, xp.compile(function)(x))) == list(map(float, function(x)))
