"""Memory of results of some kilobytes, which is handed out again when they are dead."""

import os
from itertools import pairwise

import numpy as np
import pytest

import array_api_nx as xp
from tests.support import implementations

pytestmark = implementations.needs_native

SIZES = [255, 256, 257, 512, 1000, 1024, 2048, 4095, 8191, 8192, 8193]
"""Elements of 8 bytes: blocks have 4 to 64 KiB, and 2 KiB lie in the storage itself."""


def _address(x):
    return int(np.asarray(x).__array_interface__["data"][0])


@pytest.mark.parametrize("size", SIZES)
def test_arrays_that_live_share_no_memory(size):
    x = xp.arange(size, dtype=xp.float64)
    results = [x + float(i) for i in range(20)]
    for i in (3, 11, 12):
        results[i] = x * 2.0
    views = [results.pop(5)[1:], results.pop(5)[::-1]]
    results += [x - 1.0 for _ in range(5)]
    spans = sorted([(_address(y), _address(y) + 8 * size) for y in results])
    assert all([end <= start for (_, end), (start, _) in pairwise(spans)])
    expected = np.arange(size, dtype=float)
    assert np.asarray(views[0]).tolist() == (expected[1:] + 5).tolist()
    assert np.asarray(views[1]).tolist() == (expected[::-1] + 6).tolist()
    assert np.asarray(results[3]).tolist() == (expected * 2).tolist()


@pytest.mark.parametrize("size", SIZES)
def test_memory_is_aligned(size):
    results = [xp.ones(size) + 1.0 for _ in range(12)]
    assert all([_address(y) % 16 == 0 for y in results])
    if 8 * size > 2048:
        assert all([_address(y) % 64 == 0 for y in results])


@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="sanitizers have no memory reused")
def test_memory_of_many_results_is_handed_out_again():
    x = xp.ones(1000)
    results = [x + 1.0 for _ in range(100)]
    addresses = {_address(y) for y in results}
    results.clear()
    assert {_address(x + 2.0) for _ in range(100)} <= addresses
    results = [x + 3.0 for _ in range(100)]
    assert {_address(y) for y in results} == addresses


@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="sanitizers have no memory reused")
def test_memory_is_handed_out_again_until_it_is_released():
    x = xp.ones(3000)
    addresses = {_address(x + 1.0) for _ in range(50)}
    assert len(addresses) < 10
    array = np.asarray(x + 1.0)  # keeps its memory, whatever becomes of the others
    xp.Device("cpu").release_memory()
    assert np.asarray(x * 5.0).tolist() == [5.0] * 3000
    assert array.tolist() == [2.0] * 3000
