"""One adapter over the array namespaces of other engines: PyTorch, JAX, CuPy.

Handles are the Tensors of strided backends, over the engine's own arrays: kernels give such
arrays, and movement is view algebra as on the CPU. A subclass says how a view
reads and writes the engine's memory, which functions are the elementwise kernels, and
overrides methods where the engine's own functions are better or differ.

`xp` is a namespace with the standard's functions, of array-api-compat or the engine itself.
Elementwise kernels are not looked up in it: they are the engine's functions, in tables by dtype.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection
from functools import wraps
from math import prod
from typing import Concatenate, Final, NoReturn, ParamSpec, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from ...contract.arguments import Native, Scalar
from ...contract.backend import METHODS
from ...contract.errors import CannotCompileError, EngineError
from ...contract.numpy_dtypes import NDArray
from ...contract.program import Program
from ...contract.strided import Storage, StridedBackend, Tensor, tensor_over
from ...core.derived import derived
from ...core.dtypes import EXTRA, KIND, NARROW, DType, arrive
from ...core.view import View
from ...primitives import table as p
from ...primitives.table import Primitive
from .engine_kernels import Kernels
from .special import Ufuncs

P = ParamSpec("P")
R = TypeVar("R")


class Dtypes(dict[DType, Native]):
    """The engine's dtypes by ours; asking for one that the device lacks is a TypeError."""

    def __init__(self, name: str, dtypes: dict[DType, Native]) -> None:
        super().__init__(dtypes)
        self._name = name

    def __missing__(self, dtype: DType) -> NoReturn:
        narrower = [*[other for other in self if KIND[other] == KIND[dtype]], dtype]
        raise TypeError(
            f"device {self._name} has no {dtype}; convert to another dtype first, as with "
            f"astype(..., {narrower[0]}), or use another device"
        )


def wrap(array: Native) -> Tensor:
    """A Tensor around the result of a kernel."""
    tensor = Tensor()
    tensor.array = array
    tensor.view = tensor.storage = None
    return tensor


# What explains errors on its own, or has none.
_HOT: Final = frozenset(
    {
        "unary", "binary", "where", "reduce", "shape", "dtype", "read_only_reason",
        "dlpack_device", "expand", "try_reshape", "permute", "slice", "flip", "axis_order",
    }
)  # fmt: skip


def _explaining(
    method: Callable[Concatenate[EngineBackend, P], R],
) -> Callable[Concatenate[EngineBackend, P], R]:
    """`method`, with the engine's errors explained."""

    @wraps(method)
    def primitive(self: EngineBackend, /, *arguments: P.args, **options: P.kwargs) -> R:
        try:
            return method(self, *arguments, **options)
        except self.errors as error:
            self.refuse(error)

    return primitive


def unusable(name: str, error: object) -> RuntimeError:
    """The error for a device that this machine lacks, or that does not work."""
    return RuntimeError(
        f"device {name!r} does not work: {error}; "
        "xp.__array_namespace_info__().devices() lists what there is"
    )


class EngineBackend(StridedBackend):
    """Executes primitives with the functions of an array namespace.

    Engines are subclasses, decorated by `explain_errors`.

    `name`: the device that users name.
    `xp`: the standard's functions over the engine's arrays.
    `place`: the engine's own object for the device.
    `dtypes`: those that the device has.
    `unaries`, `binaries`: kernels by the engine's dtype and primitive.
    `ufuncs`: the engine's functions for ufuncs of SciPy, by their names (special.py).
    `refused`: the programs that the engine's compiler has refused, and why.
    """

    name: str
    xp: Native
    place: Native
    dtypes: Dtypes
    unaries: Kernels
    binaries: Kernels
    ufuncs: Ufuncs = {}  # noqa: RUF012  # engines have tables of their own, which never change

    def __init__(
        self, name: str, dtypes: dict[DType, Native], lacking: Collection[DType] = ()
    ) -> None:
        self.name = name
        self.dtypes = derived(
            lambda: Dtypes(name, {ours: dtypes[ours] for ours in dtypes if ours not in lacking})
        )
        self._ours = derived(lambda: {theirs: ours for ours, theirs in self.dtypes.items()})
        self._read_only: WeakSet[Storage] = WeakSet()
        self.refused: WeakKeyDictionary[Program, str] = WeakKeyDictionary()

    # ------------------------------------------------------------------ hooks of engines

    @abstractmethod
    def flatten(self, array: Native) -> tuple[Native, View]:
        """The memory that `array` lies in, as `Storage.memory`, and how `array` reads it."""

    @abstractmethod
    def read(self, memory: Native, view: View) -> tuple[Native, bool]:
        """What `view`, which has no mask, shows, and whether that is in the same memory."""

    @abstractmethod
    def write(self, target: Tensor, value: Native | Scalar) -> None:
        """Write `value`, which broadcasts to `target`, as if it had been copied first."""

    @abstractmethod
    def put(self, storage: Storage, positions: Native, values: Native | Scalar) -> None:
        """Write 1-D `values` to the elements of the flat memory at 1-D `positions`, which lie in
        memory of their own, as if the values had been copied first."""

    @abstractmethod
    def load(self, array: NDArray, copy: bool) -> Native:
        """An ndarray as an array of the engine, in the same memory if it can and not `copy`."""

    @abstractmethod
    def unload(self, x: Tensor) -> NDArray:
        """The elements of `x`, in the same memory where the host can reach it."""

    @abstractmethod
    def explained(self, error: Exception) -> Exception:
        """What to raise in place of an engine's error."""

    def reduction(
        self, op: Primitive, array: Native, axes: tuple[int, ...], keepdims: bool, dtype: Native
    ) -> Native:
        """`op`, neither mean nor count_nonzero, over at least one axis."""
        function = getattr(self.xp, op.name)
        if op is p.SUM or op is p.PROD:
            wide = self._accumulator(dtype)
            return function(array, axis=axes, dtype=wide, keepdims=keepdims).astype(
                dtype, copy=False
            )
        if op is p.ANY or op is p.ALL:
            array = array != 0
        return function(array, axis=axes, keepdims=keepdims)

    def running_total(self, op: Primitive, array: Native, axis: int, dtype: Native) -> Native:
        """A scan by the sum or the product of two elements."""
        function = self.xp.cumsum if op is p.CUMULATIVE_SUM else self.xp.cumprod
        return function(array, axis, dtype=self._accumulator(dtype)).astype(dtype, copy=False)

    def _accumulator(self, dtype: Native) -> Native:
        """The engine's dtype to add up in, for a sum or a product in `dtype`."""
        ours = self._ours[dtype]
        return self.dtypes[NARROW.get(ours, ours)]

    @abstractmethod
    def running_extreme(self, op: Primitive, array: Native, axis: int) -> Native:
        """A scan by the greater or the less of two elements."""

    @abstractmethod
    def divided(self, array: Native, count: float) -> Native:
        """`array` by a count that may be 0; parts of complex numbers each on their own."""

    def choose(self, condition: Native, x1: Native, x2: Native) -> Native:
        """Elements of x1 or x2; at least one is an array."""
        return self.xp.where(condition, x1, x2)

    def number(self, count: int) -> float:
        """A count as a float; engines may have symbols for counts."""
        return float(count)

    def known_number(self, array: Native) -> int:
        """The element of an array that holds one int."""
        return array.item()

    takes_any_bool = False  # compilers of engines count on 0 and 1
    errors: tuple[type[Exception], ...] = (RuntimeError,)
    """What `explained` explains."""

    may_look: bool = True
    """Whether elements are known; while an engine compiles a program they are not."""

    row_major_test: str | None = None
    """The name of the method of the engine's arrays that tests for row-major; None if all are."""

    def row_major(self, array: Native) -> Native:
        """`array`, or a row-major copy of it."""
        return array

    def movable(self, array: Native) -> Native:
        """`array` in a dtype of the same size that the engine can index."""
        return array

    def moved(self, array: Native, dtype: Native) -> Native:
        """A result over `movable` arrays, in their own dtype."""
        return array

    def sortable(self, array: Native) -> Native:
        """`array` in a dtype that the engine sorts, in the same order."""
        return array

    def transformable(self, array: Native) -> Native:
        """`array` where the engine's Fourier transforms can read it."""
        return array

    def out_of_memory(self, text: str) -> MemoryError:
        return MemoryError(
            f"device {self.name} has not enough memory: {text}; delete arrays, or move some "
            "elsewhere with to_device('cpu')"
        )

    def failed(self, text: str) -> EngineError:
        return EngineError(
            f"device {self.name} failed: {text}; it may need a new process, and arrays on other "
            "devices are as they were"
        )

    def check_dtype(self, array: Native, engine: str, otherwise: str) -> None:
        """TypeError for an array of the engine whose dtype the standard lacks."""
        name = str(array.dtype).rpartition(".")[2]
        if name in EXTRA:
            arrive(name)
        if array.dtype not in self._ours:
            raise TypeError(
                f"the standard has no dtype for {engine}'s {array.dtype}; convert {otherwise} first"
            )

    def refuse(self, error: Exception) -> NoReturn:
        """Raise the explanation of an engine's error."""
        if isinstance(error, EngineError | CannotCompileError):
            raise error
        explanation = self.explained(error)
        if explanation is error:
            raise error
        raise explanation from error

    # ------------------------------------------------------------------ views and memory

    def ensure_view(self, x: Tensor) -> View:
        memory, view = self.flatten(x.array)
        x.storage = Storage(memory)
        x.view = view
        return view

    def bind(self, x: Tensor) -> Native:
        view, storage = x.view, x.storage
        if view.mask is not None:
            return self.array(self.materialise(x, 0))
        array, shared = self.read(storage.memory, view)
        if shared:
            x.array = array
        return array

    def array(self, x: Tensor) -> Native:
        """The engine's array of `x`; to be read only."""
        array = x.array  # read once: another thread may give the tensor a view
        return self.bind(x) if array is None else array

    def in_memory_of(self, x: Tensor, array: Native) -> Tensor:
        """A handle of `array`, which lies in the memory of `x`: read-only if `x` is."""
        result = wrap(array)
        if self.read_only_reason(x) is not None:
            view = self.ensure_view(result)
            if self.view(x).is_read_only:
                result.view = view.as_read_only()
            if x.storage in self._read_only:
                self._read_only.add(result.storage)
        return result

    def peek(self, x: Tensor) -> Native:
        return self.unload(x)

    def materialise(self, x: Tensor, fill: Scalar) -> Tensor:
        view, storage = x.view, x.storage
        result = self.full(self.shape(x), self.dtype(x), fill)
        if view.mask is None:
            self.assign(result, x)
        elif all([start < end for start, end in view.mask]):
            inside = tensor_over(storage, view.shrink(view.mask))
            box = tuple([(start, end - start, 1) for start, end in view.mask])
            self.assign(self.slice(result, box), inside)
        return result

    # ------------------------------------------------------------------ properties

    def shape(self, x: Tensor) -> tuple[int, ...]:
        array = x.array
        return x.view.shape if array is None else tuple(array.shape)  # type: ignore[return-value]

    def dtype(self, x: Tensor) -> DType:
        array = x.array
        return self._ours[x.storage.dtype if array is None else array.dtype]

    def read_only_reason(self, x: Tensor) -> str | None:
        reason = (x.view or self.ensure_view(x)).read_only_reason
        if reason is None and x.storage in self._read_only:
            return "its memory was handed in as read-only"
        return reason

    def to_host(self, x: Tensor) -> NDArray:
        array = self.unload(x)
        if self.read_only_reason(x) is not None:
            array.flags.writeable = False
        return array

    def item(self, x: Tensor) -> Scalar:
        array = self.array(x)
        if prod(array.shape) != 1:
            raise ValueError("only an array of size 1 is a scalar")
        return array.item()

    def native(self, x: Tensor) -> Native:
        return self.array(x)

    def available_dtypes(self) -> tuple[DType, ...]:
        return tuple(self.dtypes)


_Engine = TypeVar("_Engine", bound=type[EngineBackend])


def explain_errors(engine: _Engine) -> _Engine:
    """Decorate the class of an engine: where a method of the contract raises one of the engine's
    `errors`, what `EngineBackend.explained` makes of it is raised instead."""
    for name in METHODS:
        if name not in _HOT:
            setattr(engine, name, _explaining(getattr(engine, name)))
    return engine
