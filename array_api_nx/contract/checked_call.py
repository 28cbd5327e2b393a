"""One call of a method of the contract, and the assertions about it that methods share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Final, NoReturn

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import DType
from ..core.view import View
from ..primitives.rules import ROWS, ArrayType
from ..primitives.table import Primitive
from .arguments import Handle
from .backend import Backend
from .derived import NOT_HANDLES, Method
from .numpy_dtypes import NDArray
from .program import Argument
from .strided import StridedBackend, Tensor

__all__ = ["Call", "ContractError", "HeldType", "Shape"]

Shape = tuple[int, ...]

_SHAPES: Final = frozenset({"shape", "output_size", "kth"})
"""The parameters that are shapes, or like one."""


class ContractError(AssertionError):
    """The frontend or a backend broke the backend contract."""


class HeldType(ArrayType):
    """Shape and dtype of an operand whose elements can be had."""

    __slots__ = ("backend", "handle")

    def __init__(self, backend: Backend, handle: Handle) -> None:
        super().__init__(backend.shape(handle), backend.dtype(handle))
        self.backend = backend
        self.handle = handle

    def elements(self) -> NDArray:
        return self.backend.to_host(self.handle)

    def decided_size(self, words: str, most: object, count: Callable[[NDArray], int]) -> int:
        return count(self.elements())


class Call:
    """One call of a method of the contract, and the assertions about it.

    Attributes
    ----------
    backend : Backend
    method : Method
    arguments : dict of str to object
        The value of each parameter.
    values : list
        The same with `HeldType` for handles, once `check` has found that they are handles.
    """

    def __init__(self, backend: Backend, method: Method, given: Sequence[Argument]) -> None:
        self.backend = backend
        self.method = method
        self.arguments = dict(zip(method.names, given, strict=True))
        self.values = list(given)

    @property
    def row(self) -> Primitive:
        """The row of the primitive."""
        op = self.arguments.get("op")
        return op if isinstance(op, Primitive) else ROWS[self.method.name]

    def guarantees(self, condition: bool, words: str) -> None:
        """Raise ContractError unless the frontend's `condition` holds."""
        if not condition:
            self._fail("the frontend must guarantee", words)

    def owes(self, condition: bool, words: str) -> None:
        """Raise ContractError unless the backend's `condition` holds."""
        if not condition:
            self._fail("the backend must", words)

    def _fail(self, who: str, words: str) -> NoReturn:
        op = self.arguments.get("op")
        name = self.method.name if op is None else op.name
        given = [f"{key}={self._text(x)}" for key, x in self.arguments.items() if x is not op]
        raise ContractError(f"{name}: {who}: {words}; called with {', '.join(given)}")

    def _text(self, x: object) -> str:
        if isinstance(x, list | tuple) and any(map(self.is_handle, x)):
            return f"[{', '.join(map(self._text, x))}]"
        if not self.is_handle(x):
            return repr(x)
        return f"<{self.backend.dtype(x)} handle of shape {self.backend.shape(x)}>"

    def is_handle(self, x: object) -> bool:
        """Whether `x` is a handle of the backend, as far as that can be told."""
        if isinstance(self.backend, StridedBackend):
            return type(x) is Tensor
        return not isinstance(
            x, bool | int | float | complex | tuple | np.ndarray | np.dtype | None
        )

    def flat_arguments(self) -> Iterator[Argument]:
        """The arguments, and those within tuples and lists."""
        for x in self.arguments.values():
            yield from x if isinstance(x, list | tuple) else [x]

    # ------------------------------------------------------------------ what all methods share

    def check(self) -> None:
        """Check what the annotations and names of parameters say, for all methods alike."""
        method, name = self.method, self.method.name
        op = self.arguments.get("op")
        if isinstance(op, Primitive):
            self.guarantees(op.family == name, f"a primitive of family {name}")
        for i in method.operands:
            others = NOT_HANDLES[method.annotations[i]]
            given = self.values[i]
            if isinstance(given, list | tuple):
                self.values[i] = tuple([self._held(x, others) for x in given])
            else:
                self.values[i] = self._held(given, others)
        for each, annotation, value in zip(
            method.names, method.annotations, self.values, strict=True
        ):
            if annotation == "bool":
                self.flags(value)
            elif annotation == "tuple[bool, ...]":
                self.flags(*value)
            elif each == "axis":
                self._check_axes((value,))
            elif each == "axes":
                self._check_axes(value)
            elif each in _SHAPES:
                self.is_shape(value)
        if name in ROWS or isinstance(op, Primitive):
            self._check_dtype(self.row)

    def _held(self, x: Argument, others: tuple[type, ...]) -> Argument:
        if type(x) in others:
            return x
        self.guarantees(self.is_handle(x), "a handle of this backend")
        return HeldType(self.backend, x)

    def _first(self) -> HeldType | None:
        """The first operand that is an array."""
        for x in self.values:
            for each in x if isinstance(x, tuple) else [x]:
                if isinstance(each, HeldType):
                    return each
        return None

    def _check_axes(self, axes: Argument) -> None:
        x = self._first()
        if x is not None:
            ndim = len(x.shape)
            self.guarantees(
                type(axes) is tuple and all([type(i) is int and 0 <= i < ndim for i in axes]),
                "axes are ints in range, counted from the front",
            )
            self.guarantees(len(set(axes)) == len(axes), "axes are distinct")

    def _check_dtype(self, op: Primitive) -> None:
        x = self._first()
        dtype: DType | None = self.arguments.get("dtype")
        if dtype is None and x is not None:
            dtype = x.dtype
        if dtype is not None and self.method.name != "bitcast":
            self.guarantees(dtype in op.results, f"a dtype that {op.name} takes, not {dtype}")

    # ------------------------------------------------------------------ what many methods share

    def flags(self, *values: object) -> None:
        self.guarantees(all([type(value) is bool for value in values]), "flags are bools")

    def is_shape(self, shape: object) -> None:
        self.guarantees(
            type(shape) is tuple and all([type(n) is int and n >= 0 for n in shape]),
            "a shape is a tuple of non-negative ints",
        )

    def same_dtype(self, *xs: HeldType) -> None:
        self.guarantees(len({x.dtype for x in xs}) == 1, "handles of one dtype")

    def scalar(self, value: object, dtype: DType) -> None:
        self.guarantees(d.holds(dtype, value), f"a Python scalar that {dtype} represents")

    def operands(self, *xs: Argument) -> None:
        """Check arrays of one dtype mixed with scalars that it represents."""
        arrays = [x for x in xs if isinstance(x, HeldType)]
        self.guarantees(len(arrays) > 0, "at least one operand is a handle")
        self.same_dtype(*arrays)
        for x in xs:
            if not isinstance(x, HeldType):
                self.scalar(x, arrays[0].dtype)

    def writable(self, x: HeldType) -> None:
        reason = self.backend.read_only_reason(x.handle)
        self.guarantees(reason is None, "the target may be written")

    def inside(self, view: View, x: HeldType) -> None:
        self.guarantees(view.is_materializable, "an unmasked view of concrete sizes")
        low, high = view.extent
        self.guarantees(low >= 0 and high <= prod(x.shape), "a view inside the block")

    def matrix(self, *xs: HeldType) -> None:
        for x in xs:
            self.guarantees(len(x.shape) >= 2, "at least two axes")

    def square(self, x: HeldType) -> None:
        self.matrix(x)
        self.guarantees(x.shape[-1] == x.shape[-2], "a square matrix")
