"""Arguments as operands: scalars, NumPy's arrays, dtypes, devices."""

import enum
from itertools import product

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from array_api_nx.core import dtypes as d
from array_api_nx.frontend import operands, scalars
from tests.support.refusals import refused
from tests.support.tables import for_each


class Colour(enum.IntEnum):
    RED = 2


class Metres(float):
    pass


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
    assert scalars.scalar_type(value) is expected


@for_each(("dtype", "scalar"), list(product(d.NUMPYS, [True, 1, 1.0, 1j])))
def test_check_scalar_lets_kinds_through_that_do_not_change_the_dtype(dtype, scalar):
    if np.result_type(np.ones(1, dtype.name), scalar).name == dtype.name:
        assert scalars.check_scalar(scalar, dtype) is scalar
    else:
        with pytest.raises(TypeError, match=f"no value of dtype {dtype}; convert the array with"):
            scalars.check_scalar(scalar, dtype)


@pytest.mark.parametrize("dtype", d.INTEGRAL)
def test_check_scalar_at_the_bounds(dtype):
    low, high = d.BOUNDS[dtype]
    for fits in (low, high):
        assert scalars.check_scalar(fits, dtype) == fits
    for too_far in (low - 1, high + 1):
        with pytest.raises(OverflowError, match=rf"{too_far} is out of range for dtype {dtype}"):
            scalars.check_scalar(too_far, dtype)


def test_the_mend_fits_the_dtype():
    for dtype, advice in ((d.bool, "bool"), (d.int8, "int"), (d.float32, "float")):
        refused(TypeError, rf"the scalar with {advice}\(\)", scalars.check_scalar, 1j, dtype)


def test_as_array_leaves_arrays_and_scalars():
    x = xp.ones(2)
    assert operands.as_array(x) is x
    for scalar in (True, 3, 2.5, 1j):
        assert operands.as_array(scalar) is scalar
    assert type(operands.as_array(Metres(1.5))) is float
    assert type(operands.as_array(Colour.RED)) is int


@pytest.mark.parametrize("dtype", [dtype.name for dtype in d.NUMPYS])
def test_as_array_of_numpy_scalars(dtype):
    value = np.ones((), dtype)[()]
    x = operands.as_array(value)
    assert type(x) is Array
    assert (x.shape, str(x.dtype)) == ((), dtype)
    assert complex(x) == 1


def test_as_array_of_long_long():
    assert operands.as_array(np.longlong(3)).dtype is xp.int64
    assert operands.as_array(np.ulonglong(3)).dtype is xp.uint64


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
        operands.only_array(value, "thing")
    if not isinstance(value, np.ndarray | np.generic):
        refused(TypeError, message, operands.only_array, value, "thing")


@pytest.mark.parametrize("value", [np.ones(2), np.float64(1), np.uint8(1)])
def test_only_array_takes_what_numpy_has(value):
    found = operands.only_array(value, "thing")
    assert (found.shape, found.dtype, float(found.sum())) == (value.shape, value.dtype, value.sum())


def test_operands():
    x = xp.ones(2, dtype=xp.int8)
    (a, b), dtype, device = operands.operands(x, 2.5)
    assert a is x
    assert (b, dtype, device) == (2.5, xp.float64, x.device)
    (a, b, c), dtype, _ = operands.operands(1, x, np.int16(3))
    assert (a, dtype) == (1, xp.int16)
    assert b is x
    assert c.dtype is xp.int16
    _, dtype, _ = operands.operands(True, np.float32(1))
    assert dtype is xp.float32


def test_promote_arrays():
    x, y = xp.ones(2, dtype=xp.float32), xp.ones(2)
    (a, b), dtype, _ = operands.promote_arrays(x, y)
    assert dtype is a.dtype is b.dtype is xp.float64
    assert b is y
    with pytest.raises(TypeError, match="x2 must be an array_api_nx array, not a float"):
        operands.promote_arrays(x, 1.0)


def test_cast():
    x = xp.ones(2)
    assert operands.cast(x, xp.float64) is x
    assert operands.cast(x, xp.int8).dtype is xp.int8
