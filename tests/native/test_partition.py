"""partition and argpartition in C against the Python functions."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.support import implementations
from tests.support.alike import DTYPES, compare
from tests.support.implementations import random_array

pytestmark = implementations.needs_native


@pytest.mark.parametrize("dtype", DTYPES)
def test_partition(dtype):
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(60):
        shape = tuple([int(n) for n in rng.integers(0, 6, int(rng.integers(0, 4)))])
        x = random_array(rng, dtype, shape)
        kth = int(rng.integers(-5, 5))
        for function in (xp.extra.partition, xp.extra.argpartition):
            compare(function, x, kth)
            compare(function, x, kth, int(rng.integers(-3, 3)))
            compare(function, x, kth=kth, axis=None)


def test_arguments():
    x = xp.asarray([3.0, 1.0, 2.0])
    for function in (xp.extra.partition, xp.extra.argpartition):
        for kth in (True, 1.0, [0, 2], [], 2**70, -(2**70), None, xp.asarray(1), np.int64(1)):
            compare(function, x, kth)
        compare(function)
        compare(function, x)
        compare(function, [3, 1], 0)
        compare(function, x, 0, 0, 0)
        compare(function, x, 0, axis=5)


def test_the_result_is_a_copy():
    x = xp.asarray([3.0, 1.0, 2.0])
    result = xp.extra.partition(x, 0)
    result[0] = 9.0
    assert x.tolist() == [3.0, 1.0, 2.0]
