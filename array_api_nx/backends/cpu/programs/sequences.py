"""Sequences: kernels, and calls of compiled callables, that the extension runs in one call.

A program that is one sequence, and nothing else, needs no Python code to run: see `quick`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ....contract.numpy_dtypes import NDArray
from ....native import native
from ..engine import fperrors, passes
from ..engine.kernel import MAX_PASSES
from ..engine.passes import Slot
from .actions import (
    Action,
    BackendCall,
    KernelPass,
    Shown,
    compiled_call,
    raised,
    runs_in_extension,
)

if TYPE_CHECKING:
    from ...._native import Native
    from .plan import ProgramPlan

__all__ = ["Quick", "make_sequence", "quick"]

Quick: TypeAlias = (
    "tuple[Native.Sequence, tuple[Shown, ...], Callable[[tuple[tuple[int, ...], ...]], bool]]"
)
"""A sequence; of each result its number among the last arrays given to it, with the layout in which
it is shown if that is another (see `ProgramPlan.order`); and a function that
warns of floating-point flags, per pass and step: False if the errstate wants more than warnings."""


def quick(plan: ProgramPlan) -> Quick | None:
    """The program for calls from C (native/compiled.c), if it is kernels and calls of compiled
    callables alone.

    It has memory of its own, which one call at a time uses.
    """
    actions = plan.actions
    if not plan.is_simple or len(actions) > MAX_PASSES:
        return None
    if not all(map(runs_in_extension, actions)):
        return None
    sequence = make_sequence(plan, plan.placed(), actions, divides=True)
    kernels = [action for action in actions if type(action) is KernelPass]

    def report(flags: tuple[tuple[int, ...], ...]) -> bool:
        here = fperrors.modes()
        if here is not None:
            fperrors.report(raised(kernels, flags, here))
        return here is not None

    return sequence, tuple(plan.order), report


def make_sequence(
    plan: ProgramPlan,
    kept: Mapping[Slot, NDArray],
    actions: Sequence[Action],
    *,
    divides: bool = False,
) -> Native.Sequence:
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
    slots = sorted({slot for action in actions for slot in action.uses() if slot in kept})
    numbers = {slot: i for i, slot in enumerate([*plan.given, *slots])}
    fixed = [kept[slot] for slot in slots]
    described: list[tuple[object, ...]] = []
    for action in actions:
        if isinstance(action, KernelPass):
            work = action.work
            accumulators = {}
            for each in work.apart():
                accumulators[each.slot] = len(plan.given) + len(fixed)
                fixed.append(np.empty(each.size * work.copies, each.identity.dtype))
            threads = work.threads if divides else 1
            described.append(passes.described(work, numbers, accumulators, threads))
            continue
        call = compiled_call(action)
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
        tuple(fixed),
        tuple(described),
        True,
    )
