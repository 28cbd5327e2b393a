"""How a function is to be called, said where a call's arguments fit none of its parameters.

The standard makes most options keyword-only, and takes shapes and arrays as one tuple. Who comes
from NumPy or PyTorch writes ``sum(x, 0)``, ``concat(x, y)`` or ``sum(x, dim=0)``, to which Python
says how many positional arguments there are, and not what to write.

Modules import this on such an error, never before.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Final

from ..core.dtypes import as_dtype
from ..core.spelling import did_you_mean
from ..native import COLLECTIONS
from .array import Array

__all__ = ["advise"]

# What other libraries call parameters; of several names that with which the function knows one.
_RENAMED: Final[dict[str, tuple[str, ...]]] = {
    "a": ("x",),
    "a_max": ("max",),
    "a_min": ("min",),
    "arr": ("x",),
    "axes": ("axis",),
    "axis": ("axes",),
    "ddof": ("correction",),
    "decreasing": ("descending",),
    "dim": ("axis", "axes"),
    "dims": ("axes", "axis"),
    "diagonal": ("k", "offset"),
    "input": ("x",),
    "keepdim": ("keepdims",),
    "kind": ("stable",),
    "newshape": ("shape",),
    "reps": ("repetitions",),
    "right": ("side",),
    "shifts": ("shift",),
    "size": ("shape",),
    "tensors": ("arrays",),
}
# Those whose values are of another kind in the other library: the name alone is told.
_OTHER_VALUES: Final = frozenset({"kind", "right"})
# Parameters of NumPy's functions that nothing here corresponds to, and what to do instead.
_WITHOUT: Final[dict[str, str]] = {
    "out": "nothing is written into arrays that are given: assign the result, y[...] = {}(...)",
    "where": "select before the call, with where(condition, x, 0) or x[condition]",
    "order": "how elements lie in memory is not for the caller to say: leave it out",
    "like": "arrays are always of this namespace: leave it out",
    "subok": "arrays are always of this namespace: leave it out",
    "casting": "convert with astype(...) before the call",
    "initial": "combine the result with the initial value after the call",
    "requires_grad": "gradients are PyTorch's: ask for them before asarray(...)",
}
# Functions of two arrays that are called like reductions of one.
_OF_TWO: Final[dict[str, str]] = {"max": "maximum", "min": "minimum"}
# Options that NumPy has in another order, which is what a caller by position means.
_FIRST: Final[dict[str, str]] = {"matrix_norm": "ord", "vector_norm": "ord"}
# Longer values are told by the names of their parameters.
_LONGEST: Final = 40


def advise(
    function: Callable[..., object],
    args: tuple[object, ...],
    names: tuple[str, ...] | None,
    error: TypeError,
) -> TypeError:
    """The error to raise for a call that Python refused with `error`.

    Parameters
    ----------
    function : callable
        A function in Python.
    args, names : tuple
        All arguments, those by name at the end, and their names.
    error : TypeError
        Python's.

    Returns
    -------
    TypeError
        Python's words, and after them the rule and the call that is meant, or `error` if that
        cannot be told.
    """
    count = len(args) - len(names or ())
    named = dict(zip(names or (), args[count:], strict=True))
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name == "self":
        # Of a method, whose array is no argument of the call as it is written.
        del parameters[0]
        args, count = args[1:], count - 1
    found = (
        _unknown_name(function, parameters, args[:count], named)
        or _too_many(function, parameters, args[:count], named)
        or _no_names(function, parameters, args[:count], named)
    )
    return TypeError(f"{error}; {found}") if found else error


def _by_position(parameters: Sequence[Parameter]) -> list[Parameter]:
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return [each for each in parameters if each.kind in kinds]


def _by_name(parameters: Sequence[Parameter]) -> list[Parameter]:
    return [each for each in parameters if each.kind is Parameter.KEYWORD_ONLY]


# ---------------------------------------------------------------------- too many by position


def _too_many(
    function: Callable[..., object],
    parameters: Sequence[Parameter],
    args: tuple[object, ...],
    named: Mapping[str, object],
) -> str:
    """What is wrong with more arguments by position than there are; empty if that is not it."""
    places = _by_position(parameters)
    if len(args) <= len(places) or any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return ""
    given, further = list(args[: len(places)]), list(args[len(places) :])
    rules = []
    last = places[-1].name if places else ""
    if last in COLLECTIONS and (member := _member(last, given[-1])) is not None:
        several = [given[-1]]
        while further and _member(last, further[0]) is member:
            several.append(further.pop(0))
        if len(several) > 1:
            rules.append(f"{_plural(last)} go into one tuple")
            given[-1] = tuple(several)
    misplaced = {}
    options = [each for each in _by_name(parameters) if each.name not in named]
    options.sort(key=lambda each: each.name != _FIRST.get(function.__name__))
    for value in further:
        fitting = [each for each in options if _fits(value, str(each.annotation))]
        if not fitting:
            return _nothing_fits(function, value, options)
        misplaced[fitting[0].name] = value
        # Options stand in the same order almost everywhere.
        options = options[options.index(fitting[0]) + 1 :]
    if misplaced:
        rules.append(_rule(function, misplaced))
    call = _call(function, places, given, {**misplaced, **named})
    return f"{', and '.join(rules)}: {call}"


def _member(name: str, value: object) -> type | None:
    """What a collection of such a value would be a collection of; None if it is none."""
    if name == "arrays":
        return Array if isinstance(value, Array) else None
    return int if isinstance(value, int) and not isinstance(value, bool) else None


def _plural(name: str) -> str:
    return {"shape": "the sizes", "axis": "the axes"}.get(name, f"the {name}")


def _rule(function: Callable[..., object], names: Mapping[str, object]) -> str:
    *others, last = names
    several = f"{', '.join(others)} and {last}" if others else last
    if function.__module__.startswith("array_api_nx.extra"):
        return f"{several} {'are' if len(names) > 1 else 'is'} keyword-only"
    return f"the standard makes {several} keyword-only"


def _fits(value: object, annotation: str) -> bool:
    """Whether a parameter with such an annotation takes such a value."""
    if value is None:
        return "None" in annotation
    if isinstance(value, bool):
        return "bool" in annotation
    if "DTypeLike" in annotation:
        try:
            as_dtype(value)
        except TypeError:
            return False
        return True
    if isinstance(value, str):
        return "str" in annotation or f"'{value}'" in annotation or "Norm" in annotation
    if isinstance(value, int):
        return "int" in annotation
    if isinstance(value, float):
        return "float" in annotation
    if isinstance(value, tuple | list):
        return "tuple" in annotation or "Sequence" in annotation
    return isinstance(value, Array) and "Array" in annotation


def _nothing_fits(
    function: Callable[..., object], value: object, options: Sequence[Parameter]
) -> str:
    name = function.__name__
    if isinstance(value, Array):
        if name in _OF_TWO:
            return f"of two arrays, element by element: {_OF_TWO[name]}(x1, x2)"
        if not options:
            return _WITHOUT["out"].format(name)
    if name == "view":
        return "views have another dtype: for another shape use x.reshape(...)"
    if name == "round":
        return "the standard rounds to integers alone: use x.round(decimals)"
    if not options:
        return ""
    return f"by keyword it takes {', '.join(each.name for each in options)}"


# ---------------------------------------------------------------------- names


def _unknown_name(
    function: Callable[..., object],
    parameters: Sequence[Parameter],
    args: tuple[object, ...],
    named: Mapping[str, object],
) -> str:
    """What is wrong with a name that no parameter has; empty if all are known."""
    known = {each.name: each for each in parameters}
    renamed: dict[str, str] = {}
    for name in named:
        if name in known:
            continue
        if name in _WITHOUT:
            return _WITHOUT[name].format(_name(function))
        called = [each for each in _RENAMED.get(name, ()) if each in known and each not in named]
        if not called:
            others = [each for each in known if each not in named]
            return did_you_mean(name, others).removeprefix("; ")
        parameter = known[called[0]]
        if parameter.kind is Parameter.POSITIONAL_ONLY:
            return f"{called[0]} is given by position: {_name(function)}({called[0]}, ...)"
        if name in _OTHER_VALUES:
            return f"here it is {called[0]}, which is {parameter.default!r} by default"
        renamed[name] = called[0]
    if not renamed:
        return ""
    call = _call(
        function,
        _by_position(parameters),
        args,
        {renamed.get(name, name): value for name, value in named.items()},
    )
    pairs = " and ".join(f"{name} is called {renamed[name]}" for name in renamed)
    return f"{pairs} here: {call}"


def _no_names(
    function: Callable[..., object],
    parameters: Sequence[Parameter],
    args: tuple[object, ...],
    named: Mapping[str, object],
) -> str:
    """What is wrong with names for parameters that have none; empty if that is not it."""
    only = [each for each in parameters if each.kind is Parameter.POSITIONAL_ONLY]
    wrong = [each.name for each in only if each.name in named]
    if not wrong:
        return ""
    values = [*args, *(named[name] for name in wrong)]
    others = {name: value for name, value in named.items() if name not in wrong}
    call = _call(function, only, values, others)
    return f"give {' and '.join(wrong)} by position: {call}"


# ---------------------------------------------------------------------- the call


def _call(
    function: Callable[..., object],
    places: Sequence[Parameter],
    given: Sequence[object],
    named: Mapping[str, object],
) -> str:
    """The call as it is to be written; arrays and long values by the names of their parameters."""
    parts = [
        _written(value, parameter.name) for parameter, value in zip(places, given, strict=False)
    ]
    parts += [f"{name}={_written(value, name)}" for name, value in named.items()]
    return f"{_name(function)}({', '.join(parts)})"


def _name(function: Callable[..., object]) -> str:
    return f"{'x.' * function.__qualname__.startswith('Array.')}{function.__name__}"


def _written(value: object, name: str) -> str:
    if isinstance(value, tuple) and any(isinstance(each, Array) for each in value):
        return f"({', '.join(f'x{i + 1}' for i in range(len(value)))})"
    if isinstance(value, bool | int | float | str | tuple | list | None):
        text = repr(value)
        return text if len(text) <= _LONGEST else name
    if name == "dtype":
        try:
            return str(as_dtype(value))
        except TypeError:
            pass
    return name
