"""Actions: the steps of a planned program, over numbered slots of memory.

planner.py makes them. running.py runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ....contract import replay
from ....contract.backend import Handle
from ....contract.numpy_dtypes import NDArray
from ....contract.program import Argument
from ....contract.strided import Tensor
from ....core.symbolic import KnownInts
from ....core.view import View
from ..engine import fperrors
from ..engine.passes import Pass, Slot, Slots, errors_of, run_pass
from ..engine.progress import ProgressBar
from ..lazy import evaluation

if TYPE_CHECKING:
    from ..lazy.deferral import DeferredExecution

__all__ = [
    "Action", "BackendCall", "Copy", "Fill", "KernelPass", "Read", "Update", "allocated_by",
    "permutation", "raised", "tensor",
]  # fmt: skip


class Read(NamedTuple):
    """An operand of an action: a slot, read through a view."""

    slot: Slot
    view: View


class KernelPass(NamedTuple):
    """A pass over slots of the program.

    Attributes
    ----------
    work : Pass
    errors : tuple of int
        Per step of its kernel the code of its `fperrors.ErrorSettings`.
    """

    work: Pass
    errors: tuple[int, ...]

    def run(
        self,
        backend: DeferredExecution,
        slots: Slots,
        report: evaluation.Report,
        progress: ProgressBar | None = None,
    ) -> None:
        flags = run_pass(self.work, slots, progress)
        if any(flags):
            report += raised([self], [flags], fperrors.modes() or 0)

    def uses(self) -> list[Slot]:
        return [*[slot for slot, _ in self.work.operands], *self.work.results()]


class Fill(NamedTuple):
    """Fill a slot with one value."""

    slot: Slot
    value: NDArray

    def run(self, backend: DeferredExecution, slots: Slots, report: evaluation.Report) -> None:
        slots[self.slot].fill(self.value[0])

    def uses(self) -> list[Slot]:
        return [self.slot]


class Copy(NamedTuple):
    """Copy a slot to another one."""

    source: Slot
    target: Slot

    def run(self, backend: DeferredExecution, slots: Slots, report: evaluation.Report) -> None:
        np.copyto(slots[self.target], slots[self.source])

    def uses(self) -> list[Slot]:
        return [self.source, self.target]


class Update(NamedTuple):
    """Write a part of a slot: a view of it, or the elements of that view that keys select."""

    target: Slot
    view: View
    keys: tuple[Argument, ...] | None
    value: Argument

    def run(self, backend: DeferredExecution, slots: Slots, report: evaluation.Report) -> None:
        target = tensor(slots[self.target], self.view)
        value = _handles(self.value, slots)
        if self.keys is None:
            backend.assign(target, value)
        else:
            backend.index_set(target, _handles(self.keys, slots), value)

    def uses(self) -> list[Slot]:
        return [self.target, *[x.slot for x in _reads((self.keys, self.value))]]


class BackendCall(NamedTuple):
    """Call a method of the backend, with `Read` in place of handles, under an errstate."""

    method: str
    arguments: tuple[Argument, ...]
    keywords: tuple[tuple[str, Argument], ...]
    results: tuple[Slot, ...]
    errors: tuple[tuple[str, str], ...]

    def run(self, backend: DeferredExecution, slots: Slots, report: evaluation.Report) -> None:
        arguments = _handles(self.arguments, slots)
        keywords = {name: _handles(x, slots) for name, x in self.keywords}
        method = getattr(backend, self.method)
        if self.errors:
            with np.errstate(**dict(self.errors)):  # type: ignore[arg-type]  # NumPy's settings
                found = method(*arguments, **keywords)
        else:
            found = method(*arguments, **keywords)
        for slot, handle in zip(self.results, _as_tuple(found), strict=True):
            array = np.ascontiguousarray(backend.array(handle))
            if not array.flags.owndata and any(
                [np.may_share_memory(array, slots[x.slot]) for x in _reads(self.arguments)]
            ):
                array = array.copy()
            slots[slot] = array.reshape(-1)

    def uses(self) -> list[Slot]:
        reads = _reads((self.arguments, self.keywords))
        return [*[x.slot for x in reads], *self.results]


Action: TypeAlias = "KernelPass | Fill | Copy | Update | BackendCall"
"""A step of a planned program; ``uses()`` are all slots that it reads or writes."""


def allocated_by(action: Action) -> Sequence[Slot]:
    """The slots to which an action gives memory of its own. It writes to others in their memory."""
    if type(action) is KernelPass:
        return action.work.results()
    return action.results if type(action) is BackendCall else ()


def _handles(x: Argument, slots: Slots) -> Argument:
    """`x` with a handle for each `Read`."""
    if type(x) is Read:
        return tensor(slots[x.slot], x.view)
    if type(x) is tuple:
        return tuple([_handles(part, slots) for part in x])
    return x


def as_array(memory: NDArray, view: View) -> NDArray:
    """`memory` seen through `view`."""
    shape: KnownInts = view.shape
    if view.is_c_contiguous and view.size == memory.size:
        return memory.reshape(shape)
    offset, strides = view.byte_layout(memory.itemsize)
    return np.ndarray(shape, memory.dtype, memory, offset, strides)


def permutation(view: View, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The permutation of axes by which `view` reads a row-major block of a shape; None if it does
    anything else."""
    order = view.packed_order
    if order is None or view.permute(order) != View.row_major(shape):
        return None
    return replay.inverse(order)


def tensor(memory: NDArray, view: View) -> Tensor:
    """A handle of `memory` seen through `view`. It has an array, so that nothing is deferred."""
    result = Tensor()
    result.array = as_array(memory, view)
    result.view = result.storage = None
    return result


def _reads(x: Argument) -> list[Read]:
    if type(x) is Read:
        return [x]
    return [read for part in x for read in _reads(part)] if type(x) is tuple else []


def _as_tuple(x: Handle) -> tuple[Handle, ...]:
    return x if isinstance(x, tuple) else (x,)


def raised(
    passes: Sequence[KernelPass], flags: Sequence[tuple[int, ...]], here: int
) -> evaluation.Report:
    """The entries of a report for the floating-point errors that passes met.

    Parameters
    ----------
    passes : sequence of KernelPass
    flags : sequence of tuple of int
        Per pass and step, as NumPy's bits.
    here : int
        `fperrors.modes` where the program runs.
    """
    report: evaluation.Report = []
    for each, all_met in zip(passes, flags, strict=True):
        work = each.work
        steps = zip(work.values, work.kernel.program, each.errors, all_met, strict=True)
        # Steps run in the order that is fastest. Of errors, NumPy tells in the order of values.
        for _, step, code, met in sorted(steps, key=itemgetter(0)):
            if met:
                report += errors_of(step.loop, met, fperrors.ErrorSettings.asked(code, here))
    return report
