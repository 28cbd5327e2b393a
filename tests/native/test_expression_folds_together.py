"""Reductions of the same elements along the same axes that wait are computed in one pass."""

import gc

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.implementations import count_pending, needs_native
from tests.support.programs import numpy_of
from tests.support.sizes import DEFERRED
from tests.support.tables import for_each

pytestmark = needs_native

NAMES = ("min", "max", "sum", "mean", "var", "prod")
SHAPES = [(DEFERRED + 9,), (900, 700), (700, 900), (60, 70, 200)]


def waiting(x, names, axis):
    return [getattr(xp, name)(x, axis=axis) for name in names]


@for_each("shape", SHAPES)
@for_each("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("source", [lambda x: x, lambda x: x * 3])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_results_are_those_of_each_alone(shape, dtype, source):
    data = np.random.default_rng(2).integers(-9, 9, shape).astype(dtype)
    x = xp.asarray(data, copy=True)
    names = [name for name in NAMES if dtype != "int64" or name not in ("mean", "var")]
    for axis in (None, *range(len(shape))):
        with xp.config_context(num_threads=3):
            alone = [numpy_of(waiting(source(x), [name], axis)[0]) for name in names]
            together = waiting(source(x), names, axis)
            for found, expected in zip(together, alone, strict=True):
                assert numpy_of(found).tobytes() == expected.tobytes()


def test_what_waits_for_the_same_elements_is_computed_with_it():
    x = xp.asarray(np.random.default_rng(2).standard_normal((900, 700)), copy=True)
    before = count_pending()
    low, high, other = xp.min(x, axis=0), xp.max(x, axis=0), xp.max(x, axis=1)
    assert count_pending() == before + 3
    numpy_of(low)
    assert count_pending() == before + 1
    assert np.array_equal(numpy_of(high), numpy_of(x).max(axis=0))
    assert np.array_equal(numpy_of(other), numpy_of(x).max(axis=1))


def test_a_value_that_only_they_read_gets_no_memory():
    data = np.random.default_rng(2).standard_normal((900, 700))
    x = xp.asarray(data, copy=True)
    y = x * 2
    low, high = xp.min(y, axis=0), xp.max(y, axis=0)
    del y
    gc.collect()
    assert np.array_equal(numpy_of(low), (data * 2).min(axis=0))
    assert count_pending() == 0
    assert np.array_equal(numpy_of(high), (data * 2).max(axis=0))
    z = x + 1
    low, high = xp.min(z, axis=0), xp.max(z, axis=0)
    numpy_of(high)
    assert np.array_equal(numpy_of(z), data + 1)
    assert np.array_equal(numpy_of(low), (data + 1).min(axis=0))


def test_each_warns_of_its_own():
    x = xp.full((900, 700), 1e306)
    total, spread, high = xp.sum(x, axis=0), xp.var(x, axis=0), xp.max(x, axis=0)
    with pytest.warns(RuntimeWarning, match="overflow encountered in reduce") as met:
        numpy_of(high)
    assert len(met) == 1
    assert np.isinf(numpy_of(total)).all()
    assert (numpy_of(spread) == 0).all()


def test_writes_come_after_all_of_them():
    x = xp.asarray(np.arange(630_000.0).reshape(900, 700), copy=True)
    low, high = xp.min(x, axis=0), xp.max(x, axis=0)
    x[...] = 0
    assert float(low[3]) == 3
    assert float(high[3]) == 899 * 700 + 3
