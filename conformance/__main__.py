"""The command line: ``python -m conformance``."""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from . import suite
from .namespace import inspect_module
from .progress import Progress
from .report import (
    CANNOT_RUN,
    INTERRUPTED,
    PASSED,
    as_json,
    exit_status,
    heading,
    log_tail,
    summary,
)
from .runner import Options, Run, missing_requirements, run_suite
from .suite import CannotRunError, Pins


def main(arguments: Sequence[str] | None = None, pins: Pins | None = None) -> int:
    """Run the command; the exit status.

    0: everything passed, or is skipped by the suite's own code. 1: something failed. 2: nothing
    could be run. 130: interrupted.
    """
    options = _parser().parse_args(arguments)
    pins = pins or Pins()
    try:
        if options.locate:
            found = suite.find(options.checkout, options.cache, pins, any_commit=options.any_commit)
            print(found.path)
            return PASSED
        return _run(options, pins)
    except CannotRunError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return CANNOT_RUN
    except KeyboardInterrupt:
        print("conformance: interrupted", file=sys.stderr)
        return INTERRUPTED


def _run(options: argparse.Namespace, pins: Pins) -> int:
    if missing := missing_requirements():
        install = shlex.join([sys.executable, "-m", "pip", "install", *missing])
        raise CannotRunError(f"packages are missing; install them with\n    {install}")
    checkout = suite.find_or_clone(
        options.checkout, options.cache, pins, any_commit=options.any_commit
    )
    module = inspect_module(options.module)
    chosen = Options(
        module=options.module,
        max_examples=options.max_examples,
        workers=options.workers,
        seed=random.randrange(2**32) if options.seed is None else options.seed,
        select=tuple(options.select),
        time_limit=options.time_limit,
    )
    if options.json is not None:
        _check_writable(options.json)
    print(heading(Run(module, checkout, chosen)), flush=True)
    progress = Progress(sys.stdout)
    run = run_suite(module, checkout, chosen, progress.show)
    progress.close()
    status = exit_status(run)
    if status == CANNOT_RUN:
        raise CannotRunError(f"no test could be run; the last that pytest said:\n{log_tail(run)}")
    print(f"\n{summary(run)}")
    if options.json is not None:
        _write(options.json, json.dumps(as_json(run), indent=1) + "\n")
    return status


def _check_writable(path: Path) -> None:
    """Fail before the run, not after it."""
    existed = path.exists()
    try:
        path.open("a").close()
    except OSError as error:
        raise CannotRunError(f"cannot write --json {path}: {error.strerror}") from error
    if not existed:
        path.unlink()


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotRunError(f"cannot write --json {path}: {error.strerror}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m conformance",
        description="Run the official Array API test suite against an array namespace.",
        epilog="Exit status: 0 conforms, 1 does not, 2 nothing could be run, 130 interrupted.",
    )
    parser.add_argument("--module", default="array_api_nx", help="namespace to judge (%(default)s)")
    parser.add_argument(
        "--checkout",
        type=Path,
        metavar="DIR",
        help=f"checkout of the suite; else ${suite.CHECKOUT_VARIABLE}, else the cache",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        default=suite.cache_folder(),
        help="folder that holds the suite, cloned when missing (%(default)s)",
    )
    parser.add_argument(
        "--any-commit",
        action="store_true",
        help="run a checkout that is not at the pinned commits, or modified",
    )
    parser.add_argument(
        "--locate", action="store_true", help="print where the suite is, and run nothing"
    )
    parser.add_argument(
        "--max-examples",
        type=_at_least_one,
        default=200,
        metavar="N",
        help="per test (%(default)s)",
    )
    parser.add_argument(
        "--workers",
        type=_at_least_one,
        default=_cores(),
        metavar="N",
        help="processes (one per core: %(default)s)",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="for Hypothesis (a new one each run)")
    parser.add_argument(
        "--select",
        nargs="+",
        default=[],
        metavar="TEST",
        help="files (test_fft.py), test ids (test_fft.py::test_fft), or expressions (linalg)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    parser.add_argument(
        "--time-limit",
        type=_seconds,
        default=600.0,
        metavar="SECONDS",
        help="per test; a test that takes longer fails; 0: no limit (%(default)g)",
    )
    return parser


def _cores() -> int:
    # The cores that this process may use can be fewer than the machine has.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no time; 0 means no limit")
    return number


def _terminate(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    # As for Ctrl-C: end the subprocess, which does not share our terminal, and report what has run.
    signal.signal(signal.SIGTERM, _terminate)
    signal.signal(signal.SIGHUP, _terminate)
    sys.exit(main())
