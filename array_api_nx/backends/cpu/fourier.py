"""Fourier transforms of the CPU backend, by numpy.fft; those of large arrays on several threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from ...contract.arguments import OPPOSITE, Norm
from ...contract.numpy_dtypes import NDArray
from ...contract.strided import Tensor
from ...core import dtypes as d
from ...core.dtypes import DType
from .engine import sliced_calls
from .engine.fperrors import located
from .long_transforms import LONG_MIN, factors, transform_vector
from .storage import NumPyMemory, wrap

_Transform: TypeAlias = Callable[..., NDArray]
"""One of numpy.fft along one axis: ``function(array, size, axis, norm, out)``."""

_HALVED_MIN: Final = 64
"""From this size on, half of the transform of real numbers is computed, and the other half is
copied from it (docs/tuning.md, 80)."""


_SINGLE_ON_THREADS: Final = np.lib.NumpyVersion(np.__version__) >= "2.1.3"
"""NumPy before that promotes dtypes otherwise in threads that Python did not start with: there it
transforms single precision as double, always, and the bits would depend on the thread."""


class FourierTransforms(NumPyMemory):
    """The section "Fourier transforms" of the contract."""

    # One axis is transformed after the other, in the order of numpy.fft.

    def fft(self, x: Tensor, axes: tuple[int, ...], norm: Norm) -> Tensor:
        array = self.array(x)
        if _is_halved(array, axes):
            return wrap(_of_real(array, axes, norm))
        return wrap(_transform_all(np.fft.fft, array, axes[::-1], norm))

    def ifft(self, x: Tensor, axes: tuple[int, ...], norm: Norm) -> Tensor:
        array = self.array(x)
        if _is_halved(array, axes):
            result = _of_real(array, axes, OPPOSITE[norm])
            return wrap(np.conjugate(result, result))
        return wrap(_transform_all(np.fft.ifft, array, axes[::-1], norm))

    def rfft(self, x: Tensor, axes: tuple[int, ...], norm: Norm) -> Tensor:
        array = _transform(np.fft.rfft, self.array(x), None, axes[-1], norm)
        return wrap(_transform_all(np.fft.fft, array, axes[-2::-1], norm))

    def irfft(self, x: Tensor, axes: tuple[int, ...], last_size: int, norm: Norm) -> Tensor:
        array = _transform_all(np.fft.ifft, self.array(x), axes[:-1], norm)
        return wrap(_transform(np.fft.irfft, array, last_size, axes[-1], norm))


def _is_halved(array: NDArray, axes: tuple[int, ...]) -> bool:
    """Whether half of a transform of real numbers over several axes is computed."""
    sizes = [array.shape[axis] for axis in axes]
    return array.dtype.kind == "f" and len(axes) > 1 and sizes[-1] >= _HALVED_MIN


def _of_real(array: NDArray, axes: tuple[int, ...], norm: Norm) -> NDArray:
    """The transform of real numbers over several axes.

    Half of it is computed, up to the middle of the last axis. Each element of the other half is the
    conjugate of the one whose frequencies are the negative ones, along all of the axes.
    """
    *others, last = axes
    result = sliced_calls.like(array, array.shape, d.COMPLEX_OF[array.dtype])
    whole: list[slice] = [slice(None)] * array.ndim
    size = array.shape[last]

    def at(axis: int, chosen: slice) -> tuple[slice, ...]:
        return (*whole[:axis], chosen, *whole[axis + 1 :])

    half = result[at(last, slice(size // 2 + 1))]
    _transform(np.fft.rfft, array, None, last, norm, half)
    for axis in others[::-1]:
        _transform(np.fft.fft, half, None, axis, norm, half)
    rest = result[at(last, slice(size // 2 + 1, None))]
    mirrored = half[at(last, slice((size - 1) // 2, 0, -1))]
    # Along an axis that is transformed, frequency 0 comes first and has no sign; the negatives of
    # the frequencies that follow are the same elements in reverse order.
    parts = [(rest, mirrored)]
    for axis in others:
        first, following = at(axis, slice(1)), at(axis, slice(1, None))
        opposite = at(axis, slice(None, 0, -1))
        parts = [(to[first], of[first]) for to, of in parts] + [
            (to[following], of[opposite]) for to, of in parts
        ]
    for to, of in parts:
        np.conjugate(of, to)
    return result


def _transform_all(
    function: _Transform, array: NDArray, axes: tuple[int, ...], norm: Norm
) -> NDArray:
    """`function` along one axis after the other."""
    for axis in axes:
        array = _transform(function, array, None, axis, norm)
    return array


def _transform(
    function: _Transform,
    array: NDArray,
    size: int | None,
    axis: int,
    norm: Norm,
    out: NDArray | None = None,
) -> NDArray:
    """``function(array, size, axis, norm, out)``, in the precision of `array`."""
    name, shape = function.__name__, list(array.shape)
    n = shape[axis] if size is None else size
    if len(shape) == 1 and n < _HALVED_MIN and array.dtype in d.DOUBLE:
        return np.asarray(located(function, array, n, axis, norm, out))
    shape[axis] = n // 2 + 1 if name == "rfft" else n
    dtype: DType = array.dtype
    dtype = (d.REAL_OF if name == "irfft" else d.COMPLEX_OF).get(dtype, dtype)
    result = sliced_calls.like(array, tuple(shape), dtype) if out is None else out
    if name == "rfft":
        name += "_n_odd" if n % 2 else "_n_even"
    if _sizes(function, n, array.dtype) is not None:
        with sliced_calls.one_operation(name):
            _compute(function, array, n, axis, norm, result)
        return result
    keys = None
    if _runs_on_threads(array.dtype):
        least = sliced_calls.FFT_MIN // sliced_calls.SLICES_MIN
        keys = sliced_calls.divide(array.shape, axis, least)
    if keys is None:
        located(_compute, function, array, n, axis, norm, result)
    else:
        sliced_calls.run(
            lambda key: _compute(function, array[key], n, axis, norm, result[key]), keys, name
        )
    return result


def _runs_on_threads(dtype: DType) -> bool:
    return _SINGLE_ON_THREADS or dtype in d.DOUBLE


def _sizes(function: _Transform, n: int, dtype: DType) -> tuple[int, int] | None:
    """The rows and columns by which long vectors are transformed; None for a call of NumPy."""
    name = function.__name__
    if name == "irfft" or n // (2 if name == "rfft" else 1) < LONG_MIN:
        return None
    if not _runs_on_threads(dtype):
        return None
    return factors(n)


def _apply(function: _Transform, x: NDArray, n: int, axis: int, norm: Norm, out: NDArray) -> None:
    """``function(x, n, axis, norm, out)``; long vectors one by one."""
    sizes = _sizes(function, n, x.dtype)
    if sizes is None:
        function(x, n, axis, norm, out)
        return
    vectors, results = np.moveaxis(x, axis, -1), np.moveaxis(out, axis, -1)
    for place in np.ndindex(vectors.shape[:-1]):
        transform_vector(function, vectors[place], norm, sizes, results[place])


def _compute(function: _Transform, x: NDArray, n: int, axis: int, norm: Norm, out: NDArray) -> None:
    """Write ``function(x, n, axis, norm)`` to `out`."""
    name = function.__name__
    is_inverse = name in ("ifft", "irfft")
    if x.dtype.kind == "f" and name != "rfft" and n >= _HALVED_MIN:
        before = (slice(None),) * axis
        half = out[*before, : n // 2 + 1]
        _compute(np.fft.rfft, x, n, axis, OPPOSITE[norm] if is_inverse else norm, half)
        # The rest are the conjugates of the elements before, in reverse order.
        mirrored, rest = out[*before, (n - 1) // 2 : 0 : -1], out[*before, n // 2 + 1 :]
        if is_inverse:
            rest[...] = mirrored
            np.conjugate(half, half)
        else:
            np.conjugate(mirrored, rest)
    elif x.dtype not in d.DOUBLE and norm == ("forward" if is_inverse else "backward"):
        # Where nothing is scaled, NumPy transforms single precision as double, in twice the time.
        _apply(function, x, n, axis, OPPOSITE[norm], out)
        if out.flags.c_contiguous:
            numbers = out.view(d.REAL_OF[out.dtype])
            np.multiply(numbers, n, numbers)
        else:
            for numbers in (out.real, out.imag) if out.dtype.kind == "c" else (out,):
                np.multiply(numbers, n, numbers)
    else:
        _apply(function, x, n, axis, norm, out)
