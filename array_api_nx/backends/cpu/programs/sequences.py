"""Sequences: kernels, and calls of compiled callables, that the extension runs in one call.

A program that is one sequence, and nothing else, needs no Python code to run: see `quick`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from ....contract import primitives as p
from ....contract.numpy_dtypes import NDArray
from ....contract.program import Argument
from ....native import native
from ..engine import fperrors
from ..engine.passes import Slot
from ..kernels import ARG_REDUCE
from .actions import Action, BackendCall, KernelPass, Read, is_native, raised

if TYPE_CHECKING:
    from ...._native import Sequence as NativeSequence
    from .plan import ProgramPlan

__all__ = ["MAX_PASSES", "Quick", "make_sequence", "quick"]

Quick: TypeAlias = (
    "tuple[NativeSequence, tuple[int, ...], Callable[[tuple[tuple[int, ...], ...]], bool]]"
)
"""A sequence; of each result its number among the last arrays given to it; and a function that
warns of floating-point flags, per pass and step: False if the errstate wants more than warnings."""

MAX_PASSES: Final = 64
"""The most actions in one sequence (MAX_SEQUENCE in native/sequence.c)."""


def quick(plan: ProgramPlan) -> Quick | None:
    """The program for calls from C (native/compiled.c), if it is kernels and calls of compiled
    callables alone.

    It has memory of its own, which one call at a time uses.
    """
    actions = plan.actions
    if not plan.is_simple or len(actions) > MAX_PASSES:
        return None
    if not all([is_native(action) or _twin_call(action) is not None for action in actions]):
        return None
    sequence = make_sequence(plan, plan.placed(), actions, divides=True)
    passes = [action for action in actions if type(action) is KernelPass]

    def report(flags: tuple[tuple[int, ...], ...]) -> bool:
        here = fperrors.modes()
        if here is not None:
            fperrors.report(raised(passes, flags, here))
        return here is not None

    return sequence, tuple(plan.order), report


def make_sequence(
    plan: ProgramPlan,
    kept: Mapping[Slot, NDArray],
    actions: Sequence[Action],
    *,
    divides: bool = False,
) -> NativeSequence:
    """Actions that the extension runs in one call.

    Parameters
    ----------
    plan : ProgramPlan
    kept : mapping of slot to ndarray
        The memory of the slots that are not given: `ProgramPlan.placed`.
    actions : sequence of Action
        At most `MAX_PASSES`; kernels that are `is_native`, and calls that have compiled callables.
    divides : bool
        Whether kernels may run on several threads.
    """
    fixed = sorted({slot for action in actions for slot in action.uses() if slot in kept})
    numbers = {slot: i for i, slot in enumerate([*plan.given, *fixed])}
    described: list[tuple[object, ...]] = []
    for action in actions:
        if isinstance(action, KernelPass):
            operands = tuple([(numbers[slot], offset) for slot, offset in action.work.operands])
            threads = action.work.threads if divides else 1
            described.append((action.work.prepared, operands, threads))
            continue
        call = _twin_call(action)
        assert isinstance(action, BackendCall)
        assert call is not None
        layouts = []
        for slot, view in call.operands:
            dtype = plan.slots[slot].dtype
            offset, strides = view.byte_layout(dtype.itemsize)
            layouts.append((numbers[slot], dtype, view.shape, tuple(strides), offset))
        result = numbers[action.results[0]]
        described.append((call.name, tuple(layouts), result, call.names, call.values))
    assert native is not None
    return native.Sequence(
        tuple([plan.expected(slot) for slot in plan.given]),
        tuple([kept[slot] for slot in fixed]),
        tuple(described),
        True,
    )


class _TwinCall(NamedTuple):
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


def _twin_call(action: Action) -> _TwinCall | None:
    """The compiled callable that does for small arrays what a call of a backend's method does; None
    if there is no such callable."""
    call = _found_call(action)
    if call is None or any([view.mask is not None for _, view in call.operands]):
        return None
    return call


def _found_call(action: Action) -> _TwinCall | None:
    """`_twin_call` of operands without padding."""
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
        return _TwinCall(name, [x], tuple(others), tuple(others.values()))
    if method == "arg_reduce":
        op, x, axis, keepdims = action.arguments
        return _TwinCall(ARG_REDUCE[op], [x], ("axis", "keepdims"), (axis, keepdims))
    if method == "var":
        x, axes, keepdims, correction = action.arguments
        names = ("axis", "keepdims", "correction")
        return _TwinCall("var", [x], names, (axes, keepdims, correction))
    if method in ("sort", "argsort"):
        x, axis = action.arguments
        return _TwinCall(method, [x], ("axis", *keywords), (axis, *keywords.values()))
    if method == "cast":
        x, dtype = action.arguments
        return _TwinCall(method, [x], (), (dtype,))
    if method == "matmul" and not keywords:
        return _TwinCall(method, list(action.arguments), (), ())
    return None
