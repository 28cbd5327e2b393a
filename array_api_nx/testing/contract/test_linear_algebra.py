"""The contract's section "linear algebra": results are put together again."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ...contract.backend import Backend, Handle
from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.dtypes import DType
from ...core.view import View
from ...primitives import table as p
from .layouts import ONE_TO_ONE, Case, Numbers, broadcast_first, case, in_layouts, row_major, tensor

INVERTIBLE = (*ONE_TO_ONE, broadcast_first)
"""The layouts that keep a matrix invertible: only whole matrices are repeated."""


def square(dtype: DType, n: int = 3) -> NDArray:
    """Two well-conditioned matrices."""
    numbers = np.arange(2 * n * n).reshape(2, 1, n, n) * 7 % 5 - 2
    values = (numbers + 5 * np.eye(n)).astype(dtype.name)
    if dtype in d.COMPLEX:
        values.imag = np.flip(values.real, -1) / 4
    return values


def hermitian(dtype: DType, n: int = 3) -> NDArray:
    values = square(dtype, n)
    return values @ adjoint(values)


def adjoint(x: NDArray) -> NDArray:
    return np.conj(np.swapaxes(x, -1, -2))


def rectangles(backend: Backend, dtype: DType) -> list[Case]:
    tall = np.concatenate([square(dtype), square(dtype)[..., :1, :]], -2)
    return [
        *in_layouts(backend, square(dtype)),
        *in_layouts(backend, tall),
        *in_layouts(backend, adjoint(tall)),
    ]


def host(backend: Backend, result: Handle, shape: tuple[int, ...], dtype: DType) -> NDArray:
    """A result as an ndarray, once its shape and dtype are what they should be."""
    assert backend.shape(result) == shape
    assert backend.dtype(result) is dtype
    return backend.to_host(result)


def close(actual: NDArray, expected: Numbers, hint: object = "") -> None:
    tolerance = 1e-11 if d.bits(actual.dtype) == 64 else 2e-4
    np.testing.assert_allclose(actual, expected, tolerance, tolerance, err_msg=str(hint))


FLOATING = pytest.mark.parametrize("dtype", d.FLOATING, ids=str)
REAL_OF = p.ABS.results


@FLOATING
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(backend: Backend, dtype: DType, upper: bool) -> None:
    for layout, handle, oracle in in_layouts(backend, hermitian(dtype), INVERTIBLE):
        factor = host(backend, backend.cholesky(handle, upper=upper), oracle.shape, dtype)
        whole = adjoint(factor) @ factor if upper else factor @ adjoint(factor)
        close(whole, oracle, layout)
        np.testing.assert_array_equal(factor, np.triu(factor) if upper else np.tril(factor))
    indefinite = case(backend, row_major, -hermitian(dtype)).handle
    with pytest.raises(np.linalg.LinAlgError):
        backend.evaluate(backend.cholesky(indefinite, upper=upper))


@FLOATING
@pytest.mark.parametrize("complete", [False, True])
def test_qr(backend: Backend, dtype: DType, complete: bool) -> None:
    for layout, handle, oracle in rectangles(backend, dtype):
        rows, columns = oracle.shape[-2:]
        inner = rows if complete else min(rows, columns)
        lead = oracle.shape[:-2]
        first, second = backend.qr(handle, complete=complete)
        q = host(backend, first, (*lead, rows, inner), dtype)
        r = host(backend, second, (*lead, inner, columns), dtype)
        close(q @ r, oracle, layout)
        close(adjoint(q) @ q, np.broadcast_to(np.eye(inner), (*lead, inner, inner)), layout)
        np.testing.assert_array_equal(r, np.triu(r))


@FLOATING
@pytest.mark.parametrize("full_matrices", [False, True])
def test_svd(backend: Backend, dtype: DType, full_matrices: bool) -> None:
    for layout, handle, oracle in rectangles(backend, dtype):
        *lead, rows, columns = oracle.shape
        rank = min(rows, columns)
        u, s, vh = backend.svd(handle, full_matrices=full_matrices)
        u = host(backend, u, (*lead, rows, rows if full_matrices else rank), dtype)
        s = host(backend, s, (*lead, rank), REAL_OF[dtype])
        vh = host(backend, vh, (*lead, columns if full_matrices else rank, columns), dtype)
        close((u[..., :rank] * s[..., None, :]) @ vh[..., :rank, :], oracle, layout)
        close(adjoint(u) @ u, np.broadcast_to(np.eye(u.shape[-1]), (*lead, *u.shape[-1:] * 2)))
        assert (np.diff(s) <= 0).all()
        assert (s >= 0).all()


@FLOATING
def test_svdvals(backend: Backend, dtype: DType) -> None:
    for layout, handle, oracle in rectangles(backend, dtype):
        *lead, rows, columns = oracle.shape
        shape = (*lead, min(rows, columns))
        s = host(backend, backend.svdvals(handle), shape, REAL_OF[dtype])
        small_side = oracle if rows <= columns else adjoint(oracle)
        squares = np.linalg.eigvalsh(small_side @ adjoint(small_side))[..., ::-1]
        np.testing.assert_allclose(s**2, squares, 1e-3, 1e-3, err_msg=layout)


@FLOATING
def test_eig(backend: Backend, dtype: DType) -> None:
    for layout, handle, oracle in in_layouts(backend, square(dtype)):
        first, second = backend.eig(handle)
        values = host(backend, first, oracle.shape[:-1], p.EIG.results[dtype])
        vectors = host(backend, second, oracle.shape, p.EIG.results[dtype])
        close(oracle @ vectors, values[..., None, :] * vectors, layout)


@pytest.mark.parametrize("method", ["eigvals", "eigvalsh"])
@FLOATING
def test_eigenvalues(backend: Backend, dtype: DType, method: str) -> None:
    result = REAL_OF[dtype] if method == "eigvalsh" else p.EIGVALS.results[dtype]
    matrices = in_layouts(backend, square(dtype))
    if method == "eigvalsh":
        matrices = in_layouts(backend, hermitian(dtype), INVERTIBLE)
    for layout, handle, oracle in matrices:
        values = host(backend, getattr(backend, method)(handle), oracle.shape[:-1], result)
        # Sums of eigenvalues and of their squares are traces.
        close(values.sum(-1), np.trace(oracle, axis1=-2, axis2=-1), layout)
        close((values**2).sum(-1), np.trace(oracle @ oracle, axis1=-2, axis2=-1), layout)
        if method == "eigvalsh":
            assert (np.diff(values) >= 0).all()


@FLOATING
def test_eigh(backend: Backend, dtype: DType) -> None:
    for layout, handle, oracle in in_layouts(backend, hermitian(dtype), INVERTIBLE):
        first, second = backend.eigh(handle)
        values = host(backend, first, oracle.shape[:-1], REAL_OF[dtype])
        vectors = host(backend, second, oracle.shape, dtype)
        close((vectors * values[..., None, :]) @ adjoint(vectors), oracle, layout)
        assert (np.diff(values) >= 0).all()


@FLOATING
def test_solve(backend: Backend, dtype: DType) -> None:
    rights = [square(dtype)[0, 0], square(dtype)[..., :1], square(dtype, 6)[:, 0, None, :3, :5]]
    for i, (layout, handle, oracle) in enumerate(in_layouts(backend, square(dtype), INVERTIBLE)):
        for values in rights:
            x2 = in_layouts(backend, values)[(3 * i + 1) % 10]
            shape = (*np.broadcast_shapes(oracle.shape[:-2], values.shape[:-2]), *values.shape[-2:])
            result = host(backend, backend.solve(handle, x2.handle), shape, dtype)
            close(oracle @ result, np.broadcast_to(x2.oracle, shape), (layout, x2.layout))


@FLOATING
def test_inv(backend: Backend, dtype: DType) -> None:
    for layout, handle, oracle in in_layouts(backend, square(dtype), INVERTIBLE):
        inverse = host(backend, backend.inv(handle), oracle.shape, dtype)
        close(oracle @ inverse, np.broadcast_to(np.eye(3), oracle.shape), layout)


def determinant(x: NDArray) -> NDArray:
    """Of 3 by 3 matrices, by the rule of Sarrus."""
    a, b, c = x[..., 0, :], x[..., 1, :], x[..., 2, :]
    return np.asarray(np.sum(a * np.cross(b, c), axis=-1))


@pytest.mark.parametrize("method", ["det", "slogdet"])
@FLOATING
def test_determinants(backend: Backend, dtype: DType, method: str) -> None:
    for layout, handle, oracle in in_layouts(backend, square(dtype)):
        shape = oracle.shape[:-2]
        if method == "det":
            found = host(backend, backend.det(handle), shape, dtype)
        else:
            sign, logarithm = backend.slogdet(handle)
            found = host(backend, sign, shape, dtype)
            found = found * np.exp(host(backend, logarithm, shape, REAL_OF[dtype]))
        close(found, determinant(oracle), layout)


def test_solve_and_inv_refuse_singular_matrices(backend: Backend) -> None:
    x = case(backend, row_major, np.zeros((2, 2))).handle
    with pytest.raises(np.linalg.LinAlgError):
        backend.evaluate(backend.solve(x, x))
    with pytest.raises(np.linalg.LinAlgError):
        backend.evaluate(backend.inv(x))


def test_solve_refuses_shapes_that_do_not_broadcast(backend: Backend) -> None:
    x1 = case(backend, row_major, np.broadcast_to(np.eye(2), (2, 2, 2))).handle
    x2 = case(backend, row_major, np.ones((3, 2, 2))).handle
    with pytest.raises(ValueError, match="broadcast"):
        backend.solve(x1, x2)


@FLOATING
def test_linear_algebra_of_empty_batches_and_matrices(backend: Backend, dtype: DType) -> None:
    for shape in ((0, 2, 2), (0, 0), (3, 0, 0)):
        x = case(backend, row_major, np.empty(shape, dtype.name)).handle
        for result in (
            backend.cholesky(x, upper=False),
            backend.qr(x, complete=False)[0],
            backend.svd(x, full_matrices=False)[2],
            backend.eigh(x)[1],
            backend.solve(x, x),
            backend.inv(x),
        ):
            host(backend, result, shape, dtype)
        host(backend, backend.svdvals(x), shape[:-1], REAL_OF[dtype])
        host(backend, backend.eigvals(x), shape[:-1], p.EIG.results[dtype])
        # The determinant of a matrix without elements is 1.
        close(host(backend, backend.det(x), shape[:-2], dtype), np.ones(shape[:-2]))


@FLOATING
@pytest.mark.parametrize(
    ("upper", "transpose", "unit_diagonal"), list(product([False, True], repeat=3))
)
def test_triangular_solve(
    backend: Backend, dtype: DType, upper: bool, transpose: bool, unit_diagonal: bool
) -> None:
    flags = {"upper": upper, "transpose": transpose, "unit_diagonal": unit_diagonal}
    full = square(dtype)
    triangle = np.triu(full) if upper else np.tril(full)
    if unit_diagonal:
        triangle[..., range(3), range(3)] = 1
    # What must not be read is NaN.
    poisoned = full.copy()
    rows, columns = np.indices((3, 3))
    poisoned[..., columns < rows if upper else columns > rows] = np.nan
    if unit_diagonal:
        poisoned[..., rows == columns] = np.nan
    coefficients = np.swapaxes(triangle, -1, -2) if transpose else triangle
    for i, layout in enumerate(INVERTIBLE):
        memory, view = layout(poisoned)
        x1 = tensor(backend, memory, view)
        whole = coefficients[:1] if layout is broadcast_first else coefficients
        for values in (full[0, 0], full[..., :2]):
            x2 = in_layouts(backend, values)[(3 * i + 1) % 10]
            shape = (*np.broadcast_shapes(full.shape[:-2], values.shape[:-2]), *values.shape[-2:])
            result = host(backend, backend.triangular_solve(x1, x2.handle, **flags), shape, dtype)
            close(whole @ result, np.broadcast_to(x2.oracle, shape), (layout.__name__, x2.layout))


def test_triangular_solve_of_no_equations(backend: Backend) -> None:
    nothing = tensor(backend, np.empty(0), View((0, 0)))
    right = tensor(backend, np.empty(0), View((0, 4)))
    result = backend.triangular_solve(
        nothing, right, upper=True, transpose=False, unit_diagonal=False
    )
    assert backend.shape(result) == (0, 4)
