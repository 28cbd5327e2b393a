"""Programs on the CPU: fused, with planned memory."""

from .explain import explain
from .running import prepare

__all__ = ["explain", "prepare"]
