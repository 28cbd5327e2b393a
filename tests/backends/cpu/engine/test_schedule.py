"""Schedules: every element once, where shape and strides say, and the shapes of typical ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from array_api_nx.backends.cpu.engine import schedule as module
from array_api_nx.backends.cpu.engine.kernel import KernelOperand
from array_api_nx.backends.cpu.engine.schedule import Layout, Schedule, schedule
from tests.support.tables import for_each

# The limits made small, so that small spaces have many tiles and tasks.
SMALL = {
    "TILE_BYTES": 64,
    "REDUCED_CELLS": 64,
    "ACCUMULATED_COLUMNS": 8,
    "ACCUMULATED_CELLS": 32,
    "ACCUMULATED_BYTES": 256,
    "COLUMN_BYTES": 16,
    "ROW_BYTES": 64,
    "TRANSPOSED_ROWS": 2,
    "PACKED_COLUMNS": 4,
    "INVARIANT_COLUMNS": 6,
    "FEW": 3,
    "SMALL_TILE": 8,
    "STREAMED_BYTES": 256,
    "UNALIGNED_BYTES": 512,
    "STREAMED_ROW": 16,
    "MIN_TASK": 8,
    "TASK_NS": 1.6,
    "MAX_TASKS": 6,
    "ENOUGH_TASKS": 3,
    "_LINE": 2,
}


def row_major(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    return tuple(itemsize * prod(shape[axis + 1 :]) for axis in range(len(shape)))


def accumulators(shape: tuple[int, ...], axes: tuple[int, ...], itemsize: int = 8) -> Layout:
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    inner = row_major(tuple(shape[axis] for axis in kept), itemsize)
    strides = [0] * len(shape)
    for axis, stride in zip(kept, inner, strict=True):
        strides[axis] = stride
    return Layout(tuple(strides), itemsize, "accumulator")


def of(array: np.ndarray, shape: tuple[int, ...], role: str = "input") -> Layout:
    """The layout of `array` broadcast to `shape`."""
    return Layout(np.broadcast_to(array, shape).strides, array.itemsize, role)


def empty(*shape: int) -> np.ndarray:
    """A row-major float64 array of any shape that takes no memory to speak of."""
    strides = row_major(shape, 8)
    return np.lib.stride_tricks.as_strided(np.empty(1), shape, strides, writeable=False)


# ---------------------------------------------------------------------- going over a schedule

Block = tuple[int, tuple[int, ...], tuple[range, ...]]


def units(plan: Schedule) -> tuple[int, ...]:
    return (*[1] * (len(plan.dims) - 2), *plan.tile)


def blocks(plan: Schedule) -> Iterator[tuple[int, tuple[range, ...]]]:
    """Each tile in order: its task, and its indices of each dim."""
    for task in range(plan.tasks):
        bounds = [(0, size) for size in plan.dims]
        start = task * plan.step
        bounds[plan.split] = start, min(start + plan.step, plan.dims[plan.split])
        parts = [
            [range(i, min(i + unit, stop)) for i in range(start, stop, unit)]
            for (start, stop), unit in zip(bounds, units(plan), strict=True)
        ]
        for tile in product(*parts):
            yield task, tile


def positions(strides: tuple[int, ...], indices: tuple[range, ...]) -> np.ndarray:
    """Bytes from the first element to each of those at `indices`."""
    total = np.zeros((1,) * len(indices), np.int64)
    for axis, (stride, index) in enumerate(zip(strides, indices, strict=True)):
        steps = stride * np.arange(index.start, index.stop, index.step)
        total = total + steps.reshape([-1 if k == axis else 1 for k in range(len(indices))])
    return total


def visited(plan: Schedule) -> np.ndarray:
    """For each visited element where it is in each operand, in the first task's accumulators."""
    parts = [np.empty((len(plan.operands), 0), np.int64)]
    for _, tile in blocks(plan):
        parts.append(np.stack([positions(x.strides, tile).ravel() for x in plan.operands]))
    return np.concatenate(parts, axis=1)


def named(shape: tuple[int, ...], layouts: list[Layout]) -> np.ndarray:
    indices = tuple(range(size) for size in shape)
    return np.stack([positions(x.strides, indices).ravel() for x in layouts])


def in_order(columns: np.ndarray) -> np.ndarray:
    return columns[:, np.lexsort(columns[::-1])]


# ---------------------------------------------------------------------- any schedule


@st.composite
def problems(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Layout], int]:
    """Shape, layouts and width. Outputs have an element of their own for each index."""
    sizes = st.sampled_from([1, 2, 3, 4, 5, 7, 16, 33])
    shape = tuple(draw(st.lists(sizes, max_size=5).filter(lambda each: prod(each) <= 3000)))
    axes = range(len(shape))
    itemsizes = st.sampled_from([1, 2, 4, 8, 16])

    def anywhere(itemsize: int) -> list[int]:
        """The strides of some array: axes in any order, with gaps, flipped."""
        strides = [0] * len(shape)
        step = itemsize
        order = draw(st.permutations(axes))
        if draw(st.booleans()):
            order = sorted(order, reverse=True)
        for axis in order:
            step *= draw(st.sampled_from([1, 1, 1, 2]))
            strides[axis] = step * draw(st.sampled_from([1, 1, 1, -1]))
            step *= shape[axis]
        return strides

    layouts = []
    for _ in range(draw(st.integers(0, 4))):
        itemsize = draw(itemsizes)
        strides = [draw(st.sampled_from([1, 1, 0])) * stride for stride in anywhere(itemsize)]
        layouts.append(Layout(tuple(strides), itemsize, "input"))
    for _ in range(draw(st.integers(0, 2))):
        scalar = (0,) * len(shape)
        layouts.append(Layout(scalar, draw(itemsizes), "input", draw(st.booleans())))
    reduced = tuple(axis for axis in axes if draw(st.booleans()))
    reduces = draw(st.booleans())
    for _ in range(draw(st.integers(0 if reduces else 1, 2))):
        itemsize = draw(itemsizes)
        layouts.append(Layout(tuple(anywhere(itemsize)), itemsize, "output"))
    if reduces:
        layouts.append(accumulators(shape, reduced, draw(itemsizes)))
    return shape, layouts, draw(st.sampled_from([0, 1, 8, 24, 100]))


@given(problems())
def test_every_element_is_visited_once_where_shape_and_strides_say(problem):
    shape, layouts, width = problem
    with mock.patch.multiple(module, **SMALL):
        plan = schedule(shape, layouts, width)
    np.testing.assert_array_equal(in_order(visited(plan)), in_order(named(shape, layouts)))


@given(problems())
def test_what_a_schedule_promises(problem):
    shape, layouts, width = problem
    with mock.patch.multiple(module, **SMALL):
        plan = schedule(shape, layouts, width)
    assert prod(plan.dims) == prod(shape)
    assert len(plan.dims) == len(plan.reduced) >= 2
    assert all(1 <= tile <= size for tile, size in zip(plan.tile, plan.dims[-2:], strict=True))
    assert 1 <= plan.tasks <= SMALL["MAX_TASKS"]
    # No task is empty, none is missing, and none ends inside a tile.
    assert (plan.tasks - 1) * plan.step < plan.dims[plan.split] <= plan.tasks * plan.step
    assert plan.step % units(plan)[plan.split] == 0
    assert all(len(operand.strides) == len(plan.dims) for operand in plan.operands)
    roles = [layout.role for layout in layouts]
    sums = plan.operands[roles.index("accumulator")] if "accumulator" in roles else None
    for size, reduced, k in zip(plan.dims, plan.reduced, range(len(plan.dims)), strict=True):
        if size > 1:
            assert reduced == (sums is not None and sums.strides[k] == 0)
    # Tasks share no accumulator: they are split along what is kept, or have their own.
    assert plan.partial == (plan.tasks > 1 and plan.reduced[plan.split])
    kept = [size for size, reduced in zip(plan.dims, plan.reduced, strict=True) if not reduced]
    for layout, operand in zip(layouts, plan.operands, strict=True):
        assert operand.itemsize == layout.itemsize
        copies = plan.partial and operand is sums
        assert operand.task_stride == (layout.itemsize * prod(kept) if copies else 0)


@given(problems())
def test_tasks_write_apart(problem):
    shape, layouts, width = problem
    with mock.patch.multiple(module, **SMALL):
        plan = schedule(shape, layouts, width)
    for layout, operand in zip(layouts, plan.operands, strict=True):
        if layout.role == "input":
            continue
        written: dict[int, set[int]] = {}
        for task, tile in blocks(plan):
            here = positions(operand.strides, tile) + task * operand.task_stride
            written.setdefault(task, set()).update(here.ravel().tolist())
        everything = set().union(*written.values())
        assert len(everything) == sum(len(each) for each in written.values())
        if operand.task_stride:
            for task, each in written.items():
                first = task * operand.task_stride
                assert each == set(range(first, first + operand.task_stride, operand.itemsize))


@given(problems())
def test_access_is_legal(problem):
    shape, layouts, width = problem
    with mock.patch.multiple(module, **SMALL):
        plan = schedule(shape, layouts, width)
    for layout, operand in zip(layouts, plan.operands, strict=True):
        column = operand.strides[-1] if plan.dims[-1] > 1 else 0
        if layout.role == "accumulator":
            assert operand.access == "direct"
        elif operand.access == "direct":
            assert column in (0, operand.itemsize)
        elif operand.access == "streamed":
            assert layout.role == "output"
            assert operand.strides[-1] == operand.itemsize
            assert operand.itemsize * prod(plan.dims) >= SMALL["STREAMED_BYTES"]
            assert operand.itemsize * plan.tile[1] >= SMALL["STREAMED_ROW"]
        elif operand.access == "invariant":
            assert layout.role == "input"
            copies: dict[int, np.ndarray] = {}
            for task, tile in blocks(plan):
                here = positions(operand.strides, tile).reshape(len(tile[-2]), len(tile[-1]))
                first = copies.setdefault(task, here)
                assert here.shape[1] == first.shape[1] or not first.any()
                np.testing.assert_array_equal(here, first[: len(here), : here.shape[1]])
        if layout.materialise_scalar:
            assert operand.access == "invariant"


@given(problems())
def test_nothing_but_the_description_matters(problem):
    shape, layouts, width = problem
    assert schedule(shape, layouts, width) == schedule(shape, tuple(layouts), width)


# ---------------------------------------------------------------------- elementwise

N = 8_000_000


def elementwise(shape: tuple[int, ...], *inputs: np.ndarray, width: int = 8) -> Schedule:
    layouts = [of(each, shape) for each in inputs]
    return schedule(shape, [*layouts, of(empty(*shape), shape, "output")], width)


def reduction(
    shape: tuple[int, ...], axes: tuple[int, ...], *inputs: np.ndarray, width: int = 0
) -> Schedule:
    layouts = [of(each, shape) for each in inputs or (empty(*shape),)]
    return schedule(shape, [*layouts, accumulators(shape, axes)], width)


def access(plan: Schedule) -> list[str]:
    return [operand.access for operand in plan.operands]


def cells(plan: Schedule) -> int:
    return prod(plan.tile)


def balanced(plan: Schedule) -> bool:
    """Whether 16 threads have work for most of the time."""
    worth = module.TASK_NS / 0.2 if not any(plan.reduced) else module.MIN_TASK
    return 16 <= plan.tasks <= module.MAX_TASKS and prod(plan.dims) / plan.tasks >= worth


@pytest.mark.parametrize("shape", [(N,), (1000, N // 1000), (200, 200, 200), (1, 20, 1, N // 20)])
def test_contiguous_operands_make_one_long_dim(shape):
    plan = elementwise(shape, empty(*shape), empty(*shape))
    assert plan.dims == (1, N)
    assert plan.tile[0] == 1
    assert plan.split == 1
    assert access(plan) == ["direct", "direct", "streamed"]
    assert [operand.strides for operand in plan.operands] == [(0, 8)] * 3
    assert plan.reduced == (False, False)
    assert balanced(plan)


def test_scalars_do_not_keep_dims_apart():
    plan = elementwise((100, 1000), empty(100, 1000), empty())
    assert plan.dims == (1, 100_000)
    assert plan.operands[1].strides == (0, 0)
    assert access(plan) == ["direct"] * 3


@pytest.mark.parametrize(("size", "tasks"), [(1, 1), (1000, 1), (45_000, 1), (2**17, 6)])
def test_small_spaces_have_few_tasks(size, tasks):
    plan = elementwise((size,), empty(size))
    assert plan.tasks == tasks


def test_a_space_of_one_element():
    for shape in ((), (1,), (1, 1, 1)):
        plan = elementwise(shape, empty(*shape), empty())
        assert (plan.dims, plan.tile, plan.tasks) == ((1, 1), (1, 1), 1)
        assert visited(plan).tolist() == [[0], [0], [0]]


@pytest.mark.parametrize("shape", [(0,), (0, 5), (5, 0), (3, 0, 4)])
def test_a_space_of_no_element(shape):
    strides = tuple(range(8, 8 * len(shape) + 8, 8))
    for inner in (strides, strides[::-1]):
        layouts = [Layout(inner, 8, "input"), Layout(strides[::-1], 8, "output")]
        plan = schedule(shape, layouts, 8)
        assert 0 in plan.dims
        assert plan.tasks == 1
        assert min(plan.tile) >= 1
        assert visited(plan).size == 0


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("width", [8, 40])
def test_tiles_are_of_so_many_bytes(itemsize, width):
    vector = Layout((itemsize,), itemsize, "input")
    for layouts in ([vector], [Layout((1,), 1, "input"), vector, vector]):
        plan = schedule((N,), [*layouts, vector._replace(role="output")], width)
        assert plan.tile[0] == 1
        # Tiles of one size, so less than that by at most a cache line's elements.
        assert 0 <= module.TILE_BYTES // itemsize - plan.tile[1] < module._LINE


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16])
def test_tiles_of_a_loop_that_runs_alone_are_long(itemsize):
    vector = Layout((itemsize,), itemsize, "input")
    size = (module.STREAMED_BYTES - 1) // itemsize
    plan = schedule((size,), [vector, vector, vector._replace(role="output")], 0)
    assert plan.tile[0] == 1
    assert 0.9 * module.ALONE_BYTES < plan.tile[1] * itemsize <= module.ALONE_BYTES


def test_tiles_that_are_streamed_are_packed_and_so_never_long():
    vector = Layout((8,), 8, "input")
    layouts = [vector, vector._replace(role="output")]
    plan = schedule((module.STREAMED_BYTES // 8,), layouts, 0)
    assert plan.operands[1].access == "streamed"
    assert plan.tile[1] * 8 <= module.TILE_BYTES


def test_the_largest_elements_make_the_tiles():
    layouts = [Layout((8,), 8, "input"), Layout((1,), 1, "output")]
    assert schedule((N,), layouts, 8).tile == schedule((N,), layouts[:1], 8).tile
    assert cells(schedule((N,), layouts[1:], 8)) > 4 * cells(schedule((N,), layouts, 8))


def test_what_is_only_reduced_is_read_in_long_pieces():
    x = empty(2 * N)
    near = module.TILE_BYTES // 8
    assert near < cells(reduction((N,), (0,), x[:N])) <= module.REDUCED_CELLS
    # Not so registers and packed tiles, which are read again.
    assert cells(reduction((N,), (0,), x[:N], width=8)) <= near
    assert cells(reduction((N,), (0,), x[::2])) <= near


# ---------------------------------------------------------------------- streamed and spread


@pytest.mark.parametrize("itemsize", [1, 4, 8, 16])
def test_large_outputs_are_streamed(itemsize):
    size = module.STREAMED_BYTES // itemsize
    layouts = [Layout((itemsize,), itemsize, role) for role in ("input", "output", "output")]
    assert access(schedule((size,), layouts, 8)) == ["direct", "streamed", "streamed"]
    assert access(schedule((size - 1,), layouts, 8)) == ["direct"] * 3


def test_each_output_is_streamed_by_its_own_size():
    size = module.STREAMED_BYTES // 8
    layouts = [Layout((itemsize,), itemsize, "output") for itemsize in (4, 8, 16)]
    assert access(schedule((size,), layouts, 8)) == ["direct", "streamed", "streamed"]


@pytest.mark.parametrize("step", [-8, 16, -16])
def test_only_contiguous_columns_are_streamed(step):
    layouts = [Layout((8,), 8, "input"), Layout((step,), 8, "output")]
    assert access(schedule((N,), layouts, 8)) == ["direct", "packed"]


@for_each("itemsize", [4, 8])
@for_each("step", [-3, -2, -1, 2, 3])
@for_each("loops", [0, 1, 2, 3])
def test_loops_read_in_steps_what_no_copy_makes_faster(itemsize, step, loops):
    x = Layout((step * itemsize,), itemsize, "input")
    layouts = [
        x,
        x,
        Layout((itemsize,), itemsize, "input"),
        Layout((itemsize,), itemsize, "output"),
    ]
    is_slow = step == -1 or (step == 2 and itemsize == 4)
    expected = "direct" if 0 < loops <= 2 and not is_slow else "packed"
    for size in (10_000, 30_000):
        plan = schedule((size,), layouts, 8, loops=loops)
        assert access(plan) == [expected, expected, "direct", "direct"]
    large = module.STEPPED_TRAFFIC // itemsize
    assert access(schedule((large,), layouts, 8, loops=loops))[:2] == ["packed"] * 2


def test_what_loops_do_not_read_in_steps():
    shape, rows = (200, 300), Layout((4800, 16), 8, "input")
    output = Layout((2400, 8), 8, "output")
    assert access(schedule(shape, [rows, output], 8, loops=1)) == ["direct", "direct"]
    for other in (
        rows._replace(box=((0, 100), (0, 300))),
        rows._replace(drawn=True),
        rows._replace(strides=(16, 3200)),  # it lies across the output
        rows._replace(role="output"),
    ):
        assert access(schedule(shape, [rows, other, output], 8, loops=1))[0] == "packed"
    few = (6000, 10)
    layouts = [Layout((160, 16), 8, "input"), Layout((88, 8), 8, "output")]
    assert access(schedule(few, layouts, 8, loops=1)) == ["packed", "packed"]


@pytest.mark.parametrize("gap", [0, 8, 4096])
def test_only_long_rows_are_streamed(gap):
    least = module.STREAMED_ROW // 8
    for columns in (least - 1, least, 1000):
        shape = (N // columns, columns)
        layouts = [of(empty(*shape), shape), Layout((8 * columns + gap, 8), 8, "output")]
        # Another input keeps the rows apart where there is no gap.
        plan = schedule(shape, [*layouts, of(empty(columns), shape)], 8)
        assert plan.dims == shape
        assert (plan.operands[1].access == "streamed") == (columns >= least)


@pytest.mark.parametrize("columns", [1000, 1001])
def test_rows_that_do_not_begin_on_cache_lines_are_streamed_later(columns):
    for least in (module.STREAMED_BYTES, module.UNALIGNED_BYTES):
        shape = (least // columns // 8 + 1, columns)
        x, row = of(empty(*shape), shape), of(empty(columns), shape)
        plan = schedule(shape, [x, row, x._replace(role="output")], 0)
        assert plan.dims == shape
        streams = columns == 1000 or least == module.UNALIGNED_BYTES
        assert plan.operands[2].access == ("streamed" if streams else "direct")
        # Not what is packed: it would take too much of the cache.
        assert (cells(plan) * 8 > module.TILE_BYTES) == (not streams)


def test_a_transposed_output_is_not_streamed():
    shape = (3000, 2000)
    layouts = [of(empty(*shape), shape)] * 2
    plan = schedule(shape, [*layouts, of(empty(2000, 3000).T, shape, "output")], 8)
    assert plan.operands[2].strides == (8, 24_000)
    assert plan.operands[2].access == "packed"


def test_accumulators_are_not_streamed():
    shape = (2, N)
    for axes in ((), (0,), (1,)):
        assert "streamed" not in access(reduction(shape, axes))


@pytest.mark.parametrize("shape", [(N,), (N // 10, 10), (50, 4), (3, 3, N // 9), (1,), ()])
def test_scalars_that_are_spread_are_packed_once(shape):
    scalar = Layout((0,) * len(shape), 8, "input")
    layouts = [of(empty(*shape), shape), scalar, of(empty(*shape), shape, "output")]
    direct = schedule(shape, layouts, 8)
    layouts[1] = scalar._replace(materialise_scalar=True)
    spread = schedule(shape, layouts, 8)
    assert access(direct)[1] == "direct"
    assert access(spread)[1] == "invariant"
    # All else is as it was.
    operands = [direct.operands[0], spread.operands[1], direct.operands[2]]
    assert spread == direct._replace(operands=tuple(operands))
    assert spread.operands[1] == direct.operands[1]._replace(access="invariant")


# ---------------------------------------------------------------------- rows and columns


@pytest.mark.parametrize("columns", [3, 10, 50])
def test_short_rows_with_a_row_for_all(columns):
    # Standardising columns: (rows, columns) with (columns,).
    shape = (N // columns, columns)
    plan = elementwise(shape, empty(*shape), empty(columns))
    assert plan.dims == shape
    assert plan.tile[1] == columns
    assert plan.tile[0] > 1
    output = "streamed" if columns == 50 else "direct"
    assert access(plan) == ["direct", "invariant", output]
    assert plan.split == 0
    assert balanced(plan)


@pytest.mark.parametrize("columns", [1000, 4000, 50_000])
def test_long_rows_with_a_row_for_all(columns):
    shape = (N // columns, columns)
    plan = elementwise(shape, empty(*shape), empty(columns))
    assert access(plan) == ["direct", "direct", "streamed"]
    assert plan.tile[1] > module.PACKED_COLUMNS
    assert plan.split == 0
    assert balanced(plan)


@pytest.mark.parametrize(
    ("columns", "repeated", "output"),
    [(3, "packed", "direct"), (10, "packed", "direct"), (1000, "direct", "streamed")],
)
def test_a_column_for_all(columns, repeated, output):
    shape = (N // columns, columns)
    plan = elementwise(shape, empty(*shape), empty(shape[0], 1))
    assert plan.dims == shape
    assert access(plan) == ["direct", repeated, output]
    assert balanced(plan)


def test_strided_operands_are_packed():
    x = empty(2 * N)
    plan = elementwise((N,), x[::2], x[:N][::-1], width=0)
    assert plan.dims == (1, N)
    assert plan.operands[1].strides == (0, -8)
    assert access(plan) == ["packed", "packed", "streamed"]
    # Their packed tiles are in the cache as registers are.
    assert cells(plan) <= module.TILE_BYTES // 8


def test_a_transposed_operand_is_read_along_its_memory():
    plan = elementwise((2000, 4000), empty(2000, 4000), empty(4000, 2000).T)
    assert plan.dims == (2000, 4000)
    rows, columns = plan.tile
    assert rows * 8 == module.COLUMN_BYTES
    assert columns >= 4 * rows
    assert access(plan) == ["direct", "packed", "streamed"]
    assert balanced(plan)


def test_a_transposed_operand_with_short_rows_takes_whole_rows():
    plan = elementwise((N // 20, 20), empty(N // 20, 20), empty(20, N // 20).T)
    assert plan.tile[1] == 20
    assert access(plan) == ["direct", "packed", "direct"]


def test_if_most_are_transposed_so_is_the_space():
    columns = empty(500, 300).T
    layouts = [of(columns, (300, 500)), of(columns, (300, 500))]
    both = schedule((300, 500), [*layouts, of(empty(300, 500), (300, 500), "output")], 8)
    assert both.dims == (500, 300)
    assert both.operands[0].strides == (2400, 8)
    assert both.operands[2].strides == (8, 4000)
    assert both.operands[2].access == "packed"
    alike = schedule((300, 500), [*layouts, of(columns, (300, 500), "output")], 8)
    assert alike.dims == (1, 150_000)


def test_an_outer_product():
    plan = elementwise((2000, 4000), empty(2000, 1), empty(4000))
    assert plan.dims == (2000, 4000)
    assert [operand.strides for operand in plan.operands] == [(8, 0), (0, 8), (32000, 8)]
    assert access(plan) == ["direct", "direct", "streamed"]


def test_many_small_matrices_do_not_make_small_tiles():
    shape = (100_000, 3, 3)
    plan = elementwise(shape, empty(*shape), empty(100_000, 1, 3))
    assert plan.dims == (3, 3, 100_000)
    assert cells(plan) >= 128
    assert plan.split == 2
    assert balanced(plan)
    wider = elementwise((100_000, 3, 20), empty(100_000, 3, 20), empty(100_000, 1, 20))
    assert wider.dims == (3, 100_000, 20)


# ---------------------------------------------------------------------- reductions


@pytest.mark.parametrize("shape", [(N,), (200, 200, 200)])
def test_all_axes(shape):
    plan = reduction(shape, tuple(range(len(shape))))
    assert plan.dims == (1, N)
    assert plan.reduced == (True, True)
    assert plan.partial
    assert plan.operands[1] == KernelOperand(8, (0, 0), 8, "direct")
    assert balanced(plan)


def test_what_is_exact_is_divided_sooner():
    """Where nobody can tell the parts from the result."""
    layouts = [Layout((8,), 8, "input"), Layout((0,), 8, "accumulator")]
    for size, exact, partial in (
        (module.EXACT_PARTIAL_MIN, True, False),
        (module.EXACT_PARTIAL_MIN + 1, True, True),
        (module.PARTIAL_MIN, False, False),
        (module.PARTIAL_MIN + 1, False, True),
    ):
        plan = schedule((size,), layouts, 0, is_exact=exact)
        assert plan.partial is partial
        assert (plan.tasks > 1) is partial


def test_no_axes():
    plan = reduction((N,), ())
    assert plan.reduced == (False, False)
    assert not plan.partial
    assert plan.operands[1] == KernelOperand(8, (0, 8), 0, "direct")


@pytest.mark.parametrize("columns", [50, 1000, 20_000])
def test_the_last_axis(columns):
    shape = (N // columns, columns)
    plan = reduction(shape, (1,))
    assert plan.dims == shape
    assert plan.reduced == (False, True)
    assert (plan.split, plan.partial) == (0, False)
    assert plan.operands[1].strides == (8, 0)
    assert balanced(plan)


@pytest.mark.parametrize("columns", [2, 3, 10, 15])
def test_a_short_last_axis_becomes_the_rows(columns):
    plan = reduction((N // columns, columns), (1,))
    assert plan.dims == (columns, N // columns)
    assert plan.reduced == (True, False)
    assert plan.operands[0].strides == (8, 8 * columns)
    assert plan.operands[0].access == "packed"
    assert (plan.split, plan.partial) == (1, False)
    # All that is added up to one sum is in one tile.
    assert plan.tile[0] == columns
    assert plan.tile[1] >= 64
    assert balanced(plan)


@pytest.mark.parametrize("columns", [3, 10, 50, 1000])
def test_the_first_axis(columns):
    plan = reduction((N // columns, columns), (0,))
    assert plan.dims == (N // columns, columns)
    assert plan.reduced == (True, False)
    assert (plan.split, plan.partial) == (0, True)
    assert plan.operands[1] == KernelOperand(8, (0, 8), 8 * columns, "direct")
    assert plan.tile[1] == columns
    assert plan.tile[0] >= 32
    assert balanced(plan)


def test_the_first_axis_of_many_columns():
    plan = reduction((400, 20_000), (0,))
    assert (plan.split, plan.partial) == (1, False)
    assert plan.operands[1].task_stride == 0
    assert plan.tasks >= module.ENOUGH_TASKS
    assert module.ACCUMULATED_COLUMNS // 2 <= plan.tile[1] <= module.ACCUMULATED_COLUMNS
    assert plan.tile[0] >= 16


def test_a_middle_axis():
    plan = reduction((200, 200, 200), (1,))
    assert plan.dims == (200, 200, 200)
    assert plan.reduced == (False, True, False)
    assert (plan.split, plan.partial) == (0, False)
    assert plan.operands[1].strides == (1600, 0, 8)
    assert plan.tile == (200, 200)


@pytest.mark.parametrize(
    ("axes", "dims", "reduced", "strides"),
    [
        ((0, 1), (40_000, 200), (True, False), (0, 8)),
        ((1, 2), (200, 40_000), (False, True), (8, 0)),
        ((0, 2), (200, 200, 200), (True, False, True), (0, 8, 0)),
    ],
)
def test_several_axes(axes, dims, reduced, strides):
    plan = reduction((200, 200, 200), axes)
    assert plan.dims == dims
    assert plan.reduced == reduced
    assert plan.operands[1].strides == strides
    assert balanced(plan)


def test_the_last_axis_of_a_transposed_operand_is_reduced_along_its_memory():
    plan = reduction((3000, 2000), (0,), empty(2000, 3000).T)
    assert plan.dims == (2000, 3000)
    assert plan.reduced == (False, True)
    assert plan.operands[0].strides == (24_000, 8)
    assert plan.operands[0].access == "direct"
    everything = reduction((3000, 2000), (0, 1), empty(2000, 3000).T)
    assert everything.dims == (1, 6_000_000)


def test_squared_distances():
    # sum((x[:, None, :] - y[None, :, :])**2, axis=-1)
    for size in (3, 50):
        shape = (1000, 1000, size)
        plan = reduction(shape, (2,), empty(1000, 1, size), empty(1000, size), width=8)
        assert plan.reduced == ((False, True, False) if size == 3 else (False, False, True))
        assert (plan.split, plan.partial) == (0, False)
        assert balanced(plan)


def test_partial_accumulators_stay_few():
    # Too many columns for copies, too few for tiles that are tasks.
    for rows, columns in [(40, 3000), (200, 6000), (3000, 6000)]:
        plan = reduction((rows, columns), (0,))
        copies = plan.tasks if plan.partial else 1
        assert (copies - 1) * columns <= min(module.MAX_PARTIALS, rows * columns // 16)
        assert plan.tasks > 1


def test_an_output_besides_the_accumulators():
    shape = (8000, 1000)
    layouts = [of(empty(*shape), shape), of(empty(*shape), shape, "output")]
    plan = schedule(shape, [*layouts, accumulators(shape, (1,))], 8)
    assert plan.reduced == (False, True)
    assert [operand.strides for operand in plan.operands] == [(8000, 8), (8000, 8), (8, 0)]


# ---------------------------------------------------------------------- padding


@pytest.mark.parametrize(
    ("box", "dims", "merged"),
    [
        (((1, 9), (0, 20), (0, 30)), (1, 6000), ((0, 1), (600, 5400))),
        (((0, 10), (2, 20), (0, 30)), (10, 600), ((0, 10), (60, 600))),
        (((0, 10), (0, 20), (0, 7)), (200, 30), ((0, 200), (0, 7))),
        (((1, 9), (2, 20), (3, 30)), (10, 20, 30), ((1, 9), (2, 20), (3, 30))),
    ],
)
def test_boxes_keep_axes_apart(
    box: tuple[tuple[int, int], ...], dims: tuple[int, ...], merged: tuple[tuple[int, int], ...]
) -> None:
    strides = row_major((10, 20, 30), 8)
    layouts = [Layout(strides, 8, "input", box=box), Layout(strides, 8, "output")]
    plan = schedule((10, 20, 30), layouts, 0)
    assert plan.dims == dims
    assert plan.operands[0].box == merged
    assert plan.operands[0].access == "packed"
    assert plan.operands[1].box is None
