"""Bad keys, values and objects: the type and words of the error, and that nothing changed."""

import operator

import array_api_strict
import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import Array
from tests.support.refusals import refused_unchanged
from tests.support.tables import for_each


@pytest.fixture
def x():
    return xp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.fixture
def i():
    return xp.asarray([3, 1, 2])


@for_each(
    ("key", "error", "message"),
    [
        (
            1.0,
            IndexError,
            r"an index must be an int, a slice, .* not float; convert it with int\(\)",
        ),
        ("a", IndexError, r"not str; axes have no names here.*names\.index\(name\)"),
        ((0, (1, 2)), IndexError, "not tuple; convert sequences with asarray"),
        (((0, 1),), IndexError, "not tuple; convert sequences with asarray"),
        ({1}, IndexError, "not set"),
        (object(), IndexError, "not object"),
        (array_api_strict.asarray([1]), IndexError, "arrays of other libraries too"),
        ((0, 0, 0), IndexError, r"names 3 axes, but the array has 2: .*; leave out the others"),
        ((..., 0, 0, 0), IndexError, "names 3 axes, but the array has 2"),
        ((..., ...), IndexError, r"only one ellipsis \(...\); write the others as slices"),
        (2, IndexError, "index 2 is out of range for axis 0 of size 2; legal: from -2 to 1"),
        (-3, IndexError, "index -3 is out of range for axis 0 of size 2; legal: from -2 to 1"),
        (10**30, IndexError, "is out of range for axis 0 of size 2"),
        ((0, 3), IndexError, "index 3 is out of range for axis 1 of size 3; legal: from -3 to 2"),
        (slice(0.0, 1), IndexError, r"bounds of a slice must be ints or None.*int\(\)"),
        ((0, slice("a", None)), IndexError, "bounds of a slice must be ints or None"),
        (slice(None, None, 0), ValueError, "step of a slice must not be 0; leave it out"),
        ([0.0, 1.0], IndexError, "index arrays must be integers or booleans, not float64; convert"),
        ([[0], [0, 1]], ValueError, "must not be ragged"),
        (np.asarray([1.0]), IndexError, "index arrays must be integers or booleans, not float64"),
        ([2], IndexError, r"indices must lie from -size to size - 1"),
        ([0, -3], IndexError, "indices must lie from -size to size - 1"),
        ((slice(None), [0, 3]), IndexError, "indices must lie from -size to size - 1"),
        (([0, 1], [0, 3]), IndexError, "indices must lie from -size to size - 1"),
        ((9, [0]), IndexError, "index 9 is out of range for axis 0 of size 2; legal"),
        (([0, 1], [0, 1, 2]), IndexError, "index arrays must broadcast"),
        ([True, False, True], IndexError, r"mask of shape \(3,\) does not match.*broadcast_to"),
        ((slice(None), [True, False]), IndexError, r"mask of shape \(2,\) does not match"),
        ([[[True]]], IndexError, "names 3 axes, but the array has 2"),
    ],
)
def test_wrong_index_keys(key, error, message, x):
    refused_unchanged(lambda: x[key], error, message, x)
    refused_unchanged(lambda: x.__setitem__(key, 0.0), error, message, x)
    refused_unchanged(lambda: x.__setitem__(key, x[0, 0]), error, message, x)
    refused_unchanged(
        lambda: operator.setitem(x, key, xp.asarray(7, dtype=xp.int8)), error, message, x
    )


@pytest.mark.parametrize(
    ("values", "dtype", "message"),
    [
        ([1.0], xp.float64, "not float64; convert with astype"),
        ([1j], xp.complex64, "not complex64; convert with astype"),
        ([], xp.float64, "not float64; convert with astype"),
        ([0, 2], xp.int64, "indices must lie from -size to size - 1"),
        ([0, 2], xp.uint8, "indices must lie from -size to size - 1"),
        ([0, 2**63], xp.uint64, "it exceeds the largest int64"),
        ([0, 2**64 - 1], xp.uint64, "it exceeds the largest int64"),
        (2**64 - 1, xp.uint64, "is out of range for axis 0"),
        (2, xp.int8, "is out of range for axis 0"),
    ],
)
def test_wrong_index_arrays(values, dtype, message, x):
    key = xp.asarray(values, dtype=dtype)
    for each in (key, (key, 0), (key, ...)):
        refused_unchanged(lambda each=each: x[each], IndexError, message, x)
        refused_unchanged(lambda each=each: x.__setitem__(each, 0.0), IndexError, message, x)


def test_take_out_of_range(x):
    for bad in (3, -4):
        where = xp.asarray([0, bad])
        message = "out of range for axis 1 of size 3; indices must lie from -3 to 2"
        refused_unchanged(lambda where=where: xp.take(x, where, axis=1), IndexError, message)
        refused_unchanged(
            lambda where=where: xp.take_along_axis(x, where[None]), IndexError, message
        )
    big = xp.asarray([0, 2**63], dtype=xp.uint64)
    refused_unchanged(lambda: xp.take(x, big, axis=0), IndexError, "exceeds the largest int64")
    refused_unchanged(
        lambda: xp.take_along_axis(x, big[None]), IndexError, "exceeds the largest int64"
    )


def test_0d_arrays_have_no_axes_to_index():
    zero = xp.asarray(5)
    for key in (0, slice(None), (0,), [0], (None, 0)):
        refused_unchanged(
            lambda key=key: zero[key], IndexError, "names 1 axes, but the array has 0", zero
        )


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        (0, (2,)),
        (slice(None), (3, 2)),
        (..., (2, 2, 3)),
        (slice(0, 0), (2,)),
        ((0, 0), (2,)),
        ([0, 1], (2,)),
        ([0, 1], (3, 3)),
        ([[True, False, True], [True, False, False]], (2,)),
        ([[True, False, True], [True, False, False]], (4,)),
        ([True, False], (2, 3)),
        ((slice(None), [0]), (3, 1)),
    ],
)
def test_values_that_do_not_broadcast(key, shape, x):
    message = "broadcast|does not fit what the index selects|cannot store"
    refused_unchanged(lambda: x.__setitem__(key, xp.ones(shape)), ValueError, message, x)


def test_more_dimensions_than_the_selection(x):
    refused_unchanged(
        lambda: x.__setitem__(0, xp.ones((2, 3))), ValueError, "cannot store an array of shape", x
    )
    x[0] = xp.zeros((1, 1, 3))
    assert np.asarray(x).tolist() == [[0.0] * 3, [4.0, 5.0, 6.0]]


@for_each("key", [0, slice(None), ..., [0], [True, False]])
@for_each(
    ("dtype", "value", "error", "message"),
    [
        ("float64", 1j, TypeError, "the scalar 1j is no value of dtype float64; convert the arr"),
        ("int64", 1.5, TypeError, r"the scalar 1.5 is no value of dtype int64.*int\(\)"),
        ("int64", float("nan"), TypeError, "the scalar nan is no value of dtype int64"),
        ("bool", 1, TypeError, r"the scalar 1 is no value of dtype bool.*bool\(\)"),
        ("int8", 300, OverflowError, r"300 is out of range for dtype int8 \(-128 to 127\); conv"),
        ("uint8", -1, OverflowError, r"-1 is out of range for dtype uint8 \(0 to 255\)"),
        ("int64", 2**70, OverflowError, "out of range for dtype int64"),
        ("int64", 2**700, OverflowError, r"the scalar of \d+ bits is out of range"),
        ("float64", 2**1025, OverflowError, "out of range for dtype float64; give a float"),
        ("float32", 2**1030, OverflowError, "out of range for dtype float32; give a float"),
        ("complex64", 2**1025, OverflowError, "out of range for dtype complex64; give a float"),
        ("float64", xp.asarray(1j), TypeError, r"loses data; convert them with astype\(..., flo"),
        ("int64", xp.asarray(1.0), TypeError, r"loses data; convert them with astype\(..., int6"),
        ("uint8", xp.asarray(1), TypeError, r"loses data; convert them with astype\(..., uint8"),
        ("bool", xp.asarray(1), TypeError, r"loses data; convert them with astype\(..., bool"),
        ("int64", np.float64(1), TypeError, "loses data"),
    ],
)
def test_values_that_lose_data(key, dtype, value, error, message):
    x = xp.zeros((2, 3), dtype=getattr(xp, dtype))
    refused_unchanged(lambda: x.__setitem__(key, value), error, message, x)


@pytest.mark.parametrize(
    ("dtype", "other", "error", "message"),
    [
        ("int64", 1.5, TypeError, "store float64 values in an array of dtype int64, which loses"),
        ("int64", xp.asarray(1.5), TypeError, "use the operator that makes a new array"),
        ("float64", 1j, TypeError, "store complex128 values in an array of dtype float64"),
        ("uint8", xp.asarray(1), TypeError, "store int64 values in an array of dtype uint8"),
        ("bool", 1, TypeError, "store int64 values in an array of dtype bool"),
        ("int8", 300, OverflowError, r"300 is out of range for dtype int8 \(-128 to 127\)"),
        ("float32", 2**1025, OverflowError, "out of range for dtype float32; give a float"),
    ],
)
def test_in_place_operators_that_lose_data(dtype, other, error, message):
    x = xp.ones((2, 3), dtype=getattr(xp, dtype))
    refused_unchanged(lambda: operator.iadd(x, other), error, message, x)


def test_in_place_division_of_integers(i):
    refused_unchanged(
        lambda: operator.itruediv(i, 2), TypeError, "use the operator that makes a new", i
    )


@pytest.mark.parametrize("other", [-1, [1, 1, -1], [[1], [-1]]])
def test_integers_to_negative_powers(other, i):
    other = other if isinstance(other, int) else xp.asarray(other)
    message = r"negative integer powers.*; convert one operand with astype\(..., float64\)"
    refused_unchanged(lambda: i**other, ValueError, message, i)
    if other == -1 if isinstance(other, int) else other.ndim == 1:
        refused_unchanged(lambda: operator.ipow(i, other), ValueError, message, i)
    long = xp.full(1000, 3)
    refused_unchanged(
        lambda: operator.ipow(long, xp.concat([xp.ones(999, dtype=int), xp.asarray([-1])])),
        ValueError,
        message,
        long,
    )


@for_each(
    "call",
    [
        lambda x, n: x + n,
        lambda x, n: n - x,
        lambda x, n: xp.maximum(x, n),
        lambda x, n: xp.where(x > 0, x, n),
        lambda x, n: xp.full((2,), n, dtype=x.dtype),
        lambda x, n: xp.full_like(x, n),
        lambda x, n: xp.asarray(n, dtype=x.dtype),
        lambda x, n: xp.asarray([0, n], dtype=x.dtype),
        lambda x, n: xp.linspace(0, n, 3, dtype=x.dtype),
        lambda x, n: xp.arange(n, n + 1, dtype=x.dtype),
    ],
)
@for_each(
    ("dtype", "number"),
    [("int8", 128), ("int8", -129), ("uint64", -1), ("uint64", 2**64), ("float64", 2**1025)],
)
def test_python_scalars_out_of_range(call, dtype, number):
    x = xp.ones(2, dtype=getattr(xp, dtype))
    message = rf"is out of range for dtype {dtype}.*; (convert the array|make it with|give a float)"
    refused_unchanged(lambda: call(x, number), OverflowError, message, x)


def test_comparing_with_integers_out_of_range_is_exact():
    x = xp.asarray([1, 2], dtype=xp.int8)
    for far in (1000, -1000, 10**5000):
        assert not bool(xp.any(x == far))
        assert bool(xp.all(x != far))
        assert bool(xp.all(x < far)) == (far > 0)
        assert bool(xp.all(far < x)) == (far < 0)


def test_defaults_out_of_range():
    for call in (xp.asarray, lambda n: xp.full(1, n), lambda n: xp.asarray([n])):
        message = r"is out of range for dtype int64 \(.*\); make it with dtype=xp.uint64$"
        refused_unchanged(lambda call=call: call(2**63), OverflowError, message)
        message = r"is out of range for dtype int64 \(.*\); make it with dtype=xp.float64$"
        refused_unchanged(lambda call=call: call(2**70), OverflowError, message)


def test_strings_are_no_limits(x):
    message = r"min must be .* not a str; arrays hold numbers: convert it with float\(...\), then"
    refused_unchanged(lambda: xp.clip(x, "a", 1), TypeError, message, x)


@pytest.mark.parametrize("convert", [bool, int, float, complex])
def test_converting_many_elements(convert, x):
    message = f"{convert.__name__}.* takes an array with one element, not shape .*; reduce it"
    refused_unchanged(lambda: convert(x), TypeError, message, x)
    refused_unchanged(lambda: convert(x[:0]), TypeError, message)


def test_converting_what_is_no_real_number():
    nan, inf = xp.asarray(float("nan")), xp.asarray(float("-inf"))
    advice = r"has no integer value; replace it first, as with where\(isfinite\(x\), x, 0\)"
    refused_unchanged(lambda: int(nan), ValueError, f"nan {advice}")
    refused_unchanged(lambda: int(inf), OverflowError, f"-inf {advice}")
    refused_unchanged(lambda: xp.full(2, float("nan"), dtype=xp.int8), ValueError, f"nan {advice}")
    refused_unchanged(
        lambda: xp.asarray(float("inf"), dtype=xp.int8), OverflowError, f"inf {advice}"
    )
    for convert in (int, float):
        refused_unchanged(
            lambda convert=convert: convert(xp.asarray(1j)),
            TypeError,
            r"cannot take a complex number; take real\(x\) or imag\(x\) first",
        )


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_reductions_without_identity(name):
    reduce = getattr(xp, name)
    message = "undefined: there are no elements and no identity; test x.size first"
    refused_unchanged(lambda: reduce(xp.ones((0,))), ValueError, message)
    refused_unchanged(lambda: reduce(xp.ones((2, 0))), ValueError, message)
    refused_unchanged(lambda: reduce(xp.ones((2, 0)), axis=1), ValueError, f"axis 1 .*{message}")
    assert reduce(xp.ones((2, 0)), axis=0).shape == (0,)


def nested(levels, innermost=1.0, as_tuple=False):
    """Sequences of one element within each other, lists and tuples by turns if `as_tuple`."""
    for level in range(levels):
        innermost = (innermost,) if as_tuple and level % 2 else [innermost]
    return innermost


def test_as_many_levels_as_there_may_be():
    assert xp.asarray(nested(64)).ndim == 64
    assert xp.asarray(nested(63, [], as_tuple=True)).shape == (1,) * 63 + (0,)


@for_each(
    ("value", "error", "message"),
    [
        ([[1, 2], [3]], ValueError, "must not be ragged.*; pad them, or convert them one by one"),
        ([1, [2]], ValueError, "must not be ragged"),
        ([xp.ones(2), xp.ones(3)], ValueError, "must not be ragged"),
        ([1, nested(65)], ValueError, "must not be ragged"),
        (nested(65), ValueError, "must not be deeper than the 64 dimensions that .* give"),
        (nested(65, as_tuple=True), ValueError, "deeper than the 64 dimensions"),
        ((nested(64, as_tuple=True), nested(64)), ValueError, "deeper than the 64 dimensions"),
        (nested(64, []), ValueError, "deeper than the 64 dimensions"),
        (nested(65, 2**70), ValueError, "deeper than the 64 dimensions"),
        (nested(64, np.ones(2)), ValueError, "deeper than the 64 dimensions"),
        (nested(64, xp.ones(2)), ValueError, "deeper than the 64 dimensions"),
        (nested(5000), ValueError, "deeper than the 64 dimensions"),
        ([[1, 2], [3]], ValueError, r"but \[0\] has length 2 and \[1\] has length 1; pad"),
        ([1, [2]], ValueError, r"but \[0\] is no sequence and \[1\] has length 1"),
        ([[[1], [2]], [[3], [4, 5]]], ValueError, r"\[0\]\[0\] has length 1 and \[1\]\[1\] has"),
        ([[1, 2], [[3], [4]]], ValueError, r"\[0\]\[0\] is no sequence and \[1\]\[0\] has"),
        ([xp.ones((2, 3)), xp.ones((2, 4))], ValueError, r"\[0\]\[0\] has length 3 and \[1\]\[0\]"),
        ([1, nested(5000)], ValueError, r"\[0\] is no sequence and \[1\] has length 1"),
        (
            np.asarray([object()]),
            TypeError,
            r"NumPy's object, and element \[0\] is an object; make",
        ),
        (
            [object()],
            TypeError,
            r"other objects, but element \[0\] is an object; make numbers of it",
        ),
        ([[1], {2}], TypeError, r"element \[1\] is \{2\}, a set; convert it with list\(x\)"),
        (object(), TypeError, "cannot convert an object; give numbers, nested lists"),
        (np.zeros(2, "V4"), TypeError, r"no dtype for NumPy's \|V4; convert .*\.view\(\"uint8\"\)"),
        (np.asarray(["a"]), TypeError, "no dtype for NumPy's <U1; arrays hold no text"),
    ],
)
def test_objects_that_are_no_arrays(value, error, message):
    refused_unchanged(lambda: xp.asarray(value), error, message)
    refused_unchanged(lambda: xp.asarray(value, copy=True), error, message)


@pytest.mark.parametrize("version", ["2030.01", "", 2025, [], "2025"])
def test_unknown_versions(version, x):
    message = r"no version .* of the standard here; versions: 2021.12, .*, 2025.12"
    refused_unchanged(lambda: x.__array_namespace__(api_version=version), ValueError, message)


@for_each(
    ("call", "error", "message"),
    [
        (lambda x: xp.sum(x, dim=0), TypeError, "unexpected keyword argument 'dim'"),
        (lambda x: xp.asarray([1], order="C"), TypeError, "unexpected keyword argument 'order'"),
        (lambda x: xp.zeros(shap=3), TypeError, "unexpected keyword argument 'shap'"),
        (lambda x: Array(3), TypeError, "takes no arguments"),
        (lambda x: xp.sum(x, axsi=0), TypeError, "'axsi'; did you mean 'axis'"),
        (lambda x: xp.zeros(3, dytpe=xp.int8), TypeError, "'dytpe'; did you mean 'dtype'"),
        (lambda x: xp.mean(x, keepdim_=True), TypeError, "'keepdim_'; did you mean 'keepdims'"),
        (lambda x: xp.zeros(3, device="cpuu"), ValueError, "'cpuu'; .*; did you mean 'cpu'"),
        (lambda x: xp.zeros(1, device="gpu"), ValueError, "no device 'gpu'; known devices: 'cpu'"),
        (lambda x: xp.asarray(x, device="gpu"), ValueError, "known devices: 'cpu'"),
    ],
)
def test_unknown_keywords_and_devices_are_named_and_guessed(call, error, message, x):
    refused_unchanged(lambda: call(x), error, message, x)


@pytest.mark.parametrize(
    ("engine", "written", "meant"), [("dask", "dsk", "dask"), ("torch", "torhc:cpu", "torch:cpu")]
)
def test_misspelt_devices_of_engines_are_guessed_where_these_are_installed(engine, written, meant):
    pytest.importorskip(engine)
    refused_unchanged(lambda: xp.zeros(3, device=written), ValueError, f"did you mean '{meant}'")


def test_a_shape_is_not_assigned(x):
    def assign():
        x.shape = (3, 2)

    refused_unchanged(assign, AttributeError, r"cannot be assigned; use x = x\.reshape\(shape\)", x)
    assert x.reshape((3, 2)).shape == (3, 2)


def test_no_result_type_of_nothing():
    refused_unchanged(lambda: xp.result_type(), ValueError, "at least one array, dtype or scalar")
