"""Fourier transforms of the CPU backend, by numpy.fft; those of large arrays on several threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ...contract.backend import Norm
from ...contract.numpy_dtypes import NDArray, NumPyDType
from ...contract.strided import Tensor
from .engine import loops, sliced_calls
from .engine.fperrors import located
from .engine.operations import compute
from .kernels import ArrayOrScalar
from .storage import NumPyMemory, wrap

__all__ = ["FourierTransforms"]

_WIDE: Final[dict[str, NumPyDType]] = {"f": np.dtype(np.float64), "F": np.dtype(np.complex128)}
_REAL: Final[dict[str, NumPyDType]] = {"F": np.dtype(np.float32), "D": np.dtype(np.float64)}
_COMPLEX: Final[dict[str, NumPyDType]] = {"f": np.dtype(np.complex64), "d": np.dtype(np.complex128)}


class FourierTransforms(NumPyMemory):
    """The section "Fourier transforms" of the contract."""

    # Transforms of one axis do not go through numpy.fft's functions for several axes, which take
    # longer. Large arrays are transformed one axis after the other, in the order of numpy.fft.

    def fft(self, x: Tensor, axes: tuple[int, ...], norm: Norm) -> Tensor:
        return wrap(_complex(np.fft.fft, np.fft.fftn, self.array(x), axes, norm))

    def ifft(self, x: Tensor, axes: tuple[int, ...], norm: Norm) -> Tensor:
        return wrap(_complex(np.fft.ifft, np.fft.ifftn, self.array(x), axes, norm))

    def rfft(self, x: Tensor, axes: tuple[int, ...], norm: Norm) -> Tensor:
        array = self.array(x)
        if array.size > sliced_calls.FFT_POOLED_MIN:
            array = _transform(np.fft.rfft, array, None, axes[-1], norm)
            return wrap(_transform_all(np.fft.fft, array, axes[-2::-1], norm))
        if len(axes) == 1:
            return wrap(located(np.fft.rfft, array, None, axes[0], norm))
        return wrap(located(np.fft.rfftn, array, None, axes, norm))

    def irfft(self, x: Tensor, axes: tuple[int, ...], last_size: int, norm: Norm) -> Tensor:
        array = self.array(x)
        if array.size > sliced_calls.FFT_POOLED_MIN:
            array = _transform_all(np.fft.ifft, array, axes[:-1], norm)
            return wrap(_transform(np.fft.irfft, array, last_size, axes[-1], norm))
        if len(axes) == 1:
            return wrap(located(np.fft.irfft, array, last_size, axes[0], norm))
        sizes = [array.shape[axis] for axis in axes[:-1]]
        return wrap(located(np.fft.irfftn, array, (*sizes, last_size), axes, norm))


def _complex(
    function: Callable[..., NDArray],
    function_of_axes: Callable[..., NDArray],
    array: NDArray,
    axes: tuple[int, ...],
    norm: Norm,
) -> ArrayOrScalar:
    """A transform from complex numbers to as many; `function` of numpy.fft takes one axis."""
    if array.size > sliced_calls.FFT_POOLED_MIN:
        return _transform_all(function, array, axes[::-1], norm)
    if len(axes) == 1:
        return located(function, array, None, axes[0], norm)
    return located(function_of_axes, array, None, axes, norm)


def _transform_all(
    function: Callable[..., NDArray], array: NDArray, axes: tuple[int, ...], norm: Norm
) -> NDArray:
    """`function` along one axis after the other."""
    for axis in axes:
        array = _transform(function, array, None, axis, norm)
    return array


def _transform(
    function: Callable[..., NDArray], array: NDArray, size: int | None, axis: int, norm: Norm
) -> NDArray:
    """``function(array, size, axis, norm)``, one of numpy.fft along one axis."""
    name, dtype = function.__name__, array.dtype
    if dtype.char in _WIDE and norm == ("forward" if name in ("ifft", "irfft") else "backward"):
        # Where nothing is scaled, NumPy transforms single precision as double.
        result = _transform(function, _cast(array, _WIDE[dtype.char]), size, axis, norm)
        return _cast(result, _REAL["F"] if name == "irfft" else _COMPLEX["f"])
    shape = list(array.shape)
    if name == "rfft":
        name += "_n_odd" if shape[axis] % 2 else "_n_even"
        dtype = _COMPLEX[dtype.char]
        shape[axis] = shape[axis] // 2 + 1
    elif name == "irfft":
        dtype = _REAL[dtype.char]
        assert size is not None
        shape[axis] = size
    result = sliced_calls.like(array, tuple(shape), dtype)
    keys = sliced_calls.divide(array.shape, axis, sliced_calls.FFT_MIN // sliced_calls.SLICES_MIN)
    if keys is None:
        located(function, array, size, axis, norm, result)
    else:
        sliced_calls.run(
            lambda key: function(array[key], size, axis, norm, result[key]), keys, name
        )
    return result


def _cast(array: NDArray, dtype: NumPyDType) -> NDArray:
    """`array` in another precision, with the same layout."""
    loop = loops.cast(array.dtype, dtype) if array.flags.c_contiguous else None
    computed = None if loop is None else compute(loop, array)
    return located(array.astype, dtype) if computed is None else computed
