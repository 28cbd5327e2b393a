"""Convolution: sums of products of a kernel with the windows of an array."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Final, Literal

from ..contract.arguments import Handle, Padding
from ..contract.backend import Backend
from ..core.shape import as_int
from ..frontend import standard as xp
from ..frontend.array import Array, wrap
from ..frontend.dispatch import binary
from ..frontend.operands import only_array, promote_arrays
from ..native import with_advice
from ..primitives import table as p
from .windows import Window, several, shifted

__all__ = ["conv"]


@with_advice
def conv(
    x: Array,
    kernel: Array,
    /,
    *,
    stride: int | tuple[int, ...] = 1,
    dilation: int | tuple[int, ...] = 1,
    padding: int | tuple[int, int] | Sequence[tuple[int, int]] | Literal["same", "valid"] = 0,
    groups: int = 1,
) -> Array:
    """Sums of products of a kernel with the windows of an array, over all channels.

    This is what deep learning libraries call convolution: the kernel is not flipped, so that in
    signal processing it is a cross-correlation. For a convolution, flip the kernel along its
    spatial axes first.

    x: Numeric, of shape (batch, channels, spatial...), with at least one spatial axis.
    kernel: Numeric, of shape (output channels, channels / groups, spatial...).
    stride, dilation: Steps from window to window, and between the elements of one; as many as there
        are spatial axes, or one for all.
    padding (int, (int, int), sequence of (int, int), "same" or "valid"): Zeros before and after, as
        in `pad`, on the spatial axes. With "same", which needs a stride of 1,
        the result has the spatial sizes of `x`; where that takes an odd number of zeros, one more
        comes after than before. "valid" is none.
    groups: Parts that the channels of `x` and of the result are split into; each part of the result
        is computed from its own part of `x`. As many groups as channels make a depthwise
        convolution.
    Returns: A copy of shape (batch, output channels, windows...), of the promoted dtype.
    ValueError: If the shapes, or `groups`, do not agree, or no window fits.
    TypeError: If the dtype is bool.

    >>> x = xp.asarray([[[1, 2, 4, 8]]])
    >>> xp.extra.conv(x, xp.asarray([[[-1, 1]]]))
    Array([[[1, 2, 4]]], dtype=int64)
    """
    (x, kernel), dtype, device = promote_arrays(only_array(x), only_array(kernel, "kernel"))
    if dtype not in p.MATMUL.results:
        raise TypeError(f"conv adds up numbers, not {dtype}; convert the arrays with astype")
    parts = as_int(groups, "groups")
    ndim = len(x.shape) - 2
    if ndim < 1 or len(kernel.shape) != len(x.shape):
        raise ValueError(
            f"conv takes x of shape (batch, channels, spatial...) and a kernel with as many axes, "
            f"not {x.shape} and {kernel.shape}; add axes with reshape"
        )
    channels, outputs = x.shape[1], kernel.shape[0]
    if parts < 1 or channels != kernel.shape[1] * parts or outputs % parts:
        raise ValueError(
            f"{channels} channels in {parts} groups do not agree with a kernel of shape "
            f"{kernel.shape}: it needs channels / groups on its second axis, and a multiple of "
            "groups on its first"
        )
    size = kernel.shape[2:]
    given = _named_padding(padding, size, stride, dilation) if type(padding) is str else padding
    window = Window(size, stride, dilation, given)
    counts = window.check(x.shape[2:], f"an array of shape {x.shape}")
    per_part = (outputs // parts, channels // parts)
    x = xp.reshape(x, (x.shape[0], parts, per_part[1], *x.shape[2:]))
    if per_part[0] == 1 and 0 < prod(size) * per_part[1] <= _MOST_PRODUCTS:
        result = _by_shifting(x, xp.reshape(kernel, (parts, per_part[1], *size)), window)
    else:
        weights = xp.reshape(kernel, (parts, per_part[0], per_part[1] * prod(size)))
        handle = _by_matmul(device.backend, x._handle, weights._handle, window, counts)
        result = wrap(handle, dtype, device)
    return xp.reshape(result, (x.shape[0], outputs, *counts))


# ---------------------------------------------------------------------- strategies

_MOST_PRODUCTS: Final = 256
"""Elements of a kernel for one channel of the result, up to which products of shifted arrays are
added, in one pass. A matrix product with so few rows reads each element of the windows once
(docs/tuning.md, 90)."""

_BLOCK: Final = 1 << 20
"""Elements of windows that are made at a time and then multiplied (docs/tuning.md, 91)."""


def _named_padding(name: str, size: tuple[int, ...], stride: object, dilation: object) -> Padding:
    if name == "valid":
        return ((0, 0),) * len(size)
    if name != "same":
        raise ValueError(f"no padding {name!r}; known: 'same', 'valid', or numbers of zeros")
    if any([step != 1 for step in several(stride, len(size), "stride")]):
        raise ValueError(
            f"padding 'same' needs a stride of 1, not {stride!r}; give numbers of zeros"
        )
    spread = several(dilation, len(size), "dilation")
    totals = [(length - 1) * step for length, step in zip(size, spread, strict=True)]
    return tuple([(total // 2, total - total // 2) for total in totals])


def _by_shifting(x: Array, kernel: Array, window: Window) -> Array:
    """One channel of the result per group, as a sum of shifted products.

    `x` has shape (batch, groups, channels per group, spatial...), `kernel` the same without batch.
    """
    counts = window.check(x.shape[3:], "")
    ones_of = (1,) * len(counts)
    total: Array | None = None
    for channel in range(x.shape[2]):
        seen = shifted(x[:, :, channel], window, counts, 0)
        for position, values in zip(
            product(*[range(size) for size in window.size]), seen, strict=True
        ):
            factor = xp.reshape(kernel[(slice(None), channel, *position)], (-1, *ones_of))
            term = binary(p.MULTIPLY, values, factor)
            total = term if total is None else binary(p.ADD, total, term)
    assert total is not None
    return total


def _by_matmul(
    backend: Backend, x: Handle, weights: Handle, window: Window, counts: tuple[int, ...]
) -> Handle:
    """Products of the weights with the windows, which are made a block at a time.

    `x` has shape (batch, groups, channels per group, spatial...), `weights` has (groups, outputs
    per group, elements of a window of all these channels). The result is (batch, groups, outputs
    per group, windows...).
    """
    shape = backend.shape(x)
    batch, groups = shape[:2]
    outputs, elements = backend.shape(weights)[1:]

    def multiply(part: Handle, rows: int, padding: Padding) -> Handle:
        """The products with the windows over a part, `rows` of them on its first spatial axis."""
        number = backend.shape(part)[0]
        if is_pointwise:
            seen = part
        else:
            seen = backend.unfold(part, window.size, window.stride, window.dilation, padding)
        columns = (number, groups, elements, rows * prod(counts[1:]))
        result = backend.matmul(weights, backend.reshape(seen, columns))
        return backend.reshape(result, (number, groups, outputs, rows, *counts[1:]))

    is_pointwise = prod(window.size) == 1 and counts == shape[3:]
    per_row = groups * elements * prod(counts[1:])
    # Elsewhere calls cost more, or memory cannot be written in parts; and what is recorded in a
    # trace is done with other sizes.
    is_whole = not backend.shares_host or not backend.has_elements(x)
    if is_whole or is_pointwise or batch * counts[0] * per_row <= _BLOCK:
        return multiply(x, counts[0], window.padding)
    rows = min(counts[0], max(1, _BLOCK // per_row))
    number = max(1, _BLOCK // (per_row * rows))
    result = backend.empty((batch, groups, outputs, *counts), backend.dtype(x))
    kept = [(0, size) for size in shape]
    for first in range(0, batch, number):
        last = min(batch, first + number)
        for top in range(0, counts[0], rows):
            bottom = min(counts[0], top + rows)
            start, end, margin = window.reach(shape[3], top, bottom)
            bounds = ((first, last), *kept[1:3], (start, end), *kept[4:])
            part = backend.shrink(x, bounds)
            products = multiply(part, bottom - top, (margin, *window.padding[1:]))
            place = [(0, size) for size in backend.shape(result)]
            place[0], place[3] = (first, last), (top, bottom)
            backend.assign(backend.shrink(result, tuple(place)), products)
    return result
