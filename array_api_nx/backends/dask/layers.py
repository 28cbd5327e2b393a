"""Layers of a Dask graph: chunks, tasks over them, reductions as trees.

Every task works on whole chunks, NumPy arrays, and never writes to one that it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import product
from math import ceil, prod
from typing import Any, Final, TypeAlias
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from dask.array.core import normalize_chunks
from dask.highlevelgraph import HighLevelGraph
from dask.utils import parse_bytes

from ...core.dtypes import DType
from ...core.shape import broadcast_shapes

Chunks: TypeAlias = "tuple[tuple[int, ...], ...]"
ChunkIndex: TypeAlias = "tuple[int, ...]"
Task: TypeAlias = Any
"""What Dask runs for a chunk: a call with its arguments, or the key of another task."""
Part: TypeAlias = Any
"""The result of a task: a chunk, which may be a NumPy scalar, or a partial result of any type."""

_FAN_IN: Final = 8
"""About how many partial results one task of a tree merges."""


class Grid:
    """How arrays are cut into chunks.

    `limit`: about how many bytes a chunk has, such as "64MiB"; Dask's own setting,
    ``array.chunk-size``, if None.
    """

    def __init__(self, limit: str | int | None) -> None:
        self._limit: int | None = None
        if limit is not None:
            self._limit = parse_bytes(limit)
            if self._limit < 1:
                raise ValueError(f"chunks of {limit} bytes hold nothing; give a size like '64MiB'")

    @property
    def limit(self) -> int:
        """About how many bytes a chunk has."""
        if self._limit is not None:
            return self._limit
        return int(parse_bytes(dask.config.get("array.chunk-size")))

    def chunks(self, shape: tuple[int, ...], dtype: DType, whole: Iterable[int] = ()) -> Chunks:
        """Chunks of about `limit` bytes, with the axes `whole` in one piece."""
        if not prod(shape):
            return tuple([(n,) for n in shape])
        wanted: list[str | int] = ["auto"] * len(shape)
        for axis in whole:
            wanted[axis] = -1
        return normalize_chunks(tuple(wanted), shape, limit=self.limit, dtype=dtype)

    def joined(self, x: da.Array, axes: Iterable[int]) -> da.Array:
        """`x` with one chunk along each of `axes`, the others cut so that chunks stay small."""
        axes = tuple(axes)
        if all([len(x.chunks[axis]) == 1 for axis in axes]):
            return x
        chunks = [(x.shape[i],) if i in axes else sizes for i, sizes in enumerate(x.chunks)]
        if prod(map(max, chunks)) * x.dtype.itemsize > self.limit:
            chunks = list(self.chunks(x.shape, x.dtype, axes))
        return rechunked(x, tuple(chunks))


def by_tasks() -> AbstractContextManager[object]:
    """A context in which Dask rechunks by tasks like all others.

    If there is a cluster when the array is made, Dask would have its workers exchange pieces by
    themselves, and the array could be computed on that cluster alone.
    """
    return dask.config.set({"array.rechunk.method": "tasks"})


def rechunked(x: da.Array, chunks: Any) -> da.Array:
    """`x` in other chunks, given as to ``x.rechunk``."""
    with by_tasks():
        return x.rechunk(chunks)


def name_of(label: str) -> str:
    """A name for a layer, which no other one has."""
    return f"{label}-{uuid4().hex}"


def layer(
    label: str,
    tasks: dict[ChunkIndex, Task],
    inputs: Sequence[da.Array],
    chunks: Chunks,
    dtype: DType,
    name: str = "",
) -> da.Array:
    """An array of one task per chunk.

    `label`: a word for the tasks, which graphs and dashboards show.
    `tasks`: by position in the grid of chunks. A task is a tuple of a callable and arguments, which
    may be keys of the inputs or lists of them; a key alone takes a chunk over.
    `name`: what `name_of` gave for it, if tasks refer to each other.
    """
    name = name or name_of(label)
    graph = HighLevelGraph.from_collections(
        name, {(name, *index): task for index, task in tasks.items()}, dependencies=inputs
    )
    return da.Array(graph, name, chunks, meta=np.empty((0,) * len(chunks), dtype))


def positions(counts: Iterable[int]) -> Iterable[ChunkIndex]:
    """All positions in a grid of the given numbers of chunks."""
    return product(*[range(count) for count in counts])


def starts(chunks: tuple[int, ...]) -> list[int]:
    """Where each chunk along an axis begins."""
    return [0, *np.cumsum(chunks).tolist()][:-1]


def tidy(x: da.Array) -> da.Array:
    """`x` without chunks of no elements, unless it has none at all."""
    if not x.size or all([all(sizes) for sizes in x.chunks]):
        return x
    return rechunked(x, tuple([tuple([n for n in sizes if n]) for sizes in x.chunks]))


def joint(several: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """The chunks along an axis that end wherever one of `several` divisions of it has an end."""
    ends = {end for sizes in several for end in np.cumsum(sizes).tolist()}
    return tuple(np.diff([0, *(sorted(ends - {0}) or [0])]).tolist())


def finer(chunks: Chunks, shape: tuple[int, ...], itemsize: int, grid: Grid) -> Chunks:
    """`chunks` of elements of `itemsize` bytes, cut where they are more than twice as large as the
    grid's."""
    if prod(map(max, chunks)) * itemsize <= 2 * grid.limit:
        return chunks
    fine = grid.chunks(shape, np.dtype(f"V{min(itemsize, grid.limit)}"))
    return tuple([min(old, new, key=max) for old, new in zip(chunks, fine, strict=True)])


def aligned(
    arrays: Sequence[da.Array], shape: tuple[int, ...], core: Sequence[int] = ()
) -> tuple[list[da.Array], Chunks]:
    """Arrays that broadcast to `shape`, cut at the same places, and the chunks of the result.

    `core` says of each array how many last axes do not take part.
    """
    outer = [x.ndim - n for x, n in zip(arrays, core or [0] * len(arrays), strict=True)]
    arrays = [tidy(x) for x in arrays]
    chunks = [
        joint(
            [
                x.chunks[ndim + axis]
                for x, ndim in zip(arrays, outer, strict=True)
                if ndim >= -axis and x.shape[ndim + axis] == shape[axis]
            ]
        )
        for axis in range(-len(shape), 0)
    ]
    cut = [_cut(x, ndim, chunks) for x, ndim in zip(arrays, outer, strict=True)]
    return cut, tuple(chunks)


def _cut(x: da.Array, outer: int, chunks: Sequence[tuple[int, ...]]) -> da.Array:
    """`x` with the last of `chunks` on its first `outer` axes, but for those that broadcast."""
    last = chunks[len(chunks) - outer :]
    sizes = [c if n > 1 else (n,) for n, c in zip(x.shape, last, strict=False)]
    return rechunked(x, (*sizes, *x.chunks[outer:]))


def combined(
    arrays: Sequence[da.Array], shape: tuple[int, ...], grid: Grid
) -> tuple[list[da.Array], Chunks]:
    """`aligned`, in chunks of about the right size even if broadcasting makes them larger."""
    cut, chunks = aligned(arrays, shape)
    fine = finer(chunks, shape, max([x.dtype.itemsize for x in arrays]), grid)
    return (cut if fine is chunks else [_cut(x, x.ndim, fine) for x in cut]), fine


def _key(x: da.Array, index: ChunkIndex, core: int = 0) -> tuple[str | int, ...]:
    """The key of the chunk of `x` that broadcasts to the one at `index`."""
    own = ((0,) * (x.ndim - core) + index)[len(index) :]  # 0 for axes that the index lacks
    place = [i if len(c) > 1 else 0 for i, c in zip(own, x.chunks, strict=False)]
    return (x.name, *place, *[0] * core)


def blockwise(
    label: str,
    call: Callable[..., Part],
    arrays: Sequence[da.Array],
    chunks: Chunks,
    dtype: DType,
) -> da.Array:
    """`call` on the chunks that broadcast together; `chunks` are those of the results.

    The arrays are `aligned`. Dask can make one task of several such layers.
    """
    ndim = len(chunks)
    pairs: list[da.Array | tuple[int, ...]] = []
    for x in arrays:
        pairs += [x, tuple(range(ndim - x.ndim, ndim))]
    return da.blockwise(
        call,
        tuple(range(ndim)),
        *pairs,
        name=name_of(label),
        adjust_chunks=dict(enumerate(chunks)),
        align_arrays=False,
        meta=np.empty((0,) * ndim, dtype),
    )


def batched(
    label: str,
    call: Callable[..., Part],
    arrays: Sequence[da.Array],
    core: Sequence[int],
    results: Sequence[tuple[tuple[int, ...], DType]],
    grid: Grid,
) -> tuple[da.Array, ...]:
    """`call` on whole matrices, or other data of the last axes, for chunks of the other axes.

    `call`: takes chunks and returns an array, or a tuple of them.
    `arrays`: their other axes broadcast.
    `core`: of each array, how many of its last axes a call sees in one piece.
    `results`: of each result, the sizes of the last axes, and the dtype.
    Raises ValueError if the other axes do not broadcast.
    """
    outer = [x.shape[: x.ndim - n] for x, n in zip(arrays, core, strict=True)]
    shape = broadcast_shapes(*outer)
    arrays = [grid.joined(x, range(x.ndim - n, x.ndim)) for x, n in zip(arrays, core, strict=True)]
    cut, chunks = aligned(arrays, shape, core)
    whole = chunkwise(label, call, cut, chunks, np.dtype(object), core)
    return tuple(
        [
            layer(
                f"{label}-{which}",
                {
                    (*index, *[0] * len(sizes)): (partial(_result, which), (whole.name, *index))
                    for index in positions(whole.numblocks)
                },
                [whole],
                (*chunks, *[(n,) for n in sizes]),
                dtype,
            )
            for which, (sizes, dtype) in enumerate(results)
        ]
    )


def _result(which: int, found: Part) -> Part:
    return found[which] if isinstance(found, tuple) else found


def tree(
    label: str,
    partials: da.Array,
    axes: tuple[int, ...],
    merge: Callable[[list[Part]], Part],
    finish: Callable[[Part], Part] | None,
    chunks: Chunks,
    dtype: DType,
) -> da.Array:
    """Partial results, one per chunk, merged along `axes`, a few at a time.

    `partials`: its chunks may be any objects.
    `merge`: makes one partial result of a list of them, which come in row-major order.
    `finish`: makes a chunk of the result of the last one; None if it is the chunk.
    `chunks`: of the result, which lacks `axes` or has them in one chunk each.
    """
    counts = list(partials.numblocks)
    fan_in = max(2, round(_FAN_IN ** (1 / max(1, len(axes)))))
    merged = partials
    while any([counts[axis] > 1 for axis in axes]):
        fans = [fan_in if axis in axes else 1 for axis in range(len(counts))]
        fewer = [ceil(count / fan) for count, fan in zip(counts, fans, strict=True)]
        tasks = {}
        for index in positions(fewer):
            parts = [
                range(i * fan, min((i + 1) * fan, count))
                for i, fan, count in zip(index, fans, counts, strict=True)
            ]
            tasks[index] = (merge, [(merged.name, *part) for part in product(*parts)])
        merged = layer(f"{label}-merge", tasks, [merged], _ones(fewer), np.dtype(object))
        counts = fewer
    kept = [axis for axis in range(len(counts)) if axis not in axes]
    lost = len(counts) - len(chunks)
    final = {}
    for index in positions(counts):
        target = tuple([index[axis] for axis in kept]) if lost else index
        key = (merged.name, *index)
        final[target] = key if finish is None else (finish, key)
    return layer(label, final, [merged], chunks, dtype)


def _ones(counts: Iterable[int]) -> Chunks:
    return tuple([(1,) * count for count in counts])


def chunkwise(
    label: str,
    call: Callable[..., Part],
    arrays: Sequence[da.Array],
    chunks: Chunks,
    dtype: DType,
    core: Sequence[int] = (),
    begin: int | None = None,
) -> da.Array:
    """`call` on the chunks of arrays that broadcast together; one task for each of `chunks`.

    `core` is as for `aligned`. With an axis `begin` the call is also given the index along it at
    which the chunk of the first array begins.
    """
    begins = [] if begin is None else starts(arrays[0].chunks[begin])
    core = core or [0] * len(arrays)
    tasks = {
        index: (
            call,
            *[_key(x, index, n) for x, n in zip(arrays, core, strict=True)],
            *([] if begin is None else [begins[index[begin]]]),
        )
        for index in positions([len(sizes) for sizes in chunks])
    }
    return layer(label, tasks, arrays, chunks, dtype)


def partials(
    label: str, call: Callable[..., Part], arrays: Sequence[da.Array], begin: int | None = None
) -> da.Array:
    """One partial result for each chunk of arrays that are cut alike; see `chunkwise`."""
    return chunkwise(label, call, arrays, _ones(arrays[0].numblocks), np.dtype(object), begin=begin)
