"""What compiled functions are timed with: steps of computations that run again and again."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from .cases import Case

Inputs = list[np.ndarray[Any, Any]]


def _chain(xp: Any, a: Any, b: Any, c: Any) -> Any:
    return ((((2 * a + 1) * a - 3) * a + 0.5) * b - c) * a + b


def _assign(xp: Any, points: Any, centres: Any) -> Any:
    distances = xp.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=2)
    return xp.argmin(distances, axis=1)


def _clusters(rng: np.random.Generator, elements: int) -> Inputs:
    return [rng.random((elements // 4, 4)), rng.random((8, 4))]


def _descend(xp: Any, x: Any, labels: Any, weights: Any) -> Any:
    scores = x @ weights
    powers = xp.exp(scores - xp.max(scores, axis=1, keepdims=True))
    wrong = powers / xp.sum(powers, axis=1, keepdims=True) - labels
    return weights - 0.1 / x.shape[0] * (xp.matrix_transpose(x) @ wrong)


def _classes(rng: np.random.Generator, elements: int) -> Inputs:
    rows = elements // 16
    labels = np.eye(10)[rng.integers(10, size=rows)]
    return [rng.random((rows, 16)), labels, rng.random((16, 10))]


def _attract(xp: Any, x: Any, y: Any, z: Any, u: Any, v: Any, w: Any, mass: Any) -> Any:
    dx, dy, dz = [p[None, :] - p[:, None] for p in (x, y, z)]
    squared = dx * dx + dy * dy + dz * dz + 0.001
    pull = 0.01 * mass[None, :] / (squared * xp.sqrt(squared))
    u = u + xp.sum(pull * dx, axis=1)
    v = v + xp.sum(pull * dy, axis=1)
    w = w + xp.sum(pull * dz, axis=1)
    return x + 0.01 * u, y + 0.01 * v, z + 0.01 * w, u, v, w


def _bodies(rng: np.random.Generator, elements: int) -> Inputs:
    """As many as make so many pairs."""
    return [rng.random(isqrt(elements)) for _ in range(7)]


def _filter(xp: Any, x: Any, p: Any, z: Any, f: Any, h: Any, q: Any, r: Any) -> Any:
    x = f @ x
    p = f @ p @ xp.matrix_transpose(f) + q
    seen = xp.matrix_transpose(h)
    gain = p @ seen @ xp.linalg.inv(h @ p @ seen + r)
    return x + gain @ (z - h @ x), p - gain @ (h @ p)


def _filters(rng: np.random.Generator, elements: int) -> Inputs:
    """One of four states and two observations for every 16 elements."""
    count = elements // 16
    step = np.eye(4) + 0.1 * rng.random((4, 4))
    covariance = np.zeros((count, 1, 1)) + step @ step.T
    states, seen = rng.random((count, 4, 1)), rng.random((count, 2, 1))
    return [states, covariance, seen, step, rng.random((2, 4)), np.eye(4), np.eye(2)]


def _normal(xp: Any, x: Any) -> Any:
    """The normal distribution function, by Zelen and Severo's polynomial."""
    t = 1 / (1 + 0.2316419 * xp.abs(x))
    tail = t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    tail = 0.3989422804014327 * xp.exp(-0.5 * x * x) * t * (0.319381530 + tail)
    return xp.where(x > 0, 1 - tail, tail)


def _option(xp: Any, price: Any, strike: Any, years: Any) -> Any:
    spread = 0.2 * xp.sqrt(years)
    d1 = (xp.log(price / strike) + 0.05 * years) / spread
    return price * _normal(xp, d1) - strike * xp.exp(-0.03 * years) * _normal(xp, d1 - spread)


def _options(rng: np.random.Generator, elements: int) -> Inputs:
    return [
        50 + 50 * rng.random(elements),
        50 + 50 * rng.random(elements),
        0.1 + rng.random(elements),
    ]


PROGRAMS = (
    Case("ten operations", _chain, 3),
    Case("k-means assignment", _assign, 2, make=_clusters),
    Case("softmax regression step", _descend, 3, make=_classes),
    Case("n-body step", _attract, 7, make=_bodies),
    Case("Kalman step", _filter, 7, make=_filters),
    Case("Black-Scholes", _option, 3, make=_options),
)
