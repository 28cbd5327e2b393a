"""Calls of marray, from its README and tutorial."""

from __future__ import annotations

from functools import cache

from marray import masked_namespace

from ..agreement import Call, Namespace, Value

_masked = cache(masked_namespace)


def _array(xp: Namespace) -> Value:
    mask = xp.asarray([[False, True, False], [False, False, True]])
    return _masked(xp).asarray(xp.asarray([[3.0, -1.0, 2.5], [0.0, 4.0, -2.0]]), mask=mask)


def unwrap(value: Value) -> Value:
    """The elements that are not masked, and the mask."""
    if not hasattr(value, "mask"):
        return value
    return value.data * ~value.mask if value.ndim else value.data, value.mask


CALLS: dict[str, Call] = {
    "a + b": lambda xp: _array(xp) + _array(xp),
    "a[...]": lambda xp: _array(xp)[1, :],
    "exp": lambda xp: _masked(xp).exp(_array(xp)),
    "sum": lambda xp: _masked(xp).sum(_array(xp), axis=1),
    "mean": lambda xp: _masked(xp).mean(_array(xp), axis=1),
    "std": lambda xp: _masked(xp).std(_array(xp), axis=1),
    "max": lambda xp: _masked(xp).max(_array(xp), axis=1),
    "argmin": lambda xp: _masked(xp).argmin(_array(xp), axis=1),
    "sort": lambda xp: _masked(xp).sort(_array(xp), axis=1),
    "cumulative_sum": lambda xp: _masked(xp).cumulative_sum(_array(xp), axis=1),
    "matmul": lambda xp: _array(xp) @ _array(xp).T,
    "where": lambda xp: _masked(xp).where(_array(xp) > 0, _array(xp), -_array(xp)),
    "concat": lambda xp: _masked(xp).concat([_array(xp), _array(xp)], axis=0),
    "reshape": lambda xp: _masked(xp).reshape(_array(xp), (3, 2)),
    "unique_values": lambda xp: _masked(xp).unique_values(_array(xp))[0],
}
