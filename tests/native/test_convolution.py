"""Convolutions and correlations of vectors."""

import random

import numpy
import pytest

import array_api_nx as xp
import array_api_nx.numpy as np
from tests.support.implementations import needs_native
from tests.support.refusals import refused

pytestmark = needs_native

DTYPES = [
    *["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"],
    *["float32", "float64", "complex64", "complex128", "bool"],
]
SIZES = [1, 2, 3, 5, 8, 17, 40, 300, 2047, 2048, 2049, 5000]


def _numbers(choice, rng, dtype):
    size = choice.choice(SIZES)
    x = rng.integers(0 if dtype[0] in "ub" else -9, 10, size)
    return (x + 1j * rng.integers(-9, 10, size) if dtype[0] == "c" else x).astype(dtype)


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_numpys(dtype, name):
    choice, rng = random.Random(dtype), numpy.random.default_rng(0)
    for case in range(60):
        x = _numbers(choice, rng, dtype)
        y = _numbers(choice, rng, dtype if case % 3 else choice.choice(DTYPES))
        if x.dtype.kind == "f" and case % 4 == 0:
            x[choice.randrange(x.size)] = choice.choice([numpy.nan, numpy.inf])
            y = y.real
        step = choice.choice([1, 2, -1])
        x, y = x[::step], y[:: choice.choice([1, -2])]
        for mode in ("full", "same", "valid"):
            with numpy.errstate(all="ignore"):
                expected = getattr(numpy, name)(x, y, mode)
            found = getattr(np, name)(np.asarray(x), np.asarray(y), mode)
            assert found.dtype == expected.dtype
            # The numbers are whole, and their sums exact in every dtype.
            numpy.testing.assert_array_equal(numpy.asarray(found), expected, strict=True)


def test_the_bits_do_not_depend_on_the_number_of_threads():
    rng = numpy.random.default_rng(1)
    for size, taps in ((50_000, 30), (9000, 7000)):
        x, y = np.asarray(rng.normal(size=size)), np.asarray(rng.normal(size=taps))
        found = []
        for threads in (1, 2, 5):
            with xp.config_context(num_threads=threads):
                found.append(numpy.asarray(np.convolve(x, y)).tobytes())
        assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_what_numpy_refuses_is_refused(name):
    function, x = getattr(np, name), np.arange(3.0)
    refused(ValueError, "too deep", function, np.ones((2, 2)), x)
    refused(ValueError, "mode must be one of", function, x, x, "half")
    refused(ValueError, "empty", function, x, x[:0])
