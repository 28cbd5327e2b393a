"""The namespaces whose single calls are compared."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

NAMES = ("numpy", "nx", "strict", "torch")
_MODULES = {"nx": "array_api_nx", "strict": "array_api_strict", "torch": "array_api_compat.torch"}


class Peer(NamedTuple):
    """A namespace, and how a NumPy array gets into it."""

    name: str
    version: str
    xp: Any
    asarray: Callable[[np.ndarray[Any, Any]], Any]
    finish: Callable[[Any], Any] = lambda result: None
    """Returns when the result is computed."""


def load(name: str) -> Peer:
    """The peer of that name. Raises ImportError if it is not installed."""
    if name == "numpy":
        return Peer(name, np.__version__, np, np.array)
    module = _MODULES[name]
    xp = import_module(module)
    # The wrappers of array-api-compat have no version; the libraries behind them do.
    wrapped = import_module(module.removeprefix("array_api_compat."))
    peer = Peer(name, wrapped.__version__, xp, lambda x: xp.asarray(x, copy=True))
    return peer._replace(finish=xp.evaluate) if name == "nx" else peer
