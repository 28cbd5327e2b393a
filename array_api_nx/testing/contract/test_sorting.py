"""The contract's section "sorting and searching"."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from ...contract.backend import Backend
from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.dtypes import DType
from ...core.view import View
from ...primitives import table as p
from .layouts import Numbers, case, check, in_layouts, limits, row_major, spread, tensor

SHAPE = (2, 1, 5, 7)
EMPTY = (3, 0, 2)


def sorted_indices(values: list[Numbers], descending: bool) -> list[int]:
    """A stable sort in plain Python: ties keep their order, NaN comes last."""
    numbers = [i for i, value in enumerate(values) if value == value]
    nans = [i for i, value in enumerate(values) if value != value]
    # With reverse=True Python keeps the order of equal elements as well.
    return sorted(numbers, key=values.__getitem__, reverse=descending) + nans


def argsorted(x: NDArray, axis: int, descending: bool) -> NDArray:
    result = np.empty(x.shape, np.int64)
    lanes, targets = np.moveaxis(x, axis, -1), np.moveaxis(result, axis, -1)
    for index in np.ndindex(lanes.shape[:-1]):
        targets[index] = sorted_indices(lanes[index].tolist(), descending)
    return result


DTYPES = pytest.mark.parametrize("dtype", p.SORT.results, ids=str)


@pytest.mark.parametrize("method", ["sort", "argsort"])
@DTYPES
def test_order(backend: Backend, dtype: DType, method: str) -> None:
    call = getattr(backend, method)
    for layout, handle, oracle in in_layouts(backend, spread(limits(dtype), SHAPE)):
        for axis, descending in product(range(4), (False, True)):
            order = argsorted(oracle, axis, descending)
            ordered = np.take_along_axis(oracle, order, axis)
            hint = dtype, layout, axis, descending
            result = call(handle, axis, descending=descending, stable=True)
            check(backend, result, ordered if method == "sort" else order, handle, hint=hint)
            found = backend.to_host(call(handle, axis, descending=descending, stable=False))
            if method == "argsort":
                np.testing.assert_array_equal(np.sort(found, axis), np.sort(order, axis))
                found = np.take_along_axis(oracle, found, axis)
            np.testing.assert_array_equal(found, ordered, err_msg=str(hint))


@pytest.mark.parametrize("method", ["sort", "argsort"])
@DTYPES
def test_order_of_many_and_of_none(backend: Backend, dtype: DType, method: str) -> None:
    rng = np.random.default_rng(1)
    for values in (rng.choice(limits(dtype), (3, 2000)), np.empty(EMPTY, dtype.name)):
        x = case(backend, row_major, values)
        for descending in (False, True):
            expected = argsorted(x.oracle, 1, descending)
            if method == "sort":
                expected = np.take_along_axis(x.oracle, expected, 1)
            result = getattr(backend, method)(x.handle, 1, descending=descending, stable=True)
            check(backend, result, expected, x.handle, hint=(dtype, descending))


def partly_sorted(x: NDArray, kth: tuple[int, ...], axis: int) -> NDArray:
    """`x` with the elements before, between and after the positions `kth` sorted among themselves.

    If `x` is partitioned at these positions, it is sorted then.
    """
    result = x.copy()
    borders = [0, *[border for k in kth for border in (k, k + 1)], x.shape[axis]]
    lanes = np.moveaxis(result, axis, -1)
    for index in np.ndindex(lanes.shape[:-1]):
        for start, stop in pairwise(borders):
            part = lanes[index][start:stop].tolist()
            lanes[index][start:stop] = [part[i] for i in sorted_indices(part, False)]
    return result


def partitions(size: int) -> list[tuple[int, ...]]:
    return [(0,), (size - 1,), (size // 2,), tuple(sorted({0, size // 2, size - 1}))]


@pytest.mark.parametrize("method", ["partition", "argpartition"])
@DTYPES
def test_partitions(backend: Backend, dtype: DType, method: str) -> None:
    for layout, handle, oracle in in_layouts(backend, spread(limits(dtype), SHAPE)):
        for axis in range(4):
            order = argsorted(oracle, axis, False)
            expected = np.take_along_axis(oracle, order, axis)
            for kth in partitions(SHAPE[axis]):
                result = getattr(backend, method)(handle, kth, axis)
                found = backend.to_host(result)
                hint = dtype, layout, axis, kth
                check(backend, result, found, handle, hint=hint)
                if method == "argpartition":
                    every = np.sort(order, axis)
                    np.testing.assert_array_equal(np.sort(found, axis), every, strict=True)
                    found = np.take_along_axis(oracle, found, axis)
                found = partly_sorted(found, kth, axis)
                np.testing.assert_array_equal(found, expected, err_msg=str(hint), strict=True)


@pytest.mark.parametrize("dtype", p.SEARCHSORTED.results, ids=str)
def test_searchsorted(backend: Backend, dtype: DType) -> None:
    values = limits(dtype)
    ascending = np.sort(np.repeat(values[values == values], 2))
    haystacks = [x for x in in_layouts(backend, ascending) if (x.oracle[1:] >= x.oracle[:-1]).all()]
    needles = in_layouts(backend, spread(values[values == values], SHAPE))
    assert len(haystacks) >= 7
    for i, x in enumerate(needles):
        haystack = haystacks[i % len(haystacks)]
        for right in (False, True):
            expected = np.empty(SHAPE, np.int64)
            for index in np.ndindex(SHAPE):
                needle = x.oracle[index]
                before = haystack.oracle <= needle if right else haystack.oracle < needle
                expected[index] = before.sum()
            result = backend.searchsorted(haystack.handle, x.handle, right=right)
            hint = dtype, haystack.layout, x.layout, right
            check(backend, result, expected, haystack.handle, x.handle, hint=hint)


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted_of_none_and_in_none(backend: Backend, right: bool) -> None:
    nothing = case(backend, row_major, np.empty(0))
    some = case(backend, row_major, np.array([1.0, 2.0]))
    one = case(backend, row_major, np.array(1.5))
    for x, values, expected in (
        (some, nothing, np.empty(0, np.int64)),
        (nothing, some, np.zeros(2, np.int64)),
        (some, one, np.int64(1)),
    ):
        check(backend, backend.searchsorted(x.handle, values.handle, right=right), expected)


# ---------------------------------------------------------------------- which elements there are


def distinct(x: NDArray) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Values, first indices, inverse and counts; every NaN is a value of its own."""
    flat = x.reshape(-1)
    order = sorted(range(flat.size), key=lambda i: _ordered(flat[i]))
    firsts: list[int] = []
    counts: list[int] = []
    inverse = np.empty(flat.size, np.int64)
    for i in order:
        if not firsts or flat[i] != flat[firsts[-1]]:
            firsts.append(i)
            counts.append(0)
        inverse[i] = len(firsts) - 1
        counts[-1] += 1
    return (
        flat[firsts],
        np.array(firsts, np.int64),
        inverse.reshape(x.shape),
        np.array(counts, np.int64),
    )


def _ordered(value: Numbers) -> tuple[float, float]:
    """A key that sorts complex numbers by their real parts first."""
    return value.real, value.imag


def finite(dtype: DType) -> NDArray:
    values = limits(dtype)
    return values[np.isfinite(values)]


@pytest.mark.parametrize("dtype", p.ISIN.results, ids=str)
def test_isin(backend: Backend, dtype: DType) -> None:
    values = limits(dtype)
    some = case(backend, row_major, values[::2])
    none = case(backend, row_major, values[:0])
    for layout, handle, oracle in in_layouts(backend, spread(values, SHAPE)):
        expected = np.array([(x == some.oracle).any() for x in oracle.flat], bool)
        expected = expected.reshape(oracle.shape)
        for invert in (False, True):
            found = backend.isin(handle, some.handle, invert=invert)
            check(backend, found, expected ^ invert, handle, hint=(dtype, layout))
            found = backend.isin(handle, none.handle, invert=invert)
            check(backend, found, np.full(oracle.shape, invert), handle, hint=(dtype, layout))


@pytest.mark.parametrize("name", ["int32", "int64", "uint64", "float64", "complex128"])
@pytest.mark.parametrize("step", [1, 2**20])
def test_isin_of_many(backend: Backend, name: str, step: int) -> None:
    numbers = np.arange(2000) * 7919 % 1999
    x = case(backend, row_major, (numbers * step).astype(name))
    members = case(backend, row_major, (numbers[::-3] * step)[:600].astype(name))
    known = set(members.oracle.tolist())
    expected = np.array([v in known for v in x.oracle.tolist()])
    for invert in (False, True):
        check(backend, backend.isin(x.handle, members.handle, invert=invert), expected ^ invert)


def sums(x: NDArray, weights: NDArray, length: int) -> NDArray:
    """The sum of the weights that go with each int, one by one."""
    result = np.zeros(max(length, *[int(i) + 1 for i in x]), weights.dtype)
    for number, weight in zip(x.tolist(), weights, strict=True):
        result[number] += weight
    return result


@pytest.mark.parametrize("dtype", p.BINCOUNT.results, ids=str)
def test_bincount(backend: Backend, dtype: DType) -> None:
    numbers = (np.arange(60) * 7 % 23 % 11).astype(dtype.name)
    for layout, handle, oracle in in_layouts(backend, numbers):
        ones = np.ones(60, np.int64)
        for length, extend in ((0, True), (5, True), (13, True), (13, False)):
            result = backend.bincount(handle, None, length, extend=extend)
            expected = sums(oracle, ones, length)
            check(backend, result, expected, handle, hint=(layout, length, extend))
    nothing = case(backend, row_major, numbers[:0])
    for length, extend in ((0, True), (3, True), (3, False)):
        result = backend.bincount(nothing.handle, None, length, extend=extend)
        check(backend, result, np.zeros(length, np.int64))


@pytest.mark.parametrize("dtype", d.NUMERIC, ids=str)
def test_bincount_of_weights(backend: Backend, dtype: DType) -> None:
    x = case(backend, row_major, np.array([2, 0, 2, 5, 2, 0]))
    for layout, handle, oracle in in_layouts(backend, np.array([3, 1, 4, 1, 5, 9], dtype.name)):
        for length, extend in ((0, True), (8, True), (6, False)):
            result = backend.bincount(x.handle, handle, length, extend=extend)
            expected = sums(x.oracle, oracle, length)
            check(backend, result, expected, handle, x.handle, hint=(layout, length, extend))


def test_bincount_adds_large_ints_exactly(backend: Backend) -> None:
    x = case(backend, row_major, np.array([1, 1, 1]))
    weights = case(backend, row_major, np.array([2**62, 1, -(2**61)]))
    result = backend.bincount(x.handle, weights.handle, 0, extend=True)
    check(backend, result, np.array([0, 2**61 + 1]))


def test_bincount_refuses_negative_elements(backend: Backend) -> None:
    x = case(backend, row_major, np.array([1, -7, 3]))
    for weights in (None, x.handle, case(backend, row_major, np.ones(3)).handle):
        with pytest.raises(ValueError, match=r"bincount .* the least element is -7; subtract it"):
            backend.to_host(backend.bincount(x.handle, weights, 0, extend=True))


# Which of values, first indices, inverse and counts each method gives.
PARTS = {
    "unique": (0, 1, 2, 3),
    "unique_values": (0,),
    "unique_counts": (0, 3),
    "unique_inverse": (0, 2),
}


@pytest.mark.parametrize("method", PARTS)
@pytest.mark.parametrize("dtype", p.UNIQUE.results, ids=str)
def test_distinct_elements(backend: Backend, dtype: DType, method: str) -> None:
    for layout, handle, oracle in in_layouts(backend, spread(finite(dtype), SHAPE)):
        expected = distinct(oracle)
        results = getattr(backend, method)(handle)
        results = (results,) if method == "unique_values" else results
        for part, result in zip(PARTS[method], results, strict=True):
            # A zero of either sign stands for both.
            actual, hint = backend.to_host(result), f"{dtype} {layout} {part}"
            np.testing.assert_array_equal(actual, expected[part], err_msg=hint, strict=True)
            assert not np.may_share_memory(actual, backend.to_host(handle))


@pytest.mark.parametrize("name", [dtype.name for dtype in d.FLOATING])
def test_unique_counts_every_nan(backend: Backend, name: str) -> None:
    x = case(backend, row_major, np.array([np.nan, 2, np.nan, 1, 2], name))
    results = backend.unique(x.handle)
    values, index, inverse, counts = [backend.to_host(result) for result in results]
    np.testing.assert_array_equal(values, np.array([1, 2, np.nan, np.nan], name))
    np.testing.assert_array_equal(counts, [1, 2, 1, 1])
    np.testing.assert_array_equal(index[:2], [3, 1])
    assert sorted(index[2:].tolist()) == [0, 2]
    np.testing.assert_array_equal(values[inverse], x.oracle)
    check(backend, backend.unique_values(x.handle), values)
    for result, right in zip(backend.unique_counts(x.handle), (values, counts), strict=True):
        check(backend, result, right)
    values, inverse = [backend.to_host(result) for result in backend.unique_inverse(x.handle)]
    np.testing.assert_array_equal(values[inverse], x.oracle)
    assert len(values) == 4


@pytest.mark.parametrize("shape", [(), (0,), (0, 3)], ids=str)
def test_unique_of_no_axes_and_of_no_elements(backend: Backend, shape: tuple[int, ...]) -> None:
    x = case(backend, row_major, np.full(shape, 7.0))
    values, index, inverse, counts = backend.unique(x.handle)
    size = x.oracle.size
    check(backend, values, np.full(size, 7.0))
    check(backend, index, np.zeros(size, np.int64))
    check(backend, inverse, np.zeros(shape, np.int64))
    check(backend, counts, np.ones(size, np.int64))
    alone = (*backend.unique_counts(x.handle), *backend.unique_inverse(x.handle))
    for part, whole in zip(alone, (values, counts, values, inverse), strict=True):
        check(backend, part, backend.to_host(whole))


@pytest.mark.parametrize("name", [dtype.name for dtype in d.FLOATING])
def test_unique_shows_the_first_of_zeros_of_either_sign(backend: Backend, name: str) -> None:
    for sign in (1, -1):
        zeros = np.copysign(np.zeros(100), np.where(np.arange(100), -sign, sign))
        x = case(backend, row_major, np.concatenate([[1.0, -1], zeros, [np.nan]]).astype(name))
        found = backend.unique(x.handle), backend.unique_counts(x.handle)
        for values, *_ in (*found, backend.unique_inverse(x.handle)):
            assert np.signbit(backend.to_host(values)[1].real) == (sign < 0)


@pytest.mark.parametrize("dtype", p.NONZERO.results, ids=str)
def test_nonzero(backend: Backend, dtype: DType) -> None:
    shapes = [SHAPE, (0,), EMPTY]
    for x in [x for shape in shapes for x in in_layouts(backend, spread(limits(dtype), shape))]:
        positions = [index for index in np.ndindex(x.oracle.shape) if x.oracle[index] != 0]
        results = backend.nonzero(x.handle)
        assert len(results) == x.oracle.ndim
        for axis, result in enumerate(results):
            expected = np.array([index[axis] for index in positions], np.int64)
            check(backend, result, expected, x.handle, hint=(dtype, x.layout))


def test_sort_keeps_the_order_of_zeros_of_either_sign(backend: Backend) -> None:
    zeros = np.where(np.arange(3000) % 3 == 0, -0.0, 0.0)
    x = tensor(backend, np.concatenate([zeros, [1.0, -1.0]]), View((3002,)))
    for descending in (False, True):
        result = backend.to_host(backend.sort(x, 0, descending=descending, stable=True))
        np.testing.assert_array_equal(np.signbit(result[1:-1]), np.signbit(zeros))
