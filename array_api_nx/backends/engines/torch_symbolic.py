"""Sizes that PyTorch leaves open while it compiles, and its guards for them.

A function that is compiled with symbols for sizes serves all sizes that satisfy PyTorch's guards:
the answers that it gave to questions about them, such as whether two are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import ClassVar, Final, NamedTuple, TypeAlias

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

from ...contract.arguments import Native
from ...contract.program import Argument, Program
from ...core.symbolic import Dim
from ...core.symbolic_layout import row_major_strides
from ...core.view import View
from .compiled_programs import Compiled, ElementError

MAX_FUNCTIONS: Final = 8
"""How many functions with open sizes are kept for one program."""

Size: TypeAlias = "int | torch.SymInt"


@dataclass(frozen=True, slots=True)
class SymbolicView:
    """Parts of a `View`, with sizes that may be PyTorch's symbols."""

    shape: tuple[Size, ...]
    strides: tuple[Size, ...]
    offset: Size

    # What holds of every view of a block that a step computed.
    mask: ClassVar[None] = None
    is_read_only: ClassVar[bool] = False
    read_only_reason: ClassVar[None] = None

    @staticmethod
    def at(view: View, sizes: tuple[Size, ...]) -> SymbolicView:
        """See `View.at`."""
        return SymbolicView(sizes[: view.ndim], sizes[view.ndim : -1], sizes[-1])

    @staticmethod
    def row_major(shape: tuple[Size, ...]) -> SymbolicView:
        """See `View.row_major`."""
        return SymbolicView(shape, row_major_strides(shape), 0)


class Symbols:
    """A symbol for each open size that a program depends on, and what PyTorch asked of them.

    `sizes`: by these its questions are answered.
    `is_open`: which of the sizes are open. The others, and sizes of 0 and 1, are numbers to
    PyTorch: symbols are at least 2.
    `numbers`: the sizes as PyTorch gets them.
    `mode`: in which tensors of such sizes can be made.
    """

    def __init__(self, sizes: tuple[int, ...], is_open: tuple[bool, ...]) -> None:
        from torch._dynamo.source import ConstantSource  # which takes long to import

        self._environment = ShapeEnv()
        self.mode = FakeTensorMode(shape_env=self._environment, allow_non_fake_inputs=True)
        self.numbers: list[Size] = list(sizes)
        self._symbols: dict[int, Native] = {}
        for i, size in enumerate(sizes):
            if is_open[i] and size > 1:
                source = ConstantSource(f"size_{i}")
                # DYNAMIC: sizes that happen to be equal have a symbol each.
                symbol = self._environment.create_symbol(size, source, DimDynamic.DYNAMIC)
                number = self._environment.create_symintnode(symbol, hint=size, source=source)
                self._symbols[i] = symbol
                self.numbers[i] = number

    @property
    def open_numbers(self) -> list[Size]:
        """Those of `numbers` that are symbols."""
        return [self.numbers[i] for i in self._symbols]

    def of_open(self, sizes: Sequence[int]) -> list[int]:
        """Those of `sizes` that have symbols."""
        return [sizes[i] for i in self._symbols]

    @property
    def are_open(self) -> bool:
        """Whether no symbol has come out as a number."""
        known = self._environment.replacements
        return not any([symbol in known for symbol in self._symbols.values()])

    def allow(self, sizes: Sequence[int]) -> bool:
        """Whether all that PyTorch took for granted so far is true of `sizes`."""
        pairs = zip(self.numbers, sizes, strict=True)
        if any([n != size for n, size in pairs if not isinstance(n, torch.SymInt)]):
            return False
        values, environment = self._values(sizes), self._environment
        if any([size not in environment.var_to_range[x] for x, size in values.items()]):
            return False
        # SymPy's truth values are no bools, but equal to them.
        return all([guard.expr.xreplace(values) == True for guard in environment.guards])  # noqa: E712

    def _values(self, sizes: Sequence[int]) -> dict[Native, int]:
        return {symbol: sizes[i] for i, symbol in self._symbols.items()}

    def value(self, x: Argument, sizes: Sequence[int]) -> Argument:
        """An expression of the symbols, or a tuple of them, for given sizes."""
        if isinstance(x, tuple):
            return tuple([self.value(part, sizes) for part in x])
        if not isinstance(x, torch.SymInt):
            return x
        return int(x.node.expr.xreplace(self._values(sizes)))


class Function(NamedTuple):
    """A compiled function whose sizes are open.

    `compiled`: which takes the open sizes before the arrays. PyTorch's caches of compiled code look
    at the sizes that are arguments alone when they ask whether the guards hold.
    `is_threaded`: whether it was compiled for large arrays.
    """

    compiled: Compiled
    symbols: Symbols
    is_threaded: bool

    def at(self, sizes: tuple[int, ...]) -> Compiled:
        """The same for given sizes, which are in the texts of errors, too."""
        errors = [
            ElementError(error.kind, error.text, self.symbols.value(error.sizes, sizes))
            for error in self.compiled.errors
        ]
        compute = partial(self.compiled.compute, *self.symbols.of_open(sizes))
        return Compiled(compute, tuple(errors))


class Functions:
    """Functions compiled from one program, which they must not hold.

    `count_elements`: from the program's sizes to the numbers of elements of its values.
    `first`: the sizes for which it was compiled with numbers before any other.
    `is_open`: which of the sizes have differed from these since then.
    `failures`: how often sizes could not be left open.
    """

    def __init__(self, program: Program) -> None:
        counts = [prod(value.shape) for value in program.values]
        self.count_elements = program.function_of([n for n in counts if isinstance(n, Dim)])
        self.first: tuple[int, ...] | None = None
        self.is_open: tuple[bool, ...] = ()
        self.failures = 0
        self._open: list[Function] = []

    def find(self, sizes: tuple[int, ...], is_threaded: bool) -> Function | None:
        """A function that serves `sizes`."""
        for function in self._open:
            if function.is_threaded is is_threaded and function.symbols.allow(sizes):
                return function
        return None

    def compiled_first(self, sizes: tuple[int, ...]) -> None:
        """Sizes have been compiled as numbers."""
        if self.first is None:
            self.first, self.is_open = sizes, (False,) * len(sizes)

    def opened(self, sizes: tuple[int, ...]) -> tuple[bool, ...]:
        """`is_open`, now that there are other sizes to compile for."""
        assert self.first is not None
        triples = zip(self.is_open, sizes, self.first, strict=True)
        self.is_open = tuple([was or size != first for was, size, first in triples])
        return self.is_open

    def keep(self, function: Function) -> None:
        self._open.insert(0, function)
        del self._open[MAX_FUNCTIONS:]
