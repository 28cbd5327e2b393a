"""NumPy's ufuncs on arrays of the face, with their methods."""

from __future__ import annotations

from functools import update_wrapper
from inspect import unwrap
from typing import Any, Final

import numpy

from ..core import dtypes as d
from ..core.dtypes import DType
from ..frontend.ufuncs import apply_ufunc
from ..primitives import table as p
from ..primitives.table import Primitive
from .adoption import by_numpy, scalar, standards
from .arrays import ndarray
from .fronts import fronted
from .functions import REFUSALS, is_ours, like, named

__all__ = ["UfuncType", "apply", "has_loops", "ufunc", "ufunc_of"]

_PRIMITIVES: Final = {
    numpys: op
    for op in p.of_family("unary", "binary")
    if isinstance(numpys := getattr(numpy, op.numpy, None), numpy.ufunc)
}


def _has_other_result(numpys: numpy.ufunc, op: Primitive, dtype: DType) -> bool:
    """Whether our function gives another dtype than NumPy's for operands of a dtype."""
    ours = op.results.get(op.cast_first.get(dtype, dtype))
    try:
        return ours is not numpys.resolve_dtypes((*[dtype] * numpys.nin, None))[-1]
    except TypeError:
        return True


_REFUSED: Final[dict[numpy.ufunc, tuple[DType, ...]]] = {
    **{
        numpys: tuple([dtype for dtype in d.ALL if _has_other_result(numpys, op, dtype)])
        for numpys, op in _PRIMITIVES.items()
    },
    **dict.fromkeys([numpy.matmul, numpy.vecdot], (d.bool,)),
}
"""Dtypes of operands that are left to NumPy: its results have other dtypes than ours, or other
values in the special cases of complex numbers."""

for _ufunc in (numpy.expm1, numpy.log1p, numpy.reciprocal, numpy.sign, numpy.tan, numpy.tanh):
    _REFUSED[_ufunc] += d.COMPLEX


def has_loops(numpys: Any) -> bool:
    """Whether a ufunc is computed by loops of ours."""
    return numpys in _PRIMITIVES or numpys is numpy.matmul


_METHODS: Final = ("accumulate", "at", "outer", "reduce", "reduceat")


class UfuncType(type):
    """The class of `ufunc`: callables of the face, and NumPy's own ufuncs, are instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(unwrap(instance), numpy.ufunc)  # type: ignore[arg-type]

    def __getattr__(cls, name: str) -> Any:
        return getattr(numpy.ufunc, name)


class ufunc(metaclass=UfuncType):
    """A function of NumPy that works element by element: see `numpy.ufunc`."""

    def __new__(cls) -> Any:
        raise TypeError("cannot create 'numpy.ufunc' instances")


def apply(numpys: numpy.ufunc, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """``numpys(*args, **options)``: by a loop of ours if all operands are, else by NumPy."""
    if not options and len(args) == numpys.nin:
        refused = _REFUSED.get(numpys, ())
        # Where C declines these, the standard's results for some elements are others than NumPy's.
        is_odd = numpys is numpy.floor_divide or (
            numpys is numpy.power and type(args[1]) is float and args[1] == 0.5
        )
        if not is_odd and is_ours(args, options, refused, broadcasts=True):
            try:
                found = apply_ufunc(numpys, *standards(args))
            except REFUSALS:
                pass
            else:
                if found is not NotImplemented:
                    return scalar(found)
    return by_numpy(numpys, *args, **options)


def ufunc_of(numpys: numpy.ufunc) -> Any:
    """The face's function for a ufunc of NumPy."""

    def call(*args: Any, **options: Any) -> Any:
        return apply(numpys, args, options)

    # Pickles find it by these.
    call.__qualname__, call.__module__ = numpys.__name__, "array_api_nx.numpy"
    op = _PRIMITIVES.get(numpys)
    row = None if op is None else (op.name, "x1, x2, /" if numpys.nin == 2 else "x, /", True)
    if numpys is numpy.matmul:
        row = "matmul", "x1, x2, /", True
    refused = _REFUSED.get(numpys, ())
    front = fronted(like(numpys, call), numpys, row, is_small_only=True, refused=refused)
    function: Any = named(front, "")
    for name in dir(numpys):
        if name[:2] != "__" or name == "__signature__":
            value = getattr(numpys, name)
            setattr(function, name, _method(function, value) if name in _METHODS else value)
    return function


def _method(function: Any, method: Any) -> Any:
    """A method of a ufunc, which is `function` in the face."""

    def by_numpys(*args: Any, **named: Any) -> Any:
        return by_numpy(method, *args, **named)

    def outer(a: Any, b: Any, /, **named: Any) -> Any:
        if type(a) is ndarray and type(b) is ndarray and not named:
            return function(a.reshape((*a.shape, *(1,) * b.ndim)), b)
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
    call.__qualname__ = f"{function.__name__}.{method.__name__}"
    call.__module__ = function.__module__
    # Few operands may have many results, which are not left to NumPy.
    asked = None if chosen is outer else method
    return fronted(call, asked, is_small_only=chosen is not by_numpys)
