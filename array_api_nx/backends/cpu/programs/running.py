"""`Backend.prepare`: a program planned for given sizes and made ready to run.

A large program runs by `ProgramPlan.run`, action after action, in memory taken for the run. A small
one keeps its memory from run to run: see bound.py. One that is a sequence is mostly run by the
extension, without Python: see sequences.py. Where a program cannot be planned, or
floating-point errors want more than warnings, contract/replay.py runs it step by step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....contract import replay
from ....contract.numpy_dtypes import NDArray
from ....contract.program import Program
from ....contract.strided import Tensor
from ....native import native
from ..engine import fperrors
from ..lazy import evaluation
from .actions import BackendCall, Update
from .bound import BoundProgram
from .plan import ProgramPlan
from .planner import Unplannable
from .sequences import Quick, quick

if TYPE_CHECKING:
    from ..lazy.deferral import DeferredExecution

__all__ = ["prepare"]


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

    __slots__ = ("_asks_first", "_idle", "_plain", "plan", "quick")

    def __init__(self, plan: ProgramPlan, plain: replay.Run) -> None:
        self.plan = plan
        self._plain = plain
        # A run takes a bound program out for as long as it lasts: no other run uses it meanwhile.
        self._idle: list[BoundProgram] = []
        self.quick: Quick | None = quick(plan) if plan.keeps_memory else None
        # Whether NumPy's errstate must be known before a run, because actions that call the backend
        # apply it themselves. Otherwise it is asked for only if there were errors.
        self._asks_first = any([type(action) in (BackendCall, Update) for action in plan.actions])

    def __call__(self, *handles: Tensor) -> tuple[Tensor, ...]:
        report: evaluation.Report = []
        run = self._run_bound if self.plan.is_small else self._run_actions
        given = run(handles, report)
        # If a floating-point error is to be raised, or the like, the program runs again, and meets
        # it at its step. The first run wrote only memory that nobody else has seen.
        if given is None:
            return self._plain(*handles)
        return self.plan.finish(handles, given, report)

    def _run_actions(
        self, handles: tuple[Tensor, ...], report: evaluation.Report
    ) -> list[NDArray] | None:
        """The arrays for `ProgramPlan.finish`; None if errors want more than warnings."""
        if self._asks_first and fperrors.modes() is None:
            return None
        given = self.plan.run(handles, report)
        return None if report and fperrors.modes() is None else given

    def _run_bound(
        self, handles: tuple[Tensor, ...], report: evaluation.Report
    ) -> list[NDArray] | None:
        """See `_run_actions`. Nothing is bound before the first run, since programs that are
        `quick` may never need it."""
        try:
            bound = self._idle.pop()
        except IndexError:
            bound = BoundProgram(self.plan)
        try:
            if bound.asks_first and fperrors.modes() is None:
                return None
            given = self.plan.arguments(handles)
            return given if bound.run(given, report) else None
        finally:
            if not self._idle:
                self._idle.append(bound)
