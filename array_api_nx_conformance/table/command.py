"""The sub-command."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from .. import records, standard, suite
from ..files import check_writable, write
from ..namespace import Module, inspect_module
from ..progress import Progress
from ..records import Record
from ..report import CANNOT_RUN, INTERRUPTED, PASSED, log_tail
from ..runner import Options, Run, require, run_suite
from ..suite import CannotRunError, Checkout, Pins
from ..text import conclusion
from . import html, markdown
from .implementations import IMPLEMENTATIONS, Implementation, named, variables
from .journal import Journal

_OUTPUTS = ("json", "markdown", "html")


def table(options: argparse.Namespace, pins: Pins) -> int:
    """Judge the namespaces, as far as that has not been done yet, and write the tables.

    The exit status is 0 when all of them have been judged, 130 when that was interrupted, and 2
    when the time budget ran out.

    Raises
    ------
    CannotRunError
        If none of them can be judged, or one that was asked for by name cannot.
    """
    for name in _OUTPUTS:
        if (path := getattr(options, name)) is not None:
            check_writable(f"--{name}", path)
    if options.given:
        runs = [run for path in options.given for run in records.read(path)]
        return _finish(options, runs, {})
    require()
    checkout = suite.find_or_clone(
        options.checkout, options.cache, pins, any_commit=options.any_commit
    )
    chosen = [named(name) for name in options.module] or list(IMPLEMENTATIONS)
    runs, absent = [], {}
    deadline = time.monotonic() + options.budget if options.budget else None
    for implementation in chosen:
        try:
            with variables(implementation):
                run = _judge(implementation, checkout, options, deadline)
        except CannotRunError as error:
            if options.module:
                raise
            absent[implementation.name] = str(error).splitlines()[0]
            print(f"{implementation.name}: not judged: {absent[implementation.name]}", flush=True)
            continue
        runs.append(run)
        _write(options, runs, absent)
        if run["end"] in ("interrupted", "out of time"):
            print("Not all has run; the same command goes on from here.", file=sys.stderr)
            return INTERRUPTED if run["end"] == "interrupted" else CANNOT_RUN
    if not runs:
        raise CannotRunError("none of the namespaces could be judged")
    return _finish(options, runs, absent)


def _finish(options: argparse.Namespace, runs: list[Record], absent: dict[str, str]) -> int:
    _write(options, runs, absent)
    if all(getattr(options, name) is None for name in _OUTPUTS):
        print(markdown.render(runs, absent))
    return PASSED


def _judge(
    implementation: Implementation,
    checkout: Checkout,
    options: argparse.Namespace,
    deadline: float | None,
) -> Record:
    newest = standard.versions(checkout.path)[-1]
    names = standard.read(checkout.path, options.version or newest)
    module = inspect_module(implementation.name, names.functions.items())
    version = standard.read(checkout.path, options.version or module.api_version or newest)
    how = Options(
        module=module.name,
        max_examples=options.max_examples,
        workers=options.workers,
        seed=options.seed,
        time_limit=options.time_limit,
        version=version.version,
        budget=max(0.001, deadline - time.monotonic()) if deadline is not None else 0.0,
    )
    again = module.name in options.again or "all" in options.again
    journal = Journal(options.results, _key(module, checkout, how), again=again)
    run = Run(module, checkout, how, standard=version)
    if journal.finished:
        assert journal.started is not None
        run.results, run.collected, run.end = journal.results, journal.collected, "finished"
        run.started, run.duration = journal.started, journal.seconds
        print(f"{module.name} {module.version}: judged on {run.started:%Y-%m-%d}", flush=True)
    else:
        run = _run(run, journal)
    record = records.record(run, PASSED)
    print(conclusion(record), flush=True)
    return record


def _run(run: Run, journal: Journal) -> Run:
    known = f", {len(journal.results)} tests done before" if journal.results else ""
    print(f"{run.module.name} {run.module.version}, {run.options.version}{known}", flush=True)
    progress = Progress(sys.stdout)

    def show(run: Run) -> None:
        journal.note(run)
        progress.show(run)

    done = run_suite(
        run.module, run.checkout, run.options, show, run.standard, journal.results.values()
    )
    progress.close()
    journal.close(done)
    if not done.results and done.end == "broken":
        raise CannotRunError(f"no test of {run.module.name} could be run; {log_tail(done).strip()}")
    return done


def _key(module: Module, checkout: Checkout, options: Options) -> dict[str, object]:
    """What the results depend on; the number of workers is not of it."""
    return {
        "module": module.name,
        "version": module.version,
        "standard": options.version,
        "examples": options.max_examples,
        "seed": options.seed,
        "time_limit": options.time_limit,
        "suite": checkout.suite_commit,
        "spec": checkout.spec_commit,
        "problems": list(checkout.problems),
        "environment": records.environment(),
    }


def _write(options: argparse.Namespace, runs: list[Record], absent: dict[str, str]) -> None:
    if options.json is not None:
        records.write(options.json, runs)
    texts = {"markdown": markdown.render, "html": html.render}
    for name, render in texts.items():
        path: Path | None = getattr(options, name)
        if path is not None:
            write(f"--{name}", path, render(runs, absent))
