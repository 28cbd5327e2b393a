"""Runs kernels: on the compiled extension, or, where there is none, with NumPy calls.

Both go through the same tiles and call the same inner loops, and so give the same bits.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import product
from operator import or_
from threading import Lock
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from .compiled import extension
from .kernel import Kernel, Reduction

__all__ = ["Memories", "NumPyProgram", "Program", "extension", "prepare", "run"]

NDArray: TypeAlias = np.ndarray[Any, Any]
Memories: TypeAlias = Sequence[tuple[NDArray, int]]

# What the extension has as well: fewer columns than this are reduced over the rows one by one.
_FEW_COLUMNS: Final = 16

# Elements of a tile where nothing but speed depends on it.
_CELLS: Final = 16384


class Program(Protocol):
    """A kernel, ready to run any number of times, from several threads at once."""

    def run(self, memories: Memories, threads: int) -> tuple[int, ...]:
        """Run all tasks; see `run`."""


def prepare(kernel: Kernel) -> Program:
    """`kernel`, checked and made ready.

    Raises
    ------
    ValueError
        If its description breaks a rule.
    """
    if extension is None:
        return NumPyProgram(kernel)
    program: Program = extension.Kernel(kernel)
    return program


def run(kernel: Kernel, memories: Memories, threads: int) -> tuple[int, ...]:
    """Run all tasks of `kernel` on at most `threads` threads.

    Parameters
    ----------
    kernel : Kernel
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
        If the description breaks a rule, or an operand leaves its memory or writes to memory that
        is read-only.
    MemoryError
        If there is none for the threads' tiles.
    """
    return prepare(kernel).run(memories, threads)


# ---------------------------------------------------------------------- with NumPy calls


class NumPyProgram:
    """A kernel that runs with NumPy calls.

    Parameters
    ----------
    kernel : Kernel
    """

    __slots__ = ("_dtypes", "_last_writes", "kernel", "tile")

    kernel: Kernel
    tile: tuple[int, int]
    _dtypes: list[np.dtype[Any]]
    _last_writes: dict[int, int]

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.tile = kernel.tile
        if not any([isinstance(step, Reduction) for step in kernel.program]):
            # No bit depends on the tiles then, and calls from Python want larger ones.
            columns = min(max(kernel.tile[1], _CELLS), kernel.dims[-1])
            self.tile = max(kernel.tile[0], _CELLS // max(columns, 1)), max(columns, 1)
        dtypes: dict[int, np.dtype[Any]] = {}
        self._last_writes = {}
        for number, step in enumerate(kernel.program):
            if isinstance(step, Reduction):
                dtypes[step.source] = step.loop.inputs[1]
            else:
                dtypes.update(zip(step.sources, step.loop.inputs, strict=True))
            dtypes[step.target] = step.loop.output
            self._last_writes[step.target] = number
        self._dtypes = [
            dtypes.get(slot, np.dtype(f"V{operand.itemsize}"))
            for slot, operand in enumerate(kernel.operands)
        ]

    def run(self, memories: Memories, threads: int) -> tuple[int, ...]:
        """Run all tasks; see the function `run`."""
        kernel = self.kernel
        if 0 in kernel.dims:
            return (0,) * len(kernel.program)
        views = [self._view(slot, *memory) for slot, memory in enumerate(memories)]
        workers = [_Worker(self, views) for _ in range(min(threads, kernel.tasks))]
        tasks = deque(range(kernel.tasks))
        helpers = []
        if len(workers) > 1:
            executor = _executor(len(workers) - 1)
            helpers = [executor.submit(worker.run, tasks) for worker in workers[1:]]
        try:
            workers[0].run(tasks)
        finally:
            # Whoever has not begun need not.
            for helper in helpers:
                if not helper.cancel():
                    helper.result()
        return tuple(
            [reduce(or_, raised) for raised in zip(*[w.flags for w in workers], strict=True)]
        )

    def _view(self, slot: int, memory: NDArray, offset: int) -> NDArray:
        """The operand with an axis for the task, then one per dim."""
        kernel = self.kernel
        operand = kernel.operands[slot]
        shape = kernel.tasks, *kernel.dims
        strides = operand.task_stride, *operand.strides
        reach = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
        low = offset + sum([min(0, each) for each in reach])
        high = offset + sum([max(0, each) for each in reach]) + operand.itemsize
        if low < 0 or high > memory.nbytes:
            raise ValueError(
                f"operand {slot} covers the bytes {low} to {high}, its memory has {memory.nbytes}"
            )
        if slot in self._last_writes and not memory.flags.writeable:
            raise ValueError(f"operand {slot} is written, but its memory is read-only")
        return np.ndarray(shape, self._dtypes[slot], memory, offset, strides)

    def stores(self, number: int, slot: int) -> bool:
        """Whether after that step a packed operand is to be written out."""
        return self._last_writes[slot] == number


class _Worker:
    """One thread's state while it works on a kernel."""

    __slots__ = ("_blocks", "_program", "_registers", "_steady", "_step", "_views", "flags")

    flags: list[int]
    _program: NumPyProgram
    _views: list[NDArray]
    _registers: dict[int, NDArray]
    _steady: dict[tuple[int, ...], NDArray]  # by slot, rows and columns; of one task
    _blocks: dict[int, NDArray]  # operands of one tile, by slot
    _step: int

    def __init__(self, program: NumPyProgram, views: list[NDArray]) -> None:
        kernel = program.kernel
        cells = min(program.tile[0], kernel.dims[-2]) * min(program.tile[1], kernel.dims[-1])
        self._program = program
        self._views = views
        self._registers = {
            slot: np.empty(cells * itemsize, np.uint8)
            for slot, itemsize in enumerate(kernel.registers, start=len(kernel.operands))
        }
        self.flags = [0] * len(kernel.program)

    def run(self, tasks: deque[int]) -> None:
        """Run tasks until there are no more."""
        with np.errstate(all="call", call=self._note):
            while tasks:
                try:
                    task = tasks.popleft()
                except IndexError:
                    return
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
        self._steady = {}
        for index in product(*ranges[:-2]):
            planes = [view[(task, *index)] for view in self._views]
            for row in rows[::tile_rows]:
                for column in columns[::tile_columns]:
                    tile = (
                        slice(row, min(row + tile_rows, rows.stop)),
                        slice(column, min(column + tile_columns, columns.stop)),
                    )
                    self._run_tile([plane[tile] for plane in planes])

    def _run_tile(self, memory: list[NDArray]) -> None:
        kernel = self._program.kernel
        operands = kernel.operands
        shape = memory[0].shape
        self._blocks = {}
        for number, step in enumerate(kernel.program):
            self._step = number
            target = step.target
            if isinstance(step, Reduction):
                source = self._read(step.source, step.loop.inputs[1], memory, shape)
                _reduce(step, source, memory[target])
                continue
            sources = [
                self._read(slot, dtype, memory, shape)
                for slot, dtype in zip(step.sources, step.loop.inputs, strict=True)
            ]
            if target >= len(operands):
                step.loop.call(*sources, out=self._register(target, step.loop.output, shape))
            elif operands[target].access == "direct":
                step.loop.call(*sources, out=memory[target])
            else:
                block = self._blocks.get(target)
                if block is None:
                    block = self._blocks[target] = np.empty(shape, step.loop.output)
                step.loop.call(*sources, out=block)
                if self._program.stores(number, target):
                    np.copyto(memory[target], block)

    def _register(self, slot: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray:
        return np.ndarray(shape, dtype, self._registers[slot])

    def _read(
        self, slot: int, dtype: np.dtype[Any], memory: list[NDArray], shape: tuple[int, ...]
    ) -> NDArray:
        operands = self._program.kernel.operands
        if slot >= len(operands):
            return self._register(slot, dtype, shape)
        access = operands[slot].access
        if access == "direct":
            return memory[slot]
        block = self._blocks.get(slot)
        if block is None:
            if access == "packed":
                block = memory[slot].copy()
            else:
                block = self._steady.get((slot, *shape))
                if block is None:
                    block = self._steady[(slot, *shape)] = memory[slot].copy()
            self._blocks[slot] = block
        return block


def _reduce(step: Reduction, block: NDArray, accumulators: NDArray) -> None:
    """Fold a tile into its accumulators, in the order of the extension."""
    loop = step.loop
    ufunc = loop.ufunc
    assert ufunc is not None
    rows, columns = block.shape
    if not step.rows and not step.columns:
        loop.call(accumulators, block, out=accumulators)
        return
    # Reversed memory would be reduced from its end. Columns stay strided, as loops can see that.
    if block.strides[0] < 0:
        wide = np.empty((rows, columns + 1), block.dtype)[:, :columns]
        wide[...] = block
        block = wide
    settings: Any = {"dtype": loop.output, "initial": step.identity}
    if step.rows and step.columns:
        into = accumulators[:1, :1]
        if rows == 1 or block.flags.c_contiguous:
            result = ufunc.reduce(block.ravel(), **settings)
        elif block.strides == (0, 0):
            result = ufunc.reduce(np.broadcast_to(block[0, 0], (block.size,)), **settings)
        else:
            result = step.identity
            for row in block:
                result = ufunc.reduce(row, dtype=loop.output, initial=result)
    elif step.columns:
        into = accumulators[:, :1]
        result = ufunc.reduce(block, axis=1, keepdims=True, **settings)
    else:
        into = accumulators[:1]
        if columns < _FEW_COLUMNS:
            result = np.array([ufunc.reduce(column, **settings) for column in block.T])
        else:
            result = ufunc.reduce(block, axis=0, **settings)
    ufunc(into, result, out=into)


# ---------------------------------------------------------------------- threads

_lock = Lock()
_pool: tuple[int, ThreadPoolExecutor] | None = None


def _executor(threads: int) -> ThreadPoolExecutor:
    """A pool of at least that many threads."""
    global _pool
    with _lock:
        if _pool is None or _pool[0] < threads:
            _pool = threads, ThreadPoolExecutor(threads, thread_name_prefix="array_api_nx")
        return _pool[1]


def _forget_executor() -> None:
    """Start afresh in a forked child, where the threads are not and the lock may be held."""
    global _lock, _pool
    _lock = Lock()
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_executor)
