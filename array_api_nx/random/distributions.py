"""Distributions made of even and normal numbers, by operations that round alike everywhere."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from math import sqrt
from typing import Any

from ..contract.random_numbers import exact_log
from ..core import dtypes as d
from ..frontend.array import Array
from ..frontend.elementwise import floor
from ..frontend.searching import where
from ..frontend.utility import all as all_true

__all__ = ["Draw", "exp", "exponential", "gamma", "gamma_logarithm", "log", "share"]

Draw = Callable[[str, int], Array]
"""Numbers of a kind for an attempt: each attempt has numbers of its own for every element."""

# The upper 32 bits of log(2), and what it lacks of that.
_LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
_TERMS = 14


def log(x: Array) -> Array:
    """The natural logarithm of positive numbers, float64."""
    found: Array = exact_log(x, d.float64, where)
    return found


def exp(x: Array) -> Array:
    """The exponential function of numbers of at most 0, float64; 0 below -700."""
    x = where(x < -700.0, -700.0, x)
    halvings = floor(x * -1.4426950408889634 + 0.5)
    rest = (x + halvings * _LN2[0]) + halvings * _LN2[1]
    value = rest * 0.0 + 1.0
    for term in range(_TERMS, 0, -1):
        value = value * rest / float(term) + 1.0
    for step in (512, 256, 128, 64, 32, 16, 8, 4, 2, 1):
        some = halvings >= float(step)
        value = where(some, value * 2.0**-step, value)
        halvings = where(some, halvings - float(step), halvings)
    return where(x <= -700.0, 0.0, value)


def gamma(shape: float, draw: Draw) -> Array:
    """Gamma-distributed numbers of scale 1."""
    power = gamma_logarithm(shape, draw)
    upper = power > 0.0
    value = exp(where(upper, -power, power))
    return where(upper, 1.0 / value, value)


def exponential(even: Array) -> Array:
    """Exponentially distributed numbers of mean 1, from even numbers."""
    return -log(1.0 - even)


def gamma_logarithm(shape: float, draw: Draw) -> Array:
    """Logarithms of gamma-distributed numbers of scale 1, by rejection.

    G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables, ACM TOMS 26
    (2000). A shape below 1 is raised by one, and the number multiplied by a power of an even one.
    """
    centre = (shape if shape >= 1 else shape + 1) - 1 / 3
    slope = 1 / sqrt(9 * centre)
    result: Array | None = None
    accepted: Any = None
    # At least nineteen of twenty numbers are accepted at each attempt.
    for attempt in count(1):
        normal, even = draw("normal", 2 * attempt), 1.0 - draw("uniform", 2 * attempt + 1)
        root = normal * slope + 1.0
        inside = root > 0.0
        cube = root * root * root
        # 1 stands for what is rejected anyway, and has a logarithm.
        cube = where(inside, cube, 1.0)
        log_cube = log(cube)
        bound = normal * normal * 0.5 + ((1.0 - cube) + log_cube) * centre
        good = inside & (log(even) < bound)
        result = log_cube if result is None else where(accepted, result, log_cube)
        accepted = good if accepted is None else accepted | good
        if bool(all_true(accepted)):
            break
    assert result is not None
    result = result + log(result * 0.0 + centre)
    if shape < 1:
        result = result + log(1.0 - draw("uniform", 1)) / shape
    return result


def share(first: Array, second: Array) -> Array:
    """The share of the first of two positive numbers in their sum, from their logarithms."""
    less = where(first < second, first - second, second - first)
    ratio = exp(less)
    return where(first < second, ratio, ratio * 0.0 + 1.0) / (1.0 + ratio)
