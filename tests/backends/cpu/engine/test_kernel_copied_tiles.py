"""Tiles that are copied on their way: streamed out, spread out, packed; and selection.

Both machines, against each other and against plain NumPy, on memory whose every byte is compared,
so that nothing is written but the operands' elements.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from array_api_nx.backends.cpu.engine import loops
from array_api_nx.backends.cpu.engine.kernel import (
    Access,
    Instruction,
    Kernel,
    KernelOperand,
    prepare,
)
from array_api_nx.backends.cpu.engine.loops import Loop
from array_api_nx.primitives import table as p
from tests.support.numpy_kernels import NumPyKernel
from tests.support.programs import needs_extension
from tests.support.tables import for_each

pytestmark = needs_extension

NDArray = np.ndarray[Any, Any]

MACHINES = [NumPyKernel, prepare]

# One of each itemsize.
DTYPES = [np.dtype(name) for name in ("u1", "i2", "f4", "i8", "c16")]
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)


class Argument(NamedTuple):
    """An operand: a view of memory, and how the kernel reaches it."""

    view: NDArray
    access: Access = "direct"


def bits(shape: int | tuple[int, ...], dtype: np.dtype[Any], seed: int = 0) -> NDArray:
    """Random bytes of any value, or of 0 and 1; those of NaNs and of infinities among them."""
    rng = np.random.default_rng(seed)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    size = int(np.prod(shape)) * dtype.itemsize
    return rng.integers(0, 256, size, np.uint8).view(dtype).reshape(shape)


def memory_of(view: NDArray) -> tuple[NDArray, int]:
    """The memory behind `view`, flat, and the position of its first element there."""
    memory = view
    while isinstance(memory.base, np.ndarray):
        memory = memory.base
    offset = view.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    return memory.reshape(-1, order="A"), offset


def check(
    loop: Loop, sources: list[Argument], target: Argument, tile: tuple[int, int], step: int
) -> None:
    """Run ``target = loop(*sources)`` on both machines, and compare all of the target's memory."""
    dims = target.view.shape
    operands = [
        KernelOperand(view.itemsize, np.broadcast_to(view, dims).strides, 0, access)
        for view, access in [*sources, target]
    ]
    kernel = Kernel(
        dims,
        tile,
        len(dims) - 2,
        step * tile[0],
        -(-dims[-2] // (step * tile[0])),
        tuple(operands),
        (),
        (Instruction(loop, tuple(range(len(sources))), len(sources)),),
    )
    out, first = memory_of(target.view)
    expected = out.copy()
    place = np.ndarray(dims, target.view.dtype, expected, first, target.view.strides)
    result = np.empty(dims, target.view.dtype)
    loop.call(*[view for view, _ in sources], out=result)
    place[...] = result
    for make, threads in product(MACHINES, (1, 3)):
        actual = out.copy()
        make(kernel).run([*[memory_of(view) for view, _ in sources], (actual, first)], threads)
        assert actual.tobytes() == expected.tobytes()


def copying(dtype: np.dtype[Any]) -> Loop:
    loop = loops.cast(dtype, dtype)
    assert loop is not None
    return loop


# ---------------------------------------------------------------------- streamed


@dtypes
def test_flat_results_of_any_beginning_and_length(dtype: np.dtype[Any]) -> None:
    # Words of 16 bytes are streamed by fours: all beginnings between them, and all rests.
    x = bits(300, dtype)
    for first in range(16 // dtype.itemsize + 1):
        for size in {1, 2, 5, *range(64 // dtype.itemsize, 144 // dtype.itemsize + 1)}:
            out = bits(300, dtype, 1)
            view = out[first : first + size].reshape(1, size)
            check(copying(dtype), [Argument(x[:size])], Argument(view, "streamed"), (1, 200), 1)


@st.composite
def windows(draw: st.DrawFn) -> tuple[NDArray, tuple[int, int], int]:
    """A part of an array in two or three dims, a tile, and how many of them make a task."""
    dtype = draw(st.sampled_from(DTYPES))
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 150))
    before, after = draw(st.integers(0, 17)), draw(st.sampled_from([0, 0, 1, 3, 64]))
    outer = draw(st.sampled_from([(), (), (1,), (3,)]))
    whole = bits((*outer, rows + 2, before + columns + after), dtype, 1)
    part = whole[..., 1 : rows + 1, before : before + columns]
    tile = draw(st.integers(1, rows)), draw(st.integers(1, columns))
    return part, tile, draw(st.integers(1, 3))


@given(windows())
def test_streamed_results_stay_inside_their_window(
    case: tuple[NDArray, tuple[int, int], int],
) -> None:
    view, tile, step = case
    source = Argument(bits(view.shape, view.dtype))
    check(copying(view.dtype), [source], Argument(view, "streamed"), tile, step)


@dtypes
@for_each("columns", [1, 2, 3, 7, 16])
def test_short_rows_without_gaps_are_streamed_as_one(dtype: np.dtype[Any], columns: int) -> None:
    # The tile's rows follow each other; before and after it there are other elements.
    out = bits(40 * columns + 2, dtype, 1)[1:-1].reshape(40, columns)
    source = Argument(bits(out.shape, dtype))
    for rows in (1, 7, 20, 40):
        check(copying(dtype), [source], Argument(out, "streamed"), (rows, columns), 1)


@dtypes
@for_each("flip", [(1, 1), (-1, 1), (1, -1), (1, 2), (2, 3)])
def test_streamed_results_with_any_strides(dtype: np.dtype[Any], flip: tuple[int, int]) -> None:
    for whole in (bits((12, 90), dtype, 1), bits((90, 12), dtype, 1).T):
        view = whole[1:-1, 1:-1][:: flip[0], :: flip[1]]
        source = Argument(bits(view.shape, dtype))
        check(copying(dtype), [source], Argument(view, "streamed"), (4, 33), 1)


def test_streamed_results_are_read_again() -> None:
    # Written twice, and read before, between and after: only at the end it is in memory.
    size, tile = 100, 24
    double = np.dtype(float)
    row = KernelOperand(8, (0, 8), 0, "direct")
    streamed = row._replace(access="streamed")
    square, add = loops.find(p.SQUARE, double), loops.find(p.ADD, double)
    assert square is not None
    assert add is not None
    program = (
        Instruction(add, (0, 1), 1),
        Instruction(square, (1,), 1),
        Instruction(add, (1, 1), 2),
    )
    kernel = Kernel((1, size), (1, tile), 1, tile, 5, (row, streamed, streamed), (), program)
    x, y = np.arange(100.0), np.linspace(-1, 1, 100)
    for make, threads in product(MACHINES, (1, 3)):
        first, second = y.copy(), np.zeros(size)
        make(kernel).run([(x, 0), (first, 0), (second, 0)], threads)
        np.testing.assert_array_equal(first, (x + y) ** 2)
        np.testing.assert_array_equal(second, 2 * (x + y) ** 2)


# ---------------------------------------------------------------------- packed


def strided(shape: tuple[int, int], dtype: np.dtype[Any], seed: int) -> list[NDArray]:
    """Views of that shape: every so many elements, flipped, and transposed; all with margins."""
    rows, columns = shape
    steps = [*product((1, -1), (1, -1, 2, -2, 3)), (2, 1), (-2, 2)]
    views = []
    for i, j in steps:
        plain = bits((abs(i) * rows + 2, abs(j) * columns + 2), dtype, seed)[1:-1, 1:-1]
        turned = bits((abs(j) * columns + 2, abs(i) * rows + 2), dtype, seed)[1:-1, 1:-1].T
        views += [plain[::i, ::j], turned[::i, ::j]]
    return views


@dtypes
@for_each("shape", [(1, 70), (40, 1), (37, 41), (5, 150)])
def test_packed_tiles(dtype: np.dtype[Any], shape: tuple[int, int]) -> None:
    inputs, outputs = strided(shape, dtype, 0), strided(shape, dtype, 1)
    for tile in ((16, 64), (7, 19)):
        for view in inputs:
            check(copying(dtype), [Argument(view, "packed")], Argument(outputs[0]), tile, 1)
        for out in outputs:
            check(copying(dtype), [Argument(inputs[0])], Argument(out, "packed"), tile, 2)
        for view, out in zip(inputs, outputs[1:], strict=False):
            check(copying(dtype), [Argument(view, "packed")], Argument(out, "packed"), tile, 1)


@dtypes
def test_packed_tiles_that_are_broadcast(dtype: np.dtype[Any]) -> None:
    rows, columns = shape = 37, 41
    row, column = bits((1, 2 * columns), dtype), bits((2 * rows, 1), dtype)
    views = [row[:, :columns], row[:, ::2], row[:, ::-2], column[:rows], column[::-2], row[:, 3:4]]
    for view, tile in product(views, ((16, 64), (7, 19))):
        for out in strided(shape, dtype, 1)[:4]:
            check(copying(dtype), [Argument(view, "packed")], Argument(out, "packed"), tile, 1)
    # What is the same for all tiles is packed once, if they have all columns.
    for view in views[:3]:
        out = bits(shape, dtype, 1)
        check(copying(dtype), [Argument(view, "invariant")], Argument(out), (16, columns), 1)


# ---------------------------------------------------------------------- spread


@for_each("name", ["maximum", "minimum"])
@pytest.mark.parametrize("dtype", [np.dtype("f4"), np.dtype("f8"), np.dtype("i2")], ids=str)
@for_each("shape", [(1, 100), (13, 31), (30, 1), (3, 5, 40)])
def test_scalars_that_are_spread(name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    loop = loops.find(getattr(p, name.upper()), dtype)
    assert loop is not None
    x = np.random.default_rng(0).integers(-9, 9, shape).astype(dtype)
    # The last tiles are smaller either way, and tasks begin with tiles of another size.
    for value, tile, step in product((-2, 0, 5), ((4, 17), (1, 100), (30, 7)), (1, 2)):
        scalar = np.full((1,) * len(shape), value, dtype)
        for access in ("invariant", "direct"):
            arguments = [Argument(x), Argument(scalar, access)]
            target = Argument(np.zeros(shape, dtype), "streamed")
            check(loop, arguments, target, tile, step)
            check(loop, arguments[::-1], target, tile, step)


# ---------------------------------------------------------------------- selection


@pytest.mark.parametrize("dtype", [np.dtype(bool), *DTYPES], ids=str)
@for_each("share", [0.1, 0.5, 1.0])
def test_selection(dtype: np.dtype[Any], share: float) -> None:
    # Lengths around those of vectors; each input contiguous, spaced out, backwards, or a scalar.
    for size in (1, 7, 33, 100):
        conditions = np.random.default_rng(size).random((1, 2 * size)) < share
        first, second = bits((1, 2 * size), dtype, 1), bits((1, 2 * size), dtype, 2)
        target = Argument(bits((1, size + 2), dtype, 3)[:, 1:-1])

        def views(x: NDArray, size: int = size) -> list[Argument]:
            return [
                Argument(x[:, 1 : size + 1]),
                Argument(x[:, ::2], "packed"),
                Argument(x[:, ::-1][:, :size], "packed"),
                Argument(x[:, :1]),
                Argument(x[:, :1], "invariant"),
            ]

        for arguments in product(views(conditions)[:4], views(first), views(second)):
            check(loops.select(dtype), [*arguments], target, (1, 40), 1)


@pytest.mark.parametrize("dtype", [np.dtype(bool), *DTYPES], ids=str)
@pytest.mark.parametrize("place", [1, 2])
def test_selection_into_one_of_its_inputs(dtype: np.dtype[Any], place: int) -> None:
    size, itemsize = 100, dtype.itemsize
    condition = bits(size, np.dtype(bool), 5)
    sources = [bits(size, dtype, 1), bits(size, dtype, 2)]
    expected = np.where(condition, *sources)
    accesses: tuple[Access, ...] = ("direct", "packed", "streamed")
    for make, access in product(MACHINES, accesses):
        operands = [KernelOperand(1, (0, 1), 0, "direct")]
        operands += [KernelOperand(itemsize, (0, itemsize), 0, "direct")] * 2
        operands[place] = operands[place]._replace(access=access)
        program = (Instruction(loops.select(dtype), (0, 1, 2), place),)
        kernel = Kernel((1, size), (1, 33), 1, 33, 4, tuple(operands), (), program)
        memories = [condition, *[source.copy() for source in sources]]
        make(kernel).run([(memory, 0) for memory in memories], 2)
        assert memories[place].tobytes() == expected.tobytes()
        assert memories[3 - place].tobytes() == sources[2 - place].tobytes()
