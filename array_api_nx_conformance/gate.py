"""The gate, ``python -m conformance`` without a sub-command: nothing is excused."""

from __future__ import annotations

import argparse
import sys

from . import records, standard, suite
from .files import check_writable
from .namespace import inspect_module
from .progress import Progress
from .report import CANNOT_RUN, PASSED, exit_status, heading, log_tail, summary
from .runner import Options, Run, require, run_suite
from .suite import CannotRunError, Pins


def gate(options: argparse.Namespace, pins: Pins) -> int:
    """Run the suite on one namespace; the exit status.

    Raises
    ------
    CannotRunError
        If nothing could be run.
    """
    if options.locate:
        found = suite.find(options.checkout, options.cache, pins, any_commit=options.any_commit)
        print(found.path)
        return PASSED
    require()
    checkout = suite.find_or_clone(
        options.checkout, options.cache, pins, any_commit=options.any_commit
    )
    latest = standard.read(checkout.path, standard.versions(checkout.path)[-1])
    if options.json is not None:
        check_writable("--json", options.json)
    module = inspect_module(options.module, latest.functions.items())
    chosen = Options(
        module=options.module,
        max_examples=options.max_examples,
        workers=options.workers,
        seed=options.seed,
        select=tuple(options.select),
        time_limit=options.time_limit,
    )
    version = standard.read(checkout.path, module.api_version or latest.version)
    print(heading(Run(module, checkout, chosen)), flush=True)
    progress = Progress(sys.stdout)
    run = run_suite(module, checkout, chosen, progress.show, version)
    progress.close()
    status = exit_status(run)
    if status == CANNOT_RUN:
        raise CannotRunError(f"no test could be run; the last that pytest said:\n{log_tail(run)}")
    print(f"\n{summary(run)}")
    if options.json is not None:
        records.write(options.json, [records.record(run, status)])
    return status
