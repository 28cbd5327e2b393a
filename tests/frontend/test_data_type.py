"""The data type chapter: conversion, limits, kinds and promotion."""

import inspect
import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import array_api_nx as xp
from array_api_nx import Array
from tests.support.arrays import assert_array
from tests.support.refusals import refused
from tests.support.tables import for_each

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
REAL_FLOATING = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
ALL = ["bool", *SIGNED, *UNSIGNED, *REAL_FLOATING, *COMPLEX]
PAIRS = list(product(ALL, repeat=2))

KINDS = {
    "bool": ["bool"],
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": [*SIGNED, *UNSIGNED],
    "real floating": REAL_FLOATING,
    "complex floating": COMPLEX,
    "numeric": [*SIGNED, *UNSIGNED, *REAL_FLOATING, *COMPLEX],
}


@for_each(("source", "target"), PAIRS)
def test_astype(source, target):
    a = np.asarray([[0, 1, 2], [3, 100, 7]]).astype(source)
    for view in (a, a.T, a[::-1, ::2], a[:0], a[0, 1]):
        x = xp.asarray(view, copy=True)
        if source in COMPLEX and target not in [*COMPLEX, "bool"]:
            with pytest.raises(TypeError, match=r"take real\(x\) or imag\(x\) first"):
                xp.astype(x, getattr(xp, target))
            continue
        y = xp.astype(x, getattr(xp, target))
        assert_array(y, view.astype(target))
        assert not np.shares_memory(np.asarray(x), np.asarray(y))


def test_astype_without_a_copy():
    x = xp.ones(3, device="cpu")
    assert xp.astype(x, xp.float64, copy=False) is x
    assert xp.astype(x, xp.float32, copy=False).dtype is xp.float32
    assert xp.astype(x, xp.float64) is not x
    assert xp.astype(x, float, copy=False) is x
    assert xp.astype(x, xp.float64, copy=False, device="cpu") is x


def test_a_copy_of_a_read_only_array_can_be_written():
    x = xp.astype(xp.broadcast_to(xp.asarray(1.0), (3,)), xp.float64)
    x[0] = 5.0
    assert np.asarray(x).tolist() == [5.0, 1.0, 1.0]


@pytest.mark.parametrize("dtype", [*REAL_FLOATING, *COMPLEX])
def test_finfo(dtype):
    for ask in (getattr(xp, dtype), xp.ones(2, dtype=getattr(xp, dtype))):
        found, expected = xp.finfo(ask), np.finfo(dtype)
        for name in ("bits", "eps", "max", "min", "smallest_normal"):
            assert getattr(found, name) == getattr(expected, name)
            assert type(getattr(found, name)) is (int if name == "bits" else float)
        assert str(found.dtype) == expected.dtype.name
    assert xp.finfo(float).eps == sys.float_info.epsilon
    with pytest.raises(AttributeError):
        found.eps = 0.0


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_iinfo(dtype):
    for ask in (getattr(xp, dtype), xp.ones(2, dtype=getattr(xp, dtype))):
        found, expected = xp.iinfo(ask), np.iinfo(dtype)
        for name in ("bits", "max", "min"):
            assert getattr(found, name) == getattr(expected, name)
            assert type(getattr(found, name)) is int
        assert str(found.dtype) == dtype
    assert xp.iinfo(int).max == 2**63 - 1


@pytest.mark.parametrize("dtype", ALL)
def test_isdtype(dtype):
    ours = getattr(xp, dtype)
    for kind, members in KINDS.items():
        assert xp.isdtype(ours, kind) is (dtype in members)
    for other in ALL:
        assert xp.isdtype(ours, getattr(xp, other)) is (dtype == other)
    assert xp.isdtype(ours, tuple(KINDS)) is True
    assert xp.isdtype(ours, ()) is False
    assert xp.isdtype(ours, ("integral", xp.float32)) is (dtype in [*KINDS["integral"], "float32"])
    assert xp.isdtype(ours, kind="bool") is (dtype == "bool")


def test_isdtype_of_python_types():
    assert xp.isdtype(float, "real floating")
    assert xp.isdtype(xp.int64, int)


@for_each(("first", "second"), PAIRS)
def test_promotion_of_two(first, second):
    expected = np.promote_types(first, second).name
    a, b = getattr(xp, first), getattr(xp, second)
    for left, right in product((a, xp.ones(1, dtype=a)), (b, xp.ones((2, 2), dtype=b))):
        assert str(xp.result_type(left, right)) == expected
    assert xp.can_cast(a, b) is (expected == second)
    assert xp.can_cast(xp.ones(2, dtype=a), b) is (expected == second)


@given(st.lists(st.sampled_from(ALL), min_size=1, max_size=5))
def test_promotion_of_many_goes_from_left_to_right(names):
    expected = np.dtype(names[0])
    for name in names[1:]:
        expected = np.promote_types(expected, name)
    assert str(xp.result_type(*[getattr(xp, name) for name in names])) == expected.name


@for_each("dtype", ALL)
@pytest.mark.parametrize("scalar", [True, 1, 1.0, 1j])
def test_scalars_are_weak(dtype, scalar):
    ours = getattr(xp, dtype)
    expected = np.result_type(np.ones(1, dtype), scalar).name
    assert str(xp.result_type(ours, scalar)) == expected
    assert str(xp.result_type(scalar, xp.ones(3, dtype=ours))) == expected
    assert str(xp.result_type(scalar, ours, scalar)) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((True,), "bool"),
        ((1,), "int64"),
        ((1.0,), "float64"),
        ((1j,), "complex128"),
        ((True, 1), "int64"),
        ((1, 2.0), "float64"),
        ((1j, 1), "complex128"),
        ((True, True), "bool"),
        ((float,), "float64"),
        ((np.float32(1),), "float32"),
        ((np.uint8(1), xp.int8), "int16"),
        ((np.float64(1), xp.float32), "float64"),
        ((xp.float32, 1j, 1.0), "complex64"),
        ((xp.bool, 1, 1.0), "float64"),
    ],
)
def test_result_type_of_scalars_and_types(arguments, expected):
    assert str(xp.result_type(*arguments)) == expected
    assert str(xp.result_type(*arguments[::-1])) == expected


# Functions that need other arguments than an array and the dtype.
ASKS_FOR_A_DTYPE = {
    "arange": lambda dtype: xp.arange(3, dtype=dtype),
    "asarray": lambda dtype: xp.asarray([1, 2], dtype=dtype),
    "empty": lambda dtype: xp.empty(2, dtype=dtype),
    "eye": lambda dtype: xp.eye(2, dtype=dtype),
    "finfo": lambda dtype: xp.finfo(dtype),
    "full": lambda dtype: xp.full(2, 1, dtype=dtype),
    "full_like": lambda dtype: xp.full_like(xp.ones(2), 1, dtype=dtype),
    "linspace": lambda dtype: xp.linspace(0, 1, 3, dtype=dtype),
    "ones": lambda dtype: xp.ones(2, dtype=dtype),
    "zeros": lambda dtype: xp.zeros(2, dtype=dtype),
    "Array.view": lambda dtype: xp.ones(3).view(dtype),
    "ShapeSpec": lambda dtype: xp.ShapeSpec((2,), dtype),
    "cumulative_prod": lambda dtype: xp.cumulative_prod(xp.ones(3), dtype=dtype),
    "cumulative_sum": lambda dtype: xp.cumulative_sum(xp.ones(3), dtype=dtype),
    "extra.logspace": lambda dtype: xp.extra.logspace(0, 1, 3, dtype=dtype),
    "fft.fftfreq": lambda dtype: xp.fft.fftfreq(3, dtype=dtype),
    "fft.rfftfreq": lambda dtype: xp.fft.rfftfreq(3, dtype=dtype),
}


def of_an_array(function):
    """`function` of an array and a dtype, which comes after it or by its name."""
    positional = inspect.signature(function).parameters["dtype"].kind.name == "POSITIONAL_ONLY"
    x = xp.ones((2, 2), dtype=xp.int16)
    return lambda dtype: function(x, dtype) if positional else function(x, dtype=dtype)


for owner in (xp, Array, xp.extra, xp.fft, xp.linalg):
    prefix = "" if owner is xp else f"{owner.__name__.removeprefix('array_api_nx.')}."
    for name in dir(owner):
        member = getattr(owner, name, None)
        if name.startswith("_") or not callable(member) or name in ("Array", "isdtype"):
            continue
        if "dtype" in inspect.signature(member).parameters:
            ASKS_FOR_A_DTYPE.setdefault(f"{prefix}{name}", of_an_array(member))


@for_each("name", ASKS_FOR_A_DTYPE)
def test_dtypes_as_people_write_them(name):
    ask = ASKS_FOR_A_DTYPE[name]
    assert ask(float).dtype is xp.float64
    assert ask(xp.float32).dtype is xp.float32
    for spelling in ["float32", "f4", "=f4", "single", np.float32, np.dtype("f4")]:
        assert ask(spelling).dtype is xp.float32
    swapped = np.dtype("f4").newbyteorder("S")
    if name == "Array.view":
        refused(TypeError, "byte order", ask, swapped)
    else:
        assert ask(swapped).dtype is ask(swapped.str).dtype is xp.float32
    for other in ("g", np.longdouble, "U3", object):
        refused(TypeError, "a dtype must be one of this namespace's dtypes", ask, other)


def test_kinds_and_promotion_of_dtypes_as_people_write_them():
    x = xp.ones(2, dtype=xp.float32)
    assert xp.result_type(x, "f8") is xp.float64
    assert xp.result_type(np.dtype("i8"), np.int8, 1) is xp.int64
    assert xp.can_cast("f4", np.float64)
    assert not xp.can_cast(np.dtype("f8"), "float32")
    assert xp.isdtype("f8", "real floating")
    assert xp.isdtype(np.dtype("i2"), "signed integer")
    assert xp.isdtype(xp.int8, np.int8)
    assert xp.isdtype(xp.int8, (np.dtype("i2"), np.dtype("i1")))
    assert not xp.isdtype(xp.int8, np.dtype("i2"))
    assert xp.iinfo("u2").max == 65535
    assert np.asarray(x).astype(xp.int8).dtype == np.int8
    assert np.asarray(x, dtype=xp.float64).dtype == np.float64
    assert np.zeros(3, dtype=x.dtype).dtype == np.float32


@for_each(("source", "target"), PAIRS)
def test_bytes_read_as_another_dtype(source, target):
    a = np.arange(32).reshape(2, 16).astype(source)
    x, dtype = xp.asarray(a, copy=True), getattr(xp, target)
    if "bool" in (source, target) and source != target:
        refused(TypeError, "convert with astype", x.view, dtype)
        return
    y = x.view(dtype)
    assert_array(y, a.view(target))
    assert np.shares_memory(np.asarray(x), np.asarray(y))
