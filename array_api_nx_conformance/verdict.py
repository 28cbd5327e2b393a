"""Judges functions and chapters by the results of their tests.

A failing test of a function f is *blocked* by another function g, when

- g is missing or fails tests of its own, and the error was raised by the test's call of g, not of
  f; or
- g's own behaviour tests found fault with its results (other than special cases), and the test
  found fault with a result of f along a path that uses g: a comparison by a wrong ``equal`` says
  nothing about f. A g that only raises would have raised here, too.

f is blocked if all its failing tests are, by functions that are not blocked by f in turn: where
two functions blame each other, both fail. The functions at the end of such a chain are the root
causes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from .deviations import permitted
from .functions import function_of, is_about_behaviour, is_special_case
from .pytest_run import Result
from .runner import Run

# Of a function, the worst first: a function has the worst verdict of its tests.
VERDICTS = ("fails", "missing", "blocked", "deviation", "skipped", "passes", "not run")
COLUMNS = ("passes", "fails", "missing", "blocked", "deviation", "skipped", "not run")  # of tables
NOT_APPLICABLE = "not applicable"  # of a test: it belongs to a later version of the standard
BAD = ("fails", "missing", "blocked")
OTHER = "other"  # the chapter of tests that are about none of the standard's names
_NO_EXTENSION = "not found in array module"
# Per test. A `flip` that returns its input passes some runs of 30 examples; README's table is made
# with this number, too.
FULL_EXAMPLES = 200


def is_provisional(examples: int) -> bool:
    """Whether a verdict that rests on so many examples per test is provisional."""
    return examples < FULL_EXAMPLES


@dataclass
class TestVerdict:
    """The verdict on a test."""

    __test__ = False  # it is not a test itself

    result: Result
    function: str
    verdict: str
    note: str = ""  # why a deviation is permitted, or why it may be lacking
    blocked_by: tuple[str, ...] = ()


@dataclass
class FunctionVerdict:
    """The verdict on a function; `roots` are the root causes where it is blocked."""

    name: str
    chapter: str
    verdict: str = "not run"
    roots: tuple[str, ...] = ()
    tests: list[TestVerdict] = field(default_factory=list)


def judge(run: Run) -> dict[str, FunctionVerdict]:
    """The verdict on every function of the standard, and on tests that are about none of them."""
    names = run.standard.functions
    functions = {name: FunctionVerdict(name, chapter) for name, chapter in names.items()}
    position = {test: number for number, test in enumerate(run.collected)}
    for result in sorted(run.results.values(), key=lambda each: position.get(each.id, -1)):
        name = function_of(result.id, names)
        test = _judge_test(result, name, run)
        if name in names or test.verdict != NOT_APPLICABLE:  # not of later versions
            function = functions.setdefault(name, FunctionVerdict(name, OTHER))
            function.tests.append(test)
    _find_blocked(functions, set(run.module.absent))
    for function in functions.values():
        function.verdict = _worst(function.tests)
    for function in functions.values():
        if function.verdict == "blocked":
            function.roots = _roots(function.name, functions)
    return functions


def totals(functions: Iterable[FunctionVerdict]) -> dict[str, int]:
    """How many functions there are of each verdict."""
    counter = Counter(function.verdict for function in functions)
    return {verdict: counter[verdict] for verdict in VERDICTS}


def _judge_test(result: Result, name: str, run: Run) -> TestVerdict:
    verdict, note = "fails", ""
    absent, optional = name in run.module.absent, run.standard.optional.get(name, "")
    if result.outcome == "passed":
        verdict = "passes"
    elif result.outcome == "skipped":
        verdict = "skipped"
    elif result.is_of_a_later_version:
        verdict = NOT_APPLICABLE
    elif absent and optional:
        verdict, note = "skipped", optional
    elif absent or (result.outcome == "missing" and _NO_EXTENSION in result.message):
        verdict = "missing"
    elif result.outcome == "missing":
        verdict = "skipped"  # by the suite, because it cannot judge this namespace
    elif name in run.standard.proposed:
        verdict, note = "deviation", optional
    elif note := permitted(result.id, name, result.message):
        verdict = "deviation"
    return TestVerdict(result, name, verdict, note)


def _worst(tests: list[TestVerdict]) -> str:
    found = {test.verdict for test in tests}
    # A signature that cannot be read says nothing, where the behaviour has been tested.
    if not any(t.verdict == "skipped" and is_about_behaviour(t.result.id) for t in tests):
        found -= {"skipped"} if "passes" in found else set()
    return next((verdict for verdict in VERDICTS if verdict in found), "not run")


def _find_blocked(functions: dict[str, FunctionVerdict], absent: set[str]) -> None:
    """Turn the verdict of blocked tests from "fails" to "blocked"."""
    troubled = absent | {f.name for f in functions.values() if _failing(f.tests)}
    broken = {
        f.name
        for f in functions.values()
        if any(_found_fault(t) and not is_special_case(t.result.id) for t in _failing(f.tests))
    }
    for function in functions.values():
        for test in _failing(function.tests):
            test.blocked_by = _culprits(test, troubled, broken)
    suspects = {
        f.name for f in functions.values() if (tests := _failing(f.tests)) and _all_blamed(tests)
    }
    # What is not suspect is at fault itself. A suspect is cleared by those, and by cleared ones.
    trusted = troubled - suspects
    while cleared := {s for s in suspects - trusted if _explained(functions[s].tests, trusted)}:
        trusted |= cleared
    for function in functions.values():
        for test in _failing(function.tests):
            test.blocked_by = tuple(name for name in test.blocked_by if name in trusted)
            if test.blocked_by:
                test.verdict = "blocked"


def _failing(tests: list[TestVerdict]) -> list[TestVerdict]:
    return [test for test in tests if test.verdict == "fails"]


def _all_blamed(tests: list[TestVerdict]) -> bool:
    return all(test.blocked_by for test in tests)


def _explained(tests: list[TestVerdict], trusted: set[str]) -> bool:
    return all(trusted & set(test.blocked_by) for test in _failing(tests))


def _culprits(test: TestVerdict, troubled: set[str], broken: set[str]) -> tuple[str, ...]:
    raised_in = test.result.raised_in
    if raised_in:
        return (raised_in,) if raised_in != test.function and raised_in in troubled else ()
    if not _found_fault(test):
        return ()
    return tuple(name for name in test.result.uses if name in broken and name != test.function)


def _found_fault(test: TestVerdict) -> bool:
    """Whether the test itself found fault with a result, and no call raised."""
    result = test.result
    return (
        result.outcome == "failed"
        and is_about_behaviour(result.id)
        and not result.raised_in
        and result.message.startswith("AssertionError")
    )


def _roots(name: str, functions: dict[str, FunctionVerdict]) -> tuple[str, ...]:
    """The functions at the ends of the chains of blame."""
    roots: list[str] = []
    seen, waiting = {name}, [name]
    while waiting:
        function = functions.get(waiting.pop(0))
        if function is None or function.verdict != "blocked":
            if function is not None:
                roots.append(function.name)
            continue
        blamed = [b for t in function.tests if t.verdict == "blocked" for b in t.blocked_by]
        for each in blamed:
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return tuple(sorted(roots))
