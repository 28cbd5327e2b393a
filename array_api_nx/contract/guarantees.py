"""What the frontend guarantees of calls of single methods, as assertions.

A function per method, with the method's parameters, in which operands are `HeldType`. What the
parameters' names and annotations say is checked by `Call.check`. The words are those of the
contract (interface.py, arrays.py, handles.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Final

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import BOUNDS, DType
from ..core.shape import broadcast_shapes
from ..core.symbolic_layout import Selection
from ..core.view import View
from ..primitives import table as p
from ..primitives.rules import fits, window_counts
from ..primitives.table import Primitive
from .arguments import Padding
from .checked_call import Call, HeldType, Shape
from .numpy_dtypes import has_other_bools, is_aligned
from .program import Argument, Program
from .random_numbers import DRAWN, PARAMETERS
from .ufuncs import UfuncLoop

__all__ = ["GUARANTEES"]

_Guarantee = Callable[..., None]
GUARANTEES: Final[dict[str, _Guarantee]] = {}
"""From a call and the value of each parameter to the assertions, by the name of the method."""


def _of(*names: str) -> Callable[[_Guarantee], _Guarantee]:
    def add(function: _Guarantee) -> _Guarantee:
        GUARANTEES.update(dict.fromkeys(names, function))
        return function

    return add


@_of("prepare", "prepare_compiled")
def _prepare(call: Call, program: Program, sizes: Shape) -> None:
    _explain_program(call, program, sizes)
    fitting = zip(sizes, program.variables, strict=True)
    call.guarantees(all([v.min <= n <= v.max for n, v in fitting]), "sizes within bounds")


@_of("explain_program")
def _explain_program(call: Call, program: Program, sizes: Shape) -> None:
    call.guarantees(len(sizes) == len(program.variables), "a size for each variable")


@_of("full")
def _full(call: Call, shape: Shape, dtype: DType, value: Argument) -> None:
    call.scalar(value, dtype)


@_of("from_host")
def _from_host(call: Call, array: Argument, copy: bool, lent: bool) -> None:
    call.guarantees(isinstance(array, np.ndarray), "a NumPy array")
    names = {dtype.name for dtype in p.FROM_HOST.results}
    call.guarantees(array.dtype.name in names, "a dtype with a counterpart in the table")
    call.guarantees(array.dtype.isnative, "native byte order")
    aligned = is_aligned(array, call.backend.word)
    call.guarantees(aligned, "aligned elements and strides of whole elements")
    plain = call.backend.takes_any_bool or not has_other_bools(array)
    call.guarantees(plain, "bools that are 0 or 1 in memory")


@_of("arange")
def _arange(call: Call, start: float, stop: float, step: float, dtype: DType) -> None:
    call.guarantees(step != 0, "a step that is not zero")
    length = -((start - stop) // step)
    if length > 0:
        call.scalar(start, dtype)
        call.scalar(start + (length - 1) * step, dtype)


@_of("linspace")
def _linspace(
    call: Call, start: Argument, stop: Argument, num: int, dtype: DType, endpoint: bool
) -> None:
    call.scalar(start, dtype)
    call.scalar(stop, dtype)
    call.is_shape((num,))


@_of("eye")
def _eye(call: Call, rows: int, columns: int, k: int, dtype: DType) -> None:
    call.is_shape((rows, columns))
    call.guarantees(type(k) is int, "k is an int")


@_of("binary")
def _binary(call: Call, op: Primitive, x1: Argument, x2: Argument, out: HeldType | None) -> None:
    call.operands(x1, x2)
    if out is not None:
        call.writable(out)
        arrays = [x for x in (x1, x2) if isinstance(x, HeldType)]
        dtype = op.results[arrays[0].dtype]
        call.guarantees(out.dtype is dtype, "`out` has the result's dtype")
        shape = broadcast_shapes(*[x.shape for x in arrays])
        call.guarantees(out.shape == shape, "`out` has the result's shape")


@_of("where")
def _where(call: Call, condition: HeldType, x1: Argument, x2: Argument) -> None:
    call.guarantees(condition.dtype is d.bool, "a boolean condition")
    call.operands(x1, x2)


@_of("clip")
def _clip(call: Call, x: HeldType, low: Argument, high: Argument) -> None:
    limits = [limit for limit in (low, high) if limit is not None]
    call.guarantees(len(limits) > 0, "at least one limit")
    call.operands(x, *limits)
    arrays = [limit for limit in limits if isinstance(limit, HeldType)]
    call.guarantees(all([_broadcasts(y.shape, x.shape) for y in arrays]), "limits broadcast to `x`")


def _broadcasts(shape: Shape, target: Shape) -> bool:
    return len(shape) <= len(target) and fits(shape, target)


@_of("apply")
def _apply(call: Call, op: UfuncLoop, operands: tuple[Argument, ...]) -> None:
    one = len(op.outputs) == 1 or op.wanted is not None
    call.guarantees(one, "one output, or the number of that which is wanted")
    _ufunc_operands(call, op, operands)


@_of("apply_multiple")
def _apply_multiple(call: Call, op: UfuncLoop, operands: tuple[Argument, ...]) -> None:
    call.guarantees(op.wanted is None, "all outputs are wanted")
    _ufunc_operands(call, op, operands)


def _ufunc_operands(call: Call, op: UfuncLoop, operands: tuple[Argument, ...]) -> None:
    call.guarantees(len(operands) == len(op.inputs), "as many operands as the ufunc takes")
    for x, dtype in zip(operands, op.inputs, strict=True):
        if isinstance(x, HeldType):
            call.guarantees(x.dtype is dtype, "handles of the loop's dtypes")
        else:
            call.scalar(x, dtype)
    arrays = [x for x in operands if isinstance(x, HeldType)]
    call.guarantees(len(arrays) > 0, "at least one operand is a handle")


@_of("reduce")
def _reduce(
    call: Call, op: Primitive, x: HeldType, axes: Shape, keepdims: bool, dtype: DType | None
) -> None:
    call.guarantees(dtype is None or op in (p.SUM, p.PROD), "a dtype for sum and prod only")
    if op in (p.MAX, p.MIN):
        _no_empty_axis(call, x, axes)


@_of("arg_reduce")
def _arg_reduce(call: Call, op: Primitive, x: HeldType, axis: int, keepdims: bool) -> None:
    _no_empty_axis(call, x, (axis,))


def _no_empty_axis(call: Call, x: HeldType, axes: Shape) -> None:
    call.guarantees(0 not in [x.shape[axis] for axis in axes], "no empty axis")


@_of("scan")
def _scan(call: Call, op: Primitive, x: HeldType, axis: int, dtype: DType | None) -> None:
    sums = (p.CUMULATIVE_SUM, p.CUMULATIVE_PROD)
    call.guarantees(dtype is None or op in sums, "a dtype for sums and products only")


@_of("var")
def _var(call: Call, x: HeldType, axes: Shape, keepdims: bool, correction: Argument) -> None:
    call.guarantees(isinstance(correction, int | float), "a correction that is a real number")


@_of("partition", "argpartition")
def _partition(call: Call, x: HeldType, kth: Shape, axis: int) -> None:
    call.guarantees(
        len(kth) > 0
        and kth[-1] < x.shape[axis]
        and all([first < second for first, second in pairwise(kth)]),
        "positions in `kth` that ascend and lie in range",
    )


@_of("searchsorted")
def _searchsorted(call: Call, x: HeldType, values: HeldType, right: bool) -> None:
    call.same_dtype(x, values)
    call.guarantees(len(x.shape) == 1, "a 1-D `x`")


@_of("expand")
def _expand(call: Call, x: HeldType, shape: Shape) -> None:
    call.guarantees(_broadcasts(x.shape, shape), "the shape of `x` broadcasts to `shape`")


@_of("try_reshape", "reshape")
def _reshape(call: Call, x: HeldType, shape: Shape) -> None:
    call.guarantees(prod(x.shape) == prod(shape), "sizes with the same product")


@_of("permute")
def _permute(call: Call, x: HeldType, axes: Shape) -> None:
    call.guarantees(len(axes) == len(x.shape), "a permutation of all axes")


@_of("slice")
def _slice(call: Call, x: HeldType, selection: Selection) -> None:
    call.guarantees(
        isinstance(selection, tuple)
        and all([item is None or type(item) in (int, tuple) for item in selection]),
        "`selection` is a tuple of ints, triples and None",
    )
    try:
        View(x.shape).slice(selection)
    except ValueError:
        call.guarantees(False, "`selection` names every axis and lies within the shape")


@_of("shrink")
def _shrink(call: Call, x: HeldType, bounds: tuple[tuple[int, int], ...]) -> None:
    call.guarantees(
        type(bounds) is tuple
        and len(bounds) == len(x.shape)
        and all([0 <= a <= b <= n for (a, b), n in zip(bounds, x.shape, strict=True)]),
        "0 <= start <= end <= size for every axis",
    )


@_of("flip")
def _flip(call: Call, x: HeldType, axes: tuple[bool, ...]) -> None:
    right = type(axes) is tuple and len(axes) == len(x.shape)
    call.guarantees(right, "a mark for every axis")


@_of("strided")
def _strided(call: Call, x: HeldType, view: View) -> None:
    call.inside(view, x)


@_of("pad")
def _pad(call: Call, x: HeldType, padding: Padding, value: Argument) -> None:
    call.guarantees(
        type(padding) is tuple
        and len(padding) == len(x.shape)
        and all([before >= 0 <= after for before, after in padding]),
        "non-negative (before, after) for every axis",
    )
    call.scalar(value, x.dtype)


@_of("cat")
def _cat(call: Call, arrays: Sequence[HeldType], axis: int) -> None:
    call.guarantees(len(arrays) > 0, "at least one array")
    call.same_dtype(*arrays)


@_of("roll")
def _roll(call: Call, x: HeldType, shifts: Shape) -> None:
    call.guarantees(len(shifts) == len(x.shape), "one shift per axis")


@_of("repeat")
def _repeat(call: Call, x: HeldType, repeats: int | HeldType, axis: int) -> None:
    if isinstance(repeats, HeldType):
        call.guarantees(repeats.dtype is d.int64, "int64 repeats")
        call.guarantees(repeats.shape == (x.shape[axis],), "repeats per element")
        least = int(repeats.elements().min(initial=0))
    else:
        least = repeats
    call.guarantees(least >= 0, "repeats are not negative")


@_of("triangle")
def _triangle(call: Call, x: HeldType, k: int, upper: bool) -> None:
    call.matrix(x)
    call.guarantees(type(k) is int, "k is an int")


@_of("bitcast")
def _bitcast(call: Call, x: HeldType, dtype: DType) -> None:
    call.guarantees({x.dtype, dtype} <= p.BITCAST.results.keys(), "both dtypes are numeric")
    if x.dtype.itemsize != dtype.itemsize:
        whole = bool(x.shape) and x.shape[-1] * x.dtype.itemsize % dtype.itemsize == 0
        call.guarantees(whole, "the last axis is a whole number of new elements")


@_of("assign")
def _assign(call: Call, target: HeldType, value: Argument) -> None:
    call.writable(target)
    call.operands(target, value)
    fitting = not isinstance(value, HeldType) or fits(value.shape, target.shape)
    call.guarantees(fitting, "the shape of `value` broadcasts to that of the target")


@_of("assign_strided")
def _assign_strided(call: Call, target: HeldType, view: View, value: Argument) -> None:
    call.writable(target)
    call.inside(view, target)
    call.guarantees(not view.has_repeats, "a view without repeated elements")
    call.operands(target, value)


@_of("index_get")
def _index_get(call: Call, x: HeldType, keys: Sequence[Argument]) -> None:
    shape = x.shape
    axis = indexed = 0
    for key in keys:
        if isinstance(key, HeldType):
            indexed += 1
            call.guarantees(key.dtype in (d.int64, d.bool), "int64 or boolean keys")
            if key.dtype is d.bool:
                covered = shape[axis : axis + len(key.shape)]
                fitting = len(covered) == len(key.shape) and all(
                    [m in (n, 0) for m, n in zip(key.shape, covered, strict=True)]
                )
                call.guarantees(fitting, "a mask has the shape of its axes, or sizes of 0")
                axis += len(covered)
                continue
        elif key is not None:
            call.guarantees(key >= 0, "int keys are not negative")
        axis += 1
    call.guarantees(axis <= len(shape), "no more keys than axes")
    call.guarantees(indexed > 0, "at least one key that is a handle")


@_of("index_set")
def _index_set(call: Call, target: HeldType, keys: Sequence[Argument], value: Argument) -> None:
    call.writable(target)
    _index_get(call, target, keys)
    call.operands(target, value)


@_of("take")
def _take(call: Call, x: HeldType, indices: HeldType, axis: int) -> None:
    call.guarantees(indices.dtype is d.int64, "int64 indices")


@_of("gather")
def _gather(call: Call, x: HeldType, indices: HeldType, axis: int) -> None:
    call.guarantees(indices.dtype is d.int64, "int64 indices")
    shape, other = x.shape, indices.shape
    same = len(shape) == len(other) and all(
        [i == axis or m == n for i, (m, n) in enumerate(zip(shape, other, strict=True))]
    )
    call.guarantees(same, "indices have the shape of the array but for `axis`")


@_of("scatter")
def _scatter(
    call: Call, template: HeldType, indices: HeldType, updates: HeldType, axis: int, add: bool
) -> None:
    call.same_dtype(template, updates)
    _gather(call, template, indices, axis)
    call.guarantees(indices.shape == updates.shape, "an update for every index")
    positions = indices.elements()
    inside = bool(((positions >= 0) & (positions < template.shape[axis])).all())
    call.guarantees(inside, "indices from 0 to size - 1")


@_of("nonzero")
def _nonzero(call: Call, x: HeldType) -> None:
    call.guarantees(len(x.shape) > 0, "at least one axis")


@_of("isin")
def _isin(call: Call, x: HeldType, members: HeldType, invert: bool) -> None:
    call.same_dtype(x, members)


@_of("bincount")
def _bincount(call: Call, x: HeldType, weights: HeldType | None, length: int, extend: bool) -> None:
    call.guarantees(len(x.shape) == 1, "a 1-D `x`")
    call.is_shape((length,))
    if weights is not None:
        call.guarantees(weights.dtype in d.NUMERIC, "numeric weights")
        call.guarantees(weights.shape == x.shape, "weights of the shape of `x`")


@_of("threefry")
def _threefry(call: Call, key: HeldType, counter: HeldType) -> None:
    call.same_dtype(key, counter)
    call.guarantees(key.shape == (2,), "a key of shape (2,)")
    call.guarantees(counter.shape[-1:] == (2,), "counters of shape (..., 2)")


@_of("draw")
def _draw(
    call: Call,
    kind: str,
    key: tuple[int, int],
    base: int,
    first: int,
    count: int,
    dtype: DType,
    low: int,
    span: int,
    parameters: tuple[Argument, ...],
) -> None:
    call.guarantees(all([0 <= word < 2**32 for word in key]), "a key of words of 32 bits")
    _drawing(call, kind, (base, first), count, dtype, parameters)
    call.guarantees(base + 2 * (first + count) < 2**63, "counters below 2**63")
    if kind == "integers":
        least, most = BOUNDS[dtype]
        inside = least <= low and low + span - 1 <= most
        call.guarantees(1 <= span <= 2**64 and inside, "a span within the dtype")
    else:
        call.guarantees(low == span == 0, "bounds for integers alone")


@_of("draw_from")
def _draw_from(
    call: Call,
    kind: str,
    key: HeldType,
    counter: HeldType,
    offset: int,
    count: int,
    dtype: DType,
    low: int,
    span: int,
    parameters: tuple[Argument, ...],
) -> None:
    for state in (key, counter):
        call.guarantees(state.shape == (), "a state of shape ()")
        call.guarantees(state.dtype is d.int64, "a state of int64")
    _drawing(call, kind, (offset,), count, dtype, parameters)


def _drawing(
    call: Call,
    kind: str,
    counters: tuple[int, ...],
    count: int,
    dtype: DType,
    parameters: tuple[Argument, ...],
) -> None:
    call.guarantees(dtype in DRAWN.get(kind, ()), "a dtype that the kind of draw has")
    call.guarantees(min(*counters, count) >= 0, "counters of at least 0")
    wanted = PARAMETERS.get(kind, 0)
    call.guarantees(len(parameters) == wanted, "as many parameters as the kind has")
    for x in parameters:
        if isinstance(x, HeldType):
            call.guarantees(x.dtype is d.float64, "parameters of float64")
            call.guarantees(x.shape == (count,), "a parameter for each number")


@_of("unfold")
def _unfold(
    call: Call, x: HeldType, kernel_size: Shape, stride: Shape, dilation: Shape, padding: Padding
) -> None:
    lead = len(x.shape) - len(kernel_size)
    call.guarantees(lead >= 0, "an axis for every size of the kernel")
    _windows(call, x.shape[lead:], kernel_size, stride, dilation, padding)


@_of("fold")
def _fold(
    call: Call,
    x: HeldType,
    output_size: Shape,
    kernel_size: Shape,
    stride: Shape,
    dilation: Shape,
    padding: Padding,
) -> None:
    windows = _windows(call, output_size, kernel_size, stride, dilation, padding)
    expected = (prod(kernel_size), windows)
    call.guarantees(x.shape[-2:] == expected, "the shape that `unfold` gives")


def _windows(
    call: Call, sizes: Shape, kernel_size: Shape, stride: Shape, dilation: Shape, padding: Padding
) -> int:
    """Check the parameters of windows over axes of the given sizes; how many there are."""
    lengths = {len(each) for each in (sizes, kernel_size, stride, dilation, padding)}
    call.guarantees(len(lengths) == 1, "parameters of one length")
    positive = all([n > 0 for n in (*kernel_size, *stride, *dilation)])
    call.guarantees(positive, "sizes, strides and dilations are positive")
    call.guarantees(all([a >= 0 <= b for a, b in padding]), "padding is not negative")
    counts = window_counts(sizes, kernel_size, stride, dilation, padding)
    call.guarantees(all([count > 0 for count in counts]), "at least one window fits")
    return prod(counts)


@_of("matmul")
def _matmul(call: Call, x1: HeldType, x2: HeldType) -> None:
    call.same_dtype(x1, x2)
    call.guarantees(len(x1.shape) >= 1 <= len(x2.shape), "at least one axis each")
    call.guarantees(x1.shape[-1] == x2.shape[-2:][0], "the contracted sizes agree")


@_of("vecdot")
def _vecdot(call: Call, x1: HeldType, x2: HeldType) -> None:
    call.same_dtype(x1, x2)
    call.guarantees(len(x1.shape) >= 1 <= len(x2.shape), "at least one axis each")
    call.guarantees(x1.shape[-1] == x2.shape[-1], "last axes of the same size")


@_of("convolve")
def _convolve(call: Call, x1: HeldType, x2: HeldType, mode: str) -> None:
    call.same_dtype(x1, x2)
    call.guarantees(len(x1.shape) == len(x2.shape) == 1, "one axis each")
    fitting = 1 <= x2.shape[0] <= x1.shape[0]
    call.guarantees(fitting, "an `x1` no shorter than `x2`, which is not empty")
    call.guarantees(mode in ("full", "same", "valid"), "a legal mode")


@_of("fft", "ifft", "rfft")
def _fft(call: Call, x: HeldType, axes: Shape, norm: str) -> None:
    call.guarantees(len(axes) > 0, "at least one axis")
    _no_empty_axis(call, x, axes)
    call.guarantees(norm in ("backward", "ortho", "forward"), "a legal norm")


@_of("irfft")
def _irfft(call: Call, x: HeldType, axes: Shape, last_size: int, norm: str) -> None:
    _fft(call, x, axes, norm)
    half = last_size > 0 and x.shape[axes[-1]] == last_size // 2 + 1
    call.guarantees(half, f"the half of a spectrum of size {last_size}")


@_of("cholesky", "eig", "eigvals", "eigh", "eigvalsh", "inv", "slogdet", "det")
def _square(call: Call, x: HeldType, *flags: bool) -> None:
    call.square(x)


@_of("qr", "svd", "svdvals")
def _matrix(call: Call, x: HeldType, *flags: bool) -> None:
    call.matrix(x)


@_of("solve", "triangular_solve")
def _solve(call: Call, x1: HeldType, x2: HeldType, *flags: bool) -> None:
    call.square(x1)
    call.matrix(x2)
    call.same_dtype(x1, x2)
    call.guarantees(x1.shape[-1] == x2.shape[-2], "as many equations on both sides")
