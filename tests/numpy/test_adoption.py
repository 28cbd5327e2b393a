"""Between arrays of the face and NumPy's: the same memory, in containers too, and other objects."""

from __future__ import annotations

from collections import namedtuple

import numpy

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
    x.tolist()
    assert count_numpys(0) == before + 2
