"""Kernels run with NumPy calls: what the extension's must give, bit for bit.

`NumPyKernel` goes through the same tiles and calls the same loops as `native/tiles.c`. Tiles are
folded into accumulators in the order of `native/sums.c`: a run of floating-point numbers is added
up in blocks of rows of so many lanes, down the rows first, then the lanes by halves, then the
blocks in pairs, and pairs of pairs. For moments, columns are added up by groups of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Final, TypeAlias

import numpy as np

from array_api_nx.backends.cpu.engine.kernel import Access, Instruction, Kernel, Reduction
from array_api_nx.contract.numpy_dtypes import NDArray
from array_api_nx.core.dtypes import DType

Memories: TypeAlias = Sequence[tuple[NDArray, int]]

# Tiles are larger than the extension's where no bit depends on their size. A tile has so many
# elements that the calls from Python take only a small part of the time; its buffers have at most
# so many bytes together.
_TILE_ELEMENTS: Final = 1 << 17
_BUFFER_BYTES: Final = 1 << 22

# A step of a program for tiles of one shape: the step; its sources and its target, which are
# buffers, or slots of operands that are used in their memory; and the operands to pack before, with
# buffers.
_BoundStep: TypeAlias = tuple[
    Instruction | Reduction, list[NDArray | int], NDArray | int, list[tuple[int, NDArray]]
]


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
    dtypes: tuple[DType, ...]
    loads: list[list[int]]
    stores: list[bool]

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel = _without_streams(kernel)
        self.tile = _largest_tile(kernel)
        dtypes: dict[int, DType] = {}
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
        """See `PreparedKernel.run`; all tasks run on this thread."""
        kernel = self.kernel
        if 0 in kernel.dims:
            return (0,) * len(kernel.program)
        views = [self._view(slot, *memory) for slot, memory in enumerate(memories)]
        worker = _Worker(self, views)
        for task in range(kernel.tasks):
            worker.run(task)
        return tuple(worker.flags)

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
            # Into memory with gaps NumPy 2.4 negates wrongly, see docs/upstream/numpy.md.
            results = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
            step.loop.call(*blocks, out=results)
            if results is not out:
                np.copyto(out, results)
            if program.stores[number]:
                np.copyto(memory[step.target], out)

    def _bind(self, shape: tuple[int, ...]) -> list[_BoundStep]:
        """The steps, with buffers in place of the slots that have one."""
        program = self._program
        bound: list[_BoundStep] = []

        def place(slot: int, dtype: DType) -> NDArray | int:
            return self._buffer(slot, dtype, shape) if slot in self._buffers else slot

        for step, loads in zip(program.kernel.program, program.loads, strict=True):
            packed = [(slot, self._buffer(slot, program.dtypes[slot], shape)) for slot in loads]
            slots = (step.source,) if isinstance(step, Reduction) else step.sources
            dtypes = step.loop.inputs[-len(slots) :]
            sources = [place(slot, dtype) for slot, dtype in zip(slots, dtypes, strict=True)]
            bound.append((step, sources, place(step.target, step.loop.output), packed))
        return bound

    def _buffer(self, slot: int, dtype: DType, shape: tuple[int, ...]) -> NDArray:
        return np.ndarray(shape, dtype, self._buffers[slot])


# What the extension has as well.
_LANE_BYTES: Final = 128
_LENGTH: Final = 16
_GROUP: Final = 8
_FEW_COLUMNS: Final = 16  # fewer are reduced over the rows one by one


def accumulate(step: Reduction, block: NDArray, accumulators: NDArray, tile_columns: int) -> None:
    """Fold a block into its accumulators.

    Parameters
    ----------
    step : Reduction
    block : ndarray
        A tile, or several beside or below each other where tiles are not reduced together.
    accumulators : ndarray
        Of the block's shape, stride 0 where they stay.
    tile_columns : int
    """
    rows, columns = block.shape
    ufunc = step.loop.ufunc
    if ufunc is None:
        _accumulate_moments(step, block, accumulators, tile_columns)
        return
    if not step.rows and not step.columns:
        ufunc(accumulators, block, out=accumulators)
    elif step.columns and rows == 1:
        into = accumulators[0, :1]
        for part in _tiles(block, tile_columns):
            for result in _along(step, part):
                ufunc(into, result, out=into)
    elif step.rows and step.columns:
        into = accumulators[0, :1]
        if _is_flat(block):
            result = _along(step, np.ascontiguousarray(block).reshape(1, -1))[0]
        elif _in_lanes(step):
            result = step.identity
            for each in _lane_sums(block):
                result = result + each
        else:
            result = step.identity
            for row in _forwards(block):
                result = ufunc.reduce(row, dtype=step.loop.output, initial=result)
        ufunc(into, result, out=into)
    elif step.columns:
        into = accumulators[:, 0]
        ufunc(into, _along(step, block), out=into)
    else:
        into = accumulators[0]
        if columns < _FEW_COLUMNS:
            result = _along(step, block.T)
        else:
            result = ufunc.reduce(
                _forwards(block), axis=0, dtype=step.loop.output, initial=step.identity
            )
        ufunc(into, result, out=into)


def _tiles(block: NDArray, tile_columns: int) -> list[NDArray]:
    """A block of one row as rows of one tile each, then what is left over."""
    whole = block.shape[1] // tile_columns * tile_columns
    parts = [block[0, :whole].reshape(-1, tile_columns), block[:, whole:]]
    return [part for part in parts if part.size]


def _is_flat(block: NDArray) -> bool:
    """Whether rows follow each other as the elements of a row do."""
    return len(block) == 1 or block.strides[0] == block.shape[1] * block.strides[1]


def _forwards(block: NDArray) -> NDArray:
    """The block in memory that does not run backwards, where it would be reduced from its end."""
    if block.strides[0] >= 0:
        return block
    # Columns stay apart, as they are.
    rows, columns = block.shape
    wide = np.empty((rows, columns + 1), block.dtype)[:, :columns]
    wide[...] = block
    return wide


def _in_lanes(step: Reduction) -> bool:
    return step.loop.ufunc is np.add and step.loop.output.kind == "f"


def _along(step: Reduction, block: NDArray) -> NDArray:
    """Each row of the block reduced to one element."""
    if _in_lanes(step):
        return step.identity + _lane_sums(block)
    loop = step.loop
    assert loop.ufunc is not None
    result: NDArray = loop.ufunc.reduce(
        _forwards(block), axis=1, dtype=loop.output, initial=step.identity
    )
    return result


def _lane_sums(block: NDArray) -> NDArray:
    """The sum of each row, of at least one element."""
    rows, columns = block.shape
    width = _LANE_BYTES // block.itemsize
    blocks = -(-columns // (width * _LENGTH))
    padded = np.zeros((rows, blocks * _LENGTH * width), block.dtype)
    padded[:, :columns] = block
    lanes: NDArray = np.add.reduce(padded.reshape(rows, blocks, _LENGTH, width), axis=2)
    half = width // 2
    while half:
        lanes = lanes[..., :half] + lanes[..., half:]
        half //= 2
    parts = lanes[..., 0]
    while parts.shape[1] > 1:
        second = parts[:, 1::2]
        pairs = parts[:, : 2 * second.shape[1] : 2] + second
        parts = np.concatenate([pairs, parts[:, 2 * second.shape[1] :]], axis=1)
    return parts[:, 0]


_Found: TypeAlias = tuple[NDArray, NDArray, NDArray, NDArray]
"""Sums, rounded means, and the sums of the distances from these and of their squares."""


def _moments_along(block: NDArray) -> _Found:
    """The moments of each row."""
    sums = _lane_sums(block)
    means = sums / block.dtype.type(block.shape[1])
    distances = block - means[:, np.newaxis]
    return sums, means, _lane_sums(distances), _lane_sums(distances * distances)


def _moments_down(block: NDArray) -> _Found:
    """The moments of each column."""
    sums = _group_sums(block)
    means = sums / block.dtype.type(len(block))
    distances = block - means
    return sums, means, _group_sums(distances), _group_sums(distances * distances)


def _group_sums(block: NDArray) -> NDArray:
    """The sum of each column."""
    rows, columns = block.shape
    whole = rows // _GROUP * _GROUP
    groups = np.add.reduce(block[:whole].reshape(-1, _GROUP, columns), axis=1)
    total: NDArray = np.add.reduce(np.concatenate([groups, block[whole:]]), axis=0, initial=0)
    return total


def _accumulate_moments(
    step: Reduction, block: NDArray, accumulators: NDArray, tile_columns: int
) -> None:
    rows, columns = block.shape
    if step.columns and (rows == 1 or step.rows):
        parts = [block]
        if rows == 1:
            parts = _tiles(block, tile_columns)
        elif _is_flat(block):
            parts = [np.ascontiguousarray(block).reshape(1, -1)]
        for part in parts:
            for sums, means, distances, squares in zip(*_moments_along(part), strict=True):
                _merge(accumulators[0, :1], part.shape[1], (sums, means, distances, squares))
    elif step.columns:
        _merge(accumulators[:, 0], columns, _moments_along(block))
    elif not step.rows:
        for row, into in zip(block, accumulators, strict=True):
            _merge(into, 1, _moments_down(row[np.newaxis]))
    elif columns < _FEW_COLUMNS or block.strides[1] == 0:
        _merge(accumulators[0], rows, _moments_along(block.T))
    else:
        _merge(accumulators[0], rows, _moments_down(block))


def _merge(moments: NDArray, count: int, found: _Found) -> None:
    """Merge the moments of `count` elements into those of others."""
    with np.errstate(all="ignore"):
        sums, means, distances, squares = [np.asarray(each, np.float64) for each in found]
        before = moments["count"].copy()
        weight = count / (before + count)
        parts = distances / count
        rest = np.fmax(squares - distances * parts, 0)
        references = np.where(before == 0, means, moments["reference"])
        steps = (means - references) + (parts - moments["offset"])
        between = steps * steps * (weight * before)
        squares = np.where(np.isfinite(squares), rest, squares)
        moments["count"] = before + count
        moments["sum"] += sums
        moments["reference"] = references
        moments["offset"] += steps * weight
        moments["squares"] += squares + np.where(np.isnan(between), 0, between)
