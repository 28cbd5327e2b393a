"""Expressions of one operation, which one call of its function computes."""

import operator
import warnings

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.implementations import needs_native
from tests.support.programs import numpy_of, pending

pytestmark = [needs_native, pytest.mark.usefixtures("waits_when_small")]

BINARY = ("add", "subtract", "multiply", "divide", "maximum", "hypot", "less", "equal")
UNARY = ("negative", "abs", "sqrt", "exp", "sign", "floor", "isnan", "square")
SIZES = (33, 64, 1000, 5001)
"""Of which an operation waits also if its elements are of one byte."""


def values(n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=n) * 50).astype(dtype)


def computed(x):
    xp.evaluate(x)
    return x


def outcome(function):
    with warnings.catch_warnings(record=True, action="always") as caught:
        result = numpy_of(function())
    return result, [str(each.message) for each in caught]


def assert_alike(ours, numpys):
    found, said = outcome(ours)
    expected, expected_said = outcome(numpys)
    assert (found.dtype, found.tobytes(), said) == (
        expected.dtype,
        expected.tobytes(),
        expected_said,
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64"])
@pytest.mark.parametrize("name", BINARY)
def test_two_operands(name, dtype):
    if name in ("divide", "hypot") and dtype.startswith("int"):
        pytest.skip("a function of floating-point numbers")
    ours, numpys = getattr(xp, name), getattr(np, name)
    for n in SIZES:
        a, b = values(n, dtype), values(n, dtype, 1)
        x, y = xp.asarray(a, copy=True), xp.asarray(b, copy=True)
        waiting = ours(x, y)
        assert pending(waiting)
        assert_alike(lambda waiting=waiting: waiting, lambda a=a, b=b: numpys(a, b))
        assert_alike(lambda x=x: ours(x, 3), lambda a=a: numpys(a, 3))
        assert_alike(lambda y=y: ours(3, y), lambda b=b: numpys(3, b))
        assert_alike(lambda x=x: ours(x[1:], x[:-1]), lambda a=a: numpys(a[1:], a[:-1]))
        assert_alike(lambda x=x: ours(x, x), lambda a=a: numpys(a, a))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name, dtype):
    ours, numpys = getattr(xp, name), getattr(np, name)
    for n in SIZES:
        a = values(n, dtype)
        x = xp.asarray(a, copy=True)
        assert_alike(lambda x=x: ours(x), lambda a=a: numpys(a))
        rows = a[: n // 3 * 3].reshape(3, -1)
        y = xp.asarray(rows, copy=True)
        assert_alike(lambda y=y: ours(y), lambda rows=rows: numpys(rows))
        assert_alike(lambda y=y: ours(y[:, 1:]), lambda rows=rows: numpys(rows[:, 1:]))
        assert_alike(lambda y=y: ours(y.T), lambda rows=rows: numpys(rows.T))


def test_the_memory_of_a_temporary_is_taken():
    """An array that has a name or a view keeps its memory."""
    x = xp.asarray(values(3000, "float64"), copy=True)
    before = numpy_of(x).copy()
    kept = computed(x + 1)
    view = kept[::2]
    for operation in (operator.add, operator.mul, operator.sub):
        result = operation(computed(x + 1), 2)
        assert numpy_of(result).tobytes() == operation(before + 1, 2).tobytes()
        result = operation(kept, 2)
        assert numpy_of(result).tobytes() == operation(before + 1, 2).tobytes()
    assert numpy_of(kept).tobytes() == (before + 1).tobytes()
    del kept
    assert numpy_of(view * 2).tobytes() == ((before + 1)[::2] * 2).tobytes()
    assert numpy_of(x).tobytes() == before.tobytes()


def test_operands_are_written_afterwards():
    x = xp.asarray(values(3000, "float64"), copy=True)
    before = numpy_of(x).copy()
    waiting = x * 2
    x[:10] = 0.0
    assert numpy_of(waiting).tobytes() == (before * 2).tobytes()


def test_errors_are_those_that_the_line_asks_for():
    x = xp.asarray(values(3000, "float64"), copy=True)
    with np.errstate(all="ignore"):
        quiet = x / 0
    loud = x / 0
    assert outcome(lambda: quiet)[1] == []
    assert outcome(lambda: loud)[1] == ["divide by zero encountered in divide"]
    assert outcome(lambda: loud)[1] == []
    assert outcome(lambda: xp.exp(x * 100))[1] == ["overflow encountered in exp"]
