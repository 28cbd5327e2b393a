"""The backend contract.

A backend executes primitives (primitives/table.py) over handles of its own: whatever object
represents an array there. The frontend has checked everything by the time a backend is called, so a
backend never validates; contract/checked.py asserts the frontend's half for any backend in tests.

Throughout, a backend relies on what **Frontend guarantees**, and owes what **Backend must** do.
For every primitive:

Frontend guarantees: handles come from this backend. Axes are ints counted from the front, in
range and distinct. Shapes are tuples of non-negative ints without -1. dtypes are those of `core`
for which the row of the primitive has a result. Names, flags and modes are legal.

Backend must: return new handles whose shape and dtype are those that the operation and the row
define, and never change an argument unless the primitive says so. The result of a movement
primitive may share its argument's memory; that of any other owns its memory or is only readable.
Errors that depend on elements are raised by the call, or, by a backend that computes later, when
the elements are computed.

The methods that are abstract in `Backend` (backend.py) are irreducible. The others are composed of
them; a backend overrides what its engine does better. The first chapters are in handles.py and
arrays.py.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import product
from math import prod
from typing import Final

from ..core import dtypes as d
from ..core.dtypes import DType
from ..core.view import View
from ..primitives import table as p
from ..primitives.rules import convolved_size, window_counts
from .arguments import Handle, Kind, Norm, Overlap, Padding, Run
from .arrays import Arrays, open_mesh, report_host
from .errors import CannotCompileError, negative_elements
from .program import Program

_ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))


class Interface(Arrays):
    """The methods of the contract. See the module's text for what holds throughout."""

    # ------------------------------------------------------------------ programs

    @abstractmethod
    def prepare(self, program: Program, sizes: tuple[int, ...]) -> Run:
        """Make ready to run a program for given sizes.

        Frontend guarantees: `sizes` are the values of ``program.variables``, and its guards hold.
        Backend must: return a function from the handles of the inputs, in order, to those of the
        outputs, which may be called any number of times; it gives the results that calling the
        steps' methods gives. Write the inputs that the program writes, and nothing else.
        """

    compiler: str | None = None
    """The engine's compiler, by name, where `prepare_compiled` has it make a function of a program
    for given sizes; that pays for sizes that come again and again."""

    compiles_unasked: bool = True
    """Whether engine="auto" is to use `compiler`, too."""

    def prepare_compiled(self, program: Program, sizes: tuple[int, ...]) -> Run:
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

    # ------------------------------------------------------------------ indexed access

    def gather(self, x: Handle, indices: Handle, axis: int) -> Handle:
        """Per position, the element of `x` with its own index on `axis`.

        Frontend guarantees: `indices` is int64 and has the shape of `x` but for `axis`.
        Backend must: raise IndexError if an index is not in [-size, size).
        """
        return self.index_get(x, open_mesh(self, indices, axis))

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
        # Each element is looked up among the sorted members.
        size = prod(self.shape(members))
        if size == 0:
            return self.full(self.shape(x), d.bool, invert)
        members = self.reshape(members, (size,))
        if self.dtype(x) in d.COMPLEX:
            found = _is_member_unordered(self, x, members, size)
            return self.unary(p.LOGICAL_NOT, found) if invert else found
        members = self.sort(members, 0, descending=False, stable=False)
        position = self.searchsorted(members, x, right=False)
        candidate = self.take(members, self.binary(p.MINIMUM, position, size - 1), 0)
        return self.binary(p.NOT_EQUAL if invert else p.EQUAL, x, candidate)

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
        # By adding to zeros.
        x = self.cast(x, d.int64)
        size = prod(self.shape(x))
        if extend and size:
            ends = [self.reduce(op, x, (0,), False) for op in (p.MIN, p.MAX)]
            report_host(self, *ends)
            least, greatest = [int(self.item(end).real) for end in ends]
            if least < 0:
                raise ValueError(negative_elements(least))
            length = max(length, greatest + 1)
        if weights is None:
            weights = self.full((size,), d.int64, 1)
        zeros = self.full((length,), self.dtype(weights), 0)
        return self.scatter(zeros, x, weights, 0, add=True)

    # ------------------------------------------------------------------ random bits

    def threefry(self, key: Handle, counter: Handle) -> Handle:
        """The Threefry-2x32 hash, with 20 rounds, of pairs of counters.

        Frontend guarantees: both uint32; `key` has shape (2,), `counter` (..., 2).
        Backend must: return the same bits as every other backend.
        """
        # J. K. Salmon and others, Parallel random numbers: as easy as 1, 2, 3 (SC11).

        def column(x: Handle, which: int) -> Handle:
            whole = [(0, size, 1) for size in self.shape(x)[:-1]]
            return self.slice(x, (*whole, which))

        def add(x1: Handle, x2: Handle | int) -> Handle:
            return self.binary(p.ADD, x1, x2)

        def xor(x1: Handle, x2: Handle | int) -> Handle:
            return self.binary(p.BITWISE_XOR, x1, x2)

        k0, k1 = column(key, 0), column(key, 1)
        keys = (k0, k1, xor(xor(k0, k1), 0x1BD11BDA))
        x0, x1 = add(column(counter, 0), k0), add(column(counter, 1), k1)
        for group in range(5):
            for rotation in _ROTATIONS[group % 2]:
                x0 = add(x0, x1)
                high = self.binary(p.BITWISE_LEFT_SHIFT, x1, rotation)
                low = self.binary(p.BITWISE_RIGHT_SHIFT, x1, 32 - rotation)
                x1 = xor(x0, self.binary(p.BITWISE_OR, high, low))
            x0 = add(x0, keys[(group + 1) % 3])
            x1 = add(add(x1, keys[(group + 2) % 3]), group + 1)
        pair = (*self.shape(x0), 1)
        return self.cat([self.reshape(x0, pair), self.reshape(x1, pair)], len(pair) - 1)

    @abstractmethod
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
        `random_numbers.PARAMETERS` says; arrays among them are float64, of shape (count,).
        Backend must: return the same bits as every other backend, in memory of their own; for
        parameters that no distribution has, NaN, or -1 among integers.
        """

    @abstractmethod
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
        # One strided slice per position in the kernel.
        shape = self.shape(x)
        lead = shape[: len(shape) - len(kernel_size)]
        counts = window_counts(shape[len(lead) :], kernel_size, stride, dilation, padding)
        padded = self.pad(x, (*[(0, 0)] * len(lead), *padding), 0)
        pieces = []
        for position in product(*[range(k) for k in kernel_size]):
            piece = self.slice(
                padded,
                (
                    *[(0, size, 1) for size in lead],
                    *[
                        (i * dil, count, step)
                        for i, dil, count, step in zip(
                            position, dilation, counts, stride, strict=True
                        )
                    ],
                ),
            )
            pieces.append(self.reshape(piece, (*lead, 1, prod(counts))))
        return self.cat(pieces, len(lead))

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
        # Every element is added at the position that it was taken from.
        shape = self.shape(x)
        lead = shape[:-2]
        padded = tuple([size + sum(both) for size, both in zip(output_size, padding, strict=True)])
        # Unfolding the positions tells where each element of the windows came from.
        where = self.try_reshape(self.arange(0, prod(padded), 1, d.int64), padded)
        where = self.unfold(where, kernel_size, stride, dilation, ((0, 0),) * len(padded))
        flat = (prod(lead), prod(shape[-2:]))
        where = self.expand(self.reshape(where, (1, flat[1])), flat)
        total = self.scatter(
            self.full((flat[0], prod(padded)), self.dtype(x), 0),
            where,
            self.reshape(x, flat),
            1,
            add=True,
        )
        bounds = [
            (before, before + size) for (before, _), size in zip(padding, output_size, strict=True)
        ]
        total = self.reshape(total, (*lead, *padded))
        return self.shrink(total, (*[(0, size) for size in lead], *bounds))

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
        # A product of the windows over `x1`, with zeros around it.
        (size,), (taps,) = self.shape(x1), self.shape(x2)
        if mode != "valid":
            before = taps - 1 if mode == "full" else taps // 2
            after = taps - 1 if mode == "full" else taps - 1 - before
            x1 = self.pad(x1, ((before, after),), 0)
        count = convolved_size(size, taps, mode)
        windows = self.strided(x1, View((count, taps), (1, 1)))
        return self.matmul(windows, self.flip(x2, (True,)))

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


def _is_member_unordered(backend: Interface, x: Handle, members: Handle, size: int) -> Handle:
    """Membership for dtypes without an order, by numbering the distinct values of both."""
    shape = backend.shape(x)
    n = prod(shape)
    both = backend.cat([members, backend.reshape(x, (n,))], 0)
    values, number = backend.unique_inverse(both)
    present = backend.full(backend.shape(values), d.bool, False)
    backend.index_set(present, (backend.shrink(number, ((0, size),)),), True)
    answer = backend.take(present, backend.shrink(number, ((size, size + n),)), 0)
    return backend.reshape(answer, shape)
