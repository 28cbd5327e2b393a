"""PyTorch's functions agree with SciPy's ufuncs of the same names."""

import numpy as np
import pytest

from array_api_nx.special.scipy_ufuncs import ufunc
from tests.backends.engines.special_values import distance

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from array_api_nx.backends.engines.torch_special import special_functions  # noqa: E402

TABLE = special_functions("cpu")


@pytest.mark.parametrize("name", sorted(TABLE))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_agree_with_scipy(name, dtype):
    def ours(*values):
        return TABLE[name](*[torch.from_numpy(x) for x in values]).numpy()

    assert distance(ours, ufunc(name, 2 if name.startswith("xlog") else 1), dtype) < 10


@pytest.mark.parametrize("name", ["ndtr", "gammaln", "j0"])
def test_a_function_that_differs_is_noticed(name):
    theirs = getattr(torch.special, {"j0": "bessel_j0"}.get(name, name))

    def ours(x):
        return theirs(torch.from_numpy(x)).numpy()

    assert distance(ours, ufunc(name, 1), np.float64) > 100


def test_nothing_is_known_of_other_kinds_of_devices():
    assert special_functions("mps") == {}
