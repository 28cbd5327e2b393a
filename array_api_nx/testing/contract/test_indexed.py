"""The contract's section "indexed access"."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ...contract.backend import Backend, Handle, Keys, Operand
from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.dtypes import DType
from ...core.indexing import Key
from ...core.view import View
from .layouts import (
    LAYOUTS,
    ONE_TO_ONE,
    OVERLAPS,
    Case,
    Strided,
    case,
    check,
    in_layouts,
    limits,
    masked,
    read,
    row_major,
    small,
    spread,
    window,
)

SHAPE = (2, 3, 1, 4)
EMPTY = (3, 0, 2)

# Keys as in the contract. Lists become int64 handles, or boolean ones if they hold bools.
KEYS: list[Keys] = [
    ([1, 0, -1, 1], None, None, None),
    (None, [2, -3], None, None),
    (None, None, None, [[0, 3], [-1, 1]]),
    ([0, 1, 1], [2, 0, -1], None, None),
    ([0, 1], None, None, [3, 0]),
    (None, [[0], [2]], 0, [1, -1, 3]),
    ([1], 2, 0, 3),
    (1, None, None, [0, 0]),
    ([[]], None, None, None),
    (None, None, [], [1]),
    ([True, False], None, None, None),
    (None, [True, False, True], None, None),
    (None, [False, False, False], None, None),
    ([[True, False, True], [False, True, True]], None, None),
    (None, None, [[True, False, True, True]]),
    ([True, False], [0], None, None),
    (None, [True, False, True], None, [1, 3]),
    (None, [], None, None),
]


def as_key(part: Key) -> Key:
    if not isinstance(part, list):
        return part
    array = np.asarray(part)
    return array if array.dtype == bool else array.astype(np.int64)


def plain(keys: Keys) -> Keys:
    """Keys as NumPy takes them."""
    return tuple([slice(None) if key is None else as_key(key) for key in keys])


def handles(backend: Backend, keys: Keys, which: int = 0) -> Keys:
    """Keys as a backend takes them, their arrays in one layout or another."""
    result = []
    for key in keys:
        array = as_key(key)
        if isinstance(array, np.ndarray):
            layout = ONE_TO_ONE[which % len(ONE_TO_ONE)]
            array = case(backend, layout, array).handle
            which += 1
        result.append(array)
    return tuple(result)


def selected(x: NDArray, keys: Keys) -> NDArray:
    """What the keys select, element by element.

    A grid with the position of each element, indexed by NumPy, says which elements those are.
    """
    grid = np.arange(x.size).reshape(x.shape)
    positions = grid[plain(keys)]
    flat = [x[np.unravel_index(i, x.shape)] for i in positions.reshape(-1)]
    return np.array(flat, x.dtype).reshape(positions.shape)


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_index_get(backend: Backend, dtype: DType) -> None:
    for which, (layout, handle, oracle) in enumerate(
        in_layouts(backend, spread(limits(dtype), SHAPE))
    ):
        for keys in KEYS:
            given = handles(backend, keys, which)
            result = backend.index_get(handle, given)
            check(backend, result, selected(oracle, keys), handle, *given, hint=(layout, keys))


def test_index_get_of_no_axes_and_of_no_elements(backend: Backend) -> None:
    scalar = case(backend, row_major, np.asarray(3.0))
    for value in (True, False):
        mask = case(backend, row_major, np.asarray(value)).handle
        expected = scalar.oracle[np.asarray(value)]
        check(backend, backend.index_get(scalar.handle, (mask,)), expected, scalar.handle)
    one = case(backend, row_major, np.asarray(1)).handle
    x = case(backend, row_major, np.arange(3.0))
    check(backend, backend.index_get(x.handle, (one,)), np.float64(1), x.handle)
    matrix = case(backend, row_major, np.arange(6.0).reshape(2, 3))
    check(backend, backend.index_get(matrix.handle, (one, None)), np.arange(3.0, 6), matrix.handle)
    empty = case(backend, row_major, np.empty(EMPTY))
    two = case(backend, row_major, np.array([2, 0])).handle
    none = case(backend, row_major, np.empty(0, np.int64)).handle
    check(backend, backend.index_get(empty.handle, (two, None, None)), np.empty((2, 0, 2)))
    check(backend, backend.index_get(empty.handle, (None, none, None)), np.empty(EMPTY))
    mask = case(backend, row_major, np.empty((3, 0), bool)).handle
    check(backend, backend.index_get(empty.handle, (mask, None)), np.empty((0, 2)))


WRONG_KEYS: list[Keys] = [
    ([0, 2], None, None, None),
    ([-3], None, None, None),
    (None, None, [1], None),
    ([0, 1], [0, 1, 2], None, None),
    (None, 3, None, [0]),
    ([True, True], [0, 1, 2], None, None),
]


@pytest.mark.parametrize("keys", WRONG_KEYS, ids=str)
def test_index_get_refuses_what_is_out_of_range(backend: Backend, keys: Keys) -> None:
    x = case(backend, row_major, np.arange(24.0).reshape(SHAPE))
    with pytest.raises(IndexError):
        backend.evaluate(backend.index_get(x.handle, handles(backend, keys)))


def set_now(backend: Backend, x: Handle, keys: Keys, value: Operand) -> None:
    """Write to `x`, also where that would wait."""
    backend.index_set(x, keys, value)
    backend.evaluate(x)


@pytest.mark.parametrize("keys", WRONG_KEYS, ids=str)
def test_index_set_refuses_what_is_out_of_range(backend: Backend, keys: Keys) -> None:
    x = case(backend, row_major, np.arange(24.0).reshape(SHAPE), writable=True)
    for value in (-1.0, case(backend, row_major, np.asarray(-1.0)).handle):
        with pytest.raises(IndexError):
            set_now(backend, x.handle, handles(backend, keys), value)
        check(backend, x.handle, x.oracle, hint="nothing has changed")


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_index_set(backend: Backend, dtype: DType) -> None:
    for which, layout in enumerate(ONE_TO_ONE):
        for number, keys in enumerate(KEYS):
            positions = np.arange(24).reshape(SHAPE)[plain(keys)]
            value = case(backend, LAYOUTS[which - 5], spread(limits(dtype), positions.shape))
            row = case(backend, LAYOUTS[which], spread(limits(dtype), positions.shape[-1:]))
            scalar = True if dtype is d.bool else 2
            # Superfluous axes of size 1 in front are ignored, as in NumPy.
            deep = case(backend, row_major, value.oracle[None])
            # The other kinds of values take turns, so that each meets all layouts and all keys.
            for written in (value, (row, deep, scalar)[(which + number) % 3]):
                x = case(backend, layout, small(dtype, SHAPE), writable=True)
                expected = x.oracle.copy()
                given = written.oracle if isinstance(written, Case) else np.asarray(written)
                given = given[0] if written is deep else given
                values = np.broadcast_to(given, positions.shape)
                for i, value_there in zip(positions.reshape(-1), values.reshape(-1), strict=True):
                    expected.reshape(-1)[i] = value_there
                operand = written.handle if isinstance(written, Case) else written
                assert backend.index_set(x.handle, handles(backend, keys, which), operand) is None
                check(backend, x.handle, expected, hint=(layout.__name__, keys))


def test_index_set_lets_the_last_one_win(backend: Backend) -> None:
    rows, columns = np.array([[0, 1, 0], [1, 1, 0]]), np.array([[2, 0, 2], [0, 0, 2]])
    numbers = np.arange(1.0, 7).reshape(2, 3)
    for layout in ONE_TO_ONE:
        keys = case(backend, layout, rows).handle, case(backend, layout, columns).handle
        value = case(backend, layout, numbers).handle
        x = case(backend, row_major, np.zeros((2, 3)), writable=True)
        backend.index_set(x.handle, keys, value)
        check(backend, x.handle, np.array([[0.0, 0, 6], [5, 0, 0]]), hint=layout.__name__)
        x = case(backend, row_major, np.zeros((2, 2)), writable=True)
        rows_of_two = case(backend, layout, np.arange(12.0).reshape(2, 3, 2)).handle
        backend.index_set(x.handle, (keys[0], None), rows_of_two)
        check(backend, x.handle, np.array([[10.0, 11], [8, 9]]), hint=layout.__name__)


def test_index_set_refuses_values_that_do_not_broadcast(backend: Backend) -> None:
    x = case(backend, row_major, np.zeros(SHAPE), writable=True)
    value = case(backend, row_major, np.ones(5)).handle
    for keys in KEYS[:6]:
        with pytest.raises(ValueError, match=r"broadcast|assign"):
            set_now(backend, x.handle, handles(backend, keys), value)
        check(backend, x.handle, x.oracle, hint="nothing has changed")


def test_index_set_of_what_overlaps(backend: Backend) -> None:
    """The value, and the keys, may lie in the memory that is written."""
    for offset, step in ((0, 1), (1, 1), (3, 1), (9, -1), (0, 2)):
        memory = np.arange(20)
        block = backend.from_host(memory, copy=True)
        x = window(backend, block, View((10,)))
        value = window(backend, block, View((5,), (step,), offset))
        expected = memory[:10].copy()
        expected[[4, 0, 2, 1, 9]] = read(memory, View((5,), (step,), offset))
        backend.index_set(x, handles(backend, ([4, 0, 2, 1, 9],)), value)
        check(backend, x, expected, hint=(offset, step))
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


# ---------------------------------------------------------------------- along one axis


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_take(backend: Backend, dtype: DType) -> None:
    for which, (layout, handle, oracle) in enumerate(
        in_layouts(backend, spread(limits(dtype), SHAPE))
    ):
        for axis, size in enumerate(SHAPE):
            for positions in ([0], [size - 1, 0, -1, -size], [[0], [size - 1]], 0, []):
                array = np.array(positions, np.int64)
                indices = case(backend, ONE_TO_ONE[which % 7], array)
                lanes = np.moveaxis(oracle, axis, 0)
                rows = [lanes[i] for i in array.reshape(-1)]
                picked = np.array(rows, oracle.dtype).reshape(*array.shape, *lanes.shape[1:])
                order = range(array.ndim)
                expected = np.moveaxis(picked, order, [axis + i for i in order])
                result = backend.take(handle, indices.handle, axis)
                hint = layout, axis, positions
                check(backend, result, expected, handle, indices.handle, hint=hint)


def test_take_of_no_elements(backend: Backend) -> None:
    x = case(backend, row_major, np.empty(EMPTY))
    none = case(backend, row_major, np.empty((2, 0), np.int64)).handle
    check(backend, backend.take(x.handle, none, 1), np.empty((3, 2, 0, 2)))
    two = case(backend, row_major, np.array([2, 1])).handle
    check(backend, backend.take(x.handle, two, 0), np.empty((2, 0, 2)))


@pytest.mark.parametrize("wrong", [3, -4, 2**40])
def test_take_and_gather_refuse_what_is_out_of_range(backend: Backend, wrong: int) -> None:
    x = case(backend, row_major, np.ones((2, 3))).handle
    with pytest.raises(IndexError):
        backend.evaluate(backend.take(x, case(backend, row_major, np.array([0, wrong])).handle, 1))
    indices = case(backend, row_major, np.array([[0], [wrong]])).handle
    with pytest.raises(IndexError):
        backend.evaluate(backend.gather(x, indices, 1))
    empty = case(backend, row_major, np.empty((2, 0))).handle
    with pytest.raises(IndexError):
        backend.evaluate(backend.take(empty, case(backend, row_major, np.array([0])).handle, 1))


def along(axis: int, length: int) -> tuple[int, ...]:
    return (*SHAPE[:axis], length, *SHAPE[axis + 1 :])


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_gather(backend: Backend, dtype: DType) -> None:
    for which, (layout, handle, oracle) in enumerate(
        in_layouts(backend, spread(limits(dtype), SHAPE))
    ):
        for axis, size in enumerate(SHAPE):
            for length in (0, 1, 5):
                shape = along(axis, length)
                numbers = np.arange(np.prod(shape)).reshape(shape) * 7 % (2 * size) - size
                indices = case(backend, LAYOUTS[which - 4], numbers)
                expected = np.empty(shape, oracle.dtype)
                for index in np.ndindex(shape):
                    source = list(index)
                    source[axis] = indices.oracle[index]
                    expected[index] = oracle[tuple(source)]
                result = backend.gather(handle, indices.handle, axis)
                hint = layout, axis, length
                check(backend, result, expected, handle, indices.handle, hint=hint)


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_scatter(backend: Backend, dtype: DType, add: bool) -> None:
    for which, (layout, handle, oracle) in enumerate(in_layouts(backend, small(dtype, SHAPE))):
        for axis, size in enumerate(SHAPE):
            for length in (0, 1, 5):
                # With five updates along an axis of up to four, some meet.
                shape = along(axis, length)
                numbers = np.arange(np.prod(shape)).reshape(shape) * 7 % size
                indices = case(backend, LAYOUTS[which - 4], numbers)
                updates = case(backend, LAYOUTS[which - 7], small(dtype, shape, start=3))
                expected = oracle.copy()
                for index in np.ndindex(shape):
                    target = list(index)
                    target[axis] = indices.oracle[index]
                    if add:
                        expected[tuple(target)] += updates.oracle[index]
                    else:
                        expected[tuple(target)] = updates.oracle[index]
                given = handle, indices.handle, updates.handle
                result = backend.scatter(*given, axis, add=add)
                check(backend, result, expected, *given, hint=(layout, axis, length))


@pytest.mark.parametrize("add", [False, True])
def test_scatter_of_no_elements(backend: Backend, add: bool) -> None:
    template = case(backend, row_major, np.empty(EMPTY))
    indices = case(backend, row_major, np.empty((4, 0, 2), np.int64))
    updates = case(backend, row_major, np.empty((4, 0, 2)))
    result = backend.scatter(template.handle, indices.handle, updates.handle, 0, add=add)
    check(backend, result, template.oracle)


def test_scatter_into_padding(backend: Backend) -> None:
    template = case(backend, masked, np.arange(1.0, 6))
    indices = case(backend, row_major, np.array([0, 4, 0, 2]))
    updates = case(backend, row_major, np.array([10.0, 20, 30, 40]))
    result = backend.scatter(template.handle, indices.handle, updates.handle, 0, add=True)
    check(backend, result, np.array([40.0, 2, 43, 4, 20]), template.handle)
