"""The arithmetic under views whose sizes are symbolic.

Nothing is decided here that the structure of the expressions does not show: where that leaves open
how axes go together, there is no view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeGuard

from .layout import Mask, Selection, sliced_range
from .symbolic import Dim, DimLike, KnownInts, Sizes, SymbolicShape, UndecidedError

SymbolicSelection: TypeAlias = tuple[DimLike | tuple[DimLike, DimLike, DimLike] | None, ...]
"""`Selection` of a symbolic view."""


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


def is_concrete(sizes: Sizes) -> TypeGuard[tuple[int, ...]]:
    return all([type(size) is int for size in sizes])


def text_of(sizes: Sizes) -> str:
    return str(sizes) if is_concrete(sizes) else str(SymbolicShape(sizes))


def whole_box(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """The mask that covers everything."""
    return [(0, size) for size in shape]


def row_major_strides(shape: Sizes) -> Sizes:
    strides: list[DimLike] = []
    step: DimLike = 1
    for size in reversed(shape):
        strides.append(step)
        step = step * size
    return tuple(reversed(strides))


def checked_layout(
    shape: Sequence[DimLike],
    strides: Sequence[DimLike] | None,
    offset: DimLike,
    mask: Sequence[tuple[int, int]] | None,
) -> tuple[Sizes, Sizes, DimLike, Mask | None]:
    """The parts of a view as tuples; TypeError or ValueError for those that are none."""
    shape = checked_shape(shape)
    if type(offset) is not int and type(offset) is not Dim:
        raise TypeError(f"an offset must be an int or a Dim, not {offset!r}; convert it with int()")
    if strides is not None:
        strides = tuple(strides)
        for stride in strides:
            if type(stride) is not int and type(stride) is not Dim:
                raise TypeError(
                    f"strides must be int or Dim, not {strides!r}; convert them with int()"
                )
        if len(strides) != len(shape):
            raise ValueError(
                f"{len(strides)} strides do not fit {len(shape)} dimensions; give one per axis"
            )
    if mask is not None:
        if len(mask) != len(shape):
            raise ValueError(
                f"a mask of {len(mask)} ranges does not fit {len(shape)} dimensions; "
                "give one range per axis"
            )
        if not is_concrete(shape):
            raise ValueError(f"a mask needs concrete sizes, not {SymbolicShape(shape)}")
        for (start, end), size in zip(mask, shape, strict=True):
            if type(start) is not int or type(end) is not int:
                raise TypeError(f"a mask holds pairs of ints, not {mask!r}; convert with int()")
            if not 0 <= start <= end <= size:
                raise ValueError(
                    f"mask range ({start}, {end}) does not lie within an axis of size {size}"
                )
        mask = tuple([(start, end) for start, end in mask])
    steps = row_major_strides(shape) if strides is None else tuple(strides)
    return shape, steps, offset, None if mask is None else tuple(mask)


def expanded_layout(
    old: Sizes, strides: Sizes, mask: Mask | None, shape: Sizes
) -> tuple[Sizes, Mask | None]:
    """Strides and mask of the same elements, axes of size 1 repeated to the sizes `shape`."""
    lead = len(shape) - len(old)
    steps: list[DimLike] = [0] * lead
    ranges: list[tuple[int, int]] = []
    if mask:
        if not is_concrete(shape):
            raise ValueError(
                f"cannot expand a masked view to {text_of(shape)}: a mask needs concrete sizes; "
                "bind the symbolic ones first"
            )
        ranges = whole_box(shape)
    for axis, size in enumerate(old):
        new = shape[lead + axis] if lead >= 0 else None
        if new == size:
            steps.append(strides[axis])
            if mask:
                ranges[lead + axis] = mask[axis]
        elif size == 1 and new is not None:
            steps.append(0)
            if mask and mask[axis] != (0, 1):
                ranges[lead + axis] = (0, 0)
        else:
            raise ValueError(
                f"cannot expand {text_of(old)} to {text_of(shape)}: only axes of size 1 "
                "grow, and new axes come in front; insert axes with expand_dims first"
            )
    return tuple(steps), tuple(ranges) if mask else None


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


def sliced_layout(
    shape: Sizes, strides: Sizes, offset: DimLike, mask: Mask | None, selection: SymbolicSelection
) -> tuple[Sizes, Sizes, DimLike, Mask | None] | None:
    """Shape, strides, offset and mask of what a normalised basic index selects.

    None if an index that drops its axis points into padding. Symbolic items are taken to lie within
    the axes.
    """
    is_known = is_concrete(shape) and is_static_selection(selection)
    sizes: list[DimLike] = []
    steps: list[DimLike] = []
    ranges: list[tuple[int, int]] = []
    axis = 0
    for item in selection:
        if item is None:
            sizes.append(1)
            steps.append(0)
            ranges.append((0, 1))
            continue
        if axis == len(shape):
            raise ValueError(f"selection {selection} has more items than {len(shape)} axes")
        size, stride = shape[axis], strides[axis]
        valid = mask[axis] if mask else None
        axis += 1
        if not isinstance(item, tuple):
            if is_known and not 0 <= item < size:
                raise ValueError(f"index {item} does not lie within an axis of size {size}")
            if valid and not valid[0] <= item < valid[1]:
                return None
            offset = offset + item * stride
            continue
        start, length, step = item
        if is_known and (
            length < 0
            or (length and not 0 <= start < size)
            or (length > 1 and not 0 <= start + (length - 1) * step < size)
        ):
            raise ValueError(f"slice {item} does not lie within an axis of size {size}")
        offset = offset + start * stride
        sizes.append(length)
        # Where nothing is stepped over, a huge step must not make a huge stride.
        steps.append(stride if type(length) is int and length <= 1 else step * stride)
        if valid:
            known: KnownInts = item  # symbolic views have no mask
            ranges.append(sliced_range(valid, *known))
    if axis != len(shape):
        raise ValueError(f"selection {selection} does not name all {len(shape)} axes")
    return tuple(sizes), tuple(steps), offset, tuple(ranges) if mask else None
