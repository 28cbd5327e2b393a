"""``python -m benchmarks [group ...]``: times against NumPy's.

Each peer runs in a process of its own, with NumPy and nothing else. All are timed in turns, one
process after the other while the rest sleep, and the median of the turns counts: a machine that is
disturbed for a while disturbs all of them, and no peer's threads take a core from another.

small, large: ratios of the times of single calls; below 1 is faster than NumPy.
fused: speed of expressions relative to NumPy, with numexpr, Numba, blosc2, jax.jit, PyTorch.
compiled: speed of compiled functions relative to NumPy, with jax.jit and torch.compile.
every: times of every function on 12 elements, compiled, relative to the call made eagerly.
scipy: speed of SciPy's functions on our arrays, relative to NumPy arrays.
extra: speed of functions that the standard lacks, under NumPy's names, relative to NumPy.
random: speed of draws of random numbers, relative to NumPy's Generator.
clients: speed of calls of SciPy and scikit-learn on 200,000 rows, relative to NumPy arrays.
programs: speed of programs that are written for NumPy, with their import changed. With --npbench
    PATH they are those of a checkout of NPBench, else small ones of this package. With --against
    PATH, the array_api_nx at PATH has a column of its own.

With --against PATH, the cases of these groups are timed with array_api_nx alone, from this checkout
and from the one at PATH, in turns. Printed are the times in this checkout as multiples of those in
the other, with their quartiles; cases that are slower by more than 3 % are marked. Before it, run
in both checkouts: python setup.py build_ext --inplace
How far equal checkouts differ on a machine, --against . tells.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from . import (
    against,
    calls,
    clients,
    compiled_calls,
    extra_functions,
    functions,
    random_numbers,
    scipy_functions,
)
from .environment import headline
from .fused import command, measure
from .fused.cases import CASES
from .fused.peers import NAMES
from .fused.programs import PROGRAMS
from .programs import command as programs
from .programs import npbench, own

CASE_NAMES = {
    "small": calls.STATEMENTS["small"],
    "large": calls.STATEMENTS["large"],
    "fused": [case.name for case in CASES],
    "compiled": [case.name for case in PROGRAMS],
    "every": compiled_calls.STATEMENTS,
    "scipy": scipy_functions.CASE_NAMES,
    "extra": extra_functions.CASE_NAMES,
    "random": random_numbers.CASE_NAMES,
    "clients": clients.CASE_NAMES,
    "programs": own.NAMES,
}
SERVED = {
    "scipy": scipy_functions,
    "extra": extra_functions,
    "random": random_numbers,
    "clients": clients,
}
"""The modules of functions that are timed at one size."""
GROUPS = tuple(CASE_NAMES)
SMALLEST, LARGEST = 100, 10**9
"""Elements of an array: fewer make no sense to some cases, and more fit no memory."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks named; all without a name."""
    parser = _parser()
    options = parser.parse_args(arguments)
    groups = _groups(parser, options)
    print(f"# {headline()}")
    figures: dict[str, Any] = {}
    alone = [group for group in groups if not options.against or group == "programs"]
    compared = [_cases_of_ours(group, options) for group in groups if group not in alone]
    try:
        if compared:
            figures["against"] = against.run(compared, options.against, options.turns)
        for group in alone:
            figures[group] = _run(group, options)
    except against.Unsuitable as problem:
        parser.error(f"argument --against: {problem}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1, allow_nan=False) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    groups = ", ".join(GROUPS)
    parser.add_argument("which", nargs="*", type=_group, help=f"of {groups} (default: all)")
    parser.add_argument("--turns", type=_turns, default=15, help="turns per case (default: 15)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser.add_argument(
        "--case", "--only", default="", metavar="NAME", help="only cases whose names contain this"
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="PATH",
        help="compare array_api_nx of this checkout with that of the checkout at PATH",
    )
    fused = parser.add_argument_group("fused, compiled, scipy, extra, random, clients, programs")
    sizes = (
        "default: 1e3,1e5,8e6; compiled: 1e3,1e6; clients: 2e5; programs: 2e3,5e4,1e6; others: 4e6"
    )
    fused.add_argument("--sizes", type=_sizes, help=sizes)
    fused.add_argument("--dtypes", type=_dtypes, help="default: float64,float32")
    fused.add_argument("--peers", type=_peers, default=[], help="default: all that are installed")
    fused.add_argument("--no-memory", action="store_true", help="skip the peaks of memory")
    fused.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw the largest size: .svg or .png"
    )
    programs = parser.add_argument_group("programs")
    programs.add_argument(
        "--npbench", type=Path, metavar="PATH", help="a checkout of NPBench, whose programs are run"
    )
    programs.add_argument(
        "--preset", choices=npbench.PRESETS, default="S", help="sizes of NPBench's (default: S)"
    )
    programs.add_argument("--threads", type=_threads, help="for each process (default: all cores)")
    programs.add_argument(
        "--limit", type=_turns, default=60, help="seconds for a program, or a turn (default: 60)"
    )
    return parser


def _groups(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[str]:
    """The groups to run. Ends the program where an option cannot be obeyed."""
    groups = list(dict.fromkeys(options.which or GROUPS))
    if options.npbench and not npbench.is_checkout(options.npbench):
        parser.error(f"argument --npbench: {options.npbench} is no checkout of NPBench")
    if options.case:
        names = {**CASE_NAMES, "programs": programs.names(options.npbench)}
        known = ", ".join([name for group in groups for name in names[group]])
        groups = [g for g in groups if any([options.case in name for name in names[g]])]
        if not groups:
            parser.error(f"argument --case: no name contains {options.case!r}; they are {known}")
    if options.against:
        if not (options.against / "array_api_nx" / "__init__.py").is_file():
            parser.error(f"argument --against: {options.against} is no checkout of array_api_nx")
        for name in ("peers", "plot"):
            if getattr(options, name) and groups != ["programs"]:
                parser.error(f"argument --{name}: with --against only array_api_nx is timed")
    if options.plot:
        if "fused" not in groups:
            parser.error("argument --plot: it draws the figures of fused; run that as well")
        if options.plot.suffix not in (".svg", ".png"):
            parser.error(f"argument --plot: {options.plot} must end in .svg or .png")
    needed = {
        "scipy": ("scipy", "scipy" in groups),
        "sklearn": ("clients", "clients" in groups),
        "matplotlib": ("--plot", bool(options.plot)),
    }
    for package, (what, needs) in needed.items():
        if needs and find_spec(package) is None:
            parser.error(f"{what} needs {package}; install it, or leave {what} out")
    for name in ("json", "plot"):
        file = getattr(options, name)
        if file and (file.is_dir() or not os.access(file.absolute().parent, os.W_OK)):
            parser.error(f"argument --{name}: {file} cannot be written; name a file in a folder")
    return groups


def _group(text: str) -> str:
    return _known(text, GROUPS, "group")


def _dtypes(text: str) -> list[str]:
    return [_known(word, command.DTYPES, "dtype") for word in text.split(",")]


def _peers(text: str) -> list[str]:
    return [_known(word, NAMES, "peer") for word in text.split(",")]


def _known(word: str, words: Sequence[str], kind: str) -> str:
    if word not in words:
        legal = ", ".join(words)
        raise argparse.ArgumentTypeError(f"{word!r} is no {kind}; choose from {legal}")
    return word


def _turns(text: str) -> int:
    return _whole(text, 1, 10**6)


def _threads(text: str) -> int:
    return _whole(text, 1, 4096)


def _sizes(text: str) -> list[int]:
    return [_whole(word, SMALLEST, LARGEST) for word in text.split(",")]


def _whole(text: str, least: int, most: int) -> int:
    """A whole number, which may be written as 1e6."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (least <= number <= most and number.is_integer()):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no whole number from {least} to {most:.0e}; write it as 1000 or 1e3"
        )
    return int(number)


def _run(group: str, options: argparse.Namespace) -> dict[str, Any]:
    if group == "fused":
        return _fused(options)
    if group == "compiled":
        return _compiled(options)
    if group == "every":
        return compiled_calls.run(options.turns, options.case)
    if group == "programs":
        return _programs(options)
    if group in SERVED:
        figures: dict[str, Any] = SERVED[group].run(
            options.turns, _size(group, options), options.case
        )
        return figures
    return calls.run(group, options.turns, options.case)


def _fused(options: argparse.Namespace) -> dict[str, Any]:
    figures = command.run(
        options.sizes or command.SIZES,
        options.dtypes or command.DTYPES,
        options.turns,
        options.peers,
        options.case,
        not options.no_memory,
    )
    if options.plot:
        from .fused.plot import plot

        plot(figures, str(options.plot))
    return figures


def _compiled(options: argparse.Namespace) -> dict[str, Any]:
    return command.run(
        options.sizes or command.PROGRAM_SIZES,
        options.dtypes or command.DTYPES,
        options.turns,
        options.peers or command.PROGRAM_PEERS,
        options.case,
        False,
        PROGRAMS,
    )


def _programs(options: argparse.Namespace) -> dict[str, Any]:
    sizes, dtypes = options.sizes or own.SIZES, options.dtypes or own.DTYPES
    cases = programs.cases(options.npbench, options.preset, sizes, dtypes, options.case)
    title = f"NPBench, preset {options.preset}" if options.npbench else "Small programs"
    peers = [name for name in options.peers or programs.PEERS if name in programs.PEERS]
    choice = programs.Choice(options.turns, peers, options.against, options.threads, options.limit)
    return programs.run(title, cases, choice)


def _size(group: str, options: argparse.Namespace) -> int:
    """Elements of the arrays of a group in `SERVED`; rows of those of the clients."""
    default = clients.ELEMENTS if group == "clients" else functions.ELEMENTS
    return options.sizes[-1] if options.sizes else default


def _cases_of_ours(group: str, options: argparse.Namespace) -> against.Group:
    """What --against times of a group."""
    names = [name for name in CASE_NAMES[group] if options.case in name]
    if group in SERVED:
        size = _size(group, options)
        cases = [(*name.split(", "), size) for name in names]
        return against.Group(group, SERVED[group].__name__, "nx", 0.0, cases)
    if group == "every":
        own = [(name,) for name in names]
        return against.Group(
            group, compiled_calls.__name__, "nx.compile", compiled_calls.SECONDS, own
        )
    if group in calls.STATEMENTS:
        cases = [(group, name) for name in names]
        return against.Group(group, calls.__name__, "nx", calls.SECONDS[group], cases)
    peer, default = {
        "fused": ("nx", command.SIZES),
        "compiled": ("nx.compile", command.PROGRAM_SIZES),
    }[group]
    cases = [
        (name, dtype, size)
        for size in options.sizes or default
        for dtype in options.dtypes or command.DTYPES
        for name in names
    ]
    return against.Group(group, measure.__name__, peer, measure.SECONDS, cases)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted")
