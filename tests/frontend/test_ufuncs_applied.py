"""Ufuncs of NumPy and of other libraries on our arrays."""

import numpy as np

import array_api_nx as xp
from array_api_nx.frontend import ufuncs


def test_apply_ufunc_is_found_beyond_the_standard():
    assert xp.extra.apply_ufunc is ufuncs.apply_ufunc
    assert float(xp.extra.apply_ufunc(np.cbrt, xp.asarray(27.0))) == np.cbrt(27.0)
