"""The frontend's guarantees of calls of single methods, as rows of assertions.

A row has the words of the guarantee, the methods that it is for, and a condition: a function of
some of the method's parameters, by their names, in which operands are `HeldType`. The rows of a
method are checked in their order, after those of the parameters' names and annotations
(`CheckedCall.check`). The words are those of the contract (interface.py, arrays.py, handles.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import BOUNDS, DType
from ..core.layout import Selection
from ..core.shape import broadcast_shapes
from ..core.view import View
from ..primitives import table as p
from ..primitives.rules import fits, window_counts
from .arguments import Padding
from .checked_call import CheckedCall, HeldType, Shape
from .numpy_dtypes import NDArray, has_other_bools, is_aligned
from .program import Argument
from .random_numbers import DRAWN, PARAMETERS

Condition: TypeAlias = "Callable[..., Any]"
"""From some of the arguments of a call, by their names, to whether they are as promised."""


def by_method(
    rows: Iterable[tuple[str, str, Condition]],
) -> dict[str, list[tuple[str, Condition]]]:
    """Rows for several methods as the rows of each."""
    found: dict[str, list[tuple[str, Condition]]] = {}
    for words, methods, condition in rows:
        for name in methods.split():
            found.setdefault(name, []).append((words, condition))
    return found


OPERANDS: Final = {
    "binary": ("x1", "x2"),
    "where": ("x1", "x2"),
    "clip": ("x", "low", "high"),
    "assign": ("target", "value"),
    "assign_strided": ("target", "value"),
    "index_set": ("target", "value"),
    **dict.fromkeys(["matmul", "vecdot", "convolve", "solve"], ("x1", "x2")),
    "searchsorted": ("x", "values"),
    "isin": ("x", "members"),
    "scatter": ("template", "updates"),
    "threefry": ("key", "counter"),
}
"""The parameters that share a dtype: arrays, and the scalars that it represents."""

SCALARS: Final = {"full": ("value",), "linspace": ("start", "stop"), "pad": ("value",)}
"""The parameters that are scalars of the dtype of the result."""

_WRITERS: Final = "assign assign_strided index_set"
_SQUARE: Final = "cholesky eig eigvals eigh eigvalsh inv slogdet det"


def _broadcasts(x: HeldType, target: Shape) -> bool:
    return len(x.shape) <= len(target) and fits(x.shape, target)


def _is_out(call: CheckedCall, op: Any, x1: Argument, x2: Argument, out: HeldType | None) -> bool:
    if out is None:
        return True
    arrays = [x for x in (x1, x2) if isinstance(x, HeldType)]
    call.guarantees(out.is_writable, "the target may be written")
    right = out.dtype is op.results[arrays[0].dtype]
    call.guarantees(right, "`out` has the result's dtype")
    return out.shape == broadcast_shapes(*[x.shape for x in arrays])


def _ends_fit(call: CheckedCall, start: float, stop: float, step: float, dtype: DType) -> bool:
    length = -((start - stop) // step)
    if length > 0:
        call.scalar(start, dtype)
        call.scalar(start + (length - 1) * step, dtype)
    return True


def _are_of_loop(call: CheckedCall, op: Any, operands: tuple[Argument, ...]) -> bool:
    for x, dtype in zip(operands, op.inputs, strict=True):
        if not isinstance(x, HeldType):
            call.scalar(x, dtype)
        elif x.dtype is not dtype:
            return False
    return True


def _is_inside(x: HeldType, view: View) -> bool:
    low, high = view.extent
    return low >= 0 and bool(high <= prod(x.shape))


def _is_within(x: HeldType, selection: Selection) -> bool:
    try:
        View(x.shape).slice(selection)
    except ValueError:
        return False
    return True


def _is_host_array(call: CheckedCall, array: NDArray) -> bool:
    return call.backend.takes_any_bool or not has_other_bools(array)


def _least(repeats: int | HeldType) -> int:
    return int(repeats.elements().min(initial=0)) if isinstance(repeats, HeldType) else repeats


def _is_whole(x: HeldType, dtype: DType) -> bool:
    old, new = x.dtype.itemsize, dtype.itemsize
    return old == new or (bool(x.shape) and x.shape[-1] * old % new == 0)


def _fit_axes(call: CheckedCall, x: HeldType, keys: Sequence[Argument]) -> bool:
    """Whether there are no more keys than axes; ContractError for a mask of another shape."""
    axis = 0
    for key in keys:
        if isinstance(key, HeldType) and key.dtype is d.bool:
            covered = x.shape[axis : axis + len(key.shape)]
            fitting = len(covered) == len(key.shape) and all(
                [m in (n, 0) for m, n in zip(key.shape, covered, strict=True)]
            )
            call.guarantees(fitting, "a mask has the shape of its axes, or sizes of 0")
            axis += len(covered)
        else:
            axis += 1
    return axis <= len(x.shape)


def _differs_on(axis: int, x: HeldType, indices: HeldType) -> bool:
    return len(x.shape) == len(indices.shape) and all(
        [i == axis or m == n for i, (m, n) in enumerate(zip(x.shape, indices.shape, strict=True))]
    )


def _are_positions(indices: HeldType, size: int) -> bool:
    positions = indices.elements()
    return bool(((positions >= 0) & (positions < size)).all())


def _span_fits(kind: str, dtype: DType, low: int, span: int) -> bool:
    if kind != "integers":
        return True
    least, most = BOUNDS[dtype]
    return 1 <= span <= 2**64 and least <= low and low + span - 1 <= most


def _arrays(parameters: tuple[Argument, ...]) -> list[HeldType]:
    return [x for x in parameters if isinstance(x, HeldType)]


def _windows(
    call: CheckedCall,
    sizes: Shape,
    kernel_size: Shape,
    stride: Shape,
    dilation: Shape,
    padding: Padding,
) -> int:
    """Check the parameters of windows over axes of the given sizes; how many there are."""
    lengths = {len(each) for each in (sizes, kernel_size, stride, dilation, padding)}
    call.guarantees(len(lengths) == 1, "parameters of one length")
    positive = all([n > 0 for n in (*kernel_size, *stride, *dilation)])
    call.guarantees(positive, "sizes, strides and dilations are positive")
    call.guarantees(all([a >= 0 <= b for a, b in padding]), "padding is not negative")
    return prod(window_counts(sizes, kernel_size, stride, dilation, padding))


def _a_window_fits(
    call: CheckedCall,
    x: HeldType,
    kernel_size: Shape,
    stride: Shape,
    dilation: Shape,
    padding: Padding,
) -> bool:
    sizes = x.shape[len(x.shape) - len(kernel_size) :]
    return _windows(call, sizes, kernel_size, stride, dilation, padding) > 0


def _is_unfolded(
    call: CheckedCall,
    x: HeldType,
    output_size: Shape,
    kernel_size: Shape,
    stride: Shape,
    dilation: Shape,
    padding: Padding,
) -> bool:
    windows = _windows(call, output_size, kernel_size, stride, dilation, padding)
    return bool(x.shape[-2:] == (prod(kernel_size), windows))


PROMISES: Final = by_method([
    ("a size for each variable", "prepare prepare_compiled",
     lambda program, sizes: len(sizes) == len(program.variables)),
    ("sizes within bounds", "prepare prepare_compiled",
     lambda program, sizes: all(
         [v.min <= n <= v.max for n, v in zip(sizes, program.variables, strict=True)])),
    ("a NumPy array", "from_host", lambda array: isinstance(array, np.ndarray)),
    ("a dtype with a counterpart in the table", "from_host",
     lambda array: array.dtype.name in {dtype.name for dtype in p.FROM_HOST.results}),
    ("native byte order", "from_host", lambda array: array.dtype.isnative),
    ("aligned elements and strides of whole elements", "from_host",
     lambda call, array: is_aligned(array, call.backend.word)),
    ("bools that are 0 or 1 in memory", "from_host", _is_host_array),
    ("a step that is not zero", "arange", lambda step: step != 0),
    ("ends that the dtype represents", "arange", _ends_fit),
    ("a shape is a tuple of non-negative ints", "linspace",
     lambda num: type(num) is int and num >= 0),
    ("a shape is a tuple of non-negative ints", "eye",
     lambda rows, columns: type(rows) is type(columns) is int and rows >= 0 <= columns),
    ("k is an int", "eye triangle", lambda k: type(k) is int),
    ("`out` has the result's shape", "binary", _is_out),
    ("a boolean condition", "where", lambda condition: condition.dtype is d.bool),
    ("at least one limit", "clip", lambda low, high: low is not None or high is not None),
    ("limits broadcast to `x`", "clip",
     lambda x, low, high: all([_broadcasts(y, x.shape) for y in _arrays((low, high))])),
    ("one output, or the number of that which is wanted", "apply",
     lambda op: len(op.outputs) == 1 or op.wanted is not None),
    ("all outputs are wanted", "apply_multiple", lambda op: op.wanted is None),
    ("as many operands as the ufunc takes", "apply apply_multiple",
     lambda op, operands: len(operands) == len(op.inputs)),
    ("handles of the loop's dtypes", "apply apply_multiple", _are_of_loop),
    ("at least one operand is a handle", "apply apply_multiple",
     lambda operands: len(_arrays(operands)) > 0),
    ("a dtype for sum and prod only", "reduce",
     lambda op, dtype: dtype is None or op in (p.SUM, p.PROD)),
    ("no empty axis", "reduce",
     lambda op, x, axes: op not in (p.MAX, p.MIN) or 0 not in [x.shape[i] for i in axes]),
    ("no empty axis", "arg_reduce", lambda x, axis: x.shape[axis] > 0),
    ("a dtype for sums and products only", "scan",
     lambda op, dtype: dtype is None or op in (p.CUMULATIVE_SUM, p.CUMULATIVE_PROD)),
    ("a correction that is a real number", "var",
     lambda correction: isinstance(correction, int | float)),
    ("positions in `kth` that ascend and lie in range", "partition argpartition",
     lambda x, kth, axis: len(kth) > 0 and kth[-1] < x.shape[axis]
     and all([first < second for first, second in pairwise(kth)])),
    ("a 1-D `x`", "searchsorted bincount", lambda x: len(x.shape) == 1),
    ("the shape of `x` broadcasts to `shape`", "expand", lambda x, shape: _broadcasts(x, shape)),
    ("sizes with the same product", "try_reshape reshape",
     lambda x, shape: prod(x.shape) == prod(shape)),
    ("a permutation of all axes", "permute", lambda x, axes: len(axes) == len(x.shape)),
    ("`selection` is a tuple of ints, triples and None", "slice",
     lambda selection: isinstance(selection, tuple)
     and all([item is None or type(item) in (int, tuple) for item in selection])),
    ("`selection` names every axis and lies within the shape", "slice", _is_within),
    ("0 <= start <= end <= size for every axis", "shrink",
     lambda x, bounds: type(bounds) is tuple and len(bounds) == len(x.shape)
     and all([0 <= a <= b <= n for (a, b), n in zip(bounds, x.shape, strict=True)])),
    ("a mark for every axis", "flip",
     lambda x, axes: type(axes) is tuple and len(axes) == len(x.shape)),
    ("non-negative (before, after) for every axis", "pad",
     lambda x, padding: type(padding) is tuple and len(padding) == len(x.shape)
     and all([before >= 0 <= after for before, after in padding])),
    ("at least one array", "cat", lambda arrays: len(arrays) > 0),
    ("handles of one dtype", "cat", lambda arrays: len({x.dtype for x in arrays}) == 1),
    ("one shift per axis", "roll", lambda x, shifts: len(shifts) == len(x.shape)),
    ("int64 repeats", "repeat",
     lambda repeats: isinstance(repeats, int) or repeats.dtype is d.int64),
    ("repeats per element", "repeat",
     lambda x, repeats, axis: isinstance(repeats, int) or repeats.shape == (x.shape[axis],)),
    ("repeats are not negative", "repeat", lambda repeats: _least(repeats) >= 0),
    ("both dtypes are numeric", "bitcast",
     lambda x, dtype: {x.dtype, dtype} <= p.BITCAST.results.keys()),
    ("the last axis is a whole number of new elements", "bitcast", _is_whole),
    ("the target may be written", _WRITERS, lambda target: target.is_writable),
    ("the shape of `value` broadcasts to that of the target", "assign",
     lambda target, value: not isinstance(value, HeldType) or fits(value.shape, target.shape)),
    ("an unmasked view of concrete sizes", "strided assign_strided",
     lambda view: view.is_materializable),
    ("a view inside the block", "strided", _is_inside),
    ("a view inside the block", "assign_strided", lambda target, view: _is_inside(target, view)),
    ("a view without repeated elements", "assign_strided", lambda view: not view.has_repeats),
    ("int keys are not negative", "index_get index_set",
     lambda keys: all([key >= 0 for key in keys if type(key) is int])),
    ("int64 or boolean keys", "index_get index_set",
     lambda keys: all([x.dtype in (d.int64, d.bool) for x in _arrays(keys)])),
    ("no more keys than axes", "index_get", _fit_axes),
    ("no more keys than axes", "index_set",
     lambda call, target, keys: _fit_axes(call, target, keys)),
    ("at least one key that is a handle", "index_get index_set",
     lambda keys: len(_arrays(keys)) > 0),
    ("int64 indices", "take gather scatter", lambda indices: indices.dtype is d.int64),
    ("indices have the shape of the array but for `axis`", "gather",
     lambda x, indices, axis: _differs_on(axis, x, indices)),
    ("indices have the shape of the array but for `axis`", "scatter",
     lambda template, indices, axis: _differs_on(axis, template, indices)),
    ("an update for every index", "scatter",
     lambda indices, updates: indices.shape == updates.shape),
    ("indices from 0 to size - 1", "scatter",
     lambda template, indices, axis: _are_positions(indices, template.shape[axis])),
    ("at least one axis", "nonzero", lambda x: len(x.shape) > 0),
    ("a shape is a tuple of non-negative ints", "bincount",
     lambda length: type(length) is int and length >= 0),
    ("numeric weights", "bincount", lambda weights: weights is None or weights.dtype in d.NUMERIC),
    ("weights of the shape of `x`", "bincount",
     lambda x, weights: weights is None or weights.shape == x.shape),
    ("a key of shape (2,)", "threefry", lambda key: key.shape == (2,)),
    ("counters of shape (..., 2)", "threefry", lambda counter: counter.shape[-1:] == (2,)),
    ("a key of words of 32 bits", "draw", lambda key: all([0 <= word < 2**32 for word in key])),
    ("a state of shape ()", "draw_from", lambda key, counter: key.shape == counter.shape == ()),
    ("a state of int64", "draw_from", lambda key, counter: key.dtype is counter.dtype is d.int64),
    ("a dtype that the kind of draw has", "draw draw_from",
     lambda kind, dtype: dtype in DRAWN.get(kind, ())),
    ("counters of at least 0", "draw", lambda base, first, count: min(base, first, count) >= 0),
    ("counters of at least 0", "draw_from", lambda offset, count: min(offset, count) >= 0),
    ("counters below 2**63", "draw",
     lambda base, first, count: base + 2 * (first + count) < 2**63),
    ("a span within the dtype", "draw", _span_fits),
    ("bounds for integers alone", "draw",
     lambda kind, low, span: kind == "integers" or low == span == 0),
    ("as many parameters as the kind has", "draw draw_from",
     lambda kind, parameters: len(parameters) == PARAMETERS.get(kind, 0)),
    ("parameters of float64", "draw draw_from",
     lambda parameters: all([x.dtype is d.float64 for x in _arrays(parameters)])),
    ("a parameter for each number", "draw draw_from",
     lambda count, parameters: all([x.shape == (count,) for x in _arrays(parameters)])),
    ("an axis for every size of the kernel", "unfold",
     lambda x, kernel_size: len(kernel_size) <= len(x.shape)),
    ("at least one window fits", "unfold", _a_window_fits),
    ("the shape that `unfold` gives", "fold", _is_unfolded),
    ("at least one axis each", "matmul vecdot",
     lambda x1, x2: len(x1.shape) >= 1 <= len(x2.shape)),
    ("the contracted sizes agree", "matmul", lambda x1, x2: x1.shape[-1] == x2.shape[-2:][0]),
    ("last axes of the same size", "vecdot", lambda x1, x2: x1.shape[-1] == x2.shape[-1]),
    ("one axis each", "convolve", lambda x1, x2: len(x1.shape) == len(x2.shape) == 1),
    ("an `x1` no shorter than `x2`, which is not empty", "convolve",
     lambda x1, x2: 1 <= x2.shape[0] <= x1.shape[0]),
    ("a legal mode", "convolve", lambda mode: mode in ("full", "same", "valid")),
    ("at least one axis", "fft ifft rfft irfft", lambda axes: len(axes) > 0),
    ("no empty axis", "fft ifft rfft irfft",
     lambda x, axes: 0 not in [x.shape[axis] for axis in axes]),
    ("a legal norm", "fft ifft rfft irfft",
     lambda norm: norm in ("backward", "ortho", "forward")),
    ("the half of a spectrum of size {last_size}", "irfft",
     lambda x, axes, last_size: last_size > 0 and x.shape[axes[-1]] == last_size // 2 + 1),
    ("at least two axes", f"{_SQUARE} qr svd svdvals triangle", lambda x: len(x.shape) >= 2),
    ("at least two axes", "solve",
     lambda x1, x2: len(x1.shape) >= 2 <= len(x2.shape)),
    ("a square matrix", _SQUARE, lambda x: x.shape[-1] == x.shape[-2]),
    ("a square matrix", "solve", lambda x1: x1.shape[-1] == x1.shape[-2]),
    ("as many equations on both sides", "solve",
     lambda x1, x2: x1.shape[-1] == x2.shape[-2]),
])  # fmt: skip
"""The guarantees of calls of each method: their words, each with its condition."""
