"""What einops asks for arrays: with it plain ``einops.rearrange(x, ...)`` takes them.

einops finds the classes below among the subclasses of its `AbstractBackend`. This module is
imported after einops, wherever that is imported, before this package or after it; never without
einops.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from einops._backends import AbstractBackend, NumpyBackend

from . import extra
from .contract.numpy_dtypes import NDArray
from .core.dtypes import FLOATING
from .frontend import creation, joining, manipulation, ranges, statistical, utility
from .frontend.array import Array

__all__ = ["ArrayBackend", "FaceBackend"]

_REDUCTIONS: Final[dict[str, Callable[..., Array]]] = {
    "all": utility.all,
    "any": utility.any,
    "max": statistical.max,
    "mean": statistical.mean,
    "min": statistical.min,
    "prod": statistical.prod,
    "sum": statistical.sum,
}


class ArrayBackend(AbstractBackend):  # type: ignore[misc]  # where einops is not installed
    """Arrays of this package, on every device, for einops; what methods are for, it says."""

    # einops makes an instance when a module of this name is loaded, and an array comes along.
    framework_name = "array_api_nx"

    def is_appropriate_type(self, tensor: object) -> bool:
        return type(tensor) is Array

    def from_numpy(self, x: NDArray) -> Array:
        return creation.asarray(x)

    def to_numpy(self, x: Array) -> NDArray:
        return np.asarray(x)

    def arange(self, start: int, stop: int) -> Array:
        return ranges.arange(start, stop)

    def reshape(self, x: Array, shape: Sequence[int]) -> Array:
        return manipulation.reshape(x, tuple(shape))

    def transpose(self, x: Array, axes: Sequence[int]) -> Array:
        return manipulation.permute_dims(x, tuple(axes))

    def reduce(self, x: Array, operation: str, axes: tuple[int, ...]) -> Array:
        return _REDUCTIONS[operation](x, axis=axes)

    def stack_on_zeroth_dimension(self, tensors: list[Array]) -> Array:
        return joining.stack(tensors)

    def add_axis(self, x: Array, new_position: int) -> Array:
        return manipulation.expand_dims(x, axis=new_position)

    def tile(self, x: Array, repeats: tuple[int, ...]) -> Array:
        return joining.tile(x, repeats)

    def concat(self, tensors: Sequence[Array], axis: int) -> Array:
        return joining.concat(list(tensors), axis=axis)

    def is_float_type(self, x: Array) -> bool:
        return x.dtype in FLOATING

    def einsum(self, pattern: str, *x: Array) -> Array:
        return extra.einsum(pattern, *x)


class FaceBackend(NumpyBackend):  # type: ignore[misc]  # where einops is not installed
    """Arrays of `array_api_nx.numpy`, by einops' own calls of NumPy's names."""

    framework_name = "array_api_nx.numpy"

    def __init__(self) -> None:
        self.np = sys.modules[self.framework_name]

    def is_appropriate_type(self, tensor: object) -> bool:
        # NumPy's own arrays are instances of the class, too.
        return type(tensor) is self.np.ndarray
