"""Fourier transforms of the CPU backend, by numpy.fft."""

from __future__ import annotations

import numpy as np

from ..base import Norm
from ..strided import Tensor
from .memory import NumPyMemory, wrap

__all__ = ["FourierTransforms"]


class FourierTransforms(NumPyMemory):
    """The section "Fourier transforms" of the contract."""

    # numpy.fft takes a detour for several axes, so one axis goes its own way.

    def fft(self, x: Tensor, axes: tuple[int, ...], norm: Norm) -> Tensor:
        if len(axes) == 1:
            return wrap(np.fft.fft(self.array(x), None, axes[0], norm))
        return wrap(np.fft.fftn(self.array(x), None, axes, norm))

    def ifft(self, x: Tensor, axes: tuple[int, ...], norm: Norm) -> Tensor:
        if len(axes) == 1:
            return wrap(np.fft.ifft(self.array(x), None, axes[0], norm))
        return wrap(np.fft.ifftn(self.array(x), None, axes, norm))

    def rfft(self, x: Tensor, axes: tuple[int, ...], norm: Norm) -> Tensor:
        if len(axes) == 1:
            return wrap(np.fft.rfft(self.array(x), None, axes[0], norm))
        return wrap(np.fft.rfftn(self.array(x), None, axes, norm))

    def irfft(self, x: Tensor, axes: tuple[int, ...], last_size: int, norm: Norm) -> Tensor:
        if len(axes) == 1:
            return wrap(np.fft.irfft(self.array(x), last_size, axes[0], norm))
        sizes = [self.shape(x)[axis] for axis in axes[:-1]]
        return wrap(np.fft.irfftn(self.array(x), (*sizes, last_size), axes, norm))
