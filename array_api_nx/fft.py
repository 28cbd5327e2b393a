"""The standard's extension ``fft``: discrete Fourier transforms.

Booleans and integers are computed in double precision. `norm` says which direction divides: with
"backward" the inverse transforms divide by the number of elements, with "forward" the forward ones
do, and with "ortho" both divide by its square root. All results are new arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from .contract.backend import Handle, Norm
from .contract.numpy_dtypes import DTypeLike
from .core import dtypes as d
from .core.dtypes import COMPLEX, REAL_FLOATING, DType, as_dtype
from .core.shape import as_int, check_shape, normalise_axis
from .device import Device, as_device
from .frontend import elementwise, joining
from .frontend.array import Array, wrap
from .frontend.data_type import astype
from .frontend.dispatch import operand_dtypes
from .frontend.docstrings import complete_docstrings
from .frontend.missing import getter
from .frontend.operands import cast, only_array
from .native import with_advice
from .primitives import table as p

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]


def __dir__() -> list[str]:
    return __all__


# Not for type checkers, to which any misspelt name would be an `object`.
if not TYPE_CHECKING:
    __getattr__ = getter(__name__)


_OPPOSITE: Final[dict[str, Norm]] = {
    "backward": "forward",
    "ortho": "ortho",
    "forward": "backward",
}
"""Per norm, the one with which a forward transform scales as the inverse does with it."""


# ---------------------------------------------------------------------- complex input


@with_advice
def fft(
    x: Array,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = "backward",
) -> Array:
    """One-dimensional transform.

    x: Real or complex; integers and booleans are converted to float64.
    axis: Which axis to transform.
    Returns: A new array of the complex dtype of the precision of `x`; size `n` on the axis.
    IndexError: If there is no such axis.
    ValueError: If a size is below 1, or `norm` is another one.
    """
    x, along, sizes = _axes_and_sizes("fft", x, _one(n), (axis,), norm)
    x, dtype = _prepare(p.FFT, x, along, sizes)
    return wrap(x._device.backend.fft(x._handle, along, norm), dtype, x._device)


@with_advice
def ifft(
    x: Array,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = "backward",
) -> Array:
    """Inverse of `fft`.

    x: Real or complex; integers and booleans are converted to float64.
    axis: Which axis to transform.
    Returns: A new array of the complex dtype of the precision of `x`; size `n` on the axis.
    IndexError: If there is no such axis.
    ValueError: If a size is below 1, or `norm` is another one.
    """
    x, along, sizes = _axes_and_sizes("ifft", x, _one(n), (axis,), norm)
    x, dtype = _prepare(p.IFFT, x, along, sizes)
    return wrap(x._device.backend.ifft(x._handle, along, norm), dtype, x._device)


@with_advice
def fftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Transform over several axes.

    x: Real or complex; integers and booleans are converted to float64.
    Returns: A new array of the complex dtype of the precision of `x`; sizes `s` on the axes. Over
        no axes it has the elements of `x`.
    IndexError: If there is no such axis.
    ValueError: If a size is below 1, `s` has another length than `axes`, or `norm` is another one.
    """
    x, along, sizes = _axes_and_sizes("fftn", x, s, axes, norm)
    if not along:
        return astype(x, operand_dtypes(p.FFT, x._dtype, x._device)[1])
    if _name_one_twice(along):
        return _one_by_one([(fft, *each) for each in _pairs(along, sizes)[::-1]], x, norm)
    x, dtype = _prepare(p.FFT, x, along, sizes)
    return wrap(x._device.backend.fft(x._handle, along, norm), dtype, x._device)


@with_advice
def ifftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Inverse of `fftn`.

    x: Real or complex; integers and booleans are converted to float64.
    Returns: A new array of the complex dtype of the precision of `x`; sizes `s` on the axes. Over
        no axes it has the elements of `x`.
    IndexError: If there is no such axis.
    ValueError: If a size is below 1, `s` has another length than `axes`, or `norm` is another one.
    """
    x, along, sizes = _axes_and_sizes("ifftn", x, s, axes, norm)
    if not along:
        return astype(x, operand_dtypes(p.IFFT, x._dtype, x._device)[1])
    if _name_one_twice(along):
        return _one_by_one([(ifft, *each) for each in _pairs(along, sizes)[::-1]], x, norm)
    x, dtype = _prepare(p.IFFT, x, along, sizes)
    return wrap(x._device.backend.ifft(x._handle, along, norm), dtype, x._device)


# ---------------------------------------------------------------------- real input or output


@with_advice
def rfft(
    x: Array,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = "backward",
) -> Array:
    """One-dimensional transform of real input, without the redundant half.

    x: A real dtype.
    axis: Which axis to transform.
    Returns: A new array of the complex dtype of the precision of `x`; size n // 2 + 1 on the axis.
    TypeError: If `x` is complex.
    IndexError: If there is no such axis.
    ValueError: If a size is below 1, or `norm` is another one.
    """
    x, along, sizes = _axes_and_sizes("rfft", x, _one(n), (axis,), norm)
    x, dtype = _prepare(p.RFFT, x, along, sizes)
    return wrap(x._device.backend.rfft(x._handle, along, norm), dtype, x._device)


@with_advice
def irfft(
    x: Array,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = "backward",
) -> Array:
    """Inverse of `rfft`.

    x: Complex, or converted to it; the half of a spectrum that `rfft` keeps.
    n: Size of the result on the axis; by default 2 * (m - 1) for a size m of `x`. `x` is cropped or
        zero-padded to n // 2 + 1.
    axis: Which axis to transform.
    Returns: A new array of the real dtype of the precision of `x`; size `n` on the axis.
    IndexError: If there is no such axis.
    ValueError: If a size is below 1, or `norm` is another one.
    """
    x, along, sizes = _axes_and_sizes("irfft", x, _one(n), (axis,), norm)
    x, dtype = _prepare_half(x, along, sizes)
    handle = x._device.backend.irfft(x._handle, along, sizes[-1], norm)
    return wrap(handle, dtype, x._device)


@with_advice
def rfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Transform of real input over several axes, without the redundant half of the last one.

    x: A real dtype.
    Returns: A new array of the complex dtype of the precision of `x`; sizes `s` on the axes, but
        s[-1] // 2 + 1 on the last one.
    TypeError: If `x` is complex.
    IndexError: If there is no such axis.
    ValueError: If there is no axis, a size is below 1, `s` has another length than `axes`, or
        `norm` is another one.
    """
    x, along, sizes = _axes_and_sizes("rfftn", x, s, axes, norm)
    if _name_one_twice(along):
        *others, last = _pairs(along, sizes)
        return _one_by_one([(rfft, *last), *[(fft, *each) for each in others[::-1]]], x, norm)
    x, dtype = _prepare(p.RFFT, x, along, sizes)
    return wrap(x._device.backend.rfft(x._handle, along, norm), dtype, x._device)


@with_advice
def irfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Inverse of `rfftn`.

    x: Complex, or converted to it; the half of a spectrum that `rfftn` keeps.
    s: Sizes of the result on the axes. On the last one, `x` is cropped or zero-padded to s[-1] // 2
        + 1, and -1 stands for the default 2 * (m - 1); on the others as for `ifftn`.
    Returns: A new array of the real dtype of the precision of `x`; sizes `s` on the axes.
    IndexError: If there is no such axis.
    ValueError: If there is no axis, a size is below 1, `s` has another length than `axes`, or
        `norm` is another one.
    """
    x, along, sizes = _axes_and_sizes("irfftn", x, s, axes, norm)
    if _name_one_twice(along):
        *others, last = _pairs(along, sizes)
        return _one_by_one([*[(ifft, *each) for each in others], (irfft, *last)], x, norm)
    x, dtype = _prepare_half(x, along, sizes)
    handle = x._device.backend.irfft(x._handle, along, sizes[-1], norm)
    return wrap(handle, dtype, x._device)


@with_advice
def hfft(
    x: Array,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = "backward",
) -> Array:
    """One-dimensional transform of a signal with Hermitian symmetry; its spectrum is real.

    x: Complex, or converted to it; the half of the signal from element 0 on.
    n: Size of the result on the axis; by default 2 * (m - 1) for a size m of `x`. `x` is cropped or
        zero-padded to n // 2 + 1.
    axis: Which axis to transform.
    Returns: A new array of the real dtype of the precision of `x`; size `n` on the axis.
    IndexError: If there is no such axis.
    ValueError: If a size is below 1, or `norm` is another one.
    """
    x, along, sizes = _axes_and_sizes("hfft", x, _one(n), (axis,), norm)
    x, dtype = _prepare_half(x, along, sizes)
    mirrored = elementwise.conj(x)._handle
    handle = x._device.backend.irfft(mirrored, along, sizes[-1], _OPPOSITE[norm])
    return wrap(handle, dtype, x._device)


@with_advice
def ihfft(
    x: Array,
    /,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = "backward",
) -> Array:
    """Inverse of `hfft`.

    x: A real dtype.
    axis: Which axis to transform.
    Returns: A new array of the complex dtype of the precision of `x`; size n // 2 + 1 on the axis:
        the half of a Hermitian signal from element 0 on.
    TypeError: If `x` is complex.
    IndexError: If there is no such axis.
    ValueError: If a size is below 1, or `norm` is another one.
    """
    _check_norm(norm)
    return elementwise.conj(rfft(x, n=n, axis=axis, norm=_OPPOSITE[norm]))


# ---------------------------------------------------------------------- frequencies


@with_advice
def fftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> Array:
    """Frequencies of the elements of `fft`: 0, 1, ..., then the negative ones, over d * n.

    n: Number of elements transformed.
    d: Distance between two samples.
    dtype: A real floating-point dtype; float64 by default.
    device (Device, optional):
    Returns: Shape (n,).
    TypeError: If `dtype` is no real floating-point dtype.
    ValueError: If `n` is below 1, or `d` is 0.
    """
    size = _at_least_one(n, "n")
    target = as_device(device)
    backend = target.backend
    ascending = backend.arange(0, (size + 1) // 2, 1, target.real)
    negative = backend.arange(-(size // 2), 0, 1, target.real)
    return _frequencies(backend.cat([ascending, negative], 0), size, d, dtype, target)


@with_advice
def rfftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DTypeLike | None = None,
    device: Device | str | None = None,
) -> Array:
    """Frequencies of the elements of `rfft`: 0, 1, ..., n // 2, over d * n.

    n: Number of elements transformed.
    d: Distance between two samples.
    dtype: A real floating-point dtype; float64 by default.
    device (Device, optional):
    Returns: Shape (n // 2 + 1,).
    TypeError: If `dtype` is no real floating-point dtype.
    ValueError: If `n` is below 1, or `d` is 0.
    """
    size = _at_least_one(n, "n")
    target = as_device(device)
    ascending = target.backend.arange(0, size // 2 + 1, 1, target.real)
    return _frequencies(ascending, size, d, dtype, target)


def _frequencies(
    counts: Handle, n: int, d: float, dtype: DTypeLike | None, device: Device
) -> Array:
    """`counts` over d * n, in double precision, where there is one, until the end."""
    result = device.real if dtype is None else as_dtype(dtype)
    if result not in REAL_FLOATING:
        raise TypeError(f"frequencies have dtype float32 or float64, not {result}; use astype")
    if d == 0:
        raise ValueError("the distance d between samples must not be 0; give that of the samples")
    return cast(wrap(counts, device.real, device) / (float(d) * n), result)


@with_advice
def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Move the frequency 0 from the front to the middle.

    axes: Which axes to shift; by default all. The shifts of an axis that is named twice add up.
    Returns: A copy.
    IndexError: If an axis is out of range.
    """
    x = only_array(x)
    along = _positions(axes, x.ndim)
    return joining.roll(x, tuple([x.shape[axis] // 2 for axis in along]), axis=along)


@with_advice
def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Inverse of `fftshift`, from which it differs on axes of odd size.

    axes: Which axes to shift; by default all. The shifts of an axis that is named twice add up.
    Returns: A copy.
    IndexError: If an axis is out of range.
    """
    x = only_array(x)
    along = _positions(axes, x.ndim)
    return joining.roll(x, tuple([-(x.shape[axis] // 2) for axis in along]), axis=along)


# ---------------------------------------------------------------------- checks


def _check_norm(norm: str) -> None:
    if norm not in _OPPOSITE:
        raise ValueError(f"there is no norm {norm!r}; give 'backward', 'ortho' or 'forward'")


def _one(n: int | None) -> tuple[int] | None:
    return None if n is None else (_at_least_one(n, "n"),)


def _at_least_one(n: int, name: str) -> int:
    size = as_int(n, name)
    if size < 1:
        raise ValueError(f"a transform needs at least one element, but {name} is {size}")
    return size


def _axes_and_sizes(
    name: str, x: Array, s: Sequence[int] | None, axes: Sequence[int] | None, norm: str
) -> tuple[Array, tuple[int, ...], list[int]]:
    """The array, the axes to transform, each once or more, and the sizes of the signal on them.

    `name` is that of the function, whose arguments are checked but for the dtype of `x`.
    """
    x = only_array(x)
    shape = x.shape
    _check_norm(norm)
    if s is not None and not isinstance(s, Sequence):
        raise TypeError(f"s must be a sequence of sizes, one per axis, not {s!r}; give s=({s!r},)")
    if axes is None and s is not None:
        axes = range(-len(s), 0)
    along = _positions(axes, len(shape))
    if not along and name in _OVER_A_LAST_AXIS:
        raise ValueError(
            f"{name} needs at least one axis to transform, but axes={axes} of shape {shape} are "
            "none; give axes=..."
        )
    sizes = [shape[axis] for axis in along]
    if name in _OF_HALF_A_SPECTRUM:
        sizes[-1] = 2 * (sizes[-1] - 1)
    if s is not None:
        if len(s) != len(along):
            raise ValueError(f"sizes s={tuple(s)} and axes {along} must be equally many")
        sizes = [
            own if as_int(n, "a size in s") == -1 else _at_least_one(n, "a size in s")
            for n, own in zip(s, sizes, strict=True)
        ]
    if any([size < 1 for size in sizes]):
        raise ValueError(
            f"{name} needs at least one element on each axis, but of shape {shape} it would "
            f"have {sizes} on axes {along}; give sizes with n=... or s=..."
        )
    return x, along, sizes


def _positions(axes: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """`axes` counted from the front, all for None; an axis may be named more than once."""
    if axes is None:
        return tuple(range(ndim))
    several = axes if isinstance(axes, Sequence) else (axes,)
    return tuple([normalise_axis(axis, ndim) for axis in several])


_OVER_A_LAST_AXIS: Final = frozenset({"rfftn", "irfftn"})
_OF_HALF_A_SPECTRUM: Final = frozenset({"irfft", "irfftn", "hfft"})


def _name_one_twice(axes: tuple[int, ...]) -> bool:
    return len({*axes}) < len(axes)


def _pairs(axes: tuple[int, ...], sizes: list[int]) -> list[tuple[int, int]]:
    return list(zip(axes, sizes, strict=True))


def _one_by_one(steps: list[tuple[Callable[..., Array], int, int]], x: Array, norm: Norm) -> Array:
    """Transforms of one axis each, with the axis and the size, one after the other."""
    for transform, axis, n in steps:
        x = transform(x, n=n, axis=axis, norm=norm)
    return x


def _prepare(
    op: p.Primitive, x: Array, axes: tuple[int, ...], sizes: list[int]
) -> tuple[Array, DType]:
    """`x` resized and in the dtype to transform, and the result's dtype."""
    if op is p.RFFT and x._dtype in COMPLEX:
        raise TypeError(
            f"a transform of real input does not take {x._dtype}; use fft or fftn, or take real(x)"
        )
    compute, dtype = operand_dtypes(op, x._dtype, x._device)
    return cast(_resized(x, axes, sizes), compute), dtype


def _prepare_half(x: Array, axes: tuple[int, ...], sizes: list[int]) -> tuple[Array, DType]:
    """As `_prepare`, for half a spectrum; `sizes` are those of the signal."""
    return _prepare(p.IRFFT, x, axes, [*sizes[:-1], sizes[-1] // 2 + 1])


def _resized(x: Array, axes: tuple[int, ...], sizes: list[int]) -> Array:
    """`x` cropped, without a copy, or zero-padded to `sizes` on `axes`."""
    old = x.shape
    new = list(old)
    for axis, size in zip(axes, sizes, strict=True):
        new[axis] = size
    if tuple(new) == old:
        return x
    check_shape(tuple(new))
    backend = x._device.backend
    handle = x._handle
    pairs = list(zip(old, new, strict=True))
    if any(n < m for m, n in pairs):
        handle = backend.shrink(handle, tuple([(0, n if n < m else m) for m, n in pairs]))
    if any(n > m for m, n in pairs):
        zero = False if x._dtype is d.bool else 0
        handle = backend.pad(handle, tuple([(0, n - m if n > m else 0) for m, n in pairs]), zero)
    return wrap(handle, x._dtype, x._device)


complete_docstrings(globals(), __all__)
