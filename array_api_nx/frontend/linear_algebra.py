"""Linear algebra functions of the main namespace, and the operators ``@`` and ``@=``."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index

from ..contract.arguments import Handle
from ..core.declined import DECLINED
from ..core.dtypes import same_kind
from ..core.shape import (
    as_int,
    broadcast_shapes,
    check_shape,
    normalise_axes,
    normalise_axis,
)
from ..native import with_native
from ..primitives import table as p
from .array import Array, wrap
from .dispatch import operand_dtypes
from .operands import cast, check_writable, is_operand, only_array, promote_arrays

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


@with_native
def matmul(x1: Array, x2: Array, /) -> Array:
    """Matrix product.

    x1: Shape (..., M, K), or (K,), which is a row. A numeric dtype.
    x2: Shape (..., K, N), or (K,), which is a column. A numeric dtype.
    Returns: A new array of shape (..., M, N), where ... is broadcast, without the axis of a row or
        column; the promoted dtype.
    TypeError: If an operand is no array.
    ValueError: If an operand is 0-dimensional, or the shapes do not agree.
    """
    x1, x2 = _promote(p.MATMUL, x1, x2)
    shape1, shape2 = x1.shape, x2.shape
    if not shape1 or not shape2:
        raise ValueError(
            f"matmul needs operands of at least one dimension, but the shapes are {shape1} and "
            f"{shape2}; use multiply for a product with a 0-d array"
        )
    if shape1[-1] != shape2[-2 if len(shape2) > 1 else 0]:
        raise ValueError(
            f"matmul of shapes {shape1} and {shape2}: the last size of x1, {shape1[-1]}, must be "
            f"the {'second last' if len(shape2) > 1 else 'only'} size of x2; "
            "transpose one operand with matrix_transpose, or reshape it"
        )
    broadcast_shapes(shape1[:-2], shape2[:-2])
    backend = x1._device.backend
    return wrap(backend.matmul(x1._handle, x2._handle), x1._dtype, x1._device)


def matmul_operator(x1: object, x2: object) -> Array:
    """`x1 @ x2`: NotImplemented if either is of a type that may know arrays better than we do."""
    if type(x1) is Array and type(x2) is Array:
        return matmul(x1, x2)
    if not (is_operand(x1) and is_operand(x2)):
        return DECLINED
    for x in (x1, x2):
        if isinstance(x, bool | int | float | complex):
            raise TypeError(f"@ takes arrays, not the scalar {x!r}; multiply by a scalar with *")
    return matmul(x1, x2)  # type: ignore[arg-type]  # which refuses what is no array


def inplace_matmul(x: Array, other: Array) -> Array:
    """`x @= other`: the product is written to the memory of `x`.

    TypeError: If the product's kind of dtype exceeds that of `x`.
    ValueError: If the product has another shape than `x`, or `x` is read-only.
    """
    backend = x._device.backend
    if backend.immutable is None:
        check_writable(x)
    product = matmul(x, other)
    if product.shape != x.shape:
        raise ValueError(
            f"in-place matmul cannot change the shape {x.shape} of the array to {product.shape}; "
            "use x = x @ other"
        )
    if not same_kind(product._dtype, x._dtype):
        raise TypeError(
            f"in-place matmul would store {product._dtype} values in an array of dtype "
            f"{x._dtype}, which loses data; use x = x @ other"
        )
    product = cast(product, x._dtype)
    if backend.immutable is not None:
        return product
    backend.assign(x._handle, product._handle)
    return x


@with_native
def matrix_transpose(x: Array, /) -> Array:
    """Exchange the last two axes.

    x: Shape (..., M, N).
    Returns: A view of shape (..., N, M).
    ValueError: If `x` has fewer than two dimensions.
    """
    x = only_array(x)
    device = x._device
    backend = device.backend
    handle = x._handle
    ndim = len(backend.shape(handle))
    if ndim < 2:
        raise ValueError(
            f"matrix_transpose needs at least two dimensions, but the shape is {x.shape}; "
            "insert axes with expand_dims"
        )
    axes = (*range(ndim - 2), ndim - 1, ndim - 2)
    return wrap(backend.permute(handle, axes), x._dtype, device)


@with_native
def tensordot(
    x1: Array,
    x2: Array,
    /,
    *,
    axes: int | tuple[Sequence[int], Sequence[int]] = 2,
) -> Array:
    """Sum of products over pairs of axes.

    x1, x2: A numeric dtype. Paired axes have the same size; nothing is broadcast.
    axes (int or tuple of two sequences of int): N pairs the last N axes of `x1` with the first N of
        `x2`, in order; two sequences pair the axes of `x1` with those of `x2` at the same position.
    Returns: A new array of the promoted dtype, with the other axes of `x1`, then those of `x2`.
    IndexError, ValueError: If an axis is out of range, named twice or without partner, or paired
        sizes differ.
    """
    x1, x2 = _promote(p.MATMUL, x1, x2)
    shape1, shape2 = x1.shape, x2.shape
    paired1, paired2 = _paired_axes(axes, len(shape1), len(shape2))
    sizes = tuple([shape1[axis] for axis in paired1])
    if sizes != tuple([shape2[axis] for axis in paired2]):
        raise ValueError(
            f"tensordot over axes {paired1} of shape {shape1} and {paired2} of shape {shape2}: "
            "paired axes must have the same size; give other axes=..."
        )
    free1 = tuple([axis for axis in range(len(shape1)) if axis not in paired1])
    free2 = tuple([axis for axis in range(len(shape2)) if axis not in paired2])
    sizes1, sizes2 = tuple([shape1[a] for a in free1]), tuple([shape2[a] for a in free2])
    check_shape(sizes1 + sizes2)
    backend = x1._device.backend
    rows = backend.permute(x1._handle, free1 + paired1)
    rows = backend.reshape(rows, (prod(sizes1), prod(sizes)))
    columns = backend.permute(x2._handle, paired2 + free2)
    columns = backend.reshape(columns, (prod(sizes), prod(sizes2)))
    result = backend.reshape(backend.matmul(rows, columns), sizes1 + sizes2)
    return wrap(result, x1._dtype, x1._device)


def _paired_axes(
    axes: int | Sequence[Sequence[int]], ndim1: int, ndim2: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes to contract, as normalised sequences of the same length."""
    if isinstance(axes, Sequence):
        if len(axes) != 2:
            raise ValueError(
                f"tensordot takes a number of axes or one sequence of axes per operand, not "
                f"{axes!r}; give axes=(axes of x1, axes of x2)"
            )
        paired1, paired2 = normalise_axes(axes[0], ndim1), normalise_axes(axes[1], ndim2)
        if len(paired1) != len(paired2):
            raise ValueError(
                f"tensordot pairs axes, but {axes!r} has {len(paired1)} for x1 and "
                f"{len(paired2)} for x2; name as many of either"
            )
        return paired1, paired2
    count = index(as_int(axes, "axes"))
    if not 0 <= count <= min(ndim1, ndim2):
        raise ValueError(
            f"tensordot over {count} axes of operands with {ndim1} and {ndim2} dimensions; "
            f"give a number from 0 to {min(ndim1, ndim2)}"
        )
    return tuple(range(ndim1 - count, ndim1)), tuple(range(count))


@with_native
def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Dot product of vectors, the first one conjugated.

    x1, x2: A numeric dtype. The same size on `axis`; the other axes broadcast.
    axis: Where the vectors lie, counted in each array by itself.
    Returns: A new array of the promoted dtype, without the axis.
    IndexError: If an array has no such axis.
    ValueError: If the vectors' sizes differ, or the other axes do not broadcast.
    """
    x1, x2 = _promote(p.VECDOT, x1, x2)
    size1, rest1, handle1 = _vectors(x1, axis)
    size2, rest2, handle2 = _vectors(x2, axis)
    if size1 != size2:
        raise ValueError(
            f"vecdot of shapes {x1.shape} and {x2.shape} over axis {axis}: the vectors have "
            f"sizes {size1} and {size2}, which must agree; slice the longer one"
        )
    broadcast_shapes(rest1, rest2)
    return wrap(x1._device.backend.vecdot(handle1, handle2), x1._dtype, x1._device)


def _vectors(x: Array, axis: int) -> tuple[int, tuple[int, ...], Handle]:
    """The size on `axis`, the other sizes, and a handle in which it is the last axis."""
    shape = x.shape
    ndim = len(shape)
    position = normalise_axis(axis, ndim)
    rest = (*range(position), *range(position + 1, ndim))
    handle = x._handle
    if position != ndim - 1:
        handle = x._device.backend.permute(handle, (*rest, position))
    return shape[position], tuple([shape[a] for a in rest]), handle


def _promote(op: p.Primitive, x1: Array, x2: Array) -> tuple[Array, Array]:
    """Both arrays in the dtype that `op`, which keeps it, computes in."""
    if type(x1) is Array and type(x2) is Array and x1._device is x2._device:
        dtype = x1._dtype
        if x2._dtype is dtype and dtype in op.results:
            return x1, x2
    (x1, x2), dtype, device = promote_arrays(x1, x2)
    compute, _ = operand_dtypes(op, dtype, device)
    return cast(x1, compute), cast(x2, compute)
