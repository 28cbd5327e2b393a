"""Which ufuncs an engine computes by a function of its own."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.engines.special import engines_function
from array_api_nx.contract.ufuncs import ufunc_loop
from array_api_nx.core import dtypes as d
from array_api_nx.special.scipy_ufuncs import ufunc
from tests.backends.engines.devices import device

pytest.importorskip("scipy")


def function(*operands):
    raise AssertionError("it is not called")


@pytest.mark.parametrize(
    ("dtypes", "result", "found"),
    [
        ((d.float64,), d.float64, True),
        ((d.float32,), d.float32, True),
        ((d.complex128,), d.complex128, False),
        ((d.float32,), d.float64, False),
    ],
)
def test_one_real_dtype_is_for_engines(dtypes, result, found):
    loop = ufunc_loop(ufunc("erf", 1), dtypes, (result,))
    assert (engines_function({"erf": function}, loop) is function) is found
    assert engines_function({"erfc": function}, loop) is None


def test_another_ufunc_of_the_same_name_is_not_mistaken_for_scipys():
    loop = ufunc_loop(np.exp2, (d.float64,), (d.float64,))
    assert loop.name == "exp2"
    assert engines_function({"exp2": function}, loop) is None


@pytest.mark.parametrize("name", ["torch:cpu", "jax:cpu"])
def test_scalars_beside_arrays(name):
    x = xp.asarray([0.0, 0.5, np.nan, 2.0], device=device(name))
    result = xp.special.xlogy(x, 3.0)
    assert result.device == x.device
    expected = ufunc("xlogy", 2)(np.asarray(x.to_device("cpu")), 3.0)
    np.testing.assert_allclose(np.asarray(result.to_device("cpu")), expected, rtol=1e-15)
    result = xp.special.xlogy(0.0, x)
    expected = ufunc("xlogy", 2)(0.0, np.asarray(x.to_device("cpu")))
    np.testing.assert_array_equal(np.asarray(result.to_device("cpu")), expected)
