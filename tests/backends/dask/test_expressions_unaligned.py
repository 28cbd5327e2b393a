"""Chunks that lie anywhere in memory, as those that another worker sent."""

from contextlib import contextmanager

import dask
import dask.array as da
import numpy as np
import pytest
from dask.local import get_async
from dask.local import synchronous_executor as executor

import array_api_nx as xp
from array_api_nx.backends.dask.indexed import _Distinct
from tests.backends.dask.formulas import FORMULAS, assert_alike
from tests.backends.dask.programs import SMALL, numbers
from tests.support.programs import settings
from tests.support.tables import for_each

MODES = ["default", "context"]


def at_odd_place(part, shift):
    """The result of a task, with all arrays read-only and `shift` bytes off."""
    if isinstance(part, np.ndarray) and part.dtype != object:
        block = np.empty(part.nbytes + 32, np.uint8)
        start = -block.ctypes.data % 16 + shift
        there = block[start : start + part.nbytes].view(part.dtype).reshape(part.shape)
        there[...] = part
        there.flags.writeable = False
        return there
    if type(part) in (tuple, list):
        return type(part)([at_odd_place(x, shift) for x in part])
    if type(part) is dict:
        return {key: at_odd_place(x, shift) for key, x in part.items()}
    if type(part) is _Distinct:
        return _Distinct(*at_odd_place((part.values, part.indices, part.counts), shift))
    return part


@contextmanager
def sent(shift):
    """Every chunk is sent from task to task."""

    def get(graph, keys, **options):
        options.pop("num_workers", None)
        return get_async(
            executor.submit,
            executor._max_workers,
            graph,
            keys,
            loads=lambda part: at_odd_place(part, shift),
            **options,
        )

    with dask.config.set(scheduler=get):
        yield


def test_chunks_that_are_sent_are_not_aligned():
    seen = []
    with sent(3):
        x = da.from_array(numbers(30), chunks=10).map_blocks(np.copy)
        x = x.map_blocks(lambda chunk: seen.append(chunk.flags.aligned) or chunk, dtype=float)
        x.compute(optimize_graph=False)
    assert seen[-3:] == [False] * 3


@pytest.mark.parametrize("mode", MODES)
@for_each("name", FORMULAS)
def test_operations_on_chunks_at_odd_places(name, mode):
    a = numbers(200)
    for shift in (1, 4):
        with sent(shift), settings(mode):
            x = xp.asarray(a, device=SMALL) + 0
            xp.evaluate(x)  # else no task but one reads it
            assert_alike(name, x, xp.asarray(a))


def cut_out(dtype, n):
    """Numbers between which other bytes stand."""
    block = np.zeros(n, [("number", dtype), ("bytes", "V3")])
    block["number"] = np.arange(n) % 50
    return block["number"]


@for_each("make", [cut_out, lambda dtype, n: cut_out(dtype, n)[::-1]])
@for_each("dtype", ["int16", "float64", "complex64"])
def test_chunks_whose_elements_are_no_whole_elements_apart(make, dtype):
    a = make(dtype, 300)
    theirs = da.from_array(np.arange(3), chunks=1).map_blocks(
        lambda block: a[100 * int(block[0]) :][:100], dtype=a.dtype, chunks=((100,) * 3,)
    )
    for mode in MODES:
        with settings(mode):
            x = xp.asarray(theirs)
            np.testing.assert_array_equal(np.asarray(x * x + x), a * a + a)
            assert complex(xp.sum(x)) == a.sum()
            np.testing.assert_array_equal(np.asarray(xp.flip(x)[1:]), a[::-1][1:])


def test_chunks_in_foreign_byte_order():
    a = np.arange(30, dtype=np.dtype("f8").newbyteorder())
    theirs = da.from_array(np.arange(30.0), chunks=10).map_blocks(
        lambda block: block.astype(a.dtype), dtype=np.float64
    )
    for mode in MODES:
        with settings(mode):
            x = xp.asarray(theirs)
            np.testing.assert_array_equal(np.asarray(xp.sqrt(x * x) + 1), np.arange(1, 31))
