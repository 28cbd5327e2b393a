"""nansum and its like of arrays with NaN and without are NumPy's."""

import numpy
import pytest

from tests.support.implementations import needs_native
from tests.support.outcomes import alike

pytestmark = needs_native

NAMES = [
    *["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nanargmax"],
    *["nanargmin", "nancumsum", "nancumprod"],
]
DTYPES = ["float64", "float32", "float16", "int32", "uint8", "bool", "complex128"]


def _agree(name, x, **named):
    both = alike(name, x, **named)
    if both is not None and both[0].dtype.kind == "f":
        signs = [numpy.signbit(numpy.asarray(each)) for each in both]
        numpy.testing.assert_array_equal(*signs)


def _numbers(dtype, shape):
    rng = numpy.random.default_rng(0)
    x = (rng.normal(size=shape) * 5).clip(0 if dtype == "uint8" else -20)
    return numpy.asarray(x).astype(dtype)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_without_nan_and_with_some(name, dtype):
    for shape in [(), (1,), (5,), (300,), (6, 7), (4, 1, 3)]:
        x = _numbers(dtype, shape)
        some = x.copy()
        if x.ndim and x.dtype.kind in "fc":
            some[..., 0] = numpy.nan
        infinite = x.copy()
        if x.dtype.kind in "fc":
            infinite[...] = numpy.inf
        for each in (
            x,
            some,
            infinite,
            x.T,
            x[::-1] if x.ndim else x,
            x[..., ::2] if x.ndim else x,
        ):
            for axis in (None, *range(-1, x.ndim)):
                _agree(name, each, axis=axis)
            if "cum" not in name:
                _agree(name, each, axis=None, keepdims=True)


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
def test_degrees_of_freedom(name):
    for shape in [(1,), (2,), (5,), (2, 3)]:
        for ddof in (0, 1, 2, 1.5, 7, -1):
            for dtype in ("float64", "int32"):
                if dtype == "float64" or ddof < min(shape):
                    _agree(name, _numbers(dtype, shape), ddof=ddof)
                    _agree(name, _numbers(dtype, shape), ddof=ddof, axis=0)


@pytest.mark.parametrize("name", ["nanmax", "nanmin"])
def test_zeros_of_both_signs(name):
    rng = numpy.random.default_rng(1)
    for size in (2, 3, 8, 33, 500):
        for dtype in ("float64", "float32"):
            x = numpy.where(rng.random(size) < 0.5, -0.0, 0.0).astype(dtype)
            _agree(name, x)
            _agree(name, numpy.stack([x, x[::-1]]), axis=0)


def test_nothing_and_what_numpy_refuses():
    for name in NAMES:
        _agree(name, numpy.zeros(0))
        _agree(name, numpy.zeros((0, 3)), axis=1)
        _agree(name, numpy.zeros(3), axis=1)
        _agree(name, numpy.full(3, numpy.nan))
