"""Handles of the Dask backend: views of storages, and writes through them.

Dask arrays never change. A storage is a cell that holds one, or what will be one; writing puts
another in its place. A handle that shows a part of the storage knows the movements that lead from
the whole to the part. Reading applies them; writing goes the same way back, each movement putting
the new elements into its source. So every handle over a storage sees every write, at
the cost of a few more tasks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Final, NamedTuple, TypeAlias, final

import dask.array as da
import numpy as np

from ...contract.numpy_dtypes import NDArray
from ...core.dtypes import DType
from ...core.layout import Selection
from ...core.symbolic import KnownInts
from ...core.view import View
from .expressions import ArraySource, Expression, Mask, Sizes, StorageValue, bound, counted
from .layers import (
    ChunkIndex,
    Chunks,
    Grid,
    Task,
    by_tasks,
    chunkwise,
    layer,
    positions,
    rechunked,
    starts,
    tidy,
)


class Permute(NamedTuple):
    """The axes in another order."""

    axes: tuple[int, ...]

    def get(self, x: da.Array, grid: Grid) -> da.Array:
        return x.transpose(self.axes)

    def put(self, whole: da.Array, part: da.Array, grid: Grid) -> da.Array:
        return part.transpose(np.argsort(self.axes).tolist())


class Reshape(NamedTuple):
    """The elements in the same order under another shape."""

    shape: tuple[int, ...]

    def get(self, x: da.Array, grid: Grid) -> da.Array:
        return reshaped(x, self.shape, grid)

    def put(self, whole: da.Array, part: da.Array, grid: Grid) -> da.Array:
        return reshaped(part, whole.shape, grid)


class Expand(NamedTuple):
    """Axes of size 1 repeated, from the shape `before`. Arrays derived from it are read-only.

    It is the last movement if it can be: slices and permutations go before it, so that no element
    is repeated that is not shown.
    """

    shape: tuple[int, ...]
    before: tuple[int, ...]

    def get(self, x: da.Array, grid: Grid) -> da.Array:
        return stretched(x, self.shape, grid)

    def put(self, whole: da.Array, part: da.Array, grid: Grid) -> da.Array:
        raise AssertionError("what repeats elements is read-only")


class Slice(NamedTuple):
    """The elements of a basic index."""

    selection: Selection

    def get(self, x: da.Array, grid: Grid) -> da.Array:
        return sliced(x, self.selection)

    def put(self, whole: da.Array, part: da.Array, grid: Grid) -> da.Array:
        return _put_slice(whole, self.selection, part)


class Bitcast(NamedTuple):
    """The bytes read as another dtype."""

    dtype: DType

    def get(self, x: da.Array, grid: Grid) -> da.Array:
        return _bitcast(x, self.dtype)

    def put(self, whole: da.Array, part: da.Array, grid: Grid) -> da.Array:
        return _bitcast(part, whole.dtype)


COUNTED: Final = (
    "computed how many elements the mask selects per chunk: the result's shape depends on it"
)

Movement: TypeAlias = "Permute | Reshape | Expand | Slice | Bitcast"


# ---------------------------------------------------------------------- handles


@final
@dataclass(eq=False, repr=False, slots=True)
class DaskStorage:
    """A cell whose contents handles show.

    `version`: how often it was written.
    `computed`: whether the value is in memory, here or on a cluster.
    `elements`: the elements of the value, if they are here in one piece; to be read only.
    `read_only`: why it cannot be written.
    `notes`: intermediate computations, with their reasons.
    """

    value: StorageValue
    elements: NDArray | None = None
    read_only: str | None = None
    notes: list[str] = field(default_factory=list)
    version: int = field(default=0, init=False)
    computed: bool = field(init=False)

    def __post_init__(self) -> None:
        self.computed = self.elements is not None


class Kept(NamedTuple):
    """The array of a handle, for one version of its storage."""

    version: int
    array: da.Array
    computed: bool
    elements: NDArray | None


@final
@dataclass(eq=False, repr=False, slots=True)
class DaskTensor:
    """The handle of the Dask backend.

    `path`: from the storage's contents to the handle's array.
    `kept`: the array that was read along the path.
    `source`: the version of the storage, and what `value` returned for it.
    """

    storage: DaskStorage
    _view: View | None
    dtype: DType
    path: tuple[Movement, ...] = ()
    kept: Kept | None = field(default=None, init=False)
    source: tuple[int, ArraySource] | None = field(default=None, init=False)

    @property
    def view(self) -> View:
        """How a row-major block would be read to show the same.

        It decides, as on the CPU, which shapes need a copy, and read-only arrays. The first time
        it counts the elements that a mask selects.
        """
        return self.count() if self._view is None else self._view

    def count(self) -> View:
        """Count the elements that a mask selects; returns the `view`."""
        self._view = View.row_major(self.storage.value.shape)
        self.storage.notes.append(COUNTED)
        return self._view

    @property
    def is_counted(self) -> bool:
        """Whether the shape is known already."""
        return self._view is not None

    @property
    def mask(self) -> Mask | None:
        """What selects its elements, if an operation need not know how many there are."""
        value = self.storage.value
        return value.mask if type(value) is Expression and not self.path else None

    @property
    def sizes(self) -> Sizes:
        """The shape, but None in place of what `mask` decides."""
        value = self.storage.value
        return value.sizes if type(value) is Expression and not self.path else self.shape

    @property
    def shape(self) -> tuple[int, ...]:
        shape: KnownInts = self.view.shape
        return shape

    @property
    def is_computed(self) -> bool:
        """Whether the elements are in memory."""
        if not self.path:
            return self.storage.computed
        return self._still_kept is not None and self._still_kept.computed

    @property
    def elements(self) -> NDArray | None:
        """The elements, if they are here in one piece; to be read only."""
        if not self.path:
            return self.storage.elements
        return None if self._still_kept is None else self._still_kept.elements

    @property
    def _still_kept(self) -> Kept | None:
        """The array that was read along the path, unless the storage was written since."""
        kept = self.kept
        return kept if kept is not None and kept.version == self.storage.version else None

    def moved(self, movement: Movement, view: View, dtype: DType | None = None) -> DaskTensor:
        """What `movement` makes of it, over the same storage."""
        path = self.path
        last = path[-1] if path else None
        if type(last) is Expand:
            path = (*path[:-1], *_before_expansion(last, movement))
        else:
            path = (*path, movement)
        # What repeats nothing any more.
        if type(path[-1]) is Expand and path[-1].shape == path[-1].before:
            path = path[:-1]
        return DaskTensor(self.storage, view, dtype or self.dtype, path)

    def expanded(self, shape: tuple[int, ...], view: View) -> DaskTensor:
        """Axes repeated, or put in front, to make `shape`."""
        added = len(shape) - len(self.shape)
        if not added:
            return self.moved(Expand(shape, self.shape), view)
        selection = (*[None] * added, *[(0, n, 1) for n in self.shape])
        unit = self.view.slice(selection)
        assert unit is not None  # nothing here is padding
        return self.moved(Slice(selection), unit).expanded(shape, view)

    def value(self, grid: Grid) -> StorageValue:
        """Its elements as a value, for an operation that can wait."""
        whole = self.storage.value
        if not self.path:
            return whole
        if isinstance(whole, da.Array) or self.is_computed:
            return self.array(grid)
        version = self.storage.version
        if self.source is None or self.source[0] != version:
            # One for all uses in an expression, where it is made once.
            make = partial(followed, whole, self.path, grid)
            self.source = version, ArraySource(make, self.shape, self.dtype)
        return self.source[1]

    def array(self, grid: Grid) -> da.Array:
        """Its elements as a Dask array."""
        storage = self.storage
        if not self.path:
            if self._view is None:
                self.count()
            return bound(storage.value, grid)
        if self._still_kept is not None:
            return self._still_kept.array
        array = followed(storage.value, self.path, grid)
        if isinstance(storage.value, da.Array):
            self.kept = Kept(storage.version, array, False, None)
        return array

    def write(self, value: StorageValue, grid: Grid) -> None:
        """Put other elements, of the same shape and dtype, in place of its own."""
        storage = self.storage
        if not self.view.size:
            return
        if self.path:
            array = bound(storage.value, grid)
            wholes = []
            for movement in self.path:
                wholes.append(array)
                array = movement.get(array, grid)
            part = bound(value, grid)
            for whole, movement in zip(reversed(wholes), reversed(self.path), strict=True):
                part = movement.put(whole, part, grid)
            value = part
        storage.value = value
        storage.version += 1
        storage.computed = False
        storage.elements = None

    def keep(self, array: da.Array, elements: NDArray | None = None) -> None:
        """Read `array`, the same elements in memory, from now on."""
        if self.path:
            self.kept = Kept(self.storage.version, array, True, elements)
        else:
            value = counted(self.storage.value)
            if elements is not None and not isinstance(value, da.Array):
                # Those that wait for it read it as well.
                value.array = array
            self.storage.value = array
            self.storage.computed = True
            self.storage.elements = elements


def _before_expansion(last: Expand, movement: Movement) -> tuple[Movement, ...]:
    """`last` and then `movement`, with the expansion as late as possible."""
    before, shape = last.before, last.shape
    if type(movement) is Expand:
        return (Expand(movement.shape, before),)
    if type(movement) is Permute:
        moved = [tuple([sizes[axis] for axis in movement.axes]) for sizes in (shape, before)]
        return movement, Expand(*moved)
    if type(movement) is not Slice:
        return last, movement
    selection: list[int | tuple[int, int, int] | None] = []
    expanded: list[int] = []
    kept: list[int] = []
    sizes = iter(zip(before, shape, strict=True))
    for item in movement.selection:
        repeated = False
        if item is not None:
            own, size = next(sizes)
            repeated = own != size
        if item is None or isinstance(item, tuple):
            count = 1 if item is None else item[1]
            expanded.append(count)
            kept.append(1 if repeated else count)
            selection.append((0, 1, 1) if repeated else item)
        else:
            selection.append(0 if repeated else item)
    return Slice(tuple(selection)), Expand(tuple(expanded), tuple(kept))


def followed(whole: StorageValue, path: tuple[Movement, ...], grid: Grid) -> da.Array:
    """What `path` leads to from `whole`."""
    array = None
    if path and type(path[0]) is Reshape and type(whole) is ArraySource:
        array = _cut_for(whole, path[0].shape, grid)
    if array is None:
        array = bound(whole, grid)
    for movement in path:
        array = movement.get(array, grid)
    return array


def _cut_for(source: ArraySource, shape: tuple[int, ...], grid: Grid) -> da.Array | None:
    """A 1-D source in chunks that are whole rows of `shape`, so that none has to be cut again.

    None if that is impossible, or one chunk holds it all.
    """
    if source.make_cut is None or len(source.shape) != 1 or len(shape) < 2:
        return None
    row, itemsize = prod(shape[1:]), source.dtype.itemsize
    if row * itemsize > grid.limit or source.shape[0] * itemsize <= grid.limit:
        return None
    (rows, _) = grid.chunks((shape[0], row), source.dtype, (1,))
    return source.make_cut((tuple([n * row for n in rows]),))


# ---------------------------------------------------------------------- movements of Dask arrays


def _empty(shape: tuple[int, ...], dtype: DType) -> da.Array:
    return da.from_array(np.empty(shape, dtype), chunks=-1, name=False)


def reshaped(x: da.Array, shape: tuple[int, ...], grid: Grid) -> da.Array:
    """`x` under another shape."""
    if x.shape == shape:
        return x
    if not x.size:
        return _empty(shape, x.dtype)
    # Axes of size 1 come and go by themselves, and chunks stay as they are.
    if [n for n in x.shape if n != 1] == [n for n in shape if n != 1]:
        long = [axis for axis, n in enumerate(x.shape) if n != 1]
        x = x[tuple([slice(None) if axis in long else 0 for axis in range(x.ndim)])]
        return x[tuple([slice(None) if n != 1 else None for n in shape])]
    x = tidy(x)
    with by_tasks():
        try:
            return da.reshape(x, shape, limit=grid.limit)
        except NotImplementedError:
            # Dask merges axes and splits them, but not both at a time.
            return da.reshape(da.reshape(x, (x.size,)), shape, limit=grid.limit)


def stretched(x: da.Array, shape: tuple[int, ...], grid: Grid) -> da.Array:
    """`x` with axes repeated, or put in front."""
    if x.shape == shape:
        return x
    if not prod(shape):
        return _empty(shape, x.dtype)
    own: list[tuple[int, ...]] = [(1,)] * (len(shape) - x.ndim) + list(x.chunks)
    cut = grid.chunks(shape, x.dtype)
    chunks = [c if sum(c) == n else new for c, n, new in zip(own, shape, cut, strict=True)]
    return da.broadcast_to(x, shape, chunks=tuple(chunks))


def sliced(x: da.Array, selection: Selection) -> da.Array:
    """The elements of a basic index."""
    keys: list[int | slice | None] = []
    for item in selection:
        if not isinstance(item, tuple):
            keys.append(item)
            continue
        start, count, step = item
        end = start + count * step
        # Before the first element there is no index to end at.
        keys.append(slice(start, end if end >= 0 else None, step) if count else slice(0, 0))
    return tidy(x[tuple(keys)])


def _put_slice(whole: da.Array, selection: Selection, part: da.Array) -> da.Array:
    """`whole` with `part` where `selection` selects."""
    if not part.size:
        return whole
    # As many axes as `whole` has, going up.
    squeezed: list[int | slice | None] = []
    ranges: list[tuple[int, int, int]] = []
    for item in selection:
        if item is None:
            squeezed.append(0)
        elif isinstance(item, int):
            squeezed.append(None)
            ranges.append((item, 1, 1))
        else:
            start, count, step = item
            if step < 0:
                squeezed.append(slice(None, None, -1))
                ranges.append((start + (count - 1) * step, count, -step))
            else:
                squeezed.append(slice(None))
                ranges.append((start, count, max(step, 1)))
    whole = tidy(whole)
    part = part[tuple(squeezed)]
    # Per axis and chunk of `whole`: what of it is written, and with which chunk of `part`.
    axes: list[list[tuple[slice, int] | None]] = []
    cuts: list[tuple[int, ...]] = []
    for sizes, (start, count, step) in zip(whole.chunks, ranges, strict=True):
        places: list[tuple[slice, int] | None] = []
        cut: list[int] = []
        for begin, size in zip(starts(sizes), sizes, strict=True):
            first = max(0, -((start - begin) // step))  # the first element of it in this chunk
            end = min(count, -((start - begin - size) // step))
            if first < end:
                low = start + first * step - begin
                places.append((slice(low, low + (end - first - 1) * step + 1, step), len(cut)))
                cut.append(end - first)
            else:
                places.append(None)
        axes.append(places)
        cuts.append(tuple(cut))
    part = rechunked(part, tuple(cuts))
    tasks: dict[ChunkIndex, Task] = {}
    for index in positions(whole.numblocks):
        places = [places[i] for i, places in zip(index, axes, strict=True)]
        found = [place for place in places if place is not None]
        key = (whole.name, *index)
        if len(found) < len(places):
            tasks[index] = key
        else:
            where = tuple([place[0] for place in found])
            source = (part.name, *[place[1] for place in found])
            tasks[index] = (partial(_write, where), key, source)
    return layer("assign", tasks, [whole, part], whole.chunks, whole.dtype)


def _write(where: tuple[slice, ...], whole: NDArray, part: NDArray) -> NDArray:
    result = np.array(whole)
    result[where] = part
    return result


def _bitcast(x: da.Array, dtype: DType) -> da.Array:
    old, new = x.dtype.itemsize, dtype.itemsize
    chunks: Chunks = x.chunks
    if old != new:
        if any([n * old % new for n in x.chunks[-1]]):
            x = rechunked(x, {x.ndim - 1: -1})
        chunks = (*x.chunks[:-1], tuple([n * old // new for n in x.chunks[-1]]))
    return chunkwise("bitcast", partial(_view, dtype), [x], chunks, dtype)


def _view(dtype: DType, chunk: NDArray) -> NDArray:
    if chunk.dtype.itemsize == dtype.itemsize:
        return chunk.view(dtype)
    return np.ascontiguousarray(chunk).view(dtype)
