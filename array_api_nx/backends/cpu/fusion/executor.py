"""Evaluation: pending expressions get memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from .... import primitives as p
from ....core.view import View
from ..kernels import NDArray, divide_by_count
from . import expression, pool, threads
from .expression import Node
from .folding import combined
from .plan import Graph, Overlap, Plan, Stage, plan

__all__ = ["Report", "buffer", "element", "evaluate", "evaluate_into", "planned"]

Report: TypeAlias = "list[tuple[str, int, int]]"
"""Names of operations, the floating-point errors they met, and those to warn of (NumPy's bits)."""

# Plans by the structure of what they compute; emptied when full.
_MAX_PLANS: Final = 1 << 9
_plans: Final[dict[Any, Plan]] = {}


def planned(graph: Graph, destination: tuple[View, frozenset[int]] | None = None) -> Plan:
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
    graph = Graph(roots)
    _compute(planned(graph), graph, None, report)
    for node in roots:
        if node.memory is None:  # a fill, which no kernel computes
            node.realise(_filled(prod(node.shape), node.sources[0][0].array))  # type: ignore[union-attr]


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


def _compute(stages: Plan, graph: Graph, destination: NDArray | None, report: Report) -> None:
    """Run all stages."""
    raised = [0] * len(graph.nodes)
    for stage in stages:
        _run(stage, graph, raised, destination)
    _note(graph, raised, report)


_INVALID: Final = 8  # NumPy's bit


def _note(graph: Graph, raised: list[int], report: Report) -> None:
    """Report the floating-point errors of an evaluation, of each operation once."""
    for node, met in zip(graph.nodes, raised, strict=True):
        if met & node.errors and node.loop is not None:
            if node.op is p.VAR:  # which is three operations where it is not fused
                report.append(("subtract", met & _INVALID, node.errors))
                report.append(("multiply", met & ~_INVALID, node.errors))
            else:
                report.append(("reduce" if node.axes else node.loop.name, met, node.errors))
        # It may be computed again as a part of something else.
        node.errors = 0


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
    return pool.take(size * dtype.itemsize).view(dtype)


def _filled(size: int, value: NDArray) -> NDArray:
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
    kernel = stage.kernel
    for i in stage.stored:
        new[i] = buffer(prod(nodes[i].shape), nodes[i].dtype)
    for i in stage.reductions:
        identity = nodes[i].identity
        assert identity is not None
        size = prod(head.shape)
        copies = kernel.tasks if stage.partial else 1
        new[i] = buffer(size * copies, identity.dtype)
        new[i].fill(identity)
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
        node = nodes[i]
        if node.op is p.VAR:
            mean, new[i] = _variance(node, new[i])
            waiting = expression.mean_of(node)
            if waiting is not None:
                waiting.realise(mean)
        else:
            new[i] = _finished(node, new[i], stage.partial, kernel.tasks)
    for i, memory in new.items():
        nodes[i].realise(memory)


def _finished(node: Node, accumulators: NDArray, partial: bool, tasks: int) -> NDArray:
    """The result of a reduction from what its tasks accumulated."""
    assert node.loop is not None
    total = accumulators
    if partial:
        assert node.loop.ufunc is not None
        with np.errstate(all="ignore"):
            total = node.loop.ufunc.reduce(accumulators.reshape(tasks, -1), axis=0)
    if node.divisor is not None:
        with np.errstate(all="ignore"):
            total = divide_by_count(total, node.divisor)
    return total


def _variance(node: Node, accumulators: NDArray) -> tuple[NDArray, NDArray]:
    """Mean and variance from the moments that the tasks accumulated."""
    assert node.divisor is not None
    mean, squares = combined(accumulators.reshape(-1, prod(node.shape)))
    with np.errstate(all="ignore"):
        return mean.astype(node.dtype), (squares / node.divisor).astype(node.dtype)
