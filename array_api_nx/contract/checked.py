"""A backend that asserts the contract around any other backend.

For tests: it checks what the frontend guarantees before a primitive runs, and afterwards what is
cheap to check of the backend's duties: shapes, dtypes, row-major layout and memory of its own.
Handles pass through unchanged, so arrays made with and without it work together.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, prod

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import SCALAR_PROMOTION, DType
from ..core.shape import reduced_shape
from ..core.symbolic import KnownInts
from ..core.view import Selection, View
from ..explain.explanation import Explanation
from ..explain.model import RunExplanation
from ..primitives import table as p
from ..primitives.table import Primitive
from .backend import AxisOrder, Backend, Handle, Info, Keys, Native, Operand, Padding, Scalar
from .checked_matrices import CheckedMatrices
from .checks import CheckedCall, ContractError, Shape, broadcasts_to, fits, selected_shape
from .numpy_dtypes import NDArray, has_other_bools, is_aligned
from .program import Program
from .replay import Run
from .ufuncs import UfuncLoop

__all__ = ["CheckedBackend", "ContractError"]


class CheckedBackend(CheckedMatrices):
    """Runs every primitive on `inner` and asserts the contract on the way in and out.

    Parameters
    ----------
    inner : Backend

    Raises
    ------
    ContractError
        From any primitive whose contract is broken, naming the primitive, the broken promise and
        the arguments.
    """

    def __init__(self, inner: Backend) -> None:
        self.inner = inner
        self.shares_host = inner.shares_host
        self.takes_any_bool = inner.takes_any_bool
        self.word = inner.word
        self.strided_shares = inner.strided_shares
        self.immutable = inner.immutable
        self.compiler = inner.compiler
        self.compiles_unasked = inner.compiles_unasked

    # ------------------------------------------------------------------ properties

    def shape(self, x: Handle) -> Shape:
        CheckedCall(self.inner, "shape", x=x).handles(x)
        return self.inner.shape(x)

    def sizes(self, x: Handle) -> tuple[int | None, ...]:
        CheckedCall(self.inner, "sizes", x=x).handles(x)
        return self.inner.sizes(x)

    def dtype(self, x: Handle) -> DType:
        CheckedCall(self.inner, "dtype", x=x).handles(x)
        return self.inner.dtype(x)

    def read_only_reason(self, x: Handle) -> str | None:
        CheckedCall(self.inner, "read_only_reason", x=x).handles(x)
        return self.inner.read_only_reason(x)

    def to_host(self, x: Handle) -> NDArray:
        call = CheckedCall(self.inner, "to_host", x=x)
        call.handles(x)
        result = self.inner.to_host(x)
        call.owes(type(result) is np.ndarray, "return a NumPy array")
        call.owes(result.shape == self.inner.shape(x), "keep the shape")
        call.owes(result.dtype.name == self.inner.dtype(x).name, "keep the dtype")
        call.owes(result.dtype.isnative, "return native byte order")
        return result

    def native(self, x: Handle) -> Native:
        call = CheckedCall(self.inner, "native", x=x)
        call.handles(x)
        result = self.inner.native(x)
        call.owes(tuple(result.shape) == self.inner.shape(x), "keep the shape")
        return result

    def from_native(self, array: Native) -> Handle:
        call = CheckedCall(self.inner, "from_native")
        result = self.inner.from_native(array)
        dtype = self.inner.dtype(result)
        return call.returns(result, tuple(array.shape), dtype, own=False)

    def available_dtypes(self) -> tuple[DType, ...]:
        return self.inner.available_dtypes()

    def item(self, x: Handle) -> Scalar:
        call = CheckedCall(self.inner, "item", x=x)
        call.handles(x)
        result = self.inner.item(x)
        call.owes(prod(self.inner.shape(x)) == 1, "raise ValueError unless there is one element")
        dtype = self.inner.dtype(x)
        kind = next(
            kind for kind in (complex, float, int, bool) if SCALAR_PROMOTION[dtype, kind] is dtype
        )
        call.owes(type(result) is kind, f"return a Python {kind.__name__}")
        return result

    def has_elements(self, x: Handle) -> bool:
        CheckedCall(self.inner, "has_elements", x=x).handles(x)
        return self.inner.has_elements(x)

    def axis_order(self, x: Handle) -> AxisOrder | None:
        call = CheckedCall(self.inner, "axis_order", x=x)
        call.handles(x)
        order = self.inner.axis_order(x)
        axes = list(range(len(self.inner.shape(x))))
        call.owes(
            order is None or order.axes is None or sorted(order.axes) == axes,
            "return a permutation of the axes, or None",
        )
        return order

    def may_overlap(self, x1: Handle, x2: Handle) -> bool:
        CheckedCall(self.inner, "may_overlap", x1=x1, x2=x2).handles(x1, x2)
        return self.inner.may_overlap(x1, x2)

    def prepare(self, program: Program, sizes: tuple[int, ...]) -> Run:
        self._check_program("prepare", program, sizes)
        # Step by step, so that each of them is checked.
        return super().prepare(program, sizes)

    def prepare_compiled(self, program: Program, sizes: tuple[int, ...]) -> Run:
        self._check_program("prepare_compiled", program, sizes)
        self.inner.prepare_compiled(program, sizes)  # says so if it cannot
        return super().prepare(program, sizes)

    def _check_program(self, method: str, program: Program, sizes: tuple[int, ...]) -> None:
        call = CheckedCall(self.inner, method, program=program, sizes=sizes)
        call.guarantees(len(sizes) == len(program.variables), "a size for each variable")
        fitting = zip(sizes, program.variables, strict=True)
        call.guarantees(all([v.min <= n <= v.max for n, v in fitting]), "sizes within bounds")

    def explain_program(self, program: Program, sizes: tuple[int, ...]) -> RunExplanation | None:
        call = CheckedCall(self.inner, "explain_program", program=program, sizes=sizes)
        call.guarantees(len(sizes) == len(program.variables), "a size for each variable")
        return self.inner.explain_program(program, sizes)

    def worth_deferring(self, size: int) -> bool:
        return self.inner.worth_deferring(size)

    def evaluate(self, *handles: Handle) -> None:
        CheckedCall(self.inner, "evaluate", handles=handles).handles(*handles)
        self.inner.evaluate(*handles)

    def explain(self, *handles: Handle) -> Explanation:
        CheckedCall(self.inner, "explain", handles=handles).handles(*handles)
        return self.inner.explain(*handles)

    def dlpack_device(self) -> tuple[int, int]:
        return self.inner.dlpack_device()

    def runtime_info(self) -> Info:
        return self.inner.runtime_info()

    def release_memory(self) -> None:
        self.inner.release_memory()

    # ------------------------------------------------------------------ creation

    def empty(self, shape: Shape, dtype: DType) -> Handle:
        call = CheckedCall(self.inner, "empty", shape=shape, dtype=dtype)
        call.is_shape(shape)
        call.result_dtype(p.EMPTY, dtype)
        return call.returns(self.inner.empty(shape, dtype), shape, dtype, rows=True)

    def full(self, shape: Shape, dtype: DType, value: Scalar) -> Handle:
        call = CheckedCall(self.inner, "full", shape=shape, dtype=dtype, value=value)
        call.is_shape(shape)
        call.result_dtype(p.FULL, dtype)
        call.scalar(value, dtype)
        return call.returns(self.inner.full(shape, dtype, value), shape, dtype, rows=True)

    def from_host(self, array: NDArray, *, copy: bool, lent: bool = True) -> Handle:
        call = CheckedCall(self.inner, "from_host", array=array, copy=copy)
        call.guarantees(isinstance(array, np.ndarray), "a NumPy array")
        dtypes = {dtype.name: dtype for dtype in p.FROM_HOST.results}
        call.guarantees(array.dtype.name in dtypes, "a dtype with a counterpart in the table")
        call.guarantees(array.dtype.isnative, "native byte order")
        aligned = is_aligned(array, self.word)
        call.guarantees(aligned, "aligned elements and strides of whole elements")
        plain = self.takes_any_bool or not has_other_bools(array)
        call.guarantees(plain, "bools that are 0 or 1 in memory")
        call.flags(copy)
        result = self.inner.from_host(array, copy=copy, lent=lent)
        return call.returns(result, array.shape, dtypes[array.dtype.name], own=copy)

    def arange(
        self, start: int | float, stop: int | float, step: int | float, dtype: DType
    ) -> Handle:
        call = CheckedCall(self.inner, "arange", start=start, stop=stop, step=step, dtype=dtype)
        call.result_dtype(p.ARANGE, dtype)
        call.guarantees(step != 0, "a step that is not zero")
        length = max(0, ceil((stop - start) / step))
        if length:
            call.scalar(start, dtype)
            call.scalar(start + (length - 1) * step, dtype)
        return call.returns(self.inner.arange(start, stop, step, dtype), (length,), dtype)

    def linspace(
        self, start: Scalar, stop: Scalar, num: int, dtype: DType, *, endpoint: bool
    ) -> Handle:
        call = CheckedCall(
            self.inner, "linspace", start=start, stop=stop, num=num, dtype=dtype, endpoint=endpoint
        )
        call.result_dtype(p.LINSPACE, dtype)
        call.scalar(start, dtype)
        call.scalar(stop, dtype)
        call.is_shape((num,))
        call.flags(endpoint)
        result = self.inner.linspace(start, stop, num, dtype, endpoint=endpoint)
        return call.returns(result, (num,), dtype)

    def eye(self, rows: int, columns: int, k: int, dtype: DType) -> Handle:
        call = CheckedCall(self.inner, "eye", rows=rows, columns=columns, k=k, dtype=dtype)
        call.is_shape((rows, columns))
        call.guarantees(type(k) is int, "k is an int")
        call.result_dtype(p.EYE, dtype)
        return call.returns(self.inner.eye(rows, columns, k, dtype), (rows, columns), dtype)

    # ------------------------------------------------------------------ element by element

    def unary(self, op: Primitive, x: Handle) -> Handle:
        call = CheckedCall(self.inner, op.name, x=x)
        call.guarantees(op.family == "unary", "a primitive of family unary")
        call.handles(x)
        dtype = call.result_dtype(op, self.inner.dtype(x))
        return call.returns(self.inner.unary(op, x), self.inner.shape(x), dtype)

    def binary(self, op: Primitive, x1: Operand, x2: Operand, out: Handle | None = None) -> Handle:
        call = CheckedCall(self.inner, op.name, x1=x1, x2=x2, out=out)
        call.guarantees(op.family == "binary", "a primitive of family binary")
        operand_dtype, shapes = call.operands(x1, x2)
        dtype = call.result_dtype(op, operand_dtype)
        if out is not None:
            call.writable(out)
            call.guarantees(self.inner.dtype(out) is dtype, "`out` has the result's dtype")
            shape = call.broadcast(*shapes)
            call.guarantees(self.inner.shape(out) == shape, "`out` has the result's shape")
        result = self.inner.binary(op, x1, x2, out)
        shape = call.broadcast(*shapes)
        call.owes(out is None or result is out, "return `out`")
        return call.returns(result, shape, dtype, own=out is None)

    def where(self, condition: Handle, x1: Operand, x2: Operand) -> Handle:
        call = CheckedCall(self.inner, "where", condition=condition, x1=x1, x2=x2)
        call.handles(condition)
        call.guarantees(self.inner.dtype(condition) is d.bool, "a boolean condition")
        dtype, shapes = call.operands(x1, x2)
        result = self.inner.where(condition, x1, x2)
        shape = call.broadcast(self.inner.shape(condition), *shapes)
        return call.returns(result, shape, dtype)

    def apply(self, op: UfuncLoop, *operands: Operand) -> Handle:
        call = CheckedCall(self.inner, op.name, operands=operands)
        one = len(op.outputs) == 1 or op.wanted is not None
        call.guarantees(one, "one output, or the number of that which is wanted")
        shapes = call.ufunc_operands(op, operands)
        result = self.inner.apply(op, *operands)
        return call.returns(result, call.broadcast(*shapes), op.output)

    def apply_multiple(self, op: UfuncLoop, *operands: Operand) -> tuple[Handle, ...]:
        call = CheckedCall(self.inner, op.name, operands=operands)
        call.guarantees(op.wanted is None, "all outputs are wanted")
        shapes = call.ufunc_operands(op, operands)
        results = self.inner.apply_multiple(op, *operands)
        call.owes(len(results) == len(op.outputs), "return a handle for each output")
        shape = call.broadcast(*shapes)
        return tuple(
            [call.returns(x, shape, dtype) for x, dtype in zip(results, op.outputs, strict=True)]
        )

    def clip(self, x: Handle, low: Operand | None, high: Operand | None) -> Handle:
        call = CheckedCall(self.inner, "clip", x=x, low=low, high=high)
        call.handles(x)
        limits = [limit for limit in (low, high) if limit is not None]
        call.guarantees(len(limits) > 0, "at least one limit")
        dtype, shapes = call.operands(x, *limits)
        call.result_dtype(p.CLIP, dtype)
        call.guarantees(call.broadcast(*shapes) == shapes[0], "limits broadcast to `x`")
        return call.returns(self.inner.clip(x, low, high), shapes[0], dtype)

    # ------------------------------------------------------------------ reductions and scans

    def reduce(
        self,
        op: Primitive,
        x: Handle,
        axes: Shape,
        keepdims: bool,
        dtype: DType | None = None,
    ) -> Handle:
        call = CheckedCall(self.inner, op.name, x=x, axes=axes, keepdims=keepdims, dtype=dtype)
        call.guarantees(op.family == "reduce", "a primitive of family reduce")
        call.handles(x)
        call.axes(axes, x)
        call.flags(keepdims)
        call.guarantees(dtype is None or op in (p.SUM, p.PROD), "a dtype for sum and prod only")
        result_dtype = call.result_dtype(op, dtype or self.inner.dtype(x))
        shape = self.inner.shape(x)
        if op in (p.MAX, p.MIN):
            call.guarantees(0 not in [shape[axis] for axis in axes], "no empty axis")
        result = self.inner.reduce(op, x, axes, keepdims, dtype)
        return call.returns(result, reduced_shape(shape, axes, keepdims), result_dtype)

    def arg_reduce(self, op: Primitive, x: Handle, axis: int, keepdims: bool) -> Handle:
        call = CheckedCall(self.inner, op.name, x=x, axis=axis, keepdims=keepdims)
        call.guarantees(op.family == "arg_reduce", "a primitive of family arg_reduce")
        call.handles(x)
        call.axis(axis, x)
        call.flags(keepdims)
        dtype = call.result_dtype(op, self.inner.dtype(x))
        shape = self.inner.shape(x)
        call.guarantees(shape[axis] > 0, "no empty axis")
        result = self.inner.arg_reduce(op, x, axis, keepdims)
        return call.returns(result, reduced_shape(shape, (axis,), keepdims), dtype)

    def scan(self, op: Primitive, x: Handle, axis: int, dtype: DType | None = None) -> Handle:
        call = CheckedCall(self.inner, op.name, x=x, axis=axis, dtype=dtype)
        call.guarantees(op.family == "scan", "a primitive of family scan")
        call.handles(x)
        call.axis(axis, x)
        sums = (p.CUMULATIVE_SUM, p.CUMULATIVE_PROD)
        call.guarantees(dtype is None or op in sums, "a dtype for sums and products only")
        result_dtype = call.result_dtype(op, dtype or self.inner.dtype(x))
        result = self.inner.scan(op, x, axis, dtype)
        return call.returns(result, self.inner.shape(x), result_dtype)

    def var(self, x: Handle, axes: Shape, keepdims: bool, correction: float) -> Handle:
        call = CheckedCall(
            self.inner, "var", x=x, axes=axes, keepdims=keepdims, correction=correction
        )
        call.handles(x)
        call.axes(axes, x)
        call.flags(keepdims)
        call.guarantees(isinstance(correction, int | float), "a correction that is a real number")
        dtype = call.result_dtype(p.VAR, self.inner.dtype(x))
        result = self.inner.var(x, axes, keepdims, correction)
        return call.returns(result, reduced_shape(self.inner.shape(x), axes, keepdims), dtype)

    # ------------------------------------------------------------------ sorting and searching

    def sort(self, x: Handle, axis: int, *, descending: bool, stable: bool) -> Handle:
        call = CheckedCall(self.inner, "sort", x=x, axis=axis, descending=descending, stable=stable)
        call.handles(x)
        call.axis(axis, x)
        call.flags(descending, stable)
        dtype = call.result_dtype(p.SORT, self.inner.dtype(x))
        result = self.inner.sort(x, axis, descending=descending, stable=stable)
        return call.returns(result, self.inner.shape(x), dtype)

    def argsort(self, x: Handle, axis: int, *, descending: bool, stable: bool) -> Handle:
        call = CheckedCall(
            self.inner, "argsort", x=x, axis=axis, descending=descending, stable=stable
        )
        call.handles(x)
        call.axis(axis, x)
        call.flags(descending, stable)
        dtype = call.result_dtype(p.ARGSORT, self.inner.dtype(x))
        result = self.inner.argsort(x, axis, descending=descending, stable=stable)
        return call.returns(result, self.inner.shape(x), dtype)

    def partition(self, x: Handle, kth: Shape, axis: int) -> Handle:
        call = self._partitioning("partition", x, kth, axis)
        dtype = call.result_dtype(p.PARTITION, self.inner.dtype(x))
        return call.returns(self.inner.partition(x, kth, axis), self.inner.shape(x), dtype)

    def argpartition(self, x: Handle, kth: Shape, axis: int) -> Handle:
        call = self._partitioning("argpartition", x, kth, axis)
        dtype = call.result_dtype(p.ARGPARTITION, self.inner.dtype(x))
        return call.returns(self.inner.argpartition(x, kth, axis), self.inner.shape(x), dtype)

    def _partitioning(self, primitive: str, x: Handle, kth: Shape, axis: int) -> CheckedCall:
        call = CheckedCall(self.inner, primitive, x=x, kth=kth, axis=axis)
        call.handles(x)
        call.axis(axis, x)
        call.is_shape(kth)
        call.guarantees(
            len(kth) > 0
            and kth[-1] < self.inner.shape(x)[axis]
            and all([first < second for first, second in pairwise(kth)]),
            "positions in `kth` that ascend and lie in range",
        )
        return call

    def searchsorted(self, x: Handle, values: Handle, *, right: bool) -> Handle:
        call = CheckedCall(self.inner, "searchsorted", x=x, values=values, right=right)
        call.handles(x, values)
        call.same_dtype(x, values)
        call.guarantees(len(self.inner.shape(x)) == 1, "a 1-D `x`")
        call.flags(right)
        dtype = call.result_dtype(p.SEARCHSORTED, self.inner.dtype(x))
        result = self.inner.searchsorted(x, values, right=right)
        return call.returns(result, self.inner.shape(values), dtype)

    # ------------------------------------------------------------------ movement

    def expand(self, x: Handle, shape: Shape) -> Handle:
        call = CheckedCall(self.inner, "expand", x=x, shape=shape)
        call.handles(x)
        call.is_shape(shape)
        call.guarantees(
            broadcasts_to(self.inner.shape(x), shape), "the shape of `x` broadcasts to `shape`"
        )
        return call.returns(self.inner.expand(x, shape), shape, self.inner.dtype(x), own=False)

    def try_reshape(self, x: Handle, shape: Shape) -> Handle | None:
        call = self._reshaping("try_reshape", x, shape)
        result = self.inner.try_reshape(x, shape)
        if result is None:
            return None
        return call.returns(result, shape, self.inner.dtype(x), own=False)

    def reshape(self, x: Handle, shape: Shape) -> Handle:
        call = self._reshaping("reshape", x, shape)
        return call.returns(self.inner.reshape(x, shape), shape, self.inner.dtype(x), own=False)

    def _reshaping(self, primitive: str, x: Handle, shape: Shape) -> CheckedCall:
        call = CheckedCall(self.inner, primitive, x=x, shape=shape)
        call.handles(x)
        call.is_shape(shape)
        call.guarantees(prod(self.inner.shape(x)) == prod(shape), "sizes with the same product")
        return call

    def permute(self, x: Handle, axes: Shape) -> Handle:
        call = CheckedCall(self.inner, "permute", x=x, axes=axes)
        call.handles(x)
        call.axes(axes, x)
        shape = self.inner.shape(x)
        call.guarantees(len(axes) == len(shape), "a permutation of all axes")
        result = self.inner.permute(x, axes)
        moved = tuple([shape[axis] for axis in axes])
        return call.returns(result, moved, self.inner.dtype(x), own=False)

    def slice(self, x: Handle, selection: Selection) -> Handle:
        call = CheckedCall(self.inner, "slice", x=x, selection=selection)
        call.handles(x)
        call.guarantees(
            isinstance(selection, tuple)
            and all(item is None or type(item) in (int, tuple) for item in selection),
            "`selection` is a tuple of ints, triples and None",
        )
        shape = selected_shape(self.inner.shape(x), selection)
        if shape is None:
            call.guarantees(False, "`selection` names every axis and lies within the shape")
            raise AssertionError("unreachable")
        result = self.inner.slice(x, selection)
        return call.returns(result, shape, self.inner.dtype(x), own=False)

    def strided(self, x: Handle, view: View) -> Handle:
        call = CheckedCall(self.inner, "strided", x=x, view=view)
        call.handles(x)
        call.guarantees(view.is_materializable, "an unmasked view of concrete sizes")
        low, high = view.extent
        call.guarantees(low >= 0 and high <= prod(self.inner.shape(x)), "a view inside the block")
        shape: KnownInts = view.shape
        return call.returns(self.inner.strided(x, view), shape, self.inner.dtype(x), own=False)

    def shrink(self, x: Handle, bounds: tuple[tuple[int, int], ...]) -> Handle:
        call = CheckedCall(self.inner, "shrink", x=x, bounds=bounds)
        call.handles(x)
        shape = self.inner.shape(x)
        call.guarantees(
            type(bounds) is tuple
            and len(bounds) == len(shape)
            and all(0 <= start <= end <= n for (start, end), n in zip(bounds, shape, strict=True)),
            "0 <= start <= end <= size for every axis",
        )
        result = self.inner.shrink(x, bounds)
        shrunk = tuple([end - start for start, end in bounds])
        return call.returns(result, shrunk, self.inner.dtype(x), own=False)

    def flip(self, x: Handle, axes: tuple[bool, ...]) -> Handle:
        call = CheckedCall(self.inner, "flip", x=x, axes=axes)
        call.handles(x)
        shape = self.inner.shape(x)
        call.guarantees(type(axes) is tuple and len(axes) == len(shape), "a mark for every axis")
        call.flags(*axes)
        return call.returns(self.inner.flip(x, axes), shape, self.inner.dtype(x), own=False)

    def pad(self, x: Handle, padding: Padding, value: Scalar) -> Handle:
        call = CheckedCall(self.inner, "pad", x=x, padding=padding, value=value)
        call.handles(x)
        shape, dtype = self.inner.shape(x), self.inner.dtype(x)
        call.guarantees(
            type(padding) is tuple
            and len(padding) == len(shape)
            and all(before >= 0 <= after for before, after in padding),
            "non-negative (before, after) for every axis",
        )
        call.scalar(value, dtype)
        padded = tuple(
            [before + n + after for (before, after), n in zip(padding, shape, strict=True)]
        )
        return call.returns(self.inner.pad(x, padding, value), padded, dtype)

    def cat(self, arrays: Sequence[Handle], axis: int) -> Handle:
        call = CheckedCall(self.inner, "cat", arrays=arrays, axis=axis)
        call.guarantees(len(arrays) > 0, "at least one array")
        call.handles(*arrays)
        call.same_dtype(*arrays)
        call.axis(axis, arrays[0])
        result = self.inner.cat(arrays, axis)
        shapes = [self.inner.shape(x) for x in arrays]
        before, after = shapes[0][:axis], shapes[0][axis + 1 :]
        call.owes(
            all((shape[:axis], shape[axis + 1 :]) == (before, after) for shape in shapes),
            "raise ValueError if shapes differ but for `axis`",
        )
        joined = (*before, sum([shape[axis] for shape in shapes]), *after)
        return call.returns(result, joined, self.inner.dtype(arrays[0]))

    def roll(self, x: Handle, shifts: tuple[int, ...]) -> Handle:
        call = CheckedCall(self.inner, "roll", x=x, shifts=shifts)
        call.handles(x)
        shape = self.inner.shape(x)
        call.guarantees(len(shifts) == len(shape), "one shift per axis")
        return call.returns(self.inner.roll(x, shifts), shape, self.inner.dtype(x))

    def repeat(self, x: Handle, repeats: int | Handle, axis: int) -> Handle:
        call = CheckedCall(self.inner, "repeat", x=x, repeats=repeats, axis=axis)
        call.handles(x)
        call.axis(axis, x)
        shape = self.inner.shape(x)
        if isinstance(repeats, int):
            call.guarantees(repeats >= 0, "repeats are not negative")
            total = shape[axis] * repeats
        else:
            call.handles(repeats)
            call.guarantees(self.inner.dtype(repeats) is d.int64, "int64 repeats")
            call.guarantees(self.inner.shape(repeats) == (shape[axis],), "repeats per element")
            counts = self.inner.to_host(repeats)
            call.guarantees(bool((counts >= 0).all()), "repeats are not negative")
            total = int(counts.sum())
        result = self.inner.repeat(x, repeats, axis)
        repeated = (*shape[:axis], total, *shape[axis + 1 :])
        return call.returns(result, repeated, self.inner.dtype(x))

    def triangle(self, x: Handle, k: int, *, upper: bool) -> Handle:
        call = CheckedCall(self.inner, "triangle", x=x, k=k, upper=upper)
        call.matrix(x, square=False)
        call.guarantees(type(k) is int, "k is an int")
        call.flags(upper)
        result = self.inner.triangle(x, k, upper=upper)
        return call.returns(result, self.inner.shape(x), self.inner.dtype(x))

    # ------------------------------------------------------------------ types and memory

    def cast(self, x: Handle, dtype: DType) -> Handle:
        call = CheckedCall(self.inner, "cast", x=x, dtype=dtype)
        call.handles(x)
        call.result_dtype(p.CAST, dtype)
        return call.returns(self.inner.cast(x, dtype), self.inner.shape(x), dtype)

    def bitcast(self, x: Handle, dtype: DType) -> Handle:
        call = CheckedCall(self.inner, "bitcast", x=x, dtype=dtype)
        call.handles(x)
        shape, old = self.inner.shape(x), self.inner.dtype(x)
        call.guarantees({old, dtype} <= p.BITCAST.results.keys(), "both dtypes are numeric")
        if old.itemsize != dtype.itemsize:
            whole = bool(shape) and shape[-1] * old.itemsize % dtype.itemsize == 0
            call.guarantees(whole, "the last axis is a whole number of new elements")
            shape = (*shape[:-1], shape[-1] * old.itemsize // dtype.itemsize)
        return call.returns(self.inner.bitcast(x, dtype), shape, dtype, own=False)

    def contiguous(self, x: Handle) -> Handle:
        call = CheckedCall(self.inner, "contiguous", x=x)
        call.handles(x)
        shape, dtype = self.inner.shape(x), self.inner.dtype(x)
        return call.returns(self.inner.contiguous(x), shape, dtype, own=False, rows=True)

    def copy(self, x: Handle) -> Handle:
        call = CheckedCall(self.inner, "copy", x=x)
        call.handles(x)
        shape, dtype = self.inner.shape(x), self.inner.dtype(x)
        return call.returns(self.inner.copy(x), shape, dtype, rows=True)

    def assign(self, target: Handle, value: Operand) -> None:
        call = CheckedCall(self.inner, "assign", target=target, value=value)
        call.writable(target)
        _, shapes = call.operands(target, value)
        call.guarantees(
            fits(shapes[-1], shapes[0]),
            "the shape of `value` broadcasts to that of the target",
        )
        self.inner.assign(target, value)

    # ------------------------------------------------------------------ indexed access

    def assign_strided(self, target: Handle, view: View, value: Operand) -> None:
        call = CheckedCall(self.inner, "assign_strided", target=target, view=view, value=value)
        call.handles(target)
        call.writable(target)
        call.guarantees(view.is_materializable, "an unmasked view of concrete sizes")
        call.guarantees(not view.has_repeats, "a view without repeated elements")
        low, high = view.extent
        size = prod(self.inner.shape(target))
        call.guarantees(low >= 0 and high <= size, "a view inside the block")
        self.inner.assign_strided(target, view, value)

    def index_get(self, x: Handle, keys: Keys) -> Handle:
        call = CheckedCall(self.inner, "index_get", x=x, keys=keys)
        call.handles(x)
        self._check_keys(call, x, keys)
        result = self.inner.index_get(x, keys)
        shape = self._indexed_shape(x, keys)
        call.owes(shape is not None, "raise IndexError for indices that select nothing")
        return call.returns(result, shape or (), self.inner.dtype(x))

    def index_set(self, target: Handle, keys: Keys, value: Operand) -> None:
        call = CheckedCall(self.inner, "index_set", target=target, keys=keys, value=value)
        call.writable(target)
        self._check_keys(call, target, keys)
        call.operands(target, value)
        self.inner.index_set(target, keys, value)
        shape = self._indexed_shape(target, keys)
        call.owes(shape is not None, "raise IndexError for indices that select nothing")

    def _check_keys(self, call: CheckedCall, x: Handle, keys: Keys) -> None:
        shape = self.inner.shape(x)
        axis = indexed = 0
        for key in keys:
            if key is None:
                axis += 1
            elif type(key) is int:
                call.guarantees(key >= 0, "int keys are not negative")
                axis += 1
            else:
                call.handles(key)
                indexed += 1
                if self.inner.dtype(key) is d.bool:
                    covered = self.inner.shape(key)
                    end = axis + len(covered)
                    fitting = len(covered) == len(shape[axis:end]) and all(
                        m in (n, 0) for m, n in zip(covered, shape[axis:end], strict=True)
                    )
                    call.guarantees(fitting, "a mask has the shape of its axes, or sizes of 0")
                    axis = end
                else:
                    call.guarantees(self.inner.dtype(key) is d.int64, "int64 or boolean keys")
                    axis += 1
        call.guarantees(axis <= len(shape), "no more keys than axes")
        call.guarantees(indexed > 0, "at least one key that is a handle")

    def _indexed_shape(self, x: Handle, keys: Keys) -> Shape | None:
        """What NumPy makes of the keys; None for an IndexError."""
        host = [
            slice(None) if key is None else key if type(key) is int else self.inner.to_host(key)
            for key in keys
        ]
        try:
            return np.broadcast_to(np.False_, self.inner.shape(x))[tuple(host)].shape
        except IndexError:
            return None

    def take(self, x: Handle, indices: Handle, axis: int) -> Handle:
        call = CheckedCall(self.inner, "take", x=x, indices=indices, axis=axis)
        call.handles(x, indices)
        call.axis(axis, x)
        call.guarantees(self.inner.dtype(indices) is d.int64, "int64 indices")
        result = self.inner.take(x, indices, axis)
        shape = self.inner.shape(x)
        taken = (*shape[:axis], *self.inner.shape(indices), *shape[axis + 1 :])
        return call.returns(result, taken, self.inner.dtype(x))

    def gather(self, x: Handle, indices: Handle, axis: int) -> Handle:
        call = CheckedCall(self.inner, "gather", x=x, indices=indices, axis=axis)
        call.handles(x, indices)
        self._check_positions(call, x, indices, axis)
        result = self.inner.gather(x, indices, axis)
        return call.returns(result, self.inner.shape(indices), self.inner.dtype(x))

    def scatter(
        self, template: Handle, indices: Handle, updates: Handle, axis: int, *, add: bool
    ) -> Handle:
        call = CheckedCall(
            self.inner,
            "scatter",
            template=template,
            indices=indices,
            updates=updates,
            axis=axis,
            add=add,
        )
        call.handles(template, indices, updates)
        call.same_dtype(template, updates)
        call.flags(add)
        self._check_positions(call, template, indices, axis)
        shape = self.inner.shape(template)
        same = self.inner.shape(indices) == self.inner.shape(updates)
        call.guarantees(same, "an update for every index")
        positions = self.inner.to_host(indices)
        inside = bool(((positions >= 0) & (positions < shape[axis])).all())
        call.guarantees(inside, "indices from 0 to size - 1")
        result = self.inner.scatter(template, indices, updates, axis, add=add)
        return call.returns(result, shape, self.inner.dtype(template))

    def _check_positions(self, call: CheckedCall, x: Handle, indices: Handle, axis: int) -> None:
        call.axis(axis, x)
        call.guarantees(self.inner.dtype(indices) is d.int64, "int64 indices")
        shape, other = self.inner.shape(x), self.inner.shape(indices)
        call.guarantees(
            len(shape) == len(other)
            and (shape[:axis], shape[axis + 1 :]) == (other[:axis], other[axis + 1 :]),
            "indices have the shape of the array but for `axis`",
        )

    def nonzero(self, x: Handle) -> tuple[Handle, ...]:
        call = CheckedCall(self.inner, "nonzero", x=x)
        call.handles(x)
        ndim = len(self.inner.shape(x))
        call.guarantees(ndim > 0, "at least one axis")
        results = self.inner.nonzero(x)
        call.owes(type(results) is tuple and len(results) == ndim, "return a tuple, one per axis")
        length = self.inner.shape(results[0])[:1]
        return tuple([call.returns(result, length, d.int64) for result in results])

    def isin(self, x: Handle, members: Handle, *, invert: bool) -> Handle:
        call = CheckedCall(self.inner, "isin", x=x, members=members)
        call.handles(x, members)
        call.same_dtype(x, members)
        result = self.inner.isin(x, members, invert=invert)
        return call.returns(result, self.inner.shape(x), d.bool)

    def unique(self, x: Handle) -> tuple[Handle, Handle, Handle, Handle]:
        call = CheckedCall(self.inner, "unique", x=x)
        call.handles(x)
        values, indices, inverse, counts = self.inner.unique(x)
        length = self.inner.shape(values)[:1]
        return (
            call.returns(values, length, self.inner.dtype(x)),
            call.returns(indices, length, d.int64),
            call.returns(inverse, self.inner.shape(x), d.int64),
            call.returns(counts, length, d.int64),
        )

    def unique_counts(self, x: Handle) -> tuple[Handle, Handle]:
        call = CheckedCall(self.inner, "unique_counts", x=x)
        call.handles(x)
        values, counts = self.inner.unique_counts(x)
        length = self.inner.shape(values)[:1]
        return (
            call.returns(values, length, self.inner.dtype(x)),
            call.returns(counts, length, d.int64),
        )

    def unique_inverse(self, x: Handle) -> tuple[Handle, Handle]:
        call = CheckedCall(self.inner, "unique_inverse", x=x)
        call.handles(x)
        values, inverse = self.inner.unique_inverse(x)
        return (
            call.returns(values, self.inner.shape(values)[:1], self.inner.dtype(x)),
            call.returns(inverse, self.inner.shape(x), d.int64),
        )

    def unique_values(self, x: Handle) -> Handle:
        call = CheckedCall(self.inner, "unique_values", x=x)
        call.handles(x)
        values = self.inner.unique_values(x)
        return call.returns(values, self.inner.shape(values)[:1], self.inner.dtype(x))

    def bincount(self, x: Handle, weights: Handle | None, length: int, *, extend: bool) -> Handle:
        call = CheckedCall(self.inner, "bincount", x=x, weights=weights, length=length)
        call.handles(x)
        call.guarantees(len(self.inner.shape(x)) == 1, "a 1-D `x`")
        call.is_shape((length,))
        call.flags(extend)
        dtype = call.result_dtype(p.BINCOUNT, self.inner.dtype(x))
        if weights is not None:
            call.handles(weights)
            dtype = self.inner.dtype(weights)
            call.guarantees(dtype in d.NUMERIC, "numeric weights")
            call.guarantees(
                self.inner.shape(weights) == self.inner.shape(x), "weights of the shape of `x`"
            )
        result = self.inner.bincount(x, weights, length, extend=extend)
        (found,) = self.inner.shape(result)
        call.owes(found == length or (extend and found > length), "give a length that it was asked")
        return call.returns(result, (found,), dtype)
