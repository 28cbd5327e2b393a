"""Control over deferred computation: compute now, and show what would be computed."""

from __future__ import annotations

from ..contract.backend import Backend, Handle
from ..explain.explanation import Explanation
from ..native import with_twin
from .array import Array
from .dispatch import only_array

__all__ = ["evaluate", "explain"]


@with_twin
def evaluate(*arrays: Array) -> None:
    """Compute arrays whose computation was deferred.

    Never needed for a right result: whatever looks at the elements computes them first. It says
    when to compute, for instance to measure it, and computes several arrays together, which share
    what they have in common.

    Parameters
    ----------
    *arrays : Array
        Arrays that are computed already are left alone.

    Raises
    ------
    TypeError
        If an argument is no array; nothing is computed then.

    Examples
    --------
    >>> import array_api_nx as xp
    >>> x = xp.linspace(0.0, 1.0, 1_000_000)
    >>> y = xp.sin(x) ** 2 + xp.cos(x) ** 2
    >>> xp.evaluate(y)
    """
    handles: dict[Backend, list[Handle]] = {}
    for i, x in enumerate(arrays, start=1):
        if type(x) is not Array:
            x = only_array(x, f"argument {i}")
        handles.setdefault(x._device.backend, []).append(x._handle)
    for backend, group in handles.items():
        backend.evaluate(*group)


def explain(x: Array, /) -> Explanation:
    """What of an array is still to be computed, and how that would be done. Computes nothing.

    Parameters
    ----------
    x : Array

    Returns
    -------
    Explanation
        ``pending``, ``operations`` and ``passes``; a text when printed, a picture in a notebook
        or as ``svg()``.

    Raises
    ------
    TypeError
        If `x` is no array.

    Examples
    --------
    >>> import array_api_nx as xp
    >>> x = xp.linspace(0.0, 1.0, 1_000_000)
    >>> xp.explain(xp.sum(2 * x)).pending
    True
    """
    x = only_array(x)
    return x._device.backend.explain(x._handle)
