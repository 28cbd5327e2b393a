"""The contract's section "movement": values on every layout, and what shares memory."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from ...contract.backend import Backend, Handle
from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.dtypes import DType
from ...core.indexing import Key
from ...core.view import Selection, View
from .layouts import (
    LAYOUTS,
    assert_shares,
    case,
    check,
    in_layouts,
    is_row_major_view,
    limits,
    row_major,
    spread,
    strided,
    tensor,
)

SHAPE = (2, 1, 3, 4)
VALUES = np.arange(1.0, 25.0).reshape(SHAPE)
EMPTY = np.empty((3, 0, 2))


def check_view(
    backend: Backend, result: Handle, expected: NDArray, x: Handle, hint: object
) -> None:
    """`result` has the right elements, in the memory of `x` unless `x` is partly padding."""
    check(backend, result, expected, hint=hint)
    if is_whole(backend, x):
        assert_shares(backend, result, x, hint)


def is_whole(backend: Backend, x: Handle) -> bool:
    """Whether all of `x` has memory, and none of it is padding."""
    engine = strided(backend)
    return engine is None or engine.view(x).mask is None


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_movement_of_every_dtype(backend: Backend, dtype: DType) -> None:
    for layout, handle, oracle in in_layouts(backend, spread(limits(dtype), SHAPE)):
        moved = backend.permute(handle, (3, 1, 0, 2))
        moved = backend.flip(moved, (True, False, True, True))
        moved = backend.slice(moved, ((0, 2, 2), 0, (0, 2, 1), None, (2, 2, -1)))
        expected = oracle.transpose(3, 1, 0, 2)[::-1, :, ::-1, ::-1]
        expected = expected[0:4:2, 0, :, None, 2:0:-1]
        check_view(backend, moved, expected, handle, (dtype, layout))
        expected = np.pad(oracle, ((1, 0), (0, 2), (0, 0), (1, 1)), constant_values=1)
        padded = backend.pad(handle, ((1, 0), (0, 2), (0, 0), (1, 1)), dtype is d.bool or 1)
        check(backend, padded, expected, handle, hint=(dtype, layout))
        joined = backend.cat([handle, handle], 2)
        check(backend, joined, np.concatenate([oracle, oracle], 2), handle, hint=(dtype, layout))


def test_expand(backend: Backend) -> None:
    for values in (VALUES, VALUES[:1, :, :1], VALUES[0, 0, 0, :1].reshape(()), EMPTY, VALUES[:0]):
        for layout, handle, oracle in in_layouts(backend, values):
            shape = tuple([5 if n == 1 else n for n in oracle.shape])
            for target in (shape, (3, *shape), (0, *shape), oracle.shape):
                expected = np.broadcast_to(oracle, target)
                check_view(backend, backend.expand(handle, target), expected, handle, layout)
            gone = tuple([0 if n == 1 else n for n in oracle.shape])
            check(backend, backend.expand(handle, gone), np.broadcast_to(oracle, gone))


RESHAPES = [(24,), (2, 12), (6, 4), (2, 3, 4), (2, 3, 1, 2, 2), (8, 3), (1, 24, 1), SHAPE]


def test_try_reshape(backend: Backend) -> None:
    for layout, handle, oracle in in_layouts(backend, VALUES):
        for shape in RESHAPES:
            result = backend.try_reshape(handle, shape)
            if result is not None:
                check_view(backend, result, oracle.reshape(shape), handle, (layout, shape))
            else:
                assert not is_row_major_view(backend, handle), (
                    "a row-major array never needs a copy"
                )


def test_try_reshape_keeps_what_strides_express(backend: Backend) -> None:
    x = tensor(backend, np.arange(24.0), View((4, 6), (1, 4)))
    if strided(backend) is not None:
        assert backend.try_reshape(x, (24,)) is None
    view = backend.try_reshape(x, (2, 2, 3, 2))
    expected = np.arange(24.0).reshape(6, 4).T.reshape(2, 2, 3, 2)
    check_view(backend, view, expected, x, "column-major, axes split")


def test_reshape(backend: Backend) -> None:
    for layout, handle, oracle in in_layouts(backend, VALUES):
        for shape in RESHAPES:
            expected = oracle.reshape(shape)
            check(backend, backend.reshape(handle, shape), expected, hint=(layout, shape))
            if layout in ("row_major", "odd_units", "offset"):
                check_view(backend, backend.reshape(handle, shape), expected, handle, layout)


def test_reshape_of_no_axes_and_of_no_elements(backend: Backend) -> None:
    one = case(backend, row_major, np.asarray(3.0))
    for shape in ((), (1,), (1, 1)):
        expected = one.oracle.reshape(shape)
        check_view(backend, backend.reshape(one.handle, shape), expected, one.handle, shape)
        back = backend.reshape(backend.reshape(one.handle, shape), ())
        check_view(backend, back, one.oracle, one.handle, shape)
    for x in in_layouts(backend, EMPTY):
        sizes: list[tuple[int, ...]] = [(0,), (0, 7), (2, 0, 3), (5, 0)]
        for new in sizes:
            check(backend, backend.reshape(x.handle, new), x.oracle.reshape(new))
            assert backend.try_reshape(x.handle, new) is not None


def test_permute(backend: Backend) -> None:
    for layout, handle, oracle in [*in_layouts(backend, VALUES), *in_layouts(backend, EMPTY)]:
        for axes in permutations(range(oracle.ndim)):
            expected = oracle.transpose(axes)
            check_view(backend, backend.permute(handle, axes), expected, handle, (layout, axes))
    scalar = case(backend, row_major, np.asarray(3.0))
    check_view(backend, backend.permute(scalar.handle, ()), scalar.oracle, scalar.handle, "0-d")


SELECTIONS: list[tuple[Selection, Key]] = [
    # Normalised selections, and the keys that say the same to NumPy.
    (((0, 2, 1), (0, 1, 1), (0, 3, 1), (0, 4, 1)), ()),
    ((1, 0, 2, 3), (1, 0, 2, 3)),
    (((0, 2, 1), 0, (1, 2, 1), (1, 2, 2)), np.s_[:, 0, 1:3, 1:4:2]),
    (((1, 2, -1), (0, 1, 1), (2, 3, -1), (3, 2, -2)), np.s_[::-1, :, ::-1, ::-2]),
    (
        (None, 1, None, (0, 1, 1), (2, 1, 5), None, 3, None),
        np.s_[None, 1, None, :, 2:3, None, 3, None],
    ),
    (((0, 0, 1), (0, 1, 1), (0, 3, 1), (0, 4, 1)), np.s_[:0]),
    (((0, 2, 1), (0, 1, 1), (0, 0, -1), 0), np.s_[:, :, 0:0, 0]),
]


def test_slice(backend: Backend) -> None:
    for layout, handle, oracle in in_layouts(backend, VALUES):
        for selection, key in SELECTIONS:
            result = backend.slice(handle, selection)
            check(backend, result, oracle[key], hint=(layout, key))
            if is_whole(backend, handle):
                assert_shares(backend, result, handle, hint=(layout, key))
    scalar = case(backend, row_major, np.asarray(3.0))
    check_view(backend, backend.slice(scalar.handle, ()), scalar.oracle, scalar.handle, "0-d")
    grown = backend.slice(scalar.handle, (None, None))
    check_view(backend, grown, scalar.oracle[None, None], scalar.handle, "0-d")
    for x in in_layouts(backend, EMPTY):
        result = backend.slice(x.handle, (1, (0, 0, 1), (1, 2, -1)))
        check(backend, result, x.oracle[1, :, ::-1], hint=x.layout)


def test_shrink(backend: Backend) -> None:
    for layout, handle, oracle in in_layouts(backend, VALUES):
        for bounds in (
            ((0, 2), (0, 1), (0, 3), (0, 4)),
            ((1, 2), (0, 1), (1, 3), (0, 3)),
            ((0, 0), (1, 1), (3, 3), (2, 2)),
        ):
            expected = oracle[tuple([slice(*each) for each in bounds])]
            check_view(backend, backend.shrink(handle, bounds), expected, handle, (layout, bounds))
    for x in in_layouts(backend, EMPTY):
        check(backend, backend.shrink(x.handle, ((1, 3), (0, 0), (0, 1))), x.oracle[1:, :, :1])


def test_flip(backend: Backend) -> None:
    for layout, handle, oracle in [*in_layouts(backend, VALUES), *in_layouts(backend, EMPTY)]:
        for marks in product((False, True), repeat=oracle.ndim):
            expected = np.flip(oracle, tuple([axis for axis, mark in enumerate(marks) if mark]))
            check_view(backend, backend.flip(handle, marks), expected, handle, (layout, marks))


def test_pad(backend: Backend) -> None:
    for layout, handle, oracle in [*in_layouts(backend, VALUES), *in_layouts(backend, EMPTY)]:
        for amounts in ((0, 0), (1, 2), (0, 3)):
            padding = (amounts, *[(0, 1)] * (oracle.ndim - 1))
            for value in (0, 7.5, -0.0):
                expected = np.pad(oracle, padding, constant_values=value)
                result = backend.pad(handle, padding, value)
                check(backend, result, expected, handle, hint=(layout, padding, value))
        nothing = backend.pad(handle, ((0, 0),) * oracle.ndim, 0)
        check(backend, nothing, oracle, handle, hint=layout)


def test_cat(backend: Backend) -> None:
    arrays = in_layouts(backend, VALUES)
    for axis in range(4):
        for i, first in enumerate(arrays):
            others = arrays[(3 * i + 1) % len(arrays)], arrays[(7 * i + 2) % len(arrays)]
            handles = [first.handle, *[x.handle for x in others]]
            expected = np.concatenate([first.oracle, *[x.oracle for x in others]], axis)
            result = backend.cat(handles, axis)
            check(backend, result, expected, *handles, hint=(axis, first.layout))
        alone = backend.cat([arrays[0].handle], axis)
        check(backend, alone, arrays[0].oracle, arrays[0].handle)
        none = case(backend, row_major, VALUES.take([], axis))
        both = backend.cat([none.handle, arrays[1].handle], axis)
        check(backend, both, arrays[1].oracle, arrays[1].handle)
        for other in (VALUES[0], np.ones((7, 7, 7, 7))):
            with pytest.raises(ValueError, match="dimension"):
                backend.cat([arrays[0].handle, case(backend, row_major, other).handle], axis)


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_roll(backend: Backend, dtype: DType) -> None:
    for layout, handle, oracle in in_layouts(backend, spread(limits(dtype), SHAPE)):
        zero = (0,) * len(SHAPE)
        one = (*zero[1:], 1)
        several = tuple([(-1) ** axis * (size // 2 + 1) for axis, size in enumerate(SHAPE)])
        whole, far = SHAPE, (10**30, *zero[1:])
        for shifts in (zero, one, one[::-1], several, whole, far):
            expected = oracle
            for axis, (size, shift) in enumerate(zip(SHAPE, shifts, strict=True)):
                expected = expected.take((np.arange(size) - shift % size) % size, axis)
            check(backend, backend.roll(handle, shifts), expected, handle, hint=(layout, shifts))


def test_roll_of_no_axes_and_of_no_elements(backend: Backend) -> None:
    for array, shifts in ((np.asarray(3.0), ()), (EMPTY, (1, -2, 3))):
        x = case(backend, row_major, array)
        check(backend, backend.roll(x.handle, shifts[: array.ndim]), array, x.handle)


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_repeat(backend: Backend, dtype: DType) -> None:
    for layout, handle, oracle in in_layouts(backend, spread(limits(dtype), SHAPE)):
        for axis, size in enumerate(SHAPE):
            each = np.arange(size, dtype=np.int64)[::-1]
            for repeats in (0, 1, 3, each, np.zeros(size, np.int64)):
                given = (
                    repeats
                    if isinstance(repeats, int)
                    else case(backend, LAYOUTS[4], repeats).handle
                )
                result = backend.repeat(handle, given, axis)
                expected = np.repeat(oracle, repeats, axis)
                check(backend, result, expected, handle, given, hint=(layout, axis, repeats))


def test_repeat_of_no_elements(backend: Backend) -> None:
    x = case(backend, row_major, EMPTY)
    nothing = case(backend, row_major, np.empty(0, np.int64))
    some = case(backend, row_major, np.array([2, 0, 1]))
    check(backend, backend.repeat(x.handle, nothing.handle, 1), EMPTY)
    check(backend, backend.repeat(x.handle, 2, 0), np.empty((6, 0, 2)))
    check(backend, backend.repeat(x.handle, some.handle, 0), EMPTY)


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
@pytest.mark.parametrize("upper", [False, True])
def test_triangle(backend: Backend, dtype: DType, upper: bool) -> None:
    for x in in_layouts(backend, spread(limits(dtype), (2, 3, 4))):
        rows, columns = np.indices((3, 4))
        for k in (-4, -1, 0, 1, 2, 5):
            keep = columns - rows >= k if upper else columns - rows <= k
            expected = np.zeros_like(x.oracle)
            expected[:, keep] = x.oracle[:, keep]
            result = backend.triangle(x.handle, k, upper=upper)
            check(backend, result, expected, x.handle, hint=(x.layout, k))
    for shape in ((0, 3), (3, 0), (0, 2, 2)):
        empty = case(backend, row_major, np.empty(shape, dtype.name))
        check(backend, backend.triangle(empty.handle, 0, upper=upper), empty.oracle)


def test_movement_writes_through(backend: Backend) -> None:
    """A view shows what is written to the array, and the other way round."""
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
