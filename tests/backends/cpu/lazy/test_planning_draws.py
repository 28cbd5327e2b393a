"""Random numbers that passes draw tile by tile."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.engine import loops
from array_api_nx.backends.cpu.engine.kernel import Instruction, Kernel, KernelOperand, prepare
from array_api_nx.native import native
from tests.support.programs import assert_same
from tests.support.refusals import refused
from tests.support.small_tiles import small_tiles
from tests.support.tables import for_each

pytestmark = pytest.mark.skipif(native is None, reason="without the extension nothing is deferred")

N = 70_001
ROWS = xp.arange(3.0)


def changed(rng: Any) -> xp.Array:
    x = rng.random(N)
    x += 1
    return x


def read_before(rng: Any) -> xp.Array:
    x = rng.standard_normal(N)
    return xp.concat([xp.reshape(x[N - 1], (1,)), x])


# Operations that add nothing up, so that all bits are defined.
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "flat": lambda r: xp.ones(N) + r.standard_normal(N),
    "float32": lambda r: xp.ones(N, dtype="float32") * r.random(N, dtype="float32"),
    "transposed": lambda r: xp.reshape(xp.arange(90_000.0), (300, 300)).T + r.random((300, 300)),
    "read transposed": lambda r: r.random((300, 200)).T + xp.ones((200, 300)),
    "a column of tiles": lambda r: r.random((257, 200)).T + xp.ones((200, 257)),
    "broadcast": lambda r: r.standard_normal((250, 1, 300)) * xp.ones((250, 4, 300)),
    "with few columns": lambda r: r.random((30_001, 3)) + ROWS,
    "float32 with few columns": lambda r: r.random((30_001, 3), "float32") + xp.astype(ROWS, "f4"),
    "in many axes": lambda r: r.integers(7, size=(3001, 5, 5)) + xp.reshape(ROWS, (3, 1, 1, 1)),
    "wide integers": lambda r: r.integers(-(2**61), 2**62, (3001, 5, 5)) // 3,
    "least of rows": lambda r: xp.min(r.random((30_000, 3)), axis=1),
    "least of columns": lambda r: xp.min(r.random((3, 30_000), dtype="float32"), axis=0),
    "a part": lambda r: r.random((200, 300, 3))[::2, :, 1],
    "changed": changed,
    "read before": read_before,
    "gamma": lambda r: r.standard_gamma(0.7, (300, 300)).T * xp.ones((300, 300)),
    "beta of few columns": lambda r: r.beta(2.0, 0.5, (30_001, 3)) + ROWS,
    "poisson": lambda r: r.poisson(3.0, N) * 2 - r.poisson(30.0, N),
    "a part of binomial numbers": lambda r: r.binomial(90, 0.6, (200, 300, 3))[::2, :, 1] + 1,
    "exponential": lambda r: r.exponential(2.0, N),
    "two draws": lambda r: r.random(N) - r.random(N),
}


@for_each("program", PROGRAMS.values())
def test_fused_draws_have_the_bits_of_others(program):
    with xp.config_context(fusion="off"):
        expected = np.asarray(program(xp.random.default_rng(4)))
    for threads, tiles in ((1, nullcontext()), (2, nullcontext()), (2, small_tiles())):
        with tiles, xp.config_context(fusion_threshold=0, num_threads=threads):
            assert_same(program(xp.random.default_rng(4)), expected)


@for_each("step", [0, 1, 2, 3, 70])
@for_each(
    ("kind", "dtype", "span"),
    [
        ("bits", "uint32", 0),
        ("uniform", "float32", 0),
        ("normal", "float64", 0),
        ("integers", "int64", 9),
        ("wide", "int64", 2**60),
    ],
)
def test_kernels_draw_numbers_apart(kind, dtype, span, step):
    made = np.dtype(dtype)
    drawing = native.drawing(kind, made, 5, 6, 1000, 3, span)
    rows, columns = 3, 1201
    source = KernelOperand(made.itemsize, (0, 0), 0, "packed", numbers=(7 * step + 1, step))
    target = KernelOperand(made.itemsize, (columns * made.itemsize, made.itemsize), 0, "direct")
    program = (Instruction(loops.drawn(kind, made), (0,), 1),)
    kernel = Kernel((rows, columns), (2, 600), 0, 2, 2, (source, target), (), program)
    found = np.empty((rows, columns), made)
    places = np.arange(rows)[:, None] * (7 * step + 1) + np.arange(columns) * step
    whole = np.empty(int(places.max()) + 1, made)
    native.draw(drawing, 0, whole)
    prepare(kernel).run([(drawing, 0), (found.reshape(-1), 0)], 1)
    assert found.tobytes() == whole[places].tobytes()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"access": "direct"}, "packed"),
        ({"strides": (0, 8)}, "without strides"),
        ({"numbers": (1,)}, "numbers"),
        ({"itemsize": 4}, "describe a draw|bytes"),
    ],
)
def test_kernels_refuse_what_is_no_draw(changes, words):
    made = np.dtype("float64")
    drawing = native.drawing("uniform", made, 5, 6, 0, 0, 0)
    source = KernelOperand(8, (0, 0), 0, "packed", numbers=(0, 1))._replace(**changes)
    target = KernelOperand(source.itemsize, (0, source.itemsize), 0, "direct")
    loop = loops.drawn("uniform", np.dtype(f"f{source.itemsize}"))
    program = (Instruction(loop, (0,), 1),)
    kernel = Kernel((1, 5), (1, 5), 1, 5, 1, (source, target), (), program)

    def run():
        prepare(kernel).run([(drawing, 0), (np.empty(5, loop.output), 0)], 1)

    refused(ValueError, words, run)


@pytest.mark.parametrize(
    ("kind", "parameters", "words"),
    [
        ("gamma", (np.ones(4),), "a float64 for each number"),
        ("gamma", (np.ones(5, np.float32),), "a float64 for each number"),
        ("gamma", (np.ones((5, 1)),), "a float64 for each number"),
        ("gamma", (1.0,), "a float64 for each number"),
        ("gamma", (None, np.ones(5)), "not so many parameters"),
        ("uniform", (np.ones(5),), "not so many parameters"),
    ],
)
def test_draws_refuse_other_parameters(kind, parameters, words):
    drawing = native.drawing(kind, np.dtype("float64"), 5, 6, 0, 0, 0, 1.0)
    refused(ValueError, words, native.draw, drawing, 0, np.empty(5), *parameters)


def test_draws_take_parameters_that_lie_apart():
    drawing = native.drawing("binomial", np.dtype("int64"), 5, 6, 0, 0, 0, 50.0, 0.0)
    shares = np.linspace(0.0, 1.0, 3000)[::-3]
    found, expected = np.empty((2, 1000), np.int64)
    native.draw(drawing, 0, found, None, shares)
    native.draw(drawing, 0, expected, np.full(1000, 50.0), shares.copy())
    assert found.tolist() == expected.tolist()


def test_no_array_of_numbers_is_written():
    x = xp.ones((1000, 1000))
    rng = xp.random.default_rng(1)
    with xp.config_context(fusion_threshold=10**6 - 1):
        text = str(xp.explain(x + rng.standard_normal(x.shape)))
    assert "draw(counters)" in text
    assert "1 pass" in text
    assert "8 MB to be allocated" in text


def test_the_state_advances_at_the_call():
    one, other = xp.random.default_rng(2), xp.random.default_rng(2)
    with xp.config_context(fusion_threshold=0):
        first, second = one.random(N), one.random(N)
    assert_same(np.asarray(second), second)  # computed before the first one
    with xp.config_context(fusion="off"):
        assert_same(first, np.asarray(other.random(N)))
        assert_same(second, np.asarray(other.random(N)))
