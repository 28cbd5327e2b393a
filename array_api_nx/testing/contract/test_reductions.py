"""The contract's section "reductions and scans"."""

from __future__ import annotations

import itertools
import statistics
from typing import Any

import numpy as np
import pytest

from ...contract.backend import Backend
from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.dtypes import DType
from ...core.view import View
from ...primitives import table as p
from ...primitives.table import Primitive, of_family
from .layouts import (
    Numbers,
    case,
    cases,
    check,
    in_layouts,
    limits,
    row_major,
    small,
    tensor,
)

SHAPE = (2, 3, 1, 4)
# The largest of zeros of either sign, and the sign of a sum or product that is zero, are open.
ANY_ZERO = {p.MEAN, p.MAX, p.MIN, p.SUM, p.PROD}


def reduced(op: Primitive, x: NDArray, axes: tuple[int, ...], keepdims: bool) -> NDArray:
    """What `op` gives, by NumPy's ufunc that combines two elements; NaN counts as nonzero."""
    if op is p.MEAN:
        return np.asarray(np.mean(x, axis=axes, keepdims=keepdims))
    x = x if op.results[d.float64] is d.float64 else x != 0
    ufunc: Any = np.add if op.by is None else getattr(np, op.by.numpy)
    dtype = np.int64 if op is p.COUNT_NONZERO else x.dtype
    return np.asarray(ufunc.reduce(x, axes, dtype, keepdims=keepdims))


def sums(op: Primitive) -> bool:
    """Whether results depend on the order of the elements, unless these are small and whole."""
    return op is p.MEAN or op.by in (p.ADD, p.MULTIPLY)


def subsets(ndim: int) -> list[tuple[int, ...]]:
    """Every set of axes, one of them in another order, and no axes."""
    sets = itertools.chain.from_iterable(
        [itertools.combinations(range(ndim), n) for n in range(ndim + 1)]
    )
    return [*sets, tuple(range(ndim))[::-1]]


@pytest.mark.parametrize("op", of_family("reduce"), ids=lambda op: op.name)
def test_reduce(backend: Backend, op: Primitive) -> None:
    for dtype, result in op.results.items():
        values = small(dtype, SHAPE) if sums(op) else np.resize(limits(dtype), SHAPE)
        for i, (layout, handle, oracle) in enumerate(in_layouts(backend, values)):
            for j, axes in enumerate(subsets(4)):
                keepdims = (i + j) % 2 == 1
                expected = reduced(op, oracle, axes, keepdims)
                assert expected.dtype.name == result.name
                found = backend.reduce(op, handle, axes, keepdims)
                hint, ulp = (dtype, layout, axes, keepdims), 1 if op in ANY_ZERO else 0
                check(backend, found, expected, handle, ulp=ulp, hint=hint)


@pytest.mark.parametrize("op", of_family("reduce"), ids=lambda op: op.name)
def test_reduce_of_no_elements(backend: Backend, op: Primitive) -> None:
    for dtype, result in op.results.items():
        x = case(backend, row_major, np.empty((3, 0, 2), dtype.name))
        for axes in subsets(3):
            if op in (p.MAX, p.MIN) and 1 in axes:
                continue
            shape = tuple([n for axis, n in enumerate((3, 0, 2)) if axis not in axes])
            identity = np.nan if op is p.MEAN else op.identity or 0
            expected = np.full(shape, identity, result.name)
            if op is p.MEAN and dtype in d.COMPLEX:
                expected.imag = np.nan
            check(backend, backend.reduce(op, x.handle, axes, False), expected, hint=(dtype, axes))


@pytest.mark.parametrize("op", of_family("reduce"), ids=lambda op: op.name)
def test_reduce_of_a_0d_array(backend: Backend, op: Primitive) -> None:
    for dtype, result in op.results.items():
        x = case(backend, row_major, np.asarray(3 if dtype is not d.bool else True, dtype.name))
        expected = np.asarray(1 if op is p.COUNT_NONZERO else x.oracle).astype(result.name)
        for keepdims in (False, True):
            check(backend, backend.reduce(op, x.handle, (), keepdims), expected, x.handle)


@pytest.mark.parametrize("op", [p.SUM, p.PROD], ids=lambda op: op.name)
def test_reduce_converts_to_dtype_before_it_accumulates(backend: Backend, op: Primitive) -> None:
    for dtype in d.ALL:
        for target in op.results:
            if dtype in d.COMPLEX and target not in d.COMPLEX:
                continue
            # 5 * 100 and 100 ** 3 do not fit into 8 bits.
            values = np.full((5,), 100).astype(dtype.name)
            x = case(backend, row_major, values[: 5 if op is p.SUM else 3])
            with np.errstate(all="ignore"):
                expected = np.full((), op.identity, target.name)
                for value in x.oracle.astype(target.name):
                    expected = expected + value if op is p.SUM else expected * value
            result = backend.reduce(op, x.handle, (0,), False, target)
            check(backend, result, expected.astype(target.name), x.handle, hint=(dtype, target))


@pytest.mark.parametrize("op", [p.MAX, p.MIN], ids=lambda op: op.name)
def test_reduce_propagates_nan(backend: Backend, op: Primitive) -> None:
    for position in range(9):
        values = np.arange(9.0)
        values[position] = np.nan
        x = case(backend, row_major, values)
        check(backend, backend.reduce(op, x.handle, (0,), False), np.float64(np.nan))


@pytest.mark.parametrize("value", [1.0, 0.5, 3.0])
def test_reduce_mean_of_more_elements_than_float32_counts(backend: Backend, value: float) -> None:
    # Repeats of one row cost no memory, and all partial sums are exact.
    shape = (2**11 + 1, 2**13)
    x = tensor(backend, np.full(shape[1], value, np.float32), View(shape, (0, 1)))
    check(backend, backend.reduce(p.MEAN, x, (0, 1), False), np.float32(value), ulp=1)


# ---------------------------------------------------------------------- index of an extreme


def first_extreme(values: list[Numbers], op: Primitive) -> int:
    for i, value in enumerate(values):
        if value != value:
            return i
    return values.index(max(values) if op is p.ARGMAX else min(values))


@pytest.mark.parametrize("op", of_family("arg_reduce"), ids=lambda op: op.name)
def test_arg_reduce(backend: Backend, op: Primitive) -> None:
    for dtype in op.results:
        for layout, handle, oracle in in_layouts(backend, np.resize(limits(dtype), SHAPE)):
            for axis in range(4):
                lanes = np.moveaxis(oracle, axis, -1)
                expected = np.empty(lanes.shape[:-1], np.int64)
                for index in np.ndindex(expected.shape):
                    expected[index] = first_extreme(lanes[index].tolist(), op)
                hint = dtype, layout, axis
                result = backend.arg_reduce(op, handle, axis, False)
                check(backend, result, expected, handle, hint=hint)
                result = backend.arg_reduce(op, handle, axis, True)
                check(backend, result, np.expand_dims(expected, axis), handle, hint=hint)


@pytest.mark.parametrize("op", of_family("arg_reduce"), ids=lambda op: op.name)
def test_arg_reduce_of_an_empty_batch(backend: Backend, op: Primitive) -> None:
    x = case(backend, row_major, np.empty((0, 3)))
    check(backend, backend.arg_reduce(op, x.handle, 1, False), np.empty((0,), np.int64))


# ---------------------------------------------------------------------- scans


def running(op: Primitive, x: NDArray, axis: int) -> NDArray:
    assert op.by is not None
    step = getattr(np, op.by.numpy)
    result = x.copy()
    lanes = np.moveaxis(result, axis, 0)
    for i in range(1, len(lanes)):
        lanes[i] = step(lanes[i - 1], lanes[i])
    return result


@pytest.mark.parametrize("op", of_family("scan"), ids=lambda op: op.name)
def test_scan(backend: Backend, op: Primitive) -> None:
    for dtype in op.results:
        values = small(dtype, SHAPE) if sums(op) else np.resize(limits(dtype), SHAPE)
        for layout, handle, oracle in in_layouts(backend, values):
            for axis in range(4):
                expected = running(op, oracle, axis)
                result = backend.scan(op, handle, axis)
                ulp = 0 if sums(op) else 1  # for the signs of zeros, which are open
                check(backend, result, expected, handle, ulp=ulp, hint=(dtype, layout, axis))
        empty = case(backend, row_major, np.empty((3, 0, 2), dtype.name))
        for axis in range(3):
            check(backend, backend.scan(op, empty.handle, axis), empty.oracle)


@pytest.mark.parametrize("op", [p.CUMULATIVE_SUM, p.CUMULATIVE_PROD], ids=lambda op: op.name)
def test_scan_converts_to_dtype_before_it_accumulates(backend: Backend, op: Primitive) -> None:
    for dtype in d.ALL:
        for target in op.results:
            if dtype in d.COMPLEX and target not in d.COMPLEX:
                continue
            x = case(backend, row_major, np.full(3, 100).astype(dtype.name))
            expected = running(op, x.oracle.astype(target.name), 0)
            result = backend.scan(op, x.handle, 0, target)
            check(backend, result, expected, x.handle, hint=(dtype, target))


# ---------------------------------------------------------------------- variance


@pytest.mark.parametrize("dtype", p.VAR.results, ids=str)
def test_var(backend: Backend, dtype: DType) -> None:
    for layout, handle, oracle in in_layouts(backend, small(dtype, SHAPE)):
        for axes in subsets(4):
            for correction in (0, 1, 0.5):
                count = int(np.prod([oracle.shape[axis] for axis in axes]))
                distance = np.abs(oracle - oracle.mean(axis=axes, keepdims=True))
                total = np.sum(distance.astype(np.float64) ** 2, axis=axes, keepdims=True)
                freedom = count - correction
                expected = total / freedom if freedom > 0 else np.full_like(total, np.nan)
                expected = expected.astype(p.VAR.results[dtype].name)
                hint = dtype, layout, axes, correction
                result = backend.var(handle, axes, True, correction)
                assert backend.shape(result) == expected.shape, hint
                assert backend.dtype(result) is p.VAR.results[dtype], hint
                np.testing.assert_allclose(
                    backend.to_host(result), expected, rtol=1e-5, atol=1e-6, err_msg=str(hint)
                )
                dropped = backend.var(handle, axes, False, correction)
                assert backend.shape(dropped) == np.squeeze(expected, axes).shape, hint


@pytest.mark.parametrize("dtype", d.REAL_FLOATING, ids=str)
def test_var_loses_no_digits_to_a_large_mean(backend: Backend, dtype: DType) -> None:
    offsets = [-2.0, 1.0, 0.0, 3.0, -2.0]
    x = case(backend, row_major, np.array([2.0**20 + offset for offset in offsets], dtype.name))
    expected = np.asarray(statistics.pvariance(offsets), dtype.name)
    np.testing.assert_allclose(
        backend.to_host(backend.var(x.handle, (0,), False, 0)), expected, rtol=1e-6
    )


@pytest.mark.parametrize("dtype", p.VAR.results, ids=str)
def test_var_of_no_elements_and_of_limits(backend: Backend, dtype: DType) -> None:
    real = p.VAR.results[dtype].name
    empty = case(backend, row_major, np.empty((3, 0), dtype.name))
    check(backend, backend.var(empty.handle, (1,), False, 0), np.full(3, np.nan, real))
    check(backend, backend.var(empty.handle, (0,), False, 0), np.empty(0, real))
    for x in cases(backend, dtype):
        if x.oracle.shape == () and np.isfinite(x.oracle):
            check(backend, backend.var(x.handle, (), False, 0), np.zeros((), real))
            check(backend, backend.var(x.handle, (), False, 1), np.asarray(np.nan, real))
    infinite = case(backend, row_major, np.array([1.0, np.inf], dtype.name))
    check(backend, backend.var(infinite.handle, (0,), False, 0), np.asarray(np.nan, real))
