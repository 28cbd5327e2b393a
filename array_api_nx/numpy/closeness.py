"""Whether arrays are equal or close, for the arguments that programs mostly give.

NumPy's code for these functions makes arrays of all arguments and looks up dtypes, which takes many
times as long as the comparisons of small arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, Final

import numpy

from .arrays import ndarray
from .ufuncs import ufunc_of

_less_equal: Final = ufunc_of(numpy.less_equal)
_isfinite: Final = ufunc_of(numpy.isfinite)


def _is_inexact(x: Any) -> bool:
    return type(x) is ndarray and x.dtype.kind in "fc"


def _is_tolerance(x: Any) -> bool:
    return type(x) is float and isfinite(x)


_TOLERANCES: Final = frozenset(["rtol", "atol"])


def _are_close(*args: Any, **named: Any) -> Any:
    """`numpy.isclose` of an array of floating or complex numbers and another one or a float, with
    finite tolerances; None for other arguments."""
    has_two = len(args) == 2 and named.keys() <= _TOLERANCES
    return _compare(*args, **named) if has_two or (2 < len(args) < 5 and not named) else None


def _compare(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    is_number = type(b) is float
    is_known = _is_inexact(a) and (is_number or _is_inexact(b))
    if not (is_known and _is_tolerance(rtol) and _is_tolerance(atol)):
        return None
    with numpy.errstate(invalid="ignore"):
        is_finite = isfinite(b) if is_number else _isfinite(b)
        return _less_equal(abs(a - b), atol + rtol * abs(b)) & is_finite | (a == b)


def _are_all_close(*args: Any, **named: Any) -> Any:
    """`numpy.allclose` of such arguments; None for others."""
    close = _are_close(*args, **named)
    return None if close is None else bool(close.all())


def _are_equal(*args: Any, **named: Any) -> Any:
    """`numpy.array_equal` of two arrays of the face; None for other arguments."""
    if named or len(args) != 2 or not type(args[0]) is type(args[1]) is ndarray:
        return None
    if args[0].shape != args[1].shape:
        return False
    equal: Any = args[0] == args[1]
    return bool(equal.all())


QUICK: Final = {"allclose": _are_all_close, "array_equal": _are_equal, "isclose": _are_close}
"""What computes a function of NumPy's for some arguments, and gives None for others."""


def quickly(compute: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls `compute`, one of `QUICK`, and where that gives None `otherwise`."""

    def call(*args: Any, **named: Any) -> Any:
        found = compute(*args, **named)
        return otherwise(*args, **named) if found is None else found

    return call
