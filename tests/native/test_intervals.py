"""Rows that are divided into intervals, which threads sort (intervals.c); where NumPy sorts
slowly, in buckets."""

from __future__ import annotations

import numpy as np
import pytest

import array_api_nx as xp
from tests.native.test_buckets import VALUES, row_of
from tests.support.implementations import needs_native

pytestmark = needs_native

DTYPES = ["int32", "uint32", "int64", "uint64", "float32", "float64"]
SIZE = 150_000  # of more than DIVIDED_FROM bytes, whatever the dtype


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_sorted_as_by_numpy(kind, dtype):
    row = row_of(kind, dtype, SIZE)
    expected = np.sort(row)
    for threads in (1, 2, 5):
        with xp.config_context(num_threads=threads):
            found = np.asarray(xp.sort(xp.asarray(row)))
            np.testing.assert_array_equal(found, expected, strict=True)
            descending = np.asarray(xp.sort(xp.asarray(row), descending=True))
    if np.dtype(dtype).kind != "f":
        np.testing.assert_array_equal(descending, expected[::-1], strict=True)


@pytest.mark.parametrize("shape", [(3, SIZE), (40_000, 5), (1000, 100), (2, 3, 20_000)])
def test_rows_of_arrays_are_sorted_on_threads(shape):
    elements = np.random.default_rng(2).standard_normal(shape)
    for axis in range(len(shape)):
        found = np.asarray(xp.sort(xp.asarray(elements), axis=axis))
        np.testing.assert_array_equal(found, np.sort(elements, axis=axis), strict=True)
    turned = xp.asarray(elements).T
    np.testing.assert_array_equal(np.asarray(xp.sort(turned)), np.sort(elements.T), strict=True)


def test_zeros_of_both_signs_keep_their_order():
    row = np.random.default_rng(3).choice([0.0, -0.0, 1.0, -1.0], SIZE)
    found = np.asarray(xp.sort(xp.asarray(row)))
    expected = np.sort(row, kind="stable")
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_the_operand_stays_as_it_is():
    row = np.random.default_rng(4).random(SIZE)
    x = xp.asarray(row.copy())
    xp.sort(x)
    np.testing.assert_array_equal(np.asarray(x), row)
