"""Control over deferred computation: compute now, and show what would be computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import TypeVar

from ..config import config_context, current
from ..contract.arguments import Handle
from ..contract.backend import Backend
from ..explain.explanation import Explanation
from ..native import with_native
from .array import Array
from .operands import only_array
from .trees import Tree, leaves

Result = TypeVar("Result", bound=Tree)


@with_native
def evaluate(*arrays: Tree) -> None:
    """Compute arrays whose computation was deferred.

    Never needed for a right result: whatever looks at the elements computes them first. It says
    when to compute, for instance to measure it, and computes several arrays together, which share
    what they have in common.

    *arrays (Array, or tuple, list or dict of them): Arrays that are computed already are left
        alone.
    TypeError: If something is no array; nothing is computed then.

    >>> x = xp.linspace(0.0, 1.0, 1_000_000)
    >>> y = xp.sin(x) ** 2 + xp.cos(x) ** 2
    >>> xp.evaluate(y)
    """
    for backend, handles in _by_backend(arrays):
        backend.evaluate(*handles)


def explain(*arrays: Tree) -> Explanation:
    """What of arrays is still to be computed, and how that would be done. Computes nothing.

    It takes what `evaluate` takes, and tells what that would do.

    *arrays (Array, or tuple, list or dict of them):
    Returns: ``pending``, ``operations`` and ``passes``; a text when printed, a picture in a
        notebook or as ``svg()`` where Graphviz is installed.
    TypeError: If something is no array.

    >>> x = xp.linspace(0.0, 1.0, 1_000_000)
    >>> xp.explain(xp.sum(2 * x)).pending
    True
    """
    found = [backend.explain(*handles) for backend, handles in _by_backend(arrays)]
    if len(found) == 1:
        return found[0]
    return Explanation(
        sum([each.operations for each in found]),
        tuple([one for each in found for one in each.passes]),
    )


def can_look(x: Array) -> bool:
    """Whether the elements are in the host's memory, where looking at them moves nothing."""
    backend = x._device.backend
    return backend.shares_host and backend.has_elements(x._handle)


def in_one_pass(function: Callable[[Array], Result], x: Array, /) -> Result:
    """What a function of an array returns, computed in as few passes over its memory as possible.

    What the function computes of a large array is computed when it has returned, even if `x` shares
    memory that others can write to: what consists of several operations in one pass. Where nothing
    is deferred, and in a function that is traced, this is a call of the function.

    function: It takes an array, and returns arrays, or a tuple, list or dict of them. It must write
        neither to `x` nor to memory that it shares.
    Returns (Array, or tuple, list or dict of them): What the function returned, computed.

    >>> x = xp.linspace(0.0, 1.0, 1_000_000)
    >>> low, high = xp.extra.in_one_pass(lambda x: (xp.min(x), xp.max(x)), x)
    >>> high - low
    Array(1., dtype=float64)
    """
    x = only_array(x)
    if not can_look(x):
        return function(x)
    waits = x._device.backend.worth_deferring(x.size) and current().fusion == "auto"
    with config_context(fusion="always") if waits else nullcontext():
        found = function(x)
        evaluate(found)
    return found


def _by_backend(arrays: tuple[Tree, ...]) -> Iterable[tuple[Backend, list[Handle]]]:
    """The handles of all arrays that are in `arrays`, those of each backend together."""
    handles: dict[Backend, list[Handle]] = {}
    for i, tree in enumerate(arrays, start=1):
        for leaf in (tree,) if type(tree) is Array else leaves(tree):
            name = f"argument {i}" if leaf is tree else f"what is in argument {i}"
            x = only_array(leaf, name)
            handles.setdefault(x._device.backend, []).append(x._handle)
    return handles.items()
