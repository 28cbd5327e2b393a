"""Linear algebra of the CPU backend, by numpy.linalg."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, Final

import numpy as np

from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...native import native
from .engine.fperrors import located
from .engine.memory_pool import empty
from .engine.sliced_calls import divide, run
from .storage import NumPyMemory, on_arrays


def _by_numpy(function: Callable[..., Any], **keywords: object) -> Callable[..., Any]:
    return on_arrays(partial(located, function, **keywords))


def _as_complex(array: NDArray) -> NDArray:
    """`array` as complex numbers, which the standard asks for even if all eigenvalues are real."""
    return array.astype(d.COMPLEX_OF.get(array.dtype, array.dtype), copy=False)


def _eig(x: NDArray) -> tuple[NDArray, NDArray]:
    values, vectors = located(np.linalg.eig, x)
    return _as_complex(values), _as_complex(vectors)


def _eigvals(x: NDArray) -> NDArray:
    return _as_complex(located(np.linalg.eigvals, x))


_SLICE_NS: Final = 50_000
"""Nanoseconds of work that are worth a slice of its own. An inverse takes about as many as it has
multiplications."""


def invert_into(matrices: NDArray, result: NDArray) -> bool:
    """Compute ``np.linalg.inv(matrices)`` into a row-major array of the same shape and dtype.

    By the extension, and equal to NumPy's to rounding. NumPy calls LAPACK once per matrix, which
    for small ones takes longer than the arithmetic; and threads that do so wait for each other.

    False where NumPy is to be asked; see `native.invert`. What was written then does not count.
    """
    size = matrices.shape[-1]
    if native is None or size > native.MOST_INVERTED_ROWS:
        return False
    invert = native.invert
    count = prod(matrices.shape[:-2])
    if matrices.ndim != 3:
        matrices = matrices.reshape(count, size, size)
        result = result.reshape(count, size, size)
    keys = divide((count,), None, max(1, _SLICE_NS // max(1, size**3)))
    if keys is None:
        return invert(matrices, result)
    done: list[bool] = []
    run(lambda key: done.append(invert(matrices[key], result[key])), keys)
    return all(done)


def _inv(x: NDArray) -> NDArray:
    result = empty(x.shape, x.dtype)
    return result if invert_into(x, result) else located(np.linalg.inv, x)


# A matrix of at least so many rows and columns, and so many rows for each column, is tall: its
# singular values are those of a small matrix, and so is its triangle (docs/tuning.md, 113).
_TALL_ROWS: Final = 2**12
_TALL_COLUMNS: Final = 3
_TALL_RATIO: Final = 16

_CONDITION_MAX: Final = {d.float32: 30.0, d.float64: 1e4}
"""The largest condition of a matrix whose products with itself keep enough of its digits for the
second orthogonalisation to leave errors of rounding alone."""

_REFINED_FROM: Final = 30.0
"""The condition from which on a product with the inverse of a triangle, whose error is as many
times that of rounding, is refined once. To solve for as many vectors takes ten times as long."""


def _product(x: NDArray, matrix: NDArray) -> NDArray:
    """The product with a square matrix, in memory of the pool."""
    return np.matmul(x, matrix, empty(x.shape, x.dtype))


def _tall_factors(x: NDArray, refines: bool = True) -> tuple[NDArray, NDArray, NDArray] | None:
    """Three matrices whose product is `x`: orthonormal columns but for small errors, a matrix close
    to the identity that mends these, and a triangle; by Cholesky's method, twice (CholeskyQR2).

    Returns: ``(q, r2, r1)``: the columns of ``q @ inv(r2)`` are orthonormal to rounding. None
        unless `x` is tall, finite and well-conditioned; unless it `refines`, so well that no
        product is refined.
    """
    if x.dtype not in _CONDITION_MAX or x.ndim != 2:
        return None
    most = _CONDITION_MAX[x.dtype] if refines else _REFINED_FROM
    rows, columns = x.shape
    if columns < _TALL_COLUMNS or rows < _TALL_ROWS or rows < _TALL_RATIO * columns:
        return None
    with np.errstate(all="ignore"):
        try:
            r1 = np.linalg.cholesky(x.T @ x).T
            values = np.linalg.svd(r1, compute_uv=False)
            if not values[0] <= most * values[-1]:
                return None
            inverse = np.linalg.inv(r1)
            q = _product(x, inverse)
            if values[0] > _REFINED_FROM * values[-1]:
                rest = _product(q, r1)
                np.subtract(x, rest, rest)
                q += _product(rest, inverse)
            r2 = np.linalg.cholesky(q.T @ q).T
        except np.linalg.LinAlgError:
            return None
    return q, r2, r1


def _qr(x: NDArray, *, complete: bool) -> tuple[NDArray, NDArray]:
    factors = None if complete else _tall_factors(x)
    if factors is None:
        q, r = located(np.linalg.qr, x, "complete" if complete else "reduced")
        return q, r
    q, r2, r1 = factors
    return _product(q, np.linalg.inv(r2)), r2 @ r1


def _svd(x: NDArray, *, full_matrices: bool) -> tuple[NDArray, NDArray, NDArray]:
    factors = None if full_matrices else _tall_factors(x)
    if factors is None:
        u, values, vh = located(np.linalg.svd, x, full_matrices)
        return u, values, vh
    q, r2, r1 = factors
    u, values, vh = np.linalg.svd(r2 @ r1)
    return _product(q, np.linalg.solve(r2, u)), values, vh


def _svdvals(x: NDArray) -> NDArray:
    factors = _tall_factors(x, refines=False)  # then LAPACK's values take as long
    if factors is None:
        return np.asarray(located(np.linalg.svd, x, compute_uv=False))
    return np.linalg.svd(factors[1] @ factors[2], compute_uv=False)


class LinearAlgebra(NumPyMemory):
    """The section "Linear algebra" of the contract."""

    cholesky = _by_numpy(np.linalg.cholesky)
    det = _by_numpy(np.linalg.det)
    eig = on_arrays(_eig)
    eigh = _by_numpy(np.linalg.eigh)
    eigvals = on_arrays(_eigvals)
    eigvalsh = _by_numpy(np.linalg.eigvalsh)
    inv = on_arrays(_inv)
    qr = on_arrays(_qr)
    slogdet = _by_numpy(np.linalg.slogdet)
    solve = _by_numpy(np.linalg.solve)
    svd = on_arrays(_svd)
    svdvals = on_arrays(_svdvals)
