"""Trials of the contract's sections "reductions and scans" and "sorting and searching"."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.dtypes import DType
from ...primitives import table as p
from ...primitives.table import Primitive, of_family
from .layouts import limits, small, spread
from .trials import Arguments, Trials

SHAPE = (2, 3, 1, 4)
SORTED = (2, 1, 5, 7)
EMPTY = (3, 0, 2)


def sums(op: Primitive) -> bool:
    """Whether results depend on the order of the elements, unless these are small and whole."""
    return op is p.MEAN or op.by in (p.ADD, p.MULTIPLY)


def subsets(ndim: int) -> list[tuple[int, ...]]:
    """Every set of axes, one of them in another order, and no axes."""
    sets = itertools.chain.from_iterable(
        [itertools.combinations(range(ndim), n) for n in range(ndim + 1)]
    )
    return [*sets, tuple(range(ndim))[::-1]]


def converted(op: Primitive, dtype: DType) -> Iterator[Arguments]:
    """Sums and products in another dtype: 5 * 100 and 100 ** 3 do not fit into 8 bits."""
    if op in (p.SUM, p.PROD, p.CUMULATIVE_SUM, p.CUMULATIVE_PROD):
        x = np.full(5 if op is p.SUM else 3, 100).astype(dtype)
        for target in op.results:
            if dtype not in d.COMPLEX or target in d.COMPLEX:
                yield (op, x, (0,), False, target) if op.family == "reduce" else (op, x, 0, target)


def reductions(op: Primitive, dtype: DType) -> Iterator[Arguments]:
    yield from converted(op, dtype)
    if dtype not in op.results:
        return
    x = small(dtype, SHAPE) if sums(op) else spread(limits(dtype), SHAPE)
    for number, axes in enumerate(subsets(4)):
        yield op, x, axes, number % 2 == 1
        if len(axes) == 1:
            yield op, x, axes, number % 2 == 0
    for axes in subsets(3):
        if op not in (p.MAX, p.MIN) or 1 not in axes:
            yield op, np.empty(EMPTY, dtype), axes, False
    for keepdims in (False, True):
        yield op, np.asarray(True if dtype is d.bool else 3, dtype), (), keepdims
    if op in (p.MAX, p.MIN) and dtype in d.REAL_FLOATING:
        for position in range(9):
            x = np.arange(9.0).astype(dtype)
            x[position] = np.nan
            yield op, x, (0,), False


def reduced(
    op: Primitive, x: NDArray, axes: tuple[int, ...], keepdims: bool, dtype: DType | None = None
) -> NDArray:
    """What `op` gives, by NumPy's ufunc that combines two elements; NaN counts as nonzero."""
    if op is p.MEAN:
        return np.asarray(np.mean(x, axis=axes, keepdims=keepdims))
    x = x if op.results[d.float64] is d.float64 else x != 0
    ufunc: Any = np.add if op.by is None else getattr(np, op.by.numpy[0])
    to = dtype or (np.int64 if op is p.COUNT_NONZERO else x.dtype)
    return np.asarray(ufunc.reduce(x.astype(to), axes, to, keepdims=keepdims))


def extremes(op: Primitive, dtype: DType) -> Iterator[Arguments]:
    for axis in range(4):
        for keepdims in (False, True):
            yield op, spread(limits(dtype), SHAPE), axis, keepdims
    yield op, np.empty((0, 3), dtype), 1, False


def scans(op: Primitive, dtype: DType) -> Iterator[Arguments]:
    yield from converted(op, dtype)
    if dtype in op.results:
        x = small(dtype, SHAPE) if sums(op) else spread(limits(dtype), SHAPE)
        for axis in range(4):
            yield op, x, axis
        for axis in range(3):
            yield op, np.empty(EMPTY, dtype), axis


def running(op: Primitive, x: NDArray, axis: int, dtype: DType | None = None) -> NDArray:
    assert op.by is not None
    found: NDArray = getattr(np, op.by.numpy[0]).accumulate(x, axis, dtype or x.dtype)
    return found


def variances(dtype: DType) -> Iterator[Arguments]:
    x = small(dtype, SHAPE)
    for axes in subsets(4):
        for correction in (0, 1, 0.5):
            yield x, axes, True, correction
        yield x, axes, False, 1
    yield np.empty((3, 0), dtype), (1,), False, 0
    yield np.empty((3, 0), dtype), (0,), False, 0
    yield np.asarray(2.5, dtype), (), False, 0
    yield np.asarray(2.5, dtype), (), False, 1
    yield np.array([1.0, np.inf], dtype), (0,), False, 0


def variance(x: NDArray, axes: tuple[int, ...], keepdims: bool, correction: float) -> NDArray:
    exact = np.result_type(x, np.float64)
    found = np.var(x, axis=axes, ddof=correction, keepdims=keepdims, dtype=exact)
    return np.asarray(found).real.astype(p.VAR.results[x.dtype])


# ---------------------------------------------------------------------- sorting


def argsorted(x: NDArray, axis: int, descending: bool = False, stable: bool = True) -> NDArray:
    """Indices that sort: ties keep their order in either direction, NaN comes last."""
    if x.dtype in d.ADDED:  # whose own order does not have NaN last
        x = x.astype(np.float64)
    if not descending:
        return np.argsort(x, axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis), axis, kind="stable")
    order = x.shape[axis] - 1 - np.flip(backwards, axis)
    nan_last = np.argsort(np.isnan(np.take_along_axis(x, order, axis)), axis, kind="stable")
    return np.take_along_axis(order, nan_last, axis)


def in_order(x: NDArray, axis: int, descending: bool = False, stable: bool = True) -> NDArray:
    found: NDArray = np.take_along_axis(x, argsorted(x, axis, descending), axis)
    return found


def sorts(dtype: DType, stable: bool) -> Iterator[Arguments]:
    rng = np.random.default_rng(1)
    for descending in (False, True):
        for axis in range(4):
            yield spread(limits(dtype), SORTED), axis, descending, stable
        yield rng.choice(limits(dtype), (3, 400)), 1, descending, stable
        yield np.empty(EMPTY, dtype), 1, descending, stable


def unsigned_zeros(x: NDArray, *arguments: object) -> NDArray:
    """`x` with 0.0 for -0.0: an order that is not stable mixes them."""
    return np.where(x == 0, np.zeros((), x.dtype), x)


def permuted(found: NDArray, x: NDArray, axis: int, *arguments: object) -> tuple[NDArray, ...]:
    """The elements at indices that were found, and which indices these are."""
    return unsigned_zeros(np.take_along_axis(x, found, axis)), np.sort(found, axis)


def in_any_order(x: NDArray, axis: int, *arguments: Any) -> tuple[NDArray, ...]:
    """What `permuted` gives for sorted elements."""
    return permuted(argsorted(x, axis, *arguments), x, axis)


def partly_sorted(found: NDArray, x: NDArray, kth: tuple[int, ...], axis: int) -> NDArray:
    """`found` with the elements between the positions `kth` sorted among themselves.

    If `found` is partitioned at these positions, it is sorted then.
    """
    borders = [border for k in kth for border in (k, k + 1)]
    return unsigned_zeros(
        np.concatenate([in_order(part, axis) for part in np.split(found, borders, axis)], axis)
    )


def partitions(dtype: DType) -> Iterator[Arguments]:
    for axis, size in enumerate(SORTED):
        for kth in {(0,), (size - 1,), (size // 2,), tuple(sorted({0, size // 2, size - 1}))}:
            yield spread(limits(dtype), SORTED), kth, axis


def searches(dtype: DType) -> Iterator[Arguments]:
    values = limits(dtype)
    values = values[values == values]
    ascending = np.sort(np.repeat(values, 2))
    for right in (False, True):
        yield ascending, spread(values, SORTED), right
        yield ascending, ascending[:0], right
        yield ascending[:0], ascending, right
        yield ascending, np.asarray(values[3]), right


def is_ascending(x: NDArray, *arguments: object) -> bool:
    return bool((x[1:] >= x[:-1]).all())


# ---------------------------------------------------------------------- the tables


def of_row(op: Primitive, dtype: DType) -> Trials:
    """The trials of a reduction, an index of an extreme or a scan."""
    if op.family == "reduce":
        # The largest of zeros of either sign, and the sign of a sum that is zero, are open.
        ulp = int(op.results[d.float64] is d.float64)
        return Trials(reduced, lambda dtype: reductions(op, dtype), ulp)
    if op.family == "arg_reduce":
        find = np.argmax if op is p.ARGMAX else np.argmin
        return Trials(
            lambda op, x, axis, keepdims: find(x, axis=axis, keepdims=keepdims),
            lambda dtype: extremes(op, dtype),
        )
    return Trials(running, lambda dtype: scans(op, dtype), 0 if sums(op) else 1)


ROWS = of_family("reduce", "arg_reduce", "scan")

TRIALS: dict[str, Trials] = {
    "var": Trials(variance, variances, rtol=1e-12),
    "sort": Trials(in_order, lambda dtype: sorts(dtype, stable=True)),
    "argsort": Trials(argsorted, lambda dtype: sorts(dtype, stable=True)),
    "searchsorted": Trials(
        lambda x, values, right: np.searchsorted(x, values, "right" if right else "left"),
        searches, suits=is_ascending),
    "partition": Trials(
        lambda x, kth, axis: unsigned_zeros(in_order(x, axis)), partitions, seen=partly_sorted),
    "argpartition": Trials(
        lambda x, kth, axis: in_any_order(x, axis), partitions,
        seen=lambda found, x, kth, axis: (
            partly_sorted(np.take_along_axis(x, found, axis), x, kth, axis),
            np.sort(found, axis))),
}  # fmt: skip

UNSTABLE: dict[str, Trials] = {
    "sort": Trials(
        lambda *arguments: unsigned_zeros(in_order(*arguments)),
        lambda dtype: sorts(dtype, stable=False), seen=unsigned_zeros),
    "argsort": Trials(in_any_order, lambda dtype: sorts(dtype, stable=False), seen=permuted),
}  # fmt: skip
"""Orders in which equal elements may come in any order."""
