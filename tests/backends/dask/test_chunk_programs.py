"""Programs that are one layer of a graph: NumPy's results for any chunks; which are refused."""

import pickle
import random
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.dask.chunk_programs import build
from array_api_nx.contract.errors import CannotCompileError
from tests.support.refusals import refused

Function = Callable[..., Any]

ROWS = 12
CHUNKS = [((5, 7), (4,)), ((2,) * 6, (2, 2)), ((3, 6, 3), (1, 3))]

# From arrays of (n, 4) to one more, for either namespace.
ELEMENTS = {
    "add": lambda np, x, y: x + y,
    "divide": lambda np, x, y: x / (2.5 + np.abs(y)),
    "scalars": lambda np, x, y: 1 - 3 * x,
    "exp": lambda np, x, y: np.exp(-np.abs(x)),
    "where": lambda np, x, y: np.where(x > y, x, y * 2),
    "cast": lambda np, x, y: np.astype(np.astype(x, np.float32), np.float64),
    "clip": lambda np, x, y: np.clip(x, -0.5, 0.5),
    "size": lambda np, x, y: x / x.shape[0],
}
WITHIN_ROWS = {
    "sum": lambda np, x, y: x - np.sum(x, axis=1, keepdims=True),
    "softmax": lambda np, x, y: (e := np.exp(x)) / np.sum(e, axis=-1)[:, None],
    "var": lambda np, x, y: x * np.var(y, axis=1)[:, None],
    "argmin": lambda np, x, y: x + np.argmin(y, axis=1, keepdims=True),
    "max": lambda np, x, y: x + np.max(y, axis=1)[:, None],
    "backwards": lambda np, x, y: x[:, ::-1] + y,
    "column": lambda np, x, y: x + y[:, 1:2],
    "columns": lambda np, x, y: np.stack([x[:, 3], x[:, 0], y[:, 1], x[:, 2]], axis=1),
    "scan": lambda np, x, y: np.cumulative_sum(x, axis=1),
    "sort": lambda np, x, y: np.sort(x, axis=1),
    "pairs": lambda np, x, y: np.sum(x[:, :, None] * y[:, None, :], axis=2),
    "vecdot": lambda np, x, y: np.vecdot(x, y)[:, None] + x,
}


def given(values, chunks):
    """An array on Dask in these chunks."""
    return xp.asarray(da.from_array(values, chunks=chunks))


def check(found, expected):
    assert type(found) is xp.Array
    assert str(found.device) == "dask"
    assert found.shape == expected.shape
    assert str(found.dtype) == str(expected.dtype)
    np.testing.assert_allclose(np.asarray(found.to_device("cpu")), expected, 1e-12, 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["elements", "rows"])
@pytest.mark.parametrize("seed", range(3))
def test_random_programs(kind, seed):
    rng = random.Random(seed)
    table = ELEMENTS if kind == "elements" else ELEMENTS | WITHIN_ROWS
    names = rng.sample(sorted(table), 6)

    def function(np, x, y):
        arrays = [x, y]
        for name in names:
            arrays.append(table[name](np, arrays[-1], arrays[rng.randrange(2)]))
        return arrays[-1], arrays[-3]

    state = rng.getstate()

    def again(np, x, y):
        rng.setstate(state)
        return function(np, x, y)

    x, y = np.random.default_rng(seed).normal(size=(2, ROWS, 4))
    expected = again(np, x, y)
    compiled = xp.compile(lambda x, y: again(xp, x, y), engine="native")
    for first, second in zip(CHUNKS, CHUNKS[::-1], strict=True):
        found = compiled(given(x, first), given(y, second))
        for one, other in zip(found, expected, strict=True):
            check(one, other)
    assert compiled.cache_info() == (1, 1, len(CHUNKS), 1)
    steps = xp.compile(lambda x, y: again(xp, x, y), engine="steps")
    for one, other in zip(steps(given(x, CHUNKS[0]), given(y, CHUNKS[0])), expected, strict=True):
        check(one, other)


@pytest.mark.parametrize("step", sorted(ELEMENTS | WITHIN_ROWS))
def test_each_step(step):
    function = (ELEMENTS | WITHIN_ROWS)[step]
    compiled = xp.compile(lambda x, y: function(xp, x, y), engine="native")
    for rows in (ROWS, 1):
        x, y = np.random.default_rng(rows).normal(size=(2, rows, 4))
        check(compiled(given(x, 3), given(y, (2, 4))), function(np, x, y))


def test_products_of_matrices():
    rng = np.random.default_rng(1)
    x, weights, stack = rng.normal(size=(9, 4)), rng.normal(size=(4, 5)), rng.normal(size=(9, 3, 3))
    stack = stack @ stack.mT + np.eye(3)
    project = xp.compile(lambda x, w: xp.argmin(x @ w, axis=1), engine="native")
    check(project(given(x, 2), given(weights, 2)), np.argmin(x @ weights, axis=1))
    whole = xp.compile(lambda x, w: xp.exp(x @ w), engine="native")
    check(whole(given(x, 2), given(weights, 2)), np.exp(x @ weights))
    inverse = xp.compile(lambda s: s @ xp.linalg.inv(s), engine="native")
    check(inverse(given(stack, (2, 3, 2))), stack @ np.linalg.inv(stack))


def test_several_shapes_broadcast():
    rng = np.random.default_rng(2)
    x, y, z = rng.normal(size=(7, 1)), rng.normal(size=5), rng.normal(size=(2, 7, 5))
    compiled = xp.compile(lambda x, y, z: (x * y + z, y + 1, xp.exp(z)), engine="native")
    found = compiled(given(x, (3, 1)), given(y, 2), given(z, (1, 4, 3)))
    for one, other in zip(found, (x * y + z, y + 1, np.exp(z)), strict=True):
        check(one, other)


def test_what_is_written_and_what_is_outside():
    offset = xp.zeros(4, device="dask")

    @xp.compile(engine="native")
    def function(x, y):
        y *= 2
        return (x + y + offset).T

    x, y = np.arange(24.0).reshape(6, 4), np.ones((6, 4))
    first, second = given(x, 4), xp.asarray(given(y, 2), copy=True)
    view = second[1]
    check(function(first, second), (x + 2).T)
    check(second, 2 * y)
    check(view, 2 * y[1])
    offset += 1.0
    check(function(first, second), (x + 5).T)


def test_there_is_one_layer_of_programs():
    x = given(np.ones((8, 4)), (2, 4))
    compiled = xp.compile(lambda x: (xp.exp(x) * 2 - 1, x**2 + x), engine="native")
    for found in compiled(x):
        layers = found.to_device("dask")._device.backend.array(found._handle).dask.layers
        assert sum([name.startswith("program-") for name in layers]) == 2  # all, and one of them
        assert len(layers) == 3  # and the argument
    assert str(compiled.explain(x)).endswith("one layer of a Dask graph")
    assert "one layer" not in str(xp.compile(lambda x: x + 1).explain(x))


@pytest.mark.parametrize(
    ("function", "step"),
    [
        (lambda x: x - xp.mean(x, axis=0), "reduce"),
        (lambda x: xp.sort(x, axis=0), "sort"),
        (lambda x: x[::-1] + x, r"\[shape="),
        (lambda x: x @ x.T + x[:, :1], "matmul"),
        (lambda x: x + xp.flip(x), r"\[shape="),
        (lambda x: xp.astype(x, xp.int64) ** xp.astype(x, xp.int64), "pow"),
        (lambda x: xp.sum(x), "no axis in common"),
    ],
)
def test_what_needs_other_chunks_is_refused(function, step):
    values = np.arange(1.0, 25.0).reshape(6, 4)
    compiled = xp.compile(function, engine="native")
    refused(CannotCompileError, rf"{step}.*engine='steps'", compiled, given(values, 2))
    assert "engine='steps'" in str(compiled.explain(given(values, 2))).splitlines()[-1]
    expected = function(xp.asarray(values))
    check(xp.compile(function)(given(values, 2)), np.asarray(expected))


def test_empty_arrays():
    compiled = xp.compile(lambda x: xp.exp(x) + 1, engine="native")
    for shape in ((0, 3), (3, 0)):
        check(compiled(xp.zeros(shape, device="dask")), np.zeros(shape))


def test_tasks_can_be_pickled():
    program = xp.compile(lambda x: xp.exp(x) + xp.max(x, axis=1)[:, None]).lower(
        xp.ShapeSpec(("n", "m"), xp.float64, "dask")
    )
    task = build(program, (6, 4))
    values = np.arange(8.0).reshape(2, 4)
    for each in (task, pickle.loads(pickle.dumps(task))):
        (found,) = each((2,), values)
        np.testing.assert_allclose(found, np.exp(values) + values.max(axis=1)[:, None])
