"""The CPU backend: the methods of the contract, by NumPy's kernels over strided Tensors.

What the extension answers by itself, now or later, comes first (`_in_c`); the rest NumPy computes,
on several threads if that is worth it. The chapters linear_algebra.py, fourier.py and
random_numbers.py are base classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from ...config import current
from ...contract import replay
from ...contract.arguments import Handle, Keys, Native, Operand, Overlap, Scalar
from ...contract.arrays import open_mesh
from ...contract.numpy_dtypes import NDArray, is_aligned
from ...contract.strided import Tensor
from ...contract.ufuncs import UfuncLoop
from ...core import dtypes as d
from ...core.dtypes import CANONICAL, DType
from ...native import native
from ...primitives import table as p
from ...primitives.table import Primitive
from . import distinct, selected_rows, sorting
from .engine import sliced_calls
from .engine.fperrors import located
from .engine.loops import is_threadable
from .engine.memory_pool import empty
from .fourier import FourierTransforms
from .linear_algebra import LinearAlgebra
from .policy import AT_ONCE_MAX, LARGE
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

_SUMS: Final = p.SUM, p.PROD
_RUNNING: Final = p.CUMULATIVE_SUM, p.CUMULATIVE_PROD


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
        kernel = UNARY[op]
        array = self.array(x)
        if array.size > AT_ONCE_MAX and type(kernel) is _ufunc:
            out = _like(array, op.results[CANONICAL[array.dtype]])
            if out is not None:
                return wrap(sliced_calls.elementwise(kernel, [array], out))
        return wrap(located(kernel, array))

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
        arrays = [x for x in (first, second) if type(x) is _ndarray and x.ndim > 0]
        if arrays and arrays[0].size > AT_ONCE_MAX and type(BINARY[op]) is _ufunc:
            array, other = arrays[0], arrays[-1]
            alike = other.shape == array.shape and other.strides == array.strides
            memory = _like(array, op.results[CANONICAL[array.dtype]]) if alike else None
            if memory is not None:
                return wrap(sliced_calls.elementwise(BINARY[op], [first, second], memory))
        return wrap(located(BINARY_NEW[op], first, second))

    def apply(self, op: UfuncLoop, *operands: Operand) -> Tensor:
        return wrap(self._outputs(op, operands)[op.wanted or 0])

    def apply_multiple(self, op: UfuncLoop, *operands: Operand) -> tuple[Tensor, ...]:
        return tuple(map(wrap, self._outputs(op, operands)))

    def _outputs(self, op: UfuncLoop, operands: Sequence[Operand]) -> tuple[NDArray, ...]:
        arrays = self._arrays(op, operands)
        if is_threadable(op.ufunc):
            shape = np.broadcast_shapes(*[np.shape(x) for x in arrays])
            rows = all([type(x) is not _ndarray or x.flags.c_contiguous for x in arrays])
            if rows and prod(shape) > AT_ONCE_MAX:
                outputs = tuple([empty(shape, dtype) for dtype in op.outputs])
                return sliced_calls.elementwise(op.ufunc, arrays, outputs)
        found = located(op.ufunc, *arrays)
        return found if len(op.outputs) > 1 else (found,)

    def _arrays(self, op: UfuncLoop, operands: Sequence[Operand]) -> list[ArrayOrScalar]:
        """The operands as NumPy's ufuncs take them, which would promote a Python scalar."""
        return [
            self.array(x) if type(x) is Tensor else dtype.type(x)
            for x, dtype in zip(operands, op.inputs, strict=True)
        ]

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
        if type(first) is _ndarray and type(second) is _ndarray:
            return wrap(np.where(mask, first, second))
        return wrap(located(np.where, mask, first, second))

    # ------------------------------------------------------------------ reductions and scans

    def reduce(
        self,
        op: Primitive,
        x: Tensor,
        axes: tuple[int, ...],
        keepdims: bool,
        dtype: DType | None = None,
    ) -> Tensor:
        own = self.dtype(x)
        # NumPy would widen sums and products of small integers on its own.
        computed_in = (dtype or own,) if op in _SUMS else ()
        waiting: Tensor | None = _in_c(op.name, x, axes, keepdims, *computed_in)
        if waiting is not None:
            return waiting
        is_many = prod(self.shape(x)) > AT_ONCE_MAX
        is_own = dtype is None or dtype is own
        if own in d.NARROW and (op is p.MEAN or (op in _SUMS and is_many and is_own)):
            # Sums and products of many are rounded once, as means are.
            wide = self.reduce(op, self.cast(x, d.NARROW[own]), axes, keepdims)
            return self.cast(wide, own)
        array = self.array(x)
        kernel = REDUCE.get(op)
        if kernel is not None:
            target = computed_in[0] if computed_in else dtype
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

    def arg_reduce(self, op: Primitive, x: Tensor, axis: int, keepdims: bool) -> Tensor:
        return wrap(sliced_calls.arg_reduce(ARG_REDUCE[op], self.array(x), axis, keepdims))

    def scan(self, op: Primitive, x: Tensor, axis: int, dtype: DType | None = None) -> Tensor:
        # NumPy would widen small integers on its own.
        target = self.dtype(x) if dtype is None else dtype
        if op in _RUNNING:
            scanned: Tensor | None = _in_c(op.name, x, axis, target, False)
            if scanned is not None:
                return scanned
        return wrap(located(SCAN[op], self.array(x), axis, target))

    def var(self, x: Tensor, axes: tuple[int, ...], keepdims: bool, correction: float) -> Tensor:
        if self.dtype(x) in d.NARROW:
            wide = self.var(self.cast(x, d.NARROW[self.dtype(x)]), axes, keepdims, correction)
            return self.cast(wide, self.dtype(x))
        waiting: Tensor | None = _in_c("var", x, axes, keepdims, correction)
        if waiting is not None:
            return waiting
        array = self.array(x)
        freedom = _count(array, axes) - correction
        return wrap(located(_var, array, axes, keepdims, freedom if freedom > 0 else np.nan))

    # ------------------------------------------------------------------ sorting and searching

    def sort(self, x: Tensor, axis: int, *, descending: bool, stable: bool) -> Tensor:
        found: Tensor | None = _in_c("sort", x, axis, descending, stable)
        if found is not None:
            return found
        return wrap(sorting.sort(self.array(x), axis, descending=descending, stable=stable))

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
            waiting: Tensor | None = _in_c("astype", x, dtype)
            if waiting is not None:
                return waiting
            out = _like(array, dtype)
            if out is not None:
                return wrap(sliced_calls.elementwise(_copy_cast, [array], out, "cast"))
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
        copied: Tensor | None = _in_c("copy", x)
        return wrap(self.array(x).copy()) if copied is None else copied

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

    take = on_arrays(np.take)
    gather = on_arrays(np.take_along_axis)

    def scatter(
        self, template: Tensor, indices: Tensor, updates: Tensor, axis: int, *, add: bool
    ) -> Tensor:
        result = self.array(template).copy()
        keys = self._keys(open_mesh(self, indices, axis), self._ordered)
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
    bincount = on_arrays(distinct.bincount)

    # ------------------------------------------------------------------ matrices

    matmul = on_arrays(sliced_calls.matmul)

    vecdot = on_arrays(partial(located, np.vecdot))

    def convolve(self, x1: Tensor, x2: Tensor, mode: Overlap) -> Tensor:
        first, second = self.array(x1), self.array(x2)
        if first.dtype.kind == "c":  # which np.correlate would conjugate
            return wrap(located(np.convolve, first, second, mode))
        return wrap(located(np.correlate, first, second[::-1], mode))


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


def _copy_cast(array: NDArray, out: NDArray) -> None:
    np.copyto(out, array, casting="unsafe")


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
