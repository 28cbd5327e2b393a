"""`Planner`: from a program and its sizes to actions.

Steps that loops compute become nodes of expressions, like deferred operations. Another step is a
call of the backend. Before it, the values that it reads are planned as passes over slots of the
program. ProgramPlan (plan.py) calls the planner, and adds the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from math import nan, prod
from typing import Any, Final

import numpy as np

from ....contract import replay
from ....contract.numpy_dtypes import NDArray
from ....contract.program import Argument, Program, Step, ValueView, operands_in
from ....core.dtypes import DType
from ....core.symbolic import KnownInts, SymbolicShape
from ....core.view import View
from ....explain import model
from ....native import native
from ....primitives import table as p
from ..engine import fperrors, loops, sliced_calls
from ..engine.operations import reduction_pass
from ..engine.passes import Pass, Slot
from ..lazy import evaluation, expression
from ..lazy.builder import Builder, NodeView, in_steps
from ..lazy.expression import Node
from ..lazy.graph import Graph
from ..lazy.pass_reports import Translator
from ..policy import AT_ONCE_MAX, MOMENTS_AT_ONCE_MAX, adds_by_kernel, limits
from .actions import Action, BackendCall, Copy, Fill, KernelPass, Read, Update, permutation

__all__ = ["Planner", "SlotInfo", "Unplannable"]

# The methods of the backend that the builder has, too. Steps of other methods are calls.
_BUILT: Final = frozenset(
    {
        "apply", "binary", "cast", "clip", "copy", "full", "pad", "reduce", "unary", "var",
        "vecdot", "where",
    }
)  # fmt: skip

_MIN_SOURCE_BYTES: Final = 2**19
"""The bytes of random numbers above which passes draw them. For fewer a call writes them, so that a
small program keeps its memory from run to run, in which no kernel finds what to draw beforehand."""


class SlotInfo:
    """A block of memory that actions read and write.

    Attributes
    ----------
    shape : tuple of int
    size : int
    dtype : numpy.dtype
    values : list of (int, int)
        The values of the program that the block holds, one after the other: the number of the
        action that writes the value, and the number of the value.
    first, last : int
        The numbers of the actions that write the block first and use it last.
    stored : bool
        Whether the block must have memory before the action that writes it first.
    """

    __slots__ = ("dtype", "first", "last", "shape", "size", "stored", "values")

    def __init__(self, shape: tuple[int, ...], dtype: DType, value: int | None) -> None:
        self.shape = shape
        self.size = prod(shape)
        self.dtype = dtype
        self.values = [] if value is None else [(-1, value)]
        self.first = self.last = -1
        self.stored = False


class Unplannable(Exception):
    """Raised for a program whose errstate wants more than warnings, which passes cannot give."""


class _SlotMemory:
    """Stands for the memory of a slot in nodes (see `expression.Memory`)."""

    __slots__ = ("dtype", "shape", "slot")

    def __init__(self, slot: Slot, described: SlotInfo) -> None:
        self.slot = slot
        self.shape = (described.size,)
        self.dtype = described.dtype


class Planner:
    """Makes the actions of a program.

    Parameters
    ----------
    program : Program
    sizes : tuple of int
    explains : bool
        Whether to add the explanation of each `KernelPass` to `passes`.

    Attributes
    ----------
    actions : list of Action
    slots : list of SlotInfo
        The slots of arguments come first, then those of constants.
    scalars : dict of slot to ndarray
        The slots of scalars, whose elements never change.
    """

    def __init__(self, program: Program, sizes: tuple[int, ...], *, explains: bool = False) -> None:
        self.program = program
        self.numbers = dict(zip(program.symbols, program.evaluate(*sizes), strict=True))
        self.bindings = dict(zip(program.variables, sizes, strict=True))
        self.actions: list[Action] = []
        self.slots: list[SlotInfo] = []
        self.scalars: dict[Slot, NDArray] = {}
        self.explains = explains
        self.passes: list[model.PassExplanation] = []
        self._builder = Builder()
        self._values: dict[int, NodeView] = {}  # by number, those that later steps or outputs read
        self._number_of: dict[int, int] = {}  # from keys of nodes to numbers of values

    def plan(self) -> tuple[list[tuple[int, Read]], list[Read | ValueView]]:
        """Make the actions. Returns stores and outputs: see `_finish`."""
        program = self.program
        for number in (*range(len(program.inputs)), *program.constants):
            self._values[number] = self._new_value(number)
        ended: list[list[int]] = [[] for _ in range(len(program.steps) + 1)]
        for number, last in program.last_uses.items():
            ended[last].append(number)
        for position, step in enumerate(program.steps):
            self._step(position, step)
            for number in ended[position]:
                self._values.pop(number, None)
        return self._finish()

    # ------------------------------------------------------------------ slots

    def _new_slot(self, shape: tuple[int, ...], dtype: DType, value: int | None) -> Slot:
        self.slots.append(SlotInfo(shape, dtype, value))
        return len(self.slots) - 1

    def name(self, slot: Slot, action: int | None = None) -> str:
        """The name of a slot after an action (by default the last one): that of the value in it."""
        moment = len(self.actions) if action is None else action
        held = [value for start, value in self.slots[slot].values if start <= moment]
        if not held:
            return f"t{slot}"
        equal = [x for x in self.slots[:slot] if held[-1] in [value for _, value in x.values]]
        return f"v{held[-1]}" + "'" * len(equal)

    def _memory(self, slot: Slot) -> _SlotMemory:
        return _SlotMemory(slot, self.slots[slot])

    def _value_of(self, slot: Slot, shape: tuple[int, ...]) -> NodeView:
        """A new value for the elements that a slot holds from now on."""
        return NodeView(expression.leaf(self._memory(slot)), View.row_major(shape))

    def _new_value(self, number: int) -> NodeView:
        """A new slot for a value of the program, and that value."""
        shape = self._shape(number)
        dtype = self.program.values[number].dtype
        return self._value_of(self._new_slot(shape, dtype, number), shape)

    def _shape(self, number: int) -> KnownInts:
        return SymbolicShape(self.program.values[number].shape).eval(self.bindings)

    # ------------------------------------------------------------------ steps

    def _step(self, position: int, step: Step) -> None:
        settings = fperrors.ErrorSettings.of(step.errors)
        if settings is None:
            raise Unplannable
        errors = settings.code()
        if step.method.startswith("update"):
            self._update(position, step, errors)
            return
        arguments = self._resolved(step.arguments, errors)
        keywords = tuple([(name, self._resolved(x, errors)) for name, x in step.keywords])
        if self._is_source(step, arguments):
            (number,) = step.results
            self._values[number] = drawn = self._drawn(arguments, step.errors)
            self._number_of[drawn.node.key] = number
            return
        if self._is_built(position, step, arguments):
            (number,) = step.results
            shapes = [self._shape(number), *[x.view.shape for x in _values_in(arguments)]]
            value = None
            if not any([0 in shape for shape in shapes]):
                value = self._build(step.method, arguments, dict(keywords), errors)
            if value is not None:
                self._values[number] = value
                self._number_of[value.node.key] = number
                return
        work = None if self.explains or keywords else _reduction(step.method, arguments)
        self._evaluate(_values_in((arguments, keywords)))
        arguments, keywords = self._as_reads(arguments), self._as_reads(keywords)
        for number in step.results:
            self._values[number] = self._new_value(number)
        results = tuple([self._values[number].node.memory.slot for number in step.results])
        if work is not None:
            source = arguments[1 if step.method == "reduce" else 0]
            self.actions.append(KernelPass(work.over([results[0], source.slot]), (errors,)))
            return
        method = step.method
        if method == "matmul" and self._has_parts(arguments):
            method = "matmul_in_parts"
        self.actions.append(BackendCall(method, arguments, keywords, results, step.errors))

    def _has_parts(self, factors: Sequence[Read]) -> bool:
        """Whether a product of two matrices is computed in parts."""
        left, right = factors
        rows: KnownInts = left.view.shape
        columns: KnownInts = right.view.shape
        dtype = self.slots[left.slot].dtype
        same = dtype == self.slots[right.slot].dtype
        return same and sliced_calls.has_parts(rows, columns, dtype)

    def _is_built(self, position: int, step: Step, arguments: tuple[Argument, ...]) -> bool:
        """Whether a step may become a node."""
        if step.method == "matmul":
            # By itself a product is best computed at one go.
            number = step.results[0]
            whole = View.row_major(self.program.values[number].shape)
            last = self.program.last_uses.get(number, 0)
            if last == len(self.program.steps):
                return False
            uses = [
                (later.method in _BUILT, operand.view == whole)
                for later in self.program.steps[position + 1 : last + 1]
                for operand in operands_in((later.arguments, [x for _, x in later.keywords]))
                if operand.value == number
            ]
            return all([built and in_order for built, in_order in uses])
        return step.method in _BUILT and not _is_numpy_sum(step.method, arguments)

    def _is_source(self, step: Step, arguments: tuple[Argument, ...]) -> bool:
        """Whether passes draw the numbers of a step, tile by tile, instead of reading them."""
        if step.method != "draw_from":
            return False
        _, _, _, _, count, dtype, _, _, parameters = arguments
        many = count * dtype.itemsize > _MIN_SOURCE_BYTES
        return many and all([isinstance(x, float) for x in parameters])

    def _drawn(
        self, arguments: tuple[Argument, ...], errors: tuple[tuple[str, str], ...]
    ) -> NodeView:
        """Random numbers of a program: what they are made from is known when it runs."""
        kind, key, counter, offset, count, dtype, low, span, parameters = arguments
        self._evaluate([key, counter])
        state = self._as_reads((key, counter))
        assert native is not None
        words = native.drawing("bits", np.dtype(np.uint32), 0, 0, 0, 0, 0)
        slot = self._new_slot(words.shape, words.dtype, None)
        described = (kind, *state, offset, dtype, low, span, parameters)
        self.actions.append(BackendCall("drawing", described, (), (slot,), errors))
        name = loops.drawing_kind(kind, span)
        source = self._value_of(slot, words.shape)
        return self._builder.draw(source, name, dtype, count)

    def _build(
        self, method: str, arguments: Sequence[Argument], keywords: dict[str, Argument], errors: int
    ) -> NodeView | None:
        """The value that a method of the backend returns; None if no loops compute it."""
        build = partial(getattr(self._builder, method), *arguments, **keywords, errors=errors)
        found: NodeView | None = in_steps(build, lambda node: self._plan_passes([node]))
        return found

    def _update(self, position: int, step: Step, errors: int) -> None:
        operand, view, *rest = step.arguments
        base = self._contiguous(self._resolved(operand, errors), errors)
        others = self._resolved(tuple(rest), errors)
        self._evaluate([base, *_values_in(others)])
        node = base.node
        source = node.memory.slot
        (result,) = step.results
        shape = self._shape(result)
        sharing = [i for i, x in self._values.items() if x.node is node and i != operand.value]
        if self.program.reuses_base(position) and not sharing:
            # The slot is overwritten: the values that read its old elements are computed first.
            self._plan_passes(expression.dependants(node, self._live()))
            noted = self._as_reads(others)
            expression.forget(node)
            self.slots[source].values.append((len(self.actions), result))
            target = source
        else:
            noted = self._as_reads(others)
            target = self._new_slot(shape, node.dtype, result)
            self.actions.append(Copy(source, target))
        self._values[result] = self._value_of(target, shape)
        keys, value = (None, noted[0]) if step.method == "update" else noted
        self.actions.append(Update(target, replay.resolved(view, self.numbers), keys, value))

    def _resolved(self, x: Argument, errors: int) -> Argument:
        """`x` with a `NodeView` for each ValueView, and numbers for symbols."""
        if isinstance(x, ValueView):
            return self._operand(x, errors)
        if isinstance(x, tuple | list):
            return tuple([self._resolved(part, errors) for part in x])
        return replay.resolved(x, self.numbers)

    def _operand(self, x: ValueView, errors: int = 0) -> NodeView:
        value = self._values[x.value]
        view = replay.resolved(x.view, self.numbers)
        shape = self._shape(x.value)
        if view == View.row_major(shape):
            return value
        axes = permutation(view, shape)
        if axes is not None:
            # This is possible whatever the layout of the value.
            return NodeView(value.node, value.view.permute(axes))
        return NodeView(self._contiguous(value, errors).node, view)

    def _contiguous(self, x: NodeView, errors: int) -> NodeView:
        """`x` as a row-major block."""
        if x.view.is_c_contiguous and x.view.size == prod(x.node.shape):
            return x
        copied = self._build("copy", (x,), {}, errors)
        assert copied is not None
        return copied

    def _evaluate(self, values: Iterable[NodeView]) -> None:
        """Plan the passes that compute values, together."""
        self._plan_passes([x.node for x in values])

    def _live(self) -> set[int]:
        """The keys of the nodes that later steps read, or outputs show."""
        return {x.node.key for x in self._values.values()}

    def _as_reads(self, x: Argument) -> Argument:
        """`x` with a `Read` for each `NodeView`; all have slots by now."""
        if type(x) is NodeView:
            return Read(x.node.memory.slot, x.view)
        if type(x) is tuple:
            return tuple([self._as_reads(part) for part in x])
        return x

    def _plan_passes(self, roots: Sequence[Node]) -> None:
        """Append the passes that compute nodes, and give the nodes slots."""
        roots = [node for node in roots if node.memory is None]
        if not roots:
            return
        graph = Graph(roots, self._live())
        nodes = graph.nodes
        slots: list[Any] = [None] * len(nodes)
        slots += [leaf.memory.slot for leaf in graph.leaves]
        slots += [self._scalar(number.array) for number in graph.scalars]
        planned = evaluation.planned(graph)
        for each in planned:
            for i in (*[output.slot for output in each.outputs], *each.results()):
                slots[i] = self._slot(nodes[i])
            errors = tuple([nodes[i].errors for i in each.values])
            self.actions.append(KernelPass(each.over(slots), errors))
        if self.explains:
            translator = Translator(graph, lambda kind, i: self.name(slots[graph.slot(kind, i)]))
            self.passes += [translator.translate(each) for each in planned]
        for node, slot in zip(nodes, slots, strict=False):
            if slot is not None:
                node.realise(self._memory(slot))
        for node in roots:
            if node.memory is None:
                slot = self._slot(node)
                self.actions.append(Fill(slot, node.number()))
                node.realise(self._memory(slot))

    def _slot(self, node: Node) -> Slot:
        return self._new_slot(node.shape, node.dtype, self._number_of.get(node.key))

    def _scalar(self, array: NDArray) -> Slot:
        slot = self._new_slot((1,), array.dtype, None)
        self.scalars[slot] = array
        return slot

    # ------------------------------------------------------------------ results

    def _finish(self) -> tuple[list[tuple[int, Read]], list[Read | ValueView]]:
        """Stores and outputs. A store is the number of an argument and the elements written to it.

        An output that shows an argument or a constant is a ValueView.
        """
        program = self.program
        written = {
            i: self._operand(ValueView(x.written, View.row_major(program.values[x.written].shape)))
            for i, x in enumerate(program.inputs)
            if x.written is not None
        }
        own = {x.written: i for i, x in enumerate(program.inputs) if x.written is not None}
        for number in program.shared_results:
            self._values[number] = self._contiguous(self._values[number], 0)
        outputs: list[Argument] = []
        for x in program.outputs:
            number = own.get(x.value, x.value)
            if number < len(program.inputs) or number in program.constants:
                outputs.append(ValueView(number, replay.resolved(x.view, self.numbers)))
            else:
                outputs.append(self._operand(x))
        self._evaluate([x for x in (*written.values(), *outputs) if type(x) is NodeView])
        stores = [(i, self._as_reads(x)) for i, x in written.items()]
        # Equal values have one node and so one slot, but outputs must not share memory.
        shown: dict[Slot, int] = {}
        copies: dict[tuple[Slot, int], Slot] = {}
        for i, (x, given) in enumerate(zip(outputs, program.outputs, strict=True)):
            if type(x) is not NodeView:
                continue
            read = self._as_reads(x)
            if shown.setdefault(read.slot, given.value) != given.value:
                key = read.slot, given.value
                if key not in copies:
                    described = self.slots[read.slot]
                    copies[key] = self._new_slot(described.shape, described.dtype, given.value)
                    self.actions.append(Copy(read.slot, copies[key]))
                read = Read(copies[key], read.view)
            outputs[i] = read
        return stores, outputs


def _is_numpy_sum(method: str, arguments: tuple[Argument, ...]) -> bool:
    """Whether a step must not be fused: a small sum, which outside programs NumPy rounds."""
    if method == "reduce":
        op, x = arguments[:2]
        if op not in (p.SUM, p.MEAN, p.PROD):
            return False
    elif method in ("var", "vecdot"):
        x = arguments[0]
    else:
        return False
    return x.node.dtype.kind in "fc" and x.view.size <= limits.deferred


def _reduction(method: str, arguments: tuple[Argument, ...]) -> Pass | None:
    """The pass of slot 1 into slot 0 by which a step is computed outside programs, too: a sum, mean
    or variance of many elements, if they lie row-major."""
    if method == "reduce":
        op, x, axes, keepdims, *rest = arguments
        least = AT_ONCE_MAX
    elif method == "var":
        x, axes, keepdims, correction = arguments
        op, rest, least = p.VAR, [], MOMENTS_AT_ONCE_MAX
    else:
        return None
    dtype, view = x.node.dtype, x.view
    count = prod([view.shape[axis] for axis in axes])
    if (
        not least < view.size == prod(x.node.shape)
        or not view.is_c_contiguous
        or not adds_by_kernel(op, dtype, count)
        or any([asked is not None and asked != dtype for asked in rest])
    ):
        return None
    divisor = None
    if op is p.MEAN:
        divisor = float(count)
    elif op is p.VAR:
        divisor = count - correction if count > correction else nan
    work, _ = reduction_pass(
        p.VAR if op is p.VAR else p.SUM, dtype, view.shape, axes, keepdims, divisor
    )
    return work


def _values_in(x: Argument) -> list[NodeView]:
    """The values among arguments, nested tuples included."""
    if type(x) is NodeView:
        return [x]
    return [value for part in x for value in _values_in(part)] if type(x) is tuple else []
