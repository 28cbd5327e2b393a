"""Trials of the contract's section "element by element"."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...contract.arguments import Scalar
from ...contract.numpy_dtypes import NDArray
from ...contract.ufuncs import UfuncLoop, ufunc_loop
from ...core import dtypes as d
from ...core.dtypes import DType
from ...primitives import table as p
from ...primitives.table import Primitive, of_family
from .layouts import SHAPE, Numbers, Oracle, limits, small, spread
from .trials import Arguments, Trials, always

# Where NumPy has no function, or one that gives something else for some dtype.
ORACLES: dict[Primitive, Oracle] = {
    p.RECIPROCAL: lambda x: 1 / x,
    p.SIGN: lambda x: np.where(x == 0, np.zeros_like(x), np.sign(x)),
    p.ROUND: lambda x: np.round(x) if d.KIND[x.dtype] in "fc" else x,
}


def computed(op: Primitive, *operands: Numbers) -> NDArray:
    """What `op` gives: by NumPy's function, unless `ORACLES` has another."""
    dtype = next(x.dtype for x in operands if isinstance(x, np.ndarray))
    arrays = [np.asarray(x, dtype) for x in operands]
    with np.errstate(all="ignore"):
        result = np.asarray((ORACLES.get(op) or getattr(np, op.numpy[0]))(*arrays))
    assert result.dtype == op.results[dtype]
    return result


# Operations that round: the standard asks for no digits, and NumPy computes strided data by other
# code.
INEXACT = {
    p.ACOS, p.ACOSH, p.ASIN, p.ASINH, p.ATAN, p.ATANH, p.CBRT, p.COS, p.COSH, p.DEG2RAD, p.EXP,
    p.EXP2, p.EXPM1, p.LOG, p.LOG10, p.LOG1P, p.LOG2, p.RAD2DEG, p.SIN, p.SINH, p.TAN, p.TANH,
    p.ATAN2, p.HYPOT, p.LOGADDEXP, p.POW,
}  # fmt: skip

# Of zeros of either sign, either one is the larger.
ANY_ZERO = {p.FMAX, p.FMIN, p.MAXIMUM, p.MINIMUM}

# Where NumPy's complex special cases are not the standard's;
# tests/frontend/test_elementwise_special_cases_complex.py has those.
CORRECTED = {p.EXPM1, p.RECIPROCAL, p.SIGN, p.TAN, p.TANH}

DIVISIONS = {p.FLOOR_DIVIDE, p.FMOD, p.REMAINDER}
SHIFTS = {p.BITWISE_LEFT_SHIFT, p.BITWISE_RIGHT_SHIFT}


def tolerance(op: Primitive, dtype: DType) -> float:
    if dtype in d.COMPLEX:
        if op is p.POW:
            # On GPUs it is exp(x2 * log(x1)) in the same precision.
            return 16
        return 8 if op not in (p.CONJ, p.NEGATIVE, p.POSITIVE, p.REAL, p.IMAG, p.ROUND) else 0
    if op in (p.COSH, p.SINH):
        # Engines take the exponential of large arguments as a product.
        return 32
    if op is p.SQRT:
        # PyTorch's is MKL's on some processors, which rounds some roots to the other neighbour.
        return 1
    return 4 if op in INEXACT else 1 if op in ANY_ZERO else 0


def shapes_of(values: NDArray) -> Iterator[NDArray]:
    """Values as an array, without axes, and no values in two shapes."""
    yield spread(values, SHAPE)
    yield values[1:2].reshape(())
    yield values[:0]
    yield np.empty((3, 0, 2), values.dtype)


def unary(op: Primitive, dtype: DType) -> Iterator[Arguments]:
    values = limits(dtype)
    if op in CORRECTED and dtype in d.COMPLEX:
        values = small(dtype, (50,)) + np.asarray(0.25 + 0.5j, dtype)
    for x in shapes_of(values):
        yield op, x


def left_values(op: Primitive, dtype: DType) -> NDArray:
    values = limits(dtype)
    if op in DIVISIONS and d.KIND[values.dtype] == "f":
        # One infinity has special cases of its own, in
        # tests/frontend/test_elementwise_special_cases.py.
        return values[~np.isinf(values)]
    return values


def right_values(op: Primitive, dtype: DType) -> NDArray:
    """Second operands for which `op` of integers is defined."""
    values = left_values(op, dtype)
    if d.KIND[values.dtype] in "iu":
        if op in DIVISIONS:
            return np.asarray(values[values != 0])
        if op is p.POW:
            return np.asarray(values[(values >= 0) & (values <= 5)])
        if op in SHIFTS:
            return np.arange(8 * values.itemsize, dtype=values.dtype)
    return values


SCALARS: dict[str, tuple[Scalar, ...]] = {
    "b": (True, False),
    "u": (2, 5),
    "i": (2, -3),
    "f": (2, -0.5, True),
    "c": (2, -0.5, 1 - 2j),
}
"""Python scalars that each kind of dtypes represents."""


def binary(op: Primitive, dtype: DType) -> Iterator[Arguments]:
    left, right = left_values(op, dtype), right_values(op, dtype)
    yield op, left.reshape(-1, 1), right
    yield op, spread(left, SHAPE), spread(right[::-1], SHAPE)
    yield op, left[:1].reshape(()), spread(right, (1, 4))
    yield op, left[:1].reshape(()), right[:1].reshape(())
    yield op, left[:0], spread(right, (3, 1))
    x = small(dtype, (3, 4))
    for scalar in SCALARS[d.KIND[x.dtype]]:
        yield op, x, scalar
        yield op, scalar, x


def is_defined(op: Primitive, x1: Numbers, x2: Numbers) -> bool:
    """Whether the standard says what numbers give, of whose layouts some hold zeros."""
    kind = d.KIND[np.result_type(x1, x2)]
    if op in DIVISIONS and kind in "iu":
        return bool(np.all(np.asarray(x2) != 0))
    if op is p.DIVIDE and kind == "c" and not isinstance(x1, np.ndarray):
        return bool(np.all(x2 != 0))
    return not (kind in "iu" and (op is p.POW or op in SHIFTS)) or bool(np.all(np.asarray(x2) >= 0))


def wheres(dtype: DType) -> Iterator[Arguments]:
    values = limits(dtype)
    condition = np.array([True, False, False])
    yield spread(condition, SHAPE), spread(values, SHAPE), spread(values[::-1], SHAPE)
    x, column = small(dtype, (3, 4)), np.array([[True], [False], [True]])
    for other in (np.zeros((), x.dtype), False, *SCALARS[d.KIND[x.dtype]]):
        yield column, x, other
        yield column, other, x
    yield column[:0], x[:0], x[:0]


def clips(dtype: DType) -> Iterator[Arguments]:
    values = limits(dtype)
    low, high = np.resize(np.sort(values)[2:4], (5, 1)), np.asarray(values[4])
    unknown = np.asarray(np.nan if dtype in d.REAL_FLOATING else 1, dtype)
    for a, b in (
        *((low, high), (low, None), (None, high), (high, low), (unknown, high)),
        *((1, 3), (3, 1), (None, 2), (1, high)),
    ):
        yield spread(values, SHAPE), a, b
    yield np.resize(values, (200, 5, 5)), low, high
    for x in shapes_of(values):
        yield x, 1, 2
    if dtype is d.float32:
        yield np.array([0.0, 0.25, 1.0], dtype), 0.125, 0.5


def clipped(x: NDArray, low: Numbers, high: Numbers) -> NDArray:
    """`x` limited from below first, so that `high` wins."""
    x = x if low is None else np.maximum(x, np.asarray(low, x.dtype))
    return x if high is None else np.minimum(x, np.asarray(high, x.dtype))


# ---------------------------------------------------------------------- ufuncs that are no rows


def _same(ufunc: np.ufunc, dtype: DType) -> UfuncLoop:
    return ufunc_loop(ufunc, (dtype,) * ufunc.nin, (dtype,) * ufunc.nout)


# Ufuncs that compute every bit, so that any engine's function of the same meaning gives it.
ONE_RESULT = [
    *[_same(np.fabs, dtype) for dtype in d.REAL_FLOATING],
    *[_same(np.gcd, dtype) for dtype in d.INTEGRAL],
    *[_same(np.float_power, dtype) for dtype in (d.float64, d.complex128)],
    *[_same(np.copysign, dtype) for dtype in d.REAL_FLOATING],
    ufunc_loop(np.ldexp, (d.float64, d.int32), (d.float64,)),
    ufunc_loop(np.ldexp, (d.float32, d.int32), (d.float32,)),
    ufunc_loop(np.equal, (d.int64, d.uint64), (d.bool,)),
]
SEVERAL_RESULTS = [
    *[ufunc_loop(np.frexp, (dtype,), (dtype, d.int32)) for dtype in d.REAL_FLOATING],
    *[_same(np.modf, dtype) for dtype in d.REAL_FLOATING],
]


def operands(op: UfuncLoop) -> Iterator[tuple[Numbers, ...]]:
    """Operands of a ufunc: arrays of its dtypes, which broadcast, and scalars."""
    if len(op.inputs) == 1:
        values = limits(op.inputs[0])
        if op.ufunc.nout > 1:
            values = np.where(np.isfinite(values), values, 1).astype(values.dtype)
        for x in shapes_of(values):
            yield (x,)
        return
    one, two = op.inputs
    yield spread(small(one, (25,)), SHAPE), spread(small(two, (25,), 3), SHAPE)
    x, column = small(one, (3, 4)), small(two, (3, 1), 3)
    yield x, column
    if op.ufunc is np.ldexp:
        yield x, 2
        yield 0.5, column


def applied_multiple(dtype: DType) -> list[Arguments]:
    return [(op, x) for op in SEVERAL_RESULTS if op.inputs[0] is dtype for x in operands(op)]


def applied(dtype: DType) -> Iterator[Arguments]:
    for op in ONE_RESULT:
        if op.inputs[0] is dtype:
            for given in operands(op):
                yield op, given
    for op, given in applied_multiple(dtype):
        yield op.only(0), given
        yield op.only(1), given


def by_ufunc(op: UfuncLoop, given: tuple[Numbers, ...]) -> NDArray | tuple[NDArray, ...]:
    arrays = [np.asarray(x, dtype) for x, dtype in zip(given, op.inputs, strict=True)]
    found: NDArray | tuple[NDArray, ...] = op.ufunc(*arrays)
    return found if op.wanted is None else found[op.wanted]


# ---------------------------------------------------------------------- the tables


def _of_unary(op: Primitive, dtype: DType) -> Trials:
    corrected = op in CORRECTED and dtype in d.COMPLEX
    return Trials(
        computed,
        lambda dtype: unary(op, dtype),
        tolerance(op, dtype),
        suits=(lambda op, x: bool((x != 0).all())) if corrected else always,
    )


def _of_binary(op: Primitive, dtype: DType) -> Trials:
    return Trials(computed, lambda dtype: binary(op, dtype), tolerance(op, dtype), 0, is_defined)


def of_row(op: Primitive, dtype: DType) -> Trials:
    """The trials of a unary or binary operation."""
    return (_of_unary if op.family == "unary" else _of_binary)(op, dtype)


ROWS = of_family("unary", "binary")

TRIALS: dict[str, Trials] = {
    "where": Trials(lambda condition, x1, x2: np.where(condition, *_alike(x1, x2)), wheres),
    "clip": Trials(clipped, clips, ulp=1),
    "apply": Trials(by_ufunc, applied, ulp=1),
    "apply_multiple": Trials(by_ufunc, applied_multiple),
}


def _alike(*given: Numbers) -> list[NDArray]:
    """Scalars as arrays of the dtype of the others."""
    dtype = next(x.dtype for x in given if isinstance(x, np.ndarray))
    return [np.asarray(x, dtype) for x in given]
