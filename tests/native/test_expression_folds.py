"""Reductions that compute, in the same pass, what they reduce (expression_folds.c)."""

import warnings

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.implementations import count_pending, needs_native
from tests.support.sizes import AT_ONCE

pytestmark = needs_native

NAMES = ["sum", "prod", "max", "min", "any", "all", "count_nonzero", "mean"]
EXPRESSIONS = {
    "float64": [lambda m, x, y: x * y, lambda m, x, y: m.exp(x) - y, lambda m, x, y: x < y],
    "float32": [lambda m, x, y: x - y + x, lambda m, x, y: x >= y],
    "int64": [lambda m, x, y: x * y, lambda m, x, y: x == y],
    "uint64": [lambda m, x, y: x + y],
    "int32": [lambda m, x, y: x - y],
    "bool": [lambda m, x, y: x & y, lambda m, x, y: x | y],
}


def elements(rng, shape, dtype):
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith("float"):
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(0, 9, shape).astype(dtype)


def same(found, expected, dtype):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    if found.dtype.kind == "f":
        closeness = 1e-4 if dtype == "float32" else 1e-10
        np.testing.assert_allclose(found, expected, rtol=closeness, atol=closeness)
    else:
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("dtype", list(EXPRESSIONS))
def test_random_reductions(dtype):
    rng = np.random.default_rng(sum(map(ord, dtype)))
    for number in range(60):
        ndim = int(rng.integers(1, 5))
        shape = [int(n) for n in rng.integers(1, 20, ndim)]
        longest = int(rng.integers(ndim))
        shape[longest] = max(1, int(rng.integers(3_000, 90_000)) // np.prod(shape))
        x, y = elements(rng, tuple(shape), dtype), elements(rng, tuple(shape), dtype)
        if number % 3 == 0:
            y = y[..., :1].copy()
        axes = tuple([int(i) for i in rng.permutation(ndim)[: rng.integers(1, ndim + 1)]])
        arguments = {"axis": None if rng.random() < 0.3 else axes, "keepdims": rng.random() < 0.5}
        function = EXPRESSIONS[dtype][number % len(EXPRESSIONS[dtype])]
        mine = function(np, x, y)
        names = [n for n in NAMES if mine.dtype != bool or n not in ("max", "min", "mean", "prod")]
        if mine.dtype.kind != "f":
            names = [n for n in names if n != "mean"]
        if mine.dtype.kind == "f":
            names.remove("prod")
        name = names[number % len(names)]
        expected = getattr(np, name)(mine, **arguments)
        mine_x, mine_y = xp.asarray(x.copy()), xp.asarray(y.copy())
        found = getattr(xp, name)(function(xp, mine_x, mine_y), **arguments)
        same(found, expected, dtype)
        # A value that is held is stored along the way, and changes no bit.
        held = function(xp, mine_x, mine_y)
        for _ in range(2):
            again = np.asarray(getattr(xp, name)(held, **arguments))
            assert np.array_equal(again, np.asarray(found), equal_nan=True)
        assert np.array_equal(np.asarray(held), mine, equal_nan=True)


@pytest.mark.parametrize("shape", [(100_003,), (3, 40_000), (40_000, 3), (70, 30, 40)])
def test_threads_change_no_bit(shape):
    rng = np.random.default_rng(3)
    x, y = [xp.asarray(rng.random(shape)) for _ in range(2)]
    for axis in (None, 0, -1):
        for name in ("sum", "mean", "max", "prod"):
            found = []
            for threads in (1, 2, 5):
                with xp.config_context(num_threads=threads):
                    # Near to 1, so that products are neither zero nor infinite.
                    value = xp.sin(x) * y * 1e-5 + 1
                    found.append(np.asarray(getattr(xp, name)(value, axis=axis)))
            assert np.array_equal(found[0], found[1])
            assert np.array_equal(found[0], found[2])
            assert (found[0] > 0).all()
            assert np.isfinite(found[0]).all()


def test_a_value_that_nothing_else_needs_gets_no_memory():
    x = xp.ones(100_000)
    before = count_pending()
    value = x * 3
    assert count_pending() == before + 1
    assert float(xp.sum(value)) == 300_000
    assert count_pending() == before  # it is held, and so was stored
    assert float(xp.max(x * 3 - 1)) == 2
    assert count_pending() == before


def test_extremes_of_nothing_but_infinities_and_nan():
    x = xp.full(60_000, -xp.inf)
    assert float(xp.max(x + 1)) == -np.inf
    assert float(xp.min(-x)) == np.inf
    y = xp.ones(60_000)
    y[50_123] = xp.nan
    assert np.isnan(float(xp.max(y * 2)))
    assert np.isnan(np.asarray(xp.min(xp.reshape(y * 2, (300, 200)), axis=0))).sum() == 1


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint64"])
def test_extremes_of_integers_at_their_limits(dtype):
    info = np.iinfo(dtype)
    for number in (info.min, info.max):
        x = xp.full(AT_ONCE + 50, number, dtype=getattr(xp, dtype))
        assert int(xp.max(x)) == number
        assert int(xp.min(x)) == number


def test_errors_are_warned_of_by_their_names():
    x = xp.zeros(80_000)
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in log"):
        xp.sum(xp.log(x))
    y = xp.full(80_000, 1e308)
    with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
        assert float(xp.sum(y + 0)) == np.inf
    with warnings.catch_warnings(action="error"):
        z = xp.ones(80_000)
        z[5] = xp.nan
        assert np.isnan(float(xp.max(z + 1)))


def test_views_that_step_backwards_or_repeat_an_element():
    mine = np.random.default_rng(9).random((300, 200))
    x = xp.asarray(mine.copy())
    assert np.allclose(np.asarray(xp.sum(xp.flip(x), axis=0)), mine.sum(axis=0)[::-1])
    assert np.allclose(np.asarray(xp.sum(x[::2, 1:150], axis=1)), mine[::2, 1:150].sum(axis=1))
    assert np.allclose(float(xp.sum(xp.broadcast_to(x[0], (300, 200)))), mine[0].sum() * 300)
    assert np.allclose(np.asarray(xp.sum(x.T, axis=0)), mine.sum(axis=1))
    assert float(xp.max(xp.broadcast_to(x[3, 4], (400, 200)))) == mine[3, 4]


def test_a_sum_of_many_elements_is_that_of_a_run():
    """The same bits whether rows lie together or with gaps."""
    x = xp.asarray(np.random.default_rng(1).random((250, 400)))
    together, apart = x[:, :200] + 0, x[:, :200]
    float(together[0, 0])  # now its elements lie together
    for axis in (None, 1):
        first, second = xp.sum(together, axis=axis), xp.sum(apart, axis=axis)
        assert np.array_equal(np.asarray(first), np.asarray(second))


@pytest.mark.parametrize("axis", [None, (0, 1), 0])
def test_short_rows_are_reduced_in_the_order_of_the_axes(axis):
    """With the bits that the value has that was computed before."""
    rng = np.random.default_rng(2)
    x, y = xp.asarray(rng.random((9000, 3, 4))), xp.asarray(rng.random((9000, 1, 4)))
    for function in (lambda x, y: x * y, lambda x, y: xp.sin(x) - y):
        held = function(x, y)
        float(held[0, 0, 0])
        first, second = xp.sum(function(x, y), axis=axis), xp.sum(held, axis=axis)
        assert np.array_equal(np.asarray(first), np.asarray(second))


ROWS = {
    "two arrays": lambda ns, x, y: x * y,
    "a number": lambda ns, x, y: x * 2 + 1,
    "a number for each row": lambda ns, x, y: x * y[:, :1] - 1,
    "one for each column": lambda ns, x, y: (x - y[:1]) * x,
    "compared": lambda ns, x, y: x > y[:, :1],
    "parts of rows": lambda ns, x, y: x[1:, 3:-2] + y[:-1, 2:-3],
    "every other row": lambda ns, x, y: x[::2] * y[::2],
    "rows backwards": lambda ns, x, y: x[::-1] - y,
}


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("shape", [(3, 40), (64, 200), (700, 300), (300, 1401)])
@pytest.mark.parametrize("name", ROWS)
def test_rows_are_reduced_to_one_as_numpy_does(name, shape, threads):
    """Row after row, whatever tiles and parts there are."""
    rng = np.random.default_rng(11)
    x, y = rng.standard_normal(shape), rng.standard_normal(shape)
    ours = [xp.asarray(each, copy=True) for each in (x, y)]
    with xp.config_context(num_threads=threads, fusion_threshold=0):
        for reduce in ("sum", "max", "min"):
            expected = ROWS[name](np, x, y)
            if expected.dtype == bool:
                expected = getattr(np, {"sum": "sum", "max": "any", "min": "all"}[reduce])(
                    expected, axis=0
                )
                found = {"sum": xp.count_nonzero, "max": xp.any, "min": xp.all}[reduce](
                    ROWS[name](xp, *ours), axis=0
                )
            else:
                expected = getattr(expected, reduce)(axis=0)
                found = getattr(xp, reduce)(ROWS[name](xp, *ours), axis=0)
            assert np.asarray(found).tobytes() == expected.tobytes()
