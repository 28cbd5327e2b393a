"""The order of elements, and which are distinct, under NumPy's names (numpy/orders.py)."""

from __future__ import annotations

import numpy
import pytest

import array_api_nx as xp
import array_api_nx.numpy as np
from array_api_nx.numpy.adoption import count_numpys
from tests.support.implementations import needs_call_lists, needs_native
from tests.support.refusals import refused

SIZES = [1, 5, 300, 20_000, 70_000]

FLAGS = [
    {},
    {"return_index": True},
    {"return_inverse": True},
    {"return_counts": True},
    {"return_inverse": True, "return_counts": True},
    {"return_index": True, "return_inverse": True, "return_counts": True},
]


def elements(kind, size):
    rng = numpy.random.default_rng(size)
    if kind == "NaN":
        return numpy.where(rng.random(size) < 0.3, numpy.nan, rng.random(size))
    if kind == "zeros":
        return rng.choice([0.0, -0.0, 1.0], size)
    if kind == "complex":
        return rng.integers(0, 3, size) + 1j * rng.integers(0, 3, size)
    if kind in ("float32", "float64"):
        return rng.random(size).astype(kind)
    return rng.integers(0, 100 if kind == "int8" else size, size).astype(kind)


KINDS = ["float64", "float32", "int64", "int32", "int8", "bool", "complex", "NaN", "zeros"]


def assert_same(ours, numpys):
    assert type(ours) is type(numpys) or type(ours) is np.ndarray
    for one, other in zip(
        ours if type(ours) is tuple else (ours,),
        numpys if type(numpys) is tuple else (numpys,),
        strict=True,
    ):
        assert type(one) is np.ndarray
        numpy.testing.assert_array_equal(numpy.asarray(one), other, strict=True)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_distinct_elements_are_numpys(kind, size):
    x = elements(kind, size)
    for flags in FLAGS:
        assert_same(np.unique(np.asarray(x), **flags), numpy.unique(x, **flags))


def test_distinct_elements_of_several_axes():
    x = numpy.random.default_rng(1).integers(0, 9, (30, 40))
    for flags in FLAGS:
        assert_same(np.unique(np.asarray(x), **flags), numpy.unique(x, **flags))
        assert_same(np.unique(np.asarray(x), axis=0, **flags), numpy.unique(x, axis=0, **flags))
        turned = np.asarray(x).T
        assert_same(np.unique(turned, **flags), numpy.unique(x.T, **flags))


@pytest.mark.parametrize("shape", [(), (1,), (9,), (4000,), (3, 4, 5)])
@pytest.mark.parametrize("share", [0.5, 1])
def test_nan_is_one_element(shape, share):
    rng = numpy.random.default_rng(2)
    x = numpy.where(rng.random(shape) < share, numpy.nan, rng.integers(0, 3, shape))
    for flags in FLAGS:
        for dtype in (numpy.float64, numpy.float32):
            part = x.astype(dtype)
            assert_same(np.unique(np.array(part), **flags), numpy.unique(part, **flags))
            assert_same(np.unique(np.array(part).T, **flags), numpy.unique(part.T, **flags))


def test_nan_may_differ_from_itself():
    x = elements("NaN", 300)
    assert_same(np.unique(np.asarray(x), equal_nan=False), numpy.unique(x, equal_nan=False))


def test_distinct_elements_of_lists_and_of_nothing():
    assert np.unique([3, 1, 3]).tolist() == [1, 3]
    assert np.unique(np.asarray([])).shape == (0,)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        np.unique(np.arange(3), wrong=True)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_orders_are_numpys(kind, size):
    x = elements(kind, size)
    ours = np.asarray(x)
    for found in (np.argsort(ours), ours.argsort()):
        numpy.testing.assert_array_equal(numpy.asarray(found), numpy.argsort(x), strict=True)
    expected = numpy.argsort(x, kind="stable")
    for found in (np.argsort(ours, kind="stable"), np.argsort(ours, kind="mergesort")):
        numpy.testing.assert_array_equal(numpy.asarray(found), expected, strict=True)


def test_orders_along_axes():
    x = numpy.random.default_rng(1).random((300, 200))
    for axis in (0, 1, -1, None):
        ours = np.argsort(np.asarray(x), axis)
        numpy.testing.assert_array_equal(numpy.asarray(ours), numpy.argsort(x, axis))
        ours = np.argsort(np.asarray(x), axis, kind="stable")
        numpy.testing.assert_array_equal(numpy.asarray(ours), numpy.argsort(x, axis, kind="stable"))
    with pytest.raises(numpy.exceptions.AxisError):
        np.argsort(np.asarray(x), 2, kind="stable")
    with pytest.raises(ValueError, match="kind"):
        np.argsort(np.arange(70_000.0), kind="no such kind")


@pytest.mark.parametrize("size", [5, 1000, 20_000, 70_000])
@pytest.mark.parametrize("kind", KINDS)
def test_orders_by_several_keys_are_numpys(kind, size):
    first, second = elements(kind, size), elements("int8", size)
    for keys in ((first, second), (second, first), (first,), (first, first[::-1], second)):
        assert_same(np.lexsort([np.array(key) for key in keys]), numpy.lexsort(keys))


def test_orders_by_rows_of_an_array():
    keys = numpy.random.default_rng(2).integers(0, 5, (3, 40, 50))
    for axis in (-1, 0, 1):
        assert_same(np.lexsort(np.array(keys), axis), numpy.lexsort(keys, axis))
        assert_same(np.lexsort(tuple(np.array(keys)), axis), numpy.lexsort(keys, axis))
    for other in (keys[0], keys[:, :1], keys[:, :, :9]):
        refused(ValueError, None, np.lexsort, (np.array(other), np.array(keys)))
        refused(ValueError, None, np.lexsort, (np.array(keys), np.array(other)))


@needs_native
@needs_call_lists
def test_orders_by_keys_are_found_without_numpy():
    x, before = np.array(elements("zeros", 1000)), count_numpys(0)
    np.lexsort((x, x[::-1]))
    assert count_numpys(0) == before


@pytest.mark.parametrize("size", [1, 63, 300, 20_000])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "complex"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_many_values_are_looked_up_as_numpy_does(kind, size, side):
    values = elements(kind, 300)
    unsorted = elements(kind, size)
    for array in (numpy.sort(unsorted), numpy.sort(unsorted)[::2], unsorted):
        found = np.searchsorted(np.array(array), np.array(values), side)
        assert_same(found, numpy.searchsorted(array, values, side))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("kind", ["float64", "int8", "NaN", "zeros", "complex"])
@pytest.mark.parametrize("name", ["argsort", "argpartition", "partition"])
def test_rows_are_ordered_on_several_threads(name, kind, axis):
    """With NumPy's order of equal elements, and NumPy's layout."""
    rows = elements(kind, 160_000).reshape(400, 400)
    ours, numpys = getattr(np, name), getattr(numpy, name)
    arguments = () if name == "argsort" else (15,)
    with xp.config_context(num_threads=2):
        for x in (rows, rows.T, rows[:, ::2], rows.reshape(400, 20, 20)):
            expected = numpys(x, *arguments, axis=axis)
            found = ours(np.asarray(x), *arguments, axis=axis)
            assert type(found) is np.ndarray
            numpy.testing.assert_array_equal(found.__array__(), expected, strict=True)
            assert found.strides == expected.strides
    for wrong in ({"axis": 7}, {"axis": 0, "order": "x"}):
        with pytest.raises((ValueError, TypeError)) as raised:
            numpys(rows, *arguments, **wrong)
        with pytest.raises(type(raised.value)):
            ours(np.asarray(rows), *arguments, **wrong)
