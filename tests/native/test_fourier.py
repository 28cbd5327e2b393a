"""Fourier transforms of few elements have the bits of NumPy's, and its errors and warnings."""

import warnings

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face

ONE_AXIS = ("fft", "ifft", "rfft", "irfft")
SEVERAL_AXES = ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")
SHAPES = ((16,), (7, 12), (5, 64), (3, 4, 5), (2, 1, 9))


def operand(name, shape, dtype):
    rng = np.random.default_rng(len(shape))
    x = rng.normal(size=shape) * 5
    return (x if "rfft" in name and "irfft" not in name else x + 1j * x[::-1]).astype(dtype)


def outcome(function, x, options):
    with warnings.catch_warnings(record=True, action="always") as caught:
        try:
            found = np.asarray(function(x, **options))
        except (ValueError, IndexError, TypeError) as error:
            return type(error)
    return (found.dtype, found.shape, found.tobytes(), sorted({str(w.message) for w in caught}))


def assert_numpys(name, x, **options):
    expected = outcome(getattr(np.fft, name), x, options)
    assert outcome(getattr(face.fft, name), face.array(x), options) == expected
    if hasattr(xp.fft, name) and options.get("norm", "") is not None:
        ours = outcome(getattr(xp.fft, name), xp.asarray(x, copy=True), options)
        assert ours == expected or isinstance(ours, type) == isinstance(expected, type) is True


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward", None, "other"])
@pytest.mark.parametrize("name", ONE_AXIS)
def test_one_axis(name, norm):
    for shape in SHAPES:
        x = operand(name, shape, float if name == "rfft" else complex)
        for axis in range(-len(shape), len(shape)):
            for n in (None, 1, 5, 8, 20):
                assert_numpys(name, x, n=n, axis=axis, norm=norm)
    assert_numpys(name, x, n=0, norm=norm)
    assert_numpys(name, x, axis=3, norm=norm)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("name", SEVERAL_AXES)
def test_several_axes(name, norm):
    real = name.startswith("rfft")
    for shape in SHAPES[1:]:
        x = operand(name, shape, float if real else complex)
        for axes in (None, (0,), (-1,), (0, 1), (1, 0), (0, 0), (4,), ()):
            if axes != ():  # of which the standard's and NumPy's results have other dtypes
                assert_numpys(name, x, axes=axes, norm=norm)
        assert_numpys(name, x, s=(2, 3), axes=(0, 1), norm=norm)


@pytest.mark.parametrize("name", ONE_AXIS + SEVERAL_AXES)
def test_layouts_and_dtypes(name):
    x = operand(name, (6, 10), float if "rfft" in name and "irfft" not in name else complex)
    for each in (x.T, x[::-1], x[:, ::2], x[1:, 1:-1]):
        assert_numpys(name, each)
    vector = x[0]
    if name in ONE_AXIS:
        for each in (vector[::-1], vector[::3], vector[:1]):
            assert_numpys(name, each)
    for dtype in ("int8", "uint16", "int64", "bool", "float64"):
        whole = (np.arange(60).reshape(6, 10) * 7 % 11).astype(dtype)
        with np.errstate(all="ignore"):
            expected = getattr(np.fft, name)(whole)
            found = np.asarray(getattr(face.fft, name)(face.array(whole)))
        assert (found.dtype, found.tobytes()) == (expected.dtype, expected.tobytes())


@pytest.mark.parametrize("name", ONE_AXIS + SEVERAL_AXES)
def test_infinite_elements(name):
    """NumPy warns of them, or not, as its loops have it."""
    x = operand(name, (4, 6), float if name.startswith("rfft") else complex)
    x[1, 2] = np.inf
    found, expected = [
        outcome(getattr(m, name), each, {}) for m, each in ((face.fft, face.array(x)), (np.fft, x))
    ]
    assert (found[0], found[1], found[3]) == (expected[0], expected[1], expected[3])


def test_results_are_new_arrays():
    x = face.array(np.arange(8) + 0j)
    y = face.fft.fft(x, axis=0)
    y[...] = 0
    assert np.asarray(x).tolist() == list(np.arange(8) + 0j)
    assert np.asarray(face.fft.ifft(face.fft.fft(x))).tolist() == pytest.approx(list(range(8)))
