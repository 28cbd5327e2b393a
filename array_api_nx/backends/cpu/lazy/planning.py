"""From pending expressions to passes: which nodes one kernel computes, and which it stores.

A kernel computes one node, its *head*, with those of its operands that can be computed element by
element along with it; or several reductions over the same axes of the same operands. Kernels of
their own store nodes that are read in another order than they are computed in, and reductions,
unless tiles have all elements of the reduced rows.

No node is computed twice: a kernel stores each node that another kernel reads, that an array shows,
or that a pending expression outside of this evaluation reads.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from math import prod
from typing import Any, Final, TypeAlias

from ....core.view import View
from ....primitives import table as p
from ..engine import loops
from ..engine.kernel import MAX_OPERANDS, MAX_STEPS, Instruction, Product, TileReduction
from ..engine.passes import Accumulation, Output, Pass, Slot, make_pass
from ..engine.schedule import NotInTiles, OperandLayout, Schedule, schedule
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
"""A step of a kernel before it has registers: its loop; its sources, operands by number and results
of steps as ("step", number); the operand that it writes, if any; the node that it computes."""

EvaluationPlan: TypeAlias = "tuple[Pass, ...]"
"""Passes in the order in which they run, over the slots of `Graph.slots`. A fill that is a head has
none: nothing is computed."""


def plan(graph: Graph, destination: tuple[View, frozenset[int]] | None = None) -> EvaluationPlan:
    """The passes that compute the roots of `graph`.

    `destination` is the place of the only root in other memory, and the leaves that are that
    memory. Raises `Overlap` if elements would be overwritten before they are read.
    """
    return _Planner(graph, destination).plan()


class Overlap(Exception):
    """A destination overlaps memory that is read in another order."""


class _Planner:
    def __init__(self, graph: Graph, destination: tuple[View, frozenset[int]] | None) -> None:
        self.graph = graph
        self.destination = destination
        self.separate: set[int] = set()
        """Reductions that are not computed in the tiles of the nodes that read them."""

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
        """Find the heads, and the readers of the other nodes."""
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
        """The nodes, other than its heads, that a pass stores."""
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
        """Whether a reduction may be computed in the tiles of its readers, and not be stored."""
        graph, node = self.graph, self.graph.nodes[i]
        wanted = i in self.separate or i in graph.roots or i in graph.live or i in graph.variances
        return not wanted and node.divisor is None and node.op is not p.VAR

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
        """The reductions that the pass of `head` computes, if that is one: over the same axes, of
        the same memory. Their operands are added to `inlined`."""
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
        # A scalar may be read as it is, and as a tile.
        scalars = [
            j for kind, j, _ in reads if kind == "scalar" or (kind == "node" and self._is_fill(j))
        ]
        # Memory is read as often as there are values around it.
        padded = [i for i in inlined if self.graph.nodes[i].op is p.PAD]
        written = len(heads) + len(self.side_outputs(inlined, heads))
        return len(reads) + len(scalars) + len(padded) + written

    def _cut(self, inlined: list[int]) -> int:
        """The node of a pass with too many operands, not its head, that is stored before: the one
        with the most operands that a pass may have, so that few are stored."""
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
        """The sources of these nodes outside of them."""
        return {
            (kind, j, view)
            for i in inlined
            for kind, j, view in self.graph.sources[i]
            if kind != "node" or j not in inlined
        }

    def _in_chain_order(self, i: int) -> Sequence[Source]:
        """The sources of a node in the order in which they are best computed.

        A node that can be a link of a chain (native/chains.h) has the links that it alone reads
        last; another node has these first (docs/tuning.md, 70).
        """
        nodes, sources = self.graph.nodes, self.graph.sources[i]
        if len(sources) < 2:
            return sources

        def is_link(j: int) -> bool:
            return getattr(nodes[j].loop, "is_link", False)

        def comes_last(source: Source) -> bool:
            kind, j, _ = source
            return (kind == "node" and is_link(j) and len(self.consumers[j]) == 1) == is_link(i)

        return sorted(sources, key=comes_last)

    def _gather(
        self, i: int, space: tuple[int, ...], inlined: list[int], seen: set[int]
    ) -> int | None:
        """Collect the nodes that are computed along with a head; or return the node that must be
        stored before."""
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
    step: Instruction | Product | TileReduction, timetable: Schedule
) -> Instruction | Product | TileReduction:
    """A step of a schedule; of a product whose columns are the rows of tiles the transpose."""
    if type(step) is TileReduction:
        rows, columns = timetable.reduced[-2:]
        return step._replace(rows=rows, columns=columns)
    if type(step) is not Product or not timetable.operands[step.left].strides[-1]:
        return step
    return step._replace(
        left=step.right, right=step.left, left_step=step.right_step, right_step=step.left_step
    )


def _is_spread(node: Node, reader: Node, view: View | None) -> bool:
    """Whether `reader` reads, for each element that `node` reduces, the result of its reduction."""
    if view is None or view.mask is not None or not view.shape == node.space == reader.space:
        return False
    kept = iter(View.row_major(node.shape).strides)
    strides = [0 if axis in node.axes else next(kept) for axis in range(len(node.space))]
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
        self.layouts: list[OperandLayout] = []
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
        **properties: Any,
    ) -> int:
        """The number of the operand that has this key, made if there is none. `properties` are
        other fields of its `OperandLayout`."""
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.operands)
            offset, strides = layout
            self.operands.append((slot, offset))
            self.layouts.append(OperandLayout(strides, itemsize, role, **properties))
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
            return self._operand(
                key, slot, layout, itemsize, "input", materialise_scalar=materialise_scalar
            )
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

    def _value(self, source: Source, values: dict[int, Any], loop: loops.Loop | None = None) -> Any:
        """A source: the value that the pass has computed of it, or the operand that it reads."""
        kind, j, view = source
        found = values.get(j) if kind == "node" else None
        return self._input(kind, j, view, loop) if found is None else found

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
        """The operand of a product that goes along one axis of it, and along the summed one."""
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
    ) -> Instruction | Product | TileReduction:
        """The step of a node. Until tiles are known, a product goes along their rows, and reduced
        elements lie along their columns."""
        node = self.graph.nodes[i]
        if loop is not node.loop or not (node.axes or node.op is p.MATMUL):
            return Instruction(loop, sources, target)
        if node.axes:
            assert node.identity is not None
            return TileReduction(loop, sources[0], target, False, True, node.identity)
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
        steps = iter(kept)
        strides = tuple([0 if a in node.axes else next(steps) for a in range(len(self.space))])
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
                sources = tuple([self._value(x, values, loop) for x in graph.sources[i]])
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
        """Whether several steps are one chain: each is arithmetic that reads the result before."""
        return len(steps) > 1 and all(
            [
                loop.is_link and i not in self.waiting and (k == 0 or ("step", k - 1) in sources)
                for k, (loop, sources, _, i) in enumerate(steps)
            ]
        )

    def _count_loops(self, steps: Sequence[_Computed]) -> int:
        """The number of loops, if nothing else runs and no layout changes their bits; else 0."""
        nodes = self.graph.nodes
        if self.reductions or self.waiting or any([nodes[i].op is p.MATMUL for *_, i in steps]):
            return 0
        return len(steps) if all([loop.is_exact for loop, *_ in steps]) else 0

    def _compile(self, steps: Sequence[_Computed], values: dict[int, Any]) -> Pass:
        graph = self.graph
        reduced: list[Any] = []
        accumulators: list[int] = []
        for i in self.reductions:
            reduced.append(self._value(graph.sources[i][0], values))
            accumulators.append(self._accumulators(i))
        last_use = {value: k for k, (_, sources, _, _) in enumerate(steps) for value in sources}
        last_use.update(dict.fromkeys(reduced, len(steps)))
        registers: list[int] = []
        free: list[int] = []
        where: dict[Any, int] = {}
        kept: set[int] = set()  # registers of reductions, which hold an element a row or column
        base = len(self.operands)
        program: list[Instruction | Product | TileReduction] = []
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
        accumulations = []
        means = {variance: mean for mean, variance in graph.variances.items()}
        for i, value, target in zip(self.reductions, reduced, accumulators, strict=True):
            node, size = graph.nodes[i], prod(graph.nodes[i].shape)
            folds, identity = node.loop, node.identity
            assert folds is not None
            assert identity is not None
            source = where[value] if type(value) is tuple else value
            program.append(_turned(self._step(i, folds, (source,), target), timetable))
            computes.append(i)
            accumulations.append(
                Accumulation(i, size, node.dtype, folds, identity, node.divisor, means.get(i))
            )
        written = self.side_outputs
        if not self.reductions and self.destination is None:
            written = [*written, self.head]
        nodes = graph.nodes
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
