"""Deferral: operations on large arrays become expressions, which are computed when they must be.

Arrays of more elements than the process's threshold, and all results of deferred operations, are
*tracked*: they have a storage from the beginning, which says whether others can write the memory,
and has the node by which expressions read it. Smaller arrays are copied into the expressions that
read them, so that writes to them need no care.

Three rules make deferral safe, each in one place:

- an operation that reads memory which others can write is computed at once, or reads a copy, where
  the result would be much larger (`defer`);
- before tracked memory is written (`writing`, `_store`) or handed out (`hand_out`), every pending
  value that reads it is computed, and equal values get memory of their own (`_detach`);
- the lock is held while tracked memory is written, so that no new expression reads it meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from .... import config
from ....contract.backend import Handle, Info, Operand
from ....contract.events import evaluated
from ....contract.numpy_dtypes import NDArray
from ....contract.strided import Storage, Tensor
from ....core.dtypes import DType
from ....core.symbolic import KnownInts
from ....core.view import View
from ....explain.explanation import Explanation
from ....native import native
from ....primitives import table as p
from ....primitives.table import Primitive
from .. import policy
from ..engine import fperrors, loops, memory_pool
from ..engine.diagnostics import runtime_info
from ..policy import limits
from ..storage import LEAST_SAFE, MOST_SAFE, NumPyMemory, lock
from ..ufunc_table import ArrayOrScalar
from . import evaluation, expression
from .builder import Builder, NodeView, TooLarge, in_steps, is_plain_power, new_node_view
from .expression import Node
from .pass_reports import explanation
from .planning import Overlap

__all__ = ["DeferredExecution", "builder", "release_readers"]

_new_storage: Final = Storage.__new__

builder: Final = Builder()
"""Makes all pending expressions. It is used under the lock only."""

_MAX_PROBES: Final = 4
"""Reads of single elements of a pending value that compute that element alone; the next read
computes all. So many take no longer than the cheapest computation of all (docs/tuning.md, 33)."""

Waiting: TypeAlias = "list[tuple[Any, tuple[Any, ...], int, Storage]]"
"""Operations that wait in the extension, as `native.describe_pending` gives them."""


def _nothing(storage: Storage | None) -> None:
    """Nothing waits where there is no extension."""


_describe_pending: Final[Callable[[Storage | None], Waiting | None]] = (
    _nothing if native is None else native.describe_pending
)
_forget_pending: Final[Callable[[Waiting], bool]] = (
    bool if native is None else native.forget_pending
)
release_readers: Final = _nothing if native is None else native.release_readers

_MOST_TAKEN_OVER: Final = 48
"""Expressions of more operations than this that wait in the extension are computed there."""

_MANY_TIMES: Final = 4
"""How many times the elements of each shared operand a result must have for the operation to read
copies of the operands, and to be deferred."""


def _can_choose(condition: object, x1: object, x2: object) -> bool:
    """Whether the builder has a node for `where` of these: numbers are one of the values alone."""
    return type(condition) is NodeView and (type(x1) is NodeView or type(x2) is NodeView)


class DeferredExecution(NumPyMemory):
    """The part of the CPU backend that defers operations and evaluates them.

    `policy.decide` says what is to be deferred; `defer` does it, with a method of `builder`.

    Attributes
    ----------
    device_name : str
        The device of which evaluations are reported; empty where another backend, which computes
        by this one, reports them.
    """

    device_name = "cpu"

    def _report(self, why: str) -> None:
        if self.device_name:
            evaluated(self.device_name, why)

    # ------------------------------------------------------------------ evaluation

    def evaluate(self, *handles: Tensor) -> None:
        with lock:
            if any([_describe_pending(x.storage) is not None for x in handles]):
                self._report("evaluate was called")
                if config.hints.shows_progress or len(handles) > 1:
                    self._take_all_over([x.storage for x in handles])
        pending = [x.storage for x in handles if x.array is None and x.storage.memory is None]
        if not pending:
            return
        if any([s.node.memory is None for s in pending if s.node is not None]):
            self._report("evaluate was called")
        report: evaluation.Report = []
        with lock:
            evaluation.evaluate([s.node for s in pending if s.node is not None], report)
            for storage in pending:
                self._adopt_memory(storage)
        if report:
            fperrors.report(report)

    def explain(self, *handles: Tensor) -> Explanation:
        storages = [x.storage for x in handles if x.storage is not None]
        with lock:
            long = self._take_all_over(storages)
            known = {id(each) for waiting in long for *_, each in waiting}
            rest = [s for s in storages if id(s) not in known]
            return explanation([s.node for s in rest if s.memory is None], long)

    def runtime_info(self) -> Info:
        return runtime_info()

    def release_memory(self) -> None:
        memory_pool.release()

    def force(self, storage: Storage) -> None:
        report: evaluation.Report = []
        with lock:
            if storage.memory is None:
                if storage.node.memory is None:
                    self._report("its elements are needed")
                evaluation.evaluate([storage.node], report)
                self._adopt_memory(storage)
        if report:
            fperrors.report(report)

    def probe(self, x: Tensor) -> NDArray | None:
        storage, view = x.storage, x.view
        shape: KnownInts = view.shape
        offset: KnownInts = view.offset
        with lock:
            node: Node | None = storage.node
            if storage.memory is not None or node is None or view.mask is not None:
                return None
            node.probes += 1
            if node.probes > _MAX_PROBES or prod(node.shape) == 1:
                return None
            one = evaluation.element(node, offset)
        if one is None:
            return None
        self._report("one of its elements is needed")
        array = one.reshape(shape)
        array.flags.writeable = False
        return array

    def _shorten(self, node: Node, report: evaluation.Report) -> None:
        """Compute a part of an expression that would become too large for one evaluation."""
        self._report("an expression became too large to wait any longer")
        evaluation.evaluate([node], report)

    def _adopt_memory(self, storage: Storage) -> None:
        """Give `storage` the memory of its node, or a copy if another storage has that memory."""
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
        """Compute every pending value that reads `storage`, and separate it from its node."""
        release_readers(storage)
        node: Node | None = storage.node
        if node is None:
            return
        self._release(storage, report)
        storage.node = None
        if node.memory is storage.memory:
            expression.forget(node)

    def _release(self, storage: Storage, report: evaluation.Report) -> None:
        """`_detach`, but the storage keeps its node, which the value to be written may read."""
        release_readers(storage)
        node: Node = storage.node
        readers = expression.dependants(node)
        if readers:
            self._report("memory that it is to be computed from is written or handed out")
        try:
            evaluation.evaluate(readers, report)
        except MemoryError:
            # The values stay pending, and will read a copy of the memory.
            assert node.memory is not None
            node.memory = _copied(node.memory)
        for other in node.live_storages():
            if other is not storage and other.memory is None:
                assert node.memory is not None
                other.memory = _copied(node.memory)
                other.node = None

    @contextmanager
    def writing(self, x: Tensor) -> Iterator[None]:
        """A context in which the tracked memory of `x` may be written."""
        storage = x.storage
        report: evaluation.Report = []
        with lock:
            self.force(storage)
            self._detach(storage, report)
            yield
        if report:
            fperrors.report(report)

    def hand_out(self, x: Tensor) -> None:
        if x.storage is None:
            if x.array.size <= limits.tracked:
                return
            self.ensure_view(x)
        storage = x.storage
        if storage.tracked:
            with self.writing(x):
                storage.shared = True
        else:
            release_readers(storage)
            storage.shared = True
            release_readers(storage)

    # ------------------------------------------------------------------ reading

    def _value(self, x: Tensor, reads_shared: bool, copied: int) -> tuple[NodeView, bool]:
        """The value by which an expression reads `x`, which is not pending, or padded; and whether
        that must be computed at once. Up to `copied` elements of shared memory are copied."""
        view, storage = x.view or self.ensure_view(x), x.storage
        if view.mask is not None:
            return self._value(self.materialise(x, 0), reads_shared, copied)
        most = limits.deferred
        if storage.shared and not reads_shared:
            most = max(most, copied)
        if view.has_repeats or view.size <= most:
            distinct: KnownInts = tuple(
                [1 if s == 0 else n for n, s in zip(view.shape, view.strides, strict=True)]
            )
            if prod(distinct) <= most:
                # A copy costs less than to keep account of who reads it.
                offset, strides = view.byte_layout(storage.itemsize)
                array: NDArray = np.ndarray(
                    distinct, storage.dtype, storage.memory, offset, strides
                )
                packed = View.row_major(distinct).expand(view.shape)
                return NodeView(expression.leaf(array.flatten()), packed), False
        if storage.shared and not reads_shared:
            return NodeView(expression.leaf(storage.memory), view), True
        if storage.node is None:
            expression.leaf(storage.memory).attach(storage)
            # From now on it matters who writes the memory, whatever the size was that decided
            # about that when the storage was made.
            storage.tracked = True
        return NodeView(storage.node, view), False

    # ------------------------------------------------------------------ deferral

    def defer(
        self, way: policy.Way, build: Callable[..., NodeView | None], *arguments: object
    ) -> Tensor | None:
        """Defer an operation: `build`, a method of `builder`, makes its value from the arguments.

        None, with no memory written, if `build` returns None.
        """
        report: evaluation.Report = []
        result = None
        with lock:
            values, now = self._values(arguments, way.reads_shared)
            copied = 0
            while True:
                try:
                    value = build(*values, errors=way.errors)
                except TooLarge:
                    value = in_steps(
                        partial(build, *values, errors=way.errors),
                        lambda node: self._shorten(node, report),
                    )
                if not now or value is None or copied:
                    break
                copied = prod(value[0].shape) // _MANY_TIMES
                if copied <= limits.deferred:
                    break
                values, now = self._values(arguments, way.reads_shared, copied)
            if value is not None:
                node, view = value
                # The fields are set here because Storage's and tensor_over's calls take longer.
                storage = _new_storage(Storage)
                storage.memory = None
                storage.dtype = node.dtype
                storage.itemsize = node.dtype.itemsize
                storage.shared = False
                storage.tracked = True
                node.attach(storage)
                if now:
                    # Others may write the memory that the operation reads.
                    evaluation.evaluate([node], report)
                    self._adopt_memory(storage)
                result = Tensor()
                result.array = None
                result.view = view
                result.storage = storage
        if report:
            fperrors.report(report)
        return result

    def _values(
        self, arguments: Sequence[object], reads_shared: bool, copied: int = 0
    ) -> tuple[list[object], bool]:
        """The arguments, with Tensors replaced by values; and whether these must be read now.

        They need not, if shared operands have up to `copied` elements each: these are copied.
        """
        values: list[object] = []
        now = False
        for x in arguments:
            if type(x) is Tensor:
                view, storage = x.view, x.storage
                if _describe_pending(storage) is not None:
                    self._take_over(storage)
                if view is not None and view.mask is None and storage.memory is None:
                    x = new_node_view((storage.node, view))
                else:
                    x, at_once = self._value(x, reads_shared, copied)
                    now = now or at_once
            values.append(x)
        return values, now

    def _take_all_over(self, storages: Sequence[Storage]) -> list[Waiting]:
        """`_take_over` for several storages. One that others of them read goes with these."""
        for storage in storages:
            self._take_over(storage)
        return [x for x in map(self._take_over, storages) if x is not None]

    def _take_over(self, storage: Storage) -> Waiting | None:
        """Make nodes of the operations that a storage waits for in the extension, so that they are
        computed along with what reads them here. Returns them if they go on waiting there, because
        this builder has no nodes for them."""
        waiting = _describe_pending(storage)
        if waiting is None or len(waiting) > _MOST_TAKEN_OVER:
            return waiting
        values: list[NodeView] = []
        try:
            for row, operands, errors, each in waiting:
                read: list[Any] = []
                for x in operands[:1] if row.family == "reduce" else operands:
                    if type(x) is Tensor:
                        x, _ = self._value(x, False, 0)
                    elif type(x) is tuple:
                        number, *view = x
                        x = values[number]
                        if view:
                            x = NodeView(x.node, View(*view))
                    read.append(x)
                if row is p.WHERE and not _can_choose(*read):
                    return waiting
                if row.family == "reduce":
                    dtype = each.dtype if row is p.SUM or row is p.PROD else None
                    axes, keepdims = operands[1:]
                    value = builder.reduce(row, read[0], axes, keepdims, dtype, errors=errors)
                elif row is p.CAST:
                    value = builder.cast(read[0], each.dtype, errors=errors)
                elif row is p.WHERE:
                    value = builder.where(read[0], read[1], read[2], errors=errors)
                elif len(read) == 1:
                    value = builder.unary(row, read[0], errors=errors)
                else:
                    value = builder.binary(row, read[0], read[1], errors=errors)
                if value is None or not value.view.is_row_major:
                    return waiting
                values.append(value)
        except TooLarge:
            return waiting
        if not _forget_pending(waiting):
            return waiting
        for (*_, each), value in zip(waiting, values, strict=True):
            each.tracked = True
            value.node.attach(each)
        return None

    # ------------------------------------------------------------------ writing

    def binary_loop(self, op: Primitive, x1: Operand, x2: Operand) -> loops.Loop | None:
        """The loop that gives NumPy's result for these operands; None if there is none."""
        dtype = _dtype(x1 if type(x1) is Tensor else x2)
        if op is p.POW:
            shape = self.shape(x1) if type(x1) is Tensor else None
            if not is_plain_power(dtype, shape, x2.view if type(x2) is Tensor else x2):
                return None
        return loops.find(op, dtype)

    def store_binary(self, op: Primitive, x1: Operand, x2: Operand, out: Tensor) -> bool:
        """`binary` into the tracked memory of `out`. False if it is left to NumPy."""
        loop = self.binary_loop(op, x1, x2)
        if loop is None or loop.output != _dtype(out):
            return False
        return self._defer_in_place(op, x1, x2, out) or self._store(op, loop, (x1, x2), out)

    def _defer_in_place(self, op: Primitive, x1: Operand, x2: Operand, out: Tensor) -> bool:
        """Whether `binary` into `out` was deferred, too: all of it is pending, and now waits for
        another expression. What reads it so far keeps the one that it had."""
        view, storage = out.view, out.storage
        if storage.memory is not None or not view.is_row_major:
            return False
        size: KnownInts = view.size
        way = policy.decide(size)
        if not way.defers:
            return False
        with lock:
            release_readers(storage)
            if storage.memory is not None or size != prod(storage.node.shape):
                return False
            values, now = self._values((x1, x2), way.reads_shared)
            if now:
                return False
            try:
                value = builder.binary(op, *values, errors=way.errors)
            except TooLarge:
                return False
            if value is None:
                return False
            node, whole = value
            if whole.shape != view.shape or not whole.is_row_major or whole.offset:
                return False
            node.attach(storage)
        return True

    def store_number(self, target: Tensor, value: ArrayOrScalar) -> bool:
        """`assign` a number to few elements of tracked memory that no expression reads or fills.

        False, with nothing done, for other memory, many elements, or a number that might overflow.
        """
        view, storage = target.view, target.storage
        if view.size > limits.tracked or view.mask is not None:
            return False
        if type(value) is Tensor:
            value = self.array(value)
            if value.ndim:
                return False
        elif type(value) is complex or not LEAST_SAFE <= value <= MOST_SAFE:
            return False
        with lock:
            if storage.memory is None or storage.node is not None:
                return False
            release_readers(storage)
            self.bind(target)[...] = value
        return True

    def store(self, target: Tensor, value: Tensor) -> bool:
        """`assign` to the tracked memory of `target`. False if it is left to NumPy."""
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
        view, storage = out.view, out.storage
        shape: KnownInts = view.shape
        size: KnownInts = view.size
        way = policy.decide(size)
        if not way.defers or view.mask is not None:
            return False
        report: evaluation.Report = []

        with lock:
            release_readers(storage)
            unread = storage.memory is None and size == prod(storage.node.shape)
            if not unread or any([type(x) is Tensor and x.storage is storage for x in operands]):
                self.force(storage)
            values, _ = self._values(operands, way.reads_shared)
            node, arrange = in_steps(
                lambda: builder.arranged(op, loop, values, shape, errors=way.errors),
                lambda node: self._shorten(node, report),
            )
            destination = view if arrange is None else arrange.apply(view)
            memory = storage.memory
            if memory is None:  # all elements are overwritten: they need not be computed before
                memory = memory_pool.empty((size,), storage.dtype)
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
                array: NDArray = np.ndarray(node.shape, storage.dtype, memory, offset, strides)
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
    copy = memory_pool.empty(memory.shape, memory.dtype)
    np.copyto(copy, memory)
    return copy


def _dtype(x: Handle) -> DType:
    found: DType = (x.storage if x.array is None else x.array).dtype
    return found
