"""scikit-learn and SciPy on array_api_nx, with real data: does each function agree with NumPy?

Every row of the table runs one function twice: on NumPy arrays, as everyone does today, and on nx
arrays, with array API dispatch on. The data sets (digits, breast cancer, wine) ship inside
scikit-learn.

- *result*: "agrees" if the shapes and dtypes are NumPy's and the values are the same to rounding.
- *abs*, *rel*: the maximum difference, and that divided by the largest value of NumPy's result.
- *came back*: "nx" arrays, "NumPy" arrays or scalars, a Python "number".
- *time*: that of nx divided by that of NumPy, the median of turns that run both.

Run ``python examples/clients.py``; parts of names choose rows: ``... PCA special``. Exit status:
0 if all rows agree; 1 if one differs, raises, or leaves nx where it need not; 2 if it cannot run.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import geometric_mean, median
from timeit import Timer
from types import ModuleType
from typing import Any

os.environ["SCIPY_ARRAY_API"] = "1"  # SciPy reads it while it is imported
try:
    import numpy as np
    import scipy
    import sklearn
    from scipy import differentiate, fft, integrate, interpolate, linalg, ndimage, signal
    from scipy import spatial, special, stats
    from scipy.cluster import hierarchy, vq
    from scipy.optimize import elementwise
    from sklearn import datasets, kernel_approximation, metrics, mixture, model_selection
    from sklearn import naive_bayes, pipeline
    from sklearn import preprocessing as prep
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as LDA
    from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
    from sklearn.metrics import pairwise
    from threadpoolctl import threadpool_limits

    import array_api_nx
except ModuleNotFoundError as error:
    print(f"{error.name} is missing; run: pip install 'array-api-nx[clients]'", file=sys.stderr)
    sys.exit(2)

# The largest difference, relative to the largest value, that rounding explains. Integers and
# booleans have to be equal.
ROUNDING = {"float32": 1e-5, "complex64": 1e-5, "float64": 1e-9, "complex128": 1e-9}


@dataclass(frozen=True, slots=True)
class Data:
    """The data sets as arrays of one namespace, `xp`."""

    xp: ModuleType
    digits: Any  # 1797 images of 64 pixels
    digits32: Any  # the same in float32
    images: Any  # the same as 8 by 8 pixels
    cancer: Any  # 569 tumours of 30 measures
    z: Any  # the same, standardised
    benign: Any  # the rows of z that are benign
    malignant: Any  # and the others
    label: Any  # 1 for benign
    guess: Any  # the label that a bad classifier sees
    score: Any  # how sure it is that the label is 1
    wine: Any  # 178 wines of 13 measures, all positive
    cultivar: Any
    sos: Any  # a low-pass filter, in second-order sections


def load(xp: ModuleType) -> Data:
    """The data sets in the namespace `xp`."""
    digits = datasets.load_digits()
    cancer, label = datasets.load_breast_cancer(return_X_y=True)
    wine, cultivar = datasets.load_wine(return_X_y=True)
    z = (cancer - cancer.mean(axis=0)) / cancer.std(axis=0)
    score = 1 / (1 + np.exp(z[:, 0]))
    arrays = {
        "digits": digits.data,
        "digits32": digits.data.astype(np.float32),
        "images": digits.images,
        "cancer": cancer,
        "z": z,
        "benign": z[label == 1],
        "malignant": z[label == 0],
        "label": label,
        "guess": (score > 0.5).astype(np.int64),
        "score": score,
        "wine": wine,
        "cultivar": cultivar,
        "sos": signal.butter(4, 0.2, output="sos"),
    }
    return Data(xp, **{name: xp.asarray(array) for name, array in arrays.items()})


def signed(d: Data, columns: Any) -> Any:
    """Columns that are defined but for their sign, with that which makes the peak positive."""
    peak = d.xp.argmax(d.xp.abs(columns), axis=0, keepdims=True)
    return columns * d.xp.sign(d.xp.take_along_axis(columns, peak, axis=0))


def fit_pipeline(d: Data) -> Any:
    steps = prep.StandardScaler(), PCA(5, svd_solver="full"), Ridge(solver="svd")
    return pipeline.make_pipeline(*steps).fit(d.cancer, d.score).predict(d.cancer)


def fit_mixture(d: Data) -> Any:
    model = mixture.GaussianMixture(3, init_params="random", random_state=0).fit(d.wine)
    return model.means_, model.score_samples(d.wine)


def permutation_test(d: Data) -> Any:
    def statistic(x: Any, y: Any, axis: int) -> Any:
        return d.xp.mean(x, axis=axis) - d.xp.mean(y, axis=axis)

    samples = d.benign[:, 0], d.malignant[:, 0]
    test = stats.permutation_test(samples, statistic, vectorized=True, n_resamples=200, rng=0)
    return test.statistic, test.pvalue


def cube_root(d: Data) -> Any:
    bracket = d.xp.zeros_like(d.wine), d.wine + 1
    return elementwise.find_root(lambda x, c: x**3 - c, bracket, args=(d.wine,)).x


Rows = dict[str, Callable[[Data], Any]]

# fmt: off
SCIKIT_LEARN: Rows = {
    "StandardScaler": lambda d: prep.StandardScaler().fit_transform(d.cancer),
    "MinMaxScaler": lambda d: prep.MinMaxScaler().fit_transform(d.cancer),
    "MaxAbsScaler": lambda d: prep.MaxAbsScaler().fit_transform(d.cancer),
    "Normalizer": lambda d: prep.Normalizer().fit_transform(d.cancer),
    "PolynomialFeatures": lambda d: prep.PolynomialFeatures(2).fit_transform(d.wine),
    "LabelEncoder": lambda d: prep.LabelEncoder().fit_transform(d.cultivar),
    "LabelBinarizer": lambda d: prep.LabelBinarizer().fit_transform(d.cultivar),
    "PCA full": lambda d: PCA(10, svd_solver="full").fit_transform(d.digits),
    "PCA full, float32": lambda d: PCA(10, svd_solver="full").fit_transform(d.digits32),
    "PCA covariance_eigh": lambda d: PCA(10, svd_solver="covariance_eigh").fit_transform(d.digits),
    "PCA randomized": lambda d: PCA(10, svd_solver="randomized", power_iteration_normalizer="QR",
                                    random_state=0).fit_transform(d.digits),
    "Nystroem": lambda d: kernel_approximation.Nystroem(random_state=0, n_components=20)
                          .fit_transform(d.z),
    "Ridge": lambda d: Ridge(solver="svd").fit(d.z, d.score).predict(d.z),
    "RidgeClassifier": lambda d: RidgeClassifier(solver="svd").fit(d.z, d.label)
                                 .decision_function(d.z),
    "LogisticRegression": lambda d: LogisticRegression(tol=1e-10).fit(d.z, d.label)
                                    .predict_proba(d.z),
    "LinearDiscriminantAnalysis transform": lambda d: signed(
        d, LDA().fit(d.wine, d.cultivar).transform(d.wine)),
    "LinearDiscriminantAnalysis predict": lambda d: LDA().fit(d.wine, d.cultivar).predict(d.wine),
    "GaussianNB": lambda d: naive_bayes.GaussianNB().fit(d.z, d.label).predict_log_proba(d.z),
    "GaussianMixture": fit_mixture,
    "make_pipeline": fit_pipeline,
    "cross_val_predict": lambda d: model_selection.cross_val_predict(LDA(), d.wine, d.cultivar),
    "accuracy_score": lambda d: metrics.accuracy_score(d.label, d.guess),
    "f1_score": lambda d: metrics.f1_score(d.label, d.guess, average=None),
    "confusion_matrix": lambda d: metrics.confusion_matrix(d.label, d.guess),
    "log_loss": lambda d: metrics.log_loss(d.label, d.score),
    "roc_curve": lambda d: metrics.roc_curve(d.label, d.score),
    "roc_auc_score": lambda d: metrics.roc_auc_score(d.label, d.score),
    "precision_recall_curve": lambda d: metrics.precision_recall_curve(d.label, d.score),
    "r2_score": lambda d: metrics.r2_score(d.z[:, 0], d.z[:, 2]),
    "mean_squared_error": lambda d: metrics.mean_squared_error(d.z[:, 0], d.z[:, 2]),
    "cosine_similarity": lambda d: pairwise.cosine_similarity(d.z),
    "euclidean_distances": lambda d: pairwise.euclidean_distances(d.z),
    "manhattan_distances": lambda d: pairwise.manhattan_distances(d.wine),
    "rbf_kernel": lambda d: pairwise.rbf_kernel(d.z),
}

IN_NAMESPACE: Rows = {
    "stats.zscore": lambda d: stats.zscore(d.cancer),
    "stats.skew": lambda d: stats.skew(d.cancer),
    "stats.kurtosis": lambda d: stats.kurtosis(d.cancer),
    "stats.ttest_ind": lambda d: stats.ttest_ind(d.benign, d.malignant, equal_var=False),
    "stats.mannwhitneyu": lambda d: stats.mannwhitneyu(d.benign, d.malignant),
    "stats.pearsonr": lambda d: stats.pearsonr(d.z, d.z[:, :1], axis=0),
    "stats.gmean": lambda d: stats.gmean(d.wine),
    "stats.rankdata": lambda d: stats.rankdata(d.z, axis=0),
    "stats.quantile": lambda d: stats.quantile(d.z, 0.3, axis=0),
    "stats.normaltest": lambda d: stats.normaltest(d.z),
    "stats.bootstrap": lambda d: stats.bootstrap(
        (d.wine[:, 0],), d.xp.mean, n_resamples=200, rng=0).confidence_interval,
    "stats.permutation_test": permutation_test,
    "special.logsumexp": lambda d: special.logsumexp(d.z, axis=1),
    "special.softmax": lambda d: special.softmax(d.z, axis=1),
    "special.xlogy": lambda d: special.xlogy(d.wine, d.wine),
    "fft.fft": lambda d: fft.fft(d.digits),
    "fft.rfft": lambda d: fft.rfft(d.digits),
    "fft.rfft, float32": lambda d: fft.rfft(d.digits32),
    "fft.fftn": lambda d: fft.fftn(d.images),
    "signal.fftconvolve": lambda d: signal.fftconvolve(d.digits, d.digits[:, :5], axes=1),
    "signal.hilbert": lambda d: signal.hilbert(d.digits),
    "signal.resample": lambda d: signal.resample(d.digits, 32, axis=1),
    "cluster.vq.whiten": lambda d: vq.whiten(d.cancer),
    "integrate.cumulative_trapezoid": lambda d: integrate.cumulative_trapezoid(d.digits),
    "integrate.tanhsinh": lambda d: integrate.tanhsinh(d.xp.exp, d.z, d.z + 1).integral,
    "differentiate.derivative": lambda d: differentiate.derivative(d.xp.exp, d.z).df,
    "optimize.elementwise.find_root": cube_root,
}

THROUGH_NUMPY: Rows = {
    "special.expit": lambda d: special.expit(d.z),
    "special.erf": lambda d: special.erf(d.z),
    "special.gammaln": lambda d: special.gammaln(d.wine),
    "fft.dct": lambda d: fft.dct(d.digits),
    "signal.sosfilt": lambda d: signal.sosfilt(d.sos, d.digits),
    "signal.convolve": lambda d: signal.convolve(d.images[0], d.images[1]),
    "signal.savgol_filter": lambda d: signal.savgol_filter(d.digits, 7, 2),
    "signal.detrend": lambda d: signal.detrend(d.digits),
    "ndimage.gaussian_filter": lambda d: ndimage.gaussian_filter(d.images, 1.0),
    "cluster.vq.vq": lambda d: vq.vq(d.z, d.z[:8, :]),
    "cluster.vq.kmeans": lambda d: vq.kmeans(d.z, d.z[:3, :]),
    "cluster.hierarchy.linkage": lambda d: hierarchy.linkage(d.wine),
    "interpolate.make_interp_spline": lambda d: interpolate.make_interp_spline(
        d.xp.arange(64.0), d.digits.T)(d.xp.linspace(0.0, 63.0, 128)),
}

LEAVING: Rows = {
    "sklearn cross_val_score": lambda d: model_selection.cross_val_score(
        Ridge(solver="svd"), d.z, d.score),
    "special.expm1": lambda d: special.expm1(d.z),
    "special.beta": lambda d: special.beta(d.wine, d.wine),
    "stats.linregress": lambda d: stats.linregress(d.z[:, 0], d.z[:, 1]),
    "signal.welch": lambda d: signal.welch(d.digits, nperseg=32),
    "signal.stft": lambda d: signal.stft(d.digits, nperseg=16),
    "integrate.simpson": lambda d: integrate.simpson(d.digits),
    "spatial.distance.cdist": lambda d: spatial.distance.cdist(d.z, d.z[:5, :]),
    "linalg.solve": lambda d: linalg.solve(d.z.T @ d.z + d.xp.eye(30), d.z.T),
    "linalg.svdvals": lambda d: linalg.svdvals(d.z),
}
# fmt: on

CHAPTERS = {
    f"scikit-learn {sklearn.__version__}": SCIKIT_LEARN,
    f"SciPy {scipy.__version__}, computed in the namespace": IN_NAMESPACE,
    "SciPy, compiled code: to NumPy and back": THROUGH_NUMPY,
    "Known to leave the namespace: NumPy comes back, whatever went in": LEAVING,
}


def leaves(result: Any) -> Iterator[Any]:
    """The arrays and numbers in a result, which may be a tuple of them."""
    if isinstance(result, tuple | list):
        for part in result:
            yield from leaves(part)
    else:
        yield result


def origin(leaf: Any) -> str:
    """Whose type an array or number has: "nx", "NumPy" or "number" (Python's)."""
    if isinstance(leaf, array_api_nx.Array):
        return "nx"
    return "NumPy" if isinstance(leaf, np.ndarray | np.generic) else "number"


def differences(expected: Any, actual: Any) -> tuple[float, float]:
    """The maximum absolute and relative difference of two results.

    ValueError, with what differs, unless their structures, shapes and dtypes are the same and the
    values agree to rounding; NaN agrees with NaN.
    """
    absolute = relative = 0.0
    for wanted, found in zip(leaves(expected), leaves(actual), strict=True):
        a, b = np.asarray(wanted), np.asarray(found)
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            raise ValueError(f"{b.dtype} of shape {b.shape} for {a.dtype} of shape {a.shape}")
        unequal = (a != b) & ((a == a) | (b == b))
        with np.errstate(invalid="ignore"):
            distance = np.abs(a[unequal].astype(complex) - b[unequal]).max(initial=0.0)
        scale = np.abs(a[np.isfinite(a)]).max(initial=0.0)
        ratio = distance / scale if scale else distance
        # Not `>`: a NaN differs.
        if not ratio <= ROUNDING.get(a.dtype.name, 0.0):
            raise ValueError(f"differs by {distance:.1e}, relative {ratio:.1e}")
        absolute, relative = max(absolute, float(distance)), max(relative, float(ratio))
    return absolute, relative
