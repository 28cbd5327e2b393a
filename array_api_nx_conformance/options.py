"""The command line's options."""

from __future__ import annotations

import argparse
import os
import random
import sys
from pathlib import Path

from . import suite
from .beyond.command import CHAPTERS
from .clients.packages import CLIENTS
from .clients.runner import RENAMED
from .table.implementations import IMPLEMENTATIONS

_MAX_WORKERS = 1000  # each is a process that imports the namespace

_STATUS = "Exit status: 0 conforms, 1 does not, 2 nothing could be run, 130 interrupted."


def program() -> str:
    """How the user calls this program."""
    path = Path(sys.argv[0])
    return f"python -m {path.parent.name}" if path.name == "__main__.py" else path.name


def gate_parser() -> argparse.ArgumentParser:
    """The options without a sub-command."""
    parser = argparse.ArgumentParser(
        prog=program(),
        description="Run the official Array API test suite against array_api_nx, or another"
        " namespace, and excuse nothing.",
        epilog=f"{_STATUS} Sub-commands, each with a --help of its own: run (judges any namespaces,"
        " function by function), report (HTML, Markdown, badge), compare (two results), known"
        " (lists of known failures), table (who implements what), clients (runs the tests of SciPy"
        " and scikit-learn, and calls of other packages), support (what these do with a namespace's"
        " arrays, function by function), checks (judges what the suite does not).",
    )
    _add_module(parser)
    parser.add_argument(
        "--locate", action="store_true", help="print where the suite is, and run nothing"
    )
    _add_suite(parser)
    _add_effort(parser)
    _add_output(parser)
    return parser


def parser() -> argparse.ArgumentParser:
    """The sub-commands."""
    top = argparse.ArgumentParser(prog=program())
    commands = top.add_subparsers(dest="command", required=True)
    _add_run(commands.add_parser("run", help="judge namespaces", epilog=_STATUS))
    _add_report(commands.add_parser("report", help="make HTML, Markdown or a badge of results"))
    _add_compare(
        commands.add_parser(
            "compare",
            help="print regressions and fixes",
            epilog="Exit status: 0 no regressions, 1 regressions, 2 the files, or some of the tests"
            " that differ, cannot be compared.",
        )
    )
    _add_known(
        commands.add_parser(
            "known",
            help="make a list of known failures from results",
            epilog="Exit status: 0 the list is up to date, 1 entries of --keep are stale,"
            " 2 a file cannot be read.",
        )
    )
    _add_table(
        commands.add_parser(
            "table",
            help="make the tables of who implements what",
            epilog="Exit status: 0 all were judged, 2 some could not be, or not yet,"
            " 130 interrupted.",
        )
    )
    _add_clients(
        commands.add_parser(
            "clients",
            help="run the tests of SciPy and scikit-learn, and calls of others, on a namespace",
            epilog="Exit status: 0 no failures but explained ones, 1 others, 2 nothing could be"
            " run, 130 interrupted.",
        )
    )
    _add_support(
        commands.add_parser(
            "support",
            help="make the table of what SciPy and scikit-learn do with a namespace's arrays",
            epilog="Exit status: 0 made, or the page of --check says the same, 1 it says otherwise,"
            " 2 nothing could be run.",
        )
    )
    _add_checks(
        commands.add_parser(
            "checks",
            help="judge what the official suite does not: accuracy, copies, DLPack, python -O",
            epilog="Exit status: 0 nothing fails, 1 something does, 2 nothing could be run,"
            " 130 interrupted.",
        )
    )
    return top


def _add_run(run: argparse.ArgumentParser) -> None:
    run.description = "Judge array namespaces by the official Array API test suite."
    run.add_argument(
        "--module",
        action="append",
        required=True,
        metavar="NAME[,NAME]",
        help="namespace to judge; several one after the other (repeat, or separate by commas)",
    )
    run.add_argument(
        "--standard",
        "--version",
        dest="version",
        default="",
        metavar="VERSION",
        help="of the standard: YYYY.MM, or draft (the one that the namespace declares)",
    )
    run.add_argument(
        "--chapters",
        nargs="+",
        default=[],
        metavar="CHAPTER",
        help="of the standard, or the beginnings of their names (linalg, elementwise, 'array')",
    )
    run.add_argument(
        "--budget",
        type=_seconds,
        default=0.0,
        metavar="SECONDS",
        help="for each namespace; what has run by then is reported (no limit)",
    )
    run.add_argument(
        "--device",
        default="",
        metavar="NAME",
        help="default device, for array_api_nx and namespaces with a set_default_device()",
    )
    run.add_argument(
        "--known",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="lists of known failures (xfails): run without shrinking, and excused",
    )
    run.add_argument(
        "--skips",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="lists of tests to leave out",
    )
    run.add_argument(
        "--repro", type=Path, metavar="DIR", help="write a stand-alone script per failure there"
    )
    _add_suite(run)
    _add_effort(run)
    _add_output(run)
    _add_reports(run)


def _add_report(report: argparse.ArgumentParser) -> None:
    report.description = "Make a report of results; Markdown on the terminal if no file is named."
    report.add_argument("results", nargs="+", type=Path, metavar="RESULTS.json")
    report.add_argument(
        "--module", action="append", default=[], metavar="NAME", help="only these of the results"
    )
    _add_reports(report)


def _add_compare(compare: argparse.ArgumentParser) -> None:
    compare.description = (
        "Print what became worse and what became better. Where the runs had unequal seeds, numbers"
        " of examples or versions, differences that may be due to that are named apart: they are"
        " not comparable."
    )
    compare.add_argument("old", type=Path, metavar="OLD.json")
    compare.add_argument("new", type=Path, metavar="NEW.json")


def _add_known(known: argparse.ArgumentParser) -> None:
    known.description = (
        "Make a list of the failures in results, with a reason for each; the suite and"
        " `run --known` read it."
    )
    known.add_argument("results", type=Path, metavar="RESULTS.json")
    known.add_argument("--module", metavar="NAME", help="which of several runs in the results")
    known.add_argument(
        "--keep",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="earlier lists: their reasons are kept, their stale entries named and dropped",
    )
    known.add_argument("--output", type=Path, metavar="FILE", help="write the list there")


def _add_table(table: argparse.ArgumentParser) -> None:
    table.description = (
        "Judge the namespaces that are installed, function by function, and make the tables of who"
        " implements what: Markdown on the terminal if no file is named. Results are kept as they"
        " come: a run that was stopped goes on when the command is given again."
    )
    table.add_argument(
        "given",
        nargs="*",
        type=Path,
        metavar="RESULTS.json",
        help="make the tables of these results, and run nothing",
    )
    names = ", ".join(each.name for each in IMPLEMENTATIONS)
    table.add_argument(
        "--module",
        action="append",
        default=[],
        metavar="NAME",
        help=f"namespace to judge; repeat for several ({names}: those that are installed)",
    )
    table.add_argument(
        "--standard",
        dest="version",
        default="",
        metavar="VERSION",
        help="of the standard, for all: YYYY.MM, or draft (the one that each declares)",
    )
    table.add_argument(
        "--results",
        type=Path,
        default=suite.cache_folder() / "results",
        metavar="DIR",
        help="where results are kept, by namespace and version (%(default)s)",
    )
    table.add_argument(
        "--again",
        action="append",
        default=[],
        metavar="NAME",
        help="judge this namespace anew, or all: of results that are there, the version counts",
    )
    table.add_argument(
        "--budget",
        type=_seconds,
        default=0.0,
        metavar="SECONDS",
        help="for this call; the next one goes on (no limit)",
    )
    _add_suite(table)
    _add_examples(table)
    _add_processes(table)
    _add_output(table)
    table.add_argument("--markdown", type=Path, metavar="FILE", help="write Markdown there")
    table.add_argument("--html", type=Path, metavar="FILE", help="write one page there")


def _add_clients(clients: argparse.ArgumentParser) -> None:
    clients.description = (
        "Run the tests that SciPy and scikit-learn ship, and calls of array-api-extra's functions"
        " and of other consumers (pip install '.[consumers]' in the checkout; those that are not"
        " installed are skipped), on a namespace that they do not know. The installed packages are"
        " not touched."
    )
    _add_module(clients)
    clients.add_argument(
        "--beside",
        action="append",
        default=[],
        metavar="NAME",
        help="another namespace to compare with (repeat for several): numpy, array_api_strict, or"
        f" {RENAMED}, which is array_api_strict under a name that no client knows",
    )
    clients.add_argument(
        "--client",
        action="append",
        choices=list(CLIENTS),
        help="(all but numpy, which is for namespaces with NumPy's names; repeat for several)",
    )
    clients.add_argument(
        "--select",
        nargs="+",
        default=[],
        metavar="TEST",
        help="submodules (scipy.stats) or test ids (scipy/stats/tests/test_stats.py::TestMode)",
    )
    _add_processes(clients)
    _add_output(clients)
    clients.add_argument("--markdown", type=Path, metavar="FILE", help="write a page there")
    clients.add_argument(
        "--results", type=Path, metavar="FILE", help="run nothing, and report these results (JSON)"
    )


def _add_support(support: argparse.ArgumentParser) -> None:
    support.description = (
        "Call every public function of SciPy and scikit-learn that takes arrays, and every"
        " estimator, with a namespace's arrays, and say what comes back."
    )
    _add_module(support)
    support.add_argument(
        "--device",
        default="torch:cpu",
        metavar="NAME",
        help="another than the default device, which arrays are put on, too (%(default)s)",
    )
    support.add_argument(
        "--workers",
        type=_worker_count,
        default=_cores(),
        metavar="N",
        help="processes (one per core: %(default)s)",
    )
    support.add_argument(
        "--speed", action="store_true", help="measure, too, how fast it is beside NumPy's arrays"
    )
    support.add_argument("--markdown", type=Path, metavar="FILE", help="write the page there")
    support.add_argument(
        "--check", type=Path, metavar="FILE", help="compare with this page, but for speeds"
    )


def _add_checks(checks: argparse.ArgumentParser) -> None:
    checks.description = (
        "Judge what the official suite does not. The accuracy of results needs mpmath:"
        " pip install mpmath."
    )
    checks.add_argument(
        "--module",
        action="append",
        required=True,
        metavar="NAME[,NAME]",
        help="namespace to judge; several one after the other (repeat, or separate by commas)",
    )
    checks.add_argument(
        "--chapter", action="append", choices=CHAPTERS, help="(all; repeat for several)"
    )
    checks.add_argument(
        "--select", nargs="+", default=[], metavar="FUNCTION", help="only these functions (all)"
    )
    checks.add_argument(
        "--device",
        default="",
        metavar="NAME",
        help="default device, for namespaces with a set_default_device()",
    )
    checks.add_argument(
        "--points",
        type=_at_least_one,
        default=200,
        metavar="N",
        help="about how many arguments for each function and dtype (%(default)s)",
    )
    checks.add_argument(
        "--seed", type=_seed, default=0, metavar="N", help="of the arguments (%(default)s)"
    )
    checks.add_argument(
        "--time-limit",
        type=_seconds,
        default=1800.0,
        metavar="SECONDS",
        help="per namespace and chapter; 0: no limit (%(default)g)",
    )
    _add_output(checks)
    checks.add_argument("--markdown", type=Path, metavar="FILE", help="write a page there")


def _add_module(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--module", default="array_api_nx", help="namespace to judge (%(default)s)")


def _add_suite(parser: argparse.ArgumentParser) -> None:
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


def _add_effort(parser: argparse.ArgumentParser) -> None:
    _add_examples(parser)
    parser.add_argument(
        "--select",
        nargs="+",
        default=[],
        metavar="TEST",
        help="files (test_fft.py), test ids (test_fft.py::test_fft), or expressions (linalg)",
    )
    _add_processes(parser)


def _add_examples(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-examples",
        type=_at_least_one,
        default=200,
        metavar="N",
        help="per test; verdicts that rest on fewer than 200 are provisional (%(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=_seed,
        default=1,
        metavar="N",
        help="for Hypothesis; 'random' for another one each run (%(default)s: runs are compared"
        " with the same)",
    )


def _add_processes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers",
        type=_worker_count,
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


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")


def _add_reports(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--html", type=Path, metavar="FILE", help="write one page there")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write Markdown there")
    parser.add_argument("--badge", type=Path, metavar="FILE", help="write an SVG there")


def _cores() -> int:
    # The cores that this process may use can be fewer than the machine has.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _at_least_one(text: str) -> int:
    return _whole(text, 1)


def _worker_count(text: str) -> int:
    return _whole(text, 1, _MAX_WORKERS)


def _seed(text: str) -> int:
    return random.randrange(2**32) if text == "random" else _whole(text, 0)


def _whole(text: str, least: int, most: int | None = None) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least or (most is not None and number > most):
        legal = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number {legal}")
    return number


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds; 0 means no limit")
    return number
