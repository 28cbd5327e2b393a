"""The rules of the primitives: shape and dtype of the results, from those of the operands.

One function per method of the contract, with the method's parameters in their order. An operand is
an `ArrayType`, or a Python scalar where the method takes one; the result is an `ArrayType`, a tuple
of them, or None for a method that writes. Sizes are ints or symbolic dimensions. A size that only
the elements decide is asked of the operand that has them, by `ArrayType.decided_size`.

Operands that do not go together raise the error that a backend raises for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, prod
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import DType
from ..core.real import Real
from ..core.shape import broadcast_shapes, reduced_shape
from ..core.symbolic import Dim, DimLike, Number, Outcome, Sizes
from ..core.symbolic_layout import SymbolicSelection
from ..core.view import View
from . import table as p
from .table import TABLE, Primitive

__all__ = [
    "ELEMENTWISE",
    "ROWS",
    "ROW_MAJOR",
    "RULES",
    "SHARING",
    "ArrayType",
    "DataDependentSizeError",
    "Elements",
    "convolved_size",
    "fits",
    "is_scalar",
    "joined_shape",
    "results_of",
    "window_counts",
]

Shape: TypeAlias = "tuple[Outcome, ...]"
Elements: TypeAlias = Any
"""A NumPy array of any dtype."""
Scalar: TypeAlias = "bool | int | float | complex"
Operand: TypeAlias = "ArrayType | Scalar"
Results: TypeAlias = "ArrayType | tuple[ArrayType, ...] | None"
Rule: TypeAlias = "Callable[..., Results]"
_Size = TypeVar("_Size", int, DimLike)
_Rule = TypeVar("_Rule", bound="Callable[..., ArrayType | tuple[ArrayType, ...] | None]")

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

        Parameters
        ----------
        words : str
            What the size is, for error messages.
        most : int or Dim
        count : callable
            From the elements, as a NumPy array, to the size.

        Raises
        ------
        DataDependentSizeError
            Unless a subclass knows the elements, or has another answer.
        """
        raise DataDependentSizeError(words)

    def smaller_size(self, a: DimLike, b: DimLike) -> DimLike:
        """The smaller one of two sizes of this operand."""
        return a if a <= b else b


class UfuncTypes(Protocol):
    """What the rules need of a `contract.ufuncs.UfuncLoop`."""

    outputs: tuple[DType, ...]

    @property
    def output(self) -> DType: ...


RULES: Final[dict[str, Rule]] = {}
"""The rule of each method of the contract whose results are arrays, by the method's name."""

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


def results_of(method: str, *arguments: object) -> tuple[ArrayType, ...]:
    """The results that the rule of a method gives: one, several, or none for a method that writes.

    Parameters
    ----------
    method : str
    *arguments : object
        The value of each parameter of the method.
    """
    found = RULES[method](*arguments)
    if found is None:
        return ()
    return found if isinstance(found, tuple) else (found,)


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


def _rule(*names: str) -> Callable[[_Rule], _Rule]:
    def add(function: _Rule) -> _Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return add


def _first_array(*operands: Operand | None) -> ArrayType:
    return next(x for x in operands if isinstance(x, ArrayType))


def _broadcast(*operands: Operand | None) -> Shape:
    return broadcast_shapes(*[x.shape for x in operands if isinstance(x, ArrayType)])


# ---------------------------------------------------------------------- creation


@_rule("empty")
def _empty(shape: Shape, dtype: DType) -> ArrayType:
    return ArrayType(shape, dtype)


@_rule("full")
def _full(shape: Shape, dtype: DType, value: Scalar) -> ArrayType:
    return ArrayType(shape, dtype)


@_rule("arange")
def _arange(start: Number, stop: Number, step: Number, dtype: DType) -> ArrayType:
    ends: tuple[Outcome, Outcome] = (start, stop)
    distance = ends[1] - ends[0]
    if all([isinstance(x, int | Dim) for x in (start, stop, step)]):
        length = -(-distance // step)
    else:
        length = ceil(distance / step)
    return ArrayType((length if length > 0 else 0,), dtype)


@_rule("linspace")
def _linspace(start: Scalar, stop: Scalar, num: int, dtype: DType, endpoint: bool) -> ArrayType:
    return ArrayType((num,), dtype)


@_rule("eye")
def _eye(rows: int, columns: int, k: int, dtype: DType) -> ArrayType:
    return ArrayType((rows, columns), dtype)


# ---------------------------------------------------------------------- element by element


@_rule("unary")
def _unary(op: Primitive, x: ArrayType) -> ArrayType:
    return ArrayType(x.shape, op.results[x.dtype])


@_rule("binary")
def _binary(op: Primitive, x1: Operand, x2: Operand, out: ArrayType | None = None) -> ArrayType:
    return ArrayType(_broadcast(x1, x2), op.results[_first_array(x1, x2).dtype])


@_rule("where")
def _where(condition: ArrayType, x1: Operand, x2: Operand) -> ArrayType:
    return ArrayType(_broadcast(condition, x1, x2), _first_array(x1, x2).dtype)


@_rule("clip")
def _clip(x: ArrayType, low: Operand | None, high: Operand | None) -> ArrayType:
    return ArrayType(_broadcast(x, low, high), x.dtype)


@_rule("cast")
def _cast(x: ArrayType, dtype: DType) -> ArrayType:
    return ArrayType(x.shape, dtype)


@_rule("apply")
def _apply(op: UfuncTypes, operands: Sequence[Operand]) -> ArrayType:
    return ArrayType(_broadcast(*operands), op.output)


@_rule("apply_multiple")
def _apply_multiple(op: UfuncTypes, operands: Sequence[Operand]) -> tuple[ArrayType, ...]:
    shape = _broadcast(*operands)
    return tuple([ArrayType(shape, dtype) for dtype in op.outputs])


# ---------------------------------------------------------------------- along axes


@_rule("reduce")
def _reduce(
    op: Primitive, x: ArrayType, axes: tuple[int, ...], keepdims: bool, dtype: DType | None = None
) -> ArrayType:
    return ArrayType(
        reduced_shape(x.shape, axes, keepdims), op.results[x.dtype if dtype is None else dtype]
    )


@_rule("arg_reduce")
def _arg_reduce(op: Primitive, x: ArrayType, axis: int, keepdims: bool) -> ArrayType:
    return _reduce(op, x, (axis,), keepdims)


@_rule("scan")
def _scan(op: Primitive, x: ArrayType, axis: int, dtype: DType | None = None) -> ArrayType:
    return ArrayType(x.shape, op.results[x.dtype if dtype is None else dtype])


@_rule("var")
def _var(x: ArrayType, axes: tuple[int, ...], keepdims: bool, correction: float) -> ArrayType:
    return _reduce(p.VAR, x, axes, keepdims)


def _of_the_same_shape(op: Primitive) -> None:
    """Add the rule of a method whose result has the first operand's shape, and the row's dtype."""

    def rule(x: ArrayType, *rest: object) -> ArrayType:
        return ArrayType(x.shape, op.results[x.dtype])

    RULES[op.name] = rule


for _op in (p.SORT, p.ARGSORT, p.PARTITION, p.ARGPARTITION, p.FLIP, p.ROLL, p.TRIANGLE,
            p.CONTIGUOUS, p.COPY, p.ISIN, p.FFT, p.IFFT, p.CHOLESKY, p.INV):  # fmt: skip
    _of_the_same_shape(_op)


@_rule("searchsorted")
def _searchsorted(x: ArrayType, values: ArrayType, right: bool) -> ArrayType:
    return ArrayType(values.shape, p.SEARCHSORTED.results[x.dtype])


# ---------------------------------------------------------------------- movement


@_rule("expand", "try_reshape", "reshape")
def _shaped(x: ArrayType, shape: Shape) -> ArrayType:
    return ArrayType(shape, x.dtype)


@_rule("permute")
def _permute(x: ArrayType, axes: tuple[int, ...]) -> ArrayType:
    return ArrayType(tuple([x.shape[axis] for axis in axes]), x.dtype)


@_rule("slice")
def _slice(x: ArrayType, selection: SymbolicSelection) -> ArrayType:
    view = View(x.shape).slice(selection)
    assert view is not None  # there is no mask
    return ArrayType(view.shape, x.dtype)


@_rule("shrink")
def _shrink(x: ArrayType, bounds: tuple[tuple[int, int], ...]) -> ArrayType:
    return ArrayType(tuple([end - start for start, end in bounds]), x.dtype)


@_rule("strided")
def _strided(x: ArrayType, view: View) -> ArrayType:
    return ArrayType(view.shape, x.dtype)


@_rule("pad")
def _pad(x: ArrayType, padding: Sequence[tuple[int, int]], value: Scalar) -> ArrayType:
    sizes = zip(x.shape, padding, strict=True)
    return ArrayType(tuple([before + n + after for n, (before, after) in sizes]), x.dtype)


@_rule("cat")
def _cat(arrays: Sequence[ArrayType], axis: int) -> ArrayType:
    return ArrayType(joined_shape([x.shape for x in arrays], axis), arrays[0].dtype)


def joined_shape(shapes: Sequence[Shape], axis: int) -> Shape:
    """The shape of arrays of `shapes` joined along `axis`.

    Raises
    ------
    ValueError
        If they differ but for `axis`.
    """
    before, after = shapes[0][:axis], shapes[0][axis + 1 :]
    if any([(*s[:axis], *s[axis + 1 :]) != (*before, *after) for s in shapes[1:]]):
        raise ValueError(f"shapes differ but for axis {axis}: {', '.join(map(str, shapes))}")
    return (*before, sum([shape[axis] for shape in shapes]), *after)


@_rule("repeat")
def _repeat(x: ArrayType, repeats: int | ArrayType, axis: int) -> ArrayType:
    if isinstance(repeats, ArrayType):
        size = repeats.decided_size("the sum of the repeats", MANY, lambda each: int(each.sum()))
    else:
        size = x.shape[axis] * repeats
    return ArrayType((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)


@_rule("bitcast")
def _bitcast(x: ArrayType, dtype: DType) -> ArrayType:
    shape = x.shape
    if dtype.itemsize != x.dtype.itemsize:
        shape = (*shape[:-1], shape[-1] * x.dtype.itemsize // dtype.itemsize)
    return ArrayType(shape, dtype)


# ---------------------------------------------------------------------- indexed access


@_rule("take")
def _take(x: ArrayType, indices: ArrayType, axis: int) -> ArrayType:
    return ArrayType((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype)


@_rule("gather")
def _gather(x: ArrayType, indices: ArrayType, axis: int) -> ArrayType:
    return ArrayType(indices.shape, x.dtype)


@_rule("scatter")
def _scatter(
    template: ArrayType, indices: ArrayType, updates: ArrayType, axis: int, add: bool
) -> ArrayType:
    return ArrayType(template.shape, template.dtype)


@_rule("index_get")
def _index_get(x: ArrayType, keys: Sequence[ArrayType | int | None]) -> ArrayType:
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
        return ArrayType((*common, *before, *after, *sizes), x.dtype)
    return ArrayType((*before, *common, *after, *sizes), x.dtype)


def _nonzero_size(x: ArrayType, most: DimLike) -> Outcome:
    return x.decided_size(
        "the number of nonzero ones", most, lambda each: int(np.count_nonzero(each))
    )


@_rule("assign", "assign_strided", "index_set")
def _written(target: ArrayType, *rest: object) -> None:
    return None


@_rule("nonzero")
def _nonzero(x: ArrayType) -> tuple[ArrayType, ...]:
    shape = (_nonzero_size(x, prod(x.shape)),)
    return tuple([ArrayType(shape, p.NONZERO.results[x.dtype]) for _ in x.shape])


def _distinct_shape(x: ArrayType) -> Shape:
    def count(elements: Elements) -> int:
        return int(np.unique(elements, equal_nan=False).size)

    return (x.decided_size("the number of distinct ones", prod(x.shape), count),)


@_rule("unique")
def _unique(x: ArrayType) -> tuple[ArrayType, ...]:
    shape = _distinct_shape(x)
    number = ArrayType(shape, d.int64)
    return ArrayType(shape, x.dtype), number, ArrayType(x.shape, d.int64), number


@_rule("unique_counts")
def _unique_counts(x: ArrayType) -> tuple[ArrayType, ...]:
    values, _, _, counts = _unique(x)
    return values, counts


@_rule("unique_inverse")
def _unique_inverse(x: ArrayType) -> tuple[ArrayType, ...]:
    values, _, inverse, _ = _unique(x)
    return values, inverse


@_rule("unique_values")
def _unique_values(x: ArrayType) -> ArrayType:
    return ArrayType(_distinct_shape(x), x.dtype)


@_rule("bincount")
def _bincount(x: ArrayType, weights: ArrayType | None, length: int, extend: bool) -> ArrayType:
    def count(elements: Elements) -> int:
        return max(length, int(elements.max(initial=0)) + 1 if elements.size else 0)

    size = x.decided_size("the greatest one", MANY, count) if extend else length
    return ArrayType((size,), p.BINCOUNT.results[x.dtype] if weights is None else weights.dtype)


# ---------------------------------------------------------------------- random bits


@_rule("threefry")
def _threefry(key: ArrayType, counter: ArrayType) -> ArrayType:
    return ArrayType(counter.shape, p.THREEFRY.results[counter.dtype])


@_rule("draw", "draw_from")
def _draw(
    kind: str, key: object, base: object, first: int, count: int, dtype: DType, *rest: object
) -> ArrayType:
    return ArrayType((count,), dtype)


# ---------------------------------------------------------------------- windows


@_rule("unfold")
def _unfold(
    x: ArrayType,
    kernel_size: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    padding: Sequence[tuple[int, int]],
) -> ArrayType:
    lead = len(x.shape) - len(kernel_size)
    counts = window_counts(x.shape[lead:], kernel_size, stride, dilation, padding)
    return ArrayType((*x.shape[:lead], prod(kernel_size), prod(counts)), x.dtype)


@_rule("fold")
def _fold(x: ArrayType, output_size: tuple[int, ...], *windows: object) -> ArrayType:
    return ArrayType((*x.shape[:-2], *output_size), x.dtype)


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


# ---------------------------------------------------------------------- matrices


@_rule("matmul")
def _matmul(x1: ArrayType, x2: ArrayType) -> ArrayType:
    lead = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    columns = x2.shape[-1:] if len(x2.shape) > 1 else ()
    return ArrayType((*lead, *x1.shape[-2:-1], *columns), p.MATMUL.results[x1.dtype])


@_rule("vecdot")
def _vecdot(x1: ArrayType, x2: ArrayType) -> ArrayType:
    return ArrayType(broadcast_shapes(x1.shape[:-1], x2.shape[:-1]), p.VECDOT.results[x1.dtype])


@_rule("convolve")
def _convolve(x1: ArrayType, x2: ArrayType, mode: Literal["full", "same", "valid"]) -> ArrayType:
    size = convolved_size(x1.shape[0], x2.shape[0], mode)
    return ArrayType((size,), p.CONVOLVE.results[x1.dtype])


def convolved_size(size: _Size, taps: _Size, mode: Literal["full", "same", "valid"]) -> _Size:
    """How many elements `Backend.convolve` gives."""
    if mode == "full":
        return size + taps - 1
    return size if mode == "same" else size - taps + 1


@_rule("rfft")
def _rfft(x: ArrayType, axes: tuple[int, ...], norm: str) -> ArrayType:
    return _with_size(p.RFFT, x, axes[-1], x.shape[axes[-1]] // 2 + 1)


@_rule("irfft")
def _irfft(x: ArrayType, axes: tuple[int, ...], last_size: int, norm: str) -> ArrayType:
    return _with_size(p.IRFFT, x, axes[-1], last_size)


def _with_size(op: Primitive, x: ArrayType, axis: int, size: DimLike) -> ArrayType:
    return ArrayType((*x.shape[:axis], size, *x.shape[axis + 1 :]), op.results[x.dtype])


@_rule("qr")
def _qr(x: ArrayType, complete: bool) -> tuple[ArrayType, ...]:
    *lead, rows, columns = x.shape
    inner = rows if complete else x.smaller_size(rows, columns)
    return ArrayType((*lead, rows, inner), x.dtype), ArrayType((*lead, inner, columns), x.dtype)


@_rule("svd")
def _svd(x: ArrayType, full_matrices: bool) -> tuple[ArrayType, ...]:
    *lead, rows, columns = x.shape
    values = _svdvals(x)
    inner = values.shape[-1]
    return (
        ArrayType((*lead, rows, rows if full_matrices else inner), x.dtype),
        values,
        ArrayType((*lead, columns if full_matrices else inner, columns), x.dtype),
    )


@_rule("svdvals")
def _svdvals(x: ArrayType) -> ArrayType:
    *lead, rows, columns = x.shape
    return ArrayType((*lead, x.smaller_size(rows, columns)), p.SVDVALS.results[x.dtype])


@_rule("eig")
def _eig(x: ArrayType) -> tuple[ArrayType, ...]:
    return _eigvals(x), ArrayType(x.shape, p.EIG.results[x.dtype])


@_rule("eigvals")
def _eigvals(x: ArrayType) -> ArrayType:
    return ArrayType(x.shape[:-1], p.EIGVALS.results[x.dtype])


@_rule("eigh")
def _eigh(x: ArrayType) -> tuple[ArrayType, ...]:
    return _eigvalsh(x), ArrayType(x.shape, x.dtype)


@_rule("eigvalsh")
def _eigvalsh(x: ArrayType) -> ArrayType:
    return ArrayType(x.shape[:-1], p.EIGVALSH.results[x.dtype])


@_rule("slogdet")
def _slogdet(x: ArrayType) -> tuple[ArrayType, ...]:
    return _det(x), ArrayType(x.shape[:-2], p.ABS.results[x.dtype])


@_rule("det")
def _det(x: ArrayType) -> ArrayType:
    return ArrayType(x.shape[:-2], x.dtype)


@_rule("solve", "triangular_solve")
def _solve(x1: ArrayType, x2: ArrayType, *flags: bool) -> ArrayType:
    lead = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    return ArrayType((*lead, *x2.shape[-2:]), x1.dtype)
