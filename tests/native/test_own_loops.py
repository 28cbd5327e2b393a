"""Limits of arrays by numbers, roots, degrees and magnitudes have the bits of NumPy's loops."""

from itertools import product

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from tests.support.implementations import needs_native

pytestmark = needs_native

SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 5e-324]


def arrays(dtype, size):
    rng = np.random.default_rng(size)
    return [
        rng.choice(SPECIAL, size).astype(dtype),
        rng.choice(SPECIAL[3:], size).astype(dtype),
        rng.standard_normal(size).astype(dtype),
    ]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 5, 600, 3000, 40_000])
def test_limits_are_numpys(dtype, size):
    for x in arrays(dtype, size):
        ours = xp.asarray(x, copy=True)
        with np.errstate(all="raise"):
            for number, name in product(SPECIAL, ("maximum", "minimum")):
                limit = np.dtype(dtype).type(number)
                theirs, function = getattr(np, name), getattr(xp, name)
                for given, mine in (((x, limit), (ours, number)), ((limit, x), (number, ours))):
                    assert np.asarray(function(*mine)).tobytes() == theirs(*given).tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 5, 600, 3000, 40_000])
def test_roots_are_numpys(dtype, size):
    for x in arrays(dtype, size):
        for part in (slice(None), slice(None, None, 2), slice(None, None, -1)):
            ours = xp.asarray(x, copy=True)[part]
            with np.errstate(invalid="ignore"):
                theirs = np.sqrt(x[part])
                assert np.asarray(xp.sqrt(ours)).tobytes() == theirs.tobytes()
                ours[...] = xp.sqrt(ours)
                assert np.asarray(ours).tobytes() == theirs.tobytes()


ANGLES = [5e-324, 1e-310, 1e-42, 1e300, 3e38, -1e308, np.nan, -np.nan, 0.0, -0.0, np.inf, 90.0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["deg2rad", "rad2deg", "degrees", "radians", "fabs"])
def test_products_and_magnitudes_are_numpys(name, dtype):
    function, theirs = getattr(face, name), getattr(np, name)
    rng = np.random.default_rng(3)
    with np.errstate(all="ignore"):
        bits = rng.integers(0, 2**63, 9000).view(dtype)[:9000]
        for size in (1, 5, 600, 9000):
            for x in (rng.choice(ANGLES, size).astype(dtype), bits[:size]):
                for part in (x, x[::2], x[::-1]):
                    found = np.asarray(function(face.array(part)))
                    assert found.tobytes() == theirs(part).tobytes()
                    assert (
                        np.asarray(function(face.array(part) + 0)).tobytes()
                        == theirs(part + 0).tobytes()
                    )


def test_roots_of_negative_numbers_are_warned_of_by_name():
    for size in (1, 5, 600, 40_000):
        with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt"):
            bool(xp.any(xp.sqrt(xp.full((size,), -1.0))))


@pytest.mark.parametrize("size", [1, 7, 33, 300, 1100])
def test_booleans_with_one_for_a_row_are_numpys(size):
    rng = np.random.default_rng(size)
    x = rng.random((size, size)) > 0.5
    odd = rng.integers(0, 3, size).astype("u1").view(bool)  # bytes that are true, but not 1
    for column in (x[:, :1], odd[:, None], odd[::-1, None]):
        for row in (x[0], odd, odd[::-1], x[:, 0], True, False):
            for name in ("multiply", "add", "logical_and", "logical_or", "maximum", "minimum"):
                function = getattr(np, name)
                for given in ((column, row), (row, column)):
                    mine = [face.asarray(each) for each in given]
                    found = np.asarray(getattr(face, name)(*mine))
                    expected = function(*given)
                    assert found.dtype == expected.dtype
                    assert np.array_equal(found.view("u1"), expected.view("u1"))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("size", [1, 5, 300, 3000, 40_000])
def test_powers_of_complex_numbers_are_numpys(dtype, size):
    rng = np.random.default_rng(size)
    parts = rng.standard_normal((size, 2))
    parts[rng.random(size) < 0.05] = 0
    rows = [parts.view(complex)[:, 0], rng.choice(SPECIAL, (size, 2)).view(complex)[:, 0]]
    for x, exponent in product(rows, (3, 4, 3.0, 7, 12, 99, 100, -2, 2.5, np.array([3]))):
        given = x.astype(dtype)
        for part in (slice(None), slice(None, None, 2), slice(None, None, -1)):
            with np.errstate(all="ignore"):
                theirs = given[part] ** exponent
                ours = np.asarray(face.asarray(given.copy())[part] ** exponent)
            theirs, ours = [
                np.ascontiguousarray(each).view(each.real.dtype) for each in (theirs, ours)
            ]
            np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs))
            assert np.nan_to_num(ours).tobytes() == np.nan_to_num(theirs).tobytes()


@pytest.mark.parametrize("namespace", [xp, face])
@pytest.mark.parametrize("size", [100, 5000])
def test_powers_of_complex_numbers_warn(namespace, size):
    x = namespace.asarray(np.full(size, 1e200 + 1e200j))
    with pytest.warns(RuntimeWarning, match="overflow encountered in power"):
        np.asarray(x**3)
