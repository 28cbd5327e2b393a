"""Arrays of ours from NumPy's, and against them."""

from typing import Any

import numpy as np

import array_api_nx as xp
from array_api_nx.contract.numpy_dtypes import NDArray

__all__ = [
    "Capsule", "DLPackAlone", "InterfaceAlone", "address", "as_nx", "assert_array", "assert_close",
    "normal", "normal_numbers", "read_only", "shares", "standardise", "whole",
]  # fmt: skip

_rng = np.random.default_rng(5)


class Capsule:
    """A capsule as an object with ``__dlpack__``."""

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: object) -> object:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class DLPackAlone:
    """An array of a library that knows DLPack alone."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> object:
        return self.array.__dlpack_device__()


class InterfaceAlone:
    """An object with NumPy's description of its memory, and nothing else."""

    def __init__(self, array: NDArray) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


def as_nx(array: object, dtype: str | None = None) -> xp.Array:
    """An array with memory of its own."""
    return xp.asarray(np.array(array, dtype=dtype), copy=True)


def assert_array(x: Any, expected: object) -> None:
    """`x` is an array of ours with this dtype and shape, and these elements."""
    expected = np.asarray(expected)
    assert type(x) is xp.Array
    assert (x.shape, str(x.dtype)) == (expected.shape, expected.dtype.name)
    np.testing.assert_array_equal(np.asarray(x), expected)


def assert_close(result: xp.Array, expected: NDArray, *, single: float, double: float) -> None:
    """`result` has this dtype and shape, and numbers as near as is said for the precision."""
    assert (str(result.dtype), result.shape) == (expected.dtype.name, expected.shape)
    tolerance = single if expected.dtype.name in ("float32", "complex64") else double
    np.testing.assert_allclose(np.asarray(result), expected, tolerance, tolerance)


def normal_numbers(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> NDArray:
    """Numbers of the normal distribution, always the same of a shape and a seed."""
    rng = np.random.default_rng([seed, *shape])
    values = rng.standard_normal(shape)
    if "complex" in dtype:
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def normal(*shape: int) -> xp.Array:
    """Numbers of the normal distribution, others at each call."""
    return xp.asarray(_rng.standard_normal(shape))


def standardise(x: xp.Array) -> xp.Array:
    return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)


def whole(dtype: str = "float64") -> NDArray:
    return np.arange(12).reshape(3, 4).astype(dtype)


def read_only() -> NDArray:
    array = whole()
    array.flags.writeable = False
    return array


def shares(x: object, y: object) -> bool:
    return np.shares_memory(np.asarray(x), np.asarray(y))


def address(array: NDArray) -> int:
    """Where in memory the first element is."""
    found: int = array.__array_interface__["data"][0]
    return found
