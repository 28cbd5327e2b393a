"""When an expression is computed, and how often: once, or never.

Floating-point warnings tell: they come with the value.
"""

import gc
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import array_api_nx as xp
from tests.native.hazards import numbers
from tests.support.arrays import address
from tests.support.implementations import needs_native
from tests.support.programs import assert_same, deferring, numpy_of, pending, settings

pytestmark = pytest.mark.usefixtures("threshold")

SHAPE = (4, 6)


@pytest.fixture
def x():
    return xp.asarray(numbers(SHAPE), copy=True)


@contextmanager
def warned():
    """The texts of all warnings given inside, in the list that it yields."""
    texts = []
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn", under="ignore"):
        warnings.simplefilter("always")
        yield texts
    texts += [str(warning.message) for warning in caught]


def test_warnings_come_with_the_value(x):
    with deferring():
        zero = x * 0.0
        with warned() as early:
            y = x / zero
        with warned() as late:
            xp.evaluate(y)
        with warned() as again:
            xp.evaluate(y)
            numpy_of(y)
    assert early == []
    assert "divide by zero encountered in divide" in late
    assert again == []


def test_dropped_results_are_never_computed(x):
    with deferring(), warned() as texts:
        zero = xp.zeros(SHAPE)
        y = x / zero
        z = xp.log(zero) + y
        del y, z
        gc.collect()
        kept = x + zero
        xp.evaluate(kept, zero)
        x[...] = 1.0
        x / zero
        xp.log(zero)
    assert texts == []


def test_dropped_results_are_not_computed_by_exports_or_writes(x):
    with deferring(), warned() as texts:
        y = x * 1.0
        z = y / 0.0
        del z
        np.asarray(x)
        y[0] = 3.0
        np.asarray(y)
    assert texts == []


def test_a_part_asked_for_does_not_cost_the_whole_twice(x):
    a = numbers(SHAPE)
    with deferring():
        zero = x * 0.0
        with warned() as texts:
            y = xp.log(zero) * 0.0 + x
            assert bool(xp.all(xp.isnan(y[0])))
            assert np.isnan(float(y[3, 5]))
            total = xp.sum(xp.where(xp.isnan(y), x, y))
            assert float(total) == a.sum()
            numpy_of(y)
    assert texts.count("divide by zero encountered in log") == 1


@pytest.mark.parametrize("second", ["ignore", "warn", "raise"])
@pytest.mark.parametrize("first", ["ignore", "warn"])
def test_errstate_is_that_of_the_call(first, second, x):
    zero = xp.asarray(np.zeros(SHAPE), copy=True)
    with deferring():
        with np.errstate(all=first):
            y = x / zero
        with warned() as texts, np.errstate(all=second):
            xp.evaluate(y)
        if first == "ignore":
            assert texts == []
        else:
            assert "divide by zero encountered in divide" in texts


@pytest.mark.parametrize("order", [("ignore", "warn"), ("warn", "ignore")])
def test_equal_expressions_under_different_errstates(order):
    zero = xp.asarray(np.zeros(SHAPE), copy=True)
    with settings("context"), warned() as texts:
        arrays = []
        for state in order:
            with np.errstate(all=state):
                arrays.append(xp.log(zero))
        xp.evaluate(*arrays)
    assert texts == ["divide by zero encountered in log"]


@pytest.mark.parametrize("state", ["raise", "call", "print", "log"])
def test_errstates_that_act_at_the_call(state, x):
    calls = []

    class Log:
        def write(self, text):
            calls.append(text)

    handler = (lambda kind, flag: calls.append(kind)) if state == "call" else Log()
    with deferring(), np.errstate(all=state, call=handler if state in ("call", "log") else None):
        if state == "raise":
            with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
                (x * 1.0 + 1.0) / 0.0
        else:
            y = x / 0.0
            assert not pending(y)
            if state != "print":
                assert calls


def test_warnings_that_are_errors_leave_everything_intact(x):
    a = numbers(SHAPE)
    with settings("context"):
        y = x / 0.0
        z = x * 2.0
        with warnings.catch_warnings(action="error"), pytest.raises(RuntimeWarning):
            x[...] = 5.0
        with np.errstate(all="ignore"):
            oracle = a / 0.0
        with warnings.catch_warnings(action="ignore"):
            assert_same(numpy_of(y), oracle)
            assert_same(numpy_of(z), a * 2.0)
            x[...] = 5.0
        assert_same(numpy_of(x), np.full(SHAPE, 5.0))


SLABS = {
    "one": lambda a, b, c, k: -a[:, :, k],
    "two": lambda a, b, c, k: 0.25 * (a[1:, :, k + 1] + a[:-1, :, k]),
    "three": lambda a, b, c, k: a[:, :, k] * b[:, :, k] + c[:, :, k],
    "six": lambda a, b, c, k: -a[..., k] * (b[..., k - 1] - b[..., k]) - c[..., k] * a[..., k + 1],
    "rows": lambda a, b, c, k: a[:, ::3, 0] + b[:, ::3, 0],
    "a number": lambda a, b, c, k: (a[:, :, k] + b[:, :, k]) / 0,
    "compared": lambda a, b, c, k: (a[:, :, k] < b[:, :, k]) & (b[:, :, k] < c[:, :, k]),
    "backwards": lambda a, b, c, k: a[::-1, :, k] - b[::-1, :, k],
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SLABS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int16"])
def test_elements_far_from_each_other_are_read_where_they_lie(name, dtype):
    rng = np.random.default_rng(5)
    arrays = [rng.integers(-9, 9, (70, 60, 7)).astype(dtype) for _ in range(3)]
    ours = [xp.asarray(a, copy=True) for a in arrays]
    expected = SLABS[name](*arrays, 3)
    if dtype.startswith("float") or name not in ("two", "a number"):
        assert_same(numpy_of(SLABS[name](*ours, 3)), expected)
        if expected.dtype != bool:
            np.testing.assert_equal(float(xp.max(SLABS[name](*ours, 3) * 1)), expected.max())
    if expected.shape == (70, 60) and expected.dtype == arrays[2].dtype:
        arrays[2][:, :, 5], ours[2][:, :, 5] = expected, SLABS[name](*ours, 3)
        assert_same(numpy_of(ours[2]), arrays[2])


def test_elements_far_from_each_other_warn_once():
    a = np.ones((70, 60, 7))
    x = xp.asarray(a, copy=True)
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide") as met:
        numpy_of(x[:, :, 2] / (x[:, :, 3] - 1))
    assert len(met) == 1


# ---------------------------------------------------------------------- memory of operands

LONG = 40_000


def temporary():
    """An array in memory of its own, and where that is."""
    x = xp.cumulative_sum(xp.ones(LONG))
    return x, address(np.asarray(x))


@needs_native
@pytest.mark.parametrize(
    "operate",
    [
        lambda x: x * 2.0,
        lambda x: 2.0 - x,
        lambda x: x * x,
        xp.sqrt,
        lambda x: x + xp.arange(float(LONG)),
    ],
)
def test_an_operation_takes_the_memory_of_a_temporary_operand(operate):
    expected = np.array(operate(xp.asarray(np.arange(1.0, LONG + 1))))
    x, place = temporary()
    y = operate(x)
    del x
    found = np.asarray(y)
    np.testing.assert_array_equal(found, expected)
    assert address(found) == place


@needs_native
@pytest.mark.parametrize(
    "keep",
    [
        lambda x: x,
        lambda x: x[1:],
        np.asarray,
        lambda x: np.asarray(x)[3:],
        lambda x: x + 1.0,  # which waits
        lambda x: xp.sum(x * 3.0),
        lambda x: memoryview(np.asarray(x)),
    ],
)
def test_memory_that_something_else_refers_to_is_not_taken(keep):
    x = xp.cumulative_sum(xp.ones(LONG))
    kept = keep(x)
    before = np.array(keep(xp.asarray(np.arange(1.0, LONG + 1))))
    y = x * 2.0
    del x
    np.testing.assert_array_equal(np.asarray(y), 2.0 * np.arange(1.0, LONG + 1))
    np.testing.assert_array_equal(np.array(kept), before)


@pytest.mark.parametrize("threads", [1, 3])
def test_memory_of_operands_under_errors(threads):
    x = xp.cumulative_sum(xp.ones(LONG)) - 1.0
    xp.evaluate(x)
    with settings("context", num_threads=threads), warned() as texts:
        y = 1.0 / x
        del x
        xp.evaluate(y)
    assert texts == ["divide by zero encountered in divide"]
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(np.asarray(y), 1.0 / np.arange(float(LONG)))


def test_memory_of_numpys_arrays_is_not_taken():
    x = np.arange(float(LONG))
    y = xp.asarray(x) * 2.0
    xp.evaluate(y)
    np.testing.assert_array_equal(x, np.arange(float(LONG)))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_that_are_written_past_the_caches(threads):
    size = 2**21 + 7  # of float64 more bytes than any processor keeps in its caches
    x = np.random.default_rng(0).random(size)
    y = np.random.default_rng(1).random(size)
    with xp.config_context(num_threads=threads):
        a, b = xp.asarray(x), xp.asarray(y)
        assert np.asarray(2 * a + 3 * b).tobytes() == (2 * x + 3 * y).tobytes()
        target = xp.zeros((size + 3,))
        target[3:] = a * b - a
        expected = np.zeros(size + 3)
        expected[3:] = x * y - x
        assert np.asarray(target).tobytes() == expected.tobytes()
