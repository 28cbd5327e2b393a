"""The tracing backend: it computes shapes and dtypes, and records what is to be done.

Handles hold no elements: a `Traced` is a view, of symbolic shape, of a block of memory that does
not exist. Movement is view algebra, as in strided backends, and records nothing. Everything else
is a step of the program, under the name of the contract's method. What is written in place gives
the block a new value, which all its views show.

While a function is traced in one thread, a `Switch` stands in for the backend of each device: it
leads that thread to the tracing backend, and other threads to the backend itself. So the function's
arrays keep their device, and arrays that it finds outside of itself meet the traced ones here; they
are constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, nan, prod
from typing import NoReturn, TypeGuard

from ..contract.backend import Backend, Handle, Info, Keys, Operand, Padding, Scalar
from ..contract.numpy_dtypes import NDArray
from ..contract.program import Argument
from ..contract.random_numbers import Kind
from ..contract.replay import inverse
from ..contract.ufuncs import UfuncLoop
from ..core import dtypes as d
from ..core.dtypes import CANONICAL, DType
from ..core.real import Real
from ..core.shape import broadcast_shapes, reduced_shape
from ..core.symbolic import Dim, DimLike, KnownInts, Number, Outcome, Sizes, SymbolicShape, deciding
from ..core.symbolic_layout import SymbolicSelection, is_static_selection, regrouped
from ..core.view import View
from ..primitives import table as p
from ..primitives.table import Primitive
from .matrices import CAPTURED, TracingMatrices, has_row_major_order, memory_order
from .recorder import Answers, Traced, current, refuse, refuse_use

__all__ = ["Switch", "TracingBackend"]

Shape = tuple[int, ...]


class Switch:
    """Stands in for the backend of a device while functions are traced."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.tracing = TracingBackend(backend)

    def __getattr__(self, name: str) -> object:
        return getattr(self.backend if current.get() is None else self.tracing, name)


class TracingBackend(TracingMatrices):
    """Records what is done on a device whose backend is `real`."""

    # ------------------------------------------------------------------ properties

    def shape(self, x: Handle) -> KnownInts:
        if type(x) is not self.kind:
            return self.real.shape(x)
        shape = x.view.shape
        return SymbolicShape(shape) if any([isinstance(n, Dim) for n in shape]) else shape

    def dtype(self, x: Handle) -> DType:
        return x.memory.dtype if type(x) is self.kind else self.real.dtype(x)

    def has_elements(self, x: Handle) -> bool:
        return False

    def read_only_reason(self, x: Handle) -> str | None:
        # Why a captured array may not be written is said where it is written.
        if self.immutable is not None:
            return self.immutable
        if type(x) is not self.kind:
            return None
        x.recorder.rely_on(x)
        reason = x.view.read_only_reason
        if reason is None and x.memory.reason is not CAPTURED:
            reason = x.recorder.why_read_only(x)
        return reason

    def refuse(self, what: str) -> NoReturn:
        """Raise the error for what the calling code asked of an array's elements."""
        refuse(what)

    def to_host(self, x: Handle) -> NDArray:
        self.refuse("hands out the elements")

    def item(self, x: Handle) -> Scalar:
        x = self.traced(x)
        size = prod(x.view.shape)
        if size != 1:
            raise ValueError(f"{size} elements")
        value: Scalar | None = x.recorder.number(x)
        if value is None:
            self.refuse("needs the value of an element")
        return value

    def evaluate(self, *handles: Handle) -> None:
        """Nothing is computed before the program runs."""

    def dlpack_device(self) -> tuple[int, int]:
        return self.real.dlpack_device()

    def runtime_info(self) -> Info:
        return self.real.runtime_info()

    def release_memory(self) -> None:
        self.real.release_memory()

    # ------------------------------------------------------------------ creation

    def empty(self, shape: Shape, dtype: DType) -> Traced:
        return self.step("empty", (shape, dtype), (shape, dtype))[0]

    def full(self, shape: Shape, dtype: DType, value: Scalar) -> Traced:
        (result,) = self.step("full", (shape, dtype, value), (shape, dtype))
        result.recorder.holds_number(result, value)
        return result

    def from_host(self, array: NDArray, *, copy: bool, lent: bool = True) -> Traced:
        handle = self.real.from_host(array, copy=copy, lent=lent)
        if lent and not copy:
            return self.traced(handle)
        # Nobody else has it: it is the same at every call, and the function may write to it.
        constant = self.traced(handle)
        (result,) = self.step("copy", (constant,), (array.shape, CANONICAL[array.dtype]))
        if array.size == 1:
            result.recorder.holds_number(result, array.item())
        return result

    def arange(
        self, start: int | float, stop: int | float, step: int | float, dtype: DType
    ) -> Traced:
        numbers: tuple[Number, ...] = (start, stop, step)
        if all([isinstance(x, int | Dim) for x in numbers]):
            length: Outcome = -((start - stop) // step)
        else:
            length = ceil((stop - start) / step)
        length = length if length > 0 else 0
        return self.step("arange", (*numbers, dtype), ((length,), dtype))[0]

    def linspace(
        self, start: Scalar, stop: Scalar, num: int, dtype: DType, *, endpoint: bool
    ) -> Traced:
        arguments = (start, stop, num, dtype)
        return self.step("linspace", arguments, ((num,), dtype), endpoint=endpoint)[0]

    def eye(self, rows: int, columns: int, k: int, dtype: DType) -> Traced:
        return self.step("eye", (rows, columns, k, dtype), ((rows, columns), dtype))[0]

    # ------------------------------------------------------------------ element by element

    def _elementwise(
        self,
        method: str,
        op: tuple[Argument, ...],
        operands: Sequence[Operand],
        *dtypes: DType,
        rest: tuple[Argument, ...] = (),
    ) -> tuple[Traced, ...]:
        """A step ``method(*op, *operands, *rest)`` over operands that are broadcast.

        It has a result of each of `dtypes`.

        Where they agree on another order of axes than row-major, the step goes over its axes in
        that order, and the result lies in memory so, as NumPy's results do.
        """
        xs: list[Operand] = [x if _is_scalar(x) else self.traced(x) for x in operands]
        arrays: list[Traced] = [x for x in xs if isinstance(x, Traced)]
        shapes = [x.view.shape for x in arrays]
        shape = broadcast_shapes(*shapes)
        order, is_certain = _result_order(arrays, shape)
        if order is None:
            results = self.step(method, (*op, *xs, *rest), *[(shape, each) for each in dtypes])
            for result in results:
                result.memory.order_known = result.memory.is_packed = is_certain
            return tuple(results)
        with deciding(None):
            moved = [_permuted(x, order) if isinstance(x, Traced) else x for x in xs]
        sizes = tuple([shape[axis] for axis in order])
        results = self.step(method, (*op, *moved, *rest), *[(sizes, each) for each in dtypes])
        for result in results:
            result.memory.order_known = result.memory.is_packed = is_certain
        with deciding(None):
            back = inverse(order)
            return tuple([x.through(x.view.permute(back)) for x in results])

    def unary(self, op: Primitive, x: Handle) -> Traced:
        return self._elementwise("unary", (op,), (x,), op.results[self.dtype(x)])[0]

    def binary(self, op: Primitive, x1: Operand, x2: Operand, out: Handle | None = None) -> Traced:
        dtype = self.dtype(x2 if _is_scalar(x1) else x1)
        if op is p.POW and dtype in d.INTEGRAL and isinstance(x2, int | Dim) and x2 < 0:
            raise ValueError("integers to negative integer powers are not allowed")
        if out is not None:
            self.assign(out, self.binary(op, x1, x2))
            return self.traced(out)
        return self._elementwise("binary", (op,), (x1, x2), op.results[dtype])[0]

    def where(self, condition: Handle, x1: Operand, x2: Operand) -> Traced:
        dtype = self.dtype(x2 if _is_scalar(x1) else x1)
        return self._elementwise("where", (), (condition, x1, x2), dtype)[0]

    def apply(self, op: UfuncLoop, *operands: Operand) -> Traced:
        return self._elementwise("apply", (op,), operands, op.output)[0]

    def apply_multiple(self, op: UfuncLoop, *operands: Operand) -> tuple[Traced, ...]:
        return self._elementwise("apply_multiple", (op,), operands, *op.outputs)

    def clip(self, x: Handle, low: Operand | None, high: Operand | None) -> Traced:
        return self._elementwise("clip", (), (x, low, high), self.dtype(x))[0]

    # ------------------------------------------------------------------ reductions and scans

    def reduce(
        self, op: Primitive, x: Handle, axes: Shape, keepdims: bool, dtype: DType | None = None
    ) -> Traced:
        x = self.traced(x)
        shape = reduced_shape(x.view.shape, axes, keepdims)
        result = (shape, op.results[x.memory.dtype] if dtype is None else dtype)
        return self.step("reduce", (op, x, axes, keepdims, dtype), result)[0]

    def arg_reduce(self, op: Primitive, x: Handle, axis: int, keepdims: bool) -> Traced:
        x = self.traced(x)
        shape = reduced_shape(x.view.shape, (axis,), keepdims)
        return self.step("arg_reduce", (op, x, axis, keepdims), (shape, d.int64))[0]

    def scan(self, op: Primitive, x: Handle, axis: int, dtype: DType | None = None) -> Traced:
        x = self.traced(x)
        result = op.results[x.memory.dtype] if dtype is None else dtype
        return self.step("scan", (op, x, axis, dtype), (x.view.shape, result))[0]

    def var(self, x: Handle, axes: Shape, keepdims: bool, correction: float) -> Traced:
        x = self.traced(x)
        shape = reduced_shape(x.view.shape, axes, keepdims)
        result = (shape, p.VAR.results[x.memory.dtype])
        return self.step("var", (x, axes, keepdims, correction), result)[0]

    # ------------------------------------------------------------------ sorting and searching

    def sort(self, x: Handle, axis: int, *, descending: bool, stable: bool) -> Traced:
        x = self.traced(x)
        result = (x.view.shape, x.memory.dtype)
        return self.step("sort", (x, axis), result, descending=descending, stable=stable)[0]

    def argsort(self, x: Handle, axis: int, *, descending: bool, stable: bool) -> Traced:
        x = self.traced(x)
        result = (x.view.shape, d.int64)
        return self.step("argsort", (x, axis), result, descending=descending, stable=stable)[0]

    def partition(self, x: Handle, kth: Shape, axis: int) -> Traced:
        x = self.traced(x)
        return self.step("partition", (x, kth, axis), (x.view.shape, x.memory.dtype))[0]

    def argpartition(self, x: Handle, kth: Shape, axis: int) -> Traced:
        x = self.traced(x)
        return self.step("argpartition", (x, kth, axis), (x.view.shape, d.int64))[0]

    def searchsorted(self, x: Handle, values: Handle, *, right: bool) -> Traced:
        x, values = self.traced(x), self.traced(values)
        result = (values.view.shape, d.int64)
        return self.step("searchsorted", (x, values), result, right=right)[0]

    # ------------------------------------------------------------------ movement
    #
    # An array from outside of the function stays one when it is moved: as long as nothing is
    # computed from it, it is not a part of the program.

    def expand(self, x: Handle, shape: Shape) -> Handle:
        if type(x) is not self.kind and not any([isinstance(n, Dim) for n in shape]):
            return self.real.expand(x, shape)
        x = self.traced(x)
        old, target = x.recorder.pinned(x.view.shape), x.recorder.pinned(shape)
        with deciding(None):
            lead = len(shape) - len(old)
            strides: list[DimLike] = [0] * lead
            for size, stride, new in zip(old, x.view.strides, target[lead:], strict=True):
                # What is no 1, the frontend has found to agree.
                is_one = type(size) is int and size == 1
                strides.append(0 if is_one and new != 1 else stride)
            return x.through(View(shape, strides, x.view.offset, None, x.view.is_read_only))

    def try_reshape(self, x: Handle, shape: Shape) -> Handle:
        if type(x) is not self.kind and not any([isinstance(n, Dim) for n in shape]):
            return self.real.try_reshape(x, shape)
        x = self.traced(x)
        view = _reshaped(x, shape)
        return None if view is None else x.through(view)

    def permute(self, x: Handle, axes: Shape) -> Handle:
        if type(x) is not self.kind:
            return self.real.permute(x, axes)
        with deciding(None):
            permuted: Traced = x.through(x.view.permute(axes))
            return permuted

    def slice(self, x: Handle, selection: SymbolicSelection) -> Handle:
        if type(x) is not self.kind:
            if is_static_selection(selection):
                return self.real.slice(x, selection)
            x = self.traced(x)
        with deciding(None):
            view = x.view.slice(selection)
            assert view is not None  # no view has a mask here
            return x.through(view)

    def flip(self, x: Handle, axes: tuple[bool, ...]) -> Handle:
        if type(x) is not self.kind:
            return self.real.flip(x, axes)
        with deciding(None):
            flipped: Traced = x.through(x.view.flip(axes))
            return flipped

    def strided(self, x: Handle, view: View) -> Traced:
        whole = self.contiguous(x)
        with deciding(None):
            offset = view.offset + whole.view.offset
            is_read_only = view.is_read_only or whole.view.is_read_only
            return whole.through(View(view.shape, view.strides, offset, None, is_read_only))

    def pad(self, x: Handle, padding: Padding, value: Scalar) -> Traced:
        x = self.traced(x)
        sizes = zip(x.view.shape, padding, strict=True)
        shape = tuple([before + size + after for size, (before, after) in sizes])
        return self.step("pad", (x, padding, value), (shape, x.memory.dtype))[0]

    def cat(self, arrays: Sequence[Handle], axis: int) -> Traced:
        xs = [self.traced(x) for x in arrays]
        shapes = [x.view.shape for x in xs]
        rest = [(*shape[:axis], *shape[axis + 1 :]) for shape in shapes]
        if any([other != rest[0] for other in rest]):
            raise ValueError("all other dimensions must agree")
        total = sum([shape[axis] for shape in shapes])
        shape = (*shapes[0][:axis], total, *shapes[0][axis + 1 :])
        return self.step("cat", (tuple(xs), axis), (shape, xs[0].memory.dtype))[0]

    def roll(self, x: Handle, shifts: Shape) -> Traced:
        x = self.traced(x)
        return self.step("roll", (x, shifts), (x.view.shape, x.memory.dtype))[0]

    def repeat(self, x: Handle, repeats: Handle, axis: int) -> Traced:
        x = self.traced(x)
        shape = list(x.view.shape)
        if isinstance(repeats, int | Dim):
            shape[axis] = shape[axis] * repeats
        else:
            repeats = self.traced(repeats)
            shape[axis] = x.recorder.fresh(repeats, _MANY, "the sum of the repeats")
        return self.step("repeat", (x, repeats, axis), (tuple(shape), x.memory.dtype))[0]

    def triangle(self, x: Handle, k: int, *, upper: bool) -> Traced:
        x = self.traced(x)
        return self.step("triangle", (x, k), (x.view.shape, x.memory.dtype), upper=upper)[0]

    # ------------------------------------------------------------------ types and memory

    def cast(self, x: Handle, dtype: DType) -> Traced:
        return self._elementwise("cast", (), (x,), dtype, rest=(dtype,))[0]

    def bitcast(self, x: Handle, dtype: DType) -> Traced:
        x = self.traced(x)
        shape = list(x.view.shape)
        if dtype.itemsize != x.memory.dtype.itemsize:
            if x.view.strides[-1] != 1 and shape[-1] != 1:
                raise ValueError("the last axis is not contiguous")
            shape[-1] = shape[-1] * x.memory.dtype.itemsize // dtype.itemsize
        (result,) = self.step("bitcast", (x, dtype), (tuple(shape), dtype))
        # Two blocks for one memory: neither could see what is written to the other.
        x.memory.reason = result.memory.reason = "it is read as two dtypes in a traced function"
        return result

    def contiguous(self, x: Handle) -> Traced:
        x = self.traced(x)
        if not x.memory.is_packed:
            x.recorder.doubt(x)
        return x if x.view.is_row_major else self.copy(x)

    def copy(self, x: Handle) -> Traced:
        x = self.traced(x)
        (result,) = self.step("copy", (x,), (x.view.shape, x.memory.dtype))
        # A copy is row-major whatever it was made of.
        result.memory.order_known = result.memory.is_packed = True
        x.recorder.copied(x, result)
        value = x.recorder.number(x)
        if value is not None:
            x.recorder.holds_number(result, value)
        return result

    def _writable(self, target: Handle) -> Traced:
        if type(target) is not self.kind or target.memory.reason is CAPTURED:
            refuse_use(
                "a traced function must not write to an array that it found outside of itself",
                "pass the array as an argument, or write to a copy: asarray(x, copy=True)",
            )
        target.recorder.use_backend(self)
        target.recorder.rely_on(target)
        writable: Traced = target
        return writable

    def assign(self, target: Handle, value: Operand) -> None:
        target = self._writable(target)
        if not _is_scalar(value):
            value = self.traced(value)
            if len(value.view.shape) > len(target.view.shape):
                surplus = len(value.view.shape) - len(target.view.shape)
                whole = [(0, n, 1) for n in value.view.shape[surplus:]]
                value = self.slice(value, (*[0] * surplus, *whole))
        shape, dtype = target.memory.shape, target.memory.dtype
        with deciding(None):
            is_whole = target.view == View.row_major(shape)
        if not is_whole:
            target.recorder.update(target, "update", (value,))
        elif isinstance(value, Traced):
            new = self.step("copy", (self.expand(value, shape),), (shape, dtype))[0]
            target.memory.value = new.memory.value
        else:
            target.memory.value = self.full(shape, dtype, value).memory.value

    def assign_strided(self, target: Handle, view: View, value: Operand) -> None:
        self.assign(self.strided(target, view), value)

    # ------------------------------------------------------------------ indexed access

    def index_get(self, x: Handle, keys: Keys) -> Traced:
        x = self.traced(x)
        keys = self._keys(keys)
        shape = _indexed_shape(x, keys)
        (result,) = self.step("index_get", (x, keys), (shape, x.memory.dtype))
        if None in keys:
            # NumPy lays these out as it finds quickest.
            result.memory.order_known = result.memory.is_packed = False
        return result

    def index_set(self, target: Handle, keys: Keys, value: Operand) -> None:
        target = self._writable(target)
        keys = self._keys(keys)
        value = value if _is_scalar(value) else self.traced(value)
        if isinstance(value, Traced) and not any([_is_mask(key) for key in keys]):
            shape = value.view.shape
            selected = _indexed_shape(target, keys)
            surplus = max(0, len(shape) - len(selected))
            if broadcast_shapes(shape[surplus:], selected) != selected:
                raise ValueError(f"shape {shape} does not broadcast to {selected}")
        target.recorder.update(target, "update_indexed", (keys, value))

    def _keys(self, keys: Keys) -> Keys:
        return tuple([k if k is None or _is_scalar(k) else self.traced(k) for k in keys])

    def take(self, x: Handle, indices: Handle, axis: int) -> Traced:
        x, indices = self.traced(x), self.traced(indices)
        shape = (*x.view.shape[:axis], *indices.view.shape, *x.view.shape[axis + 1 :])
        return self.step("take", (x, indices, axis), (shape, x.memory.dtype))[0]

    def gather(self, x: Handle, indices: Handle, axis: int) -> Traced:
        x, indices = self.traced(x), self.traced(indices)
        return self.step("gather", (x, indices, axis), (indices.view.shape, x.memory.dtype))[0]

    def scatter(
        self, template: Handle, indices: Handle, updates: Handle, axis: int, *, add: bool
    ) -> Traced:
        template = self.traced(template)
        arguments = (template, self.traced(indices), self.traced(updates), axis)
        result = (template.view.shape, template.memory.dtype)
        return self.step("scatter", arguments, result, add=add)[0]

    def nonzero(self, x: Handle) -> tuple[Traced, ...]:
        x = self.traced(x)
        shape = (x.recorder.fresh(x, prod(x.view.shape), "the number of nonzero ones"),)
        return tuple(self.step("nonzero", (x,), *[(shape, d.int64)] * x.view.ndim))

    def isin(self, x: Handle, members: Handle, *, invert: bool) -> Traced:
        x, members = self.traced(x), self.traced(members)
        return self.step("isin", (x, members), (x.view.shape, d.bool), invert=invert)[0]

    def unique(self, x: Handle) -> tuple[Traced, Traced, Traced, Traced]:
        x = self.traced(x)
        count = _number_of_distinct(x)
        values, index, inverse_index, counts = self.step(
            "unique",
            (x,),
            (count, x.memory.dtype),
            (count, d.int64),
            (x.view.shape, d.int64),
            (count, d.int64),
        )
        return values, index, inverse_index, counts

    def unique_counts(self, x: Handle) -> tuple[Traced, Traced]:
        x = self.traced(x)
        count = _number_of_distinct(x)
        results = (count, x.memory.dtype), (count, d.int64)
        values, counts = self.step("unique_counts", (x,), *results)
        return values, counts

    def unique_inverse(self, x: Handle) -> tuple[Traced, Traced]:
        x = self.traced(x)
        results = (_number_of_distinct(x), x.memory.dtype), (x.view.shape, d.int64)
        values, inverse_index = self.step("unique_inverse", (x,), *results)
        return values, inverse_index

    def unique_values(self, x: Handle) -> Traced:
        x = self.traced(x)
        return self.step("unique_values", (x,), (_number_of_distinct(x), x.memory.dtype))[0]

    def bincount(self, x: Handle, weights: Handle | None, length: int, *, extend: bool) -> Traced:
        x = self.traced(x)
        dtype = d.int64
        if weights is not None:
            weights = self.traced(weights)
            dtype = weights.memory.dtype
        if extend:
            length = x.recorder.fresh(x, _MANY, "the greatest one")
        return self.step("bincount", (x, weights, length), ((length,), dtype), extend=extend)[0]

    # ------------------------------------------------------------------ random bits

    def threefry(self, key: Handle, counter: Handle) -> Traced:
        key, counter = self.traced(key), self.traced(counter)
        return self.step("threefry", (key, counter), (counter.view.shape, d.uint32))[0]

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
    ) -> Traced:
        raise TypeError(
            "while a function is traced, random numbers cannot be drawn from a generator from "
            "outside of it, or every call would get the same ones; pass the generator as an "
            "argument"
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
    ) -> Traced:
        state = self.traced(key), self.traced(counter)
        given = self.traced_parameters(parameters)
        arguments = (kind, *state, offset, count, dtype, low, span, given)
        return self.step("draw_from", arguments, ((count,), dtype))[0]

    def traced_parameters(
        self, parameters: tuple[Handle | float, ...]
    ) -> tuple[Traced | float, ...]:
        return tuple([x if isinstance(x, float) else self.traced(x) for x in parameters])


_MANY = 2**40


def _number_of_distinct(x: Traced) -> tuple[Dim]:
    """The shape of the distinct elements of `x`: a size that is known when the program runs."""
    return (x.recorder.fresh(x, prod(x.view.shape), "the number of distinct ones"),)


def _is_scalar(x: object) -> bool:
    return x is None or isinstance(x, bool | int | float | complex | Dim | Real)


def _is_mask(key: object) -> TypeGuard[Traced]:
    return isinstance(key, Traced) and key.memory.dtype is d.bool


def _permuted(x: Traced, order: Shape) -> Traced:
    """`x`, which broadcasts with what has the axes of `order`, with its axes in that order."""
    missing = len(order) - x.view.ndim
    view = x.view.reshape((*[1] * missing, *x.view.shape)) if missing else x.view
    assert view is not None  # new axes in front can always be had
    return x.through(view.permute(order))


def _reshaped(x: Traced, shape: Shape) -> View | None:
    """The view of `x` under another shape, None if there is none.

    The recorder is told if that is so at some sizes only, or only if the array that `x` stands for
    lies in memory as is supposed here.
    """
    recorder, view = x.recorder, x.view
    old, new = recorder.pinned(view.shape), recorder.pinned(shape)
    with deciding(None):
        # Where no axes are joined, there always is a view: NaN steps are never those of others.
        unknown: Sizes = (nan,) * len(old)  # type: ignore[assignment]
        if not x.memory.is_packed and regrouped(old, unknown, new) is None:
            recorder.doubt(x)
        if view.is_row_major:
            return View(shape, None, view.offset, None, view.is_read_only)
        try:
            found = View(old, view.strides, view.offset, None, view.is_read_only).reshape(new)
        except ValueError:
            # Sizes that agree by a guard need not have one expression.
            recorder.doubt(x)
            return None
        sizes = (*old, *view.strides, *new)
        if found is not None or not any([isinstance(n, Dim) for n in sizes]):
            return found
    answers = Answers(recorder)
    with deciding(answers):
        strides = regrouped(old, view.strides, new)
    x.memory.conditions += answers.conditions
    if strides is None:
        return None
    recorder.rely_on(x)
    with deciding(None):
        return View(new, strides, view.offset, None, view.is_read_only)


def _result_order(xs: Sequence[Traced], shape: Sizes) -> tuple[Shape | None, bool]:
    """The order of axes in which NumPy lays out the result of operands, None if row-major; and
    whether that is certain.

    NumPy sorts two axes as an operand has them, unless another one has them in row-major order.
    """
    with deciding(None):
        if len(shape) < 2:
            return None, True
        full = [x for x in xs if x.view.shape == shape]
        rest = [x for x in xs if x.view.shape != shape]
        row_major = tuple(range(len(shape)))
        orders = {memory_order(x) for x in full}
        if row_major in orders:
            return None, True
        if not full:
            return None, all([has_row_major_order(x) for x in rest])
        order = memory_order(full[0])
        are_columns = all([sum([n != 1 for n in x.view.shape]) < 2 for x in rest])
        return order, len(orders) == 1 and order is not None and are_columns


def _indexed_shape(x: Traced, keys: Keys) -> Sizes:
    """The shape of what `keys` select; see `Backend.index_get`."""
    sizes = list(x.view.shape)
    before: list[DimLike] = []
    after: list[DimLike] = []
    shapes: list[Sizes] = []
    runs = 0
    is_within = False
    for key in keys:
        if key is None:
            (after if runs else before).append(sizes.pop(0))
            is_within = False
            continue
        runs += not is_within
        is_within = True
        if _is_mask(key):
            taken = len(key.view.shape)
            size = prod(sizes[:taken])
            del sizes[:taken]
            shapes.append((x.recorder.fresh(key, size, "the number of nonzero ones"),))
        else:
            sizes.pop(0)
            shapes.append(key.view.shape if isinstance(key, Traced) else ())
    try:
        common = broadcast_shapes(*shapes)
    except ValueError as error:
        raise IndexError(str(error)) from None
    if runs > 1:
        return (*common, *before, *after, *sizes)
    return (*before, *common, *after, *sizes)
