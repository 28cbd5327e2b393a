"""SciPy's functions on array_api_nx arrays, against the same functions on NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from importlib.metadata import version
from statistics import geometric_mean, median
from timeit import Timer
from typing import Any

import numpy as np

from .environment import environment
from .timing import in_turns, ratio
from .worker import Prepared, Service, workers

ELEMENTS = 4 * 10**6
COLUMNS = 1000
NAMES = (
    *["logsumexp", "softmax", "zscore", "skew", "kurtosis"],
    *["gmean", "ttest_ind", "moment", "entropy"],
    *["erf", "gammaln", "ndtr", "expit", "exp(-x*x)*erf(x)"],
)
CASE_NAMES = [f"{name}, {layout}" for layout in ("flat", "table") for name in NAMES]


def connect(name: str) -> Service:
    """Serve numpy or nx in this process; a case is a function, a layout and a number of elements.

    SciPy reads at its import whether it shall take other arrays than NumPy's. Both processes say
    that it shall: both take the same way through SciPy.
    """
    os.environ["SCIPY_ARRAY_API"] = "1"
    if name == "numpy":
        return Service(np.__version__, _prepare_numpy)
    xp: Any = import_module("array_api_nx")
    return Service(xp.__version__, partial(_prepare_nx, xp))


def run(turns: int, elements: int = ELEMENTS, wanted: str = "") -> dict[str, Any]:
    """Time and compare the functions whose names contain `wanted`, and print their speed.

    They take a table of `elements`, and the same numbers in a row.
    """
    speeds: dict[str, float] = {}
    with workers(__name__, ("numpy", "nx")) as found:
        versions = {name: worker.version for name, worker in found.items()}
        print(f"\nSciPy's functions, {elements:,} elements: speed on nx arrays relative to NumPy's")
        print(f"\n{'':28}{'numpy, ms':>10}{'nx':>9}")
        for case in [case for case in CASE_NAMES if wanted in case]:
            times, problems = in_turns(found, (*case.split(", "), elements), turns, 0.0)
            if problems:
                raise RuntimeError(f"{case}: {problems}")
            base, ours = times["numpy"].per_call, times["nx"].per_call
            speeds[case] = ratio(base, ours)
            print(f"{case:28}{median(base) * 1e3:10.2f}{speeds[case]:9.2f}", flush=True)
    mean = geometric_mean(speeds.values())
    print(f"{'geometric mean':38}{mean:9.2f}")
    return {
        **environment(turns, versions),
        "scipy": version("scipy"),
        "elements": elements,
        "speed": speeds,
        "geometric_mean": mean,
    }


def _prepare_numpy(name: str, layout: str, elements: int) -> Prepared:
    function, arrays = _functions()[name], _arrays(layout, elements)
    return Prepared(Timer(lambda: function(*arrays)))


def _prepare_nx(xp: Any, name: str, layout: str, elements: int) -> Prepared:
    function, arrays = _functions()[name], _arrays(layout, elements)
    own = [xp.asarray(values, copy=True) for values in arrays]
    results = zip(_parts(function(*arrays)), _parts(function(*own)), strict=True)
    for expected, result in results:
        if not isinstance(result, xp.Array):
            raise TypeError(f"SciPy gave {type(result).__name__}, not an array of array_api_nx")
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-9, atol=1e-12)
    return Prepared(Timer(lambda: xp.evaluate(*_parts(function(*own)))))


@lru_cache(maxsize=1)
def _arrays(layout: str, elements: int) -> list[np.ndarray[Any, Any]]:
    x, y = np.random.default_rng(20).random((2, elements)) + 0.1
    if layout == "flat":
        return [x, y]
    shape = (max(1, elements // COLUMNS), min(elements, COLUMNS))
    return [values[: shape[0] * shape[1]].reshape(shape) for values in (x, y)]


def _functions() -> dict[str, Callable[..., Any]]:
    special: Any = import_module("scipy.special")
    stats: Any = import_module("scipy.stats")
    return {
        "logsumexp": lambda x, y: special.logsumexp(x, axis=-1),
        "softmax": lambda x, y: special.softmax(x, axis=-1),
        "zscore": lambda x, y: stats.zscore(x),
        "skew": lambda x, y: stats.skew(x),
        "kurtosis": lambda x, y: stats.kurtosis(x),
        "gmean": lambda x, y: stats.gmean(x),
        "ttest_ind": lambda x, y: tuple(stats.ttest_ind(x, y)),
        "moment": lambda x, y: stats.moment(x, order=3),
        "entropy": lambda x, y: stats.entropy(x),
        "erf": lambda x, y: special.erf(x),
        "gammaln": lambda x, y: special.gammaln(x),
        "ndtr": lambda x, y: special.ndtr(x),
        "expit": lambda x, y: special.expit(x),
        "exp(-x*x)*erf(x)": lambda x, y: np.exp(-x * x) * special.erf(x),
    }


def _parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)
