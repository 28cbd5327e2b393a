"""where and clip in C against the Python functions."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support.alike import DTYPES, compare
from tests.support.implementations import random_array, random_values

pytestmark = pytest.mark.skipif(native is None, reason="there is no extension")

SHAPES = [
    *[(), (0,), (1,), (5,), (37,), (3, 4), (4, 1), (1, 4), (3, 70)],
    *[(2, 3, 4), (2, 1, 4), (2, 0, 3)],
]
SCALARS = [0, 1, -1, 300, 2**24 + 1, 2**40, True, 0.0, -0.0, 2.5, 1e300, np.nan, -np.inf, 1j]


def _shorter(rng, shape):
    """A shape that broadcasts with `shape`."""
    kept = shape[int(rng.integers(len(shape) + 1)) :]
    return tuple([1 if rng.random() < 0.3 else n for n in kept])


def _operand(rng, dtype, shape):
    chance = rng.random()
    if chance < 0.4:
        return SCALARS[int(rng.integers(len(SCALARS)))]
    if chance < 0.6:
        shape = _shorter(rng, shape)
    if rng.random() < 0.1:
        dtype = str(rng.choice(DTYPES))
    return random_array(rng, dtype, shape)


@pytest.mark.parametrize("dtype", DTYPES)
def test_where(dtype):
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(150):
        shape = SHAPES[int(rng.integers(len(SHAPES)))]
        mask = random_array(rng, "bool", shape if rng.random() < 0.7 else _shorter(rng, shape))
        compare(xp.where, mask, _operand(rng, dtype, shape), _operand(rng, dtype, shape))


@pytest.mark.parametrize("dtype", DTYPES)
def test_clip(dtype):
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(100):
        shape = SHAPES[int(rng.integers(len(SHAPES)))]
        low, high = [None if rng.random() < 0.2 else _operand(rng, dtype, shape) for _ in range(2)]
        x = random_array(rng, dtype, shape)
        compare(xp.clip, x, low, high)
        compare(xp.clip, x, max=high, min=low)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_clip_chooses_among_zeros_as_arrays_do(dtype):
    rng = np.random.default_rng(1)
    for size in (1, 2, 3, 7, 8, 15, 64, 100, 1023, 1024, 1025, 5000):
        for step in (1, 2, -1):
            x = xp.asarray(rng.choice([0.0, -0.0, np.nan], size * abs(step)).astype(dtype))[::step]
            for bound in (0.0, -0.0, 0, xp.asarray(0.0, dtype=x.dtype), np.nan):
                compare(xp.clip, x, bound)
                compare(xp.clip, x, None, bound)
                compare(xp.clip, x, bound, bound)
            other = xp.asarray(rng.choice([0.0, -0.0], x.size).astype(dtype))
            compare(xp.clip, x, other, other)
            ones = xp.asarray(rng.choice([1.0, -1.0, np.inf], x.size).astype(dtype))
            for low, high in ((0.0, -0.0), (-0.0, 0.0)):  # no element itself is a zero
                compare(xp.clip, ones, low, high)


def test_arguments():
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    mask = x > 2
    for args in [(), (x,), (x, x), (x, x, x), (mask,), (mask, x), (mask, 1, 2), (mask, None, x)]:
        compare(xp.where, *args)
    for args in [(mask, x, "a"), (mask, [1.0], x), (True, x, x), (mask, x, None), (mask, x, x, x)]:
        compare(xp.where, *args)
    compare(xp.where, mask, np.float64(2), x)
    compare(xp.where, mask, xp.ones(3), x)
    for args in [(), (x,), (x, None), (x, None, None), (1.0, 2), (x, "a"), (x, 0, 1, 2), (x, [1])]:
        compare(xp.clip, *args)
    compare(xp.clip, x, 0, min=1)
    compare(xp.clip, x, minimum=1)
    compare(xp.clip, x, xp.ones(3))
    compare(xp.clip, x=x, min=1)
    compare(xp.clip, x, np.float32(0), random_values(np.random.default_rng(0), "float64", (2,)))


def test_small_arrays_that_are_to_be_deferred():
    x = xp.asarray([1.0, 2.0, 3.0])
    with xp.config_context(fusion="always"):
        compare(xp.where, x > 1, x, 0.0)
        compare(xp.clip, x, 1.5, 2.5)
