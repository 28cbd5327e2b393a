"""Sums, means and variances of many elements: near NumPy's, with the same bits in any parts."""

import hashlib
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.programs import needs_extension, numpy_of
from tests.support.sizes import MIDDLE
from tests.support.tables import for_each


def memory(dtype):
    rng = np.random.default_rng(7)
    return (rng.standard_normal((260, 520)) * 3).astype(dtype)


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_means_and_variances(dtype, axis, keepdims):
    x = xp.asarray(memory("float64"), dtype=dtype, copy=True)
    data = np.asarray(x, dtype=np.float64)
    tolerance = 1e-5 if dtype is xp.float32 else 1e-13
    options = {"axis": axis, "keepdims": keepdims}
    for ours, expected in [
        (xp.sum(x, **options), np.sum(data, **options)),
        (xp.mean(x, **options), np.mean(data, **options)),
        (xp.var(x, **options), np.var(data, **options)),
        (xp.var(x, correction=1, **options), np.var(data, ddof=1, **options)),
        (xp.std(x, **options), np.std(data, **options)),
    ]:
        assert ours.dtype == dtype
        assert ours.shape == expected.shape
        np.testing.assert_allclose(np.asarray(ours), expected, rtol=tolerance, atol=tolerance * 9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("columns", [1, 2, 3, 5, 31, 63, 64, 65])
@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
def test_variances_of_many_short_rows(columns, dtype):
    rng = np.random.default_rng(columns)
    memory = (rng.standard_normal((6 * MIDDLE // columns, columns)) + 7).astype(dtype)
    memory[3, 0], memory[5] = np.inf, 0.1
    x = xp.asarray(memory, copy=True)
    with np.errstate(invalid="ignore"):
        found = numpy_of(xp.var(x, axis=1))
        expected = np.var(memory.astype(np.float64), axis=1)
        outer = numpy_of(xp.var(xp.reshape(x[500:1500, :], (10, 100, columns)), axis=(0, 2)))
    tolerance = (
        {"rtol": 1e-4, "atol": 1e-6} if dtype is xp.float32 else {"rtol": 1e-9, "atol": 1e-16}
    )
    np.testing.assert_allclose(found, expected, **tolerance)
    again = memory[500:1500].astype(np.float64).reshape(10, 100, columns).var(axis=(0, 2))
    np.testing.assert_allclose(outer, again, **tolerance)


def test_more_is_subtracted_than_there_is():
    x = xp.asarray(memory("float64"), copy=True)
    found = xp.var(x, axis=0, correction=x.shape[0])
    assert xp.all(xp.isnan(found))


def test_sums_do_not_depend_on_the_number_of_threads():
    x = xp.asarray(memory("float64"), copy=True)
    found = []
    for threads in (1, 2, 3):
        with xp.config_context(num_threads=threads):
            found.append([float(xp.sum(x)), float(xp.var(x)), float(xp.sum(x, axis=0)[5])])
    assert found[0] == found[1] == found[2]


def test_threads_reduce_at_the_same_time():
    arrays = [xp.asarray(memory("float64") + i, copy=True) for i in range(8)]

    def reduced(x):
        found = xp.sum(x), xp.mean(x, axis=0), xp.var(x), xp.var(x, axis=1)
        return [np.asarray(each).tobytes() for each in found]

    expected = [reduced(x) for x in arrays]
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda i: reduced(arrays[i % 8]) == expected[i % 8], range(200)):
            assert found


def test_sums_without_fusion_are_numpys():
    data = memory("float64")
    with xp.config_context(fusion="off"):
        assert float(xp.sum(xp.asarray(data, copy=True))) == float(np.sum(data))


@pytest.mark.parametrize("function", [xp.sum, xp.mean])
def test_sums_of_single_elements(function):
    data = memory("float64")[:, None]
    x = xp.asarray(data, copy=True)
    assert np.asarray(function(x, axis=())).tobytes() == data.tobytes()
    assert np.asarray(function(x, axis=1)).tobytes() == data.tobytes()


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_sums_warn_of_overflow():
    x = xp.full(MIDDLE, 1e305)
    with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
        total = float(xp.sum(x))
    assert total == float("inf")
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        float(xp.sum(x))


BITS = {"float32": "dcda61cc772bee08", "float64": "cef6fb053fe39558"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_have_the_same_bits_on_every_processor(dtype):
    """They are added up in an order of their own."""
    x = (np.arange(99_000) * 7919 % 1009 / np.asarray(97, dtype)).astype(dtype).reshape(900, 110)
    found = b""
    whole = xp.asarray(x, copy=True)
    for part in (whole, whole[:, ::2], whole[::-1, 1:], whole.T, whole * 0.1):
        for reduce in (xp.sum, xp.mean):
            for axis in (None, 0, 1):
                found += numpy_of(reduce(part, axis=axis)).tobytes()
    assert hashlib.sha256(found).hexdigest()[:16] == BITS[dtype]


SHAPES = [(70_001,), (300, 301), (20_000, 3), (3, 20_000), (40, 50, 60), (2, 8192 * 9 + 5)]


@needs_extension
@for_each("shape", SHAPES)
@for_each("dtype", ["float32", "float64"])
def test_variances_have_the_same_bits_in_pieces(shape, dtype):
    """As operands, as results of a pass that goes on, and on any number of threads."""
    x = np.random.default_rng(3).normal(5, 2, shape).astype(dtype)
    for axis in (None, *range(len(shape)), tuple(range(1, len(shape))) or None):
        if axis is not None and np.prod(np.take(shape, axis)) < 8:
            continue  # NumPy computes variances of few elements each
        found = set()
        for threads in (1, 2, 7):
            with xp.config_context(num_threads=threads):
                ours = xp.asarray(x, copy=True)
                for made in (ours, ours * 1):
                    found.add(numpy_of(xp.var(made, axis=axis)).tobytes())
        assert len(found) == 1
        expected = np.var(x.astype(float), axis=axis)
        np.testing.assert_allclose(
            numpy_of(xp.var(ours, axis=axis)), expected, rtol=1e-6 if dtype == "float32" else 1e-13
        )


@needs_extension
@for_each("shape", [(80_000,), (2, 40_000), (40_000, 2)])
def test_elements_near_each_other_and_far_from_zero(shape):
    near = np.random.default_rng(1).integers(0, 9, shape)
    x = xp.asarray(2.0**40 + near)
    for axis in (None, 0, len(shape) - 1):
        if axis is None or shape[axis] > 2:
            found = numpy_of(xp.var(x, axis=axis))
            np.testing.assert_allclose(found, near.var(axis=axis), rtol=1e-12)


@needs_extension
def test_variances_are_of_the_size_of_their_dtype():
    for dtype, large in (("float64", 1e150), ("float32", 1e18)):
        x = np.random.default_rng(1).normal(0, 1, 50_000).astype(dtype)
        expected = float(np.var(x.astype(float))) * large * large
        found = float(xp.var(xp.asarray(x * np.asarray(large, dtype))))
        assert found == pytest.approx(expected, rel=1e-5)


def met(function, x):
    with warnings.catch_warnings(record=True, action="always") as warned:
        numpy_of(xp.asarray(function(x)))
    # NumPy's name for the step depends on its version.
    return {str(each.message).replace("square", "multiply") for each in warned}


@needs_extension
@for_each("axis", [None, 0, 1])
@for_each("dtype", ["float32", "float64"])
def test_variances_warn_as_numpys(axis, dtype):
    info = np.finfo(dtype)
    for value in (np.inf, np.nan, info.max / 2, info.tiny):
        x = np.random.default_rng(1).normal(0, 1, (300, 400)).astype(dtype)
        x[17, 33] = value
        expected = np.var(x, axis=axis)
        with np.errstate(all="ignore"):
            found = numpy_of(xp.var(xp.asarray(x), axis=axis))
            np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-4)
        assert met(lambda x: xp.var(xp.asarray(x), axis=axis), x) == met(
            lambda x: np.var(x, axis=axis), x
        )


@needs_extension
def test_standardised_columns_are_computed_block_by_block():
    x = np.random.default_rng(3).normal(5, 2, (3000, 300))
    ours = xp.asarray(x, copy=True)
    found = numpy_of(
        (ours - xp.mean(ours, axis=1, keepdims=True)) / xp.std(ours, axis=1, keepdims=True)
    )
    expected = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
