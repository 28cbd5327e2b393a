"""The cases as users of Numba write them: loops that are compiled, the outer one parallel."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

_numba: Any = import_module("numba")
prange: Any = _numba.prange

VERSION: str = _numba.__version__

# Constants are made in the arrays' dtype: a literal 0.25 would make float64 of float32. NumPy's
# error model lets loops with divisions become vector code.
_jit: Any = _numba.njit(parallel=True, fastmath=False, error_model="numpy")
_threads: Any = _numba.get_num_threads


def compiled(name: str) -> Callable[..., Any] | None:
    """The function for case `name`, not compiled yet; None if there is none."""
    if name not in _FUNCTIONS:
        return None
    function: Callable[..., Any] = _jit(_FUNCTIONS[name])
    return function


def _moments(x: Any) -> Any:
    rows, columns = x.shape
    parts = _threads()
    sums = np.zeros((parts, columns))
    for part in prange(parts):
        for i in range(part * rows // parts, (part + 1) * rows // parts):
            for j in range(columns):
                sums[part, j] += x[i, j]
    mean = sums.sum(axis=0) / rows
    sums[:] = 0
    for part in prange(parts):
        for i in range(part * rows // parts, (part + 1) * rows // parts):
            for j in range(columns):
                sums[part, j] += (x[i, j] - mean[j]) ** 2
    return mean, sums.sum(axis=0) / rows


_column_moments: Any = _jit(_moments)
"""Mean and variance of each column, in float64; every thread adds up a share of the rows."""


def _linear(a: Any, b: Any) -> Any:
    two, three = a.dtype.type(2), a.dtype.type(3)
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = two * a[i] + three * b[i]
    return out


def _power(a: Any, b: Any) -> Any:
    two = a.dtype.type(2)
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = two * a[i] + b[i] ** 10
    return out


def _trigonometric(a: Any, b: Any) -> Any:
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = math.sin(a[i]) ** 2 + math.cos(b[i]) ** 2
    return out


def _polynomial(x: Any) -> Any:
    real = x.dtype.type
    p, q, r, s = real(0.25), real(0.75), real(1.5), real(2)
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = ((p * x[i] + q) * x[i] - r) * x[i] - s
    return out


def _bell(a: Any, b: Any, c: Any) -> Any:
    one = a.dtype.type(1)
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = math.exp(-((a[i] * b[i] + c[i]) ** 2)) / (one + abs(a[i] - b[i]))
    return out


def _where(a: Any, b: Any, c: Any) -> Any:
    low, high = a.dtype.type(0.2), a.dtype.type(0.8)
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = a[i] - b[i] if a[i] > b[i] else min(max(c[i], low), high)
    return out


def _standardise(x: Any) -> Any:
    mean, variance = _column_moments(x)
    mean, spread = mean.astype(x.dtype), np.sqrt(variance).astype(x.dtype)
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = (x[i, j] - mean[j]) / spread[j]
    return out


def _softmax(x: Any) -> Any:
    rows, columns = x.shape
    out = np.empty_like(x)
    for i in prange(rows):
        top = x[i, 0]
        for j in range(1, columns):
            top = max(top, x[i, j])
        total = 0.0
        for j in range(columns):
            out[i, j] = math.exp(x[i, j] - top)
            total += out[i, j]
        divisor = x.dtype.type(total)
        for j in range(columns):
            out[i, j] /= divisor
    return out


def _distance(a: Any, b: Any) -> Any:
    rows, columns = a.shape
    out = np.empty(rows, a.dtype)
    for i in prange(rows):
        total = 0.0
        for j in range(columns):
            total += (a[i, j] - b[i, j]) ** 2
        out[i] = total
    return out


def _variance_down(x: Any) -> Any:
    return _column_moments(x)[1].astype(x.dtype)


def _variance_along(x: Any) -> Any:
    rows, columns = x.shape
    out = np.empty(rows, x.dtype)
    for i in prange(rows):
        total = 0.0
        for j in range(columns):
            total += x[i, j]
        mean = total / columns
        squares = 0.0
        for j in range(columns):
            squares += (x[i, j] - mean) ** 2
        out[i] = squares / columns
    return out


def _variance(x: Any) -> Any:
    flat = x.ravel()
    total = 0.0
    for i in prange(flat.size):
        total += flat[i]
    mean = total / flat.size
    squares = 0.0
    for i in prange(flat.size):
        squares += (flat[i] - mean) ** 2
    return x.dtype.type(squares / flat.size)


def _strided(a: Any, b: Any, c: Any) -> Any:
    out = np.empty((a.size + 1) // 2, a.dtype)
    for i in prange(out.size):
        out[i] = a[2 * i] + b[2 * i] * c[2 * i]
    return out


def _flipped(a: Any, b: Any, c: Any) -> Any:
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = a[a.size - 1 - i] * b[i] + c[i]
    return out


def _one_transposed(a: Any, b: Any) -> Any:
    return a + b.T


def _both_transposed(a: Any, b: Any) -> Any:
    out = np.empty_like(a)
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] * b[i, j]
    return out.T


def _logical(a: Any, b: Any, c: Any) -> Any:
    low, high = a.dtype.type(0.2), a.dtype.type(0.8)
    out = np.empty(a.size, np.bool_)
    for i in prange(a.size):
        out[i] = ((a[i] > low) & (b[i] < high)) | math.isnan(c[i])
    return out


def _count(a: Any, b: Any, c: Any) -> Any:
    low, high = a.dtype.type(0.2), a.dtype.type(0.8)
    count = 0
    for i in prange(a.size):
        count += ((a[i] > low) & (b[i] < high)) | math.isnan(c[i])
    return count


def _all(a: Any, b: Any) -> Any:
    others = 0
    for i in prange(a.size):
        others += not ((a[i] < 2) & (b[i] >= 0))
    return others == 0


_FUNCTIONS: dict[str, Callable[..., Any]] = {
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
