"""From arguments to backend calls: type checks, devices, promotion, broadcasting errors.

These functions are the hot path. Each begins with the common case, decided by exact types and
dictionary lookups, and ends in a slow twin that handles the rest: Python and NumPy scalars, mixed
dtypes, and errors, which say what was wrong and what to call instead.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, TypeGuard

import numpy as np

from ..config import current as current_settings
from ..config import hints
from ..contract.errors import no_identity
from ..core import dtypes as d
from ..core.declined import DECLINED
from ..core.dtypes import BOUNDS, CANONICAL, PROMOTION, SCALAR_PROMOTION, DType, holds
from ..core.real import Real
from ..core.shape import broadcast_shapes, check_shape, normalise_axes, normalise_axis
from ..core.symbolic import Dim
from ..device import Device, available, default_device, nearest
from ..native import with_twin
from ..primitives import table as p
from ..primitives.table import Primitive
from .array import Array
from .placement import beside, common_device, on_device, together

if TYPE_CHECKING:
    from ..contract.backend import Handle, Operand

__all__ = [
    "ArrayOrScalar",
    "PythonScalar",
    "adopted",
    "answered",
    "arg_reduce",
    "array_operand",
    "as_array",
    "binary",
    "cast",
    "check_scalar",
    "check_writable",
    "device_of_operands",
    "holding",
    "inplace",
    "int64_operand",
    "is_beyond",
    "is_operand",
    "moved_scalar",
    "only_array",
    "operands",
    "own_array",
    "placed_operand",
    "promote_arrays",
    "reduce",
    "refuse_range",
    "refuses_numpy",
    "scalar_type",
    "scan",
    "unary",
    "unary_operand",
    "with_sign_of",
    "wrap",
    "wrap_indices",
]

PythonScalar: TypeAlias = "bool | int | float | complex"
ArrayOrScalar: TypeAlias = "Array | PythonScalar"

_SCALARS: Final = frozenset({bool, int, float, complex})
_SYMBOLIC: Final[dict[type, type]] = {Dim: int, Real: float}


def wrap(handle: Handle, dtype: DType, device: Device) -> Array:
    """The Array around a backend's result."""
    array = Array()
    array._handle = handle
    array._dtype = dtype
    array._device = device
    return array


def wrap_indices(handle: Handle, device: Device) -> Array:
    """The Array around a backend's int64 result, in the device's dtype of indices."""
    dtype = device.integral
    return wrap(handle if dtype is d.int64 else device.backend.cast(handle, dtype), dtype, device)


# ---------------------------------------------------------------------- what an argument is


def only_array(x: object, name: str = "x") -> Array:
    """`x` as an array: itself, or that over the memory of a NumPy array, or of a NumPy scalar.

    Raises
    ------
    TypeError
        If it is anything else, naming the call that makes an array of it.
    """
    if type(x) is Array:
        return x
    if isinstance(x, np.generic) and not refuses_numpy():
        x = np.asarray(x)
    return own_array(adopted(x, name), name)


def own_array(x: object, name: str = "x") -> Array:
    """`x`, if it is one of our arrays: where a function writes to it.

    Raises
    ------
    TypeError
        Otherwise, naming the call that makes one.
    """
    if type(x) is Array:
        return x
    raise TypeError(f"{name} must be an array_api_nx array, not {_describe(x)}; {_advice(x)}")


def adopted(x: Any, name: str = "x") -> Any:
    """`x` itself; if it is a NumPy array, and these are operands here, an array over its memory."""
    return _from_numpy(x, name) if isinstance(x, np.ndarray) and not refuses_numpy() else x


def refuses_numpy() -> bool:
    """Whether NumPy arrays, and Python scalars in place of arrays, are no operands here."""
    return hints.strict_operands and current_settings().operands == "strict"


def _from_numpy(x: np.ndarray[Any, Any], name: str) -> Array:
    """A NumPy array as an operand: over its memory where that can be, and not committed.

    Raises
    ------
    TypeError
        If the standard lacks its dtype, or it is of a class whose meaning an operation would lose.
    """
    from . import interop

    if type(x) is not np.ndarray:
        if isinstance(x, np.matrix) or type(x).__array_ufunc__ is not np.ndarray.__array_ufunc__:
            raise TypeError(
                f"{name} is {_describe(x)}, whose operators mean more than those of its elements; "
                "make an array of these with asarray(numpy.asarray(x))"
            )
        x = interop.as_numpy(x, None, None)
    dtype = CANONICAL.get(x.dtype.newbyteorder("="))
    if dtype is None:
        raise TypeError(
            f"{name} is a NumPy array of dtype {x.dtype}, which the standard lacks; convert it "
            "with NumPy's astype(...), for instance to float64"
        )
    device = default_device()
    if hints.watched:
        interop.taking(x, "asarray", device, x.nbytes)
    return interop.from_numpy(x, nearest(dtype, device), device, None)


def _describe(x: object) -> str:
    kind = type(x)
    name = kind.__qualname__
    if kind.__module__ != "builtins":
        name = f"{kind.__module__.partition('.')[0]} {name}"
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _advice(x: object) -> str:
    if hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray | np.generic):
        return "convert it with from_dlpack(...) or asarray(...)"
    if isinstance(x, str | bytes):
        return "arrays hold numbers: convert it with float(...), then with asarray(...)"
    if x is None:
        return "make an array with asarray(...)"
    return "convert it with asarray(...)"


def scalar_type(x: object) -> type | None:
    """The Python type bool, int, float or complex that `x` is a (possibly derived) scalar of.

    Symbolic dimensions are ints, and real numbers made of them floats.
    """
    kind = type(x)
    if kind in _SCALARS:
        return kind
    if isinstance(x, np.generic):
        return None
    if kind in _SYMBOLIC:
        return _SYMBOLIC[kind]
    for scalar in (bool, int, float, complex):
        if isinstance(x, scalar):
            return scalar
    return None


def check_scalar(x: object, dtype: DType) -> PythonScalar:
    """`x` as a value of `dtype`.

    Raises
    ------
    TypeError
        If its kind exceeds that of the dtype.
    OverflowError
        If it is an int outside the dtype's bounds.
    """
    kind = scalar_type(x)
    if isinstance(x, np.generic | np.ndarray) and x.ndim == 0 and x.dtype in CANONICAL:
        x = x.item()
        kind = type(x)
    if kind is None or SCALAR_PROMOTION[dtype, kind] is not dtype:
        advice = "bool" if dtype is d.bool else "int" if dtype in d.INTEGRAL else "float"
        raise TypeError(
            f"the scalar {x!r} is no value of dtype {dtype}; convert the array with astype, or "
            f"the scalar with {advice}()"
        )
    known: Any = x
    low, high = BOUNDS[dtype]
    if kind is int and not low <= known <= high:
        if dtype in d.FLOATING:
            raise OverflowError(
                f"a Python int is out of range for dtype {dtype}; give a float, such as inf"
            )
        wider = holding(int(known), low, high)
        refuse_range(
            int(known),
            dtype,
            f"convert the array with astype to {wider}, or make it with dtype=xp.{wider}",
        )
    scalar: PythonScalar = known
    return scalar


def holding(*values: int | float) -> DType:
    """The first integer dtype that holds all values; float64 if there is none."""
    low, high = min(values), max(values)
    for dtype in d.INTEGRAL:
        least, most = BOUNDS[dtype]
        if least <= low and high <= most:
            return dtype
    return d.float64


def refuse_range(value: int, dtype: DType, advice: str) -> NoReturn:
    """Raise the OverflowError for an int that an integer dtype does not hold."""
    # Python refuses to print the longest ints.
    bits = value.bit_length()
    low, high = BOUNDS[dtype]
    raise OverflowError(
        f"the scalar {value if bits <= 128 else f'of {bits} bits'} is out of range for dtype "
        f"{dtype} ({low} to {high}); {advice}"
    )


def as_array(x: object, name: str = "x") -> ArrayOrScalar:
    """`x` as an operand: an array or a Python scalar. NumPy scalars become 0-d arrays.

    Raises
    ------
    TypeError
        If it is anything else.
    """
    if type(x) is Array:
        return x
    if isinstance(x, np.generic):
        dtype = CANONICAL.get(x.dtype)
        if dtype is None:
            raise TypeError(
                f"{name} is a NumPy scalar of dtype {x.dtype}, which the standard lacks; "
                "convert it with float() or int()"
            )
        device = hints.device or default_device()
        if device.missing:
            dtype = nearest(dtype, device)
            x = dtype.type(x)
        handle = device.backend.from_host(np.asarray(x), copy=False, lent=False)
        return wrap(handle, dtype, device)
    kind = scalar_type(x)
    known: Any = x
    if kind is not None:
        plain: PythonScalar = known if type(x) in _SYMBOLIC else kind(known)
        return plain
    known = adopted(x, name)
    if type(known) is Array:
        return known
    raise TypeError(
        f"{name} must be an array_api_nx array or a Python scalar, not {_describe(x)}; {_advice(x)}"
    )


def array_operand(x: object, name: str = "x") -> Array:
    """`x` as an array. NumPy scalars become 0-d arrays.

    Raises
    ------
    TypeError
        If it is anything else, a Python scalar among them.
    """
    return only_array(as_array(x, name) if isinstance(x, np.generic) else x, name)


def unary_operand(x: object, name: str = "x") -> Array:
    """`x` as the operand of a function of one array, element by element.

    As `array_operand`; Python scalars become 0-d arrays of the default dtypes.
    """
    from .creation import asarray

    if scalar_type(x) is not None and not refuses_numpy():
        return asarray(x)
    return array_operand(x, name)


def check_writable(x: Array) -> None:
    """ValueError, saying why, unless `x` may be written to."""
    reason = x._device.backend.read_only_reason(x._handle)
    if reason is not None:
        mend = "copy it with asarray(x, copy=True)"
        if reason == x._device.backend.immutable:
            mend = "make another array, with where(...), concat(...) or array_api_extra's at(x)"
        raise ValueError(f"cannot write to the array: {reason}; {mend}")


@with_twin
def cast(x: Array, dtype: DType) -> Array:
    """`x` itself, or a copy with another dtype."""
    if x._dtype is dtype:
        return x
    device = x._device
    if device.missing:
        available(dtype, device)
    return wrap(device.backend.cast(x._handle, dtype), dtype, device)


def int64_operand(x: Array) -> Array:
    """`x` as int64, which is what backends take for indices, whatever the device has of dtypes."""
    if x._dtype is d.int64:
        return x
    return wrap(x._device.backend.cast(x._handle, d.int64), d.int64, x._device)


def operands(*values: object) -> tuple[list[ArrayOrScalar], DType, Device]:
    """Check mixed arrays and scalars together.

    Returns
    -------
    operands : list
        Arrays and Python scalars, of which at least one is an array.
    dtype : dtype
        What they promote to.
    device : Device

    Raises
    ------
    TypeError
        If a value is neither, or none is an array.
    ValueError
        If the arrays are on different devices.
    """
    result = [as_array(x, f"x{i}") for i, x in enumerate(values, start=1)]
    device = device_of_operands(values, result)
    if device is None:
        raise TypeError(
            "at least one argument must be an array, but all are Python scalars; "
            "convert one with asarray(...)"
        )
    result = [placed_operand(given, x, device) for given, x in zip(values, result, strict=True)]
    dtype = d.promote(*[x._dtype for x in result if type(x) is Array])
    for x in result:
        if type(x) is not Array:
            kind = scalar_type(x)
            assert kind is not None
            dtype = SCALAR_PROMOTION[dtype, kind]
    if device.missing:
        dtype = _promoted(dtype, device)
    return result, dtype, device


def device_of_operands(given: Sequence[object], values: Sequence[ArrayOrScalar]) -> Device | None:
    """The device of what `as_array` made of operands; None if all are Python scalars."""
    arrays = [x for x in values if type(x) is Array]
    # A NumPy scalar goes wherever the arrays are.
    placed = [x for x, each in zip(values, given, strict=True) if not isinstance(each, np.generic)]
    devices = [x._device for x in placed if type(x) is Array] or [x._device for x in arrays]
    return common_device(devices) if devices else None


def placed_operand(given: object, x: ArrayOrScalar, device: Device) -> ArrayOrScalar:
    """What `as_array` made of an operand, on the device of all of them."""
    if type(x) is not Array or x._device is device:
        return x
    return moved_scalar(x, device) if isinstance(given, np.generic) else on_device(x, device)


def moved_scalar(x: Array, device: Device) -> Array:
    """What was made of a NumPy scalar, where the arrays are: in a dtype that there is."""
    return cast(x, nearest(x._dtype, device)).to_device(device)


def _promoted(dtype: DType, device: Device) -> DType:
    """What operands on a device promote to, if it is `dtype` elsewhere.

    The standard leaves open what integers and floats make together. Where there is no double
    precision, it is single. Of integers alone it says what they make; that must be there.
    """
    return nearest(dtype, device) if dtype in d.FLOATING else dtype


def promote_arrays(*arrays: Array) -> tuple[list[Array], DType, Device]:
    """Arrays (scalars excluded) cast to their common dtype."""
    placed = together(*[only_array(x, f"x{i}") for i, x in enumerate(arrays, start=1)])
    device = placed[0]._device
    dtype = d.promote(*[x._dtype for x in placed])
    if device.missing:
        dtype = _promoted(dtype, device)
    return [cast(x, dtype) for x in placed], dtype, device


def refuse_dtype(op: Primitive, *found: DType) -> NoReturn:
    """Raise the TypeError for dtypes that a primitive does not take."""
    legal = _kinds([*op.results, *op.cast_first])
    names = " and ".join([str(dtype) for dtype in found])
    raise TypeError(f"{op.name} takes {legal} dtypes, not {names}; convert with astype")


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


@with_twin
def unary(op: Primitive, x: Array) -> Array:
    """`op` of every element of `x`."""
    if type(x) is Array:
        result = op.results.get(x._dtype)
        if result is not None:
            device = x._device
            array = Array()
            array._handle = device.backend.unary(op, x._handle)
            array._dtype = result
            array._device = device
            return array
        dtype, _ = operand_dtypes(op, x._dtype, x._device)
        return unary(op, cast(x, dtype))
    return unary(op, unary_operand(x))


@with_twin
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
    array = Array()
    try:
        array._handle = device.backend.binary(op, first, second)
    except ValueError as error:
        _explain(op, x1, x2, error)
    array._dtype = result
    array._device = device
    return array


def _binary(op: Primitive, x1: ArrayOrScalar, x2: ArrayOrScalar, foreign: object) -> Array:
    """The rest of `binary`: what is NumPy's, mixed dtypes, scalars of other kinds, errors."""
    x1, x2 = adopted(x1, "x1"), adopted(x2, "x2")
    a: ArrayOrScalar = as_array(x1) if isinstance(x1, np.generic) else x1
    b: ArrayOrScalar = as_array(x2) if isinstance(x2, np.generic) else x2
    if type(a) is Array and type(b) is Array and a._device is b._device:
        dtype, device = PROMOTION[a._dtype, b._dtype], a._device
    elif type(a) is Array and type(b) in _SCALARS:
        dtype, device = SCALAR_PROMOTION[a._dtype, type(b)], a._device
    elif type(b) is Array and type(a) in _SCALARS:
        dtype, device = SCALAR_PROMOTION[b._dtype, type(a)], b._device
    elif foreign is NotImplemented and not (is_operand(a) and is_operand(b)):
        return DECLINED
    else:
        (a, b), dtype, device = operands(x1, x2)
    if device.missing:
        dtype = _promoted(dtype, device)
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
    p.EQUAL: operator.eq,
    p.NOT_EQUAL: operator.ne,
    p.LESS: operator.lt,
    p.LESS_EQUAL: operator.le,
    p.GREATER: operator.gt,
    p.GREATER_EQUAL: operator.ge,
}


def is_beyond(x: object, dtype: DType) -> TypeGuard[int]:
    """Whether `x` is a Python int, and `dtype` an integer dtype that does not hold it."""
    known: Any = x
    low, high = BOUNDS[dtype]
    return scalar_type(x) is int and dtype in d.INTEGRAL and not low <= known <= high


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


def is_operand(x: object) -> bool:
    """Whether a binary operator has an opinion on `x`: it computes, or says how to convert."""
    return (
        type(x) is Array
        or isinstance(x, bool | int | float | complex | np.generic | np.ndarray | list | tuple)
        or type(x) in _SYMBOLIC
        or hasattr(x, "__array_namespace__")
        or hasattr(x, "__dlpack__")
    )


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

    Raises
    ------
    TypeError
        If the result's kind exceeds that of `x`.
    ValueError
        If `other` does not broadcast to the shape of `x`, or `x` is read-only.
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
    if type(x) is not Array:
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
    array = Array()
    array._handle = backend.reduce(op, x._handle, axes, keepdims, dtype)
    array._dtype = result
    array._device = device
    return array


_ALL_AXES: Final = [tuple(range(n)) for n in range(65)]
_WITHOUT_IDENTITY: Final = frozenset({p.MAX, p.MIN})


def arg_reduce(op: Primitive, x: Array, axis: int | None, keepdims: bool) -> Array:
    """Index of an extreme element along `axis`, or in the flattened array for None."""
    if type(x) is not Array:
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
    if type(x) is not Array:
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
