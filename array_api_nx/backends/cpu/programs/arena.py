"""The arena: one block of memory in which slots lie that are not in use at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

__all__ = ["SlotLifetime", "place"]

_ALIGNMENT: Final = 64
"""A cache line."""


class SlotLifetime(NamedTuple):
    """A slot of `size` bytes, in use from time `first` to time `last`, both included."""

    size: int
    first: int
    last: int


def place(lifetimes: Sequence[SlotLifetime]) -> tuple[list[int], int]:
    """Place slots so that no two overlap that are in use at the same time.

    Large slots are placed first, each at the lowest place that is free throughout its lifetime.

    Returns
    -------
    positions : list of int
        Bytes from the start, a multiple of a cache line.
    size : int
        Bytes in all.
    """
    positions = [0] * len(lifetimes)
    placed: list[tuple[int, int, SlotLifetime]] = []
    for i in sorted(range(len(lifetimes)), key=lambda i: -lifetimes[i].size):
        lifetime = lifetimes[i]
        start = 0
        for begin, end, other in sorted(placed):
            if other.last < lifetime.first or lifetime.last < other.first or end <= start:
                continue
            if begin - start >= lifetime.size:
                break
            start = -(-end // _ALIGNMENT) * _ALIGNMENT
        positions[i] = start
        placed.append((start, start + lifetime.size, lifetime))
    return positions, max([end for _, end, _ in placed], default=0)
