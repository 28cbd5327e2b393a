"""Errors that several backends raise."""

from __future__ import annotations

__all__ = ["EngineError"]


class EngineError(RuntimeError):
    """An engine, or its device, failed; the text says which."""
