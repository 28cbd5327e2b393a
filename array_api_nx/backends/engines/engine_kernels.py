"""The elementwise kernels of an engine, and the workarounds that are the same for every engine.

A kernel is the engine's function of the row's name, another one that the engine's module names, or
NumPy's on the host; the methods of workarounds.py wrap it. `Engine` holds what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cache, partial
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from ...config import hints
from ...contract.arguments import Native, Scalar
from ...contract.events import transferred
from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.derived import derived
from ...core.dtypes import DType
from ...primitives import table as p
from ...primitives.table import Primitive, check_kernels, of_family
from ..cpu.ufunc_table import BINARY, UNARY
from . import workarounds

EngineKernel: TypeAlias = Callable[..., Native]
Table: TypeAlias = dict[Primitive, EngineKernel]
Kernels: TypeAlias = dict[Native, Table]
"""By the dtype of the engine."""
Wrapper: TypeAlias = Callable[..., Native]
"""A method of workarounds: the result of an operation, from its row, the kernel that the method
makes up for, and the operands."""

OfDtypes: TypeAlias = "tuple[tuple[Primitive, ...], Collection[DType], EngineKernel]"
"""Operations, the dtypes of operands, and the kernel for these."""

_ROUNDING: Final = (p.CEIL, p.FLOOR, p.ROUND, p.TRUNC)
"""Functions that copy integers, which engines do not take."""


class Engine(NamedTuple):
    """What kernels need of an engine."""

    name: str
    xp: Native
    """Its functions, under the standard's names or NumPy's."""
    kind: Native
    """The class of its arrays."""
    cast: Callable[[Native, Native], Native]
    as_array: Callable[[Scalar, Native], Native]
    """A scalar as a 0-d array with the dtype and on the device of another array."""
    to_numpy: Callable[[Native], NDArray]
    from_numpy: Callable[[NDArray, Native], Native]
    """An ndarray on the device of an array."""
    device: Callable[[Native], str]
    """The name of the device of an array."""
    put: Callable[[Native, Native, Native], Native]
    """An array with other elements where a mask is true."""

    def arrays(self, *operands: Native) -> list[Native]:
        """Operands as arrays. Scalars become 0-d arrays in the dtype of the array operands."""
        kind = self.kind
        like = next(x for x in operands if isinstance(x, kind))
        return [x if isinstance(x, kind) else self.as_array(x, like) for x in operands]

    def of_arrays(self, function: EngineKernel) -> EngineKernel:
        """`function`, which takes no scalars."""
        kind, as_array = self.kind, self.as_array

        def kernel(x1: Native, x2: Native) -> Native:
            if not isinstance(x2, kind):
                return function(x1, as_array(x2, x1))
            if not isinstance(x1, kind):
                return function(as_array(x1, x2), x2)
            return function(x1, x2)

        return kernel

    def power(self, function: EngineKernel) -> EngineKernel:
        """`function`, but ValueError for integers to negative integer powers."""

        def kernel(x1: Native, x2: Native) -> Native:
            first, second = self.arrays(x1, x2)
            if first.dtype.kind == "i":
                negative = self.xp.any(x2 < 0) if isinstance(x2, self.kind) else x2 < 0
                if bool(negative):
                    raise ValueError("integers to negative integer powers are not allowed")
            return function(first, second)

        return kernel

    def in_double(self, function: EngineKernel, x: Native) -> Native:
        """`function` of `x` in float64, and the result in the dtype of `x`."""
        return self.cast(function(self.cast(x, self.xp.float64)), x.dtype)

    def on_host(self, numpys: EngineKernel, *operands: Native) -> Native:
        """The result of NumPy's kernel for arrays, on their device."""
        if hints.watched:
            moved = sum([x.nbytes for x in operands])
            transferred("engine", self.device(operands[0]), "numpy", moved)
        # The engine does not warn of infinities and NaN.
        with np.errstate(all="ignore"):
            computed = np.asarray(numpys(*map(self.to_numpy, operands)))
        return self.from_numpy(computed, operands[0])

    def functions(self, family: str) -> Table:
        """The engine's function of each row's name; where it has none, NumPy's, on the host.

        A row that neither of them has is left out: the engine's own table has to have it.
        """
        found = {}
        for op in of_family(family):
            function = getattr(self.xp, op.name, None)
            if function is None and op in (UNARY if family == "unary" else BINARY):
                function = partial(self.on_host, _numpys(op))
            if function is not None:
                found[op] = function if family == "unary" else self.of_arrays(function)
        return found

    def tables(
        self,
        unary: Table,
        binary: Table,
        own: dict[str, Wrapper],
        dtypes: Iterable[tuple[Native, DType]],
        *of_dtypes: OfDtypes,
    ) -> Callable[[str], tuple[Kernels, Kernels]]:
        """From a kind of device ("cpu", "cuda"), or programs compiled for it ("cpu:compiled"), to
        the unary and the binary kernels that conform there.

        `own` has the engine's own methods of workarounds, `dtypes` its dtypes with ours, and
        `of_dtypes` the kernels that differ by the dtype.
        """
        check_kernels(self.name, "unary", unary)
        check_kernels(self.name, "binary", binary)
        wrappers = {**self._wrappers(), **own}
        special = ((_ROUNDING, d.INTEGRAL, unary[p.POSITIVE]), *of_dtypes)

        def chosen(op: Primitive, dtype: DType, kernel: EngineKernel) -> EngineKernel:
            found = [own for ops, dtypes, own in special if op in ops and dtype in dtypes]
            return found[0] if found else kernel

        @cache
        def kernels(kind: str) -> tuple[Kernels, Kernels]:
            place = f"{self.name}:{kind}"

            def wrapped(table: Table) -> Kernels:
                return {
                    theirs: {
                        op: workarounds.apply(place, op, ours, chosen(op, ours, kernel), wrappers)
                        for op, kernel in table.items()
                        if ours in op.results
                    }
                    for theirs, ours in dtypes
                }

            return derived(lambda: wrapped(unary)), derived(lambda: wrapped(binary))

        return kernels

    def _wrappers(self) -> dict[str, Wrapper]:
        """The methods of workarounds that are the same for every engine."""
        xp = self.xp

        def elements(
            which: Callable[..., Native], op: Primitive, kernel: EngineKernel, *operands: Native
        ) -> Native:
            """NumPy computes the elements that `which` finds."""
            whole = self.arrays(*operands)
            result = kernel(*whole)
            odd = which(result, *whole)
            if not bool(xp.any(odd)):
                return result
            chosen = [xp.broadcast_to(x, tuple(result.shape))[odd] for x in whole]
            return self.put(result, odd, self.on_host(_numpys(op), *chosen))

        def not_finite(result: Native, *operands: Native) -> Native:
            odd = ~xp.isfinite(result)
            for x in operands:
                odd = odd | ~xp.isfinite(x)
            return odd

        def corner(result: Native, *operands: Native) -> Native:
            odd = not_finite(result, *operands)
            for x in operands:
                odd = odd | (xp.real(x) == 0) | (xp.imag(x) == 0)
            return odd

        def signed(op: Primitive, kernel: EngineKernel, x1: Native, x2: Native) -> Native:
            x1, x2 = self.arrays(x1, x2)
            result = kernel(x1, x2)
            return xp.where(result == 0, xp.copysign(result, x2), result)

        return {
            "host": lambda op, kernel, *xs: self.on_host(_numpys(op), *self.arrays(*xs)),
            "signed": signed,
            "special": partial(elements, not_finite),
            "zero": partial(elements, lambda result, x: x == 0),
            "corner": partial(elements, corner),
            "nan": lambda op, kernel, x: xp.where(xp.isnan(x), x, kernel(x)),
            "float64": lambda op, kernel, x: self.in_double(kernel, x),
            "arrays": lambda op, kernel, *xs: kernel(*self.arrays(*xs)),
        }


def _numpys(op: Primitive) -> EngineKernel:
    """NumPy's kernel, corrected where it is not the standard's."""
    return UNARY[op] if op in UNARY else BINARY[op]
