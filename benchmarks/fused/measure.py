"""Every case, dtype and size, all peers in turns."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping
from statistics import median
from timeit import Timer
from typing import Any, NamedTuple

import numpy as np

from ..timing import in_turns, ratio
from ..worker import Prepared, Problem, Service, Worker
from .cases import CASES, Case, inputs
from .memory import extra_memory
from .peers import Peer, load
from .programs import PROGRAMS

_CASES = {case.name: case for case in (*CASES, *PROGRAMS)}

SECONDS = 0.003
"""The least duration of a turn: short calls are repeated."""

TOLERANCE = {"float64": 1e-9, "float32": 1e-3}
"""How far results may lie from NumPy's: sums of millions differ by their order."""


class Result(NamedTuple):
    """The times of one case at one size and dtype, by peer; peers that cannot are left out."""

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


def connect(name: str) -> Service:
    """Serve the peer `name` in this process; a case is a name, a dtype and a number of elements."""
    # Messages of a peer about its compilation belong to none of the tables.
    warnings.simplefilter("ignore")
    peer = load(name)

    def ready(case: str, dtype: str, elements: int) -> Prepared:
        return prepare(peer, _CASES[case], dtype, elements)

    def memory(case: str, dtype: str, elements: int) -> float | None:
        return extra_memory(peer, _CASES[case], dtype, elements)

    return Service(peer.version, ready, memory)


def prepare(peer: Peer, case: Case, dtype: str, elements: int) -> Prepared:
    """Make `case` ready to be timed. Raises `Problem` if the result is not NumPy's."""
    arrays = inputs(case, elements, dtype)
    expected = case.function(np, *arrays)
    start = time.perf_counter()
    call = peer.prepare(case, arrays)
    if call is None:
        raise Problem
    result = call()
    seconds = time.perf_counter() - start
    problem = disagreement(peer.export(result), expected)
    if problem:
        raise Problem(problem)
    return Prepared(Timer(call), seconds)


def measure(
    case: Case, dtype: str, elements: int, workers: Mapping[str, Worker], turns: int
) -> Result:
    """Time `case` on all peers that agree with NumPy; say why the others do not count."""
    request = (case.name, dtype, elements)
    times, problems = in_turns(workers, request, turns, SECONDS)
    for name, problem in problems.items():
        if problem:
            print(f"# {name}, {case.name}: {problem}", file=sys.stderr)
    calls = {name: own.per_call for name, own in times.items()}
    return Result(
        case.name,
        dtype,
        elements,
        {name: median(own) * 1e3 for name, own in calls.items()},
        {name: min(own) * 1e3 for name, own in calls.items()},
        {name: ratio(calls["numpy"], own) for name, own in calls.items()},
        {name: own.first * 1e3 for name, own in times.items()},
    )


def disagreement(result: Any, expected: Any) -> str:
    """The fault of `result`; empty if there is none. A Python number may have any dtype."""
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
