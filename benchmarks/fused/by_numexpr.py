"""The cases as users of numexpr write them: strings; NumPy for plain reductions."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

_numexpr: Any = import_module("numexpr")

VERSION: str = _numexpr.__version__


def _evaluate(expression: str, **operands: Any) -> Any:
    return _numexpr.evaluate(expression, operands)


def _linear(a: Any, b: Any) -> Any:
    return _evaluate("2*a + 3*b", a=a, b=b)


def _power(a: Any, b: Any) -> Any:
    return _evaluate("2*a + b**10", a=a, b=b)


def _trigonometric(a: Any, b: Any) -> Any:
    return _evaluate("sin(a)**2 + cos(b)**2", a=a, b=b)


def _polynomial(x: Any) -> Any:
    # A literal 0.25 would make float64 of everything.
    real = x.dtype.type
    return _evaluate("((p*x + q)*x - r)*x - 2", x=x, p=real(0.25), q=real(0.75), r=real(1.5))


def _bell(a: Any, b: Any, c: Any) -> Any:
    return _evaluate("exp(-(a*b + c)**2) / (1 + abs(a - b))", a=a, b=b, c=c)


def _where(a: Any, b: Any, c: Any) -> Any:
    low, high = c.dtype.type(0.2), c.dtype.type(0.8)
    clipped = "where(c < low, low, where(c > high, high, c))"
    return _evaluate(f"where(a > b, a - b, {clipped})", a=a, b=b, c=c, low=low, high=high)


def _standardise(x: Any) -> Any:
    mean = np.mean(x, axis=0)
    variance = np.sum(_evaluate("(x - mean)**2", x=x, mean=mean), axis=0) / x.shape[0]
    return _evaluate("(x - mean) / sqrt(variance)", x=x, mean=mean, variance=variance)


def _softmax(x: Any) -> Any:
    powers = _evaluate("exp(x - top)", x=x, top=np.max(x, axis=-1, keepdims=True))
    return _evaluate("powers / total", powers=powers, total=powers.sum(axis=-1, keepdims=True))


def _distance(a: Any, b: Any) -> Any:
    return np.sum(_evaluate("(a - b)**2", a=a, b=b), axis=-1)


def _variance_down(x: Any) -> Any:
    return np.mean(_evaluate("(x - mean)**2", x=x, mean=np.mean(x, axis=0)), axis=0)


def _variance_along(x: Any) -> Any:
    mean = np.mean(x, axis=1, keepdims=True)
    return np.mean(_evaluate("(x - mean)**2", x=x, mean=mean), axis=1)


def _variance(x: Any) -> Any:
    return np.mean(_evaluate("(x - mean)**2", x=x, mean=np.mean(x)))


def _strided(a: Any, b: Any, c: Any) -> Any:
    return _evaluate("a + b*c", a=a[::2], b=b[::2], c=c[::2])


def _flipped(a: Any, b: Any, c: Any) -> Any:
    return _evaluate("a*b + c", a=a[::-1], b=b, c=c)


def _one_transposed(a: Any, b: Any) -> Any:
    return _evaluate("a + b", a=a, b=b.T)


def _both_transposed(a: Any, b: Any) -> Any:
    return _evaluate("a * b", a=a.T, b=b.T)


def _logical(a: Any, b: Any, c: Any) -> Any:
    low, high = a.dtype.type(0.2), a.dtype.type(0.8)
    return _evaluate("(a > low) & (b < high) | isnan(c)", a=a, b=b, c=c, low=low, high=high)


def _count(a: Any, b: Any, c: Any) -> Any:
    return np.count_nonzero(_logical(a, b, c))


def _all(a: Any, b: Any) -> Any:
    return np.all(_evaluate("(a < 2) & (b >= 0)", a=a, b=b))


FUNCTIONS = {
    "2*a + 3*b": _linear,
    "2*a + b**10": _power,
    "sin(a)**2 + cos(b)**2": _trigonometric,
    "polynomial": _polynomial,
    "exp(-(a*b+c)**2)/(1+abs(a-b))": _bell,
    "where, clip": _where,
    "standardise columns": _standardise,
    "softmax of rows": _softmax,
    "squared distances of rows": _distance,
    "variance, axis 0": _variance_down,
    "variance, axis 1": _variance_along,
    "variance of all": _variance,
    "a[::2] + b[::2]*c[::2]": _strided,
    "flip(a)*b + c": _flipped,
    "a + b.T": _one_transposed,
    "a.T * b.T": _both_transposed,
    "(a>0.2) & (b<0.8) | isnan(c)": _logical,
    "count_nonzero of the same": _count,
    "all((a<2) & (b>=0))": _all,
}
