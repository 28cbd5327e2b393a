"""Rows of few elements, and operands that lie across, backwards or apart.

Loops compute many rows at a time over copies of them, with the bits and warnings that they give row
by row.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import array_api_nx as xp
from tests.support.implementations import assert_alike, is_answered_in_c, needs_native
from tests.support.tables import for_each

pytestmark = needs_native

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-310, 3e38]
DTYPES = ["bool", "int8", "uint16", "int32", "int64", "float32", "float64", "complex128"]


def numbers(rng, dtype, shape):
    x = rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)
    if dtype[0] in "fc":
        x -= rng.random(shape).astype(dtype)
        with np.errstate(all="ignore"):
            x[rng.random(shape) < 0.01] = np.asarray(rng.choice(SPECIAL)).astype(dtype)
    return x


def laid_out(rng, x):
    """The same elements, somehow in memory."""
    way = int(rng.integers(7))
    if x.ndim == 0 or way == 0:
        return x
    if way == 1:
        return np.asfortranarray(x)
    if way == 2:
        return np.flip(np.flip(x).copy())
    if way == 3:
        return np.repeat(x, 2, axis=-1)[..., ::2]
    if way == 4:
        return np.flip(np.flip(x, -1).copy(), -1)
    if way == 5:
        return np.concatenate([x, x], axis=0)[: x.shape[0]]
    return np.concatenate([x, x[..., :1]], axis=-1)[..., : x.shape[-1]]


@st.composite
def operands(draw):
    """Three arrays that broadcast to rows, most of them short."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = draw(st.sampled_from([1, 2, 3, 10, 31, 32, 33, 64, 513, 1300]))
    outer = draw(st.sampled_from([(), (1,), (2,), (7,), (40,), (101,), (900,), (3, 5), (2, 1, 30)]))
    dtype = draw(st.sampled_from(DTYPES))
    made = []
    for _ in range(3):
        shape = (*outer, columns)
        kept = [n if rng.random() < 0.75 else 1 for n in shape]
        if rng.random() < 0.2:
            kept = kept[int(rng.integers(len(kept))) :]
        made.append(laid_out(rng, numbers(rng, dtype, tuple(kept))))
    return rng, made


def update(x, y, z):
    """In place, by an array of its shape or a smaller one."""
    x, whole = (xp.asarray(each, copy=True) for each in xp.broadcast_arrays(x, y))
    part = x[..., ::-1]
    part -= whole
    x += y
    return x


OPERATIONS = {
    "add": lambda x, y, z: x + y,
    "subtract": lambda x, y, z: x - y,
    "multiply": lambda x, y, z: x * y,
    "divide": lambda x, y, z: x / y,
    "less": lambda x, y, z: x < y,
    "equal": lambda x, y, z: x == y,
    "maximum": lambda x, y, z: xp.maximum(x, y),
    "hypot": lambda x, y, z: xp.hypot(x, y),
    "where": lambda x, y, z: xp.where(x != 0, y, z),
    "a scalar": lambda x, y, z: 2 * x,
    "negative": lambda x, y, z: -x,
    "sqrt": lambda x, y, z: xp.sqrt(x),
    # NumPy rounds it otherwise for one element that lies backwards.
    "exp": lambda x, y, z: xp.exp(xp.asarray(x, copy=x.size == 1)),
    "update": update,
}


@for_each("name", list(OPERATIONS))
@settings(max_examples=150)
@given(operands())
def test_element_by_element(name, case):
    _, arrays = case
    # What does not broadcast, and dtypes that an operation does not take, are cases, too.
    assert_alike(OPERATIONS[name], [xp.from_dlpack(x) for x in arrays])


@for_each("dtype", ["float32", "float64"])
@settings(max_examples=200)
@given(
    st.integers(0, 2**32),
    st.sampled_from([1, 2, 3, 4, 5, 8, 12, 13, 31, 32, 33]),
    st.sampled_from([1, 2, 3, 40, 333]),
)
def test_sums_of_few_columns(dtype, seed, columns, rows):
    rng = np.random.default_rng(seed)
    shape = (rows, columns) if rng.random() < 0.7 else (rows, 3, columns)
    x = xp.from_dlpack(laid_out(rng, numbers(rng, dtype, shape)))
    for call in (xp.sum, xp.mean, xp.var, xp.std):
        assert_alike(lambda x, call=call: call(x, axis=0), [x])
        assert_alike(lambda x, call=call: call(x, axis=0, keepdims=True), [x])
        assert_alike(lambda x, call=call: call(x, axis=tuple(range(x.ndim - 1))), [x])
    found = np.asarray(xp.sum(xp.asarray(x, copy=True), axis=0))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, np.sum(np.asarray(x).copy(), axis=0))


def test_zeros_have_numpys_sign():
    x = xp.full((40, 10), -0.0)
    assert not np.signbit(np.asarray(xp.sum(x, axis=0))).any()
    assert not np.signbit(np.sum(np.full((40, 10), -0.0), axis=0)).any()


@for_each("step", [1, 2, 50, 51, 52])
def test_windows_that_overlap(step):
    """Each begins with the last rows of the one before, of which it has more."""
    table = np.arange(4800.0).reshape(400, 12)
    windows = np.lib.stride_tricks.sliding_window_view(table, (60, 10))[::step, 0]
    assert_alike(lambda x: x + 1, [xp.asarray(windows)])


@for_each("step", [1, 511, 512, 513])
def test_windows_that_overlap_and_are_read_backwards(step):
    """Each begins with the last part of the one before."""
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(7000.0), 700)[::step][10::-1, ::-1]
    others = np.arange(float(windows.size)).reshape(windows.shape)
    assert_alike(lambda x, y: x + y, [xp.asarray(windows), xp.asarray(others)])


def test_they_are_answered_in_c():
    x = xp.ones((100, 10)) + 1
    row, column = x[0, :], x[:, :1]
    for call in (lambda x: x - row, lambda x: x / column, lambda x: xp.flip(x) * x):
        assert is_answered_in_c(call, x)
    assert is_answered_in_c(lambda x: xp.std(x, axis=0), x)
