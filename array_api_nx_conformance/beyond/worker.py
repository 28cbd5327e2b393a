"""The process in which a namespace is judged: ``python -m ...beyond.worker TASK``.

The task is JSON: ``module``, ``device``, ``chapter``, ``points``, ``seed``, ``select``, ``tables``
(a folder for exact values) and ``output`` (the file for the findings).
"""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from . import aliasing, dlpack, optimized, refusals, remainder, special_cases
from .findings import Finding
from .subject import Subject


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Run one chapter: ``findings``, and the ``rows`` of its table."""
    subject = Subject(task["module"], task["device"])
    findings: list[Finding] = []
    rows: list[dict[str, object]] = []
    chapter, seed = task["chapter"], task["seed"]
    if chapter == "accuracy":
        findings, rows = _accuracy(subject, task)
    elif chapter == "remainder":
        findings = remainder.check(subject, seed)
    elif chapter == "special":
        findings = special_cases.check(subject)
    elif chapter == "aliasing":
        findings = aliasing.check(subject)
    elif chapter == "dlpack":
        findings = dlpack.check(subject)
    elif chapter == "optimized":
        findings = optimized.check(task, _quick(subject, seed))
    elif chapter == "quick":
        return {"quick": _quick(subject, seed)}
    selected = task["select"]
    found = [each for each in findings if not selected or each.function in selected]
    return {"findings": [asdict(finding) for finding in found], "rows": rows}


def _accuracy(
    subject: Subject, task: dict[str, Any]
) -> tuple[list[Finding], list[dict[str, object]]]:
    # mpmath is needed here alone.
    from .accuracy import elementwise, matrices, sums

    seed, select = task["seed"], task["select"]
    folder = Path(task["tables"]) if task["tables"] else None
    findings, rows = elementwise.check(subject, task["points"], seed, select, folder)
    for module in (sums, matrices):
        for each in module.check(subject, seed, select):
            if isinstance(each, Finding):
                findings.append(each)
            else:
                rows.append(each)
    return findings, rows


def _quick(subject: Subject, seed: int) -> dict[str, tuple[str, str]]:
    """What the quick chapters find: outcomes and messages by name."""
    findings = [
        *remainder.check(subject, seed),
        *special_cases.check(subject),
        *aliasing.check(subject),
    ]
    found = {finding.name: (finding.outcome, finding.message) for finding in findings}
    return found | {
        f"error: {name}": (error, "") for name, error in refusals.outcomes(subject).items()
    }


def main(text: str) -> None:
    """Run the task, and write what is found."""
    task = json.loads(text)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = run(task)
    Path(task["output"]).write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
