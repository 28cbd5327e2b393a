"""Index keys, normalised, against NumPy's own indexing."""

from types import EllipsisType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from array_api_nx.core.indexing import IndexArray, basic_selection, hashable_key, mixed_selection
from array_api_nx.core.view import View
from tests.support.refusals import refused

BASIC = int | slice | None | EllipsisType

shapes = st.lists(st.integers(0, 4) | st.integers(1, 4), max_size=4).map(tuple)
bounds = st.none() | st.integers(-6, 6)
slices = st.builds(slice, bounds, bounds, st.none() | st.integers(-3, 3).filter(bool))


def numbered(shape):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape)


def select(array, selection):
    """A selection by plain NumPy: one axis at a time, from the last."""
    axis = array.ndim
    for item in reversed(selection):
        if item is None:
            array = np.expand_dims(array, axis)
            continue
        axis -= 1
        if isinstance(item, int):
            array = np.take(array, item, axis)
        else:
            start, count, step = item
            array = np.take(array, [start + i * step for i in range(count)], axis)
    assert axis == 0
    return array


@st.composite
def basic_keys(draw, shape):
    """Keys with ints in range, slices, None and at most one ellipsis."""
    named = draw(st.integers(0, len(shape)))
    ellipsis = draw(st.none() | st.integers(0, named))
    axes = list(range(named))
    if ellipsis is not None:
        axes[ellipsis:] = range(len(shape) - named + ellipsis, len(shape))
    items = []
    for axis in axes:
        size = shape[axis]
        items.append(draw(slices | st.integers(-size, size - 1) if size else slices))
    if ellipsis is not None:
        items.insert(ellipsis, ...)
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), None)
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


@given(shapes, st.data())
@settings(max_examples=100)
def test_basic_selection_against_numpy(shape, data):
    key = data.draw(basic_keys(shape))
    array = numbered(shape)
    selection = basic_selection(key, shape)
    expected = array[key]
    assert np.array_equal(select(array, selection), expected)
    view = View(shape).slice(selection)
    assert view.shape == expected.shape
    for item in selection:
        parts = item if isinstance(item, tuple) else (item,)
        assert all(part is None or type(part) is int for part in parts)


@given(shapes, st.data())
@settings(max_examples=100)
def test_mixed_selection_of_a_basic_key_has_no_indices(shape, data):
    key = data.draw(basic_keys(shape))
    items = key if isinstance(key, tuple) else (key,)
    assert mixed_selection(items, shape) == (basic_selection(key, shape), None)


@st.composite
def mixed_keys(draw, shape):
    """Keys that may hold index arrays and masks, which need not broadcast."""
    items = []
    axis = 0
    common = draw(st.lists(st.integers(0, 3), max_size=2).map(tuple))
    kinds = ["int", "slice", "integers", "integers", "mask", "rest", "stop"]
    while axis < len(shape):
        size = shape[axis]
        kind = draw(st.sampled_from(kinds))
        if kind == "stop":
            break
        if kind == "rest":
            kinds.remove("rest")
            items.append(...)
            axis += draw(st.integers(1, len(shape) - axis))
            kinds.remove("stop")
        elif kind == "mask":
            count = draw(st.integers(0, min(2, len(shape) - axis)))
            sizes = [draw(st.sampled_from([n, n, n, 0])) for n in shape[axis : axis + count]]
            items.append(draw(arrays(bool, tuple(sizes))))
            axis += count
        elif kind == "slice" or not size:
            items.append(draw(slices))
            axis += 1
        elif kind == "int":
            items.append(draw(st.integers(-size, size - 1)))
            axis += 1
        else:
            of = tuple(draw(st.sampled_from([1, n])) for n in common)
            # A 0-d index array is an int by the time a key comes here.
            items.append(draw(arrays(int, of or (1,), elements=st.integers(-size, size - 1))))
            axis += 1
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), None)
    if "rest" in kinds and draw(st.booleans()):
        items.insert(
            draw(st.sampled_from([0, len(items)])) if axis == len(shape) else len(items), ...
        )
    return items


def wrapped(items):
    """The key as the front end hands it on."""
    return [
        IndexArray(item, item.shape if item.dtype == bool else None)
        if isinstance(item, np.ndarray)
        else item
        for item in items
    ]


def apply(array, selection, indices):
    """A mixed selection, as a backend applies it."""
    viewed = select(array, selection)
    return viewed[tuple(slice(None) if index is None else index for index in indices)]


@given(shapes, st.data())
@settings(max_examples=120)
def test_mixed_selection_against_numpy(shape, data):
    items = data.draw(mixed_keys(shape))
    array = numbered(shape)
    selection, indices = mixed_selection(wrapped(items), shape)
    has_arrays = any(isinstance(item, np.ndarray) for item in items)
    assert (indices is not None) == has_arrays
    if indices is None:
        assert np.array_equal(select(array, selection), array[tuple(items)])
        return
    try:
        expected = array[tuple(items)]
    except IndexError as error:
        # Index arrays that do not broadcast are the backend's to refuse.
        refused(IndexError, str(error)[:20], apply, array, selection, indices)
        return
    result = apply(array, selection, indices)
    assert result.shape == expected.shape
    assert np.array_equal(result, expected)


@pytest.mark.parametrize(
    "items",
    [
        [np.array([0, 1]), slice(None), np.array([1, 0])],
        [slice(None), np.array([0, 1]), np.array([1, 0])],
        [np.array([0, 1]), ..., np.array([1, 0])],
        [0, slice(None), np.array([1, 0])],
        [np.array([1, 0]), slice(None, None, -1), -1],
        [np.array([0, 1]), None, np.array([1, 0])],
        [None, np.array([0, 1]), np.array([1, 0])],
        [..., np.array([[0], [1]]), np.array([[1, 0]])],
        [np.array([[True, False, True], [False, True, True]])],
        [np.array([[True, False, True], [False, True, True]]), 0],
        [np.array([True, False]), ..., np.array([1])],
        [np.array(True)],
        [np.array(False), 1],
        [np.zeros((0, 3), bool), slice(1, 3)],
        [np.array(True), slice(None), np.array([0, 2])],
    ],
)
def test_where_the_axes_of_index_arrays_go(items):
    array = numbered((2, 3, 4))
    selection, indices = mixed_selection(wrapped(items), array.shape)
    expected = array[tuple(items)]
    result = apply(array, selection, indices)
    assert result.shape == expected.shape
    assert np.array_equal(result, expected)


def test_an_ellipsis_that_stands_for_no_axis_parts_no_index_arrays():
    # NumPy puts the arrays' axes in front here, as if there were an axis in between.
    arrays = [IndexArray("first", None), IndexArray("second", None)]
    items = [slice(None), arrays[0], ..., arrays[1]]
    assert mixed_selection(items, (2, 3, 4)) == mixed_selection([slice(None), *arrays], (2, 3, 4))


def test_ints_beside_index_arrays_are_counted_from_the_front():
    selection, indices = mixed_selection([-1, IndexArray("payload", None)], (3, 4))
    assert selection == ((0, 3, 1), (0, 4, 1))
    assert indices == [2, "payload"]


def test_a_mask_stands_for_all_its_axes():
    selection, indices = mixed_selection([IndexArray("mask", (3, 4)), slice(1, 2)], (3, 4, 5))
    assert selection == ((0, 3, 1), (0, 4, 1), (1, 1, 1))
    assert indices == ["mask", None]


@given(shapes, st.data())
@settings(max_examples=100)
def test_keys_with_one_stand_in_select_the_same(shape, data):
    first, second = data.draw(basic_keys(shape)), data.draw(basic_keys(shape))
    stand_ins = hashable_key(first), hashable_key(second)
    hash(stand_ins)
    assert None not in stand_ins or None in (first, second)
    if stand_ins[0] == stand_ins[1]:
        assert basic_selection(first, shape) == basic_selection(second, shape)


def test_different_keys_have_different_stand_ins():
    keys = [
        0, 1, slice(0), slice(1), slice(0, 1), slice(0, 1, 2), slice(None), ...,
        (), (0, 0), (slice(0), 0), (0, slice(0)), (None, 0), (..., 0), (0, ...), (0, None),
        (0, 0, 0), (0, 1, 2), (None, None, None), (slice(0), 0, 0), (0, slice(0), 0),
        (0, 0, None), (0, 0, ...), (None, None),
    ]  # fmt: skip
    assert len({hashable_key(key) for key in keys}) == len(keys)


@pytest.mark.parametrize(
    "key",
    [
        True,
        1.0,
        "a",
        [0],
        np.int64(0),
        np.zeros(2),
        (0, True),
        (1.0, 0),
        ((0, 1),),
        ([0],),
        (0, 0, True),
    ],
)
def test_other_keys_have_no_stand_in(key):
    assert hashable_key(key) is None
