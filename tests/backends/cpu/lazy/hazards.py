"""What the hazard tests combine: what is pending, how it sees x, what is written, what x was.

Functions take the namespace first, so that they run on NumPy's arrays too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import array_api_nx as xp
from tests.support.programs import NDArray

Read = Callable[[Any, Any, Any], list[Any]]
Write = Callable[[Any, Any, Any], None]


def numbers(shape: tuple[int, ...], step: int = 7) -> NDArray:
    """Whole numbers, so that sums are exact, and different ones, so that wrong reads show."""
    size = int(np.prod(shape, dtype=int))
    return (np.arange(size) * step % (25 if size <= 25 else 65521) - 8.0).reshape(shape)


# ---------------------------------------------------------------------- what is pending

# What reads: functions of the namespace, a view of x, and 0-d b, which nobody writes.


def add(ns: Any, v: Any, b: Any) -> list[Any]:
    return [v + 1.0]


def two_arrays(ns: Any, v: Any, b: Any) -> list[Any]:
    return [v * b]


def reversed_scalar(ns: Any, v: Any, b: Any) -> list[Any]:
    return [2.0 - v]


def unary(ns: Any, v: Any, b: Any) -> list[Any]:
    return [ns.abs(v)]


def through_dropped(ns: Any, v: Any, b: Any) -> list[Any]:
    t = v + 1.0
    return [t * 2.0]


def through_kept(ns: Any, v: Any, b: Any) -> list[Any]:
    t = v + 1.0
    return [t * 2.0, t]


def moved(ns: Any, v: Any, b: Any) -> list[Any]:
    t = v - 1.0
    return [ns.flip(t), ns.broadcast_to(t, (2, *v.shape))]


def over_moved(ns: Any, v: Any, b: Any) -> list[Any]:
    t = ns.broadcast_to(ns.expand_dims(v - 1.0, axis=0), (2, *v.shape))
    return [ns.flip(t) * t]


def total(ns: Any, v: Any, b: Any) -> list[Any]:
    return [ns.sum(v)]


def total_of_chain(ns: Any, v: Any, b: Any) -> list[Any]:
    return [ns.sum(v * 2.0 - b, keepdims=True)]


def largest(ns: Any, v: Any, b: Any) -> list[Any]:
    return [ns.max(v, axis=-1) if v.ndim else ns.max(v)]


def reduced_and_used(ns: Any, v: Any, b: Any) -> list[Any]:
    return [v - ns.sum(v, keepdims=True)]


def counted(ns: Any, v: Any, b: Any) -> list[Any]:
    return [ns.any(v > 12.0), ns.all(v > -20.0), ns.count_nonzero(v)]


def where(ns: Any, v: Any, b: Any) -> list[Any]:
    return [ns.where(v > 3.0, v, -v)]


def where_condition(ns: Any, v: Any, b: Any) -> list[Any]:
    return [ns.where(v > 3.0, b, -1.0)]


def clip(ns: Any, v: Any, b: Any) -> list[Any]:
    return [ns.clip(v, -2.0, 5.0)]


def astype(ns: Any, v: Any, b: Any) -> list[Any]:
    return [ns.astype(v, ns.float32), ns.astype(v, ns.float64)]


def equal_expressions(ns: Any, v: Any, b: Any) -> list[Any]:
    return [v * 3.0, v * 3.0]


def equal_parts(ns: Any, v: Any, b: Any) -> list[Any]:
    t = v * 3.0
    return [t + t, v * 3.0 - 1.0]


def with_itself_flipped(ns: Any, v: Any, b: Any) -> list[Any]:
    return [v - ns.flip(v)]


def assigned(ns: Any, v: Any, b: Any) -> list[Any]:
    y = ns.zeros(v.shape)
    y[...] = v + 1.0
    return [y]


def assigned_bare(ns: Any, v: Any, b: Any) -> list[Any]:
    y = ns.zeros(v.shape)
    y[...] = v
    return [y]


def accumulated(ns: Any, v: Any, b: Any) -> list[Any]:
    y = ns.ones(v.shape)
    y += v
    y *= v
    return [y]


READS: tuple[Read, ...] = (
    add, two_arrays, reversed_scalar, unary, through_dropped, through_kept, moved, over_moved,
    total, total_of_chain, largest, reduced_and_used, counted, where, where_condition, clip,
    astype, equal_expressions, equal_parts, with_itself_flipped, assigned, assigned_bare,
    accumulated,
)  # fmt: skip

# How they see x, of shape (4, 6).
VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "whole": lambda ns, x: x,
    "rows": lambda ns, x: x[1:3],
    "columns": lambda ns, x: x[:, 2:5],
    "stepped": lambda ns, x: x[::2, ::3],
    "flipped": lambda ns, x: x[::-1, ::-1],
    "transposed": lambda ns, x: x.T,
    "repeated row": lambda ns, x: ns.broadcast_to(x[1], (3, 6)),
    "repeated column": lambda ns, x: ns.broadcast_to(x[:, 2:3], (4, 5)),
    "reshaped": lambda ns, x: ns.reshape(x, (3, 8)),
    "flat, stepped backwards": lambda ns, x: ns.reshape(x, (24,))[::-5],
    "element": lambda ns, x: x[1, 2, ...],
    "repeated element": lambda ns, x: ns.broadcast_to(x[1, 2, ...], (2, 3)),
    "new axis": lambda ns, x: x[:, None, 1:3],
    "last row": lambda ns, x: x[3],
}

# ---------------------------------------------------------------------- what is written

KEYS: dict[str, Any] = {
    "whole": ...,
    "row": 1,
    "rows": slice(1, 3),
    "columns": (slice(None), slice(2, 5)),
    "stepped backwards": (slice(None, None, 2), slice(None, None, -3)),
    "element": (1, 2),
    "last row": 3,
    "nothing": slice(0, 0),
}


def assign_scalar(x: Any, key: Any) -> None:
    x[key] = 7.0


def add_scalar(x: Any, key: Any) -> None:
    x[key] += 100.0


def assign_own(x: Any, key: Any) -> None:
    x[key] = x[key] * 2.0 + 1.0


def subtract_own(x: Any, key: Any) -> None:
    x[key] -= x[0, 0, ...] * 2.0


KEYED = (assign_scalar, add_scalar, assign_own, subtract_own)

# Each writes x, of shape (4, 6); b is another array of that shape. Names say what happens.


def written_array(ns: Any, x: Any, b: Any) -> None:
    x[1:3] = b[:2]


def written_row_to_all(ns: Any, x: Any, b: Any) -> None:
    x[...] = b[0]


def written_pending(ns: Any, x: Any, b: Any) -> None:
    x[...] = b * 2.0


def written_pending_dtype(ns: Any, x: Any, b: Any) -> None:
    x[...] = ns.astype(x[::-1] + 1.0, ns.float32)


def written_kept(ns: Any, x: Any, b: Any) -> None:
    t = x + 1.0
    x[...] = t
    x[0] = t[1] + x[2]


def written_shifted(ns: Any, x: Any, b: Any) -> None:
    x[1:] = x[:-1] * 2.0


def written_shifted_columns(ns: Any, x: Any, b: Any) -> None:
    x[:, 1:] = x[:, :-1] + x[:, 1:]


def written_flipped(ns: Any, x: Any, b: Any) -> None:
    x[...] = x[::-1] + 1.0


def written_bare_flipped(ns: Any, x: Any, b: Any) -> None:
    x[...] = x[::-1, ::-1]


def written_transposed(ns: Any, x: Any, b: Any) -> None:
    x[:, :4] = x[:, :4].T + 1.0


def written_every_second(ns: Any, x: Any, b: Any) -> None:
    x[:, ::2] = x[:, 1::2] - x[:, ::2]


def written_row_of_own(ns: Any, x: Any, b: Any) -> None:
    x[...] = x[1] + 1.0


def written_bare_row_of_own(ns: Any, x: Any, b: Any) -> None:
    x[...] = x[1]


def written_element_of_own(ns: Any, x: Any, b: Any) -> None:
    x[...] = x[1, 2, ...] * 2.0 + x


def written_column_of_sums(ns: Any, x: Any, b: Any) -> None:
    x[:, 0] = ns.sum(x, axis=1)


def written_plus_sums(ns: Any, x: Any, b: Any) -> None:
    x[...] = x - ns.sum(x, axis=0)


def written_extreme(ns: Any, x: Any, b: Any) -> None:
    x[0, 0] = ns.max(x)


def written_where(ns: Any, x: Any, b: Any) -> None:
    x[...] = ns.where(x > 3.0, x[::-1], 0.0)


def in_place_scalar(ns: Any, x: Any, b: Any) -> None:
    x += 1.0
    x *= 3.0


def in_place_array(ns: Any, x: Any, b: Any) -> None:
    x -= b
    x /= 2.0


def in_place_pending(ns: Any, x: Any, b: Any) -> None:
    x += b * 2.0 - 1.0


def in_place_itself(ns: Any, x: Any, b: Any) -> None:
    x += x
    x *= x


def in_place_flipped(ns: Any, x: Any, b: Any) -> None:
    x -= x[::-1]
    x += x[:, ::-1] * 2.0


def in_place_row(ns: Any, x: Any, b: Any) -> None:
    x *= x[0]
    x -= x[:, 1:2]


def in_place_shifted(ns: Any, x: Any, b: Any) -> None:
    x[1:] += x[:-1]
    x[:, :-1] -= x[:, 1:] * 2.0


def in_place_sums(ns: Any, x: Any, b: Any) -> None:
    x -= ns.sum(x, axis=0)
    x += ns.max(x)


def in_place_view(ns: Any, x: Any, b: Any) -> None:
    v = x[::2, 1::2]
    v += 1.0
    w = x.T
    w *= 2.0
    w[2:] -= v[0, 0, ...]


def by_mask(ns: Any, x: Any, b: Any) -> None:
    x[x > 3.0] = 0.0
    x[x < -2.0] += 1.0


def by_pending_mask(ns: Any, x: Any, b: Any) -> None:
    mask = x * 2.0 > b
    x[mask] = -1.0
    x[mask[:, 0]] = b[0] + 1.0


def by_index_arrays(ns: Any, x: Any, b: Any) -> None:
    x[ns.asarray([0, 2])] = b[:2]
    x[:, ns.asarray([1, 0, 3])] *= 2.0


def by_index_arrays_of_own(ns: Any, x: Any, b: Any) -> None:
    x[ns.asarray([0, 3])] = x[ns.asarray([3, 0])]
    x[ns.asarray([1, 2])] = x[2:] * 2.0


def by_pending_indices(ns: Any, x: Any, b: Any) -> None:
    x[ns.astype(ns.abs(b[0, :3]), ns.int64) % 4] = 5.0


def by_own_indices(ns: Any, x: Any, b: Any) -> None:
    rows = ns.astype(ns.abs(x[0, :3]), ns.int64) % 4
    x[rows] = x[0] + 1.0


def through_flat(ns: Any, x: Any, b: Any) -> None:
    flat = ns.reshape(x, (24,))
    flat[5:9] = -1.0
    flat[::7] += 2.0
    flat[1:] = flat[:-1] + 1.0


def through_transposed(ns: Any, x: Any, b: Any) -> None:
    t = x.T
    t[0] = 3.0
    t[...] = t + 1.0
    t[1:5] = t[5:1:-1]


def through_rows(ns: Any, x: Any, b: Any) -> None:
    for row in x:
        row[...] = row - row[0, ...]


def one_after_another(ns: Any, x: Any, b: Any) -> None:
    x += 1.0
    x[0] = x[1] * 2.0
    x[1] = x[0] - x[2]
    x -= x[:, ::-1]
    x[2:] = 4.0


def after_export(ns: Any, x: Any, b: Any) -> None:
    exported = np.asarray(x)
    x[0] = 5.0
    x += 1.0
    assert float(exported[0, 0]) == 6.0


def by_numpy(ns: Any, x: Any, b: Any) -> None:
    exported = np.asarray(x)
    exported[1:] = 9.0
    exported += 1.0


def the_other_operand(ns: Any, x: Any, b: Any) -> None:
    b[...] = 3.0
    b -= x


WRITES: tuple[Write, ...] = (
    written_array, written_row_to_all, written_pending, written_pending_dtype, written_kept,
    written_shifted, written_shifted_columns, written_flipped, written_bare_flipped,
    written_transposed, written_every_second, written_row_of_own, written_bare_row_of_own,
    written_element_of_own, written_column_of_sums, written_plus_sums, written_extreme,
    written_where, in_place_scalar, in_place_array, in_place_pending, in_place_itself,
    in_place_flipped, in_place_row, in_place_shifted, in_place_sums, in_place_view, by_mask,
    by_pending_mask, by_index_arrays, by_index_arrays_of_own, by_pending_indices, by_own_indices,
    through_flat, through_transposed, through_rows, one_after_another, after_export, by_numpy,
    the_other_operand,
)  # fmt: skip

# ---------------------------------------------------------------------- where x comes from

# Each makes the array that is read and written, and others that must not change with it, or that
# share its memory and must.


def memory(ns: Any, a: NDArray) -> tuple[Any, list[Any]]:
    return ns.asarray(a, copy=True), []


def pending_sum(ns: Any, a: NDArray) -> tuple[Any, list[Any]]:
    p, q = ns.asarray(a - 1.0, copy=True), ns.ones(a.shape)
    return p + q, [p, q]


def pending_twin(ns: Any, a: NDArray) -> tuple[Any, list[Any]]:
    p = ns.asarray(a - 1.0, copy=True)
    twin = p + 1.0
    return p + 1.0, [twin, p, twin * 2.0, p + 1.0]


def pending_window(ns: Any, a: NDArray) -> tuple[Any, list[Any]]:
    wide = ns.asarray(np.pad(a, 2), copy=True) * 1.0
    return wide[2:-2, 2:-2], [wide, wide * 2.0]


def pending_transposed(ns: Any, a: NDArray) -> tuple[Any, list[Any]]:
    p = ns.asarray(np.ascontiguousarray(a.T), copy=True) * 1.0
    return p.T, [p, p[0]]


def pending_chain(ns: Any, a: NDArray) -> tuple[Any, list[Any]]:
    p = ns.asarray(a, copy=True)
    q = ns.where(p > 0.0, p - 1.0, p)
    return q + ns.astype(p > 0.0, ns.float64), [q]


def evaluated(ns: Any, a: NDArray) -> tuple[Any, list[Any]]:
    p = ns.asarray(a, copy=True) * 1.0
    twin = p * 1.0
    if ns is xp:
        xp.evaluate(p)
    return p, [twin]


def exported(ns: Any, a: NDArray) -> tuple[Any, list[Any]]:
    p = ns.asarray(a, copy=True) * 1.0
    return p, [np.asarray(p)]


ORIGINS = (
    memory, pending_sum, pending_twin, pending_window, pending_transposed, pending_chain,
    evaluated, exported,
)  # fmt: skip
