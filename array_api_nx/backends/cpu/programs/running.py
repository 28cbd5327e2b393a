"""`Backend.prepare`: a program planned for given sizes and made ready to run.

It runs by `ProgramPlan.run`, action after action, in memory taken for the run. Where a program
cannot be planned, or floating-point errors want more than warnings, contract/replay.py runs it step
by step.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from ....contract import replay
from ....contract.program import Program
from ....contract.strided import Tensor
from ....native import native
from ..engine import fperrors
from ..lazy import evaluation
from .actions import BackendCall, Update
from .plan import ProgramPlan
from .planner import Unplannable

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..lazy.deferral import DeferredExecution

__all__ = ["prepare"]


def prepare(backend: DeferredExecution, program: Program, sizes: tuple[int, ...]) -> replay.Run:
    """See `Backend.prepare`."""
    by_steps = partial(replay.prepare, backend, program, sizes)
    if native is None:
        return by_steps()
    try:
        return PlannedRun(ProgramPlan(backend, program, sizes), by_steps)
    except Unplannable:
        return by_steps()


class PlannedRun:
    """A program made ready to run.

    Attributes
    ----------
    plan : ProgramPlan
    """

    def __init__(self, plan: ProgramPlan, by_steps: Callable[[], replay.Run]) -> None:
        self.plan = plan
        self._by_steps = by_steps
        # Whether NumPy's errstate must be known before a run, because actions that call the backend
        # apply it themselves. Otherwise it is asked for only if there were errors.
        self._asks_first = any([type(action) in (BackendCall, Update) for action in plan.actions])

    @cached_property
    def _plain(self) -> replay.Run:
        """The program run step by step."""
        return self._by_steps()

    def __call__(self, *handles: Tensor) -> tuple[Tensor, ...]:
        plan = self.plan
        report: evaluation.Report = []
        # If a floating-point error is to be raised, or the like, the program runs step by step, and
        # meets it at its step. Until then only memory is written that no other code has seen.
        if not self._asks_first or fperrors.modes() is not None:
            given = plan.run(plan.arguments(handles), report)
            if not report or fperrors.modes() is not None:
                return plan.finish(handles, given, report)
        return self._plain(*handles)
