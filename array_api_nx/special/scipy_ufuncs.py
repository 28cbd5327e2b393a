"""SciPy's ufuncs by name. SciPy is imported when the first one is asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import unwrap

import numpy as np

from ..frontend.array import Array
from ..frontend.dispatch import ArrayOrScalar
from ..frontend.ufuncs import apply_ufunc

__all__ = ["compute", "ufunc"]


def compute(name: str, *operands: ArrayOrScalar) -> Array:
    """The function `name` of ``scipy.special``, element by element on arrays of any device."""
    result = apply_ufunc(ufunc(name, len(operands)), *operands)
    assert type(result) is Array
    return result


@cache
def ufunc(name: str, operands: int) -> np.ufunc:
    """The ufunc that the function `name` of ``scipy.special`` calls for as many operands.

    Raises
    ------
    ImportError
        If SciPy is not installed.
    """
    try:
        special = import_module("scipy.special")
    except ImportError as error:
        raise ImportError(
            f"special.{name} is computed by SciPy, which cannot be imported ({error}); install it "
            "with pip install scipy",
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
