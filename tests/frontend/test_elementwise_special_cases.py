"""The special cases of the standard's elementwise chapter, as tables.

Every case runs as a 0-d array, as the middle and the last element of a long array of ordinary
values, and in a view with a step: NumPy computes bodies, tails and strided data by different code.
Where the standard leaves a sign or a value open, so does the table.
"""

import math
from functools import partial
from itertools import product
from math import copysign, inf, isnan, nan

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.tables import for_each

Component = float | tuple[float, ...]  # several values: each is right
Case = tuple[tuple[float, ...], tuple[Component, ...]]

NNAN = copysign(nan, -1.0)
ZEROS = (0.0, -0.0)
INFS = (inf, -inf)
POSITIVE = (1e-3, 0.75, 1.0, 2.5)
NEGATIVE = (-1e-3, -0.75, -1.0, -2.5)
NONZERO = (*POSITIVE, *NEGATIVE)
FINITE = (*ZEROS, *NONZERO)
NAN = (nan,)


ANY = (*FINITE, *INFS, nan)
WHOLE = ((*INFS, nan, *ZEROS, 1.0, -1.0, 3.0, 2.0**23, -(2.0**24)), lambda a: a)


def by_math(name, poles=None):
    """Rows by Python's function, which raises errors at poles and where it is not defined."""

    def result(a):
        try:
            return (poles or {}).get(a) or getattr(math, name)(a)
        except ValueError:
            return nan

    return [((*ANY, 1.25, -1.25, 0.9375, -2.0), result)]


AT_ZERO = {0.0: -inf}
DEFINED_BY_MATH = [
    *["acos", "acosh", "asin", "asinh", "atan", "cos", "cosh", "exp", "expm1"],
    *["sin", "sinh", "sqrt", "tan", "tanh"],
]
UNARY_ROWS = {
    **{name: by_math(name) for name in DEFINED_BY_MATH},
    **{name: by_math(name, AT_ZERO) for name in ("log", "log2", "log10")},
    "log1p": by_math("log1p", {-1.0: -inf}),
    "atanh": by_math("atanh", {1.0: inf, -1.0: -inf}),
    "abs": by_math("fabs"),
    "ceil": [WHOLE, ((0.5,), 1.0), ((-0.5,), -0.0), ((-1.5,), -1.0)],
    "floor": [WHOLE, ((0.5,), 0.0), ((-0.5,), -1.0), ((1.5,), 1.0)],
    "negative": [(ANY, lambda a: -a)],
    "positive": [(ANY, lambda a: a)],
    "reciprocal": [(NAN, nan), ((0.0,), inf), ((-0.0,), -inf), (INFS, lambda a: copysign(0, a))],
    "round": [WHOLE, ((0.5,), 0.0), ((-0.5,), -0.0), ((1.5, 2.5), 2.0), ((-2.5,), -2.0)],
    "sign": [(NAN, nan), (ZEROS, 0.0), ((*POSITIVE, inf), 1.0), ((*NEGATIVE, -inf), -1.0)],
    "square": [(ANY, lambda a: a * a)],
    "trunc": [WHOLE, ((0.5,), 0.0), ((-0.5,), -0.0), ((1.5,), 1.0), ((-1.5,), -1.0)],
}


def copy_of(which):
    return lambda *arguments: float(arguments[which])


def with_sign_of_quotient(size):
    return lambda a, b: copysign(size, a) * copysign(1.0, b)


UP, DOWN = (*POSITIVE, inf), (*NEGATIVE, -inf)
ODD, NOT_ODD = (1.0, 3.0, 5.0), (2.0, 4.0, 0.5, 2.5, inf)

BinaryRow = tuple[tuple[float, ...], tuple[float, ...], object]

ADD = [
    (NAN, ANY, nan),
    (ANY, NAN, nan),
    ((inf,), (-inf,), nan),
    ((-inf,), (inf,), nan),
    (INFS, FINITE, copy_of(0)),
    (FINITE, INFS, copy_of(1)),
    ((inf,), (inf,), inf),
    ((-inf,), (-inf,), -inf),
    ((-0.0,), (-0.0,), -0.0),
    ((-0.0,), (0.0,), 0.0),
    ((0.0,), ZEROS, 0.0),
    (ZEROS, NONZERO, copy_of(1)),
    (NONZERO, ZEROS, copy_of(0)),
    ((2.5,), (-2.5,), 0.0),
]
DIVIDE = [
    (NAN, ANY, nan),
    (ANY, NAN, nan),
    (INFS, INFS, nan),
    (ZEROS, ZEROS, nan),
    (ZEROS, (*NONZERO, *INFS), with_sign_of_quotient(0.0)),
    (NONZERO, ZEROS, with_sign_of_quotient(inf)),
    (INFS, FINITE, with_sign_of_quotient(inf)),
    (NONZERO, INFS, with_sign_of_quotient(0.0)),
]

BINARY_ROWS = {
    "add": ADD,
    "atan2": [(ANY, ANY, math.atan2)],
    "copysign": [((*FINITE, *INFS), (*ANY, NNAN), math.copysign)],
    "divide": DIVIDE,
    "floor_divide": [
        *DIVIDE,
        ((1.0,), (3.0,), 0.0),
        ((-1.0,), (-3.0,), 0.0),
        ((1.0, -1.0), (3.0, -3.0), lambda a, b: 0.0 if a * b > 0 else -1.0),
    ],
    "hypot": [
        (ANY, ANY, math.hypot),
        ((3e30, -3e30), (4e30, -4e30), 5e30),
        ((3e-30, -3e-30), (4e-30, -4e-30), 5e-30),
    ],
    "logaddexp": [
        (NAN, ANY, nan),
        (ANY, NAN, nan),
        ((inf,), (*FINITE, *INFS), inf),
        ((*FINITE, *INFS), (inf,), inf),
        ((-inf,), NONZERO, copy_of(1)),
        ((-inf,), (-inf,), -inf),
    ],
    "maximum": [(NAN, ANY, nan), (ANY, NAN, nan)],
    "minimum": [(NAN, ANY, nan), (ANY, NAN, nan)],
    "multiply": [
        (NAN, ANY, nan),
        (ANY, NAN, nan),
        (INFS, ZEROS, nan),
        (ZEROS, INFS, nan),
        (INFS, (*NONZERO, *INFS), with_sign_of_quotient(inf)),
        (NONZERO, INFS, with_sign_of_quotient(inf)),
        (ZEROS, FINITE, with_sign_of_quotient(0.0)),
    ],
    "nextafter": [(NAN, ANY, nan), (ANY, NAN, nan), (ZEROS, ZEROS, copy_of(1))],
    "pow": [
        ((*FINITE, *INFS, nan), ZEROS, 1.0),
        ((1.0,), (*FINITE, *INFS), 1.0),
        ((*ZEROS, 0.75, 2.5, *NEGATIVE, *INFS, nan), NAN, nan),
        (NAN, (*NONZERO, *INFS), nan),
        ((2.5, -2.5, *INFS), (inf,), inf),
        ((2.5, -2.5, *INFS), (-inf,), 0.0),
        ((-1.0,), INFS, 1.0),
        ((*ZEROS, 0.75, -0.75), (inf,), 0.0),
        ((*ZEROS, 0.75, -0.75), (-inf,), inf),
        ((inf,), (*POSITIVE, 2.0, 3.0), inf),
        ((inf,), (*NEGATIVE, -2.0, -3.0), 0.0),
        ((-inf,), ODD, -inf),
        ((-inf,), NOT_ODD, inf),
        ((-inf,), tuple([-b for b in ODD]), -0.0),
        ((-inf,), tuple([-b for b in NOT_ODD]), 0.0),
        ((0.0,), (*POSITIVE, 2.0, 3.0), 0.0),
        ((0.0,), (*NEGATIVE, -2.0, -3.0), inf),
        ((-0.0,), ODD, -0.0),
        ((-0.0,), NOT_ODD, 0.0),
        ((-0.0,), tuple([-b for b in ODD]), -inf),
        ((-0.0,), tuple([-b for b in NOT_ODD]), inf),
        (NEGATIVE, (0.5, -0.5, 1.5, -2.5), nan),
    ],
    "remainder": [
        (NAN, ANY, nan),
        (ANY, NAN, nan),
        (INFS, ANY, nan),
        (ANY, ZEROS, nan),
        (ZEROS, (*NONZERO, *INFS), lambda a, b: copysign(0.0, b)),
        (POSITIVE, (inf,), copy_of(0)),
        (POSITIVE, (-inf,), -inf),
        (NEGATIVE, (inf,), inf),
        (NEGATIVE, (-inf,), copy_of(0)),
        ((5.0, -5.0, 4.0, -4.0), (2.0, -2.0, 3.0, -3.0), lambda a, b: copysign(a % b, b)),
    ],
}

Table = dict[str, list[Case]]


def evaluated(result, *arguments):
    return result(*arguments) if callable(result) else result


def unary_cases(rows):
    return [((a,), (evaluated(result, a),)) for values, result in rows for a in values]


def binary_cases(rows):
    """Cases from rows (first operands, second operands, result); the first row that fits holds."""
    cases = {}
    for first, second, result in rows:
        for pair in product(first, second):
            cases.setdefault(repr(pair), (pair, (evaluated(result, *pair),)))
    return list(cases.values())


REAL = {name: unary_cases(rows) for name, rows in UNARY_ROWS.items()}
REAL_BINARY = {name: binary_cases(rows) for name, rows in BINARY_ROWS.items()}
REAL_BINARY["subtract"] = [((a, -b), result) for (a, b), result in REAL_BINARY["add"]]

# Where the special value stands: length of the memory, step of the view, position in the view.
LAYOUTS = {
    "scalar": None,
    "middle": (10_000, 1, 5_000),
    "last": (1_003, 1, 1_002),
    "stepped": (3_003, -3, 500),
}


def is_right(found, expected, tolerance):
    if isinstance(expected, tuple):
        return any(is_right(found, each, tolerance) for each in expected)
    if isnan(expected):
        return isnan(found)
    if expected == 0.0 or expected in INFS:
        return found == expected and copysign(1.0, found) == copysign(1.0, expected)
    return abs(found - expected) <= tolerance * abs(expected)


def check(name, dtype, layout, cases, element, fill):
    """Run `cases`, whose arguments `element` turns into operands, and assert that all hold."""
    function = getattr(xp, name)
    tolerance = 3e-7 if dtype in ("float32", "complex64") else 1e-15
    failures = []
    operands = []
    ordinary = np.empty(0)
    position = ()
    if LAYOUTS[layout] is not None:
        size, step, middle = LAYOUTS[layout]
        position = (middle,)
        operands = [np.full(size, fill, dtype)[::step] for _ in element(cases[0][0])]
        ordinary = np.delete(np.asarray(function(*map(xp.asarray, operands))), middle)
    for arguments, expected in cases:
        values = element(arguments)
        if position:
            for operand, value in zip(operands, values, strict=True):
                operand[position] = value
        else:
            operands = [np.asarray(value) for value in values]
        result = np.asarray(function(*map(xp.asarray, operands)))
        found = result[position]
        parts = (found.real, found.imag) if len(expected) == 2 else (found,)
        if not all(is_right(float(u), v, tolerance) for u, v in zip(parts, expected, strict=True)):
            failures.append((arguments, "gave", found, "not", expected))
        if position:
            rest = np.delete(result, position)
            assert np.array_equal(rest, ordinary, equal_nan=True), (arguments, "changed others")
    assert failures == []


@for_each(("dtype", "layout"), product(("float32", "float64"), LAYOUTS))
@pytest.mark.parametrize("name", REAL)
def test_real(name, dtype, layout):
    scalar = np.dtype(dtype).type
    check(name, dtype, layout, REAL[name], lambda x: [scalar(x[0])], 0.625)


@for_each(("dtype", "layout"), product(("float32", "float64"), LAYOUTS))
@pytest.mark.parametrize("name", REAL_BINARY)
def test_real_with_two_arguments(name, dtype, layout):
    scalar = np.dtype(dtype).type
    check(name, dtype, layout, REAL_BINARY[name], lambda x: [scalar(y) for y in x], 0.625)


@for_each("dtype", ["float32", "float64"])
@for_each("name", list(REAL_BINARY))
def test_real_with_a_python_scalar(name, dtype):
    function = getattr(xp, name)
    tolerance = 3e-7 if dtype == "float32" else 1e-15
    failures = []
    for (a, b), (expected,) in REAL_BINARY[name]:
        # A Python scalar loses the sign of a NaN on its way, which copysign alone would show.
        array = partial(np.asarray, dtype=dtype)
        for operands in ((xp.asarray(array([a])), b), (a, xp.asarray(array([b])))):
            found = float(np.asarray(function(*operands))[0])
            if not is_right(found, expected, tolerance):
                failures.append((a, b, "gave", found, "not", expected))
    assert failures == []


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_nan_differs_from_everything(dtype):
    x = np.asarray([1.0, nan, 0.0, -0.0, inf, -inf], dtype=dtype)
    equal = np.asarray(xp.equal(xp.asarray(x[:, None]), xp.asarray(x)))
    expected = np.eye(6, dtype=bool)
    expected[1, 1] = False
    expected[2, 3] = expected[3, 2] = True
    assert np.array_equal(equal, expected)
    assert np.array_equal(xp.not_equal(xp.asarray(x[:, None]), xp.asarray(x)), ~expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sign_bits_of_nan(dtype):
    x = np.array([nan, NNAN, 0.0, -0.0, inf, -inf, 1.0, -1.0], dtype=dtype)
    bits = np.signbit(x)
    assert bits.tolist() == [False, True] * 4
    assert np.array_equal(xp.signbit(xp.asarray(x)), bits)
    copied = np.asarray(xp.copysign(xp.asarray(x[:, None]), xp.asarray(x)))
    assert np.array_equal(np.signbit(copied), np.broadcast_to(bits, (8, 8)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_in_place_operators_mend_too(dtype):
    x = xp.asarray(np.array([-inf, -0.0, 4.0], dtype=dtype))
    x **= 0.5
    assert np.asarray(x).tobytes() == np.array([inf, 0.0, 2.0], dtype=dtype).tobytes()
    x = xp.asarray(np.array([-inf, -5.0, 4.0, inf], dtype=dtype))
    x[1:] //= x[:-1]
    expected = np.array([-inf, 0.0, -1.0, inf], dtype=dtype)
    assert np.asarray(x).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (3, 1), (1, 4)])
def test_square_roots_by_pow_with_a_broadcast_exponent(dtype, shape):
    x = np.full((3, 4), 4.0, dtype)
    x[1, 2], x[2, 1] = -inf, -0.0
    expected = np.full((3, 4), 2.0, dtype)
    expected[1, 2], expected[2, 1] = inf, 0.0
    half = xp.asarray(np.full(shape, 0.5, dtype))
    for exponent in (half, xp.broadcast_to(half, (3, 4))):
        assert np.asarray(xp.pow(xp.asarray(x), exponent)).tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", ["floor_divide", "pow"])
def test_real_without_elements(name):
    x = xp.asarray(np.empty((0, 3), "float32"))
    for other in (x, 0.5, inf):
        assert getattr(xp, name)(x, other).shape == (0, 3)
