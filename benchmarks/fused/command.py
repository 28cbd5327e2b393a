"""The run as a whole: measures, prints as it goes, and returns everything for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..environment import environment
from ..worker import Worker, workers
from . import measure
from .cases import CASES, Case
from .measure import Result
from .peers import DEFAULT
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
    """Time the cases whose names contain `wanted`, at all sizes and dtypes, and print tables.

    NumPy and array_api_nx are timed whatever `names` says.
    """
    names = list(dict.fromkeys(["numpy", "nx", *(names or DEFAULT)]))
    cases = [case for case in among if wanted in case.name]
    with workers(measure.__name__, names) as found:
        columns = list(found)
        figures = environment(turns, {name: worker.version for name, worker in found.items()})
        figures |= {"results": [], "summaries": []}
        for elements in sizes:
            for dtype in dtypes:
                results = [measure.measure(case, dtype, elements, found, turns) for case in cases]
                print_speed(results, columns)
                print_costs(
                    "First call, ms, with compilation",
                    {result.case: result.first_milliseconds for result in results},
                    columns,
                )
                extra: dict[str, dict[str, float]] = {}
                if memory and elements >= _SMALLEST_FOR_MEMORY:
                    extra = _extra_memory(columns, cases, dtype, elements)
                    print_costs("Peak memory beyond the inputs, MiB", extra, columns)
                figures["results"] += [_record(result, extra) for result in results]
                figures["summaries"].append(
                    {"dtype": dtype, "elements": elements, "means": summary(results)}
                )
    return figures


def _extra_memory(
    peers: Sequence[str], cases: Sequence[Case], dtype: str, elements: int
) -> dict[str, dict[str, float]]:
    """MiB by case and peer, in new processes: others keep memory for reuse, of cases before."""
    extra: dict[str, dict[str, float]] = {case.name: {} for case in cases}
    for peer in peers:
        with Worker(measure.__name__, peer) as worker:
            for case in cases:
                mebibytes = worker.ask("memory", case.name, dtype, elements)
                if mebibytes is not None:
                    extra[case.name][peer] = mebibytes
    return extra


def _record(result: Result, extra: dict[str, dict[str, float]]) -> dict[str, Any]:
    return {**result._asdict(), "extra_mebibytes": extra.get(result.case, {})}
