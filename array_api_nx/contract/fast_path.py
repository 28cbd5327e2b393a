"""The short way of operations element by element, from the public array to a kernel and back.

Small operations take less time than Python code around them would. Where types, devices and dtypes
agree at a glance, the compiled `Shortcut` goes from the operands' handles to the kernel of a
`Route` and wraps the result; everything else is left to the function that it stands for. A backend
offers routes through `Backend.route`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import numpy as np

from ..config import hints
from ..core.dtypes import DType
from ..native import load
from .numpy_dtypes import NDArray
from .primitives import Primitive
from .strided import Tensor

if TYPE_CHECKING:
    from .backend import Backend

__all__ = ["Route", "scalars_of", "shorten"]

Function = TypeVar("Function", bound=Callable[..., object])


class Route(NamedTuple):
    """How a primitive is computed on operands of one dtype, whose handles are Tensors of ndarrays.

    It is followed while nothing is deferred that has an array (see `config.Hints`).

    Attributes
    ----------
    result : DType
    scalars : int
        Which Python scalars may stand beside an array: 1 for bool, 2 int, 4 float, 8 complex.
    low, high : int
        Bounds of ints.
    bind : callable
        From a Tensor without an array, that is a view that was not used before or deferred, to its
        array; None sends the call the long way.
    parallel_min : int
        Up to so many elements of operands and result, one thread computes, and `kernel` does what
        `attempt` does not. Above, that goes the long way.
    kernel : callable
        ``kernel(*operands)``: an ndarray or a NumPy scalar. A ValueError about several shapes sends
        the call the long way.
    attempt : callable or None
        ``attempt(operation, threads, limit, *operands)``: an ndarray; arguments for `reported`; or
        None, with nothing done. The limit is `hints.threshold`.
    operation : object
    serial_limit : int
        Elements up to which one thread is enough.
    threads : callable
        How many there may be.
    reported : callable
        From what `attempt` found to an ndarray or None, after warnings.
    """

    result: DType
    scalars: int
    low: int
    high: int
    bind: Callable[[Tensor], NDArray | None]
    parallel_min: int
    kernel: Callable[..., NDArray | np.generic]
    attempt: Callable[..., NDArray | tuple[object, ...] | None] | None
    operation: object
    serial_limit: int
    threads: Callable[[], int]
    reported: Callable[..., NDArray | None]


_BITS: Final = {bool: 1, int: 2, float: 4, complex: 8}
_INT64: Final = -(2**63), 2**63 - 1


def scalars_of(dtype: DType) -> tuple[int, int, int]:
    """The fields `scalars`, `low` and `high` of routes for a dtype: scalars that leave it as it is.

    Ints outside int64 go the long way.
    """
    bits = sum([bit for kind, bit in _BITS.items() if dtype.with_scalar[kind] is dtype])
    return bits, max(dtype.min, _INT64[0]), min(dtype.max, _INT64[1])


_extension: Final = load("_fast_path")


def _find(primitive: Primitive, dtype: DType, backend: Backend) -> Route | None:
    return backend.route(primitive, dtype) if dtype in primitive.results else None


def shorten(
    operands: int, extras: int, array: type, device: type
) -> Callable[[Function], Function]:  # of `function(primitive, *operands, ...)`
    """A decorator that sends calls the short way where there is one.

    Without the compiled extension functions stay as they are.

    Parameters
    ----------
    operands : int
        How many the function takes after the primitive, 1 or 2.
    extras : int
        How many arguments it takes by position after those, which matter the long way only.
    array, device : type
        The public array, with the slots `_handle`, `_dtype` and `_device`, and the device, with
        the slot `backend`.
    """

    def decorate(function: Function) -> Function:
        if _extension is None:
            return function
        # It is called as the function is.
        return _extension.Shortcut(  # type: ignore[return-value]
            function, operands, extras, array, device, Tensor, hints, _find
        )

    return decorate
