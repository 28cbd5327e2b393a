"""One call of a method of the contract, and the assertions about it that methods share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NoReturn

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import DType
from ..primitives.rules import ROWS, ArrayType, first_array, row_of
from ..primitives.table import Primitive
from .arguments import Handle
from .backend import Backend
from .derived import NOT_HANDLES, Method
from .numpy_dtypes import NDArray
from .program import Argument
from .strided import StridedBackend, Tensor

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

    @property
    def is_writable(self) -> bool:
        return self.backend.read_only_reason(self.handle) is None

    def elements(self) -> NDArray:
        return self.backend.to_host(self.handle)

    def decided_size(self, words: str, most: object, count: Callable[[NDArray], int]) -> int:
        return count(self.elements())


class CheckedCall:
    """One call of a method of the contract, and the assertions about it.

    `arguments`: the value of each parameter.
    `named`: the same with `HeldType` for handles, once `check` has found that they are handles.
    """

    def __init__(self, backend: Backend, method: Method, given: Sequence[Argument]) -> None:
        self.backend = backend
        self.method = method
        self.arguments = dict(zip(method.names, given, strict=True))
        self.named = dict(self.arguments)

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
        """Check the annotations and names of parameters, for all methods alike."""
        method, name = self.method, self.method.name
        op = self.arguments.get("op")
        if isinstance(op, Primitive):
            self.guarantees(op.family == name, f"a primitive of family {name}")
        for i in method.operands:
            key, others = method.names[i], NOT_HANDLES[method.annotations[i]]
            given = self.arguments[key]
            if isinstance(given, list | tuple):
                self.named[key] = tuple([self._held(x, others) for x in given])
            else:
                self.named[key] = self._held(given, others)
        for key, annotation in zip(method.names, method.annotations, strict=True):
            value = self.named[key]
            if annotation in ("bool", "tuple[bool, ...]"):
                flags = value if isinstance(value, tuple) else (value,)
                self.guarantees(all([type(flag) is bool for flag in flags]), "flags are bools")
            elif key in ("axis", "axes"):
                self._check_axes((value,) if key == "axis" else value)
            elif key in _SHAPES:
                self.guarantees(
                    type(value) is tuple and all([type(n) is int and n >= 0 for n in value]),
                    "a shape is a tuple of non-negative ints",
                )
        if name in ROWS or isinstance(op, Primitive):
            self._check_dtype()

    def _held(self, x: Argument, others: tuple[type, ...]) -> Argument:
        if type(x) in others:
            return x
        self.guarantees(self.is_handle(x), "a handle of this backend")
        return HeldType(self.backend, x)

    def _check_axes(self, axes: Argument) -> None:
        x = first_array(self.named)
        if x is not None:
            ndim = len(x.shape)
            self.guarantees(
                type(axes) is tuple and all([type(i) is int and 0 <= i < ndim for i in axes]),
                "axes are ints in range, counted from the front",
            )
            self.guarantees(len(set(axes)) == len(axes), "axes are distinct")

    @property
    def dtype(self) -> DType | None:
        """The argument `dtype`, or the dtype of the first operand that is an array."""
        given: DType | None = self.arguments.get("dtype")
        x = first_array(self.named)
        return x.dtype if given is None and x is not None else given

    def _check_dtype(self) -> None:
        dtype, op = self.dtype, row_of(self.method.name, self.named)
        if dtype is not None and self.method.name != "bitcast":
            self.guarantees(dtype in op.results, f"a dtype that {op.name} takes, not {dtype}")

    def scalar(self, value: object, dtype: DType | None) -> None:
        """Check that `value` is a Python scalar that `dtype` represents."""
        right = dtype is not None and d.holds(dtype, value)
        self.guarantees(right, f"a Python scalar that {dtype} represents")

    def operands(self, *xs: Argument) -> None:
        """Check arrays of one dtype mixed with scalars that it represents; None counts for none."""
        arrays = [x for x in xs if isinstance(x, HeldType)]
        self.guarantees(len(arrays) > 0, "at least one operand is a handle")
        self.guarantees(len({x.dtype for x in arrays}) == 1, "handles of one dtype")
        for x in xs:
            if x is not None and not isinstance(x, HeldType):
                self.scalar(x, arrays[0].dtype)
