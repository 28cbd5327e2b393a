"""Answers to questions about sizes that bounds and bindings leave open, and errors without them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

from .call_local import CallLocal


class BoundsError(ValueError):
    """A variable was given a value outside its bounds."""


class UnboundError(ValueError):
    """A number was asked of an expression whose variables have no values."""


class UndecidedError(ValueError):
    """A truth value was asked of an expression whose bounds leave it open."""


class Decider(Protocol):
    """Answers what bounds and bindings leave open."""

    def decide(self, left: Any, relation: str, right: Any) -> bool:
        """Whether ``left relation right``, for one of ``== != < <= > >=``."""

    def value(self, expression: Any) -> int | float:
        """The number that stands for an expression."""

    def is_nan_test(self) -> bool:
        """Whether the code that asks for a float is known to test only whether that is NaN, so that
        all numbers are the same to it."""


decider: Final[CallLocal[Decider]] = CallLocal()


def deciding(answers: Decider | None) -> AbstractContextManager[None]:
    """Let an object, or none, answer what is undecided for the length of a ``with`` block."""
    return decider.set(answers)
