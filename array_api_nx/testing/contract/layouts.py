"""Arrays in every layout, with the values that break things, and how to compare results.

A layout takes values and gives a Tensor with the ndarray that it must read as. Its memory is
read-only, so that a primitive that changes an argument fails at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from math import prod
from types import EllipsisType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest

from ...backends.cpu.storage import NumPyMemory
from ...contract.arguments import Handle, Operand
from ...contract.backend import Backend
from ...contract.numpy_dtypes import NDArray
from ...contract.strided import Storage, StridedBackend, tensor_over
from ...core import dtypes as d
from ...core.dtypes import DType
from ...core.view import View
from ...primitives import table as p

Shape: TypeAlias = tuple[int, ...]
Numbers: TypeAlias = Any
"""An operand of NumPy and of Python: an array, or a scalar of NumPy's or of Python's."""
Oracle: TypeAlias = Callable[..., Numbers]


class Case(NamedTuple):
    """An array under test."""

    layout: str
    handle: Handle
    oracle: NDArray


def strided(backend: Backend) -> StridedBackend | None:
    """The backend of strided Tensors that `backend` is or is wrapped around, if there is one."""
    inner = getattr(backend, "inner", None)
    if inner is not None:
        return strided(inner)
    return backend if isinstance(backend, StridedBackend) else None


@cache
def reaches_host(backend: Backend) -> bool:
    """Whether the host shares the memory of arrays."""
    x = backend.full((1,), d.float64, 0.0)
    backend.to_host(x)[...] = 1.0
    return backend.item(x) == 1.0


@cache
def has(backend: Backend, dtype: DType) -> bool:
    """Whether the backend has arrays of `dtype`: it may lack those that NumPy lacks."""
    return dtype not in d.ADDED or dtype in backend.available_dtypes()


def must_have(backend: Backend, dtype: DType) -> None:
    """Skip the test if the backend has no arrays of `dtype`."""
    if not has(backend, dtype):
        pytest.skip(f"the device has no {dtype}")


@cache
def flushes(backend: Backend, dtype: DType) -> bool:
    """Whether numbers of `dtype` below its smallest normal one are zeros here."""
    if d.KIND[dtype] != "f" or not has(backend, dtype):
        return False
    tiny = backend.full((1,), dtype, float(d.limits(dtype).smallest_subnormal))
    return backend.item(backend.binary(p.MULTIPLY, tiny, 1.0)) == 0.0


def normal(values: NDArray) -> NDArray:
    """`values` with zeros of their signs for numbers up to the smallest normal one."""
    if d.KIND[values.dtype] != "f":
        return values
    return np.where(np.abs(values) <= d.limits(values.dtype).tiny, np.copysign(0, values), values)


def is_row_major_view(backend: Backend, x: Handle) -> bool:
    """Whether `x` is known to read its memory in row-major order."""
    engine = strided(backend)
    return engine is not None and engine.view(x).is_row_major


def is_whole(backend: Backend, x: Handle) -> bool:
    """Whether all of `x` has memory, and none of it is padding."""
    engine = strided(backend)
    return engine is None or engine.view(x).mask is None


def assert_shares(backend: Backend, x: Handle, y: Handle, hint: object = "") -> None:
    """Where the host can tell, `x` and `y` show the same memory; no elements share none."""
    one, other = backend.to_host(x), backend.to_host(y)
    if reaches_host(backend) and one.size:
        assert np.may_share_memory(one, other), hint


def tensor(backend: Backend, memory: NDArray, view: View, *, writable: bool = False) -> Handle:
    """A handle that reads 1-D `memory` through `view`.

    It shares `memory` where the backend can. A backend without strides gets the elements that the
    view shows.
    """
    view.check_fits(memory.size)
    memory.flags.writeable = writable
    engine = strided(backend)
    if isinstance(engine, NumPyMemory):
        return tensor_over(Storage(memory), view)
    if engine is None:
        shown = read(memory, view)
        shown.flags.writeable = writable
        return backend.from_host(shown, copy=writable)
    return window(backend, backend.from_host(memory, copy=False), view)


@contextmanager
def nothing_else_written(backend: Backend, target: Handle, hint: object) -> Iterator[None]:
    """Check that the memory around `target` stays as it is, while `target` is written."""
    engine = strided(backend)
    if engine is None:
        yield
        return
    engine.view(target)
    whole = tensor_over(target.storage, View((prod(target.storage.memory.shape),)))
    before = backend.to_host(whole).copy()
    yield
    backend.assign(target, tensor(backend, before, target.view))
    assert_same(backend.to_host(whole), before, hint=hint)


def window(backend: Backend, block: Handle, view: View) -> Handle:
    """A handle that reads the 1-D `block` through `view`; apart from it without strides."""
    engine = strided(backend)
    if engine is None:
        return backend.from_host(read(backend.to_host(block), view), copy=True)
    engine.view(block)
    return tensor_over(block.storage, view)


Strided: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], int]
"""Shape, strides and offset."""

OVERLAPS: list[tuple[Strided, Strided]] = [
    # Views of a block of 36: one that is written, and one that is read for it.
    (((20,), (1,), 1), ((20,), (1,), 0)),
    (((20,), (1,), 0), ((20,), (1,), 1)),
    (((20,), (1,), 0), ((20,), (-1,), 19)),
    (((20,), (-1,), 25), ((20,), (1,), 0)),
    (((6, 6), (6, 1), 0), ((6, 6), (1, 6), 0)),
    (((10,), (2,), 0), ((10,), (1,), 3)),
    (((10,), (1,), 3), ((10,), (2,), 0)),
    (((4, 6), (6, 1), 0), ((6,), (1,), 12)),
    (((4, 6), (6, 1), 6), ((4, 6), (0, 1), 12)),
    (((3, 4), (6, 1), 0), ((3, 4), (-6, -1), 21)),
]


# ---------------------------------------------------------------------- layouts


def _strided(memory: NDArray, window: NDArray) -> tuple[NDArray, View]:
    """The flat `memory`, and the view of it that `window`, a view of the same block, is."""
    flat = memory.reshape(-1)
    start = window.__array_interface__["data"][0] - flat.__array_interface__["data"][0]
    strides = tuple([step // flat.itemsize for step in window.strides])
    return flat, View(window.shape, strides, start // flat.itemsize if window.size else 0)


def _garbage(shape: Shape, dtype: DType) -> NDArray:
    return np.full(shape, 77, dtype)


def row_major(values: NDArray) -> tuple[NDArray, View]:
    return values.copy().reshape(-1), View.row_major(values.shape)


def column_major(values: NDArray) -> tuple[NDArray, View]:
    return values.flatten(order="F"), View.column_major(values.shape)


def central(values: NDArray) -> tuple[NDArray, View]:
    """The middle axis varies fastest, and has a gap behind it."""
    middle = values.ndim // 2
    if values.ndim == 0:
        return row_major(values)
    inside = np.moveaxis(values, middle, -1)
    memory = _garbage((*inside.shape[:-1], inside.shape[-1] + 1), values.dtype)
    memory[..., :-1] = inside
    return _strided(memory, np.moveaxis(memory[..., :-1], -1, middle))


def odd_units(values: NDArray) -> tuple[NDArray, View]:
    """Axes of size 1 have strides that lead nowhere."""
    memory, view = row_major(values)
    strides = [s if n != 1 else -1001 - s for n, s in zip(view.shape, view.strides, strict=True)]
    return memory, View(view.shape, strides)


def flipped(values: NDArray) -> tuple[NDArray, View]:
    backwards: tuple[EllipsisType | slice, ...] = (..., *[slice(None, None, -1)] * values.ndim)
    memory = values[backwards].copy()
    return _strided(memory, memory[backwards])


def stepped(values: NDArray) -> tuple[NDArray, View]:
    every_second: tuple[EllipsisType | slice, ...] = (..., *[slice(1, None, 2)] * values.ndim)
    memory = _garbage(tuple([2 * n + 1 for n in values.shape]), values.dtype)
    inside = memory[every_second]
    inside[...] = values
    return _strided(memory, inside)


def offset(values: NDArray) -> tuple[NDArray, View]:
    memory = np.concatenate([_garbage((5,), values.dtype), values.reshape(-1)])
    strides = View.row_major(values.shape).strides
    return memory, View(values.shape, strides, 5)


def _repeated(values: NDArray, axis: int) -> tuple[NDArray, View]:
    if values.size == 0 or values.ndim == 0:
        return row_major(values)
    memory = values.take([0], axis)
    return _strided(memory, np.broadcast_to(memory, values.shape))


def broadcast_first(values: NDArray) -> tuple[NDArray, View]:
    return _repeated(values, 0)


def broadcast_last(values: NDArray) -> tuple[NDArray, View]:
    return _repeated(values, -1)


def masked(values: NDArray) -> tuple[NDArray, View]:
    """The borders of all axes longer than 2 are padding and read as zeros."""
    padding = tuple([(1, 1) if n > 2 else (0, 0) for n in values.shape])
    inside = values[tuple([slice(1, -1) if n > 2 else slice(None) for n in values.shape])]
    memory, view = column_major(inside)
    return memory, view.pad(padding)


Layout = Callable[[NDArray], tuple[NDArray, View]]

LAYOUTS: tuple[Layout, ...] = (
    row_major,
    column_major,
    central,
    odd_units,
    flipped,
    stepped,
    offset,
    broadcast_first,
    broadcast_last,
    masked,
)

ONE_TO_ONE: tuple[Layout, ...] = (
    row_major, column_major, central, odd_units, flipped, stepped, offset,
)  # fmt: skip
"""The layouts that show exactly the values given: no repeats, no padding."""


def read(memory: NDArray, view: View) -> NDArray:
    """What `view` shows by its definition: zero where there is no memory."""
    positions = np.full(view.shape, view.offset)
    for axis, stride in enumerate(view.strides):
        steps = int(stride) * np.arange(int(view.shape[axis]))
        positions += steps.reshape(-1, *[1] * (view.ndim - axis - 1))
    result = np.zeros(view.shape, memory.dtype)
    valid = tuple([slice(*bounds) for bounds in view.mask]) if view.mask else ...
    result[valid] = memory[positions[valid]]
    return result


def case(backend: Backend, layout: Layout, values: NDArray, *, writable: bool = False) -> Case:
    """`values` in one layout."""
    must_have(backend, d.CANONICAL[values.dtype])
    if flushes(backend, d.CANONICAL[values.dtype]):
        values = normal(values)
    memory, view = layout(values)
    oracle = read(memory, view)
    oracle.flags.writeable = False
    return Case(layout.__name__, tensor(backend, memory, view, writable=writable), oracle)


def in_layouts(
    backend: Backend, values: NDArray, layouts: Iterable[Layout] = LAYOUTS
) -> list[Case]:
    """`values` in every one of `layouts`."""
    return [case(backend, layout, values) for layout in layouts]


# ---------------------------------------------------------------------- values


@cache
def limits(dtype: DType) -> NDArray:
    """The values of `dtype` at which kernels go wrong, and some ordinary ones."""
    kind = d.KIND[dtype]
    if kind == "b":
        return np.array([False, True, True, False])
    if kind in "iu":
        info = np.iinfo(dtype)
        values = [0, 1, 2, 3, 5, 100, info.max, info.max - 1]
        if kind == "i":
            values += [-1, -2, -5, info.min, info.min + 1]
        return np.array(values, dtype)
    if kind == "f":
        real = d.limits(dtype)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan]
        extreme = [real.max, -real.max, real.tiny, -real.smallest_subnormal, 1 + real.eps]
        return np.array([*special, *extreme, 1.0, -1.0, 0.5, -2.5, 3.0, -7.25, 100.0], dtype)
    parts = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan]
    pairs = np.empty((len(parts), len(parts)), dtype)
    pairs.real = np.array(parts)[:, None]
    pairs.imag = np.array(parts)
    return pairs.reshape(-1)


def spread(values: NDArray, shape: Shape) -> NDArray:
    """`values`, again and again, in the given shape."""
    return np.resize(values, shape)


def small(dtype: DType, shape: Shape, start: int = 0) -> NDArray:
    """Small whole numbers, so that sums and products of a few are exact in every dtype."""
    numbers = (np.arange(np.prod(shape, dtype=int)) * 7 + start) % 5
    if d.KIND[dtype] in "ifc":
        numbers = numbers - 2
    values = numbers.astype(dtype)
    if d.KIND[values.dtype] == "c":
        values.imag = np.roll(values.real, 1)
    return values.reshape(shape)


SHAPE = (2, 1, 5, 5)
"""Axes of different sizes, one of them 1, and room for all `limits`."""


@cache
def cases(backend: Backend, dtype: DType) -> tuple[Case, ...]:
    """The limits of `dtype` in every layout, as a 0-d array, and empty."""
    values = limits(dtype)
    return (
        *in_layouts(backend, spread(values, SHAPE)),
        *in_layouts(backend, values[1:2].reshape(()), [row_major, offset]),
        *in_layouts(backend, values[:0], [row_major, flipped]),
        *in_layouts(backend, np.empty((3, 0, 2), values.dtype), [row_major, stepped]),
    )


# ---------------------------------------------------------------------- comparison


def assert_same(actual: NDArray, expected: NDArray, ulp: float = 0, hint: object = "") -> None:
    """Equal shape, dtype and elements, NaN included; with `ulp` 0 also the signs of zeros."""
    assert actual.shape == expected.shape, hint
    assert actual.dtype == expected.dtype, hint
    if d.KIND[expected.dtype] == "c":
        size = np.maximum(np.abs(expected.real), np.abs(expected.imag))
        for part, right in ((actual.real, expected.real), (actual.imag, expected.imag)):
            # Next to an infinity, the other part is as precise as it is on its own.
            own = np.where(np.isinf(size), np.abs(right), size)
            _assert_close(part, right, own, ulp, hint)
    elif d.KIND[expected.dtype] == "f":
        _assert_close(actual, expected, np.abs(expected), ulp, hint)
    else:
        np.testing.assert_array_equal(actual, expected, err_msg=str(hint))


def _assert_close(
    actual: NDArray, expected: NDArray, size: NDArray, ulp: float, hint: object
) -> None:
    with np.errstate(all="ignore"):
        good = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
        if ulp:
            good |= np.abs(actual - expected) <= ulp * np.spacing(size)
        else:
            good &= np.isnan(expected) | (np.signbit(actual) == np.signbit(expected))
    if not good.all():
        where = np.argwhere(~good)[0]
        raise AssertionError(
            f"{hint}: {actual[~good][0]!r} instead of {expected[~good][0]!r} at {where}, "
            f"and {(~good).sum() - 1} more"
        )


def assert_close(actual: NDArray, expected: NDArray, rtol: float, hint: object) -> None:
    """Equal shape and dtype, and elements that agree to `rtol` in double precision, see `Trial`."""
    assert actual.shape == expected.shape, hint
    assert actual.dtype == expected.dtype, hint
    if actual.dtype in d.FLOATING and actual.dtype not in d.DOUBLE:
        rtol = max(1e7 * rtol, float(d.limits(actual.dtype).eps))
    np.testing.assert_allclose(actual, expected, rtol, 10 * rtol, err_msg=str(hint))


def check(
    backend: Backend,
    result: Handle,
    expected: Numbers,
    *arguments: Operand | None,
    ulp: float = 0,
    hint: object = "",
) -> None:
    """`result` is that of the oracle, in memory that none of the argument handles has."""
    expected = np.asarray(expected)
    assert backend.shape(result) == expected.shape, hint
    assert backend.dtype(result).name == expected.dtype.name, hint
    actual = backend.to_host(result)
    if flushes(backend, backend.dtype(result)):
        assert_same(normal(actual), normal(expected), ulp, hint)
    else:
        assert_same(actual, expected, ulp, hint)
    for argument in arguments:
        if argument is not None and not isinstance(argument, bool | int | float | complex):
            assert not np.may_share_memory(actual, backend.to_host(argument)), hint
