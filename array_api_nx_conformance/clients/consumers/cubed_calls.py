"""Calls of cubed with the namespace as the engine that computes chunks.

cubed reads the engine's name from a variable of the environment, which `runner` sets. Its results
come out of files, as NumPy arrays: whether they are the namespace's is asked of the chunks that its
functions give.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cubed
import cubed.array_api
import cubed.random
import numpy as np
from array_api_compat import array_namespace

from ..agreement import Call, Namespace, Value
from . import BECAME

_NUMBERS = [[float((7 * row + 3 * column) % 11) for column in range(6)] for row in range(4)]


def _on_chunks(function: Callable[[Any, Any], Any]) -> Call:
    """A call that computes `function` of cubed's namespace and an array in chunks of (2, 3).

    NumPy, which is the judge, computes it of itself and the same array, without cubed.
    """

    def call(xp: Namespace) -> Value:
        if xp is np:
            return function(np, np.asarray(_NUMBERS))
        chunks: list[Any] = []

        def see(chunk: Any) -> Any:
            chunks.append(chunk)
            return chunk

        array = function(cubed.array_api, cubed.from_array(np.asarray(_NUMBERS), chunks=(2, 3)))
        seen = cubed.map_blocks(see, array, dtype=array.dtype)
        result = seen.compute(executor=cubed.runtime.create.create_executor("single-threaded"))
        for chunk in chunks:
            assert array_namespace(chunk) == xp, f"{BECAME} {type(chunk).__qualname__}"
        return xp.asarray(result)

    return call


CALLS: dict[str, Call] = {
    "a + b": _on_chunks(lambda xp, a: a + 2 * a),
    "exp": _on_chunks(lambda xp, a: xp.exp(-a)),
    "sum": _on_chunks(lambda xp, a: xp.sum(a)),
    "sum axis": _on_chunks(lambda xp, a: xp.sum(a, axis=0)),
    "mean": _on_chunks(lambda xp, a: xp.mean(a, axis=1)),
    "std": _on_chunks(lambda xp, a: xp.std(a, axis=0)),
    "max": _on_chunks(lambda xp, a: xp.max(a, axis=0)),
    "argmax": _on_chunks(lambda xp, a: xp.argmax(a, axis=1)),
    "matmul": _on_chunks(lambda xp, a: xp.matmul(a, xp.permute_dims(a, (1, 0)))),
    "where": _on_chunks(lambda xp, a: xp.where(a > 4, a, -a)),
    "concat": _on_chunks(lambda xp, a: xp.concat([a, a], axis=1)),
    "astype": _on_chunks(lambda xp, a: xp.astype(a, xp.float32)),
    "slices": _on_chunks(lambda xp, a: a[1:, ::2]),
    "reshape": _on_chunks(lambda xp, a: xp.reshape(a, (24,))),
    "nanmean": _on_chunks(lambda xp, a: (cubed if xp is not np else np).nanmean(a, axis=0)),
    "map_blocks": _on_chunks(
        lambda xp, a: a + 1 if xp is np else cubed.map_blocks(lambda x: x + 1, a, dtype=a.dtype)
    ),
}
