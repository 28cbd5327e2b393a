"""Sums of exponentials, and shares in them, without overflow."""

from __future__ import annotations

from math import inf, nan, pi
from typing import Literal, overload

import numpy as np

from ..core import dtypes as d
from ..core.shape import normalise_axes, reduced_shape
from ..frontend import standard as xp
from ..frontend.annotations import PythonScalar
from ..frontend.array import Array
from ..frontend.dispatch import operand_dtypes
from ..frontend.operands import cast, only_array, operands
from ..native import with_advice
from ..primitives import table as p

__all__ = ["logsumexp", "softmax"]


@overload
def logsumexp(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    b: Array | PythonScalar | None = None,
    keepdims: bool = False,
    return_sign: Literal[False] = False,
) -> Array: ...


@overload
def logsumexp(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    b: Array | PythonScalar | None = None,
    keepdims: bool = False,
    return_sign: Literal[True],
) -> tuple[Array, Array]: ...


@with_advice
def logsumexp(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    b: Array | PythonScalar | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Array | tuple[Array, Array]:
    """Logarithms of sums of exponentials, ``log(sum(b * exp(x)))``, as `scipy.special` has them.

    The largest element is taken out of the sum before exponentials are, so that none overflows,
    and what is left keeps its digits next to it.

    x: Numeric or bool.
    b: Weights, which broadcast with `x`. Elements of weight 0 do not count, whatever they are.
    return_sign: Whether to return the sum's sign, and the logarithm of its absolute value. Without
        it, the logarithm of a negative sum is NaN if `x` and `b` are real.
    Returns (Array, or a tuple of two): New arrays of the dtype of `x` and `b`, or float64 for
        integers and bool: the logarithms, -inf over no elements; then the signs, which are complex
        numbers of absolute value 1 for complex arguments. With signs, the logarithms are real.
    ValueError: If `x` and `b` do not broadcast.

    >>> xp.extra.logsumexp(xp.asarray([1000.0, 1000.0]))
    Array(1000.69314718, dtype=float64)
    """
    a, weights = _floating(only_array(x), b)
    axes = normalise_axes(axis, a.ndim)
    if not axes:
        # Nothing is summed: as if over an axis of size 1.
        axes, keepdims = (a.ndim,), False
        a = xp.reshape(a, (*a.shape, 1))
        weights = None if weights is None else xp.reshape(weights, a.shape)
    if 0 in a.shape:
        result = xp.full(reduced_shape(a.shape, axes, True), -inf, dtype=a.dtype, device=a.device)
        signs = xp.sign(result)
    else:
        # Logarithms of zero and differences of infinities are wanted here.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            result, signs = _sum_and_sign(a, weights, axes, return_sign)
    if result.dtype in d.COMPLEX:
        result = xp.real(result) + _principal(xp.imag(result)) * 1j
    if not keepdims:
        result, signs = xp.squeeze(result, axes), xp.squeeze(signs, axes)
    return (result, signs) if return_sign else result


@with_advice
def softmax(x: Array, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """Exponentials divided by their sum, as `scipy.special` has them.

    x: Numeric or bool, but real.
    axis: What to sum over: all axes by default.
    Returns: A new array of the dtype of `x`, or float64 for integers and bool; sums over `axis` are
        1.
    TypeError: If `x` is complex.

    >>> xp.extra.softmax(xp.asarray([0.0, 0.0, 1000.0, 1000.0]))
    Array([0. , 0. , 0.5, 0.5], dtype=float64)
    """
    x, _ = _floating(only_array(x), None)
    if 0 in x.shape:
        return xp.exp(x)
    exponentials = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return exponentials / xp.sum(exponentials, axis=axis, keepdims=True)


def _floating(x: Array, b: Array | PythonScalar | None) -> tuple[Array, Array | None]:
    """Both in the dtype to compute in, and in their broadcast shape."""
    if b is None:
        return cast(x, operand_dtypes(p.EXP, x.dtype, x.device)[0]), None
    (_, weights), dtype, device = operands(x, b)
    dtype, _ = operand_dtypes(p.EXP, dtype, device)
    if type(weights) is not Array:
        weights = xp.full((), weights, dtype=dtype, device=device)
    x, weights = xp.broadcast_arrays(cast(x, dtype), cast(weights, dtype))
    return x, weights


def _sum_and_sign(
    a: Array, b: Array | None, axes: tuple[int, ...], return_sign: bool
) -> tuple[Array, Array]:
    """The logarithm of the sum, or of its absolute value if signs are asked for; and its sign.

    The largest exponential, times how often it comes, is the factor m in ``m * (1 + s)``.
    """
    is_complex = a.dtype in d.COMPLEX
    if b is not None:
        a = xp.where(b == 0, -inf, a)
    largest, is_largest = _largest(a, axes)
    m = xp.sum(xp.astype(is_largest, a.dtype) * (1 if b is None else b), axis=axes, keepdims=True)
    rest = xp.exp(xp.where(is_largest, -inf, a) - largest)
    s = xp.sum(rest if b is None else b * rest, axis=axes, keepdims=True)
    s = xp.where(s == 0, s, s / m)
    signs = xp.sign(s + 1) * xp.sign(m)
    if is_complex:
        signs = signs * xp.exp(xp.imag(largest) * 1j)
    else:
        s = xp.where(s < -1, -s - 2, s)
        m = xp.abs(m)
    result = xp.log1p(s) + xp.log(m) + largest
    if return_sign:
        result = xp.real(result)
    elif not is_complex:
        result = xp.where(signs < 0, nan, result)

    # Infinities and NaN go through the functions of the formula one by one.
    finite = xp.isfinite(result)
    if b is None and not is_complex:
        direct, direct_signs = largest, xp.sign(xp.exp(largest))
    else:
        total = xp.sum(xp.exp(a) if b is None else b * xp.exp(a), axis=axes, keepdims=True)
        direct, direct_signs = xp.log(xp.abs(total) if return_sign else total), xp.sign(total)
    return xp.where(finite, result, direct), xp.where(finite, signs, direct_signs)


def _largest(a: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """The largest elements, and where they are; of complex ones, one with the largest real part."""
    if a.dtype not in d.COMPLEX:
        largest = xp.max(a, axis=axes, keepdims=True)
        return largest, a == largest
    parts = xp.real(a)
    numbers = xp.reshape(xp.arange(a.size, device=a.device), a.shape)
    numbers = xp.where(parts == xp.max(parts, axis=axes, keepdims=True), numbers, -1)
    chosen = numbers == xp.max(numbers, axis=axes, keepdims=True)
    return xp.sum(xp.where(chosen, a, 0.0), axis=axes, keepdims=True), chosen


def _principal(angle: Array) -> Array:
    """The angle between -pi and pi that is the same direction."""
    return xp.where(xp.abs(angle) < pi, angle, pi - xp.remainder(pi - angle, 2 * pi))
