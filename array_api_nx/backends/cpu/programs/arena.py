"""Where blocks of memory lie in one larger block, when it is known how long each is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

__all__ = ["Block", "place"]

_ALIGNMENT: Final = 64
"""A cache line."""


class Block(NamedTuple):
    """A block of `size` bytes, in use from time `first` to time `last`, both included."""

    size: int
    first: int
    last: int


def place(blocks: Sequence[Block]) -> tuple[list[int], int]:
    """A place for each block, such that no two that are in use at one time overlap.

    Large blocks are placed first, each at the lowest place that is free as long as it is needed.

    Returns
    -------
    positions : list of int
        Bytes from the start, a multiple of a cache line.
    size : int
        Bytes in all.
    """
    positions = [0] * len(blocks)
    placed: list[tuple[int, int, Block]] = []
    for i in sorted(range(len(blocks)), key=lambda i: -blocks[i].size):
        block = blocks[i]
        start = 0
        for begin, end, other in sorted(placed):
            if other.last < block.first or block.last < other.first or end <= start:
                continue
            if begin - start >= block.size:
                break
            start = -(-end // _ALIGNMENT) * _ALIGNMENT
        positions[i] = start
        placed.append((start, start + block.size, block))
    return positions, max([end for _, end, _ in placed], default=0)
