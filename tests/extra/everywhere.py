"""Shared by the tests of functions beyond the standard: oracles, other devices, traces."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp
from tests.backends.engines.devices import device
from tests.support.programs import assert_same
from tests.support.tables import for_each

__all__ = [
    "DEVICES", "DTYPES", "agree", "assert_same", "everywhere", "in_traces", "layouts_of", "on",
    "on_device", "ours", "random", "refuses",
]  # fmt: skip

Call = Callable[..., Any]

DEVICES = ("torch:cpu", "jax:cpu", "dask")
"""Devices other than the default; tests on those that are not installed are skipped."""

DTYPES = (
    *("bool", "int8", "int32", "uint8", "int64"),
    *("float32", "float64", "complex64", "complex128"),
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


def layouts_of(x: np.ndarray[Any, Any]) -> list[xp.Array]:
    """Arrays with the elements of `x` in different orders in memory."""
    axes = tuple(range(x.ndim))[::-1]
    stepped = [xp.asarray(np.repeat(x, 2, axis=-1))[..., ::2]] if x.ndim else []
    return [
        xp.asarray(x, copy=True),
        xp.permute_dims(xp.asarray(np.array(x.T, order="C")), axes),
        xp.flip(xp.asarray(np.flip(x).copy())),
        *stepped,
    ]


def on(name: str, values: np.ndarray[Any, Any]) -> xp.Array:
    """A copy of `values` on a device; skips the test where its library is missing."""
    return xp.asarray(values, device=device(name) if name != "cpu" else name, copy=True)


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
    np.testing.assert_allclose(actual, expected, rtol, atol=rtol, err_msg=str(hint), strict=True)


def in_traces(call: Callable[..., Any], *arguments: Any) -> None:
    """A function of arrays gives the same when it is compiled, and `eval_shape` foretells it."""
    arrays = [ours(each) for each in arguments]
    expected = call(*arrays)
    compiled = xp.compile(call)
    agree(compiled(*arrays), expected)
    if len(arrays) == 1:  # the program is for other sizes, too
        agree(compiled(arrays[0][1:, ...]), call(arrays[0][1:, ...]))
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


def everywhere(calls: dict[str, Any], *operands: Any) -> tuple[Call, Call]:
    """Two tests of functions: in traces, and on each of `DEVICES`.

    Operands are arrays or the shapes of random ones. A function that has others than the rest comes
    as a tuple with its own.
    """

    def made(case: Any) -> tuple[Any, ...]:
        call, *own = case if isinstance(case, tuple) else (case, *operands)
        rng = np.random.default_rng(3)
        return call, *[random(rng, x, "float64") if isinstance(x, tuple) else x for x in own]

    @for_each("name", calls)
    def test_in_traces(name):
        call, *arrays = made(calls[name])
        in_traces(call, *arrays)

    @pytest.mark.parametrize("device", DEVICES)
    @for_each("name", calls)
    def test_on_devices(name, device):
        call, *arrays = made(calls[name])
        on_device(call, device, *arrays)

    return test_in_traces, test_on_devices


def refuses(
    cases: list[tuple[Call, Any, str]],
    make: Callable[[], Any] = lambda: xp.ones(3),
    **settings: Any,
) -> Call:
    """A test that each call with what `make` makes raises an error in such words."""

    @for_each(("call", "error", "words"), cases)
    def test_refused(call, error, words):
        with xp.config_context(**settings), pytest.raises(error, match=words):
            call(make())

    return test_refused
