"""`Backend.prepare`: a program planned for given sizes and made ready to run.

A large program runs by `ProgramPlan.run`, action after action, in memory taken for the run. A small
one keeps its memory from run to run (`KeptRun`). The extension runs a program that is one sequence,
mostly without Python: see sequences.py. Where a program cannot be planned, or floating-point errors
want more than warnings, contract/replay.py runs it step by step.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ....contract import replay
from ....contract.numpy_dtypes import NDArray
from ....contract.program import Program
from ....contract.strided import Tensor
from ....native import native
from ..engine import fperrors
from ..engine.kernel import MAX_PASSES
from ..engine.passes import Slots
from ..lazy import evaluation
from .actions import (
    Action,
    BackendCall,
    KernelPass,
    Update,
    allocated_by,
    raised,
    runs_in_extension,
)
from .plan import ProgramPlan
from .planner import Unplannable
from .sequences import Quick, make_sequence, quick

if TYPE_CHECKING:
    from ...._native import Native
    from ..lazy.deferral import DeferredExecution

__all__ = ["prepare"]

_MAX_DECLINED: Final = 0 if native is None else native.MAX_DECLINED
"""Runs of a small program that a compiled callable may decline. Later ones call the backend."""


def prepare(backend: DeferredExecution, program: Program, sizes: tuple[int, ...]) -> replay.Run:
    """See `Backend.prepare`."""
    plain = replay.prepare(backend, program, sizes)
    if native is None:
        return plain
    try:
        return PlannedRun(ProgramPlan(backend, program, sizes), plain)
    except Unplannable:
        return plain


class PlannedRun:
    """A program made ready to run.

    Attributes
    ----------
    plan : ProgramPlan
    quick : tuple or None
        For programs that keep their memory and have no special cases, see `sequences.quick`.
    """

    __slots__ = ("_asks_first", "_declined", "_idle", "_plain", "plan", "quick")

    def __init__(self, plan: ProgramPlan, plain: replay.Run) -> None:
        self.plan = plan
        self._plain = plain
        # A run takes memory out while it lasts: no other run uses it meanwhile.
        self._idle: list[KeptRun] = []
        self._declined = 0
        self.quick: Quick | None = quick(plan) if plan.keeps_memory else None
        # Whether NumPy's errstate must be known before a run, because actions that call the backend
        # apply it themselves. Otherwise it is asked for only if there were errors.
        self._asks_first = any(
            [
                type(action) in (BackendCall, Update)
                and not (plan.is_small and runs_in_extension(action))
                for action in plan.actions
            ]
        )

    def __call__(self, *handles: Tensor) -> tuple[Tensor, ...]:
        plan = self.plan
        report: evaluation.Report = []
        # If a floating-point error is to be raised, or the like, the program runs step by step, and
        # meets it at its step. Until then only memory is written that no other code has seen.
        if not self._asks_first or fperrors.modes() is not None:
            given = plan.arguments(handles)
            if not plan.is_small or self._declined >= _MAX_DECLINED:
                given = plan.run(given, report)
            elif not self._run_kept(given, report):
                return self._plain(*handles)
            if not report or fperrors.modes() is not None:
                return plan.finish(handles, given, report)
        return self._plain(*handles)

    def _run_kept(self, given: list[NDArray], report: evaluation.Report) -> bool:
        """See `KeptRun.run`. The memory is taken when Python first runs the program, since programs
        that are `quick` may never need it."""
        try:
            kept = self._idle.pop()
        except IndexError:
            kept = KeptRun(self.plan)
        try:
            done = kept.run(given, report)
        finally:
            if not self._idle:
                self._idle.append(kept)
        self._declined += not done
        return done


class _SequenceCall(NamedTuple):
    """Actions that the extension runs, and the kernels among them."""

    sequence: Native.Sequence
    kernels: list[KernelPass]


class KeptRun:
    """A small program with memory of its own, for one run at a time."""

    def __init__(self, plan: ProgramPlan) -> None:
        self._plan = plan
        fixed = plan.placed()
        self._slots: Slots = [fixed.get(slot) for slot in range(len(plan.slots))]
        self._works: list[_SequenceCall | Action] = []
        for is_sequence, group in groupby(plan.actions, runs_in_extension):
            actions = list(group)
            if not is_sequence:
                self._works += actions
                continue
            for first in range(0, len(actions), MAX_PASSES):
                part = actions[first : first + MAX_PASSES]
                kernels = [action for action in part if type(action) is KernelPass]
                self._works.append(_SequenceCall(make_sequence(plan, fixed, part), kernels))
        # Without the extension no program is planned.
        assert native is not None
        expected = tuple([plan.expected(slot) for slot in plan.given])
        self._check = native.Sequence(expected, (), (), True).run

    def run(self, given: list[NDArray], report: evaluation.Report) -> bool:
        """Compute the results, which are appended to the arguments and constants `given`.

        False if these are not arrays of the planned shapes and dtypes, or if a compiled callable
        declines.
        """
        plan = self._plan
        if self._check(given) is False:
            return False
        slots: Slots = []
        for work in self._works:
            if isinstance(work, _SequenceCall):
                flags = work.sequence.run(given)
                if flags is False:
                    return False
                if flags is not None:
                    report += raised(work.kernels, flags, fperrors.modes() or 0)
                continue
            if not slots:
                slots = [*self._slots]
                for slot, array in zip(plan.given, given, strict=True):
                    slots[slot] = array.reshape(-1)
            # It runs as in large programs. Then its results are copied to their places.
            places = [(slot, slots[slot]) for slot in allocated_by(work)]
            work.run(plan.backend, slots, report)
            for slot, memory in places:
                np.copyto(memory, slots[slot])
                slots[slot] = memory
        return True
