"""The model of reports of pending arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

_UNITS: Final = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


class MemoryExplanation(NamedTuple):
    """An array in memory that a pass reads or writes.

    Attributes
    ----------
    name : str
        a, b, c, ... for what is given, in the order in which it is read; t1, t2, ... for what is
        stored; "result".
    kind : {"given", "stored", "result"}
        Was there before; is written by one pass, for another or for another array; or is what the
        array shows.
    dtype : str
    shape : tuple of int
        As the operations go over it: a size of 1 where it is repeated.
    nbytes : int
        Of the elements that are read or written.
    note : str
        What else is to be said of it.
    """

    name: str
    kind: Literal["given", "stored", "result"]
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    note: str = ""


class StepExplanation(NamedTuple):
    """One operation of a pass.

    Attributes
    ----------
    operation : str
    sources : tuple of str
        What it is called with: names of memory and registers, scalars as they are written.
    target : str
        Where the result goes. Registers, r0, r1, ..., hold a tile and are used again.
    kind : {"elementwise", "reduction", "final"}
        Computes every element of a tile; folds a tile into the target; or runs only once, after all
        tiles, on what was folded.
    """

    operation: str
    sources: tuple[str, ...]
    target: str
    kind: Literal["elementwise", "reduction", "final"] = "elementwise"


class PassExplanation(NamedTuple):
    """One pass over memory.

    Attributes
    ----------
    shape : tuple of int
        The space that it goes over.
    tasks : int
        The tasks of a scheduler that it is; 0 where none are planned.
    inputs, outputs : tuple of MemoryExplanation
        What it reads and writes.
    steps : tuple of StepExplanation
    """

    shape: tuple[int, ...]
    tasks: int
    inputs: tuple[MemoryExplanation, ...]
    outputs: tuple[MemoryExplanation, ...]
    steps: tuple[StepExplanation, ...]

    def caption(self) -> list[str]:
        """Its elements, and its tasks: a few words each."""
        if len(self.shape) > 1:
            words = [" x ".join(map(_number, self.shape))]
        else:
            words = [count(self.shape[0] if self.shape else 1, "element")]
        if self.tasks:
            words.append(count(self.tasks, "task"))
        return words

    def flow(self) -> list[list[int | str | None]]:
        """Where the sources of each step come from.

        Returns (list of list): For each source of each step the position of the step that computed
            it, the name of the memory it is read from, or None for a scalar.
        """
        memory = {each.name for each in self.inputs}
        made: dict[str, int] = {}
        found: list[list[int | str | None]] = []
        for i, step in enumerate(self.steps):
            found.append([made.get(s, s if s in memory else None) for s in step.sources])
            made[step.target] = i
        return found

    def writers(self) -> list[int]:
        """For each output the position of the step that completes it."""
        last = {step.target: i for i, step in enumerate(self.steps)}
        return [last[each.name] for each in self.outputs]


def label(step: StepExplanation, sources: Sequence[int | str | None]) -> str:
    """A step in a picture: what is called, with its scalars if it has any. Arrows bring the rest.

    step (StepExplanation):
    sources (sequence): Its part of `Pass.flow`.
    """
    if None not in sources:
        return step.operation
    arguments = [
        name if source is None else "·" for name, source in zip(step.sources, sources, strict=True)
    ]
    return f"{step.operation}({', '.join(arguments)})"


def memory_lines(memory: MemoryExplanation) -> list[str]:
    """An array in a picture: a few lines."""
    lines = [
        f"{memory.name}  {memory.dtype}",
        f"{_shape(memory.shape)}  {size_text(memory.nbytes)}",
    ]
    return lines + memory.note.split(", ") if memory.note else lines


def pass_text(each: PassExplanation, title: str) -> list[str]:
    lines = [f"{title}: {', '.join(each.caption())}"]
    arrays = [
        (memory.name, memory.dtype, _shape(memory.shape), size_text(memory.nbytes), memory.note)
        for memory in (*each.inputs, *each.outputs)
    ]
    widths = [max(map(len, column)) for column in zip(*arrays, strict=True)]
    table = [
        "  ".join([cell.ljust(width) for cell, width in zip(row, widths, strict=True)]).rstrip()
        for row in arrays
    ]
    reads, writes = table[: len(each.inputs)], table[len(each.inputs) :]
    steps = [_step_text(step) for step in each.steps]
    for heading, rows in (("reads", reads), ("", steps), ("writes", writes)):
        for i, row in enumerate(rows):
            lines.append(f"    {heading if i == 0 else '':<8}{row}")
    return lines


def _step_text(step: StepExplanation) -> str:
    when = "finally " if step.kind == "final" else ""
    return f"{when}{step.target} = {step.operation}({', '.join(step.sources)})"


def _number(n: int) -> str:
    return str(n) if n < 10_000 else f"{n:_}"


def count(n: int, noun: str, plural: str = "") -> str:
    return f"{_number(n)} {noun if n == 1 else plural or noun + 's'}"


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(_number, shape))}{',' * (len(shape) == 1)})"


def size_text(nbytes: int) -> str:
    """A number of bytes with a unit: for instance "80 MB"."""
    number, power = float(nbytes), 0
    while number >= 999.5 and power < len(_UNITS) - 1:
        number /= 1000
        power += 1
    digits = f"{number:.1f}".removesuffix(".0") if number < 9.95 else f"{number:.0f}"
    return f"{digits} {_UNITS[power]}"
