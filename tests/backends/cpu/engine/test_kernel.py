"""The extension and the NumPy machine, against each other and against plain NumPy.

``sanitize.sh`` in tests runs these tests under AddressSanitizer and valgrind.
"""

from __future__ import annotations

import os
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from array_api_nx.backends.cpu.engine import loops
from array_api_nx.backends.cpu.engine.kernel import (
    Access,
    Instruction,
    Kernel,
    KernelOperand,
    Reduction,
    prepare,
)
from array_api_nx.native import native
from array_api_nx.primitives import table as p
from array_api_nx.primitives.table import Primitive
from tests.support.numpy_kernels import NumPyKernel
from tests.support.programs import needs_extension, same_bits
from tests.support.tables import for_each

pytestmark = needs_extension

NDArray = np.ndarray[Any, Any]

MACHINES = [NumPyKernel, prepare]


@pytest.fixture(params=MACHINES)
def make(request: pytest.FixtureRequest) -> Any:
    """What makes a program of a kernel."""
    return request.param


F4, F8, I8, B1 = map(np.dtype, (np.float32, np.float64, np.int64, np.bool_))


def found(op: Primitive, dtype: np.dtype[Any]) -> loops.Loop:
    loop = loops.find(op, dtype)
    assert loop is not None
    return loop


def casting(source: np.dtype[Any], target: np.dtype[Any]) -> loops.Loop:
    loop = loops.cast(source, target)
    assert loop is not None
    return loop


def reducing(op: Primitive, dtype: np.dtype[Any]) -> tuple[loops.Loop, NDArray]:
    reduction = loops.reduction(op, dtype)
    assert reduction is not None
    return reduction


# ---------------------------------------------------------------------- random kernels


class Case(NamedTuple):
    """A kernel, and its memories with the byte positions of their first elements."""

    kernel: Kernel
    memories: list[tuple[NDArray, int]]

    def copies(self) -> list[tuple[NDArray, int]]:
        return [(memory.copy(), offset) for memory, offset in self.memories]


class Value(NamedTuple):
    slot: int
    dtype: np.dtype[Any]


OPERATIONS: list[loops.Loop] = [
    *[found(op, F8) for op in (p.ADD, p.MULTIPLY, p.DIVIDE, p.SQRT, p.EXP, p.MAXIMUM, p.LESS)],
    *[found(op, F4) for op in (p.SUBTRACT, p.MULTIPLY, p.LOG, p.SQUARE, p.MINIMUM, p.EQUAL)],
    *[found(op, I8) for op in (p.ADD, p.MULTIPLY, p.ABS, p.GREATER, p.FLOOR_DIVIDE)],
    *[found(op, B1) for op in (p.LOGICAL_NOT, p.LOGICAL_AND)],
    *[casting(a, b) for a, b in ((F8, F4), (F4, F8), (I8, F8), (B1, I8), (I8, B1), (F4, B1))],
    *[loops.select(dtype) for dtype in (F8, F4, I8, B1)],
]
REDUCTIONS = [
    *[reducing(op, dtype) for op in (p.SUM, p.MAX) for dtype in (F4, F8, I8)],
    *[reducing(p.VAR, dtype) for dtype in (F4, F8)],
    reducing(p.ANY, B1),
    reducing(p.COUNT_NONZERO, B1),
]


def numbers(dtype: np.dtype[Any], size: int, seed: int) -> NDArray:
    rng = np.random.default_rng(seed)
    if dtype.kind in "bi":
        return rng.integers(0 if dtype.kind == "b" else -9, 2, size).astype(dtype)
    ordinary = rng.standard_normal(size).astype(dtype)
    if seed % 3 == 0:
        ordinary[rng.random(size) < 0.1] = rng.choice([0.0, np.inf, np.nan, 1e30])
    return ordinary


@st.composite
def cases(draw: st.DrawFn) -> Case:
    dims = (
        *draw(st.lists(st.integers(1, 3), max_size=2)),
        draw(st.integers(0, 20)),
        draw(st.integers(0, 70)),
    )
    # A few tiles each way, the last ones perhaps smaller.
    rows, columns = [max(1, -(-n // draw(st.integers(1, 3)))) for n in dims[-2:]]
    tile = rows, columns
    split = draw(st.integers(0, len(dims) - 1))
    unit = tile[split - len(dims) + 2] if split >= len(dims) - 2 else 1
    step = unit * draw(st.integers(1, 4))
    tasks = max(1, -(-dims[split] // step))
    operands: list[KernelOperand] = []
    memories: list[tuple[NDArray, int]] = []
    values: list[Value] = []

    def layout(itemsize: int, output: bool) -> tuple[tuple[int, ...], int, int]:
        """Strides, bytes of memory, and where the first element is."""
        order = (
            draw(st.permutations(range(len(dims)))) if draw(st.booleans()) else [*range(len(dims))]
        )
        strides = [0] * len(dims)
        low, reach = 0, draw(st.sampled_from([1, 1, 1, 2])) * itemsize
        for dim in reversed(order):
            kind = draw(st.sampled_from("ffffr" if output else "fffrb"))
            if kind == "b":
                continue
            strides[dim] = reach if kind == "f" else -reach
            reach *= max(dims[dim], 1)
            if kind == "r" and dims[dim] > 0:
                low -= (dims[dim] - 1) * strides[dim]
        return tuple(strides), reach, low

    def access(itemsize: int, strides: tuple[int, ...], output: bool) -> Access:
        allowed: list[Access] = ["packed"]
        if strides[-1] in (0, itemsize):
            allowed.append("direct")
        if output:
            allowed.append("streamed")
        if not output and not any(strides[:-1]) and (tile[1] >= dims[-1] or strides[-1] == 0):
            allowed.append("invariant")
        return draw(st.sampled_from(allowed))

    for seed, dtype in enumerate((F8, F4, I8, B1, *draw(st.lists(st.sampled_from([F8, F4]))))):
        strides, size, first = layout(dtype.itemsize, False)
        operands.append(
            KernelOperand(dtype.itemsize, strides, 0, access(dtype.itemsize, strides, False))
        )
        memories.append(
            (numbers(dtype, size // dtype.itemsize, draw(st.integers(0, 9)) + seed), first)
        )
        values.append(Value(seed, dtype))
    stores = draw(st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=3))
    outputs: list[Value] = []
    for loop in stores:
        itemsize = loop.output.itemsize
        strides, size, first = layout(itemsize, True)
        outputs.append(Value(len(operands), loop.output))
        operands.append(KernelOperand(itemsize, strides, 0, access(itemsize, strides, True)))
        memories.append((np.zeros(size // itemsize, loop.output), first))
    reduced = draw(st.sets(st.integers(0, len(dims) - 1), min_size=1))
    reductions = draw(st.lists(st.sampled_from(REDUCTIONS), max_size=2))
    accumulators: list[int] = []
    for loop, identity in reductions:
        itemsize = loop.output.itemsize
        accumulator_strides = [0] * len(dims)
        kept = itemsize
        for dim in reversed(range(len(dims))):
            if dim not in reduced:
                accumulator_strides[dim] = kept
                kept *= max(dims[dim], 1)
        partial = split in reduced
        accumulators.append(len(operands))
        operands.append(
            KernelOperand(itemsize, tuple(accumulator_strides), kept if partial else 0, "direct")
        )
        copies = tasks if partial else 1
        memories.append((np.full(kept // itemsize * copies, identity, loop.output), 0))

    registers: list[int] = []
    live: dict[int, Value] = {}
    program: list[Instruction | Reduction] = []

    def source(dtype: np.dtype[Any]) -> int:
        return draw(
            st.sampled_from([v for v in [*values, *live.values()] if v.dtype == dtype])
        ).slot

    for _ in range(draw(st.integers(0, 8))):
        loop = draw(st.sampled_from(OPERATIONS))
        sources = tuple([source(dtype) for dtype in loop.inputs])
        fitting = [i for i, itemsize in enumerate(registers) if itemsize == loop.output.itemsize]
        if fitting and draw(st.booleans()):
            register = draw(st.sampled_from(fitting))  # perhaps one of the sources
        else:
            register = len(registers)
            registers.append(loop.output.itemsize)
        target = len(operands) + register
        program.append(Instruction(loop, sources, target))
        live[target] = Value(target, loop.output)
    for loop, value in zip(stores, outputs, strict=True):
        program.append(
            Instruction(loop, tuple([source(dtype) for dtype in loop.inputs]), value.slot)
        )
        values.append(value)
    for (loop, identity), target in zip(reductions, accumulators, strict=True):
        rows, columns = len(dims) - 2 in reduced, len(dims) - 1 in reduced
        program.append(Reduction(loop, source(loop.inputs[1]), target, rows, columns, identity))
    packed = {slot for each in program for slot in read_adjacent(each)}
    for value in range(4):
        if value not in packed and operands[value].access == "packed" and draw(st.booleans()):
            operands[value] = operands[value]._replace(access="direct")
    kernel = Kernel(
        dims, tile, split, step, tasks, tuple(operands), tuple(registers), tuple(program)
    )
    return Case(kernel, memories)


def read_adjacent(step: Instruction | Reduction) -> tuple[int, ...]:
    """What the step reads that has to be adjacent, so that its bits are what they are."""
    if isinstance(step, Reduction):
        return (step.source,)
    return () if step.loop.is_exact else step.sources


def evaluated(case: Case) -> list[NDArray]:
    """The memories after a plain evaluation of whole arrays; accumulators as the reductions of
    all tasks."""
    kernel = case.kernel
    memories = case.copies()
    dtypes = {
        step.target: step.loop.output for step in kernel.program if step.target < len(memories)
    }
    slots: dict[int, NDArray] = {}
    for slot, ((memory, offset), operand) in enumerate(zip(memories, kernel.operands, strict=True)):
        dtype = dtypes.get(slot, memory.dtype)
        if not operand.task_stride:
            slots[slot] = np.ndarray(kernel.dims, dtype, memory, offset, operand.strides)
    for step in kernel.program:
        if isinstance(step, Reduction):
            axes = tuple(
                [i for i, stride in enumerate(kernel.operands[step.target].strides) if stride == 0]
            )
            if step.loop.ufunc is None:
                continue  # `test_moments`
            result = step.loop.ufunc.reduce(
                slots[step.source], axis=axes, dtype=step.loop.output, initial=step.identity
            )
            memories[step.target] = np.asarray(result), 0
            continue
        # Copies, because NumPy's own bits differ where it reads memory backwards.
        result = np.empty(kernel.dims, step.loop.output)
        assert step.loop.call is not None
        step.loop.call(*[slots[slot].copy() for slot in step.sources], out=result)
        if step.target < len(memories):
            slots[step.target][...] = result
        else:
            slots[step.target] = result
    return [memory for memory, _ in memories]


def check_case(case: Case) -> None:
    kernel = case.kernel
    with np.errstate(all="ignore"):
        expected = evaluated(case)
    results = []
    for make in MACHINES:
        program = make(kernel)
        for threads in (1, 4):
            memories = case.copies()
            flags = program.run(memories, threads)
            results.append((flags, [memory for memory, _ in memories]))
    for flags, memories in results[1:]:
        assert flags == results[0][0]
        assert all([same_bits(a, b) for a, b in zip(memories, results[0][1], strict=True)])
    if 0 in kernel.dims:
        assert not any(results[0][0])
        return
    reductions = {step.target: step for step in kernel.program if isinstance(step, Reduction)}
    for slot, (actual, wanted) in enumerate(zip(results[0][1], expected, strict=True)):
        if slot not in reductions:
            assert same_bits(actual, wanted)
            continue
        step = reductions[slot]
        if step.loop.ufunc is None:
            continue  # `test_moments`
        if kernel.operands[slot].task_stride:
            parts = actual.reshape(kernel.tasks, -1)
            with np.errstate(all="ignore"):
                actual = step.loop.ufunc.reduce(parts, axis=0)
        if step.loop.ufunc in (np.add, np.multiply) and wanted.dtype.kind == "f":
            continue  # `test_reductions` has numbers whose sums and products are exact
        np.testing.assert_array_equal(actual, wanted.ravel())


@settings(max_examples=50)
@given(cases())
def test_random_kernels(case: Case) -> None:
    check_case(case)


# ---------------------------------------------------------------------- reductions

# Rows and columns reduced; the first dim always is, unless it is what tasks share out.
MODES = list(product([False, True], repeat=2))


def reduction_case(
    op: Primitive, x: NDArray, tile: tuple[int, int], mode: tuple[bool, bool], access: Access
) -> Case:
    """Reduce `x`, of three dims, along the first, and along the last two as `mode` says."""
    loop, identity = reducing(op, x.dtype)
    reduced = True, *mode
    strides, kept = [0, 0, 0], loop.output.itemsize
    for dim in (2, 1):
        if not reduced[dim]:
            strides[dim] = kept
            kept *= x.shape[dim]
    tasks = x.shape[0]
    accumulators = np.full(kept // loop.output.itemsize * tasks, identity, loop.output)
    memory = x if x.base is None else x.base
    first = x.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    operands = (
        KernelOperand(x.itemsize, x.strides, 0, access),
        KernelOperand(loop.output.itemsize, tuple(strides), kept, "direct"),
    )
    program = (Reduction(loop, 0, 1, *mode, identity),)
    kernel = Kernel(x.shape, tile, 0, 1, tasks, operands, (), program)
    return Case(kernel, [(memory.ravel("K"), first), (accumulators, 0)])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op", [p.SUM, p.PROD, p.MIN, p.ALL, p.COUNT_NONZERO])
@for_each("tile", [(5, 37), (5, 20), (40, 11), (3, 16), (7, 18)])
def test_reductions(op: Primitive, tile: tuple[int, int], mode: tuple[bool, bool]) -> None:
    dtypes = [B1] if op in (p.ALL, p.COUNT_NONZERO) else [F4, F8, I8]
    for dtype in dtypes:
        values = np.random.default_rng(0).integers(-1, 2, (3, 11, 37))
        # Results of small integers are exact in whatever order; products of others do not vanish.
        exact = np.where(values == 0, 1, values).astype(dtype)
        rough = numbers(dtype, values.size, 1).reshape(values.shape)
        for x, access in product((exact, rough), ("direct", "packed")):
            for view in (x, x[:, ::-1], x.transpose(0, 2, 1).copy().transpose(0, 2, 1)):
                if view.strides[-1] != view.itemsize and access == "direct":
                    continue
                case = reduction_case(op, view, tile, mode, access)  # type: ignore[arg-type]
                check_case(case)
                if x is exact:
                    memories = case.copies()
                    prepare(case.kernel).run(memories, 2)
                    loop, _ = reducing(op, dtype)
                    assert loop.ufunc is not None
                    axes = (0, *[dim for dim in (1, 2) if mode[dim - 1]])
                    expected = loop.ufunc.reduce(view, axis=axes, dtype=loop.output)
                    parts = memories[1][0].reshape(3, -1)
                    np.testing.assert_array_equal(
                        loop.ufunc.reduce(parts, axis=0), np.ravel(expected)
                    )


@pytest.mark.parametrize("mode", MODES)
@for_each("tile", [(5, 37), (5, 20), (40, 11), (3, 16), (7, 18)])
def test_moments(tile: tuple[int, int], mode: tuple[bool, bool]) -> None:
    axes = tuple([dim for dim in (1, 2) if mode[dim - 1]])
    for dtype, shift in product([F4, F8], [0, 1000]):
        x = (np.random.default_rng(0).standard_normal((3, 11, 37)) + shift).astype(dtype)
        for view in (x, x[:, ::-1], x.transpose(0, 2, 1).copy().transpose(0, 2, 1)):
            access: Access = "direct" if view.strides[-1] == view.itemsize else "packed"
            case = reduction_case(p.VAR, view, tile, mode, access)
            check_case(case)
            memories = case.copies()
            prepare(case.kernel).run(memories, 2)
            moments = memories[1][0].reshape(3, -1)
            assert (moments["count"] == x[0].size // moments[0].size).all()
            exact = view.astype(F8)
            mean = exact.mean(axis=axes).reshape(3, -1)
            squares = (exact.var(axis=axes) * (exact[0].size // mean[0].size)).reshape(3, -1)
            error = 4 * np.finfo(dtype).eps * (1 + shift)
            for actual in (
                moments["reference"] + moments["offset"],
                moments["sum"] / moments["count"],
            ):
                np.testing.assert_allclose(actual, mean, atol=error, rtol=1e-15)
            np.testing.assert_allclose(moments["squares"], squares, rtol=error)


@for_each(
    "values",
    [
        [3.0] * 70,
        [0.1] * 70,
        [1.0, np.inf, 2.0, 5.0],
        [np.inf, -np.inf, 1.0],
        [np.nan, 1.0],
        [1e200] * 3 + [-1e200] * 3,
        [1e308] * 40,
        [-0.0] * 3,
    ],
)
def test_moments_of_special_values(make: Any, values: list[float]) -> None:
    x = np.array(values)
    for tile, columns in product((1, 2, len(x)), (False, True)):
        shape = (1, 1, len(x)) if columns else (1, len(x), 1)
        case = reduction_case(
            p.VAR, x.reshape(shape), (tile, tile), (not columns, columns), "direct"
        )
        make(case.kernel).run(case.memories, 1)
        moments = case.memories[1][0]
        actual = (moments["sum"] / moments["count"])[0]
        with np.errstate(all="ignore"):
            mean, squares = np.mean(x), np.var(x) * len(x)
        if np.isinf(mean) and np.isfinite(x).all():
            # The sum of a tile overflows, or does not.
            assert actual in (mean, x[0])
            assert moments["squares"][0] in (squares, 0)
            continue
        np.testing.assert_allclose(actual, mean, rtol=1e-15, atol=1e-15)
        np.testing.assert_allclose(moments["squares"][0], squares, atol=1e-30)


@pytest.mark.parametrize("dtype", [F4, F8], ids=str)
@given(length=st.integers(1, 3000), step=st.sampled_from([1, 2, -1]), seed=st.integers(0, 5))
def test_runs_of_all_lengths(dtype: np.dtype[Any], length: int, step: int, seed: int) -> None:
    x = numbers(dtype, length * abs(step), seed)[::step]
    access: Access = "direct" if step == 1 else "packed"
    for op, shape in product((p.SUM, p.VAR), ((1, 1, length), (1, length, 1))):
        tile = 1 << 10, 1 << 12
        check_case(reduction_case(op, x.reshape(shape), tile, (True, True), access))


@pytest.mark.parametrize("mode", [(False, True), (True, True)])
@pytest.mark.parametrize("op", [p.SUM, p.VAR, p.MAX, p.ANY, p.COUNT_NONZERO])
def test_reductions_of_single_rows(op: Primitive, mode: tuple[bool, bool]) -> None:
    floats = [F4, F8]
    others = [*floats, I8] if op in (p.SUM, p.MAX) else [B1]
    for dtype in floats if op is p.VAR else others:
        for columns, tile in ((40, 8), (45, 8), (45, 20), (45, 1), (45, 50)):
            x = numbers(dtype, 2 * columns, 1).reshape(2, 1, columns)
            check_case(reduction_case(op, x, (1, tile), mode, "direct"))


@pytest.mark.parametrize("dtype", [F4, F8, B1], ids=str)
def test_streamed_results(make: Any, dtype: np.dtype[Any]) -> None:
    # All beginnings and lengths, in rows of which some are whole tiles.
    x = numbers(dtype, 3 * 200, 0)
    loop = casting(dtype, dtype)
    for first, columns, tile in product(range(5), (1, 2, 9, 40, 77, 150), (70, 200)):
        out = np.zeros_like(x)
        size = dtype.itemsize
        strides = 200 * size, size
        operands = (
            KernelOperand(size, strides, 0, "direct"),
            KernelOperand(size, strides, 0, "streamed"),
        )
        program = (Instruction(loop, (0,), 1),)
        kernel = Kernel((3, columns), (2, tile), 0, 2, 2, operands, (), program)
        make(kernel).run([(x, first * size), (out, first * size)], 1)
        expected = np.zeros((3, 200), dtype)
        part = slice(first, first + columns)
        expected[:, part] = x.reshape(3, 200)[:, part]
        assert same_bits(out, expected.ravel())


@pytest.mark.parametrize("access", ["direct", "packed", "streamed"])
def test_results_are_reduced_as_well(access: Access) -> None:
    x = np.random.default_rng(0).standard_normal(7 * 40).astype(F4)
    operands = (
        KernelOperand(4, (160, 4), 0, "direct"),
        KernelOperand(4, (200, 4), 0, access),
        KernelOperand(4, (0, 0), 0, "direct"),
    )
    loop, identity = reducing(p.SUM, F4)
    program = (
        Instruction(found(p.MULTIPLY, F4), (0, 0), 1),
        Reduction(loop, 1, 2, True, True, identity),
    )
    kernel = Kernel((7, 37), (4, 37), 0, 8, 1, operands, (), program)
    check_case(Case(kernel, [(x, 0), (np.zeros(7 * 50, F4), 0), (np.zeros(1, F4), 0)]))


@pytest.mark.parametrize("mode", MODES)
def test_long_sums_lose_no_more_than_numpys(mode: tuple[bool, bool]) -> None:
    x = np.random.default_rng(0).random((2, 1000, 40), F4)
    case = reduction_case(p.SUM, x, (25, 40), mode, "direct")
    memories = case.copies()
    prepare(case.kernel).run(memories, 2)
    actual = memories[1][0].reshape(2, -1).sum(axis=0, dtype=F8)
    axes = (0, *[dim for dim in (1, 2) if mode[dim - 1]])
    expected = x.sum(axis=axes, dtype=F8).ravel()
    np.testing.assert_allclose(actual, expected, rtol=2e-6)


@st.composite
def boxed_cases(draw: st.DrawFn) -> tuple[Case, NDArray]:
    """A kernel that copies and reduces an input with a box, and what it should see of it."""
    dims = draw(st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(1, 70)))
    bounds = [draw(st.sets(st.integers(0, n), min_size=2, max_size=2)) for n in dims]
    box = tuple([(min(each), max(each)) for each in bounds])
    dtype = draw(st.sampled_from([F8, F4, B1]))
    shape = tuple([end - start for start, end in box])
    inside = numbers(dtype, int(np.prod(shape)), draw(st.integers(1, 2))).reshape(shape)
    order = draw(st.permutations(range(3)))
    laid_out = np.ascontiguousarray(inside.transpose(order)).transpose(np.argsort(order))
    if draw(st.booleans()):
        laid_out = laid_out[:, ::-1]
    whole = np.full(dims, dtype.type(1))
    whole[tuple([slice(*each) for each in box])] = laid_out
    # Memory that holds the box and nothing else.
    memory = np.zeros(inside.size, dtype)
    strides = laid_out.strides
    low = sum([min(0, (n - 1) * stride) for n, stride in zip(shape, strides, strict=True)])
    np.ndarray(shape, dtype, memory, -low, strides)[...] = laid_out
    first = -low - sum([start * s for (start, _), s in zip(box, strides, strict=True)])
    tile = draw(st.integers(1, dims[1])), draw(st.integers(1, dims[2]))
    split = draw(st.integers(0, 2))
    step = (1, *tile)[split] * draw(st.integers(1, 3))
    tasks = -(-dims[split] // step)
    mode = draw(st.booleans()), draw(st.booleans())
    loop, identity = reducing(
        p.ANY if dtype == B1 else draw(st.sampled_from([p.SUM, p.VAR, p.MAX])), dtype
    )
    kept, accumulator_strides = identity.itemsize, [0, 0, 0]
    for dim in (2, 1):
        if not mode[dim - 1]:
            accumulator_strides[dim] = kept
            kept *= dims[dim]
    size = dtype.itemsize
    row_major = dims[1] * dims[2] * size, dims[2] * size, size
    operands = (
        KernelOperand(size, strides, 0, "packed", box, 1),
        KernelOperand(size, (0, 0, 0), 0, "direct"),
        KernelOperand(size, row_major, 0, draw(st.sampled_from(["direct", "packed"]))),
        KernelOperand(identity.itemsize, tuple(accumulator_strides), kept, "direct"),
    )
    program = (Instruction(casting(dtype, dtype), (0,), 2), Reduction(loop, 0, 3, *mode, identity))
    kernel = Kernel(dims, tile, split, step, tasks, operands, (), program)
    out = np.zeros(whole.size, dtype)
    accumulators = np.full(kept // identity.itemsize * tasks, identity)
    return Case(
        kernel, [(memory, first), (np.ones(1, dtype), 0), (out, 0), (accumulators, 0)]
    ), whole


@settings(max_examples=80)
@given(boxed_cases())
def test_boxes(case: tuple[Case, NDArray]) -> None:
    described, whole = case
    found = []
    for make in MACHINES:
        memories = described.copies()
        make(described.kernel).run(memories, 2)
        assert same_bits(memories[2][0], whole.ravel())
        found.append(memories[3][0])
    assert same_bits(found[0], found[-1])
    if described.kernel.program[1].loop.ufunc is np.maximum:
        assert found[0].max() == whole.max()


# ---------------------------------------------------------------------- errors


def division(n: int = 6, access: Access = "direct") -> Case:
    """out = 1 / (x * x), tile by tile, where x is 0, 1, ..."""
    operands = (
        KernelOperand(8, (0, 8), 0, access),
        KernelOperand(8, (0, 0), 0, "direct"),
        KernelOperand(8, (0, 8), 0, access),
    )
    program = (
        Instruction(found(p.MULTIPLY, F8), (0, 0), 3),
        Instruction(found(p.DIVIDE, F8), (1, 3), 2),
    )
    kernel = Kernel((1, n), (1, 2), 1, 2, -(-n // 2), operands, (8,), program)
    return Case(kernel, [(np.arange(float(n)), 0), (np.ones(1), 0), (np.zeros(n), 0)])


@pytest.mark.parametrize("threads", [1, 3])
def test_flags_are_of_the_step_that_raised_them(make: Any, threads: int) -> None:
    case = division()
    program = make(case.kernel)
    assert program.run(case.memories, threads) == (0, 1)
    x, out = case.memories[0][0], case.memories[2][0]
    assert out.tolist() == [np.inf, 1, 1 / 4, 1 / 9, 1 / 16, 1 / 25]
    x[:] = [1, 2, 3, 4, 1e200, 5]
    assert program.run(case.memories, threads) == (2, 0)
    x[:] = [1, 2, 1e-200, 4, 1, 5]
    assert program.run(case.memories, threads) == (4, 1)
    x[:] = np.nan
    assert program.run(case.memories, threads) == (0, 0)
    with np.errstate(divide="ignore"):
        np.divide(1.0, x * 0 + 0.0)  # what was raised before does not count
    x[:] = 1
    assert program.run(case.memories, threads) == (0, 0)


def test_flags_of_invalid_operations(make: Any) -> None:
    case = division()
    root = Instruction(found(p.SQRT, F8), (0,), 2)
    case.memories[0][0][3] = -1
    assert make(case.kernel._replace(program=(root,))).run(case.memories, 1) == (8,)


def test_operands_stay_inside_their_memory(make: Any) -> None:
    case = division()
    x, one, out = [memory for memory, _ in case.memories]
    program = make(case.kernel)
    for offset in (-8, 8, 48, 1 << 40, -(1 << 40)):
        with pytest.raises(ValueError, match="operand 0 covers the bytes"):
            program.run([(x, offset), (one, 0), (out, 0)], 1)
        with pytest.raises(ValueError, match="operand 2 covers the bytes"):
            program.run([(x, 0), (one, 0), (out, offset)], 1)
    with pytest.raises(ValueError, match="operand 0 covers the bytes 0 to 48, its memory has 40"):
        program.run([(x[:5], 0), (one, 0), (out, 0)], 1)
    # Backwards, over several dims, and in copies for each task.
    for strides, stride, low, high in [
        ((0, -8), 0, -40, 8),
        ((0, 16), 0, 0, 88),
        ((8, -8), 0, -40, 8),
        ((0, 8), 80, 0, 208),
    ]:
        operand = KernelOperand(8, strides, stride, "packed")
        kernel = case.kernel._replace(operands=(operand, *case.kernel.operands[1:]))
        memory = np.zeros((high - low) // 8)
        make(kernel).run([(memory, -low), (one, 0), (out, 0)], 1)
        for wrong in (-low + 8, -low - 8):
            with pytest.raises(ValueError, match="operand 0 covers the bytes"):
                make(kernel).run([(memory, wrong), (one, 0), (out, 0)], 1)


def test_read_only_memory_is_not_written(make: Any) -> None:
    case = division()
    case.memories[0][0].flags.writeable = False
    make(case.kernel).run(case.memories, 1)
    case.memories[2][0].flags.writeable = False
    with pytest.raises(ValueError, match="operand 2 is written, but its memory is read-only"):
        make(case.kernel).run(case.memories, 1)


WRONG: dict[str, dict[str, Any]] = {
    "dims must have 2 to 32 items": {"dims": (6,)},
    "a dim must be from 0": {"dims": (1, -6)},
    "a tile.s rows or columns must be from 1": {"tile": (0, 2)},
    "split must be from 0 to 1": {"split": 2},
    "step must be from 1": {"step": 0},
    "4 tasks of step 2 do not fit dim 1, which has 6": {"tasks": 4},
    "step 3 must be a multiple of the tile's 2 along dim 1": {"step": 3, "tasks": 2},
    "operands must have 1 to 256 items": {
        "operands": (KernelOperand(8, (0, 0), 0, "direct"),) * 257,
    },
    "registers must have 0 to 256 items": {"registers": (8,) * 257},
    "program must have 1 to 512 items": {"program": ()},
    "too large for scratch memory": {
        "dims": (1 << 50, 1 << 50), "tile": (1 << 50, 1 << 50), "tasks": 1, "step": 1 << 50,
        "operands": (KernelOperand(8, (0, 0), 0, "direct"),) * 3,
        "program": (Reduction(*reducing(p.SUM, F8)[:1], 0, 2, True, True, reducing(p.SUM, F8)[1]),),
    },
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_wrong_kernels(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prepare(division().kernel._replace(**WRONG[message]))


WRONG_OPERANDS: dict[str, tuple[KernelOperand, ...]] = {
    "an itemsize must be from 1 to 40, not 64": (KernelOperand(64, (0, 8), 0, "direct"),),
    "a box must have 2 to 2 items": (KernelOperand(8, (0, 8), 0, "packed", ((0, 1),), 1),),
    "start must be from 0 to 6, not 7": (
        KernelOperand(8, (0, 8), 0, "packed", ((0, 1), (7, 8)), 1),
    ),
    "end must be from 3 to 6, not 7": (KernelOperand(8, (0, 8), 0, "packed", ((0, 1), (2, 7)), 1),),
    "end must be from 3 to 6, not 2": (KernelOperand(8, (0, 8), 0, "packed", ((0, 1), (2, 2)), 1),),
    "fill must be from 0 to 2, not 3": (
        KernelOperand(8, (0, 8), 0, "packed", ((0, 1), (2, 4)), 3),
    ),
    "operand 0 has a box, and nothing to fill what is around it": (
        KernelOperand(8, (0, 8), 0, "packed", ((0, 1), (2, 4))),
    ),
    "operand 0 has a box; it must be an input, and packed": (
        KernelOperand(8, (0, 8), 0, "direct", ((0, 1), (2, 4)), 1),
    ),
    "operand 0 must be filled with one element of its own size": (
        KernelOperand(8, (0, 8), 0, "packed", ((0, 1), (2, 4)), 2),
    ),
    "an itemsize must be a power of 2": (KernelOperand(6, (0, 8), 0, "direct"),),
    "strides must have 2 to 2 items": (KernelOperand(8, (0, 8, 8), 0, "direct"),),
    "access must be 'direct', 'packed', 'invariant' or 'streamed'": (
        KernelOperand(8, (0, 8), 0, "copied"),  # type: ignore[arg-type]
    ),
    "operand 2 steps by 16 bytes along the columns; pack it": (
        KernelOperand(8, (0, 8), 0, "direct"), KernelOperand(8, (0, 0), 0, "direct"),
        KernelOperand(8, (0, 16), 0, "direct"),
    ),
    "operand 0 is not the same for all tiles": (KernelOperand(8, (0, 8), 0, "invariant"),),
    "operand 0 steps by 12 bytes, which breaks the alignment": (
        KernelOperand(8, (0, 12), 0, "packed"),
    ),
    "operand 0 steps by .* too far": (KernelOperand(8, (0, 1 << 54), 0, "packed"),),
    "slot 0 has elements of 4 bytes, its loop wants 8": (KernelOperand(4, (0, 4), 0, "direct"),),
    "operand 2 is an output and cannot be broadcast": (
        KernelOperand(8, (0, 8), 0, "direct"), KernelOperand(8, (0, 0), 0, "direct"),
        KernelOperand(8, (0, 0), 0, "packed"),
    ),
}  # fmt: skip


@for_each("message", WRONG_OPERANDS)
def test_wrong_operands(message: str) -> None:
    kernel = division().kernel
    operands = WRONG_OPERANDS[message]
    with pytest.raises(ValueError, match=message):
        prepare(kernel._replace(operands=(*operands, *kernel.operands[len(operands) :])))


ADD, EXP = found(p.ADD, F8), found(p.EXP, F8)
SUM, ZERO = reducing(p.SUM, F8)
WRONG_PROGRAMS: dict[str, tuple[Instruction | Reduction, ...]] = {
    "sources must have 2 to 2 items, not 1": (Instruction(ADD, (0,), 2),),
    "the loop of moments reduces, it makes no instruction": (
        Instruction(reducing(p.VAR, F8)[0], (0, 0), 2),
    ),
    "a slot must be from 0 to 3, not 4": (Instruction(ADD, (0, 4), 2),),
    "a slot must be from 0 to 3, not -1": (Instruction(ADD, (0, 0), -1),),
    "step 0 reads register 3, which no step before has written": (Instruction(EXP, (3,), 2),),
    "register 3 cannot be the target of a reduction": (Reduction(SUM, 0, 3, True, True, ZERO),),
    r"a reduction's loop must take": (Reduction(EXP, 0, 2, True, True, ZERO),),
    "identity must be a 0-d ndarray of 8 bytes": (
        Reduction(SUM, 0, 2, True, True, np.zeros((), F4)),
    ),
    "operand 2 is both an output and accumulators": (
        Instruction(EXP, (0,), 2), Reduction(SUM, 0, 2, True, True, ZERO),
    ),
    "step 1 reads operand 2, which holds accumulators": (
        Reduction(SUM, 0, 2, True, True, ZERO), Instruction(EXP, (2,), 3),
    ),
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG_PROGRAMS)
def test_wrong_programs(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prepare(division().kernel._replace(program=WRONG_PROGRAMS[message]))


def test_fields_are_given_by_name() -> None:
    assert native is not None
    fields = division().kernel._asdict()
    for name in fields:
        some: Any = {key: value for key, value in fields.items() if key != name}
        with pytest.raises(TypeError, match=f"needs the keyword {name}"):
            native.Kernel(**some)
    garbled: Any = fields | {"program": ((ADD, (0, 0), 2),)}
    with pytest.raises(AttributeError, match="loop"):
        native.Kernel(**garbled)
    wrong_call: Any = native.Kernel
    with pytest.raises(TypeError, match="by keywords"):
        wrong_call(*fields.values())


def test_only_loops_read_what_is_not_adjacent() -> None:
    x = np.arange(120.0).reshape(1, 4, 30)[:, :, ::2]
    kernel = reduction_case(p.SUM, x, (1, 15), (True, True), "packed").kernel
    x_operand, *others = kernel.operands
    with pytest.raises(ValueError, match="operand 0 steps by 16 bytes along the columns; pack it"):
        prepare(kernel._replace(operands=(x_operand._replace(access="direct"), *others)))


def test_wrong_memories() -> None:
    case = division()
    program = prepare(case.kernel)
    x, one, out = case.memories
    for wrong, message in [
        ([x, one], "memories must have 3 to 3 items"),
        ([x, one, out, out], "memories must have 3 to 3 items"),
        ([(np.zeros(20)[::2], 0), one, out], "memory 0 must be contiguous"),
        ([(np.zeros(60, np.uint8), 1), one, out], "operand 0 is not aligned to 8 bytes"),
    ]:
        with pytest.raises(ValueError, match=message):
            program.run(wrong, 1)
    for garbled in ([(b"12345678", 0), one, out], [(x[0], "0"), one, out], [x[0], one, out], 3):
        with pytest.raises(TypeError):
            program.run(garbled, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads must be from 1"):
        program.run(case.memories, 0)
    assert not out[0].any()


@pytest.mark.parametrize("dims", [(0, 6), (1, 0), (0, 0)])
def test_nothing_runs_on_nothing(make: Any, dims: tuple[int, int]) -> None:
    case = division()
    tasks = 3 if dims[1] else 1
    assert make(case.kernel._replace(dims=dims, tasks=tasks)).run(case.memories, 2) == (0, 0)
    assert not case.memories[2][0].any()


# ---------------------------------------------------------------------- threads and references


def test_many_callers_at_once(make: Any) -> None:
    case = division(400)
    program = make(case.kernel)
    expected = case.copies()
    flags = program.run(expected, 1)

    def once(number: int) -> bool:
        memories = case.copies()
        raised = program.run(memories, 1 + number % 4)
        return raised == flags and same_bits(memories[2][0], expected[2][0])

    with ThreadPoolExecutor(4) as executor:
        assert all(executor.map(once, range(40)))


def test_references_are_kept_and_released() -> None:
    case = division()
    program = prepare(case.kernel)
    arrays = [memory for memory, _ in case.memories]
    counts = [sys.getrefcount(array) for array in arrays]
    for memories in (case.memories, case.memories[:2], [*case.memories[:2], (arrays[2], 8)]):
        for _ in range(3):
            try:
                program.run(memories, 3)
            except ValueError:
                assert memories is not case.memories
    del memories
    assert [sys.getrefcount(array) for array in arrays] == counts
    loop = loops.Loop("add", ADD.inputs, ADD.output, 0, None, ADD.call, ADD.pointer)
    alive = weakref.ref(kept := Kept(loop))
    program = prepare(case.kernel._replace(program=(Instruction(kept, (0, 0), 2),)))  # type: ignore[arg-type]
    del kept
    assert alive() is not None
    del program
    assert alive() is None


class Kept:
    """A loop that can be watched."""

    def __init__(self, loop: loops.Loop) -> None:
        self.pointer = loop.pointer


FORK = """
import os

import numpy as np

from array_api_nx.primitives import table as p
from array_api_nx.backends.cpu.engine import loops
from array_api_nx.backends.cpu.engine.kernel import Instruction, Kernel, KernelOperand, prepare

row = KernelOperand(8, (0, 8), 0, "direct")
program = (Instruction(loops.find(p.SQUARE, np.dtype(float)), (0,), 1),)
run = prepare(Kernel((1, 800), (1, 50), 1, 50, 16, (row, row), (), program)).run
x, out = np.arange(800.0), np.zeros(800)
run([(x, 0), (out, 0)], 4)
child = os.fork()
out[:] = 0
run([(x, 0), (out, 0)], 4)
assert (out == x * x).all()
if child == 0:
    os._exit(17)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forked_children_start_afresh() -> None:
    subprocess.run([sys.executable, "-c", FORK], check=True)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
def test_flags_of_integer_loops(make: Any, dtype: str) -> None:
    # NumPy raises an overflow by hand, of which the C library may tell the x87 unit alone.
    limits = np.iinfo(dtype)
    row = KernelOperand(limits.bits // 8, (0, limits.bits // 8), 0, "direct")
    program = (Instruction(found(p.FLOOR_DIVIDE, np.dtype(dtype)), (0, 1), 2),)
    kernel = Kernel((1, 4), (1, 4), 1, 4, 1, (row,) * 3, (), program)
    for first, second, flags in ((limits.min, -1, 2), (1, 0, 1), (1, 1, 0)):
        memories = [(np.full(4, value, dtype), 0) for value in (first, second, 0)]
        assert make(kernel).run(memories, 1) == (flags,)


def test_flags_of_float32_exponentials(make: Any) -> None:
    row = KernelOperand(4, (0, 4), 0, "direct")
    program = (Instruction(found(p.EXP, F4), (0,), 1),)
    kernel = Kernel((1, 20), (1, 20), 1, 20, 1, (row,) * 2, (), program)
    for value, flags in ((1000, 2), (-1000, 4), (1, 0)):
        memories = [(np.full(20, value, F4), 0), (np.zeros(20, F4), 0)]
        assert make(kernel).run(memories, 1) == (flags,)
