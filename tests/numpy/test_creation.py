"""New arrays of the face: `asarray` with a device."""

import numpy

import array_api_nx.numpy as np
from tests.support.refusals import refused


def test_an_array_is_itself():
    x = np.arange(3)
    assert np.asarray(x) is x
    assert np.asarray(x, dtype=int) is x
    assert np.asarray(x, dtype=float).dtype == np.float64
    assert np.asarray(x, copy=True) is not x


def test_numpys_arrays_keep_their_memory():
    array = numpy.zeros(3)
    np.asarray(array)[0] = 1
    assert array[0] == 1
    assert np.asarray([[1, 2], [3, 4]], order="F").strides == (8, 16)
    refused(ValueError, "copy", np.asarray, [1, 2], copy=False)


def test_on_a_device():
    x = np.asarray([1.0, 2.0], device="cpu")
    assert str(x.device) == "cpu"
    assert np.asarray("a", device="cpu").dtype.kind == "U"
    refused(ValueError, "nowhere", np.asarray, [1.0], device="nowhere")
