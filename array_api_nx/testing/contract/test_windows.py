"""The contract's sections "windows" and "random bits"."""

from __future__ import annotations

from itertools import product
from types import EllipsisType
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ...contract.backend import Backend, Padding
from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.dtypes import DType
from ...primitives import table as p
from ...primitives.rules import window_counts
from .layouts import LAYOUTS, case, check, in_layouts, limits, row_major, small, spread

Shape: TypeAlias = tuple[int, ...]
Windows: TypeAlias = tuple[Shape, Shape, Shape, Padding]
"""Kernel, stride, dilation, padding."""

# For two axes of size 5.
WINDOWS: list[Windows] = [
    ((1, 1), (1, 1), (1, 1), ((0, 0), (0, 0))),
    ((2, 3), (1, 1), (1, 1), ((0, 0), (0, 0))),
    ((2, 3), (2, 1), (1, 2), ((1, 0), (0, 2))),
    ((3, 3), (1, 3), (2, 1), ((2, 2), (1, 1))),
    ((5, 5), (1, 1), (1, 1), ((0, 0), (0, 0))),
    ((2, 1), (4, 5), (1, 1), ((9, 9), (0, 7))),
    ((7, 6), (1, 1), (1, 1), ((1, 1), (0, 1))),
]


def positions(index: Shape, where: Shape, windows: Windows) -> Shape:
    """The element of the unpadded array that kernel position `where` of window `index` meets."""
    _, stride, dilation, padding = windows
    return tuple(
        [
            i * step + k * spread - before
            for i, k, step, spread, (before, _) in zip(
                index, where, stride, dilation, padding, strict=True
            )
        ]
    )


def pairs(sizes: Shape, windows: Windows) -> list[tuple[int, int, Shape]]:
    """Row, column and element for every element of every window that is no padding."""
    counts = window_counts(sizes, *windows)
    found = []
    for row, where in enumerate(np.ndindex(*windows[0])):
        for column, index in enumerate(np.ndindex(*counts)):
            element = positions(index, where, windows)
            if all(0 <= i < n for i, n in zip(element, sizes, strict=True)):
                found.append((row, column, element))
    return found


def unfolded(x: NDArray, windows: Windows) -> NDArray:
    ndim = len(windows[0])
    lead, sizes = x.shape[: x.ndim - ndim], x.shape[x.ndim - ndim :]
    counts = window_counts(sizes, *windows)
    result = np.zeros((*lead, int(np.prod(windows[0])), int(np.prod(counts))), x.dtype)
    for row, column, element in pairs(sizes, windows):
        place: tuple[EllipsisType | int, ...] = (..., *element)
        result[..., row, column] = x[place]
    return result


def folded(x: NDArray, sizes: Shape, windows: Windows) -> NDArray:
    result = np.zeros((*x.shape[:-2], *sizes), x.dtype)
    for row, column, element in pairs(sizes, windows):
        place: tuple[EllipsisType | int, ...] = (..., *element)
        result[place] += x[..., row, column]
    return result


@pytest.mark.parametrize("dtype", p.UNFOLD.results, ids=str)
def test_unfold(backend: Backend, dtype: DType) -> None:
    for layout, handle, oracle in in_layouts(backend, spread(limits(dtype), (2, 1, 5, 5))):
        for windows in WINDOWS:
            result = backend.unfold(handle, *windows)
            check(backend, result, unfolded(oracle, windows), handle, hint=(layout, windows))


@pytest.mark.parametrize("dtype", p.FOLD.results, ids=str)
def test_fold(backend: Backend, dtype: DType) -> None:
    for windows in WINDOWS:
        counts = window_counts((5, 5), *windows)
        shape = (2, int(np.prod(windows[0])), int(np.prod(counts)))
        for layout, handle, oracle in in_layouts(backend, small(dtype, shape)):
            result = backend.fold(handle, (5, 5), *windows)
            expected = folded(oracle, (5, 5), windows)
            check(backend, result, expected, handle, hint=(layout, windows))


@pytest.mark.parametrize("ndim", [0, 1, 2, 3])
def test_unfold_and_fold_of_any_number_of_axes(backend: Backend, ndim: int) -> None:
    windows = (2,) * ndim, (1,) * ndim, (1,) * ndim, ((1, 0),) * ndim
    for lead in ((), (2,), (0, 3)):
        x = case(backend, row_major, small(d.float64, (*lead, *range(3, 3 + ndim))))
        result = backend.unfold(x.handle, *windows)
        expected = unfolded(x.oracle, windows)
        check(backend, result, expected, x.handle, hint=lead)
        sizes = tuple(range(3, 3 + ndim))
        back = backend.fold(result, sizes, *windows)
        check(backend, back, folded(expected, sizes, windows), result, hint=lead)


@st.composite
def windows_over(draw: st.DrawFn) -> tuple[Shape, Windows]:
    """Sizes, and parameters of windows of which at least one fits."""
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
    """Folding what was unfolded multiplies every element by how many windows it is in."""
    sizes, windows = sizes_and_windows
    x = case(backend, LAYOUTS[sum(sizes) % len(LAYOUTS)], small(d.int64, (2, *sizes), start=1))
    ones = case(backend, row_major, np.ones((1, *sizes), np.int64))
    back = backend.fold(backend.unfold(x.handle, *windows), sizes, *windows)
    often = backend.fold(backend.unfold(ones.handle, *windows), sizes, *windows)
    check(backend, back, x.oracle * backend.to_host(often), x.handle)
    check(backend, often, folded(unfolded(ones.oracle, windows), sizes, windows))


# ---------------------------------------------------------------------- random bits

# The known answers of the Random123 distribution for threefry2x32 with 20 rounds.
KNOWN_ANSWERS = [
    # counter, key, result
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN_ANSWERS)
def test_threefry(backend: Backend, counter: Shape, key: Shape, result: Shape) -> None:
    keys = case(backend, row_major, np.array(key, np.uint32)).handle
    for shape in ((2,), (1, 2), (3, 2), (2, 3, 2), (0, 2)):
        counters = case(backend, row_major, np.resize(np.array(counter, np.uint32), shape)).handle
        expected = np.resize(np.array(result, np.uint32), shape)
        check(backend, backend.threefry(keys, counters), expected, keys, counters, hint=shape)


def test_threefry_on_every_layout(backend: Backend) -> None:
    counters = spread(limits(d.uint32), (5, 1, 3, 2))
    keys = in_layouts(backend, np.array([7, 0xFFFFFFFF], np.uint32))
    plain = {}
    for key, counter in product(keys, in_layouts(backend, counters)):
        text = key.oracle.tobytes()
        for pair in counter.oracle.reshape(-1, 2):
            if (text, pair.tobytes()) not in plain:
                alone = case(backend, row_major, pair).handle
                fresh = case(backend, row_major, key.oracle).handle
                plain[text, pair.tobytes()] = backend.to_host(backend.threefry(fresh, alone))
        expected = np.array([plain[text, pair.tobytes()] for pair in counter.oracle.reshape(-1, 2)])
        result = backend.threefry(key.handle, counter.handle)
        expected = expected.reshape(counters.shape)
        check(backend, result, expected, key.handle, counter.handle, hint=counter.layout)
