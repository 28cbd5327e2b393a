"""What `show_config` reports about this backend: extension, threads, caches and pool."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ....contract.arguments import Info
from ....native import HOW_TO_BUILD, native
from . import memory_pool, threads


def runtime_info() -> Info:
    """The extension, the threads, the processor's caches (bytes) and the pool of memory."""
    built = find_spec("array_api_nx._native") is not None
    return {
        "extension": {
            "built": built,
            "in use": native is not None,
            **({} if built else {"to build it": HOW_TO_BUILD}),
        },
        "threads": {
            "in use": threads.count(),
            "available": threads.available(),
            "because": threads.reason(),
        },
        "caches": cache_sizes(Path("/sys/devices/system/cpu/cpu0/cache")),
        "pool": memory_pool.stats()._asdict(),
    }


def cache_sizes(directory: Path) -> Info:
    """Bytes of the caches for data of one processor; None where the system does not tell.

    directory: Where Linux describes them.
    """
    sizes: Info = {"L1": None, "L2": None, "L3": None}
    for cache in sorted(directory.glob("index*")):
        try:
            level, kind, size = [
                (cache / name).read_text(encoding="utf-8").strip()
                for name in ("level", "type", "size")
            ]
        except OSError:
            continue
        if kind != "Instruction":
            sizes[f"L{level}"] = int(size.removesuffix("K")) * 1024
    return sizes
