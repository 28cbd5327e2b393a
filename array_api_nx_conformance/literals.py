"""Writes arrays and the values that go with them as Python source."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from .dtypes import ALL

Value: TypeAlias = Any  # of whatever namespace

_LARGEST = 256  # elements of an array that are written out


class UnprintableError(Exception):
    """A value cannot be written as source."""


class Namespace:
    """A namespace whose arrays and dtypes are to be written; the source calls it ``xp``."""

    def __init__(self, namespace: object) -> None:
        self._dtypes = [
            (name, getattr(namespace, name)) for name in ALL if hasattr(namespace, name)
        ]

    def literal(self, value: Value) -> str:
        """The source of `value`.

        Raises
        ------
        UnprintableError
            If there is none, or it would be too long.
        """
        if hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, type):
            return self._array(value)
        if value is ... or value is None or isinstance(value, bool | str):
            return "..." if value is ... else repr(value)
        if isinstance(value, int | float | complex):
            return scalar(value)
        if isinstance(value, slice):
            bounds = (value.start, value.stop, value.step)
            return f"slice({', '.join(self.literal(bound) for bound in bounds)})"
        if isinstance(value, tuple):
            parts = tuple(self.literal(part) for part in value)
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if isinstance(value, list):
            return f"[{', '.join(self.literal(part) for part in value)}]"
        if isinstance(value, dict):
            items = [f"{self.literal(k)}: {self.literal(v)}" for k, v in value.items()]
            return f"{{{', '.join(items)}}}"
        if value in (bool, int, float, complex) and not self._is_dtype(value):
            return str(value.__name__)
        return f"xp.{self._dtype(value)}"

    def _is_dtype(self, value: object) -> bool:
        return any(value is dtype for _, dtype in self._dtypes)

    def _dtype(self, value: object) -> str:
        # Identity first: == of some dtypes takes anything that can be made into one.
        for name, dtype in self._dtypes:
            if value is dtype:
                return name
        for name, dtype in self._dtypes:
            if type(value).__name__ != "function" and value == dtype:
                return name
        raise UnprintableError(f"{type(value).__name__} is not a dtype of the namespace")

    def _array(self, array: Value) -> str:
        dtype = self._dtype(array.dtype)
        shape = tuple(int(size) for size in array.shape)
        if 0 in shape:
            return f"xp.zeros({shape}, dtype=xp.{dtype})"
        if math.prod(shape) > _LARGEST:
            raise UnprintableError(f"an array of shape {shape} is too long")
        convert = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[dtype[0]]
        return f"xp.asarray({_nested(array, shape, (), convert)}, dtype=xp.{dtype})"


def _nested(
    array: Value,
    shape: tuple[int, ...],
    index: tuple[int, ...],
    convert: Callable[[Value], complex],
) -> str:
    if len(index) == len(shape):
        return scalar(convert(array[index] if index else array))
    parts = [_nested(array, shape, (*index, i), convert) for i in range(shape[len(index)])]
    return f"[{', '.join(parts)}]"


def scalar(value: complex) -> str:
    """The source of a Python scalar; nan, infinities and the sign of zeros included."""
    if isinstance(value, bool | int):
        return repr(value)
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else f'float("{value}")'
    return f"complex({scalar(value.real)}, {scalar(value.imag)})"
