"""The manipulation chapter: values against NumPy on every layout; shapes, dtypes, arguments.

tests/test_views_and_copies.py tests shared memory, tests/test_bad_input.py errors.
"""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import array_api_nx as xp
from tests.support.arrays import assert_array

shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


@st.composite
def arrays(draw, min_dims=0):
    """Distinct numbers in some layout: permuted, flipped, strided, offset or broadcast."""
    shape = draw(hnp.array_shapes(min_dims=min_dims, max_dims=4, min_side=0, max_side=4))
    a = np.arange(int(np.prod([n + 1 for n in shape])), dtype="int32")
    a = a.reshape([n + 1 for n in shape])[tuple(slice(1, None) for _ in shape)]
    a = a.transpose(draw(st.permutations(range(a.ndim))))
    step = st.sampled_from([1, 1, -1, 2])
    a = a[tuple(slice(None, None, draw(step)) for _ in range(a.ndim))]
    if a.ndim and draw(st.booleans()) and a.shape[0]:
        a = np.broadcast_to(a[:1], a.shape)
    return a


def axis_of(data, ndim):
    return data.draw(st.integers(-ndim, ndim - 1))


def some_axes(data, ndim):
    """Distinct axes in any order, some counted from the end."""
    order = data.draw(st.permutations(range(ndim)))[: data.draw(st.integers(0, ndim))]
    return tuple(a - ndim if data.draw(st.booleans()) else a for a in order)


@settings(max_examples=50)
@given(arrays(), st.data())
def test_expand_dims(a, data):
    axis = data.draw(st.integers(-a.ndim - 1, a.ndim))
    assert_array(xp.expand_dims(xp.asarray(a), axis=axis), np.expand_dims(a, axis))
    count = data.draw(st.integers(0, 3))
    axes = data.draw(st.permutations(range(a.ndim + count)))[:count]
    assert_array(xp.expand_dims(xp.asarray(a), axis=tuple(axes)), np.expand_dims(a, tuple(axes)))


@settings(max_examples=50)
@given(arrays(), st.data())
def test_squeeze(a, data):
    axes = [axis for axis, n in enumerate(a.shape) if n == 1]
    axes = tuple(a.ndim * -data.draw(st.integers(0, 1)) + axis for axis in axes)
    assert_array(xp.squeeze(xp.asarray(a), axis=axes), np.squeeze(a, axes))
    if axes:
        assert_array(xp.squeeze(xp.asarray(a), axis=axes[0]), np.squeeze(a, axes[0]))


@settings(max_examples=50)
@given(arrays(), st.data())
def test_flip(a, data):
    assert_array(xp.flip(xp.asarray(a)), np.flip(a))
    axes = some_axes(data, a.ndim)
    assert_array(xp.flip(xp.asarray(a), axis=axes), np.flip(a, axes))
    if a.ndim:
        axis = axis_of(data, a.ndim)
        assert_array(xp.flip(xp.asarray(a), axis=axis), np.flip(a, axis))


@settings(max_examples=50)
@given(arrays(), st.data())
def test_permute_dims(a, data):
    axes = data.draw(st.permutations(range(a.ndim)))
    axes = tuple(x - a.ndim if data.draw(st.booleans()) else x for x in axes)
    assert_array(xp.permute_dims(xp.asarray(a), axes), np.transpose(a, axes))


@settings(max_examples=50)
@given(arrays(min_dims=1), st.data())
def test_moveaxis(a, data):
    source, destination = axis_of(data, a.ndim), axis_of(data, a.ndim)
    x = xp.asarray(a)
    assert_array(xp.moveaxis(x, source, destination), np.moveaxis(a, source, destination))
    sources = some_axes(data, a.ndim)
    destinations = tuple(data.draw(st.permutations(range(a.ndim)))[: len(sources)])
    expected = np.moveaxis(a, sources, destinations)
    assert_array(xp.moveaxis(x, sources, destinations), expected)


@settings(max_examples=50)
@given(arrays(), st.data(), st.sampled_from([None, True]))
def test_reshape(a, data, copy):
    x = xp.asarray(a)
    sizes = [n for n in a.shape if n != 1]
    if sizes and data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(sizes) - 1))
        sizes[at : at + 2] = [int(np.prod(sizes[at : at + 2]))]
    shape = tuple(data.draw(st.permutations(sizes)))
    assert_array(xp.reshape(x, shape, copy=copy), a.reshape(shape))
    assert_array(xp.reshape(x, (-1,), copy=copy), a.reshape(-1))
    if a.size:
        assert_array(xp.reshape(x, (1, -1, 1), copy=copy), a.reshape(1, -1, 1))


def test_reshape_takes_lists_and_ints():
    x = xp.arange(6)
    assert xp.reshape(x, [2, 3]).shape == xp.reshape(x, shape=(2, -1)).shape == (2, 3)
    assert xp.reshape(xp.reshape(x, (2, 3)), 6).shape == (6,)
    assert xp.reshape(x, (np.int64(2), np.int8(3))).shape == (2, 3)
    assert all(type(n) is int for n in xp.reshape(x, (np.int64(2), 3)).shape)


@settings(max_examples=50)
@given(arrays(), st.data())
def test_broadcast_to(a, data):
    lead = tuple(data.draw(st.lists(st.integers(0, 3), max_size=2)))
    shape = (*lead, *[data.draw(st.integers(0, 3)) if n == 1 else n for n in a.shape])
    assert_array(xp.broadcast_to(xp.asarray(a), shape), np.broadcast_to(a, shape))
    assert xp.broadcast_shapes(a.shape, shape) == shape


@settings(max_examples=50)
@given(hnp.mutually_broadcastable_shapes(num_shapes=3, min_side=0))
def test_broadcast_arrays_and_shapes(several):
    inputs = [np.arange(np.prod(shape)).reshape(shape) for shape in several.input_shapes]
    assert xp.broadcast_shapes(*several.input_shapes) == several.result_shape
    found = xp.broadcast_arrays(*[xp.asarray(a) for a in inputs])
    assert type(found) is tuple
    for x, a in zip(found, np.broadcast_arrays(*inputs), strict=True):
        assert_array(x, a)


def test_broadcasting_nothing():
    assert xp.broadcast_arrays() == ()
    assert xp.broadcast_shapes() == ()
    assert xp.broadcast_shapes([2, 1], (3,)) == (2, 3)
    assert xp.broadcast_shapes(3, (2, 1)) == (2, 3)


def test_broadcast_arrays_keeps_dtypes():
    x, y = xp.broadcast_arrays(xp.ones(2, dtype=xp.int8), xp.ones((3, 1), dtype=xp.float32))
    assert (x.dtype, y.dtype) == (xp.int8, xp.float32)


@settings(max_examples=50)
@given(arrays(min_dims=1), st.data())
def test_unstack(a, data):
    axis = axis_of(data, a.ndim)
    found = xp.unstack(xp.asarray(a), axis=axis)
    assert type(found) is tuple
    assert len(found) == a.shape[axis]
    for x, expected in zip(found, np.moveaxis(a, axis, 0), strict=True):
        assert_array(x, expected)


@settings(max_examples=50)
@given(arrays(), st.data())
def test_roll(a, data):
    x = xp.asarray(a)
    shifts = st.integers(-9, 9)
    shift = data.draw(shifts)
    assert_array(xp.roll(x, shift), np.roll(a, shift))
    if a.ndim:
        axis = axis_of(data, a.ndim)
        assert_array(xp.roll(x, shift, axis=axis), np.roll(a, shift, axis))
        axes = tuple(data.draw(st.lists(st.integers(-a.ndim, a.ndim - 1), min_size=1, max_size=3)))
        several = tuple(data.draw(shifts) for _ in axes)
        assert_array(xp.roll(x, several, axis=axes), np.roll(a, several, axes))
        assert_array(xp.roll(x, shift, axis=axes), np.roll(a, shift, axes))


def test_roll_far_and_along_no_axes():
    x = xp.arange(5)
    assert_array(xp.roll(x, 10**30 + 1), np.roll(np.arange(5), 1))
    assert_array(xp.roll(x, xp.asarray(2)), np.roll(np.arange(5), 2))
    assert_array(xp.roll(x, (1, 2), axis=0), np.roll(np.arange(5), 3))
    assert_array(xp.roll(x, (), axis=()), np.arange(5))


@settings(max_examples=50)
@given(arrays(), st.data())
def test_repeat(a, data):
    x = xp.asarray(a)
    number = data.draw(st.integers(0, 3))
    assert_array(xp.repeat(x, number), np.repeat(a, number))
    dtype = data.draw(st.sampled_from(["int8", "int64", "uint8", "uint64"]))
    for axis in [None, *([axis_of(data, a.ndim)] if a.ndim else [])]:
        length = a.size if axis is None else a.shape[axis]
        numbers = np.asarray([data.draw(st.integers(0, 3)) for _ in range(length)], dtype)
        assert_array(xp.repeat(x, number, axis=axis), np.repeat(a, number, axis))
        found = xp.repeat(x, xp.asarray(numbers), axis=axis)
        assert_array(found, np.repeat(a, numbers.astype("int64"), axis))
        for one in (xp.asarray(number), xp.asarray([number]), np.int64(number)):
            assert_array(xp.repeat(x, one, axis=axis), np.repeat(a, number, axis))


def test_repeating_nothing_any_number_of_times():
    assert xp.repeat(xp.ones((0,)), 2**70).shape == (0,)
    assert xp.repeat(xp.ones((2, 0)), 2**40, axis=1).shape == (2, 0)
    assert xp.repeat(xp.ones((0,)), xp.ones((0,), dtype=xp.int64)).shape == (0,)


@settings(max_examples=50)
@given(arrays(), st.lists(st.integers(0, 3), max_size=5))
def test_tile(a, counts):
    assert_array(xp.tile(xp.asarray(a), tuple(counts)), np.tile(a, counts))


def test_tile_at_the_limit_of_dimensions():
    a = np.arange(6).reshape((1,) * 40 + (2, 3))
    counts = (2,) + (1,) * 20 + (3,) + (1,) * 30 + (2, 2)
    assert_array(xp.tile(xp.asarray(a), counts), np.tile(a, counts))
    empty = xp.tile(xp.asarray(a), (0,) * 64)
    assert empty.shape == (0,) * 64


@settings(max_examples=50)
@given(arrays(min_dims=1), st.data())
def test_concat(a, data):
    axis = axis_of(data, a.ndim)
    pieces = [a, a[tuple(slice(None) for _ in a.shape)], np.flip(a, axis), a.astype("int64")]
    pieces = pieces[: data.draw(st.integers(1, 4))]
    ours = [xp.asarray(piece) for piece in pieces]
    assert_array(xp.concat(ours, axis=axis), np.concatenate(pieces, axis))
    assert_array(xp.concat(tuple(ours), axis=None), np.concatenate(pieces, None))


def test_concat_of_different_lengths_shapes_and_many():
    assert_array(xp.concat([xp.arange(2), xp.arange(0), xp.arange(3)]), np.asarray([0, 1, 0, 1, 2]))
    x = xp.concat([xp.ones((2, 2)), xp.asarray(5.0), xp.zeros(1)], axis=None)
    assert_array(x, np.asarray([1.0, 1, 1, 1, 5, 0]))
    assert_array(xp.concat([xp.arange(3)] * 50), np.tile(np.arange(3), 50))
    columns = xp.concat([xp.ones((2, 3)), xp.zeros((2, 1))], axis=-1)
    assert_array(columns, np.asarray([[1.0, 1, 1, 0]] * 2))


@settings(max_examples=50)
@given(arrays(), st.data())
def test_stack(a, data):
    axis = data.draw(st.integers(-a.ndim - 1, a.ndim))
    pieces = [a, np.flip(a), a.astype("float64")][: data.draw(st.integers(1, 3))]
    ours = [xp.asarray(piece) for piece in pieces]
    assert_array(xp.stack(ours, axis=axis), np.stack(pieces, axis))


@pytest.mark.parametrize("join", [xp.concat, xp.stack])
@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (("int8", "int16"), "int16"),
        (("float32", "float64"), "float64"),
        (("int64", "float32"), "float64"),
        (("bool", "complex64"), "complex64"),
        (("uint8", "int8"), "int16"),
    ],
)
def test_joining_promotes(join, dtypes, expected):
    pieces = [xp.ones(2, dtype=getattr(xp, dtype)) for dtype in dtypes]
    assert str(join(pieces).dtype) == str(join(pieces[::-1]).dtype) == expected


def test_arguments_that_look_alike_mean_the_same():
    x = xp.asarray(np.arange(6).reshape(1, 2, 3))
    a = np.asarray(x)
    one = [1, np.int64(1), np.uint8(1), xp.asarray(1), True]
    for _ in range(2):
        for axis in one:
            assert_array(xp.flip(x, axis=axis), np.flip(a, 1))
            assert_array(xp.flip(x, axis=(axis,)), np.flip(a, 1))
            assert_array(xp.expand_dims(x, axis=axis), np.expand_dims(a, 1))
            assert_array(xp.moveaxis(x, axis, 2), np.moveaxis(a, 1, 2))
            assert_array(xp.permute_dims(x, (2, axis, 0)), a.transpose(2, 1, 0))
        for axes in permutations(range(3)):
            assert_array(xp.permute_dims(x, axes), a.transpose(axes))
            assert_array(xp.permute_dims(x, list(axes)), a.transpose(axes))
            assert_array(xp.permute_dims(x, np.asarray(axes)), a.transpose(axes))
        assert_array(xp.squeeze(x, axis=np.int64(0)), a[0])
        assert_array(xp.squeeze(x, axis=[0]), a[0])


def test_the_tables_of_arguments_are_bounded():
    from array_api_nx.frontend import manipulation

    x = xp.ones((1, 1))
    for n in range(manipulation._MAX_MEMOS + 10):
        assert xp.broadcast_to(x, (n, 1)).shape == (n, 1)
    assert len(vars(manipulation._expanded)["memo"]) <= manipulation._MAX_MEMOS
