"""Programs: what a function over arrays does, recorded once, with symbolic sizes.

A program is a sequence of steps in static single assignment. Its *values* are whole blocks of
elements in row-major order, of symbolic shape; each is an input, a constant, or a result of one
step, and never changes. An *operand* is a value read through a view of symbolic shape, so that
movement (permuting, slicing, flipping, ...) is no step. A step is a call of a method of the
backend contract, with operands for handles; three methods are not the contract's own:

``update(base, view, value)``
    A copy of the value `base` in which `value`, broadcast, stands where `view` shows it.
``update_indexed(base, view, keys, value)``
    The same for the elements of `view` that `keys` select; see `Backend.index_set`.

Who runs a program (replay.py, or a backend's own `prepare`) may do an update in the memory of
`base` if nothing reads that value later (`Program.last_uses`) and it is the result of a step.

Arguments hold operands, `View`, `Primitive`, `UfuncLoop`, dtypes, Python scalars, `Dim` and
`Real`, and tuples of those. All symbolic numbers are expressions in `Program.variables`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import prod
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from ..core.dtypes import CANONICAL, DType
from ..core.real import Real, largest, source
from ..core.symbolic import Dim, DimLike, Number, Sizes, Var, dim_of_var
from ..core.view import View
from ..primitives.table import Primitive
from .ufuncs import UfuncLoop

Argument: TypeAlias = Any
"""What a step is called with; see the module's text. Each method of the contract takes another kind
of it at each place."""
Kind = TypeVar("Kind")
Generated: TypeAlias = Callable[..., Any]
"""A function that was made from its text."""


class Value(NamedTuple):
    """A block of elements: its symbolic shape, row-major, and dtype."""

    shape: Sizes
    dtype: DType

    @property
    def nbytes(self) -> DimLike:
        """Bytes of memory; a Dim if a size is symbolic."""
        return prod(self.shape) * self.dtype.itemsize


class ValueView(NamedTuple):
    """A value, by its number, and the view through which it is read."""

    value: int
    view: View


class Step(NamedTuple):
    """A call of a method of the contract.

    arguments, keywords: See the module's text.
    results: The numbers of the values that it gives.
    errors: The settings of NumPy's ``errstate``, as (name, setting), that the function made for it.
    """

    method: str
    arguments: tuple[Argument, ...]
    keywords: tuple[tuple[str, Argument], ...]
    results: tuple[int, ...]
    errors: tuple[tuple[str, str], ...] = ()


class Input(NamedTuple):
    """An argument of the program.

    shape: Of the argument as it is handed in.
    order: The permutation of axes that makes a row-major block of it, if it needs one.
    written: The number of the value that it holds afterwards, if the program writes it.
    """

    shape: Sizes
    order: tuple[int, ...] | None
    written: int | None


class Guard(NamedTuple):
    """What must hold of the sizes, as it did when the program was recorded.

    ``left relation right``, where a line of the user's code asked.
    """

    left: Number
    relation: str
    right: Number
    where: str

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


@dataclass(frozen=True, eq=False)
class Program:
    """A recorded function. See the module's text.

    variables: What the sizes depend on.
    inputs: The values 0, 1, ... are theirs.
    constants: The arrays that the function found outside of itself, by the number of the value.
        They are read when the program runs.
    steps: In an order in which they can run.
    """

    variables: tuple[Var, ...]
    inputs: tuple[Input, ...]
    values: tuple[Value, ...]
    constants: dict[int, Argument]
    steps: tuple[Step, ...]
    outputs: tuple[ValueView, ...]
    guards: tuple[Guard, ...]

    # ------------------------------------------------------------------ sizes

    @cached_property
    def match(self) -> Callable[[tuple[tuple[int, ...], ...]], tuple[int, ...] | None]:
        """A function from the shapes of the inputs to the values of `variables`.

        It gives None where the program does not fit: other fixed sizes, a size that does not agree
        with another one, a variable out of its bounds, or a guard that fails.
        """
        names: dict[Var, str] = {}
        tests: list[str] = []
        pattern = ""
        others: list[tuple[str, DimLike]] = []
        for i, given in enumerate(self.inputs):
            pattern += "("
            for axis, size in enumerate(given.shape):
                name = f"n{i}_{axis}"
                pattern += f"{name}, "
                v = size.vars[0] if isinstance(size, Dim) else None
                if v is None or v in names or size != dim_of_var(v):
                    others.append((name, size))
                    continue
                names[v] = name
                tests.append(f"{v.min} <= {name}")
                if v.max < sys.maxsize:
                    tests.append(f"{name} <= {v.max}")
            pattern += "), "
        missing = [str(v) for v in self.variables if v not in names]
        if missing:
            raise ValueError(
                f"no argument has the size {' or '.join(missing)} itself, so that it cannot be "
                "found from the arguments; give one a dimension that is just that variable"
            )
        tests += [f"{name} == {source(size, names)}" for name, size in others]
        tests += [
            f"{source(g.left, names)} {g.relation} {source(g.right, names)}" for g in self.guards
        ]
        found = "".join([f"{names[v]}, " for v in self.variables])
        condition = " and ".join(tests) or "True"
        # Sizes for which a guard divides by zero are none for which it was asked.
        return _function(
            f"def match(shapes):\n"
            f"    ({pattern}) = shapes\n"
            f"    try:\n"
            f"        return ({found}) if {condition} else None\n"
            f"    except ArithmeticError:\n"
            f"        return None\n"
        )

    @cached_property
    def symbols(self) -> tuple[Dim | Real, ...]:
        """Every `Dim` and `Real` of the steps and outputs, each once."""
        found: dict[Dim | Real, None] = {}
        for step in self.steps:
            for symbol in symbols_in((step.arguments, [x for _, x in step.keywords])):
                found[symbol] = None
        for operand in self.outputs:
            for symbol in symbols_in(operand):
                found[symbol] = None
        for given in self.inputs:
            if given.written is not None:
                for symbol in symbols_in(View.row_major(self.values[given.written].shape)):
                    found[symbol] = None
        return tuple(found)

    @cached_property
    def evaluate(self) -> Callable[..., tuple[int | float, ...]]:
        """A function from the values of `variables` to those of `symbols`."""
        return self.function_of(self.symbols)

    def function_of(self, symbols: Sequence[Dim | Real]) -> Callable[..., tuple[int | float, ...]]:
        """A function from the values of `variables` to those of expressions in them."""
        names = {v: f"s{i}" for i, v in enumerate(self.variables)}
        parts = "".join([f"{source(symbol, names)}, " for symbol in symbols])
        return _function(f"def evaluate({', '.join(names.values())}):\n    return ({parts})\n")

    # ------------------------------------------------------------------ lifetimes

    @cached_property
    def last_uses(self) -> dict[int, int]:
        """The position of the last step that reads each value; ``len(steps)`` if it is a result.

        A value that nothing reads is not there.
        """
        last: dict[int, int] = {}
        for position, step in enumerate(self.steps):
            for operand in operands_in((step.arguments, [x for _, x in step.keywords])):
                last[operand.value] = position
        for operand in self.outputs:
            last[operand.value] = len(self.steps)
        for given in self.inputs:
            if given.written is not None:
                last[given.written] = len(self.steps)
        return last

    @cached_property
    def shared_results(self) -> tuple[int, ...]:
        """The values, of steps, that several outputs show.

        An engine may lay out a result in another way than row-major. Outputs that share memory must
        be made to show one row-major block, not a copy each.
        """
        shown = Counter([operand.value for operand in self.outputs])
        given = {*range(len(self.inputs)), *self.constants}
        return tuple([value for value, n in shown.items() if n > 1 and value not in given])

    @cached_property
    def peak_bytes(self) -> Number:
        """The most memory that results of steps take at one time; an expression of the sizes.

        Every value has memory of its own from its step on to its last use, and an update of a
        value that nobody reads later takes none.
        """
        totals: list[DimLike] = []
        live: dict[int, DimLike] = {}
        for position, step in enumerate(self.steps):
            if self.reuses_base(position):
                live.pop(step.arguments[0].value)
            for result in step.results:
                live[result] = self.values[result].nbytes
            totals.append(sum(live.values()))
            live = {v: size for v, size in live.items() if self.last_uses.get(v, -1) > position}
        return largest(totals) if totals else 0

    def reuses_base(self, position: int) -> bool:
        """Whether the step at `position` is an update that may happen in the memory of its base."""
        step = self.steps[position]
        if not step.method.startswith("update"):
            return False
        base = step.arguments[0].value
        if base < len(self.inputs) or base in self.constants:
            return False
        read = [x.value for x in operands_in(step.arguments[1:])]
        return self.last_uses[base] == position and base not in read

    def __reduce__(self) -> tuple[object, ...]:
        if self.constants:
            raise TypeError(
                f"the program reads {len(self.constants)} arrays from outside of its function, "
                "which cannot be pickled with it; make them arguments"
            )
        return _unpickled, tuple([getattr(self, field.name) for field in fields(self)])

    # ------------------------------------------------------------------ text

    def __str__(self) -> str:
        lines = ["inputs:"]
        for i, given in enumerate(self.inputs):
            order = "" if given.order is None else f", its axes in the order {given.order}"
            written = "" if given.written is None else f", written: v{given.written}"
            lines.append(
                f"  v{i}: {self.values[i].dtype} {self._text(given.shape)}{order}{written}"
            )
        for number in self.constants:
            value = self.values[number]
            lines.append(f"  v{number}: {value.dtype} {self._text(value.shape)}, a constant")
        if self.guards:
            lines.append("guards:")
            lines += [f"  {guard}    ({guard.where})" for guard in self.guards]
        lines.append("steps:")
        lines += [f"  {self.step_text(step)}" for step in self.steps]
        lines.append(f"outputs: {', '.join([self._text(x) for x in self.outputs])}")
        lines.append(f"peak bytes: {self.peak_bytes}")
        return "\n".join(lines)

    def step_text(self, step: Step) -> str:
        """A step in one line, as it stands in the text of the program."""
        arguments = [self._text(x) for x in step.arguments]
        arguments += [f"{name}={self._text(x)}" for name, x in step.keywords]
        results = ", ".join([f"v{number}" for number in step.results])
        value = self.values[step.results[0]]
        errors = ", ".join([f"{name}={setting!r}" for name, setting in step.errors])
        return (
            f"{results}: {value.dtype} {self._text(value.shape)} = "
            f"{step.method}({', '.join(arguments)})"
            + (f"    with errstate({errors})" if errors else "")
        )

    def _text(self, x: object) -> str:
        if isinstance(x, ValueView):
            whole = View.row_major(self.values[x.value].shape)
            return f"v{x.value}" if x.view == whole else f"v{x.value}[{self._text(x.view)}]"
        if isinstance(x, View):
            offset = f", offset={x.offset}" if x.offset != 0 else ""
            strides = "" if x.is_row_major else f", strides={self._text(x.strides)}"
            return f"shape={self._text(x.shape)}{strides}{offset}"
        if isinstance(x, Primitive | UfuncLoop):
            return x.name
        if isinstance(x, tuple | list):
            return f"({', '.join(map(self._text, x))}{',' if len(x) == 1 else ''})"
        return str(x)


def _unpickled(*parts: Argument) -> Program:
    """The program of the fields in a pickle. NumPy's dtypes come out of pickles as other objects
    that are equal, where everything else compares dtypes by identity."""
    return Program(*[_with_canonical_dtypes(part) for part in parts])


def _with_canonical_dtypes(x: Argument) -> Argument:
    if isinstance(x, np.dtype):
        return CANONICAL[x]
    if isinstance(x, tuple):
        parts = [_with_canonical_dtypes(part) for part in x]
        return tuple(parts) if type(x) is tuple else type(x)(*parts)
    return x


def _function(code: str) -> Generated:
    namespace: dict[str, Argument] = {"inf": float("inf"), "nan": float("nan")}
    exec(code, namespace)
    name = next(name for name in namespace if code.startswith(f"def {name}("))
    function: Generated = namespace.pop(name)
    return function


def found_in(x: object, kind: type[Kind]) -> Iterator[Kind]:
    """The objects of a kind within nested tuples and lists."""
    if isinstance(x, kind):
        yield x
    elif isinstance(x, tuple | list):
        for part in x:
            yield from found_in(part, kind)


def operands_in(x: object) -> Iterator[ValueView]:
    """The operands within arguments."""
    return found_in(x, ValueView)


def moved(x: Argument, numbers: Mapping[int, int]) -> Argument:
    """Arguments with other numbers for the values in them."""
    if isinstance(x, ValueView):
        return ValueView(numbers.get(x.value, x.value), x.view)
    return tuple([moved(part, numbers) for part in x]) if isinstance(x, tuple) else x


def symbols_in(x: object) -> Iterator[Dim | Real]:
    """The symbolic numbers within arguments, also in views."""
    if isinstance(x, Dim | Real):
        yield x
    elif isinstance(x, View):
        yield from symbols_in((x.shape, x.strides, x.offset))
    elif type(x) is slice:
        yield from symbols_in((x.start, x.stop, x.step))
    elif isinstance(x, tuple | list):
        for part in x:
            yield from symbols_in(part)
