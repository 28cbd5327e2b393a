"""What `median` and `quantile` have in common, with and without NaN.

Both are made of elements at some positions of the sorted slices along an axis. Where the length of
the slices is known, only these elements are put in their places. Otherwise, in a trace, or where
each slice has its own number of elements that are not NaN, slices are sorted and the positions are
arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from ..config import hints
from ..contract.callers import warn
from ..contract.numpy_dtypes import NDArray
from ..core import dtypes as d
from ..core.dtypes import CANONICAL, DType
from ..core.shape import normalise_axes
from ..device import nearest
from ..frontend import standard as xp
from ..frontend.array import Array, wrap
from ..frontend.evaluation import can_look
from ..frontend.interop import reading
from ..frontend.operands import only_array

_Numbers: TypeAlias = Any
"""NumPy's arrays or ours: the rules compute with operators and the functions of `_Functions`."""

_OURS: Final = SimpleNamespace(
    floor=xp.floor,
    ceil=xp.ceil,
    round=xp.round,
    minimum=xp.minimum,
    maximum=xp.maximum,
    where=xp.where,
)
_Functions: TypeAlias = Any
"""`numpy` or `_OURS`."""


# ---------------------------------------------------------------------- where quantiles lie


def _at_fraction(alpha: float, beta: float) -> Callable[[_Numbers, _Numbers], _Numbers]:
    """The virtual index with the plotting positions `alpha` and `beta` (Hyndman and Fan)."""
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _whole(n: _Numbers, q: _Numbers) -> _Numbers:
    return (n - 1) * q


def _inverted(n: _Numbers, q: _Numbers) -> _Numbers:
    return n * q - 1


# The virtual index of each method: how far into the sorted slice a quantile lies.
_VIRTUAL: Final[dict[str, Callable[[_Numbers, _Numbers], _Numbers]]] = {
    "inverted_cdf": _inverted,
    "averaged_inverted_cdf": _inverted,
    "closest_observation": lambda n, q: n * q - 1 - 0.5,
    "interpolated_inverted_cdf": _at_fraction(0, 1),
    "hazen": _at_fraction(0.5, 0.5),
    "weibull": _at_fraction(0, 0),
    "linear": _whole,
    "median_unbiased": _at_fraction(1 / 3.0, 1 / 3.0),
    "normal_unbiased": _at_fraction(3 / 8.0, 3 / 8.0),
    "lower": _whole,
    "higher": _whole,
    "midpoint": _whole,
    "nearest": _whole,
}
METHODS: Final = tuple(_VIRTUAL)

# Methods whose quantile is an element of the array. With the others it lies between two elements.
_DISCRETE: Final = frozenset({"inverted_cdf", "closest_observation", "lower", "higher", "nearest"})


class _Places(NamedTuple):
    """Where to find quantiles in sorted slices.

    below, above: The positions of two neighbours, or twice of one element.
    weight: How far towards `above`, from 0 to 1. None if that is halfway.
    """

    below: _Numbers
    above: _Numbers
    weight: _Numbers | None


_Rule: TypeAlias = Callable[[_Functions, _Numbers], _Places]
"""From functions and the numbers of elements of slices to places."""


def _middle(f: _Functions, n: _Numbers) -> _Places:
    below = f.maximum(f.floor((n - 1) / 2), 0 * n)
    return _Places(below, f.minimum(f.floor(n / 2), f.maximum(n - 1, 0 * n)), None)


@lru_cache(maxsize=64)
def _middle_of(size: int) -> _Places:
    return _middle(np, np.asarray([float(size)]))


def _places(f: _Functions, n: _Numbers, q: _Numbers, method: str) -> _Places:
    """See `_Rule`, for one of NumPy's methods."""
    last = f.maximum(n - 1, 0 * n)
    index = _VIRTUAL[method](n, q)
    if method == "higher":
        below = f.ceil(index)
    elif method == "nearest":
        below = f.round(index)
    else:
        below = f.floor(index)
    fraction = index - below
    if method == "inverted_cdf":
        below = f.where(fraction == 0, below, below + 1)
    elif method == "closest_observation":
        below = f.where((fraction == 0) & (below % 2 == 1), below, below + 1)
    nearest = f.minimum(f.maximum(below, 0 * n), last)
    if method in _DISCRETE:
        return _Places(nearest, nearest, None)
    above = f.minimum(f.maximum(below + 1, 0 * n), last)
    if method == "averaged_inverted_cdf":
        fraction = f.where(fraction == 0, 0.5, 1.0)
    elif method == "midpoint":
        fraction = f.where(fraction == 0, 0.0, 0.5)
    return _Places(nearest, above, f.where(nearest == above, 0.0, fraction))


# ---------------------------------------------------------------------- the two functions


def median_of(
    x: Array, axis: int | tuple[int, ...] | None, keepdims: bool, *, skips_nan: bool
) -> Array:
    """`median` or `nanmedian`."""
    x = only_array(x)
    dtype = x._dtype
    if dtype not in d.REAL and dtype is not d.bool:
        raise TypeError(
            f"a median takes real or bool dtypes, not {dtype}; take the real parts with real(...)"
        )
    result = dtype if dtype in d.REAL_FLOATING else x._device.real
    slices, along, kept = _along_one_axis(xp.astype(x, d.int16) if dtype is d.bool else x, axis)
    found = _select(slices, along, _middle, result, skips_nan)
    return xp.reshape(found, kept if keepdims else _without(slices.shape, along))


def quantile_of(
    x: Array,
    q: object,
    axis: int | tuple[int, ...] | None,
    method: str,
    keepdims: bool,
    *,
    skips_nan: bool,
) -> Array:
    """`quantile` or `nanquantile`."""
    x = only_array(x)
    if method not in _VIRTUAL:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, not {method!r}")
    dtype = x._dtype
    if dtype not in d.REAL and not (dtype is d.bool and method in _DISCRETE):
        raise TypeError(
            f"a quantile by the method {method!r} takes real dtypes, not {dtype}; convert the "
            "array with astype"
        )
    probabilities = _probabilities(q, x)
    result = dtype
    if method not in _DISCRETE:
        result = dtype if dtype in d.REAL_FLOATING else x._device.real
        if type(q) is not float and type(q) is not int:
            asked = nearest(CANONICAL[probabilities.dtype], x._device)
            result = d.promote(result, asked)
    slices, along, kept = _along_one_axis(x, axis)
    if not probabilities.size:
        rest = kept if keepdims else _without(slices.shape, along)
        return xp.full((*probabilities.shape, *rest), 0, dtype=result, device=x._device)
    flat = probabilities.reshape(-1)

    def rule(f: _Functions, n: _Numbers) -> _Places:
        shape = [1] * (n.ndim - 1)
        row: _Numbers = flat.reshape((*shape[:along], flat.size, *shape[along:]))
        if f is np:
            return _places(f, n.astype(row.dtype), row, method)
        row = xp.asarray(row, device=n._device)
        return _places(f, xp.astype(n, row._dtype, copy=False), row, method)

    found = xp.moveaxis(_select(slices, along, rule, result, skips_nan), along, 0)
    rest = kept if keepdims else _without(slices.shape, along)
    return xp.reshape(found, (*probabilities.shape, *rest))


def _probabilities(q: object, x: Array) -> NDArray:
    """`q` as a NumPy array.

    TypeError: If it is no number, array or sequence of numbers, or if its elements are not known.
    ValueError: If they are not in [0, 1].
    """
    if type(q) is Array:
        if not q._device.backend.has_elements(q._handle):
            raise TypeError(
                "where quantiles are taken must be known while a function is traced; give q as a "
                "number or a list of numbers"
            )
        if hints.watched:
            reading(q, "numpy", "numpy")
        array = q._device.backend.to_host(q._handle)
    elif isinstance(q, int | float | np.floating | np.integer | np.ndarray | Sequence):
        try:
            array = np.asarray(q)
        except ValueError:
            array = np.asarray(None)
    else:
        array = np.asarray(None)
    if array.dtype.kind in "biu" or not array.size:
        array = array.astype(np.float64)
    if array.dtype not in d.REAL_FLOATING:
        raise TypeError(
            f"q must be a real number, an array or a sequence of real numbers, not {q!r}; "
            "convert it with asarray(...)"
        )
    if array.size and not (array.min() >= 0 and array.max() <= 1):
        raise ValueError("q must be between 0 and 1; divide percentages by 100")
    return array


# ---------------------------------------------------------------------- elements by their order


def _along_one_axis(
    x: Array, axis: int | tuple[int, ...] | None
) -> tuple[Array, int, tuple[int, ...]]:
    """`x` with the axes `axis` made one, which one that is, and the shape with `keepdims`."""
    shape = x.shape
    axes = normalise_axes(axis, len(shape))
    kept = tuple([1 if a in axes else size for a, size in enumerate(shape)])
    if len(axes) == 1:
        return x, axes[0], kept
    others = [a for a in range(len(shape)) if a not in axes]
    joined = (*[shape[a] for a in others], prod([shape[a] for a in axes]))
    return xp.reshape(xp.permute_dims(x, (*others, *axes)), joined), len(others), kept


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


def _select(slices: Array, axis: int, rule: _Rule, dtype: DType, skips_nan: bool) -> Array:
    """What `rule` finds in each slice along `axis`, which in the result counts the places."""
    size = slices.shape[axis]
    rest = _without(slices.shape, axis)
    has_nan = slices._dtype in d.REAL_FLOATING
    skips_nan = skips_nan and has_nan
    looks = can_look(slices)
    if type(size) is int and size == 0:
        return _of_nothing(slices, axis, rule, dtype)
    if has_nan and looks and prod(rest) == 1:
        # NaN are left out first: to partition an array takes the longer, the more NaN it has.
        is_nan = xp.isnan(slices)
        nans = int(xp.count_nonzero(is_nan))
        if nans > 0 and not (skips_nan and nans < size):
            if skips_nan:
                warn("All-NaN slice encountered")
            shape = tuple(
                [_count_places(rule, size) if a == axis else 1 for a in range(slices.ndim)]
            )
            return xp.full(shape, np.nan, dtype=dtype, device=slices._device)
        if nans > 0:
            size -= nans
            shape = tuple([size if a == axis else 1 for a in range(slices.ndim)])
            slices = xp.reshape(slices[~is_nan], shape)
        return _of_known_size(slices, axis, size, rule, dtype, may_be_nan=False)
    if type(size) is int and not skips_nan:
        return _of_known_size(slices, axis, size, rule, dtype, may_be_nan=has_nan)
    ordered = xp.sort(slices, axis=axis, stable=False)
    device = slices._device
    number = xp.full((1,) * slices.ndim, size, dtype=device.real, device=device)
    if has_nan:
        number_of_nan = xp.count_nonzero(xp.isnan(slices), axis=axis, keepdims=True)
        if skips_nan:
            number = number - xp.astype(number_of_nan, device.real)
            if looks and bool(xp.any(number == 0)):
                warn("All-NaN slice encountered")
    places = rule(_OURS, number)
    shape = tuple([1 if a == axis else n for a, n in enumerate(slices.shape)])
    elements = []
    for place in (places.below, places.above):
        index = xp.astype(place, device.integral)
        if skips_nan or len(shape) == 1:
            elements.append(xp.take_along_axis(ordered, index, axis=axis))
        else:
            elements.append(xp.take(ordered, xp.reshape(index, (-1,)), axis=axis))
    found = _between(elements[0], elements[1], places, axis, dtype)
    if has_nan and not skips_nan:
        found = xp.where(number_of_nan > 0, np.nan, found)
    return found


def _of_nothing(slices: Array, axis: int, rule: _Rule, dtype: DType) -> Array:
    """NaN for the quantiles of slices without elements, where the dtype has one."""
    number = _count_places(rule, 0)
    shape = (*slices.shape[:axis], number, *slices.shape[axis + 1 :])
    if prod(shape) and dtype not in d.FLOATING:
        raise ValueError(
            f"an array of shape {slices.shape} has no elements along axis {axis}, and {dtype} no "
            "NaN; test x.size first"
        )
    if prod(shape) and can_look(slices):
        warn("Mean of empty slice")
    return xp.full(shape, np.nan if dtype in d.FLOATING else 0, dtype=dtype, device=slices._device)


def _count_places(rule: _Rule, size: int) -> int:
    """How many places a rule has in a slice of `size` elements."""
    return int(rule(np, np.asarray([float(size)])).below.size)


def _of_known_size(
    slices: Array, axis: int, size: int, rule: _Rule, dtype: DType, *, may_be_nan: bool
) -> Array:
    """See `_select`, for slices whose first `size` elements, once sorted, count."""
    places = _middle_of(size) if rule is _middle else rule(np, np.asarray([float(size)]))
    both = [place.astype(np.int64).tolist() for place in (places.below, places.above)]
    found, rest = _elements(slices, axis, sorted({*both[0], *both[1]}))
    low, high = [
        found[place[0]] if len(place) == 1 else xp.concat([found[k] for k in place], axis=axis)
        for place in both
    ]
    result = _between(low, high, places, axis, dtype)
    if may_be_nan:
        # NaN comes last: where there is one, it is among those that follow.
        last = xp.max(rest, axis=axis, keepdims=True)
        result = xp.where(xp.isnan(last), np.nan, result)
    return result


# The most partitions in place of a sort (docs/tuning.md, 94).
_PARTITIONS_MAX: Final = 2

# The length of a slice from which it is partitioned once, for all positions together. Shorter
# slices take less time with one partition for each position (docs/tuning.md, 94).
_LONG_ROW: Final = 2**12

# Up to so many elements are sorted (docs/tuning.md, 117).
_SORTED_MAX: Final = 2**8


def _elements(slices: Array, axis: int, positions: list[int]) -> tuple[dict[int, Array], Array]:
    """The elements at some positions, which ascend, once slices along `axis` are sorted.

    NumPy has vector instructions to put one position in its place, and none for several.

    Returns (dict of int to Array): Per position, with an axis of size 1.
    Returns (Array): The elements from the last of the positions on, in some order.
    """
    backend, dtype, device = slices._device.backend, slices._dtype, slices._device

    def part(x: Array, start: int, stop: int | None) -> Array:
        return x[(*(slice(None),) * axis, slice(start, stop))]

    pairs: list[list[int]] = []
    for position in reversed(positions):
        if pairs and len(pairs[-1]) == 1 and pairs[-1][0] == position + 1:
            pairs[-1].append(position)
        else:
            pairs.append([position])
    size = slices.size
    ordered = None
    if len(pairs) > _PARTITIONS_MAX or (type(size) is int and size <= _SORTED_MAX):
        ordered = xp.sort(slices, axis=axis, stable=False)
    elif len(pairs) > 1 and slices.shape[axis] >= _LONG_ROW:
        ordered = wrap(backend.partition(slices._handle, tuple(positions), axis), dtype, device)
    if ordered is not None:
        return {k: part(ordered, k, k + 1) for k in positions}, part(ordered, positions[-1], None)
    found: dict[int, Array] = {}
    before, after = slices, slices
    for first, *neighbour in pairs:
        ordered = wrap(backend.partition(before._handle, (first,), axis), dtype, device)
        if not found:
            after = part(ordered, first, None)
        found[first] = part(ordered, first, first + 1)
        before = part(ordered, 0, first)
        for position in neighbour:
            found[position] = xp.max(before, axis=axis, keepdims=True)
    return found, after


def _between(low: Array, high: Array, places: _Places, axis: int, dtype: DType) -> Array:
    """The weighted means of two neighbours each, for places along `axis`."""
    below, above, weight = places
    lower = xp.astype(low, dtype, copy=False)
    if below is above:
        return lower
    is_single = type(below) is not Array and below.size == 1
    if is_single and (below == above or weight == 0):
        return lower
    upper = xp.astype(high, dtype, copy=False)
    if weight is None and is_single:
        return (lower + upper) / 2
    # As in NumPy, the distance has the precision of the numbers, even if `dtype` is wider.
    step = high - low if low._dtype in d.FLOATING else upper - lower
    step = xp.astype(step, dtype, copy=False)
    if weight is not None and is_single:
        share = float(weight[0])
        return upper - step * (1 - share) if share >= 0.5 else lower + step * share

    def along(numbers: _Numbers) -> Array:
        if type(numbers) is Array:
            return numbers
        shape = (1,) * axis + numbers.shape + (1,) * (low.ndim - axis - 1)
        return xp.asarray(numbers.reshape(shape), device=low._device)

    if weight is None:
        return xp.where(along(below == above), lower, (lower + upper) / 2)
    part, rest = [xp.astype(along(w), dtype, copy=False) for w in (weight, 1 - weight)]
    found = xp.where(along(weight >= 0.5), upper - step * rest, lower + step * part)
    return xp.where(along(weight == 0), lower, found)
