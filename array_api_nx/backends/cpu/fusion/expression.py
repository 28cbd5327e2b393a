"""Pending expressions: what will be computed, from what, and who reads it.

A `Node` is an immutable value: an operation over other values, or the contents of a block of
memory. Equal expressions are one node. A *storage* (what arrays are views of) is pending while it
has a node but no memory; evaluation gives the node memory, which a storage then holds.

The memory of a node that storages hold can be written to. Before that happens, everything that
still needs the value is computed, and the storage leaves its node: see `dependants`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from threading import RLock
from typing import Any, Final, TypeAlias, final
from weakref import WeakValueDictionary, ref

import numpy as np

from ....core.view import View
from ....primitives import Primitive
from ...strided import Storage
from .loops import Loop

__all__ = [
    "MAX_LEAVES",
    "MAX_PENDING",
    "Node",
    "Source",
    "dependants",
    "elementwise",
    "fill",
    "forget",
    "leaf",
    "lock",
    "reduction",
    "scalar_key",
    "walk",
]

NDArray: TypeAlias = np.ndarray[Any, Any]

Source: TypeAlias = "tuple[Node, View] | tuple[NDArray, None]"
"""What an operation reads: a value through a view of its elements, or a scalar."""

lock: Final = RLock()
"""Held whenever expressions are made, evaluated or settled."""

MAX_PENDING: Final = 64
"""How many operations may be pending in one expression."""
MAX_LEAVES: Final = 24
"""How many different blocks of memory and scalars a pending expression may read."""

_serials: Final = count()
_nodes: Final[WeakValueDictionary[tuple[Any, ...], Node]] = WeakValueDictionary()


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
        What the expression is made of, to keep it bounded.
    memory : ndarray or None
        One-dimensional; None while the value is pending, and again once a storage took it away.
    storages : list of weak references to Storage
        Those whose elements this value is. One of them may hold the memory.
    """

    __slots__ = (
        "__weakref__",
        "_consumers",
        "_next_prune",
        "axes",
        "divisor",
        "dtype",
        "errors",
        "identity",
        "key",
        "leaves",
        "loop",
        "memory",
        "op",
        "pending",
        "serial",
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
    dtype: np.dtype[Any]
    errors: int
    pending: frozenset[int]
    leaves: frozenset[Any]
    memory: NDArray | None
    storages: list[ref[Storage]]
    serial: int
    key: tuple[Any, ...] | None
    _consumers: list[ref[Node]]
    _next_prune: int

    def __repr__(self) -> str:
        name = "memory" if self.op is None else self.op.name
        return f"<{name} {self.shape} {self.dtype}>"

    def live_storages(self) -> list[Storage]:
        """The storages that still exist and whose elements this is."""
        return [storage for reference in self.storages if (storage := reference()) is not None]

    def consumers(self) -> Iterator[Node]:
        """Pending nodes that read this one."""
        for reference in self._consumers:
            node = reference()
            if node is not None and node.memory is None and node.sources:
                yield node

    def attach(self, storage: Storage) -> None:
        """Make this the value of `storage`."""
        storage.node = self
        self.storages = [r for r in self.storages if r() is not None]
        self.storages.append(ref(storage))

    def realise(self, memory: NDArray) -> None:
        """The value is computed: it lies in `memory`, and its sources are not needed any more."""
        self.memory = memory
        self.sources = ()
        self.pending = frozenset()
        self.leaves = frozenset((self.serial,))

    def _add_consumer(self, node: Node) -> None:
        if len(self._consumers) >= self._next_prune:
            self._consumers = [ref(consumer) for consumer in self.consumers()]
            self._next_prune = max(8, 2 * len(self._consumers))
        self._consumers.append(ref(node))


def _new() -> Node:
    node = Node()
    node.serial = next(_serials)
    node._consumers = []
    node._next_prune = 8
    node.storages = []
    node.memory = None
    node.key = None
    node.op = None
    node.loop = None
    node.sources = ()
    node.axes = ()
    node.identity = None
    node.divisor = None
    node.errors = 0
    node.pending = frozenset()
    return node


def leaf(memory: NDArray) -> Node:
    """The contents of `memory`, which is one-dimensional and contiguous."""
    node = _new()
    node.space = node.shape = memory.shape
    node.dtype = memory.dtype
    node.memory = memory
    node.leaves = frozenset((node.serial,))
    return node


def fill(op: Primitive, shape: tuple[int, ...], value: NDArray) -> Node:
    """The scalar `value` everywhere."""
    return _interned((op, shape, scalar_key(value)), op, None, ((value, None),), shape, 0)


def elementwise(
    op: Primitive, loop: Loop, sources: tuple[Source, ...], space: tuple[int, ...], errors: int
) -> Node:
    """``loop`` of the sources, element by element."""
    key = (loop, errors, space, *[_source_key(source) for source in sources])
    return _interned(key, op, loop, sources, space, errors)


def reduction(
    op: Primitive,
    loop: Loop,
    identity: NDArray,
    source: Source,
    space: tuple[int, ...],
    axes: tuple[int, ...],
    divisor: float | None,
    errors: int,
) -> Node:
    """``loop`` over the `axes` of the source, divided by `divisor` if it is given."""
    # NaN is not equal to itself, but is the same divisor.
    key = (loop, errors, space, axes, repr(divisor), op, _source_key(source))
    node = _interned(key, op, loop, (source,), space, errors)
    node.axes = axes
    node.shape = tuple([size for axis, size in enumerate(space) if axis not in axes])
    node.identity = identity
    node.divisor = divisor
    # An accumulator may be wider than the elements.
    node.dtype = identity.dtype
    return node


def _source_key(source: Source) -> Any:
    value, view = source
    return scalar_key(value) if view is None else (value.serial, view)  # type: ignore[union-attr, arg-type]


def scalar_key(value: NDArray) -> tuple[bytes, str]:
    # By bits: 0.0 and -0.0 are equal, but not the same.
    return value.tobytes(), value.dtype.char


def _interned(
    key: tuple[Any, ...],
    op: Primitive,
    loop: Loop | None,
    sources: tuple[Source, ...],
    space: tuple[int, ...],
    errors: int,
) -> Node:
    known = _nodes.get(key)
    if known is not None:
        return known
    node = _new()
    node.op = op
    node.loop = loop
    node.sources = sources
    node.space = node.shape = space
    node.errors = errors
    pending: list[frozenset[int]] = []
    leaves: list[frozenset[Any]] = []
    for value, view in sources:
        if view is None:
            leaves.append(frozenset((scalar_key(value),)))  # type: ignore[arg-type]
        else:
            pending.append(value.pending)  # type: ignore[union-attr]
            leaves.append(value.leaves)  # type: ignore[union-attr]
            value._add_consumer(node)  # type: ignore[union-attr]
    node.pending = frozenset((node.serial,)).union(*pending)
    node.leaves = leaves[0].union(*leaves[1:])
    node.dtype = sources[0][0].dtype if loop is None else loop.output
    node.key = key
    _nodes[key] = node
    return node


def dependants(node: Node, without: Node | None = None) -> list[Node]:
    """The pending values of living arrays that need the memory of `node`.

    `without` is not among them, but what needs it is.
    """
    found: list[Node] = []
    seen = {node.serial}
    stack = [node]
    while stack:
        for consumer in stack.pop().consumers():
            if consumer.serial in seen:
                continue
            seen.add(consumer.serial)
            if consumer is not without and consumer.live_storages():
                found.append(consumer)
            else:
                stack.append(consumer)
    return found


def forget(node: Node) -> None:
    """The memory of `node` is about to change: nothing may find the value there any more."""
    node.memory = None
    node.sources = ()
    if node.key is not None:
        _nodes.pop(node.key, None)
        node.key = None


def walk(roots: Iterable[Node], inside: Callable[[Node], bool]) -> list[Node]:
    """The nodes that `roots` need and for which `inside` holds, operands first."""
    order: list[Node] = []
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(node, False) for node in roots]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
            continue
        if node.serial in seen or not inside(node):
            continue
        seen.add(node.serial)
        stack.append((node, True))
        for value, view in reversed(node.sources):
            if view is not None:
                stack.append((value, False))  # type: ignore[arg-type]
    return order
