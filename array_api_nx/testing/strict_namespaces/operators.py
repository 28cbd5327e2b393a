"""The operators of strict arrays, which check their operands, and conversions to Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from ...core import dtypes as d
from ...core.declined import DECLINED
from ...core.dtypes import PROMOTION, SCALAR_PROMOTION
from ...frontend.array import Array
from .base import StrictBase
from .dtypes import GROUPS, Group
from .errors import Section
from .operands import check_dtype, check_pair, check_scalar, foreign, wants_operand
from .signatures import operators as table_of_operators
from .signatures import prefixes

INTEGER = GROUPS["integer"]

PYTHON_SCALARS = frozenset({bool, int, float, complex})

_new = object.__new__

Operation = Callable[[Any, Any], Any]
Maker = Callable[[Any, Group], Callable[..., Any]]


def _operand(x: StrictBase, other: object, operation: Operation, group: Group) -> Any:
    """The other operand of an operator, checked; NotImplemented if it may know what to do."""
    where = operation.__name__.strip("_")
    if type(other) is type(x):
        check_pair(where, group, (x._array, other._array))
        return other._array
    if type(other) in PYTHON_SCALARS:
        dtype = x._array.dtype
        check_dtype(where, group, dtype)
        if operation is operator.matmul:
            raise Section("Operators").refuse(
                TypeError, "matmul with a scalar; it takes arrays", "use x * scalar"
            )
        check_scalar(where, dtype, other, type(x)._policy.version, group)
        if group is INTEGER:
            check_shift(where, other)
        return other
    if operation is not operator.eq and operation is not operator.ne and wants_operand(other):
        return NotImplemented
    raise foreign(where, other)


def check_shift(where: str, by: object) -> None:
    """ValueError for shifts by negative numbers, where they are known without a computation."""
    if type(by) is int:
        negative = by < 0
    elif type(by) is Array and by.dtype in d.SIGNED and by.device.name == "cpu":
        negative = bool((by < 0).any())
    else:
        return
    if negative:
        raise Section("Element-wise Functions").refuse(
            ValueError,
            f"{where} by a negative number; each must be at least 0",
            "shift the other way by its absolute value",
        )


def operators() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The operators of strict arrays: names of methods, and the methods."""
    makers: dict[str, Maker] = {"": _binary, "r": _reflected, "i": _in_place}
    for name, family, group in table_of_operators():
        for prefix in prefixes(name):
            # A reflected operator computes the same operation.
            operation = getattr(operator, f"__{prefix.replace('r', '')}{name}__")
            make = _unary if family == "unary" else makers[prefix]
            method = make(operation, GROUPS[group])
            method.__name__ = f"__{prefix}{name}__"
            method.__qualname__ = f"StrictArray.{method.__name__}"
            yield method.__name__, method


def _unary(operation: Callable[[Any], Any], group: Group) -> Callable[..., Any]:
    def method(self: StrictBase) -> StrictBase:
        array = self._array
        if array.dtype not in group.dtypes:
            check_dtype(operation.__name__, group, array.dtype)
        result = _new(type(self))
        result._array = operation(array)
        return result

    return method


def _binary(operation: Operation, group: Group) -> Callable[..., Any]:
    is_shift = group is INTEGER

    def method(self: StrictBase, other: object, /) -> StrictBase:
        array = self._array
        own = type(self)
        if type(other) is own:
            operand = other._array
            if is_shift:
                check_shift(operation.__name__, operand)
            if (array.dtype, operand.dtype) not in group.pairs or array.device != operand.device:
                operand = _operand(self, other, operation, group)
        else:
            operand = _operand(self, other, operation, group)
            if operand is NotImplemented:
                return DECLINED
        result = _new(own)
        result._array = operation(array, operand)
        return result

    return method


def _reflected(operation: Operation, group: Group) -> Callable[..., Any]:
    def method(self: StrictBase, other: object, /) -> StrictBase:
        operand = _operand(self, other, operation, group)
        if operand is NotImplemented:
            return DECLINED
        result = _new(type(self))
        result._array = operation(operand, self._array)
        return result

    return method


def _in_place(operation: Operation, group: Group) -> Callable[..., Any]:
    def method(self: StrictBase, other: object, /) -> StrictBase:
        array = self._array
        operand = _operand(self, other, operation, group)
        if operand is NotImplemented:
            return DECLINED
        if type(operand) is Array:
            result = PROMOTION[array.dtype, operand.dtype]
        else:
            result = SCALAR_PROMOTION[array.dtype, type(operand)]
        if result is not array.dtype:
            raise Section("In-place Operators").refuse(
                TypeError,
                f"{operation.__name__.strip('_')} of {array.dtype} with what makes it {result}; "
                "what an in-place operation gives that changes the dtype is left unspecified",
                "write x = x + y",
            )
        changed = operation(array, operand)
        if changed is array:
            return self
        made = _new(type(self))
        made._array = changed
        return made

    return method


def python_scalar(x: StrictBase, kind: str) -> Array:
    """The array inside, if it is one element that may become a Python scalar."""
    array = x._array
    if array.ndim:
        raise Section(f"Array object: __{kind}__").refuse(
            TypeError,
            f"{kind} of an array of {array.ndim} axes; it must be zero-dimensional",
            f"index it first, or reshape: {kind}(xp.reshape(x, ()))",
        )
    if array.dtype in d.COMPLEX and kind in ("int", "float"):
        raise Section(f"Array object: __{kind}__").refuse(
            TypeError,
            f"{kind} of a complex number is left unspecified",
            f"say which part: {kind}(xp.real(x))",
        )
    return array
