"""Random chains of view transforms, with NumPy as the oracle.

Each step is done to a view and to an array over the same block of memory. Wherever NumPy makes a
view, ours must be the same view: same first element, same strides, same contiguity, same overlaps.
Wherever NumPy has to copy, ours must say that no view will do.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import basic_indices

from array_api_nx.core.indexing import basic_selection
from array_api_nx.core.view import View
from tests.support.views import PADDING, read

MAX_NDIM = 5
MAX_ELEMENTS = 300

shapes = st.lists(st.integers(0, 4) | st.integers(1, 4), max_size=4).map(tuple)


def start_of(array):
    return array.__array_interface__["data"][0]


def check_same_view(view, array, block):
    """The view describes `array`, element by element and stride by stride."""
    assert view.shape == array.shape
    assert view.size == array.size
    assert view.mask is None
    assert view.is_row_major == array.flags.c_contiguous
    assert view.is_column_major == array.flags.f_contiguous
    view.check_fits(block.size)
    if array.size == 0:
        assert view.offset == 0
        return
    assert view.offset * block.itemsize == start_of(array) - start_of(block)
    moving = [axis for axis, size in enumerate(array.shape) if size != 1]
    strides = [stride // block.itemsize for stride in array.strides]
    assert [view.strides[axis] for axis in moving] == [strides[axis] for axis in moving]
    assert view.is_column_major == array.flags.f_contiguous
    assert view.has_repeats == any(strides[axis] == 0 for axis in moving)
    assert np.array_equal(read(view, block), array)


# One step of each kind: the view's result (None if it needs a copy) and NumPy's.

Step = tuple[View | None, np.ndarray]


def permute(draw, view, array):
    axes = tuple(draw(st.permutations(range(view.ndim))))
    return view.permute(axes), array.transpose(axes)


def flip(draw, view, array):
    marks = draw(st.tuples(*[st.booleans()] * view.ndim))
    key = [slice(None, None, -1 if mark else 1) for mark in marks]
    return view.flip(marks), array[(*key, ...)]


def shrink(draw, view, array):
    pairs = [draw(st.tuples(*[st.integers(0, size)] * 2)) for size in view.shape]
    bounds = tuple((min(pair), max(pair)) for pair in pairs)
    return view.shrink(bounds), array[(*[slice(*pair) for pair in bounds], ...)]


def index(draw, view, array):
    key = draw(basic_indices(array.shape, allow_newaxis=True, max_dims=MAX_NDIM))
    # With an ellipsis NumPy makes a view even of a single element.
    items = key if isinstance(key, tuple) else (key,)
    viewed = array[items if Ellipsis in items else (*items, ...)]
    return view.slice(basic_selection(key, array.shape)), viewed


def expand(draw, view, array):
    growth = draw(st.tuples(*[st.integers(0, 3)] * view.ndim))
    shape = tuple(new if old == 1 else old for old, new in zip(view.shape, growth, strict=True))
    if view.ndim < MAX_NDIM:
        shape = (*draw(st.lists(st.integers(1, 3), max_size=1)), *shape)
    if np.prod(shape) > MAX_ELEMENTS:
        return view, array
    return view.expand(shape), np.broadcast_to(array, shape)


def reshape(draw, view, array):
    shape = draw(factorisations(array.size))
    return view.reshape(shape), array.reshape(shape)


def pad(draw, view, array):
    padding = draw(st.tuples(*[st.tuples(*[st.integers(0, 2)] * 2)] * view.ndim))
    shape = [size + sum(pair) for size, pair in zip(view.shape, padding, strict=True)]
    if np.prod(shape) > MAX_ELEMENTS:
        return view, array
    padded = np.full(shape, PADDING)
    inside = [slice(b, b + n) for (b, _), n in zip(padding, view.shape, strict=True)]
    padded[(*inside, ...)] = array
    return view.pad(padding), padded


@st.composite
def factorisations(draw, size):
    """Shapes of `size` elements, with size-1 axes among them."""
    if size == 0:
        return draw(shapes.filter(lambda shape: 0 in shape))
    shape = []
    while size > 1 and len(shape) < MAX_NDIM - 1:
        shape.append(draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0])))
        size //= shape[-1]
    return (*shape, size) if size > 1 or not shape or draw(st.booleans()) else tuple(shape)


def needs_copy(array, shape):
    try:
        np.reshape(array, shape, copy=False)
    except ValueError:
        return True
    return False


@given(st.data(), shapes, st.booleans())
@settings(max_examples=100, deadline=None)
def test_unmasked_chains(data, shape, column_major):
    view = View.column_major(shape) if column_major else View.row_major(shape)
    block = np.arange(view.size)
    array = block.reshape(shape, order="F" if column_major else "C")
    seen = [(view, array)]
    repeated = False  # whether the view, or one that it was made from, repeats elements
    for _ in range(data.draw(st.integers(1, 6))):
        step = data.draw(st.sampled_from([permute, flip, shrink, index, expand, reshape]))
        result, expected = step(data.draw, view, array)
        if result is None:
            assert needs_copy(array, expected.shape)
            # Go on with the copy, which has a block of its own.
            block = expected.reshape(-1).copy()
            view, array = View(expected.shape), block.reshape(expected.shape)
            seen = []
            repeated = False
        else:
            if step is reshape and expected.size:
                assert not needs_copy(array, expected.shape)
            view, array = result, expected
            repeated = view.size != 0 and (repeated or view.has_repeats)
        check_same_view(view, array, block)
        assert view.is_read_only == repeated
        for other_view, other_array in seen:
            if max(view.ndim, other_view.ndim) <= 2:
                assert view.overlaps(other_view) == np.shares_memory(array, other_array)
            elif not view.overlaps(other_view):
                assert not np.shares_memory(array, other_array)
        seen.append((view, array))


@given(st.data(), shapes)
@settings(max_examples=100, deadline=None)
def test_masked_chains(data, shape):
    view = View(shape)
    block = np.arange(view.size)
    array = block.reshape(shape)
    repeated = False
    for _ in range(data.draw(st.integers(1, 6))):
        step = data.draw(st.sampled_from([pad, pad, permute, flip, shrink, index, expand, reshape]))
        result, expected = step(data.draw, view, array)
        if result is None:
            # An index into padding, a mask cut across, or strides that do not fit.
            if step is index:
                assert (expected == PADDING).all()
            else:
                assert step is reshape
                if view.mask is None:
                    assert needs_copy(read_strided(view, block), expected.shape)
            continue
        view, array = result, expected
        repeated = view.size != 0 and (repeated or view.has_repeats)
        assert view.is_read_only == repeated
        assert view.shape == array.shape
        assert np.array_equal(read(view, block), array)
        assert (view.mask is None) == (view.size == 0 or PADDING not in array)
        view.check_fits(block.size)


def read_strided(view, block):
    """The block seen through an unmasked view, by NumPy."""
    strides = [stride * block.itemsize for stride in view.strides]
    return np.ndarray(view.shape, block.dtype, block, view.offset * block.itemsize, strides)
