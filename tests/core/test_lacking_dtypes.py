"""The errors for dtypes that the package lacks: misspelt names, and dtypes of other libraries."""

import datetime
import re
from decimal import Decimal

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.core import dtypes as d
from tests.support.tables import for_each


def refusal(dtype):
    """The message for a dtype, which all functions that take one give."""
    told = set()
    for call in (
        lambda: xp.zeros(3, dtype=dtype),
        lambda: xp.ones(3).astype(dtype),
        lambda: xp.asarray([1], dtype=dtype),
        lambda: xp.sum(xp.ones(3), dtype=dtype),
    ):
        with pytest.raises(TypeError, match="a dtype must be one of this namespace's") as caught:
            call()
        told.add(str(caught.value))
    (text,) = told
    return text


@for_each(
    ("name", "meant"),
    [
        *[("flaot32", "float32"), ("flaot", "float"), ("foat", "float"), ("Float64", "float64")],
        *[
            ("FLOAT64", "float64"),
            ("in64", "int64"),
            ("unit8", "uint8"),
            ("complx128", "complex128"),
        ],
        *[("bol", "bool"), ("boolean", "bool"), ("float 64", "float64"), ("comlex", "complex")],
    ],
)
def test_a_misspelt_name_is_guessed(name, meant):
    assert refusal(name).endswith(f"not {name!r}; did you mean {meant!r}?")
    assert xp.zeros(1, dtype=meant).size == 1


@for_each("name", [dtype.name for dtype in d.NUMPYS])
def test_every_name_is_found_again_when_one_letter_is_left_out_or_two_change_places(name):
    slips = {name[:i] + name[i + 1 :] for i in range(1, len(name) - 2)}
    slips |= {name[:i] + name[i + 1] + name[i] + name[i + 2 :] for i in range(1, len(name) - 3)}
    for slip in slips - {dtype.name for dtype in d.NUMPYS} - {"int", "uint"}:
        guess = re.search(r"did you mean '(\w+)'\?$", refusal(slip))
        assert guess is not None, slip
        assert xp.zeros(1, dtype=guess[1]).size == 1


@for_each(
    ("dtype", "instead"),
    [
        *[(each, "float64") for each in ("longdouble", np.longdouble, np.dtype("g"), "float128")],
        *[(each, "complex128") for each in ("clongdouble", np.clongdouble, np.dtype("G"))],
        ("np.float64", "float64"),
        ("xp.int8", "int8"),
    ],
)
def test_a_number_that_the_standard_lacks_names_the_nearest(dtype, instead):
    assert refusal(dtype).endswith(f"use xp.{instead}")
    assert xp.zeros(1, dtype=getattr(xp, instead)).dtype == instead


@for_each(
    ("dtype", "rule"),
    [
        *[(each, "arrays hold no objects") for each in (object, "object", "O", np.dtype("O"))],
        (Decimal, "arrays hold no objects"),
        *[(each, "arrays hold no text") for each in (str, "str", "U5", "<U5", "S3", bytes)],
        *[(each, "arrays hold no text") for each in (np.str_, np.dtype("U3"), "string")],
        *[(each, "arrays hold no dates") for each in ("datetime64", "datetime64[ns]", "<M8[D]")],
        *[(each, "arrays hold no dates") for each in (np.datetime64, np.dtype("m8[s]"))],
        (datetime.date, "arrays hold no dates"),
        *[(each, "arrays hold no records") for each in (np.dtype("i4,f4"), np.dtype("V4"))],
        (xp.ones((300, 3)), "not an Array; give its dtype, x.dtype"),
    ],
)
def test_what_is_no_number_is_said_to_be_none(dtype, rule):
    assert rule in refusal(dtype)
    assert len(refusal(dtype)) < 400


def test_what_the_advice_names_works():
    texts = np.unique(["b", "a"], return_inverse=True)[1]
    assert xp.asarray(texts).tolist() == [1, 0]
    assert xp.asarray(np.asarray(["1970-01-03"], "M8[D]").astype("int64")).tolist() == [2]
