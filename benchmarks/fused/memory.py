"""Peak memory of a call beyond what was there before, in a process of its own per peer.

Run as ``python -m benchmarks.fused.memory PEER ELEMENTS DTYPE CASE...``: prints JSON.
"""

from __future__ import annotations

import ctypes
import gc
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .cases import CASES, Case, inputs
from .peers import Peer, installed

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def extra_memory(
    peers: Sequence[Peer], cases: Sequence[Case], dtype: str, elements: int
) -> dict[str, dict[str, float]]:
    """MiB by peer and case, the result included; nothing where the system does not tell."""
    figures: dict[str, dict[str, float]] = {}
    for peer in peers:
        run = subprocess.run(
            [sys.executable, "-m", __name__, peer.name, str(elements), dtype]
            + [case.name for case in cases],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if run.returncode == 0:
            figures[peer.name] = json.loads(run.stdout.splitlines()[-1])
    return figures


def main(arguments: Sequence[str]) -> int:
    """Measure the cases of one peer."""
    name, elements, dtype, *names = arguments
    peer = next(peer for peer in installed([name]) if peer.name == name)
    figures = {}
    for case in CASES:
        extra = _extra(peer, case, int(elements), dtype) if case.name in names else None
        if extra is not None:
            figures[case.name] = extra
    print(json.dumps(figures))
    return 0


def _extra(peer: Peer, case: Case, elements: int, dtype: str) -> float | None:
    """MiB that the second call needs at its peak; the first may compile."""
    try:
        call = peer.prepare(case, inputs(case, elements, dtype))
        if call is None:
            return None
        call()
    except Exception:  # whatever a peer raises: it cannot
        return None
    gc.collect()
    peer.release()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        _CLEAR.write_text("5")  # the peak starts anew
        before = _kibibytes("VmRSS")
        result = call()
        peak = _kibibytes("VmHWM")
    except (AttributeError, OSError):
        return None
    del result
    return (peak - before) / 1024


def _kibibytes(key: str) -> int:
    found = re.search(rf"^{key}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
    if not found:
        raise OSError(f"no {key} in {_STATUS}")
    return int(found[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
