"""Fourier transforms of a long vector, by those of the columns and the rows of a matrix.

A vector whose transform does not fit into the caches costs NumPy several passes over memory. Let
its size be ``n = n1 * n2``, and its elements be the matrix ``x.reshape(n1, n2)``. Then the
transform is (Bailey's four steps)

- a transform of each column;
- a product of the element (j, k) with the root of unity ``exp(-2j*pi*j*k/n)``;
- a transform of each row;
- a transposition.

Columns and rows fit into the caches, and several threads share them. The cut depends on the size
alone: no bit depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isqrt
from typing import Final

import numpy as np

from ...contract.arguments import Norm
from ...contract.numpy_dtypes import NDArray
from ...core.dtypes import DType
from .engine import threads
from .engine.memory_pool import empty
from .engine.parallel import parallel_for

LONG_MIN: Final = 2**16
"""The fewest complex elements of a result that is computed so (docs/tuning.md, 114)."""

# The most columns, or rows, that are transformed by one call: they stay in the second-level cache.
_LINES: Final = 64

# The most rows that a matrix may have for each column, or columns for each row.
_SLENDER: Final = 64


@lru_cache(maxsize=256)
def factors(n: int) -> tuple[int, int] | None:
    """Two sizes whose product is `n`, the smaller one first; None where none are close enough."""
    for rows in range(isqrt(n), isqrt(n // _SLENDER), -1):
        if n % rows == 0:
            return rows, n // rows
    return None


@lru_cache(maxsize=4)
def _roots(rows: int, columns: int, inverse: bool, dtype: DType) -> tuple[NDArray, NDArray]:
    """Two tables whose products are the roots of unity of all elements.

    Returns: ``(starts, steps)``: the factor of the element (j, k) is ``starts[k // _LINES, j, 0] *
        steps[j, k % _LINES]``.
    """
    row = np.arange(rows)
    n = rows * columns
    unit = (2j if inverse else -2j) * np.pi / n

    def power(exponents: NDArray) -> NDArray:
        return np.exp(unit * (exponents % n)).astype(dtype)

    starts = power(np.multiply.outer(np.arange(0, columns, _LINES), row))
    return starts[:, :, None], power(np.multiply.outer(row, np.arange(_LINES)))


def transform_vector(
    function: Callable[..., NDArray], x: NDArray, norm: Norm, sizes: tuple[int, int], out: NDArray
) -> None:
    """Write ``function(x, norm=norm)`` to `out`. Both are vectors; the product of `sizes` is the
    size of `x`.

    function: `numpy.fft.fft` or `numpy.fft.ifft` of complex numbers, or `numpy.fft.rfft`.
    """
    rows, columns = sizes
    inverse, is_real = function.__name__ == "ifft", function.__name__ == "rfft"
    along_rows = np.fft.fft if is_real else function
    # The transforms of real columns are half as long: the other half are their conjugates.
    kept = rows // 2 + 1 if is_real else rows
    dtype: DType = out.dtype
    starts, steps = _roots(rows, columns, inverse, dtype)
    matrix, between = x.reshape(rows, columns), empty((kept, columns), dtype)
    whole, rest = divmod(out.size, rows)
    result, last = out[: whole * rows].reshape(whole, rows), out[whole * rows :]

    def transform_columns(number: int) -> None:
        chosen = slice(number * _LINES, (number + 1) * _LINES)
        part = function(matrix[:, chosen].copy(), rows, 0, norm)
        np.multiply(part, starts[number, :kept], part)
        np.multiply(part, steps[:kept, : part.shape[1]], between[:, chosen])

    def transform_rows(number: int) -> None:
        first = number * _LINES
        part = along_rows(between[first : first + _LINES], columns, 1, norm)
        result[:, first : first + len(part)] = part[:, :whole].T
        if first < rest:
            last[first : first + len(part)] = part[: rest - first, whole]
        if is_real:
            # Of the real matrix, the row rows - j is the conjugate of the row j in reverse order.
            begin, end = max(first, 1), min(first + len(part), rows - kept + 1)
            if begin < end:
                mirrored = part[begin - first : end - first, ::-1][::-1, :whole]
                np.conjugate(mirrored.T, result[:, rows - end + 1 : rows - begin + 1])

    for task, lines in ((transform_columns, columns), (transform_rows, kept)):
        parallel_for(task, -(-lines // _LINES), threads.count())
