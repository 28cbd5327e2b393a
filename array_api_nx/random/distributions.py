"""Distributions made of even and normal numbers, by operations that round alike everywhere.

Parameters are arrays of float64 that broadcast to what is drawn. None of the functions checks them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TypeAlias

from ..contract.random_numbers import (
    exact_log,
    exact_log1p,
    exact_sqrt,
    upper_product,
)
from ..core import dtypes as d
from ..frontend.array import Array
from ..frontend.data_type import astype
from ..frontend.elementwise import abs as absolute
from ..frontend.elementwise import floor
from ..frontend.elementwise import sqrt as engine_sqrt
from ..frontend.searching import where
from ..frontend.utility import all as all_true
from ..frontend.utility import any as any_true

__all__ = [
    "Draw",
    "beta",
    "binomial",
    "exp",
    "exponential",
    "gamma",
    "integers",
    "log",
    "poisson",
]

Draw: TypeAlias = Callable[[str, int], Array]
"""Numbers of a kind for an attempt: each attempt has numbers of its own for every element."""

# The upper 32 bits of log(2), and what it lacks of that.
_LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
_TERMS = 14

# ---------------------------------------------------------------------- functions


def log(x: Array, *, is_share: bool = False) -> Array:
    """The natural logarithm of positive numbers, float64; see `exact_log`."""
    found: Array = exact_log(x, d.float64, where, is_share=is_share)
    return found


def _log1p(x: Array) -> Array:
    """The natural logarithm of 1 plus numbers above -1, float64."""
    near = (x > -0.25) & (x < 0.25)
    found: Array = exact_log1p(where(near, x, 0.0), d.float64)
    return where(near, found, log(where(near, 0.0, x) + 1.0))


def _sqrt(x: Array) -> Array:
    """The square root of positive numbers, float64."""
    found: Array = exact_sqrt(x, engine_sqrt(x), d.float64)
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


def _stirling(x: Array) -> Array:
    """By how much log(gamma(x)) exceeds ``(x - 1/2) log(x) - x + log(2 pi) / 2``, for x >= 1.

    Stieltjes' continued fraction (Digital Library of Mathematical Functions, 5.10.1): wrong by
    6e-6 at 1, 7e-9 at 2, and no more than rounding from 6 on.
    """
    value = x * 0.0
    for coefficient in (
        2.26948897420495996, 1.51747364915328740, 1.01152306812684171, 0.525606469002695418,
        0.252380952380952381, 0.0333333333333333333, 0.0833333333333333333,
    ):  # fmt: skip
        value = coefficient / (x + value)
    return value


# ---------------------------------------------------------------------- rejection


def _accepted(attempt: Callable[[int], tuple[Array, Array]]) -> Array:
    """Elements of the first attempts, counted from 1, that give them and say that they are good."""
    result, accepted = attempt(1)
    for number in count(2):
        if bool(all_true(accepted)):
            break
        found, good = attempt(number)
        result = where(accepted, result, found)
        accepted = accepted | good
    return result


def _transformed(
    draw: Draw,
    centre: Array,
    slopes: tuple[Array, Array],
    enough: Array,
    scale: Array,
    greatest: Array | None,
    weight: Callable[[Array], Array],
) -> Array:
    """Whole numbers of a distribution with one mode, by transformed rejection.

    W. Hörmann, The transformed rejection method for generating Poisson random variables, Insurance:
    Mathematics and Economics 12 (1993), and The generation of binomial random variates, Journal of
    Statistical Computation and Simulation 46 (1993). `weight` gives the logarithms of probabilities
    from 0 to `greatest`.
    """
    a, b = slopes

    def attempt(number: int) -> tuple[Array, Array]:
        even, other = draw("uniform", 2 * number) - 0.5, 1.0 - draw("uniform", 2 * number + 1)
        edge = 0.5 - absolute(even)
        edge = where(edge == 0.0, 2.0**-54, edge)
        k = floor((a * 2.0 / edge + b) * even + centre)
        inside = k >= 0.0
        if greatest is not None:
            inside = inside & (k <= greatest)
        k = where(inside, k, floor(centre))
        sure = (edge >= 0.07) & (other <= enough)
        below = log(other * scale / (a / (edge * edge) + b)) <= weight(k)
        return k, inside & (sure | below)

    return _accepted(attempt)


def _inverse(even: Array, term: Array, ratio: Callable[[float], Array]) -> Array:
    """The least k for which the probabilities up to k sum to more than an even number.

    `term` is the probability of 0, and ``ratio(k)`` that of k over that of ``k - 1``.
    """
    total, found = term, even * 0.0
    for k in count(1):
        # What lacks of a sum of 1 by rounding must not count on for ever.
        beyond = (even >= total) & (term > 2.0**-60)
        found = where(beyond, found + 1.0, found)
        if k % 8 == 0 and not bool(any_true(beyond)):
            break
        term = term * ratio(float(k))
        total = total + term
    return found


# ---------------------------------------------------------------------- distributions


def exponential(even: Array) -> Array:
    """Exponentially distributed numbers of mean 1, from even numbers."""
    return -log(1.0 - even, is_share=True)


def gamma(draw: Draw, shape: Array) -> Array:
    """Gamma-distributed numbers of scale 1."""
    power = _gamma_logarithm(draw, shape)
    upper = power > 0.0
    value = exp(where(upper, -power, power))
    return where(upper, 1.0 / value, value)


def _gamma_logarithm(draw: Draw, shape: Array) -> Array:
    """Logarithms of gamma-distributed numbers of scale 1, by rejection.

    G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables, ACM TOMS 26
    (2000): at least nineteen of twenty numbers are accepted at each attempt. A shape below 1 is
    raised by one, and the number multiplied by a power of an even one.
    """
    raised = shape < 1.0
    centre = where(raised, shape + 1.0, shape) - 1 / 3
    slope = 1.0 / _sqrt(centre * 9.0)

    def attempt(number: int) -> tuple[Array, Array]:
        normal, even = draw("normal", 2 * number), 1.0 - draw("uniform", 2 * number + 1)
        root = normal * slope + 1.0
        inside = root > 0.0
        # 1 stands for what is rejected anyway, and has a logarithm.
        cube = where(inside, root * root * root, 1.0)
        log_cube = log(cube)
        bound = normal * normal * 0.5 + ((1.0 - cube) + log_cube) * centre
        return log_cube, inside & (log(even, is_share=True) < bound)

    result = _accepted(attempt) + log(centre)
    if bool(any_true(raised)):
        powers = log(1.0 - draw("uniform", 1), is_share=True) / where(raised, shape, 1.0)
        result = where(raised, result + powers, result)
    return result


def beta(draw: Draw, a: Array, b: Array) -> Array:
    """The share of one gamma-distributed number in the sum of two."""
    first = _gamma_logarithm(draw, a)
    second = _gamma_logarithm(lambda kind, number: draw(kind, number + 10_000), b)
    less = where(first < second, first - second, second - first)
    ratio = exp(less)
    return where(first < second, ratio, 1.0) / (1.0 + ratio)


# Means below this one are drawn by inversion, in at most some forty steps; rejection needs it.
_LEAST_MEAN = 10.0
_LOG_2PI = 1.8378770664093453


def _by_mean(mean: Array, few: Callable[[Array], Array], many: Callable[[Array], Array]) -> Array:
    """What `few` gives where it is true that the mean is small, and `many` elsewhere."""
    small = mean < _LEAST_MEAN
    if bool(all_true(small)):
        return few(small)
    if not bool(any_true(small)):
        return many(small)
    return where(small, few(small), many(small))


def poisson(draw: Draw, mean: Array) -> Array:
    """Poisson-distributed numbers, float64."""

    def few(small: Array) -> Array:
        least = where(small, mean, 0.0)
        return _inverse(draw("uniform", 0), exp(-least), lambda k: least / k)

    def many(small: Array) -> Array:
        centre = where(small, _LEAST_MEAN, mean)
        b = _sqrt(centre) * 2.53 + 0.931
        half_log = log(centre) * 0.5 + 0.5 * _LOG_2PI

        def weight(k: Array) -> Array:
            distance = (k - centre) + 1.0
            logarithm = _log1p(distance / centre)
            return ((distance - (k + 0.5) * logarithm) - half_log) - _stirling(k + 1.0)

        slopes = (b * 0.02483 - 0.059, b)
        enough = 0.9277 - 3.6224 / (b - 2.0)
        scale = 1.1239 + 1.1328 / (b - 3.4)
        return _transformed(draw, centre + 0.43, slopes, enough, scale, None, weight)

    return _by_mean(mean, few, many)


def binomial(draw: Draw, trials: Array, probability: Array) -> Array:
    """Binomially distributed numbers, float64; of at most 2**53 trials."""
    # The failures are counted where they are fewer.
    turned = probability > 0.5
    p = where(turned, 1.0 - probability, probability)

    def few(small: Array) -> Array:
        n, least = where(small, trials, 0.0), where(small, p, 0.0)
        odds = least / (1.0 - least)
        return _inverse(
            draw("uniform", 0), exp(n * _log1p(-least)), lambda k: (n - (k - 1.0)) / k * odds
        )

    def many(small: Array) -> Array:
        n, least = where(small, 4 * _LEAST_MEAN, trials), where(small, 0.5, p)
        most = 1.0 - least
        deviation = _sqrt(n * least * most)
        b = deviation * 2.53 + 1.15
        a = (b * 0.0248 - 0.0873) + least * 0.01
        successes, failures = (n + 1.0) * least, (n + 1.0) * most

        def relative(k: Array) -> Array:
            """The logarithm of the probability, less a number for each n and p."""
            other = n - k
            first = (k + 0.5) * _log1p(((k + 1.0) - successes) / successes)
            second = (other + 0.5) * _log1p(((other + 1.0) - failures) / failures)
            return -((first + second) + (_stirling(k + 1.0) + _stirling(other + 1.0)))

        mode = relative(floor(successes))
        return _transformed(
            draw,
            n * least + 0.5,
            (a, b),
            0.92 - 4.2 / b,
            (2.83 + 5.1 / b) * deviation,
            n,
            lambda k: relative(k) - mode,
        )

    found = _by_mean(trials * p, few, many)
    return where(turned, trials - found, found)


# ---------------------------------------------------------------------- integers


def integers(words: Array, low: Array, last: Array) -> Array:
    """Integers from `low` to `last`, which are both int64 or both uint64.

    `words` are the random bits, uint32, with one axis more than the result: two words for each
    number, or four for spans above 2**32.
    """
    dtype = low.dtype
    # No number of 64 bits holds a span of 2**64, which is 0 here.
    span = _unsigned(last) - _unsigned(low) + 1
    count = words.shape[-1]
    limbs = [astype(words[..., i], d.uint64) for i in range(count)]
    if count == 2:
        offset = (limbs[1] * span + ((limbs[0] * span) >> 32)) >> 32
        return astype(offset, dtype) + low
    limbs = [limbs[2], limbs[3], limbs[0], limbs[1]]
    high, rest = upper_product(tuple(limbs), (span & 0xFFFFFFFF, span >> 32))
    high, rest = where(span == 0, limbs[3], high), where(span == 0, limbs[2], rest)
    return ((astype(high, dtype) << 32) | astype(rest, dtype)) + low


def _unsigned(x: Array) -> Array:
    """int64 or uint64 modulo 2**64."""
    upper, lower = (x >> 32) & 0xFFFFFFFF, x & 0xFFFFFFFF
    return (astype(upper, d.uint64) << 32) | astype(lower, d.uint64)
