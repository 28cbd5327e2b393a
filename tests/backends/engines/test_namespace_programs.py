"""The same random programs on the CPU and on an engine: the same bits for integers and movement,
and the same numbers but for rounding for floats."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import array_api_nx as xp

Step = Callable[[list[xp.Array]], xp.Array]

SHAPE = (3, 4)


def random_values(seed, name):
    rng = np.random.default_rng(seed)
    if name.startswith("float"):
        return rng.normal(size=SHAPE).astype(name)
    if name.startswith("complex"):
        return (rng.normal(size=SHAPE) + 1j * rng.normal(size=SHAPE)).astype(name)
    if name == "bool":
        return rng.random(SHAPE) < 0.5
    info = np.iinfo(name)
    return rng.integers(info.min, info.max, SHAPE, name, endpoint=True)


# Each step takes the last arrays of a program and gives another one of the same shape. Those in
# MOVEMENT take every dtype, those in NUMBERS every number, those in INTEGERS integers alone.
MOVEMENT = {
    "flip": lambda xs: xp.flip(xs[-1], axis=0),
    "roll": lambda xs: xp.roll(xs[-1], 2),
    "transpose": lambda xs: xp.reshape(xs[-1].T, SHAPE),
    "stepped": lambda xs: xp.concat([xs[-1][::2], xs[-1][1::2]]),
    "backwards": lambda xs: xs[-1][::-1, ::-1],
    "tile": lambda xs: xp.tile(xs[-1][:, :2], (1, 2)),
    "take": lambda xs: xp.take(xs[-1], xp.asarray([2, -1, 0], device=xs[-1].device), axis=0),
    "mask": lambda xs: xp.where(xs[0] == xs[-1], xs[-1], xs[0]),
    "index": lambda xs: xs[-1][:, xp.asarray([3, 0, 0, 1], device=xs[-1].device)],
    "broadcast": lambda xs: xp.broadcast_to(xs[-1][1], SHAPE),
    "repeat": lambda xs: xp.repeat(xs[-1][:1], 3, axis=0),
    "write": lambda xs: written(xs[-1], xs[0]),
}
NUMBERS = {
    "add": lambda xs: xs[-1] + xs[0],
    "subtract": lambda xs: xs[-1] - xs[0],
    "multiply": lambda xs: xs[-1] * xs[0],
    "negative": lambda xs: -xs[-1],
    "square": lambda xs: xp.square(xs[-1]),
    "twice": lambda xs: xs[-1] * 2,
    "in place": lambda xs: in_place(xs[-1], xs[0]),
    "sum": lambda xs: xp.broadcast_to(xp.sum(xs[-1], axis=0, dtype=xs[-1].dtype), SHAPE),
    "scan": lambda xs: xp.cumulative_sum(xs[-1], axis=1, dtype=xs[-1].dtype),
    "matmul": lambda xs: xs[-1] @ xs[0].T @ xs[0],
}
INTEGERS = {
    "abs": lambda xs: xp.abs(xs[-1]),
    "floor_divide": lambda xs: xs[-1] // xs[0],
    "divide by scalar": lambda xs: xs[-1] // 3,
    "remainder": lambda xs: xs[-1] % xs[0],
    "shift": lambda xs: xs[-1] >> 3,
    "left": lambda xs: xs[-1] << 1,
    "xor": lambda xs: xs[-1] ^ xs[0],
    "and": lambda xs: xs[-1] & xs[0],
    "invert": lambda xs: ~xs[-1],
    "maximum": lambda xs: xp.maximum(xs[-1], xs[0]),
    "sort": lambda xs: xp.sort(xs[-1], descending=True),
    "argsort": lambda xs: xp.astype(xp.argsort(xs[-1], axis=0), xs[-1].dtype),
    "sign": lambda xs: xp.sign(xs[-1]),
    "max": lambda xs: xp.broadcast_to(xp.max(xs[-1], axis=0), SHAPE),
    "unique": lambda xs: xp.astype(xp.unique_inverse(xs[-1]).inverse_indices, xs[-1].dtype),
    "clip": lambda xs: xp.clip(xs[-1], 1, 100),
    "less": lambda xs: xp.astype(xs[-1] < xs[0], xs[-1].dtype),
    "prod": lambda xs: xp.broadcast_to(xp.prod(xs[-1], axis=0, dtype=xs[-1].dtype), SHAPE),
}
FLOATS = {
    "sin": lambda xs: xp.sin(xs[-1]),
    "tanh": lambda xs: xp.tanh(xs[-1]),
    "mean": lambda xs: xs[-1] - xp.mean(xs[-1], axis=0),
    "divide": lambda xs: xs[-1] / (2.5 + xp.abs(xs[0])),
    "exp": lambda xs: xp.exp(-xp.abs(xs[-1])),
    "std": lambda xs: xs[-1] / (1 + xp.std(xs[0])),
    "norm": lambda xs: xs[-1] / (1 + xp.linalg.vector_norm(xs[-1])),
}


def written(x, y):
    """A view is written to, and the array shows it."""
    x = xp.asarray(x, copy=True)
    x.T[::-1][1] = y[:, 0]
    x[xp.asarray([0, 2, 0], device=x.device), 2] = y[:, 1]
    return x


def in_place(x, y):
    x = xp.asarray(x, copy=True)
    half = x[:, ::-2]
    half += y[:, :2]
    x *= y[1]
    return x


def run(steps, values, device):
    arrays = [xp.asarray(values, device=device, copy=True)]
    for step in steps:
        arrays.append(step(arrays))
        assert arrays[-1].device == device
    return arrays


def programs(*tables):
    names = [name for table in tables for name in table]
    return st.lists(st.sampled_from(names), min_size=1, max_size=6)


ALL_STEPS = MOVEMENT | NUMBERS | INTEGERS | FLOATS
EXACT = ["bool", "int8", "int64", "uint8", "uint16", "uint32", "uint64"]


def examples(device):
    # JAX compiles every step for every dtype.
    return 3 if device.name.startswith("jax") else 40


def check(device, strategy, name, tol):
    @settings(
        max_examples=examples(device),
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy, st.integers(0, 5))
    def compare(names, seed):
        steps = [ALL_STEPS[each] for each in names]
        values = random_values(seed, name)
        with np.errstate(all="ignore"):
            here = run(steps, values, xp.Device("cpu"))
        there = run(steps, values, device)
        for each, mine, other in zip(["start", *names], here, there, strict=True):
            assert mine.dtype is other.dtype, each
            left, right = np.asarray(mine), np.asarray(other.to_device("cpu"))
            if tol:
                scale = 1 + np.abs(left).max()
                np.testing.assert_allclose(right, left, rtol=tol, atol=tol * scale, err_msg=each)
            else:
                np.testing.assert_array_equal(right, left, err_msg=each)

    compare()


@pytest.mark.parametrize("name", EXACT)
def test_integers_and_booleans_agree_to_the_bit(device, name):
    tables = [MOVEMENT] if name == "bool" else [MOVEMENT, NUMBERS, INTEGERS]
    check(device, programs(*tables), name, 0)


@pytest.mark.parametrize("name", ["float32", "float64", "complex128"])
def test_movement_of_floats_agrees_to_the_bit(device, name):
    check(device, programs(MOVEMENT), name, 0)


@pytest.mark.parametrize(("name", "tol"), [("float32", 1e-4), ("float64", 1e-11)])
def test_floats_agree_but_for_rounding(device, name, tol):
    bounded = {k: v for k, v in NUMBERS.items() if k not in ("square", "multiply", "matmul")}
    check(device, programs(MOVEMENT, bounded, FLOATS), name, tol)
