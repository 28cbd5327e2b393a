"""What a view shows, found element by element."""

from collections.abc import Iterator

import numpy as np

from array_api_nx.core.view import View
from tests.support.programs import NDArray

__all__ = ["PADDING", "positions", "read"]

PADDING = -1


def _located(view: View) -> Iterator[tuple[tuple[int, ...], int]]:
    """The elements that have memory: their indices, and their positions in the block."""
    box = view.mask or [(0, size) for size in view.shape]
    for index in np.ndindex(*view.shape):
        if all([start <= i < end for i, (start, end) in zip(index, box, strict=True)]):
            yield (
                index,
                view.offset + sum([i * n for i, n in zip(index, view.strides, strict=True)]),
            )


def positions(view: View) -> list[int]:
    """Where in the block the elements are."""
    return [position for _, position in _located(view)]


def read(view: View, block: NDArray) -> NDArray:
    """The elements of a view of a block, `PADDING` where it is masked."""
    result = np.full(view.shape, PADDING)
    for index, position in _located(view):
        result[index] = block[position]
    return result
