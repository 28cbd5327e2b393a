"""Windows that slide over an array, and reductions of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product
from math import inf, prod
from typing import Any, Final

from ..core import dtypes as d
from ..core.shape import as_int, normalise_axis
from ..core.view import View
from ..frontend import standard as xp
from ..frontend.annotations import PythonScalar
from ..frontend.array import Array, wrap
from ..frontend.data_type import copy_array
from ..frontend.dispatch import binary, operand_dtypes, refuse_dtype
from ..frontend.operands import cast, only_array
from ..native import with_advice
from ..primitives import table as p
from ..primitives.rules import window_counts
from ..primitives.table import Primitive
from .manipulation import pad, pairs_per_axis

__all__ = [
    "fold",
    "max_pool",
    "mean_pool",
    "sliding_window_view",
    "unfold",
]


@with_advice
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

    x: Numeric or bool, of shape (leading..., spatial...).
    stride, dilation: Steps from window to window, and between the elements of one.
    padding: Zeros before and after, as in `pad`, on the spatial axes.
    Returns: A copy of shape (leading..., prod(kernel_size), windows).
    ValueError: If `x` has too few axes, a size, stride or dilation is not positive, or no window
        fits.

    >>> xp.extra.unfold(xp.asarray([1, 2, 3, 4]), 3, padding=1)
    Array([[0, 1, 2, 3],
           [1, 2, 3, 4],
           [2, 3, 4, 0]], dtype=int64)
    """
    x = only_array(x)
    window = Window(kernel_size, stride, dilation, padding)
    spatial = x.shape[max(0, len(x.shape) - len(window.size)) :]
    window.check(spatial, f"an array of shape {x.shape}")
    handle = x._device.backend.unfold(
        x._handle, window.size, window.stride, window.dilation, window.padding
    )
    return wrap(handle, x.dtype, x._device)


@with_advice
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

    x: Numeric, of the shape that `unfold` with these parameters gives for an array of shape
        (leading..., output_size...).
    output_size, kernel_size: As many as there are spatial axes.
    stride, dilation, padding: As in `unfold`.
    Returns: A copy of shape (leading..., output_size...).
    ValueError: If the shape of `x` is another one, or as for `unfold`.
    TypeError: If `x` is bool.
    """
    x = only_array(x)
    if x.dtype not in p.SUM.results:
        raise TypeError(f"fold adds up numbers, not {x.dtype}; convert the array with astype")
    window = Window(kernel_size, stride, dilation, padding)
    size = several(output_size, len(window.size), "output_size", least=0)
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


def sliding_window_view(
    x: Array, window_shape: int | tuple[int, ...], axis: int | tuple[int, ...] | None = None
) -> Array:
    """All windows of a shape, each an element of the array's axes: a view that is read-only.

    window_shape: Sizes of a window, one for each of the axes that it slides along.
    axis: These axes, in any order and also several times; all of them by default.
    Returns: Of shape ``(*positions, *window_shape)``: every axis of `x`, shorter by the size of its
        windows less one, and then the windows. It shows the memory of `x` where `x` is row-major,
        that of a row-major copy of `x` otherwise, and is a copy on ``dask``. It cannot be written
        to, as elements are in several windows.
    ValueError: If there are not as many sizes as axes, or a window does not fit.

    >>> xp.extra.sliding_window_view(xp.asarray([1, 2, 3, 4]), 3)
    Array([[1, 2, 3],
           [2, 3, 4]], dtype=int64)
    """
    x = only_array(x)
    shape = x.shape
    sizes = several(window_shape, len(_sequence(window_shape)), "window_shape")
    # An axis may be named twice, so that each is looked up by itself.
    named = range(len(shape)) if axis is None else _sequence(axis)
    axes = [normalise_axis(each, len(shape)) for each in named]
    if len(sizes) != len(axes):
        raise ValueError(
            f"window_shape {window_shape!r} has not a size for each of {len(axes)} axes; "
            "name the axes that windows slide along with axis=..."
        )
    positions = list(shape)
    for size, each in zip(sizes, axes, strict=True):
        positions[each] += 1 - size
    if any([positions[each] < 1 for each in axes]):
        raise ValueError(
            f"no window of shape {sizes} over axes {tuple(axes)} fits into an array of shape "
            f"{shape}; give smaller windows, or pad the array"
        )
    backend = x._device.backend
    if backend.strided_shares:
        rows = View.row_major(shape).strides
        strides = (*rows, *[rows[each] for each in axes])
        view = View((*positions, *sizes), strides, is_read_only=True)
        return wrap(backend.strided(x._handle, view), x.dtype, x._device)
    for size, each in zip(sizes, axes, strict=True):
        count = x.shape[each] - size + 1
        x = xp.stack([_along(x, each, i, count, 1) for i in range(size)], axis=-1)
    return x


@with_advice
def max_pool(
    x: Array,
    kernel_size: int | tuple[int, ...],
    /,
    *,
    stride: int | tuple[int, ...] | None = None,
    dilation: int | tuple[int, ...] = 1,
    padding: int | tuple[int, int] | Sequence[tuple[int, int]] = 0,
) -> Array:
    """The largest element of each window over the last axes; NaN where there is one.

    x: Real or bool, of shape (leading..., spatial...).
    stride: Steps from window to window; `kernel_size` by default, so that none overlap.
    dilation: Steps between the elements of a window.
    padding: How far windows reach beyond the array, as in `pad`, on the spatial axes. There is
        nothing there, so that nothing is larger than the elements inside.
    Returns: A copy of shape (leading..., windows...) and the dtype of `x`.
    ValueError: If `x` has too few axes, a size, stride or dilation is not positive, no window fits,
        or one would lie in the padding alone.
    TypeError: If the dtype is complex.

    >>> xp.extra.max_pool(xp.asarray([3, 1, 4, 1, 5, 9]), 2)
    Array([3, 4, 9], dtype=int64)
    """
    x = only_array(x)
    if x.dtype not in p.MAXIMUM.results:
        refuse_dtype(p.MAXIMUM, x.dtype)
    window = Window(kernel_size, kernel_size if stride is None else stride, dilation, padding)
    counts = window.check_pooling(x.shape)
    least = -inf if x.dtype in d.FLOATING else d.BOUNDS[x.dtype][0]
    return _pooled(p.MAXIMUM, x, window, counts, least)


@with_advice
def mean_pool(
    x: Array,
    kernel_size: int | tuple[int, ...],
    /,
    *,
    stride: int | tuple[int, ...] | None = None,
    padding: int | tuple[int, int] | Sequence[tuple[int, int]] = 0,
    count_include_pad: bool = True,
) -> Array:
    """The mean of each window over the last axes.

    x: Numeric or bool, of shape (leading..., spatial...).
    stride: Steps from window to window; `kernel_size` by default, so that none overlap.
    padding: Zeros before and after, as in `pad`, on the spatial axes.
    count_include_pad: Whether these zeros count as elements of a window.
    Returns: A copy of shape (leading..., windows...), of the dtype of `x`, or float64 for integers
        and bool.
    ValueError: As for `max_pool`.

    >>> xp.extra.mean_pool(xp.asarray([3, 1, 4, 1, 5, 9]), 2)
    Array([2. , 2.5, 7. ], dtype=float64)
    """
    x = only_array(x)
    compute, _ = operand_dtypes(p.MEAN, x.dtype, x.device)
    window = Window(kernel_size, kernel_size if stride is None else stride, 1, padding)
    counts = window.check_pooling(x.shape)
    total = _pooled(p.ADD, cast(x, compute), window, counts, 0)
    if count_include_pad or not any([any(pair) for pair in window.padding]):
        return binary(p.DIVIDE, total, prod(window.size))
    spatial = x.shape[len(x.shape) - len(counts) :]
    for axis, size in enumerate(spatial):
        inside = xp.ones((size,), dtype=compute, device=x.device)
        along = window.of_axis(axis)
        elements = _pooled(p.ADD, inside, along, counts[axis : axis + 1], 0)
        column = (counts[axis], *[1] * (len(counts) - axis - 1))
        total = binary(p.DIVIDE, total, xp.reshape(elements, column))
    return total


# ---------------------------------------------------------------------- windows by slices

_ONE_PASS: Final = 9
"""Elements of a window, up to which all are read in one pass. Larger windows are reduced axis by
axis (docs/tuning.md, 92)."""


def _pooled(
    op: Primitive, x: Array, window: Window, counts: tuple[int, ...], fill: PythonScalar
) -> Array:
    """`op` over each window, where `fill`, which changes no result, is around the array."""
    if prod(window.size) > _ONE_PASS and len(window.size) > 1:
        for axis, count in enumerate(counts):
            place = axis - len(counts)
            along = window.of_axis(axis)
            last = _pooled(op, xp.moveaxis(x, place, -1), along, (count,), fill)
            x = xp.moveaxis(last, -1, place)
        return x
    seen = shifted(x, window, counts, fill)
    result = reduce(lambda total, each: binary(op, total, each), seen)
    return copy_array(result) if prod(window.size) == 1 else result


def shifted(
    x: Array, window: Window, counts: tuple[int, ...], fill: PythonScalar
) -> Iterator[Array]:
    """Per position in a window, in row-major order, the elements that all windows have there."""
    lead = len(x.shape) - len(counts)
    if any([any(pair) for pair in window.padding]):
        x = pad(x, ((0, 0),) * lead + window.padding, constant_values=fill)
    for position in product(*[range(size) for size in window.size]):
        part = x
        for axis, where in enumerate(position):
            start = where * window.dilation[axis]
            part = _along(part, lead + axis, start, counts[axis], window.stride[axis])
        yield part


def _along(x: Array, axis: int, start: int, count: int, step: int) -> Array:
    """`count` elements along an axis: a view."""
    end = start + (count - 1) * step + 1 if count else start
    return x[(*[slice(None)] * axis, slice(start, end, step))]


# ---------------------------------------------------------------------- parameters


class Window:
    """The parameters of windows, one per spatial axis."""

    def __init__(self, size: object, stride: object, dilation: object, padding: object) -> None:
        count = len(_sequence(size))
        self.size = several(size, count, "kernel_size")
        self.stride = several(stride, count, "stride")
        self.dilation = several(dilation, count, "dilation")
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

    def check_pooling(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """As `check`; ValueError also if a window would see nothing but padding."""
        spatial = shape[max(0, len(shape) - len(self.size)) :]
        counts = self.check(spatial, f"an array of shape {shape}")
        for size, spread, pair in zip(self.size, self.dilation, self.padding, strict=True):
            if max(pair) > (size - 1) * spread:
                raise ValueError(
                    f"with padding {self.padding}, windows of kernel_size {self.size} and dilation "
                    f"{self.dilation} would lie in the padding alone; give less padding"
                )
        return counts

    def of_axis(self, axis: int) -> Window:
        """The windows along one axis."""
        return Window(
            (self.size[axis],),
            (self.stride[axis],),
            (self.dilation[axis],),
            (self.padding[axis],),
        )

    def reach(self, size: int, top: int, bottom: int) -> tuple[int, int, tuple[int, int]]:
        """The elements in the windows from `top` to `bottom` on the first axis, of `size` elements.

        Returns start, end (int): The elements that they see.
        Returns margin ((int, int)): The zeros before and after these.
        """
        low = top * self.stride[0] - self.padding[0][0]
        last = (bottom - 1) * self.stride[0] - self.padding[0][0]
        high = last + (self.size[0] - 1) * self.dilation[0] + 1
        start = min(max(low, 0), size)
        end = max(min(high, size), start)
        before = min(max(-low, 0), high - low)
        return start, end, (before, high - low - (end - start) - before)


def _sequence(value: Any) -> Sequence[Any]:
    """`value`, or a tuple of it."""
    return value if isinstance(value, Sequence) else (value,)


def several(value: object, count: int, name: str, least: int = 1) -> tuple[int, ...]:
    """An int per axis."""
    given = value if isinstance(value, Sequence) else [value] * count
    numbers = tuple([as_int(number, name) for number in given])
    if len(numbers) != count or any([number < least for number in numbers]):
        raise ValueError(
            f"{name} is {value!r}, but must be an int of at least {least}, or {count} of them"
        )
    return numbers
