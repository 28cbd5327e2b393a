"""What turns arguments into backend calls: operands, scalars, devices, promotion, results."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.core import dtypes as d
from array_api_nx.frontend import dispatch
from array_api_nx.primitives import table as p
from tests.support.tables import for_each

REAL = [dtype.name for dtype in d.REAL]


# Scalars


# Operands


OPERATORS = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "equal": lambda a, b: a == b,
    "less": lambda a, b: a < b,
    "bitwise_and": lambda a, b: a & b,
}


@pytest.mark.parametrize("name", OPERATORS)
@for_each("scalar", [True, 1, 1.0, 1j, np.float32(1), np.int8(1), np.uint64(1)])
def test_functions_and_operators_treat_scalars_alike(name, scalar):
    function, operator = getattr(xp, name), OPERATORS[name]
    for dtype in d.ALL:
        x = xp.asarray([0, 1], dtype=dtype)
        try:
            expected = function(x, scalar)
        except TypeError:
            for a, b in ((x, scalar), (scalar, x)):
                with pytest.raises(TypeError, match=r"takes .* dtypes, not .*; convert"):
                    operator(a, b)
        else:
            for found in (operator(x, scalar), operator(scalar, x), function(scalar, x)):
                assert found.dtype is expected.dtype
                if name != "less":
                    assert np.array_equal(np.asarray(found), np.asarray(expected))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "pow", "maximum"])
@for_each(("first", "second"), list(product(REAL, repeat=2)))
def test_mixed_dtypes_promote_as_in_numpy(name, first, second):
    a, b = np.asarray([1, 2, 3]).astype(first), np.asarray([3, 2, 1]).astype(second)
    found = getattr(xp, name)(xp.asarray(a), xp.asarray(b))
    dtype = np.promote_types(first, second)
    if name == "divide" and dtype.kind in "iu":
        dtype = np.dtype("float64")
    expected = getattr(np, name)(a.astype(dtype), b.astype(dtype))
    assert str(found.dtype) == expected.dtype.name
    np.testing.assert_array_equal(np.asarray(found), expected)


@for_each("dtype", [*d.INTEGRAL])
@for_each("far", [2**70, -(2**70)])
def test_comparisons_with_ints_out_of_range_are_exact(dtype, far):
    low, high = d.BOUNDS[dtype]
    x = xp.asarray([[low, 0, high]], dtype=dtype)
    a = np.asarray([[low, 0, high]], dtype=object)
    for compare in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        for found, expected in (
            (getattr(xp, compare)(x, far), getattr(np, compare)(a, far)),
            (getattr(xp, compare)(far, x), getattr(np, compare)(far, a)),
        ):
            assert found.dtype is xp.bool
            assert np.asarray(found).tolist() == expected.tolist()


@for_each("shape", [(), (3,), (2, 3), (2, 0), (2, 3, 4)])
@for_each("keepdims", [False, True])
def test_reductions_over_every_choice_of_axes(shape, keepdims):
    a = np.arange(float(np.prod(shape))).reshape(shape)
    x = xp.asarray(a)
    choices = [None, (), *range(-len(shape), len(shape))]
    choices += [axes for axes in product(range(len(shape)), repeat=2) if axes[0] != axes[1]]
    for axis in choices:
        found = xp.sum(x, axis=axis, keepdims=keepdims)
        expected = a.sum(axis=axis, keepdims=keepdims)
        assert found.shape == expected.shape
        np.testing.assert_array_equal(np.asarray(found), expected)
        if isinstance(axis, tuple):
            again = xp.sum(x, axis=list(axis), keepdims=keepdims)
            np.testing.assert_array_equal(np.asarray(again), expected)


@pytest.mark.parametrize("axis", [0, -1, np.int64(1), None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_arg_reductions(axis, keepdims):
    a = np.asarray([[3, 1, 2], [0, 5, 4]])
    found = xp.argmax(xp.asarray(a), axis=axis, keepdims=keepdims)
    np.testing.assert_array_equal(np.asarray(found), a.argmax(axis=axis, keepdims=keepdims))
    assert found.dtype is xp.int64


def test_reductions_take_numpy_scalars_but_no_python_ones():
    assert float(xp.sum(np.float32(2))) == 2.0
    assert xp.sum(np.float32(2)).dtype is xp.float32
    with pytest.raises(TypeError, match="not a float; convert it with asarray"):
        xp.sum(2.0)


@pytest.mark.parametrize(
    ("op", "words"),
    [
        (p.BITWISE_AND, "integral or bool"),
        (p.ADD, "numeric or bool"),
        (p.SUBTRACT, "numeric"),
        (p.LESS, "integral or real floating or bool"),
    ],
)
def test_refused_dtypes_name_the_legal_ones(op, words):
    with pytest.raises(TypeError, match=rf"^{op.name} takes {words} dtypes, not complex64; conv"):
        dispatch.refuse_dtype(op, xp.complex64)
