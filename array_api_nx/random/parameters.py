"""The arguments of `Generator`: checks of seeds, sizes, dtypes and parameters, and what follows."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeAlias, cast
from warnings import warn

import numpy as np
from numpy.random import SeedSequence

from ..contract.numpy_dtypes import DTypeLike
from ..contract.random_numbers import upper_product
from ..core import dtypes as d
from ..core.dtypes import BOUNDS, DType, as_dtype
from ..core.shape import broadcast_shapes, check_shape, index_of
from ..core.symbolic import Dim
from ..device import Device, available
from ..frontend import standard as xp
from ..frontend.array import Array
from ..frontend.operands import adopted, is_operand
from ..tracing.recorder import Traced

Size: TypeAlias = "int | Sequence[int] | None"
Seed: TypeAlias = "int | Sequence[int] | SeedSequence | None"
Parameter: TypeAlias = "Array | float"


def as_seed(seed: Seed) -> SeedSequence:
    """The seed's sequence, from which keys and the seeds of children come."""
    if seed is None or isinstance(seed, SeedSequence):
        return SeedSequence() if seed is None else seed
    words: list[Any] = [seed]
    if isinstance(seed, Sequence) and not isinstance(seed, str | bytes):
        words = list(seed)
    try:
        numbers = [operator.index(word) for word in words]
    except TypeError:
        raise TypeError(
            "a seed is None, an int, a sequence of ints or a numpy.random.SeedSequence, not "
            f"{type(seed).__name__}"
        ) from None
    if any([number < 0 for number in numbers]):
        raise ValueError(f"a seed must not be negative, as {seed!r} is; use its absolute value")
    return SeedSequence(numbers if isinstance(seed, Sequence) else numbers[0])


def as_size(size: Size) -> tuple[int, ...] | None:
    """The shape that `size` asks for; None if it leaves the shape to the parameters."""
    if size is None:
        return None
    sizes: Any = size
    try:
        shape = tuple([_as_int(n) for n in sizes])
    except TypeError:
        try:
            shape = (_as_int(size),)
        except TypeError:
            raise TypeError(f"size must be an int, a tuple of ints or None, not {size!r}") from None
    if any([n < 0 for n in shape]):
        raise ValueError(f"a size must not be negative, as in {shape}")
    check_shape(shape)
    return shape


def _as_int(n: Any) -> int:
    # The sizes of arrays in a trace are expressions, and ints to types alone.
    return cast("int", n) if isinstance(n, Dim) else index_of(n)


def real_dtype(dtype: DTypeLike | None, device: Device) -> DType:
    """A real floating-point dtype; the device's default by default."""
    if dtype is None:
        return device.real
    wanted = available(as_dtype(dtype), device)
    if wanted not in d.REAL_FLOATING:
        names = " or ".join([x.name for x in d.REAL_FLOATING])
        raise TypeError(f"random real numbers are {names}, not {wanted}; convert them with astype")
    return wanted


def as_parameter(
    x: object,
    name: str,
    least: float | None = None,
    greatest: float | None = None,
    *,
    strict: bool = False,
    whole: bool = False,
) -> Any:
    """A parameter of a distribution: an array of real numbers, or a float.

    TypeError: If it is neither; or, if `whole`, not of an integer dtype and not an int.
    ValueError: If one is NaN, below `least` or, if `strict`, equal to it, or above `greatest`.
    """
    kinds = d.INTEGRAL if whole else d.REAL
    x = adopted(x, name)
    value: Any = x
    if type(x) is Array:
        if x.dtype not in kinds:
            raise TypeError(f"{name} must be {'integers' if whole else 'real'}, not {x.dtype}")
    elif (
        isinstance(x, np.ndarray)
        or not is_operand(x)
        or isinstance(x, complex | np.complexfloating)
        or (whole and not isinstance(x, int | np.integer))
    ):
        raise TypeError(
            f"{name} must be an array_api_nx array or {'an int' if whole else 'a float'}, not "
            f"{type(x).__name__}; convert it with asarray(...)"
        )
    else:
        value = index_of(x) if whole else float(value)
    if type(value) is Array and isinstance(value._handle, Traced):
        return value  # has no elements to check
    good = value == value
    if least is not None:
        good = good & (value > least if strict else value >= least)
    if greatest is not None:
        good = good & (value <= greatest)
    if not (bool(good.all()) if type(good) is Array else good):
        bounds = [
            *([] if least is None else [f"{'above' if strict else 'at least'} {least:g}"]),
            *([] if greatest is None else [f"at most {greatest:g}"]),
        ]
        raise ValueError(f"{name} must be {' and '.join(bounds) or 'a number'}")
    return value


def result_shape(size: tuple[int, ...] | None, *parameters: object) -> tuple[int, ...]:
    """The shape of a draw: `size`, to which the parameters broadcast; else their common shape."""
    shapes = [x.shape for x in parameters if type(x) is Array]
    common = broadcast_shapes(*shapes) if shapes else ()
    if size is None:
        return common
    if broadcast_shapes(common, size) != size:
        raise ValueError(
            f"parameters of shape {common} do not broadcast to size {size}; "
            "give that shape, or None"
        )
    return size


def integer_bounds(low: object, high: object, target: DType, endpoint: bool) -> tuple[Any, Any]:
    """The least and the last integers, each an int, or an array of int64 (or uint64, as `target`).

    TypeError: If a bound is neither an int nor an array of integers.
    ValueError: If there is nothing between two bounds, or an integer that `target` does not hold.
    """
    if high is None:
        low, high = 0, low
    first, least, above = _extremes(low, "low")
    last, below, most = _extremes(high, "high")
    made = d.uint64 if target is d.uint64 else d.int64
    if not endpoint:
        below, most = below - 1, most - 1
        last = last - 1 if type(last) is int else last
    if below < least or most < above:
        raise ValueError(f"there are no integers from {above} to {below}; give high above low")
    least_held, most_held = BOUNDS[target]
    if least < least_held or most > most_held:
        raise ValueError(f"{target} does not hold all integers from {least} to {most}")
    if type(first) is Array:
        first = xp.astype(first, made, copy=False)
    if type(last) is Array:
        if most + (not endpoint) > BOUNDS[made][1]:
            raise ValueError(
                f"{made} does not hold {most + 1}; give the last ones, and endpoint=True"
            )
        last = xp.astype(last, made, copy=False)
        last = last if endpoint else last - 1
    if (type(first) is Array or type(last) is Array) and bool((last < first).any()):
        raise ValueError("there are no integers between some of the bounds; give high above low")
    return first, last


def bounded_integers(words: Array, low: Array, last: Array) -> Array:
    """Integers from `low` to `last`, which are both int64 or both uint64.

    `words` are the random bits, uint32, with one axis more than the result: two words for each
    number, or four for spans above 2**32.
    """
    dtype = low.dtype
    # No number of 64 bits holds a span of 2**64, which is 0 here.
    span = _unsigned(last) - _unsigned(low) + 1
    count = words.shape[-1]
    limbs = [xp.astype(words[..., i], d.uint64) for i in range(count)]
    if count == 2:
        offset = (limbs[1] * span + ((limbs[0] * span) >> 32)) >> 32
        return xp.astype(offset, dtype) + low
    limbs = [limbs[2], limbs[3], limbs[0], limbs[1]]
    high, rest = upper_product(tuple(limbs), (span & 0xFFFFFFFF, span >> 32))
    high, rest = xp.where(span == 0, limbs[3], high), xp.where(span == 0, limbs[2], rest)
    return ((xp.astype(high, dtype) << 32) | xp.astype(rest, dtype)) + low


def _unsigned(x: Array) -> Array:
    """int64 or uint64 modulo 2**64."""
    upper, lower = (x >> 32) & 0xFFFFFFFF, x & 0xFFFFFFFF
    return (xp.astype(upper, d.uint64) << 32) | xp.astype(lower, d.uint64)


def _extremes(x: object, name: str) -> tuple[Any, int, int]:
    """A bound, and the least and the greatest of its elements."""
    x = adopted(x, name)
    if type(x) is not Array:
        try:
            bound = index_of(x)
        except TypeError:
            raise TypeError(
                f"{name} must be an int or an array_api_nx array of integers, not "
                f"{type(x).__name__}; convert it with asarray(...)"
            ) from None
        return bound, bound, bound
    if x.dtype not in d.INTEGRAL:
        raise TypeError(f"{name} must be integers, not {x.dtype}; use astype")
    return (x, int(x.min()), int(x.max())) if x.size else (x, 0, 0)


def probabilities(p: Any, number: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """So many probabilities of choices, on the host.

    ValueError: If they are negative or NaN, or do not sum to 1.
    """
    weights = np.asarray(p, np.float64)
    if weights.shape != (number,):
        raise ValueError(f"p must be of shape ({number},), not {weights.shape}")
    if not np.all(weights >= 0):
        raise ValueError("probabilities must be at least 0; set negative ones and NaN to 0")
    total = weights.sum()
    if abs(total - 1) > 1e-8:
        raise ValueError(f"probabilities must sum to 1, not {total}; divide them by their sum")
    return weights


def without_replacement(
    weights: np.ndarray[Any, np.dtype[np.float64]], numbers: np.ndarray[Any, Any]
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The places of numbers drawn one after the other, by the weights of those that are left."""
    left = weights.copy()
    chosen = np.empty(len(numbers), np.int64)
    for i, number in enumerate(numbers):
        steps = np.cumsum(left)
        # Rounding up must not lead beyond the last one that is left.
        last = np.flatnonzero(left)[-1]
        chosen[i] = min(np.searchsorted(steps, number * steps[-1], side="right"), last)
        left[chosen[i]] = 0
    return chosen


def covariance_factor(
    cov: Any, check_valid: str, tol: float, method: str
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A matrix, on the host, whose product with its transpose from the left is `cov`.

    TypeError, ValueError: See `Generator.multivariate_normal`.
    """
    if check_valid not in ("warn", "raise", "ignore"):
        raise ValueError(f"check_valid must be 'warn', 'raise' or 'ignore', not {check_valid!r}")
    if method not in ("svd", "eigh", "cholesky"):
        raise ValueError(f"method must be 'svd', 'eigh' or 'cholesky', not {method!r}")
    matrix = np.asarray(cov)
    if matrix.dtype.kind not in "biuf":
        raise TypeError(f"cov must be real, not {matrix.dtype}")
    matrix = matrix.astype(np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"cov must be of shape (N, N), not {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError("cov must be finite")
    if method == "cholesky":
        try:
            lower = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            raise ValueError("cov is not positive definite; use method='eigh'") from None
        valid = bool(np.allclose(matrix, matrix.T, rtol=tol, atol=tol))
        factor = lower.T
    elif method == "eigh":
        values, vectors = np.linalg.eigh(matrix)
        valid = bool(np.all(values >= -tol) and np.allclose(matrix, matrix.T, rtol=tol, atol=tol))
        factor = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    else:
        _, values, rows = np.linalg.svd(matrix)
        valid = bool(np.allclose((rows.T * values) @ rows, matrix, rtol=tol, atol=tol))
        factor = np.sqrt(values)[:, None] * rows
    if not valid and check_valid != "ignore":
        message = "cov is not symmetric and positive semidefinite"
        if check_valid == "raise":
            raise ValueError(f"{message}; check_valid='warn' draws all the same")
        warn(message, RuntimeWarning, stacklevel=3)
    found: np.ndarray[Any, np.dtype[np.float64]] = np.ascontiguousarray(factor)
    return found
