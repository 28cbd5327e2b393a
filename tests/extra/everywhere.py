"""What the tests of functions beyond the standard share: oracles, other devices, traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import array_api_nx as xp
from tests.backends.engines.devices import device
from tests.support.programs import assert_same

__all__ = ["DEVICES", "agree", "assert_same", "in_traces", "on_device", "ours", "random"]

DEVICES = ("torch:cpu", "jax:cpu", "dask")
"""Devices besides the default one; tests on those that are not installed are skipped."""

DTYPES = (
    "bool",
    "int8",
    "int32",
    "uint8",
    "int64",
    "float32",
    "float64",
    "complex64",
    "complex128",
)

_ROUNDING = {"float32": 2e-5, "complex64": 2e-5}


def random(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    """Elements of moderate size, so that integers of eight bits do not always overflow."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if "int" in dtype:
        return rng.integers(0 if dtype[0] == "u" else -6, 7, shape).astype(dtype)
    values = rng.normal(size=shape)
    return (values + 1j * rng.normal(size=shape) if "complex" in dtype else values).astype(dtype)


def ours(argument: Any) -> Any:
    """An argument with NumPy's arrays in it replaced by arrays in memory of their own."""
    if isinstance(argument, np.ndarray):
        return xp.asarray(argument, copy=True)
    if isinstance(argument, list):
        return [ours(each) for each in argument]
    return argument


def agree(actual: Any, expected: Any, hint: object = "", rtol: float | None = None) -> None:
    """Equal shape and dtype, and elements equal to rounding, NaN for NaN; tuples one by one."""
    if isinstance(expected, tuple | list):
        assert len(actual) == len(expected), hint
        for one, other in zip(actual, expected, strict=True):
            agree(one, other, hint, rtol)
        return
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, hint
    rtol = _ROUNDING.get(str(expected.dtype), 1e-11) if rtol is None else rtol
    np.testing.assert_allclose(actual, expected, rtol, atol=rtol, err_msg=str(hint))


def in_traces(call: Callable[..., Any], *arguments: Any) -> None:
    """A function of arrays gives the same when it is compiled, and `eval_shape` foretells it."""
    arrays = [ours(each) for each in arguments]
    expected = call(*arrays)
    agree(xp.compile(call)(*arrays), expected)
    shapes = xp.eval_shape(call, *arrays)
    several = isinstance(expected, tuple)
    for spec, result in zip(
        shapes if several else [shapes], expected if several else [expected], strict=True
    ):
        assert (spec.shape, spec.dtype) == (result.shape, result.dtype)


def on_device(call: Callable[..., Any], name: str, *arguments: Any) -> None:
    """A function of arrays gives the same on another device, and stays there."""
    place = device(name)
    expected = call(*[ours(each) for each in arguments])
    actual = call(*[ours(each).to_device(place) for each in arguments])
    several = isinstance(expected, tuple)
    for one, other in zip(
        actual if several else [actual], expected if several else [expected], strict=True
    ):
        if isinstance(one, xp.Array):
            assert one.device == place
            one = one.to_device("cpu")
        agree(one, other, name)
