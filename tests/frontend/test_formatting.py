import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import array_api_nx as xp
from array_api_nx.core import dtypes
from tests.support.arrays import as_nx
from tests.support.refusals import refused


class TestRepr:
    @pytest.mark.parametrize(
        ("array", "text"),
        [
            (np.array([[1.0, 2.0], [3.0, 4.5]]),
             "Array([[1. , 2. ],\n       [3. , 4.5]], dtype=float64)"),
            (np.array([1, 2], dtype="int8"), "Array([1, 2], dtype=int8)"),
            (np.array([True, False]), "Array([ True, False], dtype=bool)"),
            (np.array(1 + 2j, dtype="complex64"), "Array(1.+2.j, dtype=complex64)"),
            (np.array(3, dtype="uint64"), "Array(3, dtype=uint64)"),
            (np.array([np.nan, -np.inf]), "Array([ nan, -inf], dtype=float64)"),
            (np.zeros(0), "Array([], dtype=float64)"),
            (np.zeros((0, 3), dtype="int64"), "Array([], shape=(0, 3), dtype=int64)"),
        ],
        ids=str,
    )  # fmt: skip
    def test_shows_elements_and_dtype(self, array, text):
        assert repr(as_nx(array)) == text

    def test_large_arrays_are_abbreviated_and_show_their_shape(self):
        assert repr(xp.arange(2000)) == (
            "Array([   0,    1,    2, ..., 1997, 1998, 1999],\n      shape=(2000,), dtype=int64)"
        )
        assert len(repr(xp.zeros((1000, 1000)))) < 1000

    @given(
        array=hnp.arrays(
            st.sampled_from([str(dtype) for dtype in dtypes.ALL]),
            hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=30),
            fill=st.just(1),
        )
    )
    def test_evaluates_to_the_array_unless_abbreviated(self, array):
        text = repr(as_nx(array))
        assert max(map(len, text.split("\n"))) <= np.get_printoptions()["linewidth"]
        if array.size > np.get_printoptions()["threshold"]:
            assert "..." in text
            assert f"shape={array.shape}" in text
            return

        def read(values, dtype, shape=None):
            result = np.array(values, dtype)
            return result if shape is None else result.reshape(shape)

        names = {str(dtype): str(dtype) for dtype in dtypes.ALL}
        parts = {"nan": np.nan, "inf": np.inf, "nanj": np.nan * 1j, "infj": np.inf * 1j}
        result = eval(text, {"Array": read, **parts, **names})
        assert result.dtype == array.dtype
        assert result.shape == array.shape
        if array.dtype.kind in "biu":
            assert np.array_equal(result, array)

    def test_a_long_last_line_breaks_before_the_dtype(self):
        text = repr(xp.asarray([1.0] * 17))
        assert text.endswith("],\n      dtype=float64)")

    def test_names_a_device_that_is_not_the_default(self):
        x = as_nx([1, 2])
        x = x.to_device("test:1")
        assert repr(x) == "Array([1, 2], dtype=int64, device='test:1')"

    def test_follows_the_print_options(self):
        with np.printoptions(precision=2, threshold=3):
            assert repr(as_nx([0.123456])) == "Array([0.12], dtype=float64)"
            assert "..." in repr(xp.zeros(10))

    def test_does_not_let_the_text_depend_on_the_layout(self):
        x = as_nx([[1, 2], [3, 4]])
        assert repr(x.T[::-1, :]) == "Array([[2, 4],\n       [1, 3]], dtype=int64)"


class TestStr:
    @pytest.mark.parametrize(
        ("array", "text"),
        [
            (np.array([[1.0, 2.0], [3.0, 4.5]]), "[[1.  2. ]\n [3.  4.5]]"),
            (np.array(1.5), "1.5"),
            (np.array(0.1, dtype="float32"), "0.1"),
            (np.array(True), "True"),
            (np.zeros((0, 2)), "[]"),
            (np.arange(2000), "[   0    1    2 ... 1997 1998 1999]"),
        ],
        ids=str,
    )
    def test_shows_the_elements_alone(self, array, text):
        assert str(as_nx(array)) == text
        assert format(as_nx(array)) == text


class TestFormat:
    @pytest.mark.parametrize(
        ("value", "spec", "text"),
        [(1.23456, ".2f", "1.23"), (255, "x", "ff"), (7, "3d", "  7"), (1 + 2j, ".1f", "1.0+2.0j")],
    )
    def test_a_0d_array_formats_as_its_scalar(self, value, spec, text):
        assert format(as_nx(value), spec) == text
        assert f"{as_nx(value):{spec}}" == text

    @pytest.mark.parametrize("shape", [(1,), (2, 2), (0,)])
    def test_other_arrays_take_no_spec(self, shape):
        with pytest.raises(TypeError, match=r"format '\.2f' is for scalars.*one by one"):
            format(xp.ones(shape), ".2f")

    def test_a_spec_of_another_type_is_refused(self):
        refused(ValueError, "format code 'd'", format, as_nx(1.5), "d")
