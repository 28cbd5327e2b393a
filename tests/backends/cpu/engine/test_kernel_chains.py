"""Steps of arithmetic that follow each other run as one, with the results, bit for bit, and the
floating-point errors of steps that run one by one."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import array_api_nx as xp
from array_api_nx.backends.cpu.engine.kernel import (
    Access,
    Instruction,
    Kernel,
    KernelOperand,
    prepare,
)
from array_api_nx.primitives import table as p
from tests.support.numpy_kernels import NumPyKernel
from tests.support.programs import needs_extension, same_bits
from tests.support.tables import for_each

from .test_kernel import F4, F8, casting, found

pytestmark = needs_extension

NDArray: TypeAlias = np.ndarray[Any, Any]
Case: TypeAlias = tuple[Kernel, list[NDArray]]

ARITHMETIC: Final = (
    p.ABS, p.ADD, p.SUBTRACT, p.MULTIPLY, p.DIVIDE, p.SQUARE, p.NEGATIVE, p.SQRT,
)  # fmt: skip
SPECIAL: Final = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-30, 1e30, 5e-324]
ACCESSES: Final[tuple[Access, ...]] = ("direct", "packed", "streamed")
REGISTERS: Final = 3  # few, so that they are used again and again


@st.composite
def chains(draw: st.DrawFn) -> Case:
    """Kernels of arithmetic on operands that lie as the elements do, or are the same along the rows
    or the columns, with an output that may be in the place of an operand. Some have one step."""
    dtype = draw(st.sampled_from([F4, F8]))
    size = dtype.itemsize
    # Columns that fill no vector, a few, or several blocks of them.
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 20) | st.integers(60, 600))
    gap = draw(st.sampled_from([0, 0, 3, -columns % 16]))  # the last: rows of whole cache lines
    tile = draw(st.integers(1, rows)), max(1, -(-columns // draw(st.integers(1, 3))))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    has_special_values = draw(st.booleans())
    strides = {
        "full": (size * (columns + gap), size),
        "row": (0, size),
        "column": (size, 0),
        "scalar": (0, 0),
    }
    operands = []
    memories = []
    for kind in ["full", *draw(st.lists(st.sampled_from(list(strides)), min_size=1, max_size=3))]:
        packed = kind == "full" and draw(st.booleans())
        operands.append(KernelOperand(size, strides[kind], 0, "packed" if packed else "direct"))
        numbers = rng.uniform(-2, 2, rows * (columns + gap)).astype(dtype)
        if has_special_values:
            chosen = rng.random(numbers.size) < 0.02
            with np.errstate(over="ignore"):
                numbers[chosen] = rng.choice(SPECIAL, chosen.sum()).astype(dtype)
        memories.append(numbers)
    output = len(operands)
    in_place = draw(st.booleans())
    access = draw(st.sampled_from(["direct", "streamed"] if in_place else list(ACCESSES)))
    if in_place and access == "direct":
        operands[0] = operands[0]._replace(access="direct")
    operands.append(KernelOperand(size, strides["full"], 0, access))
    memories.append(memories[0] if in_place else np.zeros_like(memories[0]))
    first_register = len(operands)
    written: list[int] = []
    last = 0
    program = []
    length = draw(st.integers(1, 12))
    for number in range(length):
        op = draw(st.sampled_from(ARITHMETIC))
        loop = found(op, dtype)
        slots = [*range(output), *written, last, last, last]
        sources = tuple([draw(st.sampled_from(slots)) for _ in loop.inputs])
        is_last = number == length - 1
        last = output if is_last else first_register + draw(st.integers(0, REGISTERS - 1))
        program.append(Instruction(loop, sources, last))
        written = sorted({*written, last})
    kernel = Kernel(
        (rows, columns), tile, 1, columns, 1, tuple(operands), (size,) * REGISTERS, tuple(program)
    )
    return kernel, memories


def on_a_cache_line(numbers: NDArray) -> NDArray:
    """A copy that begins where memory of the pool does. (Results can go past the caches there.)"""
    room = np.empty(numbers.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    copy = room[start : start + numbers.nbytes].view(numbers.dtype)
    copy[...] = numbers
    return copy


def results(machine: Any, case: Case) -> tuple[tuple[int, ...], NDArray]:
    """The errors of each step, and the output's memory."""
    kernel, memories = case
    copies = {id(memory): on_a_cache_line(memory) for memory in memories}
    used = [copies[id(memory)] for memory in memories]
    flags = machine(kernel).run([(memory, 0) for memory in used], 1)
    return flags, used[-1]


@settings(max_examples=300)
@given(chains())
def test_random_chains(case: Case) -> None:
    with np.errstate(all="ignore"):
        flags, expected = results(NumPyKernel, case)
    actual_flags, actual = results(prepare, case)
    assert actual_flags == flags
    assert same_bits(actual, expected)


@for_each("dtype", [F4, F8])
@for_each("op", ARITHMETIC)
@pytest.mark.parametrize("place", ["first", "second"])
def test_each_operation_of_a_chain(dtype: np.dtype[Any], op: Any, place: str) -> None:
    """x * y, and then the operation of that and z, or of z and that, for each length up to beyond
    the longest block, with special values."""
    loop = found(op, dtype)
    multiply = found(p.MULTIPLY, dtype)
    size = dtype.itemsize
    sources: tuple[int, ...] = (4,) if len(loop.inputs) == 1 else (4, 2)
    if place == "second":
        sources = sources[::-1]
    program = (Instruction(multiply, (0, 1), 4), Instruction(loop, sources, 3))
    operands = (KernelOperand(size, (0, size), 0, "direct"),) * 4
    rng = np.random.default_rng(3)
    with np.errstate(all="ignore"):
        special = np.asarray(SPECIAL).astype(dtype)
        for columns in [*range(1, 40), 127, 128, 129, 300]:
            x, y, z = [rng.choice(special, columns) for _ in range(3)]
            kernel = Kernel((1, columns), (1, columns), 1, columns, 1, operands, (size,), program)
            out = np.zeros(columns, dtype)
            prepare(kernel).run([(x, 0), (y, 0), (z, 0), (out, 0)], 1)
            product = x * y
            operation: Any = loop.ufunc
            operated = [product] if len(sources) == 1 else [product, z]
            expected = operation(*(operated if place == "first" else operated[::-1]))
            assert same_bits(out, expected)


def test_chains_in_place_that_run_again_read_what_was_there() -> None:
    """A chain that overflows runs once more step by step. Its operand was packed from the memory
    that the result goes into, past the caches."""
    columns = 1000
    operand = KernelOperand(8, (0, 8), 0, "packed")
    operands = (operand, operand._replace(access="streamed"))
    program = (
        Instruction(found(p.ADD, F8), (0, 0), 2),
        Instruction(found(p.MULTIPLY, F8), (2, 0), 1),
    )
    kernel = Kernel((1, columns), (1, 300), 1, columns, 1, operands, (8,), program)
    x = np.linspace(1, 2, columns)
    x[5] = 1e200
    case = kernel, [x, x]
    flags, expected = results(NumPyKernel, case)
    actual_flags, actual = results(prepare, case)
    assert actual_flags == flags
    assert any(flags)
    assert same_bits(actual, expected)


def test_programs_warn_of_the_operation_that_overflowed() -> None:
    @xp.compile
    def compute(x: xp.Array) -> xp.Array:
        return (x * 2 + 1) * x

    x = xp.asarray(np.full(3000, 1e200), copy=True)
    with pytest.warns(RuntimeWarning, match="overflow encountered in multiply"):
        y = compute(x)
    assert xp.all(xp.isinf(y))


@pytest.mark.parametrize("shape", [(700_001,), (901, 777), (30_000, 23)])
def test_chains_of_large_arrays_run_in_parts(shape: tuple[int, ...]) -> None:
    """Where memory is fetched ahead. Some results are read by several steps."""
    rng = np.random.default_rng(2)
    arrays = [rng.uniform(-1, 1, shape) for _ in range(3)]
    arrays.append(rng.uniform(-1, 1, (*shape[:-1], 1)))
    arrays.append(rng.uniform(-1, 1, shape[-1:]))

    def compute(a: Any, b: Any, c: Any, column: Any, row: Any) -> Any:
        d = (a - column) * b + row
        e = -(d * d) / 3 + c
        return (e * d - a) * column + e, (2 - d) * c

    expected = compute(*arrays)
    lazy = [xp.asarray(array, copy=True) for array in arrays]
    for results in (compute(*lazy), xp.compile(compute)(*lazy)):
        for result, wanted in zip(results, expected, strict=True):
            assert same_bits(np.asarray(result), wanted)


@for_each("step", [0, 8, 16, 24, -24, -8])
@for_each("row", [8, 16, 24, -24, -8])
def test_chains_on_one_column(step: int, row: int) -> None:
    """Whatever the step to the next column, which there is not."""
    rows = 6
    strides = [(row, step), (8, 8), (row, step)]
    operands = tuple([KernelOperand(8, each, 0, "direct") for each in strides])
    add, multiply = [found(op, F8) for op in (p.ADD, p.MULTIPLY)]
    program = (Instruction(add, (0, 1), 3), Instruction(multiply, (3, 1), 2))
    kernel = Kernel((rows, 1), (rows, 1), 0, rows, 1, operands, (8,), program)
    outs = []
    for machine in (NumPyKernel, prepare):
        memories: Any = [np.arange(40.0), np.arange(1.0, 7.0), np.zeros(40)]
        machine(kernel).run([(memories[0], 160), (memories[1], 0), (memories[2], 160)], 1)
        outs.append(memories[2])
    assert same_bits(outs[1], outs[0])


def test_chains_of_two_dtypes_keep_to_their_own_tiles() -> None:
    """A chain in place takes another tile for its result, and leaves the register's own for the
    next chain, which needs one of twice the size if it computes in float64 after one in float32."""
    columns = 1000
    x, y, out, narrow, kept, wide, widened = range(7)
    program = [
        Instruction(found(p.ABS, F4), (x,), narrow),
        Instruction(found(p.ABS, F4), (x,), kept),
        *[Instruction(found(op, F4), (narrow, x), narrow) for op in (p.ADD, p.MULTIPLY)],
        Instruction(casting(F4, F8), (narrow,), wide),
        *[Instruction(found(op, F8), (wide, y), wide) for op in (p.ADD, p.MULTIPLY)],
        Instruction(casting(F4, F8), (kept,), widened),
        Instruction(found(p.ADD, F8), (wide, widened), out),
    ]
    operands = [KernelOperand(size, (0, size), 0, "direct") for size in (4, 8, 8)]
    registers = (4, 4, 8, 8)
    kernel = Kernel(
        (1, columns), (1, columns), 1, columns, 1, tuple(operands), registers, tuple(program)
    )
    rng = np.random.default_rng(6)
    memories = [rng.uniform(-1, 1, columns).astype(F4), rng.uniform(-1, 1, columns)]
    case = kernel, [*memories, np.zeros(columns)]
    assert same_bits(results(prepare, case)[1], results(NumPyKernel, case)[1])


def test_programs_of_two_dtypes() -> None:
    rng = np.random.default_rng(4)
    narrow, wide = rng.uniform(-1, 1, 3000).astype(F4), rng.uniform(-1, 1, 3000)

    def compute(x: Any, y: Any, cast: Any) -> Any:
        low = cast(((x - x) - x) * x, F8)
        high = y - y
        high = high + high
        difference = high - low
        product = (high * low + difference) * difference
        return cast(product, F4) * x, cast(difference, F4)

    def traced(x: xp.Array, y: xp.Array) -> Any:
        return compute(x, y, lambda z, to: xp.astype(z, xp.float32 if to == F4 else xp.float64))

    expected = compute(narrow, wide, np.ndarray.astype)
    computed = xp.compile(traced)(xp.asarray(narrow, copy=True), xp.asarray(wide, copy=True))
    for result, wanted in zip(computed, expected, strict=True):
        assert same_bits(np.asarray(result), wanted)
