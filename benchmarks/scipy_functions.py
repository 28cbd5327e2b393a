"""SciPy's functions on array_api_nx arrays, against the same functions on NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from importlib.metadata import version
from timeit import Timer
from typing import Any

import numpy as np

from . import functions
from .worker import Prepared, Service

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


def run(turns: int, elements: int = functions.ELEMENTS, wanted: str = "") -> dict[str, Any]:
    """Time and compare the functions whose names contain `wanted`, and print their speed.

    They take a table of `elements`, and the same numbers in a row.
    """
    cases = [case for case in CASE_NAMES if wanted in case]
    figures = functions.run(__name__, "SciPy's functions", cases, turns, elements)
    return {**figures, "scipy": version("scipy")}


def _prepare_numpy(name: str, layout: str, elements: int) -> Prepared:
    function, arrays = _functions()[name], _arrays(layout, elements)
    return Prepared(Timer(lambda: function(*arrays)))


def _prepare_nx(xp: Any, name: str, layout: str, elements: int) -> Prepared:
    function, arrays = _functions()[name], _arrays(layout, elements)
    own = [xp.asarray(values, copy=True) for values in arrays]
    return functions.agreeing(xp, lambda: function(*own), lambda: function(*arrays))


@lru_cache(maxsize=1)
def _arrays(layout: str, elements: int) -> list[np.ndarray[Any, Any]]:
    x, y = np.random.default_rng(20).random((2, elements)) + 0.1
    return [functions.laid_out(layout, x), functions.laid_out(layout, y)]


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
