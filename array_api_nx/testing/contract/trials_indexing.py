"""Trials of the contract's section "indexed access"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...contract.arguments import Keys
from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.dtypes import DType
from .layouts import limits, small, spread
from .trials import Arguments, Trials

SHAPE = (2, 3, 1, 4)
EMPTY = (3, 0, 2)


def as_array(key: Any) -> Any:
    """A key with an array, of int64 or bools, in place of a list."""
    if not isinstance(key, list):
        return key
    array = np.asarray(key)
    return array if array.dtype == bool else array.astype(np.int64)


LISTS: list[Keys] = [
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
WRONG_LISTS: list[Keys] = [
    ([0, 2], None, None, None),
    ([-3], None, None, None),
    (None, None, [1], None),
    ([0, 1], [0, 1, 2], None, None),
    (None, 3, None, [0]),
    ([True, True], [0, 1, 2], None, None),
]

KEYS, WRONG_KEYS = [
    [tuple(map(as_array, keys)) for keys in every] for every in (LISTS, WRONG_LISTS)
]
"""Keys as in the contract, with arrays for handles, and those that it refuses."""


def plain(keys: Keys) -> Keys:
    """Keys as NumPy takes them."""
    return tuple([slice(None) if key is None else key for key in keys])


def is_possible(x: NDArray, keys: Keys, *value: object) -> bool:
    """Whether keys, as their layouts have changed them, can be used."""
    try:
        x[plain(keys)]
    except IndexError:
        return False
    return True


def gets(dtype: DType) -> Iterator[Arguments]:
    for keys in KEYS:
        yield spread(limits(dtype), SHAPE), keys
    for value in (True, False):
        yield spread(limits(dtype), ()), (np.asarray(value),)
    one, two, none = np.asarray(1), np.array([2, 0]), np.empty(0, np.int64)
    yield spread(limits(dtype), (3,)), (one,)
    yield spread(limits(dtype), (2, 3)), (one, None)
    empty = np.empty(EMPTY, dtype)
    yield empty, (two, None, None)
    yield empty, (None, none, None)
    yield empty, (np.empty((3, 0), bool), None)


def sets(dtype: DType) -> Iterator[Arguments]:
    """Values for keys without repeats, and of the kinds that are broadcast."""
    values = limits(dtype)
    for keys in KEYS:
        shape = np.arange(24).reshape(SHAPE)[plain(keys)].shape
        value = spread(values, shape)
        # Superfluous axes of size 1 in front are ignored, as in NumPy.
        for written in (value, spread(values, shape[-1:]), value[None], dtype is d.bool or 2):
            yield small(dtype, SHAPE), keys, written


def write(target: NDArray, keys: Keys, value: Any) -> None:
    """Write `value`; the last one of several for one element wins."""
    value = np.asarray(value)
    ndim = target[plain(keys)].ndim
    target[plain(keys)] = value.reshape(value.shape[max(0, value.ndim - ndim) :])


def takes(dtype: DType) -> Iterator[Arguments]:
    x = spread(limits(dtype), SHAPE)
    for axis, size in enumerate(SHAPE):
        for positions in ([0], [size - 1, 0, -1, -size], [[0], [size - 1]], 0, []):
            yield x, np.array(positions, np.int64), axis
    yield np.empty(EMPTY, dtype), np.empty((2, 0), np.int64), 1
    yield np.empty(EMPTY, dtype), np.array([2, 1]), 0


def along(axis: int, length: int, size: int) -> tuple[tuple[int, ...], NDArray]:
    """A shape with another length on an axis, and numbers of that shape below `size`."""
    shape = (*SHAPE[:axis], length, *SHAPE[axis + 1 :])
    return shape, np.arange(np.prod(shape, dtype=int)).reshape(shape) * 7 % size


def gathers(dtype: DType) -> Iterator[Arguments]:
    for axis, size in enumerate(SHAPE):
        for length in (0, 1, 5):
            yield spread(limits(dtype), SHAPE), along(axis, length, 2 * size)[1] - size, axis


def scatters(dtype: DType) -> Iterator[Arguments]:
    for add in (False, True):
        for axis, size in enumerate(SHAPE):
            for length in (0, 1, 5):
                # With five updates along an axis of up to four, some meet.
                shape, indices = along(axis, length, size)
                yield small(dtype, SHAPE), indices, small(dtype, shape, start=3), axis, add
        shape = (4, 0, 2)
        yield np.empty(EMPTY, dtype), np.empty(shape, np.int64), np.empty(shape, dtype), 0, add
    x = small(dtype, (5,), 1)
    yield x, np.array([0, 4, 0, 2]), small(dtype, (4,), 3), 0, True


def scattered(
    template: NDArray, indices: NDArray, updates: NDArray, axis: int, add: bool
) -> NDArray:
    result = template.copy()
    for index in np.ndindex(indices.shape):
        target = (*index[:axis], indices[index], *index[axis + 1 :])
        result[target] = result[target] + updates[index] if add else updates[index]
    return result


# ---------------------------------------------------------------------- which elements there are


def finite(dtype: DType) -> NDArray:
    values = limits(dtype)
    return values[np.isfinite(values)]


def distinct(x: NDArray) -> tuple[NDArray, ...]:
    """Values, first indices, inverse and counts; every NaN is a value of its own."""
    found = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    values, *others = found
    return unsigned(values), *others


def uniques(dtype: DType) -> list[Arguments]:
    shapes = ((2, 1, 5, 5), (), (0,), (0, 3))
    return [(spread(finite(dtype), shape),) for shape in shapes]


def unsigned(found: Any, *arguments: object) -> Any:
    """Results with 0.0 for -0.0 among values: a zero of either sign may be given."""
    if isinstance(found, tuple):
        return (unsigned(found[0]), *found[1:])
    return found if d.KIND[found.dtype] == "b" else found + np.zeros((), found.dtype)


def members(dtype: DType) -> Iterator[Arguments]:
    values = limits(dtype)
    for invert in (False, True):
        for some in (values[::2].copy(), values[:0]):
            yield spread(values, (2, 1, 5, 5)), some, invert
    # With many elements, close to each other or far apart, backends take other ways.
    if d.bits(dtype) >= 32:
        numbers = np.arange(2000) * 7919 % 1999
        for step in (1, 2**20):
            for invert in (False, True):
                x, some = numbers * step, (numbers[::-3] * step)[:600]
                yield x.astype(dtype), some.astype(dtype), invert


def counts(dtype: DType) -> Iterator[Arguments]:
    if dtype in d.INTEGRAL:
        numbers = (np.arange(60) * 7 % 23 % 11).astype(dtype)
        for length, extend in ((0, True), (5, True), (13, True), (13, False)):
            yield numbers, None, length, extend
        for length, extend in ((0, True), (3, True), (3, False)):
            yield numbers[:0], None, length, extend
    if dtype in d.NUMERIC:
        numbers, weights = np.array([2, 0, 2, 5, 2, 0]), np.array([3, 1, 4, 1, 5, 9], dtype)
        for length, extend in ((0, True), (8, True), (6, False)):
            yield numbers, weights, length, extend
    if dtype is d.int64:  # which no float adds exactly
        yield np.array([1, 1, 1]), np.array([2**62, 1, -(2**61)]), 0, True


def counted(x: NDArray, weights: NDArray | None, length: int, extend: bool) -> NDArray:
    """The sum of the weights that go with each int, one by one."""
    weights = np.ones(x.shape, np.int64) if weights is None else weights
    result = np.zeros(max(length, *[int(i) + 1 for i in x], 0), weights.dtype)
    np.add.at(result, x, weights)
    return result


TRIALS: dict[str, Trials] = {
    "index_get": Trials(lambda x, keys: np.asarray(x[plain(keys)]), gets, suits=is_possible),
    "take": Trials(lambda x, indices, axis: np.asarray(np.take(x, indices, axis)), takes),
    "gather": Trials(np.take_along_axis, gathers),
    "scatter": Trials(scattered, scatters),
    "nonzero": Trials(
        np.nonzero,
        lambda dtype: [(spread(limits(dtype), shape),) for shape in ((2, 1, 5, 5), (0,), EMPTY)],
    ),
    "isin": Trials(lambda x, some, invert: np.isin(x, some, invert=invert), members),
    "unique": Trials(distinct, uniques, seen=unsigned),
    "unique_values": Trials(lambda x: distinct(x)[0], uniques, seen=unsigned),
    "unique_counts": Trials(lambda x: distinct(x)[::3], uniques, seen=unsigned),
    "unique_inverse": Trials(lambda x: distinct(x)[::2], uniques, seen=unsigned),
    "bincount": Trials(counted, counts),
}
