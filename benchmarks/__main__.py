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
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import calls
from .peers import Peer, installed

GROUPS = ("small", "large", "fused", "compiled", "scipy")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks named; all without a name."""
    options = _parser().parse_args(arguments)
    groups = options.which or GROUPS
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
        Path(options.json).write_text(json.dumps(figures, indent=1, allow_nan=False) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("which", nargs="*", choices=[[], *GROUPS], help="default: all")
    parser.add_argument("--turns", type=int, default=15, help="turns per case (default: 15)")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to this file")
    fused = parser.add_argument_group("fused, compiled")
    sizes = "default: 1e3,1e5,8e6; compiled: 1e3,1e6; scipy: 4e6"
    fused.add_argument("--sizes", type=_sizes, help=sizes)
    fused.add_argument("--dtypes", type=_words, help="default: float64,float32")
    fused.add_argument("--peers", type=_words, default=[], help="default: all that are installed")
    fused.add_argument("--case", default="", help="only cases whose names contain this")
    fused.add_argument("--no-memory", action="store_true", help="skip the peaks of memory")
    fused.add_argument("--plot", metavar="FILE", help="draw the largest size: .svg or .png")
    return parser


def _sizes(text: str) -> list[int]:
    return [int(float(word)) for word in text.split(",")]


def _words(text: str) -> list[str]:
    return text.split(",")


def _names(peers: list[Peer]) -> list[str]:
    return [f"{peer.name} {peer.version}" for peer in peers]


def _fused(options: argparse.Namespace) -> dict[str, Any]:
    from .fused import command

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

        plot(figures, options.plot)
    return figures


def _compiled(options: argparse.Namespace) -> dict[str, Any]:
    from .fused import command
    from .fused.programs import PROGRAMS

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
        subprocess.run(
            [sys.executable, "-m", module, str(file), str(options.turns), *size],
            cwd=Path(__file__).parents[1],
            env={**os.environ, "SCIPY_ARRAY_API": "1"},
            check=True,
        )
        return json.loads(file.read_text())


if __name__ == "__main__":
    sys.exit(main())
