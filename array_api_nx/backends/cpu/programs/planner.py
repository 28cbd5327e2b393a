"""From a program and its sizes to actions.

The steps of a program run over placeholders without elements: what can be deferred becomes an
expression, as always, and where expressions would be evaluated their plan is noted instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import count
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ....config import config_context, hints
from ....contract import primitives as p
from ....contract import replay
from ....contract.numpy_dtypes import TO_NUMPY
from ....contract.program import Program, Step, ValueView
from ....contract.strided import Storage, Tensor, tensor_over
from ....core.symbolic import SymbolicShape
from ....core.view import View
from ....explain import model
from ..engine import fperrors
from ..kernels import NDArray
from ..lazy import evaluation, expression
from ..lazy.explain import Translator
from ..lazy.expression import Node
from ..lazy.planning import Graph
from .actions import Action, BackendCall, Copy, Fill, KernelPass, Read, Slot, Update

if TYPE_CHECKING:
    from ..lazy.deferral import DeferredExecution

__all__ = ["Planner", "SlotInfo", "Unplannable"]

# Of what is not among these, the operands are computed before, all together.
_DEFERRED: Final = frozenset(
    {"binary", "cast", "clip", "copy", "full", "pad", "reduce", "unary", "var", "vecdot", "where"}
)


_scopes: Final = count(1)


class SlotInfo:
    """A block of memory that actions read and write.

    Attributes
    ----------
    shape : tuple of int
    size : int
    dtype : numpy.dtype
    values : list of (int, int)
        The numbers of the program's values that it holds, one after the other, each after that of
        the action from which on it does.
    first, last : int
        The numbers of the actions that write it first and use it last.
    stored : bool
        Whether the action that writes it first must be given the memory.
    """

    __slots__ = ("dtype", "first", "last", "shape", "size", "stored", "values")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], value: int | None) -> None:
        self.shape = shape
        self.size = prod(shape)
        self.dtype = dtype
        self.values = [] if value is None else [(-1, value)]
        self.first = self.last = -1
        self.stored = False


class Unplannable(Exception):
    """A program whose expressions share memory in a way that slots cannot say."""


class _NeedsElements(Exception):
    """What was to be deferred cannot be."""


def _refuse(x: Tensor) -> NDArray:
    raise _NeedsElements


class Planner:
    """Makes the actions of a program; see the module's text.

    Parameters
    ----------
    backend : DeferredExecution
    program : Program
    sizes : tuple of int
    explains : bool
        Whether `passes` tells of what each `KernelPass` does.
    """

    def __init__(
        self,
        backend: DeferredExecution,
        program: Program,
        sizes: tuple[int, ...],
        *,
        explains: bool = False,
    ) -> None:
        # Has no elements to look at.
        self.backend = copy(backend)
        self.backend.bind = _refuse  # type: ignore[method-assign]
        self.program = program
        self.numbers = dict(zip(program.symbols, program.evaluate(*sizes), strict=True))
        self.bindings = dict(zip(program.variables, sizes, strict=True))
        self.actions: list[Action] = []
        self.slots: list[SlotInfo] = []
        self.scalars: dict[Slot, NDArray] = {}
        self.explains = explains
        self.passes: list[model.PassExplanation] = []
        self._tensors: dict[int, Tensor] = {}
        self._slot_of: dict[int, Slot] = {}
        self._values: dict[int, int] = {}
        self._kept: list[NDArray] = []

    def plan(self) -> tuple[list[tuple[int, Read]], list[Read | ValueView]]:
        """Make the actions; what they store in arguments, and the outputs; see `_finish`."""
        program = self.program
        with config_context(fusion="always", fusion_threshold=0):
            token = evaluation.planner.set(self._note)
            modes = fperrors.planned.set(0)
            scope = expression.cse_scope.set(next(_scopes))
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
                fperrors.planned.reset(modes)
                evaluation.planner.reset(token)
                expression.cse_scope.reset(scope)

    # ------------------------------------------------------------------ slots

    def _new_slot(self, shape: tuple[int, ...], dtype: np.dtype[Any], value: int | None) -> Slot:
        self.slots.append(SlotInfo(shape, dtype, value))
        return len(self.slots) - 1

    def name(self, slot: Slot, action: int | None = None) -> str:
        """What a slot is called after an action, or now: as the value that it holds, if it does."""
        moment = len(self.actions) if action is None else action
        held = [value for start, value in self.slots[slot].values if start <= moment]
        if not held:
            return f"t{slot}"
        twins = [x for x in self.slots[:slot] if held[-1] in [value for _, value in x.values]]
        return f"v{held[-1]}" + "'" * len(twins)

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
        storage = Storage(self._memory(self._new_slot(shape, dtype, value)), tracked=True)
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
        settings = fperrors.ErrorSettings.of(step.errors)
        if settings is None:
            raise Unplannable
        fperrors.planned.set(settings.code())
        if step.method.startswith("update"):
            self._update(position, step)
            return
        arguments = self._resolved(step.arguments)
        keywords = tuple([(name, self._resolved(x)) for name, x in step.keywords])
        if step.method in _DEFERRED and not _adds_up_alone(step.method, arguments):
            try:
                result = getattr(self.backend, step.method)(*arguments, **dict(keywords))
            except _NeedsElements:
                pass
            else:
                if result.array is None and result.storage.memory is None:
                    self._tensors[step.results[0]] = result
                    self._values[result.storage.node.key] = step.results[0]
                    return
        self._evaluate((arguments, keywords))
        arguments, keywords = self._noted(arguments), self._noted(keywords)
        for value in step.results:
            self._tensors[value] = self._placeholder(value)
        results = tuple([self._find(self._tensors[v].storage.memory) for v in step.results])  # type: ignore[union-attr]
        self.actions.append(BackendCall(step.method, arguments, keywords, results, step.errors))

    def _update(self, position: int, step: Step) -> None:
        operand, view, *rest = step.arguments
        base: Any = self.backend.contiguous(self._resolved(operand))
        others = self._resolved(tuple(rest))
        self._evaluate((base, others))
        source = self._noted(base).slot
        (result,) = step.results
        node = base.storage.node
        alone = node is None or node.live_storages() == [base.storage]
        if alone and self.program.reuses_base(position) and base.view.is_c_contiguous:
            self._tensors[result] = base
            # Its memory will hold something else: what reads it comes first.
            if node is not None:
                evaluation.evaluate(expression.dependants(node), [])
            base.storage.node = None
            expression.leaf(base.storage.memory).attach(base.storage)
            self.slots[source].values.append((len(self.actions), result))
            target = source
        else:
            self._tensors[result] = self._placeholder(result)
            target = self._find(self._tensors[result].storage.memory)  # type: ignore[union-attr]
            self.actions.append(Copy(source, target))
        noted = self._noted(others)
        keys, value = (None, noted[0]) if step.method == "update" else noted
        self.actions.append(Update(target, replay.resolved(view, self.numbers), keys, value))

    def _resolved(self, x: Any) -> Any:
        """`x` with Tensors for operands and numbers for expressions."""
        if isinstance(x, ValueView):
            return self._operand(x)
        if isinstance(x, tuple | list):
            return tuple([self._resolved(part) for part in x])
        return replay.resolved(x, self.numbers)

    def _operand(self, x: ValueView) -> Tensor:
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
                return self.backend.permute(tensor, replay.inverse(order))
        return self.backend.strided(tensor, view)

    def _evaluate(self, arguments: Any) -> None:
        """Have all Tensors within arguments computed, together."""
        tensors = _tensors(arguments)
        pending = [
            (x.storage, x.storage.node)
            for x in tensors
            if x.storage is not None and x.storage.memory is None
        ]
        self.backend.evaluate(*tensors)
        for storage, node in pending:
            if id(storage.memory) not in self._slot_of:
                # Another array has the same value, and so this one got a copy.
                held = [v for v, x in self._tensors.items() if x.storage is storage]
                slot = self._new_slot(node.shape, node.dtype, held[0] if held else None)
                self.actions.append(Copy(self._find(node.memory), slot))
                storage.memory = self._memory(slot)

    def _noted(self, x: Any) -> Any:
        """`x` with what is to be read for Tensors, which have memory."""
        if type(x) is Tensor:
            return Read(self._find(x.storage.memory), x.view)  # type: ignore[union-attr, arg-type]
        if type(x) is tuple:
            return tuple([self._noted(part) for part in x])
        return x

    def _note(self, roots: Sequence[Node]) -> None:
        """Plan the evaluation of expressions, in place of `evaluation.evaluate`."""
        graph = Graph(roots)
        nodes = graph.nodes
        found: dict[int, Slot] = {}
        leaves = [self._find(leaf.memory) for leaf in graph.leaves]
        for stage in evaluation.planned(graph):
            means = {
                variance: i
                for i, variance in graph.variances.items()
                if variance in stage.reductions
            }
            outputs = [*stage.stored, *([] if stage.reductions else [stage.head])]
            for i in (*outputs, *stage.reductions, *means.values()):
                found[i] = self._slot(nodes[i])
            sources = []
            for kind, index, offset in stage.memories:
                if kind == "scalar":
                    slot = self._scalar(graph.scalars[index].array)
                else:
                    slot = leaves[index] if kind == "leaf" else found[index]
                sources.append((slot, offset))
            names = [
                ("reduce" if node.axes else node.loop.name, node.errors)  # type: ignore[union-attr]
                for node in [nodes[i] for i in stage.steps]
            ]
            reductions = [
                (nodes[i], found[i], found[means[i]] if i in means else None)
                for i in stage.reductions
            ]
            self.actions.append(
                KernelPass(
                    stage,
                    tuple(names),
                    tuple(sources),
                    tuple(reductions),
                    tuple([found[i] for i in outputs]),
                )
            )
        if self.explains:
            translator = Translator(
                graph,
                lambda kind, i: self.name(leaves[i] if kind == "leaf" else found[i]),
            )
            self.passes += [translator.translate(stage) for stage in evaluation.planned(graph)]
        for i, slot in found.items():
            nodes[i].realise(self._memory(slot))
        for node in roots:
            if node.memory is None:
                slot = self._slot(node)
                self.actions.append(Fill(slot, node.sources[0][0].array))  # type: ignore[union-attr]
                node.realise(self._memory(slot))

    def _slot(self, node: Node) -> Slot:
        return self._new_slot(node.shape, node.dtype, self._values.get(node.key))

    def _scalar(self, array: NDArray) -> Slot:
        slot = self._new_slot((1,), array.dtype, None)
        self.scalars[slot] = array
        return slot

    # ------------------------------------------------------------------ results

    def _finish(self) -> tuple[list[tuple[int, Read]], list[Read | ValueView]]:
        """Per argument that is written, its number and what is written; and the outputs.

        An output is an operand where it shows an argument or a constant.
        """
        program = self.program
        written = {
            i: self._operand(ValueView(x.written, View.row_major(program.values[x.written].shape)))
            for i, x in enumerate(program.inputs)
            if x.written is not None
        }
        own = {x.written: i for i, x in enumerate(program.inputs) if x.written is not None}
        for value in program.shared_results:
            self._tensors[value] = self.backend.contiguous(self._tensors[value])
        outputs: list[Any] = []
        for x in program.outputs:
            number = own.get(x.value, x.value)
            if number < len(program.inputs) or number in program.constants:
                outputs.append(ValueView(number, replay.resolved(x.view, self.numbers)))
            else:
                outputs.append(self._operand(x))
        self._evaluate((tuple(written.values()), tuple(outputs)))
        stores = [(i, self._noted(x)) for i, x in written.items()]
        return stores, [self._noted(x) if type(x) is Tensor else x for x in outputs]


def _adds_up_alone(method: str, arguments: tuple[Any, ...]) -> bool:
    """Whether a step must be alone, since outside of programs it is: it rounds as it adds up."""
    if method == "reduce":
        op, x = arguments[:2]
        if op not in (p.SUM, p.MEAN, p.PROD):
            return False
    elif method in ("var", "vecdot"):
        x = arguments[0]
    else:
        return False
    return x.storage.dtype.kind in "fc" and x.view.size <= hints.threshold


def _tensors(x: Any) -> list[Tensor]:
    if type(x) is Tensor:
        return [x]
    return [tensor for part in x for tensor in _tensors(part)] if type(x) is tuple else []
