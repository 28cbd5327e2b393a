"""Operations whose rows do not depend on one another, on several threads.

NumPy computes each of them on one processor, but lets other threads run meanwhile. So several
threads call it on some rows each, and have it write to one result in memory of the pool. It does
the same to each row as it would in a single call, so that the number of threads decides no bit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from operator import or_
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from ..kernels import NDArray
from . import fperrors, threads
from .memory_pool import empty
from .worker_pool import call_together

__all__ = [
    "ARGSORT",
    "FFT",
    "GATHER",
    "MANY",
    "MATMUL",
    "PARTS",
    "SORT",
    "TAKE",
    "Key",
    "argsort",
    "divide",
    "gather",
    "like",
    "matmul",
    "run",
    "sort",
    "take",
]

Key: TypeAlias = "tuple[slice, ...]"
"""What selects a part of the rows."""

# Above so many elements an operation may be divided. It takes more than half a millisecond then; to
# have threads called from Python, and to wait for them, takes about a tenth.
SORT: Final = 2**18
ARGSORT: Final = 2**16
FFT: Final = 2**17
TAKE: Final = 2**16  # of what is taken from: smaller tables stay in the caches, and gain nothing
MANY: Final = 2**8  # indices; `take` looks closer
GATHER: Final = 2**18
MATMUL: Final = 2**13  # of one operand; `matmul` looks closer

# A smaller operation is not divided, and a larger one not into more parts for each thread: the
# parts even out what else the processors have to do.
PARTS: Final = 4

# Indices of single elements.
_TAKEN: Final = 2**18

# BLAS computes larger products on threads of its own. The others take about so many nanoseconds,
# and one more for so many multiplications; a part should take so many.
_SMALL_MATRIX: Final = 64
_PRODUCT: Final = 32
_MULTIPLICATIONS: Final = 36
_WORTH: Final = 150_000


def divide(shape: Sequence[int], axis: int | None, least: int) -> list[Key] | None:
    """Parts of the rows of an array, in order.

    Parameters
    ----------
    shape : sequence of int
    axis : int or None
        The axis that is not cut, as rows lie along it; None for rows of one element.
    least : int
        The fewest elements that are worth a part.

    Returns
    -------
    list of Key or None
        None if the rows are too few, and where there is one thread only.
    """
    number = prod(shape) // least
    axes = [each for each in range(len(shape)) if each != axis]
    if number < PARTS or not axes:
        return None
    workers = threads.count()
    if workers < 2:
        return None
    number = min(number, PARTS * workers)
    enough = [each for each in axes if shape[each] >= number]
    along = enough[0] if enough else max(axes, key=shape.__getitem__)
    length = shape[along]
    number = min(number, length)
    if number < 2:
        return None
    before = (slice(None),) * along
    borders = [length * i // number for i in range(number + 1)]
    return [(*before, slice(*borders[i : i + 2])) for i in range(number)]


def run(task: Callable[[Key], object], keys: Sequence[Key], name: str = "") -> None:
    """Do a task for each of several parts, on several threads.

    Parameters
    ----------
    task : callable
    keys : sequence of Key
        From `divide`.
    name : str
        NumPy's name for the operation.

    Warns
    -----
    RuntimeWarning
        Once per kind of floating-point error, as in a single call; or what else NumPy's errstate
        asks for is done, once.
    """
    waiting = deque(keys)
    met: list[int] = []

    def work() -> None:
        with np.errstate(all="call", call=lambda _, flags: met.append(flags)):
            while waiting:
                try:
                    key = waiting.popleft()
                except IndexError:
                    return
                try:
                    task(key)
                except BaseException:
                    waiting.clear()
                    raise

    call_together([work] * min(len(keys), threads.count()))
    if met:
        fperrors.treat(name, reduce(or_, met))


# ---------------------------------------------------------------------- operations
#
# Each gives what NumPy would, or None, with nothing done, where a single call should do it.


def sort(
    array: NDArray,
    axis: int,
    kind: Literal["stable"] | None,
    reverse: Callable[..., NDArray] | None,
) -> NDArray | None:
    """A sorted copy of `array`; of ``reverse(array)``, and reversed back, if that is given."""
    keys = divide(array.shape, axis, SORT // PARTS)
    if keys is None:
        return None
    result = empty(array.shape, array.dtype)

    def task(key: Key) -> None:
        part = result[key]
        if reverse is None:
            np.copyto(part, array[key])
        else:
            reverse(array[key], out=part)
        part.sort(axis, kind)
        if reverse is not None:
            reverse(part, out=part)

    run(task, keys)
    return result


def argsort(array: NDArray, axis: int, kind: Literal["stable"] | None) -> NDArray | None:
    """``array.argsort(axis, kind)``."""
    keys = divide(array.shape, axis, ARGSORT // PARTS)
    if keys is None:
        return None
    result = empty(array.shape, np.dtype(np.intp))

    def task(key: Key) -> None:
        result[key] = array[key].argsort(axis, kind)

    run(task, keys)
    return result


def take(array: NDArray, indices: NDArray, axis: int) -> NDArray | None:
    """``array.take(indices, axis)``."""
    outer, size, inner = prod(array.shape[:axis]), array.shape[axis], prod(array.shape[axis + 1 :])
    shape = *array.shape[:axis], *indices.shape, *array.shape[axis + 1 :]
    # A slice of a few elements takes as long as a single one.
    least = _TAKEN // PARTS // (1 + inner // 4)
    keys = divide((outer, indices.size), None, max(1, least))
    if keys is None:
        return None
    result = empty(shape, array.dtype)
    # NumPy would make whatever is not row-major so in each call.
    source = np.ascontiguousarray(array).reshape(outer, size, inner)
    target = result.reshape(outer, indices.size, inner)
    wanted = indices.reshape(-1)

    def task(key: Key) -> None:
        chosen = wanted[key[1:]]
        if chosen.size and (chosen.min() < -size or chosen.max() >= size):
            raise IndexError
        # To a part that does not lie row-major NumPy would go by way of a copy; also if it checked
        # the indices itself.
        for row in range(outer)[key[0]]:
            source[row].take(chosen, 0, target[row][key[1:]], "wrap")

    try:
        run(task, keys)
    except IndexError:
        return None
    return result


def gather(array: NDArray, indices: NDArray, axis: int) -> NDArray | None:
    """``numpy.take_along_axis(array, indices, axis)``, where their shapes agree but for `axis`."""
    if not indices.flags.c_contiguous:  # the result lies as they do
        return None
    keys = divide(indices.shape, None, GATHER // PARTS)
    if keys is None:
        return None
    result = empty(indices.shape, array.dtype)

    def task(key: Key) -> None:
        source = array if len(key) == axis + 1 else array[key]
        result[key] = np.take_along_axis(source, indices[key], axis)

    try:
        run(task, keys)
    except IndexError:
        return None
    return result


def matmul(left: NDArray, right: NDArray) -> NDArray | None:
    """``numpy.matmul(left, right)`` for stacks of small matrices."""
    if left.ndim < 2 or right.ndim < 2 or left.ndim + right.ndim < 5:
        return None
    rows, inner = left.shape[-2:]
    columns = right.shape[-1]
    if max(rows, inner, columns) > _SMALL_MATRIX or not (_are_rows(left) and _are_rows(right)):
        return None
    try:
        outer = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        return None
    together = _MULTIPLICATIONS if left.dtype.kind in "fc" else 1  # BLAS knows no integers
    each = _PRODUCT + rows * inner * columns // together
    keys = divide(outer, None, max(1, _WORTH // each))
    if keys is None:
        return None
    result = empty((*outer, rows, columns), left.dtype)
    left = np.broadcast_to(left, (*outer, *left.shape[-2:]))
    right = np.broadcast_to(right, (*outer, *right.shape[-2:]))

    def task(key: Key) -> None:
        np.matmul(left[key], right[key], result[key])

    run(task, keys, "matmul")
    return result


def _are_rows(array: NDArray) -> bool:
    """Whether each matrix of a stack lies row-major. BLAS computes small products of others in a
    way for which its calls from several threads wait for each other."""
    columns = array.shape[-1]
    return array.strides[-2:] == (columns * array.itemsize, array.itemsize)


def like(array: NDArray, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray:
    """Memory for a result that lies as `array` does."""
    if array.flags.c_contiguous:
        return empty(shape, dtype)
    return np.empty_like(array, dtype, shape=shape)
