"""The special cases of the standard's elementwise chapter, as tables.

Every case runs as a 0-d array, as the middle and the last element of a long array of ordinary
values, and in a view with a step: NumPy computes bodies, tails and strided data by different code.
Where the standard leaves a sign or a value open, so does the table.
"""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from math import copysign, cos, inf, isnan, log, nan, pi, sin

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


def negated(component: Component) -> Component:
    return tuple([-c for c in component]) if isinstance(component, tuple) else -component


def scaled(component: Component, factor: float) -> Component:
    if isinstance(component, tuple):
        return tuple([c * factor for c in component])
    return component * factor


Rows = list[tuple[tuple[float, ...], tuple[float, ...], object]]


def expand(rows: Rows, symmetry: str = "conj") -> list[Case]:
    """Cases from rows (real parts, imaginary parts, result), and their mirror images.

    All functions here commute with conj; `symmetry` "odd" or "even" adds what follows for -z.
    """
    cases: dict[str, Case] = {}
    for reals, imags, result in rows:
        for a, b in product(reals, imags):
            re, im = result(a, b) if callable(result) else result
            mirrored = [((a, b), (re, im)), ((a, -b), (re, negated(im)))]
            if symmetry == "odd":
                mirrored += [((-x, -y), (negated(u), negated(v))) for (x, y), (u, v) in mirrored]
            elif symmetry == "even":
                mirrored += [((-x, -y), (u, v)) for (x, y), (u, v) in mirrored]
            for case in mirrored:
                cases.setdefault(repr(case[0]), case)
    return list(cases.values())


def turned(cases: list[Case], back: bool) -> list[Case]:
    """The cases of ``f(z * 1j)``, or of ``-1j * f(z * 1j)`` if `back`, from those of f."""
    # z * 1j is (-b, a), so the argument (p, q) of f comes from z = (q, -p).
    return [((q, -p), (v, negated(u)) if back else (u, v)) for (p, q), (u, v) in cases]


def cis(size: float) -> Callable[[float, float], tuple[float, float]]:
    return lambda a, b: (size * cos(b), size * sin(b))


def cis_minus_one(size: float) -> Callable[[float, float], tuple[float, float]]:
    return lambda a, b: (size * cos(b) - 1.0, size * sin(b))


NANS = (nan, nan)

ACOS = expand(
    [
        (ZEROS, (0.0,), (pi / 2, -0.0)),
        (ZEROS, NAN, (pi / 2, nan)),
        (FINITE, (inf,), (pi / 2, -inf)),
        (NONZERO, NAN, NANS),
        ((-inf,), POSITIVE, (pi, -inf)),
        ((inf,), POSITIVE, (0.0, -inf)),
        ((-inf,), (inf,), (3 * pi / 4, -inf)),
        ((inf,), (inf,), (pi / 4, -inf)),
        (INFS, NAN, (nan, INFS)),
        (NAN, FINITE, NANS),
        (NAN, (inf,), (nan, -inf)),
        (NAN, NAN, NANS),
    ]
)
ACOSH = expand(
    [
        (ZEROS, (0.0,), (0.0, pi / 2)),
        (FINITE, (inf,), (inf, pi / 2)),
        (NONZERO, NAN, NANS),
        ((0.0,), NAN, (nan, (pi / 2, -pi / 2))),
        ((-inf,), POSITIVE, (inf, pi)),
        ((inf,), POSITIVE, (inf, 0.0)),
        ((-inf,), (inf,), (inf, 3 * pi / 4)),
        ((inf,), (inf,), (inf, pi / 4)),
        (INFS, NAN, (inf, nan)),
        (NAN, FINITE, NANS),
        (NAN, (inf,), (inf, nan)),
        (NAN, NAN, NANS),
    ]
)
ASINH = expand(
    [
        ((0.0,), (0.0,), (0.0, 0.0)),
        (POSITIVE, (inf,), (inf, pi / 2)),
        (FINITE, NAN, NANS),
        ((inf,), POSITIVE, (inf, 0.0)),
        ((inf,), (inf,), (inf, pi / 4)),
        (NAN, (0.0,), (nan, 0.0)),
        (NAN, NONZERO, NANS),
        (NAN, (inf,), (INFS, nan)),
        (NAN, NAN, NANS),
    ],
    "odd",
)
ATANH = expand(
    [
        ((0.0,), (0.0,), (0.0, 0.0)),
        ((0.0,), NAN, (0.0, nan)),
        ((1.0,), (0.0,), (inf, 0.0)),
        (POSITIVE, (inf,), (0.0, pi / 2)),
        (NONZERO, NAN, NANS),
        ((inf,), POSITIVE, (0.0, pi / 2)),
        ((inf,), (inf,), (0.0, pi / 2)),
        ((inf,), NAN, (0.0, nan)),
        (NAN, FINITE, NANS),
        (NAN, (inf,), (ZEROS, pi / 2)),
        (NAN, NAN, NANS),
    ],
    "odd",
)
COSH = expand(
    [
        ((0.0,), (0.0,), (1.0, 0.0)),
        ((0.0,), (inf,), (nan, ZEROS)),
        ((0.0,), NAN, (nan, ZEROS)),
        (NONZERO, (inf,), NANS),
        (NONZERO, NAN, NANS),
        ((inf,), (0.0,), (inf, 0.0)),
        ((inf,), NONZERO, cis(inf)),
        ((inf,), (inf,), (INFS, nan)),
        ((inf,), NAN, (inf, nan)),
        (NAN, ZEROS, (nan, ZEROS)),
        (NAN, NONZERO, NANS),
        (NAN, NAN, NANS),
    ],
    "even",
)
SINH = expand(
    [
        ((0.0,), (0.0,), (0.0, 0.0)),
        ((0.0,), (inf,), (ZEROS, nan)),
        ((0.0,), NAN, (ZEROS, nan)),
        (POSITIVE, (inf,), NANS),
        (POSITIVE, NAN, NANS),
        ((inf,), (0.0,), (inf, 0.0)),
        ((inf,), POSITIVE, cis(inf)),
        ((inf,), (inf,), (INFS, nan)),
        ((inf,), NAN, (INFS, nan)),
        (NAN, (0.0,), (nan, 0.0)),
        (NAN, NONZERO, NANS),
        (NAN, NAN, NANS),
    ],
    "odd",
)
TANH = expand(
    [
        ((0.0,), (0.0,), (0.0, 0.0)),
        (NONZERO, (inf,), NANS),
        ((0.0,), (inf,), (0.0, nan)),
        (NONZERO, NAN, NANS),
        ((0.0,), NAN, (0.0, nan)),
        ((inf,), POSITIVE, (1.0, 0.0)),
        ((inf,), (inf,), (1.0, ZEROS)),
        ((inf,), NAN, (1.0, ZEROS)),
        (NAN, (0.0,), (nan, 0.0)),
        (NAN, (*NONZERO, inf), NANS),
        (NAN, NAN, NANS),
    ],
    "odd",
)
EXP = expand(
    [
        (ZEROS, (0.0,), (1.0, 0.0)),
        (FINITE, (inf,), NANS),
        (FINITE, NAN, NANS),
        ((inf,), (0.0,), (inf, 0.0)),
        ((-inf,), FINITE, cis(0.0)),
        ((inf,), NONZERO, cis(inf)),
        ((-inf,), (inf,), (ZEROS, ZEROS)),
        ((inf,), (inf,), (INFS, nan)),
        ((-inf,), NAN, (ZEROS, ZEROS)),
        ((inf,), NAN, (INFS, nan)),
        (NAN, (0.0,), (nan, 0.0)),
        (NAN, (*NONZERO, inf), NANS),
        (NAN, NAN, NANS),
    ]
)
EXPM1 = expand(
    [
        (ZEROS, (0.0,), (0.0, 0.0)),
        (FINITE, (inf,), NANS),
        (FINITE, NAN, NANS),
        ((inf,), (0.0,), (inf, 0.0)),
        ((-inf,), FINITE, cis_minus_one(0.0)),
        ((inf,), NONZERO, cis_minus_one(inf)),
        ((-inf,), (inf,), (-1.0, ZEROS)),
        ((inf,), (inf,), (INFS, nan)),
        ((-inf,), NAN, (-1.0, ZEROS)),
        ((inf,), NAN, (INFS, nan)),
        (NAN, (0.0,), (nan, 0.0)),
        (NAN, (*NONZERO, inf), NANS),
        (NAN, NAN, NANS),
        # Overflow is no special case, but must not turn an exact zero into NaN.
        ((800.0,), (0.0,), (inf, 0.0)),
        ((800.0,), NONZERO, cis_minus_one(inf)),
    ]
)
LOG_OF_NONFINITE: Rows = [
    (FINITE, (inf,), (inf, pi / 2)),
    (FINITE, NAN, NANS),
    ((-inf,), POSITIVE, (inf, pi)),
    ((inf,), POSITIVE, (inf, 0.0)),
    ((-inf,), (inf,), (inf, 3 * pi / 4)),
    ((inf,), (inf,), (inf, pi / 4)),
    (INFS, NAN, (inf, nan)),
    (NAN, FINITE, NANS),
    (NAN, (inf,), (inf, nan)),
    (NAN, NAN, NANS),
]
LOG = expand([((-0.0,), (0.0,), (-inf, pi)), ((0.0,), (0.0,), (-inf, 0.0)), *LOG_OF_NONFINITE])
LOG1P = expand([((-1.0,), (0.0,), (-inf, 0.0)), *LOG_OF_NONFINITE])
SQRT = expand(
    [
        (ZEROS, (0.0,), (0.0, 0.0)),
        ((*FINITE, *INFS, nan), (inf,), (inf, inf)),
        (FINITE, NAN, NANS),
        ((-inf,), POSITIVE, (0.0, inf)),
        ((inf,), POSITIVE, (inf, 0.0)),
        ((-inf,), NAN, (nan, INFS)),
        ((inf,), NAN, (inf, nan)),
        (NAN, FINITE, NANS),
        (NAN, NAN, NANS),
    ]
)
# Every zero has the sign 0 + 0j, so that zeros have no mirror images here.
SIGN: list[Case] = [((a, b), (0.0, 0.0)) for a, b in product(ZEROS, repeat=2)]
SIGN += expand([(NAN, (*FINITE, inf, nan), NANS), ((*FINITE, inf), NAN, NANS)], "odd")

COMPLEX: dict[str, list[Case]] = {
    "acos": ACOS,
    "acosh": ACOSH,
    "asin": turned(ASINH, back=True),
    "asinh": ASINH,
    "atan": turned(ATANH, back=True),
    "atanh": ATANH,
    "cos": turned(COSH, back=False),
    "cosh": COSH,
    "exp": EXP,
    "expm1": EXPM1,
    "log": LOG,
    "log1p": LOG1P,
    "log2": [(z, (scaled(u, 1 / log(2)), scaled(v, 1 / log(2)))) for z, (u, v) in LOG],
    "log10": [(z, (scaled(u, 1 / log(10)), scaled(v, 1 / log(10)))) for z, (u, v) in LOG],
    "sign": SIGN,
    "sin": turned(SINH, back=True),
    "sinh": SINH,
    "sqrt": SQRT,
    "tan": turned(TANH, back=True),
    "tanh": TANH,
}

ANY = (*FINITE, *INFS, nan)
TO_INTEGER = [((*INFS, nan, *ZEROS, 1.0, -1.0, 3.0, 2.0**23, -(2.0**24)), lambda a: a)]

UNARY_ROWS: dict[str, list[tuple[tuple[float, ...], object]]] = {
    "abs": [(NAN, nan), (ZEROS, 0.0), (INFS, inf), (NEGATIVE, lambda a: -a)],
    "acos": [((nan, 1.001, -1.001, *INFS), nan), ((1.0,), 0.0)],
    "acosh": [((nan, 0.999, 0.0, -1.0, -inf), nan), ((1.0,), 0.0), ((inf,), inf)],
    "asin": [((nan, 1.001, -1.001, *INFS), nan), (ZEROS, lambda a: a)],
    "asinh": [((nan, *ZEROS, *INFS), lambda a: a)],
    "atan": [((nan, *ZEROS), lambda a: a), (INFS, lambda a: copysign(pi / 2, a))],
    "atanh": [
        ((nan, 1.001, -1.001, *INFS), nan),
        (ZEROS, lambda a: a),
        ((1.0,), inf),
        ((-1.0,), -inf),
    ],
    "ceil": [*TO_INTEGER, ((0.5,), 1.0), ((-0.5,), -0.0), ((-1.5,), -1.0)],
    "cos": [((nan, *INFS), nan), (ZEROS, 1.0)],
    "cosh": [(NAN, nan), (ZEROS, 1.0), (INFS, inf)],
    "exp": [(NAN, nan), (ZEROS, 1.0), ((inf,), inf), ((-inf,), 0.0)],
    "expm1": [((nan, *ZEROS, inf), lambda a: a), ((-inf,), -1.0)],
    "floor": [*TO_INTEGER, ((0.5,), 0.0), ((-0.5,), -1.0), ((1.5,), 1.0)],
    "log": [((nan, *NEGATIVE, -inf), nan), (ZEROS, -inf), ((1.0,), 0.0), ((inf,), inf)],
    "log10": [((nan, *NEGATIVE, -inf), nan), (ZEROS, -inf), ((1.0,), 0.0), ((inf,), inf)],
    "log1p": [((nan, -1.001, -2.0, -inf), nan), ((-1.0,), -inf), ((*ZEROS, inf), lambda a: a)],
    "log2": [((nan, *NEGATIVE, -inf), nan), (ZEROS, -inf), ((1.0,), 0.0), ((inf,), inf)],
    "negative": [(ANY, lambda a: -a)],
    "positive": [(ANY, lambda a: a)],
    "reciprocal": [(NAN, nan), ((0.0,), inf), ((-0.0,), -inf), (INFS, lambda a: copysign(0.0, a))],
    "round": [*TO_INTEGER, ((0.5,), 0.0), ((-0.5,), -0.0), ((1.5, 2.5), 2.0), ((-2.5,), -2.0)],
    "sign": [(NAN, nan), (ZEROS, 0.0), ((*POSITIVE, inf), 1.0), ((*NEGATIVE, -inf), -1.0)],
    "sin": [((nan, *INFS), nan), (ZEROS, lambda a: a)],
    "sinh": [((nan, *ZEROS, *INFS), lambda a: a)],
    "sqrt": [((nan, *NEGATIVE, -inf), nan), ((*ZEROS, inf), lambda a: a)],
    "square": [(NAN, nan), (ZEROS, 0.0), (INFS, inf)],
    "tan": [((nan, *INFS), nan), (ZEROS, lambda a: a)],
    "tanh": [((nan, *ZEROS), lambda a: a), (INFS, lambda a: copysign(1.0, a))],
    "trunc": [*TO_INTEGER, ((0.5,), 0.0), ((-0.5,), -0.0), ((1.5,), 1.0), ((-1.5,), -1.0)],
}


def copy_of(which: int) -> Callable[..., float]:
    return lambda *arguments: float(arguments[which])


def with_sign_of_quotient(size: float) -> Callable[[float, float], float]:
    return lambda a, b: copysign(size, a) * copysign(1.0, b)


def angle(size: float) -> Callable[[float, float], float]:
    return lambda a, b: copysign(size, a)


UP, DOWN = (*POSITIVE, inf), (*NEGATIVE, -inf)
ODD, NOT_ODD = (1.0, 3.0, 5.0), (2.0, 4.0, 0.5, 2.5, inf)

BinaryRow = tuple[tuple[float, ...], tuple[float, ...], object]

ADD: list[BinaryRow] = [
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
DIVIDE: list[BinaryRow] = [
    (NAN, ANY, nan),
    (ANY, NAN, nan),
    (INFS, INFS, nan),
    (ZEROS, ZEROS, nan),
    (ZEROS, (*NONZERO, *INFS), with_sign_of_quotient(0.0)),
    (NONZERO, ZEROS, with_sign_of_quotient(inf)),
    (INFS, FINITE, with_sign_of_quotient(inf)),
    (NONZERO, INFS, with_sign_of_quotient(0.0)),
]

BINARY_ROWS: dict[str, list[BinaryRow]] = {
    "add": ADD,
    "atan2": [
        (NAN, ANY, nan),
        (ANY, NAN, nan),
        (NONZERO, ZEROS, angle(pi / 2)),
        (ZEROS, (*UP, 0.0), copy_of(0)),
        (ZEROS, (*DOWN, -0.0), angle(pi)),
        (NONZERO, (inf,), angle(0.0)),
        (NONZERO, (-inf,), angle(pi)),
        (INFS, FINITE, angle(pi / 2)),
        (INFS, (inf,), angle(pi / 4)),
        (INFS, (-inf,), angle(3 * pi / 4)),
    ],
    "copysign": [((*FINITE, *INFS), (*FINITE, *INFS, nan, NNAN), lambda a, b: copysign(a, b))],
    "divide": DIVIDE,
    "floor_divide": [
        *DIVIDE,
        ((1.0,), (3.0,), 0.0),
        ((-1.0,), (-3.0,), 0.0),
        ((1.0, -1.0), (3.0, -3.0), lambda a, b: 0.0 if a * b > 0 else -1.0),
    ],
    "hypot": [
        (INFS, ANY, inf),
        (ANY, INFS, inf),
        (ZEROS, ANY, lambda a, b: abs(b)),
        (ANY, ZEROS, lambda a, b: abs(a)),
        ((*FINITE, nan), NAN, nan),
        (NAN, (*FINITE, nan), nan),
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


def evaluated(result: object, *arguments: float) -> Component:
    return result(*arguments) if callable(result) else result


def unary_cases(rows: Iterable[tuple[tuple[float, ...], object]]) -> list[Case]:
    return [((a,), (evaluated(result, a),)) for values, result in rows for a in values]


def binary_cases(rows: Iterable[BinaryRow]) -> list[Case]:
    """Cases from rows (first operands, second operands, result); the first row that fits holds."""
    cases: dict[str, Case] = {}
    for first, second, result in rows:
        for pair in product(first, second):
            cases.setdefault(repr(pair), (pair, (evaluated(result, *pair),)))
    return list(cases.values())


REAL: Table = {name: unary_cases(rows) for name, rows in UNARY_ROWS.items()}
REAL_BINARY: Table = {name: binary_cases(rows) for name, rows in BINARY_ROWS.items()}
REAL_BINARY["subtract"] = [((a, -b), result) for (a, b), result in REAL_BINARY["add"]]

# Where the special value stands: length of the memory, step of the view, position in the view.
LAYOUTS = {
    "scalar": None,
    "middle": (10_000, 1, 5_000),
    "last": (1_003, 1, 1_002),
    "stepped": (3_003, -3, 500),
}


def is_right(found: float, expected: Component, tolerance: float) -> bool:
    if isinstance(expected, tuple):
        return any(is_right(found, each, tolerance) for each in expected)
    if isnan(expected):
        return isnan(found)
    if expected == 0.0 or expected in INFS:
        return found == expected and copysign(1.0, found) == copysign(1.0, expected)
    return abs(found - expected) <= tolerance * abs(expected)


def check(
    name: str,
    dtype: str,
    layout: str,
    cases: list[Case],
    element: Callable[[tuple[float, ...]], list[object]],
    fill: complex,
) -> None:
    """Run `cases`, whose arguments `element` turns into operands, and assert that all hold."""
    function = getattr(xp, name)
    tolerance = 3e-7 if dtype in ("float32", "complex64") else 1e-15
    failures = []
    operands: list[np.ndarray] = []
    ordinary = np.empty(0)
    position: tuple[int, ...] = ()
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


@for_each(("dtype", "layout"), product(("complex64", "complex128"), LAYOUTS))
@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name, dtype, layout):
    scalar = np.dtype(dtype).type
    check(name, dtype, layout, COMPLEX[name], lambda z: [scalar(complex(*z))], 0.5 + 0.25j)


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


GRID = np.array(
    [complex(*z) for z in product((*FINITE, 3.0, 1e30, -1e30, 1e-30, *INFS, nan), repeat=2)]
)


def same_parts(x1: np.ndarray, x2: np.ndarray) -> bool:
    """Whether two arrays agree to the sign of zeros, NaN agreeing with NaN."""
    parts1, parts2 = [x.view(x.real.dtype) for x in (x1, x2)]
    nans = np.isnan(parts1)
    return np.array_equal(nans, np.isnan(parts2)) and np.array_equal(
        parts1[~nans].view(np.uint8), parts2[~nans].view(np.uint8)
    )


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_reciprocal_is_one_divided_by_x(dtype):
    x = xp.asarray(GRID.astype(dtype))
    assert same_parts(np.asarray(xp.reciprocal(x)), np.asarray(xp.divide(1.0, x)))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_square_is_x_times_x(dtype):
    x = xp.asarray(GRID.astype(dtype))
    assert same_parts(np.asarray(xp.square(x)), np.asarray(xp.multiply(x, x)))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_abs_is_the_hypotenuse(dtype):
    z = GRID.astype(dtype)
    expected = np.asarray(
        xp.hypot(xp.asarray(np.ascontiguousarray(z.real)), xp.asarray(z.imag.copy()))
    )
    np.testing.assert_allclose(np.asarray(xp.abs(xp.asarray(z))), expected, rtol=3e-7)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["negative", "positive", "round"])
def test_complex_parts_are_independent(name, dtype):
    z = GRID.astype(dtype)
    function = getattr(xp, name)
    found = np.asarray(function(xp.asarray(z)))
    for part in ("real", "imag"):
        expected = np.asarray(function(xp.asarray(getattr(z, part).copy())))
        assert same_parts(getattr(found, part).copy(), expected)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_addition_adds_parts(dtype):
    z = GRID.astype(dtype)
    x1, x2 = xp.asarray(z[:, None]), xp.asarray(z)
    for name in ("add", "subtract"):
        found = np.asarray(getattr(xp, name)(x1, x2))
        for part in ("real", "imag"):
            pieces = [xp.asarray(getattr(np.asarray(x), part).copy()) for x in (x1, x2)]
            expected = np.asarray(getattr(xp, name)(*pieces))
            assert same_parts(getattr(found, part).copy(), expected)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_predicates(dtype):
    z = GRID.astype(dtype)
    x = xp.asarray(z)
    a, b = z.real, z.imag
    assert np.array_equal(xp.isnan(x), np.isnan(a) | np.isnan(b))
    assert np.array_equal(xp.isinf(x), np.isinf(a) | np.isinf(b))
    assert np.array_equal(xp.isfinite(x), np.isfinite(a) & np.isfinite(b))


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


@for_each("name", [*COMPLEX, "reciprocal"])
def test_complex_without_elements(name):
    x = xp.asarray(np.empty((0, 3), "complex64"))
    assert getattr(xp, name)(x).shape == (0, 3)


@pytest.mark.parametrize("name", ["floor_divide", "pow"])
def test_real_without_elements(name):
    x = xp.asarray(np.empty((0, 3), "float32"))
    for other in (x, 0.5, inf):
        assert getattr(xp, name)(x, other).shape == (0, 3)


@pytest.mark.parametrize("z", [complex(-0.0, 0.0), complex(0.0, -0.0), complex(-0.0, -0.0)])
def test_complex_scalars_keep_the_signs_of_zeros(z):
    for x in (xp.full((3,), z), xp.asarray(z)):
        found = np.asarray(x)
        assert (np.signbit(found.real) == np.signbit(z.real)).all()
        assert (np.signbit(found.imag) == np.signbit(z.imag)).all()
