"""Handles that Python's operators compute with, for functions composed of primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.dtypes import DType
from ..primitives import table as p
from .arguments import Handle
from .interface import Interface


def _left(op: p.Primitive) -> Callable[[HandleValue, object], HandleValue]:
    """The operator that computes `op` of a handle and another operand."""
    return lambda self, other: self.of(self.backend.binary(op, self.handle, _operand(other)))


def _right(op: p.Primitive) -> Callable[[HandleValue, object], HandleValue]:
    """The operator that computes `op` of another operand and a handle."""
    return lambda self, other: self.of(self.backend.binary(op, _operand(other), self.handle))


def _alone(op: p.Primitive) -> Callable[[HandleValue], HandleValue]:
    return lambda self: self.of(self.backend.unary(op, self.handle))


def _in_all(op: p.Primitive) -> Callable[[HandleValue], bool]:
    """The method that reduces all elements to a bool."""

    def reduced(self: HandleValue) -> bool:
        axes = tuple(range(len(self.backend.shape(self.handle))))
        return bool(self.backend.item(self.backend.reduce(op, self.handle, axes, False)))

    return reduced


class HandleValue:
    """A handle that Python's operators compute with."""

    def __init__(self, backend: Interface, handle: Handle) -> None:
        self.backend = backend
        self.handle = handle

    def of(self, handle: Handle) -> HandleValue:
        return HandleValue(self.backend, handle)

    __add__ = __radd__ = _left(p.ADD)
    __sub__ = _left(p.SUBTRACT)
    __rsub__ = _right(p.SUBTRACT)
    __mul__ = __rmul__ = _left(p.MULTIPLY)
    __truediv__ = _left(p.DIVIDE)
    __rtruediv__ = _right(p.DIVIDE)
    __rshift__ = _left(p.BITWISE_RIGHT_SHIFT)
    __lshift__ = _left(p.BITWISE_LEFT_SHIFT)
    __and__ = _left(p.BITWISE_AND)
    __or__ = _left(p.BITWISE_OR)
    __lt__ = _left(p.LESS)
    __le__ = _left(p.LESS_EQUAL)
    __gt__ = _left(p.GREATER)
    __ge__ = _left(p.GREATER_EQUAL)
    __neg__ = _alone(p.NEGATIVE)
    __abs__ = _alone(p.ABS)
    sqrt = _alone(p.SQRT)
    floor = _alone(p.FLOOR)
    all = _in_all(p.ALL)
    any = _in_all(p.ANY)

    def is_zero(self) -> HandleValue:
        return self.of(self.backend.binary(p.EQUAL, self.handle, 0))

    def cast(self, dtype: DType) -> HandleValue:
        return self.of(self.backend.cast(self.handle, dtype))


def _operand(x: object) -> Any:
    return x.handle if isinstance(x, HandleValue) else x


def where(condition: HandleValue, x1: HandleValue | float, x2: HandleValue | float) -> HandleValue:
    """The elements of `x1` where `condition` is true, and of `x2` elsewhere."""
    backend = condition.backend
    return condition.of(backend.where(condition.handle, _operand(x1), _operand(x2)))
