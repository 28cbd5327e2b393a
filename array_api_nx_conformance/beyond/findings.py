"""What a check found: one line of the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

# The standard says so, and it is so; the standard says so, and it is not so; the standard leaves it
# open, and this is what happens; the namespace lacks the function; it cannot be tried here.
PASSES, FAILS, NOTED, MISSING, SKIPPED = "passes", "fails", "noted", "missing", "skipped"
OUTCOMES = (FAILS, MISSING, PASSES, NOTED, SKIPPED)
_LONGEST = 300  # of a message


@dataclass(frozen=True)
class Finding:
    """One check of one function.

    Attributes
    ----------
    chapter : str
        The chapter of checks.
    function : str
        The standard's name of what is judged.
    check : str
        What was tried, in a few words; together with the function it names the finding.
    outcome : str
        One of `OUTCOMES`.
    message : str
        What was seen; empty where it is as it should be.
    rule : str
        The sentence that decides, in the standard's words or in ours.
    repro : str
        Python that shows it, with the namespace as ``xp``; empty where nothing fails.
    """

    chapter: str
    function: str
    check: str
    outcome: str
    message: str = ""
    rule: str = ""
    repro: str = ""

    @property
    def name(self) -> str:
        """What tells this finding from others."""
        return f"{self.chapter}: {self.function}: {self.check}"


class UnsupportedError(Exception):
    """The namespace does not have what a check needs, such as a dtype; the check is skipped."""


class MissingError(Exception):
    """The namespace lacks a function."""


def tried(chapter: str, function: str, check: str, rule: str, do: Callable[[], Finding]) -> Finding:
    """What `do` finds; an exception is a finding, too."""
    try:
        return do()
    except UnsupportedError as error:
        return Finding(chapter, function, check, SKIPPED, str(error), rule)
    except MissingError as error:
        return Finding(chapter, function, check, MISSING, str(error), rule)
    except Exception as error:
        return Finding(chapter, function, check, FAILS, f"raises {said(error)}", rule)


def said(error: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def totals(findings: Iterable[dict[str, Any]]) -> dict[str, int]:
    """How many findings of each outcome, as JSON values."""
    counts = Counter(finding["outcome"] for finding in findings)
    return {outcome: counts[outcome] for outcome in OUTCOMES}
