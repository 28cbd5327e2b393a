"""Assertions about arrays of any library."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.testing import (
    namespace,
    strict,
    transfers,
    xp_assert_close,
    xp_assert_equal,
    xp_assert_same_device,
)
from tests.support.refusals import refused

ASSERTIONS = [xp_assert_equal, xp_assert_close]
MODES = ["nx", "numpy", "nx:strict", "nx:lazy", "nx:no_host", "nx:elsewhere", "nx:no_float64"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("check", ASSERTIONS)
def test_arrays_that_agree(check, mode):
    with namespace(mode) as (ns, device):
        for values in ([1.0, float("nan"), float("inf")], 2.0, [], [True, False], [[1, 2], [3, 4]]):
            x = ns.asarray(values, device=device)
            check(x, ns.asarray(values, device=device))
            check(x, values)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("check", ASSERTIONS)
def test_values_that_differ(check, mode):
    with namespace(mode) as (ns, device):
        x = ns.asarray([1.0, 2.0, 3.0], device=device)
        with pytest.raises(AssertionError, match=r"(?s)of these.*Mismatched elements: 1 / 3"):
            check(x, ns.asarray([1.0, 2.5, 3.0], device=device), err_msg="of these")


@pytest.mark.parametrize("check", ASSERTIONS)
def test_what_else_differs(check):
    x = xp.asarray([1.0, 2.0])
    numpys = np.asarray([1.0, 2.0])
    elsewhere = xp.asarray([1.0, 2.0], device="test:1")
    single = xp.astype(x, xp.float32)
    for other, what in ((numpys, "namespace"), (elsewhere, "device"), (single, "dtype")):
        refused(AssertionError, f"another {what}: the result has .* expected", check, x, other)
    check(x, numpys, check_namespace=False, check_device=False)
    check(x, elsewhere, check_device=False)
    check(x, single, check_dtype=False)
    for other in (xp.asarray([[1.0, 2.0]]), 1.0):
        refused(AssertionError, "another shape", check, x, other)
    check(x, xp.asarray([[1.0, 2.0]]), check_shape=False)
    check(xp.ones(3), 1.0, check_shape=False)
    refused(AssertionError, "namespace", check, strict("2024.12").asarray([1.0, 2.0]), x)
    refused(TypeError, "no array but float", check, 1.0, 1.0)


def test_close_takes_tolerances_of_the_dtype():
    for dtype, small, large in ((xp.float64, 1e-9, 1e-7), (xp.float32, 1e-4, 1e-2)):
        x = xp.ones(2, dtype=dtype)
        xp_assert_close(x, x + small)
        refused(AssertionError, "Not equal to tolerance", xp_assert_close, x, x + large)
        xp_assert_close(x, x + large, rtol=0.1)
        xp_assert_close(x, x + large, rtol=0.0, atol=0.1)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        xp_assert_close(xp.asarray([1]), xp.asarray([2]))
    z = xp.asarray([1 + 1j])
    xp_assert_close(z, z * (1 + 1e-10))


def test_equal_is_to_the_bit():
    x = xp.ones(2)
    refused(AssertionError, "Mismatched", xp_assert_equal, x, x + 1e-15)


def test_meta_has_no_values_to_compare():
    x = xp.ones((2, 3), device="meta")
    xp_assert_equal(x, xp.zeros((2, 3), device="meta"))
    refused(AssertionError, "another shape", xp_assert_equal, x, xp.zeros(2, device="meta"))


def test_looking_is_no_transfer():
    x = xp.ones(2, device="test:lazy")
    with xp.config_context(host_access="error"), transfers() as log:
        xp_assert_equal(x, [1.0, 1.0])
        xp_assert_close(xp.ones(2), xp.ones(2))
    assert len(log) == 0


def test_same_device():
    x, y = xp.ones(2), xp.ones(2, device="test:1")
    xp_assert_same_device(x, x)
    xp_assert_same_device(y, y, y)
    xp_assert_same_device()
    with pytest.raises(
        AssertionError, match=r"(?s)these\narrays on different devices: cpu, test:1"
    ):
        xp_assert_same_device(x, y, err_msg="these")
