"""The Dask backend: primitives over chunked arrays, computed on demand.

The CPU backend computes the chunks, so that their elements have its exact semantics. Chapters with
many primitives have mixins of their own: indexed.py and matrices.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import ceil, prod

import dask.array as da
import numpy as np

from ...contract import random_numbers
from ...contract.arguments import Handle, Kind, Operand, Padding, Run, Scalar
from ...contract.numpy_dtypes import NDArray
from ...contract.program import Program
from ...contract.replay import prepare_around
from ...contract.ufuncs import UfuncLoop
from ...core import dtypes as d
from ...core.dtypes import CANONICAL, DType
from ...primitives import table as p
from ...primitives.rules import joined_shape
from ...primitives.table import Primitive
from .chunk_programs import build
from .expressions import chunk_handle, host, on_host, task_settings
from .indexed import IndexedAccess
from .layers import chunkwise, layer, positions, rechunked, starts, tidy
from .matrices import Matrices
from .reductions import Reductions
from .views import DaskTensor


class DaskBackend(Reductions, IndexedAccess, Matrices):
    """Executes primitives on chunks, here or on a cluster, when their results are asked for."""

    # ------------------------------------------------------------------ programs

    compiler = "the CPU backend for each chunk: one layer of a Dask graph"
    compiles_unasked = False

    def prepare_compiled(self, program: Program, sizes: tuple[int, ...]) -> Run:
        """One layer of the graph, where the chunks can be computed each by itself."""
        chunked = build(program, sizes)

        def run(*handles: DaskTensor) -> tuple[DaskTensor, ...]:
            results = chunked.graph([self.array(x) for x in handles], self.grid)
            return tuple([self.tensor(result) for result in results])

        return prepare_around(self, self, program, sizes, lambda steps: run)

    # ------------------------------------------------------------------ creation

    draw_from = random_numbers.draw_from_read

    def empty(self, shape: tuple[int, ...], dtype: DType) -> DaskTensor:
        return self.full(shape, dtype, False if dtype is d.bool else 0)

    def full(self, shape: tuple[int, ...], dtype: DType, value: Scalar) -> DaskTensor:
        if not shape:
            return self.from_chunks(np.full((), value, dtype))
        return self.source("full", shape, dtype, partial(_full, dtype, value))

    def arange(
        self, start: int | float, stop: int | float, step: int | float, dtype: DType
    ) -> DaskTensor:
        whole = isinstance(start, int) and isinstance(stop, int) and isinstance(step, int)
        length = -((start - stop) // step) if whole else ceil((stop - start) / step)
        size = max(0, int(length))
        return self.source("arange", (size,), dtype, partial(_arange, dtype, start, step))

    def draw(
        self,
        kind: Kind,
        key: tuple[int, int],
        base: int,
        first: int,
        count: int,
        dtype: DType,
        low: int = 0,
        span: int = 0,
        parameters: tuple[DaskTensor | float, ...] = (),
    ) -> DaskTensor:
        scalars = tuple([x if isinstance(x, float) else None for x in parameters])
        call = partial(_drawn, kind, key, base, first, dtype, low, span, scalars)
        arrays = [x for x in parameters if not isinstance(x, float)]
        return self.source("draw", (count,), dtype, call, arrays)

    # ------------------------------------------------------------------ element by element

    def unary(self, op: Primitive, x: DaskTensor) -> DaskTensor:
        return self.elementwise("unary", (op, x), _result(op, x))

    def binary(
        self, op: Primitive, x1: Operand, x2: Operand, out: DaskTensor | None = None
    ) -> DaskTensor:
        operand = x1 if type(x1) is DaskTensor else x2
        notes = self._check_powers(operand, x2) if op is p.POW else ()
        result = self.elementwise("binary", (op, x1, x2), _result(op, operand))
        result.storage.notes += notes
        if out is None:
            return result
        if out.shape != result.shape:
            raise ValueError(
                f"operands of shape {result.shape} do not fit an output of {out.shape}"
            )
        self.assign(out, result)
        return out

    def _check_powers(self, x: Handle, exponent: Handle) -> tuple[str, ...]:
        """Raise ValueError for integers to negative integer powers; gives notes."""
        notes: tuple[str, ...] = ()
        if x.dtype.kind != "i":
            return notes
        if type(exponent) is not DaskTensor:
            negative = exponent < 0
        elif not prod(exponent.shape):
            return notes
        else:
            smallest = self.reduce(p.MIN, exponent, tuple(range(len(exponent.shape))), False)
            negative = int(self.computed(smallest, "negative exponents are an error")) < 0
            notes = ("computed the smallest exponent: negative ones are an error",)
        if negative:
            raise ValueError("integers to negative integer powers are not allowed")
        return notes

    def where(self, condition: DaskTensor, x1: Operand, x2: Operand) -> DaskTensor:
        choices = [x for x in (x1, x2) if type(x) is DaskTensor]
        return self.elementwise("where", (condition, x1, x2), choices[0].dtype)

    def apply(self, op: UfuncLoop, *operands: Operand) -> DaskTensor:
        return self.elementwise("apply", (op, *operands), op.output)

    def apply_multiple(self, op: UfuncLoop, *operands: Operand) -> tuple[DaskTensor, ...]:
        return tuple([self.apply(op.only(i), *operands) for i in range(len(op.outputs))])

    def cast(self, x: DaskTensor, dtype: DType) -> DaskTensor:
        return self.elementwise("cast", (x, dtype), dtype)

    # ------------------------------------------------------------------ sorting and searching

    def searchsorted(self, x: DaskTensor, values: DaskTensor, *, right: bool) -> DaskTensor:
        ordered = rechunked(self.array(x), {0: -1})
        array = self.array(values)
        call = partial(on_host, "searchsorted", right=right)
        return self.tensor(chunkwise("searchsorted", call, [ordered, array], array.chunks, d.int64))

    # ------------------------------------------------------------------ movement that copies

    def pad(self, x: DaskTensor, padding: Padding, value: Scalar) -> DaskTensor:
        result, dtype = self.copy(x), self.dtype(x)
        for axis, (before, after) in enumerate(padding):
            shape = result.shape
            low, high = [
                self.full((*shape[:axis], n, *shape[axis + 1 :]), dtype, value)
                for n in (before, after)
            ]
            result = self.cat([low, result, high], axis)
        return result

    def cat(self, arrays: Sequence[DaskTensor], axis: int) -> DaskTensor:
        shape = joined_shape([x.shape for x in arrays], axis)
        if 0 in shape:
            return self.full(shape, self.dtype(arrays[0]), False)
        parts = [self.array(x) for x in arrays if x.shape[axis]]
        return self.tensor(da.concatenate(parts, axis))

    def repeat(self, x: DaskTensor, repeats: int | DaskTensor, axis: int) -> DaskTensor:
        shape = x.shape
        if isinstance(repeats, int):
            counts: NDArray = np.full(shape[axis], repeats, np.int64)
            notes: tuple[str, ...] = ()
        else:
            counts = self.computed(repeats, "the result's shape depends on it")
            notes = ("computed the repeats: the result's shape depends on them",)
        total = int(counts.sum())
        if not total * prod(shape):
            return self.full((*shape[:axis], total, *shape[axis + 1 :]), self.dtype(x), False)
        array = tidy(self.array(x))
        # Chunks get longer; they are cut before, so that they do not get too long.
        sizes = array.chunks[axis]
        most = max(1, max(sizes) * array.shape[axis] // total)
        array = rechunked(array, {axis: tuple(_cut(sizes, most))})
        begins = starts(array.chunks[axis])
        parts = [counts[b : b + n] for b, n in zip(begins, array.chunks[axis], strict=True)]
        tasks = {
            index: (partial(_repeated, parts[index[axis]], axis), (array.name, *index))
            for index in positions(array.numblocks)
        }
        longer = tuple([int(part.sum()) for part in parts])
        chunks = (*array.chunks[:axis], longer, *array.chunks[axis + 1 :])
        return self.tensor(tidy(layer("repeat", tasks, [array], chunks, x.dtype)), *notes)


def _cut(sizes: tuple[int, ...], most: int) -> list[int]:
    """`sizes` cut into pieces of at most `most`."""
    return [min(most, n - i) for n in sizes for i in range(0, n, most)]


def _result(op: Primitive, x: Handle) -> DType:
    return op.results[CANONICAL[x.dtype]]


# ---------------------------------------------------------------------- tasks


def _full(dtype: DType, value: Scalar, begin: tuple[int, ...], shape: tuple[int, ...]) -> NDArray:
    # One element, repeated: no task writes to its chunks.
    return np.broadcast_to(np.full((), value, dtype), shape)


def _drawn(
    kind: Kind,
    key: tuple[int, int],
    base: int,
    first: int,
    dtype: DType,
    low: int,
    span: int,
    scalars: tuple[float | None, ...],
    begin: tuple[int, ...],
    shape: tuple[int, ...],
    *arrays: NDArray,
) -> NDArray:
    (skipped,), (n,) = begin, shape
    handles = iter([chunk_handle(array) for array in arrays])
    parameters = tuple([next(handles) if x is None else x for x in scalars])
    first += skipped
    with task_settings():
        drawn = host.draw(kind, key, base, first, n, CANONICAL[dtype], low, span, parameters)
        return host.to_host(drawn)


def _arange(
    dtype: DType,
    start: int | float,
    step: int | float,
    begin: tuple[int, ...],
    shape: tuple[int, ...],
) -> NDArray:
    """A part of what np.arange gives, to the last bit."""
    (first,), (n,) = begin, shape
    if dtype.kind != "f":
        low = start + first * step
        return np.arange(low, low + n * step, step, dtype=dtype)
    head = np.asarray([start, start + step], dtype)
    values: NDArray = head[0] + np.arange(first, first + n).astype(dtype) * (head[1] - head[0])
    known = head[first : first + n]
    values[: len(known)] = known
    return values


def _repeated(counts: NDArray, axis: int, chunk: NDArray) -> NDArray:
    return chunk.repeat(counts, axis)
