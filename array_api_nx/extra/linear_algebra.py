"""Linear algebra that the standard's extension lacks; `linalg` has it under the same names."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..core import dtypes as d
from ..core.shape import normalise_axes, normalise_axis
from ..frontend import standard as xp
from ..frontend.array import Array
from ..frontend.dispatch import operand_dtypes
from ..frontend.docstrings import complete_docstrings
from ..frontend.operands import cast, only_array, promote_arrays
from ..linalg import matrix_norm, svd, vector_norm
from ..native import with_native
from ..primitives import table as p

__all__ = ["lstsq", "norm"]


class LstsqResult(NamedTuple):
    """What `lstsq` returns."""

    x: Array
    residuals: Array
    rank: Array
    s: Array


def lstsq(a: Array, b: Array, /, rcond: float | None = None) -> LstsqResult:
    """Least-squares solution of ``a @ x = b``; of several, the one of the least norm.

    a: Shape (M, N). Numeric or bool.
    b: Shape (M,) or (M, K): one right-hand side, or one per column.
    rcond: Singular values up to `rcond` times the largest count as zero. By default the resolution
        of the dtype times the larger of M and N; a negative number asks for the resolution alone.
    Returns: New arrays: the solution x, of shape (N,) or (N, K); the sums of squared residuals, of
        shape (1,) or (K,), but (0,) if the rank of `a` is less than N or M is not above N; the
        rank, a 0-d int64; and the singular values of `a`, descending.
    ValueError: If `a` is no matrix, or `b` has not as many rows.
    numpy.linalg.LinAlgError: If the singular values do not converge, as with NaN in `a`.

    >>> a = xp.asarray([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> x, *_ = xp.linalg.lstsq(a, xp.asarray([1.0, 3.0, 5.0]))
    >>> xp.round(x)
    Array([2., 1.], dtype=float64)
    """
    a = only_array(a, "a")
    b = only_array(b, "b")
    if a.ndim != 2 or b.ndim not in (1, 2) or b.shape[0] != a.shape[0]:
        raise ValueError(
            f"lstsq takes a matrix and one or two dimensions with as many rows, but the shapes are "
            f"{a.shape} and {b.shape}; call it for each matrix of a stack"
        )
    (a, b), dtype, device = promote_arrays(a, b)
    dtype, _ = operand_dtypes(p.SVD, dtype, device)
    a, b = cast(a, dtype), cast(b, dtype)
    rows, columns = a.shape
    right = xp.reshape(b, (rows, -1)) if b.ndim == 1 else b
    resolution = xp.finfo(dtype).eps
    if rcond is None:
        rcond = resolution * max(rows, columns)
    elif rcond < 0:
        rcond = resolution
    u, s, vh = svd(a, full_matrices=False)
    is_significant = s > rcond * s[:1]
    scale = xp.reshape(xp.where(is_significant, s, 1), (-1, 1))

    def solution(right: Array) -> Array:
        coordinates = xp.matmul(_adjoint(u), right) / scale
        return xp.matmul(
            _adjoint(vh), xp.where(xp.reshape(is_significant, (-1, 1)), coordinates, 0)
        )

    x = solution(right)
    x = x + solution(right - xp.matmul(a, x))  # some digits are lost where `a` is ill-conditioned
    rank = xp.count_nonzero(is_significant)
    if rows > columns and int(rank) == columns:
        residuals = xp.sum(xp.square(xp.abs(xp.matmul(a, x) - right)), axis=0)
    else:
        residuals = xp.empty((0,), dtype=s.dtype, device=device)
    return LstsqResult(xp.reshape(x, (columns,)) if b.ndim == 1 else x, residuals, rank, s)


def _adjoint(x: Array) -> Array:
    return xp.conj(x).T if x.dtype in d.COMPLEX else x.T


@with_native
def norm(
    x: Array,
    /,
    ord: int | float | Literal["fro", "nuc"] | None = None,
    axis: int | tuple[int, int] | None = None,
    *,
    keepdims: bool = False,
) -> Array:
    """Norm of vectors or of matrices: NumPy's function for the standard's two.

    x: Numeric or bool.
    ord (int, float, "fro" or "nuc", optional): Of vectors the p of `linalg.vector_norm`; of
        matrices what `linalg.matrix_norm` knows. By default 2 for vectors and "fro" for matrices:
        the root of the sum of squares.
    axis: Where vectors lie, or the rows and the columns of matrices. Without it `x` is one vector
        or one matrix; without `ord` all elements are one vector, whatever their shape.
    keepdims: Whether these axes stay, with size 1.
    Returns: A new array of the real dtype of the precision of `x`, float64 for integers and bool.
    ValueError: If there is no such norm; if an array of other than one or two dimensions is given
        an `ord` without `axis`, or `axis` names more than two or one twice.

    >>> x = xp.asarray([[3.0, 0.0], [4.0, 0.0]])
    >>> xp.linalg.norm(x)
    Array(5., dtype=float64)
    >>> xp.linalg.norm(x, 1, axis=0)
    Array([7., 0.], dtype=float64)
    """
    x = only_array(x)
    ndim = x.ndim
    if x.dtype not in d.FLOATING:
        x = cast(x, d.float64)
    if axis is None and ord is None:
        return vector_norm(x, keepdims=keepdims)
    if axis is None:
        if ndim not in (1, 2):
            raise ValueError(
                f"norm with ord={ord!r} is of a vector or a matrix, but the shape is {x.shape}; "
                "name the axes with axis=..."
            )
        axes = tuple(range(ndim))
    elif isinstance(axis, tuple):
        axes = normalise_axes(axis, ndim)
    else:
        axes = (normalise_axis(axis, ndim),)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(
                f"vectors have no norm {ord!r}; give a number as ord, or two axes for matrices"
            )
        return vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError(
            f"norm takes one axis of vectors or two of matrices, not {axis!r}; use "
            "linalg.vector_norm for more"
        )
    # Rows and columns change places with the axes.
    moved = xp.moveaxis(x, axes, (-2, -1))
    result = matrix_norm(moved, keepdims=keepdims, ord="fro" if ord is None else ord)
    return xp.moveaxis(result, (-2, -1), axes) if keepdims else result


complete_docstrings(globals(), __all__)
