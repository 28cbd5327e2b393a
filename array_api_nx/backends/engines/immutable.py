"""Views of arrays that cannot be written: how to read them, and how a write replaces them.

An engine without strides and mutation reads a view by reshaping, slicing and transposing the flat
memory, where the strides allow that, and by taking elements one by one elsewhere. A write makes a
new array, which takes the place of the old one in the storage.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Final, NamedTuple

import numpy as np

from ...contract.numpy_dtypes import NDArray
from ...core.symbolic import KnownInts
from ...core.view import View

_MAX_STEPS: Final = 1 << 12
_known: Final[dict[tuple[View, int], Steps | None]] = {}


class Steps(NamedTuple):
    """How a view of flat memory is had without looking at single elements.

    `start`: where the lowest element lies; elements before it are left out.
    `length`: how long the rest has to be for `base`; it is padded if it is shorter, and cut if
    longer.
    `base`: the shape to give it.
    `box`: what to take of that, per axis.
    `order`: then, the axes in the order of the view's, without those that repeat.
    `kept`: then, the shape with 1 for the axes that repeat; the view's own shape is broadcast from
    it.
    """

    start: int
    length: int
    base: tuple[int, ...]
    box: tuple[slice, ...]
    order: tuple[int, ...]
    kept: tuple[int, ...]


def steps(view: View, size: int) -> Steps | None:
    """The `Steps` to a view without mask of memory of `size` elements; None if there are none."""
    key = view, size
    if key not in _known:
        if len(_known) >= _MAX_STEPS:
            _known.clear()
        _known[key] = _steps(view, size)
    return _known[key]


def _steps(view: View, size: int) -> Steps | None:
    shape: KnownInts = view.shape
    strides: KnownInts = view.strides
    offset: KnownInts = view.offset
    if 0 in shape:
        return None
    axes = [axis for axis, n in enumerate(shape) if n > 1 and strides[axis]]
    for axis in axes:
        if strides[axis] < 0:
            offset += (shape[axis] - 1) * strides[axis]
    axes.sort(key=lambda axis: -abs(strides[axis]))
    widths = [abs(strides[axis]) for axis in axes]
    if any([wide % narrow for wide, narrow in pairwise(widths)]):
        return None
    # The memory as digits: how often each stride fits into the one before.
    length = -(-(size - offset) // widths[0]) * widths[0] if widths else 1
    limits = [length, *widths]
    base = tuple([wide // narrow for wide, narrow in zip(limits, [*widths, 1], strict=True)])
    box = []
    for axis, room in zip(axes, base, strict=False):
        count = shape[axis]
        if count > room:
            return None
        box.append(slice(count - 1, None, -1) if strides[axis] < 0 else slice(0, count))
    # The last digit says where between two neighbours of the narrowest stride.
    box.append(slice(0, 1))
    order = tuple([axes.index(axis) for axis in sorted(axes)])
    kept = tuple([n if axis in axes else 1 for axis, n in enumerate(shape)])
    return Steps(offset, length, base, tuple(box), (*order, len(axes)), kept)


def positions(view: View) -> NDArray:
    """Where in the flat memory each element of `view` lies."""
    found = np.full((1,) * view.ndim, view.offset)
    sizes: KnownInts = view.shape
    for axis, (n, stride) in enumerate(zip(sizes, view.strides, strict=True)):
        reach = (*(1,) * axis, n, *(1,) * (view.ndim - axis - 1))
        found = found + (np.arange(n) * stride).reshape(reach)
    assert prod(found.shape) == view.size
    return found
