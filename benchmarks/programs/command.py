"""The table of programs: each with NumPy, and with its import changed; its speed by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, NamedTuple

from .. import against
from ..environment import environment
from ..timing import in_turns, ratio
from ..worker import ROOT, Problem, Worker
from . import npbench, own
from .classes import CLASSES
from .measure import SECONDS, WRONG
from .measure import __name__ as module

PEERS = ("numba",)
"""The other libraries that run programs."""
PATIENCE = 20.0
"""Seconds after which a program gets no further turn."""
SLOW = 0.97
"""Speed below which a program is listed."""
_VARIABLES = (
    *["ARRAY_API_NX_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"],
    *["NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"],
)
_WIDTH = 36


class Case(NamedTuple):
    """A program at one size."""

    label: str
    kind: str
    """Its class."""
    request: tuple[Any, ...]
    """The arguments of `prepare` in the processes."""


class Choice(NamedTuple):
    """The columns of the table, and limits of time."""

    turns: int
    peers: Sequence[str]
    """Without NumPy and array_api_nx, which are always timed."""
    other: Path | None
    """A checkout whose array_api_nx is timed, too."""
    threads: int | None
    limit: float
    """Seconds that a process may take for a program, or a turn of it."""


class _Side(NamedTuple):
    """Who computes in a column."""

    peer: str
    checkout: Path
    """Where array_api_nx is imported from."""


def names(checkout: Path | None) -> Sequence[str]:
    """The programs of a checkout of NPBench, or our own."""
    return npbench.names(checkout) if checkout else own.NAMES


def cases(
    checkout: Path | None, preset: str, sizes: Sequence[int], dtypes: Sequence[str], wanted: str
) -> list[Case]:
    """The programs whose names contain `wanted`."""
    chosen = [name for name in names(checkout) if wanted in name]
    if checkout:
        path = str(checkout.resolve())
        return [
            Case(name, npbench.class_of(name) or "others", ("npbench", path, name, preset))
            for name in chosen
        ]
    return [
        Case(f"{name}, {dtype}, {size:,}", own.class_of(name), ("own", name, dtype, size))
        for name in chosen
        for dtype in dtypes
        for size in sizes
    ]


def run(title: str, chosen: Sequence[Case], choice: Choice) -> dict[str, Any]:
    """Time the programs in turns, print a table by class, and return everything for JSON.

    Each has processes of its own: one that crashes, or that takes too long, is a row of the table.
    """
    sides, versions = _sides(choice)
    columns = [name for name in sides if name != "numpy"]
    print(f"\n{title}: speed relative to NumPy's\n")
    print(f"{'':{_WIDTH}}{'numpy, ms':>12}{''.join([f'{name:>9}' for name in columns])}")
    results: list[dict[str, Any]] = []
    summary: dict[str, Any] = {}
    for kind in dict.fromkeys([*CLASSES, *[case.kind for case in chosen]]):
        rows = [case for case in chosen if case.kind == kind]
        if not rows:
            continue
        print(f"\n{kind}", flush=True)
        measured = [_measured(case, sides, choice) for case in rows]
        results += measured
        summary[kind] = _summary(measured, columns)
    print("\nall")
    summary["all"] = _summary(results, columns)
    _print_slow(results)
    figures = environment(choice.turns, versions)
    return {**figures, "threads": choice.threads, "results": results, "summary": summary}


def _sides(choice: Choice) -> tuple[dict[str, _Side], dict[str, str]]:
    """The columns, without the peers that are not installed, and their versions."""
    wanted = {"numpy": _Side("numpy", ROOT), "nx": _Side("nx", ROOT)}
    if choice.other:
        wanted["other"] = _Side("nx", choice.other)
    wanted |= {peer: _Side(peer, ROOT) for peer in choice.peers}
    sides, versions = {}, {}
    for name, side in wanted.items():
        try:
            with _worker(side, choice) as worker:
                if choice.other and side.peer == "nx":
                    against.check(worker, side.checkout)
                sides[name], versions[name] = side, worker.version
        except Problem as problem:
            if side.peer in ("numpy", "nx"):
                raise
            print(f"# {name} is not installed: {problem}")
    print("# " + ", ".join([f"{name} {version}" for name, version in versions.items()]))
    return sides, versions


def _worker(side: _Side, choice: Choice) -> Worker:
    threads = dict.fromkeys(_VARIABLES, str(choice.threads)) if choice.threads else {}
    return Worker(module, side.peer, side.checkout, choice.limit, threads)


def _measured(case: Case, sides: Mapping[str, _Side], choice: Choice) -> dict[str, Any]:
    """The speeds of a program, printed as a row."""
    notes: dict[str, str] = {}
    with ExitStack() as stack:
        workers = {name: stack.enter_context(_worker(side, choice)) for name, side in sides.items()}
        times, problems = in_turns(
            *(workers, case.request, choice.turns, SECONDS, PATIENCE),
            # A process that a program has ended is a problem of this program.
            failures=(Problem, RuntimeError),
        )
        notes = {name: workers[name].ask("note") for name in times}
    result: dict[str, Any] = {"program": case.label, "class": case.kind}
    base = times.get("numpy")
    if base:
        result["numpy_milliseconds"] = median(base.per_call) * 1e3
        others = {name: own.per_call for name, own in times.items() if name != "numpy"}
        result["speed"] = {name: ratio(base.per_call, own) for name, own in others.items()}
        fastest = min(base.per_call)
        result["fastest_speed"] = {name: fastest / min(own) for name, own in others.items()}
    result |= {"difference": notes, "problems": problems}
    _print(result, [name for name in sides if name != "numpy"])
    return result


def _print(result: dict[str, Any], columns: Sequence[str]) -> None:
    speed, problems = result.get("speed", {}), result["problems"]
    cells = []
    for name in columns:
        failure = "wrong" if problems.get(name, "").startswith(WRONG) else "cannot"
        cells.append(_cell(speed.get(name), failure))
    base = result.get("numpy_milliseconds")
    first = f"{base:12.3f}" if base else f"{'cannot':>12}"
    remarks = [result["difference"].get("nx", "")]
    remarks += [f"{name}: {problem}" for name, problem in problems.items()]
    text = "; ".join([remark for remark in remarks if remark])
    print(f"{result['program']:{_WIDTH}}{first}{''.join(cells)}  {text:.100}", flush=True)


def _summary(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> dict[str, Any]:
    """Figures over several programs, by column; prints them."""
    summary: dict[str, dict[str, Any]] = {}
    for name in columns:
        speeds = _speeds(rows, name).values()
        fastest = _speeds(rows, name, "fastest_speed").values()
        summary[name] = {
            "geometric_mean": geometric_mean(speeds) if speeds else None,
            # It holds if the machine was disturbed in many turns.
            "of_fastest_turns": geometric_mean(fastest) if fastest else None,
            "worst": min(speeds, default=None),
            "run": len(speeds),
            "of": len(rows),
        }
    for title, key in (
        ("geometric mean", "geometric_mean"),
        ("the same of the fastest turns", "of_fastest_turns"),
        ("worst", "worst"),
    ):
        cells = [_cell(column[key], "-") for column in summary.values()]
        print(f"{title:{_WIDTH + 12}}{''.join(cells)}")
    counts = [f"{column['run']}/{column['of']}" for column in summary.values()]
    print(f"{'run and agree':{_WIDTH + 12}}{''.join([f'{x:>9}' for x in counts])}", flush=True)
    return summary


def _print_slow(results: Sequence[dict[str, Any]]) -> None:
    slow = {name: speed for name, speed in _speeds(results, "nx").items() if speed < SLOW}
    print(f"\n{len(slow)} programs run at less than {SLOW} of NumPy's speed")
    for name in sorted(slow, key=slow.__getitem__):
        print(f"  {name:{_WIDTH + 10}}{slow[name]:9.2f}")


def _speeds(rows: Sequence[dict[str, Any]], name: str, of: str = "speed") -> dict[str, float]:
    return {row["program"]: row[of][name] for row in rows if name in row.get(of, {})}


def _cell(speed: float | None, without: str) -> str:
    return f"{without:>9}" if speed is None else f"{speed:9.2f}"
