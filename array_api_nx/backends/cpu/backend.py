"""The CPU backend: primitives by NumPy's kernels over strided Tensors.

Chapters with many primitives have mixins of their own: linear_algebra.py and fourier.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, Literal

import numpy as np

from ... import primitives as p
from ...core import dtypes as d
from ...core.dtypes import DType
from ...primitives import Primitive
from .. import composed
from ..base import Operand, Scalar
from ..host import TO_NUMPY
from ..strided import Tensor
from .fourier import FourierTransforms
from .kernels import ARG_REDUCE, BINARY, BINARY_NEW, REDUCE, SCAN, UNARY, NDArray
from .linear_algebra import LinearAlgebra
from .memory import wrap

__all__ = ["CPUBackend"]

_ndarray: Final = np.ndarray
_sum: Final = REDUCE[p.SUM]
_asarray: Final = np.asarray
_matmul: Final = np.matmul
_INT64: Final = TO_NUMPY[d.int64]

# Below this size NumPy's clip spends more on its Python wrapper than on a second pass.
_CLIP_AT_ONCE: Final = 4096


class CPUBackend(LinearAlgebra, FourierTransforms):
    """Executes primitives with NumPy, eagerly."""

    # ------------------------------------------------------------------ creation

    def empty(self, shape: tuple[int, ...], dtype: DType) -> Tensor:
        return wrap(np.empty(shape, TO_NUMPY[dtype]))

    def full(self, shape: tuple[int, ...], dtype: DType, value: Scalar) -> Tensor:
        if (type(value) is int and value == 0) or value is False:
            # Pages of zeros come from the system without being written.
            return wrap(np.zeros(shape, TO_NUMPY[dtype]))
        array = np.empty(shape, TO_NUMPY[dtype])
        array.fill(value)
        return wrap(array)

    def from_host(self, array: NDArray, *, copy: bool) -> Tensor:
        if copy:
            return wrap(array.copy())
        shared = array.view(_ndarray)
        if any([s == 0 and n > 1 for n, s in zip(shared.shape, shared.strides, strict=True)]):
            # Several elements share memory; whoever made it may have left it writable.
            shared.flags.writeable = False
        return wrap(shared)

    def arange(
        self, start: int | float, stop: int | float, step: int | float, dtype: DType
    ) -> Tensor:
        array: NDArray = np.arange(start, stop, step, dtype=TO_NUMPY[dtype])
        return wrap(array)

    def linspace(
        self, start: Scalar, stop: Scalar, num: int, dtype: DType, *, endpoint: bool
    ) -> Tensor:
        return wrap(np.linspace(start, stop, num, endpoint=endpoint, dtype=TO_NUMPY[dtype]))

    def eye(self, rows: int, columns: int, k: int, dtype: DType) -> Tensor:
        return wrap(np.eye(rows, columns, k, TO_NUMPY[dtype]))

    # ------------------------------------------------------------------ element by element

    def unary(self, op: Primitive, x: Tensor) -> Tensor:
        array = x.array
        if array is None:
            array = self.bind(x)
        kernel = UNARY.get(op)
        if kernel is None:
            only_composed: Tensor = composed.erf(self, x)
            return only_composed
        computed = kernel(array)
        result = Tensor()
        result.array = computed if type(computed) is _ndarray else _asarray(computed)
        result.view = result.storage = None
        return result

    def binary(self, op: Primitive, x1: Operand, x2: Operand, out: Tensor | None = None) -> Tensor:
        if type(x1) is Tensor:
            x1 = x1.array if x1.array is not None else self.bind(x1)
        if type(x2) is Tensor:
            x2 = x2.array if x2.array is not None else self.bind(x2)
        if out is not None:
            BINARY[op](x1, x2, out=self.array(out))
            return out
        array = BINARY_NEW[op](x1, x2)
        result = Tensor()
        result.array = array if type(array) is _ndarray else _asarray(array)
        result.view = result.storage = None
        return result

    def where(self, condition: Tensor, x1: Operand, x2: Operand) -> Tensor:
        if type(x1) is Tensor:
            x1 = x1.array if x1.array is not None else self.bind(x1)
        if type(x2) is Tensor:
            x2 = x2.array if x2.array is not None else self.bind(x2)
        mask = condition.array
        if mask is None:
            mask = self.bind(condition)
        return wrap(np.where(mask, x1, x2))

    def clip(self, x: Tensor, low: Operand | None, high: Operand | None) -> Tensor:
        if type(low) is Tensor:
            low = self.array(low)
        if type(high) is Tensor:
            high = self.array(high)
        array = x.array
        if array is None:
            array = self.bind(x)
        if low is not None and high is not None and array.size > _CLIP_AT_ONCE:
            return wrap(array.clip(low, high))
        if low is not None:
            array = np.maximum(array, low)
        if high is not None:
            array = np.minimum(array, high)
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
        array = x.array
        if array is None:
            array = self.bind(x)
        kernel = REDUCE.get(op)
        if kernel is not None:
            # NumPy would widen sums and products of small integers on its own.
            widens = op is p.SUM or op is p.PROD
            target = TO_NUMPY[dtype] if dtype is not None else array.dtype if widens else None
            reduced = kernel(array, axes, target, None, keepdims)
            result = Tensor()
            result.array = reduced if type(reduced) is _ndarray else _asarray(reduced)
            result.view = result.storage = None
            return result
        if op is p.MEAN:
            total = _sum(array, axes, None, None, keepdims)
            return wrap(_divide(total, _count(array, axes)))
        if len(axes) == array.ndim and not keepdims:
            return wrap(np.asarray(np.count_nonzero(array), dtype=_INT64))
        return wrap(_sum(array.astype(bool), axes, _INT64, None, keepdims))

    def arg_reduce(self, op: Primitive, x: Tensor, axis: int, keepdims: bool) -> Tensor:
        method = getattr(self.array(x), ARG_REDUCE[op])
        return wrap(_asarray(method(axis=axis, keepdims=keepdims), dtype=_INT64))

    def scan(self, op: Primitive, x: Tensor, axis: int, dtype: DType | None = None) -> Tensor:
        array = self.array(x)
        # NumPy would widen small integers on its own.
        return wrap(SCAN[op](array, axis, array.dtype if dtype is None else TO_NUMPY[dtype]))

    def var(self, x: Tensor, axes: tuple[int, ...], keepdims: bool, correction: float) -> Tensor:
        array = self.array(x)
        mean = _divide(_sum(array, axes, None, None, True), _count(array, axes))
        distance = _asarray(array - mean)
        if distance.dtype.kind == "c":
            squares = np.square(distance.real)
            squares += np.square(distance.imag)
        else:
            squares = np.multiply(distance, distance, out=distance)
        total = _sum(squares, axes, None, None, keepdims)
        freedom = _count(array, axes) - correction
        return wrap(_divide(total, freedom if freedom > 0 else np.nan))

    # ------------------------------------------------------------------ sorting and searching

    def sort(self, x: Tensor, axis: int, *, descending: bool, stable: bool) -> Tensor:
        array = self.array(x)
        # Equal elements that can be told apart are zeros of either sign; NumPy's default, faster
        # by far on large arrays, does not keep their order.
        kind: Literal["stable"] | None = None
        if stable and array.dtype.kind == "f" and (array.size < 1000 or _has_both_zeros(array)):
            kind = "stable"
        array = _reverse_order(array) if descending else array.copy()
        array.sort(axis, kind)
        return wrap(_reverse_order(array) if descending else array)

    def argsort(self, x: Tensor, axis: int, *, descending: bool, stable: bool) -> Tensor:
        array = self.array(x)
        if descending:
            array = _reverse_order(array)
        return wrap(array.argsort(axis, "stable" if stable else None))

    def searchsorted(self, x: Tensor, values: Tensor, *, right: bool) -> Tensor:
        side: Literal["right", "left"] = "right" if right else "left"
        return wrap(self.array(x).searchsorted(self.array(values), side))

    # ------------------------------------------------------------------ movement that copies

    def cat(self, arrays: Sequence[Tensor], axis: int) -> Tensor:
        return wrap(
            np.concatenate([self.bind(x) if x.array is None else x.array for x in arrays], axis)
        )

    def repeat(self, x: Tensor, repeats: int | Tensor, axis: int) -> Tensor:
        counts = repeats if isinstance(repeats, int) else self.array(repeats)
        return wrap(self.array(x).repeat(counts, axis))

    def triangle(self, x: Tensor, k: int, *, upper: bool) -> Tensor:
        return wrap((np.triu if upper else np.tril)(self.array(x), k))

    def cast(self, x: Tensor, dtype: DType) -> Tensor:
        array = x.array
        if array is None:
            array = self.bind(x)
        target = TO_NUMPY[dtype]
        if array.dtype.kind == "c" and target.kind in "iuf":
            # NumPy would warn of what the contract asks for.
            array = array.real
        return wrap(array.astype(target))

    def bitcast(self, x: Tensor, dtype: DType) -> Tensor:
        return wrap(self.array(x).view(TO_NUMPY[dtype]))

    def copy(self, x: Tensor) -> Tensor:
        return wrap(self.array(x).copy())

    def assign(self, target: Tensor, value: Operand) -> None:
        array = target.array
        if array is None:
            array = self.bind(target)
        if type(value) is Tensor:
            value = self.array(value)
            if array.ndim == 1 and array.strides != value.strides:
                # From one axis to one axis, NumPy looks after overlaps of equal steps alone.
                value = value.copy() if np.may_share_memory(array, value) else value
        array[...] = value

    # ------------------------------------------------------------------ indexed access

    def _keys(self, keys: tuple[Any, ...], array: Callable[[Tensor], NDArray]) -> Any:
        """Keys of the contract as NumPy's; `array` gives the ndarray of a handle."""
        if len(keys) == 1:
            return array(keys[0])
        return tuple(
            [slice(None) if k is None else array(k) if type(k) is Tensor else k for k in keys]
        )

    def _ordered(self, x: Tensor) -> NDArray:
        """The ndarray of `x`, made row-major: what keys and values must be for writing.

        NumPy goes through keys and values in the order of their memory, and the last value for an
        element wins.
        """
        return _asarray(self.array(x), order="C")

    def index_get(self, x: Tensor, keys: tuple[Any, ...]) -> Tensor:
        array = x.array
        if array is None:
            array = self.bind(x)
        return wrap(array[self._keys(keys, self.array)])

    def index_set(self, target: Tensor, keys: tuple[Any, ...], value: Operand) -> None:
        written = self._ordered(value) if type(value) is Tensor else value
        self.array(target)[self._keys(keys, self._ordered)] = written

    def take(self, x: Tensor, indices: Tensor, axis: int) -> Tensor:
        return wrap(self.array(x).take(self.array(indices), axis))

    def gather(self, x: Tensor, indices: Tensor, axis: int) -> Tensor:
        return wrap(np.take_along_axis(self.array(x), self.array(indices), axis))

    def scatter(
        self, template: Tensor, indices: Tensor, updates: Tensor, axis: int, *, add: bool
    ) -> Tensor:
        result = self.array(template).copy()
        keys = self._keys(composed.open_mesh(self, indices, axis), self._ordered)
        if add:
            np.add.at(result, keys, self.array(updates))
        else:
            result[keys] = self._ordered(updates)
        return wrap(result)

    def nonzero(self, x: Tensor) -> tuple[Tensor, ...]:
        return tuple([wrap(indices) for indices in self.array(x).nonzero()])

    def unique(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        array = self.array(x)
        values, index, inverse, counts = np.unique(
            array, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
        )
        return wrap(values), wrap(index), wrap(inverse.reshape(array.shape)), wrap(counts)

    def unique_values(self, x: Tensor) -> Tensor:
        return wrap(np.unique(self.array(x), equal_nan=False))

    # ------------------------------------------------------------------ matrices

    def matmul(self, x1: Tensor, x2: Tensor) -> Tensor:
        left, right = x1.array, x2.array
        if left is None:
            left = self.bind(x1)
        if right is None:
            right = self.bind(x2)
        array = _matmul(left, right)
        result = Tensor()
        result.array = array if type(array) is _ndarray else _asarray(array)
        result.view = result.storage = None
        return result

    def vecdot(self, x1: Tensor, x2: Tensor) -> Tensor:
        return wrap(np.vecdot(self.array(x1), self.array(x2)))


def _count(array: NDArray, axes: tuple[int, ...]) -> int:
    return prod([array.shape[axis] for axis in axes])


def _divide(total: Any, count: float) -> Any:
    """`total` (an array or NumPy scalar) by `count`, in double precision even for float32.

    A large count has no exact float32. Dividing by zero gives NaN, as for arrays.
    """
    if total.dtype.kind == "c":
        # Complex division would let a NaN or an infinity in one part spoil the other.
        result = np.empty_like(total)
        result.real = np.true_divide(total.real, np.float64(count))
        result.imag = np.true_divide(total.imag, np.float64(count))
        return result
    return np.true_divide(total, np.float64(count)).astype(total.dtype, copy=False)


def _has_both_zeros(array: NDArray) -> bool:
    """Whether 0.0 and -0.0 both occur in `array`."""
    negative = np.signbit(array[array == 0])
    return bool(negative.any()) and not negative.all()


def _reverse_order(array: NDArray) -> NDArray:
    """An array that sorts the other way round, NaN last all the same; its own inverse."""
    if array.dtype.kind == "f":
        return np.negative(array)
    return np.invert(array)
