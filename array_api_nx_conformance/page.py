"""Results as one page of HTML that needs nothing else."""

from __future__ import annotations

import json
from importlib.resources import files

from .conformity import answer, basis
from .records import Record
from .verdict import BAD, COLUMNS

_DATA = "{{data}}"
_SHOWN = ("fails", "missing", "blocked", "deviation", "skipped")
# The headings over what does not pass in each, or at least one, of the namespaces.
_FAILURES = {"fails": "Fails", "missing": "Missing", "blocked": "Blocked by what fails"}
_LONGEST = 6000  # of a traceback on the page; the JSON has all of it


def render(runs: list[Record]) -> str:
    """The page for namespaces side by side."""
    template = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    data = json.dumps(_data(runs), separators=(",", ":"))
    # What would end the element that holds the data, or begin a comment in it.
    data = data.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return template.replace(_DATA, data)


def _data(runs: list[Record]) -> Record:
    chapters: dict[str, str] = {}
    for run in runs:
        for name, function in run["functions"].items():
            chapters.setdefault(name, function["chapter"])
    order = list(dict.fromkeys(chapters.values()))
    names = sorted(chapters, key=lambda name: (order.index(chapters[name]), name))
    functions = [
        {
            "name": name,
            "chapter": chapters[name],
            "group": _group(name, chapters[name], runs),
            "position": position,
            "new": _new_in(name, runs),
        }
        for position, name in enumerate(names)
    ]
    headings = list(_FAILURES.values())
    functions.sort(key=lambda each: [*headings, each["group"]].index(each["group"]))
    return {
        "verdicts": COLUMNS,
        "functions": functions,
        "runs": [_run(run) for run in runs],
    }


def _group(name: str, chapter: str, runs: list[Record]) -> str:
    """The heading over a function where what fails goes first."""
    found = {run["functions"][name]["verdict"] for run in runs if name in run["functions"]}
    return next((words for verdict, words in _FAILURES.items() if verdict in found), chapter)


def _new_in(name: str, runs: list[Record]) -> str:
    """The versions that the name is new in, of those that the namespaces are judged by."""
    return ", ".join(sorted({run["version"] for run in runs if name in run.get("new", ())}))


def _run(run: Record) -> Record:
    return {
        "module": run["module"],
        "version": run["version"],
        "date": run["started"][:10],
        "suite": run["suite"]["suite_commit"][:12],
        "basis": basis(run["options"]["max_examples"]),
        "conforms": answer(run),
        "seed": run["options"]["seed"],
        "totals": run["totals"],
        "functions": {
            name: {"verdict": function["verdict"], "roots": function["roots"]}
            for name, function in run["functions"].items()
        },
        "tests": [_test(test) for test in run["tests"] if test["verdict"] in _SHOWN],
    }


def _test(test: Record) -> Record:
    kept = ("id", "function", "verdict", "message", "note", "known", "blocked_by")
    return {key: test[key] for key in kept} | {
        # A permitted deviation is nothing to reproduce.
        "repro": test["repro"] if test["verdict"] in BAD else "",
        "traceback": test["longrepr"][-_LONGEST:],
    }
