"""Functions that are compositions, or have an optional operand."""

from importlib.util import find_spec
from inspect import unwrap

import numpy as np
import pytest

import array_api_nx as xp
from tests.special.operands import same_bits
from tests.support.refusals import refused
from tests.support.tables import for_each

scipy_special = pytest.importorskip("scipy.special")
zeta = unwrap(scipy_special.zeta)
polygamma = unwrap(scipy_special.polygamma)
multigammaln = unwrap(scipy_special.multigammaln)

POSITIVE = np.array([0.01, 0.5, 1.0, 1.4616, 2.0, 3.75, 20.0, 1e4, 1e17, np.inf, np.nan])
DTYPES = ("float32", "float64", "int8", "int64")


def of(dtype):
    """Positive numbers of a dtype."""
    return np.arange(1, 8).astype(dtype) if "int" in dtype else POSITIVE.astype(dtype)


@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128"])
def test_zeta_of_one_operand(dtype):
    values = np.array([1.5, 2.0, 3.0, -0.5, 0.0, 40.0]).astype(dtype)
    assert same_bits(np.asarray(xp.special.zeta(xp.asarray(values))), zeta(values))


@pytest.mark.parametrize("dtype", DTYPES)
def test_zeta_of_two_operands(dtype):
    values = of(dtype)
    x = xp.asarray(values)
    assert same_bits(np.asarray(xp.special.zeta(x, 2.5)), zeta(values, 2.5))
    assert same_bits(np.asarray(xp.special.zeta(x, q=x)), zeta(values, values))
    assert same_bits(np.asarray(xp.special.zeta(3, x)), zeta(3, values))


@for_each("order", [0, 1, 2, 7])
@pytest.mark.parametrize("dtype", DTYPES)
def test_polygamma(order, dtype):
    values = of(dtype)
    with np.errstate(all="ignore"):
        expected = polygamma(order, values)
    assert same_bits(np.asarray(xp.special.polygamma(order, xp.asarray(values))), expected)


@for_each("kind", ["float32", "float64", "int64", "uint8"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_polygamma_of_many_orders(kind, dtype):
    orders = np.arange(4).astype(kind)[:, None]
    values = of(dtype)
    with np.errstate(all="ignore"):
        expected = polygamma(orders, values)
    result = xp.special.polygamma(xp.asarray(orders), xp.asarray(values))
    assert same_bits(np.asarray(result), expected)
    result = xp.special.polygamma(xp.asarray(orders), 2.5)
    assert same_bits(np.asarray(result), polygamma(orders, 2.5))


@for_each("d", [1, 2, 3.0, 7, np.int64(5)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_multigammaln(d, dtype):
    values = (np.arange(12) + 4).astype(dtype).reshape(3, 4) * (1 if "int" in dtype else 1.25)
    values = values.astype(dtype)
    result = xp.special.multigammaln(xp.asarray(values), d)
    assert same_bits(np.asarray(result), multigammaln(values, int(d)))
    single = xp.special.multigammaln(xp.asarray(values)[1, 1], xp.asarray(int(d)))
    assert same_bits(np.asarray(single), np.asarray(multigammaln(values[1, 1], int(d))))


def test_multigammaln_is_nan_where_it_is_not_defined():
    x = xp.asarray([3.0, 1.0, 0.5, -2.0, np.nan])
    assert xp.all(xp.isnan(xp.special.multigammaln(x, 3))[1:])
    assert not xp.isnan(xp.special.multigammaln(x, 3)[0])


@pytest.mark.parametrize("d", [0, -1, 1.5, np.inf])
def test_multigammaln_refuses_dimensions(d):
    refused(ValueError, "must be a positive int", xp.special.multigammaln, xp.ones(2), d)


@pytest.mark.parametrize("device", ["torch:cpu", "jax:cpu", "dask"])
def test_other_devices(device):
    if find_spec(device.partition(":")[0]) is None:
        pytest.skip(f"{device} is not installed")
    values = np.array([1.25, 2.5, 7.0])
    x = xp.asarray(values, device=device)
    for result, expected in [
        (xp.special.polygamma(2, x), polygamma(2, values)),
        (xp.special.polygamma(x - x, x), polygamma(0, values)),
        (xp.special.multigammaln(x + 1, 3), multigammaln(values + 1, 3)),
        (xp.special.zeta(x), zeta(values)),
        (xp.special.zeta(x, 2.0), zeta(values, 2.0)),
        (xp.special.sinc(x), np.sinc(values)),
    ]:
        assert str(result.device) == device
        host = np.asarray(result.to_device("cpu"))
        np.testing.assert_allclose(host, expected, rtol=1e-13, atol=1e-15)


def test_programs():
    def f(x):
        special = xp.special
        return special.polygamma(1, x) + special.multigammaln(x, 2) + special.zeta(x, 3)

    assert xp.eval_shape(f, xp.ShapeSpec(("n",), xp.float32)).dtype is xp.float64
    x = xp.asarray([1.5, 2.5, 8.0])
    assert same_bits(np.asarray(xp.compile(f)(x)), np.asarray(f(x)))
