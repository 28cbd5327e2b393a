"""Arrays put together from the elements of others."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import dtypes as d
from ..core.shape import as_int
from ..frontend.array import Array, PythonScalar
from ..frontend.dispatch import check_scalar, only_array, wrap

__all__ = ["pad", "pairs_per_axis"]


def pad(
    x: Array,
    pad_width: int | tuple[int, int] | Sequence[tuple[int, int]],
    /,
    *,
    constant_values: PythonScalar = 0,
) -> Array:
    """An array with a margin of a constant around it.

    On the default device the margin of a large array takes no memory until it must: what is
    computed from it, element by element or in reductions, reads `x` and the constant.

    Parameters
    ----------
    x : Array
    pad_width : int, (int, int) or sequence of (int, int)
        Elements before and after: the same on both sides of every axis, the same pair for every
        axis, or a pair per axis.
    constant_values : bool, int, float or complex
        A value of the dtype of `x`.

    Returns
    -------
    Array
        A copy of the dtype of `x`.

    Raises
    ------
    ValueError
        If a width is negative, or there is not a pair per axis.
    TypeError
        If a width is no int, or `constant_values` no value of the dtype.

    Examples
    --------
    >>> import array_api_nx as xp
    >>> xp.extra.pad(xp.asarray([1, 2]), (1, 2), constant_values=9)
    Array([9, 1, 2, 9, 9])
    """
    only_array(x)
    widths = pairs_per_axis(pad_width, len(x.shape), "pad_width")
    value = check_scalar(
        False if x.dtype is d.bool and constant_values == 0 else constant_values, x.dtype
    )
    handle = x._device.backend.pad(x._handle, widths, value)
    return wrap(handle, x.dtype, x._device)


def pairs_per_axis(widths: object, ndim: int, name: str) -> tuple[tuple[int, int], ...]:
    """Numbers of elements before and after, per axis."""
    if not isinstance(widths, Sequence):
        both = as_int(widths, name)
        pairs = [(both, both)] * ndim
    elif len(widths) == 2 and not any([isinstance(width, Sequence) for width in widths]):
        pairs = [(as_int(widths[0], name), as_int(widths[1], name))] * ndim
    else:
        if len(widths) != ndim or any([not isinstance(w, Sequence) or len(w) != 2 for w in widths]):
            raise ValueError(
                f"{name} is {widths!r}, but {ndim} axes need as many pairs (before, after); "
                "give one pair for all of them, or one for each"
            )
        pairs = [(as_int(before, name), as_int(after, name)) for before, after in widths]
    if any([width < 0 for pair in pairs for width in pair]):
        raise ValueError(f"{name} is {widths!r}, but widths must not be negative; slice the array")
    return tuple(pairs)
