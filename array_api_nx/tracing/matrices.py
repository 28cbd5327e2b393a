"""Shapes of products, transforms, windows and decompositions, for the tracing backend."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from ..contract.backend import Backend, Handle, Norm, Overlap, Padding
from ..contract.program import Argument
from ..core.dtypes import DType
from ..core.shape import broadcast_shapes
from ..core.symbolic import DimLike, Sizes, UndecidedError, Var, deciding, dim_of_var
from ..core.symbolic_layout import stride_order
from ..primitives import table as p
from ..primitives.rules import convolved_size, window_counts
from .recorder import Recorder, Traced, current

__all__ = ["CAPTURED", "TracingMatrices", "has_row_major_order", "memory_order"]

Shape = tuple[int, ...]

CAPTURED: Final = "the function found it outside of itself"


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


def _flat(x: object) -> Iterator[object]:
    """What is within nested tuples and lists."""
    if isinstance(x, tuple | list):
        for part in x:
            yield from _flat(part)
    else:
        yield x


class TracingMatrices(Backend):
    """The part of the tracing backend whose primitives work on the last axes.

    Attributes
    ----------
    real : Backend
        What the program will run on.
    kind : type of Traced
        The handles of this backend. All others are those of `real`.
    """

    kind: type[Traced] = Traced

    def __init__(self, real: Backend) -> None:
        self.real = real
        self.immutable = real.immutable
        self.shares_host = real.shares_host
        self.takes_any_bool = real.takes_any_bool
        self.word = real.word
        self.strided_shares = real.strided_shares

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

    def step(
        self,
        method: str,
        arguments: tuple[Argument, ...],
        *results: tuple[Sizes, DType],
        **keywords: Argument,
    ) -> list[Traced]:
        """Record a step and return its results."""
        recorder = self.recorder()
        recorder.use_backend(self)
        found = recorder.record(method, arguments, results, **keywords)
        # NumPy's results are row-major where the axes of all operands have that order.
        known = all([has_row_major_order(x) for x in _flat(arguments) if isinstance(x, Traced)])
        for result in found:
            result.memory.order_known = result.memory.is_packed = known
        return found

    # ------------------------------------------------------------------ windows

    def unfold(
        self, x: Handle, kernel_size: Shape, stride: Shape, dilation: Shape, padding: Padding
    ) -> Traced:
        x = self.traced(x)
        shape = x.view.shape
        lead = shape[: len(shape) - len(kernel_size)]
        counts = window_counts(shape[len(lead) :], kernel_size, stride, dilation, padding)
        result = (*lead, prod(kernel_size), prod(counts))
        arguments = (x, kernel_size, stride, dilation, padding)
        return self.step("unfold", arguments, (result, x.memory.dtype))[0]

    def fold(
        self,
        x: Handle,
        output_size: Shape,
        kernel_size: Shape,
        stride: Shape,
        dilation: Shape,
        padding: Padding,
    ) -> Traced:
        x = self.traced(x)
        result = (*x.view.shape[:-2], *output_size)
        arguments = (x, output_size, kernel_size, stride, dilation, padding)
        return self.step("fold", arguments, (result, x.memory.dtype))[0]

    # ------------------------------------------------------------------ products

    def matmul(self, x1: Handle, x2: Handle) -> Traced:
        x1, x2 = self.traced(x1), self.traced(x2)
        shape1, shape2 = x1.view.shape, x2.view.shape
        lead = broadcast_shapes(shape1[:-2], shape2[:-2])
        rows = shape1[-2:-1]
        columns = shape2[-1:] if len(shape2) > 1 else ()
        return self.step("matmul", (x1, x2), ((*lead, *rows, *columns), x1.memory.dtype))[0]

    def vecdot(self, x1: Handle, x2: Handle) -> Traced:
        x1, x2 = self.traced(x1), self.traced(x2)
        shape = broadcast_shapes(x1.view.shape[:-1], x2.view.shape[:-1])
        return self.step("vecdot", (x1, x2), (shape, x1.memory.dtype))[0]

    def convolve(self, x1: Handle, x2: Handle, mode: Overlap) -> Traced:
        x1, x2 = self.traced(x1), self.traced(x2)
        size = convolved_size(x1.view.shape[0], x2.view.shape[0], mode)
        return self.step("convolve", (x1, x2, mode), ((size,), x1.memory.dtype))[0]

    # ------------------------------------------------------------------ Fourier transforms

    def fft(self, x: Handle, axes: Shape, norm: Norm) -> Traced:
        x = self.traced(x)
        result = (x.view.shape, p.FFT.results[x.memory.dtype])
        return self.step("fft", (x, axes, norm), result)[0]

    def ifft(self, x: Handle, axes: Shape, norm: Norm) -> Traced:
        x = self.traced(x)
        result = (x.view.shape, p.IFFT.results[x.memory.dtype])
        return self.step("ifft", (x, axes, norm), result)[0]

    def rfft(self, x: Handle, axes: Shape, norm: Norm) -> Traced:
        x = self.traced(x)
        shape = list(x.view.shape)
        shape[axes[-1]] = shape[axes[-1]] // 2 + 1
        result = (tuple(shape), p.RFFT.results[x.memory.dtype])
        return self.step("rfft", (x, axes, norm), result)[0]

    def irfft(self, x: Handle, axes: Shape, last_size: int, norm: Norm) -> Traced:
        x = self.traced(x)
        shape = list(x.view.shape)
        shape[axes[-1]] = last_size
        result = (tuple(shape), p.IRFFT.results[x.memory.dtype])
        return self.step("irfft", (x, axes, last_size, norm), result)[0]

    # ------------------------------------------------------------------ linear algebra

    def cholesky(self, x: Handle, *, upper: bool) -> Traced:
        x = self.traced(x)
        return self.step("cholesky", (x,), (x.view.shape, x.memory.dtype), upper=upper)[0]

    def qr(self, x: Handle, *, complete: bool) -> tuple[Traced, Traced]:
        x = self.traced(x)
        *lead, rows, columns = x.view.shape
        inner = rows if complete else _smaller(rows, columns)
        results = [
            ((*lead, rows, inner), x.memory.dtype),
            ((*lead, inner, columns), x.memory.dtype),
        ]
        q, r = self.step("qr", (x,), *results, complete=complete)
        return q, r

    def svd(self, x: Handle, *, full_matrices: bool) -> tuple[Traced, Traced, Traced]:
        x = self.traced(x)
        dtype = x.memory.dtype
        *lead, rows, columns = x.view.shape
        inner = _smaller(rows, columns)
        u, s, vh = self.step(
            "svd",
            (x,),
            ((*lead, rows, rows if full_matrices else inner), dtype),
            ((*lead, inner), p.SVDVALS.results[dtype]),
            ((*lead, columns if full_matrices else inner, columns), dtype),
            full_matrices=full_matrices,
        )
        return u, s, vh

    def svdvals(self, x: Handle) -> Traced:
        x = self.traced(x)
        *lead, rows, columns = x.view.shape
        result = (*lead, _smaller(rows, columns))
        return self.step("svdvals", (x,), (result, p.SVDVALS.results[x.memory.dtype]))[0]

    def eig(self, x: Handle) -> tuple[Traced, Traced]:
        x = self.traced(x)
        dtype = p.EIG.results[x.memory.dtype]
        values, vectors = self.step("eig", (x,), (x.view.shape[:-1], dtype), (x.view.shape, dtype))
        return values, vectors

    def eigvals(self, x: Handle) -> Traced:
        x = self.traced(x)
        result = (x.view.shape[:-1], p.EIGVALS.results[x.memory.dtype])
        return self.step("eigvals", (x,), result)[0]

    def eigh(self, x: Handle) -> tuple[Traced, Traced]:
        x = self.traced(x)
        dtype = x.memory.dtype
        values, vectors = self.step(
            "eigh", (x,), (x.view.shape[:-1], p.EIGVALSH.results[dtype]), (x.view.shape, dtype)
        )
        return values, vectors

    def eigvalsh(self, x: Handle) -> Traced:
        x = self.traced(x)
        result = (x.view.shape[:-1], p.EIGVALSH.results[x.memory.dtype])
        return self.step("eigvalsh", (x,), result)[0]

    def solve(self, x1: Handle, x2: Handle) -> Traced:
        x1, x2 = self.traced(x1), self.traced(x2)
        lead = broadcast_shapes(x1.view.shape[:-2], x2.view.shape[:-2])
        return self.step("solve", (x1, x2), ((*lead, *x2.view.shape[-2:]), x1.memory.dtype))[0]

    def inv(self, x: Handle) -> Traced:
        x = self.traced(x)
        return self.step("inv", (x,), (x.view.shape, x.memory.dtype))[0]

    def slogdet(self, x: Handle) -> tuple[Traced, Traced]:
        x = self.traced(x)
        shape, dtype = x.view.shape[:-2], x.memory.dtype
        sign, logarithm = self.step("slogdet", (x,), (shape, dtype), (shape, p.ABS.results[dtype]))
        return sign, logarithm

    def det(self, x: Handle) -> Traced:
        x = self.traced(x)
        return self.step("det", (x,), (x.view.shape[:-2], x.memory.dtype))[0]

    def triangular_solve(
        self, x1: Handle, x2: Handle, *, upper: bool, transpose: bool, unit_diagonal: bool
    ) -> Traced:
        x1, x2 = self.traced(x1), self.traced(x2)
        lead = broadcast_shapes(x1.view.shape[:-2], x2.view.shape[:-2])
        return self.step(
            "triangular_solve",
            (x1, x2),
            ((*lead, *x2.view.shape[-2:]), x1.memory.dtype),
            upper=upper,
            transpose=transpose,
            unit_diagonal=unit_diagonal,
        )[0]


def _smaller(a: DimLike, b: DimLike) -> DimLike:
    """min(a, b); where nothing decides which that is, a variable of that name."""
    try:
        return a if a <= b else b
    except UndecidedError:
        recorder = current.get()
        assert recorder is not None
        if not recorder.invents:
            raise
        ends = [x.bounds if not isinstance(x, int) else (x, x) for x in (a, b)]
        lowest, highest = min(e[0] for e in ends), min(e[1] for e in ends)
        return dim_of_var(Var(f"min({a}, {b})", lowest, highest))
