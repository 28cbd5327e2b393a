"""The order of elements, and which of them are distinct, by this package's sorts."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy

from ..backends.cpu.engine import sliced_calls
from ..frontend.inspection import namespace
from .adoption import by_numpy
from .arrays import adopt, ndarray, standard
from .fronts import fronted
from .functions import is_elsewhere
from .thresholds import FEW

__all__ = ["argpartition", "argsort", "partition", "unique"]

# By C, which converts arrays in a microsecond where Python takes ten.
_numpys_argpartition: Final = fronted(partial(by_numpy, numpy.argpartition), numpy.argpartition)
_numpys_argsort: Final = fronted(partial(by_numpy, numpy.argsort), numpy.argsort)
_numpys_partition: Final = fronted(partial(by_numpy, numpy.partition), numpy.partition)
_numpys_unique: Final = fronted(partial(by_numpy, numpy.unique), numpy.unique)

_STABLE: Final = ("stable", "mergesort")
_INDEX: Final = numpy.dtype(numpy.intp)


def _has_our_order(x: Any) -> bool:
    return type(x) is ndarray and x.dtype.kind != "c" and not is_elsewhere(x)


def _has_rows(a: Any, axis: Any, least: int) -> bool:
    """Whether threads may share the rows along an axis of more than `least` elements."""
    if type(a) is not ndarray or a.size <= least or is_elsewhere(a) or type(axis) is not int:
        return False
    return bool(-a.ndim <= axis < a.ndim and a.size > a.shape[axis])


def _by_rows(order: Any, least: int, dtype: Any, a: Any, axis: int) -> Any:
    """``order(rows, axis=axis)`` of NumPy's function, of some rows on each thread."""

    def ordered(array: Any) -> Any:
        compute = partial(order, axis=axis)
        return sliced_calls.by_slices(compute, array, axis % array.ndim, least, dtype)

    return by_numpy(ordered, a)


def _is_shared(a: Any, kth: Any, axis: Any, kind: Any, order: Any, least: int) -> bool:
    """Whether threads share the rows of a partition."""
    is_plain = kind == "introselect" and order is None and type(kth) is int
    return is_plain and _has_rows(a, axis, least)


def partition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    """A copy in whose rows some elements are where a sort puts them: see `numpy.partition`."""
    least = sliced_calls.PARTITION_MIN
    # The result of an array that is not row-major is laid out as that is.
    if _is_shared(a, kth, axis, kind, order, least) and a.flags.c_contiguous:
        return _by_rows(partial(numpy.partition, kth=kth), least, a.dtype, a, axis)
    return _numpys_partition(a, kth, axis, kind, order)


def argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    """The indices of a partition: see `numpy.argpartition`."""
    least = sliced_calls.ARGPARTITION_MIN
    if _is_shared(a, kth, axis, kind, order, least):
        return _by_rows(partial(numpy.argpartition, kth=kth), least, _INDEX, a, axis)
    return _numpys_argpartition(a, kth, axis, kind, order)


def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    """The indices that sort an array: see `numpy.argsort`.

    The order is stable here. NumPy's of equal elements is another one, if it is not asked to be
    stable: where there are any, NumPy finds it.
    """
    is_plain = kind is None and stable is None
    by_kind = type(kind) is str and kind in _STABLE and stable is None
    is_stable = by_kind or (kind is None and stable is True)
    has_axis = type(axis) is int and _has_our_order(a) and -a.ndim <= axis < a.ndim
    is_known = has_axis and order is None
    if is_known and (is_stable or (is_plain and _may_have_distinct(a))):
        found = adopt(namespace(None).argsort(standard(a), axis=axis))
        if is_stable or not _has_equals(a[found]):
            return found
    if is_plain and order is None and _has_rows(a, axis, sliced_calls.ARGSORT_MIN):
        return _by_rows(numpy.argsort, sliced_calls.ARGSORT_MIN, _INDEX, a, axis)
    return _numpys_argsort(a, axis, kind, order, stable=stable)


def _may_have_distinct(a: Any) -> bool:
    """Whether many elements are likely to differ from one another: some of them do."""
    if not (a.ndim == 1 and a.size > FEW and a.dtype == numpy.float64):
        return False
    some = numpy.sort(numpy.asarray(a)[:: a.size // 128])
    return not _has_equals(some)


def _has_equals(ascending: Any) -> bool:
    """Whether some elements in ascending order are equal, or NaN."""
    return bool((ascending[1:] == ascending[:-1]).any()) or ascending[-1] != ascending[-1]


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    **others: Any,
) -> Any:
    """The distinct elements of an array, in ascending order: see `numpy.unique`."""
    if not (_has_our_order(ar) and axis is None and ar.size and not others):
        return _numpys_unique(ar, return_index, return_inverse, return_counts, axis, **others)
    xp, x = namespace(None), standard(ar)
    wanted = (True, return_index, return_inverse, return_counts)
    is_nan: Any = x != x if ar.dtype.kind == "f" else None
    nans = 0 if is_nan is None else int(xp.count_nonzero(is_nan))
    found = _distinct(xp, x if nans == 0 else x[~is_nan], *wanted[1:])
    if nans > 0:
        found = _with_one_nan(xp, x, is_nan, nans, *found)
    results = tuple([adopt(each) for each, given in zip(found, wanted, strict=False) if given])
    return results if len(results) > 1 else results[0]


def _distinct(xp: Any, x: Any, has_indices: bool, has_inverse: bool, has_counts: bool) -> Any:
    """The distinct elements, their indices, the inverse, and their counts; None for some that are
    not asked for."""
    if has_indices or (has_inverse and has_counts):
        return xp.unique_all(x)
    if has_inverse:
        values, inverse = xp.unique_inverse(x)
        return values, None, inverse, None
    if has_counts:
        values, counts = xp.unique_counts(x)
        return values, None, None, counts
    return xp.unique_values(x), None, None, None


def _with_one_nan(
    xp: Any, x: Any, is_nan: Any, nans: int, values: Any, indices: Any, inverse: Any, counts: Any
) -> tuple[Any, ...]:
    """The same, found for the other elements, with all NaN as one more: NumPy takes them for one
    element, the standard for as many as there are."""
    flat = xp.reshape(is_nan, (-1,))
    first = xp.argmax(flat)[None]
    if indices is not None:
        indices = xp.concat([xp.take(xp.nonzero(~flat)[0], indices), first])
    if inverse is not None:
        whole = xp.full(x.shape, values.shape[0])
        whole[~is_nan] = inverse
        inverse = whole
    if counts is not None:
        counts = xp.concat([counts, xp.asarray([nans])])
    return xp.concat([values, xp.take(xp.reshape(x, (-1,)), first)]), indices, inverse, counts
