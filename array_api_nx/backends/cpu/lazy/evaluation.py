"""Evaluation: pending expressions get memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ....contract import primitives as p
from ....core.view import View
from ..engine import memory_pool, threads
from ..engine.summation import combined
from ..kernels import NDArray, divide_by_count
from . import expression
from .expression import Node
from .planning import EvaluationPlan, Graph, Overlap, Stage, plan

__all__ = [
    "Report",
    "begin",
    "buffer",
    "element",
    "end",
    "evaluate",
    "evaluate_into",
    "filled",
    "note",
    "planned",
    "planner",
]

Report: TypeAlias = "list[tuple[str, int, int]]"
"""Names of operations, the floating-point errors they met, and those to warn of (NumPy's bits)."""

planner: Final[ContextVar[Callable[[Sequence[Node]], None] | None]] = ContextVar(
    "array_api_nx.planner", default=None
)
"""Where it is set, nothing is computed: it is called instead, and gives pending nodes placeholders
for memory."""

# Plans by the structure of what they compute; emptied when full.
_MAX_PLANS: Final = 1 << 9
_plans: Final[dict[Any, EvaluationPlan]] = {}


def planned(graph: Graph, destination: tuple[View, frozenset[int]] | None = None) -> EvaluationPlan:
    """What `plan` gives, made anew only for a structure not seen before."""
    key = graph.key, destination
    stages = _plans.get(key)
    if stages is None:
        stages = plan(graph, destination)
        if len(_plans) >= _MAX_PLANS:
            _plans.clear()
        _plans[key] = stages
    return stages


def evaluate(roots: Sequence[Node], report: Report) -> None:
    """Give every root memory. Floating-point errors are added to `report`."""
    roots = [node for node in roots if node.memory is None]
    if not roots:
        return
    instead = planner.get()
    if instead is not None:
        instead(roots)
        return
    graph = Graph(roots)
    _compute(planned(graph), graph, None, report)
    for node in roots:
        if node.memory is None:  # a fill, which no kernel computes
            node.realise(filled(prod(node.shape), node.sources[0][0].array))  # type: ignore[union-attr]


def evaluate_into(node: Node, memory: NDArray, view: View, report: Report) -> None:
    """Compute a pending element-by-element value into `memory`, where `view` shows it.

    Raises
    ------
    Overlap
        If elements would be overwritten that are still to be read; nothing is written then.
    """
    graph = Graph((node,))
    for leaf in graph.leaves:
        # Two arrays may have come in by reference over one memory.
        if leaf.memory is not memory and np.may_share_memory(leaf.memory, memory):
            raise Overlap
    # Which leaves lie in the same memory decides what may be overwritten: it belongs to the plan.
    alias = frozenset([k for k, leaf in enumerate(graph.leaves) if leaf.memory is memory])
    _compute(planned(graph, (view, alias)), graph, memory, report)


def _compute(
    stages: EvaluationPlan, graph: Graph, destination: NDArray | None, report: Report
) -> None:
    """Run all stages."""
    raised = [0] * len(graph.nodes)
    for stage in stages:
        _run(stage, graph, raised, destination)
    _note(graph, raised, report)


_INVALID: Final = 8  # NumPy's bit


def _note(graph: Graph, raised: list[int], report: Report) -> None:
    """Report the floating-point errors of an evaluation, of each operation once."""
    for node, met in zip(graph.nodes, raised, strict=True):
        note(node, met, node.errors, report)
        # It may be computed again as a part of something else.
        node.errors = 0


def note(node: Node, met: int, asked: int, report: Report) -> None:
    """Add to `report` the floating-point errors that `node` met, if any of them is asked for."""
    if met & asked and node.loop is not None:
        if node.op is p.VAR:  # which is three operations where it is not fused
            report.append(("subtract", met & _INVALID, asked))
            report.append(("multiply", met & ~_INVALID, asked))
        else:
            report.append(("reduce" if node.axes else node.loop.name, met, asked))


def element(node: Node, position: int, known: dict[Any, Any] | None = None) -> NDArray | None:
    """One element of a value, as an array of one, without computing the others.

    None if a reduction is still pending below it. `known` holds what was found so far.
    """
    if node.memory is not None:
        return node.memory[position : position + 1]
    if node.axes:
        return None
    known = {} if known is None else known
    try:
        found: NDArray = known[node.key, position]
        return found
    except KeyError:
        pass
    index = []
    rest = position
    for size in reversed(node.space):
        rest, i = divmod(rest, size)
        index.append(i)
    index.reverse()
    if node.op is p.PAD and not node.sources[0][1].is_valid(index):  # type: ignore[union-attr]
        return node.sources[1][0].array  # type: ignore[union-attr]
    read: list[NDArray] = []
    for value, view in node.sources[: node.loop and len(node.loop.inputs)]:
        if view is None:
            read.append(value.array)  # type: ignore[union-attr]
        else:
            one = element(value, int(view.linear_index(index)), known)  # type: ignore[arg-type]
            if one is None:
                return None
            read.append(one)
    if node.loop is None:
        result = read[0]
    else:
        result = np.empty(1, node.dtype)
        # Whoever computes all elements warns.
        with np.errstate(all="ignore"):
            assert node.loop.call is not None
            node.loop.call(*read, out=result)
    known[node.key, position] = result
    return result


def buffer(size: int, dtype: np.dtype[Any]) -> NDArray:
    """Uninitialised memory for `size` elements."""
    return memory_pool.empty((size,), dtype)


def filled(size: int, value: NDArray) -> NDArray:
    """Memory for `size` elements that all are `value`, an array of one."""
    if not value.view(np.uint8).any():
        # Pages of zeros come from the system without being written.
        return np.zeros(size, value.dtype)
    memory = buffer(size, value.dtype)
    memory.fill(value[0])
    return memory


def _run(stage: Stage, graph: Graph, raised: list[int], destination: NDArray | None) -> None:
    """Run one stage, and hand what it computed to its nodes.

    Per node, the floating-point errors that it meets are added to `raised`.
    """
    nodes = graph.nodes
    new: dict[int, NDArray] = {}
    head = nodes[stage.head]
    for i in stage.stored:
        new[i] = buffer(prod(nodes[i].shape), nodes[i].dtype)
    for i in stage.reductions:
        new[i] = begin(nodes[i], stage)
    if not stage.reductions and (destination is None or stage.head not in graph.roots):
        new[stage.head] = buffer(prod(head.shape), head.dtype)
    memories: list[tuple[NDArray, int]] = []
    for kind, index, offset in stage.memories:
        memory: Any
        if kind == "leaf":
            memory = graph.leaves[index].memory
        elif kind == "scalar":
            memory = graph.scalars[index].array
        elif kind == "destination":
            memory = destination
        else:
            memory = new.get(index)
            if memory is None:
                memory = nodes[index].memory
        memories.append((memory, offset))
    flags = stage.program.run(memories, min(threads.count(), stage.threads))
    if any(flags):
        for i, met in zip(stage.steps, flags, strict=True):
            raised[i] |= met
    for i in stage.reductions:
        new[i], mean = end(nodes[i], stage, new[i])
        waiting = None if mean is None else expression.mean_of(nodes[i])
        if waiting is not None:
            assert mean is not None
            waiting.realise(mean)
    for i, memory in new.items():
        nodes[i].realise(memory)


def begin(head: Node, stage: Stage) -> NDArray:
    """What a stage accumulates one of its reductions in."""
    assert head.identity is not None
    copies = stage.kernel.tasks if stage.partial else 1
    accumulators = buffer(prod(head.shape) * copies, head.identity.dtype)
    if head.op is p.VAR:
        accumulators.view(np.uint8).fill(0)  # as the identity, which has fields, in far less time
    else:
        accumulators.fill(head.identity)
    return accumulators


def end(head: Node, stage: Stage, accumulators: NDArray) -> tuple[NDArray, NDArray | None]:
    """The result of a reduction from what its tasks accumulated; of a variance also the mean."""
    assert head.loop is not None
    if not stage.partial and head.divisor is None:
        return accumulators, None
    with np.errstate(all="ignore"):
        if head.op is p.VAR:
            assert head.divisor is not None
            mean, squares = combined(accumulators.reshape(-1, prod(head.shape)))
            return (squares / head.divisor).astype(head.dtype), mean.astype(head.dtype)
        total = accumulators
        if stage.partial:
            assert head.loop.ufunc is not None
            total = head.loop.ufunc.reduce(accumulators.reshape(stage.kernel.tasks, -1), axis=0)
        if head.divisor is not None:
            total = divide_by_count(total, head.divisor)
        return total, None
