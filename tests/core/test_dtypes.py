"""Data types: one object each, and promotion against NumPy and the standard's own table."""

import pickle
from itertools import permutations, product

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.core import dtypes as d
from array_api_nx.core.dtypes import (
    BOUNDS,
    CANONICAL,
    KINDS,
    NUMPYS,
    PROMOTION,
    SCALAR_PROMOTION,
    as_dtype,
    can_cast,
    holds,
    promote,
    same_kind,
)
from tests.support.refusals import refused
from tests.support.tables import for_each

PAIRS = list(product(NUMPYS, NUMPYS))
SCALARS = {bool: True, int: 1, float: 1.0, complex: 1j}


def ids(value):
    return str(value)


def test_the_dtypes_of_the_standard_and_beyond():
    assert [dtype.name for dtype in d.NUMPYS] == [
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64", "complex64", "complex128",
    ]  # fmt: skip
    assert [dtype for dtype in d.NUMPYS if dtype not in d.STANDARD] == [d.float16]
    assert d.EXTRA == ("float16", "bfloat16")
    for dtype in d.NUMPYS:
        assert getattr(d, dtype.name) is getattr(xp, dtype.name) is np.dtype(dtype.name)


def test_bounds_of_integers():
    for dtype in d.INTEGRAL:
        info = np.iinfo(dtype.name)
        assert BOUNDS[dtype] == (info.min, info.max)
    assert BOUNDS[d.bool] == (0, 1)
    assert BOUNDS[d.float16] == (-65504, 65504)
    for dtype in d.SELF_COMPUTED:
        assert BOUNDS[dtype] == (-int(np.finfo("f8").max), int(np.finfo("f8").max))


def test_kinds_partition_the_dtypes():
    basic = ["bool", "signed integer", "unsigned integer", "real floating", "complex floating"]
    assert sorted(ids(x) for kind in basic for x in KINDS[kind]) == sorted(map(ids, d.ALL))
    for kind, letter in zip(basic, "biufc", strict=True):
        assert all(d.KIND[dtype] == letter for dtype in KINDS[kind])
    assert set(KINDS["integral"]) == {*d.SIGNED, *d.UNSIGNED}
    assert set(KINDS["numeric"]) == set(d.ALL) - {d.bool}
    assert set(d.REAL) == {*d.INTEGRAL, *d.REAL_FLOATING}
    assert set(d.BOOL_LIKE) == {d.bool, *d.INTEGRAL}
    assert set(d.FLOATING) == {*d.REAL_FLOATING, *d.COMPLEX}


def equal_dtypes(dtype):
    """Objects that equal a dtype, and are not it."""
    same = [np.dtype(code) for code in np.typecodes["AllInteger"]]
    same = [each for each in same if each == dtype and each is not dtype]
    return [*same, pickle.loads(pickle.dumps(dtype)), np.dtype(dtype, metadata={"unit": "m"})]


@pytest.mark.parametrize("dtype", NUMPYS, ids=ids)
def test_a_dtype_has_one_object(dtype):
    swapped = dtype.newbyteorder("S")
    for other in equal_dtypes(dtype):
        assert other is not dtype
        assert CANONICAL[other] is dtype
    for given in [*equal_dtypes(dtype), swapped]:
        assert as_dtype(given) is dtype
        assert xp.zeros(2, dtype=given).dtype is dtype
        assert xp.asarray(np.zeros(2, given)).dtype is dtype
        assert xp.astype(xp.zeros(2), given).dtype is dtype
        assert xp.result_type(given) is dtype
        assert xp.isdtype(given, dtype)
        assert pickle.loads(pickle.dumps(xp.zeros(2, dtype=given))).dtype is dtype
    assert swapped not in CANONICAL or dtype.itemsize == 1


def test_dtypes_compare_as_numpys():
    x = xp.zeros(3)
    assert x.dtype == "float64"
    assert x.dtype == float
    assert x.dtype != "no dtype"
    assert x.dtype.type is np.float64
    assert (x.dtype == None) is (np.dtype("float64") == None)  # noqa: E711
    assert {np.dtype("float64"): 1}[x.dtype] == 1


@for_each(("first", "second"), PAIRS)
def test_promotion_is_numpys(first, second):
    expected = np.promote_types(first, second).name
    assert PROMOTION[first, second] is as_dtype(expected)


def test_promote_takes_any_number():
    assert promote(d.int8) is d.int8
    assert promote(d.int8, d.uint8, d.float32) is d.float32
    for triple in permutations((d.int32, d.uint8, d.int16)):
        assert promote(*triple) is d.int32


@for_each("dtype", NUMPYS)
@pytest.mark.parametrize("kind", SCALARS, ids=lambda kind: kind.__name__)
def test_scalars_are_weak_as_in_numpy(dtype, kind):
    expected = np.result_type(dtype, SCALARS[kind]).name
    assert SCALAR_PROMOTION[dtype, kind] is as_dtype(expected)


@for_each(("dtype", "kind"), list(product(NUMPYS, SCALARS)))
def test_an_array_holds_scalars_of_its_kind_within_its_bounds(dtype, kind):
    stays = SCALAR_PROMOTION[dtype, kind] is dtype
    assert holds(dtype, SCALARS[kind]) is stays
    if kind is int and stays:
        low, high = BOUNDS[dtype]
        assert [holds(dtype, n) for n in (low - 1, low, high, high + 1)] == [0, 1, 1, 0]
    assert not holds(dtype, np.int8(1))
    assert not holds(dtype, "1")


@for_each(("first", "second"), PAIRS)
def test_casting_is_numpys(first, second):
    pair = first, second
    assert can_cast(first, second) is np.can_cast(*pair, casting="safe")
    assert same_kind(first, second) is np.can_cast(*pair, casting="same_kind")


def test_as_dtype():
    for dtype in NUMPYS:
        assert as_dtype(dtype) is dtype
    python = {bool: d.bool, int: d.int64, float: d.float64, complex: d.complex128}
    for kind, dtype in python.items():
        assert as_dtype(kind) is dtype


def candidates():
    """What `numpy.dtype` takes, for dtypes of the standard and for others."""
    codes = [kind + size for kind in "biufcOSUVMm" for size in ("", "1", "2", "4", "8", "16")]
    codes += [*np.typecodes["All"], "l", "q", "p", "int", "long", "intc", "double", "float"]
    scalar_types = {each for each in vars(np).values() if isinstance(each, type)}
    scalar_types = {each for each in scalar_types if issubclass(each, np.generic)}
    concrete = scalar_types - {np.generic, np.number, np.inexact, np.flexible, np.character}
    concrete -= {np.floating, np.complexfloating, np.integer, np.signedinteger, np.unsignedinteger}
    names = [each.__name__ for each in concrete]
    return [
        *[sign + code for sign in ("", "<", ">", "=", "|") for code in codes],
        *[sign + name for sign in ("", "<") for name in names],
        *concrete,
        *[np.dtype(each) for each in concrete],
        *[np.dtype(each).newbyteorder("S") for each in concrete],
        *[np.dtype(each).newbyteorder("=") for each in concrete],
    ]


def test_as_dtype_reads_what_numpy_reads():
    read = 0
    for candidate in candidates():
        try:
            ours = CANONICAL.get(np.dtype(candidate).newbyteorder("="))
        except TypeError:
            ours = None
        if ours is None:
            with pytest.raises(TypeError, match=r"^a dtype must be one of this namespace's dtypes"):
                as_dtype(candidate)
        else:
            assert as_dtype(candidate) is ours
            read += 1
    assert read > 250


@pytest.mark.parametrize(
    "obj", [None, "g", np.dtype("U3"), np.longdouble, str, object, 3, [], {}, np.zeros(2), b"f4"]
)
def test_as_dtype_refuses_everything_else(obj):
    refused(TypeError, "must be one of this namespace's dtypes, a name or ty", as_dtype, obj)


def test_as_dtype_names_the_dtype_that_was_meant():
    refused(TypeError, r"; use xp\.float32$", as_dtype, "torch.float32")
