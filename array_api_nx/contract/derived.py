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
from .handles import Handles
from .interface import Interface
from .program import Argument

if TYPE_CHECKING:
    Derived: TypeAlias = Any
    """`Backend` for type checkers, which do not see the methods that `derive` adds."""
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

    `names`: the parameters but `self`, those that are keywords alone at the end.
    `annotations`: theirs.
    `positional`: how many of them are no keywords alone.
    `variadic`: whether the last one takes all further arguments, as a tuple.
    `operands`: the positions of the parameters that take handles.
    `several`: whether the result is a tuple.
    """

    name: str
    names: tuple[str, ...]
    annotations: tuple[str, ...]
    positional: int
    variadic: bool
    defaults: dict[str, Argument]
    operands: tuple[int, ...]
    several: bool

    def values(
        self, arguments: Sequence[Argument], keywords: Mapping[str, Argument]
    ) -> list[Argument]:
        """The value of each parameter in a call."""
        if self.variadic:
            first = len(self.names) - 1
            return [*arguments[:first], tuple(arguments[first:])]
        rest = self.names[len(arguments) :]
        if not rest:
            return list(arguments)
        return [*arguments, *[keywords[x] if x in keywords else self.defaults[x] for x in rest]]

    def mapped(
        self, values: Sequence[Argument], function: Callable[[Argument], Argument]
    ) -> list[Argument]:
        """`values` with `function` of each operand, and of those within tuples and lists."""
        found = list(values)
        for i in self.operands:
            x = found[i]
            if isinstance(x, tuple | list):
                found[i] = tuple([function(each) for each in x])
            else:
                found[i] = function(x)
        return found

    def without(self, name: str) -> Method:
        """The same without the parameter `name`, which is the last one that is positional."""
        last = self.positional - 1
        assert self.names[last] == name
        return self._replace(
            names=(*self.names[:last], *self.names[last + 1 :]),
            annotations=(*self.annotations[:last], *self.annotations[last + 1 :]),
            positional=last,
            operands=tuple([i for i in self.operands if i != last]),
        )


@cache
def method_of(name: str) -> Method:
    """The signature of the method `name` of the contract."""
    function = getattr(Interface, name)
    code = function.__code__
    count = code.co_argcount - 1
    variadic = bool(code.co_flags & 0x04)  # CO_VARARGS
    names = [*code.co_varnames[1 : 1 + count + code.co_kwonlyargcount]]
    if variadic:
        names.append(code.co_varnames[1 + len(names)])
    annotations = tuple([function.__annotations__[each] for each in names])
    values = function.__defaults__ or ()
    defaults = dict(zip(names[count - len(values) : count], values, strict=True))
    operands = [i for i, each in enumerate(annotations) if each in NOT_HANDLES]
    return Method(
        name,
        tuple(names),
        annotations,
        count + variadic,
        variadic,
        {**defaults, **(function.__kwdefaults__ or {})},
        tuple(operands),
        function.__annotations__["return"].startswith("tuple"),
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


def resemble(backend: Backend, other: Backend) -> None:
    """Let a backend say of its memory what the one says that it stands for."""
    for name in Handles.__annotations__:
        setattr(backend, name, getattr(other, name))


def _calling(name: str) -> Callable[..., Handle]:
    method: Method | None = None

    @wraps(getattr(Interface, name), updated=())
    def derived(self: Any, *arguments: Argument, **keywords: Argument) -> Handle:
        nonlocal method
        if method is None:  # the first call
            method = method_of(name)
        return self.call(method, arguments, keywords)

    return derived
