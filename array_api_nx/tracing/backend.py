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

from collections.abc import Callable, Mapping, Sequence
from math import nan, prod
from typing import Final, NoReturn

from ..contract.arguments import Handle, Info, Keys, Operand, Scalar
from ..contract.backend import Backend
from ..contract.derived import Derived, Method, derive, method_of, resemble
from ..contract.numpy_dtypes import NDArray
from ..contract.program import Argument, found_in
from ..contract.replay import inverse
from ..core import dtypes as d
from ..core.dtypes import DType
from ..core.real import Real
from ..core.shape import broadcast_shapes
from ..core.symbolic import (
    Dim,
    DimLike,
    KnownInts,
    Number,
    Outcome,
    Sizes,
    SymbolicShape,
    UnboundError,
    UndecidedError,
    Var,
    deciding,
    dim_of_var,
)
from ..core.symbolic_layout import SymbolicSelection, is_static_selection, regrouped, stride_order
from ..core.view import View
from ..primitives import table as p
from ..primitives.rules import ELEMENTWISE, RULED, ArrayType, Elements, is_scalar, results_of
from ..primitives.table import Primitive
from .recorder import OPPOSITE, Condition, Recorder, Traced, current, refuse, refuse_use

Shape = tuple[int, ...]

CAPTURED: Final = "the function found it outside of itself"

_NONE: Final[Mapping[str, Argument]] = {}


class Switch:
    """Stands in for the backend of a device while functions are traced."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.tracing = TracingBackend(backend)

    def __getattr__(self, name: str) -> object:
        return getattr(self.backend if current.get() is None else self.tracing, name)


class TracedType(ArrayType):
    """Shape and dtype of an operand in a trace."""

    __slots__ = ("traced",)

    def __init__(self, x: Traced) -> None:
        self.shape = x.view.shape
        self.dtype = x.memory.dtype
        self.traced = x

    def decided_size(self, words: str, most: DimLike, count: Callable[[Elements], int]) -> Outcome:
        return self.traced.recorder.decided_size(self.traced, words, most, count)

    def smaller_size(self, a: DimLike, b: DimLike) -> DimLike:
        """min(a, b); where nothing decides which that is, a variable of that name."""
        try:
            return a if a <= b else b
        except UndecidedError:
            if not self.traced.recorder.invents:
                raise
            ends = [x.bounds if not isinstance(x, int) else (x, x) for x in (a, b)]
            lowest, highest = min(e[0] for e in ends), min(e[1] for e in ends)
            return dim_of_var(Var(f"min({a}, {b})", lowest, highest))


# Moved, by defaults that slice or reshape.
@derive(RULED - {"reshape", "shrink"})
class TracingBackend(Derived):  # type: ignore[misc]  # see Derived
    """Records what is done on a device whose backend is `real`.

    real: What the program will run on.
    kind: The handles of this backend. All others are those of `real`.
    """

    kind: type[Traced] = Traced

    def __init__(self, real: Backend) -> None:
        self.real = real
        resemble(self, real)

    # ------------------------------------------------------------------ recording

    def recorder(self) -> Recorder:
        """What takes note of the steps: the recorder of the trace that is going on."""
        recorder = current.get()
        assert recorder is not None
        return recorder

    def traced(self, x: Handle) -> Traced:
        """The handle `x`, which may be that of an array from outside of the function."""
        if type(x) is self.kind:
            return x
        recorder = self.recorder()
        real = self.real
        order = real.axis_order(x)
        return recorder.constant(x, real.shape(x), real.dtype(x), order, CAPTURED)

    def call(
        self, method: Method, arguments: tuple[Argument, ...], keywords: Mapping[str, Argument]
    ) -> Argument:
        """Record a call of a method; its rule gives the shapes and dtypes of the results."""
        values = method.mapped(method.values(arguments, keywords), self._traced_operand)
        results = results_of(
            method.name, dict(zip(method.names, method.mapped(values, _type_of), strict=True))
        )
        if method.variadic:
            values = [*values[:-1], *values[-1]]
        if method.name in ELEMENTWISE:
            made = self._elementwise(method.name, values, results)
        else:
            first = method.positional
            named = dict(zip(method.names[first:], values[first:], strict=True))
            made = self.step(method.name, values[:first], results, **named)
        return tuple(made) if method.several else made[0]

    def _traced_operand(self, x: Operand | None) -> Operand | None:
        return x if type(x) is self.kind or x is None or is_scalar(x) else self.traced(x)

    def step(
        self,
        method: str,
        arguments: Sequence[Argument],
        results: Sequence[ArrayType],
        **keywords: Argument,
    ) -> list[Traced]:
        """Record a step and return its results."""
        # NumPy's results are row-major where the axes of all operands have that order.
        known = all([has_row_major_order(x) for x in found_in(arguments, Traced)])
        return self._recorded(known, method, arguments, results, keywords)

    def _recorded(
        self,
        is_packed: bool,
        method: str,
        arguments: Sequence[Argument],
        results: Sequence[ArrayType],
        keywords: Mapping[str, Argument] = _NONE,
    ) -> list[Traced]:
        """Record a step; `is_packed` says whether its results are known to be row-major."""
        recorder = self.recorder()
        recorder.use_backend(self)
        found = recorder.record(method, arguments, results, **keywords)
        for x in found:
            x.memory.order_known = x.memory.is_packed = is_packed
        return found

    def _elementwise(
        self, method: str, arguments: Sequence[Argument], results: Sequence[ArrayType]
    ) -> list[Traced]:
        """A step over operands that are broadcast.

        Where they agree on another order of axes than row-major, the step goes over its axes in
        that order, and the result lies in memory so, as NumPy's results do.
        """
        shape = results[0].shape
        arrays = [x for x in arguments if isinstance(x, Traced)]
        order, is_certain = _result_order(arrays, shape)
        if order is not None:
            with deciding(None):
                arguments = [_permuted(x, order) if isinstance(x, Traced) else x for x in arguments]
            sizes = tuple([shape[axis] for axis in order])
            results = [ArrayType(sizes, each.dtype) for each in results]
        found = self._recorded(is_certain, method, arguments, results)
        if order is None:
            return found
        with deciding(None):
            back = inverse(order)
            return [x.through(x.view.permute(back)) for x in found]

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
        # `_writable` says why a captured array may not be written. A subclass may be immutable with
        # exceptions of its own.
        if self.real.immutable is not None:
            return self.real.immutable
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

    def full(self, shape: Shape, dtype: DType, value: Scalar) -> Traced:
        (result,) = self.step("full", (shape, dtype, value), [ArrayType(shape, dtype)])
        result.recorder.holds_number(result, value)
        return result

    def from_host(self, array: NDArray, *, copy: bool, lent: bool = True) -> Traced:
        handle = self.real.from_host(array, copy=copy, lent=lent)
        if lent and not copy:
            return self.traced(handle)
        # Nobody else has it: it is the same at every call, and the function may write to it.
        constant = self.traced(handle)
        (result,) = self.step("copy", (constant,), [TracedType(constant)])
        if array.size == 1:
            result.recorder.holds_number(result, array.item())
        return result

    # ------------------------------------------------------------------ element by element

    def binary(self, op: Primitive, x1: Operand, x2: Operand, out: Handle | None = None) -> Traced:
        dtype = self.dtype(x2 if is_scalar(x1) else x1)
        if op is p.POW and dtype in d.INTEGRAL and isinstance(x2, int | Dim) and x2 < 0:
            raise ValueError("integers to negative integer powers are not allowed")
        if out is not None:
            self.assign(out, self.binary(op, x1, x2))
            return self.traced(out)
        result: Traced = self.call(_BINARY, (op, x1, x2), {})
        return result

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

    # ------------------------------------------------------------------ types and memory

    def bitcast(self, x: Handle, dtype: DType) -> Traced:
        x = self.traced(x)
        steps = x.view.strides[-1] if x.view.strides else 1
        if dtype.itemsize != x.memory.dtype.itemsize and steps != 1 and x.view.shape[-1] != 1:
            raise ValueError("the last axis is not contiguous")
        result: Traced = self.call(method_of("bitcast"), (x, dtype), {})
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
        (result,) = self.step("copy", (x,), [TracedType(x)])
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
        if not is_scalar(value):
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
            new = self.step("copy", (self.expand(value, shape),), [ArrayType(shape, dtype)])[0]
            target.memory.value = new.memory.value
        else:
            target.memory.value = self.full(shape, dtype, value).memory.value

    def assign_strided(self, target: Handle, view: View, value: Operand) -> None:
        self.assign(self.strided(target, view), value)

    # ------------------------------------------------------------------ indexed access

    def index_get(self, x: Handle, keys: Keys) -> Traced:
        result: Traced = self.call(method_of("index_get"), (x, keys), {})
        if any([key is None for key in keys]):
            # NumPy lays these out as it finds quickest.
            result.memory.order_known = result.memory.is_packed = False
        return result

    def index_set(self, target: Handle, keys: Keys, value: Operand) -> None:
        target = self._writable(target)
        keys = tuple([self._traced_operand(key) for key in keys])
        value = self._traced_operand(value)
        is_masked = any([isinstance(x, Traced) and x.memory.dtype is d.bool for x in keys])
        if isinstance(value, Traced) and not is_masked:
            shape = value.view.shape
            named = {"x": TracedType(target), "keys": [_type_of(key) for key in keys]}
            selected = results_of("index_get", named)[0].shape
            surplus = max(0, len(shape) - len(selected))
            if broadcast_shapes(shape[surplus:], selected) != selected:
                raise ValueError(f"shape {shape} does not broadcast to {selected}")
        target.recorder.update(target, "update_indexed", (keys, value))

    # ------------------------------------------------------------------ random bits

    def draw(self, *arguments: Argument, **keywords: Argument) -> Traced:
        raise TypeError(
            "while a function is traced, random numbers cannot be drawn from a generator from "
            "outside of it, or every call would get the same ones; pass the generator as an "
            "argument"
        )


_BINARY: Final = method_of("binary").without("out")


class _Answers:
    """A decider (see `core.symbolic.Decider`) that answers by the example, or no without one.

    `conditions` are the relations that hold according to the answers.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.conditions: list[Condition] = []

    def decide(self, left: Number, relation: str, right: Number) -> bool:
        holds = self._recorder.holds(left, relation, right)
        self.conditions.append((left, relation if holds else OPPOSITE[relation], right))
        return bool(holds)

    def value(self, expression: Dim | Real) -> int | float:
        raise UnboundError(f"{expression} has no value")

    def is_nan_test(self) -> bool:
        return False


def _type_of(x: Argument) -> Argument:
    return TracedType(x) if isinstance(x, Traced) else x


def memory_order(x: Traced) -> Shape | None:
    """The axes of `x` from the longest step in memory to the shortest; None if that is open."""
    if not x.memory.order_known:
        return None
    if x.view.is_row_major:
        return tuple(range(x.view.ndim))
    with deciding(None):
        return stride_order(x.view.shape, x.view.strides)


def has_row_major_order(x: Traced) -> bool:
    """Whether the axes of `x` step through memory in their order, gaps or none."""
    return memory_order(x) == tuple(range(x.view.ndim))


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
    answers = _Answers(recorder)
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
