"""Programs run step by step: the default of `Backend.prepare`.

The steps of a program become the lines of one Python function, written once per program. What
depends on the sizes (shapes, views, numbers) are its constants, worked out once per sizes.

Where an engine compiles the steps by itself (`prepare_around`) there are two functions: one of the
steps alone, from whole values to whole values, which the engine traces, and one that calls what
came of it, and does what concerns the memory of arguments: reads them, writes them, and shows them.
"""

from __future__ import annotations

import traceback
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from ..core.dtypes import DType
from ..core.real import Real
from ..core.symbolic import Dim
from ..core.view import View
from .arguments import Native, Run
from .errors import CannotCompileError
from .interface import Interface
from .program import Argument, Generated, Program, Step, ValueView

CompileSteps: TypeAlias = "Callable[[Run], Run]"
"""From the function of the steps to what is to be called in its place."""

ViewAt: TypeAlias = "Callable[[View, tuple[Argument, ...]], Argument]"
"""From a view and the values of ``(*shape, *strides, offset)`` to that view with them."""

Line: TypeAlias = "tuple[str, Step | None]"
"""A line of the text, and the step that it does, if it does one."""


class Direct(NamedTuple):
    """What a program that an engine has compiled takes and gives: `direct` of its run.

    It is there where nothing is to be done beside the engine's function: no argument is written or
    moved, and each output is an array that the function returns.

    find_function: To the function, from the engine's arrays to a sequence of them. After the first
        run it may be another one, which is as quick as the engine is but does not explain errors:
        if it raises one, the program is to be run instead.
    given: What it takes; the arrays are to be row-major.
    row_major_test: The method by which the engine's arrays tell whether they are; None if all are.
    positions: Where each output of the program is among the arrays that it returns.
    """

    find_function: Callable[[], Callable[..., Sequence[Native]]]
    given: tuple[tuple[tuple[int, ...], DType], ...]
    row_major_test: str | None
    positions: tuple[int, ...]


_FILE: Final = f"{__file__} <program>"
# The texts of programs: by `prepare`, and by `prepare_around`. Values hold no program: a value that
# led to its key would keep both for ever.
_written: Final[weakref.WeakKeyDictionary[Program, _Text]] = weakref.WeakKeyDictionary()
_written_around: Final[weakref.WeakKeyDictionary[Program, tuple[_Text, _Text]]] = (
    weakref.WeakKeyDictionary()
)


def prepare(backend: Interface, program: Program, sizes: tuple[int, ...]) -> Run:
    """See `Backend.prepare`."""
    text = _written.get(program)
    if text is None:
        text = _written[program] = _Writer(program).whole()
    run: Run = text.make(backend, _constants(text, program, sizes))
    return run


def prepare_around(
    backend: Interface,
    tracing: Interface,
    program: Program,
    sizes: tuple[int, ...],
    compile_steps: CompileSteps,
) -> Run:
    """As `prepare`, but that the steps become what `compile_steps` makes of their function.

    backend: For the memory of arguments and results.
    tracing: Whose methods the steps call: that of `backend` as the engine can trace it.
    program, sizes: See `Backend.prepare`.
    compile_steps: From the function of the steps, from the handles of the inputs' and constants'
        values to those of the values that are needed afterwards, all of them whole and row-major,
        to a function that is called alike.
    CannotCompileError: If `compile_steps` raises an error within a step, from which it is raised.
    """
    texts = _written_around.get(program)
    if texts is None:
        texts = _written_around[program] = (_Writer(program).steps(), _Writer(program).around())
    inner, outer = texts
    try:
        steps = compile_steps(inner.make(tracing, _constants(inner, program, sizes)))
    except Exception as error:
        for frame, line in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename == _FILE and line in inner.steps:
                step = program.step_text(inner.steps[line])
                raise CannotCompileError(
                    f"the step {step} is not compiled, because it looks at elements, or is done by "
                    "NumPy; use engine='steps' for this function"
                ) from error
        raise
    run: Run = outer.make(backend, _constants(outer, program, sizes), steps)
    return run


def steps_at(backend: Interface, program: Program, sizes: Sequence[Argument], at: ViewAt) -> Run:
    """The function of the steps alone, for sizes that are symbols of an engine.

    backend: Whose methods the steps call.
    program, sizes: As for `Backend.prepare`, but that the sizes are what the engine has for unknown
        ints.
    at: As `View.at`, but to what `backend` takes for a view of such sizes.
    """
    text = _Writer(program).steps()
    run: Run = text.make(backend, _constants(text, program, sizes, at))
    return run


def _constants(
    text: _Text, program: Program, sizes: Sequence[Argument], at: ViewAt = View.at
) -> list[Argument]:
    numbers = dict(zip(program.symbols, program.evaluate(*sizes), strict=True))
    return [resolved(x, numbers, at) for x in text.constants]


def resolved(x: Argument, numbers: Mapping[Argument, Argument], at: ViewAt = View.at) -> Argument:
    """`x` with numbers for expressions; `at` puts them into views."""
    if isinstance(x, Dim | Real):
        return numbers[x]
    if isinstance(x, View):
        return at(x, tuple([numbers.get(n, n) for n in (*x.shape, *x.strides, x.offset)]))
    if isinstance(x, tuple):
        return tuple([resolved(part, numbers, at) for part in x])
    return x


class _Text(NamedTuple):
    """The function of a program.

    make: From a backend and the values of `constants` to the function.
    constants: What the lines refer to, with symbolic sizes.
    steps: The step that each line of the text does, for those that do one.
    """

    make: Generated
    constants: list[Argument]
    steps: dict[int, Step]


class _Writer:
    """Writes the function of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.constants: list[Argument] = []
        self._numbers: dict[Hashable, int] = {}
        self._methods: dict[str, None] = {}

    def whole(self) -> _Text:
        """The program as one function."""
        lines = [*self._given(), *self._steps(), *self._ended()]
        return self._text(self._inputs(), lines, "backend, constants")

    def steps(self) -> _Text:
        """The function of the steps."""
        lines = [*self._steps(), (f"return {self._kept()}", None)]
        names = [*self._inputs(), *[f"v{number}" for number in self.program.constants]]
        return self._text(names, lines, "backend, constants")

    def around(self) -> _Text:
        """The program as a function that calls `steps`."""
        program = self.program
        names = [*self._inputs(), *[f"v{number}" for number in program.constants]]
        call = f"{self._kept()} = steps({', '.join(names)})"
        lines = [*self._given(), (call, None), *self._ended()]
        return self._text(self._inputs(), lines, "backend, constants, steps")

    def _inputs(self) -> list[str]:
        return [f"v{i}" for i in range(len(self.program.inputs))]

    def _kept(self) -> str:
        return f"({''.join([f'v{n}, ' for n in kept_values(self.program)])})"

    def _text(self, inputs: Sequence[str], lines: Sequence[Line], parameters: str) -> _Text:
        head = [f"    {name} = backend.{name}" for name in self._methods]
        head += [f"    k{i} = constants[{i}]" for i in range(len(self.constants))]
        head = [f"def make({parameters}):", *head, f"    def run({', '.join(inputs)}):"]
        code = "\n".join([*head, *[f"        {line}" for line, _ in lines], "    return run"])
        namespace: dict[str, Generated] = {"errstate": np.errstate}
        # In the package, as far as warnings are concerned: they name the line that calls it.
        exec(compile(code, _FILE, "exec"), namespace)
        numbered = enumerate(lines, len(head) + 1)
        done = {number: step for number, (_, step) in numbered if step is not None}
        return _Text(namespace.pop("make"), self.constants, done)

    def _given(self) -> list[Line]:
        """From the handles of arguments to values."""
        lines = []
        for i, given in enumerate(self.program.inputs):
            if given.written is not None:
                lines.append(f"w{i} = v{i}")
            if given.order is not None:
                lines.append(f"v{i} = {self._call('permute')}(v{i}, {self._constant(given.order)})")
        for number, handle in self.program.constants.items():
            lines.append(f"v{number} = {self._constant(handle)}")
        return [(line, None) for line in lines]

    def _steps(self) -> list[Line]:
        program = self.program
        lines: list[Line] = []
        ended: list[list[int]] = [[] for _ in range(len(program.steps) + 1)]
        for number, last in program.last_uses.items():
            ended[last].append(number)
        for position, step in enumerate(program.steps):
            called = (
                self._update(position) if step.method.startswith("update") else self._step(step)
            )
            if step.errors:
                called = [f"    {line}" for line in called]
                called.insert(0, f"with errstate(**{dict(step.errors)}):")
            lines += [(line, step) for line in called]
            gone = ended[position] + [v for v in step.results if v not in program.last_uses]
            if gone:
                lines.append((f"del {', '.join([f'v{v}' for v in gone])}", None))
        return lines

    def _ended(self) -> list[Line]:
        """From values to what was written, and the outputs."""
        program = self.program
        lines = []
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
        return [(line, None) for line in lines]

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


def kept_values(program: Program) -> list[int]:
    """The values of steps that are needed after the last one, in the order of their numbers."""
    given = {*range(len(program.inputs)), *program.constants}
    needed = [n for n, last in program.last_uses.items() if last == len(program.steps)]
    return sorted(set(needed) - given)


def inverse(order: Sequence[int]) -> tuple[int, ...]:
    return tuple([order.index(axis) for axis in range(len(order))])
