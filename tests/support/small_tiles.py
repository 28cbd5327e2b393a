"""Tiles and tasks so small that small arrays have many of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from array_api_nx.backends.cpu.engine import schedule

__all__ = ["SMALL", "small_tiles"]

SMALL = {
    "TILE_BYTES": 64,
    "ALONE_BYTES": 256,
    "REDUCED_CELLS": 64,
    "ACCUMULATED_COLUMNS": 8,
    "ACCUMULATED_CELLS": 32,
    "ACCUMULATED_BYTES": 256,
    "COLUMN_BYTES": 16,
    "ROW_BYTES": 64,
    "TRANSPOSED_ROWS": 2,
    "TRANSPOSED_COLUMNS": 16,
    "PACKED_COLUMNS": 4,
    "INVARIANT_COLUMNS": 6,
    "FEW": 3,
    "SMALL_TILE": 8,
    "STREAMED_BYTES": 256,
    "UNALIGNED_BYTES": 512,
    "STREAMED_ROW": 16,
    "MIN_TASK": 8,
    "TASK_NS": 1.6,
    "MAX_TASKS": 6,
    "ENOUGH_TASKS": 3,
    "PARTIAL_MIN": 32,
    "EXACT_PARTIAL_MIN": 16,
    "_LINE": 2,
}
"""Constants of schedules, divided by a hundred."""


@contextmanager
def small_tiles(**constants: float) -> Iterator[None]:
    """Schedules are made with `SMALL` and other constants."""
    with mock.patch.multiple(schedule, **(SMALL | constants)):
        yield
