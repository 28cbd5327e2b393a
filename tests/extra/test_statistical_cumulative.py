"""NumPy's spelling of the standard's cumulative functions."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import ShapeSpec
from tests.support.arrays import assert_array
from tests.support.refusals import refused
from tests.support.tables import for_each

NAMES = ["cumprod", "cumsum"]
DTYPES = ["bool", "int8", "uint16", "int64", "float32", "float64", "complex128"]


@pytest.mark.parametrize("name", NAMES)
@for_each("dtype", DTYPES)
@for_each(
    ("shape", "axis"),
    [((), None), ((5,), None), ((5,), 0), ((2, 3), None), ((2, 3), -1), ((2, 3), 0), ((0, 3), 1)],
)
def test_as_numpy(name, dtype, shape, axis):
    values = np.random.default_rng(0).integers(0, 3, shape).astype(dtype)
    expected = getattr(np, name)(values, axis)
    result = getattr(xp.extra, name)(xp.asarray(values), axis)
    assert_array(result, expected)


@pytest.mark.parametrize("name", NAMES)
def test_of_a_transposed_array_in_row_major_order(name):
    values = np.arange(1.0, 7.0).reshape(2, 3)
    result = getattr(xp, name)(xp.asarray(values).T, dtype=xp.float32)
    assert result.dtype is xp.float32
    np.testing.assert_array_equal(np.asarray(result), getattr(np, name)(values.T))


@pytest.mark.parametrize("name", NAMES)
def test_errors(name):
    function = getattr(xp, name)
    refused(TypeError, r"asarray", function, [1, 2])
    refused(IndexError, None, function, xp.asarray([1, 2]), axis=1)


@pytest.mark.parametrize("device", ["torch:cpu", "jax:cpu", "dask"])
def test_on_other_devices(device):
    pytest.importorskip(device.partition(":")[0])
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]], device=device)
    result = xp.extra.cumsum(x)
    assert result.device == x.device
    np.testing.assert_array_equal(np.asarray(result), [1.0, 3.0, 6.0, 10.0])


def test_traced():
    found = xp.eval_shape(xp.extra.cumsum, ShapeSpec(("n", 3), xp.int32))
    assert (found.at(n=4).shape, found.dtype) == ((12,), xp.int64)
    compiled = xp.compile(lambda x: xp.extra.cumprod(x, axis=0))
    np.testing.assert_array_equal(np.asarray(compiled(xp.asarray([2, 3]))), [2, 6])
