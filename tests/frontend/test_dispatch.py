"""What turns arguments into backend calls: operands, scalars, devices, promotion, results."""

from __future__ import annotations

import enum
from itertools import product

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.core import dtypes as d
from array_api_nx.frontend import dispatch
from array_api_nx.primitives import table as p
from tests.support.tables import for_each

REAL = [dtype.name for dtype in d.REAL]


class Colour(enum.IntEnum):
    RED = 2


class Metres(float):
    pass


# Scalars


@for_each(
    ("value", "expected"),
    [
        (True, bool),
        (3, int),
        (2.5, float),
        (1j, complex),
        (Colour.RED, int),
        (Metres(1.5), float),
        (np.float64(1), None),
        (np.int64(1), None),
        (np.bool_(True), None),
        (np.complex128(1), None),
        ("1", None),
        (None, None),
        ([1], None),
        (np.ones(()), None),
    ],
)
def test_scalar_type(value, expected):
    assert dispatch.scalar_type(value) is expected


@for_each(("dtype", "scalar"), list(product(d.ALL, [True, 1, 1.0, 1j])))
def test_check_scalar_lets_kinds_through_that_do_not_change_the_dtype(dtype, scalar):
    if np.result_type(np.ones(1, dtype.name), scalar).name == dtype.name:
        assert dispatch.check_scalar(scalar, dtype) is scalar
    else:
        with pytest.raises(TypeError, match=f"no value of dtype {dtype}; convert the array with"):
            dispatch.check_scalar(scalar, dtype)


@pytest.mark.parametrize("dtype", d.INTEGRAL)
def test_check_scalar_at_the_bounds(dtype):
    low, high = d.BOUNDS[dtype]
    for fits in (low, high):
        assert dispatch.check_scalar(fits, dtype) == fits
    for too_far in (low - 1, high + 1):
        with pytest.raises(OverflowError, match=rf"{too_far} is out of range for dtype {dtype}"):
            dispatch.check_scalar(too_far, dtype)


def test_the_mend_fits_the_dtype():
    for dtype, advice in ((d.bool, "bool"), (d.int8, "int"), (d.float32, "float")):
        with pytest.raises(TypeError, match=rf"the scalar with {advice}\(\)"):
            dispatch.check_scalar(1j, dtype)


# Operands


def test_as_array_leaves_arrays_and_scalars():
    x = xp.ones(2)
    assert dispatch.as_array(x) is x
    for scalar in (True, 3, 2.5, 1j):
        assert dispatch.as_array(scalar) is scalar
    assert type(dispatch.as_array(Metres(1.5))) is float
    assert type(dispatch.as_array(Colour.RED)) is int


@pytest.mark.parametrize("dtype", [dtype.name for dtype in d.ALL])
def test_as_array_of_numpy_scalars(dtype):
    value = np.ones((), dtype)[()]
    x = dispatch.as_array(value)
    assert type(x) is Array
    assert (x.shape, str(x.dtype)) == ((), dtype)
    assert complex(x) == 1


def test_as_array_of_long_long():
    assert dispatch.as_array(np.longlong(3)).dtype is xp.int64
    assert dispatch.as_array(np.ulonglong(3)).dtype is xp.uint64


@pytest.mark.parametrize(
    ("value", "description"),
    [
        (1, "an int"),
        (2.5, "a float"),
        (None, "a NoneType"),
        ([1], "a list"),
        (object(), "an object"),
        (np.ones(2), "a numpy ndarray"),
        (np.float64(1), "a numpy float64"),
        (np.uint8(1), "a numpy uint8"),
        (Metres(1), "Metres"),
    ],
)
def test_only_array_says_what_it_got(value, description):
    message = rf"thing must be an array_api_nx array, not .*{description}.*; .*asarray\(...\)"
    strict = xp.config_context(operands="strict")
    with strict, pytest.raises(TypeError, match=message):
        dispatch.only_array(value, "thing")
    if not isinstance(value, np.ndarray | np.generic):
        with pytest.raises(TypeError, match=message):
            dispatch.only_array(value, "thing")


@pytest.mark.parametrize("value", [np.ones(2), np.float64(1), np.uint8(1)])
def test_only_array_takes_what_numpy_has(value):
    found = dispatch.only_array(value, "thing")
    assert (found.shape, found.dtype, float(found.sum())) == (value.shape, value.dtype, value.sum())


def test_operands():
    x = xp.ones(2, dtype=xp.int8)
    (a, b), dtype, device = dispatch.operands(x, 2.5)
    assert a is x
    assert (b, dtype, device) == (2.5, xp.float64, x.device)
    (a, b, c), dtype, _ = dispatch.operands(1, x, np.int16(3))
    assert (a, dtype) == (1, xp.int16)
    assert b is x
    assert c.dtype is xp.int16
    _, dtype, _ = dispatch.operands(True, np.float32(1))
    assert dtype is xp.float32


def test_promote_arrays():
    x, y = xp.ones(2, dtype=xp.float32), xp.ones(2)
    (a, b), dtype, _ = dispatch.promote_arrays(x, y)
    assert dtype is a.dtype is b.dtype is xp.float64
    assert b is y
    with pytest.raises(TypeError, match="x2 must be an array_api_nx array, not a float"):
        dispatch.promote_arrays(x, 1.0)


def test_cast():
    x = xp.ones(2)
    assert dispatch.cast(x, xp.float64) is x
    assert dispatch.cast(x, xp.int8).dtype is xp.int8


# Every binary operator, with every kind of operand

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


# Axes of reductions and scans


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


# The words of errors


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
