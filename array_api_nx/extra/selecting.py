"""Elements chosen by their rank along an axis."""

from __future__ import annotations

from collections.abc import Sequence

from ..contract import primitives as p
from ..core import dtypes as d
from ..core.shape import as_int, normalise_axis
from ..frontend.array import Array
from ..frontend.dispatch import only_array, refuse_dtype, wrap
from ..frontend.manipulation import reshape

__all__ = ["argpartition", "partition"]


def partition(x: Array, /, kth: int | Sequence[int], axis: int | None = -1) -> Array:
    """The elements of an array, some of them where sorting would put them.

    No element before one of these is greater, and none after it is less. That takes less time than
    to sort the others, too. NaN counts as greater than all numbers.

    Parameters
    ----------
    x : Array
        Real or bool.
    kth : int or sequence of int
        The positions along the axis, in the ascending order, that get the elements which belong
        there. Negative ones count from the end.
    axis : int or None
        The axis to partition along; None for the elements of `x` as one row.

    Returns
    -------
    Array
        A copy of the dtype and shape of `x`; 1-D if `axis` is None. The order of the elements
        between the positions is unspecified.

    Raises
    ------
    ValueError
        If a position is out of range, or `kth` is empty.
    IndexError
        If `axis` is out of range.
    TypeError
        If `x` is complex, or a position is no int.

    Examples
    --------
    >>> import array_api_nx as xp
    >>> xp.extra.partition(xp.asarray([7, 1, 5, 3]), 0)[0]
    Array(1)
    """
    x, positions, along = _partitioned(x, kth, axis)
    if x.dtype not in p.PARTITION.results:
        refuse_dtype(p.PARTITION, x.dtype)
    handle = x._device.backend.partition(x._handle, positions, along)
    return wrap(handle, x.dtype, x._device)


def argpartition(x: Array, /, kth: int | Sequence[int], axis: int | None = -1) -> Array:
    """The indices that `partition` an array.

    Parameters
    ----------
    x : Array
        Real or bool.
    kth : int or sequence of int
        The positions along the axis, in the ascending order, that get the indices of the elements
        which belong there. Negative ones count from the end.
    axis : int or None
        The axis to partition along; None for the elements of `x` as one row.

    Returns
    -------
    Array
        A copy of dtype int64 and the shape of `x`, 1-D if `axis` is None. ``take_along_axis`` with
        these indices gives a partitioned array.

    Raises
    ------
    ValueError
        If a position is out of range, or `kth` is empty.
    IndexError
        If `axis` is out of range.
    TypeError
        If `x` is complex, or a position is no int.

    Examples
    --------
    >>> import array_api_nx as xp
    >>> xp.extra.argpartition(xp.asarray([7, 1, 5, 3]), -1)[-1]
    Array(0)
    """
    x, positions, along = _partitioned(x, kth, axis)
    if x.dtype not in p.ARGPARTITION.results:
        refuse_dtype(p.ARGPARTITION, x.dtype)
    handle = x._device.backend.argpartition(x._handle, positions, along)
    return wrap(handle, d.int64, x._device)


def _partitioned(x: Array, kth: object, axis: int | None) -> tuple[Array, tuple[int, ...], int]:
    """What to partition, and the positions and the axis as the backends take them."""
    only_array(x)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = normalise_axis(axis, x.ndim)
    size = x.shape[axis]
    given = kth if isinstance(kth, Sequence) else (kth,)
    positions = set()
    for value in given:
        position = as_int(value, "kth")
        if not -size <= position < size:
            raise ValueError(
                f"kth {position} is out of range for axis {axis} of size {size}; legal: "
                f"{f'from {-size} to {size - 1}' if size else 'none'}"
            )
        positions.add(position + size if position < 0 else position)
    if not positions:
        raise ValueError("kth names no position; give an int, or several")
    return x, tuple(sorted(positions)), axis
