"""Passes: a kernel, the memory that it works on, and the results of its reductions.

Reductions and scans are passes over *slots*, which are numbered blocks of memory. `make_pass` makes
a pass of a schedule and a program, `run_pass` runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from ....contract.numpy_dtypes import NDArray
from ....core.dtypes import DType
from ....native import native
from ..ufunc_table import divide_by_count
from . import fperrors, memory_pool
from .kernel import Instruction, Kernel, PreparedKernel, Product, TileReduction, prepare
from .loops import Loop, quiet_scipy
from .schedule import Schedule
from .threads import count

__all__ = [
    "Accumulation",
    "Output",
    "Pass",
    "Slot",
    "Slots",
    "errors_of",
    "make_pass",
    "run_pass",
]

WORTH_A_THREAD: Final = 10_000.0
"""Nanoseconds of work for each thread beyond the first: a thread that wakes later finds no tasks
left (docs/tuning.md, 22)."""

PACKING_NS: Final = 0.3
"""Nanoseconds for each element that is copied to or from a packed tile (docs/tuning.md, 23)."""

Slot: TypeAlias = int
"""The number of a block of memory: a position in `Slots`."""

Slots: TypeAlias = list[Any]
"""The memory that passes run over: one-dimensional, contiguous ndarrays, and None for slots that
have no memory yet, which no type tells from the others."""


class Output(NamedTuple):
    """A slot that a pass writes element by element, with the size and dtype of its memory."""

    slot: Slot
    size: int
    dtype: DType


class Accumulation(NamedTuple):
    """A reduction that a pass computes.

    Attributes
    ----------
    slot : int
        Holds the accumulators while the pass runs, and the result afterwards.
    size : int
        Elements of the result.
    dtype : numpy.dtype
        Of the result.
    loop : Loop
        (accumulator, element) -> accumulator.
    identity : ndarray
        0-d: what accumulators start from.
    divisor : float or None
        By which a sum, or the sum of squares of a variance, is divided in the end.
    mean : int or None
        For a variance: the slot for the mean of the same elements; None if it is not read.
    """

    slot: Slot
    size: int
    dtype: DType
    loop: Loop
    identity: NDArray
    divisor: float | None
    mean: Slot | None

    def start(self, copies: int) -> NDArray:
        """New accumulators, in as many copies as there are tasks that have their own."""
        accumulators = memory_pool.empty((self.size * copies,), self.identity.dtype)
        if self.loop.call is None:
            # The identity of moments is all zeros; to fill fields one by one takes far longer.
            accumulators.view(np.uint8).fill(0)
        else:
            accumulators.fill(self.identity)
        return accumulators

    def finish(self, accumulators: NDArray, copies: int) -> tuple[NDArray, NDArray | None]:
        """The result, from the accumulators of all tasks; for a variance also the mean."""
        if copies == 1 and self.divisor is None:
            return accumulators, None
        parts = accumulators.reshape(copies, self.size)
        with np.errstate(all="ignore"):
            if self.loop.call is None:
                assert self.divisor is not None
                assert native is not None
                native.merge_moments(parts)
                whole = parts[0]
                variance, mean = whole["squares"] / self.divisor, whole["sum"] / whole["count"]
                return variance.astype(self.dtype), mean.astype(self.dtype)
            total: NDArray = accumulators
            if copies > 1:
                assert self.loop.ufunc is not None
                total = self.loop.ufunc.reduce(parts, axis=0, dtype=parts.dtype)
            return (total if self.divisor is None else divide_by_count(total, self.divisor)), None


class Pass(NamedTuple):
    """One way over memory.

    Attributes
    ----------
    kernel : Kernel
    prepared : PreparedKernel
        The kernel, ready to run.
    operands : tuple of (slot, int)
        Per operand of the kernel its slot, and the byte of its first element in the slot.
    outputs : tuple of Output
    accumulations : tuple of Accumulation
    copies : int
        How many copies of the accumulators there are: one, or one for each task.
    values : tuple of int
        Per step of the kernel, the number of the value that it computes. The floating-point errors
        of the step are reported as that value's.
    threads : int
        The number of threads above which another one makes the pass no faster.
    calls_scipy : bool
        Whether loops of SciPy's run, whose floating-point errors are ignored.
    """

    kernel: Kernel
    prepared: PreparedKernel
    operands: tuple[tuple[Slot, int], ...]
    outputs: tuple[Output, ...]
    accumulations: tuple[Accumulation, ...]
    copies: int
    values: tuple[int, ...]
    threads: int
    calls_scipy: bool


def make_pass(
    timetable: Schedule,
    operands: Sequence[tuple[Slot, int]],
    registers: Sequence[int],
    program: Sequence[Instruction | Product | TileReduction],
    *,
    values: Sequence[int],
    outputs: Sequence[Output] = (),
    accumulations: Sequence[Accumulation] = (),
    fills: Mapping[int, int] | None = None,
    threads: int | None = None,
) -> Pass:
    """The pass of a program, in the tiles and tasks of a schedule.

    Parameters
    ----------
    timetable : Schedule
    operands, outputs, accumulations, values
        As in `Pass`.
    registers, program
        As in `Kernel`.
    fills : mapping of int to int, optional
        From each operand with a box to the operand that has the element around the box.
    threads : int, optional
        As in `Pass`; by default it follows from the costs of the loops.

    Raises
    ------
    ValueError
        If the kernel breaks a rule.
    """
    fills = fills or {}
    kernel = Kernel(
        timetable.dims,
        timetable.tile,
        timetable.split,
        timetable.step,
        timetable.tasks,
        tuple([x._replace(fill=fills.get(i)) for i, x in enumerate(timetable.operands)]),
        tuple(registers),
        tuple(program),
    )
    if threads is None:
        costs = [step.loop.cost for step in program]
        costs += [PACKING_NS for operand in kernel.operands if operand.access == "packed"]
        work = prod(kernel.dims) * sum(costs)
        threads = 1 + int(work / WORTH_A_THREAD)
    return Pass(
        kernel,
        prepare(kernel),
        tuple(operands),
        tuple(outputs),
        tuple(accumulations),
        kernel.tasks if timetable.partial else 1,
        tuple(values),
        threads,
        any([step.loop.is_scipy for step in program]),
    )


def errors_of(loop: Loop, met: int, asked: int) -> Iterator[tuple[str, int, int]]:
    """The entries for `fperrors.report` of the errors `met` by a loop; `asked` are reported."""
    if loop.call is None:
        # In NumPy a variance is two operations; only the first can meet an invalid value.
        yield "subtract", met & fperrors.INVALID, asked
        yield "multiply", met & ~fperrors.INVALID, asked
    else:
        yield loop.name, met, asked


def run_pass(each: Pass, slots: Slots) -> tuple[int, ...]:
    """Run a pass.

    Parameters
    ----------
    each : Pass
    slots : Slots
        Outputs without memory, and results of reductions, get new memory, which is put here.

    Returns
    -------
    tuple of int
        Per step of the kernel the floating-point errors that it met, as NumPy's bits.
    """
    for slot, size, dtype in each.outputs:
        if slots[slot] is None:
            slots[slot] = memory_pool.empty((size,), dtype)
    for reduction in each.accumulations:
        slots[reduction.slot] = reduction.start(each.copies)
    memories = [(slots[slot], offset) for slot, offset in each.operands]
    threads = min(count(), each.threads)
    if each.calls_scipy:
        with quiet_scipy():
            flags = each.prepared.run(memories, threads)
    else:
        flags = each.prepared.run(memories, threads)
    for reduction in each.accumulations:
        slots[reduction.slot], mean = reduction.finish(slots[reduction.slot], each.copies)
        if reduction.mean is not None:
            slots[reduction.mean] = mean
    return flags
