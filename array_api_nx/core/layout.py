"""The arithmetic under views: ranges, strides and sums of steps, on plain integers."""

from __future__ import annotations

from itertools import pairwise
from math import gcd, prod
from typing import Final, TypeAlias

Mask: TypeAlias = "tuple[tuple[int, int], ...]"
"""Half-open range of valid indices per axis."""
Selection: TypeAlias = "tuple[int | tuple[int, int, int] | None, ...]"
"""A normalised basic index. Per axis of the view, in order: an index, which drops the axis, or
(start, count, step), which keeps it. None, in between, makes a new axis of size 1."""


def sliced_range(valid: tuple[int, int], start: int, length: int, step: int) -> tuple[int, int]:
    """The indices i in [0, length) with valid[0] <= start + i*step < valid[1]."""
    if length == 0:
        return 0, 0
    first, last = (valid[0], valid[1] - 1) if step > 0 else (valid[1] - 1, valid[0])
    low = max(0, -((start - first) // step))  # ceil((first - start) / step)
    high = min(length, (last - start) // step + 1)
    return (low, high) if low < high else (0, 0)


def common_factors(old: tuple[int, ...], new: tuple[int, ...]) -> list[tuple[range, range]]:
    """The shortest runs of old and new axes, in step, with equal products. Sizes are nonzero."""
    runs = []
    i = j = 0
    while i < len(old) or j < len(new):
        i0, j0 = i, j
        left = right = 1
        if i < len(old):
            left, i = old[i], i + 1
        if j < len(new):
            right, j = new[j], j + 1
        while left != right:
            if left < right:
                left, i = left * old[i], i + 1
            else:
                right, j = right * new[j], j + 1
        runs.append((range(i0, i), range(j0, j)))
    return runs


def regroup(
    old: list[tuple[int, int]], mask: list[tuple[int, int]] | None, new: list[int]
) -> tuple[list[int], list[tuple[int, int]]] | None:
    """Strides and valid ranges of the axes `new` that replace a run of old (size, stride)."""
    axes = [axis for axis in range(len(old)) if old[axis][0] != 1]
    # The run must step through memory as one axis.
    for outer, inner in pairwise(axes):
        if old[outer][1] != old[inner][0] * old[inner][1]:
            return None
    total = prod([old[axis][0] for axis in axes])
    step = old[axes[-1]][1] if axes else 0
    strides = []
    for size in reversed(new):
        strides.append(step)
        step *= size
    strides.reverse()

    valid = [(0, size) for size in new]
    if mask is None or all([mask[a] == (0, old[a][0]) for a in range(len(old))]):
        return strides, valid
    # A range of whole slabs along the outermost axis stays a box if the new axes keep the slabs.
    if not axes or any([mask[a] != (0, old[a][0]) for a in range(len(old)) if a != axes[0]]):
        return None
    slab = total // old[axes[0]][0]
    start, end = mask[axes[0]][0] * slab, mask[axes[0]][1] * slab
    outermost = next(axis for axis, size in enumerate(new) if size != 1)
    slab = total // new[outermost]
    if start % slab or end % slab:
        return None
    valid[outermost] = start // slab, end // slab
    return strides, valid


_MAX_SEARCH: Final = 4096


def has_solution(steps: list[tuple[int, int]], target: int) -> bool:
    """Whether sum(step * i) == target with 0 <= i <= bound has a solution; True if unsure.

    Depth-first over the axes, largest step first; an axis' candidates are narrowed by what the
    remaining axes can reach and by their greatest common divisor.
    """
    reach = [0] * (len(steps) + 1)
    divisor = [0] * (len(steps) + 1)
    for k in range(len(steps) - 1, -1, -1):
        reach[k] = reach[k + 1] + steps[k][0] * steps[k][1]
        divisor[k] = gcd(divisor[k + 1], steps[k][0])
    work = 0
    stack = [(0, target)]
    while stack:
        k, rest = stack.pop()
        if not 0 <= rest <= reach[k] or (rest % divisor[k] if divisor[k] else rest):
            continue
        if k == len(steps):
            return True
        step, bound = steps[k]
        low = max(0, -((reach[k + 1] - rest) // step))  # ceil((rest - reach) / step)
        high = min(bound, rest // step)
        work += max(0, high - low + 1)
        if work > _MAX_SEARCH:
            return True
        stack.extend([(k + 1, rest - step * i) for i in range(low, high + 1)])
    return False


def reshaped_layout(
    shape: tuple[int, ...], strides: tuple[int, ...], mask: Mask | None, new: tuple[int, ...]
) -> tuple[tuple[int, ...], Mask | None] | None:
    """Strides and mask of the same elements under the sizes `new`; None if they have none."""
    steps: list[int] = []
    ranges: list[tuple[int, int]] = []
    for old_axes, new_axes in common_factors(shape, new):
        group = regroup(
            [(shape[a], strides[a]) for a in old_axes],
            [mask[a] for a in old_axes] if mask else None,
            [new[a] for a in new_axes],
        )
        if group is None:
            return None
        steps += group[0]
        ranges += group[1]
    return tuple(steps), tuple(ranges) if mask else None


def merged_axes(
    sizes: tuple[int, ...], steps: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides without axes of size 1, neighbours that step as one axis merged."""
    shape: list[int] = []
    strides: list[int] = []
    for size, stride in zip(sizes, steps, strict=True):
        if size == 1:
            continue
        if shape and strides[-1] == size * stride:
            shape[-1] *= size
            strides[-1] = stride
        else:
            shape.append(size)
            strides.append(stride)
    return tuple(shape), tuple(strides)
