"""Small programs: bound to memory of their own, so that a run is a few calls.

What a run costs is counted in microseconds here. Passes of kernels that follow each other are one
call of the extension (a `Sequence`), and the commonest calls of NumPy's kernels write straight into
the slot of their result.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .... import primitives as p
from ....core.view import View
from ...strided import Tensor
from ..fusion import executor, fperrors
from ..fusion.compiled import extension
from ..fusion.pool import empty
from ..kernels import NDArray, divide_by_count
from .actions import Action, Call, Pass, Read, Slot, as_array

if TYPE_CHECKING:
    from .running import Plan

__all__ = ["Small"]

Given: TypeAlias = "list[NDArray]"
"""The arrays of a run that are not the program's own: arguments, constants, then results."""

Work: TypeAlias = "Callable[[Given, executor.Report], None]"
Reader: TypeAlias = "Callable[[Given], NDArray]"

_MAX_PASSES = 64


class Small:
    """A planned program bound to memory, for one run at a time.

    Parameters
    ----------
    plan : Plan
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._numbers = {slot: i for i, slot in enumerate(plan.given)}
        memory = empty((plan.arena,), np.dtype(np.uint8))
        self._fixed: dict[Slot, NDArray] = dict(plan.scalars)
        for slot, position in plan.places:
            described = plan.slots[slot]
            self._fixed[slot] = np.ndarray((described.size,), described.dtype, memory, position)
        self._names: list[tuple[str, ...]] = []
        self._work = self._bind()
        self._open: Callable[[Given], bool | None] = self._open_in_python
        if extension is not None:
            expected = tuple([plan.expected(slot) for slot in plan.given])
            self._open = extension.Sequence(expected, (), (), True).run

    # ------------------------------------------------------------------ running

    def run(self, given: Given, report: executor.Report) -> bool:
        """Compute the results, which are appended to `given`.

        False, with nothing done, unless `given` are contiguous arrays of the shapes and dtypes
        planned for, or objects with an attribute `array` that is one.
        """
        if self._open(given) is False:
            return False
        for work in self._work:
            work(given, report)
        return True

    def _open_in_python(self, given: Given) -> bool:
        """What a sequence without passes does."""
        plan = self._plan
        for i, slot in enumerate(plan.given):
            if i == len(given):
                given.append(empty(*plan.expected(slot)))
            array: Any = given[i]
            array = array if type(array) is np.ndarray else getattr(array, "array", None)
            if type(array) is not np.ndarray or not array.flags.c_contiguous:
                return False
            if (array.shape, array.dtype) != plan.expected(slot):
                return False
            given[i] = array
        return True

    # ------------------------------------------------------------------ binding

    def _bind(self) -> list[Work]:
        found: list[Work] = []
        passes: list[Pass] = []
        for action in [*self._plan.actions, None]:
            if _is_native(action) and len(passes) < _MAX_PASSES:
                passes.append(action)  # type: ignore[arg-type]
                continue
            if passes:
                found.append(self._sequence(passes))
                passes = []
            if _is_native(action):
                passes.append(action)  # type: ignore[arg-type]
            elif action is not None:
                found.append(self._single(action))
        return found

    def reentrant(self) -> Callable[[list[Any]], Tensor | None] | None:
        """For programs that are one sequence over no memory of their own, with one result: a
        function from the arguments' handles to it, which any number of runs may use at a time.

        It returns None, with nothing done, where the arguments are not as they should be, or
        floating-point errors want more than warnings.
        """
        plan = self._plan
        if plan.arena or len(plan.actions) != len(self._names) or len(self._work) != 1:
            return None
        if plan.constants or len(plan.outputs) != 1:
            return None
        run, names = self._last_sequence.run, self._names

        def quick(arrays: list[Any]) -> Tensor | None:
            flags = run(arrays)
            if flags is not None:
                warned = fperrors.modes()
                if flags is False or warned is None:
                    return None
                fperrors.report(_raised(names, flags, warned))
            result = Tensor()
            result.array = arrays[-1]
            result.view = result.storage = None
            return result

        return quick

    def _sequence(self, passes: list[Pass]) -> Work:
        plan = self._plan
        slots = sorted({slot for each in passes for slot, _ in each.sources})
        fixed = [slot for slot in slots if slot in self._fixed]
        numbers = {
            **self._numbers,
            **{slot: len(self._numbers) + i for i, slot in enumerate(fixed)},
        }
        assert extension is not None
        sequence = extension.Sequence(
            tuple([plan.expected(slot) for slot in plan.given]),
            tuple([self._fixed[slot] for slot in fixed]),
            tuple(
                [
                    (
                        each.stage.program,
                        tuple([(numbers[slot], offset) for slot, offset in each.sources]),
                        1,
                    )
                    for each in passes
                ]
            ),
            True,
        )
        names = [each.names for each in passes]
        self._names += names
        self._last_sequence = sequence
        run = sequence.run

        def work(given: Given, report: executor.Report) -> None:
            flags = run(given)
            if flags is not None:
                report += _raised(names, flags, fperrors.modes() or 0)

        return work

    def _single(self, action: Action) -> Work:
        if type(action) is not Call:
            return self._any(action)
        special = {
            "arg_reduce": self._position,
            "inv": self._inverse,
            "matmul": self._matmul,
            "reduce": self._reduction,
        }
        return special.get(action.method, self._any)(action)

    def _any(self, action: Action) -> Work:
        """Any action, run as in large programs; what it finds is copied into its slot."""
        plan = self._plan
        fixed: list[Any] = [self._fixed.get(slot) for slot in range(len(plan.slots))]
        results = [slot for slot in action.finds() if plan.slots[slot].last >= 0]

        def work(given: Given, report: executor.Report) -> None:
            slots = fixed.copy()
            for slot, i in self._numbers.items():
                slots[slot] = given[i].reshape(-1)
            memories = [slots[slot] for slot in results]
            action.run(plan.backend, slots, report)
            for slot, memory in zip(results, memories, strict=True):
                np.copyto(memory, slots[slot])

        return work

    def _matmul(self, action: Call) -> Work:
        first, second = [self._reader(x) for x in action.arguments]
        out = self._result(action)
        matmul = np.matmul
        if all([type(x) is _Fixed for x in (first, second, out)]):
            # The arrays are always the same ones.
            x1, x2, target = first([]), second([]), out([])

            def fixed(given: Given, report: executor.Report) -> None:
                matmul(x1, x2, target)

            return fixed

        def work(given: Given, report: executor.Report) -> None:
            matmul(first(given), second(given), out(given))

        return work

    def _position(self, action: Call) -> Work:
        op, x, axis, keepdims = action.arguments
        read, out = self._reader(x), self._result(action)
        find: Any = np.argmax if op is p.ARGMAX else np.argmin

        def work(given: Given, report: executor.Report) -> None:
            find(read(given), axis, out(given), keepdims=keepdims)

        return work

    def _inverse(self, action: Call) -> Work:
        read, out = self._reader(action.arguments[0]), self._result(action)
        inv = np.linalg.inv

        def work(given: Given, report: executor.Report) -> None:
            out(given)[...] = inv(read(given))

        return work

    def _reduction(self, action: Call) -> Work:
        op, x, axes, keepdims, *rest = action.arguments
        source = self._plan.slots[x.slot].dtype
        dtype = rest[0] if rest else dict(action.keywords).get("dtype")
        if op not in (p.SUM, p.MEAN) or dtype is not None or source.kind != "f":
            return self._any(action)
        read, out = self._reader(x), self._result(action)
        add: Any = np.add.reduce
        if op is p.SUM:

            def total(given: Given, report: executor.Report) -> None:
                add(read(given), axes, None, out(given), keepdims)

            return total
        count = prod([x.view.shape[axis] for axis in axes])

        def mean(given: Given, report: executor.Report) -> None:
            out(given)[...] = divide_by_count(add(read(given), axes, None, None, keepdims), count)

        return mean

    # ------------------------------------------------------------------ arrays

    def _reader(self, x: Read) -> Reader:
        """How to get at what `x` shows."""
        view = x.view
        memory = self._fixed.get(x.slot)
        if memory is not None:
            return _Fixed(as_array(memory, view))
        number = self._numbers[x.slot]
        if view == View.row_major(self._plan.expected(x.slot)[0]):
            return lambda given: given[number]
        return lambda given: as_array(given[number].reshape(-1), view)

    def _result(self, action: Call) -> Reader:
        """How to get at the memory for the only result of a call."""
        (slot,) = action.results
        return self._reader(Read(slot, View.row_major(self._plan.slots[slot].shape)))


class _Fixed:
    """Reads an array that is always the same."""

    __slots__ = ("array",)

    def __init__(self, array: NDArray) -> None:
        self.array = array

    def __call__(self, given: Given) -> NDArray:
        return self.array


def _is_native(action: Action | None) -> bool:
    """Whether the extension alone runs an action."""
    if extension is None or type(action) is not Pass:
        return False
    head = action.head
    return head is None or not (
        action.stage.partial or head.divisor is not None or head.op is p.VAR
    )


def _raised(names: list[tuple[str, ...]], flags: Any, warned: int) -> executor.Report:
    """Per step that met floating-point errors: its name, the errors, and which to warn of."""
    return [
        (name, met, warned)
        for each, raised in zip(names, flags, strict=True)
        for name, met in zip(each, raised, strict=True)
        if met
    ]
