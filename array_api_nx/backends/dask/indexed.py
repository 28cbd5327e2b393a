"""Indexed access of the Dask backend.

Integer indices are computed when they are used: they say which chunks are read and written. Of a
mask only the number of elements that it selects per chunk is, when a shape is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Final, NamedTuple

import dask.array as da
import numpy as np

from ...contract.arguments import Keys, Operand, Scalar
from ...contract.numpy_dtypes import NDArray
from ...contract.program import Argument
from ...core import dtypes as d
from ...core.shape import broadcast_shapes
from .expressions import SELECT, Expression, Mask, StorageValue, bound, counted, on_host
from .layers import (
    ChunkIndex,
    Part,
    Task,
    batched,
    chunkwise,
    layer,
    partials,
    positions,
    rechunked,
    starts,
    tidy,
    tree,
)
from .scheduling import compute
from .storage import DaskMemory
from .views import DaskTensor, Permute, reshaped, stretched

_KEYS_NOTE: Final = "computed the index arrays: they say which chunks are needed"
_NONZERO_NOTE: Final = (
    "computed how many elements are not zero per chunk: the result's shape depends on it"
)


class _Positions(NamedTuple):
    """What integer keys select.

    `axes`: those that are indexed.
    `indices`: for each of them the flat, non-negative indices.
    `shape`: that the keys broadcast to.
    `place`: where its axes stand in the result.
    """

    axes: tuple[int, ...]
    indices: tuple[NDArray, ...]
    shape: tuple[int, ...]
    place: int


class IndexedAccess(DaskMemory):
    """The section "indexed access" of the contract."""

    def index_get(self, x: DaskTensor, keys: Keys) -> DaskTensor:
        mask = self._lone_mask(x, keys)
        if mask is not None:
            return self._selected(x, *mask)
        whole, found = self._positions(x, keys)
        result = self._gathered(whole, found)
        return self.tensor(result, _KEYS_NOTE)

    def index_set(self, target: DaskTensor, keys: Keys, value: Operand) -> None:
        mask = self._lone_mask(target, keys)
        if mask is not None and (type(value) is not DaskTensor or not value.shape):
            axis, chosen = mask
            column = (*chosen.shape, *[1] * (len(target.shape) - axis - len(chosen.shape)))
            where = self.reshape(chosen, column)
            self.assign(target, self.where(where, value, target))
            return
        whole, found = self._positions(target, keys)
        put = self._scattered(whole, found, value)
        target.write(reshaped(put, target.shape, self.grid), self.grid)
        target.storage.notes.append(_KEYS_NOTE)

    # ------------------------------------------------------------------ masks

    def _lone_mask(self, x: DaskTensor, keys: Keys) -> tuple[int, DaskTensor] | None:
        """The only key, if that is a mask that fits, and the axis where it begins."""
        given = [(axis, key) for axis, key in enumerate(keys) if key is not None]
        axis, key = given[0]
        if len(given) > 1 or type(key) is not DaskTensor or key.dtype != bool or not key.shape:
            return None
        covered = x.shape[axis : axis + len(key.shape)]
        return (axis, key) if key.shape == covered and prod(x.shape) > 0 else None

    def _selected(self, x: DaskTensor, axis: int, mask: DaskTensor) -> DaskTensor:
        """The selected elements, which are counted when their number is needed."""
        # Later writes to the mask put another value in its place.
        chosen, shape = self.copy(mask), mask.shape
        trail = x.shape[axis + len(shape) :]
        column = self.reshape(chosen, (*shape, *[1] * len(trail))) if trail else chosen
        operands = [counted(self.joining(each)) for each in (x, column)]
        sizes = (*x.shape[:axis], None, *trail)
        take = partial(self._compressed, x.shape, chosen)
        selection = Mask(counted(chosen.value(self.grid)), shape, take)
        arguments = (*operands, axis, len(shape))
        return self.tensor(Expression(SELECT, arguments, sizes, x.dtype, selection))

    def _compressed(
        self, shape: tuple[int, ...], mask: DaskTensor, x: StorageValue, axis: int
    ) -> da.Array:
        """The elements of a value of `shape` that a mask selects, which are counted."""
        lead, trail = shape[:axis], shape[axis + len(mask.shape) :]
        flat = (prod(mask.shape),)
        # The mask is cut as the value is.
        array = tidy(reshaped(bound(x, self.grid), (*lead, *flat, *trail), self.grid))
        chosen = rechunked(reshaped(self._small(mask), flat, self.grid), (array.chunks[axis],))
        counts = self._counts(chosen)
        kept = [i for i, count in enumerate(counts) if count]
        if not kept:
            return da.from_array(np.empty((*lead, 0, *trail), x.dtype), chunks=-1, name=False)
        tasks = {}
        for index in positions(array.numblocks):
            if counts[index[axis]]:
                target = (*index[:axis], kept.index(index[axis]), *index[axis + 1 :])
                call = partial(_compress, axis)
                tasks[target] = (call, (array.name, *index), (chosen.name, index[axis]))
        sizes = tuple([counts[i] for i in kept])
        chunks = (*array.chunks[:axis], sizes, *array.chunks[axis + 1 :])
        return layer("compress", tasks, [array, chosen], chunks, x.dtype)

    def _small(self, x: DaskTensor) -> da.Array:
        """The array of `x`, which is computed and kept if it fits in a chunk."""
        if prod(x.shape) * x.dtype.itemsize <= self.grid.limit:
            self.computed(x, "a shape depends on it")
        return self.array(x)

    def _counts(self, chosen: da.Array) -> list[int]:
        """How many elements of each chunk of a 1-D array are not zero; computes it."""
        ones = ((1,) * len(chosen.chunks[0]),)
        found = chunkwise("count", _count, [chosen], ones, d.int64)
        return compute(found, why="the shape of a result depends on it")[0].tolist()

    def nonzero(self, x: DaskTensor) -> tuple[DaskTensor, ...]:
        shape = x.shape
        note = _NONZERO_NOTE
        if not prod(shape):
            return tuple([self.from_chunks(np.empty(0, d.int64)) for _ in shape])
        flat = tidy(reshaped(self._small(x), (prod(shape),), self.grid))
        counts = self._counts(flat)
        kept = [i for i, count in enumerate(counts) if count]
        if not kept:
            return tuple([self.from_chunks(np.empty(0, d.int64), note) for _ in shape])
        begins = starts(flat.chunks[0])
        chunks = (tuple([counts[i] for i in kept]),)
        return tuple(
            [
                self.tensor(
                    layer(
                        "nonzero",
                        {
                            (target,): (partial(_nonzero, shape, axis, begins[i]), (flat.name, i))
                            for target, i in enumerate(kept)
                        },
                        [flat],
                        chunks,
                        d.int64,
                    ),
                    note,
                )
                for axis in range(len(shape))
            ]
        )

    # ------------------------------------------------------------------ integer keys

    def _positions(self, x: DaskTensor, keys: Keys) -> tuple[da.Array, _Positions]:
        """`x`, with an axis of size 1 more per mask without axes, and what `keys` select of it."""
        shape: list[int] = []
        axes: list[int] = []
        indices: list[NDArray] = []
        places: list[int] = []
        axis = 0
        for place, key in enumerate((*keys, *[None] * len(x.shape))):
            if key is None:
                if axis < len(x.shape):
                    shape.append(x.shape[axis])
                    axis += 1
                continue
            places.append(place)
            if type(key) is not DaskTensor:
                found: tuple[NDArray, ...] = (np.asarray(key),)
            else:
                found = (self.computed(key, "it is an index"),)
                if key.dtype == bool:
                    mask = found[0]
                    found = mask.nonzero() if mask.ndim else (np.zeros(int(mask), d.int64),)
                    if not mask.ndim:
                        axes.append(len(shape))
                        shape.append(1)
                        indices += found
                        continue
            for index in found:
                axes.append(len(shape))
                shape.append(x.shape[axis])
                indices.append(_checked(index, axis, x.shape[axis]))
                axis += 1
        try:
            common = np.broadcast_shapes(*[index.shape for index in indices])
        except ValueError:
            given = ", ".join([str(index.shape) for index in indices])
            raise IndexError(
                f"index arrays of shapes {given} do not broadcast; give arrays of one shape"
            ) from None
        flat = tuple([np.broadcast_to(index, common).reshape(-1) for index in indices])
        together = places[-1] - places[0] == len(places) - 1
        whole = reshaped(self.array(x), tuple(shape), self.grid)
        return whole, _Positions(tuple(axes), flat, common, axes[0] if together else 0)

    def _gathered(self, x: da.Array, found: _Positions) -> da.Array:
        """The elements of `x` at the positions."""
        kept = [axis for axis in range(x.ndim) if axis not in found.axes]
        sizes = [x.shape[axis] for axis in kept]
        moved = tidy(x.transpose((*found.axes, *kept)))
        n = prod(found.shape)
        if not n * prod(sizes):
            flat = da.from_array(np.empty((n, *sizes), x.dtype), chunks=-1, name=False)
        else:
            flat = self._gather(moved, found.indices, n)
        result = reshaped(flat, (*found.shape, *sizes), self.grid)
        return result.transpose(_order(found, x.ndim - len(found.axes)))

    def _gather(self, x: da.Array, indices: tuple[NDArray, ...], n: int) -> da.Array:
        """The slices of `x` at flat indices into its first axes."""
        ndim = len(indices)
        per_row = prod([max(sizes) for sizes in x.chunks[ndim:]]) * x.dtype.itemsize
        step = max(1, self.grid.limit // per_row)
        rest = x.numblocks[ndim:]
        tasks: dict[ChunkIndex, Task] = {}
        for piece, begin in enumerate(range(0, n, step)):
            part = [index[begin : begin + step] for index in indices]
            size = min(step, n - begin)
            groups = _by_block(x, part)
            plan = [(rows, local) for _, rows, local in groups]
            call = partial(_collect, plan, size)
            for tail in positions(rest):
                keys = [(x.name, *block, *tail) for block, _, _ in groups]
                tasks[(piece, *tail)] = (call, keys)
        cut = tuple([min(step, n - begin) for begin in range(0, n, step)])
        return layer("take", tasks, [x], (cut, *x.chunks[ndim:]), x.dtype)

    def _scattered(self, x: da.Array, found: _Positions, value: Operand) -> da.Array:
        """`x` with `value` at the positions."""
        kept = [axis for axis in range(x.ndim) if axis not in found.axes]
        sizes = [x.shape[axis] for axis in kept]
        order = _order(found, len(kept))
        mixed = (*found.shape, *sizes)
        shape = tuple([mixed[axis] for axis in order])
        ndim, n = len(found.axes), prod(found.shape)
        front = (*found.axes, *kept)
        moved = tidy(x.transpose(front))
        inputs = [moved]
        if type(value) is DaskTensor:
            given = self.array(value)
            while given.ndim > len(shape) and given.shape[0] == 1:
                given = given[0]
            if broadcast_shapes(given.shape, shape) != shape:
                raise ValueError(
                    f"a value of shape {value.shape} does not broadcast to {shape}, the shape of "
                    "what is written"
                )
            spread = stretched(given, shape, self.grid).transpose(np.argsort(order).tolist())
            spread = reshaped(spread, (n, *sizes), self.grid)
            spread = rechunked(spread, ((n,), *moved.chunks[ndim:]))
            inputs.append(spread)
        if not n * prod(sizes):
            return x
        groups = {block: (rows, local) for block, rows, local in _by_block(moved, found.indices)}
        tasks: dict[ChunkIndex, Task] = {}
        for index in positions(moved.numblocks):
            key = (moved.name, *index)
            block, tail = index[:ndim], index[ndim:]
            if block not in groups:
                tasks[index] = key
            elif type(value) is DaskTensor:
                rows, local = groups[block]
                tasks[index] = (partial(_put_rows, rows, local), key, (spread.name, 0, *tail))
            else:
                tasks[index] = (partial(_put_scalar, groups[block][1], value), key)
        written = layer("put", tasks, inputs, moved.chunks, x.dtype)
        return Permute(front).put(x, written, self.grid)

    # ------------------------------------------------------------------ along an axis

    def gather(self, x: DaskTensor, indices: DaskTensor, axis: int) -> DaskTensor:
        return self._along_last("gather", [x, indices], axis, indices.shape[axis])

    def scatter(
        self,
        template: DaskTensor,
        indices: DaskTensor,
        updates: DaskTensor,
        axis: int,
        *,
        add: bool,
    ) -> DaskTensor:
        xs = [template, indices, updates]
        return self._along_last("scatter", xs, axis, template.shape[axis], add=add)

    def _along_last(
        self, method: str, xs: Sequence[DaskTensor], axis: int, size: int, **options: Argument
    ) -> DaskTensor:
        """A primitive that pairs arrays but for `axis`, which is one chunk."""
        ndim = len(xs[0].shape)
        order = (*[i for i in range(ndim) if i != axis], axis)
        arrays = [self.array(self.permute(x, order)) for x in xs]
        call = partial(on_host, method, axis=ndim - 1, **options)
        dtype = xs[0].dtype
        found = batched(method, call, arrays, [1] * len(xs), [((size,), dtype)], self.grid)[0]
        return self.tensor(Permute(order).put(found, found, self.grid))

    # ------------------------------------------------------------------ distinct values

    def unique(self, x: DaskTensor) -> tuple[DaskTensor, DaskTensor, DaskTensor, DaskTensor]:
        if not prod(x.shape):
            return self.at_once("unique", x)
        flat = tidy(reshaped(self._small(x), (prod(x.shape),), self.grid))
        parts = partials("unique", _distinct, [flat], 0)
        merged = tree("unique", parts, (0,), _merge_distinct, None, (), np.dtype(object))
        found: _Distinct = compute(merged, why="the shape of a result depends on it")[0]
        note = "computed the distinct values: the result's shape depends on them"
        values = self.from_chunks(found.values, note)
        ordered = rechunked(self.array(values), (-1,))
        nan = np.flatnonzero(found.values != found.values)
        # A NaN is where its own position is the first one.
        by_position = nan[np.argsort(found.indices[nan])]
        call = partial(_inverse, found.indices[by_position], by_position)
        inverse = chunkwise("inverse", call, [flat, ordered], flat.chunks, d.int64, begin=0)
        return (
            values,
            self.from_chunks(found.indices, note),
            self.tensor(reshaped(inverse, x.shape, self.grid), note),
            self.from_chunks(found.counts, note),
        )

    def bincount(
        self, x: DaskTensor, weights: DaskTensor | None, length: int, *, extend: bool
    ) -> DaskTensor:
        if not prod(x.shape):
            return self.at_once("bincount", x, weights, length, extend=extend)
        array = tidy(self.array(x))
        arrays, dtype = [array], d.int64
        call = partial(on_host, "bincount", length=length, extend=extend)
        if weights is None:
            call = partial(call, weights=None)
        else:
            arrays, dtype = [array, rechunked(self.array(weights), array.chunks)], weights.dtype
        parts = partials("bincount", call, arrays)
        if not extend:
            chunks = ((length,),)
            return self.tensor(tree("bincount", parts, (0,), _merge_counts, None, chunks, dtype))
        merged = tree("bincount", parts, (0,), _merge_counts, None, (), np.dtype(object))
        note = "computed the counts: the result's shape depends on them"
        found = compute(merged, why="the shape of a result depends on it")[0]
        return self.from_chunks(found, note)


def _checked(index: NDArray, axis: int, size: int) -> NDArray:
    """Indices counted from the front; IndexError if any is out of range."""
    wrong = (index < -size) | (index >= size)
    if wrong.any():
        raise IndexError(
            f"index {index[wrong][0]} is out of bounds for axis {axis} with size {size}; "
            f"indices go from {-size} to {size - 1}"
        )
    return np.where(index < 0, index + size, index)


def _order(found: _Positions, kept: int) -> tuple[int, ...]:
    """Axes of the result, as numbers of axes of (keys..., kept...)."""
    ndim = len(found.shape)
    own, others = range(ndim), range(ndim, ndim + kept)
    return (*others[: found.place], *own, *others[found.place :])


def _by_block(
    x: da.Array, indices: Sequence[NDArray]
) -> list[tuple[tuple[int, ...], NDArray, tuple[NDArray, ...]]]:
    """Which chunks of the first axes of `x` the indices meet.

    Returns: The position of the chunk, which of the indices meet it, in order, and where in it.
    """
    sizes = x.chunks[: len(indices)]
    blocks = [
        np.searchsorted(np.cumsum(n), index, "right")
        for n, index in zip(sizes, indices, strict=True)
    ]
    counts = [len(n) for n in sizes]
    numbers = np.ravel_multi_index(blocks, counts)
    order = np.argsort(numbers, kind="stable")
    distinct, firsts = np.unique(numbers[order], return_index=True)
    found = []
    for number, rows in zip(distinct, np.split(order, firsts[1:]), strict=True):
        block = tuple([int(i) for i in np.unravel_index(number, counts)])
        local = tuple(
            [index[rows] - starts(n)[i] for index, n, i in zip(indices, sizes, block, strict=True)]
        )
        found.append((block, rows, local))
    return found


# ---------------------------------------------------------------------- tasks


def _compress(axis: int, chunk: NDArray, mask: NDArray) -> NDArray:
    return chunk.compress(mask, axis)


def _count(chunk: NDArray) -> NDArray:
    return np.asarray([np.count_nonzero(chunk)])


def _nonzero(shape: tuple[int, ...], axis: int, begin: int, chunk: NDArray) -> NDArray:
    return np.unravel_index(np.flatnonzero(chunk) + begin, shape)[axis]


def _collect(
    plan: list[tuple[NDArray, tuple[NDArray, ...]]], n: int, chunks: list[Part]
) -> NDArray:
    if len(plan) == 1:
        # In order, as they are all there.
        return np.asarray(chunks[0])[plan[0][1]]
    first = np.asarray(chunks[0])
    result = np.empty((n, *first.shape[len(plan[0][1]) :]), first.dtype)
    for (rows, local), chunk in zip(plan, chunks, strict=True):
        result[rows] = chunk[local]
    return result


def _put_rows(rows: NDArray, local: tuple[NDArray, ...], chunk: NDArray, value: NDArray) -> NDArray:
    result = np.array(chunk)
    result[local] = value[rows]
    return result


def _put_scalar(local: tuple[NDArray, ...], value: Scalar, chunk: NDArray) -> NDArray:
    result = np.array(chunk)
    result[local] = value
    return result


class _Distinct:
    """The distinct values of a part, where each is first, and how often."""

    def __init__(self, values: NDArray, indices: NDArray, counts: NDArray) -> None:
        self.values = values
        self.indices = indices
        self.counts = counts


def _distinct(chunk: Part, start: int) -> _Distinct:
    values, indices, _, counts = on_host("unique", chunk)
    return _Distinct(values, indices + start, counts)


def _merge_distinct(parts: list[_Distinct]) -> _Distinct:
    values, indices, inverse, _ = on_host("unique", np.concatenate([part.values for part in parts]))
    counts = np.zeros(values.shape, d.int64)
    np.add.at(counts, inverse, np.concatenate([part.counts for part in parts]))
    return _Distinct(values, np.concatenate([part.indices for part in parts])[indices], counts)


def _merge_counts(parts: list[NDArray]) -> NDArray:
    total = np.zeros(max([part.size for part in parts]), parts[0].dtype)
    for part in parts:
        total[: part.size] += part
    return total


def _inverse(
    firsts: NDArray, places: NDArray, chunk: NDArray, ordered: NDArray, begin: int
) -> NDArray:
    """Where in `ordered` each element is; NaN number i of the whole is at ``places[i]``."""
    found: NDArray = on_host("searchsorted", ordered, chunk, right=False)
    nan = np.flatnonzero(chunk != chunk)
    found[nan] = places[np.searchsorted(firsts, nan + begin)]
    return found
