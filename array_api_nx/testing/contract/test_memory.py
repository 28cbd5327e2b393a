"""The contract's sections "properties", "creation" and "types and memory"."""

from __future__ import annotations

from itertools import product
from math import ceil

import numpy as np
import pytest

from ...contract.backend import Backend, Scalar
from ...core import dtypes as d
from ...core.dtypes import DType
from ...core.view import View
from ...primitives import table as p
from .layouts import (
    LAYOUTS,
    ONE_TO_ONE,
    OVERLAPS,
    SHAPE,
    Layout,
    Numbers,
    Strided,
    assert_same,
    assert_shares,
    broadcast_first,
    broadcast_last,
    case,
    cases,
    check,
    everything,
    in_layouts,
    is_row_major_view,
    limits,
    masked,
    offset,
    reaches_host,
    read,
    row_major,
    small,
    spread,
    stepped,
    strided,
    tensor,
    window,
)

# ---------------------------------------------------------------------- properties


def can_be_written(backend: Backend) -> None:
    """Skip the test if no array can be."""
    if backend.immutable is not None:
        pytest.skip(backend.immutable)


def test_shape_and_dtype(backend: Backend) -> None:
    for dtype in d.ALL:
        for layout in LAYOUTS:
            x = case(backend, layout, spread(limits(dtype), SHAPE))
            assert backend.shape(x.handle) == SHAPE
            assert backend.dtype(x.handle) is dtype


def test_sizes(backend: Backend) -> None:
    x = case(backend, row_major, np.arange(5.0))
    assert backend.sizes(x.handle) == (5,)
    mask = case(backend, row_major, np.arange(5) > 2)
    chosen = backend.index_get(x.handle, (mask.handle,))
    assert backend.sizes(chosen) in ((2,), (None,))
    assert backend.shape(chosen) == (2,)
    assert backend.sizes(chosen) == (2,)
    total = backend.reduce(p.SUM, backend.index_get(x.handle, (mask.handle,)), (0,), False)
    assert backend.item(total) == 7.0


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_read_only_reason(backend: Backend, layout: Layout) -> None:
    can_be_written(backend)
    reason = backend.read_only_reason(case(backend, layout, np.ones(SHAPE)).handle)
    assert reason is not None
    assert backend.read_only_reason(case(backend, layout, np.ones((3, 0))).handle) is not None
    reason = backend.read_only_reason(case(backend, layout, np.ones(SHAPE), writable=True).handle)
    if strided(backend) is None:
        # The layout is lost on the way in.
        assert reason is None
    elif layout in (broadcast_first, broadcast_last):
        assert reason == "several of its elements share memory, as after broadcast_to"
    elif layout is masked:
        assert reason == "part of it is padding, which has no memory"
    else:
        assert reason is None


def test_views_of_repeated_elements_are_read_only(backend: Backend) -> None:
    can_be_written(backend)
    x = case(backend, row_major, small(d.float64, (3, 4)), writable=True).handle
    assert backend.read_only_reason(x) is None
    repeated = backend.expand(x, (2, 3, 4))
    part = backend.slice(repeated, (1, (0, 3, 1), (0, 4, 1)))
    column = backend.slice(backend.permute(repeated, (2, 1, 0)), ((0, 4, 1), (1, 1, 1), 0))
    parts = [
        repeated,
        part,
        column,
        backend.slice(part, (2, 3)),
        backend.shrink(repeated, ((0, 1), (1, 3), (0, 4))),
        backend.permute(part, (1, 0)),
        backend.flip(part, (True, False)),
        backend.try_reshape(part, (12,)),
        backend.try_reshape(column, (2, 2)),
        backend.expand(part, (1, 3, 4)),
    ]
    for view in parts:
        assert backend.read_only_reason(view) is not None
        # What is computed from it is not.
        for result in (backend.copy(view), backend.unary(p.NEGATIVE, view)):
            assert backend.read_only_reason(result) is None
    # Without repeats the same layouts can be written.
    for view in (backend.try_reshape(x, (12,)), backend.expand(x, (1, 3, 4))):
        assert backend.read_only_reason(view) is None


def test_to_host(backend: Backend) -> None:
    for dtype in d.ALL:
        for layout, handle, oracle in cases(backend, dtype):
            host = backend.to_host(handle)
            assert type(host) is np.ndarray
            assert_same(host, oracle, hint=(dtype, layout))
            # What is done to the ndarray itself stays without effect.
            host.shape = (host.size,) if host.flags.c_contiguous else host.shape
            assert backend.shape(handle) == oracle.shape


def test_to_host_shares_memory(backend: Backend) -> None:
    if not reaches_host(backend):
        pytest.skip("the host cannot reach the memory")
    for layout in ONE_TO_ONE:
        x = case(backend, layout, np.zeros(SHAPE), writable=True)
        backend.to_host(x.handle)[1, 0, 2:, 3] = 5
        backend.assign(backend.slice(x.handle, (0, 0, 0, (0, 5, 1))), 7.0)
        expected = np.zeros(SHAPE)
        expected[1, 0, 2:, 3] = 5
        expected[0, 0, 0] = 7
        assert_same(backend.to_host(x.handle), expected, hint=layout)


def test_native(backend: Backend) -> None:
    for layout, handle, oracle in in_layouts(backend, spread(limits(d.float64), SHAPE)):
        array = backend.native(handle)
        assert tuple(array.shape) == SHAPE
        assert callable(array.__dlpack__)
        check(backend, backend.from_native(array), oracle, hint=layout)


def test_from_native(backend: Backend) -> None:
    for dtype in backend.available_dtypes():
        x = case(backend, row_major, small(dtype, SHAPE), writable=True)
        result = backend.from_native(backend.native(x.handle))
        check(backend, result, x.oracle, hint=dtype)
        assert_shares(backend, result, x.handle)


def test_available_dtypes(backend: Backend) -> None:
    found = backend.available_dtypes()
    assert set(found) <= set(d.ALL)
    for dtype in found:
        assert backend.dtype(backend.empty((2,), dtype)) is dtype


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_item(backend: Backend, dtype: DType) -> None:
    for value in limits(dtype):
        for layout in (row_major, offset, stepped):
            for sizes in ((), (1, 1)):
                x = case(backend, layout, np.full(sizes, value))
                result = backend.item(x.handle)
                assert type(result) is type(value.item())
                np.testing.assert_array_equal(result, x.oracle.reshape(-1)[0])
    wrong: list[tuple[int, ...]] = [(2,), (0,), (1, 3)]
    for shape in wrong:
        with pytest.raises(ValueError, match="size"):
            backend.item(case(backend, row_major, np.ones(shape, dtype.name)).handle)


def test_dlpack_device(backend: Backend) -> None:
    kind, number = backend.dlpack_device()
    assert type(kind) is type(number) is int
    assert (kind == 1) >= reaches_host(backend)


def test_shares_host(backend: Backend) -> None:
    assert backend.shares_host is reaches_host(backend)


def test_evaluate(backend: Backend) -> None:
    backend.evaluate()
    x = backend.from_host(np.arange(200_000.0), copy=True)
    y = backend.binary(p.MULTIPLY, x, 2.0)
    z = backend.reduce(p.SUM, y, (0,), False)
    explanation = backend.explain(z)
    assert explanation.pending == (explanation.operations > 0)
    backend.evaluate(x, y, z)
    for handle in (x, y, z):
        assert not backend.explain(handle).pending
    assert backend.item(z) == 2 * sum(range(200_000))


def test_explain(backend: Backend) -> None:
    assert not backend.explain(backend.from_host(np.ones(3), copy=True)).pending


def test_runtime_info(backend: Backend) -> None:
    def is_plain(fact: object) -> bool:
        if isinstance(fact, dict):
            return all(isinstance(name, str) and is_plain(part) for name, part in fact.items())
        return fact is None or isinstance(fact, str | int | float | bool)

    assert is_plain(backend.runtime_info())


# ---------------------------------------------------------------------- creation

SHAPES = [(), (0,), (3,), (2, 0, 3), (2, 3, 4)]


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_empty(backend: Backend, dtype: DType) -> None:
    for shape in SHAPES:
        x = backend.empty(shape, dtype)
        assert backend.shape(x) == shape
        assert backend.dtype(x) is dtype
        assert backend.to_host(x).flags.c_contiguous
        assert backend.read_only_reason(x) is backend.immutable


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_full(backend: Backend, dtype: DType) -> None:
    values = [value.item() for value in limits(dtype)]
    if dtype in d.FLOATING:
        values += [2, True]
    if dtype in d.COMPLEX:
        values += [1.5, -0.0]
    for value in values:
        for shape in SHAPES:
            x = backend.full(shape, dtype, value)
            check(backend, x, np.full(shape, value, dtype.name), hint=value)
            assert backend.to_host(x).flags.c_contiguous
            assert backend.read_only_reason(x) is backend.immutable


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_from_host(backend: Backend, dtype: DType) -> None:
    values = spread(limits(dtype), SHAPE)
    for array in (
        values,
        np.asfortranarray(values),
        values[::-1, :, 1::2, ::-1],
        np.broadcast_to(values[:1], SHAPE),
        values[:, :0],
        values[:1, 0, 0, 0].reshape(()),
    ):
        for copy in (False, True):
            x = backend.from_host(array, copy=copy)
            check(backend, x, np.asarray(array), hint=copy)
            if array.size:
                shared = np.may_share_memory(backend.to_host(x), array)
                assert shared is (reaches_host(backend) and not copy) or not (copy or shared)
            # Movement finds its way about memory that came in from outside.
            moved = backend.permute(x, tuple(range(array.ndim))[::-1])
            check(backend, moved, np.asarray(array).T, hint=copy)


@pytest.mark.parametrize("shape", [(0,), (0, 5), (5, 0), (3, 0, 2)])
def test_from_host_of_no_elements(backend: Backend, shape: tuple[int, ...]) -> None:
    can_be_written(backend)
    for array in (np.empty(shape), np.empty(shape).T):
        for copy in (False, True):
            array.flags.writeable = True
            x = backend.from_host(array, copy=copy)
            assert backend.read_only_reason(x) is None
            backend.assign(x, 1.0)
            array.flags.writeable = False
            x = backend.from_host(array, copy=copy)
            assert (backend.read_only_reason(x) is None) is copy


def test_from_host_respects_read_only_memory(backend: Backend) -> None:
    can_be_written(backend)
    values = np.ones((3, 4))
    values.flags.writeable = False
    for array in (values, values[:, ::2]):
        assert backend.read_only_reason(backend.from_host(array, copy=False)) is not None
        assert backend.read_only_reason(backend.from_host(array, copy=True)) is None
        part = backend.shrink(backend.from_host(array, copy=False), ((0, 1), (0, 2)))
        assert backend.read_only_reason(part) is not None


RANGES: list[tuple[float, float, float]] = [
    (0, 5, 1),
    (5, 0, -2),
    (3, 3, 1),
    (4, 2, 1),
    (1, 20, 7),
    (20, 1, -7),
]


@pytest.mark.parametrize("dtype", p.ARANGE.results, ids=str)
def test_arange(backend: Backend, dtype: DType) -> None:
    ranges = list(RANGES)
    if dtype in d.INTEGRAL:
        low, high = d.BOUNDS[dtype]
        ranges += [(high - 2, high, 1), (low + 2, low, -1), (high, high - 3, -1), (low, low + 3, 2)]
    else:
        ranges += [(0.5, 3, 0.5), (1, 0, -0.125), (-1.0, 1.0, 0.25)]
    for start, stop, step in ranges:
        length = max(0, ceil((stop - start) / step))
        expected = np.array([start + i * step for i in range(length)], dtype.name)
        result = backend.arange(start, stop, step, dtype)
        check(backend, result, expected, hint=(start, stop, step))


@pytest.mark.parametrize("dtype", p.LINSPACE.results, ids=str)
def test_linspace(backend: Backend, dtype: DType) -> None:
    ends: list[tuple[Numbers, Numbers]] = [(0, 1), (-2.5, 7), (3, 3), (5, -5.5), (0.1, 0.7)]
    if dtype in d.COMPLEX:
        ends += [(1j, 2), (0, 3 - 4j)]
    for start, stop in ends:
        for num in (0, 1, 2, 3, 10, 1000):
            for endpoint in (False, True):
                steps = num - 1 if endpoint else num
                step = (stop - start) / steps if steps > 0 else 0
                exact = np.array([start + i * step for i in range(num)], dtype.name)
                result = backend.linspace(start, stop, num, dtype, endpoint=endpoint)
                hint = start, stop, num, endpoint
                assert backend.shape(result) == (num,), hint
                assert backend.dtype(result) is dtype, hint
                actual = backend.to_host(result)
                scale = max(abs(start), abs(stop)) * np.finfo(dtype.name).eps
                np.testing.assert_allclose(actual, exact, rtol=0, atol=4 * scale)
                if num > 0:
                    assert actual[0] == exact[0], hint
                if endpoint and num > 1:
                    assert actual[-1] == np.asarray(stop, dtype.name), hint


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_eye(backend: Backend, dtype: DType) -> None:
    for rows, columns in ((3, 3), (2, 4), (4, 2), (0, 3), (3, 0), (1, 1)):
        for k in (-9, -1, 0, 1, 2, 9):
            expected = np.zeros((rows, columns), dtype.name)
            for row in range(rows):
                if 0 <= row + k < columns:
                    expected[row, row + k] = 1
            check(backend, backend.eye(rows, columns, k, dtype), expected, hint=(rows, columns, k))


# ---------------------------------------------------------------------- types


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_cast(backend: Backend, dtype: DType) -> None:
    for target in d.ALL:
        values = limits(dtype)
        if dtype in d.FLOATING and target in d.INTEGRAL:
            # Others have no defined result.
            values = values[np.abs(values.real) <= 100]
            values = values[values.real >= 0] if target in d.UNSIGNED else values
        for layout, handle, oracle in [
            *in_layouts(backend, spread(values, (2, 1, 4, 5))),
            case(backend, offset, values[:1].reshape(())),
            case(backend, stepped, values[:0]),
        ]:
            source = oracle.real if dtype in d.COMPLEX and target in d.REAL else oracle
            with np.errstate(all="ignore"):
                expected = source.astype(target.name)
            result = backend.cast(handle, target)
            check(backend, result, expected, handle, hint=(dtype, target, layout))


def test_cast_truncates_and_takes_nonzero_for_true(backend: Backend) -> None:
    x = case(backend, row_major, np.array([-1.75, -0.5, 0.5, 1.75, 99.9]))
    check(backend, backend.cast(x.handle, d.int8), np.array([-1, 0, 0, 1, 99], np.int8))
    x = case(backend, row_major, np.array([-1.75 + 9j, 2.5 - 3j]))
    check(backend, backend.cast(x.handle, d.int64), np.array([-1, 2]))
    check(backend, backend.cast(x.handle, d.float32), np.array([-1.75, 2.5], np.float32))
    x = case(backend, row_major, np.array([0, -0.0, 0.25j, np.nan, 256, complex(0, np.nan)]))
    expected = np.array([False, False, True, True, True, True])
    check(backend, backend.cast(x.handle, d.bool), expected)
    x = case(backend, row_major, np.array([256, 0, -1]))
    check(backend, backend.cast(x.handle, d.bool), np.array([True, False, True]))


# ---------------------------------------------------------------------- memory


@pytest.mark.parametrize("method", ["contiguous", "copy"])
@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_row_major_results(backend: Backend, dtype: DType, method: str) -> None:
    for layout, handle, oracle in cases(backend, dtype):
        result = getattr(backend, method)(handle)
        is_apart = method == "copy" or not is_row_major_view(backend, handle)
        check(backend, result, oracle, handle if is_apart else None, hint=layout)
        assert backend.to_host(result).flags.c_contiguous
        if method == "copy":
            assert backend.read_only_reason(result) is backend.immutable


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_assign(backend: Backend, dtype: DType) -> None:
    scalars: list[Scalar] = [True] if dtype is d.bool else [True, 2]
    if dtype in d.FLOATING:
        scalars += [-0.5, np.inf]
    for layout in ONE_TO_ONE:
        for value in [
            *in_layouts(backend, spread(limits(dtype), SHAPE)),
            case(backend, stepped, spread(limits(dtype), (5, 1))),
            case(backend, offset, spread(limits(dtype), ())),
            # Superfluous axes of size 1 in front are ignored, as in NumPy.
            case(backend, row_major, spread(limits(dtype), (1, 1, *SHAPE))),
        ]:
            target = case(backend, layout, small(dtype, SHAPE), writable=True)
            engine = strided(backend)
            whole = None if engine is None else everything(engine, target.handle)
            before = None if whole is None else backend.to_host(whole).copy()
            assert backend.assign(target.handle, value.handle) is None
            expected = target.oracle.copy()
            expected[...] = value.oracle
            check(backend, target.handle, expected, hint=(layout.__name__, value.layout))
            if before is not None:
                # What lies between the elements is as before.
                backend.assign(target.handle, tensor(backend, before, target.handle.view))
                np.testing.assert_array_equal(backend.to_host(whole), before)
        for scalar in scalars:
            target = case(backend, layout, small(dtype, SHAPE), writable=True)
            backend.assign(target.handle, scalar)
            check(backend, target.handle, np.full(SHAPE, scalar, dtype.name))


def test_assign_of_no_axes_and_of_no_elements(backend: Backend) -> None:
    target = case(backend, offset, np.asarray(3.0), writable=True)
    backend.assign(target.handle, case(backend, row_major, np.asarray(4.0)).handle)
    check(backend, target.handle, np.float64(4))
    backend.assign(target.handle, 5)
    check(backend, target.handle, np.float64(5))
    nothing = case(backend, row_major, np.ones((3, 0)), writable=True)
    backend.assign(nothing.handle, case(backend, row_major, np.ones((3, 1))).handle)
    check(backend, nothing.handle, np.ones((3, 0)))


def test_assign_of_overlapping_rows(backend: Backend) -> None:
    """One axis to one axis: every pair of steps, from here, behind and ahead."""
    for step, other in product((-2, -1, 1, 2, 3), repeat=2):
        for start, other_start in ((20, 20), (20, 19), (19, 20), (20, 26), (26, 20)):
            memory = np.arange(50)
            block = backend.from_host(memory, copy=True)
            into, from_ = View((6,), (step,), start), View((6,), (other,), other_start)
            expected = memory[[other_start + i * other for i in range(6)]]
            target = window(backend, block, into)
            backend.assign(target, window(backend, block, from_))
            check(backend, target, expected, hint=(into, from_))


@pytest.mark.parametrize(("target", "value"), OVERLAPS, ids=str)
def test_assign_of_overlapping_views(backend: Backend, target: Strided, value: Strided) -> None:
    for dtype in (d.float64, d.int8, d.COMPLEX[0]):
        memory = np.arange(36).astype(dtype.name)
        into, from_ = View(*target), View(*value)
        block = backend.from_host(memory, copy=True)
        written = window(backend, block, into)
        backend.assign(written, window(backend, block, from_))
        expected = np.broadcast_to(read(memory, from_), backend.shape(written))
        check(backend, written, expected, hint=dtype)


@pytest.mark.parametrize(
    ("old", "new"), [(d.complex128, d.float64), (d.float64, d.complex128), (d.int64, d.uint64)]
)
def test_bitcast(backend: Backend, old: DType, new: DType) -> None:
    values = spread(limits(old), (3, 4))
    x = case(backend, row_major, values, writable=True)
    expected = x.oracle.view(new.name)
    result = backend.bitcast(x.handle, new)
    assert_same(backend.to_host(result), expected)
    assert_shares(backend, result, x.handle)
    if old.itemsize != new.itemsize:
        with pytest.raises(ValueError, match="contiguous"):
            backend.bitcast(backend.slice(x.handle, ((0, 3, 1), (0, 2, 2))), new)


def test_release_memory(backend: Backend) -> None:
    x = backend.from_host(np.arange(50_000, dtype=np.float32), copy=True)
    backend.release_memory()
    assert backend.to_host(x)[-1] == 49_999


def test_worth_deferring(backend: Backend) -> None:
    answers = [backend.worth_deferring(10**power) for power in range(9)]
    assert {type(answer) for answer in answers} == {bool}
    # What is worth it at one size is worth it at all larger ones.
    assert answers == sorted(answers)
