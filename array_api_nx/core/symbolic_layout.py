"""The arithmetic under views whose sizes are symbolic.

Nothing is decided here that the structure of the expressions does not show: where that leaves open
how axes go together, there is no view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeGuard

from .symbolic import Dim, DimLike, Sizes, UndecidedError

__all__ = [
    "Selection",
    "SymbolicSelection",
    "checked_shape",
    "has_repeats",
    "is_packed",
    "is_static_selection",
    "packed_order",
    "regrouped",
    "row_major_strides",
    "sliced",
    "stride_order",
]

Selection: TypeAlias = tuple[int | tuple[int, int, int] | None, ...]
"""A normalised basic index. Per axis of the view, in order: an index, which drops the axis, or
(start, count, step), which keeps it. None, in between, makes a new axis of size 1."""
SymbolicSelection: TypeAlias = tuple[DimLike | tuple[DimLike, DimLike, DimLike] | None, ...]
"""The same of a symbolic view."""


def checked_shape(shape: Sequence[DimLike]) -> Sizes:
    shape = tuple(shape)
    for size in shape:
        if type(size) is not int and type(size) is not Dim:
            raise TypeError(
                f"sizes must be int or Dim, but the shape is {shape!r}; convert them with int()"
            )
        if type(size) is int and size < 0:
            raise ValueError(f"sizes must not be negative, but the shape is {shape}")
    return shape


def row_major_strides(shape: Sizes) -> Sizes:
    strides: list[DimLike] = []
    step: DimLike = 1
    for size in reversed(shape):
        strides.append(step)
        step = step * size
    return tuple(reversed(strides))


def is_packed(shape: Sizes, strides: Sizes, size: DimLike) -> bool:
    """Whether the strides are row-major, as far as they matter: a size-1 axis never steps."""
    if size == 0:
        return True
    expected: DimLike = 1
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n != 1:
            if stride != expected:
                return False
            expected = expected * n
    return True


def has_repeats(shape: Sizes, strides: Sizes) -> bool:
    """Whether elements share memory, if there are any."""
    return any([stride == 0 and n != 1 for n, stride in zip(shape, strides, strict=True)])


def packed_order(shape: Sizes, strides: Sizes) -> tuple[int, ...] | None:
    """The order of axes in which these strides are row-major; None if there is none."""
    left = [axis for axis, size in enumerate(shape) if size != 1]
    order: list[int] = []
    step: DimLike = 1
    while left:
        inner = next((axis for axis in reversed(left) if strides[axis] == step), None)
        if inner is None:
            return None
        left.remove(inner)
        order.insert(0, inner)
        step = step * shape[inner]
    return (*[axis for axis, size in enumerate(shape) if size == 1], *order)


def stride_order(shape: Sizes, strides: Sizes) -> tuple[int, ...] | None:
    """The axes from the longest step in memory to the shortest, as NumPy lays out what it computes.

    None if symbolic steps leave that open, or an axis does not step at all.
    """
    moving = [axis for axis, size in enumerate(shape) if size != 1]
    order: list[int] = []
    try:
        steps = {axis: -strides[axis] if strides[axis] < 0 else strides[axis] for axis in moving}
        for axis in moving:
            if steps[axis] == 0:
                return None
            position = len(order)
            while position and steps[order[position - 1]] < steps[axis]:
                position -= 1
            order.insert(position, axis)
    except UndecidedError:
        return None
    return (*[axis for axis, size in enumerate(shape) if size == 1], *order)


def regrouped(shape: Sizes, strides: Sizes, new: Sizes) -> Sizes | None:
    """The strides of the same elements under the sizes `new`; None if they have none."""
    old = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    left = [n for n in new if n != 1]
    found: list[DimLike] = []
    while old or left:
        if not (old and left):
            return None
        size, stride = old.pop()
        group = [left.pop()]
        product = group[0]
        while size != product:
            if left and size % product == 0:
                group.append(left.pop())
                product = product * group[-1]
            elif old and old[-1][1] == size * stride and product % size == 0:
                size = size * old.pop()[0]
            else:
                return None
        for n in group:
            found.append(stride)
            stride = stride * n
    rest = iter(reversed(found))
    return tuple([0 if n == 1 else next(rest) for n in new])


def is_static_selection(selection: SymbolicSelection) -> TypeGuard[Selection]:
    """Whether a selection holds no symbolic number."""
    parts = [part for item in selection for part in (item if type(item) is tuple else (item,))]
    return not any([isinstance(part, Dim) for part in parts])


def sliced(
    shape: Sizes, strides: Sizes, offset: DimLike, selection: SymbolicSelection
) -> tuple[Sizes, Sizes, DimLike]:
    """Shape, strides and offset of a selection, whose items are taken to lie within the axes."""
    sizes: list[DimLike] = []
    steps: list[DimLike] = []
    axes = iter(zip(shape, strides, strict=True))
    for item in selection:
        if item is None:
            sizes.append(1)
            steps.append(0)
            continue
        size, stride = next(axes, (None, 0))
        if size is None:
            raise ValueError(f"selection {selection} has more items than {len(shape)} axes")
        if not isinstance(item, tuple):
            offset = offset + item * stride
            continue
        start, length, step = item
        offset = offset + start * stride
        sizes.append(length)
        is_short = type(length) is int and length <= 1
        steps.append(stride if is_short else step * stride)
    if next(axes, None) is not None:
        raise ValueError(f"selection {selection} does not name all {len(shape)} axes")
    return tuple(sizes), tuple(steps), offset
