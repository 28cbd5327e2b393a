"""Fourier transforms have numpy.fft's bits and warnings, whatever memory they lie in; but those of
real numbers and of single precision are computed in a shorter way, as scipy.fft does."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu.engine.sliced_calls import FFT_MIN
from array_api_nx.backends.cpu.long_transforms import LONG_MIN
from tests.support.tables import for_each

SHAPES = [(300,), (16_386,), (260, 65), (65, 260), (9, 9, 210)]
NORMS = ["backward", "ortho", "forward"]


@for_each("norm", NORMS)
@for_each("shape", SHAPES)
def test_double_precision_has_numpys_bits(shape, norm):
    rng = np.random.default_rng(len(shape))
    z = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    for name in ("fft", "ifft", "rfft", "irfft", "fftn", "ifftn", "rfftn", "irfftn"):
        given = z.real.copy() if name.startswith("r") else z
        expected = getattr(np.fft, name)(given, norm=norm)
        result = np.asarray(getattr(xp.fft, name)(xp.asarray(given), norm=norm))
        assert result.dtype == expected.dtype
        assert result.shape == expected.shape
        if name == "rfftn":  # whose order of axes depends on NumPy's version
            np.testing.assert_allclose(result, expected, atol=1e-13 * abs(expected).max())
        else:
            np.testing.assert_array_equal(result, expected)


@for_each("norm", NORMS)
@for_each("shape", SHAPES)
def test_single_precision_is_right_to_rounding(shape, norm):
    rng = np.random.default_rng(len(shape))
    z = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)
    for name in ("fft", "ifft", "rfft", "irfft", "fftn", "ifftn", "rfftn", "irfftn"):
        given = z.real.copy() if name.startswith("r") else z
        wide = given.astype(np.float64 if name.startswith("r") else np.complex128)
        expected = getattr(np.fft, name)(wide, norm=norm)
        for array in (given, np.asfortranarray(given)):
            result = np.asarray(getattr(xp.fft, name)(xp.asarray(array), norm=norm))
            assert result.dtype == (np.float32 if name.startswith("ir") else np.complex64)
            assert result.shape == expected.shape
            np.testing.assert_allclose(result, expected, 0, 1e-6 * abs(expected).max())


@for_each("norm", NORMS)
@pytest.mark.parametrize("name", ["fft", "ifft"])
@for_each("n", [63, 64, 65, 100, 101])
def test_real_numbers_are_transformed_as_complex_ones(n, name, norm):
    rng = np.random.default_rng(n)
    for dtype, tolerance in ((np.float64, 1e-14), (np.float32, 1e-6)):
        for shape, axis in (((n,), 0), ((3, n), 1), ((n, 5), 0), ((2, n, 3), 1)):
            x = rng.normal(size=shape).astype(dtype)
            expected = getattr(np.fft, name)(x.astype(np.complex128), axis=axis, norm=norm)
            for given in (x, np.asfortranarray(x), x[..., ::-1][..., ::-1]):
                ours = getattr(xp.fft, name)(xp.asarray(given), axis=axis, norm=norm)
                result = np.asarray(ours)
                assert result.dtype == np.result_type(dtype, np.complex64)
                np.testing.assert_allclose(result, expected, 0, tolerance * abs(expected).max())
            if n >= 64:
                # An element and the one as far from the other end are conjugates without rounding.
                back = np.take(result, -np.arange(n) % n, axis)
                np.testing.assert_array_equal(back, result.conj())


@for_each("norm", NORMS)
@pytest.mark.parametrize("name", ["fftn", "ifftn"])
@for_each("axes", [None, (-2, -1), (1, 0), (-1, 0)])
def test_half_of_a_transform_over_axes_is_mirrored(axes, name, norm):
    rng = np.random.default_rng(4)
    for shape in (
        (64, 64),
        (5, 65),
        (3, 70, 66),
        (128, 1, 77),
        (2, 3, 4, 64),
        (1, 100),
        (300, 210),
    ):
        for dtype, tolerance in ((np.float64, 1e-14), (np.float32, 1e-6)):
            x = rng.normal(size=shape).astype(dtype)
            expected = getattr(np.fft, name)(x.astype(np.float64), axes=axes, norm=norm)
            for given in (x, np.asfortranarray(x), x[::-1][::-1]):
                ours = getattr(xp.fft, name)(xp.asarray(given), axes=axes, norm=norm)
                result = np.asarray(ours)
                assert result.dtype == np.result_type(dtype, np.complex64)
                np.testing.assert_allclose(result, expected, 0, tolerance * abs(expected).max())


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "fftn"])
@for_each("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@for_each("shape", [(FFT_MIN // 50, 100), (2, 2 * LONG_MIN)])
def test_no_bit_depends_on_the_threads_the_layout_or_the_rows_beside(shape, dtype, name):
    """Long vectors are transformed as the columns and rows of a matrix."""
    x = np.random.default_rng(8).normal(size=shape).astype(dtype)
    if name.startswith("r"):
        x = x.real.copy()
    transform = getattr(xp.fft, name)
    with xp.config_context(num_threads=1):
        expected = np.asarray(transform(xp.asarray(x)))
    with xp.config_context(num_threads=3):
        np.testing.assert_array_equal(np.asarray(transform(xp.asarray(x))), expected)
    if name != "fftn":
        columns = np.asarray(transform(xp.asarray(x.T), axis=0))
        np.testing.assert_array_equal(columns.T, expected)
        backwards = x[:, ::-1].copy()[:, ::-1]
        np.testing.assert_array_equal(np.asarray(transform(xp.asarray(backwards))), expected)
        for row, wanted in zip(x[:3], expected, strict=False):
            np.testing.assert_array_equal(np.asarray(transform(xp.asarray(row))), wanted)


def test_empty_batches():
    for dtype in (np.float32, np.float64, np.complex64):
        assert xp.fft.fft(xp.asarray(np.empty((0, 100), dtype))).shape == (0, 100)
        assert xp.fft.ifft(xp.asarray(np.empty((100, 0), dtype)), axis=0).shape == (100, 0)
