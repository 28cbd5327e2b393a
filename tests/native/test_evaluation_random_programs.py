"""Random programs give the same bits however they are run.

The exception are sums of floats in tiles, which may round otherwise than NumPy's; so the programs
compute with small whole numbers, and other numbers have tests of their own.
"""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import array_api_nx as xp
from tests.support.elementwise import functions
from tests.support.interpreter import STEPS, WITHIN, Step, execute, programs
from tests.support.programs import LARGE, assert_same, deferring, numpy_of, settings
from tests.support.sizes import MANY_TASKS

pytestmark = pytest.mark.slow

SMALL_SHAPES = st.sampled_from([(3, 4), (2, 3, 2), (12,), (1, 6), (5, 1), (4, 4), ()])
LARGE_SHAPES = st.sampled_from([(LARGE,), (130, 256), (3, 20_000), (20_000, 2), (40, 30, 31)])


Run = dict[str, Any]
LARGE_RUNS = (
    {"mode": "off"},
    {"mode": "large", "num_threads": 1},
    {"mode": "large", "num_threads": 4},
)


def assert_alike(program, shape, *runs, limit=400):
    """`program` shows the same with fusion off and in every one of the `runs`."""
    with settings("off"):
        expected = execute(program, shape, limit)
    for run in runs:
        with settings(**run):
            actual = execute(program, shape, limit)
        assert len(actual) == len(expected), run
        for i, (x, y) in enumerate(zip(actual, expected, strict=True)):
            if isinstance(y, str):
                assert isinstance(x, str), run
                assert x == y, run
            else:
                assert isinstance(x, np.ndarray), run
                assert_same(x, y, f"{run}, seen {i}")


@hypothesis_settings(max_examples=100)
@given(programs(), SMALL_SHAPES)
def test_programs(program, shape):
    assert_alike(
        program,
        shape,
        {"mode": "context"},
        {"mode": "always"},
        {"mode": "context", "num_threads": 4},
    )


@hypothesis_settings(max_examples=100)
@given(programs(WITHIN), SMALL_SHAPES)
def test_programs_that_hand_nothing_out(program, shape):
    assert_alike(program, shape, {"mode": "context"}, {"mode": "context", "num_threads": 1})


@hypothesis_settings(max_examples=25)
@given(programs(), LARGE_SHAPES)
def test_large_programs(program, shape):
    assert_alike(program, shape, *LARGE_RUNS[1:], limit=100_000)


def test_every_step_is_a_program():
    for name in STEPS:
        for i in range(64):
            program = [Step(name, i % 5, i, i // 3), Step("scalar", 0, 1, 16), Step(name, 0, i, i)]
            assert_alike(program, (3, 4), {"mode": "context"})


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324, 1e-310, 1.0, -1.0, 0.5]


def any_numbers(shape, dtype, seed, *, special):
    """Numbers of many sizes; with `special` also those that raise floating-point flags."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
    if special:
        values = np.where(rng.random(shape) < 0.3, rng.choice(SPECIAL, shape), values)
    if dtype.startswith("complex"):
        values = values + 1j * rng.permutation(values.reshape(-1)).reshape(shape)
    with np.errstate(all="ignore"):
        return values.astype(dtype)


FUNCTIONS = functions("unary", xp.float64)
OPERATIONS = functions("binary", xp.float64)


def elementwise(choices, arrays):
    """All results of a program that only computes element by element."""
    names = [*FUNCTIONS, *OPERATIONS, "where", "clip", "scalar", "float32", "float16"]
    floats = (xp.float16, xp.float32, xp.float64)
    for op, i, j in choices:
        x, y = arrays[-1 - i % len(arrays)], arrays[-1 - j % len(arrays)]
        x, y = [z if z.dtype in floats else xp.astype(z, xp.float64) for z in (x, y)]
        match names[op % len(names)]:
            case "where":
                arrays.append(xp.where(x < y, x * 2.0, y))
            case "clip":
                arrays.append(xp.clip(x, -1.0, 2.0))
            case "scalar":
                arrays.append((x * 1.5 - 0.25) / (j % 3))
            case "float32" | "float16" as dtype:
                arrays.append(xp.astype(x, getattr(xp, dtype)))
            case name if name in FUNCTIONS:
                arrays.append(FUNCTIONS[name](x))
            case name:
                arrays.append(OPERATIONS[name](x, y))
    return arrays


_choice = st.tuples(st.integers(0, 64), st.integers(0, 7), st.integers(0, 7))
_choices = st.lists(_choice, max_size=4) | st.lists(_choice, min_size=6, max_size=14)


@hypothesis_settings(max_examples=100)
@given(_choices, st.integers(0, 2**20), st.sampled_from([(3, 4), (37,), (2, 65)]))
@example([(0, 0, 0)], 0, (1,))
@example([(-1, 0, 0), *[(op, 0, 1) for op in range(12)]], 3, (2, 65))
def test_elementwise_programs_give_the_same_bits_and_warnings(choices, seed, shape):
    seen = []
    for mode in ("off", "context"):
        with (
            settings(mode),
            np.errstate(all="warn"),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            arrays = [
                xp.asarray(any_numbers(shape, "float64", seed, special=True), copy=True),
                xp.asarray(any_numbers(shape, "float32", seed + 1, special=True), copy=True),
            ]
            results = elementwise(choices, arrays)
            xp.evaluate(*results)
        told = {(warning.category, str(warning.message)) for warning in caught}
        seen.append((told, [numpy_of(x) for x in results]))
    (expected_warnings, expected), (actual_warnings, actual) = seen
    for i, (x, y) in enumerate(zip(actual, expected, strict=True)):
        assert_same(x, y, f"result {i}")
    assert actual_warnings == expected_warnings


EQUAL_SCALARS = [
    (0.0, -0.0),
    (1.5j, complex(-0.0, 1.5)),
    (1.5 + 0j, complex(1.5, -0.0)),
    (0, -0.0),
    (1, True),
    (2, 2.0),
    (2.0, 2 + 0j),
    (float("nan"), -float("nan")),
]


@pytest.mark.parametrize("scalars", [*EQUAL_SCALARS, *[pair[::-1] for pair in EQUAL_SCALARS]])
def test_scalars_that_are_equal_but_not_the_same(scalars):
    seen = []
    for mode in ("off", "context"):
        with settings(mode):
            x = xp.asarray(np.array([1.0, -2.0, 0.0]), copy=True)
            results = []
            for scalar in scalars:
                results += [x * scalar, scalar - x, xp.where(x > 0, x, scalar)]
                results += [xp.full((3,), scalar), xp.astype(x, xp.complex128) * scalar]
                results += [xp.full((3,), scalar, dtype=xp.complex128), xp.equal(x, scalar)]
            seen.append([numpy_of(y) for y in results])
    for i, (actual, oracle) in enumerate(zip(seen[1], seen[0], strict=True)):
        assert_same(actual, oracle, f"result {i}")


def _condition(values, name):
    """The size of one rounding error, from the sizes of the terms."""
    size = np.abs(values).astype(np.float64)
    match name:
        case "sum":
            return float(size.sum())
        case "mean":
            return float(size.mean())
        case "var":
            return float((size**2).mean())
        case "std":
            return float(np.sqrt((size**2).mean()))
        case _:
            return float(np.abs(np.prod(values.astype(np.complex128))))


LAYOUTS = {
    "row-major": lambda x: x,
    "transposed": lambda x: xp.permute_dims(x, tuple(range(x.ndim))[::-1]),
    "flipped": lambda x: xp.flip(x),
    "stepped": lambda x: x[::2, ...],
    "repeated": lambda x: xp.broadcast_to(x[:1, ...], x.shape),
    "computed": lambda x: (x + x) * 0.5,
}
SHAPES = [
    (LARGE,),
    (MANY_TASKS,),
    (300, 301),
    (7, 40_000),
    (40_000, 7),
    (50, 40, 41),
    (2, 3, 20_000),
]


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "float16"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "var", "std", "prod"])
def test_float_reductions(name, shape, dtype):
    a = any_numbers(shape, dtype, 5, special=False)
    if dtype == "float16":
        if name in ("sum", "prod"):
            pytest.skip("NumPy adds up rows of float16 in float16, which loses most of many")
        a = a / np.float16(100)  # whose squares are no infinities
    if name == "prod":
        a = np.exp(a / 1e5).astype(dtype)
    reduce = getattr(xp, name)
    eps = float(np.finfo(dtype).eps)
    for layout, view in LAYOUTS.items():
        axes = [None, 0, -1] if layout == "row-major" else [(None, 0, -1)[len(layout) % 3]]
        for axis in axes if len(shape) < 3 else [*axes, (0, 2), 1]:
            results = []
            for run in LARGE_RUNS:
                with settings(**run):
                    x = view(xp.asarray(a, copy=True))
                    results.append(numpy_of(reduce(x, axis=axis)))
            oracle, actual, threaded = results
            hint = f"{layout}, {axis}"
            assert_same(threaded, actual, hint)
            assert actual.shape == oracle.shape
            assert actual.dtype == oracle.dtype
            moved = numpy_of(x)
            terms = moved.size // max(oracle.size, 1)
            # All results together: each is at most as bad as the worst of them may be.
            rounding = eps * 16 * (np.sqrt(terms) if name == "prod" else np.log2(terms) + 4)
            if name in ("sum", "mean") and oracle.size > 1:
                tolerance = rounding * getattr(np, name)(np.abs(moved), axis=axis)
            else:
                tolerance = rounding * _largest_condition(moved, name, axis)
            tolerance = tolerance + terms * float(np.finfo(dtype).tiny)
            assert np.all(np.abs(actual - oracle) <= tolerance), hint


def _largest_condition(values, name, axis):
    if axis is None:
        return _condition(values, name)
    axes = axis if isinstance(axis, tuple) else (axis,)
    kept = np.moveaxis(values, axes, range(len(axes)))
    lanes = kept.reshape(-1, *kept.shape[len(axes) :]).reshape(
        int(np.prod(kept.shape[: len(axes)])), -1
    )
    # Twenty lanes are enough; the factor covers the others.
    return 8 * max([_condition(lane, name) for lane in lanes.T[:20]])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -0.0, 5e-324], ids=str)
@pytest.mark.parametrize("position", [0, 1, 20_000, LARGE + 49, -1])
def test_special_values_reach_the_result_of_a_reduction(position, value):
    a = np.full(LARGE + 50, -0.0)
    a[position] = value
    with settings("large"):
        x = xp.asarray(a, copy=True)
        for name in ("max", "min", "sum", "any"):
            actual = numpy_of(getattr(xp, name)(x + 0.0))
            assert_same(actual, getattr(np, name)(a + 0.0), name)
        assert_same(numpy_of(xp.sum(x)), np.sum(a))


def test_sums_of_negative_zeros_keep_their_sign():
    with deferring():
        for shape in [(5,), (3, 4), (2, 3, 4)]:
            a = np.full(shape, -0.0)
            x = xp.asarray(a, copy=True)
            for axis in range(-1, len(shape)):
                assert_same(numpy_of(xp.sum(x, axis=axis)), a.sum(axis=axis))
            assert_same(numpy_of(xp.sum(x)), np.asarray(a.sum()))
