"""From pending expressions to kernels: what is computed together, and what is stored in between.

A kernel computes one value, its *head*, and everything below that can be computed along with it,
element by element; or several reductions over the same axes of what it reads. Values below it that
must lie in memory first get kernels of their own: reductions, and values that are read in another
order than they are computed in. A value that is costly and needed by several kernels is stored by
the first one; a cheap one is computed anew in each.

A plan names nodes by their position, so that it serves every expression of the same structure.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from ....contract import primitives as p
from ....core.view import View
from ..engine import loops
from ..engine.kernel import Box, Instruction, Kernel, Reduction
from ..engine.run import PreparedKernel, prepare
from ..engine.schedule import Layout, schedule
from .expression import Node, ScalarValue, mean_of, walk

__all__ = ["EvaluationPlan", "Graph", "OperandBinding", "Stage", "plan"]

WORTH_STORING: Final = 3.0
"""Nanoseconds per element above which computing a value again costs more than memory traffic."""

MAX_READS: Final = 32
"""How much a pass of several reductions may read."""

WORTH_A_THREAD: Final = 40_000.0
"""Nanoseconds of work for each thread beyond the first. To wake one takes some microseconds; where
that takes longer, the others have done its tasks meanwhile."""


class OperandBinding(NamedTuple):
    """What an operand of a kernel is bound to.

    Attributes
    ----------
    kind : {"leaf", "scalar", "node", "destination"}
        Memory that was there before, a scalar, a value of the plan, or where the caller wants the
        root to be.
    position : int
        Which one of its kind.
    offset : int
        Bytes to the first element.
    """

    kind: Literal["leaf", "scalar", "node", "destination"]
    position: int
    offset: int


class Stage(NamedTuple):
    """One kernel of a plan.

    Attributes
    ----------
    head : int
        The position of the node that it computes.
    reductions : tuple of int
        Positions of the reductions that it computes, the head among them.
    stored : tuple of int
        Positions of the other nodes that it stores.
    kernel : Kernel
    program : PreparedKernel
        The kernel, ready to run.
    memories : tuple of OperandBinding
        One per operand.
    partial : bool
        Whether each task has accumulators of its own.
    steps : tuple of int
        Per step of the kernel the position of the node that it computes.
    threads : int
        The most threads that are worth their while.
    """

    head: int
    reductions: tuple[int, ...]
    stored: tuple[int, ...]
    kernel: Kernel
    program: PreparedKernel
    memories: tuple[OperandBinding, ...]
    partial: bool
    steps: tuple[int, ...]
    threads: int


EvaluationPlan: TypeAlias = "tuple[Stage, ...]"
"""Stages in the order in which they run. A fill that is a head has none: nothing is computed."""


class Graph:
    """Pending nodes, operands first, with everything they read numbered.

    Attributes
    ----------
    nodes : list of Node
    leaves : list of Node
        Values in memory.
    scalars : list of ndarray
    sources : list of tuple
        Per node its sources: ("node" | "leaf" | "scalar", position, view or None).
    roots : frozenset of int
    live : frozenset of int
        Nodes whose elements some array shows.
    variances : dict
        Per mean the variance of the same elements, in whose pass it is computed as well.
    key : tuple
        Equal for graphs of the same structure.
    """

    def __init__(self, roots: Sequence[Node]) -> None:
        self.nodes = walk(roots)
        position = {node.key: i for i, node in enumerate(self.nodes)}
        self.leaves: list[Node] = []
        self.scalars: list[ScalarValue] = []
        found: dict[Any, int] = {}
        self.sources: list[tuple[tuple[str, int, View | None], ...]] = []
        parts: list[Any] = []
        self.roots = frozenset([position[node.key] for node in roots])
        live = []
        for i, node in enumerate(self.nodes):
            refs: list[tuple[str, int, View | None]] = []
            for value, view in node.sources:
                key = value.key
                if type(value) is ScalarValue:
                    k = found.setdefault(key, len(self.scalars))
                    if k == len(self.scalars):
                        self.scalars.append(value)
                    refs.append(("scalar", k, None))
                elif value.memory is None:
                    refs.append(("node", position[key], view))  # type: ignore[index]
                else:
                    k = found.setdefault(key, len(self.leaves))
                    if k == len(self.leaves):
                        self.leaves.append(value)
                    refs.append(("leaf", k, view))
            sources = tuple(refs)
            self.sources.append(sources)
            if node.live_storages():
                live.append(i)
            parts.append((node.loop, node.op, node.space, node.axes, node.errors, sources))
        self.live = frozenset(live)
        self.variances: dict[int, int] = {}
        for i, node in enumerate(self.nodes):
            mean = mean_of(node)
            if mean is not None and mean.key in position:
                self.variances[position[mean.key]] = i
        self.key = (*parts, self.roots, self.live, *self.variances.items())


def plan(graph: Graph, destination: tuple[View, frozenset[int]] | None = None) -> EvaluationPlan:
    """The stages that compute the roots of `graph`.

    Parameters
    ----------
    graph : Graph
    destination : (View, frozenset of int), optional
        Where in other memory the only root is to be stored, and which leaves are that memory.

    Raises
    ------
    Overlap
        If storing there would overwrite elements that are still to be read.
    """
    return _Planner(graph, destination).plan()


class Overlap(Exception):
    """A destination overlaps what is read, in another order."""


class _Planner:
    def __init__(self, graph: Graph, destination: tuple[View, frozenset[int]] | None) -> None:
        self.graph = graph
        self.destination = destination
        self.stages: list[Stage] = []
        self.stored: set[int] = set()
        self._classify()

    def plan(self) -> EvaluationPlan:
        for i in range(len(self.graph.nodes)):
            if i in self.heads and i in self.graph.roots:
                self._emit(i)
        return tuple(self.stages)

    # ------------------------------------------------------------------ what is stored

    def _classify(self) -> None:
        """Decide which nodes have kernels of their own, and which are stored along the way."""
        graph = self.graph
        count = len(graph.nodes)
        consumers: list[list[int]] = [[] for _ in range(count)]
        heads = set()
        for i, refs in enumerate(graph.sources):
            if graph.nodes[i].axes:
                heads.add(i)
            for kind, j, view in refs:
                if kind != "node" or self._is_fill(j):
                    continue
                if self._in_order(j, view):
                    consumers[j].append(i)
                else:
                    heads.add(j)
        heads.update([i for i in graph.roots if not consumers[i]])
        computed_in: list[frozenset[int]] = [frozenset()] * count
        for i in reversed(range(count)):
            computed_in[i] = (
                frozenset((i,))
                if i in heads
                else frozenset().union(*[computed_in[c] for c in consumers[i]])
            )
        sides = set()
        cost = [0.0] * count
        for i, refs in enumerate(graph.sources):
            loop = graph.nodes[i].loop
            total = (loop.cost if loop else 0.0) + sum(
                [cost[j] for kind, j, _ in refs if kind == "node"]
            )
            if i in heads:
                continue
            shared = len(computed_in[i]) > 1 and any(
                [computed_in[c] != computed_in[i] for c in consumers[i]]
            )
            if i in graph.roots or (total >= WORTH_STORING and (shared or i in graph.live)):
                sides.add(i)
            else:
                cost[i] = total
        self.heads = heads
        self.sides = sides

    def _is_fill(self, i: int) -> bool:
        return self.graph.nodes[i].loop is None

    def _in_order(self, j: int, view: View | None) -> bool:
        """Whether `view` reads node j in the order in which it is computed."""
        node = self.graph.nodes[j]
        assert view is not None
        return not node.axes and view.is_c_contiguous and view.size == prod(node.shape)

    # ------------------------------------------------------------------ kernels

    def _emit(self, head: int) -> None:
        """Append the stage that computes `head`, after those that it needs."""
        if head in self.stored or self._is_fill(head):
            return
        if head in self.graph.variances:
            self._emit(self.graph.variances[head])
            self.stored.add(head)
            return
        while True:
            inlined: list[int] = []
            first = self._gather(head, self.graph.nodes[head].space, inlined, set())
            if first is None:
                break
            self._emit(first)
        reductions = self._reductions(head, inlined)
        kernel = _KernelBuilder(self, head, reductions, inlined)
        self.stages.append(kernel.stage())
        self.stored.update((head, *reductions, *kernel.side_outputs))

    def _reductions(self, head: int, inlined: list[int]) -> list[int]:
        """The reductions that one pass computes if `head` is one: over the same axes, of what
        reads the same memory. What they need is added to `inlined`."""
        nodes = self.graph.nodes
        if not nodes[head].axes:
            return []
        reductions = [head]
        reads = self._reads(inlined)
        for i in range(len(nodes)):
            if (
                i == head
                or i in self.stored
                or i in self.graph.variances
                or nodes[i].axes != nodes[head].axes
                or nodes[i].space != nodes[head].space
                or nodes[i].leaves.isdisjoint(nodes[head].leaves)
            ):
                continue
            needed: list[int] = []
            if self._gather(i, nodes[i].space, needed, set()) is not None:
                continue
            others = self._reads(needed)
            if len(reads | others) <= MAX_READS and reads & others:
                reads |= others
                reductions.append(i)
                inlined += [j for j in needed if j not in inlined]
        return reductions

    def _reads(self, inlined: list[int]) -> set[Any]:
        """What is read to compute these nodes."""
        return {
            (kind, j, view)
            for i in inlined
            for kind, j, view in self.graph.sources[i]
            if kind != "node" or j not in inlined
        }

    def _gather(
        self, i: int, space: tuple[int, ...], inlined: list[int], seen: set[int]
    ) -> int | None:
        """Collect what is computed along with a head; or the node that must be stored before."""
        seen.add(i)
        for kind, j, view in self.graph.sources[i]:
            if kind == "scalar" or (kind == "node" and self._is_fill(j)):
                continue
            assert view is not None
            if kind == "leaf" or j in self.stored:
                if _reshaped(view, space) is None:
                    return i
            elif j in self.heads or not self._in_order(j, view):
                return j
            elif j not in seen:
                first = self._gather(j, space, inlined, seen)
                if first is not None:
                    return first
        inlined.append(i)
        return None


def _reshaped(view: View, space: tuple[int, ...]) -> View | None:
    return view if view.shape == space else view.reshape(space)


class _KernelBuilder:
    """Builds the stage of one head, or of several reductions."""

    def __init__(
        self, planner: _Planner, head: int, reductions: list[int], inlined: list[int]
    ) -> None:
        self.graph = planner.graph
        self.head = head
        self.reductions = reductions
        self.inlined = inlined
        self.space: Any = self.graph.nodes[head].space
        self.destination = planner.destination if head in self.graph.roots else None
        self.side_outputs = [i for i in inlined if i in planner.sides and i != head]
        self.memories: list[OperandBinding] = []
        self.layouts: list[Layout] = []
        self.operands: dict[Any, int] = {}
        self.fills: dict[int, int] = {}

    # ------------------------------------------------------------------ operands

    def _operand(
        self,
        key: Any,
        memory: OperandBinding,
        strides: tuple[int, ...],
        itemsize: int,
        role: Any,
        materialise_scalar: bool = False,
        box: Box | None = None,
    ) -> int:
        slot = self.operands.get(key)
        if slot is None:
            slot = self.operands[key] = len(self.memories)
            self.memories.append(memory)
            self.layouts.append(Layout(strides, itemsize, role, materialise_scalar, box))
        return slot

    def _input(
        self,
        kind: str,
        j: int,
        view: View | None,
        loop: loops.Loop | None = None,
        fill: int | None = None,
    ) -> int:
        graph = self.graph
        if kind == "node" and graph.nodes[j].loop is None:
            kind, j, view = graph.sources[j][0]
        if kind == "scalar":
            zeros = (0,) * len(self.space)
            itemsize = graph.scalars[j].array.itemsize
            materialise_scalar = loop is not None and loop.materialise_scalar
            memory = OperandBinding("scalar", j, 0)
            return self._operand(
                (kind, j, materialise_scalar), memory, zeros, itemsize, "input", materialise_scalar
            )
        assert view is not None
        view = _reshaped(view, self.space)
        assert view is not None
        itemsize = (graph.leaves if kind == "leaf" else graph.nodes)[j].dtype.itemsize
        if self.destination is not None and kind == "leaf" and j in self.destination[1]:
            target = self.destination[0]
            if view != target and view.overlaps(target):
                raise Overlap
        offset, strides = view.byte_layout(itemsize)
        memory = OperandBinding("leaf" if kind == "leaf" else "node", j, offset)
        box: Any = view.mask
        return self._operand((kind, j, view, fill), memory, strides, itemsize, "input", box=box)

    def _padded(self, i: int) -> int:
        """The operand that a node of padding reads."""
        (kind, j, view), (_, value, _) = self.graph.sources[i]
        fill = self._input("scalar", value, None)
        slot = self._input(kind, j, view, fill=fill)
        self.fills[slot] = fill
        return slot

    def _output(self, i: int) -> int:
        node = self.graph.nodes[i]
        itemsize = node.dtype.itemsize
        if i == self.head and self.destination is not None:
            offset, strides = self.destination[0].byte_layout(itemsize)
            return self._operand(
                "out", OperandBinding("destination", 0, offset), strides, itemsize, "output"
            )
        _, strides = View.row_major(self.space).byte_layout(itemsize)
        return self._operand(("out", i), OperandBinding("node", i, 0), strides, itemsize, "output")

    def _accumulators(self, i: int) -> int:
        node = self.graph.nodes[i]
        assert node.identity is not None
        itemsize = node.identity.dtype.itemsize
        _, kept = View.row_major(node.shape).byte_layout(itemsize)
        remaining = list(kept)
        strides = tuple([0 if a in node.axes else remaining.pop(0) for a in range(len(self.space))])
        return self._operand(
            ("out", i), OperandBinding("node", i, 0), strides, itemsize, "accumulator"
        )

    # ------------------------------------------------------------------ the program

    def stage(self) -> Stage:
        graph = self.graph
        outputs = {*self.side_outputs} if self.reductions else {*self.side_outputs, self.head}
        # Values are operands (numbers) or what steps compute (("step", k)).
        values: dict[int, Any] = {}
        known: dict[Any, Any] = {}
        steps: list[tuple[loops.Loop, tuple[Any, ...], int | None, int]] = []
        for i in self.inlined:
            node = graph.nodes[i]
            if node.axes:
                continue
            loop = node.loop
            assert loop is not None
            if node.op is p.PAD:
                sources: tuple[Any, ...] = (self._padded(i),)
                if i not in outputs:
                    values[i] = sources[0]
                    continue
            else:
                sources = tuple(
                    [
                        values[j]
                        if kind == "node" and j in values
                        else self._input(kind, j, view, loop)
                        for kind, j, view in graph.sources[i]
                    ]
                )
            output = self._output(i) if i in outputs else None
            key = (loop, sources, node.errors)
            value = known.get(key)
            if value is None or output is not None:
                if value is not None:
                    # The same value stored twice.
                    copy = loops.cast(node.dtype, node.dtype)
                    assert copy is not None
                    loop, sources = copy, (value,)
                value = output if output is not None else ("step", len(steps))
                steps.append((loop, sources, output, i))
                known[key] = value
            values[i] = value
        return self._compile(steps, values)

    def _compile(
        self,
        steps: list[tuple[loops.Loop, tuple[Any, ...], int | None, int]],
        values: dict[int, Any],
    ) -> Stage:
        graph = self.graph
        reduced: list[Any] = []
        accumulators: list[int] = []
        for i in self.reductions:
            kind, j, view = graph.sources[i][0]
            reduced.append(
                values[j] if kind == "node" and j in values else self._input(kind, j, view)
            )
            accumulators.append(self._accumulators(i))
        last_use = {value: k for k, (_, sources, _, _) in enumerate(steps) for value in sources}
        last_use.update(dict.fromkeys(reduced, len(steps)))
        registers: list[int] = []
        free: list[int] = []
        where: dict[Any, int] = {}
        base = len(self.memories)
        program: list[Instruction | Reduction] = []
        computes: list[int] = []
        for k, (loop, sources, output, i) in enumerate(steps):
            slots = tuple([where[s] if type(s) is tuple else s for s in sources])
            for value in {s for s in sources if type(s) is tuple}:
                if last_use[value] == k:
                    free.append(where[value])
            if output is None:
                itemsize = loop.output.itemsize
                target = next((r for r in reversed(free) if registers[r - base] == itemsize), None)
                if target is None:
                    target = base + len(registers)
                    registers.append(itemsize)
                else:
                    free.remove(target)
                where["step", k] = target
            else:
                target = output
            program.append(Instruction(loop, slots, target))
            computes.append(i)
        timetable = schedule(self.space, self.layouts, sum(registers))
        for i, value, target in zip(self.reductions, reduced, accumulators, strict=True):
            node = graph.nodes[i]
            assert node.loop is not None
            assert node.identity is not None
            source = where[value] if type(value) is tuple else value
            rows, columns = timetable.reduced[-2:]
            program.append(Reduction(node.loop, source, target, rows, columns, node.identity))
            computes.append(i)
        operands = [
            operand._replace(fill=self.fills.get(slot))
            for slot, operand in enumerate(timetable.operands)
        ]
        kernel = Kernel(
            timetable.dims,
            timetable.tile,
            timetable.split,
            timetable.step,
            timetable.tasks,
            tuple(operands),
            tuple(registers),
            tuple(program),
        )
        return Stage(
            self.head,
            tuple(self.reductions),
            tuple(self.side_outputs),
            kernel,
            prepare(kernel),
            tuple(self.memories),
            timetable.partial,
            tuple(computes),
            1 + int(prod(self.space) * sum([step.loop.cost for step in program]) / WORTH_A_THREAD),
        )
