"""What code under test did to elements: which were transferred, and when deferred ones computed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Generic, TypeVar, overload

from ..contract.events import Evaluation, Transfer, counted, listening
from ..frontend.docstrings import complete_docstrings

__all__ = ["Evaluations", "Record", "Transfers", "count_evaluations", "table", "transfers"]

Entry = TypeVar("Entry")


class Record(Sequence[Entry], Generic[Entry]):
    """A sequence of the events observed so far, in order; its text is a table.

    It can be read while it grows, and stays when the `with` statement is over.
    """

    def __init__(self) -> None:
        self._entries: Final[list[Entry]] = []

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, key: int) -> Entry: ...
    @overload
    def __getitem__(self, key: slice) -> list[Entry]: ...
    def __getitem__(self, key: int | slice) -> Entry | list[Entry]:
        return self._entries[key]

    def __repr__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """A table for people: equal entries in one row, with how many there are."""
        raise NotImplementedError


class Transfers(Record[Transfer]):
    """The transfers of a `transfers` statement: a sequence of `Transfer`, in order.

    Attributes
    ----------
    nbytes : int
        The sum of all entries'.
    """

    @property
    def nbytes(self) -> int:
        """The bytes of all transfers together."""
        return sum([each.nbytes for each in self])

    def summary(self) -> str:
        """A table: how often which line transferred what from where to where."""
        if not self:
            return "no transfers"
        counts = Counter([each._replace(nbytes=0) for each in self])
        sizes = Counter[Transfer]()
        for each in self:
            sizes[each._replace(nbytes=0)] += each.nbytes
        rows = [
            (count, each.kind, each.source, each.target, sizes[each], each.call, place(each))
            for each, count in counts.items()
        ]
        head = f"{counted(len(self), 'transfer')}, {counted(self.nbytes, 'byte')}"
        titles = ("times", "kind", "from", "to", "bytes", "by", "line")
        return f"{head}\n{table(titles, rows)}"


class Evaluations(Record[Evaluation]):
    """The evaluations of a `count_evaluations` statement: a sequence of `Evaluation`, in order."""

    def summary(self) -> str:
        """A table: how often which line had what computed, and why."""
        if not self:
            return "no evaluations"
        rows = [
            (count, each.device, each.call, each.why, place(each))
            for each, count in Counter(self).items()
        ]
        head = counted(len(self), "evaluation")
        return f"{head}\n{table(('times', 'device', 'by', 'because', 'line'), rows)}"


@contextmanager
def transfers(*, all_threads: bool = False) -> Iterator[Transfers]:
    """A `with` statement that records which elements go from one place to another.

    Recorded are moves between devices; elements read into Python, NumPy and other libraries;
    elements from there; and operations that a device computes by NumPy because its engine cannot.
    Each entry says the kind, from where to where, how many bytes, and the user's line (see
    `Transfer`). On the device ``cpu``, and between devices that see the same memory, entries are
    the same, although nothing may have been copied: on an accelerator it would be.

    Not recorded are Python scalars as operands or arguments, iteration, which gives arrays, and
    transfers inside an engine.

    all_threads: Whether the transfers of all threads are recorded, and not only of this one (or of
        this task of an event loop, and what begins with a copy of its context).
    Returns (context manager): Gives a `Transfers`: a sequence, whose text is a table.

    >>> x = xp.asarray([1.0, 2.0])
    >>> with xp.testing.transfers() as log:
    ...     y = float(xp.sum(x)) * x
    >>> [(each.kind, each.source, each.target, each.nbytes) for each in log]
    [('scalar', 'cpu', 'python', 8)]
    """
    found = Transfers()
    with _collecting(Transfer, found._entries, all_threads):
        yield found


@contextmanager
def count_evaluations(*, all_threads: bool = False) -> Iterator[Evaluations]:
    """A `with` statement that records when deferred arrays are computed.

    That concerns arrays on the device ``cpu`` that are larger than the setting `fusion_threshold`,
    arrays on ``dask``, and lazy devices for tests. Each entry says the device, why, and the user's
    line (see `Evaluation`). Operations that run when they are called are no evaluations.

    all_threads: Whether the evaluations that all threads ask for are recorded, and not only this
        one's (or this task's of an event loop, and what begins with a copy of its context).
    Returns (context manager): Gives an `Evaluations`: a sequence, whose text is a table.

    >>> x = xp.linspace(0.0, 1.0, 1_000_000)
    >>> with xp.testing.count_evaluations() as count:
    ...     y = 2 * x + 1
    ...     if y[0] > 0:
    ...         z = float(xp.sum(y))
    >>> len(count)
    2
    """
    found = Evaluations()
    with _collecting(Evaluation, found._entries, all_threads):
        yield found


def _collecting(
    kind: type[Entry], entries: list[Entry], all_threads: bool
) -> AbstractContextManager[None]:
    """A context in which events of a kind are appended to `entries`."""

    def listener(event: Transfer | Evaluation) -> None:
        if type(event) is kind:
            entries.append(event)

    return listening(listener, all_threads=all_threads)


# ---------------------------------------------------------------------- tables


def place(event: Transfer | Evaluation) -> str:
    """The line of an entry, by its file's path from the current folder if it lies in it."""
    here = os.getcwd() + os.sep
    return f"{event.filename.removeprefix(here)}:{event.lineno}"


def table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows in columns, numbers to the right."""
    texts = [[str(item) for item in row] for row in (titles, *rows)]
    widths = [max([len(row[i]) for row in texts]) for i in range(len(titles))]
    right = [isinstance(item, int) for item in rows[0]]
    lines = []
    for row in texts:
        padded = [
            item.rjust(width) if flush else item.ljust(width)
            for item, width, flush in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


complete_docstrings(globals(), ["count_evaluations", "transfers"])
