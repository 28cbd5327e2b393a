"""searchsorted in C, in arrays of any size, with a sorter and without."""

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face

SIZES = (1, 7, 1000, 100_000)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_few_values_in_arrays_of_any_size(size, dtype, side):
    rng = np.random.default_rng(size)
    x = np.sort((rng.normal(size=size) * 100).astype(dtype))
    order = rng.permutation(size)
    apart, sorter = x[order], np.argsort(order)
    for count in (1, 3, 90):
        values = rng.choice(x, count)
        expected = x.searchsorted(values, side)
        for array, indices in ((x, None), (apart, sorter), (np.repeat(apart, 2)[::2], sorter)):
            given = None if indices is None else face.asarray(indices)
            found = face.searchsorted(face.asarray(array), face.asarray(values), side, sorter=given)
            np.testing.assert_array_equal(np.asarray(found), expected)
            # Indices of another dtype, or apart from one another, sort as well.
            if indices is not None:
                narrow = face.asarray(indices.astype(np.int32))
                wide = face.asarray(np.repeat(indices, 2))[::2]
                for other in (narrow, wide):
                    found = face.searchsorted(
                        face.asarray(array), face.asarray(values), side, sorter=other
                    )
                    np.testing.assert_array_equal(np.asarray(found), expected)


def test_nan_comes_last_behind_a_sorter():
    x = np.array([np.nan, 2.0, -np.inf, np.nan, 5.0])
    sorter = np.argsort(x)
    values = np.array([np.nan, 3.0, np.inf, -np.inf])
    for side in ("left", "right"):
        found = face.searchsorted(
            face.asarray(x), face.asarray(values), side, sorter=face.asarray(sorter)
        )
        np.testing.assert_array_equal(np.asarray(found), x.searchsorted(values, side, sorter))


@pytest.mark.parametrize("bad", [-4, 3, 2**40])
def test_indices_of_a_sorter_out_of_range_are_refused(bad):
    sorter = [bad, bad, bad]
    with pytest.raises(IndexError):
        xp.searchsorted(xp.asarray([1, 2, 3]), xp.asarray([2]), sorter=xp.asarray(sorter))
    with pytest.raises(ValueError, match="out of range"):
        face.searchsorted(face.asarray([1, 2, 3]), [2], sorter=face.asarray(sorter))
