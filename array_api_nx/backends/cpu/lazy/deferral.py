"""Deferral: operations on large arrays become expressions, and are computed when they must be.

Arrays of more elements than the process's threshold, and all results of deferred operations, are
*tracked*: their storage is there from the beginning, says whether others can write the memory, and
leads to the node by which expressions read it. Smaller arrays that a pending expression reads are
copied into it, so that nobody needs to know who reads them.

The rules that make deferral safe, each in one place:

- who reads memory that others can write is computed at once (`_deferred`, `defer_reduce`);
- before tracked memory is written (`writing`, `_store`) or handed out (`hand_out`), every pending
  value that reads it is computed, and equal values get memory of their own (`_detach`);
- whoever writes tracked memory holds the lock, so that no expression comes to read it meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, Final

import numpy as np

from .... import config
from ....contract import primitives as p
from ....contract.backend import Operand, Scalar
from ....contract.numpy_dtypes import TO_NUMPY
from ....contract.primitives import Primitive
from ....contract.strided import Storage, Tensor, tensor_over
from ....core.dtypes import DType
from ....core.shape import broadcast_shapes
from ....core.view import View
from ....explain.explanation import Explanation
from ..engine import fperrors, loops, memory_pool
from ..engine.diagnostics import runtime_info
from ..kernels import NDArray
from ..storage import MAX_FLOAT32, MIN_FLOAT32, NumPyMemory
from . import evaluation, expression
from .explain import explanation
from .expression import Node
from .planning import Overlap

__all__ = ["DeferredExecution"]

_hints: Final = config.hints

# So many elements no machine computes: NumPy says so at once.
_TOO_LARGE: Final = 2**48

# How many elements are computed one by one before all are computed at once.
_MAX_PROBES: Final = 4


class DeferredExecution(NumPyMemory):
    """The part of the CPU backend that defers operations and evaluates them.

    Methods that defer return None where the operation must run at once, on NumPy's kernels: fusion
    is off, the arrays are small, or no loop of NumPy's alone computes the operation.
    """

    # ------------------------------------------------------------------ evaluation

    def evaluate(self, *handles: Tensor) -> None:
        pending = [x.storage for x in handles if x.array is None and x.storage.memory is None]  # type: ignore[union-attr]
        if not pending:
            return
        report: evaluation.Report = []
        with expression.lock:
            evaluation.evaluate([s.node for s in pending if s.node is not None], report)  # type: ignore[union-attr]
            for storage in pending:
                self._adopt_memory(storage)  # type: ignore[arg-type]
        if report:
            fperrors.report(report)

    def explain(self, x: Tensor) -> Explanation:
        storage = x.storage
        with expression.lock:
            if storage is None or storage.memory is not None:
                return Explanation()
            return explanation(storage.node)

    def runtime_info(self) -> dict[str, Any]:
        return runtime_info()

    def release_memory(self) -> None:
        memory_pool.release()

    def force(self, storage: Storage) -> None:
        """Give a deferred storage memory."""
        report: evaluation.Report = []
        with expression.lock:
            if storage.memory is None:
                evaluation.evaluate([storage.node], report)
                self._adopt_memory(storage)
        if report:
            fperrors.report(report)

    def probe(self, x: Tensor) -> NDArray | None:
        storage: Any = x.storage
        view: Any = x.view
        with expression.lock:
            node: Node | None = storage.node
            if storage.memory is not None or node is None or view.mask is not None:
                return None
            node.probes += 1
            if node.probes > _MAX_PROBES or prod(node.shape) == 1:
                return None
            one = evaluation.element(node, view.offset)
        if one is None:
            return None
        array = one.reshape(view.shape)
        array.flags.writeable = False
        return array

    def _adopt_memory(self, storage: Storage) -> None:
        """Let `storage` have the memory of its node, or a copy if another storage has it."""
        if storage.memory is not None:
            return
        node: Node = storage.node
        assert node.memory is not None
        if any([other.memory is not None for other in node.live_storages()]):
            storage.memory = _copied(node.memory)
            storage.node = None
        else:
            storage.memory = node.memory

    def _detach(self, storage: Storage, report: evaluation.Report) -> None:
        """Compute every pending value that reads `storage`, and part it from its node."""
        node: Node | None = storage.node
        if node is None:
            return
        self._release(storage, report)
        storage.node = None
        if node.memory is storage.memory:
            expression.forget(node)

    def _release(self, storage: Storage, report: evaluation.Report) -> None:
        """The same, but the node stays for the one expression that is about to be computed."""
        node: Node = storage.node
        try:
            evaluation.evaluate(expression.dependants(node), report)
        except MemoryError:
            # They go on waiting, and read a copy.
            assert node.memory is not None
            node.memory = _copied(node.memory)
        for other in node.live_storages():
            if other is not storage and other.memory is None:
                assert node.memory is not None
                other.memory = _copied(node.memory)
                other.node = None

    @contextmanager
    def writing(self, x: Tensor) -> Iterator[None]:
        """Around a write to the tracked memory of `x`."""
        storage = x.storage
        assert storage is not None
        report: evaluation.Report = []
        with expression.lock:
            self.force(storage)
            self._detach(storage, report)
            yield
        if report:
            fperrors.report(report)

    def hand_out(self, x: Tensor) -> None:
        """Before others get at the memory of `x`: from now on they may write it."""
        if x.storage is None:
            if x.array.size <= _hints.threshold:
                return
            self.ensure_view(x)
        storage = x.storage
        assert storage is not None
        if storage.tracked:
            with self.writing(x):
                storage.shared = True

    # ------------------------------------------------------------------ reading

    def _source(self, x: Tensor, always: bool) -> tuple[Node, View, bool]:
        """The node and the view by which an expression reads `x`, and whether it must do so now."""
        view = x.view or self.ensure_view(x)
        storage: Any = x.storage
        if view.mask is not None:
            return self._source(self.materialise(x, 0), always)
        if storage.memory is None:
            return storage.node, view, False
        small = view.has_repeats or view.size <= _hints.threshold
        if small and evaluation.planner.get() is None:
            distinct: Any = tuple(
                [1 if s == 0 else n for n, s in zip(view.shape, view.strides, strict=True)]
            )
            if prod(distinct) <= _hints.threshold:
                # A copy costs less than to keep account of who reads it.
                offset, strides = view.byte_layout(storage.itemsize)
                array: NDArray = np.ndarray(
                    distinct, storage.dtype, storage.memory, offset, strides
                )
                copied = expression.leaf(array.flatten())
                return copied, View.row_major(distinct).expand(view.shape), False
        if storage.shared and not always:
            return expression.leaf(storage.memory), view, True
        if storage.node is None:
            expression.leaf(storage.memory).attach(storage)
        return storage.node, view, False

    # ------------------------------------------------------------------ deferral

    def _deferred(
        self,
        op: Primitive,
        loop: loops.Loop,
        operands: Sequence[Operand],
        shape: tuple[int, ...],
        *,
        row_major: bool = False,
    ) -> Tensor | None:
        """An element-by-element operation over operands that broadcast to `shape`."""
        settings = config.current()
        size = prod(shape)
        if settings.fusion == "off" or not settings.fusion_threshold < size < _TOO_LARGE:
            return None
        errors = fperrors.modes()
        if errors is None:
            return None
        report: evaluation.Report = []
        with expression.lock:
            node, arrange, now = self._node(
                op, loop, operands, shape, errors, settings, report, row_major
            )
            storage = self._storage(node, now, report)
        if report:
            fperrors.report(report)
        view = View.row_major(node.shape)
        return tensor_over(storage, view if arrange is None else arrange.undo(view))

    def _node(
        self,
        op: Primitive,
        loop: loops.Loop,
        operands: Sequence[Operand],
        shape: tuple[int, ...],
        errors: int,
        settings: config.Settings,
        report: evaluation.Report,
        row_major: bool = False,
    ) -> tuple[Node, Arrangement | None, bool]:
        """The node of an operation, the order of its axes, and whether it must be computed now."""
        always = settings.fusion == "always"
        sources: list[Any] = []
        now = False
        for operand, dtype in zip(operands, loop.inputs, strict=True):
            if type(operand) is Tensor:
                value, view, at_once = self._source(operand, always)
                sources.append((value, view if view.shape == shape else view.expand(shape)))
                now = now or at_once
                row_major = row_major or view.is_row_major
            else:
                sources.append((expression.scalar(operand, dtype), None))
        arrange = None
        if not row_major:
            arrange = Arrangement.of([view for _, view in sources if view is not None], shape)
        if arrange is not None:
            shape = arrange.shape
            sources = [
                (value, None if view is None else arrange.apply(view)) for value, view in sources
            ]
        while True:
            node = expression.elementwise(op, loop, tuple(sources), shape, errors)
            if expression.is_bounded(node):
                return node, arrange, now
            self._shorten(node, report)

    def _storage(self, node: Node, now: bool, report: evaluation.Report) -> Storage:
        """A new storage of the elements of `node`, with memory if they must be computed now,
        because others may write what they are computed from."""
        storage = _pending(node)
        if now:
            evaluation.evaluate([node], report)
            self._adopt_memory(storage)
        return storage

    def _shorten(self, node: Node, report: evaluation.Report) -> None:
        """Compute the largest source of a new expression that became too large, and drop it."""
        values: list[Any] = [value for value, view in node.sources if view is not None]
        largest = max(values, key=lambda value: (len(value.pending), len(value.leaves)))
        expression.forget(node)
        evaluation.evaluate([largest], report)

    def defer_unary(self, op: Primitive, x: Tensor) -> Tensor | None:
        """`unary`, deferred."""
        loop = loops.find(op, _dtype(x))
        return None if loop is None else self._deferred(op, loop, (x,), self.shape(x))

    def defer_binary(self, op: Primitive, x1: Operand, x2: Operand) -> Tensor | None:
        """`binary`, deferred."""
        if op is p.POW and type(x1) is Tensor and type(x2) is not Tensor and x2 == 2:
            # As NumPy does; its loop for complex powers is none of those that run here.
            return None if _dtype(x1).kind == "c" else self.defer_unary(p.SQUARE, x1)
        loop = self.binary_loop(op, x1, x2)
        if loop is None:
            return None
        return self._deferred(op, loop, (x1, x2), self._broadcast(x1, x2))

    def binary_loop(self, op: Primitive, x1: Operand, x2: Operand) -> loops.Loop | None:
        dtype = _dtype(x1 if type(x1) is Tensor else x2)
        if op is p.POW and not _is_plain_power(dtype, x1, x2):
            return None
        return loops.find(op, dtype)

    def _broadcast(self, *operands: Operand) -> tuple[int, ...]:
        shapes = [self.shape(x) for x in operands if type(x) is Tensor]
        if all([shape == shapes[0] for shape in shapes[1:]]):
            return shapes[0]
        return broadcast_shapes(*shapes)

    def defer_where(self, condition: Tensor, x1: Operand, x2: Operand) -> Tensor | None:
        """`where`, deferred."""
        loop = loops.select(_dtype(x1 if type(x1) is Tensor else x2))
        operands = (condition, x1, x2)
        return self._deferred(p.WHERE, loop, operands, self._broadcast(*operands))

    def defer_cast(self, x: Tensor, dtype: np.dtype[Any]) -> Tensor | None:
        """`cast`, deferred; also to the dtype that `x` has."""
        loop = loops.cast(_dtype(x), dtype)
        return None if loop is None else self._deferred(p.CAST, loop, (x,), self.shape(x))

    def defer_copy(self, x: Tensor) -> Tensor | None:
        """`copy`, deferred: row-major, whatever the order in which `x` lies."""
        loop = loops.cast(_dtype(x), _dtype(x))
        if loop is None:
            return None
        return self._deferred(p.COPY, loop, (x,), self.shape(x), row_major=True)

    def defer_pad(
        self, x: Tensor, padding: tuple[tuple[int, int], ...], fill: Scalar
    ) -> Tensor | None:
        """`pad`, deferred: what reads the result reads `x`, and `fill` around it."""
        if not any([before or after for before, after in padding]):
            return self.defer_copy(x)
        settings = config.current()
        shape = self.shape(x)
        size = prod([a + n + b for (a, b), n in zip(padding, shape, strict=True)])
        if (
            settings.fusion == "off"
            or not settings.fusion_threshold < size < _TOO_LARGE
            or prod(shape) == 0
        ):
            return None
        value = expression.scalar(fill, _dtype(x))
        report: evaluation.Report = []
        with expression.lock:
            node, view, now = self._source(x, settings.fusion == "always")
            if node.op is p.PAD and node.memory is None and view is View.row_major(node.shape):
                (inside, around), (known, _) = node.sources
                if known.key == value.key:
                    node, view = inside, around  # type: ignore[assignment]
            if node.memory is None and node.loop is None:
                return None  # a fill, which has no memory to be read
            while True:
                padded = expression.padding(node, view.pad(padding), value)
                if expression.is_bounded(padded):
                    break
                self._shorten(padded, report)
            storage = self._storage(padded, now, report)
        if report:
            fperrors.report(report)
        return tensor_over(storage, View.row_major(padded.shape))

    def defer_full(self, shape: tuple[int, ...], dtype: DType, value: Scalar) -> Tensor | None:
        """`full`, deferred."""
        settings = config.current()
        size = prod(shape)
        if settings.fusion == "off" or not settings.fusion_threshold < size < _TOO_LARGE:
            return None
        with expression.lock:
            node = expression.fill(p.FULL, shape, expression.scalar(value, TO_NUMPY[dtype]))
            storage = _pending(node)
        return tensor_over(storage, View.row_major(shape))

    # ------------------------------------------------------------------ reductions

    def defer_reduce(
        self,
        op: Primitive,
        x: Tensor,
        axes: tuple[int, ...],
        keepdims: bool,
        dtype: DType | None,
        divisor: float | None = None,
    ) -> Tensor | None:
        """`reduce`, deferred; a sum divided by `divisor` if it is given."""
        settings = config.current()
        shape = self.shape(x)
        if (
            settings.fusion == "off"
            or prod(shape) <= settings.fusion_threshold
            or all([shape[axis] == 1 for axis in axes])
        ):
            return None
        if op in (p.ANY, p.ALL, p.COUNT_NONZERO):
            target = np.dtype(bool)
            if op is not p.COUNT_NONZERO and _dtype(x) == target and _is_leaf(x):
                return None  # NumPy stops where the answer is known
        else:
            target = _dtype(x) if dtype is None else TO_NUMPY[dtype]
        if op is p.MEAN:
            op, divisor = p.SUM, prod([shape[axis] for axis in axes])
        if op is p.PROD and target.kind == "c":
            return None  # the sign of a zero part depends on what the product starts from
        found = loops.reduction(op, target)
        errors = fperrors.modes()
        if found is None or errors is None:
            return None
        if _dtype(x) != target:
            cast = self.defer_cast(x, target)
            if cast is None:
                return None
            x = cast
        loop, identity = found
        report: evaluation.Report = []
        with expression.lock:
            node, view, now = self._source(x, settings.fusion == "always")
            arrange = None if view.is_row_major else Arrangement.of([view], shape)
            order = tuple(range(len(shape))) if arrange is None else arrange.order
            space = tuple([shape[axis] for axis in order])
            seen = view if arrange is None else arrange.apply(view)
            reduced = tuple([i for i, axis in enumerate(order) if axis in axes])
            while True:
                result = expression.reduction(
                    op, loop, identity, (node, seen), space, reduced, divisor, errors
                )
                if expression.is_bounded(result):
                    break
                self._shorten(result, report)
            storage = self._storage(result, now, report)
        if report:
            fperrors.report(report)
        return tensor_over(storage, _reduced_view(result.shape, order, axes, keepdims))

    def defer_var(
        self, x: Tensor, axes: tuple[int, ...], keepdims: bool, correction: float
    ) -> Tensor | None:
        """`var` of real numbers, deferred."""
        if _dtype(x).kind != "f":
            return None
        shape = self.shape(x)
        count = prod([shape[axis] for axis in axes])
        divisor = count - correction if count > correction else np.nan
        if count >= loops.MIN_MOMENTS:
            return self.defer_reduce(p.VAR, x, axes, keepdims, None, divisor)
        mean = self.defer_reduce(p.MEAN, x, axes, True, None)
        distance = None if mean is None else self.defer_binary(p.SUBTRACT, x, mean)
        squares = None if distance is None else self.defer_binary(p.MULTIPLY, distance, distance)
        if squares is None:
            return None
        return self.defer_reduce(p.SUM, squares, axes, keepdims, None, divisor)

    def defer_vecdot(self, x1: Tensor, x2: Tensor) -> Tensor | None:
        """`vecdot`, deferred."""
        if _dtype(x1).kind == "c":
            conjugate = self.defer_unary(p.CONJ, x1)
            if conjugate is None:
                return None
            x1 = conjugate
        products = self.defer_binary(p.MULTIPLY, x1, x2)
        if products is None:
            return None
        axis = len(self.shape(products)) - 1
        return self.defer_reduce(p.SUM, products, (axis,), False, None)

    # ------------------------------------------------------------------ writing

    def store_binary(self, op: Primitive, x1: Operand, x2: Operand, out: Tensor) -> bool:
        """`binary` into the tracked memory of `out`; False if NumPy must do it."""
        loop = self.binary_loop(op, x1, x2)
        if loop is None or loop.output != _dtype(out):
            return False
        return self._store(op, loop, (x1, x2), out)

    def store_number(self, target: Tensor, value: Any) -> bool:
        """`assign` of one number to few elements of tracked memory that no expression reads or
        fills; False, with nothing done, where it is more, or might give a warning."""
        view: Any = target.view
        if view.size > _hints.threshold or view.mask is not None:
            return False
        if type(value) is Tensor:
            value = self.array(value)
            if value.ndim:
                return False
        elif type(value) is complex or not MIN_FLOAT32 <= value <= MAX_FLOAT32:
            return False
        storage: Any = target.storage
        with expression.lock:
            if storage.memory is None or storage.node is not None:
                return False
            if view.ndim:
                self.bind(target)[...] = value
            else:
                storage.memory[view.offset] = value
        return True

    def store(self, target: Tensor, value: Tensor) -> bool:
        """`assign` to the tracked memory of `target`; False if NumPy must do it."""
        shape = self.shape(value)
        surplus = len(shape) - len(self.shape(target))
        if surplus > 0:
            value = self.try_reshape(value, shape[surplus:]) or value
        dtype = _dtype(target)
        loop = loops.cast(dtype, dtype)
        return loop is not None and self._store(p.ASSIGN, loop, (value,), target)

    def _store(
        self, op: Primitive, loop: loops.Loop, operands: Sequence[Operand], out: Tensor
    ) -> bool:
        settings = config.current()
        view, storage = out.view, out.storage
        assert view is not None
        assert storage is not None
        if (
            settings.fusion == "off"
            or view.size <= settings.fusion_threshold
            or view.mask is not None
        ):
            return False
        errors = fperrors.modes()
        if errors is None:
            return False
        report: evaluation.Report = []
        shape: Any = view.shape
        with expression.lock:
            unread = storage.memory is None and view.size == prod(storage.node.shape)
            if not unread or any([type(x) is Tensor and x.storage is storage for x in operands]):
                self.force(storage)
            node, arrange, _ = self._node(op, loop, operands, shape, errors, settings, report)
            destination = view if arrange is None else arrange.apply(view)
            memory = storage.memory
            if memory is None:  # what is overwritten unread need not be computed
                memory = evaluation.buffer(view.size, storage.dtype)  # type: ignore[arg-type]
            elif storage.node is not None:
                self._release(storage, report)
            if node.memory is None and not node.live_storages():
                try:
                    evaluation.evaluate_into(node, memory, destination, report)
                except Overlap:
                    evaluation.evaluate([node], report)
            else:
                evaluation.evaluate([node], report)
            if node.memory is not None:
                offset, strides = destination.byte_layout(storage.itemsize)
                array: NDArray = np.ndarray(
                    destination.shape,
                    storage.dtype,
                    memory,
                    offset,
                    strides,
                )
                array[...] = node.memory.reshape(node.shape)
            if storage.memory is None:
                storage.memory = memory
                storage.node = None
            else:
                self._detach(storage, report)
        if report:
            fperrors.report(report)
        return True


def _copied(memory: NDArray) -> NDArray:
    copy = evaluation.buffer(memory.size, memory.dtype)
    np.copyto(copy, memory)
    return copy


def _dtype(x: Any) -> np.dtype[Any]:
    found: np.dtype[Any] = (x.storage if x.array is None else x.array).dtype
    return found


def _is_leaf(x: Tensor) -> bool:
    return x.array is not None or x.storage.memory is not None  # type: ignore[union-attr]


def _is_plain_power(dtype: np.dtype[Any], x1: Operand, x2: Any) -> bool:
    """Whether the loop alone gives NumPy's power; see `kernels` for the cases where it does not."""
    if dtype.kind == "f":
        if type(x2) is not Tensor:
            return bool(x2 != 0.5)
        # NumPy takes an exponent that it meets as a constant for a special case.
        x2_view = x2.view
        if x2_view is None or x2_view.has_repeats or x2_view.size == 1:
            return False
        if type(x1) is not Tensor:
            return True
        return x1.view is not None and x1.view.shape == x2_view.shape
    return dtype.kind in "iu" and type(x2) is not Tensor and x2 >= 0


class Arrangement:
    """In which order an operation goes over its axes: as NumPy would lay out the result.

    Attributes
    ----------
    shape : tuple of int
        In that order.
    order : tuple of int
        Axis i of the operation is axis ``order[i]`` of the result.
    """

    __slots__ = ("order", "shape")

    def __init__(self, shape: tuple[int, ...], order: tuple[int, ...]) -> None:
        self.shape = tuple([shape[axis] for axis in order])
        self.order = order

    @staticmethod
    def of(views: Sequence[View], shape: tuple[int, ...]) -> Arrangement | None:
        """The order in which the operands lie in memory, if they agree; None for row-major."""
        full = [view for view in views if not view.has_repeats]
        if not full or any([view.is_row_major for view in views]):
            return None
        steps: Any = full[0].strides
        order = tuple(
            sorted(range(len(shape)), key=lambda axis: -abs(steps[axis]) if shape[axis] > 1 else 0)
        )
        return None if order == tuple(range(len(shape))) else Arrangement(shape, order)

    def apply(self, view: View) -> View:
        """How the operation sees an operand of the result's shape."""
        return view.permute(self.order)

    def undo(self, view: View) -> View:
        """How the result looks of which the operation sees `view`."""
        return view.permute(tuple([self.order.index(axis) for axis in range(len(self.order))]))


def _pending(node: Node) -> Storage:
    """A new storage of the elements of `node`."""
    storage = Storage(None, node=node, tracked=True)
    node.attach(storage)
    return storage


def _reduced_view(
    shape: tuple[int, ...], order: tuple[int, ...], axes: tuple[int, ...], keepdims: bool
) -> View:
    """How an array shows the row-major result of a reduction that went over its axes in `order`."""
    view = View.row_major(shape)
    kept = [axis for axis in order if axis not in axes]
    if kept != sorted(kept):
        view = view.permute(tuple([kept.index(axis) for axis in sorted(kept)]))
    if not keepdims:
        return view
    sizes = iter(view.shape)
    selection: Any = tuple([None if a in axes else (0, next(sizes), 1) for a in range(len(order))])
    inserted = view.slice(selection)
    assert inserted is not None
    return inserted
