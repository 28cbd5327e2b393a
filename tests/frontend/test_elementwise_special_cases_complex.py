"""The special cases of complex numbers, as tables; see `test_elementwise_special_cases`."""

import cmath
from itertools import product
from math import cos, inf, isfinite, log, nan, pi, sin

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


def added(component, term):
    if isinstance(component, tuple):
        return tuple([c + term for c in component])
    return component + term


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


def by_cmath(name, rows=(), symmetry="conj"):
    """Cases of `rows`, and all others by Python's function, which is C's in Annex G.

    The standard leaves some signs open that C does not. Python raises an error where C sets a flag.
    """
    cases = {repr(case[0]): case for case in expand(rows, symmetry)}
    for z in product((*FINITE, *INFS, nan), repeat=2):
        is_ordinary = any(z) and isfinite(sum(z))
        if repr(z) not in cases and not is_ordinary:
            value = getattr(cmath, name)(complex(*z))
            cases[repr(z)] = z, (value.real, value.imag)
    return list(cases.values())


def cis(size):
    return lambda a, b: (size * cos(b), size * sin(b))


NANS = (nan, nan)

ASINH = by_cmath("asinh", [(NAN, (inf,), (INFS, nan))], "odd")
ATANH = by_cmath("atanh", [((1.0,), (0.0,), (inf, 0.0)), (NAN, (inf,), (ZEROS, pi / 2))], "odd")
COSH = by_cmath(
    "cosh",
    [
        ((0.0,), (inf, nan), (nan, ZEROS)),
        (NONZERO, (inf,), NANS),
        ((inf,), (inf,), (INFS, nan)),
        (NAN, ZEROS, (nan, ZEROS)),
    ],
    "even",
)
SINH = by_cmath(
    "sinh",
    [
        ((0.0,), (inf, nan), (ZEROS, nan)),
        (POSITIVE, (inf,), NANS),
        ((inf,), (inf, nan), (INFS, nan)),
    ],
    "odd",
)
TANH = by_cmath(
    "tanh",
    [
        (NONZERO, (inf,), NANS),
        ((0.0,), (inf, nan), (0.0, nan)),
        ((inf,), POSITIVE, (1.0, 0.0)),
        ((inf,), (inf, nan), (1.0, ZEROS)),
    ],
    "odd",
)
EXP = by_cmath(
    "exp",
    [
        (FINITE, (inf,), NANS),
        ((-inf,), (inf, nan), (ZEROS, ZEROS)),
        ((inf,), (inf, nan), (INFS, nan)),
    ],
)
# Overflow is no special case, but must not turn an exact zero into NaN.
OVERFLOW = expand([((800.0,), (0.0,), (inf, 0.0)), ((800.0,), NONZERO, cis(inf))])
LOG = by_cmath("log", [((-0.0,), (0.0,), (-inf, pi)), ((0.0,), (0.0,), (-inf, 0.0))])
LOG1P = [case for case in LOG if not isfinite(sum(case[0]))]
LOG1P += expand([((-1.0,), (0.0,), (-inf, 0.0))])
# Every zero has the sign 0 + 0j, so that zeros have no mirror images here.
SIGN = [((a, b), (0.0, 0.0)) for a, b in product(ZEROS, repeat=2)]
SIGN += expand([(NAN, (*FINITE, inf, nan), NANS), ((*FINITE, inf), NAN, NANS)], "odd")

COMPLEX = {
    "acos": by_cmath("acos", [(INFS, NAN, (nan, INFS))]),
    "acosh": by_cmath("acosh", [(ZEROS, NAN, (nan, (pi / 2, -pi / 2)))]),
    "asin": turned(ASINH, back=True),
    "asinh": ASINH,
    "atan": turned(ATANH, back=True),
    "atanh": ATANH,
    "cos": turned(COSH, back=False),
    "cosh": COSH,
    "exp": EXP,
    "expm1": [(z, (added(u, -1.0), v)) for z, (u, v) in EXP + OVERFLOW],
    "log": LOG,
    "log1p": LOG1P,
    "log2": [(z, (scaled(u, 1 / log(2)), scaled(v, 1 / log(2)))) for z, (u, v) in LOG],
    "log10": [(z, (scaled(u, 1 / log(10)), scaled(v, 1 / log(10)))) for z, (u, v) in LOG],
    "sign": SIGN,
    "sin": turned(SINH, back=True),
    "sinh": SINH,
    "sqrt": by_cmath("sqrt", [((-inf,), NAN, (nan, INFS))]),
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
