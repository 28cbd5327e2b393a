"""Arrays in several layouts, and calls with them that C and Python answer alike."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import array_api_nx as xp
from array_api_nx.frontend.array import Array
from tests.support import implementations
from tests.support.implementations import random_values

__all__ = ["DTYPES", "compare", "layouts"]

DTYPES = [
    *["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    *["float32", "float64", "complex64", "complex128"],
]


def layouts(
    rng: np.random.Generator, dtype: str, shape: tuple[int, ...], kind: int | None = None
) -> Array:
    """An array of that shape in one of several layouts, in memory of C or of NumPy."""
    kind = int(rng.integers(9)) if kind is None else kind
    ndim = len(shape)
    if kind == 0:  # memory of NumPy
        return xp.asarray(random_values(rng, dtype, shape))
    base = list(shape)
    order = tuple(range(ndim))
    key: list[slice[Any, Any, Any]] = [slice(None)] * ndim
    if kind == 2:
        order = order[::-1]
    elif kind == 3 and ndim > 2:
        order = (1, 2, 0, *range(3, ndim))
    elif kind == 4:
        base = [2 * n for n in shape]
        key = [slice(0, 2 * n, 2) for n in shape]
    elif kind == 5 and ndim:
        key[int(rng.integers(ndim))] = slice(None, None, -1)
    elif kind == 6 and ndim:
        base[int(rng.integers(ndim))] += 3
        key = [slice(1, 1 + n) if n != b else slice(None) for n, b in zip(shape, base, strict=True)]
    elif kind == 7:
        thin = tuple([1 if rng.random() < 0.5 else n for n in shape])
        return xp.broadcast_to(xp.asarray(random_values(rng, dtype, thin), copy=True), shape)
    elif kind == 8 and ndim:
        order = order[::-1]
        key = [slice(None, None, -1)] * ndim
    inverse = tuple(np.argsort(order).tolist())
    array = xp.asarray(random_values(rng, dtype, tuple([base[a] for a in order])))
    array = xp.where(xp.ones(array.shape, dtype=xp.bool), array, array)
    return xp.permute_dims(array, inverse)[(*key, ...)]


def compare(call: Callable[..., object], *args: object, **keywords: object) -> None:
    """Assert that C and Python answer a call alike, as `implementations.assert_alike` does."""
    implementations.assert_alike(partial(call, **keywords), list(args), str(keywords))
