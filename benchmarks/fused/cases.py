"""The timed cases: expressions over large arrays, each written once against the standard.

A peer with a namespace runs `Case.function` as it stands; the others say the same by their own
means, under the same name.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor, isqrt, log10
from typing import Any, Literal, NamedTuple

import numpy as np


class Case(NamedTuple):
    """An expression: `function(xp, *arrays)` over `arrays` inputs of one shape."""

    name: str
    function: Callable[..., Any]
    arrays: int
    layout: Literal["flat", "table", "square"] = "flat"
    missing: bool = False
    """Whether the last input has NaNs."""
    make: Callable[[np.random.Generator, int], list[np.ndarray[Any, Any]]] | None = None
    """The inputs for about so many elements, where they have several shapes."""


def inputs(case: Case, elements: int, dtype: str) -> list[np.ndarray[Any, Any]]:
    """The inputs of `case`: at most `elements` random numbers in [0, 1) each, always the same."""
    rng = np.random.default_rng(20)
    if case.make is not None:
        return [x.astype(dtype) for x in case.make(rng, elements)]
    shape = _shape(case.layout, elements)
    arrays = [rng.random(shape, dtype=np.dtype(dtype)) for _ in range(case.arrays)]
    if case.missing:
        arrays[-1][::7] = np.nan
    return arrays


def _shape(layout: str, elements: int) -> tuple[int, ...]:
    if layout == "flat":
        return (elements,)
    if layout == "square":
        return (isqrt(elements), isqrt(elements))
    columns = 10 ** floor(log10(elements) / 2)
    return (elements // columns, columns)


def _linear(xp: Any, a: Any, b: Any) -> Any:
    return 2 * a + 3 * b


def _power(xp: Any, a: Any, b: Any) -> Any:
    return 2 * a + b**10


def _trigonometric(xp: Any, a: Any, b: Any) -> Any:
    return xp.sin(a) ** 2 + xp.cos(b) ** 2


def _polynomial(xp: Any, x: Any) -> Any:
    return ((0.25 * x + 0.75) * x - 1.5) * x - 2


def _bell(xp: Any, a: Any, b: Any, c: Any) -> Any:
    return xp.exp(-((a * b + c) ** 2)) / (1 + xp.abs(a - b))


def _where(xp: Any, a: Any, b: Any, c: Any) -> Any:
    return xp.where(a > b, a - b, xp.clip(c, 0.2, 0.8))


def _standardise(xp: Any, x: Any) -> Any:
    return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)


def _softmax(xp: Any, x: Any) -> Any:
    powers = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return powers / xp.sum(powers, axis=-1, keepdims=True)


def _distance(xp: Any, a: Any, b: Any) -> Any:
    return xp.sum((a - b) ** 2, axis=-1)


def _variance_down(xp: Any, x: Any) -> Any:
    return xp.var(x, axis=0)


def _variance_along(xp: Any, x: Any) -> Any:
    return xp.var(x, axis=1)


def _variance(xp: Any, x: Any) -> Any:
    return xp.var(x)


def _strided(xp: Any, a: Any, b: Any, c: Any) -> Any:
    return a[::2] + b[::2] * c[::2]


def _flipped(xp: Any, a: Any, b: Any, c: Any) -> Any:
    return xp.flip(a) * b + c


def _one_transposed(xp: Any, a: Any, b: Any) -> Any:
    return a + b.T


def _both_transposed(xp: Any, a: Any, b: Any) -> Any:
    return a.T * b.T


def _logical(xp: Any, a: Any, b: Any, c: Any) -> Any:
    return ((a > 0.2) & (b < 0.8)) | xp.isnan(c)


def _count(xp: Any, a: Any, b: Any, c: Any) -> Any:
    return xp.count_nonzero(((a > 0.2) & (b < 0.8)) | xp.isnan(c))


def _all(xp: Any, a: Any, b: Any) -> Any:
    return xp.all((a < 2) & (b >= 0))


CASES = (
    Case("2*a + 3*b", _linear, 2),
    Case("2*a + b**10", _power, 2),
    Case("sin(a)**2 + cos(b)**2", _trigonometric, 2),
    Case("polynomial", _polynomial, 1),
    Case("exp(-(a*b+c)**2)/(1+abs(a-b))", _bell, 3),
    Case("where, clip", _where, 3),
    Case("standardise columns", _standardise, 1, "table"),
    Case("softmax of rows", _softmax, 1, "table"),
    Case("squared distances of rows", _distance, 2, "table"),
    Case("variance, axis 0", _variance_down, 1, "table"),
    Case("variance, axis 1", _variance_along, 1, "table"),
    Case("variance of all", _variance, 1, "table"),
    Case("a[::2] + b[::2]*c[::2]", _strided, 3),
    Case("flip(a)*b + c", _flipped, 3),
    Case("a + b.T", _one_transposed, 2, "square"),
    Case("a.T * b.T", _both_transposed, 2, "square"),
    Case("(a>0.2) & (b<0.8) | isnan(c)", _logical, 3, missing=True),
    Case("count_nonzero of the same", _count, 3, missing=True),
    Case("all((a<2) & (b>=0))", _all, 2),
)
"""In the order of the tables."""
