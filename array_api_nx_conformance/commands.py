"""The sub-commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from . import badge, compare, known, markdown, page, records, scripts, standard, suite, text
from .beyond import command as checks
from .clients import command as clients
from .conformity import is_selection
from .files import check_writable, make_folder, write
from .namespace import Module, inspect_module
from .progress import Progress
from .records import Record
from .report import CANNOT_RUN, FAILED, INTERRUPTED, PASSED, heading, log_tail
from .runner import Options, Run, require, run_suite
from .standard import Standard
from .suite import CannotRunError, Pins
from .support import command as support
from .table import command as table
from .verdict import is_provisional

_REPORTS = ("html", "markdown", "badge")


def run(options: argparse.Namespace, pins: Pins) -> int:
    """Judge namespaces, one after the other."""
    require()
    checkout = suite.find_or_clone(
        options.checkout, options.cache, pins, any_commit=options.any_commit
    )
    names = [name.strip() for each in options.module for name in each.split(",") if name.strip()]
    if not names:
        raise CannotRunError("--module names no namespace; give its importable name")
    _check_outputs(options, len(names))
    latest = standard.read(checkout.path, standard.versions(checkout.path)[-1])
    if options.version == standard.DRAFT:
        latest = standard.read(checkout.path, standard.DRAFT)
    modules = [inspect_module(name, latest.functions.items(), options.device) for name in names]
    versions = [
        standard.read(checkout.path, options.version or module.api_version or latest.version)
        for module in modules
    ]
    excused = tuple(known.read(options.known))
    skips = tuple(known.read(options.skips))
    runs: list[Record] = []
    for module, version in zip(modules, versions, strict=True):
        chosen = Options(
            module=module.name,
            max_examples=options.max_examples,
            workers=options.workers,
            seed=options.seed,
            select=tuple(options.select),
            time_limit=options.time_limit,
            budget=options.budget,
            version=version.version,
            chapters=_chapters(options.chapters, version),
            device=options.device,
            known=excused,
            skips=skips,
        )
        runs.append(_run_one(module, checkout, chosen, version))
        _write_outputs(options, runs)
        if runs[-1]["exit_status"] == INTERRUPTED:
            break
    return max(int(record["exit_status"]) for record in runs)


def _run_one(
    module: Module, checkout: suite.Checkout, options: Options, version: Standard
) -> Record:
    print(heading(Run(module, checkout, options)), flush=True)
    progress = Progress(sys.stdout)
    finished = run_suite(module, checkout, options, progress.show, version)
    progress.close()
    if not finished.results and finished.end not in ("interrupted", "out of time"):
        said = f"the last that pytest said:\n{log_tail(finished)}"
        raise CannotRunError(f"no test of {module.name} could be run; {said}")
    record = records.record(finished, PASSED)
    if finished.end == "interrupted":
        record["exit_status"] = INTERRUPTED
    elif finished.end != "finished" or records.unexcused(record):
        record["exit_status"] = FAILED
    print(f"\n{text.verdicts(record)}\n", flush=True)
    return record


def report(options: argparse.Namespace, pins: Pins) -> int:
    """Make reports of results."""
    runs = _select([r for path in options.results for r in records.read(path)], options.module)
    _check_outputs(options, len(runs))
    _write_outputs(options, runs)
    if not any(getattr(options, name) for name in _REPORTS):
        print(markdown.render(runs))
    return PASSED


def compare_results(options: argparse.Namespace, pins: Pins) -> int:
    """Print regressions and fixes."""
    difference = compare.compare(records.read(options.old), records.read(options.new))
    print(difference.text())
    if difference.regressions:
        return FAILED
    return CANNOT_RUN if difference.not_comparable else PASSED


def make_list(options: argparse.Namespace, pins: Pins) -> int:
    """Make a list of known failures."""
    runs = _select(records.read(options.results), [options.module] if options.module else [])
    if len(runs) > 1:
        names = ", ".join(record["module"]["name"] for record in runs)
        raise CannotRunError(f"the results have several runs: choose with --module from {names}")
    kept = known.read(options.keep)
    selection = is_selection(runs[0])
    outcomes = {test["id"]: test["outcome"] for test in runs[0]["tests"]}
    provisional = is_provisional(runs[0]["options"]["max_examples"])
    listed = known.generate(runs[0], kept, selection=selection, provisional=provisional)
    stale = known.stale(kept, outcomes, selection=selection, provisional=provisional)
    for pattern, why in stale.items():
        print(f"stale: {pattern}: {why}", file=sys.stderr)
    if options.output is None:
        print(listed, end="")
    else:
        write("--output", options.output, listed)
    return FAILED if stale else PASSED


COMMANDS: dict[str, Callable[[argparse.Namespace, Pins], int]] = {
    "run": run,
    "report": report,
    "compare": compare_results,
    "known": make_list,
    "table": table.table,
    "clients": lambda options, pins: clients.run(options),
    "support": lambda options, pins: support.run(options),
    "checks": lambda options, pins: checks.run(options),
}


def _chapters(wanted: list[str], version: Standard) -> tuple[str, ...]:
    chosen: list[str] = []
    for beginning in wanted:
        found = [each for each in version.chapters if each.startswith(beginning.replace("_", " "))]
        if beginning in found:  # linalg, and not what begins so as well
            found = [beginning]
        if not found:
            raise CannotRunError(
                f"version {version.version} of the standard has no chapter {beginning!r}; choose"
                f" from {', '.join(version.chapters)}"
            )
        chosen += found
    return tuple(dict.fromkeys(chosen))


def _select(runs: list[Record], names: list[str]) -> list[Record]:
    there = [record["module"]["name"] for record in runs]
    for name in names:
        if name not in there:
            raise CannotRunError(f"the results have no run of {name}; they have {', '.join(there)}")
    return [record for record in runs if not names or record["module"]["name"] in names]


def _check_outputs(options: argparse.Namespace, count: int) -> None:
    if options.badge is not None and count > 1:
        raise CannotRunError(
            f"--badge is for one namespace, there are {count}; use `report --module NAME --badge`"
        )
    for name in ("json", *_REPORTS):
        path: Path | None = getattr(options, name, None)
        if path is not None:
            check_writable(f"--{name}", path)
    if getattr(options, "repro", None) is not None:
        make_folder("--repro", options.repro)


def _write_outputs(options: argparse.Namespace, runs: list[Record]) -> None:
    if getattr(options, "json", None) is not None:
        records.write(options.json, runs)
    if options.html is not None:
        write("--html", options.html, page.render(runs))
    if options.markdown is not None:
        write("--markdown", options.markdown, markdown.render(runs) + "\n")
    if options.badge is not None:
        write("--badge", options.badge, badge.render(runs[0]))
    if getattr(options, "repro", None) is not None:
        for name, script in scripts.scripts(runs).items():
            write("--repro", options.repro / name, script)
