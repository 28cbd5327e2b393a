"""Programs on PyTorch, traced to graphs that Inductor compiles: for numbers, and for open sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from ...contract.arguments import Native, Operand, Padding, Run, Scalar
from ...contract.program import Program
from ...contract.replay import resolved, steps_at
from ...contract.strided import Storage, Tensor
from ...core.dtypes import DType
from ...core.layout import Selection
from ...core.symbolic import Dim, KnownInts
from ...core.view import View
from ...primitives import table as p
from ...primitives.table import Primitive
from .adapter import wrap
from .compiled_programs import (
    ArrayFunction,
    Compile,
    Compiled,
    ElementError,
    Kinds,
    Traced,
    prepare,
    trace_steps,
)
from .namespace import NO_RESULT
from .torch import Layout, TorchBackend
from .torch_inductor import Settings, compile_graph, copied
from .torch_kernels import from_bits, kernels, to_bits
from .torch_symbolic import Function, Functions, SymbolicView, Symbols


class CompilingTorchBackend(TorchBackend):
    """Executes primitives with PyTorch on one of its devices, and programs with Inductor.

    `functions`: what Inductor made of each program.
    """

    compiler = "torch.compile"

    def __init__(self, name: str, place: str) -> None:
        super().__init__(name, place)
        self.functions: WeakKeyDictionary[Program, Functions] = WeakKeyDictionary()

    def prepare_compiled(self, program: Program, sizes: tuple[int, ...]) -> Run:
        return _prepare_compiled(self, program, sizes)


class _TracedTorch(Traced, TorchBackend):
    """Writes give new tensors, as on JAX.

    Inductor takes no graphs in which a view is written that was made by its strides.
    """

    def __init__(self, backend: CompilingTorchBackend) -> None:
        super().__init__(backend)
        self.unaries, self.binaries = kernels(f"{backend.place.type}:compiled")

    def ensure_view(self, x: Tensor) -> View:
        memory, x.view = self.flatten(x.array)
        x.storage, x.array = Storage(memory), None
        return x.view

    def read(self, memory: Native, view: View) -> tuple[Native, bool]:
        array, _ = super().read(memory, view)
        return array, False

    def write(self, target: Tensor, value: Native | Scalar) -> None:
        view = target.view or self.ensure_view(target)
        storage = target.storage
        memory = storage.memory
        shape, strides, offset, flipped = self.layout(view)
        if not isinstance(value, torch.Tensor):
            value = torch.full((), value, dtype=memory.dtype, device=memory.device)
        value = torch.broadcast_to(value, shape).to(memory.dtype)
        if flipped:
            value = from_bits(torch.flip(to_bits(value), flipped), value.dtype)
        start = memory.storage_offset() + offset
        storage.memory = torch.as_strided_scatter(memory, value, shape, strides, start)

    def put(self, storage: Storage, positions: Native, values: Native | Scalar) -> None:
        memory = storage.memory
        if not isinstance(values, torch.Tensor):
            values = torch.full((), values, dtype=memory.dtype, device=memory.device)
        written = torch.index_put(to_bits(memory), (positions,), to_bits(values))
        storage.memory = from_bits(written, memory.dtype)

    def copy(self, x: Tensor) -> Tensor:
        return wrap(copied(self.array(x).contiguous()))

    def cast(self, x: Tensor, dtype: DType) -> Tensor:
        given, cast = self.array(x), super().cast(x, dtype)
        array = cast.array
        if not array.is_floating_point() or array.itemsize >= given.itemsize:
            return cast
        # Of two casts in a row Inductor would leave out this one, and keep the digits it takes.
        return wrap(array.view(getattr(torch, f"int{8 * array.itemsize}")).view(array.dtype))

    def binary(self, op: Primitive, x1: Operand, x2: Operand, out: Tensor | None = None) -> Tensor:
        if self.place.type == "cuda" and op is not p.POW:
            x1 = self._signed(x1, x2)
            if op is not p.DIVIDE:  # of which Inductor makes products with -inf
                x2 = self._signed(x2, x1)
        return super().binary(op, x1, x2, out)

    def _signed(self, x: Operand, other: Operand) -> Operand:
        """`x`; as an array of bits if it is -0.0, for which Triton writes 0."""
        if not isinstance(x, float) or x != 0 or math.copysign(1, x) > 0:
            return x
        assert type(other) is Tensor
        dtype = self.array(other).dtype
        if dtype.is_complex:
            return x
        bits = getattr(torch, f"int{8 * dtype.itemsize}")
        highest = torch.full((), torch.iinfo(bits).min, dtype=bits, device=self.place)
        return wrap(highest.view(dtype))

    def _linalg(self, name: str, *arrays: Tensor, **options: object) -> Native:
        if name not in NO_RESULT:
            return super()._linalg(name, *arrays, **options)
        matrix, *others = [self.array(x) for x in arrays]
        if others and others[0].ndim > 1 and others[0].shape == matrix.shape[:-1]:
            others[0] = others[0][None]  # PyTorch would take the matrix for a stack of vectors.
        result, failed = getattr(torch.linalg, f"{name}_ex")(matrix, *others, **options)
        error = ElementError(np.linalg.LinAlgError, NO_RESULT[name])
        self.checks.append(((failed == 0).all(), error))
        return wrap(result)

    def add_at(self, array: Native, positions: Native, values: Native) -> Native:
        added = torch.index_put(to_bits(array), (positions,), to_bits(values), accumulate=True)
        return from_bits(added, array.dtype)

    def reduction(
        self, op: Primitive, array: Native, axes: tuple[int, ...], keepdims: bool, dtype: Native
    ) -> Native:
        if op is p.MAX or op is p.MIN:
            wide = super().reduction(op, _widened(array), axes, keepdims, dtype)
            return wide.to(array.dtype)
        return super().reduction(op, array, axes, keepdims, dtype)

    def arg_reduce(self, op: Primitive, x: Tensor, axis: int, keepdims: bool) -> Tensor:
        return super().arg_reduce(op, wrap(_widened(self.array(x))), axis, keepdims)


def _widened(array: Native) -> Native:
    """`array` with elements of four bytes in place of one.

    The extremes of vectors of such elements are wrong:
    https://github.com/pytorch/pytorch/issues/191499
    """
    return array.to(torch.int32) if array.dtype.itemsize == 1 else array


class _SymbolicTorch(_TracedTorch):
    """Sizes may be PyTorch's symbols, which no `View` can have.

    Every tensor is a block of its own. Movement gives other blocks, which must not be written, as
    that would not show in the block that they were taken of; what tries it raises an error, as does
    what else needs numbers, and then the program is compiled for each size.
    """

    def __init__(self, backend: CompilingTorchBackend) -> None:
        super().__init__(backend)
        self._moved: dict[int, Tensor] = {}

    def _of_moved(self, array: Native) -> Tensor:
        moved = wrap(array)
        self._moved[id(moved)] = moved
        return moved

    def ensure_view(self, x: Tensor) -> Native:
        if id(x) in self._moved:
            raise NotImplementedError("the memory of what was moved is asked for")
        array = x.array.contiguous()
        x.view = SymbolicView.row_major(tuple(array.shape))
        x.storage, x.array = Storage(array.reshape(-1)), None
        return x.view

    def bind(self, x: Tensor) -> Native:
        return x.storage.memory.reshape(x.view.shape)

    def read_only_reason(self, x: Tensor) -> str | None:
        return None

    def layout(self, view: View) -> Layout:
        # Without asking whether a size is 1: one step more or less makes no difference there.
        shape: KnownInts = view.shape
        if 0 in shape:
            return shape, (1,) * len(shape), 0, ()
        offset: KnownInts = view.offset
        strides: KnownInts = view.strides
        flipped = tuple([axis for axis, step in enumerate(strides) if step < 0])
        for axis in flipped:
            offset = offset + (shape[axis] - 1) * strides[axis]
        return shape, tuple([abs(step) for step in strides]), offset, flipped

    def strided(self, x: Tensor, view: View) -> Tensor:
        # Who writes to it writes it back to where it was taken of.
        return wrap(self.read(self.array(x).contiguous(), view)[0])

    def assign_strided(self, target: Tensor, view: View, value: Operand) -> None:
        if type(value) is Tensor:
            value = wrap(self.array(value))
        whole = target.view or self.ensure_view(target)
        target.view = view
        self.assign(target, value)
        target.view = whole

    def contiguous(self, x: Tensor) -> Tensor:
        return x

    def expand(self, x: Tensor, shape: tuple[int, ...]) -> Tensor:
        return self._of_moved(torch.broadcast_to(self.array(x), shape))

    def try_reshape(self, x: Tensor, shape: tuple[int, ...]) -> Tensor | None:
        return self._of_moved(torch.reshape(self.array(x), shape))

    def permute(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        return self._of_moved(torch.permute(self.array(x), axes))

    def flip(self, x: Tensor, axes: tuple[bool, ...]) -> Tensor:
        array = self.array(x)
        marked = [axis for axis, flips in enumerate(axes) if flips]
        return self._of_moved(from_bits(torch.flip(to_bits(array), marked), array.dtype))

    def slice(self, x: Tensor, selection: Selection) -> Tensor:
        array = self.array(x)
        key: list[slice | int | None] = []
        for item in selection:
            if not isinstance(item, tuple):
                key.append(item)
                continue
            start, count, step = item
            if step < 0:
                raise NotImplementedError("a slice that runs backwards")
            key.append(slice(start, start + count * step, step))
        return self._of_moved(array[tuple(key)])

    def pad(self, x: Tensor, padding: Padding, value: Scalar) -> Tensor:
        shape = self.shape(x)
        pairs = zip(shape, padding, strict=True)
        result: Tensor = self.full(
            tuple([size + before + after for size, (before, after) in pairs]), self.dtype(x), value
        )
        whole = self.ensure_view(result)
        skipped = zip(whole.strides, padding, strict=True)
        start = sum([step * before for step, (before, _) in skipped])
        inner: Native = SymbolicView(shape, whole.strides, start)
        self.assign_strided(result, inner, x)
        return result

    def arange(
        self, start: int | float, stop: int | float, step: int | float, dtype: DType
    ) -> Tensor:
        if any([isinstance(x, float | torch.SymFloat) for x in (start, stop, step)]):
            raise NotImplementedError("a number of steps that floats say")
        values = torch.arange(start, stop, step, dtype=torch.int64, device=self.place)
        return wrap(values.to(self.dtypes[dtype]))


def _traced(
    backend: CompilingTorchBackend, function: ArrayFunction, kinds: Kinds
) -> Callable[[], ArrayFunction]:
    def examples() -> list[Native]:
        return [
            torch.empty(shape, dtype=backend.dtypes[dtype], device=backend.place)
            for shape, dtype in kinds
        ]

    graph = make_fx(function, tracing_mode="fake")(*examples())
    return lambda: compile_graph(graph, [], examples(), {})


_THREADED_MIN: Final = 1 << 15
"""Elements of the largest value of a program from which on a function with open sizes is compiled
with threads (docs/tuning.md, 41)."""
_CHUNKS: Final = {False: 1 << 62, True: 511}
"""Elements for each thread from which on Inductor divides a loop, without threads and with them.
It decides that once, by the sizes that it meets first, and its cache of compiled code tells
functions by settings, not by these sizes: so neither is its own setting, 512."""
_MAX_FAILURES: Final = 3
"""Failures after which the sizes of one program are no longer left open."""


def _prepare_compiled(
    backend: CompilingTorchBackend, program: Program, sizes: tuple[int, ...]
) -> Run:
    """The first sizes are compiled as numbers; from the second on one function serves many."""
    functions = backend.functions.get(program)
    if functions is None:
        functions = backend.functions.setdefault(program, Functions(program))
    largest = max(functions.count_elements(*sizes), default=0)
    is_threaded = largest >= _THREADED_MIN and backend.place.type == "cpu"
    found = functions.find(sizes, is_threaded)
    tracing = _TracedTorch(backend)

    def prepare_steps(steps: Run, kinds: Kinds) -> Compile:
        if found is not None:
            served = found.at(sizes)
            return lambda: served
        if functions.first not in (None, sizes) and functions.failures < _MAX_FAILURES:
            return partial(compile_open, steps, kinds)
        compile_steps = trace_steps(tracing, partial(_traced, backend), steps, kinds)

        def compile_first() -> Compiled:
            compiled = compile_steps()
            functions.compiled_first(sizes)
            return compiled

        return compile_first

    def compile_open(steps: Run, kinds: Kinds) -> Compiled:
        try:
            symbols = Symbols(sizes, functions.opened(sizes))
            function = _compile_open(backend, program, sizes, symbols, is_threaded)
        except Exception:
            functions.failures += 1
            return trace_steps(tracing, partial(_traced, backend), steps, kinds)()
        functions.keep(function)
        return function.at(sizes)

    run = prepare(backend, tracing, program, sizes, prepare_steps)
    run.is_shared = found is not None  # type: ignore[attr-defined]
    return run


def _compile_open(
    backend: CompilingTorchBackend,
    program: Program,
    sizes: tuple[int, ...],
    symbols: Symbols,
    is_threaded: bool,
) -> Function:
    """A function of the program for open sizes; whatever error there is, it cannot be made."""
    tracing = _SymbolicTorch(backend)
    given = [program.values[i] for i in (*range(len(program.inputs)), *program.constants)]
    dims = [n for value in given for n in value.shape if isinstance(n, Dim)]
    numbers = dict(zip(dims, program.function_of(dims)(*symbols.numbers), strict=True))
    with symbols.mode:
        examples = [
            torch.empty(
                resolved(value.shape, numbers),
                dtype=backend.dtypes[value.dtype],
                device=backend.place,
            )
            for value in given
        ]

    def must_be_open() -> None:
        if not symbols.are_open or not symbols.allow(sizes):
            raise NotImplementedError("PyTorch has taken a size for a number")

    def steps(*handles: Tensor) -> tuple[Tensor, ...]:
        # While it traces, PyTorch notes down how numbers are computed from the sizes.
        return steps_at(tracing, program, symbols.numbers, SymbolicView.at)(*handles)

    def trace_arrays(function: ArrayFunction, kinds: Kinds) -> Callable[[], ArrayFunction]:
        open_sizes = symbols.open_numbers

        def with_sizes(*arguments: Native) -> Sequence[Native]:
            return function(*arguments[len(open_sizes) :])

        graph = make_fx(with_sizes, tracing_mode="symbolic")(*open_sizes, *examples)
        must_be_open()
        settings: Settings = {"cpp.min_chunk_size": _CHUNKS[is_threaded]}
        return lambda: compile_graph(graph, open_sizes, examples, settings)

    compiled = trace_steps(tracing, trace_arrays, steps, [])()
    must_be_open()
    return Function(compiled, symbols, is_threaded)
