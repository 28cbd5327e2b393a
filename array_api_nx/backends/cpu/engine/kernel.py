"""The description of one pass over memory, which the extension runs.

A kernel goes over an iteration space in tiles of rows by columns. For each tile a short program
runs: instructions compute element by element, from operands (memory) and registers (one tile each,
in cache) into registers or operands; reductions fold a tile into accumulators, which are operands
too.
A *slot* numbers both: operands first, registers after them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from ....contract.numpy_dtypes import NDArray
from ....native import native
from .loops import Loop

__all__ = [
    "MAX_OPERANDS",
    "MAX_STEPS",
    "Access",
    "Box",
    "Instruction",
    "Kernel",
    "KernelOperand",
    "PreparedKernel",
    "Product",
    "TileReduction",
    "prepare",
]

MAX_OPERANDS: Final = 0 if native is None else native.MAX_OPERANDS
MAX_STEPS: Final = 0 if native is None else native.MAX_STEPS
"""The most operands and steps of a kernel: 0 without the extension, which has room for as many."""

Access: TypeAlias = Literal["direct", "packed", "invariant", "streamed"]
"""How the loops reach an operand. "direct": on its memory, row by row where a tile is not flat; its
columns are adjacent, unless loops element by element are all that reads it. "packed": in a
contiguous copy of the tile, made before, or for a target written out afterwards. "invariant":
packed, but the same for every tile of a task, and so packed once per task. "streamed": a target
that is packed, and written out past the caches."""


Box: TypeAlias = tuple[tuple[int, int], ...]


class KernelOperand(NamedTuple):
    """Memory that a kernel reads or writes.

    Attributes
    ----------
    itemsize : int
    strides : tuple of int
        Bytes to step per dim of the kernel; 0 where an input is broadcast, and where accumulators
        are reduced.
    task_stride : int
        Bytes from one task's accumulators to the next task's; 0 if the tasks share the operand.
    access : {"direct", "packed", "invariant", "streamed"}
    box : tuple of (int, int), optional
        Per dim the indices at which a packed input has memory, from start to below end; around
        them it has the element of `fill`.
    fill : int, optional
        Slot of an input that is the same everywhere.
    numbers : tuple of int, optional
        Per dim how many numbers to step, for a packed input of random numbers: its memory is what
        `native.drawing` gives, and its strides are 0.
    """

    itemsize: int
    strides: tuple[int, ...]
    task_stride: int
    access: Access
    box: Box | None = None
    fill: int | None = None
    numbers: tuple[int, ...] | None = None


class Instruction(NamedTuple):
    """``target = loop(*sources)`` for every element of a tile; all are slots."""

    loop: Loop
    sources: tuple[int, ...]
    target: int


class TileReduction(NamedTuple):
    """``accumulators = loop(accumulators, tile reduced by loop)``.

    Attributes
    ----------
    loop : Loop
        (accumulator, element) -> accumulator.
    source : int
        Slot.
    target : int
        Operand slot of the accumulators; or a register, for later instructions on the same tile,
        of whose rows or columns the tile then has all elements.
    rows, columns : bool
        Whether the tile's rows and columns are reduced. Outer dims are where the accumulators'
        stride is 0.
    identity : ndarray
        0-d; what the tile's own result starts from.
    """

    loop: Loop
    source: int
    target: int
    rows: bool
    columns: bool
    identity: NDArray


class Product(NamedTuple):
    """``target = left @ right`` for a tile: the rows of a matrix that belong to the tile's rows, by
    the columns of another that belong to its columns.

    Attributes
    ----------
    loop : Loop
        Of `numpy.matmul`.
    left, right : int
        Operand slots that nothing else reads, direct; `left` has stride 0 along the columns,
        `right` along the rows.
    target : int
        Slot.
    inner : int
        The size that is summed over, at least 1.
    left_step, right_step : int
        Bytes from one summand to the next.
    """

    loop: Loop
    left: int
    right: int
    target: int
    inner: int
    left_step: int
    right_step: int

    @property
    def sources(self) -> tuple[int, ...]:
        return self.left, self.right


class Kernel(NamedTuple):
    """One pass over memory.

    Attributes
    ----------
    dims : tuple of int
        The iteration space, at least two dims; the last two are the tile's rows and columns.
    tile : (int, int)
        Rows and columns of a tile; the last ones may be smaller.
    split, step, tasks : int
        Task t covers the indices from ``t * step`` to below ``(t + 1) * step`` of dim `split`.
        A task goes through its tiles in row-major order.
    operands : tuple of KernelOperand
        The first slots.
    registers : tuple of int
        The slots after them: bytes per element.
    program : tuple of Instruction, Product or TileReduction
    """

    dims: tuple[int, ...]
    tile: tuple[int, int]
    split: int
    step: int
    tasks: int
    operands: tuple[KernelOperand, ...]
    registers: tuple[int, ...]
    program: tuple[Instruction | Product | TileReduction, ...]


class PreparedKernel(Protocol):
    """A kernel, ready to run any number of times, from several threads at once."""

    def run(
        self,
        memories: Sequence[tuple[NDArray, int]],
        threads: int,
        listener: Callable[[int, int], None] | None = None,
        /,
    ) -> tuple[int, ...]:
        """Run all tasks.

        Parameters
        ----------
        memories : sequence of (ndarray, int)
            For each operand a contiguous array and the byte position of the element at index
            (0, ..., 0) in it.
        threads : int
            The most threads to use, at least 1, the calling thread among them.
        listener : callable, optional
            Called by the calling thread now and then, every 20 milliseconds of processor time at
            most, with the number of tasks begun and that of all. An exception of it ends the run.

        Returns
        -------
        tuple of int
            For each step of the program the floating-point errors that it met, as NumPy's bits:
            divide 1, overflow 2, underflow 4, invalid 8.

        Raises
        ------
        ValueError
            If an operand leaves its memory or writes to memory that is read-only.
        MemoryError
            If there is none for the threads' tiles.
        """

    def reduce(
        self,
        array: NDArray,
        shape: tuple[int, ...],
        divisor: float | None,
        combining: object,
        threads: int,
        /,
    ) -> tuple[NDArray, int]:
        """Reduce operand 0, a contiguous array, to operand 1, a new array.

        Parameters
        ----------
        array : ndarray
        shape : tuple of int
            Of the result.
        divisor : float or None
            By which a sum, or the sum of squares of a variance, is divided.
        combining : object
            The pointer of the loop that combines the accumulators of tasks; None for moments, and
            if there is one copy.
        threads : int
            As for `run`.

        Returns
        -------
        result : ndarray
            Of the array's dtype.
        errors : int
            The floating-point errors, as NumPy's bits.
        """


def prepare(kernel: Kernel) -> PreparedKernel:
    """`kernel`, checked and made ready by the extension, without which no kernel runs.

    Raises
    ------
    ValueError
        If its description breaks a rule.
    """
    assert native is not None
    return native.Kernel(**kernel._asdict())
