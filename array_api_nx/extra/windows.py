"""Windows that slide over an array, and what is computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..contract import primitives as p
from ..contract.composed import window_counts
from ..core.shape import as_int
from ..frontend.array import Array
from ..frontend.dispatch import only_array, wrap
from .manipulation import pairs_per_axis

__all__ = ["fold", "unfold"]


def unfold(
    x: Array,
    kernel_size: int | tuple[int, ...],
    /,
    *,
    stride: int | tuple[int, ...] = 1,
    dilation: int | tuple[int, ...] = 1,
    padding: int | tuple[int, int] | Sequence[tuple[int, int]] = 0,
) -> Array:
    """Sliding windows over the last axes, one per column.

    The zeros around the array that `padding` asks for take no memory.

    Parameters
    ----------
    x : Array
        Numeric or bool, of shape (leading..., spatial...).
    kernel_size : int or tuple of int
        Sizes of a window; as many as there are spatial axes.
    stride, dilation : int or tuple of int
        Steps from window to window, and between the elements of one.
    padding : int, (int, int) or sequence of (int, int)
        Zeros before and after, as in `pad`, on the spatial axes.

    Returns
    -------
    Array
        A copy of shape (leading..., prod(kernel_size), windows).

    Raises
    ------
    ValueError
        If `x` has too few axes, a size, stride or dilation is not positive, or no window fits.

    Examples
    --------
    >>> import array_api_nx as xp
    >>> xp.extra.unfold(xp.asarray([1, 2, 3, 4]), 3, padding=1)
    Array([[0, 1, 2, 3],
           [1, 2, 3, 4],
           [2, 3, 4, 0]])
    """
    only_array(x)
    window = _Window(kernel_size, stride, dilation, padding)
    spatial = x.shape[max(0, len(x.shape) - len(window.size)) :]
    window.check(spatial, f"an array of shape {x.shape}")
    handle = x._device.backend.unfold(
        x._handle, window.size, window.stride, window.dilation, window.padding
    )
    return wrap(handle, x.dtype, x._device)


def fold(
    x: Array,
    output_size: int | tuple[int, ...],
    kernel_size: int | tuple[int, ...],
    /,
    *,
    stride: int | tuple[int, ...] = 1,
    dilation: int | tuple[int, ...] = 1,
    padding: int | tuple[int, int] | Sequence[tuple[int, int]] = 0,
) -> Array:
    """Windows put back to where `unfold` took them from; overlapping elements are added up.

    Parameters
    ----------
    x : Array
        Numeric, of the shape that `unfold` with these parameters gives for an array of shape
        (leading..., output_size...).
    output_size, kernel_size : int or tuple of int
        As many as there are spatial axes.
    stride, dilation, padding
        As in `unfold`.

    Returns
    -------
    Array
        A copy of shape (leading..., output_size...).

    Raises
    ------
    ValueError
        If the shape of `x` is another one, or as for `unfold`.
    TypeError
        If `x` is bool.
    """
    only_array(x)
    if x.dtype not in p.SUM.results:
        raise TypeError(f"fold adds up numbers, not {x.dtype}; convert the array with astype")
    window = _Window(kernel_size, stride, dilation, padding)
    size = _several(output_size, len(window.size), "output_size", least=0)
    counts = window.check(size, f"output_size {size}")
    expected = (prod(window.size), prod(counts))
    if x.shape[-2:] != expected:
        raise ValueError(
            f"an array of shape {x.shape} does not hold the windows of output_size {size}, which "
            f"are {expected}; give the parameters that unfold had"
        )
    handle = x._device.backend.fold(
        x._handle, size, window.size, window.stride, window.dilation, window.padding
    )
    return wrap(handle, x.dtype, x._device)


class _Window:
    """The parameters of `unfold` and `fold`, one per spatial axis."""

    def __init__(self, size: object, stride: object, dilation: object, padding: object) -> None:
        count = len(size) if isinstance(size, Sequence) else 1
        self.size = _several(size, count, "kernel_size")
        self.stride = _several(stride, count, "stride")
        self.dilation = _several(dilation, count, "dilation")
        self.padding = pairs_per_axis(padding, count, "padding")

    def check(self, spatial: tuple[int, ...], what: str) -> tuple[int, ...]:
        """The numbers of windows over axes of the sizes `spatial`, at least one each."""
        if len(spatial) != len(self.size):
            raise ValueError(f"{what} has too few axes for windows of {len(self.size)}; reshape it")
        counts = tuple(window_counts(spatial, self.size, self.stride, self.dilation, self.padding))
        if any([count < 1 for count in counts]):
            raise ValueError(
                f"no window of kernel_size {self.size} with dilation {self.dilation} fits into "
                f"{what}; give smaller windows, or padding"
            )
        return counts


def _several(value: object, count: int, name: str, least: int = 1) -> tuple[int, ...]:
    """An int per axis."""
    given = value if isinstance(value, Sequence) else [value] * count
    numbers = tuple([as_int(number, name) for number in given])
    if len(numbers) != count or any([number < least for number in numbers]):
        raise ValueError(
            f"{name} is {value!r}, but must be an int of at least {least}, or {count} of them"
        )
    return numbers
