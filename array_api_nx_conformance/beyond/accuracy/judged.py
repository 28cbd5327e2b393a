"""The verdict on one function and dtype, where all of its errors are measured alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..findings import Finding, tried

CHAPTER: Final = "accuracy"
Row: TypeAlias = dict[str, object]


@dataclass(frozen=True)
class Measured:
    """The greatest error of a function and dtype, what it may be, and the arguments it is at."""

    most: float
    bound: float
    at: str
    outcome: str
    message: str


def judged(
    function: str, dtype: str, unit: str, rule: str, measure: Callable[[], Measured]
) -> list[Row | Finding]:
    """A row of the table and a finding; the finding alone if `measure` raises."""
    out: list[Row | Finding] = []

    def do() -> Finding:
        measured = measure()
        out.append(
            {
                "function": function,
                "dtype": dtype,
                "measure": unit,
                "most": measured.most,
                "bound": measured.bound,
                "at": measured.at,
                "outcome": measured.outcome,
            }
        )
        return Finding(CHAPTER, function, dtype, measured.outcome, measured.message, rule)

    out.append(tried(CHAPTER, function, dtype, rule, do))
    return out
