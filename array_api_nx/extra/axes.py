"""What functions of NumPy do that take ``axis=None`` for the elements of an array as one row."""

from __future__ import annotations

from ..frontend.array import Array
from ..frontend.manipulation import reshape
from ..frontend.operands import only_array


def along_axis(x: Array, axis: int | None) -> tuple[Array, int]:
    """`x` and `axis`; without an axis, the elements in row-major order, which have axis 0 alone."""
    x = only_array(x)
    return (reshape(x, (-1,)), 0) if axis is None else (x, axis)
