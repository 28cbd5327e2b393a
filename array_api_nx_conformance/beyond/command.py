"""The sub-command ``checks``."""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import platform
import subprocess
import sys
import tempfile
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..environment import environment
from ..files import check_writable, write
from ..namespace import Module, inspect_module
from ..report import FAILED, INTERRUPTED, PASSED
from ..suite import CannotRunError
from . import report
from .findings import FAILS, totals
from .report import Values

CHAPTERS = ("accuracy", "aliasing", "remainder", "special", "dlpack", "optimized")
# The functions that tell an array namespace from other modules.
_NAMES = [("asarray", "creation functions"), ("zeros", "creation functions")]
_PACKAGES = ("numpy", "mpmath")


def run(options: argparse.Namespace) -> int:
    """Run the sub-command; the exit status.

    Raises
    ------
    CannotRunError
        If nothing can be run; the message says why and what mends it.
    """
    names = [name.strip() for each in options.module for name in each.split(",") if name.strip()]
    if not names:
        raise CannotRunError("--module names no namespace; give its importable name")
    chapters = list(dict.fromkeys(options.chapter or CHAPTERS))
    if "accuracy" in chapters and importlib.util.find_spec("mpmath") is None:
        others = " ".join(f"--chapter {each}" for each in CHAPTERS if each != "accuracy")
        raise CannotRunError(
            "the chapter `accuracy` needs mpmath for exact values: pip install mpmath; or leave it"
            f" out: {others}"
        )
    for option, path in (("--json", options.json), ("--markdown", options.markdown)):
        if path is not None:
            check_writable(option, path)
    modules = [inspect_module(name, _NAMES, options.device) for name in names]
    runs: list[Values] = []
    interrupted = False
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        tables = Path(folder) / "tables"
        tables.mkdir()
        for module in modules:
            runs.append(_new_run(module, options))
            try:
                for chapter in chapters:
                    found = _chapter(module, chapter, options, Path(folder), tables)
                    runs[-1]["chapters"][chapter] = found
                    _tell(module, chapter, found)
            except KeyboardInterrupt:
                interrupted = True
                break
    text = report.render(runs)
    print(f"\n{text}", end="", flush=True)
    if options.json is not None:
        write("--json", options.json, json.dumps({"schema": report.SCHEMA, "runs": runs}) + "\n")
    if options.markdown is not None:
        write("--markdown", options.markdown, text)
    if interrupted:
        return INTERRUPTED
    return FAILED if any(report.failures(each) for each in runs) else PASSED


def _new_run(module: Module, options: argparse.Namespace) -> Values:
    return {
        "module": {key: value for key, value in asdict(module).items() if key != "absent"},
        "device": options.device,
        "started": datetime.now().astimezone().isoformat(timespec="seconds"),
        "environment": _environment(module.name),
        "options": {"points": options.points, "seed": options.seed, "select": options.select},
        "chapters": {},
    }


def _environment(name: str) -> dict[str, str]:
    """Versions, those of the packages in the namespace's name among them."""
    found = {"Python": platform.python_version()}
    for package in dict.fromkeys([*name.split("."), *_PACKAGES]):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _chapter(
    module: Module, chapter: str, options: argparse.Namespace, folder: Path, tables: Path
) -> Values:
    """Run a chapter in a process of its own: what it finds cannot bring down the others."""
    output = folder / "found.json"
    output.unlink(missing_ok=True)
    task = {
        "module": module.name,
        "device": options.device,
        "chapter": chapter,
        "points": options.points,
        "seed": options.seed,
        "select": options.select,
        "tables": str(tables),
        "output": str(output),
    }
    command = [sys.executable, "-m", f"{__package__}.worker", json.dumps(task)]
    limit = options.time_limit or None
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment(folder, module.name),
            capture_output=True,
            text=True,
            timeout=limit,
        )
        last = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
        reason = f"the process ends early with exit status {done.returncode}: {last}"
    except subprocess.TimeoutExpired:
        reason = f"not done in {limit:g} s"
    if output.is_file():
        found: Values = _finite(json.loads(output.read_text()))
        return found
    finding = {
        "chapter": chapter,
        "function": "all",
        "check": "runs to its end",
        "outcome": FAILS,
        "message": reason,
        "rule": "",
        "repro": "",
    }
    return {"findings": [finding], "rows": []}


def _finite(values: Any) -> Any:
    """JSON has no infinity: it is written as the greatest float64."""
    if isinstance(values, dict):
        return {key: _finite(value) for key, value in values.items()}
    if isinstance(values, list):
        return [_finite(value) for value in values]
    return sys.float_info.max if values == math.inf else values


def _tell(module: Module, chapter: str, found: Values) -> None:
    counts = ", ".join(f"{n} {name}" for name, n in totals(found["findings"]).items() if n)
    print(f"{module.name}: {chapter}: {counts}", file=sys.stderr, flush=True)
