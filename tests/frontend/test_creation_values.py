"""What creation functions make of values that a dtype does not hold, on every device.

An integer dtype that is named drops fractions, as in NumPy. NaN, infinities and numbers out of
range are errors, and so is a fraction where no dtype is named: they name what mends them.
"""

import math
from itertools import product

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.core import dtypes as d
from tests.backends.engines.devices import device
from tests.extra.everywhere import DEVICES
from tests.support.programs import deferring
from tests.support.refusals import refused
from tests.support.tables import for_each

NAN, INF = math.nan, math.inf
INTEGERS = [dtype.name for dtype in d.INTEGRAL]
PLACES = ("cpu", *DEVICES)

# What casts of floats do with these, depends on the dtype and on the processor.
FLOATS = [
    *[0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 127.9, 128.0, -128.9, -129.0, 255.9, 256.0, 300.0],
    *[2.0**31, -(2.0**31), 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 1e300, NAN, INF, -INF],
]
INTS = [0, 1, -1, 127, 128, -128, -129, 255, 256, 2**31, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)]


def find(name):
    return xp.Device(name) if name == "cpu" else device(name)


def host_array(value):
    return np.asarray(value, "uint64") if value in (2**63, 2**64 - 1) else np.asarray(value)


WAYS = {
    "scalar": lambda v, dtype, place: xp.asarray(v, dtype=dtype, device=place),
    "list": lambda v, dtype, place: xp.asarray([v, v], dtype=dtype, device=place),
    "nested": lambda v, dtype, place: xp.asarray([[1, v], (v, 0)], dtype=dtype, device=place)[0, 1],
    "array": lambda v, dtype, place: xp.asarray(
        np.stack([host_array(v), host_array(v)]), dtype=dtype, device=place
    ),
    "steps": lambda v, dtype, place: xp.asarray(
        np.full((3, 4), host_array(v))[::-2, 1::2], dtype=dtype, device=place
    ),
    "swapped": lambda v, dtype, place: xp.asarray(
        np.full(3, host_array(v)).astype(host_array(v).dtype.newbyteorder()),
        dtype=dtype, device=place,
    ),
    "NumPy scalar": lambda v, dtype, place: xp.asarray(
        host_array(v)[()], dtype=dtype, device=place
    ),
    "buffer": lambda v, dtype, place: xp.asarray(
        memoryview(np.full(2, host_array(v))), dtype=dtype, device=place
    ),
    "full": lambda v, dtype, place: xp.full((2,), v, dtype=dtype, device=place),
    "full of a NumPy scalar": lambda v, dtype, place: xp.full(
        (2,), host_array(v)[()], dtype=dtype, device=place
    ),
    "full_like": lambda v, dtype, place: xp.full_like(
        xp.ones(2, dtype=xp.float32, device=place), v, dtype=dtype
    ),
    "full_like of a NumPy scalar": lambda v, dtype, place: xp.full_like(
        xp.ones(2, dtype=xp.float32, device=place), host_array(v)[()], dtype=dtype
    ),
}  # fmt: skip


def check(way, value, name, place):
    """A value becomes an integer of a dtype without its fraction, or an error says why not."""
    dtype = getattr(xp, name)
    make = WAYS[way]
    if math.isnan(value):
        refused(ValueError, r"nan has no integer value; .*isfinite", make, value, dtype, place)
    elif math.isinf(value):
        refused(OverflowError, r"inf has no integer value; .*isfinite", make, value, dtype, place)
    elif not xp.iinfo(dtype).min <= int(value) <= xp.iinfo(dtype).max:
        with pytest.raises(OverflowError, match=f"range for dtype {name} .*; make it with dtype="):
            make(value, dtype, place)
    else:
        x = make(value, dtype, place)
        assert (x.dtype, x.device) == (dtype, place)
        assert {int(value)} == {*np.ravel(np.asarray(x.to_device("cpu"))).tolist()}


@for_each(("way", "value", "name"), list(product(WAYS, FLOATS, INTEGERS)))
def test_a_named_dtype_drops_fractions_and_nothing_else(way, value, name):
    check(way, value, name, xp.Device("cpu"))


@for_each(("way", "value", "name"), list(product(WAYS, INTS, INTEGERS)))
def test_integers_are_never_wrapped_round(way, value, name):
    check(way, value, name, xp.Device("cpu"))


@pytest.mark.parametrize("name", DEVICES)
def test_other_devices_hold_the_same_values(name):
    place = find(name)
    for way, dtype in product(WAYS, ("int8", "uint8", "int64")):
        for value in (1.5, -0.5, 300.0, NAN, INF, 255, -129):
            check(way, value, dtype, place)


def test_deferral_makes_no_difference():
    with deferring():
        for way, value in product(WAYS, FLOATS):
            check(way, value, "int16", xp.Device("cpu"))


def refusal(call):
    """The message of a call's OverflowError, if it raises one."""
    try:
        call()
    except OverflowError as error:
        return str(error)
    return None


@for_each("name", INTEGERS)
def test_the_dtype_that_an_error_names_holds_the_values(name):
    for value, other in product([*INTS, 2**70], [0, -1]):
        text = refusal(lambda given=[value, other]: xp.asarray(given, dtype=name))
        if text:
            advised = text.rpartition("dtype=xp.")[2]
            assert int(xp.asarray([value, other], dtype=advised)[1]) == other


@for_each("name", [*INTEGERS, "float32"])
def test_the_dtype_that_an_error_names_holds_array_and_scalar(name):
    x = xp.asarray([xp.iinfo(name).max] if name != "float32" else [1], dtype=name)
    for value in (-1, 300, -300, 2**40, 2**63, -(2**63), 2**70):
        text = refusal(lambda value=value: x + value)
        if text:
            advised = getattr(xp, text.rpartition("dtype=xp.")[2])
            assert f"astype to {advised}" in text
            assert int(xp.astype(x, advised)[0]) == pytest.approx(int(x[0]), rel=1e-15)
            xp.add(xp.astype(x, advised), value)


@pytest.mark.parametrize("place", PLACES)
def test_full_like_keeps_fractions_or_refuses_them(place):
    for name in ("bool", "int8", "uint64"):
        x = xp.ones(2, dtype=name, device=find(place))
        for value in (1.5, -0.5, np.float64(0.25), np.float32(0.5)):
            with pytest.raises(ValueError, match=rf"has a fraction, .* {name} .*dtype=xp.float64"):
                xp.full_like(x, value)
        with pytest.raises(TypeError, match=f"array of float64, and x one of {name}; name a dtype"):
            xp.full_like(x, xp.asarray(1.5, device=x.device))
        for value in (1.0, np.float64(1), 1, True, np.int8(1)):
            result = xp.full_like(x, value)
            assert (result.dtype, int(result[0])) == (x.dtype, 1)
    for value in (NAN, INF, 300):
        refused((ValueError, OverflowError), None, xp.full_like, xp.ones(2, dtype="int8"), value)
    assert float(xp.full_like(xp.ones(2), 1.5)[0]) == 1.5
    assert int(xp.full_like(xp.ones(2), 1.5, dtype=xp.int8)[0]) == 1


@pytest.mark.parametrize("place", PLACES)
def test_arange_of_integers_takes_no_fractions(place):
    place = find(place)
    for name in INTEGERS:
        for start, stop, step in ((0, 2.5, 0.5), (0.5, 3, 1), (0.25, 1, 5), (5, 0, -0.5)):
            with pytest.raises(ValueError, match=rf"as {name} has none; leave out dtype=.* astype"):
                xp.arange(start, stop, step, dtype=name, device=place)
        for numbers in ((0.0, 5.0, 1.0), (0, 2.5, 1), (2.0, 9.5, 3.0), (3.5,), (4.0, 0.5, -1.0)):
            result = xp.arange(*numbers, dtype=name, device=place)
            expected = np.arange(*numbers).astype(name)
            assert np.array_equal(np.asarray(result.to_device("cpu")), expected), (name, numbers)
    with pytest.raises(OverflowError, match=r"range for dtype int8 .*dtype=xp.int16"):
        xp.arange(0, 300.0, dtype=xp.int8, device=place)
    with pytest.raises(OverflowError, match=r"range for dtype uint8 .*dtype=xp.int8"):
        xp.arange(-3.0, 3.0, dtype=xp.uint8, device=place)


@for_each("place", ["cpu"])
def test_linspace_of_integers_rounds_down(place):
    for ends, name in product([(0, 1), (-2.5, 3), (0.5, 200)], ["int16", "int64"]):
        expected = np.linspace(*ends, 5, dtype=name)
        assert np.array_equal(np.asarray(xp.linspace(*ends, 5, dtype=name)), expected)
    for ends in ((0, 300), (-0.5, 3)):
        with pytest.raises(OverflowError, match=r"range for dtype uint8"):
            xp.linspace(*ends, 3, dtype=xp.uint8, device=place)
    for ends in ((0, NAN), (INF, 3)):
        with pytest.raises((ValueError, OverflowError), match="no integer value"):
            xp.linspace(*ends, 3, dtype=xp.int64, device=place)


def test_logspace_of_integers_is_refused():
    with pytest.raises(TypeError, match=r"floating-point numbers, not int64; .* astype"):
        xp.extra.logspace(0, 1, 3, dtype=xp.int64)


def test_arrays_of_this_namespace_are_converted_as_by_astype():
    x = xp.asarray([1.9, -1.9])
    assert np.asarray(xp.asarray(x, dtype=xp.int8)).tolist() == [1, -1]
    assert int(xp.full((), x[0], dtype=xp.int8)) == 1


def test_bool_says_whether_a_value_is_zero():
    for values in ([2, 0], [0.5, 0.0], [NAN, 0.0]):
        assert np.asarray(xp.asarray(values, dtype=xp.bool)).tolist() == [True, False]
        assert bool(xp.full((), values[0], dtype=xp.bool))
