"""Numbers of elements by how they are computed, so that no test repeats a threshold.

They follow the package's defaults and ignore the environment of this process.
"""

from typing import Final

from array_api_nx.backends.cpu import policy
from array_api_nx.config import Settings

__all__ = ["AT_ONCE", "DEFERRED", "MANY_TASKS", "MIDDLE", "THRESHOLD"]

THRESHOLD: Final = Settings().fusion_threshold
"""The default of the setting `fusion_threshold`."""

AT_ONCE: Final = policy.AT_ONCE_MAX
"""The most elements that an operation computes at once, on one thread."""

MIDDLE: Final = AT_ONCE + 7_000
"""Elements that the extension computes on several threads, where they do not wait."""

DEFERRED: Final = policy.LARGE + 1
"""The fewest elements of which a reduction to one number waits, and that the extension leaves to
the backend's methods where nothing waits."""

MANY_TASKS: Final = 2**17 + 2**16 + 3
"""Elements that every pass divides into several tasks, with something left over for the last."""
