"""PyTorch behind the adapter: views share memory, and gradients pass through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final
from weakref import WeakKeyDictionary

import array_api_compat.torch as xp
import numpy as np
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from ...contract.backend import Native, Operand, Padding, Scalar
from ...contract.errors import EngineError
from ...contract.numpy_dtypes import NDArray, has_negative_strides
from ...contract.program import Program
from ...contract.replay import Run, resolved, steps_at
from ...contract.strided import Storage, Tensor
from ...core import dtypes as d
from ...core.dtypes import DType
from ...core.symbolic import Dim, KnownInts
from ...core.view import Selection, View
from ...primitives import table as p
from ...primitives.table import Primitive
from .compiled_programs import (
    ArrayFunction,
    Compile,
    Compiled,
    Kinds,
    Traced,
    prepare,
    trace_steps,
)
from .namespace import NamespaceBackend, explain_errors, wrap
from .torch_inductor import Settings, compile_graph, copied
from .torch_kernels import (
    TO_TORCH,
    binary_kernels,
    float_order,
    from_bits,
    integer_product,
    ordered,
    tensors,
    to_bits,
    unary_kernels,
)
from .torch_special import special_functions
from .torch_symbolic import Function, Functions, SymbolicView, Symbols

__all__ = ["TorchBackend"]


_DLPACK_TYPES: Final = {"cpu": 1, "cuda": 2, "mps": 8, "xpu": 14}
_MAX_LAYOUTS: Final = 1 << 13


@explain_errors
class TorchBackend(NamespaceBackend):
    """Executes primitives with PyTorch on one of its devices.

    Parameters
    ----------
    name : str
        The device that users name.
    place : str
        PyTorch's name for it.

    Raises
    ------
    RuntimeError
        If this machine has no such device, or it does not work.
    """

    xp = xp
    errors = (RuntimeError,)
    compiler = "torch.compile"
    word = 16  # its loops read complex128 in one piece

    def __init__(self, name: str, place: str) -> None:
        self.place = torch.device(place)
        self.shares_host = self.place.type == "cpu"
        # MPS has no double precision.
        lacking = (d.float64, d.complex128) if place == "mps" else ()
        super().__init__(name, {ours: to for ours, to in TO_TORCH.items() if ours not in lacking})
        self.unaries = unary_kernels(self.place.type)
        self.binaries = binary_kernels(self.place.type)
        self.ufuncs = special_functions(self.place.type)
        self._layouts: dict[View, _Layout] = {}
        self.functions: WeakKeyDictionary[Program, Functions] = WeakKeyDictionary()
        try:
            torch.empty((0,), device=self.place)
        except (RuntimeError, AssertionError) as error:
            raise RuntimeError(
                f"device {name!r} does not work: {_first_line(error)}; "
                "xp.__array_namespace_info__().devices() lists what there is"
            ) from error

    # ------------------------------------------------------------------ memory

    def prepare_compiled(self, program: Program, sizes: tuple[int, ...]) -> Run:
        return _prepare_compiled(self, program, sizes)

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

    def layout(self, view: View) -> _Layout:
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
            assert view is not None
            assert storage is not None
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
            result: Tensor = super().from_host(array, copy=copy, lent=lent)
            return result
        # What runs backwards is a view of what runs forwards.
        forwards = array[tuple([slice(None, None, -1 if flip else 1) for flip in flipped])]
        turned: Tensor = self.flip(super().from_host(forwards, copy=False, lent=lent), flipped)
        return turned

    def load(self, array: NDArray, copy: bool) -> Native:
        if copy:
            array = array.copy()
        return torch.from_numpy(_writable(array)).to(self.place)

    def unload(self, x: Tensor) -> NDArray:
        view, storage = x.view, x.storage
        if view is None or view.mask is not None or self.place.type != "cpu":
            return np.asarray(self.array(x).detach().cpu())
        assert storage is not None
        memory = storage.memory.detach().numpy()
        offset, strides = view.byte_layout(storage.itemsize)
        shape: KnownInts = view.shape
        return np.ndarray(shape, memory.dtype, memory, offset, strides)

    def dlpack_device(self) -> tuple[int, int]:
        return _DLPACK_TYPES.get(self.place.type, 1), self.place.index or 0

    def from_native(self, array: Native) -> Tensor:
        if not isinstance(array, torch.Tensor):
            if has_negative_strides(array):
                # PyTorch would end the process (2.13).
                raise BufferError("PyTorch has no negative strides; copy the array first")
            array = torch.from_dlpack(array)
        if array.dtype not in self._ours:
            raise TypeError(
                f"the standard has no dtype for PyTorch's {array.dtype}; convert the tensor with "
                "its own .to(...) first"
            )
        if array.layout is not torch.strided:
            raise TypeError(f"a tensor of layout {array.layout} has no strides; use .to_dense()")
        array = array.to(self.place)
        if self.place.type == "cpu" and array.data_ptr() % array.itemsize:
            array = _realigned(array)
        return wrap(array.resolve_conj().resolve_neg())

    def explained(self, error: Exception) -> Exception:
        text = _first_line(error)
        if isinstance(error, torch.OutOfMemoryError) or "allocate memory" in text:
            return MemoryError(
                f"device {self.name} has not enough memory: {text}; delete arrays, or move some "
                "elsewhere with to_device('cpu')"
            )
        if "Storage size calculation overflowed" in text:
            return ValueError("the result would span more than 2**63 bytes; give smaller sizes")
        if isinstance(error, torch.linalg.LinAlgError) or "contain infs or NaNs" in text:
            return np.linalg.LinAlgError(text)
        if "must match" in text or "broadcast" in text:
            return ValueError(f"the shapes do not broadcast: {text}")
        if isinstance(error, getattr(torch, "AcceleratorError", ())) or "CUDA error" in text:
            return EngineError(
                f"device {self.name} failed: {text}; it may need a new process, and arrays on "
                "other devices are as they were"
            )
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
        array = self.array(x)
        target = self.dtypes[dtype]
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
        number: float = torch.sym_float(count)
        return number

    def reduction(
        self, op: Primitive, array: Native, axes: tuple[int, ...], keepdims: bool, dtype: Native
    ) -> Native:
        if op is p.SUM:
            if dtype in _WIDE:
                return torch.sum(array, axes, keepdims, dtype=_WIDE[dtype]).to(dtype)
            return torch.sum(array, axes, keepdims, dtype=dtype)
        if op is p.PROD:
            wide = _WIDE.get(dtype, dtype)
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
        array = self.sortable(self.array(x))
        extreme = torch.argmax if op is p.ARGMAX else torch.argmin
        return wrap(extreme(array, axis, keepdims))

    def scan(self, op: Primitive, x: Tensor, axis: int, dtype: DType | None = None) -> Tensor:
        array = self.array(x)
        target = array.dtype if dtype is None else self.dtypes[dtype]
        if op is p.CUMULATIVE_SUM or op is p.CUMULATIVE_PROD:
            function = torch.cumsum if op is p.CUMULATIVE_SUM else torch.cumprod
            return wrap(function(array, axis, dtype=_WIDE.get(target, target)).to(target))
        if not array.numel():
            return self.copy(x)
        extreme = torch.cummax if op is p.CUMULATIVE_MAX else torch.cummin
        values = extreme(self.sortable(array), axis).values
        if target is torch.bool:
            return wrap(values != 0)
        return wrap(ordered(values.view(target)).view(target) if target in _WIDE else values)

    def sort(self, x: Tensor, axis: int, *, descending: bool, stable: bool) -> Tensor:
        array = self.array(x)
        if descending or array.dtype is torch.bool or array.dtype in _WIDE:
            result: Tensor = super().sort(x, axis, descending=descending, stable=stable)
            return result
        return wrap(torch.sort(array, dim=axis, stable=stable).values)

    def argsort(self, x: Tensor, axis: int, *, descending: bool, stable: bool) -> Tensor:
        if descending:
            x = self._reversed_order(x)
        array = self.sortable(self.array(x))
        return wrap(torch.sort(array, dim=axis, stable=stable).indices)

    def searchsorted(self, x: Tensor, values: Tensor, *, right: bool) -> Tensor:
        haystack, needles = self.sortable(self.array(x)), self.sortable(self.array(values))
        if haystack.is_floating_point() and bool(
            torch.isnan(haystack).any() | torch.isnan(needles).any()
        ):
            haystack, needles = float_order(haystack), float_order(needles)
        return wrap(torch.searchsorted(haystack.contiguous(), needles.contiguous(), right=right))

    def where(self, condition: Tensor, x1: Operand, x2: Operand) -> Tensor:
        first = self.array(x1) if type(x1) is Tensor else x1
        second = self.array(x2) if type(x2) is Tensor else x2
        try:
            return wrap(torch.where(self.array(condition), first, second))
        except RuntimeError as error:
            self.refuse(error)

    def eigvals(self, x: Tensor) -> Tensor:
        if not bool(torch.isfinite(self.array(x)).all()):
            raise np.linalg.LinAlgError("a matrix with infinities or NaN has no eigenvalues")
        result: Tensor = super().eigvals(x)
        return result

    def add_at(self, array: Native, positions: Native, values: Native) -> Native:
        added = to_bits(array).clone().index_put_((positions,), to_bits(values), accumulate=True)
        return from_bits(added, array.dtype)

    def product(self, x1: Native, x2: Native) -> Native:
        if x1.is_cpu or x1.is_floating_point() or x1.is_complex():
            return from_bits(torch.matmul(to_bits(x1), to_bits(x2)), x1.dtype)
        return from_bits(integer_product(to_bits(x1), to_bits(x2)), x1.dtype)


_Layout = tuple[tuple[int, ...], tuple[int, ...], int, tuple[int, ...]]

# Sums and products of unsigned integers wrap around as those of signed ones do.
_WIDE: Final = {
    torch.uint16: torch.int64,
    torch.uint32: torch.int64,
    torch.uint64: torch.int64,
}


def _layout(view: View) -> _Layout:
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


def _writable(array: NDArray) -> NDArray:
    """`array` as memory that may be written; that it must not be, the adapter remembers."""
    if array.flags.writeable:
        return array
    return np.asarray(_Shared(array))


def _realigned(array: Native) -> Native:
    """A copy of a tensor in host memory that is not aligned, which PyTorch (2.13) cannot copy."""
    if array.is_conj():
        return _realigned(array.conj()).conj()
    return torch.from_numpy(np.array(array.detach().resolve_neg().numpy()))


class _Shared:
    """Shows an ndarray's memory without its flags."""

    def __init__(self, array: NDArray) -> None:
        self._array = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


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
    """`x`, or a copy of it if it may share memory with `target`, which is to be written."""
    return x.clone() if _share(x, target) else x


# ---------------------------------------------------------------------- compiled programs


class _TracedTorch(Traced, TorchBackend):
    """Writes give new tensors, as on JAX.

    Inductor takes no graphs in which a view is written that was made by its strides.
    """

    def __init__(self, backend: TorchBackend) -> None:
        super().__init__(backend)
        kind = f"{backend.place.type}:compiled"
        self.unaries = unary_kernels(kind)
        self.binaries = binary_kernels(kind)

    def ensure_view(self, x: Tensor) -> View:
        memory, x.view = self.flatten(x.array)
        x.storage, x.array = Storage(memory), None
        return x.view

    def read(self, memory: Native, view: View) -> tuple[Native, bool]:
        array, _ = super().read(memory, view)
        return array, False

    def write(self, target: Tensor, value: Native | Scalar) -> None:
        view = target.view or self.ensure_view(target)
        storage = target.storage
        assert storage is not None
        memory = storage.memory
        shape, strides, offset, flipped = self.layout(view)
        if not isinstance(value, torch.Tensor):
            value = torch.full((), value, dtype=memory.dtype, device=memory.device)
        value = torch.broadcast_to(value, shape).to(memory.dtype)
        if flipped:
            value = from_bits(torch.flip(to_bits(value), flipped), value.dtype)
        start = memory.storage_offset() + offset
        storage.memory = torch.as_strided_scatter(memory, value, shape, strides, start)

    def put(self, storage: Storage, positions: Native, values: Native | Scalar) -> None:
        memory = storage.memory
        if not isinstance(values, torch.Tensor):
            values = torch.full((), values, dtype=memory.dtype, device=memory.device)
        written = torch.index_put(to_bits(memory), (positions,), to_bits(values))
        storage.memory = from_bits(written, memory.dtype)

    def copy(self, x: Tensor) -> Tensor:
        return wrap(copied(self.array(x).contiguous()))

    def add_at(self, array: Native, positions: Native, values: Native) -> Native:
        added = torch.index_put(to_bits(array), (positions,), to_bits(values), accumulate=True)
        return from_bits(added, array.dtype)

    def where(self, condition: Tensor, x1: Operand, x2: Operand) -> Tensor:
        first, second = tensors(*[self.array(x) if type(x) is Tensor else x for x in (x1, x2)])
        # Inductor writes no C++ for unsigned integers here.
        chosen = torch.where(self.array(condition), to_bits(first), to_bits(second))
        return wrap(from_bits(chosen, first.dtype))

    def reduction(
        self, op: Primitive, array: Native, axes: tuple[int, ...], keepdims: bool, dtype: Native
    ) -> Native:
        if op is p.MAX or op is p.MIN:
            wide = super().reduction(op, _widened(array), axes, keepdims, dtype)
            return wide.to(array.dtype)
        return super().reduction(op, array, axes, keepdims, dtype)

    def arg_reduce(self, op: Primitive, x: Tensor, axis: int, keepdims: bool) -> Tensor:
        return super().arg_reduce(op, wrap(_widened(self.array(x))), axis, keepdims)


def _widened(array: Native) -> Native:
    """`array` with elements of four bytes in place of one.

    The extremes of vectors of such elements are taken to be 0, or what is beyond it:
    https://github.com/pytorch/pytorch/issues/191499
    """
    return array.to(torch.int32) if array.dtype.itemsize == 1 else array


class _SymbolicTorch(_TracedTorch):
    """Sizes may be PyTorch's symbols, of which no `View` can be made.

    Every tensor is a block of its own. Movement gives other blocks, which must not be written, as
    that would not show in the block that they were taken of; what tries it raises an error, as does
    what else needs numbers, and then the program is compiled for each size.
    """

    def __init__(self, backend: TorchBackend) -> None:
        super().__init__(backend)
        self._moved: dict[int, Tensor] = {}

    def _of_moved(self, array: Native) -> Tensor:
        moved = wrap(array)
        self._moved[id(moved)] = moved
        return moved

    def ensure_view(self, x: Tensor) -> Native:
        if id(x) in self._moved:
            raise NotImplementedError("the memory of what was moved is asked for")
        array = x.array.contiguous()
        x.view = SymbolicView.row_major(tuple(array.shape))
        x.storage, x.array = Storage(array.reshape(-1)), None
        return x.view

    def bind(self, x: Tensor) -> Native:
        return x.storage.memory.reshape(x.view.shape)

    def read_only_reason(self, x: Tensor) -> str | None:
        return None

    def layout(self, view: View) -> _Layout:
        # Without asking whether a size is 1: one step more or less makes no difference there.
        shape: KnownInts = view.shape
        if 0 in shape:
            return shape, (1,) * len(shape), 0, ()
        offset: KnownInts = view.offset
        strides: KnownInts = view.strides
        flipped = tuple([axis for axis, step in enumerate(strides) if step < 0])
        for axis in flipped:
            offset = offset + (shape[axis] - 1) * strides[axis]
        return shape, tuple([abs(step) for step in strides]), offset, flipped

    def strided(self, x: Tensor, view: View) -> Tensor:
        # Who writes to it writes it back to where it was taken of.
        return wrap(self.read(self.array(x).contiguous(), view)[0])

    def assign_strided(self, target: Tensor, view: View, value: Operand) -> None:
        if type(value) is Tensor:
            value = wrap(self.array(value))
        whole = target.view or self.ensure_view(target)
        target.view = view
        self.assign(target, value)
        target.view = whole

    def contiguous(self, x: Tensor) -> Tensor:
        return x

    def expand(self, x: Tensor, shape: tuple[int, ...]) -> Tensor:
        return self._of_moved(torch.broadcast_to(self.array(x), shape))

    def try_reshape(self, x: Tensor, shape: tuple[int, ...]) -> Tensor | None:
        return self._of_moved(torch.reshape(self.array(x), shape))

    def permute(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        return self._of_moved(torch.permute(self.array(x), axes))

    def flip(self, x: Tensor, axes: tuple[bool, ...]) -> Tensor:
        array = self.array(x)
        marked = [axis for axis, flips in enumerate(axes) if flips]
        return self._of_moved(from_bits(torch.flip(to_bits(array), marked), array.dtype))

    def slice(self, x: Tensor, selection: Selection) -> Tensor:
        array = self.array(x)
        key: list[slice | int | None] = []
        for item in selection:
            if not isinstance(item, tuple):
                key.append(item)
                continue
            start, count, step = item
            if step < 0:
                raise NotImplementedError("a slice that runs backwards")
            key.append(slice(start, start + count * step, step))
        return self._of_moved(array[tuple(key)])

    def pad(self, x: Tensor, padding: Padding, value: Scalar) -> Tensor:
        shape = self.shape(x)
        pairs = zip(shape, padding, strict=True)
        result: Tensor = self.full(
            tuple([size + before + after for size, (before, after) in pairs]), self.dtype(x), value
        )
        whole = self.ensure_view(result)
        skipped = zip(whole.strides, padding, strict=True)
        start = sum([step * before for step, (before, _) in skipped])
        inner: Native = SymbolicView(shape, whole.strides, start)
        self.assign_strided(result, inner, x)
        return result

    def arange(
        self, start: int | float, stop: int | float, step: int | float, dtype: DType
    ) -> Tensor:
        if any([isinstance(x, float | torch.SymFloat) for x in (start, stop, step)]):
            raise NotImplementedError("a number of steps that floats say")
        values = torch.arange(start, stop, step, dtype=torch.int64, device=self.place)
        return wrap(values.to(self.dtypes[dtype]))


def _traced(
    backend: TorchBackend, function: ArrayFunction, kinds: Kinds
) -> Callable[[], ArrayFunction]:
    def examples() -> list[Native]:
        return [
            torch.empty(shape, dtype=backend.dtypes[dtype], device=backend.place)
            for shape, dtype in kinds
        ]

    graph = make_fx(function, tracing_mode="fake")(*examples())
    return lambda: compile_graph(graph, [], examples(), {})


_THREADED_MIN: Final = 1 << 15
"""Elements of the largest value of a program from which on a function with open sizes is compiled
with threads. Ten operations on 4,096 float64 take 5.1 us without threads and 5.9 with them, on
100,000 36 and 23 (two cores)."""
_CHUNKS: Final = {False: 1 << 62, True: 511}
"""Elements for each thread from which on Inductor divides a loop, without threads and with them.
It decides that once, by the sizes that it meets first, and its cache of compiled code tells
functions by settings, not by these sizes: so neither is its own setting, 512."""
_MAX_FAILURES: Final = 3
"""How often it is tried in vain to leave the sizes of one program open."""


def _prepare_compiled(backend: TorchBackend, program: Program, sizes: tuple[int, ...]) -> Run:
    """The first sizes are compiled as numbers; from the second on one function serves many."""
    functions = backend.functions.get(program)
    if functions is None:
        functions = backend.functions.setdefault(program, Functions(program))
    largest = max(functions.count_elements(*sizes), default=0)
    is_threaded = largest >= _THREADED_MIN and backend.place.type == "cpu"
    found = functions.find(sizes, is_threaded)
    tracing = _TracedTorch(backend)

    def prepare_steps(steps: Run, kinds: Kinds) -> Compile:
        if found is not None:
            served = found.at(sizes)
            return lambda: served
        if functions.first not in (None, sizes) and functions.failures < _MAX_FAILURES:
            return partial(compile_open, steps, kinds)
        compile_steps = trace_steps(tracing, partial(_traced, backend), steps, kinds)

        def compile_first() -> Compiled:
            compiled = compile_steps()
            functions.compiled_first(sizes)
            return compiled

        return compile_first

    def compile_open(steps: Run, kinds: Kinds) -> Compiled:
        try:
            symbols = Symbols(sizes, functions.opened(sizes))
            function = _compile_open(backend, program, sizes, symbols, is_threaded)
        except Exception:
            functions.failures += 1
            return trace_steps(tracing, partial(_traced, backend), steps, kinds)()
        functions.keep(function)
        return function.at(sizes)

    run = prepare(backend, tracing, program, sizes, prepare_steps)
    run.is_shared = found is not None  # type: ignore[attr-defined]
    return run


def _compile_open(
    backend: TorchBackend,
    program: Program,
    sizes: tuple[int, ...],
    symbols: Symbols,
    is_threaded: bool,
) -> Function:
    """A function of the program for open sizes; whatever error there is, it cannot be made."""
    tracing = _SymbolicTorch(backend)
    given = [program.values[i] for i in (*range(len(program.inputs)), *program.constants)]
    dims = [n for value in given for n in value.shape if isinstance(n, Dim)]
    numbers = dict(zip(dims, program.function_of(dims)(*symbols.numbers), strict=True))
    with symbols.mode:
        examples = [
            torch.empty(
                resolved(value.shape, numbers),
                dtype=backend.dtypes[value.dtype],
                device=backend.place,
            )
            for value in given
        ]

    def must_be_open() -> None:
        if not symbols.are_open or not symbols.allow(sizes):
            raise NotImplementedError("PyTorch has taken a size for a number")

    def steps(*handles: Tensor) -> tuple[Tensor, ...]:
        # While it traces, PyTorch notes down how numbers are computed from the sizes.
        return steps_at(tracing, program, symbols.numbers, SymbolicView.at)(*handles)

    def trace_arrays(function: ArrayFunction, kinds: Kinds) -> Callable[[], ArrayFunction]:
        open_sizes = symbols.open_numbers

        def with_sizes(*arguments: Native) -> Sequence[Native]:
            return function(*arguments[len(open_sizes) :])

        graph = make_fx(with_sizes, tracing_mode="symbolic")(*open_sizes, *examples)
        must_be_open()
        settings: Settings = {"cpp.min_chunk_size": _CHUNKS[is_threaded]}
        return lambda: compile_graph(graph, open_sizes, examples, settings)

    compiled = trace_steps(tracing, trace_arrays, steps, [])()
    must_be_open()
    return Function(compiled, symbols, is_threaded)
