"""Calls of SciPy and scikit-learn on tables of our arrays, against the same on NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from importlib.metadata import version
from timeit import Timer
from typing import Any, NamedTuple

import numpy as np

from . import functions
from .worker import Prepared, Service

ELEMENTS = 200_000
"""Rows of the table."""
COLUMNS = 10


class Inputs(NamedTuple):
    """A table, two variables, and a classification with its labels, guesses and probabilities."""

    table: Any
    x: Any
    y: Any
    labels: Any
    guesses: Any
    binary: Any
    chances: Any


class _Libraries(NamedTuple):
    """The namespace of the arrays, and the modules that are called."""

    xp: Any
    stats: Any
    special: Any
    signal: Any
    fft: Any
    metrics: Any
    preprocessing: Any
    decomposition: Any
    linear_model: Any
    naive_bayes: Any
    model_selection: Any


_CALLS: dict[str, Callable[[_Libraries, Inputs], Any]] = {
    "histogram": lambda lib, i: lib.xp.histogram(i.x, 100)[0],
    "masks": lambda lib, i: (i.x[i.x > 0.5], i.table[i.binary == 1, :]),
    "means of classes": lambda lib, i: tuple(
        [lib.xp.mean(i.table[i.labels == k, :], axis=0) for k in range(4)]
    ),
    # statistics
    "trim_mean": lambda lib, i: lib.stats.trim_mean(i.x, 0.1),
    "rankdata": lambda lib, i: lib.stats.rankdata(i.x),
    "mannwhitneyu": lambda lib, i: tuple(lib.stats.mannwhitneyu(i.x, i.y)),
    "wilcoxon": lambda lib, i: tuple(lib.stats.wilcoxon(i.x, i.y)),
    "kruskal": lambda lib, i: tuple(lib.stats.kruskal(i.x, i.y)),
    "pearsonr": lambda lib, i: lib.stats.pearsonr(i.x, i.y).statistic,
    "ttest_ind": lambda lib, i: tuple(lib.stats.ttest_ind(i.x, i.y)),
    "zscore": lambda lib, i: lib.stats.zscore(i.table),
    "describe": lambda lib, i: tuple(lib.stats.describe(i.table))[2:],
    "iqr": lambda lib, i: lib.stats.iqr(i.x),
    "mode": lambda lib, i: tuple(lib.stats.mode(i.labels)),
    # signals and special functions
    "hilbert": lambda lib, i: lib.signal.hilbert(i.x),
    "detrend": lambda lib, i: lib.signal.detrend(i.x),
    "savgol_filter": lambda lib, i: lib.signal.savgol_filter(i.x, 11, 3),
    "rfft": lambda lib, i: lib.fft.rfft(i.x),
    "softmax": lambda lib, i: lib.special.softmax(i.table, axis=1),
    # scores
    "accuracy_score": lambda lib, i: lib.metrics.accuracy_score(i.labels, i.guesses),
    "f1_score": lambda lib, i: lib.metrics.f1_score(i.labels, i.guesses, average="macro"),
    "confusion_matrix": lambda lib, i: lib.metrics.confusion_matrix(i.labels, i.guesses),
    "log_loss": lambda lib, i: lib.metrics.log_loss(i.binary, i.chances),
    "roc_auc_score": lambda lib, i: lib.metrics.roc_auc_score(i.binary, i.chances),
    "r2_score": lambda lib, i: lib.metrics.r2_score(i.x, i.y),
    "mean_squared_error": lambda lib, i: lib.metrics.mean_squared_error(i.x, i.y),
    "d2_tweedie_score": lambda lib, i: lib.metrics.d2_tweedie_score(i.x, i.y),
    # estimators
    "StandardScaler": lambda lib, i: lib.preprocessing.StandardScaler().fit_transform(i.table),
    "LabelBinarizer": lambda lib, i: lib.preprocessing.LabelBinarizer().fit_transform(i.labels),
    "PCA full": lambda lib, i: (
        lib.decomposition.PCA(3, svd_solver="full").fit(i.table).transform(i.table)
    ),
    "PCA covariance_eigh": lambda lib, i: (
        lib.decomposition.PCA(3, svd_solver="covariance_eigh").fit(i.table).transform(i.table)
    ),
    "RidgeCV": lambda lib, i: lib.linear_model.RidgeCV().fit(i.table, i.y).coef_,
    "GaussianNB": lambda lib, i: (
        lib.naive_bayes.GaussianNB().fit(i.table, i.binary).predict(i.table)
    ),
    "train_test_split": lambda lib, i: tuple(
        lib.model_selection.train_test_split(i.table, i.y, random_state=0)
    ),
}
CASE_NAMES = list(_CALLS)


def connect(name: str) -> Service:
    """Serve numpy or nx in this process; a case is a call and a number of rows.

    Both processes have SciPy and scikit-learn use the namespace of the arrays that they get: both
    take the same path.
    """
    os.environ["SCIPY_ARRAY_API"] = "1"
    import_module("sklearn").set_config(array_api_dispatch=True)
    if name == "numpy":
        return Service(np.__version__, _prepare_numpy)
    xp: Any = import_module("array_api_nx")
    return Service(xp.__version__, partial(_prepare_nx, xp))


def run(turns: int, elements: int = ELEMENTS, wanted: str = "") -> dict[str, Any]:
    """Time and compare the calls whose names contain `wanted`, and print their speed."""
    cases = [case for case in CASE_NAMES if wanted in case]
    figures = functions.run(__name__, "SciPy and scikit-learn on columns", cases, turns, elements)
    return {**figures, "scipy": version("scipy"), "scikit-learn": version("scikit-learn")}


def _prepare_numpy(name: str, rows: int) -> Prepared:
    return Prepared(Timer(partial(_CALLS[name], _libraries(np), _inputs(rows))))


def _prepare_nx(xp: Any, name: str, rows: int) -> Prepared:
    inputs = _inputs(rows)
    own = Inputs(*[xp.asarray(values, copy=True) for values in inputs])
    return functions.agreeing(
        xp,
        partial(_CALLS[name], _libraries(xp), own),
        partial(_CALLS[name], _libraries(np), inputs),
        numbers=True,
    )


def _libraries(xp: Any) -> _Libraries:
    scipy = [import_module(f"scipy.{name}") for name in _Libraries._fields[1:5]]
    sklearn = [import_module(f"sklearn.{name}") for name in _Libraries._fields[5:]]
    return _Libraries(xp, *scipy, *sklearn)


@lru_cache(maxsize=1)
def _inputs(rows: int) -> Inputs:
    rng = np.random.default_rng(5)
    table = rng.standard_normal((rows, COLUMNS))
    x = table[:, 0].copy()
    y = table[:, 1] + 0.3 * x
    labels = rng.integers(0, 10, rows)
    guesses = np.where(rng.random(rows) < 0.8, labels, rng.integers(0, 10, rows))
    return Inputs(table, x, y, labels, guesses, (x > 0).astype(np.int64), 1 / (1 + np.exp(-y)))
