"""CuPy behind the adapter: views share memory, with strides of either sign."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

import array_api_compat.cupy as xp
import cupy
import cupyx
import numpy as np

from ...contract.arguments import Native, Scalar
from ...contract.backend import METHODS
from ...contract.numpy_dtypes import NDArray
from ...contract.strided import Storage, Tensor
from ...core import dtypes as d
from ...core.dtypes import CANONICAL, DType
from ...core.shape import broadcast_shapes
from ...core.view import View
from ...primitives import table as p
from ...primitives.table import Primitive
from .adapter import explain_errors, unusable, wrap
from .engine_kernels import Engine, EngineKernel, Table
from .namespace import NamespaceBackend

P = ParamSpec("P")
R = TypeVar("R")


def _put(result: Native, mask: Native, values: Native) -> Native:
    result[mask] = values
    return result


def _loaded(array: NDArray) -> Native:
    """A copy on the GPU, also of a 0-d array, which CuPy would make by filling memory."""
    return cupy.asarray(array.reshape(1)).reshape(()) if array.ndim == 0 else cupy.asarray(array)


def _fillable(x: Scalar, dtype: DType) -> Native | Scalar:
    """`x`; as an array if it is -0.0, for which CuPy fills memory with 0."""
    if x == 0 and np.signbit([np.real(x), np.imag(x)]).any():
        return _loaded(np.asarray(x, dtype))
    return x


def _written(x: Native | Scalar, target: Native) -> Native | Scalar:
    """`x` as it can be written to `target`: a scalar, or an array that shares no memory with it."""
    if not isinstance(x, cupy.ndarray):
        return _fillable(x, target.dtype)
    return x.copy() if cupy.may_share_memory(x, target) else x


def _remainder(x1: Native, x2: Native) -> Native:
    """The exact one; CuPy's is x1 - floor(x1 / x2) * x2, rounded three times."""
    rest = cupy.fmod(x1, x2)
    return cupy.where((rest != 0) & ((rest < 0) != (x2 < 0)), rest + x2, rest)


def _floor_divide(x1: Native, x2: Native) -> Native:
    """The floor of the exact quotient. CuPy rounds first, which may give the next integer."""
    # The remainder is taken away first, so that the quotient is a whole number but for rounding.
    quotient = (x1 - _remainder(x1, x2)) / x2
    whole = cupy.floor(quotient)
    whole = cupy.where(quotient - whole > 0.5, whole + 1, whole)
    return cupy.where(whole == 0, cupy.copysign(whole, x1 / x2), whole)


def _of_halves(kernel: EngineKernel) -> EngineKernel:
    """`kernel` in float32, for operands of float16."""
    return lambda x1, x2: kernel(x1.astype(np.float32), x2.astype(np.float32)).astype(np.float16)


def _of_truth(kernel: EngineKernel) -> EngineKernel:
    """`kernel` of whether the operands are true, for those that CuPy does not ask."""
    return lambda x1, x2: kernel(x1 != 0, x2 != 0)


def _integer_fmod(x1: Native, x2: Native) -> Native:
    """CuPy's is computed in float64, which does not hold all integers."""
    rest = cupy.remainder(x1, x2)
    return cupy.where((rest != 0) & ((x1 < 0) != (x2 < 0)), rest - x2, rest)


_ENGINE: Final = Engine(
    name="cupy",
    xp=xp,
    kind=cupy.ndarray,
    cast=lambda x, dtype: x.astype(dtype),
    as_array=lambda x, like: cupy.asarray(_fillable(x, like.dtype), like.dtype),
    to_numpy=lambda x: x.get(),
    from_numpy=lambda array, like: _loaded(array),
    device=lambda x: f"cupy:{x.device.id}",
    put=_put,
)
_UNARY: Final[Table] = {
    **_ENGINE.functions("unary"),
    p.IMAG: lambda x: cupy.imag(x).copy(),
    p.POSITIVE: lambda x: x.copy(),
    p.REAL: lambda x: cupy.real(x).copy(),
    p.RECIPROCAL: lambda x: 1 / x,
    p.ROUND: cupy.rint,
}
_BINARY: Final[Table] = {
    **_ENGINE.functions("binary"),
    p.FMOD: _ENGINE.of_arrays(cupy.fmod),
    p.POW: _ENGINE.power(cupy.power),
}
_kernels: Final = _ENGINE.tables(
    _UNARY,
    _BINARY,
    {},
    [(dtype, dtype) for dtype in d.NUMPYS],
    ((p.FMOD,), d.INTEGRAL, _ENGINE.of_arrays(_integer_fmod)),
    ((p.LOGICAL_NOT,), d.COMPLEX, lambda x: x == 0),
    *[
        ((op,), d.COMPLEX, _ENGINE.of_arrays(_of_truth(getattr(cupy, op.name))))
        for op in (p.LOGICAL_AND, p.LOGICAL_OR, p.LOGICAL_XOR)
    ],
    *[
        ((op,), dtypes, _ENGINE.of_arrays(kernel))
        for op, exact in ((p.FLOOR_DIVIDE, _floor_divide), (p.REMAINDER, _remainder))
        for dtypes, kernel in (
            ((d.float16,), _of_halves(exact)),
            ((d.float32, d.float64), exact),
        )
    ],
)
_HOST_SCANS: Final = {
    p.CUMULATIVE_MAX: np.maximum.accumulate,
    p.CUMULATIVE_MIN: np.minimum.accumulate,
}


@explain_errors
class CupyBackend(NamespaceBackend):
    """Executes primitives with CuPy on one GPU.

    `name`: the device that users name.
    `number`: of the GPU.
    Raises RuntimeError if this machine has no such GPU, or it does not work.
    """

    xp = xp
    errors = (RuntimeError, cupy.cuda.memory.OutOfMemoryError)

    def __init__(self, name: str, number: int) -> None:
        super().__init__(name, {dtype: dtype for dtype in d.NUMPYS})
        try:
            self.place = cupy.cuda.Device(number)
            self.place.compute_capability  # noqa: B018  # asks the driver
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise unusable(name, error) from error
        self.unaries, self.binaries = _kernels("cuda")

    # ------------------------------------------------------------------ memory

    def release_memory(self) -> None:
        with self.place:
            cupy.get_default_memory_pool().free_all_blocks()

    def flatten(self, array: Native) -> tuple[Native, View]:
        if array.flags.c_contiguous:
            return array.reshape(-1), View.row_major(array.shape)
        strides = [step // array.itemsize for step in array.strides]
        low, high = View(array.shape, strides).extent
        start = array.data + low * array.itemsize
        return cupy.ndarray((high - low,), array.dtype, start), View(array.shape, strides, -low)

    def read(self, memory: Native, view: View) -> tuple[Native, bool]:
        offset, strides = view.byte_layout(memory.itemsize)
        return cupy.ndarray(view.shape, memory.dtype, memory.data + offset, strides), True

    def write(self, target: Tensor, value: Native | Scalar) -> None:
        array = self.array(target)
        array[...] = _written(value, array)

    def put(self, storage: Storage, positions: Native, values: Native | Scalar) -> None:
        storage.memory[positions] = _written(values, storage.memory)

    def full(self, shape: tuple[int, ...], dtype: DType, value: Scalar) -> Tensor:
        result = cupy.empty(shape, self.dtypes[dtype])
        result[...] = _fillable(value, dtype)
        return wrap(result)

    def load(self, array: NDArray, copy: bool) -> Native:
        return _loaded(array)

    def unload(self, x: Tensor) -> NDArray:
        # Some results have the other one of C's two types of 64 bits, which NumPy tells apart.
        host: NDArray = np.asarray(self.array(x).get()).view(self.dtype(x))
        return host

    def dlpack_device(self) -> tuple[int, int]:
        return 2, self.place.id

    def from_native(self, array: Native) -> Tensor:
        if not isinstance(array, cupy.ndarray):
            array = cupy.from_dlpack(array)
        self.check_dtype(array, "CuPy", "the array with its own .astype(...)")
        return wrap(cupy.asarray(array))

    def explained(self, error: Exception) -> Exception:
        text = str(error).strip().partition("\n")[0]
        is_full = isinstance(error, cupy.cuda.memory.OutOfMemoryError)
        return self.out_of_memory(text) if is_full else self.failed(text)

    # ------------------------------------------------------------------ what CuPy does itself

    def copy(self, x: Tensor) -> Tensor:
        return wrap(self.array(x).copy(order="C"))

    def bitcast(self, x: Tensor, dtype: DType) -> Tensor:
        return self.in_memory_of(x, self.array(x).view(dtype))

    def divided(self, array: Native, count: float) -> Native:
        if array.dtype.kind != "c":
            return array / count
        result = cupy.empty_like(array)
        result.real, result.imag = array.real / count, array.imag / count
        return result

    def running_extreme(self, op: Primitive, array: Native, axis: int) -> Native:
        return cupy.asarray(_HOST_SCANS[op](array.get(), axis))

    def sortable(self, array: Native) -> Native:
        return array.astype(np.uint8) if array.dtype.kind == "b" else array

    def add_at(self, array: Native, positions: Native, values: Native) -> Native:
        dtype = array.dtype
        if dtype.kind == "c":
            # As pairs of floats, which CuPy adds.
            part = np.dtype(f"f{dtype.itemsize // 2}")
            both = (2 * positions[:, None] + cupy.arange(2)).reshape(-1)
            whole, pairs = [cupy.ascontiguousarray(x).view(part) for x in (array, values)]
            return self.add_at(whole, both, pairs).view(dtype)
        if dtype.kind == "b" or dtype.itemsize < (4 if dtype.kind in "iu" else 2):
            added = self.add_at(array.astype(np.int32), positions, values.astype(np.int32))
            return (added != 0) if dtype.kind == "b" else added.astype(dtype)
        added = array.copy()
        cupy.add.at(added, positions, values)
        return added

    def transformable(self, array: Native) -> Native:
        # cuFFT reads pairs of floats, also of real arrays, and refuses others.
        return array.copy() if array.data.ptr % 16 else array

    def solve(self, x1: Tensor, x2: Tensor) -> Tensor:
        """CuPy takes stacks of equal shapes that are not empty."""
        a, b = self.array(x1), self.array(x2)
        if b.ndim > 1 and a.shape[:-2] != b.shape[:-2]:
            stacks = broadcast_shapes(a.shape[:-2], b.shape[:-2])
            a, b = [cupy.broadcast_to(x, stacks + x.shape[-2:]) for x in (a, b)]
        if a.size and b.size:
            return super().solve(wrap(a), wrap(b))
        return wrap(cupy.empty(b.shape if b.ndim > 1 else a.shape[:-1], a.dtype))

    def _linalg(self, name: str, *arrays: Tensor, **options: object) -> Native:
        if name in ("eig", "eigvals"):
            host = getattr(np.linalg, name)(*[self.array(x).get() for x in arrays])
            dtype = d.PROMOTION[CANONICAL[self.array(arrays[0]).dtype], d.COMPLEX[0]]
            parts = host if isinstance(host, tuple) else (host,)
            wrapped = tuple([wrap(cupy.asarray(part.astype(dtype))) for part in parts])
            return wrapped if isinstance(host, tuple) else wrapped[0]
        with cupyx.errstate(linalg="raise"):
            return super()._linalg(name, *arrays, **options)


def _on_its_gpu(
    method: Callable[Concatenate[CupyBackend, P], R],
) -> Callable[Concatenate[CupyBackend, P], R]:
    @wraps(method)
    def primitive(self: CupyBackend, /, *arguments: P.args, **options: P.kwargs) -> R:
        with self.place:
            return method(self, *arguments, **options)

    return primitive


for _name in METHODS:
    if _name not in ("shape", "dtype", "dlpack_device"):
        setattr(CupyBackend, _name, _on_its_gpu(getattr(CupyBackend, _name)))
