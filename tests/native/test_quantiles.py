"""Medians, quantiles and percentiles in C are NumPy's, with its exceptions and warnings."""

import numpy
import pytest

import array_api_nx as xp
import array_api_nx.numpy as np
from tests.support.implementations import needs_native
from tests.support.outcomes import alike

pytestmark = needs_native

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
SHAPES = [(1,), (2,), (7,), (300,), (11, 9), (3, 4, 5)]
LONG = [(5000,), (70_000,), (2, 5000)]
NAMES = ["median", "quantile", "percentile", "nanmedian", "nanquantile", "nanpercentile"]


def _numbers(dtype, shape, kind="plain"):
    rng = numpy.random.default_rng(0)
    if dtype in INTEGERS:
        limits = numpy.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, True)
    x = rng.normal(size=shape).round(2).astype(dtype)
    if kind == "nan":
        x[rng.random(shape) < 0.1] = numpy.nan
    if kind == "infinite":
        x[rng.random(shape) < 0.3] = numpy.inf
        x[rng.random(shape) < 0.1] = numpy.nan
    return x


def _shares(name):
    """Arguments after the array."""
    if name.endswith("median"):
        return [()]
    whole = 1 if name.endswith("quantile") else 100
    several = numpy.asarray([0.0, 0.1, 0.77, 1.0]) * whole
    numbers = [0.9 * whole, numpy.float64(0.3 * whole), whole]
    return [(q,) for q in [*numbers, several.tolist(), (0.25 * whole, 0.75 * whole), several]]


def _agree(name, x, args, **named):
    both = alike(name, x, *args, **named)
    if both is not None:
        found, expected = both
        long = [axis for axis, size in enumerate(expected.shape) if size > 1]
        assert [found.strides[k] for k in long] == [expected.strides[k] for k in long]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64", "float16", "bool"])
def test_they_are_numpys(name, dtype):
    for shape in SHAPES:
        x = _numbers("float64", shape) > 0 if dtype == "bool" else _numbers(dtype, shape)
        for args in _shares(name):
            for axis in (None, *range(-1, x.ndim)):
                _agree(name, x, args, axis=axis)
            _agree(name, x, args, axis=0, keepdims=True)
    whole = _numbers("float64", (4, 6, 5)) > 0 if dtype == "bool" else _numbers(dtype, (4, 6, 5))
    for x in (whole.T, whole[::-1], whole[:, ::2], whole.transpose(1, 0, 2)):
        for args in _shares(name):
            for axis in (None, 1, (0, 2), (2, 1)):
                _agree(name, x, args, axis=axis, keepdims=axis == 1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32", "float64"])
def test_long_rows(name, dtype):
    for shape in LONG:
        for args in _shares(name):
            _agree(name, _numbers(dtype, shape), args, axis=-1)
            _agree(name, _numbers(dtype, shape, "nan"), args)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["nan", "infinite"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_elements_that_are_not_finite(name, kind, dtype):
    for shape in SHAPES:
        x = _numbers(dtype, shape, kind)
        for args in _shares(name):
            for axis in (None, 0, -1):
                _agree(name, x, args, axis=axis)
    nothing = numpy.full((3, 4), numpy.nan, dtype)
    nothing[0] = 1
    for axis in (None, 0, 1):
        _agree(name, nothing, _shares(name)[0], axis=axis)
        _agree(name, nothing[1:], _shares(name)[0], axis=axis)


@pytest.mark.parametrize("name", NAMES)
def test_what_numpy_refuses(name):
    x = numpy.arange(6.0).reshape(2, 3)
    (q,) = _shares(name)[0] or (None,)
    args = [] if q is None else [q]
    for named in ({"axis": 2}, {"axis": "a"}, {"keepdims": "yes"}, {"axis": (0, 0)}):
        _agree(name, x, args, **named)
    _agree(name, x * 1j, args)
    _agree(name, x[:0], args)
    _agree(name, x[:, :0], args, axis=0)
    for bad in (-0.1, 101.0, numpy.nan, "a", [0.5, 500.0], [], [[0.1, 0.2]]):
        if args:
            _agree(name, x, [bad])
    if args:
        for method in ("linear", "lower", "hazen", "inverted_cdf", "what"):
            _agree(name, x, args, method=method)


def test_numbers_that_overflow():
    x = numpy.asarray([1e308, 1.5e308, -1.7e308, 1.7e308])
    for name in NAMES:
        for args in _shares(name):
            _agree(name, x, args)
            _agree(name, x.astype("float32"), args)


@pytest.mark.parametrize("size", [100, 5000, 200_000])
def test_operands_stay_as_they_are(size):
    x = _numbers("float64", size)
    ours = np.asarray(x.copy())
    waiting = ours + 1
    expected = numpy.median(x + 1)
    assert np.median(waiting) == expected
    assert np.percentile(ours[::-1], 40) == numpy.percentile(x, 40)
    assert numpy.asarray(ours).tobytes() == x.tobytes()
    assert numpy.asarray(waiting).tobytes() == (x + 1).tobytes()


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_share_rows(threads):
    x = _numbers("float64", (2000, 31), "nan")
    with xp.config_context(num_threads=threads):
        found = xp.extra.median(xp.asarray(x), axis=1)
        other = xp.extra.quantile(xp.asarray(x), [0.2, 0.9], axis=0)
    numpy.testing.assert_array_equal(numpy.asarray(found), numpy.median(x, axis=1))
    numpy.testing.assert_array_equal(numpy.asarray(other), numpy.quantile(x, [0.2, 0.9], axis=0))
