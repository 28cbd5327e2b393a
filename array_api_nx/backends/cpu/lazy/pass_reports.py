"""Reports of pending expressions: the passes that would compute them (`Backend.explain`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, Literal

from ....contract.strided import Storage, Tensor
from ....core.symbolic import KnownInts
from ....core.view import View
from ....explain.explanation import Explanation
from ....explain.model import MemoryExplanation, PassExplanation, StepExplanation
from ....primitives import table as p
from ..engine import loops
from ..engine.kernel import Access, Instruction, Kernel, KernelOperand, Product, TileReduction
from ..engine.loops import Loop
from ..engine.passes import Pass
from .evaluation import planned
from .expression import Node
from .graph import Graph

__all__ = ["Translator", "explanation"]

_ACCESSES: Final[dict[Access, str]] = {
    "packed": "copied tile by tile",
    "invariant": "copied once per task",
    "streamed": "written past the caches",
}


def explanation(
    nodes: Sequence[Node], waiting: Sequence[list[tuple[Any, tuple[Any, ...], int, Storage]]] = ()
) -> Explanation:
    """The passes that would compute `nodes`, and those of expressions that wait in the extension.
    The caller holds the lock of storage.py."""
    passes = [_waiting_pass(each) for each in waiting]
    count = sum(map(len, waiting))
    roots = [node for node in nodes if node.memory is None]
    if roots:
        graph = Graph(roots)
        translator = Translator(graph)
        passes += [translator.translate(each) for each in planned(graph)]
        rest = [i for i in sorted(graph.roots) if i not in translator.stored]
        passes += [_filling(translator.result(i), graph.nodes[i]) for i in rest]
        count += len(graph.nodes)
    return Explanation(count, tuple(passes))


def _name(number: int) -> str:
    """A name for what is given: a, b, ... z, a1, b1, ..."""
    round, letter = divmod(number, 26)
    return f"{chr(ord('a') + letter)}{round or ''}"


def _waiting_pass(waiting: list[tuple[Any, tuple[Any, ...], int, Storage]]) -> PassExplanation:
    """The pass that the extension makes for an expression (native/evaluation.c). Each result is
    named here, whether it is in memory or in registers."""
    given: dict[object, MemoryExplanation] = {}
    steps: list[StepExplanation] = []
    shape: KnownInts = ()
    for i, (row, operands, _, _) in enumerate(waiting):
        sources = []
        for x in operands[:1] if row.family == "reduce" else operands:
            if type(x) is tuple:
                sources.append(f"r{x[0]}")
            elif type(x) is Tensor:
                key = id(x.storage), x.view
                if key not in given:
                    own: KnownInts = x.view.shape
                    size = prod(own)
                    given[key] = MemoryExplanation(
                        _name(len(given)), "given", str(x.storage.dtype), own,
                        size * x.storage.itemsize,
                    )  # fmt: skip
                shape = given[key].shape
                sources.append(given[key].name)
            else:
                sources.append(str(x))
        target = "result" if i == len(waiting) - 1 else f"r{i}"
        steps.append(StepExplanation(row.name, tuple(sources), target))
    storage = waiting[-1][3]
    size = prod(shape)
    result = MemoryExplanation(
        "result", "result", str(storage.dtype), shape, size * storage.itemsize
    )
    return PassExplanation((size,), (1, size), 1, tuple(given.values()), (result,), 0, tuple(steps))


def _filling(name: str, node: Node) -> PassExplanation:
    """The explanation of a fill, which no kernel computes."""
    size = prod(node.shape)
    result = MemoryExplanation(
        name, "result", str(node.dtype), node.shape, size * node.dtype.itemsize
    )
    step = StepExplanation("full", (str(node.number()[0]),), name)
    return PassExplanation((size,), (1, size), 1, (), (result,), 0, (step,))


class Translator:
    """Makes explanations of the passes of a plan, with names for the memory that they use.

    Parameters
    ----------
    graph : Graph
    name_of : callable, optional
        From ("leaf" | "node", position in the graph) to a name, where memory has names of its own.
    """

    def __init__(self, graph: Graph, name_of: Callable[[str, int], str] | None = None) -> None:
        self.graph = graph
        self.name_of = name_of
        self.operations = {
            node.loop: node.op.name
            for node in graph.nodes
            if node.loop and node.op and not node.axes
        }
        # Names: of values that passes have stored, by position in the graph; of arrays in memory,
        # by leaf and elements (one pass may read the same elements through two views).
        self.stored: dict[int, str] = {}
        self.arrays: dict[object, list[str]] = {}
        self.first_names: dict[int, str] = {}

    def translate(self, each: Pass) -> PassExplanation:
        """The explanation of a pass. It is called once per pass, in order."""
        kernel = each.kernel
        names: list[str] = []
        inputs: list[MemoryExplanation] = []
        outputs: list[MemoryExplanation] = []
        reads = self._reads([x.slot for x in each.accumulations] or [each.outputs[-1].slot])
        written = {step.target for step in kernel.program}
        for number, ((slot, offset), operand) in enumerate(
            zip(each.operands, kernel.operands, strict=True)
        ):
            kind, j = self.graph.source(slot)
            if operand.numbers is not None:
                names.append("counters")
            elif kind == "scalar":
                names.append(str(self.graph.scalars[j].array[0]))
            elif number in written:
                outputs.append(self._output(each, j, operand))
                names.append(outputs[-1].name)
                outputs += [self._output(each, mean, operand) for mean in self._means(j)]
            else:
                view = reads[kind, j, offset].pop(0)
                fill = None
                if operand.fill is not None:
                    _, fill = self.graph.source(each.operands[operand.fill][0])
                inputs.append(self._input(kind, j, view, operand, names, fill))
                names.append(inputs[-1].name)
        names += [f"r{i}" for i in range(len(kernel.registers))]
        padding = 0
        while kernel.dims[padding] == 1 and padding < len(kernel.dims) - 1:
            padding += 1
        steps = self._steps(each, names, padding)
        return PassExplanation(
            kernel.dims[padding:],
            kernel.tile,
            kernel.tasks,
            tuple(inputs),
            tuple(outputs),
            _scratch(kernel),
            tuple(steps),
        )

    # ------------------------------------------------------------------ memory

    def _reads(self, heads: list[int]) -> dict[tuple[str, int, int], list[View]]:
        """The views through which a pass reads memory: by kind, position and first byte.

        The views under one key are in the order of the pass's operands.
        """
        graph = self.graph
        space = graph.nodes[heads[0]].space
        found: dict[tuple[str, int, int], list[View]] = {}
        seen: set[object] = set()
        computed: dict[int, None] = {}
        for head in heads:
            self._add_operands(head, computed)
        for i in [*computed, *heads]:
            *_, last = graph.sources[i]
            fill = last[1] if graph.nodes[i].op is p.PAD else None
            for kind, j, view in graph.sources[i]:
                if view is None or (kind == "node" and j not in self.stored):
                    continue
                multiplies = graph.nodes[i].op is p.MATMUL
                read = kind, j, (i, view) if multiplies else view.reshape(space), fill
                if read not in seen:
                    seen.add(read)
                    value = graph.leaves[j] if kind == "leaf" else graph.nodes[j]
                    offset, _ = view.byte_layout(value.dtype.itemsize)
                    found.setdefault((kind, j, offset), []).append(view)
        return found

    def _add_operands(self, i: int, found: dict[int, None]) -> None:
        """Add the nodes that are computed in one pass with node `i`, and before it."""
        # A method, since a function within another one that calls itself refers to itself: it
        # would keep the memory of the expression until garbage is collected.
        for kind, j, _ in self.graph.sources[i]:
            if kind == "node" and j not in self.stored and j not in found:
                self._add_operands(j, found)
                found[j] = None

    def _input(
        self,
        source: str,
        j: int,
        view: View,
        operand: KernelOperand,
        taken: list[str],
        fill: int | None,
    ) -> MemoryExplanation:
        """The explanation of an operand that a pass reads. `fill` is the scalar around it, `taken`
        are the names of the other operands."""
        if view.mask is not None:
            view = view.shrink(view.mask)
        shape: KnownInts = view.shape
        strides: KnownInts = view.strides
        distinct = view.shrink(
            tuple([(0, 1 if s == 0 else n) for n, s in zip(shape, strides, strict=True)])
        )
        notes = _layout(distinct)
        if distinct.shape != shape:
            notes.append("broadcast")
        if fill is not None:
            notes.append(f"padded with {self.graph.scalars[fill].array[0]}")
        if operand.access in _ACCESSES:
            notes.append(_ACCESSES[operand.access])
        kind: Literal["given", "stored"] = "given" if source == "leaf" else "stored"
        dtype = (self.graph.leaves if source == "leaf" else self.graph.nodes)[j].dtype
        if source == "leaf" and self.name_of is None:
            name = self._array(j, (distinct.offset, distinct.merge_axes()), taken)
            if name != self.first_names[j]:
                notes.append(f"another view of {self.first_names[j]}")
        else:
            name = self.stored[j] if self.name_of is None else self.name_of(source, j)
            if name in taken:
                notes.append(f"another view of {name}")
                while name in taken:
                    name += "'"
        elements: KnownInts = distinct.shape
        size = prod(elements) * dtype.itemsize
        return MemoryExplanation(name, kind, str(dtype), elements, size, ", ".join(notes))

    def _array(self, leaf: int, elements: object, taken: list[str]) -> str:
        """A name, not among `taken`, for elements of a leaf."""
        names = self.arrays.setdefault((leaf, elements), [])
        for name in names:
            if name not in taken:
                return name
        names.append(_name(sum(map(len, self.arrays.values()))))
        self.first_names.setdefault(leaf, names[-1])
        return names[-1]

    def result(self, i: int) -> str:
        """The name of a root, by its position in the graph: with a number if there are several."""
        roots = sorted(self.graph.roots)
        return "result" if len(roots) == 1 else f"result{roots.index(i) + 1}"

    def _output(self, each: Pass, i: int, operand: KernelOperand) -> MemoryExplanation:
        """The explanation of an operand that a pass writes."""
        node = self.graph.nodes[i]
        kind: Literal["stored", "result"] = "result" if i in self.graph.roots else "stored"
        if self.name_of is not None:
            name = self.name_of("node", i)
        elif kind == "result":
            name = self.result(i)
        else:
            name = f"t{len(self.stored) + 1}"
        self.stored[i] = name
        size = prod(node.shape) * node.dtype.itemsize
        notes = []
        if each.copies > 1 and i in [x.slot for x in each.accumulations]:
            size = prod(node.shape) * operand.itemsize * each.copies
            notes.append(f"in {each.copies} parts, put together at the end")
        if i in self.graph.live and kind == "stored" and self.name_of is None:
            notes.append("kept for another array")
        if operand.access in _ACCESSES:
            notes.append(_ACCESSES[operand.access])
        return MemoryExplanation(name, kind, str(node.dtype), node.shape, size, ", ".join(notes))

    # ------------------------------------------------------------------ steps

    def _steps(self, each: Pass, names: list[str], padding: int) -> list[StepExplanation]:
        """The explanations of a pass's steps. `names` are those of the kernel's slots."""
        steps = []
        for step, number in zip(each.kernel.program, each.values, strict=True):
            if isinstance(step, TileReduction):
                steps += self._reduction(each, step, number, names, padding)
            else:
                operation, arguments = self._call(step, names)
                steps.append(StepExplanation(operation, arguments, names[step.target]))
        return steps

    def _call(self, step: Instruction | Product, names: list[str]) -> tuple[str, tuple[str, ...]]:
        loop: Loop = step.loop
        sources = tuple([names[slot] for slot in step.sources])
        if loop.name == "cast":
            if loop.inputs == (loop.output,):
                return "copy", sources
            return "astype", (*sources, str(loop.output))
        if loop is loops.replace_nan(loop.output):
            x, value = sources
            return "where", (f"isnan({x})", value, x)
        return self.operations[loop], sources

    def _reduction(
        self, each: Pass, step: TileReduction, head: int, names: list[str], padding: int
    ) -> list[StepExplanation]:
        node = self.graph.nodes[head]
        dims = each.kernel.dims
        strides = (*[1] * (len(dims) - 2), int(not step.rows), int(not step.columns))
        if step.target < len(each.operands):
            strides = each.kernel.operands[step.target].strides
        kept = [k for k, n in enumerate(dims) if n > 1 and strides[k] != 0]
        axes = [k - padding for k in range(padding, len(dims)) if strides[k] == 0]
        over = [f"axis={axes[0] if len(axes) == 1 else tuple(axes)}"] if kept else []
        source, target = names[step.source], names[step.target]
        assert node.op is not None
        passes_over = node.loop is not None and node.loop is loops.extreme(node.op, node.dtype)
        name = f"nan{node.op.name}" if passes_over else node.op.name
        steps = [StepExplanation(name, (source, *over), target, "reduction")]
        if node.op is not p.VAR and node.divisor is not None:
            steps.append(
                StepExplanation("divide", (target, str(float(node.divisor))), target, "final")
            )
        for mean in self._means(head):
            steps.append(StepExplanation("mean", (source, *over), self.stored[mean], "reduction"))
        return steps

    def _means(self, head: int) -> list[int]:
        """The mean that the pass of a variance stores as well, if it does."""
        return [mean for mean, i in self.graph.variances.items() if i == head]


def _layout(view: View) -> list[str]:
    """Words for a layout that is not contiguous. The view has no repeated elements."""
    sizes, strides = view.merge_axes()
    steps = [abs(stride) for stride in strides]
    words = []
    if any([stride < 0 for stride in strides]):
        words.append("flipped")
    if steps != sorted(steps, reverse=True):
        words.append("transposed")
    length = 1
    for step, size in sorted(zip(steps, sizes, strict=True)):
        if step != length:
            words.append("strided")
            break
        length *= size
    return words


def _scratch(kernel: Kernel) -> int:
    """Bytes for the registers and the packed operands of one thread. Scalars are packed, too, if a
    loop is slow with them."""
    copied = [operand.itemsize for operand in kernel.operands if operand.access != "direct"]
    return kernel.tile[0] * kernel.tile[1] * (sum(kernel.registers) + sum(copied))
