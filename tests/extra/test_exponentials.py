"""Sums of exponentials, and shares in them, against SciPy's."""

import numpy as np
import pytest

import array_api_nx as xp
from tests.extra.everywhere import DTYPES, agree, everywhere, ours, random, refuses
from tests.support.implementations import random_array
from tests.support.programs import numpy_of, settings
from tests.support.tables import for_each

special = pytest.importorskip("scipy.special", reason="SciPy is not installed")

AXES = [None, 0, -1, (0, 1), (2, 0)]


def weights(rng, kind):
    return {
        "none": None,
        "negative": rng.normal(size=(3, 4, 2)),
        "some": rng.integers(1, 3, (4, 1)),
        "scalar": 2.5,
    }[kind]


@pytest.mark.parametrize("mode", ["default", "context"])
@for_each("kind", ["none", "negative", "some", "scalar"])
@for_each("dtype", DTYPES)
def test_logsumexp(dtype, kind, mode):
    rng = np.random.default_rng(1)
    b = weights(rng, kind)
    for axis in AXES:
        for keywords in ({}, {"keepdims": True}, {"return_sign": True}):
            a = random(rng, (3, 4, 2), dtype)
            if dtype in ("float64", "complex128"):
                a *= 300
            expected = special.logsumexp(a, axis=axis, b=b, **keywords)
            with settings(mode):
                found = xp.extra.logsumexp(ours(a), axis=axis, b=ours(b), **keywords)
            agree(found, expected, (axis, keywords), rtol=1e-9 if dtype[-2:] == "28" else None)


@pytest.mark.parametrize("return_sign", [False, True])
def test_logsumexp_of_special_values(return_sign):
    inf, nan = np.inf, np.nan
    rows = [
        [inf, 1.0], [inf, inf], [-inf, -inf], [-inf, 3.0], [inf, -inf], [nan, 1.0],
        [nan, inf], [1000.0, 1000.0], [-1000.0, -1001.0], [1e-20, -800.0], [0.0, 0.0],
    ]  # fmt: skip
    a = np.array(rows)
    for b in (None, np.array([1.0, -1.0]), np.array([2.0, 0.5])):
        with np.errstate(all="ignore"):
            expected = special.logsumexp(a, axis=1, b=b, return_sign=return_sign)
        found = xp.extra.logsumexp(ours(a), axis=1, b=ours(b), return_sign=return_sign)
        agree(found, expected, b, rtol=1e-14)


def test_logsumexp_without_weight_or_elements():
    a = xp.asarray([np.nan, 1.0, np.inf])
    assert float(xp.extra.logsumexp(a, b=xp.asarray([0.0, 1.0, 0.0]))) == 1.0
    result = xp.extra.logsumexp(xp.ones((0, 3), dtype=xp.float32), axis=0)
    agree(result, np.full(3, -np.inf, dtype="float32"))
    agree(xp.extra.logsumexp(xp.ones((0, 3)), axis=1), np.ones(0))
    agree(xp.extra.logsumexp(xp.asarray(2.0)), np.asarray(2.0))
    agree(xp.extra.logsumexp(xp.asarray([1.0, 2.0]), axis=()), np.asarray([1.0, 2.0]))


@pytest.mark.parametrize("mode", ["default", "context"])
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if "complex" not in dtype])
def test_softmax(dtype, mode):
    rng = np.random.default_rng(2)
    for axis in AXES:
        with settings(mode):
            x = random_array(rng, dtype, (3, 4, 2))
            if dtype[0] == "f":
                x = xp.extra.nan_to_num(x, posinf=1e3, neginf=-1e3)
                x = xp.where(xp.abs(x) > 1e3, xp.asarray(1e3, dtype=x.dtype), x)
            a = numpy_of(x)
            expected = special.softmax(a if dtype[0] == "f" else a.astype(float), axis)
            agree(xp.extra.softmax(x, axis=axis), expected, axis)
    assert xp.extra.softmax(xp.ones((0, 2)), axis=0).shape == (0, 2)


test_exponentials_refuse = refuses(
    [
        (lambda x: xp.extra.softmax([1.0]), TypeError, "asarray"),
        (lambda x: xp.extra.softmax(x + 1j), TypeError, "max"),
        (lambda x: xp.extra.softmax(x, axis=3), IndexError, "out of range"),
        (lambda x: xp.extra.logsumexp(1.0), TypeError, "asarray"),
        (lambda x: xp.extra.logsumexp(x, b=xp.ones(3)), ValueError, "broadcast"),
        (lambda x: xp.extra.logsumexp(x, b=[1.0]), TypeError, "asarray"),
        (lambda x: xp.extra.logsumexp(x, axis=1), IndexError, "out of range"),
    ],
    lambda: xp.ones(2),
)


CALLS = {
    "logsumexp": lambda x, b: xp.extra.logsumexp(x, axis=0),
    "weighted": lambda x, b: xp.extra.logsumexp(x, axis=1, b=b, return_sign=True),
    "complex": lambda x, b: xp.extra.logsumexp(x + 1j * b, axis=1),
    "softmax": lambda x, b: xp.extra.softmax(x, axis=1),
}

test_in_traces, test_on_devices = everywhere(CALLS, (3, 4), (3, 4))
