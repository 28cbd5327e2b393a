"""Trials of the sections "matrices", "Fourier transforms", "windows" and "linear algebra".

The results of decompositions are not compared, but put together again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from ...contract.arguments import Norm, Overlap, Padding
from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.dtypes import DType
from ...primitives import table as p
from ...primitives.rules import window_counts
from .layouts import Oracle, limits, small, spread
from .trials import Arguments, Trials

Shape: TypeAlias = tuple[int, ...]

# ---------------------------------------------------------------------- products


def products(dtype: DType) -> Iterator[Arguments]:
    shapes: list[tuple[Shape, Shape]] = [
        *(((3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 3)), ((4,), (4,)), ((4,), (2, 4, 3))),
        *(((2, 3, 4), (4,)), ((1, 1), (1, 1)), ((0, 4), (4, 5)), ((3, 0), (0, 5))),
        *(((3, 4), (4, 0)), ((0, 3, 4), (4, 5)), ((0,), (0,)), ((0,), (0, 3))),
    ]
    for shape1, shape2 in shapes:
        for start in (0, 2) if 0 not in (*shape1, *shape2) else (0,):
            yield small(dtype, shape1, start), small(dtype, shape2, start=2)
    if dtype in d.INTEGRAL:  # which wrap around
        yield spread(limits(dtype), (3, 4)), spread(limits(dtype), (4, 2))


def vector_products(dtype: DType) -> Iterator[Arguments]:
    for shape1, shape2 in (((4,), (4,)), ((2, 1, 4), (3, 4)), ((3, 0), (3, 0)), ((0, 4), (4,))):
        for start in (0, 3):
            yield small(dtype, shape1, start), small(dtype, shape2, start=2)


def convolutions(dtype: DType) -> Iterator[Arguments]:
    modes: tuple[Overlap, ...] = ("full", "same", "valid")
    for size, taps in ((7, 3), (6, 4), (5, 5), (3, 1), (1, 1)):
        for mode in modes:
            yield small(dtype, (size,)), small(dtype, (taps,), start=2), mode


# ---------------------------------------------------------------------- Fourier transforms

NORMS: tuple[Norm, ...] = ("backward", "ortho", "forward")
AXES = [(0,), (2,), (0, 2), (2, 0), (1,), (0, 1, 2)]


def _transform(name: str) -> Oracle:
    function = getattr(np.fft, f"{name}n")
    return lambda x, axes, norm: function(x, axes=axes, norm=norm)


def transforms(dtype: DType) -> Iterator[Arguments]:
    for axes, norm in product(AXES, NORMS):
        yield small(dtype, (3, 1, 4)), axes, norm
    yield np.empty((0, 3), dtype), (1,), "backward"


def inverse_transforms(dtype: DType) -> Iterator[Arguments]:
    real = p.IRFFT.results[dtype]
    for shape, axes, norm in product(((3, 1, 4), (2, 3, 5)), AXES, NORMS):
        x = np.fft.rfftn(small(real, shape), axes=axes, norm=norm).astype(dtype)
        yield x, axes, shape[axes[-1]], norm
    yield np.empty((0, 3), dtype), (1,), 4, "backward"


def inverse(x: NDArray, axes: Shape, size: int, norm: Norm) -> NDArray:
    return np.fft.irfftn(x, [*[x.shape[axis] for axis in axes[:-1]], size], axes, norm)


def is_spectrum(x: NDArray, axes: Shape, size: int, norm: Norm) -> bool:
    """Whether `x` is a transform of real numbers, as its layout has changed it."""
    back = np.fft.rfftn(inverse(x, axes, size, norm), axes=axes, norm=norm)
    return np.allclose(back, x, atol=1e-4)


# ---------------------------------------------------------------------- windows

Windows: TypeAlias = tuple[Shape, Shape, Shape, Padding]
"""Kernel, stride, dilation, padding."""

# For two axes of size 5.
WINDOWS: list[Windows] = [
    ((1, 1), (1, 1), (1, 1), ((0, 0), (0, 0))),
    ((2, 3), (1, 1), (1, 1), ((0, 0), (0, 0))),
    ((2, 3), (2, 1), (1, 2), ((1, 0), (0, 2))),
    ((3, 3), (1, 3), (2, 1), ((2, 2), (1, 1))),
    ((5, 5), (1, 1), (1, 1), ((0, 0), (0, 0))),
    ((2, 1), (4, 5), (1, 1), ((9, 9), (0, 7))),
    ((7, 6), (1, 1), (1, 1), ((1, 1), (0, 1))),
]


def unfolded(x: NDArray, *windows: Any) -> NDArray:
    kernel, stride, dilation, padding = windows
    lead = x.shape[: x.ndim - len(kernel)]
    counts = window_counts(x.shape[len(lead) :], *windows)
    x = x if x.ndim == 0 else np.pad(x, [*[(0, 0)] * len(lead), *padding])
    rows = []
    for where in np.ndindex(*kernel):
        starts = [k * gap for k, gap in zip(where, dilation, strict=True)]
        each = zip(starts, counts, stride, strict=True)
        place: Any = tuple([slice(k, k + (n - 1) * step + 1, step) for k, n, step in each])
        rows.append(x[(..., *place)].reshape(*lead, 1, int(np.prod(counts))))
    return np.concatenate(rows, -2)


def folded(x: NDArray, sizes: Shape, *windows: Any) -> NDArray:
    """Each element is added at the position that `unfolded` has it from; padding is position 0."""
    count = int(np.prod(sizes))
    places = unfolded(np.arange(1, count + 1).reshape(sizes), *windows)
    result = np.zeros((*x.shape[:-2], count + 1), x.dtype)
    every: Any = (..., places)
    np.add.at(result, every, x)
    return result[..., 1:].reshape((*x.shape[:-2], *sizes))


def of_any_dimension(dtype: DType) -> Iterator[tuple[NDArray, Shape, Windows]]:
    """Arrays, their last sizes, and windows over these."""
    for windows in WINDOWS:
        yield spread(small(dtype, (25,)), (2, 1, 5, 5)), (5, 5), windows
    if dtype is d.float64:
        for ndim, lead in product(range(4), ((), (2,), (0, 3))):
            sizes = tuple(range(3, 3 + ndim))
            over = (2,) * ndim, (1,) * ndim, (1,) * ndim, ((1, 0),) * ndim
            yield small(dtype, (*lead, *sizes)), sizes, over


def unfolds(dtype: DType) -> Iterator[Arguments]:
    for windows in WINDOWS:
        yield spread(limits(dtype), (2, 1, 5, 5)), *windows
    for x, _, over in of_any_dimension(dtype):
        yield x, *over


def folds(dtype: DType) -> Iterator[Arguments]:
    for x, sizes, windows in of_any_dimension(dtype):
        yield small(dtype, unfolded(x, *windows).shape), sizes, *windows


# ---------------------------------------------------------------------- linear algebra


def square(dtype: DType, n: int = 3) -> NDArray:
    """Two well-conditioned matrices."""
    numbers = np.arange(2 * n * n).reshape(2, 1, n, n) * 7 % 5 - 2
    values = (numbers + 5 * np.eye(n)).astype(dtype)
    if dtype in d.COMPLEX:
        values.imag = np.flip(values.real, -1) / 4
    return values


def adjoint(x: NDArray) -> NDArray:
    return np.conj(np.swapaxes(x, -1, -2))


def hermitian(dtype: DType) -> NDArray:
    values = square(dtype)
    return values @ adjoint(values)


EMPTY: tuple[Shape, ...] = ((0, 2, 2), (0, 0), (3, 0, 0))


def of_matrices(
    *matrices: Callable[[DType], NDArray], flag: bool = False
) -> Callable[[DType], Iterator[Arguments]]:
    """Trials of matrices and of none, with either value of a `flag` that the method takes."""

    def trials(dtype: DType) -> Iterator[Arguments]:
        every = [make(dtype) for make in matrices] + [np.empty(shape, dtype) for shape in EMPTY]
        for x in every:
            yield from [(x, False), (x, True)] if flag else [(x,)]

    return trials


def tall(dtype: DType) -> NDArray:
    return np.concatenate([square(dtype), square(dtype)[..., :1, :]], -2)


def wide(dtype: DType) -> NDArray:
    return adjoint(tall(dtype)).copy()


def is_regular(x: NDArray, *others: object) -> bool:
    """Whether a layout has kept a matrix invertible."""
    return bool((np.abs(np.linalg.det(x)) > 1).all())


def is_definite(x: NDArray, *others: object) -> bool:
    """Whether a layout has kept a matrix Hermitian, with positive eigenvalues."""
    return np.allclose(x, adjoint(x)) and is_regular(x)


def identity(x: NDArray, n: int) -> NDArray:
    """Identities in the shape of the stack `x`."""
    return np.broadcast_to(np.eye(n), (*x.shape[:-2], n, n)).astype(x.dtype)


def factored(factor: NDArray, x: NDArray, upper: bool) -> tuple[NDArray, NDArray]:
    """The matrix of a Cholesky factor, and the part of the factor that must be zero."""
    whole = adjoint(factor) @ factor if upper else factor @ adjoint(factor)
    return whole, np.tril(factor, -1) if upper else np.triu(factor, 1)


def triangular(found: tuple[NDArray, NDArray], x: NDArray, complete: bool) -> tuple[NDArray, ...]:
    q, r = found
    return q @ r, adjoint(q) @ q, np.tril(r, -1)


def qr_of(x: NDArray, complete: bool) -> tuple[NDArray, ...]:
    rows, columns = x.shape[-2:]
    inner = rows if complete else min(rows, columns)
    return x, identity(x, inner), np.zeros((*x.shape[:-2], inner, columns), x.dtype)


def multiplied(found: tuple[NDArray, ...], x: NDArray, full: bool) -> tuple[NDArray, ...]:
    u, s, vh = found
    rank = s.shape[-1]
    whole = (u[..., :rank] * s[..., None, :]) @ vh[..., :rank, :]
    return whole, adjoint(u) @ u, vh @ adjoint(vh), -np.sort(-s), s


def svd_of(x: NDArray, full: bool) -> tuple[NDArray, ...]:
    rows, columns = x.shape[-2:]
    rank = min(rows, columns)
    left, right = (rows, columns) if full else (rank, rank)
    s = np.linalg.svd(x, compute_uv=False)
    return x, identity(x, left), identity(x, right), s, s


def traces(found: NDArray, x: NDArray) -> tuple[NDArray, ...]:
    """Sums of eigenvalues and of their squares, and how many there are."""
    return found.sum(-1), (found**2).sum(-1), np.zeros(found.shape)


def traces_of(results: dict[DType, DType]) -> Callable[[NDArray], tuple[NDArray, ...]]:
    def oracle(x: NDArray) -> tuple[NDArray, ...]:
        dtype = results[x.dtype]
        sums = [np.trace(each, axis1=-2, axis2=-1) for each in (x, x @ x)]
        sums = [each.real if dtype in d.REAL else each for each in sums]
        return *[each.astype(dtype) for each in sums], np.zeros(x.shape[:-1])

    return oracle


def ascending_traces(found: NDArray, x: NDArray) -> tuple[NDArray, ...]:
    return traces(np.sort(found) if (np.diff(found) >= 0).all() else found * np.nan, x)


def determinant(x: NDArray) -> NDArray:
    """Of 3 by 3 matrices, by the rule of Sarrus; 1 of no elements."""
    if 0 in x.shape:
        return np.ones(x.shape[:-2], x.dtype)
    a, b, c = x[..., 0, :], x[..., 1, :], x[..., 2, :]
    return np.asarray(np.sum(a * np.cross(b, c), axis=-1))


def equations(dtype: DType) -> Iterator[Arguments]:
    x = square(dtype)
    for right in (x[0, 0], x[..., :1], square(dtype, 6)[:, 0, None, :3, :5]):
        yield x, right.copy()
    for shape in EMPTY:
        yield np.empty(shape, dtype), np.empty(shape, dtype)


def right_side(x1: NDArray, x2: NDArray, *flags: bool) -> NDArray:
    lead = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    return np.broadcast_to(x2, (*lead, *x2.shape[-2:]))


CLOSE = 1e-11

TRIALS: dict[str, Trials] = {
    # NumPy multiplies matrices of another package's dtype in float32.
    "matmul": Trials(lambda x1, x2: np.matmul(x1, x2).astype(x1.dtype), products, ulp=1),
    "vecdot": Trials(lambda x1, x2: np.sum(np.conj(x1) * x2, -1, x1.dtype), vector_products, ulp=1),
    "convolve": Trials(np.convolve, convolutions, ulp=1),
    **{name: Trials(_transform(name), transforms, rtol=1e-12) for name in ("fft", "ifft", "rfft")},
    "irfft": Trials(inverse, inverse_transforms, rtol=1e-12, suits=is_spectrum),
    "unfold": Trials(unfolded, unfolds),
    "fold": Trials(folded, folds),
    "cholesky": Trials(
        lambda x, upper: (x, np.zeros(x.shape, x.dtype)), of_matrices(hermitian, flag=True),
        rtol=CLOSE, suits=is_definite, seen=factored),
    "qr": Trials(qr_of, of_matrices(square, tall, wide, flag=True), rtol=CLOSE, seen=triangular),
    "svd": Trials(svd_of, of_matrices(square, tall, wide, flag=True), rtol=CLOSE, seen=multiplied),
    "svdvals": Trials(
        lambda x: np.linalg.svd(x, compute_uv=False), of_matrices(square, tall, wide), rtol=CLOSE),
    "eig": Trials(
        lambda x: (np.zeros(x.shape, p.EIG.results[x.dtype]), np.zeros(x.shape[:-1])),
        of_matrices(square), rtol=CLOSE,
        seen=lambda found, x: (
            x @ found[1] - found[0][..., None, :] * found[1], np.zeros(found[0].shape))),
    "eigvals": Trials(traces_of(p.EIGVALS.results), of_matrices(square), rtol=CLOSE, seen=traces),
    "eigvalsh": Trials(
        traces_of(p.EIGVALSH.results), of_matrices(hermitian),
        rtol=CLOSE, suits=is_definite, seen=ascending_traces),
    "eigh": Trials(
        lambda x: (x, np.sort(np.linalg.eigvalsh(x))), of_matrices(hermitian),
        rtol=CLOSE, suits=is_definite,
        seen=lambda found, x: (
            (found[1] * found[0][..., None, :]) @ adjoint(found[1]), found[0])),
    "solve": Trials(
        right_side, equations,
        rtol=CLOSE, suits=is_regular, seen=lambda found, x1, x2: x1 @ found),
    "inv": Trials(
        lambda x: identity(x, x.shape[-1]), of_matrices(square),
        rtol=CLOSE, suits=is_regular, seen=lambda found, x: x @ found),
    "det": Trials(determinant, of_matrices(square), rtol=CLOSE),
    "slogdet": Trials(
        determinant, of_matrices(square),
        rtol=CLOSE, seen=lambda found, x: found[0] * np.exp(found[1])),
}  # fmt: skip
