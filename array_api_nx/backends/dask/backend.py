"""The Dask backend: primitives over chunked arrays, computed when somebody asks.

The CPU backend computes the chunks, so that their elements have its exact semantics. Chapters with
many primitives have mixins of their own: indexed.py and matrices.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil, prod

import dask.array as da
import numpy as np

from ...contract import primitives as p
from ...contract.backend import Handle, Operand, Padding, Scalar
from ...contract.numpy_dtypes import NDArray
from ...contract.primitives import Primitive
from ...contract.program import Program
from ...contract.random_numbers import Kind
from ...contract.replay import Run, prepare_around
from ...contract.ufuncs import UfuncLoop
from ...core import dtypes as d
from ...core.dtypes import CANONICAL, DType
from ...core.shape import broadcast_shapes
from ..cpu.kernels import divide_by_count
from .chunk_programs import build
from .expressions import ChunkProgram, Step, chunk_handle, host, on_host, traced
from .indexed import IndexedAccess
from .layers import (
    ChunkIndex,
    Chunks,
    Part,
    Task,
    blockwise,
    combined,
    layer,
    name_of,
    partials,
    positions,
    starts,
    tidy,
    tree,
)
from .matrices import Matrices
from .views import DaskTensor

__all__ = ["DaskBackend"]


class DaskBackend(IndexedAccess, Matrices):
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

    def linspace(
        self, start: Scalar, stop: Scalar, num: int, dtype: DType, *, endpoint: bool
    ) -> DaskTensor:
        call = partial(_linspace, dtype, start, stop, num, endpoint)
        return self.source("linspace", (num,), dtype, call)

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

    def draw_from(
        self,
        kind: Kind,
        key: DaskTensor,
        counter: DaskTensor,
        offset: int,
        count: int,
        dtype: DType,
        low: int = 0,
        span: int = 0,
        parameters: tuple[DaskTensor | float, ...] = (),
    ) -> DaskTensor:
        whole, base = int(self.to_host(key)), int(self.to_host(counter)) + offset
        words = whole & 0xFFFFFFFF, (whole >> 32) & 0xFFFFFFFF
        return self.draw(kind, words, base, 0, count, dtype, low, span, parameters)

    # ------------------------------------------------------------------ element by element

    def unary(self, op: Primitive, x: DaskTensor) -> DaskTensor:
        return self.elementwise("unary", (op, x), x.shape, _result(op, x))

    def binary(
        self, op: Primitive, x1: Operand, x2: Operand, out: DaskTensor | None = None
    ) -> DaskTensor:
        shape = broadcast_shapes(*[x.shape for x in (x1, x2) if type(x) is DaskTensor])
        if out is not None and out.shape != shape:
            raise ValueError(f"operands of shape {shape} do not fit an output of {out.shape}")
        operand = x1 if type(x1) is DaskTensor else x2
        notes = self._check_powers(operand, x2) if op is p.POW else ()
        result = self.elementwise("binary", (op, x1, x2), shape, _result(op, operand))
        result.storage.notes += notes
        if out is None:
            return result
        self.assign(out, result)
        return out

    def _check_powers(self, x: Handle, exponent: Handle) -> tuple[str, ...]:
        """Raise ValueError for integers to negative integer powers; tells what was computed."""
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
        handles = [x for x in (condition, x1, x2) if type(x) is DaskTensor]
        shape = broadcast_shapes(*[x.shape for x in handles])
        return self.elementwise("where", (condition, x1, x2), shape, handles[1].dtype)

    def apply(self, op: UfuncLoop, *operands: Operand) -> DaskTensor:
        shape = broadcast_shapes(*[x.shape for x in operands if type(x) is DaskTensor])
        return self.elementwise("apply", (op, *operands), shape, op.output)

    def apply_multiple(self, op: UfuncLoop, *operands: Operand) -> tuple[DaskTensor, ...]:
        return tuple([self.apply(op.only(i), *operands) for i in range(len(op.outputs))])

    def cast(self, x: DaskTensor, dtype: DType) -> DaskTensor:
        return self.elementwise("cast", (x, dtype), x.shape, dtype)

    # ------------------------------------------------------------------ reductions and scans

    def reduce(
        self,
        op: Primitive,
        x: DaskTensor,
        axes: tuple[int, ...],
        keepdims: bool,
        dtype: DType | None = None,
    ) -> DaskTensor:
        if not prod(x.shape):
            return self.at_once("reduce", op, x, axes, keepdims, dtype)
        if op is p.MEAN:
            total = self.array(self.reduce(p.SUM, x, axes, keepdims, dtype))
            count = float(prod([x.shape[axis] for axis in axes]))
            call = partial(_divide, count)
            return self.tensor(blockwise("mean", call, [total], total.chunks, total.dtype))
        result = dtype or op.results[CANONICAL[x.dtype]]
        merging = p.SUM if op is p.COUNT_NONZERO else op
        return self._folded(
            op.name,
            x,
            axes,
            keepdims,
            ("reduce", (op, axes, True, dtype)),
            partial(_merge, merging, CANONICAL[result]),
            result,
        )

    def var(
        self, x: DaskTensor, axes: tuple[int, ...], keepdims: bool, correction: float
    ) -> DaskTensor:
        if not prod(x.shape):
            return self.at_once("var", x, axes, keepdims, correction)
        array = tidy(self.array(x))
        result = p.VAR.results[CANONICAL[x.dtype]]
        moments = partials("moments", array, partial(_moments, axes))
        return self.tensor(
            tree(
                "var",
                moments,
                axes,
                _merge_moments,
                partial(_variance, axes, keepdims, correction, result),
                _reduced(array.chunks, axes, keepdims),
                result,
            )
        )

    def _folded(
        self,
        label: str,
        x: DaskTensor,
        axes: tuple[int, ...],
        keepdims: bool,
        step: Step,
        merge: Callable[[list[Part]], Part],
        dtype: DType,
    ) -> DaskTensor:
        """What waits for `x` and one more step, in a single task per chunk, folded over `axes`."""
        steps, leaves, last = traced(x.value(self.grid), self.grid)
        method, arguments = step
        program = ChunkProgram(
            [*steps, (method, (arguments[0], last, *arguments[1:]))], len(leaves)
        )
        cut, chunks = combined(leaves, x.shape, self.grid)
        ones = tuple([(1,) * len(c) if i in axes else c for i, c in enumerate(chunks)])
        first = blockwise(program.label, program, cut, ones, dtype)
        finish = _kept if keepdims else partial(_squeezed, axes)
        return self.tensor(
            tree(label, first, axes, merge, finish, _reduced(chunks, axes, keepdims), dtype)
        )

    def arg_reduce(self, op: Primitive, x: DaskTensor, axis: int, keepdims: bool) -> DaskTensor:
        if not prod(x.shape):
            return self.at_once("arg_reduce", op, x, axis, keepdims)
        array = tidy(self.array(x))
        extremes = partials(op.name, array, partial(_extreme, op, axis), axis)
        return self.tensor(
            tree(
                op.name,
                extremes,
                (axis,),
                partial(_merge_extremes, op, axis),
                partial(_position, axis, keepdims),
                _reduced(array.chunks, (axis,), keepdims),
                d.int64,
            )
        )

    def scan(
        self, op: Primitive, x: DaskTensor, axis: int, dtype: DType | None = None
    ) -> DaskTensor:
        if not prod(x.shape):
            return self.at_once("scan", op, x, axis, dtype)
        array = tidy(self.array(x))
        result = dtype or op.results[CANONICAL[x.dtype]]
        call = partial(_scan, op, axis, dtype)
        inner = layer(
            op.name,
            {index: (call, (array.name, *index)) for index in positions(array.numblocks)},
            [array],
            array.chunks,
            result,
        )
        ones = (*array.chunks[:axis], (1,) * array.numblocks[axis], *array.chunks[axis + 1 :])
        carried: dict[ChunkIndex, Task] = {}
        joined: dict[ChunkIndex, Task] = {}
        # What is carried past a chunk is what was carried up to it, and its total.
        name = name_of("carry")
        for index in positions(array.numblocks):
            before = (*index[:axis], index[axis] - 1, *index[axis + 1 :])
            key = (inner.name, *index)
            if index[axis] == 0:
                joined[index] = key
                carried[index] = (partial(_last, axis), key)
            else:
                joined[index] = (partial(_carried, op), (name, *before), key)
                carried[index] = (
                    partial(_carried, op),
                    (name, *before),
                    (partial(_last, axis), key),
                )
        carry = layer("carry", carried, [inner], ones, result, name)
        return self.tensor(layer(op.name, joined, [inner, carry], array.chunks, result))

    # ------------------------------------------------------------------ sorting and searching

    def sort(self, x: DaskTensor, axis: int, *, descending: bool, stable: bool) -> DaskTensor:
        options = {"descending": descending, "stable": stable}
        return self.along("sort", x, (axis,), {}, self.dtype(x), axis, **options)

    def argsort(self, x: DaskTensor, axis: int, *, descending: bool, stable: bool) -> DaskTensor:
        options = {"descending": descending, "stable": stable}
        return self.along("argsort", x, (axis,), {}, d.int64, axis, **options)

    def searchsorted(self, x: DaskTensor, values: DaskTensor, *, right: bool) -> DaskTensor:
        ordered = self.array(x).rechunk({0: -1})
        array = self.array(values)
        call = partial(_searched, right)
        tasks = {
            index: (call, (ordered.name, 0), (array.name, *index))
            for index in positions(array.numblocks)
        }
        int64 = d.int64
        return self.tensor(layer("searchsorted", tasks, [ordered, array], array.chunks, int64))

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
        first = arrays[0].shape
        for x in arrays:
            if (x.shape[:axis], x.shape[axis + 1 :]) != (first[:axis], first[axis + 1 :]):
                raise ValueError(
                    f"cannot join shapes {first} and {x.shape} along axis {axis}; all other "
                    "dimensions must agree"
                )
        total = sum([x.shape[axis] for x in arrays])
        if not prod(first[:axis]) * prod(first[axis + 1 :]) * total:
            shape = (*first[:axis], total, *first[axis + 1 :])
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
        array = array.rechunk({axis: tuple(_cut(sizes, most))})
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


def _reduced(chunks: Chunks, axes: tuple[int, ...], keepdims: bool) -> Chunks:
    if keepdims:
        return tuple([(1,) if i in axes else c for i, c in enumerate(chunks)])
    return tuple([c for i, c in enumerate(chunks) if i not in axes])


# ---------------------------------------------------------------------- tasks


def _full(dtype: DType, value: Scalar, begin: tuple[int, ...], shape: tuple[int, ...]) -> NDArray:
    # One element, repeated: nobody writes to chunks.
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
    return host.to_host(host.draw(kind, key, base, first, n, dtype, low, span, parameters))


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


def _linspace(
    dtype: DType,
    start: Scalar,
    stop: Scalar,
    num: int,
    endpoint: bool,
    begin: tuple[int, ...],
    shape: tuple[int, ...],
) -> NDArray:
    """A part of what np.linspace gives, to the last bit."""
    (first,), (n,) = begin, shape
    steps = num - 1 if endpoint else num
    computed = np.result_type(start, stop, 1.0)
    low, high = np.asarray([start, stop], computed)
    distance = high - low
    values: NDArray = np.arange(first, first + n).astype(computed)
    if steps > 0 and distance / steps == 0:
        # The step is smaller than all numbers but 0.
        values = values / steps * distance
    else:
        values = values * (distance / steps if steps > 0 else distance)
    values += low
    if endpoint and 1 < num == first + n:
        values[-1] = high
    return values.astype(dtype, copy=False)


def _divide(count: float, total: Part) -> NDArray:
    return np.asarray(divide_by_count(np.asarray(total), count))


def _merge(op: Primitive, dtype: DType, parts: list[NDArray]) -> NDArray:
    stacked = np.stack([np.asarray(part) for part in parts])
    given = dtype if op in (p.SUM, p.PROD) else None
    merged: NDArray = on_host("reduce", op, stacked, (0,), False, given)
    return merged


def _kept(chunk: Part) -> NDArray:
    return np.asarray(chunk)


def _squeezed(axes: tuple[int, ...], chunk: Part) -> NDArray:
    return np.asarray(chunk).squeeze(axes)


def _scan(op: Primitive, axis: int, dtype: DType | None, chunk: Part) -> NDArray:
    scanned: NDArray = on_host("scan", op, chunk, axis, dtype)
    return scanned


_CARRYING = {
    p.CUMULATIVE_SUM: p.ADD,
    p.CUMULATIVE_PROD: p.MULTIPLY,
    p.CUMULATIVE_MAX: p.MAXIMUM,
    p.CUMULATIVE_MIN: p.MINIMUM,
}


def _carried(op: Primitive, before: Part, chunk: Part) -> NDArray:
    joined: NDArray = on_host("binary", _CARRYING[op], before, chunk)
    return joined


def _last(axis: int, chunk: NDArray) -> NDArray:
    return chunk.take([-1], axis)


def _searched(right: bool, ordered: Part, values: Part) -> NDArray:
    found: NDArray = on_host("searchsorted", ordered, values, right=right)
    return found


def _repeated(counts: NDArray, axis: int, chunk: NDArray) -> NDArray:
    return chunk.repeat(counts, axis)


# A partial variance is how many elements there were, their mean, and the sum of their squared
# distances from it. T. F. Chan, G. H. Golub, R. J. LeVeque, Updating formulae and a pairwise
# algorithm for computing sample variances (1979).


def _moments(axes: tuple[int, ...], chunk: Part) -> tuple[int, NDArray, NDArray]:
    chunk = np.asarray(chunk)
    count = prod([chunk.shape[axis] for axis in axes])
    mean = on_host("reduce", p.MEAN, chunk, axes, True)
    # n times the variance without correction; for complex numbers that is real.
    spread = on_host("var", chunk, axes, True, 0)
    return count, mean, np.asarray(spread * spread.dtype.type(count))


def _merge_moments(
    parts: list[tuple[int, NDArray, NDArray]],
) -> tuple[int, NDArray, NDArray]:
    if len(parts) > 2:
        half = len(parts) // 2
        parts = [_merge_moments(parts[:half]), _merge_moments(parts[half:])]
    if len(parts) == 1:
        return parts[0]
    (n1, mean1, spread1), (n2, mean2, spread2) = parts
    n = n1 + n2
    step = mean2 - mean1
    squares = np.square(np.abs(step)).astype(spread1.dtype, copy=False)
    return (
        n,
        np.asarray(mean1 + step * (n2 / n)),
        np.asarray(spread1 + spread2 + squares * (n1 / n * n2)),
    )


def _variance(
    axes: tuple[int, ...],
    keepdims: bool,
    correction: float,
    dtype: DType,
    moments: tuple[int, NDArray, NDArray],
) -> NDArray:
    n, _, spread = moments
    freedom = n - correction
    result = np.asarray(divide_by_count(spread, freedom if freedom > 0 else np.nan))
    return result if keepdims else result.squeeze(axes)


def _extreme(op: Primitive, axis: int, chunk: Part, start: int) -> tuple[NDArray, NDArray]:
    found = on_host("arg_reduce", op, chunk, axis, True)
    return np.take_along_axis(np.asarray(chunk), found, axis), found + start


def _merge_extremes(
    op: Primitive, axis: int, parts: list[tuple[NDArray, NDArray]]
) -> tuple[NDArray, NDArray]:
    values = np.concatenate([part[0] for part in parts], axis)
    places = np.concatenate([part[1] for part in parts], axis)
    found = on_host("arg_reduce", op, values, axis, True)
    return np.take_along_axis(values, found, axis), np.take_along_axis(places, found, axis)


def _position(axis: int, keepdims: bool, part: tuple[NDArray, NDArray]) -> NDArray:
    return part[1] if keepdims else part[1].squeeze(axis)
