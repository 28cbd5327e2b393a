"""Masked views: which elements are padding, and which transforms keep the mask.

The oracle is an array with `PADDING` where the view is masked.
"""

import numpy as np
import pytest

from array_api_nx.core.view import View
from tests.support import views
from tests.support.refusals import refused
from tests.support.views import PADDING

BLOCK = np.arange(1000)


def read(view):
    return views.read(view, BLOCK)


def test_pad_is_virtual():
    view = View((2, 3), offset=2).pad(((1, 2), (0, 3)))
    assert view.shape == (5, 6)
    assert view.strides == (3, 1)
    assert view.offset == -1
    assert view.mask == ((1, 3), (0, 3))
    assert view.extent == (2, 8)
    expected = np.pad(read(View((2, 3), offset=2)), ((1, 2), (0, 3)), constant_values=PADDING)
    assert np.array_equal(read(view), expected)


def test_pad_by_nothing_is_the_view_itself():
    for view in (View((2, 3)), View((4,), mask=((1, 2),)), View((0, 2)), View(())):
        assert view.pad(((0, 0),) * view.ndim) is view


def test_padding_a_view_without_elements_has_padding_only():
    view = View((2, 0)).pad(((1, 1), (1, 1)))
    assert view.shape == (4, 2)
    assert (read(view) == PADDING).all()
    assert view.extent == (0, 0)


def test_pad_refuses_negative_amounts():
    refused(ValueError, r"must not be negative.*shrink instead", View((2,)).pad, ((-1, 0),))


def test_shrinking_to_the_mask_removes_it():
    view = View((2, 3)).pad(((1, 2), (3, 4)))
    assert view.shrink(view.mask) is View((2, 3))


def test_an_element_of_a_padded_view_is_an_ordinary_scalar():
    view = View((2, 2)).pad(((1, 1), (1, 1)))
    element = view.slice((1, 2))
    assert element is View((), offset=1)
    assert element.mask is None
    assert element.mask is None
    assert view.slice((0, 2)) is None
    assert view.slice((0, (0, 4, 1))) is None
    assert View(()).pad(()) is View(())


@pytest.mark.parametrize(
    ("shape", "mask"),
    [
        ((3, 4), ((1, 3), (0, 4))),
        ((6, 2), ((2, 6), (0, 2))),
        ((3, 2, 2), ((1, 3), (0, 2), (0, 2))),
        ((3, 1, 4), ((1, 3), (0, 1), (0, 4))),
        ((12,), ((4, 12),)),
    ],
)
def test_reshape_keeps_a_mask_of_whole_slabs(shape, mask):
    view = View((3, 4), mask=((1, 3), (0, 4)))
    result = view.reshape(shape)
    assert result.mask == mask
    assert np.array_equal(read(result), read(view).reshape(shape))


def test_reshape_that_cuts_the_mask_is_none():
    assert View((3, 4), mask=((1, 3), (0, 4))).reshape((2, 6)) is None
    assert View((3, 4), mask=((0, 2), (0, 4))).reshape((2, 6)) is None
    assert View((3, 4), mask=((0, 3), (1, 3))).reshape((12,)) is None
    assert View((12,), mask=((5, 12),)).reshape((3, 4)) is None


def test_reshape_leaves_a_mask_on_axes_that_stay():
    view = View((2, 6), mask=((0, 2), (1, 4)))
    result = view.reshape((2, 1, 6))
    assert np.array_equal(read(result), read(view).reshape(2, 1, 6))
    assert view.reshape((1, 2, 6)).reshape((2, 6)).mask == view.mask
