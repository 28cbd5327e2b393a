"""`BoundProgram`: a small program bound to memory, with its arrays and passes made before it runs.

A small program keeps all its slots in one arena from run to run. So the arrays that its actions
need are made when it is bound. Adjacent passes become one call of the extension, and the commonest
calls of NumPy's kernels write straight into the slot of their result.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ....contract.numpy_dtypes import NDArray
from ....core.view import View
from ....native import native
from ....primitives import table as p
from ..engine import fperrors
from ..engine.kernel import MAX_PASSES
from ..engine.loops import MATMUL
from ..engine.passes import Slots
from ..engine.small_inverses import invert_into
from ..kernels import ARG_REDUCE, REDUCE, divide_by_count
from ..lazy import evaluation
from ..policy import AT_ONCE_MAX
from .actions import (
    Action,
    BackendCall,
    KernelPass,
    Read,
    Update,
    allocated_by,
    as_array,
    is_native,
    permutation,
    raised,
)
from .sequences import make_sequence

if TYPE_CHECKING:
    from .plan import ProgramPlan

__all__ = ["BoundProgram", "Given"]

Given: TypeAlias = "list[Any]"
"""The arrays of a run that are not the program's own: arguments, constants, then results. A run
starts from Tensors for some of them, and puts their arrays here."""

_Notes: TypeAlias = "list[Any]"
"""The floating-point errors of a run: for `BoundProgram._report` pairs of the passes of a sequence
and their flags; if the run reports errors itself, the entries of an `evaluation.Report`."""

_Work: TypeAlias = "Callable[[Given, Given, _Notes], None]"
"""An action bound to memory, to be called with the arrays given, with all arrays of the run (those
given and the program's own), and with the list that takes floating-point errors."""

_Call: TypeAlias = "tuple[Callable[..., _Work], list[Read]]"


class BoundProgram:
    """A planned program bound to memory, for one run at a time.

    Parameters
    ----------
    plan : ProgramPlan

    Attributes
    ----------
    asks_first : bool
        Whether actions of a run apply NumPy's errstate themselves, so that the caller must look at
        it before. Otherwise floating-point errors are only noted.
    """

    def __init__(self, plan: ProgramPlan) -> None:
        self._plan = plan
        self._numbers = {slot: i for i, slot in enumerate(plan.given)}
        self._fixed = plan.placed()
        # The arrays of a run are those given, then these. None stands for a view of a given array,
        # which each run makes: `_views` has its number, that of the array, and the function.
        self._own: list[NDArray | None] = []
        self._views: list[tuple[int, int, Callable[[NDArray], NDArray]]] = []
        self.asks_first = False
        # Whether a run notes all floating-point errors, for `_report`; and, if it calls functions
        # of NumPy, the context in which these write theirs to a list.
        self._notes = True
        self._recording: tuple[Context, list[str]] | None = None
        self._works = self._bind()
        # Without the extension no program is bound: see running.py.
        assert native is not None
        expected = tuple([plan.expected(slot) for slot in plan.given])
        self._check: Callable[[Given], bool | None] = native.Sequence(expected, (), (), True).run

    # ------------------------------------------------------------------ running

    def run(self, given: Given, report: evaluation.Report) -> bool:
        """Compute the results, which are appended to `given`.

        Returns False if `given` are not contiguous arrays of the planned shapes and dtypes (or
        Tensors with such an `array`), or if floating-point errors want more than warnings. Then
        only memory was written that nobody else has seen.
        """
        if self._check(given) is False:
            return False
        if not self._notes:
            self._run_works(given, report)
            return not report or fperrors.modes() is not None
        met: _Notes = []
        if self._recording is None:
            self._run_works(given, met)
            return not met or self._report([], met, report)
        context, texts = self._recording
        try:
            context.run(self._run_works, given, met)
        except BaseException as error:
            # NumPy would have given these warnings before the exception.
            if not self._report(texts, met, report) and isinstance(error, Exception):
                return False
            fperrors.report(report)
            raise
        return not (texts or met) or self._report(texts, met, report)

    def _report(self, texts: list[str], met: _Notes, report: evaluation.Report) -> bool:
        """Add to `report` what a run has noted: texts of NumPy's functions, which are removed from
        their list, and flags of passes. False if the errstate wants more than warnings."""
        here = fperrors.modes()
        operations = fperrors.operations(texts)
        texts.clear()
        if here is None:
            return False
        report += [(name, flags, here) for name, flags in operations]
        for passes, flags in met:
            report += raised(passes, flags, here)
        return True

    def _run_works(self, given: Given, report: _Notes) -> None:
        arrays = given + self._own if self._own else given
        for number, source, show in self._views:
            arrays[number] = show(given[source])
        for work in self._works:
            work(given, arrays, report)

    # ------------------------------------------------------------------ binding

    def _bind(self) -> list[_Work]:
        """Bind all actions, adjacent passes together."""
        actions = self._plan.actions
        calls = {i: self._call(x) for i, x in enumerate(actions) if not is_native(x)}
        if calls:
            self._choose_reporting(calls)
        works: list[_Work] = []
        passes: list[KernelPass] = []
        for i, action in enumerate(actions):
            if passes and (i in calls or len(passes) == MAX_PASSES):
                works.append(self._sequence(passes))
                passes = []
            if i in calls:
                works.append(self._called(action, calls[i]))
            else:
                assert isinstance(action, KernelPass)
                passes.append(action)
        if passes:
            works.append(self._sequence(passes))
        return works

    def _choose_reporting(self, calls: dict[int, _Call | None]) -> None:
        """Decide how floating-point errors of NumPy's functions are reported.

        Parameters
        ----------
        calls : dict of int to (function and reads, or None)
            `_call` of each action that the extension does not run, by the action's number.
        """
        if None not in calls.values():
            self._recording = fperrors.recording()
            return
        self._notes = False
        # Methods of the backend need the caller's context variables, and report errors themselves.
        others = [type(self._plan.actions[i]) for i, call in calls.items() if call is None]
        direct = len(others) < len(calls)
        self.asks_first = direct or BackendCall in others or Update in others

    def _sequence(self, passes: list[KernelPass]) -> _Work:
        """Bind passes that the extension runs in one call."""
        run, notes = make_sequence(self._plan, self._fixed, passes).run, self._notes

        def work(given: Given, arrays: Given, report: _Notes) -> None:
            flags = run(given)
            if flags is not None:
                if notes:
                    report.append((passes, flags))
                else:
                    report += raised(passes, flags, fperrors.modes() or 0)

        return work

    def _called(self, action: Action, call: _Call | None) -> _Work:
        """Bind an action that the extension does not run."""
        if call is None:
            return self._generic(action)
        make, reads = call
        work = make(*[self._array_number(x) for x in reads])
        return work if self._notes else partial(fperrors.located, work)

    def _call(self, action: Action) -> _Call | None:
        """For the commonest calls of NumPy's functions: what makes their work from the numbers of
        the arrays that they take, the result's last; and those arrays."""
        if type(action) is not BackendCall or action.errors:
            return None
        reads = [x for x in action.arguments if type(x) is Read]
        result = action.results[0]
        reads.append(Read(result, View.row_major(self._plan.slots[result].shape)))
        if action.method == "matmul":
            return _matmul, reads
        if action.method == "inv":
            return _inv, reads
        if action.method == "arg_reduce":
            op, _, axis, keepdims = action.arguments
            return partial(_arg_reduce, ARG_REDUCE[op], axis, keepdims), reads
        if action.method == "reduce":
            op, x, axes, keepdims, *_ = action.arguments
            # NumPy computes small sums. Without a dtype they accumulate in that of `x`.
            same = self._plan.slots[x.slot].dtype == self._plan.slots[result].dtype
            if same and prod(x.view.shape) <= AT_ONCE_MAX:
                if op is p.SUM:
                    return partial(_sum, axes, keepdims), reads
                if op is p.MEAN:
                    count = prod([x.view.shape[axis] for axis in axes])
                    return partial(_mean, axes, keepdims, count), reads
        return None

    def _generic(self, action: Action) -> _Work:
        """Bind another action: it runs as in large programs, then its results are copied."""
        plan, numbers = self._plan, self._numbers
        fixed = [self._fixed.get(slot) for slot in range(len(plan.slots))]
        results = [slot for slot in allocated_by(action) if plan.slots[slot].last >= 0]

        def work(given: Given, arrays: Given, report: _Notes) -> None:
            slots: Slots = [*fixed]
            for slot, i in numbers.items():
                slots[slot] = given[i].reshape(-1)
            memories = [slots[slot] for slot in results]
            action.run(plan.backend, slots, report)
            for slot, memory in zip(results, memories, strict=True):
                np.copyto(memory, slots[slot])

        return work

    def _array_number(self, x: Read) -> int:
        """The number of the array for `x` among those of a run. It is added if it is new."""
        view = x.view
        number = len(self._numbers) + len(self._own)
        memory = self._fixed.get(x.slot)
        if memory is not None:
            self._own.append(as_array(memory, view))
            return number
        source = self._numbers[x.slot]
        shape, _ = self._plan.expected(x.slot)
        if view == View.row_major(shape):
            return source
        axes = permutation(view, shape)
        if axes is not None:
            self._views.append((number, source, lambda array: array.transpose(axes)))
        else:
            self._views.append((number, source, lambda array: as_array(array.reshape(-1), view)))
        self._own.append(None)
        return number


# What makes the work of a call from the numbers of its arrays. There is a function for each, with
# everything at hand, because these calls take about a microsecond each.


def _matmul(i: int, j: int, out: int) -> _Work:
    def work(given: Given, arrays: Given, report: _Notes) -> None:
        matmul(arrays[i], arrays[j], arrays[out])

    matmul = MATMUL
    return work


def _inv(i: int, out: int) -> _Work:
    def work(given: Given, arrays: Given, report: _Notes) -> None:
        if not invert(arrays[i], arrays[out]):
            arrays[out][...] = inv(arrays[i])

    invert, inv = invert_into, np.linalg.inv
    return work


def _arg_reduce(name: str, axis: int, keepdims: bool, i: int, out: int) -> _Work:
    def work(given: Given, arrays: Given, report: _Notes) -> None:
        find(arrays[i], axis, arrays[out], keepdims=keepdims)

    find = getattr(np.ndarray, name)
    return work


def _sum(axes: tuple[int, ...], keepdims: bool, i: int, out: int) -> _Work:
    def work(given: Given, arrays: Given, report: _Notes) -> None:
        add(arrays[i], axes, None, arrays[out], keepdims)

    add = REDUCE[p.SUM]
    return work


def _mean(axes: tuple[int, ...], keepdims: bool, count: int, i: int, out: int) -> _Work:
    def work(given: Given, arrays: Given, report: _Notes) -> None:
        arrays[out][...] = divide_by_count(add(arrays[i], axes, None, None, keepdims), count)

    add = REDUCE[p.SUM]
    return work
