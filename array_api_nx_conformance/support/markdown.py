"""The page, and whether another says the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from os import cpu_count
from typing import Any

from .subjects import Subject

Found = list[tuple[Subject, dict[str, Any]]]

_ABOUT = """\
# SciPy and scikit-learn, function by function

What every public function of SciPy and scikit-learn that takes arrays, and every estimator, does
with the arrays of `{name}`: with `SCIPY_ARRAY_API=1` and, for scikit-learn,
`array_api_dispatch=True`. `python -m conformance support --speed --markdown FILE` made this page by
calling all of them with small arrays. CI compares it with what the installed versions do.

SciPy {scipy}, scikit-learn {sklearn}.

*Arrays* is what comes back. They are **kept** where all arrays in the result are the namespace's;
**numbers** are Python's or NumPy's numbers. Where a call **raises** an error, its first words
follow. *On `{device}`* says the same of arrays on that device, where it is another: *on `cpu`* are
results on the default device, which follow arrays on the other one in what is computed next. *NaN*
is whether `nan_policy="omit"` gives what it gives for NumPy's arrays, of one axis and of two.

| mend | what to write |
|---|---|
| results | `xp.asarray(result)` |
| results to the device | `result.to_device(x.device)` |
| default device | `with xp.config_context(default_device=x.device):` around the call |
| arguments | `np.asarray(x)` in place of `x`, and `xp.asarray` of the result |
| arguments on the device | the same, for arrays on that device |
| arguments for nan_policy | the same, if NaN are to be left out |
| dispatch off | `with sklearn.config_context(array_api_dispatch=False):` around the calls |
"""
_SPEED = """
The number after a name is how many times as fast the call is as with NumPy's arrays, at {rows:,}
rows (tables have four columns, images and matrices as many elements), or as many as make sense. It
was measured once, on {cores} cores, and is not compared.
"""


def render(
    found: Found, versions: dict[str, str], device: str, speeds: list[float | None], rows: int
) -> str:
    """The page.

    Parameters
    ----------
    found : list of (Subject, dict)
        The subjects, and what `Trials.row` says of them.
    versions : dict of str
        "name" of the namespace, and the versions of the libraries.
    device : str
        The other device.
    speeds : list
        What `Trials.speed` says of the subjects; empty if it was not asked.
    rows : int
        For how many rows.
    """
    parts = [_ABOUT.format(**versions, device=device)]
    if any(speeds):
        parts.append(_SPEED.format(rows=rows, cores=cpu_count()).lstrip("\n"))
    parts.append(_counts([row for _, row in found]))
    given = speeds or [None] * len(found)
    for section in dict.fromkeys(subject.section for subject, _ in found):
        lines = [
            (_label(subject, speed), row)
            for (subject, row), speed in zip(found, given, strict=True)
            if subject.section == section and "untried" not in row
        ]
        if lines:
            parts.append(f"## {section}\n\n{_section(lines, device)}\n")
    untried = [(subject, row["untried"]) for subject, row in found if "untried" in row]
    if untried:
        told = "\n".join([f"- `{each.section}.{each.name}`: {why}" for each, why in untried])
        parts.append(f"## Untried\n\n{told}\n")
    return "\n".join(parts)


def _label(subject: Subject, speed: float | None) -> str:
    return f"`{subject.name}`" + ("" if speed is None else f" {speed:.2g}")


def _counts(rows: Iterable[dict[str, Any]]) -> str:
    counts = Counter([_kind(row["arrays"]) for row in rows if "untried" not in row])
    return ", ".join([f"{count} {kind}" for kind, count in counts.most_common()]) + ".\n"


def _kind(arrays: str) -> str:
    return arrays.partition(" `")[0].partition(",")[0]


def _section(lines: list[tuple[str, dict[str, Any]]], device: str) -> str:
    """A table in which functions of which the same is said have one row."""
    columns = ["arrays", "device", "nan_policy", "mend"]
    joined: dict[tuple[str, ...], list[str]] = {}
    for label, row in lines:
        said = [row.get(column, "") for column in columns]
        said[1] = "" if said[1] == said[0] else said[1]
        joined.setdefault(tuple(said), []).append(label)
    order = ["kept", "numbers", "some", "become", "raise"]
    keys = sorted(joined, key=lambda said: (order.index(said[0].split()[0].rstrip(",")), said))
    rows = [["arrays", f"on `{device}`", "NaN", "mend", "functions"], ["---"] * 5]
    rows += [[*said, ", ".join(joined[said])] for said in keys]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(["| " + " | ".join(row) + " |" for row in cells])


def differences(page: str, other: str) -> list[str]:
    """The lines of two pages that differ in more than speeds, "-" before those of `page`."""
    old, new = (Counter(_compared(each)) for each in (page, other))
    return [f"- {line}" for line in old - new] + [f"+ {line}" for line in new - old]


def _compared(page: str) -> list[str]:
    paragraph = re.compile(r"\nThe number after a name is.*?\n\n", re.S)
    lines = paragraph.sub("\n", page).splitlines()
    return [re.sub(r"(`) \d[\d.e+-]*(?=,| \|)", r"\1", line) for line in lines]
