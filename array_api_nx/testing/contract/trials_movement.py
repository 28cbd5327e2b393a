"""Trials of the contract's sections "creation", "movement" and "types and memory"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import permutations, product
from math import ceil
from typing import Any

import numpy as np

from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.dtypes import DType
from ...core.indexing import Key
from ...core.layout import Selection
from ...core.view import View
from .layouts import Numbers, limits, spread
from .trials import Arguments, Trials

SHAPE = (2, 1, 3, 4)
EMPTY = (3, 0, 2)
SHAPES = [(), (0,), (3,), (2, 0, 3), (2, 3, 4)]
RESHAPES = [(24,), (2, 12), (6, 4), (2, 3, 4), (2, 3, 1, 2, 2), (8, 3), (1, 24, 1), SHAPE]

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

VIEWS = [
    View((2, 3, 4)),
    View((24,)),
    View((4, 3), (1, 4), 12),
    View((3, 2), (-4, -12), 23),
    View((5, 2), (0, 3), 1),
    View((), (), 7),
    View((0, 3), (1, 1)),
]

RANGES: list[tuple[float, float, float]] = [
    *((0, 5, 1), (5, 0, -2), (3, 3, 1), (4, 2, 1), (1, 20, 7), (20, 1, -7)),
]


def shown(memory: NDArray, view: View) -> NDArray:
    """The elements of flat `memory` that `view` shows, to be written as well."""
    strides: Any = [memory.itemsize * step for step in view.strides]
    offset: Any = view.offset
    shape: Any = view.shape
    return np.lib.stride_tricks.as_strided(memory[offset:], shape, strides)


# ---------------------------------------------------------------------- creation


def fulls(dtype: DType) -> Iterator[Arguments]:
    values = [value.item() for value in limits(dtype)]
    values += [2, True] if dtype in d.FLOATING else []
    values += [1.5, -0.0] if dtype in d.COMPLEX else []
    for value, shape in product(values, SHAPES):
        yield shape, dtype, value


def ranges(dtype: DType) -> Iterator[Arguments]:
    more: list[tuple[float, float, float]] = [(0.5, 3, 0.5), (1, 0, -0.125), (-1.0, 1.0, 0.25)]
    if dtype in d.INTEGRAL:
        low, high = d.BOUNDS[dtype]
        more = [(high - 2, high, 1), (low + 2, low, -1), (high, high - 3, -1), (low, low + 3, 2)]
    for each in (*RANGES, *more):
        yield *each, dtype


def arange(start: float, stop: float, step: float, dtype: DType) -> NDArray:
    length = max(0, ceil((stop - start) / step))
    return np.array([start + i * step for i in range(length)], dtype)


def spaces(dtype: DType) -> Iterator[Arguments]:
    ends: list[tuple[Numbers, Numbers]] = [(0, 1), (-2.5, 7), (3, 3), (5, -5.5), (0.1, 0.7)]
    ends += [(1j, 2), (0, 3 - 4j)] if dtype in d.COMPLEX else []
    for (start, stop), num in product(ends, (0, 1, 2, 3, 10, 1000)):
        for endpoint in (False, True):
            yield start, stop, num, dtype, endpoint


def identities(dtype: DType) -> Iterator[Arguments]:
    for rows, columns in ((3, 3), (2, 4), (4, 2), (0, 3), (3, 0), (1, 1)):
        for k in (-9, -1, 0, 1, 2, 9):
            yield rows, columns, k, dtype


# ---------------------------------------------------------------------- movement


def arrays(dtype: DType) -> list[NDArray]:
    """Arrays with elements, without elements, and without axes."""
    values = limits(dtype)
    return [spread(values, SHAPE), np.empty(EMPTY, dtype), values[1:2].reshape(())]


def of_arrays(
    others: Callable[[NDArray], Iterable[Any]],
) -> Callable[[DType], Iterator[Arguments]]:
    """Trials of each of `arrays` with each of the other arguments that go with it."""

    def trials(dtype: DType) -> Iterator[Arguments]:
        for x in arrays(dtype):
            for other in others(x):
                yield x, other

    return trials


def flipped(x: NDArray, marks: tuple[bool, ...]) -> NDArray:
    return np.flip(x, tuple([axis for axis, mark in enumerate(marks) if mark]))


def expansions(dtype: DType) -> Iterator[Arguments]:
    x, empty, scalar = arrays(dtype)
    for values in (x, x[:1, :, :1].copy(), scalar, empty, x[:0]):
        shape = tuple([5 if n == 1 else n for n in values.shape])
        gone = tuple([0 if n == 1 else n for n in values.shape])
        for target in (shape, (3, *shape), (0, *shape), values.shape, gone):
            yield values, target


def reshapes(dtype: DType) -> Iterator[Arguments]:
    x, empty, scalar = arrays(dtype)
    for shape in RESHAPES:
        yield x, shape
    for shape in ((0,), (0, 7), (2, 0, 3), (5, 0)):
        yield empty, shape
    for shape in ((), (1,), (1, 1)):
        yield scalar, shape
    yield scalar.reshape(1, 1), ()


def slices(dtype: DType) -> Iterator[Arguments]:
    x, empty, scalar = arrays(dtype)
    for selection, _ in SELECTIONS:
        yield x, selection
    yield scalar, ()
    yield scalar, (None, None)
    yield empty, (1, (0, 0, 1), (1, 2, -1))


def sliced(x: NDArray, selection: Selection) -> NDArray:
    key = dict(SELECTIONS).get(selection)
    if key is None:
        key = np.s_[1, :, ::-1] if x.ndim else selection
    return np.asarray(x[key])


def bounds(dtype: DType) -> Iterator[Arguments]:
    x, empty, _ = arrays(dtype)
    yield x, ((0, 2), (0, 1), (0, 3), (0, 4))
    yield x, ((1, 2), (0, 1), (1, 3), (0, 3))
    yield x, ((0, 0), (1, 1), (3, 3), (2, 2))
    yield empty, ((1, 3), (0, 0), (0, 1))


def paddings(dtype: DType) -> Iterator[Arguments]:
    values = (False, True) if dtype is d.bool else (0, 7.5, -0.0) if dtype in d.FLOATING else (0, 7)
    x, empty, _ = arrays(dtype)
    for values_of in (x, empty):
        for amounts in ((0, 0), (1, 2), (0, 3)):
            for value in values:
                yield values_of, (amounts, *[(0, 1)] * (values_of.ndim - 1)), value
        yield values_of, ((0, 0),) * values_of.ndim, values[0]
    yield x, ((1, 0), (0, 2), (0, 0), (1, 1)), values[1]


def joined(dtype: DType) -> Iterator[Arguments]:
    x = arrays(dtype)[0]
    for axis in range(4):
        yield [x, x.copy(), x.copy()], axis
        yield [x], axis
        yield [x.take([], axis), x], axis
    yield [np.empty(EMPTY, dtype)], 1


def rolls(dtype: DType) -> Iterator[Arguments]:
    x, empty, scalar = arrays(dtype)
    several = tuple([(-1) ** axis * (size // 2 + 1) for axis, size in enumerate(SHAPE)])
    for shifts in ((0,) * 4, (0, 0, 0, 1), (1, 0, 0, 0), several, SHAPE, (10**30, 0, 0, 0)):
        yield x, shifts
    yield scalar, ()
    yield empty, (1, -2, 3)


def rolled(x: NDArray, shifts: tuple[int, ...]) -> NDArray:
    for axis, (shift, size) in enumerate(zip(shifts, x.shape, strict=True)):
        x = np.roll(x, shift % max(1, size), axis)
    return x


def repeats(dtype: DType) -> Iterator[Arguments]:
    x, empty, _ = arrays(dtype)
    for axis, size in enumerate(SHAPE):
        for each in (0, 1, 3, np.arange(size)[::-1].copy(), np.zeros(size, np.int64)):
            yield x, each, axis
    yield empty, np.empty(0, np.int64), 1
    yield empty, 2, 0
    yield empty, np.array([2, 0, 1]), 0


def triangles(dtype: DType) -> Iterator[Arguments]:
    x = spread(limits(dtype), (2, 3, 4))
    for upper in (False, True):
        for k in (-4, -1, 0, 1, 2, 5):
            yield x, k, upper
        for shape in ((0, 3), (3, 0), (0, 2, 2)):
            yield np.empty(shape, dtype), 0, upper


# ---------------------------------------------------------------------- types


def casts(dtype: DType) -> Iterator[Arguments]:
    for target in d.ALL:
        values = limits(dtype)
        if dtype in d.FLOATING and target in d.INTEGRAL:
            # Others have no defined result.
            values = values[np.abs(values.real) <= 100]
            values = values[values.real >= 0] if target in d.UNSIGNED else values
        for x in (spread(values, (2, 1, 4, 5)), values[:1].reshape(()), values[:0]):
            yield x, target


def converted(x: NDArray, dtype: DType) -> NDArray:
    return (x.real if d.KIND[x.dtype] == "c" and dtype in d.REAL else x).astype(dtype)


def bitcasts(dtype: DType) -> Iterator[Arguments]:
    x = spread(limits(dtype), (3, 4))
    for target in d.NUMERIC:
        if target.itemsize == dtype.itemsize:
            yield x, target


TRIALS: dict[str, Trials] = {
    "full": Trials(lambda shape, dtype, value: np.full(shape, value, dtype), fulls),
    "arange": Trials(arange, ranges),
    "linspace": Trials(
        lambda start, stop, num, dtype, endpoint: (
            np.linspace(start, stop, num, endpoint).astype(dtype)),
        spaces, rtol=1e-15),
    "eye": Trials(lambda rows, columns, k, dtype: np.eye(rows, columns, k, dtype), identities),
    "expand": Trials(np.broadcast_to, expansions),
    **dict.fromkeys(("try_reshape", "reshape"), Trials(np.reshape, reshapes)),
    "permute": Trials(np.transpose, of_arrays(lambda x: permutations(range(x.ndim)))),
    "flip": Trials(flipped, of_arrays(lambda x: product((False, True), repeat=x.ndim))),
    "slice": Trials(sliced, slices),
    "shrink": Trials(lambda x, bounds: x[tuple([slice(*each) for each in bounds])], bounds),
    "strided": Trials(
        lambda x, view: shown(x.flatten(), view),
        lambda dtype: [(spread(limits(dtype), (2, 3, 4)), view) for view in VIEWS]),
    "pad": Trials(
        lambda x, padding, value: np.pad(x, padding, constant_values=value), paddings),
    "cat": Trials(np.concatenate, joined),
    "roll": Trials(rolled, rolls),
    "repeat": Trials(np.repeat, repeats),
    "triangle": Trials(lambda x, k, upper: (np.triu if upper else np.tril)(x, k), triangles),
    "cast": Trials(converted, casts),
    "bitcast": Trials(lambda x, dtype: x.view(dtype), bitcasts),
    **dict.fromkeys(
        ("contiguous", "copy"), Trials(np.copy, lambda dtype: [(x,) for x in arrays(dtype)])),
}  # fmt: skip
