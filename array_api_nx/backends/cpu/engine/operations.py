"""One operation at a time: what is not put off, because it is too small for that or may not be.

NumPy computes it on one processor, into memory that is new to it. The extension calls the same
loops in less time for small arrays, and from some thousand elements on with several threads, into
memory of the pool. It also says which floating-point errors there were, so that the warning can
name the user's line; NumPy's names the line of this package that calls NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache, partial
from math import prod
from typing import Any, Final

import numpy as np

from ....config import hints
from ....contract import primitives as p
from ....contract.fast_path import Route, scalars_of
from ....contract.numpy_dtypes import TO_NUMPY
from ....contract.primitives import Primitive
from ....contract.strided import Tensor
from ....core.dtypes import DType
from ..kernels import BINARY_NEW, UNARY, NDArray
from . import fperrors, loops, run, threads
from .extension import extension
from .kernel import Instruction, Kernel, KernelOperand
from .loops import Loop
from .memory_pool import empty

__all__ = [
    "PARALLEL_MIN",
    "attempt",
    "compute",
    "compute_small",
    "reported",
    "route",
    "scan",
    "total",
    "update",
]

PARALLEL_MIN: Final = min(2**14, hints.threshold)
"""Elements above which there may be several threads, and results lie in memory of the pool."""


def _decline(*arguments: Any) -> None:
    """What `attempt` is without the extension."""


attempt: Final[Callable[..., Any]] = _decline if extension is None else extension.compute
"""``attempt(loop.operation, threads, limit, *operands)``: an ndarray; a tuple of one and of
floating-point errors, for `reported`; or None, with nothing done, also where operands broadcast to
more elements than the limit."""

update: Final[Callable[..., Any]] = _decline if extension is None else extension.update
"""``update(loop.operation, target, *operands)``: whether few elements were computed, without
floating-point errors, and written to `target`, which may be an operand."""


def compute(loop: Loop, *operands: Any) -> NDArray | None:
    """`loop` element by element over operands, as new memory: what NumPy gives, bit for bit, its
    warnings included.

    Parameters
    ----------
    loop : Loop
    *operands : ndarray or Python scalar
        Of the loop's dtypes.

    Returns
    -------
    ndarray or None
        None, with nothing done, where NumPy has to compute it.
    """
    if loop.operation is None:
        return None
    found = attempt(loop.operation, threads.count(), sys.maxsize, *operands)
    return reported(loop, *found) if type(found) is tuple else found


def compute_small(loop: Loop, *operands: Any) -> NDArray | None:
    """`compute` on one thread, for up to `PARALLEL_MIN` elements."""
    found = attempt(loop.operation, 1, PARALLEL_MIN, *operands)
    return reported(loop, *found) if type(found) is tuple else found


def reported(loop: Loop, array: NDArray, flags: int) -> NDArray:
    """`array`, after what NumPy does of the floating-point errors met."""
    fperrors.treat(loop.name, flags)
    return array


def route(bind: Callable[[Tensor], Any], op: Primitive, dtype: DType) -> Route | None:
    """`Backend.route` of the CPU backend: what its `unary` and `binary` do with operands that have
    arrays and are not deferred. `bind` is the route's.

    None without the extension, and where they look at values: where NumPy's answers are mended, and
    of powers.
    """
    loop = loops.find(op, TO_NUMPY[dtype])
    if loop is None or loop.operation is None or op is p.POW:
        return None
    scalars, low, high = scalars_of(dtype)
    return Route(
        result=op.results[dtype],
        scalars=scalars,
        low=low,
        high=high,
        bind=bind,
        parallel_min=PARALLEL_MIN,
        kernel=partial(fperrors.located, UNARY[op] if op in UNARY else BINARY_NEW[op]),
        attempt=attempt,
        operation=loop.operation,
        serial_limit=loop.serial_limit,
        threads=threads.count,
        reported=partial(reported, loop),
    )


# ---------------------------------------------------------------------- reductions

# Elements up to which one thread adds up all. It could do more in the time that another one takes
# to join; but what several threads have computed before lies in the caches of their processors.
_TOTAL_ALONE: Final = 2**16

_totals: Final[dict[Any, tuple[Any, ...] | None]] = {}


def total(op: Primitive, array: NDArray) -> NDArray | None:
    """A reduction of all elements, integers or booleans, to one: what NumPy gives.

    Returns
    -------
    ndarray or None
        Without axes. None, with nothing done, for other dtypes and reductions, and for arrays that
        do not lie in one piece.
    """
    key = op, array.dtype
    try:
        reduction = _totals[key]
    except KeyError:
        reduction = _totals.setdefault(key, _exact(*key))
    if reduction is None:
        return None
    return extension.total(reduction, threads.count(), array)  # type: ignore[no-any-return, union-attr]


def _exact(op: Primitive, dtype: np.dtype[Any]) -> tuple[Any, ...] | None:
    """What the extension wants to know of a reduction that gives the same in any order."""
    found = loops.reduction(op, dtype) if dtype.kind in "biu" else None
    if found is None or found[0].pointer is None:
        return None
    loop, identity = found
    return loop.pointer, dtype, identity, _TOTAL_ALONE


# ---------------------------------------------------------------------- scans

_SCANNED: Final = {
    p.CUMULATIVE_SUM: p.ADD,
    p.CUMULATIVE_PROD: p.MULTIPLY,
    p.CUMULATIVE_MAX: p.MAXIMUM,
    p.CUMULATIVE_MIN: p.MINIMUM,
}

# Of which kinds of numbers every bit is the same whether a loop goes over them one by one, as
# NumPy's scans do, or with vector instructions. (Those may take the other one of two zeros for the
# maximum, and multiply complex numbers with one rounding less.)
_EXACT: Final = {p.ADD: "iufc", p.MULTIPLY: "iuf", p.MAXIMUM: "iu", p.MINIMUM: "iu"}

# Fewer elements side by side are not worth a call of the loop; of more, what was written last would
# leave the cache before it is read again.
_NARROWEST: Final = 16
_WIDEST: Final = 2**11

_SCAN_TASKS: Final = 16
_SCAN_SHARE: Final = 2**14  # elements that are worth a thread


def scan(op: Primitive, array: NDArray, axis: int, dtype: np.dtype[Any]) -> NDArray | None:
    """A scan along an axis, which NumPy computes without letting other threads run: its bits, its
    warnings, its order of axes in memory.

    A loop gets the result as its first operand, and the same one element further as its target, as
    it does from NumPy; or, where rows lie side by side, a row of the result and the next one.

    Returns
    -------
    ndarray or None
        None, with nothing done, where NumPy has to compute it.
    """
    if extension is None or array.shape[axis] < 2 or not array.flags.aligned:
        return None
    if not array.flags.c_contiguous:
        if not array.flags.f_contiguous:
            return None
        turned = scan(op, array.T, array.ndim - 1 - axis, dtype)
        return None if turned is None else turned.T
    loop = loops.find(_SCANNED[op], dtype)
    outer, size, inner = prod(array.shape[:axis]), array.shape[axis], prod(array.shape[axis + 1 :])
    if loop is None or loop.output != dtype or outer * inner < 2:
        return None
    if inner > 1 and (inner < _NARROWEST or dtype.kind not in _EXACT[_SCANNED[op]]):
        return None
    source = array.astype(dtype, copy=False)
    result = empty(array.shape, dtype)
    first = (slice(None),) * axis + (0,)
    result[first] = source[first]
    step = inner * dtype.itemsize
    memories = [(result, 0), (source, step), (result, step)]
    number = min(threads.count(), max(1, array.size // _SCAN_SHARE))
    flags = _scan_program(loop, outer, size, inner).run(memories, number)
    if flags[0]:
        fperrors.treat("accumulate", flags[0])
    return result


@lru_cache(maxsize=256)
def _scan_program(loop: Loop, outer: int, size: int, inner: int) -> run.PreparedKernel:
    """What applies a loop along the middle one of three axes."""
    itemsize = loop.output.itemsize
    dims: tuple[int, ...] = outer, size - 1, inner
    steps: tuple[int, ...] = size * inner * itemsize, inner * itemsize, itemsize
    split, step, columns = 0, -(-outer // _SCAN_TASKS), min(inner, _WIDEST)
    if inner == 1:
        dims, steps, columns = dims[:2], steps[:2], size - 1
    elif outer < _SCAN_TASKS:
        least = -(-inner // _SCAN_TASKS)
        split, step = 2, min(_WIDEST, max(_NARROWEST, -(-least // 64) * 64))
        columns = step
    tasks = -(-dims[split] // step)
    operand = KernelOperand(itemsize, steps, 0, "direct")
    instruction = Instruction(loop, (0, 1), 2)
    kernel = Kernel(dims, (1, columns), split, step, tasks, (operand,) * 3, (), (instruction,))
    return run.prepare(kernel)
