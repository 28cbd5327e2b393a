"""Computations of several passes, block by block (native/expressions/expression_phases.c)."""

import os
import threading
import warnings

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.implementations import count_pending, needs_native
from tests.support.programs import numpy_of
from tests.support.tables import for_each
from tests.support.threads import together

pytestmark = needs_native


def softmax(m, x):
    exponentials = m.exp(x - m.max(x, axis=-1, keepdims=True))
    return exponentials / m.sum(exponentials, axis=-1, keepdims=True)


def norms_apart(m, x):
    """The norms are computed in a shape of their own, and read by a view."""
    return x / m.sqrt(m.sum(x * x, axis=-1) + 1.0)[..., None]


def centred_twice(m, x):
    rows = x - m.mean(x, axis=-1, keepdims=True)
    return rows - m.mean(rows, axis=0)


def read_by_others(m, x):
    """Index i of the result needs row i + 1."""
    rows = m.sum(x, axis=-1, keepdims=True)
    return x[:-1, ...] / (rows[1:, ...] + 100.0)


def last_of_all(m, x):
    return m.sum(m.exp(x - m.max(x, axis=-1, keepdims=True)), axis=-1)


def in_the_middle(m, x):
    return x - m.max(x, axis=x.ndim // 2, keepdims=True)


def in_another_shape(m, x):
    rows = x - m.mean(x, axis=-1, keepdims=True)
    turned = m.permute_dims(rows, tuple(range(x.ndim))[::-1])
    return m.max(m.reshape(rows, (2, -1)), axis=0) + m.max(m.sum(turned * 0.01, axis=-1))


def integers(m, x):
    signs = x > 0
    return m.count_nonzero(signs, axis=-1, keepdims=True) * m.where(signs, 2, 1)


PROGRAMS = [
    softmax, norms_apart, centred_twice, read_by_others, last_of_all, in_the_middle,
    in_another_shape, integers,
]  # fmt: skip
SHAPES = [(300, 40), (8, 9_000), (5_000, 3), (4, 3, 20, 50), (2, 1, 60_000), (1_000, 1_000)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_programs(program, shape, dtype):
    given = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    found = program(xp, xp.asarray(given, copy=True))
    assert count_pending() or given.size < 2**15
    expected = program(np, given)
    close = 1e-4 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(np.asarray(found), expected, rtol=close, atol=close)
    assert not count_pending()


@pytest.mark.parametrize("held", [0, 1, 2, 3])
def test_values_that_arrays_show_are_kept(held):
    given = np.random.default_rng(0).standard_normal((400, 50))
    x = xp.asarray(given, copy=True)
    expected = [given.max(axis=1, keepdims=True)]
    expected.append(np.exp(given - expected[0]))
    expected.append(expected[1].sum(axis=1, keepdims=True))
    expected.append(expected[1] / expected[2])
    values = [xp.max(x, axis=1, keepdims=True)]
    values.append(xp.exp(x - values[0]))
    values.append(xp.sum(values[1], axis=1, keepdims=True))
    values.append(values[1] / values[2])
    result, other = values[3], values[held]
    del values
    np.testing.assert_allclose(np.asarray(result), expected[3], rtol=1e-12)
    np.testing.assert_allclose(np.asarray(other), expected[held], rtol=1e-12)
    assert not count_pending()


def test_what_a_reduction_reads_is_written_later():
    x = xp.asarray(np.ones((300, 30)), copy=True)
    centred = x - xp.mean(x, axis=1, keepdims=True)
    x[...] = 7.0
    assert not np.asarray(centred).any()
    sums = xp.sum(x, axis=0)
    x += 1.0
    assert np.array_equal(np.asarray(sums), np.full(30, 2100.0))


def test_two_reductions_of_one_value():
    given = np.random.default_rng(0).standard_normal((400, 50))
    x = xp.asarray(given) * 2.0
    low, high = xp.min(x, axis=1, keepdims=True), xp.max(x, axis=1, keepdims=True)
    found = (x - low) / (high - low)
    del x, low, high
    given *= 2.0
    low, high = given.min(axis=1, keepdims=True), given.max(axis=1, keepdims=True)
    np.testing.assert_allclose(np.asarray(found), (given - low) / (high - low), rtol=1e-12)


def test_warnings_name_the_operations():
    given = np.random.default_rng(0).standard_normal((400, 50))
    given[3, 4] = np.inf
    x = xp.asarray(given, copy=True)
    found = x - xp.mean(x, axis=1, keepdims=True)
    found = xp.log(found * 0.0) + found
    with warnings.catch_warnings(record=True, action="always") as seen:
        found = np.asarray(found)
    assert {str(w.message) for w in seen} == {
        "invalid value encountered in subtract",
        "invalid value encountered in multiply",
        "divide by zero encountered in log",
    }
    with np.errstate(all="ignore"):
        expected = given - given.mean(axis=1, keepdims=True)
        np.testing.assert_array_equal(found, np.log(expected * 0.0) + expected)


def test_bits_do_not_depend_on_blocks():
    given = np.random.default_rng(0).standard_normal((1_000, 300)).astype("float32")
    x = xp.asarray(given, copy=True)
    together = np.asarray(softmax(xp, x))
    largest = xp.max(x, axis=1, keepdims=True)
    np.asarray(largest)
    exponentials = xp.exp(x - largest)
    np.asarray(exponentials)
    sums = xp.sum(exponentials, axis=1, keepdims=True)
    np.asarray(sums)
    assert np.array_equal(together, np.asarray(exponentials / sums))


def test_operands_of_pending_values_are_not_held_for_ever():
    """Of arrays that nothing else shows, so many bytes are held at most."""
    results = []
    for _ in range(20):
        results.append(xp.sum(xp.asarray(np.ones((1_000, 1_000)), copy=True), axis=0))
    assert count_pending() <= 9


def test_a_value_that_its_target_waits_for():
    value = xp.asarray(np.ones(5_000)) * 3.0
    x = value * 2.0
    x[...] = value
    assert np.array_equal(np.asarray(x), np.full(5_000, 3.0))


@pytest.mark.parametrize("name", ["all", "max", "count_nonzero"])
def test_what_is_reduced_reads_a_value_that_is_kept(name):
    """Threads have parts of each row, which lie apart in the memory of the value."""
    given = np.random.default_rng(0).integers(-5, 6, (2_000, 200))
    kept = xp.maximum(xp.asarray(given, copy=True), -4)
    reduced = getattr(xp, name)(kept > 0 if name != "max" else kept + 1, axis=0)
    expected = np.maximum(given, -4)
    operand = expected > 0 if name != "max" else expected + 1
    assert np.array_equal(np.asarray(reduced), getattr(np, name)(operand, axis=0))
    assert np.array_equal(np.asarray(kept), expected)


def test_what_waits_is_explained_and_still_waits():
    given = np.random.default_rng(0).random((1_000, 100))
    x = xp.asarray(given, copy=True)
    found = norms_apart(xp, x)
    told = xp.explain(found)
    assert (told.pending, told.operations) == (True, 5)
    assert xp.explain(found).pending
    np.testing.assert_allclose(np.asarray(found), norms_apart(np, given), rtol=1e-12)
    y = x * 2.0
    z, _others = y + 1.0, y + 3.0
    assert xp.explain(z).pending
    assert count_pending()


@pytest.mark.parametrize("axes", [(1, 1), (0, 1)], ids=str)
def test_long_chains_of_reductions_need_little_of_the_stack(axes):
    given = np.random.default_rng(0).random((400, 100)) + 0.5

    def chain():
        y = x = xp.asarray(given, copy=True)
        for i in range(500):
            x = y * xp.mean(x, axis=axes[i % 2], keepdims=True)
        return np.asarray(x)

    # Functions take more of it under sanitizers.
    before = threading.stack_size(2**24 if "LD_PRELOAD" in os.environ else 2**20)
    try:
        (found,) = together(chain)
    finally:
        threading.stack_size(before)
    expected = given
    for i in range(500):
        expected = given * expected.mean(axis=axes[i % 2], keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@for_each("axis", [-1, 0, 1])
@for_each("second", ["mean", "max", "var", "sum"])
@pytest.mark.parametrize("first", ["mean", "max", "min", "var"])
def test_two_reductions_of_one_value_that_waits(first, second, axis):
    """The second of two passes could not read what the first one had computed."""
    data = np.random.default_rng(3).standard_normal((64, 40, 50))

    def compute(ns, x):
        y = (x - 1) * 2 + 1
        one, two = [getattr(ns, name)(y, axis=axis, keepdims=True) for name in (first, second)]
        return (y - one) / (two + 1000)

    found = numpy_of(compute(xp, xp.asarray(data, copy=True)))
    np.testing.assert_allclose(found, compute(np, data), rtol=1e-12, atol=1e-15)
    found = numpy_of(compute(xp, xp.asarray(data)))
    np.testing.assert_allclose(found, compute(np, data), rtol=1e-12, atol=1e-15)


def test_a_value_and_what_is_made_of_it_are_both_reduced():
    data = np.random.default_rng(3).standard_normal((64, 1000))

    def compute(ns, x):
        y = x * 2
        z = y + 1
        one = ns.max(z, axis=1, keepdims=True)
        two = ns.max(y, axis=1, keepdims=True)
        three = ns.max(ns.abs(z - two), axis=1, keepdims=True)
        return (y - one) / three + z * two

    found = numpy_of(compute(xp, xp.asarray(data, copy=True)))
    np.testing.assert_array_equal(found, compute(np, data))


@pytest.mark.parametrize("function", ["sum", "mean", "var", "std"])
@pytest.mark.parametrize("shape", [(70, 5, 100), (70, 6, 100), (50, 8, 130)])
def test_sums_around_an_axis_do_not_depend_on_threads(function, shape):
    numbers = np.random.default_rng(shape[1]).standard_normal(shape) + 3
    found = set()
    for threads in (1, 2, 4):
        with xp.config_context(num_threads=threads):
            x = xp.asarray(numbers, copy=True) * 1.5 - 1
            reduced = getattr(xp, function)(x, axis=(0, 2), keepdims=True)
            numpy_of(xp.exp(x / reduced))
            found.add(numpy_of(reduced).tobytes())
    assert len(found) == 1


def test_a_value_that_nothing_shows_waits_beside_small_results():
    x = xp.ones((2000, 500)) * 2
    numpy_of(x)
    before = count_pending()
    x = x - xp.mean(x, axis=1, keepdims=True)
    scale = xp.sqrt(xp.mean(x * x, axis=1, keepdims=True) + 1e-5)
    result = x / scale
    assert count_pending() - before >= 6
    assert not numpy_of(result).any()
