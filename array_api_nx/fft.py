"""The standard's extension ``fft``: discrete Fourier transforms.

Booleans and integers are computed in double precision. `norm` says which direction divides: with
"backward" the inverse transforms divide by the number of elements, with "forward" the forward ones
do, and with "ortho" both divide by its square root. All results are new arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .contract.arguments import OPPOSITE, Norm
from .contract.numpy_dtypes import DTypeLike
from .core import dtypes as d
from .core.dtypes import COMPLEX, REAL_FLOATING, as_dtype
from .core.shape import as_int, check_shape, repeatable_axes
from .device import Device, as_device
from .frontend import elementwise, joining
from .frontend.array import Array, wrap
from .frontend.data_type import astype
from .frontend.dispatch import operand_dtypes
from .frontend.docstrings import complete_docstrings
from .frontend.missing import getter
from .frontend.operands import cast, only_array
from .native import with_advice, with_native
from .primitives import table as p
from .primitives.table import Primitive

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


# ---------------------------------------------------------------------- complex input


@with_native
def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """One-dimensional transform.

    x: Real or complex; integers and booleans are converted to float64.
    axis: Which axis to transform.
    Returns: A new array of the complex dtype of the precision of `x`; size `n` on the axis.
    ValueError: If a size is below 1, or `norm` is another one.
    """
    return _transformed(p.FFT, "fft", x, _one(n), (axis,), norm)


@with_native
def ifft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Inverse of `fft`.

    x: Real or complex; integers and booleans are converted to float64.
    axis: Which axis to transform.
    Returns: A new array of the complex dtype of the precision of `x`; size `n` on the axis.
    ValueError: If a size is below 1, or `norm` is another one.
    """
    return _transformed(p.IFFT, "ifft", x, _one(n), (axis,), norm)


@with_native
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
    ValueError: If a size is below 1, `s` has another length than `axes`, or `norm` is another one.
    """
    return _transformed(p.FFT, "fftn", x, s, axes, norm)


@with_native
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
    ValueError: If a size is below 1, `s` has another length than `axes`, or `norm` is another one.
    """
    return _transformed(p.IFFT, "ifftn", x, s, axes, norm)


# ---------------------------------------------------------------------- real input or output


@with_native
def rfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """One-dimensional transform of real input, without the redundant half.

    x: A real dtype.
    axis: Which axis to transform.
    Returns: A new array of the complex dtype of the precision of `x`; size n // 2 + 1 on the axis.
    TypeError: If `x` is complex.
    ValueError: If a size is below 1, or `norm` is another one.
    """
    return _transformed(p.RFFT, "rfft", x, _one(n), (axis,), norm)


@with_native
def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Inverse of `rfft`.

    x: Complex, or converted to it; the half of a spectrum that `rfft` keeps.
    n: Size of the result on the axis; by default 2 * (m - 1) for a size m of `x`. `x` is cropped or
        zero-padded to n // 2 + 1.
    axis: Which axis to transform.
    Returns: A new array of the real dtype of the precision of `x`; size `n` on the axis.
    ValueError: If a size is below 1, or `norm` is another one.
    """
    return _transformed(p.IRFFT, "irfft", x, _one(n), (axis,), norm)


@with_native
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
    ValueError: If there is no axis, a size is below 1, `s` has another length than `axes`, or
        `norm` is another one.
    """
    return _transformed(p.RFFT, "rfftn", x, s, axes, norm)


@with_native
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
    ValueError: If there is no axis, a size is below 1, `s` has another length than `axes`, or
        `norm` is another one.
    """
    return _transformed(p.IRFFT, "irfftn", x, s, axes, norm)


@with_advice
def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """One-dimensional transform of a signal with Hermitian symmetry; its spectrum is real.

    x: Complex, or converted to it; the half of the signal from element 0 on.
    n: Size of the result on the axis; by default 2 * (m - 1) for a size m of `x`. `x` is cropped or
        zero-padded to n // 2 + 1.
    axis: Which axis to transform.
    Returns: A new array of the real dtype of the precision of `x`; size `n` on the axis.
    ValueError: If a size is below 1, or `norm` is another one.
    """
    return _transformed(p.IRFFT, "hfft", x, _one(n), (axis,), norm)


@with_advice
def ihfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Inverse of `hfft`.

    x: A real dtype.
    axis: Which axis to transform.
    Returns: A new array of the complex dtype of the precision of `x`; size n // 2 + 1 on the axis:
        the half of a Hermitian signal from element 0 on.
    TypeError: If `x` is complex.
    ValueError: If a size is below 1, or `norm` is another one.
    """
    _check_norm(norm)
    return elementwise.conj(rfft(x, n=n, axis=axis, norm=OPPOSITE[norm]))


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
    return _frequencies(n, d, dtype, device, both=True)


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
    return _frequencies(n, d, dtype, device, both=False)


def _frequencies(
    n: int, d: float, dtype: DTypeLike | None, device: Device | str | None, *, both: bool
) -> Array:
    """Those from 0 on, and the negative ones after them if `both`.

    They are computed in double precision, where the device has it.
    """
    size = _at_least_one(n, "n")
    target = as_device(device)
    backend = target.backend
    counts = backend.arange(0, (size + 1) // 2 if both else size // 2 + 1, 1, target.real)
    if both:
        counts = backend.cat([counts, backend.arange(-(size // 2), 0, 1, target.real)], 0)
    result = target.real if dtype is None else as_dtype(dtype)
    if result not in REAL_FLOATING:
        names = " or ".join([x.name for x in REAL_FLOATING])
        raise TypeError(f"frequencies have dtype {names}, not {result}; use astype")
    if d == 0:
        raise ValueError("the distance d between samples must not be 0; give that of the samples")
    return cast(wrap(counts, target.real, target) / (float(d) * size), result)


@with_advice
def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Move the frequency 0 from the front to the middle.

    axes: Which axes to shift; by default all. The shifts of an axis that is named twice add up.
    Returns: A copy.
    """
    return _shifted(x, axes, 1)


@with_advice
def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Inverse of `fftshift`, from which it differs on axes of odd size.

    axes: Which axes to shift; by default all. The shifts of an axis that is named twice add up.
    Returns: A copy.
    """
    return _shifted(x, axes, -1)


def _shifted(x: Array, axes: int | Sequence[int] | None, sign: int) -> Array:
    x = only_array(x)
    along = repeatable_axes(axes, x.ndim)
    return joining.roll(x, tuple([sign * (x.shape[axis] // 2) for axis in along]), axis=along)


# ---------------------------------------------------------------------- transforms and checks


def _transformed(
    op: Primitive,
    name: str,
    x: Array,
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: Norm,
) -> Array:
    """The result of the function `name`: a transform `op` over axes."""
    x, along, sizes = _axes_and_sizes(op, name, x, s, axes, norm)
    if op is p.RFFT and x._dtype in COMPLEX:
        raise TypeError(
            f"a transform of real input does not take {x._dtype}; use fft or fftn, or take real(x)"
        )
    compute, dtype = operand_dtypes(op, x._dtype, x._device)
    if not along:
        return astype(x, dtype)
    if len({*along}) < len(along):
        return _one_by_one(op, x, list(zip(along, sizes, strict=True)), norm)
    backend = x._device.backend
    if op is not p.IRFFT:
        handle = cast(_resized(x, along, sizes), compute)._handle
        return wrap(getattr(backend, op.name)(handle, along, norm), dtype, x._device)
    half = cast(_resized(x, along, [*sizes[:-1], sizes[-1] // 2 + 1]), compute)
    if name == "hfft":
        half, norm = elementwise.conj(half), OPPOSITE[norm]
    return wrap(backend.irfft(half._handle, along, sizes[-1], norm), dtype, x._device)


def _one_by_one(op: Primitive, x: Array, pairs: list[tuple[int, int]], norm: Norm) -> Array:
    """Transforms of one axis each, given with its size; one of half a spectrum is the outermost."""
    whole = {p.RFFT: p.FFT, p.IRFFT: p.IFFT}.get(op, op)
    *others, last = pairs
    steps = [(whole, *pair) for pair in others]
    steps = [*steps, (op, *last)] if op is p.IRFFT else [(op, *last), *steps[::-1]]
    for step, axis, size in steps:
        x = _transformed(step, step.name, x, (size,), (axis,), norm)
    return x


def _check_norm(norm: str) -> None:
    if norm not in OPPOSITE:
        raise ValueError(f"there is no norm {norm!r}; give 'backward', 'ortho' or 'forward'")


def _one(n: int | None) -> tuple[int] | None:
    return None if n is None else (_at_least_one(n, "n"),)


def _at_least_one(n: int, name: str) -> int:
    size = as_int(n, name)
    if size < 1:
        raise ValueError(f"a transform needs at least one element, but {name} is {size}")
    return size


def _axes_and_sizes(
    op: Primitive,
    name: str,
    x: Array,
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: str,
) -> tuple[Array, tuple[int, ...], list[int]]:
    """The array, the axes to transform, each once or more, and the sizes of the signal on them.

    The arguments of the function `name` are checked but for the dtype of `x`.
    """
    x = only_array(x)
    shape = x.shape
    _check_norm(norm)
    if s is not None and not isinstance(s, Sequence):
        raise TypeError(f"s must be a sequence of sizes, one per axis, not {s!r}; give s=({s!r},)")
    if axes is None and s is not None:
        axes = range(-len(s), 0)
    along = repeatable_axes(axes, len(shape))
    if not along and op in (p.RFFT, p.IRFFT):
        raise ValueError(
            f"{name} needs at least one axis to transform, but axes={axes} of shape {shape} are "
            "none; give axes=..."
        )
    sizes = [shape[axis] for axis in along]
    if op is p.IRFFT:
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
