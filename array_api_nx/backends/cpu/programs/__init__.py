"""Programs on the CPU: fused, with planned memory."""

from .running import prepare

__all__ = ["prepare"]
