"""Arrays that have a shape and a dtype alone: the device ``meta``.

The tracing backend computes the shapes and dtypes of the results of the contract's methods. Here it
does so outside of traces, for known sizes, and without a program: a recorder decides what it keeps,
and that of ``meta`` keeps nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from ...contract.arguments import AxisOrder, Handle, Info, Scalar
from ...contract.derived import derive
from ...contract.errors import LimitError
from ...contract.numpy_dtypes import NDArray
from ...contract.program import Argument
from ...contract.strided import axis_order
from ...core.dtypes import CANONICAL
from ...core.symbolic import DimLike
from ...core.view import View
from ...primitives.rules import ArrayType, Elements
from ...tracing.backend import TracingBackend
from ...tracing.recorder import Recorder, Traced, TracedStorage, refuse
from ..cpu import CPUBackend


class Elementless(Traced):
    """The handle of arrays whose elements are not there."""

    __slots__ = ()


class ShapeRecorder(Recorder):
    """Gives the results of steps their shapes and dtypes, and forgets the steps."""

    def __init__(self) -> None:
        super().__init__(None)

    def record(
        self,
        method: str,
        arguments: Sequence[Argument],
        results: Sequence[ArrayType],
        **keywords: Argument,
    ) -> list[Traced]:
        return [
            Elementless(self, TracedStorage(0, x.shape, x.dtype), View.row_major(x.shape))
            for x in results
        ]

    def update(self, target: Traced, method: str, arguments: Sequence[Argument]) -> None:
        """Writes change no shape."""

    def holds_number(self, x: Traced, number: Scalar) -> None:
        """No caller can ask for it."""

    def number(self, x: Traced) -> Scalar | None:
        return None

    # Blocks have no layout but the row-major one, so that there are no doubts about views.

    def use_backend(self, backend: object) -> None:
        pass

    def doubt(self, x: Traced) -> None:
        pass

    def copied(self, x: Traced, result: Traced) -> None:
        pass

    def rely_on(self, x: Traced) -> None:
        pass

    def decided_size(
        self, x: Traced, words: str, most: DimLike, count: Callable[[Elements], int]
    ) -> DimLike:
        refuse_elements(f"gives a size that depends on the elements ({words})")


def refuse_elements(what: str) -> NoReturn:
    """Raise the LimitError for code that asks for elements of a meta array."""
    refuse(
        what,
        "arrays on device meta have a shape and a dtype, and no elements",
        "leave it out where nothing but shapes is wanted, or run it on a device with elements, as "
        "on cpu",
        LimitError,
    )


# Nothing is replayed here: each call draws its own numbers.
@derive({"draw"})
class ElementlessBackend(TracingBackend):
    """Computes the shapes and dtypes of results. What becomes of the elements, a subclass says.

    `name`: that of the device.
    `recorder`: makes the results of steps.
    """

    kind = Elementless

    def __init__(self, name: str, recorder: Recorder) -> None:
        super().__init__(CPUBackend())
        self.name = name
        self._recorder = recorder
        self.shares_host = False

    def recorder(self) -> Recorder:
        return self._recorder

    def traced(self, x: Handle) -> Traced:
        handle: Traced = x
        return handle

    def handed_in(self, x: Traced, array: NDArray, *, copy: bool) -> Traced:
        """`x`, which was made of `array`, as the contract has it: read-only if that is."""
        if not (copy or array.flags.writeable):
            x.memory.reason = "its memory was handed in as read-only"
        return x

    def axis_order(self, x: Handle) -> AxisOrder | None:
        return axis_order(x.view)

    def may_overlap(self, x1: Handle, x2: Handle) -> bool:
        return x1.memory is x2.memory

    def runtime_info(self) -> Info:
        return {}


class MetaBackend(ElementlessBackend):
    """Shapes and dtypes alone."""

    def __init__(self, name: str) -> None:
        super().__init__(name, ShapeRecorder())

    def refuse(self, what: str) -> NoReturn:
        refuse_elements(what)

    def from_host(self, array: NDArray, *, copy: bool, lent: bool = True) -> Traced:
        result = self.empty(array.shape, CANONICAL[array.dtype])
        return self.handed_in(result, array, copy=copy)
