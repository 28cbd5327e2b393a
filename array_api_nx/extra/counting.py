"""How often values occur."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from math import inf
from math import isfinite as isfinite_number
from typing import Final, TypeAlias

from ..core import dtypes as d
from ..core.shape import as_count, as_int, check_shape
from ..frontend import standard as xp
from ..frontend.array import Array, wrap
from ..frontend.dispatch import refuse_dtype
from ..frontend.evaluation import in_one_pass
from ..frontend.operands import adopted, cast, only_array, together, wrap_indices
from ..native import with_advice
from ..primitives import table as p

__all__ = ["bincount", "histogram", "histogram2d", "histogramdd"]

# With at most so many edges, a histogram counts for each edge the elements below it; with more, it
# looks up the bin of each element (docs/tuning.md, 93).
_FEW_EDGES: Final = 11

Bins: TypeAlias = "int | Array | Sequence[float]"
"""How many intervals, or their edges."""


def bincount(x: Array, /, weights: Array | None = None, minlength: int = 0) -> Array:
    """How often each int from 0 on occurs, or the sums of the weights of each.

    The result's size depends on the elements, so that functions which are compiled cannot call it,
    and arrays whose elements are still to be computed are computed.

    x: 1-D, of ints that are not negative; bools count as 0 and 1.
    weights: Numeric, of the shape of `x`: the number that each element counts, instead of 1.
    minlength: The least size of the result.
    Returns: 1-D, of size ``max(minlength, 1 + max(x))``: at position `i` the number of elements
        that are `i`, int64; or the sum of their weights, of the dtype of `weights`. Sums of floats
        are computed in float64, one after the other, by the default device.
    ValueError: If `x` is not 1-D or has a negative element, if `weights` has another shape, or if
        `minlength` is negative.
    TypeError: If `x` is neither integral nor bool, or `weights` not numeric.

    >>> xp.extra.bincount(xp.asarray([0, 3, 1, 3]))
    Array([1, 1, 0, 2], dtype=int64)
    """
    x = only_array(x)
    if x.dtype is d.bool:
        x = cast(x, x._device.integral)
    if x.dtype not in p.BINCOUNT.results:
        refuse_dtype(p.BINCOUNT, x.dtype)
    if x.ndim != 1:
        raise ValueError(
            f"bincount takes one dimension, not shape {x.shape}; use reshape(x, (-1,))"
        )
    length = as_count(minlength, "minlength")
    check_shape((length,))
    if weights is None:
        handle = x._device.backend.bincount(x._handle, None, length, extend=True)
        return wrap_indices(handle, x._device)
    x, weights = _weighted(x, weights)
    handle = x._device.backend.bincount(x._handle, weights._handle, length, extend=True)
    return wrap(handle, weights.dtype, x._device)


def _weighted(x: Array, weights: Array) -> tuple[Array, Array]:
    """Elements and their weights, numeric and of one shape, on one device."""
    x, weights = together(x, only_array(weights, "weights"))
    if weights.dtype not in d.NUMERIC:
        raise TypeError(f"weights must be numeric, not {weights.dtype}; convert with astype")
    if weights.shape != x.shape:
        raise ValueError(
            f"weights need the shape of x, {x.shape}, not {weights.shape}; use broadcast_to"
        )
    return x, weights


@with_advice
def histogram(
    x: Array,
    /,
    bins: int | Array | Sequence[float] = 10,
    range: tuple[float, float] | None = None,
    *,
    weights: Array | None = None,
    density: bool = False,
) -> tuple[Array, Array]:
    """How many elements lie in each of several intervals.

    Each interval, or bin, begins with its lower edge and ends before its upper one, but for the
    last, which includes it. NaN lies in none.

    x: Real or bool, of any shape.
    bins: The number of bins, all of one width; or their edges, 1-D and ascending, one more than
        there are bins. Rules by name that NumPy has, such as "auto", are not known.
    range: The first and the last edge, if `bins` is a number; elements beyond them are not counted.
        By default the least and the greatest element, which then have to be finite. Ignored if
        `bins` are edges.
    weights: Numeric, of the shape of `x`: the number that each element counts, instead of 1.
    density: Whether to give densities: counts divided by the widths of the bins and by their sum,
        so that the integral is 1.
    Returns counts (Array): 1-D: int64; of the dtype of `weights` if there are any; with `density`
        at least float64.
    Returns edges (Array): 1-D, one more than `counts`: `bins` as an array, itself if it is one; or
        of the dtype of `x` if that is a floating-point one, else float64.
    ValueError: If there is no bin, edges do not ascend, `range` is not finite or descends, or
        `weights` has another shape.
    TypeError: If `x` is complex, or `bins` neither an int nor edges.

    >>> counts, edges = xp.extra.histogram(xp.asarray([1.0, 2, 1]), bins=[0, 1, 2, 3])
    >>> counts
    Array([0, 2, 1], dtype=int64)
    """
    x = only_array(x)
    if x.dtype in d.COMPLEX:
        raise TypeError(f"histogram takes real or bool elements, not {x.dtype}; take abs or real")
    if weights is not None:
        x, weights = _weighted(x, weights)
        weights = xp.reshape(weights, (-1,))
    x, bins = xp.reshape(x, (-1,)), adopted(bins, "bins")
    if isinstance(bins, str):
        raise TypeError(
            f"bins must be a number or edges, not {bins!r}; compute edges by a rule with "
            "numpy.histogram_bin_edges"
        )
    x, edges, compared, are_finite = _with_edges(x, bins, range)
    size = compared.shape[0]
    if range is not None and weights is None:
        x = _without_others(x, compared)
    if weights is None and type(size) is int and size <= _FEW_EDGES:
        counts = _counts_by_comparing(x, compared)
    else:
        counts = _counts_of_bins(x, compared, weights, are_finite=are_finite)
    if density:
        widths = xp.astype(xp.diff(edges), edges._device.real)
        counts = counts / widths / xp.sum(counts)
    return counts, edges


@with_advice
def histogram2d(
    x: Array,
    y: Array,
    /,
    bins: int | Array | Sequence[Bins] = 10,
    range: Sequence[tuple[float, float] | None] | None = None,
    *,
    density: bool = False,
    weights: Array | None = None,
) -> tuple[Array, Array, Array]:
    """How many points of a plane lie in each of several rectangles; see `histogramdd`.

    x, y: 1-D and of one size: the points' coordinates. Real or bool.
    bins (int, Array or sequence of two): As of `histogram`, for both coordinates or one for each.
    range (sequence of two (float, float), optional):
    Returns counts (Array): Float64, of shape ``(bins of x, bins of y)``.
    Returns x_edges, y_edges (Array):

    >>> x, y = xp.asarray([0.0, 1.0, 2.0]), xp.asarray([0.0, 0.0, 2.0])
    >>> xp.extra.histogram2d(x, y, bins=2)[0]
    Array([[1., 0.],
           [1., 1.]], dtype=float64)
    """
    bins = adopted(bins, "bins")
    both: int | Sequence[Bins]
    if isinstance(bins, Array):
        both = [bins, bins]
    elif isinstance(bins, Sequence) and len(bins) > 2:  # edges, not two of anything
        both = [bins, bins]  # type: ignore[list-item]
    else:
        both = bins
    counts, (x_edges, y_edges) = histogramdd([x, y], both, range, density=density, weights=weights)
    return counts, x_edges, y_edges


@with_advice
def histogramdd(
    sample: Array | Sequence[Array],
    /,
    bins: int | Sequence[Bins] = 10,
    range: Sequence[tuple[float, float] | None] | None = None,
    *,
    density: bool = False,
    weights: Array | None = None,
) -> tuple[Array, tuple[Array, ...]]:
    """How many points lie in each of several boxes, which intervals of each coordinate make up.

    sample: Of shape (N, D): a point in each row. Or the D coordinates, 1-D each. Real or bool.
    bins (int or sequence): For all coordinates, or one for each: a number of intervals of one
        width, or their edges, as of `histogram`.
    range (sequence of (float, float), optional): For each coordinate the first and the last edge,
        or None for its extremes.
    density: Whether to give densities: counts divided by the boxes' volumes and by their sum.
    weights: Real, of shape (N,): the number that each point counts, instead of 1.
    Returns counts (Array): D-dimensional, float64.
    Returns edges (tuple of Array): 1-D, for each coordinate one more than there are intervals.
    ValueError: If coordinates are not 1-D or of several sizes, if there are not as many bins,
        ranges or weights, and as for `histogram`.
    TypeError: If something is complex, and as for `histogram`.

    >>> counts, edges = xp.extra.histogramdd(xp.asarray([[0.0, 0.0], [2.0, 1.0]]), bins=(2, 1))
    >>> counts
    Array([[1.],
           [1.]], dtype=float64)
    """
    points = _coordinates(sample)
    dimensions = len(points)
    per_axis = list(bins) if isinstance(bins, Iterable) else [bins] * dimensions
    ranges = [None] * dimensions if range is None else list(range)
    for name, given in (("bins", per_axis), ("range", ranges)):
        if len(given) != dimensions:
            raise ValueError(
                f"{name} has {len(given)} items for {dimensions} coordinates; give one for each"
            )
    if weights is not None:
        *points, weights = together(*points, only_array(weights, "weights"))
        if weights.shape != points[0].shape:
            raise ValueError(
                f"weights need the shape of each coordinate, {points[0].shape}, not "
                f"{weights.shape}; give one for each point"
            )
        if weights.dtype not in d.REAL:
            raise TypeError(f"weights must be real, not {weights.dtype}; convert with astype")
        weights = cast(weights, d.float64)
    place, is_inside, total = None, None, 1
    edges = []
    each_bins = [adopted(each, "bins") for each in per_axis]
    for x, each, bounds in zip(points, each_bins, ranges, strict=True):
        x, own_edges, compared, _ = _with_edges(x, each, bounds)
        edges.append(own_edges)
        count = compared.shape[0] - 1
        inside = xp.logical_and(x >= compared[0], x <= compared[-1])
        # The last interval includes its upper edge.
        number = xp.clip(xp.searchsorted(compared, x, side="right") - 1, 0, count - 1)
        place = number if place is None else place * count + number
        is_inside = inside if is_inside is None else xp.logical_and(is_inside, inside)
        total *= count
    assert place is not None
    assert is_inside is not None
    # Points in no box are counted in one more, which is left out in the end.
    numbers = xp.where(is_inside, place, total)
    handle = numbers._device.backend.bincount(
        numbers._handle, None if weights is None else weights._handle, total + 1, extend=False
    )
    counted = wrap(handle, d.int64 if weights is None else d.float64, numbers._device)
    counts = xp.reshape(
        xp.astype(counted[:total], d.float64), tuple([e.shape[0] - 1 for e in edges])
    )
    if density:
        counts = counts / xp.sum(counts)
        for axis, each in enumerate(edges):
            widths = xp.astype(xp.diff(each), d.float64)
            counts = counts / xp.reshape(widths, (-1, *[1] * (dimensions - axis - 1)))
    return counts, tuple(edges)


def _coordinates(sample: Array | Sequence[Array]) -> list[Array]:
    """1-D arrays of one size and one device, at least one."""
    sample = adopted(sample, "sample")
    if isinstance(sample, Array):
        if sample.ndim != 2 or sample.shape[1] == 0:
            raise ValueError(
                f"histogramdd takes points of shape (N, D), not {sample.shape}; make columns with "
                "stack([x, y], axis=1), or give a list of coordinates"
            )
        points = [sample[:, i] for i in builtins.range(sample.shape[1])]
    else:
        points = [only_array(x, "a coordinate") for x in sample]
        shapes = {x.shape for x in points}
        if len(shapes) != 1 or points[0].ndim != 1:
            raise ValueError(
                f"coordinates must be 1-D and of one size, but their shapes are "
                f"{sorted(shapes)}; flatten with ravel"
            )
        points = [*together(*points)]
    for x in points:
        if x.dtype in d.COMPLEX:
            raise TypeError(f"coordinates must be real or bool, not {x.dtype}; take abs or real")
    return points


def _with_edges(
    x: Array, bins: Bins, bounds: tuple[float, float] | None
) -> tuple[Array, Array, Array, bool]:
    """Elements and edges of bins on one device: the elements, the edges, these in the
    floating-point dtype of the elements, and whether they are known to be finite."""
    are_finite = False
    if isinstance(bins, Array | Sequence) and not isinstance(bins, str):
        x, edges = _given_edges(x, bins)
    else:
        edges, are_finite = _equal_edges(x, as_int(bins, "bins"), bounds), True
    dtype = edges.dtype if edges.dtype in d.FLOATING else edges._device.real
    if x.dtype in d.FLOATING:
        dtype = xp.result_type(x.dtype, dtype)
    return cast(x, dtype), edges, cast(edges, dtype), are_finite


def _given_edges(x: Array, bins: Array | Sequence[float]) -> tuple[Array, Array]:
    """Elements and edges on one device."""
    edges = bins if isinstance(bins, Array) else xp.asarray(bins, device=x.device)
    x, edges = together(x, edges)
    if edges.dtype not in d.REAL:
        raise TypeError(f"edges of bins must be real, not {edges.dtype}; convert with astype")
    if edges.ndim != 1 or edges.shape[0] < 2:
        raise ValueError(f"edges of bins must be 1-D and at least 2, not of shape {edges.shape}")
    if edges._device.backend.has_elements(edges._handle) and not xp.all(edges[1:] >= edges[:-1]):
        raise ValueError("edges of bins must ascend; sort them")
    return x, edges


def _equal_edges(x: Array, bins: int, bounds: tuple[float, float] | None) -> Array:
    """The edges of bins of one width: `bounds`, or the extremes of `x`, and numbers between."""
    if bins < 1:
        raise ValueError(f"bins is {bins}, but a histogram has at least one; give a positive int")
    device = x.device
    dtype = x.dtype if x.dtype in d.FLOATING else device.real
    if bounds is None and x.shape[0] == 0:
        bounds = (0.0, 1.0)
    if bounds is None:
        first, last = in_one_pass(lambda x: (cast(xp.min(x), dtype), cast(xp.max(x), dtype)), x)
        if device.backend.has_elements(x._handle) and not xp.isfinite(last - first):
            raise ValueError(f"elements from {first} to {last} have no finite width; give a range")
    else:
        low, high = [float(bound) for bound in bounds]
        if not isfinite_number(high - low) or low > high:
            raise ValueError(f"range must be finite and ascend, but is {bounds!r}")
        first, last = [xp.asarray(bound, dtype=device.real, device=device) for bound in (low, high)]
    same = first == last
    first, last = xp.where(same, first - 0.5, first), xp.where(same, last + 0.5, last)
    position = xp.arange(bins + 1, dtype=first.dtype, device=device)
    edges = position * ((last - first) / bins) + first
    return cast(xp.where(position == bins, last, edges), dtype)


def _without_others(x: Array, edges: Array) -> Array:
    """The elements, or if few of them lie between the first edge and the last one, those alone."""
    if not x._device.backend.has_elements(x._handle):
        return x
    inside = (x >= edges[0]) & (x <= edges[-1])
    return x[inside] if 2 * int(xp.count_nonzero(inside)) < x.shape[0] else x


def _counts_by_comparing(x: Array, edges: Array) -> Array:
    """How many elements lie in each bin, from how many lie before each edge."""
    last = edges.shape[0] - 1

    def before(x: Array) -> list[Array]:
        found = [xp.count_nonzero(x < edges[i]) for i in builtins.range(last)]
        return [*found, xp.count_nonzero(x <= edges[last])]

    return xp.diff(xp.stack(in_one_pass(before, x)))


def _counts_of_bins(x: Array, edges: Array, weights: Array | None, *, are_finite: bool) -> Array:
    """How many elements lie in each bin, or their weights, from the number of edges before each."""
    count = edges.shape[0] - 1
    # The last bin includes its upper edge. Elements in no bin have no edge before them, or all.
    if are_finite:
        # No number lies between the last edge and the next number, before which the last bin ends.
        beyond = xp.nextafter(edges[-1:], xp.asarray(inf, dtype=edges.dtype, device=x.device))
        number = xp.searchsorted(xp.concat([edges[:-1], beyond]), x, side="right")
    else:
        number = xp.where(x == edges[-1], count, xp.searchsorted(edges, x, side="right"))
    handle = x._device.backend.bincount(
        number._handle, None if weights is None else weights._handle, count + 2, extend=False
    )
    device = x._device
    counts = (
        wrap_indices(handle, device) if weights is None else wrap(handle, weights.dtype, device)
    )
    return counts[1 : count + 1]
