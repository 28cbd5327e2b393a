"""Values at which methods go wrong that are right elsewhere."""

from __future__ import annotations

import pickle
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ...contract.backend import Backend
from ...contract.ufuncs import ufunc_loop
from ...core import dtypes as d
from ...core.dtypes import DType
from ...core.view import View
from ...primitives import table as p
from .layouts import LAYOUTS, assert_same, case, check, limits, must_have, row_major, small, tensor
from .trials_elementwise import DIVISIONS, SHIFTS
from .trials_matrices import Shape, Windows, folded, unfolded


@pytest.mark.parametrize("dtype", d.FLOATING, ids=str)
def test_linspace_ends_exactly(backend: Backend, dtype: DType) -> None:
    must_have(backend, dtype)
    for start, stop in ((0.1, 0.7), (5, -5.5)):
        for endpoint in (False, True):
            found = backend.to_host(backend.linspace(start, stop, 10, dtype, endpoint=endpoint))
            assert found[0] == np.asarray(start, dtype)
            assert not endpoint or found[-1] == np.asarray(stop, dtype)


@pytest.mark.parametrize("dtype", d.INTEGRAL, ids=str)
def test_binary_of_integers_never_fails_where_undefined(backend: Backend, dtype: DType) -> None:
    x = case(backend, row_major, limits(dtype))
    for op in (*DIVISIONS, *SHIFTS):
        for right in (0, 100):
            with np.errstate(all="ignore"):
                result = backend.binary(op, x.handle, right)
            assert backend.shape(result) == x.oracle.shape
            assert backend.dtype(result) is dtype


@pytest.mark.parametrize("value", [1.0, 0.5, 3.0])
def test_reduce_mean_of_more_elements_than_float32_counts(backend: Backend, value: float) -> None:
    # Repeats of one row cost no memory, and all partial sums are exact.
    shape = (2**11 + 1, 2**13)
    x = tensor(backend, np.full(shape[1], value, np.float32), View(shape, (0, 1)))
    check(backend, backend.reduce(p.MEAN, x, (0, 1), False), np.float32(value), ulp=1)


@pytest.mark.parametrize("dtype", d.REAL_FLOATING, ids=str)
def test_var_loses_no_digits_to_a_large_mean(backend: Backend, dtype: DType) -> None:
    offsets = [-2.0, 1.0, 0.0, 3.0, -2.0]
    mean = 0.125 / float(d.limits(dtype).eps)  # as large as offsets of 1 allow
    x = case(backend, row_major, np.array([mean + offset for offset in offsets], dtype.name))
    expected = np.asarray(statistics.pvariance(offsets), dtype.name)
    np.testing.assert_allclose(
        backend.to_host(backend.var(x.handle, (0,), False, 0)), expected, rtol=1e-6
    )


@pytest.mark.parametrize("name", [dtype.name for dtype in d.FLOATING])
def test_unique_counts_every_nan(backend: Backend, name: str) -> None:
    x = case(backend, row_major, np.array([np.nan, 2, np.nan, 1, 2], name))
    results = backend.unique(x.handle)
    values, index, inverse, counts = [backend.to_host(result) for result in results]
    assert_same(values, np.array([1, 2, np.nan, np.nan], name))
    np.testing.assert_array_equal(counts, [1, 2, 1, 1])
    np.testing.assert_array_equal(index[:2], [3, 1])
    assert sorted(index[2:].tolist()) == [0, 2]
    assert_same(values[inverse], x.oracle)
    check(backend, backend.unique_values(x.handle), values)
    for result, right in zip(backend.unique_counts(x.handle), (values, counts), strict=True):
        check(backend, result, right)
    values, inverse = [backend.to_host(result) for result in backend.unique_inverse(x.handle)]
    assert_same(values[inverse], x.oracle)
    assert len(values) == 4


@pytest.mark.parametrize("name", [dtype.name for dtype in d.FLOATING])
def test_unique_shows_the_first_of_zeros_of_either_sign(backend: Backend, name: str) -> None:
    for sign in (1, -1):
        zeros = np.copysign(np.zeros(100), np.where(np.arange(100), -sign, sign))
        x = case(backend, row_major, np.concatenate([[1.0, -1], zeros, [np.nan]]).astype(name))
        found = backend.unique(x.handle), backend.unique_counts(x.handle)
        for values, *_ in (*found, backend.unique_inverse(x.handle)):
            assert np.signbit(backend.to_host(values)[1].real) == (sign < 0)


def test_loops_of_ufuncs_are_pickled_by_reference() -> None:
    op = ufunc_loop(np.frexp, (d.float64,), (d.float64, d.int32))
    assert pickle.loads(pickle.dumps(op)) is op
    assert pickle.loads(pickle.dumps(op.only(1))) is op.only(1)
    assert (op.output, op.only(1).output) == (d.float64, d.int32)


@st.composite
def windows_over(draw: st.DrawFn) -> tuple[Shape, Windows]:
    """Sizes, and parameters of windows; at least one fits."""
    sizes, kernel, stride, dilation, padding = [], [], [], [], []
    for _ in range(draw(st.integers(1, 2))):
        size = draw(st.integers(1, 6))
        before, after = draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
        length = draw(st.integers(1, min(4, size + before + after)))
        room = (size + before + after - 1) // max(1, length - 1)
        sizes.append(size)
        kernel.append(length)
        stride.append(draw(st.integers(1, 4)))
        dilation.append(draw(st.integers(1, max(1, min(3, room)))))
        padding.append((before, after))
    return tuple(sizes), (tuple(kernel), tuple(stride), tuple(dilation), tuple(padding))


@settings(max_examples=40, deadline=None)
@given(windows_over())
def test_fold_undoes_unfold(backend: Backend, sizes_and_windows: tuple[Shape, Windows]) -> None:
    """Folding an unfolded array multiplies every element by the number of its windows."""
    sizes, windows = sizes_and_windows
    x = case(backend, LAYOUTS[sum(sizes) % len(LAYOUTS)], small(d.int64, (2, *sizes), start=1))
    ones = case(backend, row_major, np.ones((1, *sizes), np.int64))
    back = backend.fold(backend.unfold(x.handle, *windows), sizes, *windows)
    often = backend.fold(backend.unfold(ones.handle, *windows), sizes, *windows)
    check(backend, back, x.oracle * backend.to_host(often), x.handle)
    check(backend, often, folded(unfolded(ones.oracle, *windows), sizes, *windows))
