"""NumPy's ufuncs on arrays of the face, with their methods."""

from __future__ import annotations

from functools import partial, update_wrapper
from inspect import unwrap
from typing import Any, Final

import numpy

from ..frontend.ufuncs import apply_ufunc
from .adoption import as_standards, by_numpy, scalar
from .arrays import ndarray
from .differences import PRIMITIVES
from .fronts import fronted
from .functions import REFUSALS, is_ours, like, named
from .thresholds import most_for_numpy


def has_loops(numpys: Any) -> bool:
    """Whether a ufunc is computed by loops of ours."""
    return numpys in PRIMITIVES or numpys is numpy.matmul


_METHODS: Final = ("accumulate", "at", "outer", "reduce", "reduceat")
_IN_C: Final = {
    **dict.fromkeys(
        [f"{name}.accumulate" for name in ("add", "multiply", "maximum", "minimum")],
        "array, axis=, dtype=",
    ),
    **dict.fromkeys(
        [f"{name}.reduce" for name in ("add", "maximum", "minimum", "logical_and", "logical_or")],
        "array, axis=, dtype=, *, keepdims=",
    ),
}
"""Methods that C computes, with their parameters."""


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
    has_operands = not options and len(args) == numpys.nin
    if has_operands and is_ours(numpys.__name__, args, options, broadcasts=True):
        try:
            found = apply_ufunc(numpys, *as_standards(args))
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

    # Pickles find it by these names.
    call.__qualname__, call.__module__ = numpys.__name__, "array_api_nx.numpy"
    op = PRIMITIVES.get(numpys)
    row = None if op is None else (op.name, "x1, x2, /" if numpys.nin == 2 else "x, /", True)
    if numpys is numpy.matmul:
        row = "matmul", "x1, x2, /", True
    name = numpys.__name__
    front = fronted(like(numpys, call), numpys, row, name=name, most=most_for_numpy(name))
    function: Any = named(front, "")
    for member in dir(numpys):
        if member[:2] != "__" or member == "__signature__":
            value = getattr(numpys, member)
            setattr(function, member, _method(function, value) if member in _METHODS else value)
    return function


def _method(function: Any, method: Any) -> Any:
    """A method of a ufunc, which is `function` in the face."""

    name = f"{function.__name__}.{method.__name__}"
    row = (name, _IN_C[name], method.__name__ == "reduce") if name in _IN_C else None
    by_numpys = fronted(partial(by_numpy, method), method, row, name=name)

    def outer(a: Any, b: Any, /, **named: Any) -> Any:
        # Few elements may give many, which NumPy is not to compute.
        if type(a) is ndarray and type(b) is ndarray and not named:
            return function(a.reshape((*a.shape, *(1,) * b.ndim)), b)
        return by_numpys(a, b, **named)

    def reduce(array: Any, *args: Any, **named: Any) -> Any:
        if type(array) is ndarray and is_ours(name, (array,), named):
            try:
                return scalar(method(as_standards(array), *args, **named))
            except REFUSALS:
                pass
        return by_numpy(method, array, *args, **named)

    chosen: Any = {"outer": outer, "reduce": reduce}.get(method.__name__, by_numpys)
    call: Any = update_wrapper(chosen, method, assigned=("__name__", "__doc__"))
    call.__qualname__ = name
    call.__module__ = function.__module__
    if chosen is reduce:
        return fronted(call, method, row, name=name, most=most_for_numpy(name))
    return call
