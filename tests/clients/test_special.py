"""`scipy.special` and `scipy.stats` give arrays of ours, on the device of their operands."""

from importlib.util import find_spec

import numpy as np
import pytest

import array_api_nx as xp
from tests.special.operands import DOMAINS, typical
from tests.support.processes import python
from tests.support.tables import for_each

pytest.importorskip("scipy", minversion="1.17")

from scipy import special, stats

pytestmark = [
    pytest.mark.filterwarnings(
        # Of bdtr and its like, whose second operand is meant to be an integer.
        "ignore:non-integer arg n is deprecated:DeprecationWarning"
    ),
    pytest.mark.slow,
]


@pytest.fixture(params=["cpu", "torch:cpu", "jax:cpu", "dask"])
def device(request):
    library = request.param.partition(":")[0]
    if library != "cpu" and find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    return xp.Device(request.param)


@for_each("name", sorted(DOMAINS))
def test_scipys_functions_are_ours(name, device):
    operands = [xp.asarray(x, device=device) for x in typical(name, "float64")]
    result = getattr(special, name)(*operands)
    assert type(result) is xp.Array
    assert result.device == device
    ours = getattr(xp.special, name)(*operands)
    assert xp.all((result == ours) | (xp.isnan(result) & xp.isnan(ours)))


def test_scipys_compositions_are_ours(device):
    x = xp.asarray([2.0, 3.5], device=device)
    for result in (special.sinc(x), special.polygamma(1, x), special.multigammaln(x, 2)):
        assert type(result) is xp.Array
        assert result.device == device


FIRST = np.random.default_rng(0).normal(size=60)
SECOND = np.random.default_rng(1).normal(size=60) + 0.3

STATISTICS = {
    "bartlett": lambda x, y: stats.bartlett(x, y),
    "combine_pvalues": lambda x, y: stats.combine_pvalues(special.ndtr(x)),
    "entropy": lambda x, y: stats.entropy(x * x, y * y),
    "entropy of one": lambda x, y: stats.entropy(x * x),
    "f_oneway": lambda x, y: stats.f_oneway(x, y),
    "jarque_bera": lambda x, y: stats.jarque_bera(x),
    "kurtosistest": lambda x, y: stats.kurtosistest(x),
    "normaltest": lambda x, y: stats.normaltest(x),
    "skewtest": lambda x, y: stats.skewtest(x),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_stay_on_the_device(name, device):
    function = STATISTICS[name]
    found = function(xp.asarray(FIRST, device=device), xp.asarray(SECOND, device=device))
    expected = function(FIRST, SECOND)
    several = isinstance(found, tuple)
    for ours, theirs in zip(
        found if several else [found], expected if several else [expected], strict=True
    ):
        assert type(ours) is xp.Array
        assert ours.device == device
        np.testing.assert_allclose(float(ours), theirs, rtol=1e-10)


AS_UFUNCS = """
import sys, numpy, array_api_nx as xp
from scipy import special
from tests.special.operands import DOMAINS, typical
for name in DOMAINS:
    assert isinstance(getattr(special, name), numpy.ufunc) or name == "zeta", name
    for device in sys.argv[1:]:
        operands = [xp.asarray(x, device=device) for x in typical(name, "float64")]
        result = getattr(special, name)(*operands)
        assert type(result) is xp.Array and str(result.device) == device, (name, device)
"""


def test_they_are_ours_without_the_setting_of_scipy():
    devices = ["cpu", *["torch:cpu"][: find_spec("torch") is not None]]
    devices += ["dask"][: find_spec("dask") is not None]
    python("-c", AS_UFUNCS, *devices, without=["SCIPY_ARRAY_API"])
