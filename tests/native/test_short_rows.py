"""Rows of a few elements are sorted as NumPy sorts them."""

import numpy
import pytest

import array_api_nx as xp
import array_api_nx.numpy as np
from tests.support.implementations import needs_native

pytestmark = needs_native

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


def _rows(dtype, shape):
    rng = numpy.random.default_rng(0)
    if dtype in INTEGERS:
        limits = numpy.iinfo(dtype)
        x = rng.integers(limits.min, limits.max, shape, dtype, True)
        return numpy.where(rng.random(shape) < 0.3, x[..., :1], x)
    x = rng.normal(size=shape).round(1).astype(dtype)
    x[rng.random(shape) < 0.2] = numpy.nan
    x[rng.random(shape) < 0.1] = -numpy.inf
    x[rng.random(shape) < 0.2] = -0.0
    x[rng.random(shape) < 0.1] = 0.0
    return x


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64", "float16"])
@pytest.mark.parametrize("length", range(1, 11))
def test_short_rows_are_sorted_as_numpys(dtype, length):
    for count in (1, 2, 7, 64, 5000):
        x = _rows(dtype, (count, length))
        expected = numpy.sort(x, axis=1, stable=True)
        ours = xp.sort(xp.asarray(x), axis=1)
        assert numpy.asarray(ours).tobytes() == expected.tobytes()  # zeros keep their order
        columns = xp.sort(xp.asarray(x.T.copy()), axis=0)
        assert numpy.asarray(columns).tobytes() == expected.T.tobytes()
        descending = xp.sort(xp.asarray(x), axis=1, descending=True)
        if dtype in INTEGERS:
            assert numpy.asarray(descending).tobytes() == expected[:, ::-1].tobytes()


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float64"])
def test_short_rows_of_the_face(dtype):
    for shape in [(300, 3), (20_000, 2), (4, 50, 5)]:
        x = _rows(dtype, shape)
        expected = numpy.sort(x)
        numpy.testing.assert_array_equal(numpy.asarray(np.sort(np.asarray(x))), expected)
        ours = np.array(x)
        ours.sort()
        numpy.testing.assert_array_equal(numpy.asarray(ours), expected)
        apart = np.array(numpy.repeat(x, 2, axis=-1))[..., ::2]
        numpy.testing.assert_array_equal(numpy.asarray(np.sort(apart)), expected)
