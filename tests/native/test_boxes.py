"""Copies of many elements, which are passes: into new arrays, and into what lies otherwise."""

import gc

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from tests.support.sizes import AT_ONCE, DEFERRED

DTYPES = ["bool", "uint8", "int16", "float16", "float32", "int64", "complex64", "complex128"]

LAYOUTS = {
    "rows": lambda m, x: x,
    "columns": lambda m, x: x.T,
    "backward": lambda m, x: x[::-1, ::-1],
    "every other": lambda m, x: x[::2, 1::2],
    "columns backward": lambda m, x: x.T[:, ::-1],
    "rotated": lambda m, x: x.reshape(5, -1, x.shape[1]).transpose(1, 2, 0),
    "repeated": lambda m, x: m.broadcast_to(x[:, :1], x.shape),
    "repeated in blocks": lambda m, x: m.broadcast_to(x[:6, None, :1], (6, 40, 33)),
    "repeated along the middle": lambda m, x: m.broadcast_to(x[:6, None, :9], (6, 40, 9)),
    "repeated in columns": lambda m, x: m.broadcast_to(x[:, :1], (x.shape[0], 70)).T,
}

COPIES = {
    "copy": lambda m, x: x.copy(),
    "ascontiguousarray": lambda m, x: m.ascontiguousarray(x),
    "flatten": lambda m, x: x.flatten(),
    "reshape": lambda m, x: x.reshape(-1),
    "roll": lambda m, x: m.roll(x, 7, axis=0),
    "roll both": lambda m, x: m.roll(x, (3, -5), axis=(0, 1)),
    "roll flat": lambda m, x: m.roll(x, -11),
    "tile": lambda m, x: m.tile(x, (2,) * x.ndim),
    "repeat": lambda m, x: m.repeat(x, 3, axis=1),
    "repeat flat": lambda m, x: m.repeat(x, 2),
    "concatenate": lambda m, x: m.concatenate([x, x[:1], x]),
    "stack": lambda m, x: m.stack([x, x], axis=-1),
}


def elements(dtype: str, rows: int, columns: int) -> np.ndarray:
    """A matrix whose neighbours differ."""
    numbers = np.random.default_rng(1).integers(0, 200, (rows, columns))
    return numbers.astype(dtype) * (1 + 1j if dtype.startswith("complex") else 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_have_the_elements_in_order(layout: str, dtype: str) -> None:
    values = elements(dtype, 205, 6 * AT_ONCE // 205 + 3).astype(dtype)
    lay = LAYOUTS[layout]
    x, expected = lay(face, face.array(values)), lay(np, values)
    for name, copy in COPIES.items():
        result = copy(face, x)
        assert np.array_equal(np.asarray(result), copy(np, expected)), name
        assert result.dtype == expected.dtype, name
    assert x.copy().flags.c_contiguous


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_into_memory_that_lies_otherwise(layout: str, dtype: str) -> None:
    values = elements(dtype, 300, 300).astype(dtype)
    lay = LAYOUTS[layout]
    source = lay(np, values)
    for turn in (lambda x: x, lambda x: x.T):
        target = turn(np.zeros(turn(source).shape, dtype))
        written = turn(face.zeros(turn(source).shape, dtype=dtype))
        target[...] = source
        written[...] = lay(face, face.array(values))
        assert np.array_equal(np.asarray(written), target)


@pytest.mark.parametrize("size", [200, 800])
def test_values_of_column_major_operands_go_straight_into_rows(size: int) -> None:
    values = elements("float64", size, size)
    x, y = face.array(values), face.zeros((size, size))
    y[...] = x.T * 2
    held = x.T + 1
    y[:, 1:] = held[:, 1:]
    z = face.zeros((size, size))
    z[...] = held
    z += 1
    assert np.array_equal(np.asarray(held), values.T + 1)
    assert np.array_equal(np.asarray(z), values.T + 2)
    y.T[...] = held
    assert np.array_equal(np.asarray(y), (values.T + 1).T)
    x[...] = x.T + x
    assert np.array_equal(np.asarray(x), values.T + values)


def test_a_copy_is_apart_from_what_waits_and_what_is_written_later() -> None:
    x = xp.reshape(xp.arange(DEFERRED + 3, dtype=xp.float64)[3:], (3, -1))
    copies = [xp.asarray(x.T, copy=True), xp.reshape(x.T, (-1,)), xp.roll(x, 1), xp.tile(x, (1, 2))]
    before = [np.array(copy) for copy in copies]
    x[...] = -1.0
    assert all(
        np.array_equal(np.asarray(copy), old) for copy, old in zip(copies, before, strict=True)
    )


@pytest.mark.parametrize("value", [2.5, 1 + 2j, 7, True])
def test_large_arrays_of_one_number(value: complex) -> None:
    shape = (3, DEFERRED)
    for result, expected in (
        (face.full(shape, value), np.full(shape, value)),
        (face.full_like(face.zeros(shape), 3), np.full(shape, 3.0)),
        (face.ones(shape), np.ones(shape)),
    ):
        assert result.dtype == expected.dtype
        assert np.array_equal(np.asarray(result), expected)


@pytest.mark.parametrize("size", [20, AT_ONCE])
def test_tiles_that_repeat_nothing_keep_the_order_of_the_axes(size: int) -> None:
    values = np.asfortranarray(np.arange(2.0 * size).reshape(2, size, 1))
    for times in ((), 1, (1, 1), 2):
        expected, found = np.tile(values, times), face.tile(face.array(values, order="F"), times)
        assert np.array_equal(np.asarray(found), expected)
        assert found.strides == expected.strides


def test_operands_that_shrink_meanwhile_are_read_no_further() -> None:
    x = face.full(DEFERRED, 5.0)

    def collecting(phase: str, info: object) -> None:
        x.resize((10,))

    before = gc.get_threshold()
    for copy in (lambda: x.copy(), lambda: face.roll(x, 5), lambda: face.tile(x, 2)):
        x.resize((DEFERRED,))
        x.fill(5.0)
        gc.collect()
        gc.callbacks.append(collecting)
        gc.set_threshold(1, 1000, 1000)
        try:
            result = copy()
        finally:
            gc.set_threshold(*before)
            gc.callbacks.remove(collecting)
        assert np.unique(np.asarray(result)).tolist() == [5.0]


@pytest.mark.parametrize("seed", range(30))
def test_views_are_rolled_and_copied_in_the_order_of_their_axes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for dtype in ("bool", "float64"):
        x = rng.integers(0, 9, rng.integers(1, 6, rng.integers(1, 4))).astype(dtype)
        for key in (..., slice(None, None, -1), (..., slice(None, None, 2))):
            for view in (x[key], x[key].T, x[key].swapaxes(0, -1)):
                ours = face.asarray(view)
                shift, axis = int(rng.integers(-9, 9)), int(rng.integers(-x.ndim, x.ndim))
                for expected, found in (
                    (np.roll(view, shift), face.roll(ours, shift)),
                    (np.roll(view, shift, axis), face.roll(ours, shift, axis)),
                    (view.astype(dtype), ours.astype(dtype)),
                ):
                    np.testing.assert_array_equal(np.asarray(found), expected)
                    long = [axis for axis, size in enumerate(expected.shape) if size > 1]
                    assert [found.strides[k] for k in long] == [expected.strides[k] for k in long]
