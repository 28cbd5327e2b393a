"""What the array's methods under NumPy's names do beyond the functions of the standard.

These methods take NumPy's parameters, because NumPy's functions pass them on: ``np.max(x)`` calls
``x.max(axis=None, out=None)``. Where a function of the standard does the rest, the method calls it
(array.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any, Final

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import DType, as_dtype
from ..core.shape import as_int, normalise_axes, reduced_shape
from ..primitives import table as p
from . import data_type, elementwise, manipulation, searching, statistical, utility
from .annotations import Axes, PythonScalar
from .array import Array
from .creation import asarray, full, zeros
from .dispatch import binary, cast, check_writable, unary, wrap
from .indexing import getitem, setitem
from .interop import item

__all__ = [
    "as_floating",
    "check_casting",
    "check_order",
    "conj",
    "element",
    "imag",
    "mean",
    "one_correction",
    "python_rounded",
    "real",
    "reduced",
    "rounded",
    "set_imag",
    "set_real",
    "squeezed",
    "transposed",
    "variance",
    "written",
]

# ---------------------------------------------------------------------- NumPy's parameters


def written(name: str, target: Any, result: Array) -> Array:
    """`target`, an argument ``out=``, after `result` was written to it; `result` for None.

    Raises
    ------
    ValueError
        If it is no array of ours or NumPy's, has another shape, or is read-only.
    TypeError
        If its dtype would lose data.
    """
    if target is None:
        return result
    if type(target) not in (Array, np.ndarray) or target.shape != result.shape:
        raise ValueError(
            f"{name} gives shape {result.shape}, which out= must have, and be an array_api_nx or "
            "NumPy array; leave out= out"
        )
    if not d.same_kind(result._dtype, as_dtype(target.dtype)):
        raise TypeError(
            f"{name} would store {result._dtype} values in an array of dtype {target.dtype}, "
            "which loses data; leave out= out"
        )
    if type(target) is Array:
        check_writable(target)
        target[...] = result
    else:
        target[...] = np.asarray(result)
    filled: Array = target
    return filled


def reduced(
    name: str, x: Array, axis: Axes, keepdims: bool, out: Any, where: Any, initial: Any, **more: Any
) -> Array:
    """A reduction with NumPy's parameters.

    `where` says which elements count, and broadcasts to the shape of `x`. `initial` counts as one
    more element everywhere.
    """
    function: Callable[..., Array] = getattr(statistical, name, None) or getattr(utility, name)
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


_NEUTRAL: Final[dict[str, bool | int]] = {"sum": 0, "prod": 1, "all": True, "any": False}
_WITH_INITIAL: Final[dict[str, Callable[..., Array]]] = {
    "sum": elementwise.add,
    "prod": elementwise.multiply,
    "max": elementwise.maximum,
    "min": elementwise.minimum,
}


def _mask(x: Array, where: Any) -> Array:
    """``where=`` as a bool array of the shape of `x`."""
    return manipulation.broadcast_to(asarray(where), x.shape)


def mean(x: Array, axis: Axes, keepdims: bool, out: Any, where: Any) -> Array:
    """`Array.mean`: see there."""
    if where is True:
        return written("mean", out, statistical.mean(x, axis=axis, keepdims=keepdims))
    mask = _mask(x, where)
    total = statistical.sum(searching.where(mask, x, 0), axis=axis, keepdims=keepdims)
    number = searching.count_nonzero(mask, axis=axis, keepdims=keepdims)
    return written("mean", out, total / cast(number, _real_of(total)))


def variance(
    x: Array, axis: Axes, keepdims: bool, out: Any, where: Any, correction: int | float, power: int
) -> Array:
    """`Array.var` for a `power` of 1, and `Array.std` for 2, the root that is taken of it."""
    name = "var" if power == 1 else "std"
    if where is True:
        function = statistical.var if power == 1 else statistical.std
        result = function(x, axis=axis, correction=correction, keepdims=keepdims)
        return written(name, out, result)
    distances = x - mean(x, axis, True, None, where)
    squares = elementwise.square(elementwise.abs(distances))
    mask = _mask(x, where)
    total = statistical.sum(searching.where(mask, squares, 0), axis=axis, keepdims=keepdims)
    number = searching.count_nonzero(mask, axis=axis, keepdims=keepdims)
    found = total / elementwise.maximum(cast(number, _real_of(total)) - correction, 0)
    return written(name, out, found if power == 1 else elementwise.sqrt(found))


def _real_of(x: Array) -> DType:
    """The real dtype of the precision of a floating-point array; float64 for integers."""
    return p.ABS.results[x._dtype] if x._dtype in d.FLOATING else x._device.real


def check_order(name: str, order: str, known: str) -> None:
    """ValueError unless `order` is one of the letters `known`, which mean row-major here."""
    if order not in tuple(known):
        raise ValueError(f"{name} is row-major, not order={order!r}; permute the axes first")


def check_casting(from_: DType, to: object, casting: str) -> None:
    """TypeError unless NumPy's rule `casting` allows a conversion; ValueError if it is no rule."""
    if casting == "unsafe":
        return
    target = as_dtype(to)
    if casting in ("no", "equiv"):
        allowed = target is from_
    elif casting == "safe":
        allowed = d.can_cast(from_, target)
    elif casting == "same_kind":
        allowed = d.same_kind(from_, target)
    else:
        raise ValueError(
            f"no casting {casting!r}; known: 'no', 'equiv', 'safe', 'same_kind', 'unsafe'"
        )
    if not allowed:
        raise TypeError(
            f"casting {casting!r} does not allow {from_} to become {target}; "
            "give casting='unsafe', which is the default"
        )


def as_floating(x: Array, dtype: object, name: str) -> Array:
    """`x` in the dtype that a mean or a variance is to be computed in; `x` itself for None."""
    if dtype is None:
        return x
    target = as_dtype(dtype)
    if target not in d.FLOATING:
        raise TypeError(
            f"{name} computes in a floating-point dtype, not {target}; "
            "convert the result with astype"
        )
    return data_type.astype(x, target, copy=False)


def one_correction(ddof: int | float, correction: int | float | None) -> int | float:
    """What to take off the number of elements; ValueError if it is said twice."""
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction are two names of one parameter; give one of them")
    return correction


# ---------------------------------------------------------------------- parts of complex numbers


def _part(x: Array, which: int) -> Array:
    """The real (0) or imaginary (1) parts of a complex array, in the same memory."""
    backend = x._device.backend
    dtype = p.REAL.results[x._dtype]
    whole = tuple([(0, size, 1) for size in backend.shape(x._handle)])
    # An axis of one complex number is contiguous, whatever the others are.
    pairs = backend.bitcast(backend.slice(x._handle, (*whole, None)), dtype)
    return wrap(backend.slice(pairs, (*whole, which)), dtype, x._device)


def real(x: Array) -> Array:
    """`Array.real`: see there."""
    return _part(x, 0) if x._dtype in d.COMPLEX else x


def imag(x: Array) -> Array:
    """`Array.imag`: see there."""
    if x._dtype in d.COMPLEX:
        return _part(x, 1)
    return manipulation.broadcast_to(zeros((), dtype=x._dtype, device=x._device), x.shape)


def set_real(x: Array, value: Array | PythonScalar) -> None:
    """``x.real = value``: writes `value`, after broadcasting, to the real parts."""
    if x._dtype in d.COMPLEX:
        _set_part(x, 0, value)
    else:
        setitem(x, ..., value)


def set_imag(x: Array, value: Array | PythonScalar) -> None:
    """``x.imag = value``: writes `value`, after broadcasting, to the imaginary parts.

    Raises
    ------
    TypeError
        If `x` is not complex.
    """
    if x._dtype not in d.COMPLEX:
        raise TypeError(
            f"elements of {x._dtype} have no imaginary parts to write to; convert the array with "
            "astype to a complex dtype first"
        )
    _set_part(x, 1, value)


def _set_part(x: Array, which: int, value: Array | PythonScalar) -> None:
    # By way of copies, which works on every device, and puts nothing together by arithmetic: in
    # that, an infinite part would make the other one NaN.
    parts = [elementwise.real(x), elementwise.imag(x)]
    setitem(parts[which], ..., value)
    setitem(x, ..., _of_parts(parts, x._dtype))


def _of_parts(parts: list[Array], dtype: DType) -> Array:
    """The complex numbers of a dtype with given real and imaginary parts."""
    pairs = data_type.view_as(manipulation.stack(parts, axis=-1), dtype)
    return getitem(pairs, (..., 0))


def conj(x: Array) -> Array:
    """`Array.conj`: see there."""
    return elementwise.conj(x) if x._dtype in d.COMPLEX else x


# ---------------------------------------------------------------------- rounding


def rounded(x: Array, decimals: object) -> Array:
    """`Array.round`: see there."""
    places = as_int(decimals, "decimals")
    if places == 0 or x._dtype is d.bool or (places > 0 and x._dtype in d.INTEGRAL):
        return unary(p.ROUND, x)  # which refuses bool
    if x._dtype in d.INTEGRAL:
        # As NumPy does, in float64; beyond 2**53 this loses digits.
        return cast(rounded(cast(x, x._device.real), places), x._dtype)
    if x._dtype in d.COMPLEX:
        return _of_parts([rounded(real(x), places), rounded(imag(x), places)], x._dtype)
    # The power is taken of the number of places without its sign, so that it is exact.
    power = 10.0 ** abs(places) if abs(places) <= _MOST_PLACES else inf
    first, second = (p.MULTIPLY, p.DIVIDE) if places > 0 else (p.DIVIDE, p.MULTIPLY)
    return binary(second, unary(p.ROUND, binary(first, x, power)), power)


def python_rounded(x: Array, ndigits: int | None) -> Array | int:
    """`Array.__round__`: see there."""
    if ndigits is None and x.ndim == 0:
        number: int = round(x.item())
        return number
    return rounded(x, 0 if ndigits is None else ndigits)


_MOST_PLACES: Final = 308  # of a float64


# ---------------------------------------------------------------------- elements and axes


def element(x: Array, position: tuple[Any, ...]) -> Any:
    """`Array.item`: see there."""
    shape = x.shape
    size = prod(shape)
    if not position:
        if size != 1:
            raise ValueError(
                f"item() takes an array with one element, not shape {shape}; "
                "give a position, as in x.item(0)"
            )
        return item(x, object)
    if len(position) == 1 and isinstance(position[0], Sequence):
        position = tuple(position[0])
    index = [as_int(each, "position") for each in position]
    if len(index) == 1 and len(shape) != 1:
        flat = index[0]
        if not -size <= flat < size:
            raise IndexError(
                f"position {flat} is out of range for an array of {size} elements; "
                "positions go from 0 to size - 1"
            )
        flat %= size
        index = []
        for length in reversed(shape):
            flat, rest = divmod(flat, length)
            index.insert(0, rest)
    elif len(index) != len(shape):
        raise ValueError(
            f"item() got {len(index)} indices for an array of {len(shape)} axes; "
            "give one per axis, or one position"
        )
    return item(getitem(x, tuple(index)), object)


def squeezed(x: Array, axis: int | tuple[int, ...] | None) -> Array:
    """`Array.squeeze`: see there."""
    if axis is None:
        axis = tuple([i for i, size in enumerate(x.shape) if size == 1])
    return manipulation.squeeze(x, axis)


def transposed(x: Array, axes: tuple[Any, ...]) -> Array:
    """`Array.transpose`: see there."""
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    return manipulation.permute_dims(x, order) if order else x.T
