"""What users see of an array that is still to be computed: a text, or a picture."""

from __future__ import annotations

from typing import ClassVar

from .model import PassExplanation, count, pass_text, size_text
from .pictures import Drawable


class Explanation(Drawable):
    """What is still to be computed for an array.

    Printed, it is a text; in a notebook a picture, where Graphviz is installed.

    Attributes
    ----------
    pending : bool
        Whether anything is.
    operations : int
        How many operations wait.
    passes : tuple of PassExplanation
        The passes over memory that would compute them, in order.
    """

    __slots__ = ("operations", "passes", "pending")

    on_display: ClassVar[bool] = True
    """Whether an array that is pending is computed to be shown in a notebook."""

    pending: bool
    operations: int
    passes: tuple[PassExplanation, ...]

    def __init__(self, operations: int = 0, passes: tuple[PassExplanation, ...] = ()) -> None:
        self.pending = operations > 0
        self.operations = operations
        self.passes = passes

    @property
    def summary(self) -> str:
        """The pending computation in one line."""
        if not self.pending:
            return "computed: nothing is pending"
        read = sum([memory.nbytes for each in self.passes for memory in each.inputs])
        written = sum([memory.nbytes for each in self.passes for memory in each.outputs])
        return (
            f"pending: {count(self.operations, 'operation')} in "
            f"{count(len(self.passes), 'pass', 'passes')} over memory, "
            f"{size_text(read)} to be read, {size_text(written)} to be allocated"
        )

    def __repr__(self) -> str:
        lines = [self.summary]
        for i, each in enumerate(self.passes, start=1):
            lines += pass_text(each, f"pass {i} of {len(self.passes)}")
        return "\n".join(lines)

    def _passes(self) -> tuple[PassExplanation, ...]:
        return self.passes

    def _repr_html_(self) -> str:
        """The report in a notebook."""
        from .html import card

        if self.pending:
            return card("Explanation", [], self._shown(), self.details())
        return card("Explanation", [("", self.summary)], self.details())

    def details(self) -> str:
        """Further facts as HTML; none here."""
        return ""

    def in_short(self, *, was: bool = False) -> str:
        """The report as HTML: a line that unfolds to the text, and details."""
        from .html import fold, preformatted

        if not self.pending:
            return self.details()
        summary = self.summary
        if was:
            summary = summary.replace("pending:", "computed for this display:", 1)
        return self.details() + fold(summary, preformatted(repr(self).partition("\n")[2]))
