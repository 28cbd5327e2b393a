"""The creation chapter: values against NumPy, dtypes, and arguments."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import array_api_nx as xp
from tests.support.alike import DTYPES
from tests.support.arrays import assert_array

shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
dtypes = st.sampled_from(DTYPES)


@pytest.mark.parametrize("name", ["zeros", "ones"])
@settings(max_examples=50)
@given(shape=shapes, dtype=dtypes)
def test_constants(name, shape, dtype):
    expected = getattr(np, name)(shape, dtype)
    ours = getattr(xp, dtype)
    assert_array(getattr(xp, name)(shape, dtype=ours), expected)
    assert_array(getattr(xp, f"{name}_like")(xp.empty(shape, dtype=ours)), expected)
    assert_array(getattr(xp, f"{name}_like")(xp.empty(shape), dtype=ours), expected)


@settings(max_examples=50)
@given(shape=shapes, dtype=dtypes)
def test_empty(shape, dtype):
    for x in (
        xp.empty(shape, dtype=getattr(xp, dtype)),
        xp.empty_like(xp.ones(shape), dtype=getattr(xp, dtype)),
        xp.empty_like(xp.ones(shape, dtype=getattr(xp, dtype))),
    ):
        assert (x.shape, str(x.dtype)) == (shape, dtype)
        x[...] = x


@settings(max_examples=50)
@given(shape=shapes, dtype=dtypes, value=st.sampled_from([0, 1, 7, True, 2.75, -0.0]))
def test_full(shape, dtype, value):
    if dtype.startswith("u") and value < 0:
        value = -value
    expected = np.full(shape, value, dtype)
    ours = getattr(xp, dtype)
    assert_array(xp.full(shape, value, dtype=ours), expected)
    assert_array(xp.full_like(xp.ones(shape), value, dtype=ours), expected)
    assert_array(xp.full(shape, xp.asarray(expected.dtype.type(value)), dtype=ours), expected)
    assert_array(xp.full(shape, expected.dtype.type(value)), expected)


@pytest.mark.parametrize(
    ("value", "dtype"), [(True, "bool"), (3, "int64"), (2.5, "float64"), (1j, "complex128")]
)
def test_default_dtypes(value, dtype):
    assert_array(xp.full(3, value), np.full(3, value, dtype))
    assert_array(xp.asarray(value), np.asarray(value, dtype))
    assert xp.zeros(3).dtype is xp.ones(3).dtype is xp.empty(3).dtype is xp.eye(3).dtype
    assert xp.zeros(3).dtype is xp.float64


@pytest.mark.parametrize("shape", [3, (3,), [3], np.int64(3), (np.int8(3),), xp.asarray(3)])
def test_shapes_are_ints_or_sequences_of_them(shape):
    for made in (xp.zeros(shape), xp.ones(shape), xp.empty(shape), xp.full(shape, 2)):
        assert made.shape == (3,)
        assert all(type(n) is int for n in made.shape)


def test_like_functions_take_shape_and_dtype_of_any_layout():
    x = xp.reshape(xp.arange(12, dtype=xp.int16), (3, 4)).T[::-1]
    for made in (xp.zeros_like(x), xp.ones_like(x), xp.empty_like(x), xp.full_like(x, 3)):
        assert (made.shape, made.dtype) == ((4, 3), xp.int16)
    y = xp.zeros_like(xp.broadcast_to(x, (2, 4, 3)))
    y[0, 0, 0] = 1
    assert int(xp.sum(y)) == 1


def test_negative_zero_and_nan_are_kept():
    assert math.copysign(1, float(xp.full((), -0.0))) == -1
    assert math.copysign(1, float(xp.asarray(-0.0))) == -1
    assert math.isnan(float(xp.full((), float("nan"))))


@settings(max_examples=50)
@given(
    st.integers(-50, 50),
    st.integers(-50, 50),
    st.integers(-7, 7).filter(bool),
    st.sampled_from(["int8", "int64", "float32", "float64", "complex64"]),
)
def test_arange_of_ints(start, stop, step, dtype):
    assert_array(xp.arange(start, stop, step), np.arange(start, stop, step))
    expected = np.arange(start, stop, step).astype(dtype)
    assert_array(xp.arange(start, stop, step, dtype=getattr(xp, dtype)), expected)


@settings(max_examples=50)
@given(
    st.floats(-50, 50),
    st.floats(-50, 50),
    st.floats(0.01, 7).flatmap(lambda x: st.sampled_from([x, -x])),
)
def test_arange_of_floats(start, stop, step):
    x = xp.arange(start, stop, step)
    assert x.shape == (max(0, math.ceil((stop - start) / step)),)
    np.testing.assert_allclose(
        np.asarray(x), start + step * np.arange(x.size), rtol=1e-12, atol=1e-9
    )


def test_arange_with_one_number_or_keywords():
    assert_array(xp.arange(3), np.arange(3))
    assert_array(xp.arange(3.5), np.arange(3.5))
    assert_array(xp.arange(-3), np.arange(0))
    assert_array(xp.arange(1, stop=7, step=2), np.arange(1, 7, 2))
    assert_array(xp.arange(True), np.arange(1))
    assert_array(
        xp.arange(2**63 - 2, 2**63, dtype=xp.uint64), np.asarray([2**63 - 2, 2**63 - 1], "u8")
    )
    assert_array(xp.arange(2**63 - 2, 2**63), np.asarray([2**63 - 2, 2**63 - 1]))
    assert_array(xp.arange(0, 2.5, dtype=xp.int64), np.arange(3))


def test_arange_takes_what_holds_one_number():
    for three in (xp.asarray(3), xp.asarray([3]), np.int64(3), np.asarray(3)):
        assert_array(xp.arange(three), np.arange(3))
    assert_array(xp.arange(np.float32(2)), np.arange(2.0))


@settings(max_examples=50)
@given(
    st.floats(-1e6, 1e6),
    st.floats(-1e6, 1e6),
    st.integers(0, 30),
    st.booleans(),
    st.sampled_from(["float32", "float64", "complex64", "complex128"]),
)
def test_linspace(start, stop, num, endpoint, dtype):
    expected = np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype)
    x = xp.linspace(start, stop, num, endpoint=endpoint, dtype=getattr(xp, dtype))
    assert_array(x, expected)


def test_linspace_of_other_numbers():
    assert_array(xp.linspace(0, 1, 3), np.linspace(0, 1, 3))
    assert_array(xp.linspace(0, 1j, 3), np.linspace(0, 1j, 3))
    assert_array(xp.linspace(0, 2**70, 3), np.asarray([0.0, 2.0**69, 2.0**70]))
    assert_array(xp.linspace(xp.asarray(0.0), np.float32(1), 2), np.asarray([0.0, 1.0]))
    assert_array(xp.linspace(-2.5, 2.5, 3, dtype=xp.int8), np.asarray([-3, 0, 2], "i1"))
    assert_array(xp.linspace(0, 10, 5, dtype=float), np.linspace(0, 10, 5))


@settings(max_examples=50)
@given(
    st.integers(0, 5), st.none() | st.integers(0, 5), st.integers(-7, 7), st.sampled_from(DTYPES)
)
def test_eye(rows, columns, k, dtype):
    assert_array(
        xp.eye(rows, columns, k=k, dtype=getattr(xp, dtype)), np.eye(rows, columns, k, dtype)
    )


@pytest.mark.parametrize("k", [10**30, -(10**30), 2**63])
def test_diagonals_far_outside(k):
    x = xp.ones((3, 4))
    assert_array(xp.eye(3, 4, k=k), np.zeros((3, 4)))
    assert_array(xp.tril(x, k=k), np.ones((3, 4)) * (k > 0))
    assert_array(xp.triu(x, k=k), np.ones((3, 4)) * (k < 0))


@settings(max_examples=50)
@given(
    hnp.arrays(
        st.sampled_from(["bool", "int8", "float32", "complex128"]),
        hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=4),
    ),
    st.integers(-6, 6),
    st.booleans(),
)
def test_triangles(a, k, transpose):
    a = np.swapaxes(a, -1, -2) if transpose else a
    x = xp.asarray(a)
    assert_array(xp.tril(x, k=k), np.tril(a, k))
    assert_array(xp.triu(x, k=k), np.triu(a, k))


@settings(max_examples=50)
@given(
    st.lists(st.integers(0, 4), max_size=4),
    st.sampled_from(["xy", "ij"]),
    st.sampled_from(["int16", "float64"]),
)
def test_meshgrid(sizes, indexing, dtype):
    vectors = [np.arange(n).astype(dtype) for n in sizes]
    found = xp.meshgrid(*[xp.asarray(v) for v in vectors], indexing=indexing)
    expected = np.meshgrid(*vectors, indexing=indexing)
    assert type(found) is tuple
    assert len(found) == len(expected)
    for x, a in zip(found, expected, strict=True):
        assert_array(x, a)


def test_meshgrid_of_0d_arrays_and_mixed_dtypes():
    x, y = xp.meshgrid(xp.asarray(1.0), xp.arange(3))
    assert_array(x, np.ones((3, 1)))
    assert_array(y, np.arange(3)[:, None])


def test_meshgrid_makes_arrays_that_can_be_written():
    vector = xp.arange(3)
    x, y = xp.meshgrid(vector, vector)
    x[0, 0] = 9
    assert np.asarray(x).tolist() == [[9, 1, 2], [0, 1, 2], [0, 1, 2]]
    assert np.asarray(y).tolist() == [[0, 0, 0], [1, 1, 1], [2, 2, 2]]
    assert_array(vector, np.arange(3))
