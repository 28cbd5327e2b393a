"""Who is compared: NumPy, array_api_nx, and others. Each is imported when it is loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from .cases import Case

Arrays = Sequence[np.ndarray[Any, Any]]


class Peer(NamedTuple):
    """One column of the tables."""

    name: str
    version: str
    prepare: Callable[[Case, Arrays], Callable[[], Any] | None]
    """Takes the inputs in; returns a call that computes the case to its end, None if it cannot."""
    export: Callable[[Any], Any] = lambda result: result
    """The result of such a call as something that np.asarray takes."""
    release: Callable[[], Any] = lambda: None
    """Gives memory that is kept for reuse back to the system."""


def load(name: str) -> Peer:
    """The peer of that name. Raises ImportError if it is not installed."""
    return _MAKERS[name]()


def _numpy() -> Peer:
    return Peer("numpy", np.__version__, lambda case, arrays: lambda: case.function(np, *arrays))


def _nx() -> Peer:
    xp: Any = import_module("array_api_nx")

    def prepare(case: Case, arrays: Arrays) -> Callable[[], Any]:
        own = [xp.asarray(x, copy=True) for x in arrays]

        def call() -> Any:
            result = case.function(xp, *own)
            xp.evaluate(*(result if isinstance(result, tuple) else (result,)))
            return result

        return call

    return Peer("nx", xp.__version__, prepare, release=xp.Device("cpu").release_memory)


def _nx_compile() -> Peer:
    xp: Any = import_module("array_api_nx")

    def prepare(case: Case, arrays: Arrays) -> Callable[[], Any]:
        own = [xp.asarray(x, copy=True) for x in arrays]
        compiled = xp.compile(lambda *arrays: case.function(xp, *arrays))
        return lambda: compiled(*own)

    return Peer("nx.compile", xp.__version__, prepare, release=xp.Device("cpu").release_memory)


def _nx_native(device: str, engine: str) -> Peer:
    """Compiled functions of ours that an engine's compiler has."""
    xp: Any = import_module("array_api_nx")
    version = import_module(engine).__version__

    def prepare(case: Case, arrays: Arrays) -> Callable[[], Any]:
        own = [xp.asarray(x, copy=True, device=device) for x in arrays]
        compiled = xp.compile(lambda *arrays: case.function(xp, *arrays), engine="native")

        def call() -> Any:
            result = compiled(*own)
            xp.evaluate(*(result if isinstance(result, tuple) else (result,)))
            return result

        return call

    return Peer(f"nx on {device}", f"{xp.__version__} ({engine} {version})", prepare)


def _numexpr() -> Peer:
    by: Any = import_module("benchmarks.fused.by_numexpr")

    def prepare(case: Case, arrays: Arrays) -> Callable[[], Any] | None:
        function = by.FUNCTIONS.get(case.name)
        return function and (lambda: function(*arrays))

    return Peer("numexpr", by.VERSION, prepare)


def _numba() -> Peer:
    by: Any = import_module("benchmarks.fused.by_numba")

    def prepare(case: Case, arrays: Arrays) -> Callable[[], Any] | None:
        function = by.compiled(case.name)
        return function and (lambda: function(*arrays))

    return Peer("numba", by.VERSION, prepare)


def _blosc2() -> Peer:
    by: Any = import_module("benchmarks.fused.by_blosc2")
    return Peer("blosc2", by.VERSION, lambda case, arrays: by.prepare(case.name, arrays), by.export)


def _jax() -> Peer:
    jax: Any = import_module("jax")
    xp: Any = import_module("jax.numpy")
    jax.config.update("jax_enable_x64", True)

    def prepare(case: Case, arrays: Arrays) -> Callable[[], Any]:
        own = [xp.asarray(x, copy=True) for x in arrays]
        compiled = jax.jit(lambda *arrays: case.function(xp, *arrays))
        return lambda: jax.block_until_ready(compiled(*own))

    return Peer("jax.jit", jax.__version__, prepare)


def _torch() -> Peer:
    torch: Any = import_module("torch")
    xp: Any = import_module("array_api_compat.torch")

    def prepare(case: Case, arrays: Arrays) -> Callable[[], Any]:
        own = [torch.from_numpy(x) for x in arrays]
        return lambda: case.function(xp, *own)

    return Peer("torch", torch.__version__, prepare)


def _torch_compile() -> Peer:
    torch: Any = import_module("torch")
    xp: Any = import_module("array_api_compat.torch")
    inductor: Any = import_module("torch._inductor.config")
    inductor.force_disable_caches = True  # each first call shall compile

    def prepare(case: Case, arrays: Arrays) -> Callable[[], Any]:
        torch.compiler.reset()
        own = [torch.from_numpy(x) for x in arrays]
        compiled = torch.compile(lambda *arrays: case.function(xp, *arrays), dynamic=False)
        return lambda: compiled(*own)

    return Peer("torch.compile", torch.__version__, prepare)


_MAKERS: dict[str, Callable[[], Peer]] = {
    "numpy": _numpy,
    "nx": _nx,
    "nx.compile": _nx_compile,
    "nx on jax:cpu": partial(_nx_native, "jax:cpu", "jax"),
    "nx on torch:cpu": partial(_nx_native, "torch:cpu", "torch"),
    "numexpr": _numexpr,
    "numba": _numba,
    "blosc2": _blosc2,
    "jax.jit": _jax,
    "torch": _torch,
    "torch.compile": _torch_compile,
}
NAMES = tuple(_MAKERS)

DEFAULT = tuple([name for name in NAMES if name != "nx.compile"])
"""Peers of the expressions: functions are compiled only in the comparison of compiled functions."""
