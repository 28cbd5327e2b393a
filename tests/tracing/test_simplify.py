"""Simplified programs: fewer steps, the same bits."""

from collections.abc import Callable

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.programs import assert_same, numpy_of
from tests.support.tables import for_each

Function = Callable[..., object]

SPECIAL = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 5e-324, 1e308, -1e-310]


def special(dtype):
    with np.errstate(all="ignore"):
        if dtype in (xp.complex64, xp.complex128):
            values = np.empty((10, 10), np.complex128)
            values.real, values.imag = np.asarray(SPECIAL)[:, None], SPECIAL
        elif dtype in (xp.float32, xp.float64):
            values = np.asarray(SPECIAL)
        else:
            values = np.asarray([0, 1, -1, 127, -128])
        return xp.asarray(values.astype(dtype.name))


def methods(call, *arrays):
    return [step.method for step in xp.compile(call).explain(*arrays).steps]


GONE = [
    (lambda x: x * 1, (xp.float64, xp.float32, xp.int8)),
    (lambda x: 1.0 * x, (xp.float64, xp.float32)),
    (lambda x: x / 1, (xp.float64, xp.float32)),
    (lambda x: x + -0.0, (xp.float64, xp.float32)),
    (lambda x: x - 0.0, (xp.float64, xp.float32)),
    (lambda x: x - 0, (xp.float64, xp.int8)),
    (lambda x: x + 0, (xp.int8,)),
    (lambda x: 0 + x, (xp.int8,)),
    (lambda x: +x, (xp.float64, xp.complex128, xp.int8)),
    (lambda x: xp.negative(-x), (xp.float64, xp.complex64, xp.int8)),
    (lambda x: ~~x, (xp.int8,)),
    (lambda x: xp.conj(xp.conj(x)), (xp.complex128, xp.float64)),
    (lambda x: xp.real(x), (xp.float64,)),
    (lambda x: xp.astype(x, x.dtype), (xp.float64, xp.complex64)),
    (lambda x: xp.asarray(x, copy=True), (xp.float64, xp.int8)),
]
KEPT = [
    (lambda x: x + 0, (xp.float64, xp.float32)),
    (lambda x: x + 0.0, (xp.float64,)),
    (lambda x: x - -0.0, (xp.float64,)),
    (lambda x: 0.0 - x, (xp.float64,)),
    (lambda x: 0 - x, (xp.int8,)),
    (lambda x: 1.0 / x, (xp.float64,)),
    (lambda x: x * 1.0, (xp.complex128,)),
    (lambda x: x + -0.0, (xp.complex64,)),
    (lambda x: x * -1, (xp.float64,)),
    (lambda x: xp.astype(x, xp.float64), (xp.float32,)),
    (lambda x: xp.abs(xp.abs(x)), (xp.float64,)),
]


@for_each(("call", "dtypes"), GONE)
def test_identities(call, dtypes):
    for dtype in dtypes:
        x = special(dtype)
        # A copy is left, as results have memory of their own.
        assert methods(call, x) == ["copy"]
        with np.errstate(all="ignore"):
            assert_same(xp.compile(call)(x), call(x), dtype)


@pytest.mark.parametrize(("call", "dtypes"), KEPT)
def test_no_identities(call, dtypes):
    for dtype in dtypes:
        x = special(dtype)
        assert "copy" not in methods(call, x)
        assert methods(call, x)
        with np.errstate(all="ignore"):
            assert_same(xp.compile(call)(x), call(x), dtype)


def test_common_subexpressions():
    def call(x):
        return xp.sum(xp.exp(x)) + xp.sum(xp.exp(x)) * xp.max(xp.exp(x))

    x = xp.asarray(np.random.default_rng(1).standard_normal((4, 5)))
    assert methods(call, x) == ["unary", "reduce", "reduce", "binary", "binary"]
    assert_same(xp.compile(call)(x), call(x))


def test_what_only_looks_the_same():
    def call(x):
        zero = x * 0
        return xp.copysign(x, zero + 0.0), xp.copysign(x, zero + -0.0), x / True, x * 2, x * 2.0

    x = xp.asarray([-1.0, 2.0])
    for found, expected in zip(xp.compile(call)(x), call(x), strict=True):
        assert_same(found, expected)


def test_empty_arrays_are_not_merged():
    def call(x):
        y, z = xp.empty(2), xp.empty(2)
        y[...] = x
        z[...] = 2 * x
        return y + z

    assert_same(xp.compile(call)(xp.asarray([1.0, 2.0])), np.asarray([3.0, 6.0]))


def test_dead_code():
    def call(x):
        xp.exp(x)
        y = x + 1
        y *= 2
        return x[1:] * 3

    x = xp.asarray([1.0, 2.0, 3.0])
    assert methods(call, x) == ["binary"]
    assert methods(lambda x: x[::-1], x) == []


def test_updates_reuse_memory_that_nobody_reads():
    def call(x):
        y = xp.zeros((4, *x.shape))
        for i in range(4):
            y[i, ...] = x * i
        return y

    x = xp.ones(5)
    program = xp.compile(call).explain(x).program
    updates = [i for i, step in enumerate(program.steps) if step.method == "update"]
    assert len(updates) == 4
    assert all(program.reuses_base(i) for i in updates)
    assert_same(xp.compile(call)(x), call(x))

    def twice(x):
        y = x * 2
        kept = y * 1
        y[0] = 0.0
        return y, kept

    function = xp.compile(twice)
    y, kept = function(x)
    assert_same(y, np.asarray([0.0, 2, 2, 2, 2]))
    assert_same(kept, np.full(5, 2.0))
    assert_same(numpy_of(x), np.ones(5))
