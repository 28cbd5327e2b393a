"""Methods of the CPU's backend on large Tensors: they wait, and give what they give at once."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.backends.cpu import CPUBackend
from array_api_nx.native import native
from array_api_nx.primitives import table as p
from tests.support.programs import needs_extension
from tests.support.refusals import refused
from tests.support.sizes import AT_ONCE

pytestmark = needs_extension

B = CPUBackend()


def handle(values):
    return B.from_host(np.asarray(values), copy=True)


def numbers(*shape):
    return np.random.default_rng(3).standard_normal(shape)


def test_methods_are_one_pass():
    x, y = numbers(5000), numbers(5000)
    total = B.binary(p.ADD, handle(x), B.unary(p.EXP, handle(y)))
    chosen = B.where(B.binary(p.GREATER, total, 0.0), total, 1)
    told = B.explain(chosen)
    assert (told.operations, len(told.passes)) == (4, 1)
    expected = x + np.exp(y)
    np.testing.assert_array_equal(B.to_host(chosen), np.where(expected > 0, expected, 1))
    assert not B.explain(chosen).pending


def test_few_elements_are_computed_at_once():
    assert not B.explain(B.binary(p.ADD, handle(numbers(50)), 1.0)).pending
    outer = B.binary(p.MULTIPLY, handle(numbers(50, 1)), handle(numbers(1, 50)))
    assert B.explain(outer).pending


@pytest.mark.parametrize("op", [p.SUM, p.PROD, p.MAX, p.ANY, p.COUNT_NONZERO, p.MEAN])
@pytest.mark.parametrize("axes", [(0,), (0, 1)])
def test_reductions_are_those_of_arrays(op, axes):
    x = np.exp(numbers(AT_ONCE // 50, 100) / 100)
    values = x > 1 if op is p.ANY else x
    found = B.reduce(op, B.unary(p.POSITIVE, handle(values * 1.0)), axes, False)
    expected = getattr(xp, op.name)(xp.asarray(values * 1.0) + 0.0, axis=axes)
    np.testing.assert_array_equal(B.to_host(found), np.asarray(expected))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32"])
def test_sums_keep_the_dtype_of_the_contract(dtype):
    x = np.arange(50_000).astype(dtype)
    for asked in (None, np.dtype("int64") if dtype != "float32" else None):
        found = B.to_host(B.reduce(p.SUM, handle(x), (0,), False, asked))
        wanted = asked or np.dtype(dtype)
        assert found.dtype == wanted
        if dtype != "float32":
            assert found == np.sum(x, dtype=wanted)


def test_warnings_come_with_the_elements():
    x = handle(np.zeros(5000))
    y = B.binary(p.DIVIDE, x, x)
    with pytest.warns(RuntimeWarning, match="invalid value encountered in divide"):
        B.to_host(y)
    with np.errstate(all="raise"):
        refused(FloatingPointError, "divide", B.binary, p.DIVIDE, x, x)


def test_names_that_are_none_are_refused():
    assert native is not None
    refused(ValueError, "no function of that name", native.call_on_tensors, "nothing")
    refused((ValueError, TypeError), None, native.call_on_tensors)
    refused((ValueError, TypeError), None, native.call_on_tensors, 3)
