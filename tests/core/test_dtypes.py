"""Data types: identity, and promotion against NumPy and the standard's own table."""

from __future__ import annotations

import copy
import pickle
import weakref
from itertools import permutations, product

import numpy as np
import pytest

from array_api_nx.core import dtypes as d
from array_api_nx.core.dtypes import (
    ALL,
    KINDS,
    PROMOTION,
    SCALAR_PROMOTION,
    DType,
    as_dtype,
    can_cast,
    dtype_named,
    promote,
    same_kind,
)
from tests.support.tables import for_each

PAIRS = list(product(ALL, ALL))
SCALARS = {bool: True, int: 1, float: 1.0, complex: 1j}


def numpy_of(dtype: DType) -> np.dtype:
    return np.dtype(dtype.name)


def ids(value: object) -> str:
    return str(value)


def test_the_thirteen_dtypes_of_the_standard():
    assert [dtype.name for dtype in ALL] == [
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float32", "float64", "complex64", "complex128",
    ]  # fmt: skip
    for dtype in ALL:
        assert getattr(d, dtype.name) is dtype
        assert dtype_named(dtype.name) is dtype
        assert dtype.itemsize == numpy_of(dtype).itemsize
        assert str(dtype) == dtype.name
        assert repr(dtype) == f"array_api_nx.{dtype.name}"
    with pytest.raises(KeyError):
        dtype_named("float16")


def test_bounds_of_integers():
    for dtype in d.INTEGRAL:
        info = np.iinfo(dtype.name)
        assert (dtype.min, dtype.max) == (info.min, info.max)
    assert (d.bool.min, d.bool.max) == (0, 1)
    for dtype in d.FLOATING:
        assert (dtype.min, dtype.max) == (-int(np.finfo("f8").max), int(np.finfo("f8").max))


def test_kinds_partition_the_dtypes():
    assert [dtype for dtype in ALL if dtype.kind == "bool"] == [d.bool]
    basic = ["bool", "signed integer", "unsigned integer", "real floating", "complex floating"]
    assert sorted(ids(x) for kind in basic for x in KINDS[kind]) == sorted(map(ids, ALL))
    for kind in basic:
        assert all(dtype.kind == kind for dtype in KINDS[kind])
    assert set(KINDS["integral"]) == {*d.SIGNED, *d.UNSIGNED}
    assert set(KINDS["numeric"]) == set(ALL) - {d.bool}
    assert set(d.REAL) == {*d.INTEGRAL, *d.REAL_FLOATING}
    assert set(d.BOOL_LIKE) == {d.bool, *d.INTEGRAL}
    assert set(d.FLOATING) == {*d.REAL_FLOATING, *d.COMPLEX}


# Identity


@pytest.mark.parametrize("dtype", ALL, ids=ids)
def test_copies_and_pickles_are_the_dtype_itself(dtype):
    assert copy.copy(dtype) is dtype
    assert copy.deepcopy({"dtype": dtype})["dtype"] is dtype
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(dtype, protocol)) is dtype


PYTHON = {bool: d.bool, int: d.int64, float: d.float64, complex: d.complex128}


@pytest.mark.parametrize("dtype", ALL, ids=ids)
def test_a_dtype_equals_itself_and_its_spellings(dtype):
    theirs = numpy_of(dtype)
    assert dtype == dtype_named(dtype.name)
    assert [other for other in ALL if other == dtype] == [dtype]
    python = [kind for kind, found in PYTHON.items() if found is dtype]
    for other in [dtype.name, theirs.str, theirs.char, theirs, theirs.type, *python]:
        assert (dtype == other) is True
        assert (other == dtype) is True
        assert (dtype != other) is False
        assert (other != dtype) is False


@pytest.mark.parametrize("dtype", ALL, ids=ids)
def test_a_dtype_equals_nothing_else(dtype):
    foreign = [np.float16, np.dtype("U3"), object, str, "float16", "no dtype", "", b"f8"]
    swapped = [numpy_of(dtype).newbyteorder("S")] if dtype.itemsize > 1 else []
    others = [numpy_of(other) for other in ALL if other is not dtype]
    for other in [*foreign, *swapped, *others, None, 1, 1.5, (), [], {}]:
        assert (dtype == other) is False
        assert (other == dtype) is False
        assert (dtype != other) is True


def test_a_dtype_is_a_key_of_its_own():
    """A cache never gives what was computed for one of NumPy's dtypes, nor the reverse."""
    for dtype in ALL:
        table = {numpy_of(dtype): "NumPy's", numpy_of(dtype).type: "NumPy's", dtype.name: "a name"}
        assert dtype not in table
        table[dtype] = "ours"
        assert table[dtype] == "ours"
        assert table[numpy_of(dtype)] == "NumPy's"
        assert len(table) == 4


@pytest.mark.parametrize("values", [1.0, [1.0, 2.0], [], [[True]]])
def test_comparing_with_a_numpy_array_does_not_raise(values):
    array = np.asarray(values)
    for dtype in ALL:
        assert not np.any(dtype == array)
        assert not np.any(array == dtype)


def test_dtypes_are_hashable_and_weakly_referable():
    assert len(set(ALL)) == 13
    assert weakref.ref(d.float32)() is d.float32


# Promotion


@for_each(("first", "second"), PAIRS)
def test_promotion_is_numpys(first, second):
    expected = np.promote_types(numpy_of(first), numpy_of(second)).name
    assert PROMOTION[first, second] is dtype_named(expected)


def test_the_table_has_every_pair():
    assert set(PROMOTION) == set(PAIRS)


def standard_pairs() -> dict[tuple[str, str], str]:
    """The pairs that the standard defines, by its rules: within a kind, the wider type; signed
    with unsigned, the narrowest signed type that holds both; real with complex, the complex type
    whose parts are wide enough."""
    table = {("bool", "bool"): "bool"}
    for stem in ("int", "uint"):
        for a, b in product((8, 16, 32, 64), repeat=2):
            table[f"{stem}{a}", f"{stem}{b}"] = f"{stem}{max(a, b)}"
    for signed, unsigned in product((8, 16, 32, 64), (8, 16, 32)):
        table[f"int{signed}", f"uint{unsigned}"] = f"int{max(signed, 2 * unsigned)}"
    for a, b in product((32, 64), repeat=2):
        table[f"float{a}", f"float{b}"] = f"float{max(a, b)}"
        table[f"float{a}", f"complex{2 * b}"] = f"complex{2 * max(a, b)}"
        table[f"complex{2 * a}", f"complex{2 * b}"] = f"complex{2 * max(a, b)}"
    return table | {(b, a): result for (a, b), result in table.items()}


def test_promotion_is_the_standards_where_it_defines_it():
    table = standard_pairs()
    assert len(table) == 1 + 2 * 16 + 2 * 12 + 4 + 2 * 4 + 4
    for (first, second), result in table.items():
        assert PROMOTION[dtype_named(first), dtype_named(second)] is dtype_named(result)


def test_promotion_is_commutative_and_idempotent():
    for first, second in PAIRS:
        result = PROMOTION[first, second]
        assert result is PROMOTION[second, first]
        assert result is PROMOTION[result, first] is PROMOTION[result, second]
    assert all(PROMOTION[dtype, dtype] is dtype for dtype in ALL)


def test_promote_takes_any_number():
    assert promote(d.int8) is d.int8
    assert promote(d.int8, d.uint8, d.float32) is d.float32
    for triple in permutations((d.int32, d.uint8, d.int16)):
        assert promote(*triple) is d.int32


@for_each("dtype", ALL)
@pytest.mark.parametrize("kind", SCALARS, ids=lambda kind: kind.__name__)
def test_scalars_are_weak_as_in_numpy(dtype, kind):
    expected = np.result_type(numpy_of(dtype), SCALARS[kind]).name
    assert SCALAR_PROMOTION[dtype, kind] is dtype_named(expected)


def test_the_scalar_table_has_every_pair():
    assert set(SCALAR_PROMOTION) == set(product(ALL, SCALARS))


# Conversion


@for_each(("first", "second"), PAIRS)
def test_casting_is_numpys(first, second):
    pair = numpy_of(first), numpy_of(second)
    assert can_cast(first, second) is np.can_cast(*pair, casting="safe")
    assert same_kind(first, second) is np.can_cast(*pair, casting="same_kind")


def test_as_dtype():
    for dtype in ALL:
        assert as_dtype(dtype) is dtype
    for kind, dtype in PYTHON.items():
        assert as_dtype(kind) is dtype


def candidates() -> list[object]:
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
            theirs = np.dtype(candidate)
            ours = next((each for each in ALL if numpy_of(each) == theirs), None)
        except TypeError:
            ours = None
        if ours is None:
            with pytest.raises(TypeError, match=r"^a dtype must be one of this namespace's dtypes"):
                as_dtype(candidate)
            assert candidate not in ALL
        else:
            assert as_dtype(candidate) is ours
            assert ours == candidate
            read += 1
    assert read > 200


@pytest.mark.parametrize(
    "obj", [None, "f2", np.dtype("U3"), np.float16, str, object, 3, [], {}, np.zeros(2), b"f4"]
)
def test_as_dtype_refuses_everything_else(obj):
    with pytest.raises(
        TypeError, match="must be one of this namespace's dtypes, a name or ty"
    ) as e:
        as_dtype(obj)
    assert "use xp" not in str(e.value)


@pytest.mark.parametrize("obj", [np.dtype("float32").newbyteorder("S"), "torch.float32"])
def test_as_dtype_names_the_dtype_that_was_meant(obj):
    with pytest.raises(TypeError, match=r"; use xp\.float32$"):
        as_dtype(obj)


# NumPy's protocol


@pytest.mark.parametrize("dtype", ALL, ids=ids)
def test_numpy_takes_our_dtypes(dtype):
    assert np.dtype(dtype) is numpy_of(dtype)
    assert np.zeros(2, dtype).dtype == dtype
    assert np.result_type(dtype, np.bool) == numpy_of(dtype)
    assert np.issubdtype(dtype, np.floating) is (dtype.kind == "real floating")
    # Clients take what has a dtype for an array. Before 2.4, NumPy looks for nothing else.
    has_protocol = np.lib.NumpyVersion(np.__version__) >= "2.4.0"
    assert hasattr(dtype, "__numpy_dtype__") is has_protocol
    assert hasattr(dtype, "dtype") is not has_protocol
