"""What changed between two results, and what may only look so.

Two runs try the same examples only with the same seed, number of examples, and Hypothesis. A test
that passed with 30 examples and fails with 200, or with another seed, says nothing about the
namespace having changed: it is not comparable. Names and signatures are, for they need no examples.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .conformity import is_selection
from .functions import is_about_behaviour
from .records import Record
from .suite import CannotRunError
from .verdict import BAD

_GOOD = ("passes", "deviation")
_TIMEOUT = "timeout:"  # begins the message of a test that took too long


@dataclass
class Difference:
    """Tests that became worse, tests that became better, tests of which neither can be said."""

    regressions: list[str] = field(default_factory=list)
    fixes: list[str] = field(default_factory=list)
    not_comparable: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def text(self) -> str:
        """What there is to say; a line if that is nothing."""
        blocks = [
            _block("Unequal runs", self.remarks),
            _block("Regressions", self.regressions),
            _block("Fixes", self.fixes),
            _block("Not comparable", self.not_comparable),
        ]
        return "\n\n".join(filter(None, blocks)) or "No regressions, no fixes."


@dataclass(frozen=True)
class _Effort:
    """What two runs of a namespace differ in, other than the namespace, each in words."""

    suite: tuple[str, ...]  # the tests themselves are others
    examples: tuple[str, ...]  # the tests try others
    time: tuple[str, ...]

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.suite + self.examples + self.time

    def explains(self, test: Record, was: Record | None) -> bool:
        """Whether the difference may be due to the runs alone."""
        if self.suite:
            return True
        either = [each for each in (test, was) if each is not None]
        if any(each["verdict"] == "missing" for each in either):
            return False
        if self.time and any(each["message"].startswith(_TIMEOUT) for each in either):
            return True
        return bool(self.examples) and is_about_behaviour(test["id"])


def compare(old: list[Record], new: list[Record]) -> Difference:
    """Compare the runs of the same namespaces, test by test.

    A regression is a test that fails now, and passed before or was not there. A fix is a test that
    passes now and failed before. Where the runs were unequal, they are neither.

    Raises
    ------
    CannotRunError
        If the results have no namespace in common.
    """
    difference = Difference()
    before = {run["module"]["name"]: run for run in old}
    after = {run["module"]["name"]: run for run in new}
    both = [name for name in after if name in before]
    if not both:
        raise CannotRunError(
            f"nothing to compare: the one has {', '.join(before)}, the other {', '.join(after)}"
        )
    for name in both:
        _compare(before[name], after[name], difference)
    for name in (before.keys() | after.keys()) - set(both):
        difference.remarks.append(f"  {name}: only in {'the old' if name in before else 'the new'}")
    return difference


def _compare(old: Record, new: Record, difference: Difference) -> None:
    name = new["module"]["name"]
    effort = _effort(old, new)
    difference.remarks += [f"  {name}: {remark}" for remark in effort.remarks]
    was_selection = is_selection(old)
    before = {test["id"]: test for test in old["tests"]}
    after = {test["id"]: test for test in new["tests"]}
    for test, now in after.items():
        was = before.get(test)
        if now["verdict"] in BAD and (was is None or was["verdict"] not in BAD):
            line = _line(name, now, "not there" if was is None else "")
            unequal = effort.explains(now, was) or (was is None and was_selection)
            (difference.not_comparable if unequal else difference.regressions).append(line)
        elif now["verdict"] in _GOOD and was is not None and was["verdict"] in BAD:
            line = _line(name, now, "", message=False)
            unequal = effort.explains(now, was)
            (difference.not_comparable if unequal else difference.fixes).append(line)
    gone = [test for test in before if test not in after and before[test]["verdict"] in _GOOD]
    if gone:
        difference.remarks.append(f"  {name}: {len(gone)} tests that passed did not run again")


def _effort(old: Record, new: Record) -> _Effort:
    def unequal(what: str, was: object, now: object) -> tuple[str, ...]:
        return () if was == now else (f"{what} {now}, before {was}",)

    options, before = new["options"], old["options"]
    return _Effort(
        unequal("version of the standard", old["version"], new["version"])
        + unequal("suite", old["suite"]["suite_commit"][:12], new["suite"]["suite_commit"][:12]),
        unequal("examples per test", before["max_examples"], options["max_examples"])
        + unequal("seed", before["seed"], options["seed"])
        + unequal("Hypothesis", _package(old, "hypothesis"), _package(new, "hypothesis")),
        unequal("seconds per test", before["time_limit"], options["time_limit"]),
    )


def _package(run: Record, name: str) -> str:
    return str(run.get("environment", {}).get(name, "of an unknown version"))


def _line(name: str, test: Record, was: str, *, message: bool = True) -> str:
    text = f"  {name} {test['function']}: {test['id'].partition('/')[2]}"
    text += f" ({was} before)" if was else ""
    return f"{text}\n      {test['message']}" if message and test["message"] else text


def _block(title: str, entries: Iterable[str]) -> str:
    entries = list(entries)
    return "\n".join([f"{title} ({len(entries)}):", *entries]) if entries else ""
