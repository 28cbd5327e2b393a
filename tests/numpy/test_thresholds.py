"""Who computes a function of an array of a size: NumPy, or this package."""

import numpy
import pytest

import array_api_nx.numpy as np
from array_api_nx.numpy.adoption import count_numpys
from array_api_nx.numpy.functions import is_ours
from array_api_nx.numpy.thresholds import (
    ANY,
    EDGES_GIVEN,
    FEW,
    MANY,
    MORE,
    SOME,
    VERY_FEW,
    most_for_numpy,
)
from tests.support.implementations import needs_native


def calls_of_numpy(function, *args):
    before = count_numpys(0)
    function(*args)
    return count_numpys(0) - before


@needs_native
def test_the_limit_of_a_function_is_found_by_numpys_name():
    names = ("select", "nansum", "exp", "fft.fft", "add.reduce", "squeeze")
    assert [most_for_numpy(name) for name in names] == [VERY_FEW, SOME, FEW, MORE, MANY, ANY]


@needs_native
@pytest.mark.parametrize("name", ["nanmean", "nansum"])
def test_numpy_computes_arrays_up_to_the_limit_alone(name):
    function, most = getattr(np, name), most_for_numpy(name)
    x = np.ones(most + 1)
    x[0] = np.nan  # others are C's
    assert calls_of_numpy(function, x[:-1]) == 1
    assert calls_of_numpy(function, x) == 0


@needs_native
def test_histograms_between_edges_are_numpys_up_to_more_elements():
    x, edges = np.ones(10_000), np.linspace(0, 2, 50)
    assert is_ours("histogram", (x, 50), {})
    assert not is_ours("histogram", (x, edges), {})
    assert not is_ours("histogram", (x,), {"bins": edges})
    assert is_ours("histogram", (np.ones(EDGES_GIVEN + 1), edges), {})


@pytest.mark.parametrize("name", ["squeeze", "flipud", "ascontiguousarray", "ravel"])
def test_views_of_arrays_of_any_size_share_their_memory(name):
    x = np.ones((2**10, 2**10))
    view = getattr(np, name)(x)
    view[3] = 7.0
    assert np.shares_memory(view, x)
    assert x.sum() == view.sum() == getattr(np, name)(np.asarray(x.tolist())).sum()


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "logical_and"])
@pytest.mark.parametrize("size", [7, FEW + 1, MANY + 1])
def test_reductions_by_ufuncs_of_any_size_are_numpys(name, size):
    x = numpy.linspace(0.99, 1.01, size)
    found, expected = getattr(np, name).reduce(np.asarray(x)), getattr(numpy, name).reduce(x)
    assert numpy.isclose(found, expected, 1e-9)
    assert type(found) is type(expected)
