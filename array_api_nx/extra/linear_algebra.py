"""Linear algebra that the standard's extension lacks; `linalg` has it under the same names."""

from __future__ import annotations

from typing import NamedTuple

from ..contract import primitives as p
from ..core import dtypes as d
from ..frontend.array import Array
from ..frontend.creation import empty
from ..frontend.data_type import finfo
from ..frontend.dispatch import cast, only_array, operand_dtypes, promote_arrays
from ..frontend.elementwise import abs, conj, square
from ..frontend.linear_algebra import matmul
from ..frontend.manipulation import reshape
from ..frontend.searching import count_nonzero, where
from ..frontend.statistical import sum
from ..linalg import qr, svd

__all__ = ["lstsq"]


class LstsqResult(NamedTuple):
    """What `lstsq` returns."""

    x: Array
    residuals: Array
    rank: Array
    s: Array


def lstsq(a: Array, b: Array, /, rcond: float | None = None) -> LstsqResult:
    """Least-squares solution of ``a @ x = b``; of several, the one of the least norm.

    Parameters
    ----------
    a : Array
        Shape (M, N). Numeric or bool.
    b : Array
        Shape (M,) or (M, K): one right-hand side, or one per column.
    rcond : float, optional
        Singular values up to `rcond` times the largest count as zero. By default the resolution
        of the dtype times the larger of M and N; a negative number asks for the resolution alone.

    Returns
    -------
    LstsqResult
        New arrays: the solution x, of shape (N,) or (N, K); the sums of squared residuals, of shape
        (1,) or (K,), but (0,) if the rank of `a` is less than N or M is not above N; the rank, a
        0-d int64; and the singular values of `a`, descending.

    Raises
    ------
    ValueError
        If `a` is no matrix, or `b` has not as many rows.
    numpy.linalg.LinAlgError
        If the singular values do not converge, as with NaN in `a`.

    Examples
    --------
    >>> import array_api_nx as xp
    >>> a = xp.asarray([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> x, *_ = xp.linalg.lstsq(a, xp.asarray([1.0, 3.0, 5.0]))
    >>> xp.round(x)
    Array([2., 1.], dtype=float64)
    """
    only_array(a, "a")
    only_array(b, "b")
    if a.ndim != 2 or b.ndim not in (1, 2) or b.shape[0] != a.shape[0]:
        raise ValueError(
            f"lstsq takes a matrix and one or two dimensions with as many rows, but the shapes are "
            f"{a.shape} and {b.shape}; call it for each matrix of a stack"
        )
    (a, b), dtype, device = promote_arrays(a, b)
    dtype, _ = operand_dtypes(p.SVD, dtype, device)
    a, b = cast(a, dtype), cast(b, dtype)
    rows, columns = a.shape
    right = reshape(b, (rows, -1)) if b.ndim == 1 else b
    resolution = finfo(dtype).eps
    if rcond is None:
        rcond = resolution * max(rows, columns)
    elif rcond < 0:
        rcond = resolution
    # Of many more rows than columns, as few as columns decide.
    tall = rows > 2 * columns
    q, triangle = qr(a) if tall else (None, a)
    u, s, vh = svd(triangle, full_matrices=False)
    if q is not None:
        u = matmul(q, u)
    is_significant = s > rcond * s[:1]
    coordinates = matmul(_adjoint(u), right)
    scale = reshape(where(is_significant, s, 1), (-1, 1))
    coordinates = where(reshape(is_significant, (-1, 1)), coordinates / scale, 0)
    x = matmul(_adjoint(vh), coordinates)
    rank = count_nonzero(is_significant)
    if rows > columns and int(rank) == columns:
        residuals = sum(square(abs(matmul(a, x) - right)), axis=0)
    else:
        residuals = empty((0,), dtype=s.dtype, device=device)
    return LstsqResult(reshape(x, (columns,)) if b.ndim == 1 else x, residuals, rank, s)


def _adjoint(x: Array) -> Array:
    return conj(x).T if x.dtype in d.COMPLEX else x.T
