"""How far linear algebra and Fourier transforms are from the exact values.

Every measure is one that a backward stable algorithm keeps small whatever the matrix: residuals
over the norms of the factors, and errors of values over the norm of the matrix or its condition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import mpmath
import numpy as np
from mpmath import mp

from ...dtypes import FLOATING
from ..findings import FAILS, PASSES, Finding
from ..subject import Subject
from .formats import FORMATS, INFINITY
from .judged import Measured, Row, judged
from .points import Numbers

Matrix: TypeAlias = Any  # of mpmath, or a number of its own
_SIZE = 6
_BOUND = 10 * _SIZE**2  # in epsilons of the measure; LAPACK's own tests fail from 30 n on
_RULE = (
    "the standard expects a best effort; here a result fails if its residual or error is more than"
    f" {_BOUND} epsilons of the norms involved (10 n squared), which no backward stable algorithm"
    " reaches"
)
_DIGITS = 50
# What the standard has for these alone.
_REAL_ONLY, _COMPLEX_ONLY = ("fft.rfft",), ("fft.fft", "fft.ifft")


def check(subject: Subject, seed: int, select: Sequence[str]) -> list[Row | Finding]:
    """Measure all functions, or those selected: findings, and rows of a table."""
    out: list[Row | Finding] = []
    for name, measure in _MEASURES.items():
        if select and name not in select and name.removeprefix("linalg.") not in select:
            continue
        for dtype in FLOATING:
            is_complex = dtype.startswith("complex")
            if name in (_REAL_ONLY if is_complex else _COMPLEX_ONLY):
                continue
            measured = partial(_worst, subject, name, measure, dtype, seed)
            out += judged(name, dtype, "epsilon of norms", _RULE, measured)
    return out


def _worst(subject: Subject, name: str, measure: Measure, dtype: str, seed: int) -> Measured:
    subject.function(name)
    worst, where = -1.0, ""
    for label, matrix in _samples(dtype, seed).items():
        with mp.workdps(_DIGITS):
            found = (
                float(mpmath.mpf(measure(_Calls(subject, dtype), matrix))) / FORMATS[dtype].epsilon
            )
        found = INFINITY if math.isnan(found) else found
        if found > worst:
            worst, where = found, label
    outcome = PASSES if worst <= _BOUND else FAILS
    message = "" if outcome == PASSES else f"{worst:.3g} epsilons off for {where}"
    return Measured(worst, _BOUND, where, outcome, message)


class _Calls:
    """Calls functions of the namespace with NumPy arrays, and gives mpmath's matrices."""

    def __init__(self, subject: Subject, dtype: str) -> None:
        self.subject, self.dtype = subject, dtype

    def __call__(self, name: str, *operands: Numbers | int, **options: object) -> Matrix:
        given = [
            each if isinstance(each, int) else self.subject.array(each.tolist(), self.dtype)
            for each in operands
        ]
        result = self.subject.function(name)(*given, **options)
        if isinstance(result, tuple):
            return [_matrix(self.subject.numpy(part)) for part in result]
        return _matrix(self.subject.numpy(result))


def _samples(dtype: str, seed: int) -> dict[str, Numbers]:
    generator = np.random.default_rng([seed, 6])
    parts = [generator.uniform(-1, 1, (_SIZE, _SIZE)) for _ in range(2)]
    plain = parts[0] + (1j * parts[1] if dtype.startswith("complex") else 0)
    index = np.arange(_SIZE)
    graded = plain * 2.0 ** -(index[:, None] + index)
    hilbert = 1 / (1.0 + index[:, None] + index)
    return {
        "random numbers": plain.astype(dtype),
        "a Hilbert matrix": hilbert.astype(dtype),
        "a graded matrix": graded.astype(dtype),
    }


def _matrix(array: Numbers) -> Matrix:
    """A column, for a vector."""
    return mpmath.matrix(array.tolist()) if array.ndim else mpmath.mpmathify(array.item())


def _norm(matrix: Matrix) -> Matrix:
    return mpmath.mnorm(matrix, "f")


def _hermitian(matrix: Numbers) -> Numbers:
    """Exactly so, because each number is the mean of two or their conjugates."""
    return (matrix + matrix.conj().T).astype(matrix.dtype)


def _condition(matrix: Matrix) -> Matrix:
    return _norm(matrix) * _norm(mpmath.inverse(matrix))


def _det(call: _Calls, a: Numbers) -> object:
    exact = _matrix(a)
    value = mpmath.det(exact)
    return abs(call("linalg.det", a) - value) / (abs(value) * _condition(exact))


def _slogdet(call: _Calls, a: Numbers) -> object:
    exact = _matrix(a)
    sign, logarithm = call("linalg.slogdet", a)
    value = mpmath.det(exact)
    return abs(sign * mpmath.exp(logarithm) - value) / (abs(value) * _condition(exact))


def _inv(call: _Calls, a: Numbers) -> object:
    exact, inverse = _matrix(a), call("linalg.inv", a)
    return _norm(exact * inverse - mpmath.eye(_SIZE)) / (_norm(exact) * _norm(inverse))


def _solve(call: _Calls, a: Numbers) -> object:
    b = np.asarray(a[:, :2][::-1])
    found, exact = call("linalg.solve", a, b), _matrix(a)
    return _norm(exact * found - _matrix(b)) / (_norm(exact) * _norm(found))


def _cholesky(call: _Calls, a: Numbers) -> object:
    positive = (_hermitian(a) + 16 * np.eye(_SIZE)).astype(a.dtype)
    lower = call("linalg.cholesky", positive)
    return _norm(lower * lower.transpose_conj() - _matrix(positive)) / _norm(_matrix(positive))


def _qr(call: _Calls, a: Numbers) -> object:
    q, r = call("linalg.qr", a)
    residual = _norm(q * r - _matrix(a)) / _norm(_matrix(a))
    return max(residual, _norm(q.transpose_conj() * q - mpmath.eye(_SIZE)))


def _eigh(call: _Calls, a: Numbers) -> object:
    symmetric = _hermitian(a)
    values, vectors = call("linalg.eigh", symmetric)
    exact = _matrix(symmetric)
    residual = _norm(exact * vectors - vectors * mpmath.diag(list(values))) / _norm(exact)
    return max(residual, _norm(vectors.transpose_conj() * vectors - mpmath.eye(_SIZE)))


def _eigvalsh(call: _Calls, a: Numbers) -> object:
    symmetric = _hermitian(a)
    exact = sorted(mpmath.re(v) for v in mp.eighe(_matrix(symmetric), eigvals_only=True))
    return _farthest(call("linalg.eigvalsh", symmetric), exact) / _norm(_matrix(symmetric))


def _svd(call: _Calls, a: Numbers) -> object:
    u, s, vh = call("linalg.svd", a)
    return _norm(u * mpmath.diag(list(s)) * vh - _matrix(a)) / _norm(_matrix(a))


def _svdvals(call: _Calls, a: Numbers) -> object:
    exact = list(mp.svd(_matrix(a), compute_uv=False))
    return _farthest(call("linalg.svdvals", a), exact) / _norm(_matrix(a))


def _pinv(call: _Calls, a: Numbers) -> object:
    tall = np.asarray(a[:, :3])
    exact, inverse = _matrix(tall), call("linalg.pinv", tall)
    condition = _norm(exact) * _norm(inverse)
    return _norm(exact * inverse * exact - exact) / (_norm(exact) * condition)


def _matmul(call: _Calls, a: Numbers) -> object:
    exact = _matrix(a)
    return _norm(call("matmul", a, a) - exact * exact) / _norm(exact) ** 2


def _tensordot(call: _Calls, a: Numbers) -> object:
    exact = _matrix(a)
    return _norm(call("tensordot", a, a, axes=1) - exact * exact) / _norm(exact) ** 2


def _vecdot(call: _Calls, a: Numbers) -> object:
    exact = _matrix(a)
    wanted = [
        mpmath.fsum(mpmath.conj(exact[i, j]) * exact[i, j] for j in range(_SIZE))
        for i in range(_SIZE)
    ]
    return _farthest(call("vecdot", a, a), wanted) / _norm(exact) ** 2


def _outer(call: _Calls, a: Numbers) -> object:
    first, second = _matrix(a[0]), _matrix(a[1])
    found = call("linalg.outer", a[0], a[1])
    return _norm(found - first * second.T) / (_norm(first) * _norm(second))


def _cross(call: _Calls, a: Numbers) -> object:
    x, y = _matrix(a[0, :3]), _matrix(a[1, :3])
    turned = [(1, 2), (2, 0), (0, 1)]
    exact = [x[i] * y[j] - x[j] * y[i] for i, j in turned]
    return _farthest(call("linalg.cross", a[0, :3], a[1, :3]), exact) / (_norm(x) * _norm(y))


def _trace(call: _Calls, a: Numbers) -> object:
    diagonal = [_matrix(a)[i, i] for i in range(_SIZE)]
    return abs(call("linalg.trace", a) - mpmath.fsum(diagonal)) / sum(map(abs, diagonal))


def _matrix_power(call: _Calls, a: Numbers) -> object:
    exact = _matrix(a)
    return _norm(call("linalg.matrix_power", a, 3) - exact**3) / _norm(exact) ** 3


def _vector_norm(call: _Calls, a: Numbers) -> object:
    numbers = list(_matrix(a.ravel()))
    worst = mpmath.mpf(0)
    for order in (1, 2, 3, math.inf):
        exact = mpmath.norm(numbers, mpmath.inf if order == math.inf else order)
        worst = max(worst, abs(call("linalg.vector_norm", a.ravel(), ord=order) - exact) / exact)
    return worst


def _matrix_norm(call: _Calls, a: Numbers) -> object:
    exact = _matrix(a)
    singular = list(mp.svd(exact, compute_uv=False))
    wanted: dict[str | float, Matrix] = {
        "fro": _norm(exact),
        "nuc": mpmath.fsum(singular),
        2: max(singular),
        1: mpmath.mnorm(exact, 1),
        math.inf: mpmath.mnorm(exact, mpmath.inf),
    }
    return max(
        abs(call("linalg.matrix_norm", a, ord=order) - value) / value
        for order, value in wanted.items()
    )


def _fft(call: _Calls, a: Numbers) -> object:
    return _distance(call("fft.fft", a.ravel()), _transformed(a.ravel(), -1))


def _ifft(call: _Calls, a: Numbers) -> object:
    exact = [value / a.size for value in _transformed(a.ravel(), 1)]
    return _distance(call("fft.ifft", a.ravel()), exact)


def _rfft(call: _Calls, a: Numbers) -> object:
    exact = _transformed(a.ravel(), -1)[: a.size // 2 + 1]
    return _distance(call("fft.rfft", a.ravel()), exact)


def _transformed(numbers: Numbers, sign: int) -> list[Matrix]:
    values, count = list(_matrix(numbers)), len(numbers)
    roots = [mpmath.expjpi(sign * mpmath.mpf(2) * k / count) for k in range(count)]
    return [
        mpmath.fsum(value * roots[j * k % count] for j, value in enumerate(values))
        for k in range(count)
    ]


def _distance(found: Matrix, exact: list[Matrix]) -> Matrix:
    return _norm(found - mpmath.matrix(exact)) / _norm(mpmath.matrix(exact))


def _farthest(found: Matrix, exact: list[Matrix]) -> Matrix:
    return max(abs(one - other) for one, other in zip(found, exact, strict=True))


Measure: TypeAlias = Callable[[_Calls, Numbers], object]
_MEASURES: dict[str, Measure] = {
    "matmul": _matmul,
    "tensordot": _tensordot,
    "vecdot": _vecdot,
    "linalg.cholesky": _cholesky,
    "linalg.cross": _cross,
    "linalg.det": _det,
    "linalg.eigh": _eigh,
    "linalg.eigvalsh": _eigvalsh,
    "linalg.inv": _inv,
    "linalg.matrix_norm": _matrix_norm,
    "linalg.matrix_power": _matrix_power,
    "linalg.outer": _outer,
    "linalg.pinv": _pinv,
    "linalg.qr": _qr,
    "linalg.slogdet": _slogdet,
    "linalg.solve": _solve,
    "linalg.svd": _svd,
    "linalg.svdvals": _svdvals,
    "linalg.trace": _trace,
    "linalg.vector_norm": _vector_norm,
    "fft.fft": _fft,
    "fft.ifft": _ifft,
    "fft.rfft": _rfft,
}
