"""Transforms of long vectors, which are computed as those of the columns and rows of a matrix."""

import warnings

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.long_transforms import LONG_MIN, factors
from tests.support.tables import for_each

NORMS = ["backward", "ortho", "forward"]
SIZES = [LONG_MIN, 2 * LONG_MIN, 3 * 2**16, 401 * 337, 2 * 3**11 // 4, 405 * 405]
"""Even and odd numbers of rows and of columns; some are cut for complex numbers alone."""


def test_sizes_are_cut_in_two_that_are_close_enough():
    assert factors(2 * LONG_MIN) == (256, 512)
    assert factors(405 * 405) == (405, 405)
    assert factors(65_537) is None
    assert factors(3 * 65_537) is None


@for_each("norm", NORMS)
@for_each("n", [n for n in SIZES if factors(n)])
def test_values_are_right_to_rounding(n, norm):
    rng = np.random.default_rng(n)
    wide = rng.normal(size=n) + 1j * rng.normal(size=n)
    for name in ("fft", "ifft", "rfft"):
        z = wide.real.copy() if name == "rfft" else wide
        expected = getattr(np.fft, name)(z, norm=norm)
        single = np.float32 if name == "rfft" else np.complex64
        for given, epsilon in ((z, 2**-52), (z.astype(single), 2**-23)):
            result = np.asarray(getattr(xp.fft, name)(xp.asarray(given), norm=norm))
            assert result.dtype == np.result_type(given.dtype, np.complex64)
            error = np.linalg.norm(result - expected) / np.linalg.norm(expected)
            assert error < 6 * epsilon


def test_a_transform_and_its_inverse_give_the_vector():
    x = xp.asarray(np.random.default_rng(3).normal(size=300_000))
    for there, back in ((xp.fft.fft, xp.fft.ifft), (xp.fft.rfft, xp.fft.irfft)):
        np.testing.assert_allclose(np.asarray(back(there(x))), np.asarray(x), atol=1e-14)


@pytest.mark.parametrize("size", [16_386, 2 * LONG_MIN])  # the second is cut
def test_an_overflow_is_warned_of_once(size):
    x = np.full(size, 3e38, np.float32)
    with warnings.catch_warnings(record=True, action="always") as caught:
        result = np.asarray(xp.fft.rfft(xp.asarray(x)))
    texts = [str(warning.message) for warning in caught]
    assert "overflow encountered in rfft_n_even" in texts
    assert len(set(texts)) == len(texts)
    assert {warning.filename for warning in caught} == {__file__}
    assert not np.isfinite(result[0])
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="rfft_n_even"):
        xp.fft.rfft(xp.asarray(x))
