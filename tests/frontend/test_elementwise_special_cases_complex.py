"""The special cases of complex numbers, as tables; see `test_elementwise_special_cases`."""

from itertools import product
from math import cos, inf, log, nan, pi, sin

import numpy as np
import pytest

import array_api_nx as xp
from tests.frontend.test_elementwise_special_cases import (
    FINITE,
    INFS,
    LAYOUTS,
    NAN,
    NONZERO,
    POSITIVE,
    ZEROS,
    check,
)
from tests.support.tables import for_each


def negated(component):
    return tuple([-c for c in component]) if isinstance(component, tuple) else -component


def scaled(component, factor):
    if isinstance(component, tuple):
        return tuple([c * factor for c in component])
    return component * factor


Rows = list[tuple[tuple[float, ...], tuple[float, ...], object]]


def expand(rows, symmetry="conj"):
    """Cases from rows (real parts, imaginary parts, result), and their mirror images.

    All functions here commute with conj; `symmetry` "odd" or "even" adds the cases of -z.
    """
    cases = {}
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


def turned(cases, back):
    """The cases of ``f(z * 1j)``, or of ``-1j * f(z * 1j)`` if `back`, from those of f."""
    # z * 1j is (-b, a), so the argument (p, q) of f comes from z = (q, -p).
    return [((q, -p), (v, negated(u)) if back else (u, v)) for (p, q), (u, v) in cases]


def cis(size):
    return lambda a, b: (size * cos(b), size * sin(b))


def cis_minus_one(size):
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
LOG_OF_NONFINITE = [
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
SIGN = [((a, b), (0.0, 0.0)) for a, b in product(ZEROS, repeat=2)]
SIGN += expand([(NAN, (*FINITE, inf, nan), NANS), ((*FINITE, inf), NAN, NANS)], "odd")

COMPLEX = {
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


@for_each(("dtype", "layout"), product(("complex64", "complex128"), LAYOUTS))
@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name, dtype, layout):
    scalar = np.dtype(dtype).type
    check(name, dtype, layout, COMPLEX[name], lambda z: [scalar(complex(*z))], 0.5 + 0.25j)


GRID = np.array(
    [complex(*z) for z in product((*FINITE, 3.0, 1e30, -1e30, 1e-30, *INFS, nan), repeat=2)]
)


def same_parts(x1, x2):
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


@for_each("name", [*COMPLEX, "reciprocal"])
def test_complex_without_elements(name):
    x = xp.asarray(np.empty((0, 3), "complex64"))
    assert getattr(xp, name)(x).shape == (0, 3)


@pytest.mark.parametrize("z", [complex(-0.0, 0.0), complex(0.0, -0.0), complex(-0.0, -0.0)])
def test_complex_scalars_keep_the_signs_of_zeros(z):
    for x in (xp.full((3,), z), xp.asarray(z)):
        found = np.asarray(x)
        assert (np.signbit(found.real) == np.signbit(z.real)).all()
        assert (np.signbit(found.imag) == np.signbit(z.imag)).all()
