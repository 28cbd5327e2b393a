"""Groups of calls in compiled functions, which one pass computes (call_groups.c)."""

import gc
import warnings

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.native import native
from tests.support import implementations
from tests.support.programs import assert_same
from tests.support.refusals import refused

pytestmark = [implementations.needs_native, implementations.needs_call_lists]

FUNCTIONS = {
    "arithmetic": lambda x, y, z: ((2 * x + 1) * y - 3) / (z + 1) + x,
    "several results": lambda x, y, z: (x * y + z - 1, (x + y) * 2 - z, x - 1),
    "one is a part of another": lambda x, y, z: ((s := x * y + z), s * s - xp.exp(s)),
    "comparisons": lambda x, y, z: (x < y) & (y < z) | (z < 0.5) & ~(x > 0.9),
    "views": lambda x, y, z: x[::-1] * y + z[:, None][:, 0] - xp.flip(x) * 2,
    "rows and columns": lambda x, y, z: x[:, None] * y[None, :] + z - x[None, :] / 3,
    "choices": lambda x, y, z: xp.where(x > y, x + z, y - z) * 2 - 1,
    "functions": lambda x, y, z: xp.sin(x) ** 2 + xp.cos(y) ** 2 - xp.sqrt(xp.abs(z)),
    "repeated": lambda x, y, z: (x * y + 1) * (x * y + 1) - (x * y + 1),
}


def arrays(n, dtype=np.float64):
    rng = np.random.default_rng(n)
    return [xp.asarray(rng.random(n).astype(dtype)) for _ in range(3)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_results_at_all_sizes(name, dtype):
    function = FUNCTIONS[name]
    compiled = xp.compile(function)
    for n in (12, 40, 12, 600, 12, 2_500, 40_000 if name != "rows and columns" else 300):
        for _ in range(3):
            given = arrays(n, dtype)
            assert_same(compiled(*given), function(*given))


def test_other_memory_and_the_same_memory():
    """What was prepared for some arrays is not read for others."""
    compiled = xp.compile(lambda x, y: (x * 2 + y) * 3 - y)
    x, y = xp.ones(10), xp.zeros(10)
    for _ in range(3):
        assert float(compiled(x, y)[0]) == 6
    assert float(compiled(x + 1, y + 1)[3]) == 14
    assert float(compiled(y, x)[3]) == 2
    z = xp.arange(20.0)
    for part in (z[:10], z[10:], z[::2], z[10:]):
        expected = (np.asarray(part) * 2 + np.asarray(part[::-1])) * 3 - np.asarray(part[::-1])
        assert np.array_equal(np.asarray(compiled(part, part[::-1])), expected)
    x[...] = 5
    assert float(compiled(x, y)[0]) == 30


def test_errors_are_warned_of_by_their_names():
    compiled = xp.compile(lambda x, y: xp.log(x * y) + x - 1)
    x, y = xp.ones(10), xp.ones(10)
    compiled(x, y)
    compiled(x, y)
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="divide by zero encountered in log"):
            compiled(x, y * 0)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="log"):
        compiled(x, y * 0)
    with np.errstate(divide="ignore"):
        assert float(compiled(x, y * 0)[0]) == -np.inf
    assert float(compiled(x, y)[0]) == 0


def test_arrays_of_one_element_are_read_at_each_call():
    compiled = xp.compile(lambda x, s, t: (x * s + 1) * t - s)
    x = xp.arange(9.0)
    for number in range(6):
        s, t = xp.asarray(float(number)), xp.full((1,), number + 2.0)
        expected = (np.arange(9.0) * number + 1) * (number + 2) - number
        assert np.array_equal(np.asarray(compiled(x, s, t)), expected)


@pytest.mark.parametrize("dtypes", [("int64", "float32"), ("int32", "uint8"), ("bool", "int16")])
def test_mixed_dtypes(dtypes):
    def function(x, y):
        return (x + y) * 2 - x * y + y

    compiled = xp.compile(function)
    rng = np.random.default_rng(0)
    for _ in range(4):
        x, y = [xp.asarray(rng.integers(0, 2, 30).astype(dtype)) for dtype in dtypes]
        assert_same(compiled(x, y), function(x, y))


def test_a_finaliser_may_call_the_function_meanwhile():
    compiled = xp.compile(lambda x, y: ((x * 2 + y) * 3 - y, x + y - 1))
    arguments = [[xp.full(n, float(n)), xp.ones(n)] for n in (5, 7)]

    class Cycle:
        def __init__(self):
            self.itself = self

        def __del__(self):
            first, _ = compiled(*arguments[1])
            found.append(float(first[0]))

    found = []
    compiled(*arguments[0])
    # New results are objects of their own, whose allocation runs the collector.
    held = [xp.zeros(1) for _ in range(80)]
    thresholds = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(50):
            Cycle()
            first, second = compiled(*arguments[0])
            assert float(first[0]) == 32
            assert float(second[0]) == 5
    finally:
        gc.set_threshold(*thresholds)
    gc.collect()
    assert len(held) == 80
    assert set(found) == {44.0}


def test_a_loop_of_equal_steps():
    def heat(u, steps):
        for _ in range(steps):
            u = u + 0.1 * (xp.roll(u, 1) - 2 * u + xp.roll(u, -1))
        return u

    compiled = xp.compile(heat)
    for n in (12, 500, 4_000):
        u = xp.asarray(np.random.default_rng(n).random(n))
        assert_same(compiled(u, 60), heat(u, 60))
        assert_same(compiled(u, 60), heat(u, 60))


def test_arrays_that_share_memory_are_no_pattern_for_others():
    compiled = xp.compile(lambda x, y: (x * 2 + y) * 3 - y)
    whole = xp.arange(30.0)
    for x, y in ((whole[:10], whole[5:15]), (whole[5:15], whole[:10]), (whole[:10], whole[:10])):
        for _ in range(3):
            expected = (np.asarray(x) * 2 + np.asarray(y)) * 3 - np.asarray(y)
            assert np.array_equal(np.asarray(compiled(x, y)), expected)
            other = xp.ones(10)
            assert float(compiled(other, other * 4)[7]) == (2 + 4) * 3 - 4


@pytest.mark.parametrize("first", ["ignore", "warn"])
def test_settings_of_errors_are_those_of_the_call(first):
    compiled = xp.compile(lambda x, y: x / y * 2 + 1)
    x, y = xp.ones(10), xp.zeros(10)
    for state in (first, "ignore", "warn", "ignore", "warn"):
        with np.errstate(divide=state):
            compiled(x, y + 1)
            compiled(x, y + 1)
            with warnings.catch_warnings(record=True, action="always") as caught:
                compiled(x, y)
        assert len(caught) == (state == "warn")


def test_results_that_are_views():
    compiled = xp.compile(lambda x, y: ((x * y + 1)[::-1], x - 1, xp.reshape(x * y + 1, (2, -1))))
    for n in (10, 40, 10, 10):
        x, y = xp.arange(float(n)), xp.ones(n)
        for found, expected in zip(
            compiled(x, y),
            (np.arange(n)[::-1] + 1, np.arange(n) - 1, np.arange(n).reshape(2, -1) + 1),
            strict=True,
        ):
            assert np.array_equal(np.asarray(found), expected)


def test_a_group_is_a_callable_that_checks_its_arrays():
    added = ("__add__", (0, 1), (), 3, ()), (xp.negative, (3,), (), 4, (3,))
    group = native.CallGroup(native.CallList(5, 2, (2.0,), 0, added, 4))
    x = xp.arange(4.0)
    assert_same(group(x, x), -(x + x))
    refused(ValueError, "a list for 1 arrays", group, x)
    refused(TypeError, "takes no names", lambda: group(x, y=x))
    of_sizes = native.CallGroup(native.CallList(5, 2, (), 1, added, 4))
    refused(ValueError, "and no sizes", of_sizes, x, x)
