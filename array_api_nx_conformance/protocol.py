"""What passes between a run and its pytest plugin: names of files, the plan, the outcomes.

It stands apart from the plugin, which cannot be imported without pytest and hypothesis.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import known
from .functions import function_of
from .suite import TESTS

__all__ = ["EVENTS", "OUTCOMES", "PLAN", "XFAILED", "Plan"]

OUTCOMES = (
    "passed",
    "failed",  # the test itself raised, or took too long
    "error",  # set-up, tear-down or collection raised, or the process died
    "missing",  # skipped, because the module lacks what the test needs
    "skipped",  # skipped by the suite's own code, whatever the module
)
# The test's own code marks it as failing, and gives the message as the reason.
XFAILED = "xfailed"
EVENTS = "events.jsonl"
PLAN = "plan.json"


@dataclass(frozen=True)
class Plan:
    """What is to be run.

    Attributes
    ----------
    module : str
        The namespace.
    done : list of str
        The tests that have a result already.
    functions : dict of str to str
        The standard's names and their chapters.
    chapters : list of str
        The chapters to run; all if empty.
    known : list of str
        Entries of a list of known failures: these are not shrunk.
    skips : list of str
        Entries of a list of tests to leave out.
    device : str
        The default device; empty for the namespace's own choice.
    tests : str
        The folder of the tests, in pytest's root folder.
    """

    module: str
    done: list[str] = field(default_factory=list)
    functions: dict[str, str] = field(default_factory=dict)
    chapters: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    skips: list[str] = field(default_factory=list)
    device: str = ""
    tests: str = TESTS

    def includes(self, test: str) -> bool:
        """Whether a test is to be run."""
        if test in self.done or any(known.matches(each, test) for each in self.skips):
            return False
        chapter = self.functions.get(function_of(test, self.functions))
        return not self.chapters or chapter in self.chapters
