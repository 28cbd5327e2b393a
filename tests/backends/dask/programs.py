"""Arrays on Dask in chunks of a few elements, and what Dask does with them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from dask.callbacks import Callback

import array_api_nx as xp
from array_api_nx.contract.numpy_dtypes import NDArray

CHUNK = 200
"""Bytes per chunk: 25 elements of float64."""

SMALL = xp.Device("dask", chunks=CHUNK)
LARGE = xp.Device("dask", chunks=2**26)


class Tasks(Callback):  # Dask is untyped
    """Counts the tasks that run inside a `with` statement."""

    def __init__(self) -> None:
        self.count = 0
        super().__init__(posttask=self._posttask)

    def _posttask(self, *_: object) -> None:
        self.count += 1


@contextmanager
def nothing_computed() -> Iterator[None]:
    """Asserts that no task runs."""
    with Tasks() as tasks:
        yield
    assert tasks.count == 0


def on_dask(values: Any, dtype: Any = None) -> xp.Array:
    """`values` in small chunks."""
    return xp.asarray(np.array(values, dtype), device=SMALL)


def numbers(*shape: int) -> NDArray:
    """Different whole numbers."""
    return (np.arange(np.prod(shape, dtype=int)) * 7 % 101 - 50.0).reshape(shape)


def assert_equal(x: xp.Array, expected: object) -> None:
    """`x` has the shape, the dtype and the elements of `expected`, to rounding."""
    expected = np.asarray(expected)
    assert x.shape == expected.shape
    assert x.dtype.name == expected.dtype.name
    np.testing.assert_allclose(np.asarray(x), expected, rtol=1e-12, atol=1e-12)
