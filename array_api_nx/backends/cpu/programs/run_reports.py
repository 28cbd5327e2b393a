"""Reports of programs: the passes and buffers of their plans (`Backend.explain_program`)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from ....contract.program import Argument, Program
from ....contract.ufuncs import UfuncLoop
from ....core.symbolic import DimLike, KnownInts, Sizes, SymbolicShape, eval_dim
from ....core.view import View
from ....explain.model import BufferExplanation, MemoryExplanation, RunExplanation, StepExplanation
from ....explain.model import PassExplanation as ExplainedPass
from ....native import native
from ....primitives.table import Primitive
from ..engine.kernel import TileReduction
from ..engine.passes import Slot
from .actions import Action, BackendCall, Copy, Fill, KernelPass, Read
from .plan import ProgramPlan
from .planner import Unplannable

if TYPE_CHECKING:
    from ..lazy.deferral import DeferredExecution

__all__ = ["explain"]


def explain(
    backend: DeferredExecution, program: Program, sizes: tuple[int, ...]
) -> RunExplanation | None:
    """See `Backend.explain_program`."""
    if native is None:
        return None
    try:
        plan = ProgramPlan(backend, program, sizes, explains=True)
    except Unplannable:
        return None
    return _Explainer(plan, program, sizes).explained()


class _Explainer:
    def __init__(self, plan: ProgramPlan, program: Program, sizes: tuple[int, ...]) -> None:
        assert plan.planner is not None
        self.plan = plan
        fused = iter(plan.planner.passes)
        self.program = program
        self.bindings = dict(zip(program.variables, sizes, strict=True))
        self.name = plan.planner.name
        self.shapes: list[KnownInts] = [
            SymbolicShape(x.shape).eval(self.bindings) for x in program.values
        ]
        self.inputs = len(plan.given) - len(plan.results)
        self.passes = [
            self._kinds(next(fused), number)
            if type(action) is KernelPass
            else self._called(number, action)
            for number, action in enumerate(plan.actions)
        ]

    def explained(self) -> RunExplanation:
        peak = self._peak()
        return RunExplanation(tuple(self.passes), tuple(self._buffers()), peak, self._number(peak))

    # ------------------------------------------------------------------ passes

    def _kind(self, slot: Slot) -> Literal["given", "result", "stored"]:
        if slot < self.inputs:
            return "given"
        return "result" if slot in self.plan.results else "stored"

    def _kinds(self, fused: ExplainedPass, number: int) -> ExplainedPass:
        """A fused pass with the kind of each memory: given, stored or result."""
        slots = {self.name(slot, number): slot for slot in self.plan.actions[number].uses()}

        def known(memory: MemoryExplanation) -> MemoryExplanation:
            slot = slots.get(memory.name)
            if slot is None:  # primes mark another view of the same slot
                slot = slots[memory.name.rstrip("'")]
            return memory._replace(kind=self._kind(slot))

        return fused._replace(
            inputs=tuple([known(x) for x in fused.inputs]),
            outputs=tuple([known(x) for x in fused.outputs]),
        )

    def _memory(self, slot: Slot, number: int) -> MemoryExplanation:
        described = self.plan.slots[slot]
        return MemoryExplanation(
            self.name(slot, number),
            self._kind(slot),
            str(described.dtype),
            described.shape,
            described.size * described.dtype.itemsize,
        )

    def _called(self, number: int, action: Action) -> ExplainedPass:
        """An action that is not a pass, explained as a pass of one step."""
        if type(action) is BackendCall:
            operation, arguments = action.method, action.arguments
            arguments += tuple([x for _, x in action.keywords])
            read, written = _slots(arguments), list(action.results)
        elif type(action) is Fill:
            operation, arguments = "full", (action.value[0],)
            read, written = [], [action.slot]
        elif type(action) is Copy:
            operation, arguments = "copy", (self._whole(action.source),)
            read, written = [action.source], [action.target]
        else:
            assert not isinstance(action, KernelPass | BackendCall | Fill | Copy)
            base = self._whole(action.target)
            operation, arguments = "update", (base, *(action.keys or ()), action.value)
            read, written = _slots(arguments), [action.target]
        before = number - 1
        inputs = {slot: self._memory(slot, before) for slot in read}
        outputs = [self._memory(slot, number) for slot in written]
        sources: list[str] = []
        for x in arguments:
            sources += self._text(x, before)
        steps = [StepExplanation(operation, tuple(sources), outputs[0].name, "called")]
        steps += [StepExplanation(f"{operation}, too", (), x.name, "called") for x in outputs[1:]]
        return ExplainedPass((), (1, 1), 0, tuple(inputs.values()), tuple(outputs), 0, tuple(steps))

    def _whole(self, slot: Slot) -> Read:
        return Read(slot, View.row_major(self.plan.slots[slot].shape))

    def _text(self, x: Argument, number: int) -> list[str]:
        """An argument, as the sources of a step show it."""
        if type(x) is Read:
            return [self.name(x.slot, number)]
        if type(x) is tuple and _slots(x):
            return [text for part in x for text in self._text(part, number)]
        return [x.name if isinstance(x, Primitive | UfuncLoop) else str(x)]

    # ------------------------------------------------------------------ memory

    def _shape(self, slot: Slot) -> Sizes:
        """The symbolic shape of what a slot holds.

        A slot that holds no value of the program gets the shape of a value of its size, if any.
        """
        described = self.plan.slots[slot]
        values = [*[value for _, value in described.values], *range(len(self.shapes))]
        same = [v for v in values if self.shapes[v] == described.shape]
        same += [v for v in values if prod(self.shapes[v]) == described.size]
        return self.program.values[same[0]].shape if same else described.shape

    def _nbytes(self, slot: Slot) -> DimLike:
        return prod(self._shape(slot)) * self.plan.slots[slot].dtype.itemsize

    def _number(self, expression: DimLike) -> int:
        found = eval_dim(expression, self.bindings)
        assert found is not None
        return found

    def _arena(self) -> DimLike:
        """The size of the arena as an expression: the sum of adjacent blocks up to its end."""
        slots = self.plan.slots
        ends = {
            slot: position + slots[slot].size * slots[slot].dtype.itemsize
            for slot, position in self.plan.places
        }
        places = {slot: position for slot, position in self.plan.places if slots[slot].size}
        total: DimLike = 0
        end = self.plan.arena
        while end > 0:
            # Blocks begin at cache lines.
            slot = next(slot for slot in places if end - 64 < ends[slot] <= end)
            total += self._nbytes(slot)
            end = places[slot]
        return total

    def _peak(self) -> DimLike:
        """The most bytes in use at one time; see `ProgramPlan.run`."""
        plan = self.plan
        always = self._arena()
        placed = {slot for slot, _ in plan.places}
        found = []
        for slot in range(self.inputs, len(plan.slots)):
            if slot in placed or slot in plan.scalars:
                continue
            if plan.slots[slot].stored:
                always += self._nbytes(slot)
            else:
                found.append(slot)
        moments = [always]
        for number, action in enumerate(plan.actions):
            live = [
                slot
                for slot in found
                if plan.slots[slot].first <= number
                and (slot in plan.results or number <= plan.slots[slot].last)
            ]
            moments.append(always + sum([self._nbytes(slot) for slot in live]))
            moments[-1] += self._accumulators(number, action)
        return max(moments, key=self._number)

    def _accumulators(self, number: int, action: Action) -> DimLike:
        """The most bytes that a pass takes for accumulators, besides its results.

        Accumulators that cannot become the result itself are replaced by it, one after the other.
        """
        if type(action) is not KernelPass:
            return 0
        divided = {step.target for step in self.passes[number].steps if step.kind == "final"}
        kernel, copies = action.work.kernel, action.work.copies
        # The bytes of accumulators that are still to be replaced, beyond those of their results.
        waiting: DimLike = 0
        moments: list[DimLike] = [0]
        for step in reversed(kernel.program):
            if isinstance(step, TileReduction) and step.target < len(kernel.operands):
                slot, _ = action.work.operands[step.target]
                dtype = self.plan.slots[slot].dtype
                itemsize = kernel.operands[step.target].itemsize * copies
                is_divided = self.name(slot, number) in divided
                size = prod(self._shape(slot))
                own = itemsize if is_divided or itemsize != dtype.itemsize else 0
                if is_divided and dtype != np.float64:
                    own += 8  # quotients are found in double precision
                moments.append(waiting + size * own)
                waiting += size * (itemsize - dtype.itemsize)
        return max([*moments, waiting], key=self._number)

    def _buffers(self) -> list[BufferExplanation]:
        plan = self.plan
        places = dict(plan.places)
        found = []
        for slot in range(self.inputs, len(plan.slots)):
            described = plan.slots[slot]
            if slot in plan.scalars or described.first < 0:
                continue
            names = [f"v{value}" for _, value in described.values[:-1]]
            names.append(self.name(slot, len(plan.actions)))
            if slot in places:
                place = f"arena, from byte {places[slot]}"
            elif slot in plan.results:
                place = "result"
            else:
                place = "its own"
            found.append(
                BufferExplanation(
                    " ".join(names),
                    str(described.dtype),
                    self._shape(slot),
                    described.size * described.dtype.itemsize,
                    place,
                    described.first + 1,
                    described.last + 1,
                )
            )
        return found


def _slots(x: Argument) -> list[Slot]:
    """The slots that arguments read, each once."""
    if type(x) is Read:
        return [x.slot]
    if type(x) is tuple:
        return list(dict.fromkeys([slot for part in x for slot in _slots(part)]))
    return []
