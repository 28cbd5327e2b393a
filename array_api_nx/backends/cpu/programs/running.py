"""Running the actions of a program.

Slots that only passes write lie in one block of memory, the *arena*, at places that are taken again
after their last use. Outputs have memory of their own. A small program has all its slots there, and
everything that is run over them is put together once; see bound.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....contract import replay
from ....contract.backend import Handle
from ....contract.program import Program
from ....contract.strided import Tensor
from ..engine import fperrors
from ..lazy import evaluation
from .actions import BackendCall, Update
from .bound import BoundProgram, Given
from .plan import ProgramPlan
from .planner import Unplannable

if TYPE_CHECKING:
    from ..lazy.deferral import DeferredExecution

__all__ = ["prepare"]


def prepare(backend: DeferredExecution, program: Program, sizes: tuple[int, ...]) -> replay.Run:
    """See `Backend.prepare`."""
    plain = replay.prepare(backend, program, sizes)
    try:
        return PlannedRun(ProgramPlan(backend, program, sizes), plain)
    except Unplannable:
        return plain


class PlannedRun:
    """A program made ready to run.

    Attributes
    ----------
    plan : ProgramPlan
    """

    __slots__ = ("_asks_first", "_idle", "_plain", "_reentrant", "plan")

    def __init__(self, plan: ProgramPlan, plain: replay.Run) -> None:
        self.plan = plan
        self._plain = plain
        # Who pops it has it for the length of a run.
        self._idle: list[BoundProgram] = []
        self._reentrant: Callable[[Given], Tensor | None] | None = None
        # Whether steps may treat floating-point errors on their own. Otherwise these are noted, and
        # NumPy's settings matter only where there were any.
        self._asks_first = any([type(action) in (BackendCall, Update) for action in plan.actions])
        if plan.keeps_memory:
            bound = BoundProgram(plan)
            self._asks_first = bound.asks_first
            self._idle.append(bound)
            if plan.is_simple:
                self._reentrant = bound.reentrant()

    @property
    def quick(self) -> Callable[[Given], Handle] | None:
        """For the commonest small programs: a function from the list of the handles to the result,
        or to a tuple of several; None, with nothing done, if something is out of the ordinary.

        It is made when asked for: an object that keeps a method of its own waits for the garbage
        collector when it is dropped, with all that it holds.
        """
        simple = self.plan.keeps_memory and self.plan.is_simple
        return (self._reentrant or self._quick) if simple else None

    def __call__(self, *handles: Tensor) -> tuple[Tensor, ...]:
        if self._asks_first and fperrors.modes() is None:
            return self._plain(*handles)
        report: evaluation.Report = []
        # Floating-point errors that are neither ignored nor warned of are met one by one, in a
        # second run: the first one has only written memory that nobody has seen.
        if self.plan.keeps_memory:
            given = self.plan.arguments(handles)
            if not self._run_bound(given, report):
                return self._plain(*handles)
        else:
            given = self.plan.run(handles, report)
            if report and fperrors.modes() is None:
                return self._plain(*handles)
        return self.plan.finish(handles, given, report)

    def _quick(self, handles: Given) -> Handle:
        if self._asks_first and fperrors.modes() is None:
            return None
        plan = self.plan
        report: evaluation.Report = []
        handles += plan.constants
        if not self._run_bound(handles, report):
            return None
        if report:
            fperrors.report(report)
        results = []
        for array in handles[plan.first_result :]:
            result = Tensor()
            result.array = array
            result.view = result.storage = None
            results.append(result)
        return results[0] if len(results) == 1 else [results[i] for i in plan.order]

    def _run_bound(self, given: Given, report: evaluation.Report) -> bool:
        try:
            bound = self._idle.pop()
        except IndexError:
            bound = BoundProgram(self.plan)
        try:
            return bound.run(given, report)
        finally:
            if not self._idle:
                self._idle.append(bound)
