"""Programs run step by step: the default of `Backend.prepare`.

The steps of a program become the lines of one Python function, written once per program. What
depends on the sizes (shapes, views, numbers) are its constants, worked out once per sizes.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from ..core.real import Real
from ..core.symbolic import Dim
from ..core.view import View
from .program import Argument, Generated, Program, Step, ValueView

if TYPE_CHECKING:
    from .backend import Backend, Handle

__all__ = ["Run", "inverse", "prepare", "resolved"]

Run: TypeAlias = "Callable[..., tuple[Handle, ...]]"

_written: Final[weakref.WeakKeyDictionary[Program, _Text]] = weakref.WeakKeyDictionary()
"""Values hold no program: a value that led to its key would keep both for ever."""


def prepare(backend: Backend, program: Program, sizes: tuple[int, ...]) -> Run:
    """See `Backend.prepare`."""
    text = _written.get(program)
    if text is None:
        text = _written[program] = _text(program)
    numbers = dict(zip(program.symbols, program.evaluate(*sizes), strict=True))
    constants = [resolved(x, numbers) for x in text.constants]
    run: Run = text.make(backend, constants)
    return run


def resolved(x: Argument, numbers: Mapping[Argument, Argument]) -> Argument:
    """`x` with numbers for expressions."""
    if isinstance(x, Dim | Real):
        return numbers[x]
    if isinstance(x, View):
        return x.at(tuple([numbers.get(n, n) for n in (*x.shape, *x.strides, x.offset)]))
    if isinstance(x, tuple):
        return tuple([resolved(part, numbers) for part in x])
    return x


class _Text(NamedTuple):
    """The function of a program.

    Attributes
    ----------
    make : callable
        From a backend and the values of `constants` to the function.
    constants : list
        What the lines refer to, with symbolic sizes.
    """

    make: Generated
    constants: list[Argument]


def _text(program: Program) -> _Text:
    writer = _Writer(program)
    return _Text(writer.function(), writer.constants)


class _Writer:
    """Writes the function of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.constants: list[Argument] = []
        self._numbers: dict[Hashable, int] = {}
        self._methods: dict[str, None] = {}

    def function(self) -> Generated:
        """See `_Text.make`."""
        lines = self._lines()
        head = [f"    {name} = backend.{name}" for name in self._methods]
        head += [f"    k{i} = constants[{i}]" for i in range(len(self.constants))]
        code = "\n".join(
            [
                "def make(backend, constants):",
                *head,
                f"    def run({', '.join([f'v{i}' for i in range(len(self.program.inputs))])}):",
                *[f"        {line}" for line in lines],
                "    return run",
            ]
        )
        namespace: dict[str, Generated] = {"errstate": np.errstate}
        # In the package, as far as warnings are concerned: they name the line that calls it.
        exec(compile(code, f"{__file__} <program>", "exec"), namespace)
        return namespace.pop("make")

    def _lines(self) -> Sequence[str]:
        program = self.program
        lines = []
        for i, given in enumerate(program.inputs):
            if given.written is not None:
                lines.append(f"w{i} = v{i}")
            if given.order is not None:
                lines.append(f"v{i} = {self._call('permute')}(v{i}, {self._constant(given.order)})")
        for number, handle in program.constants.items():
            lines.append(f"v{number} = {self._constant(handle)}")
        ended: list[list[int]] = [[] for _ in range(len(program.steps) + 1)]
        for number, last in program.last_uses.items():
            ended[last].append(number)
        for position, step in enumerate(program.steps):
            called = (
                self._update(position) if step.method.startswith("update") else self._step(step)
            )
            if step.errors:
                lines.append(f"with errstate(**{dict(step.errors)}):")
                called = [f"    {line}" for line in called]
            lines += called
            gone = ended[position] + [v for v in step.results if v not in program.last_uses]
            if gone:
                lines.append(f"del {', '.join([f'v{v}' for v in gone])}")
        for i, given in enumerate(program.inputs):
            if given.written is not None:
                view = View.row_major(program.values[given.written].shape)
                if given.order is not None:
                    view = view.permute(inverse(given.order))
                value = self._argument(ValueView(given.written, view))
                lines.append(f"{self._call('assign')}(w{i}, {value})")
        lines += [
            f"v{number} = {self._call('contiguous')}(v{number})"
            for number in program.shared_results
        ]
        outputs = [self._output(operand) for operand in program.outputs]
        lines.append(f"return ({''.join([f'{output}, ' for output in outputs])})")
        return lines

    def _step(self, step: Step) -> list[str]:
        arguments = [self._argument(x) for x in step.arguments]
        arguments += [f"{name}={self._argument(x)}" for name, x in step.keywords]
        results = ", ".join([f"v{number}" for number in step.results])
        return [f"{results} = {self._call(step.method)}({', '.join(arguments)})"]

    def _update(self, position: int) -> list[str]:
        step = self.program.steps[position]
        base, view, *rest = step.arguments
        (result,) = step.results
        shown = self._constant(view)
        old = f"v{base.value}"
        lines = [f"v{result} = {self._call('copy')}({old})"]
        if self.program.reuses_base(position):
            # Results of steps may be read-only.
            lines = [
                f"v{result} = {self._call('contiguous')}({old}) "
                f"if {self._call('read_only_reason')}({old}) is None else copy({old})"
            ]
        value = self._argument(rest[-1])
        if step.method == "update_indexed":
            # Where the view is a copy, it is written back.
            lines += [
                f"target = {self._call('strided')}(v{result}, {shown})",
                f"{self._call('index_set')}(target, {self._argument(rest[0])}, {value})",
            ]
            value = "target"
        return [*lines, f"{self._call('assign_strided')}(v{result}, {shown}, {value})"]

    def _output(self, operand: ValueView) -> str:
        """An output; what shows an input that was written shows the input's own memory."""
        for i, given in enumerate(self.program.inputs):
            if given.written == operand.value:
                order = "" if given.order is None else f", {self._constant(given.order)}"
                own = f"{self._call('permute')}(w{i}{order})" if order else f"w{i}"
                return self._read(own, operand)
        return self._argument(operand)

    def _argument(self, x: Argument) -> str:
        if isinstance(x, ValueView):
            return self._read(f"v{x.value}", x)
        if isinstance(x, tuple | list) and any([isinstance(part, ValueView) for part in x]):
            return f"({''.join([f'{self._argument(part)}, ' for part in x])})"
        return self._constant(x)

    def _read(self, name: str, operand: ValueView) -> str:
        if operand.view == View.row_major(self.program.values[operand.value].shape):
            return name
        return f"{self._call('strided')}({name}, {self._constant(operand.view)})"

    def _call(self, method: str) -> str:
        self._methods[method] = None
        return method

    def _constant(self, x: Argument) -> str:
        if x is None or type(x) in (bool, str):
            return repr(x)
        key = (type(x), repr(x)) if type(x) in (int, float, complex) else id(x)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.constants)
            self.constants.append(x)
        return f"k{number}"


def inverse(order: Sequence[int]) -> tuple[int, ...]:
    return tuple([order.index(axis) for axis in range(len(order))])
