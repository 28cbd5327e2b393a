"""How NumPy arrays become storages and views, and back.

`wrap` makes a Tensor (contract/strided.py) of what NumPy returned. `NumPyMemory`, a base class of
the CPU backend, gives Tensors arrays. A storage of the extension may wait for operations
(native/expressions/nodes.h): its `memory` computes them.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Final

import numpy as np

from ...contract.arguments import Handle, Info, Native, Scalar
from ...contract.events import evaluated, unobserved
from ...contract.numpy_dtypes import NDArray
from ...contract.strided import Storage, StridedBackend, Tensor, tensor_over
from ...core import dtypes as d
from ...core.dtypes import CANONICAL, DType
from ...core.forks import hold_at_forks
from ...core.view import View
from ...explain.explanation import Explanation
from ...native import native
from .engine import memory_pool
from .engine.diagnostics import runtime_info
from .engine.fperrors import located
from .pass_reports import explanation
from .policy import limits
from .ufunc_table import ArrayOrScalar

_lock: Final = RLock()
"""Held while a large array gets its storage, so that there is one."""
hold_at_forks(_lock)

# Python scalars between these overflow no floating-point dtype: writing them gives no warning.
LEAST_SAFE: Final = max([float(d.limits(dtype).min) for dtype in d.REAL_FLOATING])
MOST_SAFE: Final = min([float(d.limits(dtype).max) for dtype in d.REAL_FLOATING])


def _nothing(storage: Storage) -> None:
    """Nothing waits where there is no extension."""


release_readers: Final = _nothing if native is None else native.release_readers


def _length(storage: Storage) -> int:
    """How many operations a storage waits for."""
    assert native is not None
    return len(native.describe_pending(storage) or ())


def is_waiting(x: Tensor) -> bool:
    """Whether the elements of `x` are yet to be computed."""
    return x.storage is not None and x.storage.waits


_ndarray: Final = np.ndarray
_may_share: Final = np.may_share_memory if native is None else native.may_share_memory
_asarray: Final = np.asarray


def wrap(array: ArrayOrScalar) -> Tensor:
    """A Tensor around the result of a NumPy function: an ndarray or a NumPy scalar."""
    tensor = Tensor()
    tensor.array = array = array if type(array) is _ndarray else _asarray(array)
    tensor.view = tensor.storage = None
    if array.size > limits.tracked:
        _ensure_view(tensor, shared=False)
    return tensor


def on_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method of the backend: `function` of the arrays of its handles, whose results it wraps.

    The function takes the parameters of the contract's method, with arrays for handles: the first
    parameter, or the first two.
    """

    def method(self: NumPyMemory, first: Any, *rest: Any, **keywords: object) -> Handle:
        if type(first) is Tensor:
            first = self.array(first)
        if rest and type(rest[0]) is Tensor:
            rest = (self.array(rest[0]), *rest[1:])
        found = function(first, *rest, **keywords)
        return tuple(map(wrap, found)) if isinstance(found, tuple) else wrap(found)

    return method


def _ensure_view(x: Tensor, *, shared: bool = True) -> View:
    """Set `x.storage` and `x.view` from `x.array`, and return the view.

    `shared` says that others may have the array, too, if it is large.
    """
    array: NDArray = x.array
    if array.flags.c_contiguous:
        view = View.row_major(array.shape)
        memory = array
    else:
        itemsize = array.itemsize
        strides = tuple([stride // itemsize for stride in array.strides])
        layout = View(array.shape, strides)
        low, high = layout.extent
        view = View(array.shape, strides, -low)
        memory = _flat(array, high - low)
    if array.size <= limits.tracked:
        # Two threads may do this at a time. It does not matter whose storage stays: no one keeps
        # account of who reads an array of this size.
        x.storage = Storage(memory)
        x.view = view
        return view
    with _lock:
        if x.view is None:
            x.storage = Storage(memory.reshape(-1), shared=shared)
            x.view = view
            x.array = None  # from now on it is found by the storage alone
    return x.view


def apart(array: NDArray, target: NDArray) -> NDArray:
    """`array`, or a copy of it if it may share memory with `target`, which is to be written."""
    if array.base is target.base is None and array is not target:
        # Each owns its memory. To ask NumPy would take a quarter of a small write's time.
        return array
    return array.copy() if _may_share(array, target) else array


class NumPyMemory(StridedBackend):
    """The part of the CPU backend that knows where elements lie."""

    shares_host = True

    def runtime_info(self) -> Info:
        return runtime_info()

    def release_memory(self) -> None:
        memory_pool.release()

    # ------------------------------------------------------------------ what waits

    def evaluate(self, *handles: Tensor) -> None:
        waiting = [x.storage for x in handles if is_waiting(x)]
        if waiting:
            evaluated("cpu", "evaluate was called")
            if len(waiting) > 1:
                # What another one is made of is computed along with that.
                waiting.sort(key=_length, reverse=True)
            with unobserved():
                for storage in waiting:
                    storage.memory  # noqa: B018  # computes it

    def explain(self, *handles: Tensor) -> Explanation:
        return explanation([x.storage for x in handles if is_waiting(x)])

    def hand_out(self, x: Tensor) -> None:
        """Prepare for others to write the memory of `x`, who are about to get it."""
        if x.storage is None:
            if x.array.size <= limits.tracked:
                return
            self.ensure_view(x)
        storage = x.storage
        storage.memory  # noqa: B018  # computes it
        release_readers(storage)
        storage.shared = True

    def before_writing(self, x: Tensor) -> None:
        """Compute all that waits and reads the memory of `x`, which is about to be written."""
        if x.storage is not None:
            release_readers(x.storage)

    # ------------------------------------------------------------------ views and memory

    def ensure_view(self, x: Tensor) -> View:
        return _ensure_view(x)

    def bind(self, x: Tensor) -> NDArray:
        view, storage = x.view, x.storage
        if view.mask is not None:
            array = self.array(self.materialise(x, 0))
            array.flags.writeable = False
        else:
            try:
                offset, strides = view.byte_layouts[storage.itemsize]
            except KeyError:
                offset, strides = view.byte_layout(storage.itemsize)
            memory = storage.memory
            if memory is None:  # of which NumPy would make new memory
                raise ValueError("the storage of an array has no memory")
            array = _ndarray(view.shape, storage.dtype, memory, offset, strides)
            if view.is_read_only:
                array.flags.writeable = False
        if view.size <= limits.tracked:
            x.array = array
        return array

    def peek(self, x: Tensor) -> NDArray | None:
        return None if is_waiting(x) else self.array(x)

    def materialise(self, x: Tensor, fill: Scalar) -> Tensor:
        view, storage = x.view, x.storage
        result: NDArray = located(np.full, view.shape, fill, storage.dtype)
        if view.mask is None:
            result[...] = self.array(x)
        elif all([start < end for start, end in view.mask]):
            inside = tensor_over(storage, view.shrink(view.mask))
            result[tuple([slice(*bounds) for bounds in view.mask])] = self.bind(inside)
        return wrap(result)

    def array(self, x: Tensor) -> NDArray:
        """The ndarray of `x`."""
        array = x.array
        return self.bind(x) if array is None else array

    # ------------------------------------------------------------------ properties

    def shape(self, x: Tensor) -> tuple[int, ...]:
        array = x.array
        shaped: Native = x.view if array is None else array
        shape: tuple[int, ...] = shaped.shape
        return shape

    sizes = shape

    def dtype(self, x: Tensor) -> DType:
        array = x.array
        return CANONICAL[x.storage.dtype if array is None else array.dtype]

    def read_only_reason(self, x: Tensor) -> str | None:
        array = x.array
        if array is None:
            # The answer does not depend on the elements: what waits goes on waiting.
            if is_waiting(x):
                return x.view.read_only_reason
            array = self.bind(x)
        if array.flags.writeable:
            return None
        view = x.view or self.ensure_view(x)
        return view.read_only_reason or "its memory was handed in as read-only"

    def may_overlap(self, x1: Tensor, x2: Tensor) -> bool:
        view1, view2 = x1.view or self.ensure_view(x1), x2.view or self.ensure_view(x2)
        storage1, storage2 = x1.storage, x2.storage
        if storage1 is storage2:
            return view1.overlaps(view2)
        # Two storages can lie over one memory, but one that waits has a memory of its own.
        if is_waiting(x1) or is_waiting(x2):
            return False
        return bool(_may_share(storage1.memory, storage2.memory))

    def item(self, x: Tensor) -> Scalar:
        array = x.array
        if array is None:
            view, storage = x.view, x.storage
            if view.ndim == 0:
                element: Scalar = storage.memory.item(view.offset)
                return element
            array = self.bind(x)
        value: Scalar = array.item()
        return value

    def to_host(self, x: Tensor) -> NDArray:
        self.hand_out(x)
        # A new ndarray object, since the caller may set its shape or flags.
        return self.array(x).view()


def _flat(array: NDArray, length: int) -> NDArray:
    """The block of memory from the lowest element of `array` on, as a 1-D array."""
    if length == 0:
        return array.reshape(-1)
    forwards = array[tuple([slice(None, None, -1 if s < 0 else 1) for s in array.strides])]
    return np.lib.stride_tricks.as_strided(forwards, (length,), (array.itemsize,))
