"""Shapes and axes against NumPy."""

from __future__ import annotations

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

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


class Index:
    """What is no int but converts to one."""

    def __index__(self) -> int:
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


@pytest.mark.parametrize("given_", [2.0, (2.0, 3), "12", None, (None,), ((2, 3),), object()])
def test_as_shape_refuses_what_is_no_int(given_):
    with pytest.raises(TypeError, match=r"must be an int or a tuple of ints.*convert sizes with"):
        as_shape(given_)


def test_as_shape_refuses_negative_sizes():
    with pytest.raises(ValueError, match=r"must not be negative, but the shape is \(2, -1\)"):
        as_shape((2, -1))


def test_limits_of_shapes():
    check_shape((1,) * MAX_NDIM)
    with pytest.raises(ValueError, match="at most 64 dimensions, not 65; merge"):
        check_shape((1,) * (MAX_NDIM + 1))
    largest = MAX_SIZE // 16
    check_shape((largest,))
    for shape in ((largest + 1,), (2**40, 2**40), (2**40, 0, 2**40)):
        with pytest.raises(ValueError, match=r"more than 2\*\*63 bytes; give smaller sizes"):
            check_shape(shape)


def test_numpy_has_the_same_limit_of_dimensions():
    assert np.empty((1,) * MAX_NDIM).ndim == MAX_NDIM
    with pytest.raises(ValueError, match="dimension"):
        np.empty((1,) * (MAX_NDIM + 1))


@given(st.lists(shapes, max_size=4))
def test_broadcast_shapes_against_numpy(several):
    try:
        expected = np.broadcast_shapes(*several)
    except ValueError:
        with pytest.raises(ValueError, match="cannot be broadcast"):
            broadcast_shapes(*several)
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
    with pytest.raises(ValueError, match=re.escape(message)):
        broadcast_shapes((2, 3), (4, 3))
    with pytest.raises(ValueError, match="axis -1 has sizes"):
        broadcast_shapes((2, 0), (3,))


@given(st.integers(0, 5), st.integers(-7, 7))
def test_normalise_axis(ndim, axis):
    if -ndim <= axis < ndim:
        assert normalise_axis(axis, ndim) == range(ndim)[axis]
    else:
        with pytest.raises(IndexError, match=f"axis {axis} is out of range for {ndim} dimensions"):
            normalise_axis(axis, ndim)


def test_normalise_axis_says_what_is_legal():
    with pytest.raises(IndexError, match="legal: from -3 to 2"):
        normalise_axis(3, 3)
    with pytest.raises(IndexError, match="0-dimensional"):
        normalise_axis(0, 0)


def test_normalise_axis_takes_what_converts_to_an_int():
    assert normalise_axis(np.int8(-1), 3) == 2
    assert type(normalise_axis(np.int8(1), 3)) is int
    assert normalise_axis(Index(), 4) == 3


@pytest.mark.parametrize("axis", [1.0, "0", None, (0,)])
def test_normalise_axis_refuses_what_is_no_int(axis):
    advice = "name one" if axis is None else r"convert it with int\(\)"
    with pytest.raises(TypeError, match=rf"an axis must be an int, not .*; {advice}"):
        normalise_axis(axis, 3)


def test_normalise_axes():
    assert normalise_axes(None, 3) == (0, 1, 2)
    assert normalise_axes(None, 0) == ()
    assert normalise_axes(-1, 3) == (2,)
    assert normalise_axes((), 3) == ()
    assert normalise_axes((-1, 0), 3) == (2, 0)
    assert normalise_axes([1, -3], 3) == (1, 0)


@pytest.mark.parametrize("axes", [(0, 0), (1, -2), [0, 1, 2, -1]])
def test_normalise_axes_refuses_an_axis_named_twice(axes):
    with pytest.raises(ValueError, match=r"name an axis twice; name each axis once"):
        normalise_axes(axes, 3)


@pytest.mark.parametrize("axes", [3, (0, 3), (-4,)])
def test_normalise_axes_refuses_what_is_out_of_range(axes):
    with pytest.raises(IndexError, match="out of range for 3 dimensions"):
        normalise_axes(axes, 3)


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
        with pytest.raises(ValueError, match="cannot reshape"):
            resolve_reshape(old, new)
    else:
        assert resolve_reshape(old, new) == expected


@given(shapes, st.data())
def test_resolve_reshape_infers_what_was_left_out(shape, data):
    if not shape:
        return
    axis = data.draw(st.sampled_from(range(len(shape))))
    target = (*shape[:axis], -1, *shape[axis + 1 :])
    if 0 in target:
        with pytest.raises(ValueError, match="no size in place of -1"):
            resolve_reshape(shape, target)
    else:
        assert resolve_reshape(shape, target) == shape


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ((4,), "6 elements cannot become 4; give sizes whose product is 6, or -1 for one of them"),
        ((-1, -1), "at most one size may be -1"),
        ((-2, -3), "none lower"),
        ((-1, 4), "no size in place of -1 makes 6 elements"),
        ((1,) * 64 + (6,), "at most 64 dimensions"),
    ],
)
def test_resolve_reshape_names_the_rule(new, message):
    with pytest.raises(ValueError, match=message):
        resolve_reshape((2, 3), new)
