"""From pending expressions to kernels: what is computed together, and what is stored in between.

A kernel computes one value, its *head*, and what lies below it and can be computed along with it,
element by element; or several reductions over the same axes of what it reads. Values that must lie
in memory first get kernels of their own: those that are read in another order than computed, and
reductions, unless tiles have all elements of the rows that are reduced.

No value is computed twice: a kernel stores what it computes along the way if another kernel reads
it, an array shows it, or a pending expression that is not computed now needs it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from math import prod
from typing import Any, Final, TypeAlias

from ....core.view import View
from ....primitives import table as p
from ..engine import loops
from ..engine.kernel import MAX_OPERANDS, MAX_STEPS, Box, Instruction, Product, Reduction
from ..engine.passes import Accumulation, Output, Pass, Slot, make_pass
from ..engine.schedule import Layout, NotInTiles, Schedule, schedule
from .expression import Node
from .graph import Graph, Source

__all__ = ["EvaluationPlan", "Overlap", "plan"]

MAX_READS: Final = 32
"""How much a pass of several reductions may read: arrays, or other views of these, and scalars
(docs/tuning.md, 32)."""

_MAX_STEPS: Final = MAX_STEPS * 3 // 4
"""Fewer steps than a kernel may have: to store a value a second time, or to reduce it, is a step of
its own."""

_Computed: TypeAlias = tuple[loops.Loop, tuple[Any, ...], int | None, int]
"""A step of a kernel before it has registers: its loop; what it reads, operands by number and what
steps compute as ("step", number); the operand that it writes, if any; the node that it computes."""

EvaluationPlan: TypeAlias = "tuple[Pass, ...]"
"""Passes in the order in which they run, over the slots of `Graph.slots`. A fill that is a head has
none: nothing is computed."""


def plan(graph: Graph, destination: tuple[View, frozenset[int]] | None = None) -> EvaluationPlan:
    """The passes that compute the roots of `graph`.

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
        self.separate: set[int] = set()
        """Reductions that are known not to be computed in the tiles of what reads them."""

    def plan(self) -> EvaluationPlan:
        while True:
            self.passes: list[Pass] = []
            self.stored: set[int] = set()
            self._classify()
            try:
                for i in range(len(self.graph.nodes)):
                    if i in self.heads and i in self.graph.roots:
                        self._emit(i)
                return tuple(self.passes)
            except NotInTiles:
                pass

    # ------------------------------------------------------------------ what is stored

    def _classify(self) -> None:
        """Decide which nodes have kernels of their own, and find what reads the others."""
        graph = self.graph
        consumers: list[list[int]] = [[] for _ in graph.nodes]
        heads = {i for i, node in enumerate(graph.nodes) if node.axes and not self._may_wait(i)}
        for i, refs in enumerate(graph.sources):
            for kind, j, view in refs:
                if kind != "node" or self._is_fill(j):
                    continue
                if graph.nodes[i].op is not p.MATMUL and (
                    self._in_order(j, view) or _is_spread(graph.nodes[j], graph.nodes[i], view)
                ):
                    consumers[j].append(i)
                else:
                    heads.add(j)
        heads.update([i for i in graph.roots if not consumers[i]])
        self.heads = heads
        self.consumers = consumers

    def side_outputs(self, computed: Sequence[int], heads: Set[int]) -> list[int]:
        """Of the nodes that a pass computes, those that it stores beside its heads."""
        graph, inside = self.graph, {*computed}
        inside.update([mean for mean, variance in graph.variances.items() if variance in inside])
        return [
            i
            for i in computed
            if i not in heads
            and graph.nodes[i].op is not p.PAD  # it takes no time
            and (
                i in graph.roots
                or i in graph.live
                or any([reader not in inside for reader in self.consumers[i]])
            )
        ]

    def _may_wait(self, i: int) -> bool:
        """Whether a reduction may be computed in the tiles of what reads it, and not stored."""
        return not (
            i in self.separate
            or i in self.graph.roots
            or i in self.graph.live
            or i in self.graph.variances
            or self.graph.nodes[i].divisor is not None
            or self.graph.nodes[i].op is p.VAR
        )

    def _is_fill(self, i: int) -> bool:
        return self.graph.nodes[i].loop is None

    def _in_order(self, j: int, view: View | None) -> bool:
        """Whether `view` reads node j in the order in which it is computed."""
        node = self.graph.nodes[j]
        assert view is not None
        return not node.axes and view.is_c_contiguous and view.size == prod(node.shape)

    # ------------------------------------------------------------------ kernels

    def _emit(self, head: int) -> None:
        """Append the pass that computes `head`, after those that it needs."""
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
                if self._operand_count(inlined, {head}) <= MAX_OPERANDS:
                    break
                first = self._cut(inlined)
                self.heads.add(first)
            self._emit(first)
        reductions = self._reductions(head, inlined)
        builder = _PassBuilder(self, head, reductions, inlined)
        apart = {*builder.waiting}.intersection(builder.side_outputs)
        if apart:  # a tile has few of the elements that are to be stored
            self.separate |= apart
            raise NotInTiles
        try:
            self.passes.append(builder.build())
        except NotInTiles:
            self.separate.update(builder.waiting)
            raise
        self.stored.update((head, *reductions, *builder.side_outputs))

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
                or i not in self.heads
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
            together = inlined + [j for j in needed if j not in inlined]
            if (
                len(reads | others) <= MAX_READS
                and reads & others
                and self._operand_count(together, {*reductions, i}) <= MAX_OPERANDS
                and len(together) <= _MAX_STEPS
            ):
                reads |= others
                reductions.append(i)
                inlined[:] = together
        return reductions

    def _operand_count(self, inlined: Sequence[int], heads: Set[int]) -> int:
        """The most operands that the pass of these nodes has."""
        reads = self._reads(inlined)
        # A scalar may be read as it is, and spread out over a tile.
        scalars = [
            j for kind, j, _ in reads if kind == "scalar" or (kind == "node" and self._is_fill(j))
        ]
        # Memory is read as often as there are values around it.
        padded = [i for i in inlined if self.graph.nodes[i].op is p.PAD]
        written = len(heads) + len(self.side_outputs(inlined, heads))
        return len(reads) + len(scalars) + len(padded) + written

    def _cut(self, inlined: list[int]) -> int:
        """Of the nodes of a pass that has too many operands, all but its head, one to be stored
        before: that which can have the most, so that few are stored."""
        below: dict[int, set[int]] = {}
        found, most = inlined[0], 0
        for i in inlined[:-1]:
            below[i] = {i}.union(
                *[below[j] for kind, j, _ in self.graph.sources[i] if kind == "node" and j in below]
            )
            operands = self._operand_count([*below[i]], {i})
            if most < operands <= MAX_OPERANDS:
                found, most = i, operands
        return found

    def _reads(self, inlined: Sequence[int]) -> set[Any]:
        """What is read to compute these nodes."""
        return {
            (kind, j, view)
            for i in inlined
            for kind, j, view in self.graph.sources[i]
            if kind != "node" or j not in inlined
        }

    def _in_chain_order(self, i: int) -> Sequence[Source]:
        """What a node reads, in the order in which it is best computed.

        If the node can follow in a chain (native/chains.h), what it can follow comes last: links
        that nobody else reads. If it cannot, these come first. (An n-body step of a million takes
        0.9 times as long so, Black-Scholes of 100,000 0.93. Two cores of an AMD EPYC.)
        """
        nodes, sources = self.graph.nodes, self.graph.sources[i]
        if len(sources) < 2:
            return sources

        def is_link(j: int) -> bool:
            loop = nodes[j].loop
            return loop is not None and loop.is_link

        follows = is_link(i)

        def comes_last(source: Source) -> bool:
            kind, j, _ = source
            return (kind == "node" and is_link(j) and len(self.consumers[j]) == 1) == follows

        return sorted(sources, key=comes_last)

    def _gather(
        self, i: int, space: tuple[int, ...], inlined: list[int], seen: set[int]
    ) -> int | None:
        """Collect what is computed along with a head; or the node that must be stored before."""
        seen.add(i)
        nodes = self.graph.nodes
        multiplies = nodes[i].op is p.MATMUL
        if multiplies and nodes[i].space != space:
            return i
        for kind, j, view in self._in_chain_order(i):
            # Without a view are scalars, and what random numbers are made from.
            if view is None or (kind == "node" and self._is_fill(j)):
                continue
            if kind == "leaf" or j in self.stored:
                if not multiplies and _reshaped(view, space) is None:
                    return i
            elif j in self.heads or not (
                self._in_order(j, view) or (nodes[j].axes and nodes[j].space == space)
            ):
                return j
            elif j not in seen:
                first = self._gather(j, space, inlined, seen)
                if first is not None:
                    return first
        inlined.append(i)
        return None


def _turned(
    step: Instruction | Product | Reduction, timetable: Schedule
) -> Instruction | Product | Reduction:
    """A step of a schedule: where the columns of a product are the rows of tiles, its transpose."""
    if type(step) is Reduction:
        rows, columns = timetable.reduced[-2:]
        return step._replace(rows=rows, columns=columns)
    if type(step) is not Product or not timetable.operands[step.left].strides[-1]:
        return step
    return step._replace(
        left=step.right, right=step.left, left_step=step.right_step, right_step=step.left_step
    )


def _is_spread(node: Node, reader: Node, view: View | None) -> bool:
    """Whether `reader` reads, beside the elements that `node` reduces, what they came to."""
    if view is None or view.mask is not None or not view.shape == node.space == reader.space:
        return False
    strides: list[int] = []
    step = 1
    for axis in reversed(range(len(node.space))):
        strides.insert(0, 0 if axis in node.axes else step)
        step *= 1 if axis in node.axes else node.space[axis]
    return view.offset == 0 and all(
        [
            n == 1 or mine == expected
            for n, mine, expected in zip(view.shape, view.strides, strides, strict=True)
        ]
    )


def _reshaped(view: View, space: tuple[int, ...]) -> View | None:
    return view if view.shape == space else view.reshape(space)


class _PassBuilder:
    """Builds the pass of one head, or of several reductions."""

    def __init__(
        self, planner: _Planner, head: int, reductions: list[int], inlined: list[int]
    ) -> None:
        self.graph = planner.graph
        self.head = head
        self.reductions = reductions
        self.inlined = inlined
        self.space: Any = self.graph.nodes[head].space
        self.destination = planner.destination if head in self.graph.roots else None
        self.waiting = [i for i in inlined if planner.graph.nodes[i].axes and i not in reductions]
        self.side_outputs = planner.side_outputs(inlined, {head, *reductions})
        self.operands: list[tuple[Slot, int]] = []
        self.layouts: list[Layout] = []
        self.numbers: dict[Any, int] = {}
        self.fills: dict[int, int] = {}
        self.inner_steps: dict[int, int] = {}  # of factors of products

    # ------------------------------------------------------------------ operands

    def _operand(
        self,
        key: Any,
        slot: Slot,
        layout: tuple[int, tuple[int, ...]],
        itemsize: int,
        role: Any,
        materialise_scalar: bool = False,
        box: Box | None = None,
        drawn: bool = False,
    ) -> int:
        """The number of the operand that has this key, made if there is none."""
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.operands)
            offset, strides = layout
            self.operands.append((slot, offset))
            self.layouts.append(Layout(strides, itemsize, role, materialise_scalar, box, drawn))
        return number

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
        slot = graph.slot(kind, j)
        if kind == "scalar":
            itemsize = graph.scalars[j].array.itemsize
            materialise_scalar = loop is not None and loop.materialise_scalar
            key = (kind, j, materialise_scalar)
            layout = 0, (0,) * len(self.space)
            return self._operand(key, slot, layout, itemsize, "input", materialise_scalar)
        assert view is not None
        view = _reshaped(view, self.space)
        assert view is not None
        itemsize = (graph.leaves if kind == "leaf" else graph.nodes)[j].dtype.itemsize
        if self.destination is not None and kind == "leaf" and j in self.destination[1]:
            target = self.destination[0]
            if view != target and view.overlaps(target):
                raise Overlap
        box: Any = view.mask
        layout = view.byte_layout(itemsize)
        return self._operand((kind, j, view, fill), slot, layout, itemsize, "input", box=box)

    def _padded(self, i: int) -> int:
        """The operand that a node of padding reads."""
        (kind, j, view), (_, value, _) = self.graph.sources[i]
        fill = self._input("scalar", value, None)
        number = self._input(kind, j, view, fill=fill)
        self.fills[number] = fill
        return number

    def _drawn(self, i: int) -> int:
        """The operand that a node of random numbers reads."""
        ((kind, j, _),) = self.graph.sources[i]
        itemsize = self.graph.nodes[i].dtype.itemsize
        layout = View.row_major(self.space).byte_layout(itemsize)
        slot = self.graph.slot(kind, j)
        return self._operand(("drawn", i), slot, layout, itemsize, "input", drawn=True)

    def _factor(self, i: int, axis: int) -> int:
        """The operand of a product that goes along one axis of it, and along what is summed."""
        graph = self.graph
        kind, j, view = graph.sources[i][axis]
        assert view is not None
        if self.destination is not None and kind == "leaf" and j in self.destination[1]:
            raise Overlap
        itemsize = graph.nodes[i].dtype.itemsize
        offset, steps = view.byte_layout(itemsize)
        strides = (steps[0], 0) if axis == 0 else (0, steps[1])
        number = self._operand(
            ("factor", i, axis), graph.slot(kind, j), (offset, strides), itemsize, "factor"
        )
        self.inner_steps[number] = steps[1 - axis]
        return number

    def _step(
        self, i: int, loop: loops.Loop, sources: tuple[int, ...], target: int
    ) -> Instruction | Product | Reduction:
        """The step of a node. Until tiles are known, a product goes along their rows, and what is
        reduced lies along their columns."""
        node = self.graph.nodes[i]
        if loop is not node.loop or not (node.axes or node.op is p.MATMUL):
            return Instruction(loop, sources, target)
        if node.axes:
            assert node.identity is not None
            return Reduction(loop, sources[0], target, False, True, node.identity)
        left, right = sources
        _, _, view = self.graph.sources[i][0]
        assert view is not None
        inner: Any = view.shape[1]
        steps = self.inner_steps[left], self.inner_steps[right]
        return Product(loop, left, right, target, inner, *steps)

    def _output(self, i: int) -> int:
        itemsize = self.graph.nodes[i].dtype.itemsize
        if i == self.head and self.destination is not None:
            slot = self.graph.slot("destination", 0)
            return self._operand(
                "out", slot, self.destination[0].byte_layout(itemsize), itemsize, "output"
            )
        layout = View.row_major(self.space).byte_layout(itemsize)
        return self._operand(("out", i), i, layout, itemsize, "output")

    def _accumulators(self, i: int) -> int:
        node = self.graph.nodes[i]
        assert node.identity is not None
        itemsize = node.identity.dtype.itemsize
        _, kept = View.row_major(node.shape).byte_layout(itemsize)
        remaining = list(kept)
        strides = tuple([0 if a in node.axes else remaining.pop(0) for a in range(len(self.space))])
        return self._operand(("out", i), i, (0, strides), itemsize, "accumulator")

    # ------------------------------------------------------------------ the program

    def build(self) -> Pass:
        graph = self.graph
        outputs = {*self.side_outputs} if self.reductions else {*self.side_outputs, self.head}
        # Values are operands (numbers) or what steps compute (("step", k)).
        values: dict[int, Any] = {}
        known: dict[Any, Any] = {}
        steps: list[_Computed] = []
        for i in self.inlined:
            node = graph.nodes[i]
            if i in self.reductions:
                continue
            loop = node.loop
            assert loop is not None
            if node.op is p.PAD:
                sources: tuple[Any, ...] = (self._padded(i),)
                if i not in outputs:
                    values[i] = sources[0]
                    continue
            elif node.op is p.DRAW:
                sources = (self._drawn(i),)
            elif node.op is p.MATMUL:
                sources = self._factor(i, 0), self._factor(i, 1)
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

    def _is_chain(self, steps: Sequence[_Computed]) -> bool:
        """Whether there are several steps, and they are one chain: each is arithmetic, and reads
        what the step before has computed."""
        return len(steps) > 1 and all(
            [
                loop.is_link and i not in self.waiting and (k == 0 or ("step", k - 1) in sources)
                for k, (loop, sources, _, i) in enumerate(steps)
            ]
        )

    def _count_loops(self, steps: Sequence[_Computed]) -> int:
        """How many loops run, if nothing else does, and if their bits do not depend on how their
        operands lie; else 0."""
        nodes = self.graph.nodes
        if self.reductions or self.waiting or any([nodes[i].op is p.MATMUL for *_, i in steps]):
            return 0
        return len(steps) if all([loop.is_exact for loop, *_ in steps]) else 0

    def _compile(self, steps: Sequence[_Computed], values: dict[int, Any]) -> Pass:
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
        kept: set[int] = set()  # registers of reductions, which hold an element a row or column
        base = len(self.operands)
        program: list[Instruction | Product | Reduction] = []
        computes: list[int] = []
        for k, (loop, sources, output, i) in enumerate(steps):
            slots = tuple([where[s] if type(s) is tuple else s for s in sources])
            for value in {s for s in sources if type(s) is tuple}:
                if last_use[value] == k and where[value] not in kept:
                    free.append(where[value])
            if output is None:
                itemsize = loop.output.itemsize
                fitting = [] if i in self.waiting else reversed(free)
                target = next((r for r in fitting if registers[r - base] == itemsize), None)
                if target is None:
                    target = base + len(registers)
                    registers.append(itemsize)
                else:
                    free.remove(target)
                where["step", k] = target
                if i in self.waiting:
                    kept.add(target)
            else:
                target = output
            program.append(self._step(i, loop, slots, target))
            computes.append(i)
        axes = {graph.nodes[i].axes for i in (*self.waiting, *self.reductions)}
        if self.waiting and len(axes) > 1:
            raise NotInTiles
        whole = axes.pop() if self.waiting else ()
        cost = sum([step.loop.cost for step in program])
        timetable = schedule(
            self.space,
            self.layouts,
            sum(registers),
            frozenset(whole),
            cost,
            is_chain=not self.reductions and self._is_chain(steps),
            is_exact=all([graph.nodes[i].dtype.kind in "biu" for i in self.reductions]),
            loops=self._count_loops(steps),
        )
        program = [_turned(step, timetable) for step in program]
        for i, value, target in zip(self.reductions, reduced, accumulators, strict=True):
            node = graph.nodes[i]
            assert node.loop is not None
            assert node.identity is not None
            source = where[value] if type(value) is tuple else value
            step = Reduction(node.loop, source, target, False, True, node.identity)
            program.append(_turned(step, timetable))
            computes.append(i)
        written = self.side_outputs
        if not self.reductions and self.destination is None:
            written = [*written, self.head]
        nodes = graph.nodes
        means = {variance: mean for mean, variance in graph.variances.items()}
        accumulations = []
        for i in self.reductions:
            node = nodes[i]
            assert node.loop is not None
            assert node.identity is not None
            accumulations.append(
                Accumulation(
                    i,
                    prod(node.shape),
                    node.dtype,
                    node.loop,
                    node.identity,
                    node.divisor,
                    means.get(i),
                )
            )
        return make_pass(
            timetable,
            self.operands,
            registers,
            program,
            values=computes,
            outputs=[Output(i, prod(nodes[i].shape), nodes[i].dtype) for i in written],
            accumulations=accumulations,
            fills=self.fills,
        )
