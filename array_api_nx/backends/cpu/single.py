"""One operation at a time: what is not put off, because it is too small for that or may not be.

NumPy computes it on one processor, into memory that is new to it. From some thousand elements on
the extension does both better: with several threads, into memory of the pool.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from ...config import current
from ...core.view import View
from ...primitives import Primitive
from .fusion import executor, expression, fperrors, loops, threads
from .fusion.compiled import extension
from .fusion.expression import Node
from .fusion.loops import Loop
from .fusion.plan import Graph, Stage, plan
from .kernels import NDArray

__all__ = ["SMALLEST", "attempt", "compute", "fold", "reported"]

SMALLEST: Final = 2**14
"""Elements above which operations are computed here, and results lie in memory of the pool."""


def _decline(*arguments: Any) -> None:
    """What `attempt` is without the extension."""


attempt: Final[Callable[..., Any]] = _decline if extension is None else extension.compute
"""``attempt(loop.operation, threads, limit, *operands)``: an ndarray; a tuple of one and of
floating-point errors, for `reported`; or None, with nothing done."""


def compute(loop: Loop, limit: int, *operands: Any) -> NDArray | None:
    """`loop` element by element over operands, as new memory: what NumPy gives, bit for bit, its
    warnings included.

    Parameters
    ----------
    loop : Loop
    limit : int
        The most elements that the operands may broadcast to.
    *operands : ndarray or Python scalar
        Of the loop's dtypes.

    Returns
    -------
    ndarray or None
        None, with nothing done, above the limit, and where NumPy has to compute it or to raise its
        error.
    """
    if loop.operation is None:
        return None
    found = attempt(loop.operation, threads.count(), limit, *operands)
    return reported(loop, *found) if type(found) is tuple else found


def reported(loop: Loop, array: NDArray, flags: int) -> NDArray | None:
    """`array`, after warnings of the floating-point errors met; None if NumPy has to raise them."""
    asked = fperrors.modes()
    if asked is None:
        return None
    if flags & asked:
        fperrors.report(((loop.name, flags, asked),))
    return array


# ---------------------------------------------------------------------- reductions

_MAX_FOLDS: Final = 1 << 9
_folds: Final[dict[Any, tuple[Stage, Node, tuple[int, ...]]]] = {}


def fold(
    op: Primitive, array: NDArray, axes: tuple[int, ...], keepdims: bool, divisor: float | None
) -> NDArray | None:
    """`SUM` or `VAR` of real floating-point numbers over axes, divided by `divisor` if it is given:
    what fused execution gives, which adds up in another order than NumPy.

    Returns
    -------
    ndarray or None
        None, with nothing done, for arrays that do not lie row-major, and where fused execution is
        switched off or floating-point errors want more than warnings.
    """
    if extension is None or not array.flags.c_contiguous or current().fusion == "off":
        return None
    asked = fperrors.modes()
    if asked is None:
        return None
    key = op, array.dtype, array.shape, axes, keepdims, divisor
    found = _folds.get(key)
    if found is None:
        if len(_folds) >= _MAX_FOLDS:
            _folds.clear()
        found = _folds[key] = _planned(op, array.dtype, array.shape, axes, keepdims, divisor)
    stage, head, shape = found
    accumulators = executor.begin(head, stage)
    memories = [
        (array if kind == "leaf" else accumulators, offset) for kind, _, offset in stage.memories
    ]
    flags = stage.program.run(memories, threads.count())
    if any(flags):
        report: executor.Report = []
        executor.note(head, flags[0], asked, report)
        fperrors.report(report)
    return executor.end(head, stage, accumulators)[0].reshape(shape)


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
