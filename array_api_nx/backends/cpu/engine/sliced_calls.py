"""NumPy calls over slices of large arrays, on several threads.

Some operations treat every row of an array by itself: a sort along an axis, a Fourier transform, a
stack of matrix products, reading by index. NumPy computes each in one call, on one processor,
without the GIL. Here `divide` cuts arrays into slices, and `run` has several threads call NumPy on
one slice after the other. Each call writes to its slice of one result. NumPy computes a row in the
same way in each array: no bit depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from math import prod
from operator import or_
from typing import Final, Literal, TypeAlias, TypeVar

import numpy as np

from ....contract.numpy_dtypes import COMPILED, NDArray
from ....core.dtypes import DType
from ....native import native
from ..ufunc_table import ArrayOrScalar
from . import fperrors, loops, threads
from .memory_pool import empty
from .parallel import parallel_for

Key: TypeAlias = "tuple[slice, ...]"
"""The key that selects one slice of an array."""

# Operations on more elements than these are divided into slices, if the shape allows it; others are
# one call of NumPy (docs/tuning.md, 71).
ARGSORT_MIN: Final = 2**16
PARTITION_MIN: Final = 2**17
PART_MIN: Final = 2**12  # counts the elements of a row that `part_rows` does not leave to NumPy
ARGPARTITION_MIN: Final = 2**16
SEARCH_MIN: Final = 2**16
FFT_MIN: Final = 2**16
BINCOUNT_MIN: Final = 2**18
ELEMENTWISE_MIN: Final = 2**16
COUNT_MIN: Final = 2**10  # counts the ints from which on their range is looked for
DRAW_MIN: Final = 2**16
_LOOKED_UP_MIN: Final = 2**18

MATMUL_MIN: Final = 2**13  # counts one of the operands; `matmul` looks at the matrices, too

# The fewest slices into which anything is divided: more than two, so that two threads share them
# evenly even if another program holds one of them up.
SLICES_MIN: Final = 4

# A table of counts is small if it has at most one entry for so many elements.
_TABLE_SHARE: Final = 16

# The most slices for each thread. Each costs some microseconds in Python, under the GIL.
_SLICES_PER_THREAD: Final = 4

# Matrices with more rows or columns than this are left to BLAS, which has threads of its own.
_MATRIX_MAX: Final = 64

# Products of matrices with fewer multiplications are not divided if BLAS computes them: its calls
# from several threads wait for each other (docs/tuning.md, 73). Those of vectors do not.
_BLAS_MIN: Final = 2**12

# An estimate of the time of a product of two small matrices: nanoseconds for each call, and
# floating-point multiplications in a nanosecond; and those of the extension, which makes no calls.
_PRODUCT_NS: Final = 32
_MULTIPLICATIONS_PER_NS: Final = 36
_NATIVE_MULTIPLICATIONS_PER_NS: Final = 5

# The least work, by that estimate, that is worth a slice of its own: nanoseconds.
_MATMUL_SLICE_NS: Final = 150_000


def divide(shape: Sequence[int], axis: int | None, least: int) -> list[Key] | None:
    """The keys of slices that together make up an array, in order.

    shape: Of the array.
    axis: The axis that is not cut, because the operation needs whole rows along it; None if every
        element is computed by itself.
    least: The fewest elements that are worth a slice of their own.
    Returns: None if there would be fewer than `SLICES_MIN`, and where there is one thread only.
    """
    number = prod(shape) // least
    axes = [each for each in range(len(shape)) if each != axis]
    if number < SLICES_MIN or not axes:
        return None
    workers = threads.count()
    if workers < 2 or native is None:
        return None
    number = min(number, _SLICES_PER_THREAD * workers)
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
    """Call ``task(key)`` for each of several keys, on several threads.

    keys: From `divide`.
    name: NumPy's name for the operation.
    RuntimeWarning: Once per kind of floating-point error, as in a single call; or what else NumPy's
        errstate asks for is done, once.
    BaseException: The exception of a call; see `parallel_for`.
    """
    with one_operation(name):
        parallel_for(lambda number: task(keys[number]), len(keys), threads.count())


@contextmanager
def one_operation(name: str) -> Iterator[None]:
    """Report floating-point errors as those of one call of NumPy's function `name`."""
    met: list[int] = []
    with np.errstate(all="call", call=lambda _, flags: met.append(flags)):
        yield
    if met:
        fperrors.apply_errstate(name, reduce(or_, met))


# ---------------------------------------------------------------------- operations


Out = TypeVar("Out", "NDArray", "tuple[NDArray, ...]")


def elementwise(
    function: Callable[..., object], operands: Sequence[ArrayOrScalar], out: Out, name: str = ""
) -> Out:
    """``function(*operands, out=out)``, slice by slice: of a ufunc, perhaps of several outputs, or
    of what else computes element by element, and operands that broadcast to the shape of `out`.
    Warnings call it `name`, or what the function is called."""
    outputs = out if isinstance(out, tuple) else (out,)
    shape = outputs[0].shape
    keys = divide(shape, None, ELEMENTWISE_MIN // SLICES_MIN)
    if keys is None:
        fperrors.located(function, *operands, out=out)
        return out
    whole = [np.broadcast_to(x, shape) if type(x) is np.ndarray else x for x in operands]

    def task(key: Key) -> None:
        slices = [each[key] for each in outputs]
        function(
            *[x[key] if type(x) is np.ndarray else x for x in whole],
            out=tuple(slices) if isinstance(out, tuple) else slices[0],
        )

    run(task, keys, name or getattr(function, "__name__", ""))
    return out


def by_slices(
    compute: Callable[[NDArray], NDArray], array: NDArray, axis: int, least: int, dtype: DType
) -> NDArray:
    """``compute(array)``; slice by slice, each of whole rows along `axis`, for more than `least`
    elements."""
    keys = divide(array.shape, axis, least // SLICES_MIN) if array.size > least else None
    if keys is None:
        return compute(array)
    result = empty(array.shape, dtype)

    def task(key: Key) -> None:
        result[key] = compute(array[key])

    run(task, keys)
    return result


def _sorts_rows(array: NDArray) -> bool:
    """Whether the extension arranges the rows of an array."""
    return native is not None and array.dtype in COMPILED and array.dtype.kind != "c"


def sorted_rows(rows: NDArray) -> NDArray:
    """``np.sort(rows, axis=-1)`` (docs/tuning.md, 116 and 154)."""
    if native is None or not rows.size or not _sorts_rows(rows):
        # NumPy's sort of float16 with AVX-512 loses elements of rows with many equal ones (2.4.6).
        return np.sort(rows, kind="stable" if rows.itemsize == 2 else None)
    result = empty(rows.shape, rows.dtype)
    vector = np.ascontiguousarray(rows).reshape(-1)
    native.sort_rows(vector, rows.shape[-1], result.reshape(-1))
    return result


def part_rows(rows: NDArray, kth: tuple[int, ...]) -> None:
    """``rows.partition(kth, axis=-1)`` of an array that lies in one piece."""
    if native is None or not _sorts_rows(rows) or rows.itemsize < 4 or rows.shape[-1] < PART_MIN:
        rows.partition(kth)
        return
    vector = rows.reshape(-1)
    native.part_rows(vector, rows.shape[-1], np.array(kth, np.intp), vector)


def order_rows(rows: NDArray) -> NDArray:
    """``rows.argsort(axis=-1, stable=True)``, by a sort of keys that end with the index, for which
    NumPy has vector instructions (docs/tuning.md, 110)."""
    keys_fit = rows.itemsize >= 4 and 0 < rows.size < 2**32
    if native is None or not _sorts_rows(rows) or not keys_fit:
        return rows.argsort(kind="stable")
    order = empty(rows.shape, np.dtype(np.int64))
    native.order_rows(np.ascontiguousarray(rows).reshape(-1), rows.shape[-1], order.reshape(-1))
    return order


def searchsorted(array: NDArray, values: NDArray, *, right: bool) -> NDArray:
    """``array.searchsorted(values)``, several searches at a time (docs/tuning.md, 111)."""
    are_known = array.dtype == values.dtype and array.dtype in COMPILED
    if native is None or not are_known or array.dtype.kind == "c":
        return np.asarray(array.searchsorted(values, "right" if right else "left"))
    find = native.find_places
    array, wanted = np.ascontiguousarray(array), np.ascontiguousarray(values).reshape(-1)
    result = empty(values.shape, np.dtype(np.int64))
    places = result.reshape(-1)
    keys = divide(wanted.shape, None, SEARCH_MIN // SLICES_MIN)
    _run_or_call(lambda key: find(array, wanted[key], right, places[key]), keys)
    return result


def compress(vector: NDArray, mask: NDArray) -> NDArray:
    """``vector[mask]`` for a mask of the same size (docs/tuning.md, 112)."""
    if native is None or vector.dtype not in COMPILED:
        return vector[mask]
    result = empty((int(np.count_nonzero(mask)),), vector.dtype)
    native.compress(vector, mask, result)
    return result


def arg_reduce(
    name: Literal["argmax", "argmin"], array: NDArray, axis: int, keepdims: bool
) -> NDArray:
    """``getattr(array, name)(axis, keepdims=keepdims)``, as int64."""
    result = empty((*array.shape[:axis], 1, *array.shape[axis + 1 :]), np.dtype(np.int64))
    if native is None or not native.arg_extremes(array, axis, name == "argmax", result):
        return np.asarray(getattr(np, name)(array, axis, keepdims=keepdims), dtype=np.int64)
    return result if keepdims else result.squeeze(axis)


def bincount(array: NDArray, length: int, *, extend: bool) -> NDArray:
    """``np.bincount(array, None, length)`` of a vector; ints are less than `length`, unless
    `extend`."""
    if native is not None and array.size >= COUNT_MIN:
        least, greatest = 0, length - 1
        if extend:
            least, greatest = int(array.min()), int(array.max())
            length = max(length, greatest + 1)
        if least >= 0 and _is_small_table(length, array.size):
            return count_values(array, 0, length)
    return np.bincount(array, None, length)


def _is_small_table(length: int, size: int) -> bool:
    """Whether a table of counts is so small against the vector that it may have several copies."""
    return length <= size // _TABLE_SHARE


def count_from_least(vector: NDArray) -> tuple[int, NDArray] | None:
    """The least of many ints, and how often each int from it to the greatest occurs.

    Returns: None for other vectors, and where the table would not be small against the vector.
    """
    if native is None or vector.dtype.kind not in "iu" or vector.size < COUNT_MIN:
        return None
    least, greatest = int(vector.min()), int(vector.max())
    length = greatest - least + 1
    if not _is_small_table(length, vector.size):
        return None
    return least, count_values(vector, least, length)


def count_values(vector: NDArray, least: int, length: int) -> NDArray:
    """How often each of ``range(least, least + length)`` occurs among ints that all lie in it."""
    assert native is not None
    count, vector = native.count_values, np.ascontiguousarray(vector)
    keys = None
    if vector.size > BINCOUNT_MIN:
        keys = divide(vector.shape, None, BINCOUNT_MIN // SLICES_MIN)
    tables: list[NDArray] = []

    def task(key: Key) -> None:
        own = np.zeros(native.COUNT_TABLES * length, np.int64)
        count(vector[key], least, own)
        tables.append(own)

    _run_or_call(task, keys)
    return np.asarray(np.concatenate(tables).reshape(-1, length).sum(0))


def look_up(vector: NDArray, least: int, table: NDArray) -> NDArray:
    """``table[vector - least]`` for ints that all have a place in a table of int64."""
    assert native is not None
    find, vector = native.look_up, np.ascontiguousarray(vector)
    result = empty(vector.shape, table.dtype)
    keys = divide(vector.shape, None, _LOOKED_UP_MIN // SLICES_MIN)
    _run_or_call(lambda key: find(vector[key], least, table, result[key]), keys)
    return result


def _run_or_call(task: Callable[[Key], object], keys: Sequence[Key] | None) -> None:
    """`run` for the keys, or the task at once for a whole vector that is not divided."""
    if keys is None:
        task((slice(None),))
    else:
        run(task, keys)


def matmul(left: NDArray, right: NDArray) -> NDArray:
    """``np.matmul(left, right)``, if one of them is large into memory of the pool."""
    if left.size <= MATMUL_MIN and right.size <= MATMUL_MIN:
        product: NDArray = fperrors.located(loops.MATMUL, left, right)
        return product
    result = _stack_product(left, right)
    if result is None and right.ndim == 2 and (left.ndim == 2 or left.flags.c_contiguous):
        # A stack times one matrix is one product.
        rows = left.reshape((-1, left.shape[-1]))
        result = empty((rows.shape[0], right.shape[1]), left.dtype)
        fperrors.located(loops.MATMUL, rows, right, result)
        result = result.reshape((*left.shape[:-1], right.shape[1]))
    if result is None:
        result = fperrors.located(loops.MATMUL, left, right)
    return result


def _stack_product(left: NDArray, right: NDArray) -> NDArray | None:
    """`matmul` of stacks of matrices; None, with nothing done, for others, and for a stack times
    one matrix that is no small one."""
    if left.ndim < 2 or right.ndim < 2 or left.ndim + right.ndim < 5:
        return None
    rows, inner = left.shape[-2:]
    columns = right.shape[-1]
    dtype, multiplications = left.dtype, rows * inner * columns
    is_native = native is not None and native.computes_product(dtype, rows, inner, columns)
    is_divided = is_native
    if not is_native:
        has_matrices = dtype.kind in "fc" and min(rows, inner, columns) > 1
        is_divided = not (has_matrices and multiplications < _BLAS_MIN)
        is_divided &= max(rows, inner, columns) <= _MATRIX_MAX
        is_divided &= _are_rows(left) and _are_rows(right)
        if not is_divided and right.ndim == 2:
            return None
    try:
        outer = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        return None
    if is_native:
        duration = 2 + multiplications // _NATIVE_MULTIPLICATIONS_PER_NS
    else:
        # BLAS knows no integers; NumPy multiplies them one by one.
        per_ns = _MULTIPLICATIONS_PER_NS if dtype.kind in "fc" else 1
        duration = _PRODUCT_NS + multiplications // per_ns
    result = empty((*outer, rows, columns), dtype)
    keys = divide(outer, None, max(1, _MATMUL_SLICE_NS // duration)) if is_divided else None
    if keys is None:
        fperrors.located(loops.MATMUL, left, right, result)
        return result
    left = np.broadcast_to(left, (*outer, *left.shape[-2:]))
    right = np.broadcast_to(right, (*outer, *right.shape[-2:]))

    def task(key: Key) -> None:
        loops.MATMUL(left[key], right[key], result[key])

    run(task, keys, "matmul")
    return result


def _are_rows(array: NDArray) -> bool:
    """Whether each matrix of a stack is row-major.

    For other matrices NumPy calls BLAS, whose calls from several threads wait for each other.
    """
    columns = array.shape[-1]
    return array.strides[-2:] == (columns * array.itemsize, array.itemsize)


def draw(
    drawing: NDArray,
    first: int,
    shape: tuple[int],
    dtype: DType,
    parameters: Sequence[NDArray | None],
) -> NDArray:
    """The numbers from `first` on of what `native.drawing` describes; of `parameters` that are None
    it tells the one of all numbers."""
    assert native is not None
    filling = native.draw
    result = empty(shape, dtype)
    keys = divide(shape, None, DRAW_MIN // SLICES_MIN) if shape[0] > DRAW_MIN else None
    if keys is None:
        filling(drawing, first, result, *parameters)
        return result

    def task(chosen: Key) -> None:
        own = [None if x is None else x[chosen] for x in parameters]
        filling(drawing, first + chosen[0].start, result[chosen], *own)

    run(task, keys)
    return result


def like(array: NDArray, shape: tuple[int, ...], dtype: DType) -> NDArray:
    """Uninitialised memory for a result, with the layout of `array`."""
    if array.flags.c_contiguous:
        return empty(shape, dtype)
    return np.empty_like(array, dtype, shape=shape)
