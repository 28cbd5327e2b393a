"""The contract's section "element by element"."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from ...contract.backend import Backend, Handle, Scalar
from ...contract.numpy_dtypes import NDArray
from ...contract.program import Argument
from ...core import dtypes as d
from ...core.dtypes import DType
from ...core.view import View
from ...primitives import table as p
from ...primitives.table import Primitive, of_family
from .layouts import (
    LAYOUTS,
    SHAPE,
    Case,
    Numbers,
    Oracle,
    case,
    cases,
    check,
    everything,
    flushes,
    in_layouts,
    limits,
    normal,
    row_major,
    small,
    spread,
    strided,
    tensor,
    window,
)


def elementwise(function: Oracle) -> Oracle:
    """An oracle that applies a Python function to Python numbers; ints wrap around."""

    def oracle(*arrays: NDArray) -> NDArray:
        dtype = arrays[0].dtype
        whole = np.broadcast_arrays(*arrays)
        result = np.empty(whole[0].shape, dtype)
        for index in np.ndindex(result.shape):
            value = function(*[array[index].item() for array in whole])
            if dtype.kind in "iu":
                bits = 8 * dtype.itemsize
                value %= 1 << bits
                if dtype.kind == "i" and value >> (bits - 1):
                    value -= 1 << bits
            result[index] = value
        return result

    return oracle


def unless_complex(function: Oracle, rounding: Oracle = np.positive) -> Oracle:
    """Rounding: `function` of floats, integers as they are, complex numbers by `rounding`."""

    def oracle(x: NDArray) -> Numbers:
        return function(x) if x.dtype.kind == "f" else rounding(x)

    return oracle


def int_trunc_divide(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def by_kind(whole: Callable[[int, int], int], real: Oracle) -> Oracle:
    """Python's arithmetic for integers, NumPy's for floats."""

    def oracle(x1: NDArray, x2: NDArray) -> Numbers:
        return (elementwise(whole) if x1.dtype.kind in "iu" else real)(x1, x2)

    return oracle


# Where NumPy has no function, or one that gives something else for some dtype or on some version.
ORACLES: dict[Primitive, Oracle] = {
    p.CEIL: unless_complex(np.ceil),
    p.ERF: elementwise(math.erf),
    p.FLOOR: unless_complex(np.floor),
    p.RECIPROCAL: lambda x: 1 / x,
    p.ROUND: unless_complex(np.round, lambda x: np.round(x) if x.dtype.kind == "c" else x),
    p.TRUNC: unless_complex(np.trunc),
    p.BITWISE_LEFT_SHIFT: elementwise(lambda a, b: a << b),
    p.BITWISE_RIGHT_SHIFT: elementwise(lambda a, b: a >> b),
    p.FLOOR_DIVIDE: by_kind(lambda a, b: a // b, np.floor_divide),
    p.FMOD: by_kind(lambda a, b: a - b * int_trunc_divide(a, b), np.fmod),
    p.POW: by_kind(pow, np.power),
    p.REMAINDER: by_kind(lambda a, b: a - b * (a // b), np.remainder),
    p.TRUNC_DIVIDE: elementwise(int_trunc_divide),
}


def computed(op: Primitive, dtype: DType, *arrays: NDArray) -> NDArray:
    """What `op` gives for arrays of `dtype`: by NumPy's function, unless `ORACLES` has another."""
    with np.errstate(all="ignore"):
        result = np.asarray((ORACLES.get(op) or getattr(np, op.numpy))(*arrays))
    assert result.dtype.name == op.results[dtype].name
    return result


# What rounds: the standard asks for no digits, and NumPy computes strided data by other code.
INEXACT = {
    p.ACOS, p.ACOSH, p.ASIN, p.ASINH, p.ATAN, p.ATANH, p.COS, p.COSH, p.ERF, p.EXP, p.EXPM1, p.LOG,
    p.LOG10, p.LOG1P, p.LOG2, p.SIN, p.SINH, p.TAN, p.TANH, p.ATAN2, p.HYPOT, p.LOGADDEXP, p.POW,
}  # fmt: skip

# Of zeros of either sign, either one is the larger.
ANY_ZERO = {p.MAXIMUM, p.MINIMUM}

# Where NumPy's complex special cases are not the standard's;
# tests/frontend/test_elementwise_special_cases.py has those.
CORRECTED = {p.EXPM1, p.RECIPROCAL, p.SIGN, p.TAN, p.TANH}


def tolerance(op: Primitive, dtype: DType) -> float:
    if dtype in d.COMPLEX:
        return 8 if op not in (p.CONJ, p.NEGATIVE, p.POSITIVE, p.REAL, p.IMAG, p.ROUND) else 0
    if op in (p.COSH, p.SINH):
        # Engines take the exponential of large arguments as a product.
        return 32
    if op is p.SQRT:
        # PyTorch's is MKL's on some processors, which rounds some roots to the other neighbour.
        return 1
    return 4 if op in INEXACT else 1 if op in ANY_ZERO else 0


def unary_cases(backend: Backend, op: Primitive, dtype: DType) -> tuple[Case, ...] | list[Case]:
    if op in CORRECTED and dtype in d.COMPLEX:
        return in_layouts(
            backend, small(dtype, SHAPE) + np.asarray(0.25 + 0.5j, dtype.name), LAYOUTS[:-1]
        )
    return cases(backend, dtype)


@pytest.mark.parametrize("op", of_family("unary"), ids=lambda op: op.name)
def test_unary(backend: Backend, op: Primitive) -> None:
    for dtype in op.results:
        for layout, handle, oracle in unary_cases(backend, op, dtype):
            result, expected = backend.unary(op, handle), computed(op, dtype, oracle)
            ulp = tolerance(op, dtype)
            check(backend, result, expected, handle, ulp=ulp, hint=(dtype, layout))


@pytest.mark.parametrize(("dtype", "ulp"), [(d.float64, 2), (d.float32, 1)], ids=str)
def test_erf_is_accurate_in_all_ranges(backend: Backend, dtype: DType, ulp: float) -> None:
    near = np.concatenate([np.linspace(0, 7, 20001), [0.75, 4.0, 5.92, 5.93, 26.0]])
    tiny = np.logspace(-320, 0, 400)
    values = np.concatenate([near, tiny, np.nextafter(near, 0), np.nextafter(near, 8)])
    values = np.concatenate([values, -values]).astype(dtype.name)
    values = normal(values) if flushes(backend) else values
    exact = np.array([math.erf(x) for x in values.tolist()]).astype(dtype.name)
    result = backend.to_host(
        backend.unary(p.ERF, tensor(backend, values, View.row_major(values.shape)))
    )
    assert np.max(np.abs(result - exact) / np.spacing(np.abs(exact))) <= ulp
    np.testing.assert_array_equal(np.signbit(result), np.signbit(values))


# ---------------------------------------------------------------------- binary


DIVISIONS = {p.FLOOR_DIVIDE, p.FMOD, p.REMAINDER, p.TRUNC_DIVIDE}
SHIFTS = {p.BITWISE_LEFT_SHIFT, p.BITWISE_RIGHT_SHIFT}


def left_values(op: Primitive, dtype: DType) -> NDArray:
    values = limits(dtype)
    if op in DIVISIONS and values.dtype.kind == "f":
        # One infinity has special cases of its own, in
        # tests/frontend/test_elementwise_special_cases.py.
        return values[~np.isinf(values)]
    return values


def right_values(op: Primitive, dtype: DType) -> NDArray:
    """Second operands for which `op` of integers is defined."""
    values = left_values(op, dtype)
    if values.dtype.kind in "iu":
        if op in DIVISIONS:
            return np.asarray(values[values != 0])
        if op is p.POW:
            return np.asarray(values[(values >= 0) & (values <= 5)])
        if op in SHIFTS:
            return np.arange(8 * values.itemsize, dtype=values.dtype)
    return values


def pairs(backend: Backend, op: Primitive, dtype: DType) -> Iterator[tuple[Case, Case]]:
    """Every left value with every right one, then every layout on either side."""
    left, right = left_values(op, dtype), right_values(op, dtype)
    yield case(backend, row_major, left.reshape(-1, 1)), case(backend, row_major, right)
    lefts = in_layouts(backend, spread(left, SHAPE))
    rights = in_layouts(backend, spread(right[::-1], SHAPE))
    for i, x1 in enumerate(lefts):
        x2 = rights[(3 * i + 1) % len(rights)]
        if not (x2.layout == "masked" and dtype in d.INTEGRAL and op in DIVISIONS):
            yield x1, x2
    yield (
        case(backend, row_major, left[:1].reshape(())),
        case(backend, row_major, spread(right, (1, 4))),
    )
    yield (
        case(backend, row_major, left[:1].reshape(())),
        case(backend, row_major, right[:1].reshape(())),
    )
    yield case(backend, row_major, left[:0]), case(backend, row_major, spread(right, (3, 1)))


@pytest.mark.parametrize("op", of_family("binary"), ids=lambda op: op.name)
def test_binary(backend: Backend, op: Primitive) -> None:
    for dtype in op.results:
        for x1, x2 in pairs(backend, op, dtype):
            result = backend.binary(op, x1.handle, x2.handle)
            expected = computed(op, dtype, x1.oracle, x2.oracle)
            hint, ulp = (dtype, x1.layout, x2.layout), tolerance(op, dtype)
            check(backend, result, expected, x1.handle, x2.handle, ulp=ulp, hint=hint)


SCALARS: dict[str, tuple[Scalar, ...]] = {
    "b": (True, False),
    "u": (2, 5),
    "i": (2, -3),
    "f": (2, -0.5, True),
    "c": (2, -0.5, 1 - 2j),
}


@pytest.mark.parametrize("op", of_family("binary"), ids=lambda op: op.name)
def test_binary_with_scalars_keeps_the_dtype(backend: Backend, op: Primitive) -> None:
    for dtype in op.results:
        x = case(backend, row_major, small(dtype, (3, 4)))
        for scalar in SCALARS[x.oracle.dtype.kind]:
            like = np.asarray(scalar, x.oracle.dtype)
            for arguments, arrays in (
                ((x.handle, scalar), (x.oracle, like)),
                ((scalar, x.handle), (like, x.oracle)),
            ):
                if dtype in d.INTEGRAL and not is_defined(op, *arrays):
                    continue
                with np.errstate(all="ignore"):
                    result = backend.binary(op, *arguments)
                hint, ulp = (dtype, arguments), tolerance(op, dtype)
                check(backend, result, computed(op, dtype, *arrays), x.handle, ulp=ulp, hint=hint)


def is_defined(op: Primitive, x1: NDArray, x2: NDArray) -> bool:
    """Whether the standard says what the integers `x1` and `x2` give."""
    if op in DIVISIONS:
        return bool((x2 != 0).all())
    return not (op is p.POW or op in SHIFTS) or bool((x2 >= 0).all())


@pytest.mark.parametrize("dtype", d.INTEGRAL, ids=str)
def test_binary_of_integers_never_fails_where_undefined(backend: Backend, dtype: DType) -> None:
    x = case(backend, row_major, limits(dtype))
    for op in (*DIVISIONS, *SHIFTS):
        for right in (0, 100):
            with np.errstate(all="ignore"):
                result = backend.binary(op, x.handle, right)
            assert backend.shape(result) == x.oracle.shape
            assert backend.dtype(result) is dtype


@pytest.mark.parametrize("dtype", d.SIGNED, ids=str)
def test_binary_refuses_negative_integer_powers(backend: Backend, dtype: DType) -> None:
    values = np.array([2, 3, 4], dtype.name)
    x = tensor(backend, values.copy(), View((3,)), writable=True)
    exponents = tensor(backend, np.array([2, 2, -1], dtype.name), View((3,)))
    for out in (None, x):
        for exponent in (exponents, -1):
            with pytest.raises(ValueError, match="negative"):
                backend.evaluate(backend.binary(p.POW, x, exponent, out))
    np.testing.assert_array_equal(backend.to_host(x), values)


def test_binary_refuses_shapes_that_do_not_broadcast(backend: Backend) -> None:
    x1 = case(backend, row_major, np.ones((2, 3)))
    x2 = case(backend, row_major, np.ones(2))
    for op in of_family("binary"):
        if d.float64 in op.results:
            with pytest.raises(ValueError, match="broadcast"):
                backend.binary(op, x1.handle, x2.handle)


def overlaps(
    backend: Backend, dtype: DType, values: NDArray
) -> Iterator[tuple[str, Handle, Handle, Handle]]:
    """Two operands and an `out` in one block of memory, in every relation to each other."""

    def block() -> Handle:
        return backend.from_host(np.resize(values, 64).astype(dtype.name), copy=True)

    def of(memory: Handle, *arguments: Argument) -> Handle:
        return window(backend, memory, View(*arguments))

    m = block()
    same = of(m, (4, 4))
    yield "out is x1", same, of(m, (4, 4), None, 16), same
    m = block()
    same = of(m, (4, 4))
    yield "out is x2", of(m, (4, 4), None, 16), same, same
    m = block()
    same = of(m, (4, 4))
    yield "all are one", same, same, same
    m = block()
    yield "shifted ahead", of(m, (20,)), of(m, (20,), (1,), 3), of(m, (20,), (1,), 1)
    m = block()
    yield "shifted behind", of(m, (20,), (1,), 2), of(m, (20,), (1,), 1), of(m, (20,))
    m = block()
    yield "reversed", of(m, (20,)), of(m, (20,), (-1,), 19), of(m, (20,), (-1,), 19)
    m = block()
    yield "transposed", of(m, (4, 4)), of(m, (4, 4), (1, 4)), of(m, (4, 4), (1, 4))
    m = block()
    yield "stepped", of(m, (10,)), of(m, (10,), (2,), 1), of(m, (10,), (2,), 0)
    m = block()
    yield "broadcast", of(m, (4, 4)), of(m, (4,), (4,)), of(m, (4, 4))
    m = block()
    scalar = True if dtype is d.bool else 2
    yield "scalar on the right", of(m, (10,), (1,), 1), scalar, of(m, (10,))


@pytest.mark.parametrize("op", of_family("binary"), ids=lambda op: op.name)
def test_binary_out_may_overlap_its_operands(backend: Backend, op: Primitive) -> None:
    for dtype, result_dtype in op.results.items():
        if result_dtype is not dtype:
            continue
        values = right_values(op, dtype)[:13] if dtype in d.INTEGRAL else left_values(op, dtype)
        values = normal(values) if flushes(backend) else values
        for hint, x1, x2, out in overlaps(backend, dtype, values):
            arrays = [
                np.asarray(x, dtype.name) if type(x) in (int, bool) else backend.to_host(x).copy()
                for x in (x1, x2)
            ]
            engine = strided(backend)
            whole = None if engine is None else everything(engine, out)
            before = None if whole is None else backend.to_host(whole).copy()
            expected = computed(op, dtype, *arrays)
            with np.errstate(all="ignore"):
                assert backend.binary(op, x1, x2, out) is out
            check(backend, out, expected, ulp=tolerance(op, dtype), hint=(dtype, hint))
            if before is not None:
                # Nothing beside `out` has changed.
                backend.assign(out, tensor(backend, before, out.view))
                np.testing.assert_array_equal(backend.to_host(whole), before, err_msg=hint)


def test_binary_out_of_comparisons_is_boolean(backend: Backend) -> None:
    x = tensor(backend, np.array([True, False, True, True]), View((4,)), writable=True)
    assert backend.binary(p.EQUAL, x, False, x) is x
    check(backend, x, np.array([False, True, False, False]))


# ---------------------------------------------------------------------- ternary


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_where(backend: Backend, dtype: DType) -> None:
    values = limits(dtype)
    conditions = in_layouts(backend, spread(np.array([True, False, False]), SHAPE))
    lefts = in_layouts(backend, spread(values, SHAPE))
    rights = in_layouts(backend, spread(values[::-1], SHAPE))
    for i, condition in enumerate(conditions):
        x1, x2 = lefts[(3 * i + 1) % len(lefts)], rights[(7 * i + 2) % len(rights)]
        expected = x2.oracle.copy()
        expected[condition.oracle] = x1.oracle[condition.oracle]
        result = backend.where(condition.handle, x1.handle, x2.handle)
        hint = condition.layout, x1.layout, x2.layout
        check(backend, result, expected, condition.handle, x1.handle, x2.handle, hint=hint)


@pytest.mark.parametrize("dtype", d.ALL, ids=str)
def test_where_broadcasts_and_takes_scalars(backend: Backend, dtype: DType) -> None:
    x = case(backend, row_major, small(dtype, (3, 4)))
    condition = case(backend, row_major, np.array([[True], [False], [True]]))
    zero = case(backend, row_major, np.zeros((), dtype.name))
    for other in (zero.handle, False, *SCALARS[x.oracle.dtype.kind]):
        value = 0 if other is zero.handle else other
        expected = x.oracle.copy()
        expected[1] = value
        check(backend, backend.where(condition.handle, x.handle, other), expected, x.handle)
        expected = x.oracle.copy()
        expected[[0, 2]] = value
        check(backend, backend.where(condition.handle, other, x.handle), expected, x.handle)
    empty = case(backend, row_major, np.zeros((0, 4), dtype.name))
    none = case(backend, row_major, np.zeros((0, 1), bool))
    check(backend, backend.where(none.handle, empty.handle, empty.handle), empty.oracle)
    with pytest.raises(ValueError, match="broadcast"):
        backend.where(condition.handle, empty.handle, x.handle)


@pytest.mark.parametrize("dtype", d.REAL, ids=str)
def test_clip(backend: Backend, dtype: DType) -> None:
    values = limits(dtype)
    big = np.resize(values, (200, 5, 5))
    low = case(backend, row_major, np.resize(np.sort(values)[2:4], (5, 1)))
    high = case(backend, row_major, np.asarray(values[4]))
    unknown = case(
        backend, row_major, np.asarray(np.nan if dtype in d.REAL_FLOATING else 1, dtype.name)
    )
    for x in (*cases(backend, dtype)[:10], case(backend, row_major, big)):
        for a, b in (
            (low, high),
            (low, None),
            (None, high),
            (high, low),
            (unknown, high),
            (1, 3),
            (3, 1),
            (None, 2),
            (1, high),
        ):
            expected = x.oracle
            for limit, choose in ((a, np.maximum), (b, np.minimum)):
                if limit is not None:
                    bound = limit if isinstance(limit, int) else limit.oracle
                    expected = choose(expected, np.asarray(bound, dtype.name))
            handles = [limit.handle if isinstance(limit, Case) else limit for limit in (a, b)]
            result = backend.clip(x.handle, *handles)
            check(backend, result, expected, x.handle, *handles, hint=(x.layout, a, b))


@pytest.mark.parametrize("dtype", d.REAL, ids=str)
def test_clip_of_no_axes_and_of_no_elements(backend: Backend, dtype: DType) -> None:
    for x in cases(backend, dtype)[10:]:
        one, two = np.array([1, 2], dtype.name)
        expected = np.minimum(np.maximum(x.oracle, one), two)
        check(backend, backend.clip(x.handle, 1, 2), expected, x.handle, hint=x.layout)


def test_clip_with_float_limits_keeps_float32(backend: Backend) -> None:
    x = case(backend, row_major, np.array([0.0, 0.25, 1.0], np.float32))
    expected = np.array([0.125, 0.25, 0.5], np.float32)
    check(backend, backend.clip(x.handle, 0.125, 0.5), expected, x.handle)
