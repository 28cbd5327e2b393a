"""The arguments of the programs in `own_programs`, by dtype and number of elements."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .classes import LOOPS, WHOLE
from .sources import Program

SIZES = (2_000, 50_000, 1_000_000)
DTYPES = ("float64", "float32")
FILE = Path(__file__).with_name("own_programs.py")

Random = np.random.Generator


class _Case(NamedTuple):
    kind: str
    arguments: Callable[[Random, int], tuple[Any, ...]]
    """Of about so many elements; arrays of float64 or complex128 become the dtype's."""


def _square(rng: Random, n: int, count: int) -> tuple[Any, ...]:
    return tuple(rng.random((count, isqrt(n), isqrt(n))))


def _cubes(rng: Random, n: int) -> tuple[Any, ...]:
    side = round(n ** (1 / 3))
    return tuple(rng.random((2, side, side, side)))


def _options(rng: Random, n: int) -> tuple[Any, ...]:
    spot, strike, years = rng.random((3, n))
    return 50 + 100 * spot, 50 + 100 * strike, 0.1 + 2 * years, 0.03, 0.2


def _plane(rng: Random, n: int) -> tuple[Any, ...]:
    side = isqrt(n)
    x, y = np.linspace(-2, 0.5, side), np.linspace(-1.25, 1.25, side)
    return x + 1j * y[:, None], 20


def _clusters(rng: Random, n: int) -> tuple[Any, ...]:
    centres = np.stack([np.arange(8.0) % 3, np.arange(8.0) // 3], axis=1)
    points = centres[rng.integers(8, size=n // 2)] + 0.1 * rng.standard_normal((n // 2, 2))
    return points, centres + 0.2, 3


def _polynomial(rng: Random, n: int) -> tuple[Any, ...]:
    return (*rng.random((3, n)), rng.random((5, 5, 6)).tolist())


def _observations(rng: Random, n: int) -> tuple[Any, ...]:
    move = np.eye(4) + 0.1 * np.eye(4, k=2)
    observed = np.cumsum(rng.standard_normal((n // 100, 2)), axis=0)
    return observed, move, 0.01 * np.eye(4), np.eye(2, 4), 0.5 * np.eye(2)


def _bodies(rng: Random, n: int) -> tuple[Any, ...]:
    count = isqrt(n)
    return rng.random((count, 3)), rng.random((count, 3)), rng.random(count), 0.01


_CASES = {
    "heat_1d": _Case(WHOLE, lambda rng, n: (*rng.random((2, n)), 10)),
    "advection_2d": _Case(WHOLE, lambda rng, n: (*_square(rng, n, 3), 10)),
    "wave_3d": _Case(WHOLE, lambda rng, n: (*_cubes(rng, n), 10)),
    "n_body_step": _Case(WHOLE, _bodies),
    "black_scholes": _Case(WHOLE, _options),
    "logistic_map": _Case(WHOLE, lambda rng, n: (rng.random(n), 1 + 2 * rng.random(n), 20)),
    "mandelbrot_by_masks": _Case(WHOLE, _plane),
    "k_means": _Case(WHOLE, _clusters),
    "polynomial": _Case(WHOLE, _polynomial),
    "smoothed": _Case(
        WHOLE, lambda rng, n: (rng.standard_normal(n), (0.1, 0.2, 0.4, 0.2, 0.1), 50)
    ),
    "relaxation_by_rows": _Case(LOOPS, lambda rng, n: (*_square(rng, n, 1), 3)),
    "kalman": _Case(LOOPS, _observations),
}
NAMES = tuple(_CASES)


def class_of(name: str) -> str:
    """The class that the program's figures are averaged in."""
    return _CASES[name].kind


@lru_cache(maxsize=1)
def program(name: str, dtype: str, elements: int) -> Program:
    """A program with arguments that depend on nothing else."""
    as_dtype = {"f": np.dtype(dtype), "c": np.result_type(dtype, np.complex64)}
    made = _CASES[name].arguments(np.random.default_rng(38), elements)
    arguments = [x.astype(as_dtype[x.dtype.kind]) if isinstance(x, np.ndarray) else x for x in made]
    return Program(FILE, name, tuple(arguments))
