"""Public functions that rows of the table describe, and what makes a function of a row."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar, cast

from ..native import with_native
from ..primitives.documentation import annotation, docstring
from ..primitives.table import Primitive
from .array import Array
from .dispatch import binary, unary
from .operands import ArrayOrScalar

Function = TypeVar("Function", bound=Callable[..., object])


def presented(
    function: Function, module: str, name: str, text: str, types: dict[str, str]
) -> Function:
    """`function` as if it had been written out under a name.

    function (callable): A Python function without local variables.
    module, name: Where it is found.
    text: Its docstring.
    types: The parameters by their names, in order, with their annotations.
    """
    plain = cast("FunctionType", function)
    plain.__code__ = plain.__code__.replace(
        co_name=name, co_qualname=name, co_varnames=tuple(types)
    )
    plain.__module__, plain.__name__, plain.__qualname__ = module, name, name
    plain.__doc__ = text
    plain.__annotations__ = {**types, "return": "Array"}
    return function


def elementwise_function(op: Primitive, module: str) -> Callable[..., Array]:
    """The public function of a unary or a binary primitive."""

    def of_one(x: Array, /) -> Array:
        return unary(op, x)

    def of_two(x1: ArrayOrScalar, x2: ArrayOrScalar, /) -> Array:
        return binary(op, x1, x2)

    function: Callable[..., Array] = of_one if op.family == "unary" else of_two
    names = ("x",) if op.family == "unary" else ("x1", "x2")
    types = dict.fromkeys(names, annotation(op))
    return with_native(presented(function, module, op.name, docstring(op), types))
