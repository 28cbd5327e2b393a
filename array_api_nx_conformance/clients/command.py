"""The sub-command ``clients``."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path

from ..files import check_writable, write
from ..namespace import Module
from ..report import log_tail
from ..runner import require
from ..suite import CannotRunError
from . import explain, markdown, report
from .packages import CLIENTS, Installed, chosen, find
from .progress import Progress
from .runner import ClientRun, prepared, run_client


def run(options: argparse.Namespace) -> int:
    """Run the sub-command; the exit status.

    Raises
    ------
    CannotRunError
        If nothing can be run; the message says why and how to fix it.
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
    explanations = explain.read_all()
    default = [client.name for client in CLIENTS.values() if client.by_default]
    clients = find(options.client or default)
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
            said = f"pytest ended early; the last that it said:\n{log_tail(run)}"
            print(said, file=sys.stderr)
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
