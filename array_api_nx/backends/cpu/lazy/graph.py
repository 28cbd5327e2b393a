"""`Graph`: pending expressions with everything in them numbered.

So one plan serves every expression of the same structure.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, TypeAlias

from ....contract.numpy_dtypes import NDArray
from ....core.view import View
from ..engine.passes import Slot
from .expression import Node, ScalarValue, walk

__all__ = ["Graph", "Source"]


Source: TypeAlias = "tuple[str, int, View | None]"
"""What a node reads: its kind, its position among those of that kind, and how it is read."""


class Graph:
    """Pending nodes, operands first, with everything they read numbered.

    Parameters
    ----------
    roots : sequence of Node
        What is to be computed.
    live : set of int, optional
        The keys of the nodes that will be read later; if it is not given, those that arrays show
        count as such.

    Attributes
    ----------
    nodes : list of Node
        What the roots need; and means that something waits for, of which a variance is among them.
    leaves : list of Node
        Values in memory.
    scalars : list of ScalarValue
    sources : list of tuple
        Per node its sources: ("node" | "leaf" | "scalar", position, view or None).
    roots : frozenset of int
    live : frozenset of int
        The nodes that are wanted beside the roots: by an array, by a later step of a program, or by
        a pending node that is not in this graph.
    variances : dict
        Per mean the variance of the same elements, in whose pass it is computed as well.
    key : tuple
        Equal for graphs of the same structure.
    """

    def __init__(self, roots: Sequence[Node], live: Set[int] | None = None) -> None:
        self.nodes = walk(roots)
        position = {node.key: i for i, node in enumerate(self.nodes)}
        self.variances: dict[int, int] = {}
        for i, node in enumerate(self.nodes[:]):
            mean = node.pending_mean()
            if mean is not None:
                number = position.setdefault(mean.key, len(self.nodes))
                if number == len(self.nodes):
                    self.nodes.append(mean)
                self.variances[number] = i
        self.leaves: list[Node] = []
        self.scalars: list[ScalarValue] = []
        found: dict[Any, int] = {}
        self.sources: list[tuple[Source, ...]] = []
        parts: list[Any] = []
        self.roots = frozenset([position[node.key] for node in roots])
        shown = []
        for i, node in enumerate(self.nodes):
            refs: list[tuple[str, int, View | None]] = []
            for value, view in node.sources:
                key = value.key
                if type(value) is ScalarValue:
                    k = found.setdefault(key, len(self.scalars))
                    if k == len(self.scalars):
                        self.scalars.append(value)
                    refs.append(("scalar", k, None))
                elif value.memory is None:
                    refs.append(("node", position[key], view))  # type: ignore[index]
                else:
                    k = found.setdefault(key, len(self.leaves))
                    if k == len(self.leaves):
                        self.leaves.append(value)
                    refs.append(("leaf", k, view))
            sources = tuple(refs)
            self.sources.append(sources)
            if (node.live_storages() if live is None else node.key in live) or any(
                [reader.key not in position for reader in node.consumers()]
            ):
                shown.append(i)
            divisor = repr(node.divisor)  # NaN is not equal to itself, but is the same divisor
            parts.append((node.loop, node.op, node.space, node.axes, divisor, node.errors, sources))
        self.live = frozenset(shown)
        self.key = (*parts, self.roots, self.live, *self.variances.items())

    def slot(self, kind: str, position: int) -> Slot:
        """The slot of a source, by its kind and its position among those of its kind."""
        if kind == "node":
            return position
        position += len(self.nodes)
        if kind == "leaf":
            return position
        position += len(self.leaves)
        return position if kind == "scalar" else position + len(self.scalars)

    def source(self, slot: Slot) -> tuple[str, int]:
        """The kind and the position of what has a slot."""
        if slot < len(self.nodes):
            return "node", slot
        slot -= len(self.nodes)
        if slot < len(self.leaves):
            return "leaf", slot
        slot -= len(self.leaves)
        return ("scalar", slot) if slot < len(self.scalars) else ("destination", 0)

    def slots(self, destination: NDArray | None = None) -> list[NDArray | None]:
        """What the slots hold before any pass: a slot for each node, then one for each leaf and
        each scalar, then one for the destination."""
        leaves = [leaf.memory for leaf in self.leaves]
        scalars = [scalar.array for scalar in self.scalars]
        return [*[None] * len(self.nodes), *leaves, *scalars, destination]
