from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import array_api_nx as xp
from array_api_nx.core import dtypes
from tests.support.arrays import as_nx, assert_array
from tests.support.refusals import refused
from tests.support.tables import for_each


class TestArgMaxAndArgMin:
    @given(
        array=hnp.arrays(
            "float64",
            hnp.array_shapes(max_dims=3, max_side=4),
            elements=st.sampled_from([0.0, 1.0, -1.0, inf, nan]),
        ),
        keepdims=st.booleans(),
        data=st.data(),
    )
    def test_agrees_with_numpy(self, array, keepdims, data):
        axis = data.draw(st.none() | st.integers(-array.ndim, array.ndim - 1))
        for ours, theirs in ((xp.argmax, np.argmax), (xp.argmin, np.argmin)):
            result = ours(as_nx(array), axis=axis, keepdims=keepdims)
            expected = theirs(array, axis=axis, keepdims=keepdims)
            assert_array(result, expected)

    @pytest.mark.parametrize("function", [xp.argmax, xp.argmin])
    def test_refuses_bad_arguments(self, function):
        refused(ValueError, r"no elements.*x\.size", function, xp.zeros((0, 2)))
        refused(IndexError, "axis 3 is out of range", function, xp.ones(2), axis=3)
        refused(TypeError, "complex64", function, xp.ones(2, dtype=xp.complex64))


class TestNonzero:
    @pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
    def test_every_dtype(self, dtype):
        x = xp.astype(as_nx([[0, 1, 0], [2, 0, 3]]), dtype)
        rows, columns = xp.nonzero(x)
        assert rows.dtype is columns.dtype is xp.int64
        assert np.asarray(rows).tolist() == [0, 1, 1]
        assert np.asarray(columns).tolist() == [1, 0, 2]
        assert int(xp.count_nonzero(x)) == 3
        counts = xp.count_nonzero(x, axis=1, keepdims=True)
        assert counts.dtype is xp.int64
        assert np.asarray(counts).tolist() == [[1], [2]]

    def test_nan_counts_and_negative_zero_does_not(self):
        x = as_nx([nan, -0.0, complex(0, nan)])
        assert int(xp.count_nonzero(x)) == 2

    @given(
        array=hnp.arrays(
            "int8", hnp.array_shapes(max_dims=3, min_side=0), elements=st.integers(0, 1)
        ),
        keepdims=st.booleans(),
        data=st.data(),
    )
    def test_count_agrees_with_numpy(self, array, keepdims, data):
        axes = data.draw(st.none() | st.sets(st.integers(0, array.ndim - 1)).map(tuple))
        result = xp.count_nonzero(as_nx(array), axis=axes, keepdims=keepdims)
        expected = np.asarray(np.sum(array != 0, axis=axes, keepdims=keepdims))
        assert_array(result, expected)

    def test_a_0d_array_is_refused(self):
        refused(ValueError, r"reshape\(x, \(1,\)\)", xp.nonzero, xp.ones(()))


class TestSearchsorted:
    @given(
        values=hnp.arrays(
            "float64", st.integers(0, 8), elements=st.sampled_from([-inf, -1.0, 0.0, 1.0, inf, nan])
        ),
        queries=hnp.arrays(
            "float64",
            hnp.array_shapes(min_dims=0, max_dims=2, min_side=0),
            elements=st.sampled_from([-inf, -1.0, -0.5, 0.0, 2.0, inf, nan]),
        ),
        side=st.sampled_from(["left", "right"]),
    )
    def test_agrees_with_numpy(self, values, queries, side):
        expected = np.searchsorted(np.sort(values), queries, side)
        x = as_nx(values)
        for result in (
            xp.searchsorted(xp.sort(x), as_nx(queries), side=side),
            xp.searchsorted(x, as_nx(queries), side=side, sorter=xp.argsort(x)),
        ):
            assert result.dtype is xp.int64
            assert result.shape == queries.shape
            assert np.array_equal(np.asarray(result), expected)

    def test_scalars(self):
        x = as_nx([1, 2, 2, 3], "int8")
        beyond = ((300, 4, 4), (-300, 0, 0))
        for value, left, right in (
            *[(2, 1, 3), (2.5, 3, 3), (0, 0, 0), (np.float64(9.0), 4, 4)], *beyond
        ):  # fmt: skip
            for side, expected in (("left", left), ("right", right)):
                result = xp.searchsorted(x, value, side=side)
                assert result.shape == ()
                assert int(result) == expected

    def test_mixed_dtypes_are_promoted(self):
        result = xp.searchsorted(as_nx([1, 2, 3], "uint8"), as_nx([-1.0, 2.5]))
        assert np.asarray(result).tolist() == [0, 2]
        result = xp.searchsorted(as_nx([-5, 0, 200], "int16"), as_nx([200], "uint8"))
        assert np.asarray(result).tolist() == [2]

    def test_the_sorter_may_have_any_integer_dtype(self):
        result = xp.searchsorted(as_nx([3, 1, 2]), as_nx([2]), sorter=as_nx([1, 2, 0], "uint8"))
        assert np.asarray(result).tolist() == [1]

    def test_refuses_bad_arguments(self):
        x = as_nx([1, 2, 3])
        refused(ValueError, "'left' or 'right', not 'middle'", xp.searchsorted, x, x, side="middle")
        with pytest.raises(ValueError, match=r"1-dimensional x1, not shape \(1, 3\).*reshape"):
            xp.searchsorted(xp.reshape(x, (1, 3)), x)
        refused(ValueError, "one index per element", xp.searchsorted, x, x, sorter=as_nx([0, 1]))
        refused(TypeError, "integer indices, not float64", xp.searchsorted, x, x, sorter=xp.ones(3))
        refused(IndexError, None, xp.searchsorted, x, x, sorter=as_nx([0, 1, 3]))
        refused(TypeError, "complex128", xp.searchsorted, x, 1j)
        refused(TypeError, "x1 must be an array_api_nx array, not an int", xp.searchsorted, 1, x)


class TestWhere:
    @given(
        shapes=hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, min_side=0),
        names=st.tuples(*[st.sampled_from([str(dtype) for dtype in dtypes.ALL])] * 2),
        data=st.data(),
    )
    def test_agrees_with_numpy(self, shapes, names, data):
        c_shape, *rest = shapes.input_shapes
        condition = data.draw(hnp.arrays("bool", c_shape))
        first, second = (
            data.draw(hnp.arrays(name, shape, elements=st.integers(0, 1)))
            for name, shape in zip(names, rest, strict=True)
        )
        result = xp.where(as_nx(condition), as_nx(first), as_nx(second))
        expected = np.where(condition, first, second)
        assert_array(result, expected)

    @for_each("dtype", dtypes.ALL)
    @pytest.mark.parametrize("scalar", [True, 1, 1.5, 2j, np.float32(0.5), np.int8(3)])
    def test_an_array_and_a_scalar(self, dtype, scalar):
        condition = as_nx([True, False])
        x = xp.ones(2, dtype=dtype)
        expected = xp.result_type(x, scalar if not isinstance(scalar, np.generic) else (
            getattr(xp, scalar.dtype.name)
        ))  # fmt: skip
        for result, position in ((xp.where(condition, scalar, x), 0),
                                 (xp.where(condition, x, scalar), 1)):  # fmt: skip
            assert result.dtype is expected
            assert np.asarray(result)[position] == scalar
            assert np.asarray(result)[1 - position] == 1

    @pytest.mark.parametrize(
        ("first", "second", "dtype"),
        [
            (True, False, xp.bool),
            (True, 2, xp.int64),
            (1, 2, xp.int64),
            (0.0, 1, xp.float64),
            (1.5, True, xp.float64),
            (1, 2j, xp.complex128),
            (np.float32(1), np.float32(2), xp.float32),
            (np.float32(1), 2, xp.float32),
        ],
    )
    def test_two_scalars(self, first, second, dtype):
        result = xp.where(as_nx([[True], [False]]), first, second)
        assert result.dtype is dtype
        assert np.asarray(result).tolist() == [[first], [second]]

    def test_takes_a_numpy_condition_scalar(self):
        assert int(xp.where(np.bool_(False), as_nx(1), 2)) == 2

    @xp.config_context(operands="strict")
    def test_refuses_bad_conditions(self):
        x = xp.ones(2)
        refused(TypeError, r"bool array, not float64.*condition != 0", xp.where, x, x, x)
        with pytest.raises(TypeError, match="condition must be an array_api_nx array, not a bool"):
            xp.where(True, x, x)
        with pytest.raises(TypeError, match=r"condition must be .* not a numpy ndarray"):
            xp.where(np.ones(2, dtype=bool), x, x)

    @xp.config_context(operands="strict")
    def test_refuses_bad_choices(self):
        condition = as_nx([True, False])
        refused(TypeError, "x1 must be", xp.where, condition, [1, 2], xp.ones(2))
        refused(TypeError, "x2 must be", xp.where, condition, xp.ones(2), np.ones(2))
        three = xp.ones(3)
        for x1, x2 in ((three, three), (three, 1), (1, three), (np.float64(1), three)):
            refused(ValueError, r"\(2,\).* cannot be broadcast", xp.where, condition, x1, x2)
        with pytest.raises(OverflowError, match="300 is out of range for dtype uint8"):
            xp.where(condition, as_nx([1, 2], "uint8"), 300)
        refused(OverflowError, "out of range for dtype int64", xp.where, condition, 2**63, 0)
