"""SciPy's ufuncs by name. SciPy is imported when the first one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import unwrap
from typing import Final, cast

import numpy as np

from ..frontend.array import Array
from ..frontend.operands import ArrayOrScalar
from ..frontend.row_functions import presented
from ..frontend.ufuncs import apply_ufunc
from ..native import with_advice
from ..primitives.special_row import SpecialFunction, docstring

compute: Final = cast("Callable[..., Array]", apply_ufunc)
"""``compute(ufunc, *operands)``: `apply_ufunc` for ufuncs with one output."""


def ufunc(name: str, operands: int) -> np.ufunc:
    """The ufunc that the function `name` of ``scipy.special`` calls for as many operands.

    ImportError: If SciPy is not installed.
    """
    try:
        special = import_module("scipy.special")
    except ImportError as error:
        raise ImportError(
            f"special.{name} is computed by SciPy, which cannot be imported ({error}); install it "
            "with: pip install scipy",
            name="scipy",
        ) from error
    # With SCIPY_ARRAY_API in the environment a function that looks at its arguments is in front.
    function = unwrap(getattr(special, name))
    if isinstance(function, np.ufunc):
        return function
    found: np.ufunc = function(*[_Asking()] * operands)
    return found


class _Asking:
    """An operand that a ufunc answers with itself."""

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *operands: object, **options: object
    ) -> np.ufunc:
        return ufunc


class _Ufuncs(dict[str, np.ufunc]):
    """What `ufunc` finds for so many operands, by the function's name; looked for once."""

    def __init__(self, operands: int) -> None:
        self._operands = operands

    def __missing__(self, name: str) -> np.ufunc:
        found = self[name] = ufunc(name, self._operands)
        return found


UNARY: Final = _Ufuncs(1)
BINARY: Final = _Ufuncs(2)
TERNARY: Final = _Ufuncs(3)


def special_function(row: SpecialFunction, module: str) -> Callable[..., Array]:
    """The public function that a row describes."""
    name, types = row.name, row.types

    def of_one(x: ArrayOrScalar, /) -> Array:
        return compute(UNARY[name], x)

    def of_two(x1: ArrayOrScalar, x2: ArrayOrScalar, /) -> Array:
        return compute(BINARY[name], x1, x2)

    def of_three(x1: ArrayOrScalar, x2: ArrayOrScalar, x3: ArrayOrScalar, /) -> Array:
        return compute(TERNARY[name], x1, x2, x3)

    function: Callable[..., Array] = (of_one, of_two, of_three)[len(types) - 1]
    return with_advice(presented(function, module, name, docstring(row), types))
