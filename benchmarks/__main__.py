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
        base = times[0]
        assert base is not None
        # Ratios are taken within a turn, so that both sides saw the same machine.
        row = {
            peer.name: median([t / b for t, b in zip(own, base, strict=True)])
            for peer, own in zip(peers[1:], times[1:], strict=True)
            if own is not None
        }
        ratios[statement] = row
        print(f"{statement:36}{median(base) * 1e6:12.2f}", end="")
        print("".join([_cell(row.get(peer.name)) for peer in peers[1:]]), flush=True)
    print(f"{'geometric mean':36}{'':12}", end="")
    for peer in peers[1:]:
        values_of_peer = [row[peer.name] for row in ratios.values() if peer.name in row]
        print(_cell(geometric_mean(values_of_peer)), end="")
    print()
    return ratios


def _cell(ratio: float | None) -> str:
    return f"{'cannot':>9}" if ratio is None else f"{ratio:9.2f}"


def _time(timers: list[Timer], turns: int, seconds: float) -> list[list[float] | None]:
    """Seconds per call of each timer in each turn, which lasts about `seconds`.

    None for a namespace that cannot do what is timed.
    """
    numbers = [_calls_in(timer, seconds) for timer in timers]
    times: list[list[float] | None] = [None if number is None else [] for number in numbers]
    for _ in range(turns):
        for own, timer, number in zip(times, timers, numbers, strict=True):
            if own is not None and number is not None:
                own.append(timer.timeit(number) / number)
    return times


def _calls_in(timer: Timer, seconds: float) -> int | None:
    """How many calls take about `seconds`; None if one call raises."""
    number = 1
    try:
        for _ in range(2):
            number = max(1, int(seconds * number / max(timer.timeit(number), 1e-7)))
    except Exception:  # whatever a peer raises: it cannot
        return None
    return number


if __name__ == "__main__":
    sys.exit(main())
