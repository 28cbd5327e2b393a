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


def _find_close(*args: Any, **named: Any) -> Any:
    """Which elements are close, of an array of floating or complex numbers and another one or a
    float, with finite tolerances; None for other arguments."""
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


def quick_isclose(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """`numpy.isclose`, which `otherwise` computes where `_find_close` does not."""

    def isclose(*args: Any, **named: Any) -> Any:
        found = _find_close(*args, **named)
        return otherwise(*args, **named) if found is None else found

    return isclose


def quick_allclose(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """`numpy.allclose`, which `otherwise` computes where `_find_close` does not."""

    def allclose(*args: Any, **named: Any) -> Any:
        found = _find_close(*args, **named)
        return otherwise(*args, **named) if found is None else bool(found.all())

    return allclose


def quick_array_equal(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """`numpy.array_equal`, which `otherwise` computes unless both arguments are of the face."""

    def array_equal(*args: Any, **named: Any) -> Any:
        if named or len(args) != 2 or not type(args[0]) is type(args[1]) is ndarray:
            return otherwise(*args, **named)
        if args[0].shape != args[1].shape:
            return False
        equal: Any = args[0] == args[1]
        return bool(equal.all())

    return array_equal


QUICK: Final = {
    "allclose": quick_allclose,
    "array_equal": quick_array_equal,
    "isclose": quick_isclose,
}
"""What puts a function in front of another one, by NumPy's name."""
