"""Expressions that are pending when memory that they read is written.

A call before a write reads the elements from before it, even if it is computed later. Every
program here runs on NumPy's arrays too, which compute at once.
"""

from functools import cache
from itertools import permutations

import numpy as np
import pytest

import array_api_nx as xp
from tests.native.hazards import KEYED, KEYS, ORIGINS, READS, VIEWS, WRITES, numbers
from tests.support.programs import SETTINGS, assert_same, deferring, numpy_of, settings
from tests.support.tables import for_each


def run(ns, origin, view, read, write, key=None):
    """Read, write, read again; the results, and all arrays as they are in the end."""
    x, others = ORIGINS[origin](ns, numbers((4, 6)))
    b = ns.asarray(numbers((4, 6), 3), copy=True)
    v = VIEWS[view](ns, x)
    results = READS[read](ns, v, b[2, 3, ...])
    if isinstance(write, str):
        WRITES[write](ns, x, b)
    else:
        KEYED[write](x, KEYS[key or ""])
    # The same expressions again must not be taken for those from before the write.
    results += READS[read](ns, v, b[2, 3, ...])
    return [numpy_of(y) for y in [*results, v, x, b, *others]]


@cache
def expected(*program):
    return run(np, *program)


def check(mode, *program):
    with settings(mode):
        results = run(xp, *program)
    for i, (actual, oracle) in enumerate(zip(results, expected(*program), strict=True)):
        assert_same(actual, oracle, f"{mode}, {program}, result {i}")


@pytest.mark.parametrize("mode", SETTINGS)
@for_each("key", KEYS)
@pytest.mark.parametrize("view", VIEWS)
def test_parts_written_while_parts_are_read(view, key, mode):
    first = list(VIEWS).index(view) + list(KEYS).index(key)
    for i, read in enumerate(READS):
        check(mode, "memory", view, read, (first + i) % len(KEYED), key)


RUNS = [
    *[("context", origin) for origin in ORIGINS],
    *[("always", name) for name in ("memory", "pending equal", "exported")],
    ("off", "memory"),
]


@pytest.mark.parametrize(("mode", "origin"), RUNS)
@for_each("write", WRITES)
def test_every_write_after_every_read(origin, write, mode):
    """A third of the reads; for the next two writes, or origins, the others."""
    views, reads = list(VIEWS), list(READS)
    first = list(WRITES).index(write)
    for i in range((first + RUNS.index((mode, origin))) % 3, len(READS), 3):
        check(mode, origin, views[(first + i) % len(views)], reads[i], write)


@for_each("order", list(permutations(range(5))))
def test_the_order_of_asking_does_not_matter(order):
    def program(ns):
        x = ns.asarray(numbers((4, 6)), copy=True)
        y = x * 2.0
        total = ns.sum(y + x, axis=0)
        x[1:] = y[:-1] - x[1:]
        z = x + total
        y[0] = total
        return [x, y, z, total, ns.max(y - z)]

    oracle = program(np)
    with deferring():
        results = program(xp)
        for i in order:
            assert_same(numpy_of(results[i]), oracle[i], f"result {i}")
        for i in order:
            assert_same(numpy_of(results[i]), oracle[i], f"result {i}, again")


@pytest.mark.parametrize("mode", SETTINGS)
@for_each("shape", [(), (1,), (1, 1), (5,), (0,), (2, 0, 3)])
def test_shapes_with_few_or_no_elements(shape, mode):
    def program(ns):
        x = ns.asarray(numbers(shape) + 3.0, copy=True)
        y = ns.zeros(shape)
        y += x
        z, total = y * 2.0, ns.sum(y)
        y[...] = x - y * 3.0
        w = y + z
        y -= total
        x[...] = total
        return [x, y, z, total, w]

    with settings(mode):
        actual = [numpy_of(x) for x in program(xp)]
    for i, (x, oracle) in enumerate(zip(actual, program(np), strict=True)):
        assert_same(x, oracle, f"result {i}")


@pytest.mark.parametrize("mode", SETTINGS)
def test_writes_that_fail_change_nothing(mode):
    a = numbers((4, 6))
    with settings(mode):
        x = xp.asarray(a, copy=True)
        y = x + 1.0
        repeated = xp.broadcast_to(y[0], (3, 6))
        with pytest.raises(ValueError, match="cannot be broadcast"):
            x[1:] = y
        with pytest.raises(IndexError):
            x[xp.asarray([0, 9])] = 1.0
        with pytest.raises(ValueError, match="does not fit"):
            x[x > 0] = y[0, :2]
        with pytest.raises(TypeError, match="loses data"):
            x[...] = y * 1j
        with pytest.raises(TypeError):
            x += 1j
        with pytest.raises(ValueError, match="share memory"):
            repeated[0] = 1.0
        with pytest.raises(ValueError, match="share memory"):
            repeated += 1.0
        assert_same(numpy_of(x), a)
        assert_same(numpy_of(y), a + 1.0)
        x[...] = y
        assert_same(numpy_of(x), a + 1.0)
        assert_same(numpy_of(repeated), np.broadcast_to(a[0] + 1.0, (3, 6)))


@pytest.mark.parametrize("as_array", [False, True])
@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_one_element_is_written(as_array, read, shared):
    memory = np.ones((400, 500))
    x = xp.asarray(memory, copy=not shared)
    for flipped in (False, True):
        target = xp.flip(x) if flipped else x
        before = target * 2.0 if read else target[0, 0]
        target[3, -1] = xp.asarray(5.0) if as_array else 5.0
        assert float(target[3, 499]) == 5.0
        assert float(before[3, -1] if read else before) == (2.0 if read else 1.0)
        assert int(xp.count_nonzero(x != 1.0)) == 1 + flipped
        assert (memory[3, 499] != 1.0) == shared
    x[5] = xp.asarray(5.0) if as_array else 5.0
    assert int(xp.count_nonzero(x != 1.0)) == 502


def test_in_place_operations_on_what_is_pending_wait():
    with deferring():
        y = xp.ones((4, 6)) * 2.0
        y += 1.0
        y *= y
        assert xp.explain(y).operations == 3
        part = y[1:, :]
        part += 1.0  # not all of it
        assert not xp.explain(y).pending
        assert float(y[0, 0]) == 9.0
        assert float(y[3, 5]) == 10.0


def test_errors_of_in_place_operations_that_wait_come_with_the_elements():
    with deferring():
        y = xp.zeros((4, 6)) + 1.0
        y /= xp.zeros((4, 6))
        assert xp.explain(y).pending
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            assert numpy_of(y)[0, 0] == np.inf
