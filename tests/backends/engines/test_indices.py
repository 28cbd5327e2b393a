"""Index arrays over an engine's arrays, with NumPy for the engine and for the oracle."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from array_api_nx.backends.engines.indices import in_range, resolve
from array_api_nx.core.dtypes import CANONICAL
from tests.support.refusals import refused

SHAPE = (2, 3, 1, 4)


def selected(shape, keys):
    return resolve(np, "cpu", shape, keys, CANONICAL, partial(in_range, np))


def plain(keys):
    return tuple([slice(None) if key is None else key for key in keys])


@st.composite
def selections(draw):
    """Keys for `SHAPE`, at least one of them an array."""
    together = draw(st.sampled_from([(), (1,), (3,), (2, 3), (0,)]))
    keys = []
    axis = 0
    while axis < len(SHAPE):
        kind = draw(st.sampled_from(["whole", "int", "array", "mask"]))
        if kind == "whole":
            keys.append(None)
        elif kind == "int":
            keys.append(draw(st.integers(0, SHAPE[axis] - 1)))
        elif kind == "array":
            size = SHAPE[axis]
            numbers = st.lists(st.integers(-size, size - 1), min_size=6, max_size=6)
            keys.append(np.resize(np.array(draw(numbers), np.int64), together))
        elif not any([isinstance(key, np.ndarray) for key in keys]):
            width = draw(st.integers(1, len(SHAPE) - axis))
            covered = SHAPE[axis : axis + width]
            flags = draw(st.lists(st.booleans(), min_size=6, max_size=6))
            keys.append(np.resize(np.array(flags), covered))
            axis += width - 1
        else:
            keys.append(None)
        axis += 1
    if not any([isinstance(key, np.ndarray) for key in keys]):
        keys[0] = np.array([0, -1])
    return tuple(keys)


@given(selections())
def test_reading_and_writing(keys):
    x = np.arange(24).reshape(SHAPE)
    try:
        expected = x[plain(keys)]
    except IndexError:
        refused(IndexError, None, selected, SHAPE, keys)
        return
    found = selected(SHAPE, keys)
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.read(x), expected)
    strides = [12, 4, 4, 1]
    np.testing.assert_array_equal(found.positions(5, strides), expected + 5)
    values = np.arange(expected.size).reshape(expected.shape) + 100
    positions, ending_up = found.written(0, strides, values)
    assert len(set(positions.tolist())) == positions.size
    flat = x.reshape(-1).copy()
    flat[positions] = ending_up
    written = x.copy()
    written[plain(keys)] = values
    np.testing.assert_array_equal(flat.reshape(SHAPE), written)
    positions, ending_up = found.written(0, strides, values, may_look=False)
    for order in (slice(None), slice(None, None, -1)):
        flat = x.reshape(-1).copy()
        flat[positions[order]] = ending_up[order]
        np.testing.assert_array_equal(flat.reshape(SHAPE), written)


def test_the_last_value_for_an_element_wins():
    found = selected((3, 2), (np.array([2, 0, 2, 0]), None))
    positions, values = found.written(0, [2, 1], np.arange(8).reshape(4, 2))
    assert dict(zip(positions.tolist(), values.tolist(), strict=True)) == {4: 4, 5: 5, 0: 6, 1: 7}


def test_scalars_are_given_back():
    positions, value = selected((3,), (np.array([2, 0]),)).written(1, [2], 7)
    assert (positions.tolist(), value) == ([5, 1], 7)


def test_in_range():
    assert in_range(np, np.array([0, -1, 2, -3]), 3).tolist() == [0, 2, 2, 0]
    assert in_range(np, np.array([], np.int64), 0).tolist() == []
    for wrong in (3, -4):
        with pytest.raises(IndexError, match=f"index {wrong} is out of range for an axis of size"):
            in_range(np, np.array([0, wrong]), 3)
