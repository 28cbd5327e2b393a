"""The ufuncs of the face: one object each, with NumPy's attributes."""

from __future__ import annotations

import numpy
import pytest

import array_api_nx.numpy as np


def test_a_ufunc_is_one_object_wherever_numpy_has_it():
    assert np._core.umath.sin is np.sin
    assert np.sin in [each for each in vars(np._core.umath).values() if isinstance(each, np.ufunc)]
    assert isinstance(np.hypot, np.ufunc)
    assert not isinstance(np.sum, np.ufunc)


def test_attributes_are_numpys():
    for name in ("nin", "nout", "identity", "types", "signature"):
        assert getattr(np.matmul, name) == getattr(numpy.matmul, name)
    assert np.add.__name__ == "add"
    assert np.ufunc.accumulate is numpy.ufunc.accumulate


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_floating_point_errors_are_numpys(name):
    function = getattr(np, name)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        function(np.asarray([1]), np.asarray([0]))
