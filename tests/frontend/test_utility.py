from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import array_api_nx as xp
from array_api_nx.core import dtypes
from tests.support.arrays import as_nx, assert_array
from tests.support.refusals import refused


class TestAnyAndAll:
    @pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
    def test_every_dtype(self, dtype):
        x = xp.astype(as_nx([[0, 0], [0, 1], [2, 3]]), dtype)
        for result, expected in (
            (xp.any(x, axis=1), [False, True, True]),
            (xp.all(x, axis=1), [False, False, True]),
        ):
            assert result.dtype is xp.bool
            assert np.array_equal(np.asarray(result), expected)
        assert bool(xp.any(x)) is True
        assert bool(xp.all(x)) is False

    @pytest.mark.parametrize("value", [nan, complex(nan, 0), 1j, float("-inf"), 5e-324])
    def test_what_is_not_zero_is_true(self, value):
        assert bool(xp.any(as_nx([value])))
        assert bool(xp.all(as_nx([value])))

    def test_negative_zero_is_false(self):
        assert not bool(xp.any(as_nx([-0.0, complex(-0.0, -0.0)])))

    @given(
        array=hnp.arrays(
            "int8", hnp.array_shapes(min_dims=1, max_dims=3), elements=st.integers(0, 1)
        ),
        keepdims=st.booleans(),
        data=st.data(),
    )
    def test_agrees_with_numpy(self, array, keepdims, data):
        axes = data.draw(st.sets(st.integers(0, array.ndim - 1)).map(tuple))
        for ours, theirs in ((xp.any, np.any), (xp.all, np.all)):
            result = ours(as_nx(array), axis=axes, keepdims=keepdims)
            expected = theirs(array, axis=axes, keepdims=keepdims)
            assert result.shape == expected.shape
            assert np.array_equal(np.asarray(result), expected)

    @pytest.mark.parametrize("function", [xp.any, xp.all])
    def test_refuses_lists(self, function):
        refused(TypeError, r"asarray\(\.\.\.\)", function, [True])


class TestDiff:
    @given(
        array=hnp.arrays(
            st.sampled_from(["bool", "uint8", "int64", "float64", "complex128"]),
            hnp.array_shapes(max_dims=3, max_side=5, min_side=0),
            elements=st.integers(0, 1),
        ),
        n=st.integers(0, 6),
        data=st.data(),
    )
    def test_agrees_with_numpy(self, array, n, data):
        axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
        result = xp.diff(as_nx(array), axis=axis, n=n)
        expected = np.diff(array, axis=axis, n=n)
        assert_array(result, expected)

    def test_prepend_and_append(self):
        x = as_nx([[1, 2], [5, 7]])
        front, back = as_nx([[0], [0]]), as_nx([[10, 20], [30, 40]])
        result = xp.diff(x, prepend=front, append=back)
        assert np.array_equal(np.asarray(result), [[1, 1, 8, 10], [5, 2, 23, 10]])
        result = xp.diff(x, axis=0, append=as_nx([[6, 6]]))
        assert np.array_equal(np.asarray(result), [[4, 5], [1, -1]])
        assert xp.diff(x, n=0, prepend=front).shape == (2, 3)

    def test_promotes_what_is_joined(self):
        result = xp.diff(as_nx([1, 2]), append=as_nx([2.5]))
        assert result.dtype is xp.float64
        assert np.array_equal(np.asarray(result), [1.0, 0.5])

    def test_refuses_bad_arguments(self):
        x = xp.ones((2, 3))
        refused(ValueError, "n=-1 times; give an n of at least 0", xp.diff, x, n=-1)
        refused(TypeError, r"n must be an int, not 1\.5", xp.diff, x, n=1.5)
        refused(IndexError, "axis 2 is out of range", xp.diff, x, axis=2)
        refused(IndexError, "0-dimensional", xp.diff, xp.ones(()))
        with pytest.raises(ValueError, match=r"shapes are \(3, 1\) and \(2, 3\)"):
            xp.diff(x, prepend=xp.ones((3, 1)))
        refused(TypeError, "asarray", xp.diff, x, append=0)
