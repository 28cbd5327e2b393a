"""interp in C gives what NumPy gives, to the bit."""

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from tests.support.implementations import needs_native

pytestmark = needs_native


def points_of(rng, count):
    """Ascending coordinates, some of them equal, and values at them."""
    spread = rng.choice([3, 50, 1e6])
    return np.sort(rng.integers(0, spread, count) / 3.0), rng.normal(size=count)


def assert_interpolates(x, where, values, **keywords):
    expected = np.interp(x, where, values, **keywords)
    found = face.interp(face.asarray(x), face.asarray(where), face.asarray(values), **keywords)
    np.testing.assert_array_equal(np.asarray(found), expected)
    assert np.array_equal(np.signbit(np.asarray(found)), np.signbit(expected))
    assert np.asarray(found).dtype == expected.dtype


@pytest.mark.parametrize("count", [2, 3, 20, 100, 3000])
@pytest.mark.parametrize("size", [1, 15, 16, 700, 20_000])
def test_values_in_and_out_of_order(size, count):
    rng = np.random.default_rng(size + count)
    for _ in range(4):
        where, values = points_of(rng, count)
        x = rng.uniform(where[0] - 1, where[-1] + 1, size)
        x[::3] = rng.choice(where, x[::3].size)
        for each in (
            x,
            np.sort(x),
            np.sort(x)[::-1],
            np.full(size, where[-1]),
            np.full(size, -1.0),
        ):
            assert_interpolates(each, where, values)
            assert_interpolates(each, where, values, left=-7, right=np.float32(0.5))


@pytest.mark.parametrize("size", [40, 1200])
def test_special_numbers(size):
    rng = np.random.default_rng(size)
    special = [np.nan, np.inf, -np.inf, -0.0, 0.0]
    for _ in range(60):
        where, values = points_of(rng, 12)
        x = np.sort(rng.normal(size=size) * where[-1])
        values[rng.integers(0, 12, 4)] = rng.choice(special, 4)
        where[0], where[-1] = rng.choice([where[0], -np.inf]), rng.choice([where[-1], np.inf])
        with np.errstate(all="raise"):
            assert_interpolates(x, where, values)
            x[rng.integers(0, size, 4)] = rng.choice(special, 4)
            assert_interpolates(x, where, values)
    assert_interpolates(np.asarray([np.nan, 1.0]), np.asarray([1.0]), np.asarray([2.0]))
    for where in ([np.nan, 1.0], [0.0, np.nan], [np.nan, np.nan]):
        assert_interpolates(np.asarray([0.5]), np.asarray(where), np.asarray([0.0, 10.0]))


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool", "float64"])
def test_dtypes_layouts_and_scalars(dtype):
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 9, (6, 8)).astype(dtype)
    where, values = np.arange(9).astype("int16"), rng.normal(size=9).astype("float32")
    for each in (x, x.T, x[::2, ::-3], x[:1], x[0, 0], np.broadcast_to(x[0], (3, 8))):
        assert_interpolates(each, where, values)
        assert_interpolates(each, where, values[::-1])
        assert_interpolates(each, np.repeat(where, 2)[::2] * 1.0, values, period=4.5)
    number = face.interp(3.5, face.asarray(where), [*range(9)])
    assert type(number) is np.float64
    assert number == 3.5


def test_points_that_do_not_ascend_are_never_left():
    # Their results mean nothing, but are those of elements that are there.
    rng = np.random.default_rng(6)
    for count in (2, 9, 200):
        for x in (np.sort(rng.normal(size=3000)), rng.normal(size=3000)):
            where = rng.normal(size=count)
            where[rng.integers(0, count)] = np.nan
            found = xp.extra.interp(*map(xp.asarray, (x, where, np.ones(count))))
            assert set(np.unique(np.asarray(found))) <= {1.0}
