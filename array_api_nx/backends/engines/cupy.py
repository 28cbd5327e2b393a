"""CuPy behind the adapter: views share memory, with strides of either sign."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

import array_api_compat.cupy as xp
import cupy
import cupyx
import numpy as np
from cupyx.scipy.special import erf

from ...config import hints
from ...contract.backend import METHODS, Native, Scalar
from ...contract.errors import EngineError
from ...contract.events import transferred
from ...contract.numpy_dtypes import NDArray
from ...contract.strided import Storage, Tensor
from ...core import dtypes as d
from ...core.dtypes import CANONICAL, DType
from ...core.view import View
from ...primitives import table as p
from ...primitives.table import Primitive
from . import workarounds
from .common_workarounds import EngineKernel, Wrapper, common_wrappers, of_engine
from .namespace import NamespaceBackend, explain_errors, wrap

__all__ = ["CupyBackend"]

P = ParamSpec("P")
R = TypeVar("R")


def _arrays(*operands: Native) -> list[Native]:
    """Operands as arrays: scalars become 0-d arrays of the dtype of the others."""
    dtype = next(x.dtype for x in operands if isinstance(x, cupy.ndarray))
    return [x if isinstance(x, cupy.ndarray) else cupy.asarray(x, dtype) for x in operands]


def _of_arrays(function: EngineKernel) -> EngineKernel:
    def kernel(x1: Native, x2: Native) -> Native:
        return function(*_arrays(x1, x2))

    return kernel


def _on_host(numpys: EngineKernel, *operands: Native) -> Native:
    if hints.watched:
        device = f"cupy:{operands[0].device.id}"
        transferred("engine", device, "numpy", sum([x.nbytes for x in operands]))
    with np.errstate(all="ignore"):
        return cupy.asarray(numpys(*[x.get() for x in operands]))


def _put(result: Native, mask: Native, values: Native) -> Native:
    result[mask] = values
    return result


def _apart(x: Native, target: Native) -> Native:
    """`x`, or a copy of it if it is an array that may share memory with `target`, which is to be
    written."""
    shared = isinstance(x, cupy.ndarray) and cupy.may_share_memory(x, target)
    return x.copy() if shared else x


def _rounding(function: EngineKernel) -> EngineKernel:
    def kernel(x: Native) -> Native:
        return function(x) if x.dtype.kind in "fc" else x.copy()

    return kernel


def _pow(x1: Native, x2: Native) -> Native:
    if x1.dtype.kind == "i" and bool((x2 < 0).any()):
        raise ValueError("integers to negative integer powers are not allowed")
    return cupy.power(x1, x2)


def _trunc_divide(x1: Native, x2: Native) -> Native:
    return (x1 - cupy.fmod(x1, x2)) // x2


# The functions that CuPy has under the standard's names, or NumPy's.
_UNARY: Final[dict[Primitive, EngineKernel]] = {
    **of_engine(xp, "unary", _on_host),
    p.CEIL: _rounding(cupy.ceil),
    p.ERF: erf,
    p.FLOOR: _rounding(cupy.floor),
    p.IMAG: lambda x: cupy.imag(x).copy(),
    p.POSITIVE: lambda x: x.copy(),
    p.REAL: lambda x: cupy.real(x).copy(),
    p.RECIPROCAL: lambda x: 1 / x,
    p.ROUND: _rounding(cupy.rint),
    p.TRUNC: _rounding(cupy.trunc),
}
_BINARY: Final[dict[Primitive, EngineKernel]] = {
    op: _of_arrays(function) for op, function in of_engine(xp, "binary", _on_host).items()
} | {
    p.FMOD: _of_arrays(cupy.fmod),
    p.POW: _of_arrays(_pow),
    p.TRUNC_DIVIDE: _of_arrays(_trunc_divide),
}
p.check_kernels("cupy", "unary", _UNARY)
p.check_kernels("cupy", "binary", _BINARY)
_WRAPPERS: Final[dict[str, Wrapper]] = common_wrappers(xp, _arrays, _on_host, _put)
_REDUCTIONS: Final = {
    p.MAX: cupy.max,
    p.MIN: cupy.min,
    p.ANY: cupy.any,
    p.ALL: cupy.all,
}
_HOST_SCANS: Final = {
    p.CUMULATIVE_MAX: np.maximum.accumulate,
    p.CUMULATIVE_MIN: np.minimum.accumulate,
}


@explain_errors
class CupyBackend(NamespaceBackend):
    """Executes primitives with CuPy on one GPU.

    Parameters
    ----------
    name : str
        The device that users name.
    number : int
        Of the GPU.

    Raises
    ------
    RuntimeError
        If this machine has no such GPU, or it does not work.
    """

    xp = xp
    errors = (RuntimeError,)

    def __init__(self, name: str, number: int) -> None:
        super().__init__(name, CANONICAL)
        try:
            self.place = cupy.cuda.Device(number)
            self.place.compute_capability  # noqa: B018  # asks the driver
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise RuntimeError(
                f"device {name!r} does not work: {error}; "
                "xp.__array_namespace_info__().devices() lists what there is"
            ) from error
        self.unaries, self.binaries = [
            {
                dtype: {
                    op: workarounds.apply("cupy", op, dtype, kernel, _WRAPPERS)
                    for op, kernel in table.items()
                    if dtype in op.results
                }
                for dtype in d.ALL
            }
            for table in (_UNARY, _BINARY)
        ]

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
        array[...] = _apart(value, array)

    def put(self, storage: Storage, positions: Native, values: Native | Scalar) -> None:
        storage.memory[positions] = _apart(values, storage.memory)

    def load(self, array: NDArray, copy: bool) -> Native:
        return cupy.asarray(array)

    def unload(self, x: Tensor) -> NDArray:
        return np.asarray(self.array(x).get())

    def dlpack_device(self) -> tuple[int, int]:
        return 2, self.place.id

    def from_native(self, array: Native) -> Tensor:
        if not isinstance(array, cupy.ndarray):
            array = cupy.from_dlpack(array)
        if array.dtype not in self._ours:
            raise TypeError(
                f"the standard has no dtype for CuPy's {array.dtype}; convert the array with its "
                "own .astype(...) first"
            )
        return wrap(cupy.asarray(array))

    def explained(self, error: Exception) -> Exception:
        text = str(error).strip().partition("\n")[0]
        if isinstance(error, cupy.cuda.memory.OutOfMemoryError):
            return MemoryError(
                f"device {self.name} has not enough memory: {text}; delete arrays, or move some "
                "elsewhere with to_device('cpu')"
            )
        return EngineError(
            f"device {self.name} failed: {text}; it may need a new process, and arrays on other "
            "devices are as they were"
        )

    # ------------------------------------------------------------------ what CuPy does itself

    def copy(self, x: Tensor) -> Tensor:
        return wrap(self.array(x).copy(order="C"))

    def bitcast(self, x: Tensor, dtype: DType) -> Tensor:
        return self.in_memory_of(x, self.array(x).view(dtype))

    def cast(self, x: Tensor, dtype: DType) -> Tensor:
        array = self.array(x)
        if array.dtype.kind == "c" and dtype not in (d.bool, *d.COMPLEX):
            array = array.real
        return wrap(array.astype(dtype))

    def divided(self, array: Native, count: float) -> Native:
        if array.dtype.kind != "c":
            return array / count
        result = cupy.empty_like(array)
        result.real, result.imag = array.real / count, array.imag / count
        return result

    def reduction(
        self, op: Primitive, array: Native, axes: tuple[int, ...], keepdims: bool, dtype: Native
    ) -> Native:
        if op is p.SUM or op is p.PROD:
            function = cupy.sum if op is p.SUM else cupy.prod
            return function(array, axes, dtype=dtype, keepdims=keepdims)
        return _REDUCTIONS[op](array, axes, keepdims=keepdims)

    def arg_reduce(self, op: Primitive, x: Tensor, axis: int, keepdims: bool) -> Tensor:
        extreme = cupy.argmax if op is p.ARGMAX else cupy.argmin
        return wrap(extreme(self.array(x), axis, keepdims=keepdims).astype(np.int64))

    def scan(self, op: Primitive, x: Tensor, axis: int, dtype: DType | None = None) -> Tensor:
        array = self.array(x)
        if op in _HOST_SCANS:
            return wrap(cupy.asarray(_HOST_SCANS[op](array.get(), axis)))
        function = cupy.cumsum if op is p.CUMULATIVE_SUM else cupy.cumprod
        return wrap(function(array, axis, array.dtype if dtype is None else dtype))

    def sortable(self, array: Native) -> Native:
        return array.astype(np.uint8) if array.dtype.kind == "b" else array

    def add_at(self, array: Native, positions: Native, values: Native) -> Native:
        added = array.copy()
        cupy.add.at(added, positions, values)
        return added

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
