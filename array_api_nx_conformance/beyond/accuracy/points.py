"""Where functions are tried: arguments of all magnitudes, and near points of interest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .formats import FORMATS

Numbers: TypeAlias = NDArray[np.number]

_USUAL = 20  # powers of two: magnitudes from 2**-20 to 2**20 are what most programs have
_NEAR = 6  # neighbours of a point of interest, on either side
_COMPONENTS = {"complex64": "float32", "complex128": "float64"}


@dataclass(frozen=True)
class Domain:
    """The arguments that a function takes, and where it is of interest.

    Attributes
    ----------
    low, high : float
        It takes what lies between, ends included.
    near : tuple of float
        Its neighbours are arguments, too: zeros, poles, ends, and where it overflows.
    spans : tuple of (float, float)
        Intervals from which arguments are drawn evenly.
    """

    low: float = -math.inf
    high: float = math.inf
    near: tuple[float, ...] = ()
    spans: tuple[tuple[float, float], ...] = ()


def real(domain: Domain, dtype: str, count: int, seed: int) -> Numbers:
    """About `count` arguments of a function of one real number, normal or 0."""
    generator = np.random.default_rng([seed, 1])
    parts = [
        _powers(generator, -_USUAL, _USUAL, count // 2),
        _powers(generator, FORMATS[dtype].least, FORMATS[dtype].most, count // 4),
        _neighbours((*domain.near, 0.0, 1.0, -1.0, 0.5), dtype),
    ]
    for low, high in domain.spans:
        parts.append(generator.uniform(low, high, count // 4))
    return _kept(np.concatenate(parts), domain, dtype)


def pairs(domains: Sequence[Domain], dtype: str, count: int, seed: int) -> list[Numbers]:
    """Arguments of a function of two real numbers, as two arrays."""
    generator = np.random.default_rng([seed, 2])
    columns = [generator.permutation(real(each, dtype, count, seed)) for each in domains]
    rows = min(map(len, columns))
    first, second = (column[:rows] for column in columns)
    # Close together, as many differences and quotients are.
    close = np.nextafter(first[: rows // 4], generator.choice([-np.inf, np.inf], rows // 4))
    first = np.concatenate([first, first[: rows // 4]])
    second = np.concatenate([second, close.astype(dtype)])
    kept = (second >= domains[1].low) & (second <= domains[1].high) & np.isfinite(second)
    return [first[kept], second[kept]]


def complexes(domain: Domain, dtype: str, count: int, seed: int) -> Numbers:
    """Arguments of a function of a complex number; none on an axis, where branch cuts lie."""
    generator = np.random.default_rng([seed, 3])
    component = _COMPONENTS[dtype]
    form = FORMATS[dtype]
    usual = [_powers(generator, -_USUAL, _USUAL, count // 2) for _ in range(2)]
    # Each component by itself: products and quotients of any two magnitudes come up.
    extreme = [_powers(generator, form.least, form.most, count // 4) for _ in range(2)]
    around = [*domain.near, 0.0, 1.0, -1.0, 0.5]
    points = np.array([[x, y] for point in around for x, y in ((point, 0.0), (0.0, point))])
    points = np.repeat(points, 4, axis=0)
    nearby = points + 2.0 ** generator.uniform(-24, -2, points.shape) * generator.choice(
        [-1, 1], points.shape
    )
    parts = [usual, extreme, [nearby[:, 0], nearby[:, 1]]]
    for low, high in domain.spans:
        first, second = generator.uniform(low, high, count // 4), usual[1][: count // 4]
        parts += [[first, second], [second, first]]
    components = [
        np.concatenate([part[i] for part in parts]).astype(component).astype(np.float64)
        for i in range(2)
    ]
    joined = components[0] + 1j * components[1]
    low = 2.0**form.least
    kept = np.isfinite(joined) & (abs(joined.real) >= low) & (abs(joined.imag) >= low)
    return joined[kept].astype(dtype)


def is_usual(arguments: Sequence[complex]) -> bool:
    """Whether all arguments have magnitudes that most programs have."""
    return all(
        part == 0 or 2.0**-_USUAL <= abs(part) <= 2.0**_USUAL
        for argument in arguments
        for part in (argument.real, argument.imag)
    )


def _powers(generator: np.random.Generator, low: int, high: int, count: int) -> Numbers:
    """Random signs, random significands, exponents drawn evenly."""
    significand = generator.uniform(1, 2, count)
    exponent = generator.integers(low, high, count)
    signs = generator.choice([-1.0, 1.0], count)
    return np.asarray(signs * np.ldexp(significand, exponent))


def _neighbours(points: Sequence[float], dtype: str) -> Numbers:
    scalar = np.dtype(dtype).type
    out = []
    for point in points:
        below = above = scalar(point)
        out.append(float(below))
        for _ in range(_NEAR):
            below = np.nextafter(below, scalar(-np.inf))
            above = np.nextafter(above, scalar(np.inf))
            out += [float(below), float(above)]
    return np.array(out)


def _kept(numbers: Numbers, domain: Domain, dtype: str) -> Numbers:
    with np.errstate(over="ignore", under="ignore"):
        numbers = numbers.astype(dtype)
    if domain.low >= 0:
        numbers = abs(numbers)
    inside = (numbers >= domain.low) & (numbers <= domain.high) & np.isfinite(numbers)
    normal = (numbers == 0) | (abs(numbers) >= 2.0 ** FORMATS[dtype].least)
    kept: Numbers = numbers[inside & normal]
    return kept
