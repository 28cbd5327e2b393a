"""What the checked backend asserts of arguments and results; the words are those of backend.py."""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import DType
from ..core.shape import broadcast_shapes
from ..core.view import Selection, View
from ..primitives import table as p
from ..primitives.table import Primitive
from .backend import Backend, Handle, Operand, Padding
from .composed import window_counts
from .numpy_dtypes import NDArray
from .strided import StridedBackend, Tensor
from .ufuncs import UfuncLoop

__all__ = [
    "REAL_OF",
    "CheckedCall",
    "ContractError",
    "Shape",
    "broadcasts_to",
    "fits",
    "selected_shape",
]

Shape = tuple[int, ...]

REAL_OF: Final = p.ABS.results
"""The real dtype of every numeric one."""

_SCALARS: Final = frozenset({bool, int, float, complex})


class ContractError(AssertionError):
    """The frontend or a backend broke the backend contract."""


class CheckedCall:
    """One call of a primitive, and the assertions about it that many primitives share."""

    def __init__(self, backend: Backend, primitive: str, **arguments: object) -> None:
        self.backend = backend
        self.primitive = primitive
        self.arguments = arguments

    def guarantees(self, condition: bool, words: str) -> None:
        """Raise ContractError unless the frontend's `condition` holds."""
        if not condition:
            self._fail("the frontend must guarantee", words)

    def owes(self, condition: bool, words: str) -> None:
        """Raise ContractError unless the backend's `condition` holds."""
        if not condition:
            self._fail("the backend must", words)

    def _fail(self, who: str, words: str) -> None:
        given = ", ".join([f"{name}={self._text(x)}" for name, x in self.arguments.items()])
        raise ContractError(f"{self.primitive}: {who}: {words}; called with {given}")

    def _text(self, x: object) -> str:
        if isinstance(x, list | tuple) and any(map(self._is_handle, x)):
            return f"[{', '.join(map(self._text, x))}]"
        if not self._is_handle(x):
            return repr(x)
        return f"<{self.backend.dtype(x)} handle of shape {self.backend.shape(x)}>"

    def _is_handle(self, x: object) -> bool:
        if isinstance(self.backend, StridedBackend):
            return type(x) is Tensor
        return not isinstance(
            x, bool | int | float | complex | tuple | np.ndarray | np.dtype | None
        )

    # ------------------------------------------------------------------ what arguments are

    def handles(self, *xs: Handle) -> None:
        for x in xs:
            self.guarantees(self._is_handle(x), "a handle of this backend")

    def same_dtype(self, *xs: Handle) -> None:
        self.guarantees(len({self.backend.dtype(x) for x in xs}) == 1, "handles of one dtype")

    def is_shape(self, shape: object) -> None:
        self.guarantees(
            type(shape) is tuple and all(type(n) is int and n >= 0 for n in shape),
            "a shape is a tuple of non-negative ints",
        )

    def axis(self, axis: object, x: Handle) -> None:
        self.axes((axis,), x)

    def axes(self, axes: tuple[object, ...], x: Handle) -> None:
        ndim = len(self.backend.shape(x))
        self.guarantees(
            type(axes) is tuple and all(type(axis) is int and 0 <= axis < ndim for axis in axes),
            "axes are ints in range, counted from the front",
        )
        self.guarantees(len(set(axes)) == len(axes), "axes are distinct")

    def flags(self, *values: object) -> None:
        self.guarantees(all(type(value) is bool for value in values), "flags are bools")

    def result_dtype(self, op: Primitive, dtype: DType) -> DType:
        """The dtype that the row of `op` gives for `dtype`."""
        self.guarantees(dtype in op.results, f"a dtype that {op.name} takes, not {dtype}")
        return op.results[dtype]

    def scalar(self, value: object, dtype: DType) -> None:
        self.guarantees(
            d.holds(dtype, value),
            f"a Python scalar that {dtype} represents",
        )

    def operands(self, *xs: Operand) -> tuple[DType, list[Shape]]:
        """Check handles of one dtype mixed with scalars that it represents.

        Returns the dtype and the handles' shapes.
        """
        handles = [x for x in xs if type(x) not in _SCALARS]
        self.guarantees(len(handles) > 0, "at least one operand is a handle")
        self.handles(*handles)
        self.same_dtype(*handles)
        dtype = self.backend.dtype(handles[0])
        for x in xs:
            if type(x) in _SCALARS:
                self.scalar(x, dtype)
        return dtype, [self.backend.shape(x) for x in handles]

    def ufunc_operands(self, op: UfuncLoop, xs: tuple[Operand, ...]) -> list[Shape]:
        """Check handles and scalars of a ufunc's dtypes. Returns the handles' shapes."""
        self.guarantees(len(xs) == len(op.inputs), "as many operands as the ufunc takes")
        handles = []
        for x, dtype in zip(xs, op.inputs, strict=True):
            if type(x) in _SCALARS:
                self.scalar(x, dtype)
            else:
                self.handles(x)
                self.guarantees(self.backend.dtype(x) is dtype, "handles of the loop's dtypes")
                handles.append(x)
        self.guarantees(len(handles) > 0, "at least one operand is a handle")
        return [self.backend.shape(x) for x in handles]

    def writable(self, x: Handle) -> None:
        self.handles(x)
        self.guarantees(self.backend.read_only_reason(x) is None, "the target may be written")

    def matrix(self, x: Handle, *, square: bool) -> None:
        self.handles(x)
        shape = self.backend.shape(x)
        self.guarantees(len(shape) >= 2, "at least two axes")
        self.guarantees(not square or shape[-1] == shape[-2], "a square matrix")

    def windows(
        self, sizes: Shape, kernel_size: Shape, stride: Shape, dilation: Shape, padding: Padding
    ) -> int:
        """Check the parameters of windows over axes of the given sizes; how many there are."""
        self.guarantees(
            len(sizes) == len(kernel_size) == len(stride) == len(dilation) == len(padding),
            "parameters of one length",
        )
        self.guarantees(
            all(n > 0 for n in (*kernel_size, *stride, *dilation)),
            "sizes, strides and dilations are positive",
        )
        self.guarantees(all(a >= 0 <= b for a, b in padding), "padding is not negative")
        counts = window_counts(sizes, kernel_size, stride, dilation, padding)
        self.guarantees(all(count > 0 for count in counts), "at least one window fits")
        return prod(counts)

    # ------------------------------------------------------------------ what results are

    def broadcast(self, *shapes: Shape) -> Shape:
        """The shape that `shapes` broadcast to; the backend has accepted them."""
        try:
            return broadcast_shapes(*shapes)
        except ValueError:
            self._fail("the backend must", "raise ValueError if shapes do not broadcast")
            raise

    def returns(
        self, result: Handle, shape: Shape, dtype: DType, *, own: bool = True, rows: bool = False
    ) -> Handle:
        """Check a result: shape, dtype, memory of its `own`, row-major order (`rows`)."""
        backend = self.backend
        self.owes(self._is_handle(result), "return a handle")
        found = backend.shape(result)
        self.owes(type(found) is tuple, "tell shapes as tuples")
        self.owes(found == shape, f"return shape {shape}, not {found}")
        self.owes(backend.dtype(result) is dtype, f"return {dtype}, not {backend.dtype(result)}")
        if rows and isinstance(backend, StridedBackend):
            self.owes(backend.view(result).is_row_major, "return row-major memory")
        # What is still to be computed will get memory of its own.
        memory = self._peek(result)
        if memory is not None and own and backend.read_only_reason(result) is None:
            for x in self._arguments_in_memory():
                self.owes(not np.may_share_memory(memory, x), "return memory of its own")
        return result

    def _peek(self, x: Handle) -> NDArray | None:
        """The memory of a handle, if it has any yet and the host can reach it."""
        if isinstance(self.backend, StridedBackend) and self.backend.dlpack_device()[0] == 1:
            memory: NDArray | None = self.backend.peek(x)
            return memory
        return None

    def _arguments_in_memory(self) -> list[NDArray]:
        found = []
        for argument in self.arguments.values():
            for x in argument if isinstance(argument, list | tuple) else [argument]:
                if self._is_handle(x):
                    memory = self._peek(x)
                    if memory is not None:
                        found.append(memory)
                elif isinstance(x, np.ndarray):
                    found.append(x)
        return found


def broadcasts_to(shape: Shape, target: Shape) -> bool:
    """Whether `shape` broadcasts to `target`."""
    try:
        return broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def fits(shape: Shape, target: Shape) -> bool:
    """Whether a value of shape `shape` can be written to `target`."""
    surplus = max(0, len(shape) - len(target))
    return all(n == 1 for n in shape[:surplus]) and broadcasts_to(shape[surplus:], target)


def selected_shape(shape: Shape, selection: Selection) -> Shape | None:
    """The shape of what `selection` selects; None if it does not fit."""
    try:
        view = View(shape).slice(selection)
    except ValueError:
        return None
    return None if view is None else tuple([int(n) for n in view.shape])
