"""``python -m benchmarks [small] [large]``: ratios of running times against NumPy.

All peers are timed in one run, in turns, and the median of the turns counts: a machine that is
disturbed for a while disturbs all of them. Figures are ratios; below 1 is faster than NumPy.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from statistics import geometric_mean, median
from timeit import Timer
from typing import Any

import numpy as np

from . import cases
from .peers import Peer, installed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks named; all without a name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("which", nargs="*", choices=[[], "small", "large"], help="default: all")
    parser.add_argument("--turns", type=int, default=15, help="turns per case (default: 15)")
    parser.add_argument("--json", help="also write the figures to this file")
    options = parser.parse_args(arguments)
    peers = installed()
    print(f"# {platform.machine()}, Python {platform.python_version()}, {', '.join(_names(peers))}")
    figures: dict[str, Any] = {}
    if not options.which or "small" in options.which:
        values = _values((3, 4))
        title = "Small calls that compute (12 elements)"
        figures["computing"] = _table(title, cases.COMPUTING, peers, values, options.turns, 0.004)
        title = "Small calls that select with arrays, or write (12 elements)"
        figures["writing"] = _table(title, cases.WRITING, peers, values, options.turns, 0.004)
        title = "Small calls that move and index (12 elements)"
        figures["moving"] = _table(title, cases.MOVING, peers, values, options.turns, 0.004)
    if not options.which or "large" in options.which:
        title = "Large arrays (10 million elements)"
        values = _values((2500, 4000))
        figures["large"] = _table(title, cases.LARGE, peers[:2], values, options.turns, 0.0)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"peers": _names(peers), "ratios": figures}, file, indent=2)
    return 0


def _names(peers: list[Peer]) -> list[str]:
    return [f"{peer.name} {peer.version}" for peer in peers]


def _values(shape: tuple[int, int]) -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    a, b = rng.random(shape), rng.random(shape) + 0.1
    return {
        "a": a,
        "b": b,
        "c": rng.random((shape[1], 3)),
        "target": a.copy(),
        "e": a[None],
        "i": np.asarray([0, 2]),
        "mask": a > 0.5,
    }


def _table(
    title: str,
    statements: Sequence[str],
    peers: list[Peer],
    values: dict[str, np.ndarray[Any, Any]],
    turns: int,
    seconds: float,
) -> dict[str, dict[str, float]]:
    """Time `statements` on all peers, print and return the ratios to the first."""
    spaces = [
        {"xp": peer.xp, **{key: peer.asarray(x) for key, x in values.items()}} for peer in peers
    ]
    print(f"\n{title}\n\n{'':36}{peers[0].name + ', us':>12}", end="")
    print("".join([f"{peer.name:>9}" for peer in peers[1:]]))
    ratios: dict[str, dict[str, float]] = {}
    for statement in statements:
        times = _time([Timer(statement, "d = target", globals=s) for s in spaces], turns, seconds)
        # Ratios are taken within a turn, so that both sides saw the same machine.
        row = {
            peer.name: median([t / base for t, base in zip(own, times[0], strict=True)])
            for peer, own in zip(peers[1:], times[1:], strict=True)
        }
        ratios[statement] = row
        print(f"{statement:36}{median(times[0]) * 1e6:12.2f}", end="")
        print("".join([f"{ratio:9.2f}" for ratio in row.values()]), flush=True)
    print(f"{'geometric mean':36}{'':12}", end="")
    means = [geometric_mean([row[peer.name] for row in ratios.values()]) for peer in peers[1:]]
    print("".join([f"{mean:9.2f}" for mean in means]))
    return ratios


def _time(timers: list[Timer], turns: int, seconds: float) -> list[list[float]]:
    """Seconds per call of each timer in each turn, which lasts about `seconds`."""
    numbers = [max(1, int(seconds / max(timer.timeit(1), 1e-7))) for timer in timers]
    numbers = [
        max(1, int(seconds * number / max(timer.timeit(number), 1e-7)))
        for timer, number in zip(timers, numbers, strict=True)
    ]
    times: list[list[float]] = [[] for _ in timers]
    for _ in range(turns):
        for own, timer, number in zip(times, timers, numbers, strict=True):
            own.append(timer.timeit(number) / number)
    return times


if __name__ == "__main__":
    sys.exit(main())
