"""NumPy's function for each primitive, corrected where NumPy's answer is not the standard's.

A corrected function first lets NumPy compute, then looks for operands for which NumPy's answer is
wrong, and overwrites those elements. Arrays without such operands pay only for the look.
engine/loops.py has the inner loops of the functions that are not corrected.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import copysign, isinf
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from ...contract.numpy_dtypes import NDArray
from ...primitives import table as p
from ...primitives.table import Primitive

ArrayOrScalar: TypeAlias = Any
"""An ndarray, a NumPy scalar or a Python scalar: what NumPy's functions take and return. A union of
these would have to be told apart before every operator."""

# Corrections look for wrong elements with count_nonzero: on booleans it is several times as fast as
# any.
_count: Final = np.count_nonzero

# ---------------------------------------------------------------------- unary


def _of_numpy(family: str) -> dict[Primitive, Callable[..., ArrayOrScalar]]:
    """NumPy's function for each row of a family for which it has one."""
    found = {op: getattr(np, op.numpy[0], None) for op in p.of_family(family)}
    return {op: function for op, function in found.items() if function is not None}


UNARY: Final = _of_numpy("unary")

Correction: TypeAlias = Callable[[NDArray, NDArray], None]


def _corrects(op: Primitive) -> Callable[[Correction], Correction]:
    """A decorator for what corrects NumPy's results of a function of complex numbers, in place."""

    def decorate(correct: Correction) -> Correction:
        function = UNARY[op]

        def kernel(x: NDArray) -> NDArray:
            result: NDArray = function(x)
            if x.dtype.kind == "c":
                # NumPy returns a 0-d result as a scalar, which nothing can be written to.
                result = np.asarray(result)
                correct(x, result)
            return result

        UNARY[op] = kernel
        return correct

    return decorate


@_corrects(p.ACOSH)
def _(x: NDArray, result: NDArray) -> None:
    nans = np.isnan(result.imag)
    if _count(nans):
        # The C libraries of NumPy's older builds lose the imaginary part here.
        result.imag[nans & (x.real == 0) & np.isnan(x.imag)] = np.pi / 2


@_corrects(p.EXPM1)
def _(x: NDArray, result: NDArray) -> None:
    finite = np.isfinite(result)
    if _count(finite) < finite.size:
        # NumPy multiplies infinities by zeros here. exp handles these cases, and to subtract 1
        # afterwards loses nothing where the result is not finite.
        corrected = np.exp(x[~finite])
        corrected.real -= 1
        result[~finite] = corrected
    nonzero = x.astype(bool)
    if _count(nonzero) < nonzero.size:
        # The real part is +0 for either zero.
        result.real[~nonzero] = 0.0


@_corrects(p.LOG1P)
def _(x: NDArray, result: NDArray) -> None:
    small = (np.abs(x.real) < 0.5) & (np.abs(x.imag) < 0.5)
    if _count(small):
        # NumPy takes the logarithm of abs(1 + x), of which rounding leaves few digits, or none.
        real, imag = x.real[small], x.imag[small]
        result.real[small] = np.log1p(real * (2 + real) + imag * imag) / 2


@_corrects(p.SIGN)
def _(x: NDArray, result: NDArray) -> None:
    # NumPy lets an infinite part outweigh a NaN.
    nans = np.isnan(x)
    if _count(nans):
        result[nans] = complex(np.nan, np.nan)


@_corrects(p.TAN)
def _(x: NDArray, result: NDArray) -> None:
    infinite = np.isinf(x.imag)
    if _count(infinite):
        # C gives the zero the sign of sin(2 a), the standard that of a.
        result.real[infinite] = np.copysign(0, x.real[infinite])


@_corrects(p.TANH)
def _(x: NDArray, result: NDArray) -> None:
    infinite = np.isinf(x.real)
    if _count(infinite):
        # C gives the zero the sign of sin(2 b), the standard that of b.
        result.imag[infinite] = np.copysign(0, x.imag[infinite])


def _rounding(ufunc: Callable[..., ArrayOrScalar]) -> Callable[[NDArray], NDArray]:
    """A kernel that rounds floating-point numbers, and copies integers."""

    def kernel(x: NDArray) -> NDArray:
        return ufunc(x) if x.dtype.kind in "fc" else np.positive(x)

    return kernel


def _reciprocal(x: NDArray) -> NDArray:
    # NumPy's own kernel for complex numbers differs from its division in zeros and infinities.
    return np.true_divide(1.0, x) if x.dtype.kind == "c" else np.reciprocal(x)


UNARY.update(
    {
        **{op: _rounding(UNARY[op]) for op in (p.CEIL, p.FLOOR, p.ROUND, p.TRUNC)},
        p.IMAG: lambda x: np.positive(x.imag),
        p.REAL: lambda x: np.positive(x.real),
        p.RECIPROCAL: _reciprocal,
    }
)

# ---------------------------------------------------------------------- binary


def _has_infinity(x: ArrayOrScalar) -> bool:
    return bool(_count(np.isinf(x))) if isinstance(x, np.ndarray) else isinf(x)


def _floor_divide(
    x1: ArrayOrScalar, x2: ArrayOrScalar, out: NDArray | None = None
) -> ArrayOrScalar:
    kind = (x1 if isinstance(x1, np.ndarray) else x2).dtype.kind
    # The correction needs the operands as they were; `out` may overlap them.
    if kind != "f" or not (_has_infinity(x1) or _has_infinity(x2)):
        return np.floor_divide(x1, x2, out=out)
    result = np.asarray(np.floor_divide(x1, x2))
    x1, x2 = np.broadcast_arrays(
        np.asarray(x1, dtype=result.dtype), np.asarray(x2, dtype=result.dtype)
    )
    # An infinite dividend by a finite number is infinite, with the sign of the quotient.
    over = np.isinf(x1) & np.isfinite(x2) & (x2 != 0)
    result[over] = (x1 / x2)[over]
    # A finite dividend by an infinity is a zero with the sign of the quotient.
    under = np.isfinite(x1) & np.isinf(x2)
    result[under] = (x1 / x2)[under]
    if out is None:
        return result
    np.copyto(out, result)
    return out


def _pow(x1: ArrayOrScalar, x2: ArrayOrScalar, out: NDArray | None = None) -> ArrayOrScalar:
    kind = (x1 if isinstance(x1, np.ndarray) else x2).dtype.kind
    if kind == "i" and out is not None:
        # NumPy meets a negative exponent when a part of `out` is written.
        np.copyto(out, np.power(x1, x2))
        return out
    if kind != "f" or not (_is_constant_half(x1, x2) and _has_sign_bit(x1)):
        return np.power(x1, x2, out=out)
    # NumPy takes the square root instead, which is NaN for -inf and -0.0 for -0.0. `out` may
    # overlap the operands.
    wrong = np.equal(x2, 0.5) & (np.isinf(x1) | np.equal(x1, 0)) & np.signbit(x1)
    roots = np.abs(x1)
    result = np.asarray(np.power(x1, x2, out=out))
    np.copyto(result, roots, where=wrong)
    return result


def _pow_new(x1: ArrayOrScalar, x2: ArrayOrScalar) -> ArrayOrScalar:
    """The operator has fast paths for exponents such as 2; `_pow` corrects the exponent 0.5."""
    if type(x2) in (int, float) and x2 != 0.5:
        return x1**x2
    return _pow(x1, x2)


def _is_constant_half(x1: ArrayOrScalar, x2: ArrayOrScalar) -> bool:
    """Whether NumPy may meet an exponent of 0.5 as a constant: a scalar, or one broadcast."""
    if not isinstance(x2, np.ndarray):
        return bool(x2 == 0.5)
    whole = not isinstance(x1, np.ndarray) or x1.size == 1 or x1.shape == x2.shape
    if whole and x2.size > 1 and 0 not in x2.strides:
        return False
    return bool(_count(np.equal(x2, 0.5)))


def _has_sign_bit(x: ArrayOrScalar) -> bool:
    """Whether a number in `x` is negative, -0.0 included."""
    if not isinstance(x, np.ndarray):
        return copysign(1, x) < 0
    # The same bits read as an integer are negative, too. So one pass over memory finds them,
    # without a temporary array.
    return x.size > 0 and bool(np.minimum.reduce(x.view(f"i{x.itemsize}"), axis=None) < 0)


BINARY: Final[dict[Primitive, Callable[..., ArrayOrScalar]]] = {
    **_of_numpy("binary"),
    p.FLOOR_DIVIDE: _floor_divide,
    p.POW: _pow,
}

# Operators reach the ufuncs' loops in less time than calls of the ufuncs, but take no `out`.
BINARY_NEW: Final[dict[Primitive, Callable[..., ArrayOrScalar]]] = {
    op: getattr(operator, f"__{op.operator}__") if op.operator else function
    for op, function in BINARY.items()
} | {p.FLOOR_DIVIDE: _floor_divide, p.POW: _pow_new}

# ---------------------------------------------------------------------- reductions and scans


def _by_method(family: str, method: str) -> dict[Primitive, Callable[..., ArrayOrScalar]]:
    """The method of the ufunc that each row of a family combines elements with."""
    return {
        op: getattr(getattr(np, op.by.numpy[0]), method)
        for op in p.of_family(family)
        if op.by is not None
    }


REDUCE: Final = _by_method("reduce", "reduce")
SCAN: Final = _by_method("scan", "accumulate")

ARG_REDUCE: Final[dict[Primitive, Literal["argmax", "argmin"]]] = {
    p.ARGMAX: "argmax",
    p.ARGMIN: "argmin",
}

# Methods of the backend compute mean and count_nonzero without a kernel.
p.check_kernels("cpu", "unary", UNARY)
p.check_kernels("cpu", "binary", BINARY)
p.check_kernels("cpu", "reduce", {*REDUCE, p.MEAN, p.COUNT_NONZERO})
p.check_kernels("cpu", "arg_reduce", ARG_REDUCE)
p.check_kernels("cpu", "scan", SCAN)


def divide_by_count(total: ArrayOrScalar, count: float) -> ArrayOrScalar:
    """`total` (an array or NumPy scalar) by `count`, in double precision.

    A large count is not exact in single precision. Dividing by zero gives NaN, as for arrays.
    """
    if total.dtype.kind == "c":
        # Complex division would let a NaN or an infinity in one part spoil the other.
        result = np.empty_like(total)
        result.real = np.true_divide(total.real, np.float64(count))
        result.imag = np.true_divide(total.imag, np.float64(count))
        return result
    return np.true_divide(total, np.float64(count)).astype(total.dtype, copy=False)
