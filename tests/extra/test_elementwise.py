"""Element by element: NaN replaced, numbers compared within tolerances, sinc."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.tracing.recorder import TraceError
from tests.extra.everywhere import DTYPES, agree, assert_same, everywhere, ours, refuses
from tests.support.implementations import random_array, random_values
from tests.support.programs import settings
from tests.support.refusals import refused
from tests.support.tables import for_each

nan, inf = np.nan, np.inf


@pytest.mark.parametrize("mode", ["default", "context"])
@for_each("dtype", DTYPES)
def test_nan_to_num(dtype, mode):
    rng = np.random.default_rng(1)
    for shape in ((), (0,), (40,), (3, 1, 5)):
        for keywords in ({}, {"nan": 3}, {"nan": -1.5, "posinf": 7, "neginf": -inf}):
            with settings(mode):
                x = random_array(rng, dtype, shape)
                result = xp.extra.nan_to_num(x, **keywords)
                assert_same(result, np.nan_to_num(np.asarray(x), **keywords), keywords)


def test_nan_to_num_in_place():
    for x in (np.array([nan, inf, 1.0]), np.array([1, 2])):
        y = ours(x)
        same = y
        assert xp.extra.nan_to_num(y, copy=False, nan=5.0) is same
        assert_same(y, np.nan_to_num(x, nan=5.0))
        again = xp.extra.nan_to_num(y)
        again[0] = 7
        assert float(y[0]) != 7
    with pytest.raises(ValueError, match="cannot write"):
        xp.extra.nan_to_num(xp.broadcast_to(xp.asarray(nan), (2,)), copy=False)
    refused(TypeError, "not a str", xp.extra.nan_to_num, xp.ones(2), nan="a")


@pytest.mark.parametrize("mode", ["default", "context"])
@for_each("dtype", DTYPES)
def test_comparisons(dtype, mode):
    rng = np.random.default_rng(2)
    for other in (dtype, "float64", "int64"):
        a = random_values(rng, dtype, (30,))
        b = a.astype(other) if np.can_cast(dtype, other) else random_values(rng, other, (30,))
        if other != "bool":
            b = (b + rng.choice([0, 0, 1], 30)).astype(b.dtype)
        if b.dtype.kind in "fc":
            b *= rng.choice([1, 1 + 1e-6, 1 + 1e-4], 30).astype(b.dtype)
        x, y = ours(a), ours(b)
        for keywords in ({}, {"equal_nan": True}, {"rtol": 0.0, "atol": 1.5}):
            expected = np.isclose(a, b, **keywords)
            with settings(mode):
                assert_same(xp.extra.isclose(x, y, **keywords), expected)
                found = xp.extra.allclose(x, y, **keywords)
                assert found is bool(expected.all())
        for equal_nan in (False, True):
            for c in (a, b, a[:1], a[None]):
                found = xp.extra.array_equal(x, ours(c), equal_nan=equal_nan)
                assert found is np.array_equal(a, c, equal_nan=equal_nan)


def test_comparisons_with_scalars_and_of_nothing():
    a = np.array([1.0, 1 + 1e-9, 2.0, nan, inf], dtype="float32")
    for b in (1, 1.0, inf, nan, 1 + 0j):
        assert_same(xp.extra.isclose(ours(a), b, equal_nan=True), np.isclose(a, b, equal_nan=True))
        assert_same(xp.extra.isclose(b, ours(a)), np.isclose(b, a))
    least = np.array([-128, 127], dtype="int8")
    assert_same(xp.extra.isclose(ours(least), ours(least)), [True, True])
    assert xp.extra.allclose(xp.ones((0, 2)), 3.0) is True
    assert xp.extra.array_equal(xp.ones((0,)), xp.zeros((0,))) is True
    assert xp.extra.array_equal(xp.ones((0, 2)), xp.zeros((0, 3))) is False


@pytest.mark.parametrize("mode", ["default", "context"])
@for_each("dtype", DTYPES)
def test_sinc(dtype, mode):
    rng = np.random.default_rng(3)
    with settings(mode):
        x = random_array(rng, dtype, (7, 4))
        agree(xp.extra.sinc(x), np.sinc(np.asarray(x)))
    if dtype == "float64":
        assert np.asarray(xp.extra.sinc(xp.asarray([0.0, 1e-30, 0.5]))).tolist() == [
            1.0,
            1.0,
            float(np.sinc(0.5)),
        ]


test_elementwise_refuses = refuses(
    [
        (lambda x: xp.extra.nan_to_num([1.0]), TypeError, "asarray"),
        (lambda x: xp.extra.sinc(np.ones(2, object)), TypeError, "object"),
        (lambda x: xp.extra.isclose(1.0, 1.0), TypeError, "at least one argument"),
        (lambda x: xp.extra.allclose(x, [1.0, 1.0]), TypeError, "asarray"),
        (lambda x: xp.extra.isclose(x, xp.ones(3)), ValueError, "broadcast"),
        (lambda x: xp.extra.array_equal(x, 1.0), TypeError, "b must be an array"),
    ],
    lambda: xp.ones(2),
)


SPECIAL = np.array([[nan, inf, -inf, 0.0], [1.0, -2.5, 3.0, 1e-12]])
CALLS = {
    "nan_to_num": lambda x, y: xp.extra.nan_to_num(x, posinf=8),
    "complex": lambda x, y: xp.extra.nan_to_num(xp.astype(y, xp.complex128) + 1j * y),
    "isclose": lambda x, y: xp.extra.isclose(x, x + 1e-9 * y, equal_nan=True),
    "sinc": lambda x, y: xp.extra.sinc(y),
}

test_in_traces, test_on_devices = everywhere(CALLS, SPECIAL, (2, 4))


def test_what_is_decided_by_elements_is_refused_in_traces():
    for decides in (xp.extra.allclose, xp.extra.array_equal):
        with pytest.raises(TraceError, match="needs the value of an element"):
            xp.eval_shape(lambda x, f=decides: xp.ones(3) if f(x, x) else x, xp.ones(2))


_, test_verdicts_on_devices = everywhere(
    {"both": lambda x: (xp.extra.allclose(x, x), xp.extra.array_equal(x, x, equal_nan=True))},
    SPECIAL,
)
