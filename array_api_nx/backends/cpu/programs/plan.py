"""`ProgramPlan`: a program planned for given sizes, with its actions and the memory for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....contract import replay
from ....contract.numpy_dtypes import NDArray
from ....contract.program import Program, ValueView
from ....contract.strided import Storage, Tensor, tensor_over
from ..engine import fperrors
from ..engine.memory_pool import empty
from ..engine.passes import Slot, Slots, following
from ..lazy import evaluation
from ..policy import limits
from .actions import KernelPass, Read, allocated_by, tensor
from .arena import SlotLifetime, place
from .planner import Planner

if TYPE_CHECKING:
    from ..lazy.deferral import DeferredExecution

__all__ = ["ProgramPlan"]


class ProgramPlan:
    """A program planned for given sizes.

    Attributes
    ----------
    backend : DeferredExecution
    planner : Planner or None
        The planner, if the plan is to be explained.
    actions : list of Action
    slots : list of SlotInfo
    scalars : dict of slot to ndarray
        The slots of scalars, whose elements never change.
    orders : list of (tuple of int or None)
        Per argument the order into which its axes are permuted before the run.
    constants : list of Tensor
        The arrays that the program reads besides its arguments. Their slots follow the arguments'.
    outputs : list of (Read or ValueView)
        A ValueView is a view of an argument or a constant.
    stores : list of (int, Read)
        The arguments that are written after the run, by number, each with its new elements.
    results : list of slot
        The slots that outputs and stores read.
    given : list of slot
        The slots of arguments and constants, and the results.
    places : list of (slot, int)
        The slots in the arena, each with its first byte.
    arena : int
        The bytes of the arena.
    """

    def __init__(
        self,
        backend: DeferredExecution,
        program: Program,
        sizes: tuple[int, ...],
        *,
        explains: bool = False,
    ) -> None:
        planner = Planner(program, sizes, explains=explains)
        self.planner = planner if explains else None
        self.backend = backend
        self.stores, self.outputs = planner.plan()
        self.actions = planner.actions
        self.slots = planner.slots
        self.scalars = planner.scalars
        self.orders = [given.order for given in program.inputs]
        self.constants: list[Tensor] = list(program.constants.values())
        self._numbers = list(program.constants)
        shown = {x.slot for x in self.outputs if type(x) is Read} | {x.slot for _, x in self.stores}
        count = len(self.orders) + len(self.constants)
        self.results = sorted([slot for slot in shown if slot >= count])
        self.given = [*range(count), *self.results]
        self._measure()
        own = set(range(len(self.slots))) - {*self.given, *self.scalars}
        self._place(sorted([slot for slot in own if self.slots[slot].stored]))

    def _measure(self) -> None:
        """Set the first and the last action that uses each slot."""
        for number, action in enumerate(self.actions):
            for slot in action.uses():
                described = self.slots[slot]
                described.last = number
                if described.first < 0:
                    described.first = number
                    described.stored = slot not in allocated_by(action)

    def _place(self, slots: Sequence[Slot]) -> None:
        described = [self.slots[slot] for slot in slots]
        positions, self.arena = place(
            [SlotLifetime(x.size * x.dtype.itemsize, x.first, x.last) for x in described]
        )
        self.places = list(zip(slots, positions, strict=True))

    # ------------------------------------------------------------------ running

    def placed(self) -> dict[Slot, NDArray]:
        """The arrays of scalars, and those of the slots of the arena, over new memory."""
        arrays = dict(self.scalars)
        memory = empty((self.arena,), np.dtype(np.uint8))
        for slot, position in self.places:
            described = self.slots[slot]
            arrays[slot] = np.ndarray((described.size,), described.dtype, memory, position)
        return arrays

    def run(self, given: Sequence[NDArray], report: evaluation.Report) -> list[NDArray]:
        """Run the program on `arguments`, in memory taken for this run; returns the arrays of
        `self.given`, for `finish`."""
        slots: Slots = [None] * len(self.slots)
        for slot, array in self.placed().items():
            slots[slot] = array
        for slot, array in enumerate(given):
            slots[slot] = array.reshape(-1)
        for slot in self.results:
            described = self.slots[slot]
            if described.stored:
                slots[slot] = empty((described.size,), described.dtype)
        passes = [action.work for action in self.actions if type(action) is KernelPass]
        with following(passes) as progress:
            for number, action in enumerate(self.actions):
                if type(action) is KernelPass:
                    action.run(self.backend, slots, report, progress)
                else:
                    action.run(self.backend, slots, report)
                for slot in action.uses():
                    if self.slots[slot].last == number and slot not in self.results:
                        slots[slot] = None
        return [slots[slot] for slot in self.given]

    def arguments(self, handles: tuple[Tensor, ...]) -> list[NDArray]:
        """The row-major arrays of the arguments and the constants."""
        array = self.backend.array
        arrays = [
            array(handle) if order is None else array(handle).transpose(order)
            for handle, order in zip(handles, self.orders, strict=True)
        ]
        arrays += [array(handle) for handle in self.constants]
        return [x if x.flags.c_contiguous else x.copy() for x in arrays]

    def finish(
        self, handles: tuple[Tensor, ...], given: list[NDArray], report: evaluation.Report
    ) -> tuple[Tensor, ...]:
        """Write to arguments, report floating-point errors, and return the outputs."""
        storages: dict[Slot, Storage] = {}
        slots = dict(zip(self.given, given, strict=True))
        # Before outputs are made: an output may show an argument that is written.
        for i, read in self.stores:
            value, order = tensor(slots[read.slot].reshape(-1), read.view), self.orders[i]
            if order is not None:
                value = self._permuted(value, replay.inverse(order))
            self.backend.assign(handles[i], value)
        outputs = []
        for x in self.outputs:
            if isinstance(x, ValueView):
                outputs.append(self.backend.strided(self._argument(handles, x.value), x.view))
                continue
            storage = storages.get(x.slot)
            if storage is None:
                memory = slots[x.slot].reshape(-1)
                tracked = memory.size > limits.tracked
                storage = storages[x.slot] = Storage(memory, tracked=tracked)
            outputs.append(tensor_over(storage, x.view))
        if report:
            fperrors.report(report)
        return tuple(outputs)

    def _argument(self, handles: tuple[Tensor, ...], value: int) -> Tensor:
        if value >= len(handles):
            return self.constants[self._numbers.index(value)]
        handle, order = handles[value], self.orders[value]
        return handle if order is None else self._permuted(handle, order)

    def _permuted(self, x: Tensor, order: tuple[int, ...]) -> Tensor:
        permuted: Tensor = self.backend.permute(x, order)
        return permuted
