"""The findings as Markdown, which is also what the terminal shows."""

from __future__ import annotations

from typing import Any, TypeAlias

from ..markdown import table
from .findings import FAILS, MISSING, NOTED, OUTCOMES, PASSES, SKIPPED, totals

Values: TypeAlias = dict[str, Any]
SCHEMA = 1  # raised with every change that a reader would notice
_LONGEST = 240  # of a message
_ARGUMENTS = 70  # of the arguments in the table
_ABOUT = """\
What the official suite does not judge; `python -m conformance checks` wrote this page. *Fails*: the
standard says otherwise, or less than half of a result is right. *Noted*: the standard leaves it
open, and this is what happens. *Skipped*: it cannot be tried."""
_ACCURACY = """\
Errors are in units in the last place of the exact value (of the greater component of complex
numbers); *usual* is for arguments of magnitudes from 2**-20 to 2**20, *all* for all magnitudes, and
the arguments beside it are where it is greatest. Subnormal numbers do not count. Sums and linear
algebra are in epsilons of what the bound is about."""


def render(runs: list[Values]) -> str:
    """A table of the namespaces, then each with its findings and its table of accuracy."""
    parts = ["# Beyond the official suite", _ABOUT, _overview(runs)]
    for run in runs:
        parts += _details(run)
    return "\n\n".join(parts) + "\n"


def failures(run: Values) -> list[Values]:
    """The findings that count against a namespace."""
    return [f for f in findings(run) if f["outcome"] in (FAILS, MISSING)]


def findings(run: Values) -> list[Values]:
    """All findings."""
    return [finding for chapter in run["chapters"].values() for finding in chapter["findings"]]


def _overview(runs: list[Values]) -> str:
    rows = [["namespace", "version", "chapter", *OUTCOMES]]
    for run in runs:
        for chapter, found in run["chapters"].items():
            counts = totals(found["findings"])
            row = [run["module"]["name"], run["module"]["version"], chapter]
            rows.append(row + [str(counts[outcome]) for outcome in OUTCOMES])
    return table(rows)


def _details(run: Values) -> list[str]:
    module = run["module"]
    environment = ", ".join(f"{key} {value}" for key, value in run["environment"].items())
    parts = [f"## {module['name']} {module['version']}", f"{environment}; {run['started'][:10]}."]
    for outcome in (FAILS, MISSING, NOTED):
        chosen = [f for f in findings(run) if f["outcome"] == outcome]
        if chosen:
            parts += [f"### {outcome} ({len(chosen)})", "\n".join(map(_line, chosen))]
    if run["chapters"].get("accuracy", {}).get("rows"):
        parts += ["### Accuracy", _ACCURACY, _accuracy(run["chapters"]["accuracy"]["rows"])]
    if not any(f["outcome"] not in (PASSES, SKIPPED) for f in findings(run)):
        parts.append("Nothing fails, and there is nothing to note.")
    return parts


def _line(finding: Values) -> str:
    text = f"- {finding['chapter']}: `{finding['function']}`, {finding['check']}"
    if finding["message"]:
        text += f": {_cut(finding['message'])}"
    if finding["outcome"] == FAILS:
        if finding["rule"] and finding["rule"] not in finding["check"]:
            text += f"\n  ({finding['rule']})"
        if finding["repro"]:
            text += f"\n  `{finding['repro']}`"
    return text


def _accuracy(rows: list[Values]) -> str:
    header = ["function", "dtype", "mean", "usual", "all", "bound", "at", "outcome"]
    out = [header]
    for row in rows:
        mean = _number(row["mean"]) if "mean" in row else ""
        usual = _number(row["usual"]) if "usual" in row else ""
        shown = [row["function"], row["dtype"], mean, usual, _number(row["most"])]
        out.append([*shown, _number(row["bound"]), _cut(row["at"], _ARGUMENTS), row["outcome"]])
    return table(out)


def _number(value: float) -> str:
    return f"{value:.3g}"


def _cut(text: str, longest: int = _LONGEST) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[:longest]}..."
