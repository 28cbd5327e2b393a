"""Functions of SciPy and array-api-extra, traced: `compile` and `eval_shape`."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array, ShapeSpec
from array_api_nx.frontend.trees import flatten
from array_api_nx.tracing.recorder import TraceError

pytest.importorskip("scipy", minversion="1.17")

from scipy import fft, integrate, signal, special, stats
from scipy._lib import array_api_extra as xpx

pytestmark = pytest.mark.slow

# The second number says how many programs three sizes take: some functions count elements with
# NumPy, which takes plain ints.
FUNCTIONS = {
    "special.logsumexp": (lambda x: special.logsumexp(x, axis=0), 1),
    "special.softmax": (lambda x: special.softmax(x, axis=1), 1),
    "special.log_softmax": (lambda x: special.log_softmax(x, axis=0), 1),
    "special.xlogy": (lambda x: special.xlogy(x, x), 1),
    "stats.zscore": (lambda x: stats.zscore(x, axis=0), 1),
    "stats.gmean": (lambda x: stats.gmean(x, axis=0), 1),
    "stats.kurtosis": (lambda x: stats.kurtosis(x, axis=0), 3),
    "stats.sem": (lambda x: stats.sem(x, axis=0), 3),
    "integrate.trapezoid": (lambda x: integrate.trapezoid(x, axis=0), 1),
    "integrate.cumulative_trapezoid": (lambda x: integrate.cumulative_trapezoid(x, axis=0), 1),
    "fft.fft": (lambda x: fft.fft(x, axis=0), 1),
    "fft.rfftn": (lambda x: fft.rfftn(x), 1),
    "xpx.cov": (lambda x: xpx.cov(x.T), 1),
    "xpx.kron": (lambda x: xpx.kron(x, x), 1),
    "xpx.pad": (lambda x: xpx.pad(x, 1), 1),
    "xpx.sinc": (lambda x: xpx.sinc(x), 1),
    "xpx.atleast_nd": (lambda x: xpx.atleast_nd(x, ndim=3), 1),
    "xpx.expand_dims": (lambda x: xpx.expand_dims(x, axis=(0, -1)), 1),
    "xpx.create_diagonal": (lambda x: xpx.create_diagonal(x[:, 0]), 1),
    "xpx.at": (lambda x: xpx.at(x, (slice(None), 0)).set(1.0), 1),
    "xpx.one_hot": (lambda x: xpx.one_hot(xp.astype(x[:, 0], xp.int64), 4), 1),
    "xpx.nan_to_num": (lambda x: xpx.nan_to_num(x), 1),
}
CASES = [pytest.param(*case, id=name) for name, case in FUNCTIONS.items()]

# More functions, for sizes that are known. What they return besides arrays is left out.
OTHERS = {
    "special.expit": lambda x: special.expit(x),
    "special.gammaln": lambda x: special.gammaln(x),
    "special.ndtr": lambda x: special.ndtr(x),
    "special.erf": lambda x: special.erf(x),
    "special.rel_entr": lambda x: special.rel_entr(x, x),
    "special.betainc": lambda x: special.betainc(x, x, 0.5),
    "stats.skew": lambda x: stats.skew(x, axis=0),
    "stats.variation": lambda x: stats.variation(x, axis=0),
    "stats.describe": lambda x: tuple(stats.describe(x, axis=0))[2:],
    "stats.tmean": lambda x: stats.tmean(x, axis=0),
    "stats.entropy": lambda x: stats.entropy(x, axis=0),
    "stats.ttest_1samp": lambda x: tuple(stats.ttest_1samp(x, 0.5, axis=0)),
    "stats.ttest_ind": lambda x: tuple(stats.ttest_ind(x, x + 1, axis=0)),
    "stats.jarque_bera": lambda x: tuple(stats.jarque_bera(x, axis=0)),
    "stats.normaltest": lambda x: tuple(stats.normaltest(x, axis=0)),
    "stats.pearsonr": lambda x: stats.pearsonr(x, x**2, axis=0).statistic,
    "stats.bartlett": lambda x: tuple(stats.bartlett(x, x + 1, axis=0)),
    "stats.chisquare": lambda x: tuple(stats.chisquare(x, axis=0, sum_check=False)),
    "signal.hilbert": lambda x: signal.hilbert(x, axis=0),
    "signal.fftconvolve": lambda x: signal.fftconvolve(x, x, axes=0),
}


def sample(n):
    return xp.asarray(np.random.default_rng(n).random((n, 3)) + 0.1)


def specs(result):
    leaves, _ = flatten(result, lambda x: type(x) in (Array, ShapeSpec))
    return [ShapeSpec(x.shape, x.dtype) for x in leaves]


@pytest.mark.parametrize(("call", "programs"), CASES)
def test_compiled(call, programs):
    function = xp.compile(call)
    for n in (6, 9, 4):
        # SciPy has other ways for arrays that are lazy, which may round otherwise.
        found, expected = function(sample(n)), call(sample(n))
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-13, atol=1e-15)
    assert function.cache_info()[:3] == (programs, programs, 3)


@pytest.mark.parametrize(("call", "programs"), CASES)
def test_shapes(call, programs):
    for n in (6, 9):
        expected = specs(call(sample(n)))
        assert specs(xp.eval_shape(call, ShapeSpec((n, 3), xp.float64))) == expected
        if programs == 1:
            found = xp.eval_shape(call, ShapeSpec(("n", 3), xp.float64))
            assert [spec.at(n=n) for spec in specs(found)] == expected


@pytest.mark.filterwarnings("ignore:.*p-value may be invalid:UserWarning")
@pytest.mark.filterwarnings("ignore:.*kurtosistest:UserWarning")
@pytest.mark.parametrize("name", OTHERS)
def test_shapes_for_known_sizes(name):
    call = OTHERS[name]
    found = specs(xp.eval_shape(call, ShapeSpec((9, 3), xp.float64)))
    assert found
    assert found == specs(call(sample(9)))


def test_shapes_where_elements_decide_within():
    found = xp.eval_shape(lambda x: xpx.isclose(x, x + 1), ShapeSpec(("n", 3), xp.float64))
    assert repr(found) == "ShapeSpec((n, 3), bool)"


def test_what_goes_through_numpy_is_refused():
    for call in (integrate.simpson, signal.detrend, lambda x: fft.dct(x, axis=0)):
        with pytest.raises(TraceError, match="conversion to NumPy hands out the elements"):
            xp.compile(call)(sample(5))
