"""The rules of the primitives: shape and dtype of the results, from those of the operands.

One row per method of the contract: a function of those of the method's parameters that decide, by
their names. An operand is an `ArrayType`, or a Python scalar where the method takes one. Sizes are
ints or symbolic dimensions. A size that only the elements decide is asked of the operand that has
them, by `ArrayType.decided_size`.

Operands that do not go together raise the error that a backend raises for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, prod
from typing import Any, Final, Literal, TypeAlias, TypeVar

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import DType
from ..core.real import Real
from ..core.shape import broadcast_shapes, reduced_shape
from ..core.symbolic import Dim, DimLike, Outcome, Sizes
from ..core.symbolic_layout import SymbolicSelection
from ..core.view import View
from . import table as p
from .table import TABLE, Primitive

Shape: TypeAlias = "tuple[Outcome, ...]"
Elements: TypeAlias = Any
"""A NumPy array of any dtype."""
Rule: TypeAlias = "Callable[..., Any]"
"""A function of some parameters of a method, by their names."""
_Size = TypeVar("_Size", int, DimLike)

MANY: Final = 2**40
"""The bound of sizes that have no better one."""


class DataDependentSizeError(ValueError):
    """A size depends on the elements of an operand, which are not known."""


class ArrayType:
    """Shape and dtype of an array."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: Shape, dtype: DType) -> None:
        self.shape = shape
        self.dtype = dtype

    def decided_size(self, words: str, most: DimLike, count: Callable[[Elements], int]) -> Outcome:
        """The size from 0 to `most` that the elements of this operand decide.

        words: What the size is, for error messages.
        count: From the elements, as a NumPy array, to the size.
        DataDependentSizeError: Unless a subclass knows the elements, or has another answer.
        """
        raise DataDependentSizeError(words)

    def smaller_size(self, a: DimLike, b: DimLike) -> DimLike:
        """The smaller one of two sizes of this operand."""
        return a if a <= b else b


ROWS: Final = {op.name: op for op in TABLE}
"""The rows of the table by name."""

ELEMENTWISE: Final = frozenset(
    {"unary", "binary", "where", "clip", "cast", "apply", "apply_multiple"}
)
"""The methods that compute element by element, after broadcasting."""

SHARING: Final = frozenset(
    {"expand", "try_reshape", "reshape", "permute", "shrink", "slice", "flip", "strided"}
    | {"bitcast", "contiguous"}
)
"""The methods whose result may share the memory of an operand."""

ROW_MAJOR: Final = frozenset({"empty", "full", "contiguous", "copy"})
"""The methods whose result is row-major."""


_SCALARS: Final = frozenset({bool, int, float, complex, Dim, Real})


def is_scalar(x: object) -> bool:
    """Whether `x`, which an operand may be, is a Python scalar, known or symbolic."""
    return type(x) in _SCALARS or isinstance(x, float | complex)  # which NumPy's may be


def fits(shape: Sizes, target: Sizes) -> bool:
    """Whether a value of shape `shape` can be written to an array of shape `target`.

    Further axes of size 1 in front do not count.
    """
    surplus = max(0, len(shape) - len(target))
    try:
        broadcast = broadcast_shapes(shape[surplus:], target)
    except ValueError:
        return False
    return all([n == 1 for n in shape[:surplus]]) and broadcast == target


# ---------------------------------------------------------------------- what rows are made of


def _first_array(*operands: Any) -> ArrayType:
    return next(x for x in operands if isinstance(x, ArrayType))


def _broadcast(*operands: Any) -> Shape:
    return broadcast_shapes(*[x.shape for x in operands if isinstance(x, ArrayType)])


def _with_size(shape: Shape, axis: int, *sizes: Outcome) -> Shape:
    """`shape` with other sizes in place of that on `axis`."""
    return (*shape[:axis], *sizes, *shape[axis + 1 :])


def _arange_shape(start: Outcome, stop: Outcome, step: Outcome) -> Shape:
    if all([isinstance(x, int | Dim) for x in (start, stop, step)]):
        length = -((start - stop) // step)
    else:
        length = ceil((stop - start) / step)
    return (length if length > 0 else 0,)


def _sliced_shape(x: ArrayType, selection: SymbolicSelection) -> Shape:
    view = View(x.shape).slice(selection)
    assert view is not None  # there is no mask
    return view.shape


def _padded_shape(x: ArrayType, padding: Sequence[tuple[int, int]]) -> Shape:
    sizes = zip(x.shape, padding, strict=True)
    return tuple([before + n + after for n, (before, after) in sizes])


def joined_shape(shapes: Sequence[Shape], axis: int) -> Shape:
    """The shape of arrays of `shapes` joined along `axis`.

    ValueError: If they differ but for `axis`.
    """
    before, after = shapes[0][:axis], shapes[0][axis + 1 :]
    others = [(len(s), s[:axis], s[axis + 1 :]) for s in shapes]
    if any([each != (len(shapes[0]), before, after) for each in others]):
        given = ", ".join(map(str, shapes))
        raise ValueError(f"all dimensions but axis {axis} must agree, not {given}")
    return (*before, sum([shape[axis] for shape in shapes]), *after)


def _repeated_shape(x: ArrayType, repeats: int | ArrayType, axis: int) -> Shape:
    if isinstance(repeats, ArrayType):
        size = repeats.decided_size("the sum of the repeats", MANY, lambda each: int(each.sum()))
    else:
        size = x.shape[axis] * repeats
    return _with_size(x.shape, axis, size)


def _bitcast_shape(x: ArrayType, dtype: DType) -> Shape:
    if x.dtype.itemsize == dtype.itemsize:
        return x.shape
    return (*x.shape[:-1], x.shape[-1] * x.dtype.itemsize // dtype.itemsize)


def _indexed_shape(x: ArrayType, keys: Sequence[ArrayType | int | None]) -> Shape:
    sizes = list(x.shape)
    before: list[DimLike] = []
    after: list[DimLike] = []
    shapes: list[Shape] = []
    runs = 0
    is_within = False
    for key in keys:
        if key is None:
            (after if runs else before).append(sizes.pop(0))
            is_within = False
            continue
        runs += not is_within
        is_within = True
        if not isinstance(key, ArrayType):
            sizes.pop(0)
        elif key.dtype is d.bool:
            ndim = len(key.shape)
            shapes.append((_nonzero_size(key, prod(sizes[:ndim])),))
            del sizes[:ndim]
        else:
            sizes.pop(0)
            shapes.append(key.shape)
    try:
        common = broadcast_shapes(*shapes)
    except ValueError as error:
        raise IndexError(str(error)) from None
    if runs > 1:
        return (*common, *before, *after, *sizes)
    return (*before, *common, *after, *sizes)


def _nonzero_size(x: ArrayType, most: DimLike) -> Outcome:
    def count(elements: Elements) -> int:
        return int(np.count_nonzero(elements))

    return x.decided_size("the number of nonzero ones", most, count)


def _distinct_shape(x: ArrayType) -> Shape:
    def count(elements: Elements) -> int:
        # NumPy does not sort NaN of another package's dtype last.
        wide = elements.astype(d.NARROW.get(x.dtype, x.dtype), copy=False)
        return int(np.unique(wide, equal_nan=False).size)

    return (x.decided_size("the number of distinct ones", prod(x.shape), count),)


def _bincount_shape(x: ArrayType, length: int, extend: bool) -> Shape:
    def count(elements: Elements) -> int:
        return max(length, int(elements.max(initial=0)) + 1 if elements.size else 0)

    return (x.decided_size("the greatest one", MANY, count) if extend else length,)


def window_counts(
    sizes: tuple[_Size, ...],
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    padding: Sequence[tuple[int, int]],
) -> tuple[_Size, ...]:
    """How many windows there are along each axis."""
    return tuple(
        [
            (before + size + after - spread * (kernel - 1) - 1) // step + 1
            for size, kernel, step, spread, (before, after) in zip(
                sizes, kernel_size, stride, dilation, padding, strict=True
            )
        ]
    )


def _unfolded_shape(
    x: ArrayType,
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    padding: Sequence[tuple[int, int]],
) -> Shape:
    lead = len(x.shape) - len(kernel_size)
    counts = window_counts(x.shape[lead:], kernel_size, stride, dilation, padding)
    return (*x.shape[:lead], prod(kernel_size), prod(counts))


def _product_shape(x1: ArrayType, x2: ArrayType) -> Shape:
    lead = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    columns = x2.shape[-1:] if len(x2.shape) > 1 else ()
    return (*lead, *x1.shape[-2:-1], *columns)


def convolved_size(size: _Size, taps: _Size, mode: Literal["full", "same", "valid"]) -> _Size:
    """How many elements `Backend.convolve` gives."""
    if mode == "full":
        return size + taps - 1
    return size if mode == "same" else size - taps + 1


def _solved_shape(x1: ArrayType, x2: ArrayType) -> Shape:
    return (*broadcast_shapes(x1.shape[:-2], x2.shape[:-2]), *x2.shape[-2:])


def _rank(x: ArrayType) -> DimLike:
    return x.smaller_size(*x.shape[-2:])


# ---------------------------------------------------------------------- the rows


def _by_name(rows: dict[str, Rule]) -> dict[str, Rule]:
    """Rows for several methods as one row for each."""
    return {name: rule for names, rule in rows.items() for name in names.split()}


SHAPES: Final = _by_name(
    {
        # Creation.
        "empty full": lambda shape: shape,
        "arange": _arange_shape,
        "linspace": lambda num: (num,),
        "eye": lambda rows, columns: (rows, columns),
        # Element by element.
        "unary cast": lambda x: x.shape,
        "binary": lambda x1, x2: _broadcast(x1, x2),
        "where": lambda condition, x1, x2: _broadcast(condition, x1, x2),
        "clip": lambda x, low, high: _broadcast(x, low, high),
        "apply": lambda operands: _broadcast(*operands),
        # Along axes.
        "reduce var": lambda x, axes, keepdims: reduced_shape(x.shape, axes, keepdims),
        "arg_reduce": lambda x, axis, keepdims: reduced_shape(x.shape, (axis,), keepdims),
        "scan sort argsort partition argpartition": lambda x: x.shape,
        "searchsorted": lambda values: values.shape,
        # Movement and memory.
        "expand try_reshape reshape": lambda shape: shape,
        "permute": lambda x, axes: tuple([x.shape[axis] for axis in axes]),
        "slice": _sliced_shape,
        "shrink": lambda bounds: tuple([end - start for start, end in bounds]),
        "strided": lambda view: view.shape,
        "pad": _padded_shape,
        "cat": lambda arrays, axis: joined_shape([x.shape for x in arrays], axis),
        "repeat": _repeated_shape,
        "flip roll triangle contiguous copy": lambda x: x.shape,
        "bitcast": _bitcast_shape,
        # Indexed access.
        "take": lambda x, indices, axis: _with_size(x.shape, axis, *indices.shape),
        "gather": lambda indices: indices.shape,
        "scatter": lambda template: template.shape,
        "index_get": _indexed_shape,
        "isin": lambda x: x.shape,
        "unique_values": _distinct_shape,
        "bincount": _bincount_shape,
        # Random bits and windows.
        "threefry": lambda counter: counter.shape,
        "draw draw_from": lambda count: (count,),
        "unfold": _unfolded_shape,
        "fold": lambda x, output_size: (*x.shape[:-2], *output_size),
        # Matrices and transforms.
        "matmul": _product_shape,
        "vecdot": lambda x1, x2: broadcast_shapes(x1.shape[:-1], x2.shape[:-1]),
        "convolve": lambda x1, x2, mode: (convolved_size(x1.shape[0], x2.shape[0], mode),),
        "fft ifft": lambda x: x.shape,
        "rfft": lambda x, axes: _with_size(x.shape, axes[-1], x.shape[axes[-1]] // 2 + 1),
        "irfft": lambda x, axes, last_size: _with_size(x.shape, axes[-1], last_size),
        "cholesky inv": lambda x: x.shape,
        "svdvals": lambda x: (*x.shape[:-2], _rank(x)),
        "eigvals eigvalsh": lambda x: x.shape[:-1],
        "det": lambda x: x.shape[:-2],
        "solve": _solved_shape,
    }
)
"""The shape of the result, for methods that have one."""

DTYPES: Final = _by_name(
    {
        "where": lambda x1, x2: _first_array(x1, x2).dtype,
        "apply": lambda op: op.output,
        "unique_values": lambda x: x.dtype,
        "bincount": lambda weights: d.int64 if weights is None else weights.dtype,
    }
)
"""Its dtype, where this is neither the argument `dtype` nor what the row of the table says."""


def _results(*several: tuple[Shape, DType]) -> tuple[ArrayType, ...]:
    return tuple([ArrayType(shape, dtype) for shape, dtype in several])


def _nonzero(x: ArrayType) -> tuple[ArrayType, ...]:
    return _results(*[((_nonzero_size(x, prod(x.shape)),), d.int64)] * len(x.shape))


def _unique(x: ArrayType) -> tuple[ArrayType, ...]:
    shape = _distinct_shape(x)
    return _results((shape, x.dtype), (shape, d.int64), (x.shape, d.int64), (shape, d.int64))


def _qr(x: ArrayType, complete: bool) -> tuple[ArrayType, ...]:
    *lead, rows, columns = x.shape
    inner = rows if complete else _rank(x)
    return _results(((*lead, rows, inner), x.dtype), ((*lead, inner, columns), x.dtype))


def _svd(x: ArrayType, full_matrices: bool) -> tuple[ArrayType, ...]:
    *lead, rows, columns = x.shape
    rank = _rank(x)
    left, right = (rows, columns) if full_matrices else (rank, rank)
    return _results(
        ((*lead, rows, left), x.dtype),
        ((*lead, rank), p.SVDVALS.results[x.dtype]),
        ((*lead, right, columns), x.dtype),
    )


def _eigen(values: Primitive, vectors: Primitive) -> Rule:
    return lambda x: _results(
        (x.shape[:-1], values.results[x.dtype]), (x.shape, vectors.results[x.dtype])
    )


SEVERAL: Final = _by_name(
    {
        "apply_multiple": lambda op, operands: _results(
            *[(_broadcast(*operands), dtype) for dtype in op.outputs]
        ),
        "nonzero": _nonzero,
        "unique": _unique,
        "unique_counts": lambda x: _unique(x)[::3],
        "unique_inverse": lambda x: _unique(x)[::2],
        "qr": _qr,
        "svd": _svd,
        "eig": _eigen(p.EIGVALS, p.EIG),
        "eigh": _eigen(p.EIGVALSH, p.EIGH),
        "slogdet": lambda x: _results(
            (x.shape[:-2], x.dtype), (x.shape[:-2], p.ABS.results[x.dtype])
        ),
    }
)
"""The results of methods that have several."""

RULED: Final = frozenset({*SHAPES, *SEVERAL})
"""The methods that have a rule."""


def results_of(method: str, named: Mapping[str, Any]) -> tuple[ArrayType, ...]:
    """The results of a method of the contract, called with arguments that are `named`."""
    if method in SEVERAL:
        found: tuple[ArrayType, ...] = asked(SEVERAL[method], named)
        return found
    return (ArrayType(asked(SHAPES[method], named), _dtype_of(method, named)),)


def _dtype_of(method: str, named: Mapping[str, Any]) -> DType:
    if method in DTYPES:
        dtype: DType = asked(DTYPES[method], named)
        return dtype
    given: DType | None = named.get("dtype")
    if given is None:
        x = first_array(named)
        assert x is not None  # a method that creates arrays is given their dtype
        given = row_of(method, named).results[x.dtype]
    return given


def row_of(method: str, named: Mapping[str, Any]) -> Primitive:
    """The row of the primitive that a call computes."""
    op = named.get("op")
    return op if isinstance(op, Primitive) else ROWS[method]


def first_array(named: Mapping[str, Any]) -> ArrayType | None:
    """The first operand that is an array."""
    for x in named.values():
        for each in x if isinstance(x, tuple | list) else (x,):
            if isinstance(each, ArrayType):
                return each
    return None


def asked(rule: Rule, named: Mapping[str, Any]) -> Any:
    """What a function gives for those of the `named` arguments that it has parameters for."""
    code = rule.__code__
    return rule(*[named[name] for name in code.co_varnames[: code.co_argcount]])
