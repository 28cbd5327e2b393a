"""The tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from ..conformity import answer
from ..markdown import details, table
from ..records import Record
from .compliance import MARKS, WORDS, Row, chapters, conditions, shown_verdicts, unequal
from .implementations import named

_HEAD = """\
# Who implements the array API standard

Judged by the official test suite. Made by `python -m conformance table`.
"""


def render(runs: list[Record], absent: dict[str, str]) -> str:
    """The document.

    Parameters
    ----------
    runs : list of Record
        The runs of the namespaces.
    absent : dict of str to str
        Namespaces that were not judged, and why.
    """
    parts = [_HEAD, "## Implementations", _implementations(runs)]
    parts += [f"Not comparable: {remark}." for remark in unequal(runs)]
    if absent:
        parts += ["Not judged here:", _list(f"`{name}`: {why}" for name, why in absent.items())]
    parts += ["## Functions", _legend()]
    for chapter, rows in chapters(runs).items():
        parts += [f"### {chapter.capitalize()}", _functions(rows, runs)]
    parts += ["## What fails", *(details(run) for run in runs)]
    parts += ["## Conditions", _list(map(conditions, runs))]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _implementations(runs: list[Record]) -> str:
    verdicts = shown_verdicts(runs)
    head = ["namespace", "version", "what it is", "declares", "judged by", "examples", *verdicts]
    rows = [[*head, "conforms", "date"]]
    for run in runs:
        module = run["module"]
        rows.append([
            f"`{module['name']}`", module["version"], named(module["name"]).description,
            module["api_version"] or "nothing", run["version"],
            str(run["options"]["max_examples"]),
            *(str(run["totals"][verdict]) for verdict in verdicts), answer(run),
            run["started"][:10],
        ])  # fmt: skip
    return table(rows)


def _functions(rows: list[Row], runs: list[Record]) -> str:
    head = ["function", "since", *map(_name, runs)]
    cells = [
        [
            f"[`{row.name}`]({row.address})" if row.address else f"`{row.name}`",
            row.since,
            *(cell.text for cell in row.cells),
        ]
        for row in rows
    ]
    return table([head, *cells])


def _name(run: Record) -> str:
    return f"{run['module']['name']} {run['module']['version']}"


def _legend() -> str:
    return "; ".join(f"{mark} {WORDS[verdict]}" for verdict, mark in MARKS.items()) + "."


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
