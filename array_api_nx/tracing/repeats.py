"""Calls that a function repeats, as a loop does: they are traced once.

What a call records depends on the function, on its other arguments, and on the views, shapes and
dtypes of its arrays, not on which values these hold. So for a second call that is like a first one
the recorder notes a `Repeat`, a step that stands for the steps of the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..contract.arguments import Scalar
from ..contract.program import Step, Value, moved
from ..core.view import View
from .recorder import Recorder, Traced, TracedStorage


class Keys:
    """Numbers for arrays of which the same is recorded, apart from the values that they hold."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], int] = {}

    def key_of(self, x: Traced) -> int:
        """The number of the view of `x`, and of what is known of its memory for ever."""
        if x.key is None:
            memory = x.memory
            known = (
                x.view, memory.shape, memory.dtype, memory.argument, memory.order_known,
                memory.is_packed,
            )  # fmt: skip
            x.key = self._numbers.setdefault(known, len(self._numbers))
        return x.key


def is_plain(memory: TracedStorage) -> bool:
    """Whether nothing but its key and `reason` decides what is recorded of memory."""
    return not (memory.doubted or memory.conditions or memory.copy_of is not None)


class Pattern(NamedTuple):
    """What a call recorded.

    values: The values of the steps, by number; and of values whose elements are a number, that.
    read: The value of each memory that the call was given.
    written: Of memories that were written their number among these, and the new value.
    results: Of each array the number of its memory among those given, or -1 for one like that
        storage; its view and its key.
    """

    steps: tuple[Step, ...]
    values: tuple[tuple[int, Value, Scalar | None], ...]
    read: tuple[int, ...]
    written: tuple[tuple[int, int], ...]
    results: tuple[tuple[int, View, int, TracedStorage], ...]

    def repeat(self, recorder: Recorder, memories: Sequence[TracedStorage]) -> list[Traced]:
        """Record the same of other memory; returns the results."""
        numbers = {old: x.value for old, x in zip(self.read, memories, strict=True)}
        for old, value, known in self.values:
            numbers[old] = recorder.new_value(value, known)
        if self.steps:
            recorder.steps.append(Repeat(self, numbers))
        for i, old in self.written:
            memories[i].value = numbers[old]
        made: dict[int, TracedStorage] = {}
        results = []
        for i, view, key, like in self.results:
            if i >= 0:
                memory = memories[i]
            elif like.value in made:
                memory = made[like.value]
            else:
                memory = made[like.value] = replace(like, value=numbers[like.value], argument=None)
            results.append(Traced(recorder, memory, view, key))
        return results


class Repeat(NamedTuple):
    """Stands for the steps of a pattern, with other numbers for its values."""

    pattern: Pattern
    numbers: dict[int, int]


class Watch:
    """Finds out what a call records; `memories` are those that it is given, each once."""

    def __init__(self, recorder: Recorder, memories: Sequence[TracedStorage]) -> None:
        self._recorder = recorder
        self._memories = memories
        self._first_step = len(recorder.steps)
        self._first_value = len(recorder.values)
        self._read = [x.value for x in memories]
        self._reasons = [x.reason for x in memories]

    def pattern(self, results: Sequence[Traced], keys: Keys) -> Pattern | None:
        """What was recorded since; None if a repetition could record something else."""
        recorder, memories = self._recorder, self._memories
        steps = recorder.steps[self._first_step :]
        stored = [x.memory for x in results]
        if (
            self._reasons != [x.reason for x in memories]
            or not all(map(is_plain, [*memories, *stored]))
            or any([step.errors for step in steps])
        ):
            return None
        found = []
        for x in results:
            places = [i for i, memory in enumerate(memories) if memory is x.memory]
            if not places and x.memory.value < self._first_value:
                return None
            place = places[0] if places else -1
            # A copy of the storage as it is now: later calls may write to the original.
            found.append((place, x.view, keys.key_of(x), replace(x.memory)))
        numbers = range(self._first_value, len(recorder.values))
        values = [(n, recorder.values[n], recorder.known_number(n)) for n in numbers]
        pairs = enumerate(zip(memories, self._read, strict=True))
        written = [(i, x.value) for i, (x, before) in pairs if x.value != before]
        return Pattern(tuple(steps), tuple(values), tuple(self._read), tuple(written), tuple(found))


def expanded(steps: Sequence[Step | Repeat]) -> Iterator[Step]:
    """The steps, with those that repeats stand for."""
    for step in steps:
        if isinstance(step, Step):
            yield step
        else:
            for each in step.pattern.steps:
                yield each._replace(
                    arguments=moved(each.arguments, step.numbers),
                    keywords=moved(each.keywords, step.numbers),
                    results=tuple([step.numbers[n] for n in each.results]),
                )
