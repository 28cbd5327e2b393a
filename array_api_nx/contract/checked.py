"""A backend that asserts the contract around any other backend.

For tests: it checks the frontend's guarantees (guarantees.py) before a primitive runs, and
afterwards the duties of the backend that are cheap to check: the shapes and dtypes that the rules
(primitives/rules.py) give, row-major layout, and memory of its own. Handles pass through unchanged,
so arrays made with and without it work together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Final

import numpy as np

from ..core.dtypes import SCALAR_PROMOTION, DType
from ..primitives.rules import ROW_MAJOR, ROWS, RULED, SHARING, ArrayType, asked, results_of
from . import replay
from .arguments import AxisOrder, Handle, Native, Scalar
from .backend import METHODS, Backend
from .checked_call import CheckedCall, ContractError, HeldType, Shape
from .derived import Derived, Method, derive, method_of
from .guarantees import OPERANDS, SCALARS, promises
from .numpy_dtypes import NDArray
from .program import Argument, Program
from .replay import Run
from .strided import StridedBackend

__all__ = ["CheckedBackend", "ContractError"]


@derive(METHODS)
class CheckedBackend(Derived):  # type: ignore[misc]  # see Derived
    """Runs every primitive on `inner` and asserts the contract on the way in and out.

    Raises ContractError from any primitive whose contract is broken, naming the primitive, the
    broken promise and the arguments.
    """

    def __init__(self, inner: Backend) -> None:
        self.inner = inner
        self.shares_host = inner.shares_host
        self.takes_any_bool = inner.takes_any_bool
        self.word = inner.word
        self.strided_shares = inner.strided_shares
        self.immutable = inner.immutable
        self.compiler = inner.compiler
        self.compiles_unasked = inner.compiles_unasked

    def call(
        self, method: Method, arguments: tuple[Argument, ...], keywords: Mapping[str, Argument]
    ) -> Argument:
        """CheckedCall a method of `inner`, with checks around it."""
        call = _checked(self.inner, method, method.values(arguments, keywords))
        result = getattr(self.inner, method.name)(*arguments, **keywords)
        if method.name in _DUTIES:
            asked(_DUTIES[method.name], {**call.named, "call": call, "result": result})
        if method.name in RULED:
            _check_results(call, result)
        return result

    def prepare(self, program: Program, sizes: tuple[int, ...]) -> Run:
        _checked(self.inner, method_of("prepare"), [program, sizes])
        # Step by step, so that each of them is checked.
        return replay.prepare(self, program, sizes)

    def prepare_compiled(self, program: Program, sizes: tuple[int, ...]) -> Run:
        _checked(self.inner, method_of("prepare_compiled"), [program, sizes])
        self.inner.prepare_compiled(program, sizes)  # says so if it cannot
        return replay.prepare(self, program, sizes)


def _checked(backend: Backend, method: Method, values: list[Argument]) -> CheckedCall:
    """A call of a method of `backend`; ContractError unless the frontend keeps its guarantees."""
    call = CheckedCall(backend, method, values)
    call.check()
    name, named = method.name, call.named
    if name in OPERANDS:
        call.operands(*[named[each] for each in OPERANDS[name]])
    for each in SCALARS.get(name, ()):
        call.scalar(named[each], call.dtype)
    for words, condition in promises(name):
        call.guarantees(asked(condition, {**named, "call": call}), words.format(**named))
    return call


# ---------------------------------------------------------------------- what results are


def _check_results(call: CheckedCall, result: Argument) -> None:
    """Check the results of a primitive against its rule."""
    name = call.method.name
    try:
        expected = results_of(name, call.named)
    except (ValueError, IndexError) as error:
        words = f"raise {type(error).__name__} if {_REFUSED.get(name, 'shapes do not broadcast')}"
        call.owes(False, words)
    if call.method.several:
        count = len(expected)
        call.owes(
            type(result) is tuple and len(result) == count, f"return a tuple of {count} handles"
        )
        for x, each in zip(result, expected, strict=True):
            _check_result(call, x, each)
    elif not (name == "try_reshape" and result is None):
        _check_result(call, result, expected[0])


_REFUSED: Final = {
    "cat": "shapes differ but for `axis`",
    "index_get": "the keys do not broadcast",
}
"""When a backend must raise the error of a rule, for those that raise another than the usual."""


def _check_result(call: CheckedCall, result: Handle, expected: ArrayType) -> None:
    name = call.method.name
    own = name not in SHARING and call.arguments.get("out") is None
    _check_array(call, result, expected.shape, expected.dtype, own=own, rows=name in ROW_MAJOR)


def _check_array(
    call: CheckedCall, result: Handle, shape: Shape, dtype: DType, *, own: bool, rows: bool = False
) -> None:
    """Check a result: shape, dtype, memory of its `own`, row-major order (`rows`)."""
    backend = call.backend
    call.owes(call.is_handle(result), "return a handle")
    found = backend.shape(result)
    call.owes(type(found) is tuple, "tell shapes as tuples")
    call.owes(found == shape, f"return shape {shape}, not {found}")
    call.owes(backend.dtype(result) is dtype, f"return {dtype}, not {backend.dtype(result)}")
    if rows and isinstance(backend, StridedBackend):
        call.owes(backend.view(result).is_row_major, "return row-major memory")
    # A result that is still to be computed will get memory of its own.
    memory = _memory(call, result)
    if memory is not None and own and backend.read_only_reason(result) is None:
        for x in call.flat_arguments():
            other = x if isinstance(x, np.ndarray) else _memory(call, x)
            call.owes(
                other is None or not np.may_share_memory(memory, other), "return memory of its own"
            )


def _memory(call: CheckedCall, x: Handle) -> NDArray | None:
    """The memory of a handle, if it has any yet and the host can reach it."""
    backend = call.backend
    if not isinstance(backend, StridedBackend) or not call.is_handle(x):
        return None
    memory: NDArray | None = backend.peek(x) if backend.dlpack_device()[0] == 1 else None
    return memory


# ---------------------------------------------------------------------- duties of single methods

_DUTIES: Final[dict[str, Callable[..., None]]] = {}


def _duty(function: Callable[..., None]) -> Callable[..., None]:
    _DUTIES[function.__name__.removeprefix("_")] = function
    return function


@_duty
def _to_host(call: CheckedCall, result: NDArray, x: HeldType) -> None:
    call.owes(type(result) is np.ndarray, "return a NumPy array")
    call.owes(result.shape == x.shape, "keep the shape")
    call.owes(result.dtype.name == x.dtype.name, "keep the dtype")
    call.owes(result.dtype.isnative, "return native byte order")


@_duty
def _native(call: CheckedCall, result: Native, x: HeldType) -> None:
    call.owes(tuple(result.shape) == x.shape, "keep the shape")


@_duty
def _from_native(call: CheckedCall, result: Handle, array: Native) -> None:
    _check_array(call, result, tuple(array.shape), call.backend.dtype(result), own=False)


@_duty
def _from_host(call: CheckedCall, result: Handle, array: NDArray, copy: bool) -> None:
    dtype = next(each for each in ROWS["from_host"].results if each.name == array.dtype.name)
    _check_array(call, result, array.shape, dtype, own=copy)


@_duty
def _item(call: CheckedCall, result: Scalar, x: HeldType) -> None:
    call.owes(prod(x.shape) == 1, "raise ValueError unless there is one element")
    kind = next(
        kind for kind in (complex, float, int, bool) if SCALAR_PROMOTION[x.dtype, kind] is x.dtype
    )
    call.owes(type(result) is kind, f"return a Python {kind.__name__}")


@_duty
def _axis_order(call: CheckedCall, result: AxisOrder | None, x: HeldType) -> None:
    axes = list(range(len(x.shape)))
    call.owes(
        result is None or result.axes is None or sorted(result.axes) == axes,
        "return a permutation of the axes, or None",
    )


@_duty
def _binary(call: CheckedCall, result: Handle) -> None:
    out = call.arguments["out"]
    call.owes(out is None or result is out, "return `out`")


@_duty
def _nonzero(call: CheckedCall, result: tuple[Handle, ...], x: HeldType) -> None:
    count = len(x.shape)
    call.owes(type(result) is tuple and len(result) == count, "return a tuple, one per axis")


@_duty
def _index_get(call: CheckedCall, x: HeldType, keys: tuple[Argument, ...]) -> None:
    _check_indices(call, x, keys)


@_duty
def _index_set(call: CheckedCall, target: HeldType, keys: tuple[Argument, ...]) -> None:
    _check_indices(call, target, keys)


def _check_indices(call: CheckedCall, x: HeldType, keys: tuple[Argument, ...]) -> None:
    """Check by NumPy that the keys select elements of `x`."""
    host = [
        slice(None) if key is None else key.elements() if isinstance(key, HeldType) else key
        for key in keys
    ]
    try:
        _ = np.broadcast_to(np.False_, x.shape)[tuple(host)]
    except IndexError:
        call.owes(False, "raise IndexError for indices that select nothing")
