"""New arrays of the face, under NumPy's names and with its parameters."""

from __future__ import annotations

from typing import Any

import numpy

from .adoption import by_numpy
from .arrays import ndarray

__all__ = ["array", "asanyarray", "asarray"]


def _on(array: Any, device: Any) -> Any:
    if device is None or type(array) is not ndarray:
        return array
    return array.to_device(device)


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: Any = None,
) -> Any:
    """A new array: see `numpy.array`."""
    return by_numpy(numpy.array, object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)


def asarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: Any = None,
    like: Any = None,
) -> Any:
    """`a` as an array, itself where it is one: see `numpy.asarray`.

    `device` may name any device of array_api_nx.
    """
    found = by_numpy(numpy.asarray, a, dtype, order, copy=copy)
    return _on(found, device)


def asanyarray(a: Any, dtype: Any = None, order: Any = None, **options: Any) -> Any:
    """`a` as an array, or as the subclass of NumPy's ndarray that it is of."""
    return by_numpy(numpy.asanyarray, a, dtype, order, **options)
