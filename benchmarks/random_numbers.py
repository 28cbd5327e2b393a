"""Draws of random numbers, by our generator and by NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from timeit import Timer
from typing import Any

import numpy as np

from . import functions
from .worker import Prepared, Service

_REALS = ("random", "standard_normal")
_OTHERS: dict[str, Callable[[Any, int], Any]] = {
    "uniform": lambda rng, n: rng.uniform(-1.0, 2.0, n),
    "normal": lambda rng, n: rng.normal(1.0, 2.0, n),
    "integers": lambda rng, n: rng.integers(1000, size=n),
    "integers of a wide span": lambda rng, n: rng.integers(2**40, size=n),
    "permutation": lambda rng, n: rng.permutation(n),
    "exponential": lambda rng, n: rng.exponential(2.0, n),
    "standard_gamma": lambda rng, n: rng.standard_gamma(2.5, n),
    "beta": lambda rng, n: rng.beta(0.5, 2.0, n),
    "poisson of a small mean": lambda rng, n: rng.poisson(3.0, n),
    "poisson": lambda rng, n: rng.poisson(30.0, n),
    "binomial": lambda rng, n: rng.binomial(100, 0.4, n),
}
_SUM = "x + standard_normal"
CASE_NAMES = [
    *[f"{name}, {dtype}" for name in (*_REALS, _SUM) for dtype in ("float64", "float32")],
    *[f"{name}, default" for name in _OTHERS],
]


def connect(name: str) -> Service:
    """Serve numpy or nx in this process; a case is a draw, a dtype and a size."""
    if name == "numpy":
        return Service(np.__version__, partial(_prepare, np))
    xp: Any = import_module("array_api_nx")
    return Service(xp.__version__, partial(_prepare, xp))


def run(turns: int, elements: int = functions.ELEMENTS, wanted: str = "") -> dict[str, Any]:
    """Time and compare the draws whose names contain `wanted`, and print their speed."""
    cases = [case for case in CASE_NAMES if wanted in case]
    return functions.run(__name__, "Random numbers", cases, turns, elements)


def _prepare(xp: Any, name: str, dtype: str, elements: int) -> Prepared:
    draw = _call(xp, name, dtype, elements)
    if np.asarray(draw()).size != elements:
        raise ValueError(f"{name} does not draw {elements} numbers")
    return Prepared(Timer(draw if xp is np else lambda: xp.evaluate(draw())))


def _call(xp: Any, name: str, dtype: str, elements: int) -> Callable[[], Any]:
    rng = xp.random.default_rng(1)
    if name in _REALS:
        return lambda: getattr(rng, name)(elements, dtype=dtype)
    if name == _SUM:
        x = xp.ones(elements, dtype=dtype)
        return lambda: x + rng.standard_normal(elements, dtype=dtype)
    return lambda: _OTHERS[name](rng, elements)
