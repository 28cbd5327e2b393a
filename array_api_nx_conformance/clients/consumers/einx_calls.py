"""Calls of einx, from its README and the list of its operations."""

from __future__ import annotations

import array_api_compat  # noqa: F401  # einx takes arrays of a namespace once this is imported
import einx

from ..agreement import Call, Namespace, Value


def _table(xp: Namespace) -> Value:
    return xp.reshape(xp.astype(xp.arange(24) * 7 % 11, xp.float64), (4, 6))


def _row(xp: Namespace) -> Value:
    return xp.asarray([1.0, 2.0, 0.5, 3.0, -1.0, 2.0])


CALLS: dict[str, Call] = {
    "id": lambda xp: einx.id("a (b c) -> (b a) c", _table(xp), b=2),
    "id, concatenate": lambda xp: einx.id("a b, a c -> a (b + c)", _table(xp), _table(xp)),
    "sum": lambda xp: einx.sum("a [b]", _table(xp)),
    "mean": lambda xp: einx.mean("[a] b", _table(xp)),
    "std": lambda xp: einx.std("a [b]", _table(xp)),
    "max, pooling": lambda xp: einx.max("(a [s])... -> a...", _table(xp), s=2),
    "add": lambda xp: einx.add("a b, b", _table(xp), _row(xp)),
    "multiply": lambda xp: einx.multiply("a b, b -> b a", _table(xp), _row(xp)),
    "where": lambda xp: einx.where("a b, b, a b", _table(xp) > 4, _row(xp), _table(xp)),
    "dot": lambda xp: einx.dot("a [b], [b] c -> a c", _table(xp), xp.matrix_transpose(_table(xp))),
    "softmax": lambda xp: einx.softmax("a [b]", _table(xp)),
    "logsumexp": lambda xp: einx.logsumexp("a [b]", _table(xp)),
    "get_at": lambda xp: einx.get_at("[a] b, i -> i b", _table(xp), xp.asarray([2, 0])),
    "flip": lambda xp: einx.flip("a [b]", _table(xp)),
    "roll": lambda xp: einx.roll("a [b]", _table(xp), shift=1),
    "sort": lambda xp: einx.sort("a [b]", _table(xp)),
    "argmax": lambda xp: einx.argmax("a [b] -> [1] a", _table(xp)),
}
