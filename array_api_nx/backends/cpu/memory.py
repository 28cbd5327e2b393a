"""How NumPy arrays become storages and views, and back."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...core.dtypes import DType
from ...core.view import View
from ..base import Scalar
from ..host import FROM_NUMPY
from ..strided import Storage, StridedBackend, Tensor
from .kernels import NDArray

__all__ = ["NumPyMemory", "wrap"]

_ndarray: Final = np.ndarray
_asarray: Final = np.asarray


def wrap(array: Any) -> Tensor:
    """A Tensor around what a NumPy kernel returned, which may be a NumPy scalar."""
    tensor = Tensor()
    tensor.array = array if type(array) is _ndarray else _asarray(array)
    tensor.view = tensor.storage = None
    return tensor


class NumPyMemory(StridedBackend):
    """The part of the CPU backend that knows where elements lie."""

    # ------------------------------------------------------------------ views and memory

    def anchor(self, x: Tensor) -> View:
        array: NDArray = x.array
        itemsize = array.itemsize
        if array.flags.c_contiguous:
            x.storage = Storage(array)
            x.view = View.row_major(array.shape)
            return x.view
        strides = tuple([stride // itemsize for stride in array.strides])
        layout = View(array.shape, strides)
        low, high = layout.extent
        x.storage = Storage(_flat(array, high - low))
        x.view = View(array.shape, strides, -low)
        return x.view

    def bind(self, x: Tensor) -> NDArray:
        view, storage = x.view, x.storage
        assert view is not None
        assert storage is not None
        if view.mask is not None:
            array: NDArray = self.materialise(x, 0).array
            array.flags.writeable = False
        else:
            try:
                offset, strides = view.byte_layouts[storage.itemsize]
            except KeyError:
                offset, strides = view.byte_layout(storage.itemsize)
            array = _ndarray(view.shape, storage.dtype, storage.memory, offset, strides)
            if view.has_repeats:
                array.flags.writeable = False
        x.array = array
        return array

    def materialise(self, x: Tensor, fill: Scalar) -> Tensor:
        view, storage = x.view, x.storage
        assert view is not None
        assert storage is not None
        result = np.full(view.shape, fill, storage.dtype)
        if view.mask is None:
            result[...] = self.array(x)
        elif all([start < end for start, end in view.mask]):
            inside = Tensor()
            inside.view, inside.storage = view.shrink(view.mask), storage
            result[tuple([slice(*bounds) for bounds in view.mask])] = self.bind(inside)
        return wrap(result)

    def array(self, x: Tensor) -> NDArray:
        """The ndarray of `x`."""
        array = x.array
        return self.bind(x) if array is None else array

    # ------------------------------------------------------------------ properties

    def shape(self, x: Tensor) -> tuple[int, ...]:
        array = x.array
        return x.view.shape if array is None else array.shape  # type: ignore[union-attr, return-value]

    def dtype(self, x: Tensor) -> DType:
        array = x.array
        return FROM_NUMPY[x.storage.dtype if array is None else array.dtype]  # type: ignore[union-attr]

    def read_only_reason(self, x: Tensor) -> str | None:
        array = x.array
        if array is None:
            array = self.bind(x)
        if array.flags.writeable:
            return None
        view = x.view or self.anchor(x)
        if view.has_repeats:
            return "several of its elements share memory, as after broadcast_to"
        if view.mask is not None:
            return "part of it is padding, which has no memory"
        return "its memory was handed in as read-only"

    def item(self, x: Tensor) -> Scalar:
        array = x.array
        if array is None:
            view, storage = x.view, x.storage
            if view.ndim == 0:  # type: ignore[union-attr]  # both are there if no array is
                return storage.memory.item(view.offset)  # type: ignore[union-attr, no-any-return]
            array = self.bind(x)
        return array.item()  # type: ignore[no-any-return]

    def to_host(self, x: Tensor) -> NDArray:
        # A view of its own, so that nobody can reshape or freeze the cached one.
        return self.array(x).view()


def _flat(array: NDArray, length: int) -> NDArray:
    """The block of memory from the lowest element of `array` on, as a 1-D array."""
    if length == 0:
        return array.reshape(-1)
    forwards = array[tuple([slice(None, None, -1 if s < 0 else 1) for s in array.strides])]
    return np.lib.stride_tricks.as_strided(forwards, (length,), (array.itemsize,))
