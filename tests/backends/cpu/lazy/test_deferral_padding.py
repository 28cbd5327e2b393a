"""Padding without memory: readers of a padded array read the array and the fill around it."""

import tracemalloc
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as rounds
from hypothesis import strategies as st

import array_api_nx as xp
from array_api_nx.frontend.array import wrap
from tests.support.programs import NDArray, assert_same, numpy_of, pending, settings
from tests.support.sizes import DEFERRED

DTYPES = (np.float64, np.float32, np.int64, np.int8, np.uint16, np.bool_, np.complex128)
Widths = tuple[tuple[int, int], ...]


def pad(x: xp.Array, widths: Widths, value: Any = 0) -> xp.Array:
    handle = x._device.backend.pad(x._handle, widths, value)
    return wrap(handle, x._dtype, x._device)


def numbers(shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray:
    """Small whole numbers, whose sums are exact."""
    return (np.arange(prod(shape)) * 7 % 19 - 8).reshape(shape).astype(dtype)


def fill_of(dtype: Any, number: int) -> Any:
    kind = np.dtype(dtype).kind
    if kind == "b":
        return bool(number % 2)
    return {"f": float(number), "c": complex(number, 1)}.get(kind, number)


@st.composite
def paddings(draw: st.DrawFn, ndim: int) -> Widths:
    amounts = st.sampled_from([0, 0, 1, 2, 7])
    return tuple([(draw(amounts), draw(amounts)) for _ in range(ndim)])


@rounds(max_examples=80)
@given(data=st.data())
def test_padded_arrays(data):
    shape = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=3).map(tuple))
    dtype = data.draw(st.sampled_from(DTYPES))
    values = numbers(shape, dtype)
    order = data.draw(st.permutations(range(len(shape))))
    steps = data.draw(st.lists(st.sampled_from([1, -1, 2]), min_size=len(shape), max_size=3))
    selection = tuple([slice(None, None, step) for step in steps[: len(shape)]])
    oracle = values.transpose(order)[selection]
    with settings("process"):
        x = xp.permute_dims(xp.asarray(values, copy=True), tuple(order))[selection]
        if data.draw(st.booleans()):
            x, oracle = x * x, oracle * oracle
        for _ in range(data.draw(st.integers(1, 3))):
            widths = data.draw(paddings(len(shape)))
            value = fill_of(dtype, data.draw(st.sampled_from([0, 0, 3])))
            x, oracle = pad(x, widths, value), np.pad(oracle, widths, constant_values=value)
            assert pending(x)
        consumer = data.draw(st.sampled_from(["plain", "map", "mix", "sum", "some", "slice", "T"]))
        axis = data.draw(st.integers(0, len(shape) - 1))
        one: Any = np.asarray(1, dtype)[()]
        ours: Any = xp.asarray(one)
        match consumer:
            case "plain":
                actual, expected = x, oracle
            case "map":
                actual, expected = x == ours, oracle == one
            case "mix":
                actual = xp.where(x == xp.flip(x, axis=axis), x, ours)
                expected = np.where(oracle == np.flip(oracle, axis), oracle, one)
            case "sum":
                actual, expected = xp.count_nonzero(x), np.asarray(np.count_nonzero(oracle))
            case "some":
                actual = xp.count_nonzero(x == ours, axis=axis)
                expected = np.asarray(np.count_nonzero(oracle == one, axis=axis))
            case "slice":
                actual, expected = x[1::2] == ours, oracle[1::2] == one
            case _:
                x = xp.permute_dims(x, tuple(reversed(range(len(shape)))))
                actual, expected = xp.reshape(x, (-1,)), oracle.T.reshape(-1)
        assert_same(numpy_of(actual), expected)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_many_tiles(threads, axis):
    values = numbers((700, 300))
    widths = (13, 2000), (0, 77)
    padded = np.pad(values, widths, constant_values=2.0)
    with settings("large", num_threads=threads):
        x = pad(xp.asarray(values, copy=True), widths, 2.0)
        assert_same(numpy_of(xp.sum(x * 3, axis=axis)), np.asarray((padded * 3).sum(axis=axis)))
        assert_same(numpy_of(xp.max(x, axis=axis)), np.asarray(padded.max(axis=axis)))
        assert_same(numpy_of(x + padded.shape[0]), padded + padded.shape[0])
        np.testing.assert_allclose(
            numpy_of(xp.var(x * 2, axis=axis)), (padded * 2).var(axis=axis), rtol=1e-12
        )


def test_a_reduction_makes_no_padded_array():
    with settings("large"):
        x = xp.asarray(numbers((400, 300)), copy=True)
        explanation = xp.explain(xp.sum(xp.square(pad(x, ((5, 5), (0, 9)), 1.5))))
        (only,) = explanation.passes
        assert [(each.name, each.shape, each.note) for each in only.inputs] == [
            ("a", (400, 300), "padded with 1.5, copied tile by tile")
        ]
        assert sum([each.nbytes for each in only.outputs]) < 1000
        assert only.scratch < 2**18
        assert [step.operation for step in only.steps] == ["square", "sum"]


def test_a_reduction_takes_no_memory_for_a_padded_array():
    x = xp.asarray(np.ones((DEFERRED // 1000 + 1, 1000)), copy=True)
    xp.evaluate(xp.sum(x))
    tracemalloc.start()
    try:
        assert float(xp.sum(pad(x, ((5, 5), (0, 9)), 0.0))) == x.size
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * x.size


def test_nested_padding_with_the_same_fill_is_one():
    with settings("process"):
        x = xp.asarray(numbers((4, 6)), copy=True)
        once = pad(x, ((1, 0), (2, 0)), 3.0)
        same, other = pad(once, ((0, 1), (2, 3)), 3.0), pad(once, ((0, 1), (2, 3)), 0.0)
        assert [len(xp.explain(each + 1.0).passes) for each in (once, same, other)] == [1, 1, 2]
        assert xp.explain(pad(pad(x, ((1, 1),) * 2, 0.0), ((1, 1),) * 2, -0.0)).operations == 2


def test_writes_do_not_show_in_padded_arrays():
    with settings("process"):
        x = xp.asarray(np.ones((4, 6)), copy=True)
        padded = pad(x, ((1, 1), (1, 1)), 0.0)
        x[...] = 5.0
        assert float(xp.sum(padded)) == 24.0
        view = padded[1:, :]
        padded[1, 1] = 7.0
        assert float(view[0, 1]) == 7.0
        assert float(xp.sum(x)) == 120.0


def test_shared_memory_is_read_at_once():
    values = np.ones((4, 200))
    with settings("large", fusion_threshold=100):
        padded = pad(xp.asarray(values), ((1, 1), (1, 1)), 0.0)
        values[...] = 5.0
        assert float(xp.sum(padded)) == 800.0


def test_single_elements():
    with settings("process"):
        padded = pad(xp.asarray(np.ones((4, 6)), copy=True), ((1, 1), (1, 1)), 9.0)
        assert float(padded[0, 3]) == 9.0
        assert float(padded[1, 1]) == 1.0
        assert pending(padded)


def test_padding_of_what_is_the_same_everywhere():
    with settings("process"):
        padded = pad(xp.full((3, 4), 2.0), ((1, 1), (1, 1)), 9.0)
        assert_same(numpy_of(padded), np.pad(np.full((3, 4), 2.0), 1, constant_values=9.0))


def test_padding_of_nothing():
    with settings("process"):
        padded = pad(xp.zeros((3, 0)), ((1, 1), (1, 1)), 9.0)
        assert_same(numpy_of(padded), np.full((5, 2), 9.0))
