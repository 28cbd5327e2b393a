"""How far sums, products and statistics are from the exact values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import mpmath
import numpy as np

from ...dtypes import FLOATING
from ..findings import FAILS, NOTED, PASSES, Finding
from ..subject import Subject
from .formats import FORMATS, INFINITY
from .judged import Measured, Row, judged
from .points import Numbers

_LENGTHS = (3, 100, 1025)
_RULE = (
    "the standard expects a best effort; here a result fails if it is farther from the exact value"
    " than adding or multiplying in the dtype, in whatever order, can bring it: n times epsilon,"
    " times the sum of magnitudes"
)
_SPREAD_RULE = (
    "the standard expects a best effort that is numerically robust; here a result fails if it is"
    " farther from the exact value than even the textbook formula, mean of squares minus square of"
    " the mean, can bring it, and is noted if it is farther than subtracting the mean first can"
)


@dataclass(frozen=True)
class _Numbers:
    """Exact complex arithmetic, as far as sums need it."""

    real: Fraction
    imag: Fraction = Fraction(0)

    def __add__(self, other: _Numbers) -> _Numbers:
        return _Numbers(self.real + other.real, self.imag + other.imag)

    def __sub__(self, other: _Numbers) -> _Numbers:
        return _Numbers(self.real - other.real, self.imag - other.imag)

    def __mul__(self, other: _Numbers) -> _Numbers:
        return _Numbers(
            self.real * other.real - self.imag * other.imag,
            self.real * other.imag + self.imag * other.real,
        )

    def __abs__(self) -> float:
        if not self.imag:
            return float(abs(self.real))
        return math.hypot(float(self.real), float(self.imag))

    def over(self, number: Fraction | int) -> _Numbers:
        return _Numbers(self.real / number, self.imag / number)

    @property
    def size(self) -> Fraction:
        """The square of the absolute value."""
        return self.real * self.real + self.imag * self.imag


def exactly(values: Iterable[complex]) -> list[_Numbers]:
    """Numbers as exact ones."""
    return [_Numbers(Fraction(z.real), Fraction(z.imag)) for z in values]


def check(subject: Subject, seed: int, select: Sequence[str]) -> list[Row | Finding]:
    """Measure all functions, or those selected: findings, and rows of a table."""
    out: list[Row | Finding] = []
    for name, measure in _MEASURES.items():
        if select and name not in select:
            continue
        for dtype in FLOATING:
            if name in _REAL_ONLY and dtype.startswith("complex"):
                continue
            measured = partial(_worst, subject, name, measure, dtype, seed)
            rule = _SPREAD_RULE if name in _REAL_ONLY else _RULE
            out += judged(name, dtype, "epsilon", rule, measured)
    return out


def _worst(subject: Subject, name: str, measure: Measure, dtype: str, seed: int) -> Measured:
    function = subject.function(name)
    worst, where, allowed = -1.0, "", 1.0
    outcome, message = PASSES, ""
    for label, values in _samples(name, dtype, seed):
        result = subject.numpy(function(subject.array(values.tolist(), dtype)))
        found, sound, most = measure(values, result, FORMATS[dtype].epsilon)
        if found > worst:
            worst, where, allowed = found, label, most
        bad = FAILS if not found <= most else NOTED if not found <= sound else PASSES
        if bad != PASSES and outcome != FAILS:
            outcome = bad
            message = f"{_short(found)} epsilon off for {label}; allowed are {_short(most)}"
    return Measured(worst, allowed, where, outcome, message)


def _samples(name: str, dtype: str, seed: int) -> list[tuple[str, Numbers]]:
    generator = np.random.default_rng([seed, 5])
    out: list[tuple[str, Numbers]] = []
    for length in _LENGTHS:
        parts = [generator.uniform(-1, 1, length) for _ in range(2)]
        values = parts[0] + 1j * parts[1] if dtype.startswith("complex") else parts[0]
        if name in ("prod", "cumulative_prod"):
            # Near the unit circle: a product of thousands that neither over- nor underflows.
            values = np.exp(1j * math.pi * parts[0]) if np.iscomplexobj(values) else 1 + values / 64
            out.append((f"{length} factors near 1 in magnitude", values.astype(dtype)))
            continue
        out.append((f"{length} numbers from -1 to 1", values.astype(dtype)))
        scaled = values * 2.0 ** generator.integers(-20, 20, length)
        out.append((f"{length} numbers of magnitudes from 2**-20 to 2**20", scaled.astype(dtype)))
        out.append((f"{length} numbers near 1000", (values + 1000).astype(dtype)))
    return out


Measure: TypeAlias = Callable[[Numbers, Numbers, float], tuple[float, float, float]]


def _relative(computed: complex, exact: _Numbers, scale: float, epsilon: float) -> float:
    """The error in epsilons of a scale."""
    if not (math.isfinite(computed.real) and math.isfinite(computed.imag)):
        return INFINITY
    found = _Numbers(Fraction(computed.real), Fraction(computed.imag)) - exact
    return abs(found) / (scale * epsilon) if scale else (0.0 if abs(found) == 0 else INFINITY)


def _sum(values: Numbers, result: Numbers, epsilon: float) -> tuple[float, float, float]:
    numbers = exactly(values.tolist())
    total = sum(numbers, _Numbers(Fraction(0)))
    found = _relative(result.item(), total, math.fsum(map(abs, numbers)), epsilon)
    return found, len(numbers), len(numbers)


def _mean(values: Numbers, result: Numbers, epsilon: float) -> tuple[float, float, float]:
    numbers = exactly(values.tolist())
    count = len(numbers)
    total = sum(numbers, _Numbers(Fraction(0))).over(count)
    scale = math.fsum(map(abs, numbers)) / count
    return _relative(result.item(), total, scale, epsilon), count + 1, count + 1


def _cumulative_sum(values: Numbers, result: Numbers, epsilon: float) -> tuple[float, float, float]:
    total, scale, worst = _Numbers(Fraction(0)), 0.0, 0.0
    for number, computed in zip(exactly(values.tolist()), result.tolist(), strict=True):
        total, scale = total + number, scale + abs(number)
        worst = max(worst, _relative(computed, total, scale, epsilon))
    return worst, len(values), len(values)


def _prod(values: Numbers, result: Numbers, epsilon: float) -> tuple[float, float, float]:
    return _cumulative_prod(values, result.reshape(1), epsilon, only_last=True)


def _cumulative_prod(
    values: Numbers, result: Numbers, epsilon: float, only_last: bool = False
) -> tuple[float, float, float]:
    worst, computed = 0.0, result.tolist()
    with mpmath.mp.workdps(50):
        product = mpmath.mpc(1)
        for index, value in enumerate(values.tolist()):
            product *= value
            if only_last and index < len(values) - 1:
                continue
            found = complex(computed[0 if only_last else index])
            distance = abs(mpmath.mpc(found) - product) / (abs(product) * epsilon)
            worst = max(worst, float(distance) if math.isfinite(abs(found)) else INFINITY)
    # A product of complex numbers is off by up to the square root of 8, half epsilons.
    most = len(values) * (math.sqrt(2) if np.iscomplexobj(values) else 1)
    return worst, most, most


def _var(values: Numbers, result: Numbers, epsilon: float) -> tuple[float, float, float]:
    return _spread(values, result, epsilon, root=False)


def _std(values: Numbers, result: Numbers, epsilon: float) -> tuple[float, float, float]:
    return _spread(values, result, epsilon, root=True)


def _spread(
    values: Numbers, result: Numbers, epsilon: float, root: bool
) -> tuple[float, float, float]:
    numbers = exactly(values.tolist())
    count = len(numbers)
    mean = sum(numbers, _Numbers(Fraction(0))).over(count)
    var = sum(((number - mean).size for number in numbers), Fraction(0)) / count
    # How much greater the squares are than the variance: that many epsilons the textbook formula
    # loses, and the square of it, times epsilon, the sum of squares of differences from the mean.
    condition = float(sum(number.size for number in numbers) / count / var)
    with mpmath.mp.workdps(50):
        exact = mpmath.mpf(var.numerator) / var.denominator
        exact = mpmath.sqrt(exact) if root else exact
        found = float(result)
        error = abs(found - exact) / (exact * epsilon) if math.isfinite(found) else INFINITY
    sound = (count + 4) * (1 + count * epsilon * condition)
    return float(error), sound, 2 * (count + 4) * condition


_MEASURES: dict[str, Measure] = {
    "sum": _sum,
    "mean": _mean,
    "prod": _prod,
    "std": _std,
    "var": _var,
    "cumulative_sum": _cumulative_sum,
    "cumulative_prod": _cumulative_prod,
}
_REAL_ONLY = ("std", "var")


def _short(number: float) -> str:
    return f"{number:.3g}"
