"""Pending expressions: nodes, the sources that they read, and their readers.

A `Node` is an immutable value: an operation over other values, or the contents of a block of
memory. builder.py makes nodes. A storage (the block of memory that arrays are views of) is pending
while it has a node but no memory. Evaluation gives the node memory, which a storage then takes.

A storage can be written to, but the value of its node cannot change. So before a write, everything
that still reads the node is computed (`dependants`), and the storage leaves its node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import count
from math import isfinite, prod
from typing import Any, Final, TypeAlias, final
from weakref import ref

import numpy as np

from ....contract.numpy_dtypes import NDArray
from ....contract.strided import Storage
from ....contract.ufuncs import UfuncLoop
from ....core.dtypes import DType
from ....core.view import View
from ....primitives import table as p
from ....primitives.table import Primitive
from ..engine.fperrors import located
from ..engine.loops import Loop

__all__ = [
    "Node", "ScalarValue", "Source", "SourceValue", "dependants", "forget", "leaf", "recount",
    "scalar", "walk",
]  # fmt: skip

_keys: Final = count()


@final
class ScalarValue:
    """A scalar in an expression.

    Attributes
    ----------
    array : ndarray
        Of one element.
    key : tuple
        Its bits and dtype, since 0.0 and -0.0 are equal but not the same scalar.
    """

    __slots__ = ("array", "key")

    array: NDArray
    key: tuple[bytes, str]

    def __init__(self, array: NDArray) -> None:
        self.array = array
        self.key = array.tobytes(), array.dtype.char


_MAX_SCALARS: Final = 1 << 10
_scalars: Final[dict[tuple[type, object, DType], ScalarValue]] = {}


def scalar(value: Any, dtype: DType) -> ScalarValue:
    """A Python scalar as a value of `dtype`."""
    if not value or type(value) is complex:  # as keys of the dict, 0.0 and -0.0 are equal
        return ScalarValue(located(np.full, 1, value, dtype))
    key = type(value), value, dtype
    found = _scalars.get(key)
    if found is None:
        if len(_scalars) >= _MAX_SCALARS:
            _scalars.clear()
        found = ScalarValue(located(np.full, 1, value, dtype))
        # A scalar that overflows is not kept, so that NumPy warns each time.
        if np.isfinite(found.array[0]) or not isfinite(value):
            _scalars[key] = found
    return found


@final
@dataclass(init=False, eq=False, repr=False, slots=True, weakref_slot=True)
class Node:
    """A value: a leaf (the contents of memory), or an operation, pending or computed.

    Attributes
    ----------
    op : Primitive, UfuncLoop or None
        None for a leaf, the contents of memory.
    loop : Loop or None
        Computes an element, or folds one into an accumulator; None for a leaf and a fill.
    sources : tuple of Source
        The operands, whose views have the shape `space`. Empty once there is memory.
    space : tuple of int
        The sizes over which the operation iterates.
    axes : tuple of int
        The axes of `space` that are reduced.
    shape : tuple of int
        `space` without `axes`. The elements lie row-major.
    identity : ndarray or None
        0-d: what accumulators start from.
    divisor : float or None
        By which a sum is divided.
    dtype : numpy.dtype
    errors : int
        Floating-point errors to warn of, as NumPy's bits.
    pending, leaves : frozenset
        The keys of the pending operations, and of the leaves of more than one element, in the whole
        expression. Their numbers are bounded: see `Builder`.
    memory : ndarray or None
        The elements (see `Memory`); None while the value is pending, and after `forget`.
    storages : list of weak references to Storage
        The storages that have this node. One of them may hold its memory.
    readers : list of weak references to Node
        The nodes that have this one for a source; some may have been computed since.
    next_prune : int
        The number of readers at which those are forgotten that have been computed.
    probes : int
        How often somebody read a single element while the value was pending.
    key : int
        No other node ever has the same.
    """

    op: Primitive | UfuncLoop | None
    loop: Loop | None
    sources: tuple[Source, ...]
    space: tuple[int, ...]
    axes: tuple[int, ...]
    shape: tuple[int, ...]
    identity: NDArray | None
    divisor: float | None
    dtype: DType
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
        op: Primitive | UfuncLoop | None,
        loop: Loop | None,
        sources: tuple[Source, ...],
        space: tuple[int, ...],
        dtype: DType,
        errors: int,
    ) -> None:
        self.key = next(_keys)
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
        self.count_operands()

    def __repr__(self) -> str:
        name = "memory" if self.op is None else self.op.name
        return f"<{name} {self.shape} {self.dtype}>"

    def count_operands(self) -> None:
        """Set `pending` and `leaves` from those of the sources."""
        self.pending = frozenset((self.key,))
        self.leaves = frozenset()
        value: SourceValue
        for value, view in self.sources:
            if view is not None:
                self.pending |= value.pending
                self.leaves |= value.leaves

    def live_storages(self) -> list[Storage]:
        """The storages that still exist and have this node."""
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
        """Take the computed elements in `memory`, and drop the sources."""
        self.memory = memory
        self.sources = ()
        self.pending = frozenset()
        self.leaves = frozenset((self.key,) if memory.shape != (1,) else ())

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
        """The pending mean, if there is one, of the elements of which this node is the variance."""
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
    """A node for the contents of `memory`."""
    node = Node(None, None, (), memory.shape, memory.dtype, 0)
    node.realise(memory)
    return node


def dependants(node: Node, live: Set[int] | None = None) -> list[Node]:
    """The pending values that need the memory of `node`, and that are wanted.

    Wanted are the values whose keys are in `live`, or, without `live`, those of living storages. Of
    values that need each other, the first ones on the way from `node` are enough.
    """
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
    """Make a builder find `node` no more, because its memory is about to change.

    To a builder, a node that has neither memory nor sources does not exist.
    """
    node.memory = None
    node.sources = ()


def recount(root: Node) -> None:
    """Leave out of `pending` and `leaves`, in a whole expression, what has been computed since its
    nodes were made."""
    for node in walk((root,)):
        node.count_operands()


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
