"""Small programs: bound to memory of their own, so that a run is a few calls.

What a run costs is counted in microseconds here. Passes of kernels that follow each other are one
call of the extension (a `Sequence`), and the commonest calls of NumPy's kernels write straight into
the slot of their result.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ....contract import primitives as p
from ....contract import replay
from ....contract.strided import Tensor
from ....core.view import View
from ..engine import fperrors
from ..engine.extension import extension
from ..engine.memory_pool import empty
from ..engine.operations import PARALLEL_MIN
from ..kernels import NDArray, divide_by_count
from ..lazy import evaluation
from .actions import Action, BackendCall, KernelPass, Read, Slot, Update, as_array, raised

if TYPE_CHECKING:
    from .plan import ProgramPlan

__all__ = ["BoundProgram"]

Given: TypeAlias = "list[NDArray]"
"""The arrays of a run that are not the program's own: arguments, constants, then results."""

_MAX_PASSES: Final = 64
"""In one sequence."""


class BoundProgram:
    """A planned program bound to memory, for one run at a time.

    Parameters
    ----------
    plan : ProgramPlan

    Attributes
    ----------
    asks_first : bool
        Whether a run may itself do what NumPy's errstate asks for, so that what that is has to be
        known before. Otherwise floating-point errors are only noted.
    """

    def __init__(self, plan: ProgramPlan) -> None:
        self._plan = plan
        self._numbers = {slot: i for i, slot in enumerate(plan.given)}
        memory = empty((plan.arena,), np.dtype(np.uint8))
        self._fixed: dict[Slot, NDArray] = dict(plan.scalars)
        for slot, position in plan.places:
            described = plan.slots[slot]
            self._fixed[slot] = np.ndarray((described.size,), described.dtype, memory, position)
        self._sequences: list[tuple[Any, list[Any]]] = []
        self._names: dict[str, Any] = {
            "add": np.add.reduce,
            "as_array": as_array,
            "divide_by_count": divide_by_count,
            "inv": np.linalg.inv,
            "matmul": np.matmul,
            "modes": fperrors.modes,
            "raised": raised,
        }
        self.asks_first = False
        # Whether the function that runs the actions notes all errors, for `_report`; and where
        # NumPy's functions write theirs, if it calls any.
        self._notes = True
        self._recording: tuple[Context, list[str]] | None = None
        self._work = self._bind()
        self._open: Callable[[Given], bool | None] | None = None
        if extension is not None:
            expected = tuple([plan.expected(slot) for slot in plan.given])
            self._open = extension.Sequence(expected, (), (), True).run

    # ------------------------------------------------------------------ running

    def run(self, given: Given, report: evaluation.Report) -> bool:
        """Compute the results, which are appended to `given`.

        False unless `given` are contiguous arrays of the shapes and dtypes planned for, or objects
        with an attribute `array` that is one; and where floating-point errors were met that want
        more than warnings. Then nothing was written but memory that nobody has seen.
        """
        opened = self._open_in_python(given) if self._open is None else self._open(given)
        if opened is False:
            return False
        if not self._notes:
            self._work(given, report)
            return not report or fperrors.modes() is not None
        met: list[Any] = []
        if self._recording is None:
            self._work(given, met)
            return not met or self._report([], met, report)
        context, texts = self._recording
        try:
            context.run(self._work, given, met)
        except BaseException as error:
            # What NumPy would have told before.
            if not self._report(texts, met, report) and isinstance(error, Exception):
                return False
            fperrors.report(report)
            raise
        return not (texts or met) or self._report(texts, met, report)

    def _report(self, texts: list[str], met: list[Any], report: evaluation.Report) -> bool:
        """Report what a run has noted: texts of NumPy's functions, which are taken out of their
        list, and what passes of the extension raised. False if it wants more than warnings."""
        here = fperrors.modes()
        operations = fperrors.operations(texts)
        texts.clear()
        if here is None:
            return False
        report += [(name, flags, here) for name, flags in operations]
        for names, flags in met:
            report += raised(names, flags, here)
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

    def reentrant(self) -> Callable[[list[Any]], Tensor | None] | None:
        """For programs that are one sequence over no memory of their own, with one result: a
        function from the arguments' handles to it, which any number of runs may use at a time.

        It returns None, with nothing done, where the arguments are not as they should be, or
        floating-point errors want more than warnings.
        """
        plan = self._plan
        if plan.arena or plan.constants or len(plan.outputs) != 1 or len(self._sequences) != 1:
            return None
        sequence, names = self._sequences[0]
        if len(names) != len(plan.actions):
            return None
        run = sequence.run

        def quick(arrays: list[Any]) -> Tensor | None:
            flags = run(arrays)
            if flags is not None:
                here = fperrors.modes() if flags is not False else None
                if here is None:
                    return None
                fperrors.report(raised(names, flags, here))
            result = Tensor()
            result.array = arrays[-1]
            result.view = result.storage = None
            return result

        return quick

    # ------------------------------------------------------------------ binding

    def _bind(self) -> Callable[[Given, evaluation.Report], None]:
        """The function that does what the actions say, one line for each."""
        direct = {
            i: self._direct(action)
            for i, action in enumerate(self._plan.actions)
            if not _is_native(action)
        }
        if direct:
            self._look_at_calls(direct)
        lines: list[str] = []
        passes: list[KernelPass] = []
        for i, action in enumerate(self._plan.actions):
            if _is_native(action) and len(passes) < _MAX_PASSES:
                passes.append(action)  # type: ignore[arg-type]
                continue
            if passes:
                lines += self._sequence(passes)
                passes = []
            if _is_native(action):
                passes.append(action)  # type: ignore[arg-type]
            else:
                lines.append(direct[i] or f"{self._name(self._any(action))}(given, report)")
        if passes:
            lines += self._sequence(passes)
        code = "\n".join(["def run(given, report):", *[f"    {x}" for x in lines], "    return"])
        # In the package, as far as warnings are concerned: they name the line that calls it.
        exec(compile(code, f"{__file__} <program>", "exec"), self._names)
        # What a program closes over goes with it at once, if nothing leads back to itself.
        return self._names.pop("run")  # type: ignore[no-any-return]

    def _look_at_calls(self, direct: dict[int, str | None]) -> None:
        """Decide how floating-point errors of NumPy's functions are treated.

        Parameters
        ----------
        direct : dict of int to (str or None)
            From the numbers of the actions that the extension does not run to `_direct` of them.
        """
        if None not in direct.values():
            self._recording = fperrors.recording()
            return
        self._notes = False
        # Methods of the backend see the caller's context variables. They treat errors themselves.
        called = [i for i, line in direct.items() if line is not None]
        others = [type(self._plan.actions[i]) for i, line in direct.items() if line is None]
        self.asks_first = bool(called) or BackendCall in others or Update in others
        for name in ("add", "divide_by_count", "inv", "matmul"):
            self._names[name] = partial(fperrors.located, self._names[name])

    def _name(self, x: Any) -> str:
        """A name for something that the function uses."""
        name = f"k{len(self._names)}"
        self._names[name] = x
        return name

    def _sequence(self, passes: list[KernelPass]) -> list[str]:
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
        steps = [each.names for each in passes]
        self._sequences.append((sequence, steps))
        names = self._name(steps)
        noted = f"[({names}, flags)]" if self._notes else f"raised({names}, flags, modes() or 0)"
        return [
            f"flags = {self._name(sequence.run)}(given)",
            f"if flags is not None: report += {noted}",
        ]

    def _direct(self, action: Action) -> str | None:
        """The line of an action that is a call of one of NumPy's functions, if it can be one."""
        if type(action) is BackendCall and not action.errors:
            read = [self._array(x) for x in action.arguments if type(x) is Read]
            if action.method == "matmul":
                return f"matmul({', '.join(read)}, {self._result(action)})"
            if action.method == "inv":
                return f"{self._result(action)}[...] = inv({read[0]})"
            if action.method == "arg_reduce":
                op, _, axis, keepdims = action.arguments
                find = self._name(np.argmax if op is p.ARGMAX else np.argmin)
                return f"{find}({read[0]}, {axis}, {self._result(action)}, keepdims={keepdims})"
            if action.method == "reduce":
                op, x, axes, keepdims, *_ = action.arguments
                # Sums of these are NumPy's, and need no dtype: they accumulate in their own.
                same = self._plan.slots[x.slot].dtype == self._plan.slots[action.results[0]].dtype
                plain = same and prod(x.view.shape) <= PARALLEL_MIN
                if op is p.SUM and plain:
                    return f"add({read[0]}, {axes}, None, {self._result(action)}, {keepdims})"
                if op is p.MEAN and plain:
                    total = f"add({read[0]}, {axes}, None, None, {keepdims})"
                    count = prod([x.view.shape[axis] for axis in axes])
                    return f"{self._result(action)}[...] = divide_by_count({total}, {count})"
        return None

    def _any(self, action: Action) -> Callable[[Given, evaluation.Report], None]:
        """Any action, run as in large programs; what it finds is copied into its slot."""
        plan, numbers = self._plan, self._numbers
        fixed: list[Any] = [self._fixed.get(slot) for slot in range(len(plan.slots))]
        results = [slot for slot in action.finds() if plan.slots[slot].last >= 0]

        def work(given: Given, report: evaluation.Report) -> None:
            slots = fixed.copy()
            for slot, i in numbers.items():
                slots[slot] = given[i].reshape(-1)
            memories = [slots[slot] for slot in results]
            action.run(plan.backend, slots, report)
            for slot, memory in zip(results, memories, strict=True):
                np.copyto(memory, slots[slot])

        return work

    def _array(self, x: Read) -> str:
        """What in the function is the array that `x` shows."""
        view = x.view
        memory = self._fixed.get(x.slot)
        if memory is not None:
            return self._name(as_array(memory, view))
        array = f"given[{self._numbers[x.slot]}]"
        shape = self._plan.expected(x.slot)[0]
        if view == View.row_major(shape):
            return array
        order = view.packed_order
        if order is not None and view.permute(order) == View.row_major(shape):
            return f"{array}.transpose({replay.inverse(order)})"
        return f"as_array({array}.reshape(-1), {self._name(view)})"

    def _result(self, action: BackendCall) -> str:
        """What in the function is the memory for the only result of a call."""
        (slot,) = action.results
        return self._array(Read(slot, View.row_major(self._plan.slots[slot].shape)))


def _is_native(action: Action) -> bool:
    """Whether the extension alone runs an action."""
    if extension is None or type(action) is not KernelPass:
        return False
    return not any(
        [
            action.stage.partial or node.divisor is not None or node.op is p.VAR
            for node, *_ in action.reductions
        ]
    )
