from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import array_api_nx as xp
from tests.support.arrays import as_nx
from tests.support.refusals import refused
from tests.support.tables import for_each

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATING = ("float32", "float64", "complex64", "complex128")
REDUCTIONS = (xp.sum, xp.prod, xp.max, xp.min, xp.mean, xp.var, xp.std)


@st.composite
def reductions(draw):
    """An array of no empty axis, axes of it in one of the spellings, and keepdims."""
    array = draw(
        hnp.arrays(
            st.sampled_from(["bool", "int16", "uint8", "int64", "float64"]),
            hnp.array_shapes(min_dims=0, max_dims=4, max_side=4),
            elements=st.integers(0, 1),
        )
    )
    positions = st.integers(-array.ndim, array.ndim - 1)
    one = positions if array.ndim else st.nothing()
    several = st.lists(one, unique_by=lambda a: a % array.ndim).map(tuple)
    return array, draw(st.none() | one | several), draw(st.booleans())


class TestReductions:
    @pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std"])
    @given(case=reductions())
    def test_agrees_with_numpy(self, name, case):
        array, axis, keepdims = case
        x = as_nx(array)
        expected = getattr(np, name)(array, axis=axis, keepdims=keepdims)
        result = getattr(xp, name)(x, axis=axis, keepdims=keepdims)
        assert result.dtype.name == expected.dtype.name
        assert result.shape == expected.shape
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-15)

    @pytest.mark.parametrize("function", REDUCTIONS)
    def test_no_axes_reduce_nothing(self, function):
        x = as_nx(np.array([[1.0, 2.0], [3.0, 4.0]]))
        result = function(x, axis=())
        expected = np.zeros((2, 2)) if function in (xp.var, xp.std) else np.asarray(x)
        assert np.array_equal(np.asarray(result), expected)

    @for_each("function", REDUCTIONS)
    @for_each("value", [np.ones(3), [1.0, 2.0], 1.0, None])
    @xp.config_context(operands="strict")
    def test_refuses_what_is_no_array(self, function, value):
        refused(TypeError, r"asarray\(\.\.\.\)", function, value)

    @pytest.mark.parametrize("function", REDUCTIONS)
    def test_takes_numpy_scalars(self, function):
        result = function(np.float64(2.5))
        assert result.shape == ()
        assert result.dtype is xp.float64
        assert float(result) == (0.0 if function in (xp.var, xp.std) else 2.5)


class TestSumAndProd:
    @pytest.mark.parametrize("function", [xp.sum, xp.prod, xp.cumulative_sum, xp.cumulative_prod])
    def test_default_dtypes(self, function):
        expected = dict.fromkeys(("bool", *SIGNED), xp.int64) | dict.fromkeys(UNSIGNED, xp.uint64)
        expected |= {name: getattr(xp, name) for name in FLOATING}
        for name, dtype in expected.items():
            result = function(xp.ones(3, dtype=getattr(xp, name)))
            assert result.dtype is dtype

    def test_accumulates_in_the_wide_dtype(self):
        x = xp.full(300, 100, dtype=xp.int8)
        assert int(xp.sum(x)) == 30_000
        assert int(xp.cumulative_sum(x)[-1]) == 30_000
        assert int(xp.prod(xp.full(5, 200, dtype=xp.uint8))) == 200**5

    @pytest.mark.parametrize(("dtype", "expected"), [(float, xp.float64), (int, xp.int64)])
    def test_dtype_may_be_a_python_type(self, dtype, expected):
        result = xp.sum(xp.ones(3, dtype=xp.int8), dtype=dtype)
        assert result.dtype is expected
        assert result == 3

    def test_converts_before_adding(self):
        x = as_nx(np.array([0.5, 0.5, 2.5]))
        assert int(xp.sum(x, dtype=xp.int64)) == 2
        assert int(xp.cumulative_sum(x, dtype=xp.int64)[-1]) == 2
        assert float(xp.sum(as_nx(np.array([2**24, 1], dtype="float32")), dtype=xp.float64)) == (
            2**24 + 1
        )

    @pytest.mark.parametrize("function", [xp.sum, xp.prod, xp.cumulative_sum, xp.cumulative_prod])
    def test_refuses_dtypes_that_lose_or_do_not_add(self, function):
        with pytest.raises(TypeError, match=r"imaginary parts.*real\("):
            function(xp.ones(2, dtype=xp.complex64), dtype=xp.float64)
        with pytest.raises(TypeError, match="in a numeric dtype, not bool; convert the result"):
            function(xp.ones(2), dtype=xp.bool)
        refused(TypeError, r"not dtype\('O'\)", function, xp.ones(2), dtype=np.dtype("O"))


class TestExtremes:
    @pytest.mark.parametrize("function", [xp.max, xp.min])
    def test_complex_numbers_have_no_order(self, function):
        refused(TypeError, "complex64", function, xp.ones(2, dtype=xp.complex64))


class TestMeanAndVariance:
    @pytest.mark.parametrize("function", [xp.mean, xp.var, xp.std])
    def test_dtypes(self, function):
        for name in ("bool", *SIGNED, *UNSIGNED):
            result = function(xp.ones(3, dtype=getattr(xp, name)))
            assert result.dtype is xp.float64
        for name, spread in (("float32", "float32"), ("complex64", "float32")):
            result = function(xp.ones(3, dtype=getattr(xp, name)))
            assert result.dtype.name == (name if function is xp.mean else spread)

    @pytest.mark.parametrize("function", [xp.mean, xp.var, xp.std])
    def test_of_no_elements_is_nan(self, function):
        result = np.asarray(function(xp.zeros((0, 3)), axis=0))
        assert result.shape == (3,)
        assert np.isnan(result).all()

    def test_mean_keeps_complex_parts_apart(self):
        x = as_nx(np.array([complex(inf, 1), complex(2, 3)]))
        assert complex(xp.mean(x)) == complex(inf, 2)
        result = complex(xp.mean(as_nx(np.array([complex(nan, 1), complex(2, 3)]))))
        assert np.isnan(result.real)
        assert result.imag == 2
        rows = xp.mean(as_nx(np.array([[1j, 3j], [2 + 0j, 4 + 2j]])), axis=1)
        assert np.array_equal(np.asarray(rows), [2j, 3 + 1j])

    def test_variance_of_complex_numbers_is_real(self):
        array = np.array([1 + 2j, 3 - 1j, -2j])
        result = xp.var(as_nx(array))
        assert result.dtype is xp.float64
        assert float(result) == pytest.approx(np.var(array), rel=1e-15)

    @pytest.mark.parametrize("correction", [0, 1, 0.5, 2.75, np.float64(1.0), np.int64(2)])
    def test_correction(self, correction):
        array = np.array([[1.0, 2.0, 4.0, 8.0], [0.0, 0.0, 1.0, 1.0]])
        expected = np.var(array, axis=1, ddof=correction)
        x = as_nx(array)
        np.testing.assert_allclose(
            np.asarray(xp.var(x, axis=1, correction=correction)), expected, rtol=1e-15
        )
        np.testing.assert_allclose(
            np.asarray(xp.std(x, axis=1, correction=correction)), np.sqrt(expected), rtol=1e-15
        )

    @pytest.mark.parametrize("correction", [3, 3.5, 100])
    def test_no_degrees_of_freedom_are_nan(self, correction):
        x = as_nx(np.array([1.0, 2.0, 4.0]))
        assert np.isnan(float(xp.var(x, correction=correction)))
        assert np.isnan(float(xp.std(x, correction=correction)))

    @pytest.mark.parametrize("correction", ["one", None, 1j])
    def test_refuses_a_correction_that_is_no_number(self, correction):
        with pytest.raises(TypeError, match=r"correction must be an int or a float.*float\(\)"):
            xp.var(xp.ones(3), correction=correction)


class TestCumulative:
    @given(
        array=hnp.arrays(
            st.sampled_from(["int8", "uint32", "float64"]),
            hnp.array_shapes(max_dims=3, max_side=4, min_side=0),
            elements=st.integers(0, 3),
        ),
        include_initial=st.booleans(),
        data=st.data(),
    )
    def test_agrees_with_numpy(self, array, include_initial, data):
        axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
        for ours, theirs in (
            (xp.cumulative_sum, np.cumulative_sum),
            (xp.cumulative_prod, np.cumulative_prod),
        ):
            result = ours(as_nx(array), axis=axis, include_initial=include_initial)
            expected = theirs(array, axis=axis, include_initial=include_initial)
            assert result.dtype.name == expected.dtype.name
            assert np.array_equal(np.asarray(result), expected)

    def test_axis_may_be_left_out_for_one_dimension(self):
        x = as_nx(np.array([1, 2, 3]))
        assert np.array_equal(np.asarray(xp.cumulative_sum(x)), [1, 3, 6])
        result = xp.cumulative_sum(x, include_initial=True, dtype=xp.float32)
        assert result.dtype is xp.float32
        assert np.array_equal(np.asarray(result), [0, 1, 3, 6])
        result = xp.cumulative_prod(x, include_initial=True)
        assert np.array_equal(np.asarray(result), [1, 1, 2, 6])


def test_sums_of_many_halves_are_of_the_dtype_asked_for():
    x = xp.full(100_000, 2, dtype=xp.float16)
    for dtype in (xp.float32, xp.float64):
        for found in (xp.sum(x, dtype=dtype), xp.sum(x, axis=0, dtype=dtype)):
            assert found.dtype == dtype
            assert float(found) == 200_000
