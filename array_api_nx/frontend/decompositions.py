"""Decompositions of matrices, equations and determinants: the part of `linalg` that LAPACK does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple, NoReturn

from numpy.linalg import LinAlgError

from ..core.dtypes import DType
from ..core.shape import broadcast_shapes
from ..native import with_advice, with_native
from ..primitives import table as p
from ..primitives.table import Primitive
from .array import Array, wrap
from .dispatch import operand_dtypes
from .manipulation import as_view
from .operands import cast, only_array, promote_arrays


class EigResult(NamedTuple):
    """What `eig` returns."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: Array
    S: Array
    Vh: Array


# ---------------------------------------------------------------------- decompositions


@with_native
def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Cholesky factor of positive-definite matrices.

    x: Shape (..., M, M); symmetric, or Hermitian if complex. Only one triangle is read.
    upper: Whether to return U with x = U^H U instead of L with x = L L^H.
    Returns: A new array of the shape of `x`, zero in the other triangle.
    ValueError: If the matrices are not square.
    numpy.linalg.LinAlgError: If a matrix is not positive definite.
    """
    return _single(p.CHOLESKY, x, upper=bool(upper))


@with_advice
def qr(x: Array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """QR decomposition, x = Q R.

    x: Shape (..., M, N); K is the smaller of M and N.
    mode: "complete" makes Q square.
    Returns: New arrays: Q, of shape (..., M, K) or (..., M, M), has orthonormal columns; R, of
        shape (..., K, N) or (..., M, N), is upper triangular.
    ValueError: If `x` has fewer than two dimensions, or `mode` is another one.
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr has no mode {mode!r}; give 'reduced' or 'complete'")
    return QRResult(*_computed(p.QR, x, (p.QR, p.QR), complete=mode == "complete"))


@with_native
def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular value decomposition, x = U diag(S) Vh.

    x: Shape (..., M, N); K is the smaller of M and N.
    full_matrices: Whether to make U and Vh square.
    Returns: New arrays: U, of shape (..., M, M) or (..., M, K), has orthonormal columns; S, of
        shape (..., K) and the real dtype of the precision of `x`, descends; Vh, of shape (..., N,
        N) or (..., K, N), has orthonormal rows.
    ValueError: If `x` has fewer than two dimensions.
    numpy.linalg.LinAlgError: If it does not converge, as with NaN in `x`.
    """
    outputs = p.SVD, p.SVDVALS, p.SVD
    return SVDResult(*_computed(p.SVD, x, outputs, full_matrices=bool(full_matrices)))


@with_native
def svdvals(x: Array, /) -> Array:
    """Singular values of each matrix.

    x: Shape (..., M, N); K is the smaller of M and N.
    Returns: A new array of shape (..., K), descending; the real dtype of the precision of `x`.
    ValueError: If `x` has fewer than two dimensions.
    numpy.linalg.LinAlgError: If they do not converge, as with NaN in `x`.
    """
    return _single(p.SVDVALS, x)


@with_advice
def eig(x: Array, /) -> EigResult:
    """Eigenvalues and eigenvectors of any square matrix.

    x: Shape (..., M, M).
    Returns: New arrays of the complex dtype of the precision of `x`, even if all eigenvalues are
        real: eigenvalues of shape (..., M), in no order; eigenvectors of shape (..., M, M), in
        columns.
    ValueError: If the matrices are not square.
    numpy.linalg.LinAlgError: If they do not converge, as with NaN in `x`.
    """
    return EigResult(*_computed(p.EIG, x, (p.EIG, p.EIG)))


@with_advice
def eigvals(x: Array, /) -> Array:
    """Eigenvalues of any square matrix.

    x: Shape (..., M, M).
    Returns: A new array of shape (..., M), in no order; the complex dtype of the precision of `x`.
    ValueError: If the matrices are not square.
    numpy.linalg.LinAlgError: If they do not converge, as with NaN in `x`.
    """
    return _single(p.EIGVALS, x)


@with_native
def eigh(x: Array, /) -> EighResult:
    """Eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    x: Shape (..., M, M). Only one triangle is read.
    Returns: New arrays: eigenvalues of shape (..., M), ascending, in the real dtype of the
        precision of `x`; eigenvectors of shape (..., M, M), orthonormal columns, in the dtype of
        `x`.
    ValueError: If the matrices are not square.
    numpy.linalg.LinAlgError: If they do not converge.
    """
    return EighResult(*_computed(p.EIGH, x, (p.EIGVALSH, p.EIGH)))


@with_native
def eigvalsh(x: Array, /) -> Array:
    """Eigenvalues of symmetric or Hermitian matrices.

    x: Shape (..., M, M). Only one triangle is read.
    Returns: A new array of shape (..., M), ascending; the real dtype of the precision of `x`.
    ValueError: If the matrices are not square.
    numpy.linalg.LinAlgError: If they do not converge.
    """
    return _single(p.EIGVALSH, x)


# ---------------------------------------------------------------------- equations, determinants


@with_native
def solve(x1: Array, x2: Array, /) -> Array:
    """Solution X of x1 X = x2.

    x1: Shape (..., M, M).
    x2: Shape (..., M, K), where ... broadcasts with that of `x1`; or exactly (M,), one vector for
        all of `x1`.
    Returns: A new array of shape (..., M, K), or (..., M) for a vector; the promoted dtype.
    ValueError: If the matrices are not square, or the shapes do not agree.
    numpy.linalg.LinAlgError: If a matrix is singular.
    """
    (x1, x2), _, device = promote_arrays(x1, x2)
    x1, dtype = square_matrices(p.SOLVE, x1)
    x2 = cast(x2, dtype)
    shape1, shape2 = x1.shape, x2.shape
    is_vector = len(shape2) == 1
    if not shape2 or shape2[0 if is_vector else -2] != shape1[-1]:
        raise ValueError(
            f"solve of shapes {shape1} and {shape2}: x2 must have {shape1[-1]} rows, as x1 has; "
            f"give it shape ({shape1[-1]},) or (..., {shape1[-1]}, K)"
        )
    right = x2._handle
    if is_vector:
        right = device.backend.reshape(right, (*shape2, 1))
    else:
        broadcast_shapes(shape1[:-2], shape2[:-2])
    try:
        solution = device.backend.solve(x1._handle, right)
    except LinAlgError as error:
        _advise(p.SOLVE, error)
    if is_vector:
        solution = device.backend.reshape(solution, shape1[:-1])
    return as_view(x1, solution)


@with_native
def inv(x: Array, /) -> Array:
    """Inverse of each matrix.

    x: Shape (..., M, M).
    Returns: A new array of the shape of `x`.
    ValueError: If the matrices are not square.
    numpy.linalg.LinAlgError: If a matrix is singular.
    """
    return _single(p.INV, x)


@with_native
def det(x: Array, /) -> Array:
    """Determinant of each matrix.

    x: Shape (..., M, M).
    Returns: A new array of shape (...).
    ValueError: If the matrices are not square.
    """
    return _single(p.DET, x)


@with_native
def slogdet(x: Array, /) -> SlogdetResult:
    """Sign, and logarithm of the absolute value, of the determinant of each matrix.

    x: Shape (..., M, M).
    Returns: New arrays of shape (...): sign, a number of absolute value 1, or 0, in the dtype of
        `x`; logabsdet in the real dtype of its precision, -inf for a determinant of 0.
    ValueError: If the matrices are not square.
    """
    return SlogdetResult(*_computed(p.SLOGDET, x, (p.SLOGDET, p.ABS)))


# ---------------------------------------------------------------------- checks and calls


def matrix_shape(name: str, x: Array) -> tuple[int, ...]:
    """The shape of `x`, which must have two dimensions."""
    shape = x.shape
    if len(shape) < 2:
        raise ValueError(
            f"{name} needs matrices, at least two dimensions, but the shape is {shape}; "
            "insert axes with expand_dims"
        )
    return shape


def square_matrices(op: Primitive, x: Array, name: str = "") -> tuple[Array, DType]:
    """`x`, checked to hold square matrices, in the dtype to compute in, and the result's dtype."""
    x = only_array(x)
    shape = matrix_shape(name or op.name, x)
    if shape[-1] != shape[-2]:
        raise ValueError(
            f"{name or op.name} needs square matrices, but the shape is {shape}; the last two "
            "sizes must be equal: slice the matrices, or use svd, qr or pinv"
        )
    compute, result = operand_dtypes(op, x._dtype, x._device)
    return cast(x, compute), result


def _single(op: Primitive, x: Array, **options: bool) -> Array:
    """The only result of `op`."""
    return _computed(op, x, (op,), **options)[0]


def _computed(
    op: Primitive, x: Array, outputs: Sequence[Primitive], **options: bool
) -> list[Array]:
    """The results of `op`, whose dtypes are those of the primitives `outputs`."""
    if op in _OF_ANY_MATRIX:
        x = only_array(x)
        compute, _ = operand_dtypes(op, x._dtype, x._device)
        matrix_shape(op.name, x)
        x = cast(x, compute)
    else:
        x, _ = square_matrices(op, x)
    try:
        found: Any = getattr(x._device.backend, op.name)(x._handle, **options)
    except LinAlgError as error:
        _advise(op, error)
    handles = (found,) if len(outputs) == 1 else found
    return [
        wrap(handle, output.results[x._dtype], x._device)
        for handle, output in zip(handles, outputs, strict=True)
    ]


_OF_ANY_MATRIX: Final = frozenset({p.QR, p.SVD, p.SVDVALS})

_SINGULAR: Final = "a singular matrix has no inverse: use pinv, or test matrix_rank first"
_ADVICE: Final = {
    p.INV: _SINGULAR,
    p.SOLVE: _SINGULAR,
    p.CHOLESKY: "only a positive-definite matrix has a Cholesky factor: use eigh, or test "
    "eigvalsh(x) > 0 first",
}


def _advise(op: Primitive, error: LinAlgError) -> NoReturn:
    """Raise the error of a backend with what to do about it."""
    diverged = "NaN and infinities in a matrix do this: test isfinite(x) first"
    raise LinAlgError(f"{error}; {_ADVICE.get(op, diverged)}") from error
