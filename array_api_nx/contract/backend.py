"""The backend contract.

A backend executes primitives (primitives/table.py) over handles of its own: whatever object
represents an array there. The frontend has checked everything by the time a backend is called, so a
backend never validates; contract/checked.py asserts the frontend's half for any backend in tests.

Throughout, **Frontend guarantees** says what a backend may rely on, **Backend must** what it owes.
For every primitive:

Frontend guarantees: handles come from this backend. Axes are ints counted from the front, in
range and distinct. Shapes are tuples of non-negative ints without -1. dtypes are those of `core`
for which the row of the primitive has a result. Names, flags and modes are legal.

Backend must: return new handles whose shape and dtype are those that the operation and the row
define, and never change an argument unless the primitive says so. The result of a movement
primitive may share its argument's memory; that of any other owns its memory or is only readable.
Errors that depend on elements are raised by the call, or, by a backend that computes later, when
the elements are computed.

Methods marked abstract are irreducible. The others are composed of them here; a backend overrides
what its engine does better. The first chapter, of what stands behind handles, is in handles.py.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from inspect import getmembers, isfunction
from typing import Final

from ..core import dtypes as d
from ..core.dtypes import DType
from ..core.view import Selection, View
from ..explain.model import RunExplanation
from ..primitives import table as p
from ..primitives.table import Primitive
from . import composed, random_numbers, replay
from .arguments import (
    AxisOrder,
    Handle,
    Info,
    Keys,
    Native,
    Norm,
    Operand,
    Overlap,
    Padding,
    Scalar,
)
from .errors import CannotCompileError
from .handles import Handles
from .program import Program
from .random_numbers import Kind
from .ufuncs import UfuncLoop

__all__ = [
    "METHODS",
    "AxisOrder",
    "Backend",
    "Handle",
    "Info",
    "Keys",
    "Native",
    "Norm",
    "Operand",
    "Overlap",
    "Padding",
    "Scalar",
]


class Backend(Handles):
    """Executes primitives on one device. See the module's text for what holds throughout."""

    # ------------------------------------------------------------------ programs

    def prepare(self, program: Program, sizes: tuple[int, ...]) -> replay.Run:
        """Make ready to run a program for given sizes.

        Frontend guarantees: `sizes` are the values of ``program.variables``, and its guards hold.
        Backend must: return a function from the handles of the inputs, in order, to those of the
        outputs, which may be called any number of times; it gives the results that calling the
        steps' methods gives. Write the inputs that the program writes, and nothing else.
        """
        return replay.prepare(self, program, sizes)

    compiler: str | None = None
    """The engine's compiler, by name, where `prepare_compiled` has it make a function of a program
    for given sizes; that pays for sizes that come again and again."""

    compiles_unasked: bool = True
    """Whether engine="auto" is to use `compiler`, too."""

    def prepare_compiled(self, program: Program, sizes: tuple[int, ...]) -> replay.Run:
        """As `prepare`, but that the engine's own compiler makes one function of the steps.

        Backend must: give the results of the steps, to rounding; raise `CannotCompileError` if
        the engine has no compiler, or it cannot compile a step, or has refused the program before;
        set the attribute `is_shared` of what it returns to True if nothing is compiled for it, as
        it is there for other sizes; and `compile_now`, if the compiler runs at the first run, to a
        function that has it run at once, and raises `CannotCompileError` if it refuses the program.
        """
        raise CannotCompileError(
            "this device's engine has no compiler; use engine='auto', which goes step by step"
        )

    def explain_program(self, program: Program, sizes: tuple[int, ...]) -> RunExplanation | None:
        """How `prepare` has a program run at given sizes; None if it is step by step."""
        return None

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
        return composed.linspace(self, start, stop, num, dtype, endpoint)

    def eye(self, rows: int, columns: int, k: int, dtype: DType) -> Handle:
        """Ones on the k-th diagonal, zeros elsewhere."""
        diagonals = composed.diagonals(self, rows, columns)
        return self.cast(self.binary(p.EQUAL, diagonals, k), dtype)

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

    def apply(self, op: UfuncLoop, *operands: Operand) -> Handle:
        """A ufunc of elements of the operands, after broadcasting.

        Frontend guarantees: the ufunc has one output, or ``op.wanted`` is the number of that which
        is wanted. There are as many operands as ``op.inputs``, and at least one is a handle.
        Handles have the dtypes of ``op.inputs``; a Python scalar stands for an array of its dtype,
        which represents it.
        Backend must: broadcast; raise ValueError if the shapes do not agree. Compute what the
        ufunc computes of NumPy arrays, or its own function of the same meaning.
        """
        return composed.apply(self, op, operands)[op.wanted or 0]

    def apply_multiple(self, op: UfuncLoop, *operands: Operand) -> tuple[Handle, ...]:
        """A ufunc with several outputs, all of which are wanted, as `apply`.

        Frontend guarantees: ``op.wanted`` is None.
        """
        return composed.apply(self, op, operands)

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
        return composed.var(self, x, axes, keepdims, correction)

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
        return composed.strided(self, x, view)

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
        return composed.roll(self, x, shifts)

    def repeat(self, x: Handle, repeats: int | Handle, axis: int) -> Handle:
        """Each element along `axis` repeated, all the same number of times or each its own.

        Frontend guarantees: `repeats` is not negative; a handle is int64, of the axis' length.
        """
        return composed.repeat(self, x, repeats, axis)

    def triangle(self, x: Handle, k: int, *, upper: bool) -> Handle:
        """`x` with zeros below (`upper`) or above the k-th diagonal of its last two axes."""
        rows, columns = self.shape(x)[-2:]
        diagonals = composed.diagonals(self, rows, columns)
        keep = self.binary(p.GREATER_EQUAL if upper else p.LESS_EQUAL, diagonals, k)
        zero = False if self.dtype(x) is d.bool else 0
        return self.where(self.expand(keep, self.shape(x)), x, zero)

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
        composed.assign_strided(self, target, view, value)

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

    def gather(self, x: Handle, indices: Handle, axis: int) -> Handle:
        """Per position, the element of `x` with its own index on `axis`.

        Frontend guarantees: `indices` is int64 and has the shape of `x` but for `axis`.
        Backend must: raise IndexError if an index is not in [-size, size).
        """
        return self.index_get(x, composed.open_mesh(self, indices, axis))

    @abstractmethod
    def scatter(
        self, template: Handle, indices: Handle, updates: Handle, axis: int, *, add: bool
    ) -> Handle:
        """A copy of `template` with `updates` put in, or added, at `indices` along `axis`.

        Frontend guarantees: `indices` (int64, from 0 to size - 1) and `updates` have the shape
        of `template` but for `axis`.
        Backend must: let the last of several updates of one element win, or add them all.
        """

    @abstractmethod
    def nonzero(self, x: Handle) -> tuple[Handle, ...]:
        """Per axis, the int64 indices of the nonzero elements in row-major order.

        Frontend guarantees: at least one axis.
        """

    def isin(self, x: Handle, members: Handle, *, invert: bool) -> Handle:
        """Whether each element of `x` equals some element of `members`; none of them if `invert`.

        Frontend guarantees: both have the same dtype.
        Backend must: take no NaN for equal to another, and zeros of either sign for equal.
        """
        return composed.isin(self, x, members, invert)

    @abstractmethod
    def unique(self, x: Handle) -> tuple[Handle, Handle, Handle, Handle]:
        """Sorted distinct values, index of the first of each, inverse, and counts.

        Backend must: count every NaN as distinct; give the inverse the shape of `x`.
        """

    def unique_counts(self, x: Handle) -> tuple[Handle, Handle]:
        """The values and the counts of `unique`."""
        values, _, _, counts = self.unique(x)
        return values, counts

    def unique_inverse(self, x: Handle) -> tuple[Handle, Handle]:
        """The values and the inverse of `unique`."""
        values, _, inverse, _ = self.unique(x)
        return values, inverse

    def unique_values(self, x: Handle) -> Handle:
        """The first result of `unique` alone."""
        return self.unique(x)[0]

    def bincount(self, x: Handle, weights: Handle | None, length: int, *, extend: bool) -> Handle:
        """How often the 1-D `x` holds 0, 1, 2, ..., as int64; or sums of numeric `weights`.

        Frontend guarantees: `weights` has the shape of `x`; elements are from 0 to ``length - 1``,
        unless `extend`, which asks for at least `length` results, up to the greatest element.
        Backend must: give sums the dtype of `weights`; with `extend`, raise ValueError for
        negative elements.
        """
        return composed.bincount(self, x, weights, length, extend)

    # ------------------------------------------------------------------ random bits

    def threefry(self, key: Handle, counter: Handle) -> Handle:
        """The Threefry-2x32 hash, with 20 rounds, of pairs of counters.

        Frontend guarantees: both uint32; `key` has shape (2,), `counter` (..., 2).
        Backend must: return the same bits as every other backend.
        """
        return composed.threefry(self, key, counter)

    def draw(
        self,
        kind: Kind,
        key: tuple[int, int],
        base: int,
        first: int,
        count: int,
        dtype: DType,
        low: int = 0,
        span: int = 0,
        parameters: tuple[Handle | float, ...] = (),
    ) -> Handle:
        """Numbers `first` to ``first + count - 1`` of a draw whose counters begin at `base`, 1-D.

        `kind` is "bits" (all of uint32), "uniform" (from 0 up to 1), "normal" (mean 0, deviation
        1), "exponential" (mean 1), "integers" (`low` up to ``low + span - 1``), or a distribution
        with `parameters`: "gamma" (shape), "beta" (a, b), "poisson" (mean) or "binomial" (trials,
        probability). A parameter is a float, or an array of one for each number that is wanted.
        Frontend guarantees: the words of `key` have 32 bits; a dtype of `random_numbers.DRAWN`;
        counters stay below 2**63; of "integers", `span` is from 1 to 2**64 and all values are
        within the dtype, of other kinds both bounds are 0; there are as many parameters as
        `random_numbers.PARAMETERS` says, arrays of which are float64 and of shape (count,).
        Backend must: return the same bits as every other backend, in memory of their own; for
        parameters that no distribution has, NaN, or -1 among integers.
        """
        return random_numbers.draw(
            self, kind, key, base, first, count, dtype, low, span, parameters
        )

    def draw_from(
        self,
        kind: Kind,
        key: Handle,
        counter: Handle,
        offset: int,
        count: int,
        dtype: DType,
        low: int = 0,
        span: int = 0,
        parameters: tuple[Handle | float, ...] = (),
    ) -> Handle:
        """The first numbers of a draw whose counters begin at ``counter + offset``, 1-D.

        Frontend guarantees: `key` and `counter` are int64, of shape (); the lower 32 bits of `key`
        are the first word, the others the second one. The rest as for `draw`.
        Backend must: return the same bits as `draw`, in memory of their own.
        """
        return random_numbers.draw_from(
            self, kind, key, counter, offset, count, dtype, low, span, parameters
        )

    # ------------------------------------------------------------------ windows

    def unfold(
        self,
        x: Handle,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        dilation: tuple[int, ...],
        padding: Padding,
    ) -> Handle:
        """Sliding windows over the last K axes of the zero-padded `x`.

        Shape (leading..., spatial...) becomes (leading..., prod(kernel_size), windows).
        Frontend guarantees: all parameters have length K, sizes, strides and dilations are
        positive, and at least one window fits.
        """
        return composed.unfold(self, x, kernel_size, stride, dilation, padding)

    def fold(
        self,
        x: Handle,
        output_size: tuple[int, ...],
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        dilation: tuple[int, ...],
        padding: Padding,
    ) -> Handle:
        """The inverse of `unfold`: windows put back, overlapping elements summed.

        Frontend guarantees: the parameters are those of an `unfold` of (leading..., output_size...)
        that gives the shape of `x`.
        """
        return composed.fold(self, x, output_size, kernel_size, stride, dilation, padding)

    # ------------------------------------------------------------------ matrices

    @abstractmethod
    def matmul(self, x1: Handle, x2: Handle) -> Handle:
        """Matrix product of the last two axes; the others broadcast.

        Frontend guarantees: same dtype; at least one axis each; a 1-D operand is a row (left) or
        a column (right) whose axis the result lacks; the contracted sizes agree.
        Backend must: raise ValueError if the other axes do not broadcast.
        """

    def vecdot(self, x1: Handle, x2: Handle) -> Handle:
        """Sum over the last axis of conj(x1) * x2.

        Frontend guarantees: same dtype; the last axes have the same size.
        Backend must: raise ValueError if the other axes do not broadcast.
        """
        product = self.binary(p.MULTIPLY, self.unary(p.CONJ, x1), x2)
        return self.reduce(p.SUM, product, (len(self.shape(product)) - 1,), False)

    def convolve(self, x1: Handle, x2: Handle, mode: Overlap) -> Handle:
        """Sums of products with the 1-D `x2`, reversed, as it moves along the 1-D `x1`.

        Frontend guarantees: same dtype; `x1` is no shorter than `x2`, which is not empty. `mode`
        says where `x2` stands: "full", wherever it meets `x1`; "valid", where it lies within
        `x1`; "same", as many places as `x1` is long, the middle ones of "full".
        """
        return composed.convolve(self, x1, x2, mode)

    # ------------------------------------------------------------------ Fourier transforms
    #
    # Frontend guarantees: at least one axis, none empty. `norm` is "backward" (the inverse
    # divides by n), "ortho" (both divide by sqrt(n)) or "forward" (the forward one divides by n).

    @abstractmethod
    def fft(self, x: Handle, axes: tuple[int, ...], norm: Norm) -> Handle:
        """Discrete Fourier transform of `x`, real or complex, over `axes`."""

    @abstractmethod
    def ifft(self, x: Handle, axes: tuple[int, ...], norm: Norm) -> Handle:
        """Inverse of `fft`."""

    @abstractmethod
    def rfft(self, x: Handle, axes: tuple[int, ...], norm: Norm) -> Handle:
        """`fft` of real `x`, without the redundant half of the last of `axes`."""

    @abstractmethod
    def irfft(self, x: Handle, axes: tuple[int, ...], last_size: int, norm: Norm) -> Handle:
        """Inverse of `rfft`; `last_size` is the result's size on the last of `axes`.

        Frontend guarantees: the last of `axes` has size last_size // 2 + 1.
        """

    # ------------------------------------------------------------------ linear algebra
    #
    # Frontend guarantees: at least two axes; the last two are the matrix, square where the name
    # needs it; sizes agree. Backend must: raise numpy.linalg.LinAlgError where the decomposition
    # does not exist or does not converge.

    @abstractmethod
    def cholesky(self, x: Handle, *, upper: bool) -> Handle:
        """L with x = L @ L^H, or U with x = U^H @ U; zeros in the other triangle."""

    @abstractmethod
    def qr(self, x: Handle, *, complete: bool) -> tuple[Handle, Handle]:
        """Q with orthonormal columns and upper triangular R, x = Q @ R; reduced or complete."""

    @abstractmethod
    def svd(self, x: Handle, *, full_matrices: bool) -> tuple[Handle, Handle, Handle]:
        """U, S, V^H with x = U @ diag(S) @ V^H, S real and descending."""

    def svdvals(self, x: Handle) -> Handle:
        """S of `svd`."""
        return self.svd(x, full_matrices=False)[1]

    @abstractmethod
    def eig(self, x: Handle) -> tuple[Handle, Handle]:
        """Complex eigenvalues and right eigenvectors."""

    def eigvals(self, x: Handle) -> Handle:
        """The eigenvalues of `eig`."""
        return self.eig(x)[0]

    @abstractmethod
    def eigh(self, x: Handle) -> tuple[Handle, Handle]:
        """Real, ascending eigenvalues and eigenvectors of a Hermitian matrix."""

    def eigvalsh(self, x: Handle) -> Handle:
        """The eigenvalues of `eigh`."""
        return self.eigh(x)[0]

    @abstractmethod
    def solve(self, x1: Handle, x2: Handle) -> Handle:
        """X with x1 @ X = x2.

        Frontend guarantees: same dtype; x2 has at least two axes.
        Backend must: broadcast the other axes; raise ValueError if they do not agree.
        """

    def inv(self, x: Handle) -> Handle:
        """The inverse matrix."""
        n = self.shape(x)[-1]
        identity = self.eye(n, n, 0, self.dtype(x))
        return self.solve(x, self.expand(identity, self.shape(x)))

    @abstractmethod
    def slogdet(self, x: Handle) -> tuple[Handle, Handle]:
        """Sign (or phase) of the determinant, and the logarithm of its absolute value."""

    def det(self, x: Handle) -> Handle:
        """The determinant."""
        sign, logarithm = self.slogdet(x)
        size = self.unary(p.EXP, logarithm)
        dtype = self.dtype(x)
        return self.binary(
            p.MULTIPLY, sign, size if self.dtype(size) is dtype else self.cast(size, dtype)
        )

    def triangular_solve(
        self, x1: Handle, x2: Handle, *, upper: bool, transpose: bool, unit_diagonal: bool
    ) -> Handle:
        """X with T @ X = x2 or T^T @ X = x2, where T is one triangle of `x1`.

        Frontend guarantees: as for `solve`.
        Backend must: never read the other triangle, nor the diagonal if it is taken for ones.
        """
        return composed.triangular_solve(self, x1, x2, upper, transpose, unit_diagonal)


METHODS: Final = tuple([name for name, _ in getmembers(Backend, isfunction)])
"""The names of all methods of the contract, abstract or not."""
