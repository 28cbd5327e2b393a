"""The second chapter of the backend contract: what primitives make of whole arrays.

What holds throughout is said in interface.py.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import nan, prod
from typing import Final

import numpy as np

from ..config import hints
from ..core import dtypes as d
from ..core.dtypes import DType
from ..core.layout import Selection
from ..core.symbolic import KnownInts
from ..core.view import View
from ..primitives import table as p
from ..primitives.table import Primitive
from .arguments import Handle, Keys, Operand, Padding, Scalar
from .events import transferred
from .handles import Handles
from .ufuncs import UfuncLoop

_SCALARS: Final = frozenset({bool, int, float, complex})


class Arrays(Handles):
    """Creation, computing element by element and along axes, movement, memory, and index arrays."""

    # ------------------------------------------------------------------ creation

    @abstractmethod
    def empty(self, shape: tuple[int, ...], dtype: DType) -> Handle:
        """An array whose contents are undefined. Backend must: lay it out row-major."""

    @abstractmethod
    def full(self, shape: tuple[int, ...], dtype: DType, value: Scalar) -> Handle:
        """An array that holds `value` everywhere.

        Frontend guarantees: `value` is a Python scalar that `dtype` represents.
        Backend must: lay it out row-major.
        """

    @abstractmethod
    def arange(
        self, start: int | float, stop: int | float, step: int | float, dtype: DType
    ) -> Handle:
        """start + i * step for 0 <= i < ceil((stop - start) / step).

        Frontend guarantees: `step` is not zero; the values are representable.
        """

    def linspace(
        self, start: Scalar, stop: Scalar, num: int, dtype: DType, *, endpoint: bool
    ) -> Handle:
        """`num` evenly spaced values from `start` on, the last one `stop` if `endpoint`.

        Backend must: make the last of several values exactly `stop` then.
        """
        # In double precision, and then rounded.
        steps = num - 1 if endpoint else num
        imaginary = isinstance(start, complex) or isinstance(stop, complex)
        computed = d.complex128 if imaginary else d.float64
        if computed not in self.available_dtypes():
            computed = dtype
        numbers = self.arange(0, num, 1, d.int64)
        positions = self.cast(numbers, computed)
        with np.errstate(all="ignore"):
            low, high = np.asarray([start, stop], computed)
            distance = high - low
            step = distance / steps if steps > 0 else distance
        if steps > 0 and step == 0:
            # The step is smaller than all numbers but 0.
            positions, step = self.binary(p.DIVIDE, positions, float(steps)), distance
        result = self.binary(p.MULTIPLY, positions, step.item())
        result = self.binary(p.ADD, result, low.item())
        if endpoint and num > 1:
            is_last = self.binary(p.EQUAL, numbers, num - 1)
            result = self.where(is_last, high.item(), result)
        return self.cast(result, dtype)

    def eye(self, rows: int, columns: int, k: int, dtype: DType) -> Handle:
        """Ones on the k-th diagonal, zeros elsewhere."""
        return self.cast(self.binary(p.EQUAL, _diagonals(self, rows, columns), k), dtype)

    # ------------------------------------------------------------------ element by element

    @abstractmethod
    def unary(self, op: Primitive, x: Handle) -> Handle:
        """`op` of each element.

        Frontend guarantees: `op` is of family "unary".
        Backend must: follow the standard's special cases. Rounding leaves integers as they are;
        `round` rounds halves to even.
        """

    @abstractmethod
    def binary(self, op: Primitive, x1: Operand, x2: Operand, out: Handle | None = None) -> Handle:
        """`op` of pairs of elements, after broadcasting.

        Frontend guarantees: `op` is of family "binary". At least one operand is a handle. Two
        handles have the same dtype. A Python scalar stands for an array of the other operand's
        dtype, which represents it. `out`, if given, may be written, has the result's dtype and
        the shape that the operands broadcast to, and may overlap the operands in any way.

        Backend must: broadcast; raise ValueError, changing nothing, if the shapes do not agree
        (the one check that every engine makes anyway). Compute as if the operands had been
        copied before `out` is written, and return `out` if it is given. Follow the standard's
        special cases. `remainder` takes the divisor's sign, `fmod` the dividend's;
        `floor_divide` rounds down; integer division by zero gives some integer and never fails, as
        do shifts by the width or more. Raise ValueError, changing nothing, for an integer to a
        negative integer power.
        """

    @abstractmethod
    def where(self, condition: Handle, x1: Operand, x2: Operand) -> Handle:
        """x1 where `condition` holds, else x2, after broadcasting.

        Frontend guarantees: `condition` is boolean. At least one of x1 and x2 is a handle, with
        the rules of `binary`.
        Backend must: broadcast; raise ValueError if the shapes do not agree.
        """

    def clip(self, x: Handle, low: Operand | None, high: Operand | None) -> Handle:
        """`x` limited to [low, high], after broadcasting; where low > high, high wins.

        Frontend guarantees: at least one limit; limits follow the rules of `binary`, are NaN
        where they are unknown, and the broadcast shape is that of `x`.
        """
        if low is not None:
            x = self.binary(p.MAXIMUM, x, low)
        return x if high is None else self.binary(p.MINIMUM, x, high)

    def apply(self, op: UfuncLoop, *operands: Operand) -> Handle:
        """A ufunc of elements of the operands, after broadcasting.

        Frontend guarantees: the ufunc has one output, or ``op.wanted`` is the number of the wanted
        one. There are as many operands as ``op.inputs``, and at least one is a handle.
        Handles have the dtypes of ``op.inputs``; a Python scalar stands for an array of its dtype,
        which represents it.
        Backend must: broadcast; raise ValueError if the shapes do not agree. Compute what the
        ufunc computes of NumPy arrays, or its own function of the same meaning.
        """
        return self.apply_multiple(op, *operands)[op.wanted or 0]

    def apply_multiple(self, op: UfuncLoop, *operands: Operand) -> tuple[Handle, ...]:
        """All outputs of a ufunc that has several, as `apply`.

        Frontend guarantees: ``op.wanted`` is None.
        """
        # By NumPy on the host. It reports no floating-point errors, as other engines do not.
        report_host(self, *[x for x in operands if type(x) not in _SCALARS])
        arrays = [
            np.asarray(x, dtype) if type(x) in _SCALARS else self.to_host(x)
            for x, dtype in zip(operands, op.inputs, strict=True)
        ]
        with np.errstate(all="ignore"):
            found = op.ufunc(*arrays)
        results = found if type(found) is tuple else (found,)
        return tuple(
            [
                self.from_host(np.asarray(result, dtype), copy=False, lent=False)
                for result, dtype in zip(results, op.outputs, strict=True)
            ]
        )

    # ------------------------------------------------------------------ reductions and scans

    @abstractmethod
    def reduce(
        self,
        op: Primitive,
        x: Handle,
        axes: tuple[int, ...],
        keepdims: bool,
        dtype: DType | None = None,
    ) -> Handle:
        """`op` over `axes`, which are dropped, or kept with size 1 if `keepdims`.

        Frontend guarantees: `op` is of family "reduce"; `max` and `min` meet no empty axis.
        `dtype`, if given, is what sum or prod converts elements to before it adds or multiplies
        them; then it is the row's operand dtype, and `x` may have any.
        Backend must: give sum and any 0, prod and all 1, mean NaN over no elements; propagate
        NaN in max and min; accumulate in the result's dtype. `composed.reduce` does mean and
        count_nonzero with the others.
        """

    @abstractmethod
    def arg_reduce(self, op: Primitive, x: Handle, axis: int, keepdims: bool) -> Handle:
        """Index along `axis` of the first largest or smallest element; the first NaN wins.

        Frontend guarantees: `op` is of family "arg_reduce"; the axis is not empty.
        """

    @abstractmethod
    def scan(self, op: Primitive, x: Handle, axis: int, dtype: DType | None = None) -> Handle:
        """Inclusive running `op` along `axis`.

        Frontend guarantees: `op` is of family "scan"; `dtype` as for `reduce`.
        """

    def var(self, x: Handle, axes: tuple[int, ...], keepdims: bool, correction: float) -> Handle:
        """Mean squared distance from the mean over `axes`, with n - `correction` for n.

        Backend must: give NaN if n - `correction` is not positive.
        """
        # In two passes, so that large means cost no digits.
        shape, dtype = self.shape(x), p.VAR.results[self.dtype(x)]
        mean = self.reduce(p.MEAN, x, axes, True)
        distance = self.unary(p.ABS, self.binary(p.SUBTRACT, x, mean))
        total = self.reduce(p.SUM, self.unary(p.SQUARE, distance), axes, keepdims)
        freedom = prod([shape[axis] for axis in axes]) - correction
        divisor = self.full((), dtype, freedom if freedom > 0 else nan)
        return self.binary(p.DIVIDE, total, divisor)

    # ------------------------------------------------------------------ sorting and searching

    @abstractmethod
    def sort(self, x: Handle, axis: int, *, descending: bool, stable: bool) -> Handle:
        """`x` sorted along `axis`.

        Backend must: put NaN last in either direction; keep the order of equal elements (zeros
        of either sign), in either direction, if `stable`.
        """

    @abstractmethod
    def argsort(self, x: Handle, axis: int, *, descending: bool, stable: bool) -> Handle:
        """int64 indices that sort `x` along `axis`.

        Backend must: put NaN last in either direction; keep the order of equal elements, in
        either direction, if `stable`.
        """

    def partition(self, x: Handle, kth: tuple[int, ...], axis: int) -> Handle:
        """`x` with some elements along `axis` where `sort` would put them.

        Frontend guarantees: at least one position in `kth`; positions are in range and ascend.
        Backend must: put at each position in `kth` what ascending order has there, NaN last, with
        nothing greater before it and nothing less after it.
        """
        return self.sort(x, axis, descending=False, stable=False)

    def argpartition(self, x: Handle, kth: tuple[int, ...], axis: int) -> Handle:
        """int64 indices that partition `x` along `axis`; see `partition` for the rest."""
        return self.argsort(x, axis, descending=False, stable=False)

    @abstractmethod
    def searchsorted(self, x: Handle, values: Handle, *, right: bool) -> Handle:
        """int64 positions at which `values` keep the ascending 1-D `x` sorted.

        Frontend guarantees: both have the same dtype.
        Backend must: give the position before equal elements, or after them if `right`.
        """

    # ------------------------------------------------------------------ movement

    @abstractmethod
    def expand(self, x: Handle, shape: tuple[int, ...]) -> Handle:
        """Axes of size 1 repeated, and new axes put in front, to make `shape`.

        Frontend guarantees: `shape` is what the shape of `x` broadcasts to.
        """

    @abstractmethod
    def try_reshape(self, x: Handle, shape: tuple[int, ...]) -> Handle | None:
        """The same elements in row-major order under another shape, in the same memory.

        Frontend guarantees: the sizes have the same product.
        Backend must: return None if only a copy can do it. A row-major array never needs one.
        """

    def reshape(self, x: Handle, shape: tuple[int, ...]) -> Handle:
        """The same elements in row-major order under another shape; copies if it must."""
        view = self.try_reshape(x, shape)
        return self.try_reshape(self.contiguous(x), shape) if view is None else view

    @abstractmethod
    def permute(self, x: Handle, axes: tuple[int, ...]) -> Handle:
        """Axis i of the result is axis ``axes[i]`` of `x`. Frontend guarantees: a permutation."""

    @abstractmethod
    def slice(self, x: Handle, selection: Selection) -> Handle:
        """The elements that a basic index selects.

        Frontend guarantees: `selection` (see `core.view.Selection`) lies within the shape.
        """

    def shrink(self, x: Handle, bounds: tuple[tuple[int, int], ...]) -> Handle:
        """The box of indices start <= i < end per axis.

        Frontend guarantees: 0 <= start <= end <= size.
        """
        return self.slice(x, tuple([(start, end - start, 1) for start, end in bounds]))

    def flip(self, x: Handle, axes: tuple[bool, ...]) -> Handle:
        """The axes marked True reversed."""
        marked = zip(self.shape(x), axes, strict=True)
        return self.slice(
            x, tuple([(n - 1, n, -1) if mark and n else (0, n, 1) for n, mark in marked])
        )

    def strided(self, x: Handle, view: View) -> Handle:
        """The elements that `view` shows of the elements of `x`, taken in row-major order.

        Frontend guarantees: `view` has no mask, and lies within a block of the size of `x`.
        The result may share the memory of `x`.
        """
        # The elements are looked up by their positions.
        flat = self.reshape(x, (prod(self.shape(x)),))
        return self.take(flat, _positions(self, view), 0)

    @abstractmethod
    def pad(self, x: Handle, padding: Padding, value: Scalar) -> Handle:
        """`x` extended by (before, after) elements of `value` per axis.

        Backend must: return memory of its own.
        """

    @abstractmethod
    def cat(self, arrays: Sequence[Handle], axis: int) -> Handle:
        """The arrays joined along `axis`.

        Frontend guarantees: at least one; same dtype; the first has the axis.
        Backend must: return memory of its own; raise ValueError if the shapes differ but for
        `axis`.
        """

    def roll(self, x: Handle, shifts: tuple[int, ...]) -> Handle:
        """A copy whose elements are moved round each axis, towards higher indices.

        Frontend guarantees: one shift per axis, which may be negative or exceed the size.
        """
        # By joining the two parts of one axis after the other.
        shape = self.shape(x)
        moved = False
        for axis, (size, shift) in enumerate(zip(shape, shifts, strict=True)):
            cut = -shift % size if size else 0
            if cut:
                whole = [(0, n) for n in shape]
                bounds = [
                    (*whole[:axis], part, *whole[axis + 1 :]) for part in ((cut, size), (0, cut))
                ]
                x = self.cat([self.shrink(x, part) for part in bounds], axis)
                moved = True
        return x if moved else self.copy(x)

    def repeat(self, x: Handle, repeats: int | Handle, axis: int) -> Handle:
        """Each element along `axis` repeated, all the same number of times or each its own.

        Frontend guarantees: `repeats` is not negative; a handle is int64, of the axis' length.
        """
        shape = self.shape(x)
        if isinstance(repeats, int):
            kept = [(0, size, 1) for size in shape]
            split = self.slice(x, (*kept[: axis + 1], None, *kept[axis + 1 :]))
            wide = (*shape[: axis + 1], repeats, *shape[axis + 1 :])
            merged = (*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :])
            return self.copy(self.reshape(self.expand(split, wide), merged))
        # Position j of the result shows the element in whose run of repeats j falls.
        ends = self.scan(p.CUMULATIVE_SUM, repeats, 0)
        report_host(self, ends)
        total = int(self.to_host(ends)[-1]) if shape[axis] else 0
        positions = self.arange(0, total, 1, d.int64)
        return self.take(x, self.searchsorted(ends, positions, right=True), axis)

    def triangle(self, x: Handle, k: int, *, upper: bool) -> Handle:
        """`x` with zeros below (`upper`) or above the k-th diagonal of its last two axes."""
        shape = self.shape(x)
        op = p.GREATER_EQUAL if upper else p.LESS_EQUAL
        keep = self.binary(op, _diagonals(self, *shape[-2:]), k)
        zero = False if self.dtype(x) is d.bool else 0
        return self.where(self.expand(keep, shape), x, zero)

    # ------------------------------------------------------------------ types and memory

    @abstractmethod
    def cast(self, x: Handle, dtype: DType) -> Handle:
        """`x` converted to `dtype`, in memory of its own.

        Backend must: truncate floats towards zero on their way to integers, drop imaginary
        parts, and take nonzero for True.
        """

    @abstractmethod
    def bitcast(self, x: Handle, dtype: DType) -> Handle:
        """The bytes of `x` read as elements of another dtype, in the same memory.

        Frontend guarantees: both dtypes are numeric. If their sizes differ, there is a last axis,
        and its bytes are a whole number of new elements.
        Backend must: raise ValueError if the sizes differ and the last axis is not contiguous, or
        if new elements would not be aligned as `from_host` wants them.
        """

    def contiguous(self, x: Handle) -> Handle:
        """`x` itself if it is row-major, else a copy that is."""
        return self.copy(x)

    @abstractmethod
    def copy(self, x: Handle) -> Handle:
        """A row-major copy. Backend must: always return memory of its own."""

    @abstractmethod
    def assign(self, target: Handle, value: Operand) -> None:
        """Write `value`, after broadcasting, into the memory of `target`.

        Frontend guarantees: `target` may be written; `value` is a handle of its dtype whose
        shape broadcasts to that of `target` (further axes of size 1 in front do not count), or a
        Python scalar that the dtype represents.
        Backend must: behave as if `value` had been copied first, since they may overlap.
        """

    def assign_strided(self, target: Handle, view: View, value: Operand) -> None:
        """Write `value`, after broadcasting, where `view` shows elements of `target`.

        Frontend guarantees: `target` is row-major and may be written; `view` as for `strided`,
        without repeated elements; `value` as for `assign`, in no more dimensions than `view`.
        Backend must: behave as if `value` had been copied first.
        """
        flat = self.try_reshape(target, (prod(self.shape(target)),))
        self.index_set(flat, (_positions(self, view),), value)

    # ------------------------------------------------------------------ indexed access

    @abstractmethod
    def index_get(self, x: Handle, keys: Keys) -> Handle:
        """The elements that index arrays select.

        Frontend guarantees: going through the axes of `x` in order, `keys` has a None per axis
        that is kept whole, a non-negative int or an int64 handle per axis that is indexed, and
        one boolean handle per run of axes that a mask of their shape indexes; a mask may also
        have sizes of 0, and then selects nothing. Axes after the last key that is not None may
        go unsaid. There is at least one handle.
        Backend must: broadcast the integer keys and the masks' nonzero positions together, and
        put their axes where the keys stand if those are neighbours, else in front. Raise
        IndexError, changing nothing, if an index is not in [-size, size) or the keys do not
        broadcast. Return memory of its own.
        """

    @abstractmethod
    def index_set(self, target: Handle, keys: Keys, value: Operand) -> None:
        """Write `value` to the elements that `index_get` would read.

        Frontend guarantees: as for `index_get`; `target` may be written; `value` has its dtype
        or is a scalar that it represents.
        Backend must: let the last of several values for one element win, in row-major order; act
        as if keys and value had been copied first. Raise as `index_get` does, and ValueError if
        `value` does not broadcast (as for `assign`) to what is written; changing nothing.
        """

    def take(self, x: Handle, indices: Handle, axis: int) -> Handle:
        """The slices of `x` at `indices` (int64, any shape) along `axis`.

        Backend must: raise IndexError if an index is not in [-size, size).
        """
        return self.index_get(x, (*[None] * axis, indices))


def report_host(backend: Arrays, *handles: Handle) -> None:
    """Report that the host is about to read `handles`, for an operation that the engine lacks."""
    if hints.watched:
        sizes = [prod(backend.shape(x)) * backend.dtype(x).itemsize for x in handles]
        transferred("engine", getattr(backend, "name", "cpu"), "numpy", sum(sizes))


def _diagonals(backend: Arrays, rows: int, columns: int) -> Handle:
    """Which diagonal each element of a matrix is on, int64: 0 for the main one, 1 above it."""
    row = backend.try_reshape(backend.arange(0, rows, 1, d.int64), (rows, 1))
    return backend.binary(p.SUBTRACT, backend.arange(0, columns, 1, d.int64), row)


def _positions(backend: Arrays, view: View) -> Handle:
    """Where in a block the elements are that `view` shows."""
    shape: KnownInts = view.shape
    strides: KnownInts = view.strides
    offset: KnownInts = view.offset
    positions = backend.full(shape, d.int64, offset)
    for axis, (length, stride) in enumerate(zip(shape, strides, strict=True)):
        column = tuple([length if a == axis else 1 for a in range(view.ndim)])
        steps = backend.binary(p.MULTIPLY, backend.arange(0, length, 1, d.int64), stride)
        positions = backend.binary(p.ADD, positions, backend.reshape(steps, column))
    return positions


def open_mesh(backend: Arrays, indices: Handle, axis: int) -> tuple[Handle, ...]:
    """Keys for `index_get` that pair `indices` on `axis` with their own positions elsewhere."""
    shape = backend.shape(indices)
    keys: list[Handle] = []
    for other, size in enumerate(shape):
        if other == axis:
            keys.append(indices)
        else:
            column = tuple([size if a == other else 1 for a in range(len(shape))])
            keys.append(backend.try_reshape(backend.arange(0, size, 1, d.int64), column))
    return tuple(keys)
