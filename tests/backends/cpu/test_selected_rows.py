"""Rows that one mask or one array of indices selects: NumPy's elements, errors and order."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu import selected_rows
from tests.support.refusals import refused
from tests.support.tables import for_each

DTYPES = ["bool", "uint8", "int16", "float32", "float64", "complex128"]
SHAPES = [(0, 3), (1, 2), (7, 3), (40, 2, 3), (300, 1), (300, 40), (30, 1100), (9,)]


def values(seed, dtype, shape):
    numbers = np.random.default_rng(seed).integers(0, 2 if dtype == "bool" else 100, shape)
    return numbers.astype(dtype)


def keys(shape):
    rng = np.random.default_rng(3)
    rows = shape[0]
    masks = [rng.random(shape[:ndim]) < share for ndim in (1, len(shape)) for share in (0, 0.5, 1)]
    if not rows:
        return masks
    several = [rng.integers(-rows, rows, size) for size in ((0,), (5,), (2 * rows,), (3, 4))]
    return [*masks, *several, several[2][::2]]


@for_each("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_selections_are_numpys(shape, dtype):
    array = values(1, dtype, shape)
    done = 0
    for key in keys(shape):
        expected = array[key]
        found = selected_rows.read(array, key)
        if found is not None:
            assert found.dtype == expected.dtype
            assert not np.shares_memory(found, array)
            np.testing.assert_array_equal(found, expected)
        rest = shape[key.ndim if key.dtype == bool else 1 :]
        for number, written in enumerate(
            [1, values(2, dtype, expected.shape), values(2, dtype, rest), values(2, dtype, ())]
        ):
            wanted, target = array.copy(), array.copy()
            wanted[key] = written
            if selected_rows.write(target, key, written):
                np.testing.assert_array_equal(target, wanted, err_msg=f"{key.shape}, {number}")
                done += 1
            else:
                np.testing.assert_array_equal(target, array)
    assert done or 0 in shape or 1 in shape or len(shape) == 1 or shape[1] == 1100


def test_bad_selections_change_nothing():
    array = np.zeros((5, 3))
    for index in (5, -6):
        key = np.asarray([0, index])
        refused(IndexError, None, selected_rows.read, array, key)
        refused(IndexError, None, selected_rows.write, array, key, np.ones((2, 3)))
    # NumPy raises the error.
    for mask in (np.ones(4, bool), np.ones((5, 2), bool)):
        assert selected_rows.read(array, mask) is None
        assert not selected_rows.write(array, mask, 1)
    for value in (np.ones((2, 3)), np.ones(2), np.ones((1, 5, 3))):
        assert not selected_rows.write(array, np.ones(5, bool), value)
    assert not array.any()


@for_each("rows", [4, 20_000])
def test_keys_and_values_among_the_rows_that_are_written_are_copied_first(rows):
    plain = np.arange(3 * rows).reshape(rows, 3) % rows
    x = xp.asarray(plain, copy=True)
    x[xp.arange(rows - 1, -1, -1)] = x
    plain[...] = plain[::-1].copy()
    x[x[:, 0]] = x[::-1, :]
    plain[plain[:, 0].copy()] = plain[::-1].copy()
    x[xp.arange(1, rows)] = x[0, :]
    plain[1:] = plain[0].copy()
    np.testing.assert_array_equal(np.asarray(x), plain)
    flags = np.arange(3 * rows).reshape(rows, 3) % 7 < 3
    y = xp.asarray(flags, copy=True)
    y[xp.reshape(y, (-1,))[:rows]] = False
    flags[flags.reshape(-1)[:rows].copy()] = False
    np.testing.assert_array_equal(np.asarray(y), flags)


def test_large_arrays_of_the_namespace():
    plain = np.random.default_rng(5).random((20_000, 3))
    mask = plain[:, 0] > 0.5
    places = np.random.default_rng(6).integers(-20_000, 20_000, 30_000)
    x = xp.asarray(plain, copy=True)
    np.testing.assert_array_equal(np.asarray(x[xp.asarray(mask), ...]), plain[mask])
    np.testing.assert_array_equal(np.asarray(x[xp.asarray(places), :]), plain[places])
    view = x[:, 1]
    written = np.random.default_rng(7).random((30_000, 3))
    plain[places] = written  # the last of several values wins
    x[xp.asarray(places)] = xp.asarray(written)
    np.testing.assert_array_equal(np.asarray(view), plain[:, 1])
    plain[mask] = -plain[mask]
    x[xp.asarray(mask)] = -x[xp.asarray(mask)]
    np.testing.assert_array_equal(np.asarray(x), plain)
    with pytest.raises(IndexError):
        x[xp.asarray([0] * 300 + [20_000])] = 1.0
    np.testing.assert_array_equal(np.asarray(view), plain[:, 1])
