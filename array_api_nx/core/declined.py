"""The answer of an operator that leaves the operation to the other operand."""

from __future__ import annotations

from typing import Final, Never, cast

DECLINED: Final[Never] = cast("Never", NotImplemented)
"""`NotImplemented`, which to type checkers fits wherever an operator returns an array."""
