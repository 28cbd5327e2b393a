"""Calls that are fused within compiled functions: `frontend/call_groups.py`."""

import warnings

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.frontend import recorded_calls
from array_api_nx.frontend.trees import leaves
from tests.support import implementations
from tests.support.programs import assert_same, numpy_of
from tests.support.tables import for_each

pytestmark = implementations.needs_native


def heat(x):
    for _ in range(30):
        y = xp.asarray(x, copy=True)
        inner = x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * x[1:-1, 1:-1]
        y[1:-1, 1:-1] = x[1:-1, 1:-1] + 0.1 * inner
        x = y
    return x


def scalars(x):
    for i in range(70):
        x = 3.7 * x * (1 - x) if i % 3 else x / 2 + 0.25
    return x


def views_that_are_read_later(x):
    row, turned = x[0, :], x.T
    y = xp.exp(x - row) * 2 + turned - 1
    z = xp.cumulative_sum(y, axis=0)
    first = z[0, :]
    w = (z - first) * (z + first) / 2 - row
    z[0, :] = 7.0
    return xp.roll(w, 1), first, row, turned


def several_results(x):
    s = xp.sum(x, axis=0)
    a, b = x - s, x + s
    c, d = a * b, xp.where(a > b, a, b) - 1
    return xp.roll(a, 1), xp.concat([b, c]), d, xp.astype(c, xp.float32)


def results_alone(x):
    y = x * 2 + 1
    return [y, {"key": y - x * 3, "sum": xp.sum(x)}], y.T


def sizes(x):
    y = xp.sort(x, axis=0) * x.shape[0] + 1 - x / 2
    return xp.roll(y * 3 - x * x.shape[0] + y / 2 - x, 1)


SHIFT = xp.asarray([[1.0], [2.0], [3.0], [4.0]])


def constants(x):
    for _ in range(20):
        x = xp.flip(x * SHIFT + 0.5 - x / SHIFT - 1, axis=0) / 8
    return x


FUNCTIONS = [
    heat, scalars, views_that_are_read_later, several_results, results_alone, sizes, constants,
]  # fmt: skip


@for_each("function", FUNCTIONS)
def test_results_are_those_of_the_function(function):
    compiled = xp.compile(function)
    for columns in (4, 5, 4):
        for shift in range(3):
            values = np.random.default_rng(shift).random(
                (4, 4 if function is not sizes else columns)
            )
            x, y = xp.asarray(values), xp.asarray(values)
            for a, b in zip(leaves(compiled(x)), leaves(function(y)), strict=True):
                assert_same(numpy_of(a), numpy_of(b))
                assert a.dtype is b.dtype
            assert_same(x, y)


def made(monkeypatch, function, x):
    """The groups that a call makes."""
    found = []
    make = recorded_calls._group

    def counting(*arguments):
        found.append(make(*arguments))
        return found[-1]

    monkeypatch.setattr(recorded_calls, "_group", counting)
    xp.compile(function)(x)
    return found


def test_equal_groups_are_one(monkeypatch):
    assert len(made(monkeypatch, heat, xp.ones((5, 5)))) == 1
    # These follow each other without an end, and are cut where a group is full.
    assert 1 < len(made(monkeypatch, scalars, xp.ones(4))) <= 5


def test_few_operations_are_no_group(monkeypatch):
    assert not made(monkeypatch, lambda x: xp.roll(x * 2, 1), xp.ones(3))


def test_errors_are_those_of_the_function():
    compiled = xp.compile(several_results)
    x, zero = xp.ones((2, 2)), xp.zeros((2, 2))

    def dividing(x):
        return xp.roll((1 / x) * 2 - 1 + x, 1)

    divided = xp.compile(dividing)
    for _ in range(2):
        compiled(x), divided(x)
        with pytest.warns(RuntimeWarning, match="divide by zero") as caught:
            found = divided(zero)
        assert {one.filename for one in caught} == {__file__}
        with warnings.catch_warnings(), np.errstate(divide="ignore"):
            warnings.simplefilter("error")
            assert_same(found, dividing(zero))
            assert_same(divided(zero), found)
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            divided(zero)
