"""Kernel.reduce: results and refused arguments.

``sanitize.sh`` runs these tests under AddressSanitizer and valgrind.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
import pytest

from array_api_nx.backends.cpu.engine import loops
from array_api_nx.backends.cpu.engine.kernel import (
    Instruction,
    Kernel,
    KernelOperand,
    TileReduction,
)
from array_api_nx.native import native
from array_api_nx.primitives import table as p
from array_api_nx.primitives.table import Primitive
from tests.support.tables import for_each

pytestmark = pytest.mark.skipif(native is None, reason="no extension")

NDArray = np.ndarray[Any, Any]
F4, F8 = np.dtype(np.float32), np.dtype(np.float64)


def ready(kernel: Kernel) -> Any:
    assert native is not None
    return native.Kernel(**kernel._asdict())


def reduction(op: Primitive, shape: tuple[int, int], axis: int, dtype: Any = F8) -> Kernel:
    """``operand 1 = op of operand 0`` along one of two axes."""
    found = loops.reduction(op, dtype)
    assert found is not None
    loop, identity = found
    size, kept = dtype.itemsize, loop.output.itemsize
    operands = (
        KernelOperand(size, (shape[1] * size, size), 0, "direct"),
        KernelOperand(kept, (0, kept) if axis == 0 else (kept, 0), 0, "direct"),
    )
    program = (TileReduction(loop, 0, 1, axis == 0, axis == 1, identity),)
    split = 1 - axis
    tile = (4, 16)
    tasks = -(-shape[split] // tile[split])
    return Kernel(shape, tile, split, tile[split], tasks, operands, (), program)


def per_task(op: Primitive, columns: int, dtype: Any) -> Kernel:
    """A kernel that reduces 44 rows to one, in 11 tasks with accumulators of their own."""
    kernel = reduction(op, (44, columns), 0, dtype)
    data, accumulators = kernel.operands
    stride = columns * accumulators.itemsize
    return kernel._replace(
        operands=(data, accumulators._replace(task_stride=stride)), split=0, step=4, tasks=11
    )


def pointer(op: Primitive, dtype: Any) -> Any:
    found = loops.find(op, dtype)
    assert found is not None
    return found.pointer


# ---------------------------------------------------------------------- results


@for_each("axis", [0, 1])
@for_each("dtype", [F4, F8])
@for_each("op", [p.SUM, p.MAX, p.PROD])
@for_each("shape", [(1, 1), (5, 40), (17, 3)])
def test_accumulators_are_the_result(shape, op, dtype, axis):
    x = np.random.default_rng(1).normal(size=shape).astype(dtype)
    kernel = ready(reduction(op, shape, axis, dtype))
    for _ in range(2):
        result, flags = kernel.reduce(x, (shape[1 - axis],), None, None, 1)
        assert (result.dtype, result.flags.c_contiguous, flags) == (dtype, True, 0)
        expected = getattr(np, op.name)(x, axis=axis)
        np.testing.assert_allclose(result, expected, rtol=1e-5)


@for_each("axis", [0, 1])
@for_each("dtype", [F4, F8])
def test_sums_are_divided(dtype, axis):
    """In double precision."""
    x = np.arange(35.0).reshape(7, 5).astype(dtype)
    kernel = ready(reduction(p.SUM, x.shape, axis, dtype))
    result, flags = kernel.reduce(x, (1, x.shape[1 - axis]), 7.5, None, 1)
    expected = (np.add.reduce(x, axis=axis).astype(float) / 7.5).astype(dtype)
    np.testing.assert_array_equal(result, expected[None])
    assert flags == 0


@for_each("divisor", [6.0, np.nan])
@for_each("dtype", [F4, F8])
def test_sums_of_squares_are_divided(dtype, divisor):
    x = np.random.default_rng(1).normal(size=(4, 40)).astype(dtype)
    kernel = ready(reduction(p.VAR, x.shape, 1, dtype))
    for _ in range(2):
        result, _ = kernel.reduce(x, (4,), divisor, None, 1)
        expected = np.var(x.astype(float), axis=1) * 40 / divisor
        np.testing.assert_allclose(result, expected, rtol=1e-6)
        assert result.dtype == dtype


@for_each("columns", [1, 2, 40])
@for_each(("op", "dtype"), [(p.SUM, F4), (p.SUM, F8), (p.MAX, F4), (p.PROD, F8)])
@for_each("zero", [0, 1])
def test_accumulators_of_tasks_are_combined(op, dtype, columns, zero):
    """With the bits of a ufunc that reduces them."""
    x = np.random.default_rng(2).normal(size=(44, columns)).astype(dtype)
    x[:, 0] = x[:, 0] * dtype.type(zero)
    loop, identity = loops.reduction(op, dtype)  # type: ignore[misc]
    combining = loops.combining(loop)
    assert combining is not None
    kernel = ready(per_task(op, columns, dtype))
    parts = np.full((11, columns), identity)
    kernel.run([(x, 0), (parts, 0)], 1)
    for threads in (1, 2, 5):
        result, _ = kernel.reduce(x, (columns,), None, combining.pointer, threads)
        expected = combining.ufunc.reduce(parts, axis=0, dtype=identity.dtype)  # type: ignore[union-attr]
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_allclose(expected, loop.ufunc.reduce(x, axis=0), rtol=1e-5)


def test_combined_and_divided():
    x = np.arange(132.0).reshape(44, 3)
    kernel = ready(per_task(p.SUM, 3, F8))
    means, _ = kernel.reduce(x, (3,), 44.0, pointer(p.ADD, F8), 1)
    np.testing.assert_array_equal(means, x.mean(axis=0))


@for_each("columns", [1, 2, 40])
@for_each("dtype", [F4, F8])
def test_moments_of_tasks_are_merged(columns, dtype):
    x = np.random.default_rng(3).normal(1e3, 1, (44, columns)).astype(dtype)
    kernel = ready(per_task(p.VAR, columns, dtype))
    for _ in range(2):
        result, flags = kernel.reduce(x, (columns,), 43.0, None, 2)
        np.testing.assert_allclose(result, x.astype(F8).var(axis=0, ddof=1), rtol=1e-5)
        assert flags == 0
    x[7, 0] = np.inf
    result, flags = kernel.reduce(x, (columns,), 43.0, None, 2)
    assert flags == 8
    assert np.isnan(result[0])
    assert np.isfinite(result[1:]).all()


def test_several_threads():
    """Each call has its own arrays."""
    kernel = ready(reduction(p.SUM, (3, 999), 0))

    def run(i: int) -> None:
        result, _ = kernel.reduce(np.full((3, 999), float(i)), (999,), None, None, 2)
        assert (result == 3.0 * i).all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(200)))


@for_each("rows", [1, 2, 9])
def test_merged_moments_are_those_of_all(rows):
    """Exactly enough for elements near each other and far from 0."""
    x = 2.0**40 + np.random.default_rng(rows).integers(0, 9, (rows, 3, 50))
    moments = np.zeros((rows, 3), loops.MOMENTS)
    moments["count"], moments["sum"] = 50, x.sum(axis=2)
    moments["reference"] = x[:, :, 0]
    moments["offset"] = (x - x[:, :, :1]).mean(axis=2)
    moments["squares"] = ((x - x[:, :, :1] - moments["offset"][:, :, None]) ** 2).sum(axis=2)
    assert native is not None
    native.merge_moments(moments)
    merged = moments[0]
    near = x - 2.0**40
    np.testing.assert_array_equal(merged["count"], 50 * rows)
    np.testing.assert_array_equal(merged["sum"], x.sum(axis=(0, 2)))
    whole = merged["reference"] - 2.0**40 + merged["offset"]
    np.testing.assert_allclose(whole, near.mean(axis=(0, 2)), rtol=1e-14)
    np.testing.assert_allclose(merged["squares"], near.var(axis=(0, 2)) * 50 * rows, rtol=1e-13)


# ---------------------------------------------------------------------- refused arguments


def locked(array: NDArray) -> NDArray:
    array.flags.writeable = False
    return array


class Subclass(np.ndarray[Any, Any]):
    pass


SUM: Final = reduction(p.SUM, (7, 5), 0)
TWO_STEPS: Final = SUM._replace(program=SUM.program * 2)
COPY: Final = Kernel(
    (7, 5), (4, 16), 0, 4, 2, (SUM.operands[0],) * 2, (),
    (Instruction(loops.find(p.ABS, F8), (0,), 1),),  # type: ignore[arg-type]
)  # fmt: skip


@for_each(
    "array",
    [
        np.ones((7, 5), F4),
        np.ones((7, 5), np.int64),
        np.ones((7, 5), ">f8"),
        np.ones((7, 5), "c16"),
        np.ones((14, 5))[::2],
        np.ones((7, 5)).view(Subclass),
        np.empty(7 * 5 * 8 + 1, np.uint8)[1:].view(F8),
        [1.0] * 35,
        None,
    ],
)
def test_arrays_that_do_not_fit(array):
    with pytest.raises(ValueError, match="must have the floats or doubles of operand 0"):
        ready(SUM).reduce(array, (5,), None, None, 1)


def test_arrays_that_are_too_small():
    kernel = ready(SUM)
    with pytest.raises(ValueError, match="operand 0 covers the bytes 0 to 280, the array has 272"):
        kernel.reduce(np.ones(34), (5,), None, None, 1)
    result, _ = kernel.reduce(locked(np.ones(35)), (5,), None, None, 1)
    assert (result == 7).all()


@for_each("kernel", [COPY, TWO_STEPS, reduction(p.SUM, (0, 3), 0), reduction(p.SUM, (4, 0), 1)])
def test_other_kernels(kernel):
    with pytest.raises(ValueError, match="must reduce operand 0, which has elements, to operand 1"):
        ready(kernel).reduce(np.ones((7, 5)), (5,), None, None, 1)


@for_each(
    ("kernel", "arguments", "error", "message"),
    [
        (SUM, ((5,), None, None, 0), ValueError, "threads must be from 1"),
        (SUM, ((4,), None, None, 1), ValueError, "has 5 results, the shape others"),
        (SUM, (("5",), None, None, 1), TypeError, "integer"),
        (SUM, ((5,), "7", None, 1), TypeError, "must be real number"),
        (SUM, ((5,), None, None), TypeError, "reduce takes the array"),
        (SUM, ((5,), 7.0, 5, 1), ValueError, "several tasks need a loop"),
        (reduction(p.VAR, (7, 5), 0), ((5,), None, None, 1), ValueError, "must be divided"),
        (per_task(p.SUM, 3, F8), ((3,), 7.0, None, 1), ValueError, "several tasks need a loop"),
        (per_task(p.SUM, 3, F8), ((3,), None, 5, 1), ValueError, "PyCapsule"),
        (per_task(p.VAR, 3, F8), ((3,), 7.0, 5, 1), ValueError, "others none"),
    ],
)
def test_bad_arguments(kernel, arguments, error, message):
    with pytest.raises(error, match=message):
        ready(kernel).reduce(np.ones(kernel.dims), *arguments)


def test_loops_that_combine_other_elements():
    for loop in (pointer(p.ADD, F4), loops.reduction(p.VAR, F8)[0].pointer):  # type: ignore[index]
        with pytest.raises(ValueError, match="takes other elements"):
            ready(per_task(p.SUM, 3, F8)).reduce(np.ones((44, 3)), (3,), None, loop, 1)


def test_accumulators_of_other_bytes():
    kernel = ready(reduction(p.COUNT_NONZERO, (7, 5), 0, np.dtype(bool)))
    with pytest.raises(ValueError, match="floats or doubles of operand 0"):
        kernel.reduce(np.ones((7, 5), bool), (5,), None, None, 1)


def test_tasks_whose_accumulators_lie_apart():
    kernel = per_task(p.SUM, 3, F8)
    data, accumulators = kernel.operands
    apart = kernel._replace(operands=(data, accumulators._replace(task_stride=32)))
    with pytest.raises(ValueError, match="accumulators of tasks must follow each other"):
        ready(apart).reduce(np.ones((44, 3)), (3,), None, pointer(p.ADD, F8), 1)


def test_what_are_no_moments_to_merge():
    assert native is not None
    moments = np.zeros((2, 3), loops.MOMENTS)
    frozen = moments.copy()
    frozen.flags.writeable = False
    for wrong in (moments[0], moments[:0], moments[:, ::2], np.zeros((2, 3)), frozen):
        with pytest.raises(ValueError, match="moments to merge are the rows"):
            native.merge_moments(wrong)
    with pytest.raises(TypeError, match="ndarray"):
        native.merge_moments(moments.tolist())  # type: ignore[arg-type]
