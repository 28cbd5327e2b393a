"""SciPy and scikit-learn on arrays of PyTorch: the results agree with NumPy's."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.backends.engines.devices import device as find

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))
Y = X @ np.array([1.0, -2.0, 0.5, 0.0, 3.0]) + 0.1 * RNG.normal(size=40)
LABELS = (Y > 0).astype(np.int64)


def scipy_calls():
    from scipy import special, stats
    from scipy.cluster import vq
    from scipy.signal import detrend

    return {
        "zscore": lambda x, y: stats.zscore(x, axis=0),
        "moment": lambda x, y: stats.moment(x, 3, axis=0),
        "skew": lambda x, y: stats.skew(x, axis=0),
        "kurtosis": lambda x, y: stats.kurtosis(x, axis=0),
        "sem": lambda x, y: stats.sem(x, axis=0),
        "pearsonr": lambda x, y: stats.pearsonr(x[:, 0], y).statistic,
        "ttest_1samp": lambda x, y: stats.ttest_1samp(y, 0.0).statistic,
        "logsumexp": lambda x, y: special.logsumexp(x, axis=1),
        "softmax": lambda x, y: special.softmax(x, axis=1),
        "whiten": lambda x, y: vq.whiten(x),
        "detrend": lambda x, y: detrend(x, axis=0, type="constant"),
    }


SCIPY = [
    "zscore", "moment", "skew", "kurtosis", "sem", "pearsonr", "ttest_1samp", "logsumexp",
    "softmax", "whiten", "detrend",
]  # fmt: skip


@pytest.mark.parametrize("name", SCIPY)
def test_scipy(name):
    device = find("torch:cpu")
    pytest.importorskip("scipy")
    call = scipy_calls()[name]
    # Some functions make new arrays where there is no telling from their arguments.
    with xp.config_context(default_device=device):
        result = call(xp.asarray(X), xp.asarray(Y))
    assert type(result) is xp.Array
    assert result.device == device
    np.testing.assert_allclose(np.asarray(result), call(X, Y), rtol=1e-10, atol=1e-12)


def test_scikit_learn():
    device = find("torch:cpu")
    sklearn = pytest.importorskip("sklearn")
    with sklearn.config_context(array_api_dispatch=True):
        check_scikit_learn(device)


def check_scikit_learn(device):
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    x, y, labels = [xp.asarray(array, device=device) for array in (X, Y, LABELS)]
    for transformer in (StandardScaler(), MinMaxScaler(), PCA(2, svd_solver="full")):
        there = transformer.fit_transform(x)
        assert there.device == device
        np.testing.assert_allclose(np.asarray(there), transformer.fit_transform(X), 1e-9, 1e-9)
    ridge = Ridge(solver="svd")
    there = ridge.fit(x, y).predict(x)
    np.testing.assert_allclose(np.asarray(there), ridge.fit(X, Y).predict(X), 1e-9, 1e-9)
    analysis = LinearDiscriminantAnalysis()
    there = analysis.fit(x, labels).predict_proba(x)
    expected = analysis.fit(X, LABELS).predict_proba(X)
    np.testing.assert_allclose(np.asarray(there), expected, 1e-8, 1e-8)
