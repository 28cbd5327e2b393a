"""argmax and argmin are NumPy's, in every layout, for arrays that are searched in pieces, too."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native

from ..support.implementations import needs_native

pytestmark = needs_native

DTYPES = ("float64", "float32", "float16", "int64", "int32", "int16", "uint64", "uint8", "bool")
# Rows longer than a piece; short rows; few and many columns; units of several outer axes.
SHAPES = (
    (70_000,),
    (3, 70_000),
    (70_000, 3),
    (40_000, 9),
    (9_000, 17),
    (140, 137),
    (60, 20, 3),
    (5, 1, 2),
    (1,),
)


def arrays(rng, shape, dtype):
    """Of few values, which repeat; of many; and, of floats, zeros of both signs and NaN."""
    few = rng.integers(0, 3, shape).astype(dtype)
    if dtype == "bool":
        return [few, np.zeros(shape, dtype)]
    many = (rng.random(shape) * 100).astype(dtype)
    if not dtype.startswith("float"):
        return [few, many]
    one, several = many.copy(), few * np.asarray(-0.0, dtype)
    one.flat[rng.integers(one.size)] = np.nan
    several[rng.random(shape) < 0.1] = rng.choice([np.nan, np.inf, -np.inf])
    return [few, many, one, several]


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes_are_numpys(dtype):
    rng = np.random.default_rng(1)
    for shape in SHAPES:
        for x in arrays(rng, shape, dtype):
            steps = tuple(slice(None, None, int(rng.choice([1, 2, -1]))) for _ in shape)
            for key, order in ((..., range(x.ndim)), (steps, rng.permutation(x.ndim))):
                axes = tuple(int(axis) for axis in order)
                theirs = x[key].transpose(axes)
                ours = xp.permute_dims(xp.asarray(x, copy=True)[key], axes)
                for axis in (None, *range(x.ndim)):
                    keepdims = bool(rng.integers(2))
                    for name in ("argmax", "argmin"):
                        expected = np.asarray(getattr(np, name)(theirs, axis, keepdims=keepdims))
                        found = np.asarray(getattr(xp, name)(ours, axis=axis, keepdims=keepdims))
                        assert found.dtype == np.int64
                        assert found.shape == expected.shape
                        assert np.array_equal(found, expected), (name, shape, key, axes, axis)


def test_rows_of_each_length():
    rng = np.random.default_rng(2)
    for length in (1, 2, 3, 8, 48, 49):
        for dtype in ("float32", "float64", "int32", "int64"):
            for x in arrays(rng, (40_000 // length * 4, length), dtype):
                ours = xp.asarray(x, copy=True)
                assert np.array_equal(np.asarray(xp.argmin(ours, axis=1)), x.argmin(1))
                assert np.array_equal(np.asarray(xp.argmax(ours, axis=1)), x.argmax(1))


def test_what_c_does_not_read_is_left_to_numpy():
    assert native is not None
    x, places = np.zeros((4, 3)), np.zeros(4, np.int64)
    frozen = places.copy()
    frozen.flags.writeable = False
    assert native.arg_extremes(x, 1, False, places)
    for array, axis, found in [
        (x, 2, places),
        (x, -1, places),
        (x[:, :0], 1, places),
        (x.astype(complex), 1, places),
        (x.astype(">f8"), 1, places),
        (np.zeros(97, np.uint8)[1:].view(float).reshape(4, 3), 1, places),
        (x, 1, places[:3]),
        (x, 1, np.zeros(8, np.int64)[::2]),
        (x, 1, np.zeros(4)),
        (x, 1, frozen),
    ]:
        assert not native.arg_extremes(array, axis, False, found)
