"""NumPy's ufuncs on arrays of the face, with their methods."""

from __future__ import annotations

from functools import update_wrapper
from typing import Any, Final

import numpy

from ..core import dtypes as d
from ..frontend.array import Array
from ..frontend.ufuncs import apply_ufunc
from ..primitives import table as p
from .adoption import by_numpy, scalar, standards
from .arrays import ndarray
from .fronts import fronted
from .functions import REFUSALS

__all__ = ["UfuncType", "apply", "ufunc", "ufunc_of"]

_PRIMITIVES: Final = {
    numpys: op
    for op in p.of_family("unary", "binary")
    if isinstance(numpys := getattr(numpy, op.numpy, None), numpy.ufunc)
}

_METHODS: Final = ("accumulate", "at", "outer", "reduce", "reduceat")
_FACTS: Final = ("identity", "nargs", "nin", "nout", "ntypes", "signature", "types")


class UfuncType(type):
    """The class of `ufunc`: callables of the face, and NumPy's own ufuncs, are instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(getattr(instance, "__wrapped__", instance), numpy.ufunc)


class ufunc(metaclass=UfuncType):
    """A function of NumPy that works element by element: see `numpy.ufunc`."""


_NARROW: Final = frozenset([x for x in d.BOOL_LIKE if d.bits(x) < 32])


def _is_half(numpys: numpy.ufunc, operands: tuple[Any, ...]) -> bool:
    """Whether NumPy computes in half or single precision, as the standard's functions do not: of
    narrow integers, where it has no loop for integers."""
    for x in operands:
        if getattr(x, "dtype", None) not in _NARROW:
            return False
    return not any([types.startswith("b" * numpys.nin) for types in numpys.types])


def apply(numpys: numpy.ufunc, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """``numpys(*args, **named)``: by a loop of ours if all operands are, else by NumPy."""
    if not named and len(args) == numpys.nin and not _is_half(numpys, args):
        for x in args:
            if type(x) is ndarray or type(x) is Array:
                try:
                    return scalar(apply_ufunc(numpys, *standards(args)))
                except REFUSALS:
                    break
    return by_numpy(numpys, *args, **named)


def ufunc_of(numpys: numpy.ufunc) -> Any:
    """The face's function for a ufunc of NumPy."""

    def call(*args: Any, **named: Any) -> Any:
        return apply(numpys, args, named)

    op = _PRIMITIVES.get(numpys)
    row = None if op is None else (op.name, "x1, x2, /" if numpys.nin == 2 else "x, /", True)
    function: Any = fronted(call, numpys, row, is_small_only=True)
    for name in ("__name__", "__doc__", "__module__"):
        setattr(function, name, getattr(numpys, name))
    function.__qualname__ = numpys.__name__
    function.__module__ = "array_api_nx.numpy"
    function.__wrapped__ = numpys
    for name in _FACTS:
        setattr(function, name, getattr(numpys, name))
    for name in (*_METHODS, "resolve_dtypes"):
        method = getattr(numpys, name)
        setattr(function, name, _method(numpys, method) if name in _METHODS else method)
    return function


def _method(numpys: numpy.ufunc, method: Any) -> Any:
    def by_numpys(*args: Any, **named: Any) -> Any:
        return by_numpy(method, *args, **named)

    def outer(a: Any, b: Any, /, **named: Any) -> Any:
        if type(a) is ndarray and type(b) is ndarray:
            a = a.reshape((*a.shape, *(1,) * b.ndim))
            return apply(numpys, (a, b), named)
        return by_numpy(method, a, b, **named)

    def reduce(array: Any, *args: Any, **named: Any) -> Any:
        if type(array) is ndarray:
            try:
                return scalar(method(standards(array), *args, **named))
            except REFUSALS:
                pass
        return by_numpy(method, array, *args, **named)

    chosen: Any = {"outer": outer, "reduce": reduce}.get(method.__name__, by_numpys)
    call: Any = update_wrapper(chosen, method, assigned=("__name__", "__doc__"))
    return fronted(call, method, is_small_only=chosen is not by_numpys)
