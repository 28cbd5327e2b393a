"""Keys: those that the standard describes work as on plain arrays, all others are refused."""

import numpy as np
import pytest

import array_api_nx
from array_api_nx.testing import strict
from tests.support.refusals import refused
from tests.support.tables import for_each

xp = strict()


def grid(namespace=xp):
    return namespace.reshape(namespace.arange(12), (3, 4))


class Index:
    def __repr__(self):
        return "Index()"

    def __index__(self):
        return 1


ALLOWED = [
    (0, 0), (-1, ...), (..., 1), ..., (slice(None), 2), (slice(0, 3, 2), ...), (None, 1, 1),
    (slice(None, None, -1), ...), (..., slice(-4, 4)), (slice(3, None), 0), (slice(2, None, -1), 0),
    (slice(None, -4, -1), 0), (Index(), np.int64(1)), (slice(np.int64(1), None), ...), (None, ...),
    (slice(0, 0), slice(None)),
]  # fmt: skip


@for_each("key", ALLOWED)
def test_keys_of_the_standard_select_what_they_do_elsewhere(key):
    found = grid()[key]
    expected = array_api_nx.reshape(array_api_nx.arange(12), (3, 4))[key]
    assert found.shape == expected.shape
    assert np.from_dlpack(found).tolist() == np.asarray(expected).tolist()


@for_each(
    ("key", "instead"),
    [
        (0, r"\.\.\."),
        (slice(None), r"\.\.\."),
        ((), r"\.\.\."),
        ((slice(0, 4), 0), "left unspecified"),
        ((slice(4, None), 0), "left unspecified"),
        ((slice(-4, None), 0), "left unspecified"),
        ((..., slice(None, 5)), "left unspecified"),
        ((..., slice(-5, None)), "left unspecified"),
        ((slice(None, -5, -1), 0), "left unspecified"),
        ([0, 1], "asarray"),
        (np.asarray([0, 1]), "asarray"),
        (np.ones((3, 4), dtype=bool), "asarray"),
        (True, "mask"),
        ("a", "int, a slice"),
        ((1.0, 0), "int, a slice"),
        (((0, 1), 0), "asarray"),
    ],
)
def test_other_keys_are_refused_in_reading_and_writing(key, instead):
    x = grid()
    refused(IndexError, instead, x.__getitem__, key)
    with pytest.raises(IndexError, match=instead):
        x[key] = 0


def test_more_indices_than_axes_and_two_ellipses_are_index_errors():
    for key in ((0, 0, 0), (..., 0, ...), (slice(0, 9), 0, 0)):
        refused(IndexError, None, grid().__getitem__, key)


def test_arrays_of_ints_select_with_ints_alone():
    x, rows, columns = grid(), xp.asarray([0, 2]), xp.asarray([[1], [3]])
    assert np.from_dlpack(x[rows, columns]).tolist() == [[1, 9], [3, 11]]
    assert np.from_dlpack(x[rows, 1]).tolist() == [1, 9]
    assert x[xp.asarray(1), xp.asarray(2)].shape == ()
    assert x[xp.asarray(1), :].shape == (4,)
    for key in ((rows, ...), (rows, slice(None)), (rows, 0, None), (..., rows)):
        refused(IndexError, r"xp\.take", x.__getitem__, key)
    refused(IndexError, r"xp\.take", lambda: x[rows])
    with pytest.raises(IndexError, match=r"xp\.where"):
        x[rows, columns] = 0
    refused(IndexError, "ints or bools", lambda: x[xp.asarray([1.0]), 0])
    refused(IndexError, r"no|out of", lambda: x[xp.asarray([7]), 0])


def test_arrays_of_ints_came_with_2024_12():
    x = strict("2023.12").arange(3)
    index = strict("2023.12").asarray([0])
    refused(IndexError, r"came with 2024\.12", lambda: x[index])
    assert x[strict("2023.12").asarray(1)].shape == ()


def test_a_mask_is_the_sole_index():
    x = grid()
    mask = x > 5
    assert x[mask].shape == x[mask,].shape == (6,)
    assert x[xp.asarray([True, False, True])].shape == (2, 4)
    x[mask] = 0
    assert int(xp.sum(x)) == 15
    for key in ((mask, ...), (xp.asarray([True, False, True]), 0), (None, mask)):
        refused(IndexError, "sole", x.__getitem__, key)
    refused(IndexError, None, lambda: x[xp.ones((3, 4, 1), dtype=xp.bool)])


def test_masks_can_be_left_out():
    without = strict(boolean_indexing=False)
    x = without.arange(3)
    refused(RuntimeError, r"xp\.where", lambda: x[x > 1])
    with pytest.raises(RuntimeError, match=r"xp\.where"):
        x[x > 1] = 0
    assert without.__array_namespace_info__().capabilities()["boolean indexing"] is False


def test_values_are_of_a_dtype_that_promotes_to_the_arrays():
    x = xp.zeros((3,), dtype=xp.int32)
    x[0] = 1
    x[1] = xp.asarray(2, dtype=xp.int8)
    x[...] = xp.asarray([3], dtype=xp.int16)
    assert np.from_dlpack(x).tolist() == [3, 3, 3]
    y = xp.zeros((2,))
    y[0] = np.float64(2.5)
    assert float(y[0]) == 2.5
    for value in (np.float32(1.0), np.int64(1)):
        with pytest.raises(TypeError, match="NumPy's scalar"):
            y[0] = value
    for value in (xp.asarray(1), xp.asarray(1.0), xp.asarray(True), 1.0, True, 1j):
        with pytest.raises(TypeError):
            x[0] = value
    with pytest.raises(TypeError, match=r"x\.dtype"):
        xp.zeros((1,))[0] = 1j
    with pytest.raises(OverflowError):
        xp.zeros((1,), dtype=xp.uint8)[0] = 300
    with pytest.raises(TypeError, match="asarray"):
        x[...] = [1, 2, 3]
    with pytest.raises(TypeError, match="from_dlpack"):
        x[...] = strict("2024.12").zeros((3,), dtype=xp.int32)
    with pytest.raises(IndexError, match="None"):
        x[None, ...] = 0
    assert np.from_dlpack(x).tolist() == [3, 3, 3]


def test_indices_are_of_the_same_namespace():
    other = strict("2024.12")
    refused(IndexError, None, lambda: xp.arange(3)[other.asarray([0])])
    refused(IndexError, None, lambda: xp.arange(3)[array_api_nx.asarray([0])])
