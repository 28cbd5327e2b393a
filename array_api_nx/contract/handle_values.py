"""Handles that Python's operators compute with, for what is composed of primitives."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import DType
from ..primitives import table as p
from .arguments import Handle
from .interface import Interface

__all__ = ["HandleValue", "where"]


class HandleValue:
    """A handle that Python's operators compute with."""

    def __init__(self, backend: Interface, handle: Handle) -> None:
        self.backend = backend
        self.handle = handle

    def _binary(self, op: p.Primitive, other: object, *, reverse: bool = False) -> HandleValue:
        operand: Any = other.handle if isinstance(other, HandleValue) else other
        pair = (operand, self.handle) if reverse else (self.handle, operand)
        return HandleValue(self.backend, self.backend.binary(op, *pair))

    def __add__(self, other: object) -> HandleValue:
        return self._binary(p.ADD, other)

    def __radd__(self, other: object) -> HandleValue:
        return self._binary(p.ADD, other)

    def __sub__(self, other: object) -> HandleValue:
        return self._binary(p.SUBTRACT, other)

    def __rsub__(self, other: object) -> HandleValue:
        return self._binary(p.SUBTRACT, other, reverse=True)

    def __mul__(self, other: object) -> HandleValue:
        return self._binary(p.MULTIPLY, other)

    def __rmul__(self, other: object) -> HandleValue:
        return self._binary(p.MULTIPLY, other)

    def __truediv__(self, other: object) -> HandleValue:
        return self._binary(p.DIVIDE, other)

    def __rtruediv__(self, other: object) -> HandleValue:
        return self._binary(p.DIVIDE, other, reverse=True)

    def __rshift__(self, other: int) -> HandleValue:
        return self._binary(p.BITWISE_RIGHT_SHIFT, other)

    def __lshift__(self, other: int) -> HandleValue:
        return self._binary(p.BITWISE_LEFT_SHIFT, other)

    def __and__(self, other: object) -> HandleValue:
        return self._binary(p.BITWISE_AND, other)

    def __or__(self, other: object) -> HandleValue:
        return self._binary(p.BITWISE_OR, other)

    def __lt__(self, other: object) -> HandleValue:
        return self._binary(p.LESS, other)

    def __le__(self, other: object) -> HandleValue:
        return self._binary(p.LESS_EQUAL, other)

    def __gt__(self, other: object) -> HandleValue:
        return self._binary(p.GREATER, other)

    def __ge__(self, other: object) -> HandleValue:
        return self._binary(p.GREATER_EQUAL, other)

    def __neg__(self) -> HandleValue:
        return HandleValue(self.backend, self.backend.unary(p.NEGATIVE, self.handle))

    def is_zero(self) -> HandleValue:
        return self._binary(p.EQUAL, 0)

    def sqrt(self) -> HandleValue:
        return HandleValue(self.backend, self.backend.unary(p.SQRT, self.handle))

    def floor(self) -> HandleValue:
        return HandleValue(self.backend, self.backend.unary(p.FLOOR, self.handle))

    def __abs__(self) -> HandleValue:
        return HandleValue(self.backend, self.backend.unary(p.ABS, self.handle))

    def all(self) -> bool:
        axes = tuple(range(len(self.backend.shape(self.handle))))
        return bool(self.backend.item(self.backend.reduce(p.ALL, self.handle, axes, False)))

    def any(self) -> bool:
        axes = tuple(range(len(self.backend.shape(self.handle))))
        return bool(self.backend.item(self.backend.reduce(p.ANY, self.handle, axes, False)))

    def cast(self, dtype: DType) -> HandleValue:
        return HandleValue(self.backend, self.backend.cast(self.handle, dtype))


def where(condition: HandleValue, x1: HandleValue | float, x2: HandleValue | float) -> HandleValue:
    """The elements of `x1` where `condition` is true, and of `x2` elsewhere."""
    backend = condition.backend
    pair: list[Any] = [x.handle if isinstance(x, HandleValue) else x for x in (x1, x2)]
    return HandleValue(backend, backend.where(condition.handle, *pair))
