"""The methods of workarounds.py that are the same for every engine.

They need the standard's functions, and three things that each engine does in its own way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from ...contract.backend import Native
from ...primitives.table import Primitive, of_family
from ..cpu.kernels import BINARY, UNARY

__all__ = ["EngineKernel", "Kernels", "Wrapper", "common_wrappers", "of_engine"]

EngineKernel: TypeAlias = Callable[..., Native]
Kernels: TypeAlias = dict[Native, dict[Primitive, EngineKernel]]
"""By the dtype of the engine."""
Wrapper: TypeAlias = Callable[[Primitive, EngineKernel], EngineKernel]


def of_engine(
    engine: Native, family: str, on_host: Callable[..., Native]
) -> dict[Primitive, EngineKernel]:
    """The engine's function of each row's name; where it has none, NumPy's, on the host.

    A row that neither of them has is left out: the engine's own table has to have it.
    """
    host = {"unary": UNARY, "binary": BINARY}[family]
    return {
        op: getattr(engine, op.name, None) or partial(on_host, host[op])
        for op in of_family(family)
        if hasattr(engine, op.name) or op in host
    }


def host_kernel(op: Primitive) -> EngineKernel:
    """NumPy's kernel, corrected where it is not the standard's."""
    return UNARY[op] if op in UNARY else BINARY[op]


def common_wrappers(
    xp: Native,
    arrays: Callable[..., list[Native]],
    on_host: Callable[..., Native],
    put: Callable[[Native, Native, Native], Native],
) -> dict[str, Wrapper]:
    """The methods "host", "special", "zero", "corner" and "nan".

    Parameters
    ----------
    xp : module
        Has the standard's functions.
    arrays : callable
        Operands with 0-d arrays for Python scalars.
    on_host : callable
        From a kernel of NumPy and operands to the result, on the device of the operands.
    put : callable
        From an array, a mask and the elements of the mask to an array that has them.
    """

    def host(op: Primitive, kernel: EngineKernel) -> EngineKernel:
        numpys = host_kernel(op)

        def wrapped(*operands: Native) -> Native:
            return on_host(numpys, *arrays(*operands))

        return wrapped

    def elements(which: Callable[..., Native]) -> Wrapper:
        """NumPy computes the elements that `which` finds."""

        def wrapper(op: Primitive, kernel: EngineKernel) -> EngineKernel:
            numpys = host_kernel(op)

            def wrapped(*operands: Native) -> Native:
                whole = arrays(*operands)
                result = kernel(*whole)
                odd = which(result, *whole)
                if not bool(xp.any(odd)):
                    return result
                chosen = [xp.broadcast_to(x, tuple(result.shape))[odd] for x in whole]
                return put(result, odd, on_host(numpys, *chosen))

            return wrapped

        return wrapper

    def not_finite(result: Native, *operands: Native) -> Native:
        odd = ~xp.isfinite(result)
        for x in operands:
            odd = odd | ~xp.isfinite(x)
        return odd

    def zero(result: Native, x: Native) -> Native:
        return x == 0

    def corner(result: Native, *operands: Native) -> Native:
        odd = not_finite(result, *operands)
        for x in operands:
            odd = odd | (xp.real(x) == 0) | (xp.imag(x) == 0)
        return odd

    def nan(op: Primitive, kernel: EngineKernel) -> EngineKernel:
        def wrapped(x: Native) -> Native:
            return xp.where(xp.isnan(x), x, kernel(x))

        return wrapped

    return {
        "host": host,
        "special": elements(not_finite),
        "zero": elements(zero),
        "corner": elements(corner),
        "nan": nan,
    }
