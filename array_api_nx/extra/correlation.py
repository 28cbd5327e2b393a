"""How variables vary together."""

from __future__ import annotations

from ..contract.numpy_dtypes import DTypeLike
from ..core import dtypes as d
from ..core.dtypes import as_dtype
from ..core.shape import as_int
from ..device import nearest
from ..frontend import standard as xp
from ..frontend.array import Array
from ..frontend.operands import cast, only_array, together
from ..linalg import diagonal, matmul
from ..native import with_advice

__all__ = ["corrcoef", "cov"]


@with_advice
def cov(
    m: Array,
    /,
    y: Array | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Array | None = None,
    aweights: Array | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """Covariances of variables, from observations of them.

    m: Numeric or bool, with at most two dimensions: a row per variable and a column per
        observation, or one variable.
    y: More variables, with the same observations.
    rowvar: Whether variables are rows; otherwise they are columns, and observations rows.
    bias: Whether to divide by the number of observations, and not by one less.
    ddof: What to subtract from the number of observations instead, whatever `bias` is.
    fweights: 1-D, integral: how often each observation was made.
    aweights: 1-D, real: how much each observation counts.
    dtype: A floating-point dtype to compute in; by default at least float64.
    Returns: A copy of shape (variables, variables), or () if there is one. Infinite or NaN if there
        are too few observations.
    ValueError: If there are more than two dimensions, numbers of observations differ, or a weight
        is negative.
    TypeError: If weights or `dtype` have another kind of dtype.

    >>> xp.extra.cov(xp.asarray([[0.0, 1, 2], [2, 1, 0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float64)
    """
    rows = _variables(m, y, rowvar, dtype)
    degrees = (0 if bias else 1) if ddof is None else as_int(ddof, "ddof")
    variables, count = rows.shape
    if variables == 0:
        return xp.zeros((0, 0), dtype=rows.dtype, device=rows.device)
    weights = _weights(rows, fweights, aweights)
    if weights is None:
        centre = xp.mean(rows, axis=1, keepdims=True)
        freedom = count - degrees
        scale: Array | float = 1 / freedom if freedom > 0 else float("inf")
    else:
        total = xp.sum(weights)
        centre = xp.sum(rows * weights, axis=1, keepdims=True) / total
        lost = degrees * (1 if aweights is None else xp.sum(weights * aweights) / total)
        scale = xp.where(total - lost > 0, 1 / (total - lost), float("inf"))
    rows = rows - centre
    other = rows if weights is None else rows * weights
    if rows.dtype in d.COMPLEX:
        other = xp.conj(other)
    result = matmul(rows, other.T) * scale
    return xp.reshape(result, ()) if variables == 1 else result


@with_advice
def corrcoef(
    x: Array,
    /,
    y: Array | None = None,
    rowvar: bool = True,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """Pearson's correlation coefficients of variables, from observations of them.

    x, y, rowvar, dtype: As for `cov`, whose first parameter is `x` here.
    Returns: A copy of shape (variables, variables), or () if there is one. Real and imaginary parts
        lie from -1 to 1, or are NaN where a variable does not vary.
    ValueError, TypeError: As for `cov`.

    >>> xp.extra.corrcoef(xp.asarray([[0.0, 1, 2], [6, 4, 2]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float64)
    """
    covariance = cov(x, y, rowvar, dtype=dtype)
    if covariance.ndim == 0:
        return covariance / covariance
    deviation = xp.sqrt(xp.real(diagonal(covariance)))
    result = covariance / deviation[:, None] / deviation[None, :]
    if result.dtype not in d.COMPLEX:
        return xp.clip(result, -1.0, 1.0)
    return xp.clip(xp.real(result), -1.0, 1.0) + 1j * xp.clip(xp.imag(result), -1.0, 1.0)


def _variables(m: Array, y: Array | None, rowvar: bool, dtype: DTypeLike | None) -> Array:
    """A row per variable, in the dtype to compute in."""
    given = [only_array(m, "m")] if y is None else [only_array(m, "m"), only_array(y, "y")]
    given = [*together(*given)]
    if any([x.ndim > 2 for x in given]):
        raise ValueError(
            f"variables have at most two dimensions, not shapes {[x.shape for x in given]}; "
            "use reshape, one variable per row"
        )
    if dtype is None:
        double = given[0]._device.real
        target = xp.result_type(double, *[x.dtype for x in given if x.dtype is not d.bool])
        target = nearest(target, given[0]._device)
    else:
        target = as_dtype(dtype)
        if target not in d.FLOATING or any([x.dtype in d.COMPLEX for x in given]) > (
            target in d.COMPLEX
        ):
            raise TypeError(
                f"covariances of {' and '.join([str(x.dtype) for x in given])} are not {target}; "
                "give a floating-point dtype, complex for complex variables"
            )
    rows = []
    for x in given:
        row = cast(x, target)
        if x.ndim < 2:
            row = xp.reshape(row, (1, -1))
        elif not rowvar and (x is given[0] or x.shape[0] != 1):
            row = row.T
        rows.append(row)
    if y is None:
        return rows[0]
    if rows[0].shape[1] != rows[1].shape[1]:
        raise ValueError(
            f"m and y have {rows[0].shape[1]} and {rows[1].shape[1]} observations, but need as "
            "many; see rowvar"
        )
    return xp.concat(rows, axis=0)


def _weights(rows: Array, fweights: Array | None, aweights: Array | None) -> Array | None:
    """The weight of each observation; None if it is 1."""
    result = None
    for name, given, kinds in (
        ("fweights", fweights, d.INTEGRAL),
        ("aweights", aweights, d.REAL),
    ):
        if given is None:
            continue
        rows, given = together(rows, only_array(given, name))
        if given.dtype not in kinds:
            kind = "integral" if kinds is d.INTEGRAL else "real"
            raise TypeError(f"{name} must be {kind}, not {given.dtype}; convert with astype")
        if given.shape != rows.shape[1:]:
            raise ValueError(
                f"{name} of shape {given.shape} must have one weight for each of "
                f"{rows.shape[1]} observations"
            )
        if given._device.backend.has_elements(given._handle) and xp.any(given < 0):
            raise ValueError(f"{name} must not be negative")
        numbers = cast(given, given._device.real)
        result = numbers if result is None else result * numbers
    return result
