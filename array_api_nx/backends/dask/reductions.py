"""Reductions and scans of the Dask backend: a partial result per chunk, merged as a tree.

A reduction of selected elements takes those of each chunk, and reduces them.
How many elements there are in all is known when their partial results are merged.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod

import numpy as np

from ...contract.errors import no_identity
from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.dtypes import CANONICAL, DType
from ...primitives import table as p
from ...primitives.table import Primitive
from ..cpu.ufunc_table import divide_by_count
from .expressions import ChunkProgram, Expression, counted, on_host, traced, whole_shape
from .layers import (
    ChunkIndex,
    Chunks,
    Part,
    Task,
    blockwise,
    chunkwise,
    combined,
    layer,
    name_of,
    partials,
    positions,
    tidy,
    tree,
)
from .storage import DaskMemory
from .views import DaskTensor


class Reductions(DaskMemory):
    """The section "reductions and scans" of the contract."""

    def reduce(
        self,
        op: Primitive,
        x: DaskTensor,
        axes: tuple[int, ...],
        keepdims: bool,
        dtype: DType | None = None,
    ) -> DaskTensor:
        result = dtype or op.results[CANONICAL[x.dtype]]
        merging = p.SUM if op in (p.COUNT_NONZERO, p.MEAN) else op
        merge = partial(_merge, merging, CANONICAL[result])
        if _is_over_selected(x, axes):
            empty = tuple([n or 0 for n in x.sizes])
            whole = partial(_reduced, op, axes, dtype, empty)
            part = partial(_reduced, p.SUM, axes, dtype, empty) if op is p.MEAN else whole
            finish = _divided if op is p.MEAN else _as_array
            return self._over_selected(
                op.name, x, axes, keepdims, whole, part, merge, finish, result
            )
        if not prod(x.shape):
            return self.at_once("reduce", op, x, axes, keepdims, dtype)
        if op is p.MEAN:
            total = self.array(self.reduce(p.SUM, x, axes, keepdims, dtype))
            count = prod([x.shape[axis] for axis in axes])
            call = partial(_divided, count)
            return self.tensor(blockwise("mean", call, [total], total.chunks, total.dtype))
        return self._folded(op, x, axes, keepdims, dtype, merge, result)

    def var(
        self, x: DaskTensor, axes: tuple[int, ...], keepdims: bool, correction: float
    ) -> DaskTensor:
        result = p.VAR.results[CANONICAL[x.dtype]]
        part = partial(_moments, axes)
        if _is_over_selected(x, axes):
            whole = partial(on_host, "var", axes=axes, keepdims=True, correction=correction)
            finish = partial(_variance_over, correction)
            return self._over_selected(
                "var", x, axes, keepdims, whole, part, _merge_moments, finish, result
            )
        if not prod(x.shape):
            return self.at_once("var", x, axes, keepdims, correction)
        steps, leaves, _ = traced(counted(x.value(self.grid)), self.grid, reduced=True)
        call = partial(_part, ChunkProgram(steps, len(leaves)), part)
        cut, chunks = combined(leaves, x.shape, self.grid)
        moments = blockwise("moments", call, cut, _ones_along(chunks, axes), np.dtype(object))
        finish = partial(_variance, () if keepdims else axes, correction)
        chunks = _without(chunks, axes, keepdims)
        return self.tensor(tree("var", moments, axes, _merge_moments, finish, chunks, result))

    def _folded(
        self,
        op: Primitive,
        x: DaskTensor,
        axes: tuple[int, ...],
        keepdims: bool,
        dtype: DType | None,
        merge: Callable[[list[Part]], Part],
        result: DType,
    ) -> DaskTensor:
        """The pending operations of `x`, and `op`, in one task per chunk, folded over `axes`."""
        steps, leaves, last = traced(counted(x.value(self.grid)), self.grid, reduced=True)
        program = ChunkProgram([*steps, ("reduce", (op, last, axes, True, dtype))], len(leaves))
        cut, chunks = combined(leaves, x.shape, self.grid)
        first = blockwise(program.label, program, cut, _ones_along(chunks, axes), result)
        finish = partial(_squeezed, () if keepdims else axes)
        chunks = _without(chunks, axes, keepdims)
        return self.tensor(tree(op.name, first, axes, merge, finish, chunks, result))

    def _over_selected(
        self,
        label: str,
        x: DaskTensor,
        axes: tuple[int, ...],
        keepdims: bool,
        whole: Callable[[NDArray], NDArray],
        part: Callable[[NDArray], Part],
        merge: Callable[[list[Part]], Part],
        finish: Callable[[int, Part], NDArray],
        result: DType,
    ) -> DaskTensor:
        """A reduction of selected elements, which are not counted before.

        `axes`: with the one along which the mask selects.
        `whole`: the reduction of one array. Reduced axes stay in what this and the next three
        return.
        `part`: the partial result of an array that has elements.
        `merge`: makes one partial result of several.
        `finish`: the result, from the number of elements along `axes` and the partial result for
        them.
        """
        value, mask = x.value(self.grid), x.mask
        assert type(value) is Expression
        assert mask is not None
        steps, leaves, _ = traced(value, self.grid, reduced=True)
        program = ChunkProgram(steps, len(leaves))
        cut, chunks = combined(leaves, whole_shape(value, mask), self.grid)
        # Several axes stand in place of the one.
        axis, more = value.sizes.index(None), len(mask.shape) - 1
        reduced = tuple([i for i in range(len(chunks)) if i - min(max(i - axis, 0), more) in axes])
        first = blockwise(
            program.label,
            partial(_selected_part, program, axes, part),
            cut,
            _ones_along(chunks, reduced),
            np.dtype(object),
        )
        found = self.tensor(
            tree(
                label,
                first,
                reduced,
                partial(_merge_selected, merge),
                partial(_finish_selected, axes, whole, finish),
                _without(chunks, reduced, False),
                result,
            )
        )
        if not keepdims:
            return found
        sizes = iter(found.shape)
        kept = [None if i in axes else (0, next(sizes), 1) for i in range(len(value.sizes))]
        return self.slice(found, tuple(kept))

    def arg_reduce(self, op: Primitive, x: DaskTensor, axis: int, keepdims: bool) -> DaskTensor:
        if not prod(x.shape):
            return self.at_once("arg_reduce", op, x, axis, keepdims)
        array = tidy(self.array(x))
        extremes = partials(op.name, partial(_extreme, op, axis), [array], axis)
        merge = partial(_merge_extremes, op, axis)
        finish = partial(_position, () if keepdims else axis)
        chunks = _without(array.chunks, (axis,), keepdims)
        return self.tensor(tree(op.name, extremes, (axis,), merge, finish, chunks, d.int64))

    def scan(
        self, op: Primitive, x: DaskTensor, axis: int, dtype: DType | None = None
    ) -> DaskTensor:
        if not prod(x.shape):
            return self.at_once("scan", op, x, axis, dtype)
        array = tidy(self.array(x))
        result = dtype or op.results[CANONICAL[x.dtype]]
        call = partial(on_host, "scan", op, axis=axis, dtype=dtype)
        inner = chunkwise(op.name, call, [array], array.chunks, result)
        ones = (*array.chunks[:axis], (1,) * array.numblocks[axis], *array.chunks[axis + 1 :])
        carried: dict[ChunkIndex, Task] = {}
        joined: dict[ChunkIndex, Task] = {}
        # The carry of a chunk is that of the chunk before, combined with its own total.
        name = name_of("carry")
        carry_on = partial(on_host, "binary", op.by)
        for index in positions(array.numblocks):
            before = (*index[:axis], index[axis] - 1, *index[axis + 1 :])
            key = (inner.name, *index)
            if index[axis] == 0:
                joined[index] = key
                carried[index] = (partial(_last, axis), key)
            else:
                joined[index] = (carry_on, (name, *before), key)
                carried[index] = (carry_on, (name, *before), (partial(_last, axis), key))
        carry = layer("carry", carried, [inner], ones, result, name)
        return self.tensor(layer(op.name, joined, [inner, carry], array.chunks, result))


def _is_over_selected(x: DaskTensor, axes: tuple[int, ...]) -> bool:
    """Whether a reduction is one of all that a mask selects, and need not know how many that is."""
    return x.mask is not None and 0 not in x.sizes and x.sizes.index(None) in axes


def _without(chunks: Chunks, axes: tuple[int, ...], keepdims: bool) -> Chunks:
    """The chunks of a result that lacks `axes`, or has them with size 1."""
    if keepdims:
        return tuple([(1,) if i in axes else c for i, c in enumerate(chunks)])
    return tuple([c for i, c in enumerate(chunks) if i not in axes])


def _ones_along(chunks: Chunks, axes: tuple[int, ...]) -> Chunks:
    """The chunks of partial results, each with one element along `axes`."""
    return tuple([(1,) * len(c) if i in axes else c for i, c in enumerate(chunks)])


# ---------------------------------------------------------------------- tasks


def _reduced(
    op: Primitive,
    axes: tuple[int, ...],
    dtype: DType | None,
    empty: tuple[int, ...],
    selected: NDArray,
) -> NDArray:
    """`op` over selected elements; `empty` is their whole shape if there are none."""
    if op in (p.MAX, p.MIN) and not selected.size:
        named = axes[0] if len(axes) == 1 else axes
        raise no_identity(op.name, empty, None if len(axes) == len(empty) else named)
    return on_host("reduce", op, selected, axes, True, dtype)


def _merge(op: Primitive, dtype: DType, parts: list[NDArray]) -> NDArray:
    stacked = np.stack([np.asarray(part) for part in parts])
    given = dtype if op in (p.SUM, p.PROD) else None
    return on_host("reduce", op, stacked, (0,), False, given)


def _divided(count: int, total: Part) -> NDArray:
    return np.asarray(divide_by_count(np.asarray(total), float(count)))


def _as_array(count: int, part: Part) -> NDArray:
    return np.asarray(part)


def _squeezed(axes: tuple[int, ...], chunk: Part) -> NDArray:
    return np.asarray(chunk).squeeze(axes)


def _part(program: ChunkProgram, part: Callable[[NDArray], Part], *chunks: Part) -> Part:
    return part(program(*chunks))


# A partial result of selected elements is their number along the reduced axes, and another partial
# result, or if there are none the array without elements.


def _selected_part(
    program: ChunkProgram,
    axes: tuple[int, ...],
    part: Callable[[NDArray], Part],
    *chunks: Part,
) -> tuple[int, Part]:
    selected = program(*chunks)
    count = prod([selected.shape[axis] for axis in axes])
    return count, part(selected) if count else selected


def _merge_selected(
    merge: Callable[[list[Part]], Part], parts: list[tuple[int, Part]]
) -> tuple[int, Part]:
    found = [part for part in parts if part[0]]
    if not found:
        return parts[0]
    return sum([count for count, _ in found]), merge([part for _, part in found])


def _finish_selected(
    axes: tuple[int, ...],
    whole: Callable[[NDArray], NDArray],
    finish: Callable[[int, Part], NDArray],
    part: tuple[int, Part],
) -> NDArray:
    count, found = part
    result = finish(count, found) if count else whole(found)
    return np.asarray(result).squeeze(axes)


def _last(axis: int, chunk: NDArray) -> NDArray:
    return chunk.take([-1], axis)


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


def _variance_over(correction: float, count: int, moments: tuple[int, NDArray, NDArray]) -> NDArray:
    freedom = count - correction
    return np.asarray(divide_by_count(moments[2], freedom if freedom > 0 else np.nan))


def _variance(
    axes: tuple[int, ...], correction: float, moments: tuple[int, NDArray, NDArray]
) -> NDArray:
    return _variance_over(correction, moments[0], moments).squeeze(axes)


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


def _position(axis: int | tuple[()], part: tuple[NDArray, NDArray]) -> NDArray:
    return part[1].squeeze(axis)
