"""Distinct elements and membership in C against the Python functions."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support import implementations
from tests.support.alike import DTYPES, compare
from tests.support.implementations import random_array
from tests.support.refusals import refused
from tests.support.sizes import AT_ONCE

pytestmark = implementations.needs_native

UNIQUE = [xp.unique_all, xp.unique_counts, xp.unique_inverse, xp.unique_values]


def _few(rng, dtype):
    """An array in some layout, in which elements occur more than once; half of them without the
    special values of floating-point numbers."""
    shape = tuple([int(n) for n in rng.integers(0, 6, int(rng.integers(0, 4)))])
    x = random_array(rng, dtype, shape)
    if rng.random() < 0.5 and x.dtype is not xp.bool:
        small = np.asarray(rng.integers(0, 5, shape), dtype)
        return xp.asarray(small.T, copy=True)
    return x


@pytest.mark.parametrize("dtype", DTYPES)
def test_unique(dtype):
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(60):
        x = _few(rng, dtype)
        for function in UNIQUE:
            compare(function, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_isin(dtype):
    rng = np.random.default_rng(100 + DTYPES.index(dtype))
    for _ in range(120):
        x, y = _few(rng, dtype), _few(rng, dtype if rng.random() < 0.8 else "float32")
        compare(xp.isin, x, y)
        compare(xp.isin, x, y, invert=bool(rng.integers(2)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 1023, 1025, AT_ONCE + 1, 3 * AT_ONCE])
def test_isin_of_few_members(dtype, size):
    rng = np.random.default_rng(size)
    for members in (1, 2, 16, 17):
        x, y = (rng.integers(0, 40, n).astype(dtype) for n in (size, members))
        if np.dtype(dtype).kind == "f":
            x[::5] = y[0] = np.nan
            x[1::5] = -0.0
        for array in (x, np.repeat(x, 2)[::2], x[::-1]):
            for invert in (False, True):
                found = xp.isin(xp.asarray(array), xp.asarray(y), invert=invert)
                np.testing.assert_array_equal(np.asarray(found), np.isin(array, y, invert=invert))
                found = xp.isin(xp.asarray(y), xp.asarray(array), invert=invert)
                np.testing.assert_array_equal(np.asarray(found), np.isin(y, array, invert=invert))


@pytest.mark.parametrize("dtype", [each for each in DTYPES if np.dtype(each).kind in "iu"])
def test_isin_of_integers_far_apart_and_close_together(dtype):
    rng = np.random.default_rng(7)
    ends = np.iinfo(dtype)
    for low, high in ((ends.min, ends.max), (ends.min, ends.min + 20), (ends.max - 20, ends.max)):
        for size in (1, 2, 30):
            x, y = (
                xp.asarray(rng.integers(low, high, n, dtype=dtype, endpoint=True), copy=True)
                for n in (40, size)
            )
            y[0] = [low, high][size % 2]
            compare(xp.isin, x, y)
            compare(xp.isin, xp.concat([x, y]), y, invert=True)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float32", "float64"])
def test_many_elements(dtype):
    rng = np.random.default_rng(5)
    for size, distinct in ((AT_ONCE, 90), (AT_ONCE, 10**6), (AT_ONCE + 1, 50), (3000, 2)):
        x = xp.asarray(rng.integers(0, distinct, size).astype(dtype), copy=True)
        for function in UNIQUE:
            compare(function, x)
        compare(xp.isin, x, x[: size // 3] + 1)


@pytest.mark.parametrize("dtype", DTYPES[:11])
def test_orders_of_long_vectors_are_numpys(dtype):
    """Long keys, equal keys, keys that differ in their last bits alone, NaN and zeros."""
    rng = np.random.default_rng(6)
    size = AT_ONCE + 3
    bits = rng.integers(0, 256, (size, np.dtype(dtype).itemsize), np.uint8)
    first = bits.view(dtype)[:, 0] if dtype != "bool" else bits[:, 0] > 99
    last = np.where(rng.random((size, 1)) < 0.5, bits[:1], bits) * (rng.random(size) < 0.9)[:, None]
    for x in (first, last.astype(np.uint8).view(dtype)[:, 0] if dtype != "bool" else ~first):
        ours = xp.asarray(x, copy=True)
        order = x.argsort(stable=True)
        np.testing.assert_array_equal(np.asarray(xp.argsort(ours)), order)
        expected = np.unique_all(x)
        for one, other in zip(xp.unique_all(ours), expected, strict=True):
            np.testing.assert_array_equal(np.asarray(one), other)
        for side in ("left", "right"):
            found = xp.searchsorted(xp.sort(ours), xp.flip(ours), side=side)
            np.testing.assert_array_equal(np.asarray(found), np.sort(x).searchsorted(x[::-1], side))


def test_results_are_the_named_tuples():
    x = xp.asarray([3, 1, 3])
    found = xp.unique_all(x)
    assert type(found).__name__ == "UniqueAll"
    assert found.counts is found[3]
    assert np.asarray(found.indices).tolist() == [1, 0]
    assert type(xp.unique_counts(x)).__name__ == "UniqueCounts"
    assert type(xp.unique_inverse(x)).__name__ == "UniqueInverse"


def test_bad_arguments():
    x = xp.asarray([3.0, 1.0, 2.0])
    for function in UNIQUE:
        for bad in (None, 1.0, np.ones(2), [1.0]):
            compare(function, bad)
        compare(function, x, x)
        compare(function, x, axis=0)
        compare(function)
    for pair in ((x, 1.0), (2.0, x), (x, None), (x, np.ones(3)), (1, 2), (x,)):
        compare(xp.isin, *pair)
    compare(xp.isin, x, x, invert=1)
    compare(xp.isin, x, x, True)


def test_classes_of_results_are_named_tuples():
    assert native is not None
    refused(TypeError, "is no named tuple", native.set_distinct, int, int, int)
