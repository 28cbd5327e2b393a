"""What NumPy answers otherwise than the standard: the tables name functions, and are complete."""

import numpy
import pytest

import array_api_nx as xp
import array_api_nx.numpy as np
from array_api_nx.core import dtypes as d
from array_api_nx.numpy.differences import KEEPS_ORDER, PRIMITIVES, REFUSED, has_special_elements

MANY = 20_000


def test_the_tables_name_functions_of_numpy():
    for name in (*REFUSED, *KEEPS_ORDER):
        found = numpy
        for part in name.split("."):
            found = getattr(found, part)
        assert callable(found), name


@pytest.mark.parametrize("n", [3, MANY])
def test_ufuncs_give_numpys_dtypes_for_every_dtype(n):
    for numpys in PRIMITIVES:
        for dtype in d.NUMPYS:
            operands = [numpy.ones(n, dtype)] * numpys.nin
            with numpy.errstate(all="ignore"):
                try:
                    expected = numpys(*operands).dtype
                except TypeError:
                    continue
                found = getattr(np, numpys.__name__)(*[np.asarray(x) for x in operands])
            assert found.dtype == expected, (numpys, dtype)


@pytest.mark.parametrize("n", [3, MANY])
def test_special_elements_are_numpys(n):
    x = numpy.asarray([numpy.inf, -numpy.inf, 0.0, -0.0, 2.5] * n)
    y = np.asarray(x)
    with numpy.errstate(all="ignore"):
        for expected, found in (
            (x // 2, y // 2),
            (numpy.floor_divide(x, -2.0), np.floor_divide(y, -2.0)),
            (x**0.5, y**0.5),
            (x**-1, y**-1),
            (numpy.power(x, 0.5), np.power(y, 0.5)),
        ):
            numpy.testing.assert_array_equal(numpy.asarray(found), expected)


@pytest.mark.parametrize("n", [1, MANY // 49])
def test_complex_elements_that_the_standard_corrects_are_numpys(n):
    parts = numpy.asarray([numpy.inf, -numpy.inf, numpy.nan, 0.0, -0.0, 1e-9, 2.5])
    x = numpy.tile((parts[:, None] + 1j * parts).reshape(-1), n)
    corrected = [numpys for numpys, op in PRIMITIVES.items() if "c" in op.corrected]
    assert len(corrected) > 4
    for numpys in corrected:
        with numpy.errstate(all="ignore"):
            expected, found = numpys(x), getattr(np, numpys.__name__)(np.asarray(x))
        assert numpy.asarray(found).tobytes() == expected.tobytes(), numpys


def test_which_elements_are_special():
    x = xp.ones(3)
    assert has_special_elements("power", (x, 0.5))
    assert not has_special_elements("power", (0.5, x))
    assert has_special_elements("floor_divide", (1, x))
    assert not has_special_elements("floor_divide", (xp.ones(3, dtype=xp.int64), 2))
