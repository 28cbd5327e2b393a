"""Loops of float16 against NumPy's, bit for bit: every element there is, in every layout."""

import platform
import warnings

import numpy as np
import pytest

import array_api_nx as xp
import array_api_nx.numpy as face
from tests.support.refusals import refused
from tests.support.tables import for_each

EVERY = np.arange(2**16, dtype=np.uint16).view(np.float16)
ON_X86 = platform.machine().lower() in ("x86_64", "amd64", "i686", "x86")
LENGTHS = [1, 7, 64, 65, 1000, 70_000]
UNARY = "square reciprocal sqrt negative abs floor sign isnan"
BINARY = (
    "add subtract multiply divide maximum minimum equal not_equal less less_equal greater "
    "greater_equal"
)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def elements(length, seed=0):
    return np.random.default_rng(seed).choice(EVERY, length)


def assert_same(found, expected):
    """Equal bits; any NaN for NaN."""
    result = np.asarray(found)
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    unknown = (result != result) & (expected != expected)
    assert np.where(unknown, 0, result).tobytes() == np.where(unknown, 0, expected).tobytes()


@for_each("length", LENGTHS)
@pytest.mark.parametrize("name", UNARY.split())
def test_functions_of_one_array(name, length):
    a = elements(length)
    for key in (slice(None), slice(None, None, 3), slice(None, None, -1)):
        x = xp.asarray(a, copy=True)[key]
        assert_same(getattr(xp, name)(x), getattr(np, name)(a[key]))


@for_each("length", LENGTHS)
@pytest.mark.parametrize("name", BINARY.split())
def test_functions_of_two_arrays(name, length):
    a, b = elements(length, 1), elements(length, 2)
    ours, numpys = getattr(xp, name), getattr(np, name)
    x, y = xp.asarray(a, copy=True), xp.asarray(b, copy=True)
    for first, second in (
        (slice(None), slice(None)),
        (slice(None), slice(1)),
        (slice(1), slice(None)),
        (slice(None, None, 2), slice(None, None, -2)),
    ):
        if a[first].size == b[second].size or 1 in (a[first].size, b[second].size):
            assert_same(ours(x[first], y[second]), numpys(a[first], b[second]))


def test_neighbours_of_what_is_written_are_read_before():
    a = elements(5000, 3)
    for step in (1, 2, 63, 64, 65):
        x, expected = xp.asarray(a, copy=True), a.copy()
        x[step:] += x[:-step]
        expected[step:] += a[:-step]
        assert_same(x, expected)


@for_each("length", LENGTHS)
def test_reductions_have_numpys_bits_where_they_are_few(length):
    a = elements(min(length, 2000), 4)
    for b in (a, a[np.isfinite(a)] / np.float16(3000), np.abs(a[:50])):
        x = xp.asarray(b, copy=True)
        for name in ("sum", "prod", "max", "min"):
            if b.size:
                assert_same(getattr(xp, name)(x), np.asarray(getattr(np, name)(b)))


def test_reductions_of_many_elements_round_once():
    a = np.random.default_rng(5).random(300_000).astype(np.float16)
    x = xp.asarray(a, copy=True)
    exact = a.astype(np.float64)
    rounding = float(np.finfo(np.float16).eps)
    for name in ("mean", "var", "std", "max", "min"):
        assert float(getattr(xp, name)(x)) == pytest.approx(getattr(exact, name)(), rel=rounding)
    rows = xp.reshape(x, (300, 1000))
    assert np.allclose(xp.sum(rows, axis=0), exact.reshape(300, 1000).sum(0), rtol=rounding)
    assert float(xp.sum(x)) == np.inf
    near_one = (1 + (a - np.float16(0.5)) / np.float16(256)).astype(np.float16)
    expected = np.prod(near_one.astype(np.float64))
    for copy in (True, False):
        assert float(xp.prod(xp.asarray(near_one, copy=copy))) == pytest.approx(expected, rel=1e-2)
        assert float(xp.mean(xp.asarray(a, copy=copy))) == float(xp.mean(x))


@for_each("length", LENGTHS)
@pytest.mark.parametrize("dtype", list(xp.__array_namespace_info__().dtypes()))
def test_casts(dtype, length):
    target = getattr(xp, dtype)
    numbers = np.random.default_rng(6)
    if dtype.startswith(("int", "uint", "bool")):
        a = numbers.integers(0, 2**63, length).astype(dtype)
    else:
        a = (numbers.standard_normal(length) * 10.0 ** numbers.integers(-12, 6, length)).astype(
            dtype
        )
    if not dtype.startswith("complex"):
        for key in (slice(None), slice(None, None, 2)):
            assert_same(xp.astype(xp.asarray(a, copy=True)[key], xp.float16), a[key].astype("f2"))
    b = elements(length, 7)
    if dtype.startswith(("int", "uint")) and not ON_X86:
        b[~np.isfinite(b)] = 0  # what these become is each processor's own
    for copy in (True, False):
        for key in (slice(None), slice(None, None, -1)):
            assert_same(xp.astype(xp.asarray(b, copy=copy)[key], target), b[key].astype(dtype))


@for_each("length", LENGTHS)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_running_results_are_numpys(name, length):
    a = elements(length, 8)
    b = (a[np.isfinite(a)] / 300).astype(np.float16)
    for given in (a, b, b[::-2]):
        x = face.asarray(given.copy())
        expected = getattr(np, name).accumulate(given)
        assert_same(getattr(face, name).accumulate(x), expected)
        getattr(face, name).accumulate(x, out=x)
        assert_same(x, expected)


def test_doubles_are_rounded_once():
    finite = np.sort(EVERY[np.isfinite(EVERY)].astype(np.float64))
    middle = (finite[1:] + finite[:-1]) / 2
    a = np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)])
    assert_same(xp.astype(xp.asarray(a), xp.float16), a.astype(np.float16))


def test_sorting_and_searching():
    a = elements(3000, 8)
    x = xp.asarray(a, copy=True)
    assert_same(xp.sort(x), np.sort(a))
    assert_same(xp.argsort(x), np.argsort(a, kind="stable"))
    ascending = np.sort(a)
    for side in ("left", "right"):
        for length in (50, 3000):
            expected = np.searchsorted(ascending, a[:length], side=side)
            assert_same(xp.searchsorted(xp.asarray(ascending), x[:length], side=side), expected)
    values, counts = np.unique(a, return_counts=True, equal_nan=False)
    found = xp.unique_counts(x)
    assert_same(found.values + 0, values + np.float16(0))
    assert_same(found.counts, counts)


def test_overflow_warns_as_numpys():
    for size in (3, 100_000):
        x = xp.full(size, 60_000.0, dtype=xp.float16)
        for call in (lambda x=x: x * 2.0, lambda x=x: x + x, lambda x=x: xp.square(x)):
            with pytest.warns(RuntimeWarning, match="overflow"):
                xp.evaluate(call())


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint16", "float64"])
def test_casts_that_overflow_warn_as_numpys(dtype):
    for size in (3, 3_000, 100_000):
        x = xp.astype(xp.full(size, 65_530), dtype)
        for key in (slice(None), slice(None, None, 2)):
            with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
                xp.evaluate(xp.astype(x[key], xp.float16))
        xp.evaluate(xp.astype(x // 2, xp.float16))


@pytest.mark.parametrize("values", [[1.5, -2.0], [0.0, -0.0, 1.0], [-0.0, 3.0, 0.0], [0.5, np.nan]])
def test_distinct_values_of_many(values):
    a = np.concatenate([np.resize(np.asarray(values, np.float16), 40_000), elements(20_000, 9)])
    for each in (a[:40_000], a, a[::-1]):
        wide = xp.unique_counts(xp.asarray(each.astype(np.float32)))
        found = xp.unique_counts(xp.asarray(each, copy=True))
        for mine in (found.values, xp.unique_values(xp.asarray(each))):
            assert_same(mine, np.asarray(wide.values).astype(np.float16))
        assert_same(found.counts, np.asarray(wide.counts))


def test_ints_beyond_the_largest_number_are_errors():
    x = xp.ones(2, dtype=xp.float16)
    for call in (
        lambda: xp.asarray([70_000], dtype=xp.float16),
        lambda: xp.full(2, 70_000, dtype=xp.float16),
        lambda: x + 70_000,
        lambda: xp.asarray(np.asarray([1, -70_000]), dtype=xp.float16),
    ):
        refused(OverflowError, "float16", call)
    assert float(xp.asarray([65_504], dtype=xp.float16)[0]) == 65_504


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("kind", ["numbers", "zeros", "infinities", "NaN"])
def test_extremes_of_many_elements_are_numpys(name, kind):
    a = np.random.default_rng(3).standard_normal((300, 250)).astype(np.float16)
    if kind == "zeros":
        a = np.where(a > 0, np.float16(0), np.float16(-0.0))
    elif kind == "infinities":
        a[a < 0] = -np.inf
        a[7, 7] = np.inf
    elif kind == "NaN":
        a[20, 30] = np.nan
    for ours, theirs in (
        (xp.asarray(a, copy=True), a),
        (xp.asarray(a, copy=True).T, a.T),
        (xp.asarray(a, copy=True) * 2 + 1, a * np.float16(2) + np.float16(1)),
    ):
        for axis in (None, 0, 1):
            for function in (name, f"arg{name}"):
                found = getattr(xp, function)(ours, axis=axis)
                assert_same(found, np.asarray(getattr(np, function)(theirs, axis=axis)))


@for_each("length", [3, 500, 40_000, 600_000])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_quotients_that_are_rounded_down_are_numpys_unless_one_is_infinite(dtype, length):
    a, b = np.random.default_rng(length).standard_normal((2, length)).astype(dtype)
    x, y = xp.asarray(a, copy=True), xp.asarray(b, copy=True)
    assert_same(x // y, a // b)
    x[1] = xp.inf
    assert bool((x // xp.abs(y))[1] == xp.inf)
