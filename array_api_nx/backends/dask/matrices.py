"""Products of matrices of the Dask backend, and decompositions of tall ones.

Matrices with many more rows than columns stay cut into blocks of rows for `qr` and `svd`. Other
matrices are one chunk each (`DaskMemory.in_pieces`).
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Final

import dask.array as da
import numpy as np

from ...contract.numpy_dtypes import NDArray
from ...core.dtypes import CANONICAL, DType
from ...core.shape import broadcast_shapes
from ...primitives import table as p
from .expressions import on_host
from .layers import ChunkIndex, Part, Task, aligned, chunkwise, layer, rechunked, tidy, tree
from .storage import DaskMemory
from .views import DaskTensor


class Matrices(DaskMemory):
    """Methods of "matrices" and "linear algebra" that do not need each matrix in one chunk."""

    # ------------------------------------------------------------------ matrices

    def matmul(self, x1: DaskTensor, x2: DaskTensor) -> DaskTensor:
        first, second = self.arrays(x1, x2)
        # A vector is a row or a column that the result lacks.
        lost = [axis for axis, x in ((-2, first), (-1, second)) if x.ndim == 1]
        first = first[None, :] if first.ndim == 1 else first
        second = second[:, None] if second.ndim == 1 else second
        batch = broadcast_shapes(first.shape[:-2], second.shape[:-2])
        shape = (*batch, first.shape[-2], second.shape[-1])
        if not prod(shape) * first.shape[-1]:
            kept = [n for axis, n in enumerate(shape, -len(shape)) if axis not in lost]
            return self.full(tuple(kept), self.dtype(x1), 0)
        product = self._product(tidy(first), tidy(second), batch)
        drop = tuple([0 if axis in lost else slice(None) for axis in range(-product.ndim, 0)])
        return self.tensor(product[drop] if lost else product)

    def _product(self, first: da.Array, second: da.Array, batch: tuple[int, ...]) -> da.Array:
        # Products may be larger than their factors.
        chunks = self.grid.chunks((*batch, first.shape[-2], second.shape[-1]), first.dtype)
        if max(first.chunks[-2]) * max(second.chunks[-1]) * first.dtype.itemsize > self.grid.limit:
            first = rechunked(first, {first.ndim - 2: chunks[-2]})
            second = rechunked(second, {second.ndim - 1: chunks[-1]})
        # Axes: batch, rows, contracted, columns.
        left, right = first[..., None], second[..., None, :, :]
        shape = (*batch, first.shape[-2], first.shape[-1], second.shape[-1])
        (left, right), chunks = aligned([left, right], shape)
        contracted = len(shape) - 2
        ones = (*chunks[:contracted], (1,) * len(chunks[contracted]), chunks[-1])
        partial_products = chunkwise("matmul", _multiplied, [left, right], ones, first.dtype)
        return tree(
            "matmul",
            partial_products,
            (contracted,),
            partial(_added, CANONICAL[first.dtype]),
            partial(np.squeeze, axis=contracted),
            (*chunks[:contracted], chunks[-1]),
            first.dtype,
        )

    # ------------------------------------------------------------------ linear algebra

    def qr(self, x: DaskTensor, *, complete: bool) -> tuple[DaskTensor, DaskTensor]:
        if not complete and self._is_tall(x):
            return self._tall_qr(x)
        found: tuple[DaskTensor, DaskTensor] = self.in_pieces("qr", [x, complete])
        return found

    def svd(
        self, x: DaskTensor, *, full_matrices: bool
    ) -> tuple[DaskTensor, DaskTensor, DaskTensor]:
        m, n = x.shape[-2:]
        if not full_matrices and self._is_tall(x):
            q, r = self._tall_qr(x)
            u, s, vh = self.svd(r, full_matrices=False)
            return self.matmul(q, u), s, vh
        if not full_matrices and m < n and len(x.shape) == 2:
            transposed = self.unary(p.CONJ, self.permute(x, (1, 0)))
            if self._is_tall(transposed):
                v, s, uh = self.svd(transposed, full_matrices=False)
                u, vh = [self.unary(p.CONJ, self.permute(part, (1, 0))) for part in (uh, v)]
                return u, s, vh
        found: tuple[DaskTensor, DaskTensor, DaskTensor] = self.in_pieces("svd", [x, full_matrices])
        return found

    def svdvals(self, x: DaskTensor) -> DaskTensor:
        if self._is_tall(x):
            return self.svdvals(self.qr(x, complete=False)[1])
        found: DaskTensor = self.in_pieces("svdvals", [x])
        return found

    # ------------------------------------------------------------------ tall matrices

    def _is_tall(self, x: DaskTensor) -> bool:
        """Whether `x` is one matrix of more than a chunk, and of many more rows than columns."""
        if len(x.shape) != 2 or not prod(x.shape):
            return False
        m, n = x.shape
        # Each block of rows leaves one of n rows.
        rows = self._block_rows(x)
        return m > rows and rows >= 2 * n

    def _block_rows(self, x: DaskTensor) -> int:
        return max(1, self.grid.limit // (x.dtype.itemsize * x.shape[1]))

    def _rows(self, x: DaskTensor) -> da.Array:
        """A matrix cut into blocks of whole rows."""
        array = tidy(self.array(x))
        rows = self._block_rows(x)
        n = x.shape[1]
        if array.numblocks[1] == 1 and 2 * n <= min(array.chunks[0]) <= rows:
            return array
        count = -(-x.shape[0] // rows)
        size, more = divmod(x.shape[0], count)
        return rechunked(array, (tuple([size + (i < more) for i in range(count)]), (n,)))

    def _tall_qr(self, x: DaskTensor) -> tuple[DaskTensor, DaskTensor]:
        """QR of a matrix in blocks of rows: of the blocks, and of what their R make up.

        J. Demmel, L. Grigori, M. Hoemmen, J. Langou, Communication-optimal parallel and sequential
        QR and LU factorizations (2012).
        """
        array, n = self._rows(x), x.shape[1]
        rows = array.chunks[0]
        blocks = range(len(rows))
        heights = tuple([min(height, n) for height in rows])
        tasks: dict[ChunkIndex, Task] = {(i, 0): (_r, (array.name, i, 0)) for i in blocks}
        stacked = self.tensor(layer("qr", tasks, [array], (heights, (n,)), array.dtype))
        upper, r = self.qr(stacked, complete=False)
        pieces = rechunked(self.array(upper), (heights, (n,)))
        # Made again for Q, which may not be computed, so that the blocks need not be kept for it.
        array = self._rows(x)
        tasks = {(i, 0): (_q, (array.name, i, 0), (pieces.name, i, 0)) for i in blocks}
        return self.tensor(layer("qr", tasks, [array, pieces], (rows, (n,)), array.dtype)), r


_CACHED: Final = 1 << 20
"""About how many bytes of rows are decomposed at a time."""


def _tiles(block: NDArray) -> tuple[NDArray, NDArray]:
    """A block of rows as a stack of lower ones, which fit in the cache, and the rest."""
    rows, n = block.shape
    height = max(2 * n, _CACHED // (block.itemsize * n))
    count = max(0, rows // height - 1)
    cut = count * height
    return block[:cut].reshape(count, height, n), block[cut:]


def _r(block: NDArray) -> NDArray:
    tiles, rest = _tiles(block)
    parts = [_triangle(tiles).reshape(-1, block.shape[1]), _triangle(rest)]
    return _triangle(np.concatenate(parts))


def _triangle(block: NDArray) -> NDArray:
    found: Part = np.linalg.qr(block, "r")
    return found


def _q(block: NDArray, factor: NDArray) -> NDArray:
    """The rows of Q for a block whose R of `_r` is a block of a matrix with the Q `factor`."""
    tiles, rest = _tiles(block)
    # Products of small matrices may be rounded as their axes lie.
    factor = np.ascontiguousarray(factor)
    n = block.shape[1]
    q, r = np.linalg.qr(tiles)
    q_rest, r_rest = np.linalg.qr(rest)
    inner = np.linalg.qr(np.concatenate([r.reshape(-1, n), r_rest]))[0] @ factor
    cut = len(tiles) * n
    upper = (q @ inner[:cut].reshape(-1, n, n)).reshape(-1, n)
    return np.concatenate([upper, q_rest @ inner[cut:]])


def _multiplied(left: NDArray, right: NDArray) -> NDArray:
    """Blocks (..., rows, contracted, 1) and (..., 1, contracted, columns): one matrix product."""
    product: NDArray = on_host("matmul", left[..., 0], right[..., 0, :, :])
    return product[..., :, None, :]


def _added(dtype: DType, parts: list[NDArray]) -> NDArray:
    total: NDArray = on_host("reduce", p.SUM, np.stack(parts), (0,), False, dtype)
    return total
