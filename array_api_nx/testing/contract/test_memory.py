"""The contract's section "properties", and writes to memory that the same call reads."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from ...contract.backend import Backend
from ...core import dtypes as d
from ...core.dtypes import DType
from ...core.view import View
from ...primitives import table as p
from ...primitives.table import Primitive, of_family
from .layouts import (
    LAYOUTS,
    ONE_TO_ONE,
    OVERLAPS,
    SHAPE,
    Layout,
    Strided,
    assert_same,
    assert_shares,
    broadcast_first,
    broadcast_last,
    case,
    cases,
    check,
    flushes,
    has,
    in_layouts,
    limits,
    masked,
    must_have,
    normal,
    nothing_else_written,
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
from .trials_elementwise import computed, left_values, right_values, tolerance
from .trials_movement import SHAPES

# ---------------------------------------------------------------------- properties


def can_be_written(backend: Backend) -> None:
    """Skip the test if no array can be."""
    if backend.immutable is not None:
        pytest.skip(backend.immutable)


def test_shape_and_dtype(backend: Backend) -> None:
    for dtype in backend.available_dtypes():
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
        # Results computed from it are not.
        for result in (backend.copy(view), backend.unary(p.NEGATIVE, view)):
            assert backend.read_only_reason(result) is None
    # Without repeats the same layouts can be written.
    for view in (backend.try_reshape(x, (12,)), backend.expand(x, (1, 3, 4))):
        assert backend.read_only_reason(view) is None


def test_to_host(backend: Backend) -> None:
    for dtype in backend.available_dtypes():
        for layout, handle, oracle in cases(backend, dtype):
            host = backend.to_host(handle)
            assert type(host) is np.ndarray
            assert_same(host, oracle, hint=(dtype, layout))
            # Changes to the ndarray object itself stay without effect.
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
                np.testing.assert_array_equal(result, x.oracle.item())
    wrong: list[tuple[int, ...]] = [(2,), (0,), (1, 3)]
    for shape in wrong:
        with pytest.raises(ValueError, match="size"):
            backend.item(case(backend, row_major, np.ones(shape, dtype.name)).handle)


def test_dlpack_device(backend: Backend) -> None:
    kind, number = backend.dlpack_device()
    assert type(kind) is type(number) is int
    assert backend.is_on_host is (kind == 1)
    assert backend.is_on_host >= reaches_host(backend)


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


def test_release_memory(backend: Backend) -> None:
    x = backend.from_host(np.arange(50_000, dtype=np.float32), copy=True)
    backend.release_memory()
    assert backend.to_host(x)[-1] == 49_999


def test_worth_deferring(backend: Backend) -> None:
    answers = [backend.worth_deferring(10**power) for power in range(9)]
    assert {type(answer) for answer in answers} == {bool}
    # If deferral pays at one size, it pays at all larger ones.
    assert answers == sorted(answers)


# ---------------------------------------------------------------------- memory that comes in


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_empty(backend: Backend, dtype: DType) -> None:
    must_have(backend, dtype)
    for shape in SHAPES:
        x = backend.empty(shape, dtype)
        assert backend.shape(x) == shape
        assert backend.dtype(x) is dtype
        assert backend.to_host(x).flags.c_contiguous
        assert backend.read_only_reason(x) is backend.immutable


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_from_host(backend: Backend, dtype: DType) -> None:
    must_have(backend, dtype)
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


def test_try_reshape_keeps_what_strides_express(backend: Backend) -> None:
    x = tensor(backend, np.arange(24.0), View((4, 6), (1, 4)))
    if strided(backend) is not None:
        assert backend.try_reshape(x, (24,)) is None
    view = backend.try_reshape(x, (2, 2, 3, 2))
    expected = np.arange(24.0).reshape(6, 4).T.reshape(2, 2, 3, 2)
    check(backend, view, expected)
    assert_shares(backend, view, x)


def test_movement_writes_through(backend: Backend) -> None:
    """A view shows elements that are written to the array, and the other way round."""
    memory = np.arange(24.0)
    x = tensor(backend, memory, View((4, 6)), writable=True)
    moved = backend.permute(backend.shrink(x, ((1, 3), (0, 6))), (1, 0))
    moved = backend.flip(moved, (True, False))
    backend.assign(backend.slice(moved, (0, (0, 2, 1))), -1.0)
    expected = np.arange(24.0).reshape(4, 6)
    expected[1:3, 5] = -1
    check(backend, x, expected)
    backend.assign(x, 5.0)
    check(backend, moved, np.full((6, 2), 5.0))


# ---------------------------------------------------------------------- overlaps


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


def test_index_set_of_what_overlaps(backend: Backend) -> None:
    """The value, and the keys, may lie in the memory that is written."""
    for start, step in ((0, 1), (1, 1), (3, 1), (9, -1), (0, 2)):
        memory = np.arange(20)
        block = backend.from_host(memory, copy=True)
        x = window(backend, block, View((10,)))
        value = window(backend, block, View((5,), (step,), start))
        expected = memory[:10].copy()
        expected[[4, 0, 2, 1, 9]] = read(memory, View((5,), (step,), start))
        backend.index_set(x, (case(backend, row_major, np.array([4, 0, 2, 1, 9])).handle,), value)
        check(backend, x, expected, hint=(start, step))
    memory = np.array([3, 0, 4, 1, 2])
    block = backend.from_host(memory, copy=True)
    x = window(backend, block, View((5,)))
    expected = memory.copy()
    expected[memory.copy()] = memory.copy()[::-1]
    backend.index_set(x, (x,), window(backend, block, View((5,), (-1,), 4)))
    check(backend, x, expected)


@pytest.mark.parametrize(("target", "other"), OVERLAPS, ids=str)
def test_index_set_by_a_mask_in_the_memory_that_is_written(
    backend: Backend, target: Strided, other: Strided
) -> None:
    memory = np.arange(36) * 7 % 5 < 2
    into, of = View(*target), View(*other)
    mask = read(memory, of)
    before = (None,) * (into.ndim - of.ndim)
    key: Any = (..., mask)
    selected = read(memory, into)[key]
    own = View(selected.shape[-1:], (1,), 3)
    for number, value in enumerate((True, False, read(memory, own))):
        block = backend.from_host(memory, copy=True)
        written = window(backend, block, into)
        expected = read(memory, into).copy()
        expected[key] = value
        operand = window(backend, block, own) if isinstance(value, np.ndarray) else value
        backend.index_set(written, (*before, window(backend, block, of)), operand)
        check(backend, written, expected, hint=number)


@pytest.mark.parametrize("dtype", [d.bool, d.int8, d.float64, d.complex64], ids=str)
def test_index_set_through_a_mask_to_elements_of_their_own_memory(
    backend: Backend, dtype: DType
) -> None:
    memory = small(dtype, (60,))
    for target, other in OVERLAPS:
        into, of = View(*target), View(*other)
        shape = read(memory, into).shape
        mask = np.arange(np.prod(shape)).reshape(shape) * 5 % 7 < 4
        count = int(mask.sum())
        for value in (View((count,), (1,), of.offset), View((count,), (-1,), of.offset + count)):
            block = backend.from_host(memory, copy=True)
            written = window(backend, block, into)
            expected = read(memory, into).copy()
            expected[mask] = read(memory, value)
            key = case(backend, row_major, mask).handle
            backend.index_set(written, (key,), window(backend, block, value))
            check(backend, written, expected, hint=(into, value))


# Two operands and `out` as views of one block of memory, in every relation to each other.
TOGETHER: dict[str, list[View]] = {
    "out is x1": [View((4, 4)), View((4, 4), None, 16), View((4, 4))],
    "out is x2": [View((4, 4), None, 16), View((4, 4)), View((4, 4))],
    "all are one": [View((4, 4))] * 3,
    "shifted ahead": [View((20,)), View((20,), (1,), 3), View((20,), (1,), 1)],
    "shifted behind": [View((20,), (1,), 2), View((20,), (1,), 1), View((20,))],
    "reversed": [View((20,)), View((20,), (-1,), 19), View((20,), (-1,), 19)],
    "transposed": [View((4, 4)), View((4, 4), (1, 4)), View((4, 4), (1, 4))],
    "stepped": [View((10,)), View((10,), (2,), 1), View((10,), (2,), 0)],
    "broadcast": [View((4, 4)), View((4,), (4,)), View((4, 4))],
}


@pytest.mark.parametrize("op", of_family("binary"), ids=lambda op: op.name)
def test_binary_out_may_overlap_its_operands(backend: Backend, op: Primitive) -> None:
    for dtype, result_dtype in op.results.items():
        if result_dtype is not dtype or not has(backend, dtype):
            continue
        values = right_values(op, dtype)[:13] if dtype in d.INTEGRAL else left_values(op, dtype)
        values = normal(values) if flushes(backend, dtype) else values
        for hint, views in TOGETHER.items():
            block = backend.from_host(np.resize(values, 64).astype(dtype), copy=True)
            x1, x2, out = [window(backend, block, view) for view in views]
            if views[2] == views[0]:
                out = x1
            for second in (x2, True if dtype is d.bool else 2):
                arrays = [backend.to_host(x1).copy(), second]
                if second is x2:
                    arrays[1] = backend.to_host(x2).copy()
                expected = computed(op, *arrays)
                with nothing_else_written(backend, out, hint), np.errstate(all="ignore"):
                    assert backend.binary(op, x1, second, out) is out
                    check(backend, out, expected, ulp=tolerance(op, dtype), hint=(dtype, hint))


def test_binary_out_of_comparisons_is_boolean(backend: Backend) -> None:
    x = tensor(backend, np.array([True, False, True, True]), View((4,)), writable=True)
    assert backend.binary(p.EQUAL, x, False, x) is x
    check(backend, x, np.array([False, True, False, False]))
