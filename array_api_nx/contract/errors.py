"""Errors that several backends, or they and the frontend, raise."""

from __future__ import annotations

__all__ = ["CannotCompileError", "EngineError", "LimitError"]


class EngineError(RuntimeError):
    """An engine, or its device, failed; the text says which."""


class CannotCompileError(RuntimeError):
    """An engine cannot compile a program; the text says which step, and what to do."""


class LimitError(RuntimeError):
    """A device was asked for what devices of its kind cannot do.

    No TypeError, ValueError or IndexError, which code that tries one way after the other would
    swallow.
    """
