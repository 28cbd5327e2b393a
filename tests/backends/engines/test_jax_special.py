"""JAX's functions agree with SciPy's ufuncs of the same names."""

import numpy as np
import pytest

from array_api_nx.special.scipy_ufuncs import ufunc
from tests.backends.engines.special_values import distance

jax = pytest.importorskip("jax")
pytest.importorskip("scipy")

from array_api_nx.backends.engines.jax_special import special_functions  # noqa: E402

TABLE = special_functions("cpu")


def of_jax(function, *values):
    with jax.enable_x64(True):
        return np.asarray(function(*[jax.numpy.asarray(x) for x in values]))


@pytest.mark.parametrize("name", sorted(TABLE))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_agree_with_scipy(name, dtype):
    def ours(*values):
        return of_jax(TABLE[name], *values)

    found = distance(ours, ufunc(name, 2 if name == "xlogy" else 1), dtype, flushes=True)
    assert found < 10


@pytest.mark.parametrize("name", ["gamma", "log_ndtr", "gammaln"])
def test_a_function_that_differs_is_noticed(name):
    def ours(x):
        return of_jax(getattr(jax.scipy.special, name), x)

    assert distance(ours, ufunc(name, 1), np.float64, flushes=True) > 100
