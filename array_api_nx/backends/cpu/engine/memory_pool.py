"""The pool of memory for results: released memory is kept and used again.

New memory costs a page fault per page when it is first written, which for a large result takes
longer than to compute it. The extension keeps released memory up to a limit; see memory.h
for how it knows what is released. Without the extension all memory is NumPy's.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from ....contract.numpy_dtypes import NDArray
from ....core.dtypes import DType
from ....native import native


class PoolStats(NamedTuple):
    """The counters of the pool.

    free_bytes: Bytes in blocks that wait for their next use.
    blocks: The number of those blocks.
    limit: Most bytes that may wait; 0 if nothing is kept.
    hits, misses: How many requests were served from the pool, and how many took new memory.
        Requests of fewer than 64 KiB, of more than the limit, or of more than 32 MiB of zeros count
        as neither.
    """

    free_bytes: int
    blocks: int
    limit: int
    hits: int
    misses: int


empty: Final[Callable[[tuple[int, ...], DType], NDArray]] = (
    np.empty if native is None else native.empty
)
"""``empty(shape, dtype)``: an uninitialised row-major array. Its memory returns to the pool when
neither the array nor anything derived from it is left. MemoryError if the system has too little
memory even after the pool has released all that it holds."""


def release() -> None:
    """Free all memory that waits in the pool."""
    if native is not None:
        native.release_spares()


def stats() -> PoolStats:
    """The counters as they are now."""
    return PoolStats(0, 0, 0, 0, 0) if native is None else PoolStats(*native.count_spares())


def _limit() -> int:
    """512 MiB, or a sixteenth of the memory that the process may use if that is less."""
    limit = 2**29
    if hasattr(os, "sysconf"):
        limit = min(limit, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 16)
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            allowed = Path("/sys/fs/cgroup", name).read_text(encoding="ascii")
        except OSError:
            continue
        if allowed.strip().isdigit():
            limit = min(limit, int(allowed) // 16)
    return limit


if native is not None:
    native.limit_spares(_limit())
    # Arrays may outlive the module when the interpreter shuts down.
    atexit.register(native.limit_spares, 0)
