"""Times of this checkout and of another one, case by case: before and after a change.

Cases and peers are those of this checkout; array_api_nx comes from each of the two. Several
processes run each checkout, since every process has its memory at other addresses, which alone can
make a case some percent slower or faster in all its turns.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import geometric_mean, median, quantiles
from typing import Any, NamedTuple

from .environment import environment
from .timing import in_turns, ratios
from .worker import BUILD, ROOT, Worker

PAIRS = 3
"""Processes of each checkout."""

SLOWER = 1.03
"""Ratio of times above which a case is flagged."""


class Group(NamedTuple):
    """Cases that the same processes serve."""

    title: str
    module: str
    """Whose `connect` makes the peer ready."""
    peer: str
    seconds: float
    """The least duration of a turn."""
    cases: Sequence[tuple[Any, ...]]


class Unsuitable(Exception):
    """Says why a checkout cannot be compared."""


def run(groups: Sequence[Group], other: Path, turns: int) -> dict[str, Any]:
    """Time all cases in this checkout and in `other`, and print ratios; below 1 this is faster.

    The ratio of a case is the median of the ratios in each turn of each pair of processes. A busy
    machine widens their quartiles; the ratio of the two fastest turns, printed last, is less
    disturbed by it.

    Raises `Unsuitable` for a checkout without array_api_nx, or without its compiled extensions.
    """
    results: list[dict[str, Any]] = []
    print(f"# this checkout: {_revision(ROOT)}; the other: {_revision(other)}")
    for group in groups:
        results += _compare(group, other, turns)
    compared = [result for result in results if "ratio" in result]
    slower = [result for result in compared if result["slower"]]
    print(f"\n{len(slower)} of {len(compared)} cases are slower by more than {SLOWER - 1:.0%}")
    for result in slower:
        print(f"  {result['group'] + ': ' + result['case']:58}{_spread(result)}")
    return {
        **environment(turns, {}),
        "processes": f"{PAIRS} for each checkout; in turns, one computes while the others sleep",
        "revisions": {"this": _revision(ROOT), "other": _revision(other)},
        "results": results,
    }


def _compare(group: Group, other: Path, turns: int) -> list[dict[str, Any]]:
    print(f"\n{group.title}: time in this checkout as a multiple of the other's\n")
    print(f"{'':48}{'other, us':>12}{'ratio':>8}   {'quartiles':14}  fastest")
    results: list[dict[str, Any]] = []
    with ExitStack() as stack:
        workers = {
            (pair, side): stack.enter_context(_start(group, checkout))
            for pair in range(PAIRS)
            for side, checkout in (("this", ROOT), ("other", other))
        }
        for case in group.cases:
            times, problems = in_turns(workers, case, turns, group.seconds)
            label = ", ".join([str(part) for part in case if part != group.title])
            result: dict[str, Any] = {"group": group.title, "case": label}
            results.append(result)
            if problems:
                result["problems"] = {side: text for (_, side), text in problems.items()}
                print(f"{label:48}  {result['problems']}")
                continue
            calls = {key: own.per_call for key, own in times.items()}
            pooled = [
                value
                for pair in range(PAIRS)
                for value in ratios(calls[pair, "this"], calls[pair, "other"])
            ]
            low, middle, high = quantiles(pooled, n=4, method="inclusive")
            this, before = [
                [value for pair in range(PAIRS) for value in calls[pair, side]]
                for side in ("this", "other")
            ]
            result |= {
                "other_milliseconds": median(before) * 1e3,
                "ratio": middle,
                "quartiles": [low, high],
                "fastest_ratio": min(this) / min(before),
                "slower": middle > SLOWER,
            }
            print(f"{label:48}{median(before) * 1e6:12.2f}{_spread(result)}", flush=True)
    means = [result["ratio"] for result in results if "ratio" in result]
    if means:
        print(f"{'geometric mean':60}{geometric_mean(means):8.3f}")
    return results


def _start(group: Group, checkout: Path) -> Worker:
    """A process of the checkout, if that is complete."""
    worker = Worker(group.module, group.peer, checkout)
    try:
        check(worker, checkout)
    except BaseException:
        worker.close()
        raise
    return worker


def check(worker: Worker, checkout: Path) -> None:
    """Raise `Unsuitable` unless the process has the checkout's array_api_nx, with its extensions.

    Prints a line if the extensions are older than their sources.
    """
    if worker.checkout is None or Path(worker.checkout).resolve() != checkout.resolve():
        raise Unsuitable(f"{checkout}: array_api_nx was imported from {worker.checkout}")
    stubs = (checkout / "array_api_nx").rglob("_[!_]*.pyi")  # every extension has one
    missing = {stub.stem for stub in stubs}.difference(worker.extensions)
    wanted = os.environ.get("ARRAY_API_NX_EXTENSION") != "0"
    if wanted and (missing or not worker.extensions):
        names = ", ".join(sorted(missing)) or "extension"
        raise Unsuitable(f"{checkout} has no compiled {names}; run there: {BUILD}")
    if worker.outdated:
        print(f"# {checkout}: C sources changed after they were compiled; run there: {BUILD}")


def _spread(result: dict[str, Any]) -> str:
    low, high = result["quartiles"]
    flag = "  slower" if result["slower"] else ""
    quartiles = f"{low:.3f} to {high:.3f}"
    return f"{result['ratio']:8.3f}   {quartiles:14}{result['fastest_ratio']:9.3f}{flag}"


def _revision(checkout: Path) -> str:
    """What git calls the state of the checkout."""
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=10"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
