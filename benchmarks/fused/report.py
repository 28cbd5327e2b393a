"""Results as tables of plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import geometric_mean

from .measure import Result

WIDTH = 31
RIVALS = ("numexpr", "numba", "blosc2", "jax.jit", "torch.compile")
"""Peers that fuse or compile."""


def print_speed(results: Sequence[Result], peers: Sequence[str]) -> None:
    """Speed relative to NumPy, one case a line, and geometric means, of one dtype and size."""
    first = results[0]
    others = [peer for peer in peers if peer != "numpy"]
    print(f"\n{first.elements:,} elements, {first.dtype}: speed relative to NumPy\n")
    print(f"{'':{WIDTH}}{'numpy, ms':>10}" + _line(others, others))
    for result in results:
        cells = [_cell(result.speed.get(peer)) for peer in others]
        base = result.milliseconds["numpy"]
        print(f"{result.case:{WIDTH}}{base:10.3f}" + _line(cells, others))
    for title, row in summary(results).items():
        cells = [_cell(row.get(peer)) for peer in others]
        print(f"{title:{WIDTH + 10}}" + _line(cells, others))


def print_costs(title: str, rows: Mapping[str, Mapping[str, float]], peers: Sequence[str]) -> None:
    """A table of figures per case and peer."""
    print(f"\n{title}\n\n{'':{WIDTH}}" + _line(peers, peers))
    for case, row in rows.items():
        cells = [_cell(row.get(peer), "{:.0f}") for peer in peers]
        print(f"{case:{WIDTH}}" + _line(cells, peers))


def summary(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """Geometric means over the cases of one dtype and size, for each peer over its cases."""
    rows = [result.speed for result in results]
    times = [result.fastest_milliseconds for result in results]
    fastest = [{peer: row["numpy"] / own for peer, own in row.items()} for row in times]
    peers = list(dict.fromkeys([peer for row in rows for peer in row]))
    means = {
        title: {peer: geometric_mean([row[peer] for row in of if peer in row]) for peer in peers}
        # The second holds if the machine was disturbed in many turns.
        for title, of in (("geometric mean", rows), ("the same of the fastest turns", fastest))
    }
    ours = "nx.compile" if "nx.compile" in peers else "nx"
    rows = [row for row in rows if ours in row]
    against = {
        peer: [row[ours] / row[peer] for row in rows if peer in row]
        for peer in peers
        if peer not in ("numpy", ours)
    }
    if against:
        means[f"{ours} relative to it"] = {
            peer: geometric_mean(ratios) for peer, ratios in against.items() if ratios
        }
    rivals = [[row[peer] for peer in RIVALS if peer in row] for row in rows]
    best = [row[ours] / max(own) for row, own in zip(rows, rivals, strict=True) if own]
    if best:
        means[f"{ours} relative to the best in each case"] = {ours: geometric_mean(best)}
    return means


def _cell(value: float | None, form: str = "{:.2f}") -> str:
    return "-" if value is None else form.format(value)


def _line(cells: Sequence[str], peers: Sequence[str]) -> str:
    widths = [max(9, len(peer) + 2) for peer in peers]
    return "".join([f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)])
