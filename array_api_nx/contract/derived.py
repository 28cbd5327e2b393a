"""Backends that do the same for all methods: their methods are derived from the contract.

`derive` gives a class a method for each method of the contract that the class does not write
itself. All of them lead to the method `call` of the class, which gets the `Method` and the
arguments.
"""

from __future__ import annotations

from abc import update_abstractmethods
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, wraps
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from .arguments import Handle
from .backend import Backend
from .program import Argument

__all__ = ["NOT_HANDLES", "Derived", "Method", "derive", "method_of"]

if TYPE_CHECKING:
    Derived: TypeAlias = Any
    """`Backend`, of which type checkers do not see the methods that `derive` adds."""
else:
    Derived = Backend

_SCALARS: Final = (bool, int, float, complex)

NOT_HANDLES: Final[dict[str, tuple[type, ...]]] = {
    "Handle": (),
    "Handle | None": (NoneType,),
    "Sequence[Handle]": (),
    "Operand": _SCALARS,
    "Operand | None": (*_SCALARS, NoneType),
    "int | Handle": (int,),
    "Keys": (int, NoneType),
    "tuple[Handle | float, ...]": (float,),
}
"""The annotations of parameters that take handles, with the types of their other arguments."""


class Method(NamedTuple):
    """The signature of a method of the contract.

    Attributes
    ----------
    name : str
    parameters : dict of str to str
        The annotation of each parameter but `self`, those that are keywords alone at the end.
    positional : int
        How many of them are no keywords alone.
    variadic : bool
        Whether the last one takes all further arguments, as a tuple.
    defaults : dict of str to object
    operands : tuple of int
        The positions of the parameters that take handles.
    """

    name: str
    parameters: dict[str, str]
    positional: int
    variadic: bool
    defaults: dict[str, Argument]
    operands: tuple[int, ...]

    def values(
        self, arguments: Sequence[Argument], keywords: Mapping[str, Argument]
    ) -> list[Argument]:
        """The value of each parameter in a call."""
        if self.variadic:
            first = len(self.parameters) - 1
            return [*arguments[:first], tuple(arguments[first:])]
        values = list(arguments)
        if len(values) < len(self.parameters):
            for name in list(self.parameters)[len(values) :]:
                values.append(keywords[name] if name in keywords else self.defaults[name])
        return values


@cache
def method_of(name: str) -> Method:
    """The signature of the method `name` of the contract."""
    function = getattr(Backend, name)
    code = function.__code__
    count = code.co_argcount - 1
    variadic = bool(code.co_flags & 0x04)  # CO_VARARGS
    names = [*code.co_varnames[1 : 1 + count + code.co_kwonlyargcount]]
    if variadic:
        names.append(code.co_varnames[1 + len(names)])
    parameters = {each: function.__annotations__[each] for each in names}
    values = function.__defaults__ or ()
    defaults = dict(zip(names[count - len(values) : count], values, strict=True))
    operands = [i for i, each in enumerate(parameters.values()) if each in NOT_HANDLES]
    return Method(
        name,
        parameters,
        count + variadic,
        variadic,
        {**defaults, **(function.__kwdefaults__ or {})},
        tuple(operands),
    )


_Class = TypeVar("_Class", bound=type)


def derive(names: Collection[str]) -> Callable[[_Class], _Class]:
    """A decorator that adds the methods `names` to a class, but for those that it defines."""

    def decorate(cls: _Class) -> _Class:
        for name in names:
            if name not in vars(cls):
                setattr(cls, name, _calling(name))
        update_abstractmethods(cls)
        return cls

    return decorate


def _calling(name: str) -> Callable[..., Handle]:
    @wraps(getattr(Backend, name), updated=())
    def derived(self: Any, *arguments: Argument, **keywords: Argument) -> Handle:
        return self.call(method_of(name), arguments, keywords)

    return derived
