"""Lists of known failures and of tests to leave out, in the format of the suite's own files.

One test per line, as pytest prints it; a line can also name a file, a class, or a test without its
parameters, and then stands for all of them. Blank lines and lines that begin with ``#`` are
comments. A comment is the reason of the entries below it, up to the next comment or blank line;
so a list with a reason for every entry is still a list that the suite itself can read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .draft import FOLDER as DRAFT_TESTS
from .functions import is_about_behaviour
from .suite import TESTS, CannotRunError

NO_REASON = "no reason given"
FAILING = ("failed", "error", "missing")


@dataclass(frozen=True)
class Entry:
    """A line of a list, and why it is there."""

    pattern: str
    reason: str


def read(paths: Iterable[Path]) -> list[Entry]:
    """The entries of the lists in order.

    Raises
    ------
    CannotRunError
        If a list cannot be read, or has a line that names no test.
    """
    entries: list[Entry] = []
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CannotRunError(f"cannot read the list {path}: {error}") from error
        entries += _parse(text, path)
    return entries


def _parse(text: str, path: Path) -> list[Entry]:
    entries: list[Entry] = []
    comments: list[str] = []
    in_comment = False
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if line.startswith("#"):
            comments = [*(comments if in_comment else []), line.lstrip("#").strip()]
            in_comment = True
            continue
        in_comment = False
        if not line:
            comments = []
        elif line.startswith((TESTS, DRAFT_TESTS, "test_")):
            pattern = f"{TESTS}/{line}" if line.startswith("test_") else line
            entries.append(Entry(pattern, " ".join(filter(None, comments)) or NO_REASON))
        else:
            raise CannotRunError(
                f"{path}, line {number}: {line!r} names no test; write"
                f" {TESTS}/test_fft.py::test_fft, or begin the line with # for a comment"
            )
    return entries


def matches(pattern: str, test: str) -> bool:
    """Whether an entry stands for a test, by the suite's own rule."""
    return (
        test == pattern
        or test.startswith(f"{pattern.removesuffix('/')}/")
        or test.partition("[")[0] == pattern
        or test.partition("::")[0] == pattern
        or test.startswith(f"{pattern}::")
    )


def reason(entries: Iterable[Entry], test: str) -> str:
    """The reason of the first entry that stands for `test`; empty if there is none."""
    return next((entry.reason for entry in entries if matches(entry.pattern, test)), "")


def stale(
    entries: Iterable[Entry],
    outcomes: Mapping[str, str],
    *,
    selection: bool = False,
    provisional: bool = False,
) -> dict[str, str]:
    """The entries that are out of date, each with what is wrong with it.

    Parameters
    ----------
    entries : iterable of Entry
        The list.
    outcomes : mapping of str to str
        Each test that ran and its outcome; an entry is not judged by tests that did not run.
    selection : bool
        Whether only some of the suite's tests were to run: then an entry of which no test ran may
        be up to date.
    provisional : bool
        Whether the tests tried few examples: then one that passed may fail with more of them, but
        for those of names and signatures, which try none.
    """
    found: dict[str, str] = {}
    for entry in entries:
        ran = _ran(entry, outcomes)
        if not ran:
            if not selection:
                found[entry.pattern] = "no such test ran"
        elif _passed(ran) and not (provisional and _tries_examples(ran)):
            words = ", ".join(sorted(set(ran.values())))
            found[entry.pattern] = f"does not fail any more ({words})"
    return found


def _ran(entry: Entry, outcomes: Mapping[str, str]) -> dict[str, str]:
    return {test: outcome for test, outcome in outcomes.items() if matches(entry.pattern, test)}


def _passed(ran: Mapping[str, str]) -> bool:
    return not any(outcome in FAILING for outcome in ran.values())


def _tries_examples(tests: Iterable[str]) -> bool:
    return any(is_about_behaviour(test) for test in tests)


def generate(
    run: Mapping[str, Any],
    kept: Iterable[Entry] = (),
    *,
    selection: bool = False,
    provisional: bool = False,
) -> str:
    """The list of what failed in a run; the reasons are those of `kept`, or the messages.

    Parameters
    ----------
    run : mapping
        A run as in the results (docs/conformance-schema.md).
    kept : iterable of Entry
        An earlier list.
    selection : bool
        Whether only some of the suite's tests were to run: then entries of `kept` of which no test
        ran stay in the list.
    provisional : bool
        Whether the tests tried few examples: then entries of `kept` whose tests passed stay, unless
        these try none.
    """
    module, suite = run["module"], run["suite"]
    kept = list(kept)
    lines = [
        f"# Known failures of {module['name']} {module['version']} in array-api-tests"
        f" {suite['suite_commit'][:12]}, {run['started'][:10]}.",
    ]
    for test in run["tests"]:
        if test["outcome"] in FAILING and test["verdict"] != "not applicable":
            why = reason(kept, test["id"])
            if why in ("", NO_REASON):
                why = test["message"] or NO_REASON
            lines += ["", f"# {' '.join(why.split())}", test["id"]]
    outcomes = {test["id"]: test["outcome"] for test in run["tests"]}
    for entry in kept:
        ran = _ran(entry, outcomes)
        if (provisional and _passed(ran) and _tries_examples(ran)) if ran else selection:
            lines += ["", f"# {entry.reason}", entry.pattern]
    return "\n".join(lines) + "\n"
