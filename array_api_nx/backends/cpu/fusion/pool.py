"""Buffers for results, kept when nothing reads them any more and handed out again.

New memory costs a page fault per page when it is first written, which for a large result takes
longer than to compute it. The pool keeps released buffers up to a limit.

How it knows that a buffer is free: what it hands out is an array over a memoryview of the buffer.
Whatever is derived from that array, in NumPy, through DLPack or through the buffer protocol, keeps
the array and with it the memoryview alive; when the memoryview dies a weak reference reports it.
The one way around is the memoryview itself, at the end of the chain of `base` attributes: views of
it hold the buffer alone. So a buffer goes back to the pool only if nothing else refers to it;
otherwise it is no longer the pool's.

There is no lock: a weak reference may report at any point of any thread, also inside the pool. The
free buffers are in a dict, and who pops one from it owns it.
"""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Callable
from pathlib import Path
from sys import getrefcount
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["SMALLEST", "Pool", "PoolStats", "release", "stats", "take"]

Buffer: TypeAlias = npt.NDArray[np.uint8]

SMALLEST: Final = 2**16
"""Bytes from which a buffer is worth keeping."""

_MAX_BUFFERS: Final = 32
_ALIGNMENT: Final = 64
"""A cache line. (NumPy itself asks for huge pages.)"""
_UNSHARED: Final = 2
"""What getrefcount(loan.owner) says if only the loan refers to the buffer."""


class PoolStats(NamedTuple):
    """What a pool holds, and how it did.

    Attributes
    ----------
    free_bytes : int
        Bytes in buffers that wait for their next use.
    buffers : int
        The number of those buffers.
    limit : int
        Most bytes that may wait.
    hits, misses : int
        How many requests were served from the pool, and how many took new memory. Requests outside
        the sizes that are pooled count as neither.
    """

    free_bytes: int
    buffers: int
    limit: int
    hits: int
    misses: int


class _Loan(weakref.ref[memoryview]):
    """A weak reference to the memoryview that stands for a buffer in use."""

    __slots__ = ("owner",)

    owner: Buffer


class Pool:
    """Released buffers, the least recently released of them given up first.

    Parameters
    ----------
    limit : int
        Most bytes to keep. Larger requests are not pooled.
    """

    __slots__ = ("_free", "_hits", "_lent", "_limit", "_misses")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._free: dict[int, Buffer] = {}
        self._lent: dict[int, _Loan] = {}
        self._hits = 0
        self._misses = 0

    def take(self, nbytes: int) -> Buffer:
        """Uninitialised memory that comes back by itself when no array reads it any more.

        Parameters
        ----------
        nbytes : int

        Returns
        -------
        ndarray
            Contiguous, dtype uint8, shape (nbytes,), writeable.

        Raises
        ------
        MemoryError
            If the system has not that much memory, even without what the pool holds.
        """
        if not SMALLEST <= nbytes <= self._limit:
            try:
                return np.empty(nbytes, np.uint8)
            except MemoryError:
                self.release()
                return np.empty(nbytes, np.uint8)
        owner = self._find(nbytes + _ALIGNMENT)
        if owner is None:
            self._misses += 1
            try:
                owner = np.empty(nbytes + _ALIGNMENT, np.uint8)
            except MemoryError:
                self.release()
                owner = np.empty(nbytes + _ALIGNMENT, np.uint8)
        else:
            self._hits += 1
        start = -owner.__array_interface__["data"][0] % _ALIGNMENT
        memory = np.frombuffer(owner.data, np.uint8, nbytes, start)
        loan = _Loan(memory.base, self._returned)  # type: ignore[arg-type]  # a memoryview
        loan.owner = owner
        self._lent[id(loan)] = loan
        return memory

    def release(self) -> None:
        """Give all buffers that wait back to the system."""
        self._free.clear()

    def close(self) -> None:
        """Give everything back, and pool nothing from now on."""
        self._limit = 0
        self._lent.clear()
        self._free.clear()

    def stats(self) -> PoolStats:
        """What the pool holds now."""
        sizes = [buffer.size for buffer in self._free.copy().values()]
        return PoolStats(sum(sizes), len(sizes), self._limit, self._hits, self._misses)

    def _find(self, nbytes: int) -> Buffer | None:
        """A free buffer that wastes at most an eighth of `nbytes`, the latest released first."""
        most = nbytes + nbytes // 8
        for key, buffer in reversed(self._free.copy().items()):
            if nbytes <= buffer.size <= most:
                # None if another thread was quicker.
                claimed = self._free.pop(key, None)
                if claimed is not None:
                    return claimed
        return None

    def _returned(self, loan: weakref.ref[memoryview]) -> None:
        assert isinstance(loan, _Loan)
        # Unknown after close().
        self._lent.pop(id(loan), None)
        if getrefcount(loan.owner) > _UNSHARED:
            return
        self._free[id(loan.owner)] = loan.owner
        waiting = self._free.copy()
        excess = sum([buffer.size for buffer in waiting.values()]) - self._limit
        surplus = len(waiting) - _MAX_BUFFERS
        for key, buffer in waiting.items():
            if excess <= 0 and surplus <= 0:
                break
            if self._free.pop(key, None) is not None:
                excess -= buffer.size
                surplus -= 1


def _default_limit() -> int:
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


_POOL: Final = Pool(_default_limit())
# Arrays may outlive the module when the interpreter shuts down.
atexit.register(_POOL.close)

take: Final[Callable[[int], Buffer]] = _POOL.take
"""`Pool.take` of the pool that all results come from."""

release: Final[Callable[[], None]] = _POOL.release
"""`Pool.release` of that pool."""

stats: Final[Callable[[], PoolStats]] = _POOL.stats
"""`Pool.stats` of that pool."""
