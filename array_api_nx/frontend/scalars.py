"""Python numbers as values of a dtype: what they are, and errors for those that do not fit."""

from __future__ import annotations

from typing import Any, Final, NoReturn, TypeAlias, TypeGuard

import numpy as np

from ..core import dtypes as d
from ..core.dtypes import BOUNDS, CANONICAL, SCALAR_PROMOTION, DType
from ..core.real import Real
from ..core.symbolic import Dim
from .annotations import PythonScalar

Element: TypeAlias = Any
"""A Python scalar, whose type the dtype of its array decides."""

SCALARS: Final = frozenset({bool, int, float, complex})

SYMBOLIC: Final[dict[type, type]] = {Dim: int, Real: float}


def scalar_type(x: object) -> type | None:
    """The Python type bool, int, float or complex that `x` is a (possibly derived) scalar of.

    Symbolic dimensions are ints, and real numbers made of them floats.
    """
    kind = type(x)
    if kind in SCALARS:
        return kind
    if isinstance(x, np.generic):
        return None
    if kind in SYMBOLIC:
        return SYMBOLIC[kind]
    for scalar in (bool, int, float, complex):
        if isinstance(x, scalar):
            return scalar
    return None


def check_scalar(x: object, dtype: DType) -> PythonScalar:
    """`x` as a value of `dtype`.

    TypeError: If its kind exceeds that of the dtype.
    OverflowError: If it is an int outside the dtype's bounds.
    """
    kind = scalar_type(x)
    if isinstance(x, np.generic | np.ndarray) and x.ndim == 0 and x.dtype in CANONICAL:
        x = x.item()
        kind = type(x)
    if kind is None or SCALAR_PROMOTION[dtype, kind] is not dtype:
        advice = "bool" if dtype is d.bool else "int" if dtype in d.INTEGRAL else "float"
        raise TypeError(
            f"the scalar {x!r} is no value of dtype {dtype}; convert the array with astype, or "
            f"the scalar with {advice}()"
        )
    known: Any = x
    low, high = BOUNDS[dtype]
    if kind is int and not low <= known <= high:
        if dtype in d.FLOATING:
            limit = f" (up to {high})" if high < BOUNDS[d.float64][1] else ""
            raise OverflowError(
                f"a Python int is out of range for dtype {dtype}{limit}; give a float, such as inf"
            )
        wider = holding(int(known), low, high)
        refuse_range(
            int(known),
            dtype,
            f"convert the array with astype to {wider}, or make it with dtype=xp.{wider}",
        )
    scalar: PythonScalar = known
    return scalar


def scalar_value(value: Element, dtype: DType, *others: int | float) -> Element:
    """A Python scalar as a value of `dtype`, for an explicit request of that dtype.

    An integer dtype takes a float without its fraction. The error of one that does
    not hold the value names another, which holds the numbers `others` of the same array as well.

    TypeError: If a complex number would lose its imaginary part.
    OverflowError: If an int is out of range, or infinity is to be one.
    ValueError: If NaN is to be an int.
    """
    if dtype is d.bool:
        return bool(value)
    if type(value) is Dim:
        return check_scalar(value, dtype)
    if type(value) is complex:
        if dtype not in d.COMPLEX:
            raise TypeError(
                f"the complex scalar {value} does not fit dtype {dtype}; take its .real or .imag"
            )
        return value
    if dtype in d.INTEGRAL:
        value = whole(value)
        if is_beyond(value, dtype):
            refuse_range(value, dtype, f"make it with dtype=xp.{holding(value, *others)}")
    return check_scalar(value, dtype)


def whole(value: Element) -> int:
    """int(value), with advice in the errors that Python raises for NaN and infinity."""
    try:
        return int(value)
    except (OverflowError, ValueError) as error:
        raise type(error)(
            f"{value} has no integer value; replace it first, as with where(isfinite(x), x, 0)"
        ) from None


def holding(*values: int | float) -> DType:
    """The first integer dtype that holds all values; float64 if there is none."""
    low, high = min(values), max(values)
    for dtype in d.INTEGRAL:
        least, most = BOUNDS[dtype]
        if least <= low and high <= most:
            return dtype
    return d.float64


def refuse_range(value: int, dtype: DType, advice: str) -> NoReturn:
    """Raise the OverflowError for an int that an integer dtype does not hold."""
    # Python refuses to print the longest ints.
    bits = value.bit_length()
    low, high = BOUNDS[dtype]
    raise OverflowError(
        f"the scalar {value if bits <= 128 else f'of {bits} bits'} is out of range for dtype "
        f"{dtype} ({low} to {high}); {advice}"
    )


def is_beyond(x: object, dtype: DType) -> TypeGuard[int]:
    """Whether `x` is a Python int, and `dtype` an integer dtype that does not hold it."""
    known: Any = x
    low, high = BOUNDS[dtype]
    return scalar_type(x) is int and dtype in d.INTEGRAL and not low <= known <= high
