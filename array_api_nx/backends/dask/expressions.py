"""Elementwise operations that wait, and the program that runs a chain of them on a chunk.

A chain becomes one task per chunk, which hands it to the CPU backend: there large chunks are
computed in one pass over memory, however many operations there are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Final, NamedTuple, TypeAlias, final

import dask.array as da
import numpy as np

from ...config import DEFAULTS, config_context
from ...contract.arguments import Handle
from ...contract.events import unobserved
from ...contract.numpy_dtypes import NDArray, suitable
from ...contract.program import Argument
from ...core.dtypes import CANONICAL, DType
from ...core.shape import broadcast_shapes
from ..cpu import CPUBackend
from .layers import Chunks, Grid, Part, blockwise, combined

host: Final = CPUBackend()
"""What computes inside chunks."""

_MAX_STEPS: Final = 200
"""Longer chains are cut into several tasks."""

_MAX_WORDS: Final = 3
"""Of a task's name. Dask joins the names of tasks that it fuses, and cuts what gets too long."""

_NAMED_BY_PRIMITIVE: Final = ("unary", "binary", "reduce", "apply")

Step: TypeAlias = tuple[str, tuple[Argument, ...]]
"""A method of the CPU backend, or `SELECT`, and its arguments."""

SELECT: Final = "select"
"""The step that takes the selected elements out of a chunk."""

Sizes: TypeAlias = "tuple[int | None, ...]"
"""A shape. None is the number of elements that a mask selects, while that is unknown."""


@final
@dataclass(eq=False, repr=False, slots=True)
class ArraySource:
    """An array that is cheaper to make than to keep: read from a file, or filled.

    Each reader gets tasks of its own. If readers shared them, Dask would keep every chunk until
    the last reader has it: the whole array, where its mean is subtracted from it. An array of one
    chunk is made once.

    `make`: returns a da.Array whose layers no one else has.
    `make_cut`: returns one that is cut into given chunks.
    `array`: the array that all readers share.
    `reduced`: the array that reductions of the source alone share: each chunk goes as soon as
    they have it. So a mean and a variance make or read the chunks once, if both are asked for
    together.
    """

    make: Callable[[], da.Array]
    shape: tuple[int, ...]
    dtype: DType
    make_cut: Callable[[Chunks], da.Array] | None = None
    array: da.Array | None = field(default=None, init=False)
    reduced: da.Array | None = field(default=None, init=False)


@final
@dataclass(eq=False, repr=False, slots=True)
class Expression:
    """An elementwise operation over values.

    `method`: of the CPU backend, or `SELECT`.
    `arguments`: arguments of the method. Values among them mean their chunks.
    `sizes`: the shape of the result.
    `mask`: decides the size that is None.
    `array`: the array that all readers share, if one needed a Dask array and it is small. Without
    it, a sequence of steps with two readers each would double the tasks at every step.
    `known`: the same elements as a value whose shape is known, once an operation needed that; see
    `counted`.
    `size`: how many operations it consists of, those used twice counted twice.
    """

    method: str
    arguments: tuple[Argument, ...]
    sizes: Sizes
    dtype: DType
    mask: Mask | None = None
    array: da.Array | None = field(default=None, init=False)
    known: StorageValue | None = field(default=None, init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        waiting = [x for x in self.arguments if type(x) is Expression and x.array is None]
        self.size = 1 + sum([x.size for x in waiting])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result. Counts the selected elements, if need be."""
        known = counted(self)
        return known.sizes if type(known) is Expression else known.shape  # type: ignore[return-value]

    @property
    def operands(self) -> list[StorageValue]:
        return [x for x in self.arguments if is_value(x)]

    def is_long(self) -> bool:
        """Whether there are so many operations that the next one should not join them."""
        return self.size > _MAX_STEPS and len(_in_order(self)[0]) > _MAX_STEPS


StorageValue: TypeAlias = "Expression | ArraySource | da.Array"
"""The contents of an array."""


@final
@dataclass(eq=False, repr=False, slots=True)
class Mask:
    """What selects elements whose number is not known yet.

    `value`: of dtype bool.
    `take`: from a value, and the axis at which the mask's own axes begin, to a da.Array of the
    selected elements. Counts them.
    """

    value: StorageValue
    shape: tuple[int, ...]
    take: Callable[[StorageValue, int], da.Array]


def counted(value: StorageValue) -> StorageValue:
    """`value`, or the same elements as a value whose shape is known: its masks are counted."""
    if type(value) is not Expression or value.mask is None:
        return value
    if value.known is None:
        if value.method == SELECT:
            x, _, axis, _ = value.arguments
            value.known = value.mask.take(x, axis)
        else:
            arguments = tuple([counted(x) if is_value(x) else x for x in value.arguments])
            shape = broadcast_shapes(*[x.shape for x in arguments if is_value(x)])
            value.known = Expression(value.method, arguments, shape, value.dtype)
    return value.known


def whole_shape(value: Expression, mask: Mask) -> tuple[int, ...]:
    """The shape over which a value that `mask` selects is computed: with all elements."""
    axis = value.sizes.index(None)
    sizes = [n for n in value.sizes if n is not None]
    return (*sizes[:axis], *mask.shape, *sizes[axis:])


def is_same(first: StorageValue, second: StorageValue) -> bool:
    """Whether two values are known to have the same elements: the same operations on the same."""
    if first is second:
        return True
    if type(first) is not Expression or type(second) is not Expression:
        return False
    if first.size != second.size:
        return False
    described = []
    for value in (first, second):
        nodes, leaves = _in_order(value)
        numbers = {id(node): i for i, node in enumerate([*leaves, *nodes])}
        steps = [
            (
                node.method,
                node.dtype,
                [numbers[id(x)] if is_value(x) else _exactly(x) for x in node.arguments],
            )
            for node in nodes
        ]
        described.append(([id(leaf) for leaf in leaves], steps))
    return described[0] == described[1]


def _exactly(x: Argument) -> object:
    """Equal for arguments that do the same: 1, 1.0 and True do not, nor do 0.0 and -0.0."""
    return (type(x), repr(x)) if isinstance(x, int | float | complex) else x


def is_value(x: object) -> bool:
    """Whether an argument of an expression is a value in chunks."""
    return isinstance(x, Expression | ArraySource | da.Array)


class _Register(NamedTuple):
    number: int


class ChunkProgram:
    """A chain of operations on chunks; a picklable function of NumPy arrays.

    `steps`: methods of the CPU backend. A register among the arguments means a chunk, or
    after these the result of a step.
    `chunks`: how many chunks it takes.
    """

    def __init__(self, steps: list[Step], chunks: int) -> None:
        self.steps = [(method, tuple(map(_canonical, given))) for method, given in steps]
        self.chunks = chunks
        last: dict[int, int] = {}
        for i, (_, arguments) in enumerate(steps):
            last.update({x.number: i for x in arguments if type(x) is _Register})
        self.released: list[list[int]] = [[] for _ in steps]
        for register, i in last.items():
            self.released[i].append(register)

    def __call__(self, *chunks: Part) -> NDArray:
        # No task writes to its chunks, so that operations on them may be deferred.
        with task_settings():
            given = [chunk_handle(chunk, row_major=self.is_ordered) for chunk in chunks]
            registers: list[Handle] = given
            for (method, arguments), released in zip(self.steps, self.released, strict=True):
                values = [registers[x.number] if type(x) is _Register else x for x in arguments]
                call = _select if method == SELECT else getattr(host, method)
                registers.append(call(*values))
                del values
                # A value that is still held would be stored.
                for register in released:
                    registers[register] = None
            result = registers[-1]
            del registers
            return host.to_host(result)

    def __reduce__(self) -> tuple[object, ...]:
        return ChunkProgram, (self.steps, self.chunks)

    @property
    def is_ordered(self) -> bool:
        """Whether rounding depends on the order in which elements are gone over."""
        return bool(self.steps) and self.steps[-1][0] == "reduce"

    def __repr__(self) -> str:
        return f"<program of {len(self.steps)} steps>"

    def __dask_tokenize__(self) -> object:
        return "array_api_nx.Program", repr(self.steps), self.chunks

    @property
    def label(self) -> str:
        """A few words for its operations: the name of its tasks on a dashboard.

        Dask takes a key's words for the task's name up to the first that is not of letters alone.
        """
        names = list(
            dict.fromkeys(
                [
                    arguments[0].name if method in _NAMED_BY_PRIMITIVE else method
                    for method, arguments in self.steps
                ]
            )
        )
        words = [name.replace("_", "-") for name in names if name.replace("_", "").isalpha()]
        if len(names) == 1 or not words:
            return names[0]
        return "-".join(words if len(words) <= _MAX_WORDS else [words[0], "to", words[-1]])


def _in_order(value: Expression) -> tuple[list[Expression], list[StorageValue]]:
    """The expressions that `value` consists of, operands first, and their leaves."""
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


def traced(
    value: StorageValue, grid: Grid, *, reduced: bool = False
) -> tuple[list[Step], list[da.Array], _Register]:
    """The steps of `value`, the arrays that they begin with, and the register of the result.

    `reduced` says that a reduction of it is all that the arrays are made for.
    """
    nodes: list[Expression] = []
    leaves = [value]
    if type(value) is Expression and value.array is None:
        nodes, leaves = _in_order(value)
    source = leaves[0]
    if reduced and len(leaves) == 1 and type(source) is ArraySource:
        if source.reduced is None:
            source.reduced = bound(source, grid)
        arrays = [source.reduced]
    else:
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
    value = counted(value)
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


@contextmanager
def task_settings() -> Iterator[None]:
    """The settings under which tasks compute, in any thread of any process.

    They do not depend on the caller's settings, since deferral decides how sums are rounded. A pass
    over what waits holds the GIL: so it may use as many threads as there are tasks at a time. What
    is computed is a part of Dask's evaluation, and not reported again.
    """
    settings = config_context(
        num_threads=_threads_of_worker() or DEFAULTS.num_threads,
        progress=False,
        fusion=DEFAULTS.fusion,
        fusion_threshold=DEFAULTS.fusion_threshold,
    )
    with unobserved(), settings:
        yield


def _threads_of_worker() -> int | None:
    """The threads of the cluster's worker that this is; None in other processes."""
    worker = sys.modules.get("distributed.worker")
    try:
        return None if worker is None else int(worker.get_worker().state.nthreads)
    except ValueError:  # no worker runs here
        return None


def on_host(method: str, *arguments: Argument, **options: Argument) -> Part:
    """Call a method of the CPU backend with NumPy arrays for handles, and returning them.

    A task of its own: with several results, a tuple.
    """
    with task_settings():
        named = {name: _canonical(x) for name, x in options.items()}
        result = getattr(host, method)(*[_handle(x) for x in arguments], **named)
        if isinstance(result, tuple):
            return tuple([host.to_host(x) for x in result])
        return host.to_host(result)


def _handle(x: Argument) -> Argument:
    return chunk_handle(x) if isinstance(x, np.ndarray | np.generic) else _canonical(x)


def _canonical(x: Argument) -> Argument:
    """A dtype as the one object that we have for it: pickles make others that equal it."""
    return CANONICAL[x] if isinstance(x, np.dtype) else x


def chunk_handle(chunk: Part, *, row_major: bool = True) -> Handle:
    """A chunk as a handle of `host`.

    What came from another worker, or was cut out of records, may lie anywhere in memory. How its
    axes lie differs as well: a view of a chunk is one where it was made, and a copy on any other
    worker. Sums and products are rounded alike for both if each has the strides of a row-major
    array, which for axes of size 1 are of no other consequence.
    """
    array = np.asarray(chunk)
    if row_major:
        array = np.ascontiguousarray(array).reshape(-1).reshape(array.shape)
    return host.from_host(suitable(array), copy=False, lent=False)


def _select(x: Handle, mask: Handle, axis: int, ndim: int) -> Handle:
    """The elements of `x` at a mask of `ndim` axes, after which it may have others of size 1."""
    shape = host.shape(mask)
    if len(shape) > ndim:
        mask = host.reshape(mask, shape[:ndim])
    return host.index_get(x, (*[None] * axis, mask))
