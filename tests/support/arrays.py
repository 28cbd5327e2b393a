"""Arrays of ours from NumPy's, and against them."""

from typing import Any

import numpy as np

import array_api_nx as xp

__all__ = ["as_nx", "assert_array"]


def as_nx(array: object, dtype: str | None = None) -> xp.Array:
    """An array with memory of its own."""
    return xp.asarray(np.array(array, dtype=dtype), copy=True)


def assert_array(x: Any, expected: object) -> None:
    """`x` is an array of ours with this dtype and shape, and these elements."""
    expected = np.asarray(expected)
    assert type(x) is xp.Array
    assert (x.shape, str(x.dtype)) == (expected.shape, expected.dtype.name)
    np.testing.assert_array_equal(np.asarray(x), expected)
