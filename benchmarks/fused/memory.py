"""Peak memory of a call beyond the memory in use before."""

from __future__ import annotations

import ctypes
import gc
import re
from pathlib import Path

from .cases import Case, inputs
from .peers import Peer

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def extra_memory(peer: Peer, case: Case, dtype: str, elements: int) -> float | None:
    """MiB that the second call needs at its peak, its result included; the first may compile.

    None if the peer cannot do the case, or the system does not tell the peak of this process.
    """
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
        _CLEAR.write_text("5")  # resets the peak
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
