"""Reductions and searches as methods of arrays, with NumPy's `out`, `where` and `initial`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from ..contract.numpy_dtypes import DTypeLike
from ..core import dtypes as d
from ..core.dtypes import as_dtype
from ..core.shape import normalise_axes, reduced_shape
from ..native import with_advice
from ..primitives import table as p
from . import data_type, elementwise, manipulation, searching, sorting, statistical, utility
from .annotations import Axes, Foreign
from .array import Array, method
from .creation import asarray, full
from .indexing import written
from .operands import cast

Function: TypeAlias = "Callable[..., Array]"

# ---------------------------------------------------------------------- order


def _search(function: Function) -> None:
    name = function.__name__

    @method(name, with_advice)
    def search(self: Array, axis: int | None, out: Foreign, *, keepdims: bool) -> Array:
        return written(name, out, function(self, axis=axis, keepdims=keepdims))


_search(searching.argmax)
_search(searching.argmin)


@method("argsort")
def _argsort(
    self: Array, axis: int | None, kind: str | None, order: None, *, stable: bool | None
) -> Array:
    if order is not None:
        raise TypeError("argsort has no order=, since no dtype here has fields; leave it out")
    if axis is None:
        return sorting.argsort(manipulation.reshape(self, (-1,)))
    return sorting.argsort(self, axis=axis)


@method("searchsorted")
def _searchsorted(self: Array, v: Foreign, side: Any, sorter: Array | None) -> Array:
    return searching.searchsorted(self, v, side=side, sorter=sorter)


# ---------------------------------------------------------------------- reductions


def _truth(function: Function) -> None:
    name = function.__name__

    @method(name, with_advice)
    def reduction(
        self: Array, axis: Axes, out: Foreign, keepdims: bool, *, where: Foreign
    ) -> Array:
        return _reduced(function, self, axis, keepdims, out, where, None)


def _extreme(function: Function) -> None:
    name = function.__name__

    @method(name, with_advice)
    def reduction(
        self: Array, axis: Axes, out: Foreign, keepdims: bool, initial: Foreign, where: Foreign
    ) -> Array:
        return _reduced(function, self, axis, keepdims, out, where, initial)


def _total(function: Function) -> None:
    name = function.__name__

    @method(name, with_advice)
    def reduction(
        self: Array,
        axis: Axes,
        dtype: DTypeLike | None,
        out: Foreign,
        keepdims: bool,
        initial: Foreign,
        where: Foreign,
    ) -> Array:
        return _reduced(function, self, axis, keepdims, out, where, initial, dtype=dtype)


_truth(utility.all)
_truth(utility.any)
_extreme(statistical.max)
_extreme(statistical.min)
_total(statistical.prod)
_total(statistical.sum)

_NEUTRAL: Final[dict[str, bool | int]] = {"sum": 0, "prod": 1, "all": True, "any": False}
_WITH_INITIAL: Final[dict[str, Callable[..., Array]]] = {
    "sum": elementwise.add,
    "prod": elementwise.multiply,
    "max": elementwise.maximum,
    "min": elementwise.minimum,
}


def _reduced(
    function: Function,
    x: Array,
    axis: Axes,
    keepdims: bool,
    out: Any,
    where: Any,
    initial: Any,
    **more: Any,
) -> Array:
    """A reduction with NumPy's parameters.

    `where` says which elements count, and broadcasts to the shape of `x`. `initial` counts as one
    more element everywhere.
    """
    if out is None and where is True and initial is None:
        return function(x, axis=axis, keepdims=keepdims, **more)
    name = function.__name__
    if where is not True:
        filler = _NEUTRAL.get(name, initial)
        if filler is None:
            raise ValueError(
                f"{name} of no elements is undefined: with where= give initial=, which counts as "
                "one more element"
            )
        x = searching.where(_mask(x, where), x, filler)
    if initial is None:
        result = function(x, axis=axis, keepdims=keepdims, **more)
    elif name in ("max", "min") and 0 in x.shape:
        axes = normalise_axes(axis, x.ndim)
        shape = reduced_shape(x.shape, axes, keepdims)
        result = full(shape, initial, dtype=x._dtype, device=x._device)
    else:
        result = _WITH_INITIAL[name](function(x, axis=axis, keepdims=keepdims, **more), initial)
    return written(name, out, result)


def _mask(x: Array, where: Any) -> Array:
    """``where=`` as a bool array of the shape of `x`."""
    return manipulation.broadcast_to(asarray(where), x.shape)


def _as_floating(x: Array, dtype: object, name: str) -> Array:
    """`x` in the dtype to compute a mean or a variance in; `x` itself for None."""
    if dtype is None:
        return x
    target = as_dtype(dtype)
    if target not in d.FLOATING:
        raise TypeError(
            f"{name} computes in a floating-point dtype, not {target}; "
            "convert the result with astype"
        )
    return data_type.astype(x, target, copy=False)


@method("mean", with_advice)
def _mean(
    self: Array,
    axis: Axes,
    dtype: DTypeLike | None,
    out: Foreign,
    keepdims: bool,
    *,
    where: Foreign,
) -> Array:
    x = _as_floating(self, dtype, "mean")
    if where is True:
        result = statistical.mean(x, axis=axis, keepdims=keepdims)
        return result if out is None else written("mean", out, result)
    mask = _mask(x, where)
    return written("mean", out, _mean_where(mask, x, axis, keepdims, 0))


def _mean_where(mask: Array, x: Array, axis: Axes, keepdims: bool, correction: Any) -> Array:
    """The sum of what `mask` selects, divided by its number less `correction`."""
    total = statistical.sum(searching.where(mask, x, 0), axis=axis, keepdims=keepdims)
    number = searching.count_nonzero(mask, axis=axis, keepdims=keepdims)
    # The real dtype of the precision of the sum; float64 for integers.
    real = p.ABS.results[total._dtype] if total._dtype in d.FLOATING else total._device.real
    divisor = cast(number, real)
    return total / (elementwise.maximum(divisor - correction, 0) if correction else divisor)


def _spread(function: Function) -> None:
    name = function.__name__

    @method(name, with_advice)
    def reduction(
        self: Array,
        axis: Axes,
        dtype: DTypeLike | None,
        out: Foreign,
        ddof: int | float,
        keepdims: bool,
        *,
        where: Foreign,
        correction: int | float | None,
    ) -> Array:
        x = _as_floating(self, dtype, name)
        if correction is None:
            correction = ddof
        elif ddof != 0:
            raise ValueError("ddof and correction are two names of one parameter; give one of them")
        if where is True:
            result = function(x, axis=axis, correction=correction, keepdims=keepdims)
            return result if out is None else written(name, out, result)
        mask = _mask(x, where)
        distances = elementwise.abs(x - _mean_where(mask, x, axis, True, 0))
        found = _mean_where(mask, elementwise.square(distances), axis, keepdims, correction)
        return written(name, out, found if name == "var" else elementwise.sqrt(found))


_spread(statistical.var)
_spread(statistical.std)
