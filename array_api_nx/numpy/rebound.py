"""NumPy's functions that are written in Python, run on arrays of the face.

Such a function consists of calls of other functions of NumPy. Here its code runs with the face's
functions in place of those, so that what it computes waits, is fused, and takes all cores, as if
it stood in a program. Where that raises an exception, NumPy computes, or raises its own; but if
functions were given, which may have been called, the exception stays.
"""

from __future__ import annotations

import builtins
import sys
import warnings
from collections.abc import Callable
from inspect import unwrap
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Final, TypeAlias

import numpy

_NAMES: Final = """
allclose apply_over_axes argwhere array_equal array_split average bartlett blackman corrcoef cov
cross digitize extract fft.fftfreq fft.fftshift fft.ifftshift fft.rfftfreq flatnonzero fromfunction
gradient hamming hanning histogram histogram2d histogramdd i0 indices insert intersect1d isclose
kaiser kron linalg.matrix_power linalg.matrix_rank linalg.multi_dot linalg.pinv linalg.qr
linalg.tensorinv linalg.tensorsolve meshgrid pad piecewise polyadd polyfit polysub polyval
rot90 setdiff1d setxor1d sinc sort_complex split trapezoid tri tril_indices tril_indices_from
trim_zeros triu_indices triu_indices_from union1d unwrap
"""
"""The functions that take less time on arrays of the face than on NumPy's."""

REBOUND: Final = frozenset(_NAMES.split())


Faced: TypeAlias = Callable[[str, Any], Any]
"""What gives the face's object for NumPy's object at a path: `names.faced`."""


def rebound(numpys: Callable[..., Any], path: str, faced: Faced) -> Callable[..., Any] | None:
    """One of NumPy's functions with the face's functions in place of NumPy's; None for others."""
    function = unwrap(numpys)
    is_known = path in REBOUND and type(function) is FunctionType
    return _with_faces(function, faced) if is_known else None


_copies: Final[dict[FunctionType, FunctionType]] = {}


def _with_faces(function: FunctionType, faced: Faced) -> FunctionType:
    """A copy of a function of NumPy, for whose code NumPy's names mean the face's objects.

    It is known before it has all names, since functions call themselves. Another thread that calls
    it meanwhile may miss a name, and has NumPy compute.
    """
    copy = _copies.get(function)
    if copy is None:
        given = function.__globals__
        known = vars(builtins) | {"__import__": lambda *args: _faced(__import__(*args), faced)}
        names = {"__builtins__": known, "__name__": given["__name__"]}
        copy = _copies[function] = FunctionType(
            function.__code__, names, function.__name__, function.__defaults__, function.__closure__
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        for name in _names(function.__code__) & {*given}:
            names[name] = _faced(given[name], faced)
    return copy


def _names(code: CodeType) -> set[str]:
    """The names in code, and in the functions that are defined there."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return {*code.co_names}.union(*[_names(each) for each in inner])


class _Warnings:
    """The module ``warnings`` for NumPy's code: a warning comes where a program calls the function,
    not where this package does."""

    def __getattr__(self, name: str) -> Any:
        return getattr(warnings, name)

    def warn(self, message: Any, category: Any = None, stacklevel: int = 1, **options: Any) -> None:
        """See `warnings.warn`."""
        frame: FrameType | None = sys._getframe(stacklevel)
        while frame is not None and frame.f_globals.get("__name__", "").startswith(_OWN):
            frame, stacklevel = frame.f_back, stacklevel + 1
        warnings.warn(message, category, stacklevel + 1, **options)


_OWN: Final = "array_api_nx."
_WARNINGS: Final = _Warnings()


def _faced(value: Any, faced: Faced) -> Any:
    """The face's object for an object that NumPy's code refers to; others as they are."""
    if value is numpy:
        return sys.modules[__package__]
    if value is warnings:
        return _WARNINGS
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    if (module or "").partition(".")[0] != "numpy":
        return value
    if isinstance(value, ModuleType):
        return faced(module.removeprefix("numpy."), value)
    name = getattr(value, "__name__", "")
    path = f"{module}.{name}".removeprefix("numpy.")
    is_public = vars(numpy).get(name) is value or _is_at(path, value)
    function = None if is_public and path not in REBOUND else unwrap(value)
    # One of these functions within another needs no second check of its arguments.
    return _with_faces(function, faced) if type(function) is FunctionType else faced(path, value)


def _is_at(path: str, value: Any) -> bool:
    """Whether NumPy has an object at a path that programs may use, as ``linalg.inv``."""
    module, _, name = path.rpartition(".")
    public = sys.modules.get(f"numpy.{module}") if "._" not in f".{path}" else None
    return getattr(public, name, None) is value
