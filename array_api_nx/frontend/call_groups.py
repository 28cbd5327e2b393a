"""Groups of calls that compute element by element: each becomes a compiled function of its own.

The function of a group is planned as any other, as fused kernels. Groups of equal calls, as the
steps of a loop make them, have one function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from .array import Array

__all__ = ["FUSED", "Call", "Group", "Template", "Value", "grouped", "use_compiler"]

Value: TypeAlias = Any
"""An argument of a call, or a result."""
Template: TypeAlias = Any
"""The number of a value, or (callable or None, templates); see `native.CallList`."""

FUSED: Final = frozenset({"binary", "cast", "clip", "unary", "where"})
"""The steps of calls that a group consists of."""
_LEAST: Final = 4
"""The operations that make a group worth its call (docs/tuning.md, 121)."""
_MOST: Final = 48
"""The calls of a group: more do not fit one kernel."""
_MOST_ARRAYS: Final = 12
"""Of its arguments, as native/call_lists.c takes them, and of its results."""


class Call(NamedTuple):
    """A call: its description as `native.CallList` takes it, with numbers of values for slots.

    Attributes
    ----------
    read : tuple of int
        The arrays among the arguments.
    operations : int
        How many operations it does element by element; 0 if it moves its only array, -1 if it does
        anything else.
    """

    callable: Value
    arguments: tuple[Template, ...]
    names: tuple[str, ...]
    results: int | tuple[int, ...]
    read: tuple[int, ...]
    operations: int = -1


_compile: Callable[[Callable[..., Value]], Value] | None = None


def use_compiler(compiler: Callable[[Callable[..., Value]], Value]) -> None:
    """Set what makes a compiled function of one."""
    global _compile
    _compile = compiler


def grouped(
    calls: Sequence[Call], shown: Sequence[int], constants: Mapping[int, Value]
) -> list[Call]:
    """The calls with one call in place of each group.

    shown: The arrays that the whole function returns.
    constants: The values of arguments that are the same in all calls.
    """
    last = {number: i for i, call in enumerate(calls) for number in call.read}
    last.update(dict.fromkeys(shown, len(calls)))
    functions: dict[Value, Value] = {}
    found: list[Call] = []
    start = 0
    while start < len(calls):
        end = start
        while end < len(calls) and end - start < _MOST and calls[end].operations >= 0:
            end += 1
        if sum([call.operations for call in calls[start:end]]) >= _LEAST:
            found += _group(calls, start, end, last, constants, functions)
        else:
            end = max(end, start + 1)
            found += calls[start:end]
        start = end
    return found


def _group(
    calls: Sequence[Call],
    start: int,
    end: int,
    last: Mapping[Value, int],
    constants: Mapping[int, Value],
    functions: dict[Value, Value],
) -> list[Call]:
    """One call for those from `start` to `end`; the same calls if that cannot be."""
    inside = list(calls[start:end])
    # Views that later calls read are made before: a group writes nothing.
    before: list[Call] = []
    here = {call.results for call in inside}
    for call in [call for call in inside if not call.operations]:
        if last.get(call.results, -1) >= end and here.isdisjoint(call.read):
            before.append(call)
            inside.remove(call)
            here.remove(call.results)
    made: dict[int, Call] = {call.results: call for call in inside if type(call.results) is int}
    given = list(dict.fromkeys([n for call in inside for n in call.read if n not in made]))
    results = [n for n in made if last.get(n, -1) >= end]
    # What the function returns must not share memory with another array.
    is_computed = all([made[n].operations > 0 for n in results])
    if not is_computed or not results or max(len(given), len(results)) > _MOST_ARRAYS:
        return [*before, *inside]
    numbers = {n: i for i, n in enumerate([*given, *made])}
    steps = tuple(
        [(call.callable, _renumbered(call.arguments, numbers), call.names) for call in inside]
    )
    places = tuple([numbers[n] for n in results])
    key = steps, len(given), places
    function = functions.get(key)
    if function is None:
        assert _compile is not None
        function = functions[key] = _compile(Group(steps, places, constants))
    several = tuple(results) if len(results) > 1 else results[0]
    return [*before, Call(function, tuple(given), (), several, tuple(given))]


def _renumbered(x: Template, numbers: Mapping[int, int]) -> Template:
    """A template with other numbers of arrays; those of constants become negative."""
    if type(x) is int:
        return numbers.get(x, -1 - x)
    return tuple([_renumbered(part, numbers) for part in x]) if type(x) is tuple else x


class Group:
    """The function of a group."""

    def __init__(
        self,
        steps: Sequence[tuple[Value, tuple[Template, ...], tuple[str, ...]]],
        results: tuple[int, ...],
        constants: Mapping[int, Value],
    ) -> None:
        self._steps = steps
        self._results = results
        self._constants = {
            number: constants[-1 - number] for number in set(_constants_in([x[1] for x in steps]))
        }

    def __call__(self, *arrays: Array) -> Value:
        values = dict(enumerate(arrays))
        values.update(self._constants)
        for callable_, templates, names in self._steps:
            arguments = [_filled(x, values) for x in templates]
            positional = len(arguments) - len(names)
            if type(callable_) is str:
                member = getattr(arguments[0], callable_)
                result = member(*arguments[1:]) if callable(member) else member
            else:
                named = dict(zip(names, arguments[positional:], strict=True))
                result = callable_(*arguments[:positional], **named)
            values[len(values) - len(self._constants)] = result
        found = [values[number] for number in self._results]
        return tuple(found) if len(found) > 1 else found[0]


def _constants_in(x: Template) -> Iterator[int]:
    if type(x) is int and x < 0:
        yield x
    elif isinstance(x, tuple | list):
        for part in x:
            yield from _constants_in(part)


def _filled(x: Template, values: Mapping[int, Value]) -> Value:
    if type(x) is int:
        return values[x]
    make, parts = x
    made = tuple([_filled(part, values) for part in parts])
    return made if make is None else make(made)
