"""Numerical mathematics in one dimension: convolution, interpolation, integrals, slopes, roots."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..contract.numpy_dtypes import NDArray
from ..core import dtypes as d
from ..core.shape import normalise_axes, normalise_axis
from ..frontend import standard as xp
from ..frontend.annotations import PythonScalar
from ..frontend.array import Array, wrap
from ..frontend.dispatch import operand_dtypes
from ..frontend.operands import ArrayOrScalar, as_array, cast, only_array, promote_arrays, together
from ..linalg import eigvals
from ..native import with_native
from ..primitives import table as p

__all__ = ["convolve", "gradient", "interp", "roots", "trapezoid"]


@with_native
def convolve(a: Array, v: Array, /, mode: Literal["full", "same", "valid"] = "full") -> Array:
    """Convolution of two sequences: sums of products as one, reversed, moves along the other.

    a, v: 1-D, numeric or bool, not empty. Which is which makes no difference.
    mode: "full": every place at which they meet; "valid": where the shorter lies within the longer;
        "same": the middle of "full", as long as the longer one.
    Returns: A new 1-D array of the promoted dtype, of N + M - 1, max(N, M) - min(N, M) + 1 or
        max(N, M) elements.
    ValueError: If an array is not one-dimensional or is empty, or `mode` is another one.

    >>> xp.extra.convolve(xp.asarray([1, 2, 3]), xp.asarray([1, 10]))
    Array([ 1, 12, 23, 30], dtype=int64)
    """
    if (
        type(a) is not Array
        or type(v) is not Array
        or a._dtype is not v._dtype
        or a._device is not v._device
    ):
        (a, v), _, _ = promote_arrays(a, v)
    dtype, device = a._dtype, a._device
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"convolve has no mode {mode!r}; give 'full', 'same' or 'valid'")
    shapes = a.shape, v.shape
    for shape in shapes:
        if len(shape) != 1 or shape[0] == 0:
            raise ValueError(
                f"convolve takes sequences of one dimension that are not empty, but a shape is "
                f"{shape}; flatten with ravel, or test x.size first"
            )
    if shapes[1][0] > shapes[0][0]:
        a, v = v, a
    compute, result = operand_dtypes(p.CONVOLVE, dtype, device)
    if compute is not dtype:
        a, v = cast(a, compute), cast(v, compute)
    convolved = wrap(device.backend.convolve(a._handle, v._handle, mode), result, device)
    # Of bools, sums are "or".
    return convolved != 0 if dtype is d.bool else convolved


def gradient(
    f: Array,
    /,
    *varargs: ArrayOrScalar | NDArray,
    axis: int | tuple[int, ...] | None = None,
    edge_order: int = 1,
) -> Array | tuple[Array, ...]:
    """Slopes, by differences: central ones inside, one-sided ones at the edges.

    f: Numeric; at least `edge_order` + 1 elements along each axis.
    *varargs: The distances between elements: none, which are 1; one number for all axes; or for
        each axis a number, or a 1-D array of coordinates as long as the axis. Coordinates may be
        those of a NumPy array, which xarray's indexes are.
    axis: Along which to take slopes: all axes by default.
    edge_order: 1 or 2: how exact the slopes at the edges are.
    Returns: New arrays of the shape and dtype of `f`, float64 for integers: one per axis, in a
        tuple unless there is only one axis.
    ValueError: If an axis has too few elements, or coordinates do not fit it.
    TypeError: If there are neither no distances, nor one, nor one per axis.

    >>> xp.extra.gradient(xp.asarray([1.0, 2.0, 4.0, 7.0]))
    Array([1. , 1.5, 2.5, 3. ], dtype=float64)
    """
    f = only_array(f, "f")
    axes = normalise_axes(axis, f.ndim)
    if edge_order not in (1, 2):
        raise ValueError(
            f"edge_order must be 1 or 2, not {edge_order!r}; no formulas of higher order are used"
        )
    spacings = [as_array(each, "a distance") for each in varargs] or [1.0]
    if len(spacings) == 1 and not (type(spacings[0]) is Array and spacings[0].ndim):
        spacings *= len(axes)
    if len(spacings) != len(axes):
        raise TypeError(
            f"gradient along {len(axes)} axes takes no distance, one, or one for each axis, not "
            f"{len(spacings)}; name the axes with axis=..."
        )
    if f.dtype in d.INTEGRAL:
        f = cast(f, f._device.real)
    slopes = tuple(
        [
            xp.astype(_slope(f, each, _steps(f, each, spacing, edge_order), edge_order), f.dtype)
            for each, spacing in zip(axes, spacings, strict=True)
        ]
    )
    return slopes[0] if len(slopes) == 1 else slopes


def _steps(f: Array, axis: int, spacing: ArrayOrScalar, edge_order: int) -> ArrayOrScalar:
    """The distance between all elements along an axis, or an array of those between neighbours."""
    size = f.shape[axis]
    if size < edge_order + 1:
        raise ValueError(
            f"gradient needs {edge_order + 1} elements along each axis, but axis {axis} of shape "
            f"{f.shape} has {size}; name other axes with axis=..."
        )
    if type(spacing) is not Array or spacing.ndim == 0:
        return spacing
    if spacing.shape != (size,):
        raise ValueError(
            f"coordinates of shape {spacing.shape} do not fit axis {axis} of size {size}; give one "
            "number, or one coordinate for each element"
        )
    steps = xp.diff(cast(spacing, spacing._device.real) if spacing.dtype in d.INTEGRAL else spacing)
    # For equal steps there is a shorter formula, with NumPy's rounding.
    if steps._device.backend.has_elements(steps._handle) and bool(xp.all(steps == steps[0])):
        return steps[0]
    return steps


def _slope(f: Array, axis: int, steps: ArrayOrScalar, edge_order: int) -> Array:
    def along(start: int | None, stop: int | None) -> Array:
        return f[(*[slice(None)] * axis, slice(start, stop), ...)]

    def weighted(start: int, stop: int | None, *weights: ArrayOrScalar) -> Array:
        """The sum of as many neighbours as there are weights, from `start` on."""
        # The slice ends before `stop` if it holds the last neighbours.
        parts = []
        for place, weight in enumerate(weights):
            end = None if stop is None else stop + place
            parts.append(weight * along(start + place, end or None))
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def step(i: int) -> ArrayOrScalar:
        return steps[i] if type(steps) is Array and steps.ndim else steps

    if type(steps) is not Array or steps.ndim == 0:
        inside = (along(2, None) - along(None, -2)) / (2.0 * steps)
    else:
        shape = (-1, *[1] * (f.ndim - axis - 1))
        before, after = xp.reshape(steps[:-1], shape), xp.reshape(steps[1:], shape)
        both = before + after
        weights = -after / (before * both), (after - before) / (before * after)
        inside = weighted(0, -2, *weights, before / (after * both))
    if edge_order == 1:
        first = (along(1, 2) - along(0, 1)) / step(0)
        last = (along(-1, None) - along(-2, -1)) / step(-1)
    elif type(steps) is not Array or steps.ndim == 0:
        first = weighted(0, 1, -1.5 / steps, 2.0 / steps, -0.5 / steps)
        last = weighted(-3, -2, 0.5 / steps, -2.0 / steps, 1.5 / steps)
    else:
        near, far = steps[0], steps[1]
        both = near + far
        first = weighted(
            0, 1, -(2.0 * near + far) / (near * both), both / (near * far), -near / (far * both)
        )
        far, near = steps[-2], steps[-1]
        both = far + near
        last = weighted(
            -3, -2, near / (far * both), -both / (far * near), (2.0 * near + far) / (near * both)
        )
    return xp.concat((first, inside, last), axis=axis)


@with_native
def interp(
    x: Array,
    xp: Array,
    fp: Array,
    /,
    left: PythonScalar | None = None,
    right: PythonScalar | None = None,
    period: int | float | None = None,
) -> Array:
    """Piecewise linear interpolation between given points.

    x: Where to interpolate: real or bool, any shape.
    xp: 1-D: the coordinates of the points, which ascend unless there is a `period`. Of others the
        result means nothing; that is not checked.
    fp: The values at these points, as many.
    left, right (bool, int, float or complex, optional): Results below and above all points; by
        default the first and the last value.
    period: The coordinates repeat with this period: `left` and `right` are not used.
    Returns: A new array of the shape of `x`, float64, or complex128 if `fp` is complex.
    ValueError: If the points are not one-dimensional, are none, or not as many as values; or if
        `period` is 0.

    >>> xp.extra.interp(xp.asarray([0.0, 1.5, 9.0]), xp.asarray([1.0, 2.0]), xp.asarray([3.0, 5.0]))
    Array([3., 4., 5.], dtype=float64)
    """
    x, points, values = together(only_array(x), only_array(xp, "xp"), only_array(fp, "fp"))
    if points.ndim != 1 or values.shape != points.shape or points.shape[0] == 0:
        raise ValueError(
            f"interp needs points of one dimension and as many values, at least one, but xp has "
            f"shape {points.shape} and fp {values.shape}; flatten them with ravel"
        )
    device = values._device
    values = cast(values, device.complex if values.dtype in d.COMPLEX else device.real)
    points, x = _real(points, "xp"), _real(x, "x")
    if period is None:
        return _interpolated(x, points, values, left, right)
    if period == 0:
        raise ValueError("interp with a period of 0: give another one, or None for no period")
    x, points, values = _within_period(x, points, values, abs(period))
    return interp(x, points, values)  # which C may answer


def _within_period(
    x: Array, points: Array, values: Array, period: int | float
) -> tuple[Array, Array, Array]:
    """All coordinates within a period, and a point more at each of its ends."""
    x, points = x % period, points % period
    order = xp.argsort(points)
    points, values = xp.take(points, order), xp.take(values, order)
    points = xp.concat((points[-1:] - period, points, points[:1] + period))
    return x, points, xp.concat((values[-1:], values, values[:1]))


def _interpolated(
    x: Array,
    points: Array,
    values: Array,
    left: PythonScalar | None,
    right: PythonScalar | None,
) -> Array:
    """See `interp`."""
    flat = xp.reshape(x, (-1,))
    # Points may coincide, and values may be infinite: what then is not a number is corrected below.
    with np.errstate(all="ignore"):
        result = _between(flat, points, values) if points.shape[0] > 1 else values
    result = xp.where(flat < points[0], values[0] if left is None else left, result)
    result = xp.where(flat > points[-1], values[-1] if right is None else right, result)
    result = xp.where(xp.isnan(flat), flat, result)
    return xp.reshape(cast(result, values.dtype), x.shape)


def _real(x: Array, name: str) -> Array:
    if x.dtype in d.COMPLEX:
        raise TypeError(f"{name} must be real, but its dtype is {x.dtype}; take real(...) first")
    return cast(x, x._device.real)


def _between(x: Array, points: Array, values: Array) -> Array:
    """The values on the lines between points, which are at least two."""
    last = points.shape[0] - 1
    place = xp.clip(xp.searchsorted(points, x, side="right") - 1, 0, last - 1)
    slope = xp.take(xp.diff(values) / xp.diff(points), place)
    here, value = xp.take(points, place), xp.take(values, place)
    following = xp.take(values, place + 1)
    result = slope * (x - here) + value
    # From the other end, if this one is infinite.
    other = slope * (x - xp.take(points, place + 1)) + following
    result = xp.where(xp.isnan(result), other, result)
    result = xp.where(xp.isnan(result) & (value == following), value, result)
    return xp.where(x == points[-1], values[-1], xp.where(x == here, value, result))


def roots(p: Array, /) -> Array:
    """Roots of a polynomial: eigenvalues of its companion matrix.

    p: 1-D: the coefficients of the polynomial, from the highest power down to the constant. Leading
        zeros are left out.
    Returns: A new 1-D array in no order, with a 0 for each zero at the end of `p`. Always complex:
        complex64 for float32, complex128 for integers, bool and float64.
    ValueError: If `p` has more than one dimension.
    numpy.linalg.LinAlgError: If the eigenvalues do not converge, as with NaN in `p`.

    >>> xp.sort(xp.round(xp.real(xp.extra.roots(xp.asarray([1.0, -3.0, 2.0])))))
    Array([1., 2.], dtype=float64)
    """
    p = only_array(p, "p")
    if p.ndim > 1:
        raise ValueError(
            f"roots takes the coefficients of one polynomial, but the shape is {p.shape}; "
            "call it for each row"
        )
    p = xp.reshape(p, (-1,))
    if p.dtype not in d.FLOATING:
        p = cast(p, p._device.real)
    result = d.COMPLEX_OF[d.REAL_OF[p.dtype]]
    is_nonzero = p != 0
    if not xp.any(is_nonzero):
        return xp.zeros((0,), dtype=result, device=p.device)
    (places,) = xp.nonzero(is_nonzero)
    first, last = int(places[0]), int(places[-1])
    zero_roots = xp.zeros((p.shape[0] - last - 1,), dtype=result, device=p.device)
    degree = last - first
    if degree == 0:
        return zero_roots
    top = xp.reshape(-p[first + 1 : last + 1] / p[first], (1, degree))
    shifted = xp.eye(degree - 1, degree, dtype=p.dtype, device=p.device)
    return xp.concat((eigvals(xp.concat((top, shifted))), zero_roots))


def trapezoid(
    y: Array, /, x: Array | None = None, dx: ArrayOrScalar = 1.0, axis: int = -1
) -> Array:
    """Integrals by the trapezoidal rule.

    y: The values. Numeric or bool.
    x: Where they are: 1-D, as long as the axis, or of a shape that broadcasts with `y`.
    dx (int, float or Array): The distance between them, if there is no `x`.
    axis: Along which to integrate.
    Returns: A new array of a floating-point dtype, without the axis; 0 for less than two values.
    ValueError: If `x` does not fit.

    >>> xp.extra.trapezoid(xp.asarray([1.0, 2.0, 3.0]), dx=0.5)
    Array(2., dtype=float64)
    """
    y = only_array(y, "y")
    position = normalise_axis(axis, y.ndim)
    width: ArrayOrScalar = dx
    if x is not None:
        x = only_array(x)
        if x.ndim == 1:
            steps = xp.diff(x)
            width = xp.reshape(steps, (*steps.shape, *[1] * (y.ndim - position - 1)))
        else:
            width = xp.diff(x, axis=axis)
    lead = [slice(None)] * position
    heights = y[(*lead, slice(1, None), ...)] + y[(*lead, slice(None, -1), ...)]
    return xp.sum(width * heights / 2.0, axis=axis)
