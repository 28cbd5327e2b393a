"""Element by element: NaN replaced, numbers compared within tolerances, sinc."""

from __future__ import annotations

from math import inf, pi

import numpy as np

from ..core import dtypes as d
from ..frontend import standard as xp
from ..frontend.array import Array
from ..frontend.data_type import view_as
from ..frontend.dispatch import operand_dtypes
from ..frontend.operands import ArrayOrScalar, cast, only_array, operands, own_array, together
from ..primitives import table as p

__all__ = ["allclose", "array_equal", "isclose", "nan_to_num", "sinc"]


def allclose(
    a: ArrayOrScalar,
    b: ArrayOrScalar,
    /,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Whether all elements of two arrays are close, as `isclose` says.

    a, b: At least one array. The shapes broadcast.
    rtol, atol: The tolerances, relative to elements of `b` and absolute.
    Returns: A Python bool; True if there are no elements.
    ValueError: If the shapes do not broadcast.
    """
    return bool(xp.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a: Array, b: Array, /, equal_nan: bool = False) -> bool:
    """Whether two arrays have the same shape and equal elements.

    a, b: Any dtypes.
    equal_nan: Whether NaN equals NaN.
    Returns: A Python bool.
    ValueError: If the arrays are on different devices.
    """
    a, b = together(only_array(a, "a"), only_array(b, "b"))
    if a.shape != b.shape:
        return False
    same = a == b
    if equal_nan:
        same = same | (xp.isnan(a) & xp.isnan(b))
    return bool(xp.all(same))


def isclose(
    a: ArrayOrScalar,
    b: ArrayOrScalar,
    /,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Array:
    """Whether elements are equal within tolerances: ``abs(a - b) <= atol + rtol * abs(b)``.

    a, b: At least one array. The shapes broadcast. An infinity is close to itself alone.
    rtol, atol: The tolerances, relative to elements of `b` and absolute.
    Returns: A new array of dtype bool and the broadcast shape.
    ValueError: If the shapes do not broadcast.

    >>> xp.extra.isclose(xp.asarray([1.0, 1.0]), xp.asarray([1.0 + 1e-9, 1.1]))
    Array([ True, False], dtype=bool)
    """
    (a, b), dtype, device = operands(a, b)
    floating, _ = operand_dtypes(p.EXP, dtype, device)
    # Of the least integer there is no absolute value, and bools have no difference.
    if type(b) is not Array:
        b = xp.full((), b, dtype=floating, device=device)
    elif b.dtype not in d.FLOATING:
        b = cast(b, device.real)
    if type(a) is not Array:
        a = xp.full((), a, dtype=floating if dtype is d.bool else dtype, device=device)
    elif a.dtype is d.bool:
        a = cast(a, device.real)
    # Infinities have no difference; which of them are close, the last comparison says.
    with np.errstate(invalid="ignore"):
        close = (xp.abs(a - b) <= atol + rtol * xp.abs(b)) & xp.isfinite(b) | (a == b)
    if equal_nan:
        close = close | (xp.isnan(a) & xp.isnan(b))
    return close


def nan_to_num(
    x: Array,
    /,
    copy: bool = True,
    nan: int | float = 0.0,
    posinf: int | float | None = None,
    neginf: int | float | None = None,
) -> Array:
    """NaN and infinities replaced by numbers.

    x: Numeric or bool. Of complex numbers, real and imaginary parts are treated by themselves.
    copy: Whether to leave `x` as it is; if not, elements are replaced in its memory.
    nan: What to put for NaN.
    posinf, neginf: What to put for infinities; by default the largest and the least number of the
        dtype.
    Returns: A copy of the shape and dtype of `x`; `x` itself unless `copy`.
    ValueError: If `x` is to be changed but is read-only.
    TypeError: If a number is no real one.

    >>> xp.extra.nan_to_num(xp.asarray([xp.nan, 1.0, xp.inf]), posinf=9)
    Array([0., 1., 9.], dtype=float64)
    """
    x = only_array(x) if copy else own_array(x)
    dtype = x.dtype
    if dtype not in d.FLOATING:
        return xp.asarray(x, copy=True) if copy else x
    limits = xp.finfo(dtype)
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    if dtype in d.COMPLEX:
        real_part, imaginary_part = [
            _replaced(each, nan, high, low) for each in (xp.real(x), xp.imag(x))
        ]
        result = _joined(real_part, imaginary_part, dtype)
    else:
        result = _replaced(x, nan, high, low)
    if copy:
        return result
    x[...] = result
    return x


def _replaced(x: Array, for_nan: float, for_posinf: float, for_neginf: float) -> Array:
    x = xp.where(xp.isnan(x), for_nan, x)
    return xp.where(x == inf, for_posinf, xp.where(x == -inf, for_neginf, x))


def _joined(real_part: Array, imaginary_part: Array, dtype: d.DType) -> Array:
    """The complex numbers that have these parts, signs of zeros and infinities included."""
    parts = xp.stack((real_part, imaginary_part), axis=-1)
    return xp.reshape(view_as(parts, dtype), real_part.shape)


def sinc(x: Array, /) -> Array:
    """``sin(pi * x) / (pi * x)``, and 1 at 0.

    x: Numeric or bool.
    Returns: A new array of the dtype of `x`, or float64 for integers and bool.
    """
    x = only_array(x)
    angle = pi * cast(x, operand_dtypes(p.SIN, x.dtype, x.device)[0])
    # So close to 0 the sine rounds to its argument.
    angle = xp.where(angle == 0, 1e-20, angle)
    return xp.sin(angle) / angle
