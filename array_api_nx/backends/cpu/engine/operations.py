"""Eager operations: single operations on arrays that are not deferred.

NumPy would compute them on one processor, into new memory. The extension calls the same loops in
less time for small arrays, and for large ones on several threads, into memory of the pool. The
functions here return None where the caller has to call NumPy. `compute` and `compute_small` are for
operations element by element, `total` and `reduce` for reductions, `scan` for scans.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache, partial
from math import prod
from typing import Final, TypeAlias

from ....contract import primitives as p
from ....contract.backend import Native
from ....contract.fast_path import Route, scalars_of
from ....contract.numpy_dtypes import TO_NUMPY, NDArray, NumPyDType
from ....contract.primitives import Primitive
from ....contract.strided import Tensor
from ....core.dtypes import DType
from ....core.view import View
from ..kernels import BINARY_NEW, UNARY, ArrayOrScalar
from . import fperrors, loops, passes, threads
from .extension import extension
from .kernel import Instruction, KernelOperand, Reduction
from .loops import Loop
from .memory_pool import empty
from .schedule import Layout, Schedule, schedule

__all__ = [
    "compute",
    "compute_small",
    "reduce",
    "reported",
    "route",
    "scan",
    "total",
    "update",
]


def _decline(*arguments: object) -> None:
    """Takes the place of functions of the extension where that is missing."""


attempt: Final[Callable[..., Native]] = _decline if extension is None else extension.compute
"""``attempt(loop.operation, threads, limit, *operands)``: an ndarray; or, if there were
floating-point errors, a tuple of the ndarray and these, for `reported`; or None, with nothing done,
if NumPy has to compute, or the result would have more elements than the limit."""

update: Final[Callable[..., bool | None]] = _decline if extension is None else extension.update
"""``update(loop.operation, target, *operands)``: write to `target`, which may be an operand. False
or None, with nothing written, if the elements are not few, or there were floating-point errors."""


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
    if loop.operation is None:
        return None
    found = attempt(loop.operation, threads.count(), sys.maxsize, *operands)
    return reported(loop, *found) if type(found) is tuple else found


def compute_small(loop: Loop, *operands: ArrayOrScalar) -> NDArray | None:
    """`compute` on one thread, without a look at how many there are."""
    found = attempt(loop.operation, 1, sys.maxsize, *operands)
    return reported(loop, *found) if type(found) is tuple else found


def reported(loop: Loop, array: NDArray, flags: int) -> NDArray:
    """`array`, after what NumPy's errstate asks for is done about floating-point errors."""
    fperrors.treat(loop.name, flags)
    return array


def route(
    bind: Callable[[Tensor], NDArray | None], parallel_min: int, op: Primitive, dtype: DType
) -> Route | None:
    """`Backend.route` of the CPU backend: how `unary` and `binary` compute on arrays at once.
    `bind` and `parallel_min` are the route's.

    None without the extension, for mended kernels, and for powers, which depend on the exponent.
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
        parallel_min=parallel_min,
        kernel=partial(fperrors.located, UNARY[op] if op in UNARY else BINARY_NEW[op]),
        attempt=attempt,
        operation=loop.operation,
        serial_limit=loop.serial_limit,
        threads=threads.count,
        reported=partial(reported, loop),
    )


# ---------------------------------------------------------------------- reductions

# Elements up to which one thread reduces all. It could reduce more in the time that another one
# takes to join, but elements that several threads computed are in the caches of several processors.
_TOTAL_SERIAL_LIMIT: Final = 2**16

_ExactReduction: TypeAlias = tuple[object, NumPyDType, NDArray, int]

_total: Final[Callable[..., NDArray | None]] = _decline if extension is None else extension.total
_totals: Final[dict[tuple[Primitive, NumPyDType], _ExactReduction | None]] = {}


def total(op: Primitive, array: NDArray) -> NDArray | None:
    """A reduction of all elements, integers or booleans, to one: what NumPy gives.

    The pass of `reduce` would give the same, but takes longer: 4.1 us for the maximum of 20,000
    int64, where `total` takes 1.7 and NumPy 2.4. Nor would it stop at the first True: `any` of
    250,000 booleans would take 7.3 us instead of 0.5.

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
    return _total(reduction, threads.count(), array)


def _exact(op: Primitive, dtype: NumPyDType) -> _ExactReduction | None:
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
    if extension is None or not array.flags.c_contiguous:
        return None
    reduction, kept = _reduction(op, array.dtype, array.shape, axes, keepdims, divisor)
    slots: passes.Slots = [None, array]
    (flags,) = passes.run_pass(reduction, slots)
    if flags:
        asked = fperrors.modes()
        if asked is None:
            return None
        fperrors.report(passes.errors_of(reduction.kernel.program[0].loop, flags, asked))
    result: NDArray = slots[0].reshape(kept)
    return result


@lru_cache(maxsize=512)
def _reduction(
    op: Primitive,
    dtype: NumPyDType,
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
        Layout(View.row_major(shape).byte_layout(dtype.itemsize)[1], dtype.itemsize, "input"),
        Layout(
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
        program=[Reduction(loop, 0, 1, rows, columns, identity)],
        values=[0],
        accumulations=[passes.Accumulation(0, prod(kept), dtype, loop, identity, divisor, None)],
        # As many as there are. By what the loop costs, 100,000 float32 would be added up by one
        # thread, which takes 1.2 to 1.4 times as long: they come from memory, not from a cache.
        threads=sys.maxsize,
    )
    if keepdims:
        return reduction, tuple([1 if axis in axes else size for axis, size in enumerate(shape)])
    return reduction, kept


# ---------------------------------------------------------------------- scans

_SCANNED: Final = {
    p.CUMULATIVE_SUM: p.ADD,
    p.CUMULATIVE_PROD: p.MULTIPLY,
    p.CUMULATIVE_MAX: p.MAXIMUM,
    p.CUMULATIVE_MIN: p.MINIMUM,
}

# The kinds of dtypes of which a loop gives the same bits with vector instructions as one by one, as
# NumPy's scans go. (With vector instructions the maximum of 0.0 and -0.0 may be the other one, and
# complex products may be rounded once less.)
_EXACT: Final = {p.ADD: "iufc", p.MULTIPLY: "iuf", p.MAXIMUM: "iu", p.MINIMUM: "iu"}

# A call of the loop computes so many adjacent elements of a row from those of the row before. Fewer
# are not worth a call. More would leave the first-level cache before the next row reads them.
_SCAN_MIN_COLUMNS: Final = 16
_SCAN_MAX_COLUMNS: Final = 2**11

_SCAN_TASKS: Final = 16
_SCAN_PER_THREAD: Final = 2**14  # elements that are worth another thread


def scan(op: Primitive, array: NDArray, axis: int, dtype: NumPyDType) -> NDArray | None:
    """A scan along an axis with NumPy's bits, warnings and memory order, on several threads.

    As in NumPy, the first operand of the loop is the result, and its target is the result one
    element further on. Where the axis is not the last one, they are a row and the next row. (NumPy
    holds the GIL meanwhile.)

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
    if inner > 1 and (inner < _SCAN_MIN_COLUMNS or dtype.kind not in _EXACT[_SCANNED[op]]):
        return None
    source = array.astype(dtype, copy=False)
    result = empty(array.shape, dtype)
    first = (slice(None),) * axis + (0,)
    result[first] = source[first]
    (flags,) = passes.run_pass(_scan_pass(loop, outer, size, inner), [result, source])
    if flags:
        fperrors.treat("accumulate", flags)
    return result


@lru_cache(maxsize=256)
def _scan_pass(loop: Loop, outer: int, size: int, inner: int) -> passes.Pass:
    """The pass that scans along the middle of three axes: slot 0 is the result, of which the first
    elements are there, slot 1 the elements. `schedule` is not asked: it would reorder that axis."""
    itemsize = loop.output.itemsize
    dims: tuple[int, ...] = outer, size - 1, inner
    steps: tuple[int, ...] = size * inner * itemsize, inner * itemsize, itemsize
    split, step, columns = 0, -(-outer // _SCAN_TASKS), min(inner, _SCAN_MAX_COLUMNS)
    if inner == 1:
        dims, steps, columns = dims[:2], steps[:2], size - 1
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
