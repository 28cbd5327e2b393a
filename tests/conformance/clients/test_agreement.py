import array_api_strict
import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx_conformance.clients.agreement import agree, dtype_name
from array_api_nx_conformance.clients.consumers import BECAME
from tests.support.refusals import refused

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (xp.asarray([1.0, 2.0]), np.asarray([1.0, 2.0])),
        (xp.asarray(1.0), np.float64(1.0)),
        ((xp.asarray([True]), (3, None)), (np.asarray([True]), (3, None))),
        ([xp.asarray(1)], (np.asarray(1),)),
        (xp.float32, np.dtype("float32")),
        (xp.asarray([0.1 + 0.2]), np.asarray([0.3])),
        (2.0, 2.0),
        (3, 3),
    ],
)
def test_what_agrees(actual, expected):
    agree(actual, expected, xp)


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        (xp.asarray([1.0, 2.5]), np.asarray([1.0, 2.0]), "Not equal to tolerance"),
        (xp.asarray([1.0, 2.0]), np.asarray([[1.0, 2.0]]), r"shape \(2,\), not \(1, 2\)"),
        (xp.asarray([1, 2]), np.asarray([1.0, 2.0]), "dtype int64, not float64"),
        (array_api_strict.asarray([1.0]), np.asarray([1.0]), f"{BECAME} array_api_strict"),
        (np.asarray([1.0]), np.asarray([1.0]), f"{BECAME} numpy.ndarray"),
        (np.float64(1.0), np.float64(1.0), f"{BECAME} numpy.float64"),
        (1.0, np.float64(1.0), f"{BECAME} builtins.float"),
        (xp.asarray(1), (np.asarray(1),), "Array is no tuple"),
        ((xp.asarray(1),) * 2, (np.asarray(1),), "2 in place of 1"),
        (xp.float32, np.dtype("float64"), "not dtype"),
        (xp.asarray(2.0), 2.0, "is no float"),
        (2.5, 2.0, "Not equal to tolerance"),
        (3, 4, "3, not 4"),
        (0, None, "0, not None"),
    ],
)
def test_what_differs_fails(actual, expected, message):
    refused(AssertionError, message, agree, actual, expected, xp)


def test_an_array_on_another_device_fails():
    pytest.importorskip("torch")
    with pytest.raises(AssertionError, match="moved to torch:cpu"):
        agree(xp.asarray([1.0], device="torch:cpu"), np.asarray([1.0]), xp)


def test_names_of_dtypes():
    for dtype in (np.float64, np.dtype("float64"), xp.float64, array_api_strict.float64):
        assert dtype_name(dtype) == "float64"
