"""Single calls, small and large: ratios of running times; below 1 is faster than NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import geometric_mean, median
from timeit import Timer
from typing import Any

import numpy as np

from . import cases
from .peers import Peer
from .timing import in_turns, ratio

Ratios = dict[str, dict[str, float]]
"""Of each statement, by peer."""


def small(peers: list[Peer], turns: int) -> dict[str, Ratios]:
    """Calls on 12 elements."""
    values = _values((3, 4))
    titles = {
        "computing": ("Small calls that compute (12 elements)", cases.COMPUTING),
        "writing": ("Small calls that select with arrays, or write (12 elements)", cases.WRITING),
        "moving": ("Small calls that move and index (12 elements)", cases.MOVING),
    }
    return {
        key: _table(title, statements, peers, values, turns, 0.004)
        for key, (title, statements) in titles.items()
    }


def large(peers: list[Peer], turns: int) -> dict[str, Ratios]:
    """Calls on 10 million elements, by NumPy and array_api_nx only."""
    title = "Large arrays (10 million elements)"
    values = _values((2500, 4000))
    return {"large": _table(title, cases.LARGE, peers[:2], values, turns, 0.0, finish=True)}


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
    finish: bool = False,
) -> Ratios:
    """Time `statements` on all peers, print and return the ratios to the first.

    With `finish` a call ends when its result is computed, which array_api_nx puts off else.
    """
    spaces = [
        {
            "xp": peer.xp,
            "finish": peer.finish,
            **{key: peer.asarray(x) for key, x in values.items()},
        }
        for peer in peers
    ]
    print(f"\n{title}\n\n{'':36}{peers[0].name + ', us':>12}", end="")
    print("".join([f"{peer.name:>9}" for peer in peers[1:]]))
    ratios: Ratios = {}
    for statement in statements:
        timed = statement
        if finish:
            timed = f"{statement}; finish(d)" if "+=" in statement else f"finish({statement})"
        timers = [Timer(timed, "d = target", globals=space) for space in spaces]
        times = in_turns(timers, turns, seconds)
        base = times[0]
        assert base is not None
        row = {
            peer.name: ratio(own, base)
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


def _cell(value: float | None) -> str:
    return f"{'cannot':>9}" if value is None else f"{value:9.2f}"
