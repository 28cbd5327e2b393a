"""scikit-learn takes our arrays, with its dispatch on and off."""

import numpy as np
import pytest

import array_api_nx as xp

pytest.importorskip("sklearn", minversion="1.9")

from sklearn import config_context, metrics
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import OrthogonalMatchingPursuitCV, Ridge
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import type_of_target

pytestmark = pytest.mark.slow

DATA, TARGET = load_wine(return_X_y=True)

ESTIMATORS = {
    "StandardScaler": lambda X, y: StandardScaler().fit_transform(X),
    "PCA": lambda X, y: PCA(3, svd_solver="full").fit_transform(X),
    "Ridge": lambda X, y: Ridge(solver="svd").fit(X, X[:, 0] + X[:, 1]).coef_,
    "LinearDiscriminantAnalysis": lambda X, y: LinearDiscriminantAnalysis().fit(X, y).predict(X),
}


def test_elements_that_scikit_learn_exchanges_are_exchanged():
    """Its ``x[i], x[j] = x[j], x[i]`` takes elements for copies, as those of NumPy's arrays are."""
    with config_context(array_api_dispatch=True):
        found = OrthogonalMatchingPursuitCV().fit(xp.asarray(DATA), xp.asarray(TARGET / 1))
    expected = OrthogonalMatchingPursuitCV().fit(DATA, TARGET / 1)
    np.testing.assert_allclose(np.asarray(found.coef_), expected.coef_, atol=1e-8)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_agree_with_numpy_and_return_our_arrays(name):
    fit = ESTIMATORS[name]
    with config_context(array_api_dispatch=True):
        result = fit(xp.asarray(DATA), xp.asarray(TARGET))
    assert type(result) is xp.Array
    np.testing.assert_allclose(np.asarray(result), fit(DATA, TARGET), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    "score",
    [metrics.f1_score, metrics.precision_score, metrics.recall_score],
    ids=lambda score: score.__name__,
)
def test_scores_mix_counts_with_floats(score):
    guess = np.roll(TARGET, 7)
    with config_context(array_api_dispatch=True):
        result = score(xp.asarray(TARGET), xp.asarray(guess), average="weighted")
    assert float(result) == pytest.approx(score(TARGET, guess, average="weighted"))


@pytest.mark.parametrize("curve", [metrics.roc_curve, metrics.precision_recall_curve])
def test_curves(curve):
    with config_context(array_api_dispatch=True):
        result = curve(xp.asarray(TARGET == 1), xp.asarray(DATA[:, 0]))
    for ours, theirs in zip(result, curve(TARGET == 1, DATA[:, 0]), strict=True):
        assert type(ours) is xp.Array
        np.testing.assert_allclose(np.asarray(ours), theirs)


@pytest.mark.parametrize("dispatch", [True, False], ids=["dispatch", "no dispatch"])
def test_model_selection_takes_rows_of_our_arrays(dispatch):
    X, y = xp.asarray(DATA), xp.asarray(TARGET, dtype=xp.float64)
    with config_context(array_api_dispatch=dispatch):
        train, test = train_test_split(X, random_state=0)
        search = GridSearchCV(Ridge(solver="svd"), {"alpha": [0.1, 10.0]}, cv=3).fit(X, y)
    expected_train, expected_test = train_test_split(DATA, random_state=0)
    assert np.array_equal(np.asarray(train), expected_train)
    assert np.array_equal(np.asarray(test), expected_test)
    expected = GridSearchCV(Ridge(solver="svd"), {"alpha": [0.1, 10.0]}, cv=3).fit(DATA, TARGET)
    assert search.best_params_ == expected.best_params_


@pytest.mark.parametrize("dispatch", [True, False], ids=["dispatch", "no dispatch"])
def test_targets_are_recognised(dispatch):
    with config_context(array_api_dispatch=dispatch):
        assert type_of_target(xp.asarray(TARGET)) == "multiclass"
        assert type_of_target(xp.asarray(DATA[:, 0])) == "continuous"


def test_clone_copies_array_parameters():
    alpha = xp.asarray([1.0, 2.0])
    copied = clone(Ridge(alpha=alpha)).alpha
    copied += 1
    assert np.array_equal(np.asarray(alpha), [1, 2])
    assert np.array_equal(np.asarray(copied), [2, 3])
