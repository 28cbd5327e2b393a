"""The namespaces that are compared, as far as they are installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np


class Peer(NamedTuple):
    """A namespace, and how a NumPy array gets into it."""

    name: str
    version: str
    xp: Any
    asarray: Callable[[np.ndarray[Any, Any]], Any]
    finish: Callable[[Any], Any] = lambda result: None
    """Returns when the result is computed."""


def installed() -> list[Peer]:
    """NumPy, array_api_nx, and every other peer that is installed."""
    peers = [
        Peer("numpy", np.__version__, np, np.array),
        _nx(),
    ]
    for name, module in (("strict", "array_api_strict"), ("torch", "array_api_compat.torch")):
        try:
            peers.append(_peer(name, module))
        except ImportError:
            print(f"# {name} is not installed")
    return peers


def _nx() -> Peer:
    peer = _peer("nx", "array_api_nx")
    return peer._replace(finish=peer.xp.evaluate)


def _peer(name: str, module: str) -> Peer:
    xp = import_module(module)
    # The wrappers of array-api-compat have no version; what they wrap does.
    wrapped = import_module(module.removeprefix("array_api_compat."))
    return Peer(name, wrapped.__version__, xp, lambda x: xp.asarray(x, copy=True))
