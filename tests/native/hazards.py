"""The parts of hazard tests: pending expressions, views of x, writes, and origins of x.

Functions take the namespace first, so that they run on NumPy's arrays too.
"""

from collections.abc import Callable
from operator import iadd, imul, isub, itruediv, setitem
from typing import Any

import numpy as np

import array_api_nx as xp
from tests.support.programs import NDArray

Read = Callable[[Any, Any, Any], list[Any]]
Write = Callable[[Any, Any, Any], object]


def numbers(shape: tuple[int, ...], step: int = 7) -> NDArray:
    """Whole numbers, so that sums are exact, and different ones, so that wrong reads show."""
    size = int(np.prod(shape, dtype=int))
    return (np.arange(size) * step % (25 if size <= 25 else 65521) - 8.0).reshape(shape)


def assigned(ns: Any, v: Any, value: Any) -> list[Any]:
    y = ns.zeros(v.shape)
    y[...] = value
    return [y]


# Functions of the namespace, a view of x, and 0-d b, which is never written.
READS: dict[str, Read] = {
    "add": lambda ns, v, b: [v + 1.0],
    "two arrays": lambda ns, v, b: [v * b],
    "reversed scalar": lambda ns, v, b: [2.0 - v],
    "unary": lambda ns, v, b: [ns.abs(v)],
    "through dropped": lambda ns, v, b: [(v + 1.0) * 2.0],
    "through kept": lambda ns, v, b: [(t := v + 1.0) * 2.0, t],
    "moved": lambda ns, v, b: [ns.flip(t := v - 1.0), ns.broadcast_to(t, (2, *v.shape))],
    "over moved": lambda ns, v, b: [
        ns.flip(t := ns.broadcast_to(ns.expand_dims(v - 1.0, axis=0), (2, *v.shape))) * t
    ],
    "total": lambda ns, v, b: [ns.sum(v)],
    "total of chain": lambda ns, v, b: [ns.sum(v * 2.0 - b, keepdims=True)],
    "largest": lambda ns, v, b: [ns.max(v, axis=-1) if v.ndim else ns.max(v)],
    "reduced and used": lambda ns, v, b: [v - ns.sum(v, keepdims=True)],
    "counted": lambda ns, v, b: [ns.any(v > 12.0), ns.all(v > -20.0), ns.count_nonzero(v)],
    "where": lambda ns, v, b: [ns.where(v > 3.0, v, -v)],
    "where condition": lambda ns, v, b: [ns.where(v > 3.0, b, -1.0)],
    "clip": lambda ns, v, b: [ns.clip(v, -2.0, 5.0)],
    "astype": lambda ns, v, b: [ns.astype(v, ns.float32), ns.astype(v, ns.float64)],
    "equal expressions": lambda ns, v, b: [v * 3.0, v * 3.0],
    "equal parts": lambda ns, v, b: [(t := v * 3.0) + t, v * 3.0 - 1.0],
    "with itself flipped": lambda ns, v, b: [v - ns.flip(v)],
    "assigned": lambda ns, v, b: assigned(ns, v, v + 1.0),
    "assigned bare": lambda ns, v, b: assigned(ns, v, v),
    "accumulated": lambda ns, v, b: [imul(iadd(ns.ones(v.shape), v), v)],
}

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

S = np.s_
KEYS: dict[str, Any] = {
    "whole": ...,
    "row": 1,
    "rows": S[1:3],
    "columns": S[:, 2:5],
    "stepped backwards": S[::2, ::-3],
    "element": (1, 2),
    "last row": 3,
    "nothing": S[0:0],
}
KEYED: tuple[Callable[[Any, Any], object], ...] = (
    lambda x, key: setitem(x, key, 7.0),
    lambda x, key: setitem(x, key, iadd(x[key], 100.0)),
    lambda x, key: setitem(x, key, x[key] * 2.0 + 1.0),
    lambda x, key: setitem(x, key, isub(x[key], x[0, 0, ...] * 2.0)),
)


def by_own_indices(ns: Any, x: Any, b: Any) -> None:
    rows = ns.astype(ns.abs(x[0, :3]), ns.int64) % 4
    x[rows] = x[0] + 1.0


def by_pending_mask(ns: Any, x: Any, b: Any) -> None:
    mask = x * 2.0 > b
    x[mask] = -1.0
    x[mask[:, 0]] = b[0] + 1.0


def through_rows(ns: Any, x: Any, b: Any) -> None:
    for row in x:
        row[...] = row - row[0, ...]


def after_export(ns: Any, x: Any, b: Any) -> None:
    exported = np.asarray(x)
    x[0] = 5.0
    x += 1.0
    assert float(exported[0, 0]) == 6.0


def in_place_view(ns: Any, x: Any, b: Any) -> None:
    v = x[::2, 1::2]
    v += 1.0
    w = x.T
    w *= 2.0
    w[2:] -= v[0, 0, ...]


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


def one_after_another(ns: Any, x: Any, b: Any) -> None:
    x += 1.0
    x[0] = x[1] * 2.0
    x[1] = x[0] - x[2]
    x -= x[:, ::-1]
    x[2:] = 4.0


def kept(ns: Any, x: Any, b: Any) -> None:
    t = x + 1.0
    x[...] = t
    x[0] = t[1] + x[2]


# Each writes x, of shape (4, 6); b is another array of that shape.
WRITES: dict[str, Write] = {
    "array": lambda ns, x, b: setitem(x, S[1:3], b[:2]),
    "row to all": lambda ns, x, b: setitem(x, ..., b[0]),
    "pending": lambda ns, x, b: setitem(x, ..., b * 2.0),
    "pending, dtype": lambda ns, x, b: setitem(x, ..., ns.astype(x[::-1] + 1.0, ns.float32)),
    "kept": kept,
    "shifted": lambda ns, x, b: setitem(x, S[1:], x[:-1] * 2.0),
    "shifted columns": lambda ns, x, b: setitem(x, S[:, 1:], x[:, :-1] + x[:, 1:]),
    "flipped": lambda ns, x, b: setitem(x, ..., x[::-1] + 1.0),
    "bare, flipped": lambda ns, x, b: setitem(x, ..., x[::-1, ::-1]),
    "transposed": lambda ns, x, b: setitem(x, S[:, :4], x[:, :4].T + 1.0),
    "every second": lambda ns, x, b: setitem(x, S[:, ::2], x[:, 1::2] - x[:, ::2]),
    "row of own": lambda ns, x, b: setitem(x, ..., x[1] + 1.0),
    "bare row of own": lambda ns, x, b: setitem(x, ..., x[1]),
    "element of own": lambda ns, x, b: setitem(x, ..., x[1, 2, ...] * 2.0 + x),
    "column of sums": lambda ns, x, b: setitem(x, S[:, 0], ns.sum(x, axis=1)),
    "plus sums": lambda ns, x, b: setitem(x, ..., x - ns.sum(x, axis=0)),
    "extreme": lambda ns, x, b: setitem(x, (0, 0), ns.max(x)),
    "where": lambda ns, x, b: setitem(x, ..., ns.where(x > 3.0, x[::-1], 0.0)),
    "in place, scalar": lambda ns, x, b: imul(iadd(x, 1.0), 3.0),
    "in place, array": lambda ns, x, b: itruediv(isub(x, b), 2.0),
    "in place, pending": lambda ns, x, b: iadd(x, b * 2.0 - 1.0),
    "in place, itself": lambda ns, x, b: (iadd(x, x), imul(x, x)),
    "in place, flipped": lambda ns, x, b: (isub(x, x[::-1]), iadd(x, x[:, ::-1] * 2.0)),
    "in place, row": lambda ns, x, b: (imul(x, x[0]), isub(x, x[:, 1:2])),
    "in place, shifted": lambda ns, x, b: (
        setitem(x, S[1:], iadd(x[1:], x[:-1])),
        setitem(x, S[:, :-1], isub(x[:, :-1], x[:, 1:] * 2.0)),
    ),
    "in place, sums": lambda ns, x, b: (isub(x, ns.sum(x, axis=0)), iadd(x, ns.max(x))),
    "in place, view": in_place_view,
    "by mask": lambda ns, x, b: (
        setitem(x, x > 3.0, 0.0),
        setitem(x, mask := x < -2.0, x[mask] + 1.0),
    ),
    "by pending mask": by_pending_mask,
    "by index arrays": lambda ns, x, b: (
        setitem(x, ns.asarray([0, 2]), b[:2]),
        setitem(x, key := S[:, ns.asarray([1, 0, 3])], x[key] * 2.0),
    ),
    "by index arrays, of own": lambda ns, x, b: (
        setitem(x, ns.asarray([0, 3]), x[ns.asarray([3, 0])]),
        setitem(x, ns.asarray([1, 2]), x[2:] * 2.0),
    ),
    "by pending indices": lambda ns, x, b: setitem(
        x, ns.astype(ns.abs(b[0, :3]), ns.int64) % 4, 5.0
    ),
    "by own indices": by_own_indices,
    "through flat": through_flat,
    "through transposed": through_transposed,
    "through rows": through_rows,
    "one after another": one_after_another,
    "after export": after_export,
    "by NumPy": lambda ns, x, b: (setitem(e := np.asarray(x), S[1:], 9.0), iadd(e, 1.0)),
    "the other operand": lambda ns, x, b: (setitem(b, ..., 3.0), isub(b, x)),
}


def evaluated(ns: Any, a: NDArray) -> tuple[Any, list[Any]]:
    p = ns.asarray(a, copy=True) * 1.0
    equal = p * 1.0
    if ns is xp:
        xp.evaluate(p)
    return p, [equal]


def chain(ns: Any, p: Any) -> tuple[Any, list[Any]]:
    q = ns.where(p > 0.0, p - 1.0, p)
    return q + ns.astype(p > 0.0, ns.float64), [q]


# Each makes the array that is read and written, and others that must not change with it, or that
# share its memory and must.
ORIGINS: dict[str, Callable[[Any, NDArray], tuple[Any, list[Any]]]] = {
    "memory": lambda ns, a: (ns.asarray(a, copy=True), []),
    "pending sum": lambda ns, a: (
        (p := ns.asarray(a - 1.0, copy=True)) + (q := ns.ones(a.shape)),
        [p, q],
    ),
    "pending equal": lambda ns, a: (
        (p := ns.asarray(a - 1.0, copy=True)) + 1.0,
        [equal := p + 1.0, p, equal * 2.0, p + 1.0],
    ),
    "pending window": lambda ns, a: (
        (wide := ns.asarray(np.pad(a, 2), copy=True) * 1.0)[2:-2, 2:-2],
        [wide, wide * 2.0],
    ),
    "pending transposed": lambda ns, a: (
        (p := ns.asarray(np.ascontiguousarray(a.T), copy=True) * 1.0).T,
        [p, p[0]],
    ),
    "pending chain": lambda ns, a: chain(ns, ns.asarray(a, copy=True)),
    "evaluated": evaluated,
    "exported": lambda ns, a: (p := ns.asarray(a, copy=True) * 1.0, [np.asarray(p)]),
}
