"""Sums and variances over axes, at once, by the pass that fused execution plans for them."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from ....config import current
from ....contract.primitives import Primitive
from ....core.view import View
from ..engine import fperrors, loops, threads
from ..engine.extension import extension
from ..kernels import NDArray
from . import evaluation, expression
from .expression import Node
from .planning import Graph, Stage, plan

__all__ = ["reduce_eagerly"]


_MAX_PLANS: Final = 1 << 9


_plans: Final[dict[Any, tuple[Stage, Node, tuple[int, ...]]]] = {}


def reduce_eagerly(
    op: Primitive, array: NDArray, axes: tuple[int, ...], keepdims: bool, divisor: float | None
) -> NDArray | None:
    """`SUM` or `VAR` of real floating-point numbers over axes, divided by `divisor` if it is given:
    what fused execution gives, which adds up in another order than NumPy. Each of the sums is of
    more than one element.

    Returns
    -------
    ndarray or None
        None, with nothing done, for arrays that do not lie row-major, and where fused execution is
        switched off or floating-point errors were met that want more than warnings.
    """
    if extension is None or not array.flags.c_contiguous or current().fusion == "off":
        return None
    key = op, array.dtype, array.shape, axes, keepdims, divisor
    found = _plans.get(key)
    if found is None:
        if len(_plans) >= _MAX_PLANS:
            _plans.clear()
        found = _plans[key] = _planned(op, array.dtype, array.shape, axes, keepdims, divisor)
    stage, head, shape = found
    accumulators = evaluation.begin(head, stage)
    memories = [
        (array if kind == "leaf" else accumulators, offset) for kind, _, offset in stage.memories
    ]
    flags = stage.program.run(memories, threads.count())
    if any(flags):
        asked = fperrors.modes()
        if asked is None:
            return None
        report: evaluation.Report = []
        evaluation.note(head, flags[0], asked, report)
        fperrors.report(report)
    return evaluation.end(head, stage, accumulators)[0].reshape(shape)


def _planned(
    op: Primitive,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    axes: tuple[int, ...],
    keepdims: bool,
    divisor: float | None,
) -> tuple[Stage, Node, tuple[int, ...]]:
    """The only stage of a reduction, its node, and the shape of the result."""
    reduction = loops.reduction(op, dtype)
    assert reduction is not None
    loop, identity = reduction
    with expression.lock:
        leaf = expression.leaf(np.broadcast_to(np.empty((), dtype), (prod(shape),)))
        source = leaf, View.row_major(shape)
        head = expression.reduction(op, loop, identity, source, shape, axes, divisor, 0)
        (stage,) = plan(Graph([head]))
        expression.forget(head)
    kept = [
        1 if axis in axes else size
        for axis, size in enumerate(shape)
        if keepdims or axis not in axes
    ]
    return stage, head, tuple(kept)
