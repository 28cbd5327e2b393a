"""Views: how a flat block of memory reads as a multi-dimensional array.

A `View` is metadata only: a shape, a stride per axis and an offset (both in elements), and at
most one box of valid indices, the mask. Transforms return views and never touch memory. Three
answers are possible: a view; ``None``, when the arguments are right but no view can express the
result (a copy can); an exception, when the arguments are wrong.

Views are interned and their transforms memoised, because the same few shapes come by again and
again: a repeated transform is one dictionary lookup. The number of both is bounded; at the bound
all are forgotten, which costs time and never correctness. Views of symbolic sizes are not interned,
and take what they remember along when they go.

Sizes and strides are ints, or `Dim` expressions (core/symbolic.py) in views of unknown size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any, Final, TypeAlias, TypeVar, final

from .frozen import Frozen, set_slot
from .layout import Mask, has_solution, merged_axes, reshaped_layout
from .symbolic import Dim, SymbolicShape, deciding
from .symbolic_layout import (
    SymbolicSelection,
    checked_layout,
    checked_shape,
    expanded_layout,
    has_repeats,
    is_concrete,
    is_packed,
    is_static_selection,
    packed_order,
    regrouped,
    row_major_strides,
    sliced_layout,
    text_of,
    whole_box,
)

Size: TypeAlias = "int | Dim"
Shape: TypeAlias = "tuple[Size, ...]"

_MAX_VIEWS: Final = 1 << 14
_MAX_MEMOS: Final = 1 << 15

_interned: Final[dict[tuple[object, ...], View]] = {}
_row_major_views: Final[dict[Shape, View]] = {}
_K = TypeVar("_K")
_V = TypeVar("_V", "View", "View | None")

_filled: Final[list[dict[Any, Any]]] = []
"""The memo that each remembered transform went into, so that all can be emptied together."""


def _remembered(memo: str) -> Callable[[Callable[[View, _K], _V]], Callable[[View, _K], _V]]:
    """A decorator of a transform: what it gives is kept in the memo of that name."""

    def decorate(transform: Callable[[View, _K], _V]) -> Callable[[View, _K], _V]:
        @wraps(transform)
        def found(self: View, given: _K) -> _V:
            known: dict[_K, _V] = getattr(self, memo)
            try:
                return known[given]
            except KeyError:
                view = transform(self, given)
                if self.is_static:
                    return _remember(known, given, view)
                known[given] = view
                return view

        return found

    return decorate


@final
class View(Frozen):
    """An immutable description of an array's layout in a flat block of memory.

    Equal by value, hashable, and interned: equal views without symbolic sizes are mostly the same
    object. A read-only view is not equal to one that can be written, so that no memo gives one for
    the other.

    shape: Sizes, none negative.
    strides: Elements to step per axis; 0 repeats, a negative stride runs backwards. Row-major if
        not given; for symbolic sizes these are products of dimensions.
    offset: Position of the element at index (0, ..., 0). It may lie outside the block where a mask
        hides that element. Forced to 0 for a view without elements.
    mask: Half-open range of valid indices per axis; what lies outside is padding and has no memory.
        A mask that covers everything is dropped, as is that of a view without elements.
    ndim: Number of axes.
    size: Number of elements, padding included; a Dim if any size is symbolic.
    is_static: Whether no size, no stride and not the offset is symbolic.
    has_repeats: Whether elements share memory: an axis of size over 1 has stride 0.
    is_read_only: Whether this view repeats elements, was derived from a view that does, or was made
        read-only by the argument. A write to one of its elements would show in other elements of
        some array. A view without elements never is: there is nothing to write.
    is_row_major, is_column_major: Whether the elements follow each other in memory in C order, or
        in Fortran order, wherever they begin.
    byte_layouts, reshaped, expanded, permuted, sliced, flipped: What `byte_layout` and the
        transforms gave so far, by their argument. A caller in a hurry looks here first.
    """

    __slots__ = (
        "__weakref__",
        "_hash",
        "byte_layouts",
        "expanded",
        "flipped",
        "has_repeats",
        "is_column_major",
        "is_read_only",
        "is_row_major",
        "is_static",
        "mask",
        "ndim",
        "offset",
        "permuted",
        "reshaped",
        "shape",
        "size",
        "sliced",
        "strides",
    )

    shape: Shape
    strides: Shape
    offset: Size
    mask: Mask | None
    ndim: int
    size: Size
    is_static: bool
    has_repeats: bool
    is_read_only: bool
    reshaped: dict[Shape, View | None]
    expanded: dict[Shape, View]
    permuted: dict[tuple[int, ...], View]
    sliced: dict[SymbolicSelection, View | None]
    flipped: dict[tuple[bool, ...], View]
    _hash: int
    is_row_major: bool
    is_column_major: bool
    byte_layouts: dict[int, tuple[int, tuple[int, ...]]]

    def __new__(
        cls,
        shape: Sequence[Size],
        strides: Sequence[Size] | None = None,
        offset: Size = 0,
        mask: Sequence[tuple[int, int]] | None = None,
        is_read_only: bool = False,
    ) -> View:
        shape, strides, offset, mask = checked_layout(shape, strides, offset, mask)
        return _make(shape, strides, offset, mask, is_read_only)

    @staticmethod
    def row_major(shape: Sequence[Size]) -> View:
        """The view whose last axis is stored contiguously (C order)."""
        shape = tuple(shape)
        try:
            return _row_major_views[shape]
        except KeyError:
            view = View(shape)
            return _remember(_row_major_views, shape, view) if view.is_static else view

    @staticmethod
    def column_major(shape: Sequence[Size]) -> View:
        """The view whose first axis is stored contiguously (Fortran order)."""
        shape = tuple(shape)
        return View(shape, row_major_strides(shape[::-1])[::-1])

    # ------------------------------------------------------------------ value semantics

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not View:
            return NotImplemented
        return self.is_read_only is other.is_read_only and (
            (self.shape, self.strides, self.offset, self.mask)
            == (other.shape, other.strides, other.offset, other.mask)
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        mask = "" if self.mask is None else f", mask={self.mask}"
        offset = f", offset={self.offset}" if self.offset else ""
        # Repeated elements say it by themselves.
        inherited = ", is_read_only=True" if self.is_read_only and not self.has_repeats else ""
        return (
            f"View({text_of(self.shape)}, strides={text_of(self.strides)}{offset}{mask}{inherited})"
        )

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return View, (self.shape, self.strides, self.offset, self.mask, self.is_read_only)

    # ------------------------------------------------------------------ properties

    def byte_layout(self, itemsize: int) -> tuple[int, tuple[int, ...]]:
        """Offset and strides in bytes, for elements of `itemsize` bytes."""
        try:
            return self.byte_layouts[itemsize]
        except KeyError:
            _, steps, offset = self._concrete("byte_layout")
            layout = offset * itemsize, tuple([step * itemsize for step in steps])
            # There are only a few sizes of elements, so that this needs no bound.
            self.byte_layouts[itemsize] = layout
            return layout

    @property
    def packed_order(self) -> tuple[int, ...] | None:
        """The order of axes in which this unmasked view is row-major; None if there is none."""
        return None if self.mask else packed_order(self.shape, self.strides)

    @property
    def is_materializable(self) -> bool:
        """Whether the elements can be laid out now: concrete sizes and no mask."""
        return self.is_static and self.mask is None

    @property
    def read_only_reason(self) -> str | None:
        """Why this view is read-only, whatever the memory; None if it is not."""
        if self.has_repeats:
            return "several of its elements share memory, as after broadcast_to"
        if self.is_read_only:
            return "it is a view of an array with repeated elements, as after broadcast_to"
        return None if self.mask is None else "part of it is padding, which has no memory"

    @property
    def extent(self) -> tuple[int, int]:
        """The half-open range of positions that the valid elements touch; (0, 0) for none.

        ValueError: If a size is symbolic.
        """
        shape, strides, low = self._concrete("extent")
        high = low
        for (start, end), stride in zip(self.mask or whole_box(shape), strides, strict=True):
            if start == end:
                return 0, 0
            ends = start * stride, (end - 1) * stride
            low += min(ends)
            high += max(ends)
        return low, high + 1

    def check_fits(self, length: int) -> None:
        """Raise ValueError unless every valid element lies in a block of `length` elements."""
        low, high = self.extent
        if low < 0 or high > length:
            raise ValueError(
                f"{self!r} reaches positions {low} to {high - 1}, outside a block of {length} "
                "elements; give strides and an offset that stay inside"
            )

    # ------------------------------------------------------------------ transforms

    @_remembered("reshaped")
    def reshape(self, shape: Shape) -> View | None:
        """The same elements in the same order under another shape.

        shape: Sizes whose product is this view's size.
        Returns: None if the elements' positions follow no strides in the new shape (as after most
            permutations), or if the mask is cut across.
        ValueError: If the numbers of elements differ.
        """
        shape = checked_shape(shape)
        if shape == self.shape:
            return self
        size = prod(shape)
        if size != self.size:
            raise ValueError(
                f"cannot reshape {text_of(self.shape)} into {text_of(shape)}: {self.size} elements "
                f"cannot become {size}; give sizes whose product is {self.size}"
            )
        if self.is_row_major:  # as is every view without elements
            return _make(shape, row_major_strides(shape), self.offset, None, self.is_read_only)
        if not (self.is_static and is_concrete(shape)):
            strides_now = None if self.mask else regrouped(self.shape, self.strides, shape)
            if strides_now is None:
                return None
            return _make(shape, strides_now, self.offset, None, self.is_read_only)
        old_shape, old_strides, _ = self._concrete("reshape")
        found = reshaped_layout(old_shape, old_strides, self.mask, shape)
        if found is None:
            return None
        return _make(shape, found[0], self.offset, found[1], self.is_read_only)

    @_remembered("expanded")
    def expand(self, shape: Shape) -> View:
        """Axes of size 1 repeated to the sizes of `shape`, and new axes put in front.

        ValueError: If an axis of another size than 1 would change, or dimensions would be lost.
        """
        shape = checked_shape(shape)
        if shape == self.shape:
            return self
        strides, mask = expanded_layout(self.shape, self.strides, self.mask, shape)
        return _make(shape, strides, self.offset, mask, self.is_read_only)

    @_remembered("permuted")
    def permute(self, axes: tuple[int, ...]) -> View:
        """Axes in another order: axis i of the result is axis ``axes[i]`` of this view.

        ValueError: If `axes` is not a permutation of the axes, counted from the front.
        """
        if sorted(axes) != list(range(self.ndim)):
            raise ValueError(
                f"axes {axes} are no permutation of the {self.ndim} axes of the array; "
                f"name each of {tuple(range(self.ndim))} once"
            )
        return _make(
            tuple([self.shape[axis] for axis in axes]),
            tuple([self.strides[axis] for axis in axes]),
            self.offset,
            tuple([self.mask[axis] for axis in axes]) if self.mask else None,
            self.is_read_only,
        )

    def shrink(self, bounds: tuple[tuple[int, int], ...]) -> View:
        """The box of indices ``start <= i < end`` per axis.

        ValueError: If a size is symbolic, or a range does not lie within its axis.
        """
        self._concrete("shrink")
        if len(bounds) != self.ndim:
            raise ValueError(f"{len(bounds)} ranges do not fit {self.ndim} dimensions")
        for (start, end), size in zip(bounds, self.shape, strict=True):
            if not 0 <= start <= end <= size:
                raise ValueError(
                    f"range ({start}, {end}) does not lie within an axis of size {size}; "
                    "give 0 <= start <= end <= size"
                )
        view = self.slice(tuple([(start, end - start, 1) for start, end in bounds]))
        assert view is not None  # only a dropped axis can make a slice inexpressible
        return view

    @_remembered("sliced")
    def slice(self, selection: SymbolicSelection) -> View | None:
        """The elements that a normalised basic index selects.

        selection: See `Selection`. Indices and (start, count, step) lie within the axes.
        Returns: None if an index that drops its axis points into padding.
        ValueError: If a size is symbolic, or an item does not lie within its axis.
        """
        if self.mask and not is_static_selection(selection):
            raise ValueError(f"cannot slice the masked {self!r} by symbolic sizes")
        found = sliced_layout(self.shape, self.strides, self.offset, self.mask, selection)
        return None if found is None else _make(*found, self.is_read_only)

    def pad(self, padding: tuple[tuple[int, int], ...]) -> View:
        """Each axis extended by (before, after) elements of padding, which have no memory.

        ValueError: If a size is symbolic, or an amount is negative.
        """
        old_shape, strides, offset = self._concrete("pad")
        if len(padding) != self.ndim:
            raise ValueError(f"{len(padding)} pairs do not fit {self.ndim} dimensions")
        if any([before < 0 or after < 0 for before, after in padding]):
            raise ValueError(f"padding must not be negative, but is {padding}; shrink instead")
        shape, mask = [], []
        for (before, after), (start, end), size, stride in zip(
            padding, self.mask or whole_box(old_shape), old_shape, strides, strict=True
        ):
            offset -= before * stride
            shape.append(size + before + after)
            mask.append((start + before, end + before))
        return _make(tuple(shape), strides, offset, tuple(mask), self.is_read_only)

    @_remembered("flipped")
    def flip(self, axes: tuple[bool, ...]) -> View:
        """The axes marked True reversed."""
        if len(axes) != self.ndim:
            raise ValueError(f"{len(axes)} marks do not fit {self.ndim} dimensions")
        view = self.slice(
            tuple(
                [
                    (size - 1, size, -1) if flipped and size != 0 else (0, size, 1)
                    for flipped, size in zip(axes, self.shape, strict=True)
                ]
            )
        )
        assert view is not None  # only a dropped axis can make a slice inexpressible
        return view

    def as_read_only(self) -> View:
        """The same elements, not to be written through this view nor one derived from it."""
        return _make(self.shape, self.strides, self.offset, self.mask, True)

    def at(self, sizes: Shape, offset: int = 0) -> View:
        """This unmasked view with numbers for its shape, strides and offset, `offset` further on.

        sizes: The values of ``(*shape, *strides, offset)``.
        """
        n = self.ndim
        return _make(sizes[:n], sizes[n:-1], sizes[-1] + offset, None, self.is_read_only)

    def merge_axes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shape and strides with the fewest axes that visit the same elements in the same order.

        Size-1 axes go, and neighbours that step through memory as one axis are merged. A kernel
        that loops over the result does the least work per element.

        ValueError: If a size is symbolic, or the view is masked.
        """
        sizes, steps, _ = self._concrete("merge_axes")
        if self.mask:
            raise ValueError("cannot merge the axes of a masked view; shrink it to its mask first")
        return merged_axes(sizes, steps)

    def overlaps(self, other: View) -> bool:
        """Whether an element of this view and one of `other` may share a position.

        False is a proof. True is exact as well, except where the search for a common position
        would take too long (many axes with unfavourable strides).

        ValueError: If a size is symbolic.
        """
        low, high = self.extent
        other_low, other_high = other.extent
        if low == high or other_low == other_high or high <= other_low or other_high <= low:
            return False
        # A common position solves sum(step * i) = distance with 0 <= i <= bound for every axis
        # of both views, all taken forwards from the lowest position.
        # Axes of equal step add up to one. `other`'s indices count down from its highest
        # position, so that signs agree.
        bounds: dict[int, int] = {}
        for step, bound in (*_forward_steps(self), *_forward_steps(other)):
            bounds[step] = bounds.get(step, 0) + bound
        return has_solution(sorted(bounds.items(), reverse=True), other_high - 1 - low)

    # ------------------------------------------------------------------ helpers

    def _concrete(self, what: str) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """Shape, strides and offset, for what works on numbers alone."""
        shape, strides, offset = self.shape, self.strides, self.offset
        if not (is_concrete(shape) and is_concrete(strides) and type(offset) is int):
            names = ", ".join([str(v) for v in SymbolicShape((*shape, *strides, offset)).vars])
            raise ValueError(
                f"{what} needs concrete sizes, but {self!r} has symbolic ones; bind {names} first"
            )
        return shape, strides, offset


def _make(
    shape: Shape, strides: Shape, offset: Size, mask: Mask | None, is_read_only: bool
) -> View:
    """The view with these (checked) parts, interned if nothing of it is symbolic."""
    if not (is_concrete(shape) and is_concrete(strides) and type(offset) is int):
        # Only what the expressions show counts; no decider is asked.
        with deciding(None):
            return _new(*_normal(shape, strides, offset, mask, is_read_only), is_static=False)
    given = (shape, strides, offset, mask, is_read_only)
    view = _interned.get(given)
    if view is not None:
        return view
    if len(_interned) >= _MAX_VIEWS:
        _interned.clear()
    key = _normal(*given)
    view = _interned.get(key)
    if view is None:
        view = _interned.setdefault(key, _new(*key, is_static=True))
    # Both keys lead to the one view.
    return _interned.setdefault(given, view)


_Parts: TypeAlias = "tuple[Shape, Shape, Size, Mask | None, bool]"


def _normal(
    shape: Shape, strides: Shape, offset: Size, mask: Mask | None, is_read_only: bool
) -> _Parts:
    """The parts of a view as `View` describes them; read-only also where elements repeat."""
    if prod(shape) == 0:
        return shape, strides, 0, None, False
    if mask is not None and all([r == (0, n) for r, n in zip(mask, shape, strict=True)]):
        mask = None
    return shape, strides, offset, mask, is_read_only or has_repeats(shape, strides)


def _new(
    shape: Shape,
    strides: Shape,
    offset: Size,
    mask: Mask | None,
    is_read_only: bool,
    *,
    is_static: bool,
) -> View:
    size = prod(shape)
    view = object.__new__(View)
    set_slot(view, "shape", shape)
    set_slot(view, "strides", strides)
    set_slot(view, "offset", offset)
    set_slot(view, "mask", mask)
    set_slot(view, "ndim", len(shape))
    set_slot(view, "is_static", is_static)
    set_slot(view, "_hash", hash((shape, strides, offset, mask, is_read_only)))
    set_slot(view, "size", size)
    set_slot(view, "is_row_major", mask is None and is_packed(shape, strides, size))
    set_slot(view, "is_column_major", mask is None and is_packed(shape[::-1], strides[::-1], size))
    set_slot(view, "has_repeats", size != 0 and has_repeats(shape, strides))
    set_slot(view, "is_read_only", is_read_only)
    for memo in ("byte_layouts", "reshaped", "expanded", "permuted", "sliced", "flipped"):
        set_slot(view, memo, {})
    return view


def _remember(memo: dict[_K, _V], key: _K, view: _V) -> _V:
    if len(_filled) >= _MAX_MEMOS:
        for filled in _filled:
            filled.clear()
        _filled.clear()
    _filled.append(memo)
    memo[key] = view
    return view


def _forward_steps(view: View) -> list[tuple[int, int]]:
    """(step, highest index) of the axes that move, all taken forwards; repeats do not move."""
    shape, strides, _ = view._concrete("overlaps")
    return [
        (abs(stride), end - start - 1)
        for (start, end), stride in zip(view.mask or whole_box(shape), strides, strict=True)
        if stride and end - start > 1
    ]
