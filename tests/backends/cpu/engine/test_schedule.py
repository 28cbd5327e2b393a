"""Schedules: every element once, where shape and strides say, and the shapes of typical ones."""

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from array_api_nx.backends.cpu.engine import schedule as module
from array_api_nx.backends.cpu.engine.kernel import KernelOperand
from array_api_nx.backends.cpu.engine.schedule import OperandLayout, Schedule, schedule
from tests.support.small_tiles import SMALL, small_tiles
from tests.support.tables import for_each


def row_major(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    return tuple(itemsize * prod(shape[axis + 1 :]) for axis in range(len(shape)))


def accumulators(shape: tuple[int, ...], axes: tuple[int, ...], itemsize: int = 8) -> OperandLayout:
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    inner = row_major(tuple(shape[axis] for axis in kept), itemsize)
    strides = [0] * len(shape)
    for axis, stride in zip(kept, inner, strict=True):
        strides[axis] = stride
    return OperandLayout(tuple(strides), itemsize, "accumulator")


def of(array: np.ndarray, shape: tuple[int, ...], role: str = "input") -> OperandLayout:
    """The layout of `array` broadcast to `shape`."""
    return OperandLayout(np.broadcast_to(array, shape).strides, array.itemsize, role)


def empty(*shape: int) -> np.ndarray:
    """A row-major float64 array of any shape that takes no memory to speak of."""
    strides = row_major(shape, 8)
    return np.lib.stride_tricks.as_strided(np.empty(1), shape, strides, writeable=False)


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


def named(shape: tuple[int, ...], layouts: list[OperandLayout]) -> np.ndarray:
    indices = tuple(range(size) for size in shape)
    return np.stack([positions(x.strides, indices).ravel() for x in layouts])


def in_order(columns: np.ndarray) -> np.ndarray:
    return columns[:, np.lexsort(columns[::-1])]


@st.composite
def problems(draw: st.DrawFn) -> tuple[tuple[int, ...], list[OperandLayout], int]:
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
        layouts.append(OperandLayout(tuple(strides), itemsize, "input"))
    for _ in range(draw(st.integers(0, 2))):
        scalar = (0,) * len(shape)
        layouts.append(OperandLayout(scalar, draw(itemsizes), "input", draw(st.booleans())))
    reduced = tuple(axis for axis in axes if draw(st.booleans()))
    reduces = draw(st.booleans())
    for _ in range(draw(st.integers(0 if reduces else 1, 2))):
        itemsize = draw(itemsizes)
        layouts.append(OperandLayout(tuple(anywhere(itemsize)), itemsize, "output"))
    if reduces:
        layouts.append(accumulators(shape, reduced, draw(itemsizes)))
    return shape, layouts, draw(st.sampled_from([0, 1, 8, 24, 100]))


@settings(max_examples=300)
@given(problems())
def test_any_schedule(problem):
    shape, layouts, width = problem
    with small_tiles():
        plan = schedule(shape, layouts, width)
        assert plan == schedule(shape, tuple(layouts), width)
    # Every element once, where shape and strides say.
    np.testing.assert_array_equal(in_order(visited(plan)), in_order(named(shape, layouts)))
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
    # Tasks share no accumulator: they are split along a kept dim, or have their own.
    assert plan.partial == (plan.tasks > 1 and plan.reduced[plan.split])
    kept = prod([n for n, reduced in zip(plan.dims, plan.reduced, strict=True) if not reduced])
    for layout, operand in zip(layouts, plan.operands, strict=True):
        assert operand.itemsize == layout.itemsize
        copies = plan.partial and operand is sums
        assert operand.task_stride == (layout.itemsize * kept if copies else 0)
        assert_legal(plan, layout, operand)
        if layout.role != "input":
            assert_written_apart(plan, operand)


def assert_written_apart(plan: Schedule, operand: KernelOperand) -> None:
    """No two tasks write the same element; accumulators of their own are written completely."""
    written: dict[int, set[int]] = {}
    for task, tile in blocks(plan):
        here = positions(operand.strides, tile) + task * operand.task_stride
        written.setdefault(task, set()).update(here.ravel().tolist())
    assert len(set().union(*written.values())) == sum(len(each) for each in written.values())
    for task, each in written.items() if operand.task_stride else ():
        first = task * operand.task_stride
        assert each == set(range(first, first + operand.task_stride, operand.itemsize))


def assert_legal(plan: Schedule, layout: OperandLayout, operand: KernelOperand) -> None:
    """The operand can be accessed as the schedule says."""
    column = operand.strides[-1] if plan.dims[-1] > 1 else 0
    assert operand.access == "invariant" or not layout.materialise_scalar
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


N = 8_000_000


def operand(word: str, shape: tuple[int, ...]) -> OperandLayout:
    """An operand that lies in a way that has a name, or a vector of elements of so many bytes."""
    if word.isdigit():
        return OperandLayout((int(word),), int(word), "input")
    *outer, columns = shape or (1,)
    arrays: dict[str, Callable[[], np.ndarray]] = {
        "whole": lambda: empty(*shape),
        "row": lambda: empty(columns),
        "last": lambda: empty(*shape[1:]),
        "inner": lambda: empty(shape[0], 1, columns),
        "column": lambda: empty(*outer, 1),
        "scalar": lambda: empty(),
        "turned": lambda: empty(*shape[::-1]).T,
        "stepped": lambda: empty(*outer, 2 * columns)[..., ::2],
        "flipped": lambda: empty(*shape)[..., ::-1],
        "gapped": lambda: empty(*outer, columns + 1)[..., :columns],
    }
    return of(arrays[word](), shape)


def planned(
    shape: tuple[int, ...], words: str, axes: Any = None, width: int = 8, **how: Any
) -> Schedule:
    """A schedule for the operands named; those after ">" are written, accumulators have axes."""
    inputs, _, outputs = words.partition(">")
    layouts = [operand(word, shape) for word in inputs.split()]
    layouts += [operand(word, shape)._replace(role="output") for word in outputs.split()]
    layouts += [] if axes is None else [accumulators(shape, axes)]
    return schedule(shape, layouts, width, **how)


def access(plan: Schedule) -> str:
    return " ".join([operand.access for operand in plan.operands])


def balanced(plan: Schedule) -> bool:
    """Whether 16 threads have work for most of the time."""
    worth = module.TASK_NS / 0.2 if not any(plan.reduced) else module.MIN_TASK
    return 16 <= plan.tasks <= module.MAX_TASKS and prod(plan.dims) / plan.tasks >= worth


def case(
    shape: tuple[int, ...], words: str, axes: Any = None, width: int = 8, **expected: Any
) -> Any:
    return shape, words, axes, width, expected


MOST, LEAST = module.TILE_BYTES // 8, module.STREAMED_ROW // 8
STREAMED, UNALIGNED = module.STREAMED_BYTES, module.UNALIGNED_BYTES
CUBE = (200, 200, 200)
TYPICAL = [
    *[
        case(shape, "whole whole > whole", dims=(1, N), split=1, strides=[(0, 8)] * 3, rows=1,
             access="direct direct streamed", reduced=(False, False), balanced=True)
        for shape in [(N,), (1000, N // 1000), CUBE, (1, 20, 1, N // 20)]
    ],
    case((100, 1000), "whole scalar > whole", dims=(1, 100_000),
         strides=[(0, 8), (0, 0), (0, 8)], access="direct direct direct"),
    *[
        case((size,), "whole > whole", tasks=tasks)
        for size, tasks in [(1, 1), (1000, 1), (45_000, 1), (2**17, 6)]
    ],
    *[
        case(shape, "whole scalar > whole", dims=(1, 1), tile=(1, 1), tasks=1)
        for shape in ((), (1,), (1, 1, 1))
    ],
    # A tile has so many bytes of the largest operand, less a cache line at most.
    *[
        case((N,), words.format(s), width=width, rows=1,
             columns=lambda n, s=s: 0 <= module.TILE_BYTES // s - n < 64)
        for width in (8, 40)
        for s in (1, 2, 4, 8, 16)
        for words in ("{0} > {0}", "1 {0} {0} > {0}")
    ],
    case((N,), "8 > 1", columns=planned((N,), "8").tile[1]),
    case((N,), "> 1", columns=lambda n: n > 4 * planned((N,), "8 > 1").tile[1]),
    # A loop that runs alone has long tiles, but not if the result is streamed, and so packed.
    *[
        case(((STREAMED - 1) // s,), f"{s} {s} > {s}", width=0, rows=1,
             columns=lambda n, s=s: 0.9 * module.ALONE_BYTES < n * s <= module.ALONE_BYTES)
        for s in (1, 2, 4, 8, 16)
    ],
    case((STREAMED // 8,), "8 > 8", width=0, access="direct streamed", columns=lambda n: n <= MOST),
    # Operands that are only reduced have long tiles; registers and packed tiles have not.
    case((N,), "whole", (0,), 0, cells=lambda n: MOST < n <= module.REDUCED_CELLS),
    case((N,), "whole", (0,), 8, cells=lambda n: n <= MOST),
    case((N,), "stepped", (0,), 0, cells=lambda n: n <= MOST),
    # Large results are streamed, each by its own size, where columns are contiguous and rows long.
    *[
        case((STREAMED // s - less,), f"{s} > {s} {s}", access=f"direct {how} {how}")
        for s in (1, 4, 8, 16)
        for less, how in [(0, "streamed"), (1, "direct")]
    ],
    case((STREAMED // 8,), "> 4 8 16", access="direct streamed streamed"),
    *[case((N,), f"whole > {word}", access="direct packed") for word in ("stepped", "flipped")],
    *[
        case((N // n, n), f"whole row > {word}", dims=(N // n, n),
             last_access=lambda how, n=n: (how == "streamed") == (n >= LEAST))
        for n in (LEAST - 1, LEAST, 1000)
        for word in ("whole", "gapped")
    ],
    # Rows that do not begin on cache lines are streamed later, and tiles are long until then.
    *[
        case((least // n // 8 + 1, n), "whole row > whole", width=0,
             last_access="streamed" if streams else "direct",
             cells=lambda n, streams=streams: (n > MOST) == (not streams))
        for n, least, streams in [
            (1000, STREAMED, True), (1000, UNALIGNED, True), (1001, STREAMED, False),
            (1001, UNALIGNED, True),
        ]
    ],
    case((3000, 2000), "whole whole > turned", access="direct direct packed",
         last_strides=(8, 24_000)),
    *[case((2, N), "whole", axes, 0, access="direct direct") for axes in ((), (0,), (1,))],
    # A row for all, short or long, and a column for all.
    *[
        case((N // n, n), "whole row > whole", dims=(N // n, n), columns=n, rows=lambda n: n > 1,
             access=f"direct invariant {written}", split=0, balanced=True)
        for n, written in [(3, "direct"), (10, "direct"), (50, "streamed")]
    ],
    *[
        case((N // n, n), "whole row > whole", columns=lambda n: n > module.PACKED_COLUMNS,
             access="direct direct streamed", split=0, balanced=True)
        for n in (1000, 4000, 50_000)
    ],
    *[
        case((N // n, n), "whole column > whole", dims=(N // n, n), access=how, balanced=True)
        for n, how in [
            (3, "direct packed direct"), (10, "direct packed direct"),
            (1000, "direct direct streamed"),
        ]
    ],
    # Strided and transposed operands, and an outer product.
    case((N,), "stepped flipped > whole", width=0, dims=(1, N), cells=lambda n: n <= MOST,
         strides=[(0, 16), (0, -8), (0, 8)], access="packed packed streamed"),
    case((2000, 4000), "whole turned > whole", dims=(2000, 4000), rows=module.COLUMN_BYTES // 8,
         columns=lambda n: n * 2 >= module.COLUMN_BYTES, access="direct packed streamed",
         balanced=True),
    case((N // 20, 20), "whole turned > whole", columns=20, access="direct packed direct"),
    case((300, 500), "turned turned > whole", dims=(500, 300),
         strides=[(2400, 8), (2400, 8), (8, 4000)], last_access="packed"),
    case((300, 500), "turned turned > turned", dims=(1, 150_000)),
    case((2000, 4000), "column row > whole", dims=(2000, 4000),
         strides=[(8, 0), (0, 8), (32000, 8)], access="direct direct streamed"),
    # Many small matrices do not make small tiles.
    case((100_000, 3, 3), "whole inner > whole", dims=(3, 3, 100_000), cells=lambda n: n >= 128,
         split=2, balanced=True),
    case((100_000, 3, 20), "whole inner > whole", dims=(3, 100_000, 20)),
    # Reductions: over all axes, none, the last, the first, one between, several.
    *[
        case(shape, "whole", tuple(range(len(shape))), 0, dims=(1, N), reduced=(True, True),
             partial=True, last=KernelOperand(8, (0, 0), 8, "direct"), balanced=True)
        for shape in [(N,), CUBE]
    ],
    case((N,), "whole", (), 0, reduced=(False, False), partial=False,
         last=KernelOperand(8, (0, 8), 0, "direct")),
    *[
        case((N // n, n), "whole", (1,), 0, dims=(N // n, n), reduced=(False, True), split=0,
             partial=False, last_strides=(8, 0), balanced=True)
        for n in (50, 1000, 20_000)
    ],
    *[
        # A short one becomes the rows, and all that is added up to one sum is in one tile.
        case((N // n, n), "whole", (1,), 0, dims=(n, N // n), reduced=(True, False), split=1,
             partial=False, strides=[(8, 8 * n), (0, 8)], access="packed direct", rows=n,
             columns=lambda n: n >= 64, balanced=True)
        for n in (2, 3, 10, 15)
    ],
    *[
        case((N // n, n), "whole", (0,), 0, dims=(N // n, n), reduced=(True, False), split=0,
             partial=True, last=KernelOperand(8, (0, 8), 8 * n, "direct"), columns=n,
             rows=lambda n: n >= 32, balanced=True)
        for n in (3, 10, 50, 1000)
    ],
    case((400, 20_000), "whole", (0,), 0, split=1, partial=False, rows=lambda n: n >= 16,
         last=KernelOperand(8, (0, 8), 0, "direct"), tasks=lambda n: n >= module.ENOUGH_TASKS,
         columns=lambda n: 0.5 <= n / module.ACCUMULATED_COLUMNS <= 1),
    case(CUBE, "whole", (1,), 0, dims=CUBE, reduced=(False, True, False), split=0, partial=False,
         last_strides=(1600, 0, 8), tile=(200, 200)),
    case(CUBE, "whole", (0, 1), 0, dims=(40_000, 200), reduced=(True, False), last_strides=(0, 8),
         balanced=True),
    case(CUBE, "whole", (1, 2), 0, dims=(200, 40_000), reduced=(False, True), last_strides=(8, 0),
         balanced=True),
    case(CUBE, "whole", (0, 2), 0, dims=CUBE, reduced=(True, False, True), last_strides=(0, 8, 0),
         balanced=True),
    case((3000, 2000), "turned", (0,), 0, dims=(2000, 3000), reduced=(False, True),
         strides=[(24_000, 8), (8, 0)], access="direct direct"),
    case((3000, 2000), "turned", (0, 1), 0, dims=(1, 6_000_000)),
    *[
        # sum((x[:, None, :] - y[None, :, :])**2, axis=-1)
        case((1000, 1000, n), "inner last", (2,), reduced=(False, n == 3, n == 50), split=0,
             partial=False, balanced=True)
        for n in (3, 50)
    ],
    case((8000, 1000), "whole > whole", (1,), reduced=(False, True),
         strides=[(8000, 8), (8000, 8), (8, 0)]),
]  # fmt: skip


@for_each(("shape", "words", "axes", "width", "expected"), TYPICAL)
def test_typical_schedules(shape, words, axes, width, expected):
    plan = planned(shape, words, axes, width)
    last = plan.operands[-1]
    facts = {
        **plan._asdict(),
        "rows": plan.tile[0],
        "columns": plan.tile[1],
        "cells": prod(plan.tile),
        "access": access(plan),
        "strides": [operand.strides for operand in plan.operands],
        "last": last,
        "last_access": last.access,
        "last_strides": last.strides,
        "balanced": balanced(plan),
    }
    for name, value in expected.items():
        good = value(facts[name]) if callable(value) else facts[name] == value
        assert good, (name, facts[name])


@for_each(("least", "is_exact"), [(module.EXACT_PARTIAL_MIN, True), (module.PARTIAL_MIN, False)])
def test_exact_reductions_are_divided_sooner(least, is_exact):
    for size in (least, least + 1):
        plan = planned((size,), "whole", (0,), 0, is_exact=is_exact)
        assert plan.partial == (plan.tasks > 1) == (size > least)


@for_each(
    ("box", "dims", "merged"),
    [
        (((1, 9), (0, 20), (0, 30)), (1, 6000), ((0, 1), (600, 5400))),
        (((0, 10), (2, 20), (0, 30)), (10, 600), ((0, 10), (60, 600))),
        (((0, 10), (0, 20), (0, 7)), (200, 30), ((0, 200), (0, 7))),
        (((1, 9), (2, 20), (3, 30)), (10, 20, 30), ((1, 9), (2, 20), (3, 30))),
    ],
)
def test_boxes_keep_axes_apart(box, dims, merged):
    layout = operand("whole", (10, 20, 30))
    layouts = [layout._replace(box=box), layout._replace(role="output")]
    plan = schedule((10, 20, 30), layouts, 0)
    assert plan.dims == dims
    assert [each.box for each in plan.operands] == [merged, None]
    assert access(plan) == "packed direct"


@for_each("shape", [(0,), (0, 5), (5, 0), (3, 0, 4)])
def test_a_space_of_no_element(shape):
    strides = tuple(range(8, 8 * len(shape) + 8, 8))
    for inner in (strides, strides[::-1]):
        layouts = [OperandLayout(inner, 8, "input"), OperandLayout(strides[::-1], 8, "output")]
        plan = schedule(shape, layouts, 8)
        assert 0 in plan.dims
        assert plan.tasks == 1
        assert min(plan.tile) >= 1
        assert visited(plan).size == 0


@for_each("itemsize", [4, 8])
@for_each("step", [-3, -2, -1, 2, 3])
@for_each("loops", [0, 1, 2, 3])
def test_loops_read_in_steps_what_no_copy_makes_faster(itemsize, step, loops):
    x = OperandLayout((step * itemsize,), itemsize, "input")
    plain = OperandLayout((itemsize,), itemsize, "input")
    layouts = [x, x, plain, plain._replace(role="output")]
    is_slow = step == -1 or (step == 2 and itemsize == 4)
    expected = "direct" if 0 < loops <= 2 and not is_slow else "packed"
    for size in (10_000, 30_000):
        plan = schedule((size,), layouts, 8, loops=loops)
        assert access(plan) == f"{expected} {expected} direct direct"
    large = module.STEPPED_TRAFFIC // itemsize
    assert access(schedule((large,), layouts, 8, loops=loops)).startswith("packed packed")


def test_what_loops_do_not_read_in_steps():
    shape, rows = (200, 300), OperandLayout((4800, 16), 8, "input")
    output = OperandLayout((2400, 8), 8, "output")
    assert access(schedule(shape, [rows, output], 8, loops=1)) == "direct direct"
    for other in (
        rows._replace(box=((0, 100), (0, 300))),
        rows._replace(drawn=True),
        rows._replace(strides=(16, 3200)),  # it lies across the output
        rows._replace(role="output"),
    ):
        plan = schedule(shape, [rows, other, output], 8, loops=1)
        assert plan.operands[0].access == "packed"
    layouts = [OperandLayout((160, 16), 8, "input"), OperandLayout((88, 8), 8, "output")]
    assert access(schedule((6000, 10), layouts, 8, loops=1)) == "packed packed"


@for_each("shape", [(N,), (N // 10, 10), (50, 4), (3, 3, N // 9), (1,), ()])
def test_scalars_that_are_spread_are_packed_once(shape):
    whole, scalar = operand("whole", shape), operand("scalar", shape)
    layouts = [whole, scalar, whole._replace(role="output")]
    direct = schedule(shape, layouts, 8)
    layouts[1] = scalar._replace(materialise_scalar=True)
    spread = schedule(shape, layouts, 8)
    assert [plan.operands[1].access for plan in (direct, spread)] == ["direct", "invariant"]
    # All else is as it was.
    operands = [*direct.operands]
    operands[1] = operands[1]._replace(access="invariant")
    assert spread == direct._replace(operands=tuple(operands))


def test_partial_accumulators_stay_few():
    # Too many columns for copies, too few for tiles that are tasks.
    for rows, columns in [(40, 3000), (200, 6000), (3000, 6000)]:
        plan = planned((rows, columns), "whole", (0,), 0)
        copies = plan.tasks if plan.partial else 1
        assert (copies - 1) * columns <= min(module.MAX_PARTIALS, rows * columns // 16)
        assert plan.tasks > 1
