"""The calls that a function makes while it is traced, which C makes again in their order.

A program (contract/program.py) says what a function computes, in steps of the contract. What is
recorded here are the calls of public functions and operators that led to them, the outermost ones.
To make them again costs what the function costs, less the Python code between them, whatever they
are (native/call_lists.c). The CPU runs arrays of few elements so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from ..config import stack
from ..contract.program import Generated, Program
from ..core.real import Real
from ..core.symbolic import Dim, SymbolicShape
from ..device import Device
from ..native import native
from ..tracing.recorder import Traced, current
from .array import MEANINGS, Array
from .trees import Tree, template

if TYPE_CHECKING:
    from .._native import Native

__all__ = ["CallRecorder", "Calls", "record_calls"]

Value: TypeAlias = Any
"""An argument of a call, or a result."""
Template: TypeAlias = Any
"""The number of a value, or (callable or None, templates); see `native.CallList`."""

_MOST_ARGUMENTS: Final = 12
"""As many as native/call_lists.c takes."""


class _Call(NamedTuple):
    """A call: its description as `native.CallList` takes it, with numbers of values for slots."""

    callable: Value
    arguments: tuple[Template, ...]
    names: tuple[str, ...]
    results: int | tuple[int, ...]


class Calls:
    """The calls of a function, for arguments of any sizes that its program fits.

    Parameters
    ----------
    program : Program
    call_list : CallList
    sized : tuple
        The values that depend on sizes.
    """

    def __init__(self, program: Program, call_list: Native.CallList, sized: list[Value]) -> None:
        self.call_list = call_list
        self._sized = sized
        self._symbols = list(dict.fromkeys(_symbols_in(sized)))
        self._evaluate: Generated = program.function_of(self._symbols)

    def at(self, sizes: tuple[int, ...]) -> tuple[Value, ...]:
        """The values that depend on sizes."""
        if not self._sized:
            return ()
        numbers = dict(zip(self._symbols, self._evaluate(*sizes), strict=True))
        return tuple([_at(x, numbers) for x in self._sized])


class CallRecorder:
    """Records the calls of one trace.

    Attributes
    ----------
    inside : bool
        Whether a call is going on that is recorded: those that it makes are not.
    is_complete : bool
        Whether the calls so far do all that the function did.
    """

    def __init__(self, arguments: Sequence[Array]) -> None:
        self.inside = False
        self.is_complete = True
        self._settings = stack.get()
        self._values = list(arguments)  # arrays, so that no other one has the same id
        self._numbers = {id(x): i for i, x in enumerate(arguments)}
        self._given = len(arguments)
        self._constants: dict[int, Value] = {}  # by their numbers, as below
        self._sized: dict[int, Value] = {}
        self._calls: list[_Call] = []

    def note(
        self,
        function: Value,
        fronted: Value,
        args: tuple[Value, ...],
        named: Mapping[str, Value],
        result: Value,
    ) -> None:
        """Note a call, unless it only answered a question."""
        parts = result if isinstance(result, tuple | list) else (result,)
        if not any([type(x) is Array for x in parts]) and result is not None:
            return
        if fronted is None:
            fronted = _METHODS.get(id(function))
        total = len(args) + len(named)
        if fronted is None or stack.get() is not self._settings or total > _MOST_ARGUMENTS:
            self.is_complete = False
            return
        arguments = tuple([self._argument(x) for x in (*args, *named.values())])
        results: int | tuple[int, ...]
        if type(result) is Array or result is None:
            results = self._result(result)
        else:
            results = tuple([self._result(x) for x in result])
        self._calls.append(_Call(fronted, arguments, tuple(named), results))

    def _result(self, x: Value) -> int:
        """The number of a result; -1 for an array that was there before."""
        if type(x) is not Array or id(x) in self._numbers:
            return -1
        return self._new_value(x)

    def _new_value(self, x: Value) -> int:
        self._values.append(x)
        number = len(self._values) - 1
        if type(x) is Array:
            self._numbers[id(x)] = number
        return number

    def _argument(self, x: Value) -> Template:
        if type(x) is Array:
            number = self._numbers.get(id(x))
            if number is None:
                number = self._new_value(x)
                # An array from outside of the function, or one that no call gave.
                self._constants[number] = x
                self.is_complete &= type(x._handle) is not Traced
            return number
        if type(x) in (tuple, list) and _has_arrays(x):
            return None if type(x) is tuple else list, tuple([self._argument(part) for part in x])
        self.is_complete &= _is_repeatable(x)
        return self._constant(_copied(x))

    def _constant(self, x: Value) -> int:
        number = self._new_value(x)
        if any(True for _ in _symbols_in(x)):
            self._sized[number] = x
        else:
            self._constants[number] = x
        return number

    def calls(self, program: Program, result: Tree) -> Calls | None:
        """The calls, for a function that returned `result`; None if something else was done."""
        assert native is not None

        def leaf(x: Tree) -> Template:
            return self._argument(x) if type(x) is Array else self._constant(x)

        made = template(leaf, result)
        if not self.is_complete:
            return None
        order = [*range(self._given), *self._constants, *self._sized]
        slots = {number: slot for slot, number in enumerate(order)}
        described, count = _placed(self._calls, made, slots)
        call_list = native.CallList(
            count,
            self._given,
            tuple(self._constants.values()),
            len(self._sized),
            tuple(described),
            _with_slots(made, slots),
        )
        return Calls(program, call_list, list(self._sized.values()))


def _placed(
    calls: Sequence[_Call], result: Template, slots: dict[int, int]
) -> tuple[list[tuple[Value, ...]], int]:
    """The calls with slots for values, and how many slots there are.

    Results are entered in `slots`. One whose last reader has run leaves its slot to others.
    """
    fixed = len(slots)
    last = {number: i for i, call in enumerate(calls) for number in _numbers_in(call.arguments)}
    last.update(dict.fromkeys(_numbers_in(result), len(calls)))
    free: list[int] = []
    count = fixed
    found = []
    for i, call in enumerate(calls):
        arguments = _with_slots(call.arguments, slots)
        several = isinstance(call.results, tuple)
        targets = []
        for number in call.results if isinstance(call.results, tuple) else (call.results,):
            if number not in last:
                targets.append(-1)
                continue
            if not free:
                free.append(count)
                count += 1
            slots[number] = free.pop()
            targets.append(slots[number])
        read = dict.fromkeys(_numbers_in(call.arguments))
        ended = [slots[n] for n in read if last[n] == i and slots[n] >= fixed]
        free += ended
        results = tuple(targets) if several else targets[0]
        found.append((call.callable, arguments, call.names, results, tuple(ended)))
    return found, count


def _numbers_in(x: Template) -> Iterator[int]:
    if type(x) is int:
        yield x
    elif type(x) is tuple:
        for part in x:
            yield from _numbers_in(part)


def _with_slots(x: Template, slots: Mapping[int, int]) -> Template:
    if type(x) is int:
        return slots[x]
    return tuple([_with_slots(part, slots) for part in x]) if type(x) is tuple else x


# ---------------------------------------------------------------------- what arguments are made of

_REPEATABLE: Final = (
    bool, int, float, complex, str, bytes, type(None), type(...), type, Dim, Real, Device,
    np.generic, np.dtype, np.ufunc,
)  # fmt: skip
"""What arguments of calls may be made of, besides tuples, lists and slices: it never changes."""


def _is_repeatable(x: Value) -> bool:
    if type(x) in (tuple, list, SymbolicShape):
        return all([_is_repeatable(part) for part in x])
    if type(x) is slice:
        return all([_is_repeatable(part) for part in (x.start, x.stop, x.step)])
    return isinstance(x, _REPEATABLE)


def _has_arrays(x: Value) -> bool:
    if type(x) in (tuple, list):
        return any([_has_arrays(part) for part in x])
    return type(x) is Array


def _copied(x: Value) -> Value:
    """`x` with copies of its lists, which the function may change."""
    return [_copied(part) for part in x] if type(x) is list else x


def _symbols_in(x: Value) -> Iterator[Dim | Real]:
    if isinstance(x, Dim | Real):
        yield x
    elif isinstance(x, tuple | list):
        for part in x:
            yield from _symbols_in(part)
    elif type(x) is slice:
        yield from _symbols_in((x.start, x.stop, x.step))


def _at(x: Value, numbers: Mapping[Dim | Real, Value]) -> Value:
    """`x` with numbers for symbols."""
    if isinstance(x, Dim | Real):
        return numbers[x]
    if type(x) in (tuple, SymbolicShape):
        return tuple([_at(part, numbers) for part in x])
    if type(x) is list:
        return [_at(part, numbers) for part in x]
    if type(x) is slice:
        return slice(*[_at(part, numbers) for part in (x.start, x.stop, x.step)])
    return x


# ---------------------------------------------------------------------- where calls are seen

_METHODS: Final[dict[int, str]] = {}
"""The names of methods and operators, by the ids of the functions that C asks for them."""


def call(function: Callable[..., Value], fronted: Value, /, *args: Value, **named: Value) -> Value:
    """A call of `function`, behind the compiled callable `fronted`, or a method of arrays."""
    recorder = current.get()
    calls = None if recorder is None else recorder.calls
    if calls is None or calls.inside:
        return function(*args, **named)
    calls.inside = True
    try:
        result = function(*args, **named)
    finally:
        calls.inside = False
    calls.note(function, fronted, args, named, result)
    return result


def record_calls(is_tracing: bool) -> None:
    """Let C ask `call` for all Python functions behind it while functions are traced."""
    if native is not None:
        if not _METHODS:
            _METHODS.update({id(function): name for name, function in MEANINGS.items()})
        native.set_recorder(call if is_tracing else None)
