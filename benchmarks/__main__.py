"""``python -m benchmarks [small] [large] [fused] [compiled] [scipy]``: times against NumPy's.

All peers are timed in one run, in turns, and the median of the turns counts: a machine that is
disturbed for a while disturbs all of them.

small, large: ratios of the times of single calls; below 1 is faster than NumPy.
fused: speed of expressions relative to NumPy, beside numexpr, Numba, blosc2, jax.jit, PyTorch.
compiled: speed of compiled functions relative to NumPy, beside jax.jit and torch.compile.
scipy: speed of SciPy's functions on our arrays, relative to NumPy arrays.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from . import calls
from .fused import command
from .fused.cases import CASES
from .fused.peers import NAMES
from .fused.programs import PROGRAMS
from .peers import Peer, installed

GROUPS = ("small", "large", "fused", "compiled", "scipy")
SMALLEST, LARGEST = 100, 10**9
"""Elements of an array: fewer make no sense to some cases, and more fit no memory."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks named; all without a name."""
    parser = _parser()
    options = parser.parse_args(arguments)
    groups = _groups(parser, options)
    print(f"# {platform.machine()}, Python {platform.python_version()}")
    figures: dict[str, Any] = {}
    if "small" in groups or "large" in groups:
        peers = installed()
        print(f"# {', '.join(_names(peers))}")
        figures["peers"] = _names(peers)
        figures["ratios"] = {}
        if "small" in groups:
            figures["ratios"] |= calls.small(peers, options.turns)
        if "large" in groups:
            figures["ratios"] |= calls.large(peers, options.turns)
    if "fused" in groups:
        figures["fused"] = _fused(options)
    if "compiled" in groups:
        figures["compiled"] = _compiled(options)
    if "scipy" in groups:
        figures["scipy"] = _scipy(options)
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
    fused = parser.add_argument_group("fused, compiled")
    sizes = "default: 1e3,1e5,8e6; compiled: 1e3,1e6; scipy: 4e6"
    fused.add_argument("--sizes", type=_sizes, help=sizes)
    fused.add_argument("--dtypes", type=_dtypes, help="default: float64,float32")
    fused.add_argument("--peers", type=_peers, default=[], help="default: all that are installed")
    fused.add_argument("--case", default="", help="only cases whose names contain this")
    fused.add_argument("--no-memory", action="store_true", help="skip the peaks of memory")
    fused.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw the largest size: .svg or .png"
    )
    return parser


def _groups(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[str]:
    """The groups to run. Ends the program where an option asks for what cannot be done."""
    groups = list(dict.fromkeys(options.which or GROUPS))
    if options.case:
        among = {"fused": CASES, "compiled": PROGRAMS}
        names = {group: [case.name for case in among[group]] for group in groups if group in among}
        without = [g for g, known in names.items() if not any([options.case in x for x in known])]
        if names and len(without) == len(names):
            known = ", ".join([name for each in names.values() for name in each])
            parser.error(f"argument --case: no name contains {options.case!r}; they are {known}")
        groups = [group for group in groups if group not in without]
    if options.plot:
        if "fused" not in groups:
            parser.error("argument --plot: it draws the figures of fused; run that as well")
        if options.plot.suffix not in (".svg", ".png"):
            parser.error(f"argument --plot: {options.plot} must end in .svg or .png")
    needed = {"scipy": "scipy" in groups, "matplotlib": bool(options.plot)}
    for package, needs in needed.items():
        if needs and find_spec(package) is None:
            what = "scipy" if package == "scipy" else "--plot"
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


def _names(peers: list[Peer]) -> list[str]:
    return [f"{peer.name} {peer.version}" for peer in peers]


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


def _scipy(options: argparse.Namespace) -> Any:
    """In a process of its own: SciPy decides at its import whether it takes other arrays."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        size = [str(size) for size in (options.sizes or [])[-1:]]
        module = "benchmarks.scipy_functions"
        done = subprocess.run(
            [sys.executable, "-m", module, str(file), str(options.turns), *size],
            cwd=Path(__file__).parents[1],
            env={**os.environ, "SCIPY_ARRAY_API": "1"},
        )
        if done.returncode:
            sys.exit(done.returncode)  # it has said why
        return json.loads(file.read_text())


if __name__ == "__main__":
    sys.exit(main())
