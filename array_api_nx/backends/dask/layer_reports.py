"""Reports of pending Dask arrays: the layers of their graphs (`Backend.explain`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Literal

import dask.array as da
from dask._task_spec import GraphNode
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

from ...contract.arguments import Native
from ...explain.explanation import Explanation
from ...explain.model import MemoryExplanation, PassExplanation, StepExplanation, count, size_text


class DaskExplanation(Explanation):
    """The pending computation of an array, as layers of a Dask graph.

    `pending`, `operations`, `passes`: as in `Explanation`: a pass is a layer of the graph, and an
    operation one of its tasks.
    `chunks`: the sizes of the chunks along each axis.
    `nbytes`: of the whole array.
    `notes`: intermediate computations, with their reasons.
    """

    __slots__ = ("chunks", "nbytes", "notes")

    # A pending array may be larger than memory, and take hours.
    on_display = False

    def __init__(
        self,
        operations: int,
        passes: tuple[PassExplanation, ...],
        chunks: tuple[tuple[int, ...], ...],
        nbytes: int,
        notes: tuple[str, ...],
    ) -> None:
        super().__init__(operations, passes)
        self.chunks = chunks
        self.nbytes = nbytes
        self.notes = notes

    @property
    def summary(self) -> str:
        parts = prod([len(sizes) for sizes in self.chunks])
        result = f"{size_text(self.nbytes)} in {count(parts, 'chunk')}"
        if not self.pending:
            return f"computed: nothing is pending, {result}"
        return (
            f"pending: {count(self.operations, 'task')} in {count(len(self.passes), 'layer')} "
            f"of a Dask graph, {result}"
        )

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *self.notes])

    def details(self) -> str:
        """The sizes of the whole and of a chunk as HTML, and the chunks as Dask draws them."""
        from ...explain.html import on_light, preformatted, row, table

        shape = tuple(map(sum, self.chunks))
        largest = tuple([max(sizes, default=0) for sizes in self.chunks])
        itemsize = self.nbytes // max(prod(shape), 1)
        rows = [
            ("bytes", size_text(self.nbytes), size_text(itemsize * prod(largest))),
            ("shape", shape, largest),
            ("count", "", prod([len(sizes) for sizes in self.chunks])),
        ]
        sizes = table(rows, ("", "array", "largest chunk"))
        drawn = ""
        if shape and 0 not in shape:
            picture = da.empty(shape, dtype="u1", chunks=self.chunks).to_svg(size=140)
            drawn = on_light(picture)
        notes = preformatted("\n".join(self.notes)) if self.notes else ""
        return row(sizes, drawn) + notes


def explanation(x: da.Array, computed: bool, notes: tuple[str, ...]) -> DaskExplanation:
    """The report of `x`."""
    passes = () if computed else _passes([x])
    return DaskExplanation(sum([each.tasks for each in passes]), passes, x.chunks, x.nbytes, notes)


def together(arrays: Sequence[da.Array]) -> Explanation:
    """The report of several arrays, which are computed together."""
    passes = _passes(arrays)
    return Explanation(sum([each.tasks for each in passes]), passes)


def _passes(arrays: Sequence[da.Array]) -> tuple[PassExplanation, ...]:
    """The layers that arrays consist of, without those that are in memory, operands first."""
    graph = HighLevelGraph.merge(*[x.__dask_graph__() for x in arrays])
    names = [*dict.fromkeys([x.name for x in arrays])]
    memories: dict[str, MemoryExplanation] = {}
    found = []
    given = stored = 0
    for name in graph._toposort_layers():
        layer = graph.layers[name]
        told = layer.collection_annotations or {}
        inputs = tuple([memories[each] for each in sorted(graph.dependencies[name])])
        if name in names:
            called = "result" if len(names) == 1 else f"result{names.index(name) + 1}"
            memories[name] = _memory(called, "result", told)
        elif _is_data(layer):
            memories[name] = _memory(_letters(given), "given", told)
            given += 1
            continue
        else:
            stored += 1
            memories[name] = _memory(f"t{stored}", "stored", told)
        result = memories[name]
        step = StepExplanation(
            name.rsplit("-", 1)[0], tuple([each.name for each in inputs]), result.name
        )
        found.append(PassExplanation(result.shape, len(layer), inputs, (result,), (step,)))
    return tuple(found)


def _letters(n: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    letters = ""
    n += 1
    while n:
        n, digit = divmod(n - 1, 26)
        letters = chr(ord("a") + digit) + letters
    return letters


def _is_data(layer: Mapping[object, object]) -> bool:
    """Whether the chunks of a layer are in memory, here or on a cluster."""
    if not isinstance(layer, MaterializedLayer):
        return False
    return not any([isinstance(task, tuple | GraphNode) for task in layer.values()])


def _memory(
    name: str, kind: Literal["given", "stored", "result"], told: dict[str, Native]
) -> MemoryExplanation:
    dtype, shape = told.get("dtype"), told.get("shape", ())
    if dtype is None or dtype.kind == "O":
        return MemoryExplanation(name, kind, "partial results", shape, 0)
    return MemoryExplanation(name, kind, str(dtype), shape, prod(shape) * dtype.itemsize)
