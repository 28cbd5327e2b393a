"""The class of the face's arrays, and the buffers that it gives out."""

from __future__ import annotations

import numpy
import pytest

import array_api_nx.numpy as np


def test_submodules_are_imported_by_their_paths():
    import array_api_nx.numpy.linalg
    from array_api_nx.numpy.testing import assert_array_equal

    assert array_api_nx.numpy.linalg is np.linalg
    assert_array_equal(np.ones(3), [1, 1, 1])
    with pytest.raises(ModuleNotFoundError):
        import array_api_nx.numpy.nothing


def test_numpy_takes_the_same_memory():
    x = np.arange(6.0).reshape(2, 3)
    array = numpy.asarray(x)
    array[0, 0] = 7
    assert x[0, 0] == 7
    assert x.__array_interface__["shape"] == (2, 3)
