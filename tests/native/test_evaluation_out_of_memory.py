"""Every allocation fails in turn while operations wait and are computed: a statement raises
MemoryError and changes nothing, or gives the right elements."""

import gc

import numpy as np
import pytest

import array_api_nx as xp
from tests.native.test_functions_out_of_memory import failing, is_of_memory, set_nomemory
from tests.native.test_nodes_safety import host, made
from tests.support.implementations import count_pending, needs_native
from tests.support.programs import recorded_from

pytestmark = [
    needs_native,
    pytest.mark.skipif(set_nomemory is None, reason="Python was built without _testcapi"),
]

MOST = 400
"""More allocations than any statement here makes."""

LAST = 20
"""After so many successes there are no allocations left. (Python does without some.)"""


@pytest.fixture(autouse=True)
def waits_when_small():
    """Operations on five elements wait. No allocation of the garbage collector's own fails."""
    gc.disable()
    with recorded_from(4):
        yield
    gc.enable()


def chain(x, y, number):
    """An expression of a form of its own for each number up to 60, so that its plan is new."""
    for bit in range(6):
        x = x * y if number >> bit & 1 else x + y
    return x


def read(x, y, number):
    return chain(x, y, number)[3:5] + 0.0


def read_one(x, y, number):
    return float(chain(x, y, number)[(3,) * x.ndim])


def hold(x, y, number):
    part = x * y
    value = chain(part, y, number) - part
    return value[1:] * 1.0, part


def update(x, y, number):
    value = chain(x, y, number)
    value += x
    value *= value
    return value[2:] - 1.0


def total(x, y, number):
    return xp.max(chain(x, y, number), axis=0)


def total_held(x, y, number):
    value = chain(x, y, number)
    return xp.max(value), value[:2] + 1.0


def assign(x, y, number):
    x[1:] = chain(y[1:], y[1:], number)


def assign_below(x, y, number):
    x[:-1] = chain(x[1:], x[:-1], number)


def assign_held(x, y, number):
    value = chain(y, y, number)
    x[...] = value
    return value[1:] + 0.0


def take_memory(x, y, number):
    value = xp.cumulative_sum(x, axis=-1) * (y if number % 2 else 2.0)
    return value[1:] + 0.0


def fail_in_call(x, y, number):
    return xp.sin(x) / chain(y, y, number) + 1.0


STATEMENTS = [
    read, read_one, hold, update, total, total_held,
    assign, assign_below, assign_held, take_memory, fail_in_call,
]  # fmt: skip


def elements(result):
    if isinstance(result, tuple):
        return [np.array(each) for each in result]
    return result if result is None else [np.array(result)]


def same(found, expected):
    if found is None or expected is None:
        return found is expected
    return all([np.array_equal(x, y) for x, y in zip(found, expected, strict=True)])


@pytest.mark.parametrize("size", [(40,), (6, 9), (50_000,)])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements_are_right_or_raise(statement, size):
    failures = successes = 0
    before = count_pending()
    for start in range(MOST):
        x, y = made(size), made(size, 2)
        mine, with_fusion_off = host(x), xp.asarray(x, copy=True)
        with xp.config_context(fusion="off"):
            expected = elements(statement(with_fusion_off, y, start % 64))
        kept = [y * number for number in range(3)]  # waits, and reads what is written to
        held = x * 3 - y
        error = result = None
        # New nodes are not those that were freed before.
        spare = [y + number for number in range(70)]
        try:
            with failing(start):
                result = elements(statement(x, y, start % 64))
        except BaseException as caught:
            error = caught
        if error is not None:
            assert is_of_memory(error), error
            failures, successes = failures + 1, 0
            error.__traceback__ = None
            after = host(x)
            assert np.array_equal(after, mine) or np.array_equal(after, host(with_fusion_off))
        else:
            successes += 1
            assert same(result, expected), start
            assert np.array_equal(host(x), host(with_fusion_off)), start
        error = None
        assert np.array_equal(host(held), mine * 3 - host(y))
        for number, value in enumerate(kept):
            assert np.array_equal(host(value), host(y) * number)
        del spare, kept, held, value, result
        assert count_pending() == before, start
        if successes == LAST:
            break
    assert successes == LAST
    assert failures


@pytest.mark.parametrize("size", [5, 300, 40_000])
def test_groups_are_right_or_raise(size):
    for start in range(60):
        compiled = xp.compile(lambda x, y: ((x * 2 + y) * 3 - y, x - y))
        x, y = made(size), made(size, 2)
        compiled(x, y)
        for _ in range(2):
            error = None
            try:
                with failing(start):
                    first, second = compiled(x, y)
            except BaseException as caught:
                error = caught
            if error is not None:
                assert is_of_memory(error), error
                continue
            assert np.array_equal(host(first), (host(x) * 2 + host(y)) * 3 - host(y))
            assert np.array_equal(host(second), host(x) - host(y))
        first, second = compiled(x, y)
        assert np.array_equal(host(first), (host(x) * 2 + host(y)) * 3 - host(y))
        del first, second
    assert count_pending() == 0
