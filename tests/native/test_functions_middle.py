"""Compiled callables on arrays of more elements than one thread computes best, but which are not
deferred: they give what their Python functions give."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import array_api_nx as xp
from array_api_nx.backends.cpu import policy
from tests.support import implementations
from tests.support.implementations import assert_alike, needs_native
from tests.support.sizes import AT_ONCE, MIDDLE
from tests.support.tables import for_each

pytestmark = needs_native

SIZES = [AT_ONCE + 1, MIDDLE, 2**17 - 1, 2**17 + 1, policy.LARGE]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-310, 3e38]
DTYPES = ["float32", "float64", "int32", "int64", "uint8", "bool"]


def numbers(rng, dtype, size):
    if dtype == "bool":
        return rng.random(size) < rng.choice([0.0, 0.001, 0.5, 1.0])
    if dtype[0] != "f":
        return rng.integers(0, 100, size).astype(dtype)
    x = rng.normal(size=size).astype(dtype)
    if rng.random() < 0.5:
        with np.errstate(all="ignore"):
            x[:: int(rng.integers(3, 3000))] = np.asarray(rng.choice(SPECIAL)).astype(dtype)
    return x


@st.composite
def arrays(draw):
    """Three arrays of one dtype and one shape, of any layouts."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.sampled_from(SIZES))
    dtype = draw(st.sampled_from(DTYPES))
    columns = draw(st.sampled_from([1, 3, 20, 256]))
    layout = draw(st.sampled_from(["flat", "rows", "columns", "strided", "flipped", "mixed"]))
    made = []
    for number in range(3):
        shape = (size // columns, columns)
        x = numbers(rng, dtype, shape[0] * columns).reshape(shape)
        if layout == "flat":
            x = x.reshape(-1)
        elif layout == "columns" or (layout == "mixed" and number == 1):
            x = np.asfortranarray(x)
        elif layout == "strided":
            x = np.repeat(x, 2, axis=0)[::2]
        elif layout == "flipped":
            x = np.flip(x).copy()[::-1, ::-1]
        made.append(xp.from_dlpack(x))
    return rng, made


CALLS = {
    "where": lambda rng, x, y, z: xp.where(x > 0, y, z),
    "where, a scalar": lambda rng, x, y, z: xp.where(z > 0, x, 1 if rng.random() < 0.5 else x),
    "clip": lambda rng, x, y, z: xp.clip(x, *sorted(rng.integers(-1, 2, 2).tolist())),
    "clip above": lambda rng, x, y, z: xp.clip(x, max=1),
    "clip below": lambda rng, x, y, z: xp.clip(x, 0),
    "clip by an array": lambda rng, x, y, z: xp.clip(x, xp.minimum(y, z), xp.maximum(y, z)),
    "astype": lambda rng, x, y, z: xp.astype(x, xp.float32),
    "astype of float64": lambda rng, x, y, z: xp.astype(x, xp.float64),
    "a copy": lambda rng, x, y, z: xp.asarray(x, copy=True),
    "concat": lambda rng, x, y, z: xp.concat([x, y], axis=-1),
    "stack": lambda rng, x, y, z: xp.stack([x[: x.shape[0] // 2], y[: x.shape[0] // 2]]),
    "max": lambda rng, x, y, z: xp.max(x, axis=None if rng.random() < 0.5 else 0),
    "min of rows": lambda rng, x, y, z: xp.min(x, axis=-1, keepdims=True),
    "any": lambda rng, x, y, z: xp.any(x, axis=None if rng.random() < 0.5 else -1),
    "all": lambda rng, x, y, z: xp.all(x),
    "count_nonzero": lambda rng, x, y, z: xp.count_nonzero(x),
    "prod": lambda rng, x, y, z: xp.prod(x, axis=0),
    "argmax": lambda rng, x, y, z: xp.argmax(x, axis=None if rng.random() < 0.5 else -1),
    "argmin": lambda rng, x, y, z: xp.argmin(x, axis=0),
    "vecdot": lambda rng, x, y, z: xp.vecdot(x, y),
}
BOOLEAN = {"any", "all", "count_nonzero", "a copy", "concat", "stack", "astype"}


@for_each("name", list(CALLS))
@settings(max_examples=30)
@given(arrays())
def test_answers_of_middle_sizes(name, case):
    rng, (x, y, z) = case
    if x.dtype == xp.bool and name not in BOOLEAN:
        return
    seed = int(rng.integers(2**32))

    def call(x, y, z):
        return CALLS[name](np.random.default_rng(seed), x, y, z)

    assert_alike(call, [x, y, z])


IN_C = [
    *("where", "clip", "clip by an array", "astype", "a copy", "concat", "stack"),
    *("max", "any", "argmax", "vecdot"),
]


@for_each("name", IN_C)
def test_they_are_answered_in_c(name):
    rng = np.random.default_rng(1)
    arrays = [xp.asarray(rng.normal(size=MIDDLE), copy=True) for _ in range(3)]
    assert implementations.is_answered_in_c(lambda x, y, z: CALLS[name](rng, x, y, z), *arrays)
