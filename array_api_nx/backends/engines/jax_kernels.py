"""JAX's functions per primitive, and what makes up for what they do not do.

Every kernel takes JAX arrays or Python scalars, at least one of them an array, of one dtype.
"""

from __future__ import annotations

import math
import operator
from functools import cache
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np

from ...config import hints
from ...contract.backend import Native
from ...contract.events import transferred
from ...core.dtypes import ALL
from ...primitives import table as p
from ...primitives.table import Primitive
from . import workarounds
from .common_workarounds import EngineKernel, Kernels, Wrapper, common_wrappers, of_engine

__all__ = ["arrays", "binary_kernels", "unary_kernels"]


def _rounding(function: EngineKernel) -> EngineKernel:
    def kernel(x: Native) -> Native:
        return function(x) if x.dtype.kind in "fc" else jnp.copy(x)

    return kernel


def _of_arrays(function: EngineKernel) -> EngineKernel:
    """`function` of arrays alone, in the dtype of the one that is given."""

    def kernel(x1: Native, x2: Native) -> Native:
        return function(*arrays(x1, x2))

    return kernel


def arrays(*operands: Native) -> list[Native]:
    """Operands as arrays: scalars become 0-d arrays of the dtype of the others."""
    dtype = next(x.dtype for x in operands if isinstance(x, jax.Array))
    return [x if isinstance(x, jax.Array) else jnp.asarray(x, dtype) for x in operands]


def _on_host(numpys: EngineKernel, *operands: Native) -> Native:
    if hints.watched:
        place = operands[0].device
        device = "jax:cpu" if place.platform == "cpu" else f"jax:cuda:{place.id}"
        transferred("engine", device, "numpy", sum([x.nbytes for x in operands]))
    with np.errstate(all="ignore"):
        computed = np.asarray(numpys(*[np.asarray(x) for x in operands]))
    return jax.device_put(computed, operands[0].device)


UNARY: Final[dict[Primitive, EngineKernel]] = {
    **of_engine(jnp, "unary", _on_host),
    **{op: _rounding(getattr(jnp, op.name)) for op in (p.CEIL, p.FLOOR, p.ROUND, p.TRUNC)},
    p.ERF: jax.lax.erf,
    p.POSITIVE: jnp.copy,
}


def _pow(x1: Native, x2: Native) -> Native:
    first, second = arrays(x1, x2)
    if first.dtype.kind == "i" and bool(
        jnp.any(second < 0) if isinstance(x2, jax.Array) else x2 < 0
    ):
        raise ValueError("integers to negative integer powers are not allowed")
    return jnp.power(first, second)


def _trunc_divide(x1: Native, x2: Native) -> Native:
    return jax.lax.div(*jnp.broadcast_arrays(x1, x2))


BINARY: Final[dict[Primitive, EngineKernel]] = {
    op: _of_arrays(function) for op, function in of_engine(jnp, "binary", _on_host).items()
} | {
    **{
        op: getattr(operator, f"__{op.operator}__")
        for op in (p.ADD, p.BITWISE_AND, p.BITWISE_OR, p.BITWISE_XOR, p.MULTIPLY)
    },
    p.DIVIDE: _of_arrays(jnp.true_divide),
    p.POW: _pow,
    p.TRUNC_DIVIDE: _of_arrays(_trunc_divide),
}

# ---------------------------------------------------------------------- workarounds


def _put(result: Native, mask: Native, values: Native) -> Native:
    return result.at[mask].set(values)


def _by_expanding(op: Primitive, kernel: EngineKernel) -> EngineKernel:
    def wrapped(x1: Native, x2: Native) -> Native:
        return kernel(*jnp.broadcast_arrays(*arrays(x1, x2)))

    return wrapped


def _by_unsigned(op: Primitive, kernel: EngineKernel) -> EngineKernel:
    def wrapped(x: Native) -> Native:
        return jnp.where(x == 0, jnp.zeros_like(x), kernel(x))

    return wrapped


def _without_zeros(op: Primitive, kernel: EngineKernel) -> EngineKernel:
    def wrapped(x1: Native, x2: Native) -> Native:
        if not isinstance(x2, jax.Array) and x2 != 0:
            return kernel(x1, x2)
        x1, x2 = arrays(x1, x2)
        zero = x2 == 0
        result = kernel(x1, jnp.where(zero, jnp.ones_like(x2), x2))
        return jnp.where(zero, jnp.zeros_like(result), result)

    return wrapped


def _by_float64(op: Primitive, kernel: EngineKernel) -> EngineKernel:
    def wrapped(x: Native) -> Native:
        return kernel(x.astype(np.float64)).astype(x.dtype)

    return wrapped


def _by_sign_of_zero(op: Primitive, kernel: EngineKernel) -> EngineKernel:
    added = 1 if op is p.ADD else -1

    def parts(result: Native, zero: complex) -> Native:
        if math.copysign(1, zero.real) != added:
            return result
        return jnp.where(result == 0, jnp.zeros_like(result), result)

    def wrapped(x1: Native, x2: Native) -> Native:
        result = kernel(x1, x2)
        zero = x1 if op is p.ADD and isinstance(x2, jax.Array) else x2
        if isinstance(zero, jax.Array) or zero != 0:
            return result
        if result.dtype.kind != "c":
            return parts(result, zero)
        return jax.lax.complex(parts(result.real, zero.real), parts(result.imag, zero.imag))

    return wrapped


def _by_arrays(op: Primitive, kernel: EngineKernel) -> EngineKernel:
    return _of_arrays(kernel)


_WRAPPERS: Final[dict[str, Wrapper]] = {
    **common_wrappers(jnp, arrays, _on_host, _put),
    "expanded": _by_expanding,
    "float64": _by_float64,
    "added zero": _by_sign_of_zero,
    "arrays": _by_arrays,
    "unsigned": _by_unsigned,
    "zeroless": _without_zeros,
}


def _kernels(table: dict[Primitive, EngineKernel], kind: str) -> Kernels:
    return {
        dtype: {
            op: workarounds.apply(f"jax:{kind}", op, dtype, kernel, _WRAPPERS)
            for op, kernel in table.items()
            if dtype in op.results
        }
        for dtype in ALL
    }


p.check_kernels("jax", "unary", UNARY)
p.check_kernels("jax", "binary", BINARY)


@cache
def unary_kernels(kind: str) -> Kernels:
    """By dtype and primitive, the kernels that conform on a kind of device ("cpu", "cuda"), or
    compiled for it ("cpu:compiled")."""
    return _kernels(UNARY, kind)


@cache
def binary_kernels(kind: str) -> Kernels:
    """As `unary_kernels`."""
    return _kernels(BINARY, kind)
