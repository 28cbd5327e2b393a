"""Actions that compiled callables of the extension do: calls of the backend, on arrays that are not
too large for them."""

from __future__ import annotations

from typing import Final, NamedTuple

from ....contract.program import Argument
from ....primitives import table as p
from ..kernels import ARG_REDUCE
from .actions import Action, BackendCall, Read, is_native

__all__ = ["TwinCall", "runs_in_extension", "twin_call"]


def runs_in_extension(action: Action) -> bool:
    """Whether the extension runs an action, if the arrays are not too large for it."""
    return is_native(action) or twin_call(action) is not None


class TwinCall(NamedTuple):
    """A call of a compiled callable.

    Attributes
    ----------
    name : str
    operands : list of Read
    names : tuple of str
        Of those of the other arguments that are passed by name; they are the last ones.
    values : tuple
        The other arguments.
    """

    name: str
    operands: list[Read]
    names: tuple[str, ...]
    values: tuple[Argument, ...]


_REDUCTIONS: Final = {
    p.ALL: "all",
    p.ANY: "any",
    p.MAX: "max",
    p.MEAN: "mean",
    p.MIN: "min",
    p.PROD: "prod",
    p.SUM: "sum",
}


def twin_call(action: Action) -> TwinCall | None:
    """The compiled callable that does for small arrays what a call of a backend's method does; None
    if there is no such callable."""
    call = _found_call(action)
    if call is None or any([view.mask is not None for _, view in call.operands]):
        return None
    return call


def _found_call(action: Action) -> TwinCall | None:
    """`twin_call` of operands without padding."""
    if type(action) is not BackendCall or action.errors or len(action.results) != 1:
        return None
    method, keywords = action.method, dict(action.keywords)
    if method == "reduce":
        op, x, axes, keepdims, *rest = action.arguments
        name = _REDUCTIONS.get(op)
        if name is None:
            return None
        others = {"axis": axes, "keepdims": keepdims}
        if rest and rest[0] is not None:
            if op not in (p.SUM, p.PROD):
                return None
            others["dtype"] = rest[0]
        return TwinCall(name, [x], tuple(others), tuple(others.values()))
    if method == "arg_reduce":
        op, x, axis, keepdims = action.arguments
        return TwinCall(ARG_REDUCE[op], [x], ("axis", "keepdims"), (axis, keepdims))
    if method == "var":
        x, axes, keepdims, correction = action.arguments
        names = ("axis", "keepdims", "correction")
        return TwinCall("var", [x], names, (axes, keepdims, correction))
    if method in ("sort", "argsort"):
        x, axis = action.arguments
        return TwinCall(method, [x], ("axis", *keywords), (axis, *keywords.values()))
    if method == "cast":
        x, dtype = action.arguments
        return TwinCall(method, [x], (), (dtype,))
    if method == "matmul" and not keywords:
        return TwinCall(method, list(action.arguments), (), ())
    return None
