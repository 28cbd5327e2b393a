"""Index keys, normalised once.

A key is what stands between the brackets of ``x[...]``. Its basic items (ints, slices, None,
ellipsis) become a `Selection`, which a view turns into another view; its index arrays become a
list aligned with the axes of that view. Everything is checked and counted from the front here, so
that no layer below looks at a Python index again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias, final

from .layout import Selection
from .shape import MAX_NDIM, as_int, index_of
from .symbolic import Dim

Key: TypeAlias = Any
"""What stands between the brackets, or an item of it: anything that a user writes there. It is told
apart by its exact type, which type checkers do not follow through a variable."""


class IndexArray(NamedTuple):
    """An index array inside a key.

    payload: The array; opaque to this module.
    mask_shape: The shape of a boolean mask, which takes as many axes as it has; None for integers,
        which take one axis.
    """

    payload: object
    mask_shape: tuple[int, ...] | None


@final
class KnownSelection(tuple[int | tuple[int, int, int] | None, ...]):
    """A selection that is compared by identity.

    It is kept and handed out again for the same key, and views find what it gave the last time
    without hashing its parts.
    """

    __slots__ = ()
    __hash__ = object.__hash__
    __eq__ = object.__eq__


_BOUNDS: Final = frozenset({int, type(None)})
_BASIC_TYPES: Final = _BOUNDS | {type(Ellipsis)}


def hashable_key(key: Key) -> object:
    """A stand-in for the basic index `key` to look it up by, or None if it has other items.

    Slices become triples (slice objects cannot be hashed before Python 3.12), if their bounds are
    plain ints: floats are equal to ints, but no bounds.
    """
    kind = type(key)
    if kind is tuple:
        items = []
        for item in key:
            if type(item) is slice:
                bounds = item.start, item.stop, item.step
                if not _BOUNDS.issuperset(map(type, bounds)):
                    return None
                items.append(bounds)
            elif type(item) in _BASIC_TYPES:
                items.append(item)
            else:
                return None
        return tuple(items)
    if kind is int or key is Ellipsis:
        return key
    if key is None:
        return (None,)
    if kind is slice:
        bounds = key.start, key.stop, key.step
        return ("slice", *bounds) if _BOUNDS.issuperset(map(type, bounds)) else None
    return None


def basic_selection(key: object, shape: tuple[int, ...]) -> Selection:
    """The selection that a key of ints, slices, None and at most one ellipsis makes.

    IndexError: If an int is out of range, or the key has more items than the array has axes, more
        than one ellipsis, or an item of another type.
    ValueError: If a slice has step 0.
    """
    selection, indices = mixed_selection(key if type(key) is tuple else (key,), shape)
    assert indices is None
    return selection


def mixed_selection(
    items: Sequence[Key], shape: tuple[int, ...]
) -> tuple[Selection, list[object] | None]:
    """Split a key into its basic part and its index arrays.

    items: Ints, slices, None, at most one ellipsis, and `IndexArray` objects.
    shape: The shape of the indexed array.
    Returns: The basic part; the axes that index arrays take are kept whole.
    Returns: None without index arrays. Otherwise one entry per axis of the selected view: None
        where the axis was sliced, the int or the payload that indexes it. A mask of several axes
        stands at its first and is followed by nothing for the others, as NumPy's keys are. Beside
        index arrays an int takes part in broadcasting, so it is an entry and drops no axis.
    IndexError, ValueError: As `basic_selection`; also if a mask's shape differs from that of the
        axes it takes.
    """
    arrays = [item for item in items if type(item) is IndexArray]
    taken = sum([1 if a.mask_shape is None else len(a.mask_shape) for a in arrays])
    ellipses = sum([item is Ellipsis for item in items])
    named = len(items) - len(arrays) - ellipses - sum([item is None for item in items]) + taken
    if ellipses > 1:
        raise IndexError("an index may hold only one ellipsis (...); write the others as slices")
    if named > len(shape):
        raise IndexError(
            f"the index names {named} axes, but the array has {len(shape)}: shape {shape}; "
            "leave out the others"
        )
    selection: list[int | tuple[int, int, int] | None] = []
    indices: list[object] = []
    axis = 0

    def keep(count: int) -> None:
        nonlocal axis
        for size in shape[axis : axis + count]:
            selection.append((0, size, 1))
            indices.append(None)
        axis += count

    for item in items:
        kind = type(item)
        if item is None:
            selection.append(None)
            indices.append(None)
        elif item is Ellipsis:
            keep(len(shape) - named)
        elif kind is slice:
            selection.append(_slice_range(item, shape[axis]))
            indices.append(None)
            axis += 1
        elif kind is IndexArray:
            count = 1 if item.mask_shape is None else len(item.mask_shape)
            covered = shape[axis : axis + count]
            if item.mask_shape is not None and not _mask_fits(item.mask_shape, covered):
                raise IndexError(
                    f"a mask of shape {item.mask_shape} does not match the axes of shape "
                    f"{covered} that it indexes; broadcast it with broadcast_to"
                )
            selection += [(0, size, 1) for size in covered]
            indices.append(item.payload)
            axis += count
        else:
            position = _position(item, shape[axis], axis)
            if arrays:
                selection.append((0, shape[axis], 1))
                indices.append(position)
            else:
                selection.append(position)
            axis += 1
    keep(len(shape) - axis)
    ndim = sum([type(item) is not int for item in selection])
    if ndim > MAX_NDIM:
        raise IndexError(
            f"an array has at most {MAX_NDIM} dimensions, but the index makes {ndim}; "
            "leave out some of its Nones"
        )
    return tuple(selection), indices if arrays else None


def _mask_fits(mask: tuple[int, ...], covered: tuple[int, ...]) -> bool:
    """Whether a mask has the shape of the axes it takes; 0 fits every size, and selects nothing."""
    return mask == covered or all([m in (n, 0) for m, n in zip(mask, covered, strict=True)])


def _key_advice(item: Key) -> str:
    if isinstance(item, float):
        return "convert it with int()"
    if isinstance(item, str | bytes):
        return "axes have no names here: give the position, names.index(name) of a list of names"
    return "convert sequences with asarray, and arrays of other libraries too"


def _position(item: Key, size: int, axis: int) -> int:
    try:
        position: int = item if type(item) is Dim else index_of(item)  # type: ignore[assignment]
    except TypeError:
        raise IndexError(
            "an index must be an int, a slice, None, an ellipsis (...) or an array of integers "
            f"or booleans, not {type(item).__name__}; {_key_advice(item)}"
        ) from None
    if not -size <= position < size:
        legal = f"from {-size} to {size - 1}" if size else "none"
        raise IndexError(
            f"index {position} is out of range for axis {axis} of size {size}; legal: {legal}"
        )
    return position + size if position < 0 else position


def _slice_range(item: slice, size: int) -> tuple[int, int, int]:
    if Dim in (type(size), type(item.start), type(item.stop)):
        return _symbolic_range(item, size)
    try:
        start, stop, step = item.indices(size)
    except TypeError:
        raise IndexError(
            f"the bounds of a slice must be ints or None, but it is {item}; convert them with int()"
        ) from None
    except ValueError:
        raise ValueError("the step of a slice must not be 0; leave it out to take all") from None
    return start, len(range(start, stop, step)), step


def _symbolic_range(item: slice, size: int) -> tuple[int, int, int]:
    """`_slice_range` for a symbolic size or bound; what bounds leave open is asked."""
    step = 1 if item.step is None else as_int(item.step, "the step of a slice")
    if step == 0:
        raise ValueError("the step of a slice must not be 0; leave it out to take all")
    lowest, highest = (0, size) if step > 0 else (-1, size - 1)

    def bound(given: object, default: int) -> int:
        if given is None:
            return default
        position = as_int(given, "the bound of a slice")
        if position < 0:
            position = position + size
            return lowest if position < lowest else position
        return highest if position > highest else position

    start = bound(item.start, lowest if step > 0 else highest)
    stop = bound(item.stop, highest if step > 0 else lowest)
    distance = stop - start if step > 0 else start - stop
    count = -(-distance // abs(step))
    return (start, count, step) if distance > 0 else (start, 0, step)
