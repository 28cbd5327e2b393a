"""Reading views by reshaping, slicing and transposing, against their definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from array_api_nx.backends.engines.immutable import positions, steps
from array_api_nx.core.view import View
from array_api_nx.testing.contract.layouts import LAYOUTS, masked, read


def by_steps(memory, view):
    way = steps(view, memory.size)
    if way is None:
        return None
    part = memory[way.start : way.start + way.length]
    padded = np.pad(part, (0, way.length - part.size))
    boxed = padded.reshape(way.base)[way.box].transpose(way.order)
    return np.broadcast_to(boxed.reshape(way.kept), view.shape)


def test_the_usual_layouts_need_no_single_elements():
    values = np.arange(24).reshape(2, 1, 3, 4)
    for layout in LAYOUTS:
        if layout is not masked:
            memory, view = layout(values)
            np.testing.assert_array_equal(by_steps(memory, view), read(memory, view))


@st.composite
def views(draw):
    """A view of random shape, strides and offset, and how much memory it needs."""
    shape = tuple(draw(st.lists(st.integers(1, 4), max_size=4)))
    strides = [draw(st.sampled_from([-12, -4, -3, -1, 0, 1, 2, 3, 4, 6, 12])) for _ in shape]
    low, high = View(shape, strides).extent
    room = draw(st.integers(0, 5))
    return high - low + room + draw(st.integers(0, 5)), View(shape, strides, room - low)


@given(views())
def test_steps_lead_to_the_view(size_and_view):
    size, view = size_and_view
    memory = np.arange(size)
    expected = read(memory, view)
    found = by_steps(memory, view)
    if found is not None:
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(memory[np.broadcast_to(positions(view), view.shape)], expected)


def test_views_of_no_elements_have_no_steps():
    assert steps(View((2, 0)), 4) is None


def test_windows_that_overlap_have_no_steps():
    assert steps(View((3, 2), (1, 1)), 4) is None
