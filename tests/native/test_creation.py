"""Creation functions in C against the Python functions."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support.alike import DTYPES, compare
from tests.support.implementations import random_array
from tests.support.sizes import AT_ONCE

pytestmark = pytest.mark.skipif(native is None, reason="there is no extension")

SHAPES = [
    *[(), 0, 5, 1, (0,), (3,), (3, 4), (1, 4), (2, 0, 3), (2, 3, 4), (1,) * 64, (1,) * 65],
    *[AT_ONCE, AT_ONCE + 1, (200, 200), (0, 2**62), 2**70, (2**70, 0)],
    *[-1, (2, -1), True, 2.0, [2, 3], (2.0,), None, "a", (np.int64(2), 3)],
]
VALUES = [
    *[0, 1, -1, 7, 255, 256, 2**24 + 1, 2**63 - 1, 2**63, True, False, 0.0, -0.0, 2.5, 1e-42, 1e39],
    *[1e300, np.nan, -np.inf, 1j, complex(-0.0, 1e39), np.float32(2), "a", None],
]


def _dtype(rng):
    names = [None, None, None, float, int, complex, bool, "f8"]
    if rng.random() < 0.5:
        return names[int(rng.integers(len(names)))]
    return getattr(xp, DTYPES[int(rng.integers(len(DTYPES)))])


def _keywords(rng):
    keywords = {}
    if rng.random() < 0.6:
        keywords["dtype"] = _dtype(rng)
    if rng.random() < 0.2:
        devices = [None, "cpu", xp.asarray(1).device, "nowhere", 3]
        keywords["device"] = devices[int(rng.integers(len(devices)))]
    return keywords


def _any(rng, values):
    return values[int(rng.integers(len(values)))]


def test_constants():
    rng = np.random.default_rng(0)
    for _ in range(300):
        shape = _any(rng, SHAPES)
        for function in (xp.zeros, xp.ones):
            compare(function, shape, **_keywords(rng))
        compare(xp.zeros, shape=shape, **_keywords(rng))
        keywords = _keywords(rng)
        # Their contents are undefined: only what is seen of no elements can be compared.
        compare(lambda *args, **given: xp.zeros_like(xp.empty(*args, **given)), shape, **keywords)
    for call in (xp.zeros, xp.ones, xp.empty):
        compare(call)
        compare(call, 2, xp.int8)
        compare(call, (2,), copy=True)


@pytest.mark.parametrize("errors", ["warn", "raise"])
def test_full(errors):
    rng = np.random.default_rng(1)
    scalars = [*VALUES, *[random_array(rng, name, ()) for name in DTYPES], xp.asarray([1.0])]
    with np.errstate(all=errors):
        for _ in range(300):
            compare(xp.full, _any(rng, SHAPES), _any(rng, scalars), **_keywords(rng))
            compare(xp.full, fill_value=_any(rng, scalars), shape=3, **_keywords(rng))
    compare(xp.full, 3)
    compare(xp.full, 3, 4, xp.int8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_like(dtype):
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(30):
        x = random_array(rng, dtype, _any(rng, [(), (0,), (3,), (3, 4), (2, 0), (2, 3, 4)]))
        compare(xp.zeros_like, x, **_keywords(rng))
        compare(xp.ones_like, x, **_keywords(rng))
        compare(xp.full_like, x, _any(rng, VALUES), **_keywords(rng))
        compare(lambda x, **given: xp.zeros_like(xp.empty_like(x, **given)), x, **_keywords(rng))
    for call in (xp.zeros_like, xp.ones_like, xp.empty_like, xp.full_like):
        compare(call)
        compare(call, 2.0)
        if call is not xp.empty_like:
            compare(call, np.ones(2))
    compare(xp.zeros_like, x=x)
    compare(xp.zeros_like, xp.zeros(20000))
    compare(xp.full_like, x, fill_value=1)


NUMBERS = [
    *[0, 1, 2, -3, 10, 127, 128, 255, 300, 20000, 2**40, 2**52 - 1, 2**52, 2**63, 2**70, True],
    *[0.0, -0.0, 0.1, 0.3, -1.7, 10.0, 1e300, -1e300, 1e-320, 1e16, np.nan, np.inf, np.float64(3)],
    *["a", None, 1j],
]


def test_arange():
    rng = np.random.default_rng(2)
    for _ in range(700):
        numbers = [_any(rng, NUMBERS[:10] if rng.random() < 0.5 else NUMBERS) for _ in range(3)]
        if rng.random() < 0.3:
            numbers = [float(rng.normal() * 10) for _ in range(3)]
            numbers[2] /= 10
        count = int(rng.integers(1, 4))
        compare(xp.arange, *numbers[:count], **_keywords(rng))
        compare(xp.arange, numbers[0], step=numbers[1], stop=numbers[2], **_keywords(rng))
    for dtype in DTYPES:
        for numbers in ([5], [120, 130, 100], [120, 260, 5], [-128, 128], [0, 256], [5, 0, -1]):
            compare(xp.arange, *numbers, dtype=getattr(xp, dtype))
        compare(xp.arange, 0.5, 100, 0.7, dtype=getattr(xp, dtype))
        compare(xp.arange, 1e-40, 1e-39, 1e-40, dtype=getattr(xp, dtype))
        compare(xp.arange, 1e38, 1e39, 1e38, dtype=getattr(xp, dtype))
    compare(xp.arange)
    compare(xp.arange, 1, 2, 3, 4)
    compare(xp.arange, start=3)


@pytest.mark.parametrize("errors", ["warn", "raise"])
def test_linspace(errors):
    rng = np.random.default_rng(3)
    with np.errstate(all=errors):
        for _ in range(800):
            start, stop = (_any(rng, NUMBERS), _any(rng, NUMBERS))
            if rng.random() < 0.4:
                start, stop = rng.normal(size=2).tolist()
            num = _any(rng, [0, 1, 2, 3, 7, 50, -1, 2.0, True, "a", 20000])
            keywords = _keywords(rng) if rng.random() < 0.3 else {}
            if rng.random() < 0.5:
                keywords["endpoint"] = _any(rng, [True, False, 1, None])
            if rng.random() < 0.8:
                compare(xp.linspace, start, stop, num, **keywords)
            else:
                compare(xp.linspace, start, stop, num=num, **keywords)
    compare(xp.linspace, 0, 1)


def test_eye():
    rng = np.random.default_rng(4)
    sizes = [0, 1, 2, 3, 5, 127, 128, 129, None, -1, 2.0, True, 2**40, 2**70]
    for _ in range(400):
        keywords = _keywords(rng)
        if rng.random() < 0.5:
            keywords["k"] = _any(rng, [0, 1, -1, 2, -3, 7, -7, 2**40, -(2**70), 1.0, True, None])
        compare(xp.eye, _any(rng, sizes), _any(rng, sizes), **keywords)
        compare(xp.eye, _any(rng, sizes), **keywords)
    compare(xp.eye)


def test_small_arrays_that_are_to_be_deferred():
    x = xp.asarray([[1.0, 2.0]])
    with xp.config_context(fusion="always"):
        for call in (
            *[lambda: xp.zeros((2, 3)), lambda: xp.full((2, 3), 1.0), lambda: xp.eye(3)],
            *[lambda: xp.full((2,), x[0, 0]), lambda: xp.arange(3), lambda: xp.linspace(0, 1, 3)],
            *[lambda: xp.asarray(2.0), lambda: xp.asarray([2.0]), lambda: xp.asarray(np.ones(2))],
            *[lambda: xp.zeros_like(x), lambda: xp.full_like(x, 2)],
        ):
            compare(lambda call=call: str(call().device))
