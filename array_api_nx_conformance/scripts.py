"""The failing tests' examples as files."""

from __future__ import annotations

import re

from .conformity import basis
from .environment import current_folder
from .records import Record
from .verdict import BAD

_LONGEST = 100  # of a file's name


def scripts(runs: list[Record]) -> dict[str, str]:
    """File names and texts: a stand-alone script for each failure that could be written down."""
    found: dict[str, str] = {}
    for run in runs:
        module = run["module"]
        for test in run["tests"]:
            # Not of a permitted deviation, which is nothing to fix.
            if test["repro"] and test["verdict"] in BAD:
                name = _file_name(module["name"], test["id"], found)
                found[name] = f"{_header(run, test)}\n{_path(module['name'])}{test['repro']}"
    return found


def _header(run: Record, test: Record) -> str:
    module = run["module"]
    lines = [
        f"{test['function']} of {module['name']} {module['version']}: {test['verdict']}"
        f" by the array API standard {run['version']}.",
        f"{test['message']}",
        f"{test['id']}, array-api-tests {run['suite']['suite_commit'][:12]},"
        f" {basis(run['options']['max_examples'])}, seed {run['options']['seed']}",
    ]
    return "\n".join(f"# {' '.join(line.split())}" for line in lines if line)


def _path(module: str) -> str:
    """Lines for a module that lies in the current folder, where a script in another finds none."""
    return "".join(
        f"import sys\n\nsys.path.append({folder!r})\n\n" for folder in current_folder(module)
    )


def _file_name(module: str, test: str, taken: dict[str, str]) -> str:
    stem = re.sub(r"\W+", "_", f"{module}-{test.partition('::')[2]}").strip("_")[:_LONGEST]
    name, number = f"{stem}.py", 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}.py"
    return name
