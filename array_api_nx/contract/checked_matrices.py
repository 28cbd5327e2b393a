"""Chapters of the checked backend: random bits, windows, matrices, transforms, linear algebra."""

from __future__ import annotations

from math import prod

from ..core import dtypes as d
from ..core.dtypes import BOUNDS, DType
from ..primitives import table as p
from ..primitives.table import Primitive
from .backend import Backend, Handle, Norm, Overlap, Padding
from .checks import REAL_OF, CheckedCall, Shape
from .composed import convolved_size
from .random_numbers import DRAWN, PARAMETERS, Kind

__all__ = ["CheckedMatrices"]


class CheckedMatrices(Backend):
    """The sections of `CheckedBackend` from "random bits" on."""

    inner: Backend

    # ------------------------------------------------------------------ random bits

    def threefry(self, key: Handle, counter: Handle) -> Handle:
        call = CheckedCall(self.inner, "threefry", key=key, counter=counter)
        call.handles(key, counter)
        call.same_dtype(key, counter)
        call.result_dtype(p.THREEFRY, self.inner.dtype(key))
        shape = self.inner.shape(counter)
        call.guarantees(self.inner.shape(key) == (2,), "a key of shape (2,)")
        call.guarantees(shape[-1:] == (2,), "counters of shape (..., 2)")
        return call.returns(self.inner.threefry(key, counter), shape, d.uint32)

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
        call = CheckedCall(self.inner, "draw", kind=kind, key=key, count=count, dtype=dtype)
        call.guarantees(dtype in DRAWN.get(kind, ()), "a dtype that the kind of draw has")
        call.guarantees(all([0 <= word < 2**32 for word in key]), "a key of words of 32 bits")
        call.guarantees(base >= 0 and first >= 0 and count >= 0, "counters of at least 0")
        call.guarantees(base + 2 * (first + count) < 2**63, "counters below 2**63")
        if kind == "integers":
            least, most = BOUNDS[dtype]
            inside = least <= low and low + span - 1 <= most
            call.guarantees(1 <= span <= 2**64 and inside, "a span within the dtype")
        else:
            call.guarantees(low == span == 0, "bounds for integers alone")
        self._check_parameters(call, kind, count, parameters)
        result = self.inner.draw(kind, key, base, first, count, dtype, low, span, parameters)
        return call.returns(result, (count,), dtype)

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
        call = CheckedCall(self.inner, "draw_from", kind=kind, count=count, dtype=dtype)
        call.handles(key, counter)
        for state in (key, counter):
            call.guarantees(self.inner.shape(state) == (), "a state of shape ()")
            call.guarantees(self.inner.dtype(state) is d.int64, "a state of int64")
        call.guarantees(dtype in DRAWN.get(kind, ()), "a dtype that the kind of draw has")
        call.guarantees(offset >= 0 and count >= 0, "counters of at least 0")
        self._check_parameters(call, kind, count, parameters)
        result = self.inner.draw_from(
            kind, key, counter, offset, count, dtype, low, span, parameters
        )
        return call.returns(result, (count,), dtype)

    def _check_parameters(
        self, call: CheckedCall, kind: Kind, count: int, parameters: tuple[Handle | float, ...]
    ) -> None:
        expected = PARAMETERS.get(kind, 0)
        call.guarantees(len(parameters) == expected, "as many parameters as the kind has")
        arrays = [x for x in parameters if not isinstance(x, float)]
        call.handles(*arrays)
        for x in arrays:
            call.guarantees(self.inner.dtype(x) is d.float64, "parameters of float64")
            call.guarantees(self.inner.shape(x) == (count,), "a parameter for each number")

    # ------------------------------------------------------------------ windows

    def unfold(
        self,
        x: Handle,
        kernel_size: Shape,
        stride: Shape,
        dilation: Shape,
        padding: Padding,
    ) -> Handle:
        call = CheckedCall(
            self.inner,
            "unfold",
            x=x,
            kernel_size=kernel_size,
            stride=stride,
            dilation=dilation,
            padding=padding,
        )
        call.handles(x)
        dtype = call.result_dtype(p.UNFOLD, self.inner.dtype(x))
        shape = self.inner.shape(x)
        lead = len(shape) - len(kernel_size)
        call.guarantees(lead >= 0, "an axis for every size of the kernel")
        windows = call.windows(shape[lead:], kernel_size, stride, dilation, padding)
        result = self.inner.unfold(x, kernel_size, stride, dilation, padding)
        return call.returns(result, (*shape[:lead], prod(kernel_size), windows), dtype)

    def fold(
        self,
        x: Handle,
        output_size: Shape,
        kernel_size: Shape,
        stride: Shape,
        dilation: Shape,
        padding: Padding,
    ) -> Handle:
        call = CheckedCall(
            self.inner,
            "fold",
            x=x,
            output_size=output_size,
            kernel_size=kernel_size,
            stride=stride,
            dilation=dilation,
            padding=padding,
        )
        call.handles(x)
        dtype = call.result_dtype(p.FOLD, self.inner.dtype(x))
        call.is_shape(output_size)
        windows = call.windows(output_size, kernel_size, stride, dilation, padding)
        shape = self.inner.shape(x)
        call.guarantees(shape[-2:] == (prod(kernel_size), windows), "the shape that `unfold` gives")
        result = self.inner.fold(x, output_size, kernel_size, stride, dilation, padding)
        return call.returns(result, (*shape[:-2], *output_size), dtype)

    # ------------------------------------------------------------------ matrices

    def matmul(self, x1: Handle, x2: Handle) -> Handle:
        call = CheckedCall(self.inner, "matmul", x1=x1, x2=x2)
        call.handles(x1, x2)
        call.same_dtype(x1, x2)
        dtype = call.result_dtype(p.MATMUL, self.inner.dtype(x1))
        left, right = self.inner.shape(x1), self.inner.shape(x2)
        call.guarantees(len(left) >= 1 <= len(right), "at least one axis each")
        call.guarantees(left[-1] == right[-2:][0], "the contracted sizes agree")
        result = self.inner.matmul(x1, x2)
        lead = call.broadcast(left[:-2], right[:-2])
        columns = right[-1:] if len(right) > 1 else ()
        return call.returns(result, (*lead, *left[-2:-1], *columns), dtype)

    def vecdot(self, x1: Handle, x2: Handle) -> Handle:
        call = CheckedCall(self.inner, "vecdot", x1=x1, x2=x2)
        call.handles(x1, x2)
        call.same_dtype(x1, x2)
        dtype = call.result_dtype(p.VECDOT, self.inner.dtype(x1))
        left, right = self.inner.shape(x1), self.inner.shape(x2)
        call.guarantees(len(left) >= 1 <= len(right), "at least one axis each")
        call.guarantees(left[-1] == right[-1], "last axes of the same size")
        result = self.inner.vecdot(x1, x2)
        return call.returns(result, call.broadcast(left[:-1], right[:-1]), dtype)

    def convolve(self, x1: Handle, x2: Handle, mode: Overlap) -> Handle:
        call = CheckedCall(self.inner, "convolve", x1=x1, x2=x2, mode=mode)
        call.handles(x1, x2)
        call.same_dtype(x1, x2)
        dtype = call.result_dtype(p.CONVOLVE, self.inner.dtype(x1))
        shapes = self.inner.shape(x1), self.inner.shape(x2)
        call.guarantees([len(shape) for shape in shapes] == [1, 1], "one axis each")
        (size,), (taps,) = shapes
        call.guarantees(1 <= taps <= size, "an `x1` no shorter than `x2`, which is not empty")
        call.guarantees(mode in ("full", "same", "valid"), "a legal mode")
        result = self.inner.convolve(x1, x2, mode)
        return call.returns(result, (convolved_size(size, taps, mode),), dtype)

    # ------------------------------------------------------------------ Fourier transforms

    def fft(self, x: Handle, axes: Shape, norm: Norm) -> Handle:
        call, dtype = self._transforming(p.FFT, x, axes, norm)
        return call.returns(self.inner.fft(x, axes, norm), self.inner.shape(x), dtype)

    def ifft(self, x: Handle, axes: Shape, norm: Norm) -> Handle:
        call, dtype = self._transforming(p.IFFT, x, axes, norm)
        return call.returns(self.inner.ifft(x, axes, norm), self.inner.shape(x), dtype)

    def rfft(self, x: Handle, axes: Shape, norm: Norm) -> Handle:
        call, dtype = self._transforming(p.RFFT, x, axes, norm)
        shape = list(self.inner.shape(x))
        shape[axes[-1]] = shape[axes[-1]] // 2 + 1
        return call.returns(self.inner.rfft(x, axes, norm), tuple(shape), dtype)

    def irfft(self, x: Handle, axes: Shape, last_size: int, norm: Norm) -> Handle:
        call, dtype = self._transforming(p.IRFFT, x, axes, norm)
        shape = list(self.inner.shape(x))
        call.guarantees(
            last_size > 0 and shape[axes[-1]] == last_size // 2 + 1,
            f"the half of a spectrum of size {last_size}",
        )
        shape[axes[-1]] = last_size
        return call.returns(self.inner.irfft(x, axes, last_size, norm), tuple(shape), dtype)

    def _transforming(
        self, op: Primitive, x: Handle, axes: Shape, norm: Norm
    ) -> tuple[CheckedCall, DType]:
        call = CheckedCall(self.inner, op.name, x=x, axes=axes, norm=norm)
        call.handles(x)
        call.axes(axes, x)
        call.guarantees(len(axes) > 0, "at least one axis")
        shape = self.inner.shape(x)
        call.guarantees(0 not in [shape[axis] for axis in axes], "no empty axis")
        call.guarantees(norm in ("backward", "ortho", "forward"), "a legal norm")
        return call, call.result_dtype(op, self.inner.dtype(x))

    # ------------------------------------------------------------------ linear algebra

    def cholesky(self, x: Handle, *, upper: bool) -> Handle:
        call, dtype = self._decomposing(p.CHOLESKY, x, square=True)
        call.flags(upper)
        return call.returns(self.inner.cholesky(x, upper=upper), self.inner.shape(x), dtype)

    def qr(self, x: Handle, *, complete: bool) -> tuple[Handle, Handle]:
        call, dtype = self._decomposing(p.QR, x, square=False)
        call.flags(complete)
        q, r = self.inner.qr(x, complete=complete)
        *lead, rows, columns = self.inner.shape(x)
        inner = rows if complete else min(rows, columns)
        return (
            call.returns(q, (*lead, rows, inner), dtype),
            call.returns(r, (*lead, inner, columns), dtype),
        )

    def svd(self, x: Handle, *, full_matrices: bool) -> tuple[Handle, Handle, Handle]:
        call, dtype = self._decomposing(p.SVD, x, square=False)
        call.flags(full_matrices)
        u, s, vh = self.inner.svd(x, full_matrices=full_matrices)
        *lead, rows, columns = self.inner.shape(x)
        rank = min(rows, columns)
        return (
            call.returns(u, (*lead, rows, rows if full_matrices else rank), dtype),
            call.returns(s, (*lead, rank), REAL_OF[dtype]),
            call.returns(vh, (*lead, columns if full_matrices else rank, columns), dtype),
        )

    def svdvals(self, x: Handle) -> Handle:
        call, dtype = self._decomposing(p.SVDVALS, x, square=False)
        *lead, rows, columns = self.inner.shape(x)
        return call.returns(self.inner.svdvals(x), (*lead, min(rows, columns)), dtype)

    def eig(self, x: Handle) -> tuple[Handle, Handle]:
        call, dtype = self._decomposing(p.EIG, x, square=True)
        values, vectors = self.inner.eig(x)
        shape = self.inner.shape(x)
        return call.returns(values, shape[:-1], dtype), call.returns(vectors, shape, dtype)

    def eigvals(self, x: Handle) -> Handle:
        call, dtype = self._decomposing(p.EIGVALS, x, square=True)
        return call.returns(self.inner.eigvals(x), self.inner.shape(x)[:-1], dtype)

    def eigh(self, x: Handle) -> tuple[Handle, Handle]:
        call, dtype = self._decomposing(p.EIGH, x, square=True)
        values, vectors = self.inner.eigh(x)
        shape = self.inner.shape(x)
        return (
            call.returns(values, shape[:-1], REAL_OF[dtype]),
            call.returns(vectors, shape, dtype),
        )

    def eigvalsh(self, x: Handle) -> Handle:
        call, dtype = self._decomposing(p.EIGVALSH, x, square=True)
        return call.returns(self.inner.eigvalsh(x), self.inner.shape(x)[:-1], dtype)

    def solve(self, x1: Handle, x2: Handle) -> Handle:
        call, shapes = self._solving(p.SOLVE, x1, x2)
        result = self.inner.solve(x1, x2)
        return call.returns(result, self._solution_shape(call, *shapes), self.inner.dtype(x1))

    def inv(self, x: Handle) -> Handle:
        call, dtype = self._decomposing(p.INV, x, square=True)
        return call.returns(self.inner.inv(x), self.inner.shape(x), dtype)

    def slogdet(self, x: Handle) -> tuple[Handle, Handle]:
        call, dtype = self._decomposing(p.SLOGDET, x, square=True)
        sign, logarithm = self.inner.slogdet(x)
        lead = self.inner.shape(x)[:-2]
        return call.returns(sign, lead, dtype), call.returns(logarithm, lead, REAL_OF[dtype])

    def det(self, x: Handle) -> Handle:
        call, dtype = self._decomposing(p.DET, x, square=True)
        return call.returns(self.inner.det(x), self.inner.shape(x)[:-2], dtype)

    def triangular_solve(
        self, x1: Handle, x2: Handle, *, upper: bool, transpose: bool, unit_diagonal: bool
    ) -> Handle:
        call, shapes = self._solving(p.TRIANGULAR_SOLVE, x1, x2)
        call.flags(upper, transpose, unit_diagonal)
        result = self.inner.triangular_solve(
            x1, x2, upper=upper, transpose=transpose, unit_diagonal=unit_diagonal
        )
        return call.returns(result, self._solution_shape(call, *shapes), self.inner.dtype(x1))

    def _decomposing(self, op: Primitive, x: Handle, *, square: bool) -> tuple[CheckedCall, DType]:
        call = CheckedCall(self.inner, op.name, x=x)
        call.matrix(x, square=square)
        return call, call.result_dtype(op, self.inner.dtype(x))

    def _solving(
        self, op: Primitive, x1: Handle, x2: Handle
    ) -> tuple[CheckedCall, tuple[Shape, Shape]]:
        call = CheckedCall(self.inner, op.name, x1=x1, x2=x2)
        call.matrix(x1, square=True)
        call.matrix(x2, square=False)
        call.same_dtype(x1, x2)
        call.result_dtype(op, self.inner.dtype(x1))
        shapes = self.inner.shape(x1), self.inner.shape(x2)
        call.guarantees(shapes[0][-1] == shapes[1][-2], "as many equations on both sides")
        return call, shapes

    def _solution_shape(self, call: CheckedCall, left: Shape, right: Shape) -> Shape:
        return (*call.broadcast(left[:-2], right[:-2]), *right[-2:])
