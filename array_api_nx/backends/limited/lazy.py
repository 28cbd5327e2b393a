"""Elements that are computed when they are asked for, and not before.

Shapes of results are computed as on the device ``meta``. A step is recorded as a `PendingCall` of
the CPU backend's method, with the values that it reads. It runs when its results, or those of a
later call, are asked for; errors and warnings that depend on elements come then, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Final, NamedTuple, final

import numpy as np

from ...contract.arguments import Handle, Operand, Scalar
from ...contract.backend import Backend
from ...contract.callers import ErrorSettings, errstate, is_called_by
from ...contract.checked import CheckedBackend
from ...contract.errors import LimitError
from ...contract.events import evaluated
from ...contract.numpy_dtypes import NDArray
from ...contract.program import Argument, ValueView, operands_in
from ...core import dtypes as d
from ...core.symbolic import DimLike
from ...core.view import View
from ...explain.explanation import Explanation
from ...primitives import table as p
from ...primitives.rules import ArrayType, Elements
from ...primitives.table import Primitive
from ...tracing.recorder import Recorder, Traced, TracedStorage
from .elementless import Elementless, ElementlessBackend, ShapeRecorder

_ASKING_WHETHER_LAZY: Final = (("array_api_compat.common._helpers", "is_lazy_array"),)
"""Functions that find out whether an array is lazy by whether bool() of an element is refused.

This device computes the element, which the callers want to avoid. So these functions are recognised
by the ends of their modules' names: SciPy and scikit-learn have copies of these
modules within their own packages."""


@final
@dataclass(eq=False, slots=True)
class PendingCall:
    """A call of a backend's method that waits, or its results.

    `method`: that of the contract, ``update`` or ``update_indexed``; see contract/program.py.
    `arguments`, `keywords`: `ValueView` for handles; empty after the call.
    `errors`: NumPy's errstate where the call was recorded.
    `results`: None before the call.
    """

    method: str
    arguments: tuple[Argument, ...]
    keywords: dict[str, Argument]
    results: tuple[Handle, ...] | None = None
    errors: ErrorSettings = field(default_factory=errstate, init=False)

    def waiting(self) -> list[PendingCall]:
        """The calls whose results this one reads and that are still to be made."""
        read = (*self.arguments, *self.keywords.values())
        return [call for call in map(_call_of, operands_in(read)) if call.results is None]


def in_order(call: PendingCall) -> list[PendingCall]:
    """The calls that must be made for the results of `call`, itself among them, operands first."""
    found: dict[PendingCall, None] = {}
    stack = [call] if call.results is None else []
    while stack:
        waiting = [each for each in stack[-1].waiting() if each not in found]
        stack += waiting
        if not waiting:
            found[stack.pop()] = None
    return list(found)


class CallResult(NamedTuple):
    """A block of elements: the result of a call at `position`."""

    call: PendingCall
    position: int


def _call_of(operand: ValueView) -> PendingCall:
    value: Argument = operand.value
    call: PendingCall = value.call
    return call


class CallRecorder(ShapeRecorder):
    """Makes a call that waits of each step.

    `look`: from a handle, and the reason to look at its elements, to these.
    """

    def __init__(self, look: Callable[[Traced, str], Elements]) -> None:
        super().__init__()
        self._look = look

    def record(
        self,
        method: str,
        arguments: Sequence[Argument],
        results: Sequence[ArrayType],
        **keywords: Argument,
    ) -> list[Traced]:
        given = tuple([self._argument(x) for x in arguments])
        call = PendingCall(method, given, {name: self._argument(x) for name, x in keywords.items()})
        return [self.result(call, i, result) for i, result in enumerate(results)]

    def result(self, call: PendingCall, position: int, x: ArrayType) -> Traced:
        """The handle of a result of a call."""
        value: Argument = CallResult(call, position)
        return Elementless(self, TracedStorage(value, x.shape, x.dtype), View.row_major(x.shape))

    def decided_size(
        self, x: Traced, words: str, most: DimLike, count: Callable[[Elements], int]
    ) -> DimLike:
        return count(self._look(x, "the shape of a result depends on its elements"))

    update = Recorder.update


class LazyBackend(ElementlessBackend):
    """Computes shapes at once, and elements on the CPU when they are asked for."""

    def __init__(self, name: str) -> None:
        self._calls = CallRecorder(self._elements_on_host)
        super().__init__(name, self._calls)
        self.real = CheckedBackend(self.real)
        # Held while calls are made, so that no call is made twice.
        self._lock = RLock()

    # ------------------------------------------------------------------ pending elements

    def has_elements(self, x: Handle) -> bool:
        return True

    def elements(self, x: Traced, why: str) -> Handle:
        """The real backend's array of what `x` shows; `why` it is needed is reported."""
        operand = ValueView(x.memory.value, x.view)
        call = _call_of(operand)
        if call.results is None:
            evaluated(self.name, why)
            with self._lock:
                for each in in_order(call):
                    self._run(each)
        return self._read(operand)

    def _run(self, call: PendingCall) -> None:
        with np.errstate(**call.errors):
            if call.method.startswith("update"):
                self._update(call)
            else:
                arguments = [self._read(x) for x in call.arguments]
                keywords = {name: self._read(x) for name, x in call.keywords.items()}
                found = getattr(self.real, call.method)(*arguments, **keywords)
                call.results = found if type(found) is tuple else (found,)
        call.arguments, call.keywords = (), {}

    def _read(self, x: Argument) -> Argument:
        """An argument of a call, with handles for its operands."""
        if isinstance(x, ValueView):
            value: Argument = x.value
            handle = value.call.results[value.position]
            if x.view == View.row_major(self.real.shape(handle)):
                return handle
            return self.real.strided(handle, x.view)
        if type(x) is tuple:
            return tuple([self._read(part) for part in x])
        return x

    def _update(self, call: PendingCall) -> None:
        """Make a copy in which something is written; see contract/program.py.

        If that fails, nothing has been written, and the next request gets the elements as they
        were before.
        """
        real: Backend = self.real
        base, view, *rest = [self._read(x) for x in call.arguments]
        value = rest[-1]
        call.results = (base,)
        result = real.copy(base)
        if call.method == "update_indexed":
            value = real.strided(result, view)
            real.index_set(value, *rest)
        real.assign_strided(result, view, value)
        call.results = (result,)

    def _known(self, handle: Handle) -> Traced:
        """A handle of the real backend as one of this backend."""
        call = PendingCall("", (), {}, (handle,))
        return self._calls.result(
            call, 0, ArrayType(self.real.shape(handle), self.real.dtype(handle))
        )

    # ------------------------------------------------------------------ requests for elements

    def _elements_on_host(self, x: Traced, why: str) -> NDArray:
        return self.real.to_host(self.elements(x, why))

    def to_host(self, x: Handle) -> NDArray:
        return self.real.to_host(self.real.copy(self.elements(x, "its elements were asked for")))

    def item(self, x: Handle) -> Scalar:
        if is_called_by(_ASKING_WHETHER_LAZY):
            raise LimitError(f"arrays on device {self.name} are lazy")
        return self.real.item(self.elements(x, "an element was asked for"))

    def evaluate(self, *handles: Handle) -> None:
        for x in handles:
            self.elements(x, "it was to be evaluated")

    def explain(self, *handles: Handle) -> Explanation:
        calls = [_call_of(ValueView(x.memory.value, x.view)) for x in handles]
        return Explanation(len({each for call in calls for each in in_order(call)}))

    def from_host(self, array: NDArray, *, copy: bool, lent: bool = True) -> Traced:
        handle = self.real.from_host(array, copy=copy or lent, lent=lent)
        return self.handed_in(self._known(handle), array, copy=copy)

    # ------------------------------------------------------------------ errors that need elements

    def binary(self, op: Primitive, x1: Operand, x2: Operand, out: Handle | None = None) -> Traced:
        if op is p.POW and isinstance(x2, Traced) and x2.memory.dtype in d.SIGNED:
            # An error afterwards could come after `out` was written.
            exponents = self._elements_on_host(x2, "negative exponents are an error")
            if exponents.size and exponents.min() < 0:
                raise ValueError("integers to negative integer powers are not allowed")
        return super().binary(op, x1, x2, out)
