"""scikit-learn and SciPy on array_api_nx, with real data: does each function agree with NumPy?

Every row of the table runs one function twice: on NumPy arrays, as everyone does today, and on nx
arrays, with array API dispatch on. The data sets (digits, breast cancer, wine) ship inside
scikit-learn.

- *result*: "agrees" if the shapes and dtypes are NumPy's and the values are the same to rounding.
- *abs*, *rel*: the maximum difference, and that divided by the largest value of NumPy's result.
- *came back*: "nx" arrays, "NumPy" arrays or scalars, a Python "number".
- *time*: processor time on nx divided by that on NumPy, the medians of turns that run all; below 1
  is faster. The first figure is against plain NumPy, as everyone runs it today, in a process where
  nothing is dispatched; the second against NumPy arrays that go the same way through the libraries
  as nx arrays do. Compiled code that a library keeps for NumPy alone (manhattan_distances, say) is
  part of the first.

Run ``python examples/clients.py``; parts of names choose rows: ``... PCA special``; ``--device
torch:cpu`` and the like put the data on another engine, and nothing else. Exit status:
0 if all rows agree; 1 if one differs, raises, or leaves nx where it need not; 2 if it cannot run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from math import nan
from statistics import geometric_mean, median
from time import perf_counter, process_time
from timeit import Timer
from types import ModuleType, SimpleNamespace
from typing import Any

SERVES_PLAIN = sys.argv[1:] == ["--serve-plain"]  # the process that runs rows on plain NumPy
# SciPy reads it while it is imported.
os.environ["SCIPY_ARRAY_API"] = "0" if SERVES_PLAIN else "1"
try:
    import numpy as np
    import scipy
    import sklearn
    from scipy import (
        differentiate,
        fft,
        integrate,
        linalg,
        ndimage,
        signal,
        spatial,
        special,
        stats,
    )
    from scipy.cluster import hierarchy, vq
    from scipy.optimize import elementwise
    from sklearn import datasets, metrics, mixture, model_selection
    from sklearn import preprocessing as prep
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as LDA
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.metrics import pairwise
    from sklearn.naive_bayes import GaussianNB
    from threadpoolctl import threadpool_limits

    import array_api_nx
except ImportError as error:
    print(f"{error}; run: pip install scipy scikit-learn", file=sys.stderr)
    sys.exit(2)

# The largest difference, relative to the largest value, that rounding explains. Integers and
# booleans have to be equal.
ROUNDING = {"float32": 3e-5, "complex64": 3e-5, "float64": 1e-9, "complex128": 1e-9}

# Processor time, so that other programs do not count; on Windows it ticks too slowly.
CLOCK = perf_counter if sys.platform == "win32" else process_time


class Data(SimpleNamespace):
    """The data sets as arrays of one namespace, `xp`."""

    def __init__(self, xp: ModuleType, **place: str) -> None:
        digits = datasets.load_digits()
        cancer, label = datasets.load_breast_cancer(return_X_y=True)
        wine, cultivar = datasets.load_wine(return_X_y=True)
        z = (cancer - cancer.mean(axis=0)) / cancer.std(axis=0)
        score = 1 / (1 + np.exp(z[:, 0]))
        arrays = {
            "digits": digits.data,  # 1797 images of 64 pixels
            "digits32": digits.data.astype(np.float32),
            "images": digits.images,  # the same as 8 by 8 pixels
            "cancer": cancer,  # 569 tumours of 30 measures
            "label": label,  # 1 for benign
            "z": z,  # cancer, standardised
            "benign": z[label == 1],
            "malignant": z[label == 0],
            "score": score,  # how sure a bad classifier is that the label is 1
            "guess": (score > 0.5).astype(np.int64),
            "wine": wine,  # 178 wines of 13 measures, all positive
            "cultivar": cultivar,
            "sos": signal.butter(4, 0.2, output="sos"),  # a low-pass filter
        }
        super().__init__(xp=xp, **{name: xp.asarray(x, **place) for name, x in arrays.items()})


def signed(d: Data, columns: Any) -> Any:
    """`columns`, each defined but for its sign, with the sign that makes its peak positive."""
    peak = d.xp.argmax(d.xp.abs(columns), axis=0, keepdims=True)
    return columns * d.xp.sign(d.xp.take_along_axis(columns, peak, axis=0))


def fit_randomized_pca(d: Data) -> Any:
    solver = {"svd_solver": "randomized", "power_iteration_normalizer": "QR"}
    return PCA(10, random_state=0, **solver).fit_transform(d.digits)


def fit_discriminant(d: Data) -> Any:
    model = LDA().fit(d.wine, d.cultivar)
    return signed(d, model.transform(d.wine)), model.predict_proba(d.wine)


def fit_mixture(d: Data) -> Any:
    model = mixture.GaussianMixture(3, init_params="random", random_state=0).fit(d.wine)
    return model.means_, model.score_samples(d.wine)


Row = Callable[[Data], Any]
Rows = dict[str, Row]

SCIKIT_LEARN: Rows = {
    "StandardScaler": lambda d: prep.StandardScaler().fit_transform(d.cancer),
    "MinMaxScaler": lambda d: prep.MinMaxScaler().fit_transform(d.cancer),
    "Normalizer": lambda d: prep.Normalizer().fit_transform(d.cancer),
    "LabelBinarizer": lambda d: prep.LabelBinarizer().fit_transform(d.cultivar),
    "PCA full": lambda d: PCA(10, svd_solver="full").fit_transform(d.digits),
    "PCA full, float32": lambda d: PCA(10, svd_solver="full").fit_transform(d.digits32),
    "PCA covariance_eigh": lambda d: PCA(10, svd_solver="covariance_eigh").fit_transform(d.digits),
    "PCA randomized": fit_randomized_pca,
    "Ridge": lambda d: Ridge(solver="svd").fit(d.z, d.score).predict(d.z),
    "LogisticRegression": lambda d: LogisticRegression(tol=1e-10).fit(d.z, d.label).coef_,
    "LinearDiscriminantAnalysis": fit_discriminant,
    "GaussianNB": lambda d: GaussianNB().fit(d.z, d.label).predict_log_proba(d.z),
    "GaussianMixture": fit_mixture,
    "cross_val_predict": lambda d: model_selection.cross_val_predict(LDA(), d.wine, d.cultivar),
    "accuracy_score": lambda d: metrics.accuracy_score(d.label, d.guess),
    "f1_score": lambda d: metrics.f1_score(d.label, d.guess, average=None),
    "confusion_matrix": lambda d: metrics.confusion_matrix(d.label, d.guess),
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
    "stats.gmean": lambda d: stats.gmean(d.wine),
    "stats.quantile": lambda d: stats.quantile(d.z, 0.3, axis=0),
    "stats.rankdata": lambda d: stats.rankdata(d.z, axis=0),
    "stats.ttest_ind": lambda d: stats.ttest_ind(d.benign, d.malignant, equal_var=False),
    "stats.pearsonr": lambda d: stats.pearsonr(d.z, d.z[:, :1], axis=0),
    "stats.normaltest": lambda d: stats.normaltest(d.z),
    "stats.bootstrap": lambda d: stats.bootstrap((d.z[:, 0],), d.xp.mean, rng=0).standard_error,
    "special.logsumexp": lambda d: special.logsumexp(d.z, axis=1),
    "special.softmax": lambda d: special.softmax(d.z, axis=1),
    "special.xlogy": lambda d: special.xlogy(d.wine, d.wine),
    "special.expm1": lambda d: special.expm1(d.z),
    "fft.fft": lambda d: fft.fft(d.digits),
    "fft.rfft": lambda d: fft.rfft(d.digits),
    "fft.rfft, float32": lambda d: fft.rfft(d.digits32),
    "signal.fftconvolve": lambda d: signal.fftconvolve(d.digits, d.digits[:, :5], axes=1),
    "cluster.vq.whiten": lambda d: vq.whiten(d.cancer),
    "integrate.cumulative_trapezoid": lambda d: integrate.cumulative_trapezoid(d.digits),
    "differentiate.derivative": lambda d: differentiate.derivative(d.xp.exp, d.z).df,
    "optimize.elementwise.find_root": lambda d: (
        elementwise.find_root(lambda x, c: x**3 - c, (d.wine * 0, d.wine + 1), args=(d.wine,)).x
    ),
}

THROUGH_NUMPY: Rows = {
    "special.expit": lambda d: special.expit(d.z),
    "special.erf": lambda d: special.erf(d.z),
    "fft.dct": lambda d: fft.dct(d.digits),
    "signal.sosfilt": lambda d: signal.sosfilt(d.sos, d.digits),
    "signal.convolve": lambda d: signal.convolve(d.images[0], d.images[1]),
    "signal.savgol_filter": lambda d: signal.savgol_filter(d.digits, 7, 2),
    "ndimage.gaussian_filter": lambda d: ndimage.gaussian_filter(d.images, 1.0),
    "cluster.vq.vq": lambda d: vq.vq(d.z, d.z[:8, :]),
    "cluster.vq.kmeans": lambda d: vq.kmeans(d.z, d.z[:3, :]),
    "cluster.hierarchy.linkage": lambda d: hierarchy.linkage(d.wine),
}

LEAVING: Rows = {
    "cross_val_score": lambda d: model_selection.cross_val_score(LDA(), d.wine, d.cultivar),
    "stats.linregress": lambda d: stats.linregress(d.z[:, 0], d.z[:, 1]),
    "signal.welch": lambda d: signal.welch(d.digits, nperseg=32),
    "signal.stft": lambda d: signal.stft(d.digits, nperseg=16),
    "integrate.simpson": lambda d: integrate.simpson(d.digits),
    "spatial.distance.cdist": lambda d: spatial.distance.cdist(d.z, d.z[:5, :]),
    "linalg.solve": lambda d: linalg.solve(d.z.T @ d.z + d.xp.eye(30), d.z.T),
}

CHAPTERS = {
    f"scikit-learn {sklearn.__version__}": SCIKIT_LEARN,
    f"SciPy {scipy.__version__}, computed in the namespace": IN_NAMESPACE,
    "SciPy, compiled code: to NumPy and back": THROUGH_NUMPY,
    "Known to leave the namespace, whatever it is: NumPy comes back": LEAVING,
}


def leaves(result: Any) -> Iterator[Any]:
    """The arrays and numbers in a result, which may be a tuple of them."""
    if isinstance(result, tuple | list):
        for part in result:
            yield from leaves(part)
    else:
        yield result


def origin_of(leaf: Any) -> str:
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
        unequal = (a != b) & ~(np.isnan(a) & np.isnan(b))
        distance = np.abs(a[unequal].astype(complex) - b[unequal]).max(initial=0.0)
        scale = np.abs(a[np.isfinite(a)]).max(initial=0.0)
        ratio = distance / scale if scale else distance
        if not ratio <= ROUNDING.get(a.dtype.name, 0.0):
            raise ValueError(f"differs by {distance:.1e}, relative {ratio:.1e}")
        absolute, relative = max(absolute, float(distance)), max(relative, float(ratio))
    return absolute, relative


class PlainNumPy:
    """A process that runs rows on NumPy arrays, while no library dispatches anything."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve-plain"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, name: str, number: int) -> float:
        """The processor time of a row that runs so many times."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answered is not None
        print(name, number, sep="\t", file=asked, flush=True)
        return float(answered.readline())

    def __enter__(self) -> PlainNumPy:
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def serve_plain() -> int:
    """Run the rows that `PlainNumPy` asks for, until it asks no more."""
    data = Data(np)
    rows = {name: row for chapter in CHAPTERS.values() for name, row in chapter.items()}
    for line in sys.stdin:
        name, _, number = line.rstrip("\n").partition("\t")
        timer = Timer(partial(rows[name], data), timer=CLOCK)
        print(timer.timeit(int(number)), flush=True)
    return 0


def time_ratios(
    name: str, row: Row, plain: PlainNumPy, numpy: Data, nx: Data, turns: int
) -> tuple[float, float]:
    """The processor time of a row on `nx` by that on plain NumPy, and by that on NumPy arrays that
    are dispatched: medians of some turns."""
    with sklearn.config_context(array_api_dispatch=True):
        numpy_timer = Timer(partial(row, numpy), timer=CLOCK)
        nx_timer = Timer(partial(row, nx), timer=CLOCK)
        number = max(1, int(0.002 / numpy_timer.timeit(1)))
        plain.seconds(name, 1)  # the first call may take longer
        to_plain, to_dispatched = [], []
        for turn in range(turns):
            plain_seconds = plain.seconds(name, number)
            # Caches are cold after the other process ran: each is the first in every other turn.
            if turn % 2:
                nx_seconds, numpy_seconds = nx_timer.timeit(number), numpy_timer.timeit(number)
            else:
                numpy_seconds, nx_seconds = numpy_timer.timeit(number), nx_timer.timeit(number)
            to_plain.append(nx_seconds / plain_seconds)
            to_dispatched.append(nx_seconds / numpy_seconds)
    return median(to_plain), median(to_dispatched)


def run(row: Row, numpy: Data, nx: Data, may_leave: bool) -> tuple[float, float, str]:
    """Maximum differences and origin of the result of `row`; an exception if it fails."""
    with sklearn.config_context(array_api_dispatch=True):
        result = row(nx)
    origin = ", ".join(sorted({origin_of(leaf) for leaf in leaves(result)}))
    if "NumPy" in origin and not may_leave:
        raise TypeError(f"{origin} came back")
    return *differences(row(numpy), result), origin


def main() -> int:
    """Print the table; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of names: the rows to run (default: all)")
    parser.add_argument(
        "--turns", type=int, choices=range(1, 100), metavar="N", default=7, help="default: 7"
    )
    parser.add_argument("--device", default="cpu", help="of nx arrays: cpu, torch:cpu, dask, ...")
    options = parser.parse_args()
    parts: list[str] = options.names or [""]
    chosen = {row for rows in CHAPTERS.values() for row in rows if any(p in row for p in parts)}
    if not chosen:
        parser.error(f"no row's name contains {' or '.join(parts)}")
    return compare(chosen, options.turns, options.device)


def compare(chosen: set[str], turns: int, device: str) -> int:
    """Print a line for each of the rows chosen; the exit status."""
    numpy, nx = Data(np), Data(array_api_nx, device=device)
    origins, failed, ratios = Counter[str](), 0, list[tuple[float, float]]()
    print(f"{'':61}{'time by NumPy':>16}")
    print(f"{'function':34}{'result':8}{'abs':>6}{'rel':>8}   {'came back':11}", end="")
    print(f"{'plain':>5}{'dispatched':>11}")
    with PlainNumPy() as plain:
        for title, rows in CHAPTERS.items():
            print(f"\n{title}")
            for name in [row for row in rows if row in chosen]:
                try:
                    absolute, relative, origin = run(rows[name], numpy, nx, rows is LEAVING)
                except Exception as error:
                    failed += 1
                    print(f"  {name:32}FAILS    {type(error).__name__}: {error}")
                    continue
                origins[origin] += 1
                ratios.append(time_ratios(name, rows[name], plain, numpy, nx, turns))
                print(f"  {name:32}agrees {absolute:7.0e} {relative:7.0e}   ", end="")
                print(f"{origin:11}{ratios[-1][0]:5.2f}{ratios[-1][1]:11.2f}", flush=True)
    came_back = ", ".join(f"{count} {origin}" for origin, count in origins.most_common())
    print(
        f"\n{len(chosen) - failed} of {len(chosen)} agree with NumPy to rounding; "
        f"came back: {came_back or 'nothing'}."
    )
    for column, other in enumerate(("plain NumPy", "NumPy through the same dispatch")):
        ratio = geometric_mean([pair[column] for pair in ratios] or [nan])
        printed = round(ratio, 2)
        verdict = "as fast as" if printed == 1 else "faster than" if printed < 1 else "slower than"
        print(f"Time: {ratio:.2f} times that of {other} (geometric mean), so {verdict} it.")
    return 1 if failed else 0


if __name__ == "__main__":
    # NumPy and SciPy bring an OpenBLAS each, whose waiting threads would disturb the other's turn;
    # and scikit-learn silences what it expects to divide 0 by 0 for NumPy alone.
    with threadpool_limits(1), np.errstate(invalid="ignore"):
        sys.exit(serve_plain() if SERVES_PLAIN else main())
