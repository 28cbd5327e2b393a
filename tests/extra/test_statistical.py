"""Medians, quantiles and running extremes, against NumPy's."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.extra.order_statistics import METHODS
from tests.extra.everywhere import everywhere, layouts_of
from tests.support.refusals import refused
from tests.support.tables import for_each

SHAPES = ((7,), (8,), (1,), (), (4, 6), (3, 1, 5))


def values(dtype, shape, seed=0, nan=0.05):
    """Numbers with repetitions, some of them NaN if the dtype has it."""
    rng = np.random.default_rng(seed)
    numbers = np.asarray(rng.integers(0, 100, shape)).astype(dtype)
    if numbers.dtype.kind == "f":
        numbers = np.where(rng.random(shape) < nan, numbers.dtype.type(np.nan), numbers / 3)
    return numbers


def axes_of(shape):
    return [None, *range(-1 if shape else 0, len(shape)), *([(0, 1), (-1, 0)] if shape[1:] else [])]


def check(found, expected):
    rtol = 3e-6 if np.asarray(expected).dtype == np.float32 else 1e-13
    host = np.asarray(found.to_device("cpu"))
    np.testing.assert_allclose(host, np.asarray(expected), rtol=rtol, strict=True)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "bool"])
def test_median(dtype):
    for shape in SHAPES:
        x = values(dtype, shape)
        for axis in axes_of(shape):
            for keepdims in (False, True):
                expected = np.median(x, axis, keepdims=keepdims)
                for given in layouts_of(x):
                    check(xp.extra.median(given, axis, keepdims=keepdims), expected)


def test_median_is_exact():
    x = xp.asarray([[1e308, 3.0, 1e308], [np.inf, -np.inf, 1.0]])
    assert np.array_equal(np.asarray(xp.extra.median(x, axis=1)), [1e308, 1.0])


def test_median_of_nothing():
    x = xp.zeros((0, 3))
    with pytest.warns(RuntimeWarning, match="Mean of empty slice") as caught:
        found = xp.extra.median(x, axis=0)
    assert [each.filename for each in caught] == [__file__]
    assert np.array_equal(np.asarray(found), [np.nan] * 3, equal_nan=True)
    assert xp.extra.median(x, axis=1).shape == (0,)


def test_median_refuses():
    with pytest.raises(TypeError, match="takes real or bool dtypes, not complex128; take the real"):
        xp.extra.median(xp.ones(3, dtype=xp.complex128))
    refused(TypeError, "convert it with asarray", xp.extra.median, [1, 2])
    refused(IndexError, "axis", xp.extra.median, xp.ones(3), axis=1)


@for_each("q", [0.3, 0.5, 0.0, 1, [0.25, 0.5], [[0.1], [0.9]]])
@pytest.mark.parametrize("method", METHODS)
def test_quantile(method, q):
    for dtype in ("float64", "float32", "int32"):
        for shape in SHAPES:
            x = values(dtype, shape, seed=len(shape))
            for axis in axes_of(shape):
                keywords = {"method": method, "keepdims": axis == 0}
                # NumPy's result for an int is no floating-point number.
                expected = np.quantile(x, float(q) if type(q) is int else q, axis, **keywords)
                check(xp.extra.quantile(xp.asarray(x), q, axis, **keywords), expected)


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_at_the_places_of_a_numpy_array(method):
    x, q = values("float64", (3, 5), seed=1), np.array([[0.25, 0.5], [0.0, 1.0]])
    check(
        xp.extra.quantile(xp.asarray(x), q, 1, method=method), np.quantile(x, q, 1, method=method)
    )
    with pytest.raises(TypeError, match="q must be a real number"):
        xp.extra.nanquantile(xp.asarray(x), q.astype(object), method=method)


@pytest.mark.parametrize("method", ["linear", "hazen", "nearest", "averaged_inverted_cdf"])
def test_many_quantiles(method):
    q = np.linspace(0, 1, 41)
    for shape in ((11,), (300, 5)):
        x = values("float64", shape, nan=0.001)
        expected = np.quantile(x, q, axis=0, method=method)
        check(xp.extra.quantile(xp.asarray(x), xp.asarray(q), 0, method=method), expected)


def test_dtype_of_q():
    x = values("float32", (9,), nan=0)
    for q in (0.3, np.float32(0.3), np.float64(0.3)):
        check(xp.extra.quantile(xp.asarray(x), q), np.quantile(x, q))
    for q in ([0.3], np.asarray([0.3, 0.8], "f4"), np.asarray(0.3)):
        given = xp.asarray(q) if isinstance(q, np.ndarray) else q
        check(xp.extra.quantile(xp.asarray(x), given), np.quantile(x, q))
    check(xp.extra.quantile(xp.asarray(x), q=0.3, axis=0), np.quantile(x, q=0.3, axis=0))
    assert xp.extra.quantile(xp.asarray(x), []).shape == (0,)
    assert xp.extra.quantile(xp.asarray([True, False]), 0.0, method="lower").dtype is xp.bool


def test_quantile_next_to_infinities():
    x = xp.asarray([-np.inf, 1.0, 2.0, 4.0, np.inf])
    for q, expected in ((0.0, -np.inf), (0.25, 1.0), (0.75, 4.0), (1.0, np.inf)):
        assert float(xp.extra.quantile(x, q)) == expected
    found = xp.extra.quantile(x[1:], [0.0, 0.5, 1.0])
    assert np.array_equal(np.asarray(found), [1.0, 3.0, np.inf])


@pytest.mark.parametrize(
    ("x", "q", "method", "error", "words"),
    [
        (xp.ones(3), 1.5, "linear", ValueError, "q must be between 0 and 1; divide percentages"),
        (xp.ones(3), [0.5, np.nan], "linear", ValueError, "q must be between 0 and 1"),
        (xp.ones(3), "a", "linear", TypeError, "q must be a real number, an array or a sequence"),
        (xp.ones(3), [0.5, [0.5]], "linear", TypeError, "q must be a real number"),
        (xp.ones(3), 0.5j, "linear", TypeError, "q must be a real number"),
        (
            xp.ones(3),
            np.ones(1, dtype=object),
            "linear",
            TypeError,
            r"convert it with asarray\(\.\.\.\)",
        ),
        (xp.ones(3), 0.5, "cubic", ValueError, "method must be one of 'inverted_cdf', .* 'cubic'"),
        (xp.asarray([True]), 0.5, "linear", TypeError, "takes real dtypes, not bool; convert"),
        (xp.asarray([1j]), 0.5, "lower", TypeError, "takes real dtypes, not complex128; convert"),
        (xp.zeros(0, dtype=xp.int8), 0.5, "lower", ValueError, "no elements.* test x.size first"),
    ],
)
def test_quantile_refuses(x, q, method, error, words):
    for call in (xp.extra.quantile, xp.extra.nanquantile):
        refused(error, words, call, x, q, method=method)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_large(axis):
    for dtype in ("float64", "float32", "int16"):
        x = values(dtype, (700, 501), nan=1e-5)
        check(xp.extra.median(xp.asarray(x), axis), np.median(x, axis))
        for q in (0.3, [0.2, 0.7], [0.1, 0.3, 0.5, 0.7]):
            check(xp.extra.quantile(xp.asarray(x), q, axis), np.quantile(x, q, axis))


test_in_traces, test_on_devices = everywhere(
    {
        name: call
        for axis in (None, 0, 1)
        for name, call in {
            f"median {axis}": lambda x, axis=axis: xp.extra.median(x, axis),
            f"quantile {axis}": lambda x, axis=axis: xp.extra.quantile(x, 0.3, axis),
            f"running {axis}": lambda x, axis=axis: (
                xp.extra.cumulative_max(x, axis=axis or 0),
                xp.extra.cumulative_min(x, axis=axis or 0),
            ),
            **{
                f"{function.__name__} {method} {axis}": lambda x, f=function, m=method, a=axis: f(
                    x, [0.2, 0.5], a, method=m
                )
                for function in (xp.extra.quantile, xp.extra.nanquantile)
                for method in ("linear", "hazen", "nearest", "closest_observation", "midpoint")
            },
        }.items()
    },
    values("float64", (6, 9), seed=3),
)


def test_traced_probabilities_are_refused():
    with pytest.raises(TypeError, match="must be known while a function is traced; give q as"):
        xp.eval_shape(lambda x, q: xp.extra.quantile(x, q), xp.ones(4), xp.ones(2))


RUNNING = (
    (xp.extra.cumulative_max, np.maximum.accumulate),
    (xp.extra.cumulative_min, np.minimum.accumulate),
)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "bool"])
def test_running_extremes(dtype):
    for call, reference in RUNNING:
        for shape in ((7,), (1,), (0,), (4, 6), (3, 1, 5)):
            x = values(dtype, shape)
            for axis in range(-1, len(shape)):
                for given in layouts_of(x):
                    check(call(given, axis=axis), reference(x, axis=axis))
        check(call(xp.asarray(values(dtype, (7,)))), reference(values(dtype, (7,))))
        x = values(dtype, (300, 1000))
        for axis in (0, 1):
            check(call(xp.asarray(x), axis=axis), reference(x, axis=axis))


def test_running_extremes_refuse():
    for call, _ in RUNNING:
        refused(ValueError, "needs an axis; give axis=", call, xp.ones((2, 3)))
        refused(IndexError, "axis", call, xp.ones((2, 3)), axis=2)
        refused(TypeError, "complex128", call, xp.ones(3, dtype=xp.complex128))
        refused(TypeError, "convert it with asarray", call, [1, 2])
