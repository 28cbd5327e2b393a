"""The ufuncs of the face: one object each, with NumPy's attributes."""

import re

import numpy
import pytest

import array_api_nx.numpy as np


def test_a_ufunc_is_one_object_wherever_numpy_has_it():
    assert np._core.umath.sin is np.sin
    assert np.acos is np.arccos
    assert np.permute_dims is np.transpose
    assert np.sin in [each for each in vars(np._core.umath).values() if isinstance(each, np.ufunc)]
    assert isinstance(np.hypot, np.ufunc)
    assert not isinstance(np.sum, np.ufunc)


def test_attributes_are_numpys():
    for name in ("nin", "nout", "identity", "types", "signature"):
        assert getattr(np.matmul, name) == getattr(numpy.matmul, name)
    assert np.add.__name__ == "add"
    assert np.ufunc.accumulate is numpy.ufunc.accumulate


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_floating_point_errors_are_numpys(name):
    function = getattr(np, name)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        function(np.asarray([1]), np.asarray([0]))


@pytest.mark.parametrize("n", [3, 1000, 20_000])
def test_out_may_come_with_other_options(n):
    for options in ({}, {"subok": True}, {"subok": True, "where": True}, {"casting": "same_kind"}):
        for function in (np.add, np.divide, np.power, np.maximum):
            x, y = numpy.arange(1.0, n + 1), numpy.full(n, 1.5)
            expected = getattr(numpy, function.__name__)(x, y)
            for out in (np.asarray(x.copy()), np.zeros(n)):
                by_name = function(np.asarray(x), np.asarray(y), out=out, **options)
                assert by_name is out
                numpy.testing.assert_array_equal(numpy.asarray(out), expected)
        out = np.zeros(n)
        assert np.add(np.asarray(x), np.asarray(y), out, **options) is out
        numpy.testing.assert_array_equal(numpy.asarray(out), x + y)


@pytest.mark.parametrize("n", [3, 1000, 20_000])
def test_out_may_be_the_first_operand(n):
    for dtype in ("float64", "float32", "int64"):
        for other in (2, 2.5, numpy.arange(n) % 5, numpy.arange(n, dtype="float32")[::-1]):
            x = numpy.arange(n, dtype=dtype)
            y = np.asarray(x.copy())
            given = np.asarray(other) if isinstance(other, numpy.ndarray) else other
            outcomes = []
            for function, array, operand in ((numpy.multiply, x, other), (np.multiply, y, given)):
                try:
                    assert function(array, operand, out=array) is array
                    outcomes.append(None)
                except TypeError as error:
                    outcomes.append(type(error))
            assert outcomes[0] == outcomes[1]
            numpy.testing.assert_array_equal(numpy.asarray(y), x)


FOLDED = ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "hypot")


@pytest.mark.parametrize("method", ["reduce", "accumulate"])
@pytest.mark.parametrize("name", FOLDED)
def test_methods_go_along_the_first_axis(name, method):
    """Unless another one is asked for. NaN among numbers that are compared is no error."""
    numpys, ours = (getattr(getattr(module, name), method) for module in (numpy, np))
    values = numpy.array([[3.0, -1, 2], [5, numpy.nan, 1], [-2, 4, 2]])
    for x in (values, values[0], values.T, values[:, ::-1], (values[::2] > 1)):
        for given in (x, x.astype("float32"), numpy.nan_to_num(x).astype("int8")):
            for options in ({}, {"axis": 0}, {"axis": -1}, {"dtype": "float64"}):
                if (name == "hypot" and given.dtype.kind in "ib") or (
                    name.startswith("logical") and "dtype" in options
                ):
                    continue  # there are no such loops
                expected = numpys(given, **options)
                found = ours(np.asarray(given), **options)
                assert found.dtype == expected.dtype
                numpy.testing.assert_allclose(numpy.asarray(found), expected)
    for options in ({"axis": 5}, {"axis": "x"}, {"dtype": "no such"}):
        with pytest.raises((ValueError, TypeError)) as raised:
            numpys(values, **options)
        with pytest.raises(type(raised.value), match=re.escape(str(raised.value))):
            ours(np.asarray(values), **options)


@pytest.mark.parametrize("n", [3, 50_000])
@pytest.mark.parametrize("name", FOLDED)
def test_lists_are_reduced_array_by_array(name, n):
    rng = numpy.random.default_rng(n)
    x, y, z = rng.random((3, n)) - 0.5
    numpys, ours = (getattr(module, name).reduce for module in (numpy, np))
    for arrays in (
        *[[x, y, z], (x, y), [x], [x > 0, y > 0, z > 0], [x, y > 0], [x, 2 * y.astype("f4")]],
        *[[(x * 9).astype(int), z], [(x * 9).astype("i1")] * 3, [x[:1], y[:1]], [1.5, 2.0]],
    ):
        try:
            expected = numpys(arrays)
        except TypeError as error:
            with pytest.raises(type(error)):
                ours(type(arrays)(map(np.asarray, arrays)))
            continue
        found = ours(type(arrays)(map(np.asarray, arrays)))
        assert found.dtype == expected.dtype
        numpy.testing.assert_array_equal(numpy.asarray(found), expected)
