"""Runs kernels: on the compiled extension, or, where there is none, with NumPy calls.

Both go through the same tiles and call the same inner loops, and so give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from operator import or_
from typing import Final, Protocol, TypeAlias

import numpy as np

from ....contract.numpy_dtypes import NDArray, NumPyDType
from .extension import extension
from .kernel import Access, Instruction, Kernel, Reduction
from .parallel import parallel_for
from .summation import accumulate

__all__ = ["NumPyKernel", "PreparedKernel", "extension", "prepare"]

Memories: TypeAlias = Sequence[tuple[NDArray, int]]

# Without the extension, tiles are larger where no bit depends on their size. A tile has so many
# elements that the calls from Python, which hold the GIL, take only a small part of the time; its
# buffers have at most so many bytes together.
_TILE_ELEMENTS: Final = 1 << 17
_BUFFER_BYTES: Final = 1 << 22

# A step of a program for tiles of one shape: the step; its sources and its target, which are
# buffers, or slots of operands that are used in their memory; and the operands to pack before, with
# buffers.
_BoundStep: TypeAlias = tuple[
    Instruction | Reduction, list[NDArray | int], NDArray | int, list[tuple[int, NDArray]]
]


class PreparedKernel(Protocol):
    """A kernel, ready to run any number of times, from several threads at once."""

    def run(self, memories: Memories, threads: int) -> tuple[int, ...]:
        """Run all tasks on at most `threads` threads.

        Parameters
        ----------
        memories : sequence of (ndarray, int)
            For each operand a contiguous array and the byte position of the element at index
            (0, ..., 0) in it.
        threads : int
            At least 1, the calling thread among them.

        Returns
        -------
        tuple of int
            For each step of the program the floating-point errors that it met, as NumPy's bits:
            divide 1, overflow 2, underflow 4, invalid 8.

        Raises
        ------
        ValueError
            If an operand leaves its memory or writes to memory that is read-only.
        MemoryError
            If there is none for the threads' tiles.
        """


def prepare(kernel: Kernel) -> PreparedKernel:
    """`kernel`, checked and made ready.

    Raises
    ------
    ValueError
        If its description breaks a rule.
    """
    return NumPyKernel(kernel) if extension is None else extension.Kernel(kernel)


# ---------------------------------------------------------------------- with NumPy calls


class NumPyKernel:
    """A kernel that runs with NumPy calls.

    Attributes
    ----------
    kernel : Kernel
    tile : (int, int)
        Rows and columns computed at once: the kernel's, or more where no bit depends on that.
    dtypes : tuple of dtype
        Of the operands.
    loads : list of list of int
        Per step the packed operands that are to be copied before it.
    stores : list of bool
        Per step whether its target is to be copied out after it.
    """

    __slots__ = ("dtypes", "kernel", "loads", "stores", "tile")

    kernel: Kernel
    tile: tuple[int, int]
    dtypes: tuple[NumPyDType, ...]
    loads: list[list[int]]
    stores: list[bool]

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel = _without_streams(kernel)
        self.tile = _largest_tile(kernel)
        dtypes: dict[int, NumPyDType] = {}
        last_writes: dict[int, int] = {}
        self.loads = []
        for number, step in enumerate(kernel.program):
            if isinstance(step, Reduction):
                sources = {step.source: step.loop.inputs[1]}
            else:
                sources = dict(zip(step.sources, step.loop.inputs, strict=True))
                last_writes[step.target] = number
            self.loads.append(
                [slot for slot in sources if slot not in dtypes and self._accesses(slot, "packed")]
            )
            dtypes.update(sources)
            dtypes[step.target] = step.loop.output
        self.stores = [
            self._accesses(step.target, "packed") and last_writes.get(step.target) == number
            for number, step in enumerate(kernel.program)
        ]
        for slot, operand in enumerate(kernel.operands):
            if operand.fill is not None and slot in dtypes:
                dtypes.setdefault(operand.fill, dtypes[slot])
        self.dtypes = tuple(
            [
                dtypes.get(slot, np.dtype(f"V{operand.itemsize}"))
                for slot, operand in enumerate(kernel.operands)
            ]
        )

    def _accesses(self, slot: int, access: Access) -> bool:
        operands = self.kernel.operands
        return slot < len(operands) and operands[slot].access == access

    def run(self, memories: Memories, threads: int) -> tuple[int, ...]:
        """See `PreparedKernel.run`."""
        kernel = self.kernel
        if 0 in kernel.dims:
            return (0,) * len(kernel.program)
        views = [self._view(slot, *memory) for slot, memory in enumerate(memories)]
        free: list[_Worker] = []  # those that no thread uses now; all of them in the end

        def run_task(task: int) -> None:
            try:
                worker = free.pop()
            except IndexError:
                worker = _Worker(self, views)
            worker.run(task)
            free.append(worker)

        parallel_for(run_task, kernel.tasks, threads)
        raised = zip(*[worker.flags for worker in free], strict=True)
        return tuple([reduce(or_, flags) for flags in raised])

    def _view(self, slot: int, memory: NDArray, offset: int) -> NDArray:
        """The operand where it has memory, with an axis for the task, then one per dim."""
        kernel = self.kernel
        operand = kernel.operands[slot]
        shape = kernel.tasks, *kernel.dims
        strides = operand.task_stride, *operand.strides
        if operand.box is not None:
            shape = kernel.tasks, *[end - start for start, end in operand.box]
            starts = [start for start, _ in operand.box]
            offset += sum([a * stride for a, stride in zip(starts, operand.strides, strict=True)])
        reach = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
        low = offset + sum([min(0, each) for each in reach])
        high = offset + sum([max(0, each) for each in reach]) + operand.itemsize
        if low < 0 or high > memory.nbytes:
            raise ValueError(
                f"operand {slot} covers the bytes {low} to {high}, its memory has {memory.nbytes}"
            )
        if not memory.flags.writeable and slot in [step.target for step in kernel.program]:
            raise ValueError(f"operand {slot} is written, but its memory is read-only")
        return np.ndarray(shape, self.dtypes[slot], memory, offset, strides)


def _without_streams(kernel: Kernel) -> Kernel:
    """`kernel` with direct or packed targets for streamed ones: NumPy cannot write past the caches.

    A target is direct if no step reads it and its elements are adjacent. Others are packed: NumPy's
    bits may differ where it writes backwards.
    """
    read = {
        slot
        for step in kernel.program
        for slot in ((step.source,) if isinstance(step, Reduction) else step.sources)
    }
    operands = [*kernel.operands]
    for slot, operand in enumerate(operands):
        if operand.access == "streamed":
            plain = slot not in read and operand.strides[-1] == operand.itemsize
            operands[slot] = operand._replace(access="direct" if plain else "packed")
    return kernel._replace(operands=tuple(operands))


def _largest_tile(kernel: Kernel) -> tuple[int, int]:
    """The tile to compute at once: as large as `_TILE_ELEMENTS` and `_BUFFER_BYTES` allow."""
    packed = [operand.itemsize for operand in kernel.operands if operand.access != "direct"]
    cells = min(_TILE_ELEMENTS, _BUFFER_BYTES // max(sum(packed) + sum(kernel.registers), 1))
    rows, columns = kernel.tile
    reductions = [step for step in kernel.program if isinstance(step, Reduction)]
    if not reductions:
        columns = min(max(columns, cells), max(kernel.dims[-1], 1))
    elif kernel.dims[-2] == 1 and reductions[0].columns:
        columns *= max(1, cells // columns)  # `accumulate` takes tile by tile
    if not any([step.rows for step in reductions]):
        rows = max(rows, cells // columns)
    return rows, columns


class _Worker:
    """The buffers and bound steps of one thread, which its later tasks use again."""

    __slots__ = ("_bound", "_buffers", "_invariant_shape", "_program", "_step", "_views", "flags")

    flags: list[int]
    _program: NumPyKernel
    _views: list[NDArray]
    _buffers: dict[int, NDArray]  # bytes, by slot: of registers and operands that are packed
    _bound: dict[tuple[int, ...], list[_BoundStep]]  # steps, by the shape of a tile
    _invariant_shape: tuple[int, ...] | None  # the shape that invariant operands are packed for
    _step: int

    def __init__(self, program: NumPyKernel, views: list[NDArray]) -> None:
        kernel = program.kernel
        cells = min(program.tile[0], kernel.dims[-2]) * min(program.tile[1], kernel.dims[-1])
        itemsizes = [*[operand.itemsize for operand in kernel.operands], *kernel.registers]
        self._program = program
        self._views = views
        self._buffers = {
            slot: np.empty(cells * itemsize, np.uint8)
            for slot, itemsize in enumerate(itemsizes)
            if slot >= len(kernel.operands) or kernel.operands[slot].access != "direct"
        }
        self._bound = {}
        self.flags = [0] * len(kernel.program)

    def run(self, task: int) -> None:
        """Run one task."""
        with np.errstate(all="call", call=self._note):
            self._run_task(task)

    def _note(self, _: str, raised: int) -> None:
        self.flags[self._step] |= raised

    def _run_task(self, task: int) -> None:
        kernel = self._program.kernel
        tile_rows, tile_columns = self._program.tile
        ranges = [range(n) for n in kernel.dims]
        begin = task * kernel.step
        ranges[kernel.split] = range(begin, min(begin + kernel.step, kernel.dims[kernel.split]))
        rows, columns = ranges[-2:]
        self._invariant_shape = None
        for index in product(*ranges[:-2]):
            for row in rows[::tile_rows]:
                for column in columns[::tile_columns]:
                    tile = (
                        slice(row, min(row + tile_rows, rows.stop)),
                        slice(column, min(column + tile_columns, columns.stop)),
                    )
                    place: tuple[int | slice, ...] = task, *index, *tile
                    self._run_tile(
                        [
                            view[place] if operand.box is None else self._padded(slot, index, tile)
                            for slot, (view, operand) in enumerate(
                                zip(self._views, kernel.operands, strict=True)
                            )
                        ]
                    )

    def _padded(self, slot: int, index: tuple[int, ...], tile: tuple[slice, slice]) -> NDArray:
        """The tile of an operand that has memory only in its box."""
        operand = self._program.kernel.operands[slot]
        assert operand.box is not None
        assert operand.fill is not None
        fill = self._views[operand.fill]
        result: NDArray = np.full([each.stop - each.start for each in tile], fill.flat[0])
        outer = list(zip(index, operand.box[:-2], strict=True))
        if all([start <= i < end for i, (start, end) in outer]):
            source: list[int | slice] = [0, *[i - start for i, (start, _) in outer]]
            target = []
            for each, (start, end) in zip(tile, operand.box[-2:], strict=True):
                first = max(each.start, start)
                last = max(first, min(each.stop, end))
                source.append(slice(first - start, last - start))
                target.append(slice(first - each.start, last - each.start))
            result[tuple(target)] = self._views[slot][tuple(source)]
        return result

    def _run_tile(self, memory: list[NDArray]) -> None:
        program = self._program
        shape = memory[0].shape
        bound = self._bound.get(shape)
        if bound is None:
            bound = self._bound[shape] = self._bind(shape)
        if self._invariant_shape != shape:
            self._invariant_shape = shape
            for slot, operand in enumerate(program.kernel.operands):
                if operand.access == "invariant":
                    np.copyto(self._buffer(slot, program.dtypes[slot], shape), memory[slot])
        for number, (step, sources, target, loads) in enumerate(bound):
            self._step = number
            for slot, buffer in loads:
                np.copyto(buffer, memory[slot])
            blocks = [memory[each] if isinstance(each, int) else each for each in sources]
            if isinstance(step, Reduction):
                accumulate(step, blocks[0], memory[step.target], program.kernel.tile[1])
                continue
            out = memory[target] if isinstance(target, int) else target
            assert step.loop.call is not None
            step.loop.call(*blocks, out=out)
            if program.stores[number]:
                np.copyto(memory[step.target], out)

    def _bind(self, shape: tuple[int, ...]) -> list[_BoundStep]:
        """The steps, with buffers in place of the slots that have one."""
        program = self._program
        bound: list[_BoundStep] = []

        def place(slot: int, dtype: NumPyDType) -> NDArray | int:
            return self._buffer(slot, dtype, shape) if slot in self._buffers else slot

        for step, loads in zip(program.kernel.program, program.loads, strict=True):
            packed = [(slot, self._buffer(slot, program.dtypes[slot], shape)) for slot in loads]
            slots = (step.source,) if isinstance(step, Reduction) else step.sources
            dtypes = step.loop.inputs[-len(slots) :]
            sources = [place(slot, dtype) for slot, dtype in zip(slots, dtypes, strict=True)]
            bound.append((step, sources, place(step.target, step.loop.output), packed))
        return bound

    def _buffer(self, slot: int, dtype: NumPyDType, shape: tuple[int, ...]) -> NDArray:
        return np.ndarray(shape, dtype, self._buffers[slot])
