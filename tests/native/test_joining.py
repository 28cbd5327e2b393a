"""concat and stack of many elements, which several threads copy."""

import gc
import itertools

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from tests.support.implementations import needs_native
from tests.support.sizes import DEFERRED

pytestmark = needs_native


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int16", "bool"])
@pytest.mark.parametrize("shape", [(70_000,), (300, 400), (30, 50, 60), (900, 1000)])
def test_joins_of_many_elements(dtype, shape):
    rng = np.random.default_rng(1)
    x, y = (rng.integers(0, 100, shape).astype(dtype) for _ in range(2))
    ours = [xp.asarray(each, copy=True) for each in (x, y)]
    for turn in (False, True):
        theirs = [each.T if turn else each for each in (x, y[::-1])]
        order = tuple(range(x.ndim))[::-1] if turn else tuple(range(x.ndim))
        mine = [xp.permute_dims(each, order) for each in (ours[0], xp.flip(ours[1], axis=0))]
        for axis in range(x.ndim):
            # Small ones stand between large ones.
            thin = [each[(slice(None),) * axis + (slice(1),)] for each in (theirs[0], mine[0])]
            expected = np.concatenate([*theirs, thin[0], theirs[0]], axis=axis)
            found = xp.concat([*mine, thin[1], mine[0]], axis=axis)
            assert np.array_equal(np.asarray(found), expected)
            assert found.__array__().strides == expected.strides
        for axis in range(x.ndim + 1):
            expected = np.stack(theirs, axis=axis)
            found = xp.stack(mine, axis=axis)
            assert np.array_equal(np.asarray(found), expected)
            assert found.__array__().strides == expected.strides


def test_joins_of_arrays_that_wait_and_that_others_write():
    memory = np.arange(100_000.0)
    shared, waiting = xp.asarray(memory, copy=False), xp.ones(100_000) * 3
    found = xp.concat([shared, waiting, shared[::2]])
    memory[:] = 0
    assert np.array_equal(np.asarray(found)[:3], [0, 1, 2])
    assert np.array_equal(np.asarray(found)[100_000:100_003], [3, 3, 3])
    assert np.array_equal(np.asarray(found)[200_000:200_003], [0, 2, 4])
    assert float(waiting[7]) == 3


@pytest.mark.parametrize("size", [20, 300])
def test_joins_of_arrays_of_different_dtypes(size):
    rng = np.random.default_rng(3)
    dtypes = ["bool", "uint8", "int64", "float32", "float64", "complex64"]
    values = [rng.integers(0, 9, (size, size)).astype(dtype) for dtype in dtypes]
    for first in values:
        for second in values:
            for name in ("concatenate", "hstack", "vstack", "stack", "dstack", "column_stack"):
                expected = getattr(np, name)([first, second[::-1]])
                found = getattr(face, name)([face.array(first), face.array(second)[::-1]])
                assert found.dtype == expected.dtype
                assert np.array_equal(np.asarray(found), expected), (
                    name,
                    first.dtype,
                    second.dtype,
                )
            columns = np.concatenate([first.T, second.T])
            assert np.array_equal(
                np.asarray(face.concatenate([face.array(first).T, face.array(second).T])), columns
            )


def test_dtypes_are_promoted_to_that_of_the_floats_at_once():
    dtypes = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint64", "float16", "float32"]
    for chosen in itertools.product([*dtypes, "complex64"], repeat=3):
        expected = np.concatenate([np.ones(2, dtype) for dtype in chosen])
        found = face.concatenate([face.ones(2, dtype=dtype) for dtype in chosen])
        assert found.dtype == expected.dtype, chosen


@pytest.mark.parametrize("place", range(1, 12))
def test_a_list_that_is_emptied_meanwhile_keeps_what_is_joined(place):
    arrays = [face.full(DEFERRED // 5, float(i)) for i in range(5)]
    face.concatenate(arrays)  # makes objects that later calls have
    seen = []

    def collecting(phase, info):
        seen.append(phase)
        if len(seen) == place:
            arrays.clear()

    before = gc.get_threshold()
    gc.collect()
    gc.callbacks.append(collecting)
    gc.set_threshold(1, 1000, 1000)
    try:
        joined = face.concatenate(arrays)
    except ValueError:
        assert not arrays  # it was empty before the call
    else:
        assert np.unique(np.asarray(joined)).tolist() == [0, 1, 2, 3, 4]
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(collecting)
