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
from .common_workarounds import EngineKernel, Kernels, Wrapper, common_wrappers

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


UNARY: Final[dict[Primitive, EngineKernel]] = {
    p.ABS: jnp.abs,
    p.ACOS: jnp.acos,
    p.ACOSH: jnp.acosh,
    p.ASIN: jnp.asin,
    p.ASINH: jnp.asinh,
    p.ATAN: jnp.atan,
    p.ATANH: jnp.atanh,
    p.BITWISE_INVERT: jnp.bitwise_invert,
    p.CEIL: _rounding(jnp.ceil),
    p.CONJ: jnp.conj,
    p.COS: jnp.cos,
    p.COSH: jnp.cosh,
    p.ERF: jax.lax.erf,
    p.EXP: jnp.exp,
    p.EXPM1: jnp.expm1,
    p.FLOOR: _rounding(jnp.floor),
    p.IMAG: jnp.imag,
    p.ISFINITE: jnp.isfinite,
    p.ISINF: jnp.isinf,
    p.ISNAN: jnp.isnan,
    p.LOG: jnp.log,
    p.LOG10: jnp.log10,
    p.LOG1P: jnp.log1p,
    p.LOG2: jnp.log2,
    p.LOGICAL_NOT: jnp.logical_not,
    p.NEGATIVE: jnp.negative,
    p.POSITIVE: jnp.copy,
    p.REAL: jnp.real,
    p.RECIPROCAL: jnp.reciprocal,
    p.ROUND: _rounding(jnp.round),
    p.SIGN: jnp.sign,
    p.SIGNBIT: jnp.signbit,
    p.SIN: jnp.sin,
    p.SINH: jnp.sinh,
    p.SQRT: jnp.sqrt,
    p.SQUARE: jnp.square,
    p.TAN: jnp.tan,
    p.TANH: jnp.tanh,
    p.TRUNC: _rounding(jnp.trunc),
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
    p.ADD: operator.add,
    p.ATAN2: _of_arrays(jnp.atan2),
    p.BITWISE_AND: operator.and_,
    p.BITWISE_LEFT_SHIFT: _of_arrays(jnp.bitwise_left_shift),
    p.BITWISE_OR: operator.or_,
    p.BITWISE_RIGHT_SHIFT: _of_arrays(jnp.bitwise_right_shift),
    p.BITWISE_XOR: operator.xor,
    p.COPYSIGN: _of_arrays(jnp.copysign),
    p.DIVIDE: _of_arrays(jnp.true_divide),
    p.EQUAL: _of_arrays(jnp.equal),
    p.FLOOR_DIVIDE: _of_arrays(jnp.floor_divide),
    p.FMOD: _of_arrays(jnp.fmod),
    p.GREATER: _of_arrays(jnp.greater),
    p.GREATER_EQUAL: _of_arrays(jnp.greater_equal),
    p.HYPOT: _of_arrays(jnp.hypot),
    p.LESS: _of_arrays(jnp.less),
    p.LESS_EQUAL: _of_arrays(jnp.less_equal),
    p.LOGADDEXP: _of_arrays(jnp.logaddexp),
    p.LOGICAL_AND: _of_arrays(jnp.logical_and),
    p.LOGICAL_OR: _of_arrays(jnp.logical_or),
    p.LOGICAL_XOR: _of_arrays(jnp.logical_xor),
    p.MAXIMUM: _of_arrays(jnp.maximum),
    p.MINIMUM: _of_arrays(jnp.minimum),
    p.MULTIPLY: operator.mul,
    p.NEXTAFTER: _of_arrays(jnp.nextafter),
    p.NOT_EQUAL: _of_arrays(jnp.not_equal),
    p.POW: _pow,
    p.REMAINDER: _of_arrays(jnp.remainder),
    p.SUBTRACT: _of_arrays(jnp.subtract),
    p.TRUNC_DIVIDE: _of_arrays(_trunc_divide),
}

# ---------------------------------------------------------------------- workarounds


def _on_host(numpys: EngineKernel, *operands: Native) -> Native:
    if hints.watched:
        place = operands[0].device
        device = "jax:cpu" if place.platform == "cpu" else f"jax:cuda:{place.id}"
        transferred("engine", device, "numpy", sum([x.nbytes for x in operands]))
    with np.errstate(all="ignore"):
        computed = np.asarray(numpys(*[np.asarray(x) for x in operands]))
    return jax.device_put(computed, operands[0].device)


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
