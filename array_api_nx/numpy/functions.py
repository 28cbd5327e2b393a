"""NumPy's functions on arrays of the face: those of this package first, else NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Final

from ..frontend.inspection import namespace
from ..frontend.numpy_functions import known_functions
from .adoption import by_numpy, raised, scalar, standards
from .arrays import ndarray
from .fronts import FUNCTIONS, fronted

__all__ = ["REFUSALS", "function_of"]

REFUSALS: Final = (TypeError, ValueError, IndexError, OverflowError, AttributeError)
"""What our functions raise for arguments that NumPy may take: then NumPy computes, or raises."""

_ARRAYS_WITHOUT_AXES: Final = """
astype atleast_1d atleast_2d atleast_3d broadcast_to empty_like expand_dims flip full_like imag
matrix_transpose meshgrid moveaxis ones_like pad permute_dims ravel real repeat reshape roll squeeze
stack swapaxes tensordot tile transpose tril triu where zeros_like
"""
"""Functions whose results without axes are arrays; those of others are scalars."""


_NUMPYS: Final = "argpartition argsort partition"
"""Functions that NumPy computes in any case: ours give another order where NumPy's is not stable,
which is faster."""


def _has_ours(x: Any) -> bool:
    kind = type(x)
    return kind is ndarray or (
        (kind is tuple or kind is list) and any([_has_ours(each) for each in x])
    )


def function_of(numpys: Callable[..., Any], path: str = "") -> Callable[..., Any]:
    """The face's function for one of NumPy's, whose path there is `path`."""
    name, own = known_functions().get(numpys, ("", None))
    if name in _NUMPYS.split():
        own = None
    function = _by_numpy_alone(numpys) if own is None else _by_ours(numpys, name, own)
    return fronted(function, numpys, FUNCTIONS.get(path), is_small_only=own is not None)


def _by_numpy_alone(numpys: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        return by_numpy(numpys, *args, **named)

    return _named(call, numpys)


def _by_ours(numpys: Callable[..., Any], name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    convert = raised if name in _ARRAYS_WITHOUT_AXES.split() else scalar
    xp = namespace(None)

    def call(*args: Any, **named: Any) -> Any:
        for x in args:
            if _has_ours(x) and named.get("out") is None:
                try:
                    found = own(xp, *standards(args), **standards(named))
                except REFUSALS:
                    break
                return convert(found)
        return by_numpy(numpys, *args, **named)

    return _named(call, numpys)


def _named(call: Callable[..., Any], numpys: Callable[..., Any]) -> Callable[..., Any]:
    update_wrapper(call, numpys)
    call.__module__ = "array_api_nx.numpy"
    return call
