"""Selection and assignment by masks that name all axes (native/chapters/masks.c).

The masks have runs of elements that are all true or all false, and single ones.
"""

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.implementations import needs_native

pytestmark = needs_native

DTYPES = ["bool", "int8", "uint16", "int32", "float32", "int64", "float64", "complex128"]
SIZES = [(2,), (63,), (64,), (65,), (300,), (7, 129), (3, 4, 100), (1200,)]


def make_mask(rng, shape):
    mask = rng.random(shape) < rng.choice([0, 0.01, 0.2, 0.5, 0.8, 0.99, 1])
    flat = mask.reshape(-1)
    for _ in range(int(rng.integers(4))):
        begin, end = np.sort(rng.integers(0, flat.size + 1, 2)).tolist()
        flat[begin:end] = rng.random() < 0.5
    return mask


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SIZES)
def test_masks_of_all_axes(dtype, shape):
    rng = np.random.default_rng(len(dtype) + sum(shape))
    for _ in range(40):
        mask = make_mask(rng, shape)
        mine = rng.integers(0, 100, shape).astype(dtype)
        ours, chosen = xp.asarray(mine.copy()), xp.asarray(mask)
        np.testing.assert_array_equal(np.asarray(ours[chosen]), mine[mask], strict=True)
        values = rng.integers(0, 100, int(mask.sum())).astype(dtype)
        mine[mask] = values
        ours[chosen] = xp.asarray(values)
        np.testing.assert_array_equal(np.asarray(ours), mine, strict=True)
        mine[mask] = True
        ours[chosen] = True
        np.testing.assert_array_equal(np.asarray(ours), mine, strict=True)


@pytest.mark.parametrize("shape", [(40_000,), (300, 301), (200_000,)])
def test_masks_of_many_elements_in_any_layout(shape):
    rng = np.random.default_rng(8)
    mine, mask = rng.random(shape) + 0j, make_mask(rng, shape)
    mask.reshape(-1)[5000:9000] = True
    ours, chosen = xp.asarray(mine.copy()), xp.asarray(mask)
    for key in (..., slice(None, None, -1), slice(1, None, 2)):
        part, where = mine[key], mask[key]
        assert np.array_equal(np.asarray(ours[key][chosen[key]]), part[where])
        part[where] = part[where] * 2
        view = ours[key]
        view[chosen[key]] = view[chosen[key]] * 2
        assert np.array_equal(np.asarray(ours), mine)


def test_bytes_other_than_one_are_true():
    odd = np.zeros(200, np.uint8)
    odd[::3] = 2
    odd[64:128] = 255
    mask, mine = odd.view(bool), np.arange(200.0)
    ours = xp.asarray(mine.copy())
    assert np.array_equal(np.asarray(ours[xp.asarray(mask)]), mine[odd != 0])
    ours[xp.asarray(mask)] = ours[xp.asarray(mask)] * 2
    mine[odd != 0] *= 2
    assert np.array_equal(np.asarray(ours), mine)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(300,), (7, 129), (40_000,), (300, 301)])
def test_numbers_that_are_not_zero_are_found_and_counted(dtype, shape):
    rng = np.random.default_rng(9)
    for _ in range(6):
        mask = make_mask(rng, shape)
        mine = rng.integers(1, 100, shape).astype(dtype) * mask
        for key in (..., slice(None, None, -1), slice(1, None, 3)):
            ours, numpys = xp.asarray(mine)[key], mine[key]
            for found, expected in zip(xp.nonzero(ours), numpys.nonzero(), strict=True):
                np.testing.assert_array_equal(np.asarray(found), expected, strict=True)
            turned, expected = xp.permute_dims(ours, range(ours.ndim)[::-1]), numpys.T.nonzero()
            np.testing.assert_array_equal(np.asarray(xp.nonzero(turned)[0]), expected[0])
            for axis in (None, 0, -1):
                assert np.array_equal(
                    np.asarray(xp.count_nonzero(ours, axis=axis)),
                    np.count_nonzero(numpys, axis=axis),
                )
                for name in ("any", "all"):
                    found = getattr(xp, name)(ours, axis=axis)
                    assert np.array_equal(np.asarray(found), getattr(np, name)(numpys, axis=axis))


@pytest.mark.parametrize("count", [0, 10, 20_000, 200_000, 400_000])
@pytest.mark.parametrize("shape", [(400_000,), (800, 500)])
def test_sparse_and_dense_masks_of_large_arrays(count, shape):
    rng = np.random.default_rng(1)
    mine, mask = rng.random(shape), np.zeros(shape, bool)
    mask.reshape(-1)[rng.choice(mask.size, count, replace=False)] = True
    ours, chosen = xp.asarray(mine, copy=True), xp.asarray(mask, copy=True)
    assert np.array_equal(np.asarray(ours[chosen]), mine[mask])
    for found, expected in zip(xp.nonzero(chosen), mask.nonzero(), strict=True):
        assert np.array_equal(np.asarray(found), expected)
    ours[chosen] *= 2
    mine[mask] *= 2
    assert np.array_equal(np.asarray(ours), mine)
    ours[chosen] = 7
    mine[mask] = 7
    assert np.array_equal(np.asarray(ours), mine)
    # Values of another number are NumPy's to refuse.
    with pytest.raises((ValueError, IndexError)):
        ours[chosen] = xp.zeros(count + 2)
