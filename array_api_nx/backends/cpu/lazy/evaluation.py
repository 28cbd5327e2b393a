"""Evaluation: pending expressions get memory, by the passes that planning.py plans."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, TypeAlias

import numpy as np

from ....contract.numpy_dtypes import NDArray
from ....core.view import View
from ....native import native
from ....primitives import table as p
from ..engine import memory_pool
from ..engine.passes import errors_of, following, run_pass
from .expression import Node, ScalarValue
from .graph import Graph
from .planning import EvaluationPlan, Overlap, plan

__all__ = ["Report", "element", "evaluate", "evaluate_into", "filled", "planned"]

Report: TypeAlias = "list[tuple[str, int, int]]"
"""Per operation its name, the floating-point errors that it met, and those to warn of (bits)."""

# Plans, by `Graph.key` and destination; emptied when full.
_MAX_PLANS: Final = 1 << 9
_plans: Final[dict[object, EvaluationPlan]] = {}


def planned(graph: Graph, destination: tuple[View, frozenset[int]] | None = None) -> EvaluationPlan:
    """`plan`, called only for graphs whose structure was not planned before."""
    key = graph.key, destination
    passes = _plans.get(key)
    if passes is None:
        passes = plan(graph, destination)
        if len(_plans) >= _MAX_PLANS:
            _plans.clear()
        _plans[key] = passes
    return passes


def evaluate(roots: Sequence[Node], report: Report) -> None:
    """Give every root memory. Floating-point errors are added to `report`.

    If a pass is interrupted, or finds no memory, all values stay pending.
    """
    roots = [node for node in roots if node.memory is None]
    if not roots:
        return
    graph = Graph(roots)
    _compute(planned(graph), graph, None, report)
    for node in roots:
        if node.memory is None:  # a fill, which no kernel computes
            node.realise(filled(prod(node.shape), node.number()))


def evaluate_into(node: Node, memory: NDArray, view: View, report: Report) -> None:
    """Compute a pending element-by-element value into `memory`, where `view` shows it.

    Raises
    ------
    Overlap
        If elements would be overwritten that are still to be read; nothing is written then.
    """
    graph = Graph((node,))
    for leaf in graph.leaves:
        # Two storages may share memory that came in by reference.
        if leaf.memory is not memory and np.may_share_memory(leaf.memory, memory):
            raise Overlap
    # The plan depends on which leaves are overwritten, and in which order they are read.
    alias = frozenset([k for k, leaf in enumerate(graph.leaves) if leaf.memory is memory])
    _compute(planned(graph, (view, alias)), graph, memory, report)


def _compute(
    passes: EvaluationPlan, graph: Graph, destination: NDArray | None, report: Report
) -> None:
    """Run all passes, and give the nodes what they computed."""
    slots = graph.slots(destination)
    raised = [0] * len(graph.nodes)
    with following(passes) as progress:
        for each in passes:
            flags = run_pass(each, slots, progress)
            if any(flags):
                for i, met in zip(each.values, flags, strict=True):
                    raised[i] |= met
    for node, memory in zip(graph.nodes, slots, strict=False):
        if memory is not None:
            node.realise(memory)
    _report_errors(graph, raised, report)


def _report_errors(graph: Graph, raised: list[int], report: Report) -> None:
    """Report the floating-point errors of an evaluation, once for each operation."""
    for node, met in zip(graph.nodes, raised, strict=True):
        if met & node.errors and node.loop is not None:
            report += errors_of(node.loop, met, node.errors)
        # If another evaluation computes the node again, it does not warn again.
        node.errors = 0


def element(
    node: Node, position: int, known: dict[tuple[int, int], NDArray] | None = None
) -> NDArray | None:
    """One element of a value, as an array of one, without computing the others.

    None if the element depends on a pending reduction. `known` has the elements found so far, by
    the key of their node and their position.
    """
    if node.memory is not None:
        found: NDArray = node.memory[position : position + 1]
        return found
    if node.axes:
        return None
    known = {} if known is None else known
    if (node.key, position) in known:
        return known[node.key, position]
    index = []
    rest = position
    for size in reversed(node.space):
        rest, i = divmod(rest, size)
        index.append(i)
    index.reverse()
    sources = node.sources
    if node.op is p.PAD:
        (_, inside), around = sources
        assert inside is not None
        sources = sources[:1] if inside.is_valid(index) else (around,)
    read: list[NDArray] = []
    for value, view in sources:
        if type(value) is ScalarValue:
            read.append(value.array)
        else:
            assert view is not None
            one = element(value, int(view.linear_index(index)), known)
            if one is None:
                return None
            read.append(one)
    if node.op is p.DRAW:
        result = np.empty(1, node.dtype)
        assert native is not None
        native.draw(read[0], position, result)
    elif node.loop is None:
        result = read[0]
    else:
        result = np.empty(1, node.dtype)
        # The evaluation that computes all elements gives the warnings.
        with np.errstate(all="ignore"):
            assert node.loop.call is not None
            node.loop.call(*read, out=result)
    known[node.key, position] = result
    return result


def filled(size: int, value: NDArray) -> NDArray:
    """Memory for `size` elements, all equal to that of `value`, an array of one element."""
    if not value.view(np.uint8).any():
        # Pages of zeros come from the system without being written.
        return np.zeros(size, value.dtype)
    memory = memory_pool.empty((size,), value.dtype)
    memory.fill(value[0])
    return memory
