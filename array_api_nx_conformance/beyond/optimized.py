"""What changes under ``python -O`` and ``python -OO``, without ``assert`` and docstrings."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .findings import FAILS, NOTED, PASSES, Finding

CHAPTER = "optimized"
QUICK = ("remainder", "special cases", "aliasing", "refusals")  # the chapters that are compared
_FLAGS = ("-O", "-OO")
_RULE = "results and errors do not depend on python -O"
_SECONDS = 600.0


def check(task: dict[str, Any], plain: dict[str, Any]) -> list[Finding]:
    """Compare results of the quick chapters in processes of their own with those of this one.

    Parameters
    ----------
    task : dict
        The worker's task.
    plain : dict
        What the quick chapters found here: the outcome and message of each finding.
    """
    out = []
    for flag in _FLAGS:
        found = _run(flag, task)
        if isinstance(found, str):
            out.append(Finding(CHAPTER, "import", f"python {flag}", FAILS, found, _RULE))
        else:
            out += _compared(flag, plain, found)
    return out


def _run(flag: str, task: dict[str, Any]) -> dict[str, Any] | str:
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        output = Path(folder) / "found"
        wanted = task | {"chapter": "quick", "output": str(output)}
        command = [sys.executable, flag, "-m", f"{__package__}.worker", json.dumps(wanted)]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS
            )
        except subprocess.TimeoutExpired:
            return f"not done in {_SECONDS:g} s"
        if not output.is_file():
            last = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
            return f"ends early: {last}"
        found: dict[str, Any] = json.loads(output.read_text())["quick"]
        return found


def _compared(flag: str, plain: dict[str, Any], found: dict[str, Any]) -> list[Finding]:
    out, same = [], 0
    for name, (outcome, _) in plain.items():
        other, seen = found.get(name, ("nothing", ""))
        if other == outcome:
            same += 1
            continue
        # An error that is no longer raised, or a check that no longer passes.
        lost = other in ("", FAILS, "nothing")
        text = f"{outcome or 'no error'} without {flag}, {other or 'no error'} with it {seen}"
        kind = FAILS if lost else NOTED
        out.append(Finding(CHAPTER, name, f"python {flag}", kind, text.strip(), _RULE))
    out.append(Finding(CHAPTER, "all", f"python {flag}, {same} checks", PASSES, "", _RULE))
    return out
