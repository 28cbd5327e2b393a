"""PyTorch behind the adapter: views share memory, and gradients pass through.

torch_compiled.py has the backend of its devices, which compiles whole programs too.
"""

from __future__ import annotations

from typing import Final

import array_api_compat.torch as xp
import numpy as np
import torch

from ...contract.arguments import Native, Scalar
from ...contract.handles import HOST
from ...contract.numpy_dtypes import NDArray, has_negative_strides
from ...contract.strided import Storage, Tensor
from ...core import dtypes as d
from ...core.dtypes import DType
from ...core.symbolic import KnownInts
from ...core.view import View
from ...primitives import table as p
from ...primitives.table import Primitive
from .adapter import explain_errors, unusable, wrap
from .namespace import NamespaceBackend
from .torch_kernels import (
    BITS,
    TO_TORCH,
    float_order,
    from_bits,
    from_numpy,
    integer_product,
    kernels,
    ordered,
    tensors,
    to_bits,
    to_numpy,
)
from .torch_special import special_functions

_DLPACK_TYPES: Final = {"cpu": HOST, "cuda": 2, "mps": 8, "xpu": 14}
_MAX_LAYOUTS: Final = 1 << 13


@explain_errors
class TorchBackend(NamespaceBackend):
    """Executes primitives with PyTorch on one of its devices.

    `name`: the device that users name.
    `place`: PyTorch's name for it.
    Raises RuntimeError if this machine has no such device, or it does not work.
    """

    xp = xp
    errors = (RuntimeError,)
    word = 16  # its loops read complex128 in one piece

    def __init__(self, name: str, place: str) -> None:
        self.place = torch.device(place)
        self.shares_host = self.place.type == "cpu"
        # MPS has no double precision.
        lacking = d.DOUBLE if place == "mps" else ()
        super().__init__(name, TO_TORCH, lacking)
        self.unaries, self.binaries = kernels(self.place.type)
        self.ufuncs = special_functions(self.place.type)
        self._layouts: dict[View, Layout] = {}
        try:
            torch.empty((0,), device=self.place)
        except (RuntimeError, AssertionError) as error:
            raise unusable(name, _first_line(error)) from error

    # ------------------------------------------------------------------ memory

    row_major_test = "is_contiguous"

    def row_major(self, array: Native) -> Native:
        return array.contiguous()

    def may_overlap(self, x1: Tensor, x2: Tensor) -> bool:
        return _share(_memory_of(x1), _memory_of(x2))

    def release_memory(self) -> None:
        if self.place.type in ("cuda", "mps", "xpu"):
            getattr(torch, self.place.type).empty_cache()

    def flatten(self, array: Native) -> tuple[Native, View]:
        shape = tuple(array.shape)
        if array.is_contiguous():
            return array.view(-1), View.row_major(shape)
        view = View(shape, array.stride())
        low, high = view.extent
        return array.as_strided((high - low,), (1,), array.storage_offset()), view

    def read(self, memory: Native, view: View) -> tuple[Native, bool]:
        shape, strides, offset, flipped = self.layout(view)
        array = memory.as_strided(shape, strides, memory.storage_offset() + offset)
        if not flipped:
            return array, True
        return from_bits(torch.flip(to_bits(array), flipped), array.dtype), False

    def layout(self, view: View) -> Layout:
        """A view as PyTorch takes it: without negative strides, and the axes to flip."""
        try:
            return self._layouts[view]
        except KeyError:
            if len(self._layouts) >= _MAX_LAYOUTS:
                self._layouts.clear()
            layout = self._layouts[view] = _layout(view)
            return layout

    def write(self, target: Tensor, value: Native | Scalar) -> None:
        view, storage = target.view, target.storage
        if target.array is not None:
            array = target.array
        else:
            memory = storage.memory
            shape, strides, offset, flipped = self.layout(view)
            array = memory.as_strided(shape, strides, memory.storage_offset() + offset)
            if flipped and isinstance(value, torch.Tensor):
                value = torch.broadcast_to(value, shape)
                value = from_bits(torch.flip(to_bits(value), flipped), value.dtype)
        if isinstance(value, torch.Tensor):
            array.copy_(_apart(value, array))
        else:
            array.fill_(value)

    def put(self, storage: Storage, positions: Native, values: Native | Scalar) -> None:
        memory = to_bits(storage.memory)
        if isinstance(values, torch.Tensor):
            memory[positions] = _apart(to_bits(values), memory)
        else:
            whole = torch.scalar_tensor(values, dtype=storage.dtype, device=memory.device)
            memory[positions] = to_bits(whole)

    def from_host(self, array: NDArray, *, copy: bool, lent: bool = True) -> Tensor:
        flipped = tuple([step < 0 for step in array.strides])
        if copy or not any(flipped):
            return super().from_host(array, copy=copy, lent=lent)
        # What runs backwards is a view of what runs forwards.
        forwards = array[tuple([slice(None, None, -1 if flip else 1) for flip in flipped])]
        return self.flip(super().from_host(forwards, copy=False, lent=lent), flipped)

    def load(self, array: NDArray, copy: bool) -> Native:
        if copy:
            array = array.copy()
        return from_numpy(array).to(self.place)

    def unload(self, x: Tensor) -> NDArray:
        view, storage = x.view, x.storage
        if view is None or view.mask is not None or self.place.type != "cpu":
            return to_numpy(self.array(x))
        memory = to_numpy(storage.memory)
        offset, strides = view.byte_layout(storage.itemsize)
        shape: KnownInts = view.shape
        return np.ndarray(shape, memory.dtype, memory, offset, strides)

    def dlpack_device(self) -> tuple[int, int]:
        return _DLPACK_TYPES.get(self.place.type, HOST), self.place.index or 0

    def from_native(self, array: Native) -> Tensor:
        if not isinstance(array, torch.Tensor):
            if has_negative_strides(array):
                # PyTorch would end the process (2.13).
                raise BufferError("PyTorch has no negative strides; copy the array first")
            array = torch.from_dlpack(array)
        self.check_dtype(array, "PyTorch", "the tensor with its own .to(...)")
        if array.layout is not torch.strided:
            raise TypeError(f"a tensor of layout {array.layout} has no strides; use .to_dense()")
        array = array.to(self.place)
        if self.place.type == "cpu" and array.data_ptr() % array.itemsize:
            array = _realigned(array)
        return wrap(array.resolve_conj().resolve_neg())

    def explained(self, error: Exception) -> Exception:
        text = _first_line(error)
        if isinstance(error, torch.OutOfMemoryError) or "allocate memory" in text:
            return self.out_of_memory(text)
        if "Storage size calculation overflowed" in text:
            return ValueError("the result would span more than 2**63 bytes; give smaller sizes")
        if isinstance(error, torch.linalg.LinAlgError) or "contain infs or NaNs" in text:
            return np.linalg.LinAlgError(text)
        if "must match" in text or "broadcast" in text:
            return ValueError(f"the shapes do not broadcast: {text}")
        if isinstance(error, getattr(torch, "AcceleratorError", ())) or "CUDA error" in text:
            return self.failed(text)
        if isinstance(error, NotImplementedError):
            return TypeError(
                f"device {self.name} cannot compute this: {text}; "
                "move the array with to_device('cpu'), or convert it with astype"
            )
        return error

    def movable(self, array: Native) -> Native:
        return to_bits(array)

    def moved(self, array: Native, dtype: Native) -> Native:
        return from_bits(array, dtype)

    def sortable(self, array: Native) -> Native:
        return array.to(torch.uint8) if array.dtype is torch.bool else ordered(array)

    # ------------------------------------------------------------------ what PyTorch does itself

    def cast(self, x: Tensor, dtype: DType) -> Tensor:
        array, target = self.array(x), self.dtypes[dtype]
        if dtype is d.bool:
            return wrap(array != 0)
        if array.is_complex() and not target.is_complex:
            array = torch.real(array)
        return wrap(array.to(target, copy=True))

    def bitcast(self, x: Tensor, dtype: DType) -> Tensor:
        view = self.view(x)
        resized = self.dtype(x).itemsize != dtype.itemsize
        if resized and view.strides[-1] != 1 and view.shape[-1] != 1:
            raise ValueError("the last axis must be contiguous to be read as another dtype")
        # PyTorch has no axes that run backwards: it would read a copy.
        backwards = tuple([stride < 0 for stride in view.strides])
        if any(backwards):
            return self.flip(self.bitcast(self.flip(x, backwards), dtype), backwards)
        array, target = self.array(x), self.dtypes[dtype]
        if target.itemsize > array.itemsize:
            ratio = target.itemsize // array.itemsize
            # PyTorch wants whole elements of every stride, also where nothing is stepped over.
            pairs = zip(array.shape, array.stride(), strict=True)
            strides = [ratio if size == 1 else stride for size, stride in pairs]
            if any([n % ratio for n in (array.storage_offset(), *strides[:-1])]):
                raise ValueError(f"elements of {dtype} would not be aligned")
            if 1 in array.shape[:-1]:
                array = array.as_strided(array.shape, strides)
        return self.in_memory_of(x, array.view(target))

    def copy(self, x: Tensor) -> Tensor:
        return wrap(self.array(x).clone(memory_format=torch.contiguous_format))

    def divided(self, array: Native, count: float) -> Native:
        if array.is_complex():
            return torch.view_as_complex(torch.view_as_real(array) / count)
        return array / count

    def number(self, count: int) -> float:
        return torch.sym_float(count)

    def reduction(
        self, op: Primitive, array: Native, axes: tuple[int, ...], keepdims: bool, dtype: Native
    ) -> Native:
        if op is p.SUM:
            if dtype in _WIDE:
                return torch.sum(array, axes, keepdims, dtype=_WIDE[dtype]).to(dtype)
            return torch.sum(array, axes, keepdims, dtype=dtype)
        if op is p.PROD:
            wide = self._accumulator(dtype)
            for axis in sorted(axes, reverse=True):
                array = torch.prod(array, axis, keepdims, dtype=wide)
            return array.to(dtype)
        if op is p.MAX or op is p.MIN:
            source = array.dtype
            extreme = torch.amax if op is p.MAX else torch.amin
            array = extreme(ordered(array), axes, keepdims)
            return ordered(array.view(source)).view(source) if source in _WIDE else array
        return (torch.any if op is p.ANY else torch.all)(array != 0, axes, keepdims)

    def arg_reduce(self, op: Primitive, x: Tensor, axis: int, keepdims: bool) -> Tensor:
        extreme = torch.argmax if op is p.ARGMAX else torch.argmin
        return wrap(extreme(self.sortable(self.array(x)), axis, keepdims))

    def running_total(self, op: Primitive, array: Native, axis: int, dtype: Native) -> Native:
        function = torch.cumsum if op is p.CUMULATIVE_SUM else torch.cumprod
        return function(array, axis, dtype=self._accumulator(dtype)).to(dtype)

    def _accumulator(self, dtype: Native) -> Native:
        return _WIDE.get(dtype) or super()._accumulator(dtype)

    def running_extreme(self, op: Primitive, array: Native, axis: int) -> Native:
        if not array.numel():
            return array.clone()
        dtype = array.dtype
        extreme = torch.cummax if op is p.CUMULATIVE_MAX else torch.cummin
        values = extreme(self.sortable(array), axis).values
        if dtype is torch.bool:
            return values != 0
        return ordered(values.view(dtype)).view(dtype) if dtype in _WIDE else values

    def sort(self, x: Tensor, axis: int, *, descending: bool, stable: bool) -> Tensor:
        array = self.array(x)
        if descending or array.dtype is torch.bool or array.dtype in _WIDE:
            return super().sort(x, axis, descending=descending, stable=stable)
        return wrap(torch.sort(array, dim=axis, stable=stable).values)

    def argsort(self, x: Tensor, axis: int, *, descending: bool, stable: bool) -> Tensor:
        array = self.sortable(self.array(self._reversed_order(x) if descending else x))
        return wrap(torch.sort(array, dim=axis, stable=stable).indices)

    def searchsorted(self, x: Tensor, values: Tensor, *, right: bool) -> Tensor:
        haystack, needles = self.sortable(self.array(x)), self.sortable(self.array(values))
        if haystack.is_floating_point() and bool(
            torch.isnan(haystack).any() | torch.isnan(needles).any()
        ):
            haystack, needles = float_order(haystack), float_order(needles)
        return wrap(torch.searchsorted(haystack.contiguous(), needles.contiguous(), right=right))

    def choose(self, condition: Native, x1: Native, x2: Native) -> Native:
        if (x1 if isinstance(x1, torch.Tensor) else x2).dtype not in BITS:
            return torch.where(condition, x1, x2)
        # GPUs have no kernel for these unsigned integers, and Inductor writes no C++ for them.
        first, second = tensors(x1, x2)
        return from_bits(torch.where(condition, to_bits(first), to_bits(second)), first.dtype)

    def qr(self, x: Tensor, *, complete: bool) -> tuple[Tensor, Tensor]:
        results = super().qr(x, complete=complete)
        if self.place.type != "cuda":
            return results
        # Where numbers are not finite, or overflow, GPUs factor one matrix otherwise than a stack.
        q, r = [self.array(part) for part in results]
        odd = ~(torch.isfinite(q).all(-1).all(-1) & torch.isfinite(r).all(-1).all(-1))
        if odd.any():
            host = torch.linalg.qr(self.array(x)[odd].cpu(), "complete" if complete else "reduced")
            q[odd], r[odd] = [part.to(self.place) for part in host]
        return results

    def eigvals(self, x: Tensor) -> Tensor:
        if not bool(torch.isfinite(self.array(x)).all()):
            raise np.linalg.LinAlgError("a matrix with infinities or NaN has no eigenvalues")
        return super().eigvals(x)

    def add_at(self, array: Native, positions: Native, values: Native) -> Native:
        added = to_bits(array).clone().index_put_((positions,), to_bits(values), accumulate=True)
        return from_bits(added, array.dtype)

    def product(self, x1: Native, x2: Native) -> Native:
        if x1.is_cpu or x1.is_floating_point() or x1.is_complex():
            return from_bits(torch.matmul(to_bits(x1), to_bits(x2)), x1.dtype)
        return from_bits(integer_product(to_bits(x1), to_bits(x2)), x1.dtype)


Layout = tuple[tuple[int, ...], tuple[int, ...], int, tuple[int, ...]]

# Sums and products of unsigned integers wrap around as those of signed ones do.
_WIDE: Final = {
    torch.uint16: torch.int64,
    torch.uint32: torch.int64,
    torch.uint64: torch.int64,
}


def _layout(view: View) -> Layout:
    shape: KnownInts = view.shape
    if 0 in shape:
        return shape, (1,) * len(shape), 0, ()
    offset: KnownInts = view.offset
    strides, flipped = [], []
    for axis, (size, stride) in enumerate(zip(shape, view.strides, strict=True)):
        step = int(stride) if size > 1 else 1
        if step < 0:
            offset += (size - 1) * step
            flipped.append(axis)
        strides.append(abs(step))
    return shape, tuple(strides), offset, tuple(flipped)


def _realigned(array: Native) -> Native:
    """A copy of a tensor in host memory that is not aligned, which PyTorch (2.13) cannot copy."""
    if array.is_conj():
        return _realigned(array.conj()).conj()
    return from_numpy(np.array(to_numpy(array.resolve_neg())))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _memory_of(x: Tensor) -> Native:
    """The memory of a handle. `array` copies what runs backwards."""
    return x.array if x.storage is None else x.storage.memory


def _share(x: Native, y: Native) -> bool:
    """Whether the blocks of memory overlap that two tensors lie in.

    Tensors over other libraries' arrays have blocks of their own, which may overlap anyhow.
    """
    one, other = x.untyped_storage(), y.untyped_storage()
    first, second = one.data_ptr(), other.data_ptr()
    return bool(first < second + other.nbytes() and second < first + one.nbytes())


def _apart(x: Native, target: Native) -> Native:
    """`x`, or a copy of it if it may share memory with the `target` of a write."""
    return x.clone() if _share(x, target) else x
