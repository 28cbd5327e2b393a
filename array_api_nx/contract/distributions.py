"""Distributions with parameters, by operations that round alike everywhere.

Parameters are arrays of float64 that broadcast to the numbers. An element with parameters of no
distribution becomes NaN, or -1 among integers. distributions.c does the same operations in
the same order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from typing import Final, TypeAlias

from ..core import dtypes as d
from .exact_functions import exact_exp, exact_log, exact_log1p, exact_sqrt, stirling
from .handle_values import HandleValue, where

Draw: TypeAlias = Callable[[str, int], HandleValue]
"""Numbers of a kind from a stream: each stream has numbers of its own for every element."""

GREATEST_MEAN: Final = 2.0**63 - 10 * 2.0**31.5
"""The greatest mean of Poisson-distributed numbers that are all but certainly below 2**63: ten
standard deviations less, as in NumPy."""

MOST_TRIALS: Final = 2**53

# ---------------------------------------------------------------------- functions


def _log(x: HandleValue, *, is_share: bool = False) -> HandleValue:
    found: HandleValue = exact_log(x, d.float64, where, is_share=is_share)
    return found


def _log1p(x: HandleValue) -> HandleValue:
    near = (x > -0.25) & (x < 0.25)
    found: HandleValue = exact_log1p(where(near, x, 0.0), d.float64)
    return where(near, found, _log(where(near, 0.0, x) + 1.0))


def _sqrt(x: HandleValue) -> HandleValue:
    found: HandleValue = exact_sqrt(x, x.sqrt(), d.float64)
    return found


def _exp(x: HandleValue) -> HandleValue:
    found: HandleValue = exact_exp(x, HandleValue.floor, where)
    return found


def _accepted(attempt: Callable[[int], tuple[HandleValue, HandleValue]]) -> HandleValue:
    """Elements of the first attempts, counted from 1, that give them and say that they are good."""
    result, accepted = attempt(1)
    for number in count(2):
        if accepted.all():
            break
        found, good = attempt(number)
        result = where(accepted, result, found)
        accepted = accepted | good
    return result


# ---------------------------------------------------------------------- gamma and beta


def _is_shape(x: HandleValue) -> HandleValue:
    return (x > 0.0) & (x <= sys.float_info.max)


def _raised_gamma(draw: Draw, shape: HandleValue, stream: int) -> HandleValue:
    """Gamma-distributed numbers of scale 1, by rejection; shapes below 1 are raised by 1.

    G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables, ACM TOMS 26
    (2000): at least nineteen of twenty numbers are accepted at each attempt.
    """
    centre = where(shape < 1.0, shape + 1.0, shape) - 1.0 / 3.0
    slope = 1.0 / (_sqrt(centre) * 3.0)

    def attempt(number: int) -> tuple[HandleValue, HandleValue]:
        normal = draw("normal", 4 * number + stream)
        even = 1.0 - draw("uniform", 4 * number + stream + 1)
        root, square = normal * slope + 1.0, normal * normal
        inside = root > 0.0
        # 1 replaces numbers that are rejected anyway, and has a logarithm.
        cube = where(inside, root * root * root, 1.0)
        bound = square * 0.5 + ((1.0 - cube) + _log(cube)) * centre
        good = (even < 1.0 - (square * square) * 0.0331) | (_log(even, is_share=True) < bound)
        return cube * centre, inside & good

    return _accepted(attempt)


def _gamma_logarithm(
    draw: Draw, raised: HandleValue, shape: HandleValue, stream: int
) -> HandleValue:
    """The logarithm of numbers of `shape`, from those of the raised shape."""
    found = _log(raised)
    power = _log(1.0 - draw("uniform", stream), is_share=True) / shape
    return where(shape < 1.0, found + power, found)


def gamma(draw: Draw, shape: HandleValue) -> HandleValue:
    """Gamma-distributed numbers of scale 1."""
    good = _is_shape(shape)
    shape = where(good, shape, 1.0)
    found = _raised_gamma(draw, shape, 0)
    less = shape < 1.0
    if less.any():
        power = _gamma_logarithm(draw, found, shape, 1)
        upper, value = power > 0.0, _exp(-abs(power))
        found = where(less, where(upper, 1.0 / where(upper, value, 1.0), value), found)
    return where(good, found, float("nan"))


def beta(draw: Draw, a: HandleValue, b: HandleValue) -> HandleValue:
    """The share of one gamma-distributed number in the sum of two."""
    good = _is_shape(a) & _is_shape(b)
    a, b = where(good, a, 1.0), where(good, b, 1.0)
    first = _gamma_logarithm(draw, _raised_gamma(draw, a, 0), a, 1)
    second = _gamma_logarithm(draw, _raised_gamma(draw, b, 2), b, 3)
    ratio = _exp(-abs(first - second))
    share = where(first < second, ratio, 1.0) / (ratio + 1.0)
    return where(good, share, float("nan"))


# ---------------------------------------------------------------------- Poisson and binomial

# Means below this one are drawn by inversion, in at most some forty steps; rejection needs it.
_LEAST_MEAN = 10.0
_LOG_2PI = 1.8378770664093453


def _transformed(
    draw: Draw,
    centre: HandleValue,
    slopes: tuple[HandleValue, HandleValue],
    enough: HandleValue,
    scale: HandleValue,
    greatest: HandleValue | None,
    weight: Callable[[HandleValue], HandleValue],
) -> HandleValue:
    """Whole numbers of a distribution with one mode, by transformed rejection.

    W. Hörmann, The transformed rejection method for generating Poisson random variables, Insurance:
    Mathematics and Economics 12 (1993), and The generation of binomial random variates, Journal of
    Statistical Computation and Simulation 46 (1993). `weight` gives the logarithms of probabilities
    from 0 to `greatest`.
    """
    a, b = slopes

    def attempt(number: int) -> tuple[HandleValue, HandleValue]:
        even, other = draw("uniform", 4 * number) - 0.5, 1.0 - draw("uniform", 4 * number + 1)
        edge = 0.5 - abs(even)
        edge = where(edge.is_zero(), 2.0**-54, edge)
        k = ((a * 2.0 / edge + b) * even + centre).floor()
        inside = k >= 0.0
        if greatest is not None:
            inside = inside & (k <= greatest)
        k = where(inside, k, 0.0)
        sure = (edge >= 0.07) & (other <= enough)
        below = _log(other * scale / (a / (edge * edge) + b)) <= weight(k)
        return k, inside & (sure | below)

    return _accepted(attempt)


def _inverse(
    even: HandleValue, term: HandleValue, ratio: Callable[[float], HandleValue]
) -> HandleValue:
    """The least k with probabilities up to k that sum to more than an even number.

    `term` is the probability of 0, and ``ratio(k)`` that of k over that of ``k - 1``.
    """
    total, found = term, even * 0.0
    for k in count(1):
        # What lacks of a sum of 1 by rounding must not count on for ever.
        beyond = (even >= total) & (term > 2.0**-60)
        found = where(beyond, found + 1.0, found)
        if k % 8 == 0 and not beyond.any():
            break
        term = term * ratio(float(k))
        total = total + term
    return found


def _by_mean(
    mean: HandleValue,
    few: Callable[[HandleValue], HandleValue],
    many: Callable[[HandleValue], HandleValue],
) -> HandleValue:
    """What `few` gives where it is true that the mean is small, and `many` elsewhere."""
    small = mean < _LEAST_MEAN
    if small.all():
        return few(small)
    if not small.any():
        return many(small)
    return where(small, few(small), many(small))


def poisson(draw: Draw, mean: HandleValue) -> HandleValue:
    """Poisson-distributed numbers, float64."""
    good = (mean >= 0.0) & (mean <= GREATEST_MEAN)
    mean = where(good, mean, 0.0)

    def few(small: HandleValue) -> HandleValue:
        least = where(small, mean, 0.0)
        return _inverse(draw("uniform", 0), _exp(-least), lambda k: least * (1.0 / k))

    def many(small: HandleValue) -> HandleValue:
        centre = where(small, _LEAST_MEAN, mean)
        b = _sqrt(centre) * 2.53 + 0.931
        half_log = _log(centre) * 0.5 + 0.5 * _LOG_2PI

        def weight(k: HandleValue) -> HandleValue:
            distance = (k - centre) + 1.0
            logarithm = _log1p(distance / centre)
            found: HandleValue = (distance - (k + 0.5) * logarithm) - stirling(k + 1.0)
            return found - half_log

        slopes = (b * 0.02483 - 0.059, b)
        enough = 0.9277 - 3.6224 / (b - 2.0)
        scale = 1.1239 + 1.1328 / (b - 3.4)
        return _transformed(draw, centre + 0.43, slopes, enough, scale, None, weight)

    return where(good, _by_mean(mean, few, many), -1.0)


def binomial(draw: Draw, trials: HandleValue, probability: HandleValue) -> HandleValue:
    """Binomially distributed numbers, float64; of at most `MOST_TRIALS` trials."""
    good = (trials >= 0.0) & (trials <= float(MOST_TRIALS))
    good = good & (probability >= 0.0) & (probability <= 1.0)
    trials, probability = where(good, trials, 0.0), where(good, probability, 0.0)
    # The failures are counted where they are fewer.
    turned = probability > 0.5
    p = where(turned, 1.0 - probability, probability)

    def few(small: HandleValue) -> HandleValue:
        n, least = where(small, trials, 0.0), where(small, p, 0.0)
        odds = least / (1.0 - least)
        return _inverse(
            draw("uniform", 0),
            _exp(n * _log1p(-least)),
            lambda k: (n - (k - 1.0)) * (1.0 / k) * odds,
        )

    def many(small: HandleValue) -> HandleValue:
        n, least = where(small, 4 * _LEAST_MEAN, trials), where(small, 0.5, p)
        rest = 1.0 - least
        deviation = _sqrt(n * least * rest)
        b = deviation * 2.53 + 1.15
        a = (b * 0.0248 - 0.0873) + least * 0.01
        successes, failures = (n + 1.0) * least, (n + 1.0) * rest

        def relative(k: HandleValue) -> HandleValue:
            """The logarithm of the probability, less a number for each n and p."""
            other = n - k
            first = (k + 0.5) * _log1p(((k + 1.0) - successes) / successes)
            second = (other + 0.5) * _log1p(((other + 1.0) - failures) / failures)
            rests: HandleValue = stirling(k + 1.0) + stirling(other + 1.0)
            return -((first + second) + rests)

        mode = relative(successes.floor())
        return _transformed(
            draw,
            n * least + 0.5,
            (a, b),
            0.92 - 4.2 / b,
            (5.1 / b + 2.83) * deviation,
            n,
            lambda k: relative(k) - mode,
        )

    found = _by_mean(trials * p, few, many)
    return where(good, where(turned, trials - found, found), -1.0)
