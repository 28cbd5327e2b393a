"""Shapes and axes: the checks that the frontend makes once, so that backends never do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from operator import index
from typing import Final, TypeGuard, TypeVar

from .symbolic import Dim, DimLike, Sizes

MAX_NDIM = 64
"""Most dimensions an array may have (NumPy's limit, which every engine below it shares)."""

MAX_SIZE = 2**63 - 1
"""Most bytes, and so most elements, that an array may span."""

_HARMLESS = 2**40

_Size = TypeVar("_Size", int, DimLike)

index_of: Final[Callable[[object], int]] = index  # type: ignore[assignment]
"""`operator.index`, for what need not be an integer: then its TypeError is the point."""


def as_shape(shape: int | Iterable[int]) -> tuple[int, ...]:
    """`shape` as a tuple of sizes; dimensions that are symbolic stay so.

    TypeError: If it is not an int or a sequence of ints.
    ValueError: If a size is negative, there are more than 64 dimensions, or the number of elements
        overflows.
    """
    if type(shape) is tuple:
        # The common case: plain ints, and not too many elements to worry about.
        size = 1
        for n in shape:
            if type(n) is not int or n < 0:
                break
            size *= n or 1
        else:
            if size <= _HARMLESS and len(shape) <= MAX_NDIM:
                return shape
    try:
        sizes = tuple([size if _is_symbolic(size) else index_of(size) for size in _several(shape)])
    except TypeError:
        raise TypeError(
            f"a shape must be an int or a tuple of ints, not {shape!r}; convert sizes with int()"
        ) from None
    check_shape(sizes)
    return sizes


def as_counts(values: int | Iterable[int], name: str) -> tuple[int, ...]:
    """One or several counts as a tuple; see `as_count`."""
    return tuple([as_count(value, name) for value in _several(values)])


def _several(values: object) -> Iterable[object]:
    # 0-d arrays are ints here, although they have an __iter__.
    return values if isinstance(values, Iterable) and not _is_int(values) else (values,)


def _is_symbolic(size: object) -> TypeGuard[int]:
    """Whether `size` is a Dim, which for type checkers stands as an int in shapes."""
    return type(size) is Dim


def _is_int(value: object) -> bool:
    try:
        index_of(value)
    except TypeError:
        return False
    return True


def check_shape(sizes: Sizes) -> None:
    """Raise ValueError unless an array may have the shape `sizes`."""
    for size in sizes:
        if size < 0:
            raise ValueError(f"sizes must not be negative, but the shape is {sizes}")
    if len(sizes) > MAX_NDIM:
        raise ValueError(
            f"an array has at most {MAX_NDIM} dimensions, not {len(sizes)}; "
            "merge some of them with reshape"
        )
    # 16 bytes is the largest element; zero sizes do not hide an overflow of the others. What
    # symbolic sizes come to is for those to say who put in numbers.
    if prod([size for size in sizes if not _is_symbolic(size) and size]) > MAX_SIZE // 16:
        raise ValueError(
            f"an array of shape {sizes} would span more than 2**63 bytes; give smaller sizes"
        )


def broadcast_shapes(*shapes: tuple[_Size, ...]) -> tuple[_Size, ...]:
    """The shape that all `shapes` broadcast to; ``()`` for none.

    ValueError: If two sizes on one axis differ and neither is 1.
    """
    result: tuple[_Size, ...] = ()
    for shape in shapes:
        # Lengths first: sizes that do not meet must not be asked about.
        if len(shape) == len(result) and shape == result:
            continue
        longer, shorter = (shape, result) if len(shape) > len(result) else (result, shape)
        lead = len(longer) - len(shorter)
        sizes = list(longer)
        for axis, size in enumerate(shorter, start=lead):
            # Whether a symbolic size is 1 is asked last.
            if type(size) is int and size == 1:
                continue
            other = sizes[axis]
            if type(other) is int and other == 1:
                sizes[axis] = size
            elif size != other:
                if other == 1:
                    sizes[axis] = size
                elif size != 1:
                    listing = ", ".join(map(str, shapes))
                    raise ValueError(
                        f"shapes {listing} cannot be broadcast: axis {axis - len(longer)} has "
                        f"sizes {other} and {size}, and sizes must agree or be 1; insert "
                        "axes with expand_dims or align them with permute_dims"
                    )
        result = tuple(sizes)
    return result


def as_int(value: object, name: str) -> int:
    """`value` as an int, or the Dim that it is; TypeError, which names it, for anything else."""
    if _is_symbolic(value):
        return value
    try:
        return index_of(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {value!r}; convert it with int()") from None


def as_count(value: object, name: str) -> int:
    """`value` as an int that is not negative; as `as_int`, and ValueError for a negative one."""
    count = as_int(value, name)
    if count < 0:
        raise ValueError(f"{name} must not be negative, but is {count}")
    return count


def normalise_axis(axis: int, ndim: int) -> int:
    """`axis` counted from the front.

    IndexError: If it is not in ``[-ndim, ndim)``.
    TypeError: If it is not an int.
    """
    try:
        position = index(axis)
    except TypeError:
        advice = "name one" if axis is None else "convert it with int()"
        raise TypeError(f"an axis must be an int, not {axis!r}; {advice}") from None
    if not -ndim <= position < ndim:
        legal = f"from {-ndim} to {ndim - 1}" if ndim else "none: the array is 0-dimensional"
        raise IndexError(f"axis {position} is out of range for {ndim} dimensions; legal: {legal}")
    return position + ndim if position < 0 else position


def normalise_axes(axes: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """`axes` counted from the front, in the order given; all axes for None.

    IndexError: If an axis is out of range.
    ValueError: If an axis is named twice.
    """
    result = repeatable_axes(axes, ndim)
    if len(set(result)) != len(result):
        raise ValueError(f"axes {tuple(axes)} name an axis twice; name each axis once")  # type: ignore[arg-type]
    return result


def repeatable_axes(axes: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """As `normalise_axes`, but an axis may be named more than once."""
    if axes is None:
        return tuple(range(ndim))
    # To ask for a sequence takes Python's caches, and so longer.
    several = axes if type(axes) is tuple or isinstance(axes, Sequence) else (axes,)
    return tuple([normalise_axis(axis, ndim) for axis in several])


def reduced_shape(
    shape: tuple[_Size, ...], axes: tuple[int, ...], keepdims: bool
) -> tuple[_Size, ...]:
    """The shape of a reduction of `shape` over the (normalised) `axes`."""
    if keepdims:
        return tuple([1 if axis in axes else size for axis, size in enumerate(shape)])
    return tuple([size for axis, size in enumerate(shape) if axis not in axes])


def resolve_reshape(old: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...]:
    """`new` with its one -1 replaced, for an array of shape `old`.

    ValueError: If there is more than one -1, another negative size, or the numbers of elements
        differ.
    """
    size = prod(old)
    is_given = [_is_symbolic(n) or n != -1 for n in new]
    known = prod([n for n, given in zip(new, is_given, strict=True) if given])
    unknown = is_given.count(False)
    if unknown > 1 or any([n < 0 for n, given in zip(new, is_given, strict=True) if given]):
        raise ValueError(
            f"cannot reshape {old} into {new}: at most one size may be -1, none lower; "
            "give the others"
        )
    if unknown:
        if known == 0 or size % known:
            raise ValueError(
                f"cannot reshape {old} into {new}: no size in place of -1 makes {size} elements; "
                "give sizes whose product divides it"
            )
        new = tuple([n if given else size // known for n, given in zip(new, is_given, strict=True)])
    elif known != size:
        raise ValueError(
            f"cannot reshape {old} into {new}: {size} elements cannot become {known}; "
            f"give sizes whose product is {size}, or -1 for one of them"
        )
    check_shape(new)
    return new
