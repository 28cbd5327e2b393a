"""Between arrays of the face and NumPy's: the same memory, in containers too, and other objects."""

import zlib
from collections import namedtuple

import numpy
import pytest

import array_api_nx as xp
import array_api_nx.numpy as np
from array_api_nx.numpy.adoption import (
    adopted,
    as_faces,
    as_numpys,
    as_standards,
    by_numpy,
    count_numpys,
    scalar,
)
from tests.support.implementations import needs_native
from tests.support.refusals import refused

Pair = namedtuple("Pair", "first second")


def test_numpy_gets_arrays_over_the_same_memory_in_containers_too():
    x = np.arange(3)
    for found in (as_numpys([1, (x,)])[1][0], as_numpys({"out": [x]})["out"][0]):
        assert type(found) is numpy.ndarray
        found[0] += 7
    assert x.tolist() == [14, 1, 2]
    assert type(as_numpys(xp.arange(3))) is numpy.ndarray
    assert as_numpys(np.ndarray) is numpy.ndarray


def test_containers_without_arrays_stay_the_same_objects():
    nested = [1, (2.0, "a"), [None]]
    assert as_numpys(nested) is nested
    assert as_faces(nested) is nested
    assert by_numpy(lambda x: x, nested) is nested


def test_what_numpy_returns_becomes_arrays_of_the_face():
    given = numpy.arange(3)
    found = as_faces(Pair(given, [given, "a"]))
    assert type(found) is Pair
    assert type(found.first) is type(found.second[0]) is np.ndarray
    found.first[0] = 5
    assert given[0] == 5
    assert type(as_faces(xp.arange(3))) is np.ndarray


def test_arrays_that_ours_cannot_be_stay_numpys():
    bools = numpy.asarray([2, 1, 0], numpy.uint8).view(bool)
    apart = numpy.zeros(9, numpy.uint8)[1:].view(numpy.float64)
    for array in (
        *(bools, apart, numpy.zeros(2, object), numpy.zeros(2, ">f8"), numpy.ma.ones(2)),
        *(numpy.zeros(2, "m8[s]"), numpy.zeros(2, "i4,f8"), numpy.asarray(["a"])),
    ):
        assert adopted(array) is array


def test_what_was_given_comes_back_as_it_was():
    x, y = np.arange(3), np.zeros(3)
    found = by_numpy(lambda a, b: (b, a), x, y)
    assert found[0] is y
    assert found[1] is x
    assert by_numpy(numpy.add, x, 1, out=(y,)) is y
    assert y.tolist() == [1, 2, 3]


def test_arrays_without_axes_are_scalars_and_standards_share_elements():
    assert type(scalar(xp.asarray(1.5))) is numpy.float64
    assert [type(each) for each in scalar((xp.asarray(1), xp.ones(2)))] == [numpy.int64, np.ndarray]
    x = np.arange(3)
    found = as_standards({"a": [x]})["a"][0]
    assert type(found) is xp.Array
    found[0] = 4
    assert x[0] == 4


def test_calls_of_numpy_are_counted():
    x = np.ones(3)
    before = count_numpys(0)
    by_numpy(numpy.add, 1, 2)
    x.byteswap()
    assert count_numpys(0) == before + 2


@needs_native
def test_views_that_numpy_makes_of_arguments_lie_in_their_storage():
    x = np.arange(12.0).reshape(3, 4)
    for view in (np.flipud(x), x[1:].squeeze(), np.swapaxes(x, 0, 1), x.view("u8"), x.diagonal()):
        assert numpy.shares_memory(numpy.asarray(view), numpy.asarray(x))
    assert np.array_equal(np.flipud(x), x[::-1])
    assert np.array_equal(x.diagonal(), [0, 5, 10])
    reversed_rows = np.flipud(x[1:, ::2])
    reversed_rows[0, 1] = 70
    assert x[2, 2] == 70
    assert reversed_rows.tolist() == [[8, 70], [4, 6]]
    y = np.arange(2**20, dtype=np.float64)
    np.flip(y)[0] = -1
    assert y[-1] == -1
    assert not np.broadcast_to(y, (2, y.size)).flags.writeable


def test_views_of_the_bytes_of_other_elements_are_numpys():
    x = np.arange(3, dtype=np.uint8)
    assert type(x.view(bool)) is numpy.ndarray
    records = np.arange(4, dtype=np.int32).view([("a", "i4"), ("b", "i4")])
    assert type(records) is numpy.ndarray
    records["b"] = 9
    assert records["a"].tolist() == [0, 2]
    halves = np.arange(4.0).view("c16").view("f8").reshape(2, 2)[:, 1]
    halves += 1
    assert halves.tolist() == [2, 4]


def test_classes_with_an_array_method_are_recognized_whatever_came_before():
    class Without:
        pass

    class With:
        def __array__(self, dtype=None, copy=None):
            return np.ones(2)

    for each in (Without(), With(), range(2), With(), Without(), range(3)):
        found = np.atleast_1d(each)
        assert found.shape == numpy.atleast_1d(found).shape
        assert (type(each) is With) == (found.tolist() == [1.0, 1.0])


def test_attributes_are_numpys():
    for make in (
        lambda namespace: namespace.zeros((3, 4), numpy.int16),
        lambda namespace: namespace.zeros((2, 0)),
        lambda namespace: namespace.asarray(2.0),
        lambda namespace: namespace.zeros((4, 6))[::2, ::-3],
    ):
        x, array = make(np), make(numpy)
        for name in ("strides", "itemsize", "nbytes", "shape", "ndim", "size", "dtype"):
            assert getattr(x, name) == getattr(array, name), name
        array = numpy.asarray(x)
        assert x.__array_interface__["data"][0] == array.__array_interface__["data"][0]
    with pytest.raises(AttributeError):
        np.zeros(2).itemsize = 3


def test_the_memory_is_numpys():
    x, array = np.arange(6.0).reshape(2, 3), numpy.arange(6.0).reshape(2, 3)
    for read in (
        lambda memory: (memory.nbytes, memory.shape, memory.strides, memory.itemsize, memory.ndim),
        lambda memory: (memory.format, memory.readonly, memory.contiguous, len(memory)),
        lambda memory: (bytes(memory), memory.tobytes(), memory.tolist(), memory[1, 2]),
        lambda memory: (memory.cast("B")[15], memoryview(memory).shape, zlib.crc32(memory)),
        lambda memory: (memory == memory, memory != memory, memory == b"", repr(memory)[:10]),
    ):
        assert read(x.data) == read(array.data)
    assert x.T.data.strides == array.T.data.strides
    x.data[0, 1] = 7.0
    assert x[0, 1] == 7.0
    assert x.data != array.data
    with pytest.raises(AttributeError):
        x.data = array.data


def test_division_with_remainder_is_numpys():
    x = np.asarray([7, -7, 5])
    for given in (divmod(x, 3), divmod(20, x), divmod(x, x[::-1]), divmod(x, 2.5)):
        assert [type(each) for each in given] == [np.ndarray] * 2
    assert [each.tolist() for each in divmod(x, 3)] == [[2, -3, 1], [1, 2, 2]]
    assert [each.tolist() for each in divmod(20, x)] == [[2, -3, 4], [6, -1, 0]]
    refused(TypeError, None, divmod, x, "a")


def test_numpy_computes_on_copies_where_it_reaches_no_memory():
    x = np.asarray([[2.0, 1.0], [1.0, 3.0]], device="test:no_host")
    found = by_numpy(numpy.rot90, x)
    assert (str(found.device), found.tolist()) == ("test:no_host", [[1, 3], [2, 1]])
    by_numpy(numpy.fill_diagonal, x, 5.0)
    assert x.tolist() == [[5, 1], [1, 5]]
    assert type(np.sum(x)) is numpy.float64
