"""Eager operations: single operations on arrays that are not deferred.

NumPy would compute them on one processor, into new memory. The extension calls the same loops in
less time for small arrays, and for large ones on several threads, into memory of the pool. The
functions here return None where the caller has to call NumPy. `compute` is for operations element
by element, `total` and `reduce` for reductions, `scan` for scans. Compiled callables get their
loops here, too (`loop_for_native`).
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Final, TypeAlias

import numpy as np

from ....contract.numpy_dtypes import COMPILED, NDArray
from ....core.dtypes import DType
from ....core.view import View
from ....native import native
from ....primitives import table as p
from ....primitives.table import Primitive
from ..ufunc_table import ArrayOrScalar
from . import fperrors, loops, passes, threads
from .kernel import Instruction, KernelOperand, TileReduction
from .loops import Loop
from .memory_pool import empty
from .schedule import OperandLayout, Schedule, schedule

__all__ = [
    "compute",
    "loop_for_native",
    "reduce",
    "reduction_pass",
    "scan",
    "total",
    "ufunc_loop_for_native",
]


def compute(loop: Loop, *operands: ArrayOrScalar) -> NDArray | None:
    """`loop` over operands, element by element, into new memory, with NumPy's bits and warnings.

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
    if native is None or loop.operation is None:
        return None
    found = native.compute(loop.operation, threads.count(), *operands)
    if not isinstance(found, tuple):
        return found
    result, flags = found
    fperrors.apply_errstate(loop.name, flags)
    return result


Described: TypeAlias = tuple[np.ufunc, int, str, int, int, int, bool, bool, bool, bool]


def loop_for_native(op: Primitive, dtype: DType) -> Described | None:
    """The loop of a compiled callable, for operands of one dtype.

    Returns
    -------
    ufunc, index, name, operand, result, serial_limit, is_exact, is_arithmetic, materialise_scalar,
    is_alone
        The ufunc and the number of its loop; NumPy's name in warnings; the dtypes to which operands
        are cast first and of the result, as numbers in `COMPILED`; what `Loop` and
        `loops.is_arithmetic` say; and whether one thread computes all. None where NumPy's result
        has to be corrected, where the dtype is not legal, and where the extension knows no such
        elements, as float16 without a compiler that has it.
    """
    dtype = dtype if dtype in op.results else op.cast_first.get(dtype, dtype)
    loop = loops.find(op, dtype) if dtype in op.results else None
    if loop is None and op is p.FLOOR_DIVIDE and dtype.kind == "f":
        # The extension computes it alone, where no operand is infinite (native/corrections.c).
        return _described(loops.floor_division(dtype), dtype, dtype, False, True)
    if loop is None:
        return None
    return _described(loop, dtype, op.results[dtype], loops.is_arithmetic(op), False)


def ufunc_loop_for_native(loop: Loop, operand: DType, result: DType) -> Described | None:
    """What `loop_for_native` returns, for a loop of a ufunc that is no function of the standard."""
    return _described(loop, operand, result, False, True)


def _described(
    loop: Loop | None, operand: DType, result: DType, is_arithmetic: bool, is_alone: bool
) -> Described | None:
    if loop is None or loop.ufunc is None or not {operand, result} <= {*COMPILED}:
        return None
    signature = f"{''.join([each.char for each in loop.inputs])}->{loop.output.char}"
    return (
        loop.ufunc,
        loop.ufunc.types.index(signature),
        loop.name,
        COMPILED.index(operand),
        COMPILED.index(result),
        loop.serial_limit,
        loop.is_exact,
        is_arithmetic,
        loop.materialise_scalar,
        is_alone,
    )


if native is not None:
    native.set_operations(loop_for_native, threads.count)
    native.set_errors(fperrors.apply_errstate)


# ---------------------------------------------------------------------- reductions

# Elements up to which one thread reduces all. It could reduce more in the time that another one
# takes to join, but elements that several threads computed are in the caches of several processors.
_TOTAL_SERIAL_LIMIT: Final = 2**16

_ExactReduction: TypeAlias = tuple[object, DType, NDArray, int]

# Elements of a sum or a variance for each thread beyond two.
_REDUCED_PER_THREAD: Final = 2**16

_totals: Final[dict[tuple[Primitive, DType], _ExactReduction | None]] = {}


def total(op: Primitive, array: NDArray) -> NDArray | None:
    """A reduction of all elements, integers or booleans, to one, with NumPy's result.

    The pass of `reduce` would give the same in more time, and would not stop at the first True
    (docs/tuning.md, 75).

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
    if reduction is None or native is None:
        return None
    total: NDArray | None = native.total(reduction, threads.count(), array)
    return total


def _exact(op: Primitive, dtype: DType) -> _ExactReduction | None:
    """The first argument of the extension's `total`; None if the order of elements matters."""
    found = loops.reduction(op, dtype) if dtype.kind in "biu" else None
    if found is None or found[0].pointer is None:
        return None
    loop, identity = found
    return loop.pointer, dtype, identity, _TOTAL_SERIAL_LIMIT


def reduce(
    op: Primitive, array: NDArray, axes: tuple[int, ...], keepdims: bool, divisor: float | None
) -> NDArray | None:
    """`SUM` or `VAR` of real floating-point numbers over axes, divided by `divisor` if it is given.

    The bits are those of deferred reductions, which add up in another order than NumPy.

    Returns
    -------
    ndarray or None
        None for arrays that do not lie row-major, and where floating-point errors were met that
        want more than warnings.
    """
    flags = array.flags
    if native is None or not (flags.c_contiguous and flags.aligned):
        return None
    work, kept, combining = _reduction(op, array.dtype, array.shape, axes, keepdims, divisor)
    most = min(threads.count(), work.threads)
    result, met = work.prepared.reduce(array, kept, divisor, combining, most)
    if met:
        asked = fperrors.modes()
        if asked is None:
            return None
        fperrors.report(passes.errors_of(work.kernel.program[0].loop, met, asked))
    return result


@lru_cache(maxsize=512)
def _reduction(
    op: Primitive,
    dtype: DType,
    shape: tuple[int, ...],
    axes: tuple[int, ...],
    keepdims: bool,
    divisor: float | None,
) -> tuple[passes.Pass, tuple[int, ...], object]:
    """The pass of a reduction, the shape of the result, and the loop for several accumulators."""
    work, kept = reduction_pass(op, dtype, shape, axes, keepdims, divisor)
    combining = loops.combining(work.kernel.program[0].loop) if work.copies > 1 else None
    return work, kept, None if combining is None else combining.pointer


def reduction_pass(
    op: Primitive,
    dtype: DType,
    shape: tuple[int, ...],
    axes: tuple[int, ...],
    keepdims: bool,
    divisor: float | None,
) -> tuple[passes.Pass, tuple[int, ...]]:
    """The pass that reduces slot 1, a row-major array, into slot 0; and the shape of the result."""
    found = loops.reduction(op, dtype)
    assert found is not None
    loop, identity = found
    kept = tuple([size for axis, size in enumerate(shape) if axis not in axes])
    _, own = View.row_major(kept).byte_layout(identity.itemsize)
    steps = iter(own)
    layouts = [
        OperandLayout(
            View.row_major(shape).byte_layout(dtype.itemsize)[1], dtype.itemsize, "input"
        ),
        OperandLayout(
            tuple([0 if axis in axes else next(steps) for axis in range(len(shape))]),
            identity.itemsize,
            "accumulator",
        ),
    ]
    timetable = schedule(shape, layouts, 0)
    rows, columns = timetable.reduced[-2:]
    reduction = passes.make_pass(
        timetable,
        operands=[(1, 0), (0, 0)],
        registers=(),
        program=[TileReduction(loop, 0, 1, rows, columns, identity)],
        values=[0],
        accumulations=[passes.Accumulation(0, prod(kept), dtype, loop, identity, divisor, None)],
        # More than the cost of the loop is worth: elements come from memory (docs/tuning.md, 79).
        threads=2 + prod(shape) // _REDUCED_PER_THREAD,
    )
    if keepdims:
        return reduction, tuple([1 if axis in axes else size for axis, size in enumerate(shape)])
    return reduction, kept


# ---------------------------------------------------------------------- scans

# The kinds of dtypes whose loops give the same bits with vector instructions as one by one, as in
# NumPy's scans. (With vector instructions the maximum of 0.0 and -0.0 may be the other one, and
# complex products may be rounded once less.)
_EXACT: Final = {p.ADD: "iufc", p.MULTIPLY: "iuf", p.MAXIMUM: "iu", p.MINIMUM: "iu"}

# A call of the loop computes so many adjacent elements of a row from those of the row before. Fewer
# are not worth a call (docs/tuning.md, 76).
_SCAN_MIN_COLUMNS: Final = 16

# More would leave the first-level cache before the next row reads them, and be too few for all
# threads (docs/tuning.md, 77).
_SCAN_MAX_COLUMNS: Final = 2**11

# Elements of one row in a tile. Tasks look for interrupts between tiles.
_SCAN_MAX_RUN: Final = 2**20

# Tasks of a scan: enough for threads that help (docs/tuning.md, 78).
_SCAN_TASKS: Final = 16

# Elements that are worth another thread (docs/tuning.md, 78).
_SCAN_PER_THREAD: Final = 2**14


def scan(op: Primitive, array: NDArray, axis: int, dtype: DType) -> NDArray | None:
    """A scan along an axis with NumPy's bits, warnings and memory order, on several threads.

    As in NumPy, the first operand of the loop is the result, and its target is the result one
    element further on. Where the axis is not the last one, they are a row and the next row. (NumPy
    holds the GIL meanwhile.)

    Returns
    -------
    ndarray or None
        None, with nothing done, where NumPy has to compute it.
    """
    if native is None or array.size < 2 or not array.flags.aligned or array.shape[axis] < 2:
        return None
    if not array.flags.c_contiguous:
        if not array.flags.f_contiguous:
            return None
        turned = scan(op, array.T, array.ndim - 1 - axis, dtype)
        return None if turned is None else turned.T
    outer, size, inner = prod(array.shape[:axis]), array.shape[axis], prod(array.shape[axis + 1 :])
    by = op.by
    assert by is not None
    ordinary = loops.find(by, dtype)
    loop = loops.running(by, dtype) if inner == 1 else ordinary
    if loop is None or loop.output != dtype or (outer * inner < 2 and loop is ordinary):
        return None
    if inner > 1 and (inner < _SCAN_MIN_COLUMNS or dtype.kind not in _EXACT[by]):
        return None
    source = array.astype(dtype, copy=False)
    result = empty(array.shape, dtype)
    first = (slice(None),) * axis + (0,)
    result[first] = source[first]
    (flags,) = passes.run_pass(_scan_pass(loop, outer, size, inner), [result, source])
    if flags:
        fperrors.apply_errstate("accumulate", flags)
    return result


@lru_cache(maxsize=256)
def _scan_pass(loop: Loop, outer: int, size: int, inner: int) -> passes.Pass:
    """The pass that scans along the middle of three axes: slot 0 is the result, which has its first
    elements, slot 1 the elements. It needs the order of that axis, which `schedule` may change."""
    itemsize = loop.output.itemsize
    dims: tuple[int, ...] = outer, size - 1, inner
    steps: tuple[int, ...] = size * inner * itemsize, inner * itemsize, itemsize
    split, step, columns = 0, -(-outer // _SCAN_TASKS), min(inner, _SCAN_MAX_COLUMNS)
    if inner == 1:
        dims, steps, columns = dims[:2], steps[:2], min(size - 1, _SCAN_MAX_RUN)
    elif outer < _SCAN_TASKS:
        least = -(-inner // _SCAN_TASKS)
        split, step = 2, min(_SCAN_MAX_COLUMNS, max(_SCAN_MIN_COLUMNS, -(-least // 64) * 64))
        columns = step
    operand = KernelOperand(itemsize, steps, 0, "direct")
    timetable = Schedule(
        dims,
        (1, columns),
        split,
        step,
        -(-dims[split] // step),
        (operand,) * 3,
        (False,) * len(dims),
        False,
    )
    row = inner * itemsize
    return passes.make_pass(
        timetable,
        operands=[(0, 0), (1, row), (0, row)],
        registers=(),
        program=[Instruction(loop, (0, 1), 2)],
        values=[0],
        threads=max(1, outer * size * inner // _SCAN_PER_THREAD),
    )
