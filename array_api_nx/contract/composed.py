"""Primitives composed of other primitives, for backends whose engine has none of its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import factorial, nan, pi, prod, sqrt
from typing import Final

import numpy as np

from ..config import hints
from ..core import dtypes as d
from ..core.dtypes import DType
from ..core.symbolic import KnownInts
from ..core.view import View
from ..primitives import table as p
from ..primitives.rules import convolved_size, window_counts
from ..primitives.table import Primitive
from .arguments import Handle, Operand, Overlap, Padding, Scalar
from .events import transferred
from .interface import Interface
from .ufuncs import UfuncLoop

__all__ = [
    "apply",
    "apply_multiple",
    "assign_strided",
    "bincount",
    "convolve",
    "erf",
    "eye",
    "fold",
    "gather",
    "isin",
    "linspace",
    "open_mesh",
    "reduce",
    "repeat",
    "roll",
    "strided",
    "threefry",
    "triangle",
    "triangular_solve",
    "trunc_divide",
    "unfold",
    "unique",
    "unique_counts",
    "unique_inverse",
    "var",
]

_SCALARS: Final = frozenset({bool, int, float, complex})


def apply(backend: Interface, op: UfuncLoop, *operands: Operand) -> Handle:
    """See `Backend.apply`."""
    return apply_multiple(backend, op, *operands)[op.wanted or 0]


def apply_multiple(backend: Interface, op: UfuncLoop, *operands: Operand) -> tuple[Handle, ...]:
    """See `Backend.apply_multiple`: by NumPy on the host, and back.

    Other engines tell nobody of floating-point errors, and so this does not.
    """
    _report_host(backend, *[x for x in operands if type(x) not in _SCALARS])
    arrays = [
        np.asarray(x, dtype) if type(x) in _SCALARS else backend.to_host(x)
        for x, dtype in zip(operands, op.inputs, strict=True)
    ]
    with np.errstate(all="ignore"):
        found = op.ufunc(*arrays)
    results = found if type(found) is tuple else (found,)
    return tuple(
        [
            backend.from_host(np.asarray(result, dtype), copy=False, lent=False)
            for result, dtype in zip(results, op.outputs, strict=True)
        ]
    )


def _report_host(backend: Interface, *handles: Handle) -> None:
    """Report that the host is about to read `handles`, for what the engine cannot do."""
    if hints.watched:
        sizes = [prod(backend.shape(x)) * backend.dtype(x).itemsize for x in handles]
        transferred("engine", getattr(backend, "name", "cpu"), "numpy", sum(sizes))


def linspace(
    backend: Interface, start: Scalar, stop: Scalar, num: int, dtype: DType, *, endpoint: bool
) -> Handle:
    """See `Backend.linspace`: in double precision, and then rounded."""
    steps = num - 1 if endpoint else num
    imaginary = isinstance(start, complex) or isinstance(stop, complex)
    computed = d.complex128 if imaginary else d.float64
    if computed not in backend.available_dtypes():
        computed = dtype
    positions = backend.cast(backend.arange(0, num, 1, p.ABS.results[computed]), computed)
    distance = stop - start
    step = distance / steps if steps > 0 else distance
    if steps > 0 and step == 0:
        # The step is smaller than all numbers but 0.
        positions, step = backend.binary(p.DIVIDE, positions, float(steps)), distance
    result = backend.binary(p.ADD, backend.binary(p.MULTIPLY, positions, step), start)
    if endpoint and num > 1:
        last = backend.full((1,), computed, stop)
        result = backend.cat([backend.shrink(result, ((0, num - 1),)), last], 0)
    return backend.cast(result, dtype)


def eye(backend: Interface, rows: int, columns: int, k: int, dtype: DType) -> Handle:
    """See `Backend.eye`."""
    return backend.cast(backend.binary(p.EQUAL, _diagonals(backend, rows, columns), k), dtype)


def triangle(backend: Interface, x: Handle, k: int, *, upper: bool) -> Handle:
    """See `Backend.triangle`."""
    shape = backend.shape(x)
    op = p.GREATER_EQUAL if upper else p.LESS_EQUAL
    keep = backend.binary(op, _diagonals(backend, *shape[-2:]), k)
    zero = False if backend.dtype(x) is d.bool else 0
    return backend.where(backend.expand(keep, shape), x, zero)


def _diagonals(backend: Interface, rows: int, columns: int) -> Handle:
    """Which diagonal each element of a matrix is on, int64: 0 for the main one, 1 above it."""
    row = backend.try_reshape(backend.arange(0, rows, 1, d.int64), (rows, 1))
    return backend.binary(p.SUBTRACT, backend.arange(0, columns, 1, d.int64), row)


def reduce(
    backend: Interface, op: Primitive, x: Handle, axes: tuple[int, ...], keepdims: bool
) -> Handle:
    """Mean and count_nonzero with the other reductions."""
    if op is p.COUNT_NONZERO:
        nonzero = backend.cast(backend.cast(x, d.bool), d.int64)
        return backend.reduce(p.SUM, nonzero, axes, keepdims)
    shape = backend.shape(x)
    total = backend.reduce(p.SUM, x, axes, keepdims)
    # A Python 0 as the divisor would raise; NumPy's rules for arrays give NaN.
    count = backend.full((), backend.dtype(x), prod([shape[axis] for axis in axes]))
    return backend.binary(p.DIVIDE, total, count)


def var(
    backend: Interface, x: Handle, axes: tuple[int, ...], keepdims: bool, correction: float
) -> Handle:
    """See `Backend.var`: two passes, so that large means cost no digits."""
    shape, dtype = backend.shape(x), p.VAR.results[backend.dtype(x)]
    mean = backend.reduce(p.MEAN, x, axes, True)
    distance = backend.unary(p.ABS, backend.binary(p.SUBTRACT, x, mean))
    total = backend.reduce(p.SUM, backend.unary(p.SQUARE, distance), axes, keepdims)
    freedom = prod([shape[axis] for axis in axes]) - correction
    divisor = backend.full((), dtype, freedom if freedom > 0 else nan)
    return backend.binary(p.DIVIDE, total, divisor)


def roll(backend: Interface, x: Handle, shifts: tuple[int, ...]) -> Handle:
    """See `Backend.roll`: by joining the two parts of one axis after the other."""
    shape = backend.shape(x)
    moved = False
    for axis, (size, shift) in enumerate(zip(shape, shifts, strict=True)):
        cut = -shift % size if size else 0
        if cut:
            whole = [(0, n) for n in shape]
            bounds = [(*whole[:axis], part, *whole[axis + 1 :]) for part in ((cut, size), (0, cut))]
            x = backend.cat([backend.shrink(x, part) for part in bounds], axis)
            moved = True
    return x if moved else backend.copy(x)


def repeat(backend: Interface, x: Handle, repeats: int | Handle, axis: int) -> Handle:
    """See `Backend.repeat`."""
    shape = backend.shape(x)
    if isinstance(repeats, int):
        kept = [(0, size, 1) for size in shape]
        split = backend.slice(x, (*kept[: axis + 1], None, *kept[axis + 1 :]))
        wide = (*shape[: axis + 1], repeats, *shape[axis + 1 :])
        merged = (*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :])
        return backend.copy(backend.reshape(backend.expand(split, wide), merged))
    # Position j of the result shows the element in whose run of repeats j falls.
    ends = backend.scan(p.CUMULATIVE_SUM, repeats, 0)
    _report_host(backend, ends)
    total = int(backend.to_host(ends)[-1]) if shape[axis] else 0
    positions = backend.arange(0, total, 1, d.int64)
    return backend.take(x, backend.searchsorted(ends, positions, right=True), axis)


def strided(backend: Interface, x: Handle, view: View) -> Handle:
    """See `Backend.strided`: the elements are looked up by their positions."""
    flat = backend.reshape(x, (prod(backend.shape(x)),))
    return backend.take(flat, _positions(backend, view), 0)


def assign_strided(backend: Interface, target: Handle, view: View, value: Operand) -> None:
    """See `Backend.assign_strided`."""
    flat = backend.try_reshape(target, (prod(backend.shape(target)),))
    backend.index_set(flat, (_positions(backend, view),), value)


def _positions(backend: Interface, view: View) -> Handle:
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


def isin(backend: Interface, x: Handle, members: Handle, *, invert: bool) -> Handle:
    """See `Backend.isin`: by looking each element up among the sorted members."""
    size = prod(backend.shape(members))
    if size == 0:
        return backend.full(backend.shape(x), d.bool, invert)
    members = backend.reshape(members, (size,))
    if backend.dtype(x) in d.COMPLEX:
        found = _is_member_unordered(backend, x, members, size)
        return backend.unary(p.LOGICAL_NOT, found) if invert else found
    members = backend.sort(members, 0, descending=False, stable=False)
    position = backend.searchsorted(members, x, right=False)
    candidate = backend.take(members, backend.binary(p.MINIMUM, position, size - 1), 0)
    return backend.binary(p.NOT_EQUAL if invert else p.EQUAL, x, candidate)


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


def unique(backend: Interface, x: Handle) -> tuple[Handle, Handle, Handle, Handle]:
    """See `Backend.unique`: by sorting, and comparing neighbours."""
    shape, flat = backend.shape(x), _flat(backend, x)
    order = _lexicographic_order(backend, flat, backend.dtype(x))
    ascending = backend.take(flat, order, 0)
    first = _starts_run(backend, ascending)
    (starts,) = backend.nonzero(first)
    # The sort is stable: the first of equal elements is the one that came first.
    return (
        backend.take(ascending, starts, 0),
        backend.take(order, starts, 0),
        _inverse(backend, order, first, shape),
        _lengths(backend, starts, prod(shape)),
    )


def unique_counts(backend: Interface, x: Handle) -> tuple[Handle, Handle]:
    """See `Backend.unique_counts`: by sorting, and comparing neighbours."""
    flat, dtype = _flat(backend, x), backend.dtype(x)
    if dtype in d.COMPLEX:
        ascending = backend.take(flat, _lexicographic_order(backend, flat, dtype), 0)
    else:
        ascending = backend.sort(flat, 0, descending=False, stable=True)
    (starts,) = backend.nonzero(_starts_run(backend, ascending))
    size = prod(backend.shape(x))
    return backend.take(ascending, starts, 0), _lengths(backend, starts, size)


def unique_inverse(backend: Interface, x: Handle) -> tuple[Handle, Handle]:
    """See `Backend.unique_inverse`: by sorting, and comparing neighbours."""
    shape, flat = backend.shape(x), _flat(backend, x)
    order = _lexicographic_order(backend, flat, backend.dtype(x))
    ascending = backend.take(flat, order, 0)
    first = _starts_run(backend, ascending)
    (starts,) = backend.nonzero(first)
    return backend.take(ascending, starts, 0), _inverse(backend, order, first, shape)


def negative_elements(least: int) -> str:
    """The message for elements that are no numbers of bins."""
    return (
        f"bincount counts ints from 0 on, but the least element is {least}; subtract it from them"
    )


def bincount(
    backend: Interface, x: Handle, weights: Handle | None, length: int, *, extend: bool
) -> Handle:
    """See `Backend.bincount`: by adding to zeros."""
    x = backend.cast(x, d.int64)
    size = prod(backend.shape(x))
    if extend and size:
        ends = [backend.reduce(op, x, (0,), False) for op in (p.MIN, p.MAX)]
        _report_host(backend, *ends)
        least, greatest = [int(backend.item(end).real) for end in ends]
        if least < 0:
            raise ValueError(negative_elements(least))
        length = max(length, greatest + 1)
    if weights is None:
        weights = backend.full((size,), d.int64, 1)
    zeros = backend.full((length,), backend.dtype(weights), 0)
    return backend.scatter(zeros, x, weights, 0, add=True)


def _flat(backend: Interface, x: Handle) -> Handle:
    return backend.reshape(x, (prod(backend.shape(x)),))


def _starts_run(backend: Interface, ascending: Handle) -> Handle:
    """Which elements of a sorted 1-D array differ from the one before them, as the first does."""
    (size,) = backend.shape(ascending)
    if size == 0:
        return backend.empty((0,), d.bool)
    neighbours = [backend.shrink(ascending, (bounds,)) for bounds in ((1, size), (0, size - 1))]
    differ = backend.binary(p.NOT_EQUAL, *neighbours)
    return backend.cat([backend.full((1,), d.bool, True), differ], 0)


def _inverse(backend: Interface, order: Handle, first: Handle, shape: tuple[int, ...]) -> Handle:
    """Per element, the number of the run that it is in, if `order` sorts the elements."""
    number = backend.binary(
        p.SUBTRACT, backend.scan(p.CUMULATIVE_SUM, backend.cast(first, d.int64), 0), 1
    )
    template = backend.empty((prod(shape),), d.int64)
    return backend.reshape(backend.scatter(template, order, number, 0, add=False), shape)


def _lengths(backend: Interface, starts: Handle, size: int) -> Handle:
    """The lengths of the runs that start at `starts`, the last of which ends at `size`."""
    (number,) = backend.shape(starts)
    if number == 0:
        return backend.empty((0,), d.int64)
    ends = backend.cat([starts, backend.full((1,), d.int64, size)], 0)
    return backend.binary(
        p.SUBTRACT, *[backend.shrink(ends, (b,)) for b in ((1, number + 1), (0, number))]
    )


def _lexicographic_order(backend: Interface, x: Handle, dtype: DType) -> Handle:
    """The indices that sort 1-D `x`, complex numbers by their real parts first; stable."""
    if dtype not in d.COMPLEX:
        return backend.argsort(x, 0, descending=False, stable=True)
    parts = [backend.unary(op, x) for op in (p.IMAG, p.REAL)]
    order = backend.argsort(parts[0], 0, descending=False, stable=True)
    by_real = backend.argsort(backend.take(parts[1], order, 0), 0, descending=False, stable=True)
    return backend.take(order, by_real, 0)


def gather(backend: Interface, x: Handle, indices: Handle, axis: int) -> Handle:
    """See `Backend.gather`."""
    return backend.index_get(x, open_mesh(backend, indices, axis))


def open_mesh(backend: Interface, indices: Handle, axis: int) -> tuple[Handle, ...]:
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


def trunc_divide(backend: Interface, x1: Handle, x2: Handle) -> Handle:
    """Integer division that rounds towards zero: the multiple that fmod leaves over."""
    whole = backend.binary(p.SUBTRACT, x1, backend.binary(p.FMOD, x1, x2))
    return backend.binary(p.FLOOR_DIVIDE, whole, x2)


# ---------------------------------------------------------------------- error function

# Near 0: the Taylor series of erf(x) / x - 1 in x^2, highest power first. Adding x times it to x
# rounds less than multiplying by the whole quotient.
_ERF_NEAR: Final = (
    *[2 / sqrt(pi) * (-1) ** n / (factorial(n) * (2 * n + 1)) for n in range(16, 0, -1)],
    1.28379167095512574e-1,  # 2 / sqrt(pi) - 1
)
_ERF_NEAR_UP_TO: Final = 0.75
# Further out 1 - erf(x) = exp(-x^2) * P(x) / Q(x): W. J. Cody, Rational Chebyshev approximations
# for the error function, Math. Comp. 23 (1969).
_ERFC_MIDDLE: Final = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0,
     6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2,
     1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2,
     5.37181101862009858e2, 1.62138957456669019e3, 3.29079923573345963e3,
     4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3),
)  # fmt: skip
# erf rounds to 1 in float64 from here on; the middle approximation holds up to 4.
_ERF_ONE: Final = 5.93
_ERFC_FAR: Final = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242e0, 1.87295284992346047e0,
     5.27905102951428412e-1, 6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip
_RSQRT_PI: Final = 0.5641895835477562869


def _polynomial(backend: Interface, coefficients: Sequence[float], x: Handle) -> Handle:
    value = backend.full((), backend.dtype(x), coefficients[0])
    for coefficient in coefficients[1:]:
        value = backend.binary(p.ADD, backend.binary(p.MULTIPLY, value, x), coefficient)
    return value


def _ratio(backend: Interface, coefficients: Sequence[Sequence[float]], x: Handle) -> Handle:
    return backend.binary(p.DIVIDE, *[_polynomial(backend, each, x) for each in coefficients])


def erf(backend: Interface, x: Handle) -> Handle:
    """The error function of real floating-point `x`, to about one unit in the last place."""
    dtype = backend.dtype(x)
    if dtype in d.BELOW_DOUBLE:
        return backend.cast(erf(backend, backend.cast(x, d.float64)), dtype)
    size = backend.unary(p.ABS, x)
    # Every branch sees arguments from its own range only, so that none overflows.
    near = backend.binary(p.MINIMUM, size, _ERF_NEAR_UP_TO)
    middle = backend.clip(size, _ERF_NEAR_UP_TO, 4.0)
    far = backend.clip(size, 4.0, _ERF_ONE)
    excess = _polynomial(backend, _ERF_NEAR, backend.unary(p.SQUARE, near))
    near = backend.binary(p.ADD, near, backend.binary(p.MULTIPLY, near, excess))
    middle = backend.binary(
        p.SUBTRACT,
        1.0,
        backend.binary(
            p.MULTIPLY, _gaussian(backend, middle), _ratio(backend, _ERFC_MIDDLE, middle)
        ),
    )
    inverse = backend.unary(p.RECIPROCAL, backend.unary(p.SQUARE, far))
    tail = backend.binary(p.MULTIPLY, inverse, _ratio(backend, _ERFC_FAR, inverse))
    tail = backend.binary(p.DIVIDE, backend.binary(p.SUBTRACT, _RSQRT_PI, tail), far)
    far = backend.binary(p.SUBTRACT, 1.0, backend.binary(p.MULTIPLY, _gaussian(backend, far), tail))
    result = backend.where(
        backend.binary(p.LESS, size, _ERF_NEAR_UP_TO),
        near,
        backend.where(backend.binary(p.LESS, size, 4.0), middle, far),
    )
    result = backend.where(backend.binary(p.GREATER_EQUAL, size, _ERF_ONE), 1.0, result)
    result = backend.binary(p.COPYSIGN, result, x)
    return backend.where(backend.unary(p.ISNAN, x), x, result)


def _gaussian(backend: Interface, x: Handle) -> Handle:
    return backend.unary(p.EXP, backend.unary(p.NEGATIVE, backend.unary(p.SQUARE, x)))


# ---------------------------------------------------------------------- random bits

_ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(backend: Interface, key: Handle, counter: Handle) -> Handle:
    """Threefry-2x32-20 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC11)."""

    def column(x: Handle, which: int) -> Handle:
        whole = [(0, size, 1) for size in backend.shape(x)[:-1]]
        return backend.slice(x, (*whole, which))

    def add(x1: Handle, x2: Handle | int) -> Handle:
        return backend.binary(p.ADD, x1, x2)

    def xor(x1: Handle, x2: Handle | int) -> Handle:
        return backend.binary(p.BITWISE_XOR, x1, x2)

    k0, k1 = column(key, 0), column(key, 1)
    keys = (k0, k1, xor(xor(k0, k1), 0x1BD11BDA))
    x0, x1 = add(column(counter, 0), k0), add(column(counter, 1), k1)
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x0 = add(x0, x1)
            high = backend.binary(p.BITWISE_LEFT_SHIFT, x1, rotation)
            low = backend.binary(p.BITWISE_RIGHT_SHIFT, x1, 32 - rotation)
            x1 = xor(x0, backend.binary(p.BITWISE_OR, high, low))
        x0 = add(x0, keys[(group + 1) % 3])
        x1 = add(add(x1, keys[(group + 2) % 3]), group + 1)
    pair = (*backend.shape(x0), 1)
    return backend.cat([backend.reshape(x0, pair), backend.reshape(x1, pair)], len(pair) - 1)


# ---------------------------------------------------------------------- windows


def unfold(
    backend: Interface,
    x: Handle,
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    padding: Padding,
) -> Handle:
    """See `Backend.unfold`: one strided slice per position in the kernel."""
    shape = backend.shape(x)
    lead = shape[: len(shape) - len(kernel_size)]
    counts = window_counts(shape[len(lead) :], kernel_size, stride, dilation, padding)
    padded = backend.pad(x, (*[(0, 0)] * len(lead), *padding), 0)
    pieces = []
    for position in product(*[range(k) for k in kernel_size]):
        piece = backend.slice(
            padded,
            (
                *[(0, size, 1) for size in lead],
                *[
                    (i * dil, count, step)
                    for i, dil, count, step in zip(position, dilation, counts, stride, strict=True)
                ],
            ),
        )
        pieces.append(backend.reshape(piece, (*lead, 1, prod(counts))))
    return backend.cat(pieces, len(lead))


def fold(
    backend: Interface,
    x: Handle,
    output_size: tuple[int, ...],
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    padding: Padding,
) -> Handle:
    """See `Backend.fold`: every element is added at the position that it was taken from."""
    shape = backend.shape(x)
    lead = shape[:-2]
    padded = tuple([size + sum(both) for size, both in zip(output_size, padding, strict=True)])
    # Unfolding the positions tells where each element of the windows came from.
    where = backend.try_reshape(backend.arange(0, prod(padded), 1, d.int64), padded)
    where = backend.unfold(where, kernel_size, stride, dilation, ((0, 0),) * len(padded))
    flat = (prod(lead), prod(shape[-2:]))
    where = backend.expand(backend.reshape(where, (1, flat[1])), flat)
    total = backend.scatter(
        backend.full((flat[0], prod(padded)), backend.dtype(x), 0),
        where,
        backend.reshape(x, flat),
        1,
        add=True,
    )
    bounds = [
        (before, before + size) for (before, _), size in zip(padding, output_size, strict=True)
    ]
    total = backend.reshape(total, (*lead, *padded))
    return backend.shrink(total, (*[(0, size) for size in lead], *bounds))


def convolve(backend: Interface, x1: Handle, x2: Handle, mode: Overlap) -> Handle:
    """See `Backend.convolve`: a product of the windows over `x1`, with zeros around it."""
    (size,), (taps,) = backend.shape(x1), backend.shape(x2)
    if mode != "valid":
        before = taps - 1 if mode == "full" else taps // 2
        after = taps - 1 if mode == "full" else taps - 1 - before
        x1 = backend.pad(x1, ((before, after),), 0)
    count = convolved_size(size, taps, mode)
    windows = backend.strided(x1, View((count, taps), (1, 1)))
    return backend.matmul(windows, backend.flip(x2, (True,)))


# ---------------------------------------------------------------------- linear algebra


def triangular_solve(
    backend: Interface,
    x1: Handle,
    x2: Handle,
    *,
    upper: bool,
    transpose: bool,
    unit_diagonal: bool,
) -> Handle:
    """See `Backend.triangular_solve`: `solve` with everything else zeroed."""
    if unit_diagonal:
        strict = backend.triangle(x1, 1 if upper else -1, upper=upper)
        n = backend.shape(x1)[-1]
        triangle = backend.binary(p.ADD, strict, backend.eye(n, n, 0, backend.dtype(x1)))
    else:
        triangle = backend.triangle(x1, 0, upper=upper)
    if transpose:
        ndim = len(backend.shape(x1))
        triangle = backend.permute(triangle, (*range(ndim - 2), ndim - 1, ndim - 2))
    return backend.solve(triangle, x2)
