"""Advice on calls whose arguments fit no parameters of a function.

The standard makes most options keyword-only, and takes shapes and arrays as one tuple. Users of
NumPy and PyTorch write ``sum(x, 0)``, ``concat(x, y)`` or ``sum(x, dim=0)``. Python's message only
counts the positional arguments; this module adds the call to write.

Modules import this on such an error, never before.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from inspect import Parameter
from typing import Final, TypeAlias

from ..core.dtypes import as_dtype
from ..core.spelling import did_you_mean
from ..native import COLLECTIONS
from .array import Array
from .missing import TABLES

Named: TypeAlias = dict[str, object]

_PARAMETERS: Final = TABLES["parameters"]
"""Other libraries' names of parameters, and ours: if there are several, the function has one."""

_WITHOUT: Final = TABLES["parameters without a counterpart"]
"""Parameters of other libraries that have no counterpart here, and what to do instead."""

_OTHER_VALUES: Final = frozenset({"kind", "right"})
"""Parameters whose values are of another kind in NumPy: the message has the name alone."""

_OF_TWO: Final[dict[str, str]] = {"max": "maximum", "min": "minimum"}
"""Functions of two arrays that are called like reductions of one."""

_FIRST: Final[dict[str, str]] = {"matrix_norm": "ord", "vector_norm": "ord"}
"""Options that NumPy has in another order: a caller by position means this one."""

_LONGEST: Final = 40
"""In characters; the names of their parameters stand for longer values."""


def advise(
    function: Callable[..., object],
    args: tuple[object, ...],
    names: tuple[str, ...] | None,
    error: TypeError,
) -> TypeError:
    """The error to raise for a call that Python refused with `error`.

    function: A function in Python.
    args, names (tuple): All arguments, those by name at the end, and their names.
    error: Python's.
    Returns: Python's words, and after them the rule and the call that is meant, or `error` if that
        cannot be told.
    """
    call = _Call(function, args, names or ())
    found = call.unknown_name() or call.too_many() or call.no_names()
    return TypeError(f"{error}; {found}") if found else error


class _Call:
    """A call that failed: each method says what is wrong with it, or "" if that is not it."""

    def __init__(
        self, function: Callable[..., object], args: tuple[object, ...], names: tuple[str, ...]
    ) -> None:
        parameters = list(inspect.signature(function).parameters.values())
        count = len(args) - len(names)
        self.named: Named = dict(zip(names, args[count:], strict=True))
        # The array of a method is no argument of the call as it is written.
        method = int(bool(parameters) and parameters[0].name == "self")
        self.args = args[method:count]
        self.parameters = parameters[method:]
        self.only = self._of_kind(Parameter.POSITIONAL_ONLY)
        self.places = self._of_kind(Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        self.function = function.__name__
        self.extra = function.__module__.startswith("array_api_nx.extra")
        self.name = f"{'x.' * function.__qualname__.startswith('Array.')}{self.function}"

    def _of_kind(self, *kinds: object) -> list[Parameter]:
        return [each for each in self.parameters if each.kind in kinds]

    def unknown_name(self) -> str:
        """A name that no parameter has."""
        known = {each.name: each for each in self.parameters}
        renamed: dict[str, str] = {}
        for name in self.named:
            if name in known:
                continue
            if name in _WITHOUT:
                return _WITHOUT[name].format(self.name)
            free = [each for each in known if each not in self.named]
            ours = [each for each in _PARAMETERS.get(name, "").split() if each in free]
            if not ours:
                return did_you_mean(name, free).removeprefix("; ")
            parameter = known[ours[0]]
            if parameter.kind is Parameter.POSITIONAL_ONLY:
                return f"{ours[0]} is given by position: {self.name}({ours[0]}, ...)"
            if name in _OTHER_VALUES:
                return f"here it is {ours[0]}, which is {parameter.default!r} by default"
            renamed[name] = ours[0]
        if not renamed:
            return ""
        named = {renamed.get(name, name): value for name, value in self.named.items()}
        pairs = " and ".join(f"{name} is called {ours}" for name, ours in renamed.items())
        return f"{pairs} here: {self._written(self.places, self.args, named)}"

    def too_many(self) -> str:
        """More arguments by position than there are places."""
        places = self.places
        if len(self.args) <= len(places) or self._of_kind(Parameter.VAR_POSITIONAL):
            return ""
        given, further = list(self.args[: len(places)]), list(self.args[len(places) :])
        rules = []
        last = places[-1].name if places else ""
        if last in COLLECTIONS and (member := _member(last, given[-1])) is not None:
            several = [given[-1]]
            while further and _member(last, further[0]) is member:
                several.append(further.pop(0))
            if len(several) > 1:
                plural = {"shape": "sizes", "axis": "axes"}.get(last, last)
                rules.append(f"the {plural} go into one tuple")
                given[-1] = tuple(several)
        misplaced: Named = {}
        options = [x for x in self._of_kind(Parameter.KEYWORD_ONLY) if x.name not in self.named]
        options.sort(key=lambda each: each.name != _FIRST.get(self.function))
        for value in further:
            fitting = [each for each in options if _fits(value, str(each.annotation))]
            if not fitting:
                return self._nothing_fits(value, options)
            misplaced[fitting[0].name] = value
            # Options stand in the same order almost everywhere.
            options = options[options.index(fitting[0]) + 1 :]
        if misplaced:
            rules.append(self._keyword_only([*misplaced]))
        call = self._written(places, given, {**misplaced, **self.named})
        return f"{', and '.join(rules)}: {call}"

    def _keyword_only(self, names: list[str]) -> str:
        several = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        if self.extra:
            return f"{several} {'are' if len(names) > 1 else 'is'} keyword-only"
        return f"the standard makes {several} keyword-only"

    def _nothing_fits(self, value: object, options: Sequence[Parameter]) -> str:
        if isinstance(value, Array) and self.function in _OF_TWO:
            return f"of two arrays, element by element: {_OF_TWO[self.function]}(x1, x2)"
        if isinstance(value, Array) and not options:
            return _WITHOUT["out"].format(self.function)
        if self.function == "view":
            return "views have another dtype: for another shape use x.reshape(...)"
        if self.function == "round":
            return "the standard rounds to integers alone: use x.round(decimals)"
        return f"by keyword it takes {', '.join(x.name for x in options)}" if options else ""

    def no_names(self) -> str:
        """Names for parameters that have none."""
        wrong = [each.name for each in self.only if each.name in self.named]
        if not wrong:
            return ""
        values = [*self.args, *[self.named[name] for name in wrong]]
        others = {name: value for name, value in self.named.items() if name not in wrong}
        call = self._written(self.only, values, others)
        return f"give {' and '.join(wrong)} by position: {call}"

    def _written(self, places: Iterable[Parameter], given: Iterable[object], named: Named) -> str:
        """The call as it would be right."""
        parts = [_value(value, each.name) for value, each in zip(given, places, strict=False)]
        parts += [f"{name}={_value(value, name)}" for name, value in named.items()]
        return f"{self.name}({', '.join(parts)})"


def _member(name: str, value: object) -> type | None:
    """The type of such a value as a member of a collection; None if it is none."""
    if name == "arrays":
        return Array if isinstance(value, Array) else None
    return int if isinstance(value, int) and not isinstance(value, bool) else None


_ANNOTATIONS: Final[tuple[tuple[type | tuple[type, ...], tuple[str, ...]], ...]] = (
    (type(None), ("None",)),
    (bool, ("bool",)),
    (str, ("str", "'{}'", "Norm")),
    (int, ("int",)),
    (float, ("float",)),
    ((tuple, list), ("tuple", "Sequence")),
    (Array, ("Array",)),
)
"""For values of each type a word in the annotations of parameters that take them."""


def _fits(value: object, annotation: str) -> bool:
    """Whether a parameter with such an annotation takes such a value."""
    if "DTypeLike" in annotation and value is not None and not isinstance(value, bool):
        return _dtype(value) is not None
    words = next((words for kind, words in _ANNOTATIONS if isinstance(value, kind)), ())
    return any(word.format(value) in annotation for word in words)


def _dtype(value: object) -> object:
    try:
        return as_dtype(value)
    except TypeError:
        return None


def _value(value: object, name: str) -> str:
    """An argument as text: for arrays and long values, the parameter's name."""
    if isinstance(value, tuple) and any(isinstance(each, Array) for each in value):
        return f"({', '.join(f'x{i + 1}' for i in range(len(value)))})"
    if isinstance(value, bool | int | float | str | tuple | list | None):
        text = repr(value)
        return text if len(text) <= _LONGEST else name
    return str(_dtype(value) or name) if name == "dtype" else name
