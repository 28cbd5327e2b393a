"""Backends whose handles are strided views of storages: movement is view algebra.

A `Tensor` is a (storage, view) pair. Movement makes a new Tensor over the same storage without
calling the engine. The engine's own array over that memory is made when a kernel first needs it,
and kept in the Tensor; results of kernels come the other way round, as an engine array whose
storage and view are worked out when a movement first needs them.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import product
from math import prod
from typing import Any, final

from ..core.layout import Selection
from ..core.symbolic_layout import stride_order
from ..core.view import View
from ..native import native
from ..primitives.rules import window_counts
from .arguments import AxisOrder, Native, Operand, Padding, Scalar
from .backend import Backend


@final
class Storage:
    """A flat block of memory that a backend owns or was lent, or will have computed.

    `memory`: a contiguous array of the engine over the block. In the extension, reading it computes
    what the storage waits for.
    `dtype`: the engine's dtype of it.
    `itemsize`: bytes per element.
    `shared`: whether others can write the memory: it came in by reference, or was handed out.
    `waits`: whether the memory is yet to be computed.
    """

    __slots__ = ("__weakref__", "dtype", "itemsize", "memory", "shared")

    memory: Native
    dtype: Native
    itemsize: int
    shared: bool
    waits = False

    def __init__(self, memory: Native, *, shared: bool = False) -> None:
        self.memory = memory
        self.dtype = memory.dtype
        self.itemsize = self.dtype.itemsize
        self.shared = shared


@final
class Tensor:
    """The handle of strided backends.

    `array`: the engine's strided array, once there is one. A backend that defers keeps it out of
    here where operations must not simply run on it.
    `storage`: both None until a movement needs them, if the Tensor came out of a kernel; then
    `array` is not. Their types say Any for None, as typeshed does where the caller knows.
    """

    __slots__ = ("array", "storage", "view")

    array: Native
    view: View | Any
    storage: Storage | Any


if native is not None:
    # The same two in C; the classes above are their specification.
    Storage = native.Storage  # type: ignore[assignment, misc]
    Tensor = native.Tensor  # type: ignore[assignment, misc]
    native.set_views(View, View)


def tensor_over(storage: Storage | None, view: View) -> Tensor:
    """A Tensor that shows `storage` through `view`."""
    tensor = Tensor()
    tensor.array = None
    tensor.view = view
    tensor.storage = storage
    return tensor


def axis_order(view: View) -> AxisOrder | None:
    """`Backend.axis_order` of an array whose view is `view`."""
    if view.is_row_major:
        return None
    packed = view.packed_order
    if packed is not None:
        return AxisOrder(packed, True)
    return AxisOrder(stride_order(view.shape, view.strides), False)


class StridedBackend(Backend):
    """Movement primitives over Tensors, for engines with strided arrays.

    A subclass says how an engine array becomes (storage, view) and back.
    """

    strided_shares = True

    @abstractmethod
    def ensure_view(self, x: Tensor) -> View:
        """Work out `x.storage` and `x.view` from `x.array`; return the view."""

    @abstractmethod
    def bind(self, x: Tensor) -> Native:
        """Make `x.array` from `x.storage` and `x.view`; return it."""

    @abstractmethod
    def materialise(self, x: Tensor, fill: Scalar) -> Tensor:
        """A row-major copy of `x` with `fill` where the view is masked."""

    def view(self, x: Tensor) -> View:
        """How `x` reads its storage."""
        return x.view or self.ensure_view(x)

    @abstractmethod
    def peek(self, x: Tensor) -> Native:
        """The engine's array of `x` to look at, or None while there is none to be had without
        computing anything. What looks at it neither writes nor keeps it."""

    # The movements below are hot. Each looks into the view's memo by itself and repeats the three
    # assignments of `tensor_over`, because calls would cost as much as the rest.

    def expand(self, x: Tensor, shape: tuple[int, ...]) -> Tensor:
        view = x.view or self.ensure_view(x)
        try:
            return tensor_over(x.storage, view.expanded[shape])
        except KeyError:
            return tensor_over(x.storage, view.expand(shape))

    def try_reshape(self, x: Tensor, shape: tuple[int, ...]) -> Tensor | None:
        view = x.view or self.ensure_view(x)
        try:
            reshaped = view.reshaped[shape]
        except KeyError:
            reshaped = view.reshape(shape)
        return None if reshaped is None else tensor_over(x.storage, reshaped)

    def permute(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        view = x.view or self.ensure_view(x)
        try:
            return tensor_over(x.storage, view.permuted[axes])
        except KeyError:
            return tensor_over(x.storage, view.permute(axes))

    def slice(self, x: Tensor, selection: Selection) -> Tensor:
        view = x.view or self.ensure_view(x)
        try:
            sliced = view.sliced[selection]
        except KeyError:
            sliced = view.slice(selection)
        if sliced is None:
            return self.slice(self.materialise(x, 0), selection)
        result = tensor_over(x.storage, sliced)
        # x[...] shows all of x, and has its array.
        result.array = x.array if sliced is view else None
        return result

    def flip(self, x: Tensor, axes: tuple[bool, ...]) -> Tensor:
        view = x.view or self.ensure_view(x)
        try:
            return tensor_over(x.storage, view.flipped[axes])
        except KeyError:
            return tensor_over(x.storage, view.flip(axes))

    def strided(self, x: Tensor, view: View) -> Tensor:
        x = self.contiguous(x)
        base = x.view or self.ensure_view(x)
        if base.offset or base.is_read_only:
            is_read_only = base.is_read_only or view.is_read_only
            view = View(view.shape, view.strides, view.offset + base.offset, None, is_read_only)
        return tensor_over(x.storage, view)

    def assign_strided(self, target: Tensor, view: View, value: Operand) -> None:
        self.assign(self.strided(target, view), value)

    def axis_order(self, x: Tensor) -> AxisOrder | None:
        return axis_order(x.view or self.ensure_view(x))

    def pad(self, x: Tensor, padding: Padding, value: Scalar) -> Tensor:
        view = x.view or self.ensure_view(x)
        if view.mask is not None:
            # Earlier padding stays 0.
            return self.pad(self.materialise(x, 0), padding, value)
        return self.materialise(tensor_over(x.storage, view.pad(padding)), value)

    def contiguous(self, x: Tensor) -> Tensor:
        view = x.view or self.ensure_view(x)
        return x if view.is_row_major else self.copy(x)

    def unfold(
        self,
        x: Tensor,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        dilation: tuple[int, ...],
        padding: Padding,
    ) -> Tensor:
        # The padding stays virtual. The elements that one position in the kernel meets, over all
        # windows, are a slice of the padded view, and its mask says which of them have memory.
        sizes = self.shape(x)
        ndim = len(sizes) - len(kernel_size)
        lead = sizes[:ndim]
        counts = window_counts(sizes[ndim:], kernel_size, stride, dilation, padding)
        view = self.view(x).pad((*[(0, 0)] * ndim, *padding))
        padded = tensor_over(x.storage, view)
        shape = (*lead, prod(kernel_size), *counts)
        if view.mask is None:
            result = self.empty(shape, self.dtype(x))
        else:
            result = self.full(shape, self.dtype(x), 0)
        whole = [(0, size, 1) for size in lead]
        for row, position in enumerate(product(*[range(size) for size in kernel_size])):
            steps = zip(position, dilation, counts, stride, strict=True)
            selection = [(i * spread, count, step) for i, spread, count, step in steps]
            windows = self.slice(padded, (*whole, *selection))
            box = self.view(windows).mask or tuple([(0, size) for size in (*lead, *counts)])
            target = [(start, end - start, 1) for start, end in box]
            self.assign(
                self.slice(result, (*target[:ndim], row, *target[ndim:])),
                self.shrink(windows, box),
            )
        flat: Tensor = self.reshape(result, (*lead, prod(kernel_size), prod(counts)))
        return flat
