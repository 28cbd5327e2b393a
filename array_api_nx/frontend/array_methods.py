"""Methods and operators of arrays, attached here to the class that declares them.

Methods under NumPy's names take NumPy's parameters, because NumPy's functions pass them on:
``np.max(x)`` calls ``x.max(axis=None, out=None)``. Where a function of the standard computes the
same, the method calls it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod
from types import ModuleType
from typing import Any, Final

from ..config import hints
from ..contract.numpy_dtypes import DTypeLike, NDArray
from ..core import dtypes as d
from ..core.dtypes import DType, as_dtype
from ..core.indexing import hashable_key
from ..core.shape import as_int
from ..native import native, with_advice, with_native
from ..primitives import table as p
from ..primitives.table import Primitive
from . import (
    data_type,
    dlpack,  # noqa: F401 - these three attach more of them
    elementwise,
    exchange,
    formatting,  # noqa: F401
    indexing,
    inspection,
    interop,
    joining,
    manipulation,
    numpy_functions,
    reduction_methods,  # noqa: F401
    ufuncs,
    utility,
)
from .annotations import Axes, Foreign, PythonScalar
from .array import MEANINGS, Array, Index, attach, attribute, method, name_body, wrap
from .creation import zeros
from .dispatch import binary, inplace, unary
from .indexing import getitem, selections, setitem, written
from .interop import item
from .linear_algebra import inplace_matmul, matmul_operator, matrix_transpose
from .manipulation import transpose
from .operands import cast

attribute("T", transpose)
attribute("mT", matrix_transpose)
attribute("__array_interface__", interop.array_interface)


# ---------------------------------------------------------------------- operators


def _operator(name: str, function: Any) -> None:
    name = f"__{name}__"
    function.__name__, function.__qualname__ = name, f"Array.{name}"
    function.__module__ = "array_api_nx.frontend.array"
    del function.__annotations__["self"]
    name_body(function, name)
    attach(name, function, function)


def _unary_operator(name: str, op: Primitive) -> None:
    def operator(self: Array) -> Array:
        return unary(op, self)

    _operator(name, operator)


def _binary_operator(name: str, op: Primitive, *, is_comparison: bool = False) -> None:
    """The operator `name`; unless it is a comparison, with a reflected and an in-place form."""

    def operator(self: Array, other: Array | PythonScalar, /) -> Array:
        return binary(op, self, other, NotImplemented)

    def reflected(self: Array, other: Array | PythonScalar, /) -> Array:
        return binary(op, other, self, NotImplemented)

    def in_place(self: Array, other: Array | PythonScalar, /) -> Array:
        return inplace(op, self, other)

    _operator(name, operator)
    if not is_comparison:
        _operator(f"r{name}", reflected)
        _operator(f"i{name}", in_place)


for _op in p.of_family("unary"):
    if _op.operator:
        _unary_operator(_op.operator, _op)

for _op in p.of_family("binary"):
    if _op.operator:
        _binary_operator(_op.operator, _op, is_comparison=_op.is_predicate)


def _divmod(self: Array, other: Array | PythonScalar, /) -> tuple[Array, Array]:
    return self // other, self % other


def _rdivmod(self: Array, other: Array | PythonScalar, /) -> tuple[Array, Array]:
    return other // self, other % self


def _matmul(self: Array, other: Array, /) -> Array:
    return matmul_operator(self, other)


def _rmatmul(self: Array, other: Array, /) -> Array:
    return matmul_operator(other, self)


def _imatmul(self: Array, other: Array, /) -> Array:
    return inplace_matmul(self, other)


for _function in (_divmod, _rdivmod, _matmul, _rmatmul, _imatmul):
    _operator(_function.__name__[1:], _function)


# ---------------------------------------------------------------------- Python


def _conversion(kind: Any) -> None:
    @method(f"__{kind.__name__}__")
    def convert(self: Array) -> Any:
        return kind(item(self, kind))


for _kind in (bool, int, float, complex):
    _conversion(_kind)


@method("__round__")
def _python_rounded(self: Array, ndigits: int | None) -> Array | int:
    if ndigits is None and self.ndim == 0:
        number: int = round(self.item())
        return number
    return _rounded(self, 0 if ndigits is None else ndigits)


@method("__len__")
def _len(self: Array) -> int:
    return len(indexing.rows(self))


@method("__contains__")
def _contains(self: Array, value: Foreign) -> bool:
    return bool(utility.any(elementwise.equal(self, value)))


@method("__copy__")
def _copied(self: Array) -> Array:
    return data_type.copy_array(self)


@method("__deepcopy__")
def _deepcopied(self: Array, memo: object) -> Array:
    return data_type.copy_array(self)


# ---------------------------------------------------------------------- protocols


@method("__array_namespace__", with_native)
def _namespace(self: Array, *, api_version: str | None) -> ModuleType:
    return inspection.namespace(api_version)


@method("__array__", with_native)
def _array(self: Array, dtype: DType | None, copy: bool | None) -> NDArray:
    return interop.to_numpy(self, dtype, copy)


@method("__array_ufunc__", with_native)
def _array_ufunc(
    self: Array, ufunc: Foreign, method: str, *inputs: Foreign, **options: Foreign
) -> Foreign:
    return ufuncs.array_ufunc(ufunc, method, inputs, options)


@method("__array_function__")
def _array_function(
    self: Array, function: Foreign, types: Foreign, args: Foreign, named: Foreign
) -> Foreign:
    return numpy_functions.array_function(function, types, args, named)


@method("__dlpack_device__", with_native)
def _dlpack_device(self: Array) -> tuple[int, int]:
    return self._device.backend.dlpack_device()


# ---------------------------------------------------------------------- indexing


@method("__getitem__")
def _getitem(self: Array, key: Index, /) -> Array:
    if type(key) is Array:
        return getitem(self, key)
    device = self._device
    backend = device.backend
    handle = self._handle
    # A key together with a shape always makes the same selection.
    try:
        selection = selections[hashable_key(key), backend.shape(handle)]
    except KeyError:
        return getitem(self, key)
    return wrap(backend.slice(handle, selection), self._dtype, device)


@method("__setitem__")
def _setitem(self: Array, key: Index, value: Array | PythonScalar, /) -> None:
    setitem(self, key, value)


@method("fill")
def _fill(self: Array, value: Array | PythonScalar) -> None:
    self[...] = value


@method("item")
def _item(self: Array, *args: Foreign) -> Foreign:
    shape = self.shape
    size = prod(shape)
    if not args:
        if size != 1:
            raise ValueError(
                f"item() takes an array with one element, not shape {shape}; "
                "give a position, as in x.item(0)"
            )
        return item(self, object)
    if len(args) == 1 and isinstance(args[0], Sequence):
        args = tuple(args[0])
    index = [as_int(each, "position") for each in args]
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
    return item(self[tuple(index)], object)


# ---------------------------------------------------------------------- dtypes and layouts


def _check_order(name: str, order: str, known: str) -> None:
    """ValueError unless `order` is one of the letters `known`, which mean row-major here."""
    if order not in tuple(known):
        raise ValueError(f"{name} is row-major, not order={order!r}; permute the axes first")


@method("astype")
def _astype(
    self: Array, dtype: DTypeLike, order: str, casting: str, subok: bool, copy: bool
) -> Array:
    if order != "K":
        _check_order("astype", order, "KAC")
    if casting != "unsafe":
        _check_casting(self._dtype, dtype, casting)
    return data_type.astype(self, dtype, copy=copy)


def _check_casting(from_: DType, to: object, casting: str) -> None:
    """TypeError unless NumPy's rule `casting` allows a conversion; ValueError if it is no rule."""
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


@method("copy", with_native)
def _copy(self: Array, order: str) -> Array:
    _check_order("copy", order, "KAC")
    return data_type.copy_array(self)


@method("flatten")
def _flatten(self: Array, order: str) -> Array:
    _check_order("flatten", order, "C")
    return manipulation.reshape(self, (-1,), copy=True)


@method("ravel")
def _ravel(self: Array, order: str) -> Array:
    _check_order("ravel", order, "C")
    return manipulation.reshape(self, (-1,))


@method("reshape")
def _reshape(self: Array, *shape: Foreign, order: str, copy: bool | None) -> Array:
    _check_order("reshape", order, "C")
    return manipulation.reshape(self, shape[0] if len(shape) == 1 else shape, copy=copy)


@method("squeeze", with_advice)
def _squeeze(self: Array, axis: Axes) -> Array:
    if axis is None:
        axis = tuple([i for i, size in enumerate(self.shape) if size == 1])
    return manipulation.squeeze(self, axis)


@method("transpose")
def _transpose(self: Array, *axes: Foreign) -> Array:
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    return manipulation.permute_dims(self, order) if order else self.T


@method("tobytes")
def _tobytes(self: Array, order: str) -> bytes:
    _check_order("tobytes", order, "CF")
    return interop.to_numpy(self).tobytes("F" if order == "F" else "C")


@method("tolist")
def _tolist(self: Array) -> Foreign:
    if hints.watched:
        interop.reading(self, "list", "python")
    return self._device.backend.to_host(self._handle).tolist()


# ---------------------------------------------------------------------- parts of complex numbers


def _part(x: Array, which: int) -> Array:
    """The real (0) or imaginary (1) parts of a complex array, in the same memory."""
    backend = x._device.backend
    dtype = p.REAL.results[x._dtype]
    whole = tuple([(0, size, 1) for size in backend.shape(x._handle)])
    # An axis of one complex number is contiguous, whatever the layout of the others.
    pairs = backend.bitcast(backend.slice(x._handle, (*whole, None)), dtype)
    return wrap(backend.slice(pairs, (*whole, which)), dtype, x._device)


def _real(self: Array) -> Array:
    return _part(self, 0) if self._dtype in d.COMPLEX else self


def _imag(self: Array) -> Array:
    if self._dtype in d.COMPLEX:
        return _part(self, 1)
    return manipulation.broadcast_to(zeros((), dtype=self._dtype, device=self._device), self.shape)


def _set_real(self: Array, value: Array | PythonScalar) -> None:
    if self._dtype in d.COMPLEX:
        _set_part(self, 0, value)
    else:
        setitem(self, ..., value)


def _set_imag(self: Array, value: Array | PythonScalar) -> None:
    if self._dtype not in d.COMPLEX:
        raise TypeError(
            f"elements of {self._dtype} have no imaginary parts to write to; convert the array "
            "with astype to a complex dtype first"
        )
    _set_part(self, 1, value)


def _set_part(x: Array, which: int, value: Array | PythonScalar) -> None:
    # By way of copies, which works on every device, and puts nothing together by arithmetic: in
    # that, an infinite part would make the other one NaN.
    parts = [elementwise.real(x), elementwise.imag(x)]
    setitem(parts[which], ..., value)
    setitem(x, ..., _of_parts(parts, x._dtype))


def _of_parts(parts: list[Array], dtype: DType) -> Array:
    """The complex numbers of a dtype with given real and imaginary parts."""
    pairs = data_type.view_as(joining.stack(parts, axis=-1), dtype)
    return getitem(pairs, (..., 0))


attribute("real", _real, _set_real)
attribute("imag", _imag, _set_imag)


@method("conj")
def _conj(self: Array) -> Array:
    return elementwise.conj(self) if self._dtype in d.COMPLEX else self


# ---------------------------------------------------------------------- rounding


@method("round")
def _round(self: Array, decimals: int, out: Foreign) -> Array:
    return written("round", out, _rounded(self, decimals))


def _rounded(x: Array, decimals: object) -> Array:
    places = as_int(decimals, "decimals")
    if places == 0 or x._dtype is d.bool or (places > 0 and x._dtype in d.INTEGRAL):
        return unary(p.ROUND, x)  # which refuses bool
    if x._dtype in d.INTEGRAL:
        # As NumPy does, in float64; beyond 2**53 this loses digits.
        return cast(_rounded(cast(x, x._device.real), places), x._dtype)
    if x._dtype in d.COMPLEX:
        return _of_parts([_rounded(_real(x), places), _rounded(_imag(x), places)], x._dtype)
    # The power is taken of the number of places without its sign, so that it is exact.
    power = 10.0 ** abs(places) if abs(places) <= _MOST_PLACES else inf
    first, second = (p.MULTIPLY, p.DIVIDE) if places > 0 else (p.DIVIDE, p.MULTIPLY)
    return binary(second, unary(p.ROUND, binary(first, x, power)), power)


_MOST_PLACES: Final = 308  # of a float64


if native is not None:
    # C asks these where it does not answer itself.
    native.complete_array(MEANINGS)
exchange.offer()
