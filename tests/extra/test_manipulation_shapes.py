"""Arrays with as many axes as they need at least."""

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx import ShapeSpec
from tests.support.refusals import refused
from tests.support.tables import for_each

NAMES = ["atleast_1d", "atleast_2d", "atleast_3d"]


@pytest.mark.parametrize("name", NAMES)
@for_each("shape", [(), (2,), (0,), (2, 3), (2, 3, 4), (1, 2, 3, 4)])
def test_as_numpy(name, shape):
    values = np.arange(np.prod(shape, dtype=int), dtype="float32").reshape(shape)
    x = xp.asarray(values)
    expected = getattr(np, name)(values)
    result = getattr(xp, name)(x)
    assert result.dtype is xp.float32
    assert result.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(result), expected)
    # A view, or the array itself.
    if x.size:
        x[...] = 7.0
        assert bool(xp.all(result == 7.0))
    assert (result is x) == (expected is values)


@pytest.mark.parametrize("name", NAMES)
def test_of_several_arrays(name):
    first, second = getattr(xp.extra, name)(xp.asarray(1), xp.asarray([1, 2]))
    expected = getattr(np, name)(1, [1, 2])
    assert (first.shape, second.shape) == tuple(each.shape for each in expected)
    assert getattr(xp.extra, name)() == ()


def test_errors():
    refused(TypeError, "asarray", xp.extra.atleast_1d, 3.0)
    refused(TypeError, "asarray", xp.extra.atleast_2d, xp.asarray(1), [2])


@pytest.mark.parametrize("device", ["torch:cpu", "jax:cpu", "dask"])
def test_on_other_devices(device):
    pytest.importorskip(device.partition(":")[0])
    x = xp.asarray([1.0, 2.0], device=device)
    result = xp.extra.atleast_3d(x)
    assert (result.shape, result.device) == ((1, 2, 1), x.device)


def test_traced():
    found = xp.eval_shape(xp.extra.atleast_3d, ShapeSpec(("n",), xp.int32))
    assert (found.at(n=4).shape, found.dtype) == ((1, 4, 1), xp.int32)
