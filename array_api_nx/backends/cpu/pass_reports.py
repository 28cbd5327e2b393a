"""Reports of what waits in the extension: the passes that would compute it (`Backend.explain`).

A pass ends with a reduction, with a value that is read in another shape or order than it is
computed in, or with what is asked for. What these need is computed along with them, element by
element, and stored if another pass reads it or an array shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias

from ...contract.strided import Storage, Tensor
from ...core.symbolic import KnownInts
from ...core.view import View
from ...explain.explanation import Explanation
from ...explain.model import MemoryExplanation, PassExplanation, StepExplanation
from ...native import native
from ...primitives import table as p
from ...primitives.table import Primitive

_Shape: TypeAlias = tuple[int, ...]


class _Read(NamedTuple):
    """The result of an operation as an operand; in another shape or order by a view."""

    number: int
    view: View | None


class _Operation(NamedTuple):
    """An operation that waits.

    op: NumPy's name, of a ufunc that is no function of the standard.
    over: The axes of a reduction.
    is_kept: Whether an array shows the result.
    space, shape: What it goes over, and the shape of the result.
    """

    op: Primitive | str
    operands: tuple[Any, ...]
    over: tuple[int, ...] | None
    is_kept: bool
    storage: Storage
    space: _Shape
    shape: _Shape


def explanation(storages: Sequence[Storage]) -> Explanation:
    """The passes that would compute what the storages wait for."""
    report = _Report(storages)
    return Explanation(len(report.operations), tuple(map(report.explained, report.passes)))


class _Report:
    """What waits, divided into passes.

    operations: Operands first.
    passes: The operations of each pass, by number.
    """

    def __init__(self, storages: Sequence[Storage]) -> None:
        self.operations: list[_Operation] = []
        self._numbers: dict[int, int] = {}
        self._roots = list(dict.fromkeys(map(self._add, storages)))
        self.passes = self._divided()
        self._names = self._named()
        self._given: dict[tuple[int, View], str] = {}

    def _add(self, storage: Storage) -> int:
        """Add what a storage waits for; returns the number of the last operation."""
        assert native is not None
        numbers: list[int] = []
        for op, given, is_kept, result in native.describe_pending(storage) or []:
            number = self._numbers.get(id(result))
            if number is None:
                number = self._numbers[id(result)] = len(self.operations)
                self._add_operation(op, given, is_kept, result, numbers)
            numbers.append(number)
        return numbers[-1]

    def _add_operation(
        self,
        op: Primitive | str,
        given: tuple[Any, ...],
        is_kept: bool,
        result: Storage,
        numbers: Sequence[int],
    ) -> None:
        over, keepdims = None, False
        if isinstance(op, Primitive) and op.family in ("reduce", "var"):
            given, over, keepdims = given[:1], given[1], given[2]
        operands = tuple(
            [
                _Read(numbers[x[0]], View(*x[1:]) if x[1:] else None) if type(x) is tuple else x
                for x in given
            ]
        )
        space = next(shape for x in operands if (shape := self._shape(x)) is not None)
        shape = space
        if over is not None:
            kept = [i for i in range(len(space)) if keepdims or i not in over]
            shape = tuple([1 if i in over else space[i] for i in kept])
        self.operations.append(_Operation(op, operands, over, is_kept, result, space, shape))

    def _shape(self, x: Any) -> _Shape | None:
        view: View | None = None
        if type(x) is _Read:
            view = x.view
            if view is None:
                return self.operations[x.number].shape
        elif type(x) is Tensor:
            view = x.view
        shape: KnownInts | None = None if view is None else view.shape
        return shape

    def _divided(self) -> list[list[int]]:
        """The operations of each pass."""
        ends = {*self._roots}
        for operation in self.operations:
            ends -= {x.number for x in operation.operands if type(x) is _Read}
        for number, operation in enumerate(self.operations):
            if operation.over is not None:
                ends.add(number)
            ends.update([x.number for x in operation.operands if type(x) is _Read and x.view])
        done: set[int] = set()
        passes = []
        for end in sorted(ends):
            members: set[int] = set()
            stack = [end]
            while stack:
                number = stack.pop()
                members.add(number)
                read = [x.number for x in self.operations[number].operands if type(x) is _Read]
                stack += [n for n in read if n not in ends and n not in done and n not in members]
            done |= members
            passes.append(sorted(members))
        return passes

    def _named(self) -> dict[int, str]:
        """The names of results that are stored."""
        of = {number: i for i, members in enumerate(self.passes) for number in members}
        stored = {members[-1] for members in self.passes}
        for number, operation in enumerate(self.operations):
            read = [x.number for x in operation.operands if type(x) is _Read]
            stored.update([n for n in read if of[n] != of[number]])
            if operation.is_kept:
                stored.add(number)
        many = len(self._roots) > 1
        names = {n: f"result{i}" if many else "result" for i, n in enumerate(self._roots, start=1)}
        others = sorted(stored - names.keys())
        return names | {n: f"t{i}" for i, n in enumerate(others, start=1)}

    def explained(self, members: list[int]) -> PassExplanation:
        """A pass."""
        inputs: dict[str, MemoryExplanation] = {}
        outputs = []
        steps = []
        registers: dict[int, str] = {}
        for number in members:
            operation = self.operations[number]
            sources = [self._source(x, inputs, registers, operation) for x in operation.operands]
            if operation.over is not None:
                axes = operation.over
                if len(axes) < len(operation.space):
                    sources.append(f"axis={axes[0]}" if len(axes) == 1 else f"axis={axes}")
            target = self._names.get(number) or f"r{len(registers)}"
            registers[number] = target
            steps.append(
                StepExplanation(
                    _name_of(operation),
                    tuple(sources),
                    target,
                    "elementwise" if operation.over is None else "reduction",
                )
            )
            if number in self._names:
                outputs.append(self._output(number))
        shape = self.operations[members[-1]].space
        return PassExplanation(shape, 0, tuple(inputs.values()), tuple(outputs), tuple(steps))

    def _source(
        self,
        x: Any,
        inputs: dict[str, MemoryExplanation],
        registers: dict[int, str],
        reader: _Operation,
    ) -> str:
        """The name of an operand. One that lies in memory is added to `inputs`."""
        if type(x) is _Read:
            if x.view is None and x.number in registers:
                return registers[x.number]
            operation = self.operations[x.number]
            view = x.view or View.row_major(operation.shape)
            name, kind, storage = self._names[x.number], "stored", operation.storage
        elif type(x) is Tensor:
            view, kind, storage = x.view, "given", x.storage
            name = self._given.setdefault((id(storage), view), _letter(len(self._given)))
        else:
            return str(x)
        if name not in inputs:
            inputs[name] = _memory(name, kind, storage, view)
        return name

    def _output(self, number: int) -> MemoryExplanation:
        operation = self.operations[number]
        is_root = number in self._roots
        note = "kept for another array" if operation.is_kept and not is_root else ""
        view = View.row_major(operation.shape)
        kind = "result" if is_root else "stored"
        return _memory(self._names[number], kind, operation.storage, view)._replace(note=note)


def _name_of(operation: _Operation) -> str:
    if isinstance(operation.op, str):
        return operation.op
    if operation.op is not p.CAST:
        return operation.op.name
    (x,) = operation.operands
    return "copy" if type(x) is Tensor and x.storage.dtype == operation.storage.dtype else "astype"


def _letter(number: int) -> str:
    """A name for what is given: a, b, ... z, a1, b1, ..."""
    round, letter = divmod(number, 26)
    return f"{chr(ord('a') + letter)}{round or ''}"


def _memory(name: str, kind: Any, storage: Storage, view: View) -> MemoryExplanation:
    """An array in memory. Of what is repeated along an axis one element is counted."""
    shape: KnownInts = view.shape
    strides: KnownInts = view.strides
    distinct = tuple([1 if s == 0 else n for n, s in zip(shape, strides, strict=True)])
    notes = _layout(View(distinct, strides, view.offset))
    if distinct != shape:
        notes.append("broadcast")
    size = prod(distinct) * storage.itemsize
    return MemoryExplanation(name, kind, str(storage.dtype), distinct, size, ", ".join(notes))


def _layout(view: View) -> list[str]:
    """Words for a layout that is not contiguous. The view has no repeated elements."""
    sizes, strides = view.merge_axes()
    steps = [abs(stride) for stride in strides]
    words = []
    if any([stride < 0 for stride in strides]):
        words.append("flipped")
    if steps != sorted(steps, reverse=True):
        words.append("transposed")
    length = 1
    for step, size in sorted(zip(steps, sizes, strict=True)):
        if step != length:
            words.append("strided")
            break
        length *= size
    return words
