"""What figures depend on, for reports and result files."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

_PROCESSORS = Path("/proc/cpuinfo")


def environment(turns: int, versions: Mapping[str, str]) -> dict[str, Any]:
    """The date, the machine, the versions of Python, NumPy and the peers, and how it was timed."""
    return {
        "date": date.today().isoformat(),
        "machine": platform.machine(),
        "processor": processor(_PROCESSORS),
        "cores": usable_cores(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "peers": dict(versions),
        "turns": turns,
        "processes": "one for each peer; in turns, one computes while the others sleep",
    }


def headline() -> str:
    """The machine in a line."""
    return (
        f"{processor(_PROCESSORS)} ({platform.machine()}), {usable_cores()} cores usable, "
        f"Python {platform.python_version()}, NumPy {version('numpy')}, {date.today()}"
    )


def processor(described_in: Path) -> str:
    """The model's name, from where Linux describes processors, or whatever Python knows."""
    try:
        lines = described_in.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def usable_cores() -> int | None:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()
