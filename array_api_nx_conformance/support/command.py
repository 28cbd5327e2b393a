"""The sub-command ``support``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..environment import environment
from ..files import check_writable, write
from ..namespace import inspect_module
from ..report import FAILED, PASSED
from ..suite import CannotRunError
from . import markdown
from .workers import ask

# Else OpenMP starts as many threads as there are cores in each worker.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def run(options: argparse.Namespace) -> int:
    """Run the sub-command; the exit status.

    Raises
    ------
    CannotRunError
        If nothing can be run; the message says why and how to fix it.
    """
    versions = {
        "name": options.module,
        **{name: _version(name) for name in ("scipy", "scikit-learn")},
    }
    versions["sklearn"] = versions.pop("scikit-learn")
    inspect_module(options.module)
    if options.markdown is not None:
        check_writable("--markdown", options.markdown)
    os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported
    from .subjects import find
    from .trial import MANY_ROWS

    subjects = find()
    rows = _ask(options, "row", len(subjects))
    speeds = _ask(options, "speed", len(subjects)) if options.speed else []
    found = [(each, row) for each, row in zip(subjects, rows, strict=True) if row is not None]
    given = [speed for speed, row in zip(speeds, rows, strict=bool(speeds)) if row is not None]
    numbers = [each if isinstance(each, float) else None for each in given]
    page = markdown.render(found, versions, options.device, numbers, MANY_ROWS)
    if options.markdown is not None:
        write("--markdown", options.markdown, page)
    if options.check is None:
        if options.markdown is None:
            print(page)
        return PASSED
    differences = markdown.differences(_read(options.check), page)
    for line in differences:
        print(line)
    if differences:
        print(f"{options.check} says otherwise; write it anew with --speed --markdown FILE")
    return FAILED if differences else PASSED


def _ask(options: argparse.Namespace, wanted: str, count: int) -> list[Any]:
    def show(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{wanted} {done} of {count} ", end="", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        variables = environment(Path(folder), options.module) | {"SCIPY_ARRAY_API": "1"}
        is_speed = wanted == "speed"
        return ask(
            options.module,
            "" if is_speed else options.device,
            wanted,
            count,
            workers=1 if is_speed else options.workers,
            seconds=15 if is_speed else 150,
            variables=variables if is_speed else variables | _ONE_THREAD,
            show=show,
        )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        raise CannotRunError(f"{name} is missing; install it with: pip install {name}") from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CannotRunError(f"cannot read --check {path}: {error.strerror}") from error
