"""Programs on the CPU: fused, with planned memory.

To plan a program for given sizes, its steps run over placeholders without elements: what can be
deferred becomes an expression, as always, and where expressions would be evaluated their plan is
noted instead. What comes out is a list of *actions* (passes of fused kernels, calls of the
backend's methods) over numbered *slots*, which stand for blocks of memory. Running the program does
the actions over memory; no expression and no plan is made any more.

Slots that only passes write lie in one block, the *arena*, at places that are taken again after
their last use. Outputs have memory of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from ... import primitives as p
from ...config import config_context, hints
from ...core.symbolic import SymbolicShape
from ...core.view import View
from .. import replay
from ..host import TO_NUMPY
from ..program import Operand, Program, Step
from ..strided import Storage, Tensor, tensor_over
from .arena import Block, place
from .fusion import executor, expression, fperrors, threads
from .fusion.expression import Node
from .fusion.plan import Graph, Stage
from .fusion.pool import empty
from .kernels import NDArray

if TYPE_CHECKING:
    from .backend import CPUBackend

__all__ = ["prepare"]

Slot: TypeAlias = int

# Of what is not among these, the operands are computed before, all together.
_DEFERRED: Final = frozenset(
    {"binary", "cast", "clip", "copy", "full", "reduce", "unary", "var", "vecdot", "where"}
)

_MAX_KEPT: Final = 2**20
"""Bytes of an arena that is kept from one run to the next."""


# ---------------------------------------------------------------------- actions


class _Read(NamedTuple):
    """What a call gets for an operand: a slot read through a view."""

    slot: Slot
    view: View


class _Pass(NamedTuple):
    """One pass of a fused kernel over memory.

    Attributes
    ----------
    stage : Stage
    names : tuple of str
        Per step of the kernel, what warnings call it.
    sources : tuple of (slot, int)
        Per operand; and bytes to the first element.
    head : Node or None
        If it is a reduction: how to begin and how to end.
    result : slot
        What is computed last.
    stores : tuple of slot
        What else is written, and, if it is no reduction, the result.
    """

    stage: Stage
    names: tuple[str, ...]
    sources: tuple[tuple[Slot, int], ...]
    head: Node | None
    result: Slot
    stores: tuple[Slot, ...]

    def run(self, backend: CPUBackend, slots: list[Any], report: executor.Report) -> None:
        head, stage = self.head, self.stage
        if head is not None:
            slots[self.result] = accumulators = executor.begin(head, stage)
        memories = [(slots[slot], offset) for slot, offset in self.sources]
        flags = stage.program.run(memories, min(threads.count(), stage.threads))
        if any(flags):
            warned = fperrors.modes() or 0
            report += [
                (name, met, warned) for name, met in zip(self.names, flags, strict=True) if met
            ]
        if head is not None:
            slots[self.result] = executor.end(head, stage, accumulators)

    def uses(self) -> list[Slot]:
        return [slot for slot, _ in self.sources]


class _Fill(NamedTuple):
    """A slot filled with one value."""

    slot: Slot
    value: NDArray

    def run(self, backend: CPUBackend, slots: list[Any], report: executor.Report) -> None:
        slots[self.slot].fill(self.value[0])

    @property
    def stores(self) -> tuple[Slot, ...]:
        return (self.slot,)

    def uses(self) -> list[Slot]:
        return [self.slot]


class _Update(NamedTuple):
    """A slot written to in part, after it was copied from another one unless that is the same."""

    source: Slot
    target: Slot
    view: View
    keys: tuple[Any, ...] | None
    value: Any

    def run(self, backend: CPUBackend, slots: list[Any], report: executor.Report) -> None:
        if self.source != self.target:
            np.copyto(slots[self.target], slots[self.source])
        target = _tensor(slots[self.target], self.view)
        value = _handles(self.value, slots)
        if self.keys is None:
            backend.assign(target, value)
        else:
            backend.index_set(target, _handles(self.keys, slots), value)

    @property
    def stores(self) -> tuple[Slot, ...]:
        return (self.target,)

    def uses(self) -> list[Slot]:
        return [self.source, self.target, *[x.slot for x in _reads((self.keys, self.value))]]


class _Call(NamedTuple):
    """A call of a method of the backend, with `_Read` for handles."""

    method: str
    arguments: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]
    results: tuple[Slot, ...]

    def run(self, backend: CPUBackend, slots: list[Any], report: executor.Report) -> None:
        keywords = {name: _handles(x, slots) for name, x in self.keywords}
        found = getattr(backend, self.method)(*_handles(self.arguments, slots), **keywords)
        for slot, handle in zip(self.results, _as_tuple(found), strict=True):
            array = np.ascontiguousarray(backend.array(handle))
            if not array.flags.owndata and any(
                [np.may_share_memory(array, slots[x.slot]) for x in _reads(self.arguments)]
            ):
                array = array.copy()
            slots[slot] = array.reshape(-1)

    @property
    def stores(self) -> tuple[Slot, ...]:
        return ()

    def uses(self) -> list[Slot]:
        reads = _reads((self.arguments, self.keywords))
        return [*[x.slot for x in reads], *self.results]


Action: TypeAlias = "_Pass | _Fill | _Update | _Call"
"""What is done when a program runs. ``uses()`` are all slots that it touches, and `stores` those
that it writes to memory that must be there."""


def _handles(x: Any, slots: list[Any]) -> Any:
    """`x` with handles for what is to be read."""
    if type(x) is _Read:
        return _tensor(slots[x.slot], x.view)
    if type(x) is tuple:
        return tuple([_handles(part, slots) for part in x])
    return x


def _tensor(memory: NDArray, view: View) -> Tensor:
    """`memory` seen through `view`. With an array, so that nothing over it is deferred."""
    tensor = Tensor()
    if view.is_c_contiguous and view.size == memory.size:
        tensor.array = memory.reshape(view.shape)  # type: ignore[arg-type]
    else:
        offset, strides = view.byte_layout(memory.itemsize)
        tensor.array = np.ndarray(view.shape, memory.dtype, memory, offset, strides)  # type: ignore[arg-type]
    tensor.view = tensor.storage = None
    return tensor


def _reads(x: Any) -> list[_Read]:
    if type(x) is _Read:
        return [x]
    return [read for part in x for read in _reads(part)] if type(x) is tuple else []


def _as_tuple(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


# ---------------------------------------------------------------------- planning


class _Slot:
    """A block of memory that actions read and write.

    Attributes
    ----------
    size : int
    dtype : numpy.dtype
    value : int or None
        The number of the program's value that it holds.
    first, last : int
        The numbers of the actions that write it first and use it last.
    stored : bool
        Whether the action that writes it first must be given the memory.
    """

    __slots__ = ("dtype", "first", "last", "size", "stored", "value")

    def __init__(self, size: int, dtype: np.dtype[Any], value: int | None) -> None:
        self.size = size
        self.dtype = dtype
        self.value = value
        self.first = self.last = -1
        self.stored = False


class Unplannable(Exception):
    """A program whose expressions share memory in a way that slots cannot say."""


class _Planner:
    """Makes the actions of a program; see the module's text."""

    def __init__(self, backend: CPUBackend, program: Program, sizes: tuple[int, ...]) -> None:
        self.backend = backend
        self.program = program
        self.numbers = dict(zip(program.symbols, program.evaluate(*sizes), strict=True))
        self.bindings = dict(zip(program.variables, sizes, strict=True))
        self.actions: list[Action] = []
        self.slots: list[_Slot] = []
        self.scalars: dict[Slot, NDArray] = {}
        self._tensors: dict[int, Tensor] = {}
        self._slot_of: dict[int, Slot] = {}
        self._values: dict[int, int] = {}
        self._kept: list[NDArray] = []

    def plan(self) -> tuple[list[tuple[int, _Read]], list[_Read | Operand]]:
        """Make the actions; what they store in arguments, and the outputs; see `_finish`."""
        program = self.program
        with (
            np.errstate(all="ignore"),
            config_context(fusion="always", fusion_threshold=0),
        ):
            token = executor.planner.set(self._note)
            try:
                for i in range(len(program.inputs)):
                    self._tensors[i] = self._placeholder(i)
                for number in program.constants:
                    self._tensors[number] = self._placeholder(number)
                for position, step in enumerate(program.steps):
                    self._step(position, step)
                    for v in [v for v, last in program.last_uses.items() if last == position]:
                        self._tensors.pop(v, None)
                return self._finish()
            finally:
                executor.planner.reset(token)

    # ------------------------------------------------------------------ slots

    def _new_slot(self, size: int, dtype: np.dtype[Any], value: int | None) -> Slot:
        self.slots.append(_Slot(size, dtype, value))
        return len(self.slots) - 1

    def _memory(self, slot: Slot) -> NDArray:
        """What stands for the memory of a slot: of its size, but without elements of its own."""
        described = self.slots[slot]
        memory = np.broadcast_to(np.zeros(1, described.dtype), (described.size,))
        self._slot_of[id(memory)] = slot
        self._kept.append(memory)
        return memory

    def _placeholder(self, value: int) -> Tensor:
        """A Tensor over a new slot for a value."""
        shape = self._shape(value)
        dtype = TO_NUMPY[self.program.values[value].dtype]
        storage = Storage(self._memory(self._new_slot(prod(shape), dtype, value)), tracked=True)
        expression.leaf(storage.memory).attach(storage)
        return tensor_over(storage, View.row_major(shape))

    def _shape(self, value: int) -> tuple[int, ...]:
        return SymbolicShape(self.program.values[value].shape).eval(self.bindings)  # type: ignore[return-value]

    def _find(self, memory: Any) -> Slot:
        try:
            return self._slot_of[id(memory)]
        except KeyError:
            raise Unplannable from None

    # ------------------------------------------------------------------ steps

    def _step(self, position: int, step: Step) -> None:
        if step.method.startswith("update"):
            self._update(position, step)
            return
        arguments = self._resolved(step.arguments)
        keywords = tuple([(name, self._resolved(x)) for name, x in step.keywords])
        if step.method in _DEFERRED and not _follows_numpy(step.method, arguments):
            result = getattr(self.backend, step.method)(*arguments, **dict(keywords))
            if result.array is None and result.storage.memory is None:
                self._tensors[step.results[0]] = result
                self._values[result.storage.node.key] = step.results[0]
                return
        self._evaluate((arguments, keywords))
        arguments, keywords = self._noted(arguments), self._noted(keywords)
        for value in step.results:
            self._tensors[value] = self._placeholder(value)
        results = tuple([self._find(self._tensors[v].storage.memory) for v in step.results])  # type: ignore[union-attr]
        self.actions.append(_Call(step.method, arguments, keywords, results))

    def _update(self, position: int, step: Step) -> None:
        operand, view, *rest = step.arguments
        base = self._resolved(operand)
        base = self.backend.contiguous(base)
        others = self._resolved(tuple(rest))
        self._evaluate((base, others))
        source = self._noted(base).slot
        (result,) = step.results
        if self.program.reuses_base(position) and base.view.is_c_contiguous:
            self._tensors[result] = base
            # Its memory will hold something else now.
            base.storage.node = None
            expression.leaf(base.storage.memory).attach(base.storage)
            self.slots[source].value = result
            target = source
        else:
            self._tensors[result] = self._placeholder(result)
            target = self._find(self._tensors[result].storage.memory)  # type: ignore[union-attr]
        noted = self._noted(others)
        keys, value = (None, noted[0]) if step.method == "update" else noted
        self.actions.append(
            _Update(source, target, replay.resolved(view, self.numbers), keys, value)
        )

    def _resolved(self, x: Any) -> Any:
        """`x` with Tensors for operands and numbers for expressions."""
        if isinstance(x, Operand):
            return self._operand(x)
        if isinstance(x, tuple | list):
            return tuple([self._resolved(part) for part in x])
        return replay.resolved(x, self.numbers)

    def _operand(self, x: Operand) -> Tensor:
        tensor = self._tensors[x.value]
        view = replay.resolved(x.view, self.numbers)
        shape = self._shape(x.value)
        if view == View.row_major(shape):
            return tensor
        order = view.packed_order
        if order is not None and view.offset == 0 and view.size == prod(shape):
            # The axes in another order, which any layout of the value can show.
            block = view.permute(order)
            if block == View.row_major(shape):
                inverse = tuple([order.index(axis) for axis in range(len(order))])
                return self.backend.permute(tensor, inverse)
        return self.backend.strided(tensor, view)

    def _evaluate(self, arguments: Any) -> None:
        """Have all Tensors within arguments computed, together."""
        self.backend.evaluate(*_tensors(arguments))

    def _noted(self, x: Any) -> Any:
        """`x` with what is to be read for Tensors, which have memory."""
        if type(x) is Tensor:
            return _Read(self._find(x.storage.memory), x.view)  # type: ignore[union-attr, arg-type]
        if type(x) is tuple:
            return tuple([self._noted(part) for part in x])
        return x

    def _note(self, roots: Sequence[Node]) -> None:
        """Plan the evaluation of expressions, in place of `executor.evaluate`."""
        graph = Graph(roots)
        nodes = graph.nodes
        found: dict[int, Slot] = {}
        leaves = [self._find(leaf.memory) for leaf in graph.leaves]
        for stage in executor.planned(graph):
            for i in (*stage.stored, stage.head):
                found[i] = self._slot(nodes[i])
            sources = []
            for kind, index, offset in stage.memories:
                if kind == "scalar":
                    slot = self._scalar(graph.scalars[index].array)
                else:
                    slot = leaves[index] if kind == "leaf" else found[index]
                sources.append((slot, offset))
            head = nodes[stage.head]
            names = [
                "reduce" if nodes[i].axes else nodes[i].loop.name  # type: ignore[union-attr]
                for i in stage.steps
            ]
            self.actions.append(
                _Pass(
                    stage,
                    tuple(names),
                    tuple(sources),
                    head if head.axes else None,
                    found[stage.head],
                    tuple([found[i] for i in stage.stored])
                    + (() if head.axes else (found[stage.head],)),
                )
            )
        for i, slot in found.items():
            nodes[i].realise(self._memory(slot))
        for node in roots:
            if node.memory is None:
                slot = self._slot(node)
                self.actions.append(_Fill(slot, node.sources[0][0].array))  # type: ignore[union-attr]
                node.realise(self._memory(slot))

    def _slot(self, node: Node) -> Slot:
        return self._new_slot(prod(node.shape), node.dtype, self._values.get(node.key))

    def _scalar(self, array: NDArray) -> Slot:
        slot = self._new_slot(1, array.dtype, None)
        self.scalars[slot] = array
        return slot

    # ------------------------------------------------------------------ results

    def _finish(self) -> tuple[list[tuple[int, _Read]], list[_Read | Operand]]:
        """Per argument that is written, its number and what is written; and the outputs.

        An output is an operand where it shows an argument or a constant.
        """
        program = self.program
        written = {
            i: self._operand(Operand(x.written, View.row_major(program.values[x.written].shape)))
            for i, x in enumerate(program.inputs)
            if x.written is not None
        }
        own = {x.written: i for i, x in enumerate(program.inputs) if x.written is not None}
        outputs: list[Any] = []
        for x in program.outputs:
            number = own.get(x.value, x.value)
            if number < len(program.inputs) or number in program.constants:
                outputs.append(Operand(number, replay.resolved(x.view, self.numbers)))
            else:
                outputs.append(self._operand(x))
        self._evaluate((tuple(written.values()), tuple(outputs)))
        stores = [(i, self._noted(x)) for i, x in written.items()]
        return stores, [self._noted(x) if type(x) is Tensor else x for x in outputs]


def _follows_numpy(method: str, arguments: tuple[Any, ...]) -> bool:
    """Whether a step must be NumPy's, since outside of programs it is: it rounds as it adds up."""
    if method == "reduce":
        op, x = arguments[:2]
        if op not in (p.SUM, p.MEAN, p.PROD):
            return False
    elif method in ("var", "vecdot"):
        x = arguments[0]
    else:
        return False
    return x.storage.dtype.kind in "fc" and x.view.size <= hints.threshold  # type: ignore[no-any-return]


def _tensors(x: Any) -> list[Tensor]:
    if type(x) is Tensor:
        return [x]
    return [tensor for part in x for tensor in _tensors(part)] if type(x) is tuple else []


# ---------------------------------------------------------------------- running


def prepare(backend: CPUBackend, program: Program, sizes: tuple[int, ...]) -> replay.Run:
    """See `Backend.prepare`."""
    plain = replay.prepare(backend, program, sizes)
    try:
        planned = Plan(backend, program, sizes)
    except Unplannable:
        return plain

    def run(*handles: Tensor) -> tuple[Tensor, ...]:
        # Floating-point errors that are not to be ignored or warned of are met one by one.
        return plain(*handles) if fperrors.modes() is None else planned.run(handles)

    return run


class Plan:
    """A program planned for given sizes.

    Attributes
    ----------
    actions : list of Action
    slots : list of _Slot
    arena : int
        Bytes.
    """

    def __init__(self, backend: CPUBackend, program: Program, sizes: tuple[int, ...]) -> None:
        planner = _Planner(backend, program, sizes)
        self.backend = backend
        self.stores, self.outputs = planner.plan()
        self.actions = planner.actions
        self.slots = planner.slots
        self._orders = [given.order for given in program.inputs]
        self._constants = program.constants
        self._scalars = planner.scalars
        self._place()

    def _place(self) -> None:
        """Find out how long each slot is needed, and where in the arena it lies."""
        results = {x.slot for x in self.outputs if type(x) is _Read}
        results |= {x.slot for _, x in self.stores}
        for number, action in enumerate(self.actions):
            for slot in action.uses():
                described = self.slots[slot]
                described.last = number
                if described.first < 0:
                    described.first = number
                    described.stored = slot in action.stores
        stored = [i for i, slot in enumerate(self.slots) if slot.stored]
        inside = [i for i in stored if i not in results]
        blocks = [
            Block(x.size * x.dtype.itemsize, x.first, x.last)
            for x in map(self.slots.__getitem__, inside)
        ]
        positions, self.arena = place(blocks)
        self._places = list(zip(inside, positions, strict=True))
        # The caller may get what else is stored: it has memory of its own.
        self._made = [i for i in stored if i in results]
        self._idle: list[list[Any]] = []

    def _workspace(self) -> list[Any]:
        """A place for the memory of each slot; that of the arena is there."""
        try:
            return self._idle.pop()
        except IndexError:
            pass
        slots: list[Any] = [None] * len(self.slots)
        memory = empty((self.arena,), np.dtype(np.uint8))
        for slot, position in self._places:
            described = self.slots[slot]
            slots[slot] = np.ndarray((described.size,), described.dtype, memory, position)
        for slot, scalar in self._scalars.items():
            slots[slot] = scalar
        return slots

    def run(self, handles: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Run the program; see `Backend.prepare`."""
        backend = self.backend
        workspace = self._workspace()
        slots = workspace.copy()
        for i, handle in enumerate(handles):
            slots[i] = self._flat(handle, self._orders[i])
        for slot, handle in enumerate(self._constants.values(), start=len(handles)):
            slots[slot] = self._flat(handle, None)
        for slot in self._made:
            described = self.slots[slot]
            slots[slot] = empty((described.size,), described.dtype)
        report: executor.Report = []
        for action in self.actions:
            action.run(self.backend, slots, report)
        if self.arena <= _MAX_KEPT and not self._idle:
            self._idle.append(workspace)
        outputs = self._outputs(handles, slots)
        for i, read in self.stores:
            value = _tensor(slots[read.slot], read.view)
            order = self._orders[i]
            backend.assign(
                handles[i],
                value if order is None else backend.permute(value, replay.inverse(order)),
            )
        if report:
            fperrors.report(report)
        return outputs

    def _flat(self, handle: Tensor, order: tuple[int, ...] | None) -> NDArray:
        array = self.backend.array(handle)
        if order is not None:
            array = array.transpose(order)
        return np.ascontiguousarray(array).reshape(-1)

    def _outputs(self, handles: tuple[Tensor, ...], slots: list[Any]) -> tuple[Tensor, ...]:
        storages: dict[Slot, Storage] = {}
        outputs = []
        for x in self.outputs:
            if type(x) is Operand:
                if x.value < len(handles):
                    handle, order = handles[x.value], self._orders[x.value]
                    if order is not None:
                        handle = self.backend.permute(handle, order)
                else:
                    handle = self._constants[x.value]
                outputs.append(self.backend.strided(handle, x.view))
                continue
            storage = storages.get(x.slot)
            if storage is None:
                memory = slots[x.slot]
                tracked = memory.size > hints.threshold
                storage = storages[x.slot] = Storage(memory, tracked=tracked)
            outputs.append(tensor_over(storage, x.view))
        return tuple(outputs)
