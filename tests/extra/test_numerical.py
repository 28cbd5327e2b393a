"""Numerical mathematics in one dimension: convolution, interpolation, integrals, slopes, roots."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.tracing.recorder import TraceError
from tests.extra.everywhere import DTYPES, agree, assert_same, everywhere, ours, random, refuses
from tests.support.implementations import random_array
from tests.support.programs import settings
from tests.support.refusals import refused
from tests.support.tables import for_each


@for_each("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_convolve(dtype, mode):
    rng = np.random.default_rng(1)
    for n, m in ((1, 1), (5, 3), (3, 6), (40, 13), (12, 12)):
        x, y = random_array(rng, dtype, (n,)), random_array(rng, dtype, (m,))
        found = np.asarray(xp.extra.convolve(x, y, mode))
        expected = np.convolve(np.asarray(x), np.asarray(y), mode)
        if "complex" in dtype:  # of an overflow one part may be infinite, or NaN
            whole = np.isfinite(expected)
            assert (np.isfinite(found) == whole).all()
            found, expected = found[whole], expected[whole]
        agree(found, expected)
    rtol = 1e-4 if dtype in ("float32", "complex64") else None
    for a, b in ((300, 20), (5000, 7), (9000, 300)):
        x, y = random(rng, (a,), dtype), random(rng, (b,), dtype)
        agree(xp.extra.convolve(ours(x), ours(y), mode=mode), np.convolve(x, y, mode), rtol=rtol)


def test_convolve_promotes():
    a, b = np.array([1, 2, 3], dtype="int8"), np.array([0.5, 1.0], dtype="float32")
    agree(xp.extra.convolve(ours(a), ours(b)), np.convolve(a, b).astype("float32"))
    agree(xp.extra.convolve(ours(a > 1), ours(a)), np.convolve(a > 1, a))


@pytest.mark.parametrize("mode", ["default", "context"])
@for_each("edge_order", [1, 2])
@for_each("dtype", ["uint8", "int32", "float32", "float64", "complex64"])
def test_gradient(dtype, edge_order, mode):
    rng = np.random.default_rng(2)
    f = random(rng, (4, 5, 3), dtype)
    uneven = np.array([0, 1, 3, 7])
    calls = [
        ((), None),
        ((2.0,), None),
        ((np.float64(0.5),), None),
        ((1.0, 2, 3.0), None),
        ((uneven, 2.0, np.arange(3) * 0.5), None),
        ((uneven.astype("float32"),), 0),
        ((rng.random(5).cumsum(),), 1),
        ((), -1),
        ((2.0, uneven), (2, 0)),
    ]
    with settings(mode):
        for distances, axis in calls:
            found = xp.extra.gradient(
                ours(f), *[ours(each) for each in distances], axis=axis, edge_order=edge_order
            )
            expected = np.gradient(f, *distances, axis=axis, edge_order=edge_order)
            assert isinstance(found, tuple) is isinstance(expected, tuple)
            several = isinstance(expected, tuple)
            for one, other in zip(
                found if several else [found], expected if several else [expected], strict=True
            ):
                assert_same(one, other, (distances, axis))


@pytest.mark.parametrize("device", ["cpu", "torch:cpu", "jax:cpu", "dask"])
def test_gradient_over_coordinates_of_numpy(device):
    if device != "cpu":
        pytest.importorskip(device.partition(":")[0])
    values, coordinates = np.arange(12.0).reshape(4, 3) ** 2, np.array([0.0, 1.0, 2.5, 3.0])
    f = xp.asarray(values, device=device)
    found = xp.extra.gradient(f, coordinates, axis=0)
    assert found.device == f.device
    np.testing.assert_allclose(
        np.asarray(found.to_device("cpu")), np.gradient(values, coordinates, axis=0), rtol=1e-14
    )
    refused(ValueError, "do not fit axis 0", xp.extra.gradient, f, coordinates[1:], axis=0)


def points(rng, is_complex):
    where = np.unique(rng.integers(-6, 6, 9)).astype(float)
    values = rng.normal(size=where.size)
    return where, values + 1j * rng.normal(size=where.size) if is_complex else values


@pytest.mark.parametrize("mode", ["default", "context"])
@pytest.mark.parametrize("is_complex", [False, True])
def test_interp(is_complex, mode):
    rng = np.random.default_rng(3)
    for _ in range(8):
        where, values = points(rng, is_complex)
        special = [np.nan, np.inf, -np.inf, where[0], where[-1]]
        x = np.concatenate([rng.normal(size=9) * 5, rng.integers(-8, 8, 10), special])
        x = x.reshape(4, 6)
        for keywords in ({}, {"left": -1.0, "right": 7}, {"period": 20.0}, {"period": -13}):
            expected = np.interp(x, where, values, **keywords)
            with settings(mode):
                found = xp.extra.interp(ours(x), ours(where), ours(values), **keywords)
            agree(found, expected, keywords)
            if not is_complex:
                assert_same(found, expected, keywords)


def test_interp_of_special_points():
    x = np.array([-2.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0])
    inf = np.inf
    for where, values in (
        ([1.0], [5.0]),
        ([0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 3.0, 4.0]),
        ([0.0, 1.0, 2.0], [inf, 1.0, inf]),
        ([0.0, 1.0, 2.0], [inf, inf, -inf]),
        ([-inf, 0.0, inf], [1.0, 2.0, 3.0]),
    ):
        with np.errstate(all="ignore"):
            expected = np.interp(x, where, values)
        assert_same(xp.extra.interp(ours(x), xp.asarray(where), xp.asarray(values)), expected)
    whole = np.interp([0, 3], [1, 2], [3, 5])
    assert_same(xp.extra.interp(*map(xp.asarray, ([0, 3], [1, 2], [3, 5]))), whole)
    assert xp.extra.interp(xp.ones((0, 2)), xp.ones(1), xp.ones(1)).shape == (0, 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_roots(dtype):
    result = "complex64" if dtype in ("float32", "complex64") else "complex128"
    for coefficients in (
        *([1, 2, 3], [0, 0, 1, 6, 11, 6, 0, 0], [1], [0, 0], [], [3, 0, 0], [0, 2], [1, 0, 0, 1]),
    ):
        p = np.array(coefficients).astype(dtype)
        found = np.asarray(xp.extra.roots(ours(p)))
        expected = np.roots(p)
        assert found.dtype == result
        assert found.shape == expected.shape
        order, other = np.lexsort((found.imag, found.real.round(3))), np.sort_complex(expected)
        tolerance = 1e-3 if result == "complex64" else 1e-9
        np.testing.assert_allclose(
            np.sort_complex(found[order].round(2)), np.sort_complex(other.round(2)), atol=0.011
        )
        np.testing.assert_allclose(np.polyval(p, found), 0, atol=50 * tolerance)
    assert np.asarray(xp.extra.roots(xp.asarray(3.0))).shape == (0,)


@pytest.mark.parametrize("mode", ["default", "context"])
@for_each("dtype", DTYPES)
def test_trapezoid(dtype, mode):
    rng = np.random.default_rng(4)
    y = random(rng, (4, 5, 3), dtype)
    for keywords in (
        {},
        {"dx": 0.5, "axis": 0},
        {"x": rng.random(5), "axis": 1},
        {"x": np.arange(3)},
        {"x": rng.random((4, 5, 3)), "axis": 0},
        {"x": rng.random((1, 5, 1)), "axis": 1},
    ):
        with settings(mode):
            found = xp.extra.trapezoid(ours(y), **{k: ours(v) for k, v in keywords.items()})
        agree(found, np.trapezoid(y, **keywords), keywords)
    agree(xp.extra.trapezoid(ours(y[:1]), axis=0), np.trapezoid(y[:1], axis=0))


test_numerical_functions_refuse = refuses(
    [
        (lambda x: xp.extra.convolve(x, [1.0]), TypeError, "asarray"),
        (lambda x: xp.extra.convolve(x, x[:0]), ValueError, r"a shape is \(0,\)"),
        (lambda x: xp.extra.convolve(x, xp.ones((2, 2))), ValueError, "flatten with ravel"),
        (lambda x: xp.extra.convolve(x, x, "all"), ValueError, "no mode 'all'; give"),
        (lambda x: xp.extra.gradient([1.0]), TypeError, "asarray"),
        (lambda x: xp.extra.gradient(x > 0), TypeError, "bool"),
        (lambda x: xp.extra.gradient(x[:1]), ValueError, "needs 2 elements along each axis"),
        (lambda x: xp.extra.gradient(x, edge_order=3), ValueError, "must be 1 or 2"),
        (lambda x: xp.extra.gradient(x, 1.0, 1.0), TypeError, "no distance, one, or one for"),
        (lambda x: xp.extra.gradient(x, xp.ones(5)), ValueError, r"shape \(5,\) do not fit"),
        (lambda x: xp.extra.gradient(x, axis=1), IndexError, "out of range"),
        (lambda x: xp.extra.interp(1.0, x, x), TypeError, "asarray"),
        (lambda x: xp.extra.interp(x, x, x[:2]), ValueError, "as many values"),
        (lambda x: xp.extra.interp(x, x[:0], x[:0]), ValueError, "at least one"),
        (lambda x: xp.extra.interp(x, x, x, period=0), ValueError, "period of 0"),
        (lambda x: xp.extra.interp(x + 1j, x, x), TypeError, "x must be real"),
        (lambda x: xp.extra.roots(xp.ones((2, 2))), ValueError, r"shape is \(2, 2\)"),
        (lambda x: xp.extra.roots(x * np.nan), np.linalg.LinAlgError, "isfinite"),
        (lambda x: xp.extra.trapezoid(x, xp.ones(4)), ValueError, "broadcast"),
        (lambda x: xp.extra.trapezoid(x, [1, 2, 3]), TypeError, "asarray"),
        (lambda x: xp.extra.trapezoid(x, axis=1), IndexError, "out of range"),
    ],
    lambda: xp.ones(3),
)


CALLS = {
    "full": lambda x, y: xp.extra.convolve(x, y),
    "same": lambda x, y: xp.extra.convolve(y, x, "same"),
    "valid": lambda x, y: xp.extra.convolve(x, y, "valid"),
    "gradient": lambda x, y: xp.extra.gradient(x),
    "coordinates": lambda x, y: xp.extra.gradient(x, xp.cumulative_sum(x * x), edge_order=2),
    "interp": lambda x, y: xp.extra.interp(y, xp.sort(x), x, left=-3.0),
    "period": lambda x, y: xp.extra.interp(y, x, x * x, period=20.0),
    "trapezoid": lambda x, y: xp.extra.trapezoid(x, xp.cumulative_sum(x)),
}

test_in_traces, test_on_devices = everywhere(CALLS, (9,), (4,))


def test_roots_are_refused_in_traces():
    refused(TraceError, "needs the value of an element", xp.eval_shape, xp.extra.roots, xp.ones(3))


_, test_roots_on_devices = everywhere(
    {"roots": lambda p: xp.sort(xp.real(xp.extra.roots(p)))}, np.array([1.0, -6.0, 11.0, -6.0, 0.0])
)
