"""What the standard leaves open and clients need: NumPy's behaviour."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.refusals import refused
from tests.support.tables import for_each

pytestmark = pytest.mark.slow

DTYPES = xp.__array_namespace_info__().dtypes()
REAL_AND_BOOL = [name for name in DTYPES if not name.startswith("complex")]
INTEGERS = [name for name in DTYPES if "int" in name]

ROWS = np.array([2, 0, -1])
MASK = np.array([True, False, True])
PLANE = np.arange(12).reshape(3, 4) % 5 == 0
MIXED_KEYS = {
    "x[0]": 0,
    "x[-1, 1]": (-1, 1),
    "x[1:9]": slice(1, 9),
    "x[7:, ::-3]": (slice(7, None), slice(None, None, -3)),
    "x[i, :]": (ROWS, slice(None)),
    "x[:, i]": (slice(None), ROWS),
    "x[..., i]": (..., ROWS),
    "x[i, ...]": (ROWS, ...),
    "x[i, ..., i]": (ROWS, ..., ROWS),
    "x[i, 1:3]": (ROWS, slice(1, 3)),
    "x[i, None]": (ROWS, None),
    "x[0, :, i]": (0, slice(None), ROWS),
    "x[:, 0, i]": (slice(None), 0, ROWS),
    "x[i, 1]": (ROWS, 1),
    "x[i[:, None], i]": (ROWS[:, None], ROWS),
    "x[mask]": MASK,
    "x[mask, :2]": (MASK, slice(None, 2)),
    "x[mask, 0]": (MASK, 0),
    "x[..., mask, :, :]": (..., MASK, slice(None), slice(None)),
    "x[plane]": PLANE,
    "x[plane, 1]": (PLANE, 1),
    "x[..., plane, :]": (..., PLANE, slice(None)),
    "x[:, :, [0, 1, 1]]": (slice(None), slice(None), [0, 1, 1]),
    "x[[]]": [],
    "x[[True, False, True]]": [True, False, True],
    "x[np.int64(1)]": np.int64(1),
    "x[0-d array]": np.array(1),
    "x[True]": True,
}


def own(key):
    if isinstance(key, tuple):
        return tuple(own(item) for item in key)
    return xp.asarray(key) if isinstance(key, np.ndarray) else key


class TestIndexing:
    array = np.arange(60.0).reshape(3, 4, 5)

    @for_each("key", MIXED_KEYS.values())
    @pytest.mark.parametrize("convert", [own, lambda key: key], ids=["own arrays", "ndarrays"])
    def test_reads_as_numpy(self, key, convert):
        result = xp.asarray(self.array)[convert(key)]
        assert np.array_equal(np.asarray(result), self.array[key])

    @for_each("key", MIXED_KEYS.values())
    @pytest.mark.parametrize("convert", [own, lambda key: key], ids=["own arrays", "ndarrays"])
    def test_writes_as_numpy(self, key, convert):
        for value in (np.float64(-1), self.array[key] + 0.5):
            expected = self.array.copy()
            expected[key] = value
            x = xp.asarray(self.array, copy=True)
            x[convert(key)] = xp.asarray(value)
            assert np.array_equal(np.asarray(x), expected)

    @pytest.mark.parametrize(
        ("key", "error"),
        [
            ([0, 3], IndexError),
            ([0.0], IndexError),
            ([[0], [1, 2]], ValueError),
            (["a"], TypeError),
            ("a", IndexError),
        ],
        ids=str,
    )
    def test_refuses_what_is_no_index(self, key, error):
        refused(error, None, lambda: xp.asarray(self.array)[key])

    def test_iterates_over_the_first_axis_in_views(self):
        x = xp.asarray(self.array, copy=True)
        rows = list(x)
        assert len(rows) == len(x) == 3
        assert np.array_equal(np.asarray(rows[1]), self.array[1])
        rows[1] += 1
        assert np.array_equal(np.asarray(x[1]), self.array[1] + 1)
        first, second = xp.asarray([1, 2])
        assert (first.shape, int(second)) == ((), 2)


class TestFull:
    @pytest.mark.parametrize("name", DTYPES)
    def test_takes_0d_arrays_and_their_dtype(self, name):
        value = xp.ones((), dtype=DTYPES[name])
        for result in (xp.full((2, 3), value), xp.full((2, 3), np.ones((), dtype=name)[()])):
            assert result.shape == (2, 3)
            assert result.dtype is DTYPES[name]
            assert bool(xp.all(result == 1))

    def test_takes_another_dtype_and_gives_memory_of_its_own(self):
        value = xp.asarray(2.5)
        assert xp.full(2, value, dtype=xp.int32).dtype is xp.int32
        result = xp.full(2, value)
        result[0] = 1
        assert (float(value), float(result[1])) == (2.5, 2.5)
        assert xp.full_like(xp.zeros(2, dtype=xp.float32), value).dtype is xp.float32

    def test_refuses_arrays_with_axes(self):
        refused(ValueError, "broadcast_to", xp.full, (2, 2), xp.ones(2))


class TestMixedKinds:
    @for_each("first", DTYPES)
    @pytest.mark.parametrize("second", DTYPES)
    def test_promote_as_in_numpy(self, first, second):
        expected = DTYPES[np.result_type(np.dtype(first), np.dtype(second)).name]
        x = xp.ones(2, dtype=DTYPES[first])
        y = xp.ones(2, dtype=DTYPES[second])
        assert xp.result_type(x.dtype, y.dtype) is expected
        assert xp.result_type(x, y.dtype) is expected
        assert xp.where(x == 1, x, y).dtype is expected
        assert xp.concat([x, y]).dtype is expected
        assert (x * y if expected is not xp.bool else x & y).dtype is expected

    @pytest.mark.parametrize("name", INTEGERS)
    def test_dividing_integers_gives_floats(self, name):
        x = xp.asarray([1, 3], dtype=DTYPES[name])
        result = x / xp.asarray([2, 4], dtype=DTYPES[name])
        assert result.dtype is xp.float64
        assert np.array_equal(np.asarray(result), [0.5, 0.75])
        assert (x / 2).dtype is xp.float64

    @pytest.mark.parametrize("name", REAL_AND_BOOL)
    def test_float_functions_take_integers(self, name):
        x = xp.asarray([0, 1], dtype=DTYPES[name])
        for function in (xp.exp, xp.sqrt, xp.mean):
            result = function(x)
            assert xp.isdtype(result.dtype, "real floating")
            expected = getattr(np, function.__name__)(np.asarray([0.0, 1.0]))
            np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-6)

    def test_sum_and_products_of_booleans_count(self):
        x = xp.asarray([[True, False, True], [True, True, True]])
        assert xp.sum(x).dtype is xp.int64
        assert int(xp.sum(x)) == 5
        assert np.array_equal(np.asarray(xp.sum(x, axis=1)), [2, 3])
        assert np.array_equal(np.asarray(xp.cumulative_sum(x[0])), [1, 1, 2])

    def test_logical_functions_take_numbers(self):
        x = xp.asarray([0.0, 2.0, xp.nan])
        assert np.array_equal(np.asarray(xp.logical_or(x, xp.asarray([0, 0, 0]))), [0, 1, 1])
        assert np.array_equal(np.asarray(xp.logical_and(x, x)), [0, 1, 1])
        assert np.array_equal(np.asarray(xp.logical_not(x)), [1, 0, 0])

    def test_where_takes_two_scalars_of_different_kinds(self):
        result = xp.where(xp.asarray([True, False]), 0.0, 1)
        assert result.dtype is xp.float64
        assert np.array_equal(np.asarray(result), [0, 1])


class TestInPlaceNarrowing:
    @pytest.mark.parametrize(
        ("target", "other"),
        [
            ("int32", "int64"),
            ("float32", "float64"),
            ("complex64", "complex128"),
            ("float32", "int64"),
        ],
    )
    def test_stays_within_the_kind(self, target, other):
        x = xp.ones(3, dtype=DTYPES[target])
        y = xp.full(3, 2, dtype=DTYPES[other])
        x += y
        x *= y
        x[1:] = y[1:]
        assert x.dtype is DTYPES[target]
        assert np.array_equal(np.asarray(x), [6, 2, 2])

    @pytest.mark.parametrize(("target", "other"), [("int64", "float64"), ("float64", "complex128")])
    def test_refuses_to_lose_data(self, target, other):
        x = xp.ones(3, dtype=DTYPES[target])
        y = xp.full(3, 2, dtype=DTYPES[other])
        with pytest.raises(TypeError, match="loses data"):
            x += y
        with pytest.raises(TypeError, match="loses data"):
            x[...] = y
        assert bool(xp.all(x == 1))


class TestNumPysMethods:
    def test_sum(self):
        array = np.arange(6.0).reshape(2, 3)
        x = xp.asarray(array)
        assert float(x.sum()) == 15
        assert np.array_equal(np.asarray(x.sum(axis=0)), array.sum(axis=0))
        assert x.sum(axis=(0, 1), keepdims=True).shape == (1, 1)
        assert x.sum(dtype=xp.float32).dtype is xp.float32
        assert xp.asarray([True, True]).sum().dtype is xp.int64
        out = xp.zeros(())
        assert x.sum(out=out) is out
        assert float(out) == 15
        refused(ValueError, "which out= must have", x.sum, out=xp.zeros(3))

    def test_sum_is_what_numpys_function_calls(self):
        x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
        for result in (np.sum(x), np.sum(x, axis=0), np.sum(x, axis=1, keepdims=True)):
            assert type(result) is xp.Array
        assert float(np.sum(x)) == 10

    def test_reshape(self):
        x = xp.arange(6)
        for result in (
            x.reshape(2, 3),
            x.reshape((2, -1)),
            x.reshape([2, 3]),
            np.reshape(x, (2, 3)),
        ):
            assert type(result) is xp.Array
            assert result.shape == (2, 3)
        assert x.reshape(-1).shape == (6,)
        x.reshape(2, 3, copy=False)[0, 0] = 7
        x.reshape(2, 3, copy=True)[0, 0] = 9
        assert int(x[0]) == 7
        refused(ValueError, "row-major", x.reshape, (2, 3), order="F")


class TestOddities:
    @pytest.mark.parametrize(
        ("value", "spec"), [(1.23456, ".3f"), (1.5e10, "8.2e"), (42, "05d"), (7, "x"), (2.5, "")]
    )
    def test_0d_arrays_take_format_specs(self, value, spec):
        assert format(xp.asarray(value), spec) == format(value, spec)

    def test_clip_with_crossed_bounds_gives_the_upper_one(self):
        x = xp.asarray([1.0, 2.0, 3.0])
        assert np.array_equal(np.asarray(xp.clip(x, 5, 1)), np.clip(np.asarray(x), 5, 1))
        crossed = xp.clip(x, xp.asarray([0.0, 4.0, 5.0]), xp.asarray([9.0, 3.0, 1.0]))
        assert np.array_equal(np.asarray(crossed), [1, 3, 1])

    def test_diff_takes_n_by_position(self):
        x = xp.asarray([1.0, 4.0, 9.0, 16.0])
        assert np.array_equal(np.asarray(xp.diff(x, 2)), [2, 2])

    def test_where_with_a_condition_alone_is_nonzero(self):
        rows, columns = xp.where(xp.asarray(PLANE))
        for ours, theirs in zip((rows, columns), np.nonzero(PLANE), strict=True):
            assert np.array_equal(np.asarray(ours), theirs)

    def test_arange_makes_complex_numbers(self):
        result = xp.arange(3, dtype=xp.complex64)
        assert result.dtype is xp.complex64
        assert np.array_equal(np.asarray(result), [0, 1, 2])
        refused(TypeError, "not bool", xp.arange, 3, dtype=xp.bool)
