"""From operations on values to the nodes of expressions.

A `Builder` knows which loops compute an operation, in which order it iterates over axes, and which
operations are composed of others. It knows nothing of arrays or settings, or of when a node is
computed: deferral.py calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import nan, prod
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar
from weakref import ref

import numpy as np

from ....contract.backend import Scalar
from ....contract.numpy_dtypes import NDArray
from ....contract.ufuncs import UfuncLoop
from ....core.dtypes import NARROW, DType
from ....core.shape import broadcast_shapes
from ....core.symbolic import KnownInts
from ....core.view import View
from ....primitives import table as p
from ....primitives.table import Primitive
from ..engine import loops
from ..engine.loops import Loop
from .expression import Node, ScalarValue, Source, SourceValue, recount, scalar

__all__ = [
    "Arrangement",
    "Builder",
    "NodeView",
    "Operand",
    "TooLarge",
    "in_steps",
    "is_plain_power",
    "new_node_view",
]

_T = TypeVar("_T")

MAX_PENDING: Final = 192
"""How many operations may be pending in one expression.
Each new node has the set of those below it (docs/tuning.md, 30)."""
MAX_LEAVES: Final = 24
"""How many different blocks of memory, of more than one element, a pending expression may read
(docs/tuning.md, 31)."""

_MIN_SWEEP: Final = 1 << 10

MIN_PRODUCT: Final = 2**15
MAX_INNER: Final = 64
MAX_WIDTH: Final = 256
"""Elements of a product of matrices from which a pass may compute it in tiles, and the most
summands and columns. A tile of about a thousand elements is a task of microseconds for one thread
of BLAS; larger factors BLAS multiplies faster at one go, since it arranges them for the caches."""


class NodeView(NamedTuple):
    """The elements of a node, seen through a view."""

    node: Node
    view: View

    @property
    def shape(self) -> KnownInts:
        return self.view.shape


Operand: TypeAlias = "NodeView | Any"
"""A value or, for Any, a Python scalar. One operand of an operation is a value: code that has found
the others to be scalars need not ask."""

new_node_view: Final = partial(tuple.__new__, NodeView)
"""``new_node_view((node, view))`` is `NodeView(node, view)`, without a `__new__` in Python."""


class TooLarge(Exception):
    """An expression would be too large to wait. `largest`, which it reads, must be computed first.

    Then the caller repeats its call, which succeeds or raises this for another node. Until then the
    caller keeps `largest` alive. `in_steps` does all that.
    """

    def __init__(self, largest: Node) -> None:
        super().__init__(largest)
        self.largest = largest


def in_steps(build: Callable[[], _T], compute: Callable[[Node], None]) -> _T:
    """What `build` returns, after `compute` was called for each node that it found too large."""
    computed: list[Node] = []
    while True:
        try:
            return build()
        except TooLarge as error:
            computed.append(error.largest)
        compute(computed[-1])


class Builder:
    """Makes nodes. Equal expressions get the same node while it lives.

    The methods that return a value are named after the methods of `Backend` that they implement.
    They return None if no loop of NumPy's computes the operation. `errors` are the floating-point
    errors to warn of, as NumPy's bits. All may raise `TooLarge`: an expression has at most
    `MAX_PENDING` pending operations and `MAX_LEAVES` leaves. No operand may be empty.
    """

    def __init__(self) -> None:
        # Living nodes by loop, sources and so on. A key has the ids of views, which the entry keeps
        # alive therefore. Entries of dead nodes are swept out when the dict has doubled.
        self._nodes: dict[tuple[object, ...], tuple[ref[Node], tuple[View, ...]]] = {}
        self._next_sweep = _MIN_SWEEP

    # ------------------------------------------------------------------ element by element

    def unary(self, op: Primitive, x: NodeView, *, errors: int) -> NodeView | None:
        loop = loops.find(op, x.node.dtype)
        return None if loop is None else self._elementwise(op, loop, (x,), errors)

    def binary(self, op: Primitive, x1: Operand, x2: Operand, *, errors: int) -> NodeView | None:
        dtype = (x1 if type(x1) is NodeView else x2).node.dtype
        if op is p.POW:
            if type(x1) is NodeView and type(x2) is not NodeView and x2 == 2:
                # NumPy squares, too. Complex powers it computes as no loop here does.
                return None if dtype.kind == "c" else self.unary(p.SQUARE, x1, errors=errors)
            shape = x1.view.shape if type(x1) is NodeView else None
            if not is_plain_power(dtype, shape, x2.view if type(x2) is NodeView else x2):
                return None
        loop = loops.find(op, dtype)
        return None if loop is None else self._elementwise(op, loop, (x1, x2), errors)

    def apply(self, op: UfuncLoop, *operands: Operand, errors: int) -> NodeView | None:
        loop = loops.of_ufunc(op)
        return None if loop is None else self._elementwise(op, loop, operands, errors)

    def where(
        self, condition: NodeView, x1: Operand, x2: Operand, *, errors: int
    ) -> NodeView | None:
        dtype = (x1 if type(x1) is NodeView else x2).node.dtype
        if condition.node.op is p.ISNAN and type(x1) is not NodeView and _asks(condition, x2):
            # One loop in place of two, and no mask between them.
            loop = loops.replace_nan(dtype)
            if loop is not None:
                return self._elementwise(p.WHERE, loop, (x2, x1), errors)
        return self._elementwise(p.WHERE, loops.select(dtype), (condition, x1, x2), errors)

    def clip(
        self, x: NodeView, low: Operand | None, high: Operand | None, *, errors: int
    ) -> NodeView | None:
        limited: NodeView | None = x
        if low is not None:
            limited = self.binary(p.MAXIMUM, x, low, errors=errors)
        if high is None or limited is None:
            return limited
        return self.binary(p.MINIMUM, limited, high, errors=errors)

    def cast(self, x: NodeView, dtype: DType, *, errors: int) -> NodeView | None:
        return self._cast(x, dtype, errors)

    def _cast(self, x: NodeView, dtype: DType, errors: int) -> NodeView | None:
        loop = loops.cast(x.node.dtype, dtype)
        return None if loop is None else self._elementwise(p.CAST, loop, (x,), errors)

    def copy(self, x: NodeView, *, errors: int) -> NodeView | None:
        """A row-major copy."""
        loop = loops.cast(x.node.dtype, x.node.dtype)
        if loop is None:
            return None
        return self._elementwise(p.COPY, loop, (x,), errors, row_major=True)

    def arranged(
        self,
        op: Primitive | UfuncLoop,
        loop: Loop,
        operands: Sequence[Operand],
        shape: tuple[int, ...],
        *,
        errors: int,
        row_major: bool = False,
    ) -> tuple[Node, Arrangement | None]:
        """The node of `loop` over operands broadcast to `shape`, and its order of axes.

        The order is that of the operands in memory; None stands for row-major order, to which
        `row_major` forces it.
        """
        sources: list[Source] = []
        for x, dtype in zip(operands, loop.inputs, strict=True):
            if type(x) is NodeView:
                node, view = x
                row_major = row_major or view.is_row_major
                sources.append((node, view if view.shape == shape else view.expand(shape)))
            else:
                sources.append((scalar(x, dtype), None))
        arrangement = None
        if not row_major:
            views = [view for _, view in sources if view is not None]
            arrangement = Arrangement.of(views, shape)
        if arrangement is not None:
            shape = arrangement.shape
            sources = [
                (value, None if view is None else arrangement.apply(view))
                for value, view in sources
            ]
        return self._node(op, loop, tuple(sources), shape, errors), arrangement

    def _elementwise(
        self,
        op: Primitive | UfuncLoop,
        loop: Loop,
        operands: Sequence[Operand],
        errors: int,
        row_major: bool = False,
    ) -> NodeView:
        shape: KnownInts = None
        for x in operands:
            if type(x) is NodeView:
                own: KnownInts = x.view.shape
                if shape is None:
                    shape = own
                elif own != shape:
                    shape = broadcast_shapes(shape, own)
        node, arrangement = self.arranged(
            op, loop, operands, shape, errors=errors, row_major=row_major
        )
        if arrangement is not None:
            return NodeView(node, arrangement.undo(View.row_major(node.shape)))
        for x in operands:
            if type(x) is NodeView:
                view = x.view
                if (
                    view.is_row_major
                    and view.shape == shape
                    and not (view.offset or view.is_read_only)
                ):
                    return new_node_view((node, view))  # equal to View.row_major(shape)
        return NodeView(node, View.row_major(shape))

    def _node(
        self,
        op: Primitive | UfuncLoop,
        loop: Loop,
        sources: tuple[Source, ...],
        space: KnownInts,
        errors: int,
    ) -> Node:
        """The node of an operation element by element."""
        key: tuple[object, ...] = loop, errors, space
        for value, view in sources:
            key += value.key, id(view)
        node = self._known(key)
        if node is None:
            node = self._add(key, Node(op, loop, sources, space, loop.output, errors))
        return node

    # ------------------------------------------------------------------ products

    def matmul(self, x1: NodeView, x2: NodeView, *, errors: int) -> NodeView | None:
        """None unless `x1` is a tall matrix, `x2` has few rows and columns, and both lie as BLAS
        takes them: so no tile of the product needs more memory."""
        dtype = x1.node.dtype
        if x1.view.ndim != 2 or x2.view.ndim != 2 or x2.node.dtype != dtype:
            return None
        rows, inner = x1.view.shape
        columns = x2.view.shape[1]
        if (
            rows * columns < MIN_PRODUCT
            or rows < columns
            or not 2 <= inner <= MAX_INNER
            or not 2 <= columns <= MAX_WIDTH
            or not (_is_for_blas(x1) and _is_for_blas(x2))
        ):
            return None
        loop = loops.product(dtype, inner)
        if loop is None:
            return None
        shape = rows, columns
        node = self._node(p.MATMUL, loop, ((x1.node, x1.view), (x2.node, x2.view)), shape, errors)
        return NodeView(node, View.row_major(shape))

    # ------------------------------------------------------------------ fills and padding

    def full(self, shape: tuple[int, ...], dtype: DType, value: Scalar, *, errors: int) -> NodeView:
        number = scalar(value, dtype)
        key = p.FULL, shape, number.key
        node = self._known(key)
        if node is None:
            node = self._add(key, Node(p.FULL, None, ((number, None),), shape, dtype, 0))
        return NodeView(node, View.row_major(shape))

    def draw(
        self, drawing: NDArray | NodeView, kind: str, dtype: DType, count: int, **_: int
    ) -> NodeView:
        """So many random numbers of what `native.drawing` describes, which passes draw tile by
        tile."""
        source = drawing.node if isinstance(drawing, NodeView) else ScalarValue(drawing)
        node = self._node(p.DRAW, loops.drawn(kind, dtype), ((source, None),), (count,), 0)
        return NodeView(node, View.row_major(node.shape))

    def pad(
        self, x: NodeView, padding: tuple[tuple[int, int], ...], value: Scalar, *, errors: int
    ) -> NodeView | None:
        """Passes that read the result read `x` instead, and `value` around it."""
        if not any([before or after for before, after in padding]):
            return self.copy(x, errors=errors)
        node, view = x
        number = scalar(value, node.dtype)
        if node.op is p.PAD and node.memory is None and view is View.row_major(node.shape):
            (inside, around), (known, _) = node.sources
            if known.key == number.key:
                assert type(inside) is Node
                assert around is not None
                node, view = inside, around
        if node.memory is None and node.loop is None:
            return None  # a fill, which has no memory for a pass to read
        loop = loops.cast(node.dtype, node.dtype)
        assert loop is not None
        padded = view.pad(padding)
        result = self._node(p.PAD, loop, ((node, padded), (number, None)), padded.shape, 0)
        return NodeView(result, View.row_major(result.shape))

    # ------------------------------------------------------------------ reductions

    def reduce(
        self,
        op: Primitive,
        x: NodeView,
        axes: tuple[int, ...],
        keepdims: bool,
        dtype: DType | None = None,
        *,
        errors: int,
    ) -> NodeView | None:
        count = prod([x.shape[axis] for axis in axes])
        if count == 1:
            return None
        target = x.node.dtype if dtype is None else dtype
        divisor = None
        if op in (p.ANY, p.ALL, p.COUNT_NONZERO):
            target = np.dtype(bool)
            if op is not p.COUNT_NONZERO and x.node.dtype == target and x.node.memory is not None:
                return None  # NumPy stops where the answer is known
        elif op is p.PROD and target.kind == "c":
            return None  # the sign of a zero part depends on what the product starts from
        elif op is p.MEAN:
            op, divisor = p.SUM, count
        return self._reduced(op, x, axes, keepdims, target, divisor, errors)

    def var(
        self, x: NodeView, axes: tuple[int, ...], keepdims: bool, correction: float, *, errors: int
    ) -> NodeView | None:
        """None also for complex numbers."""
        dtype = x.node.dtype
        count = prod([x.shape[axis] for axis in axes])
        if dtype.kind != "f" or count == 1 or (dtype in NARROW and count < loops.MIN_MOMENTS):
            return None
        divisor = count - correction if count > correction else nan
        if count >= loops.MIN_MOMENTS:
            return self._reduced(p.VAR, x, axes, keepdims, dtype, divisor, errors)
        mean = self._reduced(p.SUM, x, axes, True, dtype, count, errors)
        distance = None if mean is None else self.binary(p.SUBTRACT, x, mean, errors=errors)
        if distance is None:
            return None
        squares = self.binary(p.MULTIPLY, distance, distance, errors=errors)
        if squares is None:
            return None
        return self._reduced(p.SUM, squares, axes, keepdims, dtype, divisor, errors)

    def vecdot(self, x1: NodeView, x2: NodeView, *, errors: int) -> NodeView | None:
        if x1.node.dtype.kind == "c":
            conjugate = self.unary(p.CONJ, x1, errors=errors)
            if conjugate is None:
                return None
            x1 = conjugate
        products = self.binary(p.MULTIPLY, x1, x2, errors=errors)
        if products is None:
            return None
        axis = products.view.ndim - 1
        return self.reduce(p.SUM, products, (axis,), False, errors=errors)

    def _reduced(
        self,
        op: Primitive,
        x: NodeView,
        axes: tuple[int, ...],
        keepdims: bool,
        dtype: DType,
        divisor: float | None,
        errors: int,
    ) -> NodeView | None:
        """The reduction `op` of `x` as `dtype`, divided by `divisor` if it is given."""
        if dtype in NARROW:
            wide = self._reduced(op, x, axes, keepdims, NARROW[dtype], divisor, errors)
            return None if wide is None else self._cast(wide, dtype, errors)
        found = loops.reduction(op, dtype)
        if found is None:
            return None
        if x.node.dtype != dtype:
            converted = self._cast(x, dtype, errors)
            if converted is None:
                return None
            x = converted
        loop, identity = found
        node, view = x
        shape: KnownInts = view.shape
        arrangement = None if view.is_row_major else Arrangement.of([view], shape)
        order = tuple(range(len(shape))) if arrangement is None else arrangement.order
        if arrangement is not None:
            shape, view = arrangement.shape, arrangement.apply(view)
        beside_nan = _numbers_of(op, node, view, identity)
        if beside_nan is not None:
            loop, (node, view) = beside_nan
        reduced = tuple([i for i, axis in enumerate(order) if axis in axes])
        # NaN is not equal to itself, but is the same divisor.
        key = loop, errors, shape, reduced, repr(divisor), op, node.key, id(view)
        result = self._known(key)
        if result is None:
            # The accumulators of VAR are moments, those of COUNT_NONZERO int64.
            output = loop.inputs[1] if op is p.VAR else identity.dtype
            result = Node(op, loop, ((node, view),), shape, output, errors)
            result.axes = reduced
            result.shape = tuple([n for i, n in enumerate(shape) if i not in reduced])
            result.identity = identity
            result.divisor = divisor
            self._add(key, result)
        return NodeView(result, _reduced_view(result.shape, order, axes, keepdims))

    # ------------------------------------------------------------------ the table of nodes

    def _known(self, key: tuple[object, ...]) -> Node | None:
        found = self._nodes.get(key)
        node = None if found is None else found[0]()
        # A node that `expression.forget` had has neither.
        return node if node is not None and (node.sources or node.memory is not None) else None

    def _add(self, key: tuple[object, ...], node: Node) -> Node:
        """Enter a new node in the table, and as a reader in the nodes that it reads."""
        if len(node.pending) > MAX_PENDING or len(node.leaves) > MAX_LEAVES:
            recount(node)
        if len(node.pending) > MAX_PENDING or len(node.leaves) > MAX_LEAVES:
            read = [value for value, _ in node.sources if type(value) is Node]
            raise TooLarge(max(read, key=lambda value: (len(value.pending), len(value.leaves))))
        reference = ref(node)
        views = []
        value: SourceValue
        for value, view in node.sources:
            if view is not None:
                readers = value.readers
                readers.append(reference)
                if len(readers) >= value.next_prune:
                    value.prune_readers()
                views.append(view)
        if len(self._nodes) >= self._next_sweep:
            for known, (other, _) in list(self._nodes.items()):
                if other() is None:
                    del self._nodes[known]
            self._next_sweep = max(_MIN_SWEEP, 2 * len(self._nodes))
        self._nodes[key] = reference, tuple(views)
        return node


def is_plain_power(dtype: DType, shape: KnownInts | None, exponent: View | Any | None) -> bool:
    """Whether the loop of POW gives what `kernels` gives, which corrects some exponents.

    Parameters
    ----------
    dtype : numpy.dtype
    shape : tuple of int or None
        Of the base; None for a scalar.
    exponent : View or Scalar or None
        The view of an array, None if that is not known.
    """
    if type(exponent) is View or exponent is None:
        # NumPy has special cases for an exponent that is the same for all elements (stride 0).
        if dtype.kind != "f" or exponent is None or exponent.has_repeats or exponent.size == 1:
            return False
        return shape is None or shape == exponent.shape
    return bool(exponent != 0.5) if dtype.kind == "f" else dtype.kind in "iu" and exponent >= 0


def _is_for_blas(x: NodeView) -> bool:
    """Whether a matrix has adjacent elements along one axis, and rows or columns of them that do
    not overlap."""
    if x.view.mask is not None or (x.node.loop is None and x.node.memory is None):
        return False
    (rows, columns), (down, across) = x.view.shape, x.view.strides
    return (across == 1 and down >= columns) or (down == 1 and across >= rows)


def _asks(condition: NodeView, x: NodeView) -> bool:
    """Whether `condition` is an operation on `x`, element by element, that is pending."""
    node, view = condition
    if node.memory is not None or view is not View.row_major(node.shape):
        return False
    return any([source is x.node and seen is x.view for source, seen in node.sources])


def _numbers_of(
    op: Primitive, node: Node, view: View, identity: NDArray
) -> tuple[Loop, tuple[Node, View]] | None:
    """For a reduction that replaces NaN by its identity: the loop that passes over NaN instead, and
    what it reads."""
    if op is not p.MAX and op is not p.MIN:
        return None
    dtype = node.dtype
    if node.memory is not None or node.loop is None or node.loop is not loops.replace_nan(dtype):
        return None
    (source, seen), (value, _) = node.sources
    if type(value) is not ScalarValue or value.array[0] != identity:
        return None
    loop = loops.extreme(op, dtype)
    if loop is None or view is not View.row_major(node.shape):
        return None
    assert type(source) is Node
    assert seen is not None
    return loop, (source, seen)


class Arrangement:
    """The order in which an operation iterates over axes: that in which NumPy lays out the result.

    Attributes
    ----------
    shape : tuple of int
        The sizes, in that order.
    order : tuple of int
        Axis i of the operation is axis ``order[i]`` of the result.
    """

    __slots__ = ("order", "shape")

    def __init__(self, shape: tuple[int, ...], order: tuple[int, ...]) -> None:
        self.shape = tuple([shape[axis] for axis in order])
        self.order = order

    @staticmethod
    def of(views: Sequence[View], shape: tuple[int, ...]) -> Arrangement | None:
        """The order in which the first operand that is not broadcast lies in memory; None for
        row-major, and if any such operand has its axes in that order, as in NumPy."""
        full = [view for view in views if not view.has_repeats]
        if not full or any([_is_in_order(view) for view in full]):
            return None
        steps: KnownInts = full[0].strides
        order = tuple(
            sorted(range(len(shape)), key=lambda axis: -abs(steps[axis]) if shape[axis] > 1 else 0)
        )
        return None if order == tuple(range(len(shape))) else Arrangement(shape, order)

    def apply(self, view: View) -> View:
        """The view of an operand with its axes in the order of iteration."""
        return view.permute(self.order)

    def undo(self, view: View) -> View:
        """The view of the result, from one with its axes in the order of iteration."""
        return view.permute(tuple([self.order.index(axis) for axis in range(len(self.order))]))


def _is_in_order(view: View) -> bool:
    """Whether no axis steps further through memory than one before it."""
    sizes: KnownInts = view.shape
    steps: KnownInts = view.strides
    far = [abs(step) for size, step in zip(sizes, steps, strict=True) if size > 1]
    return all([a >= b for a, b in pairwise(far)])


def _reduced_view(
    shape: tuple[int, ...], order: tuple[int, ...], axes: tuple[int, ...], keepdims: bool
) -> View:
    """The view of the row-major result of a reduction that iterated over axes in `order`."""
    view = View.row_major(shape)
    kept = [axis for axis in order if axis not in axes]
    if kept != sorted(kept):
        view = view.permute(tuple([kept.index(axis) for axis in sorted(kept)]))
    if not keepdims:
        return view
    sizes = iter(view.shape)
    selection = tuple([None if a in axes else (0, next(sizes), 1) for a in range(len(order))])
    inserted = view.slice(selection)
    assert inserted is not None
    return inserted
