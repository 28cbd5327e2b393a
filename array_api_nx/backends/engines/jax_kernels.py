"""JAX's functions per primitive, and its own workarounds.

Every kernel takes JAX arrays or Python scalars, at least one of them an array, of one dtype.
"""

from __future__ import annotations

import math
import operator
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np

from ...contract.arguments import Native
from ...core.dtypes import CANONICAL
from ...primitives import table as p
from ...primitives.table import Primitive
from .engine_kernels import Engine, EngineKernel, Table


def _device(x: Native) -> str:
    place = x.device
    return "jax:cpu" if place.platform == "cpu" else f"jax:cuda:{place.id}"


ENGINE: Final = Engine(
    name="jax",
    xp=jnp,
    kind=jax.Array,
    cast=lambda x, dtype: x.astype(dtype),
    as_array=lambda x, like: jnp.asarray(x, like.dtype),
    to_numpy=np.asarray,
    from_numpy=lambda array, like: jax.device_put(array, like.device),
    device=_device,
    put=lambda x, mask, values: x.at[mask].set(values),
)
arrays: Final = ENGINE.arrays

_UNARY: Final[Table] = {
    **ENGINE.functions("unary"),
    p.POSITIVE: jnp.copy,
}

_BINARY: Final[Table] = {
    **ENGINE.functions("binary"),
    **{
        op: getattr(operator, f"__{op.operator}__")
        for op in (p.ADD, p.BITWISE_AND, p.BITWISE_OR, p.BITWISE_XOR, p.MULTIPLY)
    },
    p.DIVIDE: ENGINE.of_arrays(jnp.true_divide),
    p.POW: ENGINE.power(jnp.power),
}

# ---------------------------------------------------------------------- workarounds


def _by_expanding(op: Primitive, kernel: EngineKernel, x1: Native, x2: Native) -> Native:
    return kernel(*jnp.broadcast_arrays(*arrays(x1, x2)))


def _by_unsigned(op: Primitive, kernel: EngineKernel, x: Native) -> Native:
    return jnp.where(x == 0, jnp.zeros_like(x), kernel(x))


def _without_zeros(op: Primitive, kernel: EngineKernel, x1: Native, x2: Native) -> Native:
    if not isinstance(x2, jax.Array) and x2 != 0:
        return kernel(x1, x2)
    x1, x2 = arrays(x1, x2)
    zero = x2 == 0
    result = kernel(x1, jnp.where(zero, jnp.ones_like(x2), x2))
    return jnp.where(zero, jnp.zeros_like(result), result)


def _by_sign_of_zero(op: Primitive, kernel: EngineKernel, x1: Native, x2: Native) -> Native:
    added = 1 if op is p.ADD else -1

    def parts(result: Native, zero: complex) -> Native:
        if math.copysign(1, zero.real) != added:
            return result
        return jnp.where(result == 0, jnp.zeros_like(result), result)

    result = kernel(x1, x2)
    zero = x1 if op is p.ADD and isinstance(x2, jax.Array) else x2
    if isinstance(zero, jax.Array) or zero != 0:
        return result
    if result.dtype.kind != "c":
        return parts(result, zero)
    return jax.lax.complex(parts(result.real, zero.real), parts(result.imag, zero.imag))


kernels: Final = ENGINE.tables(
    _UNARY,
    _BINARY,
    {
        "expanded": _by_expanding,
        "added zero": _by_sign_of_zero,
        "unsigned": _by_unsigned,
        "zeroless": _without_zeros,
    },
    CANONICAL.items(),
)
