"""Index arrays over the engines' own arrays: checked, broadcast, and made positions.

Engines differ in what they do with indices out of range (nothing, an error, a dead device), with
several values for one element, and with integers among arrays. So all of that is decided here, with
their common operations: arithmetic on int64 arrays, and taking elements along one axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ...contract.arguments import Native
from ...core import dtypes as d
from ...core.shape import MAX_NDIM, broadcast_shapes
from ...core.symbolic import DimLike


class Selected:
    """What index arrays select of an array.

    `xp`, `place`: the namespace of the index arrays, and their device.
    `source`: the shape of the array.
    `indices`: for every indexed axis, int64 positions counted from the front, of the shape
    `together`.
    `together`: the shape that the index arrays broadcast to.
    `before`: how many of the other axes stand before those of `together` in the result.
    `shape`: of the result.
    """

    def __init__(
        self,
        xp: Native,
        place: Native,
        source: tuple[int, ...],
        indices: dict[int, Native],
        together: tuple[int, ...],
        before: int,
        distinct: bool,
    ) -> None:
        self.xp = xp
        self.place = place
        self.source = source
        self.indices = indices
        self.together = together
        self.before = before
        self.distinct = distinct
        self.others = [axis for axis in range(len(source)) if axis not in indices]
        rest = [source[axis] for axis in self.others]
        self.shape = (*rest[:before], *together, *rest[before:])

    def read(self, array: Native) -> Native:
        """The selected elements, in memory of their own."""
        xp, axes = self.xp, list(self.indices)
        if axes != list(range(axes[0], axes[-1] + 1)) if axes else False:
            array = xp.permute_dims(array, (*axes, *self.others))
            axes = list(range(len(axes)))
        sizes = tuple(array.shape)
        first, last = (axes[0], axes[-1] + 1) if axes else (0, 0)
        merged = xp.reshape(array, (*sizes[:first], prod(sizes[first:last]), *sizes[last:]))
        taken = xp.take(merged, self._combined(), axis=first)
        taken = xp.reshape(taken, (*sizes[:first], *self.together, *sizes[last:]))
        if first == self.before:
            return taken
        width = len(self.together)
        order = [axis for axis in range(len(self.shape)) if not first <= axis < first + width]
        order[self.before : self.before] = range(first, first + width)
        return xp.permute_dims(taken, tuple(order))

    def _combined(self) -> Native:
        """1-D row-major positions in the indexed axes taken as one."""
        xp = self.xp
        if not self.indices:
            return xp.zeros((prod(self.together),), dtype=xp.int64, device=self.place)
        position: Native = None
        for axis, index in self.indices.items():
            position = index if position is None else position * self.source[axis] + index
        return xp.reshape(position, (-1,))

    def positions(self, offset: int, strides: Sequence[DimLike]) -> Native:
        """Where the selected elements lie in memory that is read with `strides` from `offset`."""
        xp, ndim = self.xp, len(self.shape)
        result = xp.full((1,) * ndim, offset, dtype=xp.int64, device=self.place)
        width = len(self.together)
        for axis, index in self.indices.items():
            sizes = (*(1,) * self.before, *self.together, *(1,) * (ndim - self.before - width))
            result = result + xp.reshape(index * strides[axis], sizes)
        for rank, axis in enumerate(self.others):
            at = rank if rank < self.before else rank + width
            count = self.source[axis]
            steps = xp.arange(count, dtype=xp.int64, device=self.place) * strides[axis]
            result = result + xp.reshape(steps, (*(1,) * at, count, *(1,) * (ndim - at - 1)))
        return xp.broadcast_to(result, self.shape)

    def written(
        self,
        offset: int,
        strides: Sequence[DimLike],
        values: Native,
        *,
        may_look: bool = True,
    ) -> tuple[Native, Native]:
        """1-D positions in memory, all distinct, and the values that end up there.

        `values` is an array of the selected shape, or a scalar that is given back. Where elements
        must not be looked at, as they are not known yet, positions come as often as they are
        selected, each time with the value that ends up there.
        """
        xp = self.xp
        positions = self.positions(offset, strides)
        if isinstance(values, bool | int | float | complex):
            return xp.reshape(positions, (-1,)), values
        width, count = len(self.together), prod(self.together)
        keep: Native = None
        if not self.distinct and count > 1:
            keep = self._last_of_each() if may_look else self._last_for_each()
        if keep is not None:
            whole = range(len(self.shape))
            own = [axis for axis in whole if self.before <= axis < self.before + width]
            rest = [axis for axis in whole if axis not in own]
            flat = (count, *[self.shape[axis] for axis in rest])
            positions, values = [
                xp.reshape(xp.permute_dims(x, (*own, *rest)), flat) for x in (positions, values)
            ]
            values = xp.take(values, keep, axis=0)
            if may_look:
                positions = xp.take(positions, keep, axis=0)
        return xp.reshape(positions, (-1,)), xp.reshape(values, (-1,))

    def _last_of_each(self) -> Native | None:
        """Which of the indices are the last ones for their elements; None if all are."""
        xp = self.xp
        flat = self._combined()
        order = xp.argsort(flat, stable=True)
        ascending = xp.take(flat, order, axis=0)
        differs = ascending[1:] != ascending[:-1]
        if bool(xp.all(differs)):
            return None
        last = xp.concat([differs, xp.ones((1,), dtype=xp.bool, device=self.place)])
        return order[last]

    def _last_for_each(self) -> Native:
        """For each of the indices, which one is the last for the same element."""
        xp = self.xp
        flat = self._combined()
        order = xp.argsort(flat, stable=True)
        ends = xp.searchsorted(xp.take(flat, order, axis=0), flat, side="right")
        return xp.take(order, ends - 1, axis=0)


def in_range(xp: Native, index: Native, size: int) -> Native:
    """`index` with its positions counted from the front; IndexError if one is out of range."""
    if prod(index.shape) == 0:
        return index
    low, high = int(xp.min(index)), int(xp.max(index))
    if low < -size or high >= size:
        wrong = low if low < -size else high
        raise IndexError(f"index {wrong} is out of range for an axis of size {size}")
    return xp.where(index < 0, index + size, index) if low < 0 else index


def resolve(
    xp: Native,
    place: Native,
    shape: tuple[int, ...],
    keys: Sequence[Native | None],
    dtypes: dict[Native, Native],
    in_range: Callable[[Native, int], Native],
) -> Selected:
    """The keys of `Backend.index_get`, with arrays of the engine for handles, as a `Selected`.

    `in_range` gives indices counted from the front, and sees to those out of range.

    Raises IndexError if an index is out of range, or the keys do not broadcast.
    """
    indices: dict[int, Native] = {}
    flags: list[Native] = []
    standing: list[int] = []
    axis = 0
    masks = arrays = 0
    before = None
    for number, key in enumerate(keys):
        if key is None:
            axis += 1
            continue
        standing.append(number)
        if before is None:
            before = axis
        if type(key) is int:
            if key >= shape[axis]:
                raise IndexError(f"index {key} is out of range for an axis of size {shape[axis]}")
            indices[axis] = xp.full((), key, dtype=dtypes[d.int64], device=place)
            axis += 1
        elif key.dtype == dtypes[d.bool]:
            masks += 1
            if len(key.shape) == 0:
                # It indexes no axis: it selects all, or nothing.
                flags.append(xp.zeros((int(bool(key)),), dtype=dtypes[d.int64], device=place))
            else:
                for position in xp.nonzero(key):
                    indices[axis] = position
                    axis += 1
        else:
            arrays += 1
            indices[axis] = in_range(key, shape[axis])
            axis += 1
    try:
        together = broadcast_shapes(*[tuple(x.shape) for x in (*indices.values(), *flags)])
    except ValueError as error:
        raise IndexError(f"index arrays do not broadcast: {error}") from error
    if sum([key is None for key in keys]) + len(shape) - axis + len(together) > MAX_NDIM:
        raise IndexError(f"at most {MAX_NDIM} dimensions may come out")
    neighbours = standing == list(range(standing[0], standing[-1] + 1))
    return Selected(
        xp,
        place,
        shape,
        {axis: xp.broadcast_to(index, together) for axis, index in indices.items()},
        together,
        before if neighbours and before is not None else 0,
        distinct=arrays == 0 and masks == 1,
    )
