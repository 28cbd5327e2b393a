"""The rows and columns of the tables."""

from __future__ import annotations

from dataclasses import dataclass

from ..records import Record
from ..report import cut
from ..verdict import BAD, COLUMNS

# What a cell shows. The last is of functions that came after the version that a namespace is judged
# by.
MARKS = {
    "passes": "✓",
    "fails": "✗",
    "missing": "∅",
    "blocked": "↪",
    "deviation": "≈",
    "skipped": "-",
    "not run": "○",
    "later": "·",
}
WORDS = {
    "passes": "passes",
    "fails": "fails, of its tests so many",
    "missing": "missing",
    "blocked": "fails only where another function fails",
    "deviation": "deviates as the standard permits",
    "skipped": "not judged by the suite",
    "not run": "not run",
    "later": "not in the version that it is judged by",
}
_ADDRESS = "https://data-apis.org/array-api"
_LONGEST = 200  # of a message


@dataclass(frozen=True)
class Cell:
    """What a namespace makes of a function: verdict, and what to say about it."""

    verdict: str
    text: str  # the mark, and of how many tests some fail
    note: str  # the message of the first failure, or what blocks it


@dataclass(frozen=True)
class Row:
    """A function."""

    name: str
    since: str
    address: str  # of the page in the standard; empty if none is known
    cells: tuple[Cell, ...]


def chapters(runs: list[Record]) -> dict[str, list[Row]]:
    """The rows of each chapter of the standard."""
    # The latest version has all names, in the order of the standard.
    latest = sorted(runs, key=lambda run: str(run["version"]), reverse=True)
    functions: dict[str, Record] = {}
    for run in latest:
        for name, function in run["functions"].items():
            if function["chapter"] != "other":
                functions.setdefault(name, function | {"version": run["version"]})
    found: dict[str, list[Row]] = {}
    for name, function in functions.items():
        row = Row(
            name,
            function.get("since", ""),
            _address(name, function["chapter"], function["version"]),
            tuple(_cell(run, name) for run in runs),
        )
        found.setdefault(function["chapter"], []).append(row)
    return found


def _cell(run: Record, name: str) -> Cell:
    function = run["functions"].get(name)
    if function is None:
        return Cell("later", MARKS["later"], "")
    verdict = function["verdict"]
    tests = [test for test in run["tests"] if test["function"] == name]
    failing = [test for test in tests if test["verdict"] in BAD]
    text = MARKS[verdict]
    if verdict == "fails":
        judged = [test for test in tests if test["verdict"] not in ("skipped", "not applicable")]
        text += f" {len(failing)}/{len(judged)}"
    if function["roots"]:
        note = f"blocked by {', '.join(function['roots'])}"
    else:
        notes = [test["message"] if test["verdict"] in BAD else test["note"] for test in tests]
        note = next(filter(None, notes), "")
    return Cell(verdict, text, cut(note, _LONGEST))


def _address(name: str, chapter: str, version: str) -> str:
    owner, _, bare = name.rpartition(".")
    if chapter in ("linalg", "fft"):
        return f"{_ADDRESS}/{version}/extensions/generated/array_api.{owner}.{bare}.html"
    if chapter == "array object":
        return f"{_ADDRESS}/{version}/API_specification/generated/array_api.array.{bare}.html"
    if chapter.endswith("functions"):
        return f"{_ADDRESS}/{version}/API_specification/generated/array_api.{bare}.html"
    return ""


def shown_verdicts(runs: list[Record]) -> list[str]:
    """The verdicts that occur, in the order of the columns."""
    return [verdict for verdict in COLUMNS if any(run["totals"][verdict] for run in runs)]


def unequal(runs: list[Record]) -> list[str]:
    """What the runs differ in and should not, in words."""
    return [
        f"{words} differ"
        for words, values in (
            ("numbers of examples", {run["options"]["max_examples"] for run in runs}),
            ("seeds", {run["options"]["seed"] for run in runs}),
            ("versions of the suite", {run["suite"]["suite_commit"] for run in runs}),
        )
        if len(values) > 1
    ]


def conditions(run: Record) -> str:
    """The suite, Python and the packages that a run was made with."""
    environment = run.get("environment", {})
    packages = ", ".join(
        f"{name} {version}" for name, version in environment.items() if name != "platform"
    )
    return (
        f"{run['module']['name']}: {run['started'][:10]}, array-api-tests"
        f" {run['suite']['suite_commit'][:12]}, {run['options']['max_examples']} examples per test,"
        f" seed {run['options']['seed']}; {packages}; {environment.get('platform', '')}"
    )
