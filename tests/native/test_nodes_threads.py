"""Deferral from several threads: one may compute, write or drop what another one reads.

Threads meet at barriers, so that what overlaps does so in every run; the stress tests add what
chance brings, and are right however it falls.
"""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import array_api_nx as xp
from tests.native.hazards import numbers
from tests.support.processes import needs_fork, status_of_child
from tests.support.programs import (
    LARGE,
    assert_same,
    deferring,
    numpy_of,
    pending,
    settings,
)
from tests.support.refusals import refused
from tests.support.threads import PATIENCE, together

pytestmark = [pytest.mark.usefixtures("threshold"), pytest.mark.slow]

SHAPE = (4, 6)


def deferring_large():
    """Large arrays are deferred; for any thread."""
    return xp.config_context(fusion="auto", fusion_threshold=LARGE - 1)


@pytest.fixture
def x():
    return xp.asarray(numbers(SHAPE), copy=True)


def test_what_one_thread_deferred_another_one_writes(x):
    deferred, written = threading.Event(), threading.Event()
    results = []

    def reader():
        with deferring():
            y, total = x * 2.0, xp.sum(x[1:] + 1.0)
            deferred.set()
            assert written.wait(PATIENCE)
            results.extend([numpy_of(y), numpy_of(total), numpy_of(x)])

    def writer():
        assert deferred.wait(PATIENCE)
        x[...] = 5.0
        written.set()

    together(reader, writer)
    a = numbers(SHAPE)
    assert_same(results[0], a * 2.0)
    assert_same(results[1], np.sum(a[1:] + 1.0))
    assert_same(results[2], np.full(SHAPE, 5.0))


def test_what_one_thread_deferred_another_one_evaluates(x):
    with deferring():
        y = xp.sqrt(x * x)
        together(lambda: xp.evaluate(y))
        assert not pending(y)
        z = y + 1.0
    together(lambda: assert_same(numpy_of(z), np.abs(numbers(SHAPE)) + 1.0))


def test_what_one_thread_deferred_another_one_drops(x):
    held = {}
    with deferring():
        held["y"] = x * 2.0
        z = held["y"] + 1.0
    together(held.clear)
    assert_same(numpy_of(z), numbers(SHAPE) * 2.0 + 1.0)


def test_what_one_thread_deferred_another_one_exports(x):
    with deferring():
        y = x * 2.0
        z = y + 1.0
        exported = []
        together(lambda: exported.append(np.asarray(y)))
        exported[0][...] = 0.0
        assert_same(numpy_of(z), numbers(SHAPE) * 2.0 + 1.0)
        assert_same(numpy_of(y), np.zeros(SHAPE))


def test_settings_are_those_of_the_thread(x):
    inside, asked = threading.Event(), threading.Event()
    answers = {}

    def one():
        with deferring():
            inside.set()
            assert asked.wait(PATIENCE)
            answers["inside"] = pending(x + 1.0)

    def other():
        assert inside.wait(PATIENCE)
        with settings("off"):
            answers["outside"] = pending(x + 2.0)
            asked.set()

    together(one, other)
    assert answers == {"inside": True, "outside": False}


@pytest.mark.parametrize("round_", range(8))
@pytest.mark.parametrize("large", [False, True])
def test_all_threads_ask_for_the_same_expression(large, round_):
    a = numbers((4, LARGE // 4 + 1) if large else SHAPE) + float(round_)
    x = xp.asarray(a, copy=True)
    with deferring():
        y = x * 2.0 + 1.0
        z = xp.sum(y, axis=0)
    values = []
    together(
        lambda: values.append(numpy_of(y)),
        lambda: values.append(numpy_of(y[::-1])[::-1]),
        lambda: values.append(numpy_of(z)),
        lambda: xp.evaluate(z, y),
    )
    for value in values:
        assert_same(value, a * 2.0 + 1.0 if value.ndim == 2 else (a * 2.0 + 1.0).sum(axis=0))


def test_threads_build_on_what_others_evaluate(x):
    with deferring():
        y = x * 2.0

    def build():
        with deferring():
            for i in range(50):
                z = y * float(i) - x
                assert_same(numpy_of(z), a * 2.0 * float(i) - a)

    a = numbers(SHAPE)
    together(build, build, lambda: xp.evaluate(y), build)


def test_equal_expressions_in_all_threads(x):
    a = numbers(SHAPE)

    def work():
        with deferring():
            for i in range(50):
                y = x * float(i % 5)
                z = x * float(i % 5)
                z[0] = -1.0
                y += 1.0
                oracle = a * float(i % 5)
                assert_same(numpy_of(y), oracle + 1.0)
                oracle[0] = -1.0
                assert_same(numpy_of(z), oracle)

    together(*[work] * 4)


@pytest.mark.parametrize("large", [False, True])
def test_threads_write_parts_that_no_other_one_reads(large):
    threads, rounds = 4, 6 if large else 30
    shape = (threads, LARGE + 1 if large else 5)
    x = xp.asarray(numbers(shape), copy=True)
    b = xp.asarray(numbers(shape[1:], 3), copy=True)
    expected = numbers(shape)
    for row in expected:
        for i in range(rounds):
            before = row * 2.0
            row[1:] = row[:-1] - numbers(shape[1:], 3)[1:] + float(i)
            row[...] = before % 64.0 - row % 32.0
            row += row[::-1].copy()

    def work(row):
        with deferring_large() if large else deferring():
            for i in range(rounds):
                before = row * 2.0
                # Deferred, never asked for: someone else's write must not be troubled by it.
                unread = row - b
                row[1:] = row[:-1] - b[1:] + float(i)
                row[...] = before % 64.0 - row % 32.0
                row += row[::-1]
                del unread

    together(*[lambda t=t: work(x[t]) for t in range(threads)])
    assert_same(numpy_of(x), expected)


def test_threads_write_columns_of_a_pending_array():
    a = numbers((6, 4))
    with deferring():
        y = xp.asarray(a, copy=True) * 2.0
        reader = y + 1.0

    def work(t):
        with deferring():
            for _ in range(20):
                y[:, t] = y[:, t] + 1.0

    together(*[lambda t=t: work(t) for t in range(4)])
    assert_same(numpy_of(y), a * 2.0 + 20.0)
    assert_same(numpy_of(reader), a * 2.0 + 1.0)


def test_many_arrays_come_and_go():
    # Results of the same size take over each other's memory.
    size = LARGE + 3

    @deferring_large()
    def work(t):
        held = []
        for i in range(25):
            value = float(100 * t + i)
            y = xp.full((size,), value) + 1.0
            held.append((y * 2.0, 2.0 * value + 2.0))
            if i % 3 == 0:
                xp.evaluate(*[z for z, _ in held])
            if len(held) > 3:
                z, right = held.pop(0)
                assert float(z[0]) == right
                assert bool(xp.all(z == right))

    together(*[lambda t=t: work(t) for t in range(3)])


def test_a_pool_of_threads():
    a = numbers((12, 50))
    x = xp.asarray(a, copy=True)

    def standardised(row):
        with deferring():
            return numpy_of((row - xp.max(row)) / (xp.sum(xp.abs(row)) + 1.0))

    with ThreadPoolExecutor(3) as pool:
        rows = list(pool.map(standardised, [*x, *x], timeout=PATIENCE))
    oracle = (a - a.max(axis=1, keepdims=True)) / (np.abs(a).sum(axis=1, keepdims=True) + 1.0)
    assert_same(np.stack(rows), np.concatenate([oracle, oracle]))


def test_results_of_a_pool_are_read_elsewhere():
    a = numbers((8, LARGE))

    @deferring_large()
    def work(row):
        return xp.abs(row) * 2.0 + 1.0

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(work, row) for row in xp.asarray(a, copy=True)]
        rows = [future.result(PATIENCE) for future in futures]
    assert all([pending(row) for row in rows])
    total = rows[0]
    for row in rows[1:]:
        total = total + row
    assert_same(numpy_of(total), (np.abs(a) * 2.0 + 1.0).sum(axis=0))


def test_an_error_in_one_thread_is_its_own(x):
    a = numbers(SHAPE)
    with deferring():
        y = x * 2.0

    def fails():
        with deferring():
            for _ in range(20):
                refused(ValueError, "broadcast", lambda: x + xp.ones((5,)))
                with np.errstate(all="raise"), pytest.raises(FloatingPointError):
                    (x * 1.0) / 0.0

    def works():
        with deferring(), np.errstate(all="ignore"):
            for _ in range(20):
                assert_same(numpy_of((y / 0.0)[0] > 0.0), a[0] > 0.0)

    together(fails, works, works)


def test_warnings_go_to_the_thread_that_computes(x):
    # Catching warnings is not safe in threads: the main one does it, the other one computes.
    with deferring():
        with np.errstate(all="ignore"):
            y = x / 0.0
        with warnings.catch_warnings(record=True, action="always") as caught:
            together(lambda: xp.evaluate(y))
    assert caught == []


def agree(x, oracle):
    return bool(np.array_equal(numpy_of(x), oracle))


@pytest.mark.parametrize("kind", ["calls of a compiled function", "operands of a reduction"])
def test_what_holds_for_a_threads_calls_ends_in_any_order(kind, monkeypatch):
    """What lets a thread's operations wait ends with them, also if another one's began later."""
    compiled = xp.compile(lambda x: xp.log(x) * 2.0 + 1.0)
    compiled(xp.ones(SHAPE))
    began = {name: threading.Event() for name in ("first", "second")}
    may_end = {name: threading.Event() for name in began}

    def show(*_):
        name = threading.current_thread().name
        began[name].set()
        assert may_end[name].wait(PATIENCE)

    def work():
        if kind == "calls of a compiled function":
            with settings("off"):
                compiled(xp.zeros(SHAPE))
        else:
            with deferring():
                xp.max(xp.log(xp.zeros(SHAPE))[:, ::2], axis=0)

    with warnings.catch_warnings(action="always"):
        monkeypatch.setattr(warnings, "showwarning", show)
        threads = {name: threading.Thread(target=work, name=name, daemon=True) for name in began}
        for name, thread in threads.items():
            thread.start()
            assert began[name].wait(PATIENCE)
        for name, thread in threads.items():
            may_end[name].set()
            thread.join(PATIENCE)
    lent = xp.asarray(numbers(SHAPE), copy=False)
    outside = np.asarray(lent)
    with deferring():
        doubled = lent * 2.0
        assert not pending(doubled)
        assert pending(xp.ones(SHAPE) * 2.0)
    outside[...] = -1.0
    assert_same(numpy_of(doubled), numbers(SHAPE) * 2.0)


@needs_fork
def test_a_fork_while_other_threads_compute():
    a = numbers((8, LARGE // 4))
    x = xp.asarray(a, copy=True)
    done = threading.Event()

    @deferring_large()
    def busy():
        own = xp.asarray(a, copy=True)
        while not done.is_set():
            xp.evaluate(own * 2.0 + 1.0, xp.sum(own - 1.0))
            own[0] = 1.0

    @deferring_large()
    def forks():
        try:
            for i in range(10):
                y = x * float(i)
                assert status_of_child(partial(agree, y, a * float(i))) == 0
        finally:
            done.set()

    together(busy, forks, busy)


@needs_fork
@pytest.mark.parametrize("threads", [1, 4])
def test_a_forked_child_computes(threads):
    shape = (64, LARGE // 8)
    a = numbers(shape)

    def compute(x):
        y = xp.abs(x) * 2.0 + 1.0
        oracle = np.abs(a) * 2.0 + 1.0
        return bool(
            np.array_equal(numpy_of(y), oracle)
            and np.array_equal(numpy_of(xp.sum(y, axis=0)), oracle.sum(axis=0))
            and np.array_equal(numpy_of(waiting), a - 3.0)
        )

    with settings("large", num_threads=threads):
        x = xp.asarray(a, copy=True)
        waiting = x - 3.0
        assert not np.array_equal(numpy_of(x * 3.0), a)
        assert status_of_child(lambda: compute(x)) == 0
        assert compute(x)
