"""JAX behind the adapter.

JAX's arrays cannot be written: a storage is a cell that holds one, and a write puts another in its
place, which all views of the storage then show. Arrays that were handed out before do not change.

All primitives run with 64-bit types enabled, by a context of this thread: the rest of the process
keeps its own setting.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from math import prod
from threading import Lock
from typing import Final, ParamSpec, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np

from ...contract.arguments import AxisOrder, Native, Operand, Padding, Run, Scalar
from ...contract.backend import METHODS
from ...contract.handles import HOST
from ...contract.numpy_dtypes import NDArray
from ...contract.program import Program
from ...contract.strided import Storage, Tensor
from ...core import dtypes as d
from ...core.dtypes import CANONICAL, DType
from ...core.symbolic import KnownInts
from ...core.view import View
from ...primitives import table as p
from ...primitives.rules import window_counts
from ...primitives.table import Primitive
from .adapter import explain_errors, unusable, wrap
from .compiled_programs import ArrayFunction, Kinds, Traced, prepare, trace_steps
from .immutable import Steps, positions, steps
from .jax_kernels import arrays, kernels
from .jax_special import special_functions
from .namespace import NO_RESULT, NamespaceBackend

P = ParamSpec("P")
R = TypeVar("R")


_anchoring: Final = Lock()


@explain_errors
class JaxBackend(NamespaceBackend):
    """Executes primitives with JAX on one of its devices.

    `name`: the device that users name.
    `place`: "cpu", or "cuda:N".
    Raises RuntimeError if this machine has no such device.
    """

    xp = jnp
    errors = (RuntimeError, TypeError, MemoryError)
    compiler = "jax.jit"

    def __init__(self, name: str, place: str) -> None:
        super().__init__(name, CANONICAL)
        kind, _, number = place.partition(":")
        try:
            self.place = jax.devices(kind)[int(number or 0)]
        except (RuntimeError, IndexError) as error:
            raise unusable(name, error) from error
        self.kind = kind
        self.unaries, self.binaries = kernels(kind)
        self.ufuncs = special_functions(kind)

    # ------------------------------------------------------------------ memory

    def ensure_view(self, x: Tensor) -> View:
        # From here on the storage has the elements, and not the array.
        with _anchoring:
            if x.view is None:
                x.storage = Storage(x.array)
                x.view = View.row_major(tuple(x.array.shape))
                x.array = None
        return x.view

    def flatten(self, array: Native) -> tuple[Native, View]:
        return array, View.row_major(tuple(array.shape))

    def read(self, memory: Native, view: View) -> tuple[Native, bool]:
        shape: KnownInts = view.shape
        size = int(memory.size)
        if view.is_row_major and view.size == size:
            return (memory if memory.shape == shape else memory.reshape(shape)), False
        if 0 in shape:
            return jnp.zeros(shape, memory.dtype, device=self.place), False
        packed = view.packed_order if view.size == size else None
        if packed is not None:
            # As one transposition, which XLA makes a part of the product that reads it.
            turned = memory.reshape([shape[axis] for axis in packed])
            return turned.transpose([packed.index(axis) for axis in range(len(packed))]), False
        way = steps(view, size)
        flat = memory.reshape(-1)
        if way is None:
            return flat[positions(view)], False
        boxed = _fitted(flat, way).reshape(way.base)[way.box].transpose(way.order)
        return jnp.broadcast_to(boxed.reshape(way.kept), shape), False

    def write(self, target: Tensor, value: Native | Scalar) -> None:
        view = target.view or self.ensure_view(target)
        storage = target.storage
        memory, shape = storage.memory, view.shape
        reads = isinstance(value, jax.Array)
        value = jnp.broadcast_to(jnp.asarray(value, memory.dtype), shape)
        size = int(memory.size)
        if view.is_row_major and view.size == size:
            storage.memory = jax.device_put(value, self.place)
            return
        if not view.size:
            return
        way = steps(view, size)
        flat = memory.reshape(-1)
        if way is None:
            storage.memory = flat.at[positions(view)].set(value)
            return
        based = _fitted(flat, way).reshape(way.base)
        moved = value.reshape([n for n in way.kept if n > 1] + [1])
        back = [way.order.index(axis) for axis in range(len(way.order))]
        based = self.replaced(based, way.box, moved.transpose(back), reads=reads)
        written = based.reshape(-1)[: size - way.start]
        end = way.start + int(written.size)
        storage.memory = self.replaced(flat, (slice(way.start, end),), written, reads=reads)

    def replaced(
        self, array: Native, box: tuple[slice, ...], values: Native, *, reads: bool
    ) -> Native:
        """`array` with `values` in a box of it, which may be computed from `array` if they read."""
        return array.at[box].set(values)

    def put(self, storage: Storage, positions: Native, values: Native | Scalar) -> None:
        flat = storage.memory.reshape(-1)
        storage.memory = flat.at[positions].set(values)

    def load(self, array: NDArray, copy: bool) -> Native:
        # Never in the same memory: JAX counts on no other writer.
        return jax.device_put(array.copy(), self.place)

    def unload(self, x: Tensor) -> NDArray:
        return np.array(self.array(x))

    def dlpack_device(self) -> tuple[int, int]:
        return (HOST, 0) if self.place.platform == "cpu" else (2, self.place.id)

    def from_native(self, array: Native) -> Tensor:
        if not isinstance(array, jax.Array):
            array = jnp.from_dlpack(array)
        self.check_dtype(array, "JAX", "the array with its own .astype(...)")
        return wrap(jax.device_put(array, self.place))

    def explained(self, error: Exception) -> Exception:
        text = str(error).strip().partition("\n")[0]
        if text.startswith(f"device {self.name} "):
            return error
        exhausted = "RESOURCE_EXHAUSTED" in text or "Out of memory" in text
        if exhausted or isinstance(error, MemoryError):
            return self.out_of_memory(text)
        if "ncompatible shapes" in text or "broadcast" in text:
            return ValueError(f"the shapes do not broadcast: {text}")
        if "UNAVAILABLE" in text or "INTERNAL" in text:
            return self.failed(text)
        return error

    def evaluate(self, *handles: Tensor) -> None:
        # JAX hands out arrays before they are computed.
        for x in handles:
            array = x.array
            (self.native(x) if array is None else array).block_until_ready()

    def known_number(self, array: Native) -> int:
        # `item` waits longer, as threads wake up later there (docs/tuning.md, 40).
        return np.asarray(array.block_until_ready()).item()

    def axis_order(self, x: Tensor) -> AxisOrder | None:
        # An array that is in no cell yet is read as a whole.
        return None if x.array is not None else super().axis_order(x)

    def read_only_reason(self, x: Tensor) -> str | None:
        # So is it here; and no cell of it can have been handed in as read-only.
        return None if x.array is not None else super().read_only_reason(x)

    def may_overlap(self, x1: Tensor, x2: Tensor) -> bool:
        # An array that is in no cell yet belongs to one tensor alone.
        return x1 is x2 or (x1.storage is not None and x1.storage is x2.storage)

    def prepare_compiled(self, program: Program, sizes: tuple[int, ...]) -> Run:
        tracing = _TracedJax(self)
        trace_arrays = partial(_traced, self.place)
        return prepare(self, tracing, program, sizes, partial(trace_steps, tracing, trace_arrays))

    # ------------------------------------------------------------------ what JAX does itself

    # On the CPU nothing is compiled for each shape only to fill memory.

    def empty(self, shape: tuple[int, ...], dtype: DType) -> Tensor:
        return self.full(shape, dtype, False if dtype is d.bool else 0)

    def full(self, shape: tuple[int, ...], dtype: DType, value: Scalar) -> Tensor:
        if self.place.platform != "cpu":
            return super().full(shape, dtype, value)
        filled = np.full(shape, value, dtype)
        return wrap(jax.device_put(filled, self.place))

    def eye(self, rows: int, columns: int, k: int, dtype: DType) -> Tensor:
        if self.place.platform != "cpu":
            return super().eye(rows, columns, k, dtype)
        return wrap(jax.device_put(np.eye(rows, columns, k, dtype), self.place))

    def copy(self, x: Tensor) -> Tensor:
        # A cell of its own: the array in it cannot change.
        return wrap(self.array(x))

    def bitcast(self, x: Tensor, dtype: DType) -> Tensor:
        """A copy: a cell holds an array of one dtype."""
        view = x.view or self.ensure_view(x)
        contiguous = view.ndim == 0 or view.strides[-1] == 1 or view.shape[-1] == 1
        if self.dtype(x).itemsize != dtype.itemsize and not contiguous:
            raise ValueError("the last axis must be contiguous to be read as another dtype")
        # JAX would take a part of a complex number for a number of its own, and compute with it.
        host = np.ascontiguousarray(self.array(x)).view(dtype)
        return wrap(self.load(host, copy=True))

    def choose(self, condition: Native, x1: Native, x2: Native) -> Native:
        dtype = next(x.dtype for x in (x1, x2) if isinstance(x, jax.Array))
        if dtype == np.uint64:
            x1, x2 = arrays(x1, x2)  # JAX refuses numbers of 2**63 and more
        chosen = jnp.where(condition, x1, x2)
        return chosen if chosen.dtype == dtype else chosen.astype(dtype)

    def divided(self, array: Native, count: float) -> Native:
        if array.dtype.kind == "c":
            return jax.lax.complex(jnp.real(array) / count, jnp.imag(array) / count)
        return array / count

    def running_extreme(self, op: Primitive, array: Native, axis: int) -> Native:
        scan = jax.lax.cummax if op is p.CUMULATIVE_MAX else jax.lax.cummin
        if array.dtype.kind == "b":
            return scan(array.astype(np.uint8), axis) != 0
        return scan(array, axis)

    def unfold(
        self,
        x: Tensor,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        dilation: tuple[int, ...],
        padding: Padding,
    ) -> Tensor:
        # At once: a slice for each position in the kernel would be compiled each for itself.
        ndim = len(kernel_size)
        shape = self.shape(x)
        lead = shape[: len(shape) - ndim]
        counts = window_counts(shape[len(lead) :], kernel_size, stride, dilation, padding)
        padded = self.pad(x, (*[(0, 0)] * len(lead), *padding), 0)
        where = np.zeros((1,) * 2 * ndim, np.int64)
        inner = 1
        for axis in reversed(range(ndim)):
            within = dilation[axis] * np.arange(kernel_size[axis])
            own = np.add.outer(within, stride[axis] * np.arange(counts[axis]))
            sizes = [1] * 2 * ndim
            sizes[axis], sizes[ndim + axis] = own.shape
            where = where + inner * own.reshape(sizes)
            inner *= self.shape(padded)[len(lead) + axis]
        flat = self.array(self.reshape(padded, (*lead, inner)))
        taken = jnp.take(flat, where.reshape(prod(kernel_size), prod(counts)), len(lead))
        return wrap(taken)

    def add_at(self, array: Native, positions: Native, values: Native) -> Native:
        if array.dtype.kind == "b":
            # JAX adds no booleans. The sum of some is whether any is true.
            return array.astype(np.uint8).at[positions].max(values.astype(np.uint8)) != 0
        return array.at[positions].add(values)

    # Decompositions that do not exist come out as NaN.

    def _linalg(self, name: str, *arrays: Tensor, **options: object) -> Native:
        result = super()._linalg(name, *arrays, **options)
        if name in NO_RESULT:
            self.must_be_finite(result, arrays[0], np.linalg.LinAlgError(NO_RESULT[name]))
        return result

    def must_be_finite(self, result: Tensor, x: Tensor, error: Exception) -> None:
        """Raise `error` if `result` is not finite, as `x` is."""
        if not bool(jnp.all(jnp.isfinite(self.array(result)))) and bool(
            jnp.all(jnp.isfinite(self.array(x)))
        ):
            raise error


def _fitted(flat: Native, way: Steps) -> Native:
    """The part of the memory that `way` reads, as long as it wants it."""
    part = flat[way.start : way.start + way.length]
    missing = way.length - int(part.size)
    return jnp.pad(part, (0, missing)) if missing else part


def _in_64_bits(method: Callable[P, R]) -> Callable[P, R]:
    @wraps(method)
    def primitive(*arguments: P.args, **options: P.kwargs) -> R:
        with jax.enable_x64(True):
            return method(*arguments, **options)

    return primitive


# ---------------------------------------------------------------------- compiled programs


class _TracedJax(Traced, JaxBackend):
    """Operations that XLA simplifies each by itself, and arrays that it fills by itself.

    XLA takes log(exp(x)) for x, sqrt(x * x) for abs(x), x * 4 / 4 for x, (x + 1e16) - 1e16 for x
    and so on, which overflow and rounding make wrong (https://github.com/openxla/xla/issues/42732,
    https://github.com/jax-ml/jax/issues/37919). So a barrier follows each result of such
    operations. XLA removes it before it joins operations in loops: they are the same loops.
    """

    def __init__(self, backend: JaxBackend) -> None:
        super().__init__(backend)
        self.unaries, self.binaries = kernels(f"{backend.kind}:compiled")

    def unary(self, op: Primitive, x: Tensor) -> Tensor:
        return _barred(super().unary(op, x))

    def binary(self, op: Primitive, x1: Operand, x2: Operand, out: Tensor | None = None) -> Tensor:
        return _barred(super().binary(op, x1, x2, out))

    def cast(self, x: Tensor, dtype: DType) -> Tensor:
        return _barred(super().cast(x, dtype))

    def full(self, shape: tuple[int, ...], dtype: DType, value: Scalar) -> Tensor:
        return _barred(wrap(jnp.full(shape, value, dtype)))

    def eye(self, rows: int, columns: int, k: int, dtype: DType) -> Tensor:
        return wrap(jnp.eye(rows, columns, k, dtype))

    def replaced(
        self, array: Native, box: tuple[slice, ...], values: Native, *, reads: bool
    ) -> Native:
        if not reads:
            return super().replaced(array, box, values, reads=reads)
        # Not by an update in place: XLA may compute `values` in the loop that makes it, from
        # elements that the loop has replaced. https://github.com/openxla/xla/issues/49176
        padding = []
        for axis, part in enumerate(box):
            start = part.start
            if part.step == -1:
                values, start = jnp.flip(values, axis), 0
            padding.append((start, array.shape[axis] - start - values.shape[axis]))
        inside = jnp.pad(jnp.ones(values.shape, bool), padding)
        return jnp.where(inside, jnp.pad(values, padding), array)


def _barred(x: Tensor) -> Tensor:
    array = x.array
    if array is not None and array.dtype.kind in "fc":
        x.array = jax.lax.optimization_barrier(array)
    return x


def _traced(place: Native, function: ArrayFunction, kinds: Kinds) -> Callable[[], ArrayFunction]:
    there = jax.sharding.SingleDeviceSharding(place)
    with jax.enable_x64(True):
        lowered = jax.jit(function).lower(
            *[jax.ShapeDtypeStruct(shape, dtype, sharding=there) for shape, dtype in kinds]
        )

    def compile_arrays() -> ArrayFunction:
        # Its dtypes do not depend on the setting of the thread that calls it.
        with jax.enable_x64(True):
            return cast("ArrayFunction", lowered.compile())

    return compile_arrays


# What calls nothing of JAX that could depend on the setting.
_WITHOUT_JAX: Final = frozenset(
    {
        *["axis_order", "dlpack_device", "dtype", "evaluate", "may_overlap", "prepare_compiled"],
        "shape",
    }
)

# Checked runs read elements by `peek`, which is no method of the contract.
for _name in (*METHODS, "peek"):
    if _name not in _WITHOUT_JAX:
        setattr(JaxBackend, _name, _in_64_bits(getattr(JaxBackend, _name)))
