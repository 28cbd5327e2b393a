"""Arrays with as many axes as they need at least."""

from __future__ import annotations

from ..frontend.array import Array
from ..frontend.manipulation import expand_dims, reshape
from ..frontend.operands import only_array

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d"]


def atleast_1d(*arrays: Array) -> Array | tuple[Array, ...]:
    """Arrays with at least one axis.

    *arrays: Of any shape.
    Returns: The array itself, or a view of shape ``(1,)`` if it has no axis; a tuple unless there
        is one array.

    >>> xp.extra.atleast_1d(xp.asarray(3.0))
    Array([3.], dtype=float64)
    """
    return _each([x if x.ndim else reshape(x, (1,)) for x in map(only_array, arrays)])


def atleast_2d(*arrays: Array) -> Array | tuple[Array, ...]:
    """Arrays with at least two axes.

    *arrays: Of any shape.
    Returns: The array itself, or a view with axes of size 1 before its own; a tuple unless there is
        one array.

    >>> xp.extra.atleast_2d(xp.asarray([1, 2]))
    Array([[1, 2]], dtype=int64)
    """
    return _each([_with_axes_before(x, 2) for x in map(only_array, arrays)])


def atleast_3d(*arrays: Array) -> Array | tuple[Array, ...]:
    """Arrays with at least three axes.

    *arrays: Of any shape.
    Returns: The array itself, or a view of it: ``(n,)`` becomes ``(1, n, 1)``, and ``(m, n)``
        becomes ``(m, n, 1)``. A tuple unless there is one array.

    >>> xp.extra.atleast_3d(xp.asarray([1, 2])).shape
    (1, 2, 1)
    """
    return _each([_with_three_axes(x) for x in map(only_array, arrays)])


def _with_three_axes(x: Array) -> Array:
    x = _with_axes_before(x, 2)
    return x if x.ndim > 2 else expand_dims(x, axis=2)


def _with_axes_before(x: Array, ndim: int) -> Array:
    for _ in range(ndim - x.ndim):
        x = expand_dims(x, axis=0)
    return x


def _each(arrays: list[Array]) -> Array | tuple[Array, ...]:
    return arrays[0] if len(arrays) == 1 else tuple(arrays)
