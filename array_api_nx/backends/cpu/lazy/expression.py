"""Pending expressions: what will be computed, from what, and who reads it.

A `Node` is an immutable value: an operation over other values, or the contents of a block of
memory. Equal expressions are one node. A *storage* (what arrays are views of) is pending while it
has a node but no memory; evaluation gives the node memory, which a storage then holds.

The memory of a node that storages hold can be written to. Before that happens, everything that
still needs the value is computed, and the storage leaves its node: see `dependants`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from itertools import count
from math import isfinite, prod
from typing import Any, Final, TypeAlias, final
from weakref import ref

import numpy as np

from ....contract import primitives as p
from ....contract.primitives import Primitive
from ....contract.strided import Storage
from ....core.view import View
from ..engine import loops
from ..engine.fperrors import located
from ..engine.loops import Loop
from ..storage import lock

__all__ = [
    "MAX_LEAVES",
    "MAX_PENDING",
    "Node",
    "ScalarValue",
    "Source",
    "cse_scope",
    "dependants",
    "elementwise",
    "fill",
    "forget",
    "is_bounded",
    "leaf",
    "lock",
    "mean_of",
    "padding",
    "reduction",
    "scalar",
    "walk",
]

NDArray: TypeAlias = np.ndarray[Any, Any]

Source: TypeAlias = "tuple[Node, View] | tuple[ScalarValue, None]"
"""What an operation reads: a value through a view of its elements, or a scalar."""


MAX_PENDING: Final = 64
"""How many operations may be pending in one expression."""
MAX_LEAVES: Final = 24
"""How many different blocks of memory and scalars a pending expression may read."""

cse_scope: Final[ContextVar[int]] = ContextVar("array_api_nx.cse_scope", default=0)
"""Equal expressions of different scopes are different nodes. Where programs are planned, memory has
no elements, and no expression outside may find it."""

_keys: Final = count()

# Living nodes by what they are. Those that died are swept out when the dict has doubled.
_nodes: Final[dict[tuple[Any, ...], ref[Node]]] = {}
_MIN_SWEEP: Final = 1 << 10
_next_sweep = _MIN_SWEEP


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
_scalars: Final[dict[tuple[type, Any, np.dtype[Any]], ScalarValue]] = {}


def scalar(value: Any, dtype: np.dtype[Any]) -> ScalarValue:
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
        What the expression is made of, to keep it bounded.
    memory : ndarray or None
        One-dimensional; None while the value is pending, and again once a storage took it away.
    storages : list of weak references to Storage
        Those whose elements this value is. One of them may hold the memory.
    probes : int
        How often one element alone was looked at.
    key : int
        No other node ever has the same.
    table_key : tuple or None
        What an equal expression looks for.
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
        "probes",
        "shape",
        "sources",
        "space",
        "storages",
        "table_key",
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
    probes: int
    key: int
    table_key: tuple[Any, ...] | None
    _consumers: list[ref[Node]]
    _next_prune: int

    def __repr__(self) -> str:
        name = "memory" if self.op is None else self.op.name
        return f"<{name} {self.shape} {self.dtype}>"

    def live_storages(self) -> list[Storage]:
        """The storages that still exist and whose elements this is."""
        return [s for r in self.storages if (s := r()) is not None and s.node is self]

    def consumers(self) -> Iterator[Node]:
        """Pending nodes that read this one."""
        for reference in self._consumers:
            node = reference()
            if node is not None and node.memory is None and node.sources:
                yield node

    def attach(self, storage: Storage) -> None:
        """Make this the value of `storage`."""
        storage.node = self
        if self.storages:
            self.storages = [r for r in self.storages if r() is not None]
        self.storages.append(ref(storage))

    def realise(self, memory: NDArray) -> None:
        """The value is computed: it lies in `memory`, and its sources are not needed any more."""
        self.memory = memory
        self.sources = ()
        self.pending = frozenset()
        self.leaves = frozenset((self.key,))

    def _add_consumer(self, node: Node) -> None:
        if len(self._consumers) >= self._next_prune:
            self._consumers = [ref(consumer) for consumer in self.consumers()]
            self._next_prune = max(8, 2 * len(self._consumers))
        self._consumers.append(ref(node))


def _new(
    op: Primitive | None, loop: Loop | None, sources: tuple[Source, ...], space: tuple[int, ...]
) -> Node:
    node = Node()
    node.key = next(_keys)
    node.op = op
    node.loop = loop
    node.sources = sources
    node.space = node.shape = space
    node.memory = None
    node.table_key = None
    node.axes = ()
    node.identity = None
    node.divisor = None
    node.errors = 0
    node.probes = 0
    node.storages = []
    node._consumers = []
    node._next_prune = 8
    return node


def leaf(memory: NDArray) -> Node:
    """The contents of `memory`, which is one-dimensional and contiguous."""
    node = _new(None, None, (), memory.shape)
    node.dtype = memory.dtype
    node.realise(memory)
    return node


def fill(op: Primitive, shape: tuple[int, ...], value: ScalarValue) -> Node:
    """The scalar `value` everywhere."""
    key = cse_scope.get(), op, shape, value.key  # only fills read no memory, which has a scope
    node = _known(key)
    if node is None:
        node = _new(op, None, ((value, None),), shape)
        node.dtype = value.array.dtype
        _remember(key, node)
    return node


def padding(value: Node, view: View, fill: ScalarValue) -> Node:
    """What `view` shows of a value, and `fill` where it has no memory."""
    loop = loops.cast(value.dtype, value.dtype)
    assert loop is not None
    sources: tuple[Source, ...] = (value, view), (fill, None)
    return elementwise(p.PAD, loop, sources, view.shape, 0)  # type: ignore[arg-type]


def elementwise(
    op: Primitive, loop: Loop, sources: tuple[Source, ...], space: tuple[int, ...], errors: int
) -> Node:
    """``loop`` of the sources, element by element."""
    key = loop, errors, space, *[(value.key, view) for value, view in sources]
    node = _known(key)
    if node is None:
        node = _new(op, loop, sources, space)
        node.errors = errors
        node.dtype = loop.output
        _remember(key, node)
    return node


def reduction(
    op: Primitive,
    loop: Loop,
    identity: NDArray,
    source: tuple[Node, View],
    space: tuple[int, ...],
    axes: tuple[int, ...],
    divisor: float | None,
    errors: int,
) -> Node:
    """``loop`` over the `axes` of the source, divided by `divisor` if it is given."""
    key = _reduction_key(op, loop, errors, space, axes, divisor, source)
    node = _known(key)
    if node is None:
        node = _new(op, loop, (source,), space)
        node.errors = errors
        node.axes = axes
        node.shape = tuple([size for axis, size in enumerate(space) if axis not in axes])
        node.identity = identity
        node.divisor = divisor
        # An accumulator may be wider than the elements, or hold more than the result.
        node.dtype = loop.inputs[1] if op is p.VAR else identity.dtype
        _remember(key, node)
    return node


def _reduction_key(
    op: Primitive,
    loop: Loop,
    errors: int,
    space: tuple[int, ...],
    axes: tuple[int, ...],
    divisor: float | None,
    source: Source,
) -> tuple[Any, ...]:
    value, view = source
    # NaN is not equal to itself, but is the same divisor.
    return loop, errors, space, axes, repr(divisor), op, value.key, view


def mean_of(node: Node) -> Node | None:
    """The mean of what a pending `node` is the variance of, if something waits for it."""
    if node.op is not p.VAR:
        return None
    count = prod(node.space) // prod(node.shape)
    found = loops.reduction(p.SUM, node.dtype)
    assert found is not None
    mean = _known(
        _reduction_key(p.SUM, found[0], node.errors, node.space, node.axes, count, node.sources[0])
    )
    return None if mean is None or mean.memory is not None else mean


def _known(key: tuple[Any, ...]) -> Node | None:
    found = _nodes.get(key)
    return None if found is None else found()


def _remember(key: tuple[Any, ...], node: Node) -> None:
    """Make a new node known to those that look for it, and to those that it reads."""
    global _next_sweep
    node.table_key = key
    pending = [frozenset((node.key,))]
    leaves = []
    for value, view in node.sources:
        if view is None:
            leaves.append(frozenset((value.key,)))
        else:
            assert isinstance(value, Node)
            pending.append(value.pending)
            leaves.append(value.leaves)
            value._add_consumer(node)
    node.pending = pending[0].union(*pending[1:])
    node.leaves = leaves[0].union(*leaves[1:])
    if len(_nodes) >= _next_sweep:
        for known, reference in list(_nodes.items()):
            if reference() is None:
                del _nodes[known]
        _next_sweep = max(_MIN_SWEEP, 2 * len(_nodes))
    _nodes[key] = ref(node)


def is_bounded(node: Node) -> bool:
    """Whether an expression is small enough to wait."""
    return len(node.pending) <= MAX_PENDING and len(node.leaves) <= MAX_LEAVES


def dependants(node: Node) -> list[Node]:
    """The pending values of living arrays that need the memory of `node`."""
    found: list[Node] = []
    seen = {node.key}
    stack = [node]
    while stack:
        for consumer in stack.pop().consumers():
            if consumer.key in seen:
                continue
            seen.add(consumer.key)
            if consumer.live_storages():
                found.append(consumer)
            else:
                stack.append(consumer)
    return found


def forget(node: Node) -> None:
    """The memory of `node` is about to change: nothing may find the value there any more."""
    node.memory = None
    node.sources = ()
    if node.table_key is not None:
        _nodes.pop(node.table_key, None)
        node.table_key = None


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
        for value, view in reversed(node.sources):
            if view is not None:
                stack.append((value, False))  # type: ignore[arg-type]
    return order
