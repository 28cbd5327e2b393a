"""The run as a whole: measures, prints as it goes, and returns everything for JSON."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Sequence
from datetime import date
from typing import Any

from .cases import CASES, Case
from .measure import Result, measure
from .memory import extra_memory
from .peers import installed
from .report import print_costs, print_speed, summary

SIZES = (10**3, 10**5, 8 * 10**6)
PROGRAM_SIZES = (10**3, 10**6)
PROGRAM_PEERS = ("nx.compile", "jax.jit", "torch.compile")
DTYPES = ("float64", "float32")
_SMALLEST_FOR_MEMORY = 10**6
"""Elements below which a peak drowns in pages and arenas."""


def run(
    sizes: Sequence[int],
    dtypes: Sequence[str],
    turns: int,
    names: Sequence[str],
    wanted: str,
    memory: bool,
    among: Sequence[Case] = CASES,
) -> dict[str, Any]:
    """Time the cases whose names contain `wanted`, at all sizes and dtypes, and print tables."""
    # What a peer has to say about its compilation belongs to none of the tables.
    warnings.simplefilter("ignore")
    peers = installed(names)
    columns = [peer.name for peer in peers]
    cases = [case for case in among if wanted in case.name]
    print("# " + ", ".join([f"{peer.name} {peer.version}" for peer in peers]))
    figures: dict[str, Any] = {
        "date": date.today().isoformat(),
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "python": platform.python_version(),
        "peers": {peer.name: peer.version for peer in peers},
        "turns": turns,
        "results": [],
        "summaries": [],
    }
    for elements in sizes:
        for dtype in dtypes:
            results = [measure(case, dtype, elements, peers, turns) for case in cases]
            print_speed(results, columns)
            print_costs(
                "First call, ms, with compilation",
                {result.case: result.first_milliseconds for result in results},
                columns,
            )
            extra: dict[str, dict[str, float]] = {}
            if memory and elements >= _SMALLEST_FOR_MEMORY:
                extra = _by_case(extra_memory(peers, cases, dtype, elements))
                print_costs("Peak memory beyond the inputs, MiB", extra, columns)
            figures["results"] += [_record(result, extra) for result in results]
            figures["summaries"].append(
                {"dtype": dtype, "elements": elements, "means": summary(results)}
            )
    return figures


def _by_case(extra: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    cases = dict.fromkeys([case for row in extra.values() for case in row])
    return {case: {peer: row[case] for peer, row in extra.items() if case in row} for case in cases}


def _record(result: Result, extra: dict[str, dict[str, float]]) -> dict[str, Any]:
    return {**result._asdict(), "extra_mebibytes": extra.get(result.case, {})}
