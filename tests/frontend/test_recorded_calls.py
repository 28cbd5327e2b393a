"""Compiled functions as the calls that they make: `frontend/recorded_calls.py`."""

import warnings
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.frontend.trees import leaves
from tests.support import implementations
from tests.support.programs import assert_same, numpy_of
from tests.support.refusals import refused
from tests.support.tables import for_each

pytestmark = [implementations.needs_native, implementations.needs_call_lists]

Pair = namedtuple("Pair", ["first", "second"])


def call_list(compiled):
    """What C runs for the last arguments, if that is a list of calls."""
    program = compiled._program
    return program if type(program).__name__ == "CallList" else None


def in_place(x):
    y = xp.zeros(x.shape)
    y[1:] = x[:-1]
    y += x
    y[0] *= 2
    return y, x[::-1]


def many_results(x):
    rows = xp.unstack(xp.stack([x, x * 2]))
    q, r = xp.linalg.qr(xp.eye(x.shape[0]) * x)
    return Pair(rows[1], {"q": q, "r": [r]}), x, x.shape[0], "text"


FUNCTIONS = {
    "movement": lambda x: xp.reshape(x, (-1, 1)).T,
    "sizes in arguments": lambda x: xp.arange(x.shape[0] - 1) * x.shape[0] / 3,
    "lists": lambda x: xp.concat([x[1:], xp.flip(x), xp.asarray([1.0, float(x.shape[0])])]),
    "arrays in keys": lambda x: xp.reshape(x, (1, -1))[0, xp.argsort(x)],
    "keywords": lambda x: xp.cumulative_sum(x, axis=0, include_initial=True),
    "reflected operators": lambda x: xp.roll(2 - x, 1) + 1 / xp.repeat(x, 1) - 2.0 ** xp.tile(x, 1),
    "comparisons": lambda x: xp.roll((x > 0.5) & ~(x <= 0.7) | (x == x), 1),
    "NumPy scalars": lambda x: xp.roll(np.float64(2.0) * x - np.float64(0.5), 1),
    "functions of NumPy": lambda x: xp.roll(np.exp(x), 1),
    "special functions": lambda x: xp.roll(xp.special.erf(x), 1),
    "matrices": lambda x: xp.linalg.solve(xp.eye(x.shape[0]) + x, x),
    "rows": lambda x: [row + 1 for row in xp.unstack(x)],
    "in place": in_place,
    "many results": many_results,
}


@for_each("name", FUNCTIONS)
def test_results_are_those_of_the_function(name):
    if name == "special functions":
        pytest.importorskip("scipy")
    function = FUNCTIONS[name]
    compiled = xp.compile(function)
    rng = np.random.default_rng(0)
    for size in (5, 3, 5, 4):
        for _ in range(2):
            values = rng.random(size) + 0.1
            x, y = xp.asarray(values), xp.asarray(values)
            found, expected = compiled(x), function(y)
            for a, b in zip(leaves(found), leaves(expected), strict=True):
                if isinstance(b, xp.Array):
                    assert_same(numpy_of(a), numpy_of(b))
                    assert a.dtype is b.dtype
                    assert (a is x) == (b is y)
                else:
                    assert (type(a), a) == (type(b), b)
            assert_same(x, y)
        assert call_list(compiled) is not None, size


def test_arguments_that_are_written_must_be_writable():
    def function(x):
        x[1:] = xp.roll(x, 1)[1:]
        return x

    compiled = xp.compile(function)
    assert list(compiled(xp.asarray([1.0, 2.0, 3.0]))) == [1.0, 1.0, 2.0]
    locked = np.ones(3)
    locked.flags.writeable = False
    refused(ValueError, "read-only", compiled, xp.asarray(locked, copy=False))


@for_each("size", [5, 100, 30_000])
def test_errors_leave_arguments_as_they_were(size):
    def function(x, y, i):
        x += 1
        y[...] = xp.roll(x, 1)
        return x[i] + xp.sum(y)

    compiled = xp.compile(function)
    good, bad = xp.asarray([0, -1]), xp.asarray([0, size])
    memory = np.zeros(2 * size)
    for _ in range(3):
        for x in (xp.zeros(size), xp.asarray(memory[::2], copy=False)):
            y = xp.ones(size)
            refused(IndexError, "out of bounds", compiled, x, y, bad)
            assert_same(x, np.zeros(size))
            assert_same(y, np.ones(size))
            assert list(compiled(x, y, good)) == [1.0 + size] * 2
            assert_same(x, np.ones(size))
            x -= 1


def test_lists_are_those_of_the_trace():
    def function(x):
        parts = [1.0, 2.0]
        y = xp.asarray(parts)
        parts.append(3.0)
        return xp.roll(x + y, 1)

    compiled = xp.compile(function)
    for _ in range(3):
        assert list(compiled(xp.zeros(2))) == [2.0, 1.0]


def test_what_is_no_call_is_left_to_the_program():
    def settings(x):
        with np.errstate(divide="ignore"):
            return xp.roll(1 / x, 1)

    def arrays(x):
        return xp.roll(x + np.asarray([1.0, 2.0]), 1)

    for function in (settings, arrays):
        compiled = xp.compile(function)
        with warnings.catch_warnings(action="error"):
            for values in ([1.0, 2.0], [0.0, 2.0]):
                assert_same(compiled(xp.asarray(values)), function(xp.asarray(values)))
        assert call_list(compiled) is None


def test_other_settings_are_left_to_the_program():
    compiled = xp.compile(lambda x: xp.concat([xp.zeros(2), x]))
    x = xp.ones(2)
    compiled(x)
    assert call_list(compiled) is not None
    pytest.importorskip("torch")
    with xp.config_context(default_device="torch:cpu"):
        assert compiled(x).device == x.device


def test_new_arrays_are_where_the_arguments_are():
    compiled = xp.compile(lambda x: (xp.zeros(3), xp.roll(x, 1)))
    for x in (xp.ones(2), xp.ones(2, device="cpu"), xp.ones(2)):
        for _ in range(2):
            assert [y.device.committed for y in compiled(x)] == [x.device.committed] * 2


def test_errors_and_warnings_name_the_line_that_calls():
    compiled = xp.compile(lambda x: xp.roll(1 / x, 1))
    compiled(xp.ones(3))
    with pytest.warns(RuntimeWarning, match="divide by zero") as caught:
        compiled(xp.zeros(3))
    assert {one.filename for one in caught} == {__file__}
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        compiled(xp.zeros(3))
    solve = xp.compile(lambda x: xp.linalg.solve(x, x[0]))
    solve(xp.eye(2))
    for _ in range(2):
        refused(np.linalg.LinAlgError, None, solve, xp.zeros((2, 2)))
        assert list(solve(xp.eye(2))) == [1.0, 0.0]


def test_one_array_given_twice_and_keywords():
    compiled = xp.compile(lambda x, y, *, shift=1: xp.roll(x - y, shift))
    x, y = xp.asarray([1.0, 2.0]), xp.asarray([1.0, 1.0])
    for _ in range(2):
        assert list(compiled(x, y)) == [1.0, 0.0]
        assert list(compiled(x, x)) == [0.0, 0.0]
        assert list(compiled(x, y, shift=2)) == [0.0, 1.0]


def test_threads_share_a_list():
    compiled = xp.compile(lambda x: xp.cumulative_sum(xp.sort(xp.roll(x, 1)) @ x.T, axis=0))
    given = [xp.asarray(np.random.default_rng(i).random((4, 4))) for i in range(8)]
    expected = [numpy_of(compiled.__wrapped__(x)) for x in given]
    with ThreadPoolExecutor(4) as pool:
        for found, wanted in zip(pool.map(compiled, given * 50), expected * 50, strict=True):
            assert_same(numpy_of(found), wanted)


def test_calls_while_another_thread_traces():
    """They are not recorded."""
    other = xp.ones(3)

    def function(x):
        with ThreadPoolExecutor(1) as pool:
            assert list(
                pool.submit(lambda: xp.roll(xp.linalg.svdvals(xp.eye(3)) + other, 1)).result()
            )
        return xp.roll(x, 1)

    compiled = xp.compile(function)
    for values in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]):
        assert_same(compiled(xp.asarray(values)), np.roll(values, 1))


def test_long_functions_use_slots_again():
    def function(x):
        for _ in range(300):
            x = xp.roll(x, 1) * 0.5 + xp.flip(x)
        return x

    compiled = xp.compile(function)
    x = xp.asarray([1.0, 2.0, 3.0])
    for _ in range(2):
        assert_same(compiled(x), function(x))
    assert call_list(compiled) is not None


def test_other_sizes_need_no_python_code_of_the_call():
    compiled = xp.compile(lambda x, y: xp.roll(x, y.shape[0]) + xp.sum(y))
    for size in (3, 4, 3, 5, 4):
        x, y = xp.asarray(np.arange(9.0)), xp.ones(size)
        assert_same(compiled(x, y), compiled.__wrapped__(x, y))
        assert_same(compiled(y, x), compiled.__wrapped__(y, x))
    for x in (xp.ones(1), xp.ones(0), xp.ones((2, 3)), xp.ones(2, dtype=xp.float32)):
        assert_same(compiled(x, xp.ones(3)), compiled.__wrapped__(x, xp.ones(3)))
    guarded = xp.compile(lambda x: xp.roll(x, 1) if x.shape[0] < 5 else xp.flip(x))
    for size in (3, 4, 5, 6, 4):
        x = xp.asarray(np.arange(float(size)))
        assert_same(guarded(x), guarded.__wrapped__(x))
    assert guarded.cache_info().traces == 2
