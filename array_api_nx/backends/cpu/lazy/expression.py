"""Pending expressions: what will be computed, from what, and who reads it.

A `Node` is an immutable value: an operation over other values, or the contents of a block of
memory. `builder.Builder` makes nodes. A *storage* (what arrays are views of) is pending while it
has a node but no memory; evaluation gives the node memory, which a storage then holds.

The memory of a node that storages hold can be written to. Before that happens, everything that
still needs the value is computed, and the storage leaves its node: see `dependants`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from itertools import count
from math import isfinite, prod
from typing import Any, Final, TypeAlias, final
from weakref import ref

import numpy as np

from ....contract import primitives as p
from ....contract.numpy_dtypes import NDArray, NumPyDType
from ....contract.primitives import Primitive
from ....contract.strided import Storage
from ....core.view import View
from ..engine.fperrors import located
from ..engine.loops import Loop

__all__ = [
    "Node",
    "ScalarValue",
    "Source",
    "SourceValue",
    "dependants",
    "forget",
    "leaf",
    "scalar",
    "walk",
]

_keys: Final = count()


@final
class ScalarValue:
    """A number in an expression.

    Attributes
    ----------
    array : ndarray
        Of one element.
    key : tuple
        Its bits and dtype: 0.0 and -0.0 are equal, but not the same.
    """

    __slots__ = ("array", "key")

    array: NDArray
    key: tuple[bytes, str]

    def __init__(self, array: NDArray) -> None:
        self.array = array
        self.key = array.tobytes(), array.dtype.char


_MAX_SCALARS: Final = 1 << 10
_scalars: Final[dict[tuple[type, object, NumPyDType], ScalarValue]] = {}


def scalar(value: Any, dtype: NumPyDType) -> ScalarValue:
    """A Python scalar as a value of `dtype`."""
    if not value or type(value) is complex:  # -0.0 would be found for 0.0
        return ScalarValue(located(np.full, 1, value, dtype))
    key = type(value), value, dtype
    found = _scalars.get(key)
    if found is None:
        if len(_scalars) >= _MAX_SCALARS:
            _scalars.clear()
        found = ScalarValue(located(np.full, 1, value, dtype))
        # What overflows is made anew each time, so that NumPy warns each time.
        if np.isfinite(found.array[0]) or not isfinite(value):
            _scalars[key] = found
    return found


@final
class Node:
    """A value: computed, pending, or simply there.

    Attributes
    ----------
    op : Primitive or None
        None for a leaf, the contents of memory.
    loop : Loop or None
        What computes an element, or adds one to an accumulator; None for a leaf and a fill.
    sources : tuple of Source
        Views have the shape `space`. Empty once there is memory.
    space : tuple of int
        What the operation goes over.
    axes : tuple of int
        The axes of `space` that are reduced.
    shape : tuple of int
        `space` without them. The elements lie row-major.
    identity : ndarray or None
        0-d: what accumulators start from.
    divisor : float or None
        What to divide a sum by.
    dtype : numpy.dtype
    errors : int
        Floating-point errors to warn of, as NumPy's bits.
    pending, leaves : frozenset
        The keys of the pending operations and of the leaves and scalars that the expression is made
        of, to keep it bounded.
    memory : ndarray or None
        One-dimensional; None while the value is pending, and again once a storage took it away.
        Where programs are planned: what stands for the memory that there will be.
    storages : list of weak references to Storage
        Those whose elements this value is. One of them may hold the memory.
    readers : list of weak references to Node
        The nodes that have it for a source; some may be computed meanwhile.
    next_prune : int
        From how many readers on to look for those.
    probes : int
        How often one element alone was looked at.
    key : int
        No other node ever has the same.
    """

    __slots__ = (
        "__weakref__",
        "axes",
        "divisor",
        "dtype",
        "errors",
        "identity",
        "key",
        "leaves",
        "loop",
        "memory",
        "next_prune",
        "op",
        "pending",
        "probes",
        "readers",
        "shape",
        "sources",
        "space",
        "storages",
    )

    op: Primitive | None
    loop: Loop | None
    sources: tuple[Source, ...]
    space: tuple[int, ...]
    axes: tuple[int, ...]
    shape: tuple[int, ...]
    identity: NDArray | None
    divisor: float | None
    dtype: NumPyDType
    errors: int
    pending: frozenset[int]
    leaves: frozenset[object]
    memory: Memory
    storages: list[ref[Storage]]
    readers: list[ref[Node]]
    probes: int
    key: int
    next_prune: int

    def __init__(
        self,
        op: Primitive | None,
        loop: Loop | None,
        sources: tuple[Source, ...],
        space: tuple[int, ...],
        dtype: NumPyDType,
        errors: int,
    ) -> None:
        self.key = key = next(_keys)
        self.op = op
        self.loop = loop
        self.sources = sources
        self.space = self.shape = space
        self.dtype = dtype
        self.errors = errors
        self.axes = ()
        self.identity = self.divisor = self.memory = None
        self.probes = 0
        self.storages = []
        self.readers = []
        self.next_prune = 8
        self.pending = frozenset((key,))
        self.leaves = frozenset()
        value: SourceValue
        for value, view in sources:
            if view is None:
                self.leaves |= {value.key}
            else:
                self.pending |= value.pending
                self.leaves |= value.leaves

    def __repr__(self) -> str:
        name = "memory" if self.op is None else self.op.name
        return f"<{name} {self.shape} {self.dtype}>"

    def live_storages(self) -> list[Storage]:
        """The storages that still exist and whose elements this is."""
        return [s for r in self.storages if (s := r()) is not None and s.node is self]

    def consumers(self) -> Iterator[Node]:
        """Pending nodes that read this one."""
        for reference in self.readers:
            node = reference()
            if node is not None and node.memory is None and node.sources:
                yield node

    def attach(self, storage: Storage) -> None:
        """Make this the value of `storage`."""
        storage.node = self
        if self.storages:
            self.storages = [r for r in self.storages if r() is not None]
        self.storages.append(ref(storage))

    def realise(self, memory: Memory) -> None:
        """The value is computed: it lies in `memory`, and its sources are not needed any more."""
        self.memory = memory
        self.sources = ()
        self.pending = frozenset()
        self.leaves = frozenset((self.key,))

    def prune_readers(self) -> None:
        """Forget the readers that are computed or do not exist any more."""
        self.readers = [ref(consumer) for consumer in self.consumers()]
        self.next_prune = max(8, 2 * len(self.readers))

    def number(self) -> NDArray:
        """The array of one element with which this pending fill is filled."""
        ((value, _),) = self.sources
        assert type(value) is ScalarValue
        return value.array

    def pending_mean(self) -> Node | None:
        """The mean of what this pending node is the variance of, if something waits for it."""
        if self.op is not p.VAR:
            return None
        ((value, view),) = self.sources
        assert type(value) is Node
        count = prod(self.space) // prod(self.shape)
        for node in value.consumers():
            if (
                node.op is p.SUM
                and node.divisor == count
                and (node.axes, node.space, node.errors) == (self.axes, self.space, self.errors)
                and node.sources[0][1] == view
            ):
                return node
        return None


Source: TypeAlias = "tuple[Node | ScalarValue, View | None]"
"""What an operation reads: a `Node` and the view of its elements, or a `ScalarValue` and None."""

SourceValue: TypeAlias = Any
"""The value of a `Source` whose view tells a loop which of the two it is, but not mypy."""

Memory: TypeAlias = Any
"""A one-dimensional, contiguous ndarray, or what stands for one: the planner of programs has the
sizes and dtypes of arrays that there will be."""


def leaf(memory: Memory) -> Node:
    """The contents of `memory`, which is one-dimensional and contiguous, or stands for that."""
    node = Node(None, None, (), memory.shape, memory.dtype, 0)
    node.realise(memory)
    return node


def dependants(node: Node, live: Set[int] | None = None) -> list[Node]:
    """The pending values that need the memory of `node`, and that somebody wants: those whose keys
    are `live`, or if that is not given those of living arrays."""
    found: list[Node] = []
    seen = {node.key}
    stack = [node]
    while stack:
        for consumer in stack.pop().consumers():
            if consumer.key in seen:
                continue
            seen.add(consumer.key)
            if consumer.live_storages() if live is None else consumer.key in live:
                found.append(consumer)
            else:
                stack.append(consumer)
    return found


def forget(node: Node) -> None:
    """The memory of `node` is about to change: nothing may find the value there any more.

    A builder takes a node that has neither memory nor sources for one that does not exist.
    """
    node.memory = None
    node.sources = ()


def walk(roots: Iterable[Node]) -> list[Node]:
    """The pending nodes that `roots` need, themselves among them, operands first."""
    order: list[Node] = []
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(node, False) for node in roots]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
            continue
        if node.key in seen or node.memory is not None:
            continue
        seen.add(node.key)
        stack.append((node, True))
        for value, _ in reversed(node.sources):
            if type(value) is Node:
                stack.append((value, False))
    return order
