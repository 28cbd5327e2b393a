"""Utility functions: truth along axes, and differences of neighbours."""

from __future__ import annotations

from operator import index
from typing import NoReturn

from ..core import dtypes as d
from ..core.shape import as_int, normalise_axis
from ..native import with_native
from ..primitives import table as p
from .array import Array, wrap
from .dispatch import reduce
from .joining import concat
from .operands import array_operand

__all__ = ["all", "any", "diff"]


def refuse_out(name: str) -> NoReturn:
    """TypeError for an array as ``out=``."""
    raise TypeError(
        f"nothing is written into arrays that are given: assign the result, y[...] = {name}(...)"
    )


@with_native
def all(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    out: None = None,
) -> Array:
    """Whether all elements are true, that is, not zero; True over no elements.

    x: Any dtype; NaN is true.
    Returns: A copy of dtype bool.
    """
    if out is not None:
        refuse_out("all")
    return reduce(p.ALL, x, axis, keepdims)


@with_native
def any(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    out: None = None,
) -> Array:
    """Whether any element is true, that is, not zero; False over no elements.

    x: Any dtype; NaN is true.
    Returns: A copy of dtype bool.
    """
    if out is not None:
        refuse_out("any")
    return reduce(p.ANY, x, axis, keepdims)


@with_native
def diff(
    x: Array,
    /,
    n: int = 1,
    *,
    axis: int = -1,
    prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    """Differences of neighbours, x[i + 1] - x[i], taken `n` times.

    x: Numeric, or bool, for which the difference is inequality.
    n: Not negative; 0 takes no differences. May be positional, as in NumPy.
    prepend, append: What to put before and after `x` along `axis` first: the shape of `x` but for
        that axis. dtypes are promoted.
    Returns: A copy, shorter by `n` along `axis` than what it was taken of, or empty there.
    ValueError: If `n` is negative, or shapes do not agree.
    TypeError: If `n` is no int.
    """
    x = array_operand(x)
    steps = index(as_int(n, "n"))
    if steps < 0:
        raise ValueError(f"diff takes differences n={n} times; give an n of at least 0")
    parts = [part for part in (prepend, x, append) if part is not None]
    position = normalise_axis(axis, x.ndim)
    if len(parts) > 1:
        x = concat(parts, axis=position)
    op = p.NOT_EQUAL if x._dtype is d.bool else p.SUBTRACT
    backend = x._device.backend
    handle = x._handle
    shape = backend.shape(handle)
    before = [(0, size, 1) for size in shape[:position]]
    after = [(0, size, 1) for size in shape[position + 1 :]]
    size = shape[position]
    steps = min(steps, size)
    for _ in range(steps):
        size -= 1
        upper = backend.slice(handle, (*before, (1, size, 1), *after))
        lower = backend.slice(handle, (*before, (0, size, 1), *after))
        handle = backend.binary(op, upper, lower)
    return wrap(handle if steps else backend.copy(handle), x._dtype, x._device)
