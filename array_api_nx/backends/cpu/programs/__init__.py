"""Programs (functions compiled by tracing) on the CPU: fused, with planned memory.

planner.py turns the steps of a program into the actions of actions.py, arena.py places their slots
in memory, plan.py has the result, running.py runs it; run_reports.py
describes it.
"""

from .run_reports import explain
from .running import prepare

__all__ = ["explain", "prepare"]
