"""The second chapter of the backend contract: what primitives make of whole arrays.

What holds throughout is said in interface.py.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from ..core.dtypes import DType
from ..core.view import Selection, View
from ..primitives import table as p
from ..primitives.table import Primitive
from .arguments import Handle, Operand, Padding, Scalar
from .handles import Handles
from .ufuncs import UfuncLoop

__all__ = ["Arrays"]


class Arrays(Handles):
    """Creation, computing element by element and along axes, movement, and memory."""

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

    @abstractmethod
    def linspace(
        self, start: Scalar, stop: Scalar, num: int, dtype: DType, *, endpoint: bool
    ) -> Handle:
        """`num` evenly spaced values from `start` on, the last one `stop` if `endpoint`.

        Backend must: make the last of several values exactly `stop` then.
        """

    @abstractmethod
    def eye(self, rows: int, columns: int, k: int, dtype: DType) -> Handle:
        """Ones on the k-th diagonal, zeros elsewhere."""

    # ------------------------------------------------------------------ element by element

    @abstractmethod
    def unary(self, op: Primitive, x: Handle) -> Handle:
        """`op` of each element.

        Frontend guarantees: `op` is of family "unary".
        Backend must: follow the standard's special cases. `erf` can be had from
        `composed.erf`. Rounding leaves integers as they are; `round` rounds halves to even.
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
        `floor_divide` rounds down, `trunc_divide` towards zero; integer division by zero gives
        some integer and never fails, as do shifts by the width or more. Raise ValueError, changing
        nothing, for an integer to a negative integer power. `composed.trunc_divide` may help.
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

    @abstractmethod
    def apply(self, op: UfuncLoop, *operands: Operand) -> Handle:
        """A ufunc of elements of the operands, after broadcasting.

        Frontend guarantees: the ufunc has one output, or ``op.wanted`` is the number of that which
        is wanted. There are as many operands as ``op.inputs``, and at least one is a handle.
        Handles have the dtypes of ``op.inputs``; a Python scalar stands for an array of its dtype,
        which represents it.
        Backend must: broadcast; raise ValueError if the shapes do not agree. Compute what the
        ufunc computes of NumPy arrays, or its own function of the same meaning.
        """

    @abstractmethod
    def apply_multiple(self, op: UfuncLoop, *operands: Operand) -> tuple[Handle, ...]:
        """A ufunc with several outputs, all of which are wanted, as `apply`.

        Frontend guarantees: ``op.wanted`` is None.
        """

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

    @abstractmethod
    def var(self, x: Handle, axes: tuple[int, ...], keepdims: bool, correction: float) -> Handle:
        """Mean squared distance from the mean over `axes`, with n - `correction` for n.

        Backend must: give NaN if n - `correction` is not positive.
        """

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

    @abstractmethod
    def strided(self, x: Handle, view: View) -> Handle:
        """The elements that `view` shows of the elements of `x`, taken in row-major order.

        Frontend guarantees: `view` has no mask, and lies within a block of the size of `x`.
        The result may share the memory of `x`.
        """

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

    @abstractmethod
    def roll(self, x: Handle, shifts: tuple[int, ...]) -> Handle:
        """A copy whose elements are moved round each axis, towards higher indices.

        Frontend guarantees: one shift per axis, which may be negative or exceed the size.
        """

    @abstractmethod
    def repeat(self, x: Handle, repeats: int | Handle, axis: int) -> Handle:
        """Each element along `axis` repeated, all the same number of times or each its own.

        Frontend guarantees: `repeats` is not negative; a handle is int64, of the axis' length.
        """

    @abstractmethod
    def triangle(self, x: Handle, k: int, *, upper: bool) -> Handle:
        """`x` with zeros below (`upper`) or above the k-th diagonal of its last two axes."""

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

    @abstractmethod
    def assign_strided(self, target: Handle, view: View, value: Operand) -> None:
        """Write `value`, after broadcasting, where `view` shows elements of `target`.

        Frontend guarantees: `target` is row-major and may be written; `view` as for `strided`,
        without repeated elements; `value` as for `assign`, in no more dimensions than `view`.
        Backend must: behave as if `value` had been copied first.
        """
