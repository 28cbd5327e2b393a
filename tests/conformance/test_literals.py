import array_api_strict
import numpy as np
import pytest

from array_api_nx_conformance.literals import Namespace, UnprintableError, scalar
from tests.support.refusals import refused


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, -2, "text", (1,), (), [1, 2], {"axis": 0, "keepdims": True},
        (slice(None, 3, -1), ..., None), 0.5, -0.0,
    ],
)  # fmt: skip
def test_python_values_come_back(value):
    source = Namespace(np).literal(value)
    assert eval(source) == value
    assert repr(eval(source)) == repr(value)


def test_scalars_that_have_no_literal():
    assert scalar(float("-inf")) == 'float("-inf")'
    assert scalar(complex(float("nan"), -0.0)) == 'complex(float("nan"), -0.0)'


@pytest.mark.parametrize("xp", [np, array_api_strict])
@pytest.mark.parametrize(
    ("name", "value"),
    [("float32", [[0.5, -0.0], [float("inf"), 2.0]]), ("uint8", 7), ("bool", [True, False]),
     ("complex128", [1 - 0j]), ("int64", [[[-1]]])],
)  # fmt: skip
def test_arrays_come_back(xp, name, value):
    array = xp.asarray(value, dtype=getattr(xp, name))
    again = eval(Namespace(xp).literal(array), {"xp": xp})
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert repr(again) == repr(array)


def test_empty_arrays_and_dtypes():
    namespace = Namespace(np)
    assert namespace.literal(np.ones((2, 0), dtype=np.int8)) == "xp.zeros((2, 0), dtype=xp.int8)"
    assert namespace.literal(np.float64) == "xp.float64"
    assert namespace.literal(np.dtype("int16")) == "xp.int16"
    assert namespace.literal(float) == "float"


@pytest.mark.parametrize("value", [object(), np.zeros(300), np.asarray([None]), lambda: None])
def test_what_has_no_source(value):
    refused(UnprintableError, None, Namespace(np).literal, value)
