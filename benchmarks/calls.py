"""Single calls, small and large: ratios of running times; below 1 is faster than NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from statistics import geometric_mean, median
from timeit import Timer
from typing import Any

import numpy as np

from . import cases, peers
from .environment import environment
from .timing import in_turns, ratio
from .worker import Prepared, Service, Worker, workers

Ratios = dict[str, dict[str, float]]
"""Of each statement, by peer."""

SHAPES = {"small": (3, 4), "large": (2500, 4000)}
SECONDS = {"small": 0.004, "large": 0.0}
"""The least duration of a turn."""

TABLES: dict[str, dict[str, Sequence[str]]] = {
    "small": {
        "Small calls that compute (12 elements)": cases.COMPUTING,
        "Small calls that select with arrays, or write (12 elements)": cases.WRITING,
        "Small calls that move and index (12 elements)": cases.MOVING,
    },
    "large": {"Large arrays (10 million elements)": cases.LARGE},
}
STATEMENTS = {
    group: [statement for table in tables.values() for statement in table]
    for group, tables in TABLES.items()
}
PEERS = {"small": peers.NAMES, "large": peers.NAMES[:2]}


def connect(name: str) -> Service:
    """Serve the namespace `name` in this process; a case is a group and a statement."""
    peer = peers.load(name)
    return Service(peer.version, partial(_prepare, peer))


def run(group: str, turns: int, wanted: str = "") -> dict[str, Any]:
    """Time the statements of `group` that contain `wanted`, print and return the ratios."""
    with workers(__name__, PEERS[group]) as found:
        figures = environment(turns, {name: worker.version for name, worker in found.items()})
        figures["ratios"] = {}
        for title, statements in TABLES[group].items():
            chosen = [statement for statement in statements if wanted in statement]
            if chosen:
                figures["ratios"] |= _table(group, title, chosen, found, turns)
    return figures


def _prepare(peer: peers.Peer, group: str, statement: str) -> Prepared:
    # Large results end when they are computed, which array_api_nx puts off else.
    if group == "large":
        statement = f"{statement}; finish(d)" if "+=" in statement else f"finish({statement})"
    return Prepared(Timer(statement, "d = target", globals=_variables(peer, group)))


@lru_cache(maxsize=1)
def _variables(peer: peers.Peer, group: str) -> dict[str, Any]:
    shape = SHAPES[group]
    rng = np.random.default_rng(0)
    a, b = rng.random(shape), rng.random(shape) + 0.1
    values = {
        "a": a,
        "b": b,
        "c": rng.random((shape[1], 3)),
        "target": a.copy(),
        "e": a[None],
        "i": np.asarray([0, 2]),
        "mask": a > 0.5,
    }
    arrays = {key: peer.asarray(x) for key, x in values.items()}
    return {"xp": peer.xp, "finish": peer.finish, **arrays}


def _table(
    group: str,
    title: str,
    statements: Sequence[str],
    found: Mapping[str, Worker],
    turns: int,
) -> Ratios:
    base, *others = found
    print(f"\n{title}\n\n{'':36}{base + ', us':>12}", end="")
    print("".join([f"{peer:>9}" for peer in others]))
    ratios: Ratios = {}
    for statement in statements:
        times, _ = in_turns(found, (group, statement), turns, SECONDS[group])
        own = times[base].per_call
        row = {peer: ratio(times[peer].per_call, own) for peer in others if peer in times}
        ratios[statement] = row
        print(f"{statement:36}{median(own) * 1e6:12.2f}", end="")
        print("".join([_cell(row.get(peer)) for peer in others]), flush=True)
    print(f"{'geometric mean':36}{'':12}", end="")
    for peer in others:
        column = [row[peer] for row in ratios.values() if peer in row]
        print(_cell(geometric_mean(column) if column else None), end="")
    print()
    return ratios


def _cell(value: float | None) -> str:
    return f"{'cannot':>9}" if value is None else f"{value:9.2f}"
