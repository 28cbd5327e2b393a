"""In which tiles, and in which tasks, a kernel goes over its elements.

A schedule follows from the shape, the strides and the sizes of elements: not from addresses, and
not from the number of threads or the machine, so that results are the same wherever they run.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from math import prod
from typing import Final, Literal, NamedTuple

from ....native import native
from .kernel import Access, Box, KernelOperand

__all__ = ["NotInTiles", "OperandLayout", "Schedule", "schedule"]

# The numbers refer to the measurements of docs/tuning.md.

TILE_BYTES: Final = 2**13
"""Bytes of a tile of one operand or register, so that a few of them fit into a core's first level
of cache (1)."""

ALONE_BYTES: Final = 2**16
"""The same where no later loop reads the tile from the cache: a loop runs alone, or all of them are
one chain (2)."""

CACHED_TRAFFIC: Final = 2**25
"""The most bytes of all operands together for which tiles are larger in two cases: the cache that
all cores share holds the operands (3)."""

MANY_ELEMENTS: Final = 2**18
LARGER_TILES: Final = 4
"""The first case: the fewest elements, of passes whose results stay in the caches, and how many
times larger their tiles are (3)."""

NARROW_BYTES: Final = 4
NARROW_TILES: Final = 32
"""The second case, a program mostly of bools: the most bytes of registers per element, and how many
times larger its tiles are, unless fewer than four would be left (4)."""

STEPPED_TRAFFIC: Final = 2**24
"""The most bytes of all operands together for which loops read elements that are not adjacent,
instead of copies (5)."""

REDUCED_CELLS: Final = 2**13
"""Elements of a tile that is only reduced, and then not read again."""

ACCUMULATED_COLUMNS: Final = 2**11
ACCUMULATED_CELLS: Final = 2**16
ACCUMULATED_BYTES: Final = 2**19
"""Columns, elements and bytes of registers of a tile whose rows are reduced. Per tile the sums are
read and written once: they should stay in the cache, and many rows share the cost."""

TRANSPOSED_ROWS: Final = 32
COLUMN_BYTES: Final = 128
TRANSPOSED_COLUMNS: Final = 128
ROW_BYTES: Final = 1024
"""Sizes of a tile where an operand is transposed: where its elements lie together along the columns
of the tile, those of the others along its rows. There are at most TRANSPOSED_ROWS rows, and fewer
if a column of the operand would be longer than COLUMN_BYTES. There are TRANSPOSED_COLUMNS columns,
and more if a row of the largest elements would be shorter than ROW_BYTES. So the operand is copied
from columns of a few cache lines, and loops run on the long rows of the others (6)."""

PACKED_COLUMNS: Final = 32
INVARIANT_COLUMNS: Final = 64
"""Up to so many columns it pays to pack tiles rather than to call the loops row by row (14);
invariant tiles, which are packed only once, up to some more."""

WHOLE_COLUMN: Final = 32
WHOLE_BYTES: Final = 2**14
"""The longest columns that are reduced within tiles, in elements, and the bytes of such a tile, of
one operand or register: a few of them stay in a core's second level of cache, and rows are long
enough for calls on them alone. (Rows that are reduced within tiles are at most those of others.)"""

FEW: Final = 16
"""Rows or columns of which there are too few for calls on them alone."""

SMALL_TILE: Final = 512
"""Elements of the last two dims below which a larger dim takes the place of one of them."""

MIN_TASK: Final = 2**15
TASK_NS: Final = 5_000.0
"""Elements that are worth a task of their own where something is reduced, and nanoseconds of work
elsewhere. (How sums are divided is part of their result, so it must not depend on what else a pass
computes.)"""

MAX_TASKS: Final = 32
LONGEST_TASK_NS: Final = 50_000.0
"""The most tasks, and nanoseconds of work from which there are more of them where nothing is
reduced: so long the caller may wait for the last one (133)."""

ENOUGH_TASKS: Final = 8
PARTIAL_MIN: Final = 2**17
EXACT_PARTIAL_MIN: Final = 2**16
"""Up to so many elements no task has accumulators of its own (7). Fewer where the parts have the
bits of the whole, as those of counts and of `all`, which programs combine faster."""
MAX_PARTIALS: Final = 2**20
"""Elements of all partial accumulators together."""

STREAMED_BYTES: Final = 2**22
"""Bytes of an output that do not stay in the caches until they are read again: it is written past
them (8)."""

UNALIGNED_BYTES: Final = 2**24
"""The same where rows do not all begin on cache lines: there tiles are written to the caches before
they can go past them (9)."""

FETCHED_BYTES: Final = 2**24
"""The fewest bytes of all operands for which tiles are fetched ahead. Less arrives from the caches
in time (10)."""

STREAMED_ROW: Final = 256
"""Bytes of a tile's row that are worth streaming."""

_LINE: Final = 64

if native is not None:
    native.set_tiles(
        transposed_rows=TRANSPOSED_ROWS,
        column_bytes=COLUMN_BYTES,
        transposed_columns=TRANSPOSED_COLUMNS,
        row_bytes=ROW_BYTES,
        packed_columns=PACKED_COLUMNS,
        fetched_bytes=FETCHED_BYTES,
        streamed_bytes=STREAMED_BYTES,
    )


class OperandLayout(NamedTuple):
    """How an operand lies in memory.

    Attributes
    ----------
    strides : tuple of int
        Bytes per axis of the shape. 0 where an input is broadcast, and where accumulators are
        reduced; accumulators are row-major over the other axes.
    itemsize : int
    role : {"input", "factor", "output", "accumulator"}
        A factor is a matrix that a product reads: it moves along one axis of the product.
    materialise_scalar : bool
        Whether a scalar is to be spread out over a tile, for loops that are slow with scalars.
    box : tuple of (int, int), optional
        Per axis the indices at which an input has memory, from start to below end; never none.
    drawn : bool
        Whether the elements of an input are random numbers, which have no memory. Its strides are
        those of their order.
    """

    strides: tuple[int, ...]
    itemsize: int
    role: Literal["input", "factor", "output", "accumulator"]
    materialise_scalar: bool = False
    box: Box | None = None
    drawn: bool = False


class Schedule(NamedTuple):
    """Tiles and tasks of a kernel.

    Attributes
    ----------
    dims, tile, split, step, tasks
        As in `Kernel`.
    operands : tuple of KernelOperand
        One per layout.
    reduced : tuple of bool
        Per dim, whether the accumulators stay where they are along it.
    partial : bool
        Whether each task has accumulators of its own, task t `t * task_stride` bytes behind the
        first one.
    """

    dims: tuple[int, ...]
    tile: tuple[int, int]
    split: int
    step: int
    tasks: int
    operands: tuple[KernelOperand, ...]
    reduced: tuple[bool, ...]
    partial: bool


class _Dim(NamedTuple):
    """A dim of the iteration space: its size, the operands' strides, whether it is reduced, and
    where the operands have memory."""

    size: int
    strides: tuple[int, ...]
    reduced: bool
    ranges: Box


class NotInTiles(Exception):
    """What is to be reduced within tiles does not fit into them."""


def schedule(
    shape: tuple[int, ...],
    layouts: Sequence[OperandLayout],
    width: int,
    whole: Set[int] = frozenset(),
    cost: float = 0.2,
    *,
    is_chain: bool = False,
    is_exact: bool = False,
    loops: int = 0,
) -> Schedule:
    """How to go over an iteration space.

    Parameters
    ----------
    shape : tuple of int
        The iteration space.
    layouts : sequence of OperandLayout
        All accumulators have the same reduced axes.
    width : int
        Bytes of registers that the program needs per element of a tile.
    whole : set of int, optional
        Axes along which each tile is to have all elements. Accumulators, if there are any, are
        reduced along the same.
    cost : float, optional
        Nanoseconds that the program takes for an element; by default those of one addition.
    is_chain : bool, optional
        Whether what all steps but the last one compute stays in the processor's registers.
    is_exact : bool, optional
        Whether what is reduced has the same bits in whatever parts it is computed.
    loops : int, optional
        How many loops run, if nothing else does, and their bits do not depend on how their operands
        lie.

    Returns
    -------
    Schedule
        Its dims are the axes, apart from those of size 1: merged where all operands step through
        them as through one, and in another order where that suits the memory.

    Raises
    ------
    NotInTiles
        If `whole` cannot be.
    """
    dims = _arranged(_merged(_by_memory(_dims(shape, layouts, whole), layouts), len(layouts)))
    strided = _is_read_in_steps(dims, layouts, loops)
    if whole:
        tile = _whole_tile(dims, layouts, width)
    else:
        tile = _tile(dims, layouts, width, is_chain=is_chain, strided=strided)
    least = EXACT_PARTIAL_MIN if is_exact else PARTIAL_MIN
    split, partial = _tasks(dims, tile, cost, least, whole=bool(whole))
    kept = prod([dim.size for dim in dims if not dim.reduced])
    operands = []
    for k, layout in enumerate(layouts):
        strides = tuple([dim.strides[k] for dim in dims])
        copies = partial and layout.role == "accumulator"
        task_stride = kept * layout.itemsize if copies else 0
        in_steps = strided and _steps(layout, strides[-1])
        access: Access = "direct" if in_steps else _access(layout, strides, dims, tile)
        box = None if layout.box is None else tuple([dim.ranges[k] for dim in dims])
        numbers = None
        if layout.drawn:
            numbers = tuple([stride // layout.itemsize for stride in strides])
            strides = (0,) * len(dims)
        operands.append(
            KernelOperand(layout.itemsize, strides, task_stride, access, box, numbers=numbers)
        )
    return Schedule(
        tuple([dim.size for dim in dims]),
        tile,
        *split,
        tuple(operands),
        tuple([dim.reduced for dim in dims]),
        partial,
    )


# ------------------------------------------------------------------ dims


def _dims(shape: tuple[int, ...], layouts: Sequence[OperandLayout], whole: Set[int]) -> list[_Dim]:
    accumulators = next((x for x in layouts if x.role == "accumulator"), None)
    return [
        _Dim(
            size,
            tuple([layout.strides[axis] for layout in layouts]),
            axis in whole or (accumulators is not None and accumulators.strides[axis] == 0),
            tuple([(0, size) if layout.box is None else layout.box[axis] for layout in layouts]),
        )
        for axis, size in enumerate(shape)
        if size != 1
    ]


def _by_memory(dims: list[_Dim], layouts: Sequence[OperandLayout]) -> list[_Dim]:
    """The dims sorted so that most of the memory is stepped through from the outside in.

    Each operand has a say on two dims that it is not broadcast along, by the size of its elements.
    Accumulators have none: they are read and written once per tile.
    """
    voters = [(k, x.itemsize) for k, x in enumerate(layouts) if x.role != "accumulator"]
    ordered: list[_Dim] = []
    for dim in dims:
        place = len(ordered)
        for k in reversed(range(len(ordered))):
            votes = 0
            for voter, itemsize in voters:
                outer, inner = abs(ordered[k].strides[voter]), abs(dim.strides[voter])
                if outer and inner and outer != inner:
                    votes += itemsize if outer < inner else -itemsize
            if votes < 0:
                break
            if votes > 0:
                place = k
        ordered.insert(place, dim)
    return ordered


def _merged(dims: list[_Dim], operands: int) -> list[_Dim]:
    """At least two dims, neighbours merged where every operand steps through them as one."""
    merged: list[_Dim] = []
    for dim in dims:
        if merged:
            outer = merged[-1]
            steps = tuple([stride * dim.size for stride in dim.strides])
            if (
                outer.reduced == dim.reduced
                and outer.strides == steps
                and dim.ranges == ((0, dim.size),) * operands
            ):
                ranges = tuple([(start * dim.size, end * dim.size) for start, end in outer.ranges])
                merged[-1] = dim._replace(size=outer.size * dim.size, ranges=ranges)
                continue
        merged.append(dim)
    reduced = bool(merged) and merged[0].reduced
    padding = [_Dim(1, (0,) * operands, reduced, ((0, 1),) * operands)] * (2 - len(merged))
    return [*padding, *merged]


def _arranged(dims: list[_Dim]) -> list[_Dim]:
    """The dims with two at the end that make tiles of many elements, and good columns."""
    *outer, rows, columns = dims
    if outer and rows.size * columns.size < SMALL_TILE:
        largest = max(outer, key=lambda dim: dim.size)
        if largest.size > rows.size:
            outer.remove(largest)
            if columns.size < FEW:
                outer.append(rows)
                rows, columns = columns, largest
            else:
                outer.append(rows)
                rows = largest
    if columns.reduced and not rows.reduced and columns.size < min(FEW, rows.size):
        # Few elements after each other are added up as rows, many sums at a time.
        rows, columns = columns, rows
    return [*outer, rows, columns]


# ------------------------------------------------------------------ tiles


def _tile(
    dims: list[_Dim], layouts: Sequence[OperandLayout], width: int, *, is_chain: bool, strided: bool
) -> tuple[int, int]:
    """Rows and columns of a tile."""
    rows, columns = dims[-2:]
    cells = _cells(dims, layouts, width, is_chain=is_chain, strided=strided)
    transposed = [
        layout.itemsize
        for layout, outer, inner in zip(layouts, rows.strides, columns.strides, strict=True)
        if layout.role != "accumulator" and 0 < abs(outer) < abs(inner)
    ]
    if transposed and rows.size <= FEW:
        # Their elements lie together, so that what is packed leaves no gaps in the cache.
        together = max(1, rows.size)
        most = max(_LINE, _full_cells(layouts) // together // _LINE * _LINE)
        return together, _even(columns.size, most, _LINE)
    if transposed and columns.size > FEW:
        most = min(TRANSPOSED_ROWS, COLUMN_BYTES // max(transposed))
        across = max(TRANSPOSED_COLUMNS, ROW_BYTES // _largest(layouts))
        return min(rows.size, most), _even(columns.size, across, _LINE)
    most = cells
    if rows.reduced and not columns.reduced and columns.size >= FEW:
        cells = min(ACCUMULATED_CELLS, ACCUMULATED_BYTES // max(1, width))
        most = max(ACCUMULATED_COLUMNS, cells // max(1, rows.size) // _LINE * _LINE)
    across = _even(columns.size, most, _LINE)
    return _even(rows.size, max(1, cells // across), 1), across


def _whole_tile(dims: list[_Dim], layouts: Sequence[OperandLayout], width: int) -> tuple[int, int]:
    """Rows and columns of a tile that has all elements along what is reduced."""
    *outer, rows, columns = dims
    if rows.reduced == columns.reduced or any([dim.reduced for dim in outer]):
        raise NotInTiles
    if columns.reduced:
        cells = _cells(dims, layouts, width)
        if columns.size > cells:
            raise NotInTiles
        return _even(rows.size, cells // columns.size, 1), columns.size
    if rows.size > WHOLE_COLUMN:
        raise NotInTiles
    cells = WHOLE_BYTES // _largest(layouts)
    return rows.size, _even(columns.size, max(_LINE, cells // rows.size // _LINE * _LINE), _LINE)


def _cells(
    dims: list[_Dim],
    layouts: Sequence[OperandLayout],
    width: int,
    *,
    is_chain: bool = False,
    strided: bool = False,
) -> int:
    """About how many elements a tile has."""
    columns = dims[-1]
    packed = not strided and any(
        [_steps(layout, stride) for layout, stride in zip(layouts, columns.strides, strict=True)]
    )
    boxed = any([layout.box is not None for layout in layouts])
    cells = _full_cells(layouts)
    strides = zip(*[dim.strides for dim in dims], strict=True)
    outputs = [x for x in zip(layouts, strides, strict=True) if x[0].role == "output"]
    streams = any([_is_large(layout, steps, dims) for layout, steps in outputs])
    if not packed and not boxed and (is_chain or not width):
        if columns.reduced:
            return REDUCED_CELLS
        if is_chain or not streams:
            return ALONE_BYTES // _largest(layouts)
    traffic = _traffic(dims, layouts)
    size = prod([dim.size for dim in dims])
    narrow = 0 < width <= NARROW_BYTES and not packed and not boxed
    many = not streams and size >= MANY_ELEMENTS
    if traffic > CACHED_TRAFFIC or not (narrow or many):
        return cells
    larger = cells * LARGER_TILES
    if narrow:
        return max(larger, min(cells * NARROW_TILES, size // 4))
    return larger


def _traffic(dims: list[_Dim], layouts: Sequence[OperandLayout]) -> int:
    """Bytes of the elements of all operands."""
    return sum(
        [
            layout.itemsize * prod([dim.size for dim in dims if dim.strides[k]])
            for k, layout in enumerate(layouts)
        ]
    )


def _steps(layout: OperandLayout, stride: int) -> bool:
    """Whether elements that are read or written one by one are not adjacent."""
    return layout.role in ("input", "output") and stride not in (0, layout.itemsize)


def _is_read_in_steps(dims: list[_Dim], layouts: Sequence[OperandLayout], loops: int) -> bool:
    """Whether the loops read inputs whose elements are not adjacent where they lie.

    Each of as many loops as there are such inputs saves a copy. If there are more loops, it is
    better to copy, since a chain (native/chains.h) has adjacent elements.
    """
    *_, rows, columns = dims
    inputs = 0
    for layout, row, column in zip(layouts, rows.strides, columns.strides, strict=True):
        if not _steps(layout, column):
            continue
        is_plain = layout.role == "input" and layout.box is None and not layout.drawn
        is_slow = column == -layout.itemsize or (
            column == 2 * layout.itemsize and layout.itemsize < 8
        )
        if not is_plain or is_slow or 0 < abs(row) < abs(column):
            return False
        inputs += 1
    few = rows.size > 1 and columns.size <= PACKED_COLUMNS
    return 0 < loops <= inputs and not few and _traffic(dims, layouts) <= STEPPED_TRAFFIC


def _full_cells(layouts: Sequence[OperandLayout]) -> int:
    """How many elements a tile of `TILE_BYTES` has."""
    return TILE_BYTES // _largest(layouts)


def _largest(layouts: Sequence[OperandLayout]) -> int:
    """Bytes of the largest elements."""
    itemsizes = [layout.itemsize for layout in layouts if layout.role != "accumulator"]
    return max(itemsizes, default=1)


def _even(size: int, most: int, multiple: int) -> int:
    """The size of parts of at most `most`: one, or several alike, of a multiple if that can be."""
    if size <= most:
        return max(1, size)
    part = _ceil(_ceil(size, _ceil(size, most)), multiple) * multiple
    return part if part <= most else most - most % multiple or most


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def _access(
    layout: OperandLayout, strides: tuple[int, ...], dims: list[_Dim], tile: tuple[int, int]
) -> Access:
    """How the loops reach an operand."""
    if layout.role in ("accumulator", "factor"):
        return "direct"
    if layout.box is not None or layout.drawn:
        return "packed"
    if layout.materialise_scalar:
        return "invariant"
    *outer, row, column = strides
    rows, columns = tile
    is_input = layout.role == "input"
    flat = rows == 1 or row == columns * column
    # Every tile reads the same elements: all columns, of the same row repeated.
    invariant = is_input and not any(outer) and columns == dims[-1].size and row == 0
    adjacent = column == layout.itemsize or (is_input and column == 0)
    streams = not is_input and _is_large(layout, strides, dims) and columns * column >= STREAMED_ROW
    if adjacent and streams:
        return "streamed"
    if adjacent and (flat or columns > (INVARIANT_COLUMNS if invariant else PACKED_COLUMNS)):
        return "direct"
    return "invariant" if invariant else "packed"


def _is_large(layout: OperandLayout, strides: tuple[int, ...], dims: list[_Dim]) -> bool:
    """Whether an output should go past the caches, if its elements are adjacent."""
    starts_lines = not any([stride % _LINE for stride in strides[:-1]])
    least = STREAMED_BYTES if starts_lines else UNALIGNED_BYTES
    return layout.itemsize * prod([dim.size for dim in dims]) >= least


# ------------------------------------------------------------------ tasks


class _Split(NamedTuple):
    dim: int
    step: int
    tasks: int


def _tasks(
    dims: list[_Dim], tile: tuple[int, int], cost: float, least: int, *, whole: bool
) -> tuple[_Split, bool]:
    """What the tasks are, and whether each needs accumulators of its own: none do where tiles have
    all that is reduced (`whole`), nor of up to `least` elements."""
    units = (*[1] * (len(dims) - 2), *tile)
    kept = [k for k, dim in enumerate(dims) if not dim.reduced]
    reduced = [k for k, dim in enumerate(dims) if dim.reduced]
    size = prod([dim.size for dim in dims])
    sums = prod([dims[k].size for k in kept])
    if reduced:
        wanted = min(MAX_TASKS, size // MIN_TASK)
    else:
        work = size * cost
        wanted = max(min(MAX_TASKS, int(work / TASK_NS)), int(work / LONGEST_TASK_NS))
    if 1 < wanted < ENOUGH_TASKS:
        wanted += wanted % 2  # of three tasks, one of two threads would do two
    apart = _split(dims, units, kept, wanted)
    if whole or not reduced or apart.tasks >= min(ENOUGH_TASKS, wanted) or size <= least:
        return apart, False
    # Combining what the tasks accumulate must not cost as much as accumulating it.
    affordable = min(MAX_PARTIALS, size // 16) // max(1, sums)
    parts = _split(dims, units, reduced, min(wanted, affordable))
    return (parts, True) if parts.tasks > apart.tasks else (apart, False)


def _split(dims: list[_Dim], units: tuple[int, ...], among: list[int], wanted: int) -> _Split:
    """About `wanted` tasks along one of the dims `among`, each of whole tiles."""
    tiles = [_ceil(dim.size, unit) for dim, unit in zip(dims, units, strict=True)]
    # The outermost dim that suffices: then a task keeps to one region of the memory.
    best = max(among, key=lambda k: min(tiles[k], wanted), default=0)
    most = max(1, wanted) if among else 1
    each = max(1, _ceil(tiles[best], most))
    return _Split(best, each * units[best], max(1, _ceil(tiles[best], each)))
