"""The backends that the contract tests run."""

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

from array_api_nx import Device
from array_api_nx.backends.cpu import CPUBackend
from array_api_nx.contract import composed
from array_api_nx.contract.arguments import Handle
from array_api_nx.contract.backend import Backend
from array_api_nx.contract.checked import CheckedBackend
from array_api_nx.core.dtypes import DType
from array_api_nx.primitives import table as p
from array_api_nx.primitives.table import Primitive


def _delegated(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.inner, name)(*args, **kwargs)

    return method


_IRREDUCIBLE = {name: _delegated(name) for name in Backend.__abstractmethods__}
_Irreducible: Any = type("_Irreducible", (Backend,), _IRREDUCIBLE)


class MinimalBackend(_Irreducible):
    """The irreducible primitives of `inner`, and every composed default.

    With a checked inner backend, the composed defaults too must keep the frontend's guarantees.
    """

    def __init__(self, inner: Backend) -> None:
        self.inner = inner
        self.shares_host = inner.shares_host

    def reduce(
        self,
        op: Primitive,
        x: Handle,
        axes: tuple[int, ...],
        keepdims: bool,
        dtype: DType | None = None,
    ) -> Handle:
        if op in (p.MEAN, p.COUNT_NONZERO):
            return composed.reduce(self, op, x, axes, keepdims)
        return self.inner.reduce(op, x, axes, keepdims, dtype)


def missing(name: str) -> str | None:
    """Why the contract tests do not run on a device's backend here; None if they do.

    Nothing is imported for it: a GPU that there is not shows in `of_device` alone.
    """
    module = name.partition(":")[0]
    if name in ("cpu", "checked", "minimal"):
        return None
    if find_spec(module) is None:
        return f"{module} is not installed"
    if module in ("jax", "dask") and not os.environ.get("ARRAY_API_NX_SLOW_TESTS"):
        return f"{name} takes minutes for all of them; set ARRAY_API_NX_SLOW_TESTS=1 to wait"
    return None


def of_device(name: str) -> Backend:
    """The backend of an engine's device; skips, saying why, where there is none."""
    device = Device(name)
    try:
        device.backend.evaluate()
    except (RuntimeError, ImportError) as error:
        pytest.skip(f"there is no {name} here: {error}")
    return device.backend


CPU = CPUBackend()

SAME_WITH_CHECKS = ("cpu",)
"""The backends that others call through to, with checks around each call.

They run the tests of programs alone, which a checked backend replays step by step.
"""

BACKENDS: dict[str, Callable[[], Backend]] = {
    "cpu": lambda: CPU,
    "checked": lambda: CheckedBackend(CPU),
    "minimal": lambda: MinimalBackend(CheckedBackend(CPU)),
    "torch:cpu": lambda: of_device("torch:cpu"),
    "torch:cuda:0": lambda: of_device("torch:cuda:0"),
    "jax:cpu": lambda: of_device("jax:cpu"),
    "dask:chunks=1kB": lambda: of_device("dask:chunks=1kB"),
    "cupy:0": lambda: of_device("cupy:0"),
}
