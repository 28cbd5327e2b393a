"""What functions and estimators are called with."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_READ = tomllib.loads(Path(__file__).with_name("arguments.toml").read_text(encoding="utf-8"))
LEFT_OUT: frozenset[str] = frozenset(_READ["left_out"])
COMMON: dict[str, str] = _READ["common"]
FUNCTIONS: dict[str, dict[str, dict[str, str]]] = {
    section: {"parameters": {}, "calls": {}} | given
    for section, given in _READ["functions"].items()
}
SETTINGS: dict[str, str] = _READ["estimators"]["settings"]
VARIANTS: dict[str, list[str]] = _READ["estimators"]["variants"]
CALLS: dict[str, str] = _READ["estimators"]["calls"]

Convert = Callable[[np.ndarray[Any, Any]], Any]


def examples(rows: int) -> dict[str, Any]:
    """NumPy arrays by their names in calls.

    x, y, w: positive numbers; t: increasing; u: between 0 and 1; k: whole numbers; h: a few
    coefficients. X, Y: tables of such; c, e: classes 0 to 2; b, g: classes 0 and 1; P: rows of
    probabilities. A, B: symmetric positive definite; G: a square matrix; v: a vector of its size.
    I, J: images; M: a mask, L: labels of the same size. O: distances; Z: a linkage.
    """
    rng = np.random.default_rng(0)
    side = max(6, int(rows**0.5))
    square = rng.normal(size=(side, side))
    table = 0.1 + rng.random((rows, 4))
    spread = rng.normal(size=(12, 2))
    far = np.sqrt(((spread[:, None] - spread[None]) ** 2).sum(-1))
    shares = 0.1 + rng.random((rows, 3))
    classes = rng.permutation(np.arange(rows) % 3)
    positive = rng.permutation(np.linspace(0.2, 4.0, rows))
    return {
        "x": positive,
        "y": positive + table[:, 0],
        "w": 0.1 + rng.random(rows),
        "t": np.linspace(0.0, 10.0, rows),
        "u": rng.permutation(np.linspace(0.01, 0.99, rows)),
        "k": rng.permutation(np.arange(rows) % 5),
        "h": np.asarray([1.0, 0.5, 0.25]),
        "X": table + classes[:, None] * np.asarray([1.0, 0.5, 0.0, 0.2]),
        "Y": table[::-1].copy(),
        "c": classes,
        "e": np.where(table[:, 1] > 0.3, classes, 0),
        "b": (classes > 0).astype(np.int64),
        "g": np.where(table[:, 1] > 0.3, classes > 0, 0).astype(np.int64),
        "P": shares / shares.sum(axis=1, keepdims=True),
        "A": square @ square.T + side * np.eye(side),
        "B": square.T @ square / side + np.eye(side),
        "G": square,
        "v": rng.random(side),
        "I": rng.random((side, side)),
        "J": rng.random((3, 3)),
        "M": rng.random((side, side)) > 0.4,
        "L": rng.permutation(np.arange(side * side) % 4).reshape(side, side),
        "O": far[np.triu_indices(12, 1)],
        "D": far,
    }


def with_nan(arrays: dict[str, Any], ndim: int) -> dict[str, Any]:
    """`arrays`, with NaN in those of one axis, which become tables if `ndim` is 2."""
    changed = dict(arrays)
    for name, array in arrays.items():
        if array.ndim == 1 and array.dtype.kind == "f" and array.size % 8 == 0:
            holed = array.copy()
            holed[3] = np.nan
            changed[name] = holed if ndim == 1 else holed.reshape(array.size // 8, 8)
    return changed
