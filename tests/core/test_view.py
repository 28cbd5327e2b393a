"""Views, one property at a time.

Where an oracle is needed it is a NumPy array: of the elements in order, with `PADDING` where the
view is masked, or of the same strides over the same block of memory.
"""

import pickle
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from array_api_nx.core import layout
from array_api_nx.core.symbolic import SymbolicShape, dynamic
from array_api_nx.core.view import View
from tests.support.refusals import refused
from tests.support.views import positions

BLOCK = np.arange(20_000)


def strided(view):
    """`BLOCK` seen through an unmasked view, by NumPy."""
    steps = [stride * BLOCK.itemsize for stride in view.strides]
    return as_strided(BLOCK[view.offset :], view.shape, steps)


def test_defaults_are_row_major_unmasked_and_from_the_start():
    view = View((2, 3, 4))
    assert view.shape == (2, 3, 4)
    assert view.strides == (12, 4, 1)
    assert view.offset == 0
    assert view.mask is None
    assert view.ndim == 3
    assert view.size == 24
    assert (view.shape, view.strides) == ((2, 3, 4), (12, 4, 1))
    assert view.is_static


def test_sequences_become_tuples():
    view = View([2, 3], [1, 2], 4, [(0, 2), (1, 3)])
    assert (view.shape, view.strides, view.mask) == ((2, 3), (1, 2), ((0, 2), (1, 3)))
    assert view is View((2, 3), (1, 2), 4, ((0, 2), (1, 3)))
    assert type(View(SymbolicShape((2, 3))).shape) is tuple
    assert type(View((6,)).reshape(SymbolicShape((2, 3))).shape) is tuple


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (((2.0,),), TypeError, "sizes must be int or Dim"),
        (((True, 2),), TypeError, "sizes must be int or Dim"),
        (((np.int64(2),),), TypeError, "convert them with int"),
        (((2, -1),), ValueError, "must not be negative"),
        (((2, 3), (1,)), ValueError, "1 strides do not fit 2 dimensions"),
        (((2, 3), (1.0, 1)), TypeError, "strides must be int or Dim"),
        (((2, 3), (np.int64(3), 1)), TypeError, "strides must be int or Dim"),
        (((2,), (1,), 0.0), TypeError, "an offset must be an int"),
        (((2,), None, 0, ((0, 1), (0, 1))), ValueError, "mask of 2 ranges does not fit 1"),
        (((2,), None, 0, ((0, 3),)), ValueError, r"\(0, 3\) does not lie within an axis of size 2"),
        (((2,), None, 0, ((-1, 1),)), ValueError, "does not lie within"),
        (((2,), None, 0, ((2, 1),)), ValueError, "does not lie within"),
        (((2,), None, 0, ((0.0, 1),)), TypeError, "pairs of ints"),
    ],
)
def test_wrong_parts_are_refused(arguments, error, message):
    refused(error, message, View, *arguments)


def test_full_masks_are_removed():
    assert View((2, 3), mask=((0, 2), (0, 3))) is View((2, 3))
    assert View((2, 3), mask=((0, 2), (0, 2))).mask == ((0, 2), (0, 2))
    assert View((), mask=()) is View(())


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3, 0)])
def test_views_without_elements_have_no_offset_and_no_mask(shape):
    view = View(shape, offset=7, mask=tuple((0, size // 2) for size in shape))
    assert view == View(shape)
    assert (view.offset, view.mask, view.size) == (0, None, 0)
    assert view.is_column_major
    assert view.extent == (0, 0)
    view.check_fits(0)


@pytest.mark.parametrize(
    ("shape", "strides", "row", "column"),
    [
        ((6,), (1,), True, True),
        ((6,), (2,), False, False),
        ((6,), (0,), False, False),
        ((6,), (-1,), False, False),
        ((2, 3), (3, 1), True, False),
        ((2, 3), (1, 2), False, True),
        ((2, 3), (4, 1), False, False),
        ((1, 3), (300, 1), True, True),
        ((3, 1), (1, -7), True, True),
        ((1, 1), (5, 0), True, True),
        ((2, 1, 3), (3, 77, 1), True, False),
        ((2, 1, 3), (1, 0, 2), False, True),
        ((0, 3), (8, 9), True, True),
    ],
)
def test_size_one_axes_never_spoil_contiguity(shape, strides, row, column):
    view = View(shape, strides)
    flags = as_strided(BLOCK[100:], shape, [8 * s for s in strides]).flags
    assert (flags.c_contiguous, flags.f_contiguous) == (row, column)
    assert (view.is_row_major, view.is_column_major) == (row, column)


def test_a_mask_spoils_contiguity_and_standard_strides():
    view = View((4,), mask=((1, 3),))
    assert not view.is_row_major
    assert not view.is_column_major
    assert not view.is_column_major
    assert view.strides == (1,)
    assert view.mask is not None
    assert not view.is_materializable


def test_strides_of_an_unmasked_view():
    view = View((2, 3), (1, -2), 5)
    assert [view.byte_layout(size)[1] for size in (1, 8, 1)] == [(1, -2), (8, -16), (1, -2)]
    assert view.byte_layout(8)[0] == 8 * view.offset
    assert (view.strides, view.mask) == ((1, -2), None)
    assert view.is_materializable


@st.composite
def layouts(draw, max_ndim=3, masked=False):
    """Views with strides of either sign, at an offset that keeps them inside `BLOCK`."""
    shape = draw(st.lists(st.integers(0, 5), max_size=max_ndim).map(tuple))
    strides = draw(st.tuples(*[st.integers(-12, 12)] * len(shape)))
    mask = None
    if masked:
        ranges = [st.tuples(st.integers(0, n), st.integers(0, n)) for n in shape]
        mask = tuple((min(r), max(r)) for r in draw(st.tuples(*ranges)))
    offset = draw(st.integers(0, 30)) - View(shape, strides).extent[0]
    return View(shape, strides, offset, mask)


@given(layouts(masked=True))
@settings(max_examples=100)
def test_extent_is_the_exact_range_of_positions(view):
    touched = positions(view)
    low, high = view.extent
    if touched:
        assert (low, high) == (min(touched), max(touched) + 1)
        view.check_fits(high)
        refused(ValueError, "outside a block", view.check_fits, high - 1)
    else:
        assert (low, high) == (0, 0)
        view.check_fits(0)


def test_explicit_strides_are_checked_against_the_block():
    View((2, 3), (3, 1)).check_fits(6)
    with pytest.raises(ValueError, match=r"positions 0 to 5, outside a block of 5 elements; give"):
        View((2, 3), (3, 1)).check_fits(5)
    refused(ValueError, "positions -2 to 0", View((3,), (-1,)).check_fits, 100)
    View((3,), (-1,), 2).check_fits(3)
    View((5,), (1,), -1, ((1, 4),)).check_fits(3)


@given(layouts(), layouts())
@settings(max_examples=120)
def test_overlaps_against_numpy(first, second):
    shared = np.shares_memory(strided(first), strided(second))
    if not first.overlaps(second):
        assert not shared
    elif first.ndim <= 2 and second.ndim <= 2:
        assert shared
    assert first.overlaps(second) == second.overlaps(first)


@given(layouts(masked=True), layouts(masked=True))
@settings(max_examples=80)
def test_masked_overlaps_are_never_missed(first, second):
    if not first.overlaps(second):
        assert not set(positions(first)) & set(positions(second))


def test_overlaps_that_are_easy_to_get_wrong():
    even, odd = View((50,), (2,)), View((50,), (2,), 1)
    assert even.overlaps(even)
    assert not even.overlaps(odd)
    # The first and the last element lie outside the other view's; those between do not.
    crossed = View((3, 3), (-5, 6), 20)
    assert crossed.overlaps(View((1,), (1,), 16))
    # Halves of a large matrix interleave row by row.
    assert not View((5000, 2500), (5000, 1)).overlaps(View((5000, 2500), (5000, 1), 2500))
    assert View((5000, 2501), (5000, 1)).overlaps(View((5000, 2500), (5000, 1), 2500))
    # No common divisor of the strides divides the distance, however many ways there are to add up.
    tangled = (50, 50, 50), (14, 22, 26)
    assert not View(*tangled).overlaps(View(*tangled, 1))
    # 14 is twice the stride of the first view, but its index stops at 1.
    assert not View((2,), (7,)).overlaps(View((5,), (3,), 2))
    assert View((3,), (7,)).overlaps(View((5,), (3,), 2))
    assert not View((0,)).overlaps(View((3,)))
    assert View((), offset=3).overlaps(View((4,)))
    assert not View((), offset=4).overlaps(View((4,)))


def test_a_search_cut_short_answers_that_views_may_overlap(monkeypatch):
    first, second = View((4, 4), (7, 3)), View((4, 4), (7, 3), 1)
    exact = bool(set(positions(first)) & set(positions(second)))
    assert first.overlaps(second) == exact
    monkeypatch.setattr(layout, "_MAX_SEARCH", 0)
    assert first.overlaps(second)
    assert not first.overlaps(View((4,), (1,), 100))


@given(layouts(max_ndim=4))
@settings(max_examples=100)
def test_merge_axes_visits_the_same_positions_in_the_same_order(view):
    shape, strides = view.merge_axes()
    merged = View(shape, strides, view.offset)
    assert positions(merged) == positions(view)
    assert len(shape) <= view.ndim
    assert 1 not in shape
    pairs = list(zip(shape, strides, strict=True))
    assert all(outer != size * inner for (_, outer), (size, inner) in pairwise(pairs))


def test_merge_axes_examples():
    assert View((2, 3, 4)).merge_axes() == ((24,), (1,))
    assert View((2, 3, 4)).permute((1, 0, 2)).merge_axes() == ((3, 2, 4), (4, 12, 1))
    assert View((1, 1)).merge_axes() == ((), ())
    assert View((3,)).expand((2, 3)).merge_axes() == ((2, 3), (0, 1))
    refused(ValueError, "shrink it to its mask first", View((3,)).pad(((1, 0),)).merge_axes)


def test_reshape_to_the_same_shape_is_the_view_itself():
    for view in (View((2, 3), (1, 2), 4), View((4,), mask=((1, 2),)), View((0, 2), (9, 9))):
        assert view.reshape(view.shape) is view


def test_reshape_of_views_without_elements_always_works():
    assert View((0, 3), (1, 0)).reshape((5, 0, 2)) is View((5, 0, 2))
    refused(ValueError, "0 elements cannot become 1", View((0,)).reshape, ())


@pytest.mark.parametrize("shape", [(4,), (), (6, 0), (7, 1)])
def test_reshape_names_the_numbers_of_elements(shape):
    with pytest.raises(ValueError, match=r"cannot reshape \(2, 3\) .*give sizes whose product"):
        View((2, 3)).reshape(shape)


@pytest.mark.parametrize("shape", [(-2, -3), (-6, -1)])
def test_reshape_refuses_negative_sizes(shape):
    refused(ValueError, "must not be negative", View((6,)).reshape, shape)


def test_expand_to_the_same_shape_is_the_view_itself():
    view = View((1, 3), (77, 2))
    assert view.expand((1, 3)) is view


def test_expand_of_and_to_views_without_elements():
    assert View((0, 1)).expand((2, 0, 3)).shape == (2, 0, 3)
    assert View((1, 3)).expand((0, 3)).size == 0
    refused(ValueError, "only axes of size 1 grow", View((0,)).expand, (2,))


@pytest.mark.parametrize("shape", [(4,), (3, 2), (3, 1), (2,), ()])
def test_expand_refuses_other_axes(shape):
    with pytest.raises(ValueError, match=r"cannot expand \(2, 3\) to .*only axes of size 1 grow"):
        View((2, 3)).expand(shape)


def test_expand_refuses_negative_sizes():
    refused(ValueError, "must not be negative", View((1,)).expand, (-1,))


@pytest.mark.parametrize("axes", [(0,), (0, 0), (0, 2), (-1, 0), (0, 1, 2)])
def test_permute_wants_each_axis_once(axes):
    with pytest.raises(ValueError, match=r"no permutation of the 2 axes.*name each of \(0, 1\)"):
        View((2, 3)).permute(axes)


def test_a_flip_is_a_slice():
    view = View((4, 3))
    assert view.flip((True, False)) is view.slice(((3, 4, -1), (0, 3, 1)))
    assert view.slice(((3, 4, -1), (0, 3, 1))).strides == (-3, 1)
    assert view.slice(((3, 4, -1), (0, 3, 1))).offset == 9


def test_a_step_that_is_never_taken_leaves_the_stride():
    assert View((3, 3)).slice(((0, 1, 100), (0, 3, 1))).is_row_major
    assert View((4,)).slice(((1, 1, 2**62),)).strides == (1,)
    assert View((4,)).slice(((4, 0, 2**62),)).shape == (0,)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ((3, 0), "index 3 does not lie within an axis of size 3"),
        ((-1, 0), "index -1 does not lie within"),
        (((0, 4, 1), 0), r"slice \(0, 4, 1\) does not lie within an axis of size 3"),
        (((2, 4, -1), 0), "does not lie within"),
        (((-1, 1, 1), 0), "does not lie within"),
        (((0, -1, 1), 0), "does not lie within"),
        ((0,), "does not name all 2 axes"),
        ((0, 0, 0), "more items than 2 axes"),
    ],
)
def test_slice_refuses_what_lies_outside(selection, message):
    refused(ValueError, message, View((3, 2)).slice, selection)


@pytest.mark.parametrize("bounds", [((0, 5), (0, 5)), ((-1, 2), (0, 5)), ((3, 2), (0, 5))])
def test_shrink_refuses_what_lies_outside(bounds):
    with pytest.raises(ValueError, match="does not lie within an axis of size 4; give 0 <= start"):
        View((4, 5)).shrink(bounds)


@pytest.mark.parametrize("name", ["shrink", "pad", "flip"])
def test_transforms_take_one_item_per_axis(name):
    item = True if name == "flip" else (0, 0)
    refused(ValueError, r"1 .* do not fit 2 dimensions", getattr(View((2, 3)), name), (item,))


def test_symbolic_row_major_strides():
    n, m = dynamic("n", min=1), dynamic("m", min=1)
    view = View((2, n, m))
    assert view.strides == (n * m, m, 1)
    assert view.size == 2 * n * m
    assert not view.is_static
    assert not view.is_materializable
    assert view.mask is None
    assert View.column_major((n, m)).strides == (1, n)
    assert View.column_major((n, m)).is_column_major
    assert View((2, n, m)) == view


def test_symbolic_expand_and_permute():
    n = dynamic("n", min=1)
    view = View((1, 4)).expand((n, 4))
    assert (view.shape, view.strides) == ((n, 4), (0, 1))
    assert View((n, 4)).expand((3, n, 4)).strides == (0, 4, 1)
    assert View((n, 4)).permute((1, 0)).strides == (1, 4)
    assert View((n, 4)).permute((1, 0)).is_column_major
    refused(ValueError, "only axes of size 1 grow", View((n,)).expand, (3,))


def test_symbolic_reshape_of_contiguous_views():
    n = dynamic("n", min=1)
    view = View((n, 4), offset=3)
    assert view.reshape((4 * n,)) == View((4 * n,), offset=3)
    assert view.reshape((2, n, 2)).strides == (2 * n, 2, 1)
    assert view.reshape((n, 4)) is view
    assert view.permute((1, 0)).reshape((4 * n,)) is None
    refused(ValueError, re.escape(f"{4 * n} elements cannot become {5 * n}"), view.reshape, (n, 5))
    refused(ValueError, "elements cannot become 8", view.reshape, (8,))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("shrink", (((0, 1), (0, 1)),)),
        ("pad", (((0, 1), (0, 1)),)),
        ("merge_axes", ()),
        ("check_fits", (10,)),
        ("byte_layout", (8,)),
        ("overlaps", (View((2,)),)),
    ],
)
def test_what_needs_numbers_names_the_variable(name, arguments):
    n = dynamic("batch", min=1)
    for view in (View((n, 4)), View((2, 2), (n, 1))):
        with pytest.raises(ValueError, match=f"needs concrete sizes.*bind {n} first"):
            getattr(view, name)(*arguments)


def test_symbolic_slices_and_flips():
    n = dynamic("n", min=2)
    view = View((n, 4)).slice(((1, n - 1, 1), None, (0, 2, 2)))
    assert view == View((n - 1, 1, 2), (4, 0, 2), 4)
    assert View((n, 4)).slice((n - 1, (0, 4, 1))) == View((4,), (1,), 4 * n - 4)
    flipped = View((n, 4)).flip((True, False))
    assert flipped == View((n, 4), (-4, 1), 4 * n - 4)
    assert not flipped.is_static
    assert flipped.at((3, 4, -4, 1, 8), 2) == View((3, 4), (-4, 1), 10)
    for selection in ((n - 1,), (n - 1, 0, 0)):
        refused(ValueError, "selection", View((n, 4)).slice, selection)
    refused(ValueError, "cannot slice the masked", View((3,)).pad(((1, 1),)).slice, ((0, n, 1),))


def test_symbolic_views_inherit_that_they_are_read_only():
    n = dynamic("n", min=2)
    view = View((n, 4)).expand((3, n, 4))
    for part in (
        view.slice((0, (0, n, 1), (0, 4, 1))),
        view.slice((1, (0, n, 1), (0, 4, 1))).permute((1, 0)),
        view.slice((1, (0, n, 1), (0, 4, 1))).permute((1, 0)).reshape((2, 2, n)),
        view.slice((1, (0, n, 1), (0, 4, 1))).reshape((4 * n,)),
        view.slice((1, (0, n, 1), (0, 4, 1))).flip((True, False)),
        view.slice((1, (0, n, 1), (0, 4, 1))).expand((1, n, 4)),
    ):
        assert not part.has_repeats
        assert part.is_read_only
    whole = view.slice((0, (0, n, 1), (0, 4, 1)))
    assert whole.at((5, 4, 4, 1, 0)) is View((5, 4), is_read_only=True)
    assert whole != View((n, 4))


def test_a_mask_needs_concrete_sizes():
    n = dynamic("n", min=1)
    refused(ValueError, "a mask needs concrete sizes", View, (n,), mask=((0, 1),))
    with pytest.raises(ValueError, match=r"cannot expand a masked view .*needs concrete sizes"):
        View((1, 3)).pad(((0, 0), (1, 1))).expand((n, 5))


def test_symbolic_views_are_values():
    n = dynamic("n", min=1)
    view = View((n, 4), (1, n))
    assert view == View((n, 4), (1, n))
    assert hash(view) == hash(View((n, 4), (1, n)))
    assert view != View((dynamic("n", min=1), 4), (1, n))
    assert pickle.loads(pickle.dumps(view)) == view
    assert repr(view) == f"View([{n}, 4], strides=[1, {n}])"
