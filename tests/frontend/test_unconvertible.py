"""Errors of objects that `asarray` does not take, and that the advised conversions work."""

import datetime
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import array_api_nx as xp
from tests.support.refusals import refused
from tests.support.tables import for_each

nan = float("nan")
records = np.zeros(2, [("a", float), ("b", int)])

# An element, a part of the message, and the conversion as a function of the element.
ELEMENTS = [
    (None, 'None; put a number in its place, such as float("nan")', lambda x: nan),
    (Decimal("1.5"), "Decimal('1.5'), a Decimal; convert it with float(...)", float),
    (Fraction(1, 2), "Fraction(1, 2), a Fraction; convert it with float(...)", float),
    ("a", "'a'; arrays hold no text", lambda x: np.unique([x], return_inverse=True)[1][0]),
    ("2.5", "'2.5'; convert it with float(...)", float),
    (b"ab", "b'ab'; arrays hold no text", lambda x: np.unique([x], return_inverse=True)[1][0]),
    ({"a": 1}, "{'a': 1}, a dict; convert it with list(x.values())", lambda x: [*x.values()]),
    ({2}, "{2}, a set; convert it with list(x)", list),
    ((n for n in (1, 2)), "a generator; convert it with list(x)", list),
    (map(int, "12"), "a map; convert it with list(x)", list),
    (datetime.date(2020, 1, 1), "a date; convert it with .toordinal()", lambda x: x.toordinal()),
    (
        datetime.datetime(2020, 1, 1),
        "a datetime; convert it with .timestamp()",
        lambda x: x.timestamp(),
    ),
    (
        datetime.timedelta(1),
        "a timedelta; convert it with .total_seconds()",
        lambda x: x.total_seconds(),
    ),
    (
        np.datetime64("2020-01-01"),
        'a datetime64; convert it with .astype("int64")',
        lambda x: x.astype("int64"),
    ),
    (np.clongdouble(1), "a clongdouble; convert it with complex(...)", complex),
]


@for_each(("element", "told", "mend"), ELEMENTS)
def test_an_element_that_is_no_number_is_named_with_its_place_and_the_mend_works(
    element, told, mend
):
    rows = isinstance(element, dict | set) or hasattr(element, "__next__")
    good = [1] if rows else 1
    for values, place in (
        ([element], "[0]"),
        ([[good, good], [good, element]], "[1][1]"),
        (((good,), (element,)), "[1][0]"),
    ):
        with pytest.raises(TypeError, match=re.escape(f"element {place} is ")) as caught:
            xp.asarray(values)
        assert told in str(caught.value)
    made = mend(element)
    assert xp.asarray([made, made]).shape[0] == 2


@for_each(("element", "told", "mend"), ELEMENTS)
def test_of_arrays_of_objects_too(element, told, mend):
    array = np.full((2, 2), 1.0, object)
    array[1, 0] = element
    with pytest.raises(
        TypeError, match=re.escape("NumPy's object, and element [1][0] is ")
    ) as caught:
        xp.asarray(array)
    assert told in str(caught.value)


@for_each(
    ("array", "told", "mend"),
    [
        (np.ones(2, np.longdouble), '.astype("float64")', lambda x: x.astype("float64")),
        (np.ones(2, np.clongdouble), '.astype("complex128")', lambda x: x.astype("complex128")),
        (np.asarray(["1", "2"]), ".astype(float)", lambda x: x.astype(float)),
        (np.asarray([b"1", b"2"]), ".astype(float)", lambda x: x.astype(float)),
        (
            np.asarray(["b", "a"]),
            "np.unique(texts, return_inverse=True)[1]",
            lambda x: np.unique(x, return_inverse=True)[1],
        ),
        (np.asarray(["2020"], "M8[Y]"), '.astype("int64")', lambda x: x.astype("int64")),
        (np.asarray([3], "m8[s]"), '.astype("int64")', lambda x: x.astype("int64")),
        (records, "['a']", lambda x: x["a"]),
        (np.zeros(2, "V4"), '.view("uint8")', lambda x: x.view("uint8")),
    ],
)
def test_an_array_of_a_dtype_that_is_none_here_names_the_conversion_and_it_works(array, told, mend):
    with pytest.raises(TypeError, match="the standard has no dtype for NumPy's ") as caught:
        xp.asarray(array)
    assert told in str(caught.value)
    converted = xp.asarray(mend(array))
    assert converted.size >= array.size


def test_numbers_of_such_dtypes_in_sequences_are_converted_one_by_one():
    for value, convert in ((np.longdouble(1), float),):
        with pytest.raises(
            TypeError, match=r"element \[0\] is .*; convert it with float\(\.\.\.\)"
        ):
            xp.asarray([value])
        assert xp.asarray([convert(value)]).dtype is xp.float64


def test_integers_beyond_64_bits_beside_numpys_numbers_are_named():
    values = [np.int8(1), 2**70]
    refused(TypeError, re.escape("element [1] is an integer beyond 64 bits"), xp.asarray, values)
    assert xp.asarray([1, float(values[1])]).dtype is xp.float64


def test_sparse_matrices_name_the_call_that_makes_them_dense():
    sparse = pytest.importorskip("scipy.sparse")
    for make in (sparse.csr_matrix, sparse.coo_matrix, sparse.csc_array, sparse.dok_array):
        matrix = make([[1.0, 0.0], [0.0, 2.0]])
        for given in (matrix, [matrix]):
            refused(TypeError, re.escape("make it dense with x.toarray()"), xp.asarray, given)
        assert xp.asarray(matrix.toarray()).shape == (2, 2)


def test_sparse_arrays_of_other_libraries_do_so_too():
    class Sparse:
        """As pydata's, which refuses to become dense by itself."""

        shape = (2, 2)

        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("Cannot convert a sparse array to dense automatically.")

        def todense(self):
            return np.eye(2)

    refused(TypeError, re.escape("make it dense with x.todense()"), xp.asarray, Sparse())
    assert xp.asarray(Sparse().todense()).shape == (2, 2)


def test_missing_values_and_columns_of_objects_of_pandas():
    pandas = pytest.importorskip("pandas")
    absent = re.escape('put a number in its place, such as float("nan")')
    for values in ([pandas.NA], [1.0, pandas.NaT], pandas.Series([1, pandas.NA], dtype=object)):
        refused(TypeError, absent, xp.asarray, values)
    column = pandas.Series(["a", "b", "a"])
    refused(TypeError, re.escape("element [0] is 'a'; arrays hold no text"), xp.asarray, column)
    assert xp.asarray(np.unique(column, return_inverse=True)[1]).tolist() == [0, 1, 0]
    table = pandas.DataFrame({"number": [1.0, 2.0], "text": ["a", "b"]})
    refused(TypeError, re.escape("element [0][1] is 'a'"), xp.asarray, table)
