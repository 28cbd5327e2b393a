"""Groups of calls that compute element by element: each is computed in one pass where that can be
(native/callables/call_groups.c). Equal groups, as the steps of a loop make them, are one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

Value: TypeAlias = Any
"""An argument of a call, or a result."""
Template: TypeAlias = Any
"""The number of a value, or (callable or None, templates); see `native.CallList`."""

FUSED: Final = frozenset({"binary", "cast", "clip", "unary", "where"})
"""The steps of calls that a group consists of."""
_LEAST: Final = 2
"""The operations that make a group worth its call (docs/tuning.md, 121)."""
_MOST: Final = 128
"""The calls of a group, so that an expression has room for their operations."""
_MOST_ARRAYS: Final = 12
"""Of its arguments, as native/callables/call_lists.c takes them, and of its results."""


class Call(NamedTuple):
    """A call: its description as `native.CallList` takes it, with numbers of values for slots.

    read: The arrays among the arguments.
    operations: How many operations it does element by element; 0 if it moves its only array, -1 if
        it does anything else.
    """

    callable: Value
    arguments: tuple[Template, ...]
    names: tuple[str, ...]
    results: int | tuple[int, ...]
    read: tuple[int, ...]
    operations: int = -1


MakeGroup: TypeAlias = Callable[[Sequence[Call], Sequence[int], Sequence[int]], Value]
"""From calls, arrays that they read from outside, and results that others read, to a group."""


def grouped(calls: Sequence[Call], shown: Sequence[int], make: MakeGroup) -> list[Call]:
    """The calls with one call in place of each group.

    shown: The arrays that the whole function returns.
    """
    last = {number: i for i, call in enumerate(calls) for number in call.read}
    last.update(dict.fromkeys(shown, len(calls)))
    groups: dict[Value, Value] = {}
    found: list[Call] = []
    start = 0
    while start < len(calls):
        end = start
        while end < len(calls) and end - start < _MOST and calls[end].operations >= 0:
            end += 1
        if sum([call.operations for call in calls[start:end]]) >= _LEAST:
            found += _group(calls, start, end, last, make, groups)
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
    make: MakeGroup,
    groups: dict[Value, Value],
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
    group = groups.get(key)
    if group is None:
        group = groups[key] = make(inside, given, results)
    several = tuple(results) if len(results) > 1 else results[0]
    return [*before, Call(group, tuple(given), (), several, tuple(given))]


def _renumbered(x: Template, numbers: Mapping[int, int]) -> Template:
    """A template with other numbers of arrays; those of constants become negative."""
    if type(x) is int:
        return numbers.get(x, -1 - x)
    return tuple([_renumbered(part, numbers) for part in x]) if type(x) is tuple else x
