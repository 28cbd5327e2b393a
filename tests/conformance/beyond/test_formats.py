import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from array_api_nx_conformance.beyond.accuracy.formats import (
    DOUBLE,
    SINGLE,
    error,
    is_nearest,
    is_subnormal,
    ulp,
)

NORMAL = st.floats(2.0**-1000, 2.0**1000)


@given(NORMAL)
def test_an_ulp_is_numpys_spacing(x):
    assert float(ulp(Fraction(x), DOUBLE)) == np.spacing(x)


@given(NORMAL, NORMAL)
def test_ieee_arithmetic_is_nearest_and_its_neighbours_are_not(x, y):
    for exact, computed in [
        (Fraction(x) + Fraction(y), x + y),
        (Fraction(x) - Fraction(y), x - y),
        (Fraction(x) / Fraction(y), x / y),
    ]:
        if abs(exact) < 2.0**-1000 or abs(exact) > 2.0**1000:
            continue
        assert is_nearest(computed, exact, DOUBLE)
        assert error(computed, exact, DOUBLE) <= 0.5
        assert not is_nearest(math.nextafter(computed, math.inf), exact, DOUBLE)
        assert not is_nearest(math.nextafter(computed, -math.inf), exact, DOUBLE)


def test_ties_go_to_even():
    tie = 1 + Fraction(1, 2**53)
    assert is_nearest(1.0, tie, DOUBLE)
    assert not is_nearest(1 + 2.0**-52, tie, DOUBLE)
    assert error(1.0, tie, DOUBLE) == error(1 + 2.0**-52, tie, DOUBLE) == 0.5


def test_a_hair_beyond_a_tie_is_none():
    exact = 1 + Fraction(1, 2**53) + Fraction(1, 2**300)
    assert not is_nearest(1.0, exact, DOUBLE)
    assert is_nearest(1 + 2.0**-52, exact, DOUBLE)


@pytest.mark.parametrize(
    ("computed", "exact", "expected"),
    [
        (math.inf, Fraction(2) ** 1024, True),
        (math.inf, Fraction(2) ** 3000, True),
        (math.inf, Fraction(1.7976931348623157e308), False),
        (1.7976931348623157e308, Fraction(2) ** 3000, False),
        (-math.inf, -(Fraction(2) ** 1024), True),
        (math.inf, -(Fraction(2) ** 1024), False),
        (math.nan, Fraction(1), False),
        (0.0, Fraction(0), True),
        (1e-300, Fraction(0), False),
    ],
)
def test_the_ends(computed, exact, expected):
    assert is_nearest(computed, exact, DOUBLE) is expected


def test_errors_are_counted_in_the_format():
    assert error(1 + 2.0**-20, Fraction(1), SINGLE) == 8
    assert error(1 + 2.0**-20, Fraction(1), DOUBLE) == 2**32
    assert error(math.nan, Fraction(1), SINGLE) == math.inf
    assert is_subnormal(Fraction(1e-40), SINGLE)
    assert not is_subnormal(Fraction(1e-40), DOUBLE)
    assert not is_subnormal(Fraction(0), SINGLE)
