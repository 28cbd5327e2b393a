"""One interleaved run: every case, dtype and size, all peers in turns."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from timeit import Timer
from typing import Any, NamedTuple

import numpy as np

from ..timing import PAUSE, in_turns, ratio
from .cases import Case, inputs
from .peers import Peer

SECONDS = 0.003
"""What a turn lasts at least: short calls are repeated."""

TOLERANCE = {"float64": 1e-9, "float32": 1e-3}
"""How far results may lie from NumPy's: sums of millions differ by their order."""


class Result(NamedTuple):
    """What one case gave at one size and dtype; keys are peers' names, left out if they cannot."""

    case: str
    dtype: str
    elements: int
    milliseconds: dict[str, float]
    """Median time of a call."""
    fastest_milliseconds: dict[str, float]
    speed: dict[str, float]
    """Relative to NumPy's: 2 takes half its time."""
    first_milliseconds: dict[str, float]
    """The first call, with all compilation and preparation."""


def measure(case: Case, dtype: str, elements: int, peers: Sequence[Peer], turns: int) -> Result:
    """Time `case` on all peers, after checking that each agrees with the first, NumPy."""
    arrays = inputs(case, elements, dtype)
    expected = case.function(np, *arrays)
    calls: dict[str, Callable[[], Any]] = {}
    first: dict[str, float] = {}
    for peer in peers:
        start = time.perf_counter()
        try:
            call = peer.prepare(case, arrays)
            result = call and call()
        except Exception as error:  # whatever a peer raises: it cannot
            _note(peer, case, f"{type(error).__name__}: {error}")
            continue
        seconds = time.perf_counter() - start
        if call is None:
            continue
        problem = disagreement(peer.export(result), expected)
        if problem:
            _note(peer, case, problem)
            continue
        calls[peer.name], first[peer.name] = call, seconds * 1e3
    result = None
    timers = [Timer(call) for call in calls.values()]
    timings = in_turns(timers, turns, SECONDS, PAUSE)
    times = {name: own for name, own in zip(calls, timings, strict=True) if own is not None}
    return Result(
        case.name,
        dtype,
        elements,
        {name: median(own) * 1e3 for name, own in times.items()},
        {name: min(own) * 1e3 for name, own in times.items()},
        {name: ratio(times["numpy"], own) for name, own in times.items()},
        first,
    )


def disagreement(result: Any, expected: Any) -> str:
    """What is wrong with `result`; empty if nothing is. A Python number may have any dtype."""
    if isinstance(expected, tuple):
        pairs = zip(result, expected, strict=True)
        return next((problem for pair in pairs if (problem := disagreement(*pair))), "")
    expected = np.asarray(expected)
    if isinstance(result, bool | int | float):
        result = np.asarray(result, dtype=expected.dtype)
    result = np.asarray(result)
    if result.shape != expected.shape:
        return f"shape {result.shape} instead of {expected.shape}"
    if result.dtype != expected.dtype:
        return f"{result.dtype} instead of {expected.dtype}"
    tolerance = TOLERANCE.get(expected.dtype.name, 0)
    if not np.allclose(result, expected, rtol=tolerance, atol=tolerance):
        return "other values than NumPy's"
    return ""


def _note(peer: Peer, case: Case, problem: str) -> None:
    print(f"# {peer.name}, {case.name}: {problem.splitlines()[0]}", file=sys.stderr)
