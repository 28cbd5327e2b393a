"""The CPU backend: the methods of the contract, by NumPy's kernels over strided Tensors.

Up to `AT_ONCE_MAX` elements NumPy computes, above engine/operations.py, where it can. The chapters
linear_algebra.py, fourier.py and random_numbers.py are base classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from ...config import current
from ...contract import composed, replay
from ...contract.backend import Handle, Keys, Native, Operand, Overlap, Scalar
from ...contract.numpy_dtypes import NDArray, is_aligned
from ...contract.strided import Tensor
from ...contract.ufuncs import UfuncLoop
from ...core import dtypes as d
from ...core.dtypes import CANONICAL, DType
from ...core.shape import broadcast_shapes
from ...core.symbolic import KnownInts
from ...core.view import View
from ...native import native
from ...primitives import table as p
from ...primitives.table import Primitive
from . import counting, distinct, selected_rows, sorting
from .engine import loops, operations, sliced_calls
from .engine.fperrors import located
from .engine.loops import scipy_is_quiet
from .engine.memory_pool import empty
from .engine.operations import compute, scan, total
from .fourier import FourierTransforms
from .linear_algebra import LinearAlgebra
from .policy import AT_ONCE_MAX, LARGE, MOMENTS_AT_ONCE_MAX, adds_by_kernel
from .random_numbers import RandomNumbers
from .storage import LEAST_SAFE, MOST_SAFE, apart, on_arrays, wrap
from .ufunc_table import (
    ARG_REDUCE,
    BINARY,
    BINARY_NEW,
    REDUCE,
    SCAN,
    UNARY,
    ArrayOrScalar,
    divide_by_count,
)
from .widened import widened

__all__ = ["CPUBackend"]

_SUMS: Final = p.SUM, p.PROD


def _declined(name: str, *values: object) -> None:
    """Nothing is answered in C where there is no extension."""


_in_c: Final[Callable[..., Any]] = _declined if native is None else native.call_on_tensors
_ndarray: Final = np.ndarray
_ufunc: Final = np.ufunc
_sum: Final = REDUCE[p.SUM]
_asarray: Final = np.asarray
_astype: Final = np.ndarray.astype


@widened
class CPUBackend(LinearAlgebra, FourierTransforms, RandomNumbers):
    """Executes primitives with NumPy, and on large arrays by fused passes of NumPy's loops."""

    prepare_compiled = replay.prepare

    def worth_deferring(self, size: int) -> bool:
        return size > LARGE and current().fusion != "off"

    # ------------------------------------------------------------------ creation

    def empty(self, shape: tuple[int, ...], dtype: DType) -> Tensor:
        return wrap(empty(shape, dtype))

    def full(self, shape: tuple[int, ...], dtype: DType, value: ArrayOrScalar) -> Tensor:
        if (type(value) is int and value == 0) or value is False:
            # Pages of zeros come from the system without being written.
            return wrap(np.zeros(shape, dtype))
        array = np.empty(shape, dtype)
        if type(value) is not complex and LEAST_SAFE <= value <= MOST_SAFE:
            array.fill(value)
        else:
            located(array.fill, value)
        return wrap(array)

    def from_host(self, array: NDArray, *, copy: bool, lent: bool = True) -> Tensor:
        if copy:
            if array.size <= AT_ONCE_MAX:
                return wrap(array.copy())
            copied = empty(array.shape, array.dtype)
            np.copyto(copied, array)
            return wrap(copied)
        shared = array.view(_ndarray)
        # NumPy gives strides of 0 to empty arrays, too, in which nothing is repeated.
        if shared.size and any(
            [s == 0 and n > 1 for n, s in zip(shared.shape, shared.strides, strict=True)]
        ):
            # Several elements share memory; whoever made it may have left it writable.
            shared.flags.writeable = False
        result = wrap(shared)
        if lent:
            self.hand_out(result)
        return result

    arange = on_arrays(partial(located, np.arange))
    eye = on_arrays(np.eye)

    def linspace(
        self, start: Scalar, stop: Scalar, num: int, dtype: DType, *, endpoint: bool
    ) -> Tensor:
        return wrap(located(np.linspace, start, stop, num, endpoint=endpoint, dtype=dtype))

    # ------------------------------------------------------------------ element by element

    def unary(self, op: Primitive, x: Tensor) -> Tensor:
        waiting: Tensor | None = _in_c("unary", op, x)
        if waiting is not None:
            return waiting
        if op is p.ERF:
            erf: Tensor = composed.erf(self, x)
            return erf
        kernel = UNARY[op]
        array = self.array(x)
        loop = loops.find(op, array.dtype)
        computed = None if loop is None else compute(loop, array)
        if computed is None and array.size > AT_ONCE_MAX and type(kernel) is _ufunc:
            out = _like(array, op.results[CANONICAL[array.dtype]])
            computed = located(kernel, array, out=out)
        return wrap(located(kernel, array) if computed is None else computed)

    def binary(self, op: Primitive, x1: Operand, x2: Operand, out: Tensor | None = None) -> Tensor:
        if out is not None:
            return self._binary_into(op, x1, x2, out)
        if type(x1) is not Tensor and type(x2) is not Tensor:
            # Neither is a handle of this backend: NumPy raises its error.
            return wrap(located(BINARY_NEW[op], x1, x2))
        waiting: Tensor | None = _in_c("binary", op, x1, x2)
        if waiting is not None:
            return waiting
        if op is p.POW and type(x2) is int and x2 == 2:  # so x1 is an array
            base: Handle = x1
            return self.unary(p.SQUARE, base)
        first: ArrayOrScalar = self.array(x1) if type(x1) is Tensor else x1
        second: ArrayOrScalar = self.array(x2) if type(x2) is Tensor else x2
        array, other = (first, second) if type(x1) is Tensor else (second, first)
        if self._is_large(x1, x2):
            loop = self._binary_loop(op, x1, x2)
            computed = None if loop is None else compute(loop, first, second)
            if computed is not None:
                return wrap(computed)
            whole = type(other) is not _ndarray or other.ndim == 0 or other.strides == array.strides
            if whole and type(BINARY[op]) is _ufunc:
                memory = _like(array, op.results[CANONICAL[array.dtype]])
                if memory is not None:
                    return wrap(located(BINARY[op], first, second, out=memory))
        return wrap(located(BINARY_NEW[op], first, second))

    def apply(self, op: UfuncLoop, *operands: Operand) -> Tensor:
        if self._is_large(*operands) and scipy_is_quiet():
            loop = loops.of_ufunc(op)
            computed = None if loop is None else compute(loop, *self._arrays(op, operands))
            if computed is not None:
                return wrap(computed)
        found = located(op.ufunc, *self._arrays(op, operands))
        return wrap(found if op.wanted is None else found[op.wanted])

    def apply_multiple(self, op: UfuncLoop, *operands: Operand) -> tuple[Tensor, ...]:
        return tuple(map(wrap, located(op.ufunc, *self._arrays(op, operands))))

    def _arrays(self, op: UfuncLoop, operands: Sequence[Operand]) -> list[ArrayOrScalar]:
        """The operands as NumPy's ufuncs take them, which would promote a Python scalar."""
        return [
            self.array(x) if type(x) is Tensor else dtype.type(x)
            for x, dtype in zip(operands, op.inputs, strict=True)
        ]

    def _binary_loop(self, op: Primitive, x1: Operand, x2: Operand) -> loops.Loop | None:
        """The loop that gives NumPy's result for these operands; None if there is none."""
        array: Handle = x1 if type(x1) is Tensor else x2
        if op is p.POW:
            shape = self.shape(x1) if type(x1) is Tensor else None
            exponent = self.view(x2) if type(x2) is Tensor else x2
            if not is_plain_power(self.dtype(array), shape, exponent):
                return None
        return loops.find(op, self.dtype(array))

    def _is_large(self, *operands: Operand | None) -> bool:
        """Whether several threads are to compute on operands that broadcast."""
        bound = 1  # no fewer elements than the result has
        found: KnownInts = None
        for x in operands:
            if type(x) is Tensor:
                bound *= prod(self.shape(x))
        if bound <= AT_ONCE_MAX:
            return False
        for x in operands:
            if type(x) is Tensor:
                shape: KnownInts = self.shape(x)
                if found is None:
                    found = shape
                elif shape != found:
                    found = broadcast_shapes(found, shape)
        return prod(found) > AT_ONCE_MAX

    def _binary_into(self, op: Primitive, x1: Operand, x2: Operand, out: Tensor) -> Tensor:
        first: ArrayOrScalar = self.array(x1) if type(x1) is Tensor else x1
        second: ArrayOrScalar = self.array(x2) if type(x2) is Tensor else x2
        self.before_writing(out)
        target = self.array(out)
        if op is p.POW and type(second) is int and second == 2:
            located(np.square, first, out=target)
            return out
        if type(first) is not _ndarray:
            first = _cast_first(first, target.dtype)
        elif type(second) is not _ndarray:
            second = _cast_first(second, target.dtype)
        located(BINARY[op], first, second, out=target)
        return out

    def where(self, condition: Tensor, x1: Operand, x2: Operand) -> Tensor:
        waiting: Tensor | None = _in_c("where", condition, x1, x2)
        if waiting is not None:
            return waiting
        mask = self.array(condition)
        first: ArrayOrScalar = self.array(x1) if type(x1) is Tensor else x1
        second: ArrayOrScalar = self.array(x2) if type(x2) is Tensor else x2
        if self._is_large(condition, x1, x2):
            values = first if type(first) is _ndarray else second
            selected = compute(loops.select(values.dtype), mask, first, second)
            if selected is not None:
                return wrap(selected)
        if type(first) is _ndarray and type(second) is _ndarray:
            return wrap(np.where(mask, first, second))
        return wrap(located(np.where, mask, first, second))

    def clip(self, x: Tensor, low: Operand | None, high: Operand | None) -> Tensor:
        if prod(self.shape(x)) > LARGE:  # what waits is computed with what reads it
            for op, bound in ((p.MAXIMUM, low), (p.MINIMUM, high)):
                x = x if bound is None else self.binary(op, x, bound)
            return x
        array = self.array(x)
        for op, bound in ((p.MAXIMUM, low), (p.MINIMUM, high)):
            if bound is not None:
                other = self.array(bound) if type(bound) is Tensor else bound
                loop = loops.find(op, array.dtype)
                computed = None if loop is None else compute(loop, array, other)
                array = located(BINARY[op], array, other) if computed is None else computed
        return wrap(array)

    # ------------------------------------------------------------------ reductions and scans

    def reduce(
        self,
        op: Primitive,
        x: Tensor,
        axes: tuple[int, ...],
        keepdims: bool,
        dtype: DType | None = None,
    ) -> Tensor:
        # NumPy would widen sums and products of small integers on its own.
        computed_in = (dtype or self.dtype(x),) if op in _SUMS else ()
        waiting: Tensor | None = _in_c(op.name, x, axes, keepdims, *computed_in)
        if waiting is not None:
            return waiting
        if op is p.MEAN and self.dtype(x) in d.NARROW:
            wide = self.reduce(op, self.cast(x, d.NARROW[self.dtype(x)]), axes, keepdims)
            return self.cast(wide, self.dtype(x))
        array = self.array(x)
        if array.size > AT_ONCE_MAX and (dtype is None or dtype == array.dtype):
            reduced = self._reduce_by_kernel(op, array, axes, keepdims)
            if reduced is not None:
                return wrap(reduced)
        kernel = REDUCE.get(op)
        if kernel is not None:
            # NumPy would widen sums and products of small integers on its own.
            widens = op is p.SUM or op is p.PROD
            target = dtype if dtype is not None else array.dtype if widens else None
            if target is not None and target.kind in "fc":
                reduced = located(kernel, array, axes, target, None, keepdims)
            else:
                reduced = kernel(array, axes, target, None, keepdims)
            return wrap(reduced)
        if op is p.MEAN:
            return wrap(located(_mean, array, axes, keepdims))
        # count_nonzero: ufunc_table.py checks that every other reduction has a kernel.
        if len(axes) == array.ndim and not keepdims:
            return wrap(np.asarray(np.count_nonzero(array), dtype=d.int64))
        return wrap(_sum(array.astype(bool), axes, d.int64, None, keepdims))

    def _reduce_by_kernel(
        self, op: Primitive, array: NDArray, axes: tuple[int, ...], keepdims: bool
    ) -> NDArray | None:
        """`reduce` by the extension, or None."""
        if array.dtype.kind != "f":
            return total(op, array) if len(axes) == array.ndim and not keepdims else None
        count = _count(array, axes)
        wide = d.COMPUTED_IN[array.dtype]
        if not adds_by_kernel(op, wide, count):
            return None
        divisor = count if op is p.MEAN else None
        numbers = self.array(self.cast(wrap(array), wide))
        reduced = operations.reduce(p.SUM, numbers, axes, keepdims, divisor)
        return None if reduced is None else self.array(self.cast(wrap(reduced), array.dtype))

    def arg_reduce(self, op: Primitive, x: Tensor, axis: int, keepdims: bool) -> Tensor:
        return wrap(sliced_calls.arg_reduce(ARG_REDUCE[op], self.array(x), axis, keepdims))

    def scan(self, op: Primitive, x: Tensor, axis: int, dtype: DType | None = None) -> Tensor:
        array = self.array(x)
        # NumPy would widen small integers on its own.
        target = array.dtype if dtype is None else dtype
        if array.size > MOMENTS_AT_ONCE_MAX:
            scanned = scan(op, array, axis, target)
            if scanned is not None:
                return wrap(scanned)
        return wrap(located(SCAN[op], array, axis, target))

    def var(self, x: Tensor, axes: tuple[int, ...], keepdims: bool, correction: float) -> Tensor:
        if self.dtype(x) in d.NARROW:
            wide = self.var(self.cast(x, d.NARROW[self.dtype(x)]), axes, keepdims, correction)
            return self.cast(wide, self.dtype(x))
        array = self.array(x)
        count = _count(array, axes)
        freedom = count - correction
        if freedom <= 0:
            freedom = np.nan
        if array.size > MOMENTS_AT_ONCE_MAX and adds_by_kernel(p.VAR, array.dtype, count):
            variance = operations.reduce(p.VAR, array, axes, keepdims, freedom)
            if variance is not None:
                return wrap(variance)
        return wrap(located(_var, array, axes, keepdims, freedom))

    # ------------------------------------------------------------------ sorting and searching

    sort = on_arrays(sorting.sort)
    argsort = on_arrays(sorting.argsort)
    partition = on_arrays(sorting.partition)
    argpartition = on_arrays(sorting.argpartition)
    searchsorted = on_arrays(sorting.searchsorted)

    # ------------------------------------------------------------------ movement that copies

    def cat(self, arrays: Sequence[Tensor], axis: int) -> Tensor:
        return wrap(
            np.concatenate([self.bind(x) if x.array is None else x.array for x in arrays], axis)
        )

    def roll(self, x: Tensor, shifts: tuple[int, ...]) -> Tensor:
        array = self.array(x)
        result = _like(array, CANONICAL[array.dtype])
        if result is None:
            result = np.empty_like(array)
        # For each axis one or two pairs of slices: where a part of the result lies, and of `array`.
        moves: list[list[tuple[slice, slice]]] = []
        for size, shift in zip(array.shape, shifts, strict=True):
            cut = -shift % size if size else 0
            if cut:
                left = size - cut
                moves.append([(slice(cut, size), slice(left)), (slice(cut), slice(left, size))])
            else:
                moves.append([(slice(None), slice(None))])
        for move in product(*moves):
            result[tuple([target for _, target in move])] = array[tuple([part for part, _ in move])]
        return wrap(result)

    repeat = on_arrays(np.repeat)

    def triangle(self, x: Tensor, k: int, *, upper: bool) -> Tensor:
        return wrap((np.triu if upper else np.tril)(self.array(x), k))

    def cast(self, x: Tensor, dtype: DType) -> Tensor:
        array = self.array(x)
        kind = array.dtype.kind
        if kind == "c" and dtype.kind in "iuf":
            # NumPy would warn that the imaginary part is lost, which the contract asks for.
            array = array.real
        if array.size > AT_ONCE_MAX:
            loop = loops.cast(array.dtype, dtype)
            computed = None if loop is None else compute(loop, array)
            if computed is not None:
                return wrap(computed)
            out = _like(array, dtype)
            if out is not None:
                located(np.copyto, out, array, casting="unsafe")
                return wrap(out)
        may_warn = kind in "fc" or dtype in d.NARROW
        cast = located(_astype, array, dtype) if may_warn else array.astype(dtype)
        return wrap(cast)

    def bitcast(self, x: Tensor, dtype: DType) -> Tensor:
        # Two storages will lie over one memory. So both count as handed out: neither is read by a
        # pending expression while the other may be written.
        self.hand_out(x)
        before = self.array(x)
        array = before.view(dtype)
        if array.itemsize > before.itemsize and not is_aligned(array):
            raise ValueError(f"elements of {dtype} would not be aligned")
        result = wrap(array)
        if self.view(x).is_read_only:
            result.view = self.view(result).as_read_only()
        self.hand_out(result)
        return result

    def copy(self, x: Tensor) -> Tensor:
        return wrap(self.array(x).copy())

    def assign(self, target: Tensor, value: Operand) -> None:
        written = self.array(value) if type(value) is Tensor else value
        self.before_writing(target)
        array = self.array(target)
        if type(written) is not _ndarray:
            written = _cast_first(written, array.dtype)
        elif array.ndim == 1 and array.strides != written.strides:
            # NumPy copies 1-d arrays that overlap only if their strides are equal.
            written = apart(written, array)
        array[...] = written

    # ------------------------------------------------------------------ indexed access

    def _keys(self, keys: Keys, array: Callable[[Handle], NDArray]) -> Native:
        """Keys of the contract as NumPy's, but for whole axes at the end."""
        while keys[-1] is None:
            keys = keys[:-1]
        if len(keys) == 1:
            return array(keys[0])
        return tuple(
            [slice(None) if k is None else array(k) if type(k) is Tensor else k for k in keys]
        )

    def _ordered(self, x: Tensor) -> NDArray:
        """The ndarray of `x`, row-major, for use as a key or a value of a write by index.

        Where keys repeat an index, the last value must win. NumPy goes through keys and values in
        the order in which they lie in memory, which must therefore be that of their elements.
        """
        return _asarray(self.array(x), order="C")

    def index_get(self, x: Tensor, keys: Keys) -> Tensor:
        array = self.array(x)
        where = self._keys(keys, self.array)
        selected = selected_rows.read(array, where) if type(where) is _ndarray else None
        return wrap(array[where] if selected is None else selected)

    def index_set(self, target: Tensor, keys: Keys, value: Operand) -> None:
        written = (
            self._ordered(value)
            if type(value) is Tensor
            else _cast_first(value, self.array(target).dtype)
        )
        where = self._keys(keys, self._ordered)
        self.before_writing(target)
        selected_rows.assign(self.array(target), where, written)

    take = on_arrays(sliced_calls.take)
    gather = on_arrays(sliced_calls.gather)

    def scatter(
        self, template: Tensor, indices: Tensor, updates: Tensor, axis: int, *, add: bool
    ) -> Tensor:
        result = self.array(template).copy()
        keys = self._keys(composed.open_mesh(self, indices, axis), self._ordered)
        if add:
            located(np.add.at, result, keys, self.array(updates))
        else:
            result[keys] = self._ordered(updates)
        return wrap(result)

    nonzero = on_arrays(np.ndarray.nonzero)
    isin = on_arrays(distinct.isin)
    unique = on_arrays(distinct.unique)
    unique_counts = on_arrays(distinct.unique_counts)
    unique_inverse = on_arrays(distinct.unique_inverse)
    unique_values = on_arrays(distinct.unique_values)
    bincount = on_arrays(counting.bincount)

    # ------------------------------------------------------------------ matrices

    matmul = on_arrays(sliced_calls.matmul)

    def vecdot(self, x1: Tensor, x2: Tensor) -> Tensor:
        return wrap(located(np.vecdot, self.array(x1), self.array(x2)))

    def convolve(self, x1: Tensor, x2: Tensor, mode: Overlap) -> Tensor:
        first, second = self.array(x1), self.array(x2)
        if first.dtype.kind == "c":  # which np.correlate would conjugate
            return wrap(located(np.convolve, first, second, mode))
        return wrap(located(np.correlate, first, second[::-1], mode))


def is_plain_power(dtype: DType, shape: KnownInts | None, exponent: View | Any) -> bool:
    """Whether the loop of POW gives what `kernels` gives, which corrects some exponents.

    Parameters
    ----------
    dtype : numpy.dtype
    shape : tuple of int or None
        Of the base; None for a scalar.
    exponent : View or Scalar
    """
    if type(exponent) is View:
        # NumPy has special cases for an exponent that is the same for all elements (stride 0).
        if dtype.kind != "f" or exponent.has_repeats or exponent.size == 1:
            return False
        return shape is None or shape == exponent.shape
    return bool(exponent != 0.5) if dtype.kind == "f" else dtype.kind in "iu" and exponent >= 0


def _like(array: NDArray, dtype: DType) -> NDArray | None:
    """Memory of the pool for a result with the layout of `array`; None if `array` is neither
    row-major nor column-major."""
    if array.flags.c_contiguous:
        return empty(array.shape, dtype)
    if array.flags.f_contiguous:
        return empty(array.shape[::-1], dtype).T
    return None


def _cast_first(value: ArrayOrScalar, dtype: DType) -> ArrayOrScalar:
    """A Python scalar to be written. If it may overflow `dtype`, it is cast to a 0-d array here, so
    that the floating-point error comes, as in NumPy, before anything is written."""
    if type(value) is not complex and LEAST_SAFE <= value <= MOST_SAFE:
        return value
    return located(_asarray, value, dtype) if dtype.char in "fF" else value


def _count(array: NDArray, axes: tuple[int, ...]) -> int:
    return prod([array.shape[axis] for axis in axes])


def _mean(array: NDArray, axes: tuple[int, ...], keepdims: bool) -> ArrayOrScalar:
    return divide_by_count(_sum(array, axes, None, None, keepdims), _count(array, axes))


def _var(array: NDArray, axes: tuple[int, ...], keepdims: bool, freedom: float) -> ArrayOrScalar:
    """The sum of squared distances from the mean, divided by `freedom`."""
    mean = divide_by_count(_sum(array, axes, None, None, True), _count(array, axes))
    distance = _asarray(array - mean)
    if distance.dtype.kind == "c":
        squares = np.square(distance.real)
        squares += np.square(distance.imag)
    else:
        squares = np.multiply(distance, distance, out=distance)
    return divide_by_count(_sum(squares, axes, None, None, keepdims), freedom)
