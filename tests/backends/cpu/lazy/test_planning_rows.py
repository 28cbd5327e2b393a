"""Reductions and products that are computed in the tiles of their readers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as rounds
from hypothesis import strategies as st

import array_api_nx as xp
from array_api_nx.backends.cpu.engine import loops
from array_api_nx.backends.cpu.engine.kernel import (
    Instruction,
    Kernel,
    KernelOperand,
    Product,
    TileReduction,
    prepare,
)
from array_api_nx.native import native
from array_api_nx.primitives import table as p
from tests.support.programs import NDArray, numpy_of, settings
from tests.support.refusals import refused
from tests.support.sizes import DEFERRED

pytestmark = pytest.mark.skipif(native is None, reason="without the extension no kernel runs")

ROWS = {
    "softmax": lambda xp, x: _softmax(xp, x),
    "divided by the largest": lambda xp, x: x / xp.max(xp.abs(x), axis=1, keepdims=True),
    "least of the distances": lambda xp, x: xp.min(x - xp.min(x, axis=1, keepdims=True), axis=1),
    "sum of powers": lambda xp, x: xp.sum(xp.exp(x - xp.max(x, axis=1, keepdims=True)), axis=1),
    "counted": lambda xp, x: x * xp.astype(xp.count_nonzero(x > 0, axis=1, keepdims=True), x.dtype),
    "of another axis": lambda xp, x: x - xp.max(x, axis=0) - xp.max(x, axis=1, keepdims=True),
    "down the columns": lambda xp, x: x / xp.sum(xp.abs(x), axis=0),
    "with a chain": lambda xp, x: xp.maximum(x * 2 - 1, 0) + xp.sum(x, axis=1, keepdims=True),
}
WIDTHS = (1, 2, 5, 16, 17, 32, 33, 200, 1500)


def _softmax(xp: Any, x: Any) -> Any:
    powers = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return powers / xp.sum(powers, axis=1, keepdims=True)


def laid_out(values: NDArray, layout: str) -> NDArray:
    """The same elements, in another place."""
    if layout == "transposed":
        return np.asfortranarray(values)
    if layout == "strided":
        wide = np.zeros((len(values), 2 * values.shape[1]), values.dtype)
        wide[:, ::2] = values
        return wide[:, ::2]
    return values[::-1, ::-1].copy()[::-1, ::-1] if layout == "flipped" else values


def whole(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> NDArray:
    """Whole numbers, whose sums and products are exact; one of a thousand is not finite."""
    values = rng.integers(-3, 4, shape).astype(dtype)
    odd = rng.random(shape) < 0.001
    values[odd] = rng.choice([np.nan, np.inf, -np.inf], shape)[odd]
    return values


def assert_close(ours: xp.Array, expected: NDArray) -> None:
    found = numpy_of(ours)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    tolerance = 1e-12 if found.dtype == np.float64 else 1e-5
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def reference(function: Callable[..., Any], *arrays: NDArray) -> Any:
    with np.errstate(all="ignore"):
        return function(np, *arrays)


layouts = st.sampled_from(["plain", "transposed", "strided", "flipped"])
dtypes = st.sampled_from(["float64", "float32"])


@rounds(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(sorted(ROWS)),
    width=st.sampled_from(WIDTHS),
    rows=st.sampled_from([1, 3, 1001]),
    layout=layouts,
    dtype=dtypes,
    threads=st.sampled_from([1, 2]),
    compiled=st.booleans(),
)
def test_rows(name, width, rows, layout, dtype, threads, compiled):
    values = laid_out(whole(np.random.default_rng(rows), (rows, width), dtype), layout)
    function = ROWS[name]
    with np.errstate(all="ignore"), settings("process"), xp.config_context(num_threads=threads):
        x = xp.asarray(values, copy=True)
        ours = xp.compile(lambda x: function(xp, x))(x) if compiled else function(xp, x)
        assert_close(ours, reference(function, values))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_threads_change_no_bit(dtype):
    values = np.random.default_rng(1).random((7001, 10)).astype(dtype)
    factor = np.random.default_rng(2).random((10, 12)).astype(dtype)
    program = xp.compile(lambda x, w: _softmax(xp, x @ w))
    found = []
    for threads in (1, 2, 3):
        with xp.config_context(num_threads=threads):
            found.append(numpy_of(program(xp.asarray(values), xp.asarray(factor))).tobytes())
    assert len(set(found)) == 1


def test_softmax_is_one_pass():
    with settings("process"):
        x = xp.ones((2_000, 10))
        assert len(xp.explain(_softmax(xp, x)).passes) == 1
        held = xp.sum(xp.ones((2_000, 10)) * x, axis=1, keepdims=True)
        assert len(xp.explain(x / held).passes) == 2  # the sums are held
        assert len(xp.explain(_softmax(xp, xp.ones((50, 10_000)))).passes) == 3


CONSUMERS = {
    "softmax": lambda xp, s: _softmax(xp, s),
    "rectified": lambda xp, s: xp.maximum(s - 1, 0),
    "largest": lambda xp, s: xp.max(s * 2, axis=1),
    "sums down": lambda xp, s: xp.sum(s + 1, axis=0),
    "nearest": lambda xp, s: xp.argmin(3 - 2 * s, axis=1),
    "transposed": lambda xp, s: s.T * 2,
    "twice": lambda xp, s: (xp.exp(-s * s), xp.max(s, axis=1)),
    "the product as well": lambda xp, s: (s, s + 1),
}


@rounds(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(sorted(CONSUMERS)),
    inner=st.sampled_from([1, 2, 5, 64, 65]),
    columns=st.sampled_from([1, 2, 7, 33]),
    layout=st.tuples(layouts, layouts),
    dtype=st.sampled_from(["float64", "float32", "int64", "complex128"]),
    threads=st.sampled_from([1, 2]),
)
def test_products(name, inner, columns, layout, dtype, threads):
    if dtype == "complex128" and name in ("softmax", "rectified", "largest", "nearest", "twice"):
        return
    rng = np.random.default_rng(inner)
    finite = rng.integers(-3, 4, (-(-(2**15) // columns), inner)).astype(dtype)
    x = laid_out(finite, layout[0])
    if dtype in ("float64", "float32"):
        x[5, 0] = np.nan
        x[7, inner - 1] = np.inf
    w = laid_out(rng.integers(-2, 3, (inner, columns)).astype(dtype), layout[1])
    function = CONSUMERS[name]
    program = xp.compile(lambda x, w: function(xp, x @ w))
    with np.errstate(all="ignore"), xp.config_context(num_threads=threads):
        ours = program(xp.asarray(x), xp.asarray(w))
        expected = function(np, x @ w)
    ours = ours if isinstance(ours, tuple) else (ours,)
    for mine, theirs in zip(ours, expected if len(ours) > 1 else (expected,), strict=True):
        assert_close(mine, theirs)


def test_a_product_lies_in_no_memory():
    x, w = xp.ones((DEFERRED // 10 + 1, 16)), xp.ones((16, 10))

    def passes(function: Callable[..., Any]) -> list[list[str]]:
        run = xp.compile(function).explain(x, w).run
        assert run is not None
        return [[step.operation for step in each.steps] for each in run.passes]

    assert passes(lambda x, w: _softmax(xp, x @ w)) == [
        ["matmul", "max", "subtract", "exp", "sum", "divide"]
    ]
    assert passes(lambda x, w: x @ w) == [["matmul"]]
    assert passes(lambda x, w: xp.sort(x @ w, axis=1)) == [["matmul"], ["sort"]]


def test_empty_and_wrong_sizes():
    program = xp.compile(lambda x, w: xp.maximum(x @ w, 0))
    assert program(xp.ones((50_000, 3)), xp.ones((3, 2))).shape == (50_000, 2)
    assert program(xp.ones((0, 3)), xp.ones((3, 2))).shape == (0, 2)
    zeros = program(xp.ones((50_000, 0)), xp.ones((0, 2)))
    assert zeros.shape == (50_000, 2)
    assert not xp.any(zeros)
    refused(ValueError, "matmul", program, xp.ones((50_000, 3)), xp.ones((4, 2)))


F8 = np.dtype(np.float64)


def kernel(*program: Any, strides: tuple[tuple[int, int], ...], tile: tuple[int, int]) -> Kernel:
    operands = tuple([KernelOperand(8, each, 0, "direct") for each in strides])
    return Kernel((8, 4), tile, 0, 8, 1, operands, (8, 8), program)


def test_bad_kernels_are_refused():
    multiply = loops.product(F8, 3)
    found = loops.reduction(p.SUM, F8)
    copy = loops.cast(F8, F8)
    assert copy is not None
    assert multiply is not None
    assert found is not None
    total, identity = found
    factors = ((24, 0), (0, 8), (32, 8))
    good = Product(multiply, 0, 1, 2, 3, 8, 32)
    product = prepare(kernel(good, strides=factors, tile=(2, 4)))
    x, w, out = np.arange(24.0), np.arange(12.0), np.zeros(32)
    product.run([(x, 0), (w, 0), (out, 0)], 1)
    np.testing.assert_array_equal(out.reshape(8, 4), x.reshape(8, 3) @ w.reshape(3, 4))
    refused(ValueError, "memory has", product.run, [(x[:-1], 0), (w, 0), (out, 0)], 1)
    refused(ValueError, "memory has", product.run, [(x, 0), (w[:-1], 0), (out, 0)], 1)
    swapped = good._replace(left=1, right=0)
    copied = Instruction(copy, (0,), 3)
    reduced = TileReduction(total, 2, 3, False, True, identity)
    down = reduced._replace(rows=True, columns=False)
    for program, tile in [
        ((good._replace(inner=0),), (2, 4)),
        ((good._replace(left_step=4),), (2, 4)),
        ((swapped,), (2, 4)),
        ((good._replace(left=3),), (2, 4)),
        ((good, good), (2, 4)),
        ((good, copied), (2, 4)),
        ((reduced,), (2, 2)),
        ((reduced._replace(rows=True),), (8, 4)),
        ((down, down), (8, 4)),
        ((down, Instruction(copy, (2,), 3)), (8, 4)),
    ]:
        refused(ValueError, r".", prepare, kernel(*program, strides=factors, tile=tile))
