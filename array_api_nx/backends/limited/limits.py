"""The limits of the devices for tests: each property is that of a kind of device.

immutable
    Arrays never change, as in JAX. ``x[key] = value`` is an error, and ``x += 1`` makes a new array
    for the name `x`, which the other names of the old one do not see.
lazy
    Elements are computed when they are asked for, as in Dask; see lazy.py.
no_float64
    There is neither float64 nor complex128, as on ``torch:mps``; new arrays have single precision.
no_host
    The host cannot reach the memory, as that of a GPU: NumPy and DLPack get
    nothing, until the array is moved with ``to_device``.
no_mask_index
    ``x[mask]`` and ``x[mask] = value`` are errors.
no_x64
    There are no dtypes of 64 bits, as in JAX by default; integers and indices are
    int32.
slow_transfer
    Each way of elements to or from the host takes at least a millisecond.
static_shapes
    Shapes that depend on elements are errors, as in compiled functions of JAX.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import sleep
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ...contract.arguments import Handle, Keys, Native, Operand, Scalar
from ...contract.backend import Backend
from ...contract.callers import is_called_by
from ...contract.checked import CheckedBackend
from ...contract.derived import Method
from ...contract.errors import LimitError
from ...contract.handles import HOST
from ...contract.numpy_dtypes import NDArray
from ...contract.program import Argument
from ...core import dtypes as d
from ...primitives.rules import RULED, ArrayType, DataDependentSizeError, is_scalar, results_of
from ...tracing.recorder import refuse
from ..cpu import CPUBackend
from .lazy import LazyBackend

# Seconds that a transfer takes, and bytes per second. A GPU's take about a hundredth of it: these
# are long enough to be noticed, and short enough for tests.
LATENCY: Final = 1e-3
BANDWIDTH: Final = 1e8

# DLPack's number for Vulkan: one that the standard lists, and whose memory no library here reaches.
_VULKAN: Final = 7

_WRITERS: Final = (("array_api_extra._lib._at", "at"), ("array_api_extra._at", "at"))
"""Functions that write to arrays of their own on the user's behalf.

``at(x)[key].set(value)`` returns the array in which that was written. Of arrays that cannot be
written, or take no masks, it knows those of JAX and Dask alone."""


class Memory:
    """The native array of a device whose memory the host cannot reach."""

    def __init__(self, array: NDArray, device: str) -> None:
        self.array = array
        self.shape = array.shape
        self.dtype = array.dtype
        self._device = device

    def __dlpack__(self, *, dl_device: object = None, copy: object = None, **rest: Any) -> Any:
        """A capsule with a copy, if one for the host's memory is asked for; else BufferError."""
        if dl_device == (HOST, 0) and copy is not False:
            return self.array.__dlpack__(max_version=rest.get("max_version"), copy=True)
        raise BufferError(f"the host cannot reach the memory of device {self._device}")

    def __dlpack_device__(self) -> tuple[int, int]:
        return _VULKAN, 0


if TYPE_CHECKING:

    class Unlimited(CPUBackend):
        """What those that follow `Limits` in the order of bases have."""

        def call(
            self, method: Method, arguments: tuple[Argument, ...], keywords: Mapping[str, Argument]
        ) -> Argument: ...

else:
    Unlimited = Backend


class Limits(Unlimited):
    """The properties, over a backend that has none of them.

    `name`: that of the device.
    """

    name: str
    properties: frozenset[str] = frozenset()

    def limit(self, name: str, properties: Sequence[str]) -> None:
        """Take the properties on."""
        self.name = name
        self.properties = frozenset(properties)
        if "immutable" in properties:
            self.immutable = f"arrays on device {name} never change"
        if "immutable" in properties or "no_host" in properties:
            self.shares_host = False

    def _refuse(self, what: str, because: str, otherwise: str) -> NoReturn:
        refuse(what, f"device {self.name} {because}", otherwise, LimitError)

    # ------------------------------------------------------------------ immutable

    def read_only_reason(self, x: Handle) -> str | None:
        if self.immutable is not None and not is_called_by(_WRITERS):
            return self.immutable
        return super().read_only_reason(x)

    # ------------------------------------------------------------------ no_host, slow_transfer

    def _transfer(self, nbytes: int) -> None:
        if "slow_transfer" in self.properties:
            sleep(LATENCY + nbytes / BANDWIDTH)

    def to_host(self, x: Handle) -> NDArray:
        array = super().to_host(x)
        self._transfer(array.nbytes)
        return array if self.shares_host else array.copy()

    def from_host(self, array: NDArray, *, copy: bool, lent: bool = True) -> Handle:
        self._transfer(array.nbytes)
        if lent and not copy and not self.shares_host:
            # A read-only array stays so.
            own = array.copy()
            own.flags.writeable = array.flags.writeable
            return super().from_host(own, copy=False, lent=False)
        return super().from_host(array, copy=copy, lent=lent)

    def item(self, x: Handle) -> Scalar:
        self._transfer(0)
        return super().item(x)

    def dlpack_device(self) -> tuple[int, int]:
        return (_VULKAN, 0) if "no_host" in self.properties else super().dlpack_device()

    def native(self, x: Handle) -> Native:
        if "no_host" in self.properties:
            return Memory(super().to_host(x), self.name)
        return self.to_host(x) if self.immutable is not None else super().native(x)

    def from_native(self, array: Native) -> Handle:
        if isinstance(array, Memory):
            return super().from_host(array.array, copy=True)
        return super().from_native(array)

    # ------------------------------------------------------------------ masks, shapes

    # For arrays that `_WRITERS` know to take no masks, they use `where`.

    def _check_masks(self, keys: Keys) -> None:
        """Refuse masks where the device has no index by masks."""
        if "no_mask_index" in self.properties and not is_called_by(_WRITERS):
            handles: list[Handle] = [x for x in keys if x is not None and type(x) is not int]
            if any([self.dtype(key) is d.bool for key in handles]):
                self._refuse(
                    "has a mask", "takes no masks", "choose with where(mask, x, other) instead"
                )

    def _check_shapes(self, method: Method, values: list[Argument]) -> None:
        """Refuse a call whose results have shapes that depend on elements."""
        try:
            results_of(
                method.name,
                dict(zip(method.names, method.mapped(values, self._type_of), strict=True)),
            )
        except DataDependentSizeError:
            if is_called_by(_WRITERS):
                return
            self._refuse(
                "gives a size that depends on the elements",
                "must know every shape without the elements",
                "use a function whose result has a shape that is known, or move the array first, "
                "with x.to_device('cpu')",
            )
        except (ValueError, IndexError):
            pass  # which the call raises itself

    def _type_of(self, x: Argument) -> Argument:
        return x if x is None or is_scalar(x) else ArrayType(self.shape(x), self.dtype(x))

    def index_get(self, x: Handle, keys: Keys) -> Handle:
        self._check_masks(keys)
        return super().index_get(x, keys)

    def index_set(self, target: Handle, keys: Keys, value: Operand) -> None:
        self._check_masks(keys)
        super().index_set(target, keys, value)

    def call(
        self, method: Method, arguments: tuple[Argument, ...], keywords: Mapping[str, Argument]
    ) -> Argument:
        if "static_shapes" in self.properties and method.name in RULED:
            self._check_shapes(method, method.values(arguments, keywords))
        return super().call(method, arguments, keywords)


class LimitedBackend(Limits, CheckedBackend):
    """The CPU backend with properties, and with the contract asserted around it."""


class LimitedLazyBackend(Limits, LazyBackend):  # type: ignore[misc]  # see Unlimited
    """The same, whose elements are computed when they are asked for."""

    def __init__(self, name: str) -> None:
        LazyBackend.__init__(self, name)


def limited(name: str, properties: Sequence[str]) -> Backend:
    """The backend of the device for tests of that name."""
    backend: LimitedBackend | LimitedLazyBackend
    if "lazy" in properties:
        backend = LimitedLazyBackend(name)
    else:
        backend = LimitedBackend(CPUBackend())
    backend.limit(name, properties)
    return backend
