"""Elementwise operations that wait, and the program that runs a chain of them on a chunk.

A chain becomes one task per chunk, which hands it to the CPU backend: there large chunks are
computed in one pass over memory, whatever the number of operations.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final, NamedTuple, TypeAlias, final

import dask.array as da
import numpy as np

from ...config import config_context
from ...contract.backend import Handle
from ...contract.numpy_dtypes import NDArray, suitable
from ...contract.program import Argument
from ...core.dtypes import DType
from ..cpu import CPUBackend
from .layers import Grid, Part, blockwise, combined

__all__ = [
    "ArraySource",
    "ChunkProgram",
    "Expression",
    "Step",
    "StorageValue",
    "bound",
    "chunk_handle",
    "host",
    "on_host",
    "traced",
]

host: Final = CPUBackend()
"""What computes inside chunks."""
host.device_name = ""

_MAX_STEPS: Final = 200
"""Longer chains are cut into several tasks."""

Step: TypeAlias = tuple[str, tuple[Argument, ...]]
"""A method of the CPU backend and its arguments."""


@final
class ArraySource:
    """An array that is cheaper to make than to keep: read from a file, or filled.

    Each reader gets tasks of its own. If readers shared them, Dask would keep every chunk until
    the last reader has it: the whole array, for the mean and what it is subtracted from. What fits
    in one chunk is made once.

    Parameters
    ----------
    make : callable
        Returns a da.Array whose layers no one else has.
    shape : tuple of int
    dtype : np.dtype

    Attributes
    ----------
    array : da.Array or None
        What was made for all readers.
    """

    __slots__ = ("array", "dtype", "make", "shape")

    def __init__(self, make: Callable[[], da.Array], shape: tuple[int, ...], dtype: DType) -> None:
        self.make = make
        self.shape = shape
        self.dtype = dtype
        self.array: da.Array | None = None


@final
class Expression:
    """An elementwise operation over values.

    Parameters
    ----------
    method : str
        Of the CPU backend.
    arguments : tuple
        What it is called with. Values among them stand for their chunks.
    shape : tuple of int
        Of the result.
    dtype : np.dtype

    Attributes
    ----------
    array : da.Array or None
        What it is for all that read it, if one of them needed a Dask array and it is small. Without
        that, what is computed step by step, each from the one before and with several readers,
        would take twice the tasks at every step.
    size : int
        How many operations it consists of, those used twice counted twice.
    """

    __slots__ = ("arguments", "array", "dtype", "method", "shape", "size")

    def __init__(
        self,
        method: str,
        arguments: tuple[Argument, ...],
        shape: tuple[int, ...],
        dtype: DType,
    ) -> None:
        self.method = method
        self.arguments = arguments
        self.shape = shape
        self.dtype = dtype
        self.array: da.Array | None = None
        self.size: int = 1 + sum(
            [x.size for x in arguments if type(x) is Expression and x.array is None]
        )

    @property
    def operands(self) -> list[StorageValue]:
        return [x for x in self.arguments if isinstance(x, Expression | ArraySource | da.Array)]

    def is_long(self) -> bool:
        """Whether there are so many operations that the next one should not join them."""
        return self.size > _MAX_STEPS and len(_in_order(self)[0]) > _MAX_STEPS


StorageValue: TypeAlias = "Expression | ArraySource | da.Array"
"""What an array consists of."""


class _Register(NamedTuple):
    number: int


class ChunkProgram:
    """A chain of operations on chunks; a picklable function of NumPy arrays.

    Parameters
    ----------
    steps : list of (method, arguments)
        Methods of the CPU backend. A register among the arguments stands for a chunk, or after
        these for the result of a step.
    chunks : int
        How many chunks it takes.
    """

    def __init__(self, steps: list[Step], chunks: int) -> None:
        self.steps = steps
        self.chunks = chunks
        last: dict[int, int] = {}
        for i, (_, arguments) in enumerate(steps):
            last.update({x.number: i for x in arguments if type(x) is _Register})
        self.released: list[list[int]] = [[] for _ in steps]
        for register, i in last.items():
            self.released[i].append(register)

    def __call__(self, *chunks: Part) -> NDArray:
        # Nobody writes to chunks, so that operations on them may be deferred. Dask has tasks for
        # every core, and one thread each is enough.
        with config_context(num_threads=1, progress=False):
            registers: list[Handle] = [chunk_handle(chunk) for chunk in chunks]
            for (method, arguments), released in zip(self.steps, self.released, strict=True):
                values = [registers[x.number] if type(x) is _Register else x for x in arguments]
                registers.append(getattr(host, method)(*values))
                del values
                # What is still held would be stored.
                for register in released:
                    registers[register] = None
            result = registers[-1]
            del registers
            return host.to_host(result)

    def __repr__(self) -> str:
        return f"<program of {len(self.steps)} steps>"

    def __dask_tokenize__(self) -> object:
        return "array_api_nx.Program", repr(self.steps), self.chunks

    @property
    def label(self) -> str:
        """What it does, in a word or two."""
        names = [
            arguments[0].name if method in ("unary", "binary", "reduce", "apply") else method
            for method, arguments in self.steps
        ]
        return names[0] if len(names) == 1 else f"{names[0]}-to-{names[-1]}"


def _in_order(value: Expression) -> tuple[list[Expression], list[StorageValue]]:
    """The expressions that `value` consists of, operands first, and what they begin with."""
    steps: list[Expression] = []
    leaves: list[StorageValue] = []
    seen: set[int] = set()
    pending: list[tuple[StorageValue, bool]] = [(value, False)]
    while pending:
        node, entered = pending.pop()
        if entered:
            assert type(node) is Expression
            steps.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            if type(node) is Expression and node.array is None:
                pending.append((node, True))
                pending += [(operand, False) for operand in reversed(node.operands)]
            else:
                leaves.append(node)
    return steps, leaves


def traced(value: StorageValue, grid: Grid) -> tuple[list[Step], list[da.Array], _Register]:
    """The steps of `value`, the arrays that they begin with, and the register of the result."""
    if type(value) is not Expression or value.array is not None:
        return [], [bound(value, grid)], _Register(0)
    nodes, leaves = _in_order(value)
    arrays = [bound(leaf, grid) for leaf in leaves]
    registers: dict[int, _Register] = {}
    for node in (*leaves, *nodes):
        registers[id(node)] = _Register(len(registers))
    steps = [
        (node.method, tuple([registers.get(id(x), x) for x in node.arguments])) for node in nodes
    ]
    return steps, arrays, registers[id(value)]


def bound(value: StorageValue, grid: Grid) -> da.Array:
    """`value` as a Dask array."""
    if isinstance(value, da.Array):
        return value
    if value.array is not None:
        return value.array
    if type(value) is ArraySource:
        array = value.make()
    else:
        steps, leaves, _ = traced(value, grid)
        program = ChunkProgram(steps, len(leaves))
        arrays, chunks = combined(leaves, value.shape, grid)
        array = blockwise(program.label, program, arrays, chunks, value.dtype)
    if prod(value.shape) * value.dtype.itemsize <= grid.limit:
        value.array = array
    return array


def on_host(method: str, *arguments: Argument, **options: Argument) -> Part:
    """Call a method of the CPU backend with NumPy arrays for handles, and returning them.

    A task of its own: with several results, a tuple.
    """
    with config_context(num_threads=1, progress=False):
        result = getattr(host, method)(*[_handle(x) for x in arguments], **options)
        if isinstance(result, tuple):
            return tuple([host.to_host(x) for x in result])
        return host.to_host(result)


def _handle(x: Argument) -> Argument:
    return chunk_handle(x) if isinstance(x, np.ndarray | np.generic) else x


def chunk_handle(chunk: Part) -> Handle:
    """A chunk as a handle of `host`.

    What came from another worker, or was cut out of records, may lie anywhere in memory.
    """
    return host.from_host(suitable(np.asarray(chunk)), copy=False, lent=False)
