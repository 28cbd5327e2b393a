"""Fourier transforms have numpy.fft's bits and warnings, whatever memory they lie in."""

from __future__ import annotations

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.engine.sliced_calls import FFT_POOLED_MIN

SHAPES = [(FFT_POOLED_MIN + 2,), (260, 65), (65, 260), (9, 9, 210)]
NORMS = ["backward", "ortho", "forward"]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("shape", SHAPES)
def test_transforms_of_one_axis_and_of_all(shape, dtype, norm):
    rng = np.random.default_rng(len(shape))
    z = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    for name in ("fft", "ifft", "rfft", "irfft", "fftn", "ifftn", "rfftn", "irfftn"):
        given = z.real.copy() if name.startswith("r") else z
        expected = getattr(np.fft, name)(given, norm=norm)
        result = np.asarray(getattr(xp.fft, name)(xp.asarray(given), norm=norm))
        assert result.dtype == expected.dtype
        assert result.shape == expected.shape
        if name == "rfftn":  # whose order of axes depends on NumPy's version
            np.testing.assert_allclose(result, expected, atol=1e-5 * abs(expected).max())
        else:
            assert result.tobytes() == expected.tobytes()


def test_sums_that_exceed_single_precision_are_warned_of():
    x = np.full(FFT_POOLED_MIN + 2, 3e38, np.float32)
    with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
        expected = np.fft.rfft(x)
    with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
        result = xp.fft.rfft(xp.asarray(x))
    np.testing.assert_array_equal(np.asarray(result), expected)
