"""From operands to backend calls: dtypes of results, broadcasting errors, axes.

These functions are the hot path. Each begins with the common case, decided by exact types and
dictionary lookups, and ends in a slow function that handles the rest: Python and NumPy scalars,
mixed dtypes, and errors, which say what was wrong and what to call instead.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Final, NoReturn

import numpy as np

from ..contract.errors import no_identity
from ..core import dtypes as d
from ..core.declined import DECLINED
from ..core.dtypes import BOUNDS, PROMOTION, SCALAR_PROMOTION, DType, holds
from ..core.shape import broadcast_shapes, check_shape, normalise_axes, normalise_axis
from ..device import Device, nearest
from ..native import native, with_native
from ..primitives import table as p
from ..primitives.table import Primitive
from .array import Array, wrap
from .operands import (
    ArrayOrScalar,
    adopted,
    array_operand,
    as_array,
    beside,
    cast,
    check_writable,
    is_operand,
    operands,
    promoted,
    unary_operand,
    wrap_indices,
)
from .scalars import SCALARS, check_scalar, is_beyond

if TYPE_CHECKING:
    from ..contract.arguments import Operand

if native is not None:
    native.set_primitives(p.of_family("unary"), p.of_family("binary"))


def refuse_dtype(op: Primitive, *found: DType) -> NoReturn:
    """Raise the TypeError for dtypes that a primitive does not take."""
    legal = _kinds([*op.results, *op.cast_first])
    names = " and ".join([str(dtype) for dtype in found])
    wider = [str(d.NARROW[dtype]) for dtype in found if d.NARROW.get(dtype) in op.results]
    to = f" to {wider[0]}" if wider else ""
    raise TypeError(f"{op.name} takes {legal} dtypes, not {names}; convert with astype{to}")


def _kinds(dtypes: Sequence[DType]) -> str:
    rest = set(dtypes)
    words = []
    for word in ("numeric", "integral", "real floating", "complex floating", "bool"):
        members = set(d.KINDS[word])
        if members <= rest:
            words.append(word)
            rest -= members
    return " or ".join([*words, *[str(dtype) for dtype in d.ALL if dtype in rest]])


def operand_dtypes(op: Primitive, dtype: DType, device: Device) -> tuple[DType, DType]:
    """The dtype to compute in and that of the result, for operands of `dtype` on a device."""
    result = op.results.get(dtype)
    if result is None:
        dtype = op.cast_first.get(dtype) or refuse_dtype(op, dtype)
        if device.missing:
            dtype = nearest(dtype, device)
        result = op.results[dtype]
    return dtype, result


# ---------------------------------------------------------------------- elementwise


@with_native
def unary(op: Primitive, x: Array) -> Array:
    """`op` of every element of `x`."""
    if type(x) is Array:
        result = op.results.get(x._dtype)
        if result is not None:
            device = x._device
            return wrap(device.backend.unary(op, x._handle), result, device)
        dtype, _ = operand_dtypes(op, x._dtype, x._device)
        return unary(op, cast(x, dtype))
    return unary(op, unary_operand(x))


@with_native
def binary(op: Primitive, x1: ArrayOrScalar, x2: ArrayOrScalar, foreign: object = None) -> Array:
    """`op` of pairs of elements of two arrays, or an array and a scalar.

    `foreign` is what to return for an operand of a type that may know ours: NotImplemented from
    operators, so that Python asks the other side. None raises TypeError.
    """
    first: Operand
    second: Operand
    if type(x1) is Array:
        dtype, device = x1._dtype, x1._device
        first = x1._handle
        if type(x2) is Array:
            alike = x2._dtype is dtype and x2._device is device
            second = x2._handle
        else:
            alike = holds(dtype, x2)
            second = x2
    elif type(x2) is Array:
        dtype, device = x2._dtype, x2._device
        alike = holds(dtype, x1)
        first, second = x1, x2._handle
    else:
        return _binary(op, x1, x2, foreign)
    result = op.results.get(dtype)
    if not alike or result is None:
        return _binary(op, x1, x2, foreign)
    try:
        return wrap(device.backend.binary(op, first, second), result, device)
    except ValueError as error:
        _explain(op, x1, x2, error)


def _binary(op: Primitive, x1: ArrayOrScalar, x2: ArrayOrScalar, foreign: object) -> Array:
    """The rest of `binary`: NumPy's objects, mixed dtypes, scalars of other kinds, errors."""
    x1, x2 = adopted(x1, "x1"), adopted(x2, "x2")
    a: ArrayOrScalar = as_array(x1) if isinstance(x1, np.generic) else x1
    b: ArrayOrScalar = as_array(x2) if isinstance(x2, np.generic) else x2
    if type(a) is Array and type(b) is Array and a._device is b._device:
        dtype, device = PROMOTION[a._dtype, b._dtype], a._device
    elif type(a) is Array and type(b) in SCALARS:
        dtype, device = SCALAR_PROMOTION[a._dtype, type(b)], a._device
    elif type(b) is Array and type(a) in SCALARS:
        dtype, device = SCALAR_PROMOTION[b._dtype, type(a)], b._device
    elif foreign is NotImplemented and not (is_operand(a) and is_operand(b)):
        return DECLINED
    else:
        (a, b), dtype, device = operands(x1, x2)
    if device.missing:
        dtype = promoted(dtype, device)
    compare = _COMPARISONS.get(op)
    if compare is not None:
        if type(a) is not Array or type(b) is not Array:
            if is_beyond(a, dtype) or is_beyond(b, dtype):
                # All elements are on one side of the scalar, as any value of the dtype shows.
                verdict = compare(*[BOUNDS[dtype][0] if type(x) is Array else x for x in (a, b)])
                (shape,) = [x.shape for x in (a, b) if type(x) is Array]
                return wrap(device.backend.full(shape, d.bool, verdict), d.bool, device)
        elif (a._dtype, b._dtype) in d.ROUNDED:
            return _compare_unrounded(op, a, b)
    compute, result = operand_dtypes(op, dtype, device)
    first = cast(a, compute)._handle if type(a) is Array else check_scalar(a, compute)
    second = cast(b, compute)._handle if type(b) is Array else check_scalar(b, compute)
    try:
        return wrap(device.backend.binary(op, first, second), result, device)
    except ValueError as error:
        _explain(op, a, b, error)


_COMPARISONS: Final[dict[Primitive, Callable[..., bool]]] = {
    op: getattr(operator, op.operator)
    for op in p.of_family("binary")
    if op.operator and op.is_predicate
}


def _compare_unrounded(op: Primitive, a: Array, b: Array) -> Array:
    """A comparison of integers whose dtypes are a pair in `ROUNDED`."""
    if a._dtype is d.uint64:
        b, negative = with_sign_of(a, b)
        verdict = _COMPARISONS[op](0, -1)
    else:
        a, negative = with_sign_of(b, a)
        verdict = _COMPARISONS[op](-1, 0)
    return answered(binary(op, a, b), negative, verdict)


def with_sign_of(other: Array, x: Array) -> tuple[Array, Array]:
    """`x` in a dtype that `other` is compared in without rounding, and where `x` does not fit it.

    Their dtypes are a pair in `ROUNDED`. An element of `x` that does not fit is less than each
    element of `other` if `other` is unsigned, and greater if it is signed.
    """
    if other._dtype is d.uint64:
        return cast(x, d.uint64), binary(p.LESS, x, 0)
    return cast(x, d.int64), binary(p.GREATER, x, BOUNDS[d.int64][1])


def answered(x: Array, mask: Array, verdict: bool) -> Array:
    """The bools `x`, but `verdict` where `mask` holds."""
    # Of bools, "greater" is "and not".
    return binary(p.BITWISE_OR if verdict else p.GREATER, x, mask)


def _explain(op: Primitive, x1: ArrayOrScalar, x2: ArrayOrScalar, error: ValueError) -> NoReturn:
    """Raise the error that says why a backend could not combine two operands."""
    if type(x1) is Array and type(x2) is Array:
        check_shape(broadcast_shapes(x1.shape, x2.shape))
    if op is p.POW:
        raise ValueError(
            "integers cannot be raised to negative integer powers, as the result would not be "
            "an integer; convert one operand with astype(..., float64)"
        ) from error
    raise error


def inplace(op: Primitive, x: Array, other: ArrayOrScalar) -> Array:
    """`x op= other`: the result is written to the memory of `x`, whose dtype stays.

    TypeError: If the result's kind exceeds that of `x`.
    ValueError: If `other` does not broadcast to the shape of `x`, or `x` is read-only.
    """
    dtype = x._dtype
    if op.results.get(dtype) is dtype:
        # The common cases: nothing to promote, nothing to broadcast but a scalar.
        device = x._device
        backend = device.backend
        value: Operand | None = None
        if type(other) is Array:
            if (
                other._dtype is dtype
                and other._device is device
                and backend.shape(other._handle) == backend.shape(x._handle)
            ):
                value = other._handle
        elif holds(dtype, other):
            value = other
        if value is not None and backend.read_only_reason(x._handle) is None:
            try:
                backend.binary(op, x._handle, value, x._handle)
            except ValueError as error:
                _explain(op, x, other, error)
            return x
    return _inplace(op, x, other)


def _inplace(op: Primitive, x: Array, other: ArrayOrScalar) -> Array:
    """The rest of `inplace`: other dtypes, NumPy's arrays, broadcasting, errors."""
    other = adopted(other, "x2")
    if type(other) is Array:
        other = beside(x, other)
    (_, value), dtype, device = operands(x, other)
    compute, result = operand_dtypes(op, dtype, device)
    if not d.same_kind(result, x._dtype):
        raise TypeError(
            f"in-place {op.name} would store {result} values in an array of dtype {x._dtype}, "
            "which loses data; use the operator that makes a new array"
        )
    if type(value) is Array and broadcast_shapes(x.shape, value.shape) != x.shape:
        raise ValueError(
            f"in-place {op.name} cannot change the shape {x.shape} of the array to broadcast it "
            f"with {value.shape}; use the operator that makes a new array"
        )
    backend = device.backend
    if backend.immutable is not None:
        # As in Python where there is no in-place operator: the name stands for another array.
        first: ArrayOrScalar = cast(x, compute)
        return cast(binary(op, first, value), x._dtype)
    check_writable(x)
    handle = cast(value, compute)._handle if type(value) is Array else check_scalar(value, compute)
    try:
        if compute is x._dtype is result:
            backend.binary(op, x._handle, handle, x._handle)
        else:
            new = backend.binary(op, cast(x, compute)._handle, handle)
            backend.assign(x._handle, backend.cast(new, x._dtype))
    except ValueError as error:
        _explain(op, x, value, error)
    return x


# ---------------------------------------------------------------------- along axes


def reduce(
    op: Primitive,
    x: Array,
    axis: int | tuple[int, ...] | None,
    keepdims: bool,
    dtype: DType | None = None,
) -> Array:
    """`op` over the axes `axis`; `dtype`, for sum and prod, is what to accumulate in."""
    x = array_operand(x)
    result = op.results.get(x._dtype)
    if result is None:
        compute, result = operand_dtypes(op, x._dtype, x._device)
        if dtype is None:
            x = cast(x, compute)
    device = x._device
    backend = device.backend
    sizes = backend.sizes(x._handle)
    ndim = len(sizes)
    if axis is None:
        axes = _ALL_AXES[ndim]
    elif type(axis) is int and 0 <= axis < ndim:
        axes = (axis,)
    else:
        axes = normalise_axes(axis, ndim)
    if 0 in sizes and op in _WITHOUT_IDENTITY and 0 in [sizes[a] for a in axes]:
        raise no_identity(op.name, backend.shape(x._handle), axis)
    if dtype is not None:
        result = dtype
        if dtype is x._dtype:
            dtype = None
    return wrap(backend.reduce(op, x._handle, axes, keepdims, dtype), result, device)


_ALL_AXES: Final = [tuple(range(n)) for n in range(65)]

_WITHOUT_IDENTITY: Final = frozenset({p.MAX, p.MIN})


def arg_reduce(op: Primitive, x: Array, axis: int | None, keepdims: bool) -> Array:
    """Index of an extreme element along `axis`, or in the flattened array for None."""
    x = array_operand(x)
    operand_dtypes(op, x._dtype, x._device)
    backend = x._device.backend
    handle = x._handle
    shape = backend.shape(handle)
    if axis is None:
        handle = backend.reshape(handle, (prod(shape),))
        position = 0
    else:
        position = normalise_axis(axis, len(shape))
    if backend.shape(handle)[position] == 0:
        raise no_identity(op.name, shape, axis)
    handle = backend.arg_reduce(op, handle, position, keepdims)
    if axis is None and keepdims:
        handle = backend.reshape(handle, (1,) * len(shape))
    return wrap_indices(handle, x._device)


def scan(op: Primitive, x: Array, axis: int | None, dtype: DType | None) -> Array:
    """Inclusive running `op` along `axis`, which may be omitted for one dimension."""
    x = array_operand(x)
    compute, result = operand_dtypes(op, x._dtype, x._device)
    if dtype is None:
        x = cast(x, compute)
    ndim = len(x.shape)
    if axis is None:
        if ndim != 1:
            raise ValueError(
                f"{op.name} of an array of shape {x.shape} needs an axis; "
                "give axis=..., or flatten the array with reshape(x, (-1,))"
            )
        axis = 0
    position = normalise_axis(axis, ndim)
    if dtype is not None:
        result = dtype
        if dtype is x._dtype:
            dtype = None
    handle = x._device.backend.scan(op, x._handle, position, dtype)
    return wrap(handle, result, x._device)
