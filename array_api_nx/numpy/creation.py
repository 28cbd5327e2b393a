"""New arrays of the face, under NumPy's names and with its parameters."""

from __future__ import annotations

from typing import Any

import numpy

from .adoption import by_numpy
from .arrays import ndarray

__all__ = ["asarray"]


def _on(array: Any, device: Any) -> Any:
    if device is None or type(array) is not ndarray:
        return array
    return array.to_device(device)


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
