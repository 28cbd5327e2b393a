"""PyTorch's functions per primitive, and its own workarounds.

Every kernel takes tensors or Python scalars, at least one of them a tensor, of one dtype.
"""

from __future__ import annotations

import math
import operator
from typing import Final

import numpy as np
import torch

from ...contract.arguments import Native
from ...contract.numpy_dtypes import NDArray
from ...core import dtypes as d
from ...core.derived import derived
from ...core.dtypes import DType
from ...primitives import table as p
from ...primitives.table import Primitive
from .engine_kernels import Engine, EngineKernel, Table, Wrapper

TO_TORCH: Final[dict[DType, Native]] = derived(
    lambda: {dtype: getattr(torch, dtype.name) for dtype in d.ALL}
)
FROM_TORCH: Final = derived(lambda: {theirs: ours for ours, theirs in TO_TORCH.items()})

BITS: Final = {
    torch.uint16: torch.int16,
    torch.uint32: torch.int32,
    torch.uint64: torch.int64,
}
"""The signed integers of the same size, for the unsigned ones that have few kernels."""


def to_bits(x: Native) -> Native:
    """`x` with its bits as a signed integer, where PyTorch has few kernels for its own dtype."""
    signed = BITS.get(x.dtype)
    return x if signed is None else x.view(signed)


def from_bits(x: Native, dtype: Native) -> Native:
    """The inverse of `to_bits` for a result."""
    return x.view(dtype) if dtype in BITS else x


def ordered(x: Native) -> Native:
    """Integers that are ordered as `x` is, in a dtype that has kernels; its own inverse in bits."""
    signed = BITS.get(x.dtype)
    if signed is None:
        return x
    return x.view(signed) ^ torch.iinfo(signed).min


def float_order(x: Native) -> Native:
    """Integers that are ordered as the floats `x` are, zeros of either sign equal, NaN last."""
    plain = torch.where(torch.isnan(x), torch.nan, x) + 0.0
    bits = plain.view(getattr(torch, f"int{8 * x.itemsize}"))
    return torch.where(bits < 0, bits ^ torch.iinfo(bits.dtype).max, bits)


def to_numpy(x: Native) -> NDArray:
    """The elements of `x`, in the same memory if the host can reach it."""
    x = x.detach().cpu()
    ours = FROM_TORCH.get(x.dtype)
    if ours not in d.ADDED:
        return np.asarray(x)
    # PyTorch shares no memory of dtypes with NumPy that NumPy has not by itself.
    return x.view(getattr(torch, f"int{8 * x.itemsize}")).numpy().view(ours)


def from_numpy(array: NDArray) -> Native:
    """The inverse of `to_numpy`."""
    if array.dtype not in d.ADDED:
        return torch.from_numpy(_writable(array))
    bits = _writable(array.view(f"i{array.itemsize}"))
    return torch.from_numpy(bits).view(TO_TORCH[array.dtype])


def _writable(array: NDArray) -> NDArray:
    """`array` as memory that may be written; that it must not be, the adapter remembers."""
    if array.flags.writeable:
        return array
    return np.asarray(_Shared(array))


class _Shared:
    """Shows an ndarray's memory without its flags."""

    def __init__(self, array: NDArray) -> None:
        self._array = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def integer_product(x1: Native, x2: Native) -> Native:
    """The matrix product of integers, which accelerators have no kernel for."""
    left = x1[None] if x1.ndim == 1 else x1
    right = x2[:, None] if x2.ndim == 1 else x2
    terms = left[..., :, :, None] * right[..., None, :, :]
    result = torch.sum(terms, -2, dtype=x1.dtype)
    if x2.ndim == 1:
        result = result[..., 0]
    if x1.ndim == 1:
        result = result[0] if x2.ndim == 1 else result[..., 0, :]
    return result


ENGINE: Final = Engine(
    name="torch",
    xp=torch,
    kind=torch.Tensor,
    cast=lambda x, dtype: x.to(dtype),
    as_array=lambda x, like: torch.scalar_tensor(x, dtype=like.dtype, device=like.device),
    to_numpy=to_numpy,
    from_numpy=lambda array, like: from_numpy(array).to(like.device),
    device=lambda x: f"torch:{x.device}",
    put=torch.Tensor.masked_scatter,
)
tensors: Final = ENGINE.arrays


# ---------------------------------------------------------------------- the engine's functions


_UNARY: Final[Table] = {
    **ENGINE.functions("unary"),
    p.BITWISE_INVERT: torch.bitwise_not,
    p.CONJ: torch.conj_physical,
    p.IMAG: lambda x: torch.imag(x).clone(),
    p.NEGATIVE: torch.neg,
    p.POSITIVE: torch.clone,
    p.REAL: lambda x: torch.real(x).clone(),
    p.SIGN: torch.sgn,
}


def _pow(x1: Native, x2: Native) -> Native:
    if not isinstance(x1, torch.Tensor):
        x1, x2 = tensors(x1, x2)
    if not (x1.is_floating_point() or x1.is_complex()):
        negative = x2 < 0 if not isinstance(x2, torch.Tensor) else bool((to_bits(x2) < 0).any())
        if negative and x1.dtype not in BITS and x1.dtype is not torch.uint8:
            raise ValueError("integers to negative integer powers are not allowed")
    return torch.pow(x1, x2)


def _subtract(x1: Native, x2: Native) -> Native:
    # PyTorch takes a bool for the mistake of subtracting masks.
    if type(x1) is bool:
        x1 = int(x1)
    elif type(x2) is bool:
        x2 = int(x2)
    return x1 - x2


_OPERATORS: Final = (
    p.ADD, p.BITWISE_AND, p.BITWISE_OR, p.BITWISE_XOR, p.DIVIDE, p.EQUAL, p.GREATER,
    p.GREATER_EQUAL, p.LESS, p.LESS_EQUAL, p.MULTIPLY, p.NOT_EQUAL,
)  # fmt: skip
"""Operators reach the same kernels by a shorter way than the functions, and take scalars."""

_BINARY: Final[Table] = {
    **ENGINE.functions("binary"),
    **{op: getattr(operator, f"__{op.operator}__") for op in _OPERATORS},
    p.POW: _pow,
    p.SUBTRACT: _subtract,
}

# ---------------------------------------------------------------------- workarounds


def _by_bits(op: Primitive, kernel: EngineKernel, *operands: Native) -> Native:
    whole = tensors(*operands)
    return from_bits(kernel(*map(to_bits, whole)), _result(op, whole[0]))


def _by_order(op: Primitive, kernel: EngineKernel, *operands: Native) -> Native:
    whole = tensors(*operands)
    result = kernel(*map(ordered, whole))
    if result.dtype is torch.bool:
        return result
    return ordered(result.view(whole[0].dtype)).view(whole[0].dtype)


def _by_int64(op: Primitive, kernel: EngineKernel, *operands: Native) -> Native:
    whole = tensors(*operands)
    return kernel(*[x.to(torch.int64) for x in whole]).to(whole[0].dtype)


def _by_parts(op: Primitive, kernel: EngineKernel, *operands: Native) -> Native:
    return torch.view_as_complex(kernel(*map(torch.view_as_real, tensors(*operands))))


def _by_opposite(op: Primitive, kernel: EngineKernel, x: Native) -> Native:
    result = kernel(x)
    return torch.complex(result.real, torch.copysign(result.imag, x.imag) * -1)


def _by_root(op: Primitive, kernel: EngineKernel, x1: Native, x2: Native) -> Native:
    result = kernel(x1, x2)
    several = isinstance(x2, torch.Tensor) and x2.ndim > 0
    if several or not isinstance(x1, torch.Tensor) or not bool(abs(x2) == 0.5):
        return result
    return torch.where(torch.isinf(x1) | (x1 == 0), kernel(torch.abs(x1), x2), result)


def _by_guard(op: Primitive, kernel: EngineKernel, x1: Native, x2: Native) -> Native:
    if not isinstance(x2, torch.Tensor) and x2 not in (0, -1):
        return kernel(x1, x2)
    x1, x2 = tensors(x1, x2)
    zero = x2 == 0
    minus_one = x2 == -1 if x2.dtype.is_signed else torch.zeros_like(zero)
    result = kernel(x1, torch.where(zero | minus_one, 1, x2))
    if op is not p.FLOOR_DIVIDE:
        return result
    result = torch.where(minus_one, -result, result)
    return torch.where(zero, 0, result)


def _compiled_acosh(x: Native) -> Native:
    rest = x - 1
    near = torch.log1p(rest + torch.sqrt(rest) * torch.sqrt(rest + 2))
    return torch.where(x > 1e8, torch.log(x) + math.log(2), near)


def _compiled_expm1(x: Native) -> Native:
    half = torch.clamp(x, min=-80) / 2  # below, it is -1
    return 2 * torch.exp(half) * torch.sinh(half)


_FORMULAS: Final[Table] = {
    p.ACOSH: _compiled_acosh,
    p.ATANH: lambda x: (torch.log1p(x) - torch.log1p(-x)) / 2,
    p.EXPM1: _compiled_expm1,
    p.NEGATIVE: lambda x: x * -1,
    p.SIGNBIT: lambda x: x.view(torch.int64) < 0,
}


def _result(op: Primitive, x: Native) -> Native:
    return TO_TORCH[op.results[FROM_TORCH[x.dtype]]]


_WRAPPERS: Final[dict[str, Wrapper]] = {
    "bits": _by_bits,
    "order": _by_order,
    "int64": _by_int64,
    "parts": _by_parts,
    "opposite": _by_opposite,
    "formula": lambda op, kernel, x: _FORMULAS[op](x),
    "root": _by_root,
    "guarded": _by_guard,
}
kernels: Final = ENGINE.tables(
    _UNARY,
    _BINARY,
    _WRAPPERS,
    FROM_TORCH.items(),
    ((p.REAL, p.CONJ), d.REAL, torch.clone),
    ((p.ABS,), d.UNSIGNED, torch.clone),
    ((p.IMAG,), d.REAL, torch.zeros_like),
    ((p.SIGN,), tuple([FROM_TORCH[dtype] for dtype in BITS]), lambda x: (x != 0).to(x.dtype)),
    # Complex division and multiplication have the standard's special values.
    ((p.RECIPROCAL,), d.COMPLEX, lambda x: 1 / x),
    ((p.SQUARE,), d.COMPLEX, lambda x: x * x),
)
