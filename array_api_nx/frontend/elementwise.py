"""The elementwise chapter of the standard.

Every function computes on the elements of its operands, after promotion and broadcasting, and
returns a new array: none of them returns a view.
"""

from __future__ import annotations

from ..contract.backend import Operand
from ..core.dtypes import BOUNDS, INTEGRAL, DType, holds
from ..core.shape import broadcast_shapes
from ..native import with_twin
from ..primitives import table as p
from .array import Array, wrap
from .dispatch import binary, operand_dtypes, unary
from .operands import ArrayOrScalar, array_operand, as_array, cast, operands
from .scalars import check_scalar

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]


@with_twin
def abs(x: Array, /) -> Array:
    """Absolute value of each element; the magnitude of a complex one.

    Parameters
    ----------
    x : Array
        A numeric dtype.

    Returns
    -------
    Array
        A new array of the same shape; the dtype is that of `x`, or its parts' if complex.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.ABS, x)


@with_twin
def acos(x: Array, /) -> Array:
    """Inverse cosine of each element, in radians.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.ACOS, x)


@with_twin
def acosh(x: Array, /) -> Array:
    """Inverse hyperbolic cosine of each element.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.ACOSH, x)


@with_twin
def add(x1: Array | int | float | complex, x2: Array | int | float | complex, /) -> Array:
    """Sums of elements.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Numeric or boolean dtypes; the sum of booleans is their logical or.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with their promoted dtype.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.ADD, x1, x2)


@with_twin
def asin(x: Array, /) -> Array:
    """Inverse sine of each element, in radians.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.ASIN, x)


@with_twin
def asinh(x: Array, /) -> Array:
    """Inverse hyperbolic sine of each element.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.ASINH, x)


@with_twin
def atan(x: Array, /) -> Array:
    """Inverse tangent of each element, in radians.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.ATAN, x)


@with_twin
def atan2(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Angles, in radians, of the points with ordinates `x1` and abscissas `x2`.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Real floating-point dtypes; integers and booleans are computed in
        float64.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with the dtype computed in.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.ATAN2, x1, x2)


@with_twin
def atanh(x: Array, /) -> Array:
    """Inverse hyperbolic tangent of each element.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.ATANH, x)


@with_twin
def bitwise_and(x1: Array | int | bool, x2: Array | int | bool, /) -> Array:
    """Bitwise and of elements.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Integer or boolean dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with their promoted dtype.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.BITWISE_AND, x1, x2)


@with_twin
def bitwise_left_shift(x1: Array | int, x2: Array | int, /) -> Array:
    """The bits of `x1` shifted to the left by `x2` places.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Integer dtypes; `x2` not negative.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with their promoted dtype.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.BITWISE_LEFT_SHIFT, x1, x2)


@with_twin
def bitwise_invert(x: Array, /) -> Array:
    """Each element with every bit flipped; the negation of booleans.

    Parameters
    ----------
    x : Array
        An integer or boolean dtype.

    Returns
    -------
    Array
        A new array of the same shape and dtype.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.BITWISE_INVERT, x)


@with_twin
def bitwise_or(x1: Array | int | bool, x2: Array | int | bool, /) -> Array:
    """Bitwise or of elements.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Integer or boolean dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with their promoted dtype.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.BITWISE_OR, x1, x2)


@with_twin
def bitwise_right_shift(x1: Array | int, x2: Array | int, /) -> Array:
    """The bits of `x1` shifted to the right by `x2` places; the sign is kept.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Integer dtypes; `x2` not negative.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with their promoted dtype.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.BITWISE_RIGHT_SHIFT, x1, x2)


@with_twin
def bitwise_xor(x1: Array | int | bool, x2: Array | int | bool, /) -> Array:
    """Bitwise exclusive or of elements.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Integer or boolean dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with their promoted dtype.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.BITWISE_XOR, x1, x2)


@with_twin
def ceil(x: Array, /) -> Array:
    """Each element rounded up to an integer value.

    Parameters
    ----------
    x : Array
        A real dtype.

    Returns
    -------
    Array
        A new array of the same shape and dtype.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.CEIL, x)


@with_twin
def clip(
    x: Array,
    /,
    min: Array | int | float | None = None,
    max: Array | int | float | None = None,
) -> Array:
    """Each element limited to the range from `min` to `max`.

    Where `min` is greater than `max`, the result is `max`. Where one of the three is NaN, so is
    the result.

    Parameters
    ----------
    x : Array
        A real dtype.
    min, max : Array, scalar or None
        Limits that broadcast with `x`; None for no limit. Python ints beyond the bounds of an
        integer dtype stand for the bound.

    Returns
    -------
    Array
        A new array of the shape that all broadcast to. Its dtype is that of `x`, unless a limit
        of a wider dtype or another kind promotes it.

    Raises
    ------
    TypeError
        If `x` is no array, a limit is neither array nor scalar, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.

    Standard: elementwise functions.
    """
    if type(x) is Array and x._dtype in p.CLIP.results:
        dtype = x._dtype
        if (
            (min is not None or max is not None)
            and (min is None or holds(dtype, min))
            and (max is None or holds(dtype, max))
        ):
            device = x._device
            return wrap(device.backend.clip(x._handle, min, max), dtype, device)
    return _clip(x, min, max)


def _clip(x: Array, low: Array | int | float | None, high: Array | int | float | None) -> Array:
    """The rest of `clip`: no limits, arrays as limits, mixed dtypes, errors."""
    x = array_operand(x)
    given = []
    for name, limit in (("min", low), ("max", high)):
        if limit is not None:
            as_array(limit, name)
            given.append(limit)
    (value, *limits), dtype, device = operands(x, *given)
    dtype, _ = operand_dtypes(p.CLIP, dtype, device)
    shape = broadcast_shapes(*[each.shape for each in (value, *limits) if type(each) is Array])
    handles = [_limit(limit, dtype) for limit in limits]
    backend = device.backend
    handle = _limit(value, dtype)
    if not handles:
        return wrap(backend.copy(handle), dtype, device)
    if backend.shape(handle) != shape:
        handle = backend.expand(handle, shape)
    minimum = None if low is None else handles.pop(0)
    maximum = None if high is None else handles.pop()
    return wrap(backend.clip(handle, minimum, maximum), dtype, device)


def _limit(limit: ArrayOrScalar, dtype: DType) -> Operand:
    """A backend's operand of `dtype`; an int beyond the bounds of the dtype becomes the bound."""
    if type(limit) is Array:
        return cast(limit, dtype)._handle
    if type(limit) is int and dtype in INTEGRAL:
        return sorted((limit, *BOUNDS[dtype]))[1]
    return check_scalar(limit, dtype)


@with_twin
def conj(x: Array, /) -> Array:
    """Complex conjugate of each element; real ones as they are.

    Parameters
    ----------
    x : Array
        A numeric dtype.

    Returns
    -------
    Array
        A new array of the same shape and dtype.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.CONJ, x)


@with_twin
def copysign(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """The magnitudes of `x1` with the sign bits of `x2`.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Real floating-point dtypes; integers and booleans are computed in
        float64.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with the dtype computed in.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.COPYSIGN, x1, x2)


@with_twin
def cos(x: Array, /) -> Array:
    """Cosine of each element, taken in radians.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.COS, x)


@with_twin
def cosh(x: Array, /) -> Array:
    """Hyperbolic cosine of each element.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.COSH, x)


@with_twin
def divide(x1: Array | int | float | complex, x2: Array | int | float | complex, /) -> Array:
    """Quotients of elements.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Floating-point dtypes; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with the dtype computed in.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.DIVIDE, x1, x2)


@with_twin
def equal(
    x1: Array | int | float | complex | bool, x2: Array | int | float | complex | bool, /
) -> Array:
    """Whether elements are equal.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Any dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with dtype bool.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, or both are scalars.
    ValueError
        If the shapes do not broadcast, or the devices differ.

    Standard: elementwise functions.
    """
    return binary(p.EQUAL, x1, x2)


@with_twin
def exp(x: Array, /) -> Array:
    """Exponential of each element.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.EXP, x)


@with_twin
def expm1(x: Array, /) -> Array:
    """``exp(x) - 1`` for each element, accurate near zero.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.EXPM1, x)


@with_twin
def floor(x: Array, /) -> Array:
    """Each element rounded down to an integer value.

    Parameters
    ----------
    x : Array
        A real dtype.

    Returns
    -------
    Array
        A new array of the same shape and dtype.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.FLOOR, x)


@with_twin
def floor_divide(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Quotients of elements, rounded down.

    By zero: infinite or NaN for floating-point dtypes, zero for integers.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Real dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with their promoted dtype.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.FLOOR_DIVIDE, x1, x2)


@with_twin
def greater(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Whether elements of `x1` are greater than those of `x2`.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Real or boolean dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with dtype bool.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.

    Standard: elementwise functions.
    """
    return binary(p.GREATER, x1, x2)


@with_twin
def greater_equal(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Whether elements of `x1` are greater than or equal to those of `x2`.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Real or boolean dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with dtype bool.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.

    Standard: elementwise functions.
    """
    return binary(p.GREATER_EQUAL, x1, x2)


@with_twin
def hypot(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """``sqrt(x1**2 + x2**2)`` without overflow on the way.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Real floating-point dtypes; integers and booleans are computed in
        float64.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with the dtype computed in.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.HYPOT, x1, x2)


@with_twin
def imag(x: Array, /) -> Array:
    """Imaginary part of each element; zeros for a real array.

    Parameters
    ----------
    x : Array
        A numeric dtype.

    Returns
    -------
    Array
        A new array of the same shape; the dtype is that of `x`, or its parts' if complex.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.IMAG, x)


@with_twin
def isfinite(x: Array, /) -> Array:
    """Whether each element is neither infinite nor NaN.

    Parameters
    ----------
    x : Array
        Any dtype.

    Returns
    -------
    Array
        A new array of the same shape and dtype bool.

    Raises
    ------
    TypeError
        If `x` is no array.

    Standard: elementwise functions.
    """
    return unary(p.ISFINITE, x)


@with_twin
def isinf(x: Array, /) -> Array:
    """Whether each element, or a part of a complex one, is infinite.

    Parameters
    ----------
    x : Array
        Any dtype.

    Returns
    -------
    Array
        A new array of the same shape and dtype bool.

    Raises
    ------
    TypeError
        If `x` is no array.

    Standard: elementwise functions.
    """
    return unary(p.ISINF, x)


@with_twin
def isnan(x: Array, /) -> Array:
    """Whether each element, or a part of a complex one, is NaN.

    Parameters
    ----------
    x : Array
        Any dtype.

    Returns
    -------
    Array
        A new array of the same shape and dtype bool.

    Raises
    ------
    TypeError
        If `x` is no array.

    Standard: elementwise functions.
    """
    return unary(p.ISNAN, x)


@with_twin
def less(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Whether elements of `x1` are less than those of `x2`.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Real or boolean dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with dtype bool.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.

    Standard: elementwise functions.
    """
    return binary(p.LESS, x1, x2)


@with_twin
def less_equal(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Whether elements of `x1` are less than or equal to those of `x2`.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Real or boolean dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with dtype bool.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.

    Standard: elementwise functions.
    """
    return binary(p.LESS_EQUAL, x1, x2)


@with_twin
def log(x: Array, /) -> Array:
    """Natural logarithm of each element.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.LOG, x)


@with_twin
def log1p(x: Array, /) -> Array:
    """``log(1 + x)`` for each element, accurate near zero.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.LOG1P, x)


@with_twin
def log2(x: Array, /) -> Array:
    """Base-2 logarithm of each element.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.LOG2, x)


@with_twin
def log10(x: Array, /) -> Array:
    """Base-10 logarithm of each element.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.LOG10, x)


@with_twin
def logaddexp(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """``log(exp(x1) + exp(x2))`` without overflow on the way.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Real floating-point dtypes; integers and booleans are computed in
        float64.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with the dtype computed in.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.LOGADDEXP, x1, x2)


@with_twin
def logical_and(x1: Array | bool, x2: Array | bool, /) -> Array:
    """Whether both elements are True or nonzero.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Any dtypes; the standard defines bool.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with dtype bool.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, or both are scalars.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.LOGICAL_AND, x1, x2)


@with_twin
def logical_not(x: Array, /) -> Array:
    """Whether each element is False or zero.

    Parameters
    ----------
    x : Array
        Any dtype; the standard defines bool.

    Returns
    -------
    Array
        A new array of the same shape and dtype bool.

    Raises
    ------
    TypeError
        If `x` is no array.

    Standard: elementwise functions.
    """
    return unary(p.LOGICAL_NOT, x)


@with_twin
def logical_or(x1: Array | bool, x2: Array | bool, /) -> Array:
    """Whether at least one of two elements is True or nonzero.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Any dtypes; the standard defines bool.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with dtype bool.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, or both are scalars.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.LOGICAL_OR, x1, x2)


@with_twin
def logical_xor(x1: Array | bool, x2: Array | bool, /) -> Array:
    """Whether exactly one of two elements is True or nonzero.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Any dtypes; the standard defines bool.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with dtype bool.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, or both are scalars.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.LOGICAL_XOR, x1, x2)


@with_twin
def maximum(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """The greater of two elements; NaN if one is NaN.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Real or boolean dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with their promoted dtype.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.MAXIMUM, x1, x2)


@with_twin
def minimum(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """The lesser of two elements; NaN if one is NaN.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Real or boolean dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with their promoted dtype.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.MINIMUM, x1, x2)


@with_twin
def multiply(x1: Array | int | float | complex, x2: Array | int | float | complex, /) -> Array:
    """Products of elements.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Numeric or boolean dtypes; the product of booleans is their logical and.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with their promoted dtype.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.MULTIPLY, x1, x2)


@with_twin
def negative(x: Array, /) -> Array:
    """Each element with its sign changed; integers wrap around.

    Parameters
    ----------
    x : Array
        A numeric dtype.

    Returns
    -------
    Array
        A new array of the same shape and dtype.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.NEGATIVE, x)


@with_twin
def nextafter(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """The representable numbers next to `x1` on the way to `x2`.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Real floating-point dtypes; integers and booleans are computed in
        float64.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with the dtype computed in.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.NEXTAFTER, x1, x2)


@with_twin
def not_equal(
    x1: Array | int | float | complex | bool, x2: Array | int | float | complex | bool, /
) -> Array:
    """Whether elements differ.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Any dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with dtype bool.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, or both are scalars.
    ValueError
        If the shapes do not broadcast, or the devices differ.

    Standard: elementwise functions.
    """
    return binary(p.NOT_EQUAL, x1, x2)


@with_twin
def positive(x: Array, /) -> Array:
    """Each element as it is.

    Parameters
    ----------
    x : Array
        A numeric dtype.

    Returns
    -------
    Array
        A new array of the same shape and dtype.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.POSITIVE, x)


@with_twin
def pow(x1: Array | int | float | complex, x2: Array | int | float | complex, /) -> Array:
    """The elements of `x1` raised to the powers `x2`.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Numeric dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with their promoted dtype.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, the devices differ, or an integer is to be raised to a
        negative integer power.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.POW, x1, x2)


@with_twin
def real(x: Array, /) -> Array:
    """Real part of each element; the elements of a real array.

    Parameters
    ----------
    x : Array
        A numeric dtype.

    Returns
    -------
    Array
        A new array of the same shape; the dtype is that of `x`, or its parts' if complex.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.REAL, x)


@with_twin
def reciprocal(x: Array, /) -> Array:
    """``1 / x`` for each element.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.RECIPROCAL, x)


@with_twin
def remainder(x1: Array | int | float, x2: Array | int | float, /) -> Array:
    """Remainders of division, with the signs of `x2`, as Python's ``%``.

    By zero: NaN for floating-point dtypes, zero for integers.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Real dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with their promoted dtype.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.REMAINDER, x1, x2)


@with_twin
def round(x: Array, /) -> Array:
    """Each element, or each part of a complex one, rounded to the nearest integer value.

    Halves go to the even neighbour.

    Parameters
    ----------
    x : Array
        A numeric dtype.

    Returns
    -------
    Array
        A new array of the same shape and dtype.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.ROUND, x)


@with_twin
def sign(x: Array, /) -> Array:
    """Sign of each element: -1, 0 or 1, or NaN; ``z / abs(z)`` of a complex one.

    Parameters
    ----------
    x : Array
        A numeric dtype.

    Returns
    -------
    Array
        A new array of the same shape and dtype.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.SIGN, x)


@with_twin
def signbit(x: Array, /) -> Array:
    """Whether the sign bit of each element is set, as in -0.0.

    Parameters
    ----------
    x : Array
        A real floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape and dtype bool.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.SIGNBIT, x)


@with_twin
def sin(x: Array, /) -> Array:
    """Sine of each element, taken in radians.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.SIN, x)


@with_twin
def sinh(x: Array, /) -> Array:
    """Hyperbolic sine of each element.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.SINH, x)


@with_twin
def square(x: Array, /) -> Array:
    """Square of each element; integers wrap around.

    Parameters
    ----------
    x : Array
        A numeric dtype.

    Returns
    -------
    Array
        A new array of the same shape and dtype.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.SQUARE, x)


@with_twin
def sqrt(x: Array, /) -> Array:
    """Principal square root of each element; NaN for negative real ones.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.SQRT, x)


@with_twin
def subtract(x1: Array | int | float | complex, x2: Array | int | float | complex, /) -> Array:
    """Differences of elements.

    Parameters
    ----------
    x1, x2 : Array or scalar
        At least one array. Numeric dtypes.

    Returns
    -------
    Array
        A new array of the shape that both broadcast to, with their promoted dtype.

    Raises
    ------
    TypeError
        If an operand is neither array nor scalar, both are scalars, or the dtype is not legal.
    ValueError
        If the shapes do not broadcast, or the devices differ.
    OverflowError
        If a Python int is out of range for the dtype.

    Standard: elementwise functions.
    """
    return binary(p.SUBTRACT, x1, x2)


@with_twin
def tan(x: Array, /) -> Array:
    """Tangent of each element, taken in radians.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.TAN, x)


@with_twin
def tanh(x: Array, /) -> Array:
    """Hyperbolic tangent of each element.

    Parameters
    ----------
    x : Array
        A floating-point dtype; integers and booleans are computed in float64.

    Returns
    -------
    Array
        A new array of the same shape, with the dtype computed in.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.TANH, x)


@with_twin
def trunc(x: Array, /) -> Array:
    """Each element rounded towards zero to an integer value.

    Parameters
    ----------
    x : Array
        A real dtype.

    Returns
    -------
    Array
        A new array of the same shape and dtype.

    Raises
    ------
    TypeError
        If `x` is no array, or its dtype is not legal.

    Standard: elementwise functions.
    """
    return unary(p.TRUNC, x)
