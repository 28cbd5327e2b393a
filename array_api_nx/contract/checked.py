"""A backend that asserts the contract around any other backend.

For tests: it checks the frontend's guarantees (guarantees.py) before a primitive runs, and
afterwards the duties of the backend that are cheap to check: the shapes and dtypes that the rules
(primitives/rules.py) give, row-major layout, and memory of its own. Handles pass through unchanged,
so arrays made with and without it work together.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Final

import numpy as np

from ..core.dtypes import SCALAR_PROMOTION, DType
from ..primitives.rules import ROW_MAJOR, ROWS, RULED, SHARING, ArrayType, asked, results_of
from . import replay
from .arguments import Handle, Native, Run, Scalar
from .backend import METHODS, Backend
from .checked_call import CheckedCall, HeldType, Shape
from .derived import Derived, Method, derive, method_of, resemble
from .guarantees import OPERANDS, PROMISES, SCALARS, by_method
from .numpy_dtypes import NDArray
from .program import Argument, Program
from .strided import StridedBackend


@derive(METHODS)
class CheckedBackend(Derived):  # type: ignore[misc]  # see Derived
    """Runs every primitive on `inner` and asserts the contract on the way in and out.

    Raises ContractError from any primitive whose contract is broken, naming the primitive, the
    broken promise and the arguments.
    """

    def __init__(self, inner: Backend) -> None:
        self.inner = inner
        resemble(self, inner)
        self.compiler = inner.compiler
        self.compiles_unasked = inner.compiles_unasked

    def call(
        self, method: Method, arguments: tuple[Argument, ...], keywords: Mapping[str, Argument]
    ) -> Argument:
        """Call a method of `inner`, with checks around it."""
        call = _checked(self.inner, method, method.values(arguments, keywords))
        result = getattr(self.inner, method.name)(*arguments, **keywords)
        for words, condition in _DUTIES.get(method.name, ()):
            call.owes(asked(condition, {**call.named, "call": call, "result": result}), words)
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
    for words, condition in PROMISES.get(name, ()):
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
    memory: NDArray | None = backend.peek(x) if backend.is_on_host else None
    return memory


# ---------------------------------------------------------------------- duties of single methods


def _is_from_host(call: CheckedCall, result: Handle, array: NDArray, copy: bool) -> bool:
    dtype = next(each for each in ROWS["from_host"].results if each.name == array.dtype.name)
    _check_array(call, result, array.shape, dtype, own=copy)
    return True


def _is_from_native(call: CheckedCall, result: Handle, array: Native) -> bool:
    _check_array(call, result, tuple(array.shape), call.backend.dtype(result), own=False)
    return True


def _is_of_kind(call: CheckedCall, result: Scalar, x: HeldType) -> bool:
    kinds = (complex, float, int, bool)
    kind = next(kind for kind in kinds if SCALAR_PROMOTION[x.dtype, kind] is x.dtype)
    call.owes(type(result) is kind, f"return a Python {kind.__name__}")
    return True


def _select(x: HeldType, keys: tuple[Argument, ...]) -> bool:
    """Whether keys select elements of `x`, by NumPy."""
    host = [
        slice(None) if key is None else key.elements() if isinstance(key, HeldType) else key
        for key in keys
    ]
    try:
        _ = np.broadcast_to(np.False_, x.shape)[tuple(host)]
    except IndexError:
        return False
    return True


_DUTIES: Final = by_method([
    ("return a NumPy array", "to_host", lambda result: type(result) is np.ndarray),
    ("keep the shape", "to_host native", lambda result, x: tuple(result.shape) == x.shape),
    ("keep the dtype", "to_host", lambda result, x: result.dtype.name == x.dtype.name),
    ("return native byte order", "to_host", lambda result: result.dtype.isnative),
    ("return the array", "from_native", _is_from_native),
    ("return the array", "from_host", _is_from_host),
    ("raise ValueError unless there is one element", "item", lambda x: prod(x.shape) == 1),
    ("return a Python scalar", "item", _is_of_kind),
    ("return a permutation of the axes, or None", "axis_order",
     lambda result, x: result is None or result.axes is None
     or sorted(result.axes) == list(range(len(x.shape)))),
    ("return `out`", "binary",
     lambda call, result: call.arguments["out"] is None or result is call.arguments["out"]),
    ("return a tuple, one per axis", "nonzero",
     lambda result, x: type(result) is tuple and len(result) == len(x.shape)),
    ("raise IndexError for indices that select nothing", "index_get", _select),
    ("raise IndexError for indices that select nothing", "index_set",
     lambda target, keys: _select(target, keys)),
])  # fmt: skip
