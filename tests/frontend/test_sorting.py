from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import array_api_nx as xp
from tests.support.arrays import as_nx
from tests.support.refusals import refused


def stable_order(values, descending):
    """Positions in sorted order, ties in the order given, NaN last: by Python's own sort."""
    numbers = [i for i, value in enumerate(values) if value == value]
    numbers.sort(key=lambda i: -values[i] if descending else values[i])
    return numbers + [i for i, value in enumerate(values) if value != value]


ARRAYS = hnp.arrays(
    st.sampled_from(["bool", "int8", "uint64", "float32", "float64"]),
    hnp.array_shapes(max_dims=3, max_side=6),
    elements=st.integers(0, 1),
) | hnp.arrays(
    "float64",
    hnp.array_shapes(max_dims=2, max_side=8),
    elements=st.sampled_from([nan, inf, -inf, 0.0, -0.0, 1.0, -1.0]),
)


class TestSortAndArgsort:
    @given(array=ARRAYS, descending=st.booleans(), stable=st.booleans(), data=st.data())
    def test_sorted_and_consistent(self, array, descending, stable, data):
        axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
        x = as_nx(array)
        values = xp.sort(x, axis=axis, descending=descending, stable=stable)
        indices = xp.argsort(x, axis=axis, descending=descending, stable=stable)
        assert values.dtype is x.dtype
        assert indices.dtype is xp.int64
        assert values.shape == indices.shape == x.shape
        ordered = np.take_along_axis(array, np.asarray(indices), axis)
        np.testing.assert_array_equal(np.asarray(values), ordered)
        for lane, got in zip(
            np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis]),
            np.moveaxis(np.asarray(indices), axis, -1).reshape(-1, array.shape[axis]),
            strict=True,
        ):
            expected = stable_order(lane.tolist(), descending)
            if stable:
                assert got.tolist() == expected
            else:
                np.testing.assert_array_equal(lane[got], lane[expected])

    @pytest.mark.parametrize("n", [10, 5000])
    @pytest.mark.parametrize("descending", [False, True])
    def test_stable_sort_keeps_the_order_of_signed_zeros(self, n, descending):
        array = np.random.default_rng(0).choice([0.0, -0.0, 1.0, -1.0], n)
        x = as_nx(array)
        values = np.asarray(xp.sort(x, descending=descending))
        ordered = array[np.asarray(xp.argsort(x, descending=descending))]
        assert values.tobytes() == ordered.tobytes()

    @pytest.mark.parametrize("function", [xp.sort, xp.argsort])
    def test_refuses_bad_arguments(self, function):
        refused(IndexError, "axis 1 is out of range for 1 dimensions", function, xp.ones(2), axis=1)
        refused(IndexError, "0-dimensional", function, xp.ones(()))
        with pytest.raises(TypeError, match="not complex128; convert with astype"):
            function(xp.ones(2, dtype=xp.complex128))
        refused(TypeError, "asarray", function, [2, 1])
