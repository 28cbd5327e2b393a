"""Whether a call gave on the namespace what it gives on NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

from .consumers import BECAME

Namespace: TypeAlias = Any
Value: TypeAlias = Any  # what calls give: an array of any namespace, a dtype, a number, or a tuple
Call: TypeAlias = Callable[[Namespace], Value]


def agree(actual: Value, expected: Value, xp: Namespace) -> None:
    """Assert that two results are of the same kind, and arrays alike but for the namespace.

    Parameters
    ----------
    actual : array, dtype, number, None or tuple of these
        What the call gave on the namespace. Arrays have to be the namespace's, and on its default
        device.
    expected : array, dtype, number, None or tuple of these
        What it gave on NumPy. Dtypes and shapes have to be the same, values up to rounding.
    xp : module
        The namespace.
    """
    if isinstance(expected, tuple | list):
        assert isinstance(actual, tuple | list), f"{type(actual).__qualname__} is no tuple"
        assert len(actual) == len(expected), f"{len(actual)} in place of {len(expected)}"
        for one, other in zip(actual, expected, strict=True):
            agree(one, other, xp)
    elif isinstance(expected, np.ndarray | np.generic):
        ours = xp.asarray(0)
        assert is_array_api_obj(actual), f"{BECAME} {_name(type(actual))}"
        assert array_namespace(actual) == array_namespace(ours), f"{BECAME} {_name(type(actual))}"
        assert device(actual) == device(ours), f"moved to {device(actual)}"
        assert actual.shape == expected.shape, f"shape {actual.shape}, not {expected.shape}"
        found, wanted = dtype_name(actual.dtype), dtype_name(expected.dtype)
        assert found == wanted, f"dtype {found}, not {wanted}"
        values: Value = np.asarray(expected)
        np.testing.assert_allclose(np.asarray(actual), values, rtol=1e-12, atol=1e-14)
    elif isinstance(expected, float):
        assert isinstance(actual, float), f"{_name(type(actual))} is no float"
        np.testing.assert_allclose(actual, expected, rtol=1e-12)
    elif expected is None or isinstance(expected, int):
        assert actual == expected, f"{actual!r}, not {expected!r}"
    else:
        assert dtype_name(actual) == dtype_name(expected), f"{actual!r}, not {expected!r}"


def dtype_name(dtype: Value) -> str:
    """The standard's name of a dtype."""
    if isinstance(dtype, np.dtype) or (isinstance(dtype, type) and issubclass(dtype, np.generic)):
        return np.dtype(dtype).name
    return str(dtype).rpartition(".")[2]


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
