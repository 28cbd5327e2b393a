"""The standard's extension ``linalg``.

Matrices are the last two axes of an array, the axes before them a stack of such. Integers and
booleans are computed in float64 where a decomposition needs floating point.

No function returns a view but `matrix_transpose` and, where the memory allows it, `diagonal`.
"""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from math import inf
from numbers import Real
from operator import index
from typing import TYPE_CHECKING, Literal

from numpy.linalg import LinAlgError as LinAlgError

from .config import current
from .contract.arguments import Handle
from .contract.backend import Backend
from .contract.numpy_dtypes import DTypeLike
from .core.dtypes import COMPLEX, int64
from .core.shape import as_int
from .frontend import data_type, elementwise, joining, manipulation, searching, statistical
from .frontend.array import Array, wrap
from .frontend.decompositions import EighResult as EighResult
from .frontend.decompositions import EigResult as EigResult
from .frontend.decompositions import QRResult as QRResult
from .frontend.decompositions import SlogdetResult as SlogdetResult
from .frontend.decompositions import SVDResult as SVDResult
from .frontend.decompositions import (
    cholesky,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    matrix_shape,
    qr,
    slogdet,
    solve,
    square_matrices,
    svd,
    svdvals,
)
from .frontend.dispatch import operand_dtypes, reduce
from .frontend.docstrings import complete_docstrings
from .frontend.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from .frontend.missing import missing
from .frontend.operands import adopted, cast, only_array, promote_arrays
from .frontend.searching import count_nonzero
from .native import with_advice, with_native
from .primitives import table as p

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


def __dir__() -> list[str]:
    return __all__


# Not for type checkers, to which any misspelt name would be an `object`.
if not TYPE_CHECKING:
    # An import statement in the function would run at each call.
    _extra = cache(partial(import_module, ".extra.linear_algebra", __package__))

    def __getattr__(name: str) -> object:
        # Names that libraries look for here are found, but listed nowhere. A name with underscores
        # is one that Python or a library probes for.
        if not name.startswith("_") and name in _extra().__all__ and current().extras:
            return getattr(_extra(), name)
        raise missing(__name__, name)


# ---------------------------------------------------------------------- products


@with_advice
def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Cross product of vectors in three dimensions.

    x1, x2: Size 3 on `axis`; the other axes broadcast. A numeric dtype.
    axis: Where the vectors lie: counted in each array by itself, and in the result.
    Returns: A new array of the broadcast shape and the promoted dtype.
    IndexError: If an array has no such axis.
    ValueError: If a vector has another size than 3, or the other axes do not broadcast.
    """
    (x1, x2), _, _ = promote_arrays(x1, x2)
    a1, a2, a3 = _components(x1, axis)
    b1, b2, b3 = _components(x2, axis)
    c1, c2, c3 = a2 * b3, a3 * b1, a1 * b2
    c1 -= a3 * b2
    c2 -= a1 * b3
    c3 -= a2 * b1
    return joining.stack((c1, c2, c3), axis=axis)


def _components(x: Array, axis: int) -> tuple[Array, ...]:
    components = manipulation.moveaxis(x, axis, 0)
    if components.shape[0] != 3:
        raise ValueError(
            f"cross needs vectors of size 3, but axis {axis} of shape {x.shape} has size "
            f"{components.shape[0]}; give the axis of the vectors as axis=..."
        )
    return joining.unstack(components)


@with_advice
def outer(x1: Array, x2: Array, /) -> Array:
    """Products of every element of one vector with every element of another.

    x1: Shape (N,). A numeric dtype.
    x2: Shape (M,). A numeric dtype.
    Returns: A new array of shape (N, M) and the promoted dtype.
    ValueError: If an array is not one-dimensional.
    """
    x1, x2 = only_array(x1, "x1"), only_array(x2, "x2")
    for x in (x1, x2):
        if x.ndim != 1:
            raise ValueError(
                f"outer takes vectors of one dimension, but a shape is {x.shape}; "
                "flatten with reshape(x, (-1,)), or use tensordot with axes=0"
            )
    return manipulation.expand_dims(x1, 1) * x2


@with_advice
def matrix_power(x: Array, n: int, /) -> Array:
    """Product of a matrix with itself, `n` times.

    x: Shape (..., M, M). A numeric dtype.
    n: 0 gives identity matrices; a negative `n` powers of the inverse.
    Returns: A new array of the shape of `x`; its dtype, or that of ``inv(x)`` for negative `n`.
    ValueError: If the matrices are not square.
    numpy.linalg.LinAlgError: If `n` is negative and a matrix singular.
    """
    exponent = index(as_int(n, "n"))
    if exponent < 0:
        return matrix_power(inv(x), -exponent)
    x, dtype = square_matrices(p.MATMUL, x, "matrix_power")
    backend = x._device.backend
    if exponent == 0:
        size = x.shape[-1]
        identity = backend.expand(backend.eye(size, size, 0, dtype), x.shape)
        return wrap(backend.copy(identity), dtype, x._device)
    # Square and multiply, by the binary digits of the exponent.
    power, result = x._handle, None
    while True:
        exponent, odd = divmod(exponent, 2)
        if odd:
            result = power if result is None else backend.matmul(result, power)
        if not exponent:
            break
        power = backend.matmul(power, power)
    return wrap(backend.copy(result) if n == 1 else result, dtype, x._device)


# ---------------------------------------------------------------------- diagonals


@with_native
def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """Diagonal of each matrix.

    x: Shape (..., M, N).
    offset: Which diagonal: above the main one if positive, below if negative. Empty if there is
        none.
    Returns: Shape (..., K). A view where the rows or the columns of the matrices follow one another
        in memory, as in every array that was not sliced along its last two axes; else a copy.
    ValueError: If `x` has fewer than two dimensions.
    """
    x = only_array(x)
    *stack, rows, columns = matrix_shape("diagonal", x)
    offset = index(as_int(offset, "offset"))
    row, column = max(-offset, 0), max(offset, 0)
    size = max(min(rows - row, columns - column), 0)
    if size == 0:
        row = column = 0
    backend = x._device.backend
    handle = _strided_diagonal(backend, x._handle, row, column, size)
    if handle is None:
        transposed = matrix_transpose(x)._handle
        handle = _strided_diagonal(backend, transposed, column, row, size)
    if handle is None:
        row_indices = backend.arange(row, row + size, 1, int64)
        column_indices = backend.arange(column, column + size, 1, int64)
        keys = (*[None] * len(stack), row_indices, column_indices)
        handle = backend.index_get(x._handle, keys)
    return wrap(handle, x._dtype, x._device)


def _strided_diagonal(
    backend: Backend, x: Handle, row: int, column: int, size: int
) -> Handle | None:
    """The diagonal from (row, column) on as a view, or None if the rows cannot be joined to one.

    In the joined rows, the next element of the diagonal is one row and one column further.
    """
    *stack, _, columns = backend.shape(x)
    whole = [(0, n, 1) for n in stack]
    strip = backend.slice(x, (*whole, (row, size, 1), (0, columns, 1)))
    joined = backend.try_reshape(strip, (*stack, size * columns))
    if joined is None:
        return None
    return backend.slice(joined, (*whole, (column, size, columns + 1)))


@with_advice
def trace(x: Array, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Sum of the diagonal of each matrix.

    x: Shape (..., M, N). A numeric dtype.
    offset: As for `diagonal`.
    dtype: What to add in, and the result's dtype; by default as for `sum`.
    Returns: A new array of shape (...); 0 for an empty diagonal.
    ValueError: If `x` has fewer than two dimensions.
    """
    return statistical.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


# ---------------------------------------------------------------------- norms


@with_native
def matrix_norm(
    x: Array,
    /,
    *,
    keepdims: bool = False,
    ord: int | float | Literal["fro", "nuc"] | None = "fro",
) -> Array:
    """Norm of each matrix.

    x: Shape (..., M, N).
    keepdims: Whether to keep the last two axes, with size 1.
    ord ({"fro", "nuc", 1, -1, 2, -2, inf, -inf} or None): Frobenius norm (also None); sum of the
        singular values; largest (smallest if negative) sum of absolute values in a column, singular
        value, sum of absolute values in a row.
    Returns: A new array of shape (...), or (..., 1, 1); the real dtype of the precision of `x`. The
        largest of nothing is 0.
    ValueError: If `x` has fewer than two dimensions, `ord` is another one, or there is no smallest
        value because the matrices are empty.
    """
    x = only_array(x)
    shape = matrix_shape("matrix_norm", x)
    if ord == "fro" or ord is None:
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord == "nuc":
        norm = reduce(p.SUM, svdvals(x), -1, False)
    elif ord in (2, -2):
        norm = _extreme(svdvals(x), ord)
    elif ord in (1, -1):
        norm = _extreme(reduce(p.SUM, elementwise.abs(_floating(x)), -2, False), ord)
    elif ord in (inf, -inf):
        norm = _extreme(reduce(p.SUM, elementwise.abs(_floating(x)), -1, False), ord)
    else:
        raise ValueError(
            f"matrix_norm has no ord={ord!r}; give 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, or "
            "use vector_norm with axis=(-2, -1)"
        )
    return manipulation.reshape(norm, (*shape[:-2], 1, 1)) if keepdims else norm


def _extreme(sizes: Array, sign: float) -> Array:
    """The largest along the last axis, or the smallest if `sign` is negative."""
    if sign < 0:
        return reduce(p.MIN, sizes, -1, False)
    # The largest of no sizes is 0, which is also their sum.
    return reduce(p.MAX if sizes.shape[-1] else p.SUM, sizes, -1, False)


@with_native
def vector_norm(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: int | float = 2,
) -> Array:
    """Norm of vectors.

    axis: Where the vectors lie. Several axes, or None for all, together make one vector.
    keepdims: Whether to keep these axes, with size 1.
    ord: p of the p-norm, ``sum(abs(x)**p)**(1/p)``; infinities give the largest and the smallest
        absolute value, 0 the number of elements that are not 0.
    Returns: A new array of the real dtype of the precision of `x`. The largest of nothing is 0.
    TypeError: If `ord` is no real number.
    ValueError: If `ord` is -inf and a vector is empty.
    """
    order: object = ord
    if not isinstance(order, Real):
        raise TypeError(
            f"vector_norm takes a real number as ord, not {ord!r}; use matrix_norm for norms of "
            "matrices"
        )
    x = _floating(x)
    if ord == 2:
        # Without square roots of single elements, which abs would take of complex ones.
        if x._dtype in COMPLEX:
            squares = elementwise.conj(x)
            squares *= x
            return elementwise.sqrt(elementwise.real(reduce(p.SUM, squares, axis, keepdims)))
        return elementwise.sqrt(reduce(p.SUM, elementwise.multiply(x, x), axis, keepdims))
    if ord == 0:
        return cast(reduce(p.COUNT_NONZERO, x, axis, keepdims), p.ABS.results[x._dtype])
    sizes = elementwise.abs(x)
    if ord == 1:
        return reduce(p.SUM, sizes, axis, keepdims)
    if ord == inf:
        # The largest of no sizes is 0, which is also their sum.
        return reduce(p.MAX if x.size else p.SUM, sizes, axis, keepdims)
    if ord == -inf:
        return reduce(p.MIN, sizes, axis, keepdims)
    power = float(order)
    sizes **= power
    return reduce(p.SUM, sizes, axis, keepdims) ** (1 / power)


# ---------------------------------------------------------------------- rank and pseudo-inverse


@with_advice
def matrix_rank(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Number of singular values of each matrix that are not negligible.

    x: Shape (..., M, N).
    rtol: Singular values up to `rtol` times the largest one count as zero. An array has one value
        per matrix, or broadcasts so. By default max(M, N) times the dtype's epsilon.
    Returns: A new int64 array of shape (...).
    ValueError: If `x` has fewer than two dimensions, or `rtol` does not broadcast.
    numpy.linalg.LinAlgError: If the singular values do not converge, as with NaN in `x`.
    """
    x = only_array(x)
    rows, columns = matrix_shape("matrix_rank", x)[-2:]
    significant = _significant(svdvals(x), max(rows, columns), rtol)
    return count_nonzero(significant, axis=-1)


@with_advice
def pinv(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Moore-Penrose pseudo-inverse of each matrix.

    x: Shape (..., M, N).
    rtol: Which singular values to take for zero: as for `matrix_rank`.
    Returns: A new array of shape (..., N, M).
    ValueError: If `x` has fewer than two dimensions, or `rtol` does not broadcast.
    numpy.linalg.LinAlgError: If the singular values do not converge, as with NaN in `x`.
    """
    x = only_array(x)
    rows, columns = matrix_shape("pinv", x)[-2:]
    u, s, vh = svd(x, full_matrices=False)
    # The reciprocal of infinity is the zero that a negligible value becomes.
    s = searching.where(_significant(s, max(rows, columns), rtol), s, inf)
    scaled = _adjoint(u) * manipulation.expand_dims(elementwise.reciprocal(s), -1)
    return matmul(_adjoint(vh), scaled)


def _floating(x: Array) -> Array:
    """`x` in the floating-point dtype to compute norms in."""
    x = only_array(x)
    compute, _ = operand_dtypes(p.SQRT, x._dtype, x._device)
    return cast(x, compute)


def _significant(s: Array, size: int, rtol: float | Array | None) -> Array:
    """Which singular values, sorted from the largest one on, count as different from zero."""
    rtol = adopted(rtol, "rtol")
    if rtol is None:
        rtol = size * data_type.finfo(s._dtype).eps
    elif type(rtol) is Array:
        rtol = manipulation.expand_dims(rtol, -1)
    return elementwise.greater(s, s[..., :1] * rtol)


def _adjoint(x: Array) -> Array:
    return matrix_transpose(elementwise.conj(x) if x._dtype in COMPLEX else x)


complete_docstrings(globals(), __all__)
