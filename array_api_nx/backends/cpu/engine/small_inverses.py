"""Inverses of stacks of small matrices, by the extension, with LAPACK's bits.

NumPy calls LAPACK once per matrix, which for small ones takes longer than the arithmetic; and
threads that do so wait for each other (native/small_inverses.c).
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Final

import numpy as np

from ....contract.numpy_dtypes import NDArray
from ....native import native
from .memory_pool import empty
from .sliced_calls import Key, divide, run

__all__ = ["inverses", "invert_into"]

_LARGEST: Final = 5
"""Rows of the largest matrices. Those of 6 and more OpenBLAS factorises in another order."""

_DTYPES: Final = np.dtype(np.float64), np.dtype(np.float32)

_SLICE_NS: Final = 50_000
"""Nanoseconds of work that are worth a slice of its own. An inverse takes about as many as it has
multiplications."""


def inverses(matrices: NDArray) -> NDArray | None:
    """``np.linalg.inv(matrices)``, or None where NumPy is to be asked: see `invert_into`."""
    if not 2 <= matrices.shape[-1] <= _LARGEST:
        return None
    result = empty(matrices.shape, matrices.dtype)
    return result if invert_into(matrices, result) else None


def invert_into(matrices: NDArray, result: NDArray) -> bool:
    """Compute ``np.linalg.inv(matrices)`` into a row-major array of the same shape and dtype.

    False where NumPy is to be asked: for larger matrices, for other dtypes, and if one of them has
    no inverse, or one that is not finite. What was written then does not count.
    """
    size = matrices.shape[-1]
    if native is None or not 2 <= size <= _LARGEST or matrices.dtype not in _DTYPES:
        return False
    fused = _is_fused(size)
    if fused is None or not matrices.flags.aligned:
        return False
    count = prod(matrices.shape[:-2])
    if matrices.ndim != 3:
        matrices = matrices.reshape(count, size, size)
        result = result.reshape(count, size, size)
    keys = divide((count,), None, max(1, _SLICE_NS // size**3))
    if keys is None:
        return native.invert(matrices, result, fused)
    done: list[bool] = []

    def task(key: Key) -> None:
        done.append(native.invert(matrices[key], result[key], fused))

    run(task, keys)
    return all(done)


@cache
def _is_fused(size: int) -> bool | None:
    """How the extension gets LAPACK's bits for matrices of so many rows: see `native.invert`. None
    if it does not."""
    assert native is not None
    samples = _samples(size)
    expected = np.linalg.inv(samples).tobytes()
    for fused in (True, False):
        found = np.empty_like(samples)
        if native.invert(samples, found, fused) and found.tobytes() == expected:
            return fused
    return None


def _samples(size: int) -> NDArray:
    """Matrices that have inverses: of all kinds of numbers, of small integers, among which the
    pivot is not always the only one of its size, and with many zeros."""
    rng = np.random.default_rng(size)
    numbers = rng.standard_normal((64, size, size))
    integers = rng.integers(-2, 3, (256, size, size)).astype(np.float64)
    triangles = np.concatenate([np.triu(integers), np.tril(integers)]) + np.eye(size)
    samples = np.concatenate([numbers, numbers * [1e-6, *[1.0] * (size - 1)], integers, triangles])
    chosen: NDArray = samples[np.abs(np.linalg.det(samples)) > 0.5]
    return chosen
