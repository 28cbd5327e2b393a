"""The sub-command ``clients``."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path

from ..files import check_writable, write
from ..namespace import Module
from ..options import _at_least_one, _cores, _seconds
from ..runner import require
from ..suite import CannotRunError
from . import explain, markdown, report
from .packages import CLIENTS, Installed, chosen, find
from .progress import Progress
from .runner import RENAMED, ClientRun, prepared, run_client

_LOG_LINES = 15


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command."""
    parser = subparsers.add_parser(
        "clients",
        help="run the tests of SciPy, scikit-learn and array-api-extra on a namespace",
        description="Run the tests that SciPy and scikit-learn ship, and calls of array-api-extra's"
        " functions, on a namespace that they do not know. The installed packages are not touched.",
        epilog="Exit status: 0 no failures but explained ones, 1 others, 2 nothing could be run,"
        " 130 interrupted.",
    )
    parser.add_argument("--module", default="array_api_nx", help="namespace to judge (%(default)s)")
    parser.add_argument(
        "--beside",
        action="append",
        default=[],
        metavar="NAME",
        help="another namespace to compare with (repeat for several): numpy, array_api_strict, or"
        f" {RENAMED}, which is array_api_strict under a name that no client knows",
    )
    parser.add_argument(
        "--client", action="append", choices=list(CLIENTS), help="(all; repeat for several)"
    )
    parser.add_argument(
        "--select",
        nargs="+",
        default=[],
        metavar="TEST",
        help="submodules (scipy.stats) or test ids (scipy/stats/tests/test_stats.py::TestMode)",
    )
    parser.add_argument(
        "--workers",
        type=_at_least_one,
        default=_cores(),
        metavar="N",
        help="processes (one per core: %(default)s)",
    )
    parser.add_argument(
        "--time-limit",
        type=_seconds,
        default=600.0,
        metavar="SECONDS",
        help="per test; a test that takes longer fails; 0: no limit (%(default)g)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a page there")
    parser.add_argument(
        "--results", type=Path, metavar="FILE", help="run nothing, and report these results (JSON)"
    )


def run(options: argparse.Namespace) -> int:
    """Run the sub-command; the exit status.

    Raises
    ------
    CannotRunError
        If nothing can be run; the message says why and what mends it.
    """
    for option, path in (("--json", options.json), ("--markdown", options.markdown)):
        if path is not None:
            check_writable(option, path)
    record = _measure(options) if options.results is None else _read(options.results)
    text = markdown.render(record)
    print(f"\n{text}", end="", flush=True)
    if options.json is not None:
        write("--json", options.json, json.dumps(record, indent=1) + "\n")
    if options.markdown is not None:
        write("--markdown", options.markdown, text)
    return int(record["exit_status"])


def _measure(options: argparse.Namespace) -> report.Values:
    require()
    explanations = explain.read()
    clients = find(options.client or list(CLIENTS))
    targets = chosen(clients, options.select)
    clients = [each for each in clients if each.client.name in targets]
    runs: list[list[ClientRun]] = []
    with ExitStack() as stack:
        names = dict.fromkeys([options.module, *options.beside])
        modules = [stack.enter_context(prepared(name)) for name in names]
        for module in modules:
            runs.append(_run_clients(module, clients, targets, options))
            interrupted = runs[-1][-1].end == "interrupted"
            if not interrupted and not any(run.results for run in runs[0]):
                raise CannotRunError(f"no test was run on {module.name}; above is what pytest said")
            if interrupted:
                break
    return report.record(runs, explanations)


def _run_clients(
    module: Module,
    clients: list[Installed],
    targets: dict[str, list[str]],
    options: argparse.Namespace,
) -> list[ClientRun]:
    runs: list[ClientRun] = []
    for client in clients:
        progress = Progress(sys.stderr)
        run = run_client(
            client,
            module,
            targets[client.client.name],
            workers=options.workers,
            time_limit=options.time_limit,
            show=progress.show,
        )
        progress.close(run)
        runs.append(run)
        if run.end == "interrupted":
            break
        if run.end == "broken":
            lines = [f"    {line}" for line in run.log.splitlines() if line.strip()]
            print("pytest ended early; the last that it said:", *lines[-_LOG_LINES:],
                  sep="\n", file=sys.stderr)  # fmt: skip
    return runs


def _read(path: Path) -> report.Values:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CannotRunError(f"cannot read --results {path}: {error}") from error
    if not isinstance(record, dict) or record.get("schema") != report.SCHEMA:
        raise CannotRunError(
            f"--results {path} is no result of `clients` of schema {report.SCHEMA}; run it again"
        )
    return record
