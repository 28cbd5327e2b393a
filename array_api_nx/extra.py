"""Array functions beyond the standard."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from .contract import primitives as p
from .contract.composed import window_counts
from .core import dtypes as d
from .core.dtypes import DType
from .core.shape import as_int
from .device import Device
from .frontend.array import Array, PythonScalar
from .frontend.creation import asarray, linspace, zeros
from .frontend.dispatch import check_scalar, only_array, wrap
from .frontend.elementwise import pow
from .frontend.manipulation import reshape
from .linalg import diagonal

__all__ = ["diag", "fold", "logspace", "pad", "unfold"]


def diag(x: Array, /, *, k: int = 0) -> Array:
    """A matrix with given diagonal, or the diagonal of a matrix.

    Parameters
    ----------
    x : Array
        One-dimensional: what to put on the diagonal. Two-dimensional: what to take it from.
    k : int
        Which diagonal: above the main one if positive, below it if negative.

    Returns
    -------
    Array
        A copy, square of size ``n + abs(k)`` with zeros elsewhere; or, from a matrix, the same as
        ``linalg.diagonal(x, offset=k)``.

    Raises
    ------
    ValueError
        If `x` has neither one nor two dimensions.
    """
    only_array(x)
    if x.ndim == 2:
        return diagonal(x, offset=k)
    if x.ndim != 1:
        raise ValueError(
            f"diag takes one or two dimensions, not shape {x.shape}; use linalg.diagonal for "
            "stacks of matrices"
        )
    size = x.size + abs(k)
    result = zeros((size * size,), dtype=x.dtype, device=x.device)
    # In the flattened matrix the diagonal's elements are a row and one column apart.
    first = k if k >= 0 else -k * size
    result[first : first + x.size * (size + 1) : size + 1] = x
    return reshape(result, (size, size))


def logspace(
    start: int | float | complex,
    stop: int | float | complex,
    /,
    num: int = 50,
    *,
    base: int | float = 10.0,
    dtype: DType | None = None,
    device: Device | str | None = None,
    endpoint: bool = True,
) -> Array:
    """Numbers spaced evenly on a logarithmic scale, from ``base**start`` to ``base**stop``.

    Parameters
    ----------
    start, stop : int, float or complex
        The first and the last exponent.
    num : int
    base : int or float
    dtype : DType, optional
        A floating-point dtype; float64 or complex128 by default.
    device : Device or str, optional
    endpoint : bool
        Whether ``base**stop`` is the last value.

    Returns
    -------
    Array
        1-D.

    Raises
    ------
    ValueError
        If `num` is negative.
    """
    exponents = linspace(start, stop, num, dtype=dtype, device=device, endpoint=endpoint)
    return pow(asarray(base, dtype=exponents.dtype, device=exponents.device), exponents)


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
    widths = _pairs(pad_width, len(x.shape), "pad_width")
    value = check_scalar(
        False if x.dtype is d.bool and constant_values == 0 else constant_values, x.dtype
    )
    handle = x._device.backend.pad(x._handle, widths, value)
    return wrap(handle, x.dtype, x._device)


def _pairs(widths: object, ndim: int, name: str) -> tuple[tuple[int, int], ...]:
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
        self.padding = _pairs(padding, count, "padding")

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
