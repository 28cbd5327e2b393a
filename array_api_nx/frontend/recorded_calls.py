"""The calls that a function makes while it is traced, which C makes again in their order.

A program (contract/program.py) says what a function computes, in steps of the contract. What is
recorded here are the calls of public functions and operators that led to them, the outermost ones.
To make them again costs what the function costs, less the Python code between them, whatever they
are (native/callables/call_lists.c). So the CPU runs compiled functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from ..config import stack
from ..contract.program import Generated, Program, symbols_in
from ..core.dtypes import DType
from ..core.real import Real
from ..core.symbolic import Dim, SymbolicShape
from ..device import Device
from ..native import native
from ..tracing.recorder import Recorder, Traced, TracedStorage, current
from ..tracing.repeats import Keys, Pattern, Watch, is_plain
from .array import MEANINGS, Array, wrap
from .call_groups import FUSED, Call, Template, Value, grouped
from .trees import Tree, template

if TYPE_CHECKING:
    from .._native import Native

Shapes: TypeAlias = tuple[tuple[int, ...], ...]

_MOST_ARGUMENTS: Final = 12
"""As many as native/callables/call_lists.c takes."""


class Calls:
    """The calls of a function, for arguments of any sizes that its program fits.

    head: At least the inputs and guards of the program.
    constants, sized: The arguments of calls, by number, that are the same in all runs, and those
        that depend on sizes.
    result: What the function returns.
    shown: The arrays in it.
    """

    def __init__(
        self,
        head: Program,
        calls: Sequence[Call],
        constants: dict[int, Value],
        sized: dict[int, Value],
        result: Template,
        shown: Sequence[int],
    ) -> None:
        assert native is not None
        self._head = head
        self._sized = sized
        self._symbols = list(dict.fromkeys(symbols_in([*sized.values()])))
        self._evaluate: Generated = head.function_of(self._symbols)
        self._dtypes = [x.dtype for x in head.values[: len(head.inputs)]]
        self._bound: dict[Shapes, Native.CallList] = {}
        # An error can leave arguments half written only if a call comes after the first write.
        self._saves = any([call.results == -1 for call in calls[:-1]])
        given = range(len(head.inputs))
        arguments = constants | sized
        made = grouped(calls, shown, partial(_group, constants))
        self._list = _call_list([*given, *arguments], made, constants, len(sized), result, shown)

    def at(self, shapes: Shapes, written: tuple[int, ...]) -> Native.CallList | None:
        """The calls for arguments of given shapes, of which some must be writable; None if the
        program is not for them."""
        bound = self._bound.get(shapes)
        if bound is None:
            sizes = self._head.match(shapes)
            if sizes is None:
                return None
            numbers = dict(zip(self._symbols, self._evaluate(*sizes), strict=True))
            values = tuple([_at(x, numbers) for x in self._sized.values()])
            expected = tuple(zip(shapes, self._dtypes, strict=True))
            if len(self._bound) >= _MOST_BOUND:
                self._bound.clear()
            bound = self._bound[shapes] = self._list.at(expected, values, written, self._saves)
        return bound


_MOST_BOUND: Final = 256


def _call_list(
    order: Sequence[int],
    calls: Sequence[Call],
    constants: Mapping[int, Value],
    sized: int,
    result: Template,
    shown: Sequence[int],
) -> Native.CallList:
    """The list of calls whose first slots have the values of these numbers: arguments, constants,
    and so many that depend on sizes."""
    assert native is not None
    slots = {number: slot for slot, number in enumerate(order)}
    described, count = _placed(calls, shown, slots)
    return native.CallList(
        count,
        len(order) - len(constants) - sized,
        tuple(constants.values()),
        sized,
        tuple(described),
        _with_slots(result, slots),
    )


def _group(
    constants: Mapping[int, Value],
    calls: Sequence[Call],
    given: Sequence[int],
    results: Sequence[int],
) -> Native.CallGroup:
    """The group of calls that makes arrays of arrays given, all by their numbers."""
    assert native is not None
    used = [n for call in calls for n in _numbers_in(call.arguments) if n in constants]
    own = {n: constants[n] for n in dict.fromkeys(used) if n not in given}
    result = results[0] if len(results) == 1 else (None, tuple(results))
    return native.CallGroup(_call_list([*given, *own], calls, own, 0, result, results))


class CallRecorder:
    """Records the calls of one trace.

    inside (bool): Whether a call is going on that is recorded: those that it makes are not.
    is_complete (bool): Whether the calls so far do all that the function did.
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
        self._calls: list[Call] = []
        self._errors = np.geterr()
        self._keys = Keys()
        self._patterns: dict[Value, _Pattern] = {}
        self._known: dict[Value, int] = {}  # the numbers of constants, by their keys

    def call(
        self,
        recorder: Recorder,
        function: Callable[..., Value],
        fronted: Value,
        args: tuple[Value, ...],
        named: dict[str, Value],
    ) -> Value:
        """Call `function`, or repeat what a call like this one recorded before."""
        given = _Given(self._keys)
        values = (*args, *named.values()) if named else args
        keys = given.keys_of(values)
        key = known = None
        if (
            keys is not None
            and self.is_complete
            and stack.get() is self._settings
            and np.geterr() == self._errors
        ):
            key = id(function), tuple(named), keys
            known = self._patterns.get(key)
        first = len(recorder.steps)
        if known is not None:
            result = known.repeat(recorder, given)
        else:
            watch = None if key is None else Watch(recorder, given.memories)
            self.inside = True
            try:
                result = function(*args, **named)
            finally:
                self.inside = False
            if watch is not None:
                pattern = _pattern(watch, given, result, self._keys)
                if pattern is not None:
                    self._patterns[key] = pattern
        parts = result if isinstance(result, tuple | list) else (result,)
        if result is None or any([type(x) is Array for x in parts]):
            steps = recorder.steps[first:] if known is None else known.pattern.steps
            is_fused = all([step.method in FUSED for step in steps])
            operations = len(steps) if is_fused else -1
            keys = keys or (None,) * len(values)
            self._note(function, fronted, values, keys, named, result, operations)
        return result

    def _note(
        self,
        function: Value,
        fronted: Value,
        values: tuple[Value, ...],
        keys: tuple[Value, ...],
        named: Mapping[str, Value],
        result: Value,
        operations: int,
    ) -> None:
        """Note a call that gave arrays, or wrote to some."""
        if fronted is None:
            fronted = _METHODS.get(id(function))
        is_known = fronted is not None and len(values) <= _MOST_ARGUMENTS
        if not is_known or stack.get() is not self._settings:
            self.is_complete = False
            return
        read: list[int] = []
        arguments = []
        for x, key in zip(values, keys, strict=True):
            number: Template = None
            if type(x) is Array:
                number = self._numbers.get(id(x))
                if number is not None:
                    read.append(number)
            elif key is not None:
                number = self._known.get(key)  # equal constants are one
            if number is None:
                number = self._argument(x, read)
                if type(number) is int and type(x) is not Array and key is not None:
                    self._known[key] = number
            arguments.append(number)
        results: int | tuple[int, ...]
        if type(result) is Array or result is None:
            results = self._result(result)
        else:
            results = tuple([self._result(x) for x in result])
        if results == -1 or type(results) is tuple or not self._sized.keys().isdisjoint(arguments):
            operations = -1
        self._calls.append(
            Call(fronted, tuple(arguments), tuple(named), results, tuple(read), operations)
        )

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

    def _argument(self, x: Value, read: list[int]) -> Template:
        """The template of an argument; the numbers of its arrays are added to `read`."""
        if type(x) is Array:
            number = self._numbers.get(id(x))
            if number is None:
                number = self._new_value(x)
                # An array from outside of the function, or one that no call gave.
                self._constants[number] = x
                self.is_complete &= type(x._handle) is not Traced
            read.append(number)
            return number
        if type(x) in (tuple, list) and _has_arrays(x):
            parts = tuple([self._argument(part, read) for part in x])
            return None if type(x) is tuple else list, parts
        self.is_complete &= _is_repeatable(x)
        return self._constant(_copied(x))

    def _constant(self, x: Value) -> int:
        number = self._new_value(x)
        if any(True for _ in symbols_in(x)):
            self._sized[number] = x
        else:
            self._constants[number] = x
        return number

    def calls(self, head: Program, result: Tree) -> Calls | None:
        """The calls, for a function that returned `result`; None if something else was done."""
        shown: list[int] = []

        def leaf(x: Tree) -> Template:
            return self._argument(x, shown) if type(x) is Array else self._constant(x)

        made = template(leaf, result)
        if not self.is_complete:
            return None
        return Calls(head, self._calls, self._constants, self._sized, made, shown)


def _placed(
    calls: Sequence[Call], shown: Sequence[int], slots: dict[int, int]
) -> tuple[list[tuple[Value, ...]], int]:
    """The calls with slots for values, and how many slots there are.

    Results are entered in `slots`. One whose last reader has run leaves its slot to others, unless
    it is `shown`.
    """
    fixed = count = len(slots)
    last = {number: i for i, call in enumerate(calls) for number in call.read}
    last.update(dict.fromkeys(shown, len(calls)))
    free: list[int] = []
    found = []
    for i, call in enumerate(calls):
        arguments = _with_slots(call.arguments, slots)
        ended = [slots[n] for n in dict.fromkeys(call.read) if last[n] == i and slots[n] >= fixed]
        ended = ended[:_MOST_ARGUMENTS]
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
        free += ended
        results = tuple(targets) if isinstance(call.results, tuple) else targets[0]
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


# ---------------------------------------------------------------------- calls that are repeated


class _Given:
    """The arrays of a trace among the arguments of a call.

    memories: Their memory, each once.
    """

    __slots__ = ("_keys", "arrays", "memories")

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self.arrays: list[Array] = []
        self.memories: list[TracedStorage] = []

    def keys_of(self, values: tuple[Value, ...]) -> tuple[Value, ...] | None:
        """Keys that equal arguments share, apart from the values of arrays; None if there are
        none."""
        try:
            return tuple([self._key(x) for x in values])
        except TypeError:  # one is not hashable
            return None

    def _key(self, x: Value) -> Value:
        kind = type(x)
        if kind is Array:
            return self._key_of_array(x)
        if kind is slice:
            parts = x.start, x.stop, x.step
            if {int, NoneType}.issuperset(map(type, parts)):
                return slice, parts
            return slice, tuple([self._key(part) for part in parts])
        if kind is tuple or kind is list:
            return kind, tuple([self._key(part) for part in x])
        if kind is float:
            return kind, x if x != 0.0 else str(x)
        if kind is not int:
            hash(x)
        return kind, x

    def _key_of_array(self, x: Array) -> Value:
        handle = x._handle
        if type(handle) is not Traced:
            return id(x)  # `CallRecorder` holds it
        self.arrays.append(x)
        memory = handle.memory
        memories = self.memories
        number = 0
        while number < len(memories) and memories[number] is not memory:
            number += 1
        if number == len(memories):
            memories.append(memory)
        if not is_plain(memory):
            raise TypeError
        return number, self._keys.key_of(handle), memory.reason, x._device.token


class _Pattern(NamedTuple):
    """What a call did: what it recorded, and its result.

    made: Of the arrays that are results of the pattern.
    kind: The type of the result.
    places: For each array of the result its number among these; for one that was an argument, -1
        less its number among these.
    """

    pattern: Pattern
    made: list[tuple[DType, Device]]
    kind: type
    places: list[int]

    def repeat(self, recorder: Recorder, given: _Given) -> Value:
        handles = self.pattern.repeat(recorder, given.memories)
        made = [
            wrap(handle, dtype, device)
            for handle, (dtype, device) in zip(handles, self.made, strict=True)
        ]
        results = [made[i] if i >= 0 else given.arrays[-1 - i] for i in self.places]
        if self.kind in (tuple, list):
            return self.kind(results)
        return results[0] if results else None


def _pattern(watch: Watch, given: _Given, result: Value, keys: Keys) -> _Pattern | None:
    """What a call did; None if it cannot be repeated."""
    kind = type(result)
    parts = list(result) if kind in (tuple, list) else [] if result is None else [result]
    if any([type(x) is not Array for x in parts]):
        return None
    ids = [id(x) for x in given.arrays]
    new = [x for x in parts if id(x) not in ids]
    if any([type(x._handle) is not Traced for x in new]):
        return None
    pattern = watch.pattern([x._handle for x in new], keys)
    if pattern is None:
        return None
    positions = {id(x): i for i, x in enumerate(new)}
    places = [positions[id(x)] if id(x) in positions else -1 - ids.index(id(x)) for x in parts]
    return _Pattern(pattern, [(x._dtype, x._device) for x in new], kind, places)


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
    if recorder is None or calls is None or calls.inside:
        return function(*args, **named)
    return calls.call(recorder, function, fronted, args, named)


def record_calls(is_tracing: bool) -> None:
    """Let C ask `call` for all Python functions behind it while functions are traced."""
    if native is not None:
        if not _METHODS:
            _METHODS.update({id(function): name for name, function in MEANINGS.items()})
        native.set_recorder(call if is_tracing else None)
