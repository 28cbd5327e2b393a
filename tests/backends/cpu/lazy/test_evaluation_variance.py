"""Variances: one pass over memory, which gives the mean as well."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as rounds
from hypothesis import strategies as st

import array_api_nx as xp
from tests.support.programs import NDArray, deferring, numpy_of, pending, settings
from tests.support.tables import for_each

AXES: list[Any] = [None, 0, 1, 2, (0, 1), (1, 2), (0, 2), (0, 1, 2)]


@rounds(max_examples=80)
@given(
    shape=st.tuples(st.integers(1, 50), st.integers(2, 9), st.integers(1, 50)),
    axis=st.sampled_from(AXES),
    order=st.permutations(range(3)),
    flipped=st.booleans(),
    dtype=st.sampled_from([np.float64, np.float32]),
    shift=st.sampled_from([0.0, 3.0, 1e4]),
    correction=st.sampled_from([0, 1, 0.5]),
)
def test_variances(shape, axis, order, flipped, dtype, shift, correction):
    rng = np.random.default_rng(0)
    values = (rng.standard_normal(shape) + shift).astype(dtype)
    x = xp.permute_dims(xp.asarray(values, copy=True), tuple(order))
    oracle = values.transpose(order)
    if flipped:
        x, oracle = xp.flip(x, axis=1), oracle[:, ::-1]
    count = oracle.size // np.var(oracle, axis=axis).size
    with deferring():
        mean = xp.mean(x, axis=axis)
        var = xp.var(x, axis=axis, correction=correction)
        xp.evaluate(mean, var)
    error = 8 * np.finfo(dtype).eps
    exact = oracle.astype(np.longdouble)  # sums of float64 may be less exact than ours
    np.testing.assert_allclose(numpy_of(mean), exact.mean(axis=axis), rtol=error, atol=error)
    if count <= correction:
        assert np.isnan(numpy_of(var)).all()
    else:
        np.testing.assert_allclose(
            numpy_of(var),
            exact.var(axis=axis, ddof=correction),
            rtol=error * 4,
            atol=error * error * (1 + shift * shift),
        )


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("dtype", [xp.float64, xp.float32])
def test_bits_do_not_depend_on_the_number_of_threads(axis, dtype):
    values = np.random.default_rng(0).standard_normal((700, 300))
    x = xp.astype(xp.asarray(values, copy=True), dtype)
    results = []
    for threads in (1, 2, 5):
        with settings("context", num_threads=threads):
            results.append(numpy_of(xp.var(x, axis=axis)).tobytes())
            results.append(numpy_of(xp.sum(x, axis=axis)).tobytes())
    assert len(set(results)) == 2


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_no_less_accurate_than_two_passes(axis):
    rng = np.random.default_rng(0)
    for scale, shift in ((1, 0), (1, 1e6), (1e-3, 1), (1, 1e9)):
        values = rng.standard_normal((500, 400)) * scale + shift
        for dtype in (np.float32, np.float64):
            typed = values.astype(dtype)
            exact = (typed.astype(np.longdouble)).var(axis=axis)
            with deferring():
                actual = numpy_of(xp.var(xp.asarray(typed), axis=axis))
            ours = np.abs(actual - exact).max()
            theirs = np.abs(typed.var(axis=axis) - exact).max()
            assert ours <= max(theirs, 2 * np.finfo(dtype).eps * exact.max())


@for_each("special", [[np.inf], [-np.inf], [np.inf, -np.inf], [np.nan], [np.nan, np.inf], [1e300]])
@for_each("axis", [None, 0, 1])
def test_special_values(special, axis):
    values = np.random.default_rng(0).standard_normal((90, 70))
    for i, value in enumerate(special):
        values[7 + 40 * i, 3 + i] = value
    with np.errstate(all="ignore"), deferring():
        expected = np.mean(values, axis=axis), np.var(values, axis=axis)
        x = xp.asarray(values)
        actual = xp.mean(x, axis=axis), xp.var(x, axis=axis)
        xp.evaluate(*actual)
    for ours, theirs in zip(actual, expected, strict=True):
        np.testing.assert_allclose(numpy_of(ours), theirs, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.inf, "invalid value encountered in subtract"),
        (1e200, "overflow encountered in multiply"),
    ],
)
def test_warnings_are_those_without_fusion(value, text):
    values = np.ones((50, 60))
    values[3, 4] = value
    for mode in ("off", "context"):
        with settings(mode), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            xp.evaluate(xp.var(xp.asarray(values)))
        assert [str(each.message) for each in caught] == [text]


def test_constants_have_no_variance():
    for value in (0.1, 1e100, -3.7e-100, 1e16 + 2):
        values: NDArray = np.full((300, 41), value)
        with deferring():
            for axis in (None, 0, 1):
                std = numpy_of(xp.std(xp.asarray(values), axis=axis))
                assert (std <= 1e-16 * abs(value)).all()


def test_a_variance_computes_the_mean_that_waits():
    x = xp.asarray(np.arange(200.0).reshape(40, 5), copy=True)
    with settings("process"):
        mean = xp.mean(x, axis=0, keepdims=True)
        other, total = xp.mean(x, axis=1), xp.sum(x, axis=0)
        xp.evaluate(xp.var(x, axis=0, correction=1))
        assert not pending(mean)
        assert pending(other)
        assert pending(total)
        assert numpy_of(mean).tolist() == [[97.5, 98.5, 99.5, 100.5, 101.5]]


def test_both_in_one_expression_read_memory_once():
    values = np.arange(200.0).reshape(40, 5)
    x = xp.asarray(values, copy=True)
    with settings("process"):
        standardised = (x - xp.mean(x, axis=0)) / (1 + xp.var(x, axis=0))
        assert [len(each.inputs) for each in xp.explain(standardised).passes] == [1, 1, 3]
        np.testing.assert_allclose(
            numpy_of(standardised), (values - values.mean(axis=0)) / (1 + values.var(axis=0))
        )


def test_a_write_leaves_both_as_they_were():
    with settings("process"):
        x = xp.asarray(np.arange(60.0), copy=True)
        mean, var = xp.mean(x), xp.var(x)
        x[0] = 1e6
        assert not pending(mean)
        assert float(mean) == 29.5
        assert float(var) == pytest.approx(np.var(np.arange(60.0)), rel=1e-15)
        assert float(xp.mean(x)) != 29.5


def test_variances_of_few_elements_take_two_passes():
    x = xp.asarray(np.arange(200.0).reshape(40, 5), copy=True)
    with settings("process"):
        var = xp.var(x, axis=1)
        assert len(xp.explain(var).passes) == 2
        assert numpy_of(var).tolist() == [2.0] * 40
