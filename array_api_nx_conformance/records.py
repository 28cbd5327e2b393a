"""The results as JSON values: made from runs, written, read and checked.

docs/conformance-schema.md describes them.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from . import known
from .protocol import OUTCOMES
from .pytest_run import Result
from .runner import Run
from .suite import CannotRunError
from .verdict import BAD, FunctionVerdict, is_provisional, judge, totals

SCHEMA = 2  # raised with every change that a reader would notice
Record = dict[str, Any]  # one run
_PACKAGES = ("numpy", "array-api-compat", "pytest", "pytest-xdist", "hypothesis", "ndindex")
# Variables of the libraries that decide a result.
_VARIABLES = ("ARRAY_API_NX_DEFAULT_DEVICE", "JAX_ENABLE_X64")
_KEYS = ("module", "version", "suite", "options", "functions", "tests", "totals", "chapters")


def record(run: Run, exit_status: int) -> Record:
    """One run as JSON values."""
    functions = judge(run)
    options = run.options
    return {
        "module": {key: value for key, value in asdict(run.module).items() if key != "absent"},
        "version": run.standard.version,
        "new": run.standard.new,
        "exit_status": exit_status,
        "end": run.end,
        "started": run.started.isoformat(timespec="seconds"),
        "duration": round(run.duration, 1),
        "suite": asdict(run.checkout) | {"path": str(run.checkout.path)},
        "options": {
            key: value
            for key, value in asdict(options).items()
            if key not in ("module", "version", "known", "skips")
        },
        "environment": environment(),
        "outcomes": _outcomes(run.results.values()),
        "totals": totals(functions.values()),
        "chapters": _chapters(functions.values()),
        "functions": {
            name: {
                "chapter": function.chapter,
                "verdict": function.verdict,
                "roots": list(function.roots),
                "since": run.standard.since.get(name, ""),
            }
            for name, function in functions.items()
        },
        "tests": [
            {
                key: value
                for key, value in asdict(test.result).items()
                if key not in ("uses", "raised_in")
            }
            | {
                "function": test.function,
                "verdict": test.verdict,
                "note": test.note,
                "blocked_by": list(test.blocked_by),
                "known": known.reason(options.known, test.result.id),
            }
            for function in functions.values()
            for test in function.tests
        ],
        "not_run": run.not_run,
        "left_out": {entry.pattern: entry.reason for entry in options.skips},
        "stale": _stale(run),
    }


def unexcused(run: Record) -> list[Record]:
    """The tests that count against a namespace: neither permitted nor known."""
    return [test for test in run["tests"] if test["verdict"] in BAD and not test["known"]]


def write(path: Path, runs: list[Record]) -> None:
    """Write runs to a file.

    Raises
    ------
    CannotRunError
        If it cannot be written.
    """
    text = json.dumps({"schema": SCHEMA, "runs": runs}, indent=1) + "\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotRunError(f"cannot write {path}: {error.strerror}") from error


def read(path: Path) -> list[Record]:
    """The runs in a file.

    Raises
    ------
    CannotRunError
        If it cannot be read, or is no file of results of this schema.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CannotRunError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise CannotRunError(f"{path} is not JSON ({error}); give a file of `run --json`") from None
    schema = values.get("schema") if isinstance(values, dict) else None
    if schema != SCHEMA:
        said = "no schema" if schema is None else f"schema {schema!r}"
        raise CannotRunError(
            f"{path} has {said}, this program reads {SCHEMA}; make it anew with `run --json`"
        )
    runs = values.get("runs")
    if not isinstance(runs, list) or not runs:
        raise CannotRunError(f"{path} has no runs; make it anew with `run --json`")
    for run in runs:
        lacking = [key for key in _KEYS if not isinstance(run, dict) or key not in run]
        if lacking:
            raise CannotRunError(f"a run in {path} lacks {', '.join(lacking)}: the file is damaged")
    return runs


def _stale(run: Run) -> dict[str, str]:
    if run.end != "finished":
        return {}
    options = run.options
    outcomes = {result.id: result.outcome for result in run.results.values()}
    selection = bool(options.select or options.chapters or options.skips)
    provisional = is_provisional(options.max_examples)
    return known.stale(options.known, outcomes, selection=selection, provisional=provisional)


def _outcomes(results: Iterable[Result]) -> dict[str, int]:
    found = [result.outcome for result in results]
    return {outcome: found.count(outcome) for outcome in OUTCOMES}


def _chapters(functions: Iterable[FunctionVerdict]) -> dict[str, dict[str, int]]:
    grouped: dict[str, list[FunctionVerdict]] = {}
    for function in functions:
        grouped.setdefault(function.chapter, []).append(function)
    return {chapter: totals(members) for chapter, members in grouped.items()}


def environment() -> dict[str, str]:
    """What decides a result: versions of Python, the platform and packages, and variables."""
    versions = {"python": platform.python_version(), "platform": platform.platform()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions | {name: os.environ[name] for name in _VARIABLES if name in os.environ}
