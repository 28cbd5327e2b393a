import pickle
from math import nan

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import array_api_nx as xp
from array_api_nx.core import dtypes
from tests.support.arrays import as_nx
from tests.support.refusals import refused
from tests.support.tables import for_each

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
REAL = st.sampled_from([-1.0, -0.0, 0.0, 1.0, 2.0, nan])
COMPLEX = st.sampled_from([0j, complex(-0.0, -0.0), 1j, 1 + 1j, complex(nan, 1), complex(0, nan)])
INTEGERS = st.integers(0, 3)
ARRAYS = st.one_of(
    hnp.arrays(st.sampled_from(["float32", "float64"]), SHAPES, elements=REAL),
    hnp.arrays("complex128", SHAPES, elements=COMPLEX),
    hnp.arrays(st.sampled_from(["int8", "int64", "uint64"]), SHAPES, elements=INTEGERS),
    hnp.arrays("bool", SHAPES),
)


class TestUnique:
    @given(array=ARRAYS)
    def test_values_indices_inverse_and_counts(self, array):
        x = as_nx(array)
        values, indices, inverse, counts = map(np.asarray, xp.unique_all(x))
        flat = array.reshape(-1).tolist()
        distinct = []
        for value in flat:
            if value not in distinct:  # a NaN is in no list unless it is the same object
                distinct.append(value)
        numbers = [value for value in distinct if value == value]
        nans = sum(value != value for value in flat)
        assert values.dtype == array.dtype
        assert values.shape == indices.shape == counts.shape == (len(numbers) + nans,)
        assert indices.dtype == inverse.dtype == counts.dtype == np.int64
        for value, first, count in zip(values.tolist(), indices, counts, strict=True):
            if value == value:
                assert flat.index(value) == first
                assert flat.count(value) == count
            else:
                assert flat[first] != flat[first]
                assert count == 1
        assert inverse.shape == array.shape
        np.testing.assert_array_equal(values[inverse], array)

    @given(array=ARRAYS)
    @example(array=np.full((2, 3, 7), nan))
    @example(array=np.where(np.arange(60) % 3, nan, np.arange(60.0) % 7).astype(np.float32))
    def test_the_parts_agree_with_the_whole(self, array):
        x = as_nx(array)
        whole = xp.unique_all(x)
        values, counts = xp.unique_counts(x)
        np.testing.assert_array_equal(np.asarray(values), np.asarray(whole.values))
        np.testing.assert_array_equal(np.asarray(counts), np.asarray(whole.counts))
        values, inverse = xp.unique_inverse(x)
        np.testing.assert_array_equal(np.asarray(values), np.asarray(whole.values))
        np.testing.assert_array_equal(np.asarray(inverse), np.asarray(whole.inverse_indices))
        values = xp.unique_values(x)
        assert values.dtype is x.dtype
        np.testing.assert_array_equal(np.asarray(values), np.asarray(whole.values))

    def test_results_have_the_names_of_the_standard(self):
        x = as_nx([1])
        assert xp.unique_all(x)._fields == ("values", "indices", "inverse_indices", "counts")
        assert xp.unique_counts(x)._fields == ("values", "counts")
        assert xp.unique_inverse(x)._fields == ("values", "inverse_indices")

    def test_results_pickle(self):
        result = pickle.loads(pickle.dumps(xp.unique_counts(as_nx([2, 2, 1]))))
        assert np.asarray(result.counts).tolist() == [1, 2]

    @pytest.mark.parametrize(
        "function", [xp.unique_all, xp.unique_counts, xp.unique_inverse, xp.unique_values]
    )
    def test_refuses_lists(self, function):
        refused(TypeError, r"asarray\(\.\.\.\)", function, [1, 1])


class TestIsin:
    @given(first=ARRAYS, second=ARRAYS, invert=st.booleans())
    def test_membership_is_equality(self, first, second, invert):
        result = xp.isin(as_nx(first), as_nx(second), invert=invert)
        equal = first[..., None] == second.reshape(-1)
        assert result.dtype is xp.bool
        assert result.shape == first.shape
        assert np.array_equal(np.asarray(result), equal.any(axis=-1) != invert)

    @for_each("invert", [False, True])
    @for_each("dtype", dtypes.ALL)
    def test_scalars_on_either_side(self, dtype, invert):
        x = xp.astype(as_nx([[0, 1], [1, 0]]), dtype)
        result = xp.isin(x, 1, invert=invert)
        assert np.array_equal(np.asarray(result), np.array([[0, 1], [1, 0]]) != invert)
        for value, expected in ((1, True), (0, True), (7, False), (np.int8(1), True)):
            result = xp.isin(value, x, invert=invert)
            assert result.shape == ()
            assert result.dtype is xp.bool
            assert bool(result) is (expected != invert)

    def test_scalars_out_of_range_are_nowhere(self):
        x = as_nx([0, 44], "uint8")  # 300 mod 256 is 44
        assert np.asarray(xp.isin(x, 300)).tolist() == [False, False]
        assert np.asarray(xp.isin(x, -1, invert=True)).tolist() == [True, True]
        assert not bool(xp.isin(300, x))

    def test_mixed_dtypes_compare_by_value(self):
        x = as_nx([-1, 2, 200], "int16")
        assert np.asarray(xp.isin(x, as_nx([255, 200], "uint8"))).tolist() == [False, False, True]
        x = as_nx([-1, 5], "int64")
        assert np.asarray(xp.isin(x, as_nx([2**64 - 1, 5], "uint64"))).tolist() == [False, True]
        assert np.asarray(xp.isin(x, as_nx([5.0, -1.5]))).tolist() == [False, True]

    def test_refuses_two_scalars_and_lists(self):
        refused(TypeError, "at least one argument must be an array", xp.isin, 1, 1)
        refused(TypeError, "x2 must be an array_api_nx array", xp.isin, xp.ones(2), [1, 2])
