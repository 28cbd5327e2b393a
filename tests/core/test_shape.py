"""Shapes and axes against NumPy."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from array_api_nx.core.shape import (
    MAX_NDIM,
    MAX_SIZE,
    as_shape,
    broadcast_shapes,
    check_shape,
    normalise_axes,
    normalise_axis,
    reduced_shape,
    resolve_reshape,
)
from tests.support.refusals import refused

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


class Index:
    """Converts to an int."""

    def __index__(self):
        return 3


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (3, (3,)),
        (0, (0,)),
        ((), ()),
        ((2, 3), (2, 3)),
        ([2, 3], (2, 3)),
        (np.int64(2), (2,)),
        ((np.uint8(2), Index()), (2, 3)),
        (Index(), (3,)),
        (np.asarray([2, 3]), (2, 3)),
        ((True, 2), (1, 2)),
        (range(1, 3), (1, 2)),
    ],
)
def test_as_shape(given_, expected):
    shape = as_shape(given_)
    assert shape == expected
    assert [type(size) for size in shape] == [int] * len(expected)


def test_limits_of_shapes():
    check_shape((1,) * MAX_NDIM)
    refused(ValueError, "at most 64 dimensions, not 65; merge", check_shape, (1,) * (MAX_NDIM + 1))
    largest = MAX_SIZE // 16
    check_shape((largest,))
    for shape in ((largest + 1,), (2**40, 2**40), (2**40, 0, 2**40)):
        refused(ValueError, r"more than 2\*\*63 bytes; give smaller sizes", check_shape, shape)


def test_numpy_has_the_same_limit_of_dimensions():
    assert np.empty((1,) * MAX_NDIM).ndim == MAX_NDIM
    refused(ValueError, "dimension", np.empty, (1,) * (MAX_NDIM + 1))


@given(st.lists(shapes, max_size=4))
def test_broadcast_shapes_against_numpy(several):
    try:
        expected = np.broadcast_shapes(*several)
    except ValueError:
        refused(ValueError, "cannot be broadcast", broadcast_shapes, *several)
    else:
        assert broadcast_shapes(*several) == expected


@given(shapes, st.data())
def test_shapes_made_to_broadcast_do(shape, data):
    several = []
    for _ in range(3):
        lead = data.draw(st.integers(0, len(shape)))
        several.append(tuple(data.draw(st.sampled_from([1, n])) for n in shape[lead:]))
    assert broadcast_shapes(shape, *several) == shape
    assert broadcast_shapes(*several, shape) == shape


def test_broadcast_shapes_names_shapes_and_axis():
    message = "shapes (2, 3), (4, 3) cannot be broadcast: axis -2 has sizes 2 and 4"
    refused(ValueError, re.escape(message), broadcast_shapes, (2, 3), (4, 3))
    refused(ValueError, "axis -1 has sizes", broadcast_shapes, (2, 0), (3,))


@given(st.integers(0, 5), st.integers(-7, 7))
def test_normalise_axis(ndim, axis):
    if -ndim <= axis < ndim:
        assert normalise_axis(axis, ndim) == range(ndim)[axis]
    else:
        with pytest.raises(IndexError, match=f"axis {axis} is out of range for {ndim} dimensions"):
            normalise_axis(axis, ndim)


def test_normalise_axis_says_what_is_legal():
    refused(IndexError, "legal: from -3 to 2", normalise_axis, 3, 3)
    refused(IndexError, "0-dimensional", normalise_axis, 0, 0)


def test_normalise_axis_takes_what_converts_to_an_int():
    assert normalise_axis(np.int8(-1), 3) == 2
    assert type(normalise_axis(np.int8(1), 3)) is int
    assert normalise_axis(Index(), 4) == 3


def test_normalise_axes():
    assert normalise_axes(None, 3) == (0, 1, 2)
    assert normalise_axes(None, 0) == ()
    assert normalise_axes(-1, 3) == (2,)
    assert normalise_axes((), 3) == ()
    assert normalise_axes((-1, 0), 3) == (2, 0)
    assert normalise_axes([1, -3], 3) == (1, 0)


@given(shapes, st.data(), st.booleans())
def test_reduced_shape_against_numpy(shape, data, keepdims):
    axes = tuple(axis for axis in range(len(shape)) if data.draw(st.booleans()))
    expected = np.zeros(shape).sum(axes, keepdims=keepdims).shape
    assert reduced_shape(shape, axes, keepdims) == expected


@given(shapes, st.lists(st.integers(-1, 8), max_size=4).map(tuple))
def test_resolve_reshape_against_numpy(old, new):
    try:
        expected = np.empty(old).reshape(new).shape
    except ValueError:
        refused(ValueError, "cannot reshape", resolve_reshape, old, new)
    else:
        assert resolve_reshape(old, new) == expected


@given(shapes, st.data())
def test_resolve_reshape_infers_what_was_left_out(shape, data):
    if not shape:
        return
    axis = data.draw(st.sampled_from(range(len(shape))))
    target = (*shape[:axis], -1, *shape[axis + 1 :])
    if 0 in target:
        refused(ValueError, "no size in place of -1", resolve_reshape, shape, target)
    else:
        assert resolve_reshape(shape, target) == shape
