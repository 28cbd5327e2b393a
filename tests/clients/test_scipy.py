"""SciPy takes our arrays, and gives them back where it can."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.refusals import refused

pytest.importorskip("scipy", minversion="1.17")

from scipy import (
    cluster,
    differentiate,
    fft,
    integrate,
    interpolate,
    ndimage,
    signal,
    special,
    stats,
)
from scipy.optimize import elementwise
from scipy.spatial.transform import Rotation

pytestmark = pytest.mark.slow

SAMPLE = np.array([1.0, 2.5, 4.0, 7.0, 3.0, 0.5, 2.0, 9.0])
TABLE = SAMPLE.reshape(4, 2)


def cube_root(target):
    # Brackets in the namespace of the target, whichever that is.
    low, high = 0 * target, 0 * target + 10.0
    return elementwise.find_root(lambda t, c: t**3 - c, (low, high), args=(target,)).x


FUNCTIONS = {
    "special.gamma": lambda x, ns: special.gamma(x),
    "special.logsumexp": lambda x, ns: special.logsumexp(x),
    "special.xlogy": lambda x, ns: special.xlogy(x, x),
    "stats.skew": lambda x, ns: stats.skew(x),
    "stats.zscore": lambda x, ns: stats.zscore(x),
    "stats.pearsonr": lambda x, ns: stats.pearsonr(x, x**2).statistic,
    "stats.ttest_ind": lambda x, ns: stats.ttest_ind(x, x + 1).pvalue,
    "fft.rfft": lambda x, ns: fft.rfft(x),
    "fft.dct": lambda x, ns: fft.dct(x),
    "signal.hilbert": lambda x, ns: signal.hilbert(x),
    "signal.fftconvolve": lambda x, ns: signal.fftconvolve(x, x),
    "signal.savgol_filter": lambda x, ns: signal.savgol_filter(x, 5, 2),
    "ndimage.gaussian_filter1d": lambda x, ns: ndimage.gaussian_filter1d(x, 1.0),
    "cluster.vq.whiten": lambda x, ns: cluster.vq.whiten(ns.reshape(x, (4, 2))),
    "cluster.hierarchy.linkage": lambda x, ns: cluster.hierarchy.linkage(ns.reshape(x, (4, 2))),
    "interpolate.make_interp_spline": lambda x, ns: interpolate.make_interp_spline(
        ns.cumulative_sum(x), x
    )(x + 2),
    "differentiate.derivative": lambda x, ns: differentiate.derivative(ns.exp, x).df,
    "integrate.tanhsinh": lambda x, ns: integrate.tanhsinh(ns.exp, 0 * x, x).integral,
    "optimize.elementwise.find_root": lambda x, ns: cube_root(x),
    "Rotation.as_matrix": lambda x, ns: Rotation.from_quat(ns.reshape(x, (2, 4))).as_matrix(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_agrees_with_numpy_and_returns_our_arrays(name):
    function = FUNCTIONS[name]
    result = function(xp.asarray(SAMPLE), xp)
    assert type(result) is xp.Array
    assert result.__array_namespace__() is xp
    np.testing.assert_allclose(np.asarray(result), function(SAMPLE, np), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("function", [xp.mean, xp.var, xp.max])
def test_resampling_finds_axis_in_our_signatures(function):
    def interval(sample, statistic):
        rng = np.random.default_rng(3)
        return stats.bootstrap(
            (sample,), statistic, n_resamples=50, method="percentile", rng=rng
        ).confidence_interval

    ours = interval(xp.asarray(SAMPLE), function)
    theirs = interval(SAMPLE, getattr(np, function.__name__))
    assert type(ours.low) is xp.Array
    np.testing.assert_allclose([float(ours.low), float(ours.high)], [theirs.low, theirs.high])


def test_output_arrays_of_ndimage_are_written_in_place():
    output = xp.zeros(SAMPLE.size)
    result = ndimage.uniform_filter1d(xp.asarray(SAMPLE), 3, output=output)
    expected = ndimage.uniform_filter1d(SAMPLE, 3)
    assert np.array_equal(np.asarray(output), expected)
    assert np.array_equal(np.asarray(result), expected)


@pytest.mark.parametrize("foreign", [SAMPLE, SAMPLE.tolist()], ids=["ndarray", "list"])
def test_other_arrays_beside_ours_are_refused(foreign):
    refused(TypeError, "Multiple namespaces", stats.ttest_ind, xp.asarray(SAMPLE), foreign)


@pytest.mark.parametrize("function", [special.expm1, special.log1p])
def test_ufuncs_that_scipy_does_not_wrap_give_our_arrays(function):
    result = function(xp.asarray(SAMPLE))
    assert type(result) is xp.Array
    assert np.array_equal(result, function(SAMPLE))


def test_nan_in_a_sample_is_found():
    x = xp.asarray([1.0, xp.nan, 2.0])
    assert np.isnan(float(stats.skew(x)))
    refused(ValueError, "nan", stats.skew, x, nan_policy="raise")
