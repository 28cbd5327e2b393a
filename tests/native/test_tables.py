"""Counts of small ints and tables of them, in C against NumPy."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu import distinct
from array_api_nx.backends.cpu.engine import sliced_calls
from array_api_nx.native import native
from tests.support import implementations
from tests.support.refusals import refused
from tests.support.tables import for_each

pytestmark = implementations.needs_native

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def _close_together(dtype, size):
    """Ints at both ends of a dtype's range and in its middle."""
    bounds, rng = np.iinfo(dtype), np.random.default_rng(4)
    steps = rng.choice([0, 1, 2, 7, 20], size)
    starts = (int(bounds.min), int(bounds.max) - 20, max(int(bounds.min), -9))
    return [np.asarray([start + int(step) for step in steps], dtype) for start in starts]


@for_each("dtype", [*INTS, "bool"])
def test_distinct_elements_of_ints_that_lie_close_together(dtype):
    wholes = [np.arange(4000) % 7 > 2] if dtype == "bool" else _close_together(dtype, 4000)
    for whole in wholes:
        for x in (whole, whole[::-3], whole.reshape(40, 100).T, np.zeros_like(whole)):
            values, counts = np.unique(x, return_counts=True)
            inverse = np.unique(x, return_inverse=True)[1].reshape(x.shape)
            for threads in (1, 2):
                with xp.config_context(num_threads=threads):
                    found = distinct.unique_values(x)
                    assert found.dtype == x.dtype
                    np.testing.assert_array_equal(found, values)
                    for pair, expected in (
                        (distinct.unique_counts(x), counts),
                        (distinct.unique_inverse(x), inverse),
                    ):
                        assert pair[0].dtype == x.dtype
                        assert pair[1].dtype == np.int64
                        np.testing.assert_array_equal(pair[0], values)
                        np.testing.assert_array_equal(pair[1], expected)


def test_several_threads_count_as_one():
    x = np.random.default_rng(2).integers(-5, 90, sliced_calls.BINCOUNT_MIN * 2)
    expected = np.bincount(x + 5)
    for threads in (1, 2, 3):
        with xp.config_context(num_threads=threads):
            least, counts = sliced_calls.count_from_least(x)
            assert least == -5
            np.testing.assert_array_equal(counts, expected)
            np.testing.assert_array_equal(sliced_calls.bincount(x + 5, 0, extend=True), expected)
            places = sliced_calls.look_up(x, least, np.arange(95))
            np.testing.assert_array_equal(places, x + 5)


def test_wide_ranges_have_no_table():
    for ends in ((0, 1000), (-(2**63), 2**63 - 1)):
        x = np.resize(np.asarray(ends), 2000)
        assert sliced_calls.count_from_least(x) is None
        np.testing.assert_array_equal(distinct.unique_values(x), ends)
    assert sliced_calls.count_from_least(np.zeros(2000)) is None


def test_ints_without_a_place_are_refused():
    assert native is not None
    for dtype in ("int8", "int64", "uint64"):
        for size in (1, 4, 9):
            x = np.full(size, 3, dtype)
            for least, length in ((4, 9), (0, 3), (2**63, 4)):
                assert not native.count_values(x, least, np.zeros(4 * length, np.int64))
                out = np.zeros(size, np.int64)
                assert not native.look_up(x, least, np.zeros(length, np.int64), out)
            assert native.count_values(x, 0, np.zeros(16, np.int64))
            assert native.count_values(x, -1, np.zeros(20, np.int64))


@pytest.mark.parametrize("counts", [np.zeros(5, np.int64), np.zeros(8), np.zeros(16, int)[::2]])
def test_other_operands_are_refused(counts):
    assert native is not None
    refused(ValueError, r".", native.count_values, np.zeros(3, int), 0, counts)
    refused(ValueError, "ints", native.count_values, np.zeros(3), 0, np.zeros(4, int))
    refused(
        ValueError, "size", native.look_up, np.zeros(3, int), 0, np.zeros(4, int), np.zeros(2, int)
    )
