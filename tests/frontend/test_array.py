"""The array object: attributes, operators, conversions to Python, iteration, copies, pickles."""

import copy
import gc
import operator
import pickle
import weakref
from itertools import product

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from tests.support.arrays import assert_array
from tests.support.refusals import refused
from tests.support.tables import for_each

ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
BITWISE = ["and_", "or_", "xor", "lshift", "rshift"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


def numpy_of(x):
    return np.from_dlpack(x)


@pytest.fixture
def x():
    return xp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def test_attributes(x):
    assert x.shape == (2, 3)
    assert x.ndim == 2
    assert x.size == 6
    assert x.dtype is xp.float64
    assert x.device == xp.Device("cpu")
    assert all(type(n) is int for n in (*x.shape, x.ndim, x.size))
    zero = xp.asarray(1)
    assert (zero.shape, zero.ndim, zero.size) == ((), 0, 1)
    assert (x[:0].shape, x[:0].size) == ((0, 3), 0)


@pytest.mark.parametrize("name", ["shape", "dtype", "device", "ndim", "size", "T", "mT"])
def test_attributes_cannot_be_set(x, name):
    refused(AttributeError, None, setattr, x, name, getattr(x, name))


@for_each(
    "name",
    [
        *["fit", "iloc", "flags", "pvalue", "strides", "data", "tofile", "byteswap"],
        *["__array_interface__", "__array_struct__", "__torch_function__"],
        *["__sklearn_array_api_convert__", "__cuda_array_interface__", "__buffer__"],
    ],
)
def test_unknown_attributes_raise_attribute_error(x, name):
    assert not hasattr(x, name)
    refused(AttributeError, None, setattr, x, name, 1)


def test_transposes(x):
    assert_array(x.T, numpy_of(x).T)
    assert_array(x.mT, numpy_of(x).T)
    stack = xp.reshape(xp.arange(24), (2, 3, 4))
    assert_array(stack.mT, np.swapaxes(numpy_of(stack), -1, -2))
    for wrong in (x[0], x[0, 0]):
        with pytest.raises(ValueError, match="at least two dimensions"):
            _ = wrong.mT


def test_the_class_is_no_subclass_of_anything():
    assert Array.__mro__ == (Array, object)


OPERANDS = {
    **dict.fromkeys(["float32", "float64", "int16", "uint8"], ([1, 2, 3, 7], [3, 2, 1, 2], [2])),
    "int64": ([1, 2, 12], [3, 1, 2], [2]),
    "bool": ([True, True, False, False], [True, False, True, False], [True, False]),
}
"""Of each dtype: two arrays, and the scalars that they meet."""
OPERATORS = [
    *product([*ARITHMETIC, *COMPARISONS], ["float32", "float64", "int16", "uint8"]),
    *product(BITWISE, ["int64"]),
    *product(["and_", "or_", "xor"], ["bool"]),
]


@for_each(("name", "dtype"), OPERATORS)
def test_operators_of_two_operands_are_numpys(name, dtype):
    apply = getattr(operator, name)
    first, second, scalars = OPERANDS[dtype]
    a, b = np.asarray(first, dtype), np.asarray(second, dtype)
    x, y = xp.asarray(a, copy=True), xp.asarray(b, copy=True)
    assert_array(apply(x, y), apply(a, b))
    assert_array(apply(x, y[:1]), apply(a, b[:1]))
    for scalar in scalars:
        assert_array(apply(x, scalar), apply(a, scalar))
        assert_array(apply(scalar, x), apply(scalar, a))


def test_unary_operators(x):
    a = numpy_of(x)
    assert_array(-x, -a)
    assert_array(+x, a)
    assert_array(abs(-x), a)
    assert_array(~xp.asarray([0, 5]), [-1, -6])
    assert_array(~xp.asarray([True, False]), [False, True])


NUMBERS = np.asarray([1.0, 2.0, 7.5]), [2.0, np.asarray([2.0, 3.0, 8.5])]
BITS = np.asarray([1, 6, 12], "int32"), [3, np.asarray([1, 2, 3], "int32")]
IN_PLACE = {
    **dict.fromkeys(["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"], NUMBERS),
    **dict.fromkeys(["iand", "ior", "ixor", "ilshift", "irshift"], BITS),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_operators_write_to_the_same_memory(name):
    apply = getattr(operator, name)
    a, others = IN_PLACE[name]
    x = xp.asarray(a, copy=True)
    view = x[1:]
    for other in others:
        a = apply(a.copy(), other)
        before = x
        x = apply(x, other if np.isscalar(other) else xp.asarray(other, copy=True))
        assert x is before
        assert_array(x, a)
        assert_array(view, a[1:])


def test_in_place_operators_keep_the_dtype(x):
    y = before = xp.ones(3, dtype=xp.float32)
    y += xp.ones(3)
    assert y is before
    assert_array(y, np.full(3, 2, "float32"))
    i = xp.ones(3, dtype=xp.int32)
    i += xp.ones(3, dtype=xp.int64)
    assert_array(i, np.full(3, 2, "int32"))
    c = xp.ones(2, dtype=xp.complex64)
    c *= xp.asarray([1j, 2])
    assert_array(c, np.asarray([1j, 2], "complex64"))


def test_in_place_with_a_broadcast_operand(x):
    x += xp.asarray([10.0, 20.0, 30.0])
    x *= xp.asarray([[1.0], [0.0]])
    assert_array(x, [[11.0, 22.0, 33.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize("other", [None, "a", {1}, object()])
def test_comparing_with_unrelated_objects(x, other):
    assert (x == other) is False
    assert (x != other) is True
    refused(TypeError, None, lambda: x + other)
    refused(TypeError, None, lambda: other < x)


def test_operators_ask_the_other_side():
    class Other:
        def __radd__(self, x):
            return "radd"

        def __eq__(self, x):
            return "eq"

        __hash__ = None

    assert xp.ones(2) + Other() == "radd"
    assert (xp.ones(2) == Other()) == "eq"


def test_arrays_are_not_hashable(x):
    refused(TypeError, "unhashable", hash, x)
    refused(TypeError, "unhashable", lambda: {x})


@pytest.mark.parametrize(
    ("value", "expected"), [(2.75, (True, 2, 2.75, 2.75 + 0j)), (0, (False, 0, 0.0, 0j))]
)
def test_conversion_to_python_scalars(value, expected):
    for x in (xp.asarray(value), xp.asarray([[value]])):
        found = bool(x), int(x), float(x), complex(x)
        assert found == expected
        assert [type(y) for y in found] == [bool, int, float, complex]


def test_conversion_of_booleans_and_complex_numbers():
    assert (int(xp.asarray(True)), float(xp.asarray(True))) == (1, 1.0)
    assert complex(xp.asarray(1 + 2j)) == 1 + 2j
    assert bool(xp.asarray(1j)) is True
    assert bool(xp.asarray(0j)) is False
    assert bool(xp.asarray(float("nan"))) is True


def test_conversion_is_exact_at_the_limits():
    for dtype in (xp.int64, xp.uint64):
        for bound in (xp.iinfo(dtype).min, xp.iinfo(dtype).max):
            assert int(xp.asarray(bound, dtype=dtype)) == bound
            assert operator.index(xp.asarray(bound, dtype=dtype)) == bound


def test_index():
    assert [10, 20, 30][xp.asarray(1)] == 20
    assert operator.index(xp.asarray(-3, dtype=xp.int8)) == -3
    assert list(range(xp.asarray(2))) == [0, 1]
    for wrong in (xp.asarray(1.0), xp.asarray([1]), xp.asarray(True)):
        refused(TypeError, r"can be an index.*convert with int", operator.index, wrong)


def test_len_and_iteration(x):
    assert len(x) == 2
    rows = list(x)
    assert [type(row) for row in rows] == [Array, Array]
    assert_array(rows[1], [4.0, 5.0, 6.0])
    assert [float(y) for y in x[0]] == [1.0, 2.0, 3.0]
    assert len(x[:0]) == 0
    assert list(x[:0]) == []
    rows[0][0] = 9.0
    assert float(x[0, 0]) == 9.0
    _, second = x
    assert_array(second, [4.0, 5.0, 6.0])
    assert_array(next(reversed(x)), [4.0, 5.0, 6.0])


@pytest.mark.parametrize("ask", [len, iter, list])
def test_0d_arrays_have_no_length_and_no_iterator(ask):
    refused(TypeError, "0-dimensional", ask, xp.asarray(1.0))


def test_contains(x):
    assert 5.0 in x
    assert 7 not in x
    assert x[0, 0] in x
    assert float("nan") not in xp.asarray([float("nan")])
    assert 300 not in xp.ones(2, dtype=xp.int8)
    assert 1 not in x[:0]


def test_printing_goes_by_format_too(x):
    assert f"{x[0, 1]:.2f}" == "2.00"
    assert f"{x[0]}" == str(x[0])
    assert repr(x[0]) == "Array([1., 2., 3.], dtype=float64)"


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_have_memory_of_their_own(x, duplicate):
    for view in (x, x.T, x[::-1, 1:], x[0, 0], x[:0], xp.broadcast_to(x[0], (4, 3))):
        copied = duplicate(view)
        expected = numpy_of(view).copy()
        assert copied is not view
        assert_array(copied, expected)
        copied[...] = 0.0
        assert_array(view, expected)


def test_deepcopy_of_a_container(x):
    copied = copy.deepcopy({"x": [x, 1]})["x"][0]
    assert_array(copied, numpy_of(x))
    assert not np.shares_memory(numpy_of(copied), numpy_of(x))


@for_each("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@for_each("dtype", ["bool", "uint8", "int64", "float32", "complex128"])
def test_pickle(protocol, dtype):
    whole = np.arange(12).reshape(3, 4).astype(dtype)
    for a in (whole, whole.T, whole[::-1, ::2], whole[1, 2], whole[:0], whole[1:2]):
        x = pickle.loads(pickle.dumps(xp.asarray(a), protocol))
        assert_array(x, a)
        assert x.device == xp.Device("cpu")
        x[...] = True
        assert bool(xp.all(x == 1))


def test_pickle_of_a_small_view_of_a_large_array_is_small():
    large = xp.zeros((1000, 100))
    assert len(pickle.dumps(large[3, :5])) < 1000


def test_pickle_of_read_only_memory_can_be_written():
    x = pickle.loads(pickle.dumps(xp.broadcast_to(xp.asarray(1.0), (3,))))
    x[0] = 5.0
    assert_array(x, [5.0, 1.0, 1.0])


def test_weak_references():
    x = xp.ones(3)
    reference = weakref.ref(x)
    assert reference() is x
    del x
    gc.collect()
    assert reference() is None


def test_a_view_keeps_its_memory_alive():
    view = xp.arange(1000)[500:502]
    gc.collect()
    assert_array(view, [500, 501])


def test_the_namespace_of_an_array(x):
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2025.12") is xp
    refused(TypeError, None, x.__array_namespace__, "2025.12")


def test_sum_and_reshape_as_methods(x):
    assert_array(x.sum(), 21.0)
    assert_array(x.sum(axis=0, keepdims=True), [[5.0, 7.0, 9.0]])
    assert_array(np.sum(x), 21.0)
    assert_array(x.reshape(3, 2), numpy_of(x).reshape(3, 2))
    assert_array(x.reshape((3, -1)), numpy_of(x).reshape(3, 2))
    assert_array(x.reshape(-1), numpy_of(x).reshape(-1))
    refused(ValueError, "out=", x.sum, out=x)
