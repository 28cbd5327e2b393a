"""The caches of the machine, which decide the sizes of tiles: `SCALE`.

The constants of schedule.py are those of the reference machine (docs/tuning.md). `SCALE` says how
many times larger or smaller the caches of this machine are, in powers of two. Only passes without
reductions are scaled: the tiles of a sum decide the order of its additions, and with that its last
bits, which must be the same on every machine.
"""

from __future__ import annotations

from math import floor, log2
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["REFERENCE", "SCALE", "UNSCALED", "Caches", "Scale", "caches", "scale"]


class Caches(NamedTuple):
    """Bytes of a core's first-level data cache and second-level cache, and of the last level, which
    all cores share."""

    first: int
    second: int
    shared: int


REFERENCE: Final = Caches(2**15, 2**20, 2**25)
"""The caches for which the constants were measured."""


class Scale(NamedTuple):
    """What sizes that follow a level of cache are multiplied by."""

    first: float = 1
    second: float = 1
    shared: float = 1


UNSCALED: Final = Scale()

_UNITS: Final = {"K": 2**10, "M": 2**20, "G": 2**30}


def caches(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> Caches:
    """The caches that a processor's `folder` names; those of `REFERENCE` that it does not name."""
    found: dict[int, int] = {}
    try:
        for index in folder.glob("index*"):
            files = [index / name for name in ("level", "type", "size")]
            level, kind, size = [file.read_text("utf-8").strip() for file in files]
            if kind != "Instruction":
                number, unit = (size[:-1], _UNITS[size[-1]]) if size[-1] in _UNITS else (size, 1)
                found[int(level)] = max(1, int(number) * unit)
    except (OSError, ValueError, LookupError):
        return REFERENCE
    first, second = found.get(1, REFERENCE.first), found.get(2, REFERENCE.second)
    return Caches(first, second, found.get(3, max(second, REFERENCE.shared)))


def scale(machine: Caches) -> Scale:
    """The powers of two by which the caches differ from `REFERENCE`, from a half to two."""
    pairs = zip(machine, REFERENCE, strict=True)
    return Scale(*[2.0 ** min(max(floor(log2(size / known)), -1), 1) for size, known in pairs])


SCALE: Final = scale(caches())
"""Of this machine."""
