"""What the operators of strict arrays check before they compute, and conversions to Python."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

from ...core import dtypes as d
from ...core.declined import DECLINED
from ...core.dtypes import PROMOTION, SCALAR_PROMOTION
from ...frontend.array import Array
from .base import StrictBase
from .errors import refuse
from .operands import Group, check_dtype, check_pair, check_scalar, foreign, wants_operand

__all__ = [
    "ANY",
    "FLOATING",
    "INTEGER",
    "INTEGER_OR_BOOL",
    "NUMERIC",
    "PYTHON_SCALARS",
    "REAL",
    "check_shift",
    "in_place",
    "operate",
    "python_scalar",
    "reflect",
    "shift",
    "unary",
]

ANY = Group("any")
FLOATING = Group("floating")
INTEGER = Group("integer")
INTEGER_OR_BOOL = Group("integer_or_bool")
NUMERIC = Group("numeric")
REAL = Group("real")

PYTHON_SCALARS = frozenset({bool, int, float, complex})

_new = object.__new__

Operation = Callable[[Any, Any], Any]
Some = TypeVar("Some", bound=StrictBase)


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
            raise refuse(
                TypeError, "matmul with a scalar; it takes arrays", "Operators", "use x * scalar"
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
        raise refuse(
            ValueError,
            f"{where} by a negative number; each must be at least 0",
            "Element-wise Functions",
            "shift the other way by its absolute value",
        )


def operate(x: Some, other: object, operation: Operation, group: Group) -> Some:
    array = x._array
    own = type(x)
    if type(other) is own:
        operand = other._array
        if (array.dtype, operand.dtype) not in group.pairs or array.device != operand.device:
            operand = _operand(x, other, operation, group)
    else:
        operand = _operand(x, other, operation, group)
        if operand is NotImplemented:
            return DECLINED
    result = _new(own)
    result._array = operation(array, operand)
    return result


def reflect(x: Some, other: object, operation: Operation, group: Group) -> Some:
    operand = _operand(x, other, operation, group)
    if operand is NotImplemented:
        return DECLINED
    result = _new(type(x))
    result._array = operation(operand, x._array)
    return result


def shift(x: Some, other: object, operation: Operation) -> Some:
    if type(other) is type(x):
        check_shift(operation.__name__, other._array)
    return operate(x, other, operation, INTEGER)


def in_place(x: Some, other: object, operation: Operation, group: Group) -> Some:
    array = x._array
    operand = _operand(x, other, operation, group)
    if operand is NotImplemented:
        return DECLINED
    if type(operand) is Array:
        result = PROMOTION[array.dtype, operand.dtype]
    else:
        result = SCALAR_PROMOTION[array.dtype, type(operand)]
    if result is not array.dtype:
        raise refuse(
            TypeError,
            f"{operation.__name__.strip('_')} of {array.dtype} with what makes it {result}; what "
            "an in-place operation gives that changes the dtype is left unspecified",
            "In-place Operators",
            "write x = x + y",
        )
    changed = operation(array, operand)
    if changed is array:
        return x
    made = _new(type(x))
    made._array = changed
    return made


def unary(x: Some, operation: Callable[[Any], Any], group: Group) -> Some:
    array = x._array
    if array.dtype not in group.dtypes:
        check_dtype(operation.__name__, group, array.dtype)
    result = _new(type(x))
    result._array = operation(array)
    return result


def python_scalar(x: StrictBase, kind: str) -> Array:
    """The array inside, if it is one element that may become a Python scalar."""
    array = x._array
    if array.ndim:
        raise refuse(
            TypeError,
            f"{kind} of an array of {array.ndim} axes; it must be zero-dimensional",
            f"Array object: __{kind}__",
            f"index it first, or reshape: {kind}(xp.reshape(x, ()))",
        )
    if array.dtype in d.COMPLEX and kind in ("int", "float"):
        raise refuse(
            TypeError,
            f"{kind} of a complex number is left unspecified",
            f"Array object: __{kind}__",
            f"say which part: {kind}(xp.real(x))",
        )
    return array
