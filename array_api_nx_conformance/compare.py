"""What changed between two results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .records import Record
from .suite import CannotRunError
from .verdict import BAD

_GOOD = ("passes", "deviation")


@dataclass
class Difference:
    """Tests that became worse, and tests that became better."""

    regressions: list[str] = field(default_factory=list)
    fixes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def text(self) -> str:
        """What there is to say; a line if that is nothing."""
        blocks = [
            _block("Regressions", self.regressions),
            _block("Fixes", self.fixes),
            _block("Not compared", self.remarks),
        ]
        return "\n\n".join(filter(None, blocks)) or "No regressions, no fixes."


def compare(old: list[Record], new: list[Record]) -> Difference:
    """Compare the runs of the same namespaces, test by test.

    A regression is a test that fails now, and passed before or was not there. A fix is a test that
    passes now and failed before.

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
    before = {test["id"]: test for test in old["tests"]}
    after = {test["id"]: test for test in new["tests"]}
    for test, now in after.items():
        was = before.get(test)
        if now["verdict"] in BAD and (was is None or was["verdict"] not in BAD):
            difference.regressions.append(_line(name, now, "not there" if was is None else ""))
        elif now["verdict"] in _GOOD and was is not None and was["verdict"] in BAD:
            difference.fixes.append(_line(name, now, "", message=False))
    gone = [test for test in before if test not in after and before[test]["verdict"] in _GOOD]
    if gone:
        difference.remarks.append(f"  {name}: {len(gone)} tests that passed did not run again")
    if old["version"] != new["version"]:
        text = f"  {name}: judged by {new['version']} of the standard, before by {old['version']}"
        difference.remarks.append(text)
    if old["suite"]["suite_commit"] != new["suite"]["suite_commit"]:
        difference.remarks.append(f"  {name}: the suites are of different commits")


def _line(name: str, test: Record, was: str, *, message: bool = True) -> str:
    text = f"  {name} {test['function']}: {test['id'].partition('/')[2]}"
    text += f" ({was} before)" if was else ""
    return f"{text}\n      {test['message']}" if message and test["message"] else text


def _block(title: str, entries: Iterable[str]) -> str:
    entries = list(entries)
    return "\n".join([f"{title} ({len(entries)}):", *entries]) if entries else ""
