"""Inverses of stacks of small matrices, by the extension; they equal NumPy's to rounding.

NumPy calls LAPACK once per matrix, which for small ones takes longer than the arithmetic; and
threads that do so wait for each other (native/small_matrices.c).
"""

from __future__ import annotations

from math import prod
from typing import Final

from ....contract.numpy_dtypes import NDArray
from ....native import native
from .sliced_calls import divide, run

_SLICE_NS: Final = 50_000
"""Nanoseconds of work that are worth a slice of its own. An inverse takes about as many as it has
multiplications."""


def invert_into(matrices: NDArray, result: NDArray) -> bool:
    """Compute ``np.linalg.inv(matrices)`` into a row-major array of the same shape and dtype.

    False where NumPy is to be asked; see `native.invert`. What was written then does not count.
    """
    size = matrices.shape[-1]
    if native is None or size > native.MOST_INVERTED_ROWS:
        return False
    invert = native.invert
    count = prod(matrices.shape[:-2])
    if matrices.ndim != 3:
        matrices = matrices.reshape(count, size, size)
        result = result.reshape(count, size, size)
    keys = divide((count,), None, max(1, _SLICE_NS // max(1, size**3)))
    if keys is None:
        return invert(matrices, result)
    done: list[bool] = []
    run(lambda key: done.append(invert(matrices[key], result[key])), keys)
    return all(done)
